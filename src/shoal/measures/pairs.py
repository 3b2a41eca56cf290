"""Original and released values side by side, the way every loss measure reads them."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray
from shoal.errors import DataError
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


class Pairs(NamedTuple):
    """Row i of `original` is the record that row i of `released` was made from."""

    columns: tuple[str, ...]
    original: FloatArray
    released: FloatArray
    note: str  # what was left out, and why
    deviations: FloatArray  # of the originals, of which these may be a draw


def numeric_pairs(original: Table, release: Release, roles: Roles) -> Pairs:
    """The numeric quasi-identifiers on both sides. Columns that are constant or empty are left out, and said to be."""
    return release.once(
        ("numeric pairs", roles.quasi, roles.nominal, tuple(roles.ordinal)), lambda: _numeric_pairs(original, release, roles), original
    )


def _numeric_pairs(original: Table, release: Release, roles: Roles) -> Pairs:
    if len(release.source_row) != len(release.table):
        raise DataError("The release and its source rows differ in length. Measure a release with the run it came from.")
    columns, left_out = [], []
    for column in roles.quasi:
        if column not in release.table.columns or "numeric" not in (roles.scale(original, column), roles.scale(release.table, column)):
            continue
        if release.table.kind(column) not in ("number", "date", "empty") or original.kind(column) not in ("number", "date", "empty"):
            left_out.append(f"{column} (no longer a number)")
            continue
        values = original.number(column)
        known = values[~np.isnan(values)]
        if len(known) < 2 or known.min() == known.max():
            left_out.append(f"{column} ({'constant' if len(known) else 'no value'})")
        else:
            columns.append(column)
    note = f"Left out: {', '.join(left_out)}." if left_out else ""
    if not columns:
        note = (note + " There is no numeric quasi-identifier to compare.").strip()
    before = original.numbers(columns)[release.source_row]
    deviations = release.deviations(columns)
    if deviations is None:
        with warnings.catch_warnings():  # of rows that were not released a column may have no value
            warnings.simplefilter("ignore", RuntimeWarning)
            deviations = spread(before)
    return Pairs(tuple(columns), before, release.table.numbers(columns), note, deviations)


def spread(values: FloatArray) -> FloatArray:
    """Sample standard deviation of each column over its known values."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.nanstd(values, axis=0, ddof=1))


def scaled_difference(pairs: Pairs, scale: FloatArray) -> FloatArray:
    """|x - x'| / scale, cell by cell. Missing on both sides is no difference; missing on one side only counts as a whole scale."""
    x, y = pairs.original, pairs.released
    difference = np.abs(x - y) / scale
    return np.where(np.isnan(x) & np.isnan(y), 0.0, np.where(np.isnan(x) | np.isnan(y), 1.0, difference))


def covariance(values: FloatArray) -> FloatArray:
    """Covariance matrix over rows without a missing value."""
    whole = values[~np.isnan(values).any(axis=1)]
    if len(whole) < 2:
        return np.full((values.shape[1], values.shape[1]), np.nan)
    return np.asarray(np.cov(whole, rowvar=False)).reshape(values.shape[1], values.shape[1])


def correlation(covariances: FloatArray) -> FloatArray:
    """Correlation matrix; 0 where a column is constant."""
    deviation = np.sqrt(np.diag(covariances))
    scale = np.outer(deviation, deviation)
    return np.asarray(np.divide(covariances, scale, out=np.zeros_like(covariances), where=scale > 0))
