"""Information loss of numeric columns: as published, in bounded forms, and by probability.

The published IL1..IL5 (Domingo-Ferrer & Torra 2001) divide by original values and blow up near zero; the forms ending in s divide by
deviations instead, and lead in reports.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from shoal.arrays import FloatArray
from shoal.measures.pairs import Pairs, correlation, covariance, numeric_pairs, scaled_difference
from shoal.measures.table_measure import TableMeasure
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import OfADraw, Score
from shoal.table import Table


class NumericLoss(TableMeasure):
    """A loss over the numeric quasi-identifiers; lower is better. Means and moments of a draw estimate those of all rows."""

    of_a_draw: ClassVar[OfADraw] = "estimate"

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Some quasi-identifier must be a number on both sides, and vary."""
        pairs = numeric_pairs(original, release, roles)
        return "" if pairs.columns else pairs.note

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """Compare what can be compared; say what could not be."""
        pairs = numeric_pairs(original, release, roles)
        value: float | None = None
        per_column: Mapping[str, float] = {}
        note, per_record = pairs.note, None
        if pairs.columns:
            with warnings.catch_warnings():  # a column released without any value has no mean; what comes of it is said below
                warnings.simplefilter("ignore", RuntimeWarning)
                value, per_column, more, per_record = self.compare(pairs)
            note = " ".join(part for part in (note, more) if part)
            if value is not None and not np.isfinite(value):
                value, note = (
                    None,
                    (note + " It cannot be computed: a statistic of the original or the release is zero or missing.").strip(),
                )
            per_column = {column: one for column, one in per_column.items() if np.isfinite(one)}
        return Score(self.name, self.title, value, self.better, self.bounds, None, note, per_column, per_record=per_record)

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """(value, value per column, note, value per record)."""
        raise TypeError(f"{type(self).__name__} does not say how it compares")


class IL1(NumericLoss):
    """Mean of |x - x'| / |x| over all cells, as published; cells that are 0 in the original are left out and counted."""

    name: ClassVar[str] = "il1"
    title: ClassVar[str] = "Relative difference of values (IL1)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Relative to each value itself."""
        usable = (pairs.original != 0) & ~np.isnan(pairs.original) & ~np.isnan(pairs.released)
        relative = np.divide(
            np.abs(pairs.original - pairs.released), np.abs(pairs.original), out=np.zeros_like(pairs.original), where=usable
        )
        left_out = int((~usable).sum())
        note = f"{left_out:,} cells that are 0 or missing are left out." if left_out else ""
        if not usable.any():
            return None, {}, note, None
        columns = {c: float(relative[usable[:, j], j].mean()) for j, c in enumerate(pairs.columns) if usable[:, j].any()}
        return float(relative[usable].mean()), columns, note, None


class IL2(NumericLoss):
    """Mean of |mean - mean'| / |mean| over the columns, as published."""

    name: ClassVar[str] = "il2"
    title: ClassVar[str] = "Relative difference of means (IL2)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Relative to each mean."""
        before, after = np.nanmean(pairs.original, axis=0), np.nanmean(pairs.released, axis=0)
        return _relative(before, after, pairs.columns)


class IL3(NumericLoss):
    """Mean of |v - v'| / |v| over the covariances of columns i <= j, as published (the printed range of the sum is wrong)."""

    name: ClassVar[str] = "il3"
    title: ClassVar[str] = "Relative difference of covariances (IL3)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Upper triangle with the diagonal."""
        upper = np.triu_indices(len(pairs.columns))
        return _relative(covariance(pairs.original)[upper], covariance(pairs.released)[upper])


class IL4(NumericLoss):
    """Mean of |v - v'| / v over the variances, as published."""

    name: ClassVar[str] = "il4"
    title: ClassVar[str] = "Relative difference of variances (IL4)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """The diagonal of the covariances."""
        before, after = np.diag(covariance(pairs.original)), np.diag(covariance(pairs.released))
        return _relative(before, after, pairs.columns)


class IL5(NumericLoss):
    """Mean of |r - r'| / |r| over the correlations of columns i < j, as published (the printed range of the sum is wrong)."""

    name: ClassVar[str] = "il5"
    title: ClassVar[str] = "Relative difference of correlations (IL5)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Upper triangle without the diagonal."""
        if len(pairs.columns) < 2:
            return None, {}, "One column has no correlation.", None
        upper = np.triu_indices(len(pairs.columns), 1)
        return _relative(correlation(covariance(pairs.original))[upper], correlation(covariance(pairs.released))[upper])


class IL(NumericLoss):
    """100 times the mean of IL1 to IL5, (2.8) of Abril's thesis; unbounded, and large wherever originals are near zero."""

    name: ClassVar[str] = "il"
    title: ClassVar[str] = "Information loss as published (IL)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """The five together."""
        return _mean_of([IL1(), IL2(), IL3(), IL4(), IL5()], pairs, 100)


class IL1s(NumericLoss):
    """Mean of |x - x'| / (√2 S) over all cells, S the column's deviation (Yancey, Winkler & Creecy 2002).

    A cell that is missing on one side only counts 1; missing on both counts 0.
    """

    name: ClassVar[str] = "il1s"
    title: ClassVar[str] = "Scaled difference of values (IL1s)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """In units of the column's own deviation."""
        cells = scaled_difference(pairs, np.sqrt(2) * pairs.deviations)
        return float(cells.mean()), dict(zip(pairs.columns, cells.mean(axis=0).tolist())), "", cells.mean(axis=1)


class IL2s(NumericLoss):
    """Mean of |mean - mean'| / S over the columns, S the column's deviation."""

    name: ClassVar[str] = "il2s"
    title: ClassVar[str] = "Scaled difference of means (IL2s)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """In units of the column's own deviation."""
        moved = np.abs(np.nanmean(pairs.original, axis=0) - np.nanmean(pairs.released, axis=0)) / pairs.deviations
        return float(moved.mean()), dict(zip(pairs.columns, moved.tolist())), "", None


class IL3s(NumericLoss):
    """Mean of |v - v'| / (s_i s_j) over the covariances of columns i <= j."""

    name: ClassVar[str] = "il3s"
    title: ClassVar[str] = "Scaled difference of covariances (IL3s)"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """In units of the two deviations."""
        before = covariance(pairs.original)
        deviation = np.sqrt(np.diag(before))
        upper = np.triu_indices(len(pairs.columns))
        moved = np.abs(before - covariance(pairs.released)) / np.outer(deviation, deviation)
        return float(moved[upper].mean()), {}, "", None


class IL5s(NumericLoss):
    """Mean of |r - r'| over the correlations of columns i < j."""

    name: ClassVar[str] = "il5s"
    title: ClassVar[str] = "Difference of correlations (IL5s)"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 2)

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """A correlation needs no scale."""
        if len(pairs.columns) < 2:
            return None, {}, "One column has no correlation.", None
        upper = np.triu_indices(len(pairs.columns), 1)
        moved = np.abs(correlation(covariance(pairs.original)) - correlation(covariance(pairs.released)))
        return float(moved[upper].mean()), {}, "", None


class ILs(NumericLoss):
    """100 times the mean of IL1s, IL2s, IL3s and IL5s: the published idea without its division by zero."""

    name: ClassVar[str] = "ils"
    title: ClassVar[str] = "Information loss, scaled forms"

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """The four together."""
        return _mean_of([IL1s(), IL2s(), IL3s(), IL5s()], pairs, 100)


class PIL(NumericLoss):
    """Probabilistic information loss (Mateo-Sanz, Domingo-Ferrer & Sebé 2005): how surely each statistic differs, 0 to 100.

    For means, variances, covariances, correlations and the 5..95 % quantiles: 100 · 2 P(0 <= Z <= |t' - t| / √Var t), averaged. It tends
    to 100 as the table grows, whatever the method: never compare it across tables of different length.
    """

    name: ClassVar[str] = "pil"
    title: ClassVar[str] = "Probabilistic information loss (PIL)"
    of_a_draw: ClassVar[OfADraw] = "withheld"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 100)

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Each statistic's own sampling variance, then the mean of the five kinds."""
        kinds = [_means(pairs), _variances(pairs), _covariances(pairs), _correlations(pairs), _quantiles(pairs)]
        values = [float(np.mean(kind)) for kind in kinds if len(kind)]
        return 100 * float(np.mean(values)), {}, "Grows with the number of rows; compare only releases of one table.", None


def _means(pairs: Pairs) -> FloatArray:
    x, y = pairs.original, pairs.released
    rows = (~np.isnan(x)).sum(axis=0)
    return _sureness(np.nanmean(y, axis=0) - np.nanmean(x, axis=0), np.nanvar(x, axis=0, ddof=1) / rows)


def _variances(pairs: Pairs) -> FloatArray:
    """Var of a sample variance: (m4 - m2²) / n, with central moments."""
    x = pairs.original - np.nanmean(pairs.original, axis=0)
    rows = (~np.isnan(x)).sum(axis=0)
    m2, m4 = np.nanmean(x**2, axis=0), np.nanmean(x**4, axis=0)
    return _sureness(np.nanvar(pairs.released, axis=0, ddof=1) - np.nanvar(pairs.original, axis=0, ddof=1), (m4 - m2**2) / rows)


def _covariances(pairs: Pairs) -> FloatArray:
    """Var of a sample covariance: (m22 - m11²) / n."""
    upper = np.triu_indices(len(pairs.columns), 1)
    whole = pairs.original[~np.isnan(pairs.original).any(axis=1)]
    if len(whole) < 2:
        return np.empty(0)
    x = whole - whole.mean(axis=0)
    m22 = (x**2).T @ (x**2) / len(x)
    m11 = x.T @ x / len(x)
    return _sureness((covariance(pairs.released) - covariance(pairs.original))[upper], ((m22 - m11**2) / len(x))[upper])


def _correlations(pairs: Pairs) -> FloatArray:
    """Var of a sample correlation: (1 - r²)² / n."""
    upper = np.triu_indices(len(pairs.columns), 1)
    before, after = correlation(covariance(pairs.original))[upper], correlation(covariance(pairs.released))[upper]
    return _sureness(after - before, (1 - before**2) ** 2 / len(pairs.original))


def _quantiles(pairs: Pairs) -> FloatArray:
    """Var of a sample quantile: q (1 - q) / (n f²), f the density there, estimated from the spacing of neighbouring quantiles."""
    share = np.arange(0.05, 0.951, 0.05)
    result = []
    for j in range(len(pairs.columns)):
        x, y = pairs.original[:, j], pairs.released[:, j]
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
        if not len(y):
            result.append(np.ones(len(share)))
            continue
        step = min(0.025, 0.5 * len(x) ** -0.2)
        gap = np.quantile(x, np.minimum(share + step, 1)) - np.quantile(x, np.maximum(share - step, 0))
        inverse_density = gap / (np.minimum(share + step, 1) - np.maximum(share - step, 0))
        result.append(_sureness(np.quantile(y, share) - np.quantile(x, share), share * (1 - share) / len(x) * inverse_density**2))
    return np.concatenate(result) if result else np.empty(0)


def _sureness(difference: FloatArray, variance: FloatArray) -> FloatArray:
    """2 P(0 <= Z <= |t' - t| / √Var t); no variance: 0 if equal, else 1. What the release no longer has is surely different."""
    difference = np.abs(np.nan_to_num(difference, nan=np.inf))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0, 0.0, difference / np.sqrt(np.maximum(variance, 0)))
    return np.array([math.erf(each / math.sqrt(2)) for each in z.ravel()]).reshape(z.shape)


def _relative(before: FloatArray, after: FloatArray, columns: tuple[str, ...] = ()) -> tuple[float | None, dict[str, float], str, None]:
    """Mean of |before - after| / |before|; statistics that are 0 are left out and counted."""
    usable = (before != 0) & ~np.isnan(before) & ~np.isnan(after)
    if not usable.any():
        return None, {}, "Every statistic of the original is zero or missing.", None
    moved = np.abs(before - after)[usable] / np.abs(before)[usable]
    note = f"{int((~usable).sum())} statistics that are 0 or missing are left out." if not usable.all() else ""
    named = dict(zip(np.array(columns)[usable].tolist(), moved.tolist())) if columns else {}
    return float(moved.mean()), named, note, None


def _mean_of(parts: list[NumericLoss], pairs: Pairs, factor: float) -> tuple[float | None, dict[str, float], str, None]:
    results = {part.name: part.compare(pairs) for part in parts}
    values = [result[0] for result in results.values() if result[0] is not None and np.isfinite(result[0])]
    missing = [name for name, result in results.items() if result[0] is None or not np.isfinite(result[0])]
    note = f"Without {', '.join(missing)}, which cannot be computed here." if missing else ""
    return (factor * float(np.mean(values)) if values else None), {}, note, None
