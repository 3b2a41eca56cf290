"""What the thesis prints, and how ours is printed beside it."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import experiments.abril_2014

T = TypeVar("T")


@cache
def published(table: str) -> Mapping[tuple[str, str], float]:
    """By (row, column) as in published.csv."""
    with (Path(__file__).parent / "published.csv").open() as file:
        return {(row["row"], row["column"]): float(row["value"]) for row in csv.DictReader(file) if row["table"] == table}


@cache
def published_am(table: str) -> Mapping[tuple[str, str], float]:
    """The d²AM column of Tables 5.5 to 5.8, by (method, parameter), which `experiments.abril_2014` holds."""
    assert experiments.abril_2014.__file__
    with (Path(experiments.abril_2014.__file__).parent / "published.csv").open() as file:
        return {(row["method"], row["parameter"]): float(row["mean"]) for row in csv.DictReader(file) if row["table"] == table}


def watched(work: Sequence[T], title: str) -> Iterator[T]:
    """The items of some work, with a bar on the screen while it lasts."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        yield from bar.track(work, description=title)


def spread(values: Iterable[float], divisor: int = 1) -> tuple[float, float]:
    """Mean and deviation over samples; one sample has none."""
    all_of = np.array(list(values))
    return float(all_of.mean()), float(all_of.std(ddof=divisor)) if len(all_of) > divisor else 0.0


def with_spread(values: Iterable[float], digits: int = 1) -> str:
    """Mean ± deviation."""
    mean, deviation = spread(values)
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"


def beside(ours: float, theirs: float | None, digits: int = 2) -> list[str]:
    """Published, and difference."""
    return ["-", ""] if theirs is None else [f"{theirs:.{digits}f}", f"{ours - theirs:+.{digits}f}"]


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], digits: int = 2) -> None:
    """An aligned table: words to the left, numbers to the right."""
    text = [[f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *text)]
    print(title)
    for line in (heads, ["-" * w for w in widths], *text):
        print("  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:]))]).rstrip())
    print(flush=True)
