"""Writing tables, the way they were read: CSV, a cell quoted only where it must be, and Parquet."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal import cell
from shoal.errors import OutputError
from shoal.formulas import escaped, is_text
from shoal.table import Table


def write_table(table: Table, path: str | Path) -> None:
    """Write a table the way it was read: same kind of file, delimiter, decimal mark and missing token; CSV always in UTF-8, formulas in it as
    its format says."""
    path = Path(path)
    try:
        if table.format.kind == "parquet" or path.suffix in (".parquet", ".pq"):
            pq.write_table(as_parquet(table), path)
        else:
            with path.open("wb") as file:
                for lines in _csv_lines(table):
                    file.write(lines)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OutputError(f"{path} could not be written: {error.strerror or error}.") from error


def as_parquet(table: Table) -> pa.Table:
    """What a Parquet file of a table holds: cells of sets and intervals as lists; the field says so, so that they are read back as such."""
    arrow = table.written
    for name in table.cells:
        if name in arrow.column_names and table.kind(name) == "text" and name not in table.labels:
            levels = pa.array([cell.as_list(text) for text in table.levels(name).to_pylist()], pa.list_(pa.string()))
            field = pa.field(name, levels.type, metadata={"shoal": "cells"})
            arrow = arrow.set_column(arrow.column_names.index(name), field, levels.take(pa.array(table.codes(name))))
    return arrow


def write_parquet(table: pa.Table, path: Path) -> None:
    """A Parquet file as whoever reads it expects it.

    Columns that are kept as distinct values with a number per row are written as such, which is quick, and read back as plain values. Of the
    distinct values only those are written that some row has.
    """
    table = pa.table([_in_use(column.combine_chunks()) for column in table.columns], schema=table.schema)
    plain = pa.schema([field.with_type(_decoded(field.type)) for field in table.schema])
    told = {"ARROW:schema": base64.b64encode(plain.serialize().to_pybytes()).decode()}
    with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
        writer.write_table(table, row_group_size=max(table.num_rows, 1))
        writer.add_key_value_metadata(told)  # zones, durations, and which lists are cells


def _in_use(column: pa.Array) -> pa.Array:
    """A column without the distinct values that no row of it has."""
    if pa.types.is_list(column.type) and pa.types.is_dictionary(column.type.value_type) and not column.null_count:
        offsets = np.asarray(column.offsets)
        return pa.ListArray.from_arrays(pa.array(offsets - offsets[0]), _in_use(column.flatten()))
    if not pa.types.is_dictionary(column.type):
        return column
    there = np.zeros(len(column.dictionary) + 1, np.bool_)
    indices = np.asarray(column.indices.fill_null(len(column.dictionary)))
    there[indices] = True
    number = pa.array((np.cumsum(there) - 1)[indices].astype(np.int32), mask=indices == len(column.dictionary))
    return pa.DictionaryArray.from_arrays(number, column.dictionary.take(pa.array(np.flatnonzero(there[:-1]))))


def _decoded(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_list(type_):
        return pa.list_(type_.value_field.with_type(_decoded(type_.value_type)))
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def by_number(column: pa.Array) -> pa.Array:
    """Texts, or lists of texts, as distinct texts with a number for each."""
    if pa.types.is_string(column.type):
        return column.dictionary_encode()
    if pa.types.is_list(column.type) and pa.types.is_string(column.type.value_type) and not column.null_count:
        return pa.ListArray.from_arrays(column.offsets, column.values.dictionary_encode())
    return column


def take_cells(column: pa.Array, rows: pa.Array) -> pa.Array:
    """The cells of some rows; of lists of one element each, without looking at where they begin."""
    if pa.types.is_list(column.type) and not column.null_count and len(column.values) == len(column):
        lengths = np.asarray(column.value_lengths())
        if (lengths == 1).all():
            return pa.ListArray.from_arrays(pa.array(np.arange(len(rows) + 1, dtype=np.int32)), column.flatten().take(rows))
    return column.take(rows)


def _csv_lines(table: Table) -> Iterator[bytes]:
    """Header, then lines by the hundred thousand, joined by Arrow; a cell is quoted only where it must be."""
    mark, arrow = table.format.delimiter, table.written
    names = _quoted(pa.array(arrow.column_names), mark).to_pylist()
    yield (mark.join(names) + "\n").encode()
    for begin in range(0, arrow.num_rows, 100_000):
        part = arrow.slice(begin, 100_000)
        cells = []
        for name in arrow.column_names:
            column = part.column(name).combine_chunks()
            text = column.cast(pa.string())
            if table.format.formulas == "escape" and is_text(column.type):
                text = escaped(text)
            if table.format.decimal == "," and pa.types.is_floating(column.type):
                text = pc.replace_substring(text, ".", ",")
            text = _quoted(text.fill_null(table.format.missing), mark)
            if arrow.num_columns == 1:  # an empty line would be no row
                text = pc.if_else(pc.equal(text, ""), '""', text)
            cells.append(text)
        yield ("\n".join(pc.binary_join_element_wise(*cells, mark).to_pylist()) + "\n").encode()


def _quoted(text: pa.Array, mark: str) -> pa.Array:
    special = pc.match_substring_regex(text, f'["\\r\\n{re.escape(mark)}]|^\\s|\\s$')
    if not pc.any(special).as_py():
        return text
    inside = pc.replace_substring(text, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', inside, '"', ""), text)
