"""Recognizers: a table of what is found and what is not, and what must hold for any text."""

import sys
from itertools import count, pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal.document import ACCOUNT, ADDRESS, DATE, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, URL, Document
from shoal.documents.detectors.detect import detect
from shoal.documents.detectors.recognizers import Recognizers
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
    (PHONE, "It is [(01632) 960-776] now."),
    (PHONE, "It is [01632 960-776] now."),
    (PHONE, "It is [01632 960 776 ext 4417] now."),
    (PHONE, "ask ext. [4417] for it"),
    (PHONE, "or bleep [882] at night"),
    (ACCOUNT, "by cheque [000873] then"),
    (ACCOUNT, "Card [4111 1111 1111 1111] is lost"),
    (ACCOUNT, "Pay to [GB82 WEST 1234 5698 7654 32] please"),
    (ACCOUNT, "my account number is [12-345678]"),
    (ACCOUNT, "in case no. [2019-CV-00123] the court"),
    (ACCOUNT, "ask [@some_name] about it"),
    (IDENTITY, "SSN [123-45-6789]"),
    (IDENTITY, "passport number [X1234567]"),
    (IDENTITY, "her driver's license is [D1234-56789]"),
    (IDENTITY, "NINO [AB 12 34 56 C]"),
    (IDENTITY, "NI [QQ 12 34 56 C] now"),
    (IDENTITY, "National Insurance number: [QQ123456C]"),
    (IDENTITY, "Hosp no: [RBX 611920]"),
    (IDENTITY, "Lab no [H19-03321] was"),
    (IDENTITY, "her car ([AB12 CDE]) was"),
    (IDENTITY, "registration [AB12\nCDE]"),
    (IDENTITY, "matrícula, plate [1234 BCD] was"),
    (IDENTITY, "DNI [12345678Z]"),
    (IDENTITY, "codice fiscale [RSSMRA85T10A562S]"),
    (DATE, "on [3 March 1999] they"),
    (DATE, "on [March 3rd, 1999] they"),
    (DATE, "on [1999-03-03 14:05:06] they"),
    (DATE, "on [3/9/1999] they"),
    (DATE, "on [03.09.99] they"),
    (DATE, "am [3. Oktober 1990] war"),
    (DATE, "el [3 de octubre de 1990] fue"),
    (DATE, "she died [18/3] at home"),
    (DATE, "admitted on [3/18] again"),
    (DATE, "on [16/III/2018] she"),
    (DATE, "born [9-IX-1971] there"),
    (DATE, "on the [Second February twenty-nineteen] we"),
    (DATE, "the [twenty-first of May, nineteen eighty-four] was"),
    (DATE, "in [Feb '19] she"),
    (DATE, "in [Q2 2019] they"),
    (DATE, "am [5. März 2018] von Dr."),
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
    (ADDRESS, "lives at [2 Pebble Cottage] now"),
    (ADDRESS, "lives at [2 Pebble Farm, Wick] now"),
    (ADDRESS, "lives at [Rose Cottage] now"),
    (ADDRESS, "at [The Old Lodge, Marsh Lane, Wick KW1 4AA]."),
    (ADDRESS, "at [Rose House, Leeds LS6 2AB]\nJane Holloway\nConsultant"),
    (ADDRESS, "at [12 Oak Road, Leeds LS6 2AB\nEngland]\nJane Holloway"),
    (ADDRESS, "à [BP 242, 98845 Nouméa] ici"),
    (ADDRESS, "à [BP 1234 Dakar] ici"),
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
    "bp 150 over 90, then BP 150/90, BP 150 mmHg, BP 150, Pulse 80",
    "Her BP 150 On ramipril, BP 150 Reading taken at rest",
    "power 5/5 on the left, on 1/2 tablet, on 2/3 of days, seen 2/7 ago, back in 6/12",
    "The first day was long, the second say no, the third decay.",
    "The first may be late, the second march was short, the First March too.",
    "the cheque for 500 pounds, an extension of 12 months, check 12345 cells",
    "the vehicle cost 2019 USD; then Hospital No. 3 was shut; Unit: 5000 IU",
    "2 White House aides",
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


def numbers_of(text):
    return [text[one.start : one.end] for one in detect(Document("d", text), [Recognizers()]) if one.kind == IDENTITY]


@pytest.mark.parametrize("head", ["MRN", "NHS", "ID", "Hospital no.", "NHS number"])
def test_a_column_of_numbers_under_its_head(head):
    rows = [("Ann", "448812", "70001"), ("Bob", "943 476 5919", "70002"), ("Eve", "none", "70003")]
    by_row = f"Name\t{head}\tSteps\n" + "\n".join("\t".join(row) for row in rows)
    by_bar = by_row.replace("\t", " | ")
    by_cell = f"Name\n{head}\nWard\nAnn\n448812\nB7\nBob\n5512093\nB8\n"
    assert numbers_of(by_row) == numbers_of(by_bar) == ["448812", "943 476 5919"]  # not those of the next column
    assert numbers_of(by_cell) == ["448812", "5512093"]


def test_a_column_ends_with_its_table():
    assert numbers_of("ID\n44881\n\n55120\n") == ["44881"]
    assert numbers_of("ID\n44881\n" + "Then a line of ordinary text follows. " * 2 + "\n55120\n") == ["44881"]
    assert numbers_of("Is it so?\nNo\n55120\n") == []


@given(st.lists(st.integers(10_000, 10**10 - 1), min_size=1, max_size=6), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=50, deadline=None)
def test_every_number_of_a_named_column_is_found(numbers, left, right):
    row = ["x"] * left + ["{}"] + ["y"] * right
    text = "\n".join("\t".join(row).format(cell) for cell in ("MRN", *numbers))
    assert numbers_of(text) == [str(number) for number in numbers]


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
        *("MRN", "\t", "448812", "BP 150", "Rose Cottage", "died 18/3", "second of May", "cheque", "ext.", "9-IX-1971", "LS6 2AB"),
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
        "ID\t",
        "MRN\n12345\n",
        "Aa Cottage, ",
        "Aa House\n1 ",
        "BP 1 Aa ",
        "on 1/1 ",
        "first May ",
    ],
)
def test_work_grows_with_length_and_not_faster(piece):
    """Searches are counted, not seconds, which a busy machine would stretch; `make bench` prints how the time inside them grows."""

    def calls(size):
        document, counted = Document("d", piece * (size // len(piece))), count()
        sys.setprofile(lambda *_: next(counted) and None)
        try:
            Recognizers().detect(document)
        finally:
            sys.setprofile(None)
        return next(counted)

    calls(400)
    assert calls(8_000) <= 4.4 * calls(2_000)
