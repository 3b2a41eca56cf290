"""Reading documents: every word a file would give away, in parts that say where it stands."""

from __future__ import annotations

import codecs
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from shoal.document import Document, Edit
from shoal.documents.formats.pieces import Opened, Piece, seen
from shoal.errors import DataError, did_you_mean

KINDS = {".txt": "txt", ".md": "md", ".html": "html", ".htm": "html", ".eml": "eml", ".docx": "docx", ".pdf": "pdf"}
LARGEST = 100 << 20  # bytes; a document of more is a data dump, or meant to exhaust the machine
_MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}  # before UTF-16's, which begins alike
_MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# What the bytes of files that are not text begin with.
_BINARY = {b"%PDF-": "a PDF", b"PK\x03\x04": "a zip or Office file", b"\xd0\xcf\x11\xe0": "an old Office file", b"\x1f\x8b": "a gzip file"}


class OpenedFile(NamedTuple):
    """A file that was read once: the document in it, and its pieces, to be put back with edits made."""

    document: Document
    opened: Opened


def open_file(path: str | Path, name: str | None = None) -> OpenedFile:
    """Read one file: .txt, .md, .html, .eml, .docx or .pdf. `name` is what the document is called afterwards, in place of the file's."""
    path = Path(path)
    raw = read_bytes(path)
    opened = open_document(path, raw)
    return OpenedFile(opened.document(path.name if name is None else name, kind_of(path), digest_of(raw)), opened)


def read_document(path: str | Path, name: str | None = None) -> Document:
    """The document in a file."""
    return open_file(path, name).document


def find_documents(folder_or_file: str | Path) -> list[Path]:
    """The files of known kinds in a folder and below it, in order of their names. Hidden ones and links that lead out are left."""
    root = Path(folder_or_file)
    if root.is_file():
        kind_of(root)
        return [root]
    if not root.is_dir():
        near = did_you_mean(root.name, [p.name for p in root.parent.iterdir()] if root.parent.is_dir() else [])
        raise DataError(f"There is no file or folder {root}.{near}")
    inside = os.path.realpath(root)
    found = []
    for place, folders, files in os.walk(root):
        folders[:] = [folder for folder in folders if not folder.startswith(".")]
        for file in files:
            path = Path(place, file)
            if file.startswith((".", "~$")) or path.suffix.lower() not in KINDS:
                continue
            if path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(inside):
                continue
            found.append(path)
    return sorted(found)


def read_table_column(path: str | Path, column: str) -> list[Document]:
    """A text column of a table, one document per row, named row-1, row-2, ... in the file's order; a missing cell is an empty text."""
    from shoal.files import read_table

    path = Path(path)
    table = read_table(path, text=[column])
    cells = table.column(column)  # says which column is meant where there is none such
    if table.kind(column) not in ("text", "empty"):
        raise DataError(f"Column '{column}' holds no text. Name the column with the texts.")
    digest = digest_of(path.read_bytes())
    return [Document(f"row-{i}", seen(cell or ""), "row", (), digest) for i, cell in enumerate(cells.to_pylist(), 1)]


def kind_of(path: Path) -> str:
    """By the ending of its name."""
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        table = " Of a table, name the column of texts with --column." if path.suffix.lower() in (".csv", ".tsv", ".parquet") else ""
        raise DataError(f"{path.name} is of no kind shoal reads. Known endings: {', '.join(KINDS)}.{table}")
    return kind


def digest_of(raw: bytes) -> str:
    """SHA-256, to notice a change."""
    return hashlib.sha256(raw).hexdigest()


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that is there, can be read, is not empty and not huge."""
    if not path.exists():
        near = did_you_mean(path.name, [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else [])
        raise DataError(f"There is no file {path}.{near}")
    if not path.is_file():
        raise DataError(f"{path} is not a plain file. Name a document.")
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path.name} is larger than {LARGEST >> 20} MB. Cut it into documents first.")
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror}.") from None
    if not raw:
        raise DataError(f"{path.name} is empty.")
    return raw


def open_document(path: Path, raw: bytes) -> Opened:
    """Take a file apart. Every failure is a sentence about the file."""
    try:
        opened = open_bytes(kind_of(path), raw, path.name)
    except (RecursionError, MemoryError):
        raise DataError(f"{path.name} is nested too deeply, or too large, to be read.") from None
    if not opened.leaving().strip():
        raise DataError(f"No text was found in {path.name}. shoal cannot say what is in it, so it is neither redacted nor safe.")
    return opened


def open_bytes(kind: str, raw: bytes, name: str, depth: int = 0) -> Opened:
    """The same for bytes of a known kind, such as an attachment. `depth` is how many files they lie inside of."""
    if kind == "pdf":
        from shoal.documents.formats.pdf import open_pdf

        return open_pdf(raw, name)
    if kind == "docx":
        from shoal.documents.formats.word import open_word

        return open_word(raw, name)
    if kind == "eml":
        from shoal.documents.formats.mail import open_mail

        return open_mail(raw, name, open_bytes, depth)
    if kind == "html":
        from shoal.documents.formats.html import open_page

        return open_page(raw, name)
    return open_text(decode(raw, name), f".{kind}")


def open_text(text: str, ending: str = ".txt") -> Opened:
    """Plain text is one piece."""
    held = [seen(text)]

    def put(new: str, _: Sequence[Edit]) -> None:
        held[0] = new

    return Opened([Piece("body", held[0], put)], lambda: [(ending, held[0].encode("utf-8"))])


def decode(raw: bytes, name: str, declared: str | None = None) -> str:
    """Bytes as text: what a byte-order mark says, else what the file itself declares, else UTF-8, else Windows-1252 (and with it Latin-1)."""
    for mark, encoding in _MARKS.items():
        if raw.startswith(mark):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                raise DataError(f"{name} begins as {encoding.removesuffix('-sig')} text and does not go on so. Save it as UTF-8.") from None
    for magic, what in _BINARY.items():
        if raw.startswith(magic):
            raise DataError(f"{name} is not text: it begins like {what}. Give it the ending of its kind.")
    if b"\x00" in raw:
        raise DataError(f"{name} is not text: it holds zero bytes. If it is UTF-16 without its mark, save it as UTF-8.")
    for encoding in (*([declared] if declared else []), "utf-8", "cp1252"):
        try:
            text = raw.decode(encoding)
        except (UnicodeDecodeError, LookupError, ValueError):
            continue
        if sum(text.count(chr(code)) for code in (*range(1, 9), *range(14, 27))) * 1000 > len(text):
            raise DataError(f"{name} is not text: it holds control characters. Give a text file.")
        if encoding == "cp1252" and 4 * sum(not letter.isascii() for letter in text) > sum(map(str.isalpha, text)):
            break  # Western text has few letters with accents: this is another encoding, and would be read as nonsense
        return text
    raise DataError(f"{name} is neither UTF-8 nor Western (Windows-1252) text. Save it as UTF-8.")
