"""The best node under any loss and any demand, by the way that is exact for them; or near the best, saying how many nodes it left out.

Losses that are sums over columns, with k alone: branch and bound. Any other loss or demand: every node is rolled up, up to MOST_NODES of them.
In a larger lattice a loss that is a sum is still searched by branch and bound, whole nodes counted by all that is asked; for discernibility
and class size the nodes around the best found are looked at, best first.
"""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cells import tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.budget import UNLIMITED, Budget, Progress, Spending
from shoal.kernels.lattice.demands import Secret, secrets_of
from shoal.kernels.lattice.descent import Levels, descend, lower, traded
from shoal.kernels.lattice.levels import Loss, Prices, Space, Value, classes, entropy, iyengar, precision, prices, space_of
from shoal.kernels.lattice.nodes import Node, single
from shoal.kernels.lattice.optimum import NoNodeError, Optimum, concluded, optimum
from shoal.kernels.lattice.roll_up import roll_up
from shoal.kernels.masks import Demand

LossName = Literal["iyengar", "precision", "entropy", "discernibility", "class-size"]
MOST_NODES = 100_000
ROLLED = 0.75  # of the budget; the rest is for a search of the best, should not all nodes have been rolled up
NEAR = 2000  # nodes around the best that are looked at in a lattice too large to roll up
ROUNDING = 1e-9  # costs summed in another order differ by less; nodes as near as this are counted anew


def best(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    limit: int,
    loss: LossName = "iyengar",
    weights: Sequence[float] | None = None,
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
    budget: Budget = UNLIMITED,
    progress: Progress | None = None,
    most_nodes: int = MOST_NODES,
) -> Optimum:
    """The node of least loss at which at most `limit` records are suppressed.

    Discernibility: the sum of squared sizes of classes, each suppressed record counting as many as the table has. Class size: the mean size,
    all suppressed records being one class. The others: means over records and columns, see `levels`.
    """
    additive = additive_loss(loss, codes, rows, hierarchies)
    if additive is None and weights is not None:
        raise ValueError(f'The loss "{loss}" has no columns to weigh. Leave out the weights, or take iyengar, precision or entropy.')
    space = space_of(codes, rows, hierarchies, lowest, highest)
    small = space.size <= most_nodes
    if additive is not None and (demand.sensitive is None or not small):
        return optimum(codes, rows, hierarchies, demand, limit, additive, weights, lowest, highest, budget, progress)
    secrets = secrets_of(space, demand, rows)
    priced = None if additive is None else prices(space, additive, weights)
    worth = worth_of(loss, space, priced)
    if not small:
        return _nearby(space, secrets, demand.k, limit, loss, worth, budget, progress)
    found = _Best(space, secrets, demand.k, limit, worth, priced)
    visited = roll_up(space, secrets, demand.k, found.visit, priced, budget.share(ROLLED), progress)
    rolled, left_out, rest = found.conclude(), space.size - visited, budget.share(1 - ROLLED)
    if not left_out:
        return concluded(rolled, inf, limit, visited, 0)
    try:
        if additive is None:
            other = _nearby(space, secrets, demand.k, limit, loss, worth, rest, None)
        else:
            other = optimum(codes, rows, hierarchies, demand, limit, additive, weights, lowest, highest, rest)
    except NoNodeError:
        return concluded(rolled, 0.0, limit, visited, left_out)
    value = Value(other.loss, other.suppressed, other.levels)
    better = value if value.beats(rolled) else rolled
    return concluded(better, other.bound, limit, visited + other.looked_at, min(left_out, other.left_out))


def additive_loss(loss: LossName, codes: NDArray[Any], rows: NDArray[Any] | None, hierarchies: Sequence[CodedHierarchy]) -> Loss | None:
    """The costs of a loss that is a sum over columns; None: it is none."""
    match loss:
        case "iyengar":
            return iyengar(hierarchies)
        case "precision":
            return precision(hierarchies)
        case "entropy":
            return entropy(codes, np.ones(len(codes), np.int64) if rows is None else rows, hierarchies)
    return None


def worth_of(loss: LossName, space: Space, priced: Prices | None) -> Callable[[Node], Value]:
    """How a node is valued."""

    def value(node: Node) -> Value:
        figures = node.figures
        if priced is not None:
            return Value(node.spent / priced.whole, figures.suppressed, node.levels)
        if loss == "discernibility":
            return Value(float(figures.discernibility), figures.suppressed, node.levels)
        return Value(space.total / max(figures.published + (figures.suppressed > 0), 1), figures.suppressed, node.levels)

    return value


def _least(loss: LossName, space: Space, k: int) -> float:
    """No node has a smaller discernibility or class size: classes have k records, and hold whole classes of the lowest levels."""
    ids, many = classes(space, space.lowest)
    sizes, total = tally(ids, space.rows, many), space.total
    if loss == "discernibility":
        return float(max((sizes * sizes).sum(), total * min(k, total)))
    return total / max(min(total // k + 1, many), 1)


class _Best:
    """The best of the nodes visited; those that rounding alone parts are counted anew, so that ties do not depend on the path."""

    def __init__(
        self, space: Space, secrets: Sequence[Secret], k: int, limit: int, worth: Callable[[Node], Value], priced: Prices | None
    ) -> None:
        self.space, self.secrets, self.k, self.limit, self.worth, self.priced = space, secrets, k, limit, worth, priced
        self.least = inf
        self.near: list[Value] = []

    def visit(self, node: Node) -> None:
        """One more node."""
        value = self.worth(node)
        if value.suppressed > self.limit or value.loss > self.least * (1 + ROUNDING):
            return
        self.near.append(value)
        if value.loss < self.least:
            self.least = value.loss
            self.near = [one for one in self.near if one.loss <= self.least * (1 + ROUNDING)]

    def conclude(self) -> Value | None:
        """The best of all."""
        found: Value | None = None
        for one in self.near:
            value = self.worth(single(self.space, one.levels, self.secrets, self.k, self.priced)) if len(self.near) > 1 else one
            if value.beats(found):
                found = value
        return found


def _nearby(
    space: Space,
    secrets: Sequence[Secret],
    k: int,
    limit: int,
    loss: LossName,
    worth: Callable[[Node], Value],
    budget: Budget,
    progress: Progress | None,
) -> Optimum:
    """Descend, then look at the nodes next to the best ones, best first."""
    spending, seen = Spending(budget), dict[Levels, Value]()

    def value(levels: Levels) -> Value:
        spending.passed += space.columns * len(space.rows)
        seen[levels] = worth(single(space, levels, secrets, k))
        if progress:
            progress(len(seen), space.size)
        return seen[levels]

    found = descend(space, value, limit, spending.over)
    start = value(space.highest) if found is None else found
    waiting, queued = [(start.suppressed > limit, start)], {start.levels}
    looks = len(seen) + NEAR
    while waiting and len(seen) < looks and not spending.over():
        _, here = heappop(waiting)
        for levels in (*lower(space, here.levels), *traded(space, here.levels)):
            if levels in queued or len(seen) >= looks or spending.over():
                continue
            queued.add(levels)
            one = seen[levels] if levels in seen else value(levels)
            heappush(waiting, (one.suppressed > limit, one))
            if one.suppressed <= limit and one.beats(found):
                found = one
    return concluded(found, _least(loss, space, k), limit, len(seen), space.size - len(seen))
