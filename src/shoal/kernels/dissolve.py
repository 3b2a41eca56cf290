"""Groups around units that are too small, or of too few sensitive values, given up one after the other."""

from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.live_tree import leave, nearest, plant

LEAF_SIZE = 8


def dissolve(points: FloatArray, units: FloatArray, groups: IntArray, k: int, sensitive: IntArray | None = None, l: int = 1) -> IntArray:  # noqa: E741
    """Groups of at least k records with at least l different sensitive codes: the smallest one that lacks either is dissolved first.

    Its records go, each by itself, to the nearest unit that still has any. Of equally small groups the lowest goes first. Groups keep the
    numbers of their units. The whole table must comply.
    """
    data = np.ascontiguousarray(points, dtype=np.float64)
    codes = np.zeros(len(data), np.int64) if sensitive is None else np.ascontiguousarray(sensitive, dtype=np.int64)
    if len(data) < k or len(np.unique(codes)) < l:
        raise ValueError("The whole table has fewer records than k, or fewer sensitive values than l.")
    occupied, dense = np.unique(groups, return_inverse=True)
    tree = plant(np.ascontiguousarray(units[occupied]), LEAF_SIZE)
    result: IntArray = occupied[_dissolved(tree, data, dense.reshape(-1).astype(np.int64), k, codes, l)]
    return result


@njit(cache=True)
def _dissolved(tree, data, groups, k, codes, l):  # noqa: E741
    n, held = data.shape[0], tree.leaf.shape[0]
    first, following, size = np.full(held, -1), np.full(n, -1), np.zeros(held, np.int64)
    for i in range(n - 1, -1, -1):
        following[i] = first[groups[i]]
        first[groups[i]] = i
        size[groups[i]] += 1
    different = np.empty(held, np.int64)
    seen = np.full(codes.max() + 1, -1)
    mark = 0
    waiting = [np.int64(0) for _ in range(0)]
    for g in range(held):
        different[g] = _different(first[g], following, codes, seen, mark)
        mark += 1
        if size[g] < k or different[g] < l:
            waiting.append(size[g] * held + g)
    heapify(waiting)
    stack, bounds = np.empty(256, np.int64), np.empty(256)
    near, near_distance = np.empty(1, np.int64), np.empty(1)
    while len(waiting):
        key = heappop(waiting)
        g = key % held
        if key // held != size[g] or (size[g] >= k and different[g] >= l):
            continue  # it has grown since; if it still lacks something, it waits further down
        leave(tree, g)
        i = first[g]
        size[g], first[g] = 0, -1
        while i >= 0:
            after = following[i]
            nearest(tree, data[i], tree.leaf[g], 1, near, near_distance, stack, bounds)
            to = near[0]
            groups[i] = to
            following[i] = first[to]
            first[to] = i
            size[to] += 1
            if different[to] < l:
                different[to] = _different(first[to], following, codes, seen, mark)
                mark += 1
            if size[to] < k or different[to] < l:
                heappush(waiting, size[to] * held + to)
            i = after
    return groups


@njit(cache=True)
def _different(i, following, codes, seen, mark):
    count = 0
    while i >= 0:
        if seen[codes[i]] != mark:
            seen[codes[i]] = mark
            count += 1
        i = following[i]
    return count
