"""Counts: the distinct combinations of some columns, with how many rows each has; and exact sums of numbers. What decides needs no rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.bins import Bins, binned
from shoal.errors import DataError
from shoal.table import Table

_LARGEST = 1 << 62


@dataclass(frozen=True, repr=False)
class Counts:
    """Distinct combinations of columns, in the order of their values, and how many rows have each. Codes and levels are those of the rows; in
    columns that were cut into bins, a value stands for the bin that begins there."""

    table: Table  # a row is a combination; it knows the bins
    rows: IntArray  # how many rows have it
    _made_from: tuple[Table, IntArray] | None = field(default=None, compare=False)  # and the combination of each of its rows

    @staticmethod
    def of(table: Table, columns: Sequence[str], bins: Bins = MappingProxyType({})) -> Counts:
        """Of the rows of a table, some of its columns cut into bins."""
        cut = binned(table, bins)
        combination, first = combinations([cut.codes(column) for column in columns], len(table))
        return Counts(_distinct(cut, columns, first), np.bincount(combination, minlength=len(first)), (table, combination))

    @staticmethod
    def merged(parts: Sequence[Counts]) -> Counts:
        """Of several parts of a table together."""
        columns = parts[0].table.columns
        every = replace(parts[0].table, arrow=pa.concat_tables([part.table.plain for part in parts], promote_options="permissive"))
        combination, first = combinations([every.codes(column) for column in columns], len(every))
        rows = np.bincount(combination, np.concatenate([part.rows for part in parts]), minlength=len(first)).astype(np.int64)
        return Counts(_distinct(every, columns, first), rows)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def total(self) -> int:
        """Rows in all."""
        return int(self.rows.sum())

    def places(self, batch: Table) -> IntArray:
        """Which combination each row of a batch is."""
        if self._made_from is not None and batch is self._made_from[0]:
            return self._made_from[1]
        batch = binned(batch, self.table.bins)
        known, widths, keys, order = self._keys
        key, there = np.zeros(len(batch), np.int64), np.ones(len(batch), np.bool_)
        for column, width, prefixes in zip(self.table.columns, widths, known):
            found = pc.index_in(batch.levels(column), value_set=self.table.levels(column), skip_nulls=False)
            if found.null_count:
                raise DataError(f"Column '{column}' has values that were not there when they were counted. Count again.")
            if prefixes is not None:
                key, there = _looked_up(prefixes, key, there)
            key = key * width + np.asarray(found).astype(np.int64)[batch.codes(column)]
        place, there = _looked_up(keys, key, there)
        if not there.all():
            raise DataError("Some rows have combinations of values that were not there when they were counted. Count again.")
        return place if order is None else order[place]

    @cached_property
    def _keys(self) -> tuple[list[IntArray | None], list[int], IntArray, IntArray | None]:
        """One number for each combination, rising, and whose it is; where numbers would grow too long, the distinct ones so far are numbered anew."""
        key, size, known, widths = np.zeros(len(self), np.int64), 1, list[IntArray | None](), []
        for column in self.table.columns:
            codes = self.table.codes(column)
            width = int(codes.max(initial=-1)) + 1
            prefixes = None
            if size > _LARGEST // max(width, 1):
                prefixes, key = np.unique(key, return_inverse=True)
                key, size = key.reshape(-1), len(prefixes)
            known.append(prefixes)
            widths.append(width)
            key, size = key * width + codes, size * width
        order = None if (key[1:] > key[:-1]).all() else np.argsort(key)
        return known, widths, key if order is None else key[order], order


def _looked_up(rising: IntArray, key: IntArray, there: BoolArray) -> tuple[IntArray, BoolArray]:
    """Where each key stands, and whether it does. Keys are looked up in their own order: what is near is near in memory, too."""
    place = np.zeros(len(key), np.int64)
    if not len(rising):
        return place, np.zeros(len(key), np.bool_)
    order = np.argsort(key)
    place[order] = np.minimum(np.searchsorted(rising, key[order]), len(rising) - 1)
    return place, there & (rising[place] == key)


def combinations(codes: Sequence[IntArray], rows: int) -> tuple[IntArray, IntArray]:
    """The number of each row's combination of codes, in the order of codes, the first column first; and a row of each."""
    key, size = np.zeros(rows, np.int64), 1
    for column in codes:
        width = int(column.max(initial=-1)) + 1
        if size > _LARGEST // max(width, 1):
            known, key = np.unique(key, return_inverse=True)
            key, size = key.reshape(-1), len(known)
        key, size = key * width + column, size * width
    if size <= 4 * rows:
        there = np.full(size, -1)
        there[key[::-1]] = np.arange(rows)[::-1]
        first = there[there >= 0]
        number = np.cumsum(there >= 0) - 1
        return number[key], first
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    return number.reshape(-1), first


def _distinct(table: Table, columns: Sequence[str], first: IntArray) -> Table:
    return table.without([column for column in table.columns if column not in columns]).take(first)


@dataclass(frozen=True)
class Moments:
    """Exact sums of numbers, each column put on a fixed point: `(x - low) * scale`, rounded to a whole number below 2^31.

    Means, deviations and covariances that come from them are the same however the rows are ordered or partitioned.
    """

    low: FloatArray
    scale: FloatArray  # powers of two
    known: IntArray  # [i, j]: rows that have both
    sums: tuple[tuple[int, ...], ...]  # [i][j]: of column i, over those rows
    products: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(parts: Iterable[FloatArray], low: FloatArray, high: FloatArray) -> Moments:
        """Of rows that come in parts; `low` and `high` are the smallest and largest value of each column."""
        d, some = len(low), high >= low  # a column without a value has neither
        low, high = np.where(some, low, 0.0), np.where(some, high, 0.0)
        width = high - low
        scale = 2.0 ** np.where(width > 0, 30 - np.ceil(np.log2(np.where(width > 0, width, 1.0))), 0.0)
        known = np.zeros((d, d), np.int64)
        sums, products = [[0] * d for _ in range(d)], [[0] * d for _ in range(d)]
        for part in parts:
            there = ~np.isnan(part)
            whole = np.where(there, np.rint((np.where(there, part, low) - low) * scale), 0.0).astype(np.int64)
            for i in range(d):
                for j in range(d):
                    known[i, j] += int((there[:, i] & there[:, j]).sum())
                    sums[i][j] += int(whole[there[:, j], i].sum())
                    products[i][j] += _product(whole[:, i], whole[:, j]) if j >= i else 0
        for i in range(d):
            for j in range(i):
                products[i][j] = products[j][i]
        return Moments(low, scale, known, tuple(map(tuple, sums)), tuple(map(tuple, products)))

    @staticmethod
    def of_counts(values: FloatArray, rows: IntArray) -> Moments:
        """Of one column, from its distinct values and how many rows have each."""
        known = ~np.isnan(values)
        low, high = (np.array([end.reduce(values[known], initial=start)]) for end, start in ((np.fmin, np.inf), (np.fmax, -np.inf)))
        alone = Moments.of([values[:, None]], low, high)
        whole = np.rint((values[known] - alone.low[0]) * alone.scale[0]).astype(np.int64).tolist()
        times = rows[known].tolist()
        total, square = sum(n * x for n, x in zip(times, whole)), sum(n * x * x for n, x in zip(times, whole))
        return replace(alone, known=np.array([[sum(times)]]), sums=((total,),), products=((square,),))

    @staticmethod
    def together(parts: Sequence[Moments]) -> Moments:
        """Of several parts of a table, on the same fixed point."""
        first = parts[0]
        sums, products = ([[0] * len(first.low) for _ in first.low] for _ in range(2))
        for part in parts:
            for i in range(len(first.low)):
                for j in range(len(first.low)):
                    sums[i][j] += part.sums[i][j]
                    products[i][j] += part.products[i][j]
        return replace(
            first, known=np.sum([part.known for part in parts], axis=0), sums=tuple(map(tuple, sums)), products=tuple(map(tuple, products))
        )

    @cached_property
    def means(self) -> FloatArray:
        """NaN where no value is known."""
        return np.array([_mean(self, i) for i in range(len(self.low))])

    @cached_property
    def covariances(self) -> FloatArray:
        """Of the rows that have both; 0 where fewer than two have."""
        d = len(self.low)
        found = np.zeros((d, d))
        for i in range(d):
            for j in range(d):
                n = int(self.known[i, j])
                if n > 1:
                    apart = n * self.products[i][j] - self.sums[i][j] * self.sums[j][i]
                    found[i, j] = apart / (n * (n - 1)) / self.scale[i] / self.scale[j]
        return found

    @cached_property
    def deviations(self) -> FloatArray:
        """Sample standard deviations; 0 where fewer than two values are known."""
        return np.sqrt(np.maximum(np.diag(self.covariances), 0.0))


def _mean(moments: Moments, i: int) -> float:
    n = int(moments.known[i, i])
    return float(moments.low[i] + moments.sums[i][i] / n / moments.scale[i]) if n else float("nan")


def _product(x: IntArray, y: IntArray) -> int:
    """The sum of products of numbers below 2^31, by halves, none of whose sums can overflow."""
    (a, b), (c, d) = ((one >> 16, one & 0xFFFF) for one in (x, y))
    return (int(a @ c) << 32) + ((int(a @ d) + int(b @ c)) << 16) + int(b @ d)
