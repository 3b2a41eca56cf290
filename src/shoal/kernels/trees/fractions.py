"""Missing values in fractions (Quinlan 1993, chapter 3): a row whose split value is missing goes down every branch, in parts.

A branch gets the part that it has of the rows whose value is known. Rows become records with a weight, equal rows one record. A node's
records are a stretch of a stack: those of the node at hand lie on top, below them those of its ancestors, so that a record is held once for
each node on the path and not once for each node of the tree.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.groups import class_ids
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
    worth_splitting,
)

# A frame of the stack: a node that was split, the branch to be looked at next, the stretch of its records, and where the known ones begin.
NODE, NEXT, FROM, KNOWN, TO = range(5)


def grown(
    codes: NDArray[Any], ordered: BoolArray, target: NDArray[Any], rows: IntArray, classes: int, least: int, most_depth: int
) -> tuple[IntArray, NDArray[Any]]:
    """The table of nodes, breadth first, and the weight of each class in them."""
    n, d = codes.shape
    record, records = class_ids([*(codes[:, j] for j in range(d)), target])
    weight = np.bincount(record, weights=rows, minlength=records)
    some_row = np.empty(records, np.int64)
    some_row[record] = np.arange(n)
    stack = np.ascontiguousarray(np.column_stack([codes[some_row], target[some_row]]), np.int32)
    values = stack[:, :d].max(axis=0).astype(np.int64)
    nodes, counts = _grow(stack, weight, ordered, values, classes, least, most_depth)
    order = np.argsort(nodes[:, DEPTH], kind="stable")  # siblings stay together, families in the order of their parents
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    nodes, counts = nodes[order], counts[order]
    nodes[1:, PARENT] = number[nodes[1:, PARENT]]
    split = nodes[:, CHILDREN] > 0
    nodes[split, FIRST_CHILD] = number[nodes[split, FIRST_CHILD]]
    return nodes, counts


@njit(cache=True)
def _grow(stack, weight, ordered, values, classes, least, most_depth):
    records, width = stack.shape
    d = width - 1
    nodes = np.zeros((1024, SIZE + 1), np.int64)
    counts = np.zeros((1024, classes))
    part = np.zeros(1024)  # of its parent's rows with a known value, what a node has
    nodes[0, ATTRIBUTE] = nodes[0, PARENT] = -1
    for i in range(records):
        counts[0, stack[i, d]] += weight[i]
    rows = counts[0].sum()
    cells = np.empty(most_cells(values, classes, records))
    begin = np.empty(d, np.int64)
    none = np.zeros(0)  # x log x of no fraction is looked up
    frames = np.zeros((64, TO + 1), np.int64)
    node, start, stop, made, frame = 0, 0, records, 1, -1
    while node >= 0:
        best = np.int64(-1)
        size = counts[node].sum()
        if worth_splitting(counts, node, size, least) and nodes[node, DEPTH] < most_depth:
            mine, its = stack[start:stop], weight[start:stop]
            count(mine, its, values, classes, begin, cells)
            best, threshold = best_split(mine, its, size, ordered, values, classes, least, rows, begin, cells, none)
        if best >= 0:
            branches = 2 if ordered[best] else values[best]
            while made + branches > len(nodes):
                nodes, counts, part = longer(nodes), longer(counts), longer(part)
            nodes[node, ATTRIBUTE], nodes[node, THRESHOLD] = best, threshold
            nodes[node, FIRST_CHILD], nodes[node, CHILDREN] = made, branches
            missing = _split(mine, its, nodes, counts, part, node, ordered[best])
            made += branches
            frame += 1
            if frame == len(frames):
                frames = longer(frames)
            frames[frame, NODE], frames[frame, NEXT] = node, 0
            frames[frame, FROM], frames[frame, KNOWN], frames[frame, TO] = start, start + missing, stop
        node = -1
        while frame >= 0 and node < 0:  # the next node that may be split
            parent = frames[frame, NODE]
            if frames[frame, NEXT] == nodes[parent, CHILDREN]:
                frame -= 1
            else:
                child = nodes[parent, FIRST_CHILD] + frames[frame, NEXT]
                frames[frame, NEXT] += 1
                if worth_splitting(counts, child, counts[child].sum(), least) and nodes[child, DEPTH] < most_depth:
                    node = child
        if node >= 0:  # lay its records on top of its parent's
            start, missing = frames[frame, TO], frames[frame, KNOWN] - frames[frame, FROM]
            stop = start + missing + nodes[node, SIZE]
            while stop > len(stack):
                stack, weight = longer(stack), longer(weight)
            for i in range(missing):
                stack[start + i] = stack[frames[frame, FROM] + i]
                weight[start + i] = weight[frames[frame, FROM] + i] * part[node]
            for i in range(nodes[node, SIZE]):
                stack[start + missing + i] = stack[frames[frame, KNOWN] + nodes[node, START] + i]
                weight[start + missing + i] = weight[frames[frame, KNOWN] + nodes[node, START] + i]
    return nodes[:made], counts[:made]


@njit(cache=True)
def _split(mine, weight, nodes, counts, part, node, is_ordered):
    """Make the children of a node and sort its records: those whose value is missing, then branch after branch. How many are missing."""
    j, threshold, first, branches = nodes[node, ATTRIBUTE], nodes[node, THRESHOLD], nodes[node, FIRST_CHILD], nodes[node, CHILDREN]
    d = mine.shape[1] - 1
    lost = np.zeros(counts.shape[1])
    missing, known = 0, 0.0
    for i in range(len(mine)):
        code, y = np.int64(mine[i, j]), np.int64(mine[i, d])
        if code == 0:
            lost[y] += weight[i]
            missing += 1
        else:
            child = first + branch_of(code, is_ordered, threshold)
            counts[child, y] += weight[i]
            nodes[child, SIZE] += 1
            known += weight[i]
    place = np.empty(branches + 1, np.int64)
    place[0], start = 0, np.int64(0)
    for branch in range(branches):
        child = first + branch
        nodes[child, ATTRIBUTE], nodes[child, PARENT], nodes[child, DEPTH] = -1, node, nodes[node, DEPTH] + 1
        nodes[child, EDGE] = branch if is_ordered else branch + 1
        nodes[child, START] = start
        place[branch + 1] = missing + start
        start += nodes[child, SIZE]
        part[child] = counts[child].sum() / known
        counts[child] += part[child] * lost
    old, old_weight = mine.copy(), weight.copy()
    for i in range(len(old)):
        code = np.int64(old[i, j])
        to = np.int64(0) if code == 0 else branch_of(code, is_ordered, threshold) + 1
        mine[place[to]] = old[i]
        weight[place[to]] = old_weight[i]
        place[to] += 1
    return missing


def shares(tree: Any, totals: FloatArray, known: FloatArray, codes: NDArray[Any], ordered: BoolArray) -> FloatArray:
    """The share of each class for each row of codes; `totals` are the nodes' weights, `known` the shares at each node."""
    return np.asarray(_shares(tree.attribute, tree.threshold, tree.first_child, tree.children, totals, known, codes, ordered))


@njit(cache=True)
def _shares(attribute, threshold, first_child, children, totals, known, codes, ordered):
    n, classes = len(codes), known.shape[1]
    result = np.zeros((n, classes))
    waiting, fraction = np.empty(len(children) + 1, np.int64), np.empty(len(children) + 1)
    for i in range(n):
        waiting[0], fraction[0], many = 0, 1.0, 1
        while many > 0:
            many -= 1
            node, its = waiting[many], fraction[many]
            while children[node] > 0:
                j = attribute[node]
                code = np.int64(codes[i, j])
                if code > 0 and (ordered[j] or code <= children[node]):
                    node = first_child[node] + branch_of(code, ordered[j], threshold[node])
                    continue
                below = 0.0  # missing, or a value that the tree has never seen
                for child in range(first_child[node], first_child[node] + children[node]):
                    below += totals[child]
                if below == 0:
                    break
                for child in range(first_child[node], first_child[node] + children[node]):
                    if totals[child] > 0:
                        waiting[many], fraction[many] = child, its * totals[child] / below
                        many += 1
                node = -1
                break
            if node >= 0:
                for y in range(classes):
                    result[i, y] += its * known[node, y]
    return result
