"""Sums of squares, and how far each column's distribution moved."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal.arrays import FloatArray
from shoal.cell import SUPPRESSED, expected_numbers, is_generalized, read, value_shares
from shoal.measures.loss import NumericLoss
from shoal.measures.pairs import Pairs, scaled_difference, spread
from shoal.measures.table_measure import Bounds, QuasiMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import OfADraw, Score
from shoal.table import Table

Compared = tuple[float | None, dict[str, float], str, FloatArray | None]


class SSE(NumericLoss):
    """Sum of squared differences between original and released values, each column in its own standard deviations: (2.9)."""

    name: ClassVar[str] = "sse"
    title: ClassVar[str] = "Sum of squared errors (SSE)"
    of_a_draw: ClassVar[OfADraw] = "withheld"  # a sum grows with the rows

    def compare(self, pairs: Pairs) -> Compared:
        """Cell by cell."""
        cells = scaled_difference(pairs, spread(pairs.original)) ** 2
        return float(cells.sum()), dict(zip(pairs.columns, cells.sum(axis=0).tolist())), "", cells.sum(axis=1)


class SSA(NumericLoss):
    """Sum of squares of the released values around the original means, in standard deviations: (2.10); high means little was averaged away."""

    name: ClassVar[str] = "ssa"
    title: ClassVar[str] = "Sum of squares between groups (SSA)"
    of_a_draw: ClassVar[OfADraw] = "withheld"  # a sum grows with the rows
    better = "higher"

    def compare(self, pairs: Pairs) -> Compared:
        """Around the original mean."""
        cells = np.nan_to_num((pairs.released - np.nanmean(pairs.original, axis=0)) / spread(pairs.original)) ** 2
        return float(cells.sum()), dict(zip(pairs.columns, cells.sum(axis=0).tolist())), "", None


class SST(NumericLoss):
    """Total sum of squares of the original around its means, in standard deviations: (2.11); SSE + SSA for microaggregation."""

    name: ClassVar[str] = "sst"
    title: ClassVar[str] = "Total sum of squares (SST)"
    of_a_draw: ClassVar[OfADraw] = "withheld"  # a sum grows with the rows
    better = "neither"

    def compare(self, pairs: Pairs) -> Compared:
        """A property of the original alone."""
        cells = np.nan_to_num((pairs.original - np.nanmean(pairs.original, axis=0)) / spread(pairs.original)) ** 2
        return float(cells.sum()), dict(zip(pairs.columns, cells.sum(axis=0).tolist())), "", None


class SSERatio(NumericLoss):
    """SSE / SST of (2.12): the share of the original's variation that is gone; 0 none, 1 as much as one mean for all."""

    name: ClassVar[str] = "sse-ratio"
    title: ClassVar[str] = "Variation lost (SSE / SST)"

    def compare(self, pairs: Pairs) -> Compared:
        """Over all columns, and column by column."""
        error, by_column, _, per_record = SSE().compare(pairs)
        total, total_by_column, _, _ = SST().compare(pairs)
        if not total or error is None:
            return None, {}, "The original does not vary.", None
        return error / total, {c: by_column[c] / varies for c, varies in total_by_column.items() if varies}, "", per_record


class DistributionDistance(QuasiMeasure):
    """How far each column's distribution moved: Kolmogorov-Smirnov for numbers and levels, total variation for categories; 0 same, 1 apart.

    Missing is a value of its own: for numbers the larger of the distance of the known values and the change in the share of missing.
    """

    name: ClassVar[str] = "distribution-distance"
    title: ClassVar[str] = "Largest shift of a column's distribution"
    bounds: ClassVar[Bounds] = (0, 1)
    of_a_draw: ClassVar[OfADraw] = "estimate"

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """The worst column, and each."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        shifts = {}
        for column in released_quasi(release, roles):
            both_numbers = {original.kind(column), release.table.kind(column)} <= {"number", "date"}
            if original.kind(column) in ("number", "date") and is_generalized(original, release.table, column):
                shifts[column] = _kolmogorov_smirnov(original.number(column)[release.source_row], expected_numbers(release.table, column))
            elif roles.scale(original, column) == "ordinal" and not is_generalized(original, release.table, column):
                before, after = roles.ordinal_codes(original, column), roles.ordinal_codes(release.table, column)
                shifts[column] = _kolmogorov_smirnov(before[release.source_row], after)
            elif roles.scale(original, column) != "numeric" or not both_numbers:
                shifts[column] = _total_variation(original, release.table, column)
            else:
                shifts[column] = _kolmogorov_smirnov(original.number(column)[release.source_row], release.table.number(column))
        return Score(self.name, self.title, max(shifts.values()), self.better, self.bounds, None, "", shifts)


class EarthMoversDistance(NumericLoss):
    """Mean over the columns of the work needed to turn one distribution into the other, in the column's standard deviations."""

    name: ClassVar[str] = "earth-movers-distance"
    title: ClassVar[str] = "Work to undo the change of distribution"

    def compare(self, pairs: Pairs) -> Compared:
        """For equally many values the optimal plan pairs them in sorted order; else by quantiles."""
        work = {}
        for j, column in enumerate(pairs.columns):
            x, y = (np.sort(side[~np.isnan(side[:, j]), j]) for side in (pairs.original, pairs.released))
            if not len(y):
                continue
            if len(x) != len(y):
                share = (np.arange(2000) + 0.5) / 2000
                x, y = np.quantile(x, share), np.quantile(y, share)
            work[column] = float(np.abs(x - y).mean() / pairs.deviations[j])
        note = "" if work else "No column has a released value."
        return (float(np.mean(list(work.values()))) if work else None), work, note, None


def _kolmogorov_smirnov(x: FloatArray, y: FloatArray) -> float:
    missing = abs(float(np.isnan(x).mean()) - float(np.isnan(y).mean()))
    x, y = np.sort(x[~np.isnan(x)]), np.sort(y[~np.isnan(y)])
    if not len(x) or not len(y):
        return missing
    at = np.concatenate([x, y])
    gap = np.abs(np.searchsorted(x, at, "right") / len(x) - np.searchsorted(y, at, "right") / len(y)).max()
    return max(missing, float(gap))


def _total_variation(original: Table, released: Table, column: str) -> float:
    shares: dict[str | None, list[float]] = {}
    for side, table in enumerate((original, released)):
        counts = np.bincount(table.codes(column))
        sets = side == 1 and is_generalized(original, released, column)
        for level, count in zip(table.levels(column).to_pylist(), counts.tolist()):
            inside = value_shares(read(level)) or {SUPPRESSED: 1.0} if sets else {None if level is None else str(level): 1.0}
            for value, share in inside.items():
                shares.setdefault(value, [0.0, 0.0])[side] += share * count / len(table)
    return sum(abs(before - after) for before, after in shares.values()) / 2
