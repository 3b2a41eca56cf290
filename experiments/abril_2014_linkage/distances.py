"""The distances of section 5.2 on one pair of files: plain ones, and those proven to link most, with what they cost."""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from experiments.abril_2014_linkage.files import Pair, microaggregated, noisy
from shoal.kernels.linkage.aggregation import Aggregator, Bilinear, Choquet, Recount, WeightedMean, recount
from shoal.kernels.linkage.benders import solve
from shoal.kernels.linkage.hrla import hrla
from shoal.kernels.linkage.parameter_space import Family
from shoal.randomness import rng_for

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Linked(NamedTuple):
    """What one distance links, in per cent: strict (a tie is a failure), shared (a tie among m counts 1/m), and the most that is possible."""

    strict: float
    shared: float
    bound: float  # on the strict rate of its family; of a plain distance, its own
    seconds: float  # CPU
    by: Aggregator

    @property
    def gap(self) -> float:
        return self.bound - self.strict


def counted(by: Aggregator, x: FloatArray, y: FloatArray, seconds: float = 0.0) -> Linked:
    """A distance that proves nothing."""
    found: Recount = recount(by, x, y)
    return Linked(100 * found.strict_rate, 100 * found.shared_rate, 100 * found.strict_rate, seconds, by)


def arithmetic(pair: Pair) -> Linked:
    """d²AM."""
    x, y = pair.standardized()
    return counted(WeightedMean.equal(x.shape[1]), x, y)


def covariance(x: FloatArray, y: FloatArray) -> FloatArray:
    """Of the differences of true links: Var X + Var Y - Cov(X, Y) - Cov(Y, X)."""
    return np.atleast_2d(np.cov(x - y, rowvar=False))


def mahalanobis(pair: Pair) -> Linked:
    """d²MD, which needs the true links. Both files by the original's deviations: the inverse of raw covariances is badly conditioned."""
    scale = pair.original.std(axis=0)
    x, y = pair.original / scale, pair.protected / scale
    inverse = np.linalg.inv(covariance(x, y))
    return counted(Bilinear((inverse + inverse.T) / 2), x, y)


def best(x: FloatArray, y: FloatArray, family: Family, seconds: float) -> Linked:
    """The distance of a family that links most, or the best after so many seconds and a bound."""
    began = time.process_time()
    found = solve(x, y, family, seconds)
    return Linked(
        100 * found.counted.strict_rate, 100 * found.counted.shared_rate, 100 * (found.bound / len(x)), time.process_time() - began, found.aggregator
    )  # fmt: skip


def heuristic(x: FloatArray, y: FloatArray, seed: int, seconds: float) -> Linked:
    """HRLA."""
    n = x.shape[1]
    began = time.process_time()
    found = hrla(x, y, np.arange(len(x)), np.arange(n), n, rng_for(seed, "hrla"), seconds)
    return counted(Choquet(found.measure), x, y, time.process_time() - began)


@cache
def best_of(name: str, sample: int, family: Family, seconds: float) -> Linked:
    """The same for a file of section 5.4.3, once for all tables that ask for it."""
    return best(*microaggregated(name, sample).standardized(), family, seconds)


@cache
def best_of_noisy(sample: int, seconds: float) -> Linked:
    """The weighted mean of Table 5.15."""
    return best(*noisy(sample).standardized(), "weighted-mean", seconds)


def compile_kernels() -> None:
    """Outside every clock."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3))
    y = x + 0.5 * rng.normal(size=x.shape)
    for family in get_args(Family):
        solve(x, y, family, 1)
    heuristic(x, y, 0, 0.1)
