"""No honest redaction is refused: every style and choice, every kind of file, decisions of every kind, and columns of tables."""

import pytest

import shoal
from shoal.checks.verify import verify
from shoal.document import Decision
from shoal.documents.case import Case
from shoal.table import Table
from shoal.writing import write_table
from tests.documents.test_certificate_counts import docx, mail
from tests.documents.test_files_pdf import drawn
from tests.documents.test_pipeline import RISKY

TEXTS = [
    "Prof. Smith asked Maria Gonzalez of Imagine Inc. to call 212-555-0147 from New York. Smith was not amused.",
    "Smith wrote to anna.berg@example.org on 3 May 2021. The Quibble broke, said Gonzalez.",
    "Nothing of note happened.",
]


def refused(out):
    return [one.what for one in verify(out, out / "certificate.json").checks if not one.holds]


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    desk = tmp_path_factory.mktemp("desk")
    letters = desk / "letters"
    (letters / "More letters").mkdir(parents=True)
    (letters / "a.txt").write_text(TEXTS[0])
    (letters / "b.MD").write_text(f"# Letter\n\n{TEXTS[1]}")
    (letters / "c.htm").write_text(f"<p title='Smith'>{TEXTS[0]}</p>")
    (letters / "More letters" / "c.pdf.txt").write_text(TEXTS[2])
    mail(letters / "d.eml", TEXTS[0], subject="To Maria Gonzalez")
    docx(letters / "e.docx", *TEXTS)
    (letters / "f.pdf").write_bytes(drawn(TEXTS[1]))
    shoal.detect_documents(letters, desk / "case")
    return desk / "case"


@pytest.mark.parametrize("style", ["label", "surrogate", "black-box", "general"])
@pytest.mark.parametrize(
    "choices", [{}, {"names": "keep", "numbering": "random"}, {"undecided": "keep"}], ids=["as is", "names kept", "undecided kept"]
)
def test_every_style_and_choice(case, tmp_path, style, choices):
    made = shoal.redact_documents(case, tmp_path / "out", style=style, **choices)
    assert made.certificate.documents["written"] >= 6, made.failed
    assert not refused(tmp_path / "out")


@pytest.mark.parametrize("accept", [0.0, 0.3, 0.95, 1.0])
def test_however_sure_a_rule_must_be(tmp_path, accept):
    (tmp_path / "letters").mkdir()
    for number, text in enumerate(TEXTS):
        (tmp_path / "letters" / f"{number}.txt").write_text(text)
    shoal.detect_documents(tmp_path / "letters", tmp_path / "case", accept=accept)
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert not refused(tmp_path / "out")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_of_tables(tmp_path, ending):
    write_table(Table.of({"note": [*TEXTS, ""], "id": ["1", "2", "3", "4"]}), tmp_path / f"notes.{ending}")
    shoal.detect_documents(tmp_path / f"notes.{ending}", tmp_path / "case", column="note")
    for style in ("label", "black-box"):
        shoal.redact_documents(tmp_path / "case", tmp_path / style, style=style)
        assert not refused(tmp_path / style)


def test_what_a_person_decides_may_be_of_any_kind_and_on_a_list(tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("The Quibble of New York broke.")
    shoal.detect_documents(tmp_path / "letters", tmp_path / "case", keep=("New York",))
    case = Case(tmp_path / "case")
    name = next(case.findings()).name
    case.decide([(name, Decision(4, 11, "Project name", "redact")), (name, Decision(15, 23, "location", "redact"))])
    made = shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert {one.kind for one in made.certificate.removed} == {"Project name", "location"}
    assert not refused(tmp_path / "out")


@pytest.mark.parametrize("verdict", ["redact", "keep", "generalize"])
@pytest.mark.parametrize(
    "others", [["the weather was fine and the roses were in bloom. " * 4], TEXTS], ids=["among no names", "among names"]
)
def test_blocks(tmp_path, verdict, others):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text(RISKY)
    for number, text in enumerate(others):
        (tmp_path / "letters" / f"{number}.txt").write_text(text)
    senses = {"missile": "missile.n.01", "bomb": "bomb.n.01", "weapon": "weapon.n.01", "gun": "gun.n.01"}
    shoal.detect_documents(tmp_path / "letters", tmp_path / "case", risk_terms=tuple(senses), risk_senses=senses)
    case = Case(tmp_path / "case")
    decisions = [(one.name, Decision(b.start, b.end, "block", verdict)) for one in case.findings() for b in one.blocks]
    assert decisions
    case.decide(decisions)
    shoal.redact_documents(tmp_path / "case", tmp_path / "out")
    assert not refused(tmp_path / "out")
