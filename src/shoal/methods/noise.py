"""Additive noise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import FloatArray
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.errors import counted
from shoal.methods.blocks import constant_ones
from shoal.methods.recoding import BatchMethod, Change, Decision
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.rows import Batch


class Noise(BatchMethod):
    """Add normal noise of p standard deviations to each value, independent or shaped like the data's own covariance (Brand 2002).

    It is perturbation: nothing is k-anonymous, records stay unique, and with little noise almost every record is found by its nearest
    neighbour. Variances grow by the factor 1 + p²; correlated noise keeps correlations. Missing values stay missing.
    """

    name: ClassVar[str] = "noise"
    title: ClassVar[str] = "Additive noise"
    scope: ClassVar[Scope] = "row"  # beside the row, only deviations are needed
    guarantees: ClassVar[tuple[str, ...]] = ()
    p: float = Field(0.1, gt=0, le=10, description="Standard deviation of the noise, as a share of the column's own")
    correlation: Literal["none", "data"] = Field("none", description="none: independent noise; data: noise with the data's covariance")

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """Every cell draws by the row it is in, so that the draws do not depend on where values are missing."""
        columns = self.chosen(table, roles, ("numeric",))
        shape = self.shape(table, columns)

        def noisy(batch: Batch) -> Change:
            values = batch.table.numbers(columns)
            draws = np.column_stack([chance.normal(batch.ids, column) for column in columns])
            moved = values + self.p * (draws @ shape.T)
            beyond = {}
            for j, column in enumerate(columns):
                low, high = batch.table.calendar(column)
                beyond[column] = int(((moved[:, j] < low) | (moved[:, j] > high)).sum())
                moved[:, j] = np.clip(moved[:, j], low, high)
            known = [j for j in range(len(columns)) if not np.isnan(values[:, j]).all()]
            return Change({columns[j]: batch.table.as_column(columns[j], moved[:, j]) for j in known}, tally=beyond)

        warnings = constant_ones(table, roles, columns)
        progress("noise", 1, 1)
        return Decision(self.step(columns, ()), noisy, warnings, chance=chance, seen=_beyond_calendar)

    def shape(self, table: Source, columns: tuple[str, ...]) -> FloatArray:
        """What independent standard normal draws are multiplied by."""
        moments = table.moments(columns)
        if self.correlation == "none":
            return np.diag(moments.deviations)
        weights, axes = np.linalg.eigh(moments.covariances)
        return np.asarray(axes * np.sqrt(np.maximum(weights, 0)))


def _beyond_calendar(beyond: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"Column '{column}': noise took {counted(rows, 'date')} out of the calendar; the calendar's first or last day is released instead. Use a smaller p."
        for column, rows in beyond.items()
        if rows
    )
