"""Telephone numbers: groups of digits that a numbering plan allows, or that stand after a word for a telephone."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from shoal.document import PHONE, Finding
from shoal.documents.detectors.zones import MANY_DIGITS, search_in, zones
from shoal.errors import DataError

REGIONS = tuple("US GB FR DE ES IT NL BE CH AT SE NO DK FI PT PL IE CA AU NZ IN BR ZA".split())  # noqa: SIM905

_GROUPS = re.compile(
    r"(?<![\w./:$€£#@-])(?<!\d,)(?:(?<!\d)\+|00[ .-]?(?=[1-9]))?(?:\(\+?\d{1,5}\)|\d+)(?:(?:[ .\-/]{1,2}|[ ]?(?=\()|(?<=\)))(?:\(\d{1,5}\)|\d+)){0,6}"
    r"(?:[ ]?(?:x|ext\.?|extension|#)[ ]?\d{1,6})?(?![\w%]|[.,:/]\d)",
    re.IGNORECASE,
)
_WORD = re.compile(
    r"(?<![^\W_])(?:(?:tele)?phones?|tel|mobile|cell(?:phone|ular)?|fax|facsimile|telefax|desk|office|home|work|landline|hotline|pager"
    r"|whatsapp|sms|text(?: me)?|dial|call(?:ed|ing)?|ring|reach|contact|telefon|telefono|teléfono|téléphone|handy|mobil|móvil)"
    r"(?![^\W_])[^\d\n]{0,22}[\n ]?$",
    re.IGNORECASE,
)
_AFTER = re.compile(r"[ ]?[-(]?[ ]?(?:office|fax|home|work|mobile|cell|tel|phone|desk)\b", re.IGNORECASE)
_YEARS = re.compile(r"(?:1[5-9]|20)\d\d")
_DATE = re.compile(r"(?:1[5-9]|20)\d\d[-/. ]\d{1,2}[-/. ]\d{1,2}|\d{1,2}([-/. ])\d{1,2}\1(?:1[5-9]|20)?\d\d")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_SHAPES = re.compile(
    r"\(?\d{3}\)?[ .-]?\d{3}[-. ]\d{4}(?:[ ]?x\d+)?|\(\d{2,5}\)[ ]?\d[\d -]{5,}"
    r"|0\d{3,4}[ ]\d{3}[ -]\d{3,4}(?:[ ]?(?:x|ext\.?)[ ]?\d+)?|0\d(?:[ .]\d\d){4}|\d{3}[-.]\d{4}",
    re.IGNORECASE,
)


def find_phones(text: str) -> Iterator[Finding]:
    """Digit groups that are a telephone number by their country code, by a word beside them, by a numbering plan, or by shape."""
    for match in search_in(_GROUPS, text, zones(text, MANY_DIGITS, 5, 40)):
        written = match[0]
        main = re.split(r"x|ext|#", written, maxsplit=1, flags=re.IGNORECASE)[0]
        digits = sum(map(str.isdigit, main))
        if not 6 <= digits <= 15 or _DATE.fullmatch(written) or _IP.fullmatch(written):
            continue
        judged = _judge(written, digits, text[max(0, match.start() - 45) : match.start()], text[match.end() : match.end() + 10])
        if judged is not None:
            yield Finding(match.start(), match.end(), PHONE, *judged)


def _judge(written: str, digits: int, before: str, after: str) -> tuple[float, str] | None:
    groups = re.findall(r"\d+", written)
    if all(_YEARS.fullmatch(group) for group in groups):
        return None
    named = _WORD.search(before.rpartition("\n\n")[2]) or _AFTER.match(after)
    if written.startswith(("+", "00")) and digits >= 8:
        return (0.97, "a telephone number with its country code") if possible_abroad(written) or named else None
    if named:
        return 0.9, "digits beside a word for a telephone"
    if len(groups) == 1 or digits < 7:
        return None
    if _SHAPES.fullmatch(written):
        return 0.8, "digits grouped as a telephone number"
    marks = set(re.findall(r"(?<=\d)[^\d()]+(?=\d)", written))  # a row of a table mixes them
    plain = digits >= 8 and len(marks) < 2 and "/" not in marks
    return (0.7, "a telephone number of a known numbering plan") if plain and valid_somewhere(written) else None


@lru_cache(maxsize=4096)
def possible_abroad(written: str) -> bool:
    """A number with its country code that could be dialled."""
    phonenumbers = _library()
    try:
        return bool(phonenumbers.is_possible_number(phonenumbers.parse(re.sub(r"^00[ .-]?", "+", written), None)))
    except phonenumbers.NumberParseException:
        return False


@lru_cache(maxsize=4096)
def valid_somewhere(written: str) -> bool:
    """A number without country code that one of the regions has given out."""
    phonenumbers = _library()
    for region in REGIONS:
        try:
            if phonenumbers.is_valid_number(phonenumbers.parse(written, region)):
                return True
        except phonenumbers.NumberParseException:
            return False
    return False


def _library() -> Any:
    try:
        import phonenumbers
    except ImportError:
        raise DataError("Finding telephone numbers needs an extra: pip install 'shoal[documents]'.") from None
    return phonenumbers
