"""kACTUS: suppression guided by a decision tree."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import BoolArray, Int32Array, IntArray
from shoal.contracts import Progress, quiet
from shoal.kernels.cells import group_ranges
from shoal.kernels.kactus import anonymize
from shoal.kernels.mondrian import mondrian_groups
from shoal.kernels.trees.c45 import Tree, from_sklearn, grow, route
from shoal.methods.generalization import Coded, Generalization, diversity, target_codes, tree_codes
from shoal.methods.publish import Publication
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table

RATIO, NARROWING = 1.0, 0.1  # cuts inside a group weigh gain ratio and width, as in balanced-mondrian


class TreeGuided(Generalization):
    """Groups found by climbing a decision tree for the target."""

    inducer: Literal["c4.5", "cart"] = Field(
        "c4.5", description="The tree: c4.5, shoal's own, with a branch per category; cart, scikit-learn's, with two branches"
    )
    confidence: float = Field(0.25, gt=0, le=0.5, description="Confidence of C4.5's pessimistic pruning; smaller prunes more")
    leftover: Literal["rescue", "drop"] = Field(
        "rescue", description="The fewer than k records left at the root: rescue, other groups lend to them; drop, as in the paper"
    )

    def climbed(self, table: Table, roles: Roles, data: Coded, rng: Generator) -> tuple[Tree, IntArray]:
        """The tree, and the node at which each record is released (-1: dropped)."""
        target, classes = target_codes(table, roles, self.name)
        codes = tree_codes(data)
        if self.inducer == "cart":
            tree, ordered = _cart(data, target, self.k), np.ones(codes.shape[1], np.bool_)
        else:
            tree, ordered = grow(codes, data.ordered, target, classes, least=self.k, confidence=self.confidence), data.ordered
        sensitive = self.sensitive(table, roles)
        draws = rng.random(len(table))
        at = anonymize(
            tree.parent,
            route(tree, codes, ordered),
            self.k,
            draws,
            rescue=self.leftover == "rescue",
            **diversity(sensitive, self.l, self.entropy),
        )
        return tree, at.astype(np.int64)


def _cart(data: Coded, target: Int32Array, k: int) -> Tree:
    """scikit-learn's tree, walked as any foreign tree of two-way splits would be."""
    from sklearn.tree import DecisionTreeClassifier

    fitted = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=k, random_state=0).fit(data.codes, target).tree_
    values = [np.arange(len(positions), dtype=np.float64) for positions in data.positions]
    return from_sklearn(fitted.children_left, fitted.children_right, fitted.feature, fitted.threshold, values)


class Kactus(TreeGuided):
    """Grow a C4.5 tree for the target, release records at the deepest node that has k of them, suppress what is not on the path (Kisilevich et al. 2010).

    Children of a node with k records are released whole; the others climb, and siblings with records to spare lend until k is reached. Only
    quasi-identifiers on the path are shown. k-anonymous over its columns, with the paper's greatest weakness: most cells are suppressed. It
    looks at the target, so groups lean towards one class: ask for l where the target is confidential.
    """

    name: ClassVar[str] = "kactus"
    title: ClassVar[str] = "kACTUS, suppression guided by a decision tree"
    publish: Publication = Field(
        "counts",
        description="What is shown of a column on the path: counts, sets, intervals, or mean as in the paper, which ruins training",
    )

    show: Literal["path", "path-and-agreed"] = Field(
        "path",
        description="path: columns the tree asked for; path-and-agreed: also what a whole group agrees on, which misleads some learners",
    )

    def protect(self, table: Table, roles: Roles, rng: Generator, progress: Progress = quiet) -> Release:
        """Grow, climb, suppress."""
        columns, data = self.opened(table, roles)
        tree, at = self.climbed(table, roles, data, rng)
        shown = on_path(tree, len(columns))
        if self.show == "path-and-agreed":
            lowest, highest = group_ranges(data.codes[at >= 0], at[at >= 0])
            shown[: len(lowest)] |= lowest == highest
        return self.release(table, roles, columns, at, self.publish, rng, shown)


class KactusRefined(TreeGuided):
    """kACTUS whose groups are cut further, by gain and width, and published as sets of values instead of being suppressed (after Kisilevich et al. 2010).

    The tree decides first, so what matters for the target is kept together; inside each of its groups cuts go on while both sides keep k
    records (and l values). It keeps kACTUS's accuracy at a tenth of its suppression.
    """

    name: ClassVar[str] = "kactus-refined"
    title: ClassVar[str] = "kACTUS with refined groups"
    publish: Publication = Field(
        "counts",
        description="counts, sets with how often each value occurs; sets; intervals; mean, which is no longer truthful for one record",
    )

    def protect(self, table: Table, roles: Roles, rng: Generator, progress: Progress = quiet) -> Release:
        """Grow, climb, cut further, publish sets."""
        columns, data = self.opened(table, roles)
        _, at = self.climbed(table, roles, data, rng)
        target, classes = target_codes(table, roles, self.name)
        wanted = diversity(self.sensitive(table, roles), self.l, self.entropy)
        groups = np.full(len(table), -1, np.int64)
        made = 0
        nodes, node = np.unique(at, return_inverse=True)
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(len(nodes) + 1))
        for i, where in enumerate(nodes):
            rows = order[starts[i] : starts[i + 1]]
            if where >= 0:
                parts = _cut_further(data, rows, target, classes, self.k, wanted)
                groups[rows] = parts + made
                made += int(parts.max()) + 1
            progress(self.name, i + 1, len(nodes))
        return self.release(table, roles, columns, groups, self.publish, rng)


def _cut_further(data: Coded, rows: IntArray, target: Int32Array, classes: int, k: int, wanted: dict[str, Any]) -> IntArray:
    if len(rows) < 2 * k:
        return np.zeros(len(rows), np.int64)
    mine = wanted | ({"sensitive": wanted["sensitive"][rows]} if "sensitive" in wanted else {})
    rule: dict[str, Any] = {"rule": "gain", "target": target[rows], "classes": classes, "ratio": RATIO, "narrowing": NARROWING}
    return mondrian_groups(np.ascontiguousarray(data.codes[rows]), data.ordered, data.positions, k, **rule, **mine)


def on_path(tree: Tree, columns: int) -> BoolArray:
    """For each node, which columns are tested on the way to it."""
    shown = np.zeros((len(tree.parent), columns), np.bool_)
    for node in range(1, len(tree.parent)):  # parents come first
        above = tree.parent[node]
        shown[node] = shown[above]
        shown[node, tree.attribute[above]] = True
    return shown
