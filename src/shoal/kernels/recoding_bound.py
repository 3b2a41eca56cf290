"""What no local recoding can go below: each row as finely as it could be published if all others served it alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.masks import mask_classes
from shoal.kernels.nodes import Trees, check_table, weights_of

MOST_WORK = 300_000_000  # combinations times ways that are looked at, at most


def least_loss(
    codes: NDArray[Any],
    hierarchies: Sequence[CodedHierarchy],
    k: int,
    rows: NDArray[Any] | None = None,
    *,
    weights: Sequence[float] | None = None,
    most_work: int = MOST_WORK,
) -> float:
    """The mean, over rows, of the least loss among the ways to choose a level for every column in which the row is one of k of the whole table.

    Whatever class a row is published in, all rows of that class have its nodes, so this is a bound for any recoding whose classes have k rows,
    with or without further demands; for all rows at once it cannot mostly be reached. Where the lattice is too large for the work, columns
    fall into several sets, each with a bound of its own: what is lost in all is at least what is lost in each.
    """
    data, many, trees = check_table(codes, rows, hierarchies)
    share = weights_of(weights, data.shape[1])
    if not len(data):
        return 0.0
    if many.sum() < k:
        raise ValueError(f"There are {many.sum()} rows, fewer than k = {k}.")
    least = np.zeros(len(data))
    for columns in _sets(data, trees, most_work):
        merged, to = _merged(np.ascontiguousarray(data[:, columns]))
        records = np.bincount(to, many, len(merged)).astype(np.int64)
        least += _least(merged, records, columns, 0, trees, share, k)[to]
    return float((least * many).sum() / many.sum())


def _sets(codes: Int32Array, trees: Trees, most_work: int) -> list[list[int]]:
    """Columns with most values first, which merge most rows early; as many in a set as the work allows."""
    order = sorted(range(codes.shape[1]), key=lambda j: (-len(np.unique(codes[:, j])), j))
    sets: list[list[int]] = []
    ways = 0
    for j in order:
        depth = int(trees.depth[j])
        if not sets or ways * depth * len(codes) > most_work:
            sets.append([])
            ways = 1
        sets[-1].append(j)
        ways *= depth
    return sets


def _least(codes: Int32Array, records: IntArray, columns: list[int], done: int, trees: Trees, share: FloatArray, k: int) -> FloatArray:
    """For each combination of nodes (of the columns done) and codes (of the others), the least that is lost in those others."""
    if records.min() >= k:
        return np.zeros(len(codes))
    if done == len(columns):
        return np.where(records >= k, 0.0, np.inf)
    j, best = columns[done], np.full(len(codes), np.inf)
    mine = codes[:, done]
    for level in range(int(trees.depth[j])):
        at = int(trees.start[j] + level * trees.width[j])
        coarser = codes.copy()
        coarser[:, done] = trees.node[at : at + int(trees.width[j])][mine]
        merged, to = _merged(coarser)
        further = _least(merged, np.bincount(to, records, len(merged)).astype(np.int64), columns, done + 1, trees, share, k)
        best = np.minimum(best, share[j] * trees.loss[at + mine] + further[to])
    return best


def _merged(codes: Int32Array) -> tuple[Int32Array, IntArray]:
    """Different rows once each; and which of them each row is."""
    to, _ = mask_classes(codes, codes.max(axis=0, initial=0).astype(np.int64) + 1, ())
    return codes[np.unique(to, return_index=True)[1]], to
