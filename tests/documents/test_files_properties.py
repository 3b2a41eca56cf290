"""What must hold for any text and any edits: the output reads as decided, tells nothing of what was removed, and tampering is seen."""

import io
import string
import zipfile
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from docx import Document as Docx
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.document import Edit
from shoal.documents.formats.pieces import edited, put_back, seen
from shoal.documents.formats.read import digest_of, open_bytes, read_document
from shoal.documents.leaks import INSIDE, leaks, searchable, text_leaks
from tests.documents.writing import write_letter

WORDS = st.text(string.ascii_letters + "äéß'&<>-%=_", min_size=1, max_size=9)
KINDS = ("txt", "md", "html", "eml", "docx")


def make(kind, words, cuts):
    """A file of a kind whose text is the words; `cuts` break some of them across runs and tags."""
    text = " ".join(words)
    if kind == "docx":
        made, paragraph, at = Docx(), None, 0
        paragraph = made.add_paragraph()
        for cut in [*sorted(c % (len(text) + 1) for c in cuts), len(text)]:
            paragraph.add_run(text[at:cut])
            at = cut
        held = io.BytesIO()
        made.save(held)
        return held.getvalue()
    if kind == "html":
        import html

        out, at = "<p>", 0
        for i, cut in enumerate([*sorted(c % (len(text) + 1) for c in cuts), len(text)]):
            out += f"<{'bi'[i % 2]}>{html.escape(text[at:cut])}</{'bi'[i % 2]}>"
            at = cut
        return out.encode()
    if kind == "eml":
        message = EmailMessage()
        message["From"], message["Subject"] = "a@example.org", "words"
        message.set_content(text + "\n")
        return message.as_bytes()
    return text.encode()


@settings(max_examples=60, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    words=st.lists(WORDS, min_size=1, max_size=12),
    gone=st.sets(st.integers(0, 11)),
    cuts=st.lists(st.integers(0, 200), max_size=5),
)
def test_any_edits_read_back_and_tell_nothing(kind, words, gone, cuts):
    """Marked words are replaced by labels; a second file, with other words in their place, gives the same bytes."""
    gone = sorted(i for i in gone if i < len(words))
    secret = [f"Q{chr(97 + i) * 5}x" if i in gone else word for i, word in enumerate(words)]
    other = [f"W{chr(97 + i) * 9}y-z" if i in gone else word for i, word in enumerate(words)]
    outputs = []
    with TemporaryDirectory() as place:
        for n, chosen in enumerate((secret, other)):
            path = Path(place, f"{n}.{kind}")
            path.write_bytes(make(kind, chosen, cuts if n == 0 and kind != "docx" and kind != "html" else ()))
            document = read_document(path, "letter")
            edits = []
            for i in gone:
                at = document.text.index(chosen[i])
                edits.append(Edit(at, at + len(chosen[i]), f"Pers_{i}"))
            if gone:
                assert leaks(path, [chosen[gone[0]]])
            out = write_letter(path, edits, Path(place, f"out{n}"))
            assert leaks(out, [chosen[i] for i in gone]) == []
            text = read_document(out).text
            for i in gone:
                assert f"Pers_{i}" in text
                assert chosen[i] not in text
            outputs.append(out.read_bytes())
    assert outputs[0] == outputs[1]


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(("docx", "html")),
    cuts=st.lists(st.integers(0, 60), max_size=8),
    start=st.integers(0, 30),
    length=st.integers(1, 25),
)
def test_an_edit_anywhere_across_runs(kind, cuts, start, length):
    words = "The quick brown fox jumps over a lazy dog."
    opened = open_bytes(kind, make(kind, words.split(" "), cuts), "x")
    begin = opened.text().index(words)
    expected = put_back(opened.pieces, [Edit(begin + start, min(begin + start + length, begin + len(words)), "\u00a7")])
    again = open_bytes(kind, opened.save()[0][1], "x")
    assert again.leaving().split() == expected.split()
    assert edited(words, [Edit(start, min(start + length, len(words)), "\u00a7")]) in expected


@given(st.text())
def test_seen_is_stable(text):
    assert seen(seen(text)) == seen(text)


@given(st.text(string.ascii_lowercase, min_size=3, max_size=8), st.text(string.ascii_lowercase, min_size=1, max_size=5))
def test_whole_words_only(name, more):
    assert text_leaks(f"about {name} today", [name])
    assert {leak.variant for leak in text_leaks(f"about {name}{more} today", [name])} <= {INSIDE}


@pytest.mark.parametrize(
    ("left", "variant"),
    [
        ("SMITHSON was here", "as a word"),
        ("was Smíthson here", "as a word"),
        ("Smithson's hat", "as a word"),
        ("on Smith-\n  son", "across a line end"),
        ("see %53mithson", "as a word"),
        ("see &#83;mithson", "as a word"),
        ("S m i t h s o n", "with other spaces or punctuation"),
        ("xxsmithsonyy", "inside a longer word"),
        ("old smithson", "in lower case"),
    ],
)
def test_variants(left, variant):
    assert [leak.variant for leak in text_leaks(left, ["Smithson"])] == [variant]
    assert "mithson" not in repr(text_leaks(left, ["Smithson"])).lower()


def test_several_words_run_together():
    for left in ("john.smith@x.org", "JohnSmith", "John\n\nSmith", "xjohnsmithx"):
        assert [leak.variant in ("as a word", "with other spaces or punctuation") for leak in text_leaks(left, ["John Smith"])] == [True]
    assert text_leaks("call 555.123.4567", ["(555) 123-4567"])
    assert text_leaks("call 5551234567", ["(555) 123-4567"])


def test_what_may_stay_is_counted():
    assert not text_leaks("Washington and Lee", ["Washington"], ["Washington and Lee"])
    assert text_leaks("Washington and Washington and Lee", ["Washington"], ["Washington and Lee"])


def test_what_cannot_be_searched_is_said():
    assert [searchable(text) for text in ("", "--", "Al", "42", "1999", "Ann", "Smith", "Smithson", "12 345")] == [
        "no", "no", "no", "no", "no", "in the text", "in the text", "everywhere", "in the text",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=5, deadline=None)
@given(st.integers(0, 3))
def test_a_tampered_output_is_seen(kind, how):
    with TemporaryDirectory() as place:
        path = Path(place, f"a.{kind}")
        path.write_bytes(make(kind, ["Dear", "Zimmerwald", "hello"], ()))
        document = read_document(path, "letter")
        at = document.text.index("Zimmerwald")
        out = write_letter(path, [Edit(at, at + 10, "Pers_1")], Path(place, "out"))
        assert leaks(out, ["Zimmerwald"]) == []
        if kind == "docx":
            with zipfile.ZipFile(out, "a") as file:
                file.writestr(
                    *[
                        ("x.xml", "<a b='Zimmerwald'/>"),
                        ("Zimmerwald.xml", "<a/>"),
                        ("c.bin", b"\x00Zimmerwald"),
                        ("d.xml", "<a>Zimmer<b/>wald</a>"),
                    ][how]
                )
        else:
            tail = ["Zimmerwald", "zimmer\nWALD", "ZIMMERWALD", "Zimmer-\nwald"][how]
            out.write_bytes(out.read_bytes() + f"\n\n{tail}\n".encode())
        assert leaks(out, ["Zimmerwald"])


def test_the_digest_is_of_the_file(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x\r\ny")
    assert read_document(tmp_path / "a.txt").digest == digest_of(b"x\r\ny")
