"""The six data sets of the paper's Table 1, and the readings of them that its figures suggest."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from experiments.data import data_path
from shoal import Roles, Table

CLASS = "class"
# name: file, separator, rows before the first record, columns left out, column of the class
FILES: dict[str, tuple[tuple[str, ...], str | None, int, tuple[int, ...], int]] = {
    "Ecoli": (("uci", "ecoli", "ecoli.data"), None, 0, (0,), 8),
    "Electrical": (("uci", "electrical-grid", "Data_for_UCI_named.csv"), ",", 1, (12,), 13),
    "Glass": (("uci", "glass", "glass.data"), ",", 0, (0,), 10),
    "Page blocks": (("uci", "page-blocks", "page-blocks.data"), None, 0, (), 10),
    "Waveform": (("uci", "waveform", "waveform.data"), ",", 0, (), 21),
    "Yeast": (("uci", "yeast", "yeast.data"), None, 0, (0,), 9),
}
# What the paper's figures suggest it did: the number of the record as an attribute of Glass, whose rows are sorted by class; the
# stability that the class of Electrical is the sign of as one of its attributes; the commonest class of Yeast against the rest.
VARIANTS = {"Electrical with stab": "Electrical", "Glass with Id": "Glass", "Yeast, MIT or not": "Yeast"}


@dataclass(frozen=True)
class Data:
    """A table of numbers with a class; every number is a quasi-identifier."""

    name: str
    table: Table = field(repr=False, compare=False)
    roles: Roles = field(repr=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The numbers."""
        return self.roles.quasi


@cache
def data(name: str) -> Data:
    """A set of Table 1, or one of the variants of it."""
    plain = VARIANTS.get(name, name)
    parts, separator, skipped, left_out, target = FILES[plain]
    if name in ("Electrical with stab", "Glass with Id"):
        left_out = ()
    lines = data_path(*parts).read_text().splitlines()[skipped:]
    rows: list[Sequence[str]] = [line.split() if separator is None else line.split(separator) for line in lines if line.strip()]
    classes = [row[target].strip() for row in rows]
    if name == "Yeast, MIT or not":
        classes = [one if one == "MIT" else "other" for one in classes]
    used = [j for j in range(len(rows[0])) if j not in left_out and j != target]
    table = Table.of({**{f"A{j + 1}": [float(row[j]) for row in rows] for j in used}, CLASS: [f"class {one}" for one in classes]})
    return Data(name, table, Roles(quasi=tuple(f"A{j + 1}" for j in used), other=(CLASS,), target=CLASS).check(table))


def published(table: str) -> dict[tuple[str, str], float]:
    """(method, data set) -> the paper's figure."""
    from pathlib import Path

    with (Path(__file__).parent / "published.csv").open(encoding="utf-8") as file:
        return {(row["method"], row["data"]): float(row["value"]) for row in csv.DictReader(file) if row["table"] == table}
