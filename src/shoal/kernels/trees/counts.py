"""The classes of a node's rows by value, and the best split they offer.

Rows of a node are short records, their codes and then their class. Each counts by its `weight`: how often it occurs, a whole number, or the
fraction of it that came down to the node; which of the two is known when a function is compiled.
"""

import numpy as np
from numba import njit

from shoal.kernels.trees.splits import CLEARLY, best_threshold, by_value

ENOUGH = 1e-3  # gain may fall this short of the average (C4.5 and J48)
FEW_BRANCHES = 64  # a node may be split into this many branches even if it has fewer rows
MANY_VALUES = 0.3  # of all rows: a column with so many values does not count in the average gain (C4.5)
# Columns of the node table while a tree grows. The last two are a range of records.
ATTRIBUTE, THRESHOLD, FIRST_CHILD, CHILDREN, PARENT, EDGE, DEPTH, START, SIZE = range(9)


@njit(cache=True)
def worth_splitting(counts, node, size, least):
    """Whether a node has rows enough, and of more than one class."""
    pure = False
    for y in range(counts.shape[1]):
        pure = pure or counts[node, y] > size - CLEARLY
    return size > 2 * least - CLEARLY and not pure


@njit(cache=True)
def branch_of(code, is_ordered, threshold):
    """Which branch a known code takes."""
    return np.int64(code > threshold) if is_ordered else np.int64(code - 1)


@njit(cache=True)
def longer(array):
    """The array, and as much again that is empty."""
    return np.concatenate((array, np.zeros_like(array)))


@njit(cache=True)
def _is_counted(values, classes, size):
    """Whether a column is counted in one cell per value and class, or, having far more of those than the node has rows, sorted."""
    return (values + 1) * classes <= max(256, 4 * size)


@njit(cache=True)
def most_cells(values, classes, n):
    """Room for the cells of a node of n rows."""
    cells = 0
    for j in range(len(values)):
        if _is_counted(values[j], classes, n):
            cells += (values[j] + 1) * classes
    return cells


@njit(cache=True)
def count(mine, weight, values, classes, begin, cells):
    """One pass over the records of a node counts the classes of every value of every column."""
    size, d = len(mine), len(values)
    counted = np.empty(d, np.int64)
    columns, end = 0, 0
    for j in range(d):
        begin[j] = -1
        if _is_counted(values[j], classes, size):
            begin[j] = end
            end += (values[j] + 1) * classes
            counted[columns] = j
            columns += 1
    for cell in range(end):
        cells[cell] = 0
    for i in range(size):
        y, its = np.int64(mine[i, d]), weight[i]
        for a in range(columns):
            j = counted[a]
            cells[begin[j] + np.int64(mine[i, j]) * classes + y] += its


@njit(cache=True)
def _bits(n):
    """How many bits the numbers below n take."""
    bits = 0
    while (1 << bits) < n:
        bits += 1
    return bits


@njit(cache=True)
def tallied(mine, weight, j, most, classes, begin, cells):
    """The codes of a column that occur in a node, ascending and without the missing, and for each the rows of every class."""
    d, found = len(begin), 0
    if begin[j] >= 0:
        present = np.empty(most, np.int64)
        tally = np.empty((most, classes), cells.dtype)
        for code in range(1, most + 1):
            occurs = False
            for y in range(classes):
                tally[found, y] = cells[begin[j] + code * classes + y]
                occurs = occurs or tally[found, y] > 0
            present[found] = code
            found += occurs
        return present[:found], tally[:found]
    keys = np.empty(len(mine), np.int64)  # value, class and row in one number: it sorts faster than an order of rows
    row_bits, class_bits = _bits(len(mine)), _bits(classes)
    for i in range(len(mine)):
        keys[i] = ((np.int64(mine[i, j]) << class_bits | np.int64(mine[i, d])) << row_bits) | i
    keys.sort()
    distinct, last = 0, np.int64(-1)
    for key in keys:
        code = key >> (row_bits + class_bits)
        distinct += code != last
        last = code
    present = np.empty(distinct, np.int64)
    tally = np.zeros((distinct, classes), cells.dtype)
    last = np.int64(0)
    for key in keys:
        code = key >> (row_bits + class_bits)
        if code > 0:
            if code != last:
                present[found], last = code, code
                found += 1
            tally[found - 1, (key >> row_bits) & ((1 << class_bits) - 1)] += weight[key & ((1 << row_bits) - 1)]
    return present[:found], tally[:found]


@njit(cache=True)
def best_split(mine, weight, size, ordered, values, classes, least, n, begin, cells, table):
    """The column with the highest gain ratio among those with at least average gain, and its threshold; -1 where no split is any good."""
    d = len(values)
    gain, ratio, threshold = np.zeros(d), np.zeros(d), np.zeros(d, np.int64)
    total, tried, total_of_all, tried_of_all = 0.0, 0, 0.0, 0
    for j in range(d):
        if not ordered[j] and values[j] > max(size, FEW_BRANCHES):
            continue
        present, tally = tallied(mine, weight, np.int64(j), values[j], classes, begin, cells)
        if ordered[j]:
            gain[j], ratio[j], threshold[j] = best_threshold(present, tally, size, least, table)
        else:
            gain[j], ratio[j] = by_value(tally, size, least, table)
        if ratio[j] > 0:
            total_of_all += gain[j]
            tried_of_all += 1
            if ordered[j] or values[j] < MANY_VALUES * n:  # the gain of a column of nearly unique values says nothing
                total += gain[j]
                tried += 1
    average = total / tried if tried else total_of_all / max(1, tried_of_all)
    best, highest = np.int64(-1), 0.0
    for j in range(d):
        if gain[j] >= average - ENOUGH and ratio[j] > highest + CLEARLY:
            best, highest = np.int64(j), ratio[j]
    return best, threshold[best] if best >= 0 else 0
