"""Names by a small tagger of our own: a conditional random field over word forms, trained by `make tagger` and shipped with the package.

Scores of a token are sums over what is known of its form and of the forms beside it. Each form is turned into numbers once, so tagging a
long text is a matter of adding rows of a table and one pass of forward and backward sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import ClassVar

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.document import LOCATION, ORGANIZATION, PERSON, Document, Finding
from shoal.documents.detectors import tagger_words
from shoal.documents.detectors.tagger_words import (
    LOOKS,
    OFFSETS,
    PAIR_BITS,
    Token,
    form_key,
    form_of,
    places_in,
    sentences_of,
    tokens_of,
    word_list,
)
from shoal.errors import DataError, ParameterError

MODEL = "tagger.npz"
LABELS = ("O", "B-PER", "I-PER", "B-ORG", "I-ORG", "B-LOC", "I-LOC", "B-MISC", "I-MISC")
KINDS = (PERSON, ORGANIZATION, LOCATION)
EDGE = len(OFFSETS) // 2
PLACE_SIZES = 7
FORMS_KEPT = 200_000
CASES = 3  # a sentence in mixed case, all in capitals, all in lower case


def sentence_case(tokens: list[Token]) -> int:
    """0 for mixed case; 1 when nearly every word is in capitals, 2 when none has one: capitals then say nothing."""
    words = [token.text for token in tokens if token.text[0].isalpha()]
    if len(words) < 3:
        return 0
    if sum(word.isupper() for word in words) >= 0.8 * len(words):
        return 1
    return 2 if all(word.islower() for word in words) else 0


@dataclass
class Model:
    """Weights by feature name, and the tables made of them: by form (filled as forms are met), by look, by cluster pair, by place."""

    weights: dict[str, FloatArray]
    transitions: FloatArray
    _codes: dict[str, int] = field(default_factory=dict)
    _looks: list[int] = field(default_factory=list)
    _clusters: list[int] = field(default_factory=list)
    _rows: FloatArray = field(default_factory=lambda: np.zeros((1024, len(OFFSETS), len(LABELS))))

    def forget(self) -> None:
        """Starts the table of forms again, so that it does not grow with all that was ever read."""
        if len(self._codes) > FORMS_KEPT:
            self._codes, self._looks, self._clusters = {}, [], []
            self._rows = np.zeros((1024, len(OFFSETS), len(LABELS)))

    def __post_init__(self) -> None:
        looks, clusters = len(LOOKS), 1 << PAIR_BITS
        self.look_before = self._table("L-", (looks, looks))
        self.look_after = self._table("L+", (looks, looks))
        self.look_around = self._table("L3", (looks, looks, looks))
        self.cluster_before = self._table("C-", (clusters, clusters))
        self.cluster_after = self._table("C+", (clusters, clusters))
        self.place = self._table("P", (PLACE_SIZES, PLACE_SIZES, PLACE_SIZES))
        self.case = self._table("K", (CASES, looks))

    def _table(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        table = np.zeros((*shape, len(LABELS)))
        for feature, weights in self.weights.items():
            if feature.startswith(name + ":"):
                table[tuple(int(code) for code in feature.split(":")[1:])] = weights
        return table

    def code(self, word: str) -> int:
        """The number of a word form, whose rows of the table are worked out the first time."""
        if not word.isalpha():
            word = form_key(word)
        code = self._codes.get(word)
        if code is None:
            code = self._codes[word] = len(self._codes)
            if code == len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            form = form_of(word, word_list())
            self._looks.append(form.look)
            self._clusters.append(form.cluster)
            for column, names in enumerate(form.features):
                row = self._rows[code, column]
                for name in names:
                    weights = self.weights.get(name)
                    if weights is not None:
                        row += weights
        return code

    def emissions(self, codes: IntArray, place: IntArray, case: IntArray, starts: IntArray) -> FloatArray:
        """Scores of each label at each token; tokens of other sentences do not count."""
        n = len(codes)
        looks = np.asarray(self._looks, dtype=np.int64)[codes]
        clusters = np.asarray(self._clusters, dtype=np.int64)[codes]
        sentence = np.searchsorted(starts, np.arange(n), side="right")
        scores: FloatArray = self._rows[codes, EDGE].copy()
        for column, offset in enumerate(OFFSETS):
            if offset and n > abs(offset):
                here, there = (slice(0, n - offset), slice(offset, n)) if offset > 0 else (slice(-offset, n), slice(0, n + offset))
                same = (sentence[here] == sentence[there])[:, None]
                scores[here] += self._rows[codes[there], column] * same
        before, after = _beside(looks, sentence)
        scores += self.look_before[before, looks] + self.look_after[looks, after] + self.look_around[before, looks, after]
        cluster_before, cluster_after = _beside(clusters, sentence)
        scores += self.cluster_before[cluster_before, clusters] + self.cluster_after[clusters, cluster_after]
        place_before, place_after = _beside(place, sentence)
        scores += self.place[place_before, place, place_after] + self.case[case, looks]
        return scores


def _beside(values: IntArray, sentence: IntArray) -> tuple[IntArray, IntArray]:
    """The value one before and one after; 0 beyond the ends of a sentence."""
    before, after = np.zeros_like(values), np.zeros_like(values)
    same = sentence[1:] == sentence[:-1]
    before[1:] = np.where(same, values[:-1], 0)
    after[:-1] = np.where(same, values[1:], 0)
    return before, after


def load_model(path: Path) -> Model:
    """A model as `save_model` wrote it."""
    try:
        with np.load(path, allow_pickle=False) as saved:
            names = saved["names"].tobytes().decode().split("\n")
            dense = np.zeros((len(names), len(LABELS)))
            dense[saved["rows"].cumsum(), saved["labels"]] = saved["values"].astype(np.float64)
            return Model(dict(zip(names, dense, strict=True)), saved["transitions"].astype(np.float64))
    except Exception:  # numpy has no end of ways to stumble over damage
        raise DataError(f"The tagger's model {path.name} cannot be read. Install shoal again, or train it with 'make tagger'.") from None


@cache
def shipped_model() -> Model:
    return load_model(tagger_words.DATA / MODEL)


def chances(text: str, model: Model) -> tuple[list[Token], FloatArray]:
    """The tokens of a text and, for each, how likely each label is."""
    from shoal.kernels.chains import marginals

    tokens = tokens_of(text)
    if not tokens:
        return tokens, np.zeros((0, len(LABELS)))
    model.forget()
    starts, place, case = [], np.zeros(len(tokens), dtype=np.int64), np.zeros(len(tokens), dtype=np.int64)
    words = word_list()
    for first, end in sentences_of(text, tokens):
        starts.append(first)
        place[first:end] = places_in([token.text.lower() for token in tokens[first:end]], words)
        case[first:end] = sentence_case(tokens[first:end])
    codes = np.fromiter((model.code(token.text) for token in tokens), dtype=np.int64, count=len(tokens))
    begins = np.asarray(starts, dtype=np.int64)
    scores = model.emissions(codes, place, case, begins)
    return tokens, marginals(scores, model.transitions, np.append(begins, len(tokens)))


@dataclass(frozen=True)
class Tagger:
    """Finds persons, organizations and places by the shipped tagger.

    A token is taken when its chance of being part of a name reaches `threshold`. The default is low because a missed name is a leak
    and a false one costs a glance: in Wikipedia text held out from training it covers nine names in ten where .5 covers eight.
    """

    name: ClassVar[str] = "tagger"
    threshold: float = 0.2

    def __post_init__(self) -> None:
        if not 0 < self.threshold < 1:
            raise ParameterError(f"tagger: threshold must be between 0 and 1, got {self.threshold!r}.")

    def detect(self, document: Document) -> list[Finding]:
        """One finding per name; its confidence is the mean chance of its tokens."""
        model = shipped_model()
        found: list[Finding] = []
        for start, end in stretches(document.text):
            tokens, chance = chances(document.text[start:end], model)
            found.extend(_moved(one, start) for one in names_in(tokens, chance, self.threshold))
        return found


def names_in(tokens: list[Token], chance: FloatArray, threshold: float) -> list[Finding]:
    """Runs of tokens that are likely part of a name. A new one starts where beginning is likelier than going on."""
    begins, goes_on = chance[:, 1:7:2], chance[:, 2:7:2]
    by_kind = begins + goes_on
    inside = by_kind.sum(axis=1)
    taken = inside >= threshold
    fresh = taken & (~np.append(False, taken[:-1]) | (begins.sum(axis=1) > goes_on.sum(axis=1)))
    found = []
    for first in np.flatnonzero(fresh):
        end = first + 1
        while end < len(tokens) and taken[end] and not fresh[end]:
            end += 1
        last = end
        while last > first and _cannot_end(tokens[last - 1].text):
            last -= 1
        if last > first:
            kind = KINDS[int(by_kind[first:last].sum(axis=0).argmax())]
            sure = round(float(inside[first:last].mean()), 3)
            found.append(Finding(tokens[first].start, tokens[last - 1].end, kind, sure, f"reads like the name of {WORDS_FOR[kind]}"))
    return found


def _cannot_end(token: str) -> bool:
    """A name does not end with a stray mark, a possessive or a small word."""
    return token in _NOT_LAST or (len(token) == 1 and not token.isalnum())


_NOT_LAST = frozenset({"'s", "’s", "of", "the", "and", "in", "at", "for", "to", "on", "from", "by"})
WORDS_FOR = {PERSON: "a person", ORGANIZATION: "an organization", LOCATION: "a place"}


def _moved(one: Finding, by: int) -> Finding:
    return Finding(one.start + by, one.end + by, one.kind, one.confidence, one.because)


def stretches(text: str, size: int = 200_000) -> Iterator[tuple[int, int]]:
    """Stretches of a long text, cut between paragraphs, or between words where a paragraph has no end."""
    start = 0
    while len(text) - start > 2 * size:
        cut = text.find("\n\n", start + size, start + 2 * size)
        if cut < 0:
            cut = text.rfind(" ", start + size, start + 2 * size)
        cut = start + 2 * size if cut < 0 else cut
        yield start, cut
        start = cut
    yield start, len(text)
