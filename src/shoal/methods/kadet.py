"""kADET: a decision tree that is k-anonymous by itself, and the table that says no more of each record than that tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.arrays import Int32Array
from shoal.contracts import Progress, Source
from shoal.counts import Counts
from shoal.errors import DataError, ParameterError, did_you_mean
from shoal.kernels.trees.anonymous import AnonymousTree, Column, grow_anonymous, spans_of
from shoal.methods.code_ranges import in_stretches, stretches
from shoal.methods.generalization import Generalization, Plan, target_codes
from shoal.methods.levels import ColumnLevels, at_levels, column_levels
from shoal.methods.publish import Publication, Published, in_order
from shoal.methods.specialization import not_itself
from shoal.randomness import Chance
from shoal.roles import Roles, Scale
from shoal.table import Table


class Questions(NamedTuple):
    """Columns as the tree asks for them: combinations as codes, hierarchies or stretches, and what the nodes of hierarchies are called."""

    codes: Int32Array
    columns: list[Column]
    levels: list[ColumnLevels | None]

    @staticmethod
    def of(table: Table, roles: Roles, columns: Sequence[str]) -> Questions:
        """Numbers, dates and levels without a hierarchy by thresholds, everything else along hierarchies; a category without one has its values."""
        levels = [None if in_stretches(table, roles, column) else column_levels(table, roles, column) for column in columns]
        codes = [in_order(table, roles, column).codes if one is None else one.codes for column, one in zip(columns, levels)]
        return Questions(
            np.ascontiguousarray(np.column_stack(codes), np.int32), ["interval" if one is None else one.coded for one in levels], levels
        )


class Kadet(Generalization):
    """Grow a C4.5 tree for the target that is split only where k records stay together, and show of each record what its path says (Friedman et al. 2008).

    The paper releases the tree. Here the release is the table behind it, k-anonymous over its columns: whatever no question was asked about is
    suppressed, so most cells are, and `shoal patterns` reads the leaves off it as rules. It looks at the target, so leaves lean towards one class.
    """

    name: ClassVar[str] = "kadet"
    title: ClassVar[str] = "kADET, a k-anonymous decision tree"
    finds: ClassVar[tuple[str, ...]] = ("leaves", "classes")
    uses_target: ClassVar[Literal["always", "never"]] = "always"
    private: tuple[str, ...] | None = Field(
        None, description="Columns beside these that no intruder knows and the tree may ask for, too; they are released as they are"
    )
    confidence: float = Field(0.25, gt=0, le=0.5, description="Confidence of C4.5's pessimistic pruning; smaller prunes more")

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also what only the tree looks at."""
        return tuple(dict.fromkeys((*super().reads(roles), *(self.private or ()))))

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """Also in questions about private columns."""
        return tuple(column for column in self.reads(roles) if column in roles.hierarchies)

    def wants_diversity(self) -> bool:
        """k alone."""
        if super().wants_diversity():
            raise ParameterError(f"{self.name} keeps k alone. Leave out l and entropy, or use kactus, which keeps them.")
        return False

    def publication(self) -> Publication:
        """Never asked: every column has its nodes and intervals."""
        return "intervals"

    def chosen(self, table: Source, roles: Roles, takes: Sequence[Scale]) -> tuple[str, ...]:
        """The columns that may be known; private ones are others, and released."""
        columns = super().chosen(table, roles, takes)
        for column in self.private or ():
            if column not in table.columns:
                raise DataError(f"{self.name}: the table has no column '{column}'.{did_you_mean(column, table.columns)}", about=column)
            if column in roles.removed or column in (*columns, *roles.quasi, roles.target):
                raise ParameterError(
                    f"{self.name}: '{column}' cannot be private: it is a quasi-identifier or the target, or is not released. Take it out of private.",
                    about=column,
                )
        return columns

    def tree(self, counts: Counts, roles: Roles, questions: Questions, public: int) -> AnonymousTree:
        """The tree; the first columns are public."""
        target, _ = target_codes(counts, roles, self.name)
        known = np.arange(len(questions.columns)) < public
        return grow_anonymous(questions.codes, questions.columns, known, target, self.k, counts.rows, confidence=self.confidence)

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Grow; what a span may be of each column is shown."""
        not_itself(self.name, roles, columns)
        asked = Questions.of(counts.table, roles, (*columns, *(self.private or ())))
        tree = self.tree(counts, roles, asked, len(columns))
        known = np.arange(len(asked.columns)) < len(columns)
        spans = spans_of(tree, asked.codes, asked.columns, known)
        first = np.zeros(int(spans.span.max(initial=-1)) + 1, np.int64)
        first[spans.span] = np.arange(len(spans.span))
        cells = {}
        for j, column in enumerate(columns):
            one = asked.levels[j]
            if one is None:
                cells[column] = Published(stretches(counts.table, roles, column, spans.low[first, j], spans.high[first, j]))
                continue
            level = spans.levels[first, j]
            cells[column] = at_levels(
                one, level, one.coded.nodes[level, asked.codes[first, j]].astype(np.int64), counts.table.format.missing
            )
        leaves = sum(split is None for split in tree.split)
        return Plan.whole(spans.span, counts)._replace(cells=cells, outcome={"leaves": leaves, "classes": len(first)})
