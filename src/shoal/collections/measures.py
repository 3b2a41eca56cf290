"""What an anonymous collection costs, and what its clusters give away (Abril 2014, 2.5.1, 4.4.2 and 4.4.3)."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from pydantic import Field
from scipy.special import gammaln

from shoal.arrays import FloatArray, IntArray
from shoal.collections.contracts import CollectionMeasure
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import SideBySide, blocks, no_common_terms, no_meanings, over_same_terms, side_by_side, sums
from shoal.collections.space import Space
from shoal.errors import DataError
from shoal.score import Better, Score

# --- loss


class Loss(NamedTuple):
    """Within clusters, between them, and of everything to the one middle of all documents."""

    sse: float
    ssa: float
    sst: float

    @property
    def share(self) -> float | None:
        """SSE / (SSE + SSA), (4.12) and (4.22). None where all documents are the same."""
        return self.sse / (self.sse + self.ssa) if self.sse + self.ssa > 0 else None

    @property
    def normalised(self) -> float | None:
        """SSE as a share of what a single cluster would lose. None where all documents are the same."""
        return self.sse / self.sst if self.sst > 0 else None


def cosine_loss(pair: SideBySide) -> Loss:
    """(4.10), (4.11): sums of cosine distances to the released centroids. A document that was not released is at distance 1."""
    n, total = len(pair.cluster), np.asarray(pair.rows.sum(axis=0)).ravel()
    length = float(np.sqrt(total @ total))
    within = float(sums(pair).multiply(pair.centroids).sum())
    between = float(pair.sizes @ (pair.centroids @ (total / length)))
    return Loss(_clean(n - within, n), _clean(float(pair.sizes.sum()) - between, n), _clean(n - length, n))


def euclidean_loss(pair: SideBySide) -> Loss:
    """(2.9) to (2.12): squared Euclidean distances to the plain means of the same clusters. Documents not released stand for themselves."""
    there = pair.rows[np.flatnonzero(pair.cluster >= 0)]
    n, total = there.shape[0], np.asarray(there.sum(axis=0)).ravel()
    squares = sums(pair).power(2).sum(axis=1)
    means = float((squares / np.maximum(pair.sizes, 1)).sum())
    everything = float(total @ total) / n
    return Loss(_clean(n - means, n), _clean(means - everything, n), _clean(n - everything, n))


def _clean(value: float, n: int) -> float:
    """Differences of equal sums are not quite 0."""
    return 0.0 if abs(value) < 1e-12 * n else value


SAME = "All documents are the same, so there is nothing to lose."


class NormalisedLoss(CollectionMeasure):
    """Sum of the cosine distances of documents to their released row, as a share of what one single cluster would lose.

    0: nothing is lost; 1: as much as with one cluster. Unlike (4.12) it cannot fall while documents move away from their rows.
    """

    name: ClassVar[str] = "normalised-loss"
    title: ClassVar[str] = "Normalised cosine loss"
    better: ClassVar[Better] = "lower"

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """SSE / sum of d(x, c) with c the middle of all."""
        loss = cosine_loss(over_same_terms(space, release))
        details = {"sse": loss.sse, "sst": loss.sst}
        return Score(self.name, self.title, loss.normalised, self.better, (0, None), note="" if loss.sst else SAME, details=details)


class SphericalLoss(CollectionMeasure):
    """SSE / (SSE + SSA) with cosine distances, (4.10) to (4.12).

    The two parts do not sum to a constant: cutting terms off centroids raises SSE and still lowers this figure. Read it beside the
    normalised loss, and never beside a loss of Euclidean distances.
    """

    name: ClassVar[str] = "spherical-loss"
    title: ClassVar[str] = "Information loss (cosine)"
    better: ClassVar[Better] = "lower"

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """IL of (4.12)."""
        loss = cosine_loss(over_same_terms(space, release))
        note = "Can fall while documents move away from their rows: see the normalised loss." if loss.share is not None else SAME
        return Score(self.name, self.title, loss.share, self.better, (0, 1), note=note, details={"sse": loss.sse, "ssa": loss.ssa})


class EuclideanLoss(CollectionMeasure):
    """SSE / SST with squared Euclidean distances to the plain mean of each cluster, (2.12).

    It judges the clusters alone: the released rows are not their means. It is another measure than the cosine losses, so a difference
    between them says nothing about a method.
    """

    name: ClassVar[str] = "euclidean-loss"
    title: ClassVar[str] = "Information loss (Euclidean)"
    better: ClassVar[Better] = "lower"

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """IL of (2.12)."""
        loss = euclidean_loss(over_same_terms(space, release))
        note = "Another measure than the cosine losses: do not compare them." if loss.sst else SAME
        return Score(self.name, self.title, loss.normalised, self.better, (0, 1), note=note, details={"sse": loss.sse, "sst": loss.sst})


class SemanticLoss(CollectionMeasure):
    """SSE / (SSE + SSA) with squared semantic distances, (4.20) to (4.22); of releases made by `semantic`, with their own parameters."""

    name: ClassVar[str] = "semantic-loss"
    title: ClassVar[str] = "Information loss (semantic)"
    better: ClassVar[Better] = "lower"

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """The release must hold meanings."""
        return no_meanings(release)

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """IL of (4.22), and SSE as a share of what a single cluster would lose."""
        from shoal.collections.semantic import semantic_sums  # which reads WordNet

        loss = Loss(*semantic_sums(space, release))
        details = {"sse": loss.sse, "ssa": loss.ssa, "normalised": loss.normalised}
        return Score(self.name, self.title, loss.share, self.better, (0, 1), note=SAME if loss.share is None else "", details=details)


# --- how the vectors changed

ONE_DOCUMENT = "There is one document only, so there are no distances."


class Words(CollectionMeasure):
    """Words with a weight in each row, before and after, and how heavy they are (Figures 4.2 and 4.3)."""

    name: ClassVar[str] = "words-per-row"
    title: ClassVar[str] = "Words per row"
    better: ClassVar[Better] = "neither"

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """Words and meanings can be counted alike."""
        return ""

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Means over rows; density is words per row over all terms of the space. A row's weight is the mean of its weights that are not 0."""
        pair = side_by_side(space, release)
        words, before = np.diff(pair.centroids.indptr), np.diff(space.matrix.indptr)
        rows = int(pair.sizes.sum())
        weight = np.asarray(pair.centroids.sum(axis=1)).ravel() / np.maximum(words, 1)
        per_row = float(pair.sizes @ words) / rows
        details = {
            "before": float(before.mean()),
            "density": per_row / len(space.terms),
            "density_before": float(before.mean()) / len(space.terms),
            "mean_weight": float(pair.sizes @ weight) / rows,
            "mean_weight_before": float((np.asarray(space.matrix.sum(axis=1)).ravel() / before).mean()),
        }
        return Score(self.name, self.title, per_row, self.better, (0, None), details=details)


class Distances(CollectionMeasure):
    """How far rows are from one another, by tenths of the cosine distance, before and after (Figures 4.1 and 4.4)."""

    name: ClassVar[str] = "distances"
    title: ClassVar[str] = "Pairs of rows without a term in common"
    better: ClassVar[Better] = "neither"
    documents: int = Field(2000, ge=2, description="Rows drawn, each compared with all others")

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """Pairs are needed, of the same terms before and after."""
        return ONE_DOCUMENT if min(len(space), len(release)) < 2 else no_common_terms(space, release)

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Eleven shares: [0, .1), ..., [.9, 1), and exactly 1."""
        if min(len(space), len(release)) < 2:
            raise DataError(ONE_DOCUMENT)
        pair = over_same_terms(space, release)
        before = distance_shares(pair.rows, np.ones(len(space), np.int64), self.documents, rng)
        after = distance_shares(pair.centroids, pair.sizes, self.documents, rng)
        details = {"shares": after.tolist(), "shares_before": before.tolist()}
        return Score(self.name, self.title, float(after[-1]), self.better, (0, 1), details=details)


def distance_shares(rows: Any, sizes: IntArray, documents: int, rng: Generator) -> FloatArray:
    """Of pairs in which one of the drawn rows stands, `sizes` telling how often each row occurs: shares by tenths, and at 1."""
    n = int(sizes.sum())
    drawn = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[rng.choice(n, min(documents, n), replace=False)], minlength=len(sizes))
    asked = np.flatnonzero(drawn)
    counts = np.zeros(11)
    for part in blocks(len(asked), len(sizes)):
        similar = (rows[asked[part]] @ rows.T).toarray()
        tenth = np.clip(np.floor((1 - similar) * 10 + 1e-9), 0, 9).astype(np.int64)
        tenth[similar == 0] = 10
        counts += np.bincount(tenth.ravel(), np.outer(drawn[asked[part]], sizes).ravel(), 11)
    counts[0] -= drawn.sum()  # a row and itself
    return np.asarray(np.maximum(counts, 0) / counts.sum())


# --- what clusters give away


def label_counts(space: Space, pair: SideBySide) -> IntArray:
    """Originals by cluster and label."""
    labels, codes = coded_labels(space)
    there = pair.cluster >= 0
    return np.bincount(pair.cluster[there] * len(labels) + codes[there], minlength=len(pair.sizes) * len(labels)).reshape(-1, len(labels))


NO_LABELS = "The documents have no labels. Give each document its class, or leave this measure out."


def coded_labels(space: Space) -> tuple[NDArray[Any], IntArray]:
    """The different labels, in alphabetical order, and the number of each document's."""
    if space.labels is None:
        raise DataError(NO_LABELS)
    labels, codes = np.unique(np.array(space.labels), return_inverse=True)
    return labels, codes.astype(np.int64)


class OneClass(CollectionMeasure):
    """Clusters all of whose documents have one label: whoever finds the cluster learns the label, though not the row.

    Beside it the share that clusters of the same sizes would have if documents were put into them blindly.
    """

    name: ClassVar[str] = "one-class-clusters"
    title: ClassVar[str] = "Clusters with one label only"
    better: ClassVar[Better] = "lower"

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """There must be labels; released or not, their owner knows them."""
        return NO_LABELS if space.labels is None else ""

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Share of clusters."""
        counts = label_counts(space, side_by_side(space, release))
        sizes, totals = counts.sum(axis=1), counts.sum(axis=0)
        sizes, times = np.unique(sizes[sizes > 0], return_counts=True)
        pure = ((counts > 0).sum(axis=1) == 1).sum() / times.sum()
        chance = float(times @ _all_of_one(totals, sizes) / times.sum())
        note = "There is one label only." if len(totals) == 1 else ""
        return Score(self.name, self.title, float(pure), self.better, (0, 1), note=note, details={"chance": chance, "labels": len(totals)})

    def warning(self, score: Score, release: CollectionRelease) -> str:
        """Most clusters tell a label."""
        return f"{score.value:.0%} of the clusters hold one class only. -p l=2 asks for more." if (score.value or 0) > 0.5 else ""


def _all_of_one(totals: IntArray, sizes: IntArray) -> FloatArray:
    """How likely so many documents drawn blindly have one label: the sum over labels of C(its documents, size) / C(all, size)."""
    most, of = totals[None, :], sizes[:, None]
    enough = most >= of
    left = np.where(enough, most - of, 0)
    ways = gammaln(most + 1) - gammaln(left + 1)
    every = gammaln(totals.sum() + 1) - gammaln(totals.sum() - of + 1)
    return np.asarray(np.where(enough, np.exp(ways - every), 0.0).sum(axis=1))


class UniqueLabels(CollectionMeasure):
    """Documents whose label nobody else in their cluster has: if labels are released, such a row is told from the others by it."""

    name: ClassVar[str] = "unique-labels"
    title: ClassVar[str] = "Rows with a label of their own"
    better: ClassVar[Better] = "lower"

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """There must be labels; released or not, their owner knows them."""
        return NO_LABELS if space.labels is None else ""

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Share of rows."""
        counts = label_counts(space, side_by_side(space, release))
        return Score(self.name, self.title, float((counts == 1).sum() / counts.sum()), self.better, (0, 1))

    def warning(self, score: Score, release: CollectionRelease) -> str:
        """It matters where labels are released."""
        if release.labels is None or not score.value:
            return ""
        return f"With its label, {score.value:.0%} of the rows can be told from all others: k counts vectors, not vectors with labels."


class SoleTerms(CollectionMeasure):
    """Terms of the released centroids that one document alone brought in. k-anonymity of rows does not hide them."""

    name: ClassVar[str] = "sole-terms"
    title: ClassVar[str] = "Centroid terms from one document"
    better: ClassVar[Better] = "lower"

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Share of the weights of the release that are not 0."""
        pair = over_same_terms(space, release)
        have = pair._replace(rows=(pair.rows > 0).astype(np.int64))
        shown = (pair.centroids > 0).astype(np.int64)
        owners = sums(have).multiply(shown).tocsr()
        entries = shown.nnz
        if not entries:
            return Score(self.name, self.title, None, self.better, (0, 1), note="The release has no weights at all.")
        return Score(
            self.name, self.title, float((owners.data == 1).sum() / entries), self.better, (0, 1), details={"entries": int(entries)}
        )

    def warning(self, score: Score, release: CollectionRelease) -> str:
        """Any is too many."""
        if not score.value:
            return ""
        return f"{score.value:.0%} of a centroid's terms come from one document alone. -p term_documents=2 leaves them out."
