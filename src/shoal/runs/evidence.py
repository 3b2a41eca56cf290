"""Evidence: one place that measures and one that attacks, for Python, command line, comparisons, tables and collections.

A measure or an attack says by itself whether it applies to an original and its release, and why not. Where it was asked for by name, that is an
error; where everything was asked for, a measure has no value and the reason as its note, and an attack is listed as not tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shoal.arrays import BoolArray, IntArray
from shoal.contracts import Attack, Measure, Progress, quiet
from shoal.errors import DataError, TooManyCombinations
from shoal.kernels.outliers import farthest, rank_distances, rarities
from shoal.randomness import rng_for
from shoal.registry import Kind, everything
from shoal.release import Release
from shoal.roles import Roles, level_places
from shoal.runs.drawn import by_combinations, estimated, why_not_attacked, why_not_measured
from shoal.runs.persons import one_row_each
from shoal.score import AttackResult, Knowledge, OutlierHits, Score
from shoal.table import Table

MANY_RECORDS = 20_000  # beyond these, an intruder of whom nothing else is said knows this many, drawn at random; intervals say how sure


class Subject(Protocol):
    """An original and its release, of whatever family: how its measures and attacks are asked."""

    measures: ClassVar[Kind]
    attacks: ClassVar[Kind]

    def measure(self, one: Any, secret: int) -> Score: ...
    def attack(self, one: Any, secret: int, progress: Progress) -> AttackResult: ...
    def why_not_measured(self, one: Any) -> str: ...
    def why_not_attacked(self, one: Any) -> str: ...


@dataclass(frozen=True)
class TableSubject:
    """A table and its release, and what the intruder knows: by default every quasi-identifier of all records, or of MANY_RECORDS."""

    original: Table
    release: Release
    roles: Roles
    knowledge: Knowledge | None = None
    measures: ClassVar[Kind] = "measure"
    attacks: ClassVar[Kind] = "attack"

    def __post_init__(self) -> None:
        object.__setattr__(self, "original", self.roles.read(self.original))
        if len(self.original) <= self.release.source_row.max(initial=-1):
            raise DataError("The release does not belong to this table: its rows point outside it. Give the table it was made from.")
        given = self.knowledge or Knowledge(self.roles)
        if given.records is None and len(self.original) > MANY_RECORDS:
            given = replace(given, records=MANY_RECORDS)
        object.__setattr__(self, "knowledge", given)

    def measure(self, one: Measure, secret: int) -> Score:
        """A measure of a table needs no chance. Of rows that do not fit into memory it says what a draw of them does."""
        return estimated(one, one.measure(self.original, self.release, self.roles), self.release)

    def attack(self, one: Attack, secret: int, progress: Progress) -> AttackResult:
        """Every attack has a stream of its own. Where persons are known, one that looks for records looks for persons. One that
        looks for records says beside what it finds how many outliers it finds."""
        assert self.knowledge is not None
        rng = rng_for(secret, "attack", one.name)
        alone = one_row_each(self.original, self.release, self.knowledge) if one.looks_for == "records" else None
        original, release = (self.original, self.release) if alone is None else (alone.original, alone.release)
        searched = by_combinations(original, release, self.knowledge.known_columns(), secret)
        found = searched.said(one, one.attack(original, searched.release, self.knowledge, rng, progress))
        if alone is not None:
            found = alone.of_persons(found)
        if found.risk != "linkage" or found.per_record is None:
            return found
        persons = self.original.codes(self.roles.person[0]) if found.unit == "persons" else None
        return with_outliers(found, self.outliers, persons)

    @cached_property
    def outliers(self) -> BoolArray:
        """The records farthest from the medians of the columns that the intruder knows."""
        assert self.knowledge is not None
        return farthest_records(self.original, self.roles, self.knowledge.known_columns())

    def why_not_measured(self, one: Measure) -> str:
        """Empty where it applies."""
        return one.applies(self.original, self.release, self.roles) or why_not_measured(one, self.release)

    def why_not_attacked(self, one: Attack) -> str:
        """Empty where it applies."""
        assert self.knowledge is not None
        return one.applies(self.original, self.release, self.knowledge) or why_not_attacked(
            one, self.original, self.release, self.knowledge
        )


def farthest_records(original: Table, roles: Roles, columns: Sequence[str]) -> BoolArray:
    """Numbers and ordered levels by rank, categories by how rare they are; the distance over all columns is Euclidean."""
    squared = np.zeros(len(original))
    for column in columns:
        codes, scale = original.codes(column), roles.scale(original, column)
        counts = np.bincount(codes)
        if scale == "nominal":
            far = rarities(counts)
        else:
            values = np.full(len(counts), np.nan)
            values[codes] = (
                original.number(column) if scale == "numeric" else level_places(original, column, roles.levels(original, column))
            )
            far = rank_distances(counts, values)
        squared += (far**2)[codes]
    return farthest(np.sqrt(squared))


def with_outliers(found: AttackResult, outliers: BoolArray, persons: IntArray | None = None) -> AttackResult:
    """The same with what was found of the outliers among the records tried, by the form that finds most of them. Of persons, each who has an
    outlying record counts once, as all records of a person have its risk."""
    if persons is not None:
        far = np.flatnonzero(outliers)
        outliers = np.zeros(len(outliers), np.bool_)
        outliers[far[np.unique(persons[far], return_index=True)[1]]] = True
    hits = []
    for form in found.forms or (found,):
        assert form.per_record is not None
        share = form.per_record[outliers]
        share = share[~np.isnan(share)]
        if len(share):
            hits.append(OutlierHits(len(share), float(share.sum()), form.how))
    forms = tuple(replace(form, per_record=None) for form in found.forms)  # one array for every form would be kept for nothing
    return replace(found, forms=forms, outliers=max(hits, key=lambda one: one.rate) if hits else None)


class Attacked(NamedTuple):
    """What attacks found, and which were not tried, with the reason."""

    results: list[AttackResult]
    not_tried: dict[str, str]


def measure_all(subject: Subject, measures: Sequence[Any] = (), secret: int = 0, progress: Progress = quiet) -> list[Score]:
    """The measures given, or all that are registered."""
    chosen = measures or everything(subject.measures)
    scores = []
    with threadpool_limits(1):
        for done, one in enumerate(chosen):
            progress("measuring", done, len(chosen))
            why = subject.why_not_measured(one)
            score = Score(one.name, one.title, None, one.better, note=why) if why else _measured(subject, one, secret)
            scores.append(replace(score, needs=one.needs, step=one.step))
    progress("measuring", len(chosen), len(chosen))
    return scores


def _measured(subject: Subject, one: Any, secret: int) -> Score:
    """Without a value where rows elsewhere are too different to be counted."""
    try:
        return subject.measure(one, secret)
    except TooManyCombinations as error:
        return Score(one.name, one.title, None, one.better, note=str(error))


def attack_all(subject: Subject, attacks: Sequence[Any] = (), secret: int = 0, progress: Progress = quiet) -> Attacked:
    """The attacks given, which must apply, or all that do."""
    chosen = attacks or everything(subject.attacks)
    results: list[AttackResult] = []
    not_tried: dict[str, str] = {}
    for number, one in enumerate(chosen, 1):
        why = subject.why_not_attacked(one)
        if why and attacks:
            raise DataError(why)
        if why:
            not_tried[one.name] = why
            continue

        def told(what: str, done: int, of: int, number: int = number, name: str = one.name) -> None:
            progress(f"attack {number} of {len(chosen)}, {name}: {what}", done, of)

        told("begins", 0, 1)
        with threadpool_limits(1):  # their matrices are small: threads of linear algebra would wait for each other, and burn what they wait
            try:
                results.append(subject.attack(one, secret, told))
            except TooManyCombinations as error:
                if attacks:
                    raise
                not_tried[one.name] = str(error)
        told("begins", 1, 1)
    return Attacked(results, not_tried)
