"""Cells of columns that have an order and no hierarchy: a stretch of values, from one place in the order to another."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import IntArray
from shoal.methods.publish import in_order, published
from shoal.roles import Roles
from shoal.table import Table


def in_stretches(table: Table, roles: Roles, column: str) -> bool:
    """Whether neighbours belong together: numbers, dates and levels that no hierarchy groups."""
    return column not in roles.hierarchies and roles.scale(table, column) != "nominal" and table.kind(column) != "empty"


def stretches(table: Table, roles: Roles, column: str, low: IntArray, high: IntArray) -> pa.Array:
    """The cell of each stretch of codes low..high, as `in_order` counts them, missing last. All there is, where that is several, is `*`.

    The ends are the lowest and the highest value that the whole table has in the stretch, so that it is the same cell in all records.
    """
    codes, names, _ = in_order(table, roles, column)
    row = np.zeros(len(names), np.int64)
    row[codes] = np.arange(len(codes))
    known = len(names) - (names[-1] is None)
    ends, which = np.unique(np.column_stack([low, high]), axis=0, return_inverse=True)
    one_by_one = roles.scale(table, column) == "ordinal"  # of numbers and dates the two ends say all
    parts = [_listed(int(a), int(b), known, one_by_one) for a, b in ends]
    stretch = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    inside = table.take(row[np.concatenate(parts)])
    whole = (ends[:, 0] == 0) & (ends[:, 1] == len(names) - 1) & (len(names) > 1)
    made = published(inside, roles, [column], stretch, np.ones(len(stretch), np.int64), "intervals")[column].cells
    texts = [cell.SUPPRESSED if all_there_is else text for all_there_is, text in zip(whole.tolist(), made.to_pylist())]
    return pa.array(texts, pa.string()).take(pa.array(which.reshape(-1)))


def _listed(low: int, high: int, known: int, one_by_one: bool) -> IntArray:
    """The codes that a cell is made of."""
    last = min(high, known - 1)
    values = np.arange(low, last + 1) if one_by_one else np.unique([low, last]) if low <= last else np.zeros(0, np.int64)
    return np.concatenate([values, np.arange(max(low, known), high + 1)]).astype(np.int64)
