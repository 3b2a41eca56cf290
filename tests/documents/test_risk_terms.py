"""Risk terms: how seeds grow, and in which spellings terms are found."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.documents.risk.terms import RISK_QUERIES, RISK_SEEDS, RiskTerms, grow, read_terms
from shoal.errors import DataError, ParameterError
from shoal.text.wordnet import WordNet, read_wordnet
from shoal.text.words import STOP_WORDS, WordNumbers, folded, stems, tokens
from tests.documents.tiny_wordnet import real_wordnet, write_wordnet


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> WordNet:
    return read_wordnet(write_wordnet(tmp_path_factory.mktemp("wn")))


def found(matcher: RiskTerms, text: str) -> list[tuple[str, str]]:
    """What stands in the text, and for which term."""
    hits = matcher.find(text)
    return [(text[start:end], matcher.terms[term]) for start, end, term in zip(hits.start, hits.end, hits.term)]


# How seeds grow


def test_growth_by_hand(tiny):
    rows = [(row.seed, row.sense, row.depth, row.words, row.adds) for row in grow(tiny, ["weapon", "arm"], depth=2).rows]
    assert rows == [
        ("weapon", "weapon.n.01", 0, ("weapon", "arm"), ("weapon", "arm")),
        ("weapon", "weapon.n.01", 1, ("gun", "knife", "nuclear weapon"), ("gun", "knife", "nuclear weapon")),
        ("weapon", "weapon.n.01", 2, ("pistol", "handgun", "rifle"), ("pistol", "handgun", "rifle")),
        ("arm", "weapon.n.01", 0, ("arm", "weapon"), ()),
        ("arm", "weapon.n.01", 1, ("gun", "knife", "nuclear weapon"), ()),
        ("arm", "weapon.n.01", 2, ("pistol", "handgun", "rifle"), ()),
        ("arm", "arm.n.02", 0, ("arm",), ()),
    ]


def test_growth_shows_the_gloss_and_leaves_instances_out(tiny):
    expansion = grow(tiny, ["weapon"], depth=None)
    assert expansion.rows[0].gloss == "used in fighting"
    assert "excalibur" not in expansion.terms
    assert expansion.terms == tuple(sorted(expansion.terms))
    assert expansion.senses["rifle"] == "weapon.n.01"


def test_senses_are_chosen_by_name_or_by_number(tiny):
    assert grow(tiny, ["arm.n.02"]).terms == ("arm",)
    assert grow(tiny, ["arm"], depth=0, senses=1).terms == ("arm", "weapon")
    assert grow(tiny, ["attack.v.01"]).terms == ("assail", "attack", "raid")


def test_a_seed_wordnet_does_not_know_stays(tiny):
    expansion = grow(tiny, ["weapons", "stuxnet"], depth=0)
    assert expansion.unknown == ("stuxnet",)
    assert expansion.terms == ("arm", "stuxnet", "weapon", "weapons")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"seeds": []}, "no seed to grow"),
        ({"seeds": ["gun"], "depth": -1}, "depth must be 0 or more, got -1."),
        ({"seeds": ["gun"], "senses": 0}, "senses must be 1 or more, got 0."),
    ],
)
def test_bad_growth(tiny, arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        grow(tiny, **arguments)


def test_the_words_of_table_3_1():
    """The thesis speaks of 30 words, and prints 36, of which 32 are different."""
    assert sum(map(len, RISK_QUERIES.values())) == 36
    assert len(RISK_SEEDS) == 32


def test_agent_alone_grows_to_two_thousand_words():
    """2,147 as they are spelt in WordNet; two pairs of them differ in case only."""
    real = real_wordnet()
    spelt = {word for sense in real.senses("agent") for level in real.below(sense) for synset in level for word in real.words[synset]}
    assert len(spelt) == 2147
    terms = grow(real, ["agent"], depth=None).terms
    assert set(terms) == {word.lower().replace("_", " ") for word in spelt if word.lower() not in STOP_WORDS}
    assert len(terms) == 2145


def test_the_seeds_of_table_3_1_grow():
    """What senses and depth are worth: figures of this reading, to notice a change."""
    real = real_wordnet()
    sizes = [len(grow(real, RISK_SEEDS, depth=depth, senses=senses).terms) for depth, senses in ((0, None), (1, None), (1, 1), (0, 1))]
    assert sizes == [269, 1921, 755, 85]
    weapon = grow(real, ["weapon.n.01"], depth=None)
    assert {"knife", "sling", "bow", "arrow", "missile", "cannon", "gun"} <= set(weapon.terms)  # section 3.1.2 lists these
    assert "bomb" not in weapon.terms  # and this one too, which WordNet 3.0 calls an explosive device


def test_terms_from_a_file(tmp_path):
    file = tmp_path / "seeds.txt"
    file.write_text("\ufeffweapon.n.01  # not the figure of speech\n\n# none\nmass destruction\nweapon.n.01\n", encoding="utf-8")
    assert read_terms(file) == ("weapon.n.01", "mass destruction")
    file.write_text("# nothing\n")
    with pytest.raises(DataError, match=r"'seeds\.txt' has no terms"):
        read_terms(file)
    with pytest.raises(DataError, match="There is no file"):
        read_terms(tmp_path / "none.txt")
    file.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="is not UTF-8"):
        read_terms(file)


# In which spellings terms are found

CASES = [
    # terms, text, what is found for which term
    ("weapon", "Weapons, WEAPON and weaponed; a weaponless man.", [("Weapons", "weapon"), ("WEAPON", "weapon"), ("weaponed", "weapon")]),
    ("encrypt", "encryption, encrypted, encrypting", [(word, "encrypt") for word in ("encryption", "encrypted", "encrypting")]),
    ("e-mail", "e-mail email e mail E-mails emails", [(word, "e-mail") for word in ("e-mail", "email", "e mail", "E-mails", "emails")]),
    ("email", "e-mail email e mail E-Mails e mails", [(word, "email") for word in ("e-mail", "email", "e mail", "E-Mails", "e mails")]),
    ("e-mail", "an e-amil", [("e-amil", "e-mail")]),
    ("informer", "in former times an in-former", [("in-former", "informer")]),
    ("mass destruction", "weapons of mass\ndestruction, mass-destruction", [(m, "mass destruction") for m in ("mass\ndestruction", "mass-destruction")]),
    ("mass destruction", "It was a mass. Destruction followed. A mass\n\ndestruction", []),
    ("weapon;weapon of mass destruction", "weapons of mass destruction", [("weapons of mass destruction", "weapon of mass destruction")]),
    ("secret plan;plan of attack", "the secret plan of attack", [("secret plan", "secret plan")]),
    ("weapon", "a wea-\npon and a wea\u00adpon, a we\u200bapon", [(word, "weapon") for word in ("wea-\npon", "wea\u00adpon", "we\u200bapon")]),
    ("weapon", "a wepon, a weapno, a waepon, a weapoon, a weepon, a wapeno", [(word, "weapon") for word in ("wepon", "weapno", "waepon", "weapoon", "weepon")]),
    ("weapon", "Mr. Weapan and WEAPAN", [("WEAPAN", "weapon")]),
    ("knife", "a knive, the gun", [("knive", "knife")]),
    ("plan", "a plane, planes", []),
    ("world", "it would; could the word do", []),
    ("man", "two men", [("men", "man")]),
    ("innings", "in the innings", [("innings", "innings")]),
    ("café", "CAFE\u0301 cafe\u0301s café cafe", [(word, "café") for word in ("CAFE\u0301", "cafe\u0301s", "café")]),
    ("ak-47", "an AK-47, AK47 or AK 47", [(word, "ak-47") for word in ("AK-47", "AK47", "AK 47")]),
    ("politics;politic", "politics politic political", [("politics", "politics"), ("politic", "politic"), ("political", "politic")]),
]  # fmt: skip


@pytest.mark.parametrize(("terms", "text", "expected"), CASES, ids=[case[1][:30] for case in CASES])
def test_spellings(tiny, terms, text, expected):
    assert found(RiskTerms(terms.split(";"), tiny), text) == expected


def test_plurals_only(tiny):
    matcher = RiskTerms(["encrypt", "policy", "class", "box"], tiny, forms="plurals")
    assert [word for word, _ in found(matcher, "encrypted encrypts policies political class classes clas boxes")] == [
        "encrypts", "policies", "class", "classes", "boxes",
    ]  # fmt: skip


def test_without_wordnet_no_slip_is_believed():
    matcher = RiskTerms(["weapon"])
    assert found(matcher, "a wepon and weapons") == [("weapons", "weapon")]


def test_positions_are_counted_in_words(tiny):
    hits = RiskTerms(["gun", "mass destruction"], tiny).find("One gun, of mass destruction; guns")
    assert hits.words == 6
    assert hits.word.tolist() == [1, 3, 5]


def test_terms_that_cannot_be_looked_for(tiny):
    with pytest.raises(ParameterError, match="There is no term"):
        RiskTerms([], tiny)
    with pytest.raises(ParameterError, match="Term 2 of the list has no letters or digits"):
        RiskTerms(["gun", "?!"], tiny)


WORDS = st.sampled_from(["gun", "guns", "Mass", "mass", "destruction", "of", "the", "e", "mail", "email", "wepon", "zebra", "İ", "ß", "𝕏"])
GAPS = st.sampled_from([" ", "-", "\n", "\n\n", ". ", ", ", "", "’", "_"])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=30).map(lambda parts: "".join(word + gap for word, gap in parts))
TERMS = ["gun", "mass destruction", "email", "weapon of mass destruction", "weapon"]


@given(texts=st.lists(TEXTS, max_size=6))
@settings(max_examples=150, deadline=None)
def test_hits_are_in_order_and_batches_change_nothing(tiny, texts):
    fresh, used = RiskTerms(TERMS, tiny), RiskTerms(TERMS, tiny)
    together = list(fresh.find_all(texts))
    assert len(together) == len(texts)
    for text, hits in zip(texts, together):
        alone = used.find(text)
        for field in ("words", "word", "start", "end", "term"):
            assert np.array_equal(getattr(hits, field), getattr(alone, field))
        assert hits.words == len(tokens(text))
        edges = np.column_stack([hits.start, hits.end]).ravel()
        assert (np.diff(edges) >= 0).all()
        assert all(0 <= start < end <= len(text) for start, end in zip(hits.start, hits.end))


@given(
    words=st.lists(
        st.sampled_from(["weapon", "weapons", "systems", "system", "nuclear", "the", "in", "plan", "planning", "dog"]), max_size=40
    )
)
@settings(max_examples=100, deadline=None)
def test_single_words_agree_with_a_search_word_by_word(words):
    """Another way to the same: stem every word by itself."""
    terms = ["weapon", "system", "planned"]
    text = " ".join(words)
    wanted = set(stems(terms))
    expected = [m.span() for m in re.finditer(r"\w+", text) if stems([m.group()])[0] in wanted]
    hits = RiskTerms(terms).find(text)
    assert list(zip(hits.start.tolist(), hits.end.tolist())) == expected


# Words


@given(texts=st.lists(st.text(st.characters(codec=None), max_size=40), max_size=4))
@settings(max_examples=200, deadline=None)
def test_the_vocabulary_cuts_as_the_pattern_does(texts):
    word_numbers = WordNumbers()
    for text in texts:
        cut = word_numbers.cut(text)
        assert [word_numbers.words[number] for number in cut.numbers] == tokens(text)
        assert [text[start:end] for start, end in zip(cut.starts, cut.ends)] == tokens(text)
    assert len(set(word_numbers.words)) == len(word_numbers.words)


def test_many_words_are_told_apart():
    word_numbers = WordNumbers()
    words = [f"w{number}" for number in range(30_000)]
    first = word_numbers.cut(" ".join(words)).numbers
    assert np.array_equal(first, np.arange(30_000))
    assert np.array_equal(word_numbers.cut(" ".join(reversed(words))).numbers, first[::-1])


def test_labels_may_be_one_word():
    word_numbers = WordNumbers(joins="_")
    assert word_numbers.cut("Pers_1 asked _Org_2_").numbers.tolist() == [0, 1, 2]
    assert word_numbers.words == ["Pers_1", "asked", "Org_2_"]


def test_folding_and_stems():
    assert [folded(word) for word in ("Iran", "STRASSE", "Straße", "ﬁle", "e\u0301", "we\u00adapon")] == [
        "iran", "strasse", "strasse", "file", "é", "weapon",
    ]  # fmt: skip
    assert len(STOP_WORDS) == 127
    # the examples of Porter's paper (1980), one of each step
    words = ["caresses", "ponies", "plastered", "motoring", "conflated", "hopping", "happy", "relational", "vietnamization", "triplicate",
             "hopefulness", "revival", "adjustment", "probate", "controll", "roll"]  # fmt: skip
    assert stems(words) == ["caress", "poni", "plaster", "motor", "conflat", "hop", "happi", "relat", "vietnam", "triplic",
                            "hope", "reviv", "adjust", "probat", "control", "roll"]  # fmt: skip
