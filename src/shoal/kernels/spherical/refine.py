"""Moves and exchanges between groups of sparse unit rows, while the sum of cosine distances to the groups' centroids (SSE) falls.

A group with sum S has the centroid S / |S|, so the SSE is n less the lengths |S| of all groups, and a step is weighed by what it adds to two
lengths: exactly, from |S|², the products of rows with sums, and those of two rows. Each row is offered to the few groups whose centroids are
most similar to it: it moves there where sizes stay within k and 2k - 1, or changes places with one of their rows. To find these groups only
the heaviest terms of a row are looked up; common words are long to walk and tell little. A row is looked at again when its group, or one it
was offered to, has changed since. Rows are taken in the order of their content, so theirs in the table changes nothing.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import Float32Array, FloatArray, Int32Array, IntArray
from shoal.kernels.spherical.mdav import Progress, Rows, content_order

OFFERS = 10  # groups a row is offered to
HEAVY = 0.75  # of a row's squared length, which its heaviest terms make up
BUDGET = 10_000  # entries walked for one row, beyond which further terms are not looked up: time grows with the rows, not their square
GAIN = 1e-9


class Postings(NamedTuple):
    """From a term to the rows that have it, and from a row to its heaviest terms."""

    begins: IntArray  # (terms + 1,) where a term's rows begin
    rows: Int32Array
    weights: Float32Array
    ranked: Int32Array  # beside the entries of each row: which is the heaviest, the second heaviest, ...
    looked_up: IntArray  # (rows,) how many of them to look up


class Grouping(NamedTuple):
    """The groups, and what passes keep of them."""

    group: IntArray  # (rows,)
    size: IntArray  # (groups,)
    member: Int32Array  # (groups, room) rows, the first `size` of them
    length: FloatArray  # (groups,) squared length of the sum
    changed: IntArray  # (groups,) when, in rows looked at
    own: FloatArray  # (rows,) similarity to the sum of its group
    squared: FloatArray  # (rows,) squared length
    looked: IntArray  # (rows,) when
    offers: Int32Array  # (rows, OFFERS) groups it was offered to, -1: none
    total: FloatArray  # (terms,) zero between steps
    mine: FloatArray  # (terms,) zero between steps


def swap_passes(rows: Rows, groups: IntArray, k: int, passes: int = 3, progress: Progress | None = None) -> IntArray:
    """New groups of k to 2k - 1 rows, with an SSE no larger than before; `groups` must have such sizes."""
    n = len(rows.starts) - 1
    if n < 2 * k or passes < 1:
        return np.asarray(groups, np.int64)
    order = content_order(rows)
    placed = rows.take(order)
    group = by_first(np.asarray(groups, np.int64)[order])
    size = np.bincount(group)
    if size.min() < k or size.max() > 2 * k - 1:
        raise ValueError(f"Groups must have k = {k} to {2 * k - 1} rows; these have {size.min()} to {size.max()}.")
    made = grouping(placed, group, 2 * k - 1)
    postings = heavy_postings(placed)
    for done in range(passes):
        taken = _pass(placed, postings, made, k, done * n)
        if progress is not None:
            progress(done + 1, passes)
        if not taken:
            break
    found = np.empty(n, np.int64)
    found[order] = made.group
    return found


def by_first(groups: IntArray) -> IntArray:
    """Numbers in the order of each group's first row."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def grouping(rows: Rows, group: IntArray, room: int) -> Grouping:
    """Groups of at most `room` rows, measured."""
    n, size = len(group), np.bincount(group)
    member = np.full((len(size), room), -1, np.int32)
    inside = np.argsort(group, kind="stable")
    member[group[inside], np.arange(n) - np.repeat(np.cumsum(size) - size, size)] = inside
    made = Grouping(
        group,
        size,
        member,
        np.zeros(len(size)),
        np.zeros(len(size), np.int64),
        np.zeros(n),
        np.bincount(np.repeat(np.arange(n), np.diff(rows.starts)), rows.weights**2, n).astype(np.float64),
        np.full(n, -1, np.int64),
        np.full((n, OFFERS), -1, np.int32),
        np.zeros(rows.width),
        np.zeros(rows.width),
    )
    for g in range(len(size)):
        measure(rows, made, g)
    return made


def heavy_postings(rows: Rows) -> Postings:
    """Postings of all rows, and their terms from heavy to light."""
    found: tuple[Any, ...] = _heavy_postings(rows, HEAVY, BUDGET)
    return Postings(*found)


@njit(cache=True)
def _heavy_postings(rows, share, budget):
    starts, terms, weights = rows.starts, rows.terms, rows.weights
    n = starts.shape[0] - 1
    begins = np.zeros(rows.width + 1, np.int64)
    for p in range(terms.shape[0]):
        begins[terms[p] + 1] += 1
    for t in range(rows.width):
        begins[t + 1] += begins[t]
    fill = begins[:-1].copy()
    having = np.empty(terms.shape[0], np.int32)
    beside = np.empty(terms.shape[0], np.float32)
    ranked = np.empty(terms.shape[0], np.int32)
    looked_up = np.zeros(n, np.int64)
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            at = fill[terms[p]]
            having[at] = i
            beside[at] = weights[p]
            fill[terms[p]] += 1
        places = np.argsort(-weights[starts[i] : starts[i + 1]], kind="mergesort")
        seen, walked = 0.0, 0
        for r in range(places.shape[0]):
            p = starts[i] + places[r]
            ranked[starts[i] + r] = places[r]
            walked += begins[terms[p] + 1] - begins[terms[p]]
            if seen < share and (r == 0 or walked <= budget):
                looked_up[i] += 1
                seen += weights[p] ** 2
    return begins, having, beside, ranked, looked_up


@njit(cache=True)
def similarities(i, rows, postings, group, score, touched, some):
    """Add to the score of every group its sum's similarity to row i, by the heaviest terms of the row.

    `touched` lists the groups whose score is not 0, `some` of them before; returns how many there are now.
    """
    for r in range(postings.looked_up[i]):
        p = rows.starts[i] + postings.ranked[rows.starts[i] + r]
        t = rows.terms[p]
        for q in range(postings.begins[t], postings.begins[t + 1]):
            g = group[postings.rows[q]]
            if score[g] == 0.0:
                touched[some] = g
                some += 1
            score[g] += rows.weights[p] * postings.weights[q]
    return some


@njit(cache=True)
def measure(rows, made, g):
    """Each member's similarity to the sum, and the sum's squared length, afresh."""
    starts, terms, weights, total = rows.starts, rows.terms, rows.weights, made.total
    for i in made.member[g, : made.size[g]]:
        for p in range(starts[i], starts[i + 1]):
            total[terms[p]] += weights[p]
    made.length[g] = 0.0
    for i in made.member[g, : made.size[g]]:
        made.own[i] = 0.0
        for p in range(starts[i], starts[i + 1]):
            made.own[i] += weights[p] * total[terms[p]]
        made.length[g] += made.own[i]
    for i in made.member[g, : made.size[g]]:
        for p in range(starts[i], starts[i + 1]):
            total[terms[p]] = 0.0


@njit(cache=True)
def _offer(i, rows, postings, made, score, touched):
    """The groups whose centroids are most similar to row i, best first; ties to the lower group. `score` is zero before and after."""
    offers = made.offers[i]
    offers[:] = -1
    best = np.zeros(OFFERS)
    for g in touched[: similarities(i, rows, postings, made.group, score, touched, 0)]:
        cosine = score[g] / np.sqrt(made.length[g])
        score[g] = 0.0
        if g == made.group[i] or cosine < best[OFFERS - 1]:
            continue
        at = OFFERS
        while at > 0 and (best[at - 1] < cosine or (best[at - 1] == cosine and offers[at - 1] > g)):
            at -= 1
            if at + 1 < OFFERS:
                offers[at + 1] = offers[at]
                best[at + 1] = best[at]
        if at < OFFERS:
            offers[at] = g
            best[at] = cosine


@njit(cache=True)
def _pass(rows, postings, made, k, now):
    """Each row once; returns the number of steps taken."""
    taken = 0
    score = np.zeros(made.size.shape[0])
    touched = np.empty(made.size.shape[0], np.int64)
    for i in range(made.group.shape[0]):
        now += 1
        a = made.group[i]
        stale = made.looked[i] < 0 or made.changed[a] > made.looked[i]
        for g in made.offers[i]:
            stale = stale or (g >= 0 and made.changed[g] > made.looked[i])
        if not stale:
            continue
        made.looked[i] = now
        _offer(i, rows, postings, made, score, touched)
        b, j = _best_step(i, rows, made, k)
        if b < 0:
            continue
        taken += 1
        take_out(made, i)
        if j >= 0:
            take_out(made, j)
            put_in(made, j, a)
        put_in(made, i, b)
        for g in (a, b):
            made.changed[g] = now + 1  # later than any look so far, this one too
            measure(rows, made, g)
    return taken


@njit(cache=True)
def take_out(made, i):
    """Out of its group, whose last row takes the place."""
    g = made.group[i]
    made.size[g] -= 1
    for s in range(made.size[g]):
        if made.member[g, s] == i:
            made.member[g, s] = made.member[g, made.size[g]]


@njit(cache=True)
def put_in(made, i, g):
    """Into a group that has room."""
    made.member[g, made.size[g]] = i
    made.size[g] += 1
    made.group[i] = g


@njit(cache=True)
def _best_step(i, rows, made, k):
    """(group to go to, row to take in exchange) that lengthen the sums most; row -1: a move; group -1: nothing does."""
    starts, terms, weights, total, mine = rows.starts, rows.terms, rows.weights, made.total, made.mine
    a = made.group[i]
    for j in made.member[a, : made.size[a]]:
        for p in range(starts[j], starts[j + 1]):
            total[terms[p]] += weights[p]
    for p in range(starts[i], starts[i + 1]):
        mine[terms[p]] = weights[p]
    to, change, most = -1, -1, GAIN
    with_sum = np.empty(2 * k - 1)
    with_row = np.empty(2 * k - 1)
    for b in made.offers[i]:
        if b < 0:
            break
        there = 0.0  # row i with the sum of b
        for s in range(made.size[b]):
            j = made.member[b, s]
            in_sum, in_row = 0.0, 0.0
            for p in range(starts[j], starts[j + 1]):
                in_sum += weights[p] * total[terms[p]]
                in_row += weights[p] * mine[terms[p]]
            with_sum[s], with_row[s] = in_sum, in_row
            there += in_row
        before = np.sqrt(made.length[a]) + np.sqrt(made.length[b])
        if made.size[a] > k and made.size[b] < 2 * k - 1:
            left = max(0.0, made.length[a] - 2.0 * made.own[i] + made.squared[i])
            gain = np.sqrt(left) + np.sqrt(made.length[b] + 2.0 * there + made.squared[i]) - before
            if gain > most:
                to, change, most = b, -1, gain
        for s in range(made.size[b]):
            j = made.member[b, s]
            both = made.squared[i] + made.squared[j] - 2.0 * with_row[s]
            left = max(0.0, made.length[a] + both - 2.0 * made.own[i] + 2.0 * with_sum[s])
            right = max(0.0, made.length[b] + both - 2.0 * made.own[j] + 2.0 * there)
            gain = np.sqrt(left) + np.sqrt(right) - before
            if gain > most:
                to, change, most = b, j, gain
    for j in made.member[a, : made.size[a]]:
        for p in range(starts[j], starts[j + 1]):
            total[terms[p]] = 0.0
    for p in range(starts[i], starts[i + 1]):
        mine[terms[p]] = 0.0
    return to, change
