"""Reading tables: CSV whose delimiter, encoding, decimal mark and missing tokens are found out, and Parquet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal import cell
from shoal.csv_cells import MISSING, MISSING_NUMBER, WHOLE, as_text, typed, uses_decimal_comma
from shoal.errors import DataError, did_you_mean
from shoal.table import Format, Table

DELIMITERS = (",", ";", "\t", "|")
csv.field_size_limit(2**31 - 1)  # a cell may hold a letter, or a book; Python's own limit is 131,072 characters


def read_table(
    path: str | Path, *, encoding: str | None = None, delimiter: str | None = None, missing: Sequence[str] = (), text: Sequence[str] = ()
) -> Table:
    """Read a CSV or Parquet file. What is not said is found out from the file; columns in `text` stay text whatever they look like."""
    path = Path(path)
    delimiter = "\t" if delimiter == "\\t" else delimiter
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii()):
        raise DataError(f"The delimiter must be one plain character, such as ; or \\t, got '{delimiter}'.")
    magic = first_bytes(path)
    if magic == b"PAR1":
        try:
            with pq.ParquetFile(path) as file:
                arrow, cells = without_lists(file.read())
                table = replace(Table.of(arrow), cells=cells)
        except DataError:
            raise
        except Exception:  # of every kind, with messages that may quote a cell; a size that damage made absurd is no lack of memory
            raise DataError(f"{path} starts like Parquet but is damaged.") from None
        found = replace(table, format=Format("parquet"))
    else:
        found = _read_csv(path, encoding, delimiter, missing, text)
    if not len(found):
        raise DataError(f"{path} has a header but no rows.")
    return found


def read_rows(path: str | Path) -> list[list[str]]:
    """The cells of a CSV file without a header, row by row, as text; encoding and delimiter are found out."""
    path = Path(path)
    if first_bytes(path) == b"PAR1":
        raise DataError(f"{path} is Parquet. Give it as CSV.")
    text, _ = decoded(path, path.read_bytes(), None)
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text[:200_000])) if row]
    except csv.Error:
        raise DataError(f"{path} cannot be cut into columns: a quote is left open, or a row is too long.") from None


def first_bytes(path: Path) -> bytes:
    """Of a file that is there, can be read and is not empty."""
    if not path.exists():
        near = did_you_mean(path.name, [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else [])
        raise DataError(f"There is no file {path}.{near}")
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a CSV or Parquet file.")
    if not path.is_file():  # a pipe can be read once only, and its format is found out by reading it twice
        raise DataError(f"{path} is not a plain file. Write the table to a file first.")
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}.") from None
    if not magic:
        raise DataError(f"{path} is empty.")
    return magic


def _read_csv(path: Path, encoding: str | None, delimiter: str | None, missing: Sequence[str], kept_as_text: Sequence[str]) -> Table:
    raw, encoding = _as_utf8(path, path.read_bytes(), encoding)
    raw += b"" if raw.endswith(b"\n") else b"\n"  # Arrow takes a header without a line end for no header
    begins = max(200_000, raw.index(b"\n") + 1)  # a header of many columns is longer than any sample
    sample = raw[:begins].decode("utf-8", "ignore")  # the last letter may be cut
    if len(raw) > begins and sample.count("\n") > 1:
        sample = sample[: sample.rfind("\n") + 1]
    delimiter, names = header_of(path, sample, delimiter)
    strings = _strings(path, raw, names, delimiter, _forms(sample, delimiter, names, kept_as_text))
    del raw
    decimal: Literal[".", ","] = "," if delimiter != "," and uses_decimal_comma(strings) else "."
    tokens, columns, used = {token for token in (*MISSING, *missing) if token}, [], set()
    for name in names:
        if strings.column(name).type == pa.int64():
            columns.append(_joined(strings.column(name)))
            used |= {""} if columns[-1].null_count else set()
            continue
        places, cells = _distinct(strings.column(name))
        cells = pc.utf8_trim_whitespace(cells)
        column, found = as_text(cells, tokens) if name in kept_as_text else typed(cells, decimal, tokens, {*MISSING_NUMBER, *missing})
        columns.append(column if places is None else column.take(places))
        used |= found
    arrow = pa.table(columns, names=names)
    token = next((t for t in (*missing, *MISSING_NUMBER) if t and t in used and not _is_value(arrow, t)), "")
    return Table(arrow, format=Format("csv", delimiter, decimal, "" if "" in used else token, encoding))


def header_of(path: Path, sample: str, delimiter: str | None) -> tuple[str, list[str]]:
    """The delimiter, and the names of the columns."""
    try:
        delimiter = delimiter or _delimiter(sample)
        header = next((row for row in _cells(sample, delimiter) if row), [])
    except csv.Error:
        raise DataError(f"{path} cannot be cut into columns: a quote is left open, or a row is too long.") from None
    names = [name.strip() or f"unnamed_{i + 1}" for i, name in enumerate(header)]
    if not names:
        raise DataError(f"{path} has no header line.")
    if len(names) != len(set(names)):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(
            f"{path}: the column name '{twice}' appears {names.count(twice)} times in the header. Rename the columns so that each is different."
        )
    return delimiter, names


def _is_value(arrow: pa.Table, token: str) -> bool:
    """Whether a token that means missing among numbers is a text elsewhere, or reads as a suppressed cell: written for both, it would mix them."""
    return token == cell.SUPPRESSED or any(pa.types.is_string(c.type) and pc.any(pc.equal(c, token)).as_py() for c in arrow.columns)


def _as_utf8(path: Path, raw: bytes, encoding: str | None) -> tuple[bytes, str]:
    """The bytes of a file in UTF-8, and the encoding it was in."""
    if encoding is None and b"\x00" not in raw[:4096] and raw.isascii():
        return raw, "utf-8"
    text, encoding = decoded(path, raw, encoding)
    return (raw.removeprefix(b"\xef\xbb\xbf") if encoding == "utf-8" else text.encode("utf-8")), encoding


def _forms(sample: str, delimiter: str, names: list[str], kept_as_text: Sequence[str]) -> dict[str, pa.DataType]:
    """How a sample suggests to read each column: whole numbers; cells that repeat, kept and typed once each; or texts."""
    rows = [row for row in _cells(sample, delimiter) if len(row) == len(names)][1:2001]
    forms = dict.fromkeys(names, pa.string())
    for name, cells in zip(names, zip(*rows)):
        known = {cell for cell in cells if cell}
        if name not in kept_as_text and known and all(re.search(WHOLE, cell) for cell in known):
            forms[name] = pa.int64()
        elif len({*cells}) < 0.98 * len(cells):
            forms[name] = pa.dictionary(pa.int32(), pa.string())
    return forms


def _joined(cells: pa.ChunkedArray) -> pa.Array:
    return cells.chunk(0) if cells.num_chunks == 1 else pa.concat_arrays(cells.chunks)


def _distinct(cells: pa.ChunkedArray) -> tuple[pa.Array | None, pa.Array]:
    """Which distinct cell each row has, where cells repeat, and these; else the cells themselves."""
    if not pa.types.is_dictionary(cells.type):
        return None, _joined(cells)
    whole = cells.unify_dictionaries()
    return pa.concat_arrays([chunk.indices for chunk in whole.chunks]), whole.chunk(0).dictionary


def decoded(path: Path, raw: bytes, encoding: str | None) -> tuple[str, str]:
    if encoding is None:
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            encoding = "utf-16"
        elif b"\x00" in raw[:4096]:
            raise DataError(f"{path} is not text: it holds zero bytes. Give a CSV or Parquet file.")
        else:
            try:
                return raw.decode("utf-8-sig"), "utf-8"
            except UnicodeDecodeError:
                encoding = "cp1252"
    try:
        text = raw.decode(encoding)
        text.encode("utf-8")  # halves of letters, which some encodings can name, are no text
        return text, encoding
    except LookupError:
        raise DataError(f"There is no encoding named '{encoding}'. Common ones: utf-8, latin-1, cp1252, utf-16.") from None
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise DataError(f"{path} is not {encoding} text (first bad byte in line {line}). Name its encoding, for example latin-1.") from None
    except ValueError:  # an encoding that fails as it likes, or a name of one that is none
        raise DataError(f"{path} is not {encoding} text. Name its encoding, for example utf-8 or latin-1.") from None


def _delimiter(sample: str) -> str:
    """The mark that cuts the most lines into the same number of columns."""
    best, best_key = ",", (0.0, 0)
    for mark in DELIMITERS:
        widths = [len(row) for row in _cells(sample, mark) if row][:200]
        if widths and widths[0] > 1:
            key = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
            if key > best_key:
                best, best_key = mark, key
    return best


def _cells(sample: str, delimiter: str) -> Iterator[list[str]]:
    return iter(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter))


def _strings(path: Path, raw: bytes, names: list[str], delimiter: str, forms: dict[str, pa.DataType]) -> pa.Table:
    """The cells as text, or in the forms suggested where these keep every letter. Ragged rows are told by line, without their content."""
    ragged: list[tuple[int | None, int, int]] = []
    quotes = raw.count(b'"')
    if quotes % 2:  # Arrow would take all the rest of the file for one cell
        try:
            for _ in csv.reader(io.StringIO(raw.decode("utf-8"), newline=""), delimiter=delimiter, strict=True):
                pass
        except csv.Error:
            raise DataError(f"{path} cannot be cut into columns: a quote is left open, or a row is too long.") from None

    def note(row: Any) -> str:
        ragged.append((row.number, row.actual_columns, row.expected_columns))
        return "skip"

    longest = max(map(len, raw[: 1 << 20].split(b"\n")))
    block = (64 if quotes or longest > 1 << 16 else 1) << 20  # small stretches stay near the processor; a row must fit into one

    def read(types: dict[str, pa.DataType]) -> pa.Table:
        return pacsv.read_csv(
            pa.BufferReader(raw),
            read_options=pacsv.ReadOptions(column_names=names, skip_rows_after_names=1, use_threads=False, block_size=block),
            # only a quoted cell can hold a line end
            parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=quotes > 0, invalid_row_handler=note),
            convert_options=pacsv.ConvertOptions(column_types=types, strings_can_be_null=False, null_values=[""]),
        )

    try:
        if not quotes and b"\r" not in raw and pa.int64() in forms.values():
            with suppress(pa.ArrowInvalid):
                table = read(forms)
                if not ragged and _length(table) == len(raw) - raw.index(b"\n") - 1:
                    return table
            ragged.clear()
        kept = {name: pa.dictionary(pa.int32(), pa.string()) if form == pa.int64() else form for name, form in forms.items()}
        table = read(kept)
    except (pa.ArrowInvalid, pa.ArrowKeyError):  # its message may quote a cell
        raise DataError(f"{path} cannot be cut into columns: a quote is left open, or a row is too long.") from None
    if ragged:
        row, has, needs = ragged[0]
        # a quoted cell may hold line breaks, so count records and not lines
        where = f"record {row - 1}" if row is not None and row > 1 else "a record"
        raise DataError(
            f"{path}: {where} has {has} cells where the header has {needs}"
            f"{f', and {len(ragged) - 1} more like it' if len(ragged) > 1 else ''}. Quote cells that hold the delimiter '{delimiter}', or mend the row."
        )
    return table


def _length(table: pa.Table) -> int:
    """How many bytes a table takes as CSV without quotes. A whole number that was written otherwise, as 007 or +7, takes more in the file."""
    total = table.num_rows * table.num_columns  # delimiters and line ends
    for column in table.columns:
        for chunk in column.chunks:
            if chunk.type == pa.int64():
                size = np.abs(known := np.asarray(chunk.drop_null()))
                if (size >= 10**18).any() or (size < 0).any():  # so long that it is a code
                    return -1
                total += len(known) + int((known < 0).sum()) + sum(int((size >= 10**digit).sum()) for digit in range(1, 18))
            elif pa.types.is_dictionary(chunk.type):
                total += int(np.asarray(pc.binary_length(chunk.dictionary)).astype(np.int64)[np.asarray(chunk.indices)].sum())
            else:
                total += pc.sum(pc.binary_length(chunk)).as_py() or 0
    return int(total)


def without_lists(arrow: pa.Table) -> tuple[pa.Table, frozenset[str]]:
    """Such lists back in the notation, and which columns they were."""
    found = []
    for i, field in enumerate(arrow.schema):
        if (field.metadata or {}).get(b"shoal") == b"cells" and pa.types.is_list(field.type):
            found.append(field.name)
            texts = pa.array([cell.from_list(values) for values in arrow.column(i).to_pylist()], pa.string())
            arrow = arrow.set_column(i, field.name, texts)
    return arrow, frozenset(found)
