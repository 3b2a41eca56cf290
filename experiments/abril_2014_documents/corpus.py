"""3,000 declassified documents in place of the cables: topics, queries and sets chosen by rules, before anything is redacted."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from experiments.data import data_path
from shoal.documents.risk.queries import Queries, Query, shared_threshold
from shoal.documents.risk.terms import RISK_QUERIES, RISK_SEEDS
from shoal.randomness import rng_for
from shoal.text.search import SearchEngine
from shoal.text.wordnet import read_wordnet
from shoal.text.words import folded, stems, tokens

# Table 3.3: words of each utility query, and cables chosen for it. uq5 is asked twice, by persons and by countries.
UTILITY = {"uq1": (8, 10), "uq2": (6, 3), "uq3": (4, 10), "uq4": (4, 6), "uq5": (2, 10)}
RANDOM = 10
GAP = re.compile(r"\[[^\[\]]{0,120}not declassified[^\[\]]{0,40}\]")  # finds as many as the sample says there are, in every document


@dataclass(frozen=True)
class Record:
    """A document of the series, with what historians say of it."""

    name: str
    volume: str
    text: str
    persons: tuple[str, ...]
    places: tuple[str, ...]
    gaps: int


@cache
def frus() -> tuple[Record, ...]:
    """Every document of the sample."""
    with data_path("frus", "frus_sample.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return tuple(
        Record(f"{r['volume']}_{r['id']}.txt", r["volume"], r["text"], tuple(r["persons"]), tuple(r["places"]), r["n_not_declassified"])
        for r in rows
    )


def write_files(records: Sequence[Record], folder: Path) -> None:
    """One text file each, as a user has them."""
    folder.mkdir(parents=True)
    for one in records:
        (folder / one.name).write_text(one.text, encoding="utf-8")


@dataclass(frozen=True)
class Topic:
    """A query in the manner of Table 3.3: the volume it comes from, its words, and how many documents it returns."""

    query: str
    volume: str
    words: str
    returned: int
    chosen: tuple[str, ...]


@dataclass(frozen=True)
class Archive:
    """Topics, and ten documents drawn at random from those that belong to none."""

    topics: tuple[Topic, ...]
    random: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The documents of the small corpus, as large as the thesis's."""
        return list(dict.fromkeys([*(name for topic in self.topics for name in topic.chosen), *self.random]))


def without_gaps(text: str) -> str:
    """The text with the editors' words, such as [2 lines of source text not declassified], taken out; lengths stay."""
    return GAP.sub(lambda gap: " " * len(gap.group()), text)


def archive(records: Sequence[Record]) -> Archive:
    """The topics are the five volumes with most documents. The words of a topic are those with the largest mean tf-idf weight in its volume
    that WordNet knows and that are no word of a person's name; as many as the thesis's query has. Its set is what the engine ranks first.

    uq5-1 asks for the two persons listed in most documents of the fifth volume and for `relations`, uq5-2 for two words of that volume.
    """
    engine = SearchEngine([one.name for one in records], [without_gaps(one.text) for one in records])
    volumes = sorted(Counter(one.volume for one in records).items(), key=lambda item: (-item[1], item[0]))[: len(UTILITY)]
    named = {folded(word) for one in records for person in one.persons for word in tokens(person)}
    topics: list[Topic] = []
    taken: set[str] = set()
    for (query, (words, documents)), (volume, _) in zip(UTILITY.items(), volumes):
        chosen = _telling_words([one for one in records if one.volume == volume], engine, named, words)
        asked = {query: " ".join(chosen)}
        if query == "uq5":
            asked = {"uq5-1": " ".join([*_persons([one for one in records if one.volume == volume]), "relations"]),
                     "uq5-2": " ".join([*chosen, "relations"])}  # fmt: skip
        found = engine.search(next(iter(asked.values())))
        documents_of = tuple([name for name, _ in found if name not in taken][:documents])
        taken |= set(documents_of)
        topics += [Topic(name, volume, text, len(engine.search(text)), documents_of) for name, text in asked.items()]
    rest = [one.name for one in records if one.name not in taken]
    drawn = rng_for(1, "random documents").choice(len(rest), RANDOM, replace=False)
    return Archive(tuple(topics), tuple(rest[int(i)] for i in sorted(drawn)))


def _telling_words(records: Sequence[Record], engine: SearchEngine, named: set[str], count: int) -> list[str]:
    wordnet = read_wordnet()
    row = {name: number for number, name in enumerate(engine.names)}
    mean = np.asarray(engine.weights[[row[one.name] for one in records]].mean(axis=0)).ravel()
    written = Counter(folded(word) for one in records for word in tokens(without_gaps(one.text)))
    forms: dict[str, str] = {}  # stem -> the form most often written
    for word, stem in zip(by_use := sorted(written, key=lambda word: (-written[word], word)), stems(by_use)):
        forms.setdefault(stem, word)
    ranked = (forms.get(engine.terms[column], "") for column in np.argsort(-mean, kind="stable"))
    return [word for _, word in zip(range(count), (w for w in ranked if w.isalpha() and wordnet.knows(w) and w not in named))]


def _persons(records: Sequence[Record]) -> list[str]:
    """The surnames of the two persons listed in most documents."""
    times = Counter(folded(tokens(person)[-1]) for one in records for person in set(one.persons) if len(tokens(person)) == 1)
    return sorted(times, key=lambda word: (-times[word], word))[:2]


def queries(known: Archive, engine: SearchEngine) -> Queries:
    """Utility and risk queries with one threshold each, where the curve of relevances bends (the median over queries)."""
    utility = [Query(topic.query, topic.words, frozenset(topic.chosen) & frozenset(engine.names)) for topic in known.topics]
    risk = [Query(name, " ".join(words)) for name, words in (*RISK_QUERIES.items(), ("rq9", RISK_SEEDS))]
    made = []
    for asked in (utility, risk):
        threshold = shared_threshold(engine, asked)
        made.append(tuple(Query(one.name, one.words, one.relevant, threshold) for one in asked))
    return Queries(made[0], made[1], frozenset(known.random))


def published(table: str) -> Mapping[tuple[str, str], float]:
    """(query, quantity) -> the thesis's figure, all in per cent."""
    with (Path(__file__).parent / "published.csv").open(encoding="utf-8") as file:
        return {(row["query"], row["quantity"]): float(row["value"]) for row in csv.DictReader(file) if row["table"] == table}
