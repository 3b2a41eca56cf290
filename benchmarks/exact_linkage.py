"""Exact learned linkage on Census, beside the naive big-M model in HiGHS on the same file in the same process.

The six files of Abril (2014), section 5.4.3: 400 records, microaggregated by MDAV on raw values in blocks of consecutive columns.
Compiling is outside the clock; the table has wall seconds, and CPU seconds in brackets.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.exact_linkage [samples] [quick|stretch]
"""

import os
import sys
import time
from pathlib import Path

import highspy
import numpy as np
from numpy.typing import NDArray

from shoal.kernels.aggregation import WeightedMean, recount, standardized
from shoal.kernels.benders import Exact, solve
from shoal.kernels.mdav import mdav_groups
from shoal.kernels.parameter_space import Family
from shoal.kernels.simplices import Pass
from shoal.report.linkage_proof import check_linkage

FloatArray = NDArray[np.float64]
FILES = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
}
MEDIAN, RATIO, CHOQUET = 5.0, 30.0, {"M4-28": 10.0, "M5-38": 45.0}


def census() -> FloatArray:
    folder = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    return np.loadtxt(folder / "casc" / "census.csv", delimiter=",", skiprows=1)


def microaggregated(table: FloatArray, blocks: tuple[tuple[int, int], ...], sample: int) -> tuple[FloatArray, FloatArray]:
    """400 records and their protected rows, standardized as they are compared (5.5)."""
    rows = np.random.default_rng(sample).choice(len(table), 400, replace=False)
    original = table[rows][:, : sum(width for width, _ in blocks)]
    protected, at = np.empty_like(original), 0
    for width, k in blocks:
        groups = mdav_groups(original[:, at : at + width], k)
        for column in range(at, at + width):
            protected[:, column] = (np.bincount(groups, original[:, column]) / np.bincount(groups))[groups]
        at += width
    return standardized(original, protected)


def rank_swapped(table: FloatArray, n: int, percent: float, sample: int) -> tuple[FloatArray, FloatArray]:
    """400 records of n columns; every value swapped with one within so many per cent of the ranks."""
    rng = np.random.default_rng(sample)
    original = table[rng.choice(len(table), 400, replace=False)][:, :n]
    protected, reach = original.copy(), int(percent / 100 * len(original))
    for column in range(n):
        order = np.argsort(original[:, column], kind="stable")
        free = np.ones(len(order), np.bool_)
        for at in range(len(order)):
            partners = [other for other in range(at + 1, min(at + reach, len(order) - 1) + 1) if free[other]]
            if free[at] and partners:
                other = partners[rng.integers(len(partners))]
                a, b = order[at], order[other]
                protected[a, column], protected[b, column] = original[b, column], original[a, column]
                free[at] = free[other] = False
    return standardized(original, protected)


def naive(x: FloatArray, y: FloatArray, seconds: float) -> tuple[float, str]:
    """(5.8) to (5.12) as printed: a row for every pair of records, a big M and an epsilon. Returns seconds and what came out."""
    n, d = x.shape
    squares = (x[:, None, :] - y[None, :, :]) ** 2
    margins = squares - squares[np.arange(n), np.arange(n)][:, None, :]
    big, epsilon = float(np.abs(margins).max()) + 1, 1e-4
    began = time.perf_counter()
    highs = highspy.Highs()
    for option, value in (("output_flag", False), ("threads", 1), ("time_limit", seconds), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.999)):
        highs.setOptionValue(option, value)
    for column in range(d + n):
        highs.addVar(0.0, 1.0)
        if column >= d:
            highs.changeColCost(column, 1.0)
            highs.changeColIntegrality(column, highspy.HighsVarType.kInteger)
    highs.addRow(1.0, 1.0, d, np.arange(d, dtype=np.int32), np.ones(d))
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    columns = np.array([[*range(d), d + i] for i, _ in pairs], np.int32)
    values = np.array([[*margins[i, j], big] for i, j in pairs])
    highs.addRows(
        len(pairs), np.full(len(pairs), epsilon), np.full(len(pairs), highspy.kHighsInf), columns.size,
        np.arange(0, columns.size, d + 1, dtype=np.int32), columns.ravel(), values.ravel(),
    )  # fmt: skip
    highs.run()
    spent = time.perf_counter() - began
    weights = np.maximum(np.array(highs.getSolution().col_value[:d]), 0)
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return spent, f"open, {highs.getInfo().mip_dual_bound:.0f} failures at least"
    stated = n - round(highs.getInfo().objective_function_value)
    return spent, f"states {stated}, links {recount(WeightedMean(weights / weights.sum()), x, y).strict.sum()}"


def timed(x: FloatArray, y: FloatArray, family: Family, seconds: float) -> tuple[float, float, Exact]:
    cpu, wall = time.process_time(), time.perf_counter()
    found = solve(x, y, family, seconds)
    return time.perf_counter() - wall, time.process_time() - cpu, found


def line(name: str, wall: float, cpu: float, found: Exact) -> str:
    fails = len(found.counted.strict) - np.array([found.linked, found.bound])
    rates = f"{100 * found.counted.strict_rate:.2f} / {100 * found.counted.shared_rate:.2f} %"
    state = "proven" if found.proven else f"open, {fails[0]} / {fails[1]} failures"
    return f"{name:10}{wall:8.2f} s ({cpu:6.2f}){found.linked:6}  {rates:18} {state}"


def weighted_means(table: FloatArray, samples: int) -> int:
    print(f"\nWeighted mean, {samples} samples: median seconds at most {MEDIAN:g}, all proven")
    missed = 0
    for name, blocks in FILES.items():
        runs = [timed(*microaggregated(table, blocks, sample), "weighted-mean", 60) for sample in range(samples)]
        wall, cpu = (float(np.median([run[at] for run in runs])) for at in (0, 1))
        strict = np.array([100 * run[2].counted.strict_rate for run in runs])
        shared = np.array([100 * run[2].counted.shared_rate for run in runs])
        proven = sum(run[2].proven for run in runs)
        met = wall <= MEDIAN and proven == samples
        missed += not met
        print(
            f"{name:8}median {wall:6.2f} s ({cpu:5.2f}), most {max(run[0] for run in runs):6.2f} s; strict {strict.mean():.1f} ± "
            f"{strict.std():.1f}, shared {shared.mean():.1f}; {proven}/{samples} proven  {'met' if met else 'missed'}"
        )
    return missed


def beside_big_m(table: FloatArray) -> int:
    x, y = microaggregated(table, FILES["M4-28"], 0)
    ours = timed(x, y, "weighted-mean", 60)
    theirs, said = naive(x, y, 600)
    met = theirs / ours[0] >= RATIO
    print(
        f"\nM4-28, big M in HiGHS: {theirs:.1f} s, {said}; ours {ours[0]:.2f} s, links {ours[2].linked}: {theirs / ours[0]:.0f}x, bar {RATIO:g}x  ",
        end="",
    )
    print("met" if met else "missed")
    return not met


def other_families(table: FloatArray) -> int:
    missed = 0
    bilinear = 0
    for family, seconds in (("choquet", 120.0), ("bilinear", 60.0), ("owa", 60.0), ("choquet-submodular", 120.0)):
        print(f"\n{family}: seconds (CPU), linked, strict / shared rate")
        for name, blocks in FILES.items():
            x, y = microaggregated(table, blocks, 0)
            wall, cpu, found = timed(x, y, family, seconds)  # type: ignore[arg-type]
            said = line(name, wall, cpu, found)
            if family == "choquet":
                met = found.proven and wall <= CHOQUET.get(name, seconds)
                missed += not met
                said += "  met" if met else "  missed"
                check_linkage(found.certificate(), x, y)
            bilinear += family == "bilinear" and found.proven
            print(said, flush=True)
        if family == "bilinear":
            missed += bilinear < 5
            print(f"{bilinear} of 6 proven, bar 5  {'met' if bilinear >= 5 else 'missed'}")
    return missed


def stretch(table: FloatArray, seconds: float = 600) -> None:
    print("\nHard ones, ten minutes each (no bar)")
    x, y = microaggregated(table, FILES["M5-38"], 0)
    print(line("M5-38 owa", *timed(x, y, "owa", seconds)), flush=True)
    print(line("M5-38 bil", *timed(x, y, "bilinear", seconds)), flush=True)
    print(line("swapped 7", *timed(*rank_swapped(table, 7, 7, 0), "weighted-mean", seconds)), flush=True)


def main() -> int:
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    what = sys.argv[2] if len(sys.argv) > 2 else ""
    table = census()
    for family in ("weighted-mean", "owa", "bilinear", "choquet", "choquet-submodular"):
        solve(*microaggregated(table[:500], ((3, 3),), 99), family, 1)  # type: ignore[arg-type]  # compile outside the clock
    Pass(np.array([[1.0, -1], [-1, 0.9]]), np.array([0, 1]), 1).walk()
    if what == "stretch":
        stretch(table)
        return 0
    missed = weighted_means(table, samples)
    if what != "quick":
        missed += beside_big_m(table) + other_families(table)
    return missed


if __name__ == "__main__":
    sys.exit(main())
