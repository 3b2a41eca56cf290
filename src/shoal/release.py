"""Release: what may leave, how it was made, and, privately, where each row came from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from shoal.arrays import IntArray
from shoal.promises import Promise
from shoal.roles import Roles
from shoal.table import Table

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """One method applied: publishable."""

    method: str
    parameters: Mapping[str, Any]
    columns: tuple[str, ...]
    guarantees: tuple[str, ...]
    summary: str
    promises: tuple[Promise, ...] = ()


@dataclass(frozen=True, repr=False)
class Release:
    """`table` is the only part that may leave. Its rows are shuffled, carry no index, and identifiers are gone."""

    table: Table
    made_by: tuple[Step, ...]
    source_row: IntArray  # PRIVATE: release row -> original row, the truth that attacks are scored against
    roles: Roles = field(default_factory=Roles)  # what it was made under
    warnings: tuple[str, ...] = field(default=())
    _once: dict[Any, tuple[Any, Any]] = field(default_factory=dict, init=False, compare=False)  # what several measures and attacks need

    @staticmethod
    def of(table: Table, roles: Roles, step: Step, rng: Generator, warnings: tuple[str, ...] = ()) -> Release:
        """Close a method's work: drop identifiers, renumber households, shuffle the rows."""
        changed = {}
        for column in roles.household:
            codes = table.codes(column)
            fresh = (rng.permutation(int(codes.max(initial=0)) + 1) + 1)[codes]
            changed[column] = pa.array(fresh, mask=table.missing(column))  # no household is not a household
        source_row = rng.permutation(len(table))
        return Release(table.with_columns(changed).without(roles.identifier).take(source_row), (step,), source_row, roles, warnings)

    @staticmethod
    def given(table: Table, source_row: IntArray, roles: Roles) -> Release:
        """A release made elsewhere, with the original row of each of its rows."""
        return Release(table, (), np.asarray(source_row, np.int64), roles)

    def then(self, later: Release) -> Release:
        """This release, protected further."""
        return replace(
            later,
            roles=self.roles,
            made_by=(*self.made_by, *later.made_by),
            source_row=self.source_row[later.source_row],
            warnings=(*self.warnings, *(w for w in later.warnings if w not in self.warnings)),
        )

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What still holds: a promise about columns that a later step changed again is void."""
        standing: list[Promise] = []
        for i, step in enumerate(self.made_by):
            changed_later = {column for later in self.made_by[i + 1 :] for column in later.columns}
            standing.extend(promise for promise in step.promises if not changed_later & {*promise.columns, promise.about})
        return tuple(standing)

    def once(self, what: Hashable, compute: Callable[[], T], beside: object = None) -> T:
        """What several measures or attacks need, computed by the first that asks; `beside` is the original it was held against."""
        if what not in self._once or self._once[what][0] is not beside:
            self._once[what] = (beside, compute())
        return cast(T, self._once[what][1])

    @property
    def data(self) -> Any:
        """The released table as the kind of object the user handed in."""
        return self.table.to_native()

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"Release({self.table!r}, made by {', '.join(step.method for step in self.made_by) or 'others'})"
