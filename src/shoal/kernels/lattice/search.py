"""Branch and bound over the lattice: columns get their levels one at a time, those with most values first.

Whatever levels the other columns get, classes below k stay below, and records cost at least what the levels fixed and the least levels left
cost. Before a column gets its level, every column left is tried alone with those fixed, and its least level raised while that is too fine
(forward checking); the levels of the next column are then tried from the least bound on.
"""

from collections.abc import Callable
from math import inf, prod
from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, Int32Array
from shoal.kernels.cells import tally
from shoal.kernels.lattice.budget import Budget, Progress, Spending
from shoal.kernels.lattice.descent import Levels, descend
from shoal.kernels.lattice.levels import TIE, Prices, Space, Value, by_values
from shoal.kernels.lattice.passes import Left, add_cost, fix, probe

ROUNDING = 2 * TIE  # sums along different paths differ by less
REPORTED = 3  # progress is told when so few columns have their levels


class Found(NamedTuple):
    """The best node, and what is left: none there loses less than `bound`."""

    best: Value | None
    bound: float  # mean over records and columns; infinite where nothing is left
    left: int  # nodes
    looked_at: int


class _Column(NamedTuple):
    """A column from each level on: nodes[a][l] is the node at level l of each node at level a, cost[a][l] what that costs a record."""

    nodes: list[list[Int32Array]]
    cost: list[list[FloatArray]]
    fixed: FloatArray  # by level, what all records cost wherever they are
    lowest: int
    highest: int


class _Point(NamedTuple):
    """The beginning of a node: the first columns have their levels."""

    left: Left
    base: Levels  # the level at which the codes of each other column stand
    least: Levels  # the least level of each other column
    levels: Levels  # of the columns fixed, in the order of the search
    dead: int
    fixed: float

    def deeper(self, level: int, least: Levels) -> Levels:
        """The least levels of all columns when the next one has this level."""
        return (*self.levels, level, *least[1:])


class Search:
    """One search: its best so far, and what is spent."""

    def __init__(
        self,
        space: Space,
        priced: Prices,
        k: int,
        limit: int,
        value: Callable[[Levels], Value],
        budget: Budget,
        progress: Progress | None = None,
    ) -> None:
        """value: counts a whole node, by what is asked beyond k too."""
        self.space, self.priced, self.k, self.limit, self.value, self.progress = space, priced, k, limit, value, progress
        self.order = by_values(space)
        self.columns = [_column(space, priced, j) for j in self.order]
        self.per_dead = 0.0 if priced.suppressed is None else float(priced.suppressed.sum())
        self.spending = Spending(budget)
        self.best: Value | None = None
        self.looked_at = self.decided = 0

    def run(self) -> Found:
        """Descend to a good node, then search all others."""
        started = Spending(self.spending.budget.share(0.2))

        def over() -> bool:
            started.passed = self.spending.passed
            return started.over()

        self.best = descend(self.space, self._counted, self.limit, over)
        bound, left = self._open(self._root())
        return Found(self.best, bound / self.priced.whole, left, self.looked_at)

    def _root(self) -> _Point:
        space, columns = self.space, self.columns
        least = tuple(column.lowest for column in columns)
        codes = np.ascontiguousarray(space.codes[self.order])
        left = Left(np.array([0, len(space.rows)]), codes, space.rows, np.zeros(len(space.rows)))
        for j, column in enumerate(columns):
            add_cost(left.codes[j], left.rows, left.due, column.cost[0][column.lowest])
        return _Point(left, (0,) * len(least), least, (), 0, float(sum(column.fixed[column.lowest] for column in columns)))

    def _open(self, begun: _Point) -> tuple[float, int]:
        """Search below a point; the least bound of what was not searched, and how many nodes that is."""
        self.looked_at += 1
        at = len(begun.levels)
        whole = prod(column.highest - column.lowest + 1 for column in self.columns[at:])
        decided = self.decided + whole
        point = self._forward(begun)
        unsearched, nodes = inf, 0
        for bound, level, dead in self._children(point) if point else ():
            assert point is not None
            if self._loses(bound, dead, point.deeper(level, point.least)):
                continue
            if self.spending.over():
                unsearched = min(unsearched, bound)
                nodes += prod(column.highest - least + 1 for column, least in zip(self.columns[at + 1 :], point.least[1:]))
            elif at + 1 == len(self.columns):
                self._node((*point.levels, level))
            else:
                below, more = self._open(self._fixed(point, level))
                unsearched, nodes = min(unsearched, below), nodes + more
        self.decided = decided - nodes
        if self.progress and at <= REPORTED:
            self.progress(self.decided, self.space.size)
        return unsearched, nodes

    def _children(self, point: _Point) -> list[tuple[float, int, int]]:
        """The levels that the next column may have, with bound and suppressed records, least bound first."""
        children = []
        for level in range(point.least[0], self.columns[len(point.levels)].highest + 1):
            dead, bound = self._probe(point, 0, level)
            if dead <= self.limit and not self._loses(bound, dead, point.deeper(level, point.least)):
                children.append((bound, level, dead))
        return sorted(children)

    def _probe(self, point: _Point, j: int, level: int) -> tuple[int, float]:
        """Records suppressed, and the bound, when column j of those left has this level."""
        left, column = point.left, self.columns[len(point.levels) + j]
        base, least = point.base[j], point.least[j]
        dearer, most = column.cost[base][level] - column.cost[base][least], self.limit - point.dead
        dead, alive = probe(left.start, left.codes[j], left.rows, left.due, column.nodes[base][level], dearer, self.k, most)
        self.spending.passed += len(left.rows)
        dead += point.dead
        return dead, point.fixed + column.fixed[level] - column.fixed[least] + dead * self.per_dead + alive

    def _loses(self, bound: float, dead: int, levels: Levels) -> bool:
        """Whether no node with so many suppressed or more, at these levels or above, can be the best."""
        if self.best is None:
            return False
        loss = bound / self.priced.whole
        if loss > self.best.loss * (1 + ROUNDING):
            return True
        if loss < self.best.loss * (1 - TIE):
            return False
        return (dead, self._named(levels)) >= (self.best.suppressed, self.best.levels)

    def _named(self, levels: Levels) -> Levels:
        """Levels of the search's order in that of the table."""
        named = [0] * len(levels)
        for j, level in zip(self.order, levels):
            named[j] = level
        return tuple(named)

    def _forward(self, point: _Point) -> _Point | None:
        """Raise the least level of every column left, while it alone with those fixed is too fine; None: no level is left."""
        for j in reversed(range(len(point.least))):
            column = self.columns[len(point.levels) + j]
            while True:
                level, base = point.least[j], point.base[j]
                dead, bound = self._probe(point, j, level)
                if dead <= self.limit and not self._loses(bound, dead, (*point.levels, *point.least)):
                    break
                if level == column.highest:
                    return None
                add_cost(point.left.codes[j], point.left.rows, point.left.due, column.cost[base][level + 1] - column.cost[base][level])
                least = (*point.least[:j], level + 1, *point.least[j + 1 :])
                point = point._replace(least=least, fixed=point.fixed + column.fixed[level + 1] - column.fixed[level])
        return point

    def _fixed(self, point: _Point, level: int) -> _Point:
        """The next column at this level, the others coarsened to their least levels: then more combinations are equal."""
        at, base, least = len(point.levels), point.base[0], point.least[0]
        column, others = self.columns[at], self.columns[at + 1 :]
        coarser = [other.nodes[a][b] for other, a, b in zip(others, point.base[1:], point.least[1:])]
        begins = np.cumsum([0] + [len(one) for one in coarser])
        dearer = column.cost[base][level] - column.cost[base][least]
        left, dead = fix(point.left, column.nodes[base][level], dearer, np.concatenate(coarser), begins, self.k)
        self.spending.passed += len(point.left.rows)
        fixed = point.fixed + column.fixed[level] - column.fixed[least]
        return _Point(left, point.least[1:], point.least[1:], (*point.levels, level), point.dead + dead, fixed)

    def _node(self, levels: Levels) -> None:
        """A whole node: counted anew, so that its value does not depend on the path."""
        value = self._counted(self._named(levels))
        if value.suppressed <= self.limit and value.beats(self.best):
            self.best = value

    def _counted(self, levels: Levels) -> Value:
        self.looked_at += 1
        self.spending.passed += len(self.columns) * len(self.space.rows)
        return self.value(levels)


def _column(space: Space, priced: Prices, j: int) -> _Column:
    nodes, cost = space.nodes[j], priced.cost[j]
    height, suppressing = len(nodes), priced.suppressed is not None
    ups: list[list[Int32Array]] = []
    costs: list[list[FloatArray]] = []
    for a in range(height):
        of_code = np.arange(nodes.shape[1]) if a == 0 else nodes[a]  # the search begins with codes, which level 0 may put together
        size = int(of_code.max(initial=0)) + 1
        up = np.zeros((height, size), np.int32)
        paid = np.zeros((height, size))
        up[a:, of_code] = nodes[a:]
        if suppressing:
            paid[a:, of_code] = cost[a:]
        ups.append(list(up))
        costs.append(list(paid))
    fixed = np.zeros(height) if suppressing else cost @ tally(space.codes[j], space.rows, nodes.shape[1])
    return _Column(ups, costs, fixed, space.lowest[j], space.highest[j])
