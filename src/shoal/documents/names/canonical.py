"""Dates, telephone and other numbers, addresses on the net and on the street: one way to write each, so that two ways are seen to be one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from shoal.documents.names.folding import fold
from shoal.errors import DataError

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join(f"{name[:3]}[a-z]*" for name in MONTHS)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>\d{4}|'?\d{2})"
_IN_WORDS = (
    rf"(?:the )?{_DAY}(?: of)?[ -]*(?P<month>{_MONTH})(?:[ ,-]*{_YEAR})?",
    rf"(?P<month>{_MONTH})[ -]*(?:the )?{_DAY}(?:[ ,]+{_YEAR})?",
    rf"(?P<month>{_MONTH})[ ,-]*(?:of )?(?P<year>\d{{4}})",
)
_IN_NUMBERS = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"(?P<first>\d{1,2})[-/. ](?P<second>\d{1,2})[-/. ](?P<year>\d{4}|\d{2})",
)
DateOrder = Literal["day-first", "month-first", "unknown"]


@dataclass(frozen=True)
class Date:
    """A date as far as it is written. `loose` holds the two numbers of 3/5/2021 while nobody knows which is the day."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    loose: tuple[int, int] | None = None

    def read_as(self, order: DateOrder) -> Date:
        """The same date once it is known which number comes first; unchanged where it is not."""
        if self.loose is None:
            return self
        first, second = self.loose
        if first > 12 or first == second or (order == "day-first" and second <= 12):
            return Date(self.year, second, first)
        if second > 12 or order == "month-first":
            return Date(self.year, first, second)
        return self


def parse_date(text: str) -> Date | None:
    """The date a text is, or None. Weekdays, times of day and ordinals are read over; years of two digits are of 1950 to 2049."""
    plain = re.sub(rf"\b(?:{'|'.join(f'{d[:3]}[a-z]*' for d in WEEKDAYS)})\b[., ]*", "", fold(text)) if text else ""
    plain = re.sub(r"(?<=\d)[t ,]+(?:at )?\d{1,2}:\d{2}.*$", "", plain).replace(".", ". ")
    for pattern in _IN_WORDS:
        found = re.fullmatch(pattern, re.sub(r"\s+", " ", re.sub(r"(?<=[a-z])\.", "", plain)).strip(" .,"))
        if found:
            got = found.groupdict()
            month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(got["month"][:3]))
            return _valid(Date(_year(got.get("year")), month, int(got["day"]) if got.get("day") else None))
    compact = re.sub(r"\s*([-/.])\s*", r"\1", plain).strip(" .,")
    found = re.fullmatch(_IN_NUMBERS[0], compact)
    if found:
        return _valid(Date(int(found["year"]), int(found["month"]), int(found["day"])))
    found = re.fullmatch(_IN_NUMBERS[1], compact)
    if found:
        first, second = int(found["first"]), int(found["second"])
        return (
            Date(_year(found["year"]), loose=(first, second)) if min(first, second) in range(1, 13) and max(first, second) <= 31 else None
        )
    return Date(int(compact)) if re.fullmatch(r"1[5-9]\d\d|20\d\d", compact) else None


def _year(text: str | None) -> int | None:
    if not text:
        return None
    number = int(text.strip("'"))
    return number if number > 99 else number + (1900 if number >= 50 else 2000)


def _valid(date: Date) -> Date | None:
    return date if 1 <= (date.month or 1) <= 12 and 1 <= (date.day or 1) <= 31 else None


def date_order(dates: list[Date]) -> DateOrder:
    """Which number comes first in a corpus: what its dates with a number over twelve say, when they agree."""
    pairs = [date.loose for date in dates if date.loose]
    day, month = any(first > 12 for first, _ in pairs), any(second > 12 for _, second in pairs)
    return "day-first" if day and not month else "month-first" if month and not day else "unknown"


def phone(text: str) -> tuple[str, str]:
    """(country code or '', national digits with the extension): '+44 (0)20 7946 0958' -> ('44', '2079460958')."""
    try:
        import phonenumbers
    except ImportError as error:
        raise DataError("Comparing telephone numbers needs an extra: pip install 'shoal[documents]'.") from error
    body, _, extension = re.sub(r"(?:extension|\bext|x)\.?\s*(?=\d)", "#", text.replace("(0)", ""), flags=re.IGNORECASE).partition("#")
    body = re.sub(r"^[^\d+(]*?(?=[+(]?\d)", "", body)
    if re.search(r"\d.*[A-Za-z]{3}", body):
        body = phonenumbers.convert_alpha_characters_in_number(body)
    digits = re.sub(r"\D", "", body)
    tail = "x" + re.sub(r"\D", "", extension) if extension else ""
    if digits.startswith("00"):
        body, digits = "+" + digits[2:], digits[2:]
    if body.lstrip("( ").startswith("+"):
        try:
            parsed = phonenumbers.parse("+" + digits)
        except phonenumbers.NumberParseException:
            return "", digits + tail
        return str(parsed.country_code), str(parsed.national_number) + tail
    if len(digits) == 11 and digits.startswith("1"):
        return "1", digits[1:] + tail
    return "", digits.lstrip("0") + tail


def email(text: str) -> str:
    """Lower case, without 'mailto:' and brackets, with '[at]' and '[dot]' as signs."""
    plain = re.sub(r"^mailto:", "", fold(text).strip("<>()[]\"' .,;"))
    plain = re.sub(r"\s*[\[({]\s*at\s*[\])}]\s*|\s+at\s+", "@", plain)
    return re.sub(r"\s*[\[({]\s*dot\s*[\])}]\s*|\s+dot\s+|\s+", lambda m: "." if "dot" in m[0] else "", plain)


def url(text: str) -> str:
    """Without scheme, 'www.' and last slash; the host in lower case, the path as it is."""
    plain = re.sub(r"^[a-z][a-z0-9+]*://", "", text.strip("<>()[]\"' .,;"), flags=re.IGNORECASE)
    host, slash, path = plain.partition("/")
    return (re.sub(r"^www\.", "", host.lower()) + slash + path).rstrip("/")


def number(text: str) -> str:
    """An account or identity number: letters and digits, without the words before it."""
    plain = fold(text)
    plain = re.sub(
        r"^(?:(?:iban|bic|ssn|social security|passport|account|acct|card|licen[cs]e|member|patient|case|file|tax|nhs|mrn|id|identity)\b[\s.:#]*)+"
        r"(?:(?:number|no|nr|num)\b[\s.:#]*)?",
        "",
        plain,
    )
    return "".join(c for c in plain if c.isalnum()) or "".join(c for c in fold(text) if c.isalnum())


_STREET = {
    "st": "street", "str": "street", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard", "dr": "drive", "ln": "lane", "ct": "court",
    "pl": "place", "sq": "square", "hwy": "highway", "pkwy": "parkway", "ter": "terrace", "apt": "apartment", "ste": "suite", "fl": "floor",
    "n": "north", "s": "south", "e": "east", "w": "west", "ne": "northeast", "nw": "northwest", "se": "southeast", "sw": "southwest",
    "rm": "room", "bldg": "building", "no": "number",
}  # fmt: skip
_UNITS = {"apartment", "suite", "floor", "room", "unit", "building", "number", "flat"}


def address(text: str) -> tuple[str, str]:
    """(street with its number and unit, the town and what follows): '12 Main St., Springfield' -> ('12 main street', 'springfield')."""
    parts = []
    for piece in re.split(r"[,\n;]+", text.replace("#", " apt ")):
        words = [_STREET.get(word, word) for word in re.findall(r"[\w']+", fold(piece).replace("'", ""))]
        if words:
            parts.append(words)
    units = sorted(" ".join(words) for words in parts[1:] if words[0] in _UNITS)
    rest = [" ".join(words) for words in parts[1:] if words[0] not in _UNITS]
    return " ".join([*(parts[0] if parts else []), *units]), ", ".join(rest)
