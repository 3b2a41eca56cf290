"""Documents from end to end: letters go in, redacted letters come out, and nothing that was removed is in them."""

import io
import json
import os
import re
import stat
import zipfile
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.certificate import read_certificate
from shoal.checks.documents import verify_documents
from shoal.document import Decision, Document, Finding
from shoal.documents.case import Case
from shoal.documents.leaks import text_leaks
from shoal.documents.phrases import CollectionSearch, PhraseFinder, Seen, named_elsewhere
from shoal.documents.pipeline import redacting
from shoal.documents.pipeline.originals import Originals
from shoal.documents.review import extended, questions, same_text
from shoal.errors import DataError, OutputError, PromiseBroken

EXAMPLE_3 = (
    "Prof. Smith asked Imagine Inc. to start the project in New York, where the NY University could provide a laboratory near the "
    "Washington Square Park. Prof. Smith wants to study the birds of the Washington Square Park."
)
RISKY = (
    "The weather was fine and the roses were in bloom all along the garden wall, as they are every year when the days grow long. "
    "The missile and the bomb are near the weapon store, and the gun and the missile crew have bombs. "
    "After lunch the whole family went for a long walk along the river and came back late in the evening, tired and very happy."
)


@pytest.fixture
def letters(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "first.txt").write_text(EXAMPLE_3)
    (folder / "second.md").write_text(
        "Dr. Smith and Maria Gonzalez wrote to anna.berg@example.org on 12 March 2019.\n\nSmith was not amused.\n"
    )
    return folder


def out_texts(out):
    return {path.suffix: path.read_text() for path in (out / "documents").iterdir()}


def test_example_3_with_and_without_known_places(letters, tmp_path):
    (letters / "second.md").unlink()
    expected = "Pers_1 asked Org_1 to start the project in {}, where the Org_2 could provide a laboratory near the {}. "
    expected += "Pers_1 wants to study the birds of the {}."
    for places, named in ((-1, ("Loc_1", "Loc_2", "Loc_2")), (1_000_000, ("New York", "Loc_1", "Loc_1"))):
        case, out = tmp_path / f"case{places}", tmp_path / f"out{places}"
        shoal.detect_documents(letters, case, places=places)
        shoal.redact_documents(case, out)
        assert out_texts(out)[".txt"] == expected.format(*named)


def test_one_entity_has_one_number_in_all_documents(letters, tmp_path):
    found = shoal.detect_documents(letters, tmp_path / "case")
    assert found["documents"] == 2
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    texts = out_texts(tmp_path / "out")
    assert texts[".md"].startswith("Pers_1 and Pers_2 wrote to Email_1 on Date_1.")
    assert "Pers_1 was not amused" in texts[".md"]
    assert not text_leaks(" ".join(texts.values()), ["Smith", "Gonzalez", "anna.berg@example.org", "12 March 2019", "Imagine Inc."])
    assert redacted.certificate.promises[0].holds
    assert redacted.certificate.documents == {"written": 2, "not written": 0}


def test_what_leaves_names_nobody(letters, tmp_path):
    (letters / "letter of Maria Gonzalez.txt").write_text("Maria Gonzalez is well.")
    shoal.detect_documents(letters, tmp_path / "case")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", numbering="random")
    for path in (tmp_path / "out").rglob("*"):
        assert not text_leaks(path.name, ["Gonzalez", "Maria", "first", "second"])
        if path.is_file():
            assert not text_leaks(path.read_text(), ["Gonzalez", "Smith", "Imagine", "anna.berg", str(letters)])
    for path in (tmp_path / "case").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
    behind = json.loads(next((tmp_path / "case" / "private" / "redactions").glob("*/map.json")).read_text())
    assert {entity["name"] for entity in behind["entities"]} >= {"Maria Gonzalez"}


def test_a_file_name_that_names_somebody_cannot_be_kept(letters, tmp_path):
    (letters / "Maria Gonzalez.txt").write_text("Maria Gonzalez is well.")
    shoal.detect_documents(letters, tmp_path / "case")
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out", names="keep")
    assert list(redacted.failed) == ["Maria Gonzalez.txt"]
    assert {path.name for path in (tmp_path / "out" / "documents").iterdir()} == {"first.txt", "second.md"}


def test_risky_blocks_wait_for_a_person(letters, tmp_path):
    (letters / "risky.txt").write_text(RISKY)
    case = tmp_path / "case"
    shoal.detect_documents(letters, case, risk_terms=("missile", "bomb", "weapon", "gun"))
    with pytest.raises(DataError, match="1 risky block in 1 document is undecided"):
        shoal.redact_documents(case, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    held = Case(case)
    asked = [one for one in questions(held, Originals(held.settings).read) if one.block]
    assert len(asked) == 1
    held.decide([asked[0].decided("redact", "security")], by="eva")
    redacted = shoal.redact_documents(case, tmp_path / "out")
    text = next(path.read_text() for path in (tmp_path / "out" / "documents").iterdir() if "weather" in path.read_text())
    assert "[removed: security]" in text
    assert "missile" not in text
    assert "weather" in text
    assert redacted.certificate.blocks == {"redact by person": 1}
    assert redacted.certificate.reasons["security"] == 1
    assert "eva" not in (tmp_path / "out" / "report.html").read_text()
    assert "eva" in (case / "report.html").read_text()


def test_blocks_by_their_score(letters, tmp_path):
    (letters / "risky.txt").write_text(RISKY)
    shoal.detect_documents(letters, tmp_path / "case", risk_terms=("missile", "bomb", "weapon", "gun"))
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out", accept_blocks=0.1)
    assert redacted.certificate.blocks == {"redact by rule": 1}
    assert any("decided by their score" in one for one in redacted.certificate.warnings)
    kept = shoal.redact_documents(tmp_path / "case", tmp_path / "out2", accept_blocks=1.0)
    assert kept.certificate.blocks == {"keep by rule": 1}


def test_a_document_that_changed_is_not_written(letters, tmp_path):
    shoal.detect_documents(letters, tmp_path / "case")
    (letters / "second.md").write_text("Something else.")
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert list(redacted.failed) == ["second.md"]
    assert "changed" in redacted.failed["second.md"]
    assert len(list((tmp_path / "out" / "documents").iterdir())) == 1
    (letters / "first.txt").unlink()
    with pytest.raises(DataError, match="No document could be written"):
        shoal.redact_documents(tmp_path / "case", tmp_path / "out2")
    assert not (tmp_path / "out2").exists()


def test_bad_files_are_said_and_the_rest_goes_on(letters, tmp_path):
    (letters / "binary.txt").write_bytes(b"\x00\x01\x02")
    (letters / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    (letters / "zip.docx").write_bytes(b"PK\x03\x04 no")
    (letters / "picture.png").write_bytes(b"png")
    found = shoal.detect_documents(letters, tmp_path / "case")
    assert found["documents"] == 2
    assert sorted(found["failed"]) == ["binary.txt", "broken.pdf", "zip.docx"]
    assert found["left_out"] == ["picture.png"]
    for child in letters.iterdir():
        if child.suffix in (".txt", ".md"):
            child.unlink()
    with pytest.raises(DataError, match="No document could be read"):
        shoal.detect_documents(letters, tmp_path / "case2")
    assert not (tmp_path / "case2").exists()


def test_one_bad_document_of_any_kind_is_its_own_failure(letters, tmp_path, monkeypatch):
    """A Word file with a member of no name, one that breaks the reader, a name that is not UTF-8; a mail with a part that begins like a zip is read."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (letters / "nameless.docx").write_bytes(with_a_member_of_no_name())
    (letters / "mail.eml").write_bytes(
        b"From: Anna Berg <a@example.org>\r\nSubject: Results\r\nContent-Type: multipart/mixed; boundary=edge\r\n\r\n"
        b"--edge\r\nContent-Type: text/plain\r\n\r\nDear Maria Gonzalez\r\n"
        b"--edge\r\nContent-Type: application/vnd.openxmlformats-officedocument.wordprocessingml.document\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nUEsDBCBubyB6aXA=\r\n--edge--\r\n"
    )
    (letters / "odd.html").write_text("<p>Robert Brown</p>")
    with open(os.fsencode(letters) + b"/bad\xff.txt", "w") as file:
        file.write("Robert Brown")

    def html(*_):
        raise ZeroDivisionError("Robert Brown")

    monkeypatch.setattr("shoal.documents.formats.html.open_page", html)
    found = shoal.detect_documents(letters, tmp_path / "case")
    assert (
        {"nameless.docx", "odd.html", "bad\\udcff.txt"}
        <= set(found["failed"])
        <= {"nameless.docx", "odd.html", "bad\\udcff.txt", "mail.eml"}
    )
    assert "not UTF-8" in found["failed"]["bad\\udcff.txt"]
    assert "something unforeseen happened (code" in found["failed"]["odd.html"]
    (log,) = (tmp_path / "state" / "shoal").iterdir()
    assert "Brown" not in "".join(found["failed"].values()) + log.read_text()
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert redacted.certificate.documents["written"] >= 2


def test_a_document_that_needs_too_much_memory_fails_alone(letters, tmp_path, monkeypatch):
    shoal.detect_documents(letters, tmp_path / "case")
    write = redacting.write_redacted

    def greedy(file, *words):
        if file.document.name == "first.txt":
            raise MemoryError
        return write(file, *words)

    monkeypatch.setattr(redacting, "write_redacted", greedy)
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert redacted.failed == {"first.txt": "It needs more memory than there is. Leave it out."}
    assert redacted.certificate.documents == {"written": 1, "not written": 1}


def with_a_member_of_no_name():
    nameless = zipfile.ZipInfo("x")
    nameless.filename = nameless.orig_filename = ""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("word/document.xml", b"<w/>")
        file.writestr(nameless, b"Robert Brown")
    return made.getvalue()


def test_places_that_would_be_overwritten_or_read_again(letters, tmp_path):
    with pytest.raises(OutputError, match="inside"):
        shoal.detect_documents(letters, letters / "case")
    shoal.detect_documents(letters, tmp_path / "case")
    with pytest.raises(OutputError, match="exists"):
        shoal.detect_documents(letters, tmp_path / "case")
    with pytest.raises(OutputError, match="inside"):
        shoal.redact_documents(tmp_path / "case", letters / "out")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    with pytest.raises(OutputError, match="exists"):
        shoal.redact_documents(tmp_path / "case", tmp_path / "out")


def test_a_column_of_a_table(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("id,note\n1,Mr. Henry Adams called\n2,nothing new\n3,Adams again from 212-555-0147\n")
    shoal.detect_documents(path, tmp_path / "case", column="note")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    written = (tmp_path / "out" / "documents.csv").read_text()
    assert sorted(written.splitlines()) == ["Pers_1 again from Phone_1", "Pers_1 called", "note", "nothing new"]


def test_evaluation_before_and_after(letters, tmp_path):
    (letters / "risky.txt").write_text(RISKY)
    queries = tmp_path / "q.toml"
    queries.write_text('[[utility]]\nname = "garden"\nwords = "roses garden river"\n[[risk]]\nname = "arms"\nwords = "missile weapon"\n')
    shoal.detect_documents(letters, tmp_path / "case", risk_terms=("missile", "bomb", "weapon", "gun"))
    with pytest.raises(DataError, match="not there"):
        shoal.evaluate_documents(tmp_path / "case", queries)
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", accept_blocks=0.1)
    found = shoal.evaluate_documents(tmp_path / "case", queries)
    assert found["utility"][0]["f"] == 0
    assert found["risk"][0]["f"] == -100
    assert found["risk"][0]["loss"] < -50
    assert [(one["name"], one["hit"]) for one in found["attacks"]] == [("recover-by-search", 0)]
    assert [one["name"] for one in found["attacks_not_tried"]] == ["recover-by-context"]
    assert "needs two" in found["attacks_not_tried"][0]["why"]  # a failed attack does not read as low risk


# ---- review -------------------------------------------------------------------------------------------------------------------


def test_questions_are_those_nobody_answered(letters, tmp_path):
    (letters / "odd.txt").write_text("We saw Zorblat and then Zorblat again, and Quux.")
    shoal.detect_documents(letters, tmp_path / "case", accept=0.99)
    case = Case(tmp_path / "case")

    read = Originals(case.settings).read
    first = [one for one in questions(case, read) if one.document == "odd.txt"]
    assert [one.text for one in first] == ["Zorblat", "Zorblat", "Quux"]
    case.decide(same_text(case, first[0], "keep", "not-a-name"), by="eva")
    left = [one.text for one in questions(case, read) if one.document == "odd.txt"]
    assert left == ["Quux"]
    case.undo()
    assert len([one for one in questions(case, read) if one.document == "odd.txt"]) == 3


def test_extending_by_words():
    document = Document("a", "We met old Zorblat the Great, there.")
    from shoal.documents.review import Question

    question = Question("a", 11, 18, "unknown", "Zorblat", 0.3, "")
    assert [document.text[slice(*extended(document, question, *by))] for by in ((0, 0), (1, 0), (0, 2), (1, 2), (9, 9))] == [
        "Zorblat",
        "old Zorblat",
        "Zorblat the Great",
        "old Zorblat the Great",
        "We met old Zorblat the Great, there",
    ]


# ---- the same words again -----------------------------------------------------------------------------------------------------


def test_again_by_hand():
    again = PhraseFinder(["Ann Lee", "Lee", "ann@x.org", "7", "Müller"])
    text = "ANN  LEE saw lee, Lee; ann@x.org; 7 Muller; Anna Leeson"
    assert [(text[a:b], n) for a, b, n in again.occurrences(text)] == [("ANN  LEE", 0), ("Lee", 1), ("ann@x.org", 2), ("Muller", 4)]


words = st.lists(st.sampled_from(["Ann", "Bo", "Lee", "ann", "went", "home", "Łukasz", "de", "Vega"]), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(words, st.lists(st.lists(st.sampled_from(["Ann", "Bo", "Lee", "Vega"]), min_size=1, max_size=3), min_size=1, max_size=4))
def test_after_replacing_what_is_found_again_nothing_leaks(text, names):
    text, names = " ".join(text), [" ".join(name) for name in names]
    found = list(PhraseFinder(names).occurrences(text))
    assert all(b <= c for (_, b, _), (c, _, _) in pairwise(found))
    for start, end, number in found:
        assert text[start:end].casefold() == names[number].casefold()
    out = text
    for start, end, _ in reversed(found):
        out = out[:start] + "█" + out[end:]
    assert all(leak.variant == "in lower case" for leak in text_leaks(out, names))


def test_names_found_elsewhere_and_their_surnames():
    seen = Seen({}, set())
    seen.add(Document("a", "Henry Adams paid. The rose was red."), [Finding(0, 11, "person", 0.95, "x")])
    seen.add(Document("b", "Rose Green paid."), [Finding(0, 10, "person", 0.95, "x")])
    found = CollectionSearch(seen, 0.5).detect(Document("c", "Adams and henry adams met Green; Rose Green, too. A Rose."))
    text = "Adams and henry adams met Green; Rose Green, too. A Rose."
    assert [text[one.start : one.end] for one in found] == ["Adams", "henry adams", "Green", "Rose Green"]
    merged = named_elsewhere([Finding(0, 5, "unknown", 0.3, "y"), Finding(26, 31, "location", 0.7, "z")], found)
    assert [(one.start, one.kind) for one in merged] == [(0, "person"), (10, "person"), (26, "location"), (33, "person")]


def test_a_word_that_the_collection_writes_small_is_no_surname():
    seen = Seen({}, {"green"})
    seen.names["Rose Green", "person"] = 0.95
    assert [one.end for one in CollectionSearch(seen, 0.5).detect(Document("c", "Green trees, Rose Green"))] == [23]


def test_the_same_case_gives_the_same_documents(letters, tmp_path):
    shoal.detect_documents(letters, tmp_path / "case")
    for out in ("a", "b"):
        shoal.redact_documents(tmp_path / "case", tmp_path / out, style="surrogate", numbering="random")
    assert out_texts(tmp_path / "a") == out_texts(tmp_path / "b")


@pytest.mark.parametrize("style", ["label", "surrogate", "black-box", "general"])
def test_every_style_holds(letters, tmp_path, style):
    shoal.detect_documents(letters, tmp_path / "case")
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out", style=style, seed=1)
    assert not redacted.failed
    joined = " ".join(out_texts(tmp_path / "out").values())
    assert not text_leaks(joined, ["Smith", "Gonzalez", "anna.berg", "Washington Square Park"])
    assert re.search(r"New York", joined)


def test_kinds_of_ones_own_have_their_labels(letters, tmp_path):
    kinds = tmp_path / "kinds.toml"
    kinds.write_text("[kinds.patient-number]\nlabel = 'Patient'\npatterns = ['PN-\\d{6}']\n")
    (letters / "third.txt").write_text("The chart of PN-004711 was lost, and PN-004712 had none.")
    shoal.detect_documents(letters, tmp_path / "case", kinds=str(kinds))
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert "The chart of Patient_1 was lost, and Patient_2 had none." in [p.read_text() for p in (tmp_path / "out" / "documents").iterdir()]


def test_every_line_of_the_drop_list_goes(letters, tmp_path):
    (letters / "third.txt").write_text("The patient takes paracetamol and sees lpryzbyszewska. Paracetamol again.")
    found = shoal.detect_documents(letters, tmp_path / "case", drop=("paracetamol", "lpryzbyszewska", "zebra crossing"))
    assert found["unused"] == [3]
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", undecided="keep")
    joined = " ".join(path.read_text().lower() for path in (tmp_path / "out" / "documents").iterdir())
    assert "paracetamol" not in joined
    assert "lpryzbyszewska" not in joined


def test_a_name_that_is_sure_elsewhere_is_sure_here(letters, tmp_path):
    (letters / "third.txt").write_text("seen by GONZALEZ M on the ward")
    shoal.detect_documents(letters, tmp_path / "case")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", undecided="keep")
    assert not any("gonzalez" in path.read_text().lower() for path in (tmp_path / "out" / "documents").iterdir())


def test_files_and_numbers_do_not_tell_the_order_of_the_originals(tmp_path):
    folder = tmp_path / "letters"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02d}.txt").write_text(f"Mr. Person{'abcdefghijkl'[number]}son of Acme{number} Inc. came.")
    shoal.detect_documents(folder, tmp_path / "case")
    shoal.redact_documents(tmp_path / "case", tmp_path / "out", seed=3)
    files = sorted((tmp_path / "out" / "documents").iterdir())
    assert len({path.stat().st_mtime for path in (tmp_path / "out").rglob("*")}) == 1
    numbers = [int(re.search(r"Pers_(\d+)", path.read_text())[1]) for path in files]
    assert numbers == sorted(numbers)  # along the numbers files have outside, which are drawn at random


def test_text_in_another_encoding_is_not_read_as_nonsense(letters, tmp_path):
    (letters / "sjis.txt").write_bytes("山田太郎様は東京に住んでいます。".encode("shift-jis"))
    (letters / "western.txt").write_bytes("Der Müller aß früh Äpfel in Köln, größtenteils.".encode("cp1252"))
    assert list(shoal.detect_documents(letters, tmp_path / "case")["failed"]) == ["sjis.txt"]


def test_words_of_forms_are_nobody(letters, tmp_path):
    (letters / "form.txt").write_text("PATIENT: HYACINTH ABERNETHY  MRN 00482913\n\nDear Mrs Abernethy,\n\nThank you.\n")
    shoal.detect_documents(letters, tmp_path / "case")
    texts = {text.lower() for one in Case(tmp_path / "case").findings() for text in one.texts}
    assert not {"mrn", "dear", "thank", "patient"} & texts
    assert "hyacinth abernethy" in texts


def test_out_must_not_lie_in_the_case_and_its_secret_must_be_whole(letters, tmp_path):
    shoal.detect_documents(letters, tmp_path / "case")
    with pytest.raises(OutputError, match="inside the case"):
        shoal.redact_documents(tmp_path / "case", tmp_path / "case" / "out")
    (tmp_path / "case" / "private" / "secret.json").write_text("{}")
    with pytest.raises(DataError, match="damaged"):
        shoal.redact_documents(tmp_path / "case", tmp_path / "out")


def test_words_that_may_be_a_removed_name_are_counted(letters, tmp_path):
    (letters / "third.txt").write_text("It was Brown, and the brown dog came with him.")
    shoal.detect_documents(letters, tmp_path / "case")
    Case(tmp_path / "case").decide([("third.txt", Decision(7, 12, "person", "redact"))], by="eva")
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert redacted.certificate.perhaps_in == 1
    assert any("In 1 document a removed word stands in lower case" in one for one in redacted.certificate.warnings)


# ---- one record per document, computed once -----------------------------------------------------------------------------------


def test_each_document_is_judged_read_and_searched_once(letters, tmp_path, monkeypatch):
    from shoal.documents.formats import write
    from shoal.documents.pipeline import originals, planning

    shoal.detect_documents(letters, tmp_path / "case")
    calls = Counter()

    def counted(module, name):
        real = getattr(module, name)

        def call(*given, **words):
            calls[name] += 1
            return real(*given, **words)

        monkeypatch.setattr(module, name, call)

    for module, name in ((planning, "verdicts"), (originals, "open_file"), (write, "search_file")):
        counted(module, name)
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert calls == {"verdicts": 2, "open_file": 2, "search_file": 2}


@pytest.fixture
def spelt_out(letters, tmp_path):
    """A case in which a removed word stands again in a way that only the search of what was written sees."""
    (letters / "third.txt").write_text("Dear Zimmerwald, hello. Z i m m e r w a l d left.")
    shoal.detect_documents(letters, tmp_path / "case")
    Case(tmp_path / "case").decide([("third.txt", Decision(5, 15, "person", "redact"))], by="eva")
    return tmp_path / "case"


def test_what_was_found_is_counted_and_a_broken_promise_writes_nothing(spelt_out, tmp_path, monkeypatch):
    """A writer that puts a word back after its own search: the count over all written files breaks the promise."""
    from shoal.documents.pipeline import redacting

    def careless(plan, originals, place, progress, workers):
        records = redact_files(plan, originals, place, progress, workers)
        written = next(place / one.files[0].file for one in records if "Smith" in one.removed)
        written.write_text(f"{written.read_text()} Smith")
        return records

    redact_files = redacting.redact_files
    monkeypatch.setattr(redacting, "redact_files", careless)
    with pytest.raises(PromiseBroken, match="so nothing is"):
        shoal.redact_documents(spelt_out, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_still_found_is_said_to_the_case_alone(spelt_out, tmp_path):
    redacted = shoal.redact_documents(spelt_out, tmp_path / "out")
    assert list(redacted.failed) == ["third.txt"]
    assert "would still be found" in redacted.failed["third.txt"]
    assert "Zimmerwald" not in redacted.failed["third.txt"]
    assert "Zimmerwald" in (spelt_out / "report.html").read_text()
    assert "immerwald" not in (tmp_path / "out" / "report.html").read_text()
    promise = redacted.certificate.promises[0]
    assert (promise.what, promise.value, promise.found, promise.holds, promise.unit) == ("nothing-left", 0, 0, True, "texts")
    assert redacted.certificate.documents == {"written": 2, "not written": 1}


def test_a_folder_is_held_against_its_certificate(letters, tmp_path):
    shoal.detect_documents(letters, tmp_path / "case")
    out = tmp_path / "out"
    redacted = shoal.redact_documents(tmp_path / "case", out)
    certificate = read_certificate(out / "certificate.json")
    assert certificate == redacted.certificate
    assert all(one.holds for one in verify_documents(out, certificate))
    (out / "documents" / "more.txt").write_text("x")
    first = out / certificate.files[0].file
    first.write_text("y")
    assert [one.what for one in verify_documents(out, certificate) if not one.holds] == [
        "files and folders that are not listed",
        "files whose bytes changed",
    ]
    first.unlink()
    assert "files that are missing" in [one.what for one in verify_documents(out, certificate) if not one.holds]
    with pytest.raises(DataError, match="not a folder"):
        verify_documents(out / "certificate.json", certificate)


def test_words_marked_by_hand_in_rows_of_a_table(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text("id,note\n1,the xq17b broke\n2,nothing new\n3,xq17b again\n")
    shoal.detect_documents(path, tmp_path / "case", column="note")
    from shoal.runs.documents import mark_case

    assert mark_case(Case(tmp_path / "case"), ["xq17b"], kind="account") == [2]
    redacted = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert [one.file for one in redacted.certificate.files] == ["documents.csv", "report.html"]
    assert redacted.certificate.searched == 2
    assert all(one.holds for one in verify_documents(tmp_path / "out", redacted.certificate))
    assert "xq17b" not in (tmp_path / "out" / "documents.csv").read_text()
