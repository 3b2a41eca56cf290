"""Is anyone closer than the true match? Exact linking under a learned distance, whatever the aggregator.

A record is a row of coordinates. Each coordinate belongs to an attribute; numbers differ by |x - y|^power, codes by 0 or 1, and the terms of
an attribute are added up to its difference. An aggregator makes one distance of the differences:

* `weighted`: the weighted sum. * `ordered`: the weights go to the differences from the largest down (OWA).
* `choquet`: a weight for every set of attributes, by bit mask. * `pairs`: weights for the attributes, then for the smaller and for the larger
  of each two, which is every Choquet integral of a 2-additive measure.

None of them falls when a difference grows, so the aggregated differences to a box are the least distance to anything in it: the walk down
the kd-tree drops boxes that are farther than the true match, and stops at the first record that is closer. Weighted sums of squares without
codes are Euclidean after scaling and go to the faster `neighbours`. Ties are those of `neighbours`: distances within 1e-12 of their size.
"""

from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels import kdtree
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage import neighbours
from shoal.kernels.linkage.neighbours import TIE, Linked, Progress
from shoal.kernels.threads import by_blocks

Kind = Literal["weighted", "ordered", "choquet", "pairs"]

KINDS: tuple[Kind, ...] = ("weighted", "ordered", "choquet", "pairs")
POWERS = (1, 2, 4, 8, 16)
LEAF_SIZE = 8
CHUNK = 1 << 16
BLOCK = 512  # queries that one thread takes at a time
SLACK = 1 + 1e-9  # a box's bound goes through other roundings than a record's distance; nothing within this is dropped


class Distance(NamedTuple):
    """An aggregator with its weights, none of them negative, and what it reads."""

    kind: Kind
    weights: FloatArray  # n; for `choquet` 2^n; for `pairs` n + n (n - 1)
    power: int  # of the differences: 1, 2, 4, 8 or 16
    attribute: IntArray  # of each coordinate, 0 .. n - 1
    numeric: int  # the first coordinates are numbers, the rest codes

    @property
    def attributes(self) -> int:
        """How many differences it aggregates."""
        return int(self.attribute.max(initial=-1)) + 1


class Nearest(NamedTuple):
    rows: IntArray  # (queries, count) the lowest row of each distinct protected record, nearest first; -1 where there are fewer
    distance: FloatArray


def linked(
    protected: FloatArray,
    queries: FloatArray,
    true_row: IntArray,
    by: Distance,
    progress: Progress | None = None,
    stands_for: IntArray | None = None,
) -> Linked:
    """Whether some protected row is closer to a query than its true row, and how many tie with it where none is. A row may stand for several."""
    protected, queries = _checked(protected, by), _checked(queries, by)
    true = np.ascontiguousarray(true_row, np.int64)
    if len(true) != len(queries) or (len(true) and not 0 <= true.min() <= true.max() < len(protected)):
        raise ValueError("Every query needs one true row, and it must be a row of the protected file.")
    if by.kind == "weighted" and by.power == 2 and by.numeric == len(by.attribute):
        stretch = np.sqrt(by.weights[by.attribute])
        return neighbours.linked(protected * stretch, queries * stretch, true, progress=progress, stands_for=stands_for)
    tree, weight, _, position = _tree(protected, by, stands_for)
    out = Linked(np.empty(len(true), np.bool_), np.empty(len(true), np.int64))
    at, plan = position[true], _plan(by)
    order = np.argsort(at, kind="stable")  # neighbouring searches share cache
    for a in range(0, len(order), CHUNK):
        some = order[a : a + CHUNK]
        by_blocks(lambda b, e, some=some: _linked(tree, weight, queries, some[b:e], at, plan, *out), len(some), BLOCK)  # type: ignore[misc]
        if progress is not None:
            progress(min(len(order), a + CHUNK), len(order))
    return out


def nearest(protected: FloatArray, queries: FloatArray, by: Distance, count: int) -> Nearest:
    """The `count` nearest distinct protected records of every query."""
    protected, queries = _checked(protected, by), _checked(queries, by)
    tree, _, first, _ = _tree(protected, by)
    out = Nearest(np.full((len(queries), count), -1), np.full((len(queries), count), np.inf))
    plan = _plan(by)
    by_blocks(lambda begin, end: _nearest(tree, first, queries, begin, end, plan, *out), len(queries), BLOCK)
    return out


def distances(protected: FloatArray, queries: FloatArray, by: Distance) -> FloatArray:
    """All of them, for assigning records one to one: as many as queries times protected rows."""
    protected, queries = _checked(protected, by), _checked(queries, by)
    if by.kind == "weighted" and by.power == 2:  # as products of matrices; rounding may part ties, which assigning does not mind
        weights, n = by.weights[by.attribute], by.numeric
        mine, theirs = (side[:, :n] * np.sqrt(weights[:n]) for side in (queries, protected))
        found: FloatArray = (mine**2).sum(axis=1)[:, None] + (theirs**2).sum(axis=1) - 2 * mine @ theirs.T
        np.maximum(found, 0.0, out=found)
        for j in range(n, len(weights)):
            found += np.where(queries[:, j, None] != protected[:, j], weights[j], 0.0)
        return found
    out = np.empty((len(queries), len(protected)))
    plan = _plan(by)
    by_blocks(lambda begin, end: _distances(protected, queries[begin:end], plan, out[begin:end]), len(queries), BLOCK)
    return out


class _Plan(NamedTuple):
    """A distance as compiled code reads it."""

    weights: FloatArray
    attribute: IntArray
    numeric: int
    n: int  # attributes
    squarings: int  # of a difference; -1 for its absolute value
    kind: int


def _plan(by: Distance) -> _Plan:
    weights, attribute = np.ascontiguousarray(by.weights, np.float64), np.ascontiguousarray(by.attribute, np.int64)
    return _Plan(weights, attribute, by.numeric, by.attributes, POWERS.index(by.power) - 1, KINDS.index(by.kind))


def _checked(rows: FloatArray, by: Distance) -> FloatArray:
    x = np.ascontiguousarray(rows, np.float64)
    if x.ndim != 2 or x.shape[1] != len(by.attribute):
        raise ValueError("Rows need one column for each coordinate of the distance.")
    if not np.isfinite(x).all():
        raise ValueError("Distances need finite values: impute or drop missing ones first.")
    return x


def _tree(protected: FloatArray, by: Distance, stands_for: IntArray | None = None) -> tuple[kdtree.KdTree, IntArray, IntArray, IntArray]:
    """A tree over the distinct rows; how many rows each stands for, the lowest of them, and where a row is."""
    if not len(protected):
        raise ValueError("The protected file has no rows.")
    same_as, first, weight = distinct_rows(protected, stands_for)
    tree = kdtree.build(protected[first], LEAF_SIZE, len(by.attribute) - by.numeric)
    place = np.empty(len(first), np.int64)
    place[tree.order] = np.arange(len(first))
    return tree, weight[tree.order], first[tree.order], place[same_as]


@njit(cache=True, forceinline=True)
def _term(t, squarings):
    if squarings < 0:
        return abs(t)
    t = t * t
    for _ in range(squarings):
        t = t * t
    return t


@njit(cache=True, forceinline=True)
def _aggregate(c, s, weights, n, kind):
    """One distance of the differences c; s is room to sort in."""
    total = 0.0
    if kind == 0:
        for a in range(n):
            total += weights[a] * c[a]
    elif kind == 1:
        for a in range(n):
            at = a
            while at > 0 and s[at - 1] < c[a]:
                s[at] = s[at - 1]
                at -= 1
            s[at] = c[a]
        for a in range(n):
            total += weights[a] * s[a]
    elif kind == 2:
        # s holds the attributes, smallest difference first
        for a in range(n):
            at = a
            while at > 0 and c[int(s[at - 1])] > c[a]:
                s[at] = s[at - 1]
                at -= 1
            s[at] = a
        left, below = (1 << n) - 1, 0.0
        for k in range(n):
            a = int(s[k])
            total += (c[a] - below) * weights[left]
            below = c[a]
            left ^= 1 << a
    else:
        for a in range(n):
            total += weights[a] * c[a]
        at = n
        for a in range(n):
            for b in range(a + 1, n):
                total += weights[at] * min(c[a], c[b]) + weights[at + 1] * max(c[a], c[b])
                at += 2
    return total


@njit(cache=True, forceinline=True)
def _distance(points, p, q, weights, attribute, numeric, n, squarings, kind, c, s):
    for a in range(n):
        c[a] = 0.0
    for j in range(numeric):
        c[attribute[j]] += _term(points[p, j] - q[j], squarings)
    for j in range(numeric, len(q)):
        if points[p, j] != q[j]:
            c[attribute[j]] += 1.0
    return _aggregate(c, s, weights, n, kind)


@njit(cache=True, forceinline=True)
def _bound(low, high, node, q, weights, attribute, numeric, n, squarings, kind, c, s):
    """The least distance from q to anything in the node's box."""
    for a in range(n):
        c[a] = 0.0
    for j in range(numeric):
        t = max(max(low[node, j] - q[j], q[j] - high[node, j]), 0.0)
        c[attribute[j]] += _term(t, squarings)
    for j in range(numeric, len(q)):
        if q[j] < low[node, j] or q[j] > high[node, j]:
            c[attribute[j]] += 1.0
    return _aggregate(c, s, weights, n, kind)


# The searches are called by what lets go of the interpreter: compiled code is optimized once more where it is called, and that second
# round takes the choice of the aggregator out of the loops.


@njit(cache=True, nogil=True)
def _linked(tree, weight, queries, order, true, plan, closer, ties):
    _search_linked(tree, weight, queries, order, true, plan, closer, ties)


@njit(cache=True)
def _search_linked(tree, weight, queries, order, true, plan, closer, ties):
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    weights, attribute, numeric, n, squarings, kind = plan
    c, s = np.empty(n), np.empty(n)
    points, start, stop, right, low, high = tree.points, tree.start, tree.stop, tree.right, tree.low, tree.high
    for row in order:
        q = queries[row]
        t = _distance(points, true[row], q, weights, attribute, numeric, n, squarings, kind, c, s)
        closest, limit = t * (1.0 - TIE), t * (1.0 + TIE)
        cut = limit * SLACK
        found, is_closer = 0, False
        stack[0], bounds[0], depth = 0, 0.0, 1
        while depth and not is_closer:
            depth -= 1
            if bounds[depth] > cut:
                continue
            node = stack[depth]
            while right[node] >= 0:
                near, far = node + 1, right[node]
                b_near = _bound(low, high, near, q, weights, attribute, numeric, n, squarings, kind, c, s)
                b_far = _bound(low, high, far, q, weights, attribute, numeric, n, squarings, kind, c, s)
                if b_far < b_near:
                    near, far, b_near, b_far = far, near, b_far, b_near
                if b_near > cut:
                    node = -1
                    break
                if b_far <= cut:
                    stack[depth], bounds[depth] = far, b_far
                    depth += 1
                node = near
            if node < 0:
                continue
            for p in range(start[node], stop[node]):
                d = _distance(points, p, q, weights, attribute, numeric, n, squarings, kind, c, s)
                if d < closest:
                    is_closer = True
                    break
                if d <= limit:
                    found += weight[p]
        closer[row] = is_closer
        ties[row] = 0 if is_closer else found


@njit(cache=True, nogil=True)
def _nearest(tree, first, queries, begin, end, plan, rows, distances):
    _search_nearest(tree, first, queries, begin, end, plan, rows, distances)


@njit(cache=True)
def _search_nearest(tree, first, queries, begin, end, plan, rows, distances):
    count = rows.shape[1]
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    weights, attribute, numeric, n, squarings, kind = plan
    c, s = np.empty(n), np.empty(n)
    points, start, stop, right, low, high = tree.points, tree.start, tree.stop, tree.right, tree.low, tree.high
    for row in range(begin, end):
        q = queries[row]
        stack[0], bounds[0], depth = 0, 0.0, 1
        while depth:
            depth -= 1
            if bounds[depth] > distances[row, count - 1] * SLACK:
                continue
            node = stack[depth]
            while right[node] >= 0:
                near, far = node + 1, right[node]
                b_near = _bound(low, high, near, q, weights, attribute, numeric, n, squarings, kind, c, s)
                b_far = _bound(low, high, far, q, weights, attribute, numeric, n, squarings, kind, c, s)
                if b_far < b_near:
                    near, far, b_near, b_far = far, near, b_far, b_near
                stack[depth], bounds[depth] = far, b_far
                depth += 1
                node = near
            for p in range(start[node], stop[node]):
                d = _distance(points, p, q, weights, attribute, numeric, n, squarings, kind, c, s)
                # by distance, then by row: what is kept does not depend on the walk
                at = count
                while at > 0 and (distances[row, at - 1] > d or (distances[row, at - 1] == d and rows[row, at - 1] > first[p])):
                    at -= 1
                if at < count:
                    for k in range(count - 1, at, -1):
                        distances[row, k], rows[row, k] = distances[row, k - 1], rows[row, k - 1]
                    distances[row, at], rows[row, at] = d, first[p]


@njit(cache=True, nogil=True)
def _distances(points, queries, plan, out):
    for row in range(len(queries)):
        _distances_of(points, queries[row], plan, out[row])


@njit(cache=True)
def _distances_of(points, q, plan, out):
    weights, attribute, numeric, n, squarings, kind = plan
    c, s = np.empty(n), np.empty(n)
    for p in range(len(points)):
        out[p] = _distance(points, p, q, weights, attribute, numeric, n, squarings, kind, c, s)
