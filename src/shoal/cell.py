"""What a released cell can be: a value, a set of values, an interval, or suppressed. One notation everywhere.

    Blue              the value itself
    {Blue|Yellow}     one of these
    {Blue*3|Yellow}   one of these; in the group it was released for, Blue three times and Yellow once
    [18..25]          a number (or date) from 18 to 25, both included; also inside a set: {0*9|[18..25]*3}
    *                 suppressed: any value of the column

A missing value is empty, alone or inside a set ({|Blue}), and so is a text of no characters. A value that would read as one of the above is
written behind a backslash, and so is a \\, |, * or } that belongs to a value inside a set.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray
from shoal.table import Table

SUPPRESSED = "*"
_INTERVAL = re.compile(r"\[(-?[0-9.eE+:T -]+?)\.\.(-?[0-9.eE+:T -]+)\]")
_EPOCH = datetime.datetime(1970, 1, 1)
_SPECIAL = re.compile(r"([\\|*}]|^\[)")
_ELEMENT = re.compile(r"((?:\\.|[^\\*])*)(?:\*([1-9][0-9]*))?", re.DOTALL)


class Cell(NamedTuple):
    """A parsed cell. Values are text, None for missing; an interval has numbers for its ends."""

    values: tuple[str | None, ...] = ()
    counts: tuple[int, ...] = ()
    interval: tuple[float, float] | None = None
    within: tuple[tuple[float, float] | None, ...] = ()  # of a set: the ends of those elements that are intervals
    text: str = ""  # of an interval: how it was written

    @property
    def suppressed(self) -> bool:
        """Nothing is said."""
        return not self.values and self.interval is None

    @property
    def single(self) -> bool:
        """A plain value."""
        return len(self.values) == 1


def write_set(values: Sequence[str | None], counts: Sequence[int] | None = None) -> str | None:
    """A set in the notation; of one value, the value itself."""
    if len(values) == 1:
        return write_value(values[0])
    return write_parts([write_element(value) for value in values], counts)


def write_parts(parts: Sequence[str | None], counts: Sequence[int] | None = None) -> str | None:
    """A set whose elements are numbers and intervals already written; of one, that one."""
    if len(parts) == 1:
        return parts[0]
    with_counts = [f"{part or ''}*{counts[i]}" if counts is not None and counts[i] != 1 else part or "" for i, part in enumerate(parts)]
    return "{" + "|".join(with_counts) + "}"


def write_element(value: str | None) -> str:
    """A value inside a set, kept from reading as anything else."""
    return _SPECIAL.sub(r"\\\1", value) if value is not None else ""


def write_value(value: str | None) -> str | None:
    """A plain value, kept from reading as anything else."""
    if value is None:
        return None
    return "\\" + value if value[:1] in ("{", "[", "*", "\\") else value


def write_interval(low: float, high: float) -> str:
    """An interval in the notation; of one number, the number itself."""
    return number(low) if low == high else f"[{number(low)}..{number(high)}]"


def number(value: float) -> str:
    """A number without a needless decimal point."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


@lru_cache(maxsize=20_000)
def read(text: str | None) -> Cell:
    """The cell behind a text of the notation."""
    return _read(text)


def _read(text: str | None) -> Cell:
    if text is None:
        return Cell((None,), (1,))
    if text == SUPPRESSED:
        return Cell()
    if text.startswith("\\"):
        return Cell((text[1:],), (1,))
    if text.startswith("{") and text.endswith("}") and len(text) > 1:
        return _read_set(text[1:-1])
    interval = read_interval(text)
    return Cell(interval=interval, text=text) if interval else Cell((text,), (1,))


def read_interval(text: str) -> tuple[float, float] | None:
    """The ends of an interval, or None for any other text."""
    found = _INTERVAL.fullmatch(text)
    low, high = (to_number(found[1]), to_number(found[2])) if found else (None, None)
    return (low, high) if low is not None and high is not None and low <= high and math.isfinite(high - low) else None


def to_number(text: str) -> float | None:
    """A number; a date as days, a time as microseconds since 1970, as Table.number counts them; None for any other text."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    since = moment.replace(tzinfo=None) - _EPOCH
    return float(since.days) if len(text) == 10 else since / datetime.timedelta(microseconds=1)


def like(number_: float, pattern: str) -> str:
    """A number written as `pattern` is: as a number, a date, or a time."""
    try:
        float(pattern)
    except ValueError:
        step = datetime.timedelta(days=round(number_)) if len(pattern) == 10 else datetime.timedelta(microseconds=round(number_))
        moment = _EPOCH + step
        return moment.date().isoformat() if len(pattern) == 10 else moment.isoformat(" ", "seconds")
    return number(number_)


def ends_of(text: str) -> str:
    """How an interval writes its lower end."""
    found = _INTERVAL.fullmatch(text)
    return found[1] if found else text


def as_list(text: str | None) -> list[str | None]:
    """A cell as a list, as Parquet holds it: each element written as inside a set, missing as null; nothing for suppressed.

    Counts stay counts (Blue*3): a list that repeated its values would be as long as the group, in every row of the group.
    """
    one = read(text)
    if one.interval:
        return [one.text]
    if one.single:
        return [write_element(one.values[0]) or one.values[0]]
    return [part or None for part in _split((text or "")[1:-1])] if one.values else []


def from_list(values: Sequence[str | None] | None) -> str | None:
    """The cell behind such a list."""
    if values is None:
        return None
    if not values:
        return SUPPRESSED
    if len(values) > 1:
        return write_parts(values)
    if not values[0] or read_interval(values[0]):
        return values[0]
    return write_value(_read_set(values[0]).values[0])


def read_all(texts: Iterable[str | None]) -> list[Cell]:
    """Several cells, each of them asked for once."""
    return [_read(text) for text in texts]


def _read_set(inside: str) -> Cell:
    values: list[str | None] = []
    counts: list[int] = []
    within: list[tuple[float, float] | None] = []
    for part in _split(inside):
        found = _ELEMENT.fullmatch(part)
        text, count = (found[1], found[2]) if found else (part, None)
        values.append((re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text) or None)
        counts.append(int(count) if count else 1)
        within.append(read_interval(text))
    return Cell(tuple(values), tuple(counts), within=tuple(within))


def _split(inside: str) -> list[str]:
    """Cut at bars that are not escaped."""
    if "\\" not in inside:
        return inside.split("|")
    parts, now, escaped = [], "", False
    for character in inside:
        if character == "|" and not escaped:
            parts.append(now)
            now = ""
            continue
        now += character
        escaped = character == "\\" and not escaped
    return [*parts, now]


def is_generalized(original: Table, released: Table, column: str) -> bool:
    """Whether a released column holds sets, intervals or suppressed cells, and not just the original's kind of values."""
    return released.once(("generalized", column), lambda: _is_generalized(original, released, column), original)


def _is_generalized(original: Table, released: Table, column: str) -> bool:
    if column not in released.columns or released.kind(column) != "text":
        return False
    if original.kind(column) != "text":
        return True
    texts = released.levels(column).to_pylist()
    known = set() if column in released.cells else set(original.levels(column).to_pylist())
    # also a value written behind a backslash must be read before it is compared
    return any(text is not None and text not in known and read(text).values != (text,) for text in texts)


def expected_numbers(released: Table, column: str) -> FloatArray:
    """Each cell's mean over the values it allows, by their counts; an interval's middle; NaN where suppressed or missing."""
    each = released.once(("expected", column), lambda: np.array([_expected(one) for one in cells_of(released, column)], dtype=np.float64))
    return each[released.codes(column)]


def cells_of(released: Table, column: str) -> list[Cell]:
    """The distinct cells of a column, in the order of its codes."""
    return released.once(("cells", column), lambda: read_all(released.levels(column).to_pylist()))


def value_shares(one: Cell) -> dict[str | None, float]:
    """How likely each value of a set is; nothing for a suppressed cell."""
    total = sum(one.counts)
    return {value: count / total for value, count in zip(one.values, one.counts)} if total else {}


def _expected(one: Cell) -> float:
    if one.interval:
        return (one.interval[0] + one.interval[1]) / 2
    sums, weight = 0.0, 0
    for value, count, ends in zip(one.values, one.counts, one.within or (None,) * len(one.values)):
        if value is None:
            continue
        middle = sum(ends) / 2 if ends else to_number(value)
        if middle is None:  # a word
            return float("nan")
        sums += count * middle
        weight += count
    return sums / weight if weight else float("nan")
