"""The parameters of an aggregator as a polytope, and the margin of a wrong link as a linear function on it.

The margin of a wrong link is its distance less that of the true link. In every family it is linear in the parameters: weights, entries of
a matrix, values of a fuzzy measure (or of its Möbius transform, for a k-additive one). One parameter is spent on their sum, or trace, being
1; the others, theta, are free but for the family's constraints g theta + gamma >= 0.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.linkage.aggregation import OWA, Aggregator, Bilinear, Choquet, WeightedMean
from shoal.kernels.linkage.dominance import Candidates, distinct, undominated
from shoal.kernels.linkage.fuzzy_measures import monotone_hull, set_sizes, zeta

Family = Literal["weighted-mean", "owa", "bilinear", "choquet", "choquet-submodular"]


class Rows(NamedTuple):
    """A matrix. Sparse, it has the same number of entries in every row, and an index may be named twice; dense, it has no index."""

    columns: IntArray
    value: FloatArray
    offset: FloatArray


@dataclass(frozen=True)
class ParameterSpace:
    """The parameters of one family for n attributes: how margins and constraints read in them."""

    family: Family
    n: int
    order: int = 0  # of a k-additive measure; 0 for all sets

    @property
    def sets(self) -> IntArray:
        """Choquet: the sets a parameter stands for, the last of them determined by the others."""
        every = np.arange(1, 1 << self.n)
        if self.order:
            every = every[set_sizes(self.n)[every] <= self.order]
            return np.concatenate([every[every != 1], [1]])  # in Möbius' terms, which sum to 1
        return every  # in the measure's, where all attributes together measure 1

    @property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """Bilinear: the entries of the upper triangle, the last diagonal one last."""
        return np.triu_indices(self.n)

    @property
    def size(self) -> int:
        """How many parameters are free."""
        if self.family in ("weighted-mean", "owa"):
            return self.n - 1
        return (self.n * (self.n + 1) // 2 if self.family == "bilinear" else len(self.sets)) - 1

    def candidates(self, original: FloatArray, protected: FloatArray) -> Candidates:
        if self.family == "bilinear":
            return distinct(original, protected)
        return undominated(original, protected, int(self.family == "owa"))

    def margins(self, original: FloatArray, protected: FloatArray, candidates: Candidates) -> Rows:
        """One row per candidate, scaled so that margins stay within -1 and 1. For bilinear forms they are written when they are needed."""
        if self.family == "bilinear":
            count = len(candidates.rows)
            return Rows(np.empty((0, self.size), np.int64), np.empty((count, self.size)), np.empty(count))
        record = np.repeat(np.arange(len(original)), np.diff(candidates.start))
        wrong, true = original[record] - protected[candidates.rows], original[record] - protected[record]
        wrong, true = wrong**2, true**2
        scale = np.maximum(wrong.max(axis=1, initial=0), true.max(axis=1, initial=0))  # as ties are measured
        scale = np.where(scale > 0, scale, 1)[:, None]
        wrong, true = wrong / scale, true / scale
        if self.family == "owa":
            wrong, true = -np.sort(-wrong, axis=1), -np.sort(-true, axis=1)
        if self.family in ("weighted-mean", "owa"):
            return self._dense(wrong - true)
        if self.order:
            smallest = [np.flatnonzero(s >> np.arange(self.n) & 1) for s in self.sets]
            return self._dense(np.stack([wrong[:, at].min(axis=1) - true[:, at].min(axis=1) for at in smallest], axis=1))
        (plus, high), (minus, low) = _steps(wrong), _steps(true)
        index = np.concatenate([plus[:, 1:], minus[:, 1:]], axis=1) - 1
        return Rows(index, np.concatenate([high[:, 1:], -low[:, 1:]], axis=1), high[:, 0] - low[:, 0])

    def constraints(self) -> Rows:
        """One row per constraint. The first `size` of them are independent: a corner to start from."""
        n = self.n
        if self.family in ("weighted-mean", "owa"):
            return self._dense(np.eye(n))
        if self.family == "bilinear":
            corners = np.eye(n)
            pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
            plus = [corners[i] + corners[j] for i, j in pairs]
            minus = [corners[i] - corners[j] for i, j in pairs]
            return self.directions(np.array([*corners[: n - 1], *plus, corners[n - 1], *minus]) / np.sqrt(2))
        terms = self.terms()
        if self.order:
            return self._dense(self._mobius(terms))
        width = max((len(term) for term in terms), default=0)
        index, value, offset = np.zeros((len(terms), width), np.int64), np.zeros((len(terms), width)), np.zeros(len(terms))
        whole = (1 << n) - 1
        for row, term in enumerate(terms):
            for place, (subset, sign) in enumerate(term.items()):
                if subset == whole:
                    offset[row] += sign
                else:
                    index[row, place], value[row, place] = subset - 1, sign
        return Rows(index, value, offset)

    def terms(self) -> list[dict[int, int]]:
        """Choquet: the constraints on the measure as sets and signs, in the order of `constraints`."""
        terms = _monotone(self.n) + (_submodular(self.n) if self.family == "choquet-submodular" else [])
        if self.order:
            first = _independent(self._dense(self._mobius(terms)).value, self.size)
            return [terms[at] for at in first] + [term for at, term in enumerate(terms) if at not in set(first)]
        return terms

    def _mobius(self, terms: list[dict[int, int]]) -> FloatArray:
        """Constraints on a measure, in Möbius' terms: the measure of a set sums over its subsets."""
        dense = np.zeros((len(terms), len(self.sets)))
        for row, term in enumerate(terms):
            for subset, sign in term.items():
                dense[row] += sign * ((self.sets & subset) == self.sets)
        return dense

    def directions(self, vectors: FloatArray) -> Rows:
        """Bilinear: u' M u >= 0 for every row u."""
        i, j = self.pairs
        return self._dense(np.where(i == j, 1.0, 2.0) * vectors[:, i] * vectors[:, j])

    def _dense(self, full: FloatArray) -> Rows:
        """Rows over all parameters, to rows over the free ones: the last is 1 less those it is summed with."""
        last = full[:, -1]
        shared = np.ones(full.shape[1] - 1)
        if self.family == "bilinear":
            i, j = self.pairs
            shared = (i == j)[:-1].astype(float)
        value = full[:, :-1] - last[:, None] * shared
        return Rows(np.empty((0, value.shape[1]), np.int64), np.ascontiguousarray(value), last.copy())

    def aggregator(self, theta: FloatArray) -> Aggregator:
        """The aggregator of free parameters, with what rounding takes from its constraints given back."""
        if self.family == "bilinear":
            matrix = np.zeros((self.n, self.n))
            i, j = self.pairs
            matrix[i[:-1], j[:-1]] = theta
            matrix = matrix + np.triu(matrix, 1).T
            matrix[-1, -1] = 1 - np.trace(matrix[:-1, :-1])
            values, vectors = np.linalg.eigh(matrix)
            if values[0] < 1e-12:
                matrix = (vectors * np.maximum(values, 1e-12)) @ vectors.T
            matrix = (matrix + matrix.T) / 2
            return Bilinear(matrix / np.trace(matrix))
        if self.family in ("weighted-mean", "owa"):
            weights = np.maximum(np.append(theta, 1 - theta.sum()), 0)
            return (WeightedMean if self.family == "weighted-mean" else OWA)(weights / weights.sum())
        measure = np.zeros(1 << self.n)
        if self.order:
            measure[self.sets] = np.append(theta, 1 - theta.sum())
            measure = zeta(measure)
        else:
            measure[self.sets] = np.append(theta, 1)
        measure = monotone_hull(np.maximum(measure, 0))
        return Choquet(measure / measure[-1])

    def parameters(self, aggregator: Aggregator) -> FloatArray:
        """The free parameters of an aggregator of this family, or of one that is a case of it."""
        if isinstance(aggregator, Bilinear):
            return np.asarray(aggregator.scaled().matrix[self.pairs][:-1])
        if isinstance(aggregator, Choquet):
            return np.asarray((aggregator.mobius() if self.order else aggregator.measure)[self.sets][:-1])
        return np.asarray(aggregator.weights[:-1])

    def centre(self) -> FloatArray:
        """Parameters inside every constraint: the arithmetic mean's, or nearly for a measure."""
        if self.family == "bilinear":
            return self.parameters(Bilinear(np.eye(self.n) / self.n))
        if self.family.startswith("choquet"):
            if self.order:
                return self.parameters(Choquet.additive(np.full(self.n, 1 / self.n)))
            share = set_sizes(self.n) / self.n
            return self.parameters(Choquet(share * (3 - share) / 2))  # concave in the size: strictly submodular
        return np.full(self.n - 1, 1 / self.n)


def _steps(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """The Choquet integral as a sum over nested sets: the sets, from all attributes down, and by how much the values rise."""
    n = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    rise = np.diff(np.take_along_axis(values, order, 1), axis=1, prepend=0)
    left = np.flip(np.cumsum(np.flip(np.int64(1) << order, 1), axis=1), 1)
    assert left.shape == (len(values), n)
    return left, rise


def _monotone(n: int) -> list[dict[int, int]]:
    """mu(A with k) - mu(A) >= 0. First, for every set but the whole, the one that takes its lowest attribute away."""
    first: list[dict[int, int]] = []
    rest: list[dict[int, int]] = []
    for whole in range(1, 1 << n):
        members = [k for k in range(n) if whole >> k & 1]
        for k in members:
            term = {whole: 1}
            if whole ^ (1 << k):
                term[whole ^ (1 << k)] = -1
            (first if k == members[0] and whole != (1 << n) - 1 else rest).append(term)
    return first + rest


def _submodular(n: int) -> list[dict[int, int]]:
    """mu(A with i) + mu(A with j) - mu(A with both) - mu(A) >= 0: these imply it for all pairs of sets."""
    out = []
    for base in range(1 << n):
        free = [k for k in range(n) if not base >> k & 1]
        for place, i in enumerate(free):
            for j in free[place + 1 :]:
                term = {base | 1 << i: 1, base | 1 << j: 1, base | 1 << i | 1 << j: -1}
                if base:
                    term[base] = -1
                out.append(term)
    return out


def _independent(rows: FloatArray, size: int) -> IntArray:
    """The first rows that span all directions."""
    chosen: list[int] = []
    kept = np.empty((0, rows.shape[1]))
    for at, row in enumerate(rows):
        rest = row - kept.T @ (kept @ row)
        rest -= kept.T @ (kept @ rest)
        norm = np.linalg.norm(rest)
        if norm > 1e-9:
            chosen.append(at)
            kept = np.vstack([kept, rest / norm])
            if len(chosen) == size:
                break
    return np.array(chosen, np.int64)
