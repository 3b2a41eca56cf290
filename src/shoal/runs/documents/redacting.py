"""Redacting the documents of a case: decisions and rules become edits, edits become files, files are searched before they count."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.contracts import Progress, quiet
from shoal.document import UNKNOWN, Block, Decision, Document, Edit
from shoal.documents.case import Case, DocumentFindings, Logged, Settings, read_private, write_private
from shoal.documents.phrases import PhraseFinder
from shoal.documents.redact import NOBODY, RULE, Undecided, Verdicts, edits_of, verdicts
from shoal.documents.review import with_what_it_touches
from shoal.errors import DataError, OutputError, ParameterError, PromiseBroken, ShoalError, counted
from shoal.folders import appearing, write_text
from shoal.randomness import rng_for
from shoal.runs.documents.look import Tally, document_named, path_of

if TYPE_CHECKING:
    from shoal.documents.risk.plausible import Generalized

Names = Literal["number", "keep"]


@dataclass(frozen=True)
class Rules:
    """What decides where nobody did."""

    undecided: Undecided = "redact"
    accept_blocks: float | None = None

    def of(self, one: DocumentFindings, log: Mapping[str, list[Logged]], accept: float) -> Verdicts:
        """What is decided about a document."""
        return verdicts(one, log.get(one.name, ()), accept, self.undecided, self.accept_blocks)


@dataclass(frozen=True)
class Plan:
    """What redacting would do, for every document of a case in its order. Findings are read again when asked for: they are not held."""

    case: Case
    rules: Rules
    log: Mapping[str, list[Logged]]
    names: list[str]
    puts: list[list[str | None]]  # for the stretches that go
    entities: list[Any]
    map: str  # who is behind each replacement: a secret
    style: str
    secret: int
    holders: list[set[int]]  # the documents that name each entity

    def documents(self) -> Iterator[tuple[DocumentFindings, Verdicts, list[str | None]]]:
        """One after the other."""
        for one, puts in zip(self.case.findings(), self.puts, strict=True):
            yield one, self.rules.of(one, self.log, self.case.settings.accept), puts


def plan(
    folder: Path,
    style: str = "label",
    numbering: Literal["appearance", "random"] = "appearance",
    undecided: Undecided = "redact",
    accept_blocks: float | None = None,
    seed: int | None = None,
    names_as: Names = "number",
) -> Plan:
    """Put decisions and rules together, find out who is the same, and choose what stands in each place."""
    from shoal.documents.names.entities import Mention, resolve
    from shoal.documents.names.places import Places
    from shoal.documents.names.styles import map_to_json, replacements

    if accept_blocks is not None and not 0 <= accept_blocks <= 1:
        raise ParameterError(f"accept_blocks is a score between 0 and 1, got {accept_blocks:g}.")
    case = Case(folder)
    settings, log = case.settings, case.decisions()
    rules = Rules(undecided, accept_blocks)
    names: list[str] = []
    mentions: list[Mention] = []
    persons: set[tuple[int, int]] = set()
    said: dict[str, str] = {}  # the same words are held once
    waiting = where = 0
    for number, one in enumerate(case.findings()):
        names.append(one.name)
        verdict = rules.of(one, log, settings.accept)
        unsaid = sum(block.verdict == "open" for block in verdict.blocks)
        waiting, where = waiting + unsaid, where + bool(unsaid)
        texts = {(finding.start, finding.end): text for finding, text in zip(one.findings, one.texts)}
        going = verdict.going()
        if any((stretch.start, stretch.end) not in texts for stretch in going):
            text = document_named(settings, one.name).text
            texts |= {(stretch.start, stretch.end): text[stretch.start : stretch.end] for stretch in going}
        for s in going:
            words = texts[s.start, s.end]
            mentions.append(Mention(number, s.start, s.end, said.setdefault(words, words), sys.intern(s.kind), s.confidence))
            if s.by not in (RULE, NOBODY):
                persons.add((number, s.start))
    if waiting:
        raise DataError(
            f"{counted(waiting, 'risky block')} in {counted(where, 'document')} {'is' if waiting == 1 else 'are'} undecided. "
            f"Decide with `shoal documents review {folder}`, or give --accept-blocks 0.8 to remove what scores as much and keep the rest."
        )
    places = Places(settings.places) if settings.places >= 0 else None
    entities = resolve(mentions, settings.keep, settings.drop, places)
    secret = _secret(folder) if seed is None else seed
    if names_as == "number":  # count along the numbers that files have outside, not along their names
        rank = _shuffled(secret, len(names))
        entities = sorted(entities, key=lambda one: min((rank[mentions[i].document], mentions[i].start) for i in one.mentions))
    given = replacements(entities, mentions, style, rng_for(secret, "replacements"), numbering, called=settings.labels)  # type: ignore[arg-type]
    # A list of known places keeps what only a rule would remove: what a person marked goes.
    stays = [f"[{m.kind}]" if put is None and (m.document, m.start) in persons else put for m, put in zip(mentions, given)]
    holders = [{mentions[i].document for i in one.mentions} for one in entities]
    puts: list[list[str | None]] = [[] for _ in names]
    for mention, put in zip(mentions, stays):
        puts[mention.document].append(put)
    return Plan(case, rules, log, names, puts, entities, map_to_json(entities, mentions, stays), style, secret, holders)


def _secret(folder: Path) -> int:
    try:
        return int(read_private(folder, "secret.json")["secret"], 16)
    except (KeyError, TypeError, ValueError):
        raise DataError(f"{folder}/private/secret.json is damaged. Run detect again.") from None


def mark_case(
    case: Case, texts: Sequence[str], kind: str = UNKNOWN, reason: str = "", by: str | None = None, progress: Progress = quiet
) -> list[int]:
    """Decide that texts go wherever they stand, in every document; how often each was found."""
    again = PhraseFinder([text.lower() for text in texts])
    counts, decisions = [0] * len(texts), []
    for done, one in enumerate(case.findings(), 1):
        for start, end, number in again.occurrences(document_named(case.settings, one.name).text):
            counts[number] += 1
            decisions.append((one.name, Decision(*with_what_it_touches(one, start, end), kind, "redact", reason)))
        progress("looking for it", done, done)
    if decisions:
        case.decide(decisions, by)
    return counts


def generalized(settings: Settings, document: Document, decided: Verdicts) -> list[Edit]:
    """Risky terms in general words, for blocks where that was decided."""
    blocks = [one.block for one in decided.blocks if one.verdict == "generalize"]
    return [edit for block in blocks for edit in in_general_words(settings, document, block).edits]


def in_general_words(settings: Settings, document: Document, block: Block) -> Generalized:
    """A block with its risky terms replaced by more general words, and how many texts could have become the same."""
    from shoal.documents.risk.plausible import generalize
    from shoal.text.wordnet import read_wordnet

    return generalize(read_wordnet(), document.text, block, settings.risk_senses)


def redact_case(
    folder: Path,
    out: Path,
    style: str = "label",
    numbering: Literal["appearance", "random"] = "appearance",
    names: Names = "number",
    undecided: Undecided = "redact",
    accept_blocks: float | None = None,
    seed: int | None = None,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Write redacted documents with their certificate and report. A document that cannot be written safely is not written. Returns the certificate."""
    from shoal.report.document_pages import certificate_of, internal_page, public_page

    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    made = plan(folder, style, numbering, undecided, accept_blocks, seed, names)
    settings = made.case.settings
    if Path(settings.source).is_dir() and out.absolute().is_relative_to(Path(settings.source).absolute()):
        raise OutputError(f"{out} lies inside {settings.source}, among the originals. Choose a folder outside.")
    if out.absolute().is_relative_to(folder.absolute()):
        raise OutputError(f"{out} lies inside the case, which stays with you. Choose a folder outside.")
    tally = Tally()
    called = _called(made, names)
    with appearing(out) as place:
        again = _write_table(made, place, tally) if settings.column else _write_files(made, place, called, tally, progress)
        if not tally.done:
            raise DataError(f"No document could be written. {next(iter(tally.failed.values()), '')}".strip())
        said = certificate_of(made, place, tally, again, numbering)
        write_text(place / "certificate.json", json.dumps(said, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
        write_text(place / "report.html", public_page(said))
        _same_time(place)
    write_text(folder / "private" / "map.json", made.map, mode=0o600)
    write_private(folder, "written.json", {"folder": str(out.absolute()), "names": called})
    write_text(folder / "report.html", internal_page(said, made, tally), mode=0o600)
    return {**said, "failed": tally.failed}


def _same_time(place: Path) -> None:
    """One time for all files: the order they were written in is that of the originals."""
    now = time.time() // 86_400 * 86_400
    for path in [*place.rglob("*"), place]:
        os.utime(path, (now, now))


def _called(made: Plan, names: Names) -> dict[str, str]:
    """What each document is called outside: a number drawn at random, since a file's name can be a person's."""
    if names == "keep":
        return {name: name for name in made.names}
    width = len(str(len(made.names)))
    order = _shuffled(made.secret, len(made.names))
    return {name: f"document-{number + 1:0{width}d}" for name, number in zip(made.names, order)}


def _shuffled(secret: int, documents: int) -> list[int]:
    """The number that each document has outside."""
    return [int(number) for number in rng_for(secret, "names").permutation(documents)]


def _write_files(made: Plan, place: Path, called: Mapping[str, str], tally: Tally, progress: Progress) -> int:
    from shoal.documents.formats.pieces import edited
    from shoal.documents.formats.read import read_document
    from shoal.documents.formats.write import write_redacted
    from shoal.documents.leaks import text_leaks

    again = 0
    for done, (one, decided, puts) in enumerate(made.documents(), 1):
        try:
            path = path_of(made.case.settings, one.name)
            document = read_document(path, one.name)
            one.check(document)
            edits, kept, more = edits_of(document.text, decided, puts, generalized(made.case.settings, document, decided))
            name = called[one.name]
            gone = [document.text[edit.start : edit.end] for edit in edits]
            if name == one.name and text_leaks(str(Path(name).with_suffix("")), gone):
                raise DataError("The name of a file holds what was removed from it. Leave out --names keep, so that files are numbered.")
            after = edited(document.text, edits)
            stays = [document.text[start:end] for start, end in kept] + [edit.replacement for edit in edits]
            write_redacted(path, replace(document, name=Path(name).name), edits, place / "documents" / Path(name).parent, kept)
            tally.unsure += bool(text_leaks(after, gone, stays))  # what is sure was refused
            again += more
            tally.done += 1
            tally.dropped.update(part.name for part in document.parts if part.name.endswith("(left out)"))
        except PromiseBroken as error:
            tally.failed[one.name] = f"{error} {made.case.folder}/report.html says which."
            tally.offending[one.name] = [text for text in dict.fromkeys(gone) if text_leaks(after, [text], stays)]
        except ShoalError as error:
            tally.failed[one.name] = str(error)
        progress("redacting", done, len(made.names))
    return again


def _write_table(made: Plan, place: Path, tally: Tally) -> int:
    from shoal.documents.formats.read import read_table_column
    from shoal.documents.formats.write import write_table_column

    settings = made.case.settings
    rows = read_table_column(Path(settings.source), settings.column)
    if len(rows) != len(made.names):
        raise DataError(f"{settings.source} has changed since it was looked through. Run detect again.")
    edits, kept, again = [], [], 0
    for document, (one, decided, puts) in zip(rows, made.documents()):
        one.check(document)
        found, stays, more = edits_of(document.text, decided, puts, generalized(made.case.settings, document, decided))
        edits.append(found)
        kept.append(stays)
        again += more
    ending = Path(settings.source).suffix if Path(settings.source).suffix in (".csv", ".parquet") else ".csv"
    write_table_column(settings.source, settings.column, edits, place / f"documents{ending}", rng_for(made.secret, "rows"), kept)
    tally.done = len(rows)
    return again
