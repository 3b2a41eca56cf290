"""Print ours, published and difference for Tables 5.5 to 5.8 and 5.11 to 5.20 and Figures 5.8 and 5.9 of Abril (2014): learned distances."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from experiments.abril_2014.readings import SAMPLES, census
from experiments.abril_2014_linkage.attributes import figure, fuzzy_measure, table_5_15, table_5_16, table_5_20
from experiments.abril_2014_linkage.distances import compile_kernels
from experiments.abril_2014_linkage.intruder import table_5_14
from experiments.abril_2014_linkage.nonuniform import table_5_11, table_5_12, table_5_13, table_5_17
from experiments.abril_2014_linkage.uniform import by_parameter, table_5_5

SECONDS = 10.0


def main(words: Sequence[str] | None = None) -> None:
    """Everything, or the tables named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.abril_2014_linkage", description=__doc__)
    parser.add_argument("--table", choices=list(TABLES), action="append", help="this table or figure alone; may be given more than once")
    parser.add_argument("--samples", type=_positive, default=SAMPLES, help=f"samples of records, {SAMPLES} by default")
    says = "time limit of an exact run, by the clock; Tables 5.5 to 5.8 take a tenth of it, Table 5.14 three tenths"
    parser.add_argument("--seconds", type=float, default=SECONDS, help=says)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="draw the figures into this folder, as SVG")
    given = parser.parse_args(words)
    census()  # if it is not there, say so now
    compile_kernels()
    print(f"{given.samples} samples; strict: a tie is a failure; shared: a tie among m counts 1/m, as breaking ties at random does.\n")
    began = time.process_time()
    for name in given.table or TABLES:
        before = time.process_time()
        if name.startswith("figure"):
            figure(name.removeprefix("figure-"), given.samples, given.seconds, given.out)
        else:
            TABLES[name](given.samples, given.seconds)
        print(f"({name}: {time.process_time() - before:.0f} CPU seconds)\n", flush=True)
    print(f"All: {(time.process_time() - began) / 60:.1f} CPU minutes.")


def _positive(word: str) -> int:
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError("give 1 or more")
    return number


TABLES: Mapping[str, Callable[[int, float], None]] = {
    "5.5": table_5_5,
    **{number: partial(by_parameter, number) for number in ("5.6", "5.7", "5.8")},
    "5.11": table_5_11,
    "5.12": table_5_12,
    "5.13": table_5_13,
    "5.14": table_5_14,
    "5.15": table_5_15,
    "5.16": table_5_16,
    "5.17": table_5_17,
    "5.18": partial(fuzzy_measure, "5.18"),
    "figure-5.8": partial(figure, "5.8", out=None),
    "5.19": partial(fuzzy_measure, "5.19"),
    "figure-5.9": partial(figure, "5.9", out=None),
    "5.20": table_5_20,
}
