"""The cells of a written table as numbers: every combination of some columns, and how many rows have it.

The file is read once for all promises, a stretch at a time, cells as they stand on disk; each distinct cell gets a number.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.arrays import BoolArray, IntArray
from shoal.errors import DataError

STRETCH = 1 << 24  # bytes of a CSV file looked at together
PERSON = "\x00person"  # no column can be named so


class Combinations(NamedTuple):
    """Every combination of cells, by the number of its cell in each column, and how many rows have it."""

    codes: dict[str, IntArray]
    levels: dict[str, pa.Array]  # the cell behind each number
    rows: IntArray
    missing: str = ""  # how the file writes a missing cell

    def is_missing(self, column: str) -> BoolArray:
        """Whether the cell behind each number is none."""
        return is_missing(self.levels[column], self.missing)

    def cells(self, column: str, some: IntArray) -> list[Any]:
        """The cells of some combinations."""
        return list(self.levels[column].take(pa.array(self.codes[column][some])).to_pylist())


def is_missing(levels: pa.Array, missing: str) -> BoolArray:
    """Whether a cell is none: empty, or as the file writes a missing one."""
    texts = pa.array([missing, ""]) if pa.types.is_string(levels.type) else None
    nothing = pc.is_null(levels)
    return np.asarray(nothing if texts is None else pc.or_(nothing, pc.is_in(levels, value_set=texts)))


class Cells(NamedTuple):
    """Of every row the number of its cell, column by column; and the cell behind each number."""

    codes: dict[str, IntArray]
    levels: dict[str, pa.Array]
    missing: str = ""

    def combinations(self, columns: Sequence[str]) -> Combinations:
        """Of some columns; and of the person each row is of, where that is known."""
        some = [*columns, *([PERSON] if PERSON in self.codes else [])]
        return _counted({c: self.codes[c] for c in some}, {c: self.levels[c] for c in some})._replace(missing=self.missing)

    def shared_inside(self, number: str) -> list[str]:
        """The columns that are the same in all rows of a number, for 95 of 100 numbers that have several rows."""
        there = ~is_missing(self.levels[number], self.missing)[self.codes[number]]
        order = np.flatnonzero(there)[np.argsort(self.codes[number][there], kind="stable")]
        begins = np.flatnonzero(np.diff(self.codes[number][order].astype(np.int64), prepend=-1))
        several = np.diff(np.append(begins, len(order))) > 1
        found = []
        for column in self.codes if several.any() else ():
            mine = self.codes[column][order]
            differs = np.append(False, mine[1:] != mine[:-1])
            differs[begins] = False
            mixed = int((np.add.reduceat(differs, begins)[several] > 0).sum())
            if column not in (number, PERSON) and 100 * mixed <= 5 * int(several.sum()):
                found.append(column)
        return found


def cells_of(stretches: Iterable[pa.Table], columns: list[str], persons: IntArray | None = None, missing: str = "") -> Cells:
    """Of all rows, in the columns named; and the person each row is of, where that is known."""
    parts: dict[str, list[pa.Array]] = {column: [] for column in columns}
    for stretch in stretches:
        for column in columns:
            parts[column] += map(_encoded, _comparable(stretch.column(column)))
    codes, levels = {}, {}
    for column in columns:
        chunks = parts.pop(column)
        whole = pa.chunked_array(chunks).unify_dictionaries() if chunks else pa.chunked_array([_encoded(pa.array([], pa.string()))])
        codes[column] = np.concatenate([np.asarray(chunk.indices) for chunk in whole.chunks])
        levels[column] = whole.chunk(0).dictionary
    if persons is not None and columns:
        if len(persons) != len(codes[columns[0]]):
            raise DataError(f"The file has {len(codes[columns[0]]):,} rows, and {len(persons):,} are known whose they are.")
        codes[PERSON], levels[PERSON] = persons, pa.array(np.arange(int(persons.max(initial=-1)) + 1))
    return Cells(codes, levels, missing)


def _counted(codes: dict[str, IntArray], levels: dict[str, pa.Array]) -> Combinations:
    """The combinations of all rows. Where a number says all of one, numbers are sorted and read back: that is cheaper than sorting rows."""
    rows = len(next(iter(codes.values()), ()))
    widths = [max(len(levels[column]), 1) for column in codes]
    if math.prod(widths) > 1 << 62:
        number, first = numbered(Combinations(codes, levels, np.ones(rows, np.int64)), list(codes))
        return Combinations({column: codes[column][first].astype(np.int64) for column in codes}, levels, np.bincount(number))
    key = np.zeros(rows, np.int64)
    for column, width in zip(codes, widths):
        key *= width
        key += codes[column]
    key.sort()
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[:rows])
    distinct, found = key[first], {}
    for column, width in reversed(list(zip(codes, widths))):
        distinct, found[column] = np.divmod(distinct, width)
    return Combinations(found, levels, np.diff(np.append(first, rows)))


def numbered(combinations: Combinations, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The number of each combination of fewer columns, and one that has it."""
    key, size = np.zeros(len(combinations.rows), np.int64), 1
    for column in columns:
        width = max(len(combinations.levels[column]), 1)
        if size > (1 << 62) // width:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            size = int(key.max(initial=-1)) + 1
        key, size = key * width + combinations.codes[column], size * width
    return numbered_keys(key)


def numbered_keys(key: IntArray) -> tuple[IntArray, IntArray]:
    """The number of each key in rising order, and a place where it stands. Keys of the first columns are in order already."""
    if len(key) and (key[1:] >= key[:-1]).all():
        begins = np.append(True, key[1:] != key[:-1])
        return np.cumsum(begins) - 1, np.flatnonzero(begins)
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number.reshape(-1), first


def _encoded(cells: pa.Array) -> pa.DictionaryArray:
    """Each distinct cell once, missing being one, and its number in every row."""
    if pa.types.is_null(cells.type):
        cells = cells.cast(pa.string())
    if pa.types.is_dictionary(cells.type):
        if not cells.indices.null_count and len(cells.dictionary.unique()) == len(cells.dictionary):
            return cells
        cells = cells.dictionary.take(cells.indices)
    return cells.dictionary_encode(null_encoding="encode")


def _comparable(cells: pa.ChunkedArray) -> list[pa.Array]:
    """Sets are lists in Parquet, a suppressed cell an empty one: as text, like every other cell."""
    if not pa.types.is_list(cells.type):
        return list(cells.chunks)
    texts = []
    for chunk in cells.chunks:
        inside, lengths = chunk.flatten(), np.asarray(chunk.value_lengths().fill_null(0))
        if pa.types.is_dictionary(inside.type) and (inside.null_count or (lengths != 1).any()):
            inside = inside.dictionary.take(inside.indices)
        if inside.null_count:
            inside = inside.fill_null("\x00")
        if (lengths != 1).any():
            offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
            inside = pc.binary_join(pa.ListArray.from_arrays(offsets, inside), "\x1f")
            inside = pc.if_else(pa.array(lengths == 0), pa.scalar("*"), inside)
            inside = pc.if_else(chunk.is_null(), pa.scalar(None, pa.string()), inside)
        texts.append(inside)
    return texts


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def stretches(path: Path, delimiter: str, columns: list[str]) -> Iterator[pa.Table]:
    """The file a stretch at a time; of a CSV, every cell as text."""
    if _is_parquet(path):
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(1 << 20, columns=columns):
                yield pa.table(batch)
        return
    names = _header(path, delimiter)
    reader = pacsv.open_csv(
        path,
        read_options=pacsv.ReadOptions(column_names=names, skip_rows_after_names=1, use_threads=False, block_size=STRETCH),
        parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, include_columns=columns
        ),
    )
    for batch in reader:
        yield pa.table(batch)


def _header(path: Path, delimiter: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file, delimiter=delimiter), [])


def names_of(path: Path, delimiter: str) -> list[str]:
    """The columns of the file."""
    return list(pq.read_schema(path).names) if _is_parquet(path) else _header(path, delimiter)


def shape(path: Path, delimiter: str) -> tuple[list[str], int]:
    """The columns of the file, and how many rows it has."""
    names = names_of(path, delimiter)
    if _is_parquet(path):
        return names, int(pq.read_metadata(path).num_rows)
    return names, sum(stretch.num_rows for stretch in stretches(path, delimiter, names[:1]))
