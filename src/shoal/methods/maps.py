"""Microaggregation by self-organizing maps in two levels (k-TCA and constrained TCA of Zouinina et al. 2018 and 2020)."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from pydantic import Field, model_validator

from shoal.arrays import FloatArray, IntArray
from shoal.contracts import Progress, Scope, quiet
from shoal.errors import ParameterError, counted
from shoal.kernels.dissolve import dissolve
from shoal.kernels.lvq import wlvq2
from shoal.kernels.refine import swap_refinement
from shoal.kernels.som import MANY, best_units, collaborate, kohonen_units, linear_mixture, map_shape, train
from shoal.methods.coordinates import Standardize, as_points, constant_columns, coordinates_of, representatives
from shoal.methods.diversity import MISSING, Missing, diverse_enough, diversity_promises, real_codes
from shoal.methods.labels import Labelled, leaning
from shoal.promises import Promise
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles, Scale
from shoal.table import Table

Coding = Literal["centroid", "prototype"]
STAGES = 4


class Grouped(NamedTuple):
    """The second map's work: which unit each record is at, where the units are, and where records are compared."""

    units: FloatArray  # prototypes, in weighted coordinates
    group: IntArray
    coded: FloatArray  # the pre-anonymized records, in weighted coordinates
    points: FloatArray  # the records themselves, in weighted coordinates
    weights: FloatArray
    accepted: int  # steps of collaboration


class TwoLevel(Labelled):
    """Maps of views of the columns, which collaborate; then a map of the records as the first maps code them."""

    scope: ClassVar[Scope] = "table"
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    l: int = Field(1, ge=1, description="Fewest different values of each confidential column in a group; 1: not asked")  # noqa: E741
    missing: Missing = Field("ignored", description=MISSING)
    views: int = Field(2, ge=1, description="Parts that the columns are cut into, in the order given; each gets a map. 1: no collaboration")
    standardize: Standardize = Field(
        "deviation", description="Whether numeric columns are divided by their sample standard deviation before distances are taken"
    )
    coding: Coding = Field("centroid", description="What a group is released as: centroid, its mean; prototype, its unit, as published")

    @model_validator(mode="after")
    def _prototypes_alone(self) -> Self:
        if self.coding == "prototype" and self.labels is not None:
            raise ValueError("prototypes that labels have moved no longer stand for their records. Use coding=centroid with labels.")
        return self

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also the confidential columns, where groups are to be diverse."""
        return (*super().reads(roles), *(roles.confidential if self.l > 1 else ()))

    def allow_confidential(self, column: str) -> None:
        """Only with diversity."""
        if self.l < 2:
            raise ParameterError(f"{leaning(self.name, column)} Ask for l of 2 or more, or leave labels out.")

    def sensitive(self, table: Table, roles: Roles) -> IntArray | None:
        """The codes of each confidential column that every group must have l of, -1 for cells that are no value."""
        if self.l == 1:
            return None
        if not roles.confidential:
            raise ParameterError(f"{self.name}: l needs a confidential column. Name one with --confidential.")
        found = [real_codes(table, roles, column, self.missing) for column in roles.confidential]
        for column, codes in zip(roles.confidential, found):
            diverse_enough(self.name, column, codes, np.ones(len(table), np.int64), self.l, 1.0)
        return np.column_stack(found).astype(np.int64)

    def mapped(self, table: Table, roles: Roles, columns: tuple[str, ...], rng: Generator, mixture: bool, progress: Progress) -> Grouped:
        """Both levels. `mixture`: the first codes by a mixture of four units instead of the best one."""
        classes = self.classes(table, roles, columns)
        parts = np.array_split(np.arange(len(columns)), min(self.views, len(columns)))
        views = [as_points(coordinates_of(table, roles, [columns[j] for j in part], self.standardize)) for part in parts]
        points = np.ascontiguousarray(np.hstack(views))
        rows, across = map_shape(points, kohonen_units(len(table)))
        maps = []
        for view in views:
            maps.append(train(view, rows, across))
        progress(self.name, 1, STAGES)
        maps, accepted = collaborate(views, maps)
        progress(self.name, 2, STAGES)
        coded = np.hstack([_coded(view, one.units, classes, rng, mixture) for view, one in zip(views, maps)])
        second = train(coded, *map_shape(coded, self.second_units(len(table)))).units
        progress(self.name, 3, STAGES)
        weights = np.ones(points.shape[1])
        if classes is not None:
            second, _, weights, _ = wlvq2(coded, classes, second, rng)
        coded = coded * weights
        return Grouped(second, best_units(coded, second)[0], coded, points * weights, weights, accepted)

    def second_units(self, records: int) -> int:
        """How many units the second map should have."""
        return kohonen_units(records)

    def release(
        self,
        table: Table,
        roles: Roles,
        columns: tuple[str, ...],
        made: Grouped,
        group: IntArray,
        promises: tuple[Promise, ...],
        chance: Chance,
        warnings: tuple[str, ...] = (),
    ) -> Release:
        """Every record as its group's centroid, or as its unit."""
        dense = np.unique(group, return_inverse=True)[1].reshape(-1)
        if self.coding == "centroid":
            changed = representatives(table, roles, columns, dense)
        else:
            changed = self._prototypes(table, roles, columns, made.units[group])
        step = self.step(columns, self.guarantees, promises)
        return Release.of(table, changed, roles, step, chance, (*warnings, *constant_columns(table, columns)))

    guarantees: ClassVar[tuple[str, ...]] = ()

    def diversity(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> tuple[Promise, ...]:
        """What l promises."""
        return tuple(diversity_promises(table, roles, columns, self.l, 1.0, self.missing))

    def only_numbers(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> None:
        """A unit is a point: it stands for numbers, and for nothing that is missing."""
        if self.coding == "centroid":
            return
        for column in columns:
            if roles.scale(table, column) != "numeric" or table.missing(column).any():
                raise ParameterError(
                    f"{self.name}: coding=prototype needs numbers without gaps, and column '{column}' is not that. Use coding=centroid."
                )

    def _prototypes(self, table: Table, roles: Roles, columns: tuple[str, ...], units: FloatArray) -> dict[str, pa.Array]:
        """Units in the columns' own scale."""
        changed = {}
        for j, column in enumerate(columns):
            values = table.number(column)
            scale = float(values.std(ddof=1)) if self.standardize == "deviation" and len(values) > 1 else 1.0
            middle = float(values.mean()) if self.standardize == "deviation" else 0.0
            constant = values.min() == values.max()
            changed[column] = table.column(column) if constant else table.as_column(column, units[:, j] * scale + middle)
        return changed


class KTca(TwoLevel):
    """Code views of the records by maps that collaborate, map the result again, and release each unit's centroid (Zouinina et al. 2018).

    Every group is what a unit of the second map attracts, however few: k is an outcome, most often 1, and nothing is promised about it. It does
    not give k-anonymity; use c-tca for that. With labels, prototypes are moved by wLVQ2 before records are assigned (k-TCA++ of 2020).
    """

    name: ClassVar[str] = "k-tca"
    title: ClassVar[str] = "k-TCA, topological collaborative microaggregation"

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Map, assign, and say how small the smallest group came out."""
        columns = self.chosen(table, roles, self.takes)
        self.only_numbers(table, roles, columns)
        sensitive = self.sensitive(table, roles)
        made = self.mapped(table, roles, columns, chance.rng, False, progress)
        group = made.group if sensitive is None else dissolve(made.coded, made.units, made.group, 1, sensitive, self.l)
        progress(self.name, STAGES, STAGES)
        sizes = np.unique(group, return_counts=True)[1]
        outcome = (
            f"{self.name} promises no k. Its smallest group came out with {counted(int(sizes.min()), 'record')}, and "
            f"{counted(int((sizes == 1).sum()), 'record is', 'records are')} alone in a group. "
            f"{counted(made.accepted, 'step')} of collaboration {'was' if made.accepted == 1 else 'were'} accepted."
        )
        return self.release(table, roles, columns, made, group, self.diversity(table, roles, columns), chance, (outcome,))


class CTca(TwoLevel):
    """Maps as in k-tca, with groups of at least k: units with fewer are dissolved, smallest first (constrained TCA, Zouinina et al. 2018).

    The first level codes by a mixture of four units. As published the second map has 5 √n units and records become its prototypes; here it has
    n / k, records become the mean of their group, and records change places between groups while the sum of squares falls, which makes it as
    good as MDAV. k-anonymous over its columns. With labels, columns and prototypes are weighed by wLVQ2 (C-TCA++ of 2020).
    """

    name: ClassVar[str] = "c-tca"
    title: ClassVar[str] = "Constrained TCA, maps with groups of at least k"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    k: int = Field(3, ge=2, description="Smallest group size")
    units: Literal["per-group", "kohonen"] = Field(
        "per-group", description="Size of the second map: per-group, n / k units; kohonen, 5 √n, as published"
    )
    refine: Literal["none", "swap"] = Field(
        "swap", description="swap: exchange records between neighbouring groups while the sum of squares falls; none: as published"
    )

    @model_validator(mode="after")
    def _unrefined_prototypes(self) -> Self:
        if self.coding == "prototype" and self.refine == "swap":
            raise ValueError("refined groups no longer belong to a unit. Use coding=prototype with refine=none.")
        return self

    def second_units(self, records: int) -> int:
        """One per group of k."""
        return max(1, records // self.k) if self.units == "per-group" else kohonen_units(records)

    def protect(self, table: Table, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Map, dissolve, refine, replace."""
        columns = self.chosen(table, roles, self.takes)
        self.only_numbers(table, roles, columns)
        self.enough_rows(len(table), self.k)
        sensitive = self.sensitive(table, roles)
        made = self.mapped(table, roles, columns, chance.rng, True, progress)
        group = dissolve(made.coded, made.units, made.group, self.k, sensitive, self.l)
        if self.refine == "swap":
            # rounds of three take several times as long
            group = swap_refinement(made.points, group, self.k, **({"neighbours": 8, "reach": 2} if len(table) > MANY else {}))
            if sensitive is not None:  # swaps know nothing of diversity
                group = dissolve(made.points, _centroids(made.points, group), group, self.k, sensitive, self.l)
        progress(self.name, STAGES, STAGES)
        promises = (Promise("k-anonymity", self.k, columns), *self.diversity(table, roles, columns))
        return self.release(table, roles, columns, made, group, promises, chance)


def _coded(view: FloatArray, units: FloatArray, classes: IntArray | None, rng: Generator, mixture: bool) -> FloatArray:
    """The records of a view by its map's units: the nearest, or a mixture of four."""
    weights = np.ones(view.shape[1])
    if classes is not None:
        units, _, weights, _ = wlvq2(view, classes, units, rng)
    seen = view * weights
    return (linear_mixture(seen, units) if mixture else units[best_units(seen, units)[0]]) / weights


def _centroids(points: FloatArray, group: IntArray) -> FloatArray:
    sums = np.column_stack([np.bincount(group, column) for column in points.T])
    return np.ascontiguousarray(sums / np.maximum(np.bincount(group), 1)[:, None])
