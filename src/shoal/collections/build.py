"""From texts to a space: words, stop words, stems, a filter, limits, tf-idf (2.18), length 1 (2.19) (Abril 2014, 2.7.3 and 4.4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy import sparse

from shoal.arrays import FloatArray
from shoal.collections.space import Space, known_rows, numbered, unit_rows
from shoal.errors import DataError, counted
from shoal.params import Params
from shoal.text.words import STOP_WORDS, WordNumbers, folded, stems

_LETTERS = re.compile("[a-z]+")


@dataclass(frozen=True, repr=False)
class TermWeights:
    """The terms of a space in alphabetical order, and what each weighs. Fitted on some documents, it can be used on others."""

    terms: tuple[str, ...]
    idf: FloatArray

    def __repr__(self) -> str:
        return f"TermWeights({counted(len(self.terms), 'term')})"

    @staticmethod
    def of(space: Space) -> TermWeights:
        """The terms and weights that a space was built with."""
        if space.idf is None:
            raise DataError("The space does not say what its terms weigh. Build it from texts, or give idf.")
        return TermWeights(space.terms, space.idf)


class Builder(Params):
    """Turns texts into unit vectors of tf-idf weights.

    The words themselves become public with a release. The WordNet filter takes out most names; `least` takes out words of one document.
    """

    name: ClassVar[str] = "builder"
    title: ClassVar[str] = "Document-term matrices"
    tokens: Literal["letters", "words"] = Field(
        "letters", description="letters: runs of a to z, in lower case (the thesis); words: letters and digits of any language"
    )
    stop_words: Literal["english", "none"] = Field("english", description="Words without a meaning of their own, which are left out")
    keep: Literal["wordnet", "all"] = Field(
        "wordnet", description="wordnet: only words that WordNet lists as they are written; all: every word"
    )
    reduce: Literal["none", "stems"] = Field("none", description="stems: words with the same Porter stem are one term")
    least: int = Field(2, ge=1, description="Fewest documents a term must stand in")
    most: float = Field(1.0, gt=0, le=1, description="Largest share of the documents a term may stand in")
    most_terms: int | None = Field(None, ge=1, description="Terms to keep, those of the largest total weight; absent: all")
    exclude: tuple[str, ...] = Field((), description="Words to leave out, such as names that are words, too")
    weights: Literal["tf-idf", "tf"] = Field("tf-idf", description="tf: frequencies alone, so that weights do not tell how rare a term is")

    def build(self, texts: Iterable[str], names: Sequence[str] | None = None, labels: Sequence[object] | None = None) -> Space:
        """Fit and transform the same texts."""
        terms, counts = self._counted(texts)
        term_weights = self._fitted(terms, counts)
        return self._space(term_weights, terms, counts, names, labels)

    def fit(self, texts: Iterable[str]) -> TermWeights:
        """Terms and their weights."""
        return self._fitted(*self._counted(texts))

    def transform(
        self, term_weights: TermWeights, texts: Iterable[str], names: Sequence[str] | None = None, labels: Sequence[object] | None = None
    ) -> Space:
        """Texts as vectors over a fitted vocabulary; documents without any of its words are dropped, and their names kept."""
        return self._space(term_weights, *self._counted(texts), names, labels)

    def vectorizer(self, term_weights: TermWeights) -> Any:
        """The same as a scikit-learn TfidfVectorizer, ready to transform; its rows of no known word are empty."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        made = TfidfVectorizer(analyzer=self.words, vocabulary=list(term_weights.terms))
        made.idf_ = term_weights.idf
        return made

    def words(self, text: str) -> list[str]:
        """The terms of one text, in their order: what `query` and scikit-learn need."""
        word_numbers = WordNumbers()
        numbers = word_numbers.cut(text).numbers
        of_word = self._terms(word_numbers.words)
        return [term for number in numbers.tolist() for term in of_word[number]]

    def _counted(self, texts: Iterable[str]) -> tuple[list[str], Any]:
        """Every term, and how often it stands in each text. Words are looked at once per spelling, not once per place."""
        word_numbers = WordNumbers()
        rows = [word_numbers.cut(text).numbers for text in texts]
        if not rows:
            raise DataError("There are no documents. Name a folder, a file or a column that has some.")
        of_word = self._terms(word_numbers.words)
        terms = sorted({term for found in of_word for term in found})
        place = {term: i for i, term in enumerate(terms)}
        shape = (len(word_numbers.words), len(terms))
        word = np.repeat(np.arange(len(of_word)), [len(found) for found in of_word])
        term = np.fromiter((place[term] for found in of_word for term in found), np.int64, len(word))
        spelt = sparse.csr_array((np.ones(len(term)), (word, term)), shape=shape)
        starts = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
        written = sparse.csr_array((np.ones(starts[-1]), np.concatenate(rows), starts), shape=(len(rows), shape[0]))
        counts = written @ spelt
        counts.sum_duplicates()
        return terms, counts

    def _terms(self, words: Sequence[str]) -> list[list[str]]:
        """What each spelling contributes: nothing, a term, or the pieces between its other characters."""
        lower = [folded(word) for word in words]
        found = [_LETTERS.findall(word) for word in lower] if self.tokens == "letters" else [[word] if word else [] for word in lower]
        if self.stop_words == "english":
            found = [[piece for piece in pieces if piece not in STOP_WORDS] for pieces in found]
        if self.keep == "wordnet":
            listed = _lemmas()
            found = [[piece for piece in pieces if piece in listed] for pieces in found]
        if self.exclude:
            unwanted = {folded(word) for word in self.exclude}
            found = [[piece for piece in pieces if piece not in unwanted] for pieces in found]
        if self.reduce == "stems":
            found = [stems(pieces) if pieces else [] for pieces in found]
        return found

    def _fitted(self, terms: list[str], counts: Any) -> TermWeights:
        documents = counts.shape[0]
        present = np.bincount(counts.indices, minlength=len(terms))
        kept = (present >= self.least) & (present <= self.most * documents)
        idf = np.ones(len(terms))
        if self.weights == "tf-idf":
            idf = np.log(documents / np.maximum(present, 1))
            kept &= present < documents  # what stands in every document weighs nothing
        if self.most_terms is not None and kept.sum() > self.most_terms:
            total = unit_rows((counts * idf)[:, kept]).sum(axis=0)
            best = np.argsort(-np.rint(total * 2**30), kind="stable")[: self.most_terms]  # rounded: sums in another order are the same
            kept[np.delete(np.flatnonzero(kept), best)] = False
        if not kept.any():
            raise DataError(self._nothing_left(documents, terms))
        return TermWeights(tuple(term for term, keep in zip(terms, kept) if keep), idf[kept])

    def _nothing_left(self, documents: int, terms: list[str]) -> str:
        of = counted(documents, "document")
        if not terms:
            return f"No word of {of} is left to be a term. Are they in another language? Use tokens=words, keep=all."
        if documents == 1:
            return "One document cannot be hidden among others. Give more documents."
        return f"None of {counted(len(terms), 'word')} is in enough and in few enough of {of}. Lower least, or raise most."

    def _space(
        self, term_weights: TermWeights, terms: list[str], counts: Any, names: Sequence[str] | None, labels: Sequence[object] | None
    ) -> Space:
        place = {term: i for i, term in enumerate(term_weights.terms)}
        column = np.fromiter((place.get(term, -1) for term in terms), np.int64, len(terms))
        known = column >= 0
        part = counts[:, known]
        rows = sparse.csr_array((part.data, column[known][part.indices], part.indptr), shape=(counts.shape[0], len(place)))
        names = numbered(counts.shape[0]) if names is None else tuple(map(str, names))
        given = None if labels is None else tuple(map(str, labels))
        return known_rows(unit_rows(rows * term_weights.idf), term_weights.terms, names, given, term_weights.idf, self.given())


def _lemmas() -> frozenset[str]:
    from shoal.text.wordnet import FILES, read_wordnet

    try:
        wordnet = read_wordnet()
    except DataError as problem:
        raise DataError(f"{problem} Or keep every word, names too: keep=all.") from None
    return frozenset(lemma for part in FILES for lemma in wordnet.lemmas(part))
