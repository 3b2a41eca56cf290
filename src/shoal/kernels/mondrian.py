"""Mondrian: a table cut in two again and again, each time between two values of one column, while both sides keep k rows.

Strict Mondrian (LeFevre, DeWitt & Ramakrishnan, ICDE 2006) cuts the widest column nearest its median. Workload-aware Mondrian (the same,
KDD 2006) cuts where a target becomes most predictable: by information gain when it is a class, by weighted variance when it is a number.
Equal values never part, so equal rows end in one group, and groups follow from the values alone, not from the order of rows.

The table is kept column by column, and the rows of a node lie side by side in every column: a node is a range, cutting it is a stable
partition of that range, and whatever is known about rows (their target, their sensitive value, their number) is moved as one more column.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import Runs, count_values, new_runs, part_rows, scale_of
from shoal.kernels.diversity import SLACK, Demand, keeps, sensitive_shares

Rule = Literal["widest", "gain", "variance"]

WIDEST, GAIN, VARIANCE, EVERY = np.int64(0), np.int64(1), np.int64(2), np.int64(-1)  # typed, or numba compiles a copy for each
GRID = 1 << 20  # a numeric target is put on this many steps: sums of whole numbers do not depend on the order of rows
NO_GAIN = 1e-10  # gain per row below this is rounding
LOGS = 1 << 14  # n log n is looked up below this


def mondrian_groups(
    codes: NDArray[Any],
    ordered: BoolArray,
    positions: Sequence[FloatArray],
    k: int,
    *,
    rule: Rule = "widest",
    target: NDArray[Any] | None = None,
    classes: int = 0,
    sensitive: NDArray[Any] | None = None,
    l: int = 1,  # noqa: E741
    entropy_l: float = 1.0,
    t: float = 1.0,
    t_ordered: bool = False,
    ratio: float = 0.0,
    narrowing: float = 0.0,
    against: NDArray[Any] | None = None,
) -> IntArray:
    """The group of each row, numbered from the left of the tree to its right.

    codes: rows x columns, 0..m_j-1. positions: for each column m_j numbers; in an ordered column the value each code stands for, rising, nan
    for missing, which is the last code; in a nominal column only their number counts, and "widest" cuts along the order of its codes, so the
    caller chooses an order in which neighbours belong together. "gain" and "variance" order a node's categories by their target instead.

    rule: "widest" takes the column with the largest share of its whole range (ties: the lowest column) that has an allowable cut, and there
    the most even one. "gain" takes the cut with the largest information gain on `target`, codes 0..classes-1; "variance" that with the
    largest fall of the variance of `target`, a number. Where no allowable cut helps the target, both go on as "widest": smaller groups still
    say more. Two additions of shoal's own to these two: the gain is divided by the entropy of the sides' sizes to the power `ratio` (1:
    Quinlan's gain ratio, under which a small side that is pure pays off), and `narrowing` is added for each row whose cell a cut narrows by
    its column's whole range, so that cuts in noise go where they say more about the rows.

    against: codes of more rows, for "gain" alone, that are not grouped: one more class, which the groups' cells should leave out. A row of them
    counts in a node while it lies inside the node's cells, that is between the lowest and highest value of an ordered column and among the
    values of any other, and no longer when a cut has put it outside.

    A cut is allowable when both sides keep k rows and, of the `sensitive` codes, l different ones, an entropy of log(entropy_l), and a
    distance to the whole table of at most t (total variation; t_ordered: earth mover's over the order of codes that occur).
    """
    n, d = codes.shape
    if len(ordered) != d or len(positions) != d:
        raise ValueError(f"There are {d} columns of codes, but {len(ordered)} marks of order and {len(positions)} tables of positions.")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}.")
    if not n:
        return np.zeros(0, np.int64)
    if n < k:
        raise ValueError(f"There are {n} rows, fewer than k = {k}.")
    for j in range(d):
        if codes[:, j].min() < 0 or codes[:, j].max() >= len(positions[j]):
            raise ValueError(f"Column {j} has codes outside 0..{len(positions[j]) - 1}, of which there are positions.")
    kind = {"widest": WIDEST, "gain": GAIN, "variance": VARIANCE}[rule]
    if kind != WIDEST and (target is None or len(target) != n):
        raise ValueError(f'The rule "{rule}" needs a target for each of the {n} rows.')
    if kind == GAIN and target is not None and (target.dtype.kind not in "iub" or target.min() < 0 or target.max() >= classes):
        raise ValueError(f"Targets must be codes 0..{classes - 1}.")
    if against is not None and (kind != GAIN or against.ndim != 2 or against.shape[1] != d):
        raise ValueError(f'Rows to cut against need the rule "gain" and {d} columns.')
    values, whole = sensitive_shares(sensitive, n, l, entropy_l, t)
    data = np.empty((d + 3, n), np.int32)  # the columns, then target, sensitive value and row number
    data[:d] = codes.T
    data[d] = 0 if target is None or kind == WIDEST else target if kind == GAIN else _on_grid(target)
    data[d + 1] = values
    data[d + 2] = np.arange(n)
    scales = [scale_of(np.asarray(p, dtype=np.float64), bool(o)) for p, o in zip(positions, ordered)]
    offset = np.cumsum([0] + [len(place) for place, _ in scales])
    columns = _Columns(
        np.ascontiguousarray(ordered, dtype=np.bool_),
        offset.astype(np.int64),
        np.concatenate([place for place, _ in scales] + [np.zeros(0)]),
        np.array([width for _, width in scales], dtype=np.float64),
    )
    checked = sensitive is not None and (l > 1 or entropy_l > 1 or t < 1)
    demand = Demand(k, checked, l, np.log(entropy_l) - SLACK, t + SLACK, t_ordered, whole)
    worth = _Worth(float(ratio), float(narrowing))
    others = np.zeros((d, 0), np.int32) if against is None else np.ascontiguousarray(against.T, dtype=np.int32)
    return np.asarray(_mondrian(data, others, columns, demand, worth, kind, max(classes, 1) if kind == GAIN else 1))


class _Columns(NamedTuple):
    ordered: BoolArray
    offset: IntArray  # where a column's codes begin in `place` and in the marks
    place: FloatArray
    whole: FloatArray  # the width that counts as 1


class _Worth(NamedTuple):
    ratio: float
    narrowing: float


def _on_grid(target: NDArray[Any]) -> NDArray[Any]:
    number = target.astype(np.float64)
    if not np.isfinite(number).all():
        raise ValueError("A numeric target must be finite: leave out rows that lack it.")
    low, high = number.min(), number.max()
    return np.rint((number - low) / (high - low) * GRID) if high > low else np.zeros(len(number))


class _Work(NamedTuple):
    """Room that nodes use one after the other."""

    runs: Runs  # a column's values and targets
    inside: Runs  # a column's values and sensitive codes
    cells: Int32Array
    totals: IntArray
    none: IntArray  # of length 0: nothing is summed
    left: IntArray  # rows of each class left of a cut
    left_inside: IntArray  # and of each sensitive code
    node_inside: IntArray
    present: IntArray  # the sensitive codes there are in the node
    logs: FloatArray
    at_value: IntArray  # rows to cut against that have a value of the node
    above: IntArray  # and those between it and the next


@njit(cache=True)
def _mondrian(data, others, columns, demand, worth, rule, classes):
    d, n = len(columns.ordered), data.shape[1]
    longest, codes = 1, columns.offset[d]
    for j in range(d):
        longest = max(longest, columns.offset[j + 1] - columns.offset[j])
    looked_at = len(demand.whole) if demand.checked else 1
    room = min(longest * max(classes, looked_at), 4 * n + 256)
    logs = np.zeros(min(n + others.shape[1] + 1, LOGS))
    for c in range(2, len(logs)):
        logs[c] = c * np.log(c)
    work = _Work(
        new_runs(n),
        new_runs(n if demand.checked else 1),
        np.zeros(room, np.int32),
        np.zeros(room if rule == VARIANCE else 0, np.int64),
        np.zeros(0, np.int64),
        np.zeros(classes, np.int64),
        np.zeros(looked_at, np.int64),
        np.zeros(looked_at, np.int64),
        np.zeros(looked_at, np.int64),
        logs,
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
    )
    node_of = np.full(codes, -1)  # the last node that had a code: counts distinct codes without clearing
    left_of = np.zeros(codes, np.uint8)
    goes_left, spare = np.empty(max(n, others.shape[1]), np.uint8), np.empty(max(n, others.shape[1]), np.int32)
    width, lowest, highest = np.empty(d), np.empty(d, np.int64), np.empty(d, np.int64)
    groups = np.empty(n, np.int64)
    stack = np.empty((n // demand.k + 2, 4), np.int64)
    stack[0] = 0, n, 0, others.shape[1]
    waiting, group, node = 1, 0, 0
    while waiting:
        waiting -= 1
        a, b, oa, ob = stack[waiting]
        column, cut, values = -1, 0, np.empty(0, np.int64)
        if b - a >= 2 * demand.k:
            node += 1
            _measure(data, a, b, columns, node, node_of, width, lowest, highest)
            if ob > oa:
                _mark_inside(others, oa, ob, columns, node, node_of, lowest, highest, goes_left)
                ob = _part(others, oa, ob, goes_left, spare)
            if rule != WIDEST:
                column, cut, values = _most_telling(
                    data, a, b, others[:, oa:ob], columns, demand, worth, rule, classes, lowest, highest, work
                )
            if column < 0:
                column, cut, values = _widest(data, a, b, columns, demand, worth, width, lowest, highest, work)
        if column < 0:
            for i in range(a, b):
                groups[data[d + 2, i]] = group
            group += 1
            continue
        marks = left_of[columns.offset[column] : columns.offset[column + 1]]
        for v in values[:cut]:
            marks[v] = 1
        for i in range(a, b):
            goes_left[i] = marks[data[column, i]]
        middle = _part(data, a, b, goes_left, spare)
        for i in range(oa, ob):
            v = others[column, i]
            goes_left[i] = v <= values[cut - 1] if columns.ordered[column] else marks[v]
        between = _part(others, oa, ob, goes_left, spare)
        for v in values[:cut]:
            marks[v] = 0
        stack[waiting] = middle, b, between, ob  # the right side waits; the left side, on top, is next
        stack[waiting + 1] = a, middle, oa, between
        waiting += 2
    return groups


@njit(cache=True)
def _part(data, a, b, goes_left, spare):
    middle = a
    for row in range(data.shape[0]):
        middle = part_rows(data[row], a, b, goes_left, spare)
    return middle


@njit(cache=True)
def _mark_inside(others, a, b, columns, node, node_of, lowest, highest, inside):
    """Which of the rows a..b to cut against lie in the node's cells."""
    inside[a:b] = 1
    for j in range(len(lowest)):
        at = columns.offset[j]
        for i in range(a, b):
            v = others[j, i]
            inside[i] &= lowest[j] <= v <= highest[j] and (columns.ordered[j] or node_of[at + v] == node)


@njit(cache=True)
def _measure(data, a, b, columns, node, node_of, width, lowest, highest):
    """Each column's lowest and highest code in the node, and its width as a share of the whole."""
    for j in range(len(width)):
        low, high = data[j, a], data[j, a]
        for i in range(a + 1, b):
            low = min(low, data[j, i])
            high = max(high, data[j, i])
        lowest[j], highest[j] = low, high
        at = columns.offset[j]
        if columns.ordered[j]:
            width[j] = columns.place[at + high] - columns.place[at + low]
        else:
            distinct = 0
            for i in range(a, b):
                distinct += node_of[at + data[j, i]] != node
                node_of[at + data[j, i]] = node
            width[j] = distinct - 1
        width[j] = min(1.0, width[j] / columns.whole[j])


@njit(cache=True)
def _widest(data, a, b, columns, demand, worth, width, lowest, highest, work):
    """The widest column with an allowable cut, the number of values left of its most even one, and the values in the order of cuts."""
    n, d, runs = b - a, len(width), work.runs
    for j in np.argsort(-width, kind="mergesort"):  # stable: the lowest of equally wide columns first
        if lowest[j] == highest[j]:
            continue
        column = data[j, a:b]
        size = count_values(column, column, WIDEST + 1, lowest[j], highest[j], runs, work.cells, work.none)
        cut, rows, even = 0, 0, demand.k - 1
        for v in range(size - 1):
            rows += runs.rows[v]
            if min(rows, n - rows) > even:
                cut, even = v + 1, min(rows, n - rows)
        if cut and demand.checked:
            count_values(column, data[d + 1, a:b], len(demand.whole), lowest[j], highest[j], work.inside, work.cells, work.none)
            order, none = np.arange(size), 0.0
            _, allowed = _best_cut(
                n, j, size, order, columns, demand, worth, WIDEST, work, none, np.int64(cut)
            )  # mostly it is; if not, every cut is tried
            cut = allowed if allowed else _best_cut(n, j, size, order, columns, demand, worth, WIDEST, work, none, EVERY)[1]
        if cut:
            return j, cut, runs.value[:size].astype(np.int64)
    return -1, 0, np.empty(0, np.int64)


@njit(cache=True)
def _most_telling(data, a, b, others, columns, demand, worth, rule, classes, lowest, highest, work):
    """The cut of all columns that helps the target most, as `_widest` returns it; of equally good ones the first."""
    n, d, runs = b - a, len(columns.ordered), work.runs
    best, column, cut, values = NO_GAIN * n, -1, 0, np.empty(0, np.int64)
    for j in range(d):
        if lowest[j] == highest[j]:
            continue
        size = count_values(data[j, a:b], data[d, a:b], classes, lowest[j], highest[j], runs, work.cells, work.totals)
        if demand.checked:
            count_values(data[j, a:b], data[d + 1, a:b], len(demand.whole), lowest[j], highest[j], work.inside, work.cells, work.none)
        _count_others(others[j], runs.value[:size], work.at_value[:size], work.above[:size])
        order = np.arange(size) if columns.ordered[j] else _by_target(runs, size, rule, classes, work.at_value)
        score, here = _best_cut(n, j, size, order, columns, demand, worth, rule, work, best, EVERY)
        if here:
            best, column, cut, values = score, j, here, runs.value[:size].astype(np.int64)[order]
    return column, cut, values


@njit(cache=True)
def _count_others(column, value, at_value, above):
    """Rows to cut against at each of the node's values, and between it and the next."""
    at_value[:], above[:] = 0, 0
    for v in column:
        place = np.searchsorted(value, v)
        if value[place] == v:
            at_value[place] += 1
        else:
            above[place - 1] += 1


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
def _best_cut(n, j, size, order, columns, demand, worth, rule, work, best, only):
    """Sweep the values in `order` from one side to the other; return the best score above `best` and how many values lie left of that cut
    (0: there is none). `only`: the one cut to look at."""
    runs, inside, left, logs = work.runs, work.inside, work.left, work.logs
    node = np.zeros(len(left), np.int64)
    left[:] = 0
    sum_, present = 0, 0
    for r in range(runs.start[size]):
        node[runs.extra[r]] += runs.rows[r]
        sum_ += runs.total[r] if rule == VARIANCE else 0
    if demand.checked:
        for r in range(inside.start[size]):
            s = inside.extra[r]
            if work.node_inside[s] == 0:
                work.present[present] = s
                present += 1
            work.node_inside[s] += inside.rows[r]
    others = work.at_value[:size].sum() + work.above[:size].sum() if rule == GAIN else 0
    before = _n_log_n(n + others, logs) - _n_log_n(others, logs)
    for c in range(len(node)):
        before -= _n_log_n(node[c], logs)
    rows, left_sum, cut, others_left = 0, 0, 0, 0
    for at in range(size - 1):
        v = order[at]
        if rule == GAIN:
            others_left += work.at_value[v] + (work.above[order[at - 1]] if at else 0)
        for r in range(runs.start[v], runs.start[v + 1]):
            left[runs.extra[r]] += runs.rows[r]
            rows += runs.rows[r]
            left_sum += runs.total[r] if rule == VARIANCE else 0
        if demand.checked:
            for r in range(inside.start[v], inside.start[v + 1]):
                work.left_inside[inside.extra[r]] += inside.rows[r]
        if rows < demand.k or (only >= 0 and at + 1 != only):
            continue
        if n - rows < demand.k:
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
            score = rows * (n - rows) / n * apart * apart
        else:
            score = float(min(rows, n - rows))
        if rule != WIDEST and worth.ratio > 0:
            score /= (np.log(n) - (_n_log_n(rows, logs) + _n_log_n(n - rows, logs)) / n) ** worth.ratio
        if rule != WIDEST and worth.narrowing > 0:
            score += worth.narrowing * _narrowed(n, rows, at, size, runs.value, j, columns)
        if score > best and (not demand.checked or keeps(rows, n - rows, present, demand, work)):
            best, cut = score, at + 1
    for s in work.present[:present]:
        work.node_inside[s], work.left_inside[s] = 0, 0
    return best, cut


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
