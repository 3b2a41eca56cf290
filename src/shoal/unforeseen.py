"""Unforeseen: an error that nobody thought of, as a code to speak of and a private log that no cell can get into.

The log names classes of exceptions and places in code, and nothing else of what happened: the message of an exception, a line of source or
a variable could hold a cell. Equal faults have equal codes, and one log each.
"""

from __future__ import annotations

import hashlib
import os
import platform
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

KEPT = 20  # logs; the oldest go
DEEPEST = 60  # places named of one exception: what calls itself a thousand times is named once
LIBRARIES = ("numpy", "pyarrow", "numba", "pydantic")


class Place(NamedTuple):
    """Where code stood: never what it held."""

    file: str
    line: int
    function: str

    @property
    def is_ours(self) -> bool:
        """Whether it is shoal's own code."""
        return self.file.startswith("shoal/")


class Unforeseen(NamedTuple):
    """An error that nobody thought of: its code, where it happened, and the log, if one could be written."""

    code: str
    where: str
    log: Path | None

    @property
    def sentence(self) -> str:
        """What its finder is told."""
        told = (
            f"The log {self.log} says where, and holds none of your data: send it along when you report this"
            if self.log
            else "No log could be written: report the code"
        )
        return f"something unforeseen happened (code {self.code}: {self.where}). It is a fault of shoal. {told}."


def unforeseen(error: BaseException, words: Sequence[str] = ()) -> Unforeseen:
    """Give an error its code, and write its log. `words` are names of verbs and options that led to it, never what was given for them."""
    chain = [(_class(one), list(dict.fromkeys(_places(one)))) for one in _chain(error)]
    class_, places = chain[0]
    ours = [i for i, place in enumerate(places) if place.is_ours]
    inner = places[ours[-1] :] if ours else places  # whichever verb led there, the fault is the same
    code = hashlib.sha256(repr((class_, inner)).encode()).hexdigest()[:6]
    where = f"{class_} in {inner[0].file.removeprefix('shoal/')} line {inner[0].line}" if inner else class_
    lines = [f"code {code}", f"shoal {_version('shoal')}, Python {platform.python_version()}, {platform.system()}"]
    lines += [f"{name} {_version(name)}" for name in LIBRARIES]
    lines += [f"asked: {' '.join(words) or 'from Python'}"]
    for number, (class_, places) in enumerate(chain):
        lines += ["", class_ if not number else f"which came of {class_}"]
        lines += [f"  {place.file}:{place.line}:{place.function}" for place in places[-DEEPEST:]]
    return Unforeseen(code, where, _written(f"{code}.log", "\n".join(lines) + "\n"))


def _class(error: BaseException) -> str:
    return type(error).__name__


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what caused it, and what that came of."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def _places(error: BaseException) -> Iterator[Place]:
    """From the outermost call to where it happened; files are named from their package, not from the disk."""
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        parts = path.parts
        begin = next((i for i in reversed(range(len(parts) - 1)) if parts[i] in ("src", "site-packages", "dist-packages")), len(parts) - 2)
        yield Place("/".join(parts[max(begin, -1) + 1 :]), line, frame.f_code.co_name)


def _version(package: str) -> str:
    if package == "shoal":
        from shoal import __version__

        return __version__
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _written(name: str, text: str) -> Path | None:
    """The log, in a folder that is nobody else's to read; None where there is no such place."""
    try:
        folder = _folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        part = folder / f"{name}.{os.getpid()}.part"
        with open(part, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags | os.O_EXCL, 0o600)) as file:
            os.chmod(part, 0o600)
            file.write(text)
        part.replace(folder / name)
        for old in sorted(folder.glob("*.log"), key=lambda log: log.stat().st_mtime)[:-KEPT]:
            with suppress(OSError):
                old.unlink()
        return folder / name
    except (OSError, RuntimeError):  # no room, no right, or no home
        return None


def _folder() -> Path:
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state") / "shoal"
