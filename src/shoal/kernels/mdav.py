"""MDAV: groups of at least k rows, formed from the outside in (Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer & Torra 2005).

While 3k rows or more are live: take the row farthest from the average row, group it with its k - 1 nearest, then do the same around the
row farthest from that one. With 2k rows or more left, one group more; what remains is the last group.

Two kernels give the same groups. The naive one walks all live rows for each question. The fast one asks a kd-tree whose boxes shrink as
rows leave. They agree to the last bit because they share these rules:

* a squared distance is summed over the columns from left to right;
* of equally distant rows the lowest row goes first;
* the average row is the total of the live rows over their count. The total is taken in row order, a row is subtracted as it leaves
  (the group's first row, then the others from near to far), and it is taken anew when the count has halved and for the last groups.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.live_tree import farthest, leave, nearest, plant, recentre

Progress = Callable[[int, int], object]

SMALL = 1500  # up to this many live rows the plain loop is the faster one
LEAF_SIZE = 16
CODES_FIRST = 2.0**20  # codes times this are wider than any number: a tree splits them first
PAYS = 0.8  # of the live rows, looked at for each group, up to which a tree beats the loop's two scans; 20 independent columns exceed it
CALLS = 32  # a compiled loop cannot call back: it returns when one row in this many has left, to report and to measure radii anew


def mdav_groups(points: FloatArray, k: int, progress: Progress | None = None) -> IntArray:
    """The group of each row, numbered in order of creation; sizes are k to 2k - 1, or all rows where there are fewer than 2k."""
    return _mdav(points, k, SMALL, progress)


def mdav_groups_naive(points: FloatArray, k: int, progress: Progress | None = None) -> IntArray:
    """The same groups by the plain loop, whose time grows with n²/k: the reference, and the faster of the two on small tables."""
    return _mdav(points, k, len(points), progress)


def _mdav(points: FloatArray, k: int, small: int, progress: Progress | None) -> IntArray:
    rows = checked_points(points, k)
    n = live = len(rows)
    groups = np.full(n, -1, np.int64)
    no_codes = np.empty((0, 0), np.int64)
    made = 0
    while live >= 3 * k:
        ids = np.flatnonzero(groups < 0)
        packed = rows[ids]
        total = _total(packed)
        counted = live
        by_tree = live > small
        most = 8  # a trial, in case the tree does not pay
        if by_tree:
            tree = plant(packed, LEAF_SIZE)
        while live >= 3 * k and 2 * live > counted:
            if by_tree:
                recentre(tree, total / live)
                before = made, live
                made, live, looked = _pairs_by_tree(tree, ids, groups, total, no_codes, live, k, made, most)
                if looked > PAYS * before[1] * (made - before[0]):
                    by_tree = False
                    ids = np.flatnonzero(groups < 0)
                    packed = rows[ids]
            else:
                made, live = _pairs_by_scan(packed, ids, groups, total, live, counted, k, made, most)
            most = max(8, live // (2 * k * CALLS))
            if progress is not None:
                progress(n - live, n)
    ids = np.flatnonzero(groups < 0)
    _last_groups(rows[ids], ids, groups, k, made)
    if progress is not None:
        progress(n, n)
    return groups


def checked_points(points: FloatArray, k: int) -> FloatArray:
    """The points as compiled kernels want them, or an error that says what is wrong."""
    rows = np.ascontiguousarray(points, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise ValueError("Distances need a matrix with one column at least.")
    _check(rows, k)
    return rows


def _check(rows: FloatArray, k: int) -> None:
    if k < 1:
        raise ValueError(f"k must be 1 or more, got {k}.")
    if not np.isfinite(rows).all():
        raise ValueError("Distances need finite numbers, and some values are missing or infinite. Fill them in first.")


@njit(cache=True)
def _total(rows):
    total = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            total[j] += rows[i, j]
    return total


# The plain loop. Live rows are rows[:live]; a row leaves by changing places with the last, so ties are settled by the row's id.


@njit(cache=True)
def _pairs_by_scan(rows, ids, groups, total, live, counted, k, made, most):
    d = rows.shape[1]
    query = np.empty(d)
    for _ in range(most):
        if live < 3 * k or 2 * live <= counted:
            break
        for j in range(d):
            query[j] = total[j] / live
        for _side in range(2):
            first = _farthest_by_scan(rows, ids, live, query)
            for j in range(d):
                query[j] = rows[first, j]
            live = _group_by_scan(rows, ids, groups, total, live, k, made, first)
            made += 1
    return made, live


@njit(cache=True)
def _last_groups(rows, ids, groups, k, made):
    live = rows.shape[0]
    if live >= 2 * k:
        total = _total(rows)
        first = _farthest_by_scan(rows, ids, live, total / live)
        live = _group_by_scan(rows, ids, groups, total, live, k, made, first)
        made += 1
    for i in range(live):
        groups[ids[i]] = made
    return made + 1


@njit(cache=True)
def _farthest_by_scan(rows, ids, live, query):
    best, best_distance = -1, -1.0
    for i in range(live):
        distance = 0.0
        for j in range(rows.shape[1]):
            step = rows[i, j] - query[j]
            distance += step * step
        if distance > best_distance or (distance == best_distance and ids[i] < ids[best]):
            best, best_distance = i, distance
    return best


@njit(cache=True)
def _group_by_scan(rows, ids, groups, total, live, k, group, first):
    """Group the row at place `first` with its k - 1 nearest; returns how many rows stay live."""
    query = rows[first].copy()
    live = _leave_by_scan(rows, ids, groups, total, live, group, first)
    near = np.empty(k - 1, np.int64)  # places, from near to far
    near_distance = np.empty(k - 1)
    filled = 0
    if k == 1:
        return live
    for i in range(live):
        distance = 0.0
        for j in range(rows.shape[1]):
            step = rows[i, j] - query[j]
            distance += step * step
        if filled == k - 1:
            last = near_distance[filled - 1]
            if distance > last or (distance == last and ids[i] > ids[near[filled - 1]]):
                continue
            at = filled - 1
        else:
            at = filled
            filled += 1
        while at > 0 and (near_distance[at - 1] > distance or (near_distance[at - 1] == distance and ids[near[at - 1]] > ids[i])):
            near[at] = near[at - 1]
            near_distance[at] = near_distance[at - 1]
            at -= 1
        near[at] = i
        near_distance[at] = distance
    for a in range(k - 1):
        live = _leave_by_scan(rows, ids, groups, total, live, group, near[a])
        for b in range(a + 1, k - 1):
            if near[b] == live:  # it was the last row, and has just changed places
                near[b] = near[a]
    return live


@njit(cache=True)
def _leave_by_scan(rows, ids, groups, total, live, group, i):
    last = live - 1
    groups[ids[i]] = group
    for j in range(rows.shape[1]):
        total[j] -= rows[i, j]
        rows[i, j] = rows[last, j]
    ids[i], ids[last] = ids[last], ids[i]
    return last


# The kd-tree does the same.


@njit(cache=True)
def _pairs_by_tree(tree, ids, groups, total, counts, live, k, made, most):
    """`counts` says how many live rows have each code, a row for every column of codes."""
    d, numeric = tree.points.shape[1], tree.numeric
    counted = tree.points.shape[0]
    query = np.empty(d)
    away = np.empty(d)
    near = np.empty(k, np.int64)
    near_distance = np.empty(k)
    stack = np.empty(256, np.int64)
    bounds = np.empty(256)
    looked = 0
    for _ in range(most):
        if live < 3 * k or 2 * live <= counted:
            break
        for j in range(numeric):
            query[j] = total[j] / live
        for j in range(numeric, d):
            query[j] = np.argmax(counts[j - numeric]) * CODES_FIRST
        for _side in range(2):
            first, work = farthest(tree, query, away, stack, bounds)
            looked += work
            for j in range(d):
                query[j] = tree.points[tree.place[first], j]
            _leave_by_tree(tree, ids, groups, total, counts, made, first)
            looked += nearest(tree, query, tree.leaf[first], k - 1, near, near_distance, stack, bounds)
            for a in range(k - 1):
                _leave_by_tree(tree, ids, groups, total, counts, made, near[a])
            live -= k
            made += 1
    return made, live, looked


@njit(cache=True)
def _leave_by_tree(tree, ids, groups, total, counts, group, row):
    place, numeric = tree.place[row], tree.numeric
    for j in range(numeric):
        total[j] -= tree.points[place, j]
    for j in range(numeric, tree.points.shape[1]):
        counts[j - numeric, int(tree.points[place, j] / CODES_FIRST)] -= 1
    leave(tree, row)
    groups[ids[row]] = group


# Tables with nominal columns (MDAV-generic). Two rows differ by their squared numeric difference plus the number of nominal columns in
# which they differ; the average row takes the mean of a numeric column and the plurality, the lowest of the most frequent, of a nominal.
# The total is taken once; what was said about trees and scans holds here, too.


def mdav_groups_mixed(numeric: FloatArray, nominal: IntArray, k: int, progress: Progress | None = None) -> IntArray:
    """MDAV-generic: `nominal` holds a code per row and column, any integers; scale the numeric columns to weigh them."""
    return _mdav_mixed(numeric, nominal, k, SMALL, progress)


def mdav_groups_mixed_naive(numeric: FloatArray, nominal: IntArray, k: int, progress: Progress | None = None) -> IntArray:
    """The same groups by the plain loop."""
    return _mdav_mixed(numeric, nominal, k, len(numeric), progress)


def _mdav_mixed(numeric: FloatArray, nominal: IntArray, k: int, small: int, progress: Progress | None) -> IntArray:
    _check(np.asarray(numeric), k)
    rows = np.ascontiguousarray(numeric, dtype=np.float64)
    codes = np.empty((len(rows), np.asarray(nominal).shape[1]), np.int64)
    for j in range(codes.shape[1]):
        codes[:, j] = np.unique(nominal[:, j], return_inverse=True)[1]  # dense, and in the order of the given codes
    n = live = len(rows)
    groups = np.full(n, -1, np.int64)
    total = _total(rows)
    counts = np.zeros((codes.shape[1], int(codes.max(initial=0)) + 1), np.int64)
    for j in range(codes.shape[1]):
        counts[j] = np.bincount(codes[:, j], minlength=counts.shape[1])
    made = 0
    by_tree = True
    while by_tree and live > small and live >= 3 * k:
        ids = np.flatnonzero(groups < 0)
        counted, most = live, 8
        tree = plant(np.hstack([rows[ids], codes[ids] * CODES_FIRST]), LEAF_SIZE, codes.shape[1])
        while by_tree and live >= 3 * k and 2 * live > counted:
            recentre(tree, np.concatenate([total / live, np.zeros(codes.shape[1])]))
            before = made, live
            made, live, looked = _pairs_by_tree(tree, ids, groups, total, counts, live, k, made, most)
            by_tree = looked <= PAYS * before[1] * (made - before[0])
            most = max(8, live // (2 * k * CALLS))
            if progress is not None:
                progress(n - live, n)
    ids = np.flatnonzero(groups < 0)
    packed, packed_codes = rows[ids], codes[ids]
    while live:
        made, live = _pairs_mixed(packed, packed_codes, ids, groups, total, counts, live, k, made, max(8, n // (2 * k * CALLS)))
        if progress is not None:
            progress(n - live, n)
    return groups


@njit(cache=True)
def _pairs_mixed(rows, codes, ids, groups, total, counts, live, k, made, most):
    """Up to `most` turns of the loop; the last turn also forms the last groups."""
    query = np.empty(rows.shape[1])
    query_codes = np.empty(codes.shape[1], np.int64)
    distance = np.empty(live)
    for _ in range(most):
        if live < 2 * k:
            for i in range(live):
                groups[ids[i]] = made
            return made + 1, 0
        for j in range(rows.shape[1]):
            query[j] = total[j] / live
        for j in range(codes.shape[1]):
            query_codes[j] = np.argmax(counts[j])
        for _side in range(2 if live >= 3 * k else 1):
            _distances_mixed(rows, codes, live, query, query_codes, distance)
            first = 0
            for i in range(1, live):
                if distance[i] > distance[first] or (distance[i] == distance[first] and ids[i] < ids[first]):
                    first = i
            for j in range(rows.shape[1]):  # not as a slice: what numba compiles to copy one takes three seconds
                query[j] = rows[first, j]
            for j in range(codes.shape[1]):
                query_codes[j] = codes[first, j]
            _distances_mixed(rows, codes, live, query, query_codes, distance)
            distance[first] = -1.0  # it leads its group, whoever else lies on it
            for _member in range(k):
                nearest = 0
                for i in range(1, live):
                    if distance[i] < distance[nearest] or (distance[i] == distance[nearest] and ids[i] < ids[nearest]):
                        nearest = i
                for j in range(codes.shape[1]):
                    counts[j, codes[nearest, j]] -= 1
                    codes[nearest, j] = codes[live - 1, j]
                distance[nearest] = distance[live - 1]
                live = _leave_by_scan(rows, ids, groups, total, live, made, nearest)
            made += 1
    return made, live


@njit(cache=True)
def _distances_mixed(rows, codes, live, query, query_codes, distance):
    for i in range(live):
        total = 0.0
        for j in range(rows.shape[1]):
            step = rows[i, j] - query[j]
            total += step * step
        for j in range(codes.shape[1]):
            if codes[i, j] != query_codes[j]:
                total += 1.0
        distance[i] = total
