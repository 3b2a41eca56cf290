"""Print ours, published and difference for Chapter 4 of Abril (2014): anonymous document collections."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from experiments.abril_2014_collections.classes import figures_4_7_to_4_9, partitions
from experiments.abril_2014_collections.corpora import KS, texts_of
from experiments.abril_2014_collections.losses import figure_4_5, refinement
from experiments.abril_2014_collections.meanings import table_4_8, tables_4_4_to_4_7
from experiments.abril_2014_collections.privacy import attacks
from experiments.abril_2014_collections.retrieval import figure_4_6
from experiments.abril_2014_collections.topics import figures_4_10_and_4_11
from experiments.abril_2014_collections.vectors import figure_4_1, figure_4_4, figures_4_2_and_4_3, table_4_1

PARTS: Mapping[str, Callable[[Sequence[int], Path | None], None]] = {
    "table-4.1": table_4_1,
    "figure-4.1": figure_4_1,
    "figure-4.2": figures_4_2_and_4_3,
    "figure-4.4": figure_4_4,
    "figure-4.5": figure_4_5,
    "refinement": refinement,
    "figure-4.6": figure_4_6,
    "figure-4.7": figures_4_7_to_4_9,
    "partitions": partitions,
    "figure-4.10": figures_4_10_and_4_11,
    "table-4.4": tables_4_4_to_4_7,
    "table-4.8": table_4_8,
    "attacks": attacks,
}


def main(words: Sequence[str] | None = None) -> None:
    """Everything, or the parts named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.abril_2014_collections", description=__doc__)
    says = "this part alone; may be given more than once. figure-4.2 has 4.3 with it, figure-4.7 4.8 and 4.9, figure-4.10 4.11, table-4.4 4.5 to 4.7"
    parser.add_argument("--part", choices=list(PARTS), action="append", help=says)
    parser.add_argument("--every-k", action="store_true", help=f"curves at every k from 2 to 20, as published, instead of {KS}")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="also draw the figures into this folder, as SVG")
    given = parser.parse_args(words)
    for corpus in ("R", "MR"):
        texts_of(corpus)  # if they are not there, say so now
    print("R: Reuters, R8 without trade; MR: movie reviews. Plain MDAV unless another partition is named.")
    print("Where the thesis has only a curve, ours is beside the project's prototype.\n")
    began = time.process_time()
    for name in given.part or PARTS:
        before = time.process_time()
        PARTS[name](range(2, 21) if given.every_k else KS, given.out)
        print(f"({name}: {time.process_time() - before:.0f} CPU seconds)\n", flush=True)
    print(f"All: {(time.process_time() - began) / 60:.1f} CPU minutes.")
