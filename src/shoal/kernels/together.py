"""Rows that belong together, as households' do: which columns they share, and which groups of them look alike."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.arrays import IntArray
from shoal.kernels.groups import class_ids

SHARED = 0.95  # of the groups of two rows or more: a column that is the same inside so many of them tells who belongs together


def is_shared(codes: IntArray, groups: IntArray) -> bool:
    """Whether a column is the same inside nearly all groups of two rows or more. Rows of group -1 belong to nobody."""
    there = groups >= 0
    codes, groups = codes[there], groups[there]
    if not len(groups):
        return False
    size = np.bincount(groups)
    some = np.empty(len(size), codes.dtype)
    some[groups] = codes
    mixed = np.zeros(len(size), np.bool_)
    mixed[groups[codes != some[groups]]] = True
    several = size > 1
    return bool(several.any() and (~mixed[several]).mean() >= SHARED)


def alike(columns: Sequence[IntArray], groups: IntArray) -> IntArray:
    """For each group, how many look like it, itself among them: the same rows in these columns, each as often; 0 for a group without rows."""
    classes = class_ids(columns)[0] if columns else np.zeros(len(groups), np.int64)  # without columns, only their size tells them apart
    looks = signatures(classes, groups)
    there = looks >= 0
    return np.where(there, np.bincount(looks[there], minlength=1)[np.maximum(looks, 0)], 0)


def signatures(classes: IntArray, groups: IntArray) -> IntArray:
    """A number for each group, the same for groups whose rows have the same classes, each as often; -1 for a group without rows.

    The rows of each group are put in order, and groups are told apart by their first row, then by their second, and so on: exact, and no
    longer than the largest group.
    """
    there = groups >= 0
    order = np.lexsort((classes[there], groups[there]))
    classes, groups = classes[there][order], groups[there][order]
    start = np.flatnonzero(np.diff(groups, prepend=-1))
    size = np.diff(np.append(start, len(groups)))
    number = _dense(size)
    for place in range(int(size.max(initial=0))):
        going = np.flatnonzero(size > place)
        number[going] = int(number.max()) + 1 + _dense(number[going] * (int(classes.max()) + 1) + classes[start[going] + place])
    result = np.full(int(groups.max(initial=-1)) + 1, -1)
    result[groups[start]] = _dense(number)
    return result


def _dense(values: NDArray[np.int64]) -> IntArray:
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)
