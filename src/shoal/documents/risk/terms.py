"""Risk terms: seeds grow through WordNet to a list, and the list is found in texts however its words are written (section 3.1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from shoal.arrays import IntArray
from shoal.errors import DataError, ParameterError
from shoal.parsing import read_text
from shoal.text.wordnet import FILES, WordNet
from shoal.text.words import STOP_WORDS, Cut, WordNumbers, folded, stems, tokens

# Table 3.1 of Abril's thesis, from section 1.4 of Executive Order 13526. It speaks of 30 words; 32 different ones are printed.
RISK_QUERIES: dict[str, tuple[str, ...]] = {
    "rq1": ("military", "plan", "weapon", "systems"),
    "rq2": ("intelligence", "covert", "action", "sources"),
    "rq3": ("cryptology", "cryptogram", "encrypt"),
    "rq4": ("sources", "confidential", "foreign", "relations", "activity"),
    "rq5": ("science", "scientific", "technology", "economy", "national", "security"),
    "rq6": ("safeguard", "nuclear", "material", "facility"),
    "rq7": ("protection", "service", "national", "security"),
    "rq8": ("develop", "production", "use", "weapon", "mass", "destruction"),
}
RISK_SEEDS = tuple(dict.fromkeys(word for query in RISK_QUERIES.values() for word in query))

Forms = Literal["stems", "plurals"]

_SENSE = re.compile(r".+\.[nvasr]\.\d+")
_BETWEEN = " \t\r\n\u00a0\u2009\u202f-\u2010\u2011\u2013/_"  # what may stand between the words of one term
_APART = "\n\n\n"  # what keeps the texts of a batch apart: no term runs over it
_BATCH = 1_000_000  # characters
_SHORTEST_SLIP = 5  # letters; shorter words are one letter away from too many others
_LONGEST_WORD = 60  # letters; what is longer is no word, and has too many pieces to look for each
_SHORTEST_SLIP_OF_A_NAME = 8
# Words that WordNet does not list, though nobody mistyped them.
_WITHOUT_MEANING = """
    could would shall might ought cannot among amongst although unless whereas whether whose whoever whatever whichever whenever
    wherever anybody anyone anything everybody everyone everything somebody someone something nobody without toward towards upon
    throughout underneath beneath beside besides despite except inside onto outside since until unto which there their these those
    while where because against between during themselves ourselves himself herself itself yourself myself
"""
_NOT_LISTED = frozenset(_WITHOUT_MEANING.split())


@dataclass(frozen=True)
class Growth:
    """What one sense of one seed brings at one depth: 0 its own words (synonyms), 1 its direct hyponyms, and so on."""

    seed: str
    sense: str  # weapon.n.01; empty where WordNet does not know the seed
    gloss: str
    depth: int
    words: tuple[str, ...]
    adds: tuple[str, ...]  # those that no row above has


@dataclass(frozen=True)
class Expansion:
    """How seeds grew, to be looked at before it is used. `terms` is the list."""

    rows: tuple[Growth, ...]

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Every word and phrase, in alphabetical order."""
        return tuple(sorted(word for row in self.rows for word in row.adds))

    @cached_property
    def senses(self) -> dict[str, str]:
        """The sense through which each term came first: what a hit is taken to mean."""
        return {word: row.sense for row in self.rows for word in row.adds}

    @property
    def unknown(self) -> tuple[str, ...]:
        """Seeds that WordNet does not know; they stay as they are."""
        return tuple(row.seed for row in self.rows if not row.sense)


def grow(wordnet: WordNet, seeds: Sequence[str], depth: int | None = 1, senses: int | None = None) -> Expansion:
    """Seeds, their synonyms, and their hyponyms to a depth (0: none, None: all).

    A seed is a word, with its first so many senses of each part of speech (None: all), or one sense of a word: weapon.n.01. The
    wrong sense of one word can bring more than all others together ("agent" brings every medicine), so look at the rows first.
    """
    if depth is not None and depth < 0:
        raise ParameterError(f"depth must be 0 or more, got {depth}.")
    if senses is not None and senses < 1:
        raise ParameterError(f"senses must be 1 or more, got {senses}.")
    if not seeds:
        raise ParameterError("There is no seed to grow. Give at least one word.")
    rows: list[Growth] = []
    have: set[str] = set()

    def row(seed: str, sense: str, gloss: str, deep: int, words: Iterable[str]) -> None:
        found = tuple(dict.fromkeys(word for word in words if word not in STOP_WORDS and any(map(str.isalpha, word))))
        new = tuple(word for word in found if word not in have)
        have.update(new)
        rows.append(Growth(seed, sense, gloss, deep, found, new))

    for seed in seeds:
        written = " ".join(seed.lower().split())
        if _SENSE.fullmatch(written):
            chosen = [wordnet.named(written)]
            written = written.rsplit(".", 2)[0].replace("_", " ")
        else:
            chosen = [synset for part in FILES for synset in wordnet.senses(written, part)[:senses]]
        if not chosen:
            row(written, "", "", 0, [written])
        for synset in chosen:
            for deep, level in enumerate(wordnet.below(synset, depth)):
                words = [_spoken(word) for under in level for word in wordnet.words[under]]
                first = [written] if deep == 0 else []
                row(written, wordnet.name(synset), wordnet.gloss(synset), deep, first + words)
    return Expansion(tuple(rows))


def _spoken(word: str) -> str:
    return word.replace("_", " ").lower()


def read_terms(path: Path) -> tuple[str, ...]:
    """Seeds or terms from a file: one to a line, anything after # is a remark."""
    text = read_text(path)
    found = tuple(dict.fromkeys(line for raw in text.splitlines() if (line := raw.partition("#")[0].strip())))
    if not found:
        raise DataError(f"The list of terms '{path.name}' has no terms. Write one to a line.")
    return found


def read_senses(path: Path) -> dict[str, str]:
    """The senses that a list of terms names in its remarks: missile  # weapon.n.01."""
    cut = [line.partition("#") for line in read_text(path).splitlines()]
    return {term.strip(): sense.strip() for term, _, sense in cut if term.strip() and _SENSE.fullmatch(sense.strip())}


@dataclass(frozen=True)
class Hits:
    """Where risk terms stand in one text. `word` counts words from the start of the text, `words` says how many there are."""

    words: int
    word: IntArray
    start: IntArray
    end: IntArray
    term: IntArray  # which term of the list


class RiskTerms:
    """Finds terms in texts through stems (or plurals only), separators (e-mail, email, e mail), and single slips of the keyboard.

    What a word of the text stands for is decided once for each different word, so a corpus costs little more than cutting it up.
    A slip is one letter left out, put in, changed, or swapped with the next, not the first one, in a word of five letters or more
    (eight, if it looks like a name) that WordNet does not know: real words are often one letter apart. So without WordNet no slips
    are looked for.
    """

    def __init__(self, terms: Sequence[str], wordnet: WordNet | None = None, forms: Forms = "stems") -> None:
        if not terms:
            raise ParameterError("There is no term to look for. Give at least one.")
        self.terms = tuple(dict.fromkeys(" ".join(term.split()) for term in terms))
        self._wordnet = wordnet
        self._forms = forms
        paths: list[tuple[list[str], int]] = []
        for number, term in enumerate(self.terms):
            pieces = [folded(piece) for piece in tokens(term)]
            if not pieces:
                raise ParameterError(f"Term {number + 1} of the list has no letters or digits. Leave it out.")
            paths.append((pieces, number))
            if len(pieces) > 1:
                paths.append((["".join(pieces)], number))  # 'e mail' is also found as 'email'
        words = list(dict.fromkeys(piece for path, _ in paths for piece in path))
        reduced = dict(zip(words, self._reduce(words)))
        self._codes = {stem: code for code, stem in enumerate(dict.fromkeys(reduced.values()), 1)}  # 0: in no term
        paths.sort(key=lambda path: (len("".join(path[0])), path))
        self._grow_trie([([self._codes[reduced[piece]] for piece in path], number) for path, number in paths])
        self._alone = {path[0]: number for path, number in reversed(paths) if len(path) == 1}  # terms of one word
        self._splittable = {word for word in self._alone if _SHORTEST_SLIP <= len(word) <= _LONGEST_WORD}
        self._heads, self._tails = _pieces_of(self._splittable)
        self._slips: dict[str, list[str]] = {}
        for word in words if wordnet is not None else ():
            if _SHORTEST_SLIP <= len(word) <= _LONGEST_WORD and word.isalpha():
                for key in _without_one(word):
                    self._slips.setdefault(key, []).append(word)
        self._reduced = reduced
        self._word_numbers = WordNumbers()
        self._plain: list[str] = []  # the words met so far without case and marks
        self._wholes: dict[str, int] = {}  # the numbers of hyphenated words read as one
        self._code = np.zeros(1024, np.int64)  # of each word met so far
        self._own = np.full(1024, -1, np.int64)  # the term that it is itself
        self._part = np.zeros(1024, np.int8)  # 1: may begin a term written apart, 2: may end one, 3: either

    def _reduce(self, words: Sequence[str]) -> list[str]:
        """What is left of words without their endings. Stop words stay whole, and apart from all stems: 'in' is not 'innings'."""
        short = stems(words) if self._forms == "stems" else [_singular(word) for word in words]
        return [f"{word}." if word in STOP_WORDS else stem for word, stem in zip(words, short)]

    def _grow_trie(self, paths: list[tuple[list[int], int]]) -> None:
        """Terms as a tree of stems, its edges one sorted array of state * width + stem. A path two terms share is the shorter's."""
        self._width = len(self._codes) + 1
        edges: dict[int, int] = {}
        ends: dict[int, int] = {}
        for path, number in paths:
            state = 0
            for code in path:
                state = edges.setdefault(state * self._width + code, len(edges) + 1)
            ends.setdefault(state, number)
        self._edges = np.array(sorted(edges), np.int64)
        self._states = np.array([edges[int(edge)] for edge in self._edges], np.int64)
        self._ends = np.full(len(edges) + 1, -1, np.int64)
        self._ends[list(ends)] = list(ends.values())
        self._goes_on = np.zeros(len(edges) + 1, bool)
        self._goes_on[self._edges // self._width] = True
        self._roots = np.zeros(self._width, np.int64)  # where each stem leads from the start; 0, which ends no term, if nowhere
        first = self._edges < self._width
        self._roots[self._edges[first]] = self._states[first]

    def find(self, text: str) -> Hits:
        """Every place where a term stands; of overlapping ones the first, and of those the longest."""
        return next(self.find_all([text]))

    def find_all(self, texts: Iterable[str]) -> Iterator[Hits]:
        """The same for many texts in turn, a good deal faster: a thousand letters cost little more than one long one."""
        batch: list[str] = []
        size = 0
        for text in texts:
            batch.append(text)
            size += len(text)
            if size > _BATCH:
                yield from self._find(batch)
                batch, size = [], 0
        if batch:
            yield from self._find(batch)

    def _find(self, texts: list[str]) -> Iterator[Hits]:
        text = _APART.join(texts)
        words = self._word_numbers.cut(text)
        joined = self._joined(text, words)
        self._learn()
        others = [(first, last - first + 1, self._term(whole)) for first, last, whole in joined]
        others = [hit for hit in others if hit[2] >= 0] + self._apart(text, words)
        found = [*self._along(text, words), np.array(others, np.int64).reshape(-1, 3)]
        word, length, term = _first_and_longest(np.concatenate(found)).T
        starts, ends = words.starts[word], words.ends[word + length - 1]
        begins = np.cumsum([0] + [len(part) + len(_APART) for part in texts])
        hits, cuts = np.searchsorted(starts, begins), np.searchsorted(words.starts, begins)
        for number, begin in enumerate(begins[:-1]):
            mine = slice(hits[number], hits[number + 1])
            first, last = cuts[number], cuts[number + 1]
            yield Hits(int(last - first), word[mine] - first, starts[mine] - begin, ends[mine] - begin, term[mine])

    def _along(self, text: str, words: Cut) -> list[IntArray]:
        """Terms as paths of stems, all beginnings at once: word, length and term of each."""
        codes = self._code[words.numbers]
        at = np.flatnonzero(codes)
        state = self._roots[codes[at]]
        found = []
        length = 1
        while True:
            term = self._ends[state]
            if length == 1:
                own = self._own[words.numbers[at]]
                term = np.where(own >= 0, own, term)
            done = np.flatnonzero(term >= 0)
            found.append(np.column_stack([at[done], np.full(len(done), length), term[done]]))
            on = np.flatnonzero(self._goes_on[state] & (at + length < len(codes)))
            at, state = at[on], state[on]
            key = state * self._width + codes[at + length]
            place = np.minimum(np.searchsorted(self._edges, key), len(self._edges) - 1)
            on = np.flatnonzero(self._edges[place] == key)
            on = on[[_close(text, words, word + length - 1) for word in at[on].tolist()]] if len(on) else on
            if not len(on):
                return found
            at, state = at[on], self._states[place[on]]
            length += 1

    def _term(self, word: int) -> int:
        """The one-word term that a word stands for, or -1: itself if it is one, else the shortest with its stem."""
        own = int(self._own[word])
        return own if own >= 0 else int(self._ends[self._roots[self._code[word]]])

    def _joined(self, text: str, words: Cut) -> list[tuple[int, int, int]]:
        """Words joined by hyphens, also where a line was broken, read as one: first and last piece, and the whole's number."""
        behind = words.codes[words.ends[:-1]]
        after = np.flatnonzero((behind == 0x2D) | (behind == 0x2010) | (behind == 0x2011))
        chains: list[list[int]] = []
        for word in after.tolist():
            between = text[words.ends[word] + 1 : words.starts[word + 1]]
            if between.strip() or between.count("\n") != bool(between):
                continue
            if chains and chains[-1][1] == word:
                chains[-1][1] = word + 1
            else:
                chains.append([word, word + 1])
        wholes = ["".join(self._word_numbers.words[word] for word in words.numbers[first : last + 1]) for first, last in chains]
        for whole in wholes:
            if whole not in self._wholes:
                self._wholes[whole] = int(self._word_numbers.cut(whole).numbers[0])
        return [(first, last, self._wholes[whole]) for (first, last), whole in zip(chains, wholes)]

    def _apart(self, text: str, words: Cut) -> list[tuple[int, int, int]]:
        """One-word terms written as two words. Neither may be a stop word: 'in former' is not 'informer'."""
        parts = self._part[words.numbers]
        found = []
        for word in np.flatnonzero((parts[:-1] & 1 > 0) & (parts[1:] & 2 > 0)).tolist():
            whole = self._plain[words.numbers[word]] + self._plain[words.numbers[word + 1]]
            whole = whole if whole in self._splittable else whole.removesuffix("s")
            if whole in self._splittable and _close(text, words, word):
                found.append((word, 2, self._alone[whole]))
        return found

    def _learn(self) -> None:
        """What the words that were never met before stand for."""
        begin, new = len(self._plain), self._word_numbers.words[len(self._plain) :]
        if not new:
            return
        while len(self._code) < len(self._word_numbers.words):
            self._code = np.concatenate([self._code, np.zeros_like(self._code)])
            self._own = np.concatenate([self._own, np.full_like(self._own, -1)])
            self._part = np.concatenate([self._part, np.zeros_like(self._part)])
        plain = [folded(word) for word in new]
        self._plain += plain
        for number, (word, stem, raw) in enumerate(zip(plain, self._reduce(plain), new), begin):
            self._code[number] = self._codes.get(stem, 0) or self._irregular(word) or self._slip(word, raw)
            self._own[number] = self._alone.get(word, -1)
            if word not in STOP_WORDS:
                tail = word in self._tails or (word.endswith("s") and word[:-1] in self._tails)
                self._part[number] = (word in self._heads) + 2 * tail

    def _irregular(self, word: str) -> int:
        """Forms that no ending explains: men, sought."""
        bases = self._wordnet.irregular.get(word, ()) if self._wordnet is not None and word not in STOP_WORDS else ()
        return next((self._codes[stem] for stem in (self._reduce(bases) if bases else ()) if stem in self._codes), 0)

    def _slip(self, word: str, raw: str) -> int:
        """A term's word that was mistyped. Short words with a capital are left alone: they are names."""
        least = _SHORTEST_SLIP_OF_A_NAME if raw.istitle() else _SHORTEST_SLIP
        if self._wordnet is None or not least <= len(word) <= _LONGEST_WORD or not word.isalpha() or word in _NOT_LISTED:
            return 0
        near = sorted({other for key in _without_one(word) for other in self._slips.get(key, ()) if other[0] == word[0]})
        near = [other for other in near if _one_slip(word, other)]
        return self._codes[self._reduced[near[0]]] if near and not self._wordnet.knows(word) else 0


def _first_and_longest(found: IntArray) -> IntArray:
    """Of overlapping hits (word, length, term) the one that begins first, and of those the longest."""
    found = found[np.lexsort((found[:, 2], -found[:, 1], found[:, 0]))]
    if len(found):
        found = found[np.append(True, found[1:, 0] != found[:-1, 0])]
    kept = np.ones(len(found), bool)
    next_free = np.searchsorted(found[:, 0], found[:, 0] + found[:, 1])
    for hit in np.flatnonzero(next_free > np.arange(len(found)) + 1).tolist():  # those that cover another
        if kept[hit]:
            kept[hit + 1 : next_free[hit]] = False
    return found[kept]


def _close(text: str, words: Cut, word: int) -> bool:
    """May this word and the next be part of one term? Spaces, one line break or a hyphen are between them, no end of a sentence."""
    between = text[words.ends[word] : words.starts[word + 1]]
    return between == " " or (not between.strip(_BETWEEN) and between.count("\n") <= 1)


def _pieces_of(words: Iterable[str]) -> tuple[set[str], set[str]]:
    heads = {word[:at] for word in words for at in range(1, len(word))}
    return heads - STOP_WORDS, {word[at:] for word in words for at in range(1, len(word))} - STOP_WORDS


def _without_one(word: str) -> set[str]:
    """The word, and the word less each of its letters: two words one slip apart share one of these."""
    return {word, *(word[:at] + word[at + 1 :] for at in range(len(word)))}


def _one_slip(one: str, other: str) -> bool:
    try:
        from rapidfuzz.distance import OSA
    except ImportError as problem:
        raise DataError("Finding misspelt risk terms needs an extra: pip install 'shoal[documents]'.") from problem
    return bool(OSA.distance(one, other, score_cutoff=1) <= 1)


def _singular(word: str) -> str:
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("sses", "xes", "zes", "ches", "shes")) else word[:-1]
