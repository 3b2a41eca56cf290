"""The contracts. Whatever satisfies one and is registered works on the command line, in recipes, reports and experiments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from numpy.random import Generator

from shoal.arrays import IntArray
from shoal.bins import Bins, Extent
from shoal.counts import Counts, Moments
from shoal.document import Document, Finding
from shoal.parts import Part, Parts
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles
from shoal.rows import Batch
from shoal.score import AttackResult, Better, Knowledge, LooksFor, Needs, Risk, Score
from shoal.table import Kind, Table

if TYPE_CHECKING:
    import pyarrow as pa

# What a method needs to see at once: each row by itself, counts of distinct rows, its own blocks of rows, or the whole table.
Scope = Literal["row", "counts", "block", "table"]
Item = TypeVar("Item")
One = TypeVar("One")


class Progress(Protocol):
    """Told how far a long job is. `quiet` for nobody."""

    def __call__(self, what: str, done: int, of: int) -> None: ...


def quiet(what: str, done: int, of: int) -> None:
    """Nobody is watching."""


class Workers(Protocol):
    """Do a task for every item: what it makes of them, in their order. At the end of the `with` nobody works any more, however it ends.

    Tasks and items are plain values that can be sent to another process, and what a task makes does not depend on who does it.
    """

    def __call__(self, task: Callable[[Item], One], items: Iterable[Item], /) -> AbstractContextManager[Iterator[One]]: ...


@contextmanager
def here(task: Callable[[Item], One], items: Iterable[Item], /) -> Iterator[Iterator[One]]:
    """In this process, one after the other."""
    yield map(task, items)


@runtime_checkable
class Source(Protocol):
    """Rows, wherever they live. A Table is one, with a single batch; an engine is another, and never changes a result."""

    @property
    def columns(self) -> tuple[str, ...]: ...
    @property
    def orders(self) -> Mapping[str, tuple[str, ...]]: ...
    def __len__(self) -> int: ...
    def kind(self, name: str) -> Kind: ...
    def extent(self, column: str) -> Extent | None:
        """What decides whether a column of numbers or dates is cut into bins first; None where it has no value."""
        ...

    def counts(self, columns: Sequence[str], bins: Bins | None = None) -> Counts:
        """The distinct combinations and their rows. Columns with bins are cut first, or into coarser ones where counts would not fit into memory:
        the table of the counts knows which."""
        ...

    def moments(self, columns: Sequence[str]) -> Moments: ...
    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]:
        """What a task makes of each batch of rows, in their order; `chance` is what rows draw from, None where nothing is drawn."""
        ...


class Elsewhere(Source, Protocol):
    """Rows that do not fit into memory, in files that an engine reads: what a run needs of them besides."""

    @property
    def like(self) -> Table:
        """A table without rows: what tables of these rows have in common."""
        ...

    @property
    def parts(self) -> Parts: ...
    @property
    def given(self) -> tuple[Part, ...]:
        """The files that were named, before anything was made of them."""
        ...

    def distinct(self, column: str) -> int: ...
    def forget_plan(self) -> None:
        """What was counted for a method to decide on, and what nobody asks for after it, leaves memory."""
        ...

    def grouped(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Distinct rows of some columns as they are in the files, each with how many rows have it in a last column."""
        ...

    def over(self, paths: Sequence[Path], like: Table) -> Elsewhere:
        """The rows of other files."""
        ...

    def changed(self, change: Callable[[Batch], Changed], chance: Chance | None) -> tuple[Elsewhere, list[Changed]]:
        """The rows that a change makes of each batch; and what it said of each, its rows aside."""
        ...

    def by_block(
        self, block_of: Callable[[Table], IntArray], many: int, change: Callable[[Table], Mapping[str, Any]]
    ) -> tuple[Elsewhere, list[Changed]]:
        """The rows of each block with the columns that a change makes of them; and which rows of all each block has."""
        ...

    def released(
        self, change: Callable[[Batch], Changed], finish: Callable[[pa.Table], pa.Table], chance: Chance | None, order: Chance, out: Path
    ) -> Written:
        """The rows as `change` leaves them, in a keyed order, in files of a folder; `finish` makes of a file's rows what is written."""
        ...


class Changed(NamedTuple):
    """What became of a batch: its rows now, which row of all rows each was, and what was counted meanwhile."""

    table: Table
    rows: IntArray
    tally: Mapping[str, int] = {}


class Written(NamedTuple):
    """Files of released rows, which row of all each was, and what was counted meanwhile."""

    paths: list[Path]
    source_row: IntArray
    tallies: list[Mapping[str, int]]


class Engine(Protocol):
    """Where tasks run and rows of files are counted. It knows nothing of what is computed, so no result depends on it."""

    name: ClassVar[str]

    def each(self, task: Callable[[Item], One], items: Sequence[Item]) -> Iterator[One]:
        """What a task makes of each item, in their order. A task may run anywhere that reads the same files, and more than once."""
        ...

    def grouped(self, parts: Parts, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Distinct rows of some columns, each with how many rows have it in a last column; a combination may come in several pieces."""
        ...

    def distinct(self, parts: Parts, column: str) -> int: ...
    def numbered(self, ids: Parts, out: Path) -> None:
        """Of files with columns row and id, a file with the number of each row among those of its id beside them, in the order of rows."""
        ...

    def close(self) -> None: ...


class Named(Protocol):
    """What every registered thing has: a name, parameters that are its own fields, and an explanation."""

    name: ClassVar[str]
    title: ClassVar[str]

    def given(self) -> dict[str, Any]: ...
    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Named: ...
    @classmethod
    def summary(cls) -> str: ...
    @classmethod
    def reference(cls) -> list[tuple[str, str, str, str]]: ...


@runtime_checkable
class Method(Named, Protocol):
    """Protects: takes rows, gives a release. It never measures, and never changes what it was given."""

    scope: ClassVar[Scope]
    guarantees: ClassVar[tuple[str, ...]]
    adds: ClassVar[tuple[str, ...]]  # columns it adds where its rows are patterns and no longer records; most add none
    finds: ClassVar[
        tuple[str, ...]
    ]  # what its search tells of itself in the certificate, by name: whole numbers, and levels by column; most search nothing
    counts_persons: ClassVar[bool]  # whether it counts different persons where `roles.person` says whose each row is; most count rows

    def reads(self, roles: Roles) -> tuple[str, ...]:
        """The columns it looks at: those it protects, and others that decide how."""
        ...

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """The columns it protects along their hierarchy; most follow none."""
        ...

    def protect(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Release: ...


@runtime_checkable
class Measure(Named, Protocol):
    """Measures what a release costs, or what it gives away by its classes. It never protects."""

    better: ClassVar[Better]
    needs: ClassVar[Needs]  # release: it looks at nothing else, so its figures are published exactly
    step: ClassVar[float | None]  # in which it is published under 100 records; None: not at all, as is best for all but one

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Empty, or a sentence saying why there is nothing to measure."""
        ...

    def measure(self, original: Table, release: Release, roles: Roles) -> Score: ...


@runtime_checkable
class Attack(Named, Protocol):
    """Attacks a release with stated knowledge, and says how blind guessing would have done."""

    risk: ClassVar[Risk]
    looks_for: ClassVar[LooksFor]

    def applies(self, original: Table, release: Release, knowledge: Knowledge) -> str:
        """Empty, or a sentence saying why it cannot be tried."""
        ...

    def attack(
        self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet
    ) -> AttackResult: ...


@runtime_checkable
class Detector(Protocol):
    """Finds what should perhaps not leave a document. Detectors know nothing of each other, nor of redaction."""

    name: ClassVar[str]

    def detect(self, document: Document) -> list[Finding]: ...
