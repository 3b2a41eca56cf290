"""DuckDB: one machine, tables larger than its memory. It groups and sorts within the memory it is given, and puts the rest on the disk."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.engines.memory import ROWS
from shoal.errors import DataError, OutputError
from shoal.parts import STRETCH, Parts

A = TypeVar("A")
B = TypeVar("B")
_MARK = "\x1e"
LEAST = 128 << 20  # bytes that DuckDB can work with


class DuckDBEngine:
    """A connection of its own, which writes what does not fit into a folder of the run."""

    name: ClassVar[str] = "duckdb"

    def __init__(self, memory: int, aside: Path) -> None:
        try:
            import duckdb
        except ImportError:
            raise DataError("Tables larger than memory need an extra: pip install 'shoal[duckdb]'.") from None
        self._duckdb = duckdb
        settings = {"memory_limit": f"{max(memory, LEAST) >> 20}MiB", "temp_directory": str(aside), "preserve_insertion_order": "false"}
        self._connection = duckdb.connect(":memory:", config={**settings, "autoinstall_known_extensions": "false"})
        self._connection.execute("SET enable_progress_bar = false")  # it would be printed among the data

    def each(self, task: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        """Here, one after the other: a stretch of rows fits."""
        return map(task, items)

    def grouped(self, parts: Parts, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Distinct rows of some columns, with how many rows have each."""
        lists = [column for column in columns if pa.types.is_list(parts.schema.field(column).type)]
        names = {column: _name(parts, column) for column in columns}
        asked = ", ".join(f"{_as_text(name)} AS {name}" if column in lists else name for column, name in names.items())
        query = f"SELECT {asked}, count(*)::BIGINT FROM {_read(parts)} GROUP BY ALL"
        for batch in self._guarded(lambda: self._reader(query)):
            table = pa.Table.from_batches([batch]).rename_columns([*columns, ROWS])
            for column in lists:
                table = table.set_column(table.column_names.index(column), column, _as_lists(table.column(column).combine_chunks()))
            yield table

    def distinct(self, parts: Parts, column: str) -> int:
        """How many different values a column has, missing not among them."""
        return int(self._asked(f"SELECT count(DISTINCT {_name(parts, column)}) FROM {_read(parts)}").fetchone()[0])

    def numbered(self, ids: Parts, out: Path) -> None:
        """Rows with the number of each among those of one id, in the order of rows."""
        row, id_ = _name(ids, "row"), _name(ids, "id")
        number = f"row_number() OVER (PARTITION BY {id_} ORDER BY {row}) - 1 AS number"
        target = str(out / "ids.parquet").replace("'", "''")
        self._asked(
            f"COPY (SELECT {row} AS row, {id_} AS id, {number} FROM {_read(ids)} ORDER BY 1) TO '{target}' "
            f"(FORMAT parquet, ROW_GROUP_SIZE {STRETCH})"
        )

    def close(self) -> None:
        """Memory and files go."""
        self._connection.close()

    def _reader(self, query: str) -> Any:
        """Of a query that is done: Ctrl-C is heard while DuckDB works, as it is not by a reader that begins the work."""
        done = self._connection.execute(query)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that groups, which are few beside rows, are copied once more
            return done.to_arrow_reader(STRETCH)

    def _asked(self, query: str) -> Any:
        try:
            return self._connection.execute(query)
        except (self._duckdb.Error, RuntimeError) as error:
            raise self._told(error) from None

    def _guarded(self, reader: Callable[[], Any]) -> Iterator[pa.RecordBatch]:
        try:
            yield from reader()
        except (self._duckdb.Error, RuntimeError, pa.ArrowException, OSError) as error:
            raise self._told(error) from None

    def _told(self, error: Exception) -> BaseException:
        """In a sentence: DuckDB's own may quote a cell. What stopped it was a key, or a signal."""
        text = str(error)
        if isinstance(error, self._duckdb.InterruptException) or "interrupted" in text.lower():
            return KeyboardInterrupt()
        if "No space left" in text or "max_temp_directory_size" in text:
            return OutputError(
                "The disk is full: what does not fit into memory is put beside the run. Make room, or write elsewhere with -o."
            )
        if isinstance(error, self._duckdb.OutOfMemoryException) or "Out of Memory" in text:
            return DataError("The memory given is too small to count in. Give more with --memory, such as --memory 4GB.")
        return DataError("DuckDB could not read the files: one is damaged, or was changed while it was read. Nothing was released.")


def _as_text(name: str) -> str:
    """Lists as texts, which DuckDB groups several times as fast: the element of one that has no other, anything else as JSON behind a mark."""
    return (
        f"CASE WHEN len({name}) = 1 AND NOT starts_with({name}[1], '{_MARK}') THEN {name}[1] ELSE '{_MARK}' || to_json({name})::VARCHAR END"
    )


def _as_lists(texts: pa.Array) -> pa.Array:
    """The lists behind such texts. A list that is missing has no text."""
    marked = np.asarray(pc.starts_with(texts, _MARK).fill_null(True))
    if not marked.any():
        return pa.ListArray.from_arrays(pa.array(np.arange(len(texts) + 1, dtype=np.int32)), texts)
    some = [None if text is None else json.loads(text[1:]) for text in texts.filter(pa.array(marked)).to_pylist()]
    alone = pa.ListArray.from_arrays(pa.array(np.arange(int((~marked).sum()) + 1, dtype=np.int32)), texts.filter(pa.array(~marked)))
    both = pa.concat_arrays([alone, pa.array(some, alone.type)])
    place = np.where(marked, int((~marked).sum()) + np.cumsum(marked) - 1, np.cumsum(~marked) - 1)
    return both.take(pa.array(place))


def _name(parts: Parts, column: str) -> str:
    """By its place: DuckDB takes names that differ in capitals alone for one."""
    return f"c{parts.schema.get_field_index(column)}"


def _read(parts: Parts) -> str:
    """The columns of the files, and none that names of folders say; what would stand for other letters in a path stands for itself."""
    paths = (re.sub(r"[*?[]", r"[\g<0>]", os.path.abspath(path)).replace("'", "''") for path in parts.paths)
    listed = ", ".join(f"'{path}'" for path in paths)
    names = ", ".join(f"c{place}" for place in range(len(parts.schema)))
    return f"read_parquet([{listed}], hive_partitioning = false) AS files({names})"
