"""The search engine of the vector model: by hand, and beside a plain computation."""

from collections import Counter
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import DataError
from shoal.text.search import SearchEngine, WordCounts, query_terms, tf_idf
from shoal.text.words import STOP_WORDS, stems

NAMES = ("a", "b", "c", "d")
TEXTS = ("Guns and guns and roses", "The roses bloom", "A gun", "")


def test_relevance_by_hand():
    engine = SearchEngine(NAMES, TEXTS)
    assert engine.terms == ["bloom", "gun", "rose"]
    gun, rose, bloom = log(4 / 2), log(4 / 2), log(4 / 1)
    expected = [
        (2 * gun / sqrt((2 * gun) ** 2 + rose**2)),
        0.0,
        1.0,
        0.0,
    ]
    assert engine.relevance("gun").tolist() == pytest.approx(expected)
    first = 3 * gun / sqrt((2 * gun) ** 2 + rose**2) / sqrt(2)
    second = rose / sqrt(rose**2 + bloom**2) / sqrt(2)
    assert engine.search("guns OR roses, the roses") == [
        ("a", pytest.approx(first)),
        ("c", pytest.approx(1 / sqrt(2))),
        ("b", pytest.approx(second)),
    ]


def test_words_that_no_text_has_weigh_in_the_query_too():
    """Else a text would look more relevant once the rest of the query was redacted everywhere."""
    engine = SearchEngine(NAMES, TEXTS)
    assert engine.relevance("gun submarine")[2] == pytest.approx(1 / sqrt(2))


def test_a_word_in_every_text_finds_nothing():
    assert SearchEngine(("a", "b"), ("gun rose", "gun")).search("gun") == []


def test_ties_go_by_name_and_nothing_is_returned_for_nothing():
    engine = SearchEngine(("z", "y", "x"), ("gun", "gun", "rose"))
    assert [name for name, _ in engine.search("gun")] == ["y", "z"]
    assert engine.search("the of and") == []
    assert engine.search("submarine") == []
    assert SearchEngine((), ()).search("gun") == []


def test_labels_are_words_of_their_own():
    engine = SearchEngine(("a", "b"), ("Pers_1 met Pers_2", "Pers_2 slept"))
    assert [name for name, _ in engine.search("Pers_1")] == ["a"]
    assert query_terms("Pers_1 and PERS_1") == ["pers_1"]


def test_names_must_fit():
    with pytest.raises(DataError, match="1 names for 2 texts"):
        SearchEngine(("a",), ("x", "y"))
    with pytest.raises(DataError, match="same name"):
        SearchEngine(("a", "a"), ("x", "y"))


WORDS = st.sampled_from(["gun", "guns", "rose", "bloom", "the", "Nuclear", "plan", "planned", "2", "é"])
CORPORA = st.lists(st.lists(WORDS, max_size=8).map(" ".join), min_size=1, max_size=7)


def plainly(texts: list[str], query: str) -> list[float]:
    """The same in dictionaries, from the formulas (2.18) and (2.19)."""

    def words(text: str) -> list[str]:
        return stems(word for word in text.lower().split() if word not in STOP_WORDS)

    counts = [Counter(words(text)) for text in texts]
    found = []
    asked = set(words(query))
    for count in counts:
        weight = {word: times * log(len(texts) / sum(word in other for other in counts)) for word, times in count.items()}
        norm = sqrt(sum(value**2 for value in weight.values()))
        dot = sum(weight.get(word, 0.0) for word in asked)
        found.append(dot / norm / sqrt(len(asked)) if norm and asked else 0.0)
    return found


@given(texts=CORPORA, query=st.lists(WORDS, max_size=4).map(" ".join), order=st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_any_corpus(texts, query, order):
    names = [f"d{number}" for number in range(len(texts))]
    engine = SearchEngine(names, texts)
    assert engine.relevance(query).tolist() == pytest.approx(plainly(texts, query))
    assert (engine.relevance(query) <= 1 + 1e-12).all()
    shuffled = list(zip(names, texts))
    order.shuffle(shuffled)
    again = SearchEngine([name for name, _ in shuffled], [text for _, text in shuffled])
    assert [name for name, _ in again.search(query)] == [name for name, _ in engine.search(query)]


def test_weights_beside_scikit_learn():
    """Its idf is ours plus one, so it is taken off again."""
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    counts = WordCounts(["a gun gun rose", "rose plan plan", "plan gun day", "gun"]).counts
    idf = TfidfTransformer(smooth_idf=False, norm=None).fit(counts).idf_ - 1
    assert np.allclose(tf_idf(counts).toarray(), normalize(counts.toarray() * idf))
