"""Partners for rank swapping: a random matching between ranks at most a window apart."""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray


def swap_partners(n: int, window: int, draws: FloatArray) -> IntArray:
    """For each rank, the rank it trades with (itself where no free one is left); an involution, so no value is lost or doubled.

    From the lowest rank up, each free rank takes one of the free ranks above it and inside the window, uniformly by its draw in [0, 1).
    """
    return np.asarray(_swap_partners(n, max(1, window), draws))


@njit(cache=True)
def _swap_partners(n, window, draws):
    partner = np.arange(n)
    # Fenwick tree over free ranks: how many are free up to a rank, and which is the j-th free one, in log n
    tree = np.zeros(n + 1, np.int64)
    for i in range(1, n + 1):
        tree[i] += 1
        above = i + (i & -i)
        if above <= n:
            tree[above] += tree[i]
    top = 1
    while top * 2 <= n:
        top *= 2
    for low in range(n):
        if partner[low] != low:
            continue
        _take(tree, low, n)
        last = min(n - 1, low + window)
        free = _free_up_to(tree, last)  # all free ranks up to here lie above low: those below are gone
        if free == 0:
            continue
        want = min(int(draws[low] * free), free - 1) + 1
        place, step = 0, top
        while step:
            if place + step <= n and tree[place + step] < want:
                place += step
                want -= tree[place]
            step //= 2
        partner[low], partner[place] = place, low
        _take(tree, place, n)
    return partner


@njit(cache=True)
def _take(tree, rank, n):
    i = rank + 1
    while i <= n:
        tree[i] -= 1
        i += i & -i


@njit(cache=True)
def _free_up_to(tree, rank):
    i, free = rank + 1, 0
    while i > 0:
        free += tree[i]
        i -= i & -i
    return free
