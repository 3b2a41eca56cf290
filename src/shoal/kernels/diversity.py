"""What groups must keep of each sensitive column: the two sides of a cut, or a group that rows come to and leave one by one."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.cells import tally

SLACK = 1e-12  # what rounding may add to a distance or take from an entropy
ROUNDING = 1e-9  # the same where counts go up and down: l values equally often have the entropy log l but for this
# what is known of a group, and of each sensitive column in it: rows (with a value), distinct values, sum of c log c over their counts c
ROWS, DISTINCT, DISORDER = range(3)
WHOLE = -1  # where the group itself stands, behind its sensitive columns


class CutDemand(NamedTuple):
    """What both sides of a cut must keep of each sensitive column. The codes of all columns are numbered on, one column after the other."""

    different: IntArray
    entropy: FloatArray
    t: FloatArray
    t_ordered: BoolArray
    offset: IntArray  # where the codes of a column begin
    extras: IntArray  # how many codes a column has: one more than values where some rows have none, and that code is the last
    values: IntArray
    whole: FloatArray  # share of each sensitive code among the values of its column


def columns_of(sensitive: NDArray[Any], n: int) -> NDArray[Any]:
    """Sensitive codes of n rows as a table: one column, or several."""
    if sensitive.ndim not in (1, 2) or len(sensitive) != n:
        raise ValueError(f"There are {n} rows, but {len(sensitive)} sensitive values.")
    return sensitive.reshape(n, -1 if n else 1)


def of_each(asked: Any, columns: int) -> NDArray[Any]:
    """What is asked of each sensitive column: one number for all, or one for each."""
    return np.ascontiguousarray(np.broadcast_to(np.asarray(asked), columns))


def cut_demand(
    sensitive: NDArray[Any] | None,
    rows: IntArray,
    l: int | Sequence[int],  # noqa: E741
    entropy_l: float | Sequence[float],
    t: float | Sequence[float],
    t_ordered: bool | Sequence[bool],
) -> tuple[list[NDArray[Any]], CutDemand | None]:
    """Sensitive columns made dense, and what is demanded of them; the whole table must keep what its parts shall keep."""
    asked = np.max(l) > 1 or np.max(entropy_l) > 1 or np.min(t) < 1
    if sensitive is None:
        if asked:
            raise ValueError("l-diversity and t-closeness need the sensitive value of every row.")
        return [], None
    table = columns_of(sensitive, len(rows))
    s = table.shape[1]
    different, entropy = of_each(l, s).astype(np.int64), of_each(entropy_l, s).astype(np.float64)
    different[different < 2] = 0  # not asked
    dense, shares, extras = [], [], []
    for q in range(s):
        values, code = np.unique(table[:, q], return_inverse=True)
        none = int(len(values) > 0 and values[0] < 0)
        code = np.where(code.reshape(-1) < none, len(values) - 1, code.reshape(-1) - none)  # what counts for nothing is the last code
        count = tally(code, rows, len(values))[: len(values) - none]
        share = count / max(count.sum(), 1)
        if len(share) < different[q]:
            raise ValueError(f"The whole table has {len(share)} different sensitive values, fewer than l = {different[q]}.")
        effective = float(np.exp(-(share * np.log(share)).sum())) if len(share) else 0.0
        if entropy[q] > 1 and effective < entropy[q] - ROUNDING:
            raise ValueError(f"The whole table has entropy l-diversity {effective:.4g}, less than {entropy[q]:g}.")
        dense.append(code)
        shares.append(np.append(share, np.zeros(none)))
        extras.append(len(values))
    if not asked:
        return [], None
    return dense, CutDemand(
        different,
        np.log(entropy) - SLACK,
        of_each(t, s) + SLACK,
        of_each(t_ordered, s).astype(np.bool_),
        np.cumsum([0, *extras]).astype(np.int64),
        np.array(extras, np.int64),
        np.array([int((share > 0).sum()) for share in shares], np.int64),
        np.concatenate(shares),
    )


@njit(cache=True)
def keeps(left, right, demand, node, on_left, present, there):
    """Whether both sides, of so many rows, have the diversity and closeness demanded, counted afresh so that no rounding adds up over cuts.

    Of each sensitive code: the records in the node, and those of them on the left.
    """
    for q in range(len(there)):
        a, most = demand.offset[q], demand.offset[q] + demand.values[q]
        last = a + there[q]
        if demand.different[q] > 1 and not _differ(demand.different[q], a, last, most, present, node, on_left):
            return False
        if demand.entropy[q] <= 0 and demand.t[q] >= 1:
            continue
        for side in range(2):
            rows = right if side else left
            if demand.offset[q + 1] > most:  # some have no value
                rows -= node[most] - on_left[most] if side else on_left[most]
            if not _near(rows, side, q, a, last, most, demand, present, node, on_left):
                return False
    return True


@njit(cache=True)
def _differ(least, a, last, most, present, node, on_left):
    """Whether both sides have so many different values; of thousands, few are looked at."""
    left, right = 0, 0
    for i in range(a, last):
        s = present[i]
        if s < most:
            left += on_left[s] > 0
            right += on_left[s] < node[s]
            if left >= least and right >= least:
                return True
    return False


@njit(cache=True)
def _near(rows, side, q, a, last, most, demand, present, node, on_left):
    """Whether the values of one side are as even, and as near to the whole table's, as asked."""
    if rows == 0:
        return demand.entropy[q] <= 0
    entropy, excess = 0.0, 0.0
    for i in range(a, last):
        s = present[i]
        count = node[s] - on_left[s] if side else on_left[s]
        if count and s < most:
            share = count / rows
            entropy -= share * np.log(share)
            excess += max(0.0, share - demand.whole[s])  # total variation: only codes that are there can exceed their share
    if entropy < demand.entropy[q] or (not demand.t_ordered[q] and excess > demand.t[q]):
        return False
    if demand.t_ordered[q]:
        gap, moved, farthest = 0.0, 0.0, demand.t[q] * max(most - a - 1, 1)
        for s in range(a, most):
            count = node[s] - on_left[s] if side else on_left[s]
            gap += count / rows - demand.whole[s]
            moved += abs(gap)
            if moved > farthest:
                return False
    return True


@njit(cache=True)
def change(state, count, cells, by):
    """One row of a group more or less, with a value of each sensitive column; below 0: none."""
    for q in range(len(cells)):
        cell = cells[q]
        if cell >= 0:
            state[q, DISORDER] += _c_log_c(count[cell] + by) - _c_log_c(count[cell])
            state[q, DISTINCT] += (count[cell] + by > 0) - (count[cell] > 0)
            state[q, ROWS] += by
            count[cell] += by
    state[WHOLE, ROWS] += by


@njit(cache=True)
def clear(count, cells):
    """Forget the values of a row."""
    for cell in cells:
        if cell >= 0:
            count[cell] = 0


@njit(cache=True)
def diverse(state, rule):
    """Whether a group has of every column the different values and the entropy that the rule (k, l, entropy) asks for."""
    enough = True
    for q in range(len(rule[1])):
        enough = enough and _column_is_diverse(state[q], rule[1][q], rule[2][q])
    return enough


@njit(cache=True)
def _column_is_diverse(state, l, entropy):  # noqa: E741
    return (l <= 1 or state[DISTINCT] >= l) and (entropy <= 0 or _entropy(state) >= entropy - ROUNDING)


@njit(cache=True)
def more_diverse(state, before, rule):
    """Whether a column that lacks something has more of it than before."""
    for q in range(len(rule[1])):
        if not _column_is_diverse(before[q], rule[1][q], rule[2][q]) and (
            state[q, DISTINCT] > before[q, DISTINCT] or (rule[2][q] > 0 and _entropy(state[q]) > _entropy(before[q]) + ROUNDING)
        ):
            return True
    return False


@njit(cache=True)
def _entropy(state):
    return np.log(state[ROWS]) - state[DISORDER] / state[ROWS] if state[ROWS] > 0 else 0.0


@njit(cache=True)
def _c_log_c(c):
    return c * np.log(c) if c > 1 else 0.0
