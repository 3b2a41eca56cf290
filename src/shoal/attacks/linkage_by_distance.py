"""Distance-based record linkage: the intruder takes the nearest released record."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.classes import released_classes, shares_by_class
from shoal.attacks.matching import IntruderView, LinkageAttack, intruders_view, points, result
from shoal.contracts import Progress, quiet
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
        view = intruders_view(original, release, knowledge, rng)
        known, released = self._placed(view, released_classes(original, release, view).first if view.sets else np.arange(len(release)))
        there = view.true_row >= 0
        share = np.zeros(len(view.rows))
        if view.sets and there.any():
            share[there] = shares_by_class(original, release, view, known[there], released, there)
        elif there.any():
            found = linked(
                released,
                known[there],
                view.true_row[there],
                view.released_nominal[:, view.exact] if view.exact.any() else None,
                view.known_nominal[there][:, view.exact] if view.exact.any() else None,
                progress=lambda done, of: progress("linking", done, of),
            )
            share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
        return result(self, view, share, 1 / len(release), len(original), distance=self.distance)

    def _placed(self, view: IntruderView, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Known records and some released rows, in coordinates whose Euclidean distance decides."""
        if self.distance == "euclidean":
            return points(view, "each", rows)
        known, released = self._whitened(view, *points(view, "original", np.arange(len(view.released_nominal))))
        return known, released[rows]

    def _whitened(self, view: IntruderView, known: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates in which the Mahalanobis distance is Euclidean. A direction without variance keeps a large, finite weight."""
        if not known.shape[1] or len(known) < 2 or len(released) < 2:
            return known, released
        both = np.atleast_2d(np.cov(known, rowvar=False)) + np.atleast_2d(np.cov(released, rowvar=False))
        spread = both
        if self.distance == "mahalanobis-links":
            there = view.true_row >= 0
            spread = np.atleast_2d(np.cov(known[there] - released[view.true_row[there]], rowvar=False))
        variance, axes = np.linalg.eigh(np.nan_to_num(spread))
        largest = np.linalg.eigvalsh(np.nan_to_num(both)).max(initial=0.0) or 1.0
        whiten = axes / np.sqrt(np.maximum(variance, 1e-9 * largest))
        return known @ whiten, released @ whiten
