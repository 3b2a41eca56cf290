"""Dissimilarity of nouns: by hand on a small WordNet, against plain loops on random taxonomies, and published values on the real one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.collections.semantic import _nouns
from shoal.kernels.wu_palmer import Meanings, common, dissimilarities, dissimilarity_matrix, meanings_of, taxonomy_of
from shoal.text.wordnet import WordNet, read_wordnet
from tests.documents.tiny_wordnet import real_wordnet, write_wordnet

RULES = pytest.mark.parametrize("nltk", [False, True], ids=["best", "nltk"])


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> WordNet:
    return read_wordnet(write_wordnet(tmp_path_factory.mktemp("wn")))


@pytest.fixture(scope="module")
def real() -> WordNet:
    return real_wordnet()


def words(wordnet: WordNet, *found: str) -> tuple[Meanings, np.ndarray]:
    meanings = meanings_of(_nouns(wordnet), [wordnet.senses(word, "n") for word in found])
    return meanings, np.arange(meanings.synsets, meanings.synsets + len(found))


def shared(wordnet: WordNet, one: str, other: str, nltk: bool) -> tuple[float, str]:
    far, synset = common(meanings_of(_nouns(wordnet), []), wordnet.named(one), wordnet.named(other), nltk)
    return far, wordnet.name(synset)


@RULES
def test_synsets_by_hand(tiny, nltk):
    """weapon has depth 4 (entity, artifact, device, weapon); pistol and rifle are one step below gun, which has 5."""
    assert shared(tiny, "pistol.n.01", "rifle.n.01", nltk) == (pytest.approx(2 / 12), "gun.n.01")
    assert shared(tiny, "pistol.n.01", "nuclear_weapon.n.01", nltk) == (pytest.approx(3 / 11), "weapon.n.01")
    assert shared(tiny, "pistol.n.01", "gun.n.01", nltk) == (pytest.approx(1 / 11), "gun.n.01")
    assert shared(tiny, "excalibur.n.01", "tool.n.01", nltk) == (pytest.approx(2 / 10), "tool.n.01")
    assert shared(tiny, "man.n.01", "pistol.n.01", nltk) == (pytest.approx(6 / 8), "entity.n.01")
    assert shared(tiny, "gun.n.01", "gun.n.01", nltk) == (0, "gun.n.01")


@RULES
def test_words_by_their_nearest_senses(tiny, nltk):
    meanings, (arm, pistol, man, handgun) = words(tiny, "arm", "pistol", "man", "handgun")
    found = dissimilarities(meanings, [arm, man], [pistol, man, arm], nltk)
    assert found == pytest.approx(np.array([[2 / 10, 2 / 4, 0], [6 / 8, 0, 2 / 4]]))  # arm: the weapon for a pistol, the limb for a man
    assert tiny.name(common(meanings, arm, arm, nltk)[1]) == "weapon.n.01"  # the first sense
    assert common(meanings, pistol, handgun, nltk) == (0, tiny.named("pistol.n.01"))


def test_two_roots_are_refused():
    with pytest.raises(ValueError, match="one root"):
        taxonomy_of(np.zeros(3, np.int64), np.empty(0, np.int32), np.zeros(2, np.int32), np.zeros(2, np.int32), ["a", "b"])


@st.composite
def taxonomies(draw):
    """Synsets below one root, some with several hypernyms, and words with one to three senses."""
    n = draw(st.integers(2, 14))
    above = [[]] + [sorted(draw(st.sets(st.integers(0, s - 1), min_size=1, max_size=3))) for s in range(1, n)]
    senses = draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True), min_size=2, max_size=6))
    names = draw(st.permutations([f"{letter}.n.01" for letter in "abcdefghijklmn"[:n]]))
    return above, senses, names


class Plain:
    """The same by dictionaries: hypernyms, depths, and NLTK's own steps."""

    def __init__(self, above, names):
        self.names, self.up, self.least, self.most = names, [], [], []
        for s, parents in enumerate(above):
            steps = {s: 0}
            for parent in parents:
                for c, far in self.up[parent].items():
                    steps[c] = min(steps.get(c, 99), far + 1)
            self.up.append(steps)
            self.least.append(min((self.least[p] for p in parents), default=-1) + 1)
            self.most.append(max((self.most[p] for p in parents), default=-1) + 1)

    def way(self, s, c):
        return min(self.up[s][a] + self.up[c][a] for a in self.up[s].keys() & self.up[c].keys())

    def over(self, s, t, c):
        length = self.way(s, c) + self.way(t, c)
        return length / (length + 2 * (self.most[c] + 1))

    def best(self, s, t):
        return min(self.over(s, t, c) for c in self.up[s].keys() & self.up[t].keys())

    def nltk(self, s, t):
        """Lowest common hypernyms by least depth, sorted by name; the first synset itself where it is one of them."""
        shared = self.up[s].keys() & self.up[t].keys()
        deepest = max(self.least[c] for c in shared)
        lowest = sorted((c for c in shared if self.least[c] == deepest), key=lambda c: self.names[c])
        return self.over(s, t, s if s in lowest else lowest[0])


@given(taxonomies())
def test_the_same_as_plain_loops(drawn):
    above, senses, names = drawn
    plain = Plain(above, names)
    starts = np.cumsum([0, *map(len, above)])
    hypernyms = np.array([p for parents in above for p in parents], np.int32)
    meanings = meanings_of(taxonomy_of(starts, hypernyms, np.array(plain.least), np.array(plain.most), names), senses)
    ids = np.arange(len(above), len(above) + len(senses))
    expected = {"best": np.zeros((len(senses),) * 2), "nltk": np.zeros((len(senses),) * 2)}
    for (i, one), (j, other) in product(enumerate(senses), repeat=2):
        if i != j:
            expected["best"][i, j] = min(plain.best(s, t) for s in one for t in other)
            expected["nltk"][i, j] = min(min(plain.nltk(s, t), plain.nltk(t, s)) for s in one for t in other)
    for rule in ("best", "nltk"):
        found = dissimilarity_matrix(meanings, ids, rule == "nltk")
        assert found == pytest.approx(expected[rule], abs=1e-6)
        assert (found == dissimilarities(meanings, ids, ids, rule == "nltk")).all()
    assert (expected["best"] <= expected["nltk"]).all()
    far, synset = common(meanings, ids[0], ids[1], False)  # the synset is one that gives the distance
    assert min(plain.over(s, t, synset) for s in senses[0] for t in senses[1] if synset in plain.up[s].keys() & plain.up[t].keys()) == (
        pytest.approx(far, abs=1e-6)
    )


# --- WordNet 3.0


def test_counts_of_nouns(real):
    meanings = meanings_of(_nouns(real), [])
    assert (len(real.lemmas("n")), meanings.synsets) == (117_798, 82_115)
    assert int(meanings.taxonomy.depth.max()) == 20


@RULES
@pytest.mark.parametrize(
    ("one", "other", "far", "synset"),
    [
        ("butterfly.n.01", "computer.n.01", 0.6190, "whole.n.02"),
        ("butterfly.n.01", "calculator.n.01", 0.4286, "organism.n.01"),
        ("butterfly.n.02", "computer.n.01", 0.9048, "entity.n.01"),
        ("butterfly.n.02", "calculator.n.01", 0.8889, "entity.n.01"),
        ("compact.n.03", "truck.n.01", 0.12, "motor_vehicle.n.01"),
    ],
)
def test_example_6_and_table_4_4(real, one, other, far, synset, nltk):
    found = shared(real, one, other, nltk)
    assert found == (pytest.approx(far, abs=5e-5), synset)


@RULES
def test_table_4_5(real, nltk):
    meanings, ids = words(real, "butterfly", "dog", "performance", "pen", "beetle", "cat", "approach", "computer")
    published = [[0.1304, 0.4545, 0.2381, 0.4286], [0.3, 0.1429, 0.375, 0.2222], [0.7333, 0.4444, 0.25, 0.6], [0.3, 0.3333, 0.375, 0.3333]]
    assert dissimilarities(meanings, ids[:4], ids[4:], nltk) == pytest.approx(np.array(published), abs=5e-5)
    assert dissimilarity_matrix(meanings, ids, nltk)[:4, 4:] == pytest.approx(np.array(published), abs=5e-5)


# wup_similarity of NLTK 3.10 on WordNet 3.0, the larger of both orders; then the rule `best` where it is another.
SAMPLED = """
    yearling.n.02 halftone.n.02 .307692        megatherian.n.01 parallelepiped.n.01 .095238    overexposure.n.01 dolefulness.n.01 .222222
    distance.n.04 serratula.n.01 .235294       annulus.n.02 fosbury_flop.n.01 .105263          quarter_day.n.01 michaelmas.n.01 .956522
    group.n.01 part_of_speech.n.01 .6          cell.n.02 pyralid.n.01 .526316                  gesture.n.02 laugh.n.02 .833333
    physical_entity.n.01 pawer.n.01 .444444    part.n.03 rima.n.01 .615385                     division.n.07 dilleniid_dicot_genus.n.01 .615385
"""
HIGHER = """
    zionist.n.01 featherweight.n.03 .6 .7      octogenarian.n.01 canary.n.02 .545455 .636364   moore.n.01 wife.n.01 .545455 .636364
    subscriber.n.01 francophile.n.01 .6 .9     qualifier.n.01 outfielder.n.02 .571429 .761905  recorder.n.03 sneezer.n.01 .666667 .777778
"""


def cut(table: str, width: int) -> list[list[str]]:
    cells = table.split()
    return [cells[i : i + width] for i in range(0, len(cells), width)]


@pytest.mark.parametrize(("one", "other", "similarity", "best"), [[*row, row[2]] for row in cut(SAMPLED, 3)] + cut(HIGHER, 4))
def test_nltks_values(real, one, other, similarity, best):
    assert 1 - shared(real, one, other, True)[0] == pytest.approx(float(similarity), abs=1e-6)
    assert 1 - shared(real, one, other, False)[0] == pytest.approx(float(best), abs=1e-6)


def test_nltks_values_of_words(real):
    """The nearest senses, by NLTK."""
    values = {"set": 0.666667, "head": 0.888889, "line": 0.777778, "run": 0.307692, "film": 0.705882, "cut": 0.8, "time": 0.181818}
    meanings, ids = words(real, "dog", *values)
    assert 1 - dissimilarity_matrix(meanings, ids, True)[0, 1:] == pytest.approx(np.array(list(values.values())), abs=1e-6)
