"""Fuzzy measures as arrays of 2^n values, indexed by the bit mask of a set: their Möbius transform and its inverse, and monotone hulls."""

import numpy as np
from numpy.typing import ArrayLike

from shoal.arrays import FloatArray, IntArray


def mobius(measure: ArrayLike) -> FloatArray:
    """The Möbius transform of any set function given by bit masks (Definition 2.4)."""
    return _transform(measure, -1)


def zeta(mobius: ArrayLike) -> FloatArray:
    """The set function of a Möbius transform (Definition 2.5)."""
    return _transform(mobius, 1)


def monotone_hull(measure: ArrayLike) -> FloatArray:
    """The lowest set function above this one in which no set measures less than a subset of it."""
    out = np.array(measure, np.float64)
    for i in range(len(out).bit_length() - 1):
        pairs = out.reshape(-1, 2, 1 << i)
        np.maximum(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return out


def set_sizes(n: int) -> IntArray:
    """The number of attributes in each of the 2^n sets."""
    sets = np.arange(1 << n)
    return sum((sets >> i & 1 for i in range(n)), np.zeros(1 << n, np.int64))


def _transform(values: ArrayLike, sign: int) -> FloatArray:
    out = np.array(values, np.float64)
    n = len(out).bit_length() - 1
    if len(out) != 1 << n:
        raise ValueError(f"A set function has 2^n values, got {len(out)}.")
    for i in range(n):
        pairs = out.reshape(-1, 2, 1 << i)
        pairs[:, 1] += sign * pairs[:, 0]
    return out


def halves(values: FloatArray, i: int) -> tuple[FloatArray, FloatArray]:
    """The values of the sets without attribute i, and of the same sets with it."""
    pairs = values.reshape(-1, 2, 1 << i)
    return pairs[:, 0].ravel(), pairs[:, 1].ravel()
