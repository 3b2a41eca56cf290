"""A kd-tree over the rows of a matrix, as plain arrays that compiled kernels can walk.

Rows are stored in tree order, so that a leaf is a contiguous slice and neighbouring leaves share cache lines. Boxes are tight: the
smallest and largest value of the rows actually below a node.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray


class KdTree(NamedTuple):
    """Nodes in depth-first order; node 0 is the root, and a node's left child is the node after it."""

    points: FloatArray  # (n, d) rows in tree order
    order: IntArray  # (n,) tree position -> row of the matrix the tree was built from
    start: IntArray  # (m,) first tree position below a node
    stop: IntArray  # (m,) one past the last
    right: IntArray  # (m,) right child, -1 for a leaf
    parent: IntArray  # (m,) -1 for the root
    low: FloatArray  # (m, d) tight box
    high: FloatArray  # (m, d)


def build(points: FloatArray, leaf_size: int = 16, nominal: int = 0) -> KdTree:
    """Split at the median of the widest side until at most `leaf_size` rows are left; ties are broken by row, so the tree is reproducible.

    The last `nominal` columns hold codes, whose side is 1 wide wherever codes differ: the most they can add to a squared distance.
    """
    rows = np.array(points, dtype=np.float64, order="C")
    return KdTree(rows, *_build(rows, max(1, leaf_size), nominal))


@njit(cache=True)
def _build(points, leaf_size, nominal):
    """Rearranges the rows of `points` themselves: below the first few levels a node's rows then lie together in cache."""
    n, d = points.shape
    most = 1
    while most * leaf_size < n:
        most *= 2
    most = 2 * most + 1
    order = np.arange(n)
    start = np.empty(most, np.int64)
    stop = np.empty(most, np.int64)
    right = np.full(most, -1)
    parent = np.full(most, -1)
    low = np.empty((most, d))
    high = np.empty((most, d))
    stack = np.empty((128, 3), np.int64)  # first row, last row, the parent waiting for its right child (-1: a left child or the root)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, -1  # cell by cell: what numba compiles to copy a row takes two seconds
    depth, nodes, above = 1, 0, -1
    while depth:
        depth -= 1
        a, b, waiting = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        node = nodes
        nodes += 1
        if waiting >= 0:
            right[waiting] = node
            parent[node] = waiting
        else:
            parent[node] = above
        start[node], stop[node] = a, b
        widest, width = 0, -1.0
        for j in range(d):
            smallest, largest = np.inf, -np.inf
            for i in range(a, b):
                smallest = min(smallest, points[i, j])
                largest = max(largest, points[i, j])
            low[node, j], high[node, j] = smallest, largest
            side = largest - smallest if j < d - nominal else min(largest - smallest, 1.0)
            if side > width:
                widest, width = j, side
        if b - a <= leaf_size:
            continue
        middle = (a + b) // 2
        _select(points, order, a, b, middle, np.int64(widest))  # typed, or it is compiled for the 0 above as well
        stack[depth, 0], stack[depth, 1], stack[depth, 2] = middle, b, node
        stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = a, middle, -1
        depth += 2
        above = node
    links = start[:nodes].copy(), stop[:nodes].copy(), right[:nodes].copy(), parent[:nodes].copy()
    return (order, *links, low[:nodes].copy(), high[:nodes].copy())


@njit(cache=True, inline="always")
def _swap(points, order, i, k):
    order[i], order[k] = order[k], order[i]
    for j in range(points.shape[1]):
        points[i, j], points[k, j] = points[k, j], points[i, j]


@njit(cache=True, inline="always")
def _before(points, order, i, k, j):
    return points[i, j] < points[k, j] or (points[i, j] == points[k, j] and order[i] < order[k])


@njit(cache=True)
def _select(points, order, a, b, middle, j):
    """Put the row of rank `middle` by (value of column j, row) in its place, smaller ones before it."""
    left, last = a, b - 1
    while left < last:
        if last - left > 64:
            _gather_pivot(points, order, left, last, middle, j)
        pivot_row = order[middle]
        pivot = points[middle, j]
        i, k = left, last
        while i <= k:
            while points[i, j] < pivot or (points[i, j] == pivot and order[i] < pivot_row):
                i += 1
            while points[k, j] > pivot or (points[k, j] == pivot and order[k] > pivot_row):
                k -= 1
            if i <= k:
                _swap(points, order, i, k)
                i += 1
                k -= 1
        if middle <= k:
            last = k
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True)
def _gather_pivot(points, order, left, last, middle, j):
    """Swap into place `middle` a row that should end up close to it: that rank of a sample sorted by insertion."""
    size = min(33, (last - left) // 16 + 3)
    step = (last - left) // size
    sample = np.empty(size, np.int64)
    for s in range(size):
        i = left + s * step + step // 2
        at = s
        while at > 0 and _before(points, order, i, sample[at - 1], j):
            sample[at] = sample[at - 1]
            at -= 1
        sample[at] = i
    rank = (middle - left) * size // (last - left + 1)
    if sample[rank] != middle:
        _swap(points, order, sample[rank], middle)
