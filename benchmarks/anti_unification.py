"""Anti-unification on Adult beside plain numpy, and on 1,356,660 noisy rows: CPU seconds, ratio, growth.

Adult: 32,561 rows, eight columns, ages in bins of five years, the class as the correct partition, K = 5. The large table is the scalability
test of Kisilevich et al. 2010: each complete record and its variations, which keep 3 of 7 values and draw the others from their domains.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.anti_unification
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.anti_unification import Condition, Passes, find_patterns
from shoal.kernels.cells import group_ranges
from shoal.kernels.masks import Demand, mask_groups

K, LIMIT = 5, 2
SECONDS, LARGE_SECONDS, GROWTH = 0.5, 15.0, 1.2
SCALES = (5, 10, 20, 30)
ADULT, NOISY = (0, 1, 3, 5, 6, 8, 9, 13), (0, 1, 3, 5, 6, 8, 9)
READINGS: tuple[tuple[tuple[Condition, ...], Passes], ...] = ((("<", ">"), "once"), ((">", "<"), "until-nothing"))
Codes = NDArray[np.int32]


def main() -> None:
    """Print a line per reading and size."""
    folder = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "adult"
    if not (folder / "adult.data").exists():
        print("Anti-unification: left out, adult.data is not there (set SHOAL_DATA)")
        return
    _adult(folder)
    _large(folder)


def _adult(folder: Path) -> None:
    codes, classes = _coded(_records(folder, "adult.data"), ADULT)
    n, d = codes.shape
    draws = np.random.default_rng(1).random(n)
    for conditions, passes in READINGS:
        run = lambda c=conditions, p=passes: find_patterns(codes, classes, K, d - LIMIT, c, p, draws)  # noqa: E731
        run()  # compiled once per machine
        ours, found = _least(run)
        lost = int((found.satisfied == 0).sum())
        print(
            f"Adult {n:,} x {d}, K={K}, ({','.join(conditions)}) {passes:13} {ours:6.3f} s, {len(found.row):,} patterns, {lost:,} discarded "
            f"(bar {SECONDS:g} s: {_met(ours <= SECONDS)})",
            flush=True,
        )
        theirs, rest = _least(lambda c=conditions, p=passes: _plain(codes, classes, c, p), 1)
        print(f"    plain numpy {theirs:6.1f} s, {rest:,} discarded: {theirs / ours:.0f} times as long", flush=True)
    mask_groups(codes, Demand(K), draws)
    seconds, groups = _least(lambda: mask_groups(codes, Demand(K), draws))
    low, high = group_ranges(codes, groups)
    indifferent = float((low != high).sum(axis=1)[groups].mean())
    print(f"Adult {n:,} x {d}, K={K}, safe, least suppressed {seconds:6.3f} s, {indifferent:.2f} indifferent cells per record")


def _plain(codes: Codes, classes: NDArray[np.int64], conditions: tuple[Condition, ...], passes: Passes) -> int:
    """Records without a pattern, by Analyze-set as it is written, on numpy's unique."""
    left = np.ones(len(codes), np.bool_)
    for condition in conditions:
        while True:
            found = np.zeros(len(codes), np.bool_)
            for label in np.unique(classes):
                rows = np.flatnonzero(left & (classes == label))
                if len(rows) >= K:
                    _analyze_set(codes, rows, condition, found)
            left &= ~found
            if passes == "once" or not found.any():
                break
    return int(left.sum())


def _analyze_set(codes: Codes, rows: NDArray[np.int64], condition: Condition, found: NDArray[np.bool_]) -> None:
    values = [np.unique(codes[rows, j]) for j in range(codes.shape[1])]
    sets = np.array([len(v) for v in values])
    if (sets > 1).sum() <= LIMIT:
        found[rows] = True
        return
    chosen = sets[sets > 1].min() if condition == "<" else sets.max()
    for j in np.flatnonzero(sets == chosen):
        for value in values[j]:
            part = rows[codes[rows, j] == value]
            if len(part) >= K:
                _analyze_set(codes, part, condition, found)


def _large(folder: Path) -> None:
    records = [record for name in ("adult.data", "adult.test") for record in _records(folder, name) if "?" not in record]
    codes, classes = _coded(records, NOISY)
    rng = np.random.default_rng(2010)
    n, d = codes.shape
    domain, parts = codes.max(axis=0) + 1, [codes]
    for _ in range(max(SCALES) - 1):
        kept = np.argsort(rng.random((n, d)), axis=1) < 3
        parts.append(np.where(kept, codes, rng.integers(0, domain, (n, d))).astype(np.int32))
    names = [*(f"({','.join(conditions)}) {passes}" for conditions, passes in READINGS), "safe"]
    seconds: dict[tuple[str, int], float] = {}
    for scale in SCALES:
        table, labels = np.concatenate(parts[:scale]), np.tile(classes, scale)
        draws = rng.random(len(table))
        runs: list[Callable[[], Any]] = [
            lambda c=c, p=p, t=table, y=labels, r=draws: find_patterns(t, y, K, d - LIMIT, c, p, r)  # type: ignore[misc]
            for c, p in READINGS
        ]
        runs.append(lambda t=table, r=draws: mask_groups(t, Demand(K), r))
        for name, run in zip(names, runs):
            seconds[name, scale], _ = _least(run, 2)
            print(f"{len(table):9,} x {d}, K={K}, {name:20} {seconds[name, scale]:6.2f} s", flush=True)
    for name in names:
        last, first = seconds[name, SCALES[-1]], seconds[name, SCALES[0]]
        growth = last / first / (SCALES[-1] / SCALES[0])
        print(
            f"{name:20} {last:.2f} s (bar {LARGE_SECONDS:g}: {_met(last <= LARGE_SECONDS)}); "
            f"{growth:.2f} times linear (bar {GROWTH:g}: {_met(growth <= GROWTH)})"
        )


def _records(folder: Path, name: str) -> list[list[str]]:
    lines = (folder / name).read_text().splitlines()
    return [cells for line in lines if len(cells := [cell.strip() for cell in line.rstrip(".").split(",")]) == 15]


def _coded(records: list[list[str]], chosen: tuple[int, ...]) -> tuple[Codes, NDArray[np.int64]]:
    columns = [[str(int(record[j]) // 5) if j == 0 else record[j] for record in records] for j in chosen]
    codes = np.stack([np.unique(np.array(column), return_inverse=True)[1] for column in columns], axis=1)
    return codes.astype(np.int32), np.array([record[14] == ">50K" for record in records]).astype(np.int64)


def _least(run: Callable[[], Any], times: int = 5) -> tuple[float, Any]:
    least = np.inf
    for _ in range(times):
        begin = time.process_time()
        result = run()
        least = min(least, time.process_time() - begin)
    return float(least), result


def _met(holds: bool) -> str:
    return "met" if holds else "missed"


if __name__ == "__main__":
    main()
