"""Moves and exchanges between groups of sparse unit rows, while the sum of cosine distances to the groups' centroids (SSE) falls.

A group with sum S has the centroid S / |S|, so the SSE is n less the lengths |S| of all groups, and a step is weighed by what it adds to two
lengths: exactly, from |S|², the products of rows with sums, and those of two rows. Each row is offered to the few groups whose centroids are
most similar to it: it moves there where sizes stay within k and 2k - 1, or changes places with one of their rows. To find these groups only
the heaviest terms of a row are looked up; common words are long to walk and tell little. A row is looked at again when its group, or one it
was offered to, has changed since. Rows are taken in the order of their content, so theirs in the table changes nothing.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.kernels.spherical import IntArray, Progress, Rows, content_order

CANDIDATES = 10
HEAVY = 0.75  # of a row's squared length, which its heaviest terms make up
BUDGET = 10_000  # entries walked for one row, beyond which further terms are not looked up: time grows with the rows, not their square
GAIN = 1e-9


def swap_passes(rows: Rows, groups: IntArray, k: int, passes: int = 3, progress: Progress | None = None) -> IntArray:
    """New groups of k to 2k - 1 rows, with an SSE no larger than before; `groups` must have such sizes."""
    n = len(rows.starts) - 1
    if n < 2 * k or passes < 1:
        return np.asarray(groups, np.int64)
    order = content_order(rows)
    placed = rows.take(order)
    dense = _by_first(np.asarray(groups, np.int64)[order])
    sizes = np.bincount(dense)
    if sizes.min() < k or sizes.max() > 2 * k - 1:
        raise ValueError(f"Groups must have k = {k} to {2 * k - 1} rows; these have {sizes.min()} to {sizes.max()}.")
    member = np.full((len(sizes), 2 * k - 1), -1, np.int32)
    by_group = np.argsort(dense, kind="stable")
    slot = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    member[dense[by_group], slot] = by_group
    postings = heavy_postings(placed.starts, placed.terms, placed.weights, placed.width, HEAVY, BUDGET)
    state = _State(placed, dense, sizes, member)
    for done in range(passes):
        better = state.one_pass(k, postings, done)
        if progress is not None:
            progress(done + 1, passes)
        if not better:
            break
    found = np.empty(n, np.int64)
    found[order] = dense
    return found


class _State:
    """What a pass reads and writes."""

    def __init__(self, rows: Rows, label: IntArray, sizes: IntArray, member: NDArray[np.int32]) -> None:
        n = len(label)
        self.rows, self.label, self.sizes, self.member = rows, label, sizes, member
        self.squared = _squares(rows.starts, rows.weights)
        self.own = np.zeros(n)  # similarity to the sum of its group
        self.length = np.zeros(len(sizes))  # squared length of each sum
        self.changed = np.zeros(len(sizes), np.int64)  # when, in rows looked at
        self.looked = np.full(n, -1, np.int64)
        self.offers = np.full((n, CANDIDATES), -1, np.int32)
        self.dense = np.zeros((2, rows.width))
        for g in range(len(sizes)):
            _measure(g, rows.starts, rows.terms, rows.weights, sizes, member, self.own, self.length, self.dense[0])

    def one_pass(self, k: int, postings: tuple[IntArray, NDArray[np.int32], NDArray[np.float32], IntArray, NDArray[np.int32]], done: int) -> int:
        rows = self.rows
        return int(
            _pass(
                rows.starts, rows.terms, rows.weights, *postings, self.label, self.sizes, self.member, self.squared, self.own, self.length,
                self.changed, self.looked, self.offers, self.dense, k, done * len(self.label),
            )
        )  # fmt: skip


def _by_first(groups: IntArray) -> IntArray:
    """Numbers in the order of each group's first row."""
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


@njit(cache=True)
def _squares(starts, weights):  # type: ignore[no-untyped-def]
    found = np.zeros(starts.shape[0] - 1)
    for i in range(found.shape[0]):
        for p in range(starts[i], starts[i + 1]):
            found[i] += weights[p] * weights[p]
    return found


@njit(cache=True)
def heavy_postings(starts, terms, weights, width, share, budget):  # type: ignore[no-untyped-def]
    """Postings of all rows; and each row's terms from heavy to light, as places in its entries, with how many of them to look up."""
    n = starts.shape[0] - 1
    begins = np.zeros(width + 1, np.int64)
    for p in range(terms.shape[0]):
        begins[terms[p] + 1] += 1
    for t in range(width):
        begins[t + 1] += begins[t]
    fill = begins[:-1].copy()
    places = np.empty(terms.shape[0], np.int32)
    heavy = np.empty(terms.shape[0], np.float32)
    count = np.zeros(n, np.int64)
    first = np.empty(terms.shape[0], np.int32)
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            at = fill[terms[p]]
            places[at] = i
            heavy[at] = weights[p]
            fill[terms[p]] += 1
        ranked = np.argsort(-weights[starts[i] : starts[i + 1]], kind="mergesort")
        seen, walked = 0.0, 0
        for r in range(ranked.shape[0]):
            p = starts[i] + ranked[r]
            first[starts[i] + r] = ranked[r]
            walked += begins[terms[p] + 1] - begins[terms[p]]
            if seen < share and (r == 0 or walked <= budget):
                count[i] += 1
                seen += weights[p] ** 2
    return begins, places, heavy, count, first


@njit(cache=True)
def _measure(g, starts, terms, weights, sizes, member, own, length, dense):  # type: ignore[no-untyped-def]
    """Each member's similarity to the sum, and the sum's squared length, afresh; `dense` is zero before and after."""
    for s in range(sizes[g]):
        i = member[g, s]
        for p in range(starts[i], starts[i + 1]):
            dense[terms[p]] += weights[p]
    length[g] = 0.0
    for s in range(sizes[g]):
        i = member[g, s]
        own[i] = 0.0
        for p in range(starts[i], starts[i + 1]):
            own[i] += weights[p] * dense[terms[p]]
        length[g] += own[i]
    for s in range(sizes[g]):
        i = member[g, s]
        for p in range(starts[i], starts[i + 1]):
            dense[terms[p]] = 0.0


@njit(cache=True)
def _offer(i, starts, terms, weights, begins, places, heavy, count, first, label, length, score, touched, offers):  # type: ignore[no-untyped-def]
    """The groups whose centroids are most similar to row i by its heaviest terms, best first; ties to the lower group."""
    some = 0
    for r in range(count[i]):
        p = starts[i] + first[starts[i] + r]
        for q in range(begins[terms[p]], begins[terms[p] + 1]):
            g = label[places[q]]
            if score[g] == 0.0:
                touched[some] = g
                some += 1
            score[g] += weights[p] * heavy[q]
    offers[:] = -1
    best = np.zeros(offers.shape[0])
    for a in range(some):
        g = touched[a]
        cosine = score[g] / np.sqrt(length[g])
        score[g] = 0.0
        if g == label[i]:
            continue
        at = offers.shape[0]
        while at > 0 and (offers[at - 1] < 0 or best[at - 1] < cosine or (best[at - 1] == cosine and offers[at - 1] > g)):
            if at < offers.shape[0]:
                offers[at] = offers[at - 1]
                best[at] = best[at - 1]
            at -= 1
        if at < offers.shape[0]:
            offers[at] = g
            best[at] = cosine


@njit(cache=True)
def _pass(  # type: ignore[no-untyped-def]
    starts, terms, weights, begins, places, heavy, count, first, label, sizes, member, squared, own, length, changed, looked, offers,
    dense, k, now,
):  # fmt: skip
    """Each row once, group after group; returns the number of steps taken."""
    taken = 0
    score = np.zeros(sizes.shape[0])
    touched = np.empty(sizes.shape[0], np.int64)
    for i in range(label.shape[0]):
        now += 1
        a = label[i]
        fresh = looked[i] < 0 or changed[a] > looked[i]
        for c in range(offers.shape[1]):
            fresh = fresh or (offers[i, c] >= 0 and changed[offers[i, c]] > looked[i])
        if not fresh:
            continue
        looked[i] = now
        _offer(i, starts, terms, weights, begins, places, heavy, count, first, label, length, score, touched, offers[i])
        b, j = _best_step(i, a, offers[i], starts, terms, weights, sizes, member, squared, own, length, dense, k)
        if b < 0:
            continue
        taken += 1
        changed[a] = now + 1  # later than any look so far, this one too
        changed[b] = now + 1
        _take_out(member, sizes, a, i)
        if j >= 0:
            _take_out(member, sizes, b, j)
            member[a, sizes[a]] = j
            sizes[a] += 1
            label[j] = a
        member[b, sizes[b]] = i
        sizes[b] += 1
        label[i] = b
        _measure(a, starts, terms, weights, sizes, member, own, length, dense[0])
        _measure(b, starts, terms, weights, sizes, member, own, length, dense[0])
    return taken


@njit(cache=True)
def _take_out(member, sizes, g, i):  # type: ignore[no-untyped-def]
    sizes[g] -= 1
    for s in range(sizes[g]):
        if member[g, s] == i:
            member[g, s] = member[g, sizes[g]]
    member[g, sizes[g]] = -1


@njit(cache=True)
def _best_step(i, a, offers, starts, terms, weights, sizes, member, squared, own, length, dense, k):  # type: ignore[no-untyped-def]
    """(group to go to, row to take in exchange) that lengthen the sums most; row -1: a move; group -1: nothing does."""
    total, mine = dense[0], dense[1]
    for s in range(sizes[a]):
        j = member[a, s]
        for p in range(starts[j], starts[j + 1]):
            total[terms[p]] += weights[p]
    for p in range(starts[i], starts[i + 1]):
        mine[terms[p]] = weights[p]
    to, change, most = -1, -1, GAIN
    size = 0
    for c in range(offers.shape[0]):
        if offers[c] >= 0:
            size = max(size, sizes[offers[c]])
    with_sum = np.empty(size)
    with_row = np.empty(size)
    for c in range(offers.shape[0]):
        b = offers[c]
        if b < 0:
            break
        there = 0.0  # row i and the sum of b
        for s in range(sizes[b]):
            j = member[b, s]
            in_sum, in_row = 0.0, 0.0
            for p in range(starts[j], starts[j + 1]):
                in_sum += weights[p] * total[terms[p]]
                in_row += weights[p] * mine[terms[p]]
            with_sum[s] = in_sum
            with_row[s] = in_row
            there += in_row
        before = np.sqrt(length[a]) + np.sqrt(length[b])
        if sizes[a] > k and sizes[b] < 2 * k - 1:
            left = max(0.0, length[a] - 2.0 * own[i] + squared[i])
            gain = np.sqrt(left) + np.sqrt(length[b] + 2.0 * there + squared[i]) - before
            if gain > most:
                to, change, most = b, -1, gain
        for s in range(sizes[b]):
            j = member[b, s]
            both = squared[i] + squared[j] - 2.0 * with_row[s]
            left = max(0.0, length[a] + both - 2.0 * own[i] + 2.0 * with_sum[s])
            right = max(0.0, length[b] + both - 2.0 * own[j] + 2.0 * there)
            gain = np.sqrt(left) + np.sqrt(right) - before
            if gain > most:
                to, change, most = b, j, gain
    for s in range(sizes[a]):
        j = member[a, s]
        for p in range(starts[j], starts[j + 1]):
            total[terms[p]] = 0.0
    for p in range(starts[i], starts[i + 1]):
        mine[terms[p]] = 0.0
    return to, change
