"""Queries on a release: by hand, and beside a plain ranking."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shoal.collections.queries import QueryAgreement, agreement, ask, drawn_queries
from shoal.collections.side_by_side import side_by_side
from shoal.collections.space import Space
from shoal.errors import ParameterError
from tests.collections.test_measures import RNG, collections, released, space_of


def test_asking_a_release_by_hand():
    space = Space.of([[0.6, 0.8, 0], [0.8, 0.6, 0], [0, 0, 1.0]], terms=["oil", "price", "wheat"])
    release = released(space, [0, 0, 1])
    pair = side_by_side(space, release)
    oil, wheat = (int(pair.cluster[row]) for row in (0, 2))
    assert ask(release, ["oil", "price"]) == [(oil, pytest.approx(1))]
    assert ask(release, ["oil", "wheat"]) == [(wheat, pytest.approx(0.5**0.5)), (oil, pytest.approx(0.5))]
    assert ask(release, ["wheat", "gold"]) == [(wheat, pytest.approx(0.5**0.5))]  # a word nobody knows counts too
    assert ask(release, ["gold"]) == []
    with pytest.raises(ParameterError, match="no words"):
        ask(release, [])


def test_f1_by_hand():
    """The two best for term 0 are documents a and b; in the release, c stands where a does: a and b tie with it, and names decide."""
    space = Space.of(space_of([[9, 1], [3, 1], [1, 3], [0, 1]]).matrix, names=["a", "b", "c", "d"])
    release = released(space, [0, 1, 0, 1])
    query = sparse.csr_array([[1.0, 0.0]])
    assert agreement(side_by_side(space, release), query, space.names, 2) == pytest.approx([0.5])  # a, b against a, c
    assert agreement(side_by_side(space, release), query, space.names, 4) == pytest.approx([6 / 7])  # d has no score before
    renamed = Space.of(space.matrix, names=["z", "b", "c", "d"])
    assert agreement(side_by_side(renamed, release), query, renamed.names, 1) == pytest.approx([0])  # of a and c, c comes first


def plain_f1(space, rows, query, results):
    """Rank, cut, intersect."""
    found = []
    for x in (space.matrix.toarray(), rows):
        scores = np.round(x @ query, 9)
        ranked = sorted((-score, name) for score, name in zip(scores, space.names) if score > 0)
        found.append({name for _, name in ranked[:results]})
    return 2 * len(found[0] & found[1]) / (len(found[0]) + len(found[1])) if found[0] or found[1] else 1.0


@settings(deadline=None, max_examples=60)
@given(collections(), st.sampled_from(["random", "top"]), st.integers(1, 4), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_agreement_is_that_of_plain_rankings(given_, kind, length, results, seed):
    space, groups = given_
    release = released(space, groups, seed)
    queries = drawn_queries(space, kind, length, 5, RNG(seed))
    rows = release.matrix(space.terms)[np.argsort(release.source_row)].toarray()
    expected = [plain_f1(space, rows, query, results) for query in queries.toarray()]
    assert agreement(side_by_side(space, release), queries, space.names, results) == pytest.approx(expected)


@settings(deadline=None, max_examples=30)
@given(collections(), st.integers(0, 2**32 - 1))
def test_an_unprotected_space_answers_as_before(given_, seed):
    space, _ = given_
    score = QueryAgreement(queries=10, results=3).measure(space, released(space, range(len(space)), seed), RNG(seed))
    assert (score.value, score.interval) == (1, (1, 1))
    assert len(score.details["f1"]) == 6


def test_queries_are_what_they_are_said_to_be():
    space = space_of([[5, 4, 0, 0, 1, 0], [0, 1, 9, 9, 3, 0], [1, 0, 0, 0, 0, 0]])
    tops = {tuple(np.flatnonzero(row)) for row in drawn_queries(space, "top", 2, 50, RNG(0)).toarray()}
    assert tops == {(0, 1), (2, 3), (0,)}
    random = drawn_queries(space, "random", 3, 100, RNG(0))
    assert (np.diff(random.indptr) == 3).all()
    assert not (random.toarray()[:, 5]).any()  # a term of no document is not asked for
    assert len({tuple(np.flatnonzero(row)) for row in random.toarray()}) == 10


@pytest.mark.parametrize(
    ("wrong", "sentence"), [({"queries": 0}, "queries must be 1"), ({"results": 0}, "results must be 1"), ({"lengths": ()}, "lengths")]
)
def test_wrong_parameters(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        QueryAgreement(**wrong)


def test_queries_of_no_term():
    space = space_of(np.eye(2))
    with pytest.raises(ParameterError, match="at least one term"):
        QueryAgreement(lengths=(0, 1)).measure(space, released(space, [0, 0]), RNG(0))
