"""Postal addresses, by a grammar of their parts: house number, street, unit, box, town, region, country, postcode.

A strong part (a street word beside a number, a unit, a box, a postcode of a telling form) is the seed; from there the address grows to
both sides over numbers, capitalised words and place names, across commas and line ends, until plain words or the end of a paragraph.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from shoal.document import ADDRESS, Finding
from shoal.documents.detectors.dates import MONTHS
from shoal.documents.detectors.tagger_words import word_list
from shoal.documents.detectors.zones import DIGIT, search_in, zones

_STREET = (  # English, after the name
    "street|str|st|road|rd|avenue|ave|av|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|terrace|ter|parkway|pkwy|highway|hwy|way"
    "|close|crescent|cres|circle|cir|trail|trl|loop|alley|row|grove|gardens|gdns|mews|mount|hill|path|plaza|pike|turnpike|expressway|quay"
    "|wharf|walk|rise|green|crossing|ridge|run|meadows|manor|view|heights|esplanade|parade|point"
)
_BEFORE = (  # languages that put the word for a street before its name
    "rue|avenue|av|bd|boulevard|allée|allee|chemin|impasse|quai|route|place|cours|calle|c/|avda|avenida|paseo|plaza|pza|carrer|camino|ronda"
    "|travesía|rúa|via|viale|vicolo|corso|piazza|piazzale|piazzetta|largo|lungomare|contrada|strada|rua|travessa|praça|praceta|estrada"
    "|alameda|r|ul|ulica|al|aleja|os|pl|plac|trg|ulice|nám|náměstí|str|bulevardul|jalan"
)
_ENDING = (  # languages that write it as the end of the name
    "straße|strasse|str|gasse|weg|platz|allee|ring|damm|ufer|steig|hof|graben|straat|laan|plein|gracht|kade|dreef|singel|hove|gade|vej|alle"
    "|vænge|stræde|torv|gata|gatan|gaten|vägen|väg|veien|vegen|vei|gränd|backe|stigen|stien|katu|tie|kuja|polku|kaari|ranta|penger|braut"
    "|vegur|stígur|gerði|hlíð|tún"
)
_AFTER = r"u\.|út|utca|tér|körút|sétány|köz|fasor|tn|mnt|pst|tänav|maantee|gatve|iela|cad|sok|mah"  # or after it
_UNIT = (
    r"(?:apt|apartment|suite|ste|unit|flat|room|rm|floor|fl|building|bldg|block|lot|dept|no|nº|n°|piso|étage|appt|wohnung|top|lgh|lejl|door)"
    r"\b\.?|#"
)
_BOX = r"p\.?[ ]?o\.?[ ]?box|post(?:al)?[ ]?box|postbox|postboks|postfach|apartado|casilla|box|psc|unit|cmr"
_STATES = "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|P[AR]|RI|S[CD]|T[NX]|UT|V[AIT]|W[AIVY]"
_CAP = r"[^\W\d_a-zà-öø-ÿ][\w'’.-]{0,30}"
_STEM = r"[^\W\d_a-zà-öø-ÿ][\w'’.-]{0,30}?"
_PARTICLE = r"(?:de|del|della|dei|des|du|da|do|dos|das|di|la|le|les|los|las|el|of|the|van|der|den|von|zu|am|an|im|auf|y|e|i|z|sur|à|aux|u)"
_NAME = rf"(?:{_CAP}|\d{{1,3}}(?:st|nd|rd|th)?|{_PARTICLE})"
_HOUSE = r"\d{1,6}(?:[-–/]\d{1,4})?[A-Za-z]?"
_NO_YEAR = r"(?!(?:1[6-9]|20)\d\d\b)"
_ENDS = r"(?![\w%]|[.,]\d)"  # after a house number
_STARTS = r"(?<![\w.,$€£-])"  # before one
_SP = r"[ \t]{1,3}"
_BRITISH = r"[A-PR-UWYZ](?:\d{1,2}|[A-HK-Y]\d{1,2}|\d[A-HJKPS-UW]|[A-HK-Y]\d[ABEHMNPRV-Y]) ?\d[ABD-HJLNP-UW-Z]{2}"
_CANADIAN = r"[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d"
_NOT_STREETS = r"(?:the|a|this|that|of|down|to|on|in|more|miles?|blocks?|minutes?)"
_COMPASS = r"(?:NW|NE|SW|SE|North|South|East|West|[NSEW])"

_HOMES = "Cottages?|House|Lodge|Farm|Farmhouse|Court|Barn|Hall|Villas?|Bungalow|Manor"

HOUSE_FIRST = "a house number and a street"
_SEEDS = (
    # 12 Main Street; 1600 N. Pennsylvania Ave NW; 12 main street
    (
        rf"{_STARTS}{_HOUSE},?{_SP}(?!(?:{_PARTICLE}{_SP})+(?i:{_STREET})\b)(?:{_NAME}{_SP}){{1,5}}?(?i:{_STREET})(?![^\W_])\.?(?:{_SP}{_COMPASS}\b\.?)?",
        0.9,
        HOUSE_FIRST,
    ),
    (
        rf"{_STARTS}{_HOUSE}{_SP}(?!{_NOT_STREETS}\b)[a-z]{{3,20}}{_SP}(?:street|road|avenue|boulevard|lane|drive|court)\b",
        0.7,
        HOUSE_FIRST,
    ),
    # 2 Pebble Cottage
    (rf"{_STARTS}{_NO_YEAR}{_HOUSE},?{_SP}(?!White House)(?:{_CAP}{_SP}){{1,3}}?(?:{_HOMES})(?![^\W_]|{_SP}Hospital)", 0.75, HOUSE_FIRST),
    # Rose House, Leeds LS6 2AB
    (rf"(?<!\w)(?:{_CAP}{_SP}){{1,3}}?(?:{_HOMES})(?=,?\s{{1,3}}(?:{_CAP},?\s{{1,3}}){{0,4}}{_BRITISH}(?!\w))", 0.8, "a house with a name"),
    # ul. Polna 7; 33 rue de Provence
    (
        rf"{_STARTS}(?:{_HOUSE},?{_SP})?(?<![^\W_])(?i:{_BEFORE})(?![^\W_])\.?{_SP}?(?:{_NAME}{_SP}){{0,5}}?{_CAP},?{_SP}"
        rf"(?i:n[º°o]\.?{_SP}?)?{_HOUSE}{_ENDS}",
        0.85,
        "a street and a house number",
    ),
    (rf"{_STARTS}{_HOUSE},?{_SP}(?i:{_BEFORE})(?![^\W_])\.?{_SP}(?:{_NAME}{_SP}){{0,4}}?{_CAP}", 0.85, HOUSE_FIRST),
    # Hauptstraße 5; Rákóczi út 13.
    (rf"(?<!\w)(?:{_CAP}{_SP}){{0,3}}{_STEM}(?i:{_ENDING})\.?{_SP}{_NO_YEAR}{_HOUSE}{_ENDS}", 0.8, "a street and a house number"),
    (rf"(?<!\w)(?:{_CAP}{_SP}){{1,4}}(?i:{_AFTER})\.?{_SP}{_HOUSE}(?![\w%]|,\d)\.?", 0.8, "a street and a house number"),
    # Apt. 864, boxes civil and military
    (
        rf"(?<![^\W_])(?i:apt|apartment|suite|ste|flat|unit)\b\.?{_SP}#?\d{{1,5}}[A-Za-z]?{_ENDS}(?!\s+(?:of|percent|people))",
        0.75,
        "a unit",
    ),
    (rf"(?<![^\W_])(?i:{_BOX}){_SP}#?\d{{1,6}}(?:,?{_SP}(?i:box){_SP}\d{{1,6}})?(?!\w)", 0.8, "a post box"),
    # In French it is BP, which is a blood pressure too: a postcode or a known town must follow.
    (rf"(?<![^\W_])(?:BP|B\.P\.){_SP}\d{{1,6}}(?=,?\s{{1,3}}(?:\d{{4,5}}{_SP}{_CAP}|(?P<town>{_CAP})))", 0.8, "a post box"),
    (r"(?<![^\W_])(?i:apo|fpo|dpo)[ ,]{1,2}(?i:ae|ap|aa)[ ,]{1,2}\d{5}(?:-\d{4})?(?!\w)", 0.95, "a military address"),
    # Postcodes whose form is their own, or that a word gives away
    (rf"(?<![\w-])(?:{_BRITISH})(?![\w-])", 0.85, "a British postcode"),
    (rf"(?<![\w-]){_CANADIAN}(?![\w-])", 0.85, "a Canadian postcode"),
    (rf"{_STARTS}\d{{5}}-\d{{4}}(?![\w-])", 0.75, "a United States postcode"),
    (rf"(?<![^\W_])(?:{_STATES})[ ,]{{1,2}}\d{{5}}(?![\w-])", 0.9, "a state and its postcode"),
    (
        r"(?<![^\W_])(?i:zip(?:[ -]?code)?|post(?:al)?[ -]?code)(?:[ ]is|[ ]?:)?[ ]{1,2}(?P<here>[A-Z\d]{2,5}(?:[ -][A-Z\d]{2,4})?)(?!\w)",
        0.85,
        "a postcode after the word for it",
    ),
    # 6750 Koskikatu 25, at the end of a line or before a comma
    (
        rf"(?<![\w.,$€£/:-])\d{{1,6}}{_SP}(?:{_CAP}{_SP}(?:{_PARTICLE}{_SP})?){{1,4}}{_NO_YEAR}\d{{1,4}}[A-Za-z]?(?=[ \t]*(?:,(?!\d)|\n|$|>))",
        0.5,
        "a name between two numbers",
    ),
)
_SEEDS_WITHOUT_DIGITS = (
    (
        rf"(?<!\w){_CAP}(?:{_SP}{_CAP}){{0,3}}{_SP}(?:(?:Street|Road|Avenue|Boulevard|Lane|Drive|Rd|Ave|Blvd)(?![^\W_])\.?"
        rf"|(?:Cottages?|Farmhouse)(?![^\W_]|{_SP}Hospital))",
        0.6,
        "a street, or a house with a name",
    ),
    (
        rf"(?<![^\W_])(?:the{_SP})?corner of{_SP}(?:[^\s,;]{{1,30}}{_SP}){{1,6}}?(?:and|&){_SP}{_CAP}(?:{_SP}{_CAP}){{0,3}}",
        0.8,
        "a corner of streets",
    ),
    (rf"(?<![^\W_])(?:USNS|USS|USNV|USCGC|USN|HMS){_SP}{_CAP}(?=\s*,?\s+(?:FPO|APO))", 0.9, "a ship in an address"),
)
SEEDS = tuple((re.compile(form), sure, because) for form, sure, because in _SEEDS)
SEEDS_WITHOUT_DIGITS = tuple((re.compile(form), sure, because) for form, sure, because in _SEEDS_WITHOUT_DIGITS)
_NOT_ADDRESS = re.compile(rf"\b(?:{MONTHS}|chapter|section|article|volume|page)\b", re.IGNORECASE)
_LABEL = re.compile(r"[^\W\d_][\w -]{0,20}:")

# What an address grows over: the next part to the right, and to the left.
_POSTCODE = r"\d{2,5}(?:[ -]\d{2,4})?|[A-Z]{1,2}-?\d{2,6}|[A-Z]{1,2}\d[A-Z\d]?[ ]\d[A-Z]{2}|\d{4}[ ][A-Z]{2}"
_NEXT = re.compile(
    r"(?P<gap>,?[ \t]*(?:\n[ \t>|]*)?,?[ \t]*)"
    rf"(?:(?P<unit>(?i:{_UNIT})[ ]?[\dA-Z]{{1,6}}(?!\w))"
    rf"|(?P<code>(?<!\w)(?:{_POSTCODE})(?![\w%:/]|[.,]\d))"
    rf"|(?P<words>(?:{_CAP}|\({_CAP})(?:[ -](?:{_PARTICLE}[ ]){{0,2}}\(?{_CAP}\)?){{0,4}}\)?)"
    r"|(?P<lower>[^\W\d_]{3,20}\b))"
)
_LEFT = re.compile(
    rf"(?<![\w.,$€£:/-])(?:{_HOUSE},?{_SP}|(?:{_CAP}{_SP}){{1,3}}(?:{_HOMES}),?\s[ \t>]*|(?:{_CAP}{_SP}){{1,4}}{_HOUSE}\.?,?\s[ \t>]*"
    rf"|{_HOUSE},?{_SP}(?:{_NAME}{_SP}){{1,5}}(?:{_HOUSE}\.?,?)?\s[ \t>]*|{_HOUSE}\s[ \t>]*)$"
)
_TOWN = 4  # of the sizes of places: smaller ones are often ordinary words
_LEFT_REACH = 70
_PARTS = 8
_FOLLOWS = re.compile(r"[ \t]*\n?[ \t]*,?[ \t]*\n?[ \t]*([A-Z]{2,3}\b|\d{4,6}\b|[^\W\d_]+)")

Span = tuple[int, int, float, str]


def find_addresses(text: str) -> Iterator[Finding]:
    """Seeds, each grown to its address; grown seeds that meet are one finding."""
    seeds: list[Span] = []
    for forms, where in ((SEEDS, zones(text, DIGIT, 120, 120)), (SEEDS_WITHOUT_DIGITS, [(0, len(text))])):
        for form, sure, because in forms:
            for match in search_in(form, text, where):
                if "town" in form.groupindex and match["town"] and word_list().know(match["town"].lower()).place < _TOWN:
                    continue
                start, end = match.span("here" if "here" in form.groupindex else 0)
                if sure >= 0.9 or not _NOT_ADDRESS.search(text, start, end):
                    seeds.append((start, end, sure, because))
    begins = sorted(start for start, _, _, because in seeds if because == HOUSE_FIRST)  # where another address begins, this one ends
    grown = []
    for start, end, sure, because in seeds:
        next_one = bisect_left(begins, end)
        roof = begins[next_one] if next_one < len(begins) else len(text)
        grown.append((_grow_left(text, start), _grow_right(text, end, roof, "postcode" in because), sure, because))
    for start, end, sure, because in _joined(grown):
        yield Finding(start, end, ADDRESS, sure, because)


def _joined(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for span in sorted(spans):
        if out and span[0] < out[-1][1]:
            before = out.pop()
            surer = max(before, span, key=lambda one: one[2])
            span = (before[0], max(before[1], span[1]), surer[2], surer[3])
        out.append(span)
    return out


def _grow_left(text: str, start: int) -> int:
    """House numbers and a street's name before a unit or a box."""
    for _ in range(3):
        lowest = max(0, start - _LEFT_REACH, text.rfind("\n\n", max(0, start - _LEFT_REACH), start) + 1)
        match = _LEFT.search(text, lowest, start)
        if match is None or _NOT_ADDRESS.search(match[0]):
            break
        start = match.start()
    return start


def _grow_right(text: str, end: int, roof: int, coded: bool) -> int:
    """Units, towns, regions, countries and postcodes; words in lower case only when they are places.

    After a postcode (`coded`) the next line is more often a signature: it belongs to the address only when it is a place.
    """
    place_seen = False
    for _ in range(_PARTS):
        match = _NEXT.match(text, end)
        if match is None or not match["gap"] or "\n\n" in match["gap"].replace(" ", ""):
            break
        kind, stop = match.lastgroup or "gap", match.end()
        if _LABEL.match(text, match.start(kind)):
            break
        if kind == "words":
            if coded and "\n" in match["gap"] and not _is_place(match[kind].lower()):
                break
            stop = _end_of_place(text, match.start(kind), stop, match["gap"], place_seen)
            if stop == match.start(kind):
                break
            place_seen = True
        elif kind == "lower" and not _is_place(match[kind].lower()):
            break
        if stop > roof:
            break
        coded = kind == "code"
        end = stop
    return end


def _end_of_place(text: str, start: int, end: int, gap: str, seen: bool) -> int:
    """Where the words that may name a town, region or country end. After a comma or a line end they may be unknown, once; otherwise known."""
    while end > start and not text[end - 1].isalnum() and text[end - 1] != ")":
        end -= 1
    words = text[start:end]
    parted = "," in gap or "\n" in gap
    if _is_place(words.lower()) or (words.isupper() and len(words) <= 3):
        return end
    if parted:
        follows = _FOLLOWS.match(text, end, _paragraph_end(text, end, end + 40))
        return end if not seen or (follows and (follows[1].isdigit() or _is_place(follows[1].lower()))) else start
    first = words.split(" ")[0]
    return end if _is_place(first.lower()) or first.isupper() else start


def _paragraph_end(text: str, start: int, end: int) -> int:
    stop = text.find("\n\n", start, end)
    return end if stop < 0 else stop


@lru_cache(maxsize=65_536)
def _is_place(lower: str) -> bool:
    words = word_list()
    plain = lower.strip("().")
    return words.know(plain).place >= 1 or tuple(plain.replace("-", " - ").split(" ")) in words.phrases
