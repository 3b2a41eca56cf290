"""Exact nearest neighbours between two files: for each original record, the protected records closest to it.

The squared distance is the sum of squared differences of the numeric columns plus the number of nominal columns that differ. Nominal codes
are further columns of the kd-tree: a box adds 1 where the query's code lies outside the box's range of codes, and 0 otherwise.

Ties. Two squared distances s and t tie when they differ by at most TIE = 1e-12 of their size. Identical rows tie exactly, since they go
through the same arithmetic; the tolerance is for distances that are equal on paper but go through different rows. Rounding moves a squared
distance of d columns by about d * 1e-16 of its size; standardizing beforehand adds 1e-16 * value / difference, so steps of a lattice down
to a ten-thousandth of a value's size still tie, while distinct continuous records practically never come that close.
A box's bound is computed by the same operations in the same order as a distance, and rounding is monotone, so pruning never loses a row.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels import kdtree
from shoal.kernels.groups import distinct_rows
from shoal.kernels.threads import by_blocks

Progress = Callable[[int, int], object]

TIE = 1e-12
LEAF_SIZE = 8
CHUNK = 1 << 17  # queries between two calls of `progress`
BLOCK = 512  # queries a thread takes at a time


class Nearest(NamedTuple):
    distance2: FloatArray  # smallest squared distance
    ties: IntArray  # protected rows at that distance
    first: IntArray  # the lowest protected row among them


class Linked(NamedTuple):
    closer_exists: BoolArray  # some protected row is closer than the true one
    ties: IntArray  # protected rows at the true distance, the true one included; 0 where a closer one exists


def nearest(
    protected: FloatArray,
    queries: FloatArray,
    nominal_protected: IntArray | None = None,
    nominal_queries: IntArray | None = None,
    progress: Progress | None = None,
) -> Nearest:
    """The nearest protected rows of every query."""
    index = _index(protected, nominal_protected)
    rows, order = _prepare(queries, nominal_queries, index)
    n = len(rows)
    out = Nearest(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))
    for a in range(0, n, CHUNK):
        some = order[a : a + CHUNK]
        by_blocks(lambda b, e, some=some: _nearest(*index[:8], rows, some[b:e], *out), len(some), BLOCK)  # type: ignore[misc]
        if progress is not None:
            progress(min(n, a + CHUNK), n)
    return out


def linked(
    protected: FloatArray,
    queries: FloatArray,
    true_row: IntArray,
    nominal_protected: IntArray | None = None,
    nominal_queries: IntArray | None = None,
    progress: Progress | None = None,
    stands_for: IntArray | None = None,
) -> Linked:
    """Whether any protected row is closer to a query than its true row, and if not how many tie with it.

    The search is bounded by the true distance and stops at the first closer row, so it is cheaper than `nearest`. A record is linked
    strictly where ties == 1, and with probability 1 / ties where ties are shared. A protected row may stand for several.
    """
    index = _index(protected, nominal_protected, stands_for)
    rows, order = _prepare(queries, nominal_queries, index)
    n = len(rows)
    true = np.ascontiguousarray(true_row, dtype=np.int64)
    if len(true) != n or (n and not 0 <= true.min() <= true.max() < len(protected)):
        raise ValueError("Every query needs one true row, and it must be a row of the protected file.")
    out = Linked(np.empty(n, np.bool_), np.empty(n, np.int64))
    at = index.position[true]
    for a in range(0, n, CHUNK):
        some = order[a : a + CHUNK]
        by_blocks(lambda b, e, some=some: _linked(*index[:8], rows, some[b:e], at, *out), len(some), BLOCK)  # type: ignore[misc]
        if progress is not None:
            progress(min(n, a + CHUNK), n)
    return out


class _Index(NamedTuple):
    """A kd-tree over the distinct protected rows, laid out for searching."""

    points: FloatArray  # (u, d) in tree order, numeric columns first
    weight: IntArray  # (u,) how many protected rows are identical to it
    first: IntArray  # (u,) the lowest of them
    start: IntArray
    stop: IntArray
    right: IntArray
    children: FloatArray  # (m, d, 4): low of the left and the right child's box, high of both, side by side for vector instructions
    numeric: int
    low: FloatArray
    high: FloatArray
    position: IntArray  # (n,) protected row -> tree position


def _matrix(numeric: FloatArray, nominal: IntArray | None) -> FloatArray:
    x = np.asarray(numeric, dtype=np.float64)
    if x.ndim != 2 or (nominal is not None and (np.ndim(nominal) != 2 or len(nominal) != len(x))):
        raise ValueError("Rows must be given as tables, numeric and nominal parts of the same length.")
    if not np.isfinite(x).all():
        raise ValueError("Distances need finite values: impute or drop missing ones first.")
    if nominal is not None:
        x = np.hstack([x, np.asarray(nominal, dtype=np.float64)])
    return np.ascontiguousarray(x)


def _index(numeric: FloatArray, nominal: IntArray | None, stands_for: IntArray | None = None) -> _Index:
    x = _matrix(numeric, nominal)
    if len(x) == 0:
        raise ValueError("The protected file has no rows.")
    codes = 0 if nominal is None else nominal.shape[1]
    same_as, first, weight = distinct_rows(x, stands_for)
    tree = kdtree.build(x if len(first) == len(x) else x[first], LEAF_SIZE, codes)
    place = np.empty(len(first), np.int64)
    place[tree.order] = np.arange(len(first))
    children = _children(tree.right, tree.low, tree.high)
    return _Index(
        tree.points, weight[tree.order], first[tree.order], tree.start, tree.stop, tree.right, children,
        x.shape[1] - codes, tree.low, tree.high, place[same_as],
    )  # fmt: skip


def _prepare(numeric: FloatArray, nominal: IntArray | None, index: _Index) -> tuple[FloatArray, IntArray]:
    """Queries as one matrix, and the order to ask them in: that of the leaves they fall in, so that successive searches share cache."""
    rows = _matrix(numeric, nominal)
    if rows.shape[1] != index.points.shape[1] or rows.shape[1] - (0 if nominal is None else nominal.shape[1]) != index.numeric:
        raise ValueError("Queries and protected rows must have the same columns.")
    return rows, _by_leaf(rows, index.numeric, index.right, index.low, index.high)


@njit(cache=True)
def _children(right, low, high):
    nodes, d = low.shape
    boxes = np.zeros((nodes, d, 4))
    for node in range(nodes):
        if right[node] >= 0:
            for side, child in enumerate((node + 1, right[node])):
                for j in range(d):  # not as slices: what numba compiles to copy one takes two seconds
                    boxes[node, j, side], boxes[node, j, side + 2] = low[child, j], high[child, j]
    return boxes


@njit(cache=True)
def _by_leaf(queries, numeric, right, low, high):
    nodes, d = low.shape
    n = len(queries)
    column = np.zeros(nodes, np.int64)  # the split is on the widest side, by the rule of kdtree.build
    for node in range(nodes):
        width = -1.0
        for j in range(d):
            side = high[node, j] - low[node, j]
            if j >= numeric:
                side = min(side, 1.0)
            if side > width:
                column[node], width = j, side
    leaf = np.empty(n, np.int64)
    for i in range(n):
        node = 0
        while right[node] >= 0:
            j = column[node]
            node = node + 1 if queries[i, j] < low[right[node], j] else right[node]
        leaf[i] = node
    place = np.zeros(nodes + 1, np.int64)
    for i in range(n):
        place[leaf[i] + 1] += 1
    for node in range(nodes):
        place[node + 1] += place[node]
    order = np.empty(n, np.int64)
    for i in range(n):
        order[place[leaf[i]]] = i
        place[leaf[i]] += 1
    return order


@njit(cache=True, inline="always")
def _distance2(points, p, q, numeric):
    s = 0.0
    for j in range(numeric):
        t = points[p, j] - q[j]
        s += t * t
    for j in range(numeric, len(q)):
        if points[p, j] != q[j]:
            s += 1.0
    return s


@njit(cache=True, inline="always")
def _bounds(children, node, q, numeric):
    """The least squared distances from q to anything in the left and in the right child's box."""
    left, right = 0.0, 0.0
    for j in range(numeric):
        x = q[j]
        t = max(max(children[node, j, 0] - x, x - children[node, j, 2]), 0.0)
        left += t * t
        t = max(max(children[node, j, 1] - x, x - children[node, j, 3]), 0.0)
        right += t * t
    for j in range(numeric, len(q)):
        x = q[j]
        if x < children[node, j, 0] or x > children[node, j, 2]:
            left += 1.0
        if x < children[node, j, 1] or x > children[node, j, 3]:
            right += 1.0
    return left, right


@njit(cache=True, inline="always")
def _next_leaf(right, children, q, numeric, limit, stack, bounds, depth):
    """The next leaf that may hold a row within `limit`, nearer children first (-1: none left), and the depth of the stack."""
    while depth:
        depth -= 1
        if bounds[depth] > limit:
            continue
        node = stack[depth]
        while right[node] >= 0:
            near, far = node + 1, right[node]
            b_near, b_far = _bounds(children, node, q, numeric)
            if b_far < b_near:
                near, far, b_near, b_far = far, near, b_far, b_near
            if b_near > limit:
                break
            if b_far <= limit:
                stack[depth], bounds[depth] = far, b_far
                depth += 1
            node = near
        if right[node] < 0:
            return node, depth
    return -1, 0


@njit(cache=True)
def _tally(points, weight, first, start, stop, right, children, numeric, q, closest, limit, stack, bounds):
    """Rows within `limit` and the lowest of them; -1 as soon as one is closer than `closest`."""
    ties, lowest = 0, np.int64(2**62)
    stack[0], bounds[0], depth = 0, 0.0, 1
    while True:
        leaf, depth = _next_leaf(right, children, q, numeric, limit, stack, bounds, depth)
        if leaf < 0:
            return ties, lowest
        for p in range(start[leaf], stop[leaf]):
            s = _distance2(points, p, q, numeric)
            if s <= limit:
                if s < closest:
                    return -1, lowest
                ties += weight[p]
                lowest = min(lowest, first[p])


@njit(cache=True, nogil=True)
def _nearest(points, weight, first, start, stop, right, children, numeric, queries, order, out_distance2, out_ties, out_first):
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    for row in order:
        q = queries[row]
        best, limit, ties, lowest, mixed = np.inf, np.inf, 0, np.int64(0), False
        stack[0], bounds[0], depth = 0, 0.0, 1
        while True:
            leaf, depth = _next_leaf(right, children, q, numeric, limit, stack, bounds, depth)
            if leaf < 0:
                break
            for p in range(start[leaf], stop[leaf]):
                s = _distance2(points, p, q, numeric)
                if s > limit:
                    continue
                if s < best:
                    mixed = s * (1.0 + TIE) >= best  # rows counted so far may tie with the new best, or some of them may not
                    best, limit = s, s * (1.0 + TIE)
                    ties, lowest = weight[p], first[p]
                elif s == best:
                    ties += weight[p]
                    lowest = min(lowest, first[p])
                else:
                    mixed = True
        if mixed:  # distances within the tolerance but not equal: count again, now that the smallest is known
            ties, lowest = _tally(points, weight, first, start, stop, right, children, numeric, q, 0.0, limit, stack, bounds)
        out_distance2[row], out_ties[row], out_first[row] = best, ties, lowest


@njit(cache=True, nogil=True)
def _linked(points, weight, first, start, stop, right, children, numeric, queries, order, true, out_closer, out_ties):
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    for row in order:
        q = queries[row]
        t = _distance2(points, true[row], q, numeric)
        ties, _ = _tally(points, weight, first, start, stop, right, children, numeric, q, t * (1.0 - TIE), t * (1.0 + TIE), stack, bounds)
        out_closer[row] = ties < 0
        out_ties[row] = max(ties, 0)
