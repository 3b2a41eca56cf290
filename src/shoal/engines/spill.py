"""Rows put aside by bucket: every task writes one file with a piece for each bucket, and whoever finishes a bucket reads its piece of each file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.arrays import IntArray, UintArray

LONGEST = 1 << 20  # rows of a bucket, about
MOST = 1 << 16  # buckets


def buckets_for(rows: int) -> int:
    """How many buckets hold so many rows between them."""
    return min(max(1, -(-rows // LONGEST)), MOST)


def bucket_of(words: UintArray, buckets: int) -> IntArray:
    """The bucket of each word: stretches of about equal length, in order."""
    return np.asarray(((words >> np.uint64(32)) * np.uint64(buckets)) >> np.uint64(32)).astype(np.int64)


@contextmanager
def whole(path: Path, aside: Path) -> Iterator[Path]:
    """Where a task writes what then appears at once: one that is lost midway, or done by two workers, leaves no half of a file in its place."""
    part = aside / f"{path.name}.{secrets.token_hex(8)}.part"
    yield part
    os.replace(part, path)


def put_aside(path: Path, table: pa.Table, bucket: IntArray, buckets: int) -> pa.Schema:
    """A table with the bucket of each row, in a file that appears when it is whole: a task that is done again writes the same."""
    ordered = table.take(
        pa.array(np.argsort(bucket.astype(np.min_scalar_type(buckets)), kind="stable"))
    ).combine_chunks()  # small ones are sorted by digits
    many = np.bincount(bucket, minlength=buckets)
    with whole(path, path.parent) as part, pa.OSFile(str(part), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for begin, rows in zip((np.cumsum(many) - many).tolist(), many.tolist()):
            piece = ordered.slice(begin, rows).to_batches() if rows else []
            writer.write_batch(piece[0] if piece else pa.RecordBatch.from_pylist([], schema=table.schema))
    return table.schema


def taken_back(paths: Sequence[Path], bucket: int, schema: pa.Schema) -> pa.Table:
    """A bucket's piece of every file, together."""
    pieces = []
    for path in paths:
        with pa.memory_map(str(path)) as source:
            piece = pa.Table.from_batches([pa.ipc.open_file(source).get_batch(bucket)])
            pieces.append(piece.cast(schema))
    return pa.concat_tables(pieces).combine_chunks()
