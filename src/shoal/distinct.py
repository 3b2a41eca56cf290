"""A table known by the distinct values of each of its columns: enough to say how columns are read, what roles they can have, which hierarchies fit.

Columns are counted when they are first asked for, each by itself; a row of a column is one of its values. Nothing says which values stand
together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.counts import Counts
from shoal.table import Format, Kind, Table


class Counted(Protocol):
    """Whatever counts its columns."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def orders(self) -> Mapping[str, tuple[str, ...]]: ...
    def __len__(self) -> int: ...
    def kind(self, name: str) -> Kind: ...
    @property
    def like(self) -> Table: ...
    def counts(self, columns: Sequence[str]) -> Counts: ...


@dataclass(frozen=True)
class DistinctValues:
    """Answers for one column at a time what a Table answers, about values instead of rows."""

    source: Counted
    read: Mapping[str, Counts] = field(default_factory=dict)  # columns that are read otherwise
    date_formats: Mapping[str, str] = field(default_factory=dict)
    cells: frozenset[str] = frozenset()
    labels: Mapping[str, Any] = field(default_factory=dict)
    format: Format = field(default_factory=lambda: Format("parquet"))

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.source.columns

    @property
    def orders(self) -> Mapping[str, tuple[str, ...]]:
        """Levels of ordered categories."""
        return self.source.orders

    def __len__(self) -> int:
        return len(self.source)

    def counts(self, columns: Sequence[str]) -> Counts:
        """Of one column."""
        (name,) = columns
        return self.read.get(name) or self.source.counts([name])

    def _of(self, name: str) -> Table:
        return self.counts([name]).table

    def kind(self, name: str) -> Kind:
        """What the cells of a column are; it is not counted for that."""
        return self._of(name).kind(name) if name in self.read else self.source.kind(name)

    def is_whole(self, name: str) -> bool:
        """Whether it is kept as whole numbers; it is not counted for that either."""
        return bool(pa.types.is_integer((self._of(name) if name in self.read else self.source.like).column(name).type))

    def column(self, name: str) -> pa.Array:
        """Its distinct values."""
        return self._of(name).column(name)

    def levels(self, name: str) -> pa.Array:
        """The same, in the order of codes."""
        return self._of(name).levels(name)

    def codes(self, name: str) -> IntArray:
        """Their numbers."""
        return self._of(name).codes(name)

    def number(self, name: str) -> FloatArray:
        """As numbers, NaN where missing."""
        return self._of(name).number(name)

    def missing(self, name: str) -> BoolArray:
        """Which of them is none."""
        return self._of(name).missing(name)

    def with_columns(self, changed: Mapping[str, Any]) -> DistinctValues:
        """Columns whose values are read otherwise, value by value; several may become one."""
        read = dict(self.read)
        for name, values in changed.items():
            now = self.counts([name])
            read[name] = Counts.merged([Counts(now.table.with_columns({name: values}), now.rows)])
        return replace(self, read=read)

    def only(self, names: Sequence[str]) -> DistinctValues:
        """What is asked about a column is about it alone."""
        return self


def rows_of(table: Table, column: str) -> IntArray:
    """How many rows have each of a column's distinct values."""
    if isinstance(table, Table):
        return np.bincount(table.codes(column), minlength=len(table.levels(column)))
    return table.counts([column]).rows


def is_whole(table: Table, column: str) -> bool:
    """Whether a column is kept as whole numbers."""
    return bool(pa.types.is_integer(table.column(column).type)) if isinstance(table, Table) else table.is_whole(column)


def rows_with(table: Table, column: str, values: BoolArray) -> tuple[int, str]:
    """How many rows have one of some distinct values of a column, and, in words, where the first of them is: in a table, rows have a place."""
    many = int(rows_of(table, column)[values].sum())
    if not isinstance(table, Table) or not many:
        return many, ""
    return many, f" (first at row {int(np.argmax(values[table.codes(column)])) + 1})"
