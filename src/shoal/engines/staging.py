"""Files made ready for an engine: Parquet whose types are decided once, for all rows, and in which missing is missing.

Parquet that is so already is read where it lies. Other Parquet, and CSV, is written anew into the run's own folder: of a CSV first all cells as
text, while it is found out what each column is, then as that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.contracts import Changed, Engine, Progress, quiet
from shoal.csv_cells import as_type, type_at_last, type_of, type_together, uses_decimal_comma
from shoal.csv_lines import CsvForm, form_of, lines_of
from shoal.engines.source import RowsElsewhere, of_one_type
from shoal.engines.spill import whole
from shoal.errors import DataError
from shoal.inputs import same_columns
from shoal.parts import Parts, are_parquet, batches, files_of, refuse_changed, seen
from shoal.rows import Batch
from shoal.table import Format, Table


def opened(
    engine: Engine, given: Sequence[Path], aside: Path, memory: int, reading: Mapping[str, Any], progress: Progress = quiet
) -> RowsElsewhere:
    """Rows of files and folders, clean and of one type a column."""
    files = files_of(given)
    if are_parquet(files):
        parts = Parts.of(files)
        if parts.rows == 0:
            raise DataError(f"{files[0]} has a header but no rows." if len(files) == 1 else "The files have no rows.")
        like = _like(parts.schema)
        rows = RowsElsewhere(engine, parts, like, aside, memory, parts.files, progress)
        return rows if _is_clean(rows) else rows.changed(_cleaned, None)[0]
    before = tuple(map(seen, files))
    parts = _from_csv(engine, files, aside, reading)
    for one in before:
        refuse_changed(one)
    like = Table(parts.schema.empty_table(), format=Format("parquet"))
    return RowsElsewhere(engine, parts, like, aside, memory, before, progress)


def _like(schema: pa.Schema) -> Table:
    """No rows of these types. What cannot be protected is refused here."""
    return replace(Table.of(schema.empty_table()), format=Format("parquet"))


def _cleaned(batch: Batch) -> Changed:
    return Changed(replace(Table.of(batch.table.arrow), format=Format("parquet")), batch.rows)


def _is_clean(rows: RowsElsewhere) -> bool:
    """Whether no cell has to be written otherwise: types that are kept, no text without letters, no NaN and no -0.0."""
    schema = rows.parts.schema
    if rows.like.arrow.schema != schema or any(not _kept(field.type) for field in schema):
        return False
    looked_at = [f.name for f in schema if not pa.types.is_integer(f.type) and not pa.types.is_boolean(f.type)]

    def clean(stretch: Any) -> bool:
        return all(_has_clean_cells(table) for _, table in batches(stretch, looked_at))

    return not looked_at or all(list(rows.engine.each(clean, rows.parts.stretches())))


def _kept(type_: pa.DataType) -> bool:
    same = (pa.types.is_boolean, pa.types.is_signed_integer, pa.types.is_date32, pa.types.is_string, pa.types.is_float64)
    return any(is_one(type_) for is_one in same) or type_ == pa.timestamp("us")


def _has_clean_cells(table: pa.Table) -> bool:
    Table.of(table)  # which refuses what no calendar has
    for column in table.columns:
        if pa.types.is_string(column.type) and pc.any(pc.equal(column, "")).as_py():
            return False
        if pa.types.is_floating(column.type):
            zero = pc.and_(pc.equal(column, 0.0), pc.less(pc.divide(1.0, column), 0.0))
            if pc.any(pc.or_(pc.is_nan(column), zero)).as_py():
                return False
    return True


# ---- CSV -----------------------------------------------------------------------------------------------------------------------


class _Texts(NamedTuple):
    """A CSV file as texts in Parquet, and what its columns are so far."""

    path: Path
    types: tuple[pa.DataType, ...]


def _from_csv(engine: Engine, files: Sequence[Path], aside: Path, reading: Mapping[str, Any]) -> Parts:
    missing = tuple(reading.get("missing", ()))
    forms = same_columns(files, [form_of(path, reading.get("encoding"), reading.get("delimiter")) for path in files])
    decimal = _decimal(files, forms)
    texts, typed = aside / "texts", aside / "typed"
    texts.mkdir(mode=0o700)
    typed.mkdir(mode=0o700)

    def as_texts(number: int) -> _Texts:
        path, types = texts / f"{number:06d}.parquet", [pa.null()] * len(forms[0].names)
        schema = pa.schema([(name, pa.string()) for name in forms[0].names])
        with whole(path, aside) as part, pq.ParquetWriter(part, schema) as writer:
            for table in lines_of(files[number], forms[number]):
                types = [type_together(one, type_of(cells.combine_chunks(), decimal, missing)) for one, cells in zip(types, table.columns)]
                writer.write_table(table)
        return _Texts(path, tuple(types))

    found = list(engine.each(as_texts, range(len(files))))
    types = [type_at_last(of_column) for of_column in zip(*(one.types for one in found))]
    schema = pa.schema(list(zip(forms[0].names, types)))

    def as_typed(stretch: Any) -> Path:
        path = typed / f"{stretch.first:015d}.parquet"
        with whole(path, aside) as part, pq.ParquetWriter(part, schema) as writer:
            for _, table in batches(stretch):
                cells = [as_type(column.combine_chunks(), type_, decimal, missing) for column, type_ in zip(table.columns, types)]
                writer.write_table(pa.table(cells, schema=schema))
        return path

    read = Parts.of([one.path for one in found])
    if not read.rows:
        raise DataError(f"{files[0]} has a header but no rows.")
    written = list(engine.each(as_typed, read.stretches()))
    for one in found:
        one.path.unlink()
    return of_one_type(written, schema)


def _decimal(files: Sequence[Path], forms: Sequence[CsvForm]) -> str:
    """By the first rows of all files together, as in memory."""
    if forms[0].delimiter == ",":
        return "."
    head: list[pa.Table] = []
    for path, form in zip(files, forms):
        head += islice(lines_of(path, form), 1)
        if sum(map(len, head)) >= 2000:
            break
    return "," if head and uses_decimal_comma(pa.concat_tables(head)) else "."
