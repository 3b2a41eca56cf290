"""The numbers behind before-and-after pictures, in a form that may be published.

Bins are cut at round numbers inside the released values' range, their ends are open, shares are rounded to whole per cent, and a category
the release does not hold is counted under "other": no picture shows an original value, or a bin only a few originals are in.
"""

from __future__ import annotations

import math

import numpy as np

from shoal.arrays import FloatArray
from shoal.cell import expected_numbers, is_generalized, read, value_shares
from shoal.release import Release
from shoal.report.figures import BeforeAfter
from shoal.roles import Roles
from shoal.table import Table

BINS = 12
CATEGORIES = 12


def before_after(original: Table, release: Release, roles: Roles) -> list[BeforeAfter]:
    """One picture for each quasi-identifier."""
    pictures = []
    for column in roles.quasi:
        if column not in release.table.columns or release.table.missing(column).all():
            continue
        kinds = (original.kind(column), release.table.kind(column))
        if roles.scale(original, column) == "numeric" and kinds == ("number", "number"):
            pictures.append(_numbers(column, original.number(column), release.table.number(column)))
        elif roles.scale(original, column) == "numeric" and kinds == ("number", "text"):
            expected = expected_numbers(release.table, column)
            if not np.isnan(expected).all():  # else all suppressed: there is no after to show
                pictures.append(_numbers(column, original.number(column), expected))
        elif "date" not in kinds:
            pictures.append(_categories(column, original, release.table, roles))
    return pictures


def _numbers(column: str, before: FloatArray, after: FloatArray) -> BeforeAfter:
    known = after[~np.isnan(after)]
    edges = _round_edges(*np.quantile(known, [0.02, 0.98]))
    labels = [f"< {_short(edges[0])}", *(_short(edge) for edge in edges[:-1]), f"≥ {_short(edges[-1])}"]
    shares = []
    for side in (before, after):
        counts = np.bincount(np.searchsorted(edges, side[~np.isnan(side)], "right"), minlength=len(edges) + 1)
        shares.append(_rounded([*counts.tolist(), int(np.isnan(side).sum())], len(side)))
    if shares[0][-1] == shares[1][-1] == 0:
        return BeforeAfter(column, tuple(labels), shares[0][:-1], shares[1][:-1])
    return BeforeAfter(column, (*labels, "missing"), *shares)


def _categories(column: str, original: Table, released: Table, roles: Roles) -> BeforeAfter:
    counts = [_counts(original, table, column) for table in (original, released)]
    if roles.scale(original, column) == "ordinal":
        order = [level for level in roles.levels(original, column) if level in counts[1]]
    else:
        order = sorted((level for level in counts[1] if level is not None), key=lambda level: (-counts[1][level], level))
    shown = order[:CATEGORIES]
    shares = []
    for side, rows in zip(counts, (len(original), len(released))):
        listed = [side.get(level, 0) for level in shown]
        shares.append(_rounded([*listed, side.get(None, 0), rows - sum(listed) - side.get(None, 0)], rows))
    labels = [*shown, "missing", "other"]
    keep = [i for i in range(len(labels)) if i < len(shown) or shares[0][i] or shares[1][i]]
    return BeforeAfter(column, tuple(labels[i] for i in keep), *(tuple(side[i] for i in keep) for side in shares))


def _counts(original: Table, table: Table, column: str) -> dict[str | None, int]:
    """Records by value; a set counts for each of its values in its share, a suppressed cell for none."""
    counts = np.bincount(table.codes(column)).tolist()
    sets = is_generalized(original, table, column)
    found: dict[str | None, float] = {}
    for level, count in zip(table.levels(column).to_pylist(), counts):
        for value, share in (value_shares(read(level)) if sets else {None if level is None else str(level): 1.0}).items():
            found[value] = found.get(value, 0.0) + share * count
    return {value: round(count) for value, count in found.items()}


def _rounded(counts: list[int], rows: int) -> tuple[float, ...]:
    """Whole per cent; fewer than five records read as none."""
    return tuple(round(count / rows, 2) if count >= 5 else 0.0 for count in counts)


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
