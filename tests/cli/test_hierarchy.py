"""`shoal hierarchy`: every way to group a column, as it is typed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

LINES = ["age,zip,stage,town,born,ill"] + [
    f"{20 + i % 50},{8000 + 7 * i % 300:05d},{('low', 'middle', 'high')[i % 3]},t{i % 8},{1960 + i % 40}-0{1 + i % 9}-15,{'xy'[i % 2]}"
    for i in range(80)
]


@pytest.fixture
def patients(desk, monkeypatch):
    monkeypatch.chdir(desk)
    (desk / "p.csv").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return desk


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        (["age", "--round"], "width 5 from 0, then 10, 20, 40"),
        (["age"], "width 5 from 0, then 10, 20, 40"),
        (["age", "--rule", "width 10 from 0"], "width 10 from 0"),
        (["age", "--rule", "ages"], "ages"),
        (["age", "--rule", "cuts 18, 65"], "cuts 18, 65"),
        (["zip", "--prefix"], "mask=*"),
        (["zip", "--rule", "prefix 3, 2"], "prefix 3, 2"),
        (["stage", "--levels", "low,middle,high"], "groups of 2"),
        (["born", "--dates"], "month, quarter, year, decade"),
        (["town", "--by", "ill"], None),
    ],
)
def test_every_way_to_group(shoal, patients, words, rule):
    ran = shoal("hierarchy", *words, "--from", "p.csv", "-o", "tree.csv", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["rule"] == rule
    assert found["levels"] == sorted(found["levels"], reverse=True)
    assert found["levels"][-1] == 1
    ran = shoal("hierarchy", "check", "tree.csv", "--for", "p.csv", "--column", words[0])
    assert ran.code == 0, ran.err


def test_a_tree_that_was_written_serves_a_release(shoal, patients):
    assert shoal("hierarchy", "age", "--from", "p.csv", "-o", "age.csv").code == 0
    ran = shoal("protect", "p.csv", "--quasi", "age", "--hierarchy", "age=age.csv", "-m", "recoding", "-p", "k=5", "-o", "run")
    assert ran.code == 0, ran.err
    cells = {line.split(",")[0].strip('"') for line in (patients / "run" / "release.csv").read_text().splitlines()[1:]}
    assert all(cell.startswith("[") for cell in cells)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["age"], "Name the table"),
        (["agee", "--from", "p.csv"], "Did you mean 'age'"),
        (["age", "--from", "p.csv", "--round", "--dates"], "Say one way"),
        (["age", "--from", "p.csv", "--rule", "widht 5"], "made by a rule such as"),
        (["age", "--from", "p.csv", "--rule", "width 5, then 7"], "width"),
        (["town", "--from", "p.csv", "--by", "illl"], "Did you mean 'ill'"),
        (["age", "--from", "p.csv", "-o", "p.csv"], "exists"),
        (["stage", "--from", "p.csv", "--levels", "low,high"], "stage"),
        (["check", "p.csv"], "Name the hierarchy and its table"),
    ],
)
def test_mistakes_are_a_sentence(shoal, patients, words, says):
    ran = shoal("hierarchy", *words)
    assert ran.code == 2
    assert says in ran.err


def test_values_that_a_rule_makes_no_group_of_are_said(shoal, patients):
    (patients / "z.csv").write_text("zip\n08001\n17002\nunknown\nunknown\nn/k\nn/k\n", encoding="utf-8")
    ran = shoal("hierarchy", "zip", "--rule", "cuts 10000", "--from", "z.csv", "-o", "z_tree.csv")
    assert ran.code == 0, ran.err
    assert "in 4 rows: n/k, unknown" in ran.err
    assert "--rule 'cuts 10000, else Other'" in ran.err
    assert json.loads(shoal("hierarchy", "zip", "--rule", "cuts 10000", "--from", "z.csv", "--json").out)["lacking"] == ["n/k", "unknown"]
    ran = shoal("hierarchy", "zip", "--rule", "cuts 10000, else Other", "--from", "z.csv", "-o", "whole.csv")
    assert ran.code == 0, ran.err
    assert "unknown;Other;" in (patients / "whole.csv").read_text(encoding="utf-8")
    assert 'zip = "cuts 10000, else Other"' in ran.err
    assert "Without a group" not in ran.err


def test_codes_for_missing_are_in_no_group(shoal, patients):
    (patients / "i.csv").write_text("income\n" + "".join(f"{-9 if i % 3 else 1000 * i}\n" for i in range(90)), encoding="utf-8")
    ran = shoal("hierarchy", "income", "--from", "i.csv", "--json")
    assert "-9" in {row[0] for row in json.loads(ran.out)["rows"]}
    ran = shoal("hierarchy", "income", "--from", "i.csv", "--missing-code", "-9", "--json")
    assert ran.code == 0, ran.err
    assert not [row for row in json.loads(ran.out)["rows"] if "-" in row[0]]


def test_categories_without_a_hint_say_what_can_group_them(shoal, patients):
    assert "says how to group them" in shoal("hierarchy", "town", "--from", "p.csv").err
    assert "says how to group them" not in shoal("hierarchy", "town", "--from", "p.csv", "--by", "ill").err


def test_a_file_is_for_the_column_it_is_named_after_as_arx_names_them(shoal, patients):
    assert shoal("hierarchy", "age", "--from", "p.csv", "-o", "adult_hierarchy_age.csv").code == 0
    ran = shoal("hierarchy", "check", "adult_hierarchy_age.csv", "--for", "p.csv")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0].strip() == "adult_hierarchy_age.csv for column age of p.csv"
    (patients / "nothing.csv").write_text("1;*\n", encoding="utf-8")
    assert "no column 'nothing'" in shoal("hierarchy", "check", "nothing.csv", "--for", "p.csv").err


def test_groups_named_after_a_range_that_is_not_theirs_are_told(shoal, patients):
    rows = [f"{age};{(age - 1) // 10 * 10}-{(age - 1) // 10 * 10 + 9};*" for age in range(1, 100)]
    (patients / "age.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ran = shoal("hierarchy", "check", "age.csv", "--for", "p.csv")
    assert ran.code == 0
    assert "10 in 0-9" in ran.err
    ran = shoal(
        "protect",
        "p.csv",
        "--quasi",
        "age",
        "--hierarchy",
        "age=age.csv",
        "-m",
        "recoding",
        "-p",
        "k=2",
        "-p",
        "lowest=age:1",
        "-o",
        "misread",
    )
    assert ran.code == 0, ran.err
    assert "outside the range they are named after: " in ran.err
    ran = shoal("verify", "misread", "misread/certificate.json")
    assert ran.code == 0, ran.err


def test_a_tree_is_held_against_values_as_the_table_has_them(shoal, desk):
    pq.write_table(pa.table({"country": ["NA", " DE", "FR"]}), desk / "t.parquet")
    (desk / "trees.csv").write_text("NA;Africa\nDE;Europe\nFR;Europe\n")
    ran = shoal("hierarchy", "check", desk / "trees.csv", "--for", desk / "t.parquet", "--column", "country")
    assert ran.code == 0, ran.out
