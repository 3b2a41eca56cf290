"""Decision trees by C4.5 on integer codes, for millions of rows, and trees of other makers in the same form.

A column holds codes: 0 is missing, 1..m its values. An ordered column (codes are ranks) is split in two, `code <= threshold` and above; any
other column into one branch per code. A row whose split value is missing, or was never seen, stops at the node, so that the rows of a node
can be counted and released; or it goes down every branch in fractions, which is better for learning (`tree_fractions`).

How the rows are held decides the speed. Each row is one short record, its codes, its class and how often it occurs; a node is a contiguous range of
records; one pass over the range counts the classes of every value of every column; and a split deals the records out into the same range of
a second buffer by counting sort, so that every pass reads memory in order. Nodes are worked in breadth-first order, level by level, and the
two buffers take turns.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of
from shoal.kernels.trees import fractions as tree_fractions
from shoal.kernels.trees.counts import (
    ATTRIBUTE,
    CHILDREN,
    DEPTH,
    EDGE,
    FIRST_CHILD,
    PARENT,
    SIZE,
    START,
    THRESHOLD,
    best_split,
    branch_of,
    count,
    longer,
    most_cells,
    tallied,
    worth_splitting,
)
from shoal.kernels.trees.pruning import useful_splits
from shoal.kernels.trees.splits import logarithms

Missing = Literal["stop", "fractions"]
MOST_OFTEN = 2**31 - 1


class Tree(NamedTuple):
    """One entry per node, breadth first; the children of a node are neighbours."""

    attribute: Int32Array  # the column a node splits by, -1 at a leaf
    threshold: Int32Array  # ordered column: codes up to here go to the first child, others to the second
    first_child: Int32Array  # other column: code v goes to first_child + v - 1
    children: Int32Array  # how many; 0 at a leaf
    parent: Int32Array  # -1 at the root
    edge: Int32Array  # what leads here: the code, or for an ordered column 0 (up to the threshold) or 1 (above)
    depth: Int32Array
    counts: NDArray[Any]  # rows of each class that reach the node: whole numbers, or weights where missing values went in fractions


def grow(
    codes: NDArray[Any],
    ordered: BoolArray,
    target: NDArray[Any],
    classes: int,
    least: int = 2,
    confidence: float | None = 0.25,
    most_depth: int | None = None,
    missing: Missing = "stop",
    rows: NDArray[Any] | None = None,
) -> Tree:
    """A C4.5 tree for the classes 0..classes-1 of `target`.

    `rows`: how often each row occurs (None: once); the tree is that of the table in which it is written so many times, and counts as it does.
    A split has at least two branches of `least` rows (MinObj). `confidence` is that of pessimistic pruning; None leaves the tree as grown.
    Rows whose split value is `missing` stop at the node, or go down every branch in fractions.
    """
    n, _ = _checked(codes, ordered)
    if n == 0:
        raise ValueError("A tree needs at least one row.")
    if len(target) != n or classes < 1 or int(target.min()) < 0 or int(target.max()) >= classes:
        raise ValueError(f"The target needs one class from 0 to {classes - 1} for each of the {n:,} rows.")
    if least < 1:
        raise ValueError(f"The least number of rows must be 1 or more, got {least}.")
    if confidence is not None and not 0 < confidence <= 1:
        raise ValueError(f"The confidence of pruning must be above 0 and at most 1, got {confidence}.")
    if missing not in ("stop", "fractions"):
        raise ValueError(f"Rows with missing values stop, or go in fractions; not '{missing}'.")
    many = records_of(rows, n)
    depth = n if most_depth is None else most_depth
    in_fractions = missing == "fractions" and not codes.all()  # where nothing is missing, rows are counted, which is faster
    grown = tree_fractions.grown if in_fractions else _grown
    nodes, counts = grown(codes, np.asarray(ordered, np.bool_), target, many, classes, least, depth)
    columns = np.ascontiguousarray(nodes.T, np.int32)
    tree = Tree(columns[0], columns[1], columns[2], columns[3], columns[4], columns[5], columns[6], counts.copy())
    if confidence is None or len(nodes) == 1:
        return tree
    return _cut(tree, useful_splits(tree.parent, tree.children, tree.counts, confidence))


def _grown(
    codes: NDArray[Any], ordered: BoolArray, target: NDArray[Any], rows: IntArray, classes: int, least: int, most_depth: int
) -> tuple[IntArray, NDArray[Any]]:
    """The table of nodes and the rows of each class in them; rows stop where a value is missing."""
    n, d = codes.shape
    values = np.array([int(codes[:, j].max()) for j in range(d)], np.int64)
    if rows.max() > MOST_OFTEN:
        raise ValueError(f"A row occurs more than {MOST_OFTEN:,} times: write it as several rows that share them.")
    records = np.empty((2, n, d + 2), np.int32)  # bytes would be a quarter of the memory, no faster, and compiled once more
    for j in range(d):
        records[0, :, j] = codes[:, j]
    records[0, :, d], records[0, :, d + 1] = target, rows
    nodes, counts = _grow(records, ordered, values, classes, least, most_depth, logarithms())
    return nodes, counts


def route(tree: Tree, codes: NDArray[Any], ordered: BoolArray) -> Int32Array:
    """The deepest node that each row reaches."""
    _matching(tree, codes, ordered)
    return np.asarray(_route(tree.attribute, tree.threshold, tree.first_child, tree.children, codes, np.asarray(ordered, np.bool_)))


def predict(tree: Tree, node: Int32Array) -> Int32Array:
    """The most frequent class at each node (the lowest of several), at a node that no row had reached that of the nearest ancestor."""
    return np.asarray(tree.counts.argmax(axis=1)[_known(tree)][node], np.int32)


def distribution(tree: Tree, node: Int32Array) -> FloatArray:
    """The share of each class at each node, at a node that no row had reached those of the nearest ancestor."""
    rows = tree.counts.sum(axis=1, keepdims=True)
    return np.asarray((tree.counts / np.where(rows > 0, rows, 1))[_known(tree)[node]])


def shares(tree: Tree, codes: NDArray[Any], ordered: BoolArray) -> FloatArray:
    """The share of each class for each row; a row whose split value is missing or was never seen goes down every branch, in fractions."""
    _matching(tree, codes, ordered)
    at_nodes = distribution(tree, np.arange(len(tree.parent), dtype=np.int32))
    return tree_fractions.shares(tree, tree.counts.sum(axis=1, dtype=np.float64), at_nodes, codes, np.asarray(ordered, np.bool_))


def with_counts(tree: Tree, node: Int32Array, target: NDArray[Any], classes: int) -> Tree:
    """The same tree with the classes of other rows, whose deepest nodes are given: a foreign tree counts by weights or not at all."""
    counts = np.bincount(node.astype(np.int64) * classes + target, minlength=len(tree.parent) * classes).reshape(-1, classes)
    for level in range(int(tree.depth.max()), 0, -1):
        children = tree.depth == level
        np.add.at(counts, tree.parent[children], counts[children])
    return tree._replace(counts=counts.astype(np.int64))


def from_sklearn(
    children_left: NDArray[Any],
    children_right: NDArray[Any],
    feature: NDArray[Any],
    threshold: NDArray[Any],
    values: Sequence[NDArray[Any]],
) -> Tree:
    """A binary tree given as scikit-learn's `tree_` gives it, `x <= threshold` to the left; every column is ordered.

    `values` are the sorted distinct values of each column, code v standing for the v-th. The tree knows no counts: see `with_counts`.
    scikit-learn compares values of single precision, and so does this.
    """
    m = len(feature)
    if m and int(feature.max()) >= len(values):
        raise ValueError(f"The tree splits by column {int(feature.max())}, counted from 0, and the table has {len(values)}.")
    order, parent, edge, depth = [0], [-1], [0], [0]
    first = np.zeros(m, np.int32)
    for place in range(m):  # the queue is what has been ordered so far
        if place == len(order):
            raise ValueError("The tree has nodes that hang nowhere.")
        node = order[place]
        if children_left[node] < 0:
            continue
        first[place] = len(order)
        for side, child in enumerate((int(children_left[node]), int(children_right[node]))):
            order.append(child)
            parent.append(place)
            edge.append(side)
            depth.append(depth[place] + 1)
    split = np.asarray(children_left)[order] >= 0
    attribute = np.where(split, np.asarray(feature)[order], -1).astype(np.int32)
    code = np.zeros(m, np.int32)
    for inner in np.flatnonzero(split):
        single = np.asarray(values[attribute[inner]]).astype(np.float32)
        code[inner] = np.searchsorted(single.astype(np.float64), threshold[order[inner]], side="right")
    children = np.where(split, 2, 0).astype(np.int32)
    parents, edges, depths = (np.array(column, np.int32) for column in (parent, edge, depth))
    return Tree(attribute, code, first, children, parents, edges, depths, np.zeros((m, 1), np.int64))


def _checked(codes: NDArray[Any], ordered: BoolArray) -> tuple[int, int]:
    if codes.ndim != 2 or codes.dtype.kind not in "iu" or len(ordered) != codes.shape[1]:
        raise ValueError("Codes must be a table of integers, and for each of its columns it must be said whether it is ordered.")
    if codes.dtype.kind == "i" and codes.size and int(codes.min()) < 0:
        raise ValueError("Codes must not be negative: 0 stands for a missing value.")
    return codes.shape[0], codes.shape[1]


def _matching(tree: Tree, codes: NDArray[Any], ordered: BoolArray) -> None:
    _, d = _checked(codes, ordered)
    last = int(tree.attribute.max())
    if last >= d:
        raise ValueError(f"The tree splits by column {last}, counted from 0, and the table has {d}: it was grown on other columns.")


def _known(tree: Tree) -> IntArray:
    """For each node itself or the nearest ancestor that rows had reached."""
    known = np.arange(len(tree.parent))
    for node in np.flatnonzero(tree.counts.sum(axis=1) == 0):  # ancestors first
        if node > 0:
            known[node] = known[tree.parent[node]]
    return known


def _cut(tree: Tree, keeps: BoolArray) -> Tree:
    """The tree without what hangs below the splits that are not kept, nodes renumbered."""
    attribute, children = np.where(keeps, tree.attribute, -1).astype(np.int32), np.where(keeps, tree.children, 0).astype(np.int32)
    stays = np.asarray(_stays(tree.parent, keeps))
    number = np.cumsum(stays, dtype=np.int32) - np.int32(1)
    first_child = np.where(keeps, number[tree.first_child], 0).astype(np.int32)
    parent = np.where(tree.parent >= 0, number[tree.parent], -1).astype(np.int32)
    return Tree(
        attribute[stays],
        np.where(keeps, tree.threshold, 0).astype(np.int32)[stays],
        first_child[stays],
        children[stays],
        parent[stays],
        tree.edge[stays],
        tree.depth[stays],
        tree.counts[stays],
    )


@njit(cache=True)
def _stays(parent, keeps):
    stays = np.ones(len(parent), np.bool_)
    for node in range(1, len(parent)):
        stays[node] = stays[parent[node]] and keeps[parent[node]]
    return stays


@njit(cache=True)
def _route(attribute, threshold, first_child, children, codes, ordered):
    n = len(codes)
    reached = np.zeros(n, np.int32)
    for i in range(n):
        node = 0
        while children[node] > 0:
            j = attribute[node]
            code = np.int64(codes[i, j])
            if code == 0:
                break
            if ordered[j]:
                node = first_child[node] + (code > threshold[node])
            elif code <= children[node]:
                node = first_child[node] + code - 1
            else:  # a value that the tree has never seen
                break
        reached[i] = node
    return reached


@njit(cache=True)
def _grow(records, ordered, values, classes, least, most_depth, table):
    _, n, width = records.shape
    d = width - 2
    nodes = np.zeros((1024, SIZE + 1), np.int64)
    counts = np.zeros((1024, classes), np.int64)
    nodes[0, ATTRIBUTE] = nodes[0, PARENT] = -1
    nodes[0, SIZE] = n
    for i in range(n):
        counts[0, records[0, i, d]] += records[0, i, d + 1]
    rows = counts[0].sum()
    cells = np.empty(most_cells(values, classes, n), np.int64)  # classes by value, column after column, of the node at hand
    begin = np.empty(d, np.int64)  # where a column's cells begin, -1 for a column that is sorted instead
    made, node = 1, -1
    while node + 1 < made:
        node += 1
        size, depth, start = counts[node].sum(), nodes[node, DEPTH], nodes[node, START]
        if not worth_splitting(counts, node, size, least) or depth >= most_depth:
            continue
        mine = records[depth % 2, start : start + nodes[node, SIZE]]
        often = mine[:, d + 1]
        count(mine, often, values, classes, begin, cells)
        best, threshold = best_split(mine, often, size, ordered, values, classes, least, rows, begin, cells, table)
        if best < 0:
            continue
        branches = 2 if ordered[best] else values[best]
        while made + branches > len(nodes):
            nodes, counts = longer(nodes), longer(counts)
        nodes[node, ATTRIBUTE], nodes[node, THRESHOLD], nodes[node, FIRST_CHILD], nodes[node, CHILDREN] = best, threshold, made, branches
        present, tally = tallied(mine, often, best, values[best], classes, begin, cells)
        for u in range(len(present)):
            child = made + branch_of(present[u], ordered[best], threshold)
            for y in range(classes):
                counts[child, y] += tally[u, y]
        for child in range(made, made + branches):
            nodes[child, ATTRIBUTE], nodes[child, PARENT], nodes[child, DEPTH] = -1, node, depth + 1
            nodes[child, EDGE] = child - made if ordered[best] else child - made + 1
        if depth + 1 < most_depth:
            _deal(mine, records[(depth + 1) % 2], nodes, counts, node, ordered[best], least, rows == n)
        made += branches
    return nodes[:made], counts[:made]


@njit(cache=True)
def _deal(mine, other, nodes, counts, node, is_ordered, least, once):
    """Copy the records of a node to ranges of its children in the other buffer; those of children that stay leaves are not needed."""
    j, threshold, first, branches = nodes[node, ATTRIBUTE], nodes[node, THRESHOLD], nodes[node, FIRST_CHILD], nodes[node, CHILDREN]
    for child in range(first, first + branches):
        nodes[child, SIZE] = counts[child].sum() if once else 0  # every row occurs once: they are counted already
    for i in range(0 if once else len(mine)):
        code = np.int64(mine[i, j])
        if code > 0:
            nodes[first + branch_of(code, is_ordered, threshold), SIZE] += 1
    place, start = np.empty(branches, np.int64), nodes[node, START]
    for branch in range(branches):
        child = first + branch
        place[branch] = start if worth_splitting(counts, child, counts[child].sum(), least) else -1
        nodes[child, START] = start
        start += nodes[child, SIZE]
    for i in range(len(mine)):
        code = np.int64(mine[i, j])
        if code > 0:
            branch = branch_of(code, is_ordered, threshold)
            at = place[branch]
            if at >= 0:
                for a in range(mine.shape[1]):
                    other[at, a] = mine[i, a]
                place[branch] = at + 1
