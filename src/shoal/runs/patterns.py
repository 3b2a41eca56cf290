"""Patterns: the distinct combinations of cells a release has in its quasi-identifiers, as rules that can be read.

A pattern is satisfied by every record whose values its cells allow, also by records that were released with another. Who satisfies several
patterns is hidden among the records of all of them, so the risk is below 1/k (Armengol & Torra).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal import cell
from shoal.arrays import IntArray
from shoal.attacks.classes import flat, ranges_of
from shoal.errors import DataError, ParameterError, did_you_mean
from shoal.kernels.coverage import contained, satisfied
from shoal.kernels.groups import class_ids
from shoal.kernels.linkage.containment import Ranges
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table

Order = Literal["support", "coverage", "length", "purity"]
SUPPORT = "support"  # a release with one row per pattern says in this column how many records each row stands for
MOST_REPORTED, ENDS = 10_000, 5  # beyond so many patterns, a report counts and lists these of either end
TOO_MANY = "Who satisfies them is not counted for so many patterns here; `shoal patterns` counts it."
MOST_VALUES = 8  # of a set, in a rule


class _Counted(NamedTuple):
    """What the original tells: records for each pattern, records by how many patterns they satisfy, the smallest set; or why not."""

    covers: IntArray | None = None
    satisfied: tuple[int, int, int, int] | None = None
    smallest_set: int | None = None
    note: str = ""


@dataclass(frozen=True)
class Pattern:
    """One combination of cells, and who is behind it."""

    cells: Mapping[str, str | None]  # by quasi-identifier, in the notation of cell.py; * is indifferent
    support: int  # records released with it
    coverage: int | None  # records of the original that satisfy it; None: not known
    classes: Mapping[str, Mapping[str | None, int]]  # of the target and each confidential column: records by value, the most frequent first
    names: Mapping[str, str] = field(default_factory=dict)  # of cells that are groups of a hierarchy: what they are released under

    @cached_property
    def rule(self) -> str:
        """As a sentence: sex = Female and age in [20..25]. A group of a hierarchy is said by its name: what it holds may only be known from the
        original."""
        conditions = [part for column, text in self.cells.items() if (part := _condition(column, text, self.names.get(column)))]
        return " and ".join(conditions) or "any record"

    @cached_property
    def length(self) -> int:
        """Columns it says something about."""
        return sum(text != cell.SUPPRESSED for text in self.cells.values())

    @cached_property
    def purity(self) -> float | None:
        """The share of the most frequent class: of the target, or else of the first confidential column."""
        first = next(iter(self.classes.values()), None)
        return max(first.values()) / sum(first.values()) if first else None


@dataclass(frozen=True)
class Patterns:
    """The patterns of a release, the most supported first."""

    found: tuple[Pattern, ...]
    number: int  # of patterns, of which `found` may list the largest and the smallest only
    shared: int  # that stand for two records or more
    satisfied: tuple[int, int, int, int] | None = None  # records of the original that satisfy 0, 1, 2, and 3 or more patterns
    smallest_set: int | None = None  # fewest records behind all patterns that one original satisfies, if it satisfies any
    note: str = ""

    def by(self, order: Order) -> list[Pattern]:
        """The largest first; what is equal stays in order of support."""
        keys: dict[str, Callable[[Pattern], float | None]] = {
            "support": lambda p: p.support,
            "coverage": lambda p: p.coverage,
            "length": lambda p: p.length,
            "purity": lambda p: p.purity,
        }
        if order not in keys:
            raise ParameterError(f"Patterns cannot be sorted by '{order}'.{did_you_mean(order, keys)} Known: {', '.join(keys)}.")
        values = [keys[order](pattern) for pattern in self.found]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            why = "There is no target or confidential column." if order == "purity" else self.note or "There is no original to count in."
            raise ParameterError(f"Patterns cannot be sorted by {order}. {why}")
        return [self.found[i] for i in np.argsort(-np.array(known, dtype=np.float64), kind="stable")]


def patterns_of(release: Release, data: Any = None) -> Patterns:
    """The patterns of a release over its quasi-identifiers; with the original (`data`), also how many of its records satisfy each.

    A column named `support` that the original does not have says how many records a row stands for, as in a list of patterns.
    """
    return _patterns(release, data, None)


def _patterns(release: Release, data: Any, listed: int | None) -> Patterns:
    """`listed`: how many are listed from either end, where not all are; then who satisfies them is not counted."""
    roles = release.roles
    if release.rows is not None:
        raise DataError("The released rows do not fit into memory, and patterns are made of all of them.")
    columns = [column for column in roles.quasi if column in release.table.columns]
    if not columns:
        raise ParameterError("There is no quasi-identifier, so there are no patterns. Name the columns an intruder may know.")
    table = _empty_is_missing(release.table, columns)
    original = None if data is None else _empty_is_missing(Table.of(data), columns)
    if original is not None and len(original) <= release.source_row.max(initial=-1):
        raise DataError("The release does not belong to this table: its rows point outside it. Give the table it was made from.")
    ids, number = class_ids([table.codes(column) for column in columns])
    each = _rows_stand_for(table, roles, original)
    support = _sums(ids, each, number)
    if not number or 2 * number > support.sum():  # fewer than two records a pattern
        raise DataError(
            f"The release has no groups: its {len(table):,} rows have {number:,} different combinations of quasi-identifiers. "
            "Patterns are for methods that form groups, such as mondrian, kactus or mdav."
        )
    first = np.empty(number, np.int64)
    first[ids[::-1]] = np.arange(len(ids))[::-1]
    cells = np.column_stack([table.codes(column)[first] for column in columns])
    texts = {column: _texts(original, table, column) for column in columns}
    named = {column: _names(table, column) for column in columns}
    order = np.argsort(-support, kind="stable")
    if listed is not None and number > 2 * listed:
        order, told = np.concatenate([order[:listed], order[-listed:]]), _Counted(note=TOO_MANY)
        inside = np.isin(ids, order)
        counted_in, ids, each = table.take(np.flatnonzero(inside)), ids[inside], each[inside]
    else:
        told = _Counted() if original is None else _counted(original, table, release.source_row, columns, texts, cells, support)
        counted_in = table
    classes = {column: _by_class(counted_in, column, ids, each, number) for column in _class_columns(table, roles)}
    found = [
        Pattern(
            {column: texts[column][code] for column, code in zip(columns, cells[p].tolist())},
            int(support[p]),
            None if told.covers is None else int(told.covers[p]),
            {column: counts[p] for column, counts in classes.items()},
            {column: name for column, code in zip(columns, cells[p].tolist()) if (name := named[column].get(texts[column][code]))},
        )
        for p in order.tolist()
    ]
    return Patterns(tuple(found), number, int((support > 1).sum()), told.satisfied, told.smallest_set, told.note)


def generalized_patterns(release: Release, original: Table) -> Patterns | None:
    """The patterns of a release that holds sets, intervals or suppressed cells, if it has groups at all; for reports."""
    if not any(cell.is_generalized(original, release.table, column) for column in release.roles.quasi):
        return None
    columns = [column for column in release.roles.quasi if column in release.table.columns]
    many = class_ids([release.table.codes(column) for column in columns])[1] > MOST_REPORTED
    try:
        return _patterns(release, original, ENDS if many else None)
    except DataError:
        return None


def _condition(column: str, text: str | None, name: str | None = None) -> str:
    if name is not None:
        return f"{column} in {name}"
    one = cell.read(text)
    if one.suppressed:
        return ""
    if one.interval:
        return f"{column} in {one.text}"
    if one.single:
        return f"{column} is missing" if one.values[0] is None else f"{column} = {one.values[0]}"
    values = ["missing" if value is None else value for value in one.values]
    if len(values) > MOST_VALUES:
        return f"{column} in {{{'|'.join([*values[: MOST_VALUES - 2], '...', values[-1]])}}} ({len(values)} values)"
    return f"{column} in {{{'|'.join(values)}}}"


def _names(table: Table, column: str) -> dict[str | None, str]:
    """The cells of a column that are written under a name of their own."""
    return {text: name for text, name in table.labels.get(column, {}).items() if name != text} if column in table.labelled else {}


def _empty_is_missing(table: Table, columns: list[str]) -> Table:
    """In cells an empty text is missing, as it is in a file."""
    texts = [column for column in columns if table.kind(column) == "text" and "" in table.levels(column).to_pylist()[:1]]  # the first text
    return table.with_columns({c: pc.if_else(pc.equal(table.column(c), ""), pa.scalar(None, pa.string()), table.column(c)) for c in texts})


def _rows_stand_for(table: Table, roles: Roles, original: Table | None) -> IntArray:
    """How many records each row is."""
    mine = SUPPORT in table.columns and SUPPORT not in roles.named and (original is None or SUPPORT not in original.columns)
    if not mine or table.kind(SUPPORT) != "number":
        return np.ones(len(table), np.int64)
    records = table.number(SUPPORT)
    if not (records >= 1).all() or (records % 1).any():
        raise DataError(f"The column '{SUPPORT}' must say how many records a row stands for, in whole numbers of 1 or more.")
    return records.astype(np.int64)


def _class_columns(table: Table, roles: Roles) -> list[str]:
    """The target first."""
    wanted = dict.fromkeys([*([roles.target] if roles.target else []), *roles.confidential])
    return [column for column in wanted if column in table.columns]


def _sums(ids: IntArray, each: IntArray, number: int) -> IntArray:
    return np.bincount(ids, each, minlength=number).astype(np.int64)


def _by_class(table: Table, column: str, ids: IntArray, each: IntArray, number: int) -> list[dict[str | None, int]]:
    """Records by value in every pattern, the most frequent first."""
    names = _plain_texts(table, column)
    pair, inverse = np.unique(ids * len(names) + table.codes(column), return_inverse=True)
    counts = _sums(inverse.reshape(-1), each, len(pair))
    pattern, code = pair // len(names), pair % len(names)
    order = np.lexsort((code, -counts, pattern))
    starts = np.searchsorted(pattern, np.arange(number + 1)).tolist()
    counted = [(names[c], n) for c, n in zip(code[order].tolist(), counts[order].tolist())]
    return [dict(counted[a:b]) for a, b in pairwise(starts)]


def _plain_texts(table: Table, column: str) -> list[str | None]:
    texts: list[str | None] = table.levels(column).cast(pa.string()).to_pylist()
    return [text and text.removesuffix(".000000") for text in texts] if table.kind(column) == "date" else texts


def _texts(original: Table | None, table: Table, column: str) -> list[str | None]:
    """What stands behind each code of a released column, in the notation of cells, whether or not it was released in it."""
    texts = _plain_texts(table, column)
    if table.kind(column) != "text":
        return texts
    if column in table.cells or (not table.cells and (original is None or cell.is_generalized(original, table, column))):
        return texts
    known = set() if original is None else set(_plain_texts(original, column))
    return [cell.write_value(text) if original is None or text in known else text for text in texts]


def _counted(
    original: Table,
    table: Table,
    source_row: IntArray,
    columns: list[str],
    texts: Mapping[str, list[str | None]],
    cells: IntArray,
    support: IntArray,
) -> _Counted:
    """Originals are counted by kind: those alike in all columns satisfy the same patterns. Cells that are not true are no patterns of theirs."""
    ranges = _ranges(original, columns, texts)
    values = np.column_stack([original.codes(column) for column in columns])
    true = contained(values[source_row], np.column_stack([table.codes(column) for column in columns]), ranges)
    if not true.all():
        changed = [f"'{column}'" for column, kept in zip(columns, true) if not kept]
        sentence = (
            f"{', '.join(changed)} {'was' if len(changed) == 1 else 'were'} released with changed values, which no original need have"
        )
        return _Counted(note=f"Coverage is not counted: {sentence}.")
    kind, kinds = class_ids(values)
    first = np.empty(kinds, np.int64)
    first[kind] = np.arange(len(kind))
    rows = np.bincount(kind, minlength=kinds)
    covers, many, total = satisfied(values[first], rows, cells, ranges, support)
    none, one, two, more = np.bincount(np.minimum(many, 3), rows, minlength=4).astype(int).tolist()
    return _Counted(covers, (none, one, two, more), int(total[many > 0].min()) if many.any() else None)


def _ranges(original: Table, columns: list[str], texts: Mapping[str, list[str | None]]) -> Ranges:
    """For each cell the ranges of the original's codes that it allows."""
    return flat([ranges_of(original, column, cell.read_all(texts[column])) for column in columns])
