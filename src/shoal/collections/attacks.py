"""What an intruder finds in an anonymous collection: the cluster, the row, who is in it, and the last member.

A release promises that a row cannot be told from k - 1 others. It does not promise that nobody finds the cluster of a document, nor that
nobody learns whether a document is in the collection, nor what is in it. These attacks measure that, each beside blind guessing.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.contracts import CollectionAttack
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import SideBySide, blocks, no_common_terms, no_meanings, over_same_terms, side_by_side, sums
from shoal.collections.space import Space, tidy, unit_rows
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, counted
from shoal.score import AttackResult, Risk, wilson

TIE = 1e-9  # similarities this near are the same
Wanted = Literal["cluster", "row"]
By = Literal["terms", "cosine"]
Ways = Literal["strongest", "terms", "cosine"]
WAYS = "terms: terms in common, then the cosine; cosine: the cosine alone; strongest: both, of which the better one counts"


class DocumentLinkage(CollectionAttack):
    """The intruder holds whole documents, as vectors of the owner's terms and weights, and looks for their rows.

    By terms, the row that has most of the document's terms comes first, and the cosine decides between equals: a sum of documents has
    all terms of each. By the cosine alone, more is found where terms were taken out. A cluster is right when the document is in it; tied clusters share.
    The row is then guessed among all that tie, so that with clusters of k no more than 1 in k is hit. Blind guessing takes any row.
    """

    name: ClassVar[str] = "document-linkage"
    title: ClassVar[str] = "Linking whole documents"
    risk: ClassVar[Risk] = "linkage"
    by: Ways = Field("strongest", description=WAYS)
    wanted: Wanted = Field("cluster", description="What counts as a hit: the cluster of the document, or its row")
    documents: int | None = Field(None, ge=1, description="Documents tried, drawn at random; absent: all")

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """Is another cluster more similar than the right one, and how many tie with it?"""
        pair = over_same_terms(space, release)
        tried = _drawn(len(space), self.documents, rng)
        results = []
        for by in _ways(self.by):
            found = _linked(*_compared(pair.rows[tried], pair.centroids, by), pair.cluster[tried], pair.sizes, progress)
            results.append(_result(self.model_copy(update={"by": by}), pair, tried, found, self.wanted))
        return max(results, key=lambda result: result.hit)

    def warning(self, result: AttackResult, release: CollectionRelease) -> str:
        """Most clusters are found."""
        return _found_cluster(result)


def _found_cluster(result: AttackResult) -> str:
    rate = float(result.details["cluster_rate"])
    return f"Whoever holds a document finds its cluster in {rate:.0%} of cases; its row is then one in k." if rate > 0.5 else ""


class TermLinkage(CollectionAttack):
    """The intruder knows a few terms of a document, not their weights, and looks for the rows that have most of them.

    Of rows with equally many, those where they weigh more come first. Terms are drawn at random from those of the document; one with
    fewer gives all. Blind guessing takes any row.
    """

    name: ClassVar[str] = "term-linkage"
    title: ClassVar[str] = "Linking a few known terms"
    risk: ClassVar[Risk] = "linkage"
    terms: int = Field(5, ge=1, description="Terms known of each document")
    wanted: Wanted = Field("cluster", description="What counts as a hit: the cluster of the document, or its row")
    documents: int | None = Field(None, ge=1, description="Documents tried, drawn at random; absent: all")

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """Is another cluster a better answer than the right one, and how many tie with it?"""
        pair = over_same_terms(space, release)
        tried = _drawn(len(space), self.documents, rng)
        known = _some_terms(pair.rows[tried], self.terms, rng)
        found = _linked(*_compared(known, pair.centroids, "terms"), pair.cluster[tried], pair.sizes, progress)
        return _result(self, pair, tried, found, self.wanted)


def _ways(by: Ways) -> tuple[By, ...]:
    return ("terms", "cosine") if by == "strongest" else (by,)


def _compared(rows: Any, centroids: Any, by: By) -> tuple[Any, Any]:
    """Two matrices whose products are what is compared: terms in common plus a cosine that is worth less than one term, or the cosine."""
    if by == "cosine":
        return rows, centroids
    known = sparse.hstack(((rows > 0).astype(np.float64), unit_rows(rows)), format="csr")
    return known, sparse.hstack(((centroids > 0).astype(np.float64), 0.5 * centroids), format="csr")


class ConceptLinkage(CollectionAttack):
    """Against a release of meanings, as `semantic` makes it: the intruder holds whole documents and knows WordNet.

    The row of a document's cluster holds only hypernyms of its nouns. Rows with the fewest meanings that are not come first; of equal
    ones, those whose meanings stand above the nouns of fewest documents. Blind guessing takes any row.
    """

    name: ClassVar[str] = "concept-linkage"
    title: ClassVar[str] = "Linking whole documents to meanings"
    risk: ClassVar[Risk] = "linkage"
    wanted: Wanted = Field("cluster", description="What counts as a hit: the cluster of the document, or its row")

    def applies(self, space: Space, release: CollectionRelease, outsiders: Space | None = None) -> str:
        """The release must hold meanings."""
        return no_meanings(release)

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """Is another cluster a better answer than the right one, and how many tie with it?"""
        pair = side_by_side(space, release)
        above = _hypernyms(space, release)
        shown = (tidy(release.centroids) > 0).astype(np.float64)
        documents = np.asarray(above.sum(axis=0)).ravel()
        rarity = shown.copy()
        rarity.data = np.log(len(space) / np.maximum(documents[shown.indices], 1))
        rarity /= 1 + rarity.sum(axis=1).max(initial=0.0)  # all of a row together weigh less than one meaning too many
        found = _linked(above, (shown + rarity).tocsr(), pair.cluster, pair.sizes, progress, np.diff(shown.indptr))
        return _result(self, pair, np.arange(len(space)), found, self.wanted)

    def warning(self, result: AttackResult, release: CollectionRelease) -> str:
        """Most clusters are found."""
        return _found_cluster(result)


def _hypernyms(space: Space, release: CollectionRelease) -> Any:
    """Documents by terms of the release: 1 where a noun of the document that the method looked at has that meaning above it."""
    from shoal.collections.semantic import concepts_of  # which reads WordNet

    concepts = concepts_of(space, release)
    meanings, documents = concepts.meanings, concepts.documents
    shape = (len(meanings.starts) - 1, meanings.synsets)
    lines = sparse.csr_array((np.ones(len(meanings.above)), meanings.above, meanings.starts), shape=shape)
    lines = lines[:, [concepts.wordnet.named(term) for term in release.terms]]
    row = np.repeat(concepts.row, np.diff(documents.starts))
    nouns = sparse.csr_array((np.ones(len(row)), (row, documents.meanings)), shape=(len(space), shape[0]))
    return ((nouns @ lines) > 0).astype(np.float64)


class Linked(NamedTuple):
    """How the right cluster of each document compares with the others."""

    beaten: Any  # bool: another is strictly better
    tied: IntArray  # clusters as good as the right one, itself among them
    tied_rows: IntArray  # and their rows


def _linked(known: Any, centroids: Any, right: IntArray, sizes: IntArray, progress: Progress, less: Any = 0) -> Linked:
    """Documents against all clusters, a block of documents at a time; `less` is taken off each cluster. One not released is beaten."""
    n = known.shape[0]
    beaten, tied, rows = np.ones(n, np.bool_), np.ones(n, np.int64), np.ones(n, np.int64)
    across = centroids.T.tocsr()
    for part in blocks(n, centroids.shape[0]):
        similar = (known[part] @ across).toarray() - less
        mine = similar[np.arange(len(similar)), right[part]][:, None]
        equal = np.abs(similar - mine) <= TIE
        tied[part], rows[part] = equal.sum(axis=1), equal @ sizes
        beaten[part] = (similar > mine + TIE).any(axis=1) | (right[part] < 0)
        progress("linking", part.stop, n)
    return Linked(beaten, tied, rows)


def _some_terms(rows: Any, terms: int, rng: Generator) -> Any:
    """As many terms of each row, drawn at random, each as a 1."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rng.random(len(row)), row))
    kept = order[np.arange(len(order)) - rows.indptr[row] < terms]
    return sparse.csr_array((np.ones(len(kept)), (row[kept], rows.indices[kept])), shape=rows.shape)


def _drawn(n: int, documents: int | None, rng: Generator) -> IntArray:
    return np.arange(n) if documents is None or documents >= n else np.sort(rng.choice(n, documents, replace=False))


def _result(attack: CollectionAttack, pair: SideBySide, tried: IntArray, found: Linked, wanted: Wanted) -> AttackResult:
    cluster = np.where(found.beaten, 0.0, 1 / np.maximum(found.tied, 1))
    row = np.where(found.beaten, 0.0, 1 / np.maximum(found.tied_rows, 1))
    released = int(pair.sizes.sum())
    chances = {"cluster": float(((pair.sizes / released) ** 2).sum()), "row": 1 / released}
    share = cluster if wanted == "cluster" else row
    hit, shared = float(share.sum()), int(((cluster > 0) & (cluster < 1)).sum())
    per_record = np.full(len(pair.cluster), np.nan)
    per_record[tried] = share
    return AttackResult(
        attack.name,
        attack.title,
        tried=len(tried),
        hit=hit,
        strict_hit=float((share == 1).sum()),
        chance=chances[wanted],
        interval=wilson(min(hit, len(tried)), len(tried)),
        risk=attack.risk,
        note=f"{counted(shared, 'document ties', 'documents tie')} between clusters; each counts as its share." if shared else "",
        details={
            **attack.given(),
            "cluster_rate": float(cluster.mean()),
            "cluster_chance": chances["cluster"],
            "row_rate": float(row.mean()),
            "row_chance": chances["row"],
            "tied": shared,
        },
        per_record=per_record,
    )


class Membership(CollectionAttack):
    """The intruder holds a document and asks whether it is in the collection: its nearest released row is nearer if it is.

    By terms, near is the row that lacks the fewest of its terms; a member's row has all. As many members as outsiders are tried. What
    parts them is learned on one half and judged on the other, and the other way round. Blind guessing is right half of the time. AUC,
    over all documents, is the chance that a member is nearer than an outsider. Outsiders are documents like those of the collection,
    as a space over the same terms.
    """

    name: ClassVar[str] = "membership"
    title: ClassVar[str] = "Is the document in the collection?"
    risk: ClassVar[Risk] = "membership"
    by: Ways = Field("strongest", description=WAYS)

    def applies(self, space: Space, release: CollectionRelease, outsiders: Space | None = None) -> str:
        """There must be outsiders, over the terms of the space, and two of each side at least."""
        if why := no_common_terms(space, release):
            return why
        if outsiders is None:
            return "Membership needs outsiders: documents like these that are not in the release. Give a space of them."
        if outsiders.terms != space.terms:
            return (
                "The outsiders have other terms than the space. Make both with the same term weights: Builder.transform, or build --like."
            )
        if min(len(release), len(outsiders)) < 2:
            return "Two members and two outsiders are needed at least. Give more documents that are not in the release."
        return ""

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """How well the similarity to the nearest row tells members from outsiders."""
        if why := self.applies(space, release, outsiders):
            raise DataError(why)
        assert outsiders is not None
        pair = over_same_terms(space, release)
        other = outsiders.matrix.copy()
        other.resize((len(outsiders), pair.rows.shape[1]))
        inside = pair.rows[pair.cluster >= 0]
        count = min(inside.shape[0], len(outsiders))
        drawn = [rng.permutation(n)[:count] for n in (inside.shape[0], len(outsiders))]
        results = []
        for by in _ways(self.by):
            members = _nearest(inside, pair.centroids, by, progress)
            strangers = _nearest(other, pair.centroids, by, progress)
            hit = _told_apart(members[drawn[0]], strangers[drawn[1]])
            results.append(
                AttackResult(
                    self.name,
                    self.title,
                    tried=2 * count,
                    hit=float(hit),
                    strict_hit=float(hit),
                    chance=0.5,
                    interval=wilson(hit, 2 * count),
                    risk=self.risk,
                    note="k-anonymity does not hide who is in a collection.",
                    details={"by": by, "auc": _auc(members, strangers), "members": len(members), "outsiders": len(strangers)},
                )
            )
        return max(results, key=lambda result: float(result.details["auc"]))


def _told_apart(inside: FloatArray, outside: FloatArray) -> int:
    """Right answers about both, by a limit that was learned on the other half."""
    half, hit = len(inside) // 2, 0
    for learn, judge in ((slice(None, half), slice(half, None)), (slice(half, None), slice(None, half))):
        limit = _limit(inside[learn], outside[learn])
        hit += int((inside[judge] > limit).sum() + (outside[judge] <= limit).sum())
    return hit


def _nearest(rows: Any, centroids: Any, by: By, progress: Progress) -> FloatArray:
    """How much speaks for each row being in a cluster, rounded so that equal ones tie.

    By terms: each term of the document that the row has not speaks against it, a large cosine and a long document, of which less is
    there by accident, for it. The weight of length is set by hand.
    """
    best = np.zeros(rows.shape[0])
    known, clusters = _compared(rows, centroids, by)
    across = clusters.T.tocsr()
    for part in blocks(rows.shape[0], centroids.shape[0]):
        best[part] = (known[part] @ across).max(axis=1).toarray().ravel()
        progress("looking for the nearest", part.stop, rows.shape[0])
    if by == "terms":
        terms, common = np.diff(rows.indptr), np.floor(best)
        best = common - terms + 2 * (best - common) + np.log(terms) / 3
    return np.asarray(np.round(best, 9), np.float64)


def _limit(inside: FloatArray, outside: FloatArray) -> float:
    """Where members lie above and outsiders not, as often as can be; between two values, the lowest of equally good ones."""
    values = np.unique(np.concatenate((inside, outside)))
    above = len(inside) - np.searchsorted(np.sort(inside), values, "right")
    below = np.searchsorted(np.sort(outside), values, "right")
    right = np.concatenate(([len(inside)], above + below))  # first: below all of them
    ends = np.concatenate(([values[0] - 1], (values[:-1] + values[1:]) / 2, [values[-1]]))
    return float(ends[int(np.argmax(right))])


def _auc(inside: FloatArray, outside: FloatArray) -> float:
    """How often one of the first lies above one of the second; ties count a half."""
    ordered = np.sort(outside)
    less, at_most = np.searchsorted(ordered, inside, "left"), np.searchsorted(ordered, inside, "right")
    return float((less + at_most).mean() / (2 * len(outside)))


EXACT = 1e-6  # largest difference of a weight


class LastMember(CollectionAttack):
    """Whoever knows all members of a cluster but one computes the last.

    The row is the sum of its members brought to length 1. With K the sum of the known ones and c the row, the sum is s c with
    s = c.K + sqrt((c.K)^2 - K.K + 1), because the last one has length 1; it is s c - K. Every document is tried as the last one.
    Blind guessing does not hit a document. Rounded weights make the answer inexact and hardly less telling, so an answer with a cosine of
    `near` to the document is a hit; `exact` says how many are right to the last digit.
    """

    name: ClassVar[str] = "last-member"
    title: ClassVar[str] = "The last member from the others"
    risk: ClassVar[Risk] = "reconstruction"
    near: float = Field(0.99, gt=0, le=1, description="Smallest cosine with the document for it to count as recovered")

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """Compute every document from the others of its cluster."""
        pair = over_same_terms(space, release)
        tried = np.flatnonzero(pair.cluster >= 0)
        total = sums(pair)
        exact, similarity = np.zeros(len(tried), np.bool_), np.zeros(len(tried))
        widest = int(max(np.diff(total.indptr).max(), np.diff(pair.centroids.indptr).max()))
        for part in blocks(len(tried), widest):
            rows, cluster = pair.rows[tried[part]], pair.cluster[tried[part]]
            known_sum, c = total[cluster] - rows, pair.centroids[cluster]
            along = _dots(c, known_sum)
            s = along + np.sqrt(np.maximum(along**2 - _dots(known_sum, known_sum) + 1, 0))
            answer = sparse.diags_array(s) @ c - known_sum
            exact[part] = abs(answer - rows).max(axis=1).toarray().ravel() <= EXACT
            answer.data = np.maximum(answer.data, 0)  # no term weighs less than nothing
            similarity[part] = _dots(answer, rows) / np.maximum(np.sqrt(_dots(answer, answer)), 1e-300)
            progress("recovering", part.stop, len(tried))
        per_record = np.full(len(space), np.nan)
        hit = similarity >= self.near - 1e-9
        per_record[tried] = hit
        count = float(hit.sum())
        return AttackResult(
            self.name,
            self.title,
            tried=len(tried),
            hit=count,
            strict_hit=count,
            chance=0.0,
            interval=wilson(count, len(tried)),
            risk=self.risk,
            note="" if count else "Rows are taken to be sums of members. This says nothing about rows made in another way.",
            details={"similarity": float(similarity.mean()), "exact": float(exact.mean()), "near": self.near},
            per_record=per_record,
        )

    def warning(self, result: AttackResult, release: CollectionRelease) -> str:
        """One is too many."""
        if not result.hit:
            return ""
        return f"Whoever knows all documents of a cluster but one can compute the last, in {result.rate:.0%} of cases."


def _dots(a: Any, b: Any) -> FloatArray:
    return np.asarray(a.multiply(b).sum(axis=1)).ravel()
