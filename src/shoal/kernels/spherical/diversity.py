"""Groups of sparse rows that shall hold enough different labels: rows are exchanged, and what that leaves is joined."""

import numpy as np
from numba import njit

from shoal.arrays import IntArray
from shoal.kernels.spherical.mdav import Rows, content_order
from shoal.kernels.spherical.refine import OFFERS, by_first, grouping, heavy_postings, measure, put_in, similarities, take_out


def diverse_groups(rows: Rows, groups: IntArray, labels: IntArray, l: int) -> IntArray:  # noqa: E741
    """Groups with at least l labels each. `labels` are codes.

    A group with fewer takes a row of a label it lacks from a similar group, for one of a label it has twice; of the exchanges that take no
    other group below l, the one that costs least. Where there is none, it joins the most similar group that has a label it lacks. The groups
    with the fewest labels go first, and of those the first in the order of content. Groups that have become l times as large as the largest
    was are joined only where no other will do: else a few would take in most of the rows.
    """
    if len(np.unique(labels)) < l:
        raise ValueError(f"There are {len(np.unique(labels))} different labels, fewer than l = {l}.")
    order = content_order(rows)
    placed = rows.take(order)
    codes = np.asarray(labels, np.int64)[order]
    room = int(np.bincount(groups).max())
    made = grouping(placed, by_first(np.asarray(groups, np.int64)[order]), room)
    postings = heavy_postings(placed)
    width = int(codes.max()) + 1
    _exchange(_short(made.group, codes, l), placed, postings, made, codes, width, l)
    _join(_short(made.group, codes, l), placed, postings, made.group, codes, width, l, l * room)
    found = np.empty(len(order), np.int64)
    found[order] = np.unique(made.group, return_inverse=True)[1]
    return found


def _short(group: IntArray, codes: IntArray, l: int) -> IntArray:  # noqa: E741
    """The groups with fewer than l labels, those with the fewest first."""
    different = np.bincount(np.unique(np.column_stack((group, codes)), axis=0)[:, 0])
    return np.argsort(different, kind="stable")[: int((different < l).sum())]


@njit(cache=True)
def _exchange(short, rows, postings, made, codes, width, l):  # noqa: E741
    mine = np.zeros(width, np.int64)  # rows of each label in a group, zero between groups
    theirs = np.zeros(width, np.int64)
    score = np.zeros(made.size.shape[0])
    touched = np.empty(made.size.shape[0], np.int64)
    products = np.empty((made.member.shape[1], made.member.shape[1]))
    for a in short:
        for _ in range(l):
            if _count(made, a, codes, mine, 1) >= l:
                _count(made, a, codes, mine, -1)
                break
            some = 0
            for i in made.member[a, : made.size[a]]:
                some = similarities(i, rows, postings, made.group, score, touched, some)
            offers = np.full(OFFERS, -1)
            best = np.zeros(OFFERS)
            for b in np.sort(touched[:some]):
                cosine = score[b] / np.sqrt(made.length[b])
                score[b] = 0.0
                if b == a or cosine <= best[OFFERS - 1]:
                    continue
                different = _count(made, b, codes, theirs, 1)
                useful = _can_exchange(made, a, b, codes, mine, theirs, different, l)
                _count(made, b, codes, theirs, -1)
                if useful:
                    at = OFFERS - 1
                    while at > 0 and best[at - 1] < cosine:
                        offers[at], best[at] = offers[at - 1], best[at - 1]
                        at -= 1
                    offers[at], best[at] = b, cosine
            give, take, most = -1, -1, -np.inf
            for b in offers:
                if b < 0:
                    break
                different = _count(made, b, codes, theirs, 1)
                _products(made, a, b, rows, products)
                before = np.sqrt(made.length[a]) + np.sqrt(made.length[b])
                for s in range(made.size[a]):
                    i = made.member[a, s]
                    for u in range(made.size[b]):
                        j = made.member[b, u]
                        if not _allowed(codes[i], codes[j], mine, theirs, different, l):
                            continue
                        both = made.squared[i] + made.squared[j] - 2.0 * products[s, u]
                        left = made.length[a] + both - 2.0 * made.own[i] + 2.0 * products[: made.size[a], u].sum()
                        right = made.length[b] + both - 2.0 * made.own[j] + 2.0 * products[s, : made.size[b]].sum()
                        gain = np.sqrt(max(0.0, left)) + np.sqrt(max(0.0, right)) - before
                        if gain > most:
                            give, take, most = i, j, gain
                _count(made, b, codes, theirs, -1)
            _count(made, a, codes, mine, -1)
            if give < 0:
                break
            b = made.group[take]
            take_out(made, give)
            take_out(made, take)
            put_in(made, give, b)
            put_in(made, take, a)
            measure(rows, made, a)
            measure(rows, made, b)


@njit(cache=True)
def _count(made, g, codes, counts, step):
    """Add the labels of a group to counts, or take them away again; returns how many are there."""
    for i in made.member[g, : made.size[g]]:
        counts[codes[i]] += step
    different = 0
    for s in range(made.size[g]):
        first = True
        for u in range(s):
            first = first and codes[made.member[g, u]] != codes[made.member[g, s]]
        different += first
    return different


@njit(cache=True)
def _allowed(gives, takes, mine, theirs, different, l):  # noqa: E741
    """Whether a group gains a label by giving a row and taking another, and the other keeps what it has, or l."""
    if mine[takes] > 0 or mine[gives] < 2:
        return False
    return different - (theirs[takes] == 1) + (theirs[gives] == 0) >= min(different, l)


@njit(cache=True)
def _can_exchange(made, a, b, codes, mine, theirs, different, l):  # noqa: E741
    for i in made.member[a, : made.size[a]]:
        for j in made.member[b, : made.size[b]]:
            if _allowed(codes[i], codes[j], mine, theirs, different, l):
                return True
    return False


@njit(cache=True)
def _products(made, a, b, rows, found):
    """Of every row of one group with every row of another."""
    dense = made.mine
    for s in range(made.size[a]):
        i = made.member[a, s]
        for p in range(rows.starts[i], rows.starts[i + 1]):
            dense[rows.terms[p]] = rows.weights[p]
        for u in range(made.size[b]):
            j = made.member[b, u]
            found[s, u] = 0.0
            for p in range(rows.starts[j], rows.starts[j + 1]):
                found[s, u] += rows.weights[p] * dense[rows.terms[p]]
        for p in range(rows.starts[i], rows.starts[i + 1]):
            dense[rows.terms[p]] = 0.0


@njit(cache=True)
def _join(short, rows, postings, group, codes, width, l, limit):  # noqa: E741
    """Join the groups named in `short`, in their order. One that takes in another has labels enough already, or its turn comes."""
    groups = group.max() + 1
    head = np.full(groups, -1, np.int64)  # the members of a group, as a chain
    tail = np.full(groups, -1, np.int64)
    after = np.full(group.shape[0], -1, np.int64)
    size = np.zeros(groups, np.int64)
    for i in range(group.shape[0]):
        if head[group[i]] < 0:
            head[group[i]] = i
        else:
            after[tail[group[i]]] = i
        tail[group[i]] = i
        size[group[i]] += 1
    dense = np.zeros(rows.width)
    length = np.empty(groups)
    for g in range(groups):
        length[g] = _length(head[g], after, rows, dense)
    has = np.zeros(width, np.bool_)
    score = np.zeros(groups)
    touched = np.empty(groups, np.int64)
    for g in short:
        has[:] = False
        different = 0
        i = head[g]
        while i >= 0:
            different += not has[codes[i]]
            has[codes[i]] = True
            i = after[i]
        if different >= l:
            continue
        some = 0
        i = head[g]
        while i >= 0:
            some = similarities(i, rows, postings, group, score, touched, some)
            i = after[i]
        best, most, fits = -1, 0.0, False
        for other in np.sort(touched[:some]):
            better = score[other] > most * length[other]
            small = size[g] + size[other] <= limit
            if other != g and (small > fits or (small == fits and better)) and _adds(head[other], after, codes, has):
                best, most, fits = other, score[other] / length[other], small
            score[other] = 0.0
        if best < 0:  # no group with such a label shares a word: take the first
            best = 0
            while best == g or not _adds(head[best], after, codes, has):
                best += 1
        i = head[g]
        while i >= 0:
            group[i] = best
            i = after[i]
        after[tail[best]] = head[g]
        tail[best] = tail[g]
        head[g] = -1
        size[best] += size[g]
        length[best] = _length(head[best], after, rows, dense)


@njit(cache=True)
def _adds(i, after, codes, has):
    """Whether a chain holds a label that is not there yet."""
    while i >= 0 and has[codes[i]]:
        i = after[i]
    return i >= 0


@njit(cache=True)
def _length(first, after, rows, dense):
    """Of the sum of a chain of rows; `dense` is zero before and after."""
    square = 0.0
    i = first
    while i >= 0:
        for p in range(rows.starts[i], rows.starts[i + 1]):
            old = dense[rows.terms[p]]
            dense[rows.terms[p]] = old + rows.weights[p]
            square += (2.0 * old + rows.weights[p]) * rows.weights[p]
        i = after[i]
    i = first
    while i >= 0:
        for p in range(rows.starts[i], rows.starts[i + 1]):
            dense[rows.terms[p]] = 0.0
        i = after[i]
    return np.sqrt(square)
