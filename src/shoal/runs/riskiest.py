"""The records that are easiest to find again, by class, with their cells and what to do about them: for the data's keeper alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.cell import SUPPRESSED
from shoal.errors import TooManyCombinations, counted
from shoal.kernels.groups import class_ids, persons_in_classes
from shoal.release import PERSON, Release
from shoal.report.private_page import RiskGroup, Riskiest
from shoal.roles import Roles
from shoal.score import AttackResult
from shoal.table import Table

GROUPS = 12  # classes listed
ORIGINALS = 5  # records listed of each
COLUMNS = 8  # columns shown of each
STANDS_OUT = 0.9  # beyond this share of the records, a value is why a record is found
SAME = 1e-6  # likelihoods closer than this are equal
LONGEST = 48  # letters of a cell that are shown


def riskiest(original: Table, release: Release, roles: Roles, results: Sequence[AttackResult]) -> Riskiest:
    """Original rows (counted from 1, without the header) that linkage finds. Those that look alike in the release and are as easy to find
    are one group: the likeliest found first, and of equals those farthest from the middle of a column."""
    found = [one for one in results if one.risk == "linkage" and one.per_record is not None and len(one.per_record) == len(original)]
    quasi = [column for column in roles.quasi if column in release.table.columns and column in original.columns]
    if not found or not quasi or not len(release):
        return Riskiest()
    place = np.full(len(original), -1)
    place[release.source_row[::-1]] = np.arange(len(release))[::-1]
    try:
        classes = _classes(release, quasi)
    except TooManyCombinations as error:
        return Riskiest(none=str(error))
    gives = np.where(place >= 0, 1 / classes.sizes[classes.of_row[place]], np.inf)  # the likelihood that a class gives
    beyond = {one.name: int((_risks(one) > gives + SAME).sum()) for one in found}
    beyond = {one.name: beyond[one.name] for one in found if 2 * beyond[one.name] > (_risks(one) > 0).sum()}
    by_class = [one for one in found if one.name not in beyond]
    groups, records, of = _grouped(original, release, roles, quasi, by_class, place, classes) if by_class else ((), 0, 0)
    numbered = "in the original, without its header" if release.rows is None else "in the draw of originals that was looked for"
    return Riskiest(groups, records, of, tuple(beyond.items()), numbered)


def _risks(attack: AttackResult) -> FloatArray:
    """By original row; one that was not tried was not found."""
    assert attack.per_record is not None
    return np.nan_to_num(attack.per_record, nan=0.0)


class _Classes(NamedTuple):
    """The class of each row of the table; and of each class how many persons are in it, or rows where persons are not told, and how many rows."""

    of_row: IntArray
    sizes: IntArray
    rows: IntArray


def _classes(release: Release, quasi: list[str]) -> _Classes:
    """Of the table, or of all rows where it is a draw of them."""
    if release.rows is None:
        of_row = class_ids([release.table.codes(column) for column in quasi])[0]
        rows = np.bincount(of_row)
        return _Classes(of_row, rows if release.persons is None else np.bincount(persons_in_classes(of_row, release.persons)[0]), rows)
    counts, sizes = release.counts(quasi), release.counts(quasi).rows
    if release.tells_persons:
        sizes = np.bincount(counts.places(release.counts([*quasi, PERSON]).table), minlength=len(counts))
    return _Classes(counts.places(release.table), sizes, counts.rows)


def _grouped(
    original: Table,
    release: Release,
    roles: Roles,
    quasi: list[str],
    found: Sequence[AttackResult],
    place: IntArray,
    classes: _Classes,
) -> tuple[tuple[RiskGroup, ...], int, int]:
    """The first groups, how many records are in any, and how many groups there are."""
    risks = np.vstack([_risks(one) for one in found])
    rows = np.flatnonzero((risks.max(axis=0) > 0) & (place >= 0))
    if not len(rows):
        return (), 0, 0
    risk, by = risks[:, rows].max(axis=0).round(9), risks[:, rows].argmax(axis=0)
    apart = np.column_stack([stands_out(original, roles, column)[rows] for column in quasi])
    looks = classes.of_row[place[rows]]
    order = np.lexsort((rows, looks, -risk))
    starts = np.flatnonzero(np.diff(looks[order], prepend=-1) | (np.diff(risk[order], prepend=-1.0) != 0))
    ends = np.append(starts[1:], len(order))
    farthest = (np.add.reduceat(apart[order], starts) / (ends - starts)[:, None]).max(axis=1)  # by the column in which they stand out most
    first = np.lexsort((-farthest, -risk[order][starts]))[:GROUPS]
    groups = []
    for one in first:
        members = order[starts[one] : ends[one]]
        of_class = looks[members[0]]
        alike = np.flatnonzero(classes.of_row == of_class)
        group = _Group(rows[members], alike, int(classes.sizes[of_class]), int(classes.rows[of_class]), float(risk[members[0]]))
        groups.append(_described(original, release, roles, quasi, group, found[by[members[0]]].name, apart[members].mean(axis=0)))
    return tuple(groups), len(rows), len(starts)


class _Group(NamedTuple):
    rows: IntArray  # of the original
    alike: IntArray  # rows of the table
    size: int  # persons, or rows
    all_alike: int  # rows of the release
    risk: float


def stands_out(table: Table, roles: Roles, column: str) -> FloatArray:
    """The share of records that a record's value is beyond: farther from the middle than theirs, or, without an order, rarer. A missing value
    is beyond none."""
    known = ~table.missing(column)
    codes = table.codes(column)
    if roles.scale(table, column) == "ordinal":
        codes = np.where(known, np.nan_to_num(roles.ordinal_codes(table, column)), 0).astype(np.int64)
    counts = np.bincount(codes[known], minlength=int(codes.max(initial=0)) + 1)
    if roles.scale(table, column) == "nominal":
        order = np.argsort(counts, kind="stable")
        as_rare = np.cumsum(counts[order])[np.searchsorted(counts[order], counts, "right") - 1]
        beyond = 1 - as_rare / max(1, known.sum())
    else:
        beyond = np.abs(2 * (np.cumsum(counts) - counts / 2) / max(1, known.sum()) - 1)
    return np.where(known, beyond[codes], 0.0).astype(np.float32)


def _described(
    original: Table, release: Release, roles: Roles, quasi: list[str], group: _Group, attack: str, apart: FloatArray
) -> RiskGroup:
    """One class of the release, and the records of it that are equally easy to find."""
    released = {column: _text(release.table, column, int(group.alike[0])) for column in quasi}
    telling = [j for j in np.argsort(-apart, kind="stable") if released[quasi[j]] != SUPPRESSED]
    why = int(telling[0]) if telling and apart[telling[0]] >= STANDS_OUT else None
    shown = sorted(telling[:COLUMNS], key=lambda j: (j != why, j)) or [0]
    columns = tuple(quasi[j] for j in shown)
    return RiskGroup(
        risk=group.risk,
        found_by=attack,
        records=len(group.rows),
        alike=group.all_alike,
        persons=None if release.persons is None else group.size,
        columns=columns,
        hidden_columns=max(0, len(telling) - COLUMNS),
        suppressed=len(quasi) - len(telling),
        stands_out=None if why is None else quasi[why],
        released=tuple(released[column] for column in columns),
        originals=tuple((int(row) + 1, tuple(_text(original, column, int(row)) for column in columns)) for row in group.rows[:ORIGINALS]),
        because=_about_size(group.size),
        remedy=" ".join((_about_column(original, roles, quasi, why, group.rows, apart), *_about_confidential(release, roles, group.alike))),
    )


def _about_size(size: int) -> str:
    if size == 1:
        return "Nothing else looks like it: a method that promises k over all these columns hides it among others."
    return "The risk is at most 1 in the size of its class: only a larger k lowers it for all."


def _about_column(table: Table, roles: Roles, quasi: list[str], why: int | None, rows: IntArray, apart: FloatArray) -> str:
    """What to do about the column in which the records are far from all others."""
    these = "this record" if len(rows) == 1 else f"these {len(rows):,} records"
    if why is None:
        return f"Nothing stands out in one column: raise k{f', or leave {these} out' if len(rows) <= ORIGINALS else ''}."
    column, share = quasi[why], f"{min(float(apart[why]), 0.999):.1%}".replace("%", " %")
    if roles.scale(table, column) == "nominal":
        return f"'{column}' is rarer than in {share} of the records: merge its rare values, suppress it here, or leave out {these}."
    codes = roles.ordinal_codes(table, column) if roles.scale(table, column) == "ordinal" else table.codes(column)
    known = ~table.missing(column)
    high = np.mean(codes[rows][known[rows]] > np.median(codes[known]))
    how = "top-code" if high == 1 else "bottom-code" if high == 0 else "top- and bottom-code"
    return f"'{column}' is farther from the middle than in {share} of the records: {how} it, suppress it here, or leave out {these}."


def _about_confidential(release: Release, roles: Roles, alike: IntArray) -> list[str]:
    """What everybody in the class has is known of everybody in it; that all did not answer says little."""
    same = []
    for column in roles.confidential if release.rows is None else ():  # of a class, the draw has a few
        if len(alike) < 2 or column not in release.table.columns:
            continue
        held = np.unique(release.table.codes(column)[alike])
        if len(held) == 1 and not roles.missing_levels(release.table, column)[held[0]]:
            same.append(f"'{column}'")
    if not same:
        return []
    more = f" and {counted(len(same) - 3, 'more column')}" if len(same) > 3 else ""
    return [f"All in the class have the same {', '.join(same[:3])}{more}: ask for l of 2 or more."]


def _text(table: Table, column: str, row: int) -> str:
    value: Any = table.column(column)[row].as_py()
    if column in table.labelled:
        value = table.labels[column].get(value, value)  # a group is shown by its name, as the file has it
    text = "missing" if value is None else _figure(value) if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _figure(value: float) -> str:
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.5g}"
