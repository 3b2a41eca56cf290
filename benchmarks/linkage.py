"""Record linkage at scale, beside scipy's cKDTree in the same process: a million original records against their noisy release.

Building the tree is part of every figure. CPU seconds compare one thread with one worker, wall seconds two with two.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.linkage [rows]
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from shoal.kernels.linkage import agreement, match_mixture, neighbours

BAR = 3.0
FloatArray = NDArray[np.float64]


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, wall seconds, result."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = run()
    return time.process_time() - cpu, time.perf_counter() - wall, result


def distances(n: int, d: int = 6) -> int:
    rng = np.random.default_rng(7)
    original = rng.normal(size=(n, d))
    rows = np.arange(n)
    missed = 0
    neighbours.nearest(original[:100], original[:100])  # compile outside the clock
    neighbours.linked(original[:100], original[:100], rows[:100])
    print(f"Distance-based: {n:,} x {d}, nearest neighbour, bar {BAR:g} times cKDTree with the same answers")
    print(f"{'noise':8}{'clock':16}{'cKDTree':>9}{'nearest':>9}{'ratio':>8}  {'':8}{'linked':>8}")
    for noise in (0.1, 1.0):
        protected = original + noise * rng.normal(size=original.shape)
        for threads, clock in ((1, "CPU, 1 thread"), (2, "wall, 2 threads")):
            numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
            theirs = timed(lambda p=protected, w=threads: cKDTree(p).query(original, k=1, workers=w))
            ours = timed(lambda p=protected: neighbours.nearest(p, original))
            strict = timed(lambda p=protected: neighbours.linked(p, original, rows))
            distance, row = theirs[2]
            found, linked = ours[2], strict[2]
            same = np.array_equal(found.first, row) and np.allclose(found.distance2, distance**2, rtol=1e-9, atol=0)
            same = same and np.array_equal(~linked.closer_exists, (row == rows))
            ratio = theirs[threads - 1] / ours[threads - 1]
            met = same and ratio >= BAR
            missed += not met
            print(
                f"{noise:<8g}{clock:16}{theirs[threads - 1]:>9.1f}{ours[threads - 1]:>9.1f}{ratio:>7.1f}x"
                f"  {'met' if met else 'missed' if same else 'DIFFERS':8}{strict[threads - 1]:>8.1f}"
            )
    return missed


def weights(n: int, queries: int = 20_000, d: int = 6) -> None:
    rng = np.random.default_rng(7)
    original = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3)
    original /= original.std(axis=0)
    direction = np.argsort(original @ np.ones(d))
    grouped = np.empty_like(original)  # groups of five along one direction: many identical rows, as microaggregation leaves them
    for part in np.array_split(direction, n // 5):
        grouped[part] = original[part].mean(axis=0)
    releases = {"noise .1": original + 0.1 * rng.normal(size=original.shape),
                "noise 1": original + rng.normal(size=original.shape), "groups of 5": grouped}  # fmt: skip
    numba.set_num_threads(1)
    agreement.best_match(original[:9], original[:9], np.ones(d), np.ones(d), np.zeros(d))  # compile outside the clock
    agreement.linked_by_weight(original[:9], original[:9], np.arange(9), np.ones(d), np.ones(d), np.zeros(d))
    agreement.pattern_counts(original[:9], original[:9], np.ones(d))
    asked, tolerance = rng.choice(n, queries, replace=False), np.full(d, 0.1)
    print(f"\nProbabilistic: {n:,} protected rows x {d}, tolerance .1, one thread, CPU; per record asked, index apart (no bar)")
    print(f"{'release':14}{'ns a pair':>10}{'index':>9}{'best_match':>14}{'linked_by_weight':>20}{'linked':>9}")
    for name, protected in releases.items():
        few = original[asked[:100]]
        count = timed(lambda p=protected, few=few: agreement.pattern_counts(few, p, tolerance))
        fitted = match_mixture.expectation_maximization(count[2], d, 1 / n)
        agree, disagree = match_mixture.weights(fitted.m, fitted.u)
        setting = (tolerance, agree, disagree)
        index = min(timed(lambda p=protected, s=setting: agreement.best_match(original[asked[:1]], p, *s))[0] for _ in range(3))
        best = timed(lambda p=protected, s=setting: agreement.best_match(original[asked], p, *s))[0] - index
        linked = timed(lambda p=protected, s=setting: agreement.linked_by_weight(original[asked], p, asked, *s))
        found = linked[2].ties[~linked[2].higher_exists]
        print(
            f"{name:14}{count[0] / (len(few) * n) * 1e9:>10.2f}{index:>7.1f} s{best / queries * 1e6:>11.0f} us"
            f"{(linked[0] - index) / queries * 1e6:>17.0f} us{100 * (1 / found).sum() / queries:>8.1f}%"
        )


def main() -> int:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    missed = distances(n)
    weights(n)
    return missed


if __name__ == "__main__":
    sys.exit(main())
