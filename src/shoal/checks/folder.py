"""The files beside a certificate: each one listed, there, a plain file and unchanged; and nothing else beside them."""

from __future__ import annotations

import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from shoal.certificate import FilePart
from shoal.errors import DataError
from shoal.folders import CERTIFICATE, PRIVATE, RECIPE, SIGNATURE, sha256_of
from shoal.promises import Checked

UNLISTED = {CERTIFICATE, SIGNATURE}  # what no certificate can list
INSIDE = {RECIPE: stat.S_ISREG, PRIVATE: stat.S_ISDIR}  # of a run folder that is still with its keeper, and what each must be
Passed = Mapping[str, Callable[[int], bool]]
NOTHING: Passed = MappingProxyType({})
LONGEST_NAME = 255  # bytes, in every usual file system


def check_folder(folder: Path, listed: Sequence[FilePart], passed_over: Passed = NOTHING) -> list[Checked]:
    """Everything in a folder against the list: links and devices are not followed or opened, folders are there for listed files only."""
    expected = {one.file: one.sha256 for one in listed}
    places = {parent.as_posix() for name in expected for parent in Path(name).parents}
    found, others, odd = set(), 0, 0
    for path in _inside(folder, passed_over):
        name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
        if (name in UNLISTED and stat.S_ISREG(mode)) or (name in passed_over and passed_over[name](mode)):
            continue
        if stat.S_ISDIR(mode):
            others += name not in places
        elif not stat.S_ISREG(mode):
            odd += 1
        elif name in expected:
            found.add(name)
        else:
            others += 1
    changed = found - unchanged(folder, listed)
    return [
        Checked("files", len(expected), len(found), len(found) == len(listed)),
        _named("files that are missing", set(expected) - found),
        _none("files and folders that are not listed", others),
        _none("links, devices and other things that are no files", odd),
        _named("files whose bytes changed", changed),
    ]


def names_inside(listed: Sequence[FilePart], release: FilePart | None = None) -> Checked:
    """Names that lead nowhere but into the folder, each once, before any of them is opened; a release lies in the folder itself."""
    names = [one.file for one in listed]
    wrong = sum(not _is_inside(name) for name in names) + len(names) - len(set(names))
    if release is not None:
        wrong += not _is_inside(release.file) or "/" in release.file
    return Checked("names that lead elsewhere, or are listed twice", 0, wrong, not wrong)


def _is_inside(name: str) -> bool:
    """Whether each part of a relative name is one that a file or folder can have everywhere."""
    try:
        parts = name.encode("utf-8").split(b"/")
    except UnicodeEncodeError:
        return False
    return all(part not in (b"", b".", b"..") and len(part) <= LONGEST_NAME for part in parts) and name.isprintable() and "\\" not in name


def unchanged(folder: Path, listed: Sequence[FilePart]) -> set[str]:
    """The listed files that are there with the bytes they were listed with."""
    return {one.file for one in listed if is_plain(folder / one.file) and sha256_of(folder / one.file) == one.sha256}


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


def _inside(folder: Path, passed_over: Passed = NOTHING) -> Iterator[Path]:
    """Everything below a folder, links not followed, without what is inside folders that are passed over."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise DataError(f"{folder} cannot be looked into: {error.strerror}.") from None
    for path in entries:
        yield path
        if stat.S_ISDIR(path.lstat().st_mode) and path.name not in passed_over:
            yield from _inside(path)


def _named(what: str, found: Collection[str]) -> Checked:
    """Files of the list, by name."""
    return Checked(what, 0, sorted(found) or 0, not found)


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)
