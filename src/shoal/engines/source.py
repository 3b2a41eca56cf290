"""Rows elsewhere: a source over files, whose tasks run and whose rows are counted wherever an engine does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from shoal.arrays import IntArray, UintArray
from shoal.bins import MANY_VALUES, Bins, Extent, binned, coarser
from shoal.contracts import Changed, Engine, One, Progress, Written, quiet
from shoal.counts import Counts, Moments
from shoal.engines.spill import bucket_of, buckets_for, put_aside, taken_back, whole
from shoal.errors import DataError, TooManyCombinations, counted
from shoal.once import Once
from shoal.parts import Part, Parts, Stretch, batches
from shoal.randomness import Chance
from shoal.rows import NUMBERED, Batch, bare_ids
from shoal.table import Kind, Table
from shoal.writing import write_parquet

A_CODE = 24  # bytes for each value of a combination: itself, its code, and what is made of it
ORDER, ROW = "\x00order", "\x00row"  # of rows on their way to a release; no column can be named so


@dataclass(frozen=True)
class RowsElsewhere:
    """The rows of files. `like` has none, but everything that tables of these rows have in common: types, orders, forms of dates."""

    engine: Engine
    parts: Parts
    like: Table
    aside: Path  # where what is on its way is put; whoever made it removes it
    memory: int  # bytes that counts may take
    given: tuple[Part, ...] = ()  # the files that were named, before anything was made of them
    progress: Progress = quiet
    once: Once = field(default_factory=Once, init=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.like.columns

    @property
    def orders(self) -> Mapping[str, tuple[str, ...]]:
        """Levels of ordered categories."""
        return self.like.orders

    def __len__(self) -> int:
        return self.parts.rows

    def kind(self, name: str) -> Kind:
        """Types are decided once, for all files."""
        return self.like.kind(name)

    def counts(self, columns: Sequence[str], bins: Bins | None = None) -> Counts:
        """Grouped by the engine, put in order here; of bins the coarser ones that fit into memory."""
        names = [column for column in self.columns if column in columns]
        cut = {column: one for column, one in (bins or {}).items() if column in names}
        if not cut:
            return self.once(("counts", *names), lambda: self._counted(names))
        while True:
            try:
                return self.once(("counts", tuple(cut.items()), *names), lambda cut=cut: self._cut(names, cut)._counted(names))  # type: ignore[misc]
            except TooManyCombinations:
                wider = coarser(cut, {column: self.extent(column) for column in cut})
                if wider is None:
                    raise
                cut = dict(wider)

    def _counted(self, columns: Sequence[str]) -> Counts:
        parts = []
        for table in self.grouped(columns):
            rows = np.asarray(table.column(len(columns)).combine_chunks()).astype(np.int64)
            arrow = pa.table([_typed(table.column(c), self.parts.schema.field(c).type) for c in columns], names=list(columns))
            parts.append(Counts(replace(self.like, arrow=arrow), rows))
        return Counts.merged(parts)

    def _cut(self, columns: Sequence[str], bins: Bins) -> RowsElsewhere:
        """Some columns of all rows, cut into bins."""
        narrow = replace(self, like=self.like.only(columns))
        made, _ = narrow.changed(lambda batch: Changed(binned(batch.table, bins), batch.rows), None)
        return made

    def extent(self, column: str) -> Extent | None:
        """From what the files tell of their whole numbers, where that is enough; else from each batch, and from all where these have few values."""
        return self.once(("extent", column), lambda: self._extent(column))

    def _extent(self, column: str) -> Extent | None:
        ends = self.parts.ends(column)
        if ends is not None and ends[1] - ends[0] < MANY_VALUES:
            return Extent(ends[0], ends[1], ends[1] - ends[0] + 1, "whole" if self.kind(column) == "number" else "days")
        narrow = replace(self, like=self.like.only([column]))
        found = [one for one in narrow.each(lambda batch: Extent.of(batch.table, column), None) if one is not None]
        if not found:
            return None
        distinct = max(one.distinct for one in found)
        if distinct <= MANY_VALUES < sum(one.distinct for one in found):
            distinct = self.distinct(column)
        holds = found[0].holds if all(one.holds == found[0].holds for one in found) else "numbers"
        return Extent(min(one.low for one in found), max(one.high for one in found), distinct, holds)

    def grouped(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """As the engine counts them, as long as they fit into the memory for them."""
        many = rows = 0
        for table in self.engine.grouped(self.parts, columns):
            letters = [pc.sum(pc.binary_length(column)).as_py() or 0 for column in table.columns if pa.types.is_string(column.type)]
            many += len(table) * (len(columns) + 1) * A_CODE + 3 * sum(letters)
            if many > self.memory:
                raise too_many(columns, self.memory)
            rows += int(pc.sum(table.column(len(columns))).as_py() or 0)
            yield table
        if rows != self.parts.rows:
            raise DataError(
                f"{rows:,} rows were counted where the files have {self.parts.rows:,}. Nothing was released; can all workers read the files?"
            )

    def forget_plan(self) -> None:
        """Counts of several columns go, which only plans are made on; evidence asks for one column at a time."""
        for question in self.once.asked:
            if question[0] == "counts" and len(question) > 2:
                self.once.forget(question)

    def over(self, paths: Sequence[Path], like: Table) -> RowsElsewhere:
        """The rows of other files, by the same engine."""
        return replace(self, parts=Parts.of(paths), like=like)

    def distinct(self, column: str) -> int:
        """How many different values a column has, missing not among them."""
        return self.once(("distinct", column), lambda: self.engine.distinct(self.parts, column))

    def moments(self, columns: Sequence[str]) -> Moments:
        """Of one column with few values from its counts; else smallest and largest values first, then exact sums, of each batch by itself."""
        return self.once(("moments", *columns), lambda: self._moments(columns))

    def _moments(self, columns: Sequence[str]) -> Moments:
        if len(columns) == 1 and ("counts", columns[0]) in self.once.asked:
            counts = self.counts(columns)
            return Moments.of_counts(counts.table.number(columns[0]), counts.rows)
        narrow = replace(self, like=self.like.only(columns))

        def ends(batch: Batch) -> tuple[list[float], list[float]]:
            values = batch.table.numbers(columns)
            with np.errstate(invalid="ignore"):
                low, high = (end.reduce(values, axis=0, initial=start) for end, start in ((np.fmin, np.inf), (np.fmax, -np.inf)))
            return low.tolist(), high.tolist()

        found = np.array(list(narrow.each(ends, None))).reshape(-1, 2, len(columns))
        low, high = found[:, 0].min(axis=0), found[:, 1].max(axis=0)
        return Moments.together(list(narrow.each(lambda batch: Moments.of([batch.table.numbers(columns)], low, high), None)))

    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]:
        """Stretch by stretch, in the order of rows."""
        ids = None if chance is None else self.once(("ids", chance.key("ids")), lambda: self._numbered(chance))
        like = self.like

        def looked(stretch: Stretch) -> list[One]:
            return [task(batch) for batch in _batches(stretch, like, ids)]

        stretches = self.parts.stretches()
        for done, found in enumerate(self.engine.each(looked, stretches), 1):
            yield from found
            self.progress("reading rows", done, len(stretches))

    def _numbered(self, chance: Chance) -> Path:
        """Files with the id of every row, equal rows numbered over all files."""
        out, bare = _made(self.aside, "ids"), _made(self.aside, "bare")
        aside = self.aside

        def ids(batch: Batch) -> None:
            path = bare / f"{int(batch.rows[0]):015d}.parquet"
            with whole(path, aside) as part:
                pq.write_table(pa.table({"row": batch.rows, "id": bare_ids(batch.table, chance).view(np.int64)}), part)

        list(self.each(ids, None))
        self.engine.numbered(Parts.of(sorted(bare.iterdir())), out)
        return out

    def changed(self, change: Callable[[Batch], Changed], chance: Chance | None) -> tuple[RowsElsewhere, list[Changed]]:
        """In files of their own."""
        out, aside = _made(self.aside, "changed"), self.aside

        def write(batch: Batch) -> Changed:
            made = change(batch)
            with whole(out / f"{int(batch.rows[0]):015d}.parquet", aside) as part:
                pq.write_table(made.table.plain, part)
            return made._replace(table=replace(made.table, arrow=made.table.plain.schema.empty_table()))

        made = list(self.each(write, chance))
        return self._over_changed(out, made), made

    def by_block(
        self, block_of: Callable[[Table], IntArray], many: int, change: Callable[[Table], Mapping[str, Any]]
    ) -> tuple[RowsElsewhere, list[Changed]]:
        """Rows are put aside by block; then every block is changed and written."""
        aside, out = _made(self.aside, "blocks"), _made(self.aside, "changed")
        like = self.like

        def put(batch: Batch) -> tuple[Path, pa.Schema]:
            table = batch.table.plain.append_column(ROW, pa.array(batch.rows))
            path = aside / f"{int(batch.rows[0]):015d}.arrow"
            return path, put_aside(path, table, block_of(batch.table), many)

        pieces = list(self.each(put, None))
        paths, schema = [path for path, _ in pieces], pa.unify_schemas([one for _, one in pieces], promote_options="permissive")

        def write(block: int) -> Changed:
            rows = taken_back(paths, block, schema)
            table = replace(like, arrow=rows.drop_columns([ROW]))
            table = table.with_columns(change(table))
            with whole(out / f"{block:09d}.parquet", aside) as part:
                pq.write_table(table.plain, part)
            row = np.asarray(rows.column(ROW).combine_chunks()).astype(np.int64)
            return Changed(replace(table, arrow=table.plain.schema.empty_table()), row)

        made = []
        for done, one in enumerate(self.engine.each(write, range(many)), 1):
            made.append(one)
            self.progress("blocks", done, many)
        return self._over_changed(out, made), made

    def _over_changed(self, out: Path, made: Sequence[Changed]) -> RowsElsewhere:
        schema = pa.unify_schemas([one.table.arrow.schema for one in made], promote_options="permissive")
        if any(one.table.orders != made[0].table.orders for one in made):
            raise DataError("A column of ordered categories has other levels in one part than in another. Give all parts the same levels.")
        like = replace(made[0].table, arrow=schema.empty_table())
        return replace(self, parts=of_one_type(sorted(out.glob("*.parquet")), schema), like=like)

    def released(
        self, change: Callable[[Batch], Changed], finish: Callable[[pa.Table], pa.Table], chance: Chance | None, order: Chance, out: Path
    ) -> Written:
        """Every batch is put aside by bucket, the buckets of the keyed order; then every bucket is put in order and written."""
        aside, buckets = _made(self.aside, "shuffled"), buckets_for(len(self))

        def put(batch: Batch) -> tuple[Path, pa.Schema, Mapping[str, int], int]:
            made = change(batch)
            words = order.words(made.rows.astype(np.uint64), "order")
            table = made.table.plain.append_column(ROW, pa.array(made.rows)).append_column(ORDER, pa.array(words))
            path = aside / f"{int(batch.rows[0]):015d}.arrow"
            return path, put_aside(path, table, bucket_of(words, buckets), buckets), made.tally, len(made.rows)

        pieces = list(self.each(put, chance))
        paths, schema = [one[0] for one in pieces], pa.unify_schemas([one[1] for one in pieces], promote_options="permissive")

        def write(bucket: int) -> tuple[Path, IntArray]:
            rows = taken_back(paths, bucket, schema)
            in_order = pa.array(np.argsort(np.asarray(rows.column(ORDER).combine_chunks())))
            path = out / f"part-{bucket:05d}.parquet"
            with whole(path, aside) as part:
                write_parquet(finish(rows.drop_columns([ORDER, ROW]).take(in_order)), part)
            return path, np.asarray(rows.column(ROW).take(in_order).combine_chunks()).astype(np.int64)

        written, rows_at = [], aside / "source_rows.npy"
        with rows_at.open("wb") as file:  # row after row: of very many they would fill the memory
            about = {"descr": "<i8", "fortran_order": False, "shape": (sum(one[3] for one in pieces),)}
            np.lib.format.write_array_header_1_0(file, about)
            for done, (path, rows) in enumerate(self.engine.each(write, range(buckets)), 1):
                written.append(path)
                file.write(rows.astype("<i8").tobytes())
                self.progress("writing", done, buckets)
        return Written(written, np.load(rows_at, mmap_mode="r"), [one[2] for one in pieces])


def _batches(stretch: Stretch, like: Table, ids: Path | None) -> Iterator[Batch]:
    """The rows of a stretch, read where the task runs."""
    for first, arrow in batches(stretch, like.columns):
        rows = np.arange(first, first + len(arrow))
        yield Batch(replace(like, arrow=arrow), _ids_of(ids, rows), rows)


def _ids_of(ids: Path | None, rows: IntArray) -> UintArray:
    if ids is None or not len(rows):
        return np.zeros(0, np.uint64)
    between = [("row", ">=", int(rows[0])), ("row", "<=", int(rows[-1]))]
    paths = sorted(str(path) for path in ids.glob("*.parquet"))
    found = pq.read_table(paths, filters=between, partitioning=None).sort_by("row")  # names of folders say nothing
    id_, number = (np.asarray(found.column(name).combine_chunks()) for name in ("id", "number"))
    return np.asarray(id_.view(np.uint64) + number.astype(np.uint64) * NUMBERED)


def _typed(column: pa.ChunkedArray, type_: pa.DataType) -> pa.Array:
    """In the type of the files: an engine may have another for what is never there."""
    return pa.nulls(len(column)) if pa.types.is_null(type_) else column.cast(type_).combine_chunks()


def too_many(columns: Sequence[str], memory: int) -> TooManyCombinations:
    """Counts that no plan can be made on."""
    return TooManyCombinations(
        f"{counted(len(columns), 'column')} have more combinations than fit into the memory given ({memory >> 20:,} MB for counts). Give more "
        "with --memory, make columns coarser first (recode, rounding), or make fewer of them quasi-identifiers."
    )


def _made(aside: Path, what: str) -> Path:
    """A new folder, its owner's alone. Engines put files of their own beside it, so there is nothing to be counted for its name."""
    return Path(mkdtemp(prefix=f"{what}-", dir=aside))


def of_one_type(paths: Sequence[Path], schema: pa.Schema) -> Parts:
    """Files that each have what their own rows needed, with the types that all rows need."""
    for path in paths:
        with pq.ParquetFile(path) as file:
            same = file.schema_arrow.remove_metadata().equals(schema)
        if not same:
            pq.write_table(pq.read_table(path, partitioning=None).cast(schema), path)
    return Parts.of(paths)
