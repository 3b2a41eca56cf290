"""What stands where a name stood: labels, surrogates, boxes, wider words; consistent, and without a word of the name."""

import datetime
import re
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.document import ACCOUNT, ADDRESS, DATE, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, UNKNOWN, URL, Edit
from shoal.documents.names.canonical import parse_date
from shoal.documents.names.entities import Mention, resolve
from shoal.documents.names.folding import tokens
from shoal.documents.names.places import Places
from shoal.documents.names.styles import BOX, STYLES, edits, label_of, labels, map_from_json, map_to_json, replacements
from shoal.documents.names.surrogates import Surrogates, shifted
from shoal.errors import DataError, ParameterError

KINDS = [PERSON, ORGANIZATION, LOCATION, ADDRESS, EMAIL, PHONE, URL, ACCOUNT, IDENTITY, UNKNOWN]


def corpus(*documents):
    return [
        Mention(document, 100 * position, 100 * position + len(text), text, kind)
        for document, entries in enumerate(documents)
        for position, (text, kind) in enumerate(entries)
    ]


def put(mentions, style, seed=0, places=None, **words):
    return replacements(resolve(mentions, places=places), mentions, style, np.random.default_rng(seed), **words)


LETTER = [
    ("Prof. Helen Marsh", PERSON),
    ("Marsh", PERSON),
    ("Imagine Inc.", ORGANIZATION),
    ("Munich", LOCATION),
    ("Mexico City", LOCATION),
    ("12 Main Street, Springfield, IL 62701", ADDRESS),
    ("h.marsh@uni.org", EMAIL),
    ("(212) 555-0199", PHONE),
    ("https://www.example.org/marsh", URL),
    ("DE89 3704 0044 0532 0130 00", ACCOUNT),
    ("078-05-1120", IDENTITY),
    ("5 March 2021", DATE),
    ("March 5", DATE),
    ("B-77", "case-number"),
]


def test_labels_count_within_their_kind():
    assert put(corpus(LETTER), "label") == [
        *("Pers_1", "Pers_1", "Org_1", "Loc_1", "Loc_2", "Addr_1", "Email_1", "Phone_1", "Url_1", "Account_1", "Id_1", "Date_1", "Date_1"),
        "CaseNumber_1",
    ]
    assert label_of("---") == "Name"


def test_random_numbers_are_the_same_numbers_in_another_order():
    mentions = corpus([(f"{chr(97 + i) * 9} Lund", PERSON) for i in range(20)])
    straight, mixed = put(mentions, "label"), put(mentions, "label", numbering="random")
    assert straight == [f"Pers_{i}" for i in range(1, 21)]
    assert sorted(mixed) == sorted(straight)
    assert mixed != straight
    assert mixed != put(mentions, "label", seed=1, numbering="random")


def test_a_label_the_corpus_already_reads_is_passed_over():
    assert put(corpus([("John Smith", PERSON), ("Pers_1", UNKNOWN)]), "label") == ["Pers_2", "Name_1"]


def test_black_boxes_have_one_width():
    assert set(put(corpus(LETTER), "black-box")) == {BOX}


def test_more_general_words():
    assert put(corpus(LETTER), "general") == [
        *("[person]", "[person]", "[organization]", "Germany", "North America", "Springfield", "[e-mail]", "[phone]", "[url]", "[account]"),
        *("[identity-number]", "March 2021", "March 2021", "[case-number]"),
    ]


@pytest.mark.parametrize(
    ("text", "kind", "wider"),
    [
        ("March 2021", DATE, "2021"),
        ("2021", DATE, "2020s"),
        ("3/5/2021", DATE, "2021"),
        ("Germany", LOCATION, "Europe"),
        ("Springfield, Illinois", LOCATION, "Illinois"),
        ("aged 40", "age", "40s"),
    ],
)
def test_one_step_wider(text, kind, wider):
    assert put(corpus([(text, kind)]), "general") == [wider]


def test_a_wider_word_that_goes_elsewhere_is_not_put_back():
    places = [("Munich", LOCATION), ("Germany", LOCATION), ("Europe", LOCATION)]
    assert put(corpus(places), "general") == ["[location]", "[location]", "[location]"]
    assert put(corpus([("5 March 2021", DATE), ("March 2021", DATE), ("2021", DATE)]), "general") == ["2020s", "2020s", "2020s"]
    assert put(corpus([("John Smith", PERSON), ("Person", UNKNOWN)]), "general")[0] == BOX


def test_no_date_moves_onto_one_that_was_taken_out():
    mentions = corpus([(f"{day} March 2021", DATE) for day in range(1, 32)] + [(f"{day} June 2021", DATE) for day in range(1, 31)])
    for seed in range(20):
        assert not set(put(mentions, "surrogate", seed)) & {mention.text for mention in mentions}


def test_surrogates_are_of_the_reserved_ranges():
    found = dict(zip((kind for _, kind in LETTER), put(corpus(LETTER), "surrogate")))
    assert re.fullmatch(r"\(\d{3}\) 555-01\d\d", found[PHONE])
    assert re.fullmatch(r"\w+@(?:example\.(?:org|com|net)|mail\.example|post\.invalid|box\.test)", found[EMAIL])
    assert re.fullmatch(r"9\d\d-00-\d{4}", found[IDENTITY])
    account = found[ACCOUNT].replace(" ", "")
    assert account.startswith("ZZ")
    assert int("".join(str(int(c, 36)) for c in account[4:] + account[:4])) % 97 == 1  # ISO 13616
    assert found["case-number"] == "CaseNumber_1"  # nobody knows how to invent one


def test_dates_move_together():
    mentions = corpus(
        [("5 March 2021", DATE), ("2021-03-12", DATE), ("Friday, March 26, 2021", DATE)], [("04/05/2021", DATE), ("04/25/2021", DATE)]
    )
    moved = [parse_date(text) for text in put(mentions, "surrogate", seed=4)]
    days = [datetime.date(date.year, date.month or date.loose[0], date.day or date.loose[1]) for date in moved]
    assert [(day - days[0]).days for day in days] == [0, 7, 21, 31, 51]
    assert abs((days[0] - datetime.date(2021, 3, 5)).days) >= 31
    moved = put(mentions, "surrogate", seed=4, shift="document")
    days = [datetime.date(date.year, date.month or date.loose[0], date.day or date.loose[1]) for date in map(parse_date, moved)]
    assert [(days[1] - days[0]).days, (days[4] - days[3]).days] == [7, 20]
    assert (days[3] - days[0]).days != 31


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("5 March 2021", "14 April 2021"),
        ("March 5th, 2021", "April 14, 2021"),
        ("Friday, March 5, 2021", "Wednesday, April 14, 2021"),
        ("2021-03-05", "2021-04-14"),
        ("25.03.2021", "04.05.2021"),
        ("03/25/2021", "05/04/2021"),
        ("March 2021", "April 2021"),
        ("5 March", "14 April"),
        ("1999", "1999"),
        ("03/05/2021", None),
        ("31 December 9999", None),
        ("soon", None),
    ],
)
def test_a_moved_date_is_written_as_it_was(text, moved):
    assert shifted(text, datetime.timedelta(days=40), "unknown", 2021) == moved


def test_surrogates_never_run_out_and_never_repeat():
    source = Surrogates(["Arden Smith"], np.random.default_rng(2))
    names = [source.draw(PERSON, ["Arden Smith"]) for _ in range(5000)]
    assert None not in names
    surnames = [name.split()[1] for name in names]
    assert len(set(surnames)) == 5000
    assert not any("arden" in tokens(name) for name in names)


def test_kept_mentions_stay():
    assert put(corpus([("Iran", LOCATION), ("John Smith", PERSON)]), "surrogate", places=Places())[0] is None


def test_an_unknown_style_is_named():
    with pytest.raises(ParameterError, match="There is no style 'blur'"):
        replacements([], [], "blur", np.random.default_rng(0))


def test_edits_cover_overlaps_under_the_longer_name():
    a, b, c = Mention(0, 0, 10, "x" * 10, PERSON), Mention(0, 5, 8, "xxx", LOCATION), Mention(0, 8, 12, "xxxx", DATE)
    d = Mention(0, 20, 22, "yy", DATE)
    assert edits([(b, "Loc_1"), (d, "Date_2"), (a, "Pers_1"), (c, "Date_1")]) == [Edit(0, 12, "Pers_1"), Edit(20, 22, "Date_2")]
    assert edits([(a, None)]) == []


def test_the_map_comes_back_and_nonsense_is_refused():
    mentions = corpus(LETTER)
    entities = resolve(mentions)
    given_words = replacements(entities, mentions, "label", np.random.default_rng(0))
    names = map_from_json(map_to_json(entities, mentions, given_words))
    assert names["Pers_1"] == ["Prof. Helen Marsh"]
    for nonsense in ("", "{", "[]", '{"entities": 3}', '{"entities": [{"replacements": [1], "name": "a"}]}', "null"):
        with pytest.raises(DataError, match="not a map of replacements"):
            map_from_json(nonsense)


NAMES = [
    "John Smith",
    "Smith",
    "Arden Smith",
    "Pers_1",
    "Group Partners",
    "Valley Road 12",
    "me@example.org",
    "555 0199",
    "ZZ 00",
    "Corrin",
    "Loc",
    "É à",
]
ENTRY = st.tuples(st.sampled_from(NAMES) | st.text(min_size=1, max_size=10), st.sampled_from([*KINDS, "own kind"]))
CORPUS = st.lists(st.lists(ENTRY, max_size=6), min_size=1, max_size=3)


@settings(max_examples=100, deadline=None)
@given(CORPUS, st.integers(0, 99), st.sampled_from(["label", "surrogate"]))
def test_no_replacement_has_a_word_of_the_name(documents, seed, style):
    mentions = corpus(*documents)
    for mention, word in zip(mentions, put(mentions, style, seed)):
        # 555 and 00 mark a number as free; they may stand in the original too.
        assert not set(tokens(word)) - {"555", "00"} & set(tokens(mention.text))


@settings(max_examples=100, deadline=None)
@given(CORPUS, st.integers(0, 99), st.sampled_from(STYLES))
def test_one_entity_one_replacement_and_two_entities_two(documents, seed, style):
    mentions = corpus(*documents)
    entities = resolve(mentions)
    found = replacements(entities, mentions, style, np.random.default_rng(seed), "random")
    whose = defaultdict(set)
    for k, entity in enumerate(entities):
        words = {found[i] for i in entity.mentions}
        assert len(words) == 1
        whose[words.pop()].add(k)
    if style in ("label", "surrogate"):
        assert all(len(who) == 1 for who in whose.values())


@settings(max_examples=50, deadline=None)
@given(CORPUS)
def test_labels_say_nothing_but_kind_and_number(documents):
    mentions = corpus(*documents)
    for entity, label in zip(resolve(mentions), labels(resolve(mentions), mentions, np.random.default_rng(0))):
        assert re.fullmatch(rf"{label_of(entity.kind)}_\d+", label)
