"""Counting equivalence classes of ten million rows, beside pandas' groupby in the same process.

Run from the repository's root: PYTHONPATH=src python -m benchmarks.classes
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from shoal.kernels import groups

ROWS = 10_000_000
BAR = 3.0
CASES = {  # codes per column
    "thousands of classes": (2, 5, 7, 3, 4, 6),
    "a million classes": (20, 10, 8, 5, 12, 10),
    "millions of classes": (40, 25, 12, 5, 10, 10),
    "nearly all unique": (100, 50, 10, 20, 30, 8),
}


def best_of(times: int, run: Callable[[], Any]) -> tuple[float, Any]:
    """The least CPU time of several runs, so that a first run's compilation and page faults count for neither side."""
    least = np.inf
    for _ in range(times):
        before = time.process_time()
        result = run()
        least = min(least, time.process_time() - before)
    return float(least), result


def main() -> int:
    rng = np.random.default_rng(7)
    missed = 0
    print(f"{ROWS:,} rows, 6 integer columns, CPU seconds, best of 3; bar {BAR:g} times pandas groupby(sort=False).size()")
    print(f"{'case':24}{'codes':8}{'classes':>11}{'pandas':>9}{'sizes':>9}{'ratio':>8}  {'':8}{'ids':>7}")
    for name, cardinalities in CASES.items():
        for dtype in (np.int32, np.int64):
            columns = [rng.integers(0, m, ROWS).astype(dtype) for m in cardinalities]
            frame = pd.DataFrame({f"c{j}": column for j, column in enumerate(columns)}, copy=False)
            names = list(frame.columns)
            theirs, expected = best_of(3, lambda frame=frame, names=names: frame.groupby(names, sort=False).size())
            ours, sizes = best_of(3, lambda columns=columns: groups.class_sizes(columns))
            for_ids, (ids, classes) = best_of(2, lambda columns=columns: groups.class_ids(columns))
            same = classes == len(sizes) == len(expected) and np.array_equal(np.bincount(ids), sizes)
            same = same and np.array_equal(np.sort(sizes), np.sort(expected.to_numpy()))
            met = same and theirs / ours >= BAR
            missed += not met
            print(
                f"{name:24}{np.dtype(dtype).name:8}{classes:>11,}{theirs:>9.2f}{ours:>9.2f}{theirs / ours:>7.1f}x"
                f"  {'met' if met else 'missed' if same else 'DIFFERS':8}{for_ids:>7.2f}"
            )
    return missed


if __name__ == "__main__":
    sys.exit(main())
