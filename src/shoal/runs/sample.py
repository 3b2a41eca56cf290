"""A point table drawn from a release of sets and intervals, for tools that need points. It is a draw, not data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import numpy as np
import pyarrow as pa
from numpy.random import Generator

from shoal import cell
from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.table import Table

EXACT = 2**53  # whole numbers up to here are exact as floats
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # a leading zero marks a code


def sample(table: Table, rng: Generator) -> Table:
    """Each cell replaced by one of the values it allows; suppressed cells become missing.

    The rows of a class have the same cells and are dealt their values: each value goes to as many of them as its count says, and chance
    decides to which, in each column anew. Values without counts count once. Where the counts do not divide the class, a value goes to as
    many rows as its share comes to, rounded up or down by chance. Numbers inside an interval are drawn evenly.
    """
    columns = [c for c in table.columns if table.kind(c) == "text" and (not table.cells or c in table.cells)]  # a CSV does not say which
    texts = {column: table.levels(column).to_pylist() for column in columns}
    cells = {column: cell.read_all(texts[column]) for column in columns}
    unsaid = [c for c in columns if any(one.values != (text,) for one, text in zip(cells[c], texts[c]))]
    classes = _classes([table.codes(column) for column in (columns if table.cells else unsaid)], len(table))
    changed = {column: _drawn(cells[column], table.codes(column), classes, rng) for column in unsaid}
    return replace(table.with_columns(changed), cells=frozenset(), labels={}, format=replace(table.format, kind="csv"))


def _classes(columns: Sequence[IntArray], rows: int) -> IntArray:
    """The class of each row: rows that agree on every column."""
    classes, many = np.zeros(rows, np.int64), 1
    for codes in columns:
        width = int(codes.max(initial=0)) + 1
        pairs = classes * width + codes
        if many * width <= 8 * rows:  # a mark for each pair that can be is cheaper than sorting those that are
            there = np.zeros(many * width, np.bool_)
            there[pairs] = True
            classes = (np.cumsum(there) - 1)[pairs]
        else:
            classes = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        many = int(classes.max(initial=-1)) + 1
    return classes


def _drawn(cells: Sequence[cell.Cell], codes: IntArray, classes: IntArray, rng: Generator) -> pa.Array:
    """One column. The parts of all its cells are numbered through: values, intervals, and nothing for a suppressed cell."""
    texts: list[str | None] = []
    ends: list[tuple[float, float] | None] = []
    for one in cells:
        texts += [one.text] if one.interval else one.values or (None,)
        ends += [one.interval] if one.interval else one.within or (None,) * max(1, len(one.values))
    part = _dealt(cells, codes, classes, rng)
    inside = np.array([pair is not None for pair in ends], dtype=bool)
    low, high = (np.array([pair[side] if pair else 0.0 for pair in ends]) for side in (0, 1))
    whole = (low == np.rint(low)) & (high == np.rint(high)) & (np.maximum(-low, high) < EXACT)
    points = np.zeros(len(codes))
    integers, reals = np.flatnonzero((inside & whole)[part]), np.flatnonzero((inside & ~whole)[part])
    points[integers] = rng.integers(low[part[integers]].astype(np.int64), high[part[integers]].astype(np.int64), endpoint=True)
    points[reals] = rng.uniform(low[part[reals]], high[part[reals]])
    written = [cell.ends_of(text) if pair and text else text for text, pair in zip(texts, ends)]
    numbers = _as_numbers(written)
    if numbers is None:
        return _as_text(texts, written, inside, part, points)
    values = np.where(inside[part], points, numbers[part])
    missing = np.isnan(values)
    integral = np.where(inside, whole, np.isnan(numbers) | ((numbers == np.rint(numbers)) & (np.abs(numbers) < EXACT)))
    return pa.array(np.where(missing, 0, values).astype(np.int64) if integral.all() else values, mask=missing)


def _dealt(cells: Sequence[cell.Cell], codes: IntArray, classes: IntArray, rng: Generator) -> IntArray:
    """The part that each row gets of its cell.

    The parts of a cell cover the line from 0 to 1 by their counts. The n rows of a class stand on it in a random order, 1/n apart: at 1/2n,
    3/2n, ..., which no part's end meets where the counts divide n; otherwise from a random start, so that shares are kept on average.
    """
    parts = np.array([max(1, len(one.values)) for one in cells])
    last = np.cumsum(parts) - 1
    result = last[codes]
    rows = np.flatnonzero(parts[codes] > 1)
    if not len(rows):
        return result
    totals = [sum(one.counts) or 1 for one in cells]
    up_to = np.array([i + c / total for i, (one, total) in enumerate(zip(cells, totals)) for c in accumulate(one.counts or (1,))])
    mine = classes[rows]
    order = np.argsort((mine << 32) | rng.integers(0, 2**32, len(rows)), kind="stable")
    begins = np.flatnonzero(np.diff(mine[order], prepend=-1))
    sizes = np.diff(begins, append=len(rows))
    shift, size, place = np.empty((3, len(rows)))
    shift[order], size[order] = np.repeat(rng.random(len(sizes)), sizes), np.repeat(sizes, sizes)
    place[order] = np.arange(len(rows)) - np.repeat(begins, sizes)
    divides = size % np.array([min(total, EXACT) for total in totals], np.float64)[codes[rows]] == 0
    at = (place + np.where(divides, 0.5, shift)) / size
    result[rows] = np.minimum(np.searchsorted(up_to, codes[rows] + at, side="right"), last[codes[rows]])  # just short of 1 may round to 1
    return result


def _as_numbers(written: Sequence[str | None]) -> FloatArray | None:
    """Parts as numbers, NaN for missing, if all are numbers; codes with leading zeros are not."""
    if not any(written) or not all(text is None or _NUMBER.fullmatch(text) for text in written):
        return None
    numbers = np.array([np.nan if text is None else float(text) for text in written])
    return None if np.isinf(numbers).any() else numbers


def _as_text(texts: Sequence[str | None], written: Sequence[str | None], inside: BoolArray, part: IntArray, points: FloatArray) -> pa.Array:
    """Words, dates and mixtures; a point of an interval is written as the interval's end is."""
    if not inside.any():
        return pa.array(texts, pa.string()).take(pa.array(part))
    drawn = np.array(texts, dtype=object)[part]
    styles = np.array([cell.like(0.0, text) if within and text else "" for text, within in zip(written, inside)])
    for style in np.unique(styles[inside]):  # numbers, days, times
        rows = np.flatnonzero((inside & (styles == style))[part])
        point, which = np.unique(points[rows], return_inverse=True)
        drawn[rows] = np.array([cell.like(float(one), style) for one in point], dtype=object)[which.reshape(-1)]
    return pa.array(drawn.tolist(), pa.string())
