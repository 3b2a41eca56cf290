"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import OutputError


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
