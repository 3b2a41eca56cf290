"""The plainest engine: this process, a stretch of rows at a time, counted by shoal itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.parts import Parts, batches

A = TypeVar("A")
B = TypeVar("B")


class MemoryEngine:
    """Reads files by Arrow, and groups what it has read."""

    name: ClassVar[str] = "memory"

    def each(self, task: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        """One after the other."""
        return map(task, items)

    def grouped(self, parts: Parts, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Distinct rows of some columns with how many rows have each; of each stretch by itself."""
        for stretch in parts.stretches():
            for _, table in batches(stretch, columns):
                cells = [table.column(name) for name in columns]
                groups = (
                    pa.table([*map(_plain, cells), pa.array(np.ones(len(table), np.int64))], names=[*columns, ROWS])
                    .group_by(list(columns))
                    .aggregate([(ROWS, "sum")])
                    .select([*columns, f"{ROWS}_sum"])
                    .rename_columns([*columns, ROWS])
                )
                yield pa.table([*map(_as_before, groups.columns, cells), groups.column(ROWS)], names=[*columns, ROWS])

    def distinct(self, parts: Parts, column: str) -> int:
        """How many different values a column has, missing not among them."""
        known = [table.column(0).combine_chunks().unique().drop_null() for s in parts.stretches() for _, table in batches(s, [column])]
        return len(pa.chunked_array(known).unique()) if known else 0

    def numbered(self, ids: Parts, out: Path) -> None:
        """Rows with the number of each among those of one id, in the order of rows."""
        table = pq.read_table(ids.paths, partitioning=None)
        row, id_ = (np.asarray(table.column(name)) for name in ("row", "id"))
        order = np.lexsort((row, id_))
        begins = np.flatnonzero(np.append(True, np.diff(id_[order]) != 0))
        number = np.empty(len(row), np.int64)
        number[order] = np.arange(len(row)) - np.repeat(begins, np.diff(np.append(begins, len(row))))
        by_row = np.argsort(row)
        pq.write_table(
            pa.table({"row": row[by_row], "id": id_[by_row], "number": number[by_row]}), out / "ids.parquet", row_group_size=1 << 19
        )

    def close(self) -> None:
        """Nothing is held."""


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    """Lists as texts: Arrow groups no lists."""
    if not pa.types.is_list(column.type):
        return column
    return pa.array([None if one is None else json.dumps(one) for one in column.to_pylist()], pa.string())


def _as_before(groups: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if not pa.types.is_list(column.type):
        return groups
    return pa.array([None if one is None else json.loads(one) for one in groups.to_pylist()], column.type)


ROWS = "\x00rows"  # how many rows have a combination; no column can be named so
