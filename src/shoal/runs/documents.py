"""Documents from end to end: look through, decide, redact, check, certify. A case folder is private; what `redact_documents` writes may leave."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from shoal.certificate import DocumentsCertificate, NotTried
from shoal.contracts import Progress, Workers, here, quiet
from shoal.document import UNKNOWN, Decision
from shoal.documents.case import Case, DocumentFindings, Settings, read_private, write_case, write_private
from shoal.documents.failures import failure_of, sayable
from shoal.errors import DataError, OutputError, ParameterError, PromiseBroken
from shoal.folders import CERTIFICATE, PRIVATE_FILE, PRIVATE_FOLDER, appearing, refuse_existing, run_folder, sha256_of, write_text
from shoal.randomness import new_secret, rng_for
from shoal.signing import SigningKey

if TYPE_CHECKING:
    from shoal.documents.pipeline.planning import Choices
    from shoal.documents.risk.queries import QueryChange
    from shoal.documents.risk.recovery import Corpus


class RedactedDocuments(NamedTuple):
    """What became of a case: the certificate of what was written, and a sentence for each document that was not."""

    certificate: DocumentsCertificate
    failed: dict[str, str]


def detect_documents(source: str | Path, out: str | Path, *, workers: Workers = here, **settings: Any) -> dict[str, Any]:
    """Look through a folder, a file or a table's `column`, and write a case folder; `settings` are those of `Settings`. `workers` look at one
    document each at a time; whoever they are, the result is the same."""
    return detect_to_case(Settings(source=str(Path(source).absolute()), **settings), Path(out), workers=workers)


def redact_documents(
    case: str | Path, out: str | Path, *, seed: int | None = None, workers: Workers = here, **choices: Any
) -> RedactedDocuments:
    """Write the redacted documents of a case; `choices` are those of `Choices`: style, numbering, names, undecided, accept_blocks, formulas."""
    from shoal.documents.pipeline.planning import Choices

    return redact_case(Path(case), Path(out), Choices(**choices), seed, workers=workers)


def evaluate_documents(case: str | Path, queries: str | Path) -> dict[str, Any]:
    """Ask originals and redacted documents the same queries, and attack the redacted ones."""
    return evaluate_case(Path(case), Path(queries))


# ---- looking through --------------------------------------------------------------------------------------------------------


def detect_to_case(settings: Settings, out: Path, progress: Progress = quiet, workers: Workers = here) -> dict[str, Any]:
    """Look through a folder, a file or a table's column, and write a case folder. Returns what was found, in numbers."""
    from shoal.documents.extra import require_extra
    from shoal.documents.pipeline.looking import first_look, second_look
    from shoal.documents.pipeline.originals import Originals
    from shoal.report.document_pages import write_preview

    require_extra()
    source = Path(settings.source)
    refuse_existing(out)
    _refuse_other_than_utf8(source, out)
    if out.absolute().is_relative_to(source.absolute()) and source.is_dir():
        raise OutputError(f"{out} lies inside {source}: the next look would read the case, too. Choose a folder outside.")
    if settings.kinds:
        from shoal.documents.detectors.kinds import read_kinds

        settings = settings.model_copy(update={"labels": read_kinds(Path(settings.kinds)).labels})
    originals = Originals(settings)
    with appearing(out, 0o700) as folder:
        first = first_look(settings, originals, folder / "first.jsonl", progress, workers)
        if not first.documents:
            why = f" {next(iter(first.failed.values()))}" if first.failed else ""
            raise DataError(f"No document could be read from {source}.{why}")
        counts: Counter[str] = Counter()
        with closing(second_look(settings, first, progress, workers)) as looked:
            write_case(folder, settings, _counting(looked, settings.accept, counts))
        write_preview(folder, Case(folder), first.texts(), progress)
        first.aside.unlink()
        write_private(folder, "secret.json", {"secret": f"{new_secret():032x}"})
        left_out = originals.left_out()
        write_private(folder, "files.json", {"failed": first.failed, "left_out": left_out})
    return {
        "documents": first.documents,
        "findings": dict(sorted(counts.items())),
        "failed": first.failed,
        "left_out": left_out,
        "unused": list(first.unused),
    }


def _counting(documents: Iterable[DocumentFindings], accept: float, counts: Counter[str]) -> Iterator[DocumentFindings]:
    """The same documents; what was found in them is counted as they pass."""
    for one in documents:
        counts.update(finding.kind for finding in one.findings)
        counts["risky blocks"] += len(one.blocks)
        counts["open"] += sum(finding.confidence < accept for finding in one.findings)
        yield one


def mark_case(
    case: Case, texts: Sequence[str], kind: str = UNKNOWN, reason: str = "", by: str | None = None, progress: Progress = quiet
) -> list[int]:
    """Decide that texts go wherever they stand, in every document; how often each was found."""
    from shoal.documents.phrases import PhraseFinder
    from shoal.documents.pipeline.originals import Originals
    from shoal.documents.review import with_what_it_touches

    finder, originals = PhraseFinder([text.lower() for text in texts]), Originals(case.settings)
    counts, decisions = [0] * len(texts), []
    for done, one in enumerate(case.findings(), 1):
        for start, end, number in finder.occurrences(originals.read(one.name).text):
            counts[number] += 1
            decisions.append((one.name, Decision(*with_what_it_touches(one, start, end), kind, "redact", reason)))
        progress("looking for it", done, done)
    if decisions:
        case.decide(decisions, by)
    return counts


# ---- redacting --------------------------------------------------------------------------------------------------------------


def redact_case(
    folder: Path,
    out: Path,
    choices: Choices,
    seed: int | None = None,
    progress: Progress = quiet,
    sign: Path | None = None,
    workers: Workers = here,
) -> RedactedDocuments:
    """Write redacted documents with their certificate and report. A document that cannot be written safely is not written. `sign` names a
    key to sign the certificate."""
    from shoal.checks.leftovers import WrittenDocument, search_written
    from shoal.documents.pipeline.certifying import certificate_of, deciders
    from shoal.documents.pipeline.originals import Originals
    from shoal.documents.pipeline.planning import plan
    from shoal.documents.pipeline.redacting import redact_files, redact_rows
    from shoal.report.document_pages import internal_page, public_page

    refuse_existing(out)
    key = SigningKey.read(sign) if sign is not None else None
    _refuse_other_than_utf8(out)
    case = Case(folder)
    source = Path(case.settings.source)
    if source.is_dir() and out.absolute().is_relative_to(source.absolute()):
        raise OutputError(f"{out} lies inside {source}, among the originals. Choose a folder outside.")
    if out.absolute().is_relative_to(folder.absolute()):
        raise OutputError(f"{out} lies inside the case, which stays with you. Choose a folder outside.")
    originals = Originals(case.settings)
    planned = plan(case, originals, choices, seed)
    with ExitStack() as undone, run_folder(out) as release:
        place = release.path
        column = case.settings.column
        records = redact_rows(planned, originals, place) if column else redact_files(planned, originals, place, progress, workers)
        failed = {one.name: one.failure for one in records if one.failure}
        if len(failed) == len(records):
            raise DataError(f"No document could be written. {next(iter(failed.values()), '')}".strip())
        written = [
            WrittenDocument(tuple(part.file for part in one.files), one.removed, one.may, one.row) for one in records if not one.failure
        ]
        certificate = certificate_of(planned, records, search_written(place, written))
        if certificate.broken:
            raise PromiseBroken("A removed text is in a file that was written, so nothing is. This is a defect of shoal: please report it.")
        certificate = release.certify(certificate, public_page(certificate), certificate.files, key)
        _same_time(place)
        private = {
            "map.json": planned.map,
            "report.html": internal_page(certificate, records, deciders(records), planned.entities),
        }
        names = {one.name: one.called for one in planned.documents}
        written_as = {"folder": str(out.absolute()), "names": names}
        kept = _where_to_keep(folder, place / CERTIFICATE)
        undone.callback(lambda: None if out.exists() else shutil.rmtree(kept, ignore_errors=True))
        _keep(kept, {**private, "written.json": json.dumps(written_as, ensure_ascii=False)})
    write_text(folder / "report.html", private["report.html"], PRIVATE_FILE)
    return RedactedDocuments(certificate, failed)


def _where_to_keep(folder: Path, certificate: Path) -> Path:
    """A folder of the case named after a certificate. Nothing replaces it: an earlier redaction may be in other hands already, and what was
    kept of it says who is behind its numbers."""
    redactions = folder / "private" / "redactions"
    for above in (redactions.parent, redactions):
        above.mkdir(exist_ok=True)
        above.chmod(PRIVATE_FOLDER)
    return redactions / f"{len(list(redactions.iterdir())) + 1:04}-{_mark_of(certificate)}"


def _keep(kept: Path, private: Mapping[str, str]) -> None:
    """What must stay with the keeper of one redaction, written before anything of it leaves."""
    with appearing(kept, PRIVATE_FOLDER) as place:
        for file, text in private.items():
            (place / file).write_text(text, encoding="utf-8")


def _mark_of(certificate: Path) -> str:
    """By which a redaction and what is kept of it are known to belong together."""
    return sha256_of(certificate)[:16]


def _refuse_other_than_utf8(*paths: Path) -> None:
    """Where documents lie is written down in the case, which is UTF-8."""
    for path in paths:
        if sayable(str(path.absolute())) != str(path.absolute()):
            raise ParameterError(f"The name of {sayable(str(path))} is not UTF-8 text. Rename it, or choose another place.")


def _same_time(place: Path) -> None:
    """One time for all files: the order they were written in is that of the originals."""
    now = time.time() // 86_400 * 86_400
    for path in [*place.rglob("*"), place]:
        os.utime(path, (now, now))


# ---- evaluating -------------------------------------------------------------------------------------------------------------


def evaluate_case(folder: Path, queries: Path, progress: Progress = quiet) -> dict[str, Any]:
    """Ask originals and redacted documents the same, and attack what was written. `redact_case` must have been done."""
    from shoal.documents.risk.queries import compare, read_queries
    from shoal.documents.risk.recovery import ATTACKS
    from shoal.text.search import SearchEngine

    asked = read_queries(queries)
    kept, written = _last_redaction(folder)
    out = Path(written["folder"])
    case = Case(folder)
    if case.settings.column:
        raise DataError("Rows of a table were shuffled when they were written, so they cannot be compared. Evaluate documents in files.")
    corpus, failed = _corpus(case, out / "documents", written["names"], kept, progress)
    if not corpus.names:
        why = f" {next(iter(failed.values()))}" if failed else ""
        raise DataError(f"No document of {out} belongs to this case. Redact again.{why}")
    before, after = (SearchEngine(corpus.names, texts) for texts in (corpus.originals, corpus.redacted))
    reasons = {attack: attack.applies(corpus) for attack in ATTACKS}
    return {
        "folder": str(out),
        "documents": len(corpus.names),
        **{part: [_change(one) for one in compare(before, after, getattr(asked, part), asked.random)] for part in ("utility", "risk")},
        "attacks": [attack.attack(corpus, rng_for(new_secret(), attack.name)).public() for attack, why in reasons.items() if not why],
        "attacks_not_tried": [NotTried(name=attack.name, why=why).model_dump() for attack, why in reasons.items() if why],
        "failed": failed,
    }


def _last_redaction(folder: Path) -> tuple[str, dict[str, Any]]:
    """The last redaction of a case that still lies where it was written, unchanged: where what is kept of it is, and what that says of it."""
    for kept in sorted((folder / "private" / "redactions").glob("[0-9]*-*"), reverse=True):
        name = f"redactions/{kept.name}"
        written = read_private(folder, f"{name}/written.json")
        out, names = written.get("folder"), written.get("names")
        if not isinstance(out, str) or not isinstance(names, dict) or not all(isinstance(one, str) for one in names.values()):
            raise DataError(f"{folder}/private/{name}/written.json is damaged. Redact again.")
        certificate = Path(out) / CERTIFICATE
        if certificate.is_file() and kept.name.endswith(_mark_of(certificate)):
            return name, written
    raise DataError(f"The redacted documents of {folder} are not there. Run `shoal documents redact {folder} -o out` first.")


def _corpus(case: Case, place: Path, names: dict[str, str], kept: str, progress: Progress) -> tuple[Corpus, dict[str, str]]:
    """Originals and what was written for them, with what was removed; and a sentence for each that could not be read."""
    from shoal.documents.formats.read import read_document
    from shoal.documents.pipeline.originals import Originals
    from shoal.documents.risk.recovery import Corpus, Removed

    behind, originals = _entities_behind(case.folder, f"{kept}/map.json"), Originals(case.settings)
    before: dict[str, str] = {}
    after: list[str] = []
    removed = []
    failed: dict[str, str] = {}
    for number, one in enumerate(case.findings()):
        progress("reading both", number + 1, len(names))
        try:
            file = _file_of(place, names.get(one.name, ""))
            if file is None:
                continue
            original, redacted = originals.read(one.name).text, read_document(file).text
        except Exception as error:
            failed[one.name] = failure_of(error)
            continue
        for finding, text in zip(one.findings, one.texts):
            if (number, finding.start) in behind:
                removed.append(Removed(len(before), text, finding.kind, behind[number, finding.start]))
        before[one.name] = original
        after.append(redacted)
    return Corpus(tuple(before), tuple(before.values()), tuple(after), tuple(removed)), failed


def _entities_behind(folder: Path, name: str) -> dict[tuple[int, int], int]:
    """(document, start) -> entity, for what was removed."""
    entities = read_private(folder, name).get("entities", [])
    try:
        return {
            (int(document), int(start)): number
            for number, entity in enumerate(entities)
            if entity["replacements"]
            for document, start in entity["mentions"]
        }
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(f"{folder}/private/{name} is damaged. Redact again.") from None


def _file_of(place: Path, name: str) -> Path | None:
    """The file that was written for a document; of a PDF, which became pictures, its text."""
    stem = Path(name)
    files = sorted((place / stem.parent).glob(f"{stem.name}.*")) or ([place / name] if name and (place / name).is_file() else [])
    return next((file for file in files if file.name.endswith(".pdf.txt")), files[0] if files else None)


def _change(one: QueryChange) -> dict[str, Any]:
    return {
        "name": one.query.name,
        "words": one.query.words,
        "threshold": one.threshold,
        **{key: round(value, 4) for key, value in one.changes.items()},
        "nmi": round(one.nmi, 6),
        "overlap": round(one.overlap, 6),
        "loss": None if one.loss is None else round(one.loss, 4) + 0.0,
    }
