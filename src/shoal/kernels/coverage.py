"""Which patterns each record satisfies, counted without a matrix of records and patterns.

A pattern has a cell in every column, a cell is a list of ranges of codes (`containment.Ranges`). Patterns are taken 4,096 at a time: for every
column and code, 64 words of 64 bits say which of them allow that code, and one word more says which of the 64 words are not empty. A record ands
the latter over its columns, then only those words that are left. Codes that no range tells apart share their words.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, IntArray
from shoal.kernels.linkage.containment import Ranges, holds

WORD = 64
TAKEN = WORD * WORD  # patterns at a time


def satisfied(values: IntArray, rows: IntArray, cells: IntArray, ranges: Ranges, support: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each pattern how many records satisfy it; for each kind of record how many patterns it satisfies, and the sum of their support.

    values: kinds of records as codes, of which there are `rows` each; cells: which cell each pattern has in each column, of which there is one.
    """
    covers = np.zeros(len(cells), np.int64)
    many, total = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    first_code = _starts([int(column.max(initial=-1)) + 1 for column in values.T])
    like = _alike(cells, ranges)
    for begin in range(0, len(cells), TAKEN):
        taken = like[begin : begin + TAKEN]
        row_of, words = _words(cells[taken], ranges, np.diff(first_code))
        found = np.zeros(len(taken), np.int64)
        _count(values, rows, first_code[:-1], row_of, words, _any(words), support[taken], found, many, total)
        covers[taken] = found
    return covers, many, total


def contained(values: IntArray, cells: IntArray, ranges: Ranges) -> BoolArray:
    """For each column, whether the cell of every row allows the row's value."""
    return np.asarray(_contained(values, cells, *ranges))


def _starts(sizes: list[int] | IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _alike(cells: IntArray, ranges: Ranges) -> IntArray:
    """An order of patterns in which neighbours allow much the same, so that few words are left for a record: by lowest codes."""
    lowest = np.append(ranges.low, 0)[ranges.begin[ranges.base + cells]]
    return np.lexsort(lowest.T[::-1])


def _words(cells: IntArray, ranges: Ranges, codes: IntArray) -> tuple[IntArray, NDArray[np.uint64]]:
    """For every code of every column, one after the other, its row of words; and the words."""
    row_of, parts, used = [], [], 0
    for c in range(cells.shape[1]):
        here, which = np.unique(ranges.base[c] + cells[:, c], return_inverse=True)  # the cells these patterns have, and which is whose
        sizes = ranges.begin[here + 1] - ranges.begin[here]
        start = _starts(sizes)
        inside = np.arange(start[-1]) + np.repeat(ranges.begin[here] - start[:-1], sizes)
        low, high = ranges.low[inside], ranges.high[inside]
        cuts = np.unique(np.concatenate([low, high + 1]))  # between two cuts all codes are allowed alike
        words = np.zeros((len(cuts) + 1, WORD), np.uint64)
        _set(words, which.reshape(-1), start, np.searchsorted(cuts, low, "right"), np.searchsorted(cuts, high, "right"))
        row_of.append(used + np.searchsorted(cuts, np.arange(codes[c]), "right"))
        parts.append(words)
        used += len(words)
    return np.concatenate(row_of), np.concatenate(parts)


@njit(cache=True)
def _set(words, cell, start, low, high):
    for p in range(len(cell)):
        bit = np.uint64(1) << np.uint64(p % WORD)
        for r in range(start[cell[p]], start[cell[p] + 1]):
            for row in range(low[r], high[r] + 1):
                words[row, p // WORD] |= bit


@njit(cache=True)
def _any(words):
    """For each row of words, which of them are not empty."""
    full = np.zeros(len(words), np.uint64)
    for row in range(len(words)):
        for w in range(WORD):
            if words[row, w] != np.uint64(0):
                full[row] |= np.uint64(1) << np.uint64(w)
    return full


@njit(cache=True)
def _lowest_bits():
    """Where the lowest bit of a word stands, by de Bruijn's sequence."""
    place = np.empty(WORD, np.int64)
    for bit in range(WORD):
        place[(np.uint64(1) << np.uint64(bit)) * np.uint64(0x03F79D71B4CB0A89) >> np.uint64(58)] = bit
    return place


@njit(cache=True)
def _count(values, rows, first_code, row_of, words, full, support, covers, many, total):
    place = _lowest_bits()
    d = values.shape[1]
    mine = np.empty(d, np.int64)
    one, nothing = np.uint64(1), np.uint64(0)
    for i in range(len(values)):
        left = ~nothing
        for c in range(d):
            mine[c] = row_of[first_code[c] + values[i, c]]
            left &= full[mine[c]]
            if left == nothing:
                break
        while left != nothing:
            w = place[(left & (~left + one)) * np.uint64(0x03F79D71B4CB0A89) >> np.uint64(58)]
            left &= left - one
            allowed = ~nothing
            for c in range(d):
                allowed &= words[mine[c], w]
                if allowed == nothing:
                    break
            while allowed != nothing:
                p = w * WORD + place[(allowed & (~allowed + one)) * np.uint64(0x03F79D71B4CB0A89) >> np.uint64(58)]
                allowed &= allowed - one
                covers[p] += rows[i]
                many[i] += 1
                total[i] += support[p]


@njit(cache=True)
def _contained(values, cells, base, begin, low, high):
    result = np.ones(values.shape[1], np.bool_)
    for c in range(values.shape[1]):
        for i in range(len(values)):
            at = base[c] + cells[i, c]
            if not holds(values[i, c], begin[at], begin[at + 1], low, high):
                result[c] = False
                break
    return result
