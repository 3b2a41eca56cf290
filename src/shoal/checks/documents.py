"""Redacted documents against their certificate: the same files, byte for byte, and no other beside them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from shoal.certificate import DocumentsCertificate, PromisePart
from shoal.errors import DataError
from shoal.promises import Checked

BESIDE = {"certificate.json", "certificate.sig"}  # in the folder, and not listed


def verify_documents(folder: Path, certificate: DocumentsCertificate) -> list[Checked]:
    """Files, none missing, none unlisted, none changed, and promises that hold as certified."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder. Name the one that `shoal documents redact -o` wrote.")
    listed = {one.file: one.sha256 for one in certificate.files}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - BESIDE
    changed = [file for file in there & set(listed) if _sha256_of(folder / file) != listed[file]]
    return [
        Checked("files", len(listed), len(there), len(there) == len(listed)),
        _none("files that are missing", len(set(listed) - there)),
        _none("files that are not listed", len(there - set(listed))),
        _none("files whose bytes changed", len(changed)),
        *(_as_certified(one) for one in certificate.promises),
    ]


def _as_certified(part: PromisePart) -> Checked:
    """What was removed is not known here, so it cannot be searched for again: the certificate's own count must fit its verdict."""
    return Checked(f"{part.sentence}, as certified", part.value, part.found, part.holds and part.promise.kept_by(part.found))


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
