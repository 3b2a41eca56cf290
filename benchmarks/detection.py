"""Finding what should not leave: names in held-out text, invented personal data, speed; beside spaCy and Presidio where they are installed.

Run from the repository's root: python -m benchmarks.detection [--spacy en_core_web_sm]
SHOAL_DATA names the folder that holds ner/ and pii_synthetic/. "Covered" is every letter and digit of every token of the true entity lying
in some finding; precision is the share of found tokens that lie in some true entity (of names, where names are looked for).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import logging
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shoal.document import LOCATION, ORGANIZATION, PERSON, UNKNOWN, Document
from shoal.documents.detectors.capitals import Capitals
from shoal.documents.detectors.detect import detect
from shoal.documents.detectors.recognizers import Recognizers
from shoal.documents.detectors.spacy_layer import SpacyLayer, installed_pipelines
from shoal.documents.detectors.tagger import Tagger
from shoal.documents.detectors.tagger_words import tokens_of
from tools.train_tagger import Sentence, split

DATA = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
Spans = list[tuple[int, int]]
Finder = Callable[[str], tuple[Spans, Spans]]  # all that is found, and what of it claims to be of the kinds looked for
IDENTITIES = ("US_SSN", "US_DRIVER_LICENSE")
BARS = {
    "all": 0.80,
    "PHONE_NUMBER": 0.90,
    "STREET_ADDRESS": 0.60,
    "EMAIL_ADDRESS": 1.0,
    "CREDIT_CARD": 1.0,
    "IBAN_CODE": 1.0,
    "identity": 1.0,
}
NAME_KINDS = (PERSON, ORGANIZATION, LOCATION, UNKNOWN)


def covered_characters(length: int, spans: Iterable[tuple[int, int]]) -> bytearray:
    """One byte per character: 1 where some span lies."""
    out = bytearray(length)
    for start, end in spans:
        out[start:end] = b"\x01" * (end - start)
    return out


def covered(text: str, seen: bytearray, start: int, end: int) -> bool:
    """Whether every letter and digit between start and end is seen."""
    return all(seen[i] for i in range(start, end) if text[i].isalnum())


class Tally:
    """True entities and how many are covered, by kind; covered tokens and how many are true."""

    def __init__(self) -> None:
        self.gold: dict[str, int] = defaultdict(int)
        self.hit: dict[str, int] = defaultdict(int)
        self.tokens = self.right = 0

    def add(self, text: str, gold: Sequence[tuple[int, int, str]], found: Spans, claimed: Spans) -> None:
        seen = covered_characters(len(text), found)
        true = covered_characters(len(text), [(start, end) for start, end, _ in gold])
        for start, end, kind in gold:
            self.gold[kind] += 1
            self.hit[kind] += covered(text, seen, start, end)
        claimed_characters = covered_characters(len(text), claimed)
        for token in tokens_of(text):
            if token.text[-1].isalnum() or token.text[0].isalnum():
                inside = any(claimed_characters[token.start : token.end])
                self.tokens += inside
                self.right += inside and any(true[token.start : token.end])

    def cover(self, *kinds: str) -> float:
        wanted = kinds or tuple(self.gold)
        return sum(self.hit[kind] for kind in wanted) / max(1, sum(self.gold[kind] for kind in wanted))

    @property
    def precision(self) -> float:
        return self.right / max(1, self.tokens)


def gold_names(sentence: Sentence) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of a tagged sentence and its persons, organizations and places."""
    gold: list[tuple[int, int, str]] = []
    at, before = 0, "O"
    for token, tag in sentence:
        kind = tag[2:]
        if kind in ("PER", "ORG", "LOC"):
            if tag[0] == "I" and before[2:] == kind:
                gold[-1] = (gold[-1][0], at + len(token), kind)
            else:
                gold.append((at, at + len(token), kind))
        before = tag
        at += len(token) + 1
    return " ".join(token for token, _ in sentence), gold


def ours(layers: Sequence[Any], kinds: tuple[str, ...] | None = None) -> Finder:
    def find(text: str) -> tuple[Spans, Spans]:
        found = detect(Document("text", text), layers)
        return [(one.start, one.end) for one in found], [(one.start, one.end) for one in found if kinds is None or one.kind in kinds]

    return find


def presidio(pipeline: str) -> Finder:
    """Presidio's analyzer as it comes, on the same spaCy pipeline."""
    from presidio_analyzer import AnalyzerEngine
    from presidio_analyzer.nlp_engine import NlpEngineProvider

    logging.disable(logging.CRITICAL)  # it tries to download a list of domains, and says so at length where it cannot
    settings = {"nlp_engine_name": "spacy", "models": [{"lang_code": "en", "model_name": pipeline}]}
    engine = AnalyzerEngine(nlp_engine=NlpEngineProvider(nlp_configuration=settings).create_engine())

    def find(text: str) -> tuple[Spans, Spans]:
        found = [(one.start, one.end) for one in engine.analyze(text=text, language="en")]
        return found, found

    return find


def names_in_held_out_text(pipeline: str | None) -> int:
    missed = 0
    _, _, held_out = split(DATA / "ner")
    layers: dict[str, list[Any]] = {
        "tagger at .5": [Tagger(threshold=0.5)],
        "tagger": [Tagger()],
        "recognizers + tagger": [Recognizers(), Tagger()],
        "... + capitals": [Recognizers(), Tagger(), Capitals()],
    }
    if pipeline:
        layers |= {
            f"{pipeline} alone": [SpacyLayer(pipeline)],
            "recognizers + tagger + spaCy": [Recognizers(), Tagger(), SpacyLayer(pipeline)],
            "... + spaCy + capitals": [Recognizers(), Tagger(), SpacyLayer(pipeline), Capitals()],
        }
    print("persons, organizations and places in held-out text, each sentence a document")
    print(f"{'':32}{'':>10}{'covered':>9}{'precision':>11}")
    for name, bar in (("wikigold", 0.72), ("wnut17", 0.60)):
        cover: dict[str, float] = {}
        for label, used in layers.items():
            tally, find = Tally(), ours(used, NAME_KINDS)
            for text, gold in map(gold_names, held_out[name]):
                tally.add(text, gold, *find(text))
            cover[label] = tally.cover()
            print(f"{label:32}{name:>10}{tally.cover():>9.3f}{tally.precision:>11.3f}")
        missed += _bar(f"{name}: recognizers + tagger", cover["recognizers + tagger"], bar)
        if pipeline:
            missed += _bar(f"{name}: points above {pipeline}", cover["recognizers + tagger + spaCy"] - cover[f"{pipeline} alone"], 0.08)
    return missed


def invented_personal_data(pipeline: str | None) -> int:
    records = json.loads((DATA / "pii_synthetic" / "synth_dataset_v2.json").read_text(encoding="utf-8"))
    halves = {
        "seen half": [record for record in records if not in_held_half(record["template_id"])],
        "held-out half": [record for record in records if in_held_half(record["template_id"])],
        "all": records,
    }
    finders = {"shoal": ours([Recognizers(), Tagger()])}
    if pipeline:
        finders["shoal + spaCy"] = ours([Recognizers(), Tagger(), SpacyLayer(pipeline)])
        if find_spec("presidio_analyzer"):
            finders["presidio"] = presidio(pipeline)
    missed = 0
    for half, chosen in halves.items():
        tallies = {label: Tally() for label in finders}
        for label, find in finders.items():
            for record in chosen:
                gold = [(span["start_position"], span["end_position"], span["entity_type"]) for span in record["spans"]]
                tallies[label].add(record["full_text"], gold, *find(record["full_text"]))
        print(f"\ninvented personal data, {half}: {len(chosen):,} records (halves by template: grammars were written on the seen half)")
        print(f"{'':20}{'entities':>9}" + "".join(f"{label:>15}" for label in finders))
        first = tallies["shoal"]
        for kind in sorted(first.gold, key=lambda kind: -first.gold[kind]):
            print(f"{kind:20}{first.gold[kind]:>9,}" + "".join(f"{tally.cover(kind):>15.3f}" for tally in tallies.values()))
        print(f"{'all':20}{sum(first.gold.values()):>9,}" + "".join(f"{tally.cover():>15.3f}" for tally in tallies.values()))
        print(f"{'token precision':20}{'':>9}" + "".join(f"{tally.precision:>15.3f}" for tally in tallies.values()))
        if half != "seen half":
            for kind, bar in BARS.items():
                kinds = () if kind == "all" else IDENTITIES if kind == "identity" else (kind,)
                missed += _bar(f"{half}: {kind}", first.cover(*kinds), bar)
            if "presidio" in tallies:
                missed += _bar(f"{half}: token precision", first.precision, tallies["presidio"].precision)
    return missed


def in_held_half(template: int) -> bool:
    """Half of the templates, by a hash, so that no sentence of one half is worded like one of the other."""
    return hashlib.sha256(str(template).encode()).digest()[0] % 2 == 1


def speed() -> int:
    """Tokens per CPU second on declassified documents, after a first document has compiled and loaded what is needed."""
    with (DATA / "frus" / "frus_sample.jsonl").open(encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for _, line in zip(range(300), file)]
    layers = [Recognizers(), Tagger()]
    detect(Document("first", texts[0]), layers)
    tokens = sum(len(tokens_of(text)) for text in texts)
    before = time.process_time()
    findings = sum(len(detect(Document("text", text), layers)) for text in texts)
    rate = tokens / (time.process_time() - before)
    print(f"\n{len(texts)} declassified documents, {tokens:,} tokens, {findings:,} findings")
    return _bar("tokens per CPU second", rate, 20_000)


def growth() -> int:
    """CPU seconds on four times as much of a text that repeats itself, worst of several: 4 is linear, 16 is quadratic."""
    worst = 0.0
    for piece in ("A-", "a.", "1 ", "1-", "x@", "1.1", ":", "Mr. ", "Street ", "\n1 A"):
        short, long = (min(_seconds(piece * (size // len(piece))) for _ in range(3)) for size in (20_000, 80_000))
        worst = max(worst, long / short)
    print(f"\nOne piece repeated, four times as often: {worst:.1f} times the time (bar 8: {'met' if worst <= 8 else 'missed'})")
    return worst > 8


def _seconds(text: str) -> float:
    before = time.process_time()
    Recognizers().detect(Document("text", text))
    return time.process_time() - before


def _bar(what: str, value: float, bar: float) -> int:
    met = value >= bar
    shown = f"{value:,.0f} (bar {bar:,.0f}" if bar > 1 else f"{value:.3f} (bar {bar:.3f}"
    print(f"  {what}: {shown}: {'met' if met else 'missed'})")
    return not met


def main(pipeline: str | None = None) -> int:
    """How many bars are missed. Without a pipeline named, the first English one installed is used, if there is one."""
    installed = [name for name in installed_pipelines() if name.startswith("en")]
    pipeline = pipeline or (installed[0] if installed else None)
    return names_in_held_out_text(pipeline) + invented_personal_data(pipeline) + speed() + growth()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--spacy", help="the spaCy pipeline to compare with and to add")
    raise SystemExit(main(parser.parse_args().spacy))
