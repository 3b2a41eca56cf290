"""Microaggregation beside the plain MDAV loop: same groups, less time; and how much swap refinement and blocks gain or lose.

CPU seconds of one core; compiling is outside the clock. Every line prints its figure, its bar, and met or missed.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.microaggregation
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from shoal.contracts import quiet
from shoal.kernels.blocks import mdav_large_groups
from shoal.kernels.mdav import mdav_groups, mdav_groups_mixed, mdav_groups_mixed_naive, mdav_groups_naive
from shoal.kernels.refine import swap_refinement
from shoal.methods.coordinates import Coordinates
from shoal.methods.microaggregation import MdavLarge

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ROWS = 100_000
COLUMNS = 7


def standardized(table: FloatArray) -> FloatArray:
    result: FloatArray = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    return result


def gauss(n: int, seed: int = 1) -> FloatArray:
    """Independent normals: the hardest case for any tree."""
    return standardized(np.random.default_rng(seed).normal(size=(n, COLUMNS)))


def mix(n: int, seed: int = 2) -> FloatArray:
    """Correlated and skewed, as money is: the exponential of a three-factor model."""
    rng = np.random.default_rng(seed)
    loading = rng.normal(size=(3, COLUMNS))
    return standardized(np.exp(0.8 * standardized(rng.normal(size=(n, 3)) @ loading + 0.5 * rng.normal(size=(n, COLUMNS)))))


def sse(points: FloatArray, groups: IntArray) -> float:
    sizes = np.bincount(groups)
    return float(sum(((column - (np.bincount(groups, column) / sizes)[groups]) ** 2).sum() for column in points.T))


def timed(run: Callable[[], IntArray]) -> tuple[float, IntArray]:
    start = time.process_time()
    groups = run()
    return time.process_time() - start, groups


def line(what: str, figure: float, bar: float, met: bool, beside: str) -> int:
    print(f"{what:42}{figure:9.3f}  bar {bar:<6g}{'met' if met else 'MISSED':8}{beside}", flush=True)
    return 0 if met else 1


def speed_and_loss(points: Callable[[int], FloatArray], name: str, most_loss: float) -> int:
    table = points(ROWS)
    missed = 0
    for k in (3, 10):
        plain, slow = timed(lambda k=k: mdav_groups_naive(table, k))  # type: ignore[misc]
        quick, fast = timed(lambda k=k: mdav_groups(table, k))  # type: ignore[misc]
        same = np.array_equal(slow, fast)
        beside = f"{plain:.2f} s / {quick:.2f} s, identical: {'yes' if same else 'no'}"
        missed += line(f"exact, times naive: {ROWS:,} {name} k={k}", plain / quick, 4, same and plain >= 4 * quick, beside)
        spent, large = timed(lambda k=k: mdav_large_groups(table, k))  # type: ignore[misc]
        ratio = sse(table, large) / sse(table, fast)
        missed += line(f"large, SSE / exact's: {ROWS:,} {name} k={k}", ratio, most_loss, ratio <= most_loss, f"{spent:.2f} s")
        missed += line(f"large, time / exact's: {ROWS:,} {name} k={k}", spent / quick, 0.7, spent <= 0.7 * quick, "")
    return missed


def mixed() -> int:
    table, codes = gauss(ROWS)[:, :5], np.random.default_rng(4).integers(0, 8, (ROWS, 1))
    spent, groups = timed(lambda: mdav_groups_mixed(table, codes, 5))
    few = slice(0, ROWS // 10)
    same = np.array_equal(mdav_groups_mixed(table[few], codes[few], 5), mdav_groups_mixed_naive(table[few], codes[few], 5))
    beside = f"smallest group {np.bincount(groups).min()}, a tenth identical to the plain loop's: {'yes' if same else 'no'}"
    return line(f"mixed, s: {ROWS:,} x (5 + 1) k=5", spent, 8, same and spent <= 8, beside)


def million() -> int:
    table = mix(10 * ROWS)
    spent, groups = timed(lambda: MdavLarge(k=10).groups(Coordinates(table, np.empty((10 * ROWS, 0), np.int64)), quiet))
    beside = f"smallest group {np.bincount(groups).min()}"
    return line(f"large, s: {10 * ROWS:,} mix k=10", spent, 18, spent <= 18, beside)


def refinement() -> int:
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("SHOAL_DATA") or root.parent / "shared" / "data") / "casc"
    ratios = []
    for name in ("census", "tarragona"):
        if not (folder / f"{name}.csv").exists():
            print(f"refinement: {name}.csv is not in {folder}; set SHOAL_DATA")
            return 0
        table = standardized(np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1))
        for k in (3, 5, 10):
            start = mdav_groups(table, k)
            spent, groups = timed(lambda table=table, start=start, k=k: swap_refinement(table, start, k))  # type: ignore[misc]
            ratios.append(sse(table, groups) / sse(table, start))
            print(f"{f'refined, SSE / MDAV: {name} k={k}':42}{ratios[-1]:9.3f}{'':18}{spent:.3f} s", flush=True)
    mean = float(np.exp(np.mean(np.log(ratios))))
    return line("refined, SSE / MDAV: geometric mean", mean, 0.93, mean <= 0.93, "")


def main() -> int:
    small = gauss(3000)  # compile outside the clock
    mdav_groups_naive(small, 3)
    swap_refinement(small, mdav_groups(small, 3), 3)
    mdav_large_groups(small, 3)
    missed = refinement()
    mdav_groups_mixed(small, np.zeros((3000, 1), np.int64), 3)
    mdav_groups_mixed_naive(small, np.zeros((3000, 1), np.int64), 3)
    missed += mixed() + speed_and_loss(mix, "mix", 1.05) + speed_and_loss(gauss, "gauss", 1.05) + million()
    print("all met" if missed == 0 else f"{missed} missed")
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
