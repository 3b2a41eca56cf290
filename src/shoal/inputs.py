"""One table in one file, in several, or in a folder of them, read into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.csv_cells import as_type, type_at_last, type_of, uses_decimal_comma
from shoal.csv_lines import CsvForm, form_of, lines_of
from shoal.errors import DataError
from shoal.files import read_table, without_lists
from shoal.parts import Parts, are_parquet, files_of
from shoal.table import Format, Table


def read_tables(given: Sequence[Path], *, encoding: str | None = None, delimiter: str | None = None, missing: Sequence[str] = ()) -> Table:
    """All rows of the files named and of those inside the folders named; types are decided once, for all of them."""
    if len(given) == 1 and not given[0].is_dir() and not given[0].name.endswith(".gz"):
        return read_table(given[0], encoding=encoding, delimiter=delimiter, missing=missing)
    files = files_of(given)
    if are_parquet(files):
        parts = Parts.of(files)
        try:
            arrow, cells = without_lists(pa.concat_tables([pq.read_table(path, partitioning=None) for path in parts.paths]))
        except (pa.ArrowException, OSError):
            raise DataError(f"{files[0]} and the files beside it could not be read: one is damaged.") from None
        found = replace(Table.of(arrow.combine_chunks()), cells=cells, format=Format("parquet"))
    else:
        found = _from_csv(files, encoding, delimiter, missing)
    if not len(found):
        raise DataError(f"{given[0]} has no rows.")
    return found


def _from_csv(files: Sequence[Path], encoding: str | None, delimiter: str | None, missing: Sequence[str]) -> Table:
    forms = same_columns(files, [form_of(path, encoding, delimiter) for path in files])
    schema = pa.schema([(name, pa.string()) for name in forms[0].names])
    texts = pa.concat_tables([schema.empty_table(), *(table for path, form in zip(files, forms) for table in lines_of(path, form))])
    decimal = "," if forms[0].delimiter != "," and uses_decimal_comma(texts) else "."
    columns: list[Any] = []
    for column in texts.combine_chunks().columns:
        cells = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        columns.append(as_type(cells, type_at_last([type_of(cells, decimal, missing)]), decimal, missing))
    kind = Format("parquet") if len(files) > 1 else Format("csv", forms[0].delimiter, decimal)  # type: ignore[arg-type]  # one of two marks
    return Table(pa.table(columns, names=list(forms[0].names)), format=kind)


def same_columns(files: Sequence[Path], forms: Sequence[CsvForm]) -> Sequence[CsvForm]:
    """Forms of files that hold one table."""
    for number, form in enumerate(forms, 1):
        if form.names != forms[0].names:
            raise DataError(
                f"{files[number - 1]} (file {number} of {len(files)}) has other columns than the first. All files must have the same columns in the same order."
            )
    return forms
