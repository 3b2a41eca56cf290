"""Local suppression: which single cells to blank, so that records are no longer rare.

A row is a combination of codes that `rows` records share. A mask is a choice of columns to blank in a record; blanking a cell of column j
costs `cost[j]`. Keys are sets of columns, each of which an intruder may know. Two readings of a blank:

classes    A blank is a value of its own. Records that look alike, blanks included, are a class, and each class of each set has k records.
wildcard   A blank may be any value. Two records match where both say the same or one is blank, and each record matches k. Blanking a cell
           can only make more records match, so a record is safe as soon as what it shows is shared by k records of the original.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import group_ranges, tally
from shoal.kernels.masks import MOST_PRICED, Demand, agreeing, joined, mask_classes, masks_by_price, masks_of, price_of

MOST_COMPARED = 10_000_000_000  # columns and sets of pairs of parts: some seconds
BLANK = -1


class Blanks(NamedTuple):
    """Parts of combinations and what is blanked in each: so many records of a combination, the same columns in all of them."""

    combination: IntArray
    rows: IntArray
    blank: BoolArray  # [part, column]

    def priced(self, cost: FloatArray) -> float:
        """What all blanks cost."""
        return float((self.blank * self.rows[:, None] * cost).sum())


def classes_blanked(codes: Int32Array, rows: IntArray, demand: Demand, cost: FloatArray, draws: FloatArray) -> Blanks:
    """Blanks under which every class keeps the demand: the cheapest masks first, and of those the choice that serves most records.

    Those left at the end, fewer than k, join the classes that lose least by it, in the order of the draws.
    """
    groups = joined(codes, agreeing(codes, demand, rows, cost), demand, draws, rows, cost)
    lowest, highest = group_ranges(codes, groups)
    return Blanks(np.arange(len(codes)), rows, (lowest != highest)[groups])


def sets_blanked(codes: Int32Array, rows: IntArray, k: int, sets: Sequence[IntArray], cost: FloatArray, draws: FloatArray) -> Blanks:
    """Blanks under which, for every set of columns, every class of the set has k records: the cheapest of three ways.

    All columns of the sets as one key, which keeps every set; the sets in turn, again until none is left that a later one has broken; and the same
    after what the other reading of a blank would take. A blank is never taken back, so this ends, if need be with everything blank.
    """
    together = np.unique(np.concatenate(sets))
    whole = np.zeros(codes.shape, np.bool_)
    whole[:, together] = classes_blanked(np.ascontiguousarray(codes[:, together]), rows, Demand(k), cost[together], draws).blank
    ways = [Blanks(np.arange(len(codes)), rows, whole)]
    for start in (np.zeros(codes.shape, np.bool_), wildcard_blanked(codes, rows, k, sets, cost).blank):
        ways.append(_in_turn(codes, rows, k, sets, cost, draws, start))
    return min(ways, key=lambda way: way.priced(cost))


def _in_turn(
    codes: Int32Array, rows: IntArray, k: int, sets: Sequence[IntArray], cost: FloatArray, draws: FloatArray, start: BoolArray
) -> Blanks:
    blank, broken = start.copy(), True
    while broken:
        broken = False
        for inside in sets:
            now = np.ascontiguousarray(np.where(blank, BLANK, codes)[:, inside] + 1)
            ids, _ = mask_classes(now, now.max(axis=0).astype(np.int64) + 1, ())
            if (tally(ids, rows) < k).any():
                blank[:, inside] |= classes_blanked(now, rows, Demand(k), cost[inside], draws).blank
                broken = True
    return Blanks(np.arange(len(codes)), rows, blank)


def wildcard_blanked(codes: Int32Array, rows: IntArray, k: int, sets: Sequence[IntArray], cost: FloatArray) -> Blanks:
    """For each combination the cheapest mask whose kept columns, of every set, k records of the original share.

    Of masks of one price the one that hides most values is taken. With more columns than can be tried in every choice, masks grow out of the
    best with one column less.
    """
    n, d = codes.shape
    values = codes.max(axis=0, initial=0).astype(np.int64) + 1
    tells = [len(np.unique(codes[:, j])) for j in range(d)]
    shared: dict[tuple[int, ...], BoolArray] = {}
    blank, open_ = np.zeros((n, d), np.bool_), np.ones(n, np.bool_)
    priced = masks_by_price(cost) if 2**d <= MOST_PRICED else None
    best: list[tuple[int, ...]] = [()]
    for level in range(1) if priced is not None else range(d + 1):
        masks = priced if priced is not None else list(masks_of(d, level, best))
        served = []
        for mask in sorted(masks, key=lambda one: (price_of(one, cost), len(one), -sum(tells[j] for j in one), one)):
            safe = _shared(codes, rows, k, values, _kept(sets, mask), shared)
            served.append((-int(rows[safe & open_].sum()), mask))
            now = safe & open_
            blank[np.ix_(now, np.array(mask, np.int64))] = True
            open_ &= ~now
            if not open_.any():
                break
        best = [mask for _, mask in sorted(served)]
        if not open_.any():
            break
    return Blanks(np.arange(n), rows, blank)


def _kept(sets: Sequence[IntArray], mask: tuple[int, ...]) -> list[tuple[int, ...]]:
    """What a mask keeps of each set, without what is part of another: who shares more shares less."""
    kept = sorted({tuple(j for j in one.tolist() if j not in mask) for one in sets}, key=len, reverse=True)
    found: list[tuple[int, ...]] = []
    for one in kept:
        if not any(set(one) <= set(more) for more in found):
            found.append(one)
    return found


def _shared(
    codes: Int32Array, rows: IntArray, k: int, values: IntArray, kept: list[tuple[int, ...]], known: dict[tuple[int, ...], BoolArray]
) -> BoolArray:
    """Whether k records share what each combination has in all of these choices of columns."""
    d = codes.shape[1]
    safe = np.ones(len(codes), np.bool_)
    for one in kept:
        if one not in known:
            ids, _ = mask_classes(codes, values, tuple(j for j in range(d) if j not in one))
            known[one] = (tally(ids, rows) >= k)[ids]
        safe &= known[one]
    return safe


class GivenBack(NamedTuple):
    """Blanks after some were taken back, and whether every one was tried."""

    blanks: Blanks
    all_tried: bool


def given_back(codes: Int32Array, blanks: Blanks, k: int, sets: Sequence[IntArray], cost: FloatArray) -> GivenBack:
    """Cells shown again, one after the other, while every record still matches k under the reading of a blank as any value.

    Matches only get fewer, so what could not be shown once cannot be shown later: one pass is enough. The dearest cells come first.
    """
    d = codes.shape[1]
    inside = np.array([sum(1 << j for j in one.tolist()) for one in sets], np.uint64)
    tells = np.array([len(np.unique(codes[:, j])) for j in range(d)])
    columns = np.lexsort((np.arange(d), tells, -cost))
    many = blanks.blank.sum(axis=1)
    order = np.lexsort((np.arange(len(many)), many))  # those that hide little have most to give
    order = order[many[order] > 0]
    shown = np.where(blanks.blank, BLANK, codes[blanks.combination]).astype(np.int32)
    found, rows, of, left = _give_back(
        shown, blanks.rows, np.ascontiguousarray(codes[blanks.combination]), inside, k, order, columns, MOST_COMPARED
    )
    return GivenBack(Blanks(blanks.combination[of], rows, found == BLANK), left >= 0)


@njit(cache=True)
def _apart(a, b):
    """The columns in which two parts say different things, as bits."""
    bits = np.uint64(0)
    for j in range(len(a)):
        if a[j] != b[j] and a[j] >= 0 and b[j] >= 0:
            bits |= np.uint64(1) << np.uint64(j)
    return bits


@njit(cache=True)
def _give_back(first, first_rows, truth, inside, k, order, columns, budget):
    """Parts as they are shown at the end, the records and the part each came from, and what is left of the budget, below 0 if it ran out."""
    n, d = first.shape
    sets = len(inside)
    room = n + int(min(first_rows[order].sum(), 4 * len(order) * d + 16))
    shown, rows, of = np.empty((room, d), np.int32), np.zeros(room, np.int64), np.empty(room, np.int64)
    match = np.zeros((room, sets), np.int64)
    used, left = n, budget - n * (len(order) + 1) * (d + sets)
    shown[:n], rows[:n] = first, first_rows
    for p in range(n):
        of[p] = p
    if left < 0:
        return shown[:n].copy(), rows[:n].copy(), of[:n].copy(), left
    _count_matches(shown, rows, order, n, inside, match)
    mine = np.empty(sets, np.int64)
    for at in order:
        now = at  # the part that holds what is left to try of these records
        for j in columns:
            if shown[now, j] >= 0:
                continue
            left -= used * (d + sets)
            if left < 0 or used == room:
                return shown[:used].copy(), rows[:used].copy(), of[:used].copy(), np.int64(-1)
            many = _can_show(shown, rows, used, inside, match, now, j, truth[at, j], k, mine)
            if many == 0:
                continue
            if many < rows[now]:  # the others stay as they are
                shown[used], of[used], rows[used], match[used] = shown[now], of[now], many, match[now]
                rows[now] -= many
                now = used
                used += 1
            _show(shown, rows, used, inside, match, now, j, truth[at, j], many)
            match[now] = mine
    return shown[:used].copy(), rows[:used].copy(), of[:used].copy(), left


@njit(cache=True)
def _count_matches(shown, rows, order, n, inside, match):
    """The records that match each part, set by set. Over all columns at once, parts that hide nothing match themselves and who hides something."""
    whole = len(inside) == 1 and inside[0] == (np.uint64(1) << np.uint64(shown.shape[1])) - np.uint64(1)
    hides = np.zeros(n, np.bool_)
    hides[order] = True
    for p in range(n):
        match[p] += rows[p]
        for q in range(p):
            if hides[p] or hides[q] or not whole:
                bits = _apart(shown[p], shown[q])
                for s in range(len(inside)):
                    if bits & inside[s] == 0:
                        match[p, s] += rows[q]
                        match[q, s] += rows[p]


@njit(cache=True)
def _can_show(shown, rows, used, inside, match, part, j, code, k, mine):
    """How many records of a part can show this code in column j while all that match them keep k; and what would match them then."""
    many, column = rows[part], np.uint64(1) << np.uint64(j)
    mine[:] = 0
    for q in range(used):
        bits = _apart(shown[part], shown[q])
        new = bits if shown[q, j] < 0 or shown[q, j] == code else bits | column
        for s in range(len(inside)):
            if new & inside[s] == 0:
                mine[s] += rows[q]
            elif bits & inside[s] == 0:
                many = min(many, match[q, s] - k)
                if many <= 0:
                    return 0
    return many if mine.min() >= k else 0


@njit(cache=True)
def _show(shown, rows, used, inside, match, part, j, code, many):
    """Show it, and tell those that no longer match."""
    column = np.uint64(1) << np.uint64(j)
    for q in range(used):
        if shown[q, j] >= 0 and shown[q, j] != code:
            bits = _apart(shown[part], shown[q])
            for s in range(len(inside)):
                if inside[s] & column and bits & inside[s] == 0:
                    match[q, s] -= many
    shown[part, j] = code
