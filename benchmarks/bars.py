"""The bars: what a user waits for, in CPU seconds beside a floor measured in the same run, with the bar and whether it is met.

Every figure comes from a process of its own, so that neither memory nor compiled code of one is counted in another. Kernels are compiled
outside the clock except where compiling is what is measured. The floor of a run over a file is Arrow reading that file plus numpy sorting
2 x 10^7 numbers.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.bars [--quick]; quick leaves out the 5 x 10^6 rows.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

SORTED = 20_000_000
PEER_SECONDS = 0.6  # qiyuangong's Mondrian on Adult, k = 10, as it was timed
SEED = 20_261  # of points no setting was tuned on
ADULT = "adult_30162.csv"


class Spent(NamedTuple):
    seconds: float  # CPU, user and system, with all processes it waited for
    memory: float  # bytes at the peak of the largest process


class Row(NamedTuple):
    what: str
    figure: float
    bar: float
    unit: str = "s"
    keeps: str = "at most"
    floor: float | None = None
    beside: str = ""


def main() -> None:
    """Print the table, a line as soon as it is measured."""
    quick = "--quick" in sys.argv
    print("CPU seconds (user + system), taken on a machine that others may share: expect a tenth more or less.")
    print(f"{'what':63}{'measured':>10}{'floor':>8}  {'bar':<12}{'':8}")
    with tempfile.TemporaryDirectory(prefix="shoal-bars-") as place:
        folder = Path(place)
        sorting = alone(sort_numbers)
        print(f"{f'numpy sorting {SORTED:,} numbers':63}{sorting:>8.2f} s")
        roles = _example(folder, "patients.csv", 1000)
        protect(folder / "patients.csv", roles, "mondrian", folder / "compiles")
        first_runs(folder, roles)
        csv = [(100_000, 8.0, None), (1_000_000, 25.0, 1.2e9)]
        for rows, bar, most in csv:
            _example(folder, f"{rows}.csv", rows)
            if rows == csv[0][0]:
                protect(folder / f"{rows}.csv", roles, "mondrian", folder / "compiles too")  # kernels that only larger tables reach
            protected(folder / f"{rows}.csv", rows, roles, bar, most, sorting, folder / f"run{rows}")
        reading(folder / "1000000.csv")
        microaggregation()
        adult()
        if quick:
            print("5,000,000 rows: left out (--quick)")
        else:
            _example(folder, "5000000.parquet", 5_000_000)
            protected(folder / "5000000.parquet", 5_000_000, roles, 90.0, 4e9, sorting, folder / "run5000000")
            checking(folder / "run5000000", sorting)


# What is measured as a command


def spend(command: list[str], more: Mapping[str, str] | None = None) -> Spent:
    """Run a command; what it and the processes it waited for took, as the system accounts for this one child."""
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env={**os.environ, **(more or {})})
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            raise RuntimeError(f"{' '.join(command)} ended with {child.returncode}: {errors.read()[-2000:]}")
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))


def shoal(*words: str, more: Mapping[str, str] | None = None) -> Spent:
    return spend([sys.executable, "-m", "shoal", *words], more)


def protect(table: Path, roles: Path, method: str, out: Path, more: Mapping[str, str] | None = None) -> Spent:
    """As a user types it: k = 5, every measure and attack that applies."""
    return shoal("protect", str(table), "--roles", str(roles), "-m", method, "-p", "k=5", "-o", str(out), more=more)


def _example(folder: Path, name: str, rows: int) -> Path:
    """Write invented patients; the roles that `shoal look` suggests for them."""
    shoal("example", str(folder / name), "--rows", str(rows))
    roles = folder / "roles.toml"
    if not roles.exists():
        shoal("look", str(folder / name), "-o", str(roles))
    return roles


def protected(table: Path, rows: int, roles: Path, bar: float, most: float | None, sorting: float, out: Path) -> None:
    """Protect a table by Mondrian; the peak of memory, where a bar is given, is a row of its own."""
    floor = alone(read_by_arrow, table) + sorting
    spent = protect(table, roles, "mondrian", out)
    what = f"protect, mondrian k=5, all evidence, {rows:,} {table.suffix[1:]}"
    show(Row(what, spent.seconds, bar, floor=floor, beside=f"{spent.seconds / floor:.1f} times the floor, {spent.memory / 1e9:.2f} GB"))
    if most is not None:
        show(Row("    its peak of memory", spent.memory / 1e9, most / 1e9, "GB"))


def first_runs(folder: Path, roles: Path) -> None:
    """Nothing is compiled yet: an empty cache stands for a new machine."""
    cache = folder / "nothing compiled"
    cache.mkdir()
    new = {"NUMBA_CACHE_DIR": str(cache)}
    table = folder / "patients.csv"
    show(
        Row("first protect on a new machine, mondrian, 1,000 rows", protect(table, roles, "mondrian", folder / "first", new).seconds, 45.0)
    )
    show(Row("first of a further method, mdav", protect(table, roles, "mdav", folder / "further", new).seconds, 15.0))


# What is measured from Python, in a new process each


def alone(run: Callable[..., Any], *given: Any) -> Any:
    """The result of a function of this file in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(run, *given).result()


def least_seconds(run: Callable[[], object], times: int = 3) -> float:
    seconds = []
    for _ in range(times):
        begin = time.process_time()
        run()
        seconds.append(time.process_time() - begin)
    return min(seconds)


def sort_numbers() -> float:
    import numpy as np

    numbers = np.random.default_rng(SEED).random(SORTED)
    return least_seconds(lambda: np.sort(numbers), 2)


def read_by_arrow(table: Path) -> float:
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    return least_seconds(lambda: pq.read_table(table) if table.suffix == ".parquet" else pacsv.read_csv(table), 2)


def read_both_ways(table: Path) -> tuple[float, float]:
    """Seconds of shoal and of Arrow with its own inference of types."""
    import pyarrow.csv as pacsv

    import shoal as library

    library.read_table(table)  # what is loaded on first use is outside the clock
    return least_seconds(lambda: library.read_table(table)), least_seconds(lambda: pacsv.read_csv(table))


def reading(table: Path) -> None:
    ours, arrow = alone(read_both_ways, table)
    show(Row("reading 1,000,000 x 8 csv, times Arrow", ours / arrow, 1.8, "times", floor=arrow, beside=f"{ours:.2f} s"))


def count_again(run: Path) -> tuple[float, float]:
    """Seconds of counting k again on a written release, and of Arrow reading it."""
    from shoal.checks.tables import check_file
    from shoal.promises import Promise

    promises = json.loads((run / "certificate.json").read_text())["promises"]
    kept = [Promise(one["what"], one["value"], tuple(one["columns"])) for one in promises if one["what"] == "k-anonymity"]
    release = next(path for path in run.iterdir() if path.stem == "release")
    seconds = least_seconds(lambda: check_file(release, ",", kept), 1)
    return seconds, read_by_arrow(release)


def checking(run: Path, sorting: float) -> None:
    seconds, arrow = alone(count_again, run)
    show(Row("checking k on 5,000,000 rows", seconds, 5.0, floor=arrow + sorting))


def group_mixed() -> float:
    import numpy as np

    from benchmarks.microaggregation import ROWS, gauss
    from shoal.kernels.mdav import mdav_groups_mixed

    points, codes = gauss(ROWS, SEED)[:, :5], np.random.default_rng(SEED + 1).integers(0, 8, (ROWS, 1))
    mdav_groups_mixed(points[:3000], codes[:3000], 5)  # compiles
    return least_seconds(lambda: mdav_groups_mixed(points, codes, 5), 1)


def group_million() -> float:
    import numpy as np

    from benchmarks.microaggregation import ROWS, mix
    from shoal.contracts import quiet
    from shoal.methods.coordinates import Coordinates
    from shoal.methods.microaggregation import MdavLarge

    def grouped(n: int) -> object:
        return MdavLarge(k=10).groups(Coordinates(mix(n, SEED), np.empty((n, 0), np.int64)), quiet)

    grouped(20_000)  # compiles
    made = least_seconds(lambda: mix(10 * ROWS, SEED), 1)
    return least_seconds(lambda: grouped(10 * ROWS), 1) - made


def large_beside_exact() -> list[tuple[str, float, float, float, float]]:
    """For points of two shapes and two k: seconds of both, and their sums of squared errors."""
    from benchmarks.microaggregation import ROWS, gauss, mix, sse, timed
    from shoal.kernels.blocks import mdav_large_groups
    from shoal.kernels.mdav import mdav_groups

    small = gauss(3000, SEED)
    mdav_groups(small, 3)
    mdav_large_groups(small, 3)
    found = []
    for shape, points in (("mix", mix(ROWS, SEED)), ("gauss", gauss(ROWS, SEED))):
        for k in (3, 10):
            exact, groups = timed(lambda points=points, k=k: mdav_groups(points, k))  # type: ignore[misc]
            large, others = timed(lambda points=points, k=k: mdav_large_groups(points, k))  # type: ignore[misc]
            found.append((f"{shape} k={k}", large, exact, sse(points, others), sse(points, groups)))
    return found


def microaggregation() -> None:
    show(Row("mdav with one nominal column, 100,000 x (5 + 1), k=5", alone(group_mixed), 8.0))
    show(Row("mdav-large, 1,000,000 x 7, k=10", alone(group_million), 18.0))
    for what, large, exact, loss, least in alone(large_beside_exact):
        beside = f"{large:.2f} s / {exact:.2f} s"
        show(Row(f"mdav-large, time / exact's, 100,000 x 7, {what}", large / exact, 0.7, "times", beside=beside))
        show(Row(f"mdav-large, SSE / exact's, 100,000 x 7, {what}", loss / least, 1.05, "times"))


def protect_adult(path: Path) -> float:
    """The second call in a process: coding the columns and counting k again are inside the clock, compiling is not."""
    import shoal as library

    rows = library.read_table(path).arrow
    quasi = [name for name in rows.column_names if name != "salary-class"]

    def protected_once() -> object:
        return library.protect(rows, "mondrian", k=10, quasi=quasi)

    protected_once()
    return least_seconds(protected_once, 1)


def adult() -> None:
    from benchmarks.trees import data_folder

    path = data_folder() / ADULT
    what = "Mondrian on Adult, k=10, from Python, times qiyuangong's .6 s"
    if not path.exists():
        print(f"{what}: left out, {ADULT} is not there (set SHOAL_DATA)")
        return
    seconds = alone(protect_adult, path)
    show(Row(what, PEER_SECONDS / seconds, 8.0, "times", "at least", beside=f"{seconds:.3f} s"))


def show(row: Row) -> None:
    """A line of the table."""
    met = row.figure <= row.bar if row.keeps == "at most" else row.figure >= row.bar
    unit, digits = ("x", 3) if row.unit == "times" else (row.unit, 2)
    if not row.unit:  # a loss, or a number of something
        digits = 4 if row.bar < 1 else 0
    floor = "" if row.floor is None else f"{row.floor:.{max(digits, 2) if row.unit else digits}f}"
    bar = f"{'<=' if row.keeps == 'at most' else '>='} {row.bar:g} {unit}"
    print(f"{row.what:63}{row.figure:>8.{digits}f} {unit:2}{floor:>7}  {bar:<12}{'met' if met else 'NOT MET':8}{row.beside}", flush=True)


if __name__ == "__main__":
    main()
