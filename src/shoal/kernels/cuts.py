"""Where to cut a node of Mondrian's tree: the most even cut of its widest column, or the cut that tells most about a target.

A node is a stretch a..b of the rows of `data`: the coded columns, then how many records each row stands for, its number and, where they are
looked at, its target and its sensitive values. Whatever is counted here is counted in records.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.cells import Runs, count_values, new_runs
from shoal.kernels.diversity import keeps

WIDEST, GAIN, VARIANCE, EVERY = np.int64(0), np.int64(1), np.int64(2), np.int64(-1)  # typed, or numba compiles a copy for each
GRID = 1 << 20  # a numeric target is put on this many steps: sums of whole numbers do not depend on the order of rows
NO_GAIN = 1e-10  # gain per record below this is rounding
LOGS = 1 << 14  # n log n is looked up below this


class Columns(NamedTuple):
    ordered: BoolArray
    offset: IntArray  # where a column's codes begin in `place` and in the marks
    place: FloatArray
    whole: FloatArray  # the width that counts as 1


class Worth(NamedTuple):
    ratio: float
    narrowing: float


NO_WORTH = Worth(0.0, 0.0)


class Work(NamedTuple):
    """Room that nodes use one after the other."""

    runs: Runs  # a column's values and targets
    inside: Runs  # the same with sensitive codes: a row for each sensitive column
    cells: IntArray
    totals: IntArray
    none: IntArray  # of length 0: nothing is summed
    left: IntArray  # records of each class left of a cut
    left_inside: IntArray  # and of each sensitive code
    node_inside: IntArray
    present: IntArray  # the sensitive codes there are in the node, those of a column from its offset on
    there: IntArray  # how many of each column
    logs: FloatArray
    at_value: IntArray  # records to cut against that have a value of the node
    above: IntArray  # and those between it and the next


@njit(cache=True)
def new_work(n, records, columns, demand, rule, classes):
    """Room for nodes of up to n rows; `records`, those to cut against among them, decide how many logarithms are worth a table."""
    longest = 1
    for j in range(len(columns.ordered)):
        longest = max(longest, columns.offset[j + 1] - columns.offset[j])
    secrets, looked_at, most = 0, 0, 1
    if demand is not None:
        secrets, looked_at, most = len(demand.extras), len(demand.whole), demand.extras.max()
    room = min(longest * max(classes, most), 4 * n + 256)
    logs = np.zeros(min(records + 1, LOGS))
    for c in range(2, len(logs)):
        logs[c] = c * np.log(c)
    return Work(
        new_runs(n),
        _new_runs_of_each(n, secrets),
        np.zeros(room, np.int64),
        np.zeros(room if rule == VARIANCE else 0, np.int64),
        np.zeros(0, np.int64),
        np.zeros(classes, np.int64),
        np.zeros(looked_at, np.int64),
        np.zeros(looked_at, np.int64),
        np.zeros(looked_at, np.int64),
        np.zeros(secrets, np.int64),
        logs,
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )


@njit(cache=True)
def _new_runs_of_each(n, secrets):
    small = (secrets, n if secrets else 0)
    return Runs(
        np.empty(small, np.int32),
        np.empty((secrets, n + 1 if secrets else 0), np.int32),
        np.empty(small, np.int32),
        np.empty(small, np.int64),
        np.zeros(small, np.int64),
    )


@njit(cache=True)
def _of(runs, q):
    """The runs of one sensitive column."""
    return Runs(runs.value[q], runs.start[q], runs.extra[q], runs.rows[q], runs.total[q])


@njit(cache=True)
def _count_inside(data, j, a, b, d, demand, lowest, highest, work):
    """Count the values of column j together with each sensitive column."""
    first = len(data) - len(demand.extras)
    for q in range(len(demand.extras)):
        secret, inside = data[first + q, a:b], _of(work.inside, q)
        count_values(data[j, a:b], secret, data[d, a:b], demand.extras[q], lowest[j], highest[j], inside, work.cells, work.none)


@njit(cache=True)
def widest(data, a, b, n, columns, k, demand, width, lowest, highest, work):
    """The widest column with an allowable cut of the node's n records, the number of values left of its most even one, and the values in the
    order of cuts."""
    records, runs = data[len(width), a:b], work.runs
    for _ in range(len(width)):
        j = np.argmax(width)  # the lowest of equally wide columns
        width[j] = -1  # is not looked at again
        if lowest[j] == highest[j]:
            continue
        column = data[j, a:b]
        size = count_values(column, column, records, WIDEST + 1, lowest[j], highest[j], runs, work.cells, work.none)
        cut, rows, even = 0, 0, k - 1
        for v in range(size - 1):
            rows += runs.rows[v]
            if min(rows, n - rows) > even:
                cut, even = v + 1, min(rows, n - rows)
        if demand is not None and cut:  # the even cut is mostly allowed; if not, every cut is tried
            _count_inside(data, j, a, b, len(width), demand, lowest, highest, work)
            order, none, even_cut = np.arange(size), 0.0, np.int64(cut)
            cut = _best_cut(n, j, size, order, columns, k, demand, NO_WORTH, WIDEST, work, none, even_cut)[1]
            if not cut:
                cut = _best_cut(n, j, size, order, columns, k, demand, NO_WORTH, WIDEST, work, none, EVERY)[1]
        if cut:
            return j, cut, runs.value[:size].astype(np.int64)
    return -1, 0, np.empty(0, np.int64)


@njit(cache=True)
def most_telling(data, a, b, n, others, columns, k, demand, worth, rule, classes, lowest, highest, work):
    """The cut of all columns that helps the target most, as `widest` returns it; of equally good ones the first."""
    d, runs = len(columns.ordered), work.runs
    records, target = data[d, a:b], data[d + 2, a:b]
    best, column, cut, values = NO_GAIN * n, -1, 0, np.empty(0, np.int64)
    for j in range(d):
        if lowest[j] == highest[j]:
            continue
        size = count_values(data[j, a:b], target, records, classes, lowest[j], highest[j], runs, work.cells, work.totals)
        if demand is not None:
            _count_inside(data, j, a, b, d, demand, lowest, highest, work)
        _count_others(others[j], others[d], runs.value[:size], work.at_value[:size], work.above[:size])
        order = np.arange(size) if columns.ordered[j] else _by_target(runs, size, rule, classes, work.at_value)
        score, here = _best_cut(n, j, size, order, columns, k, demand, worth, rule, work, best, EVERY)
        if here:
            best, column, cut, values = score, j, here, runs.value[:size].astype(np.int64)[order]
    return column, cut, values


@njit(cache=True)
def _count_others(column, rows, value, at_value, above):
    """Records to cut against at each of the node's values, and between it and the next."""
    at_value[:], above[:] = 0, 0
    for i in range(len(column)):
        place = np.searchsorted(value, column[i])
        if value[place] == column[i]:
            at_value[place] += rows[i]
        else:
            above[place - 1] += rows[i]


@njit(cache=True)
def _by_target(runs, size, rule, classes, others):
    """Categories by the share of the node's commonest class, or by mean target: with two classes or a number, one of the cuts along this
    order is the best of all ways to part them (Breiman et al. 1984); with more classes it is a good one."""
    rows = np.zeros(classes, np.int64)
    for r in range(runs.start[size]):
        rows[runs.extra[r]] += runs.rows[r]
    common = np.argmax(rows)
    key = np.zeros(size)
    for v in range(size):
        of, sum_ = others[v], 0
        for r in range(runs.start[v], runs.start[v + 1]):
            of += runs.rows[r]
            if rule == VARIANCE:
                sum_ += runs.total[r]
            elif runs.extra[r] == common:
                sum_ += runs.rows[r]
        key[v] = sum_ / of
    return np.argsort(key, kind="mergesort")


@njit(cache=True)
def _best_cut(n, j, size, order, columns, k, demand, worth, rule, work, best, only):
    """Sweep the values in `order` from one side to the other; return the best score above `best` and how many values lie left of that cut
    (0: there is none). `only`: the one cut to look at."""
    runs, inside, left, logs = work.runs, work.inside, work.left, work.logs
    node_inside, left_inside = work.node_inside, work.left_inside
    node = np.zeros(len(left), np.int64)
    left[:] = 0
    sum_ = 0
    for r in range(runs.start[size]):
        node[runs.extra[r]] += runs.rows[r]
        sum_ += runs.total[r] if rule == VARIANCE else 0
    if demand is not None:
        _open_sides(size, demand, inside, node_inside, work.present, work.there)
    others = work.at_value[:size].sum() + work.above[:size].sum() if rule == GAIN else 0
    before = _n_log_n(n + others, logs) - _n_log_n(others, logs)
    for c in range(len(node)):
        before -= _n_log_n(node[c], logs)
    rows, left_sum, cut, others_left = np.int64(0), 0, 0, np.int64(0)
    for at in range(size - 1):
        v = order[at]
        if rule == GAIN:
            others_left += work.at_value[v] + (work.above[order[at - 1]] if at else 0)
        for r in range(runs.start[v], runs.start[v + 1]):
            left[runs.extra[r]] += runs.rows[r]
            rows += runs.rows[r]
            left_sum += runs.total[r] if rule == VARIANCE else 0
        if demand is not None:
            for q in range(len(work.there)):
                for r in range(inside.start[q, v], inside.start[q, v + 1]):
                    left_inside[demand.offset[q] + inside.extra[q, r]] += inside.rows[q, r]
        if rows < k or (only >= 0 and at + 1 != only):
            continue
        if n - rows < k:
            break
        if rule == GAIN:
            score = _less_mixed(before, rows, others_left, n - rows, others - others_left, logs)
            if work.above[v]:  # those between the two sides go where they do least harm
                with_them = others_left + work.above[v]
                score = max(score, _less_mixed(before, rows, with_them, n - rows, others - with_them, logs))
            for c in range(len(node)):
                score += _n_log_n(left[c], logs) + _n_log_n(node[c] - left[c], logs)
        elif rule == VARIANCE:
            apart = (left_sum / rows - (sum_ - left_sum) / (n - rows)) / GRID
            score = float(rows) * (n - rows) / n * apart * apart
        else:
            score = float(min(rows, n - rows))
        if rule != WIDEST and worth.ratio > 0:
            score /= (np.log(n) - (_n_log_n(rows, logs) + _n_log_n(n - rows, logs)) / n) ** worth.ratio
        if rule != WIDEST and worth.narrowing > 0:
            score += worth.narrowing * _narrowed(n, rows, at, size, runs.value, j, columns)
        allowed = score > best
        if demand is not None and allowed:
            allowed = keeps(rows, n - rows, demand, node_inside, left_inside, work.present, work.there)
        if allowed:
            best, cut = score, at + 1
    if demand is not None:
        for q in range(len(demand.extras)):
            for s in work.present[demand.offset[q] : demand.offset[q] + work.there[q]]:
                node_inside[s], left_inside[s] = 0, 0
    return best, cut


@njit(cache=True)
def _open_sides(size, demand, inside, node_inside, present, there):
    """All sensitive codes of the node, on the right as yet."""
    for q in range(len(there)):
        at, found = demand.offset[q], 0
        for r in range(inside.start[q, size]):
            s = at + inside.extra[q, r]
            if node_inside[s] == 0:
                present[at + found] = s
                found += 1
            node_inside[s] += inside.rows[q, r]
        there[q] = found


@njit(cache=True)
def _less_mixed(before, left, others_left, right, others_right, logs):
    gain = before - _n_log_n(left + others_left, logs) - _n_log_n(right + others_right, logs)
    return gain + _n_log_n(others_left, logs) + _n_log_n(others_right, logs)


@njit(cache=True)
def _narrowed(n, rows, at, size, value, j, columns):
    """The fall of the rows' widths in column j, summed, when its values after the first at + 1 are cut off."""
    whole, place = columns.whole[j], columns.place[columns.offset[j] : columns.offset[j + 1]]
    if not columns.ordered[j]:
        return (n * (size - 1) - rows * at - (n - rows) * (size - at - 2)) / whole
    before = min(whole, place[value[size - 1]] - place[value[0]])
    left, right = min(whole, place[value[at]] - place[value[0]]), min(whole, place[value[size - 1]] - place[value[at + 1]])
    return (n * before - rows * left - (n - rows) * right) / whole


@njit(cache=True)
def _n_log_n(n, logs):
    return logs[n] if n < len(logs) else n * np.log(n)
