"""Distance-based record linkage: the intruder takes the nearest released record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.classes import released_classes, shares_by_class
from shoal.attacks.forms import Form, not_together, strongest, together
from shoal.attacks.matching import IntruderView, LinkageAttack, intruders_view, points
from shoal.contracts import Progress, quiet
from shoal.errors import ParameterError
from shoal.kernels.linkage.closer import Distance
from shoal.kernels.linkage.neighbours import linked
from shoal.release import Release
from shoal.score import AttackResult, Knowledge, LooksAmong
from shoal.table import Table


class DistanceLinkage(LinkageAttack):
    """Link each known record to the nearest released one (Pagliuca & Seri 1999); Euclidean over standardized columns, or Mahalanobis.

    Against sets and intervals, a class that contradicts fewer of the known values comes first, and distance decides between the rest.
    Each file is standardized by its own means and deviations, or both by the original's; each record is linked by itself, or all one to
    one. By default all of these are tried, and the strongest counts. Categories are 1 apart when they differ. Mahalanobis with links uses
    the covariance of the true differences, so it is the attack of someone who already knows links; without, that of both files together.
    Blind guessing hits 1 in as many as there are released records.
    """

    name: ClassVar[str] = "distance-linkage"
    title: ClassVar[str] = "Distance-based record linkage"
    looks_among: ClassVar[LooksAmong] = "combinations"
    distance: Literal["euclidean", "mahalanobis", "mahalanobis-links"] = Field("euclidean", description="Which distance is nearest")
    scale: Literal["automatic", "each", "original"] = Field(
        "automatic",
        description="Deviations that columns are divided by: each file's own, as published; the original's; automatic: the stronger of both",
    )
    linking: Literal["automatic", "nearest", "one-to-one"] = Field(
        "automatic",
        description="nearest: each record by itself; one-to-one: all together, no released record twice; automatic: the stronger of both",
    )

    @model_validator(mode="after")
    def _fits(self) -> DistanceLinkage:
        if self.scale != "automatic" and self.distance != "euclidean":
            raise ValueError("A Mahalanobis distance does not depend on the scale. Leave scale out, or use distance=euclidean.")
        return self

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Is any released record closer than the true one, and how many tie with it?"""
        view = intruders_view(original, release, knowledge, rng)
        why = not_together(view, release)
        if why and self.linking == "one-to-one":
            raise ParameterError(f"{self.name}: {why}, so records are not linked one to one. Use linking=nearest.")
        rows = released_classes(original, release, view).first if view.sets else np.arange(len(release))
        forms = []
        for how, known, released in self._placed(view, rows):
            if self.linking != "one-to-one":
                forms.append(Form(how, _nearest(original, release, view, known, released, progress)))
            if self.linking != "nearest" and not why:
                forms.append(Form(f"{how}, one-to-one", _together(view, known, released, rng)))
        not_tried = [f"one-to-one linking, since {why}"] if why and self.linking == "automatic" else []
        return strongest(self, view, forms, 1 / release.total, len(original), "", not_tried, distance=self.distance)

    def _placed(self, view: IntruderView, rows: IntArray) -> Iterator[tuple[str, FloatArray, FloatArray]]:
        """Known records and some released rows, in coordinates whose Euclidean distance decides: in each scale that is tried, in words."""
        if self.distance != "euclidean":
            known, released = self._whitened(view, *points(view, "original", np.arange(len(view.released_nominal))))
            yield ("Mahalanobis distance" + (" of known links" if self.distance == "mahalanobis-links" else "")), known, released[rows]
            return
        if self.scale != "original":
            yield "each file's own scale", *points(view, "each", rows)
        if self.scale == "original" or (self.scale == "automatic" and view.known.shape[1]):
            yield "the original's scale", *points(view, "original", rows)

    def _whitened(self, view: IntruderView, known: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Coordinates in which the Mahalanobis distance is Euclidean. A direction without variance keeps a large, finite weight."""
        if not known.shape[1] or len(known) < 2 or len(released) < 2:
            return known, released
        both = np.atleast_2d(np.cov(known, rowvar=False)) + np.atleast_2d(np.cov(released, rowvar=False, fweights=view.stands_for))
        spread = both
        if self.distance == "mahalanobis-links":
            there = view.true_row >= 0
            spread = np.atleast_2d(np.cov(known[there] - released[view.true_row[there]], rowvar=False))
        variance, axes = np.linalg.eigh(np.nan_to_num(spread))
        largest = np.linalg.eigvalsh(np.nan_to_num(both)).max(initial=0.0) or 1.0
        whiten = axes / np.sqrt(np.maximum(variance, 1e-9 * largest))
        return known @ whiten, released @ whiten


def _nearest(
    original: Table, release: Release, view: IntruderView, known: FloatArray, released: FloatArray, progress: Progress
) -> FloatArray:
    """The share of a hit of each record linked by itself."""
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
            stands_for=view.stands_for,
        )
        share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
    return share


def _together(view: IntruderView, known: FloatArray, released: FloatArray, rng: Generator) -> FloatArray:
    """The share of a hit of each record when all are linked at once: numbers first, then codes, every coordinate with the same weight."""
    queries = np.hstack([known, view.known_nominal[:, view.exact].astype(np.float64)])
    protected = np.hstack([released, view.released_nominal[:, view.exact].astype(np.float64)])
    every = np.arange(queries.shape[1])
    return together(protected, queries, view.true_row, Distance("weighted", np.ones(len(every)), 2, every, known.shape[1]), rng)
