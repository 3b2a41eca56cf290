"""Figure 4.6: what queries find in the original and in the release."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from experiments.abril_2014_collections.corpora import CORPORA, NAMES, SEED, Corpus, plain, release, space
from experiments.abril_2014_collections.paper import Line, print_lines, prototype, watched
from experiments.abril_2014_collections.plots import curves
from shoal.collections.queries import QueryAgreement, agreement
from shoal.collections.side_by_side import side_by_side
from shoal.randomness import rng_for

LENGTHS = (1, 3, 5)
RESULTS = 20
KINDS = ("random", "top")


def figure_4_6(ks: Sequence[int], out: Path | None) -> None:
    """The mean of 200 queries of each kind, then the six of Table 4.2."""
    means: dict[tuple[Corpus, str, int], dict[int, float]] = {}
    six: dict[tuple[Corpus, int], dict[int, list[float]]] = {}
    for corpus, k in watched([(corpus, k) for corpus in CORPORA for k in ks], "Figure 4.6"):
        whole, made = space(corpus), release(corpus, plain(k))
        details: Any = QueryAgreement(lengths=LENGTHS, results=RESULTS).measure(whole, made, rng_for(SEED, "queries", corpus)).details
        pair = side_by_side(whole, made)
        for length in LENGTHS:
            for kind in KINDS:
                means.setdefault((corpus, kind, length), {})[k] = details["f1"][f"{kind} {length}"]
            asked = table_4_2(corpus, length)
            six.setdefault((corpus, length), {})[k] = agreement(pair, asked, whole.names, RESULTS).tolist()
    lines: list[Line] = [
        (f"{corpus} {kind} n={length}", line, prototype("query", f"{corpus} {kind} {length}"))
        for (corpus, kind, length), line in means.items()
    ]
    print_lines(
        f"Figure 4.6, F1 of the first {RESULTS} results: mean of 200 queries of n terms, random or a document's heaviest", ks, lines
    )
    lines = []
    for (corpus, length), found in six.items():
        lines += [(f"{corpus} q{q} n={length}", {k: found[k][q] for k in ks}, {}) for q in range(6)]
        lines.append((f"{corpus} mean n={length}", {k: float(np.mean(found[k])) for k in ks}, {}))
    print_lines(
        "Figure 4.6, F1 of the six queries of Table 4.2. One query says little, and how many results were compared is not said", ks, lines
    )
    for corpus in CORPORA:
        named = {f"{kind}, n={length}": means[corpus, kind, length] for kind in KINDS for length in LENGTHS}
        curves(out, f"figure_4_6_{corpus}", f"Figure 4.6: F1 of 200 queries, {NAMES[corpus]}", named)


def table_4_2(corpus: Corpus, length: int) -> Any:
    """q0 the commonest terms, q1 the rarest, q2 and q3 random ones, q4 the heaviest on average, q5 those of the heaviest weights.

    How common a term is, is counted in documents; equal ones are taken in alphabetical order.
    """
    matrix = space(corpus).matrix
    present = np.bincount(matrix.indices, minlength=matrix.shape[1])
    total = np.bincount(matrix.indices, matrix.data, matrix.shape[1])
    largest = np.zeros(matrix.shape[1])
    np.maximum.at(largest, matrix.indices, matrix.data)
    rng = rng_for(SEED, "table 4.2", corpus, length)
    drawn = [rng.choice(matrix.shape[1], length, replace=False) for _ in range(2)]
    ranked = [np.argsort(key, kind="stable")[:length] for key in (-present, present, -np.round(total, 9), -np.round(largest, 9))]
    queries = [*ranked[:2], *drawn, *ranked[2:]]
    columns = np.concatenate(queries)
    return sparse.csr_array((np.ones(len(columns)), columns, np.arange(0, len(columns) + 1, length)), shape=(6, matrix.shape[1]))
