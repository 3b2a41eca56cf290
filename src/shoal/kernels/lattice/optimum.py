"""The node of least loss, for losses that are sums over columns: proven, or with a bound below which no node lies.

What is asked beyond k is counted at whole nodes: more classes are then suppressed, which never makes a node cheaper, so the bounds of k alone
hold. A search that stops early also bounds blocks of columns: at any node the loss is at least the sum, over disjoint blocks of columns, of
the least loss of each block by itself within the same limit.
"""

from collections.abc import Sequence
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cells import tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.budget import UNLIMITED, Budget, Progress
from shoal.kernels.lattice.demands import Secret, secrets_of
from shoal.kernels.lattice.descent import Levels
from shoal.kernels.lattice.levels import TIE, Loss, Prices, Space, Value, by_values, number_tuples, prices, space_of
from shoal.kernels.lattice.nodes import single
from shoal.kernels.lattice.search import Search
from shoal.kernels.masks import Demand

ROUNDING = 1e-9  # of effective values
SEARCHED = 2 / 3  # of the budget; the rest is for blocks, should the search not end


class NoNodeError(ValueError):
    """No node within the levels allowed keeps what is asked, or none was met before the search had to stop."""

    def __init__(self, limit: int, left_out: int = 0) -> None:
        asked = f"what is asked is kept with at most {limit:,} records suppressed"
        if left_out:
            found = f"No node looked at is one where {asked}, and {left_out:,} were left out: allow more time, or ask for less."
        else:
            found = f"At no levels between the lowest and the highest allowed {asked}: allow more of either, or ask for less."
        super().__init__(found)


class Optimum(NamedTuple):
    """A node, and what is known of all others: none loses less than `bound`."""

    levels: Levels
    loss: float
    bound: float
    proven: bool  # nothing loses less; where nothing was left out, ties are decided too: fewer suppressed, then smaller levels
    suppressed: int  # records
    looked_at: int  # nodes, and beginnings of nodes
    left_out: int  # nodes neither looked at nor ruled out

    @property
    def gap(self) -> float:
        """The share of the loss that a better node could save at most."""
        return (self.loss - self.bound) / self.loss if self.loss > 0 else 0.0


def optimum(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    limit: int,
    loss: Loss,
    weights: Sequence[float] | None = None,
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
    budget: Budget = UNLIMITED,
    progress: Progress | None = None,
) -> Optimum:
    """The best node at which at most `limit` records are in classes that keep too little; the loss is a mean over records and columns."""
    space = space_of(codes, rows, hierarchies, lowest, highest)
    priced = prices(space, loss, weights)
    secrets = secrets_of(space, demand, rows)
    within = min(limit, space.total)
    least = fewest_records(demand)
    found = Search(space, priced, least, within, counting(space, secrets, demand.k, priced), budget.share(SEARCHED), progress).run()
    bound = found.bound
    if found.left and space.columns > 1:
        bound = max(bound, _blocks(space, priced, least, within, budget.share(1 - SEARCHED)))
    return concluded(found.best, bound, limit, found.looked_at, found.left)


def concluded(best: Value | None, bound: float, limit: int, looked_at: int, left_out: int) -> Optimum:
    """What a search found; no node at all is an error where none was left out, or none was met."""
    if best is None:
        raise NoNodeError(limit, left_out)
    bound = float(min(bound, best.loss))
    return Optimum(best.levels, float(best.loss), bound, bound >= best.loss * (1 - TIE), best.suppressed, looked_at, left_out)


def fewest_records(demand: Demand) -> int:
    """No class with fewer keeps what is asked: so many different or effective values are in at least as many records."""
    if demand.sensitive is None:
        return demand.k
    return max(demand.k, int(np.max(demand.l)), ceil(float(np.max(demand.entropy)) - ROUNDING))


def counting(space: Space, secrets: Sequence[Secret], k: int, priced: Prices) -> Any:
    """How a whole node is counted."""

    def value(levels: Levels) -> Value:
        node = single(space, levels, secrets, k, priced)
        return Value(node.spent / priced.whole, node.figures.suppressed, node.levels)

    return value


def _blocks(space: Space, priced: Prices, k: int, limit: int, budget: Budget) -> float:
    """The best bound of a few ways to cut the columns, by their number of values, into two blocks."""
    order, d = by_values(space), space.columns
    cuts = sorted({max(d - 2, 1), max(2 * d // 3, 1), max(d // 2, 1)})
    bound = 0.0
    for cut in cuts:
        blocks = [order[:cut], order[cut:]]
        bound = max(bound, sum(_block(space, priced, k, limit, block, budget.share(1 / len(cuts) / len(blocks))) for block in blocks))
    return bound


def _block(space: Space, priced: Prices, k: int, limit: int, columns: Sequence[int], budget: Budget) -> float:
    """No node loses less in these columns."""
    some = np.array(columns)
    ids = np.empty(len(space.rows), np.int64)
    many = number_tuples(space.codes[some], ids)
    codes = np.empty((len(some), many), np.int32)
    codes[:, ids] = space.codes[some]
    low, high = (tuple(levels[j] for j in columns) for levels in (space.lowest, space.highest))
    part = Space(codes, tally(ids, space.rows, many), [space.nodes[j] for j in columns], ids, low, high)
    paid = Prices([priced.cost[j] for j in columns], None if priced.suppressed is None else priced.suppressed[some], priced.whole)
    found = Search(part, paid, k, limit, counting(part, [], k, paid), budget).run()
    return min(found.bound, inf if found.best is None else found.best.loss)
