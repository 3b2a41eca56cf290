"""What contract checks are run on: small tables made in memory, and releases of them whose measures and risks are known beforehand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray
from shoal.bins import Bins, Extent
from shoal.contracts import One
from shoal.counts import Counts, Moments
from shoal.randomness import Chance, rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.rows import Batch, row_ids
from shoal.table import Kind, Table

LEVELS = ("low", "middle", "high")
ROWS = 24


def tables() -> dict[str, tuple[Table, Roles]]:
    """Small tables by what is special about them; each has an identifier, a household, a confidential column and one that is different in each row."""
    spread = np.random.default_rng(5).permuted(np.tile(np.arange(ROWS), (3, 1)), axis=1)
    number = [[float(10 * value + shift) for value in column] for shift, column in enumerate(spread)]
    level = [LEVELS[i % 3] for i in spread[1]]
    word = ["north", "south", "east", "west"]
    place = [word[i % 4] for i in spread[2]]
    gaps = [None if i % 7 == 3 else value for i, value in enumerate(number[0])]
    plain = {"nominal": ("place", "other_place"), "ordinal": {"level": LEVELS}}
    made: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "numeric": ({"x": number[0], "y": number[1], "z": number[2]}, {}),
        "ordinal": ({"level": level}, {"ordinal": plain["ordinal"]}),
        "nominal": ({"place": place, "other_place": [word[i % 3] for i in spread[0]]}, {"nominal": plain["nominal"]}),
        "mixed": ({"x": number[0], "level": level, "place": place}, {"ordinal": plain["ordinal"]}),
        "missing": ({"x": gaps, "y": number[1], "gone": [None] * ROWS}, {}),
        "missing words": ({"x": gaps, "place": [None if i % 5 == 2 else p for i, p in enumerate(place)]}, {}),
        "constant": ({"x": [7] * ROWS, "y": number[1]}, {}),
        "duplicates": ({"x": [float(i % 4 * 10) for i in range(ROWS)], "y": [i % 4 for i in range(ROWS)]}, {}),
        "one column": ({"x": [int(value) for value in number[0]]}, {}),
    }
    return {name: table_of(columns, **scales) for name, (columns, scales) in made.items()}


def table_of(columns: dict[str, list[Any]], **scales: Any) -> tuple[Table, Roles]:
    """Quasi-identifiers, and beside them a column of every other role; `mark` is different in each row."""
    rows = len(next(iter(columns.values())))
    extra = {
        "person": [f"person {i}" for i in range(rows)],
        "home": [f"home {i // 2}" for i in range(rows)],
        "secret": ["yes" if i % 3 else "no" for i in range(rows)],
        "mark": [1000 + i for i in range(rows)],
    }
    kept: dict[str, Any] = {key: tuple(c for c in value if c in columns) if key == "nominal" else value for key, value in scales.items()}
    roles = Roles(
        quasi=tuple(columns),
        identifier=("person",),
        household=("home",),
        confidential=("secret",),
        other=("mark",),
        target="secret",
        **kept,
    )
    table = Table.of({**extra, **columns})
    return table, roles.check(table)


class InParts:
    """The rows of a table as a source of several batches, as an engine would hand them out."""

    def __init__(self, table: Table, parts: int) -> None:
        self.table, self.orders, self.columns = table, table.orders, table.columns
        self.parts = [table.take(rows) for rows in np.array_split(np.arange(len(table)), parts) if len(rows)]

    def __len__(self) -> int:
        return len(self.table)

    def kind(self, name: str) -> Kind:
        """Types are decided once, for all parts."""
        return self.table.kind(name)

    def extent(self, column: str) -> Extent | None:
        """Over all parts."""
        return Extent.of(self.table, column)

    def counts(self, columns: Sequence[str], bins: Bins | None = None) -> Counts:
        """Cut and counted part by part."""
        return Counts.merged([Counts.of(part, columns, bins or {}) for part in self.parts])

    def moments(self, columns: Sequence[str]) -> Moments:
        """Summed part by part."""
        values = [part.numbers(columns) for part in self.parts]
        with np.errstate(invalid="ignore"):
            low = np.fmin.reduce([np.fmin.reduce(one, axis=0, initial=np.inf) for one in values])
            high = np.fmax.reduce([np.fmax.reduce(one, axis=0, initial=-np.inf) for one in values])
        return Moments.of(values, low, high)

    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]:
        """A part at a time; equal rows are numbered over all parts."""
        ids, first = np.zeros(0, np.uint64) if chance is None else row_ids(self.table, chance), 0
        for part in self.parts:
            yield task(Batch(part, ids[first : first + len(part)], np.arange(first, first + len(part))))
            first += len(part)


def unprotected(table: Table, roles: Roles, order: IntArray) -> Release:
    """The table as it is, its rows in another order."""
    return Release.given(table.without(roles.identifier).take(order), order, roles)


def scrambled(table: Table, roles: Roles, order: IntArray) -> Release:
    """Each quasi-identifier shuffled by itself: every value is there, none belongs to its record."""
    rng = rng_for(9)
    torn = {column: table.take(rng.permutation(len(table))).column(column) for column in roles.quasi}
    return unprotected(table.with_columns(torn), roles, order)


def levelled(table: Table, roles: Roles) -> Release:
    """Every record has the quasi-identifiers of the first: nobody can be told apart."""
    first = table.take(np.zeros(len(table), np.int64))
    return unprotected(table.with_columns({c: first.column(c) for c in roles.quasi}), roles, rng_for(8).permutation(len(table)))


def emptied(table: Table, roles: Roles) -> Release:
    """Every quasi-identifier is missing everywhere: nothing is left of it."""
    gone = {c: pa.nulls(len(table), table.column(c).type) for c in roles.quasi}
    return unprotected(table.with_columns(gone), roles, rng_for(8).permutation(len(table)))


def reordered(table: Table, release: Release) -> tuple[Table, Release]:
    """The same original and release, their rows in another order."""
    order, place = rng_for(6).permutation(len(table)), rng_for(7).permutation(len(release))
    where = np.argsort(order)
    return table.take(order), replace(release, table=release.table.take(place), source_row=where[release.source_row[place]])
