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
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.linkage.parameter_space import ParameterSpace, Rows

NOTHING = 2.0  # the margin of no record at all: rows are scaled so that no margin exceeds 1
LEFT_OUT = 4.0  # what a record that is not chosen has its margins raised by
SHARE = 1e-11  # a candidate with less of a mixture is not part of it
OPTIMAL = 1e-11  # reduced costs above minus this are satisfied


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
        self.hot = np.zeros(len(self.record), np.bool_)
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
        form = self.space.n if self.space.family == "bilinear" else 0
        try:
            self.value, self.theta, self.shares, steps, settled = best_margin(
                *self.rows, self.record, self.candidates.start, *self.bounds, self.count, chosen, self.hot, self.basis, enough or -np.inf,
                form, self.original, self.protected, self.candidates.rows,
            )  # fmt: skip
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
                _nearest(self.original, self.protected, self.candidates.rows, self.candidates.start, everyone, theta, self.space.n)[0]
            )
        return np.asarray(_least(*self.rows, self.candidates.start, theta))

    def _forget(self) -> None:
        """Drop the eigenvectors that are not in the basis: there are too many to price."""
        rows = len(self.record)
        used = np.unique(self.basis[self.basis > rows + self.given]) - rows - 1
        new = self.given + np.arange(len(used))
        self.bounds.value[new], self.bounds.offset[new] = self.bounds.value[used], self.bounds.offset[used]
        for old, at in zip(used, new, strict=True):
            self.basis[self.basis == rows + 1 + old] = rows + 1 + at
        self.count[0] = self.given + len(used)


@njit(cache=True, fastmath={"contract", "reassoc"})
def _dot(index, value, row, theta):
    total = 0.0
    if len(index) == 0:
        for place in range(value.shape[1]):
            total += value[row, place] * theta[place]
    else:
        for place in range(value.shape[1]):
            total += value[row, place] * theta[index[row, place]]
    return total


@njit(cache=True)
def _least(index, value, offset, start, theta):
    out = np.full(len(start) - 1, NOTHING)
    for i in range(len(out)):
        for r in range(start[i], start[i + 1]):
            out[i] = min(out[i], offset[r] + _dot(index, value, r, theta))
    return out


@njit(cache=True)
def _matrix(theta, n):
    """The symmetric matrix of its free entries."""
    matrix = np.zeros((n, n))
    at = 0
    trace = 0.0
    for i in range(n):
        for j in range(i, n):
            if at < len(theta):
                matrix[i, j] = theta[at]
                matrix[j, i] = theta[at]
                if i == j:
                    trace += theta[at]
                at += 1
    matrix[n - 1, n - 1] = 1 - trace
    return matrix


@njit(cache=True)
def _semidefinite(theta, n):
    """The free entries of the matrix without its negative eigenvalues, with trace 1 again."""
    spectrum, vectors = np.linalg.eigh(_matrix(theta, n))
    spectrum = np.maximum(spectrum, 1e-12)
    spectrum /= spectrum.sum()
    out = np.empty(len(theta))
    at = 0
    for i in range(n):
        for j in range(i, n):
            if at < len(theta):
                out[at] = (vectors[i] * spectrum * vectors[j]).sum()
                at += 1
    return out


@njit(cache=True, fastmath={"contract", "reassoc", "nnan", "ninf"})
def _nearest(original, protected, rows, start, chosen, theta, n):
    """Of every chosen record, the least margin under a bilinear form and its row. Along eigenvectors a form is a sum of n squares."""
    spectrum, vectors = np.linalg.eigh(_matrix(theta, n))
    vectors = np.ascontiguousarray(vectors)
    mine, theirs = original @ vectors, np.ascontiguousarray((protected @ vectors).T)
    others = protected.shape[0]
    low = np.full(len(chosen), NOTHING)
    where = np.full(len(chosen), -1)
    form, length = np.empty(others), np.empty(others)
    across = np.ascontiguousarray(protected.T)
    for i in range(len(chosen)):
        if not chosen[i] or start[i] == start[i + 1]:
            continue
        form[:] = 0.0
        length[:] = 0.0
        for e in range(n):
            for j in range(others):
                form[j] += spectrum[e] * (mine[i, e] - theirs[e, j]) ** 2
                length[j] = max(length[j], (original[i, e] - across[e, j]) ** 2)
        true, long = form[i], length[i]
        for r in range(start[i], start[i + 1]):
            margin = form[rows[r]] - true
            scale = n * max(length[rows[r]], long)
            if scale > 0:
                margin /= scale
            if margin < low[i]:
                low[i], where[i] = margin, r
    return low, where


@njit(cache=True)
def _mixed(value, offset, basis, share, rows, n):
    """The mixed margins as a matrix: its largest eigenvalue is what they leave to win for any form of trace 1."""
    mixed = np.zeros((n, n))
    last = 0.0
    for b in range(len(basis)):
        if basis[b] < rows:
            last += share[b] * offset[basis[b]]
            at = 0
            for i in range(n):
                for j in range(i, n):
                    if at < value.shape[1]:
                        mixed[j, i] += share[b] * value[basis[b], at] / (1.0 if i == j else 2.0)
                        at += 1
    for i in range(n):
        mixed[i, i] += last
    return mixed


@njit(cache=True)
def _direct(value, offset, count, u):
    """One more constraint: u' M u >= 0."""
    n = len(u)
    last = u[n - 1] ** 2
    at = 0
    for i in range(n):
        for j in range(i, n):
            if at < value.shape[1]:
                value[count[0], at] = u[i] * u[i] - last if i == j else 2 * u[i] * u[j]
                at += 1
    offset[count[0]] = last
    count[0] += 1


@njit(cache=True)
def _write(value, offset, r, x, wrong, true, n):
    """The margin of one wrong link as a row over the free entries of a matrix."""
    size = value.shape[1]
    scale = 0.0
    for k in range(n):
        scale = max(scale, n * (x[k] - wrong[k]) ** 2, n * (x[k] - true[k]) ** 2)
    if scale == 0:
        scale = 1.0
    last = ((x[n - 1] - wrong[n - 1]) ** 2 - (x[n - 1] - true[n - 1]) ** 2) / scale
    at = 0
    for i in range(n):
        for j in range(i, n):
            if at < size:
                entry = ((x[i] - wrong[i]) * (x[j] - wrong[j]) - (x[i] - true[i]) * (x[j] - true[j])) / scale
                value[r, at] = entry - last if i == j else 2 * entry
                at += 1
    offset[r] = last


@njit(cache=True)
def _column(index, value, bound_index, bound_value, rows, entry, size):
    column = np.zeros(size + 1)
    if entry <= rows:
        column[size] = 1.0
    if entry < rows:
        _add(index, value, entry, column)
    elif entry > rows:
        _add(bound_index, bound_value, entry - rows - 1, column)
    return column


@njit(cache=True)
def _add(index, value, row, column):
    for place in range(value.shape[1]):
        column[place if len(index) == 0 else index[row, place]] += value[row, place]


@njit(cache=True)
def _among(basis, entry):
    found = False
    for b in range(len(basis)):
        found |= basis[b] == entry
    return found


@njit(cache=True)
def best_margin(index, value, offset, record, start, bound_index, bound_value, bound_offset, count, chosen, hot, basis, enough, form, original, protected, wrong):  # fmt: skip # noqa: E501
    """Returns the value, theta, the dual share of every basis entry and the number of pivots; changes basis, hot and count in place."""
    rows = len(offset)
    size = len(basis) - 1
    inverse = np.zeros((size + 1, size + 1))
    cost = np.empty(size + 1)
    share = np.empty(size + 1)
    theta = np.empty(size)
    listed = np.empty(rows, np.int64)
    known = 0
    for i in range(len(chosen)):
        if chosen[i]:
            for r in range(start[i], start[i + 1]):
                if hot[r]:
                    listed[known] = r
                    known += 1
    fresh = 0  # pivots since the inverse was computed anew; 0 at the start
    steps = 0
    flat = 0  # pivots without progress, one after the other
    chance = 12345
    anew = True
    settled = False
    v = NOTHING
    while True:
        if anew:
            matrix = np.empty((size + 1, size + 1))
            for b in range(size + 1):
                matrix[:, b] = _column(index, value, bound_index, bound_value, rows, basis[b], size)
            inverse = np.ascontiguousarray(np.linalg.inv(matrix))
            anew = False
            fresh = 0
        v = 0.0
        theta[:] = 0.0
        others = 0.0  # what records that are not chosen, or none, still hold
        for b in range(size + 1):
            entry = basis[b]
            share[b] = max(inverse[b, size], 0.0)
            if entry < rows:
                cost[b] = offset[entry] + (0.0 if chosen[record[entry]] else LEFT_OUT)
                if not chosen[record[entry]]:
                    others += share[b]
            elif entry == rows:
                cost[b] = NOTHING
                others += share[b]
            else:
                cost[b] = bound_offset[entry - rows - 1]
            v += cost[b] * inverse[b, size]
            for k in range(size):
                theta[k] -= cost[b] * inverse[b, k]
        if v < enough and others < 1e-12:
            if form == 0 or enough < 0 or np.linalg.eigvalsh(_mixed(value, offset, basis, share, rows, form))[form - 1] < enough:
                settled = True
                break
            if fresh > 0:  # only rounding
                anew = True
                continue
        # The entry that violates most: constraints, and candidates of the list. What is in the basis can only seem to.
        worst, entering = -OPTIMAL, -1
        for t in range(count[0]):
            rest = bound_offset[t] + _dot(bound_index, bound_value, t, theta)
            if rest < worst and not _among(basis, rows + 1 + t):
                worst, entering = rest, rows + 1 + t
        for at in range(known):
            rest = offset[listed[at]] + _dot(index, value, listed[at], theta) - v
            if rest < worst and not _among(basis, listed[at]):
                worst, entering = rest, listed[at]
        if NOTHING - v < worst:
            worst, entering = NOTHING - v, rows
        if entering < 0:
            if form > 0:
                least, at_row = _nearest(original, protected, wrong, start, chosen, theta, form)
            lowest = v
            for i in range(len(chosen)):
                if not chosen[i]:
                    continue
                low, where = v - OPTIMAL, -1
                if form > 0:
                    if at_row[i] >= 0 and not hot[at_row[i]] and least[i] < low:
                        low, where = least[i], at_row[i]
                        _write(value, offset, where, original[i], protected[wrong[where]], protected[i], form)
                else:
                    for r in range(start[i], start[i + 1]):
                        if not hot[r]:
                            rest = offset[r] + _dot(index, value, r, theta)
                            if rest < low:
                                low, where = rest, r
                if where >= 0:
                    hot[where] = True
                    listed[known] = where
                    known += 1
                    lowest = min(lowest, low)
                    if low - v < worst:
                        worst, entering = low - v, where
            if form == 0 and lowest > enough and enough > 0:
                v = lowest
                settled = True
                break
            if form > 0 and lowest > enough and enough > 0:
                nearby = _semidefinite(theta, form)
                least, at_row = _nearest(original, protected, wrong, start, chosen, nearby, form)
                if least.min() > enough:
                    v = least.min()
                    theta = nearby
                    settled = True
                    break
        if entering < 0 and form > 0 and v > enough:
            before = count[0]
            if enough > 0 and others < 1e-12:
                left = np.linalg.eigvalsh(_mixed(value, offset, basis, share, rows, form))[form - 1]
                if left < 0.9 * enough:  # less than v, which rests on the eigenvectors met so far
                    v = left
                    settled = True
                    break
            spectrum, vectors = np.linalg.eigh(_matrix(theta, form))
            for e in range(form):
                if spectrum[e] < -OPTIMAL and count[0] < len(bound_offset):
                    _direct(bound_value, bound_offset, count, vectors[:, e])
            if spectrum[0] < -OPTIMAL and count[0] > before:
                continue
        if entering < 0:
            if fresh > 20:
                anew = True
                continue
            settled = True
            break
        column = _column(index, value, bound_index, bound_value, rows, entering, size)
        step = inverse @ column
        leaving, shortest, largest = -1, np.inf, 0.0
        for b in range(size + 1):
            if step[b] > 1e-9:
                ratio = share[b] / step[b]
                if ratio < shortest - 1e-12:
                    leaving, shortest, largest = b, ratio, step[b]
                elif ratio < shortest + 1e-12:
                    if flat > 30:  # to break out of a circle, any of the tied
                        chance = (1103515245 * chance + 12345) % 2147483648
                        better = (chance >> 16) % 3 == 0
                    else:
                        better = step[b] > largest
                    if better:
                        leaving, shortest, largest = b, min(ratio, shortest), step[b]
        if leaving < 0:
            if fresh > 0:
                anew = True
                continue
            break
        flat = flat + 1 if shortest < 1e-12 else 0
        basis[leaving] = entering
        pivot = step[leaving]
        inverse[leaving] /= pivot
        for b in range(size + 1):
            if b != leaving and step[b] != 0.0:
                factor = step[b]
                for k in range(size + 1):
                    inverse[b, k] -= factor * inverse[leaving, k]
        steps += 1
        fresh += 1
        if fresh >= 100:
            anew = True
        if steps > 20000:
            break
    return v, theta, share, steps, settled
