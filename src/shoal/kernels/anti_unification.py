"""Anti-unification: what a set of records agrees on is its pattern, and a set whose pattern is too short is parted by its attributes.

Armengol & Torra's Analyze-partition and Analyze-set. Columns hold codes 0..m_j-1; missing is a code like any other. A set of records is the
records of one class that hold certain values, so it is known by its class and its pattern: whatever way leads to it again, it is looked at
once. Its records lie side by side, and parting it moves them inside its own range.

Records that agree in class and all columns are never parted, so a row may be a combination of values with the number of records that share
it: `rows` says how many, None one each.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.masks import Demand, joined

Condition = Literal["<", ">"]
Passes = Literal["once", "until-nothing"]

FIRST_LIMIT = 2  # indifferent columns, as in the paper


class FoundPatterns(NamedTuple):
    """What each pattern shows, a row that satisfies it, and how many records do; and for each row how many patterns it satisfies."""

    shown: BoolArray  # patterns x columns
    row: IntArray
    support: IntArray
    satisfied: IntArray


def anti_unify(codes: NDArray[Any]) -> BoolArray:
    """Which columns all the rows agree on."""
    return np.asarray((codes == codes[:1]).all(axis=0))


def find_patterns(
    codes: NDArray[Any],
    classes: IntArray,
    k: int,
    keep: int,
    conditions: Sequence[Condition],
    passes: Passes,
    draws: FloatArray,
    rows: NDArray[Any] | None = None,
) -> FoundPatterns:
    """The patterns of k records and more that keep at least `keep` columns, in the order they were found.

    classes: the correct partition; a class of fewer than k records is rejected. A set that keeps too few columns is parted by every column that
    parts it into the fewest ("<") or the most (">") sets; parts below k are given up. Rows that satisfy no pattern go to the next condition;
    under "until-nothing" a condition is repeated while it finds anything. draws: a number per row, by which a pattern's own row is chosen
    among those it was found for, preferably one with a record that is no other pattern's.
    """
    n, d = codes.shape
    if not 0 <= keep <= d:
        raise ValueError(f"Patterns keep 0 to {d} of the {d} columns, not {keep}.")
    if len(classes) != n or len(draws) != n:
        raise ValueError(f"There are {n} rows, but {len(classes)} classes and {len(draws)} draws.")
    small = np.uint8 if codes.max(initial=0) < 256 else np.int32  # rows are read in any order, so the fewer bytes the better
    data, labels = np.ascontiguousarray(codes, dtype=small), np.ascontiguousarray(classes, dtype=np.int64)
    offset = np.concatenate(([0], np.cumsum(codes.max(axis=0, initial=0).astype(np.int64) + 1)))
    order = np.argsort(labels, kind="stable")
    many = records_of(rows, n)
    found, taken = np.zeros(n, np.bool_), np.zeros(n, np.int64)
    shown, own = [np.zeros((0, d), np.bool_)], [np.zeros(0, np.int64)]
    for condition in conditions:
        while True:
            order = order[~found[order]]
            starts = np.append(np.flatnonzero(np.diff(labels[order], prepend=-1)), len(order))
            made = _analyze(data, labels, offset, order, starts, many, k, keep, condition == ">", draws, found, taken)
            shown.append(made[0])
            own.append(made[1])
            if passes == "once" or not len(made[1]):
                break
    every, row = np.concatenate(shown), np.concatenate(own)
    return FoundPatterns(every, row, *satisfying(data, labels, every, row, None if rows is None else many))


def satisfying(
    codes: NDArray[Any], classes: IntArray, shown: BoolArray, row: IntArray, rows: IntArray | None = None
) -> tuple[IntArray, IntArray]:
    """How many records satisfy each pattern (its class too), and how many patterns each row satisfies. No two patterns may be equal."""
    support, satisfied = np.zeros(len(row), np.int64), np.zeros(len(codes), np.int64)
    for match in _matches(codes, classes, shown, row):
        satisfies = match >= 0
        support += tally(match[satisfies], None if rows is None else rows[satisfies], len(row))
        satisfied += satisfies
    return support, satisfied


def _matches(codes: NDArray[Any], classes: IntArray, shown: BoolArray, row: IntArray) -> Iterator[IntArray]:
    """For each choice of columns that patterns show, the one such pattern every row satisfies, or -1."""
    masks, mask = np.unique(shown, axis=0, return_inverse=True)
    for m in range(len(masks)):
        yield _look_up(codes, classes, np.flatnonzero(masks[m]), np.flatnonzero(mask.reshape(-1) == m), row)


def pattern_groups(
    codes: NDArray[Any],
    demand: Demand,
    conditions: Sequence[Condition],
    passes: Passes,
    draws: FloatArray,
    rows: NDArray[Any] | None = None,
) -> IntArray:
    """Groups by the same search without classes: every row goes to the longest of its patterns, the best supported of those.

    Groups that fall short of the demand dissolve, and their rows are searched again with one more indifferent column: two at first, all in
    the end. What is still left joins the group that loses least by it, a row with all its records. draws: one per row, as in `mask_groups`.
    """
    many = None if rows is None else records_of(rows, len(codes))
    groups = satisfying_groups(codes, demand, conditions, passes, draws, many)
    return joined(codes, np.unique(np.append(groups, -1), return_inverse=True)[1].reshape(-1)[:-1] - 1, demand, draws, many)


def satisfying_groups(
    codes: NDArray[Any],
    demand: Demand,
    conditions: Sequence[Condition],
    passes: Passes,
    draws: FloatArray,
    rows: IntArray | None = None,
) -> IntArray:
    """Groups of rows that satisfy one pattern each, some numbers unused; -1 for rows that are left."""
    n, d = codes.shape
    data, groups, made = np.ascontiguousarray(codes, dtype=np.int32), np.full(n, -1), 0
    for limit in range(min(FIRST_LIMIT, d), d + 1):
        left = np.flatnonzero(groups < 0)
        mine_rows = None if rows is None else rows[left]
        if (len(left) if mine_rows is None else mine_rows.sum()) < demand.k:
            break
        mine, one = data[left], np.zeros(len(left), np.int64)
        found = find_patterns(mine, one, demand.k, d - limit, conditions, passes, draws[left], mine_rows)
        order = np.lexsort((draws[left][found.row], -found.support, -found.shown.sum(axis=1)))
        rank = np.empty(len(order) + 1, np.int64)
        rank[order], rank[-1] = np.arange(len(order)), len(order)  # the last: no pattern
        best = np.full(len(left), len(order))
        for match in _matches(mine, one, found.shown, found.row):
            best = np.minimum(best, rank[match])
        inside = np.flatnonzero(best < len(order))
        if len(inside):
            dense = np.unique(best[inside], return_inverse=True)[1].reshape(-1)
            kept = demand.allowed(dense, left[inside], rows)[dense]
            groups[left[inside[kept]]] = made + dense[kept]
            made += int(dense.max()) + 1
    return groups


@njit(cache=True, inline="always")
def _mix(key, value):
    z = (key ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return z ^ (z >> np.uint64(29))


@njit(cache=True)
def _slots(least):
    """An empty table of open addressing that is at most half full with so many entries."""
    slots = 16
    while slots < 2 * least:
        slots *= 2
    return np.full(slots, -1)


@njit(cache=True)
def _look_up(codes, classes, columns, patterns, row):
    """Patterns that show the same columns: their own rows go into a table, then every row looks for its like there."""
    slots, match = _slots(len(patterns)), np.full(len(codes), -1)
    mask = np.uint64(len(slots) - 1)
    for i in range(-len(patterns), len(codes)):
        r = row[patterns[i + len(patterns)]] if i < 0 else i
        key = _mix(np.uint64(0), classes[r])
        for j in columns:
            key = _mix(key, codes[r, j])
        slot = (key ^ (key >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            like = row[slots[slot]]
            same = classes[like] == classes[r]
            for j in columns:
                same = same and codes[like, j] == codes[r, j]
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        if i < 0:
            slots[slot] = patterns[i + len(patterns)]
        else:
            match[r] = slots[slot]
    return match


@njit(cache=True)
def _analyze(codes, classes, offset, order, starts, rows, k, keep, most, draws, found, taken):
    """Analyze-set for every class, one after the other: what each pattern shows, and its row. Marks the rows found and those taken.

    The stack holds the sets on the way to the present one: range, agreement, columns still to part by, parts still to look at.
    """
    n, d = len(order), codes.shape[1]
    moved, spare, spare_row = codes[order], np.empty(n, np.int64), np.empty((n, d), codes.dtype)  # rows are moved with their numbers
    seen, part_of, part_records = np.full(offset[d], -1), np.empty(offset[d], np.int64), np.empty(n, np.int64)
    begin, end, waiting = np.zeros(d + 2, np.int64), np.zeros(d + 2, np.int64), np.zeros(d + 2, np.int64)
    agrees, pending, sets = np.zeros((d + 2, d), np.bool_), np.zeros((d + 2, d), np.bool_), np.empty(d, np.int64)
    parts = np.empty((d + 2, min(n, rows[order].sum() // k) + 1, 2), np.int64)
    shown, row, is_pattern = np.empty((64, d), np.bool_), np.empty(64, np.int64), np.zeros(64, np.bool_)  # sets met so far
    met, tick, slots = 0, 0, _slots(64)
    for c in range(len(starts) - 1):
        begin[0], end[0], depth, is_new = starts[c], starts[c + 1], 0, rows[order[starts[c] : starts[c + 1]]].sum() >= k
        agrees[0], pending[0], waiting[0] = False, False, 0
        while depth >= 0:
            a, b = begin[depth], end[depth]
            if is_new:
                is_new, tick = False, tick + 1
                _count_sets(moved, offset, a, b, agrees[depth], sets, seen, tick)
                if met == len(row):
                    shown, row = np.concatenate((shown, shown)), np.concatenate((row, row))
                    is_pattern, slots = np.concatenate((is_pattern, np.zeros(met, np.bool_))), _slots(2 * met)
                    for s in range(met):
                        slots[_slot(codes, classes, shown, row, slots, shown[s], row[s])] = s
                slot = _slot(codes, classes, shown, row, slots, agrees[depth], order[a])
                if slots[slot] < 0:  # not met before, on another way
                    slots[slot], shown[met], row[met] = met, agrees[depth], order[a]
                    is_pattern[met] = agrees[depth].sum() >= keep
                    if is_pattern[met]:
                        row[met] = _own_row(order, a, b, draws, rows, taken)
                        taken[row[met]] += 1
                        for i in range(a, b):
                            found[order[i]] = True
                    else:
                        chosen = 0
                        for j in range(d):
                            if not agrees[depth, j] and (chosen == 0 or (sets[j] > chosen if most else sets[j] < chosen)):
                                chosen = sets[j]
                        for j in range(d):
                            pending[depth, j] = not agrees[depth, j] and sets[j] == chosen
                    met += 1
            if waiting[depth] == 0:
                column = 0
                while column < d and not pending[depth, column]:
                    column += 1
                if column == d:
                    depth -= 1
                    continue
                pending[depth, column], tick = False, tick + 1
                at = offset[column]
                waiting[depth] = _part(
                    moved, at, column, order, a, b, rows, k, seen, part_of, part_records, tick, spare, spare_row, parts[depth]
                )
            else:
                waiting[depth] -= 1
                begin[depth + 1], end[depth + 1] = parts[depth, waiting[depth]]
                agrees[depth + 1], pending[depth + 1], waiting[depth + 1] = agrees[depth], False, 0
                depth, is_new = depth + 1, True
    return shown[:met][is_pattern[:met]], row[:met][is_pattern[:met]]


@njit(cache=True)
def _count_sets(moved, offset, a, b, agrees, sets, seen, tick):
    """How many sets each column would part the rows into; those that make one are agreed on. What the set came from agreed on is known."""
    d = moved.shape[1]
    for j in range(d):
        sets[j] = agrees[j]
    for i in range(a, b):
        for j in range(d):
            if not agrees[j]:
                code = offset[j] + moved[i, j]
                sets[j] += seen[code] != tick
                seen[code] = tick
    for j in range(d):
        agrees[j] = sets[j] == 1


@njit(cache=True)
def _slot(codes, classes, shown, row, slots, agrees, r):
    """Where a set stands in the table, or where it would: sets are the same when class, columns and values are."""
    d, mask = codes.shape[1], np.uint64(len(slots) - 1)
    key = _mix(np.uint64(0), classes[r])
    for j in range(d):
        if agrees[j]:
            key = _mix(_mix(key, j), codes[r, j])
    slot = (key ^ (key >> np.uint64(32))) & mask
    while slots[slot] >= 0:
        like = row[slots[slot]]
        same = classes[like] == classes[r]
        for j in range(d):
            same = same and shown[slots[slot], j] == agrees[j] and (not agrees[j] or codes[like, j] == codes[r, j])
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@njit(cache=True)
def _own_row(order, a, b, draws, rows, taken):
    """The row of least draw that has a record no pattern has yet; where all are taken, the least of all."""
    best = order[a]
    for i in range(a + 1, b):
        r = order[i]
        used_up, best_used_up = taken[r] >= rows[r], taken[best] >= rows[best]
        if used_up < best_used_up or (used_up == best_used_up and draws[r] < draws[best]):
            best = r
    return best


@njit(cache=True)
def _part(moved, at, column, order, a, b, rows, k, seen, part_of, part_records, tick, spare, spare_row, parts):
    """Put the rows of each value side by side, and list the ranges of those that have k records."""
    number = 0
    for i in range(a, b):
        code = at + moved[i, column]
        if seen[code] != tick:
            seen[code], part_of[code] = tick, number
            spare[number], part_records[number] = 0, 0
            number += 1
        spare[part_of[code]] += 1
        part_records[part_of[code]] += rows[order[i]]
    place, large, next_at = np.empty(number, np.int64), 0, a
    for p in range(number):
        place[p] = next_at
        next_at += spare[p]
        if part_records[p] >= k:
            parts[large] = place[p], next_at
            large += 1
    spare[a:b], spare_row[a:b] = order[a:b], moved[a:b]
    for i in range(a, b):
        p = part_of[at + spare_row[i, column]]
        order[place[p]], moved[place[p]] = spare[i], spare_row[i]
        place[p] += 1
    return large
