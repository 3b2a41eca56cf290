"""WordNet: a small one by hand, and what is known of the real one."""

import shutil
import sys
import zipfile
from collections.abc import Iterator

import numpy as np
import pytest

from shoal.errors import DataError
from shoal.text.wordnet import WordNet, find_wordnet, read_wordnet
from tests.documents.tiny_wordnet import real_wordnet, write_wordnet


@pytest.fixture
def tiny(tmp_path) -> WordNet:
    return read_wordnet(write_wordnet(tmp_path / "wn"))


@pytest.fixture
def real() -> WordNet:
    return real_wordnet()


def names(wordnet: WordNet, synsets) -> list[str]:
    return [wordnet.name(synset) for synset in synsets]


def test_senses_of_a_word_in_wordnets_order(tiny):
    assert names(tiny, tiny.senses("arm")) == ["weapon.n.01", "arm.n.02"]
    assert names(tiny, tiny.senses("Arms")) == ["weapon.n.01", "arm.n.02"]
    assert names(tiny, tiny.senses("attack")) == ["attack.v.01"]
    assert names(tiny, tiny.senses("covert")) == ["covert.s.01"]
    assert tiny.senses("attack", "n") == []
    assert tiny.senses("submarine") == []


def test_inflected_forms(tiny):
    assert tiny.bases("knives", "n") == []  # its ending is f in WordNet's rules, and fe only by its list of exceptions
    assert tiny.bases("weapons", "n") == ["weapon"]
    assert tiny.bases("men", "n") == ["man"]
    assert tiny.bases("attacking", "v") == ["attack"]
    assert tiny.irregular == {"men": ("man",)}
    assert tiny.knows("raided")
    assert not tiny.knows("wepon")


def test_up_and_down(tiny):
    knife, weapon = tiny.named("knife.n.01"), tiny.named("weapon.n.01")
    assert names(tiny, tiny.hypernyms(knife)) == ["weapon.n.01", "tool.n.01"]
    assert names(tiny, tiny.hyponyms(weapon)) == ["gun.n.01", "knife.n.01", "nuclear_weapon.n.01"]
    assert names(tiny, tiny.hyponyms(knife)) == ["excalibur.n.01"]
    levels = [names(tiny, level) for level in tiny.below(weapon)]
    assert levels == [["weapon.n.01"], ["gun.n.01", "knife.n.01", "nuclear_weapon.n.01"], ["pistol.n.01", "rifle.n.01"]]
    assert list(map(len, tiny.below(weapon, 1))) == [1, 3]
    assert [tiny.size_below(synset) for synset in (weapon, knife, tiny.named("device.n.01"))] == [5, 0, 7]
    assert tiny.instances == {tiny.named("excalibur.n.01")}


def test_words_glosses_and_parts_of_speech(tiny):
    weapon = tiny.named("arm.n.01")
    assert tiny.words[weapon] == ("weapon", "arm")
    assert tiny.gloss(weapon) == "used in fighting"
    assert [tiny.part_of_speech(synset) for synset in (0, len(tiny) - 1, tiny.named("act.v.01"))] == ["n", "a", "v"]
    assert tiny.words[tiny.named("covert.a.01")] == ("covert",)


def test_depths_by_hand(tiny):
    least, most = tiny.depths
    depth = {name: (least[tiny.named(name)], most[tiny.named(name)]) for name in ("entity.n.01", "weapon.n.01", "pistol.n.01", "raid.v.01")}
    assert depth == {"entity.n.01": (0, 0), "weapon.n.01": (3, 3), "pistol.n.01": (5, 5), "raid.v.01": (2, 2)}


def test_a_circle_of_verbs_does_not_go_on_for_ever(tmp_path):
    verbs = [
        ("move", "", "m"),
        ("hold", "stop", "h"),
        ("stop", "hold move", "s"),
        ("halt", "stop", "x"),
        ("alone", "lone", "a"),
        ("lone", "alone", "l"),
    ]
    wordnet = read_wordnet(write_wordnet(tmp_path / "wn", verbs=verbs))
    least, most = wordnet.depths
    assert [least[wordnet.named(f"{verb}.v.01")] for verb in ("move", "stop", "hold", "halt")] == [0, 1, 2, 2]
    assert (most >= least).all()
    assert [len(level) for level in wordnet.below(wordnet.named("hold.v.01"))] == [1, 1, 1]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("weapon", "does not name a sense"),
        ("weapon.x.01", "does not name a sense"),
        ("weapon.n.one", "does not name a sense"),
        ("wepon.n.01", "WordNet has no noun 'wepon'. Did you mean 'weapon'?"),
        ("weapon.n.02", "WordNet has 1 senses of 'weapon' as noun, so 'weapon.n.02' is none of them."),
        ("weapon.n.00", "none of them"),
    ],
)
def test_names_of_no_sense(tiny, name, sentence):
    with pytest.raises(DataError, match=sentence.replace("?", r"\?")):
        tiny.named(name)


@pytest.mark.parametrize("file", ["data.noun", "index.noun", "data.verb"])
def test_broken_files_are_named(tmp_path, file):
    folder = write_wordnet(tmp_path / "wn")
    (folder / file).write_text("this is not WordNet\n")
    with pytest.raises(DataError, match="not in WordNet's format"):
        read_wordnet(folder)


def test_a_hypernym_that_is_not_there(tmp_path):
    folder = write_wordnet(tmp_path / "wn")
    (folder / "data.noun").write_text((folder / "data.noun").read_text().replace("@ 00000003", "@ 00000777"))
    with pytest.raises(DataError, match=r"data\.noun"):
        read_wordnet(folder)


def test_where_wordnet_is_looked_for(tmp_path, monkeypatch):
    named, own = write_wordnet(tmp_path / "named"), write_wordnet(tmp_path / "prefix" / "share" / "wordnet")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    monkeypatch.setenv("SHOAL_WORDNET", str(named))
    assert find_wordnet() == named
    assert find_wordnet(own) == own
    monkeypatch.delenv("SHOAL_WORDNET")
    assert find_wordnet() == own
    with pytest.raises(DataError, match="does not hold WordNet"):
        find_wordnet(tmp_path)


def test_nltks_folder_and_its_archive(tmp_path, monkeypatch):
    nltk = tmp_path / "nltk_data" / "corpora"
    folder = write_wordnet(nltk / "wordnet")
    expected = read_wordnet(folder).words
    with zipfile.ZipFile(nltk / "wordnet.zip", "w") as archive:
        for file in folder.iterdir():
            archive.write(file, f"wordnet/{file.name}")
    assert read_wordnet(nltk / "wordnet.zip").words == expected
    shutil.rmtree(folder)
    monkeypatch.setenv("NLTK_DATA", str(tmp_path / "nltk_data"))
    monkeypatch.delenv("SHOAL_WORDNET", raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nowhere"))
    monkeypatch.setattr("shoal.text.wordnet._SYSTEM", ())
    assert find_wordnet() == nltk / "wordnet.zip"
    monkeypatch.delenv("NLTK_DATA")
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path)
    assert find_wordnet() == nltk / "wordnet.zip"
    monkeypatch.setattr("pathlib.Path.home", lambda: tmp_path / "nowhere")
    with pytest.raises(DataError, match="apt-get install wordnet-base"):
        find_wordnet()


def test_counts_of_wordnet_3(real):
    assert len(real.lemmas("n")) == 117_798
    assert {part: len(synsets) for part, synsets in real.first.items()} == {"n": 82_115, "v": 13_767, "a": 18_156, "r": 3_621}
    assert sum(len(real.senses(word, "n")) > 0 for word in ("dog", "weapons", "mice")) == 3
    assert int(real.depths[1].max()) == 19


def test_the_four_senses_of_car_in_the_thesis(real):
    """Example 2 of section 2.7.4; WordNet has a fifth, which it leaves out."""
    cars = real.senses("car")
    assert names(real, cars) == ["car.n.01", "car.n.02", "car.n.03", "car.n.04", "cable_car.n.01"]
    assert [real.gloss(car).split(";")[0] for car in cars[:4]] == [
        "a motor vehicle with four wheels",
        "a wheeled vehicle adapted to the rails of railroad",
        "the compartment that is suspended from an airship and that carries personnel and the cargo and the power plant",
        "where passengers ride up and down",
    ]


def test_every_name_finds_its_synset(real):
    rng = np.random.default_rng(3)
    for synset in rng.integers(0, len(real), 2000).tolist():
        assert real.named(real.name(synset)) == synset


def distances(wordnet: WordNet, synset: int) -> dict[int, int]:
    """Steps up to every hypernym."""
    found, level, steps = {}, [synset], 0
    while level:
        found |= {here: steps for here in level if here not in found}
        level = [up for here in level for up in wordnet.hypernyms(here) if up not in found]
        steps += 1
    return found


def wu_palmer(wordnet: WordNet, one: str, other: str) -> float:
    a, b = distances(wordnet, wordnet.named(one)), distances(wordnet, wordnet.named(other))
    depth = wordnet.depths[1]
    return max(2 * (depth[c] + 1) / (a[c] + b[c] + 2 * (depth[c] + 1)) for c in a.keys() & b.keys())


def cases() -> Iterator[tuple[str, str, float]]:
    yield "butterfly.n.01", "computer.n.01", 1 - 0.6190
    yield "butterfly.n.01", "calculator.n.01", 1 - 0.4286
    yield "butterfly.n.02", "computer.n.01", 1 - 0.9048
    yield "butterfly.n.02", "calculator.n.01", 1 - 0.8889
    yield "compact.n.03", "truck.n.01", 0.88


@pytest.mark.parametrize(("one", "other", "similarity"), list(cases()))
def test_depths_give_the_thesiss_similarities(real, one, other, similarity):
    """Tables 4.4 and 4.5 rest on hypernyms and depths alone: an independent check of both."""
    assert wu_palmer(real, one, other) == pytest.approx(similarity, abs=6e-5)
