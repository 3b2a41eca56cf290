"""Formulas: text that a spreadsheet program would run when a CSV is opened there. It is counted, and on request written so that it stays text.

Such a text gets an apostrophe before it. So does one that has apostrophes before a formula already, so that no two cells become one, and
what was written can be read back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import DataError, counted
from shoal.table import Table

_BEGINS = r"([\t\r\n]|[ \t\r\n\f\v]*[=+\-@＝＋－＠].)"
_NUMBER = r"^[+-]?(([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?|[iI]nf(inity)?)$"


def formulas_in(table: Table) -> dict[str, int]:
    """How many cells of each column begin like a formula, in columns that have some. A number is none, whatever its sign."""
    found = {}
    arrow = table.written
    for name in table.columns:
        column = arrow.column(name)
        if is_text(column.type) and (many := pc.sum(_are_formulas(column)).as_py()):
            found[name] = int(many)
    return found


def about_formulas(table: Table) -> Iterator[str]:
    """A line on every column with such cells, and on names that are such, in a table that will be a CSV: they are a risk, or were changed."""
    if table.format.kind != "csv":
        return
    run = "a spreadsheet program may run them"
    for name, many in formulas_in(table).items():
        if table.format.formulas == "escape":
            yield f"{counted(many, 'cell')} of '{name}' began like a formula: an apostrophe stands before {'it' if many == 1 else 'each'}."
            continue
        yield f"{counted(many, 'cell')} of '{name}' {'begins' if many == 1 else 'begin'} like a formula: {run}. Use --formulas escape."
    for name in names_like_formulas(table):
        yield f"The name of column '{name}' begins like a formula: {run.replace('them', 'it')}. Rename the column."


def names_like_formulas(table: Table) -> list[str]:
    """Columns whose names begin like a formula."""
    names = pa.array(table.columns, pa.string())
    return list(names.filter(_are_formulas(names)).to_pylist())


def to_escape(table: Table) -> Table:
    """A table whose formulas will be escaped when it is written. Names are never changed, so a name that is a formula is refused."""
    if table.format.kind == "csv" and (names := names_like_formulas(table)):
        raise DataError(f"The name of column '{names[0]}' begins like a formula, and only cells can be escaped. Rename the column.")
    token = table.format.missing
    missing = "" if _are_formulas(pa.array([token]))[0].as_py() else token
    return replace(table, format=replace(table.format, formulas="escape", missing=missing))


def is_text(type_: pa.DataType) -> bool:
    """Whether cells of a type are text."""
    return bool(pa.types.is_string(type_.value_type if pa.types.is_dictionary(type_) else type_))


def escaped(texts: pa.Array) -> pa.Array:
    """With an apostrophe before every formula, and before those that have some."""
    apart = pc.and_(pc.match_substring_regex(texts, f"(?s)^'*{_BEGINS}"), pc.invert(pc.match_substring_regex(texts, _NUMBER)))
    return pc.if_else(apart, pc.binary_join_element_wise("'", texts, ""), texts) if pc.any(apart).as_py() else texts


def unescaped(texts: pa.Array) -> pa.Array:
    """As they were before."""
    return pc.replace_substring_regex(texts, f"(?s)^'('*{_BEGINS})", r"\1")


def _are_formulas(texts: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(texts.type):
        texts = texts.cast(texts.type.value_type)
    begins = pc.match_substring_regex(texts, f"(?s)^{_BEGINS}")
    return pc.and_(begins, pc.invert(pc.match_substring_regex(texts, _NUMBER))).fill_null(False)
