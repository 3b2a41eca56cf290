"""What a release costs and gives away: by hand, by closed forms, and on Reuters."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shoal.collections import MEASURES
from shoal.collections.build import Builder
from shoal.collections.clusters import TopicAgreement
from shoal.collections.measures import (
    Distances,
    EuclideanLoss,
    NormalisedLoss,
    OneClass,
    SemanticLoss,
    SoleTerms,
    SphericalLoss,
    UniqueLabels,
    Words,
    cosine_loss,
    euclidean_loss,
)
from shoal.collections.queries import QueryAgreement
from shoal.collections.release import CollectionRelease
from shoal.collections.side_by_side import side_by_side
from shoal.collections.space import Space, unit_rows
from shoal.errors import DataError
from shoal.release import Step

RNG = np.random.default_rng


def released(space, groups, seed=0, centroids=None):
    """Sums of the groups brought to length 1, or the centroids given, closed as a method would."""
    groups = np.asarray(groups, np.int64)
    if centroids is None:
        table = sparse.csr_array((np.ones(len(groups)), (groups, np.arange(len(groups)))))
        centroids = unit_rows(table @ space.matrix)
    return CollectionRelease.of(centroids, groups, space.terms, Step("by hand", {}, (), (), ""), RNG(seed))


def space_of(rows, labels=None):
    return Space.of(unit_rows(np.array(rows, float)), labels=labels)


@st.composite
def collections(draw, least=2):
    """A space of a few documents of small counts, and groups of them."""
    n, d = draw(st.integers(least, 14)), draw(st.integers(1, 8))
    counts = draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d).filter(any), min_size=n, max_size=n))
    labels = draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    groups = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    return space_of(counts, labels), np.unique(groups, return_inverse=True)[1]


@pytest.fixture
def small():
    """Six documents in pairs; the thesis's weights, no stop words, words of one document left out."""
    texts = ["a a b", "a b", "c d", "c d d", "e f", "e e f b"]
    space = Builder(stop_words="none", keep="all").build(texts, labels=list("xxyyxy"))
    return space, released(space, [0, 0, 1, 1, 2, 2])


def test_losses_of_three_pairs(small):
    space, release = small
    cosine = SphericalLoss().measure(space, release, RNG(0))
    assert cosine.details["sse"] == pytest.approx(0.086315, abs=5e-7)
    assert cosine.details["ssa"] == pytest.approx(2.469154, abs=5e-7)
    assert cosine.value == pytest.approx(0.033777, abs=5e-7)
    euclidean = EuclideanLoss().measure(space, release, RNG(0))
    assert euclidean.value == pytest.approx(0.042997, abs=5e-7)
    assert "do not compare" in euclidean.note


def test_two_documents_at_right_angles():
    space = space_of([[1, 0], [0, 1]])
    loss = cosine_loss(side_by_side(space, released(space, [0, 0])))
    assert loss.sse == pytest.approx(0.585786, abs=5e-7)
    assert (loss.ssa, loss.normalised) == (0, pytest.approx(1))


def test_a_document_that_was_not_released_is_at_distance_1():
    # Three documents, the first two alike and released as they are: nothing is lost of them, and all of the third.
    space = space_of([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    whole = released(space_of([[1, 0, 0], [1, 0, 0]]), [0, 0])
    loss = cosine_loss(side_by_side(space, whole))
    assert loss.sse == pytest.approx(1)
    # The middle of all is (2, 1) / √5: two documents at 1 - 2/√5 and one at 1 - 1/√5.
    assert loss.sst == pytest.approx(3 - np.sqrt(5))
    assert loss.ssa == pytest.approx(2 - 4 / np.sqrt(5))


def test_what_clusters_give_away(small):
    space, release = small
    assert OneClass().measure(space, release, RNG(0)).value == pytest.approx(2 / 3)
    assert UniqueLabels().measure(space, release, RNG(0)).value == pytest.approx(2 / 6)
    sole = SoleTerms().measure(space, release, RNG(0))
    assert (sole.value, sole.details["entries"]) == (pytest.approx(1 / 7), 7)  # b of the last document


def test_chance_of_one_class_only():
    """Of 4 documents, 2 and 2, a pair has one label in 2 of 6 ways; what all permutations give on average."""
    space = space_of(np.eye(4), list("xxyy"))
    score = OneClass().measure(space, released(space, [0, 0, 1, 1]), RNG(0))
    assert (score.value, score.details["chance"]) == (1, pytest.approx(1 / 3))


def test_cutting_terms_off_lowers_the_published_loss_and_raises_the_normalised_one():
    space = space_of([[1, 2, 3, 3, 0], [0, 3, 3, 0, 1], [3, 1, 1, 3, 1], [1, 2, 2, 0, 0]])
    whole = released(space, [0, 0, 1, 1])
    centroids = side_by_side(space, whole).centroids.toarray()
    order = side_by_side(space, whole).cluster[[0, 2]]
    heaviest = np.where(centroids >= np.sort(centroids, axis=1)[:, -2:-1], centroids, 0)[order]
    cut = released(space, [0, 0, 1, 1], centroids=heaviest)
    before, after = (cosine_loss(side_by_side(space, one)) for one in (whole, cut))
    assert after.sse > 1.5 * before.sse
    assert after.share < 0.6 < 0.7 < before.share
    assert after.normalised > 1.5 * before.normalised


@settings(deadline=None, max_examples=60)
@given(collections(), st.integers(0, 2**32 - 1))
def test_closed_forms_are_direct_sums(given_, seed):
    space, groups = given_
    x = space.matrix.toarray()
    pair = side_by_side(space, released(space, groups, seed))
    sums = np.array([x[groups == g].sum(axis=0) for g in range(groups.max() + 1)])
    lengths, sizes, total = np.linalg.norm(sums, axis=1), np.bincount(groups), np.linalg.norm(x.sum(axis=0))
    loss = cosine_loss(pair)
    assert loss.sse == pytest.approx(len(x) - lengths.sum(), abs=1e-9)
    assert loss.sse == pytest.approx(sum(1 - x[i] @ (sums[g] / lengths[g]) for i, g in enumerate(groups)), abs=1e-9)
    middle = x.sum(axis=0) / total
    assert loss.ssa == pytest.approx(sum(n * (1 - s / length @ middle) for n, s, length in zip(sizes, sums, lengths)), abs=1e-9)
    assert loss.sst == pytest.approx(sum(1 - row @ middle for row in x), abs=1e-9)
    assert loss.normalised is None or -1e-9 <= loss.normalised <= 1 + 1e-9
    euclidean = euclidean_loss(pair)
    means = sums / sizes[:, None]
    assert euclidean.sse == pytest.approx(((x - means[groups]) ** 2).sum(), abs=1e-9)
    assert euclidean.sst == pytest.approx(((x - x.mean(axis=0)) ** 2).sum(), abs=1e-9)
    assert euclidean.sse + euclidean.ssa == pytest.approx(euclidean.sst, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(collections(), st.integers(0, 2**32 - 1))
def test_what_is_given_away_is_what_one_counts(given_, seed):
    space, groups = given_
    release = released(space, groups, seed)
    inside = Counter(zip(groups.tolist(), space.labels))
    assert UniqueLabels().measure(space, release, RNG(0)).value == pytest.approx(sum(n == 1 for n in inside.values()) / len(space))
    labels = [{label for g, label in inside if g == group} for group in range(groups.max() + 1)]
    one = OneClass().measure(space, release, RNG(0))
    assert one.value == pytest.approx(np.mean([len(found) == 1 for found in labels]))
    pairs = list(combinations(space.labels, 2))
    if (np.bincount(groups) == 2).all():
        assert one.details["chance"] == pytest.approx(np.mean([a == b for a, b in pairs]))
    owners = Counter((g, t) for g, row in zip(groups.tolist(), space.matrix.toarray()) for t in np.flatnonzero(row))
    assert SoleTerms().measure(space, release, RNG(0)).value == pytest.approx(np.mean([n == 1 for n in owners.values()]))
    words = Words().measure(space, release, RNG(0))
    assert words.value == pytest.approx(np.mean([sum(g == mine for g, _ in owners) for mine in groups]))


@settings(deadline=None, max_examples=40)
@given(collections(), st.integers(0, 2**32 - 1))
def test_shares_of_distances_are_those_of_all_pairs(given_, seed):
    space, groups = given_
    release = released(space, groups, seed)
    score = Distances().measure(space, release, RNG(0))
    rows = {"shares_before": space.matrix.toarray(), "shares": release.matrix().toarray()}
    for which, x in rows.items():
        shares = np.zeros(11)
        for a, b in combinations(range(len(x)), 2):
            similar = x[a] @ x[b]
            shares[10 if similar == 0 else max(0, min(9, int((1 - similar) * 10 + 1e-9)))] += 1
        assert score.details[which] == pytest.approx(shares / shares.sum(), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(collections(), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_row_order_changes_nothing(given_, seed, random):
    space, groups = given_
    order = list(range(len(space)))
    random.shuffle(order)
    moved, others = space.take(order), groups[order]
    for measure in set(MEASURES) - {SemanticLoss, QueryAgreement, TopicAgreement}:  # the first needs meanings, the others draw
        a, b = (measure().measure(s, released(s, g, seed), RNG(0)).value for s, g in ((space, groups), (moved, others)))
        assert a == pytest.approx(b, abs=1e-9)


def test_nothing_lost_where_all_documents_are_the_same():
    space = space_of([[1, 2]] * 4, list("xxxx"))
    release = released(space, [0, 0, 1, 1])
    for measure in (NormalisedLoss, SphericalLoss, EuclideanLoss):
        score = measure().measure(space, release, RNG(0))
        assert score.value is None
        assert "same" in score.note
    assert "one label only" in OneClass().measure(space, release, RNG(0)).note


def test_a_release_of_other_terms_cannot_be_compared():
    space = space_of(np.eye(4), list("xxyy"))
    away = CollectionRelease.of(np.eye(2), np.array([0, 0, 1, 1]), ("other", "words"), Step("by hand", {}, (), (), ""), RNG(0))
    for measure in (NormalisedLoss, SphericalLoss, SoleTerms):
        with pytest.raises(DataError, match="no term of the space"):
            measure().measure(space, away, RNG(0))
    with pytest.raises(DataError, match="holds words, not meanings"):
        SemanticLoss().measure(space, away, RNG(0))
    assert Words().measure(space, away, RNG(0)).value == 1
    assert OneClass().measure(space, away, RNG(0)).value == 1


def test_what_does_not_fit_is_said(small):
    space, release = small
    bare = Space.of(space.matrix)
    for measure in (OneClass, UniqueLabels):
        with pytest.raises(DataError, match="have no labels"):
            measure().measure(bare, release, RNG(0))
    with pytest.raises(DataError, match="does not belong to this space"):
        NormalisedLoss().measure(space.take([0, 1, 2]), release, RNG(0))
    unknown = CollectionRelease(release.centroids, release.assignment, release.terms, (), np.full(6, -1))
    with pytest.raises(DataError, match="not known which document"):
        NormalisedLoss().measure(space, unknown, RNG(0))
    broken = CollectionRelease(release.centroids, np.zeros(6, np.int64), release.terms, (), release.source_row)
    with pytest.raises(DataError, match="not whole"):
        NormalisedLoss().measure(space, broken, RNG(0))
    with pytest.raises(DataError, match="one document"):
        Distances().measure(space.take([0]), released(space.take([0]), [0]), RNG(0))
