"""Spherical k-means on an anonymous collection: are the same topics found (Dhillon & Modha 2001; Abril 2014, 4.4.3)?"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.contracts import CollectionMeasure
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import no_common_terms, side_by_side
from shoal.collections.space import Space, unit_rows
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, counted
from shoal.kernels.spherical.mdav import content_order, rows_of
from shoal.score import Better, Score

MOST_ROUNDS = 100


class TopicAgreement(CollectionMeasure):
    """Adjusted Rand index between the topics found in the original and in the release, by spherical k-means from several starts.

    Beside it, its ceiling: the same index between two runs on the original. Where topics are not clear, the ceiling is low, and a low
    figure is the fault of k-means rather than of the release.
    """

    name: ClassVar[str] = "topic-agreement"
    title: ClassVar[str] = "Topics found as before (adjusted Rand index)"
    better: ClassVar[Better] = "higher"
    topics: int | None = Field(None, ge=2, description="Topics to find; absent: as many as there are labels, or 10 without labels")
    starts: int = Field(10, ge=1, description="Starts of k-means, of which the best counts")

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """There must be as many clusters as topics."""
        clusters, topics = release.centroids.shape[0], self._topics(space)
        if clusters == 1:
            return "The release has one cluster, so no topics can be found in it."
        if topics > clusters:
            return f"The release has {counted(clusters, 'cluster')}, too few for {topics} topics. Look for at most {clusters}."
        return no_common_terms(space, release)

    def _topics(self, space: Space) -> int:
        return self.topics or max(2, len(set(space.labels or range(10))))

    def measure(self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet) -> Score:
        """The mean of two runs on the original against one on the release."""
        if why := self.applies(space, release):
            raise DataError(why)
        pair = side_by_side(space, release)
        there = np.flatnonzero(pair.cluster >= 0)
        topics = self._topics(space)
        originals = pair.rows[there]
        found = []
        for done, (rows, sizes) in enumerate(((originals, None), (originals, None), (pair.centroids, pair.sizes))):
            found.append(spherical_k_means(rows, topics, self.starts, rng, sizes))
            progress("finding topics", done + 1, 3)
        first, second, released = found[0], found[1], found[2][pair.cluster[there]]
        value = (adjusted_rand(first, released) + adjusted_rand(second, released)) / 2
        details: dict[str, Any] = {"ceiling": adjusted_rand(first, second), "topics": topics, "starts": self.starts}
        if space.labels is not None:
            codes = np.unique(np.array(space.labels)[there], return_inverse=True)[1]
            details["labels"] = (adjusted_rand(first, codes) + adjusted_rand(second, codes)) / 2
            details["labels_after"] = adjusted_rand(released, codes)
        return Score(self.name, self.title, value, self.better, (-1, 1), note="Read it beside its ceiling.", details=details)


def spherical_k_means(rows: Any, topics: int, starts: int, rng: Generator, sizes: IntArray | None = None) -> IntArray:
    """The topic of each unit row: the best of several starts, by the sum of cosines. `sizes` tells how often each row occurs.

    A start is as many rows drawn blindly: drawing them far apart, as k-means++ does, finds outliers here and no better topics. Draws
    see rows in the order of their content.
    """
    weight = np.ones(rows.shape[0]) if sizes is None else sizes.astype(np.float64)
    order = content_order(rows_of(rows.indptr, rows.indices, rows.data, rows.shape[1]))
    placed, weight = rows[order], weight[order]
    best, most = np.zeros(len(order), np.int64), -np.inf
    for _ in range(starts):
        found, total = _one_start(placed, weight, topics, rng)
        if total > most + 1e-9:
            best, most = found, total
    back = np.empty(len(order), np.int64)
    back[order] = best
    return back


def _one_start(rows: Any, weight: FloatArray, topics: int, rng: Generator) -> tuple[IntArray, float]:
    first = rng.choice(len(weight), topics, replace=False, p=weight / weight.sum())
    centres = rows[first].toarray()
    topic = np.full(rows.shape[0], -1)
    for _ in range(MOST_ROUNDS):
        similar = rows @ centres.T
        nearest = np.argmax(np.round(similar, 12), axis=1)
        own = similar[np.arange(len(nearest)), nearest]
        for empty in np.setdiff1d(np.arange(topics), nearest):  # a topic nobody is near starts again at the row that fits worst
            worst = int(np.argmin(own))
            nearest[worst], own[worst] = empty, np.inf
        if np.array_equal(nearest, topic):
            break
        topic = nearest
        members = sparse.csr_array((weight, (topic, np.arange(len(topic)))), shape=(topics, len(topic)))
        centres = unit_rows(members @ rows).toarray()
    total = float(weight @ np.asarray((rows @ centres.T)[np.arange(len(topic)), topic]))
    return topic, total


def adjusted_rand(first: IntArray, second: IntArray) -> float:
    """1: the same groups; 0: as alike as by accident (Hubert & Arabie 1985)."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(first, second))
