"""Bringing columns to one scale."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray


class Spread(NamedTuple):
    """Every value of a column, and how many rows have it; NaN where missing."""

    values: FloatArray
    rows: IntArray

    @property
    def known(self) -> "Spread":
        """Without what is missing."""
        there = ~np.isnan(self.values)
        return Spread(self.values[there], self.rows[there])

    @property
    def total(self) -> int:
        """Rows in all."""
        return int(self.rows.sum())

    @property
    def mean(self) -> float:
        """Of all rows, none of which is missing."""
        return float(np.average(self.values, weights=self.rows))

    def deviation(self, ddof: int) -> float:
        """Standard deviation of all rows, none of which is missing."""
        return float(np.sqrt(self.rows @ (self.values - self.mean) ** 2 / (self.total - ddof))) if self.total > ddof else 0.0


def standardized(values: FloatArray, every: Spread | None = None) -> FloatArray:
    """Mean 0 and sample standard deviation 1 over the known values, or over `every` value where these are some of them; a constant column is 0
    everywhere; NaN stays."""
    known = values[~np.isnan(values)]
    if not len(known):
        return values
    if every is None:
        mean, deviation, largest = known.mean(), known.std(ddof=1) if len(known) > 1 else 0.0, np.abs(known).max()
    else:
        mean, deviation, largest = every.known.mean, every.known.deviation(1), np.abs(every.known.values).max()
    # a deviation at the level of rounding is that of a constant column
    if deviation <= 1e-14 * largest:
        return np.where(np.isnan(values), np.nan, 0.0)
    return np.asarray((values - mean) / deviation)
