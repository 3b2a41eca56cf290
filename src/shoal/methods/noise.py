"""Additive noise."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.contracts import Progress, Scope, quiet
from shoal.methods.coordinates import ColumnMethod, constant_columns
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


class Noise(ColumnMethod):
    """Add normal noise of p standard deviations to each value, independent or shaped like the data's own covariance (Brand 2002).

    It is perturbation: nothing is k-anonymous, records stay unique, and with little noise almost every record is found by its nearest
    neighbour. Variances grow by the factor 1 + p²; correlated noise keeps correlations. Missing values stay missing.
    """

    name: ClassVar[str] = "noise"
    title: ClassVar[str] = "Additive noise"
    scope: ClassVar[Scope] = "table"  # deviations are global
    guarantees: ClassVar[tuple[str, ...]] = ()
    p: float = Field(0.1, gt=0, le=10, description="Standard deviation of the noise, as a share of the column's own")
    correlation: Literal["none", "data"] = Field("none", description="none: independent noise; data: noise with the data's covariance")

    def protect(self, table: Table, roles: Roles, rng: Generator, progress: Progress = quiet) -> Release:
        """Draw for every cell, so that the draws do not depend on where values are missing."""
        columns = self.chosen(table, roles, ("numeric",))
        values = table.numbers(columns)
        known = np.ma.masked_invalid(values)
        draws = rng.standard_normal(values.shape)
        if self.correlation == "data" and len(table) > 1:
            spread = np.ma.filled(np.ma.cov(known, rowvar=False), 0.0)  # type: ignore[no-untyped-call]
            spread = spread.reshape(len(columns), len(columns))
            weights, axes = np.linalg.eigh(spread)
            draws = draws @ (axes * np.sqrt(np.maximum(weights, 0))).T
        else:
            draws = draws * np.ma.filled(known.std(axis=0, ddof=1), 0.0) if len(table) > 1 else draws * 0.0
        noisy = values + self.p * draws
        changed = {column: table.as_column(column, noisy[:, j]) for j, column in enumerate(columns) if not np.isnan(values[:, j]).all()}
        progress("noise", 1, 1)
        return Release.of(table.with_columns(changed), roles, self.step(columns, ()), rng, constant_columns(table, columns))
