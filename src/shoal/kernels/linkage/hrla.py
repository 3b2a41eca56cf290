"""HRLA, the heuristic of section 5.3.2 in Abril (2014): gradient steps on a fuzzy measure, one record after the other (Algorithm 2).

The measure starts as |A| / n, the arithmetic mean. For each record, every protected row that is closer than the true one asks for a step
that makes the true distance smaller and its own larger; the Choquet integral is linear in the measure along the chain of sets that sorts
the differences, so the gradient is the steps between them. Then the measure is made monotone again. The thesis leaves step size, passes and
the order of records open: here the step is a share of the largest difference that shrinks with each pass, records come in random order, and
the measure that links most records at the end of a pass is kept, so it never does worse than the arithmetic mean.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray

PASSES = 200
RATE = 0.03


class HrlaResult(NamedTuple):
    measure: FloatArray  # 2^n, by bit mask
    linked: int  # known records linked without a tie
    passes: int


def hrla(
    queries: FloatArray,
    protected: FloatArray,
    true_row: IntArray,
    attribute: IntArray,
    numeric: int,
    rng: Generator,
    seconds: float,
    progress: Callable[[int, int], object] | None = None,
) -> HrlaResult:
    """The measure found within `seconds`, at most PASSES times over the records; squared differences, 0 or 1 for codes."""
    n = int(attribute.max(initial=-1)) + 1
    sets = np.arange(1 << n)
    measure = np.sum([sets >> i & 1 for i in range(n)], axis=0) / n
    files = (np.ascontiguousarray(queries), np.ascontiguousarray(protected), np.ascontiguousarray(true_row), attribute, numeric, n)
    best, most, passes = measure.copy(), int(_count(*files, measure)), 0
    _pass(*files, np.empty(0, np.int64), RATE, measure)  # compiled outside the time limit
    began = time.monotonic()
    while passes < PASSES and most < len(true_row) and time.monotonic() - began < seconds:
        _pass(*files, rng.permutation(len(true_row)), RATE / (1 + passes / 10), measure)
        found = int(_count(*files, measure))
        if found > most:
            best, most = measure.copy(), found
        passes += 1
        if progress is not None:
            progress(passes, PASSES)
    return HrlaResult(best, most, passes)


@njit(cache=True)
def _differences(q, y, attribute, numeric, c):
    c[:] = 0.0
    for j in range(len(q)):
        if j < numeric:
            t = q[j] - y[j]
            c[attribute[j]] += t * t
        elif q[j] != y[j]:
            c[attribute[j]] += 1.0


@njit(cache=True)
def _integral(c, order, measure):
    """The Choquet integral; leaves in `order` the attributes from the smallest difference up."""
    n = len(c)
    for a in range(n):
        at = a
        while at > 0 and c[order[at - 1]] > c[a]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = a
    total, left, below = 0.0, (1 << n) - 1, 0.0
    for k in range(n):
        total += (c[order[k]] - below) * measure[left]
        below = c[order[k]]
        left ^= 1 << order[k]
    return total


@njit(cache=True)
def _step(c, order, measure, size):
    """Move the measure along the integral's gradient; the whole keeps its 1."""
    n = len(c)
    left, below = (1 << n) - 1, c[order[0]]
    left ^= 1 << order[0]
    for k in range(1, n):
        measure[left] += size * (c[order[k]] - below)
        below = c[order[k]]
        left ^= 1 << order[k]


@njit(cache=True)
def _monotone(measure, n):
    """No set measures less than a subset, none more than 1."""
    for s in range(1, len(measure) - 1):
        measure[s] = min(max(measure[s], 0.0), 1.0)
        for i in range(n):
            if s >> i & 1:
                measure[s] = max(measure[s], measure[s ^ (1 << i)])


@njit(cache=True)
def _pass(queries, protected, true_row, attribute, numeric, n, order_of_records, rate, measure):
    c, own = np.empty(n), np.empty(n)
    order, own_order = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in order_of_records:
        _differences(queries[i], protected[true_row[i]], attribute, numeric, own)
        true = _integral(own, own_order, measure)
        closer = 0
        for j in range(len(protected)):
            if j == true_row[i]:
                continue
            _differences(queries[i], protected[j], attribute, numeric, c)
            if _integral(c, order, measure) < true:
                largest = max(own.max(), c.max())
                _step(own, own_order, measure, -rate / largest)
                _step(c, order, measure, rate / largest)
                closer += 1
        if closer:
            _monotone(measure, n)


@njit(cache=True)
def _count(queries, protected, true_row, attribute, numeric, n, measure):
    c, order = np.empty(n), np.empty(n, np.int64)
    found = 0
    for i in range(len(queries)):
        _differences(queries[i], protected[true_row[i]], attribute, numeric, c)
        limit = _integral(c, order, measure) * (1 + 1e-12)
        is_linked = True
        for j in range(len(protected)):
            if j != true_row[i]:
                _differences(queries[i], protected[j], attribute, numeric, c)
                if _integral(c, order, measure) <= limit:
                    is_linked = False
                    break
        found += is_linked
    return found
