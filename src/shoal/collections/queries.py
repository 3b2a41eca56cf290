"""Asking an anonymous collection: what it answers, and how much of what the original would have answered (Abril 2014, 4.4.3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field
from scipy import sparse

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.collections.build import Builder
from shoal.collections.contracts import CollectionMeasure
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import BLOCK, SideBySide, over_same_terms
from shoal.collections.space import Space, unit_rows
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError
from shoal.score import Better, Score

Drawn = Literal["random", "top"]
HEAVY = 8  # terms shown of a cluster
MEAN_OF = 1.959963984540054  # a 95 % interval is so many standard errors to each side


def ask(release: CollectionRelease, words: Collection[str]) -> list[tuple[int, float]]:
    """Clusters that have any of the words, with the cosine to the query, the most similar first; equal ones by number.

    All words weigh the same, and those the release does not know count too: an answer must not look better because of them.
    """
    different = sorted(set(words))
    if not different:
        raise ParameterError("The query has no words that can be terms. Ask for others.")
    place = {term: column for column, term in enumerate(release.terms)}
    columns = [place[word] for word in different if word in place]
    relevance = np.asarray(unit_rows(release.centroids)[:, columns].sum(axis=1)).ravel() / np.sqrt(len(different))
    found = np.flatnonzero(relevance > 0)
    ranked = found[np.lexsort((found, -_whole(relevance[found])))]
    return [(int(cluster), float(relevance[cluster])) for cluster in ranked]


class Answer(NamedTuple):
    """A cluster that a query finds."""

    cluster: int
    rows: int  # documents it stands for
    relevance: float  # cosine to the query
    terms: tuple[str, ...]  # its heaviest


def answers(release: CollectionRelease, words: Sequence[str], results: int = 20) -> list[Answer]:
    """The clusters most like a query. Where meanings were released, a word means those of its own, or the nearest above them."""
    asked = _meant(release, words) if release.terms_are == "meanings" else words
    sizes = np.bincount(release.assignment, minlength=release.centroids.shape[0])
    found = []
    for cluster, relevance in ask(release, asked)[:results]:
        row = release.centroids[[cluster]]
        heavy = tuple(release.terms[row.indices[place]] for place in np.argsort(-row.data, kind="stable")[:HEAVY])
        found.append(Answer(cluster, int(sizes[cluster]), relevance, heavy))
    return found


def query_words(words: str, built: Mapping[str, Any] | None) -> list[str]:
    """A query cut the way the documents were, as far as that is known. No word is filtered out: one that nobody has counts, too."""
    return Builder(**{**(built or {}), "keep": "all"}).words(words)


def _meant(release: CollectionRelease, words: Sequence[str]) -> list[str]:
    from shoal.text.wordnet import read_wordnet

    wordnet, there = read_wordnet(), set(release.terms)
    found: list[str] = []
    for word in words:
        level = wordnet.senses(word, "n")
        while level:
            named = [name for name in map(wordnet.name, level) if name in there]
            if named:
                found += named
                break
            level = sorted({above for synset in level for above in wordnet.hypernyms(synset)})
        else:
            found.append(word)  # no meaning of it was released: it counts against every answer
    return found


class QueryAgreement(CollectionMeasure):
    """F1 between what a query finds in the original and in the release, as a mean over many queries.

    Half of the queries are terms drawn at random, half the heaviest terms of a document drawn at random. Each finds the rows most
    similar to it, of those that have any of its terms; rows equally similar are taken by the name of their document, in both. Every
    document counts, though rows of one cluster are the same. A few queries say little: published figures rest on six.
    """

    name: ClassVar[str] = "query-agreement"
    title: ClassVar[str] = "Queries answered as before (F1)"
    better: ClassVar[Better] = "higher"
    queries: int = Field(200, ge=1, description="Queries of each kind and length")
    results: int = Field(20, ge=1, description="Rows a query finds at most")
    lengths: tuple[int, ...] = Field((1, 3, 5), min_length=1, description="Terms of a query")

    def measure(self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet) -> Score:
        """The mean over all kinds and lengths, and each of them."""
        if min(self.lengths) < 1:
            raise ParameterError(f"{self.name}: a query needs at least one term. Give lengths of 1 or more.")
        pair = over_same_terms(space, release)
        kinds: tuple[Drawn, ...] = ("random", "top")
        asked = [(kind, length) for kind in kinds for length in self.lengths]
        means, every = {}, []
        for done, (kind, length) in enumerate(asked):
            one = agreement(pair, drawn_queries(space, kind, length, self.queries, rng), space.names, self.results)
            means[f"{kind} {length}"] = float(one.mean())
            every.append(one)
            progress("asking", done + 1, len(asked))
        f = np.concatenate(every)
        half = MEAN_OF * float(f.std(ddof=1) / np.sqrt(len(f))) if len(f) > 1 else 0.0
        value = float(f.mean())
        details = {"f1": means, "queries": self.queries, "results": self.results}
        return Score(self.name, self.title, value, self.better, (0, 1), (max(0.0, value - half), min(1.0, value + half)), details=details)


def drawn_queries(space: Space, kind: Drawn, length: int, queries: int, rng: Generator) -> Any:
    """Queries by terms, 1 where a term is asked for. A document or a vocabulary of fewer terms gives all it has."""
    if kind == "top":
        return _heaviest(space.matrix[rng.integers(0, len(space), queries)], length)
    used = np.unique(space.matrix.indices)
    count = min(length, len(used))
    terms = np.concatenate([rng.choice(used, count, replace=False) for _ in range(queries)])
    return sparse.csr_array((np.ones(len(terms)), terms, np.arange(0, len(terms) + 1, count)), shape=(queries, space.matrix.shape[1]))


def _heaviest(rows: Any, length: int) -> Any:
    """The heaviest terms of each row, those of equal weight in the order of the columns."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -_whole(rows.data), row))
    first = np.arange(len(order)) - rows.indptr[row] < length  # lexsort keeps rows together, so places are those of the row
    kept = order[first]
    return sparse.csr_array((np.ones(len(kept)), (row[kept], rows.indices[kept])), shape=rows.shape)


def agreement(pair: SideBySide, queries: Any, names: Sequence[str], results: int) -> FloatArray:
    """F1 of each query; 1 where it finds nothing in either."""
    if queries.shape[1] > pair.rows.shape[1]:
        raise DataError("The queries have more terms than the space. Draw them from the same space.")
    asked = queries.copy()
    asked.resize((queries.shape[0], pair.rows.shape[1]))
    by_name = np.argsort(np.argsort(np.array(names), kind="stable"), kind="stable")
    step = max(1, BLOCK // (4 * len(names)))
    found = [_f1(pair, asked[begin : begin + step], by_name, results) for begin in range(0, asked.shape[0], step)]
    return np.concatenate(found)


def _f1(pair: SideBySide, queries: Any, by_name: IntArray, results: int) -> FloatArray:
    before = _top((pair.rows @ queries.T).toarray(), by_name, results)
    clusters = (pair.centroids @ queries.T).toarray()
    after = _top(np.where(pair.cluster[:, None] >= 0, clusters[pair.cluster], 0.0), by_name, results)
    both, found = (before & after).sum(axis=0), before.sum(axis=0) + after.sum(axis=0)
    return np.where(found > 0, 2 * both / np.maximum(found, 1), 1.0)


def _top(relevance: FloatArray, by_name: IntArray, results: int) -> BoolArray:
    """Which rows each column finds: one whole number per place holds relevance and, below it, the order of names."""
    n = len(by_name)
    keys = np.where(relevance > 0, _whole(relevance) * n + (n - 1 - by_name)[:, None], -1)
    if results >= n:
        return np.asarray(keys >= 0)
    last = np.partition(keys, n - results, axis=0)[n - results]
    return np.asarray((keys >= last) & (keys >= 0))


def _whole(relevance: FloatArray) -> IntArray:
    """In units of 2^-30, so that sums added up in another order tie."""
    return np.rint(relevance * 2.0**30).astype(np.int64)
