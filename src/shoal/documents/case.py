"""A case folder: what was found in documents, and what was decided. All of it is private: it quotes the documents.

case.toml         where the documents are and how they were looked through
findings.jsonl    one line per document: what was found, with offsets into its text
decisions.jsonl   one line per decision, in order; nothing is ever rewritten, an undo is a line of its own
preview/          pages to look at
private/          which number is whom, which file is which, the secret
"""

from __future__ import annotations

import datetime
import getpass
import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import tomli_w
from pydantic import Field

from shoal.document import BLOCK, Block, Decision, Document, Finding
from shoal.errors import DataError, OutputError, ParameterError
from shoal.folders import PRIVATE_FILE, write_text
from shoal.params import Params
from shoal.parsing import parse_json, parse_toml, read_text

# Why something goes or stays; a steward's own codes are taken as they come.
REASONS = ("privacy", "security", "third-party", "legal", "commercial", "public", "not-a-name", "other")


class Settings(Params):
    """How the documents of a case are looked through."""

    name: ClassVar[str] = "case"
    source: str = Field(description="The folder, file or table")
    column: str = Field("", description="The table's column of texts")
    accept: float = Field(
        0.5, ge=0, le=1, description="Findings as sure as this go unless somebody says otherwise; others are open to decide"
    )
    spacy: str = Field("", description="A spaCy pipeline that is installed, to look too")
    capitals: Literal["review", "off"] = Field("review", description="Whether unknown capitalised words are put up for review")
    places: int = Field(1_000_000, ge=-1, description="Names of cities of so many people stay, and of countries; -1: no place's name stays")
    keep: tuple[str, ...] = Field((), description="Names that stay")
    drop: tuple[str, ...] = Field((), description="Names that go, whatever else is said")
    risk_terms: tuple[str, ...] = Field((), description="Terms whose dense blocks are put up for review")
    risk_senses: dict[str, str] = Field({}, description="WordNet's sense of each risk term, where it is known")
    kinds: str = Field("", description="A file of further kinds")
    labels: dict[str, str] = Field({}, description="What replacements of those kinds are called")

    def toml(self) -> str:
        """As case.toml has it."""
        return tomli_w.dumps(self.given())


@dataclass(frozen=True)
class DocumentFindings:
    """What was found in one document of a case, and the words found."""

    name: str
    kind: str
    digest: str
    length: int
    findings: tuple[Finding, ...]
    texts: tuple[str, ...]  # of the findings
    blocks: tuple[Block, ...]

    @staticmethod
    def of(document: Document, findings: Sequence[Finding], blocks: Sequence[Block]) -> DocumentFindings:
        """What was found in a document."""
        texts = tuple(document.text[one.start : one.end] for one in findings)
        return DocumentFindings(document.name, document.kind, document.digest, len(document.text), tuple(findings), texts, tuple(blocks))


@dataclass(frozen=True)
class Logged:
    """A decision as it was taken: `batch` holds those that one keystroke took together."""

    document: str
    decision: Decision
    batch: int
    at: str


class Case:
    """A case folder on disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "case.toml").is_file() or not (folder / "findings.jsonl").is_file():
            raise DataError(f"{folder} is not a case folder. Name the one that `shoal documents detect -o` wrote.")
        self.settings = _settings(folder / "case.toml")
        self._read: tuple[int, dict[str, list[Logged]]] = (0, {})

    def findings(self) -> Iterator[DocumentFindings]:
        """Document by document, from the file; what is not a finding is said, by line."""
        for number, line in _lines(self.folder / "findings.jsonl"):
            yield _document_findings(line, f"{self.folder}/findings.jsonl, line {number}")

    def decisions(self) -> dict[str, list[Logged]]:
        """Those that stand, by document, in the order they were taken. The log only grows, so it is read anew when it has grown."""
        path = self.folder / "decisions.jsonl"
        size = path.stat().st_size if path.exists() else 0
        if size != self._read[0]:
            self._read = (size, self._standing())
        return self._read[1]

    def _standing(self) -> dict[str, list[Logged]]:
        standing: dict[int, list[Logged]] = defaultdict(list)
        for kind, entry in self._log():
            if kind == "undo":
                standing.pop(entry, None)
            else:
                standing[entry.batch].append(entry)
        found: dict[str, list[Logged]] = {}
        for batch in sorted(standing):
            for entry in standing[batch]:
                found.setdefault(entry.document, []).append(entry)
        return found

    def decide(self, decisions: Iterable[tuple[str, Decision]], by: str | None = None) -> int:
        """Write decisions down, all of one batch; its number is what `undo` takes."""
        batch = 1 + max((entry if kind == "undo" else entry.batch for kind, entry in self._log()), default=0)
        now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
        who = by or _user()
        lines = []
        for name, one in decisions:
            signed = replace(one, by=one.by or who)
            _check(signed, f"The decision about {name}")
            lines.append({"batch": batch, "document": name, "at": now, **asdict(signed)})
        self._append(lines)
        return batch

    def undo(self) -> bool:
        """Take the last standing batch back; whether there was one."""
        batches = [entry.batch for entries in self.decisions().values() for entry in entries]
        if not batches:
            return False
        self._append([{"undo": max(batches)}])
        return True

    def _append(self, entries: list[dict[str, Any]]) -> None:
        with _private(self.folder / "decisions.jsonl", "a") as file:
            file.writelines(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())

    def _log(self) -> Iterator[tuple[str, Any]]:
        path = self.folder / "decisions.jsonl"
        if not path.exists():
            return
        taken: set[int] = set()
        for number, line in _lines(path):
            where = f"{path}, line {number}"
            entry = _object(line, where)
            if "undo" in entry:
                if type(entry["undo"]) is not int or entry["undo"] not in taken:
                    raise DataError(f"{where}: an undo names a batch of decisions before it by its number. Mend or remove the line.")
                yield "undo", entry["undo"]
                continue
            try:
                decision = Decision(**{field.name: entry[field.name] for field in fields(Decision)})
                logged: Logged | None = Logged(entry["document"], decision, entry["batch"], entry["at"])
            except KeyError:
                logged = None
            if logged is None or type(logged.batch) is not int or logged.batch < 1 or not _texts(logged.document, logged.at):
                raise DataError(f"{where}: this is not a decision as shoal writes them. Mend or remove the line.")
            _check(decision, where)
            taken.add(logged.batch)
            yield "decision", logged


def write_case(folder: Path, settings: Settings, looked: Iterable[DocumentFindings]) -> None:
    """The files of a new case, inside a folder that only its owner may enter."""
    with _private(folder / "case.toml") as file:
        file.write("# How these documents were looked through. This folder quotes them: it stays with you.\n" + settings.toml())
    with _private(folder / "findings.jsonl") as file:
        for one in looked:
            file.write(json.dumps(_plain(one), ensure_ascii=False) + "\n")


def write_private(folder: Path, name: str, content: dict[str, Any]) -> None:
    """A secret of a case."""
    place = folder / "private"
    place.mkdir(mode=0o700, exist_ok=True)
    write_text(place / name, json.dumps(content, ensure_ascii=False, indent=1), PRIVATE_FILE)


def read_private(folder: Path, name: str) -> dict[str, Any]:
    """A secret of a case, or nothing where there is none yet."""
    path = folder / "private" / name
    if not path.exists():
        return {}
    return _object(read_text(path), str(path))


def _private(path: Path, mode: str = "w") -> Any:
    """A file that nobody else may read."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if mode == "a" else os.O_TRUNC)
    try:
        return os.fdopen(os.open(path, flags, 0o600), mode, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path} could not be written: {error.strerror}.") from None


def _plain(one: DocumentFindings) -> dict[str, Any]:
    findings = [{**asdict(found), "confidence": round(found.confidence, 4), "text": text} for found, text in zip(one.findings, one.texts)]
    blocks = [{"start": b.start, "end": b.end, "score": round(b.score, 4), "terms": [list(term) for term in b.terms]} for b in one.blocks]
    return {
        "name": one.name,
        "kind": one.kind,
        "digest": one.digest,
        "length": one.length,
        "findings": findings,
        "blocks": blocks,
    }


def _document_findings(line: str, where: str) -> DocumentFindings:
    entry = _object(line, where)
    try:
        findings = [
            Finding(one["start"], one["end"], sys.intern(one["kind"]), one["confidence"], sys.intern(one["because"]))
            for one in entry["findings"]
        ]
        blocks = [
            Block(b["start"], b["end"], b["score"], tuple((t[0], t[1], sys.intern(t[2])) for t in b["terms"])) for b in entry["blocks"]
        ]
        texts = tuple(str(one["text"]) for one in entry["findings"])
        found = DocumentFindings(
            str(entry["name"]), str(entry["kind"]), str(entry["digest"]), int(entry["length"]), tuple(findings), texts, tuple(blocks)
        )
        spans = [(one.start, one.end) for one in findings] + [(b.start, b.end) for b in blocks]
        spans += [(start, end) for b in blocks for start, end, _ in b.terms]
        sound = all(isinstance(a, int) and isinstance(b, int) and 0 <= a < b <= found.length for a, b in spans)
        sound = sound and all(0 <= float(value) <= 1 for value in (*(f.confidence for f in findings), *(b.score for b in blocks)))
        sound = sound and all(len(text) == one.end - one.start for one, text in zip(findings, texts))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        sound = False
    if not sound:
        raise DataError(f"{where}: these are not findings as shoal writes them. Run detect again, or undo the change.")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, which must be text, and their numbers."""
    with path.open(encoding="utf-8") as lines:
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                yield number, line
        except UnicodeDecodeError:
            raise DataError(f"{path}, after line {number}: this is not UTF-8 text. Run detect again, or undo the change.") from None


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        entry = parse_json(line, where)
    except DataError:
        entry = None
    if not isinstance(entry, dict):
        raise DataError(f"{where}: this is not JSON as shoal writes it. Run detect again, or undo the change.")
    return entry


def _settings(path: Path) -> Settings:
    try:
        return Settings(**parse_toml(read_text(path), path))
    except (DataError, TypeError, ParameterError):
        raise DataError(f"{path} cannot be read as the settings of a case. Run detect again.") from None


def _check(one: Decision, where: str) -> None:
    whole = type(one.start) is int and type(one.end) is int and 0 <= one.start < one.end
    if not whole or one.verdict not in ("redact", "keep", "generalize") or not _texts(one.kind):
        raise ParameterError(f"{where}: a decision is about a stretch of text, and its verdict is redact, keep or generalize.")
    if one.verdict == "generalize" and one.kind != BLOCK:
        raise ParameterError(f"{where}: only the terms of a risky block can be generalized.")
    if not _texts(one.reason, one.by):
        raise ParameterError(f"{where}: the reason for a decision, and who took it, are texts that UTF-8 can write. Write them anew.")


def _texts(*given: Any) -> bool:
    """Whether these are texts that can be written again."""
    return all(isinstance(one, str) and one == one.encode("utf-8", "replace").decode("utf-8") for one in given)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
