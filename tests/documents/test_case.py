"""The case folder: what is written is read back, decisions stand until undone, and nonsense is named by its line."""

import json
import stat

import pytest

from shoal.document import BLOCK, Block, Decision, Document, Finding
from shoal.documents.case import Case, DocumentFindings, Settings, read_private, write_case, write_private
from shoal.documents.pipeline.planning import DocumentPlan
from shoal.documents.redact import NOBODY, RULE, edits_of, verdicts
from shoal.errors import DataError, ParameterError

TEXT = "Ann Lee met Bo. Ann Lee said that bombs and guns are hidden. ann lee left."


def looked(name="a.txt"):
    findings = [Finding(0, 7, "person", 0.9, "x"), Finding(12, 14, "person", 0.3, "y"), Finding(16, 23, "person", 0.9, "x")]
    block = Block(24, 60, 0.7, ((34, 39, "bomb"), (44, 48, "gun")))
    return DocumentFindings.of(Document(name, TEXT, "txt", (), "d"), findings, [block])


@pytest.fixture
def case(tmp_path):
    folder = tmp_path / "case"
    folder.mkdir()
    write_case(folder, Settings(source="letters"), [looked(), looked("b.txt")])
    return Case(folder)


def test_what_is_written_is_read_back(case):
    assert list(case.findings()) == [looked(), looked("b.txt")]
    assert case.settings == Settings(source="letters")
    assert stat.S_IMODE((case.folder / "findings.jsonl").stat().st_mode) == 0o600


def test_secrets_are_for_their_owner(case):
    write_private(case.folder, "map.json", {"Pers_1": "Ann"})
    assert read_private(case.folder, "map.json") == {"Pers_1": "Ann"}
    assert read_private(case.folder, "other.json") == {}
    assert stat.S_IMODE((case.folder / "private" / "map.json").stat().st_mode) == 0o600
    assert stat.S_IMODE((case.folder / "private").stat().st_mode) == 0o700


def test_decisions_stand_until_undone(case):
    case.decide([("a.txt", Decision(12, 14, "person", "keep", "public"))], by="eva")
    case.decide([("a.txt", Decision(0, 7, "person", "keep")), ("b.txt", Decision(0, 7, "person", "keep"))], by="eva")
    assert {name: len(entries) for name, entries in case.decisions().items()} == {"a.txt": 2, "b.txt": 1}
    assert case.undo()
    assert {name: len(entries) for name, entries in case.decisions().items()} == {"a.txt": 1}
    case.decide([("b.txt", Decision(0, 7, "person", "redact"))], by="eva")
    assert case.decisions()["b.txt"][0].decision.by == "eva"
    assert case.undo()
    assert case.undo()
    assert not case.undo()
    assert case.decisions() == {}


@pytest.mark.parametrize(
    "wrong",
    [
        Decision(5, 5, "person", "keep"),
        Decision(-1, 5, "person", "keep"),
        Decision(0, 5, "person", "burn"),
        Decision(0, 5, "person", "generalize"),
    ],
)
def test_a_decision_that_is_none(case, wrong):
    with pytest.raises(ParameterError, match="decision"):
        case.decide([("a.txt", wrong)])
    assert case.decisions() == {}


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: entry.pop("findings"),
        lambda entry: entry["findings"][0].update(start=9),
        lambda entry: entry["findings"][0].update(end=10_000),
        lambda entry: entry["findings"][0].update(confidence=7),
        lambda entry: entry["findings"][0].update(kind=4),
        lambda entry: entry["blocks"][0].update(terms=[[1]]),
        lambda entry: entry["blocks"][0].update(start="3"),
        lambda entry: entry.update(findings="none"),
    ],
)
def test_findings_edited_into_nonsense(case, change):
    path = case.folder / "findings.jsonl"
    lines = path.read_text().splitlines()
    entry = json.loads(lines[1])
    change(entry)
    path.write_text("\n".join([lines[0], json.dumps(entry)]) + "\n")
    with pytest.raises(DataError, match=r"line 2.*not findings"):
        list(case.findings())


@pytest.mark.parametrize("number", ['"1"', "1.5", "true", "null", "[]", "1e999"])
def test_an_undo_of_no_batch(case, number):
    case.decide([("a.txt", Decision(0, 7, "person", "keep"))], by="eva")
    with (case.folder / "decisions.jsonl").open("a") as log:
        log.write(f'{{"undo": {number}}}\n')
    with pytest.raises(DataError, match="line 2"):
        everything(case.folder)


@pytest.mark.parametrize("batch", [2, 0, -1])
def test_an_undo_of_a_batch_that_was_never_taken(case, batch):
    case.decide([("a.txt", Decision(0, 7, "person", "keep"))], by="eva")
    with (case.folder / "decisions.jsonl").open("a") as log:
        log.write(f'{{"undo": {batch}}}\n')
    with pytest.raises(DataError, match=r"line 2: an undo names a batch of decisions before it"):
        everything(case.folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *((key, value) for key in ("reason", "by", "kind", "document", "at", "verdict") for value in (7, None, [], {}, "\ud800")),
        *((key, value) for key in ("start", "end", "batch") for value in (True, "1", 1.0, None, -1)),
        ("batch", 0),
    ],
)
def test_decisions_edited_into_nonsense(case, key, value):
    case.decide([("a.txt", Decision(0, 7, "person", "keep"))], by="eva")
    path = case.folder / "decisions.jsonl"
    line = path.read_text()
    path.write_text(line + json.dumps(json.loads(line) | {key: value}) + "\n")
    with pytest.raises((DataError, ParameterError), match="line 2"):
        everything(case.folder)


def test_a_reason_that_cannot_be_written_is_refused_before_it_is(case):
    with pytest.raises(ParameterError, match="UTF-8"):
        case.decide([("a.txt", Decision(0, 7, "person", "keep", "\udcff"))], by="eva")
    with pytest.raises(ParameterError, match="UTF-8"):
        case.decide([("a.txt", Decision(0, 7, "person", "keep"))], by="\udcff")
    assert case.decisions() == {}


def everything(folder):
    case = Case(folder)
    return list(case.findings()), case.decisions()


@pytest.mark.parametrize(("file", "says"), [("findings.jsonl", "line 1"), ("decisions.jsonl", "line 1"), ("case.toml", "settings")])
@pytest.mark.parametrize("content", ["garbage [", "[1, 2]", '{"a": 1}'])
def test_files_that_are_something_else(case, file, says, content):
    (case.folder / file).write_text(content + "\n")
    with pytest.raises(DataError, match=says):
        everything(case.folder)


def test_a_folder_that_is_no_case(tmp_path):
    with pytest.raises(DataError, match="not a case folder"):
        Case(tmp_path)


def test_a_document_that_changed(case):
    found = looked()
    state = verdicts(found, [], 0.5)
    one = DocumentPlan("a.txt", "a.txt", "d", found.length, state, found.texts, ())
    one.check(Document("a.txt", TEXT, "txt", (), "d"))
    with pytest.raises(DataError, match="changed since"):
        one.check(Document("a.txt", TEXT + "!", "txt", (), "e"))
    with pytest.raises(DataError, match="by hand"):
        one.check(Document("a.txt", TEXT.replace("Ann Lee met", "Eva Lee met"), "txt", (), "d"))


# ---- what is decided, and the edits it makes ---------------------------------------------------------------------------------


def log(case, *decisions):
    case.decide([("a.txt", one) for one in decisions], by="eva")
    return case.decisions()["a.txt"]


def test_rules_where_nobody_decided():
    found = verdicts(looked(), [], 0.5)
    assert [(one.verdict, one.by) for one in found.stretches] == [("redact", RULE), ("redact", NOBODY), ("redact", RULE)]
    assert found.blocks[0].verdict == "open"
    found = verdicts(looked(), [], 0.5, "keep", 0.6)
    assert [one.verdict for one in found.stretches] == ["redact", "keep", "redact"]
    assert (found.blocks[0].verdict, found.blocks[0].by) == ("redact", RULE)
    assert verdicts(looked(), [], 0.5, "keep", 0.8).blocks[0].verdict == "keep"


def test_a_person_wins_and_the_last_word_counts(case):
    decided = log(
        case, Decision(0, 7, "organization", "redact", "privacy"), Decision(16, 23, "person", "keep"), Decision(24, 60, BLOCK, "keep")
    )
    found = verdicts(looked(), decided, 0.5, accept_blocks=0.0)
    assert [(one.kind, one.verdict, one.by) for one in found.stretches][::2] == [
        ("organization", "redact", "eva"),
        ("person", "keep", "eva"),
    ]
    assert found.blocks[0].verdict == "keep"
    decided = log(case, Decision(0, 7, "person", "keep"))
    assert verdicts(looked(), decided, 0.5).stretches[0].verdict == "keep"


def test_a_longer_stretch_takes_the_place_of_those_it_covers(case):
    found = verdicts(looked(), log(case, Decision(0, 14, "person", "redact")), 0.5)
    assert [(one.start, one.end) for one in found.stretches] == [(0, 14), (16, 23)]


def test_a_block_that_goes_takes_its_findings_along(case):
    found = verdicts(looked(), log(case, Decision(24, 60, BLOCK, "redact", "security"), Decision(35, 40, "person", "redact")), 0.5)
    assert [(one.start, one.end) for one in found.going] == [(0, 7), (12, 14), (16, 23)]
    edits, kept, again = edits_of(TEXT, found, ["Pers_1", "Pers_2", "Pers_1"])
    assert [(edit.start, edit.end, edit.replacement) for edit in edits] == [
        (0, 7, "Pers_1"),
        (12, 14, "Pers_2"),
        (16, 23, "Pers_1"),
        (24, 60, "[removed: security]"),
        (61, 68, "Pers_1"),
    ]
    assert (kept, again) == ([], 1)


def test_what_stays_stays_though_its_words_go_elsewhere(case):
    found = verdicts(looked(), log(case, Decision(16, 23, "person", "keep"), Decision(24, 60, BLOCK, "keep")), 0.5)
    edits, kept, again = edits_of(TEXT, found, ["Pers_1", None])
    assert [(edit.start, edit.end) for edit in edits] == [(0, 7), (61, 68)]
    assert sorted(kept) == [(12, 14), (16, 23)]
    assert again == 1
