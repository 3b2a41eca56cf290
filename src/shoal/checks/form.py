"""The form of a written table: every reader must find the same rows and cells in it, and nothing may stand in it that none of them shows.

shoal writes CSV in one way: UTF-8, lines that end in a line feed, no empty lines, quotes around whole cells only. What differs from that is
read as other rows by some program or other.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.arrays import BoolArray, IntArray
from shoal.certificate import TableFile
from shoal.checks.combinations import is_parquet, parts_of
from shoal.errors import DataError
from shoal.promises import Checked

BLOCK = 1 << 24  # bytes of a CSV file looked at together
QUOTE, LINE = b'"'[0], b"\n"[0]
AS_WRITTEN = "parts that shoal does not write"
ENDINGS = (".parquet", ".pq")


def check_form(path: Path, about: TableFile) -> list[Checked]:
    """Whether a file is of the kind its name says, and written as shoal writes that kind."""
    kind, found = ("Parquet" if one else "CSV" for one in (about.file.endswith(ENDINGS) or about.parts > 0, is_parquet(path)))
    checks = [Checked("kind of file", kind, found, kind == found)]
    if found == "CSV":
        return [*checks, _none(AS_WRITTEN, _unusual_in_csv(path, about.delimiter.encode("ascii")))]
    usual = about.delimiter == "," and about.decimal == "." and not about.missing
    checks.append(Checked("how cells are written", "as in Parquet", "as in Parquet" if usual else "as in CSV", usual))
    try:
        return [*checks, _none(AS_WRITTEN, list(dict.fromkeys(one for part in parts_of(path) for one in _unusual_in_parquet(part))))]
    except (pa.ArrowException, OSError):
        raise DataError(f"{path} starts like Parquet but is damaged.") from None


def _none(what: str, found: list[str]) -> Checked:
    return Checked(what, 0, found or 0, not found)


# ---- CSV --------------------------------------------------------------------------------------------------------------------


def _unusual_in_csv(path: Path, delimiter: bytes) -> list[str]:
    """What shoal never writes, by name."""
    decoder, found, before, quotes = codecs.getincrementaldecoder("utf-8")(), dict[str, None](), b"\n", 0
    for block in _blocks(path):
        found |= dict.fromkeys(_unusual_in(before + block, quotes, delimiter))
        quotes += block.count(b'"')
        before = block[-1:]
        try:
            decoder.decode(block)
        except UnicodeDecodeError:
            found["bytes that are not UTF-8"] = None
            decoder.reset()
    with path.open("rb") as file:
        if file.read(3) == codecs.BOM_UTF8:
            found["a byte-order mark"] = None
    if before != b"\n" or quotes % 2:
        found["a last line that does not end"] = None
    return list(found)


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _unusual_in(text: bytes, quotes: int, delimiter: bytes) -> Iterator[str]:
    """In a block and the byte before it, which is not looked at again; `quotes` stand before it. A quote at its end is judged by the next."""
    if b"\x00" in text[1:]:
        yield "zero bytes"
    places: IntArray = np.zeros(0, np.int64)
    if b'"' in text:
        letters = np.frombuffer(text, np.uint8)
        places = np.flatnonzero(letters == QUOTE)
        number = quotes + np.arange(len(places)) - (text[:1] == b'"')  # of each quote, from the first of the file
        opens, edge = number % 2 == 0, np.zeros(256, bool)
        edge[[QUOTE, LINE, delimiter[0]]] = True
        first, last = places > 0, places < len(text) - 1
        if not (edge[letters[places[opens & first] - 1]].all() and edge[letters[places[~opens & last] + 1]].all()):
            yield "quotes inside cells that are not quoted"
    for what, some in (("line ends other than line feeds", (b"\r",)), ("empty lines", (b"\n\n", b"\n ", b"\n\t"))):
        for one in some:
            if one[-1:] != delimiter and one in text and _outside(text, one, places, quotes - (text[:1] == b'"')).any():
                yield what


def _outside(text: bytes, what: bytes, places: IntArray, quotes: int) -> BoolArray:
    """Of each place of one or two bytes, but for the byte before the block, whether it is outside quotes."""
    letters = np.frombuffer(text, np.uint8)
    found = letters[len(what) - 1 :] == what[-1]
    if len(what) > 1:
        found &= letters[:-1] == what[0]
    at = np.flatnonzero(found)
    at = at[at + len(what) > 1]
    outside: BoolArray = (quotes + np.searchsorted(places, at)) % 2 == 0
    return outside


# ---- Parquet ----------------------------------------------------------------------------------------------------------------


def _unusual_in_parquet(path: Path) -> list[str]:
    """What shoal never writes, by name: words beside the columns, bytes that belong to no column, texts that no cell holds."""
    with pq.ParquetFile(path) as file:
        about, schema = file.metadata, file.schema_arrow
        words = set(about.metadata or {}) - {b"ARROW:schema"} or dict(schema.metadata or {})
        texts = [about.schema.column(i).path for i in range(about.num_columns) if about.schema.column(i).physical_type == "BYTE_ARRAY"]
        unusual = {
            "words about the file": bool(words),
            "words about columns": any(_has_words(one) for one in schema),
            "bytes that belong to no column": not _is_filled(path, about),
        }
    unusual["texts that no cell holds"] = _has_idle_texts(path, texts)
    return [what for what, found in unusual.items() if found]


def _has_words(field: pa.Field) -> bool:
    told = {key: value for key, value in (field.metadata or {}).items() if key != b"PARQUET:field_id"}
    type_ = field.type
    inside = [type_.field(i) for i in range(type_.num_fields)] if pa.types.is_nested(type_) else []
    return told not in ({}, {b"shoal": b"cells"}) or any(map(_has_words, inside))


def _is_filled(path: Path, about: pq.FileMetaData) -> bool:
    """Whether all between the first four bytes and the footer are the columns', one after the other."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(-8, 2)
        footer = int.from_bytes(file.read(4), "little")
    chunks = [about.row_group(i).column(j) for i in range(about.num_row_groups) for j in range(about.num_columns)]
    begins = [one.dictionary_page_offset if one.has_dictionary_page else one.data_page_offset for one in chunks]
    ends = sorted((begin, begin + one.total_compressed_size) for begin, one in zip(begins, chunks))
    together = [(0, 4), *ends, (size - 8 - footer, size)]
    return all(one[1] == following[0] for one, following in pairwise(together))


def _has_idle_texts(path: Path, texts: list[str]) -> bool:
    """Whether a column's texts are more than its cells hold: of columns whose texts are written once, with their numbers in every row."""
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        for group in range(file.num_row_groups):
            for name in dict.fromkeys(texts):
                if any(map(_is_idle, file.read_row_group(group, columns=[name]).columns)):
                    return True
    return False


def _is_idle(column: pa.ChunkedArray) -> bool:
    kept, used = [], []
    for cells in column.chunks:
        while pa.types.is_list(cells.type):
            cells = cells.flatten()
        if pa.types.is_dictionary(cells.type):
            kept.append(cells.dictionary)
            used.append(cells.dictionary.take(cells.indices.drop_null().unique()))
    return bool(kept) and len(pa.chunked_array(used).unique()) < len(pa.chunked_array(kept).unique())
