"""Top and bottom coding, rounding and recoding on tables that can be checked by eye, and the sentences for what cannot be done."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError, ShoalError
from shoal.methods import BottomCoding, Mdav, Recode, Rounding, TopCoding
from shoal.methods.limits import next_round
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.runs.certify import warnings
from shoal.runs.evidence import Attacked
from shoal.runs.recipe import Recipe, apply_steps
from shoal.table import Table


def protected(method, columns, **roles):
    table = columns if isinstance(columns, Table) else Table.of(columns)
    given = Roles(**{"quasi": tuple(c for c in table.columns if c not in [n for names in roles.values() for n in names]), **roles})
    return apply_steps(table, given.check(table), [method], 1)


def became(method, columns, **roles):
    """Each column as it is released, in the order of the original."""
    release = protected(method, columns, **roles)
    back = np.argsort(release.source_row)
    found = {c: [release.table.column(c).to_pylist()[i] for i in back] for c in release.table.columns}
    return next(iter(found.values())) if len(found) == 1 else found


# ---- top and bottom coding ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("replacement", "becomes"),
    [("limit", [1, 2, 3, 3, 3, None]), ("cell", ["1", "2", "3", "[3..50]", "[3..50]", None]), ("mean", [1, 2, 3, 15, 15, None])],
)
def test_the_example_of_the_textbook(replacement, becomes):
    assert became(TopCoding(limit={"x": 3}, replacement=replacement, fewest=2), {"x": [1, 2, 3, 10, 20, None]}) == becomes


def test_a_mean_is_weighted_where_weights_are_told():
    columns = {"x": [1, 2, 3, 10, 20], "w": [2.0, 2.0, 2.0, 1.0, 3.0]}
    made = became(TopCoding(limit={"x": 3}, replacement="mean", fewest=2), columns, weight=("w",))
    assert made["x"] == [1, 2, 3, 17.5, 17.5]
    assert np.dot(made["x"], made["w"]) == np.dot(columns["x"], columns["w"]) == 82


def test_what_equals_the_limit_stays_and_below_is_its_mirror():
    columns = {"x": [-20.5, -10.0, 0.0, 3.0, 4.0, None]}
    assert became(BottomCoding(limit={"x": 0}), columns) == [0.0, 0.0, 0.0, 3.0, 4.0, None]
    assert became(BottomCoding(limit={"x": 0}, replacement="cell"), columns) == ["[-50..0]", "[-50..0]", "0", "3", "4", None]
    assert became(BottomCoding(limit={"x": 0}, replacement="mean", fewest=2), columns) == [-15.25, -15.25, 0.0, 3.0, 4.0, None]


def test_of_a_percentile_ties_stay():
    x = [1, 2, 3, 4, 4, 4, 4, 4, 4, 9]
    assert became(TopCoding(percentile=50), {"x": x}) == [1, 2, 3, 4, 4, 4, 4, 4, 4, 4]
    assert became(TopCoding(percentile=90), {"x": x})[-1] == 4  # nine of ten do not exceed 4
    assert became(TopCoding(percentile=90.1), {"x": x}) == x
    assert became(TopCoding(percentile=100), {"x": x}) == x
    assert became(BottomCoding(percentile=20), {"x": x}) == [2, *x[1:]]
    assert became(BottomCoding(percentile=0), {"x": x}) == x
    assert became(TopCoding(), {"x": list(range(100))}) == [*range(95), 94, 94, 94, 94, 94]  # the 95th percentile is 94
    assert TopCoding().given()["percentile"] == 95
    assert BottomCoding().given()["percentile"] == 5


def test_types_stay_where_they_can():
    assert protected(TopCoding(limit={"x": 3}), {"x": pa.array([1, 5], pa.int8())}).table.column("x").type == pa.int8()
    assert became(TopCoding(limit={"x": 2.5}), {"x": [1, 5]}) == [1.0, 2.5]
    assert became(TopCoding(limit={"x": 1}), {"x": [Decimal("0.25"), Decimal("5.00")]}) == [Decimal("0.25"), Decimal("1.00")]
    large = 2**53
    assert became(TopCoding(limit={"x": float(large)}), {"x": [large - 1, large, large + 1]}) == [large - 1, large, large]
    assert became(TopCoding(percentile=50), {"x": [large + 1, large + 2]}) == [large + 1, large + 1]
    with pytest.raises(DataError, match="'x' has whole numbers too large to stand beside a fraction"):
        protected(TopCoding(limit={"x": 2.5}), {"x": [1, large + 1]})
    unsigned = pa.array([0, 2**63 + 1], pa.uint64())
    assert became(TopCoding(limit={"x": 1e30}), {"x": unsigned}) == [0, 2**63 + 1]
    assert became(BottomCoding(limit={"x": -5}), {"x": unsigned}) == [0, 2**63 + 1]


def test_dates_are_limited_by_days():
    days = [date(1931, 5, 6), date(1980, 1, 1), date(2003, 2, 1), None]
    assert became(BottomCoding(limit={"d": date(1940, 1, 1)}), {"d": days}) == [date(1940, 1, 1), *days[1:]]
    assert became(TopCoding(limit={"d": "1980-01-01"}, replacement="cell"), {"d": days})[2] == "[1980-01-01..2009-12-31]"
    assert became(BottomCoding(limit={"d": "1940-01-01"}, replacement="cell"), {"d": days})[0] == "[1930-01-01..1940-01-01]"
    assert became(TopCoding(limit={"d": "1970-01-01"}, replacement="mean", fewest=2), {"d": days})[1:3] == [date(1991, 7, 18)] * 2
    moments = [datetime(1931, 5, 6, 7), datetime(1980, 1, 1), datetime(1980, 1, 1, 0, 0, 1)]
    assert became(TopCoding(limit={"d": "1980-01-01"}), {"d": moments}) == [moments[0], moments[1], moments[1]]
    cell = "[1980-01-01 00:00:00..1990-01-01 00:00:00]"
    assert became(TopCoding(limit={"d": "1980-01-01"}, replacement="cell"), {"d": moments})[2] == cell
    last = {"d": [date(9999, 12, 31), date(1, 1, 1)]}
    assert became(TopCoding(limit={"d": "1980-01-01"}, replacement="cell"), last) == ["[1980-01-01..9999-12-31]", "0001-01-01"]


@pytest.mark.parametrize(
    ("value", "beyond"),
    [(93, 100), (100, 200), (1, 2), (0.3, 0.5), (49999, 50000), (50000, 100000), (0, 0), (-37, -20), (-20, -10), (-10, -5), (1e60, 2e60)],
)
def test_the_end_of_a_cell_is_a_round_number_and_nobodys(value, beyond):
    assert next_round(value) == beyond


def test_every_column_has_its_own_limit():
    columns = {"age": [20, 95], "income": [10, 99]}
    assert became(TopCoding(limit={"age": 90, "income": 50}), columns) == {"age": [20, 90], "income": [10, 50]}
    assert TopCoding(limit=90, columns=("age",)) == TopCoding(limit={"age": 90}) == TopCoding.parse({"limit": "age:90"})
    assert TopCoding.parse({"limit": "90", "columns": "age"}).limit == {"age": 90.0}


def test_nothing_beyond_is_said():
    release = protected(TopCoding(limit={"x": 9}, replacement="mean"), {"x": [1, 2]})
    assert release.warnings == ("Column 'x' has no value above its limit; nothing of it was replaced.",)
    assert not release.table.cells


def test_a_mean_needs_records_and_where_persons_are_told_persons():
    visits = {"x": [1, 10, 20, 30, 1], "y": [1, 2, 3, 4, 5], "who": ["a", "b", "b", "b", "c"]}
    mean = TopCoding(limit={"x": 5}, replacement="mean")
    assert became(mean, {"x": visits["x"]}) == [1, 20, 20, 20, 1]
    with pytest.raises(ParameterError, match="1 person of column 'x' is above its limit, and a mean needs 3 or more") as refused:
        protected(mean, {"x": visits["x"], "who": visits["who"]}, person=("who",))
    assert refused.value.about == "x"
    with pytest.raises(ParameterError, match="2 records of column 'x' are above its limit"):
        protected(TopCoding(limit={"x": 15}, replacement="mean"), {"x": visits["x"]})
    three = {"x": [10, 20, 30], "who": ["a", "b", "c"]}
    assert became(mean, three, person=("who",)) == [20, 20, 20]
    rows = {"x": [10, 20, 40, 50, 1], "who": ["a", "a", "b", "c", "c"]}  # rows of one person differ: three persons all the same
    assert became(mean, rows, person=("who",)) == [30, 30, 30, 30, 1]


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1.0, None, 1.0, 1.0], "column 'w' has 1 value missing or not above 0 (first at row 2)"),
        ([1.0, 1.0, 0.0, -1.0], "column 'w' has 2 values missing or not above 0 (first at row 3)"),
    ],
)
def test_weights_that_are_none(weights, says):
    with pytest.raises(DataError) as refused:
        protected(TopCoding(limit={"x": 3}, replacement="mean", fewest=2), {"x": [1, 5, 6, 7], "w": weights}, weight=("w",))
    assert says in str(refused.value)


def test_weights_of_what_stays_do_not_matter():
    assert (
        became(TopCoding(limit={"x": 3}, replacement="mean", fewest=2), {"x": [1, 5, 7], "w": [None, 1.0, 1.0]}, weight=("w",))["x"][1] == 6
    )


# ---- what it voids --------------------------------------------------------------------------------------------------------------------


def test_an_earlier_promise_over_the_same_column_is_void_and_said_to_be():
    table = Table.of({"x": [1.0, 2, 3, 10, 20, 30], "y": [1, 1, 2, 2, 3, 3], "z": list("abcdef")})
    roles = Roles(quasi=("x", "y"), other=("z",)).check(table)
    before = apply_steps(table, roles, [TopCoding(limit={"x": 10}), Mdav(k=3)], 1)
    assert [promise.what for promise in before.promises] == ["k-anonymity"]
    after = apply_steps(table, roles, [Mdav(k=3), TopCoding(limit={"x": 10})], 1)
    assert after.promises == ()
    said = [
        "mdav promises nothing any more: a later step changed its columns again.",
        "top-coding does not give k-anonymity.",
    ]
    assert [one for one in warnings(after, roles, [], Attacked([], {})) if "promise" in one or "does not give" in one] == said
    assert not any("any more" in one for one in warnings(before, roles, [], Attacked([], {})))
    assert all(one.holds for one in check_release(before))


# ---- rounding -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "values", "becomes"),
    [
        (5, [1, 2, 3, 7, 8, -2, -3, 0, None], [0, 0, 5, 5, 10, 0, -5, 0, None]),
        (4, [1, 2, 3, -2, 6], [0, 4, 4, -4, 8]),  # halves away from 0
        (0.1, [0.15, 0.25, 0.35, -0.15, 0.1 + 0.2, 2.0, None], [0.2, 0.3, 0.4, -0.2, 0.3, 2.0, None]),
        (2.5, [1, 2, 3, 4], [0.0, 2.5, 2.5, 5.0]),
        (1000, [1499.99, 1500.0, 1e60], [1000.0, 2000.0, 1e60]),
        (10, [2**60 + 3, -(2**60) - 9], [(2**60 + 3) // 10 * 10 + 10, -((2**60 + 9) // 10 * 10 + 10)]),
    ],
)
def test_to_the_nearest_multiple(base, values, becomes):
    assert became(Rounding(base=base), {"x": values}) == becomes


def test_rounding_keeps_types_where_it_can():
    assert protected(Rounding(base=5), {"x": pa.array([123, 7], pa.int8())}).table.column("x").type == pa.int8()
    assert became(Rounding(base=5), {"x": pa.array([127, 128 - 256], pa.int8())}) == [125, -130]
    assert became(Rounding(base=5), {"x": [Decimal("7.25")]}) == [Decimal("5.00")]
    assert became(Rounding(base={"x": 5, "y": 1000}), {"x": [7], "y": [1700]}) == {"x": [5], "y": [2000]}


class Fixed:
    """A chance whose draws are given, for one column."""

    def __init__(self, draws):
        self.draws, self.real = draws, chance_for(1)

    def uniform(self, ids, what):
        return np.array(self.draws)

    def __getattr__(self, name):
        return getattr(self.real, name)


@pytest.mark.parametrize(("value", "base"), [(7, 10), (-3, 10), (0, 10), (20, 10), (0.3, 1.0), (-2.5, 10.0)])
def test_by_chance_a_value_is_right_over_all_draws(value, base):
    """Over draws that are spread evenly the mean is the value: up with the probability of the remainder, and by no luck."""
    many = 1000
    table = Table.of({"x": [value] * many})
    chance = Fixed((np.arange(many) + 0.5) / many)
    release = Rounding(base=base, rule="random").protect(table, Roles(quasi=("x",)).check(table), chance)
    found = release.table.number("x")
    assert found.mean() == pytest.approx(value, abs=1e-9)
    assert set(found) <= {np.floor(value / base) * base, np.ceil(value / base) * base}


def test_many_rows_of_one_person_do_not_average_to_the_value():
    table = Table.of({"x": [7] * 40, "y": list(range(40)), "who": ["a"] * 20 + ["b"] * 20})
    release = apply_steps(table, Roles(quasi=("x", "y"), person=("who",)).check(table), [Rounding(base=10, rule="random")], 1)
    back = np.argsort(release.source_row)
    found = release.table.number("x")[back]
    assert len(set(found[:20])) == len(set(found[20:])) == 1


# ---- recoding -------------------------------------------------------------------------------------------------------------------------


def test_a_cut_point_begins_its_interval():
    assert became(Recode(cuts=(0, 18, 65)), {"age": [0, 17, 18, 64, None]}) == ["[0..17]", "[0..17]", "[18..64]", "[18..64]", None]
    assert became(Recode(cuts=(0, 17.5, 65)), {"age": [17, 18]}) == ["[0..17]", "[18..64]"]
    assert became(Recode(cuts=(0, 1, 65)), {"age": [0, 1]}) == ["0", "[1..64]"]
    broken = became(Recode(cuts=(0, 18, 65)), {"age": [17.9, 18.0, 64.5]})
    assert broken == ["[0..18]", "[18..65]", "[18..65]"]  # true, though 18 itself is in the second


def test_open_ends_are_round_numbers():
    ages = {"age": [3, 17, 18, 65, 93]}
    assert became(Recode(cuts=(18, 65), ends="open"), ages) == ["[2..17]", "[2..17]", "[18..64]", "[65..100]", "[65..100]"]
    assert became(Recode(cuts=(0,), ends="open"), {"x": [-3, 0]}) == ["[-5..-1]", "0"]
    assert became(Recode(cuts=(18,), ends="open"), {"x": [20, 100]}) == ["[18..200]", "[18..200]"]


def test_dates_are_cut_by_days():
    born = {"d": [date(1979, 12, 31), date(1980, 1, 1), None, date(2003, 1, 1)]}
    decades = ["[1970-01-01..1979-12-31]", "[1980-01-01..2009-12-31]", None, "[1980-01-01..2009-12-31]"]
    assert became(Recode(cuts=("1970-01-01", date(1980, 1, 1)), ends="open"), born) == decades


def test_values_that_fall_nowhere():
    with pytest.raises(DataError) as refused:
        protected(Recode(cuts=(0, 18, 65)), {"age": [10, 65, 20, 90]})
    assert str(refused.value) == (
        "recode: column 'age' has 2 values outside the cut points (first at row 2). Add a cut point beyond, or use ends=open."
    )
    with pytest.raises(DataError, match=r"column 'job' has 1 value outside the map \(first at row 3\). Add a line for each value"):
        protected(Recode(map={"nurse": "care"}), {"job": ["nurse", None, "cook"]})


def test_a_map_is_published_as_sets_or_labels():
    jobs = {"job": ["nurse", "cook", None, "a|b"]}
    care = {"nurse": "care", "cook": "food", "a|b": "food", "baker": "food"}
    assert became(Recode(map=care), jobs) == ["nurse", "{a\\|b|baker|cook}", None, "{a\\|b|baker|cook}"]
    assert became(Recode(map=care, publish="labels"), jobs) == ["care", "food", None, "food"]
    warned = protected(Recode(map=care, publish="labels"), jobs).warnings
    assert any("its risk understated. publish=sets" in one for one in warned)
    assert not protected(Recode(map=care), jobs).warnings


def test_a_map_of_codes():
    assert became(Recode(map={"1": "a", "2.0": "a", "10": "b"}), {"code": [1, 2, 10]}) == ["{1|2}", "{1|2}", "10"]
    assert became(Recode(map={"1": "7", "2": "7", "10": "8"}, publish="labels"), {"code": [1, 2, None, 10]}) == [7, 7, None, 8]
    levels = {"ordinal": {"size": ("small", "middle", "large")}}
    table = Table.of({"size": ["large", "small"]})
    roles = Roles(quasi=("size",), **levels).check(table)
    made = apply_steps(table, roles, [Recode(map={"large": "x", "middle": "x", "small": "y"})], 1)
    assert sorted(made.table.column("size").to_pylist()) == ["small", "{middle|large}"]
    with pytest.raises(ParameterError, match="'size' has levels"):
        apply_steps(table, roles, [Recode(map={"large": "x", "small": "y"}, publish="labels")], 1)


def test_a_map_in_a_file_is_beside_its_recipe(tmp_path):
    (tmp_path / "jobs.csv").write_text("nurse;care\ncook;food\n", encoding="utf-8")
    step = '[[step]]\nmethod = "recode"\nmap = "jobs.csv"\ncolumns = ["job"]\n[[step]]\nmethod = "recode"\n[step.cuts]\nage = [0, 18, 65]\n'
    (tmp_path / "recipe.toml").write_text(f'input = "t.csv"\n[roles]\nquasi = ["job", "age"]\n{step}', encoding="utf-8")
    recipe = Recipe.read(tmp_path / "recipe.toml")
    assert recipe.steps == (Recode(map={"nurse": "care", "cook": "food"}, columns=("job",)), Recode(cuts={"age": (0, 18, 65)}))
    (tmp_path / "again.toml").write_text(recipe.toml(tmp_path), encoding="utf-8")
    (tmp_path / "jobs.csv").unlink()  # what was read stands in the recipe that is written
    assert Recipe.read(tmp_path / "again.toml").steps == recipe.steps
    assert Recode.parse({"map": "nurse=care|cook=food", "columns": "job"}) == recipe.steps[0]


# ---- bad input ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "words", "says"),
    [
        (TopCoding, {"limit": "50"}, "top-coding: limit is one for several columns, or for none by name. Write it column:number"),
        (TopCoding, {"limit": "50", "columns": "x,y"}, "limit is one for several columns"),
        (TopCoding, {"limit": "x:5", "percentile": "90"}, "limit and percentile say two things"),
        (TopCoding, {"limit": "x:5", "columns": "x,y"}, "limit says nothing of column 'y'"),
        (TopCoding, {"limit": "x:5,y:6", "columns": "x"}, "limit names 'y', which is not among columns"),
        (TopCoding, {"limit": {}}, "limit names no column"),
        (TopCoding, {"percentile": "101"}, "percentile must be at most 100"),
        (TopCoding, {"limit": "x:1e999"}, "limit of 'x' must be a number, or a day"),
        (BottomCoding, {"fewest": "1"}, "bottom-coding: fewest must be 2 or more, got '1'"),
        (Rounding, {"base": "0"}, "rounding: base must be more than 0"),
        (Rounding, {"base": "x:-5"}, "rounding: base of 'x' must be more than 0"),
        (Recode, {"cuts": "5"}, "cuts needs two cut points or more"),
        (Recode, {"cuts": "5,5"}, "cuts must rise"),
        (Recode, {"cuts": "5,1990-01-01"}, "cuts mixes numbers and days"),
        (Recode, {"cuts": "0,5", "map": "a=x"}, "cuts and map are two ways to recode"),
        (Recode, {"map": "a=x|a=y"}, "line 2 of the map is for a value that an earlier line has"),
        (Recode, {"map": "a=x|b="}, "line 2 of the map is no value with its category"),
        (Recode, {"map": "nowhere.csv"}, "There is no file nowhere.csv"),
        (Recode, {"map": {"x": {"a": "b"}, "y": "c"}}, "map mixes values with tables by column"),
        (Recode, {"map": {"a": ""}}, "is empty"),
        (Recode, {"map": "a=[0, 5]|b=[0..5]", "publish": "labels"}, "read as missing, or as a set or an interval"),
        (Recode, {"map": "a=NA", "publish": "labels"}, "read as missing"),
    ],
)
def test_parameters_that_make_no_sense(method, words, says):
    with pytest.raises(ShoalError, match=says):
        method.parse(words)


def test_no_file_is_read_for_whoever_wrote_a_certificate(tmp_path):
    file = tmp_path / "map.csv"
    file.write_text("a;x\n", encoding="utf-8")
    assert Recode.parse({"map": str(file)}).map == {"a": "x"}
    with pytest.raises(ParameterError, match="map is not right"):
        Recode(map=str(file))  # as verify makes it from the parameters of a step


def test_files_of_maps_that_are_none(tmp_path):
    file = tmp_path / "map.csv"
    file.write_text("a;x\nb\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="line 2 of the map is no value with its category"):
        Recode.parse({"map": str(file)})


@pytest.mark.parametrize(
    ("method", "columns", "says"),
    [
        (TopCoding(limit={"d": 5}), {"d": [date(2000, 1, 1)]}, "column 'd' holds dates. Give it a day"),
        (TopCoding(limit={"x": "1990-01-01"}), {"x": [1, 2]}, "column 'x' holds numbers. Give it a number"),
        (Recode(cuts={"d": (0, 5)}), {"d": [date(2000, 1, 1)]}, "column 'd' holds dates. Give it a day"),
        (TopCoding(limit={"t": 5}), {"t": ["a", "b"]}, "column 't' is nominal"),
        (Rounding(), {"d": [date(2000, 1, 1)]}, "column 'd' holds dates, which have no multiples"),
        (Rounding(base=5), {"x": [2**63 - 1]}, "'x' holds whole numbers too large to round"),
        (Rounding(base=0.5), {"x": [2**60]}, "too large to round by a fraction"),
        (Recode(), {"x": [1]}, "nothing says how column 'x' is recoded. Give cuts=0,18,65 or map=file.csv"),
        (Recode(map={"a": "b"}), {"d": [date(2000, 1, 1)]}, "column 'd' holds dates, of which no list is made"),
        (Recode(map={"1": "a", "1.0": "b"}), {"x": [1]}, "puts a number of column 'x' into two categories"),
    ],
)
def test_columns_that_do_not_fit(method, columns, says):
    with pytest.raises((DataError, ParameterError), match=says):
        protected(method, columns)


def test_missing_stays_and_a_column_without_values_is_left():
    empty = {"x": [None, None], "y": [1, 2]}
    for method in (TopCoding(), BottomCoding(), Rounding(), Rounding(rule="random"), Recode(cuts=(0, 5))):
        assert became(method, empty)["x"] == [None, None]
    gone = {"x": pa.array([None, None], pa.int64())}
    for method in (
        TopCoding(limit={"x": 1}),
        TopCoding(replacement="mean"),
        Rounding(),
        Recode(cuts=(0, 5)),
        Recode(cuts=(0,), ends="open"),
    ):
        assert became(method, gone) == [None, None]


def test_measures_and_attacks_read_the_cells():
    patients = shoal.invented_patients(200)
    roles = Roles(quasi=("age", "zip", "income"), identifier=("name",), confidential=("diagnosis",))
    zips = {value: value[:3] for value in patients.levels("zip").to_pylist()}
    steps = [TopCoding(percentile=90, columns=("income",), replacement="cell"), Recode(cuts={"age": (0, 18, 40, 65)}, ends="open")]
    release = shoal.protect(patients, *steps, Recode(map=zips, columns=("zip",)), roles=roles, seed=1)
    assert release.table.cells == {"income", "age", "zip"}
    scores = shoal.measure(patients, release)
    assert 0 < scores["ncp"].value < 1
    assert 0 < scores["cell-loss"].value < 1
    hits = shoal.attack(patients, release, seed=1)
    assert (
        0
        < hits["distance-linkage"].rate
        < shoal.attack(patients, shoal.protect(patients, Rounding(base=0.001, columns=("age",)), roles=roles, seed=1), seed=1)[
            "distance-linkage"
        ].rate
    )
