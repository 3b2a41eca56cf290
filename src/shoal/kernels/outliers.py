"""Records far out: how far a record is from the column medians, in ranks, so that no column's scale or long tail decides.

Columns come as levels with counts; whatever is worked out per level is then looked up per record.
"""

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray

SHARE = 0.05  # of the records are called outliers
MOST = 0.1  # of the records, where many are equally far
DIGITS = 12  # distances that agree to so many are equal


def rank_distances(counts: IntArray, values: FloatArray) -> FloatArray:
    """Of each level, how far its middle rank is from the median's, as a share of the records. Missing (NaN) is where the median is."""
    out = np.zeros(len(counts))
    there = np.flatnonzero(~np.isnan(values) & (counts > 0))
    if len(there):
        there = there[np.argsort(values[there], kind="stable")]
        up_to = np.cumsum(counts[there])
        middle = (up_to - counts[there] / 2) / up_to[-1]
        median = middle[[np.searchsorted(2 * up_to, up_to[-1], side) for side in ("left", "right")]].mean()  # two levels may share it
        out[there] = np.abs(middle - median)
    return out


def rarities(counts: IntArray) -> FloatArray:
    """Of each category, half the share of records that have another one: near 0.5 where it is rare, as a rank's distance is at an end."""
    return np.asarray((1 - counts / max(1, counts.sum())) / 2)


def farthest(distance: FloatArray) -> BoolArray:
    """The SHARE of records farthest out, and all that are as far as the last of them. Where that is more than MOST, those farther only: no
    record is an outlier for its place in the file."""
    rounded = np.round(distance, DIGITS)
    count = int(np.ceil(SHARE * len(rounded)))
    if not count:
        return np.zeros(len(rounded), np.bool_)
    edge = np.partition(rounded, len(rounded) - count)[len(rounded) - count]
    chosen: BoolArray = rounded >= edge
    return chosen if chosen.sum() <= max(count, MOST * len(rounded)) else rounded > edge
