"""How much each cell changed, on any scale."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray
from shoal.cell import cells_of, expected_numbers, is_generalized, value_shares
from shoal.counts import combinations
from shoal.measures.table_measure import QuasiMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles, level_places
from shoal.score import OfADraw, Score
from shoal.table import Table


class CellLoss(QuasiMeasure):
    """Mean change of a quasi-identifier's cell: numbers |x - x'| / (√2 S) as IL1s, levels by their distance, categories 1 if they changed.

    It is IL1s where all quasi-identifiers are numeric, and defined for every table, so reports and maps draw it as the loss. A cell that is
    missing on one side only counts 1. A set or interval of numbers counts by its expected value, a set of categories by the chance that a draw
    from it is wrong, a suppressed cell 1.
    """

    name: ClassVar[str] = "cell-loss"
    title: ClassVar[str] = "Mean change of a cell"
    of_a_draw: ClassVar[OfADraw] = "estimate"
    step: ClassVar[float | None] = 0.05  # the one loss that is said of few records

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """Column by column, then the mean of columns."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        changes: dict[str, FloatArray] = {}
        constant = []
        for column in released_quasi(release, roles):
            change = _change(original, release, roles, column)
            if change is None:
                constant.append(column)
            else:
                changes[column] = change
        note = f"Left out: {', '.join(constant)} (constant)." if constant else ""
        if not changes:
            return self.no_value(f"{note} There is no other quasi-identifier to compare.")
        per_column = {column: float(change.mean()) for column, change in changes.items()}
        per_record = np.mean(list(changes.values()), axis=0)
        return Score(
            self.name, self.title, float(np.mean(list(per_column.values()))), "lower", (0, None), None, note, per_column, {}, per_record
        )


def _change(original: Table, release: Release, roles: Roles, column: str) -> FloatArray | None:
    """One column's change per released row; None for a numeric column that does not vary."""
    table, rows, scale = release.table, release.source_row, roles.scale(original, column)
    if is_generalized(original, table, column) and scale != "numeric":
        return _unlikely(original, release, column)
    if scale == "numeric" and table.kind(column) in ("number", "date", "empty", "text"):
        before = original.number(column)[rows]
        after = expected_numbers(table, column) if table.kind(column) == "text" else table.number(column)
        known = before[~np.isnan(before)]
        if len(known) < 2 or known.min() == known.max():
            return None
        deviations = release.deviations([column])
        difference = np.abs(before - after) / (np.sqrt(2) * (known.std(ddof=1) if deviations is None else deviations[0]))
    elif scale == "ordinal":
        levels = roles.levels(original, column)
        before, after = level_places(original, column, levels)[rows], level_places(table, column, levels)
        difference = np.abs(before - after) / max(len(levels) - 1, 1)
    else:
        sides = [side.levels(column).cast(pa.string()) for side in (original, table)]
        codes = Table.of({"both": pa.concat_arrays(sides)}).codes("both")
        true, shown = codes[: len(sides[0])][original.codes(column)], codes[len(sides[0]) :][table.codes(column)]
        return np.asarray(true[rows] != shown, dtype=np.float64)
    missing = np.isnan(before).astype(int) + np.isnan(after)
    return np.where(missing == 2, 0.0, np.where(missing == 1, 1.0, difference))


def _unlikely(original: Table, release: Release, column: str) -> FloatArray:
    """For a set, the chance that a draw from it is not the true value; 1 where suppressed."""
    names = original.levels(column).cast(pa.string()).to_pylist()
    shares = [value_shares(one) for one in cells_of(release.table, column)]
    cells, values = release.table.codes(column), original.codes(column)[release.source_row]
    which, first = combinations([cells, values], len(cells))  # a cell, and a value of which it is asked
    likely = [shares[one].get(names[value], 0.0) for one, value in zip(cells[first].tolist(), values[first].tolist())]
    return np.asarray(1 - np.array(likely)[which])
