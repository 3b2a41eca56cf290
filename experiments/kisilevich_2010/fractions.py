"""C4.5 for categories that sends a training row whose split value is missing down every branch, in fractions (Quinlan 1993, chapter 3).

shoal's own tree lets such a row stop at the node, which is right for making groups. For learning from a release it matters: kACTUS shows a
column only to rows of some branches, so what is below a split was learned from those, while every tested row, whose values are all known,
goes there. This one is slow and plain, to tell how much of a difference from the paper comes from that alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.tree_pruning import TOLERATED, upper_error_rate

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
LEAST, CONFIDENCE, ENOUGH, NOTHING = 2, 0.25, 1e-3, 1e-9


@dataclass
class Node:
    """Weights of the classes; a leaf has no column."""

    classes: FloatArray
    column: int = -1
    children: list[Node] = field(default_factory=list)
    promised: float = 0.0  # errors to be expected, by the pessimistic estimate


def fitted(train: FloatArray, test: FloatArray, labels: IntArray, classes: int) -> IntArray:
    """Train on codes (nan: missing), predict the tested rows."""
    known = [np.where(np.isnan(part), -1, part).astype(np.int64) for part in (train, test)]
    values = np.maximum(np.maximum(known[0].max(axis=0), known[1].max(axis=0)) + 1, 1)
    root = _grow(known[0], labels, np.ones(len(labels)), values, classes)
    predicted = np.full(len(test), int(root.classes.argmax()))
    _predict(root, known[1], np.arange(len(test)), predicted)
    return predicted


def _grow(x: IntArray, y: IntArray, weight: FloatArray, values: IntArray, classes: int) -> Node:
    counts = np.bincount(y, weight, classes)
    rows = counts.sum()
    node = Node(counts, promised=_promised(rows, rows - counts.max()))
    column = _best(x, y, weight, values, classes, rows) if rows >= 2 * LEAST and (counts > NOTHING).sum() > 1 else -1
    if column < 0:
        return node
    mine = x[:, column]
    missing = np.flatnonzero(mine < 0)
    sizes = np.bincount(mine[mine >= 0], weight[mine >= 0], values[column])
    for value, share in enumerate(sizes / sizes.sum()):
        if share <= 0:
            node.children.append(Node(np.zeros(classes)))
            continue
        here = np.flatnonzero(mine == value)
        part = np.concatenate([here, missing])
        fraction = np.concatenate([weight[here], weight[missing] * share])
        node.children.append(_grow(x[part], y[part], fraction, values, classes))
    below = sum(child.promised for child in node.children)
    if node.promised <= below + TOLERATED:
        node.children = []
    else:
        node.column, node.promised = column, below
    return node


def _best(x: IntArray, y: IntArray, weight: FloatArray, values: IntArray, classes: int, rows: float) -> int:
    """The best gain ratio among columns of at least average gain."""
    gains: dict[int, tuple[float, float]] = {}
    for j in range(x.shape[1]):
        known = x[:, j] >= 0
        tally = np.bincount(x[known, j] * classes + y[known], weight[known], values[j] * classes).reshape(-1, classes)
        sizes = tally.sum(axis=1)
        if (sizes >= LEAST).sum() < 2:
            continue
        gain = (_disorder(tally.sum(axis=0)) - sum(_disorder(one) for one in tally)) / rows
        own = _disorder(np.append(sizes, max(0.0, rows - sizes.sum()))) / rows
        if gain > NOTHING and own > 0:
            gains[j] = gain, gain / own
    if not gains:
        return -1
    average = float(np.mean([gain for gain, _ in gains.values()]))
    return max((j for j in gains if gains[j][0] >= average - ENOUGH), key=lambda j: gains[j][1])


def _disorder(weights: FloatArray) -> float:
    """Total weight times entropy."""
    some = weights[weights > NOTHING]
    total = some.sum()
    return float((some * np.log2(total / some)).sum()) if len(some) else 0.0


def _promised(rows: float, errors: float) -> float:
    return float(rows * upper_error_rate(np.array([errors]), np.array([rows]), CONFIDENCE)[0]) if rows > NOTHING else 0.0


def _predict(node: Node, x: IntArray, rows: IntArray, predicted: IntArray) -> None:
    """A tested row whose value is missing, or was never seen, keeps what its node says."""
    if node.classes.sum() > NOTHING:
        predicted[rows] = int(node.classes.argmax())
    for value, child in enumerate(node.children if node.column >= 0 else []):
        part = rows[x[rows, node.column] == value]
        if len(part):
            _predict(child, x, part, predicted)
