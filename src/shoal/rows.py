"""Rows: which record is which, wherever it stands. An id needs no file and no line: it is a keyed hash of the typed row, equal rows numbered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BytesArray, IntArray, UintArray
from shoal.randomness import Chance, Key, hashed, hashed_texts
from shoal.table import Table

NUMBERED = np.uint64(0x9E3779B97F4A7C15)  # apart equal rows by multiples of this
_MISSING = np.uint64(0x6D697373696E6721)


class Batch(NamedTuple):
    """Some rows of a source, and the id of each."""

    table: Table
    ids: UintArray  # none where nothing is drawn row by row
    rows: IntArray  # which row of the source each is


def row_ids(table: Table, chance: Chance) -> UintArray:
    """The id of each row. Equal rows, which are interchangeable, are numbered."""
    return with_equal_ones_numbered(bare_ids(table, chance))


def bare_ids(table: Table, chance: Chance) -> UintArray:
    """The sum of keyed hashes of a row's cells: equal rows have one id."""
    ids = np.zeros(len(table), np.uint64)
    for column in table.columns:
        ids += _hashed_cells(table.arrow.column(column), chance.key(f"row/{column}/{table.kind(column)}"))
    return ids


def with_equal_ones_numbered(ids: UintArray) -> UintArray:
    """Ids that are all different, where those of equal rows were one: they are numbered in the order in which they come."""
    ranked = np.sort(ids)
    new = np.append(True, ranked[1:] != ranked[:-1])
    if not new.all():
        order = np.argsort(ids, kind="stable")
        first = np.flatnonzero(new)
        number = np.arange(len(ids)) - np.repeat(first, np.diff(np.append(first, len(ids))))
        ids = ids.copy()
        ids[order] += number.astype(np.uint64) * NUMBERED
    return ids


def numbered(ids: UintArray, rows: IntArray) -> UintArray:
    """Ids of so many interchangeable rows behind each id."""
    number = np.arange(int(rows.sum())) - np.repeat(np.cumsum(rows) - rows, rows)
    return np.repeat(ids, rows) + number.astype(np.uint64) * NUMBERED


def hashed_levels(table: Table, column: str, chance: Chance) -> UintArray:
    """A keyed hash of each distinct value of a column, in the order of codes."""
    return _hashed_cells(pa.chunked_array([table.levels(column)]), chance.key(f"level/{column}"))


def _hashed_cells(cells: pa.ChunkedArray, key: Key) -> UintArray:
    array = cells.chunk(0) if cells.num_chunks == 1 else cells.combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_string(array.type) or pa.types.is_decimal(array.type):
        array = array.dictionary_encode()
    if pa.types.is_dictionary(array.type):
        texts = array.dictionary.cast(pa.string())
        known = hashed_texts(*_letters(texts), key)
        codes = np.asarray(array.indices.fill_null(len(known)))
        return np.asarray(np.append(known, hashed(np.array([_MISSING]), key))[codes])
    if pa.types.is_null(array.type):
        return np.full(len(array), hashed(np.array([_MISSING]), key)[0])
    missing = np.asarray(pc.is_null(array))
    return hashed(np.where(missing, _MISSING, _words(array)), key)


def _words(array: pa.Array) -> UintArray:
    """Numbers, dates and flags as words of 64 bits."""
    if pa.types.is_floating(array.type):
        return np.ascontiguousarray(array.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)).view(np.uint64)
    if pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    whole = array.cast(pa.uint64() if pa.types.is_uint64(array.type) else pa.int64())
    return np.ascontiguousarray(whole.fill_null(0).to_numpy(zero_copy_only=False)).view(np.uint64)


def _letters(texts: pa.Array) -> tuple[BytesArray, IntArray, IntArray]:
    """The bytes behind texts, where each begins, and how long it is."""
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    held = np.frombuffer(letters, np.uint8) if letters is not None else np.zeros(0, np.uint8)
    return held, ends[:-1], np.diff(ends)
