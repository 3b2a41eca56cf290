"""Groups of sparse rows joined until each holds enough different labels."""

import numpy as np
from numba import njit

from shoal.kernels.spherical import IntArray, Rows, content_order
from shoal.kernels.spherical_refine import by_first, heavy_postings, similarities


def joined_groups(rows: Rows, groups: IntArray, labels: IntArray, l: int) -> IntArray:  # noqa: E741
    """Each group with fewer than l labels joins the most similar one, by its centroid, that has a label it lacks; until none is left.

    The groups with the fewest labels go first, and of those the first in the order of content. Groups that have become l times as large as
    the largest was are joined only where no other will do: else a few would take in most of the rows. `labels` are codes.
    """
    if len(np.unique(labels)) < l:
        raise ValueError(f"There are {len(np.unique(labels))} different labels, fewer than l = {l}.")
    order = content_order(rows)
    placed = rows.take(order)
    dense = by_first(np.asarray(groups, np.int64)[order])
    codes = np.asarray(labels, np.int64)[order]
    pairs = np.unique(np.column_stack((dense, codes)), axis=0)
    different = np.bincount(pairs[:, 0], minlength=int(dense.max()) + 1)
    short = np.argsort(different, kind="stable")[: int((different < l).sum())]
    _join(short, placed, heavy_postings(placed), dense, codes, int(codes.max()) + 1, l, l * int(np.bincount(dense).max()))
    found = np.empty(len(order), np.int64)
    found[order] = np.unique(dense, return_inverse=True)[1]
    return found


@njit(cache=True)
def _join(short, rows, postings, group, codes, width, l, limit):  # type: ignore[no-untyped-def] # noqa: E741
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
def _adds(i, after, codes, has):  # type: ignore[no-untyped-def]
    """Whether a chain holds a label that is not there yet."""
    while i >= 0 and has[codes[i]]:
        i = after[i]
    return i >= 0


@njit(cache=True)
def _length(first, after, rows, dense):  # type: ignore[no-untyped-def]
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
