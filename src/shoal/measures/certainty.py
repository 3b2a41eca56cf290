"""How much generalization hides."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from shoal import cell
from shoal.arrays import FloatArray
from shoal.measures.table_measure import Bounds, QuasiMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import OfADraw, Score
from shoal.table import Table


class NCP(QuasiMeasure):
    """Normalised certainty penalty (Xu et al. 2006): how much of a column's domain each released cell leaves open; 0 exact, 1 suppressed.

    An interval counts its width over the column's range, a set of numbers likewise, a set of categories (size - 1) / (domain - 1), a suppressed
    cell 1, numbers with missing beside them 1, a dropped record 1 in every column. Where a column has a hierarchy, its domain are all values of
    the hierarchy. A value counts 0 even when it was perturbed: for perturbation
    read the losses instead.
    """

    name: ClassVar[str] = "ncp"
    title: ClassVar[str] = "Normalised certainty penalty (NCP)"
    bounds: ClassVar[Bounds] = (0, 1)
    of_a_draw: ClassVar[OfADraw] = "exact"

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Also the domain of each column, which a draw of the originals does not have."""
        unknown = release.rows is not None and release.originals is None
        why = "Of the originals there is only a draw here, which does not have the whole domain of a column." if unknown else ""
        return super().applies(original, release, roles) or why

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """The mean over all cells of the quasi-identifiers, domains taken from the original."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        columns = released_quasi(release, roles)
        given = len(original) if release.originals is None else len(release.originals)
        dropped = 1 - release.total / given
        before = {column: _before(original, release, column) for column in columns}
        penalties = {column: _penalty(before[column], release.table, roles, column) for column in columns}
        means = {column: _mean(before[column], release, roles, column, penalties[column]) for column in columns}
        per_column = {column: mean * (1 - dropped) + dropped for column, mean in means.items()}
        per_record = np.mean(list(penalties.values()), axis=0)
        note = f"{given - release.total:,} records are not in the release and count 1." if dropped > 0 else ""
        return Score(
            self.name, self.title, float(np.mean(list(per_column.values()))), "lower", (0, 1), None, note, per_column, {}, per_record
        )


def _before(original: Table, release: Release, column: str) -> Table:
    """A table that has every original value of a column, where its cells may say less than a value: others cost nothing."""
    exact = release.originals is None or release.table.kind(column) != "text"
    return original if exact else release.values_before(original, column).table


def _mean(before: Table, release: Release, roles: Roles, column: str, penalties: FloatArray) -> float:
    """Over all released rows; a release of none hides everything."""
    if release.rows is None:
        return float(penalties.mean()) if len(penalties) else 1.0
    cells = release.counts([column])
    return float(_penalty(before, cells.table, roles, column) @ cells.rows / cells.total)


def _penalty(original: Table, released: Table, roles: Roles, column: str) -> FloatArray:
    if released.kind(column) != "text":
        return np.zeros(len(released))
    cells = cell.cells_of(released, column)
    if roles.scale(original, column) == "numeric" and original.kind(column) in ("number", "date"):
        known = original.number(column)
        if column in roles.hierarchies:
            known = np.array([cell.to_number(leaf) for leaf in roles.hierarchies[column].leaves], dtype=np.float64)
        known = known[~np.isnan(known)]
        whole = float(known.max() - known.min()) if len(known) else 0.0
        each = [_width(one, whole) for one in cells]
    else:
        domain = len(original.levels(column))
        if column in roles.hierarchies:
            domain = len(roles.hierarchies[column].leaves) + bool(original.missing(column).any())
        each = [(len(one.values) - 1) / max(domain - 1, 1) if one.values else 1.0 for one in cells]
    return np.asarray(np.minimum(np.array(each), 1.0)[released.codes(column)])


def _width(one: cell.Cell, whole: float) -> float:
    """Of a cell of numbers, as a share of the whole range. Missing among known values says nothing about them, nor does what is no number."""
    if one.suppressed or (None in one.values and not one.single):
        return 1.0
    ends = list(one.interval or ())
    for value, within in zip(one.values, one.within or (None,) * len(one.values)):
        if value is not None:
            place = cell.to_number(value)
            if within is None and (place is None or not np.isfinite(place)):
                return 1.0
            ends.extend(within or (place or 0.0,))
    return (max(ends) - min(ends)) / whole if ends and whole > 0 else 0.0
