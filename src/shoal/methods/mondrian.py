"""Mondrian: cut the records into ever smaller boxes while each keeps k."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import Int32Array, IntArray
from shoal.contracts import Progress
from shoal.counts import Counts
from shoal.errors import ParameterError
from shoal.kernels.cells import tally
from shoal.kernels.coded_hierarchy import halved
from shoal.kernels.hierarchy_cuts import hierarchy_groups
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods.diversity import demanded, words
from shoal.methods.generalization import Coded, Plan, coded, target_codes
from shoal.methods.levels import at_levels, column_levels
from shoal.methods.persons import GeneralizationOfPersons
from shoal.methods.publish import Publication, in_order
from shoal.randomness import Chance
from shoal.roles import Roles


class Mondrian(GeneralizationOfPersons):
    """Cut at the median of the widest column while both sides keep k records (LeFevre, DeWitt & Ramakrishnan 2006, strict).

    Where columns have hierarchies, a group is parted into the children of its node there. Records that agree on every column stay together, so
    groups do not depend on the order of rows. Width is the share of the column's whole range,
    for categories the share of its values. k-anonymous over its columns; with l, entropy or t also diverse or close in every group. Where rows
    of one person differ, every group keeps k persons.
    """

    name: ClassVar[str] = "mondrian"
    title: ClassVar[str] = "Strict Mondrian"
    publish: Publication = Field(
        "intervals",
        description="intervals; sets of values; counts, sets with how often each occurs; mean, which is no longer truthful for one record",
    )

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Code, cut; along hierarchies, where columns have some."""
        if self.follows(roles) and self.cuts_along(roles):
            return self._along(counts, roles, columns)
        return Plan.whole(self.cut(counts, roles, coded(counts.table, roles, columns)), counts)

    def cuts_along(self, roles: Roles) -> bool:
        """Whether boxes are parted only where hierarchies part them."""
        return True

    def _along(self, counts: Counts, roles: Roles, columns: tuple[str, ...]) -> Plan:
        """Boxes of nodes: a node is parted into its children; a column without a hierarchy into halves."""
        levels = {column: column_levels(counts.table, roles, column) for column in columns if column in roles.hierarchies}
        codes = [levels[c].codes if c in levels else in_order(counts.table, roles, c).codes.astype(np.int32) for c in columns]
        trees = [levels[c].coded if c in levels else halved(tally(codes[j], counts.rows)) for j, c in enumerate(columns)]
        data, demand = np.ascontiguousarray(np.column_stack(codes)), demanded(self.k, self.asked(counts, roles))
        found = hierarchy_groups(data, trees, demand, counts.rows, **self.rule(counts, roles))
        first = np.zeros(len(found.levels), np.int64)
        first[found.group] = np.arange(len(found.group))
        cells = {}
        for j, column in enumerate(columns):
            if column in levels:
                level = found.levels[:, j].astype(np.int64)
                node = levels[column].coded.nodes[level, data[first, j]].astype(np.int64)
                cells[column] = at_levels(levels[column], level, node, counts.table.format.missing)
        return Plan.whole(found.group, counts)._replace(cells=cells)

    def cut(self, counts: Counts, roles: Roles, data: Coded) -> IntArray:
        """The group of each combination."""
        wanted, rule = words(self.asked(counts, roles)), self.rule(counts, roles)
        return mondrian_groups(data.codes, data.ordered, data.positions, self.k, rows=counts.rows, **rule, **wanted)

    def publication(self) -> Publication:
        """As asked."""
        return self.publish

    def rule(self, counts: Counts, roles: Roles) -> dict[str, Any]:
        """How the next cut is chosen."""
        return {"rule": "widest"}


class InfogainMondrian(Mondrian):
    """Mondrian that cuts where the target is told apart best: information gain for classes, variance for numbers (LeFevre et al. 2006).

    Made for releases that models are trained on. It looks at the target, so groups lean towards one class: ask for l where the target is
    confidential. Where no cut helps the target it goes on cutting the widest column.
    """

    name: ClassVar[str] = "infogain-mondrian"
    title: ClassVar[str] = "Information-gain Mondrian"
    uses_target: ClassVar[Literal["always", "never"]] = "always"
    workload: Literal["classification", "regression"] = Field("classification", description="What the target is wanted for")
    publish: Publication = Field(
        "counts",
        description="counts, sets with how often each value occurs; sets; intervals; mean, which is no longer truthful for one record",
    )

    def rule(self, counts: Counts, roles: Roles) -> dict[str, Any]:
        """By gain, or by variance."""
        if self.workload == "regression":
            if roles.target is None:
                raise ParameterError(f"{self.name} needs a target: name the column to predict with --target.")
            return {"rule": "variance", "target": counts.table.number(roles.target)}
        codes, classes = target_codes(counts, roles, self.name)
        return {"rule": "gain", "target": codes, "classes": classes}


class BalancedMondrian(InfogainMondrian):
    """Information-gain Mondrian whose cuts also pay for how much they narrow the cells: more accuracy at less generalization (after LeFevre et al. 2006).

    A cut's worth is its gain ratio on the target plus a share of the width it takes off the two sides. On Adult it is as accurate as
    information-gain Mondrian up to k = 100, and more so beyond, with an eighth to a fifth less generalization; its page has the figures.

    With classes=apart each class of the target is cut by itself, where its records are told best from the others: models learn more from that on
    most tables, and whoever is found in a group is known by class.
    """

    name: ClassVar[str] = "balanced-mondrian"
    title: ClassVar[str] = "Mondrian balancing gain and width"
    workload: Literal["classification"] = Field("classification", description="What the target is wanted for")
    classes: Literal["together", "apart"] = Field(
        "together",
        description="together: groups may mix classes of the target; apart: one class each, which tells the class of whoever is found",
    )
    ratio: float = Field(
        1.0, ge=0, le=1, description="How far gain is divided by the split's own information: 0 gain, 1 gain ratio; classes=apart: always 0"
    )
    narrowing: float = Field(0.05, ge=0, le=10, description="What narrower cells are worth beside gain; 0: nothing")

    def rule(self, counts: Counts, roles: Roles) -> dict[str, Any]:
        """By gain ratio and width together."""
        return super().rule(counts, roles) | {"ratio": self.ratio, "narrowing": self.narrowing}

    def cut(self, counts: Counts, roles: Roles, data: Coded) -> IntArray:
        """All records at once, or class by class against the others."""
        if self.classes == "together":
            return super().cut(counts, roles, data)
        if roles.target in roles.confidential:
            raise ParameterError(
                f"{self.name}: classes=apart tells the class of whoever is found, and the target '{roles.target}' is confidential. Use classes=together."
            )
        if self.l > 1 or self.entropy > 1 or self.t < 1:
            raise ParameterError(f"{self.name}: classes=apart keeps k alone. Leave out l, entropy and t, or use classes=together.")
        if roles.person:
            raise ParameterError(f"{self.name}: classes=apart counts rows, and rows of one person differ. Use classes=together.")
        target, classes = target_codes(counts, roles, self.name)
        part = _parts(target, counts.rows, classes, self.k)
        groups = np.empty(len(counts), np.int64)
        made = 0
        for one in np.unique(part):
            mine = part == one
            inside, own = np.unique(target[mine], return_inverse=True)
            groups[mine] = made + mondrian_groups(
                data.codes[mine],
                data.ordered,
                data.positions,
                self.k,
                rule="gain",
                target=own.reshape(-1),
                classes=len(inside),
                narrowing=self.narrowing,
                against=data.codes[~mine],
                rows=counts.rows[mine],
                against_rows=counts.rows[~mine],
            )
            made = int(groups[mine].max()) + 1
        return groups

    def cuts_along(self, roles: Roles) -> bool:
        """Groups of one class are cut by values, and covered by nodes afterwards."""
        return self.classes == "together"

    def dangers(self) -> tuple[str, ...]:
        """Groups of one class tell it."""
        if self.classes == "together":
            return ()
        return (
            "Every class of k records has groups of its own: whoever is found in one is known by class. With classes=together groups may mix classes.",
        )


def _parts(target: Int32Array, records: IntArray, classes: int, k: int) -> IntArray:
    """The class of each combination; classes of fewer than k records are taken together, with the next smallest ones until they have k."""
    rows = np.bincount(target, records, minlength=classes).astype(np.int64)
    by_size = np.argsort(rows, kind="stable")
    few = int((rows < k).sum())
    part = np.arange(classes)
    if few:
        part[by_size[: max(few, int(np.searchsorted(np.cumsum(rows[by_size]), k)) + 1)]] = by_size[0]
    return part[target]
