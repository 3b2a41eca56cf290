"""Datafly (Sweeney 1997, 2002): generalize the column with most values by one level until few enough records are left in small classes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.demands import secrets_of
from shoal.kernels.lattice.levels import space_of
from shoal.kernels.lattice.nodes import Node, single
from shoal.kernels.lattice.optimum import NoNodeError
from shoal.kernels.masks import Demand


def datafly(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    limit: int,
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
) -> list[Node]:
    """The nodes on the way, the last of which is published. Values are those of all records; of columns with as many, the first is taken."""
    space = space_of(codes, rows, hierarchies, lowest, highest)
    secrets = secrets_of(space, demand, rows)
    levels, way = list(space.lowest), []
    while True:
        way.append(single(space, levels, secrets, demand.k))
        if way[-1].figures.suppressed <= limit:
            return way
        values = [
            len(np.unique(space.nodes[j][levels[j]][space.codes[j]])) if levels[j] < space.highest[j] else 0 for j in range(space.columns)
        ]
        if not max(values):
            raise NoNodeError(limit)
        levels[int(np.argmax(values))] += 1
