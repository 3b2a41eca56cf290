"""The pairs of files of section 5.4: originals and protected records in the same order, and what is compared of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.abril_2014.readings import RANDOM, READINGS, census, drawn, steps
from shoal import Release, Roles, Table
from shoal.contracts import Method
from shoal.kernels.linkage.aggregation import standardized
from shoal.methods import Mdav, Noise
from shoal.randomness import rng_for
from shoal.runs.recipe import apply_steps

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Section 5.4.3: blocks of consecutive columns, and the k of each.
BLOCKS = {
    "M4-33": ((2, 3), (2, 3)),
    "M4-28": ((2, 2), (2, 8)),
    "M4-82": ((2, 8), (2, 2)),
    "M5-38": ((3, 3), (2, 8)),
    "M6-385": ((2, 3), (2, 8), (2, 5)),
    "M6-853": ((2, 8), (2, 5), (2, 3)),
}
# Table 5.14, by the names of section 5.4.2.
INTRUDED = {
    **{f"RS-{p}": ("Rank swapping", p) for p in (20, 15, 12, 5, 4)},
    **{f"Mic3-{k}": ("Mic3", k) for k in (9, 5, 8)},
    **{f"Mic4-{k}": ("Mic4", k) for k in (4, 8, 5)},
    "MicZ-3": ("MicZ", 3),
    **{f"Noise-{p}": ("Additive noise", p) for p in (16, 12, 1)},
}
TRAIN = 200


class Pair(NamedTuple):
    """Originals and, row by row, their protected records, both as they are."""

    original: FloatArray
    protected: FloatArray

    def standardized(self) -> tuple[FloatArray, FloatArray]:
        """As (5.5) compares them: each file by its own means and deviations."""
        return standardized(self.original, self.protected)


def _numbers(table: Table) -> FloatArray:
    return np.column_stack([table.number(name) for name in table.columns])


def _aligned(release: Release) -> FloatArray:
    """The protected records in the order of the originals."""
    return _numbers(release.table)[np.argsort(release.source_row)]


def _protected(table: Table, masking: Sequence[Method], seed: int) -> FloatArray:
    return _aligned(apply_steps(table, Roles(quasi=table.columns).check(table), masking, seed))


def uniform(method: str, parameter: int, reading: str, samples: int) -> Iterator[Pair]:
    """Section 5.4.2, with the samples, seeds and readings of `experiments.abril_2014`; the intruder looks among the sampled records."""
    table, read = census(), READINGS[reading]
    masking = steps(method, parameter, read.standardize)
    whole = None
    for sample in range(samples):
        rows = drawn(sample)
        mine = table.take(rows)
        if read.files == "first":
            yield Pair(_numbers(mine), _protected(mine, masking, sample))
            continue
        if whole is None or method in RANDOM:
            whole = _protected(table, masking, sample)
        yield Pair(_numbers(mine), whole[rows])


@cache
def microaggregated(name: str, sample: int) -> Pair:
    """Section 5.4.3: 400 records, raw values microaggregated in blocks of columns."""
    table = census()
    blocks = BLOCKS[name]
    mine = table.without(table.columns[sum(width for width, _ in blocks) :]).take(drawn(sample))
    masking, at = [], 0
    for width, k in blocks:
        masking.append(Mdav(k=k, columns=mine.columns[at : at + width], standardize="none"))
        at += width
    return Pair(_numbers(mine), _protected(mine, masking, sample))


@cache
def noisy(sample: int) -> Pair:
    """Section 5.4.5: 400 records, noise of j per cent of the deviation on column j."""
    mine = census().take(drawn(sample))
    masking = [Noise(p=(j + 1) / 100, columns=[name]) for j, name in enumerate(mine.columns)]
    return Pair(_numbers(mine), _protected(mine, masking, sample))


@cache
def intruded(name: str, seed: int) -> Pair:
    """Table 5.14: all 1080 records protected, in deviations where they are grouped."""
    table = census()
    return Pair(_numbers(table), _protected(table, steps(*INTRUDED[name], "deviation"), seed))


def sides(seed: int) -> tuple[IntArray, IntArray]:
    """Which 200 links the intruder knows, and the 880 to find."""
    order = rng_for(2014, "known links", seed).permutation(len(census()))
    return np.sort(order[:TRAIN]), np.sort(order[TRAIN:])
