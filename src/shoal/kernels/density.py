"""Where one column's values lie dense: the maxima of a kernel density estimate, and the cuts between them."""

from itertools import pairwise

import numpy as np

from shoal.arrays import FloatArray

STEPS = 8  # grid steps per bandwidth
TAIL = 6  # bandwidths at which the Gaussian ends
MOST_STEPS = 4_000_000  # a column with values that far out gets a coarser grid


def bandwidth(values: FloatArray) -> float:
    """Silverman's rule, 0.9 min(deviation, IQR / 1.349) n^(-1/5); the deviation alone where the middle half is one value. 0 for a constant."""
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    middle = float(np.subtract(*np.quantile(values, (0.75, 0.25)))) / 1.349 if len(values) else 0.0
    if deviation <= 1e-14 * float(np.abs(values).max(initial=0.0)):
        return 0.0
    return float(0.9 * (min(deviation, middle) if middle > 0 else deviation) * len(values) ** -0.2)


def modes(values: FloatArray, smoothing: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """(maxima, cuts): a value belongs to the maximum number `searchsorted(cuts, value)`. Of a plateau the leftmost point counts.

    Values are shared between the two nearest points of a grid and the grid is convolved with the Gaussian, which is cut off where it is
    nothing, so that gaps between values are exactly 0. The bandwidth is `smoothing` times Silverman's.
    """
    h = smoothing * bandwidth(values)
    if h == 0.0:
        return values[:1].copy(), np.empty(0)
    low, high = float(values.min()) - (TAIL + 1) * h, float(values.max()) + (TAIL + 1) * h
    count = min(int(np.ceil((high - low) / h * STEPS)) + 1, MOST_STEPS)
    step = (high - low) / (count - 1)
    at = (values - low) / step
    left = np.minimum(at.astype(np.int64), count - 2)
    share = at - left
    grid = np.bincount(left, 1 - share, minlength=count) + np.bincount(left + 1, share, minlength=count)
    taps = np.arange(-int(TAIL * h / step), int(TAIL * h / step) + 1)
    density = np.convolve(grid, np.exp(-0.5 * (taps * step / h) ** 2), mode="same")
    level = np.rint(density / density.max() * 1e12)  # rounding must not make hills
    start = np.append(0, np.flatnonzero(np.diff(level)) + 1)  # where each plateau begins
    height = level[start]
    top = np.flatnonzero((height > np.append(-1, height[:-1])) & (height > np.append(height[1:], -1)))
    cuts = [start[a + int(np.argmin(height[a:b]))] for a, b in pairwise(top.tolist())]
    return low + step * start[top], low + step * np.array(cuts, dtype=np.float64)
