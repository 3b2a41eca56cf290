"""Words of a text: where they stand, which carry no meaning of their own, and their stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.errors import DataError

# Letters and digits in a row. Accents written as characters of their own and marks that nobody sees (soft hyphens, zero-width
# spaces) belong to the word they stand in: otherwise a word could be hidden by writing it with one.
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
_MARKS = _UNSEEN + "".join(map(chr, range(0x300, 0x370)))
_WORD = re.compile(rf"[^\W_]+(?:[{_MARKS}]+[^\W_]*)*")
_DROP_UNSEEN = str.maketrans("", "", _UNSEEN)

# The English list that Snowball published and NLTK long carried: 127 words, and the remains of "don't" and "it's".
_STOP_WORDS = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its itself
    they them their theirs themselves what which who whom this that these those am is are was were be been being have has had having
    do does did doing a an the and but if or because as until while of at by for with about against between into through during
    before after above below to from up down in out on off over under again further then once here there when where why how all any
    both each few more most other some such no nor not only own same so than too very s t can will just don should now
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def tokens(text: str) -> list[str]:
    """The words of a short text as they are written. `WordNumbers` does the same to a corpus."""
    return _WORD.findall(text)


class Cut(NamedTuple):
    """A text in words: the number of each, where it starts and where it ends; `codes` are the characters of the text."""

    numbers: IntArray
    starts: IntArray
    ends: IntArray
    codes: NDArray[np.uint32]


class WordNumbers:
    """Numbers the different words of texts in the order they come, as they are written; `words` are their spellings.

    `joins` are further characters that may stand inside a word: with "_", Pers_1 is one word.
    """

    def __init__(self, joins: str = "") -> None:
        self.words: list[str] = []
        self._kinds = _kinds(joins)
        self._slots = np.zeros(1 << 12, np.int64)
        self._keys = np.zeros(1 << 10, np.uint64)
        self._begins = np.zeros((1 << 10) + 1, np.int64)
        self._pool = np.zeros(1 << 14, np.uint32)

    def cut(self, text: str) -> Cut:
        """Every word of a text."""
        from shoal.kernels import tokens as kernel

        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
        starts, ends = kernel.borders(codes, self._kinds)
        known = len(self.words)
        self._make_room(known + len(starts), int(self._begins[known]) + len(codes))
        numbers, now = kernel.number(codes, starts, ends, self._slots, self._keys, self._begins, self._pool, known)
        if now > known:
            begins = self._begins[known : now + 1].tolist()
            spelt = self._pool[begins[0] : begins[-1]].tobytes().decode("utf-32-le", "surrogatepass")
            self.words += [spelt[begin - begins[0] : end - begins[0]] for begin, end in pairwise(begins)]
        return Cut(numbers, starts, ends, codes)

    def _make_room(self, words: int, letters: int) -> None:
        from shoal.kernels import tokens as kernel

        self._keys = _at_least(self._keys, words)
        self._begins = _at_least(self._begins, words + 1)
        self._pool = _at_least(self._pool, letters)
        if len(self._slots) < 2 * words:
            self._slots = np.zeros(1 << (2 * words).bit_length(), np.int64)
            kernel.settle(self._slots, self._keys, len(self.words))


def _at_least(array: NDArray[Any], size: int) -> NDArray[Any]:
    """The array with room for `size`, twice as long if it has to grow."""
    if len(array) >= size:
        return array
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@lru_cache(maxsize=4)
def _kinds(joins: str) -> NDArray[np.uint8]:
    """Of every code point: 1 if it may begin a word, 2 if it may only stand inside one, else 0."""
    kinds = np.fromiter(map(str.isalnum, map(chr, range(0x110000))), np.uint8, 0x110000)
    for mark in _MARKS + joins:
        kinds[ord(mark)] = 2
    return kinds


def folded(word: str) -> str:
    """A word without case, unseen marks and the many ways to encode one letter."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word.translate(_DROP_UNSEEN)).casefold()


@lru_cache(maxsize=1)
def _porter() -> Any:
    try:
        import Stemmer
    except ImportError as problem:
        raise DataError("Stemming words needs an extra: pip install 'shoal[documents]'.") from problem
    return Stemmer.Stemmer("porter", 0)  # without its cache: callers stem each different word once


def stems(words: Iterable[str]) -> list[str]:
    """Porter's stem of each word (Porter 1980): weapon, weapons and weaponed are one. Words are expected in lower case."""
    found: list[str] = _porter().stemWords(list(words))
    return found
