"""The risk of a file as it is, before any release: its classes, the records that stand out and by which columns, and what tells records apart.

Where it is known whose each row is, persons are counted. If all rows of each agree in what an intruder may know, a person is one record; if
not, a person is alone on a set of columns where all rows that agree on it are its own, and what pairs of records would be counted for has no value.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError, counted
from shoal.kernels.groups import class_ids
from shoal.kernels.special_uniques import MOST_COLUMNS, SetsOfSize, SpecialUniques, dis_suda, elliot, ihsn, minimal_sets, special_uniques
from shoal.measures.classes import Classes, classes_of
from shoal.promises import Unit
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.persons import same_within
from shoal.runs.unit import repeated
from shoal.table import Table

ScoreName = Literal["elliot", "ihsn"]
SCORES = {"elliot": elliot, "ihsn": ihsn}
BELOW = (2, 3, 5, 10)  # class sizes that rules of practice ask for
DIS_COLUMNS = 28  # from which on its exponent, 1 + (8 - M) / 20, would turn the order of scores round
LISTED = 8  # special uniques kept of each record, the smallest first
AS_IT_IS = "This is the file as it is; how many are unique in the population is not estimated here."
DIFFER = "Rows of one person differ in what is looked at, so what tells persons apart is not counted pair by pair: classes and special uniques are."


class SpecialSets(NamedTuple):
    """The first special uniques of every record, as sets of columns."""

    columns: tuple[str, ...]
    sets: tuple[IntArray, ...]  # by size
    record: IntArray  # of each row
    many: IntArray  # special uniques of each record
    listed: Int32Array  # the first of them, numbered through all sizes

    def of(self, row: int) -> tuple[int, list[tuple[str, ...]]]:
        """How many a row has, and the smallest of them."""
        record = int(self.record[row])
        return int(self.many[record]), [self._named(number) for number in self.listed[record].tolist() if number >= 0]

    def _named(self, number: int) -> tuple[str, ...]:
        for sets in self.sets:
            if number < len(sets):
                return tuple(self.columns[j] for j in sets[number].tolist())
            number -= len(sets)
        raise IndexError(number)


class ColumnRisk(NamedTuple):
    """What one column gives away by itself, and its part in what makes records special."""

    column: str
    distinct: int  # values, missing among them
    distinction: float | None  # values over records
    separation: float | None  # share of the pairs of records that it tells apart
    part_of_scores: float | None  # the share of all scores from special uniques that hold it; such shares add up to more than 1


class SizeRisk(NamedTuple):
    """Sets of so many columns."""

    columns: int
    sets: int
    special: int  # special uniques on them
    telling: tuple[str, ...]  # the set with most different combinations; empty where pairs are not counted
    distinction: float | None  # of that set
    separation: float | None
    unique: int | None  # records alone on it


@dataclass(frozen=True)
class FileRisk:
    """The risk of a file as it is. Scores are of each row of the file: private, as everything exact about single records is."""

    unit: Unit
    rows: int
    persons: int | None
    classes: int  # distinct combinations
    smallest_class: int
    unique: int  # rows, or persons alone in a class
    below: Mapping[int, int]  # rows, or persons, in classes of fewer than so many
    histogram: Mapping[int, int]  # classes by size, of the smallest ten
    columns: tuple[ColumnRisk, ...]
    special: int  # rows, or persons, with a special unique
    sizes: tuple[SizeRisk, ...]
    keys: (
        tuple[tuple[str, ...], ...] | None
    )  # the smallest sets that tell as much apart as was asked, or as all columns do; None: not counted
    keys_tell: float | None  # the distinction of these sets is at least this
    keys_all_found: bool
    sets_not_looked_at: int
    score: ScoreName
    notes: tuple[str, ...]
    sentence: str
    scores: FloatArray = field(repr=False)  # PRIVATE, as what follows: of each row of the file
    dis: FloatArray | None = field(repr=False)  # DIS-SUDA, where the sampling fraction was given
    class_size: IntArray = field(repr=False)
    special_sets: SpecialSets = field(repr=False)

    def plain(self) -> dict[str, Any]:
        """What is said of the file as a whole, for scripts: nothing of single records."""
        private = ("scores", "dis", "class_size", "special_sets", "columns", "sizes")
        about = {key: value for key, value in vars(self).items() if key not in private}
        about |= {"below": {str(k): n for k, n in self.below.items()}, "histogram": {str(k): n for k, n in self.histogram.items()}}
        return {**about, "columns": [one._asdict() for one in self.columns], "sizes": [one._asdict() for one in self.sizes]}

    def records(self) -> str:
        """CSV: every row by its number, the highest score first, with the columns that make it special; no cell of the file."""
        text = io.StringIO()
        out = csv.writer(text, lineterminator="\n")
        dis = [] if self.dis is None else ["dis_suda"]
        out.writerow(["row", f"class_size_{self.unit}", "score", *dis, "special_uniques", "special_on"])
        for row in np.argsort(-self.scores, kind="stable").tolist():
            many, sets = self.special_sets.of(row)
            value = [] if self.dis is None else [f"{self.dis[row]:.6g}"]
            shown = "; ".join(" + ".join(chosen) for chosen in sets) + ("; ..." if many > len(sets) else "")
            out.writerow([row + 1, int(self.class_size[row]), f"{self.scores[row]:.10g}", *value, many, shown])
        return text.getvalue()


class _Records(NamedTuple):
    """Distinct combinations, as they are searched."""

    columns: list[str]
    of_row: IntArray  # the combination of each row
    codes: IntArray
    rows: IntArray  # how many rows have each: of one person all are one
    owner: IntArray | None
    known: BoolArray
    number: int | None  # records in all; None where pairs of them are not counted


def file_risk(
    data: Any,
    roles: Roles,
    size: int | None = None,
    tells: float | None = None,
    fraction: float | None = None,
    score: ScoreName = "elliot",
    progress: Progress = quiet,
) -> FileRisk:
    """Classes, special uniques with SUDA scores, minimal keys, and what every column tells apart, over the quasi-identifiers of a table.

    `size` bounds the sets of columns that are looked at; without it the search goes as far as some seconds take it, and says how far that was.
    `tells` asks for the smallest sets of at least that distinction; without it, for those that tell as much apart as all columns. `fraction` is
    the share of the population that the file holds: DIS-SUDA is made of it.
    """
    table = Table.of(data)
    _check(table, roles, size, tells, fraction, score)
    read = roles.read(table)
    checked = roles.check(read)
    persons = read.codes(checked.person[0]) if checked.person else None
    given = Release.given(read, np.arange(len(read)), checked, persons)
    columns = list(checked.quasi)
    progress("counting classes", 0, 1)
    classes = classes_of(given, columns)
    records = _records(read, checked, columns, persons)
    progress("counting classes", 1, 1)
    if fraction is not None and records.number is None:
        raise ParameterError(
            "DIS-SUDA counts pairs of records, and rows of one person differ in what is looked at. Leave the sampling fraction out, or name "
            "columns that are the same in all rows of a person.",
            about="fraction",
        )
    found = special_uniques(
        records.codes,
        records.rows,
        records.owner,
        records.known,
        size,
        SCORES[score],
        LISTED,
        lambda many, done, of: progress(f"looking at sets of {counted(many, 'column')}", done, of),
    )
    return _put_together(given, classes, records, found, tells, fraction, score)


def _check(table: Table, roles: Roles, size: int | None, tells: float | None, fraction: float | None, score: str) -> None:
    if not len(table):
        raise DataError("The table has no rows, so there is nothing to count.")
    if not roles.quasi:
        raise ParameterError(
            "No column is named that an intruder may know. Name them with --quasi a,b,c or in a roles file; `shoal look` suggests them.",
            about="quasi",
        )
    if len(roles.quasi) > MOST_COLUMNS:
        raise ParameterError(
            f"{len(roles.quasi)} columns are named as quasi-identifiers; scores are made of at most {MOST_COLUMNS}. "
            "Name those that an intruder may know together.",
            about="quasi",
        )
    if size is not None and size < 1:
        raise ParameterError(f"The largest set must have 1 column or more, got {size}.", about="size")
    for name, share in (("tells", tells), ("fraction", fraction)):
        if share is not None and not 0 < share <= 1:
            raise ParameterError(f"{name} is a share above 0 and at most 1, got {share:g}.", about=name)
    if fraction is not None and len(roles.quasi) >= DIS_COLUMNS:
        raise ParameterError(
            f"DIS-SUDA is made for fewer than {DIS_COLUMNS} columns, and {len(roles.quasi)} are named. Name those that an intruder may know "
            "together, or leave the sampling fraction out.",
            about="fraction",
        )
    if score not in SCORES:
        raise ParameterError(f"There is no score '{score}'. Known: {', '.join(SCORES)}.", about="score")


def _records(table: Table, roles: Roles, columns: list[str], persons: IntArray | None) -> _Records:
    """Rows that agree are one record with so many rows. Persons whose rows all agree have one row each; else each record says whose it is."""
    codes = np.column_stack([table.codes(column) for column in columns])
    of_row, number = class_ids(codes)
    first = np.empty(number, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    no_answer = [roles.missing_levels(table, column) for column in columns]
    known = np.column_stack([~gone[codes[first, j]] for j, gone in enumerate(no_answer)])
    rows, owner, whole = np.bincount(of_row), None, len(table)
    if persons is not None and all(same_within(codes[:, j], persons) for j in range(len(columns))):
        alone = np.unique(persons, return_index=True)[1]
        rows, whole = np.bincount(of_row[alone], minlength=number), len(alone)
    elif persons is not None:
        owner = persons[first]
        owner[of_row[persons != owner[of_row]]] = -1
    return _Records(columns, of_row, codes[first], rows, owner, known, whole if owner is None else None)


def _put_together(
    given: Release,
    classes: Classes,
    records: _Records,
    found: SpecialUniques,
    tells: float | None,
    fraction: float | None,
    score: ScoreName,
) -> FileRisk:
    sizes, many = classes.sizes, len(records.columns)
    scores = found.scores[records.of_row]
    special = scores > 0
    keys, keys_tell = _keys(records, found, tells)
    not_looked_at = 2**many - 1 - sum(len(one.columns) for one in found.sizes)
    dis = None
    if fraction is not None and found.complete:  # a record with a score is one row, or one person
        dis = dis_suda(found.scores, 2 * int((sizes == 2).sum()), fraction, many)[records.of_row]
    size, held = np.unique(sizes, return_counts=True)
    return FileRisk(
        unit=classes.unit,
        rows=len(given),
        persons=None if given.persons is None else classes.total,
        classes=len(sizes),
        smallest_class=int(sizes.min()),
        unique=classes.alone,
        below={k: int(classes.many[classes.smallest < k].sum()) for k in BELOW},
        histogram=dict(zip(size[:10].tolist(), held[:10].tolist())),
        columns=_columns(records, found),
        special=int(special.sum()) if given.persons is None else len(np.unique(given.persons[special])),
        sizes=_sizes(records, found),
        keys=keys,
        keys_tell=keys_tell,
        keys_all_found=found.all_apart,
        sets_not_looked_at=0 if found.complete and found.all_apart else not_looked_at,
        score=score,
        notes=_notes(given, records, found, not_looked_at, fraction),
        sentence=_sentence(classes.unit, classes.alone, classes.total, many, int(sizes.min())),
        scores=scores,
        dis=dis,
        class_size=sizes[records.of_row],
        special_sets=SpecialSets(
            tuple(records.columns), tuple(one.columns for one in found.sizes), records.of_row, found.many, found.listed
        ),
    )


def _columns(records: _Records, found: SpecialUniques) -> tuple[ColumnRisk, ...]:
    alone = found.sizes[0]
    return tuple(
        ColumnRisk(
            column,
            int(alone.classes[j]),
            *_tells(records, alone, j),
            float(found.of_columns[j] / found.total) if found.total else None,
        )
        for j, column in enumerate(records.columns)
    )


def _tells(records: _Records, sets: SetsOfSize, one: int) -> tuple[float | None, float | None]:
    """Distinction and separation of a set of columns (Motwani & Xu 2007)."""
    n = records.number
    if n is None:
        return None, None
    return float(sets.classes[one] / n), float(1 - sets.together[one] / (n * (n - 1))) if n > 1 else None


def _sizes(records: _Records, found: SpecialUniques) -> tuple[SizeRisk, ...]:
    """Of every size that was looked at; of sets that have as many combinations, the one that tells most pairs apart is shown."""
    shown = []
    for size, sets in enumerate(found.sizes, 1):
        best = int(np.lexsort((sets.together, -sets.classes))[0])
        telling = tuple(records.columns[j] for j in sets.columns[best].tolist()) if records.number else ()
        unique = int(sets.unique[best]) if records.number else None
        shown.append(SizeRisk(size, len(sets.columns), int(sets.special.sum()), telling, *_tells(records, sets, best), unique))
    return tuple(shown)


def _keys(records: _Records, found: SpecialUniques, tells: float | None) -> tuple[tuple[tuple[str, ...], ...] | None, float | None]:
    """The smallest sets that tell enough apart, and how much that is."""
    if records.number is None:
        return None, None
    enough = len(records.codes) if tells is None else ceil(tells * records.number - 1e-9)
    keys = minimal_sets(found.sizes, enough)
    return tuple(tuple(records.columns[j] for j in key) for key in keys), enough / records.number


def _notes(given: Release, records: _Records, found: SpecialUniques, not_looked_at: int, fraction: float | None) -> tuple[str, ...]:
    """What a reader must know beside the figures."""
    notes = [repeated(given.table, given, given.roles)] if given.persons is None else []
    if records.number is None:
        notes.append(DIFFER)
    if not (found.complete and found.all_apart):
        every = 2 ** len(records.columns) - 1
        lost = "keys that need more columns are not counted"
        if not found.complete:
            lost = f"special uniques and {lost}, and scores are made without them"
        notes.append(
            f"Sets of more than {counted(len(found.sizes), 'column')} were not looked at, {not_looked_at:,} of all {every:,} sets: {lost}."
        )
        if fraction is not None and not found.complete:
            notes.append("DIS-SUDA needs all sets of columns, so it has no value here.")
    answered = np.asarray(records.known.all(axis=1))
    unanswered = int((~answered[records.of_row]).sum())
    if unanswered:
        notes.append(
            f"{counted(unanswered, 'row')} {'lacks' if unanswered == 1 else 'lack'} an answer: missing is a value of its own in classes and "
            "keys, and in no special unique."
        )
    if given.roles.weight:
        notes.append("Sampling weights are not used: a row counts as itself, not as those it stands for.")
    return tuple(note for note in notes if note)


def _sentence(unit: Unit, alone: int, all_: int, columns: int, smallest: int) -> str:
    """A verdict without comfort that was not earned."""
    thing = unit[:-1]
    these = "this column" if columns == 1 else f"these {columns} columns"
    if alone:
        of = f"{alone:,} of {counted(all_, thing)} {'is' if alone == 1 else 'are'} alone on {these}"
        return f"{of}: whoever knows that much about one of them, and that they are in the file, finds their {'row' if unit == 'rows' else 'rows'}. {AS_IT_IS}"
    return f"No {thing} is alone on {these}: the smallest class has {counted(smallest, thing)}, which may share what is confidential. {AS_IT_IS}"
