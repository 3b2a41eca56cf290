"""An original and a release that another tool made: whose rows belong together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import IntArray
from shoal.errors import DataError, did_you_mean
from shoal.files import read_table
from shoal.reading import read_like
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import Run
from shoal.table import Table


def paired(original: Path, release: Path, key: str | None, roles: Roles) -> Run:
    """Two files whose rows are aligned, or share a key, as if they were a run."""
    before = read_table(original)
    after = read_table(release, text=roles.texts(before))
    source = _by_key(before, after, key) if key else _aligned(before, after, roles)
    if key:
        roles = replace(roles, identifier=(*roles.identifier, key) if key not in roles.named else roles.identifier)
    before = roles.read(before)
    checked = roles.check(before)
    after = checked.without_codes(read_like(after, before))
    gone = [column for column in checked.quasi if column not in after.columns]
    if gone:
        raise DataError(f"The release has no column '{gone[0]}'.{did_you_mean(gone[0], after.columns)}", about=gone[0])
    persons = before.codes(checked.person[0])[source] if checked.person else None
    return Run(Path(), Recipe(original, checked, ()), before, Release.given(after, source, checked, persons), checked, 0)


def _aligned(before: Table, after: Table, roles: Roles) -> IntArray:
    """Row i of one belongs to row i of the other; an unprotected column that agrees as a whole but not row by row tells otherwise."""
    if len(before) != len(after):
        raise DataError(
            f"The original has {len(before):,} rows and the release {len(after):,}, so they are not aligned. Name a shared column with --key."
        )
    for column in before.columns:
        if column in after.columns and column not in (*roles.quasi, *roles.person):
            left, right = (table.column(column).cast(pa.string()) for table in (before, after))
            if not left.equals(right) and _same_values(left, right):
                raise DataError(
                    f"The rows of the release are not in the original's order: '{column}' has the same values on both sides, but not row by row. "
                    "Name a shared column with --key, or a run folder.",
                    about=column,
                )
    return np.arange(len(before))


def _same_values(left: pa.Array, right: pa.Array) -> bool:
    return bool(left.take(pc.sort_indices(left)).equals(right.take(pc.sort_indices(right))))


def _by_key(before: Table, after: Table, key: str) -> IntArray:
    for table, which in ((before, "original"), (after, "release")):
        column = table.column(key)
        if column.null_count or len(column.unique()) < len(column):
            raise DataError(f"The key '{key}' is missing or repeated in some rows of the {which}. A key names each row once.", about=key)
    left, right = (table.column(key).cast(pa.string()) for table in (before, after))
    rows = pc.index_in(right, value_set=left)
    if rows.null_count:
        first = int(np.argmax(np.asarray(rows.is_null()))) + 1
        raise DataError(
            f"{rows.null_count:,} rows of the release have a '{key}' that the original has not (first at row {first}).", about=key
        )
    return np.asarray(rows).astype(np.int64)
