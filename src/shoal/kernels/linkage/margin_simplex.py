"""The revised simplex that plays the game of `margins`: compiled, with an explicit inverse of the basis.

Basis entries are numbers: below the number of rows, a candidate's margin; that number itself, no record at all; above it, a constraint.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.linkage.forms import NOTHING, add_direction, matrix_of, mixed_margins, nearest_links, semidefinite, write_margin

LEFT_OUT = 4.0  # what a record that is not chosen has its margins raised by
OPTIMAL = 1e-11  # reduced costs above minus this are satisfied
ONLY_ROUNDING = 1e-12


class Owners(NamedTuple):
    """Whose margins the rows are."""

    record: IntArray  # of each row
    start: IntArray  # where each record's rows begin, and where the last one's end
    hot: BoolArray  # rows that were in the way before: only they are priced at every step


class Forms(NamedTuple):
    """What bilinear forms need to write a margin when it is asked for; n is 0 for every other family."""

    n: int
    original: FloatArray
    protected: FloatArray
    wrong: IntArray  # the protected row of each candidate


@njit(cache=True)
def best_margin(rows, owners, bounds, count, chosen, basis, enough, forms):
    """Returns the value, theta, the dual share of every basis entry, the number of pivots and whether it came to an end.

    `rows` are margins, `bounds` constraints of which `count` are in force; basis, owners.hot and count change in place.
    """
    size = len(basis) - 1
    share, theta = np.empty(size + 1), np.empty(size)
    listed, known = _listed(owners, chosen)
    inverse = _inverse(rows, bounds, basis)
    fresh, steps = 0, 0  # pivots since the inverse was computed anew, and in all
    flat, chance = 0, 12345  # pivots without progress, one after the other
    anew, settled = False, False
    v = NOTHING
    while True:
        if anew:
            inverse, fresh, anew = _inverse(rows, bounds, basis), 0, False
        v, others = _read(rows, owners, bounds, chosen, basis, inverse, share, theta)
        if v < enough and others < ONLY_ROUNDING:
            if forms.n == 0 or enough < 0 or _left_to_win(rows, basis, share, forms) < enough:
                settled = True
                break
            if fresh > 0:
                anew = True
                continue
        entering = _most_violated(rows, bounds, count[0], listed[:known], theta, v, basis)
        if entering < 0:
            known, lowest, entering = _look_at_all(rows, owners, chosen, forms, listed, known, theta, v)
            if lowest > enough and enough > 0:
                if forms.n > 0:
                    theta_there = semidefinite(theta, forms.n)
                    lowest = nearest_links(forms.original, forms.protected, forms.wrong, owners.start, chosen, theta_there, forms.n)[
                        0
                    ].min()
                if lowest > enough:
                    v, settled = lowest, True
                    if forms.n > 0:
                        theta = theta_there
                    break
        if entering < 0 and forms.n > 0 and v > enough:
            if enough > 0 and others < ONLY_ROUNDING:
                left = _left_to_win(rows, basis, share, forms)
                if left < 0.9 * enough:  # less than v, which rests on the eigenvectors met so far
                    v, settled = left, True
                    break
            if _cut_off(theta, forms.n, bounds, count):
                continue
        if entering < 0:
            if fresh > 20:
                anew = True
                continue
            settled = True
            break
        step = inverse @ _column(rows, bounds, entering, size)
        leaving, shortest, chance = _leaving(step, share, flat, chance)
        if leaving < 0:
            if fresh > 0:
                anew = True
                continue
            break
        flat = flat + 1 if shortest < ONLY_ROUNDING else 0
        basis[leaving] = entering
        _pivot(inverse, step, leaving)
        steps += 1
        fresh += 1
        anew = fresh >= 100
        if steps > 20000:
            break
    return v, theta, share, steps, settled


@njit(cache=True)
def _listed(owners, chosen):
    """The rows of chosen records that were in the way before, with room for all."""
    listed = np.empty(len(owners.record), np.int64)
    known = 0
    for i in range(len(chosen)):
        if chosen[i]:
            for r in range(owners.start[i], owners.start[i + 1]):
                if owners.hot[r]:
                    listed[known] = r
                    known += 1
    return listed, known


@njit(cache=True)
def _inverse(rows, bounds, basis):
    size = len(basis) - 1
    matrix = np.empty((size + 1, size + 1))
    for b in range(size + 1):
        matrix[:, b] = _column(rows, bounds, basis[b], size)
    return np.ascontiguousarray(np.linalg.inv(matrix))


@njit(cache=True)
def _read(rows, owners, bounds, chosen, basis, inverse, share, theta):
    """The value and the parameters of a basis; and what records that are not chosen, or none, still hold of the mixture."""
    count, size = len(rows.offset), len(theta)
    v, others = 0.0, 0.0
    theta[:] = 0.0
    for b in range(size + 1):
        entry = basis[b]
        share[b] = max(inverse[b, size], 0.0)
        if entry < count:
            cost = rows.offset[entry] + (0.0 if chosen[owners.record[entry]] else LEFT_OUT)
            if not chosen[owners.record[entry]]:
                others += share[b]
        elif entry == count:
            cost = NOTHING
            others += share[b]
        else:
            cost = bounds.offset[entry - count - 1]
        v += cost * inverse[b, size]
        for k in range(size):
            theta[k] -= cost * inverse[b, k]
    return v, others


@njit(cache=True)
def _left_to_win(rows, basis, share, forms):
    return np.linalg.eigvalsh(mixed_margins(rows.value, rows.offset, basis, share, len(rows.offset), forms.n))[forms.n - 1]


@njit(cache=True)
def _most_violated(rows, bounds, in_force, listed, theta, v, basis):
    """Of constraints and listed rows, the entry that violates most, or -1. What is in the basis can only seem to."""
    count = len(rows.offset)
    worst, entering = -OPTIMAL, -1
    for t in range(in_force):
        rest = bounds.offset[t] + dot(bounds.columns, bounds.value, t, theta)
        if rest < worst and not _among(basis, count + 1 + t):
            worst, entering = rest, count + 1 + t
    for r in listed:
        rest = rows.offset[r] + dot(rows.columns, rows.value, r, theta) - v
        if rest < worst and not _among(basis, r):
            worst, entering = rest, r
    if NOTHING - v < worst:
        entering = count
    return entering


@njit(cache=True)
def _look_at_all(rows, owners, chosen, forms, listed, known, theta, v):
    """List the worst row of every chosen record that is in the way; returns how many are listed, the least margin and the worst of all."""
    if forms.n > 0:
        least, at_row = nearest_links(forms.original, forms.protected, forms.wrong, owners.start, chosen, theta, forms.n)
    lowest, worst, entering = v, -OPTIMAL, -1
    for i in range(len(chosen)):
        if not chosen[i]:
            continue
        low, where = v - OPTIMAL, -1
        if forms.n > 0:
            if at_row[i] >= 0 and not owners.hot[at_row[i]] and least[i] < low:
                low, where = least[i], at_row[i]
                wrong = forms.protected[forms.wrong[where]]
                write_margin(rows.value, rows.offset, where, forms.original[i], wrong, forms.protected[i], forms.n)
        else:
            for r in range(owners.start[i], owners.start[i + 1]):
                if not owners.hot[r]:
                    rest = rows.offset[r] + dot(rows.columns, rows.value, r, theta)
                    if rest < low:
                        low, where = rest, r
        if where >= 0:
            owners.hot[where] = True
            listed[known] = where
            known += 1
            lowest = min(lowest, low)
            if low - v < worst:
                worst, entering = low - v, where
    return known, lowest, entering


@njit(cache=True)
def _cut_off(theta, n, bounds, count):
    """A constraint for every negative eigenvalue of the best matrix; whether there was one, and room for it."""
    before = count[0]
    spectrum, vectors = np.linalg.eigh(matrix_of(theta, n))
    for e in range(n):
        if spectrum[e] < -OPTIMAL and count[0] < len(bounds.offset):
            add_direction(bounds.value, bounds.offset, count, vectors[:, e])
    return spectrum[0] < -OPTIMAL and count[0] > before


@njit(cache=True)
def _leaving(step, share, flat, chance):
    """The entry whose share is used up first; of ties the one with the largest step, or any of them to break out of a circle."""
    leaving, shortest, largest = -1, np.inf, 0.0
    for b in range(len(step)):
        if step[b] > 1e-9:
            ratio = share[b] / step[b]
            if ratio < shortest - ONLY_ROUNDING:
                leaving, shortest, largest = b, ratio, step[b]
            elif ratio < shortest + ONLY_ROUNDING:
                if flat > 30:
                    chance = (1103515245 * chance + 12345) % 2147483648
                    better = (chance >> 16) % 3 == 0
                else:
                    better = step[b] > largest
                if better:
                    leaving, shortest, largest = b, min(ratio, shortest), step[b]
    return leaving, shortest, chance


@njit(cache=True)
def _pivot(inverse, step, leaving):
    inverse[leaving] /= step[leaving]
    for b in range(len(step)):
        if b != leaving and step[b] != 0.0:
            for k in range(len(step)):
                inverse[b, k] -= step[b] * inverse[leaving, k]


@njit(cache=True)
def _column(rows, bounds, entry, size):
    count = len(rows.offset)
    column = np.zeros(size + 1)
    if entry <= count:
        column[size] = 1.0
    if entry < count:
        _add(rows.columns, rows.value, entry, column)
    elif entry > count:
        _add(bounds.columns, bounds.value, entry - count - 1, column)
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


@njit(cache=True, fastmath={"contract", "reassoc"})
def dot(index, value, row, theta):
    total = 0.0
    if len(index) == 0:
        for place in range(value.shape[1]):
            total += value[row, place] * theta[place]
    else:
        for place in range(value.shape[1]):
            total += value[row, place] * theta[index[row, place]]
    return total


@njit(cache=True)
def least_margins(index, value, offset, start, theta):
    out = np.full(len(start) - 1, NOTHING)
    for i in range(len(out)):
        for r in range(start[i], start[i + 1]):
            out[i] = min(out[i], offset[r] + dot(index, value, r, theta))
    return out
