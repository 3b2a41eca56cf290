"""Reuters, plain MDAV by cosine: figures found by another implementation. Ties are broken otherwise, so that they agree to a few per mille."""

import numpy as np
import pytest

from shoal.collections.attacks import DocumentLinkage, LastMember, Membership, TermLinkage
from shoal.collections.build import Builder, TermWeights
from shoal.collections.classify import Classification
from shoal.collections.measures import EuclideanLoss, NormalisedLoss, OneClass, SoleTerms, SphericalLoss, UniqueLabels, Words
from shoal.collections.queries import QueryAgreement
from shoal.collections.spherical import Spherical
from tests.data import data_path
from tests.documents.tiny_wordnet import real_wordnet

RNG = np.random.default_rng


def documents(part):
    """Texts and classes, without the class `trade`."""
    lines = data_path("reuters_r8", f"r8-{part}-all-terms.txt").read_text(encoding="utf-8").splitlines()[1:]
    found = [line.split("\t", 1) for line in lines]
    return [text for label, text in found if label != "trade"], [label for label, _ in found if label != "trade"]


def plain(space):
    return Spherical(k=3, partition="mdav", swaps=0).protect(space, RNG(0))


@pytest.fixture(scope="module")
def whole():
    real_wordnet()
    texts, labels = (a + b for a, b in zip(documents("train"), documents("test")))
    space = Builder().build(texts, labels=labels)
    return space, plain(space)


@pytest.fixture(scope="module")
def parts():
    real_wordnet()
    train = Builder().build(documents("train")[0], labels=documents("train")[1])
    texts, labels = documents("test")
    test = Builder().transform(TermWeights.of(train), texts, labels=labels)
    return train, plain(train), test, plain(test)


@pytest.mark.parametrize(
    ("measure", "expected", "within"),
    [(SphericalLoss, 0.227, 0.003), (EuclideanLoss, 0.408, 0.003), (NormalisedLoss, 1662.8 / 6054.3, 0.003), (Words, 70, 0.5),
     (OneClass, 0.66, 0.02), (UniqueLabels, 0.13, 0.01), (SoleTerms, 0.80, 0.01)],
)  # fmt: skip
def test_measures(whole, measure, expected, within):
    assert measure().measure(*whole, RNG(0)).value == pytest.approx(expected, abs=within)


def test_weights(whole):
    assert Words().measure(*whole, RNG(0)).details["mean_weight"] == pytest.approx(0.115, abs=0.002)


def test_queries(whole):
    found = QueryAgreement().measure(*whole, RNG(0)).details["f1"]
    expected = {"random 1": 0.53, "random 3": 0.49, "random 5": 0.49, "top 1": 0.58, "top 3": 0.55, "top 5": 0.52}
    assert found == pytest.approx(expected, abs=0.06)


@pytest.mark.parametrize(
    ("attack", "expected", "within"),
    [(DocumentLinkage(by="cosine"), 0.937, 0.01), (DocumentLinkage(by="cosine", wanted="row"), 0.313, 0.005),
     (TermLinkage(terms=3), 0.54, 0.03), (TermLinkage(terms=5), 0.82, 0.02), (TermLinkage(terms=10), 0.96, 0.01), (LastMember(), 1, 0)],
)  # fmt: skip
def test_attacks(whole, attack, expected, within):
    found = attack.attack(*whole, RNG(0))
    assert found.rate == pytest.approx(expected, abs=within)
    assert found.chance < 0.001


def test_terms_give_more_away_than_the_cosine(whole):
    assert DocumentLinkage().attack(*whole, RNG(0)).rate > 0.96


def test_members_are_known(parts):
    train, release, test, _ = parts
    by_cosine = Membership(by="cosine").attack(train, release, RNG(0), outsiders=test)
    assert by_cosine.details["auc"] == pytest.approx(0.90, abs=0.01)
    assert Membership().attack(train, release, RNG(0), outsiders=test).details["auc"] > 0.99


def test_classes(parts):
    scores = Classification(alpha=0.01, learners=("nearest", "bayes")).measure(*parts)
    assert [score.value for score in scores] == pytest.approx([0.786, 0.790, 0.855, 0.847, 0.828, 0.904], abs=0.02)
    assert [score.details["original"] for score in scores[::3]] == pytest.approx([0.866, 0.932], abs=0.01)
