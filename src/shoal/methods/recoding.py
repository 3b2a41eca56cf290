"""One way to apply what was decided: a change made to every batch of rows, or a plan on counts spread over the rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, UintArray
from shoal.contracts import Source
from shoal.counts import Counts
from shoal.randomness import Chance
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.rows import Batch
from shoal.table import Table


@dataclass(frozen=True)
class Recoding:
    """A plan on counts: so many rows of a combination go into a group (-1: they are dropped), and what each group publishes in each column."""

    counts: Counts
    combination: IntArray
    group: IntArray
    rows: IntArray
    cells: Mapping[str, pa.Array]
    labels: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # of columns that follow a hierarchy: names by which cells are written

    def groups_of(self, places: IntArray, ids: UintArray, chance: Chance) -> IntArray:
        """The group of each row. Of a combination that is parted, rows go in the order of keyed hashes: they are interchangeable."""
        parts = np.bincount(self.combination, minlength=len(self.counts))
        only = np.full(len(self.counts), -1)
        only[self.combination] = self.group
        groups = only[places]
        parted = np.flatnonzero(parts[places] > 1)
        if len(parted):
            order = parted[np.lexsort((chance.words(ids[parted], "which of a combination"), places[parted]))]
            of_parted = np.flatnonzero(parts[self.combination] > 1)
            of_parted = of_parted[np.argsort(self.combination[of_parted], kind="stable")]
            groups[order] = np.repeat(self.group[of_parted], self.rows[of_parted])
        return groups


def recoded(source: Source, recoding: Recoding, roles: Roles, step: Step, chance: Chance, warnings: tuple[str, ...] = ()) -> Release:
    """Every row with the cells of its group."""
    batches = list(source.batches(chance))
    places = np.concatenate([recoding.counts.places(batch.table) for batch in batches])
    groups = recoding.groups_of(places, np.concatenate([batch.ids for batch in batches]), chance)
    starts = np.cumsum([0, *(len(batch.ids) for batch in batches)])
    of_batch = {id(batch.table): groups[a:b] for batch, a, b in zip(batches, starts, starts[1:])}

    def cells(batch: Batch) -> Change:
        mine = of_batch[id(batch.table)]
        kept = np.flatnonzero(mine >= 0)
        whole = len(kept) == len(mine)
        groups_now = pa.array(mine if whole else mine[kept])
        return Change({column: _spread(texts, groups_now) for column, texts in recoding.cells.items()}, None if whole else kept)

    made = changed(batches, cells, roles, step, chance, warnings)
    texts = {column for column, values in recoding.cells.items() if pa.types.is_string(values.type)}
    if not texts:
        return made
    labels = {**made.table.labels, **recoding.labels}
    return replace(made, table=replace(made.table, cells=made.table.cells | set(recoding.cells), labels=labels))


class NewValues(NamedTuple):
    """What becomes of each value of a column: values again, or cells in the notation of `cell.py`."""

    counts: Counts  # of that column alone
    values: pa.Array  # in the order of the counts
    notation: Literal["values", "cells"] = "values"


def revalued(
    source: Source, columns: Mapping[str, NewValues], roles: Roles, step: Step, chance: Chance, warnings: tuple[str, ...] = ()
) -> Release:
    """Every row with what its values become, each column by itself: equal values become equal ones, wherever they stand."""

    def new_values(batch: Batch) -> Change:
        return Change({column: _spread_values(one, batch) for column, one in columns.items()})

    made = changed(list(source.batches(chance)), new_values, roles, step, chance, warnings)
    texts = {column for column, one in columns.items() if one.notation == "cells"}
    return replace(made, table=replace(made.table, cells=made.table.cells | texts)) if texts else made


def _spread_values(one: NewValues, batch: Batch) -> Any:
    places = pa.array(one.counts.places(batch.table))
    return _spread(one.values, places) if one.notation == "cells" else one.values.take(places)


class Change(NamedTuple):
    """New columns of a batch; and which of its rows stay, where some do not."""

    columns: Mapping[str, pa.Array]
    kept: IntArray | None = None


def changed(
    batches: Sequence[Batch],
    change: Callable[[Batch], Change],
    roles: Roles,
    step: Step,
    chance: Chance,
    warnings: tuple[str, ...] = (),
) -> Release:
    """The release of all batches, each changed by itself."""
    tables, ids, rows, first = [], [], [], 0
    for batch in batches:
        columns, kept = change(batch)
        inside = batch.table if kept is None else batch.table.take(kept)
        tables.append(inside.with_columns(columns))
        ids.append(batch.ids if kept is None else batch.ids[kept])
        rows.append(first + (np.arange(len(batch.ids)) if kept is None else kept))
        first += len(batch.ids)
    whole = tables[0] if len(tables) == 1 else _together(tables)
    made = Release.of(whole, {}, roles, step, chance, warnings, np.concatenate(ids))
    return replace(made, source_row=np.concatenate(rows)[made.source_row])


def by_id(source: Source, chance: Chance) -> tuple[Table, IntArray]:
    """All rows in the order of their ids, which follows from the rows alone; and where each stood."""
    batches = list(source.batches(chance))
    whole = batches[0].table if len(batches) == 1 else _together([batch.table for batch in batches])
    order = np.argsort(np.concatenate([batch.ids for batch in batches]), kind="stable")
    return whole.take(order), order


def _together(tables: list[Table]) -> Table:
    arrow = pa.concat_tables([table.plain for table in tables], promote_options="permissive")
    return replace(tables[0], arrow=arrow.combine_chunks())


def _spread(cells: pa.Array, groups: pa.Array) -> Any:
    """Each record's cell. Texts are kept once each, with a number per record: written out they would take hundreds of bytes a record."""
    if not pa.types.is_string(cells.type):
        return cells.take(groups)
    each = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(each.indices.take(groups), each.dictionary)
