"""Groups of rows written as nodes of hierarchies: the smallest nodes that cover them, which groups are written alike, and what is lost."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.coded_hierarchy import CodedHierarchy

LARGEST = 1 << 62  # of numbers that stand for rows


class Trees(NamedTuple):
    """Hierarchies one after the other: what stands at start[j] + level * width[j] + code is of column j's code at that level."""

    depth: IntArray  # levels of each column
    width: IntArray  # codes of each column
    start: IntArray
    node: Int32Array
    loss: FloatArray


class Recoded(NamedTuple):
    """Groups of combinations, each written as one node per column. No two groups are written alike."""

    group: IntArray  # of each combination; -1: suppressed
    levels: Int32Array  # [group, column]; the node is the one over any of the group's codes at that level
    loss: float  # mean over rows and columns, weighted if asked; a suppressed row counts 1


def trees_of(hierarchies: Sequence[CodedHierarchy]) -> Trees:
    """Whatever nodes lie over each code, put side by side; that they are trees is checked."""
    for j, one in enumerate(hierarchies):
        if one.nodes.shape != one.loss.shape or one.nodes.ndim != 2 or not one.nodes.size or (one.nodes[-1] != one.nodes[-1, 0]).any():
            raise ValueError(
                f"The hierarchy of column {j} needs a node and a loss for each level and code, and one node at its last level."
            )
        for low, high in zip(one.nodes, one.nodes[1:]):
            if len(np.unique(np.stack([low, high]), axis=1).T) != len(np.unique(low)):
                raise ValueError(f"The hierarchy of column {j} is not a tree: codes of one node are in several nodes of the next level.")
        if (np.diff(one.loss, axis=0) < 0).any():
            raise ValueError(f"The loss of column {j} falls from one level of its hierarchy to the next.")
    shapes = np.array([one.nodes.shape for one in hierarchies], np.int64).reshape(-1, 2)
    nodes = [one.nodes.reshape(-1) for one in hierarchies]
    losses = [one.loss.reshape(-1) for one in hierarchies]
    start = np.cumsum([0, *shapes.prod(axis=1)])
    return Trees(
        np.ascontiguousarray(shapes[:, 0]),
        np.ascontiguousarray(shapes[:, 1]),
        start.astype(np.int64),
        np.concatenate([np.zeros(0, np.int32), *nodes]).astype(np.int32),
        np.concatenate([np.zeros(0), *losses]).astype(np.float64),
    )


def check_codes(codes: NDArray[Any], trees: Trees) -> Int32Array:
    """The codes, which must be those that the hierarchies know."""
    if codes.ndim != 2 or codes.shape[1] != len(trees.depth):
        raise ValueError(f"There are {len(trees.depth)} hierarchies, so codes must be a table of as many columns.")
    if codes.size and (codes.min() < 0 or (codes.max(axis=0) >= trees.width).any()):
        raise ValueError("Some column has codes that its hierarchy does not know.")
    return np.ascontiguousarray(codes, np.int32)


def weights_of(weights: Sequence[float] | None, columns: int) -> FloatArray:
    """The share of each column in the loss: 1 / columns, or as asked."""
    given = np.ones(columns) if weights is None else np.asarray(weights, np.float64)
    if given.shape != (columns,) or not np.isfinite(given).all() or (given < 0).any() or (columns and given.sum() <= 0):
        raise ValueError(f"Each of the {columns} columns needs a weight of 0 or more, not all 0.")
    return given / given.sum() if columns else given


def written(codes: Int32Array, rows: IntArray, groups: IntArray, trees: Trees, weights: FloatArray) -> Recoded:
    """Every group by the smallest nodes that cover it, and groups that read the same as one.

    Two groups that keep k, l, an entropy or a nearness keep it together: records and different values do not become fewer, the entropy of a
    mixture is at least the lower of the two, and its distance from the table, by total variation or earth mover's, at most the larger.
    """
    inside = np.flatnonzero(groups >= 0)
    number = int(groups.max(initial=-1)) + 1
    cover = _covering(codes, inside, groups, number, trees)
    there = np.flatnonzero(np.bincount(groups[inside], minlength=number))
    first, same = distinct_rows(cover[there])
    renumbered = np.full(number, -1)
    renumbered[there] = same
    result = np.full(len(groups), -1)
    result[inside] = renumbered[groups[inside]]
    levels = np.ascontiguousarray(cover[there[first], : codes.shape[1]])
    return Recoded(result, levels, loss_of(codes, rows, result, levels, trees, weights))


def loss_of(codes: Int32Array, rows: IntArray, groups: IntArray, levels: Int32Array, trees: Trees, weights: FloatArray) -> float:
    """The mean loss of all rows; a suppressed row counts 1."""
    inside = np.flatnonzero(groups >= 0)
    if not rows.sum():
        return 0.0
    records, lost = tally(groups[inside], rows[inside], len(levels)), np.zeros(len(levels))
    row = np.zeros(len(levels), np.int64)
    row[groups[inside]] = inside  # any: a node has one loss
    for j, weight in enumerate(weights.tolist()):
        lost += weight * trees.loss[trees.start[j] + levels[:, j] * trees.width[j] + codes[row, j]]
    return float((lost * records).sum() + rows.sum() - records.sum()) / float(rows.sum())


def distinct_rows(table: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """A row of each distinct one, in the order of their values, the first column first; and which of these each row is.

    Rows are sorted as one number each; where numbers would grow too long, the distinct ones so far are numbered anew.
    """
    key, size = np.zeros(len(table), np.int64), 1
    for column in table.T if len(table) else ():
        low, width = int(column.min()), int(np.ptp(column)) + 1
        if size > LARGEST // width:
            known, key = np.unique(key, return_inverse=True)
            key, size = key.reshape(-1), len(known)
        key, size = key * width + (column - low), size * width
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return first, number.reshape(-1)


def check_table(
    codes: NDArray[Any], rows: NDArray[Any] | None, hierarchies: Sequence[CodedHierarchy]
) -> tuple[Int32Array, IntArray, Trees]:
    """A table as compiled functions take it."""
    trees = trees_of(hierarchies)
    return check_codes(codes, trees), records_of(rows, len(codes)), trees


@njit(cache=True)
def _covering(codes, inside, groups, number, trees):
    """For each group and column, the lowest level at which its codes have one node (of levels that say the same, the lowest); then the nodes.

    In place of the nodes stand the codes of the group's first row until all rows have been seen, so that what a row meets lies side by side.
    """
    d = codes.shape[1]
    cover, empty = np.zeros((number, 2 * d), np.int32), np.ones(number, np.bool_)
    for i in inside:
        g = groups[i]
        if empty[g]:
            empty[g] = False
            cover[g, d:] = codes[i]
            continue
        for j in range(d):
            cover[g, j] = meeting(cover[g, d + j], codes[i, j], cover[g, j], j, trees)
    for g in range(number):
        for j in range(0 if empty[g] else d):
            cover[g, d + j] = trees.node[trees.start[j] + cover[g, j] * trees.width[j] + cover[g, d + j]]
    return cover


@njit(cache=True, inline="always")
def meeting(one, other, level, j, trees):
    """The lowest level, from `level` on, at which two codes of column j have one node."""
    at = trees.start[j] + level * trees.width[j]
    while trees.node[at + one] != trees.node[at + other]:
        level += 1
        at += trees.width[j]
    return level
