"""Methods that cut the rows into blocks first, and then see one block at a time.

Where to cut is decided on a keyed draw of rows, those whose hash is small: it follows from the rows alone, and neither from their order nor from
how they are cut into batches. What a block becomes follows from its own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.contracts import Progress, Source, quiet
from shoal.errors import DataError, counted
from shoal.kernels.blocks import block_cuts, block_of, without_small_blocks
from shoal.methods.coordinates import ColumnMethod, Standardize, corners_of
from shoal.methods.recoding import together
from shoal.randomness import Chance
from shoal.release import Release, Step
from shoal.roles import Roles, level_places
from shoal.rows import Batch, bare_ids
from shoal.table import Table

DRAWN = 400_000  # rows that cuts are decided on, about; of fewer rows, all


@dataclass(frozen=True)
class Blocks:
    """What was decided before any row changes: the block of each row, and what becomes of the rows of one."""

    step: Step
    many: int
    block_of: Callable[[Table], IntArray]
    change: Callable[[Table], Mapping[str, Any]]  # new columns of the rows of a block
    warnings: tuple[str, ...] = ()


class BlockMethod(ColumnMethod):
    """A method whose own plan cuts the rows into blocks, and which changes each block by itself."""

    def blocks(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Blocks:
        """Where to cut, and what to do with a block."""
        raise TypeError(f"{type(self).__name__} does not say how it cuts")  # each algorithm does

    def protect(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Cut, change every block, put the rows together again."""
        plan = self.blocks(table, roles, chance, progress)
        batches = list(table.each(lambda batch: batch, chance))
        whole = together([batch.table for batch in batches])
        ids, row = (np.concatenate(part) for part in zip(*((batch.ids, batch.rows) for batch in batches)))
        block = plan.block_of(whole)
        order = np.argsort(block, kind="stable")
        ends = np.cumsum(np.bincount(block, minlength=plan.many))
        made = []
        for number, mine in enumerate(np.split(order, ends[:-1])):
            inside = whole.take(mine)
            made.append(inside.with_columns(plan.change(inside)))
            progress(self.name, number + 1, plan.many)
        release = Release.of(together(made), {}, roles, plan.step, chance, plan.warnings, ids[order])
        return replace(release, source_row=row[order][release.source_row])


@dataclass(frozen=True)
class Scaled:
    """One column as coordinates, decided for all rows: numbers by mean and deviation, levels by their place, categories as corners of a simplex.

    A column with missing values has one more coordinate, 1 where missing; the missing value itself lies at the mean.
    """

    column: str
    has_missing: bool
    middle: float = 0.0
    deviation: float = 1.0
    levels: tuple[str, ...] = ()  # of an ordinal column
    code_of: Callable[[Table], IntArray] | None = None  # of a nominal one
    corners: FloatArray | None = None

    def of(self, table: Table) -> list[FloatArray]:
        """The coordinates of some rows."""
        if self.code_of is not None and self.corners is not None:
            return list(self.corners[self.code_of(table)].T)
        values = level_places(table, self.column, self.levels) / len(self.levels) if self.levels else table.number(self.column)
        values = (values - self.middle) / self.deviation if self.deviation else np.where(np.isnan(values), np.nan, 0.0)
        missing = np.isnan(values)
        filled = np.where(missing, 0.0, values)
        return [missing.astype(np.float64), filled] if self.has_missing else [filled]


def points_of(scaled: Sequence[Scaled], table: Table) -> FloatArray:
    """Some rows as points."""
    parts = [one for column in scaled for one in column.of(table)]
    return np.ascontiguousarray(np.column_stack(parts)) if parts else np.zeros((len(table), 1))


def scaled(table: Source, roles: Roles, columns: Sequence[str], standardize: Standardize) -> tuple[Scaled, ...]:
    """How each column becomes coordinates, from exact sums and counts. A column without a value is left out."""
    numeric = [column for column in columns if roles.scale(table, column) == "numeric" and table.kind(column) != "empty"]
    found: dict[str, Scaled] = {}
    moments = table.moments(numeric) if numeric else None
    for j, column in enumerate(numeric):
        assert moments is not None
        known = int(moments.known[j, j])
        if known:
            mean, deviation = float(moments.means[j]), float(moments.deviations[j]) if standardize == "deviation" else 1.0
            found[column] = Scaled(column, known < len(table), mean, deviation)
    for column in columns:
        if roles.scale(table, column) == "ordinal":
            one = _ordinal(table, roles, column)
            found |= {column: one} if one else {}
        elif roles.scale(table, column) == "nominal":
            found[column] = _nominal(table, column)
    return tuple(found[column] for column in columns if column in found)


def _ordinal(table: Source, roles: Roles, column: str) -> Scaled | None:
    counts = table.counts([column])
    levels = roles.levels(counts.table, column)
    places = level_places(counts.table, column, levels)
    known = ~np.isnan(places)
    if not known.any():
        return None
    rows = counts.rows[known]
    middle = int((places[known].astype(np.int64) * rows).sum()) / int(rows.sum()) / len(levels)
    return Scaled(column, not known.all(), middle, 1.0, tuple(levels))


def _nominal(table: Source, column: str) -> Scaled:
    counts = table.counts([column])
    if len(counts) > max(100, counts.total / 2):
        raise DataError(
            f"Column '{column}' has {counted(len(counts), 'distinct value')} in {counted(counts.total, 'row')}: it names rows by itself. "
            "Give it the role identifier, or bring it into broader categories."
        )
    return Scaled(column, False, code_of=counts.places, corners=corners_of(len(counts)))


def cut_blocks(
    table: Source, points: Callable[[Table], FloatArray], most: int, least: int, chance: Chance
) -> tuple[Callable[[Table], IntArray], int]:
    """The block of each row, of about `most` rows at most and `least` at least, and how many blocks there are."""
    rows = len(table)
    if rows <= most:
        return lambda batch: np.zeros(len(batch), np.int64), 1
    share = min(1.0, DRAWN / rows)

    def drawn(batch: Batch) -> FloatArray:
        words = chance.words(bare_ids(batch.table, chance), "where to cut") if share < 1 else None
        return points(batch.table if words is None else batch.table.take(np.flatnonzero(words < np.uint64(int(share * 2.0**64)))))

    some = np.concatenate(list(table.each(drawn, None)))
    some = some[np.lexsort(some.T[::-1])]
    if not len(some):
        return lambda batch: np.zeros(len(batch), np.int64), 1
    first = block_cuts(some, max(1, int(most * len(some) / rows)))
    many = int(first.block.max()) + 1
    counts = np.sum(list(table.each(lambda batch: np.bincount(block_of(points(batch.table), first), minlength=many), None)), axis=0)
    cuts = without_small_blocks(first, counts, least)
    return lambda batch: block_of(points(batch), cuts), int(cuts.block.max()) + 1


def constant_ones(table: Source, roles: Roles, columns: Sequence[str]) -> tuple[str, ...]:
    """Warnings for columns that say nothing, from exact sums where columns are numbers."""
    numeric = [column for column in columns if roles.scale(table, column) == "numeric" and table.kind(column) != "empty"]
    moments = table.moments(numeric) if numeric else None
    warnings = []
    for column in columns:
        if moments is not None and column in numeric:
            j = numeric.index(column)
            known, same = int(moments.known[j, j]), not moments.products[j][j]
        else:
            counts = table.counts([column])
            known = int(counts.rows[~counts.table.missing(column)].sum())
            same = len(counts) == 1
        if not known:
            warnings.append(f"Column '{column}' has no value at all and is released as it is.")
        elif len(table) > 1 and same and known == len(table):
            warnings.append(f"Column '{column}' is the same in every row; protecting it changes nothing.")
    return tuple(warnings)
