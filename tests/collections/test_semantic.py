"""Semantic microaggregation: the thesis's examples, a small WordNet by hand, and what must hold for any documents."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from shoal.collections import semantic
from shoal.collections.build import Builder
from shoal.collections.release import CollectionRelease
from shoal.collections.semantic import Concepts, Semantic, SemanticSums, semantic_sums, sums_of
from shoal.collections.space import Space, unit_rows
from shoal.collections.spherical import Spherical
from shoal.errors import DataError, ParameterError
from shoal.kernels.distance_groups import distance_groups, swap_by_distance
from shoal.kernels.matching import Documents, Rules, aggregate, distances_between
from tests.data import data_path
from tests.documents.tiny_wordnet import real_wordnet, write_wordnet

PUBLISHED = Rules()  # weighted and greedy
RULES = [Rules(nltk, weighted, optimal) for nltk in (False, True) for weighted in (False, True) for optimal in (False, True)]
EXAMPLE_8 = [
    {"butterfly": 0.4, "performance": 0.2, "pen": 0.1, "dog": 0.3},
    {"computer": 0.1, "cat": 0.2, "approach": 0.2, "beetle": 0.5},
]
TABLE_4_7 = [
    {"keyboard": 0.3, "laptop": 0.4, "software": 0.3},
    {"horse": 0.7, "dog": 0.2, "cat": 0.1},
    {"hardware": 0.3, "screen": 0.3, "computer": 0.4},
    {"lion": 0.5, "monkey": 0.3, "tiger": 0.2},
]


@pytest.fixture(scope="module", autouse=True)
def wordnet(request, tmp_path_factory):
    """A small WordNet for all tests but those that ask for the real one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_WORDNET", str(write_wordnet(tmp_path_factory.mktemp("wn"))))
        yield patch


@pytest.fixture
def real(monkeypatch):
    monkeypatch.delenv("SHOAL_WORDNET")
    return real_wordnet()


def concepts_of(documents: list[dict[str, float]], rules: Rules = PUBLISHED, most: int = 50) -> Concepts:
    """In the order given."""
    terms = tuple(sorted({term for document in documents for term in document}))
    made = Concepts.of(sparse.csr_array([[document.get(term, 0) for term in terms] for document in documents]), terms, most, rules)
    order = np.argsort(made.row)
    return replace(made, documents=made.documents.take(order), row=made.row[order])


def distance(concepts: Concepts, one: int, other: int) -> float:
    return float(distances_between(concepts.meanings, concepts.documents, concepts.documents, ([one], [other]), concepts.rules)[0])


def shown(concepts: Concepts, order: list[int]) -> dict[str, float]:
    synsets, weights = aggregate(concepts.meanings, concepts.documents, np.array(order), concepts.rules)
    return {concepts.wordnet.words[synset][0]: round(float(weight), 9) for synset, weight in zip(synsets, weights)}


# --- the thesis


@pytest.mark.parametrize("nltk", [False, True])
def test_examples_8_and_9(real, nltk):
    concepts = concepts_of(EXAMPLE_8, Rules(nltk))
    assert distance(concepts, 0, 1) == pytest.approx(0.0444358, abs=5e-8)
    assert shown(concepts, [0, 1]) == {"insect": 0.45, "carnivore": 0.25, "action": 0.2, "instrumentality": 0.1}
    assert distance(concepts_of(EXAMPLE_8, Rules(nltk, weighted=False)), 0, 1) == pytest.approx(0.2141563, abs=5e-8)


def test_table_4_7(real):
    concepts = concepts_of(TABLE_4_7)
    published = {(0, 1): 0.1446, (0, 2): 0.1220, (0, 3): 0.2133, (1, 2): 0.0918, (1, 3): 0.0507, (2, 3): 0.1183}
    distances = concepts.distances()
    for (i, j), value in published.items():
        assert distances[i, j] == distances[j, i] == pytest.approx(value, abs=5e-5)
    assert shown(concepts, [0, 2]) == {"computer": 0.4, "instrumentality": 0.3, "abstraction": 0.3}
    assert shown(concepts, [1, 3]) == {"placental": 0.5, "big_cat": 0.3, "carnivore": 0.2}


@pytest.mark.parametrize("rules", RULES)
def test_table_4_7s_clusters_under_every_reading(real, rules):
    groups = distance_groups(concepts_of(TABLE_4_7, rules).distances(), 2)
    assert groups[0] == groups[2] != groups[1] == groups[3]


def test_loss_of_50_documents_of_reuters(real):
    """Within ten points of another implementation of (4.20) to (4.22) on like documents: the first 50 with 50 nouns."""
    texts = []
    for part in ("train", "test"):
        lines = data_path("reuters_r8", f"r8-{part}-all-terms.txt").read_text().splitlines()
        texts += [line.partition("\t")[2] for line in lines if not line.startswith("trade\t")]
    space = Builder().build(texts[:1500])
    matrix, nouns = space.matrix, np.array([bool(real.senses(term, "n")) for term in space.terms])
    many = [row for row in range(len(space)) if nouns[matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]].sum() >= 50]
    space = space.take(np.array(many[:50]))
    for weighting, seen in (("frequency", {2: 21.6, 3: 51.7, 5: 69.7, 10: 83.0}), ("none", {2: 15.7, 3: 38.7, 5: 54.2, 10: 75.4})):
        for k, per_cent in seen.items():
            release = Semantic(k=k, weighting=weighting, swaps=0).protect(space, np.random.default_rng(0))
            assert 100 * (semantic_sums(space, release).loss or 0) == pytest.approx(per_cent, abs=10)


# --- by hand, on the small WordNet: entity 1, artifact 2, device 3, weapon and tool 4, gun and knife 5, pistol and rifle 6


def test_each_noun_takes_the_cheapest_left():
    """pistol (.6) takes rifle: .35 * 2/12. gun (.4) is left with man: .65 * 5/7, where rifle would have cost .25 * 1/11."""
    concepts = concepts_of([{"pistol": 0.6, "gun": 0.4}, {"man": 0.9, "rifle": 0.1}])
    there = (0.35 * 2 / 12 + 0.65 * 5 / 7) / 2
    # The other way man chooses first: pistol costs .75 * 6/8, gun .65 * 5/7, and rifle is left with pistol: the same pairs.
    assert distance(concepts, 0, 1) == pytest.approx(there)
    assert shown(concepts, [0, 1]) == {"entity": 0.65, "gun": 0.35}


def test_a_noun_left_over_is_dropped_and_counts_for_the_length():
    """pistol goes with rifle; the way from the longer document has the larger divisor, so it is the shorter one."""
    concepts = concepts_of([{"pistol": 0.5, "man": 0.3}, {"rifle": 0.5}])
    assert distance(concepts, 0, 1) == distance(concepts, 1, 0) == pytest.approx(0.5 * 2 / 12 / 2)
    assert shown(concepts, [0, 1]) == shown(concepts, [1, 0]) == {"gun": 0.5}


def test_of_equally_cheap_nouns_the_lightest_is_taken():
    """handgun and pistol are the same synset: both are at 0 from it, and only one of two can be taken."""
    concepts = concepts_of([{"pistol": 0.5}, {"pistol": 0.6, "handgun": 0.2}])
    assert shown(concepts, [0, 1]) == {"pistol": 0.35}


def test_each_of_three_documents_has_a_third_of_the_weight():
    concepts = concepts_of([{"pistol": 0.3}, {"rifle": 0.6}, {"knife": 0.9}])
    assert shown(concepts, [0, 1, 2]) == {"weapon": 0.6}


def test_matchings_that_differ():
    """Greedy: pistol takes handgun at 0 and leaves gun to man. Optimal may not cost more."""
    documents = [{"pistol": 0.5, "gun": 0.4}, {"gun": 0.5, "man": 0.4}]
    greedy, optimal = concepts_of(documents, Rules(weighted=False)), concepts_of(documents, Rules(weighted=False, optimal=True))
    assert distance(greedy, 0, 1) == pytest.approx(min(1 / 11 + 5 / 7, 0 + 6 / 8) / 2)
    assert distance(optimal, 0, 1) == pytest.approx((0 + 6 / 8) / 2)


def test_only_the_heaviest_nouns_count():
    concepts = concepts_of([{"pistol": 0.5, "man": 0.3, "quickly": 0.9}, {"rifle": 0.5, "arm": 0.5, "gun": 0.1}], most=1)
    assert np.diff(concepts.documents.starts).tolist() == [1, 1]
    assert shown(concepts, [0, 1]) == {"weapon": 0.5}  # arm before rifle: equal weights go by term


def test_sums_by_hand():
    """Two groups of two equal documents: nothing is lost within; between them, everything."""
    documents = [{"pistol": 1.0}, {"rifle": 1.0}, {"pistol": 1.0}, {"rifle": 1.0}]
    concepts = concepts_of(documents)
    groups = np.array([0, 1, 0, 1])
    apart = sums_of(concepts, groups, concepts.centroids(groups))
    assert apart == SemanticSums(0, pytest.approx(4 * (1 / 11) ** 2), pytest.approx(4 * (1 / 11) ** 2))  # each is a step below gun
    together = np.zeros(4, np.int64)
    assert sums_of(concepts, together, concepts.centroids(together)) == SemanticSums(
        pytest.approx(4 * (1 / 11) ** 2), 0, pytest.approx(apart.sst)
    )
    assert (apart.loss, sums_of(concepts_of([{"gun": 1.0}] * 2), np.zeros(2, np.int64), concepts_of([{"gun": 1.0}]).documents).loss) == (
        0,
        None,
    )


def test_a_release_by_hand():
    """Pistols and rifles become guns; men stay men. Equal synsets of a row are one term."""
    space = Space.of(unit_rows([[3, 4, 0, 0], [4, 3, 0, 0], [0, 0, 1, 0], [0, 0, 1, 0]]), ["pistol", "handgun", "man", "gun"])
    release = Semantic(k=2).protect(space, np.random.default_rng(1))
    assert release.terms == ("pistol.n.01", "man.n.01")
    rows = release.centroids[release.assignment].toarray()
    assert rows[np.argsort(release.source_row)] == pytest.approx(np.array([[1.4, 0], [1.4, 0], [0, 1], [0, 1]]))
    assert semantic_sums(space, release).loss == 0
    assert [(promise.what, promise.value) for promise in release.promises] == [("k-anonymity", 2)]


# --- what must hold for any documents

NOUNS = ("arm", "gun", "handgun", "knife", "man", "pistol", "rifle", "tool", "weapon")
WEIGHTS = arrays.arrays(np.int64, st.tuples(st.integers(4, 14), st.just(len(NOUNS))), elements=st.sampled_from([0, 0, 1, 2, 3]))


def space_of(weights) -> Space:
    weights = weights.copy()
    weights[weights.sum(axis=1) == 0, 0] = 1
    return Space.of(unit_rows(weights), NOUNS)


def documents_and_rows(space: Space, release: CollectionRelease) -> Counter:
    """Each document beside what stands for it."""
    rows = release.matrix(sorted(release.terms)).toarray()
    originals = space.matrix.toarray()[release.source_row]
    return Counter((original.tobytes(), row.tobytes()) for original, row in zip(originals, rows))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(weights=WEIGHTS, k=st.integers(2, 4), rules=st.sampled_from(RULES), swaps=st.integers(0, 2), seed=st.integers(0, 9))
def test_rows_are_the_same_k_times_in_any_order(weights, k, rules, swaps, seed):
    space = space_of(weights)
    method = Semantic(
        k=k,
        swaps=swaps,
        rule="nltk" if rules.nltk else "best",
        weighting="frequency" if rules.weighted else "none",
        matching="optimal" if rules.optimal else "greedy",
    )
    rng = np.random.default_rng(seed)
    release = method.protect(space, rng)
    assert min(Counter(row.tobytes() for row in release.matrix().toarray()).values()) >= k
    sizes = np.bincount(release.assignment)
    assert sizes.sum() == len(space)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    shuffled = space.take(rng.permutation(len(space)))
    again = method.protect(shuffled, rng)
    assert documents_and_rows(shuffled, again) == documents_and_rows(space, release)
    assert semantic_sums(shuffled, again) == pytest.approx(semantic_sums(space, release))


@settings(max_examples=40)
@given(weights=WEIGHTS, weighted=st.booleans())
def test_distances(weights, weighted):
    """Symmetric, 0 to itself, the same with and without the matrix of nouns; optimal is what scipy finds, and never above greedy."""
    space = space_of(weights)
    greedy = Concepts.of(space.matrix, space.terms, 50, Rules(weighted=weighted))
    optimal = replace(greedy, rules=Rules(weighted=weighted, optimal=True))
    n = len(greedy)
    first, second = (side.ravel() for side in np.indices((n, n)))
    for concepts in (greedy, optimal):
        found = concepts.distances()
        assert (found == found.T).all()
        assert (np.diag(found) == 0).all()
        direct = distances_between(concepts.meanings, concepts.documents, concepts.documents, (first, second), concepts.rules)
        assert direct.reshape(n, n) == pytest.approx(found, abs=1e-6)
    assert (optimal.distances() <= greedy.distances() + 1e-6).all()
    one, other = (greedy.documents.take(np.array([i])) for i in (0, 1))
    assert optimal.distances()[0, 1] == pytest.approx(by_scipy(greedy, one, other, weighted), abs=1e-6)


def by_scipy(concepts: Concepts, one: Documents, other: Documents, weighted: bool) -> float:
    from shoal.kernels.wu_palmer import dissimilarities

    cost = dissimilarities(concepts.meanings, one.meanings, other.meanings, False).astype(float)
    if weighted:
        cost *= (one.weights[:, None] + other.weights) / 2
    return float(cost[linear_sum_assignment(cost)].sum()) / max(cost.shape)


@settings(max_examples=60)
@given(
    points=arrays.arrays(np.float64, st.tuples(st.integers(2, 20), st.just(2)), elements=st.floats(0, 0.6875, width=16)),
    k=st.integers(2, 5),
)
def test_groups_by_distance(points, k):
    distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)).astype(np.float32)
    groups = distance_groups(distances, k)
    assert (groups == plainly(distances, k)).all()
    better = swap_by_distance(distances, groups, k, 5)
    for found in (groups, better):
        sizes = np.bincount(found)
        assert len(points) < 2 * k or (sizes.min() >= k and sizes.max() < 2 * k)
    assert inside(distances, better) <= inside(distances, groups) + 1e-12


def plainly(distances, k):
    """MDAV by lists."""
    left, groups, made = list(range(len(distances))), np.full(len(distances), -1), 0
    whole = np.rint(distances.astype(float) * 2**40).astype(np.int64)
    while len(left) >= 2 * k:
        sides = 2 if len(left) >= 3 * k else 1
        first = max(left, key=lambda i: (whole[i, left].sum(), -i))
        for side in range(sides):
            if side:
                first = max(left, key=lambda i: (distances[first, i], -i))
            for i in sorted(left, key=lambda i: (i != first, distances[first, i], i))[:k]:
                groups[i] = made
                left.remove(i)
            made += 1
    groups[left] = made
    return groups


def inside(distances, groups):
    return sum(
        (distances[np.ix_(groups == g, groups == g)].astype(float) ** 2).sum() / 2 / (groups == g).sum() for g in set(groups.tolist())
    )


def test_swaps_find_the_pairs_that_mdav_missed():
    """On a line at 0, .1, .2, .3, .7 and .8: exchanging rows leads to neighbours."""
    places = np.array([0, 0.1, 0.2, 0.3, 0.7, 0.8])
    distances = np.abs(places[:, None] - places).astype(np.float32)
    assert swap_by_distance(distances, np.array([0, 1, 0, 1, 2, 2]), 2, 3).tolist() in ([0, 0, 1, 1, 2, 2], [1, 1, 0, 0, 2, 2])
    with pytest.raises(ValueError, match="must have k = 2 to 3 rows; these have 1 to 5"):
        swap_by_distance(distances, np.array([0, 1, 1, 1, 1, 1]), 2, 3)
    with pytest.raises(ValueError, match="square matrix"):
        distance_groups(distances[:2], 2)


# --- what is not as it should be


def test_too_few_documents():
    with pytest.raises(DataError, match=r"The space has 4 documents with nouns, fewer than k = 5\. Use k of at most 4\."):
        Semantic(k=5).protect(space_of(np.eye(4, len(NOUNS), dtype=np.int64)), np.random.default_rng(0))
    with pytest.raises(DataError, match="One document cannot be hidden among others"):
        Semantic(k=2).protect(space_of(np.eye(1, len(NOUNS), dtype=np.int64)), np.random.default_rng(0))
    with pytest.raises(ParameterError, match="semantic: k must be 2 or more, got 1"):
        Semantic(k=1)


def test_documents_without_nouns_are_dropped_and_counted():
    space = Space.of(unit_rows([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]]), ["gun", "covert", "rifle"])
    release = Semantic(k=2).protect(space, np.random.default_rng(0))
    assert sorted(release.source_row.tolist()) == [0, 2, 3]
    assert release.warnings == ("1 document has no noun and is not in the release.",)
    assert semantic_sums(space, release).sse >= 0
    with pytest.raises(DataError, match="does not belong to this space"):
        semantic_sums(space.take([0, 2]), release)


def test_no_nouns_and_stems():
    with pytest.raises(DataError, match="No term of the documents is a noun"):
        Semantic().protect(Space.of(np.eye(3), ["qui", "quae", "quod"]), np.random.default_rng(0))
    stemmed = replace(space_of(np.eye(4, len(NOUNS), dtype=np.int64)), built={"reduce": "stems"})
    with pytest.raises(DataError, match="WordNet does not know stems"):
        Semantic().protect(stemmed, np.random.default_rng(0))


def test_too_much_to_compare(monkeypatch):
    space = space_of(np.eye(6, len(NOUNS), dtype=np.int64))
    monkeypatch.setattr(semantic, "MOST_DOCUMENTS", 5)
    with pytest.raises(DataError, match="at most 5 documents, and the space has 6"):
        Semantic().protect(space, np.random.default_rng(0))
    monkeypatch.setattr(semantic, "MOST_DOCUMENTS", 6)
    monkeypatch.setattr(semantic, "MOST_NOUNS", 5)
    with pytest.raises(DataError, match="at most 5 nouns, and the documents have 6"):
        Semantic().protect(space, np.random.default_rng(0))


def test_wordnet_absent_or_of_another_shape(monkeypatch, tmp_path):
    space = space_of(np.eye(4, len(NOUNS), dtype=np.int64))
    monkeypatch.setenv("SHOAL_WORDNET", str(tmp_path))
    with pytest.raises(DataError, match="does not hold WordNet"):
        Semantic().protect(space, np.random.default_rng(0))
    monkeypatch.setenv("SHOAL_WORDNET", str(write_wordnet(tmp_path / "two", nouns=[("gun", "", "a"), ("man", "", "b")])))
    with pytest.raises(DataError, match="no one noun above all others"):
        Semantic().protect(space, np.random.default_rng(0))


def test_loss_of_another_method():
    space = space_of(np.eye(4, len(NOUNS), dtype=np.int64))
    with pytest.raises(DataError, match="holds words, not meanings"):
        semantic_sums(space, Spherical(k=2).protect(space, np.random.default_rng(0)))
