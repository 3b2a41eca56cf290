"""Persons: where all rows of a person say the same of it, one row per person is planned on, and what was decided is spread to all its rows.

So every method and every attack counts persons, whatever it counts, and need not know. Where rows of one person differ in what is protected, this cannot be
done: then methods that only cut or merge count distinct persons by themselves, and others refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal.arrays import BoolArray, IntArray, UintArray
from shoal.contracts import Method
from shoal.errors import ParameterError
from shoal.promises import Promise
from shoal.randomness import Chance
from shoal.registry import known
from shoal.release import PERSON, Release, Step
from shoal.roles import Roles
from shoal.rows import row_ids
from shoal.score import AttackResult, Knowledge
from shoal.table import Table


class OneRowEach(NamedTuple):
    """An original and its release with one row per person, for attacks."""

    original: Table
    release: Release
    persons: IntArray  # of each row of the whole original

    def of_persons(self, result: AttackResult) -> AttackResult:
        """What was found, in persons; every row of a person has its risk."""
        note = re.sub(r"\brecord(s?)\b", r"person\1", result.note)
        per_record = None if result.per_record is None else result.per_record[self.persons]
        forms = tuple(map(self.of_persons, result.forms))
        return replace(result, unit="persons", note=note, per_record=per_record, forms=forms)


def by_person(
    table: Table, roles: Roles, steps: Sequence[Method], chance: Chance, protect: Callable[[Table, Roles], Release]
) -> Release | None:
    """The release of `protect` made on one row per person and spread to all rows; None where rows of one person differ in what is protected."""
    one_each = one_row_a_person(table, roles, steps, chance)
    if one_each is None:
        return None
    persons, first = table.codes(roles.person[0]), one_each.row
    made = protect(one_each.table, one_each.roles)
    made = replace(made, warnings=said_of_persons(made.warnings))
    refuse_several_values(table, made.promises, persons)
    steps_made = tuple(map(_of_persons, made.made_by))
    if len(set(made.source_row.tolist())) < len(made) or set(made.table.columns) - set(table.columns):  # rows are no persons: patterns
        return replace(made, made_by=steps_made, source_row=first[made.source_row], roles=roles, persons=made.source_row)
    return _spread(table, made, steps_made, roles, persons, chance)


class Persons(NamedTuple):
    """A table with one row per person, its roles, and which row of the whole table each of its rows is."""

    table: Table
    roles: Roles
    row: IntArray


def one_row_a_person(table: Table, roles: Roles, steps: Sequence[Method], chance: Chance) -> Persons | None:
    """What methods plan on where whose each row is is told; None where rows of one person differ in what is protected."""
    persons = table.codes(roles.person[0])
    changed = {column for step in steps for column in getattr(step, "columns", None) or roles.quasi if column in table.columns}
    if not all(same_within(table.codes(column), persons) for column in changed):
        return None
    first = _row_of_each(persons, chance.words(row_ids(table, chance), "whose row"))
    alone = table.take(first).with_columns(_values_of_persons(table, roles, persons))
    return Persons(alone, replace(roles, person=(), identifier=(*roles.identifier, *roles.person), link={}), first)


def said_of_persons(warnings: Sequence[str]) -> tuple[str, ...]:
    """Where a row was a person."""
    return tuple(re.sub(r"\brecord(s?)\b", r"person\1", one) for one in warnings)


def refuse_counting_rows(steps: Sequence[Method]) -> None:
    """Where rows of one person differ in what is protected, groups of rows are no groups of persons."""
    for step in steps:
        if not step.counts_persons:
            able = [name for name, method in known("method").items() if method.counts_persons and method.guarantees]
            raise ParameterError(
                f"{step.name} counts rows, and rows of one person differ in what it protects: k of them may be one person. "
                f"Use {' or '.join(able)}, which count persons, or protect columns that are the same in all rows of a person."
            )


def _spread(table: Table, made: Release, steps: tuple[Step, ...], roles: Roles, persons: IntArray, chance: Chance) -> Release:
    """To every row of a person what was decided for it; all else of a row stays its own."""
    place = np.full(int(persons.max()) + 1, -1)
    place[made.source_row] = np.arange(len(made))
    kept = np.flatnonzero(place[persons] >= 0)
    decided = made.table.take(place[persons][kept])
    columns = [column for column in decided.columns if any(column in step.columns for step in steps)]
    changed = {column: decided.arrow.column(column).combine_chunks() for column in columns}
    rows = replace(table.take(kept), cells=decided.cells, labels=decided.labels)
    spread = Release.of(rows, changed, roles, steps[-1], chance, made.warnings)
    return replace(spread, made_by=steps, source_row=kept[spread.source_row])


def one_row_each(original: Table, release: Release, knowledge: Knowledge) -> OneRowEach | None:
    """Both files with one row per person, where the rows of each are alike in what the intruder knows: finding one of them is finding all.
    None where it is not known whose each row is, or where they differ."""
    columns = knowledge.known_columns()
    if release.persons is None or not set(columns) <= set(original.columns) & set(release.table.columns):
        return None
    return release.once(("one row each", *columns), lambda: _one_row_each(original, release, knowledge.roles, columns), original)


def _one_row_each(original: Table, release: Release, roles: Roles, columns: Sequence[str]) -> OneRowEach | None:
    assert release.persons is not None
    whose = original.codes(roles.person[0])
    if not all(
        same_within(table.codes(column), persons)
        for table, persons in ((original, whose), (release.table, release.persons))
        for column in columns
    ):
        return None
    first = np.unique(whose, return_index=True)[1]
    released, row = np.unique(release.persons, return_index=True)
    alone = replace(release, table=release.table.take(row), source_row=released, persons=None)
    if release.rows is not None:
        every = release.counts([*columns, PERSON]) if release.tells_persons else None
        if every is None or len(every) != release.people:
            return None
        alone = replace(alone, rows=every.table.without([PERSON]), originals=None)
    return OneRowEach(original.take(first), alone, whose)


def _of_persons(step: Step) -> Step:
    return replace(step, promises=tuple(replace(promise, unit="persons") for promise in step.promises))


def same_within(codes: IntArray, persons: IntArray) -> bool:
    """Whether a column is the same in all rows of a person."""
    some = np.empty(int(persons.max()) + 1, codes.dtype)
    some[persons] = codes
    return bool((codes == some[persons]).all())


def _row_of_each(persons: IntArray, words: UintArray) -> IntArray:
    """A row of each person: that with the smallest keyed hash."""
    order = np.lexsort((words, persons))
    return order[np.flatnonzero(np.diff(persons[order], prepend=-1))]


def _values_of_persons(table: Table, roles: Roles, persons: IntArray) -> dict[str, pa.Array]:
    """One value of each person, where a column has several: of a confidential one the value that fewest persons have, so that a class of l
    different ones has l persons with different values; of the target its commonest."""
    chosen = {}
    for column in dict.fromkeys((*roles.confidential, *([roles.target] if roles.target else []))):
        if column not in table.columns or same_within(table.codes(column), persons):
            continue
        unknown = roles.missing_levels(table, column)
        code = _one_of_each(table.codes(column), persons, unknown, rarest=column in roles.confidential)
        chosen[column] = table.levels(column).take(pa.array(code))
    return chosen


def _one_of_each(codes: IntArray, persons: IntArray, unknown: BoolArray, rarest: bool) -> IntArray:
    """A code of each person; one that means missing only where it has no other."""
    width = len(unknown)
    pair, rows = np.unique(persons * width + codes, return_counts=True)
    person, code = pair // width, pair % width
    held_by = np.bincount(code, minlength=width)
    order = np.lexsort((code, held_by[code] if rarest else -rows, unknown[code], person))
    return np.asarray(code[order][np.flatnonzero(np.diff(person[order], prepend=-1))])


def refuse_several_values(table: Table, promises: Sequence[Promise], persons: IntArray) -> None:
    """Entropy and closeness are of one value a person."""
    for promise in promises:
        if promise.kind.persons == "weighed" and promise.about and not same_within(table.codes(promise.about), persons):
            raise ParameterError(
                f"{promise.what} cannot be promised in persons: '{promise.about}' differs between rows of one person. "
                "Ask for l, which counts different persons with different values, or make it one value a person.",
                about=promise.about,
            )
