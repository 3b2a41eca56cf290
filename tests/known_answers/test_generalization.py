"""Generalizing methods on tables that can be worked by hand: what each row publishes, what that costs, and what can still be learnt from it."""

from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError
from shoal.measures import NCP
from shoal.methods import BalancedMondrian, InfogainMondrian, Kactus, KactusRefined, Mondrian
from shoal.methods.mondrian import _parts
from shoal.randomness import chance_for, rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.learning import LEARNERS, combined_f_test, learn
from shoal.runs.sample import sample
from shoal.table import Table

TELLING = (InfogainMondrian, BalancedMondrian, Kactus, KactusRefined)


def protected(method, roles, seed=0, **columns):
    table = Table.of(columns)
    roles = roles.check(table)
    return table, method.protect(table, roles, chance_for(seed, "test")), roles


def published(method, roles, seed=0, **columns):
    """The released columns, in the order of the original rows."""
    _, release, _ = protected(method, roles, seed, **columns)
    place = pa.array(np.argsort(release.source_row))
    return {name: release.table.column(name).take(place).to_pylist() for name in release.table.columns}


def found(release):
    return {one.what.split(" over")[0]: (one.promised, one.found, one.holds) for one in check_release(release)}


# ---- mondrian ------------------------------------------------------------------------------------------------------------------------

# Both columns span their whole range; age, the first, is cut in the middle, and neither half can be cut at k = 3.
SIX = {"age": [20, 21, 22, 40, 41, 42], "city": ["Ath", "Ath", "Birr", "Birr", "Cork", "Cork"]}
SIX_ROLES = Roles(quasi=("age", "city"))


@pytest.mark.parametrize(
    ("publish", "young", "old"),
    [
        ("intervals", ("[20..22]", "{Ath|Birr}"), ("[40..42]", "{Birr|Cork}")),
        ("sets", ("{20|21|22}", "{Ath|Birr}"), ("{40|41|42}", "{Birr|Cork}")),
        ("counts", ("{20|21|22}", "{Ath*2|Birr}"), ("{40|41|42}", "{Birr|Cork*2}")),
        ("mean", (21.0, "{Ath|Birr}"), (41.0, "{Birr|Cork}")),
    ],
)
def test_mondrian_publishes(publish, young, old):
    result = published(Mondrian(k=3, publish=publish), SIX_ROLES, **SIX)
    assert list(zip(result["age"], result["city"])) == [young] * 3 + [old] * 3


def test_intervals_are_what_mondrian_does_unasked():
    assert published(Mondrian(k=3), SIX_ROLES, **SIX)["age"][0] == "[20..22]"


def test_ncp_of_mondrian():
    # age: 2 of a range of 22; city: (2 - 1) / (3 - 1)
    table, release, roles = protected(Mondrian(k=3), SIX_ROLES, **SIX)
    score = NCP().measure(table, release, roles)
    assert score.per_column == pytest.approx({"age": 2 / 22, "city": 1 / 2})
    assert score.value == pytest.approx((2 / 22 + 1 / 2) / 2)


def test_a_set_of_numbers_costs_its_width_and_a_mean_nothing():
    for publish, cost in (("sets", 2 / 22), ("counts", 2 / 22), ("mean", 0)):
        table, release, roles = protected(Mondrian(k=3, publish=publish), SIX_ROLES, **SIX)
        assert NCP().measure(table, release, roles).per_column["age"] == pytest.approx(cost)


def test_missing_is_a_value_of_its_own():
    roles = Roles(quasi=("age",))
    assert published(Mondrian(k=2), roles, age=[20, 22, None, None])["age"] == ["[20..22]", "[20..22]", None, None]
    assert published(Mondrian(k=4), roles, age=[20, 22, None, None])["age"] == ["{[20..22]|}"] * 4
    assert published(Mondrian(k=4, publish="counts"), roles, age=[20, 22, None, None])["age"] == ["{20|22|*2}"] * 4
    assert published(Mondrian(k=4, publish="mean"), roles, age=[20, 22, None, None])["age"] == [21.0] * 4


def test_numbers_with_missing_beside_them_are_not_certain():
    table, release, roles = protected(Mondrian(k=2), Roles(quasi=("age", "sex")), age=[20, None], sex=["f", None])
    assert NCP().measure(table, release, roles).per_column == {"age": 1, "sex": 1}


def test_levels_are_listed_from_lowest_to_highest_and_dates_are_intervals():
    roles = Roles(quasi=("size", "day"), ordinal={"size": ("small", "medium", "large")})
    result = published(Mondrian(k=3), roles, size=["small", "large", "medium"], day=[date(2020, 1, d) for d in (3, 1, 2)])
    assert result == {"size": ["{small|medium|large}"] * 3, "day": ["[2020-01-01..2020-01-03]"] * 3}
    days = {"day": [date(2020, 1, d) for d in (3, 1, 2)]}
    assert published(Mondrian(k=3, publish="mean"), Roles(quasi=("day",)), **days)["day"] == [date(2020, 1, 2)] * 3
    assert published(Mondrian(k=3, publish="sets"), Roles(quasi=("day",)), **days)["day"] == ["[2020-01-01..2020-01-03]"] * 3


def test_many_numbers_become_intervals_of_equally_many_records():
    roles = Roles(quasi=("x",))
    x = list(range(1, 61))
    counts = published(Mondrian(k=60, publish="counts"), roles, x=x)["x"][0]
    assert counts.startswith("{[1..2]*2|[3..4]*2|")
    assert counts.count("|") == 29
    assert published(Mondrian(k=60, publish="sets"), roles, x=x)["x"][0] == "[1..60]"


def test_values_of_the_notation_are_kept_apart_from_it():
    result = published(Mondrian(k=2), Roles(quasi=("a", "b")), a=["*", "*"], b=["x|y", "[1..2]"])
    assert result == {"a": [r"\*", r"\*"], "b": [r"{\[1..2]|x\|y}"] * 2}


# ---- methods that look at a target ---------------------------------------------------------------------------------------------------------

# colour decides the class; x says nothing about it
EIGHT = {"x": [1, 2, 3, 4, 1, 2, 3, 4], "colour": ["red"] * 4 + ["blue"] * 4, "sick": ["no"] * 4 + ["yes"] * 4}
EIGHT_ROLES = Roles(quasi=("x", "colour"), target="sick")


def test_strict_mondrian_does_not_look_at_the_target():
    assert set(published(Mondrian(k=4), EIGHT_ROLES, **EIGHT)["colour"]) == {"{blue|red}"}


@pytest.mark.parametrize("method", TELLING, ids=lambda m: m.name)
def test_what_tells_the_target_apart_stays(method):
    result = published(method(k=4), EIGHT_ROLES, **EIGHT)
    assert result["colour"] == EIGHT["colour"]
    assert set(result["x"]) == {"*" if method is Kactus else "{1|2|3|4}"}
    assert result["sick"] == EIGHT["sick"]


@pytest.mark.parametrize("method", [InfogainMondrian, BalancedMondrian, KactusRefined], ids=lambda m: m.name)
@pytest.mark.parametrize(("publish", "low", "high"), [("counts", "{1|2}", "{3|4}"), ("intervals", "[1..2]", "[3..4]"), ("mean", 1.5, 3.5)])
def test_where_no_cut_helps_the_target_cells_still_get_narrower(method, publish, low, high):
    result = published(method(k=2, publish=publish), EIGHT_ROLES, **EIGHT)
    assert result["x"] == [low, low, high, high] * 2
    assert result["colour"] == EIGHT["colour"]


def test_regression_cuts_where_the_target_varies():
    roles = Roles(quasi=("x", "z"), target="pay")
    columns = {"x": [1, 9, 1, 9], "z": [1, 1, 2, 2], "pay": [10.0, 11.0, 90.0, 91.0]}  # pay goes with z; x is as wide and comes first
    result = published(InfogainMondrian(k=2, workload="regression"), roles, **columns)
    assert result["z"] == ["1", "1", "2", "2"]
    assert published(Mondrian(k=2), roles, **columns)["x"] == ["1", "9", "1", "9"]


# ---- kACTUS --------------------------------------------------------------------------------------------------------------------------

# The tree asks for colour and nothing else: red is well, blue is sick, green is mixed and too few.
TWELVE = {
    "colour": ["red"] * 5 + ["blue"] * 5 + ["green"] * 2,
    "town": ["A", "B", "A", "B", "A"] + ["C"] * 5 + ["A", "B"],
    "sick": ["no"] * 5 + ["yes"] * 5 + ["no", "yes"],
}
TWELVE_ROLES = Roles(quasi=("colour", "town"), target="sick")


def rows_by(result, *columns):
    cells = list(zip(*(result[column] for column in columns)))
    return {cell: cells.count(cell) for cell in cells}


@pytest.mark.parametrize(("show", "town"), [("path", "*"), ("path-and-agreed", "C")])
def test_kactus_suppresses_what_is_off_the_path_or_shows_what_a_group_agrees_on(show, town):
    # two greens lack two; red and blue, with one to spare each, lend them; town is off the path, but all blues live in C
    for seed in range(5):
        result = published(Kactus(k=4, show=show), TWELVE_ROLES, seed, **TWELVE)
        assert rows_by(result, "colour", "town") == {("red", "*"): 4, ("blue", town): 4, ("*", "*"): 4}
        assert [result["colour"][i] for i in (10, 11)] == ["*", "*"]
        assert result["sick"] == TWELVE["sick"]


def test_the_seed_decides_who_lends():
    lent = {
        tuple(i for i, c in enumerate(published(Kactus(k=4), TWELVE_ROLES, seed, **TWELVE)["colour"][:10]) if c == "*")
        for seed in range(40)
    }
    assert {i for i, _ in lent} == set(range(5))
    assert {i for _, i in lent} == set(range(5, 10))


@pytest.mark.parametrize(("show", "town"), [("path", 1.0), ("path-and-agreed", 8 / 12)])
def test_ncp_of_kactus(show, town):
    table, release, roles = protected(Kactus(k=4, show=show), TWELVE_ROLES, **TWELVE)
    score = NCP().measure(table, release, roles)
    assert score.per_column == pytest.approx({"colour": 4 / 12, "town": town})
    assert score.value == pytest.approx((4 / 12 + town) / 2)


TEN = {name: [v for i, v in enumerate(values) if i not in (4, 9)] for name, values in TWELVE.items()}  # nobody has anything to spare


@pytest.mark.parametrize("method", [Kactus, KactusRefined], ids=lambda m: m.name)
def test_what_is_left_over_is_dropped_as_in_the_paper_and_said(method):
    table, release, roles = protected(method(k=4, leftover="drop", publish="sets"), TWELVE_ROLES, **TEN)
    assert len(release) == 8
    assert sorted(release.source_row.tolist()) == list(range(8))
    assert release.warnings == ("2 records of 10 could not be put into a group and left the release.",)
    score = NCP().measure(table, release, roles)
    # the dropped count 1 in every column; town is off the path; where the path does not decide, the four reds show A and B, the blues C
    town = 0.8 if method is Kactus else 0.4 * 1 / 2
    assert score.per_column == pytest.approx({"colour": 0.2, "town": 0.2 + town})
    assert score.note == "2 records are not in the release and count 1."


@pytest.mark.parametrize("method", [Kactus, KactusRefined], ids=lambda m: m.name)
def test_or_rescued_by_a_group_that_gives_itself_up(method):
    _, release, _ = protected(method(k=4), TWELVE_ROLES, **TEN)
    assert sorted(release.source_row.tolist()) == list(range(10))
    assert release.warnings == ()
    assert all(one.holds for one in check_release(release))
    sizes = rows_by({c: release.table.column(c).to_pylist() for c in ("colour", "town")}, "colour", "town")
    assert sorted(sizes.values()) == [4, 6]


def test_a_column_on_the_path_is_published_as_asked():
    # the tree asks whether age is at most 13; both sides have six
    roles = Roles(quasi=("age",), target="sick")
    columns = {"age": [10, 10, 11, 12, 13, 13, 50, 51, 52, 53, 54, 54], "sick": ["no"] * 6 + ["yes"] * 6}
    for publish, young, old in (
        ("counts", "{10*2|11|12|13*2}", "{50|51|52|53|54*2}"),
        ("sets", "{10|11|12|13}", "{50|51|52|53|54}"),
        ("intervals", "[10..13]", "[50..54]"),
        ("mean", 11.5, 52 + 1 / 3),
    ):
        assert published(Kactus(k=5, publish=publish), roles, **columns)["age"] == [young] * 6 + [old] * 6


def test_a_record_whose_number_is_missing_stops_at_its_node():
    roles = Roles(quasi=("age",), target="sick")
    columns = {"age": [10] * 6 + [50] * 6 + [None] * 5, "sick": ["no"] * 6 + ["yes"] * 6 + ["no", "yes", "no", "yes", "no"]}
    # the five without an age are the root's, whose path is empty; they agree that it is missing
    for show, age in (("path", "*"), ("path-and-agreed", None)):
        result = published(Kactus(k=5, show=show), roles, **columns)
        assert result["age"] == ["10"] * 6 + ["50"] * 6 + [age] * 5


# ---- classes apart -------------------------------------------------------------------------------------------------------------------------

SICK = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "sick": ["no", "no", "yes", "no", "yes", "yes", "no", "yes"]}


def test_classes_apart_are_groups_of_one_class():
    # the sick are 3 5 6 8, the others 1 2 4 7: of four in a row there is one cut that leaves two on either side
    roles = Roles(quasi=("x",), target="sick")
    _, release, _ = protected(BalancedMondrian(k=2, classes="apart", publish="sets"), roles, **SICK)
    cells = dict(zip(release.source_row.tolist(), release.table.column("x").to_pylist()))
    assert [cells[i] for i in range(8)] == ["{1|2}", "{1|2}", "{3|5}", "{4|7}", "{3|5}", "{6|8}", "{4|7}", "{6|8}"]
    assert release.warnings == (
        "Every class of k records has groups of its own: whoever is found in one is known by class. With classes=together groups may mix classes.",
    )
    assert all(one.holds for one in check_release(release))


def test_classes_of_fewer_than_k_are_taken_together():
    # a has two records, b three, c five: with k = 4 a and b are one part, with k = 6 all three
    assert _parts(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 2]), np.ones(10, np.int64), 3, 2).tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 2]
    assert _parts(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 2]), np.ones(10, np.int64), 3, 3).tolist() == [0, 0, 0, 0, 0, 2, 2, 2, 2, 2]
    assert _parts(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 2]), np.ones(10, np.int64), 3, 4).tolist() == [0, 0, 0, 0, 0, 2, 2, 2, 2, 2]
    assert set(_parts(np.array([0, 0, 1, 1, 1, 2, 2, 2, 2, 2]), np.ones(10, np.int64), 3, 6).tolist()) == {0}
    assert _parts(np.array([0, 1, 2]), np.array([2, 3, 5]), 3, 4).tolist() == [0, 0, 2]  # the same, as combinations with counts


def test_classes_apart_would_tell_what_is_confidential():
    with pytest.raises(ParameterError, match=r"the target 'ill' is confidential\. Use classes=together"):
        protected(BalancedMondrian(k=2, classes="apart"), ILL, **ASIDE)
    other = Roles(quasi=("x",), confidential=("ill",), target="sick")
    with pytest.raises(ParameterError, match="classes=apart keeps k alone"):
        protected(BalancedMondrian(k=2, classes="apart", l=2), other, **SICK, ill=ASIDE["ill"])


# ---- diversity and closeness, promised and found -------------------------------------------------------------------------------------------

ASIDE = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "ill": ["no"] * 4 + ["yes"] * 4}
EVEN = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "ill": ["no", "yes"] * 4}
ILL = Roles(quasi=("x",), confidential=("ill",), target="ill")
EVERY = [Mondrian, *TELLING]


@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.name)
@pytest.mark.parametrize("asked", [{"l": 2}, {"entropy": 2.0}, {"l": 2, "entropy": 1.5}], ids=str)
def test_no_cut_that_would_leave_a_side_of_one_value(method, asked):
    _, release, _ = protected(method(k=2, **asked), ILL, **ASIDE)
    said = found(release)
    assert said["k-anonymity"] == (2, 8, True)
    if "l" in asked:
        assert said["distinct values of ill"] == (2, 2, True)
    if "entropy" in asked:
        assert said["effective values of ill"] == (asked["entropy"], pytest.approx(2), True)
    assert [promise.about for promise in release.promises] == [None] + ["ill"] * len(asked)


def test_without_asking_groups_of_one_value_come_out():
    _, release, _ = protected(Mondrian(k=2), ILL, **ASIDE)
    assert found(release) == {"k-anonymity": (2, 2, True)}
    assert set(published(Mondrian(k=4), ILL, **ASIDE)["x"]) == {"[1..4]", "[5..8]"}


def test_diverse_neighbours_are_cut_as_far_as_k_allows():
    result = published(Mondrian(k=2, l=2, entropy=2.0), ILL, **EVEN)
    assert result["x"] == ["[1..2]"] * 2 + ["[3..4]"] * 2 + ["[5..6]"] * 2 + ["[7..8]"] * 2


def test_closeness():
    # halves of one value each are 1/2 away from the whole; anything else that can be cut off is as far
    _, far, _ = protected(Mondrian(k=2, t=0.4), ILL, **ASIDE)
    assert found(far)["closeness of ill"] == (0.4, 0, True)
    _, near, _ = protected(Mondrian(k=4, t=0.5), ILL, **ASIDE)
    assert found(near)["closeness of ill"] == (0.5, 0.5, True)
    assert found(near)["k-anonymity"] == (4, 4, True)
    assert near.promises[1].what == "t-closeness"


def test_closeness_of_numbers_goes_by_their_order():
    # 1 2 | 3 4 against all four: one side's cumulative gaps are 1/4, 1/2, 1/4, in all 1, over the three steps between four values
    _, release, _ = protected(Mondrian(k=2, t=0.34), Roles(quasi=("x",), confidential=("pay",)), x=[1, 2, 3, 4], pay=[1, 2, 3, 4])
    assert release.promises[1].what == "ordered-t-closeness"
    assert found(release)["closeness of pay"] == (0.34, pytest.approx(1 / 3), True)
    _, whole, _ = protected(Mondrian(k=2, t=0.33), Roles(quasi=("x",), confidential=("pay",)), x=[1, 2, 3, 4], pay=[1, 2, 3, 4])
    assert found(whole)["k-anonymity"][1] == 4


def test_levels_are_just_different_because_a_file_does_not_know_their_order():
    roles = Roles(quasi=("x",), confidential=("size",), ordinal={"size": ("small", "medium", "large")})
    _, release, _ = protected(Mondrian(k=2, t=0.9), roles, x=[1, 2, 3, 4], size=["small", "medium", "large", "large"])
    assert release.promises[1].what == "t-closeness"


@pytest.mark.parametrize("method", EVERY, ids=lambda m: m.name)
def test_diversity_that_cannot_be_had_is_refused(method):
    with pytest.raises(DataError, match=r"2 values of 'ill' \(2.00 effective\), so no group can have more"):
        protected(method(k=2, l=3), ILL, **ASIDE)
    with pytest.raises(ParameterError, match="need a confidential column"):
        protected(method(k=2, l=2), Roles(quasi=("x",), target="ill"), **ASIDE)


def test_closeness_needs_a_column():
    with pytest.raises(ParameterError, match="t needs a confidential column"):
        protected(Mondrian(k=2, t=0.5), Roles(quasi=("x",)), **ASIDE)


def test_entropy_that_only_rounding_denies_is_not_refused():
    columns = {"x": [1, 2, 3, 4, 5, 6], "ill": ["a", "b", "c"] * 2}
    for method in EVERY:
        _, release, _ = protected(method(k=2, entropy=3.0), ILL, **columns)
        assert all(one.holds for one in check_release(release))


# ---- NCP on releases of any make -----------------------------------------------------------------------------------------------------------


def ncp(before, after, **roles):
    original, released = Table.of({"x": before}), Table.of({"x": after})
    checked = Roles(quasi=("x",), **roles).check(original)
    return NCP().measure(original, Release.given(released, np.arange(len(released)), checked), checked).value


@pytest.mark.parametrize(
    ("cell", "cost"),
    [
        ("5", 0),
        ("[0..5]", 0.5),
        ("{0|5}", 0.5),
        ("{0*9|[4..5]}", 0.5),
        ("*", 1),
        ("{0|}", 1),
        (None, 0),
        ("[0..20]", 1),
        ("young", 1),
        ("0-5", 1),
        ("nan", 1),
    ],
)
def test_ncp_of_one_number(cell, cost):
    assert ncp([0, 10, None], [cell] * 3) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("cell", "cost"), [("a", 0), ("{a|b}", 1 / 3), ("{a*7|b}", 1 / 3), ("{a|b|c|}", 1), ("{a|}", 1 / 3), ("*", 1), (None, 0), ("[1..2]", 1)]
)
def test_ncp_of_one_category(cell, cost):
    assert ncp(["a", "b", "c", None], [cell] * 4) == pytest.approx(cost)


def test_ncp_of_a_constant_column_is_nothing_until_it_is_suppressed():
    assert ncp([7, 7], ["7", "7"]) == 0
    assert ncp([7, 7], ["*", "*"]) == 1
    assert ncp(["a", "a"], ["a", "a"]) == 0


# ---- points drawn from a release -------------------------------------------------------------------------------------------------------------


def test_draws_are_of_allowed_values_in_their_shares():
    rows = 8000
    table = Table.of(
        {
            "set": ["{a*3|b}"] * rows,
            "even": ["{a|b|}"] * rows,
            "ages": ["[18..25]"] * rows,
            "some": ["{0*9|[18..25]*3}"] * rows,
            "real": ["[0.5..1]"] * rows,
            "gone": ["*"] * rows,
            "zip": ["{08001|08002}"] * rows,
            "day": ["{2020-01-01|2020-01-03}"] * rows,
            "span": ["[2020-01-01..2020-01-04]"] * rows,
            "odd": [r"{a\|b|\[1..2]}"] * rows,
            "plain": ["x"] * rows,
            "number": [1.5] * rows,
        }
    )
    drawn = sample(table, rng_for(1, "test"))
    values = {column: drawn.column(column).to_pylist() for column in drawn.columns}

    def near(column, shares):
        seen = [values[column].count(value) for value in shares]
        assert sum(seen) == rows
        assert chisquare(seen, [rows * share for share in shares.values()]).pvalue > 1e-4

    near("set", {"a": 0.75, "b": 0.25})
    near("even", dict.fromkeys(("a", "b", None), 1 / 3))
    near("ages", dict.fromkeys(range(18, 26), 1 / 8))
    near("some", {0: 0.75} | dict.fromkeys(range(18, 26), 1 / 32))
    assert drawn.kind("ages") == drawn.kind("some") == drawn.kind("real") == "number"
    assert min(values["real"]) >= 0.5
    assert max(values["real"]) <= 1
    assert set(values["gone"]) == {None}
    near("zip", {"08001": 0.5, "08002": 0.5})
    near("day", {"2020-01-01": 0.5, "2020-01-03": 0.5})
    near("span", dict.fromkeys(("2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"), 1 / 4))
    near("odd", {"a|b": 0.5, "[1..2]": 0.5})
    assert set(values["plain"]) == {"x"}
    assert drawn.column("number").equals(table.column("number"))


def test_draws_repeat_with_their_seed_and_escapes_are_taken_off():
    table = Table.of({"a": ["{1|2|3}"] * 50, "b": [r"\*"] * 50})
    one, again, other = (sample(table, rng_for(seed, "test")) for seed in (1, 1, 2))
    assert one.arrow.equals(again.arrow)
    assert not one.arrow.equals(other.arrow)
    assert set(one.column("b").to_pylist()) == {"*"}


def test_only_cells_are_drawn_where_it_is_known_which_columns_hold_them():
    release = protected(Mondrian(k=2), Roles(quasi=("x",), other=("note",)), x=[1, 2], note=["*", "{a|b}"])[1]
    assert set(sample(release.table, rng_for(1, "test")).column("note").to_pylist()) == {"*", "{a|b}"}


def test_draws_from_very_wide_intervals_and_words_that_look_like_numbers():
    table = Table.of({"wide": ["[0..1e+60]"] * 20, "large": ["{1e+20|2e+20}"] * 20, "word": ["{nan|1_000}"] * 20})
    drawn = sample(table, rng_for(1, "test"))
    assert all(0 <= value <= 1e60 for value in drawn.column("wide").to_pylist())
    assert set(drawn.column("large").to_pylist()) == {1e20, 2e20}
    assert set(drawn.column("word").to_pylist()) == {"nan", "1_000"}


# ---- what can be learnt ------------------------------------------------------------------------------------------------------------------------


def learnable(rows=120):
    """sick is a function of colour; the rest is noise."""
    colour = np.array(["red", "blue", "green"])[np.arange(rows) % 3]
    return Table.of({"colour": colour, "x": np.arange(rows) * 7 % 11, "sick": np.where(colour == "blue", "yes", "no")})


@pytest.mark.parametrize("method", TELLING, ids=lambda m: m.name)
def test_a_target_that_one_column_decides_is_learnt_from_the_release(method):
    table = learnable()
    roles = Roles(quasi=("colour", "x"), target="sick").check(table)
    results = learn(table, roles, [method(k=3)], 1, ["decision-tree", "naive-bayes", "logistic-regression"], repeats=1)
    assert [(r.learner, r.original, r.released) for r in results] == [
        (name, 1.0, 1.0) for name in ("decision-tree", "naive-bayes", "logistic-regression")
    ]
    assert all((r.loss, r.f, r.p_value) == (0, 0, 1) for r in results)


def test_where_everything_is_suppressed_the_majority_is_left():
    table = learnable()
    roles = Roles(quasi=("colour", "x"), target="sick").check(table)
    results = learn(table, roles, [Kactus(k=60)], 1, repeats=1)  # halves have 60 rows, 40 of them well
    assert {r.learner for r in results} == set(LEARNERS)
    for r in results:
        assert r.original >= 0.95
        assert r.released == pytest.approx(2 / 3)
        assert r.loss == pytest.approx(100 * (r.original - 2 / 3))


def test_dates_and_flags_survive_the_draw():
    day = [date(2020, 1, 1) + timedelta(days=int(i % 60)) for i in range(120)]
    flag = [i % 2 == 0 for i in range(120)]
    for name, quasi in (("day", day), ("flag", flag)):
        truth = ["yes" if (v < date(2020, 1, 31) if name == "day" else v) else "no" for v in quasi]
        table = Table.of({name: quasi, "sick": truth})
        roles = Roles(quasi=(name,), target="sick").check(table)
        assert learn(table, roles, [InfogainMondrian(k=3)], 1, ["decision-tree"], repeats=1)[0].released >= 0.95


def test_learning_says_what_it_lacks():
    table = learnable()
    roles = Roles(quasi=("colour", "x"), target="sick").check(table)
    with pytest.raises(
        DataError, match=r"Half of the table cannot be protected as the whole was\. The table has 60 rows, fewer than k = 61"
    ):
        learn(table, roles, [Kactus(k=61)], 1, ["decision-tree"])
    with pytest.raises(ParameterError, match="no learner named 'oracle'"):
        learn(table, roles, [Kactus(k=3)], 1, ["oracle"])
    with pytest.raises(ParameterError, match="needs a target"):
        learn(table, Roles(quasi=("colour", "x")).check(table), [Kactus(k=3)], 1)
    with pytest.raises(DataError, match="too few"):
        learn(table.take(np.arange(12)), roles, [Kactus(k=3)], 1)
    with pytest.raises(DataError, match="one class only"):
        learn(table.with_columns({"sick": ["no"] * 120}), roles, [Kactus(k=3)], 1)
    with pytest.raises(DataError, match="120 classes"):
        learn(table.with_columns({"sick": [f"{i}" for i in range(120)]}), roles, [Kactus(k=3)], 1)


def test_the_combined_f_test_by_hand():
    # squares: 4 + 16 + 9 + 1 + 0 + 4 + 1 + 9 + 16 + 4 = 64; each pair is 2 apart, 1 from its mean: 5 * (1 + 1) = 10; 64 / (2 * 10)
    differences = np.array([[2, 4], [3, 1], [0, 2], [1, 3], [4, 2]]) / 100
    f, p = combined_f_test(differences)
    assert f == pytest.approx(3.2)
    assert 0.1 < p < 0.11  # the table's F(10, 5): 3.30 at 0.10
    # pairs m - 1 and m + 1 give (m * m + 1) / 2; 4.735 is the table's F(10, 5) at 0.05
    f, p = combined_f_test(np.array([[1, -1]] * 5) + np.sqrt(2 * 4.735 - 1))
    assert f == pytest.approx(4.735)
    assert p == pytest.approx(0.05, abs=2e-5)


def test_the_combined_f_test_without_spread():
    assert combined_f_test(np.zeros((5, 2))) == (0, 1)
    assert combined_f_test(np.full((5, 2), 0.5)) == (np.inf, 0)
