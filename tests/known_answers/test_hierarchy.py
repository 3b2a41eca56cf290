"""Hierarchies worked by hand, and Adult's as ARX has them."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from shoal import attack, cell, measure, protect
from shoal.errors import RoleError, ShoalError
from shoal.hierarchy import Hierarchy
from shoal.measures import NCP
from shoal.methods import Datafly, Incognito, InfogainMondrian, LocalRecoding, Mondrian, OptimalRecoding
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.table import Table
from tests.data import data_path

# pets and farm animals, out of order; a goat that no record has
ANIMALS = (("cow", "farm", "*"), ("cat", "pet", "*"), ("hen", "farm", "*"), ("dog", "pet", "*"), ("goat", "farm", "*"))


def released(method, roles, **columns):
    """The released columns, in the order of the original rows."""
    table = Table.of(columns)
    release = method.protect(table, roles.check(table), chance_for(0, "test"))
    place = pa.array(np.argsort(release.source_row))
    score = NCP().measure(table, release, roles.check(table))
    return {name: release.table.column(name).take(place).to_pylist() for name in release.table.columns}, score


def test_rows_are_put_in_the_order_of_the_tree():
    tree = Hierarchy(ANIMALS)
    assert tree.leaves == ("cow", "hen", "goat", "cat", "dog")
    assert Hierarchy(tree.rows) == tree == Hierarchy.of(tree.lines) == Hierarchy.of([list(row) for row in ANIMALS])
    assert tree.places(["dog", None, "cow", "yak"]).tolist() == [4, -1, 0, -1]


def test_the_smallest_node_that_covers():
    tree = Hierarchy(ANIMALS)
    low, high = np.array([0, 0, 1, 2, 3, 4]), np.array([0, 1, 2, 3, 4, 4])
    begin, stop = tree.covering(low, high)
    assert list(zip(begin.tolist(), stop.tolist())) == [(0, 1), (0, 3), (0, 3), (0, 5), (3, 5), (4, 5)]


def test_a_forest_has_everything_above_it():
    begin, stop = Hierarchy((("a", "x"), ("b", "x"), ("c", "y"))).covering(np.array([0, 0]), np.array([1, 2]))
    assert list(zip(begin.tolist(), stop.tolist())) == [(0, 2), (0, 3)]


def test_a_value_may_be_the_name_of_its_group_and_a_row_for_missing_says_nothing():
    tree = Hierarchy((("other", "other", "*"), ("odd", "other", "*"), ("?", "unknown", "*"), ("fine", "good", "*")))
    assert tree.leaves == ("other", "odd", "fine")


def test_lines_survive_semicolons_quotes_and_line_breaks():
    tree = Hierarchy((("a;b", 'c"d'), ("e\nf", "g")))
    assert Hierarchy.of(tree.lines) == tree


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ((), "at least one row"),
        ((("", "x"),), "at least one row"),
        ((("a", "x", "*"), ("b", "*")), "Row 2 of the hierarchy has 2 cells, the first has 3"),
        ((("a", "x"), ("b", "x"), ("a", "y")), "Row 3 of the hierarchy is for a value that row 1 has, too"),
        ((("a", "x", "p"), ("b", "x", "q")), "Row 2 of the hierarchy puts a group of level 1 into another group"),
        ((("a", "x", "a"),), "puts a group inside itself"),
        ((("a", "x"), ("b", "a")), "Row 2 of the hierarchy: the group of level 1 has the name of the value in row 1, which is not in it"),
        ((("a", "NA", "*"), ("b", "x", "*")), "Row 1 of the hierarchy: the group of level 1 has a name that reads as missing"),
        ((("a", "x", "y"), ("b", "y", "x")), "Row 2 of the hierarchy puts a group inside itself"),
        (3, "A hierarchy is the name of a CSV file"),
        ([3], "A hierarchy is the name of a CSV file"),
    ],
)
def test_what_is_no_tree(rows, says):
    with pytest.raises(RoleError, match=f"Column 'pet': .*{says}"):
        Roles(hierarchies={"pet": rows})


def test_a_value_outside_the_tree_is_told_by_its_row():
    table = Table.of({"pet": ["cat", "yak", None, "yak"]})
    with pytest.raises(
        RoleError, match=r"Column 'pet' has 1 value outside its hierarchy of 5 values, in 2 rows \(first at row 2\)"
    ) as error:
        Roles(quasi=("pet",), hierarchies={"pet": ANIMALS}).check(table)
    assert "yak" not in str(error.value)
    with pytest.raises(ShoalError, match="no such column"):
        Roles(hierarchies={"pett": ANIMALS}).check(table)


def test_mondrian_cuts_along_the_tree_and_publishes_its_nodes():
    """Four farm animals, then four pets: the cut falls between them, where by name cat, cow, dog, hen it would part neither from the other."""
    roles = Roles(quasi=("pet",), hierarchies={"pet": ANIMALS})
    pets = ["cow", "cow", "hen", "hen", "cat", "cat", "dog", "dog"]
    result, score = released(Mondrian(k=4), roles, pet=pets)
    assert result["pet"] == ["{cow|hen|goat}"] * 4 + ["{cat|dog}"] * 4
    assert score.value == pytest.approx((2 / 4 + 1 / 4) / 2)  # of five leaves
    result, score = released(Mondrian(k=2), roles, pet=pets)
    assert result["pet"] == pets
    assert score.value == 0
    result, score = released(Mondrian(k=8), roles, pet=pets)
    assert result["pet"] == ["*"] * 8
    assert score.value == 1


def test_counts_are_left_out_and_missing_is_beside_no_value():
    roles = Roles(quasi=("pet",), target="sick", hierarchies={"pet": ANIMALS})
    sick = ["no", "no", "no", "yes", "yes", "yes"]
    result, score = released(InfogainMondrian(k=3), roles, pet=["cow", "cow", "hen", "cat", None, None], sick=sick)
    assert result["pet"] == ["{cow|hen|goat}"] * 3 + ["*"] * 3  # which alone stands for missing, too
    assert score.value == pytest.approx((2 / 5 + 1) / 2)  # missing is a sixth value
    result, _ = released(InfogainMondrian(k=3), roles, pet=["cow", "cow", "hen", None, None, None], sick=sick)
    assert result["pet"] == ["{cow|hen|goat}"] * 3 + [None] * 3


def test_numbers_follow_a_tree_too():
    tree = [[str(age), f"{age // 10 * 10}s", "*"] for age in range(100)]
    roles = Roles(quasi=("age",), hierarchies={"age": tree})
    ages = [21, 22, 23, 41, 42, 49]
    result, score = released(Mondrian(k=3), roles, age=ages)
    assert result["age"] == ["{20|21|22|23|24|25|26|27|28|29}"] * 3 + ["{40|41|42|43|44|45|46|47|48|49}"] * 3
    assert score.value == pytest.approx(9 / 99)
    halves = Roles(quasi=("age",), hierarchies={"age": [[str(age), f"half {age // 50}"] for age in range(100)]})
    assert released(Mondrian(k=3, publish="sets"), halves, age=ages)[0]["age"][0] == "[0..49]"  # too many to list


def test_dates_and_flags_follow_a_tree():
    days = [date(2020, month, 1) for month in (1, 2, 7, 8)]
    roles = Roles(quasi=("day",), hierarchies={"day": [[str(day), f"half {day.month // 7}"] for day in days]})
    assert released(Mondrian(k=2), roles, day=days)[0]["day"] == ["[2020-01-01..2020-02-01]"] * 2 + ["[2020-07-01..2020-08-01]"] * 2
    roles = Roles(quasi=("flag",), hierarchies={"flag": [["true"], ["false"]]})
    assert released(Mondrian(k=2), roles, flag=[True, True, False, False])[0]["flag"] == ["true", "true", "false", "false"]


def test_adult_as_arx_groups_it():
    folder = data_path("adult", "hierarchies")
    tree = Hierarchy.of(folder / "adult_hierarchy_education.csv")
    assert len(tree.leaves) == 16
    begin, stop = tree.covering(*(tree.places([name]) for name in ("Bachelors", "Some-college")))
    assert set(tree.leaves[begin[0] : stop[0]]) == {row[0] for row in tree.rows if row[1] == "Undergraduate"}
    assert len(Hierarchy.of(folder / "adult_hierarchy_native-country.csv").leaves) == 41
    assert Hierarchy.of(folder / "adult_hierarchy_age.csv").leaves == tuple(str(age) for age in range(1, 101))


def test_missing_beside_the_only_value_of_a_tree_is_not_that_value():
    known = {"pet": ["cat", None, "cat", "cat", None, None], "sex": ["f", "f", "f", "m", "m", "m"]}
    roles = Roles(quasi=("pet", "sex"), hierarchies={"pet": [["cat"]]})
    for method in (Mondrian(k=2), LocalRecoding(k=2), OptimalRecoding(k=2), Datafly(k=2), Incognito(k=2)):
        result, _ = released(method, roles, **known)
        assert all(shown in ("*", pet) for pet, shown in zip(known["pet"], result["pet"], strict=True)), method.name
    deeper = Roles(quasi=("pet", "sex"), hierarchies={"pet": [["cat", "animal"]]})
    result, _ = released(OptimalRecoding(k=3), deeper, pet=["cat", "cat", "cat", None, None, None], sex=["f"] * 3 + ["m"] * 3)
    assert result["pet"] == ["cat"] * 3 + [None] * 3  # hiding which is missing is no cheaper than elsewhere


def test_blanks_around_a_value_are_of_the_table_and_none_of_the_file():
    jobs = [" Private", " Gov", "self "] * 3
    tree = [["Private", "work"], ["Gov", "work"], ["self", "own"]]
    for given in ({}, {"job": tree}, {"job": {"rows": ["Private;work"], "other": "Rest"}}):
        roles = Roles(quasi=("job",), hierarchies=given)
        table = Table.of({"job": jobs})
        release = protect(table, "recoding", k=3, roles=roles)
        assert sorted(release.table.column("job").to_pylist()) == sorted(jobs)
    both = Roles(quasi=("job",), hierarchies={"job": [["a", "first"], ["b", "first"]]})
    with pytest.raises(RoleError, match="1 value outside its hierarchy"):
        both.check(Table.of({"job": ["a", " a", "b"]}))


def test_a_text_that_a_csv_would_read_as_missing_can_be_a_value():
    countries = ["NA", "DE", "NA", "DE", "?", "?"]
    tree = Hierarchy.of(["NA;Africa", "DE;Europe", "?;nowhere", "FR;Europe"])
    assert tree.leaves == ("DE", "FR")
    assert sorted(Hierarchy.of(tree.lines).grown(countries).leaves) == ["?", "DE", "FR", "NA"]
    for given in ({}, {"country": tree}):
        release = protect(Table.of({"country": countries}), "recoding", k=2, roles=Roles(quasi=("country",), hierarchies=given))
        assert sorted(release.table.column("country").to_pylist()) == sorted(countries)


@pytest.mark.parametrize("method", ["recoding", "local-recoding", "mondrian"])
@pytest.mark.parametrize("given", ["prefix 3, 2", "width 100"])
def test_codes_of_digits_are_no_numbers_to_measures_and_attacks(method, given):
    zips = [f"0{8000 + i % 200}" for i in range(400)]
    roles = Roles(quasi=("zip",), hierarchies={"zip": given})
    release = protect(Table.of({"zip": zips}), method, k=20, roles=roles, seed=1)
    cells = set(release.table.column("zip").to_pylist())
    assert {len(cell.read(one).values) for one in cells} == {
        100
    }  # all values are listed: an interval of texts would be understood by nobody
    original = Table.of({"zip": zips})
    assert measure(original, release, "ncp")["ncp"].value == pytest.approx(99 / 199)
    assert attack(original, release, "distance-linkage", seed=1)["distance-linkage"].rate == pytest.approx(1 / 200)
    assert all(not release.roles.hierarchies["zip"].tells(name) for name in release.table.labels["zip"].values())


def test_groups_that_hold_numbers_outside_their_name():
    """As in ARX's example of ages, where 0-4 holds 5 and 15-19 holds 20."""
    rows = [["4", "0-4", "0-9", "*"], ["5", "0-4", "0-9", "*"], ["6", "5-9", "0-9", "*"], ["10", "5-9", "0-9", "*"]]
    assert Hierarchy.of(rows).misnamed == {"0-4": ("5",), "5-9": ("10",), "0-9": ("10",)}
    assert Hierarchy.of([["4", "[0, 5)"], ["5", "[5, 10)"], ["10", "10 - 14"], ["15", "15 to 19"]]).misnamed == {}
    assert Hierarchy.of([["5", "[0, 5)"], ["9", "(9, 12]"], ["12", "(9, 12]"]]).misnamed == {"[0, 5)": ("5",), "(9, 12]": ("9",)}
    assert Hierarchy.of([["11-20", "11-2"], ["x", "1-2"]]).misnamed == {}
    assert Hierarchy((), "width 5").grown(["5", "7"]).misnamed == {}
