"""Linking under any aggregator equals brute force; learning and polishing keep what they promise, whatever the data."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.linkage import closer
from shoal.kernels.linkage.aggregation import Choquet
from shoal.kernels.linkage.closer import Distance
from shoal.kernels.linkage.learning import Links, features, lead, learn_weights, linked, polish

FloatArray = NDArray[np.float64]
SEEDS = st.integers(0, 2**32 - 1)
quick = settings(max_examples=40, deadline=None)


def records(rng: np.random.Generator, kind: str, n: int, d: int) -> FloatArray:
    if kind == "lattice":
        return rng.integers(0, 4, (n, d)) / 8
    x = rng.normal(size=(n, d))
    return x[rng.integers(0, 1 + n // 3, n)] if kind == "duplicated" else x


def distance(rng: np.random.Generator, kind: closer.Kind, d: int, codes: int) -> Distance:
    """Any weights, some of them zero; several coordinates may belong to one attribute."""
    attribute = np.concatenate([[0], np.cumsum(rng.integers(0, 2, d + codes - 1))])
    n = int(attribute.max()) + 1
    if kind == "choquet":
        weights = np.maximum.accumulate(np.sort(rng.random(1 << n)))
        gain = rng.dirichlet(np.ones(n))
        weights = np.array([sum(gain[i] for i in range(n) if s >> i & 1) for s in range(1 << n)]) ** rng.choice([0.5, 1.0, 2.0])
        weights[0], weights[-1] = 0.0, 1.0
    else:
        weights = rng.dirichlet(np.ones(n * n if kind == "pairs" else n))
        weights[rng.random(len(weights)) < 0.2] = 0.0
    return Distance(kind, weights, int(rng.choice(closer.POWERS)), attribute, d)


def by_brute_force(protected: FloatArray, queries: FloatArray, by: Distance) -> FloatArray:
    differences = np.zeros((len(queries), len(protected), by.attributes))
    for j, a in enumerate(by.attribute):
        gap = np.abs(queries[:, None, j] - protected[None, :, j])
        differences[..., a] += gap**by.power if j < by.numeric else gap != 0
    if by.kind == "choquet":
        return Choquet(by.weights).distance(differences)
    return np.asarray(features(differences, by.kind) @ by.weights)


@quick
@given(SEEDS, st.sampled_from(closer.KINDS), st.sampled_from(["continuous", "duplicated", "lattice"]), st.integers(1, 3), st.integers(0, 2))
def test_linking_equals_brute_force(seed: int, kind: closer.Kind, data: str, d: int, codes: int) -> None:
    rng = np.random.default_rng(seed)
    protected, queries = (np.hstack([records(rng, data, n, d), rng.integers(0, 3, (n, codes))]) for n in (70, 40))
    queries[:5] = protected[:5]
    by, true = distance(rng, kind, d, codes), rng.integers(0, 70, 40)
    every = by_brute_force(protected, queries, by)
    own = every[np.arange(40), true][:, None]
    # where rounding alone decides, brute force in another order of sums may differ
    near = (np.abs(every - own) <= 1e-9 * own) & (np.abs(every - own) > 1e-13 * own) & (own > 0)
    sure = ~near.any(axis=1)
    found = closer.linked(protected, queries, true, by)
    ahead = (every < own * (1 - 1e-12)).any(axis=1)
    tied = (np.abs(every - own) <= 1e-12 * own).sum(axis=1)
    assert (found.closer_exists == ahead)[sure].all()
    assert (found.ties == np.where(ahead, 0, tied))[sure].all()
    assert np.allclose(closer.distances(protected, queries, by), every, rtol=1e-9)


@quick
@given(SEEDS, st.sampled_from(closer.KINDS), st.sampled_from(["continuous", "duplicated", "lattice"]))
def test_the_nearest_are_the_nearest_distinct_ones(seed: int, kind: closer.Kind, data: str) -> None:
    rng = np.random.default_rng(seed)
    protected, queries = records(rng, data, 80, 3), records(rng, data, 20, 3)
    by = distance(rng, kind, 3, 0)
    found = closer.nearest(protected, queries, by, 7)
    distinct = np.unique(protected, axis=0)
    every = np.sort(by_brute_force(distinct, queries, by), axis=1)[:, :7]
    assert np.allclose(found.distance[:, : every.shape[1]], every, rtol=1e-9, atol=1e-300)
    assert (found.rows[:, len(distinct) :] == -1).all()


@quick
@given(SEEDS, st.integers(1, 4), st.sampled_from(["weighted", "ordered", "pairs"]))
def test_learning_gives_weights_and_polishing_never_loses(seed: int, n: int, family: str) -> None:
    rng = np.random.default_rng(seed)
    true, rival = rng.exponential(size=(30, n)) * rng.random(n), rng.exponential(size=(30, 8, n))
    rival[rng.random((30, 8)) < 0.1] = 0.0
    there = rng.random((30, 8)) < 0.9
    twins = rng.integers(1, 3, 30).astype(float)
    some = Links(features(true, family), features(rival, family), there, twins, np.ones((30, 8)))
    start = np.full(some.true.shape[1], 1 / some.true.shape[1])
    weights = learn_weights(some, start, 0.01)
    assert (weights > 0).all()
    assert abs(weights.sum() - 1) < 1e-9
    share, ahead = linked(weights, some), lead(weights, some, 2)
    assert ((share >= 0) & (share <= 1 / twins)).all()
    assert ((ahead >= 0) & (ahead <= 1 / twins + 1e-12)).all()
    better = polish(weights, some)
    assert (better >= 0).all()
    assert (linked(better, some) == 1).sum() >= (share == 1).sum()
