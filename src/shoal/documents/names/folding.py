"""Letters made comparable: case, accents, apostrophes and dots folded away, so that one word has one spelling."""

import re
import unicodedata
from functools import lru_cache

# What Unicode does not take apart, and Cyrillic as English newspapers write it.
_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "ß": "ss", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "’": "'", "‘": "'", "ʼ": "'", "`": "'",
        "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z", "и": "i", "й": "y", "к": "k", "л": "l",
        "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh",
        "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "yu", "я": "ya", "‐": "-", "‑": "-", "–": "-", "—": "-", "\u00ad": "",
    }
)  # fmt: skip
# Written out where the dots or rings cannot be: Müller, Mueller.
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_MARKS = frozenset("'’‘ʼ`")
_POSSESSIVE = re.compile(r"(?:(?<=\w)['’‘ʼ`][sS]|(?<=[sSxzXZ])['’‘ʼ`])$")
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=1 << 16)
def fold(text: str) -> str:
    """'Łukasz’s' -> "lukasz's": lower case, no accents, plain apostrophes and hyphens, single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).casefold().translate(_LETTERS)
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(text.casefold().split())


def written_out(text: str) -> str:
    """'Müller' -> 'mueller': umlauts as two letters; the same as `fold` where there are none."""
    return fold(text if text.isascii() else unicodedata.normalize("NFC", text).casefold().translate(_WRITTEN_OUT))


def without_possessive(text: str) -> str:
    """'Smith's' and 'Jones'' lose what follows the name."""
    return _POSSESSIVE.sub("", text) if text[-2:-1] in _MARKS or text[-1:] in _MARKS else text


def bare(text: str) -> str:
    """Letters and digits only, folded: the key of last resort, and of keep and drop lists."""
    text = text.strip()
    folded = fold(without_possessive(text))
    return folded if folded.isalnum() else "".join(filter(str.isalnum, folded))


def tokens(text: str) -> list[str]:
    """The words of a text, folded, without marks: what a replacement must not share with the name it replaces."""
    return _WORD.findall(fold(text))


def in_order(words: str) -> tuple[str, ...]:
    """A list of words, as it is easiest to read and to edit."""
    return tuple(words.split())


def word_set(words: str) -> frozenset[str]:
    """The same where only membership counts."""
    return frozenset(words.split())
