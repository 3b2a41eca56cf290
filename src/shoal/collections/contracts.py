"""What a method, a measure and an attack of collections are. Whatever satisfies one and is registered is run, reported and checked."""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

from numpy.random import Generator

from shoal.collections.release import CollectionRelease, Terms
from shoal.collections.side_by_side import no_common_terms
from shoal.collections.space import Space
from shoal.contracts import Named, Progress, quiet
from shoal.params import Params
from shoal.score import AttackResult, Better, Needs, Risk, Score


@runtime_checkable
class CollectionMethod(Named, Protocol):
    """Protects: takes a space, gives a release. One whose terms are meanings has `concepts(space)`, the documents as it sees them."""

    guarantees: ClassVar[tuple[str, ...]]
    terms_are: ClassVar[Terms]

    def protect(self, space: Space, rng: Generator, progress: Progress = quiet) -> CollectionRelease: ...


class CollectionMeasure(Params):
    """Says in a number what a release costs, or what its clusters give away."""

    better: ClassVar[Better]
    needs: ClassVar[Needs] = "original"
    step: ClassVar[float | None] = None

    def applies(self, space: Space, release: CollectionRelease) -> str:
        """Empty, or a sentence saying why there is nothing to measure. Most compare documents with released rows."""
        return no_common_terms(space, release)

    def measure(self, space: Space, release: CollectionRelease, rng: Generator) -> Score:
        """Where it does not apply, a DataError with that sentence."""
        raise NotImplementedError

    def warning(self, score: Score, release: CollectionRelease) -> str:
        """What a careful colleague would say of the score before the release leaves; empty where nothing."""
        return ""


class CollectionAttack(Params):
    """Attacks a release, and says how blind guessing would have done."""

    risk: ClassVar[Risk]

    def applies(self, space: Space, release: CollectionRelease, outsiders: Space | None = None) -> str:
        """Empty, or a sentence saying why it cannot be tried. Most compare documents with released rows."""
        return no_common_terms(space, release)

    def attack(
        self, space: Space, release: CollectionRelease, rng: Generator, progress: Progress = quiet, outsiders: Space | None = None
    ) -> AttackResult:
        """Where it does not apply, a DataError with that sentence. `outsiders` are documents that are not in the release."""
        raise NotImplementedError

    def warning(self, result: AttackResult, release: CollectionRelease) -> str:
        """What a careful colleague would say of the result before the release leaves; empty where nothing."""
        return ""
