"""What redaction cost and what it left: originals and redacted documents are asked the same, and attacked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.contracts import Progress, quiet
from shoal.documents.case import Case, read_private
from shoal.errors import DataError, ParameterError
from shoal.randomness import new_secret, rng_for
from shoal.runs.documents.look import document_named
from shoal.score import AttackResult


def evaluate_case(folder: Path, queries: Path, progress: Progress = quiet) -> dict[str, Any]:
    """Ask originals and redacted documents the same, and attack what was written. `redact_case` must have been done."""
    from shoal.documents.formats.read import read_document
    from shoal.documents.risk.queries import compare, read_queries
    from shoal.documents.risk.recovery import Removed, recover_by_context, recover_by_search
    from shoal.text.search import SearchEngine

    asked = read_queries(queries)
    written = read_private(folder, "written.json")
    out = Path(str(written.get("folder", "")))
    if not written or not (out / "certificate.json").is_file():
        raise DataError(f"The redacted documents of {folder} are not there. Run `shoal documents redact {folder} -o out` first.")
    case = Case(folder)
    if case.settings.column:
        raise DataError("Rows of a table were shuffled when they were written, so they cannot be compared. Evaluate documents in files.")
    looked = list(case.findings())
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
