"""Table 4.1 and Figures 4.1 to 4.4: the vector spaces, and how protection changes distances and words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from experiments.abril_2014_collections.corpora import (
    CORPORA,
    NAMES,
    PARTS,
    SEED,
    Corpus,
    balance,
    own_space,
    plain,
    release,
    space,
)
from experiments.abril_2014_collections.paper import (
    beside,
    print_beside_text,
    print_lines,
    print_table,
    prototype,
    prototype_cell,
    published,
    watched,
)
from experiments.abril_2014_collections.plots import bars, curves
from shoal.collections.measures import Distances, Words
from shoal.randomness import rng_for

TENTHS = ("0-.1", *(f".{i}-.{i + 1}" for i in range(1, 9)), ".9-1", "1")
SHOWN = (2, 3, 10, 20)  # Figure 4.4


def table_4_1(ks: Sequence[int], out: Path | None) -> None:
    """Documents, words, words per document, classes, balance; every part with a vocabulary of its own."""
    rows: list[list[object]] = []
    for corpus in CORPORA:
        for part in watched(PARTS, "Table 4.1"):
            made, name = own_space(corpus, part), f"{corpus} {part}"
            labels = made.labels or ()
            ours = (len(made), len(made.terms), made.matrix.nnz / len(made), len(set(labels)), balance(labels))
            for what, value in zip(("N", "d", "Avg(d_nz)", "K", "Balance"), ours):
                digits = {"Avg(d_nz)": 1, "Balance": 4}.get(what, 0)
                found = prototype_cell("4.1", name, what)
                rows.append(
                    [
                        name if what == "N" else "",
                        what,
                        f"{value:.{digits}f}",
                        *beside(value, published("4.1")[name, what], digits),
                        "" if found is None else f"{found:.{digits}f}",
                    ]
                )
    print_table("Table 4.1, the vector spaces", ["", "", "ours", "published", "difference", "prototype"], rows)
    print("The parts of the reviews are drawn: 1,420 and 580, as published. Which ones the thesis drew is not known.\n")


@cache
def shares(corpus: Corpus, k: int) -> tuple[list[float], list[float]]:
    """All pairs by tenths of the distance, before and after."""
    whole = space(corpus)
    measure = Distances(documents=len(whole))
    details: Any = measure.measure(whole, release(corpus, plain(k)), rng_for(SEED, "distances")).details
    return details["shares_before"], details["shares"]


def figure_4_1(ks: Sequence[int], out: Path | None) -> None:
    """Distances between the originals."""
    before = {corpus: shares(corpus, SHOWN[0])[0] for corpus in watched(CORPORA, "Figure 4.1")}
    _histogram("Figure 4.1, pairs by cosine distance", before)
    in_text = published("figure 4.1")
    found = {
        ("R", "from .9 to 1"): before["R"][9],
        ("R", "1"): before["R"][10],
        ("R", "last two"): sum(before["R"][9:]),
        ("MR", "last two"): sum(before["MR"][9:]),
    }
    print_beside_text("What the text says of Figure 4.1", [(f"{NAMES[key[0]]}, {key[1]}", found[key], in_text[key]) for key in in_text])
    bars(out, "figure_4_1", "Figure 4.1: pairs by cosine distance", TENTHS, {NAMES[c]: before[c] for c in CORPORA})


def figure_4_4(ks: Sequence[int], out: Path | None) -> None:
    """Distances between released rows; rows of one cluster are at distance 0."""
    for corpus, k in watched([(corpus, k) for corpus in CORPORA for k in SHOWN], "Figure 4.4"):
        shares(corpus, k)
    for k in SHOWN:
        after = {corpus: shares(corpus, k)[1] for corpus in CORPORA}
        _histogram(f"Figure 4.4, pairs by cosine distance, k={k}", after)
        bars(out, f"figure_4_4_k{k}", f"Figure 4.4: pairs by cosine distance, k={k}", TENTHS, {NAMES[c]: after[c] for c in CORPORA})
    print_beside_text(
        "What the text says of Figure 4.4", [("Reuters, 1, k=3", shares("R", 3)[1][10], published("figure 4.4")["R", "1 at k=3"])]
    )


def _histogram(title: str, found: dict[Corpus, list[float]]) -> None:
    print_table(title, ["", *TENTHS], [[NAMES[corpus], *(f"{share:.4f}" for share in found[corpus])] for corpus in CORPORA])


def figures_4_2_and_4_3(ks: Sequence[int], out: Path | None) -> None:
    """Words of a row, and how heavy they are."""
    words: dict[Corpus, dict[int, float]] = {corpus: {} for corpus in CORPORA}
    weights: dict[Corpus, dict[int, float]] = {corpus: {} for corpus in CORPORA}
    density = {}
    for corpus, k in watched([(corpus, k) for corpus in CORPORA for k in ks], "Figures 4.2 and 4.3"):
        score = Words().measure(space(corpus), release(corpus, plain(k)), rng_for(SEED, "words"))
        details: Any = score.details
        assert score.value is not None
        words[corpus] |= {1: details["before"], k: score.value}
        weights[corpus] |= {1: details["mean_weight_before"], k: details["mean_weight"]}
        density[corpus] = details["density"]
    lines = [(NAMES[corpus], words[corpus], prototype("words", corpus)) for corpus in CORPORA]
    print_lines("Figure 4.2, words with a weight in a row", (1, *ks), lines, 1)
    lines = [(NAMES[corpus], weights[corpus], prototype("weight", corpus)) for corpus in CORPORA]
    print_lines("Figure 4.3, mean weight of the words of a row", (1, *ks), lines, 4)
    in_text = published("figure 4.2")
    items = [
        (f"{NAMES[corpus]}, share of all words, k={ks[-1]}", density[corpus], in_text[corpus, "density at k=20"]) for corpus in CORPORA
    ]
    print_beside_text("What the text says of Figure 4.2: 'increases about 5 % and 16 %', which is the density reached", items)
    for corpus in CORPORA:
        curves(out, f"figure_4_2_{corpus}", f"Figure 4.2: words of a row, {NAMES[corpus]}", {"words": words[corpus]})
    curves(out, "figure_4_3", "Figure 4.3: mean weight of a word", {NAMES[corpus]: weights[corpus] for corpus in CORPORA})
