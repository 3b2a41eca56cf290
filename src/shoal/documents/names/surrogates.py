"""Invented names, numbers and dates that stand for real ones. They tell neither sex nor initial nor length, and no name of the corpus is among them.

Names are put together from syllables written for shoal. Telephone numbers are of the ranges kept free for fiction (555-0100 to 555-0199), mail
and web addresses of the domains kept free for examples (RFC 2606), identity numbers of a group the United States never issue, account numbers of
a country code (ZZ) that no country has.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Iterable, Sequence

from numpy.random import Generator

from shoal.document import ACCOUNT, ADDRESS, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, UNKNOWN, URL
from shoal.documents.names.canonical import MONTHS, WEEKDAYS, Date, DateOrder, parse_date
from shoal.documents.names.folding import fold, in_order, tokens
from shoal.documents.names.known_names import GIVEN, SURNAMES
from shoal.documents.names.places import gazetteer

_BEGIN = in_order("""
    bal bren cal cor dal dor fal fen gal gor hal hol jar kel kor lan lor mal mar nel nor pal pel quen ral ren sal sel tal tor val vel wal wen yar zel
""")
_MIDDLE = in_order("a ade ai an ar e el en er i ic il in o ol on or u un")
_NAME_END = in_order("""
    beck bray cott crane dane dell dow fell gate gill grove hurst kett land lock mere mont quist rick row shaw stead ton vane wick wyn
""")
_PLACE_END = in_order("bourne bridge bury by combe dale field ford ham haven holm ley minster mouth port stoke thorpe vale well worth")
_GIVEN = in_order("""
    arden auber bexley brice calla corrin dacey devan eddis ellery farrin gale hadley indry jessamy kerrin lanis merrin nevis orrin perrin rellis
    sorrel tamsen urien vesper wrenley yarrow zephan
""")  # no sex clings to them
_FIRM = in_order("group partners works trading alliance collective enterprises ventures agency council")
_STREET = in_order("road lane street avenue way close row walk")
_DOMAINS = ("example.org", "example.com", "example.net", "mail.example", "post.invalid", "box.test")
_RESERVED = frozenset(("555", "00"))  # what makes a number a free one may stand in the number it replaces
_TRIES = 200
SHIFT = (31, 1461)  # days: a month at least, four years at most, either way


class Surrogates:
    """Draws one invented name after another. No invented word comes twice, is a word of the corpus, or the name of a known person or place."""

    def __init__(self, corpus: Iterable[str], rng: Generator) -> None:
        self._used = {token for text in corpus for token in tokens(text)} | GIVEN | SURNAMES
        self._given = [name for name in _GIVEN if name not in self._used]
        self._rng = rng
        self._makers: dict[str, Callable[[], str]] = {
            PERSON: lambda: f"{self._pick(self._given).title()} {self._word(_NAME_END)}" if self._given else self._word(_NAME_END),
            ORGANIZATION: lambda: f"{self._word(_NAME_END)} {self._pick(_FIRM).title()}",
            LOCATION: lambda: self._word(_PLACE_END),
            ADDRESS: lambda: (
                f"{self._rng.integers(1, 400)} {self._word(_NAME_END)} {self._pick(_STREET).title()}, {self._word(_PLACE_END)}"
            ),
            EMAIL: lambda: f"{self._word(_NAME_END).lower()}@{self._pick(_DOMAINS)}",
            URL: lambda: f"{self._pick(_DOMAINS)}/{self._word(_NAME_END).lower()}",
            PHONE: lambda: f"({self._rng.integers(201, 990)}) 555-01{self._rng.integers(100):02d}",
            IDENTITY: lambda: f"9{self._rng.integers(100):02d}-00-{self._rng.integers(10_000):04d}",
            ACCOUNT: self._account,
            UNKNOWN: lambda: self._word(_NAME_END),
        }

    def draw(self, kind: str, names: Iterable[str]) -> str | None:
        """A surrogate that shares no word with these names. None for kinds without surrogates; dates, for one, are shifted instead."""
        make = self._makers.get(kind)
        own = {token for name in names for token in tokens(name)}
        for _ in range(_TRIES if make else 0):
            made = make() if make else ""
            if made not in self._used and own.isdisjoint(set(tokens(made)) - _RESERVED):
                self._used.add(made)
                return made
        return None

    def _word(self, ends: Sequence[str]) -> str:
        """A new word; a longer one when the shorter ones are used up."""
        word, tries = "", 0
        while not word or word in self._used or gazetteer().known(word):
            stem = "".join(self._pick(_BEGIN) + self._pick(_MIDDLE) for _ in range(1 + tries // 20))
            word, tries = stem + self._pick(ends), tries + 1
        self._used.add(word)
        return word.title()

    def _account(self) -> str:
        digits = "".join(map(str, self._rng.integers(0, 10, 16)))
        # ISO 13616: with the country behind and its letters as numbers, the check digits make the whole 1 modulo 97.
        check = 98 - int(f"{digits}353500") % 97
        return " ".join(re.findall(".{1,4}", f"ZZ{check:02d}{digits}"))

    def _pick(self, words: Sequence[str]) -> str:
        return words[int(self._rng.integers(len(words)))]


def draw_shift(rng: Generator) -> datetime.timedelta:
    """A secret number of days, by which all dates move together, so that the time between them stays."""
    days = int(rng.integers(*SHIFT))
    return datetime.timedelta(days=days if rng.random() < 0.5 else -days)


def shifted(text: str, shift: datetime.timedelta, order: DateOrder, year: int | None = None) -> str | None:
    """The date moved, written the way it was; None where it is not clear which date it is. `year` is that of a date written without."""
    date = parse_date(text)
    if date is None:
        return None
    date = date.read_as(order)
    if date.loose is not None:
        return None
    try:
        moved = datetime.date(date.year or year or 2001, date.month or 7, date.day or 15) + shift
    except (ValueError, OverflowError):
        return None
    return _written_like(text, date, moved)


def _written_like(text: str, date: Date, moved: datetime.date) -> str:
    plain = fold(text)
    if date.month is None:
        return str(moved.year)
    month = MONTHS[moved.month - 1].title()
    in_words = re.search(r"[a-z]{3,}", re.sub(rf"\b(?:{'|'.join(day[:3] for day in WEEKDAYS)})[a-z]*", "", plain))
    if date.day is None:
        return f"{month} {moved.year}"
    if in_words is None:
        mark = next((c for c in plain if c in "-/."), "-")
        if re.match(r"\d{4}", plain):
            return mark.join((f"{moved.year:04d}", f"{moved.month:02d}", f"{moved.day:02d}"))
        day_first = int(re.findall(r"\d+", plain)[0]) == date.day
        first, second = (moved.day, moved.month) if day_first else (moved.month, moved.day)
        return mark.join((f"{first:02d}", f"{second:02d}", f"{moved.year:04d}"))
    weekday = f"{calendar.day_name[moved.weekday()]}, " if any(re.search(rf"\b{day[:3]}", plain) for day in WEEKDAYS) else ""
    day_before_month = re.search(rf"\d.*?(?:{'|'.join(name[:3] for name in MONTHS)})", plain)
    if date.year is None:
        return f"{weekday}{moved.day} {month}" if day_before_month else f"{weekday}{month} {moved.day}"
    return f"{weekday}{moved.day} {month} {moved.year}" if day_before_month else f"{weekday}{month} {moved.day}, {moved.year}"
