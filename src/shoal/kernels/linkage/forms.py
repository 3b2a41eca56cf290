"""Bilinear forms in the game of margins: symmetric matrices of trace 1 by their free entries, and what makes them semidefinite.

The free entries are those of the upper triangle but the last diagonal one, which the trace determines.
"""

import numpy as np
from numba import njit

NOTHING = 2.0  # the margin of no record at all: rows are scaled so that no margin exceeds 1


@njit(cache=True)
def matrix_of(theta, n):
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
def semidefinite(theta, n):
    """The free entries of the matrix without its negative eigenvalues, with trace 1 again."""
    spectrum, vectors = np.linalg.eigh(matrix_of(theta, n))
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
def nearest_links(original, protected, rows, start, chosen, theta, n):
    """Of every chosen record, the least margin under a bilinear form and its row. Along eigenvectors a form is a sum of n squares."""
    spectrum, vectors = np.linalg.eigh(matrix_of(theta, n))
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
def mixed_margins(value, offset, basis, share, rows, n):
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
def add_direction(value, offset, count, u):
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
def write_margin(value, offset, r, x, wrong, true, n):
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
