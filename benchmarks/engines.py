"""Tables that do not fit into memory: whole commands as they are typed, all evidence included, beside what an engine needs for a GROUP BY.

Each figure is CPU seconds of the command with all processes it began, Java among them, and the most memory they held at once
(`process_trees`). Compiling is outside the clock. Rows are drawn from a pool of invented persons: combinations stay, however many rows.

    a  mondrian and local-recoding of 20,000,000 rows by DuckDB within 2 GB, beside DuckDB's own GROUP BY; and from 10 to 40 million rows
       time grows at most with their 1.1th power, and memory at most by a fifth
    b  kactus and mondrian of 13,600,000 rows on Spark, two cores
    c  mondrian of what fits into memory: DuckDB beside memory
    d  mdav-large of 10,000,000 rows with seven numbers by DuckDB within 2 GB

Run from the repository's root: PYTHONPATH=src python -m benchmarks.engines [a] [b] [c] [d] [--scale .1]; the bars are those of scale 1.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bars import Row, alone, show
from benchmarks.process_trees import Spent, spend

POOL = 4_700_000  # persons to draw from, most of them alike to no other
FEW = 100_000  # the same where classes are learned from
QUASI = "age,zip,sex,education,marital,occupation,hours,country"  # of `tables.PERSONS`; nothing is imported here that would count as memory
MILLION = 1_000_000
WITHIN = ("--engine", "duckdb", "--memory", "2GB")
ON_SPARK = ("--engine", "spark", "--master", "local[2]", "--memory", "4GB")


class Bench:
    """A folder for tables and runs, and how much smaller than asked for everything is."""

    def __init__(self, folder: Path, scale: float) -> None:
        self.folder, self.scale, self.made = folder, scale, 0

    def rows(self, many: int) -> int:
        return max(20_000, round(many * self.scale))

    def persons(self, rows: int, pool: int, target: bool = False) -> list[Path]:
        """Files of persons."""
        self.made += 1
        return alone(persons, self.folder / f"persons-{self.made}", rows, pool, target)  # type: ignore[no-any-return]

    def protect(self, files: Sequence[Path], *words: str) -> Spent:
        """The command; its run folder goes at once."""
        out = self.folder / "run"
        spent = spend([sys.executable, "-m", "shoal", "protect", *map(str, files), "-p", "k=10", "-o", str(out), *words])
        shutil.rmtree(out)
        return spent

    def compiled(self, files: Sequence[Path], *words: str) -> None:
        """Kernels are compiled by a first run over few rows, some of which only many rows reach."""
        few = self.folder / "few.parquet"
        alone(first_rows, files[0], few, 100_000)
        self.protect([few], *words)


def main() -> None:
    """The parts that were asked for, or all."""
    parts = {"a": counts, "b": on_spark, "c": beside_memory, "d": blocks}
    words = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=(__doc__ or "").splitlines()[0])
    words.add_argument("parts", nargs="*", help="a, b, c or d; all where none is named")
    words.add_argument("--scale", type=float, default=1.0, help="a share of all rows and persons, for a quick look")
    given = words.parse_args()
    if strange := set(given.parts) - set(parts):
        words.error(f"there is no part {', '.join(sorted(strange))}: a, b, c or d")
    print("CPU seconds (user + system) of whole trees of processes, on a machine that others may share: expect a tenth more or less.")
    print(f"{'what':63}{'measured':>10}{'beside':>7}  {'bar':<12}{'':8}")
    for name in given.parts or parts:
        with tempfile.TemporaryDirectory(prefix="shoal-engines-") as folder:
            parts[name](Bench(Path(folder), given.scale))


def counts(bench: Bench) -> None:
    """Methods that decide on combinations, within 2 GB."""
    sizes = [bench.rows(many * MILLION) for many in (10, 20, 40)]
    pool = bench.rows(POOL)
    files = bench.persons(sizes[-1], pool)
    first = {rows: _first(files, rows) for rows in sizes}
    floor, combinations = alone(group_by, first[sizes[1]], QUASI.split(","), bench.folder)
    print(f"a: {sizes[1]:,} rows x 8 columns, {combinations:,} combinations. Beside: DuckDB's own GROUP BY, fetched, within 2 GB.")
    for method in ("mondrian", "local-recoding"):
        bench.compiled(files, "-m", method, "--quasi", QUASI, *WITHIN)
        spent = {}
        for rows in sizes:
            spent[rows] = bench.protect(first[rows], "-m", method, "--quasi", QUASI, *WITHIN)
            print(f"   {method}, {rows:,} rows: {spent[rows].seconds:.1f} s, {spent[rows].memory / 1e9:.2f} GB", flush=True)
        least, middle, most = (spent[rows] for rows in sizes)
        beside = f"{middle.seconds:.1f} s"
        show(Row(f"{method} k=10, times the GROUP BY", middle.seconds / floor, 10.0, "times", floor=floor, beside=beside))
        show(Row("    its peak of memory", middle.memory / 1e9, 3.0, "GB"))
        grown = sizes[-1] / sizes[0]
        power = f"the {math.log(most.seconds / least.seconds) / math.log(grown):.2f}th power"
        show(Row(f"    {grown:g} times as many rows: time", most.seconds / least.seconds, round(grown**1.1, 2), "times", beside=power))
        show(Row("    the same: peak of memory", most.memory / least.memory, 1.2, "times"))


def on_spark(bench: Bench) -> None:
    """Classes to learn from, and the same by Mondrian."""
    if shutil.which("java") is None:
        print("b: left out, there is no Java")
        return
    if not alone(has_spark):
        print("b: left out, pyspark is not installed (pip install '.[spark]')")
        return
    rows, few = bench.rows(13_600_000), bench.rows(FEW)
    files = bench.persons(rows, few, True)
    floor, combinations = alone(group_by, files, [*QUASI.split(","), "income"], bench.folder)
    print(f"b: {rows:,} rows x 9 columns, {combinations:,} combinations with the target. Beside: DuckDB's own GROUP BY of them, fetched.")
    for method, bar, target in (("kactus", 150.0, ("--target", "income")), ("mondrian", 120.0, ("--confidential", "income"))):
        words = ("-m", method, "--quasi", QUASI, *target)
        bench.compiled(files, *words, *WITHIN)
        spent = bench.protect(files, *words, *ON_SPARK)
        show(Row(f"{method} k=10 on Spark, local[2]", spent.seconds, bar, floor=floor))
        show(Row("    its peak of memory", spent.memory / 1e9, 4.0, "GB"))


def beside_memory(bench: Bench) -> None:
    """The same command, with and without an engine."""
    files = bench.persons(bench.rows(5 * MILLION), bench.rows(POOL))
    words = ("-m", "mondrian", "--quasi", QUASI)
    for rows in (bench.rows(MILLION), bench.rows(5 * MILLION)):
        some = _first(files, rows)
        combinations = alone(group_by, some, QUASI.split(","), bench.folder)[1]
        print(f"c: {rows:,} rows x 8 columns, {combinations:,} combinations. Beside: --engine memory.")
        for engine in ("memory", "duckdb"):
            bench.compiled(files, *words, "--engine", engine)
        here, there = (bench.protect(some, *words, "--engine", engine) for engine in ("memory", "duckdb"))
        beside = f"{there.seconds:.1f} s, {there.memory / 1e9:.2f} GB; memory {here.memory / 1e9:.2f} GB"
        show(Row("mondrian k=10, DuckDB, times memory", there.seconds / here.seconds, 2.0, "times", floor=here.seconds, beside=beside))


def blocks(bench: Bench) -> None:
    """Numbers of which hardly two are alike."""
    rows = bench.rows(10 * MILLION)
    files = alone(measured, bench.folder / "measured", rows)
    floor, _ = alone(group_by, files, ["height"], bench.folder)
    print(f"d: {rows:,} rows x 7 columns. Beside: DuckDB's own GROUP BY of one of them, which hardly has two rows alike.")
    words = ("-m", "mdav-large", "--quasi", "height,weight,pulse,systolic,diastolic,glucose,creatinine", *WITHIN)
    bench.compiled(files, *words)
    spent = bench.protect(files, *words)
    show(Row("mdav-large k=10", spent.seconds, 400.0, floor=floor))
    show(Row("    its peak of memory", spent.memory / 1e9, 3.0, "GB"))


def _first(files: Sequence[Path], rows: int) -> list[Path]:
    """The first rows of a table in files: whole ones, or one cut short."""
    from_one = 1 + (rows - 1) // MILLION
    some, left = list(files[:from_one]), rows - (from_one - 1) * MILLION
    cut = files[0].parent / f"cut-{rows}.parquet"
    alone(first_rows, some[-1], cut, left)
    return [*some[:-1], cut]


# What is done in a process of its own, which alone loads libraries


def persons(place: Path, rows: int, pool: int, target: bool) -> list[Path]:
    from benchmarks.tables import write_persons

    return write_persons(place, rows, pool, target)


def measured(place: Path, rows: int) -> list[Path]:
    from benchmarks.tables import write_measured

    return write_measured(place, rows)


def first_rows(given: Path, cut: Path, rows: int) -> None:
    import pyarrow.parquet as pq

    if not cut.exists():
        pq.write_table(pq.read_table(given).slice(0, rows), cut)


def group_by(files: Sequence[Path], columns: Sequence[str], aside: Path) -> tuple[float, int]:
    """CPU seconds of DuckDB, and how many combinations it found."""
    import time

    import duckdb

    settings = {"memory_limit": "2GB", "temp_directory": str(aside / "duckdb"), "preserve_insertion_order": "false"}
    connection = duckdb.connect(":memory:", config=settings)
    begin = time.process_time()
    query = f"SELECT {', '.join(columns)}, count(*) AS n FROM read_parquet(?) GROUP BY ALL"
    found = connection.sql(query, params=[[str(path) for path in files]]).to_arrow_table()
    return time.process_time() - begin, len(found)


def has_spark() -> bool:
    from importlib.util import find_spec

    return find_spec("pyspark") is not None


if __name__ == "__main__":
    main()
