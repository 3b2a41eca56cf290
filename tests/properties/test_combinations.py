"""Distinct combinations with the number of their records give what the table gives in which every record is written out."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.anti_unification import find_patterns, pattern_groups, satisfying_groups
from shoal.kernels.cells import group_values
from shoal.kernels.kactus import anonymize, anonymize_combinations
from shoal.kernels.masks import Demand, agreeing, mask_groups
from shoal.kernels.mondrian import mondrian_groups
from shoal.kernels.trees.c45 import grow, route

IntArray = NDArray[np.int64]

unhurried = settings(deadline=None, max_examples=100, derandomize=True)  # the first example pays for compiling


class Case(NamedTuple):
    codes: NDArray[np.int32]
    ordered: NDArray[np.bool_]
    positions: list[NDArray[np.float64]]
    target: IntArray
    sensitive: IntArray
    rows: IntArray
    k: int

    @property
    def records(self) -> IntArray:
        """The combination of each record."""
        return np.repeat(np.arange(len(self.rows)), self.rows)


def case(n: int, d: int, k: int, most: int, classes: int, often: int, seed: int) -> Case:
    """Combinations of quasi-identifiers, target and sensitive value; some agree in all quasi-identifiers, some have many records."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, d)
    codes = rng.integers(0, sizes, (n, d)).astype(np.int32)
    if rng.random() < 0.5:
        codes = codes[rng.integers(0, n, n)]
    positions = [np.cumsum(rng.integers(0, 4, size)).astype(float) for size in sizes]
    target = (codes[:, 0] + rng.integers(0, classes, n)) % classes
    rows = np.where(rng.random(n) < 0.2, rng.integers(1, often + 1, n), rng.integers(1, 3, n))
    return Case(codes, rng.random(d) < 0.6, positions, target, rng.integers(0, 3, n), rows, min(k, int(rows.sum())))


cases = st.builds(
    case,
    n=st.integers(1, 80),
    d=st.integers(1, 5),
    k=st.integers(1, 25),
    most=st.sampled_from([2, 6, 2000]),
    classes=st.integers(1, 4),
    often=st.sampled_from([1, 9, 60]),
    seed=st.integers(0, 2**31),
)
rules = st.sampled_from([("widest", 0.0, 0.0), ("gain", 0.0, 0.0), ("variance", 0.0, 0.0), ("gain", 1.0, 0.1), ("variance", 0.5, 0.1)])
demands = st.sampled_from([{}, {"l": 2}, {"entropy_l": 1.3}, {"t": 0.3}, {"t": 0.2, "t_ordered": True}, {"l": 2, "t": 0.4}])


@unhurried
@given(cases, rules, demands)
def test_mondrian(c: Case, how: tuple[Any, float, float], demand: dict[str, Any]) -> None:
    rule, ratio, narrowing = how
    words: dict[str, Any] = {"rule": rule, "classes": 4, "ratio": ratio, "narrowing": narrowing, **demand}
    target = c.target if rule == "gain" else c.target * 0.1
    written = c.records

    def grouped(rows: Any, many: IntArray | None) -> IntArray:
        given_secret = c.sensitive[rows] if demand else None
        return mondrian_groups(c.codes[rows], c.ordered, c.positions, c.k, target=target[rows], sensitive=given_secret, rows=many, **words)

    try:
        expected = grouped(written, None)
    except ValueError:  # the whole table is not diverse enough
        with pytest.raises(ValueError, match="whole table"):
            grouped(slice(None), c.rows)
        return
    groups = grouped(slice(None), c.rows)
    assert np.array_equal(groups[written], expected)


@unhurried
@given(cases, st.floats(0, 1), st.integers(0, 2**31))
def test_mondrian_against_other_rows(c: Case, share: float, seed: int) -> None:
    mine = np.random.default_rng(seed).random(len(c.codes)) < share
    if c.rows[mine].sum() < c.k:
        return
    words: dict[str, Any] = {"rule": "gain", "classes": 4, "narrowing": 0.1}
    groups = mondrian_groups(
        *(c.codes[mine], c.ordered, c.positions, c.k),
        **words,
        target=c.target[mine],
        against=c.codes[~mine],
        rows=c.rows[mine],
        against_rows=c.rows[~mine],
    )
    written = c.records[mine[c.records]]
    others = c.codes[c.records[~mine[c.records]]]
    expected = mondrian_groups(c.codes[written], c.ordered, c.positions, c.k, **words, target=c.target[written], against=others)
    assert np.array_equal(np.repeat(groups, c.rows[mine]), expected)


@unhurried
@given(cases, st.sampled_from(["stop", "fractions"]), st.sampled_from([None, 0.25, 0.5]), st.booleans())
def test_trees(c: Case, missing: Any, confidence: float | None, with_missing: bool) -> None:
    codes, written = c.codes + (0 if with_missing else 1), c.records
    ours = grow(codes, c.ordered, c.target, 4, c.k, confidence, missing=missing, rows=c.rows)
    expected = grow(codes[written], c.ordered, c.target[written], 4, c.k, confidence, missing=missing)
    for mine, other in zip(ours, expected):
        assert np.array_equal(mine, other)
        assert mine.dtype == other.dtype


@unhurried
@given(cases, st.booleans(), st.integers(1, 2), st.integers(0, 2**31))
def test_kactus(c: Case, rescue: bool, l: int, seed: int) -> None:  # noqa: E741
    rng, written = np.random.default_rng(seed), c.records
    codes = c.codes + 1
    tree = grow(codes, c.ordered, c.target, 4, 1, None, rows=c.rows)
    node, draws = route(tree, codes, c.ordered), rng.random(len(written))
    diverse = min(l, len(np.unique(c.sensitive)))
    at = anonymize(tree.parent, node[written], c.k, draws, c.sensitive[written], diverse, 1.0, rescue)
    parts = anonymize_combinations(tree.parent, node, c.rows, c.k, draws, c.sensitive, diverse, 1.0, rescue)
    triples = list(zip(*(part.tolist() for part in parts)))
    assert triples == sorted(triples)
    assert {(i, v): records for i, v, records in triples} == Counter(zip(written.tolist(), at.tolist()))


@unhurried
@given(cases, st.integers(0, 2**31))
def test_values_of_groups(c: Case, seed: int) -> None:
    groups = np.unique(np.random.default_rng(seed).integers(0, 5, len(c.codes)), return_inverse=True)[1].reshape(-1)
    codes = c.codes * np.int32(1 + seed % 2 * 100_000)  # codes so large that pairs of group and code are sorted
    for mine, other in zip(group_values(codes, groups, c.rows), group_values(codes[c.records], groups[c.records])):
        assert all(np.array_equal(a, b) for a, b in zip(mine, other))


asked = st.sampled_from([(1, 1.0, 1.0, False), (2, 1.0, 1.0, False), (1, 1.3, 1.0, False), (1, 1.0, 0.3, False), (1, 1.0, 0.3, True)])
orders = st.sampled_from([(("<", ">"), "once"), ((">", "<"), "until-nothing")])


def demanded(c: Case, asks: tuple[int, float, float, bool]) -> tuple[Demand, Demand]:
    """The demand on combinations, and on records."""
    secret = np.unique(c.sensitive, return_inverse=True)[1].reshape(-1).astype(np.int32)
    share = np.bincount(secret, c.rows) / c.rows.sum()
    diverse = (min(asks[0], len(share)), min(asks[1], float(np.exp(-(share * np.log(share)).sum()))), *asks[2:])
    return Demand(c.k, secret, *diverse), Demand(c.k, secret[c.records], *diverse)


@unhurried
@given(cases, asked)
def test_masks(c: Case, asks: tuple[int, float, float, bool]) -> None:
    mine, written = demanded(c, asks)
    groups = agreeing(c.codes, mine, c.rows)
    assert np.array_equal(groups[c.records], agreeing(c.codes[c.records], written))


@unhurried
@given(cases, orders, st.integers(0, 5), st.integers(0, 2**31))
def test_patterns(c: Case, order: Any, keep: int, seed: int) -> None:
    draws, written, keep = np.random.default_rng(seed).integers(0, 9, len(c.codes)) / 9, c.records, min(keep, c.codes.shape[1])
    ours = find_patterns(c.codes, c.target, c.k, keep, *order, draws, c.rows)
    expected = find_patterns(c.codes[written], c.target[written], c.k, keep, *order, draws[written])
    assert np.array_equal(ours.shown, expected.shown)
    assert np.array_equal(ours.row, written[expected.row])
    assert np.array_equal(ours.support, expected.support)
    assert np.array_equal(ours.satisfied[written], expected.satisfied)


@unhurried
@given(cases, asked, orders, st.integers(0, 2**31))
def test_groups_by_pattern(c: Case, asks: tuple[int, float, float, bool], order: Any, seed: int) -> None:
    draws, (mine, written) = np.random.default_rng(seed).random(len(c.codes)), demanded(c, asks)
    groups = satisfying_groups(c.codes, mine, *order, draws, c.rows)
    assert np.array_equal(groups[c.records], satisfying_groups(c.codes[c.records], written, *order, draws[c.records]))


@unhurried
@given(cases, asked, orders, st.booleans(), st.integers(0, 2**31))
def test_with_what_joined_every_group_keeps_the_demand(
    c: Case, asks: tuple[int, float, float, bool], order: Any, by_mask: bool, seed: int
) -> None:
    draws, (mine, written) = np.random.default_rng(seed).random(len(c.codes)), demanded(c, asks)
    groups = mask_groups(c.codes, mine, draws, c.rows) if by_mask else pattern_groups(c.codes, mine, *order, draws, c.rows)
    assert sorted(set(groups.tolist())) == list(range(int(groups.max()) + 1))
    assert written.allowed(groups[c.records], np.arange(len(c.records))).all()
