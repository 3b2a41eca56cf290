"""Which engine runs a table: said, or found out from how large the table is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, get_args

from shoal.checks.combinations import Groups, groups_in, parts_of
from shoal.contracts import Engine, Progress
from shoal.engines.source import RowsElsewhere
from shoal.errors import ParameterError, ShoalError, did_you_mean
from shoal.parts import Parts, files_of, is_parquet, looked_at

ENGINES = {"duckdb": "DuckDB", "spark": "Spark"}  # as they are called
EngineName = Literal["automatic", "memory", "duckdb", "spark"]
A_CELL = 90  # bytes that a cell takes in memory while a table is protected, about; measured on tables of eight columns
IN_TEXT = 6  # bytes of a cell in a CSV, about
IN_GZIP = 2
LEAST = 512 << 20
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


@dataclass(frozen=True)
class Choice:
    """What was said of where a table is to be protected."""

    engine: EngineName = "automatic"
    memory: int = 0  # bytes; 0: what is free
    master: str = ""  # of a Spark cluster

    @staticmethod
    def parse(engine: str | None, memory: str | None, master: str | None) -> Choice:
        """From words."""
        name = engine.lower() if engine is not None else "spark" if master else "automatic"
        if name not in get_args(EngineName):
            raise ParameterError(
                f"There is no engine '{name}'.{did_you_mean(name, get_args(EngineName))} Known: {', '.join(get_args(EngineName))}."
            )
        if master and name != "spark":
            raise ParameterError(f"--master names a Spark cluster, and the engine is {name}. Use --engine spark, or leave --master out.")
        return Choice(name, 0 if memory is None else bytes_of(memory), master or "")  # type: ignore[arg-type]  # one of these

    @property
    def limit(self) -> int:
        """Bytes that may be taken."""
        return self.memory or max(LEAST, free_memory() // 2)

    def for_files(self, given: Sequence[Path]) -> EngineName:
        """Memory for what fits there and is one file; else what was said, or DuckDB."""
        if self.engine != "automatic":
            return self.engine
        return "duckdb" if needed(given) > (self.memory or free_memory()) else "memory"

    @contextmanager
    def opened(self, name: EngineName) -> Iterator[Any]:
        """How files are opened by an engine, which is closed when all is done."""
        from shoal.engines.staging import opened

        with ExitStack() as stack:

            def open_(given: Sequence[Path], aside: Path, reading: Mapping[str, Any], progress: Progress) -> RowsElsewhere:
                engine = self._engine(name, aside, stack)
                return opened(engine, given, aside, self.limit, reading, progress)

            yield open_

    @contextmanager
    def counting(self) -> Iterator[Callable[[Path], Groups]]:
        """How groups in the files of a release are counted: as checks do by themselves, or by an engine that was named."""
        if self.engine in ("automatic", "memory"):
            yield groups_in
            return
        with ExitStack() as stack:
            aside = Path(stack.enter_context(TemporaryDirectory(prefix="shoal-")))
            engine = self._engine(self.engine, aside, stack)
            yield lambda folder: partial(engine.grouped, Parts.of(parts_of(folder)))

    def _engine(self, name: EngineName, aside: Path, stack: ExitStack) -> Engine:
        engine: Engine
        if name == "duckdb":
            from shoal.engines.duckdb import DuckDBEngine

            engine = DuckDBEngine(self.limit // 2, aside)
        elif name == "spark":
            from shoal.engines.spark import SparkEngine, session_at

            engine = SparkEngine(stack.enter_context(session_at(self.master, self.limit, aside)), aside)
        else:
            from shoal.engines.memory import MemoryEngine

            engine = MemoryEngine()
        stack.callback(engine.close)
        return engine


def bytes_of(text: str) -> int:
    """2GB, 500MB, 1.5G."""
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)\s*([KMGT]?)I?B?", text.strip().upper())
    if not found or float(found[1]) <= 0:
        raise ParameterError(f"Memory is a number with a unit, such as 2GB or 500MB, got '{text}'.")
    size = int(float(found[1]) * _UNITS[found[2]])
    if size < LEAST // 2:
        raise ParameterError(f"{text} of memory is too little to read a table in. Give {LEAST >> 21} MB or more.")
    return size


def free_memory() -> int:
    """Bytes that this machine can give now, within what the group of processes may have."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        told = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        found = int(told["MemAvailable"].split()[0]) << 10
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        found = min(found, int(limit)) if limit.isdigit() else found
    except (OSError, KeyError, ValueError):
        pass
    return found


def needed(given: Sequence[Path]) -> int:
    """Bytes that files would take in memory, about; nothing where that cannot be told, since reading them will say why."""
    total = 0
    try:
        for path in files_of(given):
            if is_parquet(path):
                part, schema = looked_at(path)
                total += part.rows * len(schema) * A_CELL
            else:
                total += os.stat(path).st_size // (IN_GZIP if path.name.endswith(".gz") else IN_TEXT) * A_CELL
    except (ShoalError, OSError):
        return 0
    return total
