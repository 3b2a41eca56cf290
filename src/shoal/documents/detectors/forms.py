"""The forms that recognizers know: addresses of the web and of mail, accounts, coordinates, money. Identity numbers have a file of their own."""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

from shoal.document import ACCOUNT, EMAIL, LOCATION, PHONE, URL
from shoal.documents.detectors import check_digits as check
from shoal.documents.detectors.zones import DIGIT, MANY_DIGITS

MONEY = "money"
MANY, SOME, FEW = (MANY_DIGITS, 12), (DIGIT, 75), (DIGIT, 12)
WINDOWS = (MANY, SOME, FEW)


@dataclass(frozen=True)
class Pattern:
    """A form, a check it must pass, words that must stand before it, and where in a text it is worth looking."""

    kind: str
    because: str
    form: re.Pattern[str]
    passes: Callable[[str], bool] | None = None
    context: re.Pattern[str] | None = None  # must stand before, at most `gap` characters away
    sure: float = 0.9
    gap: int = 30
    window: tuple[re.Pattern[str], int] | None = MANY
    needs: str = ""  # what the text must hold at all


def alone(form: str, flags: int = 0) -> re.Pattern[str]:
    """The form between characters that are no part of a word or a longer number."""
    return re.compile(rf"(?<![\w])(?<!\d[.,-])(?:{form})(?![\w])(?![.,-]\d)", flags)


def words(listed: str) -> re.Pattern[str]:
    """One of the words, whole, in any case."""
    return re.compile(rf"(?<![^\W_])(?:{listed})(?![^\W_])", re.IGNORECASE)


def has_digits(least: int) -> Callable[[str], bool]:
    return lambda text: sum(map(str.isdigit, text)) >= least


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return len(text) > 5


def _is_card(text: str) -> bool:
    return check.luhn(text) and _CARD_BRANDS.match(check.bare(text)) is not None


_CARD_BRANDS = re.compile(r"1800|2131|2[2-7]|3[0456789]|4|5|6")
_TLD = (
    "com|org|net|edu|gov|mil|int|info|biz|name|io|co|ai|app|dev|me|tv|eu|us|uk|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|is|ie|pt|pl|cz|sk|hu|ro"
    "|bg|gr|hr|rs|si|ee|lv|lt|lu|ru|ua|tr|il|in|cn|jp|kr|tw|hk|sg|my|th|id|ph|vn|au|nz|ca|mx|br|ar|cl|pe|za|ng|ke|eg|ma|ae|sa|ir|pk|gl|cy"
    "|mt|xyz|online|site|shop|blog"
)
_MAIL = r"(?<![\w.+%'-])[\w.+%'-]*[\w+%-]@(?:[^\W_](?:[\w-]*[^\W_])?\.)+[^\W\d_]{2,24}(?![\w-])"
_WEB = r"\b(?:https?|ftps?|sftp|file)://[^\s<>\"'’”\])}]*[^\s<>\"'’”\])}.,;:!?]"
_PATH = r"(?:/[^\s<>\"')\]]*[\w/])?"
_HOST = rf"(?<![\w@.-])(?:www\.(?:[\w-]+\.)+[a-z]{{2,}}|(?:[a-zA-Z0-9][\w-]*\.)+(?:{_TLD}))(?![\w-]|\.\w|@){_PATH}"
_IPV4 = r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w]|\.\d)"
_IPV6 = r"(?<![\w:.])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?![\w:])"
_IBAN = r"[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,4})?"
_LONG = r"\d(?:[ -]?\d){11,18}"
_DEGREES = r"\d{1,3}(?:\.\d+)?\s?°\s?(?:\d{1,2}(?:\.\d+)?\s?['′’]\s?)?(?:\d{1,2}(?:\.\d+)?\s?(?:\"|″|”|'')\s?)?[NSEWnsew](?!\w)"
_DECIMALS = r"(?<![\w.])[-+]?(?:[1-8]?\d|90)\.\d{3,},\s?[-+]?(?:1[0-7]\d|180|\d?\d)\.\d{3,}(?![\w])"
_MONEY = (
    r"(?:[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|US\$))\s?\d[\d,.]*(?<![,.])(?:\s?(?:million|billion|thousand|k|m|bn)\b)?"
    r"|\b\d[\d,.]*\s?(?:million |billion |thousand )?(?:dollars|euros?|pounds|yen|francs|USD|EUR|GBP|CHF)\b"
)
# A code after a word for it: letters and digits in groups, with at least one digit near the start.
CODE_PARTS = r"(?=[A-Z/.-]*\d)[A-Z\d]+(?:[-/.][A-Z\d]+|[ ]\d+){0,5}"
CODE = alone(CODE_PARTS, re.IGNORECASE)
_ACCOUNT = words(r"account|acct|a/c|iban|policy|invoice|docket|membership|(?:our |your )ref|ref(?:erence)?[.:]")
_CALLED = r"(?:[ ]?(?:no|nr|number|num|#)\.?)"
_CHEQUE = words(rf"cheques?{_CALLED}?|check{_CALLED}")
_EXTENSION = words(rf"(?:ext|extn|extension|bleep|bleeper|pager){_CALLED}?\.?")
# Words that stand before many numbers: here the number must be called one.
_NUMBERED = words(
    r"(?:case|file|claim|reference|ref|order|ticket|tracking|application|contract|loan|user|member|employee|student|customer|client|serial"
    r"|warrant|badge|payroll|patient|record|complaint|incident|permit|certificate|transaction|booking|reservation)"
    r"[ ]?(?:no|nr|number|num|id|code|#|№|:)\.?"
)

FORMS = (
    Pattern(EMAIL, "an e-mail address", re.compile(_MAIL), sure=0.99, window=None, needs="@"),
    Pattern(URL, "an address of the web", re.compile(_WEB, re.IGNORECASE), sure=0.97, window=None, needs="://"),
    Pattern(URL, "an address of the web", re.compile(_HOST), sure=0.85, window=None, needs="."),
    Pattern(URL, "an internet protocol address", re.compile(_IPV4), _is_ip, sure=0.95, window=FEW),
    Pattern(URL, "an internet protocol address", re.compile(_IPV6), _is_ip, sure=0.9, window=FEW, needs=":"),
    Pattern(URL, "a hardware address", alone(r"(?:[0-9a-fA-F]{2}[:-]){5}[0-9a-fA-F]{2}"), sure=0.9, window=FEW),
    Pattern(ACCOUNT, "the name of an account", re.compile(r"(?<![\w@/.])@[A-Za-z]\w{1,30}\b(?!\.\w)"), sure=0.8, window=None, needs="@"),
    Pattern(ACCOUNT, "an IBAN, check digits hold", alone(_IBAN, re.IGNORECASE), check.iban, sure=0.99),
    Pattern(ACCOUNT, "a card number, check digit holds", alone(_LONG), _is_card, sure=0.95),
    Pattern(
        ACCOUNT, "a long number after the word card", alone(_LONG), None, words("card|visa|mastercard|amex|credit|debit"), 0.8, 40, SOME
    ),
    Pattern(ACCOUNT, "a bank code", alone(r"[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?"), None, words("bic|swift(?:[ -]code)?"), 0.9, 10, None),
    Pattern(ACCOUNT, "a sort code", alone(r"\d\d[ -]?\d\d[ -]?\d\d"), None, words("sort code"), 0.9, 12, SOME),
    Pattern(ACCOUNT, "a routing number, check digit holds", alone(r"\d{9}"), check.us_routing, words("routing|aba|rtn"), 0.9, 20, SOME),
    Pattern(ACCOUNT, "a number after a word for accounts", CODE, has_digits(3), _ACCOUNT, 0.75, 16, SOME),
    Pattern(ACCOUNT, "a number after a word for cases and files", CODE, has_digits(2), _NUMBERED, 0.75, 4, SOME),
    Pattern(ACCOUNT, "a number after the word cheque", alone(r"\d{4,9}"), None, _CHEQUE, 0.8, 2, SOME),
    Pattern(PHONE, "a number after a word for extensions and pagers", alone(r"\d{3,6}(?:/\d{3,6})?"), None, _EXTENSION, 0.8, 2, SOME),
    Pattern(LOCATION, "coordinates", re.compile(_DECIMALS), sure=0.9, window=FEW),
    Pattern(LOCATION, "coordinates", re.compile(rf"(?<!\w){_DEGREES}(?:[ ,]{{1,2}}{_DEGREES})?"), sure=0.9, window=FEW, needs="°"),
    Pattern(MONEY, "an amount of money", re.compile(_MONEY, re.IGNORECASE), sure=0.85, window=FEW),
)
