"""How many records match each one where a blank may be any value: two match where both say the same, or one of them says nothing.

Combinations are grouped by which of their columns are blank. Two groups are compared on the columns that neither has blank, so that numbers are
sorted and found, and no record is held against every other; only a group of few is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, IntArray

FEW = 8  # combinations of a group that are held against all others one by one
BLANK = "*"


def is_blank(levels: pa.Array) -> BoolArray:
    """Which cells say nothing. A value that is a star is written behind a backslash."""
    if not pa.types.is_string(levels.type):
        return np.zeros(len(levels), np.bool_)
    return np.asarray(pc.equal(levels, BLANK).fill_null(False))


def fewest_matches(codes: IntArray, blank_levels: Sequence[BoolArray], rows: IntArray) -> int:
    """Of all combinations, the fewest records that match one; `blank_levels` says of each column which of its codes are blanks."""
    if not len(codes):
        return 0
    blank = np.column_stack([of_column[codes[:, j]] for j, of_column in enumerate(blank_levels)])
    masks, group = np.unique(blank, axis=0, return_inverse=True)
    group = group.reshape(-1)
    fewest = int(rows.sum())
    for a in range(len(masks)):
        mine = np.flatnonzero(group == a)
        if len(mine) <= FEW:
            for one in mine:
                match = (blank | blank[one] | (codes == codes[one])).all(axis=1)
                fewest = min(fewest, int(rows[match].sum()))
            continue
        both, of_mask = np.unique(~(masks | masks[a]), axis=0, return_inverse=True)
        of_mask = of_mask.reshape(-1)
        found = np.zeros(len(mine), np.int64)
        for u in range(len(both)):
            theirs = np.flatnonzero(of_mask[group] == u)
            found += _equal_rows(codes[mine][:, both[u]], codes[theirs][:, both[u]], rows[theirs])
        fewest = min(fewest, int(found.min()))
    return fewest


def _equal_rows(mine: IntArray, theirs: IntArray, rows: IntArray) -> IntArray:
    """For each of mine, the records of theirs that are equal to it."""
    together = np.concatenate([mine, theirs])
    key, size = np.zeros(len(together), np.int64), 1
    for column in together.T:
        width = int(column.max(initial=0)) + 1
        if size > (1 << 62) // width:
            key = np.unique(key, return_inverse=True)[1].reshape(-1)
            size = int(key.max(initial=-1)) + 1
        key, size = key * width + column, size * width
    number = np.unique(key, return_inverse=True)[1].reshape(-1)
    sums = np.bincount(number[len(mine) :], rows, minlength=int(number.max()) + 1)
    return sums[number[: len(mine)]].astype(np.int64)
