"""The best margin: parameters of an aggregator that make chosen records win against all their candidates by as much as possible.

For a candidate r of a chosen record, the margin is its distance less that of the true link. It is linear in the parameters theta:
a_r theta + alpha_r. The parameters lie in a polytope g_t theta + gamma_t >= 0 (one parameter is spent on their sum, or trace, being 1).
This is a matrix game,

    maximize v    where a_r theta + alpha_r >= v for every r of a chosen record, and g_t theta + gamma_t >= 0 for every t,

and its dual mixes candidates: minimize sum lambda alpha + sum tau gamma where sum lambda a + sum tau g = 0 and sum lambda = 1. A mixture
of value below zero proves that the chosen records cannot all be linked; the records it uses are the proof's.

The dual has as many equations as theta has entries, plus one, and a column per candidate: a revised simplex with an explicit inverse
walks it. Its bases stay feasible whichever records are chosen (a record not chosen costs too much to stay), so every question starts from
the last one's answer. Candidates are priced from a short list of those that were in the way before; all are looked at when the list is
satisfied. For bilinear forms the polytope is approached from outside: where the best matrix has a negative eigenvalue, its eigenvector u
gives the next constraint, u' M u >= 0.
"""

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.linkage.forms import nearest_links
from shoal.kernels.linkage.margin_simplex import Forms, Owners, best_margin, least_margins
from shoal.kernels.linkage.parameter_space import ParameterSpace, Rows

SHARE = 1e-11  # a candidate with less of a mixture is not part of it


class Mixture(NamedTuple):
    """A proof that records cannot all be linked: shares of candidates' margins, and of constraints, that leave nothing to win."""

    value: float
    rows: IntArray
    shares: FloatArray
    constraints: IntArray
    constraint_shares: FloatArray


class UnsettledError(ArithmeticError):
    """The simplex did not come to an end: the question stays open."""


class Game:
    """Asks for the best margin of one set of records after another. It keeps the basis of the last question for the next."""

    def __init__(self, space: ParameterSpace, original: FloatArray, protected: FloatArray) -> None:
        self.space = space
        self.original, self.protected = np.ascontiguousarray(original), np.ascontiguousarray(protected)
        self.candidates = space.candidates(self.original, self.protected)
        self.rows = space.margins(original, protected, self.candidates)
        self.record = np.repeat(np.arange(len(original)), np.diff(self.candidates.start))
        start = space.constraints()
        room = len(start.offset) + (4096 if space.family == "bilinear" else 0)
        count, width = start.value.shape
        self.bounds = Rows(start.columns, np.zeros((room, width)), np.zeros(room))
        self.bounds.value[:count], self.bounds.offset[:count] = start.value, start.offset
        self.given = count
        self.owners = Owners(self.record, self.candidates.start, np.zeros(len(self.record), np.bool_))
        self.forms = Forms(space.n if space.family == "bilinear" else 0, self.original, self.protected, self.candidates.rows)
        self.pivots = 0
        self._restart()

    def margin(self, chosen: BoolArray, enough: float = 0.0) -> float:
        """The best margin of the chosen records. With `enough`, only whether it is more than that.

        Then the search stops at the first parameters whose margin is above, or at the first proof that none is.
        """
        for _ in range(2):
            if self.count[0] > len(self.bounds.offset) - 8 * self.space.n:
                self._forget()
            if self._settled(chosen, enough):
                return float(self.value)
            self._restart()
        raise UnsettledError

    def _settled(self, chosen: BoolArray, enough: float) -> bool:
        try:
            self.value, self.theta, self.shares, steps, settled = best_margin(
                self.rows, self.owners, self.bounds, self.count, chosen, self.basis, enough or -np.inf, self.forms
            )
        except np.linalg.LinAlgError:  # rounding made a basis of what is none
            return False
        self.pivots += steps
        return bool(settled)

    def _restart(self) -> None:
        """The corner that every family starts from, and no eigenvectors."""
        rows, size = len(self.record), self.space.size
        self.basis = np.concatenate([rows + 1 + np.arange(size), [rows]])
        self.count = np.array([self.given])

    def mixture(self) -> Mixture:
        """The dual answer to the last question."""
        rows = len(self.record)
        mine, bound = (self.basis < rows) & (self.shares > SHARE), (self.basis > rows) & (self.shares > 1e-13)
        basis, shares = self.basis, self.shares
        return Mixture(float(self.value), basis[mine], shares[mine], basis[bound] - rows - 1, shares[bound])

    def records(self) -> IntArray:
        """The records of the last proof."""
        used = self.basis[self.shares > SHARE]
        return np.unique(self.record[used[used < len(self.record)]])

    def least(self, theta: FloatArray) -> FloatArray:
        """The least margin of every record under these parameters; a record without candidates has the margin of nothing."""
        if self.space.family == "bilinear":
            everyone = np.ones(len(self.original), np.bool_)
            return np.asarray(
                nearest_links(self.original, self.protected, self.candidates.rows, self.candidates.start, everyone, theta, self.space.n)[0]
            )
        return np.asarray(least_margins(*self.rows, self.candidates.start, theta))

    def _forget(self) -> None:
        """Drop the eigenvectors that are not in the basis: there are too many to price."""
        rows = len(self.record)
        used = np.unique(self.basis[self.basis > rows + self.given]) - rows - 1
        new = self.given + np.arange(len(used))
        self.bounds.value[new], self.bounds.offset[new] = self.bounds.value[used], self.bounds.offset[used]
        for old, at in zip(used, new, strict=True):
            self.basis[self.basis == rows + 1 + old] = rows + 1 + at
        self.count[0] = self.given + len(used)
