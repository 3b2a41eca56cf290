"""The nodes near one of the lattice, with their figures: those a step up or down from it first, then those next to the best of these."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.best import LossName, additive_loss, worth_of
from shoal.kernels.lattice.budget import UNLIMITED, Budget, Progress, Spending
from shoal.kernels.lattice.demands import Figures, secrets_of
from shoal.kernels.lattice.descent import Levels, higher, lower
from shoal.kernels.lattice.levels import Value, prices, space_of
from shoal.kernels.lattice.nodes import single
from shoal.kernels.masks import Demand

STEPS = 2  # up or down, from the node in the middle


class Neighbour(NamedTuple):
    """A node, so many steps from the one in the middle."""

    value: Value
    figures: Figures
    steps: int


def near(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    limit: int,
    middle: Levels,
    loss: LossName = "iyengar",
    weights: Sequence[float] | None = None,
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
    most: int = 100,
    budget: Budget = UNLIMITED,
    progress: Progress | None = None,
) -> list[Neighbour]:
    """The node in the middle and at most so many in all, each counted from the combinations as the search counts whole nodes."""
    space = space_of(codes, rows, hierarchies, lowest, highest)
    additive = additive_loss(loss, codes, rows, hierarchies)
    priced = None if additive is None else prices(space, additive, weights)
    secrets, worth, spending = secrets_of(space, demand, rows), worth_of(loss, space, priced), Spending(budget)
    found: dict[Levels, Neighbour] = {}

    def count(levels: Levels, steps: int) -> None:
        node = single(space, levels, secrets, demand.k, priced)
        found[levels] = Neighbour(worth(node), node.figures, steps)
        if progress:
            progress(len(found), most)

    count(tuple(middle), 0)
    for steps in range(1, STEPS + 1):
        for here in sorted(
            (one for one in found.values() if one.steps == steps - 1), key=lambda one: (one.value.suppressed > limit, one.value)
        ):
            for levels in (*lower(space, here.value.levels), *higher(space, here.value.levels)):
                if len(found) >= most or spending.over():
                    return list(found.values())
                if levels not in found:
                    count(levels, steps)
    return list(found.values())
