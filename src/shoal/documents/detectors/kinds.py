"""Kinds of one's own, from a TOML file: patterns, word lists, and words that must stand nearby.

    [kinds.patient-number]
    label = "Patient"              # how the replacement is called: Patient_1
    patterns = ['PN-\\d{6}']        # regular expressions
    context = ["patient", "ward"]  # a pattern counts only with one of these nearby
    confidence = 0.9

    [kinds.project]
    words = ["Blue Heron", "Project X"]

A pattern is given a limited time on every document, so that none runs forever.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from shoal.document import Document, Finding
from shoal.documents.detectors.tagger_words import tokens_of
from shoal.errors import DataError, did_you_mean
from shoal.parsing import parse_toml, read_text

NEAR = 60  # characters on either side in which a context word counts
FIELDS = ("label", "patterns", "words", "context", "confidence")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}")
_NAME_OF_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,20}")


@dataclass(frozen=True)
class OwnKind:
    """One kind of the file."""

    kind: str
    label: str
    patterns: tuple[Any, ...]
    words: frozenset[tuple[str, ...]]
    context: re.Pattern[str] | None
    confidence: float


@dataclass(frozen=True)
class OwnKinds:
    """Finds the kinds of a file. `seconds` is how long one pattern may take on a document of a million characters, or on a shorter one."""

    name: ClassVar[str] = "kinds"
    kinds: tuple[OwnKind, ...]
    seconds: float = 2.0

    @property
    def labels(self) -> dict[str, str]:
        """What replacements of each kind are called."""
        return {one.kind: one.label for one in self.kinds}

    def detect(self, document: Document) -> list[Finding]:
        text = document.text
        found = [finding for own in self.kinds for finding in self._by_pattern(own, text)]
        found += _by_words(self.kinds, text)
        return sorted(found, key=lambda one: (one.start, one.end, one.kind))

    def _by_pattern(self, own: OwnKind, text: str) -> Iterator[Finding]:
        limit = self.seconds * max(1.0, len(text) / 1e6)
        for number, pattern in enumerate(own.patterns, start=1):
            try:
                for match in pattern.finditer(text, timeout=limit):
                    if match.end() > match.start() and (own.context is None or _beside(own.context, text, *match.span())):
                        yield Finding(match.start(), match.end(), own.kind, own.confidence, f"pattern {number} of the kind {own.kind}")
            except TimeoutError:
                raise DataError(
                    f"Pattern {number} of the kind '{own.kind}' takes too long on a document. Make it simpler: no repeat inside a repeat, "
                    "and bounds such as {1,20} instead of + and *."
                ) from None


def _beside(context: re.Pattern[str], text: str, start: int, end: int) -> bool:
    return bool(context.search(text, max(0, start - NEAR), start) or context.search(text, end, end + NEAR))


def _by_words(kinds: tuple[OwnKind, ...], text: str) -> Iterator[Finding]:
    """Listed words, whole and in any case; the longest that begins at a word."""
    known = {words: own for own in kinds for words in own.words}
    if not known:
        return
    lengths: dict[str, list[int]] = {}
    for words in known:
        lengths.setdefault(words[0], []).append(len(words))
    tokens = tokens_of(text)
    lowers = [token.text.lower() for token in tokens]
    for i, lower in enumerate(lowers):
        for length in sorted(set(lengths.get(lower, ())), reverse=True):
            found = known.get(tuple(lowers[i : i + length]))
            if found is not None:
                yield Finding(
                    tokens[i].start, tokens[i + length - 1].end, found.kind, found.confidence, f"in the word list of the kind {found.kind}"
                )
                break


def read_kinds(path: Path) -> OwnKinds:
    """The kinds of a TOML file, checked."""
    if not path.exists():
        raise DataError(f"There is no kinds file {path.name}. Give the path of a TOML file with a table [kinds.<name>] for each kind.")
    return kinds_of(parse_toml(read_text(path), f"The kinds file {path.name}"), path.name)


def kinds_of(given: Mapping[str, Any], where: str = "kinds") -> OwnKinds:
    """The kinds of a mapping as the file would hold it."""
    wrong = [key for key in given if key != "kinds"]
    if wrong or not isinstance(given.get("kinds"), dict) or not given["kinds"]:
        raise DataError(f"{where} must hold a table [kinds.<name>] for each kind, and nothing else.")
    return OwnKinds(tuple(_kind(name, table, where) for name, table in given["kinds"].items()))


def _kind(name: str, table: Any, where: str) -> OwnKind:
    if not _NAME.fullmatch(name):
        raise DataError(f"{where}: the kind '{name}' must be named in small letters, digits and hyphens.")
    if not isinstance(table, dict):
        raise DataError(f"{where}: kind '{name}' must be a table, [kinds.{name}].")
    for key in table:
        if key not in FIELDS:
            raise DataError(f"{where}: kind '{name}' has no field '{key}'.{did_you_mean(key, FIELDS)} Known: {', '.join(FIELDS)}.")
    patterns, words, context = (_texts(name, table, key, where) for key in ("patterns", "words", "context"))
    if not patterns and not words:
        raise DataError(f"{where}: kind '{name}' needs patterns or words.")
    confidence = table.get("confidence", 0.9)
    if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 < confidence <= 1:
        raise DataError(f"{where}: kind '{name}': confidence must be more than 0 and at most 1.")
    label = table.get("label", name.replace("-", " ").title().replace(" ", ""))
    if not isinstance(label, str) or not _NAME_OF_LABEL.fullmatch(label):
        raise DataError(f"{where}: kind '{name}': label must be a short word of letters, digits and hyphens.")
    near = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, context))})(?![^\W_])", re.IGNORECASE) if context else None
    listed = frozenset(tuple(token.text.lower() for token in tokens_of(word)) for word in words) - {()}
    return OwnKind(
        name, label, tuple(_compiled(name, i, text, where) for i, text in enumerate(patterns, start=1)), listed, near, float(confidence)
    )


def _texts(name: str, table: Mapping[str, Any], key: str, where: str) -> list[str]:
    given = table.get(key, [])
    if not isinstance(given, list) or not all(isinstance(one, str) and one.strip() for one in given):
        raise DataError(f"{where}: kind '{name}': {key} must be a list of texts, none of them empty.")
    return given


def _compiled(name: str, number: int, pattern: str, where: str) -> Any:
    try:
        import regex
    except ImportError:
        raise DataError("Patterns of one's own need an extra: pip install 'shoal[documents]'.") from None
    try:
        compiled = regex.compile(pattern)
    except regex.error as error:
        raise DataError(f"{where}: pattern {number} of kind '{name}' is not a regular expression: {error}.") from None
    except Exception:  # a repeat of five thousand digits, brackets nested too deeply
        raise DataError(f"{where}: pattern {number} of kind '{name}' cannot be used. Make it simpler.") from None
    if compiled.fullmatch("", timeout=1):
        raise DataError(f"{where}: pattern {number} of kind '{name}' fits an empty text. Make some part of it needed.")
    return compiled
