"""Looking through documents: every one by itself, a task for whoever is at hand, then all of them together."""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from shoal.contracts import Detector, Progress, Workers, here, quiet
from shoal.document import Document, Finding
from shoal.documents.case import DocumentFindings, Settings
from shoal.documents.detectors.detect import default_detectors, detect
from shoal.documents.failures import failure_of, sayable
from shoal.documents.phrases import CollectionSearch, PhraseFinder, Seen, named_elsewhere, says_something, with_listed
from shoal.documents.pipeline.originals import Originals, read_in
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
        for line in self.lines():
            (name, kind, digest, text), _, _ = json.loads(line)
            yield Document(name, text, kind, (), digest)

    def lines(self) -> Iterator[str]:
        """What was put aside, document by document."""
        with self.aside.open(encoding="utf-8") as lines:
            yield from lines


@dataclass(frozen=True)
class _Looked:
    """What the first look at one document gave: a line to put aside and what the collection learns of it, or why it could not be read."""

    name: str
    failure: str = ""
    line: str = ""
    seen: Seen = field(default_factory=lambda: Seen({}, set()))
    risky: int = 0
    words: int = 0
    fits: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Look:
    """The task of looking at one document by itself."""

    folder: Path
    detectors: Sequence[Detector]
    risk: RiskTerms | None
    dropped: PhraseFinder

    def __call__(self, one: str | Document) -> _Looked:
        name = one.name if isinstance(one, Document) else sayable(one)
        try:
            return self._looked(read_in(self.folder, one))
        except Exception as error:
            return _Looked(name, failure_of(error))

    def _looked(self, document: Document) -> _Looked:
        findings = [one for one in detect(document, self.detectors) if says_something(document.text[one.start : one.end])]
        hits = self.risk.find(document.text) if self.risk is not None else None
        listed = list(self.dropped.occurrences(document.text))
        about = [document.name, document.kind, document.digest, document.text]
        plain = [[one.start, one.end, one.kind, one.confidence, one.because] for one in findings]
        line = json.dumps([about, plain, [span[:2] for span in listed]], ensure_ascii=False) + "\n"
        line.encode()
        seen = Seen({}, set())
        seen.add(document, findings)
        risky, words = (len(hits.word), hits.words) if hits else (0, 0)
        return _Looked(document.name, "", line, seen, risky, words, frozenset(number for _, _, number in listed))


def first_look(settings: Settings, originals: Originals, aside: Path, progress: Progress = quiet, workers: Workers = here) -> FirstLook:
    """Each document by itself."""
    layers = ("recognizers", "tagger", "spacy", *(("capitals",) if settings.capitals == "review" else ()))
    detectors = default_detectors(layers, Path(settings.kinds) if settings.kinds else None, settings.spacy or None)
    look = _Look(Path(settings.source), detectors, _risk_terms(settings), PhraseFinder([text.lower() for text in settings.drop]))
    names, failed = Seen({}, set()), {}
    fits: set[int] = set()
    documents = risky = words = 0
    with (
        open(aside, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file,
        workers(look, originals.each()) as looked,
    ):
        for one in looked:
            if one.failure:
                failed[one.name] = one.failure
            else:
                documents, risky, words = documents + 1, risky + one.risky, words + one.words
                names.join(one.seen)
                fits.update(one.fits)
                file.write(one.line)
            progress("looking through documents", documents + len(failed), len(originals))
    unused = tuple(number + 1 for number in range(len(settings.drop)) if number not in fits)
    return FirstLook(aside, names, risky / words if words else 0.0, documents, failed, unused)


@dataclass(frozen=True)
class _Compare:
    """The task of looking at one document again, from the line that was put aside, with the collection known. Else its name and a sentence."""

    collection: CollectionSearch
    risk: RiskTerms | None
    usual: float

    def __call__(self, line: str) -> DocumentFindings | tuple[str, str]:
        (name, kind, digest, text), plain, listed = json.loads(line)
        document = Document(name, text, kind, (), digest)
        try:
            findings = named_elsewhere([Finding(*one) for one in plain], self.collection.detect(document))
            findings = with_listed(findings, [(start, end) for start, end in listed])
            dense = blocks(text, self.risk.find(text), self.risk.terms, self.usual) if self.risk is not None else []
            return DocumentFindings.of(document, findings, dense)
        except Exception as error:
            return name, failure_of(error)


def second_look(
    settings: Settings, first: FirstLook, progress: Progress = quiet, workers: Workers = here
) -> Generator[DocumentFindings, None, None]:
    """With the collection known: names found elsewhere, and blocks denser than usual."""
    compare = _Compare(CollectionSearch(first.names, settings.accept), _risk_terms(settings), first.usual)
    with workers(compare, first.lines()) as compared:
        for done, one in enumerate(compared, 1):
            if isinstance(one, DocumentFindings):
                yield one
            else:
                first.failed[one[0]] = one[1]
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
