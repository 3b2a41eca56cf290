"""Hidden folders in which things are made before they are moved to their place, and those that dead runs have left."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

try:
    import fcntl
except ImportError:  # without locks nothing tells that a run is dead, so nothing is swept
    fcntl = None  # type: ignore[assignment]

HIDDEN = ".shoal-unfinished-"
_asked_to_stop: list[bool] = []


def ask_to_stop() -> None:
    """Remember that this run was asked to stop: a KeyboardInterrupt can come to nothing inside a library that drops what its callbacks raise."""
    _asked_to_stop.append(True)


def nobody_asked() -> None:
    """A new run begins."""
    _asked_to_stop.clear()


def stop_if_asked() -> None:
    """Said where a run can stop safely, and before anything appears in its place."""
    if _asked_to_stop:
        raise KeyboardInterrupt


def hidden_folder(parent: Path) -> tuple[Path, int | None]:
    """A new hidden folder, and the lock that says its run lives: the system lets go of it when the run ends, however it ends."""
    while True:
        hidden = Path(tempfile.mkdtemp(prefix=f"{HIDDEN}{_boot()}-", dir=parent))
        try:
            lock = os.open(hidden / "lock", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        except FileNotFoundError:  # another run took it for an empty folder of a dead one
            continue
        except BaseException:
            shutil.rmtree(hidden, ignore_errors=True)
            raise
        try:
            ours = _locked(lock)
            for part in ("new", "old"):
                os.mkdir(hidden / part)
            if ours is None:
                os.unlink(hidden / "lock")  # without a lock, nobody may take it for dead
            if ours is not False and (ours is None or os.path.lexists(hidden / "lock")):
                return hidden, lock
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(lock)
            shutil.rmtree(hidden, ignore_errors=True)
            raise
        os.close(lock)  # another run was quicker, and sweeps it


def _locked(handle: int) -> bool | None:
    """Whether the lock could be had; None where there are no locks."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@cache
def _boot() -> str:
    """Which machine this is, since it was switched on: on a folder that several machines share, a lock may be seen on one of them alone."""
    try:
        told = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        told = f"{uuid.getnode():x}"
    return hashlib.sha256(told.encode()).hexdigest()[:12]


def sweep(parent: Path) -> None:
    """Remove what runs that are surely dead have left in a folder, and bring back what they were about to exchange.

    Surely dead: the folder has shoal's name and belongs to this user, and its lock is free. What another machine made, or this one before it
    was switched off, is not removed.
    """
    try:
        found = [entry for entry in os.scandir(parent) if re.fullmatch(rf"{re.escape(HIDDEN)}[0-9a-f]{{12}}-[a-z0-9_]{{8}}", entry.name)]
    except OSError:
        return
    for entry in found:
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                _sweep_one(Path(entry.path))


def _sweep_one(hidden: Path) -> None:
    ours = hidden.name.startswith(f"{HIDDEN}{_boot()}-")
    try:
        lock = os.open(hidden / "lock", os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if ours:
            os.rmdir(hidden)  # only if it is empty: its run died before it locked it
        return
    try:
        if _locked(lock):
            if ours:
                clear(hidden)
            else:
                _bring_back(hidden)
    finally:
        os.close(lock)


def _bring_back(hidden: Path) -> None:
    """What went away for an exchange that never came goes back to its place."""
    for old in (hidden / "old").glob("*"):
        if not os.path.lexists(hidden.parent / old.name):
            os.rename(old, hidden.parent / old.name)


def clear(hidden: Path) -> None:
    """Remove a hidden folder, unless it holds the only copy of something. The lock goes last."""
    with suppress(OSError):
        _bring_back(hidden)
        for part in ("new", "old"):
            shutil.rmtree(hidden / part, ignore_errors=True)
        shutil.rmtree(hidden, ignore_errors=True)


@contextmanager
def put_aside(parent: Path) -> Iterator[Path]:
    """A hidden folder for what is needed for a while; it goes afterwards, or when the next run there sweeps."""
    sweep(parent)
    hidden, lock = hidden_folder(parent)
    try:
        yield hidden / "new"
    finally:
        clear(hidden)
        if lock is not None:
            os.close(lock)
