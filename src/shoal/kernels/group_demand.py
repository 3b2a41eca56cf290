"""Whether a group of rows, wherever they lie, keeps k records and what is demanded of its sensitive values."""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of
from shoal.kernels.masks import Demand


class Required(NamedTuple):
    """A demand as compiled functions take it, with the shares of the whole table that nearness is measured against."""

    k: int
    codes: Int32Array  # [row, sensitive column], the codes of all columns numbered on; -1 counts for nothing
    offset: IntArray  # where the codes of a column begin
    whole: FloatArray  # share of each code among the values of its column
    l: IntArray  # noqa: E741
    entropy: FloatArray  # log of the effective values
    t: FloatArray
    t_ordered: BoolArray
    records: IntArray  # room: the records of each code in a group, zero before and after
    present: IntArray  # room: the codes that a group has


def required(demand: Demand, rows: IntArray) -> Required:
    """Of the table whose combinations stand for so many records each. The whole table must keep what its groups shall keep."""
    n = len(rows)
    if demand.k < 1:
        raise ValueError(f"k must be at least 1, not {demand.k}.")
    if n and not demand.allowed(np.zeros(n, np.int64), np.arange(n), records_of(rows, n))[0]:
        raise ValueError("The whole table does not keep what its groups shall keep: ask for less.")
    codes, offset, whole, l, entropy, t, t_ordered = demand.columns(n, rows)  # noqa: E741
    if demand.sensitive is None or not n:
        codes = np.zeros((n, 0), np.int32)
    numbered = np.where(codes > 0, codes - 1 + offset[: codes.shape[1]], -1).astype(np.int32)
    room = np.zeros((2, max(len(whole), 1)), np.int64)
    different, by_order = np.ascontiguousarray(l, np.int64), np.ascontiguousarray(t_ordered, np.bool_)
    return Required(demand.k, np.ascontiguousarray(numbered), offset, whole, different, entropy, t, by_order, room[0], room[1])


@njit(cache=True)
def keeps_demand(members, rows, need):
    """Whether these rows together keep k and, of each sensitive column, the different values, the evenness and the nearness to the table."""
    size = 0
    for i in members:
        size += rows[i]
    if size < need.k:
        return False
    for q in range(need.codes.shape[1]):  # noqa: SIM110  numba has no all() of a generator
        if not _column_keeps(members, rows, need, q):
            return False
    return True


@njit(cache=True)
def _column_keeps(members, rows, need, q):
    records, present, distinct, real = need.records, need.present, 0, 0
    counted = need.entropy[q] > 0 or need.t[q] < 1
    for i in members:
        s = need.codes[i, q]
        if s < 0:
            continue
        if records[s] == 0:
            present[distinct] = s
            distinct += 1
            if distinct >= need.l[q] and not counted:  # of thousands of persons, few are looked at
                break
        records[s] += rows[i]
        real += rows[i]
    enough = distinct >= need.l[q] or need.l[q] <= 1
    if enough and counted:
        enough = _even_and_near(present[:distinct], real, need, q)
    for s in present[:distinct]:
        records[s] = 0
    return enough


@njit(cache=True)
def _even_and_near(present, real, need, q):
    """Counted in the order of codes, so that rounding does not depend on the order of rows."""
    present.sort()
    had, excess = 0.0, 0.0
    for s in present:
        share = need.records[s] / real
        had -= share * np.log(share)
        excess += max(0.0, share - need.whole[s])  # total variation: only codes that are there can exceed their share
    if had < need.entropy[q] or (not need.t_ordered[q] and excess > need.t[q]):
        return False
    if need.t_ordered[q] and need.t[q] < 1 and real:
        gap, moved = 0.0, 0.0
        for s in range(need.offset[q], need.offset[q + 1]):
            gap += need.records[s] / real - need.whole[s]
            moved += abs(gap)
        return moved <= need.t[q] * max(need.offset[q + 1] - need.offset[q] - 1, 1)
    return True
