"""kACTUS: suppression guided by a decision tree."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from shoal.arrays import BoolArray, Int32Array, IntArray
from shoal.contracts import Progress
from shoal.counts import Counts
from shoal.kernels.cells import group_ranges
from shoal.kernels.kactus import Parts, anonymize_combinations
from shoal.kernels.mondrian import mondrian_groups
from shoal.kernels.trees.c45 import Tree, from_sklearn, grow, route
from shoal.methods.diversity import words
from shoal.methods.generalization import Coded, Generalization, Plan, coded, target_codes, tree_codes
from shoal.methods.publish import Publication
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.rows import numbered, row_ids

RATIO, NARROWING = 1.0, 0.1  # cuts inside a group weigh gain ratio and width, as in balanced-mondrian


class TreeGuided(Generalization):
    """Groups found by climbing a decision tree for the target."""

    uses_target: ClassVar[Literal["always", "never"]] = "always"

    inducer: Literal["c4.5", "cart"] = Field(
        "c4.5", description="The tree: c4.5, shoal's own, with a branch per category; cart, scikit-learn's, with two branches"
    )
    confidence: float = Field(0.25, gt=0, le=0.5, description="Confidence of C4.5's pessimistic pruning; smaller prunes more")
    leftover: Literal["rescue", "drop"] = Field(
        "rescue", description="The fewer than k records left at the root: rescue, other groups lend to them; drop, as in the paper"
    )

    @model_validator(mode="after")
    def _pruning_is_used(self) -> Self:
        if self.inducer == "cart" and self.confidence != 0.25:
            raise ValueError("confidence is that of C4.5's pruning, and has no effect on inducer=cart. Leave it out.")
        return self

    def climbed(self, counts: Counts, roles: Roles, data: Coded, chance: Chance) -> tuple[Tree, Parts]:
        """The tree, and the node at which so many records of each combination are released (-1: dropped)."""
        target, classes = target_codes(counts, roles, self.name)
        codes, rows = tree_codes(data), counts.rows
        if self.inducer == "cart":
            tree, ordered = _cart(data, target, rows, self.k), np.ones(codes.shape[1], np.bool_)
        else:
            grown = grow(codes, data.ordered, target, classes, least=self.k, confidence=self.confidence, rows=rows)
            tree, ordered = grown, data.ordered
        wanted = words(self.asked(counts, roles))
        # records of a combination are interchangeable: their draws are keyed by the combination and a number
        draws = chance.uniform(numbered(row_ids(counts.table, chance), rows), "who lends")
        node = route(tree, codes, ordered)
        return tree, anonymize_combinations(tree.parent, node, rows, self.k, draws, rescue=self.leftover == "rescue", **wanted)


def _cart(data: Coded, target: Int32Array, rows: IntArray, k: int) -> Tree:
    """scikit-learn's tree, walked as any foreign tree of two-way splits would be."""
    from sklearn.tree import DecisionTreeClassifier

    learner = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=k, random_state=0)
    fitted = learner.fit(np.repeat(data.codes, rows, axis=0), np.repeat(target, rows)).tree_  # its least leaf counts rows, not weights
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

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Grow, climb, suppress."""
        data = coded(counts.table, roles, columns)
        tree, parts = self.climbed(counts, roles, data, chance)
        shown = on_path(tree, len(columns))
        if self.show == "path-and-agreed":
            stay = parts.node >= 0
            lowest, highest = group_ranges(data.codes[parts.combination[stay]], parts.node[stay])
            shown[: len(lowest)] |= lowest == highest
        return Plan(parts.combination, parts.node, parts.records, shown)

    def publication(self) -> Publication:
        """As asked."""
        return self.publish


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

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Grow, climb, cut further."""
        data = coded(counts.table, roles, columns)
        _, parts = self.climbed(counts, roles, data, chance)
        target, classes = target_codes(counts, roles, self.name)
        asked = self.asked(counts, roles)
        groups = np.full(len(parts.node), -1, np.int64)
        made = 0
        nodes, node = np.unique(parts.node, return_inverse=True)
        order = np.argsort(node, kind="stable")
        starts = np.searchsorted(node[order], np.arange(len(nodes) + 1))
        for i, where in enumerate(nodes):
            mine = order[starts[i] : starts[i + 1]]
            if where >= 0:
                inside, rows = parts.combination[mine], parts.records[mine]
                cut = _cut_further(data, inside, rows, target, classes, self.k, words(asked, inside))
                groups[mine] = cut + made
                made += int(cut.max()) + 1
            progress("grouping", i, len(nodes))
        return Plan(parts.combination, groups, parts.records)

    def publication(self) -> Publication:
        """As asked."""
        return self.publish


def _cut_further(
    data: Coded, inside: IntArray, rows: IntArray, target: Int32Array, classes: int, k: int, wanted: dict[str, Any]
) -> IntArray:
    if rows.sum() < 2 * k:
        return np.zeros(len(inside), np.int64)
    rule: dict[str, Any] = {"rule": "gain", "target": target[inside], "classes": classes, "ratio": RATIO, "narrowing": NARROWING}
    return mondrian_groups(np.ascontiguousarray(data.codes[inside]), data.ordered, data.positions, k, rows=rows, **rule, **wanted)


def on_path(tree: Tree, columns: int) -> BoolArray:
    """For each node, which columns are tested on the way to it."""
    shown = np.zeros((len(tree.parent), columns), np.bool_)
    for node in range(1, len(tree.parent)):  # parents come first
        above = tree.parent[node]
        shown[node] = shown[above]
        shown[node, tree.attribute[above]] = True
    return shown
