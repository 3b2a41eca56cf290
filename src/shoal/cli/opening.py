"""What verbs work on: a table wherever it lives, a run folder, or two files; opened for as long as they are looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from shoal.cli import show
from shoal.distinct import DistinctValues
from shoal.engines.choice import Choice
from shoal.errors import ParameterError
from shoal.folders import RELEASE
from shoal.inputs import read_tables
from shoal.roles import Roles
from shoal.runs.parts import LoadedParts, load_parts
from shoal.runs.run import Run, load_run
from shoal.table import Table
from shoal.unfinished import put_aside


def choice(engine: str | None, memory: str | None, master: str | None) -> Choice:
    """Where a table is to be protected, as far as it was said."""
    return Choice.parse(engine, memory, master)


@contextmanager
def table_of(files: Sequence[Path], reading: Mapping[str, Any], choice: Choice) -> Iterator[Table]:
    """A table to look at: in memory, or, where it is too large, its columns by their values."""
    name = choice.for_files(files)
    if name == "memory":
        yield read_tables(files, **reading)
        return
    with TemporaryDirectory(prefix="shoal-") as aside, choice.opened(name) as opened, show.progress() as progress:
        yield cast(Table, DistinctValues(opened(files, Path(aside), reading, progress)))


@contextmanager
def in_parts(folder: Path, choice: Choice) -> Iterator[LoadedParts]:
    """A run folder whose release is many files, read where they are."""
    name = "duckdb" if choice.engine == "automatic" and find_spec("duckdb") else choice.engine
    with put_aside(folder.absolute().parent) as aside, choice.opened("memory" if name == "automatic" else name) as opened:
        with show.progress() as progress:
            loaded = load_parts(folder, opened, aside, progress)
        yield loaded


@contextmanager
def pair(folder: Path | None, original: Path | None, release: Path | None, key: str | None, given: Roles, choice: Choice) -> Iterator[Run]:
    """A run folder, or two files whose rows are aligned or share a key."""
    if folder is not None:
        if original or release:
            raise ParameterError("Give a run folder, or --original and --release, not both.")
        if (folder / RELEASE).is_dir():
            with in_parts(folder, choice) as loaded:
                yield loaded.run
        else:
            yield load_run(folder)
        return
    if original is None or release is None:
        raise ParameterError("Name a run folder, or give both --original and --release.")
    from shoal.runs.pairs import paired

    yield paired(original, release, key, given)
