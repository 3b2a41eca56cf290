"""Rank swapping: exchange values between records of similar rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
from pydantic import Field

from shoal.contracts import Progress, Scope, quiet
from shoal.kernels.swaps import swap_partners
from shoal.methods.coordinates import ColumnMethod, constant_columns, numeric_matrix
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


class RankSwapping(ColumnMethod):
    """Swap each value with another whose rank is at most p % of the table away (Moore 1996).

    Every value stays in the table, so means and variances do not change; correlations do. It is perturbation: a record can stay unique,
    and whoever knows the window can search inside it. Missing values stay where they are; p counts the known ones.
    """

    name: ClassVar[str] = "rank-swapping"
    title: ClassVar[str] = "Rank swapping"
    scope: ClassVar[Scope] = "table"  # ranks are global
    guarantees: ClassVar[tuple[str, ...]] = ()
    p: float = Field(5.0, gt=0, le=100, description="Largest difference in rank, in percent of the records")

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Column by column; equal values are ranked in random order, so that row order says nothing."""
        columns = self.chosen(table, roles, ("numeric", "ordinal"))
        changed, rng = {}, chance.rng
        for done, column in enumerate(columns):
            values = numeric_matrix(table, roles, [column])[:, 0]
            known = np.flatnonzero(~np.isnan(values))
            order = known[np.lexsort((rng.random(len(known)), values[known]))]
            window = max(1, round(self.p / 100 * len(known)))
            received = np.arange(len(table))
            received[order] = order[swap_partners(len(order), window, rng.random(len(order)))]
            changed[column] = table.column(column).take(pa.array(received))
            progress("swapping", done + 1, len(columns))
        return Release.of(table, changed, roles, self.step(columns, ()), chance, constant_columns(table, columns))
