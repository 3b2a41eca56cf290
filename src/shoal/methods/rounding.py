"""Rounding: numbers become multiples of a base."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from shoal.arrays import BoolArray, FloatArray, UintArray
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.errors import DataError, ParameterError
from shoal.methods.coordinates import constant_columns
from shoal.methods.limits import check_columns_named, in_type, with_columns_named
from shoal.methods.recoding import BatchMethod, Change, Decision, NewValues, revalued
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.rows import Batch, hashed_levels
from shoal.table import Table

Base = Annotated[float, Field(gt=0)]
_EXACT = 2.0**52  # floats have no halves beyond
_NEAR = 1e-12  # what a quotient may be off by, and still be a multiple or a half
_LARGEST = 2**62


class Rounding(BatchMethod):
    """Round numbers to multiples of a base, to the nearest or up and down by chance (Hundepool et al. 2012).

    It hides digits, and nothing else: with other columns beside it a record stays unique. By chance each value is right on average: it goes up
    with the probability of its remainder over the base. Whoever knows the base knows a value to less than the base.
    """

    name: ClassVar[str] = "rounding"
    title: ClassVar[str] = "Rounding"
    scope: ClassVar[Scope] = "row"
    guarantees: ClassVar[tuple[str, ...]] = ()
    counts_persons: ClassVar[bool] = True  # it counts nobody
    base: Base | Mapping[str, Base] = Field(
        5.0, description="Values become multiples of it: one base for all columns, or age:5,income:1000"
    )
    rule: Literal["nearest", "random"] = Field(
        "nearest", description="nearest: halves away from 0; random: up with the probability of the remainder over the base"
    )

    @model_validator(mode="before")
    @classmethod
    def _by_column(cls, given: Any) -> Any:
        return with_columns_named(given, "base")

    @model_validator(mode="after")
    def _every_column(self) -> Self:
        if isinstance(self.base, Mapping):
            check_columns_named("base", self.base, self.columns)
        return self

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """Each value by itself; by chance, each row."""
        columns = self.chosen(table, roles, ("numeric",))
        bases = dict(self.base) if isinstance(self.base, Mapping) else dict.fromkeys(columns, self.base)
        for column in columns:
            if table.kind(column) == "date":
                raise ParameterError(
                    f"{self.name}: column '{column}' holds dates, which have no multiples. Recode them by cut points, or leave them out with columns.",
                    about=column,
                )
        every = {column: table.counts([column]) for column in columns}
        warnings = tuple(w for column, counts in every.items() for w in constant_columns(counts.table, [column], counts.total))
        step = self.step(columns, ())
        progress("rounding", 1, 1)
        if self.rule == "nearest":
            new = {column: NewValues(one, rounded(one.table, column, bases[column], None)) for column, one in every.items()}
            return revalued(new, step, warnings)

        def by_chance(batch: Batch) -> Change:
            draws = {column: chance.uniform(_drawn_for(batch, roles, column, chance), column) for column in columns}
            return Change({column: rounded(batch.table, column, bases[column], draws[column]) for column in columns})

        return Decision(step, by_chance, warnings, chance=chance)


def rounded(table: Table, column: str, base: float, draws: FloatArray | None) -> pa.Array:
    """A column in multiples of a base; with draws from 0 to 1, up where the draw is below the remainder's share of the base."""
    if table.kind(column) == "empty":
        return table.column(column)
    if pa.types.is_integer(table.column(column).type):
        if base.is_integer() and base < _LARGEST:
            return _whole(table, column, int(base), draws)
        _refuse_inexact(table, column)
    return in_type(_multiples(table.number(column), base, draws), table.column(column), table, column)


def _whole(table: Table, column: str, base: int, draws: FloatArray | None) -> pa.Array:
    """Whole numbers by a whole base, in whole numbers."""
    array, missing = table.column(column), table.missing(column)
    try:
        values = array.fill_null(0).cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        values = np.array([_LARGEST])
    if (values >= _LARGEST).any() or (values <= -_LARGEST).any():
        raise DataError(f"rounding: column '{column}' holds whole numbers too large to round. Give it in another unit.", about=column)
    if draws is None:
        size = np.abs(values)
        made = np.sign(values) * ((size + base // 2 if base % 2 == 0 else size + (base - 1) // 2) // base * base)
    else:
        down, left = values // base * base, values % base
        made = down + base * (draws < left / base)
    whole = pa.array(made, mask=missing)
    try:
        return whole.cast(array.type)
    except pa.ArrowInvalid:
        return whole


def _multiples(values: FloatArray, base: float, draws: FloatArray | None) -> FloatArray:
    """As people count: 0.15 is one and a half times 0.1, though neither number is quite that."""
    ratio = Fraction(repr(base))
    above, below = (float(ratio.numerator), float(ratio.denominator)) if max(ratio.numerator, ratio.denominator) < _EXACT else (base, 1.0)
    times = values * below / above
    halves = np.rint(2 * times) / 2
    times = np.where(np.abs(times - halves) <= _NEAR * np.maximum(1, np.abs(times)), halves, times)
    if draws is None:
        number = np.sign(times) * np.floor(np.abs(times) + 0.5)
    else:
        number = np.floor(times) + (draws < times - np.floor(times))
    return np.where(np.abs(times) < _EXACT, number * above / below, values)  # what is larger has no digits to hide


def _drawn_for(batch: Batch, roles: Roles, column: str, chance: Chance) -> UintArray:
    """What a row draws by: where rows are of persons, the person and the value, so that many rows of one do not average to it."""
    if not roles.person or roles.person[0] not in batch.table.columns:
        return batch.ids
    hashes = [hashed_levels(batch.table, one, chance)[batch.table.codes(one)] for one in (roles.person[0], column)]
    return np.asarray(hashes[0] + hashes[1])


def _refuse_inexact(table: Table, column: str) -> None:
    largest: BoolArray = np.abs(table.number(column)) >= 2.0**53
    if largest.any():
        raise DataError(
            f"rounding: column '{column}' holds whole numbers too large to round by a fraction. Use a whole base, or give it in another unit.",
            about=column,
        )
