"""Whatever the table: fast equals naive, every group keeps k, refinement never loses, and one column is grouped as well as can be."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels import mdav
from shoal.kernels.blocks import block_cuts, block_of, block_of_rows, mdav_large_groups, without_small_blocks
from shoal.kernels.mdav import mdav_groups, mdav_groups_mixed, mdav_groups_mixed_naive, mdav_groups_naive
from shoal.kernels.refine import swap_refinement
from shoal.kernels.univariate import fixed_univariate_groups, optimal_univariate_groups
from shoal.kernels.v_mdav import v_mdav_groups
from shoal.methods import microaggregation
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.table import Table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

unhurried = settings(deadline=None, max_examples=60, derandomize=True)  # the first example pays for compiling


def sse(points: FloatArray, groups: IntArray) -> float:
    return float(sum(((points[groups == g] - points[groups == g].mean(axis=0)) ** 2).sum() for g in np.unique(groups)))


def table(kind: str, n: int, d: int, seed: int) -> FloatArray:
    return np.asarray(_table(kind, n, d, seed), dtype=np.float64)


def _table(kind: str, n: int, d: int, seed: int) -> NDArray[np.generic]:
    rng = np.random.default_rng(seed)
    if kind == "random":
        return rng.normal(size=(n, d))
    if kind == "tied":
        return rng.integers(0, 3, (n, d)) * 0.1
    if kind == "duplicated":
        return rng.normal(size=(n // 4 + 1, d))[rng.integers(0, n // 4 + 1, n)]
    if kind == "lattice":
        return np.stack(np.unravel_index(rng.permutation(n), (n,) if d == 1 else (-(-n // 7), 7)), axis=1).astype(float)
    return 1e9 + 1e6 * np.exp(3 * rng.normal(size=(n, d)))  # skewed, and far from zero


KINDS = ["random", "tied", "duplicated", "lattice", "skewed"]
tables = st.builds(table, st.sampled_from(KINDS), st.integers(1, 300), st.integers(1, 5), st.integers(0, 2**31))
smallest = st.integers(1, 9)


def check_sizes(groups: IntArray, n: int, k: int) -> None:
    sizes = np.bincount(groups)
    assert len(groups) == n
    assert sizes.min() >= min(k, n)
    assert sizes.max() <= max(2 * k - 1, 1)


@unhurried
@given(tables, smallest, st.sampled_from([np.inf, 0.8, 0.0]))
def test_mdav_by_tree_is_mdav_by_scan(points: FloatArray, k: int, pays: float) -> None:
    before = points.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mdav, "SMALL", 0)  # the tree from the first row to the last,
        patch.setattr(mdav, "PAYS", pays)  # or given up for the scan on the way
        fast = mdav_groups(points, k)
    assert np.array_equal(fast, mdav_groups_naive(points, k))
    assert np.array_equal(points, before)
    check_sizes(fast, len(points), k)


@pytest.mark.parametrize("kind", KINDS)
def test_mdav_is_naive_mdav_on_larger_tables(kind: str) -> None:
    points = table(kind, 5000, 4, 1)
    for k in (2, 3, 10):
        assert np.array_equal(mdav_groups(points, k), mdav_groups_naive(points, k))


def textbook_mdav(points: FloatArray, k: int) -> IntArray:
    """Algorithm 1 of the thesis, word for word, on whole numbers, where no rounding can hide a mistake."""
    live = list(range(len(points)))
    groups = np.full(len(points), -1)

    def distance(i: int, to: FloatArray) -> float:
        return float(((points[i] - to) ** 2).sum())

    def form(to: FloatArray) -> FloatArray:
        lead = max(live, key=lambda i: (distance(i, to), -i))
        others = sorted((i for i in live if i != lead), key=lambda i: (distance(i, points[lead]), i))
        for i in [lead, *others[: k - 1]]:
            groups[i] = made
            live.remove(i)
        return np.asarray(points[lead], dtype=np.float64)

    made = 0
    while len(live) >= 3 * k:
        lead = form(points[live].sum(axis=0) / len(live))
        made += 1
        form(lead)
        made += 1
    if len(live) >= 2 * k:
        form(points[live].sum(axis=0) / len(live))
        made += 1
    groups[live] = made
    return groups


@unhurried
@given(st.integers(1, 40), st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**31))
def test_mdav_is_the_textbook_on_whole_numbers(n: int, d: int, k: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 8, (n, d)).astype(float)
    assert np.array_equal(mdav_groups_naive(points, k), textbook_mdav(points, k))
    assert np.array_equal(mdav_groups_mixed(points, np.zeros((n, 1), np.int64), k), textbook_mdav(points, k))


@unhurried
@given(tables, st.integers(1, 3), st.integers(1, 9), smallest, st.sampled_from([np.inf, 0.8, 0.0]), st.integers(0, 2**31))
def test_mixed_mdav_by_tree_is_mixed_mdav_by_scan(points: FloatArray, e: int, codes: int, k: int, pays: float, seed: int) -> None:
    nominal = np.random.default_rng(seed).integers(0, codes, (len(points), e))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mdav, "SMALL", 0)
        patch.setattr(mdav, "PAYS", pays)
        fast = mdav_groups_mixed(points, nominal, k)
    assert np.array_equal(fast, mdav_groups_mixed_naive(points, nominal, k))


@pytest.mark.parametrize("kind", KINDS)
def test_mixed_mdav_is_the_scan_on_larger_tables(kind: str) -> None:
    points, nominal = table(kind, 4000, 3, 1), np.random.default_rng(2).integers(0, 5, (4000, 2))
    assert np.array_equal(mdav_groups_mixed(points, nominal, 4), mdav_groups_mixed_naive(points, nominal, 4))


@unhurried
@given(st.integers(1, 60), st.integers(0, 2), st.integers(1, 3), smallest, st.integers(0, 2**31))
def test_mixed_groups_keep_k(n: int, d: int, e: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    numeric, nominal = rng.normal(size=(n, d)), rng.integers(-2, 3, (n, e))
    before = numeric.copy(), nominal.copy()
    groups = mdav_groups_mixed(numeric, nominal, k)
    check_sizes(groups, n, k)
    assert np.array_equal(numeric, before[0])
    assert np.array_equal(nominal, before[1])
    assert np.array_equal(groups, mdav_groups_mixed(numeric, nominal * 10, k))  # only the order of codes counts


def textbook_v_mdav(points: FloatArray, k: int, gamma: float) -> IntArray:
    n = len(points)
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    outside = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    live = list(range(n))
    groups = np.full(n, -1)
    made = 0
    while len(live) >= k:
        lead = max(live, key=lambda i: (outside[i], -i))
        group = [lead, *sorted((i for i in live if i != lead), key=lambda i: (apart[lead, i], i))[: k - 1]]
        live = [i for i in live if i not in group]
        while live and len(group) < 2 * k - 1:
            d_in, joins = min((apart[g, i], i) for g in group for i in live)
            d_out = min((apart[joins, i] for i in live if i != joins), default=np.inf)
            if not d_in < gamma * d_out:
                break
            group.append(joins)
            live.remove(joins)
        groups[group] = made
        made += 1
    averages = [points[groups == g].mean(axis=0) for g in range(made)]
    for i in live:
        groups[i] = np.argmin([((points[i] - average) ** 2).sum() for average in averages])
    return groups


@unhurried
@given(st.integers(12, 60), st.integers(1, 3), st.integers(2, 6), st.sampled_from([0.0, 0.2, 1.1]), st.integers(0, 2**31))
def test_v_mdav_is_the_textbook(n: int, d: int, k: int, gamma: float, seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(n, d))
    before = points.copy()
    groups = v_mdav_groups(points, k, gamma)
    assert np.array_equal(groups, textbook_v_mdav(points, k, gamma))
    assert np.array_equal(points, before)


@unhurried
@given(tables, smallest, st.sampled_from([0.0, 0.2, 1.1]))
def test_v_mdav_keeps_k(points: FloatArray, k: int, gamma: float) -> None:
    assert np.bincount(v_mdav_groups(points, k, gamma)).min() >= min(k, len(points))


@unhurried
@given(tables, smallest, st.sampled_from(["mdav", "random", "one"]), st.sampled_from([2, 3]), st.integers(0, 2**31))
def test_refinement_never_loses(points: FloatArray, k: int, start: str, reach: int, seed: int) -> None:
    n = len(points)
    shuffled = np.random.default_rng(seed).permutation(n)
    starts = {"mdav": mdav_groups(points, k), "random": np.minimum(shuffled // k, max(n // k - 1, 0)), "one": np.zeros(n, np.int64)}
    groups = starts[start] * 3 - 1  # any numbers will do
    before = points.copy(), groups.copy()
    refined = swap_refinement(points, groups, k, reach=reach)
    assert np.array_equal(points, before[0])
    assert np.array_equal(groups, before[1])
    check_sizes(refined, n, k)
    assert set(refined) == set(range(refined.max() + 1))
    assert sse(points, refined) <= sse(points, groups) * (1 + 1e-9) + 1e-9
    assert np.array_equal(refined, swap_refinement(points, groups, k, reach=reach))


def test_refinement_refuses_groups_that_are_too_small() -> None:
    with pytest.raises(ValueError, match="at least k = 3"):
        swap_refinement(np.zeros((6, 1)), np.array([0, 0, 1, 1, 1, 1]), 3)


@unhurried
@given(tables, smallest, st.integers(1, 80))
def test_large_groups_keep_k(points: FloatArray, k: int, block_rows: int) -> None:
    before = points.copy()
    check_sizes(mdav_large_groups(points, k, block_rows), len(points), k)
    assert np.array_equal(points, before)
    sizes = np.bincount(block_of_rows(points, block_rows))
    assert sizes.max() <= block_rows
    assert len(sizes) == 1 or sizes.min() >= (block_rows + 1) // 2


def test_a_block_is_grouped_as_a_table_of_its_own() -> None:
    points = table("random", 2000, 3, 5)
    unrefined = mdav_large_groups(points, 3, 300, most_passes=0)
    blocks = block_of_rows(points, 300)
    for block in range(blocks.max() + 1):
        inside = blocks == block
        alone = mdav_groups(points[inside], 3)
        assert np.array_equal(unrefined[inside] - unrefined[inside].min(), alone)


@unhurried
@given(tables, st.integers(1, 200), st.integers(0, 2**31))
def test_outer_blocks_are_the_same_in_any_order(points: FloatArray, most: int, seed: int) -> None:
    cuts = block_cuts(points, most)
    blocks = block_of(points, cuts)
    shuffled = np.random.default_rng(seed).permutation(len(points))
    for before, after in zip(cuts, block_cuts(points[shuffled], most), strict=True):
        assert np.array_equal(before, after)
    sizes = np.bincount(blocks)
    assert np.array_equal(sizes, cuts.rows[cuts.block >= 0])
    for block in np.flatnonzero(sizes > most):  # too many equal values in every column to be cut
        inside = points[blocks == block]
        assert all(np.unique(column, return_counts=True)[1].max() * 10 > 8 * len(inside) for column in inside.T)
    assert (10 * sizes >= np.minimum(most, len(points))).all()


def test_outer_blocks_are_about_halves_whatever_the_scale() -> None:
    points = np.exp(9 * np.random.default_rng(0).normal(size=(5000, 2)))  # nearly all in the first of even intervals
    assert np.bincount(block_of(points, block_cuts(points, 1000))).min() > 560


@pytest.mark.parametrize("drawn", [400_000, 1000])
def test_nothing_crosses_an_outer_block(monkeypatch: pytest.MonkeyPatch, drawn: int) -> None:
    monkeypatch.setattr(microaggregation, "MOST_ROWS", 700)
    monkeypatch.setattr("shoal.methods.blocks.DRAWN", drawn)
    points = table("random", 3000, 3, 8)
    names = ("a", "b", "c")
    rows, method = Table.of(dict(zip(names, points.T))), microaggregation.MdavLarge(k=4)
    roles, chance = Roles(quasi=names), chance_for(3)
    plan = method.blocks(rows, roles, chance)
    blocks = plan.block_of(rows)
    assert 4 <= plan.many == blocks.max() + 1
    assert np.bincount(blocks).max() <= 900
    released = method.protect(rows, roles, chance)
    groups = np.unique(released.table.numbers(names), axis=0, return_inverse=True)[1].reshape(-1)
    check_sizes(groups, 3000, 4)
    assert len(set(zip(groups.tolist(), blocks[released.source_row].tolist(), strict=True))) == groups.max() + 1
    shuffled = np.random.default_rng(1).permutation(3000)
    again = method.protect(rows.take(shuffled), roles, chance)
    assert np.array_equal(again.table.numbers(names), released.table.numbers(names))


def test_a_cut_that_leaves_too_few_rows_is_not_made() -> None:
    points = table("random", 1000, 2, 5)
    cuts = block_cuts(points, 100)
    many = np.bincount(block_of(points, cuts))
    assert np.array_equal(block_of(points, without_small_blocks(cuts, many, 1)), block_of(points, cuts))
    fewer = without_small_blocks(cuts, many, 150)
    again = np.bincount(block_of(points, fewer))
    assert again.min() >= 150
    assert again.sum() == 1000
    assert not block_of(points, without_small_blocks(cuts, many, 600)).any()


def test_large_groups_are_about_as_good_as_mdav() -> None:
    points = table("random", 6000, 4, 3)
    for k in (3, 10):
        assert sse(points, mdav_large_groups(points, k)) < 1.05 * sse(points, mdav_groups(points, k))


@unhurried
@given(st.lists(st.one_of(st.integers(-5, 5).map(float), st.floats(-1e3, 1e3)), min_size=1, max_size=16), st.integers(1, 4))
def test_one_column_is_grouped_as_well_as_can_be(values: list[float], k: int) -> None:
    column = np.array(values)
    ordered = np.sort(column)
    n = len(column)

    @cache
    def best(stop: int) -> float:
        if stop == 0:
            return 0.0
        runs = (best(begin) + float(((ordered[begin:stop] - ordered[begin:stop].mean()) ** 2).sum()) for begin in range(stop - k + 1))
        return min(runs, default=np.inf)

    groups = optimal_univariate_groups(column, k)
    fixed = fixed_univariate_groups(column, k)
    check_sizes(groups, n, k)
    check_sizes(fixed, n, k)
    assert (np.diff(groups[np.argsort(column, kind="stable")]) >= 0).all()
    assert sse(column[:, None], fixed) >= sse(column[:, None], groups) - 1e-6
    if n >= k:
        assert sse(column[:, None], groups) == pytest.approx(best(n), rel=1e-9, abs=1e-6)
