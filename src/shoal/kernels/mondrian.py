"""Mondrian: a table cut in two again and again, each time between two values of one column, while both sides keep k records.

Strict Mondrian (LeFevre, DeWitt & Ramakrishnan, ICDE 2006) cuts the widest column nearest its median. Workload-aware Mondrian (the same,
KDD 2006) cuts where a target becomes most predictable: by information gain when it is a class, by weighted variance when it is a number.
Equal values never part, so equal rows end in one group, and groups follow from the values alone, not from the order of rows.

So a row need not be one record: it may be a combination of values with the number of records that share it.

The table is kept column by column, and the rows of a node lie side by side in every column: a node is a range, cutting it is a stable
partition of that range, and whatever is known about rows (their records, their target, their sensitive values, their number) is moved as
one more column.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, scale_of
from shoal.kernels.cuts import GAIN, GRID, VARIANCE, WIDEST, Columns, Worth, most_telling, new_work, widest
from shoal.kernels.diversity import CutDemand, cut_demand

Rule = Literal["widest", "gain", "variance"]

KINDS = {"widest": WIDEST, "gain": GAIN, "variance": VARIANCE}
MOST_RECORDS = 2**31 - 1  # of one row
FEW_CODES, ONE = 64, np.uint64(1)  # so few codes are the bits of one number


def mondrian_groups(
    codes: NDArray[Any],
    ordered: BoolArray,
    positions: Sequence[FloatArray],
    k: int,
    *,
    rule: Rule = "widest",
    target: NDArray[Any] | None = None,
    classes: int = 0,
    sensitive: NDArray[Any] | None = None,
    l: int | Sequence[int] = 1,  # noqa: E741
    entropy_l: float | Sequence[float] = 1.0,
    t: float | Sequence[float] = 1.0,
    t_ordered: bool | Sequence[bool] = False,
    ratio: float = 0.0,
    narrowing: float = 0.0,
    against: NDArray[Any] | None = None,
    rows: NDArray[Any] | None = None,
    against_rows: NDArray[Any] | None = None,
) -> IntArray:
    """The group of each row, numbered from the left of the tree to its right.

    codes: rows x columns, 0..m_j-1. rows: how many records each row stands for (None: one each); k and all else is counted in records, and
    groups are those of the table in which every row is written so many times. positions: for each column m_j numbers; in an ordered column
    the value each code stands for, rising, nan for missing, which is the last code; in a nominal column only their number counts, and
    "widest" cuts along the order of its codes, so the caller chooses an order in which neighbours belong together. "gain" and "variance"
    order a node's categories by their target instead.

    rule: "widest" takes the column with the largest share of its whole range (ties: the lowest column) that has an allowable cut, and there
    the most even one. "gain" takes the cut with the largest information gain on `target`, codes 0..classes-1; "variance" that with the
    largest fall of the variance of `target`, a number. Where no allowable cut helps the target, both go on as "widest": smaller groups still
    say more. Two additions of shoal's own to these two: the gain is divided by the entropy of the sides' sizes to the power `ratio` (1:
    Quinlan's gain ratio, under which a small side that is pure pays off), and `narrowing` is added for each record whose cell a cut narrows
    by its column's whole range, so that cuts in noise go where they say more about the records.

    against: codes of more rows (against_rows: their records), for "gain" alone, that are not grouped: one more class, which the groups' cells
    should leave out. A row of them counts in a node while it lies inside the node's cells, that is between the lowest and highest value of
    an ordered column and among the values of any other, and no longer when a cut has put it outside.

    A cut is allowable when both sides keep k records and, of the `sensitive` codes, l different ones, an entropy of log(entropy_l), and a
    distance to the whole table of at most t (total variation; t_ordered: earth mover's over the order of codes that occur). `sensitive` may
    have several columns, with l, entropy_l, t and t_ordered for all of them or one for each; a code of -1 counts for nothing.
    """
    many = records_of(rows, len(codes))
    _check(codes, ordered, positions, k, many)
    kind = KINDS[rule]
    _check_target(rule, target, classes, against, codes)
    if not len(codes):
        return np.zeros(0, np.int64)
    # None where nothing is demanded, or nothing told: numba then leaves out the code for it, which takes longest to compile
    secrets, demand = cut_demand(sensitive, many, l, entropy_l, t, t_ordered)
    _check_room(positions, demand, len(codes))
    last = [] if target is None or kind == WIDEST else [target if kind == GAIN else _on_grid(target)]
    last += secrets
    data = _by_column(codes, [many, np.arange(len(codes)), *last])
    others = np.zeros((codes.shape[1] + 1, 0), np.int32)
    if against is not None:
        others = _by_column(against, [records_of(against_rows, len(against))])
    worth = Worth(float(ratio), float(narrowing)) if kind != WIDEST else None
    return np.asarray(_mondrian(data, others, _columns(ordered, positions), k, demand, worth, kind, max(classes, 1) if kind == GAIN else 1))


def _check(codes: NDArray[Any], ordered: BoolArray, positions: Sequence[FloatArray], k: int, rows: IntArray) -> None:
    """Whether the columns are described and the records enough for k."""
    n, d = codes.shape
    if len(ordered) != d or len(positions) != d:
        raise ValueError(f"There are {d} columns of codes, but {len(ordered)} marks of order and {len(positions)} tables of positions.")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}.")
    if n and rows.sum() < k:
        raise ValueError(f"There are {rows.sum()} rows, fewer than k = {k}.")
    for j in range(d if n else 0):
        if codes[:, j].min() < 0 or codes[:, j].max() >= len(positions[j]):
            raise ValueError(f"Column {j} has codes outside 0..{len(positions[j]) - 1}, of which there are positions.")


def _check_room(positions: Sequence[FloatArray], demand: CutDemand | None, n: int) -> None:
    """Values, sensitive codes and rows are numbered together, in 63 bits."""
    if demand is not None and max(map(len, positions), default=0) * int(demand.extras.max()) * 2 * n >= 2**63:
        raise ValueError("A column and a sensitive column have too many values together for so many rows.")


def _check_target(rule: Rule, target: NDArray[Any] | None, classes: int, against: NDArray[Any] | None, codes: NDArray[Any]) -> None:
    """Whether the rule has the target it needs."""
    n, d = codes.shape
    if rule != "widest" and (target is None or len(target) != n):
        raise ValueError(f'The rule "{rule}" needs a target for each of the {n} rows.')
    if n and rule == "gain" and target is not None and (target.dtype.kind not in "iub" or target.min() < 0 or target.max() >= classes):
        raise ValueError(f"Targets must be codes 0..{classes - 1}.")
    if against is not None and (rule != "gain" or against.ndim != 2 or against.shape[1] != d):
        raise ValueError(f'Rows to cut against need the rule "gain" and {d} columns.')


def _by_column(codes: NDArray[Any], more: Sequence[NDArray[Any]]) -> Int32Array:
    """The columns and what else is known of each row, its records first, one after the other in memory."""
    if more[0].max(initial=0) > MOST_RECORDS:
        raise ValueError(f"A row stands for more than {MOST_RECORDS:,} records: write it as several rows with a part of them each.")
    d = codes.shape[1]
    data = np.empty((d + len(more), len(codes)), np.int32)
    data[:d] = codes.T
    for at, column in enumerate(more, d):
        data[at] = column
    return data


def _columns(ordered: BoolArray, positions: Sequence[FloatArray]) -> Columns:
    scales = [scale_of(np.asarray(p, dtype=np.float64), bool(o)) for p, o in zip(positions, ordered)]
    return Columns(
        np.ascontiguousarray(ordered, dtype=np.bool_),
        np.cumsum([0] + [len(place) for place, _ in scales]).astype(np.int64),
        np.concatenate([place for place, _ in scales] + [np.zeros(0)]),
        np.array([width for _, width in scales], dtype=np.float64),
    )


def _on_grid(target: NDArray[Any]) -> NDArray[Any]:
    number = target.astype(np.float64)
    if not np.isfinite(number).all():
        raise ValueError("A numeric target must be finite: leave out rows that lack it.")
    low, high = number.min(), number.max()
    return np.rint((number - low) / (high - low) * GRID) if high > low else np.zeros(len(number))


class _Seen(NamedTuple):
    """Which codes a node has."""

    bits: NDArray[np.uint64]  # of a column with few codes
    node_of: IntArray  # of any other: the last node that had a code, which needs no clearing


@njit(cache=True)
def _mondrian(data, others, columns, k, demand, worth, rule, classes):
    d, n = len(columns.ordered), data.shape[1]
    records, every = data[d], np.ones(d + 1, np.bool_)
    work = new_work(n, records.sum() + others[d].sum(), columns, demand, rule, classes)
    seen = _Seen(np.zeros(d, np.uint64), np.full(columns.offset[d], -1))
    left_of = np.zeros(columns.offset[d], np.uint8)
    room = max(n, others.shape[1])
    goes_left, order, spare = np.empty(room, np.uint8), np.empty(room, np.uint32), np.empty(room, np.int32)
    width, lowest, highest = np.empty(d), np.empty(d, np.int64), np.empty(d, np.int64)
    differs = np.ones(len(data), np.bool_)
    groups = np.empty(n, np.int64)
    stack = np.empty((min(n, records.sum() // k) + 2, 4), np.int64)
    _push(stack, 0, 0, n, 0, others.shape[1])
    waiting, group, node = 1, 0, 0
    while waiting:
        waiting -= 1
        a, b, oa, ob = stack[waiting, 0], stack[waiting, 1], stack[waiting, 2], stack[waiting, 3]
        column, cut, values = -1, 0, np.empty(0, np.int64)
        size = records[a:b].sum()
        if size >= 2 * k:
            node += 1
            _measure(data, a, b, columns, node, seen, width, lowest, highest)
            if ob > oa:
                _mark_inside(others, oa, ob, columns, node, seen, lowest, highest, goes_left)
                ob = _part(others, oa, ob, goes_left, order, spare, every)
            if worth is not None:
                column, cut, values = most_telling(
                    data, a, b, size, others[:, oa:ob], columns, k, demand, worth, rule, classes, lowest, highest, work
                )
            if column < 0:
                column, cut, values = widest(data, a, b, size, columns, k, demand, width, lowest, highest, work)
        if column < 0:
            for i in range(a, b):
                groups[data[d + 1, i]] = group
            group += 1
            continue
        marks = left_of[columns.offset[column] : columns.offset[column + 1]]
        for v in values[:cut]:
            marks[v] = 1
        for i in range(a, b):
            goes_left[i] = marks[data[column, i]]
        for j in range(d):
            differs[j] = lowest[j] < highest[j]
        middle = _part(data, a, b, goes_left, order, spare, differs)
        for i in range(oa, ob):
            v = others[column, i]
            goes_left[i] = v <= values[cut - 1] if columns.ordered[column] else marks[v]
        between = _part(others, oa, ob, goes_left, order, spare, every)
        for v in values[:cut]:
            marks[v] = 0
        _push(stack, waiting, middle, b, between, ob)  # the right side waits; the left side, on top, is next
        _push(stack, waiting + 1, a, middle, oa, between)
        waiting += 2
    return groups


@njit(cache=True, inline="always")
def _push(stack, at, a, b, oa, ob):
    """Cell by cell: what numba compiles to copy a row takes two seconds."""
    stack[at, 0], stack[at, 1], stack[at, 2], stack[at, 3] = a, b, oa, ob


@njit(cache=True)
def _part(data, a, b, goes_left, order, spare, differs):
    """Rows a..b that go left to the front, both sides in their order, in every column that has more than one value there."""
    left, n = goes_left[a:b], np.uint64(b - a)  # unsigned, or each index is first looked at for being below zero
    front, back = np.uint64(0), np.uint64(0)
    for i in range(n):
        back += left[i]
    middle = a + np.int64(back)
    for i in range(n):
        order[front if left[i] else back] = i
        front += left[i]
        back += ONE - left[i]
    for row in range(len(data)):
        if differs[row]:
            mine = data[row, a:b]
            for i in range(n):
                spare[i] = mine[np.uint64(order[i])]
            for i in range(n):  # not as a slice, see _push
                mine[i] = spare[i]
    return middle


@njit(cache=True)
def _mark_inside(others, a, b, columns, node, seen, lowest, highest, inside):
    """Which of the rows a..b to cut against lie in the node's cells."""
    inside[a:b] = 1
    for j in range(len(lowest)):
        at, is_ordered, few = columns.offset[j], columns.ordered[j], columns.offset[j + 1] - columns.offset[j] <= FEW_CODES
        for i in range(a, b):
            v = others[j, i]
            if not lowest[j] <= v <= highest[j]:
                inside[i] = 0
            elif not is_ordered:
                inside[i] &= (seen.bits[j] >> np.uint64(v)) & ONE if few else seen.node_of[at + v] == node


@njit(cache=True)
def _measure(data, a, b, columns, node, seen, width, lowest, highest):
    """Each column's lowest and highest code in the node, and its width as a share of the whole."""
    for j in range(len(width)):
        column, at, distinct = data[j, a:b], columns.offset[j], np.int64(0)
        if columns.offset[j + 1] - at <= FEW_CODES:
            bits = np.uint64(0)
            for v in column:
                bits |= ONE << np.uint64(v)
            seen.bits[j] = bits
            lowest[j], highest[j], distinct = _ones(~bits & (bits - ONE)), _ones(_filled(bits)) - 1, _ones(bits)
        else:
            low, high = column[0], column[0]
            for v in column:
                low = min(low, v)
                high = max(high, v)
            lowest[j], highest[j] = low, high
            if not columns.ordered[j]:
                for v in column:
                    distinct += seen.node_of[at + v] != node
                    seen.node_of[at + v] = node
        width[j] = columns.place[at + highest[j]] - columns.place[at + lowest[j]] if columns.ordered[j] else distinct - 1
        width[j] = min(1.0, width[j] / columns.whole[j])


@njit(cache=True)
def _filled(bits):
    """The bits, and all below the highest of them."""
    for step in (1, 2, 4, 8, 16, 32):
        bits |= bits >> np.uint64(step)
    return bits


@njit(cache=True)
def _ones(bits):
    """How many bits are set: in pairs, in fours, in bytes, then all bytes added up."""
    bits -= (bits >> ONE) & np.uint64(0x5555555555555555)
    bits = (bits & np.uint64(0x3333333333333333)) + ((bits >> np.uint64(2)) & np.uint64(0x3333333333333333))
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))
