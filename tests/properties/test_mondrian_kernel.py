"""Whatever the table and the rule: every group keeps what was asked, rows may come in any order, and strict Mondrian stops only when it must."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.cells import group_ranges, group_values, ncp
from shoal.kernels.mondrian import mondrian_groups

unhurried = settings(deadline=None, max_examples=120, derandomize=True)  # the first example pays for compiling


class Case(NamedTuple):
    codes: NDArray[np.int32]
    ordered: NDArray[np.bool_]
    positions: list[NDArray[np.float64]]
    k: int
    target: NDArray[np.int64]
    sensitive: NDArray[np.int64]


def case(n: int, d: int, k: int, most: int, classes: int, secrets: int, seed: int) -> Case:
    """Columns of 1 to `most` codes, some with missing values, some of whose codes hold for most rows, and duplicated rows."""
    rng = np.random.default_rng(seed)
    codes = np.empty((n, d), np.int32)
    positions = []
    ordered = rng.random(d) < 0.6
    for j in range(d):
        size = int(rng.integers(1, most + 1))
        codes[:, j] = np.minimum(rng.integers(0, size, n), rng.integers(0, size, n)) if rng.random() < 0.5 else rng.integers(0, size, n)
        place = np.cumsum(rng.integers(0, 5, size)).astype(float)
        if ordered[j] and rng.random() < 0.4:
            place[-1] = np.nan
        positions.append(place)
    codes = codes[rng.integers(0, n, n)] if rng.random() < 0.5 else codes
    target = (codes[:, 0] + rng.integers(0, classes, n)) % classes
    return Case(codes, ordered, positions, min(k, n), target, rng.integers(0, secrets, n))


cases = st.builds(
    case,
    n=st.integers(1, 150),
    d=st.integers(1, 5),
    k=st.integers(1, 20),
    most=st.sampled_from([2, 6, 2000]),  # 2000: more codes than rows, which are sorted instead of tabulated
    classes=st.integers(1, 4),
    secrets=st.integers(1, 5),
    seed=st.integers(0, 2**31),
)
rules = st.sampled_from(["widest", "gain", "variance", "gain, ratio and narrowing", "variance, ratio and narrowing"])


def grouped(c: Case, rule: str, rows: Any = slice(None), **more: Any) -> NDArray[np.int64]:
    name = rule.split(",")[0]
    if name != rule:
        more = {**more, "ratio": 1.0, "narrowing": 0.1}
    target = c.target[rows] if name == "gain" else c.target[rows] * 0.1
    groups = mondrian_groups(c.codes[rows], c.ordered, c.positions, c.k, rule=name, target=target, classes=4, **more)  # type: ignore[arg-type]
    assert sorted(set(groups.tolist())) == list(range(int(groups.max()) + 1))
    return groups


def distance(part: NDArray[np.int64], whole: NDArray[np.int64], by_order: bool) -> float:
    """t-closeness from its definition."""
    values = np.unique(whole)
    p = np.array([(part == v).mean() for v in values])
    q = np.array([(whole == v).mean() for v in values])
    return float(np.abs(np.cumsum(p - q)).sum() / max(len(values) - 1, 1) if by_order else np.abs(p - q).sum() / 2)


def diversity(part: NDArray[np.int64]) -> tuple[int, float]:
    share = np.unique(part, return_counts=True)[1] / len(part)
    return len(share), float(np.exp(-(share * np.log(share)).sum()))


@unhurried
@given(cases, rules)
def test_groups_keep_k_and_equal_rows_stay_together(c: Case, rule: str) -> None:
    before = c.codes.copy()
    groups = grouped(c, rule)
    assert np.array_equal(c.codes, before)
    assert np.bincount(groups).min() >= c.k
    pairs = np.unique(np.column_stack([c.codes, groups]), axis=0)
    assert len(pairs) == len(np.unique(c.codes, axis=0))


@unhurried
@given(cases, rules, st.integers(0, 2**31))
def test_the_order_of_rows_does_not_matter(c: Case, rule: str, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(len(c.codes))
    assert np.array_equal(grouped(c, rule)[rows], grouped(c, rule, rows))
    demands = {"l": min(2, len(np.unique(c.sensitive))), "t": 0.3}
    assert np.array_equal(
        grouped(c, rule, sensitive=c.sensitive, **demands)[rows], grouped(c, rule, rows, sensitive=c.sensitive[rows], **demands)
    )


@unhurried
@given(cases, st.integers(0, 2**31), st.floats(0, 1))
def test_rows_cut_against_are_not_grouped_and_come_in_any_order(c: Case, seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    mine = rng.random(len(c.codes)) < share
    if mine.sum() < c.k:
        return
    codes, others, target = c.codes[mine], c.codes[~mine], c.target[mine]
    for narrowing in (0.0, 0.1):
        words: dict[str, Any] = {"rule": "gain", "classes": 4, "narrowing": narrowing}
        groups = mondrian_groups(codes, c.ordered, c.positions, c.k, target=target, against=others, **words)
        assert len(groups) == len(codes)
        assert np.bincount(groups).min() >= c.k
        rows, more = rng.permutation(len(codes)), rng.permutation(len(others))
        again = mondrian_groups(codes[rows], c.ordered, c.positions, c.k, target=target[rows], against=others[more], **words)
        assert np.array_equal(groups[rows], again)
        none = mondrian_groups(codes, c.ordered, c.positions, c.k, target=target, against=others[:0], **words)
        assert np.array_equal(none, mondrian_groups(codes, c.ordered, c.positions, c.k, target=target, **words))


@unhurried
@given(cases, rules, st.sampled_from(["l", "entropy_l", "t", "t ordered", "all", "all ordered"]), st.floats(0.05, 0.95))
def test_every_group_is_as_diverse_and_as_close_as_asked(c: Case, rule: str, kind: str, strictness: float) -> None:
    different, effective = diversity(c.sensitive)
    demands: dict[str, Any] = {"l": 1 + int(strictness * different), "entropy_l": 1 + strictness * (effective - 1), "t": strictness / 3}
    if not kind.startswith("all"):
        demands = {kind.split()[0]: demands[kind.split()[0]]}
    demands["l"] = min(demands.get("l", 1), different)
    by_order = kind.endswith("ordered")
    groups = grouped(c, rule, sensitive=c.sensitive, t_ordered=by_order, **demands)
    assert np.bincount(groups).min() >= c.k
    for g in range(groups.max() + 1):
        assert keeps(c.sensitive[groups == g], c.sensitive, by_order, **demands)
    if rule == "widest":
        check_nothing_left_to_cut(c, groups, by_order, demands)


def keeps(part: NDArray[np.int64], whole: NDArray[np.int64], by_order: bool, l: int = 1, entropy_l: float = 1, t: float = 1) -> bool:  # noqa: E741
    different, effective = diversity(part)
    return different >= l and effective >= entropy_l - 1e-9 and distance(part, whole, by_order) <= t + 1e-9


def check_nothing_left_to_cut(c: Case, groups: NDArray[np.int64], by_order: bool, demands: dict[str, Any]) -> None:
    for g in range(groups.max() + 1):
        rows = np.flatnonzero(groups == g)
        for j in range(c.codes.shape[1]):
            for v in np.unique(c.codes[rows, j])[:-1]:
                left = c.codes[rows, j] <= v
                sides = [c.sensitive[rows[left]], c.sensitive[rows[~left]]]
                assert min(map(len, sides)) < c.k or not all(keeps(side, c.sensitive, by_order, **demands) for side in sides)


@unhurried
@given(cases)
def test_strict_mondrian_is_the_textbook_one(c: Case) -> None:
    groups = grouped(c, "widest")
    check_nothing_left_to_cut(c, groups, False, {})
    naive = np.empty_like(groups)
    for g, rows in enumerate(textbook(c, np.arange(len(c.codes)))):
        naive[rows] = g
    assert np.array_equal(groups, naive)


def textbook(c: Case, rows: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Strict Mondrian by recursion: the widest column that can be cut, at its most even cut."""
    for j in sorted(range(c.codes.shape[1]), key=lambda j: (-width(c, rows, j), j)):
        column = c.codes[rows, j]
        cuts = [(min((column <= v).sum(), (column > v).sum()), -v) for v in np.unique(column)[:-1]]
        if cuts and max(cuts)[0] >= c.k:
            left = column <= -max(cuts)[1]
            return textbook(c, rows[left]) + textbook(c, rows[~left])
    return [rows]


def width(c: Case, rows: NDArray[np.int64], j: int) -> float:
    """The share of column j's whole range that these rows span."""
    place, column = c.positions[j], np.unique(c.codes[rows, j])
    if not c.ordered[j]:
        return float((len(column) - 1) / max(len(place) - 1, 1))
    known = place[~np.isnan(place)]
    if np.isnan(place[column]).any():
        return float(len(column) > 1)
    whole = np.ptp(known)
    return float(np.ptp(place[column]) / (whole or 1))


@unhurried
@given(cases, rules)
def test_cells_say_what_groups_hold(c: Case, rule: str) -> None:
    groups = grouped(c, rule)
    lowest, highest = group_ranges(c.codes, groups)
    values = group_values(c.codes, groups)
    loss = np.zeros(c.codes.shape)
    for g in range(groups.max() + 1):
        rows = np.flatnonzero(groups == g)
        assert np.array_equal(lowest[g], c.codes[rows].min(axis=0))
        assert np.array_equal(highest[g], c.codes[rows].max(axis=0))
        for j, column in enumerate(values):
            code, count = np.unique(c.codes[rows, j], return_counts=True)
            assert np.array_equal(column.code[column.start[g] : column.start[g + 1]], code)
            assert np.array_equal(column.rows[column.start[g] : column.start[g + 1]], count)
            loss[rows, j] = width(c, rows, j)
    whole, per_column = ncp(c.codes, groups, c.ordered, c.positions)
    assert per_column == pytest.approx(loss.mean(axis=0))
    assert whole == pytest.approx(loss.mean())


@unhurried
@given(cases)
def test_gain_takes_a_cut_no_worse_than_any_along_the_codes(c: Case) -> None:
    """With k just below half, the tree has one cut or none; it must gain at least what every allowable cut along the codes gains."""
    n = len(c.codes)
    k = max(n // 3 + 1, 1)
    target = c.target % 2
    groups = mondrian_groups(c.codes, c.ordered, c.positions, k, rule="gain", target=target, classes=2)

    def entropy(part: NDArray[np.int64]) -> float:
        return float(np.log(diversity(part)[1]) * len(part))

    after = sum(entropy(target[groups == g]) for g in range(groups.max() + 1))
    for j in range(c.codes.shape[1]):
        for v in np.unique(c.codes[:, j])[:-1]:
            left = c.codes[:, j] <= v
            if min(left.sum(), (~left).sum()) >= k:
                assert after <= entropy(target[left]) + entropy(target[~left]) + 1e-9
