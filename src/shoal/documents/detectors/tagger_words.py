"""Words as the tagger sees them: how text is cut into tokens and sentences, and what is known of each word form.

Everything the tagger knows of a token comes from its own form, so it is worked out once per form and looked up after that.
"""

import gzip
import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parents[1] / "data"
WORDS = "tagger-words.txt.gz"
LONGEST = 150  # tokens in a row that are tagged together

_ABBREVIATED = (
    "Mr|Mrs|Ms|Mx|Dr|Prof|Rev|Hon|St|Ste|Jr|Sr|Gen|Col|Maj|Capt|Lt|Sgt|Sen|Rep|Gov|Amb|Inc|Ltd|Co|Corp|Bros|Dept|Univ|No|vs|Ave|Rd|Blvd"
)
TOKEN = re.compile(
    r"(?:https?://|www\.)\S+"  # an address of the web
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # of mail
    r"|@\w+"  # an account's name
    rf"|\b(?:{_ABBREVIATED})\."
    r"|\b(?:[A-Z]\.){2,}|\b[A-Z]\.(?=\W|$)"  # U.S., an initial
    r"|\d+(?:[.,:/]\d+)*(?![\w])"
    r"|[^\W_]+(?:['’](?!s\b)[^\W_]+)*"  # O'Brien is one word, Smith's are two
    r"|['’]s\b"
    r"|[^\w\s]|_+"
)
_ENDS = frozenset(".!?…")

# What a token looks like, coarsely: pairs and triples of these are features of their own.
LOOKS = (
    *("edge", "lower", "Title", "UPPER", "mixEd", "letter", "initial", "abbreviation", "number", "number1-2", "year", "alnum", "address"),
    *("look" + mark for mark in ".,:;!?'\"-()/&#|"),
    "mark",
)
LOOK = {name: code for code, name in enumerate(LOOKS)}


class Token(NamedTuple):
    start: int
    end: int
    text: str


def tokens_of(text: str) -> list[Token]:
    """Every token with its place. White space belongs to none."""
    return [Token(match.start(), match.end(), match[0]) for match in TOKEN.finditer(text)]


def sentences_of(text: str, tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """First and last-plus-one token of each sentence. A blank line ends one, a short line does; a wrapped line does not."""
    first, line_start = 0, 0
    for i in range(1, len(tokens)):
        before, token = tokens[i - 1], tokens[i]
        gap = text[before.end : token.start]
        ends = i - first >= LONGEST
        if "\n" in gap:
            line = before.end - line_start
            line_start = token.start
            ends = ends or gap.count("\n") > 1 or line < 45 or not (before.text[-1].isalnum() or before.text in ",-")
        if not ends and gap and before.text in _ENDS:
            ends = not token.text[0].islower()
        if ends:
            yield first, i
            first = i
    if tokens:
        yield first, len(tokens)


class Known(NamedTuple):
    """What the word list says of one lower-case word. 0 is nothing known."""

    lower: int = 0  # Brown cluster of the word in lower case, with a capital, in capitals
    title: int = 0
    upper: int = 0
    caps: int = 0  # 1 to 10: how often it is written with a capital
    often: int = 0  # 1 to 9: how frequent it is
    given: int = 0  # 1 to 3: how frequent as a given name
    surname: int = 0
    place: int = 0  # 1 to 6: a village to a country


NOTHING = Known()


class WordList:
    """The shipped word list: Brown clusters, capitals, given names, surnames, places. A line is read when its word is first asked for."""

    def __init__(self, path: Path) -> None:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            text = file.read()
        words, _, phrases = text.partition("\n\n")
        self._lines = dict(line.split("\t", 1) for line in words.split("\n"))
        self.phrases = {
            tuple(name.split(" ")): int(size) for name, _, size in (line.rpartition("\t") for line in phrases.split("\n") if line)
        }
        self.first_words = {name[0] for name in self.phrases}

    def know(self, lower: str) -> Known:
        """What is known of a lower-case word; without its accents if it is not known with them."""
        line = self._lines.get(lower)
        if line is None:
            plain = without_accents(lower)
            line = self._lines.get(plain) if plain != lower else None
        return Known(*(int(field) for field in line.split("\t"))) if line is not None else NOTHING


@cache
def word_list() -> WordList:
    return WordList(DATA / WORDS)


def without_accents(word: str) -> str:
    """Søren -> soren is not ours to say; Jiří -> Jiri is."""
    return "".join(mark for mark in unicodedata.normalize("NFKD", word) if not unicodedata.combining(mark))


def look_of(token: str) -> str:
    """The coarse look of a token, one of LOOKS."""
    if len(token) == 1 and not token.isalnum():
        return "look" + token if "look" + token in LOOK else "look'" if token == "’" else 'look"' if token in "“”" else "mark"
    if token[0].isdigit() and token.strip(".,:/0123456789") == "":
        return "year" if len(token) == 4 and token[:2] in ("18", "19", "20") else "number1-2" if len(token) < 3 else "number"
    if token[0] == "@" or "://" in token or "@" in token or token.startswith("www."):
        return "address"
    if token[-1] == "." and len(token) > 1:
        return "initial" if len(token) == 2 else "abbreviation"
    letters = token.replace("'", "").replace("’", "")
    if not letters.isalpha():
        return "alnum" if letters.isalnum() else "mark"
    if letters.islower() or not (letters[0].isupper() or letters.lower() != letters):
        return "lower"
    if len(letters) == 1:
        return "letter"
    if letters.isupper():
        return "UPPER"
    return "Title" if letters[1:].islower() or (token[0].isupper() and token.istitle()) else "mixEd"


def shape_of(token: str) -> str:
    """McDonald -> XxXx, 4th -> dx."""
    out: list[str] = []
    for mark in token:
        kind = "X" if mark.isupper() else "x" if mark.isalpha() else "d" if mark.isdigit() else mark
        if not out or out[-1] != kind:
            out.append(kind)
    return "".join(out[:8])


class Form(NamedTuple):
    """A word form as features: its own, and those it lends to the tokens two and one after and before it."""

    look: int
    cluster: int  # coarse cluster, for pairs
    features: tuple[tuple[str, ...], ...]  # for offsets -2, -1, 0, 1, 2: the form stands there, seen from the token tagged


PAIR_BITS = 7
OFFSETS = (-2, -1, 0, 1, 2)


def form_key(token: str) -> str:
    """A form with the same features: numbers and addresses are known by their shape alone, so that they do not fill the table."""
    look = look_of(token)
    if look in ("number", "number1-2", "year"):
        shaped = re.sub(r"\d", "0", token) if token.isdigit() else shape_of(token).replace("d", "0")
        return "1900" if look == "year" else shaped
    return "@a" if look == "address" else token


def form_of(token: str, words: WordList) -> Form:
    """All that is known of a token without its neighbours."""
    look = look_of(token)
    lower = token.lower().replace("’", "'")
    stem = lower.rstrip(".") if look in ("initial", "abbreviation") else lower
    known = words.know(stem)
    if look == "address":
        return Form(LOOK[look], 0, tuple((f"{o}look={look}",) for o in OFFSETS))
    if look in ("number", "number1-2", "year"):
        shape = f"{len(token)}" if token.isdigit() else shape_of(token)
        return Form(LOOK[look], 0, tuple((f"{o}look={look}", f"{o}digits={shape}") for o in OFFSETS))
    written = {"lower": known.lower, "Title": known.title, "UPPER": known.upper}.get(look, known.title or known.upper or known.lower)
    other = known.title or known.upper if look == "lower" else known.lower
    cluster = written or other
    capital = "c" if token[0].isupper() else "l"
    own = [f"w={lower}", f"look={look}", f"shape={shape_of(token)}", f"size={min(len(token), 8)}"]
    near = [f"w={lower}", f"look={look}"]
    far = [f"w={lower}", f"look={look}"]
    if token.isalnum() or len(token) > 2:
        own += [f"p{n}={lower[:n]}" for n in (1, 2, 3, 4) if len(lower) > n] + [
            f"s{n}={lower[-n:]}" for n in (1, 2, 3, 4) if len(lower) > n
        ]
        own += [f"caps={capital}{known.caps}", f"often={capital}{known.often}", f"capsoften={capital}{known.caps}.{known.often}"]
        near += [f"caps={capital}{known.caps}", f"s3={lower[-3:]}"]
        own += [
            f"names={capital}{known.given}.{known.surname}.{known.place}",
            f"given={capital}{known.given}",
            f"surname={capital}{known.surname}",
        ]
        own += [f"place={capital}{known.place}"]
        near += [f"given={capital}{known.given}", f"surname={capital}{known.surname}", f"place={capital}{known.place}"]
    if written:
        own += [f"b{n}={written & ((1 << n) - 1)}" for n in (4, 6, 8, 10, 13)]
        near += [f"b{n}={written & ((1 << n) - 1)}" for n in (4, 7, 13)]
        far += [f"b{n}={written & ((1 << n) - 1)}" for n in (5, 10)]
    if other:
        own += [f"o{n}={other & ((1 << n) - 1)}" for n in (6, 13)]
    features = tuple(tuple(f"{o}{name}" for name in group) for o, group in zip(OFFSETS, (far, near, own, near, far), strict=True))
    return Form(LOOK[look], cluster & ((1 << PAIR_BITS) - 1), features)


def places_in(lowers: list[str], words: WordList) -> list[int]:
    """For each token 0, or how large the place is whose name of several words it is part of; the longest name wins."""
    out = [0] * len(lowers)
    i = 0
    while i < len(lowers):
        step = 1
        if lowers[i] in words.first_words:
            for length in range(min(4, len(lowers) - i), 1, -1):
                size = words.phrases.get(tuple(lowers[i : i + length]))
                if size is not None:
                    out[i : i + length] = [size] * length
                    step = length
                    break
        i += step
    return out
