"""Semantic microaggregation: documents replaced by what groups of at least k have in common in WordNet (Abril 2014, 4.5 and 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field
from scipy import sparse

from shoal.arrays import Float32Array, FloatArray, IntArray
from shoal.collections.release import VECTOR, CollectionRelease, Terms
from shoal.collections.side_by_side import no_meanings
from shoal.collections.space import Space, tidy
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, counted
from shoal.kernels.distance_groups import distance_groups, swap_by_distance
from shoal.kernels.matching import Documents, Rules, aggregate, distance_matrix, distances_between, documents_of
from shoal.kernels.spherical.mdav import Rows, content_order
from shoal.kernels.wu_palmer import Meanings, Taxonomy, dissimilarity_matrix, meanings_of, taxonomy_of
from shoal.params import Params
from shoal.promises import Promise
from shoal.registry import make
from shoal.release import Step
from shoal.text.wordnet import WordNet, read_wordnet

MOST_DOCUMENTS = 5_000  # 12.5 million pairs, minutes of work
MOST_NOUNS = 20_000  # 1.6 gigabytes of dissimilarities


class Semantic(Params):
    """Replace documents by what groups of at least k have in common in WordNet: shared hypernyms, mean weights (Abril et al. 2010).

    Two documents are near where the nouns of one have near hypernyms with those of the other (Wu & Palmer 1994). A group's row holds, for
    nouns that were matched, the synset they have in common; dog and cat become carnivore, and a word that all members have stays. Nouns
    without a partner, and words that are no nouns, are not released. A row cannot be told from k - 1 others, and nothing more is promised:
    who is in the collection and its topics can still be seen, and whoever holds a whole document finds its group. Documents must not
    change between releases: two of them intersect.

    Groups are those of MDAV, except that the document farthest from the average is the one with the largest sum of distances: what very
    many documents have in common is entity, and the distance to that says little. A group's members are taken together from the one
    nearest to all others outwards.
    """

    name: ClassVar[str] = "semantic"
    title: ClassVar[str] = "Semantic microaggregation"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    terms_are: ClassVar[Terms] = "meanings"
    k: int = Field(3, ge=2, description="Smallest group size")
    terms: int = Field(50, ge=1, description="Nouns of a document that count, those of the largest weight")
    weighting: Literal["frequency", "none"] = Field(
        "frequency",
        description="frequency: pairs of heavy nouns count more, as written; none: all pairs alike, as the published table was made",
    )
    matching: Literal["greedy", "optimal"] = Field(
        "greedy", description="greedy: heavy nouns choose first, as published; optimal: the least total distance, ten times slower"
    )
    rule: Literal["best", "nltk"] = Field("best", description="best: the nearest common hypernym; nltk: the one that NLTK takes")
    swaps: int = Field(3, ge=0, description="Passes of moves and exchanges between groups, which lower the loss; 0: none, as published")

    def protect(self, space: Space, rng: Generator, progress: Progress = quiet) -> CollectionRelease:
        """Compare all pairs, group, refine, aggregate once per group, shuffle."""
        concepts = self.concepts(space)
        self._check(concepts)
        distances = concepts.distances(progress)
        groups = swap_by_distance(distances, distance_groups(distances, self.k), self.k, self.swaps)
        centroids = concepts.centroids(groups, distances)
        synsets, column = np.unique(centroids.meanings, return_inverse=True)
        entries = (centroids.weights, (np.repeat(np.arange(len(centroids.starts) - 1), np.diff(centroids.starts)), column))
        table = sparse.csr_array(entries, shape=(len(centroids.starts) - 1, len(synsets)))  # a synset that stands there twice is one term
        step = Step(self.name, self.given(), (VECTOR,), self.guarantees, self.summary(), (Promise("k-anonymity", self.k, (VECTOR,)),))
        names = [concepts.wordnet.name(synset) for synset in synsets.tolist()]
        release = CollectionRelease.of(table, groups, names, step, rng, warnings=_warnings(space, concepts), terms_are=self.terms_are)
        return replace(release, source_row=concepts.row[release.source_row])

    def concepts(self, space: Space) -> Concepts:
        """The documents as this method sees them."""
        if space.built is not None and space.built.get("reduce") == "stems":
            raise DataError("WordNet does not know stems. Build the space with whole words: reduce=none.")
        rules = Rules(self.rule == "nltk", self.weighting == "frequency", self.matching == "optimal")
        return Concepts.of(space.matrix, space.terms, self.terms, rules)

    def _check(self, concepts: Concepts) -> None:
        if len(concepts) < self.k:
            way_out = f"Use k of at most {len(concepts)}" if len(concepts) > 1 else "One document cannot be hidden among others"
            raise DataError(f"The space has {counted(len(concepts), 'document')} with nouns, fewer than k = {self.k}. {way_out}.")
        if len(concepts) > MOST_DOCUMENTS:
            raise DataError(
                f"{self.name} compares all pairs of at most {MOST_DOCUMENTS:,} documents, and the space has {len(concepts):,}. "
                "Give it parts of the space, or use spherical."
            )
        nouns = len(np.unique(concepts.documents.meanings))
        if nouns > MOST_NOUNS:
            raise DataError(
                f"{self.name} compares all pairs of at most {MOST_NOUNS:,} nouns, and the documents have {nouns:,}. Lower terms, or build "
                "the space with fewer: most_terms, or a higher least."
            )


@dataclass(frozen=True, repr=False)
class Concepts:
    """Documents as nouns of WordNet with weights, in an order that their content alone decides, and how they are compared."""

    documents: Documents
    row: IntArray  # which row of the matrix each document is; rows without nouns are not there
    meanings: Meanings
    rules: Rules
    wordnet: WordNet

    @staticmethod
    def of(matrix: Any, terms: tuple[str, ...], most: int, rules: Rules) -> Concepts:
        """From a document-term matrix of weights that are not negative: the `most` heaviest nouns of each row, equal weights by term."""
        wordnet = read_wordnet()
        senses = {term: found for term in sorted(terms) if (found := wordnet.senses(term, "n"))}
        meanings = meanings_of(_nouns(wordnet), list(senses.values()))
        place = {term: meanings.synsets + number for number, term in enumerate(senses)}
        meaning = np.array([place.get(term, -1) for term in terms], np.int64)
        rows = tidy(matrix)
        document = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        known = meaning[rows.indices] >= 0
        if not known.any():
            raise DataError(
                "No term of the documents is a noun of WordNet. Are they in another language, or stems? Build them of English words."
            )
        every = documents_of(document[known], meaning[rows.indices[known]], rows.data[known], rows.shape[0])
        lengths = np.diff(every.starts)
        heavy = np.arange(len(every.meanings)) - np.repeat(every.starts[:-1], lengths) < most
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(np.minimum(lengths, most))))
        cut = Documents(starts, every.meanings[heavy], every.weights[heavy])
        order = content_order(Rows(cut.starts, cut.meanings.astype(np.int32), cut.weights, len(meanings.starts)))
        order = order[lengths[order] > 0]
        return Concepts(cut.take(order), order, meanings, rules, wordnet)

    def __len__(self) -> int:
        return len(self.row)

    def distances(self, progress: Progress = quiet) -> Float32Array:
        """(4.18) for every pair: the dissimilarities of all nouns first, then documents."""
        used, number = np.unique(self.documents.meanings, return_inverse=True)
        matrix = dissimilarity_matrix(self.meanings, used, self.rules.nltk)
        numbered = self.documents._replace(meanings=number)
        return distance_matrix(numbered, matrix, self.rules, lambda done, of: progress("comparing", done, of))

    def centroids(self, groups: IntArray, distances: Float32Array | None = None) -> Documents:
        """(4.19) for each group, from the member nearest to all others outwards. A synset can stand there more than once.

        Distances between members are worked out where they are not given.
        """
        found = []
        for members in np.split(np.argsort(groups, kind="stable"), np.cumsum(np.bincount(groups))[:-1]):
            inside = self._inside(members) if distances is None else distances[np.ix_(members, members)]
            middle = int(np.argmin(inside.sum(axis=1, dtype=np.float64)))
            near = np.lexsort((inside[middle], np.arange(len(members)) != middle))  # it leads, whoever else lies on it
            found.append(aggregate(self.meanings, self.documents, members[near], self.rules))
        return _stacked(found)

    def _inside(self, members: IntArray) -> Float32Array:
        first, second = np.triu_indices(len(members), 1)
        inside = np.zeros((len(members), len(members)), np.float32)
        inside[first, second] = distances_between(
            self.meanings, self.documents, self.documents, (members[first], members[second]), self.rules
        )
        return inside + inside.T

    def mean(self) -> Documents:
        """What all documents have in common, taken in the order of their content."""
        return _stacked([aggregate(self.meanings, self.documents, np.arange(len(self)), self.rules)])


class SemanticSums(NamedTuple):
    """Squared distances of documents to their centroid (4.20), of centroids to the mean of all (4.21), and of documents to that mean."""

    sse: float
    ssa: float
    sst: float

    @property
    def loss(self) -> float | None:
        """(4.22). None where nothing is at any distance."""
        return self.sse / (self.sse + self.ssa) if self.sse + self.ssa > 0 else None


def sums_of(concepts: Concepts, groups: IntArray, centroids: Documents) -> SemanticSums:
    """(4.20) and (4.21) of documents, the group of each, and the centroid of each group."""
    n, made = len(concepts), len(centroids.starts) - 1
    mean = concepts.mean()

    def squared(some: Documents, others: Documents, to: IntArray) -> FloatArray:
        return distances_between(concepts.meanings, some, others, (np.arange(len(to)), to), concepts.rules) ** 2

    sse = squared(concepts.documents, centroids, groups).sum()
    ssa = np.bincount(groups, minlength=made) @ squared(centroids, mean, np.zeros(made, np.int64))
    sst = squared(concepts.documents, mean, np.zeros(n, np.int64)).sum()
    return SemanticSums(float(sse), float(ssa), float(sst))


def concepts_of(space: Space, release: CollectionRelease) -> Concepts:
    """The documents as the method saw them that made a release of meanings."""
    if why := no_meanings(release):
        raise DataError(why)
    step = release.made_by[-1]
    concepts: Concepts = make("collection-method", step.method, step.parameters).concepts(space)
    return concepts


def semantic_sums(space: Space, release: CollectionRelease) -> SemanticSums:
    """The same of a release of meanings and the space it was made from, by the release's own parameters.

    Centroids are those before equal synsets become one term: (4.17) divides by lengths, so that shorter centroids would seem nearer.
    Documents without nouns are not in the release, and count for nothing.
    """
    concepts = concepts_of(space, release)
    if not np.array_equal(np.sort(release.source_row), np.sort(concepts.row)):
        raise DataError("The release does not belong to this space: they hold other documents. Name the space it was made from.")
    cluster = np.empty(len(space), np.int64)
    cluster[release.source_row] = release.assignment
    groups = np.unique(cluster[concepts.row], return_inverse=True)[1]
    return sums_of(concepts, groups, concepts.centroids(groups))


@lru_cache(maxsize=2)
def _nouns(wordnet: WordNet) -> Taxonomy:
    count = len(wordnet.first["n"])  # nouns come first, and their hypernyms are nouns
    starts, hypernyms = wordnet.up
    starts = starts[: count + 1]
    if np.count_nonzero(np.diff(starts) == 0) != 1:
        raise DataError("This edition of WordNet has no one noun above all others, as entity is. Use WordNet 3.0.")
    least, most = wordnet.depths
    return taxonomy_of(starts, hypernyms[: starts[-1]], least[:count], most[:count], [wordnet.name(synset) for synset in range(count)])


def _stacked(found: list[tuple[IntArray, FloatArray]]) -> Documents:
    lengths = [len(weights) for _, weights in found]
    document = np.repeat(np.arange(len(found)), lengths)
    return documents_of(document, np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found]), len(found))


def _warnings(space: Space, concepts: Concepts) -> tuple[str, ...]:
    warnings = []
    if space.dropped:
        warnings.append(_not_released(len(space.dropped), "known word"))
    if len(concepts) < len(space):
        warnings.append(_not_released(len(space) - len(concepts), "noun"))
    return tuple(warnings)


def _not_released(count: int, what: str) -> str:
    return f"{counted(count, 'document has', 'documents have')} no {what} and {'is' if count == 1 else 'are'} not in the release."
