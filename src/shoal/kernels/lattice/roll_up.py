"""Every node's figures, by rolling up: each node is made from one a level below it in one column, whose classes are merged and counts added.

Depth first, a column at a time: while the first columns stand at their levels and the last at their lowest, a class is a number for its first
columns, a node of the column that is rolled up, and a number for its last columns. Good to about 100,000 nodes of a table like Adult.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import tally
from shoal.kernels.lattice.budget import UNLIMITED, Budget, Progress, Spending
from shoal.kernels.lattice.demands import Pairs, Secret, figures_of, judge, regrouped
from shoal.kernels.lattice.levels import Prices, Space, by_values
from shoal.kernels.lattice.nodes import Node, spent

Visit = Callable[["Node"], None]


class _Tail(NamedTuple):
    """What combinations hold from one column on, all at their lowest levels, numbered: the column's node, and the number of the rest."""

    node: Int32Array
    rest: IntArray


class _Classes(NamedTuple):
    """The classes of a beginning: the first columns have their levels, the others stand at their lowest."""

    head: IntArray  # a number for the levels fixed
    tail: IntArray  # a number for the others, see _Tail
    rows: IntArray
    paid: FloatArray  # what a record costs by the levels fixed
    pairs: list[Pairs]


def roll_up(
    space: Space,
    secrets: Sequence[Secret],
    k: int,
    visit: Visit,
    priced: Prices | None = None,
    budget: Budget = UNLIMITED,
    progress: Progress | None = None,
) -> int:
    """Visit every node between the lowest and the highest levels, or as many as the budget allows; how many were visited."""
    return _RollUp(space, secrets, k, visit, priced, budget, progress).run()


class _RollUp:
    """One walk: its columns, those with most values first, so that the many nodes at the end are made of few classes."""

    def __init__(
        self,
        space: Space,
        secrets: Sequence[Secret],
        k: int,
        visit: Visit,
        priced: Prices | None,
        budget: Budget,
        progress: Progress | None,
    ) -> None:
        self.space, self.secrets, self.k, self.visit, self.priced, self.progress = space, secrets, k, visit, priced, progress
        self.order = by_values(space)
        self.tails, self.whole = _tails(space, self.order)
        self.spending, self.visited = Spending(budget), 0

    def run(self) -> int:
        """Begin with no level fixed."""
        space, n = self.space, len(self.space.rows)
        number = np.zeros(n, np.int64)
        if not n:
            return 0
        tails = int(self.whole.max()) + 1  # the lowest levels may already make combinations equal
        rows = tally(self.whole, space.rows, tails)
        pairs = [regrouped(secret.pairs, self.whole, tails) for secret in self.secrets]
        self._column(_Classes(number[:tails], np.arange(tails), rows, np.zeros(tails), pairs), (), 0.0)
        return self.visited

    def _column(self, here: _Classes, levels: tuple[int, ...], fixed: float) -> None:
        """All levels of the next column, each made of the one below, and below each all levels of the columns to come."""
        at = len(levels)
        j, last = self.order[at], at + 1 == len(self.order)
        tail, lowest = self.tails[at], self.space.lowest[j]
        group, groups = number_pairs(here.head, tail.rest[here.tail])
        head, rest = np.empty(groups, np.int64), np.empty(groups, np.int64)
        head[group], rest[group] = here.head, tail.rest[here.tail]
        node, rows, pairs = tail.node[here.tail].astype(np.int64), here.rows, here.pairs
        paid = np.empty(groups)
        paid[group] = here.paid
        for level in range(lowest, self.space.highest[j] + 1):
            if level > lowest:
                node = self._parents(j, level)[node].astype(np.int64)
                to, many = number_pairs(group, node)
                rows, pairs = tally(to, rows, many), [regrouped(one, to, many) for one in pairs]
                group, node = _first(to, group, many), _first(to, node, many)
            if self.spending.over():
                return
            self.spending.passed += len(rows) + sum(len(one.group) for one in pairs)
            dearer, more = self._prices(j, level)
            so_far = paid[group] + dearer[node]
            if last:
                self._arrive((*levels, level), rows, so_far, fixed + more, pairs)
            else:
                heads = number_pairs(head[group], node)[0]
                self._column(_Classes(heads, rest[group], rows, so_far, pairs), (*levels, level), fixed + more)

    def _arrive(self, levels: tuple[int, ...], sizes: IntArray, paid: FloatArray, fixed: float, pairs: list[Pairs]) -> None:
        published, kept = judge(sizes, self.secrets, pairs, self.k)
        figures = figures_of(sizes, published, kept)
        named = [0] * len(levels)
        for j, level in zip(self.order, levels):
            named[j] = level
        self.visited += 1
        if self.progress:
            self.progress(self.visited, self.space.size)
        self.visit(Node(tuple(named), figures, fixed + spent(sizes, published, paid, figures, self.priced)))

    def _parents(self, j: int, level: int) -> Int32Array:
        """The node at this level over each node of the level below."""
        below, above = self.space.nodes[j][level - 1], self.space.nodes[j][level]
        parent = np.zeros(int(below.max()) + 1, np.int32)
        parent[below] = above
        return parent

    def _prices(self, j: int, level: int) -> tuple[FloatArray, float]:
        """What each node of a level costs a record, and what all records cost wherever they are."""
        nodes = self.space.nodes[j][level]
        of_node = np.zeros(int(nodes.max()) + 1)
        if self.priced is None:
            return of_node, 0.0
        cost = self.priced.cost[j]
        if self.priced.suppressed is None:
            return of_node, float(tally(self.space.codes[j], self.space.rows, cost.shape[1]) @ cost[level])
        of_node[nodes] = cost[level]
        return of_node, 0.0


def _tails(space: Space, order: Sequence[int]) -> tuple[list[_Tail], IntArray]:
    """From the last column to the first, what combinations hold from it on, and the number of each combination's whole."""
    number, tails = np.zeros(len(space.rows), np.int64), []
    for j in reversed(order):
        size = int(number.max(initial=0)) + 1
        distinct, number = np.unique(space.nodes[j][space.lowest[j]][space.codes[j]] * np.int64(size) + number, return_inverse=True)
        number = number.reshape(-1)
        tails.append(_Tail((distinct // size).astype(np.int32), distinct % size))
    return tails[::-1], number


def _first(to: IntArray, values: IntArray, many: int) -> IntArray:
    """What a number stands for: the same for all that got it."""
    found = np.empty(many, np.int64)
    found[to] = values
    return found


def number_pairs(first: IntArray, second: IntArray) -> tuple[IntArray, int]:
    """Equal pairs get the same number, in the order they first come, and how many there are."""
    ids = np.empty(len(first), np.int64)
    return ids, _numbered(first, second, int(first.max(initial=0)) + 1, int(second.max(initial=0)) + 1, ids)


@njit(cache=True)
def _numbered(first, second, heads, width, ids):
    n, number = len(first), 0
    if heads * width <= 8 * n + 1024:  # a cell for each pair there could be
        cells = np.full(heads * width, -1, np.int32)
        for i in range(n):
            key = first[i] * width + second[i]
            if cells[key] < 0:
                cells[key] = number
                number += 1
            ids[i] = cells[key]
        return number
    size = 16
    while size < 2 * n:
        size *= 2
    last, slots, keys = np.uint64(size - 1), np.full(size, -1, np.int32), np.empty(n, np.int64)
    for i in range(n):
        key = first[i] * width + second[i]
        hashed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        slot = (hashed ^ (hashed >> np.uint64(32))) & last
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot], keys[number] = number, key
            number += 1
        ids[i] = slots[slot]
    return number
