"""Classes as an intruder sees them: released records that are alike in every column he knows. Found once, for all attacks that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.attacks.matching import IntruderView
from shoal.cell import Cell, cells_of, to_number
from shoal.kernels.groups import class_ids, persons_in_classes
from shoal.kernels.linkage.containment import ClassTree, Ranges, class_tree, linked_to_class
from shoal.release import Release
from shoal.table import Table


class CellRanges(NamedTuple):
    """The ranges of codes that the cells of a column allow: those of cell i stand from starts[i] up to starts[i + 1]."""

    starts: IntArray
    low: IntArray
    high: IntArray


class ReleasedClasses(NamedTuple):
    """The class of each released row, a row of each class, how many rows (or, where they are known, persons) it has; and the tree that finds
    classes a record could be in."""

    of_row: IntArray
    first: IntArray
    sizes: IntArray
    tree: ClassTree


def released_classes(original: Table, release: Release, view: IntruderView) -> ReleasedClasses:
    """Of the columns that the intruder knows."""
    return release.once(("classes", *view.columns), lambda: _classes(original, release, view), original)


def _classes(original: Table, release: Release, view: IntruderView) -> ReleasedClasses:
    table = release.table
    of_row, count = class_ids([table.codes(column) for column in view.columns])
    first = np.empty(count, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    cells = [table.codes(column)[first] for column in view.sets]
    ranges = [allowed_ranges(original, table, column) for column in view.sets]
    levels = [len(original.levels(column)) for column in view.sets]
    for j in np.flatnonzero(view.exact):  # a plain value is a cell that allows itself alone
        most = int(max(view.released_nominal[:, j].max(initial=0), view.known_nominal[:, j].max(initial=0))) + 1
        cells.append(view.released_nominal[first, j])
        ranges.append(CellRanges(np.arange(most + 1), np.arange(most), np.arange(most)))
        levels.append(most)
    tree = class_tree(np.column_stack(cells), flat(ranges), np.array(levels, np.int64))
    counted = of_row if release.persons is None else persons_in_classes(of_row, release.persons)[0]
    sizes = np.bincount(counted, release.stands_for, minlength=count).astype(np.int64)
    return ReleasedClasses(of_row, first, sizes, tree)


def shares_by_class(
    original: Table, release: Release, view: IntruderView, known: FloatArray, placed: FloatArray, asked: BoolArray
) -> FloatArray:
    """Share of a hit for each record asked; `known` and `placed` are coordinates of these records and of the classes."""
    classes = released_classes(original, release, view)
    exact = view.known_nominal[asked][:, view.exact]
    values = np.column_stack([*(original.codes(column)[view.rows[asked]] for column in view.sets), exact])
    better, ties = linked_to_class(values, classes.tree, known, placed, classes.sizes, classes.of_row[view.true_row[asked]])
    return np.where(better, 0.0, 1 / np.maximum(ties, 1))


def allowed_ranges(original: Table, released: Table, column: str) -> CellRanges:
    """For each cell of a released column, the ranges of the original's codes it allows."""
    return released.once(("ranges", column), lambda: ranges_of(original, column, cells_of(released, column)), original)


def ranges_of(original: Table, column: str, cells: Sequence[Cell]) -> CellRanges:
    """The same for any cells. Those of one interval or one number, which are most of a long column's, are looked up together."""
    names = [None if v is None else str(v) for v in original.levels(column).cast(pa.string()).to_pylist()]
    place = {name and name.removesuffix(".000000"): code for code, name in enumerate(names)}
    numbers = level_numbers(original, column) if original.kind(column) in ("number", "date") else np.empty(0)
    simple = np.array(
        [one.interval is not None or (len(numbers) > 0 and one.single and one.values[0] is not None) for one in cells], np.bool_
    )
    ends = np.array([one.interval or (to_number(one.values[0] or ""),) * 2 for one, is_one in zip(cells, simple) if is_one], np.float64)
    plain = simple.copy()
    plain[simple] = ~np.isnan(ends).any(axis=1) if len(ends) else False
    ends = ends[plain[simple]].reshape(-1, 2)
    slack = 1e-9 * np.abs(ends).max(axis=1, initial=0.0)  # a number written in text may differ in its last digit
    begin = numbers.searchsorted(ends[:, 0] - slack, "left")
    stop = numbers.searchsorted(ends[:, 1] + slack, "right")
    rest = {i: allowed(cells[i], place, numbers, len(names)) for i in np.flatnonzero(~plain).tolist()}
    length = np.empty(len(cells), np.int64)
    length[plain] = stop > begin
    length[~plain] = [len(rest[i]) for i in np.flatnonzero(~plain).tolist()]
    starts = np.append(0, np.cumsum(length))
    low, high = np.empty(int(starts[-1]), np.int64), np.empty(int(starts[-1]), np.int64)
    there = starts[:-1][plain][stop > begin]
    low[there], high[there] = begin[stop > begin], stop[stop > begin] - 1
    for i, ranges in rest.items():
        low[starts[i] : starts[i + 1]] = [a for a, _ in ranges]
        high[starts[i] : starts[i + 1]] = [b for _, b in ranges]
    return CellRanges(starts, low, high)


def level_numbers(table: Table, column: str) -> FloatArray:
    """The number of each code, rising; missing, the last code, has none."""
    result = np.full(len(table.levels(column)), np.nan)
    result[table.codes(column)] = table.number(column)
    return np.asarray(result[~np.isnan(result)])


def allowed(one: Cell, place: dict[str | None, int], numbers: FloatArray, levels: int) -> list[tuple[int, int]]:
    """The ranges of codes that a cell allows."""
    if one.suppressed:
        return [(0, levels - 1)]
    found = [] if one.interval is None else [one.interval]
    codes = []
    for value, ends in zip(one.values, one.within or (None,) * len(one.values)):
        number = None if value is None or not len(numbers) else to_number(value)
        if ends:
            found.append(ends)
        elif number is not None:
            found.append((number, number))
        elif value in place:
            codes.append((place[value], place[value]))
    for low, high in found:
        slack = 1e-9 * max(abs(low), abs(high))  # a number written in text may differ in its last digit
        begin, stop = numbers.searchsorted(low - slack, "left"), numbers.searchsorted(high + slack, "right")
        if stop > begin:
            codes.append((int(begin), int(stop) - 1))
    return sorted(codes)


def flat(columns: Sequence[CellRanges]) -> Ranges:
    """Ranges of all cells of all columns, one after the other."""
    cells = np.cumsum([0, *(len(one.starts) - 1 for one in columns)])
    before = np.cumsum([0, *(len(one.low) for one in columns)])
    starts = [one.starts[:-1] + shift for one, shift in zip(columns, before)]
    return Ranges(
        cells[:-1],
        np.concatenate([*starts, before[-1:]]).astype(np.int64),
        np.concatenate([one.low for one in columns]),
        np.concatenate([one.high for one in columns]),
    )
