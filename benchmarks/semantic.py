"""Semantic distances on WordNet: pairs of terms and of documents a second on one core, and the loss of 50 documents beside Table 4.8.

Run from the repository's root: PYTHONPATH=src python -m benchmarks.semantic
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.collections.build import Builder
from shoal.collections.semantic import Concepts, Semantic, sums_of
from shoal.collections.space import Space
from shoal.errors import DataError
from shoal.kernels.distance_groups import distance_groups, swap_by_distance
from shoal.kernels.matching import distance_matrix, distances_between
from shoal.kernels.wu_palmer import dissimilarity_matrix
from shoal.text.wordnet import find_wordnet

TERM_PAIRS = 5e6  # a second
DOCUMENT_PAIRS = 15_000  # of 50 terms, a second
RATIO = 5.0  # with the matrix of terms against without it
PUBLISHED = {2: 13.8, 3: 34.8, 4: 42.1, 5: 63.2, 6: 57.0, 8: 75.1, 10: 84.8}  # Table 4.8, f50x50: other documents, which are not public


def main() -> int:
    data = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    reviews = sorted((data / "movie_reviews" / "pos").glob("*.txt"))
    if not reviews:
        print("skipped: movie_reviews is not there; set SHOAL_DATA to the folder that holds it")
        return 0
    try:
        find_wordnet()
    except DataError as problem:
        print(f"skipped: {problem}")
        return 0
    space = Builder().build([path.read_text(encoding="utf-8", errors="replace") for path in reviews])
    missed = speed(Semantic().concepts(space))
    losses(space)
    return missed


def speed(concepts: Concepts) -> int:
    whole = np.flatnonzero(np.diff(concepts.documents.starts) == 50)[:300]
    concepts = replace(concepts, documents=concepts.documents.take(whole), row=concepts.row[whole])
    documents, meanings, rules = concepts.documents, concepts.meanings, concepts.rules
    used, number = np.unique(documents.meanings, return_inverse=True)
    numbered = documents._replace(meanings=number)
    few = documents.take(np.arange(3))
    dissimilarity_matrix(meanings, used[:3], False)  # compiled
    seconds, matrix = clock(lambda: dissimilarity_matrix(meanings, used, False))
    terms = len(used) * (len(used) - 1) / 2 / seconds
    nltk_pairs = 500 * 499 / 2
    dissimilarity_matrix(meanings, used[:3], True)
    nltk = nltk_pairs / clock(lambda: dissimilarity_matrix(meanings, used[:500], True))[0]
    print(f"  {len(used):,} terms: {terms / 1e6:.1f} million pairs/s (bar {TERM_PAIRS / 1e6:g}: {met(terms >= TERM_PAIRS)}); "
          f"by NLTK's rule {nltk / 1e6:.1f}")  # fmt: skip

    def all_pairs(count: int, rules: Any) -> float:
        distance_matrix(numbered.take(np.arange(3)), matrix, rules)
        seconds, _ = clock(lambda: distance_matrix(numbered.take(np.arange(count)), matrix, rules))
        return count * (count - 1) / 2 / seconds

    pairs = all_pairs(len(whole), rules)
    optimal = all_pairs(100, rules._replace(optimal=True))
    distances_between(meanings, few, few, (np.zeros(1, np.int64), np.ones(1, np.int64)), rules)
    first, second = np.triu_indices(60, 1)
    plain = len(first) / clock(lambda: distances_between(meanings, documents, documents, (first, second), rules))[0]
    print(f"  documents of 50 terms: {pairs:,.0f} pairs/s (bar {DOCUMENT_PAIRS:,}: {met(pairs >= DOCUMENT_PAIRS)}); optimal {optimal:,.0f}")
    print(
        f"  without the matrix of terms: {plain:,.0f} pairs/s, {pairs / plain:.1f} times slower (bar {RATIO:g}: {met(pairs >= RATIO * plain)})"
    )
    return int(not (terms >= TERM_PAIRS and pairs >= DOCUMENT_PAIRS and pairs >= RATIO * plain))


def losses(space: Space) -> None:
    """(4.22) of 50 reviews of at least 50 nouns; with and without weights, before and after swaps."""
    every = Semantic().concepts(space)
    long = np.sort(every.row[np.diff(every.documents.starts) == 50])[:50]
    fifty = space.take(long)
    print("  loss of 50 reviews in per cent, weighted / not, no swaps / 3 swaps; published for other documents, most likely not weighted")
    for k, published in PUBLISHED.items():
        found = []
        for weighting in ("frequency", "none"):
            concepts = Semantic(k=k, weighting=weighting).concepts(fifty)
            distances = concepts.distances()
            plain = distance_groups(distances, k)
            for groups in (plain, swap_by_distance(distances, plain, k, 3)):
                found.append(100 * (sums_of(concepts, groups, concepts.centroids(groups, distances)).loss or 0))
        print(f"    k = {k:2d}: {found[0]:.1f} / {found[2]:.1f}, {found[1]:.1f} / {found[3]:.1f}; published {published:.1f}")


def met(holds: bool) -> str:
    return "met" if holds else "missed"


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


if __name__ == "__main__":
    sys.exit(main())
