"""A point table drawn from a release of sets and intervals, for tools that need points. It is a draw, not data."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from numpy.typing import NDArray

from shoal import cell
from shoal.table import Table

IntArray = NDArray[np.int64]
EXACT = 2**53  # whole numbers up to here are exact as floats
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")  # a leading zero marks a code


def sample(table: Table, rng: Generator) -> Table:
    """Each cell replaced by one of the values it allows: by their counts where given, evenly otherwise; suppressed cells become missing."""
    changed = {}
    for column in table.columns:
        if table.kind(column) != "text" or (table.cells and column not in table.cells):  # a CSV does not say which columns hold cells
            continue
        cells = cell.read_all(table.levels(column).to_pylist())
        if any(not one.single for one in cells) or any(one.values != (text,) for one, text in zip(cells, table.levels(column).to_pylist())):
            changed[column] = _drawn(cells, table.codes(column), rng)
    return replace(table.with_columns(changed), cells=frozenset(), format=replace(table.format, kind="csv"))


def _drawn(cells: list[cell.Cell], codes: IntArray, rng: Generator) -> pa.Array:
    """Rows of the same cell are drawn together."""
    rows = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[rows], np.arange(len(cells) + 1))
    drawn = np.empty(len(codes), dtype=object)
    for i, one in enumerate(cells):
        mine = rows[starts[i] : starts[i + 1]]
        drawn[mine] = _draw(one, len(mine), rng)
    texts = drawn.tolist()
    numbers = _as_numbers(texts)
    return pa.array(texts, pa.string()) if numbers is None else numbers


def _draw(one: cell.Cell, many: int, rng: Generator) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    result = np.empty(many, dtype=object)
    if one.suppressed:
        return result  # missing
    parts: list[str | tuple[float, float] | None] = [one.interval] if one.interval else list(one.values)
    parts = [ends or part for ends, part in zip(one.within or (None,) * len(parts), parts)]
    share = np.array(one.counts, dtype=np.float64) if one.counts else np.ones(1)
    chosen = rng.choice(len(parts), many, p=share / share.sum())
    for i, part in enumerate(parts):
        mine = chosen == i
        if isinstance(part, tuple):
            low, high = part
            pattern = cell.ends_of(one.text or str(one.values[i]))
            whole = low.is_integer() and high.is_integer() and max(-low, high) < EXACT
            points = rng.integers(int(low), int(high), mine.sum(), endpoint=True) if whole else rng.uniform(low, high, mine.sum())
            result[mine] = [cell.like(float(point), pattern) for point in points]
        else:
            result[mine] = part
    return result


def _as_numbers(texts: list[str | None]) -> pa.Array | None:
    """A column whose every drawn value is a number becomes numbers; codes with leading zeros stay text."""
    known = [text for text in texts if text is not None]
    if not known or not all(_NUMBER.fullmatch(text) for text in known):
        return None
    values = np.array([np.nan if text is None else float(text) for text in texts])
    if np.isinf(values).any():
        return None
    if all(float(v).is_integer() and abs(v) < EXACT for v in values[~np.isnan(values)]):
        return pa.array(np.nan_to_num(values).astype(np.int64), mask=np.isnan(values))
    return pa.array(values, mask=np.isnan(values))
