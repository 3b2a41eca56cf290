"""What branch and bound does most: one pass over the combinations that are left, class by class, as if one more column had its level.

Combinations stand class after class, a class being those that agree on the columns whose levels are fixed. A pass therefore reads memory in its
order and needs a table of one column's nodes only, stamped by class so that it is never cleared.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.lattice.levels import mixed


class Left(NamedTuple):
    """The combinations alive in classes of at least k records, by the columns not yet fixed."""

    start: IntArray  # class c holds combinations start[c]..start[c + 1]
    codes: Int32Array  # [column not fixed, combination]
    rows: IntArray
    due: FloatArray  # what its records cost by the columns fixed, and by the others at their least levels


@njit(cache=True)
def probe(start, column, rows, due, nodes, dearer, k, most):
    """Records that fall into classes below k when one column publishes these nodes, and what all others then cost.

    dearer: what each code costs more than `due` says. The pass ends as soon as more than `most` records fell: the cost is then of no use.
    """
    size = 0
    for v in nodes:
        size = max(size, v + 1)
    stamp, count, cost = np.full(size, -1), np.empty(size, np.int64), np.empty(size)
    touched = np.empty(size, np.int64)
    dead, alive = 0, 0.0
    for c in range(len(start) - 1):
        a, b = start[c], start[c + 1]
        if b - a == 1:
            alive += due[a] + rows[a] * dearer[column[a]]
            continue
        used = 0
        for i in range(a, b):
            code = column[i]
            v = nodes[code]
            if stamp[v] != c:
                stamp[v], count[v], cost[v] = c, 0, 0.0
                touched[used] = v
                used += 1
            count[v] += rows[i]
            cost[v] += due[i] + rows[i] * dearer[code]
        for u in range(used):
            v = touched[u]
            if count[v] < k:
                dead += count[v]
            else:
                alive += cost[v]
        if dead > most:
            break
    return dead, alive


@njit(cache=True)
def add_cost(column, rows, due, dearer):
    """A column's least level rises: what it costs more is due."""
    for i in range(len(column)):
        due[i] += rows[i] * dearer[column[i]]


@njit(cache=True)
def fix(left, nodes, dearer, coarser, begins, k):
    """The first column publishes these nodes, the others are coarsened: what is left of classes of at least k, equal combinations as one.

    coarser: for each of the other columns, from begins[j] on, the new code of each code. Also returned: the records that fell.
    """
    r, n = left.codes.shape
    size, longest = 0, 0
    for v in nodes:
        size = max(size, v + 1)
    for c in range(len(left.start) - 1):
        longest = max(longest, left.start[c + 1] - left.start[c])
    room = 16
    while room < 2 * longest:
        room *= 2
    stamp, count, many = np.full(size, -1), np.empty(size, np.int64), np.empty(size, np.int64)
    touched, order, slots = np.empty(size, np.int64), np.empty(longest, np.int64), np.empty(room, np.int32)
    start, codes = np.empty(n + 1, np.int64), np.empty((r - 1, n), np.int32)
    rows, due, hashes = np.empty(n, np.int64), np.empty(n), np.empty(n, np.uint64)
    made, classes, dead = 0, 0, 0
    first = left.codes[0]
    for c in range(len(left.start) - 1):
        a, b = left.start[c], left.start[c + 1]
        used = 0
        for i in range(a, b):
            v = nodes[first[i]]
            if stamp[v] != c:
                stamp[v], count[v], many[v] = c, 0, 0
                touched[used] = v
                used += 1
            count[v] += left.rows[i]
            many[v] += 1
        at = 0
        for u in range(used):
            v = touched[u]
            at, many[v] = at + many[v], at
        for i in range(a, b):
            v = nodes[first[i]]
            order[many[v]] = i
            many[v] += 1
        at = 0
        for u in range(used):
            v = touched[u]
            if count[v] < k:
                dead += count[v]
            else:
                start[classes] = made
                classes += 1
                made = _merge(left, order[at : many[v]], dearer, coarser, begins, slots, codes, rows, due, hashes, made)
            at = many[v]
    start[classes] = made
    return Left(start[: classes + 1].copy(), codes[:, :made].copy(), rows[:made].copy(), due[:made].copy()), dead


@njit(cache=True)
def _merge(left, members, dearer, coarser, begins, slots, codes, rows, due, hashes, made):
    """Write the members of one new class, those equal in all columns to come as one; return where the next class begins."""
    r, begin = len(codes), made
    room = 2
    while room < 2 * len(members):
        room *= 2
    last = np.uint64(room - 1)
    for s in range(room):
        slots[s] = -1
    for i in members:
        key = np.uint64(0)
        for j in range(r):
            code = coarser[begins[j] + left.codes[j + 1, i]]
            codes[j, made] = code
            key = mixed(key, code)
        slot = (key ^ (key >> np.uint64(32))) & last
        while slots[slot] >= 0:
            like = begin + slots[slot]
            same = hashes[like] == key
            for j in range(r if same else 0):
                same = same and codes[j, like] == codes[j, made]
            if same:
                break
            slot = (slot + np.uint64(1)) & last
        spent = left.due[i] + left.rows[i] * dearer[left.codes[0, i]]
        if slots[slot] < 0:
            slots[slot] = made - begin
            hashes[made], rows[made], due[made] = key, left.rows[i], spent
            made += 1
        else:
            like = begin + slots[slot]
            rows[like] += left.rows[i]
            due[like] += spent
    return made
