"""The distance that links most records, proven: combinatorial Benders (Codato & Fischetti 2006) for (5.2) to (5.4) of Abril (2014).

A set of records that cannot all be linked by any distance of the family is a cut: one of them must be given up. The least number of
records that meets every cut, a minimum set cover, bounds the number of failures from below; a distance that is found bounds it from
above. The master (HiGHS) covers the cuts known so far; the game of `margins` then either links all records left, which is the optimum, or
mixes candidates into a proof that it cannot be done, whose records are the next cut. No big M and no epsilon stand between the model and
the truth: a tie is never a link.

Covers grow weak where many records fail. For weighted mean and OWA, whose parameters are few, the cells of `simplices` then take over.

Bounds hold at any time. What is returned was counted from the parameters.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.linkage.aggregation import MOST_ATTRIBUTES, OWA, TIE, Aggregator, Bilinear, Choquet, Recount, WeightedMean, recount
from shoal.kernels.linkage.cover import Cover
from shoal.kernels.linkage.margins import Game, UnsettledError
from shoal.kernels.linkage.parameter_space import Family, ParameterSpace
from shoal.kernels.linkage.simplices import DONE, FOUND, OPEN, Pass

Progress = Callable[[int, int], object]

WHOLE = 1 << 50  # shares of a proof are whole numbers out of this many
PATIENCE = 3.0  # seconds of work on covers before cells are tried
THRESHOLDS = (0.5, 0.1, 0.3, 0.6)  # which fractional covers count as giving a record up, in turn


class Cut(NamedTuple):
    """Records that cannot all be linked, and why: wrong links whose margins, added up by these shares, leave nothing to win."""

    records: tuple[int, ...]
    links: tuple[tuple[int, int], ...]  # original row, wrong protected row
    shares: tuple[int, ...]
    constraints: tuple[tuple[tuple[int, int], ...], ...] = ()  # on a fuzzy measure: sets and signs of each that is used
    constraint_shares: tuple[int, ...] = ()


class Cells(NamedTuple):
    """The simplex of weights cut into parts, and the mixtures that leave nothing to win in each.

    Of a cell that is cut: two corners, and at which of 64 places between them; else -1. Cells stand in the order in which they were met: of
    two halves, the one without the second corner first. Shares are of margins as they are, not divided by the largest square as a `Cut`'s.
    """

    split: IntArray
    cuts: IntArray  # per cell, where its mixtures end
    links: IntArray  # per mixture, where its links end
    original: IntArray
    wrong: IntArray
    share: IntArray

    def listed(self) -> list[list[Any]]:
        """Every cell as its split, or nothing, and its mixtures as links with shares."""
        link = np.column_stack([self.original, self.wrong, self.share]).tolist()
        mixtures = [link[first:last] for first, last in zip([0, *self.links.tolist()], self.links.tolist(), strict=False)]
        ends = self.cuts.tolist()
        return [
            [split if split[0] >= 0 else [], mixtures[first:last]]
            for split, first, last in zip(self.split.tolist(), [0, *ends], ends, strict=False)
        ]


@dataclass(frozen=True, eq=False)
class Exact:
    """The best distance found, how many records any distance of the family can link at most, and the proof of it."""

    family: Family
    k_additive: int
    aggregator: Aggregator
    counted: Recount
    bound: int
    cuts: tuple[Cut, ...]
    cells: Cells | None  # where covers alone do not prove the bound
    seconds: float

    @property
    def linked(self) -> int:
        """Records linked strictly, recounted from the parameters."""
        return int(self.counted.strict.sum())

    @property
    def gap(self) -> int:
        """How many more records some distance of the family might link."""
        return self.bound - self.linked

    @property
    def proven(self) -> bool:
        """Whether no distance of the family links more."""
        return self.gap == 0

    def certificate(self) -> dict[str, Any]:
        """All a stranger with both files needs to check the result, in plain lists and numbers: see tests/linkage_proof.py."""
        match self.aggregator:
            case Bilinear(matrix):
                parameters = matrix
            case Choquet(measure):
                parameters = measure
            case WeightedMean(weights) | OWA(weights):
                parameters = weights
        return {
            "family": self.family,
            "k_additive": self.k_additive,
            "parameters": parameters.tolist(),
            "linked": np.flatnonzero(self.counted.strict).tolist(),
            "bound": self.bound,
            "cuts": [
                {
                    "links": [list(link) for link in cut.links],
                    "shares": list(cut.shares),
                    "constraints": [[list(term) for term in constraint] for constraint in cut.constraints],
                    "constraint_shares": list(cut.constraint_shares),
                }
                for cut in self.cuts
            ],
            "cells": self.cells.listed() if self.cells is not None else [],
        }


def solve(
    original: ArrayLike,
    protected: ArrayLike,
    family: Family,
    seconds: float,
    k_additive: int = 0,
    start: Aggregator | None = None,
    progress: Progress | None = None,
) -> Exact:
    """The distance of a family that links most original records to the protected row of the same number.

    Protected rows beyond the original's are the true link of nobody, and in everybody's way. Differences are taken as given: standardize
    both files first where attributes differ in scale. After `seconds` the best so far is returned with its bound, at once if that is 0.
    `k_additive` limits a fuzzy measure to interactions of so many attributes; `start` is a distance to begin with. `progress` is told the
    best and the bound.
    """
    x, y = _checked(original, protected, family, k_additive)
    search = _Search(ParameterSpace(family, x.shape[1], k_additive), x, y, seconds, progress)
    if start is not None:
        search.offer(search.space.parameters(start))
    search.run()
    aggregator, counted = search.settle()
    bound = max(len(x) - search.failures, int(counted.strict.sum()))
    cells = search.cells()
    cuts = tuple(cut for cut in search.cuts.values() if cells is None or len(cut.records) == 1)  # cells rest on nothing else
    return Exact(family, k_additive, aggregator, counted, bound, cuts, cells, search.spent())


def _checked(original: ArrayLike, protected: ArrayLike, family: Family, k_additive: int) -> tuple[FloatArray, FloatArray]:
    x, y = np.ascontiguousarray(original, np.float64), np.ascontiguousarray(protected, np.float64)
    if x.ndim != 2 or y.ndim != 2 or x.shape[1] != y.shape[1] or x.shape[1] == 0:
        raise ValueError("Both files need the same attributes, one at least.")
    if not 0 < len(x) <= len(y):
        raise ValueError(f"Row i of the original needs row i of the protected file, its true link. Got {len(x)} and {len(y)} rows.")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("Distances need finite numbers, and some values are missing or infinite. Fill them in first.")
    n = x.shape[1]
    if not 0 <= k_additive <= n:
        raise ValueError(f"A k-additive measure of {n} attributes needs k from 1 to {n}, got {k_additive}.")
    if k_additive and not family.startswith("choquet"):
        raise ValueError("Only a fuzzy measure (choquet) can be k-additive.")
    if family.startswith("choquet") and n > MOST_ATTRIBUTES:
        raise ValueError(
            f"A fuzzy measure of {n} attributes has 2^{n} weights. Use {MOST_ATTRIBUTES} attributes at most, or another aggregator."
        )
    unit = 2.0 ** -np.frexp(max(np.abs(x).max(), np.abs(y).max()))[1]  # exact, and squares neither vanish nor overflow
    return x * unit, y * unit


class _Search:
    """Incumbent, cuts and bound of one problem. Records are given up (1 in the cover) or linked (0)."""

    def __init__(self, space: ParameterSpace, x: FloatArray, y: FloatArray, seconds: float, progress: Progress | None) -> None:
        self.began, self.seconds, self.progress = time.monotonic(), seconds, progress
        self.space, self.x, self.y = space, x, y
        self.game = Game(space, x, y)
        self.terms = space.terms() if space.family.startswith("choquet") else []
        self.hopeless = self.game.candidates.hopeless.copy()
        self.cuts: dict[tuple[int, ...], Cut] = {}
        for i in np.flatnonzero(self.hopeless).tolist():
            try:
                self.cuts[(i,)] = self.alone(i)
            except UnsettledError:
                self.hopeless[i] = False  # without a proof it is a record like any other
        self.failures = int(self.hopeless.sum())  # at least so many
        self.used = np.zeros(len(x), np.int64)
        self.cover: Cover | None = None
        self.walked: Pass | None = None  # the cells that prove `failures`, where covers do not
        self.linked = np.zeros(len(x), np.bool_)
        self.theta = space.centre()
        self.offer(self.theta)

    def spent(self) -> float:
        return time.monotonic() - self.began

    def left(self) -> float:
        return self.seconds - self.spent()

    def open(self) -> bool:
        """Whether the bounds are apart and there is time."""
        return self.failures < len(self.x) - int(self.linked.sum()) and self.left() > 0

    def offer(self, theta: FloatArray) -> BoolArray:
        """The records these parameters link; they become the incumbent's if they are more."""
        linked: BoolArray = (self.game.least(theta) > TIE) & ~self.hopeless
        if linked.sum() > self.linked.sum():
            self.linked, self.theta = linked, theta.copy()
        return linked

    def better(self, theta: FloatArray) -> bool:
        """Whether these parameters link more than the incumbent, which they then are."""
        before = int(self.linked.sum())
        self.offer(theta)
        return int(self.linked.sum()) > before

    def run(self) -> None:
        if not self.open():
            return
        self.cover = Cover(self.hopeless)
        cover = np.zeros(len(self.x))
        try:
            self.learn(self.linked.copy(), cover)
            before, stale, turn = -1.0, 0, 0
            cells = self.space.family in ("weighted-mean", "owa") and self.space.n > 1  # still to be tried
            began = time.process_time()
            while self.open():
                worked = time.process_time() - began
                if cells and worked > PATIENCE:
                    cells = False
                    self.walk(self.left() * 0.9)
                    continue
                limit = min(self.left(), max(PATIENCE - worked, 0.1)) if cells else self.left()
                whole = stale >= 2
                cover, bound = self.cover.whole(limit, ~self.linked) if whole else self.cover.relaxed(limit)
                self.raise_bound(bound)
                if not self.open():
                    break
                if whole:
                    if self.learn(cover < 0.5, cover) == 0 and self.open() and not cells:
                        break  # met by a cover that is not the optimum: only rounding, or the clock, brings this about
                    continue
                new = self.learn(cover < 1e-6, cover) + self.learn(cover < THRESHOLDS[turn % len(THRESHOLDS)], cover)
                stale = stale + 1 if bound - before < 0.1 or new <= 2 else 0
                before, turn = bound, turn + 1
        except UnsettledError:
            return  # what is known so far stays true

    def raise_bound(self, failures: float) -> None:
        """At least so many records fail."""
        if np.ceil(failures - 1e-6) > self.failures:
            self.failures, self.walked = int(np.ceil(failures - 1e-6)), None
        if self.progress is not None:
            self.progress(int(self.linked.sum()), len(self.x) - self.failures)

    def walk(self, seconds: float) -> None:
        """Cells: prove that no weights close a third of the gap between the bounds, or find some; then half of what is left, and so on.

        A modest first step leaves something where the next is beyond the clock or the log.
        """
        until = self.spent() + seconds
        _, value, offset = self.game.rows
        rows, record = np.column_stack([value + offset[:, None], offset]) - TIE, self.game.record
        kept = ~self.hopeless[record]
        rows, record = rows[kept], record[kept]
        parts = 3
        while self.open() and self.spent() < until:
            target = self.failures + -(-(len(self.x) - int(self.linked.sum()) - self.failures) // parts)
            cells = Pass(rows, record, target - int(self.hopeless.sum()))
            while (state := cells.walk()) == OPEN and self.spent() < until and self.left() > 0:
                pass
            if state == DONE:
                self.raise_bound(target)
                self.walked, parts = cells, 2
            elif state != FOUND or not self.better(cells.weights[:-1]):
                return  # out of time or room

    def cells(self) -> Cells | None:
        """The cells that prove the bound, if cells do."""
        if self.walked is None:
            return None
        log = self.walked.log
        cells, cuts, links = log.size.tolist()
        row = np.flatnonzero(~self.hopeless[self.game.record])[log.row[:links]]
        i, j = self.game.record, self.game.candidates.rows
        largest = np.maximum(((self.x[i] - self.y[j]) ** 2).max(axis=1), ((self.x[i] - self.y[i]) ** 2).max(axis=1))
        share = log.share[:links] / largest[row]
        ends = log.links[:cuts]
        if cuts:
            first = np.concatenate([[0], ends[:-1]])
            share /= np.repeat(np.maximum.reduceat(share, first), ends - first)
        return Cells(log.split[:cells], log.cuts[:cells], ends, i[row], j[row], np.round(share * WHOLE).astype(np.int64))

    def learn(self, chosen: BoolArray, cover: FloatArray) -> int:
        """Give up records until the rest can be linked, then take back what can be; every refusal is a cut. Returns how many are new."""
        chosen = chosen & ~self.hopeless
        before = len(self.cuts)
        while self.left() > 0 and self.game.margin(chosen, TIE) <= TIE:
            chosen[list(self.cut())] = False
        if self.left() <= 0:
            return len(self.cuts) - before
        if chosen.any():
            chosen |= self.offer(self.game.theta)
        rest = np.flatnonzero(~chosen & ~self.hopeless)
        for i in rest[np.lexsort((self.used[rest], cover[rest]))]:
            if self.left() <= 0:
                break
            if not chosen[i]:
                chosen[i] = True
                if self.game.margin(chosen, TIE) > TIE:
                    chosen |= self.offer(self.game.theta)
                else:
                    self.cut()
                    chosen[i] = False
        return len(self.cuts) - before

    def cut(self) -> tuple[int, ...]:
        """The records of the last proof, without those it can do without."""
        records = sorted(self.game.records().tolist(), key=lambda i: self.used[i])
        proof = self.proof()
        chosen = np.zeros(len(self.x), np.bool_)
        at = 0
        while at < len(records) and len(records) > 1:
            chosen[:] = False
            chosen[records] = True
            chosen[records[at]] = False
            if self.game.margin(chosen, TIE) <= TIE:
                needed = set(self.game.records().tolist())
                records = [i for i in records if i in needed]
                proof = self.proof()
            else:
                at += 1
        found = tuple(sorted(records))
        if found not in self.cuts:
            self.cuts[found] = proof
            self.used[list(found)] += 1
            assert self.cover is not None
            self.cover.add(found)
        return found

    def alone(self, i: int) -> Cut:
        """The cut of a record whose wrong link always wins; why it does is plain but for a fuzzy measure."""
        if self.terms:
            self.game.margin(np.arange(len(self.x)) == i, TIE)
            return self.proof()
        return Cut((i,), ((i, int(self.game.candidates.rows[self.game.candidates.start[i]])),), (WHOLE,))

    def proof(self) -> Cut:
        """The last mixture in whole shares."""
        mixture = self.game.mixture()
        records = self.game.record[mixture.rows]
        links = tuple(zip(records.tolist(), self.game.candidates.rows[mixture.rows].tolist(), strict=True))
        cut = Cut(tuple(np.unique(records).tolist()), links, _whole(mixture.shares))
        if not self.terms:
            return cut
        constraints = tuple(tuple(sorted(self.terms[t].items())) for t in mixture.constraints)
        return cut._replace(constraints=constraints, constraint_shares=_whole(mixture.constraint_shares))

    def settle(self) -> tuple[Aggregator, Recount]:
        """The incumbent with its margins as wide as they go and every attribute counting a little, recounted."""
        theta = self.theta
        if self.left() > 0 and self.linked.any():
            try:
                if self.game.margin(self.linked) > TIE:
                    theta = self.game.theta.copy()
            except UnsettledError:
                theta = self.theta
        centre, best = self.space.centre(), None
        for share in (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0):
            aggregator = self.space.aggregator((1 - share) * theta + share * centre)
            counted = recount(aggregator, self.x, self.y)
            if best is None or counted.strict.sum() > best[1].strict.sum():
                best = aggregator, counted
            if best[1].strict.sum() >= self.linked.sum():
                break
        assert best is not None
        return best


def _whole(shares: FloatArray) -> tuple[int, ...]:
    return tuple(round(float(share) * WHOLE) for share in shares)
