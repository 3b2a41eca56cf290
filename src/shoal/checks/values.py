"""What the cells of a written column mean: which are missing, which are one value, and in which order values stand. Nothing is rounded.

A column is read as a whole: of numbers if every known cell is one, else of dates, else of text. Whole numbers and decimals are compared digit
by digit, text by its letters as they are; 007 is a code and so text, and so is everything beside it.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, IntArray

_WHOLE = "^-?(0|[1-9][0-9]{0,17})$"  # fits 64 bits
_NUMBER = {
    mark: re.compile(rf"[+-]?((0|[1-9][0-9]*)([{mark}][0-9]*)?|[{mark}][0-9]+)([eE][+-]?[0-9]{{1,9}})?|[+-]?[iI]nf(inity)?", re.ASCII)
    for mark in ".,"
}
_ZERO = re.compile(r"-0(?:[.,]0*)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SIGNED = re.compile(r"[+-](?:(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?|[iI]nf(?:inity)?)", re.ASCII)
_DATE = re.compile(
    r"([+-]?[0-9]{4,})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?(?:Z|([+-])([0-9]{2}):?([0-9]{2}))?)?"
)


class Written(NamedTuple):
    """How a file writes what is missing, dates where not year first, the mark before decimals, and text that looks like a formula."""

    missing: str = ""
    dates: Mapping[str, str] = {}
    decimal: str = "."
    formulas: str = "keep"  # escape: an apostrophe stands before them


AS_USUAL = Written()


def without_escapes(levels: pa.Array) -> pa.Array:
    """The texts that were meant: one apostrophe less where some stand before a formula."""
    if not pa.types.is_string(levels.type):
        return levels
    return pa.array([text[1:] if text and text[0] == "'" and _runs(text.lstrip("'")) else text for text in levels.to_pylist()], pa.string())


def formulas_among(levels: pa.Array) -> BoolArray:
    """Which texts a spreadsheet program might run: they begin like a formula, and are no number."""
    return np.array([bool(text) and _runs(text) and not _SIGNED.fullmatch(text) for text in levels.to_pylist()], np.bool_)


def _runs(text: str) -> bool:
    bare = text.lstrip(" \t\r\n\f\v")
    return text[:1] in ("\t", "\r", "\n") or (len(bare) > 1 and bare[0] in "=+-@＝＋－＠")


def is_missing(levels: pa.Array, missing: str) -> BoolArray:
    """Whether a cell is none: empty, no number, or as the file writes a missing one."""
    nothing = pc.is_null(levels, nan_is_null=pa.types.is_floating(levels.type))
    if not pa.types.is_string(levels.type):
        return np.asarray(nothing)
    return np.asarray(pc.or_(nothing, pc.is_in(levels, value_set=pa.array([missing, ""]))))


def same_value(levels: pa.Array, none: BoolArray, decimal: str = ".") -> IntArray:
    """A number for each cell, the same for cells of one value: all that are missing; and zero, whatever its sign."""
    number = np.arange(len(levels))
    if none.any():
        number[none] = np.argmax(none)
    known = levels.filter(pa.array(~none))
    if pa.types.is_floating(levels.type):
        zero = np.asarray(pc.equal(levels, 0.0).fill_null(False)) & ~none
        number[zero] = np.argmax(zero)
    elif pa.types.is_string(levels.type) and pc.any(pc.match_substring_regex(known, "^-0")).as_py():
        texts = known.to_pylist()
        if all(map(_NUMBER[decimal].fullmatch, texts)):
            first = dict(zip(reversed(texts), reversed(np.flatnonzero(~none).tolist())))
            for text in texts:
                if _ZERO.fullmatch(text) and text[1:] in first:
                    number[first[text]] = first[text[1:]]
    return number


def places(levels: pa.Array, none: BoolArray, form: str = "", decimal: str = ".") -> IntArray:
    """Where each cell stands in the order of its column's values: numbers by size, dates by time, else text by letters; cells of one value
    stand in one place, and missing after all. `form` says how dates are written, where not year first."""
    found = np.zeros(len(levels), np.int64)
    known = levels.filter(pa.array(~none))
    found[~none] = _ranks(known, form, decimal)
    found[none] = int(found.max(initial=-1)) + 1 if len(known) else 0
    return found


def has_order(levels: pa.Array, none: BoolArray, form: str = "", decimal: str = ".") -> BoolArray:
    """Which cells stand in an order that is not that of letters: numbers, or dates, whichever more of the known ones are; missing ones do."""
    found = none.copy()
    if not pa.types.is_string(levels.type):
        found[:] = not pa.types.is_boolean(levels.type) and not pa.types.is_nested(levels.type)
        return found
    texts = levels.filter(pa.array(~none)).to_pylist()
    numbers = np.array([not form and bool(_NUMBER[decimal].fullmatch(text)) for text in texts], np.bool_)
    times = numbers if numbers.all() else np.array([_time(text, form) is not None for text in texts], np.bool_)
    found[~none] = numbers if numbers.sum() > times.sum() else times
    return found


def _ranks(known: pa.Array, form: str, decimal: str) -> IntArray:
    type_ = known.type
    if pa.types.is_date(type_) or pa.types.is_time(type_) or pa.types.is_timestamp(type_) or pa.types.is_duration(type_):
        known = known.view(pa.int32() if type_.bit_width == 32 else pa.int64())
    if pa.types.is_string(type_):
        if len(known) and not pc.all(pc.match_substring_regex(known, _WHOLE)).as_py():
            return _ranked(_keys(known.to_pylist(), form, decimal))
        known = known.cast(pa.int64())
    if pa.types.is_decimal(type_):
        return _ranked(known.to_pylist())
    values = known.to_numpy(zero_copy_only=False)
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _ranked(keys: Sequence[Any]) -> IntArray:
    rank = {key: i for i, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _keys(texts: list[str], form: str, decimal: str) -> Sequence[Any]:
    """What texts are compared by: all as numbers, or all as dates, or as they are."""
    if all(map(_NUMBER[decimal].fullmatch, texts)):
        return [number for text in texts if (number := as_number(text, decimal)) is not None]
    times = [_time(text, form) for text in texts]
    return texts if None in times else times


def as_number(text: str, decimal: str = ".") -> Decimal | None:
    """The number a text is, with all its digits; None for any other text."""
    return Decimal(text.replace(",", ".")) if _NUMBER[decimal].fullmatch(text) else None


def _time(text: str, form: str) -> Decimal | None:
    """Seconds since the year 1."""
    try:
        if form:
            return Decimal(86_400 * datetime.datetime.strptime(text, form).toordinal())
        if not (found := _DATE.fullmatch(text)):
            return None
        cycles, year = divmod(int(found[1]) - 1, 400)  # the calendar comes round, also beyond the years that Python knows
        minutes = 1440 * (146_097 * cycles + datetime.date(year + 1, int(found[2]), int(found[3])).toordinal())
        minutes += 60 * int(found[4] or 0) + int(found[5] or 0)
        minutes -= int(f"{found[7] or '+'}1") * (60 * int(found[8] or 0) + int(found[9] or 0))
        return 60 * minutes + Decimal(found[6] or 0)
    except ValueError:  # the 31st of February
        return None


def are_codes(levels: pa.Array, codes: Sequence[str], decimal: str = ".") -> BoolArray:
    """Which cells are one of some codes, however the number is written: -9 is -9.0. In a column of half precision, a code is as near as it can be."""
    if pa.types.is_floating(levels.type):
        numbers = [float(number) for code in codes if (number := as_number(code)) is not None]
        return np.asarray(pc.is_in(levels, value_set=pa.array(numbers, pa.float64()).cast(levels.type)))
    numbers_ = {number for code in codes if (number := as_number(code)) is not None}

    def is_one(text: str | None) -> bool:
        return text is not None and (text in codes or (bool(numbers_) and as_number(text, decimal) in numbers_))

    return np.array([is_one(None if cell is None else str(cell)) for cell in levels.to_pylist()], dtype=np.bool_)
