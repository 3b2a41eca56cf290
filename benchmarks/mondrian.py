"""Mondrian on Adult beside anonypy, and on 1,356,660 rows: CPU seconds, loss, growth."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.cells import ncp
from shoal.kernels.mondrian import mondrian_groups

K = 10
SECONDS, LOSS, RATIO = 0.1, 0.059, 100.0  # bars on Adult
LARGE_K, LARGE_SECONDS = 150, 15.0  # five times what kACTUS may take
SCALES = (5, 10, 20, 30)
Coded = tuple[NDArray[np.int32], NDArray[np.bool_], list[NDArray[np.float64]]]


def main() -> None:
    """Print a line per rule and size."""
    folder = Path(os.environ.get("SHOAL_DATA", Path(__file__).resolve().parents[2] / "shared" / "data")) / "adult"
    if not (folder / "adult_30162.csv").exists():
        print("Mondrian: left out, adult_30162.csv is not there (set SHOAL_DATA)")
        return
    rows = list(csv.DictReader((folder / "adult_30162.csv").open(), delimiter=";"))
    _adult(rows)
    _large(folder)


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
        from anonypy.mondrian import Mondrian
    except ImportError:
        print("    anonypy: left out, it is not installed (pip install anonypy==0.2.1 pandas)")
        return None
    frame = pandas.DataFrame({name: [row[name] for row in rows] for name in quasi})
    for name in quasi:
        frame[name] = frame[name].astype("int64" if name == "age" else "category")
    begin = time.process_time()
    parts = Mondrian(frame, quasi).partition(K)
    seconds = time.process_time() - begin
    groups = np.empty(len(rows), np.int64)
    for g, part in enumerate(parts):
        groups[np.asarray(part)] = g
    return seconds, ncp(codes, groups, ordered, positions)[0]


def _large(folder: Path) -> None:
    """The scalability test of Kisilevich et al. 2010: each record and its variations, which keep 3 of 7 values and draw the others."""
    records = []
    for name in ("adult.data", "adult.test"):
        for line in (folder / name).read_text().splitlines():
            record = [cell.strip() for cell in line.split(",")]
            if len(record) == 15 and "?" not in record:
                records.append(record)
    chosen = (0, 1, 3, 5, 6, 8, 9)  # age, work class, education, marital status, occupation, race, sex
    codes, ordered, positions = _coded([[record[j] for record in records] for j in chosen], [j == 0 for j in chosen])
    rich = np.array([record[14].startswith(">50K") for record in records]).astype(np.int64)
    rng = np.random.default_rng(2010)
    n, d = codes.shape
    parts = [codes]
    for _ in range(max(SCALES) - 1):
        kept = np.argsort(rng.random((n, d)), axis=1) < 3
        drawn = np.stack([rng.integers(0, len(place), n) for place in positions], axis=1)
        parts.append(np.where(kept, codes, drawn).astype(np.int32))
    seconds: dict[tuple[str, int], float] = {}
    for scale in SCALES:
        table, target = np.concatenate(parts[:scale]), np.tile(rich, scale)
        for rule in ("widest", "gain", "variance"):
            begin = time.process_time()
            groups = mondrian_groups(table, ordered, positions, LARGE_K, rule=rule, target=target, classes=2)  # type: ignore[arg-type]
            seconds[rule, scale] = time.process_time() - begin
            print(f"{len(table):9,} x {d}, k={LARGE_K}, {rule:8} {seconds[rule, scale]:6.2f} s, {groups.max() + 1:,} groups")
    for rule in ("widest", "gain", "variance"):
        last, first = seconds[rule, SCALES[-1]], seconds[rule, SCALES[0]]
        per_row = last / first / (SCALES[-1] / SCALES[0])
        print(
            f"{rule:8} {last:.2f} s (bar {LARGE_SECONDS:g}: {_met(last <= LARGE_SECONDS)}); per row {per_row:.2f} times that of the smallest table"
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
