"""DuckDB: one machine, tables larger than its memory. It groups and sorts within the memory it is given, and puts the rest on the disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pyarrow as pa

from shoal.engines.memory import ROWS
from shoal.errors import DataError, OutputError
from shoal.parts import STRETCH, Parts

A = TypeVar("A")
B = TypeVar("B")
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

    def each(self, task: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        """Here, one after the other: a stretch of rows fits."""
        return map(task, items)

    def grouped(self, parts: Parts, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Distinct rows of some columns, with how many rows have each."""
        names = ", ".join(map(_name, columns))
        query = f"SELECT {names}, count(*)::BIGINT FROM {_read(parts)} GROUP BY {names}"
        for batch in self._guarded(lambda: self._connection.sql(query).to_arrow_reader(STRETCH)):
            yield pa.Table.from_batches([batch]).rename_columns([*columns, ROWS])

    def distinct(self, parts: Parts, column: str) -> int:
        """How many different values a column has, missing not among them."""
        return int(self._asked(f"SELECT count(DISTINCT {_name(column)}) FROM {_read(parts)}").fetchone()[0])

    def numbered(self, ids: Parts, out: Path) -> None:
        """Rows with the number of each among those of one id, in the order of rows."""
        number = "row_number() OVER (PARTITION BY id ORDER BY row) - 1 AS number"
        target = str(out / "ids.parquet").replace("'", "''")
        self._asked(
            f"COPY (SELECT row, id, {number} FROM {_read(ids)} ORDER BY row) TO '{target}' (FORMAT parquet, ROW_GROUP_SIZE {STRETCH})"
        )

    def close(self) -> None:
        """Memory and files go."""
        self._connection.close()

    def _asked(self, query: str) -> Any:
        try:
            return self._connection.execute(query)
        except self._duckdb.Error as error:
            raise self._told(error) from None

    def _guarded(self, reader: Callable[[], Any]) -> Iterator[pa.RecordBatch]:
        try:
            yield from reader()
        except (self._duckdb.Error, pa.ArrowException, OSError) as error:
            raise self._told(error) from None

    def _told(self, error: Exception) -> Exception:
        """In a sentence: DuckDB's own may quote a cell."""
        text = str(error)
        if "No space left" in text or "max_temp_directory_size" in text:
            return OutputError(
                "The disk is full: what does not fit into memory is put beside the run. Make room, or write elsewhere with -o."
            )
        if isinstance(error, self._duckdb.OutOfMemoryException) or "Out of Memory" in text:
            return DataError("The memory given is too small to count in. Give more with --memory, such as --memory 4GB.")
        return DataError("DuckDB could not read the files: one is damaged, or was changed while it was read. Nothing was released.")


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


def _read(parts: Parts) -> str:
    paths = ", ".join("'" + path.replace("'", "''") + "'" for path in parts.paths)
    return f"read_parquet([{paths}])"
