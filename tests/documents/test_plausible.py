"""More general words for risky ones, and how many texts could have become the result."""

from itertools import product
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.document import Block
from shoal.documents.risk import plausible
from shoal.documents.risk.plausible import General, generalize, generalize_to, more_general
from shoal.documents.risk.terms import RiskTerms, grow
from shoal.errors import ParameterError
from shoal.text.wordnet import WordNet, read_wordnet
from tests.documents.tiny_wordnet import real_wordnet, write_wordnet


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> WordNet:
    return read_wordnet(write_wordnet(tmp_path_factory.mktemp("wn")))


def block_of(text: str, terms: list[str]) -> Block:
    matcher = RiskTerms(terms)
    hits = matcher.find(text)
    return Block(0, len(text), 1.0, tuple((int(s), int(e), matcher.terms[t]) for s, e, t in zip(hits.start, hits.end, hits.term)))


def applied(text: str, edits) -> str:
    for edit in sorted(edits, key=lambda edit: -edit.start):
        text = text[: edit.start] + edit.replacement + text[edit.end :]
    return text


def test_what_may_stand_for_a_term_by_hand(tiny):
    senses = {"pistol": "pistol.n.01"}
    # below gun: pistol, rifle; below weapon: gun, knife, nuclear weapon, pistol, rifle; Excalibur is an instance and does not count
    assert more_general(tiny, "pistol", senses) == [
        General("gun", 1, 2),
        General("weapon", 2, 5),
        General("device", 3, 7),
        General("artifact", 4, 8),
        General("entity", 5, 12),
    ]


def test_a_risk_term_never_stands_for_another(tiny):
    senses = grow(tiny, ["weapon"], depth=None).senses
    assert [general.word for general in more_general(tiny, "pistol", senses)] == ["device", "artifact", "entity"]
    assert [general.word for general in more_general(tiny, "knife", senses)] == ["tool", "device", "artifact", "entity"]
    assert more_general(tiny, "stuxnet", senses) == []


def test_a_block_by_hand(tiny):
    text = "A pistol and two rifles. Pistols, knives, stuxnet."
    senses = {"pistol": "pistol.n.01", "rifle": "rifle.n.01"}
    done = generalize(tiny, text, block_of(text, ["pistol", "rifle", "stuxnet"]), senses)
    assert applied(text, done.edits) == "A gun and two guns. Guns, knives, [...]."
    assert done.plausibility == 2 * 2  # pistol stands twice and counts once
    assert [text[start:end] for start, end, _ in done.struck] == ["stuxnet"]
    up = generalize(tiny, text, block_of(text, ["pistol", "rifle"]), senses, level=4)
    assert applied(text, up.edits) == "An artifact and two artifacts. Artifacts, knives, stuxnet."
    assert up.plausibility == 8 * 8
    assert generalize(tiny, text, block_of(text, ["pistol"]), senses, level=99).plausibility == 12


def test_verbs_follow_their_forms(tiny):
    text = "They raid, raided, were raiding; he raids."
    done = generalize(tiny, text, block_of(text, ["raid"]), {"raid": "raid.v.01"})
    assert applied(text, done.edits) == "They attack, attacked, were attacking; he attacks."


def test_a_form_that_is_no_form_of_the_noun_is_struck_out(tiny):
    text = "Guns, gunned; a GUN."
    done = generalize(tiny, text, block_of(text, ["gun"]), {"gun": "gun.n.01"})
    assert applied(text, done.edits) == "Weapons, [...]; a Weapon."
    assert [text[start:end] for start, end, _ in done.struck] == ["gunned"]
    only = generalize(tiny, "gunned", block_of("gunned", ["gun"]), {"gun": "gun.n.01"})
    assert (applied("gunned", only.edits), only.plausibility, dict(only.replaced)) == ("[...]", 1, {})
    with pytest.raises(ParameterError, match="allows 1 base texts"):
        generalize_to(tiny, "gunned", block_of("gunned", ["gun"]), {"gun": "gun.n.01"}, t=2)


def test_the_fewest_base_texts_that_are_enough(tiny):
    text = "pistol rifle"
    block, senses = block_of(text, ["pistol", "rifle"]), {"pistol": "pistol.n.01", "rifle": "rifle.n.01"}
    assert generalize_to(tiny, text, block, senses, t=1).plausibility == 4
    assert generalize_to(tiny, text, block, senses, t=5).plausibility == 10
    assert generalize_to(tiny, text, block, senses, t=17).plausibility == 24
    assert generalize_to(tiny, text, block, senses, t=144).plausibility == 144
    with pytest.raises(ParameterError, match="allows 144 base texts"):
        generalize_to(tiny, text, block, senses, t=145)


def test_bad_parameters(tiny):
    block = block_of("gun", ["gun"])
    with pytest.raises(ParameterError, match="level must be 1 or more, got 0"):
        generalize(tiny, "gun", block, {"gun": "gun.n.01"}, level=0)
    with pytest.raises(ParameterError, match="t must be 1 or more, got 0"):
        generalize_to(tiny, "gun", block, {"gun": "gun.n.01"}, t=0)


def test_nothing_to_generalize(tiny):
    done = generalize(tiny, "stuxnet", block_of("stuxnet", ["stuxnet"]), {"stuxnet": ""})
    assert applied("stuxnet", done.edits) == "[...]"
    assert done.plausibility == 1
    with pytest.raises(ParameterError, match="allows 1 base texts"):
        generalize_to(tiny, "stuxnet", block_of("stuxnet", ["stuxnet"]), {"stuxnet": ""}, t=2)


@given(options=st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=4, unique=True), min_size=1, max_size=4), t=st.integers(1, 400))
@settings(max_examples=150, deadline=None)
def test_the_cheapest_choice_is_that_of_trying_all(options, t):
    table = {f"w{i}": [General(f"g{n}", level, n) for level, n in enumerate(sorted(few), 1)] for i, few in enumerate(options)}
    products = [prod(choice) for choice in product(*options)]
    enough = [found for found in products if found >= t]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausible, "_options", lambda *_: table)
        patch.setattr(plausible, "_apply", lambda _w, _t, _b, _s, chosen: prod(general.things for general in chosen.values()))
        if enough:
            assert generalize_to(None, "", Block(0, 0, 0.0, ()), {}, t) == min(enough)  # type: ignore[arg-type]
        else:
            with pytest.raises(ParameterError, match="Use t of at most that"):
                generalize_to(None, "", Block(0, 0, 0.0, ()), {}, t)  # type: ignore[arg-type]


def test_very_many_products_are_thinned_and_still_enough():
    table = {f"w{i}": [General(f"g{i}{n}", n, 101 * n + 2 * i + 1) for n in range(1, 9)] for i in range(8)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plausible, "_options", lambda *_: table)
        patch.setattr(plausible, "_apply", lambda _w, _t, _b, _s, chosen: prod(general.things for general in chosen.values()))
        t = 10**20
        found = generalize_to(None, "", Block(0, 0, 0.0, ()), {}, t)  # type: ignore[arg-type]
    assert t <= found <= 1.01 * t


def test_a_sentence_with_the_real_wordnet():
    real = real_wordnet()
    expansion = grow(real, ["weapon.n.01"], depth=None)
    text = "He hid a pistol and an atomic bomb in the military barn."
    block = block_of(text, ["pistol", "atomic bomb"])
    done = generalize(real, text, block, expansion.senses)
    assert (
        applied(text, done.edits) == "He hid an instrument and an explosive device in the military barn."
    )  # not a bomb: atomic bomb says it
    assert done.plausibility == 654 * 56  # things below instrument and below explosive device in WordNet 3.0
    assert all(general.word not in expansion.senses for general in done.replaced.values())
    assert generalize_to(real, text, block, expansion.senses, t=10**5).plausibility >= 10**5
