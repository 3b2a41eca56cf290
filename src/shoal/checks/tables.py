"""The independent check of tables: counts what a release promises again, from the written file alone.

It shares no code with the methods, measures or kernels. Cells are compared as they stand on disk: the file is read once for all promises, a
stretch at a time, each distinct cell gets a number, and numpy sorts and counts the numbers.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from shoal.arrays import FloatArray, IntArray
from shoal.certificate import TableCertificate
from shoal.errors import DataError
from shoal.folders import sha256_of
from shoal.promises import Checked, Promise
from shoal.release import Release

MOST_PAIRED = 5000  # classes compared pairwise
STRETCH = 1 << 24  # bytes of a CSV file looked at together
DENSE = 1 << 24  # cells of a matrix of classes by values held at a time


def check_file(path: Path, delimiter: str, promises: Sequence[Promise]) -> list[Checked]:
    """Each promise, counted again on the rows of the file."""
    return _checked(promises, lambda columns: _combinations(_stretches(path, delimiter, columns), columns))


def check_release(release: Release) -> list[Checked]:
    """The same for a release that is still in memory."""
    return _checked(release.promises, lambda columns: _combinations([release.table.arrow.select(columns)], columns))


def verify_table(path: Path, certificate: TableCertificate) -> list[Checked]:
    """Hold a release against its certificate: bytes, rows, columns, promises, and the class sizes it was said to have."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    about = certificate.release
    names, rows = _shape(path, about.delimiter)
    digest = sha256_of(path)
    found = [
        Checked("bytes (sha-256)", about.sha256, digest, digest == about.sha256),
        Checked("rows", about.rows, rows, rows == about.rows),
        Checked("columns", list(about.columns), names, names == list(about.columns)),
    ]
    quasi = [column for column in certificate.roles.quasi if column in names]
    there = [one.promise for one in certificate.promises if set(one.promise.needs) <= set(names)]
    needed = list(dict.fromkeys([*quasi, *(column for promise in there for column in promise.needs)]))
    if needed:
        combinations = _combinations(_stretches(path, about.delimiter, needed), needed)
        found += _class_sizes(combinations, quasi, certificate) if quasi else []
    for one in certificate.promises:
        if one.promise not in there:
            found.append(Checked(one.what, one.value, "columns missing", False))
            continue
        counted = Checked.of(one.promise, _count(one.promise, combinations))
        found.append(counted)
        if one.found != counted.found or one.holds != counted.holds:
            found.append(Checked(f"{counted.what}, as certified", one.found, counted.found, False))
    return found


def _class_sizes(combinations: _Combinations, quasi: Sequence[str], certificate: TableCertificate) -> list[Checked]:
    measured = certificate.measure("k-anonymity")
    if measured is None or measured.value is None:
        return []
    sizes = _sizes(combinations, quasi)
    smallest, uniques = _smallest(sizes), int((sizes == 1).sum())
    certified = measured.details.get("uniques")
    return [
        Checked("smallest class, rows", measured.value, smallest, smallest == measured.value),
        Checked("unique rows", certified, uniques, uniques == certified),
    ]


def _checked(promises: Sequence[Promise], combined: Callable[[list[str]], _Combinations]) -> list[Checked]:
    columns = list(dict.fromkeys(column for promise in promises for column in promise.needs))
    combinations = combined(columns)
    return [Checked.of(promise, _count(promise, combinations)) for promise in promises]


# ---- how each kind of promise is counted -------------------------------------------------------------------------------------------


class _Inside(NamedTuple):
    """The values of a confidential column inside the classes, class after class."""

    start: IntArray  # where each class begins
    rows: IntArray
    value: IntArray
    values: list[Any]

    @property
    def sizes(self) -> IntArray:
        return np.add.reduceat(self.rows, self.start) if len(self.start) else np.zeros(0, np.int64)

    @property
    def class_of(self) -> IntArray:
        return np.repeat(np.arange(len(self.start)), np.diff(np.append(self.start, len(self.rows))))


def _count(promise: Promise, combinations: _Combinations) -> float:
    """What was promised, as the file has it."""
    if promise.what not in _COUNTED:
        raise DataError(f"There is no check for the promise '{promise.what}'. A promise that cannot be checked is not made.")
    return _COUNTED[promise.what](promise, combinations)


def _k(promise: Promise, combinations: _Combinations) -> int:
    """The smallest class; or, counting a suppressed cell as any value, the fewest rows that some class could be taken for."""
    classes, first = _numbered(combinations, promise.columns)
    sizes = np.bincount(classes, combinations.rows).astype(np.int64)
    cells = [combinations.cells(column, first) for column in promise.columns] if len(sizes) <= MOST_PAIRED else []
    return min([_smallest(sizes), *_smallest_as_wildcard(cells, sizes)])


def _distinct(promise: Promise, combinations: _Combinations) -> int:
    inside = _inside(promise, combinations)
    return int(np.diff(np.append(inside.start, len(inside.rows))).min(initial=len(inside.values)))


def _effective(promise: Promise, combinations: _Combinations) -> float:
    inside = _inside(promise, combinations)
    if not len(inside.start):
        return 0.0
    share = inside.rows / inside.sizes[inside.class_of]
    return float(np.exp(np.add.reduceat(-share * np.log(share), inside.start).min()))


def _farthest(promise: Promise, combinations: _Combinations) -> float:
    """The largest total variation between a class's values and all values."""
    inside = _inside(promise, combinations)
    whole = _whole(inside)
    share = inside.rows / inside.sizes[inside.class_of]
    # what a class has too little of adds up to what it has too much of
    return float(np.add.reduceat(np.maximum(share - whole[inside.value], 0.0), inside.start).max(initial=0.0))


def _farthest_in_order(promise: Promise, combinations: _Combinations) -> float:
    """The largest earth mover's distance over the order of values, each step between neighbours counting the same."""
    inside = _inside(promise, combinations)
    order = sorted(range(len(inside.values)), key=lambda i: _order(inside.values[i]))
    place = np.argsort(order)
    whole = _whole(inside)[order]
    steps, class_of, sizes, farthest = max(len(order) - 1, 1), inside.class_of, inside.sizes, 0.0
    at_once = max(1, DENSE // max(len(order), 1))
    for first in range(0, len(sizes), at_once):
        some = (class_of >= first) & (class_of < first + at_once)
        share = np.zeros((min(at_once, len(sizes) - first), len(order)))
        share[class_of[some] - first, place[inside.value[some]]] = inside.rows[some] / sizes[class_of[some]]
        gaps = np.abs(np.cumsum(share - whole, axis=1)[:, :-1]).sum(axis=1) / steps
        farthest = max(farthest, float(gaps.max(initial=0.0)))
    return farthest


_COUNTED: dict[str, Callable[[Promise, _Combinations], float]] = {
    "k-anonymity": _k,
    "l-diversity": _distinct,
    "entropy-l-diversity": _effective,
    "t-closeness": _farthest,
    "ordered-t-closeness": _farthest_in_order,
}


def _inside(promise: Promise, combinations: _Combinations) -> _Inside:
    assert promise.about is not None
    classes, _ = _numbered(combinations, promise.columns)
    levels = combinations.levels[promise.about]
    pair, which = np.unique(classes * len(levels) + combinations.codes[promise.about], return_inverse=True)
    rows = np.bincount(which.reshape(-1), combinations.rows).astype(np.int64)
    values, value = np.unique(pair % max(len(levels), 1), return_inverse=True)
    start = np.searchsorted(pair // max(len(levels), 1), np.arange(int(classes.max(initial=-1)) + 1))
    return _Inside(start, rows, value.reshape(-1), levels.take(pa.array(values)).to_pylist())


def _whole(inside: _Inside) -> FloatArray:
    totals = np.bincount(inside.value, inside.rows, minlength=len(inside.values))
    return np.asarray(totals / max(totals.sum(), 1))


def _order(value: Any) -> tuple[int, Fraction, str]:
    """Numbers by size, exactly; then text; then missing."""
    if value is None or value == "":
        return 2, Fraction(0), ""
    try:
        return 0, Fraction(value.replace(",", ".") if isinstance(value, str) else value), ""
    except (TypeError, ValueError, OverflowError):
        return 1, Fraction(0), str(value)


def _smallest_as_wildcard(cells: Sequence[list[Any]], sizes: IntArray) -> list[int]:
    """The fewest rows any class could be taken for when a suppressed cell stands for every value; nothing where none is suppressed.

    It can only be more than the class itself; it is counted all the same, by comparing classes pairwise, up to a few thousand of them.
    """
    if not any("*" in column for column in cells):
        return []
    numbers: list[dict[Any, int]] = [{} for _ in cells]
    codes = np.array([[seen.setdefault(cell, len(seen)) for cell in column] for seen, column in zip(numbers, cells)]).T
    open_ = np.array([[cell == "*" for cell in column] for column in cells]).T
    return [min(int(sizes[((codes == codes[i]) | open_ | open_[i]).all(axis=1)].sum()) for i in range(len(codes)))]


def _smallest(sizes: IntArray) -> int:
    return int(sizes.min()) if len(sizes) else 0


def _sizes(combinations: _Combinations, columns: Sequence[str]) -> IntArray:
    return np.bincount(_numbered(combinations, columns)[0], combinations.rows).astype(np.int64)


# ---- combinations of cells, and how many rows have each ---------------------------------------------------------------------------


class _Combinations(NamedTuple):
    """Every combination of cells, by the number of its cell in each column, and how many rows have it."""

    codes: dict[str, IntArray]
    levels: dict[str, pa.Array]  # the cell behind each number
    rows: IntArray

    def cells(self, column: str, some: IntArray) -> list[Any]:
        """The cells of some combinations."""
        return list(self.levels[column].take(pa.array(self.codes[column][some])).to_pylist())


def _combinations(stretches: Iterable[pa.Table], columns: list[str]) -> _Combinations:
    """Of all rows, in the columns named."""
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
    return _counted(codes, levels)


def _counted(codes: dict[str, IntArray], levels: dict[str, pa.Array]) -> _Combinations:
    """The combinations of all rows. Where a number says all of one, numbers are sorted and read back: that is cheaper than sorting rows."""
    rows = len(next(iter(codes.values()), ()))
    widths = [max(len(levels[column]), 1) for column in codes]
    if math.prod(widths) > 1 << 62:
        number, first = _numbered(_Combinations(codes, levels, np.ones(rows, np.int64)), list(codes))
        return _Combinations({column: codes[column][first].astype(np.int64) for column in codes}, levels, np.bincount(number))
    key = np.zeros(rows, np.int64)
    for column, width in zip(codes, widths):
        key *= width
        key += codes[column]
    key.sort()
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[:rows])
    distinct, found = key[first], {}
    for column, width in reversed(list(zip(codes, widths))):
        distinct, found[column] = np.divmod(distinct, width)
    return _Combinations(found, levels, np.diff(np.append(first, rows)))


def _numbered(combinations: _Combinations, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
    """The number of each combination of fewer columns, and one that has it."""
    key, size = np.zeros(len(combinations.rows), np.int64), 1
    for column in columns:
        width = max(len(combinations.levels[column]), 1)
        if size > (1 << 62) // width:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            size = int(key.max(initial=-1)) + 1
        key, size = key * width + combinations.codes[column], size * width
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


def _stretches(path: Path, delimiter: str, columns: list[str]) -> Iterator[pa.Table]:
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


def _shape(path: Path, delimiter: str) -> tuple[list[str], int]:
    if _is_parquet(path):
        return list(pq.read_schema(path).names), int(pq.read_metadata(path).num_rows)
    names = _header(path, delimiter)
    return names, sum(stretch.num_rows for stretch in _stretches(path, delimiter, names[:1]))
