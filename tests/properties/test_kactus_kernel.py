"""Whatever the tree, the rows and k: every group complies, nothing is lost, and a plain reading of the paper gives the same release."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.kactus import anonymize
from shoal.kernels.trees.c45 import grow, route

IntArray = NDArray[np.int64]

unhurried = settings(deadline=None, max_examples=300, derandomize=True)  # the first example pays for compiling


def plain(parent: IntArray, node: IntArray, k: int, draws: NDArray[np.float64], rescue: bool) -> IntArray:
    """Fig. 5 with the readings of the specification, on sets of rows."""
    held = {v: set(np.flatnonzero(node == v)) for v in range(len(parent))}
    groups: dict[int, set[int]] = {}
    for p in reversed(range(len(parent))):
        children = [v for v in range(p + 1, len(parent)) if parent[v] == p]
        for v in children:
            if len(held[v]) >= k:
                groups[v] = held[v]
            else:
                held[p] |= held[v]
        lacking = k - len(held[p])
        mine = [v for v in children if v in groups]
        if 0 < lacking < k and sum(len(groups[v]) - k for v in mine) >= lacking:
            for i in sorted(set().union(*(groups[v] for v in mine)), key=lambda i: draws[i]):
                lender = next(v for v in mine if i in groups[v])
                if lacking and len(groups[lender]) > k:
                    groups[lender].remove(i)
                    held[p].add(i)
                    lacking -= 1
    left = held[0]
    if len(left) >= k:
        groups[0] = left
    elif left and rescue:
        if sum(len(rows) - k for rows in groups.values()) >= k - len(left):
            for v in sorted(groups, key=lambda v: (-len(groups[v]), v)):
                for i in sorted(groups[v], key=lambda i: draws[i]):
                    if len(left) < k < len(groups[v]):
                        groups[v].remove(i)
                        left.add(i)
        else:
            left |= groups.pop(min(groups, key=lambda v: (len(groups[v]), v)))
        groups[0] = left
    at = np.full(len(node), -1)
    for v, rows in groups.items():
        at[list(rows)] = v
    return at


@st.composite
def trees_with_rows(draw: st.DrawFn) -> tuple[IntArray, IntArray, int, np.random.Generator]:
    """Parents, deepest nodes (rows may stop anywhere), k up to all rows, and a generator for the rest."""
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    m, n = draw(st.integers(1, 40)), draw(st.integers(1, 150))
    near_the_root = draw(st.booleans())
    parent = np.array([-1] + [rng.integers(0, 1 + v // 4) if near_the_root else rng.integers(max(0, v - 3), v) for v in range(1, m)])
    skew = rng.random(m) ** draw(st.sampled_from([0, 1, 4]))
    node = rng.choice(m, n, p=skew / skew.sum())
    return parent, node, draw(st.one_of(st.integers(1, min(n, 12)), st.integers(1, n))), rng


def below(parent: IntArray, v: int, ancestor: int) -> bool:
    while v > ancestor:
        v = int(parent[v])
    return v == ancestor


@unhurried
@given(trees_with_rows(), st.booleans())
def test_same_release_as_the_plain_reading(case: tuple[IntArray, IntArray, int, np.random.Generator], rescue: bool) -> None:
    parent, node, k, rng = case
    draws = rng.random(len(node))
    at = anonymize(parent, node, k, draws, rescue=rescue)
    assert np.array_equal(at, plain(parent, node, k, draws, rescue))
    dropped = at == -1
    assert dropped.sum() < k
    assert not (rescue and dropped.any())
    assert np.unique(at[~dropped], return_counts=True)[1].min(initial=k) >= k
    assert all(below(parent, int(v), int(g)) for v, g in zip(node[~dropped], at[~dropped]))  # a row shows part of its own path
    shuffled = rng.permutation(len(node))
    assert np.array_equal(anonymize(parent, node[shuffled], k, draws[shuffled], rescue=rescue), at[shuffled])


@unhurried
@given(trees_with_rows(), st.integers(1, 5), st.sampled_from([1, 1, 1.5, 2, 2.7, 4]), st.integers(1, 8))
def test_diverse_groups(case: tuple[IntArray, IntArray, int, np.random.Generator], l: int, entropy_l: float, values: int) -> None:  # noqa: E741
    parent, node, k, rng = case
    sensitive = np.minimum(rng.geometric(0.4, len(node)) - 1, values - 1)
    draws = rng.random(len(node))

    def complies(rows: NDArray[np.bool_]) -> bool:
        counts = np.unique(sensitive[rows], return_counts=True)[1]
        share = counts / counts.sum()
        return bool(counts.sum() >= k and len(counts) >= l and -(share * np.log(share)).sum() >= np.log(entropy_l) - 1e-7)

    assume(complies(np.ones(len(node), bool)))
    for rescue in (True, False):
        at = anonymize(parent, node, k, draws, sensitive, l, entropy_l, rescue)
        assert all(complies(at == g) for g in np.unique(at) if g >= 0)
        assert all(below(parent, int(v), int(g)) for v, g in zip(node, at) if g >= 0)
        assert not (rescue and (at < 0).any())
    if l == 1 and entropy_l == 1:
        assert np.array_equal(at, anonymize(parent, node, k, draws, rescue=False))
    shuffled = rng.permutation(len(node))
    again = anonymize(parent, node[shuffled], k, draws[shuffled], sensitive[shuffled], l, entropy_l, rescue=False)
    assert np.array_equal(again, at[shuffled])


@unhurried
@given(st.integers(1, 120), st.integers(0, 4), st.integers(1, 30), st.integers(1, 3), st.data())
def test_from_codes_to_groups(n: int, d: int, most: int, classes: int, data: st.DataObject) -> None:
    """Mixed columns, missing values, duplicates, a target of one class, more columns than rows, all missing, k up to n."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**31)))
    codes = rng.integers(0, 1 + rng.integers(0, most + 1, d), (n, d)).astype(np.int32)
    ordered = rng.random(d) < 0.5
    target = rng.integers(0, classes, n)
    k = data.draw(st.integers(1, n))
    tree = grow(codes, ordered, target, classes, least=k, confidence=data.draw(st.sampled_from([0.25, None])))
    node = route(tree, codes, ordered)
    at = anonymize(tree.parent, node, k, rng.random(n))
    assert np.unique(at, return_counts=True)[1].min() >= k
    reached = np.zeros_like(tree.counts)
    np.add.at(reached, (node, target), 1)
    for child in range(len(tree.parent) - 1, 0, -1):
        reached[tree.parent[child]] += reached[child]
    assert np.array_equal(reached, tree.counts)  # the counts of growing are those of walking
