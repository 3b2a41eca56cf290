"""Local recoding: equal values need not be published alike. Each class of rows is published as finely as what it must keep allows.

The greedy over the lattice: of the ways to choose a level for every column those come first that lose least over the whole table. At each,
rows not published yet are grouped by their nodes, and every class that keeps the demand is published. Rows of the same values stay together,
so groups follow from the values alone, not from the order of rows.

Ways are ordered by the sum over columns of the squared mean loss: a little lost in several columns comes before as much lost in one, which
leaves more classes of k behind for the rows that follow. On Adult that loses 0.6 to 1.5 % less than by the sum itself.

Ways are walked by halves. Where a row is one of fewer than k even at the highest levels that the ways of a stretch have, none of them can publish
it; and rows that differ there never meet at these ways. So every class at the highest levels is walked by itself, first the one half of the
ways and then the other: rows looked at together are few and lie near each other in memory, and most of them drop out after a few steps.

A lattice too large to walk is walked while the work lasts, from its finest ways up, and the rows left then are cut along their hierarchies.
"""

from collections.abc import Sequence
from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray, UintArray
from shoal.kernels.cells import tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.group_demand import Required, keeps_demand, required
from shoal.kernels.hierarchy_cuts import cut_boxes
from shoal.kernels.leftovers import joined
from shoal.kernels.masks import Demand
from shoal.kernels.nodes import Trees, check_table, weights_of, written

Leftovers = Literal["join", "suppress"]

MOST_WAYS = 1_000_000  # of a larger lattice, so many are looked at
MOST_WORK = 400_000_000  # combinations looked at, way by way: some 20 seconds


class LocalRecoding(NamedTuple):
    """What each combination is published as, and how it was found. No two groups are written alike."""

    group: IntArray  # of each combination; -1: suppressed
    levels: Int32Array  # [group, column]; the node is the one over any of the group's codes at that level
    loss: float  # mean over rows and columns, weighted if asked; a suppressed row counts 1
    ways: int  # there are in the lattice
    looked_at: int
    cut: int  # rows left when the work was used up, and cut along their hierarchies
    left: int  # rows that no class could be made of: joined to other classes, or suppressed


def local_recoding(
    codes: NDArray[Any],
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    rows: NDArray[Any] | None = None,
    *,
    weights: Sequence[float] | None = None,
    leftovers: Leftovers = "join",
    most_ways: int = MOST_WAYS,
    most_work: int = MOST_WORK,
) -> LocalRecoding:
    """Groups of combinations that keep the demand, and the level of each column for each group.

    codes: [combination, column], with the rows that have each combination. weights: what loss in a column counts; a column of weight 0 is
    generalized first. leftovers: rows of which no class can be made join the classes whose loss that increases least, or are suppressed.
    """
    data, many, trees = check_table(codes, rows, hierarchies)
    share = weights_of(weights, data.shape[1])
    need = required(demand, many)
    worth = _worth(data, many, trees, share)
    ways = _ways(worth, most_ways)
    groups, number, looked_at = _publish(data, many, ways, trees, need, most_work)
    rest = np.flatnonzero(groups < 0)
    cut = 0
    if looked_at < prod(trees.depth.tolist()) and len(rest) and keeps_demand(rest, many, need):
        boxes = cut_boxes(data, many, trees, need, rest, share)
        groups[rest] = boxes[rest] + number
        cut = int(many[rest].sum())
    rest = np.flatnonzero(groups < 0)
    found = written(data, many, groups, trees, share)
    if len(rest) and leftovers == "join":
        found = written(data, many, joined(data, many, found, trees, share, need), trees, share)
    return LocalRecoding(*found, prod(trees.depth.tolist()), looked_at, cut, int(many[rest].sum()))


def _worth(codes: Int32Array, rows: IntArray, trees: Trees, share: FloatArray) -> list[FloatArray]:
    """What each level of each column adds to a way's place in the order."""
    found: list[FloatArray] = []
    for j, (depth, width, start) in enumerate(zip(trees.depth.tolist(), trees.width.tolist(), trees.start.tolist())):
        count = tally(codes[:, j], rows, width) / max(int(rows.sum()), 1)
        loss = trees.loss[start : start + depth * width].reshape(depth, width)
        found.append(np.maximum.accumulate((share[j] * (loss * count).sum(axis=1)) ** 2))
    return found


def _ways(worth: Sequence[FloatArray], most: int) -> NDArray[np.int16]:
    """A level for each column in every way, or in the first `most` at most: by rising worth, then by levels, the first column first."""
    depth = np.array([len(one) for one in worth], np.int64)
    steps = np.concatenate([np.zeros(0), *(one - one[0] for one in worth)])
    start = np.cumsum([0, *depth])
    nothing, limit = np.empty((0, len(worth)), np.int16), np.inf
    if prod(depth.tolist()) > most:
        low, high = 0.0, float(sum(one[-1] - one[0] for one in worth))
        for _ in range(60):  # halving, so often that no further bit of the limit can be told
            limit = (low + high) / 2
            low, high = (limit, high) if _up_to(limit, steps, start, depth, most, nothing)[0] <= most else (low, limit)
        limit = low
    size = _up_to(limit, steps, start, depth, most, nothing)[0]
    levels = np.empty((min(size, most), len(worth)), np.int16)
    _, totals = _up_to(limit, steps, start, depth, most, levels)
    return np.ascontiguousarray(levels[np.argsort(totals.round(12), kind="stable")])  # ways as good as each other differ by rounding


@njit(cache=True)
def _up_to(limit, steps, start, depth, most, levels):
    """How many ways are worth at most the limit, counted to one above `most`; these ways, as far as there is room, and their worth."""
    d = len(depth)
    level, upto, totals, size = np.zeros(d, np.int64), np.zeros(d + 1), np.empty(len(levels)), 0
    while size <= most:
        if size < len(levels):
            levels[size], totals[size] = level, upto[d]
        size += 1
        j = d - 1
        while j >= 0:
            level[j] += 1
            if level[j] < depth[j] and upto[j] + steps[start[j] + level[j]] <= limit:
                break
            level[j] = 0
            j -= 1
        if j < 0:
            break
        upto[j + 1 :] = upto[j] + steps[start[j] + level[j]]
    return size, totals


def _words(trees: Trees) -> UintArray:
    """A word of 64 random bits for each node, the same wherever it stands: nodes in several columns are told apart by their sum."""
    words = np.random.PCG64(1).random_raw(len(trees.node))
    for depth, width, start in zip(trees.depth.tolist(), trees.width.tolist(), trees.start.tolist()):
        for at in range(start, start + depth * width, width):
            _, first, node = np.unique(trees.node[at : at + width], return_index=True, return_inverse=True)
            words[at : at + width] = words[at + first][node.reshape(-1)]
    return np.asarray(words, np.uint64)


def _publish(
    codes: Int32Array, rows: IntArray, ways: NDArray[np.int16], trees: Trees, need: Required, most_work: int
) -> tuple[IntArray, int, int]:
    """The group of each row, -1 where it has none; how many numbers groups have, some unused; how many ways were looked at.

    Work counts as if every way looked at every row that is left. How many will be left is not known beforehand: a few more ways are walked than
    may be paid for, and what the last of them have published is taken back, since no way depends on a later one.
    """
    groups, left, words = np.full(len(codes), -1), np.arange(len(codes), dtype=np.int32), _words(trees)
    number, looked_at = 0, 0
    while looked_at < len(ways) and 0 < len(left) <= most_work:
        some = ways[looked_at : looked_at + most_work // len(left) * 17 // 16 + 1]
        way_of = _walk(codes, rows, left, _highest(some), len(some), trees, words, need, groups, number)
        way, inside = np.full(len(left), len(some)), groups[left] >= 0
        way[inside] = way_of[groups[left[inside]] - number]
        size = len(left) - np.cumsum(np.append(0, np.bincount(way, minlength=len(some))))[: len(some)]  # rows left before each way
        work = np.cumsum(size)
        paid = int(np.count_nonzero((size > 0) & (work <= most_work)))
        groups[left[inside & (way >= paid)]] = -1
        left = left[way >= paid]
        number, looked_at, most_work = number + len(way_of), looked_at + paid, most_work - int(work[paid - 1])
        if paid < len(some):
            break
    return groups, number, looked_at


def _highest(ways: NDArray[np.int16]) -> NDArray[np.int16]:
    """The highest level of each column in stretches of ways: in all at 1, in the two halves of stretch s at 2 s and 2 s + 1, at last in each way."""
    size = 1
    while size < len(ways):
        size *= 2
    levels = np.zeros((2 * size, ways.shape[1]), np.int16)
    levels[size : size + len(ways)] = ways
    while size > 1:
        levels[size // 2 : size] = np.maximum(levels[size : 2 * size : 2], levels[size + 1 : 2 * size : 2])
        size //= 2
    return levels


class _Room(NamedTuple):
    """Used by one set of rows after the other, so it is never cleared: of `slot`, numbers below those given now are old."""

    slot: IntArray  # open addressing, at most half full
    key: UintArray  # of each class, the sum of its words
    records: IntArray
    size: IntArray  # its rows; then where they end
    of: IntArray  # the class of each row
    moved: Int32Array


@njit(cache=True)
def _walk(codes, rows, left, levels, ways, trees, words, need, groups, number):
    """Publish the rows left, way by way; the way of each group. What is done for every set takes no slices, which cost more than small sets."""
    n, d, half = len(left), codes.shape[1], len(levels) // 2
    slots = 16
    while slots < 2 * n:
        slots *= 2
    numbers = np.empty((3, n), np.int64)
    room = _Room(np.full(slots, -1), np.empty(n, np.uint64), numbers[0], numbers[1], numbers[2], np.empty(n, np.int32))
    order, columns, at, given, made = left.copy(), np.empty(d, np.int64), np.empty(d, np.int64), 0, 0
    way_of, waiting = np.empty(1024, np.int64), [(0, n, 1)]
    while len(waiting):
        a, b, stretch = waiting.pop()
        many = 0
        for j in range(d):  # in all other columns the rows have one node
            if stretch == 1 or levels[stretch, j] != levels[stretch // 2, j]:
                columns[many], at[many] = j, trees.start[j] + levels[stretch, j] * trees.width[j]
                many += 1
        if many == 0 and stretch < half:
            _wait(waiting, a, b, stretch, half, ways)
            continue
        still, classes, good = _count(codes, rows, order, a, b, columns, at, many, words, need.k, given, room)
        given += classes
        if good == 0:
            continue
        _side_by_side(order, a, still, classes, need.k, room)
        begin = a
        for c in range(classes):
            if room.records[c] < need.k:
                continue
            end = a + room.size[c]
            if stretch < half:
                _wait(waiting, begin, end, stretch, half, ways)
            elif _agree(codes, order[begin:end], levels[stretch], trees) and (
                need.codes.shape[1] == 0 or keeps_demand(order[begin:end], rows, need)
            ):
                for x in range(begin, end):
                    groups[order[x]] = number + made
                    order[x] = -1
                if made == len(way_of):
                    way_of = np.concatenate((way_of, np.empty_like(way_of)))
                way_of[made] = stretch - half
                made += 1
            begin = end
    return way_of[:made]


@njit(cache=True, inline="always")
def _wait(waiting, a, b, stretch, half, ways):
    """The halves of a stretch, the first on top; the second only where it has ways."""
    first = 2 * stretch + 1
    while first < half:
        first *= 2
    if first - half < ways:
        waiting.append((a, b, 2 * stretch + 1))
    waiting.append((a, b, 2 * stretch))


@njit(cache=True, inline="always")
def _count(codes, rows, order, a, b, columns, at, many, words, k, given, room):
    """Put the rows of order[a:b] into classes; how many rows are still to be published, how many classes there are, and how many have k records."""
    size = 16
    while size < 2 * (b - a):  # no more slots than needed, so that they stay in cache
        size *= 2
    mask, x, end, classes, good = np.uint64(size - 1), a, b, 0, 0
    while x < end:
        i = order[x]
        if i < 0:  # published
            end -= 1
            order[x], order[end] = order[end], i
            continue
        key = np.uint64(0)
        for j in range(many):
            key += words[at[j] + codes[i, columns[j]]]
        s = key & mask
        while room.slot[s] >= given and room.key[room.slot[s] - given] != key:
            s = (s + np.uint64(1)) & mask
        c = room.slot[s] - given
        if c < 0:
            c = classes
            room.slot[s] = given + c
            room.key[c], room.records[c], room.size[c] = key, 0, 0
            classes += 1
        before = room.records[c]
        room.records[c] = before + rows[i]
        good += before < k and before + rows[i] >= k
        room.size[c] += 1
        room.of[x - a] = c
        x += 1
    return end - a, classes, good


@njit(cache=True)
def _side_by_side(order, a, still, classes, k, room):
    """The rows of each class of k side by side, before those of other classes."""
    fill = 0
    for c in range(classes):
        if room.records[c] >= k:
            fill, room.size[c] = fill + room.size[c], fill
    for x in range(still):
        c = room.of[x]
        if room.records[c] >= k:
            room.moved[room.size[c]] = order[a + x]
            room.size[c] += 1
        else:
            room.moved[fill] = order[a + x]
            fill += 1
    for x in range(still):
        order[a + x] = room.moved[x]


@njit(cache=True)
def _agree(codes, members, levels, trees):
    """Whether the rows of a class have the same nodes indeed, and not only the same sum of words."""
    for j in range(len(levels)):
        at = trees.start[j] + levels[j] * trees.width[j]
        for i in members:
            if trees.node[at + codes[i, j]] != trees.node[at + codes[members[0], j]]:
                return False
    return True
