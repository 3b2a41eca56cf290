"""Whatever the table: c-tca reaches k, diversity holds where it is asked for, nothing is lost, and maps do not depend on the order of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.kernels import som
from shoal.kernels.density import modes
from shoal.kernels.groups import class_sizes
from shoal.measures import DistinctLDiversity
from shoal.methods import CTca, Kde, KTca
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.table import Table

unhurried = settings(deadline=None, max_examples=40, derandomize=True)  # the first example pays for compiling
seeds = st.integers(0, 10_000)
LEVELS = ("low", "mid", "high")


def drawn(rows, missing, distinct, seed):
    """Numbers with long tails, whole numbers with ties, levels, categories and a label; a share of the cells missing."""
    rng = np.random.default_rng(seed)
    pick = rng.integers(0, distinct, rows) if distinct else np.arange(rows)
    base = {
        "num": np.exp(2 * rng.normal(size=max(rows, distinct)))[pick].tolist(),
        "whole": rng.integers(-3, 4, max(rows, distinct))[pick].tolist(),
        "level": np.array(LEVELS)[rng.integers(0, 3, max(rows, distinct))[pick]].tolist(),
        "city": np.array(["A", "B", "C"])[rng.integers(0, 3, max(rows, distinct))[pick]].tolist(),
    }
    gappy = {name: [None if rng.random() < missing else v for v in column] for name, column in base.items()}
    return Table.of({**gappy, "label": [str(v) for v in rng.integers(0, 3, rows)], "untouched": list(range(rows))})


tables = st.builds(drawn, st.integers(2, 60), st.sampled_from([0.0, 0.0, 0.3]), st.sampled_from([0, 0, 5]), seeds)
QUASI = ("num", "whole", "level", "city")


def roles_of(table, columns, confidential=()):
    spare = () if confidential else ("label",)
    return Roles(quasi=columns, ordinal={"level": LEVELS}, confidential=confidential, other=("untouched", *spare)).check(table)


@unhurried
@given(
    table=tables,
    k=st.integers(2, 12),
    seed=seeds,
    views=st.integers(1, 4),
    refine=st.sampled_from(["none", "swap"]),
    units=st.sampled_from(["per-group", "kohonen"]),
    labels=st.sampled_from([None, "label"]),
)
def test_c_tca_reaches_k_always(table, k, seed, views, refine, units, labels):
    k = min(k, len(table))
    if k < 2 or (labels and len(set(table.column("label").to_pylist())) < 2):
        return
    columns = QUASI[: 1 + seed % 4]
    roles = roles_of(table, columns)
    release = CTca(k=k, views=views, refine=refine, units=units, labels=labels).protect(table, roles, chance_for(seed))
    assert class_sizes([release.table.codes(c) for c in columns]).min() >= k
    assert all(found.holds for found in check_release(release))
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    assert [table.column("untouched").to_pylist()[row] for row in release.source_row] == release.table.column("untouched").to_pylist()


@pytest.mark.parametrize("method", [CTca, KTca])
@unhurried
@given(table=tables, seed=seeds, l=st.integers(2, 3), labels=st.sampled_from([None, "label"]))
def test_diversity_holds_where_it_is_asked_for(method, table, seed, l, labels):  # noqa: E741
    if len(set(table.column("label").to_pylist())) < l or len(table) < 3:
        return
    columns = QUASI[: 1 + seed % 4]
    roles = roles_of(table, columns, ("label",))
    release = method(l=l, labels=labels).protect(table, roles, chance_for(seed))
    assert DistinctLDiversity().measure(table, release, roles).value >= l
    assert all(found.holds for found in check_release(release))
    assert {p.what for p in release.promises} == {"l-diversity", *method.guarantees}


@pytest.mark.parametrize("method", [KTca, Kde])
@unhurried
@given(table=tables, seed=seeds, labels=st.sampled_from([None, "label"]))
def test_the_others_lose_nothing_and_promise_nothing(method, table, seed, labels):
    if labels and len(set(table.column("label").to_pylist())) < 2:
        return
    columns = QUASI[: 1 + seed % 4] if method is KTca else QUASI[: 1 + seed % 2]
    release = method(labels=labels).protect(table, roles_of(table, columns), chance_for(seed))
    assert release.promises == ()
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    if method is Kde:
        for column in columns:
            assert (release.table.missing(column) == table.missing(column)[release.source_row]).all()


@unhurried
@given(seed=seeds, n=st.integers(2, 80), d=st.integers(1, 4), units=st.integers(1, 100))
def test_a_map_is_the_same_whatever_the_order_of_rows(seed, n, d, units):
    """More units than records too."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    rows, columns = som.map_shape(x, units)
    order = rng.permutation(n)
    one, two = (som.train(part, rows, columns, 8).units for part in (x, x[order]))
    assert np.isfinite(one).all()
    assert one == pytest.approx(two, abs=1e-6)


@unhurried
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), smoothing=st.floats(0.05, 3))
def test_modes_keep_the_order_of_values_and_lie_between_cuts(values, smoothing):
    x = np.array(values)
    maxima, cuts = modes(x, smoothing)
    assert len(maxima) == len(cuts) + 1
    assert (np.diff(maxima) > 0).all()
    assert ((maxima[:-1] < cuts) & (cuts < maxima[1:])).all()
    coded = maxima[np.searchsorted(cuts, np.sort(x))]
    assert (np.diff(coded) >= 0).all()
