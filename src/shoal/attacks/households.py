"""Household linkage: whoever knows who lives together looks for the whole household."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.classes import CellRanges, allowed_ranges, flat
from shoal.attacks.forms import Form, strongest
from shoal.attacks.matching import IntruderView, LinkageAttack, intruders_view, points
from shoal.contracts import Progress, quiet
from shoal.errors import DataError
from shoal.kernels.groups import class_ids
from shoal.kernels.linkage.containment import class_tree, groups_that_fit, rosters
from shoal.kernels.linkage.neighbours import linked
from shoal.release import Release
from shoal.score import AttackResult, Knowledge, LooksFor, wilson
from shoal.table import Table

MOST_MEMBERS = 50  # of a household that is matched member by member: pairs of members grow by its square, and each is looked at


class Homes(NamedTuple):
    """Households of a file: of each row (-1: of none), and their rows, household after household."""

    of_row: IntArray
    size: IntArray
    start: IntArray
    rows: IntArray

    def members(self, homes: IntArray) -> IntArray:
        """The rows of some households of one size."""
        size = int(self.size[homes[0]]) if len(homes) else 1
        return np.asarray(self.rows[self.start[homes][:, None] + np.arange(size)])


class HouseholdLinkage(LinkageAttack):
    """Link each known household to the released one whose members look most like its own (after the household risk of Hundepool et al. 2012).

    The intruder knows who lives together and the known columns of all of them, and looks among released households of as many members.
    Against sets and intervals, every released household can be it whose members can be matched one to one with the known ones, each cell
    holding the known value; those tie. By distance, members are put in order along the direction in which records differ most, and the
    squared distances of first to first, second to second and so on are added up. Where both can be tried, the one that finds more counts.
    A record is hit when its household is; the interval counts households. Blind guessing hits 1 in as many as
    were released, where the household is one of them.
    """

    name: ClassVar[str] = "household-linkage"
    title: ClassVar[str] = "Household linkage"
    looks_for: ClassVar[LooksFor] = "households"
    by: Literal["best", "containment", "distance"] = Field("best", description="How households are compared; best: whichever finds more")

    def applies(self, original: Table, release: Release, knowledge: Knowledge) -> str:
        """Numbers must be released, and all rows be there."""
        column = knowledge.roles.household[0] if knowledge.roles.household else None
        if column is None or column not in release.table.columns or column not in original.columns:
            return "No column says who lives together."
        if release.rows is not None:
            return "Households are not looked for where the released rows do not fit into memory."
        return "No number of a household is released." if release.table.missing(column).all() else ""

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Of each record known, its whole household is."""
        if why := self.applies(original, release, knowledge):
            raise DataError(why)
        rows = knowledge.known_rows(len(original), rng)
        release = replace(release, persons=None)  # a household's rows are looked at one by one, whosever they are
        view = intruders_view(original, release, replace(knowledge, records=None), rng)
        column = knowledge.roles.household[0]
        known, released = points(view, "each", np.arange(len(release)))
        axis = _main_axis(known)
        before = _homes(original, column, known, view.known_nominal[:, view.exact], axis)
        after = _homes(release.table, column, released, view.released_nominal[:, view.exact], axis)
        rows = rows[before.of_row[rows] >= 0]
        if not len(rows):
            raise DataError("None of the records that the intruder knows is in a household. Let more records be known.")
        asked = np.unique(before.of_row[rows])
        true = _true_homes(release, before, after)
        homes, forms = before.of_row[rows], []
        if self.by != "containment":
            forms.append(Form("by distance", _by_distance(view, known, released, before, after, asked, true)[homes]))
        if self.by == "containment" or (self.by == "best" and view.sets):
            forms.append(Form("by containment", _by_containment(original, release, view, before, after, asked, true)[homes]))
        total = int((after.size > 0).sum())
        made = strongest(
            self,
            view._replace(rows=rows),
            forms,
            float((true[homes] >= 0).mean()) / total,
            len(original),
            households=len(asked),
            released=total,
        )
        return replace(made, interval=wilson(made.rate * len(asked), len(asked)), apart=len(asked))


def _homes(table: Table, column: str, coordinates: FloatArray, nominal: IntArray, axis: FloatArray) -> Homes:
    """Members in order along the axis; equal ones there by their coordinates, so that the same members always stand in the same order."""
    of_row = table.groups(column)
    along = np.round((coordinates * axis).sum(axis=1), 9)
    order = np.lexsort((*coordinates.T[::-1], *nominal.T[::-1], along, of_row))
    order = order[of_row[order] >= 0]
    size = np.bincount(of_row[order])
    return Homes(of_row, size, np.cumsum(size) - size, order)


def _main_axis(coordinates: FloatArray) -> FloatArray:
    """The direction in which records differ most."""
    if coordinates.shape[1] < 2 or len(coordinates) < 2:
        return np.ones(coordinates.shape[1])
    return np.asarray(np.linalg.eigh(np.cov(coordinates, rowvar=False))[1][:, -1])


def _true_homes(release: Release, before: Homes, after: Homes) -> IntArray:
    """The released household that each known one became; -1 where it has no number any more."""
    true = np.full(len(before.size), -1)
    there = (after.of_row >= 0) & (before.of_row[release.source_row] >= 0)
    true[before.of_row[release.source_row[there]]] = after.of_row[there]
    return true


def _sizes(before: Homes, after: Homes, asked: IntArray, true: IntArray) -> list[tuple[IntArray, IntArray, IntArray]]:
    """For each size, the households asked for, the released ones, and where the true one stands among these. One that lost a member is lost."""
    asked = asked[true[asked] >= 0]
    asked = asked[before.size[asked] == after.size[true[asked]]]
    found = []
    for size in np.unique(before.size[asked]).tolist():
        some, there = asked[before.size[asked] == size], np.flatnonzero(after.size == size)
        found.append((some, there, np.searchsorted(there, true[some])))
    return found


def _by_distance(
    view: IntruderView, known: FloatArray, released: FloatArray, before: Homes, after: Homes, asked: IntArray, true: IntArray
) -> FloatArray:
    """Share of a hit for each known household: a household is one long record."""
    share = np.zeros(len(before.size))
    for some, there, own in _sizes(before, after, asked, true):
        ours, theirs = before.members(some), after.members(there)
        words = [side[:, view.exact][rows].reshape(len(rows), -1) for side, rows in _sides(view, ours, theirs)]
        found = linked(
            released[theirs].reshape(len(theirs), -1),
            known[ours].reshape(len(ours), -1),
            own,
            words[1] if view.exact.any() else None,
            words[0] if view.exact.any() else None,
        )
        share[some] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
    return share


def _sides(view: IntruderView, ours: IntArray, theirs: IntArray) -> list[tuple[IntArray, IntArray]]:
    return [(view.known_nominal, ours), (view.released_nominal, theirs)]


def _by_containment(
    original: Table, release: Release, view: IntruderView, before: Homes, after: Homes, asked: IntArray, true: IntArray
) -> FloatArray:
    """The same, by whether members can be matched one to one, each cell holding the known value; a plain value holds itself alone."""
    of_row, count = class_ids([release.table.codes(column) for column in view.columns])
    first = np.empty(count, np.int64)
    first[of_row[::-1]] = np.arange(len(of_row))[::-1]
    values = [original.codes(column) for column in view.sets]
    cells = [release.table.codes(column)[first] for column in view.sets]
    ranges = [allowed_ranges(original, release.table, column) for column in view.sets]
    levels = [len(original.levels(column)) for column in view.sets]
    for ours, theirs in _plain(view):
        codes = np.unique(np.concatenate([ours, theirs]), return_inverse=True)[1].reshape(-1).astype(np.int64)
        most = int(codes.max(initial=0)) + 1
        values.append(codes[: len(ours)])
        cells.append(codes[len(ours) :][first])
        ranges.append(CellRanges(np.arange(most + 1), np.arange(most), np.arange(most)))
        levels.append(most)
    tree = class_tree(np.column_stack(cells), flat(ranges), np.array(levels, np.int64))
    codes_of = np.column_stack(values)
    share = np.zeros(len(before.size))
    for some, there, own in _sizes(before, after, asked, true):
        if before.size[some[0]] > MOST_MEMBERS:
            continue
        released, roster = rosters(tree.place[of_row[after.members(there)]], count)
        fits, total = groups_that_fit(codes_of, before.members(some), tree, released, roster[own])
        share[some] = np.where(fits, 1 / np.maximum(total, 1), np.where(total == 0, 1 / len(there), 0.0))  # where none fits, all tie
    return share


def _plain(view: IntruderView) -> list[tuple[FloatArray | IntArray, FloatArray | IntArray]]:
    """Columns that were released as plain values, on both sides."""
    numbers = [j for j in range(view.known.shape[1]) if view.columns[j] not in view.sets]
    words = np.flatnonzero(view.exact).tolist()
    return [(view.known[:, j], view.released[:, j]) for j in numbers] + [
        (view.known_nominal[:, j], view.released_nominal[:, j]) for j in words
    ]
