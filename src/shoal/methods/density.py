"""Values to the modes of their column's density."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.contracts import Progress, Scope, quiet
from shoal.kernels.density import modes
from shoal.kernels.lvq import wlvq2
from shoal.kernels.som import best_units
from shoal.methods.coordinates import constant_columns
from shoal.methods.labels import Labelled
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


class Kde(Labelled):
    """Cut each column where its density is least and replace values by the mode they belong to (attribute-oriented KDE, Zouinina et al. 2019).

    It is perturbation, column by column, and does not give k-anonymity: records stay unique over several columns. With labels, the modes are moved
    by wLVQ2 and each value becomes the mean of those nearest to the same mode (KDE++ of 2020).
    """

    name: ClassVar[str] = "kde"
    title: ClassVar[str] = "Attribute-oriented kernel density"
    scope: ClassVar[Scope] = "table"
    guarantees: ClassVar[tuple[str, ...]] = ()
    smoothing: float = Field(
        1.0, gt=0, description="Bandwidth, as a multiple of Silverman's; smaller keeps more modes, and more records unique"
    )

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Column by column; missing values stay missing."""
        columns = self.chosen(table, roles, ("numeric",))
        classes = self.classes(table, roles, columns)
        changed: dict[str, Any] = {}
        warnings = [f"{self.name} changes each column by itself: it is perturbation, and does not give k-anonymity."]
        flat = []
        for done, column in enumerate(columns):
            values = table.number(column)
            known = ~np.isnan(values)
            released = np.full(len(values), np.nan)
            if known.any():
                released[known] = self.moded(values[known], None if classes is None else classes[known], chance.rng)
                if np.ptp(values[known]) > 0 and np.ptp(released[known]) == 0:
                    flat.append(column)
            changed[column] = table.as_column(column, released)
            progress(self.name, done + 1, len(columns))
        if flat:
            names = ", ".join(f"'{column}'" for column in flat)
            warnings.append(
                f"The density of {names} has one mode, so each such column is released as one value. A smaller smoothing finds more."
            )
        step = self.step(columns, self.guarantees)
        return Release.of(table, changed, roles, step, chance, (*warnings, *constant_columns(table, columns)))

    def moded(self, values: FloatArray, classes: IntArray | None, rng: Generator) -> FloatArray:
        """Each value's mode; with classes, the mean of the values at its prototype."""
        maxima, cuts = modes(values, self.smoothing)
        if classes is None:
            return maxima[np.searchsorted(cuts, values)]
        # LVQ's rates are for columns of one scale
        middle, scale = float(values.mean()), float(values.std()) or 1.0
        points = ((values - middle) / scale)[:, None]
        learnt = wlvq2(points, classes, ((maxima - middle) / scale)[:, None], rng)
        at = best_units(points * learnt.weights, learnt.units)[0]
        size = np.bincount(at)
        return np.asarray((np.bincount(at, values) / np.maximum(size, 1))[at])
