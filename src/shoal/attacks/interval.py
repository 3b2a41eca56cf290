"""Interval disclosure: how often the original lies close to its released value."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import FloatArray
from shoal.attacks.matching import best_of_persons, intruders_view
from shoal.cell import is_generalized
from shoal.contracts import Progress, quiet
from shoal.errors import DataError
from shoal.kernels.scaling import Spread
from shoal.params import Params
from shoal.release import Release
from shoal.score import AttackResult, Knowledge, LooksAmong, LooksFor, Risk, wilson
from shoal.table import Table


class IntervalDisclosure(Params):
    """The share of original values inside the rank interval around their released value (Domingo-Ferrer & Torra 2001).

    For widths of 1, 2, ..., 10 % of the records and every numeric or ordinal column: the released values within that many ranks of a record's
    own span an interval, and the original is disclosed when it lies inside. Blind guessing is the same for a released value drawn at random.
    """

    name: ClassVar[str] = "interval-disclosure"
    title: ClassVar[str] = "Interval disclosure"
    risk: ClassVar[Risk] = "interval"
    looks_for: ClassVar[LooksFor] = "records"
    looks_among: ClassVar[LooksAmong] = "values"
    widest: int = Field(10, ge=1, le=50, description="Widest interval, in percent of the records; every whole percent up to it is averaged")

    def applies(self, original: Table, release: Release, knowledge: Knowledge) -> str:
        """Categories have no rank intervals, and sets are their own."""
        for column in knowledge.known_columns():
            ordered = column in original.columns and knowledge.roles.scale(original, column) != "nominal"
            if ordered and not is_generalized(original, release.table, column):
                return ""
        return "Interval disclosure needs a numeric or ordinal column, released as values, among those the intruder knows."

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Average over widths and columns."""
        view = intruders_view(original, release, knowledge, rng, "own row")
        usable = [j for j in range(view.known.shape[1]) if not is_generalized(original, release.table, view.columns[j])]
        if not usable:
            raise DataError(self.applies(original, release, knowledge))
        there = np.flatnonzero(view.true_row >= 0)
        inside = np.zeros(len(view.rows))
        guessed, cells = np.zeros(len(view.rows)), 0
        per_column = {}
        for j in usable:
            x, y = view.known[there, j], view.released[:, j]
            if view.every is None:
                every, other = Spread(y, np.ones(len(y), np.int64)), y[rng.integers(0, len(y), len(x))]
            else:
                every = view.every[j]
                other = every.values[np.searchsorted(np.cumsum(every.rows), rng.integers(0, every.total, len(x)), "right")]
            share, blind = (_inside(x, centre, every, self.widest) for centre in (y[view.true_row[there]], other))
            inside[there] += share
            guessed[there] += blind
            cells += 1
            per_column[view.columns[j]] = float(share.mean()) if len(share) else 0.0
            progress("interval disclosure", cells, len(usable))
        inside /= cells
        guessed /= cells
        per_record = np.full(len(original), np.nan)
        per_record[view.rows] = inside
        chance = float(guessed[there].mean()) if len(there) else 0.0
        note = "Hits are shares of a record's values, averaged over widths."
        if view.persons is not None:
            inside, per_record = best_of_persons(view, inside)
            chance, note = float(best_of_persons(view, guessed)[0].mean()), f"{note} Of a person's records the one disclosed most counts."
        hit = float(inside.sum())
        return AttackResult(
            self.name,
            self.title,
            tried=len(inside),
            hit=hit,
            strict_hit=hit,
            chance=chance,
            interval=wilson(hit, len(inside)),
            risk=self.risk,
            note=note,
            details={"columns": [view.columns[j] for j in usable], "per_column": per_column},
            per_record=per_record,
            unit="rows" if view.persons is None else "persons",
        )


def _inside(x: FloatArray, centre: FloatArray, every: Spread, widest: int) -> FloatArray:
    """For each original, the share of widths whose interval around a released value holds it; `every` released value has its ranks."""
    known = every.known
    n = known.total
    if not n:
        return np.isnan(x).astype(np.float64)
    order = np.argsort(known.values, kind="stable")
    released, before = known.values[order], np.append(0, np.cumsum(known.rows[order]))
    # equal values share their middle rank, so that row order decides nothing
    left, right = (before[np.searchsorted(released, centre, side)] for side in ("left", "right"))
    rank = (left + right - 1) // 2
    share = np.zeros(len(x))
    for p in range(1, widest + 1):
        half = round(p * n / 200)
        low, high = (released[np.searchsorted(before, np.clip(end, 0, n - 1), "right") - 1] for end in (rank - half, rank + half))
        share += (x >= low) & (x <= high)
    return np.where(np.isnan(x) | np.isnan(centre), (np.isnan(x) & np.isnan(centre)).astype(np.float64), share / widest)
