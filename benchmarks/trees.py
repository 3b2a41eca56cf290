"""The scalability test of kACTUS, Adult expanded 30 times: growing the tree, beside scikit-learn's on the same rows, and choosing groups.

Kisilevich et al. 2010, section 5.8: of every complete row of Adult 29 variations are added, which keep 3 of its 7 quasi-identifiers and
draw the others from their domains; k = 150. The paper takes 483 seconds. CPU seconds here; compiling is outside the clock. scikit-learn's
tree tests the codes as numbers, with entropy as the criterion and at least k rows in a leaf.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.trees
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.kactus import anonymize
from shoal.kernels.trees import Tree, grow, route

K = 150
SCALE = 30
KEPT = 3
QUASI = (0, 1, 3, 5, 6, 8, 9)  # age, workclass, education, marital status, occupation, race, sex
ORDERED = np.array([True, False, False, False, False, False, False])
Codes = NDArray[np.uint16]
Target = NDArray[np.int32]


def adult() -> tuple[Codes, Target] | None:
    """The 45,222 complete rows of both files, coded."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("SHOAL_DATA") or root.parent / "shared" / "data") / "adult"
    rows = []
    for name in ("adult.data", "adult.test"):
        if not (folder / name).exists():
            print(f"{name} is not in {folder}; set SHOAL_DATA. Made-up rows instead.")
            return None
        for text in (folder / name).read_text().splitlines():
            cells = [cell.strip() for cell in text.rstrip(".").split(",")]
            if len(cells) == 15 and "?" not in cells:
                rows.append(cells)
    table = np.array(rows)
    columns = [table[:, j].astype(float) if j == 0 else table[:, j] for j in QUASI]
    codes = np.stack([np.unique(column, return_inverse=True)[1] + 1 for column in columns], axis=1)
    return codes.astype(np.uint16), (table[:, 14] == ">50K").astype(np.int32)


def made_up(rng: np.random.Generator) -> tuple[Codes, Target]:
    """As many rows, with the domains of Adult and a class that depends on three columns."""
    codes = rng.integers(1, np.array([74, 7, 16, 7, 14, 5, 2]) + 1, (45_222, 7)).astype(np.uint16)
    score = codes[:, 0] / 74 + codes[:, 2] / 16 + (codes[:, 3] == 3) + rng.normal(size=len(codes))
    return codes, (score > np.quantile(score, 0.75)).astype(np.int32)


def expanded(codes: Codes, rng: np.random.Generator) -> Codes:
    """The rows and, one copy after the other, their variations."""
    copies = [codes]
    for _ in range(SCALE - 1):
        drawn = rng.integers(1, codes.max(axis=0).astype(np.int64) + 1, codes.shape).astype(np.uint16)
        keeps = rng.random(codes.shape).argsort(axis=1) < KEPT
        copies.append(np.where(keeps, codes, drawn))
    return np.concatenate(copies)


def best_of(times: int, run: Callable[[], Any]) -> tuple[float, Any]:
    least = np.inf
    for _ in range(times):
        before = time.process_time()
        result = run()
        least = min(least, time.process_time() - before)
    return float(least), result


def line(what: str, figure: float, bar: float, met: bool, beside: str) -> int:
    print(f"{what:44}{figure:9.3f}  bar {bar:<6g}{'met' if met else 'MISSED':8}{beside}", flush=True)
    return 0 if met else 1


def beside_scikit_learn(codes: Codes, target: Target, ours: float) -> int:
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        print("scikit-learn is not installed: nothing to compare with")
        return 0
    numbers = codes.astype(np.float32)  # what it works on, so that converting is outside its clock
    theirs, _ = best_of(1, lambda: DecisionTreeClassifier(criterion="entropy", min_samples_leaf=K, random_state=1).fit(numbers, target))
    return line("grow, times scikit-learn's fit", theirs / ours, 1, theirs > ours, f"{theirs:.2f} s / {ours:.2f} s")


def main() -> int:
    rng = np.random.default_rng(2010)
    base, classes = adult() or made_up(rng)
    codes, target, draws = expanded(base, rng), np.tile(classes, SCALE), rng.random(SCALE * len(base))
    small: Tree = grow(codes[:3000], ORDERED, target[:3000], 2)  # compile outside the clock
    anonymize(small.parent, route(small, codes[:3000], ORDERED), K, draws[:3000])
    print(f"k = {K}, {codes.shape[1]} quasi-identifiers, CPU seconds, best of 3")
    print(f"{'rows':>12}{'nodes':>8}{'groups':>8}{'grow':>9}{'route':>9}{'anonymize':>11}{'total':>9}{'ns per row':>12}")
    totals, first = [], 0.0
    for scale in (1, 5, 10, 20, SCALE):
        n = scale * len(base)
        growing, tree = best_of(3, lambda n=n: grow(codes[:n], ORDERED, target[:n], 2, least=K))
        routing, node = best_of(3, lambda n=n, tree=tree: route(tree, codes[:n], ORDERED))
        choosing, at = best_of(3, lambda n=n, tree=tree, node=node: anonymize(tree.parent, node, K, draws[:n]))
        total = growing + routing + choosing
        first = first or total / n
        totals.append(total)
        sizes = np.unique(at, return_counts=True)[1]
        row = f"{growing:>9.3f}{routing:>9.3f}{choosing:>11.3f}{total:>9.3f}{1e9 * total / n:>12.0f}"
        print(f"{n:>12,}{len(tree.parent):>8,}{len(sizes):>8,}{row}", flush=True)
        if sizes.min() < K:
            print(f"a group of {sizes.min()} rows at k = {K}: WRONG")
            return 1
    missed = line("grow, CPU seconds", growing, 1.5, growing <= 1.5, "")
    missed += line("codes to groups, CPU seconds", totals[-1], 3, totals[-1] <= 3, "paper 483 s")
    growth = totals[-1] / n / first
    missed += line("time per row, full / first thirtieth", growth, 1.5, growth <= 1.5, "1 is linear")
    return missed + beside_scikit_learn(codes, target, growing)


if __name__ == "__main__":
    raise SystemExit(main())
