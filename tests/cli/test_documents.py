"""The verbs for documents at the keyboard."""

import json
import re
import sys
import tomllib

import pytest

from shoal.documents.case import Case
from shoal.documents.extra import PACKAGES
from tests.cli.conftest import listing
from tests.data import ROOT

LETTER = (
    "Dear Prof. Smith,\n\nMaria Gonzalez of Imagine Inc. will call you from 212-555-0147. The Quibble was late, and the Quibble broke.\n"
)


@pytest.fixture
def letters(desk):
    folder = desk / "letters"
    folder.mkdir()
    (folder / "one.txt").write_text(LETTER)
    (folder / "two.txt").write_text("Smith wrote to Gonzalez. The Quibble is here.\n")
    return folder


@pytest.fixture
def case(letters, desk, shoal):
    assert shoal("documents", "detect", letters, "-o", desk / "case").code == 0
    return desk / "case"


def typed(monkeypatch, *lines):
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))


def test_from_letters_to_a_verified_folder(letters, desk, shoal):
    ran = shoal("documents", "detect", letters, "-o", desk / "case", "--json")
    assert json.loads(ran.out)["documents"] == 2
    ran = shoal("documents", "redact", desk / "case", "-o", desk / "out", "--json")
    assert ran.code == 0
    certificate = json.loads(ran.out)["certificate"]
    assert certificate["format"] == 3
    assert certificate["documents"] == {"written": 2, "not written": 0}
    assert "Gonzalez" not in ran.out + ran.err
    assert shoal("verify", desk / "out", desk / "out" / "certificate.json").code == 0
    (desk / "out" / "documents" / "more.txt").write_text("x")
    assert shoal("verify", desk / "out", desk / "out" / "certificate.json").code == 1


def test_a_file_that_cannot_be_read_is_an_exit_code(letters, desk, shoal):
    (letters / "bad.txt").write_bytes(b"\x00\x00")
    ran = shoal("documents", "detect", letters, "-o", desk / "case")
    assert ran.code == 1
    assert "bad.txt" in ran.err
    assert "1 document was not read." in ran.err
    assert (desk / "case" / "case.toml").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("detect", "nowhere", "-o", "case"), "no file or folder"),
        (("detect", "letters", "-o", "case", "--accept", "3"), "accept must be at most 1"),
        (("detect", "letters", "-o", "case", "--capitals", "some"), "capitals must be"),
        (("detect", "letters", "-o", "case", "--terms", "none.txt"), "no file none.txt"),
        (("detect", "letters", "-o", "case", "--spacy", "no_such_pipeline"), "spaCy"),
        (("detect", "letters/one.txt", "-o", "case", "--column", "x"), "x"),
        (("review", "letters"), "not a case folder"),
        (("redact", "letters", "-o", "out"), "not a case folder"),
        (("evaluate", "letters", "--queries", "q.toml"), "q.toml"),
        (("terms", "none.txt"), "no file none.txt"),
    ],
)
def test_bad_words(letters, desk, shoal, monkeypatch, words, says):
    monkeypatch.chdir(desk)
    before = sorted(desk.rglob("*"))
    ran = shoal("documents", *words)
    assert ran.code == 2
    assert says in ran.err
    assert "Traceback" not in ran.err
    assert sorted(desk.rglob("*")) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--style", "crayon"), "no style"), (("--numbers", "odd"), "appearance or random"), (("--accept-blocks", "7"), "between 0 and 1")],
)
def test_bad_choices(case, desk, shoal, words, says):
    ran = shoal("documents", "redact", case, "-o", desk / "out", *words)
    assert ran.code == 2
    assert says in ran.err
    assert not (desk / "out").exists()


def test_review_keeps_all_with_the_same_text(case, desk, shoal, monkeypatch):
    typed(monkeypatch, "c not-a-name", "R", "q")
    ran = shoal("documents", "review", case, "--by", "eva")
    assert ran.code == 0
    entries = [entry for found in Case(case).decisions().values() for entry in found]
    assert {(entry.decision.verdict, entry.decision.reason, entry.decision.by) for entry in entries} == {("keep", "not-a-name", "eva")}
    assert len(entries) == 3
    shoal("documents", "redact", case, "-o", desk / "out")
    assert sum(path.read_text().count("Quibble") for path in (desk / "out" / "documents").iterdir()) == 3


def test_review_every_key(case, shoal, monkeypatch):
    typed(monkeypatch, "?", "k", "e 1", "g", "a", "u", "k project", "u", "e 0 1", "n", "q")
    ran = shoal("documents", "review", case)
    assert ran.code == 0
    assert "Taken back." in ran.out
    entries = [entry for found in Case(case).decisions().values() for entry in found]
    assert len(entries) == 1
    assert entries[0].decision.verdict == "redact"


def test_what_nobody_found_can_be_marked(letters, desk, shoal, monkeypatch):
    (letters / "three.txt").write_text("the xq17b was broken, and nurse hope knew. XQ17B!\n")
    shoal("documents", "detect", letters, "-o", desk / "case")
    ran = shoal("documents", "mark", desk / "case", "xq17b", "nowhere at all", "--kind", "account", "--by", "eva")
    assert "marked 2 times" in ran.out
    assert "stands nowhere" in ran.out
    again = shoal("documents", "mark", desk / "case", "xq17b", "nowhere at all", "--kind", "account", "--by", "eva", "--json")
    assert json.loads(again.out) == [2, 0]
    shoal("documents", "redact", desk / "case", "-o", desk / "out")
    texts = " ".join(path.read_text() for path in (desk / "out" / "documents").iterdir())
    assert "xq17b" not in texts.lower()
    assert "the Account_1 was broken" in texts
    typed(monkeypatch, "m nurse hope", "m zzz", "q")
    (desk / "case" / "decisions.jsonl").unlink()
    ran = shoal("documents", "review", desk / "case", "--all")
    assert "do not stand" in ran.out


def test_review_ends_with_its_input(case, shoal, monkeypatch):
    typed(monkeypatch, "a")
    assert shoal("documents", "review", case, "--all").code == 0


def test_nothing_left_to_review(case, shoal, monkeypatch):
    typed(monkeypatch, *["R"] * 20)
    assert "0 left" in shoal("documents", "review", case).out
    assert "0 decided, 0 left" in shoal("documents", "review", case).out


@pytest.mark.parametrize("package", PACKAGES)
def test_without_the_extra_no_case_is_begun(package, letters, desk, refused, monkeypatch):
    """Whatever is missing: a case that could not be redacted would be found out only after its review."""
    monkeypatch.setitem(sys.modules, package, None)
    says = "Working with documents needs an extra: pip install 'shoal[documents]'."
    refused("documents", "detect", letters, "-o", desk / "case", says=says)


def test_two_processes_at_the_keyboard(letters, desk, shoal):
    for jobs in (1, 2):
        assert shoal("documents", "detect", letters, "-o", desk / f"case{jobs}", "--jobs", jobs).code == 0
    for jobs in (1, 2):
        ran = shoal("documents", "redact", desk / "case1", "-o", desk / f"out{jobs}", "--seed", 1, "--jobs", jobs)
        assert ran.code == 0
    assert (desk / "case1" / "findings.jsonl").read_bytes() == (desk / "case2" / "findings.jsonl").read_bytes()
    assert listing(desk / "out1") == listing(desk / "out2")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--engine", "cluster"), "local or spark"),
        (("--engine", "spark", "--jobs", "2"), "--jobs"),
        (("--master", "local[2]"), "--engine spark"),
        (("--engine", "spark"), "pip install 'shoal[spark]', and Java 17"),
    ],
)
def test_who_works_is_said_once(letters, desk, refused, monkeypatch, words, says):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    refused("documents", "detect", letters, "-o", desk / "case", *words, says=says)


def test_the_extra_is_what_is_declared():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]["documents"]
    imported_as = {"pillow": "PIL", "PyStemmer": "Stemmer"}
    names = {re.match(r"[\w-]+", line)[0] for line in declared}
    assert {imported_as.get(name, name) for name in names} == set(PACKAGES)
