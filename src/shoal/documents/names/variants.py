"""The ways one name is written, as keys: forms that share a key are one name; a shorter form asks for keys that a fuller one offers.

"Smith" asks for any Smith, and every full name with that surname offers itself. Whether the answer is unambiguous is decided in `entities`,
for a whole corpus at once. Nothing here compares two names by trying all pairs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from shoal.document import ACCOUNT, ADDRESS, DATE, EMAIL, IDENTITY, LOCATION, ORGANIZATION, PERSON, PHONE, URL
from shoal.documents.names import canonical
from shoal.documents.names.folding import bare, fold, without_possessive, word_set, written_out
from shoal.documents.names.known_names import GIVEN, SHORT, SURNAMES, gender_of
from shoal.documents.names.places import gazetteer

# A fuller name is looked for in the same document only, or there first and then in the corpus.
Scope = Literal["document", "corpus"]
Ask = tuple[Scope, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Person:
    """A person's name taken apart. Given names may be initials; particles are part of the surname; titles leave a gender behind, if any."""

    given: tuple[str, ...]
    surname: str
    suffix: str = ""
    gender: str = ""

    def agrees(self, other: Person) -> bool:
        """Whether both can be one person: nothing that one says contradicts the other."""
        if (self.suffix and other.suffix and self.suffix != other.suffix) or {self._gender(), other._gender()} == {"m", "f"}:
            return False
        if not self.given or not other.given:
            return True
        few, many = sorted((self.given, other.given), key=len)
        if len(few) < len(many) and few == many[len(many) - len(few) :] and all(len(word) > 1 for word in few):
            return True  # a first name left out: Edgar Hoover, J. Edgar Hoover; García Márquez, Gabriel García Márquez
        if len(few) < len(many) and len(many[0]) == 1 and _same_given(few[0], many[1]) and _within(few[1:], many[2:]):
            return True
        return _same_given(few[0], many[0]) and _within(few[1:], many[1:])

    def _gender(self) -> str:
        return self.gender or (gender_of(self.given[0]) if self.given else "")


def _same_given(a: str, b: str) -> bool:
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) or b in SHORT.get(a, ()) or a in SHORT.get(b, ())


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Whether the first are among the second, in order."""
    rest = iter(many)
    return all(any(_same_given(word, other) for other in rest) for word in few)


@dataclass(frozen=True, slots=True)
class Form:
    """One way of writing a name."""

    keys: tuple[str, ...]
    words: tuple[str, ...] = ()  # what a misspelling may differ in; none where spelling must be exact
    detail: int = 0  # how much it says: what says less is matched to what says more
    asks: tuple[Ask, ...] = ()
    offers: tuple[str, ...] = ()
    person: Person | None = None


def form_of(text: str, kind: str, order: canonical.DateOrder = "unknown") -> Form:
    """The form of a mention. Whatever has no letters or digits is its own key, as written."""
    if not any(c.isalnum() for c in text):
        return Form((text,))
    if kind == PERSON:
        return _person(text)
    if kind == ORGANIZATION:
        return _organization(text)
    if kind == LOCATION:
        return _location(text)
    if kind == DATE:
        return _date(text, order)
    if kind == PHONE:
        country, national = canonical.phone(text)
        if not national:
            return Form((bare(text),))
        return (
            Form((f"{country}+{national}",), (), 1, (), (national,))
            if country
            else Form((national,), (), 0, (("corpus", (national,)),), (national,))
        )
    if kind == ADDRESS:
        street, rest = canonical.address(text)
        return Form((f"{street}, {rest}",), (), bool(rest), () if rest else (("corpus", (street,)),), (street,))
    exact = {EMAIL: canonical.email, URL: canonical.url, ACCOUNT: canonical.number, IDENTITY: canonical.number}.get(kind, bare)
    return Form((exact(text) or text,))


# --- persons

_TITLES = {  # what stands before a name, and the gender it tells
    **dict.fromkeys(
        word_set("""dr doctor prof professor sen senator rep representative congressman congresswoman gov governor pres president vice prime minister chancellor
        secretary undersecretary ambassador amb consul gen general lt lieutenant col colonel maj major capt captain cpt sgt sergeant cpl corporal pvt
        private adm admiral cmdr commander marshal officer inspector detective insp chief superintendent constable agent judge justice hon honorable
        honourable rev reverend pastor bishop archbishop cardinal rabbi imam sheikh deputy director chairman chairwoman herr doktor mx nurse
        counselor counsellor attorney comrade brig brigadier cllr councillor mayor premier excellency majesty first dipl ing mag"""),
        "",
    ),
    **dict.fromkeys(word_set("mr mister sir lord king prince father fr brother senor sr signor monsieur pope baron count"), "m"),
    **dict.fromkeys(word_set("mrs ms miss mme madame madam lady dame queen princess mother sister senora sra senorita frau signora mlle baroness"), "f"),
    "congressman": "m", "congresswoman": "f", "chairman": "m", "chairwoman": "f", "herr": "m",
}  # fmt: skip
_BEFORE_GIVEN = word_set("sir lady dame king queen prince princess father fr brother sister mother pope")
_DEGREES = word_set("phd md dds esq mba ma msc bsc ba jd llm rn cpa qc kc obe cbe mp dphil mbe usn usa")
_SUFFIXES = {"jr": "jr", "junior": "jr", "sr": "sr", "senior": "sr", "ii": "ii", "iii": "iii", "iv": "iv"}
_PARTICLES = word_set("al el de del della di da dos du la le van von der den ter ten bin ibn mac mc st o san")
_AROUND = ' \t\r\n"“”()[],;:'
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)+[^\W\d_]?\.?")
_CAPITALS = re.compile(r"[A-Z]{2,3}")
_ARTICLE = re.compile(r"(?:al|el)-", re.IGNORECASE)


def _person(text: str) -> Form:
    parsed, title = _take_apart(text)
    if not parsed.surname:
        return Form((bare(text),))
    marks = "|".join(("", parsed.suffix, parsed.gender))
    key = "".join(word + "." if len(word) == 1 else word for word in parsed.given) + parsed.surname + marks
    keys: tuple[str, ...] = (key,)
    other = text if text.isascii() else written_out(text)
    if other != text and other != fold(text):
        again, _ = _take_apart(other)
        keys = (key, "".join(word + "." if len(word) == 1 else word for word in again.given) + again.surname + marks)
    detail = (
        sum(8 if len(word) > 1 and len(SHORT.get(word, "-")) == 1 else 4 for word in parsed.given)
        + 2 * bool(parsed.suffix)
        + bool(parsed.gender)
    )
    offers = [f"s:{parsed.surname}"]
    if not parsed.given:
        return Form(keys, (parsed.surname,), detail, _asks_alone(parsed.surname, title), tuple(offers), parsed)
    # Initials of every given name, so that J. Edgar Hoover is found by Edgar Hoover.
    initials = {word[0] for word in parsed.given} | {full[0] for word in parsed.given for full in SHORT.get(word, ())}
    offers += [f"i:{letter}:{parsed.surname}" for letter in sorted(initials)]
    if len(parsed.given[0]) > 1:
        offers.append(f"g:{parsed.given[0]}")
    asked = [parsed.given[0][0], *(full[0] for full in SHORT.get(parsed.given[0], ()))]
    ask: Ask = ("corpus", tuple(f"i:{letter}:{parsed.surname}" for letter in dict.fromkeys(asked)))
    return Form(keys, (*parsed.given, parsed.surname), detail, (ask,), tuple(offers), parsed)


def _asks_alone(name: str, title: str) -> tuple[Ask, ...]:
    """What one word asks for. As a surname it is looked for in the corpus, as a given name, which many bear, in its document only."""
    surname: Ask = ("corpus", (f"s:{name}",))
    if title and title not in _BEFORE_GIVEN:
        return (surname,)
    if name in GIVEN and name not in SURNAMES:
        surname = ("document", (f"s:{name}",))
    return surname, ("document", (f"g:{name}",))


def _take_apart(text: str) -> tuple[Person, str]:
    """The name and its last title. 'Smith, John' is turned round; what is only a title is a name."""
    text = re.sub(r"\s+", " ", without_possessive(text.strip(' \t\r\n"“”()[],;:'))).strip()
    head, comma, tail = text.partition(",")
    suffix = ""
    if comma:
        behind = [_plain(word) for word in re.split(r"[ ,]+", tail) if word.strip(". ")]
        if all(word in _DEGREES or word in _SUFFIXES for word in behind):
            suffix = next((_SUFFIXES[word] for word in behind if word in _SUFFIXES), "")
            text = head
        else:
            text = f"{tail.strip()} {head.strip()}"
    raw = [word for word in text.split(" ") if word.strip(".'-")]
    mixed = any(c.islower() for c in text)
    title, gender = "", ""
    while len(raw) > 1 and (_plain(raw[0]) in _TITLES or _plain(raw[0]) == "the"):
        word = _plain(raw.pop(0))
        title, gender = (word, gender or _TITLES[word]) if word in _TITLES else (title, gender)
    while len(raw) > 1 and (_plain(raw[-1]) in _DEGREES or _plain(raw[-1]) in _SUFFIXES):
        word = _plain(raw.pop())
        suffix = suffix or _SUFFIXES.get(word, "")
    words: list[str] = []
    for position, word in enumerate(raw):
        last = position == len(raw) - 1
        if _INITIALS.fullmatch(word) or (mixed and not last and len(word) < 4 and _CAPITALS.fullmatch(word)):
            words += [fold(c) + "." for c in word if c.isalpha()]  # William O. Douglas: the dot keeps the O from being a particle
        elif last or _ARTICLE.match(word):  # a hyphen joins a surname, and parts given names
            words.append(_plain(word))
        else:
            words += [_plain(part) for part in word.split("-") if _plain(part)]
    if not words:
        return Person((), "", suffix, gender), title
    first = len(words) - 1
    while first > 0 and words[first - 1] in _PARTICLES and (first > 1 or raw[0].islower() or not mixed or words[0] in ("mc", "mac", "o")):
        first -= 1
    words = [word.rstrip(".") for word in words]
    given = tuple(SHORT[word][0] if len(SHORT.get(word, ())) == 1 else word for word in words[:first])
    return Person(given, "".join(words[first:]), suffix, gender), title


def _plain(word: str) -> str:
    return "".join(filter(str.isalnum, fold(word)))


# --- organizations

_LEGAL = word_set(
    """
    inc incorporated ltd limited llc llp lp plc corp corporation co company gmbh ag kg kgaa sa sas sarl srl spa bv nv ab oy oyj pty sl se
    aps as holding holdings
    """
)
_SMALL = word_set("of the and for in on at to de la le du des der die das und et y")
_ABBREVIATED = {
    "univ": "university", "dept": "department", "natl": "national", "intl": "international", "inst": "institute", "assn": "association",
    "assoc": "association", "bros": "brothers", "govt": "government", "mfg": "manufacturing", "min": "ministry", "cttee": "committee",
    "comm": "commission", "ctr": "center", "centre": "center", "organisation": "organization", "labour": "labor", "defence": "defense", "tech": "technology",
    "hosp": "hospital", "st": "saint", "mt": "mount", "ft": "fort", "&": "and", "+": "and",
}  # fmt: skip
# What may be left off a firm's name when it has been given in full before.
_TAILS = word_set(
    """
    group industries technologies systems solutions services partners associates enterprises motor motors airlines airways
    pharmaceuticals pharma stores consulting laboratories labs foods electronics chemicals bank brothers sons media software
    """
)
_COUNTRIES = {
    "DC": "DC",
    "US": "United States",
    "USA": "United States",
    "UK": "United Kingdom",
    "UN": "United Nations",
    "EU": "European Union",
}


def _words(text: str) -> list[str]:
    """Words with dotted capitals joined, '&' and usual abbreviations written out, codes of states and countries as their names; no 'the'."""
    text = re.sub(
        r"\b(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?", lambda m: m[0].replace(".", ""), without_possessive(text.strip(' \t\r\n"“”()[],;:'))
    )
    raw = re.findall(r"[&+]|[^\W_]+(?:['’‘ʼ`][^\W_]+)*", text)
    mixed = any(c.islower() for c in text)
    found: list[str] = []
    for word in raw:
        code = (_COUNTRIES.get(word) or gazetteer().state_names.get(word)) if word.isupper() and (mixed or len(raw) == 1) else None
        if code:
            found += fold(code).split()
        else:
            plain = word if word in "&+" else _plain(word)
            found.append(_ABBREVIATED.get(plain, plain))
    return found[1:] if len(found) > 1 and found[0] == "the" else found


def _organization(text: str) -> Form:
    every = _words(text)
    words = list(every)
    while len(words) > 1 and words[-1] in (*_LEGAL, "and"):
        words.pop()
    if not words:
        return Form((bare(text),))
    keys, key = _joined(text, words), "".join(words)
    asks: list[Ask] = []
    letters = re.findall(r"[^\W_]+", without_possessive(text.strip()).replace(".", ""))
    letters = [word for word in letters if fold(word) not in ("the", *_LEGAL)]
    if len(letters) == 1 and 2 <= len(letters[0]) <= 7 and letters[0].isupper():
        asks.append(("corpus", (f"a:{fold(letters[0])}",)))
    asks.append(("document", (f"p:{key}",)))
    offers = [f"a:{short}" for short in _acronyms(every) | _acronyms(words)]
    offers += [f"p:{''.join(words[:i])}" for i in range(1, len(words)) if len("".join(words[:i])) >= 4 and set(words[i:]) <= _TAILS]
    return Form(keys, tuple(words), 2 * len(every) + (len(letters) > 1), tuple(asks), tuple(sorted(offers)))


def _joined(text: str, words: list[str]) -> tuple[str, ...]:
    """The words run together, so that a space or hyphen makes no difference; and with umlauts written out."""
    out = written_out(text)
    return (
        ("".join(words),)
        if text.isascii() or out == fold(text)
        else ("".join(words), "".join(word for word in _words(out) if word not in _LEGAL))
    )


def _acronyms(words: list[str]) -> set[str]:
    """First letters of all words, and of those that count: MIT leaves out the 'of'."""
    if len(words) < 2:
        return set()
    return {"".join(w[0] for w in words), "".join(w[0] for w in words if w not in _SMALL)}


# --- places and dates


def _location(text: str) -> Form:
    names = gazetteer()
    text = re.sub(r"(?i)^\s*(?:the\s+)?(?:city|state|republic|kingdom|town|province) of\s+", "", text)
    pieces = [_words(piece) for piece in text.split(",")]
    pieces = [piece for piece in pieces if piece] or [[bare(text)]]
    head, region = pieces[0], "".join(pieces[1]) if len(pieces) > 1 else ""
    code = re.search(r"\s([A-Z]{2}|[A-Z]\.[A-Z]\.)\s*$", text)
    state = names.state_names.get(code[1].replace(".", "")) if code and any(c.islower() for c in text) else None
    if not region and state and len(head) > len(state.split()):  # Springfield IL
        head, region = head[: -len(state.split())], bare(state)
    key = "".join(head)
    one = names.one_name(key)
    region = names.one_name(region) if region else ""
    keys = [
        f"{name}, {region}" for name in dict.fromkeys((one, *(names.one_name(k) for k in _joined(text.partition(",")[0], head)))) if name
    ]
    if region:
        keys = keys[:1]
    detail = 2 * bool(region) + (len(head) > 1)
    asks: list[Ask] = [] if region else [("corpus", (f"h:{one}",))]
    short = text.replace(".", "").strip()
    if 2 < len(short) <= 6 and short.isupper() and not names.known(key):
        asks.append(("corpus", (f"a:{fold(short)}",)))
    offers = [f"h:{one}", *(f"a:{name}" for name in sorted(_acronyms(head)))]
    return Form(tuple(keys), tuple(head) + ((region,) if region else ()), detail, tuple(asks), tuple(offers))


def _date(text: str, order: canonical.DateOrder) -> Form:
    date = canonical.parse_date(text)
    if date is None:
        return Form((bare(text),))
    date = date.read_as(order)
    if date.loose is not None:
        return Form((f"{date.year}?{date.loose[0]}/{date.loose[1]}",))
    key = f"{date.year}-{date.month}-{date.day}"
    if date.month is None or date.day is None:
        return Form((key,))
    # A day without its year is that of the only such day its document names in full.
    day = f"{date.month}-{date.day}"
    return Form((key,), (), 1, (), (day,)) if date.year else Form((key,), (), 0, (("document", (day,)),), (day,))


def known_word(kind: str, words: tuple[str, ...], i: int) -> bool:
    """Whether a list knows the i-th word of a name as it is spelt; a place is known as a whole."""
    word = words[i]
    if kind == PERSON:
        return word in SURNAMES if i == len(words) - 1 and len(words) > 1 else word in GIVEN or (len(words) == 1 and word in SURNAMES)
    if kind == LOCATION:
        return gazetteer().known("".join(words)) or (
            len(words) > 1 and gazetteer().known("".join(words[:-1])) and gazetteer().known(words[-1])
        )
    return word in SURNAMES or word in GIVEN or word in _ORDINARY or gazetteer().known(word)


_ORDINARY = word_set(
    """
    american army bank board bureau center central chemical college commission committee company council defense department east eastern
    education electric energy federal finance first force foreign foundation fund general government health hospital industrial institute
    international justice march marine marina medical ministry national navy network north northern office organization police public
    research royal school science second security service social society south southern state states steel third trade transport treasury
    trust union united university west western world agriculture technology monetary
    """
)
