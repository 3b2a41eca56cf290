"""Special uniques: all sets of Adult's eight columns beside numpy's own counting, a million rows, and forty columns, with CPU seconds and the bar.

Compiling is outside the clock, finding distinct rows inside.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.special_uniques
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from benchmarks import tables
from benchmarks.bars import Row, show
from benchmarks.tables import EIGHT
from shoal.arrays import IntArray
from shoal.example import invented_patients
from shoal.kernels.groups import class_ids
from shoal.kernels.special_uniques import SpecialUniques, special_uniques

BAR = 0.4
PATIENTS = ("age", "sex", "zip", "education", "income", "visits")
MANY = 1_000_000


def main() -> None:
    """A line for every table."""
    searched(np.zeros((2, 2), np.int64))  # compiles
    print(f"{'CPU seconds':63}{'measured':>10}{'numpy':>8}  {'bar':<12}")
    if tables.folder() is not None:
        table = tables.adult(EIGHT)
        codes = np.repeat(table.codes, table.rows, axis=0)
        found, seconds = timed(lambda: searched(codes))
        naive, floor = timed(lambda: counted_by_numpy(codes))
        special = [int(one.special.sum()) for one in found.sizes]
        assert special == naive
        show(Row("Adult, 8 columns, all sizes", seconds, BAR, floor=floor, beside=f"{floor / seconds:.1f} times as fast, {sum(special):,}"))
    patients = invented_patients(MANY, 7)
    codes = np.column_stack([patients.codes(column) for column in PATIENTS])
    line(f"{MANY:,} invented patients, 6 columns, all sizes", codes)
    drawn = np.random.default_rng(7).integers(0, 5, (3000, 40))
    line("3,000 rows of 40 columns, as far as it goes", drawn)


def searched(codes: IntArray) -> SpecialUniques:
    """Of rows, as the verb does it: distinct ones first."""
    ids, number = class_ids(codes)
    first = np.empty(number, np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    return special_uniques(codes[first], np.bincount(ids))


def counted_by_numpy(codes: IntArray) -> list[int]:
    """Minimal uniques by size, with a bit for each row and set."""
    n, d = codes.shape
    unique: dict[tuple[int, ...], Any] = {(): np.zeros(n, np.bool_)}
    found = [0] * d
    for size in range(1, d + 1):
        for chosen in combinations(range(d), size):
            key = np.zeros(n, np.int64)
            for j in chosen:
                key = key * (int(codes[:, j].max()) + 1) + codes[:, j]
            _, place, many = np.unique(key, return_inverse=True, return_counts=True)
            smaller = np.any([unique[chosen[:p] + chosen[p + 1 :]] for p in range(size)], axis=0)
            unique[chosen] = many[place.reshape(-1)] == 1
            found[size - 1] += int((unique[chosen] & ~smaller).sum())
    return found


def line(what: str, codes: IntArray) -> None:
    found, seconds = timed(lambda: searched(codes))
    print(f"{what:63}{seconds:>8.2f} s {'':29}{len(found.sizes)} sizes, {sum(int(one.special.sum()) for one in found.sizes):,}", flush=True)


def timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """The least of three runs: what is loaded on first use is outside the clock."""
    least = np.inf
    for _ in range(3):
        begin = time.process_time()
        result = run()
        least = min(least, time.process_time() - begin)
    return result, float(least)


if __name__ == "__main__":
    main()
