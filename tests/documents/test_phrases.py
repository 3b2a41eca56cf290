"""Words removed in one place are removed in all places where a reader of the written file would find them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.document import Document, Finding
from shoal.documents.case import DocumentFindings
from shoal.documents.formats.pieces import edited
from shoal.documents.leaks import UNSURE, text_leaks
from shoal.documents.phrases import CollectionSearch, PhraseFinder, Seen, says_something
from shoal.documents.redact import edits_of, verdicts


def looked(text, *words, sure=1.0):
    """A document in which each of the words given was found, once, in order."""
    findings, at = [], 0
    for word in words:
        at = text.index(word, at)
        findings.append(Finding(at, at + len(word), "organization", sure, "test"))
        at += len(word)
    return DocumentFindings("a.txt", "txt", "", len(text), tuple(findings), tuple(words), ())


def redacted(text, one, replacements, undecided="redact"):
    edits, kept, more = edits_of(text, verdicts(one, (), 0.5, undecided), replacements)
    gone = [text[edit.start : edit.end] for edit in edits]
    stays = [*(edit.replacement for edit in edits), *(text[start:end] for start, end in kept)]
    new = edited(text, edits)
    return new, [leak for leak in text_leaks(new, gone, stays) if leak.variant not in UNSURE], more


@pytest.mark.parametrize(
    ("text", "found", "puts", "expected"),
    [
        # A kept name stays by itself, and goes along where more words go that hold it.
        ("Arab world. Arab trade. The Arab world again.", ("Arab world", "Arab", "Arab"), ("Org_1", None, None), "Org_1. Arab trade. The Org_1 again."),
        # The last of several words may go on: a search would find the shorter one in it.
        ("The Defence Force. Defence forces, Defence Forceful.", ("Defence Force",), ("Org_1",), "The Org_1. Org_1, Org_1."),
        # A longer text that cannot be taken does not hide a shorter one that can.
        ("Under Secretary. Under Secretary Johnson. Under it.", ("Under Secretary", "Secretary Johnson", "Under"), ("Org_1", "Org_2", "Org_3"),
         "Org_1. Org_3 Org_2. Org_3 it."),
        # A name that is the same as a kept one stays kept where the list keeps it.
        ("Washington wrote from Washington.", ("Washington", "Washington"), ("Pers_1", None), "Pers_1 wrote from Washington."),
    ],
)  # fmt: skip
def test_the_same_words_go_everywhere(text, found, puts, expected):
    new, leaks, _ = redacted(text, looked(text, *found), puts)
    assert new == expected
    assert not leaks


def test_what_nobody_decided_goes_with_what_is_sure():
    text = "Mr. Brown left. Brown stays."
    one = looked(text, "Brown", "Brown")
    unsure = DocumentFindings(
        one.name, one.kind, one.digest, one.length, (one.findings[0], Finding(16, 21, "organization", 0.2, "test")), one.texts, ()
    )
    new, leaks, more = redacted(text, unsure, ("Pers_1",), "keep")
    assert (new, leaks, more) == ("Mr. Pers_1 left. Pers_1 stays.", [], 1)


def test_ends_are_whole_unless_asked_otherwise():
    text = "John Browning met John Brown."
    assert [text[a:b] for a, b, _ in PhraseFinder(["John Brown"]).occurrences(text)] == ["John Brown"]
    assert [text[a:b] for a, b, _ in PhraseFinder(["John Brown"], "open").occurrences(text)] == ["John Browning", "John Brown"]
    assert [n for _, _, n in PhraseFinder(["John Brown", "John Browning"], "open").occurrences(text)] == [1, 0]
    assert not list(PhraseFinder(["Brown"], "open").occurrences("Browning"))


def test_little_words_name_nobody():
    assert not says_something("the")
    assert not says_something("Of the")
    assert says_something("The Hague")


def test_organizations_found_elsewhere_keep_their_capitals():
    seen = Seen({("Armed Forces", "organization"): 0.9, ("Ann Berg", "person"): 0.9}, set())
    one = Document("a.txt", "The armed forces met ann berg. The Armed Forces did not.")
    seen.add(one, [])
    assert [one.text[f.start : f.end] for f in CollectionSearch(seen, 0.5).detect(one)] == ["ann berg", "Armed Forces"]


VOCABULARY = ("Brown", "Green", "Adams", "Oxford", "Soviet", "council", "garden", "river", "Union", "meeting")


@given(st.data())
def test_no_removed_words_are_left(data):
    words = data.draw(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=25))
    text, starts, at = " ".join(words), [], 0
    for word in words:
        starts.append(at)
        at += len(word) + 1
    findings, first = [], 0
    while first < len(words):
        length = data.draw(st.integers(0, 3))
        last = min(first + length, len(words))
        if last > first:
            sure = data.draw(st.sampled_from([0.2, 0.9]))
            findings.append(Finding(starts[first], starts[last - 1] + len(words[last - 1]), "person", sure, "test"))
        first = last + 1
    texts = tuple(text[one.start : one.end] for one in findings)
    one = DocumentFindings("a.txt", "txt", "", len(text), tuple(findings), texts, ())
    undecided = data.draw(st.sampled_from(["redact", "keep"]))
    going = verdicts(one, (), 0.5, undecided).going
    new, leaks, _ = redacted(text, one, [data.draw(st.sampled_from([f"Pers_{i}", None])) for i in range(len(going))], undecided)
    assert not leaks, new
