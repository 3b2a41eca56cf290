"""Equivalence classes: which rows agree on every column, and how many they are.

Columns hold integer codes 0..m_j-1. A row's codes are read as the digits of one mixed-radix number, its key; rows are in one class exactly
when their keys are equal, and classes are numbered by ascending key (the first column weighs most), so the numbering depends on the codes
and not on the order of rows. Columns are not copied: keys are made block by block, and a block stays in cache while columns fold in.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, IntArray

Codes = NDArray[Any] | Sequence[NDArray[Any]]
Digits = list[tuple[NDArray[Any], int]]  # columns, each with its number of codes

BLOCK = 1 << 15  # rows whose keys (256 kB) stay in the second-level cache
DIRECT = 1 << 22  # a key space this small is counted in a table with one cell per key, which still fits a third-level cache
LARGEST_SPACE = 1 << 62  # keys are signed 64-bit numbers


def class_ids(codes: Codes) -> tuple[IntArray, int]:
    """The class of every row, numbered 0, 1, ... by ascending key, and the number of classes."""
    columns, n = _columns(codes)
    return _ids(*_digits(columns), n)


def persons_in_classes(classes: IntArray, persons: IntArray) -> tuple[IntArray, IntArray]:
    """Every pair of a class and a person who has a row in it, once: the class and the person of each."""
    width = int(persons.max(initial=0)) + 1
    group, person = np.divmod(np.unique(classes.astype(np.int64) * width + persons), width)
    return group, person


def class_sizes(codes: Codes) -> IntArray:
    """The number of rows in every class, in the order of `class_ids`, without the ids."""
    columns, n = _columns(codes)
    digits, space = _digits(columns)
    if space <= DIRECT:
        table = np.zeros(space, np.int64)
        buffer = np.empty(min(n, BLOCK), np.int64)
        for a in range(0, n, BLOCK):
            _count(_keys(digits, a, buffer[: n - a]), table)
        return table[table > 0]
    keys = np.empty(n, np.int64)
    for a in range(0, n, BLOCK):
        _keys(digits, a, keys[a : a + BLOCK])
    keys.sort()  # numpy sorts 64-bit integers with vector instructions, faster than any hashing of millions of classes
    return np.asarray(_run_lengths(keys)[1])


def _columns(codes: Codes) -> tuple[list[NDArray[Any]], int]:
    """Views of the columns, and the number of rows."""
    if isinstance(codes, np.ndarray):
        if codes.ndim != 2:
            raise ValueError(f"Codes must be a table of rows and columns or a list of columns, not an array of {codes.ndim} dimensions.")
        columns, n = [codes[:, j] for j in range(codes.shape[1])], codes.shape[0]
    else:
        columns = [np.asarray(column) for column in codes]
        if not columns:
            raise ValueError("At least one column is needed to tell the number of rows.")
        n = len(columns[0])
    for column in columns:
        if column.ndim != 1 or len(column) != n or column.dtype.kind not in "iub":
            raise ValueError("Columns of codes must be integer arrays of one dimension and the same length.")
    return [column.view(np.uint8) if column.dtype.kind == "b" else column for column in columns], n


def _digits(columns: list[NDArray[Any]]) -> tuple[Digits, int]:
    """Columns with their number of codes, and the size of the key space. Where the next column would overflow a key, what was folded so
    far is replaced by its class numbers, of which there are at most n."""
    digits: Digits = []
    space = 1
    for column in columns:
        n = len(column)
        if n and int(column.min()) < 0:
            raise ValueError("Codes must not be negative: give a missing value a code of its own.")
        cardinality = int(column.max()) + 1 if n else 1
        if cardinality > LARGEST_SPACE // max(1, n):  # a column of huge sparse codes
            values, inverse = np.unique(column, return_inverse=True)
            column, cardinality = inverse.astype(np.int64), len(values)
        if space * cardinality > LARGEST_SPACE:
            ids, space = _ids(digits, space, n)
            digits = [(ids, space)]
        digits.append((column, cardinality))
        space *= cardinality
    return digits, space


def _keys(digits: Digits, first: int, out: IntArray) -> IntArray:
    """The keys of the rows from `first` on, in `out`, which is at most one block long."""
    out = out[:BLOCK]
    out[:] = 0
    for column, cardinality in digits:
        _fold(out, column[first : first + len(out)], cardinality)
    return out


def _ids(digits: Digits, space: int, n: int) -> tuple[IntArray, int]:
    ids = np.empty(n, np.int64)  # first the keys, then, in place, the class numbers
    blocks = [ids[a : a + BLOCK] for a in range(0, n, BLOCK)]
    for a, block in zip(range(0, n, BLOCK), blocks):
        _keys(digits, a, block)
    if space <= DIRECT:
        table = np.zeros(space, np.int64)
        for block in blocks:
            _count(block, table)
        number = np.cumsum(table > 0) - 1
        _renumber(ids, number)
        return ids, int(number[-1]) + 1 if n else 0
    distinct = _run_lengths(np.sort(ids))[0]
    _find(ids, _hash_table(distinct))
    return ids, len(distinct)


@njit(cache=True)
def _fold(keys, column, cardinality):
    for i in range(len(keys)):
        keys[i] = keys[i] * cardinality + np.int64(column[i])


@njit(cache=True)
def _count(keys, table):
    for i in range(len(keys)):
        table[keys[i]] += 1


@njit(cache=True)
def _renumber(keys, number):
    for i in range(len(keys)):
        keys[i] = number[keys[i]]


@njit(cache=True)
def _run_lengths(keys):
    """The distinct values of a sorted array, and how often each occurs."""
    n = len(keys)
    classes = min(n, 1)
    for i in range(1, n):
        classes += keys[i] != keys[i - 1]
    values = np.empty(classes, np.int64)
    starts = np.empty(classes + 1, np.int64)
    at = 0
    for i in range(n):
        if i == 0 or keys[i] != keys[i - 1]:
            values[at] = keys[i]
            starts[at] = i
            at += 1
    starts[classes] = n
    return values, starts[1:] - starts[:-1]


@njit(cache=True, inline="always")
def _mix(key):
    """The finalizer of splitmix64: every bit of the key reaches every bit of the result."""
    z = np.uint64(key)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True)
def _hash_table(distinct):
    """Open addressing, at most half full: each slot a key (-1: free) and its number, side by side so that a look-up misses cache once."""
    slots = 16
    while slots < 2 * len(distinct):
        slots *= 2
    table = np.full((slots, 2), -1)
    mask = np.uint64(slots - 1)
    for number in range(len(distinct)):
        slot = _mix(distinct[number]) & mask
        while table[slot, 0] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot, 0] = distinct[number]
        table[slot, 1] = number
    return table


@njit(cache=True)
def _find(keys, table):
    """Replace every key by its number."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(keys)):
        slot = _mix(keys[i]) & mask
        while table[slot, 0] != keys[i]:
            slot = (slot + np.uint64(1)) & mask
        keys[i] = table[slot, 1]


def distinct_rows(points: FloatArray, stands_for: IntArray | None = None) -> tuple[IntArray, IntArray, IntArray]:
    """For every row of a matrix of numbers its distinct row; for every distinct row the lowest row equal to it, and how many are.

    A row may stand for several that are equal: `stands_for` says how many.
    """
    same_as, first, weight = _distinct(np.ascontiguousarray(points, dtype=np.float64))
    if stands_for is not None:
        weight = np.zeros(len(first), np.int64)
        np.add.at(weight, same_as, stands_for)
    return same_as, first, weight


@njit(cache=True)
def _distinct(points):
    """The same open addressing; a slot holds the number of a distinct row."""
    n, d = points.shape
    bits = points.view(np.uint64)
    zero = np.uint64(1) << np.uint64(63)  # the bits of minus zero, which equals zero
    slots = 16
    while slots < 2 * n:
        slots *= 2
    table = np.full(slots, -1)
    mask = np.uint64(slots - 1)
    same_as = np.empty(n, np.int64)
    first = np.empty(n, np.int64)
    weight = np.zeros(n, np.int64)
    classes = 0
    for i in range(n):
        h = np.uint64(0)
        for j in range(d):
            if bits[i, j] != zero:
                h = _mix(h ^ bits[i, j])
            else:
                h = _mix(h)
            h += np.uint64(0x9E3779B97F4A7C15)
        slot = h & mask
        while table[slot] >= 0:
            other = first[table[slot]]
            j = 0
            while j < d and points[i, j] == points[other, j]:
                j += 1
            if j == d:
                break
            slot = (slot + np.uint64(1)) & mask
        if table[slot] < 0:
            table[slot] = classes
            first[classes] = i
            classes += 1
        same_as[i] = table[slot]
        weight[table[slot]] += 1
    return same_as, first[:classes].copy(), weight[:classes].copy()
