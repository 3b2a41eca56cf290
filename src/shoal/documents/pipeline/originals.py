"""The originals of a case, where they lie: a folder, one file, or a table's column of texts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from shoal.document import Document
from shoal.documents.case import Settings
from shoal.documents.failures import sayable, utf8_name
from shoal.documents.formats.read import OpenedFile, find_documents, open_file, read_document, read_table_column
from shoal.errors import DataError


def read_in(folder: Path, one: str | Document) -> Document:
    """A file of a folder by its name; what was read already stays as it is."""
    return read_document(folder / one, utf8_name(one)) if isinstance(one, str) else one


class Originals:
    """Documents of a case, read when they are asked for; the rows of a table are read together, once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._source = Path(settings.source)

    @cached_property
    def rows(self) -> list[Document]:
        """Of a table, in its order."""
        return read_table_column(self._source, self._settings.column)

    @cached_property
    def paths(self) -> list[Path]:
        """The files that can be read."""
        return find_documents(self._source)

    def __len__(self) -> int:
        return len(self.rows) if self._settings.column else len(self.paths)

    def each(self) -> Iterator[str | Document]:
        """Every file of a folder by its name, for `read_in` to read; rows, and a file that was asked for by its name, which must be readable."""
        if self._settings.column:
            yield from self.rows
        elif self._source.is_file():
            yield read_document(self._source)
        else:
            yield from (path.relative_to(self._source).as_posix() for path in self.paths)

    def left_out(self) -> list[str]:
        """Files in the folder that are of kinds shoal does not read."""
        if self._settings.column or self._source.is_file():
            return []
        known, others = set(self.paths), []
        for place, folders, files in os.walk(self._source):
            folders[:] = [folder for folder in folders if not folder.startswith(".")]
            others += [sayable(Path(place, file).relative_to(self._source).as_posix()) for file in files if Path(place, file) not in known]
        return sorted(others)

    def read(self, name: str) -> Document:
        """One document, by the name the case has for it."""
        if not self._settings.column:
            return self.open(name).document
        number = int(name.removeprefix("row-")) if name.removeprefix("row-").isdigit() else 0
        if not 1 <= number <= len(self.rows):
            raise DataError(f"{self._source} has no {name}. It has changed since it was looked through. Run detect again.")
        return self.rows[number - 1]

    def open(self, name: str) -> OpenedFile:
        """A file, to be written anew with edits made. Its name must not lead out of the folder."""
        if self._source.is_file():
            return open_file(self._source, name)
        path = self._source / name
        if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._source)):
            raise DataError(f"A document of the case lies outside {self._source}: findings.jsonl was changed by hand. Run detect again.")
        return open_file(path, name)
