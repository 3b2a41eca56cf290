"""Dates in text: how they are written, found out from the texts; reading them, and writing them back the same way."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, IntArray

ENOUGH = 0.9  # of the known cells: the column is one of dates, and what is none is a slip
DAY = 86_400_000_000  # microseconds
NANOSECONDS = 2**63 // 1000 - DAY  # microseconds that 64 bits of nanoseconds reach, but for a day
EARLIEST, LATEST = datetime.date(1000, 1, 1), datetime.date(2999, 12, 31)  # 31.12.9999 is a code, not a date
_YEAR_FIRST = re.compile(r"[12]\d{3}([-/.])\d{1,2}\1\d{1,2}")
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(?:[12]\d{3}|(\d{2}))")


class Form(NamedTuple):
    """How the dates of a column are written: one way, or several that its cells do not tell apart."""

    formats: tuple[str, ...]


def found_form(texts: Sequence[str | None], rows: IntArray) -> Form | None:
    """The form that most texts have, each of which stands in so many rows; None where they are no dates.

    Day or month comes first as a number above 12 tells; a year of two digits leaves the century open, and so is never taken by itself.
    """
    weight: dict[str, int] = {}
    ways: dict[str, list[int]] = {}
    known = sum(int(n) for text, n in zip(texts, rows) if text is not None)
    for text, n in zip(texts, rows.tolist()):
        if text is None:
            continue
        if year_first := _YEAR_FIRST.fullmatch(text):
            mark = "%Y{0}%m{0}%d".format(year_first[1])
        elif year_last := _YEAR_LAST.fullmatch(text):
            mark = "?{0}?{0}{1}".format(year_last[2], "%y" if year_last[4] else "%Y")
            day_first, month_first = ways.setdefault(mark, [0, 0])
            ways[mark] = [day_first + n * (int(year_last[1]) > 12), month_first + n * (int(year_last[3]) > 12)]
        else:
            continue
        weight[mark] = weight.get(mark, 0) + n
    commonest = max(weight, key=lambda mark: weight[mark], default="")
    if not commonest or weight[commonest] < ENOUGH * known:
        return None
    if commonest not in ways:
        return _kept(Form((commonest,)), texts, rows, known)
    orders = [commonest.replace("?", order[0], 1).replace("?", order[1], 1) for order in (("%d", "%m"), ("%m", "%d"))]
    day_first, month_first = ways[commonest]  # rows that tell
    told = day_first != month_first and "%y" not in commonest
    return _kept(Form((orders[day_first < month_first],) if told else tuple(orders)), texts, rows, known)


def _kept(form: Form, texts: Sequence[str | None], rows: IntArray, known: int) -> Form | None:
    """A form that most texts are dates in: the 31st of February is none."""
    right = [int(rows[~read_dates(texts, one)[1]].sum()) - int(rows.sum()) + known for one in form.formats]
    return form if max(right) >= ENOUGH * known else None


def read_dates(texts: Sequence[str | None], format_: str) -> tuple[pa.Array, BoolArray]:
    """The dates behind texts, and which texts are none of that form."""
    dates = [None if text is None else _read(text, format_) for text in texts]
    wrong = [text is not None and date is None for text, date in zip(texts, dates)]
    return pa.array(dates, pa.date32()), np.array(wrong, dtype=np.bool_)


def write_dates(dates: pa.Array, format_: str) -> pa.Array:
    """Dates in a form."""
    return pa.array([None if date is None else date.strftime(format_) for date in dates.to_pylist()], pa.string())


def is_format(format_: str) -> bool:
    """Whether a format says day, month and year, the century too, so that any date written in it can be read again."""
    some = (datetime.date(1887, 11, 23), datetime.date(2013, 2, 1))
    try:
        return all(_read(one.strftime(format_), format_) == one for one in some)
    except ValueError:
        return False


def _read(text: str, format_: str) -> datetime.date | None:
    try:
        date = datetime.datetime.strptime(text, format_).date()
    except (ValueError, re.error):  # the same part twice is no pattern
        return None
    return date if EARLIEST <= date <= LATEST else None


def reach_of(type_: pa.DataType) -> tuple[int, int]:
    """The first and the last day or moment of the years 1 to 9999, as a type counts them."""
    unit = type_.unit if pa.types.is_timestamp(type_) else "ms" if pa.types.is_date64(type_) else "day"
    per_day = {"s": 86_400, "ms": 86_400_000, "us": DAY, "ns": 1000 * DAY, "day": 1}[unit]
    first, last = ((day - datetime.date(1970, 1, 1)).days for day in (datetime.date.min, datetime.date.max))
    shift = 1 if getattr(type_, "tz", None) else 0  # a zone may move the first and last day out of the calendar
    return (first + shift) * per_day, (last + 1 - shift) * per_day - 1


def calendar_of(type_: pa.DataType, earliest: datetime.date | None = None) -> tuple[float, float]:
    """The years 1 to 9999, or those that dates in text are read in; what is counted in nanoseconds ends sooner."""
    first, last = (earliest, LATEST) if earliest else (datetime.date.min, datetime.date.max)
    days = [(day - datetime.date(1970, 1, 1)).days for day in (first, last)]
    if pa.types.is_date(type_):
        return float(days[0]), float(days[1])
    # a day from the ends: a zone may shift them. A float does not tell single microseconds that far out
    low, high = (days[0] + 1) * DAY, (days[1] - 1) * DAY
    return (float(max(low, -NANOSECONDS)), float(min(high, NANOSECONDS))) if type_.unit == "ns" else (float(low), float(high))
