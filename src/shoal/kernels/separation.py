"""How well clusters are apart: the Davies-Bouldin index (1979) and silhouettes (Rousseeuw 1987), in Euclidean distance."""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray

MOST_PAIRS = 400_000_000  # distances up to which every record is looked at
ROUNDING = 1e-11  # of a column's largest value: what a mean may be off by


def davies_bouldin(points: FloatArray, clusters: IntArray) -> float:
    """Mean over the clusters of the worst (s + s') / |c - c'|, s the mean distance from the centroid c; lower is better.

    Means of equal numbers differ in their last digits: what is smaller than that counts as nothing. Two clusters that are one and the same
    point are not held against each other; NaN for fewer than two clusters, infinity where wide ones share a centroid, or all do.
    """
    data = np.ascontiguousarray(points, dtype=np.float64)
    sizes = np.bincount(clusters)
    held = np.flatnonzero(sizes)
    if len(held) < 2:
        return float("nan")
    noise = ROUNDING * np.abs(data).max(axis=0)
    dense = (np.cumsum(sizes > 0) - 1)[clusters]
    centres = np.column_stack([np.bincount(dense, column) for column in data.T]) / sizes[held, None]
    apart = np.abs(data - centres[dense])
    scatter = np.bincount(dense, np.sqrt((np.where(apart > noise, apart, 0.0) ** 2).sum(axis=1))) / sizes[held]
    return float(_davies_bouldin(np.ascontiguousarray(centres), scatter, noise))


@njit(cache=True)
def _davies_bouldin(centres, scatter, noise):
    m, d = centres.shape
    worst = np.zeros(m)
    compared = False
    for a in range(m):
        for b in range(a + 1, m):
            total = 0.0
            for j in range(d):
                step = abs(centres[a, j] - centres[b, j])
                if step > noise[j]:
                    total += step * step
            wide = scatter[a] + scatter[b]
            if total == 0.0 and wide == 0.0:
                continue
            if total == 0.0:
                return np.inf
            compared = True
            ratio = wide / np.sqrt(total)
            worst[a] = max(worst[a], ratio)
            worst[b] = max(worst[b], ratio)
    return worst.mean() if compared else np.inf


def silhouette(points: FloatArray, clusters: IntArray) -> tuple[float, float]:
    """The mean silhouette, and the share of records it was taken over: 1 unless there are too many distances.

    b is the smallest mean distance to another cluster, a that to the rest of the own one; the silhouette is (b - a) / max(a, b), 0 for a
    record alone in its cluster. Equal records of a cluster are counted together. Where still too many pairs remain, records are taken evenly
    along the order of their values. NaN for fewer than two clusters.
    """
    data = np.ascontiguousarray(points, dtype=np.float64)
    dense = np.unique(clusters, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if dense.max(initial=0) < 1:
        return float("nan"), 1.0
    order = np.lexsort((*data.T[::-1], dense))
    rows, inside = data[order], dense[order]
    new = np.append(True, (np.diff(inside) != 0) | (np.diff(rows, axis=0) != 0).any(axis=1))
    first = np.flatnonzero(new)
    weight = np.diff(np.append(first, len(rows)))
    count = min(len(first), max(1, MOST_PAIRS // len(first)))
    asked = np.unique(np.linspace(0, len(first) - 1, count).astype(np.int64))
    found = _silhouettes(rows[first], inside[first], weight, asked)
    return float(np.average(found, weights=weight[asked])), float(weight[asked].sum() / len(rows))


@njit(cache=True)
def _silhouettes(rows, clusters, weight, asked):
    m, d = rows.shape
    k = clusters[m - 1] + 1
    size = np.zeros(k)
    for i in range(m):
        size[clusters[i]] += weight[i]
    result = np.zeros(asked.shape[0])
    total = np.empty(k)
    for at in range(asked.shape[0]):
        i = asked[at]
        own = clusters[i]
        if size[own] < 2:
            continue
        total[:] = 0.0
        for other in range(m):
            distance = 0.0
            for j in range(d):
                step = rows[i, j] - rows[other, j]
                distance += step * step
            total[clusters[other]] += weight[other] * np.sqrt(distance)
        a, b = total[own] / (size[own] - 1.0), np.inf
        for c in range(k):
            if c != own:
                b = min(b, total[c] / size[c])
        if max(a, b) > 0.0:
            result[at] = (b - a) / max(a, b)
    return result
