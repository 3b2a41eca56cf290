"""What leaves unprotected: columns without a role, which are left out; released columns that give a protected one away; households.

A protected age is worth nothing beside an unprotected age of half a year later. So every released column that no step protected is held against
every one that a step did.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, IntArray
from shoal.errors import RoleError, counted, number
from shoal.kernels.groups import class_ids
from shoal.kernels.telling import binned, spearman, told, told_ranks
from shoal.kernels.together import is_shared
from shoal.measures import UniqueHouseholds
from shoal.promises import HOUSEHOLD_K, PERSON_K
from shoal.published import Rounding
from shoal.reading import date_form, with_dates
from shoal.release import Leaving, Release, Step
from shoal.roles import Roles, Scale, value_names
from shoal.suggest import codes_for_missing
from shoal.table import Table

ROWS = 20_000  # of a larger table so many are looked at; rows of a release are in a keyed order, so the first are a draw
BINS = 50  # of a number that has more values than these
RIGHT, ABOVE = 0.8, 0.2  # told for so many rows, and for so many more than by guessing
RANKS = 0.95  # |Spearman| from which ranks tell
UNIQUE = 0.9  # different values per row
FEWEST = 20  # rows; of fewer, being different says little
MOST = 10  # lines


def looked_over(original: Table, release: Release, roles: Roles) -> Release:
    """The release with what leaves unprotected, and a line on each in its warnings; as it is where somebody has looked before."""
    if release.leaves is not None:
        return release
    found = what_leaves(original, release, roles)
    lines = (*_about_left_out(roles), *_about_leaving(found, release, roles), *_about_households(original, release, roles))
    lines += (*_about_codes(original, release, roles), *_about_rows_of_persons(release, roles))
    lines += (*_about_caught(original, release, roles), *_about_changed_before(release), *_about_idle_hierarchies(release, roles))
    lines += tuple(_about_misnamed_groups(release, roles))
    return replace(release, leaves=found, warnings=(*release.warnings, *lines))


def _about_caught(original: Table, release: Release, roles: Roles) -> Iterator[str]:
    """A group for all other values takes whatever comes, next month's values as well as slips of the pen."""
    rounding = Rounding.of_release(release)
    for column, tree in roles.hierarchies.items():
        if not tree.caught or column not in release.table.labelled:
            continue
        caught = set(tree.caught)
        values = release.values_before(original, column)
        rows = int(values.rows[[name in caught for name in value_names(values.table, column)]].sum())
        many = (
            f"Some values of '{column}'"
            if rounding.few
            else f"Of '{column}', {rounding.words(counted(rows, 'row'))} of {number(values.total)}"
        )
        yield f"{many} had no group of their own in its hierarchy: they fell into '{tree.other}'."


def _about_changed_before(release: Release) -> Iterator[str]:
    """A cell is true of what the step that made it was given; an earlier step may have put that there."""
    for column in release.table.columns:
        steps = [step.method for step in release.made_by if column in step.columns]
        if len(steps) > 1 and column in {*release.table.cells, *release.table.labelled}:
            yield (
                f"{steps[-1]} made cells of '{column}' after {' and '.join(steps[:-1])} had changed its values: a cell tells of the changed "
                "value, and need not be true of the original one."
            )


def _about_idle_hierarchies(release: Release, roles: Roles) -> Iterator[str]:
    """Whoever gives a hierarchy expects it to matter; of a confidential column l and t look at the values alone."""
    protected = {column for step in release.made_by for column in step.columns}
    for column in roles.hierarchies:
        if release.made_by and column in release.table.columns and column not in protected:
            yield f"The hierarchy of '{column}' was not used: no step protects that column."


def _about_misnamed_groups(release: Release, roles: Roles) -> Iterator[str]:
    """A released 20-39 is read as 20 to 39, whatever the hierarchy put there."""
    for column in release.table.labelled:
        tree = roles.hierarchies.get(column)
        labels = release.table.labels[column]
        there = {labels.get(cell) for cell in release.values(column).levels(column).to_pylist()}
        wrong = [name for name in tree.misnamed if name in there] if tree else []
        if wrong:
            listed = ", ".join(wrong[:MOST]) + (f" and {len(wrong) - MOST} more" if len(wrong) > MOST else "")
            yield (
                f"By its hierarchy, '{column}' has groups that hold numbers outside the range they are named after: {listed}. Whoever takes "
                "such a name at its word is misled; `shoal hierarchy check` says which numbers."
            )


def what_leaves(original: Table, release: Release, roles: Roles) -> tuple[Leaving, ...]:
    """Released columns that no step protected and that give something away, each with the worst that it does, worst first."""
    if not len(release):
        return ()
    linking = _linking(release)
    touched = {column for step in release.made_by if step not in linking for column in step.columns}
    promised = {promise.about for step in linking for promise in step.promises if promise.kind in (HOUSEHOLD_K, PERSON_K)}
    names = [name for name in release.table.columns if name in original.columns and name not in touched and name not in promised]
    after = replace(release.table, arrow=release.table.arrow.slice(0, ROWS))
    looked_at = [column for column in original.columns if column in (*roles.quasi, *roles.identifier, *roles.person)]
    before = original.only(looked_at).take(release.source_row[:ROWS])
    emptied = [name for name in names if any(name in step.columns for step in linking)]
    found = _found(before, after, roles, touched, [name for name in names if name not in emptied])
    if emptied:  # where a number was lost they say nothing; elsewhere they may
        kept = np.flatnonzero(~np.all([after.missing(name) for name in emptied], axis=0))
        found += _found(before.take(kept), after.take(kept), roles, touched, emptied) if len(kept) else []
    rounding = Rounding.of_release(release)
    return tuple(_coarse(one, rounding) for one in sorted(found, key=_badness))


def _linking(release: Release) -> list[Step]:
    """The steps that kept numbers where enough look alike, and emptied columns elsewhere."""
    return [step for step in release.made_by if {HOUSEHOLD_K.name, PERSON_K.name} & set(step.guarantees)]


def _coarse(one: Leaving, rounding: Rounding) -> Leaving:
    """With two decimals, and of few records in steps: these figures are published."""
    share, guessing = (None if value is None else rounding.risk(round(value, 2)) for value in (one.share, one.guessing))
    return replace(one, share=share, guessing=guessing)


def _found(before: Table, after: Table, roles: Roles, touched: Container[str], names: Sequence[str]) -> list[Leaving]:
    """What some columns give away of the originals of the same rows."""
    protected = [_protected(before, roles, column) for column in roles.quasi if column in touched]
    identifiers = [_identifier(before, column) for column in (*roles.identifier, *roles.person) if column in before.columns]
    found = []
    for name in names:
        column, fresh = _column(after.only([name]), roles, name), name in (*roles.household, *roles.person)  # fresh numbers are nobody's
        leaving = None if fresh else _as_identifier(column, after, identifiers)
        leaving = leaving or _as_telling(column, protected)
        if leaving is None and not fresh and _nearly_unique(column):
            leaving = Leaving(name, "unique")
        if leaving is not None:
            found.append(leaving)
    return found


def _badness(one: Leaving) -> tuple[int, float, str]:
    return ("identifier", "tells", "rank", "unique").index(one.why) - (one.why == "rank"), -(one.share or 0.0), one.column


class _Column(NamedTuple):
    """A column as codes in order; and in parts, where it is a number of many values."""

    name: str
    codes: IntArray
    parts: IntArray
    scale: Scale
    known: BoolArray  # neither missing nor a code for it: what ranks are compared on


class _Protected(NamedTuple):
    column: _Column
    guessing: float  # the share that the commonest value is right for
    least: int  # a column of fewer values cannot tell it


class _Identifier(NamedTuple):
    texts: pa.Array
    codes: IntArray
    least: int


def _column(table: Table, roles: Roles, name: str) -> _Column:
    table = _with_dates(table, roles, name)
    scale: Scale = "nominal" if name in (*roles.household, *roles.person) else roles.scale(table, name)
    codes, known = table.codes(name), ~table.missing(name)
    if scale == "ordinal":
        places = roles.ordinal_codes(table, name)
        codes = np.unique(np.where(known, places, np.inf), return_inverse=True)[1].reshape(-1).astype(np.int64)
    many = scale != "nominal" and int(codes.max()) + 1 > BINS
    return _Column(name, codes, _parts(codes, known) if many else codes, scale, known & _answered(table, roles, name, scale))


def _with_dates(table: Table, roles: Roles, name: str) -> Table:
    """Dates in text are compared as dates, whatever is done with them: a date of birth tells an age."""
    form = None if name in (*roles.ordinal, *roles.kinds) else date_form(table, name, roles.missing.get(name, ()))
    if form is None:
        return table
    try:
        return with_dates(table, name, form.formats[0], roles.missing.get(name, ()))
    except RoleError:  # some are none
        return table


def _answered(table: Table, roles: Roles, name: str, scale: Scale) -> BoolArray:
    """Where a column holds no code for missing: neither one that is declared nor, where few numbers are below zero, one of these.

    Surveys write -1 or -9 for who was not asked; among ages such a code ranks before all children.
    """
    declared = ~roles.missing_levels(table, name)[table.codes(name)]
    if scale != "numeric" or table.kind(name) != "number":
        return declared
    above = ~np.asarray(pc.less(table.column(name), pa.scalar(0, table.column(name).type)).fill_null(False))
    return np.asarray(declared & above if above.mean() >= RIGHT else declared)


def _parts(codes: IntArray, known: BoolArray) -> IntArray:
    """Missing is a part of its own."""
    parts = np.full(len(codes), BINS)
    parts[known] = binned(codes[known], BINS)
    return parts


def _protected(table: Table, roles: Roles, name: str) -> _Protected:
    column = _column(table, roles, name)
    return _Protected(column, _guessed(column.parts), _least(column.parts))


def _guessed(values: IntArray) -> float:
    return told(np.zeros(len(values), np.int64), values)


def _identifier(table: Table, name: str) -> _Identifier:
    return _Identifier(table.column(name).cast(pa.string()), table.codes(name), _least(table.codes(name)))


def _least(values: IntArray) -> int:
    """How many values it takes to be right for enough rows."""
    covered = np.cumsum(np.sort(np.bincount(values))[::-1]) / len(values)
    return int(np.argmax(covered >= RIGHT - 1e-9)) + 1


def _as_telling(column: _Column, protected: Sequence[_Protected]) -> Leaving | None:
    """What it tells best of all that is protected, if it tells any."""
    found = []
    values = int(column.codes.max()) + 1
    for other, guessing, least in protected:
        right = (
            0.0
            if values < least
            else max(told(groups, other.parts) for groups in ([column.parts, column.codes] if _several(column) else [column.parts]))
        )
        if right >= RIGHT and right >= guessing + ABOVE:
            found.append(Leaving(column.name, "tells", other.name, right, guessing))
        elif other.scale != "nominal":
            known = column.known & other.known
            bands = column.scale == "nominal"
            agreed = told_ranks(column.codes, other.codes, known) if bands else abs(spearman(column.codes, other.codes, known))
            if agreed >= RANKS:
                found.append(Leaving(column.name, "rank", other.name, agreed))
    return min(found, key=_badness, default=None)


def _several(column: _Column) -> bool:
    """Whether its values, too, stand for several rows, and not only the parts they were put in."""
    return column.parts is not column.codes and int(column.codes.max()) + 1 <= len(column.codes) / 2


def _as_identifier(column: _Column, table: Table, identifiers: Sequence[_Identifier]) -> Leaving | None:
    """Whether it is an identifier: the same texts, in their rows or in others, or one that tells it."""
    for one in identifiers:
        if int(column.codes.max()) + 1 < max(one.least, 2):
            continue
        texts = table.column(column.name).cast(pa.string())
        same = np.asarray(pc.equal(texts, one.texts).fill_null(False)).mean()
        copied = _nearly_unique(column) and np.asarray(pc.is_in(texts.unique(), one.texts.unique())).mean() > UNIQUE
        right = told(column.codes, one.codes)
        if same > UNIQUE or copied or (right >= RIGHT and right >= _guessed(one.codes) + ABOVE):
            return Leaving(column.name, "identifier")
    return None


def _nearly_unique(column: _Column) -> bool:
    return len(column.codes) >= FEWEST and int(column.codes.max(initial=0)) + 1 > UNIQUE * len(column.codes)


# ---- in words ----------------------------------------------------------------------------------------------------------------------


def _about_left_out(roles: Roles) -> Iterator[str]:
    many = len(roles.left_out)
    if many:
        yield f"{counted(many, 'column')} without a role {'was' if many == 1 else 'were'} left out."


def _about_leaving(found: Sequence[Leaving], release: Release, roles: Roles) -> Iterator[str]:
    emptied = {column for step in _linking(release) for column in step.columns}
    yield from (_sentence(one, roles, "records that kept it" if one.column in emptied else "records") for one in found[:MOST])
    if len(found) > MOST:
        further = len(found) - MOST
        yield f"{counted(further, 'further column')} {'gives' if further == 1 else 'give'} something away in one of these ways."


def _sentence(one: Leaving, roles: Roles, of: str) -> str:
    if one.why == "identifier":
        return f"'{one.column}' equals an identifier, or tells it. Make it an identifier, too, so that it is removed."
    if one.why == "unique":
        return f"'{one.column}' is released unchanged and different in nearly every row: whoever knows such a value finds the record."
    way_out = "Make it a quasi-identifier, too, or leave it out."
    if one.column in roles.household:
        way_out = "Keep only numbers that enough households look like (--link household=5), or leave it out."
    how = f"it is right for {one.share:.0%} of the {of}, guessing for {one.guessing:.0%}" if one.why == "tells" else "nearly the same ranks"
    return f"'{one.column}' gives the protected '{one.about}' away ({how}). {way_out}"


def _about_codes(original: Table, release: Release, roles: Roles) -> Iterator[str]:
    """Codes that seem to mean missing, and that nobody has said to: they count as answers. They are values, so they are not named."""
    named = [
        column
        for column in (*roles.quasi, *roles.confidential)
        if column in release.table.columns and column not in roles.missing and codes_for_missing(original.only([column]), column)
    ]
    if named:
        listed = ", ".join(repr(column) for column in named[:MOST]) + (" and others" if len(named) > MOST else "")
        yield (
            f"{listed}: negative numbers seem to mean missing, and count as answers. Declare them with --missing-code (shoal look names them)."
        )


def _about_rows_of_persons(release: Release, roles: Roles) -> Iterator[str]:
    """Person numbers are gone; but what all rows of a person share may put its rows together again."""
    if release.persons is None or roles.person[0] in release.table.columns:
        return
    if release.rows is not None:
        yield "Whether rows of one person can be put together again was not looked at: the rows do not fit into memory."
        return
    table, several = release.table, np.bincount(release.persons) > 1
    if not several.any():
        return
    shared = [column for column in table.columns if is_shared(table.only([column]).codes(column), release.persons)]
    if not set(shared) - {column for step in release.made_by for column in step.columns}:
        return
    classes = class_ids([table.only([column]).codes(column) for column in shared])[0]
    whose = np.full(int(classes.max()) + 1, -1)
    whose[classes] = release.persons
    mixed = np.zeros(len(whose), np.bool_)
    mixed[classes[whose[classes] != release.persons]] = True
    alone = np.ones(len(several), np.bool_)
    alone[release.persons[mixed[classes]]] = False
    share = float(alone[several].mean())
    if share > 0:
        yield (
            f"Rows of one person can be put together again: of {counted(int(several.sum()), 'person')} with several rows {share:.0%} have what "
            "all their rows share to themselves. Leave columns out that rows of a person share, or use --link person."
        )


def _about_households(original: Table, release: Release, roles: Roles) -> Iterator[str]:
    """Households that are released with their numbers, and no promise about them."""
    measure = UniqueHouseholds()
    if measure.applies(original, release, roles) or any(promise.kind is HOUSEHOLD_K for promise in release.promises):
        return
    score = measure.measure(original, release, roles)
    found, smallest, share = number(score.details["households"]), score.details["smallest"], score.value or 0.0
    told_by = "by their members' released cells and by what members share"
    way_out = "Use --link household=5 (link in the roles) to keep only numbers of households that five look like."
    if smallest > 1:
        yield f"Of {found} households some look like {smallest - 1} other{'s' * (smallest > 2)} only, {told_by}. {way_out}"
    else:
        yield f"Households can be told: {share:.0%} of {found} households are like no other {told_by}. {way_out}"
