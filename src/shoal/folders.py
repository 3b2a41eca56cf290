"""Files and folders that appear whole or not at all; and run folders, where what may leave stands beside what must not."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import BadZipFile

import numpy as np

from shoal.arrays import IntArray
from shoal.certificate import Certificate, FilePart
from shoal.errors import DataError, OutputError

if TYPE_CHECKING:
    from shoal.signing import SigningKey

CERTIFICATE, SIGNATURE, REPORT, RECIPE, PRIVATE = "certificate.json", "certificate.sig", "report.html", "recipe.toml", "private"
One = TypeVar("One", bound=Certificate)


@dataclass(frozen=True)
class RunFolder:
    """A run folder while it is filled, or anew: of tables, documents and collections alike."""

    path: Path

    def certify(self, certificate: One, report: str, released: Sequence[str], key: SigningKey | None = None) -> One:
        """The page that may go with what is released; the certificate, which lists both by their bytes; and its signature."""
        write_text(self.path / REPORT, report)
        files = tuple(FilePart(file=name, sha256=sha256_of(self.path / name)) for name in (*sorted(released), REPORT))
        complete = certificate.model_copy(update={"files": files})
        write_text(self.path / CERTIFICATE, complete.text)
        if key is not None:
            write_text(self.path / SIGNATURE, key.sign(complete.text.encode("utf-8")))
        return complete

    def keep(self, secret: int, source_row: IntArray, about: Mapping[str, Any]) -> None:
        """What must stay private: the secret, where each row came from, and what else is needed to read the folder back."""
        private = self.path / PRIVATE
        private.mkdir(mode=0o700)
        write_text(private / "run.json", json.dumps({"seed": hex(secret), **about}, indent=2) + "\n", mode=0o600)
        with open(private / "source_rows.npy", "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            np.save(file, source_row.astype(np.int64), allow_pickle=False)

    def kept(self) -> tuple[int, IntArray, dict[str, Any]]:
        """The secret, the source rows, and the rest, as they were kept."""
        try:
            about = json.loads((self.path / PRIVATE / "run.json").read_text())
            source_row = np.load(self.path / PRIVATE / "source_rows.npy", allow_pickle=False)
            return int(about.pop("seed"), 16), source_row, about
        except (ValueError, KeyError, TypeError, AttributeError, EOFError, RecursionError, BadZipFile):
            raise DataError(f"{self.path}/private is damaged. Make the run again.") from None

    def report_inside(self, page: str) -> None:
        """The page for the data's keeper."""
        write_text(self.path / PRIVATE / REPORT, page, mode=0o600)

    def needs(self, files: Sequence[str], made_by: str) -> None:
        """Refuse a folder that is not what it should be."""
        for needed in files:
            if not (self.path / needed).is_file():
                raise DataError(f"{self.path} is not a run folder: {needed} is missing. Name the folder that `{made_by}` wrote.")


@contextmanager
def run_folder(out: Path) -> Iterator[RunFolder]:
    """A new run folder, which appears when it is whole."""
    refuse_existing(out)
    with appearing(out) as folder:
        yield RunFolder(folder)


def refuse_existing(out: Path) -> None:
    """Nothing is written over."""
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def write_text(path: Path, text: str, mode: int = 0o644) -> None:
    """Written beside its place and moved into it, so that nobody reads half a file."""
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "w", encoding="utf-8", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(text)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise


@contextmanager
def appearing(out: Path, mode: int = 0o755) -> Iterator[Path]:
    """A folder that is filled under another name and then renamed; whatever happens before that leaves nothing behind."""
    parent = out.absolute().parent
    missing = [above for above in (parent, *parent.parents) if not above.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=parent))
    except OSError as error:
        _remove(missing)
        raise OutputError(f"{out} cannot be made: {error.strerror}.") from None
    try:
        yield folder
        folder.chmod(mode)
        folder.rename(out)
    except BaseException as failure:
        shutil.rmtree(folder, ignore_errors=True)
        _remove(missing)
        cause = failure.__cause__ if isinstance(failure, OutputError) else failure
        if not isinstance(cause, OSError):
            raise
        full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full. Make room, or write elsewhere" if full else f"{cause.strerror or cause}"
        raise OutputError(f"{out} could not be written: {why}. Nothing was left behind.") from None


def _remove(folders: Sequence[Path]) -> None:
    """Folders made on the way, deepest first; whatever holds something stays."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
