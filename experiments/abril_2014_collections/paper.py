"""What the thesis prints, what the prototype found, and how ours is printed beside them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from experiments.abril_2014_linkage.paper import beside, print_table, watched

__all__ = ["Line", "beside", "print_beside_text", "print_lines", "print_table", "prototype", "published", "watched"]
Line = tuple[str, Mapping[int, float], Mapping[int, float]]  # what, ours by k, the prototype's by k


@cache
def _read(file: str) -> dict[str, dict[tuple[str, str], float]]:
    tables: dict[str, dict[tuple[str, str], float]] = {}
    with (Path(__file__).parent / file).open() as lines:
        for row in csv.DictReader(lines):
            tables.setdefault(row["table"], {})[row["row"], row["column"]] = float(row["value"])
    return tables


def published(table: str) -> Mapping[tuple[str, str], float]:
    """By (row, column): what the thesis prints, in a table or in words."""
    return _read("published.csv")[table]


def prototype(table: str, row: str) -> Mapping[int, float]:
    """By k: the earlier figures of the project's specification, for curves of which the thesis prints no number."""
    return {
        int(column): value for (name, column), value in _read("prototype.csv").get(table, {}).items() if name == row and column.isdigit()
    }


def prototype_cell(table: str, row: str, column: str) -> float | None:
    """One of them."""
    return _read("prototype.csv").get(table, {}).get((row, column))


def print_lines(title: str, ks: Sequence[int], lines: Sequence[Line], digits: int = 3) -> None:
    """A table by k: ours, the prototype's where there is one, and the difference."""
    rows: list[list[object]] = []
    for what, ours, theirs in lines:
        rows.append([what, "ours", *(_cell(ours.get(k), digits) for k in ks)])
        if theirs:
            rows.append(["", "prototype", *(_cell(theirs.get(k), digits) for k in ks)])
            gaps = [ours[k] - theirs[k] if k in ours and k in theirs else None for k in ks]
            rows.append(["", "difference", *(_cell(gap, digits, "+") for gap in gaps)])
    print_table(title, ["", "", *(f"k={k}" if k > 1 else "original" for k in ks)], rows)


def print_beside_text(title: str, items: Sequence[tuple[str, float, float]], digits: int = 3) -> None:
    """Single figures: what, ours, published."""
    rows = [[what, f"{ours:.{digits}f}", *beside(ours, theirs, digits)] for what, ours, theirs in items]
    print_table(title, ["", "ours", "published", "difference"], rows)


def _cell(value: float | None, digits: int, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.{digits}f}"
