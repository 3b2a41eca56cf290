"""Bringing columns to one scale."""

import numpy as np

from shoal.arrays import FloatArray


def standardized(values: FloatArray) -> FloatArray:
    """Mean 0 and sample standard deviation 1 over the known values; a constant column is 0 everywhere; NaN stays."""
    known = values[~np.isnan(values)]
    if not len(known):
        return values
    deviation = known.std(ddof=1) if len(known) > 1 else 0.0
    # a deviation at the level of rounding is that of a constant column
    if deviation <= 1e-14 * np.abs(known).max():
        return np.where(np.isnan(values), np.nan, 0.0)
    return np.asarray((values - known.mean()) / deviation)
