"""What a split is worth: C4.5's gain and gain ratio (Quinlan 1993, chapter 2; for ordered columns Quinlan 1996, release 8).

A split is given by its tally, one row per value that occurs and one column per class. Information is counted in bits and multiplied by the
number of rows until the end: n H = n log n - sum of x log x over the classes' counts x, so that only counts and x log x are needed. Counts
are whole numbers; of weights x log x cannot be looked up, and the table handed in is empty.
"""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray

CLEARLY = 1e-6  # differences below this are rounding
LOGARITHMS = 1 << 12  # counts whose x log x is looked up


def logarithms() -> FloatArray:
    """x log2 x for small x, to be handed to the functions below."""
    x = np.arange(1, LOGARITHMS)
    return np.concatenate([[0.0], x * np.log2(x)])


@njit(cache=True, inline="always")
def _x_log_x(x, table):
    if x < len(table):
        return table[np.int64(x)]
    return x * np.log2(x) if x > 0 else 0.0


@njit(cache=True)
def disorder(counts, table):
    """Rows times entropy of their classes, in bits."""
    total, sum_of_parts = 0, 0.0
    for y in range(len(counts)):
        total += counts[y]
        sum_of_parts += _x_log_x(counts[y], table)
    return _x_log_x(total, table) - sum_of_parts


@njit(cache=True)
def by_value(tally, size, least, table):
    """Gain and gain ratio of one branch per value; ratio 0 where fewer than two branches have enough rows.

    Rows whose value is missing gain nothing, and count as one more branch in the split's own information.
    """
    together = np.zeros(tally.shape[1], tally.dtype)
    after, branches_alone, known, filled = 0.0, 0.0, 0, 0
    for u in range(len(tally)):
        rows = 0
        for y in range(tally.shape[1]):
            rows += tally[u, y]
            together[y] += tally[u, y]
        known += rows
        filled += rows > least - CLEARLY
        after += disorder(tally[u], table)
        branches_alone += _x_log_x(rows, table)
    if filled < 2:
        return 0.0, 0.0
    gain = (disorder(together, table) - after) / size
    split_information = (_x_log_x(size, table) - branches_alone - _x_log_x(max(0, size - known), table)) / size
    return gain, gain / split_information if gain > CLEARLY else 0.0


@njit(cache=True)
def best_threshold(present, tally, size, least, table):
    """Gain, gain ratio and threshold of the best cut in two; ratio 0 where there is none.

    The cut is chosen by gain; the choice among distinct values is then paid for with log2(distinct - 1) bits (Quinlan 1996). Each side
    needs `least` rows, and more where rows are many: a tenth of the average class, up to 25.
    """
    below = np.zeros(tally.shape[1], tally.dtype)
    above = np.zeros(tally.shape[1], tally.dtype)
    known = 0
    for u in range(len(tally)):
        for y in range(tally.shape[1]):
            above[y] += tally[u, y]
            known += tally[u, y]
    fewest = max(least, min(25.0, 0.1 * known / tally.shape[1]))
    if known < 2 * fewest - CLEARLY or len(tally) < 2:
        return 0.0, 0.0, 0
    before = disorder(above, table)
    lowest, at, rows, rows_below = before, -1, 0, 0
    for u in range(len(tally) - 1):
        for y in range(tally.shape[1]):
            rows += tally[u, y]
            below[y] += tally[u, y]
            above[y] -= tally[u, y]
        if fewest - CLEARLY < rows < known - fewest + CLEARLY:
            after = disorder(below, table) + disorder(above, table)
            if after < lowest - CLEARLY:
                lowest, at, rows_below = after, u, rows
    if at < 0:
        return 0.0, 0.0, 0
    gain = (before - lowest) / size - np.log2(len(tally) - 1) / known
    parts = _x_log_x(rows_below, table) + _x_log_x(known - rows_below, table) + _x_log_x(max(0, size - known), table)
    split_information = (_x_log_x(size, table) - parts) / size
    return gain, gain / split_information if gain > CLEARLY else 0.0, present[at]
