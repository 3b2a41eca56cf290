"""Recognizers: a table of what is found and what is not, and what must hold for any text."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.document import ACCOUNT, ADDRESS, DATE, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, URL, Document
from shoal.documents.detect import detect
from shoal.documents.recognizers import Recognizers
from shoal.errors import ParameterError

FOUND = [
    (EMAIL, "Write to [jane.o'neil+x@mail.example.co.uk]."),
    (URL, "See [https://www.example.org/a?b=c] there."),
    (URL, "See [example.com/path] there."),
    (URL, "From [192.168.10.1] and elsewhere"),
    (URL, "From [2001:db8::8a2e:370:7334] and elsewhere"),
    (URL, "The card is [00:1B:44:11:3A:B7]."),
    (PHONE, "Call me on [01.84.17.61.18]?"),
    (PHONE, "Ring [+41 (0)71 526 99 04] today"),
    (PHONE, "Fax: [001-253-366-9781]"),
    (PHONE, "It is [(602) 272-9781] now."),
    (PHONE, "Mobile: [432 03 163]"),
    (PHONE, "Desk: [+1-604-696-5272x565]"),
    (ACCOUNT, "Card [4111 1111 1111 1111] is lost"),
    (ACCOUNT, "Pay to [GB82 WEST 1234 5698 7654 32] please"),
    (ACCOUNT, "my account number is [12-345678]"),
    (ACCOUNT, "in case no. [2019-CV-00123] the court"),
    (ACCOUNT, "ask [@some_name] about it"),
    (IDENTITY, "SSN [123-45-6789]"),
    (IDENTITY, "passport number [X1234567]"),
    (IDENTITY, "her driver's license is [D1234-56789]"),
    (IDENTITY, "NINO [AB 12 34 56 C]"),
    (IDENTITY, "DNI [12345678Z]"),
    (IDENTITY, "codice fiscale [RSSMRA85T10A562S]"),
    (DATE, "on [3 March 1999] they"),
    (DATE, "on [March 3rd, 1999] they"),
    (DATE, "on [1999-03-03 14:05:06] they"),
    (DATE, "on [3/9/1999] they"),
    (DATE, "on [03.09.99] they"),
    (DATE, "am [3. Oktober 1990] war"),
    (DATE, "el [3 de octubre de 1990] fue"),
    (DATE, "in [June 1980] he"),
    (DATE, "in [1980] he"),
    ("age", "She is [61] years old"),
    ("age", "a [61]-year-old man"),
    ("age", "aged [7]"),
    (ADDRESS, "lives at [12 Main Street] now"),
    (ADDRESS, "lives at [10 Downing Street, London SW1A 2AA] now"),
    (ADDRESS, "at [1600 Pennsylvania Ave NW, Washington, DC 20500]."),
    (ADDRESS, "at [33 rue de Provence, Paris] now"),
    (ADDRESS, "at [Hauptstraße 5, 10115 Berlin] now"),
    (ADDRESS, "at [P.O. Box 242, Boise, ID 83702]."),
    (ADDRESS, "to [Unit 5146 Box 1772\nDPO AE 91410] now"),
    (ADDRESS, "to [6750 Koskikatu 25 Apt. 864\nArtilleros\n, CO\n Uruguay 64677]"),
    (LOCATION, "at [40.7128, -74.0060] they"),
    (LOCATION, "at [40°42'46\"N 74°0'22\"W] they"),
    (PERSON, "Yesterday [Dr. Anna van der Berg] spoke"),
    (PERSON, "Dear [Quentin],\nwe write"),
    (PERSON, "My name is [Zyx Qwerty]."),
    (ORGANIZATION, "bought by [Imagine Inc.] today"),
    (ORGANIZATION, "at the [NY University] today"),
]
NOT_FOUND = [
    "It rose by 12.5 percent to 1,234,567 units in version 1.2.3.",
    "The ratio was 3/4, the score 21-14, the price $1,200.50.",
    "He may 10 times ask, and march 3 miles down the road.",
    "Codes 1990 1991 1992 mean nothing; rooms 12 to 14 are shut.",
    "The number 4111 1111 1111 1112 fails its check.",
    "i.e. this, e.g. that, etc. and so on",
    "table 12 of chapter 3 of article 5",
]


def marked(text):
    """'a [b] c' -> 'a b c', (2, 3)."""
    start, end = text.index("["), text.index("]") - 1
    return text.replace("[", "").replace("]", ""), (start, end)


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=lambda one: one[:40])
def test_found_whole_and_nothing_else(kind, text):
    plain, span = marked(text)
    found = detect(Document("d", plain), [Recognizers()])
    assert [(one.kind, one.start, one.end) for one in found] == [(kind, *span)]
    assert all(one.because.startswith("recognizers: ") for one in found)


@pytest.mark.parametrize("text", NOT_FOUND)
def test_ordinary_figures_are_left_alone(text):
    assert detect(Document("d", text), [Recognizers()]) == []


def test_a_list_of_addresses_is_several():
    text = "12 Main Street\n14 Oak Road, Leeds LS6 2AB\n3 Elm Lane, Apt. 5\n"
    found = [text[one.start : one.end] for one in detect(Document("d", text), [Recognizers()])]
    assert found == ["12 Main Street", "14 Oak Road, Leeds LS6 2AB", "3 Elm Lane, Apt. 5"]


def test_money_only_when_asked_for():
    document = Document("d", "He paid $1,200.50 and 3 million euros.")
    assert detect(document, [Recognizers()]) == []
    assert [document.text[one.start : one.end] for one in detect(document, [Recognizers(("money",))])] == ["$1,200.50", "3 million euros"]


def test_an_unknown_kind_is_refused():
    with pytest.raises(ParameterError, match="Did you mean 'phone'"):
        Recognizers(("phon",))


def test_reasons_do_not_repeat_the_text():
    text = "SSN 123-45-6789, jane@example.org, 12 Main Street, Dr. Quentin Xyzzy"
    for one in Recognizers().detect(Document("d", text)):
        assert not set(text[one.start : one.end].split()) & set(one.because.split())


PIECES = st.sampled_from(
    [
        *("John Smith", "Mr. Xyz", "12 Main Street", "Apt. 5", "London", "SW1A 2AA", "123-45-6789", "+44 20 7946 0958", "4111111111111111"),
        *("a@b.org", "3 March 1999", "1980", "account", "phone:", "the", "and", ",", ".", "\n", "Inc.", "(", "°", "é", "ß", "İ", "𝔘"),
        *("\u200b", "0", "-", "@", "x"),
    ]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=25).map(" ".join)


@given(TEXTS)
@settings(max_examples=150, deadline=None)
@example("12 Main Street\n\n")
def test_findings_lie_inside_in_order_and_apart_and_are_repeatable(text):
    document = Document("d", text)
    found = detect(document, [Recognizers()])
    assert all(0 <= one.start < one.end <= len(text) and 0 < one.confidence <= 1 for one in found)
    assert all(before.end <= after.start for before, after in pairwise(found))
    assert detect(document, [Recognizers()]) == found


@given(TEXTS, TEXTS)
@settings(max_examples=150, deadline=None)
def test_a_later_paragraph_changes_nothing_before_it(first, second):
    one = first.rstrip()
    alone = Recognizers().detect(Document("d", one))
    both = [finding for finding in Recognizers().detect(Document("d", one + "\n\n" + second)) if finding.start < len(one)]
    assert both == alone


@pytest.mark.parametrize(
    "piece",
    [
        "A-",
        "a.",
        "1 ",
        "1-",
        "A ",
        "Aa ",
        "x@",
        "1.1",
        ":",
        "Mr. ",
        "12 Aa ",
        "(1)",
        ".",
        "Unit 5 ",
        "Aa1-",
        "A, A and ",
        "Street ",
        "\n1 A",
    ],
)
def test_time_grows_with_length_and_not_faster(piece):
    import time

    def seconds(size):
        document = Document("d", piece * (size // len(piece)))
        before = time.process_time()
        Recognizers().detect(document)
        return time.process_time() - before

    seconds(1_000)
    short = seconds(20_000)
    assert seconds(80_000) < max(12 * short, 1.0)
