"""The rule of Algorithm 1 as it is printed, whose signs contradict its own cost: only here, to show what the difference is worth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.lvq import EPOCHS, LEAST, MOST, RATE, WEIGHT_RATE, WINDOW, majority
from shoal.kernels.som import best_units

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def printed_accuracy(points: FloatArray, labels: IntArray, units: FloatArray, rng: np.random.Generator) -> float:
    """Share of records whose nearest prototype has their class, after m_i + a (Wx - m_j) and m_j - a (Wx - m_j)."""
    of_unit = majority(best_units(points, units)[0], labels, len(units))
    moved, of_unit = units[of_unit >= 0].copy(), of_unit[of_unit >= 0]
    weights = np.ones(points.shape[1])
    window = (1 - WINDOW) / (1 + WINDOW)
    for epoch in range(EPOCHS):
        left = 1 - epoch / EPOCHS
        for row in rng.permutation(len(points)):
            x = weights * points[row]
            apart = np.sqrt(((moved - x) ** 2).sum(axis=1))
            i, j = np.argsort(apart, kind="stable")[:2]
            if of_unit[i] == labels[row] or of_unit[j] != labels[row] or apart[i] <= window * apart[j]:
                continue
            step, difference = x - moved[j], moved[i] - moved[j]
            moved[i] += left * RATE * step
            moved[j] -= left * RATE * step
            weights = np.clip(weights - left * WEIGHT_RATE * points[row] * difference, LEAST, MOST)
    return float((of_unit[best_units(points * weights, moved)[0]] == labels).mean())
