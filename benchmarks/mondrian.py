"""Mondrian on Adult beside anonypy, and on 1,356,660 rows from coded columns to the release: CPU seconds, loss, growth."""

from __future__ import annotations

import csv
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import trees
from shoal.kernels.cells import ncp
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods import InfogainMondrian, Mondrian

K = 10
SECONDS, LOSS, RATIO = 0.1, 0.059, 100.0  # bars on Adult
LARGE_K, LARGE_SECONDS = 150, 15.0  # five times what kACTUS may take
SCALES = (5, 10, 20, 30)
Coded = tuple[NDArray[np.int32], NDArray[np.bool_], list[NDArray[np.float64]]]


def main() -> None:
    """Print a line per rule and size."""
    folder = trees.data_folder()
    if not (folder / "adult_30162.csv").exists():
        print("Mondrian: left out, adult_30162.csv is not there (set SHOAL_DATA)")
        return
    rows = list(csv.DictReader((folder / "adult_30162.csv").open(), delimiter=";"))
    _adult(rows)
    _large()


def _adult(rows: list[dict[str, str]]) -> None:
    quasi = [name for name in rows[0] if name != "salary-class"]
    codes, ordered, positions = _coded([[row[name] for row in rows] for name in quasi], [name == "age" for name in quasi])
    rich = np.array([row["salary-class"] == ">50K" for row in rows]).astype(np.int64)
    runs: dict[str, Callable[[], NDArray[np.int64]]] = {
        "widest": lambda: mondrian_groups(codes, ordered, positions, K),
        "gain": lambda: mondrian_groups(codes, ordered, positions, K, rule="gain", target=rich, classes=2),
    }
    taken = {}
    for rule, run in runs.items():
        run()  # compiled once per machine
        taken[rule], groups = _least_seconds(run)
        loss = ncp(codes, groups, ordered, positions)[0]
        bars = f" (bars {SECONDS:g} s and {LOSS:.1%}: {_met(taken[rule] <= SECONDS and loss <= LOSS)})" if rule == "widest" else ""
        print(f"Adult {len(rows):,} x {len(quasi)}, k={K}, {rule:7} {taken[rule]:7.3f} s, NCP {loss:.2%}{bars}")
    theirs = _anonypy(rows, quasi, codes, ordered, positions)
    if theirs is not None:
        ratio = theirs[0] / taken["widest"]
        print(f"    anonypy {theirs[0]:7.1f} s, NCP {theirs[1]:.2%}: {ratio:.0f} times as long (bar {RATIO:g}: {_met(ratio >= RATIO)})")


def _anonypy(
    rows: list[dict[str, str]], quasi: list[str], codes: NDArray[Any], ordered: NDArray[np.bool_], positions: list[NDArray[np.float64]]
) -> tuple[float, float] | None:
    """CPU seconds and loss of anonypy's partition of the same rows, without the text it would write."""
    try:
        import pandas
        from anonypy.mondrian import Mondrian as Theirs
    except ImportError:
        print("    anonypy: left out, it is not installed (pip install anonypy==0.2.1 pandas)")
        return None
    frame = pandas.DataFrame({name: [row[name] for row in rows] for name in quasi})
    for name in quasi:
        frame[name] = frame[name].astype("int64" if name == "age" else "category")
    begin = time.process_time()
    parts = Theirs(frame, quasi).partition(K)
    seconds = time.process_time() - begin
    groups = np.empty(len(rows), np.int64)
    for g, part in enumerate(parts):
        groups[np.asarray(part)] = g
    return seconds, ncp(codes, groups, ordered, positions)[0]


def _large() -> None:
    """The scalability test of Kisilevich et al. 2010 as in benchmarks.trees, from coded columns to the release with its cells."""
    rng = np.random.default_rng(2010)
    base, classes = trees.adult() or trees.made_up(rng)
    codes, target = trees.expanded(base, rng), np.tile(classes, max(SCALES))
    for method in (Mondrian(k=LARGE_K), InfogainMondrian(k=LARGE_K)):
        trees.released(method, *trees.coded_table(codes[:3000], target[:3000]), times=1)  # compile outside the clock
        per_row = []
        for scale in SCALES:
            n = scale * len(base)
            seconds, _ = trees.released(method, *trees.coded_table(codes[:n], target[:n]), times=2)
            per_row.append(1e9 * seconds / n)
            print(f"{method.name:18} {n:9,} x {codes.shape[1]}, k={LARGE_K}: {seconds:6.2f} s, {per_row[-1]:5.0f} ns per row", flush=True)
        print(
            f"{method.name:18} {seconds:.2f} s (bar {LARGE_SECONDS:g}: {_met(seconds <= LARGE_SECONDS)}); "
            f"per row {per_row[-1] / per_row[0]:.2f} times that of the smallest table"
        )


def _coded(columns: list[list[str]], numeric: list[bool]) -> Coded:
    codes, positions = np.empty((len(columns[0]), len(columns)), np.int32), []
    for j, column in enumerate(columns):
        values, codes[:, j] = np.unique(np.array(column, dtype=float) if numeric[j] else np.array(column), return_inverse=True)
        positions.append(values.astype(np.float64) if numeric[j] else np.zeros(len(values)))
    return codes, np.array(numeric), positions


def _least_seconds(run: Callable[[], NDArray[np.int64]], times: int = 5) -> tuple[float, NDArray[np.int64]]:
    least = np.inf
    for _ in range(times):
        begin = time.process_time()
        groups = run()
        least = min(least, time.process_time() - begin)
    return float(least), groups


def _met(holds: bool) -> str:
    return "met" if holds else "missed"


if __name__ == "__main__":
    main()
