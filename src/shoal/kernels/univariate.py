"""Grouping one column: in sorted order, so that every group is a run of neighbouring values."""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray


def fixed_univariate_groups(values: FloatArray, k: int) -> IntArray:
    """Runs of k in sorted order, equal values by row; the last run takes the remainder, k to 2k - 1 rows."""
    column = _checked(values, k)
    n = len(column)
    groups = np.empty(n, np.int64)
    groups[np.argsort(column, kind="stable")] = np.minimum(np.arange(n) // k, max(n // k - 1, 0))
    return groups


def optimal_univariate_groups(values: FloatArray, k: int) -> IntArray:
    """The runs of at least k with the smallest within-group sum of squares, in O(nk) after sorting (Hansen & Mukherjee 2003).

    Some optimal grouping has runs of k to 2k - 1 rows only, since a longer one may be halved; so the shortest path from the first sorted
    value past the last needs k edges into each. Of equally good paths the one with the longer last run is taken.
    """
    column = _checked(values, k)
    order = np.argsort(column, kind="stable")
    ordered = column[order]
    groups = np.empty(len(column), np.int64)
    groups[order] = _shortest_path(ordered - ordered.mean() if len(ordered) else ordered, k)
    return groups


def _checked(values: FloatArray, k: int) -> FloatArray:
    column = np.ascontiguousarray(values, dtype=np.float64)
    if k < 1:
        raise ValueError(f"k must be 1 or more, got {k}.")
    if not np.isfinite(column).all():
        raise ValueError("Sorting needs finite numbers, and some values are missing or infinite. Fill them in first.")
    return column


@njit(cache=True)
def _shortest_path(ordered, k):
    n = ordered.shape[0]
    groups = np.zeros(n, np.int64)
    if n < 2 * k:
        return groups
    cost = np.full(n + 1, np.inf)  # of the best grouping of the first so many values
    cost[0] = 0.0
    start = np.zeros(n + 1, np.int64)  # where its last run begins
    for end in range(k, n + 1):
        # The run grows downwards from its top value. Its sum of squares is updated around its own mean (Welford): prefix sums of
        # squares would lose a tight run among large values.
        mean, squares = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            begin = end - size
            step = ordered[begin] - mean
            mean += step / size
            squares += step * (ordered[begin] - mean)
            if size >= k and cost[begin] + squares <= cost[end]:
                cost[end] = cost[begin] + squares
                start[end] = begin
    runs = 0
    end = n
    while end > 0:
        end = start[end]
        runs += 1
    end = n
    while end > 0:
        runs -= 1
        groups[start[end] : end] = runs
        end = start[end]
    return groups
