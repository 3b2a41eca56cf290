"""Spark: many machines. Tasks read files by their paths, so files and run folder must lie where all workers read them.

A task that is lost with its machine is done again: it writes under a name that its rows decide, whole or not at all.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, ClassVar, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.engines.memory import ROWS
from shoal.engines.tasks import mute_children, waiting
from shoal.errors import DataError, OutputError, ShoalError
from shoal.parts import STRETCH, Parts
from shoal.unfinished import stop_if_asked

A = TypeVar("A")
B = TypeVar("B")
AT_ONCE = 4  # tasks for each core that are handed out together
ANSWERS = 8.0  # seconds in which a cluster must answer
BEGINS = 30.0  # and in which one of its workers must begin
OLDEST = 17  # Java
_COUNT = "how many rows"
_AS_NAMED = {"__globPaths__": "false", "recursiveFileLookup": "true"}  # paths are letters only, and names of folders no columns
_known: dict[str, Callable[[Any], Any]] = {}  # in a worker: the task it did last


class SparkEngine:
    """A session, its own or one that was handed in."""

    name: ClassVar[str] = "spark"

    def __init__(self, session: Any, aside: Path) -> None:
        self._session, self._aside = session, aside
        self._context = session.sparkContext
        self._made = 0

    def each(self, task: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        """In workers, some for each core at a time; results come in order."""
        from pyspark import cloudpickle

        self._made += 1
        name, sent = secrets.token_hex(8), self._context.broadcast(cloudpickle.dumps(task))

        def do(item: A) -> tuple[B | None, ShoalError | None]:
            return _done(name, sent, item)

        at_once = AT_ONCE * max(int(self._context.defaultParallelism), 1)
        try:
            for begin in range(0, len(items), at_once):
                some = list(items[begin : begin + at_once])
                for found, refused in self._asked(self._context.parallelize(some, len(some)).map(do).collect):
                    if refused is not None:
                        raise refused
                    yield found
        finally:
            with suppress(Exception):  # the context may be gone
                sent.destroy()

    def grouped(self, parts: Parts, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Grouped and written by the workers, read here."""
        from pyspark.sql import functions as f

        rows = self._read(parts).groupBy(*map(_name, columns)).agg(f.count(f.lit(1)).alias(_COUNT))
        types = [*(parts.schema.field(column).type for column in columns), pa.int64()]
        for path in self._written(rows):
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(STRETCH):
                    yield pa.table(list(map(_as_it_was, batch.columns, types)), names=[*columns, ROWS])

    def distinct(self, parts: Parts, column: str) -> int:
        """How many different values a column has, missing not among them."""
        rows = self._read(parts).select(_name(column)).dropna().distinct()
        return int(self._asked(rows.count))

    def numbered(self, ids: Parts, out: Path) -> None:
        """Rows with the number of each among those of one id, in the order of rows."""
        from pyspark.sql import Window
        from pyspark.sql import functions as f

        number = (f.row_number().over(Window.partitionBy("id").orderBy("row")) - 1).cast("long")
        for at, path in enumerate(self._written(self._read(ids).withColumn("number", number).orderBy("row"))):
            shutil.move(path, out / f"ids-{at:06d}.parquet")

    def staged(self, frame: Any, out: Path) -> None:
        """The rows of a DataFrame, written by the workers into a folder. Times of a zone are written as the session's clock shows them."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f
        from pyspark.sql.types import TimestampType

        times = [field.name for field in frame.schema.fields if isinstance(field.dataType, TimestampType)]
        plain = frame.withColumns({name: f.col(_name(name)).cast("timestamp_ntz") for name in times}) if times else frame
        rows = Observation()
        observed = plain.observe(rows, f.count(f.lit(1)).alias("rows"))
        self._asked(lambda: observed.write.parquet(f"file://{os.path.abspath(out)}"))
        here = sum(pq.read_metadata(path).num_rows for path in out.glob("part-*.parquet"))
        if here != (rows.get["rows"] if here else 0) or not here:
            raise DataError(
                "The rows of the DataFrame that the cluster wrote are not all to be seen from this machine"
                + (". " if here else ", or it has none. ")
                + "Let out be a folder on storage that this machine and all workers share."
            )

    def close(self) -> None:
        """Whoever began the session ends it."""

    def _read(self, parts: Parts) -> Any:
        _refuse_foreign(parts)
        reading = self._session.read.options(**_AS_NAMED)
        return self._asked(lambda: reading.parquet(*(f"file://{os.path.abspath(path)}" for path in parts.paths)))

    def _written(self, rows: Any) -> list[Path]:
        out = Path(mkdtemp(prefix="spark-", dir=self._aside)) / "rows"
        self._asked(lambda: rows.write.option("compression", "snappy").parquet(f"file://{os.path.abspath(out)}"))
        return sorted(out.glob("part-*.parquet"))

    def _asked(self, what: Callable[[], Any]) -> Any:
        try:
            return what()
        except ShoalError:
            raise
        except Exception as error:  # of Java or a worker, with pages of text that may quote a cell
            stop_if_asked()
            text = str(error)
            if "No space left" in text:
                raise OutputError("The disk of a worker is full. Make room there, or write elsewhere with -o.") from None
            if "OutOfMemory" in text or "heap space" in text:
                raise DataError("The memory given is too small for Spark. Give more with --memory, such as --memory 4GB.") from None
            raise DataError(
                "The cluster gave up: workers were lost, or cannot read the files. Nothing was released. Its own log says more."
            ) from None


@contextmanager
def session_at(master: str, memory: int = 0, aside: Path | None = None) -> Iterator[Any]:
    """A session on a cluster, or on all cores of this machine; it ends with the `with`. What Spark prints is not shown: it may quote a cell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used
            from pyspark.sql import SparkSession
    except ImportError:
        raise DataError("Spark needs an extra: pip install 'shoal[spark]', and Java 17 or newer.") from None
    _refuse_without_java()
    _refuse_silent(master)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master or "local[*]").appName("shoal")
    for key, value in _settings(master, memory, aside).items():
        builder = builder.config(key, value)
    try:
        with mute_children(), waiting(signal.SIGINT, signal.SIGTERM):  # a Java that is left while it starts never ends
            session = builder.getOrCreate()
    except Exception:  # of Java, with pages of text
        raise DataError(f"Spark could not be started at {master or 'this machine'}. The cluster's own log says why.") from None
    try:
        _refuse_without_workers(session, master)
        yield session
    finally:
        with suppress(Exception):
            session.stop()


def _refuse_without_workers(session: Any, master: str) -> None:
    """A cluster whose workers are gone, or have too little memory, takes the work and never begins it."""
    tracker = session.sparkContext._jsc.sc().statusTracker()
    until = time.monotonic() + BEGINS
    while master.startswith("spark://") and len(tracker.getExecutorInfos()) < 2:  # the first is this process
        stop_if_asked()
        if time.monotonic() > until:
            raise DataError(
                f"No worker of {master} began in {BEGINS:.0f} seconds: none is there, or none has a free core and 1 GB of memory."
            )
        time.sleep(0.1)


def _settings(master: str, memory: int, aside: Path | None) -> dict[str, str]:
    """Nothing shown, names of columns as they are written; on this machine, nothing heard from outside."""
    found = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.maxResultSize": "0",  # numbers of rows come back
        "spark.sql.caseSensitive": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    }
    if memory:
        found["spark.driver.memory"] = f"{max(memory // 2, 1 << 29) >> 20}m"
    if aside is not None:
        found["spark.local.dir"] = str(aside)
    if not master or re.match(r"local|spark://(127\.|localhost|\[::1\])", master):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        found |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return found


def _done(name: str, sent: Any, item: Any) -> tuple[Any, ShoalError | None]:
    """In a worker. What a user can put right comes back as it is, and is not tried again."""
    if name not in _known:
        from pyspark import cloudpickle

        _known.clear()
        _known[name] = cloudpickle.loads(sent.value)
    try:
        return _known[name](item), None
    except ShoalError as refused:
        return None, refused
    except (
        pa.ArrowException,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
    ) as fault:  # whose words may hold a cell, and go into a log
        raise RuntimeError(f"{type(fault).__name__} in a task") from None


def _as_it_was(cells: pa.Array, type_: pa.DataType) -> pa.Array:
    """In the type of the files: Spark has others for times of nanoseconds, large numbers and what is never there."""
    return pa.nulls(len(cells)) if pa.types.is_null(type_) else cells.cast(type_)


def _refuse_foreign(parts: Parts) -> None:
    """What Spark has no place for, or passes over without a word."""
    for field in parts.schema:
        if pa.types.is_decimal256(field.type):
            raise DataError(f"Column '{field.name}' has decimals of more digits than Spark holds. Use --engine duckdb.", about=field.name)
    for part in parts.files:
        if part.path.name.startswith((".", "_")) or ":" in part.path.name:
            raise DataError(f"Spark passes over {part.path}, whose name begins with . or _, or has a colon. Give it another name.")


def _name(column: str) -> str:
    return "`" + column.replace("`", "``") + "`"


def _refuse_without_java() -> None:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    try:
        told = subprocess.run([java or "java", "-version"], capture_output=True, text=True, timeout=ANSWERS, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise DataError(
            f"Spark needs Java {OLDEST} or newer, and there is none. Install it (Debian: default-jre-headless), or use --engine duckdb."
        ) from None
    found = re.search(r'version "(?:1\.)?([0-9]+)', told)
    if found and int(found[1]) < OLDEST:
        raise DataError(
            f"Spark needs Java {OLDEST} or newer, and this is Java {found[1]}. Install a newer one and name it in JAVA_HOME, or use --engine duckdb."
        )


def _refuse_silent(master: str) -> None:
    """A cluster that does not answer would be waited for."""
    one = r"(?:[^,/:\[\]]+|\[[^\]/]+\]):[0-9]{1,5}"
    named = re.fullmatch(f"spark://{one}(?:,{one})*", master)
    if master and not named and not re.match(r"local(\[|-cluster\[|$)|yarn$|k8s://", master):
        raise DataError(f"'{master}' names no cluster. Write it as spark://HOST:7077, or leave --master out for this machine.")
    if named and not any(_speaks(*one.rsplit(":", 1)) for one in master.removeprefix("spark://").split(",")):
        raise DataError(f"No Spark cluster answers at {master}. Start one, or use --engine duckdb on this machine.")


def _speaks(host: str, port: str) -> bool:
    """Whether what listens there is of Spark: asked for a file that it does not have, it says so at once, or that it wants to be asked in TLS."""
    wanted = b"/files/shoal"
    asked = struct.pack(">qbi", 13 + len(wanted), 6, len(wanted)) + wanted  # its length, that it asks for a stream, and for which
    try:
        with socket.create_connection((host.strip("[]"), int(port)), ANSWERS / 2) as there:
            there.settimeout(ANSWERS / 2)
            there.sendall(asked)
            told = there.recv(9, socket.MSG_WAITALL)
    except (OSError, OverflowError):
        return False
    return told[8:] == b"\x08" or told[:1] == b"\x15"
