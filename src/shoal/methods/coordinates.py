"""Where records live when a method compares them, and what a group of them is replaced by.

Numeric columns are standardized; ordinal ones are their level's place divided by the number of levels; nominal ones differ by 0 or 1
(Domingo-Ferrer & Torra 2005). A column with missing values gets one more coordinate, 1 where missing and 0 elsewhere, while the missing
value itself sits at the column's mean: missing is a value of its own, equally far from every known one's centre.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.contracts import Source
from shoal.errors import DataError, ParameterError, counted, did_you_mean
from shoal.kernels.scaling import standardized
from shoal.params import Params
from shoal.promises import Promise
from shoal.release import Step
from shoal.roles import Roles, Scale
from shoal.table import Table

Standardize = Literal["deviation", "none"]
FEW = 8


class ColumnMethod(Params):
    """A method that works on chosen columns: those named, or else all quasi-identifiers."""

    adds: ClassVar[tuple[str, ...]] = ()
    finds: ClassVar[tuple[str, ...]] = ()
    counts_persons: ClassVar[bool] = False
    columns: tuple[str, ...] | None = Field(None, description="Columns to protect; absent: all quasi-identifiers")

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """The columns it protects; a method that looks at others too says so."""
        return roles.quasi if self.columns is None else self.columns

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """No hierarchy; a method that generalizes along them says so."""
        return ()

    def chosen(self, table: Source, roles: Roles, takes: Sequence[Scale]) -> tuple[str, ...]:
        """The columns to work on, each of a scale the method is defined for."""
        columns = ColumnMethod.reads(self, roles)
        if not columns:
            raise ParameterError(f"{self.name} has nothing to protect: there is no quasi-identifier. Name some: shoal look suggests roles.")
        for column in columns:
            if column not in table.columns:
                raise DataError(f"{self.name}: the table has no column '{column}'.{did_you_mean(column, table.columns)}", about=column)
            if column in roles.removed:
                what = "an identifier" if column in roles.identifier else "not released, having no role that releases it"
                raise ParameterError(
                    f"{self.name}: column '{column}' is {what}, and leaves the table. Give it another role, or take it out of columns.",
                    about=column,
                )
            if column in roles.household:
                raise ParameterError(
                    f"{self.name}: column '{column}' numbers households, and is not protected by groups. Take it out of columns, and keep only "
                    "numbers that enough households look like, by --link household=5.",
                    about=column,
                )
            scale = roles.scale(table, column)
            if scale not in takes:
                raise ParameterError(
                    f"{self.name}: column '{column}' is {scale}, and {self.name} is defined for {' and '.join(takes)} columns. "
                    "Leave it out with columns, or use another method for it.",
                    about=column,
                )
        if len(set(columns)) < len(columns):
            raise ParameterError(f"{self.name}: a column is named twice in columns.")
        return tuple(columns)

    def enough_rows(self, rows: int, k: int, what: str = "row") -> None:
        """k rows, or persons, are needed for one group of k."""
        if rows < k:
            way_out = f"Use k of at most {rows}" if rows > 1 else f"One {what} cannot be hidden among others"
            raise DataError(f"The table has {counted(rows, what)}, fewer than k = {k}. {way_out}.")

    def step(self, columns: tuple[str, ...], guarantees: tuple[str, ...], promises: tuple[Promise, ...] = ()) -> Step:
        """What the certificate will say was done."""
        parameters = {key: value for key, value in self.given().items() if key != "columns" or value is not None}
        return Step(self.name, parameters, columns, guarantees, self.summary(), promises)


class Coordinates(NamedTuple):
    """Records as points: coordinates, and nominal codes that are equal or not."""

    points: FloatArray
    nominal: IntArray


def coordinates_of(table: Table, roles: Roles, columns: Sequence[str], standardize: Standardize) -> Coordinates:
    """The records of a table, ready to be compared."""
    points: list[FloatArray] = []
    nominal: list[IntArray] = []
    for column in columns:
        scale = roles.scale(table, column)
        if scale == "nominal":
            _refuse_free_text(table, column)
            nominal.append(table.codes(column))
            continue
        values = table.number(column) if scale == "numeric" else roles.ordinal_codes(table, column) / len(roles.levels(table, column))
        missing = np.isnan(values)
        if missing.all():
            continue
        if scale == "numeric" and standardize == "deviation":
            values = standardized(values)
        if missing.any():
            points.append(missing.astype(np.float64))
            values = np.where(missing, np.nanmean(values), values)
        points.append(values)
    rows = len(table)
    return Coordinates(
        np.ascontiguousarray(np.column_stack(points)) if points else np.zeros((rows, 1)),
        np.ascontiguousarray(np.column_stack(nominal)) if nominal else np.empty((rows, 0), np.int64),
    )


def as_points(coordinates: Coordinates) -> FloatArray:
    """Nominal codes as points, for methods that need coordinates throughout: equal codes coincide, different ones are 1 apart (squared).

    Up to FEW codes are the corners of a simplex, where that is exact. More of them would need as many coordinates, so they are spread over a
    sphere by draws that are always the same: still 0 if equal, and 1 on average if not.
    """
    blocks = [coordinates.points]
    for j in range(coordinates.nominal.shape[1]):
        codes = coordinates.nominal[:, j]
        blocks.append(corners_of(int(codes.max(initial=0)) + 1)[codes])
    return np.ascontiguousarray(np.hstack(blocks)) if len(blocks) > 1 else coordinates.points


def corners_of(many: int) -> FloatArray:
    """A point for each of so many codes."""
    corners = np.eye(many)
    if many > FEW:
        corners = np.random.default_rng(many).standard_normal((many, FEW))
        corners /= np.linalg.norm(corners, axis=1, keepdims=True)
    return np.asarray(corners / np.sqrt(2))


def representatives(table: Table, roles: Roles, columns: Sequence[str], groups: IntArray) -> dict[str, pa.Array]:
    """Each group's mean (numeric), median (ordinal) or plurality (nominal), computed once, so that its rows are the same to the byte.

    Where more of a group is missing than known, its representative is missing; else it is that of the known values.
    """
    of_scale: dict[Scale, Callable[[Table, Roles, str, IntArray], pa.Array]] = {
        "numeric": _means,
        "ordinal": _medians,
        "nominal": _pluralities,
    }
    return {column: of_scale[roles.scale(table, column)](table, roles, column, groups) for column in columns}


def _means(table: Table, roles: Roles, column: str, groups: IntArray) -> pa.Array:
    values = table.number(column)
    known = ~np.isnan(values)
    size = np.bincount(groups)
    counted_ = np.bincount(groups[known], minlength=len(size))
    sums = np.bincount(groups[known], values[known], minlength=len(size))
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(2 * counted_ >= size, _readable(sums / counted_), np.nan)
    return table.as_column(column, _exact_where_constant(values, groups, known, means)[groups])


def _readable(means: FloatArray) -> FloatArray:
    """Twelve significant digits: 0.2 and not 0.19999999999999973, which says no more."""
    with np.errstate(divide="ignore", invalid="ignore"):
        digits = 11 - np.floor(np.log10(np.abs(means)))
    usable = np.isfinite(digits) & (np.abs(digits) < 300)
    scale = 10.0 ** np.where(usable, digits, 0)
    return np.where(usable, np.rint(means * scale) / scale, means)


def _exact_where_constant(values: FloatArray, groups: IntArray, known: BoolArray, means: FloatArray) -> FloatArray:
    """The mean of equal values is that value, not its neighbour in the last digit."""
    low = np.full(len(means), np.inf)
    high = np.full(len(means), -np.inf)
    np.minimum.at(low, groups[known], values[known])
    np.maximum.at(high, groups[known], values[known])
    return np.where((low == high) & ~np.isnan(means), low, means)


def _medians(table: Table, roles: Roles, column: str, groups: IntArray) -> pa.Array:
    """The lower median, which is always one of the levels."""
    codes = roles.ordinal_codes(table, column)
    known = ~np.isnan(codes)
    size = np.bincount(groups)
    count = np.bincount(groups[known], minlength=len(size))
    order = np.lexsort((codes[known], groups[known]))
    first = np.concatenate(([0], np.cumsum(count)[:-1]))
    middle = np.minimum(first + np.maximum(count - 1, 0) // 2, max(len(order) - 1, 0))
    median = codes[known][order][middle] if len(order) else np.zeros(len(size))
    median = np.where((count > 0) & (2 * count >= size), median, np.nan)[groups]
    array = table.column(column)
    by_level = {str(v): v for v in table.levels(column).to_pylist() if v is not None}
    levels = pa.array([by_level.get(level) for level in roles.levels(table, column)], array.type)
    return levels.take(pa.array(np.where(np.isnan(median), 0, median).astype(np.int64), mask=np.isnan(median)))


def _pluralities(table: Table, roles: Roles, column: str, groups: IntArray) -> pa.Array:
    """The most frequent value, missing being one; ties go to the first in order."""
    codes = table.codes(column)
    width = int(codes.max(initial=0)) + 1
    pair, count = np.unique(groups * width + codes, return_counts=True)
    group, code = pair // width, pair % width
    order = np.lexsort((code, -count, group))
    first = order[np.unique(group[order], return_index=True)[1]]
    return table.levels(column).take(pa.array(code[first][groups]))


def _refuse_free_text(table: Table, column: str) -> None:
    distinct, rows = int(table.codes(column).max(initial=0)) + 1, len(table)
    if distinct > max(100, rows / 2):
        raise DataError(
            f"Column '{column}' has {counted(distinct, 'distinct value')} in {counted(rows, 'row')}: it names rows by itself. "
            "Give it the role identifier, or bring it into broader categories."
        )


def constant_columns(table: Table, columns: Sequence[str], rows: int = 0) -> tuple[str, ...]:
    """Warnings for columns that say nothing; `rows` are those that the table's rows stand for."""
    warnings = []
    for column in columns:
        if table.missing(column).all():
            warnings.append(f"Column '{column}' has no value at all and is released as it is.")
        elif max(len(table), rows) > 1 and not table.codes(column).max(initial=0):
            warnings.append(f"Column '{column}' is the same in every row; protecting it changes nothing.")
    return tuple(warnings)


def numeric_matrix(table: Table, roles: Roles, columns: Sequence[str]) -> FloatArray:
    """Numeric and ordinal columns as numbers, NaN where missing."""
    parts: list[Any] = [roles.ordinal_codes(table, c) if roles.scale(table, c) == "ordinal" else table.number(c) for c in columns]
    return np.column_stack(parts)
