"""Hierarchy: how the values of a column are grouped, and the groups grouped again, up to everything."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from shoal.arrays import IntArray
from shoal.errors import RoleError
from shoal.files import MISSING, read_rows


@dataclass(frozen=True)
class Hierarchy:
    """A tree, given by its rows: a value, then the group it belongs to, the group of that group, and so on, as many in every row.

    Rows are put in the order of the tree, so that what belongs together stands together: groups, and values inside them, in the order in
    which they first appear. A row for a missing value is left out, because missing is no value of any group.
    """

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        rows = [(number, tuple(str(cell).strip() for cell in row)) for number, row in enumerate(self.rows, 1)]
        rows = [(number, row) for number, row in rows if row and row[0] not in MISSING]
        _check(rows)
        seen: dict[tuple[int, str], int] = {}
        for _, row in rows:
            for level, name in enumerate(row):
                seen.setdefault((level, name), len(seen))
        ordered = sorted((row for _, row in rows), key=lambda row: [seen[level, row[level]] for level in reversed(range(len(row)))])
        object.__setattr__(self, "rows", tuple(ordered))

    @staticmethod
    def of(given: Any) -> Hierarchy:
        """From a Hierarchy, a file of rows without a header (CSV, as ARX writes them), or the rows themselves, as lists or as lines with ;."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, str | Path):
            return Hierarchy(tuple(tuple(row) for row in read_rows(given)))
        if isinstance(given, list | tuple) and all(isinstance(row, list | tuple | str) for row in given):
            return Hierarchy(tuple(_cells(row) if isinstance(row, str) else tuple(row) for row in given))
        raise RoleError("A hierarchy is the name of a CSV file, or rows of a value and its groups.")

    @property
    def lines(self) -> list[str]:
        """The rows as text, for a TOML file."""
        return [_line(row) for row in self.rows]

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of the tree."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {leaf: i for i, leaf in enumerate(self.leaves)}

    def places(self, values: Sequence[str | None]) -> IntArray:
        """Where each value stands among the leaves; -1 for missing and for what is no leaf."""
        return np.array([-1 if value is None else self._place.get(value, -1) for value in values], dtype=np.int64)

    @cached_property
    def _spans(self) -> list[tuple[IntArray, IntArray]]:
        """For each level, widest first, where the node over each leaf begins and where it stops."""
        size = len(self.rows)
        spans = [(np.zeros(size, np.int64), np.full(size, size))]
        for level in reversed(range(len(self.rows[0]))):
            first = np.array([i for i in range(size) if not i or self.rows[i][level:] != self.rows[i - 1][level:]])
            node = np.searchsorted(first, np.arange(size), "right") - 1
            spans.append((first[node], np.append(first[1:], size)[node]))
        return spans

    def covering(self, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
        """The smallest node over leaves low..high, as the leaves it begins with and stops before."""
        begin, stop = np.zeros_like(low), np.full_like(low, len(self.rows))
        for begins, stops in self._spans:
            covers = stops[low] > high
            begin, stop = np.where(covers, begins[low], begin), np.where(covers, stops[low], stop)
        return begin, stop


def _cells(line: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader([line], delimiter=";"), ()))
    except csv.Error:
        raise RoleError("A line of the hierarchy holds a line break. Put quotes around it.") from None


def _line(row: Sequence[str]) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=";").writerow(row)
    return file.getvalue().removesuffix("\r\n")


def _check(rows: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """As many cells in every row, each value once, each group inside one other, and no group inside itself."""
    if not rows:
        raise RoleError("A hierarchy needs at least one row: a value and its groups.")
    width = len(rows[0][1])
    leaves: set[str] = set()
    parent: dict[tuple[int, str], str] = {}
    below: set[tuple[str, str]] = set()
    for number, row in rows:
        if len(row) != width:
            raise RoleError(f"Row {number} of the hierarchy has {len(row)} cells, the first has {width}. Give every value as many groups.")
        if row[0] in leaves:
            raise RoleError(f"Row {number} of the hierarchy is for a value that an earlier row has. Keep one of them.")
        leaves.add(row[0])
        for level in range(1, width - 1):
            if parent.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
                raise RoleError(
                    f"Row {number} of the hierarchy puts a group of level {level} into another group than an earlier row does. Keep one of them."
                )
        pairs = {(row[i], row[j]) for i in range(width) for j in range(i + 1, width) if row[i] != row[j]}
        if any((wide, narrow) in below or (wide, narrow) in pairs for narrow, wide in pairs):
            raise RoleError(f"Row {number} of the hierarchy puts a group inside itself. Give the two levels different names.")
        below |= pairs
