"""A CSV read a block of lines at a time, also where it is compressed: every cell as text."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pacsv

from shoal.errors import DataError
from shoal.files import decoded, header_of

BLOCK = 1 << 24  # bytes read together
SAMPLE = 1 << 20  # in which the header must end


class CsvForm(NamedTuple):
    """How a file is written, and the names of its columns."""

    names: tuple[str, ...]
    delimiter: str
    encoding: str
    compression: str | None


def form_of(path: Path, encoding: str | None, delimiter: str | None) -> CsvForm:
    """Found out from its first lines, where it is not said."""
    compression = "gzip" if _begins(path, b"\x1f\x8b") else None
    try:
        with gzip.open(path) if compression else path.open("rb") as file:
            raw = file.read(SAMPLE)
    except (zlib.error, OSError, EOFError) as error:
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is damaged'}.") from None
    if len(raw) == SAMPLE:
        raw = raw[: raw.rfind(b"\n") + 1] or raw
    text, encoding = decoded(path, raw, encoding)
    delimiter, names = header_of(path, text, delimiter)
    return CsvForm(tuple(names), delimiter, encoding, compression)


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def lines_of(path: Path, form: CsvForm) -> Iterator[pa.Table]:
    """All cells, a block of lines at a time. Ragged rows are refused, without their content."""
    ragged: list[tuple[int, int]] = []

    def note(row: Any) -> str:
        ragged.append((row.actual_columns, row.expected_columns))
        return "skip"

    reading = pacsv.ReadOptions(
        column_names=list(form.names), skip_rows_after_names=1, use_threads=False, block_size=BLOCK, encoding=form.encoding
    )
    texts = pacsv.ConvertOptions(column_types=dict.fromkeys(form.names, pa.string()), strings_can_be_null=False)
    parsing = pacsv.ParseOptions(delimiter=form.delimiter, newlines_in_values=True, invalid_row_handler=note)
    try:
        with pa.input_stream(str(path), compression=form.compression) as stream:
            counted = _Quotes(stream)
            for batch in pacsv.open_csv(counted, reading, parsing, texts):
                if ragged:
                    break
                yield pa.Table.from_batches([batch])
        if counted.many % 2:  # Arrow takes all that follows an open quote for one cell
            _refuse_open_quote(path, form)
    except (pa.ArrowException, OSError, UnicodeError, csv.Error) as error:  # its message may quote a cell
        if isinstance(error, UnicodeError) or "UTF8" in str(error):
            raise DataError(f"{path} is not {form.encoding} text all through. Name its encoding, for example latin-1.") from None
        raise DataError(f"{path} cannot be cut into columns: a quote is left open, a row is too long, or the file is damaged.") from None
    if ragged:
        has, needs = ragged[0]
        raise DataError(
            f"{path}: a record has {has} cells where the header has {needs}. Quote cells that hold the delimiter '{form.delimiter}', or mend the row."
        )


class _Quotes:
    """A file whose quotes are counted while it is read."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream, self.many = stream, 0

    def read(self, size: int) -> bytes:
        block: bytes = self._stream.read(size)
        self.many += block.count(b'"')
        return block

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        """Whoever opened the file closes it."""


def _refuse_open_quote(path: Path, form: CsvForm) -> None:
    """The same lines as Python cuts them, which tells an open quote from one inside a cell."""
    opened: Any = gzip.open if form.compression else open
    with opened(path, "rt", encoding=form.encoding, newline="") as lines:
        for _ in csv.reader(lines, delimiter=form.delimiter, strict=True):
            pass
