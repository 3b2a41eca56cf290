"""Linking to classes of generalized records: first by how many cells cannot hold the known value, then by distance.

A cell is a list of ranges of codes, rising. Classes stand in a tree by where their cells lie; a node knows, column by column, the span of codes
that some class below it allows, and which of 64 parts of the column it allows at all. So a record asks only nodes that could fit it at least
as well as its true class does: among classes that do not overlap, a handful.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray, UintArray
from shoal.kernels.kdtree import build
from shoal.kernels.threads import by_blocks

TIE = 1e-12
LEAF = 8
DEPTH = 64  # nodes that can wait: the tree halves its classes, so 2^63 of them fit
BLOCK = 256  # records that one thread takes at a time
PARTS = 64  # of a column, one bit each


class Ranges(NamedTuple):
    """Cells of several columns: the ranges of cell x of column c stand from begin[base[c] + x] up to begin[base[c] + x + 1]."""

    base: IntArray
    begin: IntArray
    low: IntArray
    high: IntArray


class ClassTree(NamedTuple):
    """Classes in tree order, and what the classes below each node allow. A node's left child is the node after it."""

    place: IntArray  # class -> where it stands in the tree
    order: IntArray  # and back
    cells: IntArray  # in tree order
    start: IntArray
    stop: IntArray
    right: IntArray  # -1 for a leaf
    low: IntArray  # (node, column): smallest code allowed
    high: IntArray
    parts: UintArray  # (node, column): bits of the parts allowed
    levels: IntArray  # codes of each column
    base: IntArray  # the ranges of the cells, as in Ranges
    begin: IntArray
    range_low: IntArray
    range_high: IntArray


def class_tree(cells: IntArray, ranges: Ranges, levels: IntArray) -> ClassTree:
    """The tree of classes: `cells` says which cell each has in each column, `levels` how many codes a column has."""
    low, high, parts = _spans(cells, *ranges, levels)
    tree = build(np.ascontiguousarray((low + high) / np.maximum(2 * levels, 1)), LEAF)
    order = np.asarray(tree.order)
    low, high, parts = (np.ascontiguousarray(one[order]) for one in (low, high, parts))
    spans = _below(tree.start, tree.stop, tree.right, low, high, parts)
    held = np.ascontiguousarray(cells[order], dtype=np.int64)
    links = (tree.start, tree.stop, tree.right)
    return ClassTree(np.argsort(order), order, held, *links, *spans, levels, *ranges)  # type: ignore[call-arg]


def linked_to_class(
    values: IntArray, tree: ClassTree, known: FloatArray, classes: FloatArray, sizes: IntArray, true_class: IntArray
) -> tuple[BoolArray, IntArray]:
    """For each record: whether a class fits better than its true one, and if not how many released records fit as well, its own included.

    values: codes of the known records in the columns of the cells; known, classes: coordinates whose squared distance decides between classes
    that contradict equally many values.
    """
    better, ties = np.empty(len(values), np.bool_), np.empty(len(values), np.int64)
    points = np.ascontiguousarray(classes[tree.order], dtype=np.float64)
    boxes = _boxes(tree.start, tree.stop, tree.right, points)
    codes, asked = np.ascontiguousarray(values, dtype=np.int64), np.ascontiguousarray(known, dtype=np.float64)
    place, records = tree.place[true_class], sizes[tree.order]
    by_blocks(
        lambda begin, end: _linked(begin, end, codes, asked, place, tree, points, boxes[0], boxes[1], records, better, ties),
        len(values),
        BLOCK,
    )
    return better, ties


@njit(cache=True)
def _part(code, levels):
    return np.uint64(code if levels <= PARTS else code * PARTS // levels)


@njit(cache=True)
def _spans(cells, base, begin, low, high, levels):
    n, columns = cells.shape
    first, last = np.empty((n, columns), np.int64), np.empty((n, columns), np.int64)
    parts = np.zeros((n, columns), np.uint64)
    for g in range(n):
        for c in range(columns):
            at = base[c] + cells[g, c]
            first[g, c], last[g, c] = levels[c], -1  # a cell that allows nothing
            for r in range(begin[at], begin[at + 1]):
                first[g, c], last[g, c] = min(first[g, c], low[r]), max(last[g, c], high[r])
                for part in range(_part(low[r], levels[c]), _part(high[r], levels[c]) + 1):
                    parts[g, c] |= np.uint64(1) << np.uint64(part)
    return first, last, parts


@njit(cache=True)
def _below(start, stop, right, low, high, parts):
    """For each node, what some class below it allows."""
    m, columns = len(start), low.shape[1]
    first, last = np.empty((m, columns), np.int64), np.empty((m, columns), np.int64)
    bits = np.zeros((m, columns), np.uint64)
    for node in range(m - 1, -1, -1):  # children before parents
        for c in range(columns):
            if right[node] >= 0:
                a, b = node + 1, right[node]
                first[node, c], last[node, c] = min(first[a, c], first[b, c]), max(last[a, c], last[b, c])
                bits[node, c] = bits[a, c] | bits[b, c]
                continue
            first[node, c], last[node, c] = low[start[node], c], high[start[node], c]
            for g in range(start[node], stop[node]):
                first[node, c], last[node, c] = min(first[node, c], low[g, c]), max(last[node, c], high[g, c])
                bits[node, c] |= parts[g, c]
    return first, last, bits


@njit(cache=True)
def _boxes(start, stop, right, points):
    m, d = len(start), points.shape[1]
    low, high = np.empty((m, d)), np.empty((m, d))
    for node in range(m - 1, -1, -1):
        for j in range(d):
            if right[node] >= 0:
                low[node, j] = min(low[node + 1, j], low[right[node], j])
                high[node, j] = max(high[node + 1, j], high[right[node], j])
                continue
            low[node, j], high[node, j] = points[start[node], j], points[start[node], j]
            for g in range(start[node], stop[node]):
                low[node, j], high[node, j] = min(low[node, j], points[g, j]), max(high[node, j], points[g, j])
    return low, high


@njit(cache=True)
def holds(code, begin, stop, low, high):
    """Whether one of the ranges from `begin` up to `stop` holds a code."""
    while begin < stop:
        middle = (begin + stop) // 2
        if code < low[middle]:
            stop = middle
        elif code > high[middle]:
            begin = middle + 1
        else:
            return True
    return False


@njit(cache=True)
def _wrong(values, i, tree, g, most):
    """How many cells of class g cannot hold record i's values; stops above `most`."""
    wrong = 0
    for c in range(tree.cells.shape[1]):
        at = tree.base[c] + tree.cells[g, c]
        wrong += not holds(values[i, c], tree.begin[at], tree.begin[at + 1], tree.range_low, tree.range_high)
        if wrong > most:
            break
    return wrong


@njit(cache=True)
def _least_wrong(values, i, tree, node):
    """How many columns no class below a node could hold."""
    wrong = 0
    for c in range(tree.cells.shape[1]):
        code = values[i, c]
        bit = tree.parts[node, c] >> _part(code, tree.levels[c])
        wrong += code < tree.low[node, c] or code > tree.high[node, c] or not bit & np.uint64(1)
    return wrong


@njit(cache=True)
def _distance2(known, i, low, high, g):
    """To the nearest point of a box; of a point, to that."""
    total = 0.0
    for j in range(known.shape[1]):
        step = max(low[g, j] - known[i, j], known[i, j] - high[g, j], 0.0)
        total += step * step
    return total


@njit(cache=True, nogil=True)
def _linked(begin, end, values, known, true_place, tree, points, low, high, sizes, better, ties):
    stack = np.empty(DEPTH, np.int64)
    for i in range(begin, end):
        mine = true_place[i]
        wrong = _wrong(values, i, tree, mine, tree.cells.shape[1])
        distance = _distance2(known, i, points, points, mine)
        better[i], ties[i] = False, 0
        stack[0], waiting = 0, 1
        while waiting and not better[i]:
            waiting -= 1
            node = stack[waiting]
            least = _least_wrong(values, i, tree, node)
            if least > wrong or (least == wrong and _distance2(known, i, low, high, node) > distance * (1 + TIE)):
                continue
            if tree.right[node] >= 0:
                stack[waiting], stack[waiting + 1] = tree.right[node], node + 1
                waiting += 2
                continue
            for g in range(tree.start[node], tree.stop[node]):
                other = _wrong(values, i, tree, g, wrong)
                if other > wrong:
                    continue
                apart = _distance2(known, i, points, points, g)
                if other < wrong or apart < distance * (1 - TIE):
                    better[i] = True
                    break
                if apart <= distance * (1 + TIE):
                    ties[i] += sizes[g]


# ---- groups of records that belong together ----------------------------------------------------------------------------------------


class Rosters(NamedTuple):
    """Released groups of one size, each distinct one once: its classes by their place in the tree, and how many groups have them."""

    classes: IntArray  # (roster, member), each row rising
    groups: IntArray  # of each roster
    start: IntArray  # the rosters that place p stands in are within[start[p] : start[p + 1]]
    within: IntArray


def rosters(places: IntArray, classes: int) -> tuple[Rosters, IntArray]:
    """Of groups given by the places of their members' classes; and which roster each group has."""
    distinct, of_group, groups = np.unique(np.sort(places, axis=1), axis=0, return_inverse=True, return_counts=True)
    pair = np.unique(distinct * len(distinct) + np.arange(len(distinct))[:, None])
    start = np.searchsorted(pair, np.arange(classes + 1) * len(distinct))
    return Rosters(np.ascontiguousarray(distinct), groups, start, pair % max(len(distinct), 1)), of_group.reshape(-1)


def groups_that_fit(values: IntArray, members: IntArray, tree: ClassTree, known: Rosters, true: IntArray) -> tuple[BoolArray, IntArray]:
    """For each group of records: whether the released group `true` can be it, and how many can.

    A released group can be it when every record finds a member of its own whose cells hold all its values.
    """
    fits, total = np.empty(len(members), np.bool_), np.empty(len(members), np.int64)
    codes, rows = np.ascontiguousarray(values, dtype=np.int64), np.ascontiguousarray(members, dtype=np.int64)
    own = np.ascontiguousarray(true, dtype=np.int64)
    by_blocks(lambda begin, end: _groups_that_fit(begin, end, codes, rows, tree, known, own, fits, total), len(rows), BLOCK)
    return fits, total


@njit(cache=True)
def _places_that_hold(values, i, tree, stack, found):
    """The classes that can be record i, by their place in the tree; how many."""
    count, waiting = 0, 1
    stack[0] = 0
    while waiting:
        waiting -= 1
        node = stack[waiting]
        if _least_wrong(values, i, tree, node):
            continue
        if tree.right[node] >= 0:
            stack[waiting], stack[waiting + 1] = tree.right[node], node + 1
            waiting += 2
            continue
        for g in range(tree.start[node], tree.stop[node]):
            if not _wrong(values, i, tree, g, 0):
                found[count] = g
                count += 1
    return count


@njit(cache=True)
def _all_placed(fit, owner, mate, came, queue):
    """Whether each of m records gets a place of its own among m, by augmenting paths."""
    m = len(fit)
    owner[:m], mate[:m] = -1, -1
    for first in range(m):
        came[:m] = -1
        queue[0] = first
        head, tail, free = 0, 1, -1
        while head < tail and free < 0:
            one = queue[head]
            head += 1
            for p in range(m):
                if fit[one, p] and came[p] < 0:
                    came[p] = one
                    if owner[p] < 0:
                        free = p
                        break
                    queue[tail] = owner[p]
                    tail += 1
        if free < 0:
            return False
        while free >= 0:
            one = came[free]
            before = mate[one]
            owner[free], mate[one] = one, free
            free = before
    return True


@njit(cache=True, nogil=True)
def _groups_that_fit(begin, end, values, members, tree, known, true, fits, total):
    m = members.shape[1]
    stack, seen = np.empty(DEPTH, np.int64), np.full(len(known.classes), -1)
    fewest, found = np.empty(len(tree.cells), np.int64), np.empty(len(tree.cells), np.int64)
    fit, work = np.empty((m, m), np.bool_), np.empty((4, m + 1), np.int64)
    for h in range(begin, end):
        fits[h], total[h] = False, 0
        least, length = -1, 0
        for a in range(m):  # begin with the member that fewest released groups could have
            count = _places_that_hold(values, members[h, a], tree, stack, found)
            groups = 0
            for g in found[:count]:
                groups += known.start[g + 1] - known.start[g]
            if least < 0 or groups < least:
                least, length = groups, count
                fewest[:count] = found[:count]
            if not least:
                break
        for g in fewest[:length]:
            for s in known.within[known.start[g] : known.start[g + 1]]:
                if seen[s] == h:
                    continue
                seen[s] = h
                for a in range(m):
                    for p in range(m):
                        fit[a, p] = not _wrong(values, members[h, a], tree, known.classes[s, p], 0)
                if _all_placed(fit, work[0], work[1], work[2], work[3]):
                    total[h] += known.groups[s]
                    fits[h] = fits[h] or s == true[h]
