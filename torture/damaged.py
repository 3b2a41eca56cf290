"""Damaged files of every kind that shoal reads: seeds made in code and files that once broke something, mutated.

Each is read, and used, as its command would. It goes through, or is refused in a sentence; anything else would be a traceback, and a failure. So
is a sentence with a cell of the table or a word of the documents in it. The kept files (torture/corpus/KIND/*) come first, as they are.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import warnings
from pathlib import Path

from shoal.errors import ShoalError
from torture.readers import READERS, Reader, prepare
from torture.runner import Outcome
from torture.subjects import SECRET, place

NAME = "damaged"
CORPUS = Path(__file__).parent / "corpus"
KINDS = tuple(READERS)
HERE = b"{STAGE}"


def share(n: int) -> int:
    """As many as there are tables, and every kept file and kind at least once."""
    return max(len(KINDS) + len(kept()), min(n, 20_000))


def run(number: int, seed: int) -> Outcome:
    """One damaged file."""
    there = kept()
    if number < len(there):
        kind, raw = there[number].parent.name, content(there[number])
    else:
        kind, raw = KINDS[number % len(KINDS)], _grown(number, seed)
    return Outcome(kind, *tried(READERS[kind], raw)[:2])


def warm() -> None:
    """Everything that is read is made, and every reader reads what is sound."""
    _stage()
    for kind, reader in READERS.items():
        failure, refused, _ = tried(reader, seeds(kind)[0])
        if failure or refused:
            raise RuntimeError(f"{kind}: what is not damaged is refused: {failure}")


def described(number: int, seed: int) -> str:
    """Where the file of a case was put, to be looked at."""
    there = kept()
    kind = there[number].parent.name if number < len(there) else KINDS[number % len(KINDS)]
    path = Path(tempfile.mkdtemp()) / Path(READERS[kind].file).name
    path.write_bytes(content(there[number]) if number < len(there) else _grown(number, seed))
    return f"The damaged file is {path}."


def _grown(number: int, seed: int) -> bytes:
    kind = KINDS[number % len(KINDS)]
    draw = random.Random(f"{seed} {number}")
    return READERS[kind].damage(draw.choice(seeds(kind)), draw.choice(seeds(draw.choice(KINDS))), draw)


def tried(reader: Reader, raw: bytes) -> tuple[str, bool, Exception | None]:
    """What is wrong, whether it was refused, and by which error."""
    stage = _stage()
    work = stage / "work"
    shutil.copytree(stage / reader.folder, work, symlinks=True)
    here = Path.cwd()
    os.chdir(work)
    try:
        reader.path(work).write_bytes(raw)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.use(work)
    except (ShoalError, OSError) as error:
        shown = str(error)
        if isinstance(error, OSError) and not error.strerror:
            return f"{type(error).__name__} without words: {shown}", True, error
        return ("the message holds a cell or a word of a document" if SECRET.lower() in shown.lower() else ""), True, error
    finally:
        os.chdir(here)
        shutil.rmtree(work, ignore_errors=True)
    return "", False, None


_STAGES: list[Path] = []


def _stage() -> Path:
    if not _STAGES:
        stage = place("damaged")
        prepare(stage)
        _STAGES.append(stage)
    return _STAGES[0]


def seeds(kind: str) -> list[bytes]:
    """What is mutated: the sound file, and the kept ones of its kind."""
    reader = READERS[kind]
    sound = reader.path(_stage() / reader.folder).read_bytes()
    return [sound, *(content(path) for path in kept() if path.parent.name == kind)]


def kept() -> list[Path]:
    """The corpus: files that stay, whatever becomes of the mutations."""
    return sorted(path for path in CORPUS.glob("*/*") if path.parent.name in READERS)


def content(path: Path) -> bytes:
    """What is in a kept file; where it is read stands in it as a word of our own."""
    return path.read_bytes().replace(HERE, os.fsencode(_stage()))


def to_keep(raw: bytes) -> bytes:
    """The same, the other way round."""
    return raw.replace(os.fsencode(_stage()), HERE)
