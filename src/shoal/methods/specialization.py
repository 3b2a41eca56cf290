"""Specialization from the top down for a class that is to be predicted: TDS and TDR."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import Int32Array, IntArray
from shoal.contracts import Progress
from shoal.counts import Counts
from shoal.errors import ParameterError
from shoal.kernels.specialization import Column, Specialized, top_down_refinement, top_down_specialization
from shoal.methods.code_ranges import in_stretches, stretches
from shoal.methods.generalization import Generalization, Plan, target_codes
from shoal.methods.levels import ColumnLevels, at_levels, column_levels
from shoal.methods.publish import Publication, Published, in_order
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.table import Table


class _Described(NamedTuple):
    """A column as the kernel takes it; and where it has a hierarchy, what its nodes are called."""

    codes: IntArray | Int32Array
    column: Column
    levels: ColumnLevels | None


class TopDown(Generalization):
    """Begin with nothing shown, and show more, value by value and the same in all records, while every class keeps k records."""

    uses_target: ClassVar[Literal["always", "never"]] = "always"
    finds: ClassVar[tuple[str, ...]] = ("specializations",)

    def wants_diversity(self) -> bool:
        """k alone."""
        if super().wants_diversity():
            raise ParameterError(f"{self.name} keeps k alone. Leave out l and entropy, or use infogain-mondrian.")
        return False

    def publication(self) -> Publication:
        """Never asked: every column has its nodes and intervals."""
        return "intervals"

    def described(self, table: Table, roles: Roles, column: str) -> _Described:
        """How a column may be specialized."""
        if in_stretches(table, roles, column):
            return _Described(in_order(table, roles, column).codes, "interval", None)
        levels = column_levels(table, roles, column)
        return _Described(levels.codes, levels.coded, levels)

    def specialized(self, codes: Int32Array, columns: list[Column], target: Int32Array, rows: IntArray) -> Specialized:
        """What each value is published as."""
        raise TypeError(f"{type(self).__name__} does not say how it specializes")  # each algorithm does

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Code, specialize, publish."""
        not_itself(self.name, roles, columns)
        target, _ = target_codes(counts, roles, self.name)
        each = [self.described(counts.table, roles, column) for column in columns]
        codes = np.ascontiguousarray(np.column_stack([one.codes for one in each]), np.int32)
        found = self.specialized(codes, [one.column for one in each], target, counts.rows)
        first = np.zeros(int(found.group.max(initial=-1)) + 1, np.int64)
        first[found.group] = np.arange(len(found.group))
        cells = {
            column: _cells(counts.table, roles, column, one, found.cells[j], found.levels[j], codes[first, j])
            for j, (column, one) in enumerate(zip(columns, each))
        }
        return Plan.whole(found.group, counts)._replace(cells=cells, outcome={"specializations": len(found.steps)})


class Tds(TopDown):
    """Specialize what tells most about the target for the anonymity it costs, in all records at once (Fung, Wang & Yu 2005).

    A node of a hierarchy becomes its children, numbers without a hierarchy become intervals found on the way, and a category without one is shown
    in full or not at all. What is shown is the same in every record, so the release can be tabulated, and loses much. It looks at the target, so
    classes of records lean towards one of its classes. k-anonymous over its columns. For published comparisons.
    """

    name: ClassVar[str] = "tds"
    title: ClassVar[str] = "Top-down specialization"

    def specialized(self, codes: Int32Array, columns: list[Column], target: Int32Array, rows: IntArray) -> Specialized:
        """By gain over the anonymity that is lost."""
        trees = [column for column in columns if column != "disclosed"]
        return top_down_specialization(codes, trees, target, self.k, rows)


class Tdr(TopDown):
    """TDS that can also disclose single values of a category without a hierarchy, and suppresses the others (Fung, Wang & Yu 2007).

    What is next is weighed by gain over one more than the anonymity it costs. What is shown is the same in every record: a value of a column that is
    suppressed is suppressed throughout. It looks at the target, so classes of records lean towards one of its classes. k-anonymous over its columns.
    For published comparisons.
    """

    name: ClassVar[str] = "tdr"
    title: ClassVar[str] = "Top-down refinement"

    def described(self, table: Table, roles: Roles, column: str) -> _Described:
        """Also value by value."""
        if column in roles.hierarchies or in_stretches(table, roles, column) or table.kind(column) == "empty":
            return super().described(table, roles, column)
        return _Described(in_order(table, roles, column).codes, "disclosed", None)

    def specialized(self, codes: Int32Array, columns: list[Column], target: Int32Array, rows: IntArray) -> Specialized:
        """By gain over one more than the anonymity that is lost."""
        return top_down_refinement(codes, columns, target, self.k, rows)


def not_itself(name: str, roles: Roles, columns: tuple[str, ...]) -> None:
    """What is to be predicted cannot be asked for on the way."""
    if roles.target in columns:
        raise ParameterError(
            f"{name}: '{roles.target}' is the target, by which the other columns are shown. Take it out of columns.", about=roles.target
        )


def _cells(table: Table, roles: Roles, column: str, one: _Described, of_code: IntArray, level: IntArray, at: Int32Array) -> Published:
    """A column's cell in each group, of which one code is given."""
    if one.levels is not None:
        shown = level[at]
        return at_levels(one.levels, shown, one.levels.coded.nodes[shown, at].astype(np.int64), table.format.missing)
    if one.column == "interval":
        low, high = np.full(int(of_code.max()) + 1, len(of_code)), np.full(int(of_code.max()) + 1, -1)
        np.minimum.at(low, of_code, np.arange(len(of_code)))
        np.maximum.at(high, of_code, np.arange(len(of_code)))
        return Published(stretches(table, roles, column, low[of_code[at]], high[of_code[at]]))
    names = in_order(table, roles, column).names
    alone = len(names) == 1  # a column with one value has nothing to suppress
    return Published(
        pa.array([cell.SUPPRESSED if level[code] and not alone else cell.write_value(names[code]) for code in at.tolist()], pa.string())
    )
