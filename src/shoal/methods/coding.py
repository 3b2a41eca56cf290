"""Top and bottom coding: what lies beyond a limit is replaced."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, model_validator

from shoal.arrays import BoolArray, FloatArray
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.counts import Counts
from shoal.errors import DataError, ParameterError, counted
from shoal.methods.coordinates import constant_columns
from shoal.methods.limits import (
    check_columns_named,
    first_row,
    place_of,
    refuse_rows,
    round_above,
    round_below,
    texts_of,
    with_columns_named,
    written,
)
from shoal.methods.recoding import BatchMethod, Decision, NewValues, revalued
from shoal.params import NumberOrDay
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.table import Table

Replacement = Literal["limit", "cell", "mean"]


class Limit(NamedTuple):
    """A limit of one column, and which of its values lie beyond."""

    place: float
    value: pa.Scalar  # in the type of the column, where that can hold it
    text: str
    beyond: BoolArray  # of each distinct value


class TailCoding(BatchMethod):
    """Values beyond a limit of their column are replaced; those inside stay as they are, to the last digit."""

    scope: ClassVar[Scope] = "row"  # beside the row, only counts of one column and exact sums are needed
    guarantees: ClassVar[tuple[str, ...]] = ()
    counts_persons: ClassVar[bool] = True
    which: ClassVar[Literal["above", "below"]]
    usual: ClassVar[float]  # the percentile, where nothing is said
    limit: NumberOrDay | Mapping[str, NumberOrDay] | None = Field(
        None, description="The limit of each column, income:50000,born:1990-12-31; one alone where one column is named"
    )
    percentile: float | None = Field(None, ge=0, le=100, description="Instead of limits: the percentile of each column's known values")
    replacement: Replacement = Field(
        "limit",
        description="limit: the limit itself; cell: an interval from the limit to a round number; mean: the mean of what is replaced",
    )
    fewest: int = Field(3, ge=2, description="With mean: fewest records (persons, where they are told) whose mean may be released")

    @model_validator(mode="before")
    @classmethod
    def _by_column(cls, given: Any) -> Any:
        given = with_columns_named(given, "limit")
        limit, columns = given.get("limit"), given.get("columns")
        if limit is None:
            return {"percentile": cls.usual} | {key: value for key, value in given.items() if key != "percentile" or value is not None}
        if given.get("percentile") is not None:
            raise ValueError("limit and percentile say two things. Keep one of them.")
        if isinstance(limit, Mapping):
            return given
        if not isinstance(columns, list | tuple) or len(columns) != 1:
            raise ValueError("limit is one for several columns, or for none by name. Write it column:number, such as limit=income:50000.")
        return {**given, "limit": {columns[0]: limit}}

    @model_validator(mode="after")
    def _every_column(self) -> Self:
        if isinstance(self.limit, Mapping):
            check_columns_named("limit", self.limit, self.columns)
        return self

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also weights, where they weigh a mean."""
        return (*super().reads(roles), *(roles.weight if self.replacement == "mean" else ()))

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """Every value beyond its column's limit, whichever row it stands in."""
        columns = self.chosen(table, roles, ("numeric",))
        new, warnings = {}, list[str]()
        for done, column in enumerate(columns):
            counts = table.counts([column])
            warnings.extend(constant_columns(counts.table, [column], counts.total))
            limit = self._limit(counts, column)
            if limit is not None and limit.beyond.any():
                new[column] = self._replaced(table, roles, counts, column, limit, chance)
            elif limit is not None:
                warnings.append(f"Column '{column}' has no value {self.which} its limit; nothing of it was replaced.")
            progress("coding", done + 1, len(columns))
        return revalued(new, self.step(columns, ()), tuple(warnings))

    def _limit(self, counts: Counts, column: str) -> Limit | None:
        """The limit as it was given, or the value at the percentile; None for a column without a value."""
        table, levels = counts.table, counts.table.column(column)
        places = table.number(column)
        known = ~np.isnan(places)
        if not known.any():
            return None
        if isinstance(self.limit, Mapping):
            place = place_of(self.name, table, column, self.limit[column])
            return Limit(place, _scalar(table, column, place), written(table, column, place), self._beyond(table, column, place))
        assert self.percentile is not None
        at = _at_percentile(counts.rows[known], self.percentile)  # levels are in order, missing last
        inside = np.arange(len(places)) <= at if self.which == "above" else np.arange(len(places)) >= at
        return Limit(float(places[at]), levels[at], str(texts_of(levels)[at]), ~inside & known)

    def _beyond(self, table: Table, column: str, place: float) -> BoolArray:
        """Strictly. Whole numbers are compared as such: a float does not tell the largest apart."""
        above, numbers = self.which == "above", table.number(column)
        if not pa.types.is_integer(table.column(column).type):
            return np.asarray(numbers > place if above else numbers < place)
        whole, known = math.floor(place) if above else math.ceil(place), table.column(column).drop_null().to_numpy()
        ends = np.iinfo(known.dtype)
        beyond = np.zeros(len(numbers), np.bool_)  # missing is the last level
        if ends.min <= whole <= ends.max:
            beyond[: len(known)] = known > known.dtype.type(whole) if above else known < known.dtype.type(whole)
        else:
            beyond[: len(known)] = (whole < ends.min) == above
        return beyond

    def _replaced(self, source: Source, roles: Roles, counts: Counts, column: str, limit: Limit, chance: Chance) -> NewValues:
        levels, beyond = counts.table.column(column), pa.array(limit.beyond)
        if self.replacement == "cell":
            return NewValues(
                counts, pc.if_else(beyond, self._cell(counts.table, column, limit), pa.array(texts_of(levels), pa.string())), "cells"
            )
        value = limit.value
        if self.replacement == "mean":
            self._enough(source, roles, column, counts, limit)
            value = _scalar(counts.table, column, self._mean(source, roles, column, counts, limit, chance))
        if value.type != levels.type:
            try:
                levels = levels.cast(value.type)
            except pa.ArrowInvalid:
                raise DataError(
                    f"{self.name}: column '{column}' has whole numbers too large to stand beside a fraction. Use replacement=cell, or a whole limit.",
                    about=column,
                ) from None
        return NewValues(counts, pc.if_else(beyond, value, levels))

    def _cell(self, table: Table, column: str, limit: Limit) -> str:
        """From the limit to a round place beyond the farthest value, so that its end is nobody's."""
        places = table.number(column)[limit.beyond]
        if self.which == "above":
            return f"[{limit.text}..{written(table, column, round_above(table, column, float(places.max())))}]"
        return f"[{written(table, column, round_below(table, column, float(places.min())))}..{limit.text}]"

    def _enough(self, source: Source, roles: Roles, column: str, counts: Counts, limit: Limit) -> None:
        """The mean of one person is that person's value; of two, each can subtract its own."""
        person = [one for one in roles.person if one in source.columns]
        many, what = int(counts.rows[limit.beyond].sum()), "record"
        if person:
            pairs = source.counts([column, person[0]])
            inside = limit.beyond[counts.places(pairs.table.only([column]))]
            many, what = len(np.unique(pairs.table.codes(person[0])[inside])), "person"
        if many < self.fewest:
            raise ParameterError(
                f"{self.name}: {counted(many, what)} of column '{column}' {'is' if many == 1 else 'are'} {self.which} its limit, and a mean needs "
                f"{self.fewest} or more: of fewer it tells their values. Use a limit farther in, or replacement=limit.",
                about=column,
            )

    def _mean(self, source: Source, roles: Roles, column: str, counts: Counts, limit: Limit, chance: Chance) -> float:
        """Of what is beyond, weighted where weights are told; summed exactly, so that no order of rows changes it."""
        places = counts.table.number(column)
        if not roles.weight:
            return _exact_mean(places[limit.beyond], counts.rows[limit.beyond].astype(np.float64))
        if len(roles.weight) > 1:
            raise ParameterError(
                f"{self.name}: {len(roles.weight)} columns are weights, and a mean is weighted by one. Give the others another role."
            )
        weight = roles.weight[0]

        def odd(table: Table) -> BoolArray:
            inside = limit.beyond[counts.places(table)]
            return inside & ~(table.number(weight) > 0)

        wrong = first_row(source, odd)
        refuse_rows(
            self.name,
            weight,
            wrong,
            "missing or not above 0",
            "They cannot weigh a mean. Clean them, or use replacement=limit.",
        )
        pairs = source.counts([column, weight])
        inside = limit.beyond[counts.places(pairs.table.only([column]))]
        weights = pairs.rows[inside] * pairs.table.number(weight)[inside]
        return _exact_mean(pairs.table.number(column)[inside], weights)


class TopCoding(TailCoding):
    """Replace every value above a limit, by the limit, an interval or their mean (Hundepool et al. 2012).

    It hides how far out the farthest are, and nothing else: a record with other rare values stays unique. By the mean, totals stay what they were.
    """

    name: ClassVar[str] = "top-coding"
    title: ClassVar[str] = "Top coding"
    which: ClassVar[Literal["above", "below"]] = "above"
    usual: ClassVar[float] = 95.0


class BottomCoding(TailCoding):
    """Replace every value below a limit, by the limit, an interval or their mean (Hundepool et al. 2012).

    It hides how far out the farthest are, and nothing else: a record with other rare values stays unique. By the mean, totals stay what they were.
    """

    name: ClassVar[str] = "bottom-coding"
    title: ClassVar[str] = "Bottom coding"
    which: ClassVar[Literal["above", "below"]] = "below"
    usual: ClassVar[float] = 5.0


def _at_percentile(rows: Any, percentile: float) -> int:
    """The first value that so many percent of the rows do not exceed. Whole numbers are compared, so nothing is rounded."""
    share = Fraction(repr(percentile)) / 100
    needed = math.ceil(share * int(rows.sum()))
    return int(np.searchsorted(np.cumsum(rows), max(needed, 1)))


def _exact_mean(values: FloatArray, weights: FloatArray) -> float:
    low, high = float(values.min()), float(values.max())
    mean = math.fsum(values * weights) / math.fsum(weights)
    return min(max(mean, low), high)  # of equal values it is that value


def _scalar(table: Table, column: str, place: float) -> pa.Scalar:
    """A place in the type of its column, where that can hold it; else as floating point."""
    made = table.as_column(column, np.array([place]))
    type_ = table.column(column).type
    try:
        return made.cast(type_)[0]
    except pa.ArrowInvalid:
        return made[0]
