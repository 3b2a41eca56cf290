"""Figure 4.5, and what growth, swaps and singular directions take off its SSE."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments.abril_2014_collections.corpora import CORPORA, KS, NAMES, PARTS, Corpus, Part, losses, plain
from experiments.abril_2014_collections.paper import Line, print_beside_text, print_lines, print_table, prototype, published, watched
from experiments.abril_2014_collections.plots import curves
from shoal.collections import Spherical

LIMITS: dict[Corpus, dict[int, float]] = {
    "R": {2: 0.93, 3: 0.90, 5: 0.88, 10: 0.85, 20: 0.83},
    "MR": {2: 0.945, 3: 0.93, 5: 0.93, 10: 0.93, 20: 0.93},
}


def variants(k: int) -> dict[str, Spherical]:
    """What may be done instead of plain MDAV, at the same k."""
    return {
        "grow": Spherical(k=k, partition="grow", swaps=0),
        "mdav, swaps": Spherical(k=k, partition="mdav"),
        "grow, swaps": Spherical(k=k, partition="grow"),
        "svd": Spherical(k=k, swaps=0),
        "svd, swaps": Spherical(k=k),
    }


def figure_4_5(ks: Sequence[int], out: Path | None) -> None:
    """Two measures of the same partitions, one table each: they are not to be compared with one another."""
    spherical: dict[tuple[Corpus, Part], dict[int, float]] = {(corpus, part): {} for corpus in CORPORA for part in PARTS}
    euclid: dict[tuple[Corpus, Part], dict[int, float]] = {key: {} for key in spherical}
    for key, k in watched([(key, k) for key in spherical for k in ks], "Figure 4.5"):
        by_cosine, by_euclid = losses(key[0], plain(k), key[1])
        spherical[key][k], euclid[key][k] = by_cosine.share or 0.0, by_euclid.share or 0.0
    for what, found, equation, letter in (("spherical", spherical, "4.12", "a"), ("Euclidean", euclid, "2.12", "b")):
        lines: list[Line] = [(" ".join(key), line, prototype(f"{what} loss", " ".join(key))) for key, line in found.items()]
        print_lines(f"Figure 4.5{letter}, information loss of ({equation})", ks, lines)
        every = [value for line in found.values() for value in line.values()]
        in_text = published("figure 4.5")
        items = [("least", min(every), in_text[what, "least"]), ("most", max(every), in_text[what, "most"])]
        print_beside_text(f"What the text says of Figure 4.5{letter}", items, 2)
        title = f"Figure 4.5{letter}: information loss of ({equation})"
        curves(out, f"figure_4_5{letter}", title, {" ".join(key): line for key, line in found.items()})
    _below_half(ks, {corpus: spherical[corpus, "all"] for corpus in CORPORA})
    print("The same partition under two measures: the difference between 4.5a and 4.5b is one of measures, and says nothing about methods.")
    print("(4.12) can fall while documents move away from their rows; SSE and its share of one single cluster's cannot.\n")
    for name in ("sse", "ssa"):
        lines = [(NAMES[c], {k: getattr(losses(c, plain(k))[0], name) for k in ks}, prototype(name, c)) for c in CORPORA]
        print_lines(f"{name.upper()} of (4.1{'0' if name == 'sse' else '1'}), everything", ks, lines, 1)
    lines = [(NAMES[c], {k: losses(c, plain(k))[0].normalised or 0.0 for k in ks}, prototype("normalised loss", c)) for c in CORPORA]
    print_lines("SSE as a share of what a single cluster would lose, everything", ks, lines)


def _below_half(ks: Sequence[int], found: dict[Corpus, dict[int, float]]) -> None:
    """The conclusions: less than 50 % for k below 10 (reviews) and 20 (Reuters)."""
    for corpus in CORPORA:
        limit = int(published("figure 4.5")[corpus, "k below .5"])
        highest = max(value for k, value in found[corpus].items() if k < limit)
        print(f"{NAMES[corpus]}: for k below {limit} the loss of (4.12) is at most {highest:.3f} (published: below .5).")


def refinement(ks: Sequence[int], out: Path | None) -> None:
    """SSE by that of plain MDAV, with clusters of the same sizes, k to 2k - 1."""
    jobs = [(corpus, k) for corpus in CORPORA for k in KS]
    ratios: dict[tuple[Corpus, str], dict[int, float]] = {}
    lost: dict[Corpus, dict[int, float]] = {corpus: {} for corpus in CORPORA}
    for corpus, k in watched(jobs, "growth and swaps"):
        before = losses(corpus, plain(k))[0].sse
        for name, method in variants(k).items():
            ratios.setdefault((corpus, name), {})[k] = losses(corpus, method)[0].sse / before
        lost[corpus][k] = losses(corpus, variants(k)["grow, swaps"])[0].share or 0.0
    lines = [(f"{corpus} {name}", line, prototype("sse ratio", f"{corpus} {name}")) for (corpus, name), line in ratios.items()]
    print_lines("SSE as a part of plain MDAV's", KS, lines)
    lines = [(NAMES[corpus], lost[corpus], prototype("spherical loss of growth and swaps", corpus)) for corpus in CORPORA]
    print_lines("Information loss of (4.12) with growth and swaps", KS, lines)
    rows: list[list[object]] = []
    for corpus in CORPORA:
        for name in ("grow, swaps", "svd, swaps"):
            line = ratios[corpus, name]
            met = [f"{line[k]:.3f} {'<=' if line[k] <= LIMITS[corpus][k] else '> MISSED'} {LIMITS[corpus][k]:g}" for k in KS]
            rows.append([f"{corpus} {name}", *met])
    print_table("Bars: growth and swaps; beside them the default, singular directions and swaps", ["", *(f"k={k}" for k in KS)], rows)
