"""The files beside a certificate: each one listed, there, a plain file and unchanged; and nothing else beside them."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from shoal.certificate import FilePart
from shoal.folders import CERTIFICATE, PRIVATE, RECIPE, SIGNATURE, sha256_of
from shoal.promises import Checked

UNLISTED = {CERTIFICATE, SIGNATURE}  # what no certificate can list
INSIDE = {RECIPE, PRIVATE}  # of a run folder that is still with its keeper


def check_folder(folder: Path, listed: Sequence[FilePart]) -> list[Checked]:
    """Everything in a folder against the list: links and devices are not followed or opened, folders are there for listed files only."""
    expected = {one.file: one.sha256 for one in listed}
    places = {parent.as_posix() for name in expected for parent in Path(name).parents}
    found, others, odd = set(), 0, 0
    for path in _inside(folder):
        name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
        if name in UNLISTED | INSIDE and (stat.S_ISREG(mode) or name == PRIVATE):
            continue
        if stat.S_ISDIR(mode):
            others += name not in places
        elif not stat.S_ISREG(mode):
            odd += 1
        elif name in expected:
            found.add(name)
        else:
            others += 1
    changed = sum(sha256_of(folder / name) != expected[name] for name in found)
    return [
        Checked("files", len(expected), len(found), len(found) == len(listed)),
        _none("files that are missing", len(set(expected) - found)),
        _none("files and folders that are not listed", others),
        _none("links, devices and other things that are no files", odd),
        _none("files whose bytes changed", changed),
    ]


def check_beside(certificate: Path, listed: Sequence[FilePart], but: str) -> list[Checked]:
    """The listed files that lie beside a certificate, where one released file was handed over alone: those that are there must be unchanged."""
    checks = []
    for one in listed:
        path = certificate.parent / one.file
        if one.file == but or not (path.exists() or path.is_symlink()):
            continue
        found = sha256_of(path) if is_plain(path) else "no plain file"
        checks.append(Checked(f"{one.file}: bytes (sha-256)", one.sha256, found, found == one.sha256))
    return checks


def is_plain(path: Path) -> bool:
    """Whether it is a file itself: what a link leads to can be another thing tomorrow, and a pipe would be waited for."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _inside(folder: Path) -> Iterator[Path]:
    """Everything below a folder, links not followed, without what is private."""
    for path in sorted(folder.iterdir()):
        yield path
        if stat.S_ISDIR(path.lstat().st_mode) and path.name != PRIVATE:
            yield from _inside(path)


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)
