"""Evidence about a release whose rows do not fit into memory: what a draw of them estimates, and combinations for attacks to look among.

An attack looks for the originals that were drawn among all that was released: combinations of what the intruder knows, not rows, are what it
searches, and each counts for the rows that have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import number
from shoal.randomness import rng_for
from shoal.release import Release
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
    return PERSONS if release.persons is not None and one_row_each(original, release, knowledge) is None else ""


def estimated(measure: Any, score: Score, release: Release) -> Score:
    """A figure of a draw says so, with the interval of a mean over records where it is one: in units that no draw decided, and of rows
    that were drawn one by one."""
    if release.rows is None or of_a_draw(measure) != "estimate" or score.value is None:
        return score
    apart = release.released_originals is not None and release.persons is None
    said = f"On {number(len(release))} of {number(release.total)} rows, drawn at random."
    return replace(score, note=f"{score.note} {said}".strip(), interval=_interval(score) if apart else None)


def _interval(score: Score) -> tuple[float, float] | None:
    """95 % of a mean, inside the bounds of what it is a mean of."""
    each, value = score.per_record, score.value
    if each is None or value is None or len(each) < 2 or not np.isclose(each.mean(), value, rtol=1e-9, atol=1e-12):
        return None
    half = Z * float(each.std(ddof=1) / np.sqrt(len(each)))
    low, high = score.bounds
    return value - half if low is None else max(low, value - half), value + half if high is None else min(high, value + half)


def by_combinations(original: Table, release: Release, columns: Sequence[str], secret: int) -> Release:
    """The release as attacks look among it: a row for each combination of the columns that the intruder knows. As it is where its rows are
    in memory, or lack a column."""
    if release.rows is None or not columns or not set(columns) <= set(release.table.columns):
        return release
    return release.once(("combinations", secret, *columns), lambda: _by_combinations(original, release, columns, secret), original)


def _by_combinations(original: Table, release: Release, columns: Sequence[str], secret: int) -> Release:
    counts = release.counts(columns)
    own = counts.places(release.table)
    table, stands_for = counts.table, counts.rows
    if len(counts) > MOST_COMBINATIONS:
        kept = np.zeros(len(counts), np.bool_)
        kept[own] = True
        rest = np.flatnonzero(~kept)
        more = max(0, MOST_COMBINATIONS - (len(counts) - len(rest)))
        kept[rng_for(secret, "combinations").choice(rest, min(more, len(rest)), replace=False)] = True
        table, stands_for, own = table.take(np.flatnonzero(kept)), stands_for[kept], (np.cumsum(kept) - 1)[own]
    found_at = np.full(len(original), -1)
    found_at[release.source_row] = own
    nobody = np.full(len(table), -1)  # a combination is of several originals
    return replace(release, table=table, source_row=nobody, stands_for=stands_for, found_at=found_at)


def among(found: AttackResult, searched: Release, release: Release, columns: Sequence[str]) -> AttackResult:
    """A result that says what was searched, where that was not everything."""
    if searched.stands_for is None or len(searched) == (every := len(release.counts(columns))):
        return found
    said = (
        f"Looked among {number(len(searched))} of {number(every)} combinations that were released: those of the records looked for, and others "
        "drawn at random. Among fewer, an attack finds no less, so of all it finds at most this."
    )
    return replace(found, note=f"{found.note} {said}".strip())
