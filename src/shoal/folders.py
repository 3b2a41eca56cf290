"""Files and folders that appear whole or not at all, and stay; and run folders, where what may leave stands beside what must not.

Whatever is made is made in a hidden folder beside its place, told to the disk, given its modes, and moved in one step. A run that is killed
leaves its hidden folder behind; the next one that writes there removes it.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from shoal.arrays import IntArray
from shoal.certificate import Certificate, FilePart
from shoal.errors import DataError, OutputError
from shoal.parsing import parse_json
from shoal.unfinished import clear, hidden_folder, stop_if_asked, sweep

if TYPE_CHECKING:
    from shoal.signing import SigningKey

CERTIFICATE, SIGNATURE, REPORT, RECIPE, PRIVATE = "certificate.json", "certificate.sig", "report.html", "recipe.toml", "private"
RELEASE = "release"  # the folder of a release in many files; the name of one in a single file, but for its ending
PUBLIC_FOLDER, PUBLIC_FILE, PRIVATE_FOLDER, PRIVATE_FILE = 0o755, 0o644, 0o700, 0o600  # whatever the umask
One = TypeVar("One", bound=Certificate)


@dataclass(frozen=True)
class RunFolder:
    """A run folder while it is filled, or anew: of tables, documents and collections alike."""

    path: Path

    def certify(self, certificate: One, report: str, released: Sequence[FilePart], key: SigningKey | None = None) -> One:
        """The page that may go with what is released; the certificate, which lists both by their bytes; and its signature."""
        (self.path / REPORT).write_text(report, encoding="utf-8")
        listed = {one.file: one.sha256 for one in released} | {REPORT: sha256_of(self.path / REPORT)}
        complete = certificate.model_copy(update={"files": tuple(FilePart(file=name, sha256=listed[name]) for name in sorted(listed))})
        (self.path / CERTIFICATE).write_text(complete.text, encoding="utf-8")
        (self.path / SIGNATURE).unlink(missing_ok=True)  # of what stood there before
        if key is not None:
            (self.path / SIGNATURE).write_text(key.sign(complete.text.encode("utf-8")), encoding="utf-8")
        return complete

    @property
    def aside(self) -> Path:
        """Where what is on its way is put until the folder is whole; it goes with the hidden folder, whatever happens."""
        place = self.path.parent.parent / "aside"
        place.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        return place

    def keep(self, secret: int, source_row: IntArray, about: Mapping[str, Any]) -> None:
        """What must stay private: the secret, where each row came from, and what else is needed to read the folder back."""
        private = self.path / PRIVATE
        private.mkdir(exist_ok=True)
        (private / "run.json").write_text(json.dumps({"seed": hex(secret), **about}, indent=2) + "\n", encoding="utf-8")
        if isinstance(source_row, np.memmap) and source_row.filename is not None:  # as they are in a file, and perhaps too many for memory
            shutil.copyfile(source_row.filename, private / "source_rows.npy")
        else:
            np.save(private / "source_rows.npy", source_row.astype(np.int64), allow_pickle=False)

    def kept(self) -> tuple[int, IntArray, dict[str, Any]]:
        """The secret, the source rows, and the rest, as they were kept."""
        try:
            about = parse_json((self.path / PRIVATE / "run.json").read_text(encoding="utf-8"), "run.json")
            source_row = np.load(self.path / PRIVATE / "source_rows.npy", allow_pickle=False)
            secret = int(about.pop("seed"), 16)
            if source_row.ndim != 1 or source_row.dtype != np.int64 or secret < 0 or not _all_texts(about.get("warnings", [])):
                raise ValueError
            return secret, source_row, about
        except OSError:
            raise
        except Exception:  # numpy has no end of ways to stumble over damage
            raise DataError(f"{self.path}/private is damaged. Make the run again.") from None

    def report_inside(self, page: str) -> None:
        """The page for the data's keeper."""
        (self.path / PRIVATE).mkdir(exist_ok=True)
        (self.path / PRIVATE / REPORT).write_text(page, encoding="utf-8")

    def needs(self, files: Sequence[str], made_by: str) -> None:
        """Refuse a folder that is not what it should be."""
        if not self.path.exists():
            sweep(self.path.absolute().parent)  # which brings back what was on its way when its run was killed
        for needed in files:
            if not (self.path / needed).is_file():
                raise DataError(f"{self.path} is not a run folder: {needed} is missing. Name the folder that `{made_by}` wrote.")


@contextmanager
def run_folder(out: Path) -> Iterator[RunFolder]:
    """A new run folder, which appears when it is whole."""
    refuse_existing(out)
    with appearing(out) as folder:
        yield RunFolder(folder)


@contextmanager
def renewed(folder: Path) -> Iterator[RunFolder]:
    """A run folder written anew, which takes the place of the old one in one step. What is not written again is taken over as it is, but for
    the signature, which is about the certificate that was."""
    folder = Path(os.path.realpath(folder))
    with _aside(folder) as new:
        new.mkdir()
        yield RunFolder(new)
        _settle(new, PUBLIC_FOLDER)
        _take_over(folder, new, leave=SIGNATURE)
        _put(new, folder, _exchange)


def refuse_existing(out: Path) -> None:
    """Nothing is written over."""
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")


def _all_texts(given: Any) -> bool:
    return isinstance(given, list) and all(isinstance(one, str) for one in given)


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sha256_of_list(files: Sequence[tuple[str, str]]) -> str:
    """The hash of a list of files, each with its own hash and its name, as `sha256sum *` writes it."""
    return hashlib.sha256("".join(f"{digest}  {name}\n" for digest, name in files).encode("utf-8")).hexdigest()


def write_text(path: Path, text: str, mode: int = PUBLIC_FILE) -> None:
    """A text in a file of its own: whole, and on the disk."""
    with whole_file(path, mode) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def whole_file(out: Path, mode: int = PUBLIC_FILE) -> Iterator[Path]:
    """A file that is written out of sight, under its own name, and then moved to its place, so that nobody reads half of it."""
    with _aside(out) as new:
        yield new
        os.chmod(new, mode)
        _sync(new)
        stop_if_asked()
        os.replace(new, out)
        _sync(out.absolute().parent)


@contextmanager
def appearing(out: Path, mode: int = PUBLIC_FOLDER) -> Iterator[Path]:
    """A folder that is filled out of sight and then moved to its place; whatever happens before that leaves nothing behind.

    Where others may enter it, its files may be read, all but those in `private`; else it is its owner's alone.
    """
    parent = out.absolute().parent
    missing = [above for above in (parent, *parent.parents) if not above.exists()]
    try:
        try:
            parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"{out} cannot be made: {error.strerror}.") from None
        with _aside(out) as new:
            new.mkdir()
            yield new
            _settle(new, mode)
            for above in missing:
                _sync(above.parent)
            _put(new, out, os.rename)  # which refuses to go over a folder that came meanwhile
    except BaseException:
        _remove(missing)
        raise


def _remove(folders: Sequence[Path]) -> None:
    """Folders made on the way, deepest first; whatever holds something stays."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


# ---- out of sight, and into place -------------------------------------------------------------------------------------------


@contextmanager
def _aside(out: Path) -> Iterator[Path]:
    """Where something is made before it is moved to `out`: new/NAME in a hidden folder beside it, which goes when all is done."""
    parent, there = out.absolute().parent, os.path.lexists(out)
    sweep(parent)
    try:
        hidden, lock = hidden_folder(parent)
    except OSError as error:
        raise OutputError(f"{out} cannot be made: {error.strerror}.") from None
    try:
        yield hidden / "new" / out.name
    except BaseException as failure:
        clear(hidden)
        cause = failure.__cause__ if isinstance(failure, OutputError) else failure
        if not isinstance(cause, OSError):
            raise
        if cause.errno in (errno.ENOTEMPTY, errno.EEXIST) and not there:  # another run was faster
            raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.") from None
        full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full. Make room, or write elsewhere" if full else f"{cause.strerror or cause}"
        left = " Nothing was left behind." if not os.path.lexists(out) else " What was there still is." if there and out.is_dir() else ""
        raise OutputError(f"{out} could not be written: {why}.{left}") from None
    else:
        try:
            clear(hidden)
        except KeyboardInterrupt:  # too late to stop anything: all is in its place
            clear(hidden)
    finally:
        if lock is not None:
            os.close(lock)


def _settle(top: Path, mode: int) -> None:
    """Modes and fsync for a whole tree, files before the folders that name them."""
    for place, _, files in os.walk(top, topdown=False):
        inside = Path(place).relative_to(top).parts
        private = mode == PRIVATE_FOLDER or inside[:1] == (PRIVATE,)
        for name in files:
            path = os.path.join(place, name)
            os.chmod(path, PRIVATE_FILE if private else PUBLIC_FILE)
            _sync(path)
        os.chmod(place, PRIVATE_FOLDER if private else PUBLIC_FOLDER)
        _sync(place)


def _sync(path: str | Path) -> None:
    """A file, or a folder with the names in it, onto the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # file systems that cannot do that for folders
            raise
    finally:
        os.close(handle)


def _take_over(old: Path, new: Path, leave: str) -> None:
    """What `new` does not have yet, from `old`, with its modes: by a second name, or as a copy where files cannot have two."""
    for place, folders, files in os.walk(old):
        below = new / Path(place).relative_to(old)
        for name in [*files, *(folder for folder in folders if os.path.islink(os.path.join(place, folder)))]:
            source, target = os.path.join(place, name), below / name
            if os.path.lexists(target) or (below == new and name == leave):
                continue
            try:
                os.link(source, target, follow_symlinks=False)
            except OSError:
                shutil.copy2(source, target, follow_symlinks=False)
                if not target.is_symlink():
                    _sync(target)
        for name in folders:
            if not os.path.lexists(below / name):
                os.mkdir(below / name)
                shutil.copymode(os.path.join(place, name), below / name)
    for place, _, _ in os.walk(new, topdown=False):
        _sync(place)


def _put(new: Path, out: Path, move: Callable[[Path, Path], None]) -> None:
    """A folder into its place, in one step. Where that or what follows fails, what was there before is there again."""
    old, moved = _old(new), os.lstat(new)
    stop_if_asked()
    try:
        move(new, out)
        _sync(out.absolute().parent)
    except BaseException:
        if os.path.lexists(out) and os.path.samestat(os.lstat(out), moved):
            if os.path.lexists(new):  # which is now the old one
                _exchange(new, out)
            else:
                os.rename(out, new)
        if os.path.lexists(old) and not os.path.lexists(out):
            os.rename(old, out)
        raise


def _old(new: Path) -> Path:
    """Where in a hidden folder stands what `new` is to take the place of."""
    return new.parent.parent / "old" / new.name


def _exchange(new: Path, out: Path) -> None:
    """Two folders change places at once, where the system can do that; else one goes aside and the other comes, with a moment in between
    that `sweep` mends if the run is killed in it."""
    if not _renameat2(new, out):
        os.rename(out, _old(new))
        os.rename(new, out)


def _renameat2(one: Path, other: Path) -> bool:
    """Linux's exchange of two names; false where system or file system do not have it."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    at_cwd, exchange = -100, 2
    if call(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
