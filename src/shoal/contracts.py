"""The contracts. Whatever satisfies one and is registered works on the command line, in recipes, reports and experiments."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

from numpy.random import Generator

from shoal.bins import Bins, Extent
from shoal.counts import Counts, Moments
from shoal.document import Document, Finding
from shoal.randomness import Chance
from shoal.release import Release
from shoal.roles import Roles
from shoal.rows import Batch
from shoal.score import AttackResult, Better, Knowledge, LooksFor, Needs, Risk, Score
from shoal.table import Kind, Table

# What a method needs to see at once: each row by itself, counts of distinct rows, its own blocks of rows, or the whole table.
Scope = Literal["row", "counts", "block", "table"]
One = TypeVar("One")


class Progress(Protocol):
    """Told how far a long job is. `quiet` for nobody."""

    def __call__(self, what: str, done: int, of: int) -> None: ...


def quiet(what: str, done: int, of: int) -> None:
    """Nobody is watching."""


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


class Named(Protocol):
    """What every registered thing has: a name, parameters that are its own fields, and an explanation."""

    name: ClassVar[str]
    title: ClassVar[str]

    def given(self) -> dict[str, Any]: ...
    @classmethod
    def parse(cls, given: Mapping[str, object]) -> "Named": ...
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
