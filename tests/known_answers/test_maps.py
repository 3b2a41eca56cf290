"""Maps, their collaboration, wLVQ2 and densities against the plain formulas; the methods on tables small enough to check by eye."""

import itertools
import json
import re

import numpy as np
import pytest
from scipy.optimize import nnls

import shoal
from shoal import Roles, Table
from shoal.errors import DataError, ParameterError
from shoal.kernels import som
from shoal.kernels.density import bandwidth, modes
from shoal.kernels.dissolve import dissolve
from shoal.kernels.lvq import gradients, majority, wlvq2
from shoal.registry import known, make
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder


def points(n=120, d=4, seed=1):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.arange(1, d + 1)


def grid(rows, columns):
    return np.array(list(itertools.product(range(rows), range(columns))), float)


def gaussian(place, best, sigma):
    """K_ij for records i and units j."""
    return np.exp(-0.5 * ((place[best][:, None] - place[None]) ** 2).sum(-1) / sigma**2)


# ---- the map ----------------------------------------------------------------------------------------------------------------------------


def test_best_units_are_the_nearest():
    x, units = points(), points(30, seed=2)
    best, distance = som.best_units(x, units)
    apart = ((x[:, None] - units[None]) ** 2).sum(-1)
    assert (best == apart.argmin(1)).all()
    assert distance == pytest.approx(apart.min(1))
    assert (som.best_units(x, units, np.arange(120) % 30)[0] == best).all()
    assert (som.nearest_units(x, units, 4)[0] == np.argsort(apart, axis=1)[:, :4]).all()


def test_equally_near_units_go_to_the_lowest():
    assert som.best_units(np.zeros((3, 1)), np.array([[1.0], [-1.0], [1.0]]))[0].tolist() == [0, 0, 0]


def test_one_epoch_is_the_plain_formula():
    x, rows, columns = points(), 5, 4
    start = som._plane(x, rows, columns)
    sigma = 1.25
    weight = gaussian(grid(rows, columns), som.best_units(x, start)[0], sigma)
    plain = weight.T @ x / weight.sum(0)[:, None]
    assert som._trained(x, start, (rows, columns), np.array([sigma])) == pytest.approx(plain, rel=1e-6)


def test_a_map_fits_better_than_its_start_and_has_kohonens_size():
    x = points(900)
    assert som.kohonen_units(900) == 150
    assert som.kohonen_units(3) == 3  # never more units than records
    rows, columns = som.map_shape(x, 150)
    assert 120 <= rows * columns <= 150
    assert rows > columns
    before, after = (som.quantization_error(x, u) for u in (som._plane(x, rows, columns), som.train(x, rows, columns).units))
    assert after < 0.6 * before


@pytest.mark.parametrize("x", [np.zeros((5, 2)), np.ones((1, 3)), np.arange(6.0)[:, None]], ids=["constant", "one record", "one column"])
def test_tables_without_a_plane(x):
    rows, columns = som.map_shape(x, som.kohonen_units(len(x)))
    assert columns == 1
    assert np.isfinite(som.train(x, rows, columns).units).all()


def test_a_large_map_grows_and_is_no_worse(monkeypatch):
    x = points(3000)
    whole = som.quantization_error(x, som.train(x, 16, 12).units)
    monkeypatch.setattr(som, "MANY", 1000)
    assert som.quantization_error(x, som.train(x, 16, 12).units) < 1.1 * whole


# ---- collaboration ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("others", "sigma"), [(1, 0.5), (1, 1.3), (2, 0.8)])
def test_a_step_of_collaboration_is_the_minimiser_of_its_cost(others, sigma):
    """w_j = Σ A x / Σ A, A = K + β Σ (K - K')², summed record by record; and no small move lowers the cost."""
    x, rows, columns = points(90, 3), 4, 3
    rng = np.random.default_rng(5)
    best, elsewhere = rng.integers(0, 12, 90), [rng.integers(0, 12, 90) for _ in range(others)]
    own = gaussian(grid(rows, columns), best, sigma)
    weight = own + sum((own - gaussian(grid(rows, columns), b, sigma)) ** 2 for b in elsewhere) / others
    plain = weight.T @ x / weight.sum(0)[:, None]
    found = som.collaborated(x, som.Map(rows, columns, np.zeros((12, 3))), best, elsewhere, sigma)
    assert found == pytest.approx(plain, rel=1e-6)

    def cost(units):
        return float((weight * ((x[:, None] - units[None]) ** 2).sum(-1)).sum())

    for _ in range(10):
        assert cost(found) <= cost(found + 1e-3 * rng.normal(size=found.shape))


def test_steps_are_taken_only_while_the_index_falls():
    views = [points(300, 3, 1), points(300, 3, 2)]
    maps = [som.train(view, 5, 5) for view in views]
    after, taken = som.collaborate(views, maps)

    def index(one, view):
        return som.davies_bouldin(view, som.best_units(view, one.units)[0])

    fell = [index(new, view) < index(old, view) for old, new, view in zip(maps, after, views)]
    assert any(fell) == (taken > 0)
    assert all(index(new, view) <= index(old, view) for old, new, view in zip(maps, after, views))


def test_one_view_has_nobody_to_collaborate_with():
    view = points()
    one = som.train(view, 3, 3)
    after, taken = som.collaborate([view], [one])
    assert taken == 0
    assert after[0].units is one.units


# ---- coding and groups ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [1, 2, 3, 6])
def test_linear_mixture_is_non_negative_least_squares(d):
    x, units = points(60, d, 3), points(25, d, 4)
    near = som.nearest_units(x, units, 4)[0]
    for record, found, models in zip(x, som.linear_mixture(x, units), near):
        factors, residual = nnls(units[models].T, record)
        assert np.linalg.norm(record - found) == pytest.approx(residual, abs=1e-7)
        if d >= 4:  # else several mixtures are equally near
            assert found == pytest.approx(units[models].T @ factors, abs=1e-6)


def plain_dissolve(x, units, groups, k):
    groups = groups.copy()
    while True:
        sizes = np.bincount(groups, minlength=len(units))
        short = [g for g in range(len(units)) if 0 < sizes[g] < k]
        if not short:
            return groups
        gone = min(short, key=lambda g: (sizes[g], g))
        left = [g for g in range(len(units)) if sizes[g] and g != gone]
        for i in np.flatnonzero(groups == gone):
            groups[i] = min(left, key=lambda g: (((x[i] - units[g]) ** 2).sum(), g))


@pytest.mark.parametrize("k", [2, 5, 20])
def test_dissolving_is_the_plain_rule(k):
    x, units = points(150), points(40, seed=7)
    groups = som.best_units(x, units)[0]
    assert (dissolve(x, units, groups, k) == plain_dissolve(x, units, groups, k)).all()


def test_dissolving_for_diversity():
    """Three pairs on a line; the middle one has one value only, and its records go to the nearer side each."""
    x = np.array([[0.0], [0.1], [4.0], [6.0], [10.0], [10.1]])
    groups = np.array([0, 0, 1, 1, 2, 2])
    found = dissolve(x, np.array([[0.0], [5.0], [10.0]]), groups, 2, np.array([0, 1, 0, 0, 0, 1]), 2)
    assert found.tolist() == [0, 0, 0, 2, 2, 2]


# ---- wLVQ2 ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["m_i", "m_j", "w"])
def test_gradients_by_finite_differences(of):
    rng = np.random.default_rng(2)
    at = {"x": rng.normal(size=5), "m_i": rng.normal(size=5), "m_j": rng.normal(size=5), "w": rng.uniform(0.5, 2, 5)}

    def cost(x, m_i, m_j, w):
        return ((w * x - m_j) ** 2).sum() - ((w * x - m_i) ** 2).sum()

    found = dict(zip(("m_i", "m_j", "w"), gradients(**at)))[of]
    for k in range(5):
        step = np.zeros(5)
        step[k] = 1e-6
        slope = (cost(**{**at, of: at[of] + step}) - cost(**{**at, of: at[of] - step})) / 2e-6
        assert 2 * found[k] == pytest.approx(slope, rel=1e-6)  # the factor 2 is in the rates


def test_descent_repels_the_wrong_prototype_and_attracts_the_right_one():
    """x = 1 between a wrong prototype at 1.4 and a right one at 0.5: the boundary moves past x."""
    by_i, by_j, by_w = gradients(np.array([1.0]), np.array([1.4]), np.array([0.5]), np.ones(1))
    assert (1.4 - 0.1 * by_i[0], 0.5 - 0.1 * by_j[0], 1 - 0.05 * by_w[0]) == (
        pytest.approx(1.44),
        pytest.approx(0.55),
        pytest.approx(0.955),
    )


def test_lvq_is_never_worse_than_its_start_and_finds_what_tells():
    """Only the first column tells the class; the map sees both alike."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.uniform(-1, 1, 600), 2 * rng.normal(size=600)])
    label = (x[:, 0] > 0).astype(np.int64)
    units = som.train(x, 6, 2).units
    best = som.best_units(x, units)[0]
    plain = (majority(best, label, len(units))[best] == label).mean()
    learnt = wlvq2(x, label, units, np.random.default_rng(1))
    assert learnt.accuracy > plain
    assert learnt.weights[0] > learnt.weights[1]
    assert ((learnt.weights >= 0.2) & (learnt.weights <= 5)).all()
    again = wlvq2(x, label, units, np.random.default_rng(1))
    assert (again.units == learnt.units).all()


def test_majority_goes_to_the_lowest_of_equally_common():
    assert majority(np.array([0, 0, 2, 2, 2]), np.array([1, 0, 1, 1, 0]), 3).tolist() == [0, -1, 1]


# ---- density ----------------------------------------------------------------------------------------------------------------------------


def test_two_heaps_have_two_modes_and_a_cut_between():
    values = np.concatenate([np.full(30, 1.0), [0.9, 1.1], np.full(20, 9.0), [8.9, 9.1]])
    maxima, cuts = modes(values, 0.3)
    assert maxima == pytest.approx([1.0, 9.0], abs=0.05)
    assert len(cuts) == 1
    assert 1.2 < cuts[0] < 8.8


def test_modes_are_those_of_the_plain_density():
    values = np.concatenate([np.random.default_rng(1).normal(m, 0.5, 200) for m in (0, 4, 9)])
    h = 0.5 * bandwidth(values)
    at = np.linspace(-3, 12, 6001)
    density = np.exp(-0.5 * ((at[:, None] - values[None]) / h) ** 2).sum(1)
    inner = np.flatnonzero((density[1:-1] > density[:-2]) & (density[1:-1] > density[2:])) + 1
    assert modes(values, 0.5)[0] == pytest.approx(at[inner], abs=h / 8 + 0.0025)


def test_silverman_and_its_exceptions():
    values = np.arange(100.0)
    assert bandwidth(values) == pytest.approx(0.9 * min(values.std(ddof=1), 49.5 / 1.349) * 100**-0.2)
    mostly = np.array([0.0] * 90 + [1.0] * 10)  # the middle half is one value
    assert bandwidth(mostly) == pytest.approx(0.9 * mostly.std(ddof=1) * 100**-0.2)
    assert bandwidth(np.full(5, 3.0)) == 0
    assert [part.tolist() for part in modes(np.full(5, 3.0))] == [[3.0], []]


# ---- the methods ------------------------------------------------------------------------------------------------------------------------

HEAPS = {"x": [0, 1, 2, 100, 101, 102], "y": [5, 5, 5, 9, 9, 9]}


def heaps():
    return Table.of({**HEAPS, "label": ["a", "b", "a", "b", "a", "b"]})


def test_c_tca_by_hand():
    release = shoal.protect(heaps(), "c-tca", k=3, quasi=["x", "y"], seed=1)
    assert sorted(release.table.column("x").to_pylist()) == [1, 1, 1, 101, 101, 101]
    assert [(p.what, p.value, p.columns) for p in release.promises] == [("k-anonymity", 3, ("x", "y"))]


def test_c_tca_as_published_releases_prototypes():
    table = shoal.invented_patients(200)
    release = shoal.protect(
        table, "c-tca", coding="prototype", quasi=["age", "visits"], identifier=["name"], seed=1, k=4, units="kohonen", refine="none"
    )
    means = shoal.protect(table, "c-tca", quasi=["age", "visits"], identifier=["name"], seed=1, k=4, units="kohonen", refine="none")
    k = [shoal.measure(table, one, "k-anonymity")["k-anonymity"].value for one in (release, means)]
    loss = [shoal.measure(table, one, "sse")["sse"].value for one in (release, means)]
    assert min(k) >= 4
    assert loss[1] < loss[0]  # the mean of a group is nearer than its unit


def test_k_tca_says_what_it_reached_and_promises_nothing():
    table = shoal.invented_patients(300)
    release = shoal.protect(table, "k-tca", quasi=["age", "visits", "zip"], identifier=["name"], seed=1)
    assert release.promises == ()
    classes = shoal.measure(table, release, "k-anonymity")["k-anonymity"]
    smallest = int(re.search(r"smallest group came out with ([\d,]+) record", release.warnings[0])[1])
    assert classes.value >= smallest
    assert "k-tca promises no k" in release.warnings[0]


def test_kde_by_hand_and_says_perturbation():
    table = Table.of({"x": [0.0, 1.0, 2.0, 100.0, 101.0, 102.0] * 3})
    release = shoal.protect(table, "kde", smoothing=0.3, quasi=["x"], seed=1)
    values = np.array(sorted(set(release.table.column("x").to_pylist())))
    assert len(values) == 2
    assert values == pytest.approx([1, 101], abs=0.7)
    assert "perturbation" in release.warnings[0]
    assert release.promises == ()


def test_kde_with_labels_releases_means():
    table = Table.of({"x": [0.0, 1.0, 2.0, 100.0, 101.0, 105.0] * 3, "label": ["a", "a", "a", "b", "b", "b"] * 3})
    release = shoal.protect(table, "kde", smoothing=0.3, labels="label", quasi=["x"], seed=1)
    assert sorted(set(release.table.column("x").to_pylist())) == [1, 102]


def test_one_mode_is_one_value_and_no_measure_is_nan():
    table = Table.of({"x": list(np.random.default_rng(1).normal(size=50)), "y": list(range(50)), "label": ["a", "b"] * 25})
    release = shoal.protect(table, "kde", smoothing=50, roles=Roles(quasi=("x", "y"), target="label"), seed=1)
    assert len(set(release.table.column("x").to_pylist())) == 1
    assert any("'x'" in w and "one mode" in w for w in release.warnings)
    for score in shoal.measure(table, release).values():
        assert score.value is None or np.isfinite(score.value)
        assert score.value is not None or score.note


def test_labels_change_the_groups_and_centroids_are_released():
    table = shoal.invented_patients(300)
    quasi = ["age", "income", "visits"]
    for name in ("k-tca", "c-tca"):
        plain, labelled = (
            shoal.protect(table, name, quasi=quasi, identifier=["name"], seed=1, **more) for more in ({}, {"labels": "diagnosis"})
        )
        values = [sorted(r.table.column("age").to_pylist()) for r in (plain, labelled)]
        assert values[0] != values[1]
        ages = table.number("age")[labelled.source_row]  # every released value is the mean of the originals it stands for
        for value in set(labelled.table.column("age").to_pylist()):
            inside = labelled.table.number("age") == value
            assert ages[inside].mean() == pytest.approx(value)


# ---- what is refused --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["k-tca", "c-tca", "kde"])
def test_a_confidential_label_needs_diversity(name):
    with pytest.raises(ParameterError, match="'label' is confidential, and records grouped by it share it"):
        shoal.protect(heaps(), name, labels="label", quasi=["x", "y"], confidential=["label"])


@pytest.mark.parametrize("name", ["k-tca", "c-tca"])
def test_with_diversity_it_is_allowed_and_held(name):
    release = shoal.protect(heaps(), name, labels="label", l=2, quasi=["x", "y"], confidential=["label"], seed=1)
    assert ("l-diversity", 2, "label") in [(p.what, p.value, p.about) for p in release.promises]
    assert shoal.measure(heaps(), release, "l-diversity")["l-diversity"].value == 2


@pytest.mark.parametrize("name", ["k-tca", "c-tca", "kde"])
@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"labels": "nothing"}, DataError, "no column 'nothing'"),
        ({"labels": "x"}, ParameterError, "'x' is a column to protect"),
        ({"labels": "same"}, DataError, "one class only"),
        ({"columns": ("x", "x")}, ParameterError, "named twice"),
    ],
)
def test_wrong_labels(name, given, error, says):
    table = heaps().arrow.append_column("same", [["one"] * 6])
    with pytest.raises(error, match=says):
        shoal.protect(table, make("method", name, given), quasi=["x", "y"])


def test_too_many_classes():
    table = Table.of({"x": list(range(300)), "label": [f"c{i}" for i in range(300)]})
    with pytest.raises(DataError, match="300 classes"):
        shoal.protect(table, "c-tca", labels="label", roles=Roles(quasi=("x",), other=("label",)))


def test_other_refusals():
    with pytest.raises(DataError, match=r"fewer than k = 7\. Use k of at most 6"):
        shoal.protect(heaps(), "c-tca", k=7, quasi=["x", "y"])
    with pytest.raises(ParameterError, match="'label' is nominal, and kde is defined for numeric columns"):
        shoal.protect(heaps(), "kde", quasi=["x", "label"])
    with pytest.raises(ParameterError, match="l needs a confidential column"):
        shoal.protect(heaps(), "c-tca", l=2, quasi=["x", "y"])
    with pytest.raises(DataError, match="so no group can have more"):
        shoal.protect(heaps(), "c-tca", l=3, quasi=["x", "y"], confidential=["label"])
    with pytest.raises(ParameterError, match="coding=centroid with labels"):
        make("method", "k-tca", {"coding": "prototype", "labels": "label"})
    with pytest.raises(ParameterError, match="refine=none"):
        make("method", "c-tca", {"coding": "prototype"})
    with pytest.raises(ParameterError, match="column 'label' is not that"):
        shoal.protect(heaps(), "k-tca", coding="prototype", quasi=["x", "label"])
    with pytest.raises(ParameterError, match="views must be 1 or more"):
        make("method", "k-tca", {"views": 0})


@pytest.mark.parametrize("name", ["k-tca", "c-tca", "kde"])
@pytest.mark.parametrize(
    "columns",
    [
        {"x": [1.0, 2.0, 3.0, 4.0, 50.0, 60.0]},
        {"x": [7] * 6, "y": [1, 2, 3, 4, 5, 6]},
        {"x": [7] * 6},
        {"x": [1.0, None, 3.0, None, 5.0, 6.0], "y": [None] * 6},
    ],
    ids=["one column", "a constant column", "nothing but a constant", "missing"],
)
def test_poor_tables_are_taken(name, columns):
    table = Table.of(columns)
    release = shoal.protect(table, name, quasi=list(columns), seed=1)
    assert len(release) == 6
    for column in columns:
        assert release.table.missing(column).sum() == table.missing(column).sum() or name != "kde"


# ---- what reports say -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(known("method")))
def test_no_report_calls_a_release_k_anonymous_that_is_not(name, tmp_path):
    """What the certificate promises is no more than what is counted; methods without the guarantee say so, beside the smallest class."""
    from shoal.writing import write_table

    patients = shoal.invented_patients(150)
    write_table(patients, tmp_path / "patients.csv")
    roles = Roles(quasi=("age", "income", "visits"), identifier=("name",), confidential=("diagnosis",), target="diagnosis")
    needed = {"recode": {"columns": ("age",), "cuts": (0, 50, 150)}}  # what no default can say
    recipe = Recipe(tmp_path / "patients.csv", roles, (make("method", name, needed.get(name, {})),))
    said = protect_to_folder(recipe, tmp_path / "run").model_dump(mode="json")
    classes = next(m for m in said["measures"] if m["name"] == "k-anonymity")
    promised = [p["value"] for p in said["promises"] if p["what"] == "k-anonymity"]
    assert all(value <= classes["value"] for value in promised)
    assert "uniques" in classes["details"]
    page = re.sub(r"<[^>]+>", " ", (tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    if "k-anonymity" not in known("method")[name].guarantees:
        assert promised == []
        assert any("does not give k-anonymity" in warning for warning in said["warnings"])
        assert not re.search(r"\bis \d*-?k?-?anonymous|k-anonymity promised", page)
    assert json.loads((tmp_path / "run" / "certificate.json").read_text(encoding="utf-8"))["promises"] == said["promises"]
