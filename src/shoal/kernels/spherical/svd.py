"""Spherical MDAV among topics: sparse rows are brought to a few singular directions, where rows that share no word can still be similar.

The directions come from a randomized range finder with power iterations (Halko, Martinsson & Tropp 2011). Its draws are always the same, so
for rows in the order of their content the groups do not depend on that of the table. Points are scaled to length 1. MDAV is that of
`spherical`, with the same rules for ties, over dense points in single precision: the space is an approximation already.
"""

import numpy as np
from numba import njit
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shoal.arrays import Float32Array, FloatArray, IntArray
from shoal.kernels.spherical.mdav import CALLS, Progress, Rows

Points = Float32Array
POWER = 3
OVER = 10  # directions more than asked for, which make those asked for exact


def latent_points(rows: Rows, components: int) -> Points:
    """Each row's place along the first singular directions, scaled to length 1."""
    n = len(rows.starts) - 1
    weights = rows.weights.astype(np.float32)
    kept = min(components, n, rows.width)
    drawn = np.random.default_rng(0).standard_normal((rows.width, min(kept + OVER, n, rows.width)), np.float32)
    with threadpool_limits(1):  # the matrices are slim: threads would wait for each other
        basis = _orthonormal(_times(rows.starts, rows.terms, weights, drawn))
        for _ in range(POWER):
            across = _transposed_times(rows.starts, rows.terms, weights, basis, rows.width)
            basis = _orthonormal(_times(rows.starts, rows.terms, weights, across))
        values, vectors = _spectrum(_transposed_times(rows.starts, rows.terms, weights, basis, rows.width))
        points = basis @ (vectors[:, :kept] * np.sqrt(values[:kept])).astype(np.float32)
    length = np.sqrt((points.astype(np.float64) ** 2).sum(axis=1))
    return np.ascontiguousarray(points / np.where(length > 0, length, 1.0)[:, None], np.float32)


def _spectrum(slim: Points) -> tuple[FloatArray, FloatArray]:
    """Squared singular values and right directions of a matrix of few columns, the strongest first; those of no strength are left out."""
    wide = slim.astype(np.float64)
    values, vectors = np.linalg.eigh(wide.T @ wide)
    kept = np.flatnonzero(values > 1e-10 * values[-1])[::-1]
    return values[kept], vectors[:, kept]


def _orthonormal(slim: Points) -> Points:
    """Columns that span the same, from the products of columns: a fraction of the time of an orthogonalization row by row."""
    values, vectors = _spectrum(slim)
    return np.ascontiguousarray(slim @ (vectors / np.sqrt(values)).astype(np.float32))


def mdav_of_directions(points: Points, k: int, progress: Progress | None = None) -> IntArray:
    """The group of each point, numbered in order of creation; sizes are k to 2k - 1, or all points where there are fewer than 2k."""
    n = live = len(points)
    packed = points.copy()
    ids = np.arange(n)
    groups = np.full(n, -1, np.int64)
    made = 0
    while live >= 2 * k:
        made, live = _rounds(packed, ids, groups, live, k, made, max(8, n // (2 * k * CALLS)))
        if progress is not None:
            progress(n - live, n)
    groups[ids[:live]] = made
    return groups


# Rows are taken out of the innermost loops: only then are these compiled to vector instructions.


@njit(cache=True)
def _times(starts, terms, weights, right):
    found = np.zeros((starts.shape[0] - 1, right.shape[1]), np.float32)
    for i in range(found.shape[0]):
        to = found[i]
        for p in range(starts[i], starts[i + 1]):
            weight, row = weights[p], right[terms[p]]
            for c in range(to.shape[0]):
                to[c] += weight * row[c]
    return found


@njit(cache=True)
def _transposed_times(starts, terms, weights, right, width):
    found = np.zeros((width, right.shape[1]), np.float32)
    for i in range(starts.shape[0] - 1):
        row = right[i]
        for p in range(starts[i], starts[i + 1]):
            weight, to = weights[p], found[terms[p]]
            for c in range(row.shape[0]):
                to[c] += weight * row[c]
    return found


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _products(points, live, vector, found):
    for a in range(live):
        product = np.float32(0.0)
        for c in range(points.shape[1]):
            product += points[a, c] * vector[c]
        found[a] = product


@njit(cache=True)
def _rounds(points, ids, groups, live, k, made, most):
    """Up to `most` rounds of two groups, of one where fewer than 3k rows are left. Rows that stay close up in their order."""
    d = points.shape[1]
    to_sum = np.empty(live, np.float32)
    here = np.empty(live, np.float32)
    near = np.empty(k, np.int64)
    gone = np.zeros(live, np.bool_)
    for _ in range(most):
        if live < 2 * k:
            break
        total = np.zeros(d)
        for a in range(live):
            for c in range(d):
                total[c] += points[a, c]
        length = max(np.sqrt((total * total).sum()), 1e-300)
        _products(points, live, (total / length).astype(np.float32), to_sum)
        here[:live] = to_sum[:live]
        out = 0
        for _side in range(2 if live >= 3 * k else 1):
            first = -1
            for a in range(live):
                if not gone[a] and (first < 0 or here[a] < here[first] or (here[a] == here[first] and to_sum[a] < to_sum[first])):
                    first = a
            _products(points, live, points[first].copy(), here)
            near[0] = first
            gone[first] = True
            filled = 1
            for a in range(live):
                if gone[a] or (filled == k and (k == 1 or here[a] <= here[near[k - 1]])):
                    continue
                if filled < k:
                    filled += 1
                at = filled - 1
                while at > 1 and here[near[at - 1]] < here[a]:
                    near[at] = near[at - 1]
                    at -= 1
                near[at] = a
            for b in range(k):
                gone[near[b]] = True
                groups[ids[near[b]]] = made
            made += 1
            out += k
        left = 0
        for a in range(live):
            if gone[a]:
                gone[a] = False
                continue
            if left < a:
                ids[left] = ids[a]
                points[left] = points[a]
            left += 1
        live -= out
    return made, live
