"""Texts found once, looked for again: in the rest of their document, and in the whole collection."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple

from shoal.document import EMAIL, ORGANIZATION, PERSON, PHONE, UNKNOWN, Document, Finding
from shoal.documents.leaks import SHORTEST_RUN_TOGETHER, searchable

Ends = Literal["whole", "open"]

_WORD = re.compile(r"[^\W_]+")
SHORTEST_SURNAME = 4
SURE = 0.8  # of a name whose last word is looked for by itself


class PhraseFinder:
    """Where texts stand in another text, as words that follow each other, without case and accents; the longest first.

    A text of one capitalised word is found only where it has its capital: without one it is as often an ordinary word. With `ends`
    open, the last of several words may go on (Defence Force, in Defence Forces), as far as a search of written files would notice it.
    """

    def __init__(self, texts: Iterable[str], ends: Ends = "whole") -> None:
        self._numbers: dict[tuple[str, ...], tuple[int, int]] = {}  # words -> the first text of them, and the first that needs no capital
        self._lengths: dict[str, list[int]] = {}  # first word -> in how many words texts with it are, the most first
        self._heads: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)  # all but the last word -> last words
        for number, text in enumerate(texts):
            words = tuple(_folded(word) for word in _WORD.findall(text))
            if not words or searchable(text) == "no":
                continue
            plain = -1 if len(words) == 1 and text.strip()[:1].isupper() else number
            first, any_case = self._numbers.get(words, (number, -1))
            self._numbers[words] = (first, plain if any_case < 0 else any_case)
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))
            if ends == "open" and len(words) > 1 and sum(map(len, words)) >= SHORTEST_RUN_TOGETHER:
                self._heads[words[:-1]].append((words[-1], number))
        for lengths in self._lengths.values():
            lengths.sort(reverse=True)

    def occurrences(self, text: str, free: Callable[[int, int], bool] = lambda start, end: True) -> Iterator[tuple[int, int, int]]:
        """(start, end, which text), in order, not overlapping, and only stretches that are free."""
        words = list(_WORD.finditer(text))
        folded = [_folded(word.group()) for word in words]
        i = 0
        while i < len(words):
            for length, number in self._at(folded, i, words[i].group()[0].isupper()) if folded[i] in self._lengths else ():
                start, end = words[i].start(), words[i + length - 1].end()
                if free(start, end):
                    yield start, end, number
                    break
            else:
                length = 0
            i += max(1, length)

    def _at(self, folded: list[str], i: int, capital: bool) -> Iterator[tuple[int, int]]:
        """Texts that stand here: of how many words, and which; the longest first, those that go on last."""
        lengths = [length for length in self._lengths[folded[i]] if i + length <= len(folded)]
        for length in lengths:
            first, any_case = self._numbers.get(tuple(folded[i : i + length]), (-1, -1))
            if (number := first if capital else any_case) >= 0:
                yield length, number
        for length in lengths if self._heads else ():
            for last, number in self._heads.get(tuple(folded[i : i + length - 1]), ()):
                if folded[i + length - 1].startswith(last):
                    yield length, number


_LITTLE = frozenset({"a", "and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"})


def says_something(text: str) -> bool:
    """Whether a text is more than an article or a preposition: removing every "the" of a document would hide nobody."""
    return not all(word.lower() in _LITTLE for word in _WORD.findall(text))


class Seen(NamedTuple):
    """What a first look through a collection found: texts by kind with how sure each was at best, and the words that stand in lower case."""

    names: dict[tuple[str, str], float]
    ordinary: set[str]

    def add(self, document: Document, findings: Iterable[Finding]) -> None:
        """Take a document's findings along."""
        self.ordinary.update(word for word in _WORD.findall(document.text) if word.islower())
        for one in findings:
            key = (document.text[one.start : one.end], one.kind)
            self.names[key] = max(one.confidence, self.names.get(key, 0.0))

    def join(self, other: Seen) -> None:
        """Take along what was seen elsewhere."""
        self.ordinary.update(other.ordinary)
        for key, confidence in other.names.items():
            self.names[key] = max(confidence, self.names.get(key, 0.0))


class CollectionSearch:
    """Finds names that were found elsewhere in the collection, and surnames of persons found there."""

    name: ClassVar[str] = "elsewhere"

    def __init__(self, seen: Seen, accept: float) -> None:
        kinds: dict[str, tuple[str, float]] = {}
        for (text, kind), confidence in sorted(seen.names.items(), key=lambda item: item[1]):
            if confidence >= accept and kind in (PERSON, ORGANIZATION, EMAIL, PHONE) and not self._ordinary(text, seen):
                kinds[text] = (kind, confidence)
        for (text, kind), confidence in seen.names.items():
            words = _WORD.findall(text)
            if kind == PERSON and confidence >= SURE and len(words) > 1 and self._surname(words[-1], seen):
                kinds.setdefault(words[-1], (PERSON, 0.9 * confidence))
        self._kinds: Mapping[int, tuple[str, float]] = dict(enumerate(kinds.values()))
        self._finder = PhraseFinder(kinds)
        self._lower = seen.ordinary

    def _surname(self, word: str, seen: Seen) -> bool:
        return len(word) >= SHORTEST_SURNAME and word[0].isupper() and not word.isupper() and not self._ordinary(word, seen)

    @staticmethod
    def _ordinary(text: str, seen: Seen) -> bool:
        """One word that the collection also writes in lower case."""
        words = _WORD.findall(text)
        return len(words) == 1 and words[0].lower() in seen.ordinary

    def detect(self, document: Document) -> list[Finding]:
        """Every occurrence."""
        found = []
        for start, end, number in self._finder.occurrences(document.text):
            kind, confidence = self._kinds[number]
            if kind == ORGANIZATION and all(word in self._lower for word in _WORD.findall(document.text[start:end])):
                continue  # "armed forces" is no Armed Forces; a person's name without capitals is still a name
            found.append(Finding(start, end, kind, min(confidence, 0.95), "the same words were found in the collection"))
        return found


def named_elsewhere(findings: list[Finding], more: list[Finding]) -> list[Finding]:
    """Findings, and those of the collection that overlap none of them.

    What is found here and surely known elsewhere is as sure as it is there; an unknown word has its kind.
    """
    known = {(one.start, one.end): one for one in more}
    kept = []
    for one in findings:
        same = known.get((one.start, one.end))
        if same is not None and (one.kind == UNKNOWN or same.confidence > one.confidence):
            one = replace(one, kind=same.kind if one.kind == UNKNOWN else one.kind, confidence=max(one.confidence, same.confidence))
            one = replace(one, because=f"{one.because}; elsewhere: {same.because}")
        kept.append(one)
    inside = sorted(more, key=lambda one: one.start)
    at, raised = 0, []
    for one in sorted(kept, key=lambda one: one.start):  # a surely known name inside an unsure finding makes that sure
        while at < len(inside) and inside[at].end <= one.start:
            at += 1
        best = max((m.confidence for m in inside[at : at + 8] if one.start <= m.start and m.end <= one.end), default=0.0)
        raised.append(replace(one, confidence=best) if best > one.confidence else one)
    covered = [(one.start, one.end) for one in raised]
    out, at = list(raised), 0
    for one in inside:
        while at < len(covered) and covered[at][1] <= one.start:
            at += 1
        if at == len(covered) or covered[at][0] >= one.end:
            out.append(one)
    return sorted(out, key=lambda one: one.start)


def with_listed(findings: list[Finding], listed: list[tuple[int, int]]) -> list[Finding]:
    """Findings, and every stretch that the user's own list names: surely, whatever was found there."""
    if not listed:
        return findings
    out: list[Finding] = []
    for one in findings:
        over = [(start, end) for start, end in listed if start < one.end and one.start < end]
        if over:
            low, high = min(start for start, _ in over), max(end for _, end in over)
            one = replace(
                one,
                start=min(one.start, low),
                end=max(one.end, high),
                confidence=1.0,
                because=f"{one.because}; on the list of names to drop",
            )
        if out and one.start < out[-1].end:
            out[-1] = replace(out[-1], end=max(out[-1].end, one.end), confidence=1.0)
        else:
            out.append(one)
    free = [(start, end) for start, end in listed if not any(one.start < end and start < one.end for one in out)]
    out += [Finding(start, end, UNKNOWN, 1.0, "on the list of names to drop") for start, end in free]
    return sorted(out, key=lambda one: one.start)


@lru_cache(maxsize=1 << 18)
def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if unicodedata.category(letter) != "Mn").casefold()
