"""A survey with dates in text and codes for missing, from the file to the reports and back."""

import json
import re
from datetime import date

import pytest

from shoal import invented_survey
from shoal.writing import write_table
from tests.cli.conftest import read_csv

GIVEN = ("--quasi", "sex,born,AGE15X", "--confidential", "DIABDX", "--missing-code", "AGE15X=-1", "--missing-code", "DIABDX=-1,-7,-8,-9")
FEW = ("--attack", "distance-linkage")


SURVEY = invented_survey(150)


@pytest.fixture(autouse=True)
def beside_the_survey(desk, monkeypatch):
    monkeypatch.chdir(desk)
    write_table(SURVEY, desk / "survey.csv")


def born_of():
    """Each date of birth, in the three forms a page could show it."""
    for text in SURVEY.column("born").to_pylist():
        day, month, year = text.split(".")
        yield text, f"{year}-{month}-{day}", f"{month}/{day}/{year}"


def is_end_of_month(iso):
    """Where an interval may end, whoever was born then."""
    day = date.fromisoformat(iso)
    return day.day == 1 or date.fromordinal(day.toordinal() + 1).day == 1


@pytest.mark.parametrize(
    ("method", "more"), [("mdav", ()), ("mondrian", ()), ("kactus", ("--target", "DIABDX")), ("anti-unification-safe", ())]
)
def test_no_birth_date_is_in_the_public_report(method, more, desk, shoal):
    """Complaint 5. The folder can be measured, attacked, reported and verified again: dates are read back as they were written."""
    made = shoal("protect", "survey.csv", *GIVEN, "-m", method, "-p", "k=5", *more, "-o", "run", "--json")
    assert made.code == 0, made.err
    public = (desk / "run/report.html").read_text() + (desk / "run/certificate.json").read_text()
    for text, iso, slashed in born_of():
        assert text not in public
        assert slashed not in public
        assert is_end_of_month(iso) or iso not in public
    certificate = json.loads(made.out)["certificate"]
    measured = json.loads(shoal("measure", "run", "--measure", "cell-loss", "--json").out)[0]
    assert measured["value"] == pytest.approx(next(one["value"] for one in certificate["measures"] if one["name"] == "cell-loss"), rel=0.01)
    assert shoal("attack", "run", *FEW).code == 0
    assert shoal("report", "run").code == 0
    assert shoal("verify", "run/release.csv", "run/certificate.json").code == 0
    cells = [row["born"] for row in read_csv(desk / "run/release.csv")]
    if method == "mdav":
        assert all(re.fullmatch(r"\d\d\.\d\d\.\d{4}", cell) for cell in cells)
    else:
        assert not any("|" in cell for cell in cells)


def test_what_is_given_is_in_the_recipe(desk, shoal):
    kind = ("--kind", "born=date:%d.%m.%Y")
    assert shoal("protect", "survey.csv", *GIVEN, *kind, "-m", "mdav", "-p", "k=50", "-o", "run").code == 0
    recipe = (desk / "run/recipe.toml").read_text()
    assert "[roles.missing]" in recipe
    assert 'born = "date:%d.%m.%Y"' in recipe
    assert shoal("run", "run/recipe.toml", "-o", "again").code == 0


def test_a_release_made_elsewhere_is_read_alike(shoal):
    """Aligned files: the same dates and codes on both sides are no change at all."""
    same = shoal("measure", "--original", "survey.csv", "--release", "survey.csv", *GIVEN, "--measure", "cell-loss", "--json")
    assert json.loads(same.out)[0]["value"] == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--kind", "born"), "--kind born=date:%d.%m.%Y"),
        (("--kind", "born=day"), "number, text, date"),
        (("--kind", "born=date:%m.%d.%Y"), "first at row"),
        (("--missing-code", "AGE15X"), "--missing-code age=-1,-9"),
        (("--missing-code", "AGE15=-1"), "Did you mean 'AGE15X'"),
    ],
)
def test_mistakes_are_explained(words, says, desk, shoal):
    ran = shoal("protect", "survey.csv", "--quasi", "born", "-m", "mdav", *words, "-o", "run")
    assert ran.code == 2
    assert says in ran.err
    assert not (desk / "run").exists()


def test_look_shows_and_writes_what_it_suggests(desk, shoal):
    assert "seem to mean missing" in shoal("look", "survey.csv", "-o", "roles.toml").out
    roles = (desk / "roles.toml").read_text()
    assert "[missing]" in roles
    assert 'born = "date:%d.%m.%Y"' in roles
    (desk / "unclear.csv").write_text("born,x\n01.02.1980,1\n03.04.1981,2\n")
    looked = json.loads(shoal("look", "unclear.csv", "--json").out)["columns"][0]
    assert "--kind born=date:%d.%m.%Y or --kind born=date:%m.%d.%Y" in looked["because"]
    looked = json.loads(shoal("look", "unclear.csv", "--kind", "born=date:%m.%d.%Y", "--json").out)["columns"][0]
    assert looked["kind"] == "date"
