"""Groups around units that are too small, or of too few sensitive values, given up one after the other."""

from heapq import heapify, heappop, heappush

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.diversity import columns_of
from shoal.kernels.live_tree import leave, nearest, plant

LEAF_SIZE = 8


def dissolve(points: FloatArray, units: FloatArray, groups: IntArray, k: int, sensitive: IntArray | None = None, l: int = 1) -> IntArray:  # noqa: E741
    """Groups of at least k records with at least l different codes of each sensitive column: the smallest that lacks either is dissolved first.

    Its records go, each by itself, to the nearest unit that still has any. Of equally small groups the lowest goes first. Groups keep the
    numbers of their units. A sensitive code of -1 counts for nothing. The whole table must comply.
    """
    data = np.ascontiguousarray(points, dtype=np.float64)
    codes = np.zeros((len(data), 0), np.int64) if sensitive is None else columns_of(sensitive, len(data)).astype(np.int64)
    values = [column[column >= 0] for column in codes.T]
    if len(data) < k or any(len(np.unique(column)) < l for column in values):
        raise ValueError("The whole table has fewer records than k, or fewer sensitive values than l.")
    offset = np.cumsum([0] + [int(column.max()) + 1 for column in values])
    codes = np.ascontiguousarray(np.where(codes < 0, -1, codes + offset[:-1]))
    occupied, dense = np.unique(groups, return_inverse=True)
    tree = plant(np.ascontiguousarray(units[occupied]), LEAF_SIZE)
    result: IntArray = occupied[_dissolved(tree, data, dense.reshape(-1).astype(np.int64), k, codes, int(offset[-1]), l)]
    return result


@njit(cache=True)
def _dissolved(tree, data, groups, k, codes, values, l):  # noqa: E741
    n, held = data.shape[0], tree.leaf.shape[0]
    first, following, size = np.full(held, -1), np.full(n, -1), np.zeros(held, np.int64)
    for i in range(n - 1, -1, -1):
        following[i] = first[groups[i]]
        first[groups[i]] = i
        size[groups[i]] += 1
    diverse = np.empty(held, np.bool_)
    seen = np.full(values, -1)
    mark = 0
    waiting = [np.int64(0) for _ in range(0)]
    for g in range(held):
        diverse[g] = _diverse(first[g], following, codes, seen, mark, l)
        mark += 1
        if size[g] < k or not diverse[g]:
            waiting.append(size[g] * held + g)
    heapify(waiting)
    stack, bounds = np.empty(256, np.int64), np.empty(256)
    near, near_distance = np.empty(1, np.int64), np.empty(1)
    while len(waiting):
        key = heappop(waiting)
        g = key % held
        if key // held != size[g] or (size[g] >= k and diverse[g]):
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
            if not diverse[to]:
                diverse[to] = _diverse(first[to], following, codes, seen, mark, l)
                mark += 1
            if size[to] < k or not diverse[to]:
                heappush(waiting, size[to] * held + to)
            i = after
    return groups


@njit(cache=True)
def _diverse(i, following, codes, seen, mark, l):  # noqa: E741
    different = np.zeros(codes.shape[1], np.int64)
    while i >= 0:
        for q in range(len(different)):
            code = codes[i, q]
            if code >= 0 and seen[code] != mark:
                seen[code] = mark
                different[q] += 1
        i = following[i]
    return len(different) == 0 or different.min() >= l
