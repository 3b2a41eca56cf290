"""Distance-based record linkage: the intruder takes the nearest released record."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import BoolArray, FloatArray
from shoal.attacks.matching import Files, LinkageAttack, files, points, result
from shoal.cell import Cell, is_generalized, read_all, to_number
from shoal.contracts import Progress, quiet
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage.containment import Ranges, linked_to_class
from shoal.kernels.linkage.neighbours import linked
from shoal.release import Release
from shoal.score import AttackResult, Knowledge
from shoal.table import Table


class DistanceLinkage(LinkageAttack):
    """Link each known record to the nearest released one (Pagliuca & Seri 1999); Euclidean over standardized columns, or Mahalanobis.

    Against sets and intervals, a class that contradicts fewer of the known values comes first, and distance decides between the rest.
    Each file is standardized by its own means and deviations. Categories are 1 apart when they differ. Mahalanobis with links uses the
    covariance of the true differences, so it is the attack of someone who already knows links; without, that of both files together.
    Blind guessing hits 1 in as many as there are released records.
    """

    name: ClassVar[str] = "distance-linkage"
    title: ClassVar[str] = "Distance-based record linkage"
    distance: Literal["euclidean", "mahalanobis", "mahalanobis-links"] = Field("euclidean", description="Which distance is nearest")

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Is any released record closer than the true one, and how many tie with it?"""
        pair = files(original, release, knowledge, rng)
        known, released = points(pair, "each" if self.distance == "euclidean" else "original")
        if self.distance != "euclidean":
            known, released = self._whitened(pair, known, released)
        there = pair.true_row >= 0
        share = np.zeros(len(pair.rows))
        sets = [column for column in pair.columns if is_generalized(original, release.table, column)]
        if sets and there.any():
            share[there] = by_containment(original, release, pair, sets, known[there], released, there)
        elif there.any():
            found = linked(
                released,
                known[there],
                pair.true_row[there],
                pair.released_nominal[:, pair.exact] if pair.exact.any() else None,
                pair.known_nominal[there][:, pair.exact] if pair.exact.any() else None,
                progress=lambda done, of: progress("linking by distance", done, of),
            )
            share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
        return result(self, pair, share, 1 / len(release), len(original), distance=self.distance)

    def _whitened(self, pair: Files, known: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates in which the Mahalanobis distance is Euclidean. A direction without variance keeps a large, finite weight."""
        if not known.shape[1] or len(known) < 2 or len(released) < 2:
            return known, released
        both = np.atleast_2d(np.cov(known, rowvar=False)) + np.atleast_2d(np.cov(released, rowvar=False))
        spread = both
        if self.distance == "mahalanobis-links":
            there = pair.true_row >= 0
            spread = np.atleast_2d(np.cov(known[there] - released[pair.true_row[there]], rowvar=False))
        variance, axes = np.linalg.eigh(np.nan_to_num(spread))
        largest = np.linalg.eigvalsh(np.nan_to_num(both)).max(initial=0.0) or 1.0
        whiten = axes / np.sqrt(np.maximum(variance, 1e-9 * largest))
        return known @ whiten, released @ whiten


def by_containment(
    original: Table, release: Release, pair: Files, sets: list[str], known: FloatArray, released: FloatArray, there: BoolArray
) -> FloatArray:
    """Share of a hit for each known record, classes being released records that are alike in every column the intruder knows."""
    codes = np.column_stack([release.table.codes(column) for column in sets])
    plain, known_plain = pair.released_nominal[:, pair.exact], pair.known_nominal[there][:, pair.exact]
    same, first, sizes = distinct_rows(np.column_stack([codes, plain, released]).astype(np.float64))
    values = np.column_stack([original.codes(column)[pair.rows[there]] for column in sets] + ([known_plain] if plain.shape[1] else []))
    cells = np.column_stack([codes[first]] + ([plain[first]] if plain.shape[1] else []))
    ranges = [_ranges(original, release.table, column) for column in sets]
    ranges += [[[(code, code)] for code in range(int(max(plain[:, j].max(), known_plain[:, j].max())) + 1)] for j in range(plain.shape[1])]
    better, ties = linked_to_class(values, cells, _flat(ranges), known, released[first], sizes, same[pair.true_row[there]])
    return np.where(better, 0.0, 1 / np.maximum(ties, 1))


def _ranges(original: Table, released: Table, column: str) -> list[list[tuple[int, int]]]:
    """For each cell of a released column, the ranges of the original's codes it allows."""
    names = [None if v is None else str(v) for v in original.levels(column).cast(pa.string()).to_pylist()]
    place = {name and name.removesuffix(".000000"): code for code, name in enumerate(names)}
    is_number = original.kind(column) in ("number", "date")
    numbers = _level_numbers(original, column) if is_number else np.empty(0)
    return [_allowed(one, place, numbers, len(names)) for one in read_all(released.levels(column).to_pylist())]


def _level_numbers(table: Table, column: str) -> FloatArray:
    """The number of each code, rising; missing, the last code, has none."""
    result = np.full(len(table.levels(column)), np.nan)
    result[table.codes(column)] = table.number(column)
    return np.asarray(result[~np.isnan(result)])


def _allowed(one: Cell, place: dict[str | None, int], numbers: FloatArray, levels: int) -> list[tuple[int, int]]:
    if one.suppressed:
        return [(0, levels - 1)]
    found = [] if one.interval is None else [one.interval]
    allowed = []
    for value, ends in zip(one.values, one.within or (None,) * len(one.values)):
        number = None if value is None or not len(numbers) else to_number(value)
        if ends:
            found.append(ends)
        elif number is not None:
            found.append((number, number))
        elif value in place:
            allowed.append((place[value], place[value]))
    for low, high in found:
        slack = 1e-9 * max(abs(low), abs(high))  # a number written in text may differ in its last digit
        begin, stop = np.searchsorted(numbers, low - slack, "left"), np.searchsorted(numbers, high + slack, "right")
        if stop > begin:
            allowed.append((int(begin), int(stop) - 1))
    return sorted(allowed)


def _flat(columns: list[list[list[tuple[int, int]]]]) -> Ranges:
    base, begin, low, high = [], [0], [], []
    for cells in columns:
        base.append(len(begin) - 1)
        for ranges in cells:
            low += [a for a, _ in ranges]
            high += [b for _, b in ranges]
            begin.append(len(low))
    return Ranges(*(np.array(part, np.int64) for part in (base, begin, low, high)))
