"""Releases whose rows are said to live elsewhere: a stand-in, since a Table answers all that an engine is asked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.counts import Counts, Moments
from shoal.errors import TooManyCombinations
from shoal.randomness import Chance
from shoal.release import PERSON, Release
from shoal.rows import Batch
from shoal.score import Knowledge
from shoal.table import Table


def elsewhere(original: Table, release: Release, share: float = 1.0, seed: int = 0, originals: bool = True) -> tuple[Table, Release]:
    """A draw of the originals (of persons, with all their rows), and the release that has those of its rows in memory which were made of them."""
    whose = np.arange(len(original)) if release.persons is None else original.codes(release.roles.person[0])
    rows = np.flatnonzero(np.isin(whose, drawn(int(whose.max()) + 1, share, seed)))
    place = np.full(len(original), -1)
    place[rows] = np.arange(len(rows))
    there = np.flatnonzero(place[release.source_row] >= 0)
    every = release.table
    if release.persons is not None:
        every = replace(every, arrow=every.arrow.append_column(PERSON, pa.array(release.persons)))
    originals_drawn, source_row = original.take(rows), place[release.source_row[there]]
    return originals_drawn, replace(
        release,
        table=release.table.take(there),
        source_row=source_row,
        persons=None if release.persons is None else originals_drawn.codes(release.roles.person[0])[source_row],
        rows=every,
        originals=original if originals else None,
        leaves=None,  # nobody has looked at the draw
        warnings=(),
    )


@dataclass(frozen=True)
class TooDifferent:
    """Rows that cannot be counted where they have more combinations than `most`; they come in batches."""

    table: Table
    most: int

    @property
    def columns(self) -> tuple[str, ...]:
        return self.table.columns

    def __len__(self) -> int:
        return len(self.table)

    def counts(self, columns: Sequence[str]) -> Counts:
        counts = self.table.counts(columns)
        if len(counts) > self.most:
            raise TooManyCombinations("They are too different.")
        return counts

    def moments(self, columns: Sequence[str]) -> Moments:
        return self.table.moments(columns)

    def each(self, task: Any, chance: Chance | None) -> Iterator[Any]:
        for rows in np.array_split(np.arange(len(self)), 3):
            yield task(Batch(self.table.take(rows), np.zeros(0, np.uint64), rows))


@dataclass(frozen=True)
class Knows(Knowledge):
    """An intruder who knows the records named."""

    these: tuple[int, ...] = ()

    def known_rows(self, rows: int, rng: np.random.Generator) -> np.ndarray:
        return np.array(self.these)


def drawn(many: int, share: float, seed: int = 0) -> tuple[int, ...]:
    """The originals, or persons, that `elsewhere` draws."""
    if share == 1:
        return tuple(range(many))
    return tuple(np.sort(np.random.default_rng(seed).choice(many, max(2, round(share * many)), replace=False)).tolist())
