"""One way to apply what was decided: a change made to every batch of rows, or a plan on counts spread over the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, IntArray, UintArray
from shoal.contracts import Progress, Source, quiet
from shoal.counts import Counts
from shoal.methods.coordinates import ColumnMethod
from shoal.randomness import Chance
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.rows import Batch, bare_ids, with_equal_ones_numbered
from shoal.table import Table


class Change(NamedTuple):
    """New columns of a batch; which of its rows stay, where some do not; the group of each that stays, where groups have cells; and what was
    counted meanwhile."""

    columns: Mapping[str, pa.Array] = {}
    kept: IntArray | None = None
    group: IntArray | None = None
    tally: Mapping[str, int] = {}


def _nothing(tally: Mapping[str, int]) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True)
class Decision:
    """What was decided before any row changes: how each batch of rows changes by itself, and what the release says of it."""

    step: Step
    change: Callable[[Batch], Change]
    warnings: tuple[str, ...] = ()
    published: Mapping[str, pa.Array] = field(default_factory=dict)  # what each group shows in each column
    cells: frozenset[str] = frozenset()  # columns that are in the notation of `cell.py` from now on
    labels: Mapping[str, Mapping[str, str]] = field(
        default_factory=dict
    )  # of columns that follow a hierarchy: names by which cells are written
    chance: Chance | None = None  # what rows draw from as they change; None: nothing is drawn
    seen: Callable[[Mapping[str, int]], tuple[str, ...]] = (
        _nothing  # warnings that are known when all rows have changed, from their tallies
    )


class BatchMethod(ColumnMethod):
    """A method that decides first, on counts and exact sums, and then changes every batch of rows by itself."""

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """What becomes of the rows."""
        raise TypeError(f"{type(self).__name__} does not say what it decides")  # each algorithm does

    def protect(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Decide, then change the rows."""
        return applied(table, self.decide(table, roles, chance, progress), roles, chance)


def applied(source: Source, decision: Decision, roles: Roles, chance: Chance) -> Release:
    """The release of all batches, each changed by itself."""

    def change(batch: Batch) -> tuple[Table, Batch, Mapping[str, int]]:
        changed = decision.change(batch)
        kept = changed.kept
        inside = batch if kept is None else Batch(batch.table.take(kept), batch.ids[kept], batch.rows[kept])
        return inside.table.with_columns({**changed.columns, **spread(decision, changed)}), inside, changed.tally

    tables, batches, tallies = zip(*source.each(change, chance))
    whole = together(tables)
    whole = replace(whole, cells=whole.cells | decision.cells, labels={**whole.labels, **decision.labels})
    warnings = (*decision.warnings, *decision.seen(sum(map(Counter, tallies), Counter())))
    made = Release.of(whole, {}, roles, decision.step, chance, warnings, np.concatenate([batch.ids for batch in batches]))
    return replace(made, source_row=np.concatenate([batch.rows for batch in batches])[made.source_row])


def spread(decision: Decision, change: Change) -> dict[str, Any]:
    """The cells of each row, by its group."""
    return {column: _spread(cells, pa.array(change.group)) for column, cells in decision.published.items()}


@dataclass(frozen=True)
class Recoding:
    """A plan on counts: so many rows of a combination go into a group (-1: they are dropped), and what each group publishes in each column."""

    counts: Counts
    combination: IntArray
    group: IntArray
    rows: IntArray
    cells: Mapping[str, pa.Array]
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of columns that follow a hierarchy

    @property
    def parted(self) -> BoolArray:
        """The combinations whose rows go into several groups."""
        return np.asarray(np.bincount(self.combination, minlength=len(self.counts)) > 1)

    def groups(self, source: Source, chance: Chance) -> Callable[[Batch], IntArray]:
        """How to know the group of each row of a batch. Of a combination that is parted, rows go in the order of keyed hashes: they are
        interchangeable."""
        parted = self.parted
        only = np.full(len(self.counts), -1)
        only[self.combination] = self.group
        if not parted.any():
            return lambda batch: only[self.counts.places(batch.table)]
        known, group_of = self._parted(source, parted, chance)

        def groups(batch: Batch) -> IntArray:
            places = self.counts.places(batch.table)
            found = only[places]
            some = np.flatnonzero(parted[places])
            found[some] = group_of[np.searchsorted(known, batch.rows[some])]
            return found

        return groups

    def _parted(self, source: Source, parted: BoolArray, chance: Chance) -> tuple[IntArray, IntArray]:
        """All rows of combinations that are parted, in order, and the group of each."""

        def of_parted_ones(batch: Batch) -> tuple[IntArray, UintArray, IntArray]:
            at = self.counts.places(batch.table)
            some = np.flatnonzero(parted[at])
            return at[some], bare_ids(batch.table.take(some), chance), batch.rows[some]

        place, ids, row = map(np.concatenate, zip(*source.each(of_parted_ones, None)))
        ids = with_equal_ones_numbered(ids)
        order = row[np.lexsort((ids, chance.words(ids, "which of a combination"), place))]
        of_parted = np.flatnonzero(parted[self.combination])
        of_parted = of_parted[np.argsort(self.combination[of_parted], kind="stable")]
        groups = np.repeat(self.group[of_parted], self.rows[of_parted])
        by_row = np.argsort(order)
        return order[by_row], groups[by_row]

    def decision(self, source: Source, step: Step, chance: Chance, warnings: tuple[str, ...] = ()) -> Decision:
        """Every row with the cells of its group."""
        groups_of = self.groups(source, chance)

        def cells(batch: Batch) -> Change:
            groups = groups_of(batch)
            kept = np.flatnonzero(groups >= 0)
            whole = len(kept) == len(groups)
            return Change(kept=None if whole else kept, group=groups if whole else groups[kept])

        texts = any(pa.types.is_string(values.type) for values in self.cells.values())
        columns, labels = (frozenset(self.cells), self.labels) if texts else (frozenset[str](), {})
        return Decision(step, cells, warnings, self.cells, columns, labels)


class NewValues(NamedTuple):
    """What becomes of each value of a column: values again, or cells in the notation of `cell.py`."""

    counts: Counts  # of that column alone
    values: pa.Array  # in the order of the counts
    notation: Literal["values", "cells"] = "values"


def revalued(columns: Mapping[str, NewValues], step: Step, warnings: tuple[str, ...] = ()) -> Decision:
    """Every row with what its values become, each column by itself: equal values become equal ones, wherever they stand."""

    def new_values(batch: Batch) -> Change:
        return Change({column: spread_values(one, batch) for column, one in columns.items()})

    return Decision(step, new_values, warnings, cells=frozenset(column for column, one in columns.items() if one.notation == "cells"))


def spread_values(one: NewValues, batch: Batch) -> Any:
    places = pa.array(one.counts.places(batch.table))
    return _spread(one.values, places) if one.notation == "cells" else one.values.take(places)


def together(tables: Sequence[Table]) -> Table:
    """Rows of several batches in one table."""
    if len(tables) == 1:
        return tables[0]
    arrow = pa.concat_tables([table.plain for table in tables], promote_options="permissive")
    return replace(tables[0], arrow=arrow.combine_chunks())


def _spread(cells: pa.Array, groups: pa.Array) -> Any:
    """Each record's cell. Texts are kept once each, with a number per record: written out they would take hundreds of bytes a record."""
    if not pa.types.is_string(cells.type):
        return cells.take(groups)
    each = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(each.indices.take(groups), each.dictionary)
