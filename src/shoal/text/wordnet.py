"""WordNet 3.0, read from its own files: synsets, their words, what is more general and what is more special.

A synset is a number here: nouns first, then verbs, adjectives and adverbs, each in the order of its file. Names are those of
NLTK: dog.n.01 is the first sense of the noun dog.
"""

from __future__ import annotations

import gc
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from shoal.arrays import Int32Array, IntArray
from shoal.errors import DataError, did_you_mean

PartOfSpeech = Literal["n", "v", "a", "r"]
FILES: dict[PartOfSpeech, str] = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}

_SYSTEM = (Path("/usr/share"), Path("/usr/local/share"))  # where Debian's package puts it, and others do
_UP = re.compile(r" @i? (\d{8}) ([nv])")  # hypernyms, of kinds and of instances
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand; not part of the word
# Endings of inflected forms and what they stand for, as WordNet's own morphy has them.
_ENDINGS: dict[PartOfSpeech, tuple[tuple[str, str], ...]] = {
    "n": (("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"), ("ies", "y")),
    "v": (("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}


class WordNet:
    """Synsets and their relations. Read it with `read_wordnet`."""

    def __init__(self, folder: Path | zipfile.Path) -> None:
        self.words: list[tuple[str, ...]] = []  # of each synset, as written: 'big_cat', 'Iran'
        self.first: dict[PartOfSpeech, range] = {}  # which synsets belong to a part of speech
        self._glosses: list[str] = []
        self._satellites: set[int] = set()
        self.instances: set[int] = set()  # single things with a name: Ankara, not city
        self._sizes: dict[int, int] = {}
        self._index: dict[PartOfSpeech, dict[str, tuple[int, ...]]] = {}
        self._irregular: dict[PartOfSpeech, dict[str, tuple[str, ...]]] = {}
        offsets: dict[str, dict[str, int]] = {}
        above: list[list[tuple[str, str]]] = []
        for part in FILES:
            begin = len(self.words)
            offsets[part] = self._read_synsets(folder, part, above)
            self.first[part] = range(begin, len(self.words))
            self._read_index(folder, part, offsets[part])
            self._irregular[part] = _read_exceptions(folder, part)
        try:
            self._up = [tuple([offsets[part][offset] for offset, part in pairs]) for pairs in above]
        except KeyError as problem:
            raise _broken("data.noun or data.verb") from problem

    def _read_synsets(self, folder: Path | zipfile.Path, part: PartOfSpeech, above: list[list[tuple[str, str]]]) -> dict[str, int]:
        offsets: dict[str, int] = {}
        name = f"data.{FILES[part]}"
        try:
            for line in _lines(folder, name):
                head, _, gloss = line.partition(" | ")
                fields = head.split(" ")
                here = offsets[fields[0]] = len(self.words)
                words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
                if part == "a":
                    words = [_MARKER.sub("", word) for word in words]
                    if fields[2] == "s":
                        self._satellites.add(here)
                self.words.append(tuple(words))
                self._glosses.append(gloss)
                above.append(_UP.findall(head))
                if " @i " in head:
                    self.instances.add(here)
        except (IndexError, ValueError) as problem:
            raise _broken(name) from problem
        return offsets

    def _read_index(self, folder: Path | zipfile.Path, part: PartOfSpeech, offsets: dict[str, int]) -> None:
        index = self._index[part] = {}
        name = f"index.{FILES[part]}"
        try:
            for line in _lines(folder, name):
                fields = line.split()
                index[fields[0]] = tuple([offsets[offset] for offset in fields[-int(fields[2]) :]])
        except (IndexError, ValueError, KeyError) as problem:
            raise _broken(name) from problem

    def __len__(self) -> int:
        return len(self.words)

    def lemmas(self, part: PartOfSpeech) -> list[str]:
        """Every word of a part of speech, in lower case, with underscores for spaces."""
        return list(self._index[part])

    def part_of_speech(self, synset: int) -> PartOfSpeech:
        """n, v, a or r."""
        return next(part for part, synsets in self.first.items() if synset in synsets)

    def gloss(self, synset: int) -> str:
        """What it means, in a sentence; its examples are left out."""
        return self._glosses[synset].split('; "')[0].strip()

    def name(self, synset: int) -> str:
        """dog.n.01: its first word, and which sense of that word it is. Satellite adjectives have s for a."""
        part = self.part_of_speech(synset)
        word = self.words[synset][0].lower()
        sense = self._index[part][word].index(synset) + 1
        return f"{word}.{'s' if synset in self._satellites else part}.{sense:02d}"

    def named(self, name: str) -> int:
        """The synset called so; any of its words may name it: weapon.n.01, arm.n.03."""
        word, _, rest = name.strip().rpartition(".")[0].rpartition(".")
        sense = name.strip().rpartition(".")[2]
        part: PartOfSpeech | None = "a" if rest == "s" else rest if rest in FILES else None
        if not word or part is None or not sense.isdecimal():
            raise DataError(f"'{name}' does not name a sense. Write the word, its part of speech (n, v, a, r) and a number: weapon.n.01.")
        known = self._index[part].get(word.lower().replace(" ", "_"), ())
        if not 1 <= int(sense) <= len(known):
            if not known:
                near = [other for other in self._index[part] if other[0] == word[0].lower()]
                raise DataError(f"WordNet has no {FILES[part]} '{word}'.{did_you_mean(word.lower(), near)}")
            raise DataError(f"WordNet has {len(known)} senses of '{word}' as {FILES[part]}, so '{name}' is none of them.")
        return known[int(sense) - 1]

    def bases(self, word: str, part: PartOfSpeech) -> list[str]:
        """The forms of a word that WordNet lists: itself, and what an inflected form stands for (weapons: weapon; men: man)."""
        word = word.lower().replace(" ", "_")
        found = [word, *self._irregular[part].get(word, ())]
        if len(found) == 1:
            found += [word[: -len(ending)] + stead for ending, stead in _ENDINGS[part] if word.endswith(ending)]
        return list(dict.fromkeys(base for base in found if base in self._index[part]))

    def senses(self, word: str, part: PartOfSpeech | None = None) -> list[int]:
        """The synsets of a word, the commonest first; nouns, then verbs, adjectives and adverbs."""
        parts = FILES if part is None else (part,)
        return list(dict.fromkeys(synset for p in parts for base in self.bases(word, p) for synset in self._index[p][base]))

    def knows(self, word: str) -> bool:
        """Is this a word of WordNet, or an inflected form of one?"""
        return any(self.bases(word, part) for part in FILES)

    @cached_property
    def irregular(self) -> dict[str, tuple[str, ...]]:
        """Inflected forms that no ending explains, and what they stand for: mice, taught, further."""
        found: dict[str, tuple[str, ...]] = {}
        for table in self._irregular.values():
            for form, bases in table.items():
                found[form] = tuple(dict.fromkeys((*found.get(form, ()), *bases)))
        return found

    def hypernyms(self, synset: int) -> tuple[int, ...]:
        """What is directly more general. Of an instance (Ankara), what it is one of (national capital)."""
        return self._up[synset]

    def hyponyms(self, synset: int) -> list[int]:
        """What is directly more special, instances too."""
        starts, below = self.down
        return list(map(int, below[starts[synset] : starts[synset + 1]]))

    @cached_property
    def up(self) -> tuple[IntArray, Int32Array]:
        """All hypernyms as one array: those of synset s stand from starts[s] to starts[s + 1]."""
        starts = np.zeros(len(self) + 1, np.int64)
        np.cumsum([len(above) for above in self._up], out=starts[1:])
        return starts, np.fromiter((synset for above in self._up for synset in above), np.int32, int(starts[-1]))

    @cached_property
    def down(self) -> tuple[IntArray, Int32Array]:
        """All hyponyms as one array, like `up`."""
        starts, above = self.up
        children = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(starts))
        begin = np.zeros(len(self) + 1, np.int64)
        np.cumsum(np.bincount(above, minlength=len(self)), out=begin[1:])
        return begin, children[np.argsort(above, kind="stable")]

    def below(self, synset: int, depth: int | None = None) -> Iterator[list[int]]:
        """The synset itself, its hyponyms, theirs, and so on to a depth (None: to the end); each synset once, at its least depth.

        Kinds only: instances have names of their own, and finding names is another matter.
        """
        seen, level, deep = {synset}, [synset], 0
        while level:
            yield level
            if deep == depth:
                return
            found = dict.fromkeys(under for here in level for under in self.hyponyms(here))
            level = [under for under in found if under not in seen and under not in self.instances]
            seen.update(level)
            deep += 1

    def size_below(self, synset: int) -> int:
        """How many synsets are below it at any depth, instances left out; counted once."""
        if synset not in self._sizes:
            self._sizes[synset] = sum(len(level) for level in self.below(synset)) - 1
        return self._sizes[synset]

    @cached_property
    def depths(self) -> tuple[Int32Array, Int32Array]:
        """Steps from each synset up to its nearest and to its farthest root; a root (entity, and many verbs) has 0.

        Some editions hold two verbs that are each other's hypernym. Such a circle is opened where it is nearest to a root.
        """
        waiting = np.diff(self.up[0])
        least, most = np.zeros(len(self), np.int32), np.zeros(len(self), np.int32)
        settled = waiting == 0
        ready = np.flatnonzero(settled)
        begin, below = self.down
        far = np.iinfo(np.int32).max
        least[~settled] = far
        while True:
            while len(ready):  # a synset is settled once all of its hypernyms are
                lengths = begin[ready + 1] - begin[ready]
                parents = np.repeat(ready, lengths)
                places = np.repeat(begin[ready] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
                children = below[places]
                np.minimum.at(least, children, least[parents] + 1)
                np.maximum.at(most, children, most[parents] + 1)
                np.subtract.at(waiting, children, 1)
                ready = np.unique(children[(waiting[children] == 0) & ~settled[children]])
                settled[ready] = True
            if settled.all():
                return least, most
            # What is left hangs below a circle. Its first synset counts as a root where nothing leads into it from one.
            stuck = np.flatnonzero(~settled)
            ready = stuck[np.argmin(least[stuck])][None]
            least[ready] = np.where(least[ready] == far, 0, least[ready])
            settled[ready] = True


def read_wordnet(folder: str | Path | None = None) -> WordNet:
    """WordNet from a folder, or from wherever it is found; read once."""
    return _read(find_wordnet(folder))


@lru_cache(maxsize=2)
def _read(folder: Path) -> WordNet:
    collecting = gc.isenabled()
    gc.disable()  # half a million small tuples, none of them garbage: looking for it would take a third of the time
    try:
        return WordNet(_inside(folder))
    finally:
        if collecting:
            gc.enable()


def find_wordnet(folder: str | Path | None = None) -> Path:
    """The folder of WordNet's files: the one given, else the one named by SHOAL_WORDNET, else where systems and NLTK keep it."""
    named = folder or os.environ.get("SHOAL_WORDNET")
    if named:
        path = Path(named)
        if not _complete(path):
            raise DataError(f"'{named}' does not hold WordNet: data.noun, index.noun and their like are expected there.")
        return path
    nltk = [Path(place) for place in os.environ.get("NLTK_DATA", "").split(os.pathsep) if place]
    nltk += [Path.home() / "nltk_data", Path(sys.prefix, "nltk_data"), *(system / "nltk_data" for system in _SYSTEM)]
    places = [Path(sys.prefix, "share", "wordnet"), *(system / "wordnet" for system in _SYSTEM)]
    places += [place / "corpora" / name for place in nltk for name in ("wordnet", "wordnet.zip")]
    for place in places:
        if _complete(place):
            return place
    raise DataError(
        "WordNet was not found. Install Debian's package (apt-get install wordnet-base), "
        "or set SHOAL_WORDNET to a folder that holds its files (data.noun, index.noun and so on)."
    )


def _inside(place: Path) -> Path | zipfile.Path:
    if place.suffix != ".zip":
        return place
    archive = zipfile.Path(place)
    return archive / "wordnet" if (archive / "wordnet").is_dir() else archive


def _complete(place: Path) -> bool:
    try:
        if not place.exists():
            return False
        inside = _inside(place)
        return all((inside / f"{kind}.{name}").is_file() for name in FILES.values() for kind in ("data", "index"))
    except (OSError, zipfile.BadZipFile):
        return False


def _lines(folder: Path | zipfile.Path, name: str) -> Iterator[str]:
    """The lines that say something: the licence at the head of each file is indented."""
    try:
        text = (folder / name).read_bytes().decode("utf-8", "replace")
    except OSError as problem:
        raise DataError(f"WordNet's file {name} could not be read.") from problem
    return (line for line in text.split("\n") if line and line[0] != " ")


def _read_exceptions(folder: Path | zipfile.Path, part: PartOfSpeech) -> dict[str, tuple[str, ...]]:
    name = f"{FILES[part]}.exc"
    if not (folder / name).is_file():
        return {}
    return {fields[0]: tuple(fields[1:]) for line in _lines(folder, name) if (fields := line.split())}


def _broken(name: str) -> DataError:
    return DataError(f"WordNet's file {name} is not in WordNet's format; fetch it again.")
