"""Documents from end to end: look through, decide, redact, check, certify. A case folder is private; what `redact_case` writes may leave."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from shoal.contracts import Progress, quiet
from shoal.document import UNKNOWN, Block, Decision, Document, Edit, Finding
from shoal.documents.again import Again, Elsewhere, Seen, named_elsewhere, says_something, with_listed
from shoal.documents.case import Case, Logged, Looked, Settings, read_private, write_case, write_private
from shoal.documents.redact import NOBODY, RULE, Undecided, Verdicts, edits_of, verdicts
from shoal.documents.review import with_what_it_touches
from shoal.errors import DataError, OutputError, ParameterError, PromiseBroken, ShoalError, counted
from shoal.folders import appearing, write_text
from shoal.randomness import new_secret, rng_for
from shoal.score import AttackResult

if TYPE_CHECKING:
    from shoal.documents.plausible import Generalized

Names = Literal["number", "keep"]


@dataclass
class Tally:
    """What became of the files: how many went through, and a sentence for each that did not."""

    done: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)  # files of kinds that are not read
    unused: list[int] = field(default_factory=list)  # lines of the list of names to drop that fit nowhere
    offending: dict[str, list[str]] = field(default_factory=dict)  # removed texts that would still be found, for the case's own report
    dropped: Counter[str] = field(default_factory=Counter)  # things inside documents that hold no text, and so are not written


def detect_documents(source: str | Path, out: str | Path, **settings: Any) -> dict[str, Any]:
    """Look through a folder, a file or a table's `column`, and write a case folder; `settings` are those of `Settings`."""
    return detect_to_case(Settings(source=str(Path(source).absolute()), **settings), Path(out))


def redact_documents(case: str | Path, out: str | Path, **choices: Any) -> dict[str, Any]:
    """Write the redacted documents of a case; `choices` are those of `redact_case`. Returns the certificate and what failed."""
    return redact_case(Path(case), Path(out), **choices)


def evaluate_documents(case: str | Path, queries: str | Path) -> dict[str, Any]:
    """Ask originals and redacted documents the same queries, and attack the redacted ones."""
    return evaluate_case(Path(case), Path(queries))


def detect_to_case(settings: Settings, out: Path, progress: Progress = quiet) -> dict[str, Any]:
    """Look through a folder, a file or a table's column, and write a case folder. Returns what was found, in numbers."""
    from shoal.report.documents import write_preview

    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    source = Path(settings.source)
    if out.absolute().is_relative_to(source.absolute()) and source.is_dir():
        raise OutputError(f"{out} lies inside {source}: the next look would read the case, too. Choose a folder outside.")
    if settings.kinds:
        from shoal.documents.kinds import read_kinds

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
    from shoal.documents.read import find_documents, read_document, read_table_column

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
    from shoal.documents.read import find_documents

    source = Path(settings.source)
    return 0 if settings.column or not source.is_dir() else len(find_documents(source))


@dataclass
class _Seen:
    names: Seen
    risky: int = 0
    words: int = 0


def _first_look(settings: Settings, aside: Path, tally: Tally, progress: Progress) -> _Seen:
    """Each document by itself. Texts are put aside, so that no file is read twice."""
    from shoal.documents.detect import default_detectors, detect

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
    from shoal.documents.blocks import blocks

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
    from shoal.documents.risk_terms import RiskTerms
    from shoal.text.wordnet import read_wordnet

    try:
        wordnet = read_wordnet()
    except DataError:
        wordnet = None  # then misspelt risk terms are not looked for
    return RiskTerms(settings.risk_terms, wordnet)


@dataclass(frozen=True)
class Rules:
    """What decides where nobody did."""

    undecided: Undecided = "redact"
    accept_blocks: float | None = None

    def of(self, one: Looked, log: Mapping[str, list[Logged]], accept: float) -> Verdicts:
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

    def documents(self) -> Iterator[tuple[Looked, Verdicts, list[str | None]]]:
        """One after the other."""
        for one, puts in zip(self.case.looked(), self.puts, strict=True):
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
    from shoal.documents.entities import Mention, resolve
    from shoal.documents.places import Places
    from shoal.documents.styles import map_to_json, replacements

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
    for number, one in enumerate(case.looked()):
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


def document_named(settings: Settings, name: str) -> Document:
    """One document of a case, read anew."""
    from shoal.documents.read import read_document, read_table_column

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


def mark_case(
    case: Case, texts: Sequence[str], kind: str = UNKNOWN, reason: str = "", by: str | None = None, progress: Progress = quiet
) -> list[int]:
    """Decide that texts go wherever they stand, in every document; how often each was found."""
    again = Again([text.lower() for text in texts])
    counts, decisions = [0] * len(texts), []
    for done, one in enumerate(case.looked(), 1):
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
    from shoal.documents.plausible import generalize
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
    from shoal.report.documents import certificate_of, internal_page, public_page

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
    from shoal.documents.leaks import text_leaks
    from shoal.documents.pieces import edited
    from shoal.documents.read import read_document
    from shoal.documents.write import write_redacted

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
            write_redacted(path, replace(document, name=Path(name).name), edits, place / "documents" / Path(name).parent, kept)
            again += more
            tally.done += 1
            tally.dropped.update(part.name for part in document.parts if part.name.endswith("(left out)"))
        except PromiseBroken as error:
            tally.failed[one.name] = f"{error} {made.case.folder}/report.html says which."
            after = edited(document.text, edits)
            stays = [document.text[start:end] for start, end in kept] + [edit.replacement for edit in edits]
            tally.offending[one.name] = [text for text in dict.fromkeys(gone) if text_leaks(after, [text], stays)]
        except ShoalError as error:
            tally.failed[one.name] = str(error)
        progress("redacting", done, len(made.names))
    return again


def _write_table(made: Plan, place: Path, tally: Tally) -> int:
    from shoal.documents.read import read_table_column
    from shoal.documents.write import write_table_column

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


def evaluate_case(folder: Path, queries: Path, progress: Progress = quiet) -> dict[str, Any]:
    """Ask originals and redacted documents the same, and attack what was written. `redact_case` must have been done."""
    from shoal.documents.evaluate import compare, read_queries
    from shoal.documents.read import read_document
    from shoal.documents.recovery import Removed, recover_by_context, recover_by_search
    from shoal.text.search import SearchEngine

    asked = read_queries(queries)
    written = read_private(folder, "written.json")
    out = Path(str(written.get("folder", "")))
    if not written or not (out / "certificate.json").is_file():
        raise DataError(f"The redacted documents of {folder} are not there. Run `shoal documents redact {folder} -o out` first.")
    case = Case(folder)
    if case.settings.column:
        raise DataError("Rows of a table were shuffled when they were written, so they cannot be compared. Evaluate documents in files.")
    looked = list(case.looked())
    behind = _numbers_behind(folder)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    removed = []
    for number, one in enumerate(looked):
        file = _file_of(out / "documents", str(written["names"].get(one.name, "")))
        if file is not None:
            for found, text in zip(one.findings, one.texts):
                if (number, found.start) in behind:
                    removed.append(Removed(len(before), text, found.kind, behind[number, found.start]))
            before[one.name] = document_named(case.settings, one.name).text
            after[one.name] = read_document(file).text
        progress("reading both", number + 1, len(looked))
    if not before:
        raise DataError(f"No document of {out} belongs to this case. Redact again.")
    names = list(before)
    first, then = (SearchEngine(names, texts.values()) for texts in (before, after))
    attacks, not_tried = [], []
    tries: list[Callable[[], AttackResult]] = [
        lambda: recover_by_search(removed, list(after.values()), rng_for(new_secret(), "search")),
        lambda: recover_by_context(removed, list(before.values()), list(after.values())),
    ]
    for attack in tries:
        try:
            attacks.append(attack())
        except (DataError, ParameterError) as error:
            not_tried.append(str(error))
    return {
        "folder": str(out),
        "documents": len(before),
        **{part: [_change(one) for one in compare(first, then, getattr(asked, part), asked.random)] for part in ("utility", "risk")},
        "attacks": [one.public() for one in attacks],
        "attacks_not_tried": not_tried,
    }


def _numbers_behind(folder: Path) -> dict[tuple[int, int], int]:
    """(document, start) -> entity, for what was removed."""
    entities = read_private(folder, "map.json").get("entities", [])
    return {
        (int(document), int(start)): number
        for number, entity in enumerate(entities)
        if entity["replacements"]
        for document, start in entity["mentions"]
    }


def _file_of(place: Path, name: str) -> Path | None:
    """The file that was written for a document; of a PDF, which became pictures, its text."""
    stem = Path(name)
    found = sorted((place / stem.parent).glob(f"{stem.name}.*")) or ([place / name] if name and (place / name).is_file() else [])
    return next((file for file in found if file.name.endswith(".pdf.txt")), found[0] if found else None)


def _change(one: Any) -> dict[str, Any]:
    return {
        "name": one.query.name,
        "words": one.query.words,
        "threshold": one.threshold,
        **{key: round(value, 4) for key, value in one.changes.items()},
        "nmi": round(one.nmi, 6),
        "overlap": round(one.overlap, 6),
        "loss": None if one.loss is None else round(one.loss, 4) + 0.0,
    }
