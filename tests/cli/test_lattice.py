"""shoal lattice: what it prints and draws, and that it is its keeper's alone."""

import json
import random
import re

import pytest

from tests.cli.conftest import SECRET, listing, patients, write_csv

ASKED = ("--quasi", "age,income", "--confidential", "diagnosis", "--identifier", "name", "-p", "k=4", "-p", "suppress=0.1")


def test_a_table_of_nodes(shoal, table):
    ran = shoal("lattice", table, *ASKED)
    assert ran.code == 0, ran.err
    assert "★ the optimum" in ran.out
    assert "✓ keeps what is asked" in ran.out
    assert "✗ suppresses too many" in ran.out
    assert re.search(r"smallest class,\s+rows", ran.out)
    assert "t of diagnosis" in ran.out
    assert "With k = 4, recoding loses" in ran.err
    assert "of 60 rows, where 6 may be" in ran.err
    assert "The lattice has" in ran.err
    assert "they stay with you" in ran.err
    assert SECRET not in ran.out + ran.err


def test_json_has_every_node_and_what_was_not_looked_at(shoal, table):
    ran = shoal("lattice", table, *ASKED, "--nodes", "12", "--json")
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    best, *others = told["nodes"]
    assert (best["state"], best["steps"], set(best["levels"]), set(best["l"]), len(others)) == (
        "optimum",
        0,
        {"age", "income"},
        {"diagnosis"},
        11,
    )
    assert best["suppressed"] <= told["limit"] == 6
    assert told["size"] > 12
    assert (told["left_out"], told["gap"], told["unit"], told["records"], told["asked"]) == (0, None, "rows", 60, {"k": 4, "suppress": 0.1})


def test_the_optimum_is_what_recoding_releases(shoal, table, desk):
    lattice = json.loads(shoal("lattice", table, *ASKED, "--json").out)
    assert shoal("protect", table, *ASKED, "-m", "recoding", "-o", desk / "run").code == 0
    outcome = json.loads((desk / "run" / "certificate.json").read_text())["steps"][0]["outcome"]
    assert outcome["levels"] == lattice["nodes"][0]["levels"]
    assert (outcome["optimal"], outcome["nodes"]) == ("proven", lattice["size"])


def test_the_page_is_whole_offline_and_private(shoal, table, desk):
    ran = shoal("lattice", table, *ASKED, "-o", desk / "lattice.html")
    assert ran.code == 0, ran.err
    assert "stays with you" in ran.err
    file = desk / "lattice.html"
    assert file.stat().st_mode & 0o777 == 0o600
    page = file.read_text(encoding="utf-8")
    assert "Private. Exact figures of the original" in page
    assert not [word for word in ("<script", "http:", "https:", "src=", "href=", "@import", "url(") if word in page]
    assert all(sign in page for sign in "★✓✗")  # read without colours
    cells = {row[3] for row in patients()[1:]} | {row[4] for row in patients()[1:]} | {row[2] for row in patients()[1:]}
    assert not [cell for cell in cells if cell in page]
    assert SECRET not in page
    assert [path.name for path in sorted(desk.iterdir())] == ["lattice.html", "patients.csv"]


def test_a_name_that_is_markup_is_text(shoal, desk):
    rows = [["<b>age", "sex", "ill"], *[[str(20 + i % 30), "fm"[i % 2], "yn"[i % 2]] for i in range(60)]]
    path = write_csv(desk / "t.csv", rows)
    ran = shoal("lattice", path, "--quasi", "<b>age,sex", "-p", "k=3", "-o", desk / "l.html")
    assert ran.code == 0, ran.err
    assert "<b>age" not in (desk / "l.html").read_text(encoding="utf-8")


def test_persons_are_said(shoal, desk):
    rows = [["who", "age", "ill"], *[[str(i % 20), str(20 + i % 20), "yn"[i % 2]] for i in range(60)]]
    ran = shoal("lattice", write_csv(desk / "t.csv", rows), "--quasi", "age", "--person", "who", "--confidential", "ill", "-p", "k=3")
    assert ran.code == 0, ran.err
    assert "of 20 persons" in ran.err
    assert re.search(r"smallest class,\s+persons", ran.out)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-p", "k=61"), "60 rows, fewer than k = 61. Use k of at most 60."),
        (("-p", "suppress=1"), "suppress must be less than 1"),
        (("-p", "kk=3"), "Did you mean 'k'?"),
        (("-p", "k=3,5"), "k must be a whole number"),
        (("-p", "l=9"), "so no group can have more. Ask for less."),
        (("-p", "highest=age:0,income:0"), "allow more of either, or ask for less."),
        (("-p", "lowest=agee:1"), "Did you mean 'age'?"),
        (("--nodes", "0"), "greater than or equal to 1"),
        (("--hierarchy", "zip=nowhere.csv"), "There is no file"),
        (("--hierarchy", "agee=mask=*"), "Did you mean 'age'?"),
    ],
)
def test_bad_input(refused, table, words, says):
    refused(
        "lattice",
        table,
        "--quasi",
        "age,income",
        "--confidential",
        "diagnosis",
        "--identifier",
        "name",
        "--other",
        "zip",
        *words,
        says=says,
    )


def test_nothing_to_protect_and_no_such_column(refused, table):
    refused("lattice", table, says="there is no quasi-identifier")
    refused("lattice", table, "--quasi", "age,incom", says="Did you mean 'income'?")


def test_what_is_there_is_not_written_over(refused, table, desk):
    (desk / "l.html").write_text("mine")
    refused("lattice", table, *ASKED, "-o", desk / "l.html", says="exists")
    (desk / "link.html").symlink_to(desk / "nowhere")
    refused("lattice", table, *ASKED, "-o", desk / "link.html", says="exists")
    refused("lattice", table, *ASKED, "-o", desk / "none" / "l.html", says="cannot be made")
    assert (desk / "l.html").read_text() == "mine"


def test_forty_columns_are_searched_within_the_time_given(shoal, desk):
    chance = random.Random(1)
    rows = [[f"q{j}" for j in range(40)], *[[str(chance.randrange(3)) for _ in range(40)] for _ in range(200)]]
    path = write_csv(desk / "wide.csv", rows)
    before = listing(desk)
    ran = shoal("lattice", path, "--quasi", ",".join(rows[0]), "-p", "k=3", "-p", "seconds=0.5")
    assert ran.code == 0, ran.err
    assert "★ the best found" in ran.out
    assert "The lattice has 12,157,665,459,056,928,801 nodes" in ran.err
    assert "neither looked at nor ruled out" in ran.err
    assert "is not proven" in ran.err
    assert listing(desk) == before
