"""Intruders: by hand, against releases that protect nothing and releases that tell nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from shoal.collections.attacks import ConceptLinkage, DocumentLinkage, LastMember, Membership, TermLinkage
from shoal.collections.measures import SemanticLoss
from shoal.collections.semantic import Semantic
from shoal.collections.space import Space
from shoal.errors import DataError, ParameterError
from tests.collections.test_measures import RNG, collections, released, space_of
from tests.documents.tiny_wordnet import write_wordnet


@pytest.fixture
def pairs():
    """Two clusters. The third document is nearer to the row of the others, but only its own row has its last term."""
    space = space_of([[9, 1, 0, 0], [9, 0, 1, 0], [8, 0, 0, 1], [0, 0, 4, 9]])
    return space, released(space, [0, 0, 1, 1])


def test_terms_find_what_the_cosine_does_not(pairs):
    space, release = pairs
    cosine = DocumentLinkage(by="cosine").attack(space, release, RNG(0))
    assert (cosine.hit, cosine.strict_hit, cosine.tried, cosine.chance) == (3, 3, 4, 0.5)
    terms = DocumentLinkage(by="terms").attack(space, release, RNG(0))
    assert (terms.hit, terms.rate) == (4, 1)
    strongest = DocumentLinkage().attack(space, release, RNG(0))
    assert (strongest.hit, strongest.details["by"]) == (4, "terms")
    row = DocumentLinkage(wanted="row").attack(space, release, RNG(0))
    assert (row.hit, row.strict_hit, row.chance) == (2, 0, 0.25)
    assert row.details["cluster_rate"] == 1
    assert row.per_record.tolist() == [0.5] * 4


def test_the_cosine_finds_what_terms_do_not_where_terms_were_taken_out():
    """Both rows have the first term, of the second row too little; the third term, which the last documents have, was taken out."""
    space = space_of([[9, 1, 0], [9, 1, 0], [1, 9, 1], [1, 9, 1]])
    release = released(space, [0, 0, 1, 1], centroids=sparse.csr_array([[9.0, 1, 0], [0, 1, 0]]))
    assert DocumentLinkage(by="terms").attack(space, release, RNG(0)).hit == 2
    strongest = DocumentLinkage().attack(space, release, RNG(0))
    assert (strongest.hit, strongest.details["by"]) == (4, "cosine")


def test_rows_that_are_the_same_share():
    """Two clusters with one content: 1/2 for the cluster, 1/4 for the row, nothing for sure."""
    space = space_of([[1, 2]] * 4)
    release = released(space, [0, 0, 1, 1])
    for by in ("terms", "cosine"):
        cluster = DocumentLinkage(by=by).attack(space, release, RNG(0))
        assert (cluster.hit, cluster.strict_hit, cluster.chance) == (2, 0, 0.5)
        assert cluster.note.startswith("4 documents tie")
        assert DocumentLinkage(by=by, wanted="row").attack(space, release, RNG(0)).hit == 1


def test_few_terms():
    """Each document has one term of its own and one that all have: one known term tells it apart or leaves two clusters of one."""
    space = space_of([[1, 1, 0], [1, 0, 1]])
    release = released(space, [0, 1])
    assert TermLinkage(terms=2).attack(space, release, RNG(0)).hit == 2
    hits = [TermLinkage(terms=1).attack(space, release, RNG(seed)).hit for seed in range(200)]
    assert np.mean(hits) == pytest.approx(1.5, abs=0.15)  # 1 for its own term, 1/2 for the other
    assert set(hits) == {1, 1.5, 2}


def test_the_last_of_two_by_hand():
    """x2 = (2 c.x1) c - x1."""
    space = space_of([[1, 0], [3, 4]])
    release = released(space, [0, 0])
    c, x = release.centroids.toarray()[0], space.matrix.toarray()
    assert 2 * (c @ x[0]) * c - x[0] == pytest.approx(x[1])
    found = LastMember().attack(space, release, RNG(0))
    assert (found.hit, found.tried, found.chance) == (2, 2, 0)


@settings(deadline=None, max_examples=60)
@given(collections(), st.integers(0, 2**32 - 1))
def test_the_last_member_is_always_recovered(given_, seed):
    space, groups = given_
    found = LastMember().attack(space, released(space, groups, seed), RNG(0))
    assert found.hit == found.tried == len(space)
    assert found.details["similarity"] == pytest.approx(1)


def test_rounded_weights_leave_the_last_member_inexact_and_found():
    rng = RNG(3)
    space = space_of(rng.integers(0, 4, (12, 9)) + np.eye(12, 9))
    whole = released(space, np.repeat(range(4), 3))
    place = np.argsort(whole.source_row)
    rounded = np.round(whole.centroids.toarray(), 2)[whole.assignment[place[::3]]]
    found = LastMember().attack(space, released(space, np.repeat(range(4), 3), centroids=sparse.csr_array(rounded)), RNG(0))
    assert found.details["exact"] == 0
    assert 0.9 < found.details["similarity"] < 1
    assert found.hit > 6  # near enough to know what is in it


@settings(deadline=None, max_examples=60)
@given(collections(), st.sampled_from(["terms", "cosine"]), st.integers(0, 2**32 - 1))
def test_without_protection_every_document_that_can_be_told_apart_is_found(given_, by, seed):
    space, _ = given_
    found = DocumentLinkage(by=by, wanted="row").attack(space, released(space, range(len(space)), seed), RNG(0))
    _, same, copies = np.unique(np.round(space.matrix.toarray(), 9), axis=0, return_inverse=True, return_counts=True)
    assert found.per_record == pytest.approx(1 / copies[same.ravel()])
    assert found.strict_hit == (copies == 1).sum()
    everything = TermLinkage(terms=100).attack(space, released(space, range(len(space)), seed), RNG(0))
    assert everything.rate > 0


@settings(deadline=None, max_examples=60)
@given(collections(), st.integers(0, 2**32 - 1))
def test_a_row_is_hit_no_more_often_than_one_in_its_cluster(given_, seed):
    space, groups = given_
    release = released(space, groups, seed)
    sizes = np.bincount(groups)[groups]
    for attack in (DocumentLinkage(wanted="row"), DocumentLinkage(wanted="row", by="cosine"), TermLinkage(wanted="row", terms=3)):
        assert (attack.attack(space, release, RNG(seed)).per_record <= 1 / sizes + 1e-12).all()


@pytest.mark.parametrize("attack", [DocumentLinkage(by="terms"), DocumentLinkage(by="cosine"), TermLinkage(terms=3)])
def test_clusters_of_others_tell_no_more_than_chance(attack):
    """Documents put into the clusters of others: on average 1 in as many as there are clusters, of equal size."""
    rng = RNG(5)
    space = space_of(rng.poisson(0.15, (60, 40)) + np.eye(60, 40) + np.eye(60, 40, -40))
    groups = np.repeat(range(12), 5)
    whole = released(space, groups)
    place = np.argsort(whole.source_row)
    rows = whole.matrix(space.terms)[place][::5]
    assert attack.attack(space, whole, RNG(0)).rate > 0.5
    hits = [attack.attack(space, released(space, rng.permutation(groups), centroids=rows), RNG(i)).hit for i in range(60)]
    error = np.std(hits) / np.sqrt(len(hits))
    assert np.mean(hits) == pytest.approx(60 / 12, abs=3 * error)


def test_some_documents_only(pairs):
    space, release = pairs
    found = DocumentLinkage(documents=2).attack(space, release, RNG(0))
    assert found.tried == 2
    assert np.isnan(found.per_record).sum() == 2


@pytest.fixture
def meanings(tmp_path, monkeypatch):
    """Two documents about guns and two about other things, and what they have in common in a small WordNet."""
    monkeypatch.setenv("SHOAL_WORDNET", str(write_wordnet(tmp_path / "wn")))
    terms = ["knife", "man", "pistol", "rifle", "tool"]
    space = Space.of(np.array([[0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0.6, 0.8, 0, 0, 0], [0, 0.8, 0, 0, 0.6]]), terms=terms)
    return space, Semantic(k=2).protect(space, RNG(0))


def test_hypernyms_of_the_nouns_find_the_row(meanings):
    space, release = meanings
    assert set(release.terms) == {"gun.n.01", "man.n.01", "tool.n.01"}
    found = ConceptLinkage().attack(space, release, RNG(0))
    assert (found.hit, found.chance) == (4, 0.5)
    assert ConceptLinkage(wanted="row").attack(space, release, RNG(0)).hit == 2
    assert SemanticLoss().measure(space, release, RNG(0)).value < 0.5
    with pytest.raises(DataError, match="no term of the space"):
        DocumentLinkage().attack(space, release, RNG(0))


def test_meanings_that_all_have_in_common_find_nothing(tmp_path, monkeypatch):
    """Rows that say entity only tie for everybody."""
    monkeypatch.setenv("SHOAL_WORDNET", str(write_wordnet(tmp_path / "wn")))
    space = Space.of(np.repeat([[1.0, 0], [0, 1]], 4, axis=0), terms=["gun", "man"])
    step = Semantic(k=4)
    release = step.protect(space, RNG(0))
    blind = replace(release, centroids=sparse.csr_array([[1.0], [1]]), terms=("entity.n.01",))
    found = ConceptLinkage().attack(space, blind, RNG(0))
    assert (found.hit, found.strict_hit) == (4, 0)
    assert ConceptLinkage().attack(space, release, RNG(0)).hit == 8


def topics(rng, n):
    """Documents of ten words: some of fifty common ones, and some of a thousand rare ones."""
    counts = np.zeros((n, 1050))
    for row in counts:
        row[rng.choice(50, 6, replace=False)] = 1
        row[50 + rng.choice(1000, 4, replace=False)] = 1
    return space_of(counts)


@pytest.mark.parametrize("by", ["terms", "cosine"])
def test_members_are_told_from_outsiders_and_outsiders_from_nobody(by):
    rng = RNG(8)
    space, others = topics(rng, 200), topics(rng, 120)
    release = released(space, np.repeat(range(40), 5))
    found = Membership(by=by).attack(space, release, RNG(0), outsiders=others)
    assert (found.tried, found.chance) == (240, 0.5)
    assert found.rate > 0.9
    assert found.details["auc"] > 0.95
    # of two sets of outsiders neither is nearer
    strange = released(topics(rng, 200), np.repeat(range(40), 5))
    nothing = Membership(by=by).attack(space, strange, RNG(0), outsiders=others)
    assert nothing.details["auc"] == pytest.approx(0.5, abs=0.1)
    assert nothing.interval[0] < 0.5 < nothing.interval[1] + 0.02


def test_members_by_hand():
    """Rows ab and cd. A member lacks nothing, an outsider ac or bd one term."""
    space = space_of([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]])
    outsiders = space_of([[1, 0, 1, 0], [0, 1, 0, 1]])
    release = released(space, [0, 0, 1, 1])
    found = Membership().attack(space, release, RNG(0), outsiders=outsiders)
    assert (found.tried, found.hit, found.details["auc"]) == (4, 4, 1)
    # outsiders who are copies of members: ties count a half, and every decision about a pair of copies is right once
    copies = Membership().attack(space, release, RNG(0), outsiders=space.take([0, 2]))
    assert (copies.hit, copies.details["auc"]) == (2, 0.5)


def test_what_an_intruder_cannot_do_is_said(pairs):
    space, release = pairs
    with pytest.raises(DataError, match="needs outsiders"):
        Membership().attack(space, release, RNG(0))
    with pytest.raises(DataError, match="other terms"):
        Membership().attack(space, release, RNG(0), outsiders=space_of([[1, 1]] * 3))
    with pytest.raises(DataError, match="Two members and two outsiders"):
        Membership().attack(space, release, RNG(0), outsiders=space.take([0]))
    with pytest.raises(DataError, match="holds words, not meanings"):
        ConceptLinkage().attack(space, release, RNG(0))
    with pytest.raises(ParameterError, match="terms must be 1 or more"):
        TermLinkage(terms=0)
    with pytest.raises(ParameterError, match="wanted must be"):
        DocumentLinkage(wanted="all")
