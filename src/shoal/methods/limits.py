"""Limits, bases and cut points: for which columns they are given, where they lie among a column's values, and which round number lies beyond."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.contracts import Source
from shoal.errors import DataError, ParameterError, counted
from shoal.rows import Batch
from shoal.table import Table

_EPOCH = datetime.date(1970, 1, 1)
_MICROSECONDS = 86_400_000_000  # of a day
_ROUND = (1, 2, 5, 10)


def with_columns_named(given: Any, key: str) -> Any:
    """Parameters as they were given: a mapping by column names the columns, where nothing else does."""
    if isinstance(given, Mapping) and isinstance(given.get(key), Mapping) and given.get("columns") is None:
        return {**given, "columns": tuple(given[key])}
    return given


def check_columns_named(key: str, by_column: Mapping[str, object], columns: Sequence[str] | None) -> None:
    """Every column has its number, and every number its column; raises what a validator raises."""
    if not by_column:
        raise ValueError(f"{key} names no column. Write it column:number, such as {key}=age:90.")
    for column in columns or ():
        if column not in by_column:
            raise ValueError(f"{key} says nothing of column '{column}'. Add it, or take the column out of columns.")
    for column in by_column:
        if column not in (columns or ()):
            raise ValueError(f"{key} names '{column}', which is not among columns. Add it to them, or leave columns out.")


def place_of(method: str, table: Table, column: str, given: float | str) -> float:
    """Where a number or a day lies, as `Table.number` counts; a number is no date, and a day no number."""
    kind = table.kind(column)
    if kind == "date" and isinstance(given, str):
        days = (datetime.date.fromisoformat(given) - _EPOCH).days
        return float(days if _whole_days(table, column) else days * _MICROSECONDS)
    if kind == "date" or isinstance(given, str):
        holds, write = ("dates", "a day, such as 1990-12-31") if kind == "date" else ("numbers", "a number")
        raise ParameterError(f"{method}: column '{column}' holds {holds}. Give it {write}.", about=column)
    return given


def written(table: Table, column: str, place: float) -> str:
    """A place as cells write it: a number, a day, or a moment."""
    if table.kind(column) != "date":
        return cell.number(place)
    return cell.like(place, "1970-01-01" if _whole_days(table, column) else "1970-01-01 00:00:00")


def texts_of(levels: pa.Array) -> list[str | None]:
    """Values as cells write them."""
    return [text and text.removesuffix(".000000") for text in levels.cast(pa.string()).to_pylist()]


def round_above(table: Table, column: str, place: float) -> float:
    """The next round place above a value, which does not tell the value: 1, 2 or 5 with noughts (0 is as round as can be); of dates the last day
    of their decade, of moments the first of the next."""
    if table.kind(column) != "date":
        return next_round(place)
    days = _whole_days(table, column)
    moment = _EPOCH + datetime.timedelta(int(place // (1 if days else _MICROSECONDS)))
    year = moment.year // 10 * 10 + (9 if days else 10)
    day = datetime.date(year, 12, 31) if days else datetime.date(min(year, 9999), 1, 1)
    since = (day - _EPOCH).days
    end = float(since if days else since * _MICROSECONDS)
    return max(place, min(end, table.calendar(column)[1]))


def round_below(table: Table, column: str, place: float) -> float:
    """The next round place below a value; of dates and moments the first day of their decade."""
    if table.kind(column) != "date":
        return -next_round(-place)
    days = _whole_days(table, column)
    moment = _EPOCH + datetime.timedelta(int(place // (1 if days else _MICROSECONDS)))
    since = (datetime.date(max(moment.year // 10 * 10, 1), 1, 1) - _EPOCH).days
    start = float(since if days else since * _MICROSECONDS)
    return min(place, max(start, table.calendar(column)[0]))


def next_round(value: float) -> float:
    """The smallest of ..., 0.5, 1, 2, 5, 10, 20, ... above a number, or of those with a minus; 0 stays."""
    if not value:
        return 0.0
    exact = Decimal(repr(abs(value)))
    around = [Decimal(digit).scaleb(exact.adjusted()) for digit in (Decimal("0.5"), *_ROUND)]
    if value > 0:
        return float(min(one for one in around if one > exact))
    return -float(max(one for one in around if one < exact))


def first_row(source: Source, wrong: Callable[[Table], BoolArray]) -> tuple[int, int]:
    """How many rows are wrong, and the number of the first, counted from 1."""

    def look(batch: Batch) -> IntArray:
        return batch.rows[wrong(batch.table)]

    rows = np.concatenate(list(source.each(look, None)))
    return len(rows), int(rows.min(initial=-1 if not len(rows) else rows[0])) + 1


def refuse_rows(method: str, column: str, found: tuple[int, int], what: str, way_out: str) -> None:
    """Values that a method has no place for, with the row of the first."""
    many, first = found
    if many:
        raise DataError(f"{method}: column '{column}' has {counted(many, 'value')} {what} (first at row {first}). {way_out}", about=column)


def in_type(values: FloatArray, levels: pa.Array, table: Table, column: str) -> pa.Array:
    """Numbers in the type of the column they come from, where it can hold them all; else as floating point. NaN is missing."""
    made = table.as_column(column, values)
    try:
        return made.cast(levels.type)
    except pa.ArrowInvalid:
        return made


def _whole_days(table: Table, column: str) -> bool:
    return bool(pa.types.is_date(table.column(column).type))
