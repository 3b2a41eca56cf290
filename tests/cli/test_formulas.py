"""Text that a spreadsheet program would run: counted by column, and escaped on request, from the file to the certificate and back."""

from __future__ import annotations

import csv
import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.checks.values import formulas_among, without_escapes
from shoal.files import read_table
from shoal.formulas import escaped, formulas_in, unescaped
from shoal.table import Table

NOTES = ["=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-2+3", "'=x", "-5", "plain", "-", "＝1+1", '=HYPERLINK("a","b")']
LIKE = {"=cmd|' /C calc'!A0", "@SUM(A1)", "+1+1", "-2+3", "＝1+1", '=HYPERLINK("a","b")'}
MADE = ("protect", "t.csv", "--quasi", "age", "--confidential", "note", "-m", "mondrian", "-p", "k=5", "--seed", "1")
texts = st.text(alphabet="'=+-@＝ \t\r\n5.,eEa", max_size=6)


@pytest.fixture(autouse=True)
def table(desk, monkeypatch):
    monkeypatch.chdir(desk)
    with open("t.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["age", "note"], *([20 + i % 40, NOTES[i % 10]] for i in range(100))])


def notes(path):
    with open(path, encoding="utf-8", newline="") as file:
        return sorted(row["note"] for row in csv.DictReader(file))


@given(st.lists(texts, min_size=1))
def test_no_two_cells_become_one_and_all_come_back(cells):
    written = escaped(pa.array(cells, pa.string()))
    assert len(set(written.to_pylist())) == len(set(cells))
    assert unescaped(written).to_pylist() == without_escapes(written).to_pylist() == cells
    assert not formulas_among(written).any()
    assert int(formulas_among(pa.array(cells, pa.string())).sum()) == formulas_in(Table.of({"a": cells})).get("a", 0)


@pytest.mark.parametrize("cell", ["-5", "+4,5", "-1e-5", "-007", "-inf", "-", "=", "", "a=b", "'=a", "5-3", "[-5, 3]", "{=a|b}", "*"])
def test_what_is_no_formula(cell):
    assert formulas_in(Table.of({"a": [cell, "x"]})) == {}


def test_formulas_are_warned_about_by_column_and_count(desk, shoal):
    made = shoal(*MADE, "-o", "run", "--json")
    assert made.code == 0, made.err
    said = [one for one in json.loads(made.out)["certificate"]["warnings"] if "formula" in one]
    assert said == ["60 cells of 'note' begin like a formula: a spreadsheet program may run them. Use --formulas escape."]
    assert notes("run/release.csv") == notes("t.csv"), "unasked, nothing is changed"
    assert "Warning: 60 cells of 'note' begin like a formula" in shoal(*MADE, "-o", "again").err.replace("\n", " ")


def test_escaped_they_stay_text_and_everything_still_holds(desk, shoal):
    made = shoal(*MADE, "-p", "l=2", "--formulas", "escape", "-o", "run", "--json")
    assert made.code == 0, made.err
    certificate = json.loads(made.out)["certificate"]
    assert certificate["release"]["formulas"] == "escape"
    assert "60 cells of 'note' began like a formula: an apostrophe stands before each." in certificate["warnings"]
    assert notes("run/release.csv") == sorted("'" + cell if cell in LIKE or cell == "'=x" else cell for cell in notes("t.csv"))
    assert 'formulas = "escape"' in (desk / "run/recipe.toml").read_text()
    verified = shoal("verify", "run/release.csv", "run/certificate.json", "--json")
    assert verified.code == 0
    assert "cells that begin like a formula" in verified.out
    before = {one["name"]: one["value"] for one in certificate["measures"]}
    again = json.loads(shoal("report", "run", "--json").out)["certificate"]
    assert {one["name"]: one["value"] for one in again["measures"]} == before, "read back, cells are what they were"
    assert again["release"] == certificate["release"]
    assert shoal("verify", "run/release.csv", "run/certificate.json").code == 0
    assert shoal("run", "run/recipe.toml", "-o", "other", "--seed", "1").code == 0
    assert (desk / "other/release.csv").read_bytes() == (desk / "run/release.csv").read_bytes()


def test_a_formula_put_into_an_escaped_release_is_found(desk, shoal):
    assert shoal(*MADE, "--formulas", "escape", "-o", "run").code == 0
    release = desk / "run/release.csv"
    release.write_text(release.read_text().replace("'@SUM", "@SUM", 1))
    found = json.loads(shoal("verify", release, "run/certificate.json", "--json").out)["checks"]
    assert [one["found"] for one in found if one["what"] == "cells that begin like a formula"] == [1]


def test_names_of_columns_are_warned_about_and_not_escaped(desk, shoal):
    (desk / "t.csv").write_text((desk / "t.csv").read_text().replace("age,note", "age,=note", 1))
    words = [word.replace("note", "=note") for word in MADE]
    assert "The name of column '=note' begins like a formula" in shoal(*words, "-o", "run").err.replace("\n", " ")
    refused = shoal(*words, "--formulas", "escape", "-o", "other")
    assert refused.code == 2
    assert "Rename the column" in refused.err
    assert not (desk / "other").exists()


def test_a_missing_token_that_is_a_formula_becomes_an_empty_cell(desk, shoal):
    (desk / "t.csv").write_text("age,note\n" + "".join(f"{20 + i % 9},{'=NA()' if i % 5 else 'x'}\n" for i in range(60)))
    assert shoal(*MADE, "--missing", "=NA()", "--formulas", "escape", "-o", "run").code == 0
    assert set(notes("run/release.csv")) == {"", "x"}
    assert shoal("verify", "run/release.csv", "run/certificate.json").code == 0


def test_parquet_is_left_alone(desk, shoal):
    import pyarrow.parquet as pq

    pq.write_table(read_table("t.csv").arrow, "t.parquet")
    words = ["t.parquet" if word == "t.csv" else word for word in MADE]
    made = shoal(*words, "--formulas", "escape", "-o", "run", "--json")
    assert made.code == 0
    assert "formula" not in " ".join(json.loads(made.out)["certificate"]["warnings"])
    assert sorted(pq.read_table("run/release.parquet").column("note").to_pylist()) == notes("t.csv")
    assert shoal("verify", "run/release.parquet", "run/certificate.json").code == 0


def test_another_word_is_refused(desk, shoal):
    assert "--formulas is keep or escape" in shoal(*MADE, "--formulas", "drop", "-o", "run").err
    (desk / "r.toml").write_text('input = "t.csv"\nformulas = "drop"\n[[step]]\nmethod = "mdav"\n')
    assert "formulas must be keep or escape" in shoal("run", "r.toml", "-o", "run").err


def test_rows_of_documents(desk, shoal):
    pytest.importorskip("lxml")
    (desk / "n.csv").write_text('note\n"=1+1 says Anna Miller"\n"Call anna@example.org"\n')
    assert shoal("documents", "detect", "n.csv", "--column", "note", "-o", "case").code in (0, 1)
    made = shoal("documents", "redact", "case", "-o", "plain", "--json")
    assert made.code == 0, made.err
    assert "1 cell begins like a formula" in " ".join(json.loads(made.out)["certificate"]["warnings"])
    made = shoal("documents", "redact", "case", "--formulas", "escape", "-o", "out", "--json")
    assert made.code == 0, made.err
    assert "begins like a formula stands an apostrophe" in " ".join(json.loads(made.out)["certificate"]["warnings"])
    assert next(cell for cell in notes("out/documents.csv") if "1+1" in cell).startswith("'=1+1")
    assert shoal("verify", "out", "out/certificate.json").code == 0
