"""Spherical MDAV: groups of at least k sparse unit rows by the cosine distance, formed from the outside in (Abril 2014, Algorithm 1 and 4.3).

While 3k rows or more are live: take the row least similar to the sum of the live rows, group it with its k - 1 most similar, then do the same
around the row least similar to that one. With 2k rows or more left, one group more; what remains is the last group.

Two kernels give the same groups. The naive one walks the terms of all live rows for each question. The fast one walks, for the terms asked
about, the rows that have them (postings of the live rows, made anew as they become few), and keeps each row's similarity to the sum up to
date by the terms of the rows that leave. They agree, and the order of rows changes nothing, because of these rules:

* weights are whole numbers, the 2^-22nd parts of 1 (coarser above 2^18 rows), so that sums are exact in any order;
* rows stand in an order that their content alone decides;
* of equally similar rows the first in that order goes first. Many pairs share no term at all, so of the rows least similar to a row, the one
  least similar to the sum is taken, the sum as it was when the round began.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray

Progress = Callable[[int, int], object]
Gather = Literal["seed", "sum"]

FINEST = 22  # bits of a weight
FEWER = 0.7  # postings are made anew when this share of their rows is left
CALLS = 32  # a compiled loop cannot call back: it returns when one row in this many has left, to report


class Rows(NamedTuple):
    """Sparse rows: the terms of row i stand from starts[i] to starts[i + 1], ascending, their weights beside them."""

    starts: IntArray
    terms: Int32Array
    weights: FloatArray
    width: int

    def take(self, ids: IntArray) -> "Rows":
        """Some of the rows, in the order given."""
        lengths = np.diff(self.starts)[ids]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = np.repeat(self.starts[ids] - starts[:-1], lengths) + np.arange(starts[-1])
        return Rows(starts, self.terms[places], self.weights[places], self.width)


def rows_of(starts: NDArray[Any], terms: NDArray[Any], weights: NDArray[Any], width: int) -> Rows:
    """The arrays as compiled kernels want them, or an error that says what is wrong."""
    rows = Rows(
        np.ascontiguousarray(starts, np.int64), np.ascontiguousarray(terms, np.int32), np.ascontiguousarray(weights, np.float64), int(width)
    )
    if not (np.isfinite(rows.weights).all() and (rows.weights >= 0).all() and (rows.weights <= 1 + 1e-6).all()):
        raise ValueError("Weights must be finite numbers from 0 to 1.")
    return rows


def content_order(rows: Rows) -> IntArray:
    """The rows in an order that depends on what is in them and not on where they stand: by a hash of terms and weights."""
    return np.argsort(_hashes(rows.starts, rows.terms, rows.weights.view(np.uint64)), kind="stable")


def spherical_groups(rows: Rows, k: int, gather: Gather = "seed", progress: Progress | None = None) -> IntArray:
    """The group of each row, numbered in order of creation; sizes are k to 2k - 1, or all rows where there are fewer than 2k.

    `seed`: a group's members are the most similar to its first row, as published. `sum`: each is the most similar to the sum of those
    already in it, and the second group starts at the row least similar to the sum of the first, which lowers the loss.
    """
    order, starts, terms, weights = _prepared(rows, k)
    n = live = len(order)
    found = np.full(n, -1, np.int64)
    made = 0
    while live >= 2 * k:
        ids = np.flatnonzero(found < 0)
        begins, places, heavy = _postings(ids, starts, terms, weights, rows.width)
        similar = _to_the_sum(ids, starts, terms, weights, rows.width)
        built = live
        while live >= 2 * k and live >= FEWER * built:
            most = max(8, n // (2 * k * CALLS))
            made, live = _rounds(
                ids, starts, terms, weights, begins, places, heavy, similar, found, live, built, k, made, most, gather == "sum"
            )
            if progress is not None:
                progress(n - live, n)
    found[found < 0] = made
    if progress is not None:
        progress(n, n)
    groups = np.empty(n, np.int64)
    groups[order] = found
    return groups


def spherical_groups_naive(rows: Rows, k: int, gather: Gather = "seed", progress: Progress | None = None) -> IntArray:
    """The same groups by walking all live rows for each question: the reference."""
    order, starts, terms, weights = _prepared(rows, k)
    n = live = len(order)
    found = np.full(n, -1, np.int64)
    made = 0
    while live >= 2 * k:
        ids = np.flatnonzero(found < 0)
        most = max(8, n // (2 * k * CALLS))
        made, live = _rounds_naive(ids, starts, terms, weights, rows.width, found, live, k, made, most, gather == "sum")
        if progress is not None:
            progress(n - live, n)
    found[found < 0] = made
    groups = np.empty(n, np.int64)
    groups[order] = found
    return groups


def _prepared(rows: Rows, k: int) -> tuple[IntArray, IntArray, Int32Array, Int32Array]:
    """The content order, and the rows in it with whole weights."""
    if k < 1:
        raise ValueError(f"k must be 1 or more, got {k}.")
    order = content_order(rows)
    placed = rows.take(order)
    bits = min(FINEST, (62 - len(order).bit_length()) // 2)  # n products of two weights must fit 63 bits
    return order, placed.starts, placed.terms, np.rint(placed.weights * 2.0**bits).astype(np.int32)


@njit(cache=True)
def _hashes(starts, terms, bits):
    """splitmix64 over the entries of each row, in order."""
    n = starts.shape[0] - 1
    hashes = np.empty(n, np.uint64)
    for i in range(n):
        state = np.uint64(0x9E3779B97F4A7C15)
        for p in range(starts[i], starts[i + 1]):
            for part in range(2):
                state += np.uint64(0x9E3779B97F4A7C15) ^ (bits[p] if part else np.uint64(terms[p]))
                state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
                state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
                state ^= state >> np.uint64(31)
        hashes[i] = state
    return hashes


@njit(cache=True)
def _postings(ids, starts, terms, weights, width):
    """From a term to the places in `ids` of the rows that have it."""
    begins = np.zeros(width + 1, np.int64)
    for i in ids:
        for p in range(starts[i], starts[i + 1]):
            begins[terms[p] + 1] += 1
    for t in range(width):
        begins[t + 1] += begins[t]
    fill = begins[:-1].copy()
    places = np.empty(begins[width], np.int32)
    heavy = np.empty(begins[width], np.int32)
    for a in range(ids.shape[0]):
        for p in range(starts[ids[a]], starts[ids[a] + 1]):
            at = fill[terms[p]]
            places[at] = a
            heavy[at] = weights[p]
            fill[terms[p]] += 1
    return begins, places, heavy


@njit(cache=True)
def _to_the_sum(ids, starts, terms, weights, width):
    """The similarity of each row to the sum of them all."""
    total = np.zeros(width, np.int64)
    for i in ids:
        for p in range(starts[i], starts[i + 1]):
            total[terms[p]] += weights[p]
    return _products(ids, ids.shape[0], starts, terms, weights, total)


@njit(cache=True)
def _products(ids, count, starts, terms, weights, vector):
    found = np.empty(count, np.int64)
    for a in range(count):
        product = np.int64(0)
        for p in range(starts[ids[a]], starts[ids[a] + 1]):
            product += weights[p] * vector[terms[p]]
        found[a] = product
    return found


@njit(cache=True)
def _least(live, similar, then):
    """The place of the live row that is least similar, ties by the second similarity, then the first place."""
    best = -1
    for a in range(live.shape[0]):
        if live[a] and (best < 0 or similar[a] < similar[best] or (similar[a] == similar[best] and then[a] < then[best])):
            best = a
    return best


@njit(cache=True)
def _most(live, similar):
    best = -1
    for a in range(live.shape[0]):
        if live[a] and (best < 0 or similar[a] > similar[best]):
            best = a
    return best


@njit(cache=True)
def _nearest(live, similar, count, near):
    """The places of the `count` most similar live rows, ties to the first place."""
    filled = 0
    for a in range(live.shape[0]):
        if not live[a] or (filled == count and (count == 0 or similar[a] <= similar[near[filled - 1]])):
            continue
        if filled < count:
            filled += 1
        at = filled - 1
        while at > 0 and similar[near[at - 1]] < similar[a]:
            near[at] = near[at - 1]
            at -= 1
        near[at] = a


@njit(cache=True)
def _add(similar, i, starts, terms, weights, begins, places, heavy):
    """Add to every row its similarity to row i, along the postings of its terms."""
    for p in range(starts[i], starts[i + 1]):
        weight = np.int64(weights[p])
        for q in range(begins[terms[p]], begins[terms[p] + 1]):
            similar[places[q]] += weight * heavy[q]


@njit(cache=True)
def _rounds(ids, starts, terms, weights, begins, places, heavy, similar, found, live, built, k, made, most, by_sum):
    """Up to `most` rounds of two groups, of one where fewer than 3k rows are left."""
    alive = np.empty(ids.shape[0], np.bool_)
    for a in range(ids.shape[0]):
        alive[a] = found[ids[a]] < 0
    here = np.empty(ids.shape[0], np.int64)
    near = np.empty(max(k - 1, 1), np.int64)
    leaving = np.zeros(begins.shape[0] - 1, np.int64)
    gone = np.empty(2 * k, np.int64)
    for _ in range(most):
        if live < 2 * k or live < FEWER * built:
            break
        first = _least(alive, similar, similar)
        out = 0
        for side in range(2 if live >= 3 * k else 1):
            if side:
                first = _least(alive, here, similar)
            here[:] = 0
            _add(here, ids[first], starts, terms, weights, begins, places, heavy)
            alive[first] = False
            gone[out] = first
            if by_sum:
                for b in range(1, k):
                    a = _most(alive, here)
                    _add(here, ids[a], starts, terms, weights, begins, places, heavy)
                    alive[a] = False
                    gone[out + b] = a
            else:
                _nearest(alive, here, k - 1, near)
                for b in range(1, k):
                    alive[near[b - 1]] = False
                    gone[out + b] = near[b - 1]
            for b in range(out, out + k):
                found[ids[gone[b]]] = made
            made += 1
            out += k
        live -= out
        for b in range(out):
            for p in range(starts[ids[gone[b]]], starts[ids[gone[b]] + 1]):
                leaving[terms[p]] += weights[p]
        for b in range(out):
            for p in range(starts[ids[gone[b]]], starts[ids[gone[b]] + 1]):
                t = terms[p]
                if leaving[t]:
                    for q in range(begins[t], begins[t + 1]):
                        similar[places[q]] -= leaving[t] * heavy[q]
                    leaving[t] = 0
    return made, live


@njit(cache=True)
def _rounds_naive(ids, starts, terms, weights, width, found, live, k, made, most, by_sum):
    near = np.empty(max(k - 1, 1), np.int64)
    vector = np.zeros(width, np.int64)
    count = ids.shape[0]
    alive = np.ones(count, np.bool_)
    for _ in range(most):
        if live < 2 * k:
            break
        vector[:] = 0
        for a in range(count):
            for p in range(starts[ids[a]], starts[ids[a] + 1]):
                vector[terms[p]] += weights[p]
        similar = _products(ids, count, starts, terms, weights, vector)
        here = similar
        for _side in range(2 if live >= 3 * k else 1):
            first = _least(alive[:count], here, similar)
            vector[:] = 0
            for b in range(k):
                if b == 0:
                    near[0] = first
                if b == 0 or by_sum:
                    i = ids[near[0]]
                    for p in range(starts[i], starts[i + 1]):
                        vector[terms[p]] += weights[p]
                    alive[near[0]] = False
                    found[i] = made
                    here = _products(ids, count, starts, terms, weights, vector)
                    if by_sum:
                        near[0] = _most(alive[:count], here)
            if not by_sum:
                _nearest(alive[:count], here, k - 1, near)
                for b in range(k - 1):
                    alive[near[b]] = False
                    found[ids[near[b]]] = made
            made += 1
            live -= k
        left = 0
        for a in range(count):  # the rows that stay close up
            if alive[a]:
                ids[left] = ids[a]
                left += 1
        count = left
        alive[:count] = True
    return made, live
