"""Which wrong links can matter: the candidates of each record that no other candidate dominates.

A record is linked where its true link is closer than every other candidate. Distances that never fall when a difference grows (weighted
mean, OWA, Choquet) let most candidates go: one whose differences are all at least those of another candidate wins only where the other
wins too; one whose differences are all at least the true link's, and one of them plainly larger, does not win where every attribute
counts, and a best distance can always be moved a little so that every attribute counts. A candidate whose differences are all at most the
true link's wins always: the record cannot be linked. For the OWA the differences are compared from the largest to the smallest.

Bilinear forms are not monotone: for them every candidate stays, but the ones equal to another. A candidate whose signed differences are a
multiple of the true link's, and no larger, always wins; so does one at no distance at all.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.linkage.aggregation import TIE

NO_MORE = TIE / 2  # differences that exceed others by less, of the largest, do not: half a tie, so that rounding leaves it one
PLAINLY = 1e-3  # a difference larger by this much counts however little its attribute does


class Candidates(NamedTuple):
    """Of record i, the candidates that matter are rows[start[i]:start[i + 1]]; a hopeless record keeps the one that always wins."""

    start: IntArray
    rows: IntArray
    hopeless: BoolArray


def undominated(original: FloatArray, protected: FloatArray, order: int) -> Candidates:
    """For squared differences as they stand (order 0, weighted mean and Choquet) or from large to small (order 1, OWA)."""
    return Candidates(*_undominated(original, protected, order))


def distinct(original: FloatArray, protected: FloatArray) -> Candidates:
    """Without any order: every other candidate, equal ones once."""
    first = np.unique(protected, axis=0, return_index=True)[1]
    return Candidates(*_distinct(original, protected, first))


@njit(cache=True)
def _distinct(original, protected, first):
    n = len(original)
    start = np.zeros(n + 1, np.int64)
    rows = np.empty(n * len(first), np.int64)
    hopeless = np.zeros(n, np.bool_)
    for i in range(n):
        true = original[i] - protected[i]
        at = start[i]
        for j in range(len(protected)):
            if j != i and _most(original[i] - protected[j], true) <= NO_MORE:
                hopeless[i] = True
                rows[at] = j
                at += 1
                break
        if not hopeless[i]:
            for j in first:
                if j != i:
                    rows[at] = j
                    at += 1
        start[i + 1] = at
    return start, rows[: start[n]].copy(), hopeless


@njit(cache=True)
def _most(wrong, true):
    """The most that ww' - tt' is worth to a matrix of trace 1, its largest eigenvalue, in units of d times the largest square.

    Zero where w is a multiple of t and no longer. Written by the cross products of w and t, so that nothing cancels.
    """
    d = len(true)
    longer, across, largest = 0.0, 0.0, 0.0
    for k in range(d):
        longer += wrong[k] ** 2 - true[k] ** 2
        largest = max(largest, wrong[k] ** 2, true[k] ** 2)
        for j in range(k):
            across += (wrong[k] * true[j] - wrong[j] * true[k]) ** 2
    if largest == 0:
        return 0.0
    root = np.sqrt(longer**2 + 4 * across)
    if longer > 0:
        return (longer + root) / (2 * d * largest)
    return 2 * across / (root - longer) / (d * largest) if across > 0 else 0.0


@njit(cache=True)
def _undominated(original, protected, order):
    n, d = original.shape
    size = protected.shape[0]
    start = np.zeros(n + 1, np.int64)
    rows = np.empty(max(64, 32 * n), np.int64)
    hopeless = np.zeros(n, np.bool_)
    differences = np.empty((size, d))
    total = np.empty(size)
    kept = np.empty(size, np.int64)
    for i in range(n):
        for j in range(size):
            for k in range(d):
                differences[j, k] = (original[i, k] - protected[j, k]) ** 2
            if order == 1:
                differences[j] = np.sort(differences[j])[::-1]
            total[j] = differences[j].sum()
        true = differences[i]
        count = 0
        for j in np.argsort(total):  # nothing can be dominated by a larger total
            if j == i:
                continue
            largest = max(differences[j].max(), true.max())
            below, above, plainly = True, True, False
            for k in range(d):
                below &= differences[j, k] <= true[k] + NO_MORE * largest
                above &= differences[j, k] >= true[k]
                plainly |= differences[j, k] > true[k] + PLAINLY * largest
            if below:
                hopeless[i] = True
                kept[0] = j
                count = 1
                break
            if above and plainly:
                continue
            dominated = False
            for at in range(count):
                dominated = True
                for k in range(d):
                    if differences[kept[at], k] > differences[j, k]:
                        dominated = False
                        break
                if dominated:
                    break
            if not dominated:
                kept[count] = j
                count += 1
        if start[i] + count > len(rows):
            grown = np.empty(2 * len(rows) + count, np.int64)
            grown[: start[i]] = rows[: start[i]]
            rows = grown
        rows[start[i] : start[i] + count] = kept[:count]
        start[i + 1] = start[i] + count
    return start, rows[: start[n]].copy(), hopeless
