"""How columns are read: kinds that are given, dates in text, and codes that mean missing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray
from shoal.dates import ENOUGH, Form, found_form, is_format, read_dates
from shoal.distinct import is_whole, rows_of, rows_with
from shoal.errors import RoleError, counted
from shoal.table import Table

ASKED = 0.2  # of the known cells: so many dates among other texts, and a person is asked
KINDS = "number, text, date, or date with its form, such as date:%d.%m.%Y"
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_DATED = (  # as people write dates, with a time or a month's name as well
    r"(?i)^([12][0-9]{3}[-/.][01]?[0-9][-/.][0-3]?[0-9]|[0-3]?[0-9][-/.][0-3]?[0-9][-/.]([12][0-9]{3}|[0-9]{2}))([ T].*)?$"
    rf"|^([0-3]?[0-9][ .-]*{_MONTH}|{_MONTH}[ .-]*[0-3]?[0-9])[ .,-]*([12][0-9]{{3}}|[0-9]{{2}})([ T].*)?$"
)
_NUMBER = re.compile(r"[+-]?(([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]{1,9})?|inf|infinity)", re.IGNORECASE)
_DIGITS = r"^[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}$"


def check_kind(column: str, kind: str) -> None:
    """A kind that can be given."""
    name, _, format_ = kind.partition(":")
    if name not in ("number", "text", "date") or (format_ and name != "date"):
        raise RoleError(f"Column '{column}' is given the kind '{kind}', which is none. Known: {KINDS}.", about=column)
    if format_ and not is_format(format_):
        raise RoleError(
            f"Column '{column}': '{format_}' does not say day, month and year with its century. Write it with %d, %m and %Y, such as date:%d.%m.%Y.",
            about=column,
        )


def read_as(table: Table, column: str, kind: str, codes: Sequence[str] = ()) -> Table:
    """A table with a column read as it is said to be; a cell that cannot be is an error."""
    name, _, format_ = kind.partition(":")
    now = table.kind(column)
    if now == "empty" or (now == name and column not in table.date_formats) or (now == "date" and name == "date"):
        return table
    if name == "date" and not format_:
        form = date_form(table, column, codes)
        if form is None:
            raise RoleError(
                f"Column '{column}' is said to hold dates, and how they are written was not found out. Say it, such as date:%d.%m.%Y.",
                about=column,
            )
        format_ = _the_one(column, form)
    if name == "date":
        return with_dates(table, column, format_, codes)
    levels = table.levels(column).cast(pa.string())
    if name == "number":
        texts = [None if is_code(text, codes) else text for text in levels.to_pylist()]
        values = [_number(text) for text in texts]
        wrong = np.array([text is not None and value is None for text, value in zip(texts, values)], dtype=np.bool_)
        _refuse_wrong(table, column, wrong, "number")
        whole = all(value is None or (value.is_integer() and abs(value) < 2**53) for value in values)
        levels = pa.array(values, pa.float64()).cast(pa.int64() if whole else pa.float64())
    changed = table.with_columns({column: levels.take(pa.array(table.codes(column)))})
    return replace(changed, date_formats={c: f for c, f in table.date_formats.items() if c != column})


def date_form(table: Table, column: str, codes: Sequence[str] = ()) -> Form | None:
    """How the dates of a text column are written; None where it holds none."""
    if table.kind(column) != "text" or column in table.cells:
        return None
    levels = table.levels(column)
    if not _mostly(levels, _DIGITS, codes):
        return None
    texts = [None if is_code(text, codes) else text.strip() for text in levels.to_pylist()]
    return found_form(texts, rows_of(table, column))


def with_recognized_dates(table: Table, columns: Iterable[str], missing: Mapping[str, Sequence[str]]) -> Table:
    """Those text columns that hold dates, read as dates. Where the cells do not tell day from month, a person must."""
    for column in columns:
        codes = missing.get(column, ())
        form = date_form(table, column, codes)
        if form is not None:
            table = with_dates(table, column, _the_one(column, form), codes)
        else:
            _ask_for_dates(table, column, codes)
    return table


def _ask_for_dates(table: Table, column: str, codes: Sequence[str]) -> None:
    """A person is asked where many cells are dates: protected as other text or as numbers, exact ones would be released."""
    if column in table.cells or table.kind(column) not in ("text", "number"):
        return
    text = table.kind(column) == "text"
    if not text and not is_whole(table, column):
        return
    levels, rows = table.levels(column), rows_of(table, column)
    if text:
        found = np.asarray(pc.match_substring_regex(pc.utf8_trim_whitespace(levels), _DATED).fill_null(False))
        how = "--kind {0}=date:%d.%m.%Y in the form they have, with --missing-code {0}=... for what is none"
    else:
        found = _read_as_numbers(levels)
        how = "--kind {0}=date:%Y%m%d"
    if not found.any():
        return
    known = int(rows[[not is_code(level, codes) for level in levels.to_pylist()]].sum())
    if rows[found].sum() >= (ASKED if text else ENOUGH) * known:
        raise RoleError(
            f"Column '{column}' has {counted(int(rows[found].sum()), 'cell')} that read as dates, and is no column of dates as it is: exact dates "
            f"would be released. Say {how.format(column)}; or --kind {column}={table.kind(column)} if they are no dates.",
            about=column,
        )


def _read_as_numbers(levels: pa.Array) -> BoolArray:
    """Which whole numbers are dates written as eight digits: 19760414."""
    low, high = (pa.scalar(end, pa.uint64() if pa.types.is_uint64(levels.type) else pa.int64()) for end in (18_000_000, 21_000_000))
    found = np.asarray(pc.and_(pc.greater(levels, low), pc.less(levels, high)).fill_null(False))
    if not found.any():
        return np.zeros(len(levels), np.bool_)
    texts = [str(level) if there else None for level, there in zip(levels.to_pylist(), found.tolist())]
    return np.asarray(found & ~read_dates(texts, "%Y%m%d")[1])


def with_dates(table: Table, column: str, format_: str, codes: Sequence[str] = ()) -> Table:
    """A column of texts as dates, which will be written in the same form; codes for missing are missing."""
    levels = table.levels(column).cast(pa.string())
    texts = [None if is_code(text, codes) else text.strip() for text in levels.to_pylist()]
    dates, wrong = read_dates(texts, format_)
    _refuse_wrong(table, column, wrong, "date", f" of the form {format_}")
    changed = table.with_columns({column: dates.take(pa.array(table.codes(column)))})
    return replace(changed, date_formats={**table.date_formats, column: format_})


def without_codes(table: Table, column: str, codes: Sequence[str]) -> Table:
    """A column with its codes for missing taken out."""
    levels = table.levels(column)
    is_one = np.array([level is not None and is_code(level, codes) for level in levels.to_pylist()], dtype=np.bool_)
    gone = is_one[table.codes(column)]
    if gone.any():
        cells = table.column(column)
        table = table.with_columns({column: pc.if_else(pa.array(gone), pa.scalar(None, cells.type), cells)})
    return table


def read_like(released: Table, original: Table) -> Table:
    """A release read back from its file: dates that the original has in text are dates again. Cells stay cells."""
    for column, format_ in original.date_formats.items():
        if column not in released.columns or column in released.cells or released.kind(column) != "text":
            continue
        for one in (format_, "%Y-%m-%d"):
            dates, wrong = read_dates(released.levels(column).to_pylist(), one)
            if not wrong.any():
                changed = released.with_columns({column: dates.take(pa.array(released.codes(column)))})
                released = replace(changed, date_formats={**released.date_formats, column: format_})
                break
    return released


def is_code(level: Any, codes: Sequence[str]) -> bool:
    """Whether a value is missing, or one of its column's codes for missing, however the number is written: -9 and -9.0 are one. Every digit
    counts; of a float, those it has."""
    if level is None or str(level) in codes:
        return True
    if not codes:
        return False
    exact, rounded = _numbers(tuple(codes))
    if isinstance(level, float):
        return level in rounded
    value = _exact(str(level)) if exact else None
    return value is not None and value in exact


@lru_cache
def _numbers(codes: tuple[str, ...]) -> tuple[frozenset[Decimal], frozenset[float]]:
    """Those codes that are numbers: exactly, and as a float of either precision has them."""
    exact = frozenset(number for code in codes if (number := _exact(code)) is not None)
    with np.errstate(over="ignore"):
        return exact, frozenset(value for one in exact for value in (float(one), float(np.float32(float(one)))))


def _exact(text: str) -> Decimal | None:
    """A number with all its digits."""
    return Decimal(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


def _number(text: str | None) -> float | None:
    exact = None if text is None else _exact(text.strip())
    return None if exact is None else float(exact)


def _mostly(levels: pa.Array, pattern: str, codes: Sequence[str]) -> bool:
    """Whether enough distinct texts have a form for it to be worth a closer look; a slip or a code may stand between."""
    known = len(levels) - levels.null_count - len(codes)
    matching = pc.sum(pc.match_substring_regex(pc.utf8_trim_whitespace(levels), pattern)).as_py() or 0
    return bool(matching and matching >= known / 2)


def _the_one(column: str, form: Form) -> str:
    if len(form.formats) == 1:
        return form.formats[0]
    raise RoleError(f"{which_form(column, form)} Say --kind {column}=text if they are no dates.", about=column)


def which_form(column: str, form: Form) -> str:
    """What a person is asked where the cells do not tell."""
    if "%y" in form.formats[0]:
        return f"Column '{column}' holds dates whose years have two digits, which leaves the century open. Write them with four."
    ways = " or ".join(f"--kind {column}=date:{one}" for one in form.formats)
    return f"Column '{column}' holds dates whose cells do not tell whether day or month comes first. Say which: {ways}."


def _refuse_wrong(table: Table, column: str, wrong: BoolArray, what: str, form: str = "") -> None:
    many, first = rows_with(table, column, wrong)
    if many:
        raise RoleError(
            f"Column '{column}' has {counted(many, 'value')} that {f'is not a {what}' if many == 1 else f'are not {what}s'}{form}{first}. "
            f"Clean it, list codes for missing under missing, or read it as text with --kind {column}=text.",
            about=column,
        )


def kinds_of(table: Table) -> dict[str, str]:
    """The dates in text that were found, as kinds to give."""
    return {column: f"date:{format_}" for column, format_ in table.date_formats.items()}
