"""Documents as lists of meanings and weights: how far two are from each other, and what they have in common (Abril 2014, 4.16 to 4.19).

A document's meanings stand from the heaviest to the lightest. The meanings of two documents are matched, each at most once, and a pair costs
its dissimilarity, times its mean weight where weights count. The distance is the total cost over the length of the first document, the
smaller of both orders. Two ways to match:

* greedy: each meaning of the first document in turn takes the cheapest that is left of the second, of equally cheap ones the lightest;
* optimal: the least total cost (the Hungarian problem, by shortest augmenting paths, Crouse 2016), which is the same in both orders.

What they have in common is, for each pair, the common hypernym and the mean weight. Meanings without a partner are dropped.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import Float32Array, FloatArray, IntArray
from shoal.kernels.wu_palmer import FAR, Meanings, block_of, common_of

Progress = Callable[[int, int], object]

CALLS = 32  # a compiled loop cannot call back: it returns when one pair in this many is done, to report


class Rules(NamedTuple):
    """How documents are compared."""

    nltk: bool = False
    weighted: bool = True
    optimal: bool = False


class Documents(NamedTuple):
    """Meanings and their weights: those of document i stand from starts[i] to starts[i + 1], the heaviest first."""

    starts: IntArray
    meanings: IntArray
    weights: FloatArray

    def take(self, ids: IntArray) -> "Documents":
        """Some of the documents, in the order given."""
        lengths = np.diff(self.starts)[ids]
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = np.repeat(self.starts[ids] - starts[:-1], lengths) + np.arange(starts[-1])
        return Documents(starts, self.meanings[places], self.weights[places])


def documents_of(document: IntArray, meanings: IntArray, weights: FloatArray, count: int) -> Documents:
    """From entries in any order. A document's entries are sorted by weight, equal weights by meaning."""
    order = np.lexsort((meanings, -weights, document))
    starts = np.searchsorted(document[order], np.arange(count + 1))
    return Documents(starts, np.ascontiguousarray(meanings[order], np.int64), np.ascontiguousarray(weights[order], np.float64))


def distance_matrix(documents: Documents, matrix: Float32Array, rules: Rules, progress: Progress | None = None) -> Float32Array:
    """(4.18) for every pair of documents; their meanings are numbers of rows of a matrix of dissimilarities."""
    n = len(documents.starts) - 1
    distances = np.zeros((n, n), np.float32)
    done = 0
    while done < n - 1:
        until = done
        while until < n - 1 and (2 * n - done - until) * (until - done) * CALLS <= n * n:
            until += 1
        until = max(until, done + 1)
        _rows(documents, matrix, rules, done, until, distances)
        done = until
        if progress is not None:
            progress(min(n * n, (2 * n - done) * done), n * n)
    return distances


def distances_between(meanings: Meanings, some: Documents, others: Documents, pairs: tuple[IntArray, IntArray], rules: Rules) -> FloatArray:
    """(4.18) between some[a] and others[b] for each pair, dissimilarities worked out on the way."""
    first, second = (np.asarray(side, np.int64) for side in pairs)
    found: FloatArray = _between(meanings, some, others, first, second, rules, np.full(meanings.synsets, FAR, np.int8))
    return found


def aggregate(meanings: Meanings, documents: Documents, order: IntArray, rules: Rules) -> tuple[IntArray, FloatArray]:
    """(4.19): what documents have in common, taken one after the other: the weights of m of them count m times against those of the next.

    Synsets and their weights, the heaviest first; one synset may stand there several times.
    """
    found: tuple[IntArray, FloatArray] = _aggregate(
        meanings, documents, np.asarray(order, np.int64), rules, np.full(meanings.synsets, FAR, np.int8)
    )
    return found


@njit(cache=True, fastmath={"nnan", "nsz"})  # costs are never NaN; so that the search for the least one runs in parallel
def _greedy(block, w1, w2, weighted, match):
    """The total cost. `match[a]` is the partner of the a-th meaning of the first document, -1 where the second has run out."""
    n1, n2 = w1.shape[0], w2.shape[0]
    cost, used, second = np.empty(n2, np.float32), np.zeros(n2, np.float32), w2.astype(np.float32)
    total = 0.0
    for a in range(n1):
        match[a] = -1
        if a >= n2:
            continue
        row = block[a]
        weight = np.float32(w1[a])
        least = np.float32(np.inf)
        if weighted:
            for b in range(n2):
                cost[b] = (weight + second[b]) * row[b] + used[b]
                least = min(least, cost[b])
        else:
            for b in range(n2):
                cost[b] = row[b] + used[b]
                least = min(least, cost[b])
        b = n2 - 1
        while cost[b] != least:
            b -= 1
        match[a] = b
        used[b] = np.inf
        total += (w1[a] + w2[b]) / 2 * row[b] if weighted else row[b]
    return total


@njit(cache=True)
def _optimal(block, w1, w2, weighted, match):
    """The least total cost. The first document must not be the longer one: each of its meanings gets a partner."""
    n1, n2 = w1.shape[0], w2.shape[0]
    cost = np.empty((n1, n2))
    for a in range(n1):
        for b in range(n2):
            cost[a, b] = (w1[a] + w2[b]) / 2 * block[a, b] if weighted else block[a, b]
    first_price, second_price = np.zeros(n1), np.zeros(n2)
    owner = np.full(n2, -1, np.int64)
    came = np.empty(n2, np.int64)
    way = np.empty(n2)
    open_ = np.empty(n2, np.int64)
    match[:n1] = -1
    for start in range(n1):
        way[:] = np.inf
        for b in range(n2):
            open_[b] = b
        left, length, a, end = n2, 0.0, start, -1
        while end < 0:
            least, at = np.inf, -1
            for q in range(left):
                b = open_[q]
                here = length + cost[a, b] - first_price[a] - second_price[b]
                if here < way[b]:
                    way[b] = here
                    came[b] = a
                if way[b] < least or (way[b] == least and owner[b] < 0):
                    least, at = way[b], q
            length = least
            b = open_[at]
            left -= 1
            open_[at], open_[left] = open_[left], b  # closed columns gather behind the open ones
            if owner[b] < 0:
                end = b
            else:
                a = owner[b]
        first_price[start] += length
        for q in range(left, n2):
            b = open_[q]
            if owner[b] >= 0:
                first_price[owner[b]] += length - way[b]
            second_price[b] -= length - way[b]
        b = end
        while True:
            a = came[b]
            owner[b] = a
            match[a], b = b, match[a]
            if a == start:
                break
    total = 0.0
    for a in range(n1):
        total += cost[a, match[a]]
    return total


@njit(cache=True)
def _matched(block, other, w1, w2, rules, match, back):
    """The distance, and whether the second document is matched to the first: then `back` holds the partners, else `match`.

    `block` holds dissimilarities, first document by second; `other` the same, second by first.
    """
    n1, n2 = w1.shape[0], w2.shape[0]
    if rules.optimal:
        turned = n2 < n1
        total = _optimal(other, w2, w1, rules.weighted, back) if turned else _optimal(block, w1, w2, rules.weighted, match)
        return total / max(n1, n2), turned
    there = _greedy(block, w1, w2, rules.weighted, match) / n1
    again = _greedy(other, w2, w1, rules.weighted, back) / n2
    return min(there, again), again < there


@njit(cache=True)
def _rows(documents, matrix, rules, begin, end, distances):
    n = documents.starts.shape[0] - 1
    starts, meanings, weights = documents.starts, documents.meanings, documents.weights
    most = 0
    for i in range(n):
        most = max(most, starts[i + 1] - starts[i])
    block, other = np.empty((most, most), np.float32), np.empty((most, most), np.float32)
    match, back = np.empty(most, np.int64), np.empty(most, np.int64)
    for i in range(begin, end):
        w1 = weights[starts[i] : starts[i + 1]]
        for j in range(i + 1, n):
            w2 = weights[starts[j] : starts[j + 1]]
            for a in range(w1.shape[0]):
                row = matrix[meanings[starts[i] + a]]
                for b in range(w2.shape[0]):
                    block[a, b] = other[b, a] = row[meanings[starts[j] + b]]
            distances[i, j] = distances[j, i] = _matched(block, other, w1, w2, rules, match, back)[0]


@njit(cache=True)
def _match(meanings, m1, w1, m2, w2, rules, far, match):
    """The distance of two documents; `match` becomes the partners of the first one's meanings, -1 where there is none."""
    block = block_of(meanings, m1, m2, rules.nltk, far)
    back = np.empty(w2.shape[0], np.int64)
    distance, turned = _matched(block, np.ascontiguousarray(block.T), w1, w2, rules, match, back)
    if turned:
        match[:] = -1
        for b in range(back.shape[0]):
            if back[b] >= 0:
                match[back[b]] = b
    return distance


@njit(cache=True)
def _between(meanings, some, others, first, second, rules, far):
    found = np.empty(first.shape[0])
    for p in range(first.shape[0]):
        a, b = some.starts[first[p]], some.starts[first[p] + 1]
        c, d = others.starts[second[p]], others.starts[second[p] + 1]
        match = np.empty(b - a, np.int64)
        found[p] = _match(
            meanings, some.meanings[a:b], some.weights[a:b], others.meanings[c:d], others.weights[c:d], rules, far, match
        )  # fmt: skip
    return found


@njit(cache=True)
def _aggregate(meanings, documents, order, rules, far):
    starts = documents.starts
    first = order[0]
    m1 = documents.meanings[starts[first] : starts[first + 1]].copy()
    w1 = documents.weights[starts[first] : starts[first + 1]].copy()
    for count in range(1, order.shape[0]):
        begin, end = starts[order[count]], starts[order[count] + 1]
        m2, w2 = documents.meanings[begin:end], documents.weights[begin:end]
        match = np.empty(w1.shape[0], np.int64)
        _match(meanings, m1, w1, m2, w2, rules, far, match)
        kept = 0
        for a in range(w1.shape[0]):
            if match[a] >= 0:
                m1[kept] = common_of(meanings, m1[a], m2[match[a]], rules.nltk, far)[1]
                w1[kept] = (count * w1[a] + w2[match[a]]) / (count + 1)
                kept += 1
        by_meaning = np.argsort(m1[:kept], kind="mergesort")
        by_weight = by_meaning[np.argsort(-w1[:kept][by_meaning], kind="mergesort")]
        m1, w1 = m1[by_weight], w1[by_weight]
    return m1, w1
