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


def test_a_tree_is_held_against_values_as_the_table_has_them(shoal, desk):
    pq.write_table(pa.table({"country": ["NA", " DE", "FR"]}), desk / "t.parquet")
    (desk / "trees.csv").write_text("NA;Africa\nDE;Europe\nFR;Europe\n")
    ran = shoal("hierarchy", "check", desk / "trees.csv", "--for", desk / "t.parquet", "--column", "country")
    assert ran.code == 0, ran.out
