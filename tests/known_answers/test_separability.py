"""Clusters that are apart or not, accuracy that is inflated or not, and the published formulas, on tables small enough to check by eye."""

import numpy as np
import pytest
from sklearn.metrics import davies_bouldin_score, silhouette_score

import shoal
from shoal import Release, Roles, Table
from shoal.kernels.separation import davies_bouldin, silhouette
from shoal.measures import CombinedUtility, DaviesBouldin, Separability, StructuralUtility, TrainedOnRelease, utility_scores
from shoal.registry import known
from tests.data import data_path

NEW = (
    "silhouette",
    "davies-bouldin",
    "separability",
    "trained-on-release",
    "structural-utility",
    "combined-utility",
)
NUMBERS_ONLY = (
    *("kde", "noise", "individual-ranking", "rank-swapping", "z-projection", "pca-projection"),
    *("top-coding", "bottom-coding", "rounding"),
)


def test_two_pairs_by_hand():
    """Clusters {0, 1} and {10, 11}: a = 1, b = 10.5 or 9.5; centroids 10 apart, each half a unit wide."""
    points, clusters = np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])
    assert silhouette(points, clusters)[0] == pytest.approx((9.5 / 10.5 + 8.5 / 9.5) / 2)
    assert davies_bouldin(points, clusters) == pytest.approx(0.1)


@pytest.mark.parametrize("seed", range(5))
def test_as_scikit_learn_says(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 6, (80, 3)).astype(float)  # many equal records
    clusters = rng.integers(0, 5, 80)
    clusters[0] = 7  # alone in its cluster, and numbers need not be dense
    assert silhouette(points, clusters) == (pytest.approx(silhouette_score(points, clusters)), 1.0)
    assert davies_bouldin(points, clusters) == pytest.approx(davies_bouldin_score(points, clusters))


def test_undefined_is_said_by_the_kernel():
    same = np.zeros((4, 2))
    assert np.isnan(davies_bouldin(same, np.zeros(4, np.int64)))
    assert np.isnan(silhouette(same, np.zeros(4, np.int64))[0])
    assert davies_bouldin(same, np.array([0, 0, 1, 1])) == np.inf


def test_rounding_noise_is_no_distance():
    """Two clusters at the same point are not held against each other, whether or not their means agree in the last digit.

    Clusters a = {0, 2} and b = {10, 12} are each one wide and 10 apart, c and d both lie at 0.1: worst of a (1 + 0) / 0.9, of b
    (1 + 1) / 10, of c and d (0 + 1) / 0.9.
    """
    third = np.array([0.1, 0.1, 0.1]).sum() / 3  # 0.10000000000000002
    assert third != 0.1
    points = np.array([0.0, 2.0, 10.0, 12.0, 0.1, 0.1, third, third, third])[:, None]
    clusters = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    assert davies_bouldin(points, clusters) == pytest.approx((1 / 0.9 + 0.2 + 2 / 0.9) / 4)
    assert davies_bouldin(points, np.array([0, 0, 0, 0, 1, 1, 2, 2, 2])) == pytest.approx(5 / 5.9)
    assert davies_bouldin(points[4:], clusters[4:]) == np.inf  # nothing is apart from anything
    assert davies_bouldin(np.array([[-1.0], [1.0], [0.0]]), np.array([0, 0, 1])) == np.inf


@pytest.mark.parametrize("seed", range(5))
def test_moving_and_stretching_change_nothing(seed):
    rng = np.random.default_rng(seed)
    clusters, spots = rng.integers(0, 6, 60), rng.normal(size=(4, 3))
    points = spots[clusters % 4]  # clusters of one point each, some at the same spot
    points[clusters == 0] += rng.normal(size=((clusters == 0).sum(), 3))
    found = davies_bouldin(points, clusters)
    assert np.isfinite(found)
    assert davies_bouldin(points / 3 + 1e3, clusters) == pytest.approx(found, rel=1e-6)


def test_ecoli_without_noise():
    """1.357 with noise; 1.220 is what is left when clusters on one point are not held against each other."""
    from shoal.methods import CTca
    from shoal.randomness import chance_for

    path = data_path("uci", "ecoli", "ecoli.data")
    rows = [line.split() for line in path.read_text().splitlines() if line.strip()]
    columns = {f"A{j}": [float(row[j]) for row in rows] for j in range(1, 8)}
    table = Table.of({**columns, "class": [row[8] for row in rows]})
    roles = Roles(quasi=tuple(columns), other=("class",), target="class").check(table)
    release = CTca(k=5, units="kohonen", refine="none", coding="prototype").protect(table, roles, chance_for(1))
    assert DaviesBouldin(standardize="none").measure(table, release, roles).value == pytest.approx(1.220, abs=0.002)


def _blind() -> tuple[Table, Release]:
    """Classes that have nothing to do with x, each released as one group: the label is written into the values."""
    x, label = np.random.default_rng(5).permutation(60).astype(float), np.repeat(["a", "b"], 30)
    table = Table.of({"x": x, "label": label})
    released = np.repeat([x[:30].mean(), x[30:].mean()], 30)
    return table, Release.given(table.with_columns({"x": released}), np.arange(60), Roles(quasi=("x",), target="label"))


def test_the_published_measure_is_inflated_and_whole_classes_held_out_deflate():
    table, release = _blind()
    scores = shoal.measure(table, release, *NEW)
    assert scores["separability"].value == 1  # chance is one half
    assert Separability(hold_out="classes").measure(table, release, release.roles).value == 0  # who saw one group knows one class
    assert TrainedOnRelease(hold_out="classes").measure(table, release, release.roles).value == 0
    assert scores["trained-on-release"].value is None  # held out or not, the number would be wrong
    assert "shoal measure RUN --target" in scores["trained-on-release"].note
    assert scores["separability"].details["original"] < 0.7
    assert "As published" in scores["separability"].note


def test_what_is_apart_is_found():
    table = Table.of({"x": [*range(20), *range(100, 120)], "label": ["a"] * 20 + ["b"] * 20})
    release = Release.given(table, np.arange(40), Roles(quasi=("x",), target="label"))
    assert Separability().measure(table, release, release.roles).value == 1
    assert TrainedOnRelease().measure(table, release, release.roles).value == 1


def test_structural_utility_by_hand():
    """Sorted pairs differ by 5 everywhere in the first column (range 30) and not at all in the second."""
    table = Table.of({"age": [20, 30, 40, 50], "visits": [1, 2, 3, 4]})
    release = Release.given(table.with_columns({"age": [25.0, 25.0, 45.0, 45.0]}), np.arange(4), Roles(quasi=("age", "visits")))
    value = {over: StructuralUtility(over=over).measure(table, release, release.roles).value for over in ("range", "deviation", "largest")}
    assert value["range"] == pytest.approx(1 - 5 / 30 / 2)
    assert value["deviation"] == pytest.approx(1 - 5 / np.std([20, 30, 40, 50], ddof=1) / 2)
    assert value["largest"] == pytest.approx(0.5)


def test_combined_utility_is_the_weighted_mean():
    table, release = _blind()
    apart, structure = (m.measure(table, release, release.roles).value for m in (Separability(), StructuralUtility()))
    assert CombinedUtility(alpha=0.25).measure(table, release, release.roles).value == pytest.approx(0.25 * apart + 0.75 * structure)


TABLE_5 = {
    "k-TCA": (0.63, 0.74, 0.71, 0.60, 0.66, 0.51),
    "k-TCA++": (0.78, 0.62, 0.74, 0.82, 0.69, 0.92),
    "C-TCA": (0.74, 0.75, 0.54, 0.70, 0.65, 0.51),
    "C-TCA++": (0.62, 0.62, 0.76, 0.71, 0.70, 0.87),
    "KDE": (0.60, 0.54, 0.44, 0.71, 0.63, 0.73),
    "KDE++": (0.83, 0.95, 0.91, 0.77, 0.75, 0.79),
}


def test_scores_of_table_5_follow_the_formula_and_not_the_print():
    scores = utility_scores({method: dict(zip("ABCDEF", row)) for method, row in TABLE_5.items()})
    assert {m: round(s, 2) for m, s in scores.items()} == {
        "k-TCA": 4.48,
        "k-TCA++": 5.33,
        "C-TCA": 4.55,
        "C-TCA++": 4.98,
        "KDE": 4.27,
        "KDE++": 5.80,
    }


@pytest.mark.parametrize("name", NEW)
@pytest.mark.parametrize("method", sorted(known("method").keys() - {"recode"}))
def test_they_work_on_every_release(name, method):
    patients = shoal.invented_patients(120)
    columns = ("age", "income", "visits") if method in NUMBERS_ONLY else ("age", "zip")
    roles = Roles(quasi=columns, identifier=("name",), confidential=("diagnosis",), target="diagnosis")
    release = shoal.protect(patients, method, roles=roles, seed=1)
    score = shoal.measure(patients, release, name)[name]
    assert score.value is not None or score.note
    assert score.value is None or np.isfinite(score.value)


@pytest.mark.parametrize("name", NEW)
def test_a_constant_column_is_no_value_and_not_nan(name):
    table = Table.of({"x": [1.0, 2.0, 3.0, 4.0], "label": ["a", "b", "a", "b"]})
    release = Release.given(table.with_columns({"x": [2.5] * 4}), np.arange(4), Roles(quasi=("x",), target="label"))
    score = shoal.measure(table, release, name)[name]
    if name in ("silhouette", "davies-bouldin", "trained-on-release"):
        assert score.value is None
        assert score.note
    else:
        assert np.isfinite(score.value)


@pytest.mark.parametrize(
    ("method", "given"), [("kactus", True), ("mondrian", True), ("mdav", True), ("noise", False), ("rank-swapping", False)]
)
def test_a_number_that_would_mislead_is_withheld(method, given):
    """Whole groups held out said .345 of a release (Credit approval, kactus, k = 10) that halves find 84 % right."""
    patients = shoal.invented_patients(300)
    roles = Roles(quasi=("age", "income", "visits"), identifier=("name",), confidential=("diagnosis",), target="diagnosis")
    release = shoal.protect(patients, method, roles=roles, seed=1)
    score = shoal.measure(patients, release, "trained-on-release")["trained-on-release"]
    assert (score.value is None) == given
    assert ("--target" in score.note) == given
