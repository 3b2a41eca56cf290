"""Groups of at least k where nothing is known but distances: MDAV, then moves and exchanges.

Without coordinates there is no average row. The row farthest from the centre is the one whose distances to all live rows have the largest
sum. Sums are of whole numbers, the 2^-40th parts of 1, so that they are exact in any order; ties go to the lowest row.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import Float32Array, IntArray

UNIT = 2.0**40
GAIN = 1e-12


def distance_groups(distances: Float32Array, k: int) -> IntArray:
    """The group of each row, numbered in order of creation; sizes are k to 2k - 1, or all rows where there are fewer than 2k."""
    rows = _checked(distances, k)
    groups: IntArray = _mdav(rows, k)
    return groups


def swap_by_distance(distances: Float32Array, groups: IntArray, k: int, passes: int) -> IntArray:
    """New groups of k to 2k - 1 rows, with a smaller sum of squared distances inside groups, each over the size of its group."""
    rows = _checked(distances, k)
    found = np.array(groups, np.int64)
    sizes = np.bincount(found)
    if len(found) < 2 * k:
        return found
    if sizes.min() < k or sizes.max() > 2 * k - 1:
        raise ValueError(f"Groups must have k = {k} to {2 * k - 1} rows; these have {sizes.min()} to {sizes.max()}.")
    for _ in range(passes):
        if not _pass(rows, found, sizes, k):
            break
    return found


def _checked(distances: NDArray[Any], k: int) -> Float32Array:
    rows = np.ascontiguousarray(distances, np.float32)
    if k < 1:
        raise ValueError(f"k must be 1 or more, got {k}.")
    if rows.ndim != 2 or rows.shape[0] != rows.shape[1] or not ((rows >= 0) & (rows <= 1)).all():
        raise ValueError("Distances must be a square matrix of numbers from 0 to 1.")
    return rows


@njit(cache=True)
def _whole(distance):
    return np.int64(np.rint(distance * UNIT))


@njit(cache=True)
def _farthest(groups, far):
    best = -1
    for i in range(groups.shape[0]):
        if groups[i] < 0 and (best < 0 or far[i] > far[best]):
            best = i
    return best


@njit(cache=True)
def _leave(distances, groups, totals, i, group):
    groups[i] = group
    row = distances[i]
    for j in range(row.shape[0]):
        totals[j] -= _whole(row[j])


@njit(cache=True)
def _group(distances, groups, totals, first, k, group):
    """Group a row with its k - 1 nearest."""
    row = distances[first]
    _leave(distances, groups, totals, first, group)
    for _ in range(k - 1):
        near = -1
        for j in range(row.shape[0]):
            if groups[j] < 0 and (near < 0 or row[j] < row[near]):
                near = j
        _leave(distances, groups, totals, near, group)


@njit(cache=True)
def _mdav(distances, k):
    n = live = distances.shape[0]
    groups = np.full(n, -1, np.int64)
    totals = np.zeros(n, np.int64)
    for i in range(n):
        for j in range(n):
            totals[i] += _whole(distances[i, j])
    made = 0
    while live >= 2 * k:
        first = _farthest(groups, totals)
        _group(distances, groups, totals, first, k, made)
        made += 1
        live -= k
        if live >= 2 * k:  # 3k when the round began
            _group(distances, groups, totals, _farthest(groups, distances[first]), k, made)
            made += 1
            live -= k
    for i in range(n):
        if groups[i] < 0:
            groups[i] = made
    return groups


@njit(cache=True)
def _squares(distances, groups, i, to, count):
    """From a row to each group: the sum of squared distances."""
    to[:count] = 0.0
    for j in range(groups.shape[0]):
        to[groups[j]] += np.float64(distances[i, j]) ** 2


@njit(cache=True)
def _pass(distances, groups, sizes, k):
    """Each row in turn makes the one move or exchange that lowers the sum most. Returns how many did."""
    n, count = groups.shape[0], sizes.shape[0]
    inside = np.zeros(count)  # squared distances of a group's pairs
    own = np.zeros(n)  # of a row to the rest of its group
    to = np.zeros(count)
    back = np.zeros(n)
    for i in range(n):
        _squares(distances, groups, i, to, count)
        own[i] = to[groups[i]]
        inside[groups[i]] += own[i] / 2
    changes = 0
    for i in range(n):
        a = groups[i]
        _squares(distances, groups, i, to, count)
        back[:] = 0.0
        for m in range(n):
            if groups[m] == a:
                for j in range(n):
                    back[j] += np.float64(distances[m, j]) ** 2
        best, partner, target = -GAIN, -1, -1
        for j in range(n):
            b = groups[j]
            if b != a:
                square = np.float64(distances[i, j]) ** 2
                change = (back[j] - square - own[i]) / sizes[a] + (to[b] - square - own[j]) / sizes[b]
                if change < best:
                    best, partner, target = change, j, b
        if sizes[a] > k:
            left = (inside[a] - own[i]) / (sizes[a] - 1) - inside[a] / sizes[a]
            for b in range(count):
                if b != a and sizes[b] < 2 * k - 1:
                    change = left + (inside[b] + to[b]) / (sizes[b] + 1) - inside[b] / sizes[b]
                    if change < best:
                        best, partner, target = change, -1, b
        if target < 0:
            continue
        changes += 1
        groups[i] = target
        if partner >= 0:
            groups[partner] = a
        else:
            sizes[a] -= 1
            sizes[target] += 1
        inside[a] = inside[target] = 0.0
        for j in range(n):
            if groups[j] == a or groups[j] == target:
                own[j] = 0.0
                for m in range(n):
                    if groups[m] == groups[j]:
                        own[j] += np.float64(distances[j, m]) ** 2
                inside[groups[j]] += own[j] / 2
    return changes
