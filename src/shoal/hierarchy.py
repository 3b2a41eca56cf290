"""Hierarchy: how the values of a column are grouped, and the groups grouped again, up to everything."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal import cell
from shoal.arrays import FloatArray, IntArray
from shoal.csv_cells import MISSING
from shoal.errors import RoleError
from shoal.files import read_rows
from shoal.hierarchy_rules import is_rule, parse_rule

MOST_VALUES = 30  # numbers that a cell lists one by one; more of them are an interval
CATCH_ALL = ", else "  # before the name of the group that takes in whatever has no row
EVERYTHING = "*"
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"([\[(]?)\s*{_NUMBER}\s*(?:-|–|\.\.|to|,)\s*{_NUMBER}\s*([\])]?)")  # people write a dash, too


class Level(NamedTuple):
    """A level of a tree: which node is over each value, what nodes are called, and the values each begins with (and, last, how many there are)."""

    node: IntArray
    names: tuple[str, ...]
    starts: IntArray


@dataclass(frozen=True)
class Hierarchy:
    """A tree, given by its rows: a value, then the group it belongs to, the group of that group, and so on, as many in every row.

    Rows are put in the order of the tree, so that what belongs together stands together: groups, and values inside them, in the order in
    which they first appear. A row for a missing value is left out, because missing is no value of any group; so is one for a text that a CSV
    would read as missing (NA), until a column has that text as a value (`grown`).

    A tree can also be given by a rule, which has no rows until the values of a column are known (`grown`), and it may name a group for
    whatever has no row (`other`).
    """

    rows: tuple[tuple[str, ...], ...]
    rule: str = ""
    other: str = ""
    origin: Literal["given", "suggested"] = "given"  # by whoever gave the roles, or by shoal, from the values
    cells: Mapping[str, str] = field(default_factory=dict, compare=False)  # of groups that a rule made: the cell that says the same
    caught: tuple[str, ...] = field(default=(), compare=False)  # values that had no row of their own, and are in the group for all others
    intervals: bool = field(default=True, compare=False)  # whether they can say what a group holds: of numbers and dates, not of codes
    texts: frozenset[str] = field(default=frozenset(), compare=False)  # values of the column, also where they would read as missing
    aside: tuple[tuple[str, ...], ...] = field(default=(), compare=False)  # rows for what reads as missing

    def __post_init__(self) -> None:
        rows = [(number, tuple(map(str, row))) for number, row in enumerate(self.rows, 1)]
        gone = {"", *MISSING} - self.texts
        object.__setattr__(self, "aside", (*self.aside, *(row for _, row in rows if row and row[0] in gone)))
        rows = [(number, row) for number, row in rows if row and row[0] not in gone]
        if self.other:
            _check_name(self.other, "The group for all other values")
        if self.rule and not rows:
            object.__setattr__(self, "rows", ())
            parse_rule(self.rule)
            return
        _check(rows)
        seen: dict[tuple[int, str], int] = {}
        for _, row in rows:
            for level, name in enumerate(row):
                seen.setdefault((level, name), len(seen))
        ordered = sorted((row for _, row in rows), key=lambda row: [seen[level, row[level]] for level in reversed(range(len(row)))])
        object.__setattr__(self, "rows", tuple(ordered))

    @staticmethod
    def of(given: Any, folder: Path = Path()) -> Hierarchy:
        """From a Hierarchy, a rule in one line (`shoal.hierarchy_rules`), the name of a file of rows without a header (CSV, as ARX writes them),
        or the rows themselves, as lists or as lines with ;. After a rule or a file may stand ", else" and the name of a group for all other values."""
        if isinstance(given, Hierarchy):
            return given
        if isinstance(given, Path):
            return Hierarchy(_stripped(read_rows(folder / given)))
        if isinstance(given, str):
            said, _, other = given.partition(CATCH_ALL)
            if is_rule(said):
                return Hierarchy((), parse_rule(said).text, other.strip())
            return Hierarchy(_stripped(read_rows(folder / said)), other=other.strip())
        if (
            isinstance(given, Mapping)
            and isinstance(given.get("rows"), list | tuple)
            and isinstance(given.get("other"), str)
            and len(given) == 2
        ):
            return replace(Hierarchy.of(given["rows"]), other=given["other"])
        if isinstance(given, list | tuple) and all(isinstance(row, list | tuple | str) for row in given):
            return Hierarchy(_stripped([_cells(row) if isinstance(row, str) else row for row in given]))
        raise RoleError("A hierarchy is the name of a CSV file, a rule such as 'width 5, then 10, 20', or rows of a value and its groups.")

    @property
    def lines(self) -> list[str]:
        """The rows as text, for a TOML file."""
        return [_line(row) for row in (*self.rows, *self.aside)]

    @property
    def plain(self) -> Any:
        """As it stands in a TOML file: the rule, or the rows."""
        if self.rule:
            return f"{self.rule}{CATCH_ALL}{self.other}" if self.other else self.rule
        return {"rows": self.lines, "other": self.other} if self.other else self.lines

    @cached_property
    def names(self) -> frozenset[str]:
        """What its groups are called."""
        return frozenset(name for row in self.rows for name in row[1:])

    def grown(self, values: Sequence[str | None], levels: Sequence[str] = ()) -> Hierarchy:
        """The tree over the values of a column, given in their order: what the rule makes of each; and, where there is a group for all others, what
        has no row in it. Values without groups stay without a row. `levels` are all that there could be, from the lowest to the highest: a rule
        groups neighbours among them, whether or not a row has them."""
        known = [value for value in values if value is not None]
        real = frozenset(known) & {*MISSING} - {""}
        rows, cells = _as_in(known, (*self.rows, *(row for row in self.aside if row[0] in real))), dict(self.cells)
        if self.rule:
            every = [*levels, *(value for value in known if value not in levels)] if levels else known
            made = parse_rule(self.rule).grow(every)
            of_each = dict(zip(every, made.groups))
            rows = [(value, *groups) for value in known if (groups := of_each[value]) is not None]
            cells = dict(made.cells) if self.intervals else {}
        there = {row[0] for row in rows}
        outside = [value for value in known if value not in there] if self.other else []
        depth = len(rows[0]) if rows else 2
        top = {row[-1] for row in rows}
        closed = len(top) == 1 and depth > 1 and not self.rule  # the last column is one group over everything
        rows += [(value, *[self.other] * (depth - 1 - closed), *(top if closed else ())) for value in outside]
        if not rows:
            return self
        aside = tuple(row for row in self.aside if row[0] not in real)
        return replace(self, rows=tuple(rows), cells=cells, caught=(*self.caught, *outside), texts=real, aside=aside)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The values, in the order of the tree."""
        return tuple(row[0] for row in self.rows)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """From the values themselves up to one node over everything, which is added where the last column has several, or is that of the values."""
        rows, depth = self.rows, len(self.rows[0])
        found = []
        for level in range(depth):
            first = [i for i in range(len(rows)) if not i or rows[i][level:] != rows[i - 1][level:]]
            node = np.searchsorted(first, np.arange(len(rows)), "right") - 1
            found.append(Level(node, tuple(rows[i][level] for i in first), np.array([*first, len(rows)])))
        if len(found[-1].names) > 1 or depth == 1:  # one value alone is not everything: missing is beside it
            found.append(Level(np.zeros(len(rows), np.int64), (EVERYTHING,), np.array([0, len(rows)])))
        return tuple(found)

    def name_of(self, begin: int, stop: int) -> str:
        """What the narrowest group of just these values is called."""
        for here in self.levels:
            node = int(here.node[begin])
            if here.starts[node] == begin and here.starts[node + 1] == stop:
                return here.names[node]
        raise ValueError("These values are no node of the tree.")

    def cells_at(self, level: int) -> list[str | None]:
        """What each node of a level says, in the notation of cell.py: its values, or the interval they are; everything is *."""
        here = self.levels[level]
        if level == len(self.levels) - 1 > 0:
            return [cell.SUPPRESSED]
        ends = zip(here.starts.tolist(), here.starts[1:].tolist())
        return [self._cell(begin, stop, name if level else "") for (begin, stop), name in zip(ends, here.names)]

    def cell_over(self, begin: int, stop: int) -> str | None:
        """What the narrowest node of just these values says."""
        if 1 < len(self.rows) == stop - begin:
            return cell.SUPPRESSED
        return self._cell(begin, stop, self.name_of(begin, stop) if stop - begin > 1 else "")

    def _cell(self, begin: int, stop: int, name: str) -> str | None:
        if name in self.cells:
            return self.cells[name]
        if stop - begin > (1 if self._are_dates else MOST_VALUES) and self._numbers is not None:
            first, last = begin + int(np.argmin(self._numbers[begin:stop])), begin + int(np.argmax(self._numbers[begin:stop]))
            low, high = np.searchsorted(self._sorted, self._numbers[[first, last]])
            if high - low + 1 == stop - begin:  # no other value between them
                return f"[{self.leaves[first]}..{self.leaves[last]}]"
        return cell.write_set(self.leaves[begin:stop])

    @cached_property
    def _numbers(self) -> FloatArray | None:
        """The values as numbers or dates, where they all are."""
        if not self.intervals:
            return None
        numbers = [cell.to_number(leaf) for leaf in self.leaves]
        return None if None in numbers else np.array(numbers, np.float64)

    @cached_property
    def misnamed(self) -> dict[str, tuple[str, ...]]:
        """Groups named after a range of numbers, such as 15-19, that hold values outside it, such as 20: whoever reads the name is misled."""
        found: dict[str, list[str]] = {}
        if self.rule or self._numbers is None:
            return {}
        for row, value in zip(self.rows, self._numbers.tolist()):
            for name in row[1:]:
                said = _RANGE.fullmatch(name)
                if not said or float(said[2]) >= float(said[3]):
                    continue
                low, high = float(said[2]), float(said[3])
                if value < low or value > high or (value == low and said[1] == "(") or (value == high and said[4] == ")"):
                    found.setdefault(name, []).append(row[0])
        return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}

    @cached_property
    def _are_dates(self) -> bool:
        """Of which no cell is a list, where an interval says the same."""
        return self._numbers is not None and all(leaf[4:5] == "-" and leaf[7:8] == "-" for leaf in self.leaves)

    @cached_property
    def _sorted(self) -> FloatArray:
        assert self._numbers is not None
        return np.sort(self._numbers)

    def tells(self, name: str) -> bool:
        """Whether what a group holds may be told: of a rule that says it, or of a tree that was given, and is no list of a table's values."""
        return name in self.cells if self.rule else name != self.other

    def cell_of(self, name: str) -> str | None:
        """The cell that the narrowest group of a name stands for."""
        for level, here in enumerate(self.levels):
            if level and name in here.names:
                return self.cells_at(level)[here.names.index(name)]
        return None

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
        if not self.rows:  # a rule over a column of nothing but missing
            return begin, stop
        for begins, stops in self._spans:
            covers = stops[low] > high
            begin, stop = np.where(covers, begins[low], begin), np.where(covers, stops[low], stop)
        return begin, stop


def _stripped(rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], ...]:
    """Rows as people write them: blanks around a cell are none of it."""
    return tuple(tuple(str(one).strip() for one in row) for row in rows)


def _as_in(values: Sequence[str], rows: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The rows, each for the value as the column has it: with blanks around it, where there is no value without."""
    there = set(values)
    padded: dict[str, list[str]] = {}
    for value in values:
        padded.setdefault(value.strip(), []).append(value)
    return [(alike[0], *row[1:]) if row[0] not in there and len(alike := padded.get(row[0], [])) == 1 else row for row in rows]


def _cells(line: str) -> tuple[str, ...]:
    try:
        return tuple(next(csv.reader([line], delimiter=";"), ()))
    except csv.Error:
        raise RoleError("A line of the hierarchy holds a line break. Put quotes around it.") from None


def _line(row: Sequence[str]) -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=";").writerow(row)
    return file.getvalue().removesuffix("\r\n")


def _check_name(name: str, what: str) -> None:
    """A group is released under its name: that must not say something else where it stands."""
    if name != EVERYTHING and (name.startswith(("\\", "*")) or (name.startswith("{") and name.endswith("}")) or _reads_as_interval(name)):
        raise RoleError(f"{what} has a name that reads as a set, an interval or a suppressed cell. Give it another name.")
    if name and name in MISSING:
        raise RoleError(f"{what} has a name that reads as missing. Give it another name.")


def _reads_as_interval(name: str) -> bool:
    return name.startswith("[") and ".." in name and name.endswith("]")


def _check(rows: Sequence[tuple[int, tuple[str, ...]]]) -> None:
    """As many cells in every row, each value once, each group inside one other, and no group inside itself; and names that can be released."""
    if not rows:
        raise RoleError("A hierarchy needs at least one row: a value and its groups.")
    width = len(rows[0][1])
    leaves: dict[str, int] = {}
    parent: dict[tuple[int, str], tuple[str, int]] = {}
    below: set[tuple[str, str]] = set()
    named: set[str] = set()
    for number, row in rows:
        if len(row) != width:
            raise RoleError(f"Row {number} of the hierarchy has {len(row)} cells, the first has {width}. Give every value as many groups.")
        if row[0] in leaves:
            raise RoleError(f"Row {number} of the hierarchy is for a value that row {leaves[row[0]]} has, too. Keep one of them.")
        leaves[row[0]] = number
        for level in range(1, width):
            if row[level] not in named:
                _check_name(row[level], f"Row {number} of the hierarchy: the group of level {level}")
                named.add(row[level])
            if level == width - 1:
                continue
            above, first = parent.setdefault((level, row[level]), (row[level + 1], number))
            if above != row[level + 1]:
                raise RoleError(
                    f"Row {number} of the hierarchy puts a group of level {level} into another group than an earlier row does: the group "
                    f"'{row[level]}' is in '{row[level + 1]}' there and in '{above}' in row {first}. Keep one of them."
                )
        pairs = {(row[i], row[j]) for i in range(width) for j in range(i + 1, width) if row[i] != row[j]}
        if any((wide, narrow) in below or (wide, narrow) in pairs for narrow, wide in pairs):
            raise RoleError(f"Row {number} of the hierarchy puts a group inside itself. Give the two levels different names.")
        if EVERYTHING in row[1:-1]:
            raise RoleError(f"Row {number} of the hierarchy has * before its last level: it means everything, and so belongs there alone.")
        below |= pairs
    _check_names_of_values(rows, leaves)


def _check_names_of_values(rows: Sequence[tuple[int, tuple[str, ...]]], leaves: Mapping[str, int]) -> None:
    """A group may be called like a value in it, but not like another: its records would be read as having that."""
    of_row = dict(rows)
    for number, row in rows:
        for level, name in enumerate(row[1:], 1):
            if name in leaves and of_row[leaves[name]][level] != name:
                raise RoleError(
                    f"Row {number} of the hierarchy: the group of level {level} has the name of the value in row {leaves[name]}, which is not in it, "
                    "and would be read as that value. Give it another name."
                )
