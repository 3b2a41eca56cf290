"""Writing one document for tests."""

from pathlib import Path

from shoal.document import Edit
from shoal.documents.formats.read import open_file
from shoal.documents.formats.write import write_redacted


def write_letter(path: Path, edits: list[Edit], folder: Path, kept: list[tuple[int, int]] = (), called: str = "letter") -> Path:
    """The file that a document is written as."""
    return write_redacted(open_file(path), called, edits, folder, kept).paths[0]
