"""Full-domain recoding: one level of its hierarchy for each column, the same in all records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.contracts import Progress
from shoal.errors import ParameterError, did_you_mean
from shoal.kernels.groups import class_ids
from shoal.kernels.lattice.best import LossName, best
from shoal.kernels.lattice.budget import Budget
from shoal.kernels.lattice.datafly import datafly
from shoal.kernels.lattice.incognito import incognito
from shoal.methods.along_hierarchies import AlongHierarchies, Recoded, Suppressed, Task, refused, weighed
from shoal.params import PerColumn
from shoal.roles import Roles

Bounds = tuple[list[int], list[int]]
ADDITIVE = ("iyengar", "entropy", "precision")


class Node(NamedTuple):
    """The level of each column that was chosen, and what the search says of it."""

    levels: tuple[int, ...]
    outcome: Mapping[str, Any]
    warnings: tuple[str, ...] = ()


class FullDomain(AlongHierarchies):
    """One level of its hierarchy for each column, in all records: a table that can be tabulated, and k-anonymous over its columns.

    Up to a share of the records may be suppressed instead: those in classes that would be too small.
    """

    k: int = Field(10, ge=2, description="Smallest class")
    suppress: float = Field(0.0, ge=0, lt=1, description="Largest share of records that may be suppressed whole")
    suppressed: Suppressed = Field(
        "starred", description="starred: suppressed records stay, with * in every column, where they make a class; dropped: they leave"
    )
    lowest: PerColumn | None = Field(None, description="Least level by column, such as age:1,zip:2; 0 is the values themselves")
    highest: PerColumn | None = Field(None, description="Largest level by column, such as age:3")

    def choose(self, task: Task, columns: Sequence[str], limit: int, bounds: Bounds, progress: Progress) -> Node:
        """The levels."""
        raise TypeError(f"{type(self).__name__} does not say how it chooses levels")  # each algorithm does

    def recode(self, task: Task, roles: Roles, columns: tuple[str, ...], progress: Progress) -> Recoded:
        """Choose levels, suppress what is still in classes that keep too little."""
        try:
            node = self.choose(task, columns, self.limit(task), self.bounds(task, columns), progress)
        except ValueError as error:
            raise refused(self.name, error) from None
        group, many = class_ids([one.coded.nodes[level][one.codes] for one, level in zip(task.levels, node.levels)])
        kept = task.demand.allowed(group, np.arange(len(group)), task.rows)
        named: dict[str, Any] = {"levels": dict(zip(columns, node.levels)), **node.outcome}
        groups = np.where(kept[group], group, -1)
        return Recoded(groups, np.tile(np.array(node.levels, np.int64), (many, 1)), named, node.warnings, self.suppressed)

    def limit(self, task: Task) -> int:
        """How many records may be suppressed."""
        return int(self.suppress * int(task.rows.sum()) + 1e-9)

    def bounds(self, task: Task, columns: Sequence[str]) -> Bounds:
        """The lowest and the highest level of each column."""
        depth = [len(one.coded.nodes) - 1 for one in task.levels]
        low, high = (
            self._given("lowest", self.lowest, columns, depth, [0] * len(depth)),
            self._given("highest", self.highest, columns, depth, depth),
        )
        for column, a, b in zip(columns, low, high):
            if a > b:
                raise ParameterError(
                    f"{self.name}: the lowest level of '{column}' is {a}, and its highest {b}. Turn them round.", about=column
                )
        return low, high

    def _given(
        self, what: str, given: PerColumn | None, columns: Sequence[str], depth: Sequence[int], otherwise: Sequence[int]
    ) -> list[int]:
        for column, level in (given or {}).items():
            if column not in columns:
                raise ParameterError(
                    f"{self.name}: {what} names '{column}', which it does not recode.{did_you_mean(column, columns)}", about=column
                )
            most = depth[columns.index(column)]
            if level != int(level) or not 0 <= level <= most:
                raise ParameterError(f"{self.name}: {what} of '{column}' must be a level from 0 to {most}, got {level:g}.", about=column)
        return [int((given or {}).get(column, level)) for column, level in zip(columns, otherwise)]


class OptimalRecoding(FullDomain):
    """Recode every column to one level of its hierarchy, such that no other choice of levels loses less (Kohlmayer et al. 2012; El Emam et al. 2009).

    Branch and bound over the lattice of levels, on counts of distinct records: proven, or with the gap to what could still be better when its time
    is over. k-anonymous over its columns; with l, entropy or t also diverse or close in every class, where all nodes are looked at up to 100,000.
    """

    name: ClassVar[str] = "recoding"
    title: ClassVar[str] = "Optimal full-domain recoding"
    finds: ClassVar[tuple[str, ...]] = ("levels", "optimal", "gap", "nodes", "nodes_left_out")
    loss: LossName = Field(
        "iyengar",
        description="iyengar: the mean share of its hierarchy that a cell leaves open, over rows and columns; entropy; precision; discernibility; class-size",
    )
    weights: PerColumn | None = Field(
        None, description="What loss in a column counts, such as age:2,zip:0.5; columns that are not named count 1"
    )
    seconds: float = Field(60.0, gt=0, description="CPU seconds of the search; then the best found is released, with its gap")

    @model_validator(mode="after")
    def _weighed(self) -> Self:
        if self.weights is not None and (self.loss not in ADDITIVE or any(one < 0 for one in self.weights.values())):
            raise ValueError(f"weights are 0 or more, and go with a loss that is a sum over columns: {', '.join(ADDITIVE)}.")
        return self

    def choose(self, task: Task, columns: Sequence[str], limit: int, bounds: Bounds, progress: Progress) -> Node:
        """The best node, and whether that is proven."""
        low, high = bounds
        size = prod(b - a + 1 for a, b in zip(low, high))
        found = best(
            task.codes, task.rows, task.hierarchies, task.demand, limit, self.loss, weighed(self.weights, columns, self.name), low, high,
            Budget(seconds=self.seconds), _told(progress),
        )  # fmt: skip
        looked = {"nodes": size, "nodes_left_out": found.left_out}
        if found.proven:
            return Node(tuple(found.levels), {"optimal": "proven", **looked})
        gap = max(0.01, round(found.gap, 2))
        sentence = (
            f"{self.name}: it is not proven that nothing loses less. Another choice of levels could lose up to {gap:.0%} less; the search ended after "
            f"{self.seconds:g} s of computing, with {found.left_out:,} of {size:,} nodes neither looked at nor ruled out. Give it more with -p seconds=..."
        )
        return Node(tuple(found.levels), {"optimal": "not proven", "gap": gap, **looked}, (sentence,))


class Datafly(FullDomain):
    """Generalize the column with most distinct values by one level, again and again, until few enough records are in small classes (Sweeney 2002).

    A greedy way that loses more than need be: on Adult with eight columns, k = 5 and no suppression, .715 where .661 is possible. k-anonymous over its
    columns. For published comparisons; use recoding.
    """

    name: ClassVar[str] = "datafly"
    title: ClassVar[str] = "Datafly"
    finds: ClassVar[tuple[str, ...]] = ("levels", "steps")

    def choose(self, task: Task, columns: Sequence[str], limit: int, bounds: Bounds, progress: Progress) -> Node:
        """The last node on the way up."""
        way = datafly(task.codes, task.rows, task.hierarchies, task.demand, limit, *bounds)
        return Node(way[-1].levels, {"steps": len(way) - 1})


class Incognito(FullDomain):
    """Find all choices of levels that keep k, and publish, of those below which none does, the one that loses least (LeFevre et al. 2005).

    It lists every k-anonymous node, by subsets of columns; the least of them by Iyengar's loss is released. k-anonymous over its columns. For
    published comparisons; recoding finds the same or better, faster.
    """

    name: ClassVar[str] = "incognito"
    title: ClassVar[str] = "Incognito"
    finds: ClassVar[tuple[str, ...]] = ("levels", "anonymous_nodes", "minimal_nodes")
    counts_persons: ClassVar[bool] = False  # which nodes keep k it counts in rows, as published

    def wants_diversity(self) -> bool:
        """k alone."""
        if super().wants_diversity():
            raise ParameterError(f"{self.name} keeps k alone. Leave out l, entropy and t, or use recoding.")
        return False

    def choose(self, task: Task, columns: Sequence[str], limit: int, bounds: Bounds, progress: Progress) -> Node:
        """The minimal node of least loss."""
        found = incognito(task.codes, task.rows, task.hierarchies, self.k, limit, *bounds)
        if not found.minimal:
            raise ValueError(
                f"no choice of levels keeps k = {self.k} with so few records suppressed. Allow more suppression, or ask for less."
            )
        losses = {levels: _loss(task, levels, self.k) for levels in found.minimal}
        chosen = min(found.minimal, key=lambda levels: (losses[levels], levels))
        return Node(chosen, {"anonymous_nodes": found.nodes, "minimal_nodes": len(found.minimal)})


def _loss(task: Task, levels: Sequence[int], k: int) -> float:
    """Iyengar's loss of a node: the mean over records and columns, 1 for those in classes below k."""
    group, many = class_ids([one.coded.nodes[level][one.codes] for one, level in zip(task.levels, levels)])
    sizes = np.bincount(group, task.rows, minlength=many)
    cost = np.mean([one.coded.loss[level][one.codes] for one, level in zip(task.levels, levels)], axis=0)
    return float((np.where(sizes[group] >= k, cost, 1.0) * task.rows).sum() / task.rows.sum())


def _told(progress: Progress) -> Callable[[int, int], None]:
    def tell(done: int, of: int) -> None:
        progress("searching levels", done, of)

    return tell
