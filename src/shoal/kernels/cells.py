"""What a group of rows publishes in each column: its range of codes, or the multiset of its values; and what that costs.

A row is one record, or a combination of values that several records share: `rows` says how many, None one each. Columns hold codes
0..m_j-1. In an ordered column codes follow the values, and a missing value is the last code, with position nan; in a nominal column the order
of codes means nothing here. Groups are numbered 0, 1, ..., and none is empty. The last part counts the values of a stretch of rows that lie
side by side, for algorithms that grow trees.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray

DIRECT = 1 << 24  # a table of groups x codes this small is counted cell by cell; a larger one is sorted


class Values(NamedTuple):
    """One column's values in every group: group g holds code[start[g]:start[g+1]], ascending, each in as many rows as stated."""

    start: IntArray
    code: IntArray
    rows: IntArray


def group_ranges(codes: NDArray[Any], groups: IntArray) -> tuple[IntArray, IntArray]:
    """The lowest and the highest code of each group (row) in each column."""
    size = _number_of_groups(codes, groups)
    lowest, highest = _ranges(codes, groups, size)
    return lowest, highest


def group_values(codes: NDArray[Any], groups: IntArray, rows: NDArray[Any] | None = None) -> list[Values]:
    """The multiset of codes in each group, a `Values` per column, counted in records."""
    size = _number_of_groups(codes, groups)
    many = None if rows is None else records_of(rows, len(groups))
    return [_values_of_column(codes[:, j], groups, size, many) for j in range(codes.shape[1])]


def records_of(rows: NDArray[Any] | None, n: int) -> IntArray:
    """How many records each of n combinations stands for: `rows`, or one each."""
    if rows is None:
        return np.ones(n, np.int64)
    if len(rows) != n or rows.dtype.kind not in "iu" or (n and rows.min() < 1):
        raise ValueError(f"Each of the {n} combinations needs a whole number of records, 1 or more.")
    return np.asarray(rows, np.int64)


def tally(ids: NDArray[Any], rows: IntArray | None = None, size: int = 0) -> IntArray:
    """How many records have each number 0, 1, ...: exact, where numpy's weighted bincount adds in floating point (exact below 2^53)."""
    if rows is None:
        return np.bincount(ids, minlength=size)
    return np.bincount(ids, weights=rows, minlength=size).astype(np.int64)


def ncp(codes: NDArray[Any], groups: IntArray, ordered: BoolArray, positions: Sequence[FloatArray]) -> tuple[float, FloatArray]:
    """The normalised certainty penalty (Xu et al. 2006): the mean over rows and columns of a cell's width, and the mean of each column.

    Ordered columns: the group's interval over the range of all positions; nominal ones: (values in the group - 1) / (values there are - 1),
    of which there are as many as positions. 0 when every cell is one value, 1 when every cell says nothing. Known values in one cell with
    missing ones cost 1: nothing is said about them.
    """
    size = _number_of_groups(codes, groups)
    rows = np.bincount(groups, minlength=size)
    per_column = np.zeros(codes.shape[1])
    for j in range(codes.shape[1]):
        place, whole = scale_of(positions[j], bool(ordered[j]))
        if ordered[j]:
            lowest, highest = _ranges(codes[:, j : j + 1], groups, size)
            width = place[highest[:, 0]] - place[lowest[:, 0]]
        else:
            width = np.diff(_values_of_column(codes[:, j], groups, size).start) - 1.0
        per_column[j] = (np.minimum(width / whole, 1) * rows).sum() / max(len(groups), 1)
    return float(per_column.mean()) if len(per_column) else 0.0, per_column


def scale_of(positions: FloatArray, ordered: bool) -> tuple[FloatArray, float]:
    """A column's positions without nan, and the width that counts as 1.

    Missing stands one whole range above the largest value, so that a range that holds it and anything else is at least as wide as the whole.
    """
    if not ordered:
        return np.arange(len(positions), dtype=np.float64), float(max(len(positions) - 1, 1))
    known = positions[~np.isnan(positions)]
    if (np.diff(known) < 0).any() or np.isnan(positions[:-1]).any():
        raise ValueError("Positions of an ordered column must not fall from one code to the next; only the last may be nan, for missing.")
    whole = float(known[-1] - known[0]) if len(known) else 0.0
    whole = whole if whole > 0 else 1.0
    return np.where(np.isnan(positions), (known[-1] if len(known) else 0.0) + whole, positions), whole


def _number_of_groups(codes: NDArray[Any], groups: IntArray) -> int:
    if codes.ndim != 2 or len(codes) != len(groups):
        raise ValueError("Codes must be a table of rows and columns, with a group for every row.")
    return int(groups.max()) + 1 if len(groups) else 0


def _values_of_column(column: NDArray[Any], groups: IntArray, size: int, rows: IntArray | None = None) -> Values:
    """Each (group, code) is one number; numbers in ascending order are the groups one after the other."""
    width = int(column.max()) + 1 if len(column) else 1
    pair = groups * np.int64(width) + column
    if size * width <= max(DIRECT, 4 * len(column)):
        table = tally(pair, rows, size * width)
        distinct = np.flatnonzero(table)
        count = table[distinct]
    elif rows is not None:
        distinct, number = np.unique(pair, return_inverse=True)
        count = tally(number.reshape(-1), rows)
    else:
        pair.sort()
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        distinct, count = pair[first], np.diff(first, append=len(pair))
    start = np.searchsorted(distinct, np.arange(size + 1) * width)
    return Values(start, distinct % width, count)


@njit(cache=True)
def _ranges(codes, groups, size):
    n, d = codes.shape
    lowest = np.full((size, d), np.iinfo(np.int64).max)
    highest = np.full((size, d), -1)
    for i in range(n):
        g = groups[i]
        for j in range(d):
            c = np.int64(codes[i, j])
            lowest[g, j] = min(lowest[g, j], c)
            highest[g, j] = max(highest[g, j], c)
    return lowest, highest


class Runs(NamedTuple):
    """Records counted by value: value[v] has the runs start[v]..start[v+1], each the records of one `extra` code (a class, say)."""

    value: Int32Array
    start: Int32Array
    extra: Int32Array
    rows: IntArray  # records
    total: IntArray  # the sum of extra, where that is a number rather than a code


@njit(cache=True)
def new_runs(n):
    """Room for the runs of n rows."""
    return Runs(np.empty(n, np.int32), np.empty(n + 1, np.int32), np.empty(n, np.int32), np.empty(n, np.int64), np.zeros(n, np.int64))


@njit(cache=True)
def count_values(column, extra, rows, extras, low, high, runs, cells, totals):
    """Fill `runs` with the values of a stretch of one column, ascending, and return how many there are.

    rows: the records of each row. extras: codes of `extra` to tell apart; 1: none, but sum it, once for each record, if there is room in
    `totals`. low, high: the range of the column's codes here.
    Few codes for the rows there are: a table with a cell for each pair. Many: sort, or a short stretch would pay for codes it does not have.
    cells and totals are all zero before and after.
    """
    n, summed = len(column), extras == 1 and len(totals) > 0
    used, size, last = 0, 0, -1
    if (high - low + 1) * extras <= min(4 * n + 256, len(cells)):
        for i in range(n):
            cell = (column[i] - low) * extras + (extra[i] if extras > 1 else 0)
            cells[cell] += rows[i]
            if summed:
                totals[cell] += np.int64(rows[i]) * extra[i]
        for v in range(high - low + 1):
            for e in range(extras):
                cell = v * extras + e
                if cells[cell] == 0:
                    continue
                if v != last:
                    runs.value[size], runs.start[size], last = low + v, used, v
                    size += 1
                runs.extra[used], runs.rows[used] = e, cells[cell]
                cells[cell] = 0
                if summed:
                    runs.total[used] = totals[cell]
                    totals[cell] = 0
                used += 1
    else:
        bits = 1
        while (1 << bits) < n:
            bits += 1
        keys = np.empty(n, np.int64)  # value and extra, then the row, in one number: it sorts faster than an order of rows
        for i in range(n):
            keys[i] = ((np.int64(column[i]) - low) * extras + (extra[i] if extras > 1 else 0)) << bits | i
        keys.sort()
        pair = np.int64(-1)
        for key in keys:
            row = key & ((1 << bits) - 1)
            if key >> bits != pair:
                pair = key >> bits
                if column[row] != last:
                    runs.value[size], runs.start[size], last = column[row], used, column[row]
                    size += 1
                runs.extra[used] = extra[row] if extras > 1 else 0
                runs.rows[used], runs.total[used] = 0, 0
                used += 1
            runs.rows[used - 1] += rows[row]
            if summed:
                runs.total[used - 1] += np.int64(rows[row]) * extra[row]
    runs.start[size] = used
    return size
