"""Writing redacted documents. A file is written aside, read back, searched for everything that was removed, and only then put in place."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from numpy.random import Generator

from shoal.document import Document, Edit
from shoal.documents.formats.pieces import checked, edited, put_back, seen
from shoal.documents.formats.read import KINDS, digest_of, open_bytes, open_document, read_bytes, read_table_column
from shoal.documents.leaks import UNSURE, Leak, leaks, text_leaks
from shoal.errors import DataError, OutputError, ParameterError, PromiseBroken

Span = tuple[int, int]


def write_redacted(
    source: str | Path, document: Document, edits: Sequence[Edit], folder: str | Path, kept: Sequence[Span] = (), also: Iterable[str] = ()
) -> Path:
    """Write a document with its edits made, as the same kind of file where that is safe, else as text, and give its path.

    `kept` are stretches that were decided to stay though the same words were removed elsewhere; `also` are further texts that must not
    be in the output. The file is called as the document is. Beside a PDF, which becomes pictures, the text is written as .pdf.txt.
    """
    source, folder = Path(source), Path(folder)
    raw = read_bytes(source)
    if document.digest and digest_of(raw) != document.digest:
        raise DataError(f"{source.name} has changed since it was read. Detect again.")
    opened = open_document(source, raw)
    if opened.text() != document.text:
        raise DataError(f"{source.name} reads differently than when it was detected. Detect again.")
    removed, allowed = _removed(document, edits, kept, also)
    expected = put_back(opened.pieces, edits)
    try:
        files = opened.save()
    except ValueError:  # a character that the kind of file cannot hold
        raise OutputError(f"{document.name} could not be written as {document.kind}. Nothing was written.") from None
    stem = Path(document.name).name
    stem = stem[: -len(Path(stem).suffix)] if Path(stem).suffix.lower() in KINDS else stem
    targets = [folder / f"{stem}{ending}" for ending, _ in files]

    def write(parts: Sequence[Path]) -> None:
        for (ending, content), part in zip(files, parts):
            part.write_bytes(content)
            if ending != ".pdf" and not _reads_as(part, content, expected):
                raise PromiseBroken(f"{document.name} does not read back as what was decided. Nothing was written.")
            _refuse(document.name, _leaks(part, removed, allowed))

    _put_in_place(write, targets)
    return targets[0]


def write_table_column(
    source: str | Path, column: str, edits: Sequence[Sequence[Edit]], path: str | Path, rng: Generator, kept: Sequence[Sequence[Span]] = ()
) -> Path:
    """Write the text column of a table with each row's edits made, in an order drawn anew. The other columns are not this tool's: they stay behind."""
    from shoal.files import read_table, write_table
    from shoal.table import Table

    documents = read_table_column(source, column)
    if len(edits) != len(documents) or (kept and len(kept) != len(documents)):
        raise ParameterError(f"There are {len(documents)} rows but edits for {len(edits)}. Give a list for every row.")
    texts = []
    for i, document in enumerate(documents):
        removed, allowed = _removed(document, edits[i], kept[i] if kept else (), ())
        texts.append(edited(document.text, checked(document.text, edits[i])))
        _refuse(document.name, text_leaks(texts[-1], removed, allowed))
    shuffled = [texts[i] for i in rng.permutation(len(texts))]
    path = Path(path)

    def write(parts: Sequence[Path]) -> None:
        write_table(Table.of({column: shuffled}), parts[0])
        back = read_table(parts[0], text=[column]).column(column).to_pylist()
        if [(cell or "").split() for cell in back] != [text.split() for text in shuffled]:
            raise PromiseBroken(f"{path.name} does not read back as what was decided. Nothing was written.")

    _put_in_place(write, [path])
    return path


def _removed(document: Document, edits: Sequence[Edit], kept: Sequence[Span], also: Iterable[str]) -> tuple[list[str], list[str]]:
    """What must not be found, and what may be."""
    gone = [(document.text[edit.start : edit.end], edit.replacement) for edit in edits]
    removed = [text for text, becomes in gone if text != becomes]
    return [*removed, *also], [*(becomes for _, becomes in gone), *(document.text[start:end] for start, end in kept)]


def _reads_as(part: Path, content: bytes, expected: str) -> bool:
    kind = KINDS[part.suffix.lower()]
    if not "".join(expected.split()):
        return True
    return "".join(open_bytes(kind, content, part.name).leaving().split()) == "".join(seen(expected).split())


def _leaks(part: Path, removed: Sequence[str], allowed: Sequence[str]) -> list[Leak]:
    try:
        return leaks(part, removed, allowed)
    except ValueError:
        raise PromiseBroken("A written file could not be read back. Nothing was written.") from None


def _refuse(name: str, found: Sequence[Leak]) -> None:
    """What is only like a removed text, such as a name in lower case, is for the report, and no reason to stop."""
    sure = sorted({f"{leak.part} ({leak.variant})" for leak in found if leak.variant not in UNSURE})
    if sure:
        where = ", ".join(sure[:3]) + (f" and {len(sure) - 3} more places" if len(sure) > 3 else "")
        raise PromiseBroken(
            f"{name}: a removed text would still be found in {where}. Nothing was written. Remove it there too, or decide that it stays."
        )


def _put_in_place(write: Callable[[Sequence[Path]], None], targets: Sequence[Path]) -> None:
    """All targets appear, whole, or none does: they are written under hidden names and then renamed."""
    folder = targets[0].parent
    there = next((target for target in targets if target.exists()), None)
    if there is not None:
        raise OutputError(f"{there} is there already. Name another folder, or remove it.")
    token = secrets.token_hex(4)
    parts = [folder / f".{token}-{target.name}" for target in targets]
    moved: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write(parts)
        for part, target in zip(parts, targets):
            os.replace(part, target)
            moved.append(target)
    except BaseException as error:
        for path in [*parts, *moved]:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OutputError(f"{folder} cannot be written: {error.strerror}.") from None
        raise
