"""wLVQ2: learning vector quantization with a weight for every column (Bennani 1999), its signs taken from its cost.

For a record x whose nearest prototype m_i is of another class and whose second nearest m_j is of its own, both measured from Wx with W the
diagonal of weights, the cost is

    R = |Wx - m_j|² - |Wx - m_i|²

and descent moves m_i away from Wx, m_j towards it, and each weight w against x (m_i - m_j). The rule printed by Zouinina et al. (2020) has
both signs of the prototypes reversed, and m_j where m_i belongs. Prototypes live where Wx does: divide by the weights to get records.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.som import best_units

EPOCHS = 30
RATE, WEIGHT_RATE = 0.1, 0.05  # at the start; both fall to 0 along a straight line
WINDOW = 0.3
LEAST, MOST = 0.2, 5.0  # weights stay within
MOST_WORK = 2_000_000_000  # records times prototypes looked at, in all


class Prototypes(NamedTuple):
    """What was learnt: prototypes of Wx, the class of each, the weights, and the share of the records whose nearest one has their class."""

    units: FloatArray  # (m, d)
    classes: IntArray  # (m,)
    weights: FloatArray  # (d,)
    accuracy: float


@njit(cache=True)
def gradients(x, m_i, m_j, w):
    """Half the derivatives of R by m_i, by m_j and by w."""
    d = x.shape[0]
    by_i, by_j, by_w = np.empty(d), np.empty(d), np.empty(d)
    for k in range(d):
        by_i[k] = w[k] * x[k] - m_i[k]
        by_j[k] = m_j[k] - w[k] * x[k]
        by_w[k] = x[k] * (m_i[k] - m_j[k])
    return by_i, by_j, by_w


def majority(groups: IntArray, classes: IntArray, units: int) -> IntArray:
    """The commonest class of each unit's records, the lowest of equally common ones; -1 where a unit has none."""
    width = int(classes.max(initial=0)) + 1
    counts = np.bincount(groups * width + classes, minlength=units * width).reshape(units, width)
    return np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), -1)


def wlvq2(points: FloatArray, classes: IntArray, units: FloatArray, rng: np.random.Generator, epochs: int = EPOCHS) -> Prototypes:
    """Prototypes from the units of a map that have records, moved so that records find one of their own class.

    LVQ2 can run away, so what is kept is the best of all epochs and of the beginning, by the share of records that do.
    """
    data = np.ascontiguousarray(points, dtype=np.float64)
    labels = np.ascontiguousarray(classes, dtype=np.int64)
    start = np.ascontiguousarray(units, dtype=np.float64)
    best = best_units(data, start)[0]
    of_unit = majority(best, labels, len(start))
    held = of_unit >= 0
    moved, of_unit = start[held].copy(), of_unit[held]
    weights = np.ones(data.shape[1])
    kept = Prototypes(moved.copy(), of_unit, weights.copy(), _accuracy(data, labels, moved, of_unit, weights))
    if len(moved) < 2:
        return kept
    shown = min(len(data), max(1, MOST_WORK // (epochs * len(moved))))
    for epoch in range(epochs):
        left = 1.0 - epoch / epochs
        order = rng.permutation(len(data))[:shown]
        _present(data, labels, order, moved, of_unit, weights, left * RATE, WEIGHT_RATE * left, (1.0 - WINDOW) / (1.0 + WINDOW))
        now = _accuracy(data, labels, moved, of_unit, weights)
        if now > kept.accuracy:
            kept = Prototypes(moved.copy(), of_unit, weights.copy(), now)
    return kept


def _accuracy(data: FloatArray, labels: IntArray, units: FloatArray, of_unit: IntArray, weights: FloatArray) -> float:
    return float((of_unit[best_units(data * weights, units)[0]] == labels).mean())


@njit(cache=True)
def _present(data, labels, order, units, of_unit, w, rate, weight_rate, window):
    d = data.shape[1]
    for row in order:
        x, own = data[row], labels[row]
        i, j, near, second = _two_nearest(x, units, w)
        if of_unit[i] == own or of_unit[j] != own:
            continue
        if np.sqrt(near) <= window * np.sqrt(second):  # far from the middle between the two
            continue
        by_i, by_j, by_w = gradients(x, units[i], units[j], w)
        for k in range(d):
            units[i, k] -= rate * by_i[k]
            units[j, k] -= rate * by_j[k]
            w[k] = min(MOST, max(LEAST, w[k] - weight_rate * by_w[k]))


@njit(cache=True)
def _two_nearest(x, units, w):
    """The nearest and the second nearest unit to Wx, and their squared distances; of equally near ones the lower first."""
    i, j, near, second = -1, -1, np.inf, np.inf
    for u in range(units.shape[0]):
        total = 0.0
        for k in range(x.shape[0]):
            step = w[k] * x[k] - units[u, k]
            total += step * step
            if total >= second:
                break
        if total < near:
            i, j, near, second = u, i, total, near
        elif total < second:
            j, second = u, total
    return i, j, near, second
