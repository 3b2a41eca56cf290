"""Which wrong links can matter: the candidates of each record that no other candidate dominates.

A record is linked where its true link is closer than every other candidate. Distances that never fall when a difference grows (weighted
mean, OWA, Choquet) let most candidates go: one whose differences are all at least those of another candidate wins only where the other
wins too; one whose differences are all at least the true link's, and one of them larger, does not win where every attribute counts, and
a best distance can always be moved a little so that every attribute counts. A candidate whose differences are all at most the true
link's wins always: the record cannot be linked. For the OWA the differences are compared from the largest to the smallest.

Bilinear forms are not monotone: for them every candidate stays, but the ones equal to another.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Candidates(NamedTuple):
    """Of record i, the candidates that matter are rows[start[i]:start[i + 1]]; a hopeless record keeps the one that always wins."""

    start: IntArray
    rows: IntArray
    hopeless: NDArray[np.bool_]


def undominated(original: FloatArray, protected: FloatArray, order: int) -> Candidates:
    """For squared differences as they stand (order 0, weighted mean and Choquet) or from large to small (order 1, OWA)."""
    return Candidates(*_undominated(original, protected, order))


def distinct(original: FloatArray, protected: FloatArray) -> Candidates:
    """Without any order: every other candidate, equal ones once."""
    n = len(original)
    _, first, same = np.unique(protected, axis=0, return_index=True, return_inverse=True)
    same = same.reshape(-1)
    twin = np.bincount(same)[same[:n]] > 1
    others = [np.array([_a_twin(same, i)]) if twin[i] else first[first != i] for i in range(n)]
    start = np.concatenate([[0], np.cumsum([len(rows) for rows in others])])
    return Candidates(start, np.concatenate(others) if others else np.empty(0, np.int64), twin)


def _a_twin(same: IntArray, i: int) -> int:
    twins = np.flatnonzero(same == same[i])
    return int(twins[twins != i][0])


@njit(cache=True)
def _undominated(original, protected, order):  # type: ignore[no-untyped-def]
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
            below, above = True, True
            for k in range(d):
                below &= differences[j, k] <= true[k]
                above &= differences[j, k] >= true[k]
            if below:
                hopeless[i] = True
                kept[0] = j
                count = 1
                break
            if above:
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
