"""Local suppression on tables that can be blanked by hand, and on Adult as it was published."""

from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError
from shoal.kernels.masks import Demand
from shoal.kernels.suppression import BLANK, classes_blanked, given_back, sets_blanked, wildcard_blanked
from shoal.methods import LocalSuppression
from shoal.promises import Promise
from shoal.randomness import chance_for
from shoal.release import Release
from shoal.roles import Roles
from tests.data import data_path

# Tables that users of another tool reported, each with the fewest blanks there can be under either reading of a blank.
REPORTED = {
    "one without schooling": (list(zip("mmmmmm", ["no", "prim", "prim", "prim", "sec", "sec"])), 3, 1, 3),
    "one widowed": (list(zip("AAAAA", "SMMSW")), 2, 1, 3),
    "two columns": ([(2, 1), (2, 2), (1, 1), (2, 2), (2, 1), (2, 1), (3, 1), (1, 1), (2, 1), (1, 2)], 2, 2, 4),
}


def blanks(release: Release) -> int:
    return sum(text == "*" for column in release.table.columns for text in release.table.column(column).to_pylist())


def protected(rows, rule, k, **parameters):
    columns = [f"q{j}" for j in range(len(rows[0]))]
    table = shoal.Table.of({c: [str(row[j]) for row in rows] for j, c in enumerate(columns)})
    return shoal.protect(table, "local-suppression", quasi=columns, k=k, rule=rule, **parameters)


@pytest.mark.parametrize("name", REPORTED)
def test_reported_tables_take_the_fewest_blanks(name):
    rows, k, wildcard, classes = REPORTED[name]
    assert blanks(protected(rows, "wildcard", k, search="exact")) == wildcard
    assert blanks(protected(rows, "classes", k)) == classes
    assert blanks(protected(rows, "classes", k, search="greedy")) == classes


def test_by_hand_a_lonely_record_takes_partners_or_not():
    """Strict: 'no' needs two records that look like it, so both of 'sec' go blank. Wildcard: a blank 'no' already matches everybody."""
    rows, k, *_ = REPORTED["one without schooling"]
    strict = protected(rows, "classes", k).table.column("q1").to_pylist()
    assert sorted(strict) == ["*", "*", "*", "prim", "prim", "prim"]
    loose = protected(rows, "wildcard", k, search="exact").table.column("q1").to_pylist()
    assert sorted(loose) == ["*", "prim", "prim", "prim", "sec", "sec"]


def test_wildcard_is_never_called_k_anonymity():
    rows, k, *_ = REPORTED["one widowed"]
    release = protected(rows, "wildcard", k)
    assert {promise.what for promise in release.promises} == {"wildcard-k"}
    assert release.made_by[0].guarantees == ("wildcard-k",)
    assert release.k is None
    assert any("not k-anonymity" in warning for warning in release.warnings)
    assert LocalSuppression.guarantees == ("k-anonymity",)


def test_the_check_counts_a_blank_as_any_value_only_where_that_was_promised():
    """b|* matches a|x? No: they differ where both say something. *|x matches both a|x and b|x, and a\\* is a value."""
    table = shoal.Table.of({"u": ["a", "b", "*", "a"], "v": ["x", "x", "x", r"\*"]})
    table = shoal.Table(table.arrow, cells=frozenset({"u", "v"}))
    release = Release.given(table, np.arange(4), Roles(quasi=("u", "v")))
    counted = {}
    for what in ("wildcard-k", "k-anonymity"):
        step = LocalSuppression().step(("u", "v"), (what,), (Promise(what, 1, ("u", "v")),))
        made = Release(release.table, (step,), release.source_row, release.roles)
        counted[what] = check_release(made)[0].found
    assert counted == {"wildcard-k": 1, "k-anonymity": 1}
    part = table.take(np.arange(3))
    step = LocalSuppression().step(("u", "v"), ("wildcard-k",), (Promise("wildcard-k", 2, ("u", "v")),))
    assert check_release(Release(part, (step,), np.arange(3), release.roles))[0].found == 2  # a and b match the blank and themselves


def test_importance_is_what_a_blank_costs():
    """b takes two blanks in the second column, or, where these are dear, six in the first: all with x look alike then, and all with y."""
    rows = [("a", "x"), ("a", "x"), ("a", "y"), ("a", "y"), ("b", "x"), ("b", "y")]
    for dear, gone in (("q0", {"q0": 0, "q1": 2}), ("q1", {"q0": 6, "q1": 0})):
        release = protected(rows, "classes", 2, importance={dear: 5})
        assert {column: release.table.column(column).to_pylist().count("*") for column in gone} == gone


def test_missing_is_a_value_and_no_blank():
    table = shoal.Table.of({"u": [None, None, "a", "a", "b"], "v": ["x"] * 5})
    release = shoal.protect(table, "local-suppression", quasi=["u", "v"], k=2)
    texts = release.table.column("u").to_pylist()
    assert texts.count(None) + texts.count("a") == 2  # b took two others with it, one value of which is left
    assert texts.count("*") == 3


def test_every_set_of_keys_is_kept_though_later_ones_break_earlier_ones():
    table = shoal.invented_patients(400)
    for parameters in ({"sets": ("age+sex", "sex+zip", "age+education")}, {"subsets": 2}):
        for rule, what in (("classes", "k-anonymity"), ("wildcard", "wildcard-k")):
            release = shoal.protect(table, "local-suppression", quasi=["age", "sex", "zip", "education"], k=4, rule=rule, **parameters)
            assert {(one.what, len(one.columns)) for one in release.promises} == {(what, 2)}
            assert len(release.promises) == (3 if "sets" in parameters else 6)
            assert all(one.holds and one.found >= 4 for one in check_release(release))


def test_classes_count_persons_and_the_other_reading_says_it_cannot():
    visits = shoal.invented_visits(600)
    quasi = ["sex", "zip", "length_of_stay"] if "length_of_stay" in visits.columns else ["sex", "zip", "diagnosis"]
    release = shoal.protect(visits, "local-suppression", quasi=quasi, person="patient_id", k=3)
    assert [(one.what, one.unit) for one in release.promises] == [("k-anonymity", "persons")]
    with pytest.raises(ParameterError, match="rows of one person differ"):
        shoal.protect(visits, "local-suppression", quasi=quasi, person="patient_id", k=3, rule="wildcard")


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"importance": "age"}, "importance is written column:number"),
        ({"importance": {"age": 0}}, "importance must be costs above 0"),
        ({"importance": "age:1,age:2"}, "importance names 'age' twice"),
        ({"importance": {"agee": 1}}, "importance names 'agee', .* Did you mean 'age'"),
        ({"sets": ("age+",)}, "sets must be columns joined by"),
        ({"sets": ("age+sexx",)}, "sets names 'sexx', .* Did you mean 'sex'"),
        ({"sets": ("age+sex",), "columns": ("age", "sex", "zip")}, "'zip' is in none of the sets"),
        ({"sets": ("age+sex",), "subsets": 2}, "give sets, or subsets, not both"),
        ({"subsets": 9}, "have no choice of 9"),
        ({"rule": "wildcard", "l": 2}, "l, entropy and t are kept in classes"),
        ({"subsets": 2, "t": 0.2}, "l, entropy and t are kept in classes"),
        ({"search": "exact", "l": 2}, "search=exact cannot be had, since k is not all"),
        ({"search": "exact", "subsets": 2, "k": 2}, "search=exact cannot be had, since [0-9,]+ different records"),
    ],
)
def test_what_cannot_be_is_said(parameters, sentence):
    table = shoal.invented_patients(2000)
    with pytest.raises(ParameterError, match=sentence):
        shoal.protect(table, "local-suppression", quasi=["age", "sex", "zip"], confidential=["diagnosis"], **{"k": 3, **parameters})


def test_forty_columns_and_too_many_sets():
    rng = np.random.default_rng(3)
    table = shoal.Table.of({f"c{j}": rng.integers(0, 2, 60) for j in range(40)})
    for rule in ("classes", "wildcard"):
        release = shoal.protect(table, "local-suppression", quasi=list(table.columns), k=3, rule=rule)
        assert all(one.holds for one in check_release(release))
    with pytest.raises(ParameterError, match="9,880 sets of columns"):
        shoal.protect(table, "local-suppression", quasi=list(table.columns), k=3, subsets=3)
    with pytest.raises(DataError, match="fewer than k = 61"):
        shoal.protect(table, "local-suppression", quasi=list(table.columns), k=61)


def test_an_optimum_that_is_not_proven_says_what_is(monkeypatch):
    monkeypatch.setattr("shoal.kernels.suppression_exact.MOST_NODES", 0)
    rng = np.random.default_rng(5)
    table = shoal.Table.of({f"c{j}": rng.integers(0, 3, 24) for j in range(5)})
    release = shoal.protect(table, "local-suppression", quasi=list(table.columns), k=3, rule="wildcard", search="exact")
    assert all(one.holds for one in check_release(release))
    told = any("is all that was proven" in warning for warning in release.warnings)
    assert told or blanks(release) == 10  # solved before the search began


# ---- Adult -----------------------------------------------------------------------------------------------------------------------------


def adult(columns):
    """Keys of Adult, age in tens as (0, 10], (10, 20], ..., as the published counts have it."""
    table = shoal.read_table(data_path("adult", "adult_30162.csv"))
    table = table.with_columns({"age": pa.array(((table.number("age") - 1) // 10).astype(np.int64))})
    counts = table.counts(columns)
    return np.ascontiguousarray(np.column_stack([counts.table.codes(c) for c in columns]).astype(np.int32)), counts.rows.astype(np.int64)


SIX = ["sex", "age", "race", "marital-status", "education", "native-country"]


def test_adult_takes_as_many_blanks_as_published():
    codes, rows = adult(SIX)
    sets, cost = [np.arange(6)], np.ones(6)
    wildcard = wildcard_blanked(codes, rows, 5, sets, cost)
    assert wildcard.priced(cost) == 4294
    back = given_back(codes, wildcard, 5, sets, cost)
    assert back.all_tried
    assert back.blanks.priced(cost) <= 2300
    assert classes_blanked(codes, rows, Demand(5), cost, np.zeros(len(codes))).priced(cost) <= 5400


@pytest.mark.parametrize(("many", "published"), [(2, 1280), (3, 5353), (4, 10006), (5, 13021)])
def test_every_choice_of_columns_of_adult(many, published):
    codes, rows = adult([*SIX, "workclass", "occupation"])
    sets, cost = [np.array(one) for one in combinations(range(8), many)], np.ones(8)
    assert wildcard_blanked(codes, rows, 5, sets, cost).priced(cost) == published
    if many == 3:
        strict = sets_blanked(codes, rows, 5, sets, cost, np.zeros(len(codes)))
        shown = np.where(strict.blank, BLANK, codes)
        for one in sets:
            _, ids = np.unique(shown[:, one], axis=0, return_inverse=True)
            assert np.bincount(ids.reshape(-1), rows).min() >= 5


def test_scope_is_counts_though_records_of_one_combination_may_be_parted():
    rng = np.random.default_rng(11)
    table = shoal.Table.of({c: rng.integers(0, 4, 80) for c in "xyz"})
    roles = Roles(quasi=("x", "y", "z")).check(table)
    order = rng.permutation(80)
    one = LocalSuppression(k=6, rule="wildcard").protect(table, roles, chance_for(1))
    two = LocalSuppression(k=6, rule="wildcard").protect(table.take(order), roles, chance_for(1))
    assert one.table.arrow.equals(two.table.arrow)


@pytest.mark.parametrize("seed", range(6))
def test_whoever_joins_at_the_end_goes_where_blanks_are_cheap(seed):
    """Three records of (1, x), three of (2, y), and one of (1, y): it joins the first by a blank town each, or the second by a blank age each."""
    table = {"age": [1, 1, 1, 2, 2, 2, 1], "town": ["x", "x", "x", "y", "y", "y", "y"]}
    roles = shoal.Roles(quasi=("age", "town"))
    dear = shoal.protect(table, "local-suppression", k=3, search="greedy", importance="age:100", roles=roles, seed=seed)
    assert sorted(dear.table.column("age").to_pylist()) == ["1", "1", "1", "1", "2", "2", "2"]
    assert sorted(dear.table.column("town").to_pylist()) == ["*", "*", "*", "*", "y", "y", "y"]
    other = shoal.protect(table, "local-suppression", k=3, search="greedy", importance="town:100", roles=roles, seed=seed)
    assert sorted(other.table.column("town").to_pylist()) == ["x", "x", "x", "y", "y", "y", "y"]
