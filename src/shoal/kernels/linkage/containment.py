"""Linking to classes of generalized records: first by how many cells cannot hold the known value, then by distance.

A cell is a list of ranges of codes, rising; a value is inside when a binary search finds its range. Most classes are ruled out by their first
cells, so each record is held against every class, without a tree and without a matrix of pairs.
"""

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from shoal.arrays import BoolArray, FloatArray, IntArray

TIE = 1e-12


class Ranges(NamedTuple):
    """Cells of several columns: the ranges of cell x of column c stand from begin[base[c] + x] up to begin[base[c] + x + 1]."""

    base: IntArray
    begin: IntArray
    low: IntArray
    high: IntArray


def linked_to_class(
    values: IntArray, cells: IntArray, ranges: Ranges, known: FloatArray, classes: FloatArray, sizes: IntArray, true_class: IntArray
) -> tuple[BoolArray, IntArray]:
    """For each record: whether a class fits better than its true one, and if not how many released records fit as well, its own included.

    values: codes of the known records in the generalized columns; cells: which cell each class has there; known, classes: coordinates whose
    squared distance decides between classes that contradict equally many values.
    """
    better, ties = np.empty(len(values), np.bool_), np.empty(len(values), np.int64)
    _linked(values, cells, *ranges, known, classes, sizes, true_class, better, ties)
    return better, ties


@njit(cache=True)
def _holds(code, begin, stop, low, high):
    while begin < stop:
        middle = (begin + stop) // 2
        if code < low[middle]:
            stop = middle
        elif code > high[middle]:
            begin = middle + 1
        else:
            return True
    return False


@njit(cache=True)
def _wrong(values, i, cells, g, base, begin, low, high, most):
    """How many cells of class g cannot hold record i's values; stops above `most`."""
    wrong = 0
    for c in range(cells.shape[1]):
        at = base[c] + cells[g, c]
        if not _holds(values[i, c], begin[at], begin[at + 1], low, high):
            wrong += 1
            if wrong > most:
                break
    return wrong


@njit(cache=True)
def _distance2(known, i, classes, g):
    total = 0.0
    for j in range(known.shape[1]):
        step = known[i, j] - classes[g, j]
        total += step * step
    return total


@njit(cache=True, parallel=True)
def _linked(values, cells, base, begin, low, high, known, classes, sizes, true_class, better, ties):
    for i in prange(values.shape[0]):
        mine = true_class[i]
        wrong = _wrong(values, i, cells, mine, base, begin, low, high, cells.shape[1])
        distance = _distance2(known, i, classes, mine)
        better[i], ties[i] = False, 0
        for g in range(cells.shape[0]):
            other = _wrong(values, i, cells, g, base, begin, low, high, wrong)
            if other > wrong:
                continue
            apart = _distance2(known, i, classes, g)
            if other < wrong or apart < distance * (1 - TIE):
                better[i] = True
                break
            if apart <= distance * (1 + TIE):
                ties[i] += sizes[g]
