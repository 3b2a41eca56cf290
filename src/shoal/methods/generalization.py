"""What the generalizing methods share: coded columns, diversity inside groups, and a release of sets, intervals and suppressed cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa
from pydantic import Field

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.bins import Bins, bins_for, told
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.counts import Counts
from shoal.errors import DataError, ParameterError, counted
from shoal.methods.coordinates import constant_columns
from shoal.methods.diversity import MISSING, Asked, Missing, diverse_enough, diversity_promises, real_codes
from shoal.methods.publish import Publication, Published, in_order, published
from shoal.methods.recoding import BatchMethod, Decision, Recoding
from shoal.promises import Promise, Unit
from shoal.randomness import Chance
from shoal.roles import Roles, Scale
from shoal.table import Table

MANY, FEW, NEARLY = 100, 20, 0.9  # texts that name rows: more than MANY and than half the rows, or, from FEW rows on, NEARLY all different


class Coded(NamedTuple):
    """Columns as codes in the order of their values, missing last; positions say which number a code of an ordered column stands for."""

    codes: Int32Array
    ordered: BoolArray
    positions: list[FloatArray]


class Plan(NamedTuple):
    """Groups of combinations: so many rows of each go into a group, -1 for those that are dropped; and what of a group is shown."""

    combination: IntArray
    group: IntArray
    rows: IntArray
    shown: BoolArray | None = None  # [group, column]
    cells: Mapping[str, Published] = {}  # of some columns, by group, where they are not made of the group's values
    kept: tuple[str, ...] = ()  # columns that stay as they are
    warnings: tuple[str, ...] = ()  # what the release must say of how it went
    outcome: Mapping[str, Any] = {}  # what a search says of what it found

    @staticmethod
    def whole(groups: IntArray, counts: Counts, shown: BoolArray | None = None) -> Plan:
        """Every combination goes into one group."""
        return Plan(np.arange(len(groups)), groups, counts.rows, shown)


class Generalization(BatchMethod):
    """Groups of at least k records, each publishing one cell per column for all its records: k-anonymous over the chosen columns.

    Equal records are treated alike, so what decides are counts of distinct ones.
    """

    scope: ClassVar[Scope] = "counts"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    uses_target: ClassVar[Literal["always", "never"]] = "never"
    k: int = Field(10, ge=2, description="Smallest group size")
    l: int = Field(1, ge=1, description="Fewest different values of each confidential column in a group; 1: not asked")  # noqa: E741
    entropy: float = Field(1.0, ge=1, description="Fewest effective values (exp of the entropy) of each confidential column in a group")
    missing: Missing = Field("ignored", description=MISSING)

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """Count, plan on the counts, spread the plan over the rows."""
        columns, counts = self.counted(table, roles, progress)
        progress("grouping", 0, 1)
        plan = self.plan(counts, roles, columns, chance, progress)
        progress("grouping", 1, 1)
        return self.spread(table, counts, roles, columns, plan, chance)

    def counted(self, table: Source, roles: Roles, progress: Progress = quiet) -> tuple[tuple[str, ...], Counts]:
        """The columns to protect, and the counts to plan on; what cannot be planned on is refused."""
        columns = self.chosen(table, roles, self.takes)
        progress("counting", 0, 1)
        bins = self.cut_first(table, roles, columns)
        counts = table.counts([column for column in self.reads(roles) if column in table.columns], bins)
        progress("counting", 1, 1)
        _refuse_names(counts, roles, columns)
        self.enough_rows(counts.total, self.k)
        return columns, counts

    def cut_first(self, table: Source, roles: Roles, columns: Sequence[str]) -> Bins:
        """The columns that are cut into bins before anything is counted."""
        return bins_first(table, roles, columns)

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Which rows go together."""
        raise TypeError(f"{type(self).__name__} does not say how it groups")  # each algorithm does

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """The columns it decides by: those to protect, the confidential ones where they matter, and the target."""
        confidential = roles.confidential if self.wants_diversity() else ()
        target = (roles.target,) if self.uses_target == "always" and roles.target is not None else ()
        return tuple(dict.fromkeys((*super().reads(roles), *confidential, *target)))

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """Cells are nodes of the tree wherever a column has one."""
        return tuple(column for column in super().reads(roles) if column in roles.hierarchies)

    def wants_diversity(self) -> bool:
        """Whether confidential values are looked at."""
        return self.l > 1 or self.entropy > 1.0

    def asked(self, counts: Counts, roles: Roles) -> list[Asked]:
        """What groups must keep of each confidential column; that it can be had is checked first."""
        if self.l == 1 and self.entropy == 1.0:
            return []
        if not roles.confidential:
            raise ParameterError(f"{self.name}: l and entropy need a confidential column. Name one with --confidential.")
        found = []
        for column in roles.confidential:
            codes = real_codes(counts.table, roles, column, self.missing)
            diverse_enough(self.name, column, codes, counts.rows, self.l, self.entropy)
            found.append(Asked(codes, self.l, self.entropy))
        return found

    def promises(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> tuple[Promise, ...]:
        """k, and of each confidential column the diversity that was asked for."""
        unit: Unit = "persons" if roles.person else "rows"
        k = Promise("k-anonymity", self.k, columns, unit=unit)
        return (k, *diversity_promises(table, roles, columns, self.l, self.entropy, self.missing, unit))

    def publication(self) -> Publication:
        """What a group shows of a column."""
        raise TypeError(f"{type(self).__name__} does not say what it publishes")

    def dangers(self) -> tuple[str, ...]:
        """What the release must say about its groups."""
        return ()

    def spread(self, table: Source, counts: Counts, roles: Roles, columns: tuple[str, ...], plan: Plan, chance: Chance) -> Decision:
        """Every group's cells; rows of group -1 are dropped, and said to be."""
        warnings = [*self.dangers(), *told(counts.table.bins), *plan.warnings, *constant_columns(counts.table, columns, counts.total)]
        stay = plan.group >= 0
        dropped = counts.total - int(plan.rows[stay].sum())
        if dropped:
            warnings.append(f"{counted(dropped, 'record')} of {counts.total:,} could not be put into a group and left the release.")
        used = np.bincount(plan.group[stay]) > 0
        dense = np.full(len(plan.group), -1)
        dense[stay] = (np.cumsum(used) - 1)[plan.group[stay]]
        whole = len(plan.combination) == len(counts) and bool(stay.all())
        inside = counts.table if whole else counts.table.take(plan.combination[stay])
        shown = None if plan.shown is None else plan.shown[np.flatnonzero(used)]
        of_values = [column for column in columns if column not in plan.cells and column not in plan.kept]
        hidden = None if shown is None else shown[:, [columns.index(column) for column in of_values]]
        made = published(inside, roles, of_values, dense[stay], plan.rows[stay], self.publication(), hidden) if of_values else {}
        there = pa.array(np.flatnonzero(used))
        made |= {column: Published(one.cells.take(there), one.labels) for column, one in plan.cells.items()}
        cells = {column: one.cells for column, one in made.items()}
        labels = {column: _told(one) for column, one in made.items() if one.labels is not None}
        promised = self.promises(counts.table, roles, columns)
        step = replace(self.step(columns, self.guarantees, promised), outcome={**plan.outcome, **bins_found(counts)})
        recoding = Recoding(counts, plan.combination, dense, plan.rows, cells, labels)
        return recoding.decision(table, step, chance, tuple(warnings))


def bins_first(table: Source, roles: Roles, columns: Sequence[str]) -> Bins:
    """Of numbers and dates with very many different values; not of those that follow a hierarchy, nor of answers, whose values must be true."""
    as_they_are = (*roles.hierarchies, *roles.confidential, roles.target)
    able = [column for column in columns if column not in as_they_are and table.kind(column) in ("number", "date")]
    return bins_for({column: table.extent(column) for column in able if roles.scale(table, column) == "numeric"})


def bins_found(counts: Counts) -> dict[str, Any]:
    """The bins as a step tells them: which columns were cut, and how wide they are."""
    widths = {column: one.width for column, one in counts.table.bins.items()}
    return {"bins": widths} if widths else {}


def _told(one: Published) -> dict[str, str]:
    """The names of cells that are there: of others they would tell what is suppressed."""
    names, there = one.labels or {}, one.cells.unique().to_pylist()
    return {cell: names[cell] for cell in there if cell in names}


class CloseGeneralization(Generalization):
    """Groups whose confidential values may also have to lie near those of the whole table."""

    t: float = Field(
        1.0, gt=0, le=1, description="Largest distance of a group's values of each confidential column from the whole table's; 1: not asked"
    )

    def wants_diversity(self) -> bool:
        """Also for closeness."""
        return super().wants_diversity() or self.t < 1

    def asked(self, counts: Counts, roles: Roles) -> list[Asked]:
        """Also closeness, which is of all cells: missing is a value there."""
        if self.t < 1 and not roles.confidential:
            raise ParameterError(f"{self.name}: t needs a confidential column. Name one with --confidential.")
        found = super().asked(counts, roles)
        diverse = len(found)  # none, or one for each column
        for at, column in enumerate(roles.confidential if self.t < 1 else ()):
            ordered = _numeric(counts.table, roles, column)
            if at < diverse and (found[at].codes >= 0).all():
                found[at] = found[at]._replace(t=self.t, t_ordered=ordered)
            else:
                found.append(Asked(counts.table.codes(column).astype(np.int32), t=self.t, t_ordered=ordered))
        return found

    def promises(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> tuple[Promise, ...]:
        """Also closeness, where it was asked for."""
        promised = super().promises(table, roles, columns)
        if self.t == 1:
            return promised
        kinds = {True: "ordered-t-closeness", False: "t-closeness"}
        return (*promised, *(Promise(kinds[_numeric(table, roles, column)], self.t, columns, column) for column in roles.confidential))


def _numeric(table: Table, roles: Roles, column: str) -> bool:
    """Whether confidential values are as far apart as they lie in order; the order of levels is not in the file, so they are just different."""
    return roles.scale(table, column) == "numeric"


def _refuse_names(counts: Counts, roles: Roles, columns: Sequence[str]) -> None:
    """Sets of texts that name a record each would say who is in the table, so such a column is refused; a hierarchy lists no records."""
    for column in columns:
        if roles.scale(counts.table, column) == "nominal" and column not in roles.hierarchies:
            distinct, rows = int(counts.table.codes(column).max(initial=0)) + 1, counts.total
            if distinct > max(MANY, rows / 2) or (rows >= FEW and distinct > NEARLY * rows):
                raise DataError(
                    f"Column '{column}' has {counted(distinct, 'distinct value')} in {counted(rows, 'row')}: released, alone or in sets, "
                    "they would list who is in the table. Give it the role identifier, bring it into broader categories, or give it a hierarchy.",
                    about=column,
                )


def coded(table: Table, roles: Roles, columns: Sequence[str]) -> Coded:
    """Codes by value (numbers, dates), by level (ordinal), by leaf (nominal with a hierarchy) or by text (nominal)."""
    codes, ordered, positions = np.empty((len(table), len(columns)), np.int32), [], []
    for j, column in enumerate(columns):
        one = in_order(table, roles, column)
        codes[:, j] = one.codes
        positions.append(one.positions)
        ordered.append(roles.scale(table, column) != "nominal" and table.kind(column) != "empty")
    return Coded(codes, np.array(ordered), positions)


def tree_codes(data: Coded) -> Int32Array:
    """The same codes the way trees count them: 0 for missing, values from 1."""
    result = data.codes + 1
    for j, positions in enumerate(data.positions):
        if data.ordered[j] and len(positions) and np.isnan(positions[-1]):
            result[data.codes[:, j] == len(positions) - 1, j] = 0
    return np.ascontiguousarray(result)


def target_codes(counts: Counts, roles: Roles, name: str) -> tuple[Int32Array, int]:
    """The class of each combination, and how many classes there are."""
    if roles.target is None:
        raise ParameterError(f"{name} needs a target: name the column to predict with --target.")
    table = counts.table
    codes = table.codes(roles.target)
    classes = int(codes.max(initial=0)) + 1
    if classes < 2:
        raise DataError(f"{name}: the target '{roles.target}' has one class only, so there is nothing to learn. Use mondrian.")
    number = table.kind(roles.target) == "number"
    if classes > 255 or (number and classes > 20 and 2 * classes > counts.total):
        other = " Or use infogain-mondrian with workload=regression." if number else ""
        raise DataError(
            f"{name}: the target '{roles.target}' has {counted(classes, 'class', 'classes')} in {counted(counts.total, 'row')}, and every value is a class. "
            f"Group them into fewer, at most 255.{other}"
        )
    return codes.astype(np.int32), classes
