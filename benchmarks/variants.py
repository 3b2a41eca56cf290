"""One entity, one number: how often mention pairs are judged rightly, and how long 100,000 mentions take.

The pairs are tests/documents/mention_pairs.csv, a third of them set aside while the rules were written. The corpus is invented: people with
full names, titles, initials, surnames alone and slips of spelling, in documents of twenty mentions; a doubling shows the growth.
On FRUS, the historians' names are varied by chance (title, initial, case, order, and one letter swapped, dropped, doubled, changed or added,
anywhere in the name): every pair of mentions that one entity holds is right or wrong, and every variant finds its name or does not. A person whom the
historians spell in two ways counts as two, so the precision is a lower bound.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.variants
"""

from __future__ import annotations

import csv
import json
import os
import re
import time
from collections import defaultdict
from pathlib import Path

import numpy as np

from shoal.document import PERSON
from shoal.documents.names.entities import Mention, resolve
from shoal.documents.names.places import gazetteer
from shoal.documents.names.variants import form_of

PRECISION, RECALL, SECONDS = 0.95, 0.85, 10.0
PAIRS = Path(__file__).resolve().parents[1] / "tests" / "documents" / "mention_pairs.csv"


def main() -> None:
    """Print a line per split and per size."""
    rows = list(csv.DictReader(PAIRS.open(encoding="utf-8")))
    for split in ("tune", "held-out"):
        precision, recall, pairs = judged([row for row in rows if row["split"] == split])
        met = "met" if precision >= PRECISION and recall >= RECALL else "missed"
        print(f"{split:9} {pairs} pairs: precision {precision:.3f}, recall {recall:.3f} (bars {PRECISION}, {RECALL}: {met})")
    _frus()
    gazetteer()
    seconds = []
    for n in (50_000, 100_000):
        mentions = corpus(n, np.random.default_rng(1))
        begin = time.process_time()
        entities = resolve(mentions)
        seconds.append(time.process_time() - begin)
        print(f"{n:,} mentions, {len({m.text for m in mentions}):,} texts: {len(entities):,} entities in {seconds[-1]:.2f} s")
    verdict = "met" if seconds[1] <= SECONDS else "missed"
    print(f"100,000 mentions: {seconds[1]:.2f} s, {seconds[1] / seconds[0]:.2f} times half of them (bar {SECONDS:g} s: {verdict})")


def _frus() -> None:
    path = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "frus" / "frus_sample.jsonl"
    if not path.exists():
        print("FRUS names: left out, frus_sample.jsonl is not there (set SHOAL_DATA)")
        return
    listed = {name for line in path.open(encoding="utf-8") for name in json.loads(line)["persons"]}
    whole = {name for name in listed if re.fullmatch(r"[A-Z][a-z]+( [A-Z]\.)?( [A-Z][a-z]+)? [A-Z][\w-]+", name)}
    people = {name: form_of(name, PERSON).person for name in sorted(whole)}
    by_surname: dict[str, list[str]] = defaultdict(list)
    for name, person in people.items():
        if person:
            by_surname[person.surname].append(name)
    alone = [
        name
        for name, person in people.items()
        if person and sum(person.agrees(people[o] or person) for o in by_surname[person.surname]) == 1
    ]
    rng = np.random.default_rng(7)
    texts = [*alone, *(_varied(name, rng) for name in alone)]
    mentions = [_mention(i, 0, text, PERSON) for i, text in enumerate(texts)]
    entities = [[i % len(alone) for i in entity.mentions] for entity in resolve(mentions)]
    pairs = [(a, b) for group in entities for i, a in enumerate(group) for b in group[:i]]
    right = sum(a == b for a, b in pairs)
    print(f"FRUS names {len(alone):,}, each varied once by chance: precision {right / len(pairs):.3f}, recall {right / len(alone):.3f}")


def _varied(name: str, rng: np.random.Generator) -> str:
    words = name.split()
    slip = [_slip(word, rng) for word in (words[0], words[-1])]
    return (
        f"{('Mr.', 'Dr.', 'Ambassador', 'Senator')[rng.integers(4)]} {name}",
        f"{words[0][0]}. {words[-1]}",
        f"{words[0]} {words[-1]}",
        name.upper(),
        f"{name}’s",
        f"{words[-1]}, {' '.join(words[:-1])}",
        " ".join([slip[0], *words[1:]]),
        " ".join([*words[:-1], slip[1]]),
    )[rng.integers(8)]


def _slip(word: str, rng: np.random.Generator) -> str:
    i, other = int(rng.integers(len(word))), chr(97 + int(rng.integers(26)))
    a, b = word[:i], word[i:]
    return (a + b[1:2] + b[:1] + b[2:], a + b[1:], a + b[:1] + b, a + other + b[1:], a + other + b)[rng.integers(5)]


def judged(rows: list[dict[str, str]]) -> tuple[float, float, int]:
    """Precision and recall of "same entity", each pair in a corpus of its own with the context it names."""
    said = [(same(row), row["verdict"] == "same") for row in rows]
    hits = sum(ours and truth for ours, truth in said)
    return hits / max(1, sum(ours for ours, _ in said)), hits / max(1, sum(truth for _, truth in said)), len(rows)


def same(row: dict[str, str]) -> bool:
    """Whether shoal takes the two mentions for one entity. Context 'a:', 'b:' or 'c:' stands in the document of a, of b, or in a third."""
    mentions = [_mention(0, 0, row["a"], row["kind"]), _mention(0 if row["where"] == "same" else 1, 1000, row["b"], row["kind"])]
    for position, context in enumerate(filter(None, row["context"].split(";"))):
        where, text = context.split(":", 1)
        mentions.append(_mention("abc".index(where), 2000 + 1000 * position, text, row["kind"]))
    return any({0, 1} <= set(entity.mentions) for entity in resolve(mentions))


def _mention(document: int, start: int, text: str, kind: str) -> Mention:
    return Mention(document, start, start + len(text), text, kind)


def corpus(n: int, rng: np.random.Generator) -> list[Mention]:
    """Invented people, a fifth as many as mentions, in n / 20 documents; each mention is one of the forms of a name."""
    syllables = [a + b for a in "bdfgklmnprstvwz" for b in ("a", "e", "i", "o", "u", "an", "el", "ir")]
    given = [_word(rng, syllables, 2) for _ in range(300)]
    surnames = [_word(rng, syllables, 3) for _ in range(n // 10)]
    people = [(given[rng.integers(300)], surnames[rng.integers(n // 10)]) for _ in range(n // 5)]
    found = []
    for i in range(n):
        first, last = people[rng.integers(len(people))]
        slip = int(rng.integers(1, len(last) - 1))
        forms = (
            f"{first} {last}",
            f"{first} {last}",
            last,
            f"Dr. {last}",
            f"{first[0]}. {last}",
            f"{first} {last[:slip] + last[slip + 1] + last[slip] + last[slip + 2 :]}",
        )
        found.append(_mention(i // 20, 100 * (i % 20), forms[rng.integers(len(forms))], PERSON))
    return found


def _word(rng: np.random.Generator, syllables: list[str], count: int) -> str:
    return "".join(syllables[i] for i in rng.integers(0, len(syllables), count)).title()


if __name__ == "__main__":
    main()
