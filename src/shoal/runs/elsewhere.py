"""A run of rows that do not fit into memory: decided on counts, applied to batches, written in parts, checked where they are read.

The same methods decide as in memory, and each row gets the same cells. An engine only runs tasks on files and counts rows; it never changes a
result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.contracts import Changed, Elsewhere, Method, Progress, Written, quiet
from shoal.distinct import DistinctValues
from shoal.errors import ParameterError
from shoal.methods.blocks import BlockMethod
from shoal.methods.recoding import BatchMethod, Change, Decision, NewValues, spread, spread_values
from shoal.randomness import Chance, chance_for
from shoal.reading import read_as
from shoal.release import Step, renumbered
from shoal.roles import Roles
from shoal.rows import Batch
from shoal.runs.hierarchies import regrown
from shoal.runs.recipe import (
    changed_by,
    ready,
    refuse_cells,
    refuse_lost_columns,
    refuse_patterns,
    refuse_strangers,
    refuse_unused_hierarchies,
)
from shoal.table import Table
from shoal.writing import as_parquet, by_number, take_cells

GROUP = "\x00group"


class Ready(NamedTuple):
    """Rows read as their roles say, and the roles held against them."""

    rows: Elsewhere
    roles: Roles


class Protected(NamedTuple):
    """Released rows in their files, and what is said of them."""

    written: Written
    like: Table  # a table without rows: what tables of the released rows have in common
    made_by: tuple[Step, ...]
    warnings: tuple[str, ...]


def made_ready(rows: Elsewhere, roles: Roles, steps: Sequence[Method]) -> Ready:
    """Decided on the distinct values of columns, as in memory on their rows."""
    refuse_elsewhere(roles, steps)
    known = cast(Table, DistinctValues(rows))
    read, checked = ready(known, roles, steps)
    refuse_unused_hierarchies(checked, steps)
    values = cast(DistinctValues, read)
    if not values.read:
        return Ready(rows, checked)
    types = {column: counts.table.column(column).type for column, counts in values.read.items()}
    named = [column for step in steps for column in getattr(step, "columns", None) or ()]
    kinds = {column: kind for column, kind in checked.kinds.items() if column in types}

    def as_said(batch: Batch) -> Changed:
        table = batch.table
        for column, kind in kinds.items():
            table = read_as(table, column, kind, checked.missing.get(column, ()))
        table = checked.without_codes(table, named)
        return Changed(table.with_columns({column: table.column(column).cast(type_) for column, type_ in types.items()}), batch.rows)

    return Ready(rows.changed(as_said, None)[0], checked)


def refuse_elsewhere(roles: Roles, steps: Sequence[Method]) -> None:
    """What needs all rows at once."""
    if not steps:
        raise ParameterError("There is nothing to do: name a method.")
    for step in steps:
        if not isinstance(step, BatchMethod | BlockMethod):
            why = (
                "looks at all rows at once"
                if step.scope == "table"
                else "lists patterns instead of rows"
                if step.adds
                else "is not made for it"
            )
            raise ParameterError(
                f"{step.name} {why}, which rows that do not fit into memory do not allow. Use mdav-large, mondrian, recoding or local-recoding "
                "on them, or --engine memory on a machine with more memory."
            )
    if roles.person:
        raise ParameterError(
            f"'{roles.person[0]}' says whose each row is, and persons are only counted in memory. Use --engine memory, or one row a person.",
            about=roles.person[0],
        )
    if roles.link:
        raise ParameterError(
            "Numbers of households or persons are only kept in memory. Use --engine memory, or leave --link out.", about="link"
        )


def protected(rows: Elsewhere, roles: Roles, steps: Sequence[Method], secret: int, out: Path, progress: Progress = quiet) -> Protected:
    """Every step decides on the rows as the one before has left them; the last one's are written."""
    made: list[Step] = []
    warnings: list[str] = []
    now, under, origin = rows, roles, np.empty(0, np.int64)
    for number, step in enumerate(steps, 1):
        chance = chance_for(secret, "step", number, step.name)
        under = _for_a_further_step(now, under, made, steps[:number])
        if isinstance(step, BlockMethod):
            now, origin, decision = _block_by_block(now, step, under, chance, origin, progress)
        else:
            assert isinstance(step, BatchMethod)
            decision = step.decide(now, under, chance, progress)
        refuse_lost_columns(made, [column for column in now.columns if column not in under.removed], step.name)
        after = _After.of(now, decision, under, chance, origin)
        made.append(decision.step)
        if number < len(steps):
            now, changes = now.changed(after.whole, decision.chance)
            origin = np.concatenate([one.rows for one in changes])
            tallies = [one.tally for one in changes]
        else:
            written = now.released(after.by_group, after.finished, decision.chance, chance, out)
            tallies = written.tallies
        seen = decision.seen(sum(map(Counter, tallies), Counter()))
        warnings += [one for one in (*decision.warnings, *seen) if one not in warnings]
    return Protected(written, after.like, tuple(made), tuple(warnings))


def _block_by_block(
    now: Elsewhere, step: BlockMethod, roles: Roles, chance: Chance, origin: IntArray, progress: Progress
) -> tuple[Elsewhere, IntArray, Decision]:
    """The rows with what their blocks have become, in the order of blocks; there is nothing left to decide of them."""
    plan = step.blocks(now, roles, chance, progress)
    after, made = now.by_block(plan.block_of, plan.many, plan.change)
    rows = np.concatenate([one.rows for one in made])
    return after, origin[rows] if len(origin) else rows, Decision(plan.step, lambda batch: Change(), plan.warnings)


def _for_a_further_step(now: Elsewhere, roles: Roles, made: Sequence[Step], steps: Sequence[Method]) -> Roles:
    """What the next step may look at, and the hierarchies over what earlier ones have made."""
    refuse_patterns(steps)
    known = cast(Table, DistinctValues(now, cells=now.like.cells))
    refuse_cells(known, roles, made, steps[-1])
    if not made:
        return roles
    rest = replace(roles, identifier=(), left_out=())
    rest = replace(rest, hierarchies=regrown(known, rest, changed_by(made)))
    refuse_strangers(known, rest, made, steps[-1])
    return rest


class _After(NamedTuple):
    """Rows after a step: what is removed is gone, households have fresh numbers."""

    decision: Decision
    removed: tuple[str, ...]
    households: Mapping[str, NewValues]
    like: Table
    written: pa.Table  # what groups show, as it is written; a row is a group
    origin: IntArray  # which row of the original each row was, where that is not its own number

    @staticmethod
    def of(now: Elsewhere, decision: Decision, roles: Roles, chance: Chance, origin: IntArray) -> _After:
        """Of a decision about some rows."""
        fresh = {}
        for column in roles.household:
            counts = now.counts([column])
            fresh[column] = NewValues(counts, renumbered(counts.table, column, chance))
        removed = tuple(column for column in roles.removed if column in now.columns)
        like = replace(now.like, cells=now.like.cells | decision.cells, labels={**now.like.labels, **decision.labels}).without(removed)
        shown = pa.table(dict(decision.published))
        if decision.published:
            shown = as_parquet(replace(like, arrow=shown))
            shown = pa.table([by_number(column.combine_chunks()) for column in shown.columns], names=shown.column_names)
        return _After(decision, removed, fresh, like, shown, origin)

    def _changed(self, batch: Batch) -> tuple[Table, Change, IntArray]:
        change = self.decision.change(batch)
        fresh = {column: spread_values(one, batch) for column, one in self.households.items()}
        table = batch.table.with_columns({**fresh, **change.columns})
        rows = batch.rows
        if change.kept is not None:
            table, rows = table.take(change.kept), rows[change.kept]
        like = self.like
        table = replace(table.without(self.removed), cells=like.cells, labels=like.labels)
        return table, change, self.origin[rows] if len(self.origin) else rows

    def whole(self, batch: Batch) -> Changed:
        """Every row with its cells, for a further step."""
        table, change, rows = self._changed(batch)
        return Changed(table.with_columns(spread(self.decision, change)), rows, change.tally)

    def by_group(self, batch: Batch) -> Changed:
        """Every row with its group, whose cells it gets where it is written."""
        table, change, rows = self._changed(batch)
        if change.group is None:
            return Changed(table, rows, change.tally)
        rest = table.without(tuple(self.decision.published))
        arrow = rest.arrow.append_column(GROUP, pa.array(change.group.astype(np.int32)))
        return Changed(replace(rest, arrow=arrow), rows, change.tally)

    def finished(self, rows: pa.Table) -> pa.Table:
        """The columns of a file in their order, as they are written."""
        group = rows.column(GROUP).combine_chunks() if GROUP in rows.column_names else None
        rest = as_parquet(replace(self.like, arrow=rows.drop_columns([GROUP]) if group is not None else rows))
        columns, fields = [], []
        for name in self.like.columns:
            of_group = name in self.written.column_names
            columns.append(take_cells(self.written.column(name).combine_chunks(), group) if of_group else rest.column(name))
            is_set = of_group and pa.types.is_list(columns[-1].type)
            fields.append(
                pa.field(name, columns[-1].type, metadata={"shoal": "cells"} if is_set else None) if of_group else rest.field(name)
            )
        return pa.table(columns, schema=pa.schema(fields))
