"""Rows that no class could be made of join classes that are there, by way of wider nodes."""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import tally
from shoal.kernels.group_demand import Required, keeps_demand
from shoal.kernels.nodes import Recoded, Trees, distinct_rows, meeting

MOST_PAIRS = 100_000_000  # of rows that are left and a class that they might join
MOST_TRIES = 100  # classes tried for rows that most classes cannot take


def joined(codes: Int32Array, rows: IntArray, found: Recoded, trees: Trees, share: FloatArray, need: Required) -> IntArray:
    """The group of each row, when those of group -1 have joined the class whose loss, and their own, that increases least.

    Rows of the same values join together, those of lower codes first, and a class takes them only if it then keeps what is required; of
    classes as good as each other the first. Rows that none of the classes tried can take form one with those classes that have least to
    lose, as many as it needs.
    """
    left, result = np.flatnonzero(found.group < 0), found.group.copy()
    if not len(found.levels):
        return np.zeros(len(codes), np.int64)
    _, unit = distinct_rows(codes[left])
    number = len(found.levels)
    inside = np.flatnonzero(found.group >= 0)
    first = np.empty(number, np.int64)
    first[found.group[inside]] = inside
    loss = np.zeros(number)
    for j, weight in enumerate(share.tolist()):
        loss += weight * trees.loss[trees.start[j] + found.levels[:, j] * trees.width[j] + codes[first, j]]
    room = max(1, MOST_PAIRS // (int(unit.max()) + 1))
    tried = np.sort(np.argsort(-loss, kind="stable")[:room])  # to join those that lose most costs least
    order = np.argsort(unit, kind="stable")
    begins = np.searchsorted(unit[order], np.arange(int(unit.max()) + 2))
    stubborn = _join(codes, rows, result, left[order], begins, tried, first, found.levels.astype(np.int64), loss, trees, share, need)
    if stubborn:
        _together(rows, result, loss, need)
    return result


def _together(rows: IntArray, groups: IntArray, loss: FloatArray, need: Required) -> None:
    """One class of the rows still left and of those that lose least by being suppressed altogether."""
    size = tally(groups[groups >= 0], rows[groups >= 0], len(loss))
    least = np.argsort(size * (1 - loss), kind="stable")
    taken = 1
    while True:
        members = np.flatnonzero((groups < 0) | np.isin(groups, least[:taken]))
        if taken >= len(least) or keeps_demand(members, rows, need):
            groups[members] = least[0]
            return
        taken *= 2


@njit(cache=True)
def _join(codes, rows, groups, left, begins, tried, first, levels, loss, trees, share, need):
    """Unit after unit of the rows left joins a group. How many units none could take."""
    d, number = codes.shape[1], len(loss)
    records, last, before = np.zeros(number, np.int64), np.full(number, -1), np.full(len(codes), -1)
    for i in range(len(codes)):
        if groups[i] >= 0:
            records[groups[i]] += rows[i]
            before[i], last[groups[i]] = last[groups[i]], i
    members, increase, stubborn = np.empty(len(codes), np.int64), np.empty(len(tried)), 0
    for u in range(len(begins) - 1):
        mine = left[begins[u] : begins[u + 1]]
        arriving = 0
        for i in mine:
            arriving += rows[i]
        for c in range(len(tried)):
            g = tried[c]
            wider = 0.0
            for j in range(d):
                wider += share[j] * _widened(codes[first[g], j], codes[mine[0], j], levels[g, j], j, trees)
            increase[c] = wider * records[g] + (loss[g] + wider) * arriving
        to = -1
        for _ in range(min(len(tried), MOST_TRIES)):
            c = int(np.argmin(increase))
            g = tried[c]
            increase[c] = np.inf
            size, row = len(mine), last[g]
            members[:size] = mine
            while row >= 0 and need.codes.shape[1]:
                members[size] = row
                size += 1
                row = before[row]
            if need.codes.shape[1] == 0 or keeps_demand(members[:size], rows, need):
                to = g
                break
        if to < 0:
            stubborn += 1
            continue
        for j in range(d):
            wider = _widened(codes[first[to], j], codes[mine[0], j], levels[to, j], j, trees)
            loss[to] += share[j] * wider
            levels[to, j] = meeting(codes[first[to], j], codes[mine[0], j], levels[to, j], j, trees)
        records[to] += arriving
        for i in mine:
            groups[i] = to
            before[i], last[to] = last[to], i
    return stubborn


@njit(cache=True, inline="always")
def _widened(one, other, level, j, trees):
    """What is lost more in column j when a node takes in another code."""
    at = trees.start[j] + one
    return trees.loss[at + meeting(one, other, level, j, trees) * trees.width[j]] - trees.loss[at + level * trees.width[j]]
