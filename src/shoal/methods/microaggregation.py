"""Microaggregation: replace records by what stands for groups of at least k similar ones."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.kernels.blocks import BLOCK_ROWS, MOST_ROWS, mdav_large_groups
from shoal.kernels.mdav import mdav_groups, mdav_groups_mixed
from shoal.kernels.refine import swap_refinement
from shoal.kernels.scaling import standardized
from shoal.kernels.univariate import fixed_univariate_groups, optimal_univariate_groups
from shoal.kernels.v_mdav import v_mdav_groups
from shoal.methods.blocks import BlockMethod, Blocks, constant_ones, cut_blocks, points_of, scaled
from shoal.methods.coordinates import ColumnMethod, Coordinates, Standardize, as_points, constant_columns, coordinates_of, representatives
from shoal.promises import Promise
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles, Scale
from shoal.rows import bare_ids
from shoal.table import Table

LEAST_GROUPS = 6  # of an outer block
Refine = Literal["none", "swap"]
Grouping = Literal["fixed", "optimal"]


class Multivariate(ColumnMethod):
    """Groups of at least k records over all chosen columns at once: k-anonymous over them."""

    scope: ClassVar[Scope] = "table"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    k: int = Field(3, ge=2, description="Smallest group size")
    standardize: Standardize = Field(
        "deviation", description="Whether numeric columns are divided by their sample standard deviation before distances are taken"
    )
    refine: Refine = Field("none", description="swap: exchange records between neighbouring groups while the sum of squares falls")

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Group, refine if asked, replace each group by its representative."""
        columns = self.chosen(table, roles, self.takes)
        self.enough_rows(len(table), self.k)
        coordinates = coordinates_of(table, roles, columns, self.standardize)
        groups = self.groups(coordinates, progress)
        if self.refine == "swap":
            groups = self.refined(coordinates, groups)
        return _released(self, table, roles, columns, groups, chance)

    def groups(self, coordinates: Coordinates, progress: Progress) -> IntArray:
        """The group of each record."""
        raise TypeError(f"{type(self).__name__} does not say how it groups")  # each algorithm below does

    def refined(self, coordinates: Coordinates, groups: IntArray) -> IntArray:
        """Moves, exchanges and rounds of three between neighbouring groups, each by the exact change of the sum of squares."""
        return swap_refinement(as_points(coordinates), groups, self.k)


class Mdav(Multivariate):
    """Replace records by the mean of groups of at least k, farthest first (Domingo-Ferrer & Mateo-Sanz 2002; mixed columns: 2005).

    Twice a round, the record farthest from the centre of those left takes its k - 1 nearest; ties go to the lowest row. Exact: the same
    groups as the plain quadratic algorithm. Over all quasi-identifiers together the release is k-anonymous; over blocks of them it is not.
    """

    name: ClassVar[str] = "mdav"
    title: ClassVar[str] = "MDAV microaggregation"

    def groups(self, coordinates: Coordinates, progress: Progress) -> IntArray:
        """Algorithm 1 of Abril's thesis, with limits 3k and 2k."""

        def told(done: int, of: int) -> None:
            progress(self.name, done, of)

        if coordinates.nominal.shape[1]:
            return mdav_groups_mixed(coordinates.points, coordinates.nominal, self.k, progress=told)
        return mdav_groups(coordinates.points, self.k, progress=told)


class MdavLarge(BlockMethod):
    """MDAV inside blocks of neighbouring records, then swaps between blocks: for tables where exact MDAV takes too long.

    MDAV is that of Domingo-Ferrer & Mateo-Sanz 2002; blocks and swaps are shoal's own.
    It differs from `mdav` in its groups, not in its promise: records are first cut at medians of the widest column into blocks, so a
    group near a cut is found only by the swaps that follow. Nothing crosses the cuts between blocks of about 100,000 records. On correlated data
    its sum of squares is about exact MDAV's, on independent columns a few per cent above.
    """

    name: ClassVar[str] = "mdav-large"
    title: ClassVar[str] = "Blocked MDAV with swap refinement"
    scope: ClassVar[Scope] = "block"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    k: int = Field(3, ge=2, description="Smallest group size")
    standardize: Standardize = Field(
        "deviation", description="Whether numeric columns are divided by their sample standard deviation before distances are taken"
    )
    block_rows: int = Field(BLOCK_ROWS, ge=10, description="Most rows that MDAV sees at once, raised to 6 k where k is large")
    refine: Refine = Field("swap", description="swap: exchange records between neighbouring groups while the sum of squares falls")

    def blocks(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Blocks:
        """Cut at medians of what all rows have in common; each block by itself, its rows in the order of their values."""
        columns = self.chosen(table, roles, self.takes)
        self.enough_rows(len(table), self.k)
        places = scaled(table, roles, columns, self.standardize)

        def points(rows: Table) -> FloatArray:
            return points_of(places, rows)

        block, many = cut_blocks(table, points, max(MOST_ROWS, 3 * LEAST_GROUPS * self.k), LEAST_GROUPS * self.k, chance)

        def change(rows: Table) -> dict[str, Any]:
            at = points(rows)
            order = np.lexsort((bare_ids(rows, chance), *at.T[::-1]))
            groups = mdav_large_groups(at[order], self.k, self.block_rows, most_passes=None if self.refine == "swap" else 0)
            found = representatives(rows.take(order), roles, columns, groups)
            back = pa.array(np.argsort(order))
            return {column: values.take(back) for column, values in found.items()}

        step = self.step(columns, self.guarantees, (Promise("k-anonymity", self.k, columns),))
        return Blocks(step, many, block, change, constant_ones(table, roles, columns))


class VMdav(Multivariate):
    """MDAV whose groups may grow up to 2k - 1 where a neighbour is closer to the group than to anyone else (Solanas & Martínez-Ballesté 2006)."""

    name: ClassVar[str] = "v-mdav"
    title: ClassVar[str] = "Variable-size MDAV"
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    gamma: float = Field(0.2, ge=0, description="How readily groups grow; 0: never")

    def groups(self, coordinates: Coordinates, progress: Progress) -> IntArray:
        """Nominal columns enter as coordinates."""
        return v_mdav_groups(as_points(coordinates), self.k, self.gamma)


class Projection(Multivariate):
    """Records ordered along one axis, then cut into groups."""

    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal")
    grouping: Grouping = Field("fixed", description="fixed: k at a time; optimal: least squares along the axis (Hansen & Mukherjee 2003)")

    def groups(self, coordinates: Coordinates, progress: Progress) -> IntArray:
        """Sort by the projection, cut."""
        return _cut(self.axis(coordinates.points), self.k, self.grouping)

    def axis(self, points: FloatArray) -> FloatArray:
        """Each record's place on the axis."""
        raise TypeError(f"{type(self).__name__} does not say its axis")


class ZProjection(Projection):
    """Order records by the sum of their z-scores and group neighbours in that order (MicZ, Defays & Nanopoulos 1993)."""

    name: ClassVar[str] = "z-projection"
    title: ClassVar[str] = "Microaggregation along the sum of z-scores"

    def axis(self, points: FloatArray) -> FloatArray:
        """Sum of z-scores."""
        return np.asarray(sum(standardized(points[:, j]) for j in range(points.shape[1])))


class PcaProjection(Projection):
    """Order records by their first principal component and group neighbours in that order (MicPCP, Defays & Nanopoulos 1993)."""

    name: ClassVar[str] = "pca-projection"
    title: ClassVar[str] = "Microaggregation along the first principal component"

    def axis(self, points: FloatArray) -> FloatArray:
        """The eigenvector of the largest eigenvalue; its sign is fixed so that runs repeat."""
        centred = points - points.mean(axis=0)
        direction = np.linalg.eigh(centred.T @ centred)[1][:, -1]
        return np.asarray(centred @ (direction * np.sign(direction[np.argmax(np.abs(direction))])))


class IndividualRanking(ColumnMethod):
    """Microaggregate each column by itself: sort it, replace k neighbours by their mean (MicIR, Defays & Nanopoulos 1993).

    It loses almost nothing and protects almost nothing: records stay unique over several columns, and linkage finds nearly all of them. It
    does not give k-anonymity over more than one column.
    """

    name: ClassVar[str] = "individual-ranking"
    title: ClassVar[str] = "Individual ranking"
    scope: ClassVar[Scope] = "table"
    guarantees: ClassVar[tuple[str, ...]] = ()
    k: int = Field(3, ge=2, description="Smallest group size, in each column by itself")
    grouping: Grouping = Field("fixed", description="fixed: k at a time; optimal: least squares (Hansen & Mukherjee 2003)")

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Column by column; missing values form groups of their own and stay missing."""
        columns = self.chosen(table, roles, ("numeric", "ordinal"))
        self.enough_rows(len(table), self.k)
        changed: dict[str, Any] = {}
        for done, column in enumerate(columns):
            values = coordinates_of(table, roles, [column], "none").points[:, -1]
            known = ~table.missing(column)
            groups = np.zeros(len(table), np.int64)  # group 0: the missing
            if known.sum() >= self.k:
                groups[known] = 1 + _cut(values[known], self.k, self.grouping)
            else:
                groups[known] = 1
            changed |= representatives(table, roles, [column], groups)
            progress(self.name, done + 1, len(columns))
        warnings = constant_columns(table, columns)
        promises = (Promise("k-anonymity", self.k, columns),) if len(columns) == 1 and not table.missing(columns[0]).any() else ()
        return Release.of(table, changed, roles, self.step(columns, self.guarantees, promises), chance, warnings)


def _cut(values: FloatArray, k: int, grouping: Grouping) -> IntArray:
    return optimal_univariate_groups(values, k) if grouping == "optimal" else fixed_univariate_groups(values, k)


def _released(method: Multivariate, table: Table, roles: Roles, columns: tuple[str, ...], groups: IntArray, chance: Chance) -> Release:
    promise = Promise("k-anonymity", method.k, columns)
    step = method.step(columns, method.guarantees, (promise,))
    changed = representatives(table, roles, columns, groups)
    return Release.of(table, changed, roles, step, chance, constant_columns(table, columns))
