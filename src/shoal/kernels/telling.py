"""How well one column tells another: leaving each row out, the commonest value among rows that agree on the first; and the agreement of ranks."""

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray

DENSE = 1 << 18  # cells of a table of groups by values that is counted whole


def told(groups: IntArray, values: IntArray) -> float:
    """The share of rows whose value is the commonest among the other rows of their group, ties shared. A row alone in its group is not told.

    Without the row itself its value is one rarer. So only a group's commonest value can be told, where it is still ahead of the second or,
    one ahead, ties with as many as are second.
    """
    if not len(groups):
        return 0.0
    first, second, seconds = _two_commonest(groups, values)
    ahead, level = first - 1 > second, (first - 1 == second) & (second > 0)
    right = np.where(ahead, first, 0) + np.where(level, first / (1 + seconds), 0.0)
    return float(right.sum() / len(groups))


def _two_commonest(groups: IntArray, values: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Of each group, how often it has its commonest value and its second (as often, where two are), and how many other values are second."""
    many, width = int(groups.max()) + 1, int(values.max()) + 1
    if many * width <= DENSE:
        count = np.bincount(groups * width + values, minlength=many * width).reshape(many, width)
        best = count.argmax(axis=1)
        first = count[np.arange(many), best]
        count[np.arange(many), best] = 0
        second = count.max(axis=1)
        return first, second, (count == second[:, None]).sum(axis=1)
    pair, count = np.unique(groups * width + values, return_counts=True)
    group = pair // width
    order = np.lexsort((-count, group))
    group, count = group[order], count[order]
    start = np.flatnonzero(np.diff(group, prepend=-1))
    follows = np.append(group[1:] == group[:-1], False)[start]
    second = np.where(follows, count[np.minimum(start + 1, len(count) - 1)], 0)
    of_group = np.cumsum(np.diff(group, prepend=-1) > 0) - 1
    later = np.ones(len(count), np.bool_)
    later[start] = False
    return count[start], second, np.bincount(of_group[later & (count == second[of_group])], minlength=len(start))


def binned(codes: IntArray, bins: int) -> IntArray:
    """Ordered codes in so many parts of about as many rows each; equal codes are never parted."""
    return np.minimum((middle_ranks(codes) * bins / len(codes)).astype(np.int64), bins - 1)


def middle_ranks(codes: IntArray) -> FloatArray:
    """The rank of each row from 0, equal ones sharing their middle."""
    count = np.bincount(codes)
    return np.asarray((np.cumsum(count) - (count + 1) / 2)[codes])


def told_ranks(groups: IntArray, codes: IntArray, known: BoolArray) -> float:
    """How well categories tell an ordered column, such as bands of age an age: the correlation of each row's rank with the mean rank of the
    other rows of its group, and with the mean of all where there is no other."""
    of, ranks = groups[known], middle_ranks(codes[known])
    if len(of) < 2:
        return 0.0
    count, total = np.bincount(of), np.bincount(of, ranks)
    others = np.where(count[of] > 1, (total[of] - ranks) / np.maximum(count[of] - 1, 1), ranks.mean())
    x, y = others - others.mean(), ranks - ranks.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return max(0.0, float((x * y).sum()) / spread) if spread > 0 else 0.0


def spearman(first: IntArray, second: IntArray, known: BoolArray) -> float:
    """The correlation of ranks over the rows known on both sides; 0 where one side is constant."""
    x, y = middle_ranks(first[known]), middle_ranks(second[known])
    if len(x) < 2:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    spread = float(np.sqrt((x * x).sum() * (y * y).sum()))  # a threaded product would take longer to begin than to end
    return float((x * y).sum()) / spread if spread > 0 else 0.0
