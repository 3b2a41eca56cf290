"""The tagger: its sums against enumeration and against CRFsuite, its words, what it finds, and how much of held-out text it covers."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.document import LOCATION, ORGANIZATION, PERSON, Document
from shoal.documents.detectors.detect import detect
from shoal.documents.detectors.recognizers import Recognizers
from shoal.documents.detectors.tagger import LABELS, Tagger, chances, load_model, shipped_model, stretches
from shoal.documents.detectors.tagger_words import form_of, sentences_of, tokens_of, word_list
from shoal.errors import DataError, ParameterError
from shoal.kernels.chains import marginals
from tests.data import data_path


def enumerated(emissions, transitions):
    """P(label at token) by summing over every labelling."""
    tokens, labels = emissions.shape
    out = np.zeros((tokens, labels))
    for path in itertools.product(range(labels), repeat=tokens):
        score = sum(emissions[t, y] for t, y in enumerate(path)) + sum(transitions[x, y] for x, y in itertools.pairwise(path))
        for t, y in enumerate(path):
            out[t, y] += np.exp(score)
    return out / out.sum(axis=1, keepdims=True)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 3))
@settings(max_examples=40, deadline=None)
def test_marginals_are_those_of_every_labelling(seed, tokens, labels):
    rng = np.random.default_rng(seed)
    emissions, transitions = rng.normal(size=(tokens + 2, labels)) * 2, rng.normal(size=(labels, labels))
    got = marginals(emissions, transitions, np.array([0, 2, tokens + 2]))
    assert np.allclose(got[:2], enumerated(emissions[:2], transitions))
    assert np.allclose(got[2:], enumerated(emissions[2:], transitions))


def test_two_tokens_by_hand():
    """Potentials 1, 3 then 1, 1; staying is twice as good as changing: P(first = b) = 9 / 12, P(second = b) = 7 / 12."""
    got = marginals(np.log([[1.0, 3.0], [1.0, 1.0]]), np.log([[2.0, 1.0], [1.0, 2.0]]), np.array([0, 2]))
    assert got == pytest.approx(np.array([[3 / 12, 9 / 12], [5 / 12, 7 / 12]]))


def test_extreme_scores_stay_numbers():
    got = marginals(np.array([[800.0, -800.0], [-800.0, 800.0], [0.0, 0.0]]), np.zeros((2, 2)), np.array([0, 3]))
    assert np.isfinite(got).all()
    assert got == pytest.approx(np.array([[1, 0], [0, 1], [0.5, 0.5]]))


def test_tables_add_up_to_what_crfsuite_says(tmp_path):
    """A model trained on a few sentences: the chances from our tables and sums are CRFsuite's own."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    from tools.train_tagger import features_of, retokenized, save

    told = [
        [("Anna", "B-PER"), ("Smith", "I-PER"), ("lives", "O"), ("in", "O"), ("New", "B-LOC"), ("York", "I-LOC"), (".", "O")],
        [("The", "O"), ("bank", "O"), ("of", "O"), ("ACME", "B-ORG"), ("Inc.", "I-ORG"), ("paid", "O"), ("$", "O"), ("1,200", "O")],
        [("@someone", "O"), ("saw", "O"), ("O'Brien", "B-PER"), ("'s", "O"), ("film", "O"), ("Star", "B-MISC"), ("Wars", "I-MISC")],
    ] * 3
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"max_iterations": 20, "c1": 0.0, "c2": 0.1})
    for sentence in told:
        tokens, tags = retokenized(sentence)
        trainer.append(features_of(tokens), tags)
    trainer.train(str(tmp_path / "crf"))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "crf"))
    save(tagger.info().state_features, tagger.info().transitions, tmp_path / "model.npz")
    model = load_model(tmp_path / "model.npz")
    for text in ("Anna lives in York with O'Brien", "ACME paid Anna Smith 300", "new york , Inc. 12"):
        tokens, ours = chances(text, model)
        tagger.set(features_of(tokens))
        for i, label in enumerate(LABELS):
            theirs = [tagger.marginal(label, t) for t in range(len(tokens))]
            assert ours[:, i] == pytest.approx(theirs, abs=0.02)  # weights are kept in half precision


def test_tokens_are_the_text():
    text = "Dr. O'Brien's U.S. trip cost $1,200.50 (see https://x.org/a); mail a@b.org, @me — Jean-Luc’s"
    tokens = tokens_of(text)
    assert [token.text for token in tokens][:8] == ["Dr.", "O'Brien", "'s", "U.S.", "trip", "cost", "$", "1,200.50"]
    assert all(text[token.start : token.end] == token.text for token in tokens)


@given(st.text(max_size=200))
def test_every_letter_and_digit_is_in_one_token_and_every_token_in_one_sentence(text):
    tokens = tokens_of(text)
    seen = [i for token in tokens for i in range(token.start, token.end)]
    assert len(seen) == len(set(seen))
    assert {i for i, mark in enumerate(text) if mark.isalnum()} <= set(seen)
    spans = list(sentences_of(text, tokens))
    assert [i for first, end in spans for i in range(first, end)] == list(range(len(tokens)))


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(lambda word: not word.isspace()))
def test_every_token_has_a_form(word):
    for token in tokens_of(word):
        assert form_of(token.text, word_list()).features[2]


def test_sentences_end_at_stops_blank_lines_and_short_lines_but_not_where_a_long_line_wraps():
    text = "Mr. Smith came. He left\n\nDear Anna\nthis line is long enough that its end is only where it was wrapped by\nsomebody"
    tokens = tokens_of(text)
    firsts = [tokens[first].text for first, _ in sentences_of(text, tokens)]
    assert firsts == ["Mr.", "He", "Dear", "this"]


def test_example_3_of_the_thesis():
    text = (
        "Prof. Smith asked Imagine Inc. to start the project in New York, where the NY University could provide a laboratory near the "
        "Washington Square Park. Prof. Smith wants to study the birds of the Washington Square Park."
    )
    found = detect(Document("d", text), [Recognizers(), Tagger()])
    assert [(one.kind, text[one.start : one.end]) for one in found] == [
        (PERSON, "Prof. Smith"),
        (ORGANIZATION, "Imagine Inc."),
        (LOCATION, "New York"),
        (ORGANIZATION, "NY University"),
        (LOCATION, "Washington Square Park"),
        (PERSON, "Prof. Smith"),
        (LOCATION, "Washington Square Park"),
    ]


@given(
    st.lists(
        st.sampled_from(["Anna", "Smith", "IBM", "Paris", "the", "went", "to", ".", ",", "\n", "\n\n", "'s", "é", "12", "-"]), max_size=40
    )
)
@settings(max_examples=60, deadline=None)
def test_findings_lie_inside_in_order_and_apart_and_a_lower_threshold_covers_more(words):
    text = " ".join(words)
    document = Document("d", text)
    low, high = Tagger(threshold=0.1).detect(document), Tagger(threshold=0.6).detect(document)
    for found in (low, high):
        assert all(0 <= one.start < one.end <= len(text) and 0 < one.confidence <= 1 for one in found)
        assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    covered = {i for one in low for i in range(one.start, one.end)}
    assert {i for one in high for i in range(one.start, one.end) if text[i].isalnum()} <= covered
    assert Tagger(threshold=0.1).detect(document) == low


def test_a_long_text_is_tagged_in_stretches_as_if_whole():
    paragraph = "Anna Smith met Peter Jones in Paris on Monday.\n\n"
    text = paragraph * 400
    spans = list(stretches(text, size=2_000))
    assert "".join(text[start:end] for start, end in spans) == text
    assert len(spans) > 3
    whole = Tagger().detect(Document("d", text))
    assert len(whole) == 400 * len(Tagger().detect(Document("d", paragraph)))


@pytest.mark.parametrize("text", ["", "   \n ", "...", "1"])
def test_nothing_in_nothing(text):
    assert Tagger().detect(Document("d", text)) == []


@pytest.mark.parametrize("threshold", [0, 1, -0.5, 2])
def test_thresholds_are_chances(threshold):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        Tagger(threshold=threshold)


def test_a_broken_model_is_said_to_be_broken(tmp_path):
    broken = tmp_path / "tagger.npz"
    broken.write_bytes(b"not a model")
    with pytest.raises(DataError, match="make tagger"):
        load_model(broken)
    with pytest.raises(DataError, match="make tagger"):
        load_model(tmp_path / "nowhere.npz")


def test_the_shipped_files_are_small_and_name_their_sources():
    folder = Path(__file__).resolve().parents[2] / "src" / "shoal" / "documents" / "data"
    assert sum(path.stat().st_size for path in folder.iterdir()) < 5_000_000
    licences = (folder / "LICENCES.md").read_text(encoding="utf-8")
    assert all(name in licences for name in ("Broad Twitter", "Wikigold", "WNUT", "SEC", "GeoNames", "Census", "spacy-lookups-data"))
    assert shipped_model().transitions.shape == (len(LABELS), len(LABELS))


@pytest.mark.parametrize(("corpus", "bar"), [("wikigold", 0.72), ("wnut17", 0.60)])
def test_held_out_names_are_covered(corpus, bar):
    """Every token of a name covered, sentence by sentence, on text that training never saw."""
    data_path("ner", f"{'wikigold' if corpus == 'wikigold' else 'wnut17_train'}.conll")
    from benchmarks.detection import Tally, gold_names, ours
    from tools.train_tagger import split

    held_out = split(data_path("ner"))[2][corpus]
    tally, find = Tally(), ours([Recognizers(), Tagger()], (PERSON, ORGANIZATION, LOCATION))
    for text, gold in map(gold_names, held_out):
        tally.add(text, gold, *find(text))
    assert tally.cover() >= bar
    assert tally.precision >= 0.6
