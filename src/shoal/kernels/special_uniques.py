"""Special uniques: the smallest sets of columns on which a record is unique, and the scores made of them (SUDA; Elliot, Manning & Ford 2002).

A record is a *minimal unique* on a set of columns if nobody else agrees with it on all of them, and on none of them can be done without. Sets
are looked at by rising size. Whoever is unique on a set is unique on every larger one, so it is in nobody's way there: a bit for each record
and set says so, a set of s columns leaves out what a set with one column less has found, and whoever is alone among the others is a minimal
unique. What is left of a level bounds the work of the next before it is begun.

Records are distinct combinations of codes: `rows` says how many rows each has and `owner` whose they all are, -1 where they are of several. So
rows count by themselves or as persons: a set makes a person unique where all rows that agree on it are its own. A missing cell is in no
minimal unique; for all else it is a value of its own.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb, factorial
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray, UintArray

MOST_LOOKS = 1 << 30  # at a record on a set, in a search that nobody has bounded: some seconds
MOST_SETS = 1 << 21  # of one size
MOST_BYTES = 1 << 29  # of the bits of one size
AT_ONCE = 1 << 24  # looks between two words of progress
MOST_COLUMNS = 100  # whose factorials are numbers
TALLIES = 6

Told = Callable[[int, int, int], None]  # the size, sets of it looked at, sets there are


class SetsOfSize(NamedTuple):
    """All sets of so many columns, in lexicographic order."""

    columns: IntArray  # of each set
    special: IntArray  # minimal uniques on it
    classes: IntArray  # different combinations; rows must be counted by themselves, as for what follows
    unique: IntArray  # rows that are alone
    together: IntArray  # ordered pairs of rows that it does not tell apart


class SpecialUniques(NamedTuple):
    """What a search has found; `sizes` ends where it ended."""

    sizes: tuple[SetsOfSize, ...]
    scores: FloatArray  # of each combination: the sum over its minimal uniques
    smallest: IntArray  # columns of its smallest minimal unique; 0: it has none
    many: IntArray  # minimal uniques that it has
    listed: Int32Array  # the first of them, as numbers of sets counted through all sizes; -1: no more
    total: float  # of all scores, those of one owner's class counted once
    of_columns: FloatArray  # the part of it from minimal uniques that hold each column
    complete: bool  # whether no set that was not looked at can hold a minimal unique
    all_apart: bool  # whether no set that was not looked at can tell more records apart than those it holds


class Records(NamedTuple):
    """Distinct combinations."""

    words: UintArray  # their codes, packed
    rows: IntArray
    owner: IntArray  # -1: several
    known: BoolArray  # by column


class SetsLookedAt(NamedTuple):
    """Some sets of one size, and what is to be found of them."""

    bits: UintArray  # of the words, that hold the set's columns
    columns: IntArray
    parents: IntArray  # which sets of `before` lack a column of it
    before: UintArray  # a bit for each record, by set of one column less: is it alone there?
    alone: UintArray  # the same of these sets
    tally: IntArray  # minimal uniques, classes, unique rows, pairs; records left, and those of them that are one owner's
    number: int  # of the first set, through all sizes


class Found(NamedTuple):
    """What is found of each record, and, of the scores, the part from sets that hold each column; the last is the whole."""

    scores: FloatArray
    smallest: IntArray
    many: IntArray
    listed: Int32Array
    parts: FloatArray


def elliot(size: int, columns: int) -> float:
    """(M - s)!: the fewer columns it takes to be unique, the more special."""
    return float(factorial(columns - size))


def ihsn(size: int, columns: int) -> float:
    """(2^(M - s) - 1) s! (M - s)! / M!, which sdcMicro and the guide of the International Household Survey Network use."""
    return (2.0 ** (columns - size) - 1) / comb(columns, size)


def special_uniques(
    codes: NDArray[Any],
    rows: IntArray | None = None,
    owner: IntArray | None = None,
    known: BoolArray | None = None,
    largest: int | None = None,
    weight: Callable[[int, int], float] = elliot,
    listed: int = 0,
    told: Told | None = None,
) -> SpecialUniques:
    """Minimal uniques of distinct combinations (a row of `codes` each), on sets of at most `largest` columns, or as far as some seconds go.

    `known` is false where a cell is missing. Without `rows` each combination is one row; without `owner` every row is somebody's own.
    """
    n, d = codes.shape
    if d > MOST_COLUMNS:
        raise ValueError(f"At most {MOST_COLUMNS} columns can be looked at, got {d}.")
    rows = np.ones(n, np.int64) if rows is None else np.asarray(rows, np.int64)
    owner = np.where(rows == 1, np.arange(n), -1) if owner is None else np.asarray(owner, np.int64)
    there = np.ones((n, d), np.bool_) if known is None else np.ascontiguousarray(known, np.bool_)
    words, masks = packed(codes)
    records = Records(words, rows, owner, there)
    found = Found(np.zeros(n), np.zeros(n, np.int64), np.zeros(n, np.int64), np.full((n, listed), -1, np.int32), np.zeros(d + 1))
    alone, sizes = np.zeros((1, (n + 63) // 64), np.uint64), []
    left, special_left, looked, numbered = n, n, 0, 0
    for size in range(1, min(d, largest or d) + 1):
        sets, ahead = comb(d, size), _looks_ahead(n, d, size, left)
        too_much = largest is None and size > 1 and looked + ahead > MOST_LOOKS
        if not left or too_much or sets > MOST_SETS or sets * alone.shape[1] * 8 > MOST_BYTES:
            break
        columns, parents = sets_of_size(d, size)
        before, alone, tally = alone, np.empty((sets, alone.shape[1]), np.uint64), np.zeros((sets, TALLIES), np.int64)
        for first in range(0, sets, step := max(1, AT_ONCE // max(1, n))):
            if told:
                told(size, first, sets)
            some = slice(first, first + step)
            bits = np.bitwise_or.reduce(masks[columns[some]], axis=1)
            part = SetsLookedAt(bits, columns[some], parents[some], before, alone[some], tally[some], numbered + first)
            _look(records, part, found, weight(size, d))
        if told:
            told(size, sets, sets)
        sizes.append(SetsOfSize(columns, *(tally[:, j].copy() for j in range(4))))
        left, special_left = int(tally[:, 4].sum()), int(tally[:, 5].sum())
        looked, numbered = looked + ahead, numbered + sets
    every = len(sizes) == d
    return SpecialUniques(
        tuple(sizes),
        found.scores,
        found.smallest,
        found.many,
        found.listed,
        float(found.parts[d]),
        found.parts[:d],
        every or not special_left,
        every or not left,
    )


def _looks_ahead(n: int, d: int, size: int, left: int) -> int:
    """At most so many looks does the next size take. What a set has left is looked at again on each larger set, unless one of those with a
    column less has found it: on the mean over these. Bits are looked at by sixty-fours."""
    sets = comb(d, size)
    return (left * (d - size + 1) // size if size > 1 else n * d) + sets * size * (n // 64)


def sets_of_size(d: int, size: int) -> tuple[IntArray, IntArray]:
    """All sets of so many of d columns in lexicographic order; and for each place in it, the number of the set without the column there."""
    sets = np.fromiter((column for chosen in combinations(range(d), size) for column in chosen), np.int64).reshape(-1, size)
    choose = np.array([[comb(a, b) for b in range(size + 1)] for a in range(d)])
    parents = np.full(sets.shape, comb(d, size - 1) - 1)
    for place in range(size):  # a set's number falls by C(d - 1 - column, columns from here on), summed over its columns
        after, here = choose[d - 1 - sets[:, place], size - 1 - place], choose[d - 1 - sets[:, place], size - place]
        parents[:, place + 1 :] -= after[:, None]  # one that comes later is gone
        parents[:, :place] -= here[:, None]
    return sets, parents


def minimal_sets(sizes: tuple[SetsOfSize, ...], classes: int) -> list[tuple[int, ...]]:
    """The sets with so many different combinations of which no column can be spared, the smallest first."""
    found: list[tuple[int, ...]] = []
    below = np.zeros(1, np.bool_)
    for size, one in enumerate(sizes, 1):
        _, parents = sets_of_size(int(sizes[0].columns.max()) + 1, size)
        enough, spared = one.classes >= classes, below[parents].any(axis=1)
        found += [tuple(chosen) for chosen in one.columns[enough & ~spared].tolist()]
        below = enough | spared
    return found


def dis_suda(scores: FloatArray, pairs: int, fraction: float, columns: int) -> FloatArray:
    """Of each record with a score, the chance that who matches it is who it is of (Elliot & Manning 2003), given the share of the population
    that the sample holds. `pairs`: records that share their combination with one other."""
    special = scores > 0
    uniques = int(special.sum())
    result = np.zeros(len(scores))
    if not uniques:
        return result
    dis = uniques * fraction / (uniques * fraction + pairs * (1 - fraction))
    power = 1 + (8 - columns) / 20
    weight = (scores[special] / scores[special].max()) ** power  # a common factor cancels
    result[special] = 1 / (1 + (uniques / dis - uniques) / (weight * (1 / weight).sum()))
    return result


def packed(codes: NDArray[Any]) -> tuple[UintArray, UintArray]:
    """Every combination in as few words of 64 bits as hold its codes, and for each column the bits that are its own."""
    n, d = codes.shape
    widths = [max(1, int(codes[:, j].max(initial=0)).bit_length()) for j in range(d)]
    word, shift, places = 0, 0, []
    for width in widths:
        if shift + width > 64:
            word, shift = word + 1, 0
        places.append((word, shift))
        shift += width
    words, masks = np.zeros((n, word + 1), np.uint64), np.zeros((d, word + 1), np.uint64)
    for j, (at, by) in enumerate(places):
        words[:, at] |= codes[:, j].astype(np.uint64) << np.uint64(by)
        masks[j, at] = np.uint64(((1 << widths[j]) - 1) << by)
    return words, masks


@njit(cache=True)
def _look(records, part, found, weight):
    """Sets of one size: who is alone on each, whose minimal unique it is, and what the set tells apart."""
    words, rows, owner, _ = records
    n, width = words.shape
    slots = np.empty(_slots(n), np.int32)
    inside, like = np.empty(n, np.int32), np.empty(n, np.int32)
    held, whose, key = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(width, np.uint64)
    for k in range(len(part.bits)):
        m = _left_inside(part.parents[k], part.before, part.alone[k], n, inside)
        last = _slots(m) - 1
        slots[: last + 1] = -1
        classes = n - m
        for q in range(m):
            i = inside[q]
            for w in range(width):
                key[w] = words[i, w] & part.bits[k, w]
            at = _hash(key) & np.uint64(last)
            while slots[at] >= 0 and not _same(words[slots[at]], key, part.bits[k]):
                at = (at + np.uint64(1)) & np.uint64(last)
            first = slots[at]
            if first < 0:
                slots[at], like[i], held[i], whose[i] = i, i, rows[i], owner[i]
                classes += 1
            else:
                like[i] = first
                held[first] += rows[i]
                if whose[first] != owner[i]:
                    whose[first] = -1
        part.tally[k, 1] = classes
        part.tally[k, 2] = n - m
        _count(records, part, k, inside[:m], like, held, whose, found, weight)


@njit(cache=True)
def _count(records, part, k, inside, like, held, whose, found, weight):
    """Of one set whose classes are known: `like` is the first record of each one's class, which says what rows and owner it has."""
    alone, tally, columns = part.alone[k], part.tally[k], part.columns[k]
    for i in inside:
        first = like[i]
        if first == i:
            tally[3] += held[i] * (held[i] - 1)
        if whose[first] < 0:
            tally[4] += 1
            tally[5] += records.owner[i] >= 0
            continue
        alone[i >> 6] |= np.uint64(1) << np.uint64(i & 63)
        tally[2] += records.rows[i]
        complete = True
        for j in columns:
            complete = complete and records.known[i, j]
        if not complete:
            continue
        found.scores[i] += weight
        if found.many[i] < found.listed.shape[1]:
            found.listed[i, found.many[i]] = part.number + k
        if found.many[i] == 0:
            found.smallest[i] = len(columns)
        found.many[i] += 1
        if first == i:
            tally[0] += 1
            found.parts[-1] += weight
            for j in columns:
                found.parts[j] += weight


@njit(cache=True)
def _left_inside(parents, before, alone, n, inside):
    """Whom no set with a column less has found alone, in `inside`, and how many they are; all the others are alone here, too."""
    m = 0
    for b in range(len(alone)):
        out = np.uint64(0)
        for p in parents:
            out |= before[p, b]
        alone[b] = out
        if out == ~np.uint64(0):
            continue
        begin = b << 6
        for t in range(min(64, n - begin)):
            inside[m] = begin + t
            m += (out >> np.uint64(t)) & np.uint64(1) == 0
    return m


@njit(cache=True)
def _slots(n):
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@njit(cache=True, inline="always")
def _hash(key):
    """Multiplied and shifted word by word, so that every bit reaches the lowest."""
    z = np.uint64(0)
    for w in range(len(key)):
        z = (z ^ key[w]) * np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(32)
    z *= np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, inline="always")
def _same(words, key, bits):
    equal = True
    for w in range(len(key)):
        equal = equal and words[w] & bits[w] == key[w]
    return equal
