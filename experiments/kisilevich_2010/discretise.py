"""Supervised discretisation by entropy with the minimum description length stop (Fayyad & Irani 1993), as WEKA's filter of the same name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.kisilevich_2010.sets import Data
from shoal import Roles, Table

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def cuts(values: FloatArray, classes: IntArray) -> list[float]:
    """Where to cut a column of numbers so that the class is told apart; none where no cut pays for its description."""
    known = ~np.isnan(values)
    order = np.argsort(values[known], kind="stable")
    x, y = values[known][order], classes[known][order]
    counts = np.zeros((len(x) + 1, int(classes.max(initial=0)) + 1), np.int64)
    np.cumsum(np.eye(counts.shape[1], dtype=np.int64)[y], axis=0, out=counts[1:])
    found: list[float] = []
    stretches = [(0, len(x))]
    while stretches:
        a, b = stretches.pop()
        at = _best(x, counts, a, b)
        if at:
            found.append(float(x[at - 1] + x[at]) / 2)
            stretches += [(a, at), (at, b)]
    return sorted(found)


def _best(x: FloatArray, counts: IntArray, a: int, b: int) -> int:
    """The cut of least entropy between two different values of x[a:b], 0 if it does not pay."""
    places = np.flatnonzero(x[a + 1 : b] > x[a : b - 1]) + a + 1
    if not len(places):
        return 0
    n = b - a
    whole, left = counts[b] - counts[a], counts[places] - counts[a]
    right = whole - left
    entropy_left, entropy_right = _entropy(left), _entropy(right)
    after = ((places - a) * entropy_left + (b - places) * entropy_right) / n
    best = int(np.argmin(after))
    before = float(_entropy(whole[None, :])[0])
    k, k1, k2 = ((c > 0).sum() for c in (whole, left[best], right[best]))
    delta = np.log2(3.0**k - 2) - (k * before - k1 * entropy_left[best] - k2 * entropy_right[best])
    return int(places[best]) if before - after[best] > (np.log2(n - 1) + delta) / n else 0


def _entropy(counts: IntArray) -> FloatArray:
    share = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1))).sum(axis=1))


def discretised(data: Data, rows: IntArray, name: str) -> Data:
    """The whole table with numbers replaced by intervals, which are categories; the cuts are learned from `rows` and their classes alone."""
    table, classes = data.table, data.table.codes(data.table.columns[-1])
    changed: dict[str, list[str | None]] = {}
    for column in data.features:
        if data.roles.scale(table, column) == "numeric":
            numbers = table.number(column)
            part = np.searchsorted(cuts(numbers[rows], classes[rows]), numbers, "left")
            changed[column] = [None if missing else f"part {p}" for p, missing in zip(part.tolist(), np.isnan(numbers).tolist())]
    parted: Table = table.with_columns(changed)
    nominal = tuple(c for c in data.features if data.roles.scale(parted, c) == "nominal")
    return Data(
        f"{data.name}, {name}",
        data.halves,
        parted,
        Roles(quasi=data.roles.quasi, nominal=nominal, target=data.roles.target, rest="release").check(parted),
    )
