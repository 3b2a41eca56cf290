"""`shoal risk`: what is shown of a file as it is, what is written of records, and what is refused."""

import json
import os
import stat

import pytest

from tests.cli.conftest import SECRET, patients, write_csv
from tests.cli.test_commands import ok

QUASI = ("--quasi", "age,zip,income")


def test_it_shows_classes_columns_sets_and_keys(shoal, table):
    ran = ok(shoal("risk", table, *QUASI))
    for part in ("patients.csv as it is", "unique rows", "Every column by itself", "Sets of columns", "Minimal keys: 2", "special uniques"):
        assert part in ran.out
    assert "population is not estimated here" in ran.err
    assert SECRET not in ran.out + ran.err


def test_json_says_the_same(shoal, table):
    found = json.loads(ok(shoal("risk", table, *QUASI, "--json")).out)
    assert (found["unit"], found["rows"], found["unique"], found["keys"]) == ("rows", 60, 60, [["income"], ["age", "zip"]])
    assert [one["column"] for one in found["columns"]] == ["age", "zip", "income"]
    assert found["below"]["5"] == 60
    assert not {"scores", "class_size", "special_sets"} & set(found)


def test_scores_of_records_are_the_owners_alone(shoal, table, desk):
    before = os.umask(0)
    try:
        ran = ok(shoal("risk", table, *QUASI, "-o", desk / "scores.csv"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((desk / "scores.csv").stat().st_mode) == 0o600
    lines = (desk / "scores.csv").read_text().splitlines()
    assert (lines[0], len(lines)) == ("row,class_size_rows,score,special_uniques,special_on", 61)
    assert "income" in lines[1]
    assert SECRET not in "".join(lines)
    assert "1000.5" not in "".join(lines)
    assert "must not leave" in ran.err
    assert sorted(path.name for path in desk.iterdir()) == ["patients.csv", "scores.csv"]


def test_nothing_is_written_over_or_into_nowhere(refused, table, desk):
    (desk / "scores.csv").write_text("mine")
    (desk / "link.csv").symlink_to("nowhere")
    refused("risk", table, *QUASI, "-o", desk / "scores.csv", says="exists")
    refused("risk", table, *QUASI, "-o", desk / "link.csv", says="exists")
    refused("risk", table, *QUASI, "-o", desk / "no" / "scores.csv", says="no folder")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "shoal look"),
        (("--quasi", "age,zipp"), "Did you mean 'zip'?"),
        (("--quasi", "age", "--size", "0"), "1 column or more"),
        (("--quasi", "age", "--tells", "95"), "at most 1"),
        (("--quasi", "age", "--fraction", "0"), "above 0"),
        (("--quasi", "age", "--score", "suda"), "Known: elliot, ihsn"),
        (("--quasi", "age", "--person", "age"), "two roles"),
    ],
)
def test_mistakes(refused, table, words, says):
    refused("risk", table, *words, says=says)


def test_a_table_without_rows(refused, desk):
    refused("risk", write_csv(desk / "empty.csv", patients(0)), *QUASI, says="no rows")


def test_one_row(shoal, desk):
    ran = ok(shoal("risk", write_csv(desk / "one.csv", patients(1)), *QUASI))
    assert "1 of 1 row is alone on these 3 columns" in ran.err


def test_persons_are_counted(shoal, desk):
    rows = [["who", "age", "zip"], *([str(i // 3), str(20 + i // 3), "8001"] for i in range(30))]
    ran = ok(shoal("risk", write_csv(desk / "visits.csv", rows), "--quasi", "age,zip", "--person", "who"))
    assert "30 of 10 persons" in ran.out
    assert "unique persons" in ran.out
    assert "10 of 10 persons are alone on these 2 columns" in ran.err


def test_codes_and_dates_come_from_the_roles_file(shoal, desk):
    rows = [["born", "age"], *([f"{1 + i % 28:02}.03.19{50 + i}", str(40 + i % 3) if i else "-9"] for i in range(30))]
    table = write_csv(desk / "people.csv", rows)
    (desk / "roles.toml").write_text('quasi = ["born", "age"]\n[missing]\nage = [-9]\n[kinds]\nborn = "date:%d.%m.%Y"\n')
    found = json.loads(ok(shoal("risk", table, "--roles", desk / "roles.toml", "--json")).out)
    assert (found["columns"][0]["distinct"], found["notes"][0][:5]) == (30, "1 row")
    (desk / "roles.toml").write_text('quasi = ["born", "age"]\n[kinds]\nborn = "date:%m/%d/%Y"\n')
    ran = shoal("risk", table, "--roles", desk / "roles.toml")
    assert ran.code == 2
    assert "born" in ran.err


def test_forty_columns_say_what_was_not_looked_at(shoal, desk):
    rows = [[f"c{j}" for j in range(40)], *([str((i * (j + 3) + i * i) % 4) for j in range(40)] for i in range(60))]
    ran = ok(shoal("risk", write_csv(desk / "wide.csv", rows), "--quasi", ",".join(rows[0]), "--size", "2"))
    assert "Sets of more than 2 columns were not looked at, 1,099,511,626,955 of all 1,099,511,627,775 sets" in ran.err
    assert "of the sets looked at" in ran.out


def test_sizes_that_say_nothing_more_are_one_line(shoal, desk):
    rows = [["a", "b", "c", "d"], *([str(i), str(i % 2), "x", "x"] for i in range(20))]
    ran = ok(shoal("risk", write_csv(desk / "few.csv", rows), "--quasi", "a,b,c,d"))
    assert "2 to 4   11    0                none tells more" in ran.out


def test_households_are_said(shoal, desk):
    rows = [["home", "age"], *([str(i // 2), str(i % 5)] for i in range(20))]
    (desk / "roles.toml").write_text('quasi = ["age"]\nhousehold = ["home"]\n')
    ran = ok(shoal("risk", write_csv(desk / "homes.csv", rows), "--roles", desk / "roles.toml"))
    assert "20 rows, 10 households. Rows are counted: all rows of a class may be one household." in ran.err
