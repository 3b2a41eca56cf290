"""Groups of at least k records that show as many columns as can be: the fewest suppressed first, and of those the choice that serves most rows.

A mask is a choice of columns to suppress; rows that agree on all the others are a class of that mask. Masks are tried from none suppressed to
all. At each number of them the mask whose classes are allowed for most of the records left is taken, its classes become groups, and the others
are counted again without those rows. Few masks are counted twice: rows only leave, so (for k) an old count is never too low.

Rows that agree on all columns are in one class of every mask, so a row may be a combination of values with the number of records that share
it: `rows` says how many, None one each.
"""

import heapq
from collections.abc import Iterable, Sequence
from itertools import chain, combinations, groupby
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import group_ranges, group_values, records_of, tally
from shoal.kernels.diversity import SLACK, columns_of, of_each

MOST_MASKS = 128  # with up to nine columns all are tried; with more, those that grow out of the best with one less
MOST_PRICED = 1 << 12  # masks put in order of what they cost
DIRECT = 1 << 16  # combinations of values so few are counted in a table with a cell for each
MOST_PAIRS = 100_000_000  # of a row that is left and a group it might join


class Demand(NamedTuple):
    """What every group must keep: k records and, of the sensitive codes, l different ones, an entropy and a nearness to the whole table.

    There may be several sensitive columns, with what is asked for all of them or one for each.
    """

    k: int
    sensitive: Int32Array | None = None  # dense codes, -1 counting for nothing; None: only k is asked
    l: int | Sequence[int] = 1  # noqa: E741
    entropy: float | Sequence[float] = 1.0
    t: float | Sequence[float] = 1.0
    t_ordered: bool | Sequence[bool] = False

    def allowed(self, groups: IntArray, members: IntArray, rows: IntArray | None = None) -> BoolArray:
        """For each group of the rows named, whether it keeps everything."""
        mine = None if rows is None else rows[members]
        enough = tally(groups, mine) >= self.k
        if self.sensitive is None or not enough.any():
            return np.asarray(enough)
        codes, offset, whole, *limits = self.columns(len(self.sensitive), rows)
        for q, inside in enumerate(group_values(codes[members], groups, mine)):
            enough &= _diverse(inside, whole[offset[q] : offset[q + 1]], *(limit[q] for limit in limits))
        return np.asarray(enough)

    def columns(self, n: int, rows: IntArray | None = None) -> tuple[Any, ...]:
        """As compiled functions take it: the codes, 0 counting for nothing, where each column's shares of the table begin, these, the limits."""
        codes = (np.zeros((n, 1), np.int32) if self.sensitive is None else columns_of(self.sensitive, n)) + 1
        counts = [tally(column, rows, 1)[1:] for column in codes.T]
        s, offset = len(counts), np.cumsum([0] + [len(count) for count in counts])
        whole = np.concatenate([count / max(count.sum(), 1) for count in counts])
        limits = of_each(self.l, s), np.log(of_each(self.entropy, s)) - SLACK, of_each(self.t, s) + SLACK, of_each(self.t_ordered, s)
        return np.ascontiguousarray(codes), offset, whole, *limits


def mask_groups(codes: NDArray[Any], demand: Demand, draws: FloatArray, rows: NDArray[Any] | None = None) -> IntArray:
    """The group of each row. Nothing is left over when the whole table keeps the demand; draws (one per row) order what joins at the end.

    Before that end groups are those of the table in which every row is written as often as `rows` says. At the end a row joins with all its
    records, so that none is parted.
    """
    many = None if rows is None else records_of(rows, len(codes))
    return joined(codes, agreeing(codes, demand, many), demand, draws, many)


def agreeing(codes: NDArray[Any], demand: Demand, rows: IntArray | None = None, cost: FloatArray | None = None) -> IntArray:
    """Groups of rows that agree on all that their mask shows; -1 for the few that are left. `cost`: what suppressing a cell of each column
    costs, where not all cost the same; then the cheapest masks come first, of many columns among those of as many."""
    n, d = codes.shape
    groups, made, left, many = np.full(n, -1), 0, np.arange(n), records_of(rows, n)
    data, values = np.ascontiguousarray(codes, dtype=np.int32), codes.max(axis=0, initial=0).astype(np.int64) + 1
    tells = [len(np.unique(data[:, j])) for j in range(d)]  # of masks as good as each other, one that hides more values comes first
    best: list[tuple[int, ...]] = [()]
    for level in _levels(d, cost):
        waiting: list[tuple[int, int, int, tuple[int, ...]]] = []
        for mask in masks_of(d, level, best) if isinstance(level, int) else level:
            ids, classes = mask_classes(data, values, mask)
            served = int(many[demand.allowed(ids, left, rows)[ids]].sum())
            waiting.append((-served, classes, -sum(tells[j] for j in mask), mask))
        best = [mask for *_, mask in sorted(waiting)] if isinstance(level, int) else best
        heapq.heapify(waiting)
        while waiting and waiting[0][0] < 0:
            *_, hides, mask = heapq.heappop(waiting)
            ids, classes = mask_classes(data, values, mask)
            good = demand.allowed(ids, left, rows)
            taken = good[ids]
            served = int(many[taken].sum())
            if waiting and served < -waiting[0][0]:  # another may serve more by now
                heapq.heappush(waiting, (-served, classes, hides, mask))
                continue
            groups[left[taken]] = (np.cumsum(good) - 1 + made)[ids[taken]]
            made += int(good.sum())
            left, data, many = left[~taken], data[~taken], many[~taken]
        if many.sum() < demand.k:
            break
    return groups


def _levels(d: int, cost: FloatArray | None) -> Iterable[int | list[tuple[int, ...]]]:
    """Numbers of columns, least first; or, where cells cost differently, masks of one price after the other."""
    if cost is None or (cost == cost[0]).all() or 2**d > MOST_PRICED:
        return range(d + 1)
    masks = masks_by_price(cost)
    return [list(alike) for _, alike in groupby(masks, lambda mask: price_of(mask, cost))]


def masks_by_price(cost: FloatArray) -> list[tuple[int, ...]]:
    """Every mask, the cheapest first and of those the one of fewest columns."""
    every = chain.from_iterable(combinations(range(len(cost)), many) for many in range(len(cost) + 1))
    return sorted(every, key=lambda mask: (price_of(mask, cost), len(mask), mask))


def price_of(mask: Sequence[int], cost: FloatArray) -> float:
    """What it costs to suppress these columns in one record, free of rounding."""
    return round(float(sum(cost[j] for j in mask)), 9)


def masks_of(d: int, level: int, best: list[tuple[int, ...]]) -> Iterable[tuple[int, ...]]:
    """All masks of so many columns, or those that suppress one column more than the best of the level before."""
    if comb(d, level) <= MOST_MASKS:
        return combinations(range(d), level)
    few = best[: max(1, MOST_MASKS // d)]
    return sorted({tuple(sorted((*mask, j))) for mask in few for j in range(d) if j not in mask})


def mask_classes(data: Int32Array, values: IntArray, mask: tuple[int, ...]) -> tuple[IntArray, int]:
    """The class of every row, numbered as they come, and how many there are."""
    ids = np.empty(len(data), np.int64)
    shown = np.array([j for j in range(data.shape[1]) if j not in mask], np.int64)
    space = prod(values[shown].tolist())
    if space <= max(DIRECT, 2 * len(data)):
        return ids, _number_directly(data, values, shown, np.full(space, -1, np.int32), ids)
    return ids, _number_by_hash(data, shown, ids)


@njit(cache=True)
def _number_directly(data, values, shown, number_of, ids):
    """A cell for each combination there could be."""
    number = 0
    for i in range(len(data)):
        key = 0
        for j in shown:
            key = key * values[j] + data[i, j]
        if number_of[key] < 0:
            number_of[key] = number
            number += 1
        ids[i] = number_of[key]
    return number


@njit(cache=True)
def _number_by_hash(data, shown, ids):
    """Open addressing; a slot holds the first row of a class."""
    size = 16
    while size < 2 * len(data):
        size *= 2
    slots, last, number = np.full(size, -1, np.int32), np.uint64(size - 1), 0
    for i in range(len(data)):
        key = np.uint64(0)
        for j in shown:
            key = (key ^ np.uint64(data[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        slot = (key ^ (key >> np.uint64(32))) & last
        while slots[slot] >= 0:
            like, same = slots[slot], True
            for j in shown:
                same = same and data[like, j] == data[i, j]
            if same:
                break
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot], ids[i] = i, number
            number += 1
        else:
            ids[i] = ids[slots[slot]]
    return number


def joined(
    codes: NDArray[Any], groups: IntArray, demand: Demand, draws: FloatArray, rows: IntArray | None = None, price: FloatArray | None = None
) -> IntArray:
    """Every row of group -1, in the order of the draws, joins the group for which that suppresses the fewest cells, or costs least at a price
    for a cell of each column.

    All records of a row join together. A group takes a row only if it then still keeps the demand. Rows that no group can take form one
    with those groups that have least to lose, as many as it needs.
    """
    left = np.flatnonzero(groups < 0)
    number = int(groups.max(initial=-1)) + 1
    if not len(left) or not number:
        return np.zeros(len(groups), np.int64) if not number else groups
    left = left[np.argsort(draws[left], kind="stable")]
    inside = np.flatnonzero(groups >= 0)
    lowest, highest = group_ranges(codes[inside], groups[inside])
    many = records_of(rows, len(codes))
    agrees, sizes = lowest == highest, tally(groups[inside], many[inside])
    sensitive, offset, whole, *limits = demand.columns(len(codes), rows)
    few = np.argsort(draws[:number], kind="stable")[: max(1, MOST_PAIRS // max(len(left), len(whole)))]
    of_few = np.full(number, -1)
    of_few[few] = np.arange(len(few))
    mine = inside[of_few[groups[inside]] >= 0]
    count = np.zeros((len(few), len(whole)), np.int64)
    for q, column in enumerate(sensitive.T):
        there = mine[column[mine] > 0]
        np.add.at(count, (of_few[groups[there]], offset[q] + column[there] - 1), many[there])
    each = np.ones(codes.shape[1]) if price is None else price
    to = _join(
        codes[left].astype(np.int64), many[left], sensitive[left], lowest[few], agrees[few], sizes[few], each, count, offset, whole, *limits
    )  # fmt: skip
    result = groups.copy()
    result[left[to >= 0]] = few[to[to >= 0]]
    stubborn = left[to < 0]
    if len(stubborn):
        least = np.argsort(tally(result[result >= 0], many[result >= 0]) * (agrees @ each), kind="stable")
        taken = 1
        while True:
            together = np.append(stubborn, np.flatnonzero(np.isin(result, least[:taken])))
            if taken >= number or demand.allowed(np.zeros(len(together), np.int64), together, rows)[0]:
                break
            taken *= 2
        result[together] = number
    return np.asarray(np.unique(result, return_inverse=True)[1].reshape(-1))


@njit(cache=True)
def _join(codes, many, sensitive, pattern, agrees, sizes, price, count, offset, whole, l, entropy, t, t_ordered):  # noqa: E741
    """The group each row joins, one row after the other; -1: none can take it. Groups are updated as they grow."""
    n, d = codes.shape
    number = len(sizes)
    to, cost = np.full(n, -1), np.empty(number)
    present, rows = np.empty(len(whole), np.int64), np.empty(len(whole), np.int64)
    for i in range(n):
        for g in range(number):
            suppressed, new = 0.0, 0.0
            for j in range(d):
                if not agrees[g, j]:
                    suppressed += price[j]
                elif pattern[g, j] != codes[i, j]:
                    new += price[j]
            cost[g] = new * (sizes[g] + many[i]) + suppressed * many[i]
        for _ in range(number):
            g = int(np.argmin(cost))
            if cost[g] == np.inf:
                break
            _add(count[g], offset, sensitive[i], many[i])
            kept = True
            for q in range(len(l)):
                a, b, different = offset[q], offset[q + 1], 0
                for s in range(b - a):
                    if count[g, a + s]:
                        present[different], rows[different] = s + 1, count[g, a + s]
                        different += 1
                kept = kept and _keeps(present[:different], rows[:different], whole[a:b], l[q], entropy[q], t[q], t_ordered[q])
            if kept:
                to[i] = g
                sizes[g] += many[i]
                for j in range(d):
                    agrees[g, j] = agrees[g, j] and pattern[g, j] == codes[i, j]
                break
            _add(count[g], offset, sensitive[i], -many[i])
            cost[g] = np.inf
    return to


@njit(cache=True)
def _add(count, offset, codes, records):
    """Records more of a row's sensitive codes."""
    for q in range(len(codes)):
        if codes[q] > 0:
            count[offset[q] + codes[q] - 1] += records


@njit(cache=True)
def _diverse(inside, whole, l, entropy, t, t_ordered):  # noqa: E741
    """For each group, whether its sensitive values are as different, as even and as near to the whole as asked."""
    result = np.empty(len(inside.start) - 1, np.bool_)
    for g in range(len(result)):
        a, b = inside.start[g], inside.start[g + 1]
        a += a < b and inside.code[a] == 0  # counts for nothing
        result[g] = _keeps(inside.code[a:b], inside.rows[a:b], whole, l, entropy, t, t_ordered)
    return result


@njit(cache=True)
def _keeps(code, rows, whole, l, entropy, t, t_ordered):  # noqa: E741
    """The same for one group, given its sensitive codes, from 1 and ascending, and the records of each."""
    if l > 1 and len(code) < l:
        return False
    had, excess, size = 0.0, 0.0, rows.sum()
    for s in range(len(code)):
        share = rows[s] / size
        had -= share * np.log(share)
        excess += max(0.0, share - whole[code[s] - 1])  # total variation: only codes that are there can exceed their share
    if had < entropy or (not t_ordered and excess > t):
        return False
    if t_ordered and t < 1 and size:
        gap, moved, at = 0.0, 0.0, 0
        for s in range(len(whole)):
            gap -= whole[s]
            if at < len(code) and code[at] == s + 1:
                gap += rows[at] / size
                at += 1
            moved += abs(gap)
        return moved <= t * max(len(whole) - 1, 1)
    return True
