"""Writing redacted documents. A file is written aside, read back, searched for everything that was removed, and only then put in place."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from numpy.random import Generator

from shoal.document import Document, Edit
from shoal.documents.formats.pieces import checked, edited, put_back, seen
from shoal.documents.formats.read import KINDS, OpenedFile, digest_of, open_bytes
from shoal.documents.leaks import Searched, search_file, search_text
from shoal.errors import OutputError, ParameterError, PromiseBroken

Span = tuple[int, int]


class TextLeft(PromiseBroken):
    """A removed text would still be found in what was to be written."""

    def __init__(self, sentence: str, searched: Searched) -> None:
        super().__init__(sentence)
        self.searched = searched


class Written(NamedTuple):
    """Files that were put in place, with the SHA-256 of the bytes that were searched, and what the search found: per file, or per row of a table."""

    paths: tuple[Path, ...]
    sha256: tuple[str, ...]
    searched: tuple[Searched, ...]
    rows: tuple[int, ...] = ()  # of a table: where in it each document stands. The order is a secret


def write_redacted(file: OpenedFile, called: str, edits: Sequence[Edit], folder: str | Path, kept: Sequence[Span] = ()) -> Written:
    """Write a document with its edits made, as the same kind of file where that is safe, else as text.

    `kept` are stretches that were decided to stay though the same words were removed elsewhere. The pieces of the file are changed by it:
    open it anew to write it again. Beside a PDF, which becomes pictures, the text is written as .pdf.txt.
    """
    document, folder = file.document, Path(folder)
    removed, allowed = _removed(document, edits, kept)
    expected = put_back(file.opened.pieces, edits)
    try:
        contents = file.opened.save()
    except ValueError:  # a character that the kind of file cannot hold
        raise OutputError(f"{called} could not be written as {document.kind}. Nothing was written.") from None
    stem = called[: -len(Path(called).suffix)] if Path(called).suffix.lower() in KINDS else called
    targets = [folder / f"{stem}{ending}" for ending, _ in contents]
    digests: list[str] = []
    searches: list[Searched] = []

    def write(parts: Sequence[Path]) -> None:
        for (ending, content), part, target in zip(contents, parts, targets):
            part.write_bytes(content)
            if ending != ".pdf" and not _reads_as(part, content, expected):
                raise PromiseBroken(f"{called} does not read back as what was decided. Nothing was written.")
            raw = part.read_bytes()
            digests.append(digest_of(raw))
            searches.append(_searched(target.name, raw, removed, allowed))
            _refuse(called, searches[-1])

    put_in_place(write, targets)
    return Written(tuple(targets), tuple(digests), tuple(searches))


def write_table_column(
    rows: Sequence[Document],
    column: str,
    edits: Sequence[Sequence[Edit]],
    path: str | Path,
    rng: Generator,
    kept: Sequence[Sequence[Span]] = (),
    formulas: Literal["keep", "escape"] = "keep",
) -> Written:
    """Write the text column of a table with each row's edits made, in an order drawn anew. The other columns are not this tool's: they stay behind."""
    from shoal.files import read_table
    from shoal.formulas import to_escape, unescaped
    from shoal.table import Table
    from shoal.writing import write_table

    if len(edits) != len(rows) or (kept and len(kept) != len(rows)):
        raise ParameterError(f"There are {len(rows)} rows but edits for {len(edits)}. Give a list for every row.")
    texts = []
    searches: list[Searched] = []
    for i, document in enumerate(rows):
        texts.append(edited(document.text, checked(document.text, edits[i])))
        searches.append(search_row(document, edits[i], kept[i] if kept else ()))
    order = [int(i) for i in rng.permutation(len(texts))]
    shuffled = [texts[i] for i in order]
    path = Path(path)
    digests: list[str] = []

    table = Table.of({column: shuffled})
    escape = formulas == "escape" and path.suffix != ".parquet"
    table = to_escape(table) if escape else table

    def write(parts: Sequence[Path]) -> None:
        write_table(table, parts[0])
        texts = read_table(parts[0], text=[column]).column(column)
        back = (unescaped(texts) if escape else texts).to_pylist()
        if [(cell or "").split() for cell in back] != [text.split() for text in shuffled]:
            raise PromiseBroken(f"{path.name} does not read back as what was decided. Nothing was written.")
        digests.append(digest_of(parts[0].read_bytes()))

    put_in_place(write, [path])
    at = {document: row for row, document in enumerate(order)}
    return Written((path,), tuple(digests), tuple(searches), tuple(at[i] for i in range(len(order))))


def search_row(document: Document, edits: Sequence[Edit], kept: Sequence[Span] = ()) -> Searched:
    """Search a row with its edits made; what is found in it is an error."""
    searched = search_text(edited(document.text, checked(document.text, edits)), *_removed(document, edits, kept))
    _refuse(document.name, searched)
    return searched


def _removed(document: Document, edits: Sequence[Edit], kept: Sequence[Span]) -> tuple[list[str], list[str]]:
    """What must not be found, and what may be."""
    gone = [(document.text[edit.start : edit.end], edit.replacement) for edit in edits]
    removed = [text for text, becomes in gone if text != becomes]
    return removed, [*(becomes for _, becomes in gone), *(document.text[start:end] for start, end in kept)]


def _reads_as(part: Path, content: bytes, expected: str) -> bool:
    kind = KINDS[part.suffix.lower()]
    if not "".join(expected.split()):
        return True
    return "".join(open_bytes(kind, content, part.name).leaving().split()) == "".join(seen(expected).split())


def _searched(name: str, raw: bytes, removed: Sequence[str], allowed: Sequence[str]) -> Searched:
    try:
        return search_file(name, raw, removed, allowed)
    except ValueError:
        raise PromiseBroken("A written file could not be read back. Nothing was written.") from None


def _refuse(name: str, searched: Searched) -> None:
    """What is only like a removed text, such as a name in lower case, is for the report, and no reason to stop."""
    places = sorted({f"{leak.part} ({leak.variant})" for leak in searched.sure})
    if places:
        where = ", ".join(places[:3]) + (f" and {len(places) - 3} more places" if len(places) > 3 else "")
        raise TextLeft(
            f"{name}: a removed text would still be found in {where}. Nothing was written. Remove it there too, or decide that it stays.",
            searched,
        )


def put_in_place(write: Callable[[Sequence[Path]], None], targets: Sequence[Path]) -> None:
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
