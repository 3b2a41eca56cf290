"""Bad hierarchies, limits and lattices, brought to recoding and local recoding: a sentence with the row or the group, or a search that says what
it did not look at."""

import json
import random

import pytest

from tests.cli.conftest import SECRET, write_csv

AGES = range(20, 73)
TREE = [f"{age};{age // 10 * 10}s;*" for age in AGES]
METHODS = ("recoding", "local-recoding")
ASKED = ("--quasi", "age", "--confidential", "diagnosis", "--identifier", "name", "--other", "zip,income")


def tree_of(path, lines=TREE):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def without(lines, age):
    return [line for line in lines if not line.startswith(f"{age};")]


WRONG = {
    "a value twice": ([*TREE, "20;20s;*"], "Row 54 of the hierarchy is for a value that row 1 has, too. Keep one of them."),
    "a group in two parents": (
        [f"{age};{age // 10 * 10}s;{'young' if age < 45 else 'old'}" for age in AGES],
        "Row 26 of the hierarchy puts a group of level 1 into another group than an earlier row does: the group '40s' is in 'old' there and in 'young' "
        "in row 21. Keep one of them.",
    ),
    "levels of different depth": (
        [*TREE[:9], "29;20s", *TREE[10:]],
        "Row 10 of the hierarchy has 2 cells, the first has 3. Give every value as many",
    ),
    "a label like a set": ([*TREE[:-1], "72;{72|73};*"], "Row 53 of the hierarchy: the group of level 1 has a name that reads as a set"),
    "a label like an interval": (
        [f"{age};[20..72];*" for age in AGES],
        "Row 1 of the hierarchy: the group of level 1 has a name that reads as a set",
    ),
    "a label like a value": (
        [f"{age};{'45' if age < 30 else 'more'};*" for age in AGES],
        "Row 1 of the hierarchy: the group of level 1 has the name of the value in row 26, which is not in it",
    ),
    "a label like missing": (
        [f"{age};{'NA' if age < 30 else 'more'};*" for age in AGES],
        "Row 1 of the hierarchy: the group of level 1 has a name",
    ),
    "everything below the top": ([f"{age};*;all" for age in AGES], "Row 1 of the hierarchy has * before its last level"),
    "a group inside itself": (
        [f"{age};a;b" if age < 30 else f"{age};b;a" for age in AGES],
        "Row 11 of the hierarchy puts a group inside itself",
    ),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_tree_is_told_by_its_row(refused, table, desk, method, wrong):
    lines, says = WRONG[wrong]
    tree = tree_of(desk / "age.csv", lines)
    refused("protect", table, *ASKED, "--hierarchy", f"age={tree}", "-m", method, "-p", "k=5", "-o", desk / "run", says=says)


@pytest.mark.parametrize("wrong", WRONG)
def test_the_check_of_a_hierarchy_says_the_same(refused, table, desk, wrong):
    lines, says = WRONG[wrong]
    refused("hierarchy", "check", tree_of(desk / "age.csv", lines), "--for", table, says=says)


@pytest.mark.parametrize("method", METHODS)
def test_a_leaf_missing_for_row_41(refused, shoal, desk, method):
    rows = [["age", "diagnosis"], *[[str(20 + i % 40), "xyz"[i % 3]] for i in range(60)]]
    path, tree = write_csv(desk / "t.csv", rows), tree_of(desk / "age.csv", without(TREE, 20))
    says = "Column 'age' has 1 value outside its hierarchy of 52 values, in 2 rows (first at row 1). Add a row for each value"
    words = ("--quasi", "age", "--confidential", "diagnosis", "--hierarchy", f"age={tree}", "-m", method, "-p", "k=5", "-o", desk / "run")
    refused("protect", path, *words, says=says)
    rows[41][0] = "99"
    path, tree = write_csv(desk / "t.csv", rows), tree_of(desk / "age.csv")
    refused("protect", path, *words, says="1 value outside its hierarchy of 53 values, in 1 row (first at row 41)")
    ran = shoal("hierarchy", "check", tree, "--for", path)
    assert ran.code == 1
    assert "Lacking, in 1 row (first at row 41): 99" in ran.err  # to whoever holds the table
    told = json.loads(shoal("hierarchy", "check", tree, "--for", path, "--json").out)
    assert (told["holds"], told["lacking"], told["rows_lacking"], told["first_row"]) == (False, ["99"], 1, 41)
    assert shoal("protect", path, *words[:5], f"age={tree}, else other", *words[6:]).code == 0


@pytest.mark.parametrize("method", METHODS)
def test_k_above_n(refused, table, desk, method):
    says = "The table has 60 rows, fewer than k = 61. Use k of at most 60."
    refused("protect", table, *ASKED, "-m", method, "-p", "k=61", "-o", desk / "run", says=says)


def test_a_suppression_limit_of_1(refused, table, desk):
    for limit in ("1", "1.0", "2", "-0.1", "all"):
        refused(
            "protect", table, *ASKED, "-m", "recoding", "-p", f"suppress={limit}", "-o", desk / "run", says="recoding: suppress must be"
        )
    refused(
        "protect", table, *ASKED, "-m", "local-recoding", "-p", "suppress=1", "-o", desk / "run", says="has no parameter 'suppress'. Known:"
    )


@pytest.mark.parametrize("method", METHODS)
def test_thirty_thousand_texts_without_a_hierarchy(refused, desk, method):
    path = write_csv(desk / "t.csv", [["note", "sex"], *[[f"{SECRET} {i}", "fm"[i % 2]] for i in range(30_000)]])
    says = "Column 'note' has 30,000 distinct texts and no hierarchy. Make one (shoal hierarchy note --from FILE"
    refused("protect", path, "--quasi", "note,sex", "-m", method, "-p", "k=5", "-o", desk / "run", says=says)
    refused("lattice", path, "--quasi", "note,sex", "-p", "k=5", "-o", desk / "l.html", says=says)


def wide(desk, columns, values, rows=150):
    chance = random.Random(columns)
    header = [f"q{j}" for j in range(columns)]
    return write_csv(desk / "wide.csv", [header, *[[values(chance) for _ in header] for _ in range(rows)]]), ",".join(header)


def outcome(folder):
    certificate = json.loads((folder / "certificate.json").read_text())
    return certificate["steps"][0]["outcome"], " ".join(certificate["warnings"])


def test_forty_quasi_identifiers(released, desk):
    path, names = wide(desk, 40, lambda chance: str(chance.randrange(3)))
    folder = released("protect", path, "--quasi", names, "-m", "recoding", "-p", "k=3", "-p", "seconds=0.5")
    told, warnings = outcome(folder)
    assert told["optimal"] == "not proven"
    assert told["nodes"] == 3**40
    assert 0 < told["nodes_left_out"] < 3**40
    assert "of 12,157,665,459,056,928,801 nodes neither looked at nor ruled out" in warnings


CODES = tuple(f"--kind=q{j}=text" for j in range(12)) + tuple(word for j in range(12) for word in ("--hierarchy", f"q{j}=mask=*"))


@pytest.mark.parametrize("method", METHODS)
def test_a_lattice_of_a_million_million_nodes(released, desk, method):
    path, names = wide(desk, 12, lambda chance: f"{chance.randrange(60) * 9973 % 512:09b}")
    folder = released("protect", path, "--quasi", names, *CODES, "-m", method, "-p", "k=3")
    told, warnings = outcome(folder)
    if method == "recoding":
        assert told["nodes"] == 10**12
        assert told["optimal"] == "proven"  # most levels are too fine, alone with another: whole parts of the lattice are ruled out
    else:
        assert told["ways"] == 10**12 > told["ways_looked_at"]
        assert "local-recoding: of 1,000,000,000,000 ways to choose levels" in warnings
