"""A node of the lattice with its figures and its cost, counted from the combinations; and what a node is worth."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.cells import tally
from shoal.kernels.lattice.demands import Figures, Secret, figures_of, judge, regrouped
from shoal.kernels.lattice.levels import Prices, Space, classes


class Node(NamedTuple):
    """A node of the lattice: its levels, its figures, and what all its records cost, if there are prices."""

    levels: tuple[int, ...]
    figures: Figures
    spent: float


def single(space: Space, levels: Sequence[int], secrets: Sequence[Secret], k: int, priced: Prices | None = None) -> Node:
    """One node, counted from the combinations."""
    ids, many = classes(space, levels)
    sizes = tally(ids, space.rows, many)
    paid = np.zeros(many)
    fixed = 0.0
    for j, cost in enumerate(priced.cost if priced else ()):
        if priced is not None and priced.suppressed is not None:
            of_class = np.empty(many)
            of_class[ids] = cost[levels[j]][space.codes[j]]
            paid += of_class
        else:
            fixed += float(tally(space.codes[j], space.rows, cost.shape[1]) @ cost[levels[j]])
    published, kept = judge(sizes, secrets, [regrouped(secret.pairs, ids, many) for secret in secrets], k)
    figures = figures_of(sizes, published, kept)
    return Node(tuple(int(level) for level in levels), figures, fixed + spent(sizes, published, paid, figures, priced))


def spent(sizes: IntArray, published: BoolArray, paid: FloatArray, figures: Figures, priced: Prices | None) -> float:
    """What published records cost, and suppressed ones."""
    if priced is None or priced.suppressed is None:
        return 0.0
    return float((sizes * paid)[published].sum()) + figures.suppressed * float(priced.suppressed.sum())
