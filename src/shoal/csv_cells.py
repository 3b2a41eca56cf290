"""What the cells of a CSV's column are: numbers, dates or text, and which of them mean missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

# Missing in any column; and, only where all the rest are numbers, also:
MISSING = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "#N/A")
MISSING_NUMBER = (*MISSING, ".", "-", "None", "none")
NUMBERS_ONLY = pa.int8()  # stands for cells that mean missing in a column of numbers, and are texts in any other
HEAD = 1000  # cells that mostly tell of what kind a column is not
WHOLE = r"^[+-]?(0|[1-9][0-9]{0,17})$"  # a leading zero marks a code such as a postal code: text
_REAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_CODE = r"^[+-]?0[0-9]|^[+-]?[0-9]{19,}$"
_INFINITE = r"^[+-]?(inf|Inf|INF|infinity|Infinity)$"


def uses_decimal_comma(strings: pa.Table) -> bool:
    """Some column holds numbers with a comma, and no column numbers with a point."""
    head = strings.slice(0, 2000)
    comma = point = False
    for column in head.columns:
        cells = pc.utf8_trim_whitespace(column.cast(pa.string()))
        cells = cells.filter(pc.invert(pc.is_in(cells, value_set=pa.array(MISSING_NUMBER))))
        if not len(cells):
            continue
        all_numbers = pc.all(pc.match_substring_regex(cells, r"^[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?$")).as_py()
        if all_numbers:
            comma |= pc.any(pc.match_substring(cells, ",")).as_py()
            point |= pc.any(pc.match_substring(cells, ".")).as_py()
    return comma and not point


def as_text(array: pa.Array, tokens: set[str]) -> tuple[pa.Array, set[str]]:
    """Text with missing tokens taken out, and which of them were seen."""
    missing = pc.is_in(array, value_set=pa.array(sorted({*tokens, ""}), pa.string()))
    if not pc.any(missing).as_py():
        return array, set()
    return pc.if_else(missing, pa.scalar(None, pa.string()), array), set(pc.unique(array.filter(missing)).to_pylist())


def typed(array: pa.Array, decimal: str, tokens: set[str], number_tokens: set[str]) -> tuple[pa.Array, set[str]]:
    """Whole numbers, numbers, dates, or text; and which missing tokens were seen. Some tokens mean missing only among numbers."""
    if len(array) > 2 * HEAD and pa.types.is_string(typed(array.slice(0, HEAD), decimal, tokens, number_tokens)[0].type):
        return as_text(array, tokens)  # what the first cells are not, the column is not
    for tried in (tokens, number_tokens):
        cells, used = as_text(array, tried)
        known = cells.drop_null()
        if not len(known):
            return pa.nulls(len(array)), used
        number = _numbers(cells, known, decimal)
        if number is not None:
            return number, used
    cells, used = as_text(array, tokens)
    known = cells.drop_null()
    for pattern, type_ in (
        (r"^\d{4}-\d{2}-\d{2}$", pa.date32()),
        (r"^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?$", pa.timestamp("us")),
    ):
        if _all_match(known, pattern):
            try:
                return cells.cast(type_), used
            except pa.ArrowInvalid:  # the 31st of February
                break
    return cells, used


def _numbers(cells: pa.Array, known: pa.Array, decimal: str) -> pa.Array | None:
    """The cells as numbers if every known one is; codes with leading zeros, or too long to be exact, are text."""
    if decimal == ",":
        if pc.any(pc.match_substring(known, ".")).as_py():  # of two marks in a column neither is known to be that of decimals
            return None
        cells, known = pc.replace_substring(cells, ",", "."), pc.replace_substring(known, ",", ".")
    cells = pc.replace_substring_regex(cells, r"^\+", "")  # which Arrow does not read
    if _all_match(known, WHOLE):
        return cells.cast(pa.int64())
    if not _all_match(known, f"{_REAL}|{_INFINITE}"):
        return None
    if pc.any(pc.match_substring_regex(known, _CODE)).as_py():
        return None
    return pc.add(cells.cast(pa.float64()), 0.0)  # -0.0 and 0.0 are one value


def _all_match(cells: pa.Array, pattern: str) -> bool:
    """Whether every cell is of a form; the first ones tell mostly that not."""
    head = cells.slice(0, HEAD)
    return bool(pc.all(pc.match_substring_regex(head, pattern)).as_py() and pc.all(pc.match_substring_regex(cells, pattern)).as_py())


def type_of(cells: pa.Array, decimal: str, missing: Sequence[str]) -> pa.DataType:
    """What some cells of a column are; nothing at all where none of them is known, NUMBERS_ONLY where that is so among numbers alone."""
    tokens, cells = {token for token in (*MISSING, *missing) if token}, pc.utf8_trim_whitespace(cells.unique())
    found = typed(cells, decimal, tokens, {*MISSING_NUMBER, *missing})[0].type
    missing_anywhere = not pa.types.is_null(found) or not len(as_text(cells, tokens)[0].drop_null())
    return found if missing_anywhere else NUMBERS_ONLY


def type_together(first: pa.DataType, second: pa.DataType) -> pa.DataType:
    """What a column is that has cells of both types: numbers stay numbers, anything else that differs is text."""
    if pa.types.is_null(first) or first == second:
        return second
    if pa.types.is_null(second):
        return first
    if NUMBERS_ONLY in (first, second):
        other = second if first == NUMBERS_ONLY else first
        return other if other in (pa.int64(), pa.float64()) else pa.string()
    return pa.float64() if {first, second} == {pa.int64(), pa.float64()} else pa.string()


def type_at_last(types: Iterable[pa.DataType]) -> pa.DataType:
    """What a column is, of what its stretches are."""
    found = reduce(type_together, types, pa.null())
    return pa.null() if found == NUMBERS_ONLY else found


def as_type(cells: pa.Array, type_: pa.DataType, decimal: str, missing: Sequence[str]) -> pa.Array:
    """Cells as what all cells of their column have been found to be."""
    if pa.types.is_null(type_):
        return pa.nulls(len(cells))
    number = pa.types.is_integer(type_) or pa.types.is_floating(type_)
    cells, _ = as_text(pc.utf8_trim_whitespace(cells), {*(MISSING_NUMBER if number else MISSING), *missing})
    if cells.null_count == len(cells):
        return pa.nulls(len(cells), type_)
    found = _numbers(cells, cells.drop_null(), decimal) if number else cells
    return pa.nulls(len(cells), type_) if found is None else found.cast(type_, safe=not number)
