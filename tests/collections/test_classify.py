"""Classes and topics learned from a release: by hand, and beside scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier

from shoal.collections.classify import Classification
from shoal.collections.clusters import TopicAgreement, adjusted_rand, spherical_k_means
from shoal.collections.space import Space
from shoal.errors import DataError, ParameterError
from tests.collections.test_measures import RNG, collections, released, space_of

SCENARIOS = ("original to protected", "protected to protected", "protected to original")


def topics(rng, n, classes=3, width=40, sure=4.0):
    """Documents of a class use a third of the words more often."""
    labels = rng.integers(0, classes, n)
    rate = np.full((n, width), 0.3)
    for label in range(classes):
        rate[np.ix_(labels == label, np.arange(width) % classes == label)] *= sure
    counts = rng.poisson(rate)
    counts[np.arange(n), rng.integers(0, width, n)] += 1
    return space_of(counts, [f"class-{label}" for label in labels])


@pytest.fixture
def parts():
    rng = RNG(2)
    train, test = topics(rng, 120), topics(rng, 60)
    return train, released(train, np.repeat(range(30), 4)), test, released(test, np.repeat(range(15), 4))


def test_naive_bayes_and_neighbours_are_scikit_learns(parts):
    """Expanded to one row per document; no ties among neighbours in the originals, so both find the same ones."""
    train, train_release, test, test_release = parts
    scores = Classification(neighbours=1, alpha=0.5).measure(*parts)
    assert [score.name for score in scores] == [
        f"classification {learner} {scenario}" for learner in ("nearest", "bayes", "linear") for scenario in SCENARIOS
    ]
    sides = []
    for space, release in ((train, train_release), (test, test_release)):
        rows = release.matrix(space.terms)[np.argsort(release.source_row)]
        sides.append([(space.matrix, space.labels), (rows, space.labels)])
    for at, (a, b) in enumerate(((0, 1), (1, 1), (1, 0))):
        (x, y), (z, wanted) = sides[0][a], sides[1][b]
        bayes = MultinomialNB(alpha=0.5).fit(x, y)
        assert scores[3 + at].value == pytest.approx(bayes.score(z, wanted))
    nearest = KNeighborsClassifier(1, metric="cosine").fit(train.matrix, train.labels)
    assert scores[0].value == pytest.approx(nearest.score(sides[1][1][0], test.labels))
    assert scores[0].details["original"] == pytest.approx(nearest.score(test.matrix, test.labels))
    assert scores[6].details["original"] > 0.6
    commonest = max(set(train.labels), key=train.labels.count)
    assert scores[0].details["commonest"] == pytest.approx(test.labels.count(commonest) / 60)


@pytest.mark.parametrize(("neighbours", "right"), [(1, 0), (2, 0), (3, 1), (4, 0), (5, 0), (50, 0)])
def test_neighbours_vote_by_hand(neighbours, right):
    """Nearest is a y, then two copies of class x, then two y. A tie of votes (2, 4) goes to y, of which there are more."""
    train = space_of([[5, 1], [1, 0], [1, 0], [4, 1], [0, 1]], list("yxxyy"))
    test = space_of([[9, 1]], ["x"])
    one = Classification(learners=("nearest",), neighbours=neighbours)
    for groups in (range(5), [0, 1, 1, 2, 3]):  # copies as rows of their own, or as one cluster
        scores = one.measure(train, released(train, groups), test, released(test, [0]))
        assert [score.value for score in scores] == [right] * 3


def test_copies_in_the_last_place_share_it():
    """One place left and three copies for it, two of class x and one of y: each has a third of a vote, so x wins."""
    train = space_of([[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 1, 0]], list("yxxy"))
    test = Space.of(space_of([[0, 1, 0]]).matrix, labels=["x"])
    scores = Classification(learners=("nearest",), neighbours=1).measure(train, released(train, range(4)), test, released(test, [0]))
    assert scores[0].value == 1


@settings(deadline=None, max_examples=25)
@given(collections(least=4), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(given_, seed, random):
    space, groups = given_
    if len(set(space.labels)) < 2:
        return
    order = list(range(len(space)))
    random.shuffle(order)
    moved, others = space.take(order), groups[order]
    one = Classification(neighbours=3, learners=("nearest", "bayes"))
    test = released(space, groups)
    a = one.measure(space, released(space, groups, seed), space, test)
    b = one.measure(moved, released(moved, others, seed), space, test)
    assert [score.value for score in a] == pytest.approx([score.value for score in b])


@settings(deadline=None, max_examples=15)
@given(collections(least=4), st.integers(0, 2**32 - 1))
def test_without_protection_nothing_is_lost(given_, seed):
    space, _ = given_
    if len(set(space.labels)) < 2:
        return
    whole = released(space, range(len(space)), seed)
    for score in Classification(neighbours=3, learners=("nearest", "bayes")).measure(space, whole, space, whole):
        assert score.value == score.details["original"]


def test_what_cannot_be_learned_is_said(parts):
    train, a, test, b = parts
    with pytest.raises(DataError, match="training documents have no labels"):
        Classification().measure(Space.of(train.matrix), a, test, b)
    with pytest.raises(DataError, match="test documents have no labels"):
        Classification().measure(train, a, Space.of(test.matrix), b)
    with pytest.raises(DataError, match="one class only"):
        Classification().measure(Space.of(train.matrix, labels=["x"] * 120), a, test, b)
    with pytest.raises(DataError, match="other terms"):
        Classification().measure(train, a, Space.of(test.matrix, terms=[f"t{i}" for i in range(40)], labels=test.labels), b)
    with pytest.raises(ParameterError, match="no learner named 'forest'"):
        Classification(learners=("forest",)).measure(train, a, test, b)
    with pytest.raises(ParameterError, match="alpha must be more than 0"):
        Classification(alpha=0)


def test_topics_that_are_clear_are_found():
    space = topics(RNG(4), 150, sure=30.0)
    truth = np.unique(np.array(space.labels), return_inverse=True)[1]
    assert adjusted_rand(spherical_k_means(space.matrix, 3, 5, RNG(0)), truth) > 0.95
    by_topic = np.empty(150, np.int64)
    by_topic[np.argsort(truth, kind="stable")] = np.minimum(np.arange(150) // 5, 29)
    score = TopicAgreement().measure(space, released(space, by_topic), RNG(0))
    assert score.value > 0.9
    assert score.details["ceiling"] > 0.95
    assert score.details["topics"] == 3
    assert score.details["labels_after"] > 0.9
    blind = TopicAgreement().measure(space, released(space, RNG(1).permutation(by_topic)), RNG(0))
    assert blind.value < 0.3
    assert blind.details["ceiling"] > 0.95


@settings(deadline=None, max_examples=30)
@given(collections(), st.integers(2, 4), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_k_means_gives_everyone_a_topic_whatever_the_order(given_, wanted, seed, random):
    space, _ = given_
    wanted = min(wanted, len(space))
    found = spherical_k_means(space.matrix, wanted, 2, RNG(seed))
    assert set(found) == set(range(wanted))
    order = list(range(len(space)))
    random.shuffle(order)
    moved = spherical_k_means(space.matrix[order], wanted, 2, RNG(seed))
    copies = len({row.tobytes() for row in np.round(space.matrix.toarray(), 12)}) < len(space)
    assert copies or adjusted_rand(moved, found[order]) == pytest.approx(1)


def test_too_few_clusters_for_topics():
    space = space_of(np.eye(4))
    with pytest.raises(DataError, match="2 clusters, too few for 10 topics"):
        TopicAgreement().measure(space, released(space, [0, 0, 1, 1]), RNG(0))
    with pytest.raises(DataError, match="one cluster"):
        TopicAgreement().measure(space, released(space, [0] * 4), RNG(0))
    with pytest.raises(ParameterError, match="topics must be 2 or more"):
        TopicAgreement(topics=1)
