"""Texts to spaces: words, weights, limits, what is dropped, files, scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from shoal.collections import Builder, Space, TermWeights, unit_rows
from shoal.errors import DataError, OutputError, ParameterError
from tests.data import data_path

TOY = ["a a b", "a b", "c d", "c d d", "e f", "e e f b"]
PLAIN = Builder(stop_words="none", keep="all")


def test_weights_are_2_18_and_2_19():
    space = PLAIN.build(TOY)
    assert space.terms == tuple("abcdef")
    a, b = 2 * np.log(6 / 2), np.log(6 / 3)
    assert space.matrix.toarray()[0] == pytest.approx([a / np.hypot(a, b), b / np.hypot(a, b), 0, 0, 0, 0])
    assert space.idf == pytest.approx(np.log([3, 2, 3, 3, 3, 3]))


def test_words_that_stand_everywhere_or_seldom_are_no_terms():
    texts = ["x common rare", "x common", "x often", "x often"]
    assert PLAIN.build(texts).terms == ("common", "often")
    assert PLAIN.model_copy(update={"least": 1}).build(texts).terms == ("common", "often", "rare")
    assert PLAIN.model_copy(update={"weights": "tf"}).build(texts).terms == ("common", "often", "x")
    assert Builder(keep="all", weights="tf", most=0.5).build(texts).terms == ("common", "often")


def test_most_terms_keeps_the_heaviest():
    texts = ["oil oil oil gas", "oil oil gas", "wheat gas", "wheat corn", "corn"]
    assert Builder(keep="all", most_terms=2).build(texts).terms == ("corn", "oil")
    assert Builder(keep="all", most_terms=9).build(texts).terms == ("corn", "gas", "oil", "wheat")


def test_tokens_of_letters_and_of_words():
    text = "Café b2b DON'T wea\u00adpon Überfall"
    assert Builder(stop_words="none", keep="all").words(text) == ["caf", "b", "b", "don", "t", "weapon", "berfall"]
    assert Builder(tokens="words", stop_words="none", keep="all").words(text) == ["café", "b2b", "don", "t", "weapon", "überfall"]
    assert Builder(tokens="words", keep="all").words("DON'T") == []


def test_stems_are_one_term():
    texts = ["weapons fired", "weapon fires", "peace", "peaceful"]
    assert Builder(keep="all", reduce="stems").build(texts).terms == ("fire", "peac", "weapon")


def test_vocabulary_of_one_part_serves_another():
    builder = Builder(keep="all")
    train, test = ["oil price", "oil gas", "gas price", "wheat price"], ["oil oil gas", "nothing known", "", "price"]
    vocabulary = builder.fit(train)
    space = builder.transform(vocabulary, test, names=["p", "q", "r", "s"], labels=[1, 2, 3, 4])
    assert space.names == ("p", "s")
    assert space.labels == ("1", "4")
    assert space.dropped == ("q", "r")
    assert space.terms == vocabulary.terms == ("gas", "oil", "price")
    two, one = 2 * np.log(4 / 2), np.log(4 / 2)
    assert space.matrix.toarray()[0] == pytest.approx(np.array([one, two, 0]) / np.hypot(one, two))
    again = builder.transform(vocabulary, train)
    assert (again.matrix != builder.build(train).matrix).nnz == 0
    assert TermWeights.of(space).terms == vocabulary.terms


def test_wordnet_keeps_words_as_they_are_written(monkeypatch):
    monkeypatch.setattr("shoal.collections.build._lemmas", lambda: frozenset({"bank", "river"}))
    assert Builder(least=1).build(["Banks bank Miller", "river bank", "stone"]).terms == ("bank", "river")


def test_wordnet_absent_says_how_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("SHOAL_WORDNET", str(tmp_path))
    with pytest.raises(DataError, match="keep=all"):
        Builder().build(["bank", "river"])


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        ([], "no documents"),
        (["", "  "], "another language"),
        (["сад", "мир"], "another language"),
        (["one text of words"], "One document cannot be hidden"),
        (["one", "two", "three"], "Lower least"),
    ],
)
def test_texts_of_which_nothing_is_left(texts, says):
    with pytest.raises(DataError, match=says):
        Builder(keep="all", stop_words="none").build(texts)


def test_other_languages_by_words():
    assert Builder(tokens="words", keep="all").build(["сад мир", "мир вода", "вода", "сад"]).terms == ("вода", "мир", "сад")


def test_parameters_are_checked():
    with pytest.raises(ParameterError, match="least must be 1 or more"):
        Builder(least=0)
    with pytest.raises(ParameterError, match="Did you mean 'tokens'"):
        Builder(token="letters")


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.6, 0.8], [np.nan, 1.0]], "1 of the weights is missing or infinite"),
        ([[0.6, 0.8], [np.inf, 1.0]], "missing or infinite"),
        ([[0.6, -0.8], [0.0, 1.0]], "1 of the weights is negative"),
        ([[0.6, 0.8], [0.0, 0.0]], "1 document has no term at all"),
        ([[0.6, 0.8], [1.0, 1.0]], "unit_rows"),
        (np.zeros((0, 2)), "no documents"),
        (np.zeros((2, 0)), "no terms"),
        ([["a", "b"]], "array of numbers"),
    ],
)
def test_matrices_that_are_no_space(matrix, says):
    with pytest.raises(DataError, match=says):
        Space.of(matrix)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"terms": ["a"]}, "2 columns, but there are 1 term"),
        ({"terms": ["a", "a"]}, "Two terms have the same name"),
        ({"names": ["x", "x"]}, "Two documents have the same name"),
        ({"labels": ["x"]}, "2 rows, but there are 1 label"),
        ({"idf": [1.0, 2.0, 3.0]}, "2 columns, but there are 3 idf weights"),
    ],
)
def test_names_that_do_not_fit(words, says):
    with pytest.raises(DataError, match=says):
        Space.of(np.eye(2), **words)


def test_a_space_leaves_what_it_was_given():
    matrix = sparse.csr_array(np.array([[0.0, 0.6, 0.8], [1.0, 0.0, 0.0]]))
    space = Space.of(matrix)
    space.matrix.data[:] = 7
    assert matrix.data.tolist() == [0.6, 0.8, 1.0]


@given(st.lists(st.lists(st.floats(0, 1e300), min_size=3, max_size=3), min_size=1, max_size=6))
def test_unit_rows_have_length_one_or_are_empty(rows):
    norms = np.sqrt((unit_rows(np.array(rows)).toarray() ** 2).sum(axis=1))
    assert norms == pytest.approx([float(any(row)) for row in rows])


def test_authors_are_one_row_each():
    space = Space.of(np.eye(3), labels=["x", "x", "y"])
    by_author = space.by_author(["ann", "bob", "ann"])
    assert by_author.names == ("ann", "bob")
    assert by_author.matrix.toarray() == pytest.approx(np.array([[0.5**0.5, 0, 0.5**0.5], [0, 1, 0]]))
    assert by_author.labels is None
    assert space.by_author(["ann", "ann", "bob"]).labels == ("x", "y")
    with pytest.raises(DataError, match="1 author for 3 documents"):
        space.by_author(["ann"])


def test_written_and_read(tmp_path):
    space = Builder(keep="all").build([*TOY, "?"], labels=["é", "b", "c", "d", "e", "", "g"])
    space.write(tmp_path / "space")
    again = Space.read(tmp_path / "space")
    assert (again.matrix != space.matrix).nnz == 0
    assert (again.terms, again.names, again.labels, again.dropped) == (space.terms, space.names, space.labels, ("document-7",))
    assert again.idf == pytest.approx(space.idf)
    assert Builder(**again.built) == Builder(keep="all")
    assert (tmp_path / "space").stat().st_mode & 0o777 == 0o700
    loaded = sparse.load_npz(tmp_path / "space" / "space.npz")
    assert (loaded != space.matrix).nnz == 0
    with pytest.raises(OutputError, match="exists"):
        space.write(tmp_path / "space")


def test_folders_that_are_no_space(tmp_path):
    with pytest.raises(DataError, match="is not a space"):
        Space.read(tmp_path)
    (tmp_path / "space.npz").write_bytes(b"PK no")
    with pytest.raises(DataError, match="damaged"):
        Space.read(tmp_path)


def test_scikit_learn_in_and_out():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    space = Space.of_vectorizer(text.CountVectorizer().fit([*TOY[2:], "oil gas"]), ["oil gas", "oil oil", "none"])
    assert space.names == ("document-1", "document-2")
    assert space.dropped == ("document-3",)
    builder = Builder(keep="all", stop_words="none")
    vocabulary = builder.fit(TOY)
    theirs = builder.vectorizer(vocabulary).transform(TOY)
    assert theirs.toarray() == pytest.approx(builder.transform(vocabulary, TOY).matrix.toarray())


def test_reuters_as_the_thesis_has_it():
    """7,346 documents and 29.4 words each in Table 4.1; its stop words and filter are not stated, so its 5,473 terms cannot be met."""
    texts = []
    for part in ("train", "test"):
        for line in data_path("reuters_r8", f"r8-{part}-all-terms.txt").read_text().splitlines()[1:]:
            label, _, text = line.partition("\t")
            if label != "trade":
                texts.append(text)
    try:
        space = Builder().build(texts)
    except DataError as problem:
        pytest.skip(str(problem))
    assert (len(space), len(space.terms), len(space.dropped)) == (7347, 6535, 1)
    assert space.matrix.nnz / len(space) == pytest.approx(29.4, abs=0.05)
