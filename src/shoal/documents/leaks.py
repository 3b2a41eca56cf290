"""An intruder's look at a written file: is a removed text still in it, in any of the ways a file can hold one?

Nothing here is shared with reading or writing, but for the words every Word file holds. A file is searched as bytes, unpacked, decoded,
with tags taken for spaces and for nothing, across line ends, without its punctuation. Words are compared whole, whatever their case and
accents: "Al" is not in "also".
"""

from __future__ import annotations

import base64
import binascii
import html
import io
import logging
import quopri
import re
import unicodedata
import urllib.parse
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from shoal.documents.formats.package import BUILT_IN_STYLE, FONTS

# Not for sure: names are often ordinary words in lower case (Brown), or stand inside one (Christian, Christianity).
LOWER_CASE, INSIDE = "in lower case", "inside a longer word"
UNSURE = (LOWER_CASE, INSIDE)
FILE_NAME = "the file's name"
# In bytes that are no text, a short word turns up by chance; in a text, a number of a few digits does.
SHORTEST_IN_BYTES, SHORTEST_RUN_TOGETHER, SHORTEST_NUMBER, SHORTEST_WORD = 6, 8, 5, 3

# Accents and marks of many scripts, joiners, soft hyphens and tag characters.
_UNSEEN = re.compile(
    "[\u00ad\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf-\u05c7\u0610-\u061c\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\U000e0000-\U000e01ef]+"
)
_CUT = re.compile(r"[-\u2010\u00ad]\s*\n\s*")
_WORD = re.compile(r"[^\W_]+")
_TELLING = r"(?i)(author|initials|tooltip|title|descr|alt|tag|alias|userid|instr|name|target|href|content|value|string|val)"


@dataclass(frozen=True)
class Leak:
    """Where a removed text was found, and how it is written there. Never the text itself."""

    part: str
    variant: str


@dataclass(frozen=True)
class _Layer:
    """A way of reading a part of a file. `how` is "" for words as a reader sees them, "bytes" for what may be no words at all."""

    part: str
    text: str
    how: Literal["", "across tags", "in an attribute", "bytes"] = ""


@dataclass(frozen=True, slots=True)
class Searched:
    """How many removed texts were searched for, and what was found. `left` quotes the document: it never leaves the case."""

    texts: int
    too_short: int  # to be searched for: they would be found anywhere by chance
    leaks: tuple[Leak, ...] = ()
    left: tuple[str, ...] = ()  # the texts that were found for sure

    @property
    def sure(self) -> list[Leak]:
        """Where a removed text was found, without what is only like one."""
        return [leak for leak in self.leaks if leak.variant not in UNSURE]

    @property
    def perhaps(self) -> bool:
        """Whether something is only like a removed text: in lower case, or inside a longer word. A file's name is a number, or was refused."""
        return any(leak.variant in UNSURE and leak.part != FILE_NAME for leak in self.leaks)

    @staticmethod
    def together(parts: Sequence[Searched]) -> Searched:
        """Several files that were searched for the same texts."""
        found = dict.fromkeys(leak for part in parts for leak in part.leaks)
        left = dict.fromkeys(text for part in parts for text in part.left)
        return Searched(parts[0].texts, parts[0].too_short, tuple(found), tuple(left))


def search_file(name: str, raw: bytes, removed: Iterable[str], allowed: Iterable[str] = ()) -> Searched:
    """Search a file's name and bytes for removed texts. `allowed` are the replacements, and what was decided to stay: as often as there,
    they may occur."""
    layers = [_Layer(FILE_NAME, Path(name).stem), *_layers(Path(name).suffix.lower(), raw, "")]
    return _search(layers, removed, allowed)


def search_text(text: str, removed: Iterable[str], allowed: Iterable[str] = ()) -> Searched:
    """The same in a text that is no file, such as a cell of a table."""
    return _search(list(_text("text", text)), removed, allowed)


def leaks(path: str | Path, removed: Iterable[str], allowed: Iterable[str] = ()) -> list[Leak]:
    """Where removed texts are in a file on disk."""
    return list(search_file(Path(path).name, Path(path).read_bytes(), removed, allowed).leaks)


def text_leaks(text: str, removed: Iterable[str], allowed: Iterable[str] = ()) -> list[Leak]:
    """Where removed texts are in a text."""
    return list(search_text(text, removed, allowed).leaks)


def searchable(text: str) -> Literal["everywhere", "in the text", "no"]:
    """How far a removed text can be searched for: one or two letters, or a few digits, occur anywhere by chance."""
    letters = _Words(text).together
    if len(letters) < SHORTEST_WORD or (letters.isdigit() and len(letters) < SHORTEST_NUMBER):
        return "no"
    return "everywhere" if len(letters) >= SHORTEST_IN_BYTES else "in the text"


def _search(layers: Iterable[_Layer], removed: Iterable[str], allowed: Iterable[str]) -> Searched:
    texts = dict.fromkeys(removed)
    needles = {text: _Words(text) for text in texts if searchable(text) != "no"}
    if not needles:
        return Searched(0, len(texts))
    stays = _Words(" \u00b6 ".join(allowed))
    found: dict[Leak, None] = {}
    left: dict[str, None] = {}
    for layer in layers:
        words = _Words(layer.text)
        unbroken = _Words(_CUT.sub("", layer.text)) if layer.how == "" and _CUT.search(layer.text) else None
        for text, needle in needles.items():
            if layer.how == "bytes" and len(needle.together) < SHORTEST_IN_BYTES:
                continue
            variant = _as_words(needle, words, stays, layer.how)
            if not variant and unbroken is not None and unbroken.has(needle) > stays.has(needle):
                variant = "across a line end"
            if variant := variant or _run_together(needle, words, stays):
                found[Leak(layer.part, variant)] = None
                if variant not in UNSURE:
                    left[text] = None
    return Searched(len(needles), len(texts) - len(needles), tuple(found), tuple(left))


def _as_words(needle: _Words, words: _Words, stays: _Words, how: str) -> str:
    """How the needle's words are written here; nothing if they are not, or no oftener than they may."""
    times = words.has(needle)
    if times <= stays.has(needle):
        return ""
    if how == "" and needle.is_name and times - words.has_small(needle) <= max(stays.has(needle) - stays.has_small(needle), 0):
        return LOWER_CASE
    return "in the file's bytes" if how == "bytes" else how or "as a word"


def _run_together(needle: _Words, words: _Words, stays: _Words) -> str:
    """The needle's letters with nothing or something else between them: johnsmith, 555.1234567, S m i t h s o n."""
    letters = needle.together
    if len(letters) < SHORTEST_RUN_TOGETHER or letters not in words.together:
        return ""
    starts = [match.start() for match in re.finditer(re.escape(letters), words.together)]
    whole = [at for at in starts if _stands_there(at, at + len(letters), len(needle.words), words)]
    may = max(stays.together.count(letters), stays.has(needle))
    if len(whole) > may:
        return "with other spaces or punctuation"
    return INSIDE if len(starts) > may and len(starts) > words.has(needle) else ""


def _stands_there(start: int, end: int, parts: int, words: _Words) -> bool:
    """Whether letters that were run together are the needle, or come about by chance where words meet.

    'South Korea needs' holds the letters of 'South Korean', and 'Kuwait is' those of 'Kuwaitis'. So, unless several words stand in one,
        the letters begin where a word begins and end where one ends, or before digits; and one word counts as written apart only in three
        pieces or more.
    """
    pieces = 1 + sum(place in words.ends for place in range(start + 1, end))
    if parts > 1 and pieces == 1:
        return True
    ends = start in words.ends and (end in words.ends or words.together[end].isdigit())
    return ends and (parts > 1 or pieces != 2)


class _Words:
    """A text as its words, without case, accents and punctuation; each is computed when first asked for."""

    def __init__(self, text: str) -> None:
        self.plain = text if text.isascii() else _UNSEEN.sub("", unicodedata.normalize("NFKD", text))

    @cached_property
    def words(self) -> list[str]:
        return _WORD.findall(self.plain.casefold())

    @cached_property
    def distinct(self) -> set[str]:
        return set(self.words)

    @cached_property
    def spaced(self) -> str:
        return "".join(f" {word} " for word in self.words)

    @cached_property
    def together(self) -> str:
        return "".join(self.words)

    @cached_property
    def ends(self) -> set[int]:
        """Where in `together` a word begins or ends."""
        return set(accumulate(map(len, self.words), initial=0))

    @cached_property
    def small(self) -> str:
        """As `spaced`, in the case the text has."""
        return "".join(f" {word} " for word in _WORD.findall(self.plain))

    @property
    def is_name(self) -> bool:
        """One word that is written with a capital; many are ordinary words without it."""
        return len(self.words) == 1 and self.plain.strip()[:1].isupper()

    def has(self, needle: _Words) -> int:
        """How often the needle's words follow each other here."""
        if not needle.words or needle.words[0] not in self.distinct or needle.words[-1] not in self.distinct:
            return 0
        return self.spaced.count(needle.spaced)

    def has_small(self, needle: _Words) -> int:
        return self.small.count(needle.spaced)


def _layers(ending: str, raw: bytes, within: str, depth: int = 0) -> Iterator[_Layer]:
    """Every way of reading a file. Its bytes decide what it is; its ending only tells a page or a message from other text."""
    if depth > 5:
        return
    if raw.startswith((b"PK\x03\x04", b"%PDF-")):
        try:
            yield from list(_zip_layers(raw, within, depth) if raw.startswith(b"PK") else _pdf_layers(raw, within))
            return
        except Exception:  # of many libraries
            if not depth:  # a file that was written as one must be one; a part of a mail may only begin like one
                raise
    if ending == ".eml":
        yield from _mail_layers(raw, within, depth)
    else:
        text = _decoded(raw)
        if text is None:
            yield _Layer(f"{within}bytes", raw.replace(b"\x00", b"").decode("latin-1"), "bytes")
        elif ending in (".html", ".htm") or re.match(r"\s*<(!doctype|html|\?xml)", text[:200], re.I):
            yield from _marked_up(f"{within}page", text)
        else:
            yield from _text(f"{within}text", text)


def _decoded(raw: bytes) -> str | None:
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None if b"\x00" in raw else raw.decode("cp1252", "replace")


def _text(part: str, text: str) -> Iterator[_Layer]:
    """A text, and what its escapes stand for."""
    yield _Layer(part, text)
    if re.search(r"%[0-9A-Fa-f]{2}", text):
        yield _Layer(part, urllib.parse.unquote(text))
    if "&" in text and html.unescape(text) != text:
        yield _Layer(part, html.unescape(text))


def _marked_up(part: str, text: str) -> Iterator[_Layer]:
    """HTML or XML: its words with tags as spaces and as nothing, and what stands inside the tags."""
    blocks = r"</w:(p|tc|tr)>|<w:(tab|br|cr)\b[^>]*>|</?(p|div|td|th|tr|li|ul|ol|table|h\d|br|hr|title|head|body|html|pre)\b[^>]*>"
    asides = " \u00b6 ".join(re.findall(r"<[!?](?!doctype html>)(.*?)(?:-->|\]\]>|\?>|>|$)", text, re.S | re.I))
    yield _Layer(f"{part} (comment)", html.unescape(re.sub(r'^xml version="1\.0" encoding="UTF-8" standalone="yes"', "", asides)))
    yield from _text(part, html.unescape(re.sub(r"<[^>]*>", " ", text)))
    for one in (text, re.sub(r"(?s)<w:(del|moveFrom)\b.*?</w:\1>", "", text)) if "<w:del" in text or "<w:moveFrom" in text else (text,):
        yield _Layer(part, html.unescape(re.sub(r"<[^>]*>", "", re.sub(blocks, " \u00b6 ", one))), "across tags")
    if "<w:" in text or "<Relationship" in text or "<Types" in text:
        found = re.findall(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", text)
        values = " \u00b6 ".join(double or single for key, double, single in set(found) if _tells(key, html.unescape(double or single)))
    else:
        values = " \u00b6 ".join(re.findall(r"<[a-zA-Z][\w:-]*\s([^>]*)", text))
    yield _Layer(f"{part} (attribute)", html.unescape(values), "in an attribute")
    yield _Layer(f"{part} (attribute)", urllib.parse.unquote_plus(html.unescape(values)), "in an attribute")


def _tells(key: str, value: str) -> bool:
    """Whether an attribute can hold a name: numbers, words of the format itself, known fonts and styles cannot."""
    key = key.rpartition(":")[2]
    if key.startswith("xmlns") or value.startswith(("http://schemas.openxmlformats.org/", "application/vnd.openxmlformats")):
        return False
    if BUILT_IN_STYLE.fullmatch(value) or value.lower() in FONTS:
        return False
    if key == "val" or not re.fullmatch(_TELLING, key):
        return not re.fullmatch(r"[a-z][A-Za-z0-9]*|[0-9A-F.%+-]*|S\d+|[a-z]{2,3}(-[A-Za-z]+)*", value)
    return bool(value)


def _zip_layers(raw: bytes, within: str, depth: int) -> Iterator[_Layer]:
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        yield _Layer(f"{within}list of parts", " \u00b6 ".join(file.namelist()) + file.comment.decode("latin-1"), "in an attribute")
        for i, member in enumerate(file.infolist(), 1):
            known = re.fullmatch(r"word/([a-z]+\d*)\.xml", member.filename)
            part = f"{within}{known.group(1) if known else f'part {i}'}"
            content = file.read(member)
            if content.startswith((b"PK\x03\x04", b"%PDF-")):
                yield from _layers("", content, f"{part}: ", depth + 1)
            elif content.lstrip(b"\xef\xbb\xbf \r\n").startswith(b"<"):
                yield from _marked_up(part, content.decode("utf-8", "replace"))
            else:
                yield _Layer(part, content.replace(b"\x00", b"").decode("latin-1"), "bytes")


def _mail_layers(raw: bytes, within: str, depth: int) -> Iterator[_Layer]:
    """A message line by line: headers and plain parts as they are, encoded words, quoted-printable and base64 decoded."""
    lines = raw.decode("latin-1").replace("\r\n", "\n").split("\n")
    own = re.compile(r"(?i)--=_shoal_\w+|mime-version: 1\.0$|content-(type|transfer-encoding|disposition):")
    kept = [re.sub(r"^(From|Sender|To|Cc|Bcc|Reply-To|Subject|Date): ", "", line) for line in lines if not own.match(line)]
    plain = "\n".join(kept)
    utf8 = plain.encode("latin-1").decode("utf-8", "replace")
    yield from _text(f"{within}message", utf8)
    encoded = re.findall(r"=\?[^?\s]+\?[bB]\?([^?\s]*)\?=", plain), re.findall(r"=\?[^?\s]+\?[qQ]\?([^?\s]*)\?=", plain)
    words = [_base64(word) for word in encoded[0]] + [quopri.decodestring(word.encode("latin-1"), header=True) for word in encoded[1]]
    yield from _text(f"{within}header", b"".join(words).decode("utf-8", "replace"))
    if "=" in plain:
        quoted = quopri.decodestring("\n".join(lines).encode("latin-1")).decode("utf-8", "replace")
        yield from _marked_up(f"{within}message", quoted) if "<" in quoted else _text(f"{within}message", quoted)
    for i, block in enumerate(re.findall(r"(?:^[A-Za-z0-9+/]{2,}={0,2}\n)+", "\n".join(lines) + "\n", re.M), 1):
        content = _base64(block)
        if len(content) > 2:
            ending = ".html" if b"<" in content[:200] else ""
            yield from _layers(ending, content, f"{within}encoded part {i}: ", depth + 1)


def _base64(text: str) -> bytes:
    try:
        text = "".join(text.split())
        return base64.b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return b""


def _pdf_layers(raw: bytes, within: str) -> Iterator[_Layer]:
    """By another library than the one that read it: text, every string of every object, and every stream unpacked."""
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)  # what it says of a broken file quotes the file
    yield _Layer(f"{within}bytes", raw.replace(b"\x00", b"").decode("latin-1"), "bytes")
    try:
        reader = PdfReader(io.BytesIO(raw))
        for i, page in enumerate(reader.pages, 1):
            yield from _text(f"{within}page {i}", page.extract_text())
        numbers = sorted(reader.xref.get(0, {}))
        strings: list[str] = []
        for number in numbers:
            _strings(reader.get_object(number), strings)
        yield from _text(f"{within}objects", " \u00b6 ".join(strings))
    except Exception as error:
        raise ValueError("The written PDF cannot be read back.") from error


def _strings(thing: Any, out: list[str], depth: int = 0) -> None:
    if depth > 20:
        return
    if isinstance(thing, str) and not thing.startswith("/"):
        out.append(thing)
    elif isinstance(thing, bytes):
        out.append(thing.decode("latin-1"))
    elif isinstance(thing, dict):
        for value in thing.values():
            _strings(value, out, depth + 1)
        if hasattr(thing, "get_data") and thing.get("/Subtype") != "/Image":
            out.append(thing.get_data().decode("latin-1"))
    elif isinstance(thing, list | tuple):
        for value in thing:
            _strings(value, out, depth + 1)
