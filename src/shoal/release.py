"""Release: what may leave, how it was made, and, privately, where each row came from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from shoal.arrays import FloatArray, IntArray, UintArray
from shoal.counts import Counts, Moments
from shoal.once import Once
from shoal.promises import K_ANONYMITY, Promise
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.rows import Batch, hashed_levels, row_ids
from shoal.table import Table

One = TypeVar("One")
PERSON = "\x00person"  # the column of released rows that says whose each is, where that is known; no column of a file can be named so

FOUND = {  # what searches find, in words; other names speak for themselves
    "optimal": "no other choice loses less",
    "nodes": "choices of levels",
    "nodes_left_out": "of these neither looked at nor ruled out",
    "anonymous_nodes": "choices of levels that keep k",
    "minimal_nodes": "of these with none finer that does",
    "ways": "choices of levels",
    "ways_looked_at": "of these looked at",
    "left": "records (persons, where they are told) that no class could be made of, which joined others or are suppressed",
    "leaves": "leaves of the tree",
    "bins": "bins that values were put into first",
}


@dataclass(frozen=True)
class Step:
    """One method applied: publishable."""

    method: str
    parameters: Mapping[str, Any]
    columns: tuple[str, ...]
    guarantees: tuple[str, ...]
    summary: str
    promises: tuple[Promise, ...] = ()
    outcome: Mapping[str, Any] = field(default_factory=dict)  # what a search says of what it found


def finding_of(outcome: Mapping[str, Any]) -> str:
    """What a search found, in one line; empty where nothing was searched."""
    told = {
        name: ", ".join(f"{key} {one}" for key, one in value.items()) if isinstance(value, dict) else value
        for name, value in outcome.items()
    }
    return "; ".join(f"{FOUND.get(name, name.replace('_', ' '))}: {f'{one:,}' if type(one) is int else one}" for name, one in told.items())


@dataclass(frozen=True)
class Leaving:
    """A released column that no step protected, and what it gives away: publishable."""

    column: str
    why: Literal["tells", "rank", "identifier", "unique"]
    about: str | None = None  # the protected column
    share: float | None = None  # of rows for which it tells the right value, or |Spearman|
    guessing: float | None = None  # the share that the commonest value is right for


class CountedRows(Protocol):
    """Rows that do not fit into memory, and what is asked of them. A Table could be such rows, too."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    def __len__(self) -> int: ...
    def counts(self, columns: Sequence[str]) -> Counts: ...
    def moments(self, columns: Sequence[str]) -> Moments: ...
    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]: ...


@dataclass(frozen=True, repr=False)
class Release:
    """`table` is the only part that may leave. Its rows are in a keyed order, carry no index, and identifiers are gone.

    Where the released rows do not fit into memory, `rows` has them all, and `table` a uniform draw of them, in a random order; the table that
    `source_row` points into is then a uniform draw of the originals, those of the released rows drawn among them. Where it is known whose each
    row is, persons are drawn, with all their rows, and `rows` has PERSON as a column.
    """

    table: Table
    made_by: tuple[Step, ...]
    source_row: IntArray  # PRIVATE: release row -> original row, the truth that attacks are scored against
    roles: Roles = field(default_factory=Roles)  # what it was made under
    warnings: tuple[str, ...] = field(default=())
    persons: IntArray | None = field(
        default=None, repr=False
    )  # PRIVATE: whose each row is, as codes of the original, where a column says it
    leaves: tuple[Leaving, ...] | None = field(default=None, repr=False)  # what gives something away, worst first; None: nobody has looked
    rows: CountedRows | None = field(default=None, repr=False)  # all released rows, where the table is a draw; written in the table's cells
    originals: CountedRows | None = field(
        default=None, repr=False
    )  # PRIVATE: all originals, as roles read them; asked for counts, never for rows
    stands_for: IntArray | None = field(default=None, repr=False)  # of a table of combinations: how many released rows have each
    found_at: IntArray | None = field(
        default=None, repr=False
    )  # PRIVATE: of such a table, the row that each original is found at; -1: none
    once: Once = field(default_factory=Once, init=False, compare=False)  # what several measures and attacks need

    @staticmethod
    def of(
        table: Table,
        changed: Mapping[str, Any],
        roles: Roles,
        step: Step,
        chance: Chance,
        warnings: tuple[str, ...] = (),
        ids: UintArray | None = None,
    ) -> Release:
        """Close a method's work on `table`: put in what it changed, drop what names or numbers persons and what has no role, renumber
        households, put the rows in a keyed order.

        `ids` are those of the table's rows, where they are at hand.
        """
        households = {column: renumbered(table, column, chance).take(pa.array(table.codes(column))) for column in roles.household}
        source_row = np.argsort(chance.words(row_ids(table, chance) if ids is None else ids, "order"), kind="stable")
        kept = table.with_columns({**changed, **households}).without(roles.removed)
        persons = table.codes(roles.person[0])[source_row] if roles.person else None
        return Release(kept.take(source_row), (step,), source_row, roles, warnings, persons)

    @staticmethod
    def given(table: Table, source_row: IntArray, roles: Roles, persons: IntArray | None = None) -> Release:
        """A release made elsewhere, with the original row of each of its rows, and whose it is."""
        return Release(table, (), np.asarray(source_row, np.int64), roles, persons=persons)

    def then(self, later: Release) -> Release:
        """This release, protected further."""
        return replace(
            later,
            roles=self.roles,
            made_by=(*self.made_by, *later.made_by),
            source_row=self.source_row[later.source_row],
            persons=self.persons[later.source_row] if self.persons is not None else later.persons,
            warnings=(*self.warnings, *(w for w in later.warnings if w not in self.warnings)),
        )

    def with_persons(self) -> Table:
        """The table for a further step, which may need to know whose each row is."""
        if self.persons is None:
            return self.table
        return replace(self.table, arrow=self.table.arrow.append_column(self.roles.person[0], pa.array(self.persons)))

    @property
    def total(self) -> int:
        """How many rows were released in all."""
        return len(self.table) if self.rows is None else len(self.rows)

    @property
    def people(self) -> int | None:
        """How many persons were released in all; None where it is not known whose each row is."""
        if self.rows is None:
            return None if self.persons is None else len(np.unique(self.persons))
        return len(self.counts([PERSON])) if self.tells_persons else None

    @property
    def tells_persons(self) -> bool:
        """Whether all released rows can be counted in persons."""
        return self.persons is not None and (self.rows is None or PERSON in self.rows.columns)

    def counts(self, columns: Sequence[str]) -> Counts:
        """The distinct combinations of some columns, of which PERSON may be one, among all released rows; and how many rows have each."""
        return self.once(("counts", *columns), lambda: self._counts(columns))

    def _counts(self, columns: Sequence[str]) -> Counts:
        if self.rows is not None:
            return self.read(self.rows.counts(columns))
        if PERSON not in columns:
            return self.table.counts(columns)
        return replace(self.table, arrow=self.table.arrow.append_column(PERSON, pa.array(self.persons))).counts(columns)

    def read(self, counts: Counts) -> Counts:
        """Counts of released rows, their cells read as those of the table are."""
        return _as_in(self.table, counts)

    def values(self, column: str) -> Table:
        """A table that has every value of a released column."""
        return self.table if self.rows is None else self.counts([column]).table

    def values_before(self, original: Table, column: str) -> Counts:
        """The distinct values of a column among all originals, and how many rows have each; `original` may be a draw of them."""
        if self.originals is None:
            return self.once(("values before", column), lambda: original.counts([column]), original)
        rows = self.originals
        return self.once(("values before", column), lambda: _as_in(original, rows.counts([column])), original)

    @property
    def released_originals(self) -> CountedRows | None:
        """All originals, where they are elsewhere and were all released."""
        return None if self.originals is None or len(self.originals) != self.total else self.originals

    def deviations(self, columns: Sequence[str]) -> FloatArray | None:
        """Of the originals of all released rows, where these are elsewhere and can be told."""
        rows = self.released_originals
        if rows is None or not columns:
            return None
        return self.once(("deviations", *columns), lambda: np.concatenate([rows.moments([column]).deviations for column in columns]))

    def rows_of(self, originals: int) -> IntArray:
        """The row that each of so many originals is found at; -1: none."""
        if self.found_at is not None:
            return self.found_at
        row = np.full(originals, -1)
        row[self.source_row] = np.arange(len(self.table))
        return row

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What still holds: a promise about columns that a later step changed again is void."""
        standing: list[Promise] = []
        for i, step in enumerate(self.made_by):
            changed_later = {column for later in self.made_by[i + 1 :] for column in later.columns}
            standing.extend(promise for promise in step.promises if not changed_later & set(promise.needs))
        return tuple(standing)

    @property
    def k(self) -> int | None:
        """The largest k-anonymity that is promised, over whatever columns; None where none is."""
        return max((int(promise.value) for promise in self.promises if promise.kind is K_ANONYMITY), default=None)

    @property
    def data(self) -> Any:
        """The released table as the kind of object the user handed in."""
        return self.table.to_native()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"Release({self.table!r}, made by {', '.join(step.method for step in self.made_by) or 'others'})"


def _as_in(table: Table, counts: Counts) -> Counts:
    """Counts whose cells are read as those of a table are: as sets, as levels in an order, under names."""
    read = replace(counts.table, cells=table.cells, orders=table.orders, labels=table.labels, date_formats=table.date_formats)
    return replace(counts, table=read)


def renumbered(table: Table, column: str, chance: Chance) -> pa.Array:
    """For each distinct value of a column of households a fresh number, in the order of keyed hashes; no household is not a household."""
    fresh = np.argsort(np.argsort(hashed_levels(table, column, chance))) + 1
    return pa.array(fresh, mask=np.asarray(table.levels(column).is_null()))
