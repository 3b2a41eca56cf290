"""Anti-unification: what records have in common is their pattern; no hierarchy of values is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator, model_validator

from shoal import cell
from shoal.arrays import BoolArray, Int32Array, IntArray, UintArray
from shoal.bins import Bins as Cut
from shoal.bins import last_values, told
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.counts import Counts
from shoal.errors import DataError, ParameterError, counted, did_you_mean
from shoal.kernels.anti_unification import Condition, FoundPatterns, Passes, find_patterns, pattern_groups
from shoal.kernels.cells import group_ranges
from shoal.kernels.groups import class_ids
from shoal.kernels.masks import mask_groups
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods.coordinates import ColumnMethod, constant_columns
from shoal.methods.diversity import Asked, demanded, words
from shoal.methods.generalization import CloseGeneralization, Plan, bins_first, bins_found, coded
from shoal.methods.limits import texts_of
from shoal.methods.publish import Publication, Published, cells_of_values
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles, Scale
from shoal.rows import Batch, bare_ids, row_ids
from shoal.table import Table

SUPPORT = "support"
MOST_BINS = 20
SECOND = 1e6  # times are counted in microseconds, and written to the second
BINS = "Widths of bins for numeric columns, such as age=5; others: the round width (1, 2, 5, 10, ...) that makes at most 20"
Bins = tuple[str, ...] | None


class Attributes(NamedTuple):
    """Columns as codes, equal where records agree; and for each column the cell that each code is written as."""

    codes: Int32Array
    cells: list[list[str | None]]


class AntiUnification(ColumnMethod):
    """Lists patterns that k or more records with the same confidential values have in common (Armengol & Torra 2016). Not a k-anonymous table.

    Records are first put together by their confidential values, so every pattern tells the confidential values of all who satisfy it. A set of
    records that agrees on too little is parted by the attribute with the fewest (<) or most (>) values, by all of them that tie; parts below k
    are given up, and records without a pattern are tried again under the next condition. What is left is discarded. A released row is a pattern,
    not a record: as a table the list is not k-anonymous. Use anti-unification-safe for a release that is.
    """

    name: ClassVar[str] = "anti-unification"
    title: ClassVar[str] = "Anti-unification, a list of patterns"
    scope: ClassVar[Scope] = "counts"
    guarantees: ClassVar[tuple[str, ...]] = ()
    adds: ClassVar[tuple[str, ...]] = (
        SUPPORT,
    )  # a released row is a pattern: it has no other columns than those it was made from, and this
    takes: ClassVar[tuple[Scale, ...]] = ("numeric", "ordinal", "nominal")
    k: int = Field(5, ge=2, description="Fewest records a pattern stands for")
    limit: int = Field(2, ge=0, description="Most indifferent attributes of a pattern; it always keeps one")
    conditions: tuple[Condition, ...] = Field(
        ("<", ">"), min_length=1, description="Conditions in turn: < parts by the attribute with the fewest values, > with the most"
    )
    passes: Passes = Field("once", description="once per condition, or until-nothing: each condition again while it finds patterns")
    numeric: Literal["bins", "values"] = Field("bins", description="Numbers and dates as bins, or as values like any other")
    bins: Bins = Field(None, description=BINS)

    @field_validator("bins")
    @classmethod
    def _readable(cls, given: Bins) -> Bins:
        return _checked(given)

    @model_validator(mode="after")
    def _bins_are_used(self) -> Self:
        if self.bins is not None and self.numeric == "values":
            raise ValueError("bins have no effect where numbers are taken as values. Leave bins out, or numeric=values.")
        return self

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """Also the confidential columns, which records are put together by."""
        return (*super().reads(roles), *roles.confidential)

    def protect(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release:
        """Partition by confidential values, find patterns, list them."""
        columns = self.chosen(table, roles, self.takes)
        self._fits(table, roles, columns)
        cut = bins_first(table, roles, _without_widths(columns, self.bins))
        counts = table.counts([column for column in table.columns if column in (*columns, *roles.confidential)], cut)
        data = attributes(counts.table, roles, columns, self.numeric, self.bins, self.name)
        classes, _ = class_ids([counts.table.codes(column) for column in roles.confidential])
        keep = max(1, len(columns) - self.limit)
        draws = chance.uniform(row_ids(counts.table, chance), "whose pattern first")
        found = find_patterns(data.codes, classes, self.k, keep, self.conditions, self.passes, draws, counts.rows)
        progress(self.name, 1, 1)
        rejected = (np.bincount(classes, counts.rows) < self.k)[classes]
        if not len(found.row):
            self._nothing(counts, columns, data, rejected, keep)
        changed = {
            column: pa.array(
                [data.cells[j][data.codes[r, j]] if found.shown[p, j] else cell.SUPPRESSED for p, r in enumerate(found.row)], pa.string()
            )
            for j, column in enumerate(columns)
        }
        listed = counts.table.take(found.row).with_columns(changed)
        listed = replace(
            listed, arrow=listed.arrow.append_column(SUPPORT, pa.array(found.support)), cells=counts.table.cells | set(columns)
        )
        warnings = self._warnings(table, counts, roles, columns, found, rejected)
        bare = replace(roles, identifier=(), household=())
        step = replace(self.step(columns, ()), outcome=bins_found(counts))
        made = Release.of(listed, {}, bare, step, chance, warnings)
        behind = _row_of_each(table, counts, chance)
        return replace(made, source_row=behind[found.row[made.source_row]], roles=roles)

    def _fits(self, table: Source, roles: Roles, columns: tuple[str, ...]) -> None:
        if not roles.confidential:
            raise ParameterError(
                f"{self.name} partitions by the confidential columns, and there is none. Name one with --confidential, "
                "or use anti-unification-safe, which needs none."
            )
        both = [column for column in columns if column in roles.confidential]
        if both:
            raise ParameterError(f"{self.name}: column '{both[0]}' is confidential, so patterns keep it. Take it out of columns.")
        if SUPPORT in table.columns and SUPPORT not in roles.identifier:
            raise DataError(f"The table has a column '{SUPPORT}', and {self.name} adds one of that name. Rename yours.")
        self.enough_rows(len(table), self.k)

    def _nothing(self, counts: Counts, columns: tuple[str, ...], data: Attributes, rejected: BoolArray, keep: int) -> None:
        """Never an empty list."""
        if rejected.all():
            raise ParameterError(
                f"{self.name}: all {counts.total:,} records (100 %) are rejected, since no combination of confidential values has k = {self.k}; "
                f"'{columns[0]}' and the others are never looked at. Use a smaller k, or confidential columns with fewer values."
            )
        many = int(np.argmax([len(texts) for texts in data.cells]))
        raise ParameterError(
            f"{self.name}: no {self.k} records with the same confidential values agree on {keep} of {counted(len(columns), 'attribute')}, so all "
            f"{counts.total:,} (100 %) would be discarded. Raise limit, lower k, or give '{columns[many]}' fewer than its "
            f"{len(data.cells[many]):,} values."
        )

    def _warnings(
        self, table: Source, counts: Counts, roles: Roles, columns: tuple[str, ...], found: FoundPatterns, rejected: BoolArray
    ) -> tuple[str, ...]:
        warnings = [
            f"The release is a list of {counted(len(found.row), 'pattern')}, not a table of records. As a table it is not k-anonymous, and each "
            "pattern tells the confidential values of every record that satisfies it."
        ]
        rows, total = counts.rows, counts.total
        lost, several = int(rows[found.satisfied == 0].sum()), int(rows[found.satisfied > 1].sum())
        too_few = int(rows[rejected].sum())
        of_them = f", {too_few:,} of them because fewer than k share their confidential values" if too_few else ""
        share = f"{counted(lost, 'record')} of {total:,} ({lost / total:.1%})"
        warnings.append(f"{share} satisfy no pattern that has their own confidential values, and are discarded{of_them}.")
        if several:
            share = f"{counted(several, 'record')} ({several / total:.1%})"
            warnings.append(f"{share} satisfy several such patterns, so supports add up to more than the records.")
        if self.limit >= len(columns):
            warnings.append(
                f"limit = {self.limit} would leave nothing of {counted(len(columns), 'attribute')}; patterns keep at least one."
            )
        left_out = [c for c in table.columns if c not in counts.table.columns and c not in roles.removed]
        if left_out:
            warnings.append(f"Patterns have no values for {', '.join(left_out)}: left out.")
        return (*warnings, *told(counts.table.bins), *constant_columns(counts.table, columns, total))


def _row_of_each(source: Source, counts: Counts, chance: Chance) -> IntArray:
    """A row of each combination: of those that have it, the one with the smallest keyed hash."""

    def smallest(batch: Batch) -> tuple[IntArray, UintArray, IntArray]:
        return _smallest(counts.places(batch.table), chance.words(bare_ids(batch.table, chance), "whose row"), batch.rows)

    places, words, rows = map(np.concatenate, zip(*source.each(smallest, None)))
    return _smallest(places, words, rows)[2]


def _smallest(places: IntArray, words: UintArray, rows: IntArray) -> tuple[IntArray, UintArray, IntArray]:
    """Of each combination the row with the smallest hash."""
    order = np.lexsort((words, places))
    first = order[np.flatnonzero(np.diff(places[order], prepend=-1))]
    return places[first], words[first], rows[first]


class AntiUnificationSafe(CloseGeneralization):
    """Every record shows what its group of at least k has in common; what the group differs in is suppressed (after Armengol & Torra 2016).

    One pattern and one row per record. Confidential values are not used to form groups, so they are not disclosed by them as anti-unification
    does; ask for l, entropy or t where they must differ. No record is lost when there are k. No hierarchy of values is needed, and missing is a
    value. By default groups are chosen that suppress as little as can be; the published orders of splitting are a choice.
    """

    name: ClassVar[str] = "anti-unification-safe"
    title: ClassVar[str] = "Anti-unification, one pattern per record"
    order: Literal["least-suppressed", "fewest-first", "most-first"] = Field(
        "least-suppressed",
        description="Groups that suppress least; or by splitting as published, (<,>) or (>,<), with up to 2, 3, ... indifferent attributes",
    )
    numeric: Literal["intervals", "bins", "values"] = Field(
        "intervals",
        description="Numbers and dates: grouped by bins and shown as the group's interval, shown as bins, or as values like any other",
    )
    bins: Bins = Field(None, description=BINS)
    publish: Literal["suppressed", "sets", "counts"] = Field(
        "suppressed",
        description="What a group shows where it differs: suppressed, nothing; sets of values; counts, sets with how often each occurs",
    )

    @field_validator("bins")
    @classmethod
    def _readable(cls, given: Bins) -> Bins:
        return _checked(given)

    @model_validator(mode="after")
    def _bins_are_used(self) -> Self:
        if self.bins is not None and self.numeric == "values":
            raise ValueError("bins have no effect where numbers are taken as values. Leave bins out, or numeric=values.")
        return self

    def cut_first(self, table: Source, roles: Roles, columns: Sequence[str]) -> Cut:
        """Not those whose bins were given."""
        return super().cut_first(table, roles, _without_widths(columns, self.bins))

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Code, group, show what groups agree on."""
        table, rows = counts.table, counts.rows
        data = attributes(table, roles, columns, "values" if self.numeric == "values" else "bins", self.bins, self.name)
        asked = self.asked(counts, roles)
        demand = demanded(self.k, asked)
        draws = chance.uniform(row_ids(table, chance), "who joins first")
        if self.order == "least-suppressed":
            groups = mask_groups(data.codes, demand, draws, rows)
        elif self.order == "fewest-first":
            groups = pattern_groups(data.codes, demand, ("<", ">"), "once", draws, rows)
        else:
            groups = pattern_groups(data.codes, demand, (">", "<"), "until-nothing", draws, rows)
        if self.numeric == "intervals":
            groups = self._cut(counts, roles, [c for c in columns if _numeric(table, roles, c)], groups, asked)
        shown = self._shown(table, roles, columns, groups)
        binned = self._in_bins(table, roles, columns, data, groups) if self.numeric == "bins" else {}
        return Plan.whole(groups, counts, shown)._replace(cells=binned)

    def publication(self) -> Publication:
        """What a group shows where it is shown at all."""
        return "intervals" if self.publish == "suppressed" else self.publish

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """What a group differs in may be a node of the tree, unless it is suppressed."""
        return super().follows(roles) if self.publish != "suppressed" else ()

    def _cut(self, counts: Counts, roles: Roles, numbers: Sequence[str], groups: IntArray, asked: Sequence[Asked]) -> IntArray:
        """Groups parted further along their numbers, as Mondrian does, while both parts keep the demand: shorter intervals, nothing else changes."""
        if not numbers or self.t < 1:  # closeness is to the whole table, and a cut inside a group looks at the group
            return groups
        data, result, made = coded(counts.table, roles, numbers), groups.copy(), int(groups.max()) + 1
        order = np.argsort(groups, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(groups)))
        for g in np.flatnonzero(np.bincount(groups, counts.rows) >= 2 * self.k):
            rows = order[starts[g] : starts[g + 1]]
            codes = np.ascontiguousarray(data.codes[rows])
            if (codes == codes[0]).all():
                continue
            parts = mondrian_groups(codes, data.ordered, data.positions, self.k, rows=counts.rows[rows], **words(asked, rows))
            result[rows] = np.where(parts > 0, made + parts - 1, g)
            made += int(parts.max())
        return result

    def _shown(self, table: Table, roles: Roles, columns: tuple[str, ...], groups: IntArray) -> BoolArray:
        """A group shows what it agrees on, and an interval of numbers unless it holds missing ones too or spans the whole column."""
        shown = np.full((int(groups.max()) + 1, len(columns)), self.publish != "suppressed")
        for j, column in enumerate(columns):
            codes, missing = table.codes(column), bool(table.missing(column).any())
            low, high = (ends[:, 0] for ends in group_ranges(codes.reshape(-1, 1), groups))
            shown[:, j] |= low == high
            if self.numeric == "intervals" and _numeric(table, roles, column):
                last = int(codes.max()) - missing
                shown[:, j] |= (high <= last) & ((low > 0) | (high < last))
        return shown

    def _in_bins(self, table: Table, roles: Roles, columns: tuple[str, ...], data: Attributes, groups: IntArray) -> dict[str, Published]:
        """Numeric columns as the bin a whole group lies in, or suppressed."""
        low, high = group_ranges(data.codes, groups)
        return {
            column: Published(
                pa.array(
                    [data.cells[j][a] if a == b else cell.SUPPRESSED for a, b in zip(low[:, j].tolist(), high[:, j].tolist())], pa.string()
                )
            )
            for j, column in enumerate(columns)
            if _numeric(table, roles, column)
        }


def _numeric(table: Table, roles: Roles, column: str) -> bool:
    return roles.scale(table, column) == "numeric" and table.kind(column) in ("number", "date")


def attributes(
    table: Table, roles: Roles, columns: Sequence[str], numeric: Literal["bins", "values"], bins: Bins, method: str
) -> Attributes:
    """Every column as codes and cells, numeric ones binned if asked. Missing is a value, the last code."""
    widths = _widths(bins)
    for name in widths:
        if name not in columns or not _numeric(table, roles, name):
            why = "is not numeric." if name in columns else f"is not among its columns.{did_you_mean(name, columns)}"
            raise ParameterError(f"{method}: bins names '{name}', which {why}")
    codes, cells = [], []
    for column in columns:
        if numeric == "bins" and _numeric(table, roles, column) and not _beyond_floats(table, column):
            code, texts = _binned(table, column, widths.get(column))
        else:
            code, texts = table.codes(column), cells_of_values(table, column, texts_of(table.levels(column)))
        codes.append(code)
        cells.append(texts)
    return Attributes(np.ascontiguousarray(np.column_stack(codes), dtype=np.int32), cells)


def _widths(bins: Bins) -> dict[str, float]:
    return {name: float(width) for name, _, width in (one.rpartition("=") for one in bins or ())}


def _without_widths(columns: Sequence[str], bins: Bins) -> list[str]:
    return [column for column in columns if column not in _widths(bins)]


def _binned(table: Table, column: str, width: float | None) -> tuple[IntArray, list[str | None]]:
    """Bins [i w, (i + 1) w), written as the whole numbers or days in them, or by both ends where there is something between."""
    values = reaching = table.number(column)
    if column in table.bins:  # a value reaches to the end of its bin
        reaching = table.with_columns({column: last_values(table, column).take(pa.array(table.codes(column)))}).number(column)
    known = values[~np.isnan(values)]
    is_time = table.kind(column) == "date" and len(_text(table, column)) > 10
    whole = bool((known == np.rint(known)).all()) and not is_time and (column not in table.bins or table.bins[column].holds != "numbers")
    if width is None:
        width = _round_width(float(known.max() - known.min()) / MOST_BINS if len(known) else 0.0)
    width = max(width, SECOND if is_time else 1.0 if whole else 0.0)
    if whole and width != int(width):
        width = float(np.ceil(width))
    place = np.floor(values / width)
    bins, code = np.unique(np.where(np.isnan(place), np.inf, place), return_inverse=True)
    code, pattern = code.reshape(-1), _text(table, column)
    least, most = np.full(len(bins), np.inf), np.full(len(bins), -np.inf)
    np.fmin.at(least, code, values)
    np.fmax.at(most, code, reaching)
    texts: list[str | None] = []
    for i, first, last in zip(bins.tolist(), least.tolist(), most.tolist()):
        if not np.isfinite(i):
            texts.append(None)
            continue
        low, high = i * width, (i + 1) * width - whole
        short = float(f"{low:.12g}"), float(f"{high:.12g}")
        if not short[0] <= first <= last <= short[1]:  # twelve digits are not enough to hold what lies in the bin
            short = min(low, first), max(high, last)
        ends = [cell.like(end, pattern) for end in short]
        texts.append(ends[0] if ends[0] == ends[1] else f"[{ends[0]}..{ends[1]}]")
    return code, texts


def _beyond_floats(table: Table, column: str) -> bool:
    """Whole numbers that floating point cannot tell apart: they are codes, whatever they are called, and no bin would surely hold its own."""
    return pa.types.is_integer(table.column(column).type) and bool((np.nan_to_num(np.abs(table.number(column))) >= 2.0**53).any())


def _text(table: Table, column: str) -> str:
    """How a value of a column is written."""
    known = table.levels(column).drop_null().slice(0, 1).cast(pa.string()).to_pylist()
    return str(known[0]).removesuffix(".000000") if known else ""


def _round_width(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... (and 0.5, 0.2, ...) that is not below."""
    if least <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(least))
    return float(next(step * power for step in (1, 2, 5, 10) if step * power >= least * (1 - 1e-12)))


def _checked(given: Bins) -> Bins:
    """Each entry names a column and a width."""
    for one in given or ():
        name, _, width = one.rpartition("=")
        try:
            usable = bool(name) and 0 < float(width) < np.inf
        except ValueError:
            usable = False
        if not usable:
            raise ValueError("bins must be columns with widths above 0, such as age=5,income=1000.")
    names = [one.rpartition("=")[0] for one in given or ()]
    if len(set(names)) < len(names):
        raise ValueError("bins names a column twice.")
    return given
