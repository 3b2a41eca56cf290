"""What classes must keep, how far they keep it, and the figures of a node: of all its classes together, those that keep too little suppressed.

A class is published when it has k records and of every confidential column the different values, the effective values (exp of the entropy)
and the nearness to the whole table that are asked. A class that lacks one is suppressed whole. k and different values only grow when classes
are merged; entropy and nearness do not, once classes are suppressed: a node above one that keeps them may lack them.

Of a confidential column, pairs of a value and a class are kept value after value. Then classes are merged, and their values told apart, with
one number for each class and nothing sorted.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.diversity import SLACK, columns_of, of_each
from shoal.kernels.lattice.levels import Space
from shoal.kernels.masks import Demand


class Pairs(NamedTuple):
    """The values of a confidential column in the classes, value after value: value v has the pairs start[v]..start[v + 1]."""

    start: IntArray
    group: Int32Array
    rows: IntArray


class Secret(NamedTuple):
    """A confidential column in the combinations, its share of each value in the whole table, and what is asked of it."""

    pairs: Pairs
    share: FloatArray
    l: int  # noqa: E741
    entropy: float  # least log of the effective values
    t: float
    t_ordered: bool


class Kept(NamedTuple):
    """Of one confidential column in every class: different values, effective values, and how far from the whole table it is."""

    different: IntArray
    effective: FloatArray
    apart: FloatArray  # total variation
    apart_in_order: FloatArray  # earth mover's, each step from a value to the next counting the same


class Figures(NamedTuple):
    """A node. Of classes: those published. Where none is published, the smallest has 0 records, the fewest values are 0 and no distance is 0."""

    suppressed: int  # records
    published: int  # classes
    smallest: int  # records
    discernibility: int  # sum of squared sizes; a suppressed record counts as many as the table has (Bayardo & Agrawal 2005)
    different: tuple[int, ...]  # of each confidential column, the fewest in a class
    effective: tuple[float, ...]  # the same
    apart: tuple[float, ...]  # the largest
    apart_in_order: tuple[float, ...]


def secrets_of(space: Space, demand: Demand, rows: Any) -> list[Secret]:
    """The confidential columns of a demand; what counts for nothing is left out, and values that do not occur."""
    if demand.k < 1:
        raise ValueError(f"k must be at least 1, not {demand.k}.")
    if demand.sensitive is None:
        return []
    many = records_of(rows, len(space.member))
    table = columns_of(demand.sensitive, len(space.member))
    s = table.shape[1]
    asked = of_each(demand.l, s), of_each(demand.entropy, s), of_each(demand.t, s), of_each(demand.t_ordered, s)
    return [
        _secret(space, table[:, q], many, int(l), float(entropy), float(t), bool(ordered))
        for q, (l, entropy, t, ordered) in enumerate(zip(*asked))  # noqa: E741
    ]


def _secret(space: Space, column: Any, many: IntArray, l: int, entropy: float, t: float, t_ordered: bool) -> Secret:  # noqa: E741
    known = column >= 0
    values, code = np.unique(column[known], return_inverse=True)
    n = max(len(space.rows), 1)
    distinct, pair = np.unique(code.reshape(-1) * n + space.member[known], return_inverse=True)
    rows = tally(pair.reshape(-1), many[known], len(distinct))
    start = np.searchsorted(distinct, np.arange(len(values) + 1) * n)
    count = tally(distinct // n, rows, len(values))
    pairs = Pairs(start.astype(np.int64), (distinct % n).astype(np.int32), rows)
    return Secret(pairs, count / max(int(count.sum()), 1), l, float(np.log(entropy)), t, t_ordered)


def regrouped(pairs: Pairs, to: IntArray, groups: int) -> Pairs:
    """The same when group g has become group to[g]."""
    return Pairs(*_regroup(pairs.start, pairs.group, pairs.rows, to, groups))


def judge(sizes: IntArray, secrets: Sequence[Secret], pairs: Sequence[Pairs], k: int) -> tuple[BoolArray, list[Kept]]:
    """For each class whether it is published, and what it keeps of each confidential column."""
    published, kept = sizes >= k, []
    for secret, mine in zip(secrets, pairs):
        one = Kept(*_kept(mine.start, mine.group, mine.rows, len(sizes), secret.share, np.cumsum(secret.share)))
        apart = one.apart_in_order if secret.t_ordered else one.apart
        if secret.l > 1:
            published &= one.different >= secret.l
        if secret.entropy > 0:
            published &= np.log(np.maximum(one.effective, 1e-300)) >= secret.entropy - SLACK
        if secret.t < 1:
            published &= apart <= secret.t + SLACK
        kept.append(one)
    return published, kept


def figures_of(sizes: IntArray, published: BoolArray, kept: Sequence[Kept]) -> Figures:
    """A node's figures from those of its classes."""
    total, inside = int(sizes.sum()), sizes[published]
    suppressed = total - int(inside.sum())
    return Figures(
        suppressed,
        len(inside),
        int(inside.min()) if len(inside) else 0,
        int((inside * inside).sum()) + suppressed * total,
        tuple(int(one.different[published].min()) if len(inside) else 0 for one in kept),
        tuple(float(one.effective[published].min()) if len(inside) else 0.0 for one in kept),
        tuple(float(one.apart[published].max(initial=0.0)) for one in kept),
        tuple(float(one.apart_in_order[published].max(initial=0.0)) for one in kept),
    )


@njit(cache=True)
def _regroup(start, group, rows, to, groups):
    """Pairs of one value and one group become one; value after value, so a stamp for each group is enough."""
    place, begin = np.full(groups, -1), np.empty(len(start), np.int64)
    merged, count = np.empty(len(group), np.int32), np.empty(len(group), np.int64)
    made = 0
    for v in range(len(start) - 1):
        begin[v] = made
        for i in range(start[v], start[v + 1]):
            g = to[group[i]]
            if place[g] < begin[v]:
                place[g], merged[made], count[made] = made, g, 0
                made += 1
            count[place[g]] += rows[i]
    begin[-1] = made
    return begin, merged[:made].copy(), count[:made].copy()


@njit(cache=True)
def _kept(start, group, rows, groups, share, below):
    """below: the share of the whole table at a value or before it."""
    values = len(share)
    different, size, disorder = np.zeros(groups, np.int64), np.zeros(groups, np.int64), np.zeros(groups)
    apart, moved = np.zeros(groups), np.zeros(groups)
    for i in range(len(group)):
        g = group[i]
        different[g] += 1
        size[g] += rows[i]
    before = np.zeros(values + 1)  # sums of below
    for v in range(values):
        before[v + 1] = before[v] + below[v]
    seen, last = np.zeros(groups, np.int64), np.zeros(groups, np.int64)  # records at values before `last`
    for v in range(values):
        for i in range(start[v], start[v + 1]):
            g = group[i]
            part = rows[i] / size[g]
            disorder[g] -= part * np.log(part)
            apart[g] += max(0.0, part - share[v])  # what it has too little of adds up to what it has too much of
            moved[g] += _along(seen[g] / size[g], below, before, last[g], v)
            seen[g] += rows[i]
            last[g] = v
    for g in range(groups):
        if size[g] > 0:
            moved[g] += _along(1.0, below, before, last[g], values)
    return different, np.where(size > 0, np.exp(disorder), 0.0), apart, moved / max(values - 1, 1)


@njit(cache=True)
def _along(reached, below, before, a, b):
    """Sum of |reached - below[v]| over a <= v < b; below never falls, so it crosses once."""
    low, high = a, b
    while low < high:
        middle = (low + high) // 2
        if below[middle] <= reached:
            low = middle + 1
        else:
            high = middle
    return reached * (low - a) - (before[low] - before[a]) + (before[b] - before[low]) - reached * (b - low)
