"""Self-organizing maps by batches (Kohonen 2013), fast enough for maps of ten thousand units, and what microaggregation does with them.

Units lie on a grid of rows by columns, and each is a point. In an epoch every record goes to its best unit, the nearest one (of equally
near ones the lowest), and every unit becomes the mean of all records, each weighed by a Gaussian of how far its best unit is on the grid.
A Gaussian on a grid is a product over the two directions, so this is a sum by best unit and a blur along rows and along columns: no
matrix of records by units is ever made. Best units are searched in a kd-tree, from the record's last best unit.

A large map grows: one of half the rows and columns is trained first, on a sample of the records, and every unit then becomes four.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.live_tree import nearest, plant
from shoal.kernels.mdav import checked_points
from shoal.kernels.separation import davies_bouldin

EPOCHS = 40
NARROWEST = 0.5  # the last sigma, in steps of the grid
MANY = 20_000  # records from which a map grows instead of being trained whole
FEW_UNITS = 64  # a map of no more than this is not halved further
SAMPLE = 3  # records per unit that such a map is trained on, at each of its sizes
LATE_EPOCHS = 3  # at each size after the first
LEAF_SIZE = 8
REACH = 6.0  # sigmas at which a Gaussian ends; less than 2e-8 is left out


class Map(NamedTuple):
    """Unit `row * columns + column` stands at (row, column) of the grid."""

    rows: int
    columns: int
    units: FloatArray  # (rows * columns, d)


def kohonen_units(n: int) -> int:
    """5 √n, Kohonen's rule of thumb, and never more than there are records."""
    return max(1, min(n, int(np.ceil(5 * np.sqrt(n)))))


def map_shape(points: FloatArray, units: int) -> tuple[int, int]:
    """Rows and columns of about so many units, their ratio that of the two largest standard deviations of the data."""
    spread = _principal(points)[1]
    ratio = np.sqrt(spread[0] / spread[1]) if spread[1] > 1e-12 * spread[0] else np.inf
    columns = max(1, round(np.sqrt(units / ratio))) if np.isfinite(ratio) else 1
    return max(1, units // columns), int(columns)


def train(points: FloatArray, rows: int, columns: int, epochs: int = EPOCHS) -> Map:
    """A map spread over the plane of the two largest principal components, then trained while sigma falls to half a step."""
    data = checked_points(points, 1)
    sizes = [(rows, columns)]
    while len(data) > MANY and sizes[-1][0] * sizes[-1][1] > FEW_UNITS:
        sizes.append(((sizes[-1][0] + 1) // 2, (sizes[-1][1] + 1) // 2))
    order = spread_order(data) if sizes[1:] else None
    size = sizes.pop()
    units = _trained(_some(data, order, size), _plane(data, *size), size, np.geomspace(max(*size, 2) / 4, NARROWEST, epochs))
    for larger in reversed(sizes):
        units = _finer(units.reshape(*size, -1), *larger).reshape(larger[0] * larger[1], -1)
        size = larger
        units = _trained(_some(data, order, size), units, size, np.geomspace(1.0, NARROWEST, LATE_EPOCHS))
    return Map(rows, columns, units)


def _trained(records: FloatArray, units: FloatArray, size: tuple[int, int], sigmas: FloatArray) -> FloatArray:
    best = best_units(records, units)[0]
    order = np.argsort(best, kind="stable")  # neighbours after one another: the tree stays in cache
    records, best = np.ascontiguousarray(records[order]), best[order]
    for turn, sigma in enumerate(sigmas):
        if turn:
            best = best_units(records, units, best)[0]
        units = _means(_blurred(_totals(records, best, *size), sigma), units)
    return units


def spread_order(data: FloatArray) -> IntArray:
    """The records along the widest direction: every so-manyth of them is a sample without chance, however the rows came."""
    return np.argsort(data @ _principal(data)[0][0], kind="stable")


def evenly(order: IntArray, count: int) -> IntArray:
    """About so many of them, evenly spread."""
    return order[np.linspace(0, len(order) - 1, min(count, len(order))).astype(np.int64)]


def _some(data: FloatArray, order: IntArray | None, size: tuple[int, int]) -> FloatArray:
    count = SAMPLE * size[0] * size[1]
    return data if order is None or count >= len(data) else np.ascontiguousarray(data[evenly(order, count)])


def best_units(points: FloatArray, units: FloatArray, start: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """The nearest unit of every record, and its squared distance. `start`: units that are probably near, to search from."""
    near, distance = nearest_units(points, units, 1, start)
    return near[:, 0], distance[:, 0]


def nearest_units(points: FloatArray, units: FloatArray, count: int, start: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """The `count` nearest units of every record, near ones first."""
    data = np.ascontiguousarray(points, dtype=np.float64)
    tree = plant(np.ascontiguousarray(units, dtype=np.float64), LEAF_SIZE)
    leaf = np.zeros(len(data), np.int64) if start is None else tree.leaf[start]  # node 0 is the root
    found: tuple[IntArray, FloatArray] = _nearest(tree, data, leaf, min(count, len(units)))
    return found


@njit(cache=True)
def _nearest(tree, data, leaf, count):
    found = np.empty((data.shape[0], count), np.int64)
    distance = np.empty((data.shape[0], count))
    stack, bounds = np.empty(256, np.int64), np.empty(256)
    for i in range(data.shape[0]):
        nearest(tree, data[i], leaf[i], count, found[i], distance[i], stack, bounds)
    return found, distance


def quantization_error(points: FloatArray, units: FloatArray) -> float:
    """Mean distance of a record from its best unit."""
    return float(np.sqrt(best_units(points, units)[1]).mean())


@njit(cache=True)
def _totals(data, place, rows, columns):
    """The sum of the records at each place of a grid, and in the last column how many they are."""
    n, d = data.shape
    totals = np.zeros((rows * columns, d + 1))
    for i in range(n):
        at = place[i]
        for j in range(d):
            totals[at, j] += data[i, j]
        totals[at, d] += 1.0
    return totals.reshape(rows, columns, d + 1)


def _blurred(totals: FloatArray, sigma: float) -> FloatArray:
    across: FloatArray = _blur_rows(np.ascontiguousarray(totals), sigma)
    other: FloatArray = _blur_rows(np.ascontiguousarray(across.transpose(1, 0, 2)), sigma)
    return other.transpose(1, 0, 2)


@njit(cache=True)
def _blur_rows(totals, sigma):
    rows, columns, d = totals.shape
    reach = min(rows - 1, int(np.ceil(REACH * sigma)))
    weight = np.exp(-0.5 * (np.arange(reach + 1) / sigma) ** 2)
    result = np.zeros_like(totals)
    for r in range(rows):
        for other in range(max(0, r - reach), min(rows, r + reach + 1)):
            w = weight[abs(r - other)]
            for c in range(columns):
                for j in range(d):
                    result[r, c, j] += w * totals[other, c, j]
    return result


def _means(weighed: FloatArray, units: FloatArray) -> FloatArray:
    """Sums over weights; a unit with no record in reach stays where it is."""
    flat = weighed.reshape(len(units), -1)
    weight = flat[:, -1:]
    return np.ascontiguousarray(np.where(weight > 0, flat[:, :-1] / np.where(weight > 0, weight, 1.0), units))


def _principal(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The two directions of largest variance, their signs fixed so that runs repeat, and the variances."""
    d = points.shape[1]
    centred = points - points.mean(axis=0)
    value, vector = np.linalg.eigh(centred.T @ centred / len(points))
    directions, spread = np.zeros((2, d)), np.zeros(2)
    for at in range(min(2, d)):
        direction = vector[:, d - 1 - at]
        directions[at] = direction * np.sign(direction[np.argmax(np.abs(direction))])
        spread[at] = max(value[d - 1 - at], 0.0)
    return directions, spread


def _plane(points: FloatArray, rows: int, columns: int) -> FloatArray:
    directions, spread = _principal(points)
    along, across = (np.linspace(-1, 1, side) if side > 1 else np.zeros(1) for side in (rows, columns))
    steps = np.sqrt(spread)[:, None] * directions
    return np.ascontiguousarray(
        points.mean(axis=0) + np.repeat(along, columns)[:, None] * steps[0] + np.tile(across, rows)[:, None] * steps[1]
    )


def _finer(units: FloatArray, rows: int, columns: int) -> FloatArray:
    """The same sheet with more units, between the old ones by straight lines."""
    for axis, side in ((0, rows), (1, columns)):
        old = units.shape[axis]
        at = (np.arange(side) + 0.5) * old / side - 0.5
        low = np.clip(np.floor(at).astype(np.int64), 0, max(old - 2, 0))
        share = (at - low if old > 1 else np.zeros(side)).reshape(-1, *[1] * (units.ndim - 1))
        turned = np.moveaxis(units, axis, 0)
        units = np.moveaxis((1 - share) * turned[low] + share * turned[np.minimum(low + 1, old - 1)], 0, axis)
    return np.ascontiguousarray(units)


# ---- maps of several views of the same records ------------------------------------------------------------------------------------------


def collaborate(views: Sequence[FloatArray], maps: Sequence[Map], sigma: float = NARROWEST, most_rounds: int = 20) -> tuple[list[Map], int]:
    """Maps of one size, each pulled towards where the others put its records (Grozavu & Bennani 2010), and how many steps were taken.

    A step is taken only if the Davies-Bouldin index of that view's groups falls. The other views have a weight of 1 together.
    """
    result = list(maps)
    if len(views[0]) > MANY:
        rows = evenly(spread_order(np.hstack(views)), SAMPLE * len(maps[0].units))
        views = [np.ascontiguousarray(points[rows]) for points in views]
    best = [best_units(points, one.units)[0] for points, one in zip(views, maps)]
    index = [davies_bouldin(points, groups) for points, groups in zip(views, best)]
    taken = 0
    for _ in range(most_rounds if len(views) > 1 else 0):
        before = taken
        for a, points in enumerate(views):
            units = collaborated(points, result[a], best[a], [best[b] for b in range(len(views)) if b != a], sigma)
            groups = best_units(points, units, best[a])[0]
            now = davies_bouldin(points, groups)
            if now < index[a]:
                result[a], best[a], index[a] = result[a]._replace(units=units), groups, now
                taken += 1
        if taken == before:
            break
    return result, taken


def collaborated(points: FloatArray, own: Map, best: IntArray, others: Sequence[IntArray], sigma: float) -> FloatArray:
    """The units that make  Σ K |x - w|² + β Σ (K - K')² |x - w|²  least: means of the records weighed by K + β Σ (K - K')².

    K is the Gaussian around a record's own best unit, K' that around its best unit in another view, β one over the number of others. The
    square is K² - 2 K K' + K'², and each part is a Gaussian on a grid again: K² of a narrower one, K K' of one around the middle of the two
    units, on a grid twice as fine, shrunk by how far they are apart.
    """
    rows, columns, beta = own.rows, own.columns, 1.0 / len(others)
    data = np.ascontiguousarray(points, dtype=np.float64)
    mine = _totals(data, best, rows, columns)
    weighed = _blurred(mine, sigma) + _blurred(mine, sigma / np.sqrt(2))  # β times the number of others is 1
    for other in others:
        weighed = weighed + beta * _blurred(_totals(data, other, rows, columns), sigma / np.sqrt(2))
        middle = _middle_totals(data, best, other, rows, columns, sigma)
        weighed -= 2 * beta * _blurred(middle, sigma * np.sqrt(2))[::2, ::2]
    return _means(weighed, own.units)


@njit(cache=True)
def _middle_totals(data, one, two, rows, columns, sigma):
    n, d = data.shape
    totals = np.zeros((2 * rows - 1, 2 * columns - 1, d + 1))
    for i in range(n):
        r1, c1, r2, c2 = one[i] // columns, one[i] % columns, two[i] // columns, two[i] % columns
        weight = np.exp(-((r1 - r2) ** 2 + (c1 - c2) ** 2) / (4.0 * sigma * sigma))
        for j in range(d):
            totals[r1 + r2, c1 + c2, j] += weight * data[i, j]
        totals[r1 + r2, c1 + c2, d] += weight
    return totals


# ---- coding, and groups of at least k ---------------------------------------------------------------------------------------------------


def linear_mixture(points: FloatArray, units: FloatArray, count: int = 4) -> FloatArray:
    """Each record as the nearest sum of non-negative multiples of its `count` nearest units (Kohonen's linear mixture of models)."""
    data = np.ascontiguousarray(points, dtype=np.float64)
    models = np.ascontiguousarray(units, dtype=np.float64)
    near = nearest_units(data, models, count)[0]
    result: FloatArray = _mixtures(data, models, near)
    return result


@njit(cache=True)
def _mixtures(data, units, near):
    """The best of all least squares over some of the units whose factors are not negative. Units that depend on others are never needed."""
    n, d = data.shape
    q = near.shape[1]
    result = np.zeros((n, d))
    gram, right = np.empty((q, q)), np.empty(q)
    part, factor = np.empty((q, q + 1)), np.empty(q)
    used, best_used, best_factor = np.empty(q, np.int64), np.empty(q, np.int64), np.empty(q)
    for i in range(n):
        for a in range(q):
            right[a] = 0.0
            for j in range(d):
                right[a] += units[near[i, a], j] * data[i, j]
            for b in range(a + 1):
                total = 0.0
                for j in range(d):
                    total += units[near[i, a], j] * units[near[i, b], j]
                gram[a, b] = gram[b, a] = total
        best, best_size = 0.0, 0
        for subset in range(1, 1 << q):
            size = 0
            for a in range(q):
                if subset >> a & 1:
                    used[size] = a
                    size += 1
            if not _solved(gram, right, used, size, part, factor):
                continue
            gained = 0.0  # |x|² minus the squared distance from the mixture
            for a in range(size):
                gained += factor[a] * right[used[a]]
            if gained > best * (1.0 + 1e-12):
                best, best_size = gained, size
                best_used[:size] = used[:size]
                best_factor[:size] = factor[:size]
        for a in range(best_size):
            for j in range(d):
                result[i, j] += best_factor[a] * units[near[i, best_used[a]], j]
    return result


@njit(cache=True, inline="always")
def _solved(gram, right, used, size, part, factor):
    """Solve for the factors by elimination; False where units depend on each other or a factor is negative."""
    for a in range(size):
        for b in range(size):
            part[a, b] = gram[used[a], used[b]]
        part[a, size] = right[used[a]]
    for a in range(size):
        if part[a, a] <= 1e-10 * gram[used[a], used[a]]:
            return False
        for b in range(a + 1, size):
            share = part[b, a] / part[a, a]
            for c in range(a, size + 1):
                part[b, c] -= share * part[a, c]
    for a in range(size - 1, -1, -1):
        total = part[a, size]
        for b in range(a + 1, size):
            total -= part[a, b] * factor[b]
        factor[a] = total / part[a, a]
        if factor[a] < 0.0:
            return False
    return True
