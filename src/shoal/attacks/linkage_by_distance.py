"""Distance-based record linkage: the intruder takes the nearest released record."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.attacks.matching import Files, FloatArray, files, points, result
from shoal.contracts import Progress, quiet
from shoal.kernels.neighbours import linked
from shoal.params import Params
from shoal.release import Release
from shoal.score import AttackResult, Knowledge
from shoal.table import Table


class DistanceLinkage(Params):
    """Link each known record to the nearest released one (Pagliuca & Seri 1999); Euclidean over standardized columns, or Mahalanobis.

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
        if there.any():
            found = linked(
                released,
                known[there],
                pair.true_row[there],
                pair.released_nominal[:, pair.exact] if pair.exact.any() else None,
                pair.known_nominal[there][:, pair.exact] if pair.exact.any() else None,
                progress=lambda done, of: progress("linking by distance", done, of),
            )
            share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
        return result(self.name, self.title, pair, share, 1 / len(release), len(original), distance=self.distance)

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
