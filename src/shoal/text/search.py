"""A search engine of the vector model: stop words, Porter stems, tf-idf, cosine, an inverted index, OR queries (Abril 2014, 3.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.errors import DataError
from shoal.text.words import STOP_WORDS, WordNumbers, folded, stems


class WordCounts:
    """How often each word, as a stem, stands in each text: `terms` in alphabetical order, `counts` texts by terms."""

    def __init__(self, texts: Iterable[str]) -> None:
        word_numbers = WordNumbers(joins="_")
        rows = [word_numbers.cut(text).numbers for text in texts]
        words = [folded(word).strip("_") for word in word_numbers.words]
        reduced = [stem if word not in STOP_WORDS else "" for word, stem in zip(words, stems(words))]
        self.terms = sorted({stem for stem in reduced if stem})
        places = {stem: place for place, stem in enumerate(self.terms)}
        column = np.array([places.get(stem, -1) for stem in reduced], np.int64)
        self.counts = _counted([column[row] for row in rows], len(self.terms))


def _counted(rows: list[IntArray], width: int) -> Any:
    starts, terms, counts = [0], [], []
    for row in rows:
        found, times = np.unique(row[row >= 0], return_counts=True)
        terms.append(found)
        counts.append(times)
        starts.append(starts[-1] + len(found))
    empty = [np.zeros(0, np.int64)]
    return sparse.csr_array(
        (np.concatenate(counts or empty).astype(np.float64), np.concatenate(terms or empty), np.array(starts)), shape=(len(rows), width)
    )


def tf_idf(counts: Any) -> Any:
    """(2.18) and (2.19): frequency times log(texts / texts with the word), each text divided by the root of its sum of squares.

    A word that stands in every text weighs nothing; a text with no other words stays all zeros.
    """
    texts, width = counts.shape
    weights = counts.astype(np.float64).tocsr()
    frequency = np.bincount(weights.indices, minlength=width)
    weights.data *= np.log(texts / np.maximum(frequency, 1))[weights.indices]
    norms = np.sqrt(weights.multiply(weights).sum(axis=1))
    weights.data /= np.repeat(np.where(norms > 0, norms, 1.0), np.diff(weights.indptr))
    return weights


class SearchEngine:
    """Ranks texts by relevance to a query, 0 to 1: the cosine between the text's tf-idf weights and the query's words.

    The words of a query weigh the same, and those that no text has count too: a text must not look more relevant because the rest
    of the query was redacted everywhere. A text is returned if it has at least one of the words (OR) and the word is not in all texts.
    """

    def __init__(self, names: Sequence[str], texts: Iterable[str]) -> None:
        counted = WordCounts(texts)
        if len(names) != counted.counts.shape[0]:
            raise DataError(f"There are {len(names)} names for {counted.counts.shape[0]} texts. Give each text one name.")
        if len(set(names)) < len(names):
            raise DataError("Two texts have the same name. Give each text a name of its own.")
        self.names = tuple(names)
        self.terms = counted.terms
        self.weights = tf_idf(counted.counts)
        self._columns = {term: column for column, term in enumerate(self.terms)}
        self._index = self.weights.tocsc()  # inverted: from a word to the texts that have it
        self._order = np.argsort(np.argsort(np.array(self.names))) if names else np.zeros(0, np.int64)

    def relevance(self, query: str) -> FloatArray:
        """Of every text, in the order given."""
        words = query_terms(query)
        columns = [self._columns[word] for word in words if word in self._columns]
        total: FloatArray = np.zeros(len(self.names))
        for column in columns:
            here = slice(self._index.indptr[column], self._index.indptr[column + 1])
            total[self._index.indices[here]] += self._index.data[here]
        return total / np.sqrt(len(words)) if words else total

    def search(self, query: str) -> list[tuple[str, float]]:
        """Names and relevance of the texts returned, the most relevant first; equal ones by name."""
        relevance = self.relevance(query)
        found = np.flatnonzero(relevance > 0)
        ranked = found[np.lexsort((self._order[found], -relevance[found]))]
        return [(self.names[text], float(relevance[text])) for text in ranked]


def query_terms(query: str) -> list[str]:
    """The different stems of a query, without stop words."""
    word_numbers = WordNumbers(joins="_")
    word_numbers.cut(query)
    words = [word for word in (folded(word).strip("_") for word in word_numbers.words) if word and word not in STOP_WORDS]
    return sorted(set(stems(words)))
