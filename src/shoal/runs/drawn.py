"""Evidence about a release whose rows do not fit into memory: what a draw of them estimates, and combinations for attacks to look among.

An attack looks for the originals that were drawn among all that was released: combinations of what the intruder knows, not rows, are what it
searches, and each counts for the rows that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import UintArray
from shoal.counts import Counts
from shoal.errors import TooManyCombinations, number
from shoal.randomness import Chance, chance_for, rng_for
from shoal.release import Release
from shoal.rows import Batch, bare_ids
from shoal.runs.persons import one_row_each
from shoal.score import AttackResult, Knowledge, Score
from shoal.table import Table

MOST_COMBINATIONS = 1_000_000  # that attacks look among
Z = 1.959963984540054
WITHHELD = "The rows do not fit into memory, and of a draw of them this figure is no estimate of what it is of all."
ROW_BY_ROW = "It looks among released rows one by one, and they do not fit into memory."
PERSONS = "The released rows do not fit into memory, and rows of one person differ in what is known, or are not told apart."


def of_a_draw(measure: Any) -> str:
    """What a measure says it makes of a draw; one that does not say has none."""
    return str(getattr(measure, "of_a_draw", "withheld"))


def why_not_measured(measure: Any, release: Release) -> str:
    """Empty where a measure has a figure of such a release, too."""
    return WITHHELD if release.rows is not None and of_a_draw(measure) == "withheld" else ""


def why_not_attacked(attack: Any, original: Table, release: Release, knowledge: Knowledge) -> str:
    """Empty where an attack can look among combinations: of persons, of whom each has one."""
    if release.rows is None:
        return ""
    if getattr(attack, "looks_among", "rows") == "rows":
        return ROW_BY_ROW
    try:
        return PERSONS if release.persons is not None and one_row_each(original, release, knowledge) is None else ""
    except TooManyCombinations as error:
        return str(error)


def estimated(measure: Any, score: Score, release: Release) -> Score:
    """A figure of a draw says so, with the interval of a mean over records where it is one: in units that no draw decided, and of rows
    that were drawn one by one."""
    if release.rows is None or of_a_draw(measure) != "estimate" or score.value is None:
        return score
    apart = release.released_originals is not None and release.persons is None
    drawn = "drawn" if release.persons is None else "of persons drawn"
    said = f"On {number(len(release))} of {number(release.total)} rows, {drawn} at random."
    return replace(score, note=f"{score.note} {said}".strip(), interval=_interval(score) if apart else None)


def _interval(score: Score) -> tuple[float, float] | None:
    """95 % of a mean, inside the bounds of what it is a mean of."""
    each, value = score.per_record, score.value
    if each is None or value is None or len(each) < 2 or not np.isclose(each.mean(), value, rtol=1e-9, atol=1e-12):
        return None
    half = Z * float(each.std(ddof=1) / np.sqrt(len(each)))
    low, high = score.bounds
    return value - half if low is None else max(low, value - half), value + half if high is None else min(high, value + half)


class Searched(NamedTuple):
    """A release as attacks look among it, and how many combinations were released in all; 0 where rows are looked at."""

    release: Release
    of: int = 0

    def said(self, attack: Any, found: AttackResult) -> AttackResult:
        """A result that says what was searched, where that was not everything. All values of a column are always there."""
        if len(self.release) >= self.of or attack.looks_among == "values":
            return found
        said = (
            f"Looked among {number(len(self.release))} of {number(self.of)} combinations that were released: those of the records looked for, "
            "and others drawn at random. Among fewer, an attack finds no less, so of all it finds at most this."
        )
        return replace(found, note=f"{found.note} {said}".strip())


def by_combinations(original: Table, release: Release, columns: Sequence[str], secret: int) -> Searched:
    """A row for each combination of the columns that the intruder knows, or for a million; rows as they are where they are in memory, or lack
    a column."""
    if release.rows is None or not columns or not set(columns) <= set(release.table.columns):
        return Searched(release)
    return release.once(("combinations", secret, *columns), lambda: _by_combinations(original, release, columns, secret), original)


def _by_combinations(original: Table, release: Release, columns: Sequence[str], secret: int) -> Searched:
    try:
        counts, every = _thinned(release.counts(columns), release.table, secret), len(release.counts(columns))
    except TooManyCombinations:
        counts, every = _drawn_by_hash(release, columns, chance_for(secret, "combinations"))
    found_at = np.full(len(original), -1)
    found_at[release.source_row] = counts.places(release.table)
    nobody = np.full(len(counts), -1)  # a combination is of several originals
    table = replace(release, table=counts.table, source_row=nobody, stands_for=counts.rows, found_at=found_at)
    return Searched(table, every)


def _thinned(counts: Counts, drawn: Table, secret: int) -> Counts:
    """At most MOST_COMBINATIONS, or as many as the draw has: these, and others at random."""
    if len(counts) <= MOST_COMBINATIONS:
        return counts
    kept = np.zeros(len(counts), np.bool_)
    kept[counts.places(drawn)] = True
    rest = np.flatnonzero(~kept)
    more = min(max(0, MOST_COMBINATIONS - int(kept.sum())), len(rest))
    kept[rng_for(secret, "combinations").choice(rest, more, replace=False)] = True
    return Counts(counts.table.take(np.flatnonzero(kept)), counts.rows[kept])


def _drawn_by_hash(release: Release, columns: Sequence[str], chance: Chance) -> tuple[Counts, int]:
    """The same where all are too many to be counted: those of the draw, and whichever have a small keyed hash. How many there are in all is
    estimated from these."""
    assert release.rows is not None
    share = min(1.0, MOST_COMBINATIONS / release.total)
    own, below = np.unique(bare_ids(release.table.only(columns), chance)), np.uint64(min(share * 2.0**64, 2.0**64 - 2048))
    parts = list(release.rows.each(partial(_some, columns=tuple(columns), own=own, below=below, chance=chance), None))
    counts = Counts.merged(parts)
    ids = bare_ids(counts.table.only(columns), chance)
    return release.read(counts), max(len(counts), round(int((ids < below).sum()) / share))


def _some(batch: Batch, columns: Sequence[str], own: UintArray, below: np.uint64, chance: Chance) -> Counts:
    """Of a batch."""
    table = batch.table.only(columns)
    ids = bare_ids(table, chance)
    return table.take(np.flatnonzero((ids < below) | np.isin(ids, own))).counts(columns)
