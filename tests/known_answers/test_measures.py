"""Every measure worked by hand, the published values of Adult and of t-closeness, and what is said where nothing can be computed."""

import math

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.files import read_table
from shoal.measures import (
    IL,
    IL1,
    IL2,
    IL3,
    IL4,
    IL5,
    MEASURES,
    PIL,
    SSA,
    SSE,
    SST,
    AverageClassSize,
    AverageRisk,
    CellLoss,
    Discernibility,
    DistinctLDiversity,
    DistributionDistance,
    EarthMoversDistance,
    EntropyLDiversity,
    IL1s,
    IL2s,
    IL3s,
    IL5s,
    ILs,
    KAnonymity,
    MaximumRisk,
    RecursiveLDiversity,
    SSERatio,
    TCloseness,
    Uniqueness,
)
from shoal.methods import IndividualRanking, Mdav, PcaProjection, VMdav, ZProjection
from shoal.randomness import chance_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table
from tests.data import data_path


def score(measure, original, released=None, roles=None):
    """A measure on two tables whose rows correspond."""
    before = Table.of(original)
    after = before if released is None else Table.of(released)
    roles = (roles or Roles(quasi=before.columns)).check(before)
    return measure.measure(before, Release.given(after, np.arange(len(after)), roles), roles)


# ---- classes -----------------------------------------------------------------------------------------------------------------

CLASSES = {"age": [30, 30, 30, 40, 40, None, None, 50], "sex": ["f", "f", "f", "m", "m", "f", "f", None]}  # of 3, 2, 2 and 1


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (KAnonymity(), 1),
        (Uniqueness(), 1 / 8),
        (AverageRisk(), 4 / 8),
        (MaximumRisk(), 1),
        (Discernibility(), 9 + 4 + 4 + 1),
        (AverageClassSize(), 2),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_class_sizes_with_missing_as_a_value(measure, value):
    assert score(measure, CLASSES).value == value


def test_k_tells_uniques_and_the_histogram():
    details = score(KAnonymity(), CLASSES).details
    assert details == {"uniques": 1, "classes": 4, "histogram": {"1": 1, "2": 2, "3": 1}, "rows": 1, "unique_rows": 1, "unit": "rows"}


def test_classes_are_over_quasi_identifiers_only():
    assert score(KAnonymity(), CLASSES, roles=Roles(quasi=("sex",))).value == 1  # f f f f f, m m, missing
    assert score(KAnonymity(), {"a": [1, 1, 2, 2], "b": [1, 2, 3, 4]}, roles=Roles(quasi=("a",))).value == 2


def test_adult():
    table = read_table(data_path("adult", "adult_30162.csv"))
    assert len(table) == 30_162
    assert len(table.columns) == 9
    roles = Roles(quasi=table.columns).check(table)
    release = Release.given(table, np.arange(len(table)), roles)
    assert AverageRisk().measure(table, release, roles).value == pytest.approx(0.6465751607983555, abs=1e-15)
    assert Uniqueness().measure(table, release, roles).value == pytest.approx(0.5142895033485844, abs=1e-15)


# ---- l-diversity and t-closeness ---------------------------------------------------------------------------------------------

ILLS = {"zip": [1, 1, 1, 2, 2, 2], "ill": ["flu", "flu", "cold", "flu", "cold", "gout"]}
ILL_ROLES = Roles(quasi=("zip",), confidential=("ill",))


def test_l_diversity_by_hand():
    assert score(DistinctLDiversity(), ILLS, roles=ILL_ROLES).value == 2
    entropy = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert score(EntropyLDiversity(), ILLS, roles=ILL_ROLES).value == pytest.approx(math.exp(entropy))  # 1.89: flu flu cold
    # flu flu cold: 2 < c (2 + 1) for l = 1; 2 < c · 1 for l = 2. flu cold gout: 1 < c · 1 for l = 3.
    assert score(RecursiveLDiversity(c=2), ILLS, roles=ILL_ROLES).value == 1
    assert score(RecursiveLDiversity(c=2.1), ILLS, roles=ILL_ROLES).value == 2
    assert score(RecursiveLDiversity(c=0.6), ILLS, roles=ILL_ROLES).value == 0


def test_a_missing_confidential_value_makes_no_class_diverse():
    table = {"zip": [1, 1, 2, 2], "ill": ["flu", None, "flu", "cold"]}
    assert score(DistinctLDiversity(), table, roles=ILL_ROLES).value == 1


def test_the_worst_confidential_column_counts():
    table = {"zip": [1, 1, 1], "ill": ["a", "b", "c"], "pay": [5, 5, 6]}
    found = score(DistinctLDiversity(), table, roles=Roles(quasi=("zip",), confidential=("ill", "pay")))
    assert found.value == 2
    assert found.per_column == {"ill": 3, "pay": 2}


THOUSANDS = list(range(3, 12))


def _salaries(klass):
    """The nine salaries of Li et al. (2007), one class against the rest."""
    return {"zip": [int(s in klass) for s in THOUSANDS], "salary": THOUSANDS}


SALARY = Roles(quasi=("zip",), confidential=("salary",))


@pytest.mark.parametrize("distance", ["automatic", "ordered"])
@pytest.mark.parametrize(("klass", "t"), [((3, 4, 5), 0.375), ((6, 8, 11), 1 / 6)])
def test_t_closeness_of_li_2007(klass, t, distance):
    # The other six salaries are half as far from the whole as these three, so the class named is the worst.
    assert score(TCloseness(distance=distance), _salaries(klass), roles=SALARY).value == pytest.approx(t)


def test_t_closeness_of_the_whole_example():
    table = {"zip": [1, 1, 1, 2, 3, 2, 3, 3, 2], "salary": THOUSANDS}  # {3 4 5}, {6 8 11}, {7 9 10}
    assert score(TCloseness(), table, roles=SALARY).value == pytest.approx(0.375)


def test_t_closeness_with_equal_distances_is_total_variation():
    table = {"zip": [1, 1, 2, 2], "ill": ["flu", "flu", "flu", "cold"]}  # whole 3/4 and 1/4
    assert score(TCloseness(), table, roles=ILL_ROLES).value == pytest.approx(0.25)
    assert score(TCloseness(distance="equal"), _salaries((3, 4, 5)), roles=SALARY).value == pytest.approx(2 / 3)


def test_t_closeness_of_levels_follows_their_own_order():
    table = {"zip": [1, 1, 2, 2], "ill": ["none", "mild", "mild", "bad"]}  # in this order, not in that of the alphabet
    roles = Roles(quasi=("zip",), confidential=("ill",), ordinal={"ill": ("none", "mild", "bad")})
    # whole 1/4 1/2 1/4, class 1: 1/2 1/2 0; gaps of the distribution functions 1/4 and 1/4 over two steps
    assert score(TCloseness(), table, roles=roles).value == pytest.approx(0.25)


def test_one_value_for_all_is_as_close_as_can_be():
    assert score(TCloseness(), {"zip": [1, 1, 2, 2], "ill": [7, 7, 7, 7]}, roles=ILL_ROLES).value == 0


def test_same_as_pycanon_where_the_definitions_agree():
    pycanon = pytest.importorskip("pycanon.anonymity")
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(7)
    columns = {
        "age": rng.integers(0, 3, 60).tolist(),
        "sex": rng.choice(["f", "m"], 60).tolist(),
        "ill": rng.choice(["a", "b", "c", "d"], 60).tolist(),
        "pay": rng.integers(0, 9, 60).tolist(),
    }
    frame, quasi = pandas.DataFrame(columns), ["age", "sex"]
    assert score(KAnonymity(), columns, roles=Roles(quasi=quasi)).value == pycanon.k_anonymity(frame, quasi)
    for column in ("ill", "pay"):
        roles = Roles(quasi=quasi, confidential=(column,))
        assert score(DistinctLDiversity(), columns, roles=roles).value == pycanon.l_diversity(frame, quasi, [column])
        entropy = score(EntropyLDiversity(), columns, roles=roles).value
        assert math.floor(entropy) == pycanon.entropy_l_diversity(frame, quasi, [column])  # pycanon cuts to a whole number
        assert score(TCloseness(), columns, roles=roles).value == pytest.approx(pycanon.t_closeness(frame, quasi, [column]))


# ---- information loss --------------------------------------------------------------------------------------------------------

BEFORE = {"a": [1, 2, 3], "b": [2, 4, 9]}  # variances 1 and 13, covariance 3.5
AFTER = {"a": [1, 2, 6], "b": [2, 4, 9]}  # means 3 and 5, variances 7 and 13, covariance 9.5
R, R_AFTER = 3.5 / math.sqrt(13), 9.5 / math.sqrt(7 * 13)
PUBLISHED = {
    "il1": (3 / 3) / 6,
    "il2": (1 / 2 + 0) / 2,
    "il3": (6 / 1 + 6 / 3.5 + 0) / 3,
    "il4": (6 / 1 + 0) / 2,
    "il5": abs(R - R_AFTER) / R,
}
SCALED = {"il1s": 3 / math.sqrt(2) / 6, "il2s": 1 / 2, "il3s": (6 + 6 / math.sqrt(13) + 0) / 3, "il5s": abs(R - R_AFTER)}


@pytest.mark.parametrize("measure", [IL1(), IL2(), IL3(), IL4(), IL5(), IL1s(), IL2s(), IL3s(), IL5s()], ids=lambda m: m.name)
def test_information_loss_by_hand(measure):
    assert score(measure, BEFORE, AFTER).value == pytest.approx((PUBLISHED | SCALED)[measure.name])
    assert score(measure, BEFORE).value == 0


def test_information_loss_together():
    assert score(IL(), BEFORE, AFTER).value == pytest.approx(100 * sum(PUBLISHED.values()) / 5)
    assert score(ILs(), BEFORE, AFTER).value == pytest.approx(100 * sum(SCALED.values()) / 4)


def test_zeros_of_the_original_are_left_out_and_counted():
    found = score(IL1(), {"a": [0, 2, 4]}, {"a": [1, 3, 4]})
    assert found.value == pytest.approx((1 / 2 + 0) / 2)
    assert "1 cell" in found.note


def test_a_cell_missing_on_one_side_counts_one():
    found = score(IL1s(), {"a": [1.0, 2, 3, None]}, {"a": [1.0, None, 3, None]})
    assert found.value == pytest.approx(1 / 4)


def test_cell_loss_on_every_scale():
    before = {"a": [1, 2, 3, 2], "size": ["s", "m", "l", "l"], "city": ["x", "y", "z", "z"]}
    after = {"a": [1, 2, 4, 2], "size": ["m", "m", "s", "l"], "city": ["x", "x", "x", "z"]}
    roles = Roles(quasi=("a", "size", "city"), ordinal={"size": ("s", "m", "l")})
    found = score(CellLoss(), before, after, roles)
    deviation = math.sqrt(2 / 3)
    parts = {"a": 1 / (math.sqrt(2) * deviation) / 4, "size": (0.5 + 1) / 4, "city": 2 / 4}
    assert found.per_column == pytest.approx(parts)
    assert found.value == pytest.approx(sum(parts.values()) / 3)


def test_sums_of_squares_by_hand():
    assert score(SSE(), BEFORE, AFTER).value == pytest.approx(9)
    assert score(SST(), BEFORE, AFTER).value == pytest.approx(2 + 2)  # n - 1 for each column
    assert score(SSA(), BEFORE, AFTER).value == pytest.approx((1 + 0 + 16) + 2)
    assert score(SSERatio(), BEFORE, AFTER).value == pytest.approx(9 / 4)


@pytest.mark.parametrize(
    "method", [Mdav(k=3), Mdav(k=4, refine="swap"), VMdav(k=3), IndividualRanking(k=3), ZProjection(), PcaProjection()]
)
def test_sse_and_ssa_add_up_for_microaggregation(method):
    rng = np.random.default_rng(3)
    table = Table.of({"a": rng.normal(size=40), "b": rng.exponential(size=40), "c": rng.integers(0, 5, 40)})
    roles = Roles(quasi=table.columns).check(table)
    release = method.protect(table, roles, chance_for(0, "test"))
    sse, ssa, sst = (measure.measure(table, release, roles).value for measure in (SSE(), SSA(), SST()))
    assert sse + ssa == pytest.approx(sst)
    assert sst == pytest.approx(3 * 39)
    assert 0 < sse < sst


def test_distances_of_distributions_by_hand():
    before, after = {"a": [1, 2, 3, 4], "c": ["x", "x", "y", "y"]}, {"a": [1, 2, 4, 4], "c": ["x", "x", "x", "z"]}
    found = score(DistributionDistance(), before, after)
    assert found.per_column == pytest.approx({"a": 1 / 4, "c": 2 / 4})
    assert found.value == pytest.approx(0.5)
    moved = score(EarthMoversDistance(), {"a": [1, 2, 3, 4]}, {"a": [1, 2, 4, 4]}).value
    assert moved == pytest.approx(1 / 4 / np.std([1, 2, 3, 4], ddof=1))


@pytest.mark.parametrize(
    ("before", "after", "distance"),
    [
        ([1, 2, 3, 4], [1, None, None, 4], 1 / 2),  # half are missing now; the known ones moved by 1/4 only
        ([1, 2, None, None], [1, 2, None, None], 0),  # missing stays missing: nothing moved
        ([1, 2, 3, None], [9, 9, 9, 9], 1),  # a quarter is no longer missing, and every known value moved
        ([1, 2, 3, 4], [None] * 4, 1),
        ([None, None, 3, 4], [None, None, None, None], 1 / 2),
    ],
)
def test_missing_values_move_a_distribution_by_their_share(before, after, distance):
    number = pa.float64()
    columns = {"a": pa.array(before, number)}, {"a": pa.array(after, number)}
    assert score(DistributionDistance(), *columns).value == pytest.approx(distance)


# ---- PIL ---------------------------------------------------------------------------------------------------------------------


def test_pil_is_between_0_and_100():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 2)) @ np.array([[1, 0.7], [0, 0.7]])
    before = {"a": x[:, 0], "b": x[:, 1]}
    assert score(PIL(), before).value == 0
    little = score(PIL(), before, {"a": x[:, 0] + 0.01 * rng.normal(size=200), "b": x[:, 1]}).value
    much = score(PIL(), before, {"a": 100 + 50 * rng.normal(size=200), "b": -100 - 50 * x[:, 0]}).value
    assert 0 < little < 15
    assert 95 < much <= 100


def test_pil_of_a_shifted_column():
    # Moved by one standard error, a mean counts P(|Z| <= 1) = 0.6827; variance stays, one column has no covariance, quantiles all move.
    x = np.random.default_rng(6).normal(size=400)
    found = score(PIL(), {"a": x}, {"a": x + x.std(ddof=1) / 20}).value
    assert 100 * 0.6827 / 3 < found < 100 * (0.6827 + 1) / 3


# ---- nothing to compute ------------------------------------------------------------------------------------------------------

AWKWARD = {
    "constant": ({"a": [5, 5, 5, 5], "b": [1, 2, 3, 4], "ill": ["x", "y", "x", "y"]}, "a"),
    "empty": ({"a": [None, None, None, None], "b": [1, 2, 3, 4], "ill": ["x", "y", "x", "y"]}, "a"),
    "all constant": ({"a": [5, 5, 5, 5], "b": [1.5, 1.5, 1.5, 1.5], "ill": ["x", "x", "x", "x"]}, "a"),
    "mostly missing": ({"a": [None, None, None, 1.0], "b": [1, None, 3, None], "ill": [None, "y", "x", None]}, "a"),
    "no number": ({"a": ["p", "q", "p", "q"], "b": ["s", "s", "t", "t"], "ill": ["x", "y", "x", "y"]}, ""),
    "one row": ({"a": [5], "b": [1], "ill": ["x"]}, "a"),
}


@pytest.mark.parametrize("case", AWKWARD)
@pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.name)
def test_never_nan_and_never_silent(measure, case):
    table, _ = AWKWARD[case]
    found = score(measure(), table, roles=Roles(quasi=("a", "b"), confidential=("ill",)))
    assert found.value is None or math.isfinite(found.value)
    assert found.value is not None or found.note
    assert all(math.isfinite(value) for value in found.per_column.values())


@pytest.mark.parametrize("measure", [IL1(), IL2(), IL3(), IL4(), IL5(), IL(), IL1s(), IL3s(), SSE(), SSERatio(), PIL(), CellLoss()])
def test_a_constant_column_is_named_as_left_out(measure):
    found = score(measure, AWKWARD["constant"][0], roles=Roles(quasi=("a", "b")))
    assert "a (constant)" in found.note
    assert "a" not in found.per_column


def test_no_quasi_identifier_and_no_confidential_column():
    assert score(KAnonymity(), {"a": [1, 2]}, roles=Roles()).note == "There is no quasi-identifier to look at."
    assert "no confidential column" in score(TCloseness(), {"a": [1, 2]}, roles=Roles(quasi=("a",))).note


def test_a_column_that_does_not_vary_has_no_share_of_its_variation():
    """Of x one value is left where records have left, or all are missing: the other column is measured all the same."""
    original = shoal.Table.of({"x": [5.0, 5.0, None, None, 5.0, 5.0], "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    release = shoal.Release.given(original, np.arange(6), shoal.Roles(quasi=("x", "y")))
    score = shoal.measure(original, release, "sse-ratio")["sse-ratio"]
    assert score.value == 0
    assert score.per_column == {"y": 0.0}
