"""Aggregators: how the differences of two records, attribute by attribute, become one distance (Abril 2014, sections 2.1 and 5.2).

Four families, each a frozen value that keeps its constraints from the moment it is made:

* `WeightedMean` and `OWA` take n weights, not negative, that sum to 1. The weighted mean weighs attributes, the OWA weighs ranks: its
  first weight goes to the largest difference. Neither is a case of the other.
* `Choquet` takes a fuzzy measure: a weight for every set of attributes, indexed by a bit mask (attribute l is bit l, so the set of the
  first, third and fifth of five is number 21). Additive measures give the weighted mean, symmetric ones the OWA.
* `Bilinear` takes a symmetric matrix. It is a distance where that matrix is positive semi-definite.

The first three read SQUARED differences, `Bilinear` reads SIGNED ones; `of_differences` squares where that is needed. All of them return
squared distances: as thresholds and nearest records they are as good as their roots, as metrics only the roots can do.

Sums run over the attributes from left to right, so that equal records get equal distances to the last bit.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import BoolArray, FloatArray
from shoal.kernels.linkage.fuzzy_measures import halves, mobius, monotone_hull, set_sizes, zeta

Name = Literal["weighted-mean", "owa", "bilinear", "choquet"]

TIE = 1e-9  # distances that differ by less, relative to the largest squared difference they are made of, are a tie
TOLERANCE = 1e-9  # how far a learned parameter may miss an equation; inequalities are held exactly where they can be
MOST_ATTRIBUTES = 12  # of a fuzzy measure: 2^n weights


class Properties(NamedTuple):
    """Which lines of Definition 2.10 hold for all records; all four make a metric, all but the second a pseudo-metric."""

    non_negativity: bool
    identity: bool  # only equal records are at distance zero
    symmetry: bool
    triangle: bool


@dataclass(frozen=True, eq=False)
class WeightedMean:
    """The mean of squared differences with a weight for every attribute (Definition 5.2)."""

    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _frozen(self.weights, 1, "weights"))
        self.check()

    @classmethod
    def equal(cls, n: int) -> Self:
        """The arithmetic mean (Definition 5.1)."""
        return cls(np.full(n, 1 / n))

    @property
    def attributes(self) -> int:
        return len(self.weights)

    def constraints(self) -> dict[str, bool]:
        """What the parameters must satisfy, and whether they do."""
        return _weight_constraints(self.weights)

    def check(self) -> None:
        """Say which constraint is violated, if one is."""
        _check("weighted mean", self.constraints())

    def distance(self, squared: ArrayLike) -> FloatArray:
        """The squared distance for squared differences, attributes along the last axis."""
        return _weighted(_values(squared, self.attributes), self.weights)

    def of_differences(self, differences: ArrayLike) -> FloatArray:
        """The squared distance for signed differences."""
        return self.distance(np.square(differences))

    def properties(self) -> Properties:
        """Of the squared distance."""
        return Properties(True, bool((self.weights > 0).all()), True, False)

    def root_properties(self) -> Properties:
        """Of its root: a norm, which forgets an attribute of weight zero."""
        return self.properties()._replace(triangle=True)


@dataclass(frozen=True, eq=False)
class OWA:
    """The ordered weighted average of squared differences, the largest first (Definitions 2.2 and 5.3, in the order of 2.2)."""

    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _frozen(self.weights, 1, "weights"))
        self.check()

    @property
    def attributes(self) -> int:
        return len(self.weights)

    def constraints(self) -> dict[str, bool]:
        """What the parameters must satisfy, and whether they do."""
        return _weight_constraints(self.weights)

    def check(self) -> None:
        """Say which constraint is violated, if one is."""
        _check("OWA", self.constraints())

    def distance(self, squared: ArrayLike) -> FloatArray:
        """The squared distance for squared differences, attributes along the last axis."""
        return _weighted(np.sort(_values(squared, self.attributes), axis=-1)[..., ::-1], self.weights)

    def of_differences(self, differences: ArrayLike) -> FloatArray:
        """The squared distance for signed differences."""
        return self.distance(np.square(differences))

    def properties(self) -> Properties:
        """Of the squared distance: one difference alone is the largest, so the first weight decides on identity."""
        return Properties(True, bool(self.weights[0] > 0), True, False)

    def root_properties(self) -> Properties:
        """Of its root: a norm exactly where no weight exceeds the one before it."""
        return self.properties()._replace(triangle=bool((np.diff(self.weights) <= 0).all()))


@dataclass(frozen=True, eq=False)
class Bilinear:
    """The symmetric bilinear form d' M d of signed differences d (Definition 5.5). The inverse of a covariance gives Mahalanobis."""

    matrix: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", _frozen(self.matrix, 2, "matrix"))
        self.check()

    @property
    def attributes(self) -> int:
        return len(self.matrix)

    def constraints(self) -> dict[str, bool]:
        """What the parameters must satisfy, and whether they do. Being positive semi-definite is a property, not a constraint."""
        m = self.matrix
        square = m.shape[0] == m.shape[1]
        return {"the matrix is square": square, "the matrix is symmetric": square and bool((m == m.T).all())}

    def check(self) -> None:
        """Say which constraint is violated, if one is."""
        _check("bilinear form", self.constraints())

    def scaled(self) -> "Bilinear":
        """The same form with trace 1: it orders records as before."""
        trace = float(np.trace(self.matrix))
        if trace <= 0:
            raise ValueError("A form can be scaled to trace 1 only where its trace is positive.")
        return Bilinear(self.matrix / trace)

    def distance(self, differences: ArrayLike) -> FloatArray:
        """The squared distance for SIGNED differences, attributes along the last axis."""
        d = _values(differences, self.attributes)
        total = np.zeros(d.shape[:-1])
        for i in range(self.attributes):
            for j in range(i, self.attributes):
                total += (self.matrix[i, j] if i == j else 2 * self.matrix[i, j]) * (d[..., i] * d[..., j])
        return total

    of_differences = distance

    def properties(self) -> Properties:
        """Of the squared distance; a form that is not semi-definite has negative distances."""
        low, high, zero = self._spectrum()
        return Properties(low >= -zero, low > zero or high < -zero, True, low == high == 0)

    def root_properties(self) -> Properties:
        """Of its root, which exists only for a positive semi-definite matrix; otherwise nothing holds."""
        low, _, zero = self._spectrum()
        exists = low >= -zero
        return Properties(exists, low > zero, exists, exists)

    def _spectrum(self) -> tuple[float, float, float]:
        """The lowest and highest eigenvalue, and what counts as zero."""
        values = np.linalg.eigvalsh(self.matrix)
        return float(values[0]), float(values[-1]), 1e-12 * float(np.abs(values).max())


@dataclass(frozen=True, eq=False)
class Choquet:
    """The Choquet integral of squared differences with respect to a fuzzy measure (Definitions 2.3, 2.7 and 5.6)."""

    measure: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", _frozen(self.measure, 1, "measure"))
        self.check()

    @classmethod
    def from_mobius(cls, mobius: ArrayLike) -> Self:
        """The measure of a Möbius transform (Definition 2.5): of each set, the sum over its subsets, rounding errors made good."""
        measure = zeta(mobius)
        monotone = monotone_hull(measure)
        return cls(monotone if (monotone - measure).max() <= TOLERANCE else measure)

    @classmethod
    def additive(cls, weights: ArrayLike) -> Self:
        """The measure whose integral is the weighted mean (Definition 2.8)."""
        w = np.asarray(weights, np.float64)
        mobius = np.zeros(1 << len(w))
        mobius[1 << np.arange(len(w))] = w
        return cls.from_mobius(mobius)

    @classmethod
    def symmetric(cls, weights: ArrayLike) -> Self:
        """The measure whose integral is the OWA: a set weighs what the first weights of its size weigh together."""
        w = np.asarray(weights, np.float64)
        return cls(np.concatenate([[0.0], np.cumsum(w)])[set_sizes(len(w))])

    @property
    def attributes(self) -> int:
        return len(self.measure).bit_length() - 1

    def constraints(self) -> dict[str, bool]:
        """What the parameters must satisfy, and whether they do."""
        measure = self.measure
        whole = len(measure) >= 2 and len(measure) & (len(measure) - 1) == 0
        return {
            "the measure has a value for each of the 2^n sets": whole,
            "the empty set measures 0": measure[0] == 0,
            "all attributes together measure 1": abs(measure[-1] - 1) <= TOLERANCE,
            "no set measures less than a subset of it": whole and all((gain >= 0).all() for gain in self._gains()),
        }

    def check(self) -> None:
        """Say which constraint is violated, if one is."""
        _check("Choquet integral", self.constraints())

    def mobius(self) -> FloatArray:
        """The Möbius transform (Definition 2.4): what each set adds to its subsets."""
        return mobius(self.measure)

    def k_additive(self, tolerance: float = TOLERANCE) -> int:
        """The size of the largest set that interacts (Definition 2.6); 1 is an additive measure."""
        sizes = set_sizes(self.attributes)[np.abs(self.mobius()) > tolerance]
        return int(sizes.max(initial=0))

    def submodular(self, tolerance: float = TOLERANCE) -> bool:
        """Whether an attribute never adds more to a larger set (2.1): then the root of the distance is a metric's."""
        for gain in self._gains():
            for j in range(self.attributes - 1):
                without, with_j = halves(gain, j)
                if (with_j - without > tolerance).any():
                    return False
        return True

    def distance(self, squared: ArrayLike) -> FloatArray:
        """The squared distance for squared differences, attributes along the last axis."""
        c = _values(squared, self.attributes)
        if (c < 0).any():
            raise ValueError("The Choquet integral reads squared differences, and some are negative.")
        order = np.argsort(c, axis=-1, kind="stable")
        total = np.zeros(c.shape[:-1])
        left = np.full(c.shape[:-1], len(self.measure) - 1, np.int64)  # the attributes at least as large as the current one
        below = np.zeros(c.shape[:-1])
        for place in range(self.attributes):
            at = order[..., place]
            value = np.take_along_axis(c, at[..., None], -1)[..., 0]
            total += (value - below) * self.measure[left]
            left &= ~(np.int64(1) << at)
            below = value
        return total

    def of_differences(self, differences: ArrayLike) -> FloatArray:
        """The squared distance for signed differences."""
        return self.distance(np.square(differences))

    def properties(self) -> Properties:
        """Of the squared distance: one difference alone is weighed by its attribute alone, so those must count."""
        alone = self.measure[1 << np.arange(self.attributes)]
        return Properties(True, bool((alone > 0).all()), True, False)

    def root_properties(self) -> Properties:
        """Of its root: a norm exactly where the measure is submodular."""
        return self.properties()._replace(triangle=self.submodular())

    def _gains(self) -> list[FloatArray]:
        """For each attribute, what it adds to every set without it; a set keeps its order, with that bit taken out."""
        return [np.subtract(*halves(self.measure, i)[::-1]) for i in range(self.attributes)]


Aggregator = WeightedMean | OWA | Bilinear | Choquet


class Recount(NamedTuple):
    """What a distance links, counted from its parameters: the true link against every other record."""

    strict: BoolArray  # the true link is closer than all others; a tie is a failure
    share: FloatArray  # 1 over the number tied for the closest, where the true link is among them; else 0

    @property
    def strict_rate(self) -> float:
        return float(self.strict.mean())

    @property
    def shared_rate(self) -> float:
        return float(self.share.mean())


def recount(aggregator: Aggregator, original: ArrayLike, protected: ArrayLike, block: int = 256) -> Recount:
    """Link every original record by the aggregator; row i of `protected` is the true link of row i of `original`.

    `protected` may have further rows, which belong to nobody asked about. Two distances tie where they differ by no more than a billionth
    (`TIE`) of the largest they could be: rounding must not win a tie. A block of original rows at a time; the time is rows times rows.
    """
    x, y = np.asarray(original, np.float64), np.asarray(protected, np.float64)
    strict, share = np.empty(len(x), np.bool_), np.empty(len(x))
    for start in range(0, len(x), block):
        rows = np.arange(start, min(start + block, len(x)))
        differences = x[rows, None, :] - y[None, :, :]
        distances = aggregator.of_differences(differences)
        true = distances[rows - start, rows][:, None]
        largest = np.square(differences).max(axis=-1)
        room = TIE * reach(aggregator) * np.maximum(largest, largest[rows - start, rows][:, None])
        closer = (distances < true - room).any(axis=1)
        tied = (np.abs(distances - true) <= room).sum(axis=1)  # the true link itself is one of them
        strict[rows] = ~closer & (tied == 1)
        share[rows] = np.where(closer, 0.0, 1.0 / tied)
    return Recount(strict, share)


def reach(aggregator: Aggregator) -> float:
    """The largest distance for squared differences of at most 1, or a bound on it: what ties are measured against."""
    return aggregator.attributes * float(np.abs(np.trace(aggregator.matrix))) if isinstance(aggregator, Bilinear) else 1.0


def standardized(original: ArrayLike, protected: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Both files with mean 0 and deviation 1 in every attribute, each by its own figures, as (5.5) compares them."""
    out = []
    for file in (original, protected):
        values = np.asarray(file, np.float64)
        spread = values.std(axis=0)
        if (spread == 0).any():
            raise ValueError(
                f"Attribute {int(np.flatnonzero(spread == 0)[0]) + 1} is constant and cannot be standardized: it tells no record apart. Leave it out."
            )
        out.append((values - values.mean(axis=0)) / spread)
    return out[0], out[1]


def _weighted(columns: FloatArray, weights: FloatArray) -> FloatArray:
    total = np.zeros(columns.shape[:-1])
    for i, weight in enumerate(weights):
        total += weight * columns[..., i]
    return total


def _values(given: ArrayLike, n: int) -> FloatArray:
    values = np.asarray(given, np.float64)
    if values.ndim == 0 or values.shape[-1] != n:
        raise ValueError(f"The aggregator reads {n} differences a record, got {values.shape[-1] if values.ndim else 'a single number'}.")
    return values


def _frozen(given: ArrayLike, axes: int, what: str) -> FloatArray:
    values = np.array(given, np.float64)
    if values.ndim != axes or values.size == 0:
        raise ValueError(f"The {what} must be a filled array with {axes} {'axis' if axes == 1 else 'axes'}.")
    if not np.isfinite(values).all():
        raise ValueError(f"The {what} must be finite numbers.")
    values.flags.writeable = False
    return values


def _weight_constraints(weights: FloatArray) -> dict[str, bool]:
    return {
        "no weight is negative": bool((weights >= 0).all()),
        "the weights sum to 1": abs(float(weights.sum()) - 1) <= TOLERANCE,
    }


def _check(what: str, constraints: dict[str, bool]) -> None:
    for constraint, holds in constraints.items():
        if not holds:
            raise ValueError(f"Parameters of a {what} need that {constraint}; these violate it.")
