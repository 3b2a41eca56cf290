"""Probabilistic record linkage (Fellegi and Sunter): pairs of records seen only through the columns they agree on.

Column j of a pair agrees when the two values differ by at most `tolerance[j]`; a nominal column holds codes and has tolerance 0. The
agreement pattern of a pair is a number: bit j says whether column j agrees. Matching and other pairs are told apart by a mixture of two
distributions over patterns with independent columns, fitted to pattern counts by expectation-maximization; the weight of a pair is
the sum over columns of an agreement or a disagreement weight, and a record is linked to the protected record of largest weight.

Ties. What a column's agreement adds is rounded to a multiple of 2^-40 of the total, so that sums are exact and do not depend on the order
of columns: pairs with the same pattern always tie, and so do patterns that exchange columns of equal worth.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels import kdtree
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage.assignment import cheapest
from shoal.kernels.threads import by_blocks

Progress = Callable[[int, int], object]

MOST_COLUMNS = 20
MOST_PAIRS = 40_000_000  # of a dense weight block: 320 MB
QUICKLY_ASSIGNED = 4_000_000  # pairs whose weights are all held when records are assigned one to one
HEAVIEST = 64  # protected rows that a row is held against where there are more
LEAF_SIZE = 8
TILE = 1024  # protected rows compared at a time, column by column
CHUNK = 1 << 13  # records between two calls of `progress`
BLOCK = 256  # records that one thread takes at a time


# Counting patterns


def pattern_counts(original: FloatArray, protected: FloatArray, tolerance: FloatArray, stands_for: IntArray | None = None) -> IntArray:
    """How many of all pairs of an original and a protected row show each of the 2^d agreement patterns; a protected row may stand for several."""
    x, y, tol = _inputs(original, protected, tolerance)
    columns, part = np.ascontiguousarray(y.T), -(-len(x) // get_num_threads())  # the tables of a part are large: one each
    if stands_for is None:
        counts = by_blocks(lambda begin, end: _pattern_counts(x[begin:end], columns, tol), len(x), max(1, part))
    else:
        counts = by_blocks(lambda begin, end: _weighed_patterns(x[begin:end], columns, tol, stands_for), len(x), max(1, part))
    return np.sum(counts, axis=0) if counts else np.zeros(1 << len(tol), np.int64)


def _inputs(original: FloatArray, protected: FloatArray, tolerance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    x, y = np.ascontiguousarray(original, dtype=np.float64), np.ascontiguousarray(protected, dtype=np.float64)
    tol = np.ascontiguousarray(tolerance, dtype=np.float64)
    if x.ndim != 2 or y.ndim != 2 or not x.shape[1] == y.shape[1] == len(tol) <= MOST_COLUMNS:
        raise ValueError(f"Both files and the tolerances must have the same columns, at most {MOST_COLUMNS}.")
    if not (np.isfinite(x).all() and np.isfinite(y).all() and (tol >= 0).all()):
        raise ValueError("Values must be finite and tolerances not negative.")
    return x, y, tol


@njit(cache=True, nogil=True)
def _pattern_counts(x, columns, tolerance):
    """Two tables take turns: most pairs agree on nothing, and adding to one cell again and again would wait for itself."""
    d, m = columns.shape
    even, odd = np.zeros(1 << d, np.int64), np.zeros(1 << d, np.int64)
    pattern = np.empty(TILE, np.int32)
    for a in range(0, m, TILE):
        width = min(TILE, m - a)
        for i in range(len(x)):
            pattern[:] = 0
            for j in range(d):
                value, tol, column = x[i, j], tolerance[j], columns[j, a : a + width]
                bit = np.int32(1 << j)
                for k in range(width):
                    pattern[k] |= bit if abs(column[k] - value) <= tol else np.int32(0)
            for k in range(0, width - 1, 2):
                even[pattern[k]] += 1
                odd[pattern[k + 1]] += 1
            if width % 2:
                even[pattern[width - 1]] += 1
    for p in range(len(even)):
        even[p] += odd[p]
    return even


@njit(cache=True, nogil=True)
def _weighed_patterns(x, columns, tolerance, stands_for):
    d, m = columns.shape
    counts = np.zeros(1 << d, np.int64)
    for i in range(len(x)):
        for k in range(m):
            pattern = 0
            for j in range(d):
                pattern |= (1 << j) if abs(columns[j, k] - x[i, j]) <= tolerance[j] else 0
            counts[pattern] += stands_for[k]
    return counts


# Linking by weight


class BestMatch(NamedTuple):
    weight: FloatArray  # largest weight
    ties: IntArray  # protected rows of that weight
    first: IntArray  # the lowest of them


class LinkedByWeight(NamedTuple):
    higher_exists: BoolArray  # some protected row has a larger weight than the true one
    ties: IntArray  # protected rows of the true one's weight, itself included; 0 where a higher one exists


def best_match(
    original: FloatArray,
    protected: FloatArray,
    tolerance: FloatArray,
    agree_weight: FloatArray,
    disagree_weight: FloatArray,
    progress: Progress | None = None,
) -> BestMatch:
    """The protected rows of largest weight for every original row, exact: branch and bound on a kd-tree over the protected rows."""
    x, y, tol = _inputs(original, protected, tolerance)
    gain, unit, base = _gains(agree_weight, disagree_weight)
    index = _index(y, tol)
    n = len(x)
    out = BestMatch(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))
    order = _search_order(x, tol)
    for a in range(0, n, CHUNK):
        some = order[a : a + CHUNK]
        by_blocks(lambda b, e, some=some: _best_match(*index[:9], x, some[b:e], tol, gain, *out), len(some), BLOCK)  # type: ignore[misc]
        if progress is not None:
            progress(min(n, a + CHUNK), n)
    return out._replace(weight=base + out.weight * unit)


def linked_by_weight(
    original: FloatArray,
    protected: FloatArray,
    true_row: IntArray,
    tolerance: FloatArray,
    agree_weight: FloatArray,
    disagree_weight: FloatArray,
    progress: Progress | None = None,
    stands_for: IntArray | None = None,
) -> LinkedByWeight:
    """Whether any protected row outweighs an original row's true one, and if not how many tie with it; stops at the first that does.

    A protected row may stand for several.
    """
    x, y, tol = _inputs(original, protected, tolerance)
    gain, _, _ = _gains(agree_weight, disagree_weight)
    index = _index(y, tol, stands_for)
    n = len(x)
    true = np.ascontiguousarray(true_row, dtype=np.int64)
    if len(true) != n or (n and not 0 <= true.min() <= true.max() < len(y)):
        raise ValueError("Every original row needs one true row, and it must be a row of the protected file.")
    out = LinkedByWeight(np.empty(n, np.bool_), np.empty(n, np.int64))
    order = _search_order(x, tol)
    position = index.position[true]
    for a in range(0, n, CHUNK):
        some = order[a : a + CHUNK]
        by_blocks(lambda b, e, some=some: _linked_by_weight(*index[:9], x, some[b:e], position, tol, gain, *out), len(some), BLOCK)  # type: ignore[misc]
        if progress is not None:
            progress(min(n, a + CHUNK), n)
    return out


def _gains(agree: FloatArray, disagree: FloatArray) -> tuple[FloatArray, float, float]:
    """What each column's agreement adds, in whole units small enough that sums are exact; the unit; and the weight of no agreement."""
    a, b = np.asarray(agree, dtype=np.float64), np.asarray(disagree, dtype=np.float64)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise ValueError("Weights must be finite.")
    unit = 2.0 ** (np.ceil(np.log2(np.abs(a - b).sum() + 1e-300)) - 40)  # a power of two: weights such as 3 or 2.5 are not rounded at all
    return np.rint((a - b) / unit), float(unit), float(b.sum())


class _Index(NamedTuple):
    """A kd-tree over the distinct protected rows, split in units of the tolerances: there a side's width says how much it can decide."""

    points: FloatArray
    weight: IntArray  # how many protected rows are identical to a tree position's
    first: IntArray  # the lowest of them
    start: IntArray
    stop: IntArray
    right: IntArray
    low: FloatArray
    high: FloatArray
    below: IntArray  # (nodes, 2): protected rows below a node, and the lowest of them
    position: IntArray  # protected row -> tree position


def _units(x: FloatArray, tolerance: FloatArray) -> FloatArray:
    """Tolerances; codes and other exact columns count by ones."""
    return x / np.where(tolerance > 0, tolerance, 1.0)


def _index(y: FloatArray, tolerance: FloatArray, stands_for: IntArray | None = None) -> _Index:
    if len(y) == 0:
        raise ValueError("The protected file has no rows.")
    same_as, first, weight = distinct_rows(y, stands_for)
    rows = y[first]
    tree = kdtree.build(_units(rows, tolerance), LEAF_SIZE)
    place = np.empty(len(first), np.int64)
    place[tree.order] = np.arange(len(first))
    points, weight, first = rows[tree.order], weight[tree.order], first[tree.order]
    low, high, below = _summaries(points, weight, first, tree.start, tree.stop, tree.right)
    return _Index(points, weight, first, tree.start, tree.stop, tree.right, low, high, below, place[same_as])


def _search_order(x: FloatArray, tolerance: FloatArray) -> IntArray:
    """Tree order of the queries themselves, so that successive searches share cache."""
    return kdtree.build(_units(x, tolerance), LEAF_SIZE).order


@njit(cache=True)
def _summaries(points, weight, first, start, stop, right):
    """Boxes in the values themselves (division by the tolerance rounds), row counts and lowest rows, children before parents."""
    nodes, d = len(start), points.shape[1]
    low, high = np.full((nodes, d), np.inf), np.full((nodes, d), -np.inf)
    below = np.zeros((nodes, 2), np.int64)
    below[:, 1] = 2**62
    for node in range(nodes - 1, -1, -1):
        if right[node] < 0:
            for p in range(start[node], stop[node]):
                low[node], high[node] = np.minimum(low[node], points[p]), np.maximum(high[node], points[p])
                below[node, 0] += weight[p]
                below[node, 1] = min(below[node, 1], first[p])
        else:
            a, b = node + 1, right[node]
            low[node], high[node] = np.minimum(low[a], low[b]), np.maximum(high[a], high[b])
            below[node, 0] = below[a, 0] + below[b, 0]
            below[node, 1] = min(below[a, 1], below[b, 1])
    return low, high, below


@njit(cache=True, inline="always")
def _pair_weight(points, p, q, tolerance, gain):
    w = 0.0
    for j in range(len(q)):
        w += gain[j] if abs(points[p, j] - q[j]) <= tolerance[j] else 0.0
    return w


@njit(cache=True, inline="always")
def _node_bound(low, high, node, q, tolerance, gain):
    """The largest weight a row in the box can have, whether every row has it, and how far the box is, in units of the tolerance."""
    w, decided, far = 0.0, True, 0.0
    for j in range(len(q)):
        below, above = low[node, j] - q[j], q[j] - high[node, j]
        gap = max(below, above)
        if gap <= tolerance[j]:
            if -min(below, above) <= tolerance[j]:  # the whole box is within the tolerance
                w += gain[j]
            else:
                w += max(gain[j], 0.0)
                decided = False
        far += max(gap, 0.0) / (tolerance[j] + 1e-300) if gap <= tolerance[j] else 1.0
    return w, decided, far


@njit(cache=True)
def _search(points, weight, first, start, stop, right, low, high, below, q, tolerance, gain, best, enough, stack, bounds):
    """The largest weight of at least `best`, how many rows have it and the lowest of them; stops above `enough`. Best bounds first."""
    ties, lowest = 0, np.int64(2**62)
    stack[0], bounds[0], depth = 0, np.inf, 1
    while depth:
        depth -= 1
        if bounds[depth] < best:
            continue
        node = stack[depth]
        if right[node] < 0:
            for p in range(start[node], stop[node]):
                w = _pair_weight(points, p, q, tolerance, gain)
                if w > best:
                    best, ties, lowest = w, 0, np.int64(2**62)
                    if w > enough:
                        return best, ties, lowest
                if w == best:
                    ties += weight[p]
                    lowest = min(lowest, first[p])
            continue
        a, b = node + 1, right[node]
        w_a, decided_a, far_a = _node_bound(low, high, a, q, tolerance, gain)
        w_b, decided_b, far_b = _node_bound(low, high, b, q, tolerance, gain)
        if w_a > w_b or (w_a == w_b and far_a <= far_b):  # pushed last, visited first
            a, b, w_a, w_b, decided_a, decided_b = b, a, w_b, w_a, decided_b, decided_a
        for child, w, decided in ((a, w_a, decided_a), (b, w_b, decided_b)):
            if w < best:
                continue
            if decided:  # every row below has this weight: no need to look at them
                if w > best:
                    best, ties, lowest = w, 0, np.int64(2**62)
                    if w > enough:
                        return best, ties, lowest
                ties += below[child, 0]
                lowest = min(lowest, below[child, 1])
            else:
                stack[depth], bounds[depth] = child, w
                depth += 1
    return best, ties, lowest


@njit(cache=True, nogil=True)
def _best_match(points, weight, first, start, stop, right, low, high, below, x, order, tolerance, gain, out_weight, out_ties, out_first):
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    for row in order:
        out_weight[row], out_ties[row], out_first[row] = _search(
            points, weight, first, start, stop, right, low, high, below, x[row], tolerance, gain, -np.inf, np.inf, stack, bounds
        )


@njit(cache=True, nogil=True)
def _linked_by_weight(points, weight, first, start, stop, right, low, high, below, x, order, true, tolerance, gain, out_higher, out_ties):
    stack, bounds = np.empty(128, np.int64), np.empty(128)
    for row in order:
        own = _pair_weight(points, true[row], x[row], tolerance, gain)
        best, ties, _ = _search(
            points, weight, first, start, stop, right, low, high, below, x[row], tolerance, gain, own, own, stack, bounds
        )
        out_higher[row] = best > own
        out_ties[row] = 0 if best > own else ties


# One to one


def one_to_one(
    original: FloatArray, protected: FloatArray, tolerance: FloatArray, agree_weight: FloatArray, disagree_weight: FloatArray
) -> IntArray:
    """The protected row assigned to each original row (-1: none is left) so that the weights sum to the most.

    Among equally good assignments the solver's choice depends on the order of rows: shuffle both files first. Beyond QUICKLY_ASSIGNED pairs
    a row may go to one of its HEAVIEST only, as in `assignment`.
    """
    from scipy.optimize import linear_sum_assignment  # half a second that only this needs

    assigned = np.full(len(original), -1, np.int64)
    if len(original) * len(protected) <= QUICKLY_ASSIGNED:
        block = weight_block(original, protected, tolerance, agree_weight, disagree_weight)
        rows, columns = linear_sum_assignment(block, maximize=True)
    else:
        rows, columns = cheapest(
            len(original), len(protected), *_heavy_pairs(original, protected, tolerance, agree_weight, disagree_weight)
        )
    assigned[rows] = columns
    return assigned


def _heavy_pairs(
    original: FloatArray, protected: FloatArray, tolerance: FloatArray, agree_weight: FloatArray, disagree_weight: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Each row beside its HEAVIEST protected rows, with how far their weight is from the most there can be. Blocks of rows see the protected
    rows in another order each, so that of many equally heavy not all take the same."""
    most, n = float(np.maximum(agree_weight, disagree_weight).sum()), len(protected)
    rows, columns, costs = [], [], []
    size, count = max(1, QUICKLY_ASSIGNED // n), min(HEAVIEST, n)
    for turn, begin in enumerate(range(0, len(original), size)):
        order = np.roll(np.arange(n), -turn * HEAVIEST)
        block = weight_block(original[begin : begin + size], protected[order], tolerance, agree_weight, disagree_weight)
        heavy = np.argpartition(-block, count - 1, axis=1)[:, :count]
        rows.append(np.repeat(np.arange(begin, begin + len(block)), count))
        columns.append(order[heavy].ravel())
        costs.append(np.maximum(most - np.take_along_axis(block, heavy, 1), 0.0).ravel())
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(costs)


def weight_block(
    original: FloatArray, protected: FloatArray, tolerance: FloatArray, agree_weight: FloatArray, disagree_weight: FloatArray
) -> FloatArray:
    """The weights of all pairs, for files small enough to hold them; rounded as everywhere here, so that equal weights are equal."""
    x, y, tol = _inputs(original, protected, tolerance)
    if len(x) * len(y) > MOST_PAIRS:
        raise ValueError(f"{len(x):,} x {len(y):,} pairs are more than the {MOST_PAIRS:,} that are held in memory.")
    gain, unit, base = _gains(agree_weight, disagree_weight)
    columns, block = np.ascontiguousarray(y.T), np.zeros((len(x), len(y)))
    by_blocks(lambda begin, end: _weigh(x[begin:end], columns, tol, gain, unit, base, block[begin:end]), len(x), BLOCK)
    return block


@njit(cache=True, nogil=True)
def _weigh(x, columns, tolerance, gain, unit, base, block):
    for i in range(len(x)):
        weights = block[i]
        for j in range(len(columns)):
            for k in range(len(weights)):
                weights[k] += gain[j] if abs(columns[j, k] - x[i, j]) <= tolerance[j] else 0.0
        for k in range(len(weights)):
            weights[k] = base + weights[k] * unit
