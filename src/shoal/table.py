"""Table: a frozen view over Arrow. With files.py, the only place that knows pandas, polars or Arrow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, FloatArray, IntArray, UintArray
from shoal.dates import EARLIEST, calendar_of, reach_of, write_dates
from shoal.errors import DataError, counted, did_you_mean
from shoal.once import Once

if TYPE_CHECKING:
    from shoal.bins import Bin, Extent
    from shoal.counts import Counts, Moments
    from shoal.randomness import Chance
    from shoal.rows import Batch

FARTHEST = 1e75  # fourth powers of such numbers, and of one over them, still fit a float
One = TypeVar("One")
Kind = Literal["number", "date", "text", "flag", "empty"]


@dataclass(frozen=True)
class Format:
    """How a table was written on disk, so that its release is written the same way."""

    kind: Literal["csv", "parquet"] = "csv"
    delimiter: str = ","
    decimal: Literal[".", ","] = "."
    missing: str = ""
    encoding: str = "utf-8"
    formulas: Literal["keep", "escape"] = "keep"  # text that a spreadsheet program would run


@dataclass(frozen=True, repr=False)
class Table:
    """Named columns of equal length. Missing is a value of its own: null in Arrow, NaN in `numbers`, the last code in `codes`."""

    arrow: pa.Table
    native: Literal["arrow", "pandas", "polars"] = "arrow"
    format: Format = Format()
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # levels of ordered categories, lowest first
    cells: frozenset[str] = frozenset()  # columns written in the notation of cell.py: sets, intervals, suppressed
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # of columns of cells: what a cell is called where it is written
    date_formats: Mapping[str, str] = field(default_factory=dict)  # dates that came as text, and are written in that form
    bins: Mapping[str, Bin] = field(default_factory=dict)  # columns whose values stand for the bins that begin there: of counts
    once: Once = field(default_factory=Once, init=False, compare=False)  # codes, levels, numbers of cells

    @staticmethod
    def of(data: Any) -> Table:
        """From a Table, a pandas or polars DataFrame, an Arrow table, or a dict of columns. Indexes and metadata are dropped."""
        if isinstance(data, Table):
            return data
        library = type(data).__module__.split(".")[0] if type(data).__name__ == "DataFrame" else ""
        if library == "pandas":
            names = [str(name) for name in data.columns]
            _refuse_duplicates(names)
            data = data.set_axis(names, axis=1)
            return _clean(_from_pandas(data), "pandas")
        if library == "polars":
            # Before 1.44 polars hands an Enum over as categories without an order.
            levels = {name: tuple(kind.categories) for name, kind in data.schema.items() if type(kind).__name__ == "Enum"}
            return replace(_clean(data.to_arrow(), "polars"), orders=levels)
        if isinstance(data, pa.Table):
            return _clean(data, "arrow")
        if isinstance(data, Mapping):
            try:
                return _clean(pa.table({str(name): pa.array(values) for name, values in data.items()}), "arrow")
            except (pa.ArrowInvalid, pa.ArrowTypeError):  # Arrow's own message may quote a cell
                raise DataError("The columns differ in length, or one mixes numbers and text.") from None
        raise DataError(f"A table is needed (pandas, polars, Arrow or a dict of columns), got {type(data).__name__}.")

    def to_native(self) -> Any:
        """The same kind of object the user handed in."""
        plain = replace(self, arrow=self.written).plain
        if self.native == "pandas":
            frame = plain.to_pandas()
            for column, levels in self._occurring.items():
                import pandas

                frame[column] = pandas.Categorical(frame[column], categories=levels, ordered=True)
            return frame
        if self.native == "polars":
            import polars

            given = polars.from_arrow(plain)
            assert isinstance(given, polars.DataFrame)
            return given.with_columns(polars.col(column).cast(polars.Enum(levels)) for column, levels in self._occurring.items())
        return plain

    @property
    def _occurring(self) -> dict[str, list[str]]:
        """The ordered categories, each with those of its levels that some row has: a level nobody has any more would tell that somebody had it."""
        found = {}
        for column, levels in self.orders.items():
            if column in self.columns and self.kind(column) == "text" and column not in self.cells:
                there = set(self.levels(column).to_pylist())
                found[column] = [level for level in levels if level in there]
        return found

    @property
    def written_dates(self) -> dict[str, str]:
        """The columns of dates that are written as text, and in which form."""
        return {c: form for c, form in self.date_formats.items() if c in self.columns and self.kind(c) == "date"}

    @property
    def written(self) -> pa.Table:
        """The Arrow table as it is handed out: dates that came as text are text again, in the form they had; nodes of a hierarchy have their names."""
        texts = {c: write_dates(self.levels(c), form).take(pa.array(self.codes(c))) for c, form in self.written_dates.items()}
        texts |= {c: self.shown(c).take(pa.array(self.codes(c))) for c in self.labelled}
        return self.with_columns(texts).arrow if texts else self.arrow

    @property
    def labelled(self) -> tuple[str, ...]:
        """The columns whose cells have names."""
        return tuple(c for c in self.columns if c in self.labels and c in self.cells and self.kind(c) == "text")

    def shown(self, name: str) -> pa.Array:
        """The distinct cells of a column, in the order of its codes, as they are written."""
        names, levels = self.labels.get(name, {}), self.levels(name)
        return pa.array([names.get(cell, cell) for cell in levels.to_pylist()], pa.string()) if names else levels

    @property
    def plain(self) -> pa.Table:
        """The Arrow table with every value written out."""
        kept = [name for name in self.columns if pa.types.is_dictionary(self._stored(name).type)]
        return self.with_columns({name: self.column(name) for name in kept}).arrow if kept else self.arrow

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __repr__(self) -> str:
        return f"Table({counted(len(self), 'row')}: {', '.join(self.columns)})"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(self.arrow.column_names)

    def column(self, name: str) -> pa.Array:
        """One column as one Arrow array of plain values."""
        array = self._stored(name)
        return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array

    def _stored(self, name: str) -> pa.Array:
        """One column as it is kept: cells, which are long and few, once each with a number per row."""
        if name not in self.columns:
            raise DataError(f"The table has no column '{name}'.{did_you_mean(name, self.columns)}", about=name)
        array = self.arrow.column(name)
        return array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()

    def kind(self, name: str) -> Kind:
        """What the cells of a column are."""
        type_ = self._stored(name).type
        if pa.types.is_null(type_) or pa.types.is_boolean(type_):
            return "empty" if pa.types.is_null(type_) else "flag"
        if pa.types.is_integer(type_) or pa.types.is_floating(type_) or pa.types.is_decimal(type_):
            return "number"
        if pa.types.is_date(type_) or pa.types.is_timestamp(type_):
            return "date"
        return "text"

    def missing(self, name: str) -> BoolArray:
        """Where a column has no value."""
        return np.asarray(pc.is_null(self._stored(name)))

    def number(self, name: str) -> FloatArray:
        """One column as numbers, NaN where missing; dates count the days (or microseconds) since 1970."""
        array, kind = self.column(name), self.kind(name)
        if kind == "empty":
            return np.full(len(self), np.nan)
        if kind not in ("number", "date"):
            raise DataError(f"Column '{name}' holds text, not numbers. Declare it nominal, or clean it.", about=name)
        if kind == "date":
            counted_in, whole = _counted_in(array.type)
            array = array.cast(counted_in, safe=False).cast(whole)
        values = np.array(array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        infinite = np.isinf(values)
        if infinite.any():
            row = int(np.argmax(infinite)) + 1
            many = counted(int(infinite.sum()), "infinite value")
            raise DataError(f"Column '{name}' has {many} (first at row {row}). Clean them, or mark them as missing.")
        largest = np.nanmax(np.abs(values), initial=0.0)
        if largest > FARTHEST or 0 < largest < 1 / FARTHEST:
            size = f"larger than {FARTHEST:g}" if largest > 1 else f"all smaller than {1 / FARTHEST:g}"
            raise DataError(f"Column '{name}' holds numbers {size}, too far from 1 to compute with. Give it in another unit.")
        return values

    def numbers(self, names: Sequence[str]) -> FloatArray:
        """Several columns as a matrix, one row a record."""
        return np.column_stack([self.number(name) for name in names]) if names else np.empty((len(self), 0))

    def codes(self, name: str) -> IntArray:
        """One column as 0, 1, 2, ... in the order of its values; missing, if any, is the last code."""
        return self.once(("codes", name), lambda: _sorted_codes(self._stored(name)))

    def groups(self, name: str) -> IntArray:
        """Which rows a column puts together, as codes; -1 where it has no value."""
        return np.where(self.missing(name), -1, self.codes(name))

    def levels(self, name: str) -> pa.Array:
        """The distinct values behind `codes`, a null last if any is missing."""
        return self.once(("levels", name), lambda: _sorted_levels(self._stored(name)))

    def extent(self, column: str) -> Extent | None:
        """How far a column of numbers or dates goes, and how many different values it has; None where it has none."""
        from shoal.bins import Extent  # of a Table

        return Extent.of(self, column)

    def counts(self, columns: Sequence[str], bins: Mapping[str, Bin] | None = None) -> Counts:
        """The distinct combinations of some columns, and how many rows have each; `bins` are cut first."""
        from shoal.counts import Counts  # which holds a Table

        return Counts.of(self, columns, bins or {})

    def moments(self, columns: Sequence[str]) -> Moments:
        """Exact sums of numeric columns."""
        from shoal.counts import Moments

        values = self.numbers(columns)
        with np.errstate(invalid="ignore"):
            low, high = (ends.reduce(values, axis=0, initial=start) for ends, start in ((np.fmin, np.inf), (np.fmax, -np.inf)))
        return Moments.of([values], low, high)

    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]:
        """What a task makes of all rows at once."""
        from shoal.rows import Batch

        yield task(Batch(self, self.row_ids(chance) if chance else np.zeros(0, np.uint64), np.arange(len(self))))

    def row_ids(self, chance: Chance) -> UintArray:
        """The id of each row."""
        from shoal.rows import row_ids

        return self.once(("ids", chance.key("ids")), lambda: row_ids(self, chance))

    def with_columns(self, changed: Mapping[str, Any]) -> Table:
        """A new table with some columns replaced; order and names stay."""
        arrow = self.arrow
        for name, values in changed.items():
            column = values if isinstance(values, pa.Array) else pa.array(values)
            if pa.types.is_floating(column.type):
                column = pc.add(column, pa.scalar(0.0, column.type))  # -0.0 and 0.0 are one value
            arrow = arrow.set_column(arrow.column_names.index(name), name, column)
        return replace(self, arrow=arrow, bins={c: one for c, one in self.bins.items() if c not in changed})

    def as_column(self, name: str, values: FloatArray) -> pa.Array:
        """Numbers turned back into what the column held: dates stay dates, everything else becomes floating point; NaN is missing."""
        type_ = self.column(name).type
        missing = np.isnan(values)
        if self.kind(name) == "date":
            whole = pa.array(np.where(missing, 0, np.rint(values)).astype(np.int64), mask=missing)
            counted_in, integer = _counted_in(type_)
            return whole.cast(integer).cast(counted_in).cast(type_, safe=False)
        return pa.array(values, mask=missing)

    def calendar(self, name: str) -> tuple[float, float]:
        """The first and last date that a column can hold and be written with, as `number` counts them; no bounds for other columns."""
        if self.kind(name) != "date":
            return -np.inf, np.inf
        return calendar_of(self.column(name).type, EARLIEST if name in self.date_formats else None)

    def without(self, names: Sequence[str]) -> Table:
        """A new table without some columns."""
        return replace(self, arrow=self.arrow.drop_columns([n for n in names if n in self.columns]))

    def only(self, names: Sequence[str]) -> Table:
        """A new table of some columns; what is asked about it is forgotten with it."""
        return replace(self, arrow=self.arrow.select(list(names)))

    def take(self, rows: IntArray) -> Table:
        """A new table of the rows named, in that order."""
        return replace(self, arrow=self.arrow.take(pa.array(rows)))


def _from_pandas(frame: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (
        pa.ArrowInvalid,
        pa.ArrowTypeError,
        pa.ArrowNotImplementedError,
    ):  # a column mixing numbers and text; Arrow's own message quotes the cell
        for name in frame.columns:
            values = frame[name]
            text = [isinstance(value, str) for value in values]
            if any(text) and not all(text[i] or values.iloc[i] is None or values.iloc[i] != values.iloc[i] for i in range(len(text))):
                row = text.index(True) + 1
                raise DataError(
                    f"Column '{name}' mixes numbers and text ({counted(sum(text), 'text')}, first at row {row}). "
                    "Make it all text, or clean it."
                ) from None
        raise DataError("The table has a column that Arrow cannot hold. Keep numbers, text, dates and booleans.") from None


def _clean(arrow: pa.Table, native: Literal["arrow", "pandas", "polars"]) -> Table:
    """Plain types only: dictionaries decoded (their order remembered), NaN, null and empty text all missing, no metadata, no nested columns."""
    _refuse_duplicates(arrow.column_names)
    if not arrow.num_columns:
        raise DataError("The table has no columns.")
    orders = {}
    columns = []
    for name in arrow.column_names:
        array = arrow.column(name).combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # pyarrow gives a chunked array back for an empty column
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        if pa.types.is_dictionary(array.type):
            if array.type.ordered:
                orders[name] = tuple(str(level) for level in array.dictionary.to_pylist())
            array = array.cast(array.type.value_type)
        if not _plain(array.type):
            raise DataError(
                f"Column '{name}' holds {array.type}, which shoal cannot protect. Turn it into text or numbers, or leave it out."
            )
        if pa.types.is_large_string(array.type) or pa.types.is_string_view(array.type):
            array = array.cast(pa.string())
        if pa.types.is_string(array.type):  # a text of no letters is what a file has where a cell is missing
            array = pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array) if pc.any(pc.equal(array, "")).as_py() else array
        if pa.types.is_time(array.type) or pa.types.is_duration(array.type):
            array = array.cast(pa.int64() if array.type.bit_width == 64 else pa.int32()).cast(pa.int64())
        if pa.types.is_date(array.type) or pa.types.is_timestamp(array.type):
            _refuse_beyond_calendar(name, array)
        if pa.types.is_float16(array.type):  # which Arrow computes little with
            array = array.cast(pa.float32())
        if pa.types.is_floating(array.type):
            # -0.0 and 0.0 are one value
            array = pc.add(pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array), pa.scalar(0.0, array.type))
        columns.append(array)
    return Table(pa.table(columns, names=arrow.column_names), native, orders=orders)


def _plain(type_: pa.DataType) -> bool:
    """Numbers, text, dates and times, flags, or nothing at all."""
    return isinstance(type_, pa.DataType) and any(
        is_one(type_)
        for is_one in (
            pa.types.is_null,
            pa.types.is_boolean,
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_decimal,
            pa.types.is_temporal,
            pa.types.is_string,
            pa.types.is_large_string,
            pa.types.is_string_view,
        )
    )


def _refuse_duplicates(names: Sequence[str]) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 0)
    if times > 1:
        raise DataError(f"The column name '{name}' appears {times} times. Rename the columns so that each is different.")


def _refuse_beyond_calendar(name: str, array: pa.Array) -> None:
    """Arrow can hold years that no calendar has."""
    ends = pc.min_max(array.cast(pa.int32() if pa.types.is_date32(array.type) else pa.int64()))
    low, high = ends["min"].as_py(), ends["max"].as_py()
    first, last = reach_of(array.type)
    if low is not None and (low < first or high > last):
        raise DataError(f"Column '{name}' holds dates outside the years 1 to 9999. Clean them, or give the column as numbers.", about=name)


def _counted_in(type_: pa.DataType) -> tuple[pa.DataType, pa.DataType]:
    """What a date or time is counted in, whatever its own unit, and the integer of that: days, or microseconds."""
    return (pa.date32(), pa.int32()) if pa.types.is_date(type_) else (pa.timestamp("us", tz=type_.tz), pa.int64())


def _sorted_levels(array: pa.Array) -> pa.Array:
    distinct = pc.unique(array)
    if pa.types.is_dictionary(array.type):
        distinct = distinct.dictionary_decode()
    present = distinct.drop_null()
    ordered = present.take(pc.sort_indices(present)) if len(present) else present
    return pa.concat_arrays([ordered, pa.nulls(1, distinct.type)]) if len(present) < len(distinct) else ordered


def _sorted_codes(array: pa.Array) -> IntArray:
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64)
    encoded = array.dictionary_encode()
    rank = np.empty(len(encoded.dictionary) + 1, np.int64)
    rank[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(encoded.dictionary))
    rank[-1] = len(encoded.dictionary)  # missing
    codes = np.asarray(rank[np.asarray(encoded.indices.fill_null(len(encoded.dictionary)))])
    if not pa.types.is_dictionary(array.type):
        return codes
    used = np.bincount(codes) > 0  # rows were taken out of the table, and cells with them
    return np.asarray((np.cumsum(used) - 1)[codes])
