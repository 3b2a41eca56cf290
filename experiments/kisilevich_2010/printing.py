"""What is on paper: tables as they are printed, and the published figures."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent


def published() -> list[dict[str, str]]:
    """The rows of published.csv."""
    with (HERE / "published.csv").open() as file:
        return list(csv.DictReader(file))


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[object]], digits: int) -> None:
    """An aligned table: words to the left, numbers to the right."""
    text = [[f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *text)]
    words = [all(isinstance(row[j], str) for row in rows) for j in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        return "  ".join(c.ljust(w) if word else c.rjust(w) for c, w, word in zip(cells, widths, words)).rstrip()

    print(" " * 110, end="\r", file=sys.stderr, flush=True)
    print(title)
    print(line(heads))
    print("  ".join("-" * w for w in widths))
    print("\n".join(line(row) for row in text) + "\n", flush=True)
