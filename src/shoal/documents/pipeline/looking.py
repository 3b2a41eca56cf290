"""Looking through documents: every one by itself, then all of them together."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shoal.contracts import Progress, quiet
from shoal.document import Document, Finding
from shoal.documents.case import DocumentFindings, Settings
from shoal.documents.detectors.detect import default_detectors, detect
from shoal.documents.failures import failure_of
from shoal.documents.phrases import CollectionSearch, PhraseFinder, Seen, named_elsewhere, says_something, with_listed
from shoal.documents.pipeline.originals import Originals
from shoal.documents.risk.blocks import blocks
from shoal.documents.risk.terms import RiskTerms
from shoal.errors import DataError


@dataclass(frozen=True)
class FirstLook:
    """What looking at each document by itself gave. Texts and findings are put aside in a file, so that no document is read twice."""

    aside: Path
    names: Seen
    usual: float  # share of words that are risk terms
    documents: int
    failed: dict[str, str]  # a sentence for each document that could not be read
    unused: tuple[int, ...]  # lines of the list of names to drop that fit nowhere

    def texts(self) -> Iterator[Document]:
        """The documents again, from what was put aside."""
        with self.aside.open(encoding="utf-8") as lines:
            for line in lines:
                (name, kind, digest, text), _, _ = json.loads(line)
                yield Document(name, text, kind, (), digest)


def first_look(settings: Settings, originals: Originals, aside: Path, progress: Progress = quiet) -> FirstLook:
    """Each document by itself."""
    layers = ("recognizers", "tagger", "spacy", *(("capitals",) if settings.capitals == "review" else ()))
    detectors = default_detectors(layers, Path(settings.kinds) if settings.kinds else None, settings.spacy or None)
    risk, dropped = _risk_terms(settings), PhraseFinder([text.lower() for text in settings.drop])
    names, failed = Seen({}, set()), {}
    fits: set[int] = set()
    documents = risky = words = 0
    with open(aside, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for name, document in originals.each():
            if isinstance(document, str):
                failed[name] = document
                continue
            try:
                findings = [one for one in detect(document, detectors) if says_something(document.text[one.start : one.end])]
                hits = risk.find(document.text) if risk is not None else None
                listed = list(dropped.occurrences(document.text))
                about = [document.name, document.kind, document.digest, document.text]
                plain = [[one.start, one.end, one.kind, one.confidence, one.because] for one in findings]
                line = json.dumps([about, plain, [span[:2] for span in listed]], ensure_ascii=False) + "\n"
                line.encode()
            except Exception as error:
                failed[name] = failure_of(error)
                continue
            documents += 1
            names.add(document, findings)
            risky, words = risky + (len(hits.word) if hits else 0), words + (hits.words if hits else 0)
            fits.update(number for _, _, number in listed)
            file.write(line)
            progress("looking through documents", documents + len(failed), len(originals))
    unused = tuple(number + 1 for number in range(len(settings.drop)) if number not in fits)
    return FirstLook(aside, names, risky / words if words else 0.0, documents, failed, unused)


def second_look(settings: Settings, first: FirstLook, progress: Progress = quiet) -> Iterator[DocumentFindings]:
    """With the collection known: names found elsewhere, and blocks denser than usual."""
    risk, collection = _risk_terms(settings), CollectionSearch(first.names, settings.accept)
    with first.aside.open(encoding="utf-8") as lines:
        for done, line in enumerate(lines, 1):
            (name, kind, digest, text), plain, listed = json.loads(line)
            document = Document(name, text, kind, (), digest)
            try:
                findings = named_elsewhere([Finding(*one) for one in plain], collection.detect(document))
                findings = with_listed(findings, [(start, end) for start, end in listed])
                dense = blocks(text, risk.find(text), risk.terms, first.usual) if risk is not None else []
                found = DocumentFindings.of(document, findings, dense)
            except Exception as error:
                first.failed[name] = failure_of(error)
                continue
            yield found
            progress("comparing documents", done, first.documents)


def _risk_terms(settings: Settings) -> RiskTerms | None:
    if not settings.risk_terms:
        return None
    from shoal.text.wordnet import read_wordnet

    try:
        wordnet = read_wordnet()
    except DataError:
        wordnet = None  # then misspelt risk terms are not looked for
    return RiskTerms(settings.risk_terms, wordnet)
