"""Can the original be computed from what is public? Ages of small tables, in classes of three, from the release and the certificate's figures.

The intruder knows the range of ages, the method and its k, and computes every figure that is published for whatever the ages might have been.
A cell (the smallest age of a class, its second, ...) is reconstructed when only one value is left for it that the release alone left open.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest

from shoal import Release, Roles, Table
from shoal.attacks import DistanceLinkage, IntervalDisclosure, ProbabilisticLinkage
from shoal.certificate import AttackPart, MeasurePart
from shoal.measures import MEASURES
from shoal.methods import Mdav
from shoal.published import STEP, WITHHELD, Rounding
from shoal.randomness import chance_for, rng_for
from shoal.score import Knowledge

LOW, HIGH, K = 18, 80, 3
ROLES = Roles(quasi=("age",))
NEEDS_ORIGINAL = [measure() for measure in MEASURES if measure.needs == "original"]
ATTACKS = [DistanceLinkage(), ProbabilisticLinkage(), IntervalDisclosure()]
Ages = tuple[tuple[int, ...], ...]  # of each class, sorted


class Known(NamedTuple):
    """What is public, and what is looked for."""

    release: Release
    classes: list[np.ndarray]  # the released rows of each class
    ages: Ages

    def table(self, ages: Ages) -> Table:
        """The original, if these were its ages."""
        column = np.zeros(len(self.release), np.int64)
        for rows, mine in zip(self.classes, ages):
            column[self.release.source_row[rows]] = mine
        return Table.of({"age": column.tolist()})


def small_table(seed: int) -> Known:
    rng = np.random.default_rng(seed)
    rows, most = (9, 12)[seed % 2], (HIGH, 40)[seed % 3 == 0]
    table = Table.of({"age": rng.integers(LOW, most + 1, rows).tolist()})
    return _known(table)


def _known(table: Table) -> Known:
    release = Mdav(k=K).protect(table, ROLES.check(table), chance_for(1))
    released, before = release.table.number("age"), table.number("age")[release.source_row].astype(int)
    classes = [np.flatnonzero(released == mean) for mean in np.unique(released)]
    classes = [rows[np.argsort(before[rows], kind="stable")] for rows in classes]
    return Known(release, classes, tuple(tuple(before[rows].tolist()) for rows in classes))


def alike(total: int, size: int, low: int, high: int) -> Iterator[tuple[int, ...]]:
    """Every sorted tuple of ages in the range with this sum."""
    if size == 1:
        if low <= total <= high:
            yield (total,)
        return
    for first in range(low, min(high, total // size) + 1):
        for rest in alike(total - first, size - 1, first, high):
            yield (first, *rest)


class Candidates(NamedTuple):
    """All that the release leaves open, class by class, and statistics that add up over classes: so combinations are tried by the million."""

    of_class: list[np.ndarray]  # tuples x positions
    sums: list[np.ndarray]  # tuples x (|x - m|, x², |x - m| / x)
    rows: int
    total: int

    @staticmethod
    def of(known: Known) -> "Candidates":
        """Mdav on one column makes classes that do not overlap: nobody is below the mean of the class before, or above that of the next."""
        means = [sum(mine) / len(mine) for mine in known.ages]
        lows, highs = [LOW, *map(math.ceil, means[:-1])], [*map(math.floor, means[1:]), HIGH]
        of_class = [np.array([*alike(sum(m), len(m), a, b)]) for m, a, b in zip(known.ages, lows, highs)]
        sums = [np.stack([np.abs(x - m), x**2, np.abs(x - m) / x], axis=2).sum(axis=1) for x, m in zip(of_class, means)]
        return Candidates(of_class, sums, len(known.release), sum(map(sum, known.ages)))

    def number(self) -> int:
        """Of combinations."""
        return math.prod(map(len, self.of_class))

    def combinations(self, most: int, rng: np.random.Generator) -> np.ndarray:
        """Which tuple of each class: all, or as many as asked for, drawn at random."""
        sizes = [len(one) for one in self.of_class]
        if self.number() <= most:
            return np.stack(np.unravel_index(np.arange(self.number()), sizes), axis=1)
        return np.stack([rng.integers(0, size, most) for size in sizes], axis=1)

    def apart(self, chosen: np.ndarray) -> np.ndarray:
        """Whether classes do not overlap."""
        ends = [(one[chosen[:, c], 0], one[chosen[:, c], -1]) for c, one in enumerate(self.of_class)]
        return np.all([high <= low for (_, high), (low, _) in pairwise(ends)], axis=0)

    def losses(self, chosen: np.ndarray) -> np.ndarray:
        """il1s, sse-ratio, il1 and structural utility of each combination, as the measures compute them."""
        moved, squares, relative = sum(sums[chosen[:, c]] for c, sums in enumerate(self.sums)).T
        spread = squares - self.total**2 / self.rows
        means = sum(len(x[0]) * (x[0].sum() / len(x[0])) ** 2 for x in self.of_class)
        width = self.of_class[-1][chosen[:, -1], -1] - self.of_class[0][chosen[:, 0], 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            il1s = moved / self.rows / np.sqrt(2 * spread / (self.rows - 1))
            return np.stack([il1s, (squares - means) / spread, relative / self.rows, 1 - moved / self.rows / width], axis=1)

    def ages(self, one: np.ndarray) -> Ages:
        """A combination, written out."""
        return tuple(tuple(x[i].tolist()) for x, i in zip(self.of_class, one))

    def index(self, ages: Ages) -> np.ndarray:
        """Where the ages themselves are among the combinations."""
        return np.array([[int(np.flatnonzero((x == mine).all(axis=1))[0]) for x, mine in zip(self.of_class, ages)]])


def fits_release(known: Known, ages: Ages) -> bool:
    """Whether the method would have made this release of them."""
    table = known.table(ages)
    again = Mdav(k=K).protect(table, ROLES.check(table), chance_for(1)).table.number("age")
    return bool(np.array_equal(np.sort(again), np.sort(known.release.table.number("age"))))


def figures(known: Known, ages: Ages, rounding: Rounding | None) -> Iterator[Any]:
    """Whatever the certificate and the public report would say if these were the ages; exactly, where nothing is rounded."""
    table = known.table(ages)
    roles = ROLES.check(table)
    release = Release.given(known.release.table, known.release.source_row, roles)
    for one in NEEDS_ORIGINAL:
        withheld = rounding is not None and one.step is None  # see test_what_has_no_step_is_withheld
        if not withheld and not one.applies(table, release, roles):
            part = MeasurePart.of(replace(one.measure(table, release, roles), needs=one.needs, step=one.step))
            yield part if rounding is None else rounding.measure(part)
    for attack in ATTACKS:
        result = AttackPart.of(attack.attack(table, release, Knowledge(roles), rng_for(1)))
        yield result if rounding is None else rounding.attack(result)


def cells_told(known: Known, most: int = 100_000) -> set[tuple[int, int]]:
    """Cells for which no other value is found that fits the release and every published figure, though others fit the release."""
    rounding, candidates, rng = Rounding(len(known.release)), Candidates.of(known), np.random.default_rng(0)
    said = [*figures(known, known.ages, rounding)]
    everything = candidates.combinations(most, rng)
    everything = everything[candidates.apart(everything)]
    truth = candidates.losses(candidates.index(known.ages))
    loss, true_loss = (np.maximum(2, np.rint(losses[:, 0] / STEP)) for losses in (candidates.losses(everything), truth))
    same = everything[loss == true_loss]
    told = _left(known, candidates, same, lambda ages: all(a == b for a, b in zip(said, figures(known, ages, rounding))))
    return told - _left(known, candidates, everything, lambda ages: True) if told else told


def _left(known: Known, candidates: Candidates, chosen: np.ndarray, fits: Callable[[Ages], bool]) -> set[tuple[int, int]]:
    """The cells that are the same in all that fit: each is open as soon as one that differs there is found."""
    left = {(c, j) for c, mine in enumerate(known.ages) for j in range(len(mine))}
    for one in chosen:
        ages = candidates.ages(one)
        differs = {(c, j) for c, j in left if ages[c][j] != known.ages[c][j]}
        if differs and fits(ages) and fits_release(known, ages):
            left -= differs
        if not left:
            break
    return left


def test_what_has_no_step_is_withheld():
    known = small_table(1)
    parts = [Rounding(99).measure(part) for part in figures(known, known.ages, None) if isinstance(part, MeasurePart)]
    assert {part.name for part in parts if part.value is not None} == {"cell-loss"}
    withheld = {(part.note, *part.per_column, *part.details) for part in parts if part.value is None}
    assert withheld == {(WITHHELD,), ("One column has no correlation.",), ("There is no target: name the column to predict.",)}


@pytest.mark.parametrize("part", range(4))
def test_nothing_is_reconstructed_from_what_is_published(part):
    """200 tables of 9 and 12 records: for every cell that the release leaves open there is another table with the same figures."""
    found = {seed: cells_told(small_table(seed)) for seed in range(part * 50, part * 50 + 50)}
    assert {seed: cells for seed, cells in found.items() if cells} == {}


@pytest.mark.parametrize("seed", range(4, 24, 2))
def test_the_search_finds_ages_from_exact_figures(seed):
    """What was wrong: of tables of nine, the exact figures of four losses leave one candidate among up to a million."""
    known = small_table(seed)
    candidates = Candidates.of(known)
    everything = candidates.combinations(5_000_000, np.random.default_rng(0))
    assert len(everything) == candidates.number()  # all of them
    truth = candidates.losses(candidates.index(known.ages))
    same = everything[candidates.apart(everything) & np.isclose(candidates.losses(everything), truth, rtol=1e-12, atol=1e-12).all(axis=1)]
    said = [*figures(known, known.ages, None)]
    left = [ages for one in same if (ages := candidates.ages(one)) == known.ages or [*figures(known, ages, None)] == said]
    assert left == [known.ages]


def test_losses_by_class_are_those_of_the_measures():
    """The search adds up what the measures compute from all records at once."""
    for seed in range(10):
        known = small_table(seed)
        candidates = Candidates.of(known)
        said = {one.name: one.value for one in figures(known, known.ages, None) if isinstance(one, MeasurePart)}
        ours = candidates.losses(candidates.index(known.ages))[0]
        assert ours == pytest.approx([said[name] for name in ("il1s", "sse-ratio", "il1", "structural-utility")])
