"""The independent check of tables: counts what a release promises again, from the written file alone.

It shares no code with the methods, measures or kernels. Cells are compared as they stand on disk; Arrow groups them, in one pass for all
promises, a stretch of the file at a time.
"""

from __future__ import annotations

import csv
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
ROWS = "rows of a combination"
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


def _class_sizes(combinations: pa.Table, quasi: Sequence[str], certificate: TableCertificate) -> list[Checked]:
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


def _checked(promises: Sequence[Promise], combined: Callable[[list[str]], pa.Table]) -> list[Checked]:
    columns = list(dict.fromkeys(column for promise in promises for column in promise.needs))
    combinations = combined(columns) if columns else None
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


def _count(promise: Promise, combinations: pa.Table) -> float:
    """What was promised, as the file has it."""
    if promise.what not in _COUNTED:
        raise DataError(f"There is no check for the promise '{promise.what}'. A promise that cannot be checked is not made.")
    return _COUNTED[promise.what](promise, combinations)


def _k(promise: Promise, combinations: pa.Table) -> int:
    """The smallest class; or, counting a suppressed cell as any value, the fewest rows that some class could be taken for."""
    classes = _grouped(combinations, promise.columns)
    sizes = np.asarray(classes[ROWS])
    return min([_smallest(sizes), *_smallest_as_wildcard(classes, promise.columns)])


def _distinct(promise: Promise, combinations: pa.Table) -> int:
    inside = _inside(promise, combinations)
    return int(np.diff(np.append(inside.start, len(inside.rows))).min(initial=len(inside.values)))


def _effective(promise: Promise, combinations: pa.Table) -> float:
    inside = _inside(promise, combinations)
    if not len(inside.start):
        return 0.0
    share = inside.rows / inside.sizes[inside.class_of]
    return float(np.exp(np.add.reduceat(-share * np.log(share), inside.start).min()))


def _farthest(promise: Promise, combinations: pa.Table) -> float:
    """The largest total variation between a class's values and all values."""
    inside = _inside(promise, combinations)
    whole = _whole(inside)
    share = inside.rows / inside.sizes[inside.class_of]
    # what a class has too little of adds up to what it has too much of
    return float(np.add.reduceat(np.maximum(share - whole[inside.value], 0.0), inside.start).max(initial=0.0))


def _farthest_in_order(promise: Promise, combinations: pa.Table) -> float:
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


_COUNTED: dict[str, Callable[[Promise, pa.Table], float]] = {
    "k-anonymity": _k,
    "l-diversity": _distinct,
    "entropy-l-diversity": _effective,
    "t-closeness": _farthest,
    "ordered-t-closeness": _farthest_in_order,
}


def _inside(promise: Promise, combinations: pa.Table) -> _Inside:
    assert promise.about is not None
    pairs = _grouped(combinations, promise.needs)
    about = pairs[promise.about].combine_chunks()
    codes = about.dictionary_encode() if not pa.types.is_dictionary(about.type) else about
    codes = pa.concat_arrays(codes.chunks) if isinstance(codes, pa.ChunkedArray) else codes
    levels = [*codes.dictionary.to_pylist(), None]
    value = pa.array(np.asarray(codes.indices.fill_null(len(levels) - 1)).astype(np.int64))
    keys = pairs.select(list(promise.columns)).append_column("value of it", value).append_column(ROWS, pairs[ROWS])
    classes = keys.group_by(list(promise.columns), use_threads=False).aggregate([("value of it", "list"), (ROWS, "list")])
    values, rows = (classes[f"{name}_list"].combine_chunks() for name in ("value of it", ROWS))
    values, rows = (pa.concat_arrays(one.chunks) if isinstance(one, pa.ChunkedArray) else one for one in (values, rows))
    start = np.asarray(values.offsets)[:-1].astype(np.int64)
    flat = np.asarray(values.values)
    used = np.unique(flat)
    return _Inside(start, np.asarray(rows.values), np.searchsorted(used, flat), [levels[code] for code in used.tolist()])


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


def _smallest_as_wildcard(classes: pa.Table, columns: Sequence[str]) -> list[int]:
    """The fewest rows any class could be taken for when a suppressed cell stands for every value; nothing where none is suppressed.

    It can only be more than the class itself; it is counted all the same, by comparing classes pairwise, up to a few thousand of them.
    """
    if not 0 < classes.num_rows <= MOST_PAIRED:
        return []
    cells = [classes[column].to_pylist() for column in columns]
    if not any("*" in column for column in cells):
        return []
    numbers: list[dict[Any, int]] = [{} for _ in cells]
    codes = np.array([[seen.setdefault(cell, len(seen)) for cell in column] for seen, column in zip(numbers, cells)]).T
    open_ = np.array([[cell == "*" for cell in column] for column in cells]).T
    sizes = np.asarray(classes[ROWS])
    return [min(int(sizes[((codes == codes[i]) | open_ | open_[i]).all(axis=1)].sum()) for i in range(len(codes)))]


def _smallest(sizes: IntArray) -> int:
    return int(sizes.min()) if len(sizes) else 0


def _sizes(combinations: pa.Table, columns: Sequence[str]) -> IntArray:
    return np.asarray(_grouped(combinations, columns)[ROWS])


# ---- combinations of cells, and how many rows have each ---------------------------------------------------------------------------


def _grouped(combinations: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Fewer columns: the rows of combinations that are now the same, together."""
    keys = list(dict.fromkeys(columns))
    summed = combinations.group_by(keys, use_threads=False).aggregate([(ROWS, "sum")])
    return summed.select([*keys, f"{ROWS}_sum"]).rename_columns([*keys, ROWS])


def _combinations(stretches: Iterable[pa.Table], columns: list[str]) -> pa.Table:
    """Every combination of cells in the columns, and how many rows have it."""
    parts = []
    for stretch in stretches:
        plain = pa.table({column: _comparable(stretch.column(column)) for column in columns})
        counted = plain.group_by(columns, use_threads=False).aggregate([([], "count_all")])
        parts.append(counted.select([*columns, "count_all"]).rename_columns([*columns, ROWS]))
    if not parts:
        return pa.table({**{column: pa.array([], pa.string()) for column in columns}, ROWS: pa.array([], pa.int64())})
    return _grouped(pa.concat_tables(parts), columns) if len(parts) > 1 else parts[0]


def _comparable(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    """Sets are lists in Parquet, a suppressed cell an empty one: as text, like every other cell. Texts held once each are written out."""
    if pa.types.is_dictionary(cells.type):
        return pa.chunked_array([chunk.dictionary.take(chunk.indices) for chunk in cells.chunks], cells.type.value_type)
    if not pa.types.is_list(cells.type):
        return cells
    texts = []
    for chunk in cells.chunks:
        inside = chunk.flatten()
        lengths = chunk.value_lengths().fill_null(0)
        offsets = pa.array(np.concatenate([[0], np.cumsum(np.asarray(lengths))]).astype(np.int32))
        joined = pc.binary_join(pa.ListArray.from_arrays(offsets, inside.fill_null("\x00")), "\x1f")
        joined = pc.if_else(pc.equal(lengths, 0), pa.scalar("*"), joined)
        texts.append(pc.if_else(chunk.is_null(), pa.scalar(None, pa.string()), joined))
    return pa.chunked_array(texts, pa.string())


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
