"""Top coding, rounding and recoding from the command line: typed by column, in a recipe, and what is said where they cannot be done."""

import json

import pytest

from tests.cli.conftest import ROLES, read_csv, write_csv


def warnings_of(folder):
    return json.loads((folder / "certificate.json").read_text(encoding="utf-8"))["warnings"]


def test_limits_by_column(released, table):
    folder = released("protect", table, *ROLES, "-m", "top-coding", "-p", "limit=age:50,income:1500")
    ages = sorted(int(row["age"]) for row in read_csv(folder / "release.csv"))
    assert ages == sorted(min(int(row["age"]), 50) for row in read_csv(table))
    assert max(float(row["income"]) for row in read_csv(folder / "release.csv")) == 1500
    assert any("top-coding does not give k-anonymity" in one for one in warnings_of(folder))


def test_cells_are_read_back_by_every_verb(released, shoal, table, desk):
    folder = released("protect", table, *ROLES, "-m", "top-coding", "-p", "limit=age:50", "-p", "replacement=cell")
    assert "[50..100]" in {row["age"] for row in read_csv(folder / "release.csv")}
    for words in (("report", folder), ("measure", folder), ("attack", folder), ("verify", folder, folder / "certificate.json")):
        assert shoal(*words).code == 0
    assert shoal("sample", folder / "release.csv", "-o", desk / "points.csv").code == 0


def test_a_recipe_of_its_own_says_the_same_again(released, table, desk):
    (desk / "zip.csv").write_text("".join(f"0{8000 + i};{'north' if i < 2 else 'south'}\n" for i in range(5)), encoding="utf-8")
    (desk / "mine.toml").write_text(
        'input = "patients.csv"\n[roles]\nquasi = ["age", "zip", "income"]\nconfidential = ["diagnosis"]\nidentifier = ["name"]\n'
        '[[step]]\nmethod = "rounding"\nbase = { income = 100 }\n'
        '[[step]]\nmethod = "recode"\nmap = "zip.csv"\ncolumns = ["zip"]\n'
        '[[step]]\nmethod = "recode"\n[step.cuts]\nage = [20, 40, 60, 80]\n',
        encoding="utf-8",
    )
    folder = released("run", desk / "mine.toml")
    rows = read_csv(folder / "release.csv")
    assert {row["zip"] for row in rows} == {"{08000|08001}", "{08002|08003|08004}"}
    assert {row["age"] for row in rows} == {"[20..39]", "[40..59]", "[60..79]"}
    assert all(float(row["income"]) % 100 == 0 for row in rows)
    (desk / "zip.csv").unlink()
    again = read_csv(released("run", folder / "recipe.toml", out=desk / "again") / "release.csv")
    assert sorted(map(str, again)) == sorted(map(str, rows))


def test_what_it_voids_is_a_warning(released, table, desk):
    def recipe(*steps):
        roles = 'input = "patients.csv"\n[roles]\nquasi = ["age", "income"]\nconfidential = ["diagnosis"]\nidentifier = ["name"]\n'
        (desk / "two.toml").write_text(roles + "".join(f"[[step]]\n{step}\n" for step in steps), encoding="utf-8")
        return desk / "two.toml"

    first, second = 'method = "mdav"\nk = 5', 'method = "top-coding"\nlimit = { income = 1500 }'
    void = warnings_of(released("run", recipe(first, second), out=desk / "void"))
    assert "mdav promises nothing any more: a later step changed its columns again." in void
    kept = released("run", recipe(second, first), out=desk / "kept")
    assert [one["value"] for one in json.loads((kept / "certificate.json").read_text())["promises"]] == [5]
    assert not any("any more" in one for one in warnings_of(kept))


def test_compared_by_limits(shoal, table):
    ran = shoal("compare", table, *ROLES, "-m", "top-coding", "-p", "columns=income", "-p", "limit=1200,1500")
    assert ran.code == 0, ran.err
    assert "limit=1200" in ran.out
    assert "limit=1500" in ran.out
    assert shoal("compare", table, *ROLES, "-m", "top-coding", "-p", "limit=income:1500,age:50").code == 0


@pytest.mark.parametrize(
    ("method", "words", "says"),
    [
        ("top-coding", ("limit=50",), "Write it column:number, such as limit=income:50000"),
        ("top-coding", ("limit=age:old",), "limit of 'age' must be a number, or a day such as 1990-12-31"),
        ("top-coding", ("limit=age",), "Write it column:number, such as limit=income:50000"),
        ("top-coding", ("limit=agee:50",), "the table has no column 'agee'. Did you mean 'age'?"),
        ("top-coding", ("limit=diagnosis:50",), "column 'diagnosis' is nominal"),
        ("top-coding", ("limit=age:71", "replacement=mean", "fewest=30"), "above its limit, and a mean needs 30 or more"),
        ("top-coding", ("k=5",), "top-coding has no parameter 'k'"),
        ("bottom-coding", ("percentile=-1",), "percentile must be 0 or more"),
        ("bottom-coding", ("replacement=median",), "replacement must be 'limit', 'cell' or 'mean'"),
        ("rounding", ("base=age:0",), "base of 'age' must be more than 0"),
        ("rounding", ("base=",), "base must be a number"),
        ("recode", (), "nothing says how column 'age' is recoded"),
        ("recode", ("cuts=age:20|40",), "column 'age' has 37 values outside the cut points (first at row 4)"),
        ("recode", ("cuts=age:20|x",), "cuts of 'age' must be a number"),
        ("recode", ("map=nowhere.csv", "columns=diagnosis"), "There is no file nowhere.csv"),
        ("recode", ("map=flu=x", "columns=diagnosis"), "column 'diagnosis' has 40 values outside the map (first at row 2)"),
        ("recode", ("map=flu", "columns=diagnosis"), "There is no file flu"),
    ],
)
def test_bad_words(refused, table, desk, method, words, says):
    refused("protect", table, *ROLES, "-m", method, *(part for word in words for part in ("-p", word)), "-o", desk / "run", says=says)


def test_the_row_is_that_of_the_table(refused, desk):
    path = write_csv(desk / "t.csv", [["age", "zip"], *([str(20 + i % 9), "1"] for i in range(60)), ["140", "1"]])
    words = ("--quasi", "age", "--other", "zip", "-m", "recode", "-p", "cuts=0,18,65,110", "-o", desk / "run")
    refused("protect", path, *words, says="column 'age' has 1 value outside the cut points (first at row 61)")
