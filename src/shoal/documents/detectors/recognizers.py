"""Recognizers: what can be told by its form, its check digits and the words before it. No model; each says why."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from shoal.document import ACCOUNT, ADDRESS, DATE, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, URL, Document, Finding
from shoal.documents.detectors.addresses import find_addresses
from shoal.documents.detectors.dates import AGE, find_ages, find_dates
from shoal.documents.detectors.forms import FORMS, MONEY, WINDOWS, Pattern
from shoal.documents.detectors.identity_numbers import IDENTITIES
from shoal.documents.detectors.labelled_names import find_names
from shoal.documents.detectors.phones import find_phones
from shoal.documents.detectors.table_columns import find_columns
from shoal.documents.detectors.zones import Zones, search_in, zones
from shoal.errors import ParameterError, did_you_mean

FOUND = (EMAIL, URL, PHONE, ACCOUNT, IDENTITY, DATE, AGE, ADDRESS, LOCATION, PERSON, ORGANIZATION)
KNOWN = (*FOUND, MONEY)  # money only when it is asked for
PATTERNS = (*FORMS, *IDENTITIES)
LONGEST = 60  # characters: no form of a pattern with digits is longer

FINDERS: tuple[tuple[tuple[str, ...], Callable[[str], Iterator[Finding]]], ...] = (
    ((DATE,), find_dates),
    ((AGE,), find_ages),
    ((PHONE,), find_phones),
    ((IDENTITY,), find_columns),
    ((ADDRESS,), find_addresses),
    ((PERSON, ORGANIZATION, LOCATION), find_names),
)


@dataclass(frozen=True)
class Recognizers:
    """Finds what has a form: addresses of the web and of mail, telephones, accounts, identity numbers, dates, ages, postal addresses,
    coordinates, and names that a title or a legal form gives away. `kinds` says which to look for."""

    name: ClassVar[str] = "recognizers"
    kinds: tuple[str, ...] = FOUND

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KNOWN:
                raise ParameterError(f"The recognizers know no kind '{kind}'.{did_you_mean(kind, KNOWN)} Known: {', '.join(KNOWN)}.")

    def detect(self, document: Document) -> list[Finding]:
        """Findings may overlap: a number can be read in more than one way."""
        text = document.text
        windows = {window: zones(text, *window, LONGEST) for window in WINDOWS}
        found: list[Finding] = []
        for pattern in PATTERNS:
            if pattern.kind in self.kinds and pattern.needs in text:
                where = [(0, len(text))] if pattern.window is None else windows[pattern.window]
                found.extend(_matches(pattern, text, where))
        for kinds, find in FINDERS:
            if set(kinds) & set(self.kinds):
                found.extend(one for one in find(text) if one.kind in self.kinds)
        return sorted(found, key=lambda one: (one.start, one.end, one.kind, one.because))


def _matches(pattern: Pattern, text: str, where: Zones) -> Iterator[Finding]:
    spans = (
        (match.span() for match in search_in(pattern.form, text, where)) if pattern.context is None else _after_words(pattern, text, where)
    )
    for start, end in spans:
        if pattern.passes is None or pattern.passes(text[start:end]):
            yield Finding(start, end, pattern.kind, pattern.sure, pattern.because)


def _after_words(pattern: Pattern, text: str, where: Zones) -> Iterator[tuple[int, int]]:
    """The first fitting form within reach of each context word, in the same paragraph."""
    assert pattern.context is not None
    for word in search_in(pattern.context, text, where):
        stop = text.find("\n\n", word.end(), word.end() + pattern.gap)
        last = word.end() + pattern.gap if stop < 0 else stop
        match = pattern.form.search(text, word.end(), last + LONGEST)
        if match and match.start() <= last:
            yield match.span()
