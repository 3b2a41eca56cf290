"""Looking through documents: every file by itself, then all of them together; what was found goes into a case folder."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.contracts import Progress, quiet
from shoal.document import Document, Finding
from shoal.documents.case import Case, Looked, Settings, write_case, write_private
from shoal.documents.extra import require_extra
from shoal.documents.phrases import Again, Elsewhere, Seen, named_elsewhere, says_something, with_listed
from shoal.errors import DataError, OutputError, ShoalError
from shoal.folders import appearing
from shoal.randomness import new_secret


@dataclass
class Tally:
    """What became of the files: how many went through, and a sentence for each that did not."""

    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)  # files of kinds that are not read
    unused: list[int] = field(default_factory=list)  # lines of the list of names to drop that fit nowhere
    unsure: int = 0  # documents in which a removed text may still stand: in lower case, or inside a longer word
    offending: dict[str, list[str]] = field(default_factory=dict)  # removed texts that would still be found, for the case's own report
    dropped: Counter[str] = field(default_factory=Counter)  # things inside documents that hold no text, and so are not written


def detect_to_case(settings: Settings, out: Path, progress: Progress = quiet) -> dict[str, Any]:
    """Look through a folder, a file or a table's column, and write a case folder. Returns what was found, in numbers."""
    from shoal.report.document_pages import write_preview

    require_extra()
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    source = Path(settings.source)
    if out.absolute().is_relative_to(source.absolute()) and source.is_dir():
        raise OutputError(f"{out} lies inside {source}: the next look would read the case, too. Choose a folder outside.")
    if settings.kinds:
        from shoal.documents.detectors.kinds import read_kinds

        settings = settings.model_copy(update={"labels": read_kinds(Path(settings.kinds)).labels})
    tally = Tally()
    with appearing(out, 0o700) as folder:
        aside = folder / "first.jsonl"
        seen = _first_look(settings, aside, tally, progress)
        if not tally.done:
            why = f" {next(iter(tally.failed.values()))}" if tally.failed else ""
            raise DataError(f"No document could be read from {source}.{why}")
        found: Counter[str] = Counter()
        write_case(folder, settings, _second_look(settings, aside, seen, tally, found, progress))
        write_preview(folder, Case(folder), _put_aside(aside), progress)
        aside.unlink()
        write_private(folder, "secret.json", {"secret": f"{new_secret():032x}"})
        write_private(folder, "files.json", {"failed": tally.failed, "left_out": tally.left_out})
    return {
        "documents": tally.done,
        "findings": dict(sorted(found.items())),
        "failed": tally.failed,
        "left_out": tally.left_out,
        "unused": tally.unused,
    }


def documents_of(settings: Settings, tally: Tally) -> Iterator[Document]:
    """Every document that can be read; the others are tallied with a sentence each."""
    from shoal.documents.formats.read import find_documents, read_document, read_table_column

    source = Path(settings.source)
    if settings.column:
        for document in read_table_column(source, settings.column):
            tally.done += 1
            yield document
        return
    if source.is_file():
        tally.done += 1
        yield read_document(source)
        return
    paths = find_documents(source)
    tally.left_out = _others(source, set(paths))
    for path in paths:
        name = path.relative_to(source).as_posix()
        try:
            document = read_document(path, name)
        except ShoalError as error:
            tally.failed[name] = str(error)
            continue
        tally.done += 1
        yield document


def _others(source: Path, paths: set[Path]) -> list[str]:
    found = []
    for place, folders, files in os.walk(source):
        folders[:] = [one for one in folders if not one.startswith(".")]
        found += [Path(place, file).relative_to(source).as_posix() for file in files if Path(place, file) not in paths]
    return sorted(found)


def _count(settings: Settings) -> int:
    from shoal.documents.formats.read import find_documents

    source = Path(settings.source)
    return 0 if settings.column or not source.is_dir() else len(find_documents(source))


@dataclass
class _Seen:
    names: Seen
    risky: int = 0
    words: int = 0


def _first_look(settings: Settings, aside: Path, tally: Tally, progress: Progress) -> _Seen:
    """Each document by itself. Texts are put aside, so that no file is read twice."""
    from shoal.documents.detectors.detect import default_detectors, detect

    layers = ("recognizers", "tagger", "spacy", *(("capitals",) if settings.capitals == "review" else ()))
    detectors = default_detectors(layers, Path(settings.kinds) if settings.kinds else None, settings.spacy or None)
    risk = _risk(settings)
    seen = _Seen(Seen({}, set()))
    total = _count(settings)
    with open(aside, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
        for document in documents_of(settings, tally):
            findings = [one for one in detect(document, detectors) if says_something(document.text[one.start : one.end])]
            seen.names.add(document, findings)
            if risk is not None:
                hits = risk.find(document.text)
                seen.risky, seen.words = seen.risky + len(hits.word), seen.words + hits.words
            about = [document.name, document.kind, document.digest, document.text]
            entry = [about, [[one.start, one.end, one.kind, one.confidence, one.because] for one in findings]]
            file.write(json.dumps(entry, ensure_ascii=False) + "\n")
            progress("looking through documents", tally.done + len(tally.failed), max(total, tally.done + len(tally.failed)))
    return seen


def _put_aside(aside: Path) -> Iterator[Document]:
    with aside.open(encoding="utf-8") as lines:
        for line in lines:
            (name, kind, digest, text), _ = json.loads(line)
            yield Document(name, text, kind, (), digest)


def _second_look(settings: Settings, aside: Path, seen: _Seen, tally: Tally, found: Counter[str], progress: Progress) -> Iterator[Looked]:
    """With the collection known: names found elsewhere, and blocks denser than usual."""
    from shoal.documents.risk.blocks import blocks

    risk = _risk(settings)
    usual = seen.risky / seen.words if seen.words else 0.0
    elsewhere = Elsewhere(seen.names, settings.accept)
    dropped = Again([text.lower() for text in settings.drop])
    fits: set[int] = set()
    with aside.open(encoding="utf-8") as lines:
        for done, line in enumerate(lines, 1):
            (name, kind, digest, text), plain = json.loads(line)
            document = Document(name, text, kind, (), digest)
            findings = named_elsewhere([Finding(*one) for one in plain], elsewhere.detect(document))
            listed = list(dropped.occurrences(text))
            fits.update(number for _, _, number in listed)
            findings = with_listed(findings, [(start, end) for start, end, _ in listed])
            risky = blocks(text, risk.find(text), risk.terms, usual) if risk is not None else []
            found.update(one.kind for one in findings)
            found["risky blocks"] += len(risky)
            found["open"] += sum(one.confidence < settings.accept for one in findings)
            yield Looked.of(document, findings, risky)
            progress("comparing documents", done, tally.done)
    tally.unused = [number + 1 for number in range(len(settings.drop)) if number not in fits]


def _risk(settings: Settings) -> Any:
    if not settings.risk_terms:
        return None
    from shoal.documents.risk.terms import RiskTerms
    from shoal.text.wordnet import read_wordnet

    try:
        wordnet = read_wordnet()
    except DataError:
        wordnet = None  # then misspelt risk terms are not looked for
    return RiskTerms(settings.risk_terms, wordnet)


def document_named(settings: Settings, name: str) -> Document:
    """One document of a case, read anew."""
    from shoal.documents.formats.read import read_document, read_table_column

    source = Path(settings.source)
    if settings.column:
        rows = read_table_column(source, settings.column)
        number = int(name.removeprefix("row-")) if name.removeprefix("row-").isdigit() else 0
        if not 1 <= number <= len(rows):
            raise DataError(f"{source} has no {name}. It has changed since it was looked through. Run detect again.")
        return rows[number - 1]
    return read_document(path_of(settings, name), name)


def path_of(settings: Settings, name: str) -> Path:
    """Where a document of a case lies. Its name must not lead out of the folder."""
    source = Path(settings.source)
    if source.is_file():
        return source
    path = source / name
    if not path.resolve().is_relative_to(source.resolve()):
        raise DataError(f"A document of the case lies outside {source}: findings.jsonl was changed by hand. Run detect again.")
    return path
