"""The numbers behind before-and-after pictures, in a form that may be published.

Bins are cut at round numbers, years or months inside the released values' range, their ends are open, and shares are rounded to whole per
cent. A category is named only where at least five released records hold it, and at least as many as k-anonymity is promised for, persons
where persons are told; the rest is counted under "other". So no picture shows an original value, or a bin only a few originals are in.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray
from shoal.cell import SUPPRESSED, expected_numbers, is_generalized, read, value_shares
from shoal.errors import number
from shoal.release import Release
from shoal.report.figures import BeforeAfter
from shoal.roles import Roles
from shoal.table import Table

BINS = 12
CATEGORIES = 12
FEWEST = 5  # records that a picture tells of
SHARED = "A set or a group counts in parts for each of its values."
MIDDLE = "A set counts at its mean, an interval at its middle."
DAY = 86_400_000_000  # microseconds


def before_after(original: Table, release: Release, roles: Roles) -> list[BeforeAfter]:
    """One picture for each quasi-identifier."""
    pictures = []
    fewest = max(FEWEST, release.k or 0)
    weights = _weights(release)
    for column in roles.quasi:
        if column not in release.table.columns or release.table.missing(column).all():
            continue
        if column in release.table.cells and release.table.levels(column).to_pylist() == [SUPPRESSED]:
            continue  # there is no after to show
        kinds = (original.kind(column), release.table.kind(column))
        if roles.scale(original, column) == "numeric" and kinds[0] in ("number", "date"):
            after = expected_numbers(release.table, column) if kinds[1] == "text" else release.table.number(column)
            if not np.isnan(after).all():  # else all suppressed: there is no after to show
                low, high = np.quantile(after[~np.isnan(after)], [0.02, 0.98])
                timed = kinds[0] == "date" and not pa.types.is_date(original.column(column).type)
                bins = _round_dates(low, high, DAY if timed else 1) if kinds[0] == "date" else _round_bins(low, high)
                how = MIDDLE if kinds[1] == "text" else ""
                pictures.append(replace(_binned(column, original.number(column), after, bins, fewest), how=how))
        elif "date" not in kinds:
            pictures.append(_categories(column, original, release.table, roles, weights, fewest))
    drawn = "" if release.rows is None else f"Drawn from {number(len(release))} of {number(release.total)} rows, chosen at random."
    return [replace(one, how=f"{one.how} {drawn}".strip()) for one in pictures] if drawn else pictures


def _weights(release: Release) -> FloatArray:
    """What each released row counts: rows of one person count one together."""
    if release.persons is None:
        return np.ones(len(release))
    return np.asarray(1 / np.bincount(release.persons)[release.persons])


class _Bins(NamedTuple):
    edges: FloatArray
    labels: list[str]


def _binned(column: str, before: FloatArray, after: FloatArray, bins: _Bins, fewest: int) -> BeforeAfter:
    edges, names = bins
    labels = [f"< {names[0]}", *names[:-1], f"≥ {names[-1]}"]
    shares = []
    for side in (before, after):
        counts = np.bincount(np.searchsorted(edges, side[~np.isnan(side)], "right"), minlength=len(edges) + 1)
        shares.append(_rounded([*counts.tolist(), int(np.isnan(side).sum())], len(side), fewest))
    if shares[0][-1] == shares[1][-1] == 0:
        return BeforeAfter(column, tuple(labels), shares[0][:-1], shares[1][:-1])
    return BeforeAfter(column, (*labels, "missing"), shares[0], shares[1])


def _categories(column: str, original: Table, released: Table, roles: Roles, weights: FloatArray, fewest: int) -> BeforeAfter:
    counts = [_counts(original, table, column, np.ones(len(table))) for table in (original, released)]
    held = _counts(original, released, column, weights)
    named = [level for level in held if level is not None and held[level] >= fewest]
    if roles.scale(original, column) == "ordinal":
        order = [level for level in roles.levels(original, column) if level in named]
    else:
        order = sorted(named, key=lambda level: (-counts[1][level], level))
    shown = order[:CATEGORIES]
    shares = []
    for side, rows in zip(counts, (len(original), len(released))):
        listed = [side.get(level, 0) for level in shown]
        shares.append(_rounded([*listed, side.get(None, 0), rows - sum(listed) - side.get(None, 0)], rows, fewest))
    starred = SUPPRESSED in released.levels(column).to_pylist() and is_generalized(original, released, column)
    rest = "all others" if "other" in {level.casefold() for level in shown} else "other"
    labels = [*shown, "missing", f"{rest} or {SUPPRESSED}" if starred else rest]
    keep = [i for i in range(len(labels)) if i < len(shown) or shares[0][i] or shares[1][i]]
    before, after = (tuple(side[i] for i in keep) for side in shares)
    return BeforeAfter(column, tuple(labels[i] for i in keep), before, after, SHARED if is_generalized(original, released, column) else "")


def _counts(original: Table, table: Table, column: str, weights: FloatArray) -> dict[str | None, int]:
    """Records by value; a set counts for each of its values in its share, a suppressed cell for none."""
    counts = np.bincount(table.codes(column), weights).tolist()
    sets = is_generalized(original, table, column)
    found: dict[str | None, float] = {}
    for level, count in zip(table.levels(column).to_pylist(), counts):
        for value, share in (value_shares(read(level)) if sets else {None if level is None else str(level): 1.0}).items():
            found[value] = found.get(value, 0.0) + share * count
    return {value: int(count + 1e-6) for value, count in found.items()}  # in whole records, or persons


def _rounded(counts: list[int], rows: int, fewest: int) -> tuple[float, ...]:
    """Whole per cent; too few records read as none."""
    return tuple(round(count / rows, 2) if count >= fewest else 0.0 for count in counts)


def _round_bins(low: float, high: float) -> _Bins:
    edges = _round_edges(low, high)
    return _Bins(edges, [_short(edge) for edge in edges])


def _round_dates(low: float, high: float, day: int) -> _Bins:
    """About BINS cuts where a year, or a month, begins; dates are counted in days, or a day in so many."""
    first, last = (int(np.datetime64(math.floor(end / day), "D").astype("M8[M]").astype(int)) for end in (low, high))
    step = next(
        (step for step in (1, 3, 6, *(12 * years for years in (1, 2, 5, 10, 20, 50, 100, 200, 500))) if (last - first) / step <= BINS),
        12_000,
    )
    begin = -(-(first + 1 + 1970 * 12) // step) * step - 1970 * 12  # years count from 0, so that decades are decades
    months = np.arange(begin, last + 1, step) if begin <= last else np.array([first])
    starts = months.astype("M8[M]")
    return _Bins(starts.astype("M8[D]").astype(np.float64) * day, [str(start)[:4] if step >= 12 else str(start) for start in starts])


def _round_edges(low: float, high: float) -> FloatArray:
    """About BINS cuts at multiples of 1, 2 or 5 times a power of ten."""
    if not high > low:
        return np.array([low])
    step = 10.0 ** math.floor(math.log10((high - low) / BINS))
    step = next(step * factor for factor in (1, 2, 5, 10) if (high - low) / (step * factor) <= BINS)
    return np.asarray(
        np.arange(math.ceil(low / step), math.floor(high / step) + 1) * step if high - low >= step else [round(low / step) * step]
    )


def _short(value: float) -> str:
    for size, mark in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if mark == 'k' else size):.4g}{mark}"
    return f"{value:.4g}"
