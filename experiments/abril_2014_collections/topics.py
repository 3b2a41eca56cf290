"""Figures 4.10 and 4.11: spherical k-means on originals and on releases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from experiments.abril_2014_collections.corpora import CORPORA, NAMES, SEED, Corpus, plain, release, space
from experiments.abril_2014_collections.paper import Line, print_lines, print_table, prototype, prototype_cell, watched
from experiments.abril_2014_collections.plots import curves
from shoal.arrays import IntArray
from shoal.collections.clusters import adjusted_rand, spherical_k_means
from shoal.collections.side_by_side import side_by_side
from shoal.randomness import rng_for

NUMBERS: dict[Corpus, tuple[int, ...]] = {"R": (5, 7, 10, 15, 20, 25), "MR": (2, 5, 10, 15, 20, 25)}
CLASSES: dict[Corpus, int] = {"R": 7, "MR": 2}
STARTS, RUNS = 10, 4


def figures_4_10_and_4_11(ks: Sequence[int], out: Path | None) -> None:
    """Adjusted Rand index between the topics of the original and of the release, beside that of runs on the original alone."""
    alike: dict[tuple[Corpus, int], dict[int, float]] = {}
    to_classes: dict[Corpus, dict[int, float]] = {corpus: {} for corpus in CORPORA}
    ceilings: dict[tuple[Corpus, int], list[float]] = {}
    for corpus, number in watched([(c, number) for c in CORPORA for number in NUMBERS[c]], "Figures 4.10 and 4.11"):
        originals = [_originals(corpus, number, run) for run in range(RUNS)]
        ceilings[corpus, number] = [adjusted_rand(one, other) for one, other in combinations(originals, 2)]
        labels = np.unique(np.array(space(corpus).labels), return_inverse=True)[1]
        if number == CLASSES[corpus]:
            to_classes[corpus][1] = _mean(adjusted_rand(one, labels) for one in originals)
        for k in ks:
            found = _released(corpus, number, k)
            alike.setdefault((corpus, number), {})[k] = _mean(adjusted_rand(one, found) for one in originals)
            if number == CLASSES[corpus]:
                to_classes[corpus][k] = adjusted_rand(found, labels)
    lines: list[Line] = [(f"{NAMES[corpus]}, {CLASSES[corpus]} topics", to_classes[corpus], {}) for corpus in CORPORA]
    print_lines("Figure 4.10, adjusted Rand index between topics and classes", (1, *ks), lines, 2)
    lines = [(f"{corpus} {number} topics", line, prototype("topics", f"{corpus} {number}")) for (corpus, number), line in alike.items()]
    print_lines("Figure 4.11, adjusted Rand index between topics of the original and of the release", ks, lines, 2)
    rows: list[list[object]] = []
    for (corpus, number), ceiling in ceilings.items():
        theirs = prototype_cell("topics", f"{corpus} {number}", "ceiling")
        ours = [f"{_mean(ceiling):.2f}", f"{min(ceiling):.2f} to {max(ceiling):.2f}"]
        rows.append([f"{corpus} {number} topics", *ours, "" if theirs is None else f"{theirs:.2f}"])
    title = f"Its ceiling: the same between runs on the original, {RUNS} of them, each the best of {STARTS} starts"
    print_table(title, ["", "ours", "by pair", "prototype"], rows)
    curves(out, "figure_4_10", "Figure 4.10: topics and classes, adjusted Rand index", {NAMES[c]: to_classes[c] for c in CORPORA})
    for corpus in CORPORA:
        named = {f"{number} topics": alike[corpus, number] for number in NUMBERS[corpus]}
        curves(out, f"figure_4_11_{corpus}", f"Figure 4.11: topics before and after, {NAMES[corpus]}", named)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _originals(corpus: Corpus, number: int, run: int) -> IntArray:
    return spherical_k_means(space(corpus).matrix, number, STARTS, rng_for(SEED, "topics", corpus, number, run))


def _released(corpus: Corpus, number: int, k: int) -> IntArray:
    pair = side_by_side(space(corpus), release(corpus, plain(k)))
    return spherical_k_means(pair.centroids, number, STARTS, rng_for(SEED, "topics", corpus, number, "k", k), pair.sizes)[pair.cluster]
