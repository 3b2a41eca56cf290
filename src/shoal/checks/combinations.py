"""The cells of a written table as numbers: every combination of some columns, and how many rows have it.

The file is read once for all promises, a stretch at a time, cells as they stand on disk; each distinct cell gets a number.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.arrays import BoolArray, IntArray
from shoal.checks.values import AS_USUAL, Written, is_missing, without_escapes
from shoal.errors import DataError

STRETCH = 1 << 24  # bytes of a CSV file looked at together
LONGEST = (1 << 31) - 1  # bytes that Arrow can look at together
Groups = Callable[[Sequence[str]], Iterator[pa.Table]]  # distinct rows of some columns of a file, and how many rows have each
PERSON = "\x00person"  # no column can be named so


class Combinations(NamedTuple):
    """Every combination of cells, by the number of its cell in each column, and how many rows have it."""

    codes: dict[str, IntArray]
    levels: dict[str, pa.Array]  # the cell behind each number
    rows: IntArray
    written: Written = AS_USUAL

    def is_missing(self, column: str) -> BoolArray:
        """Whether the cell behind each number is none."""
        return is_missing(self.levels[column], self.written.missing)

    def cells(self, column: str, some: IntArray) -> list[Any]:
        """The cells of some combinations."""
        return list(self.levels[column].take(pa.array(self.codes[column][some])).to_pylist())


class Cells(NamedTuple):
    """Of every row the number of its cell, column by column; and the cell behind each number. Rows may be counted already."""

    codes: dict[str, IntArray]
    levels: dict[str, pa.Array]
    written: Written = AS_USUAL
    counted: IntArray | None = None  # how many rows of the file each of these rows is; None: one

    @property
    def rows(self) -> IntArray:
        """How many rows of the file each row is."""
        return np.ones(len(next(iter(self.codes.values()), ())), np.int64) if self.counted is None else self.counted

    def combinations(self, columns: Sequence[str]) -> Combinations:
        """Of some columns; and of the person each row is of, where that is known."""
        some = [*columns, *([PERSON] if PERSON in self.codes else [])]
        codes, levels = {c: self.codes[c] for c in some}, {c: self.levels[c] for c in some}
        found = _counted(codes, levels) if self.counted is None else _counted_again(Combinations(codes, levels, self.counted))
        return found._replace(written=self.written)

    def shared_inside(self, number: str) -> list[str]:
        """The columns that are the same in all rows of a number, for 95 of 100 numbers that have several rows."""
        there = ~is_missing(self.levels[number], self.written.missing)[self.codes[number]]
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


def cells_of(stretches: Iterable[pa.Table], columns: list[str], persons: IntArray | None = None, written: Written = AS_USUAL) -> Cells:
    """Of all rows, in the columns named; and the person each row is of, where that is known."""
    parts: dict[str, list[pa.Array]] = {column: [] for column in columns}
    for stretch in stretches:
        for column in columns:
            parts[column] += map(_encoded, _comparable(stretch.column(column)))
    codes, levels = {}, {}
    for column in columns:
        codes[column], levels[column] = _joined(parts.pop(column) or [_encoded(pa.array([], pa.string()))])
        if written.formulas == "escape":
            levels[column] = without_escapes(levels[column])
    if persons is not None and columns:
        if len(persons) != len(codes[columns[0]]):
            raise DataError(f"The file has {len(codes[columns[0]]):,} rows, and {len(persons):,} are known whose they are.")
        codes[PERSON], levels[PERSON] = persons, pa.array(np.arange(int(persons.max(initial=-1)) + 1))
    return Cells(codes, levels, written)


def grouped_cells(groups: Iterable[pa.Table], columns: Sequence[str], written: Written = AS_USUAL) -> Cells:
    """Of groups that were counted where the file is read: distinct rows of the columns, and in a last column how many rows have each."""
    pieces = list(groups)
    cells = cells_of((piece.select(list(columns)) for piece in pieces), list(columns), written=written)
    rows = [np.asarray(piece.column(len(columns)).combine_chunks()).astype(np.int64) for piece in pieces]
    return cells._replace(counted=np.concatenate(rows) if rows else np.zeros(0, np.int64))


def _counted_again(counted: Combinations) -> Combinations:
    """Fewer columns of what is counted already."""
    number, first = numbered(counted, list(counted.codes))
    codes = {column: codes[first].astype(np.int64) for column, codes in counted.codes.items()}
    return Combinations(codes, counted.levels, np.bincount(number, counted.rows, minlength=len(first)).astype(np.int64))


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


def _joined(chunks: list[pa.DictionaryArray]) -> tuple[IntArray, pa.Array]:
    """The number of each cell over all stretches, and the cell behind each number. (Arrow does not unify dictionaries with a null in them.)"""
    if len(chunks) == 1:
        return np.asarray(chunks[0].indices), chunks[0].dictionary
    all_ = pa.concat_arrays([chunk.dictionary for chunk in chunks]).dictionary_encode(null_encoding="encode")
    number, begins = np.asarray(all_.indices), np.cumsum([0, *(len(chunk.dictionary) for chunk in chunks)])
    return np.concatenate([number[begin + np.asarray(chunk.indices)] for begin, chunk in zip(begins, chunks)]), all_.dictionary


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
    """Cells of a type that can be counted: sets, which are lists in Parquet, as text; other nested cells as Python shows them."""
    type_ = cells.type.value_type if pa.types.is_dictionary(cells.type) else cells.type
    if pa.types.is_list(type_) and not pa.types.is_nested(type_.value_type):
        return list(map(_as_text, cells.chunks))
    if pa.types.is_nested(type_):
        return [pa.array([None if cell is None else repr(cell) for cell in chunk.to_pylist()], pa.string()) for chunk in cells.chunks]
    if pa.types.is_large_string(type_) or pa.types.is_string_view(type_):
        return list(cells.cast(pa.string()).chunks)
    return list(cells.cast(pa.float32()).chunks if pa.types.is_float16(type_) else cells.chunks)


def _as_text(lists: pa.Array) -> pa.Array:
    """Each list as one text, no two as the same: what parts the elements is written otherwise inside them. A suppressed cell is an empty list."""
    inside, lengths = lists.flatten(), np.asarray(lists.value_lengths().fill_null(0))
    if pa.types.is_dictionary(inside.type):
        inside = inside.dictionary.take(inside.indices)
    inside = inside.cast(pa.string())
    for written, apart in (("\x1e", "\x1e0"), ("\x1f", "\x1e1")):
        if pc.any(pc.match_substring(inside, written)).as_py():
            inside = pc.replace_substring(inside, written, apart)
    inside = pc.if_else(pc.equal(inside, "*"), "\x1e3", inside).fill_null("\x1e2")
    if (lengths != 1).any():
        offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
        inside = pc.binary_join(pa.ListArray.from_arrays(offsets, inside), "\x1f")
        inside = pc.if_else(pa.array(lengths == 0), pa.scalar("*"), inside)
        inside = pc.if_else(lists.is_null(), pa.scalar(None, pa.string()), inside)
    return inside


def is_parquet(path: Path) -> bool:
    """By its first bytes; a folder, by those of all its files."""
    if path.is_dir():
        return all(map(is_parquet, parts_of(path)))
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def parts_of(path: Path) -> list[Path]:
    """The files of a release: itself, or all that lie in its folder."""
    return sorted(path.iterdir()) if path.is_dir() else [path]


def groups_in(path: Path) -> Groups:
    """How groups are counted in the files of a folder, one file after the other, where no engine does it."""

    def groups(columns: Sequence[str]) -> Iterator[pa.Table]:
        for part in parts_of(path):
            found = cells_of(stretches(part, ",", list(columns)), list(columns)).combinations(list(columns))
            cells = [found.levels[column].take(pa.array(found.codes[column])) for column in columns]
            yield pa.table([*cells, pa.array(found.rows)], names=[*columns, "\x00rows"])

    return groups


def stretches(path: Path, delimiter: str, columns: list[str]) -> Iterator[pa.Table]:
    """The file a stretch at a time; of a CSV, every cell as text. A row longer than a stretch is read in a longer one."""
    if path.is_dir():
        for part in parts_of(path):
            yield from stretches(part, delimiter, columns)
        return
    if is_parquet(path):
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(1 << 20, columns=columns):
                    yield pa.table(batch)
        except (pa.ArrowException, OSError):
            raise DataError(f"{path} starts like Parquet but is damaged.") from None
        return
    names, size, block, rows = _header(path, delimiter), path.stat().st_size, STRETCH, 0
    while True:
        try:
            before, reader = 0, _csv(path, names, delimiter, columns, block)
            for batch in reader:
                new = batch.slice(max(rows - before, 0))
                before += batch.num_rows
                if new.num_rows:
                    rows += new.num_rows
                    yield pa.table(new)
            return
        except (pa.ArrowException, OSError):  # its message may quote a cell
            if block >= min(size, LONGEST):
                raise DataError(f"{path} cannot be cut into columns: it is damaged, or no release written by shoal.") from None
            block = min(8 * block, LONGEST)


def _csv(path: Path, names: list[str], delimiter: str, columns: list[str], block: int) -> pacsv.CSVStreamingReader:
    return pacsv.open_csv(
        path,
        read_options=pacsv.ReadOptions(column_names=names, skip_rows_after_names=1, use_threads=False, block_size=block),
        parse_options=pacsv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False, include_columns=columns
        ),
    )


def _header(path: Path, delimiter: str) -> list[str]:
    before = csv.field_size_limit(LONGEST)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file, delimiter=delimiter), [])
    except (csv.Error, ValueError):
        raise DataError(f"{path} has no header line that can be read: it is damaged, or no release written by shoal.") from None
    finally:
        csv.field_size_limit(before)


def names_of(path: Path, delimiter: str) -> list[str]:
    """The columns of the file; of a folder, those of all its files, or none where they differ."""
    if path.is_dir():
        schemas = [_about_parquet(part).schema.to_arrow_schema().remove_metadata() for part in parts_of(path)]
        return list(schemas[0].names) if schemas and all(one.equals(schemas[0]) for one in schemas) else []
    return list(_about_parquet(path).schema.to_arrow_schema().names) if is_parquet(path) else _header(path, delimiter)


def _about_parquet(path: Path) -> pq.FileMetaData:
    try:
        return pq.read_metadata(path)
    except (pa.ArrowException, OSError):
        raise DataError(f"{path} starts like Parquet but is damaged.") from None


def count_rows(path: Path, delimiter: str, names: list[str]) -> int:
    """How many rows the file has, in columns of these names."""
    if path.is_dir():
        return sum(count_rows(part, delimiter, names) for part in parts_of(path))
    if is_parquet(path):
        return int(_about_parquet(path).num_rows)
    return sum(stretch.num_rows for stretch in stretches(path, delimiter, names[:1]))
