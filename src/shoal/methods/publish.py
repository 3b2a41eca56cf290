"""What a group of records publishes, column by column: the same cell for every record of the group, so that the group is one class."""

from __future__ import annotations

import calendar
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.bins import last_values
from shoal.counts import combinations
from shoal.hierarchy import Hierarchy
from shoal.kernels.cells import Values, group_values
from shoal.methods.limits import texts_of
from shoal.roles import Roles
from shoal.table import Table


class Published(NamedTuple):
    """The cell of each group; and, of a column that follows a hierarchy, the names by which cells are written."""

    cells: pa.Array
    labels: Mapping[str, str] | None = None


Publication = Literal["counts", "sets", "intervals", "mean"]
MOST_VALUES = 30  # numbers listed one by one in a cell; more are published as intervals of equally many records


def published(
    table: Table,
    roles: Roles,
    columns: Sequence[str],
    groups: IntArray,
    rows: IntArray,
    publication: Publication,
    shown: BoolArray | None = None,
) -> dict[str, Published]:
    """For each column, the cell of each group of the table's rows, each of which stands for so many. `shown[group, column]` False suppresses it."""
    result = {}
    for j, column in enumerate(columns):
        codes, names, positions = in_order(table, roles, column)
        values = group_values(codes[:, None], groups, rows)[0]
        hidden = np.zeros(len(values.start) - 1, np.bool_) if shown is None else ~shown[:, j]
        hidden &= names != [None]  # a column without a value has nothing to hide
        numbers = positions if table.kind(column) in ("number", "date") and roles.scale(table, column) == "numeric" else None
        dates = numbers is not None and table.kind(column) == "date"  # of which no set is a list
        hierarchy = roles.hierarchies.get(column)
        labels = None
        if hierarchy is not None:
            cells, labels = _nodes(hierarchy, values, names)
            labels = usable(labels, table.format.missing)
        elif publication == "mean" and numbers is not None:
            means = _means(values, numbers if column not in table.bins else _middles(table, column))
            if not hidden.any():  # nothing but numbers: no need for text
                result[column] = Published(table.as_column(column, means))
                continue
            pattern = next((name for name in names if name is not None), "")
            cells = [None if mean != mean else cell.like(mean, pattern) for mean in means.tolist()]
        else:
            runs = _runs(values, numbers, "intervals" if dates else publication)
            cells = _sets(runs, _written(table, column, names, "months" if dates else "values"), publication == "counts")
        if hidden.any():
            cells = [cell.SUPPRESSED if hide else text for hide, text in zip(hidden.tolist(), cells)]
        result[column] = Published(pa.array(cells, pa.string()), labels)
    return result


def usable(labels: Mapping[str, str], missing: str) -> dict[str, str]:
    """Names of cells without those that would stand for two of them, or read as missing or as another cell: there the cell itself is written."""
    times = Counter(labels.values())
    plain = {name for text, name in labels.items() if name == text or cell.read(name).values == (name,)}
    return {text: name for text, name in labels.items() if times[name] == 1 and name != missing and name in plain}


class InOrder(NamedTuple):
    """A column as codes in the order in which a set lists its values, missing last; the text of each code, and where it lies."""

    codes: IntArray
    names: list[str | None]
    positions: FloatArray


def in_order(table: Table, roles: Roles, column: str) -> InOrder:
    """Numbers and dates by size, levels from lowest to highest, categories as their hierarchy has them or by name."""
    codes, scale = table.codes(column), roles.scale(table, column)
    levels = table.column(column).take(pa.array(_row_of_each(codes)))
    names = texts_of(levels)
    positions = np.arange(len(names), dtype=np.float64)
    if scale == "numeric" and table.kind(column) != "empty":
        positions[codes] = table.number(column)
    if scale == "ordinal":
        place = {level: float(i) for i, level in enumerate(roles.levels(table, column))}
        positions = np.array([np.nan if level is None else place[str(level)] for level in levels.to_pylist()])
    elif scale == "nominal" and column in roles.hierarchies:
        found = roles.hierarchies[column].places(names)
        positions = np.where(found < 0, np.nan, found)
    else:
        return InOrder(codes, names, positions)
    order = np.argsort(positions, kind="stable")  # NaN, missing, last
    positions = positions[order] if scale == "ordinal" else np.arange(len(names), dtype=np.float64)
    return InOrder(np.argsort(order)[codes], [names[code] for code in order], positions)


class _Runs(NamedTuple):
    """What stands in the sets of all groups, one after the other: group g lists runs start[g]..start[g+1], each of codes first..last."""

    start: IntArray
    first: IntArray
    last: IntArray
    rows: IntArray


def _runs(values: Values, numbers: FloatArray | None, publication: Publication) -> _Runs:
    """Each value by itself; or consecutive numbers or dates together as intervals of about equally many records, missing beside them."""
    start, code, rows = values
    if numbers is None:
        return _Runs(start, code, code, rows)
    size = np.diff(start)
    group = np.repeat(np.arange(len(size)), size)
    many = size > MOST_VALUES
    intervals = {"counts": np.where(many, MOST_VALUES, 0), "sets": np.where(many, 1, 0)}.get(publication, np.ones(len(size), np.int64))[
        group
    ]
    known = ~np.isnan(numbers[code])
    weight = np.where(known, rows, 0)
    upto = np.cumsum(weight)
    upto -= (upto - weight)[start[group]]
    total = np.maximum(np.add.reduceat(weight, start[:-1]), 1)[group]
    part = np.minimum(((upto - weight / 2) / total * intervals).astype(np.int64), intervals - 1)
    begins = (np.diff(group, prepend=-1) > 0) | (np.diff(part, prepend=-1) != 0) | (intervals == 0) | ~known
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(code)) - 1
    return _Runs(np.searchsorted(first, start), code[first], code[last], np.add.reduceat(rows, first))


class _Written(NamedTuple):
    """How each value of a column is written: alone, in a set, and as the beginning and the end of an interval."""

    alone: list[str | None]
    inside: Sequence[str]
    low: Sequence[str]
    high: Sequence[str]


def _written(table: Table, column: str, names: Sequence[str | None], ends: Literal["values", "months"]) -> _Written:
    inside = [cell.write_element(name) for name in names]
    last = _last(table, column, names)
    high = [name or "" for name in last] if column in table.bins else inside
    if ends == "values":
        return _Written(cells_of_values(table, column, names), inside, inside, high)
    months = _months(names, last)
    return _Written(cells_of_values(table, column, names), inside, [low for low, _ in months], [high for _, high in months])


def cells_of_values(table: Table, column: str, names: Sequence[str | None]) -> list[str | None]:
    """The cell of each distinct value of a column, in the order of codes: the value, or the interval of the bin that it stands for."""
    ends = zip(names, _last(table, column, names))
    return [cell.write_value(low) if low == high else f"[{low}..{high}]" for low, high in ends]


def _last(table: Table, column: str, names: Sequence[str | None]) -> Sequence[str | None]:
    """Up to where each value reaches, as text: of a bin its end."""
    return texts_of(last_values(table, column)) if column in table.bins else names


def _middles(table: Table, column: str) -> FloatArray:
    """The middle of each bin, which is within the calendar, as dates of the release must be."""
    ends = table.only([column]).take(_row_of_each(table.codes(column)))
    return np.clip(
        (ends.number(column) + ends.with_columns({column: last_values(table, column)}).number(column)) / 2, *table.calendar(column)
    )


def _row_of_each(codes: IntArray) -> IntArray:
    """A row of each code: cheaper than looking for distinct values again."""
    row = np.zeros(int(codes.max(initial=-1)) + 1, np.int64)
    row[codes] = np.arange(len(codes))
    return row


def _months(names: Sequence[str | None], last: Sequence[str | None]) -> list[tuple[str, str]]:
    """The first day of the month that each date is in, and the last day of the month up to which it reaches, for intervals that do not end at
    somebody's date; the dates where all lie in a year."""
    known = [name for name in names if name is not None]
    short = not known or int(known[-1][:4]) * 12 + int(known[-1][5:7]) - int(known[0][:4]) * 12 - int(known[0][5:7]) < 12
    ends = []
    for name, end in zip(names, last):
        if short or name is None or end is None:
            ends.append((name or "", end or ""))
            continue
        times = ("", "") if len(name) == 10 else (" 00:00:00", " 23:59:59.999999" if "." in end else " 23:59:59")
        day = calendar.monthrange(int(end[:4]), int(end[5:7]))[1]
        ends.append((f"{name[:7]}-01{times[0]}", f"{end[:7]}-{day}{times[1]}"))
    return ends


def _sets(runs: _Runs, written: _Written, with_counts: bool) -> list[str | None]:
    """Each group's values and intervals as a set; of one, that one."""
    alone, inside, low, high = written
    which, there = combinations([runs.first, runs.last], len(runs.first))  # many groups have the same: each is written once
    ends = list(zip(runs.first[there].tolist(), runs.last[there].tolist()))
    alike = [a == b and low[a] == high[b] for a, b in ends]  # beside missing, a date is held by some only
    each = [inside[a] if one else f"[{low[a]}..{high[b]}]" for (a, b), one in zip(ends, alike)]
    by_itself = np.array([alone[a] if a == b else text for (a, b), text in zip(ends, each)], object)
    texts = by_itself[which[runs.start[:-1]]]
    several = np.flatnonzero(np.diff(runs.start) > 1).tolist()
    part, rows, start = (one.tolist() if several else [] for one in (which, runs.rows, runs.start))
    for group in several:
        listed = range(start[group], start[group + 1])
        texts[group] = "{" + "|".join(f"{each[part[i]]}*{rows[i]}" if with_counts and rows[i] > 1 else each[part[i]] for i in listed) + "}"
    return list(texts)


def _means(values: Values, numbers: FloatArray) -> FloatArray:
    """Each group's mean of known values; NaN where none is known."""
    start, code, rows = values
    number = numbers[code]
    known = ~np.isnan(number)
    weight = np.add.reduceat(np.where(known, rows, 0), start[:-1])
    sums = np.add.reduceat(np.where(known, rows * number, 0.0), start[:-1])
    low, high = (ends.reduceat(number, start[:-1]) for ends in (np.fmin, np.fmax))
    return np.where(low == high, low, np.where(weight > 0, sums / np.maximum(weight, 1), np.nan))  # of equal numbers it is that number


def _nodes(hierarchy: Hierarchy, values: Values, names: Sequence[str | None]) -> tuple[list[str | None], dict[str, str]]:
    """The smallest node that covers each group's values, as its cell; the whole tree says nothing. Missing stands beside it. Beside the cells, the
    names of those that are nodes."""
    place = hierarchy.places(names)[values.code]  # -1 for missing
    missing = np.minimum.reduceat(place, values.start[:-1]) < 0
    high = np.maximum.reduceat(place, values.start[:-1])
    low = np.minimum.reduceat(np.where(place < 0, len(hierarchy.leaves), place), values.start[:-1])
    begin, stop = hierarchy.covering(np.minimum(low, np.maximum(high, 0)), np.maximum(high, 0))
    written: dict[tuple[int, int, bool], str | None] = {}
    texts: list[str | None] = []
    labels: dict[str, str] = {}
    for a, b, gone, last in zip(begin.tolist(), stop.tolist(), missing.tolist(), high.tolist()):
        if last < 0:
            texts.append(None)
            continue
        if (a, b, gone) not in written:
            text = hierarchy.cell_over(a, b)
            if text is not None and text != cell.SUPPRESSED:
                if gone:
                    text = cell.write_parts([text, None]) if cell.read(text).interval else cell.write_set([*hierarchy.leaves[a:b], None])
                else:
                    labels[text] = hierarchy.name_of(a, b) if b - a > 1 else text
            written[a, b, gone] = text
        texts.append(written[a, b, gone])
    return texts, labels
