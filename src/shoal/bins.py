"""Bins: numbers and dates with very many different values are cut before anything is counted, so that counts stay few wherever the rows live.

A bin is [i w, (i + 1) w) for a whole number i, its width w round. Which one a value is in, an engine can say, too, and must say alike:

whole numbers   i = value // w by integers, rounded down, also below 0
days, moments   the same, of days or microseconds since 1970; nanoseconds are rounded down to microseconds first
other numbers   i = floor(value * per / of) in float64, where w = of / per and one of them is 1; one less where i * of / per is above the value
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, count
from math import floor, log10
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import cell
from shoal.arrays import FloatArray, IntArray
from shoal.dates import reach_of
from shoal.table import FARTHEST, Table

MANY_VALUES = 10_000  # different values of a column of numbers or dates; one with more is cut into at most so many bins
FEWEST_BINS = 100  # coarser ones would be felt: a cell then leaves open more than a hundredth of its column
Holds = Literal["whole", "numbers", "days", "moments"]
_LARGEST = 1 << 62  # whole numbers beyond are left as they are: the end of their bin might not fit into 64 bits
_NANOSECONDS = 2**63 // 1000  # microseconds that 64 bits of nanoseconds reach
_EXACT = 2.0**53  # floating point tells whole numbers apart below
_UNITS = {"day": 86_400, "hour": 3600, "minute": 60, "second": 1}
_SHORT = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)  # round seconds, of less than a day
_PER_SECOND = {"s": 1, "ms": 1000, "us": 1_000_000, "ns": 1_000_000_000}


class Extent(NamedTuple):
    """What decides how a column is cut: its lowest and highest value, how many different ones it has (of more than MANY_VALUES any such number
    will do), and what it holds: whole numbers, also as floating point; other numbers; days, or microseconds, since 1970."""

    low: float
    high: float
    distinct: int
    holds: Holds

    @staticmethod
    def of(table: Table, column: str) -> Extent | None:
        """Of a column of numbers or dates; None where it has no value."""
        levels = table.levels(column).drop_null()
        if not len(levels):
            return None
        if table.kind(column) == "date":
            low, high = _whole(levels.take(pa.array([0, len(levels) - 1]))).tolist()
            return Extent(low, high, len(levels), "days" if pa.types.is_date(levels.type) else "moments")
        if pa.types.is_integer(levels.type):
            return Extent(levels[0].as_py(), levels[-1].as_py(), len(levels), "whole")
        values = levels.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        low, high = float(values[0]), float(values[-1])
        whole = max(-low, high) < _EXACT and bool((values == np.rint(values)).all())
        return Extent(low, high, len(levels), "whole" if whole else "numbers")


@dataclass(frozen=True)
class Bin:
    """How a column is cut: into bins as wide as of / per, one of which is 1. Of days and moments it is so many days and microseconds."""

    of: int
    per: int
    holds: Holds

    def many(self, extent: Extent) -> int:
        """How many bins there are from the lowest value to the highest."""
        if extent.holds != "numbers":
            return int(extent.high) // self.of - int(extent.low) // self.of + 1
        low, high = self.numbers(np.array([extent.low, extent.high])).tolist()
        return int(high - low) + 1

    def numbers(self, values: FloatArray) -> FloatArray:
        """The numbers of the bins that floating-point values are in."""
        found = np.floor(values * float(self.per) / float(self.of))
        return found - (self.begins(found) > values)  # the product may have been rounded up to the next bin

    def begins(self, numbers: FloatArray) -> FloatArray:
        """Where the bins of these numbers begin."""
        return numbers * float(self.of) / float(self.per)

    @property
    def width(self) -> str:
        """In words: 100, 5 days, 1 hour."""
        if self.holds in ("whole", "numbers"):
            return cell.number(self.of / self.per)
        seconds = self.of * _UNITS["day"] if self.holds == "days" else self.of // _PER_SECOND["us"]
        unit = next(unit for unit, many in _UNITS.items() if seconds % many == 0)
        many = seconds // _UNITS[unit]
        return f"{many} {unit}{'s' if many > 1 else ''}"


Bins = Mapping[str, Bin]


def bins_for(extents: Mapping[str, Extent | None]) -> Bins:
    """The columns with more than MANY_VALUES different values, each in the narrowest round bins of which there are at most so many."""
    cut = {c: one for c, one in extents.items() if one is not None and one.distinct > MANY_VALUES and _can_be_cut(one)}
    return {column: narrowest(extent, MANY_VALUES) for column, extent in cut.items()}


def narrowest(extent: Extent, most: int) -> Bin:
    """The narrowest round bins of which at most so many reach from the lowest value to the highest."""
    widths = (Bin(of, per, extent.holds) for of, per in _round_widths(extent, most))
    return next(one for one in widths if one.many(extent) <= most)


def coarser(bins: Bins, extents: Mapping[str, Extent | None]) -> Bins | None:
    """The same, but for the column with most bins (or values, where it is not cut yet), whose bins are the next wider ones. For counts that do not
    fit into memory; None where no column has more than FEWEST_BINS."""
    able = {column: extent for column, extent in extents.items() if extent is not None and _can_be_cut(extent)}
    sizes = {column: bins[column].many(extent) if column in bins else extent.distinct for column, extent in able.items()}
    most = max(sizes, key=lambda column: sizes[column], default="")
    if sizes.get(most, 0) <= FEWEST_BINS:
        return None
    return {**bins, most: narrowest(able[most], sizes[most] - 1 if most in bins else sizes[most] // 2)}


def told(bins: Bins) -> tuple[str, ...]:
    """What a release says of them."""
    return tuple(
        f"Column '{column}' was cut into bins of {one.width} before anything was counted: it has too many different values to count each."
        for column, one in bins.items()
    )


def binned(table: Table, bins: Bins) -> Table:
    """The table with the beginning of its bin in place of each value, and the bins remembered. Whole numbers become 64 bits wide, other numbers
    floating point, times with a zone those of UTC; dates stay what they were, and missing stays missing."""
    cut = {column: one for column, one in bins.items() if column in table.columns}
    return replace(table.with_columns({c: _first_values(table.column(c), one) for c, one in cut.items()}), bins=cut) if cut else table


def last_values(table: Table, column: str) -> pa.Array:
    """Up to where each distinct value of a column reaches, in the order of codes: itself; of a bin the last whole number, day or moment in it, and
    of other numbers its end."""
    levels = table.levels(column)
    if column not in table.bins:
        return levels
    one = table.bins[column]
    if not pa.types.is_floating(levels.type):
        return _in_type((_whole(levels) // one.of + 1) * one.of - 1, levels)
    begins = levels.fill_null(0.0).to_numpy(zero_copy_only=False)
    ends = one.begins(np.rint(begins * float(one.per) / float(one.of)) + 1) - (one.holds == "whole")
    return pa.array(ends, mask=np.asarray(pc.is_null(levels)))


def _first_values(values: pa.Array, one: Bin) -> pa.Array:
    if pa.types.is_integer(values.type) or pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return _in_type(_whole(values) // one.of * one.of, values)
    known = values.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(zero_copy_only=False)
    return pa.array(one.begins(one.numbers(known)), mask=np.asarray(pc.is_null(values)))


def _whole(values: pa.Array) -> IntArray:
    """Whole numbers, days, or moments in microseconds; 0 where missing."""
    if pa.types.is_date(values.type):
        values = values.cast(pa.date32(), safe=False).cast(pa.int32())
    whole: IntArray = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    many = _PER_SECOND[values.type.unit] if pa.types.is_timestamp(values.type) else _PER_SECOND["us"]
    return whole // (many // _PER_SECOND["us"]) if many > _PER_SECOND["us"] else whole * (_PER_SECOND["us"] // many)


def _in_type(whole: IntArray, like: pa.Array) -> pa.Array:
    """The same numbers as they are kept; a bin may begin before the calendar does, or end after it."""
    missing = np.asarray(pc.is_null(like))
    if pa.types.is_date(like.type):
        days = np.clip(whole, *reach_of(pa.date32())).astype(np.int32)
        return pa.array(days, mask=missing).cast(pa.date32()).cast(like.type)
    if not pa.types.is_timestamp(like.type):
        return pa.array(whole, pa.int64(), mask=missing)
    first, last = reach_of(pa.timestamp("us"))
    many = _PER_SECOND[like.type.unit]
    if many > _PER_SECOND["us"]:
        whole = np.clip(whole, -_NANOSECONDS, _NANOSECONDS) * (many // _PER_SECOND["us"])
    else:
        whole = np.clip(whole, first, last) // (_PER_SECOND["us"] // many)
    return pa.array(whole, pa.int64(), mask=missing).cast(pa.timestamp(like.type.unit))


def _can_be_cut(extent: Extent) -> bool:
    farthest = max(-extent.low, extent.high)
    if extent.holds == "numbers":
        return farthest <= FARTHEST and extent.high - extent.low >= 1 / FARTHEST
    return extent.holds != "whole" or farthest <= _LARGEST


def _round_widths(extent: Extent, most: int) -> Iterable[tuple[int, int]]:
    """1, 2 or 5 times a power of ten, from a little below what is needed; of moments round numbers of seconds, minutes, hours and days."""
    if extent.holds == "moments":
        days = (86_400 * of for of, _ in _tens(0))
        return ((seconds * _PER_SECOND["us"], 1) for seconds in chain(_SHORT, days))
    least = (extent.high - extent.low) / most
    power = floor(log10(least)) - 1 if least > 0 else 0
    return _tens(power if extent.holds == "numbers" else max(power, 0))


def _tens(power: int) -> Iterator[tuple[int, int]]:
    for exponent in count(power):
        for digit in (1, 2, 5):
            yield (digit * 10**exponent, 1) if exponent >= 0 else (1, 10**-exponent // digit)
