"""Kernels against brute force in numpy, on continuous, duplicated, lattice and mixed data, whatever the order of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels import groups, kdtree
from shoal.kernels.linkage import agreement, match_mixture, neighbours

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
SEEDS = st.integers(0, 2**32 - 1)
KINDS = st.sampled_from(["continuous", "duplicated", "lattice", "constant"])
quick = settings(max_examples=40, deadline=None)


def table(rng: np.random.Generator, kind: str, n: int, d: int) -> FloatArray:
    x = rng.normal(size=(n, d))
    if kind == "duplicated":
        return x[rng.integers(0, 1 + n // 4, n)]
    if kind == "lattice":
        return np.rint(2 * x) / 10  # tenths: differences equal on paper are not all equal in floating point
    if kind == "constant":
        x[:, 0] = 1.0
    return x


def all_distances2(protected: FloatArray, queries: FloatArray, codes: IntArray, query_codes: IntArray) -> FloatArray:
    s = ((queries[:, None] - protected[None]) ** 2).sum(axis=2)
    return np.asarray(s + (query_codes[:, None] != codes[None]).sum(axis=2))


@quick
@given(SEEDS, KINDS, st.integers(1, 120), st.integers(1, 5), st.integers(0, 3))
def test_nearest_and_linked_equal_brute_force(seed: int, kind: str, m: int, d: int, e: int) -> None:
    rng = np.random.default_rng(seed)
    protected, queries = table(rng, kind, m, d), table(rng, kind, 60, d)
    queries[:5] = protected[rng.integers(0, m, 5)]  # some at distance zero
    codes, query_codes = rng.integers(0, 4, (m, e)), rng.integers(0, 5, (60, e))
    true = rng.integers(0, m, 60)
    nominal = (codes, query_codes) if e else (None, None)
    s = all_distances2(protected, queries, codes, query_codes)
    least = s.min(axis=1, keepdims=True)
    tied = s <= least * (1 + 1e-12)

    found = neighbours.nearest(protected, queries, *nominal)
    assert found.distance2 == pytest.approx(least[:, 0], rel=1e-12, abs=1e-300)
    assert np.array_equal(found.ties, tied.sum(axis=1))
    assert np.array_equal(found.first, tied.argmax(axis=1))

    own = s[np.arange(60), true][:, None]
    closer = (s < own * (1 - 1e-12)).any(axis=1)
    linked = neighbours.linked(protected, queries, true, *nominal)
    assert np.array_equal(linked.closer_exists, closer)
    assert np.array_equal(linked.ties, np.where(closer, 0, (np.abs(s - own) <= 1e-12 * own).sum(axis=1)))


@quick
@given(SEEDS, KINDS)
def test_links_do_not_depend_on_the_order_of_rows(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    protected, queries = table(rng, kind, 100, 3), table(rng, kind, 80, 3)
    shuffle, turn = rng.permutation(100), rng.permutation(80)
    before, after = neighbours.nearest(protected, queries), neighbours.nearest(protected[shuffle], queries[turn])
    assert np.array_equal(before.distance2[turn], after.distance2)
    assert np.array_equal(before.ties[turn], after.ties)


def test_many_queries_with_threads_equal_scipy() -> None:
    spatial = pytest.importorskip("scipy.spatial")
    rng = np.random.default_rng(3)
    queries = rng.normal(size=(20_000, 4))
    protected = queries + 0.3 * rng.normal(size=queries.shape)
    distance, row = spatial.cKDTree(protected).query(queries)
    found = neighbours.nearest(protected, queries)
    assert found.distance2 == pytest.approx(distance**2, rel=1e-9)
    assert np.array_equal(found.first, row)
    linked = neighbours.linked(protected, queries, np.arange(20_000))
    assert np.array_equal(~linked.closer_exists, row == np.arange(20_000))


@quick
@given(SEEDS, st.integers(0, 300), st.lists(st.sampled_from([1, 2, 5, 3000, 2**20, 2**40]), min_size=1, max_size=6), st.booleans())
def test_classes_equal_numpy_unique(seed: int, n: int, cardinalities: list[int], as_table: bool) -> None:
    rng = np.random.default_rng(seed)
    few = [rng.integers(0, m, 4) for m in cardinalities]  # few codes per column, so that rows meet
    codes = np.column_stack([values[rng.integers(0, 4, n)] for values in few])
    _, inverse, sizes = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    given_codes = codes if as_table else [codes[:, j].astype(np.int32 if m <= 2**20 else np.int64) for j, m in enumerate(cardinalities)]
    ids, classes = groups.class_ids(given_codes)
    assert classes == len(sizes)
    assert np.array_equal(ids, inverse.reshape(n))
    assert np.array_equal(groups.class_sizes(given_codes), sizes)


def test_classes_over_many_blocks_equal_pandas() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(5)
    for top in (6, 3000):  # a small key space counted directly, a large one sorted and hashed
        columns = [rng.integers(0, top, 200_001) for _ in range(3)]
        frame = pd.DataFrame(dict(enumerate(columns)))
        expected = frame.groupby([0, 1, 2])
        ids, classes = groups.class_ids(columns)
        assert classes == expected.ngroups
        assert np.array_equal(ids, expected.ngroup().to_numpy())
        assert np.array_equal(groups.class_sizes(columns), expected.size().to_numpy())


@quick
@given(SEEDS, KINDS, st.integers(1, 200), st.integers(1, 4), st.integers(1, 20))
def test_the_tree_holds_every_row_in_tight_boxes(seed: int, kind: str, n: int, d: int, leaf_size: int) -> None:
    x = table(np.random.default_rng(seed), kind, n, d)
    tree = kdtree.build(x, leaf_size)
    assert np.array_equal(np.sort(tree.order), np.arange(n))
    assert np.array_equal(x[tree.order], tree.points)
    for node in range(len(tree.start)):
        rows = tree.points[tree.start[node] : tree.stop[node]]
        assert np.array_equal(rows.min(axis=0), tree.low[node])
        assert np.array_equal(rows.max(axis=0), tree.high[node])
        if tree.right[node] < 0:
            assert len(rows) <= leaf_size
        else:
            left, right = node + 1, tree.right[node]
            assert tree.parent[left] == tree.parent[right] == node
            assert (tree.start[left], tree.stop[left], tree.stop[right]) == (tree.start[node], tree.start[right], tree.stop[node])


def all_patterns(x: FloatArray, y: FloatArray, tolerance: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.abs(y[None] - x[:, None]) <= tolerance)


@quick
@given(SEEDS, KINDS, st.integers(1, 120), st.integers(1, 5))
def test_weights_equal_brute_force(seed: int, kind: str, m: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = table(rng, kind, 50, d), table(rng, kind, m, d)
    tolerance = rng.choice([0.0, 0.1, 0.5], d)
    agree, disagree = rng.integers(-2, 6, d) / 2, -rng.integers(0, 6, d) / 2  # halves: ties between patterns are exact; some gains negative
    true = rng.integers(0, m, 50)
    agrees = all_patterns(x, y, tolerance)
    w = np.where(agrees, agree, disagree).sum(axis=2)
    tied = w == w.max(axis=1, keepdims=True)

    counts = agreement.pattern_counts(x, y, tolerance)
    assert np.array_equal(counts, np.bincount((agrees << np.arange(d)).sum(axis=2).ravel(), minlength=2**d))
    assert np.array_equal(agreement.weight_block(x, y, tolerance, agree, disagree), w)
    best = agreement.best_match(x, y, tolerance, agree, disagree)
    assert np.array_equal(best.weight, w.max(axis=1))
    assert np.array_equal(best.ties, tied.sum(axis=1))
    assert np.array_equal(best.first, tied.argmax(axis=1))

    own = w[np.arange(50), true][:, None]
    higher = (w > own).any(axis=1)
    linked = agreement.linked_by_weight(x, y, true, tolerance, agree, disagree)
    assert np.array_equal(linked.higher_exists, higher)
    assert np.array_equal(linked.ties, np.where(higher, 0, (w == own).sum(axis=1)))


def test_weights_of_no_short_fraction_tie_by_pattern() -> None:
    rng = np.random.default_rng(11)
    x, y = np.rint(rng.normal(size=(200, 6))), np.rint(rng.normal(size=(900, 6)))
    agree, disagree = match_mixture.weights(np.full(6, 0.87), np.full(6, 0.13))
    agreeing = all_patterns(x, y, np.zeros(6)).sum(axis=2)
    best = agreement.best_match(x, y, np.zeros(6), agree, disagree)
    assert np.array_equal(best.ties, (agreeing == agreeing.max(axis=1, keepdims=True)).sum(axis=1))


@quick
@given(SEEDS, st.integers(2, 6))
def test_no_iteration_lowers_the_likelihood(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 1000, 2**d)
    counts[0] += 1
    step = match_mixture.MatchMixture(0.1, np.full(d, 0.9), rng.uniform(0.05, 0.4, d), 0)
    before = match_mixture.log_likelihood(counts, d, step.match_share, step.m, step.u)
    for _ in range(15):
        step = match_mixture.expectation_maximization(counts, d, step.match_share, step.m, step.u, most_iterations=1)
        after = match_mixture.log_likelihood(counts, d, step.match_share, step.m, step.u)
        assert after >= before - 1e-9 * abs(after)
        before = after


def test_expectation_maximization_recovers_a_simulated_mixture() -> None:
    rng = np.random.default_rng(2)
    share, m, u = 0.05, np.array([0.95, 0.9, 0.85, 0.8, 0.9]), np.array([0.05, 0.1, 0.2, 0.1, 0.15])
    match = rng.random(400_000) < share
    agrees = rng.random((400_000, 5)) < np.where(match[:, None], m, u)
    counts = np.bincount((agrees << np.arange(5)).sum(axis=1), minlength=32)
    found = match_mixture.expectation_maximization(counts, 5, 0.01)
    assert found.match_share == pytest.approx(share, abs=0.003)
    assert found.m == pytest.approx(m, abs=0.02)
    assert found.u == pytest.approx(u, abs=0.005)
