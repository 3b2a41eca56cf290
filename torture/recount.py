"""What a written release keeps, counted by plain Python: it shares nothing with shoal's methods, kernels or checks.

A file is read by the csv module (or by Arrow, to lists); classes are a Counter of tuples; shares are Fractions.
"""

from __future__ import annotations

import csv
import datetime
import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

CLOSE_ENOUGH = 1e-9
Cells = dict[str, list[Any]]


def read_release(path: Path, delimiter: str, missing: str) -> Cells:
    """The cells of a file by column: text of a CSV, None where missing; what Parquet holds, lists as tuples."""
    if path.read_bytes()[:4] == b"PAR1":
        table = pq.read_table(path)
        return {name: [_held(value) for value in table.column(name).to_pylist()] for name in table.column_names}
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    assert all(len(row) == len(header) for row in rows), "a row has more or fewer cells than the header"
    gone = {"", missing}
    return {name: [None if row[i] in gone else row[i] for row in rows] for i, name in enumerate(header)}


def _held(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return None if value == "" or (isinstance(value, float) and math.isnan(value)) else value


# ---- promises -------------------------------------------------------------------------------------------------------------------------


def broken(what: str, value: float, found: float) -> bool:
    """Whether a number is not what was promised."""
    return found > value + CLOSE_ENOUGH if "closeness" in what else found < value - CLOSE_ENOUGH


def counted(
    what: str, columns: Sequence[str], about: str | None, ignores: Sequence[str], cells: Cells, persons: Sequence[Hashable] | None
) -> float:
    """The number behind a promise; `persons` where persons are counted, else None."""
    rows = len(next(iter(cells.values())))
    classes: dict[Any, list[int]] = defaultdict(list)
    for row in range(rows):
        classes[tuple(cells[column][row] for column in columns)].append(row)
    if what == "k-anonymity":
        return min(len(members) if persons is None else len({persons[row] for row in members}) for members in classes.values())
    assert about is not None
    if what in ("household-k", "person-k"):
        return _alike(columns, about, cells)
    values = cells[about]
    if what in ("l-diversity", "entropy-l-diversity"):
        known = {row for row in range(rows) if not _is_no_value(values[row], ignores)}
        inside = [[row for row in members if row in known] for members in classes.values()]
        one = _different if what == "l-diversity" else _effective
        return min(one(values, members, persons) for members in inside)
    whole = _shares(values, range(rows), persons)
    order = sorted(whole, key=_place)
    far = _moved if what == "ordered-t-closeness" else _apart
    return float(max(far(_shares(values, members, persons), whole, order) for members in classes.values()))


def _is_no_value(value: Any, ignores: Sequence[str]) -> bool:
    if value is None:
        return "" in ignores
    number = as_number(value)
    return str(value) in ignores or (number is not None and any(as_number(code) == number for code in ignores if code))


def _different(values: Sequence[Any], members: Sequence[int], persons: Sequence[Hashable] | None) -> int:
    """Different values; of persons, the most values that different persons can be given."""
    if persons is None:
        return len({values[row] for row in members})
    has: dict[Any, set[Hashable]] = defaultdict(set)
    for row in members:
        has[values[row]].add(persons[row])
    given: dict[Hashable, Any] = {}

    def place(value: Any, tried: set[Hashable]) -> bool:
        for person in has[value]:
            if person not in tried:
                tried.add(person)
                if person not in given or place(given[person], tried):
                    given[person] = value
                    return True
        return False

    return sum(place(value, set()) for value in list(has))


def _shares(values: Sequence[Any], members: Sequence[int], persons: Sequence[Hashable] | None) -> dict[Any, Fraction]:
    """The share of each value; every row weighs the same, or every person does."""
    rows_of = Counter(persons[row] for row in members) if persons is not None else Counter()
    total, shares = Fraction(len(rows_of) or len(members)), defaultdict(Fraction)
    for row in members:
        shares[values[row]] += Fraction(1, rows_of[persons[row]] if persons is not None else 1)
    return {value: share / total for value, share in shares.items()}


def _effective(values: Sequence[Any], members: Sequence[int], persons: Sequence[Hashable] | None) -> float:
    if not members:
        return 0.0
    return math.exp(-sum(float(share) * math.log(share) for share in _shares(values, members, persons).values()))


def _apart(inside: dict[Any, Fraction], whole: dict[Any, Fraction], order: Sequence[Any]) -> Fraction:
    return sum((abs(inside.get(value, Fraction(0)) - whole[value]) for value in order), Fraction(0)) / 2


def _moved(inside: dict[Any, Fraction], whole: dict[Any, Fraction], order: Sequence[Any]) -> Fraction:
    """Earth mover's distance, each step between neighbours the same."""
    carried, moved = Fraction(0), Fraction(0)
    for value in order[:-1]:
        carried += inside.get(value, Fraction(0)) - whole[value]
        moved += abs(carried)
    return moved / max(len(order) - 1, 1)


def _place(value: Any) -> tuple[int, Fraction, str]:
    """Numbers by size, then dates and texts, then missing."""
    if value is None:
        return 2, Fraction(0), ""
    number = as_number(value)
    return (0, number, "") if number is not None else (1, Fraction(0), str(value))


def _alike(columns: Sequence[str], about: str, cells: Cells) -> int:
    """The fewest groups that look like one whose number is there, over the columns and all that rows of a number share."""
    groups: dict[Any, list[int]] = defaultdict(list)
    for row, number in enumerate(cells[about]):
        if number is not None:
            groups[number].append(row)
    several = [members for members in groups.values() if len(members) > 1]
    shared = []
    for column, values in cells.items():
        mixed = sum(len({values[row] for row in members}) > 1 for members in several)
        if several and column not in (about, *columns) and 100 * mixed <= 5 * len(several):
            shared.append(column)
    looks = Counter(_look([*columns, *shared], members, cells) for members in groups.values())
    return min(looks.values(), default=10**9)


def _look(columns: Sequence[str], members: Sequence[int], cells: Cells) -> frozenset[tuple[Any, int]]:
    return frozenset(Counter(tuple(cells[column][row] for column in columns) for row in members).items())


# ---- cells ----------------------------------------------------------------------------------------------------------------------------

_INTERVAL = re.compile(r"\[([^\]]+?)\.\.([^\]]+)\]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_COUNT = re.compile(r"(?<!\\)((?:\\\\)*)\*[0-9]+$")


def covers(cell: Any, value: Any) -> bool:
    """Whether a released cell allows an original value (None: missing), as docs/cells.md has it."""
    if isinstance(cell, tuple):  # of Parquet
        return not cell or any(_element(part or "", value) for part in cell)
    if cell == "*":
        return True
    if cell is None:
        return value is None
    if not isinstance(cell, str):  # of Parquet, where nothing was generalized
        return same(cell, value)
    if cell.startswith("\\"):
        return same(cell[1:], value)
    if cell.startswith("{") and cell.endswith("}") and len(cell) > 1:
        return any(_element(part, value) for part in _split(cell[1:-1]))
    return _between(cell, value) or same(cell, value)


_HALF_OPEN = re.compile(r"\[([^,\]]+), ([^)]+)\)")
_PERIOD = re.compile(r"([0-9]{4})(?:-([0-9]{2})|-Q([1-4])|(s)|)")


def named(cell: Any, value: Any, rows: Sequence[Sequence[str]], levels: Sequence[str]) -> bool:
    """Whether a cell is the name of a group that holds a value: of a drawn tree, a half-open interval, a period, a masked code, neighbouring levels."""
    if not isinstance(cell, str) or value is None:
        return False
    if any(row[0] == value and cell in row[1:] for row in rows):
        return True
    if isinstance(value, datetime.date):
        found = _PERIOD.fullmatch(cell)
        if not found:
            return False
        year, month, quarter, decade = found.groups()
        same_year = value.year // 10 == int(year) // 10 if decade else value.year == int(year)
        return same_year and month in (None, f"{value.month:02}") and quarter in (None, str((value.month + 2) // 3))
    if (number := as_number(value)) is not None:
        if cell.startswith("below ") or cell.endswith(" and above"):
            end = as_number(cell.removeprefix("below ").removesuffix(" and above"))
            return end is not None and (number < end if cell.startswith("below ") else number >= end)
        found = _HALF_OPEN.fullmatch(cell)
        low, high = (as_number(found[1]), as_number(found[2])) if found else (None, None)
        if low is not None and high is not None:
            return low <= number < high
    first, _, last = cell.partition(" to ")
    place = {level: i for i, level in enumerate(levels)}
    if first in place and last in place:
        return place[first] <= place.get(str(value), -1) <= place[last]
    return bool(cell.rstrip("*")) and cell.endswith("*") and str(value).startswith(cell.rstrip("*"))


def _split(inside: str) -> list[str]:
    parts, at = [""], 0
    while at < len(inside):
        if inside[at] == "\\":
            parts[-1] += inside[at : at + 2]
            at += 2
            continue
        if inside[at] == "|":
            parts.append("")
        else:
            parts[-1] += inside[at]
        at += 1
    return parts


def _element(part: str, value: Any) -> bool:
    part = _COUNT.sub(r"\1", part)
    if not part:
        return value is None
    return _between(part, value) or same(re.sub(r"\\(.)", r"\1", part, flags=re.DOTALL), value)


def _between(text: str, value: Any) -> bool:
    found = _INTERVAL.fullmatch(text)
    if not found or value is None:
        return False
    if isinstance(value, datetime.date):
        return found[1][:10] <= value.isoformat() <= found[2][:10]
    number, low, high = as_number(value), as_number(found[1]), as_number(found[2])
    if number is None or low is None or high is None:
        return False
    return low <= number <= high or float(low) <= float(number) <= float(high)


def same(cell: Any, value: Any) -> bool:
    """Whether a cell of a file is the original value; a number may be written another way, blanks around a text are none."""
    if cell is None or value is None or value == "":
        return cell is None and (value is None or value == "")
    if isinstance(value, bool) or isinstance(cell, bool):
        return str(cell).lower() == str(value).lower()
    if isinstance(value, datetime.date):
        return str(cell)[:10] in (value.isoformat(), value.strftime("%d.%m.%Y"))
    if isinstance(value, int | float):
        number = as_number(cell)
        return number is not None and (number == as_number(value) or float(number) == float(value))
    return str(cell).strip() == str(value).strip()


def as_number(value: Any) -> Fraction | None:
    """A number, exactly as it is written."""
    if isinstance(value, bool | datetime.date):
        return None
    text = str(value).strip().replace(",", ".")
    return Fraction(text) if _NUMBER.fullmatch(text) else None
