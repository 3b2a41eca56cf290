"""What the generalizing methods share: coded columns, diversity inside groups, and a release of sets, intervals and suppressed cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.contracts import Scope
from shoal.errors import DataError, ParameterError, counted
from shoal.methods.coordinates import ColumnMethod, constant_columns
from shoal.methods.publish import Publication, in_order, published
from shoal.promises import Promise
from shoal.release import Release
from shoal.roles import Roles, Scale
from shoal.table import Table

MANY, FEW, NEARLY = 100, 20, 0.9  # texts that name rows: more than MANY and than half the rows, or, from FEW rows on, NEARLY all different


class Coded(NamedTuple):
    """Columns as codes in the order of their values, missing last; positions say which number a code of an ordered column stands for."""

    codes: Int32Array
    ordered: BoolArray
    positions: list[FloatArray]


class Generalization(ColumnMethod):
    """Groups of at least k records, each publishing one cell per column for all its records: k-anonymous over the chosen columns."""

    scope: ClassVar[Scope] = "counts"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    k: int = Field(10, ge=2, description="Smallest group size")
    l: int = Field(1, ge=1, description="Fewest different values of each confidential column in a group; 1: not asked")  # noqa: E741
    entropy: float = Field(1.0, ge=1, description="Fewest effective values (exp of the entropy) of each confidential column in a group")

    def chosen(self, table: Table, roles: Roles, takes: Sequence[Scale]) -> tuple[str, ...]:
        """Sets of texts that name a record each would say who is in the table, so such a column is refused; a hierarchy lists no records."""
        columns = super().chosen(table, roles, takes)
        for column in columns:
            if roles.scale(table, column) == "nominal" and column not in roles.hierarchies:
                distinct, rows = int(table.codes(column).max(initial=0)) + 1, len(table)
                if distinct > max(MANY, rows / 2) or (rows >= FEW and distinct > NEARLY * rows):
                    raise DataError(
                        f"Column '{column}' has {counted(distinct, 'distinct value')} in {counted(rows, 'row')}: released, alone or in sets, "
                        "they would list who is in the table. Give it the role identifier, bring it into broader categories, or give it a hierarchy."
                    )
        return columns

    def opened(self, table: Table, roles: Roles) -> tuple[tuple[str, ...], Coded]:
        """The columns to protect, and their codes; there must be k rows."""
        columns = self.chosen(table, roles, self.takes)
        self.enough_rows(table, self.k)
        return columns, coded(table, roles, columns)

    def sensitive(self, table: Table, roles: Roles) -> Int32Array | None:
        """One code per combination of confidential values, when diversity is asked for; that it can be had is checked first."""
        if self.l == 1 and self.entropy == 1.0:
            return None
        if not roles.confidential:
            raise ParameterError(f"{self.name}: l and entropy need a confidential column. Name one with --confidential.")
        if len(roles.confidential) > 1:
            raise ParameterError(f"{self.name}: diversity is kept for one confidential column. Name one, or protect in steps.")
        codes = table.codes(roles.confidential[0])
        counts = np.bincount(codes)
        share = counts[counts > 0] / len(codes)
        effective = float(np.exp(-(share * np.log(share)).sum()))
        if len(share) < self.l or effective < self.entropy - 1e-9:  # rounding
            raise DataError(
                f"{self.name}: the whole table has {counted(len(share), 'value')} of '{roles.confidential[0]}' ({effective:.2f} effective), "
                f"so no group can have more. Ask for less."
            )
        return codes.astype(np.int32)

    def promises(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> tuple[Promise, ...]:
        """k, and the diversity that was asked for."""
        promised = [Promise("k-anonymity", self.k, columns)]
        if self.l > 1:
            promised.append(Promise("l-diversity", self.l, columns, roles.confidential[0]))
        if self.entropy > 1:
            promised.append(Promise("entropy-l-diversity", self.entropy, columns, roles.confidential[0]))
        return tuple(promised)

    def release(
        self,
        table: Table,
        roles: Roles,
        columns: tuple[str, ...],
        groups: IntArray,
        publish: Publication,
        rng: Generator,
        shown: BoolArray | None = None,
        warnings: Sequence[str] = (),
    ) -> Release:
        """Every group's cells; rows of group -1 are dropped, and said to be."""
        kept = np.flatnonzero(groups >= 0)
        said = [*warnings, *constant_columns(table, columns)]
        dropped = len(table) - len(kept)
        if dropped:
            said.append(f"{counted(dropped, 'record')} of {len(table):,} could not be put into a group and left the release.")
        inside = table.take(kept) if dropped else table
        used = np.bincount(groups[kept]) > 0
        dense = (np.cumsum(used) - 1)[groups[kept]]
        cells = published(inside, roles, columns, dense, publish, None if shown is None else shown[np.flatnonzero(used)])
        step = self.step(columns, self.guarantees, self.promises(table, roles, columns))
        # rows are shuffled before they get their cells: moving group numbers is cheaper than moving text
        empty = pa.nulls(len(inside))
        made = Release.of(inside.with_columns(dict.fromkeys(columns, empty)), roles, step, rng, tuple(said))
        groups_now = pa.array(dense[made.source_row].astype(np.int32))
        filled = made.table.with_columns({column: _spread(texts, groups_now) for column, texts in cells.items()})
        filled = replace(filled, cells=inside.cells | set(columns))
        return replace(made, table=filled, source_row=kept[made.source_row])


def _spread(cells: pa.Array, groups: pa.Array) -> pa.Array:
    """Each record's cell. Texts are kept once each, with a number per record: written out they would take hundreds of bytes a record."""
    if not pa.types.is_string(cells.type):
        return cells.take(groups)
    each = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(each.indices.take(groups), each.dictionary)


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


def target_codes(table: Table, roles: Roles, name: str) -> tuple[Int32Array, int]:
    """The class of each record, and how many classes there are."""
    if roles.target is None:
        raise ParameterError(f"{name} needs a target: name the column to predict with --target.")
    codes = table.codes(roles.target)
    classes = int(codes.max(initial=0)) + 1
    if classes < 2:
        raise DataError(f"{name}: the target '{roles.target}' has one class only, so there is nothing to learn. Use mondrian.")
    number = table.kind(roles.target) == "number"
    if classes > 255 or (number and classes > 20 and 2 * classes > len(table)):
        other = " Or use infogain-mondrian with workload=regression." if number else ""
        raise DataError(
            f"{name}: the target '{roles.target}' has {counted(classes, 'class', 'classes')} in {counted(len(table), 'row')}, and every value is a class. "
            f"Group them into fewer, at most 255.{other}"
        )
    return codes.astype(np.int32), classes


def diversity(sensitive: Int32Array | None, l: int, entropy: float) -> dict[str, Any]:  # noqa: E741
    """The keywords kernels take."""
    return {} if sensitive is None else {"sensitive": sensitive, "l": l, "entropy_l": entropy}
