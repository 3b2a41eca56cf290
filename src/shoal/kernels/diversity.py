"""What the parts of a table must keep: k rows, diversity and closeness of a sensitive value."""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.cells import tally

SLACK = 1e-12  # what rounding may add to a distance or take from an entropy


class CutDemand(NamedTuple):
    """What both sides of a cut must keep of a sensitive value."""

    different: int
    entropy: float
    t: float
    t_ordered: bool
    whole: FloatArray  # share of each sensitive code in the table


def sensitive_shares(
    sensitive: NDArray[Any] | None,
    rows: IntArray,
    l: int,  # noqa: E741
    entropy_l: float,
    t: float,
) -> tuple[NDArray[Any], FloatArray]:
    """Sensitive codes made dense, the share of the records that each has; the whole table must keep what its parts shall keep."""
    if sensitive is None:
        if l > 1 or entropy_l > 1 or t < 1:
            raise ValueError("l-diversity and t-closeness need the sensitive value of every row.")
        return np.zeros(len(rows), np.int32), np.ones(1)
    if len(sensitive) != len(rows):
        raise ValueError(f"There are {len(rows)} rows, but {len(sensitive)} sensitive values.")
    dense = np.unique(sensitive, return_inverse=True)[1].reshape(-1)
    count = tally(dense, rows)
    share = count / count.sum()
    if len(count) < l:
        raise ValueError(f"The whole table has {len(count)} different sensitive values, fewer than l = {l}.")
    effective = float(np.exp(-(share * np.log(share)).sum()))
    if effective < entropy_l - SLACK:
        raise ValueError(f"The whole table has entropy l-diversity {effective:.4g}, less than {entropy_l:g}.")
    return dense, share


@njit(cache=True)
def keeps(rows_left, rows_right, present, demand, work):
    """Whether both sides have the diversity and closeness demanded, counted afresh so that no rounding adds up over cuts."""
    for side in range(2):
        rows = rows_right if side else rows_left
        different, entropy, excess = 0, 0.0, 0.0
        for s in work.present[:present]:
            count = work.node_inside[s] - work.left_inside[s] if side else work.left_inside[s]
            if count:
                share = count / rows
                different += 1
                entropy -= share * np.log(share)
                excess += max(0.0, share - demand.whole[s])  # total variation: only codes that are there can exceed their share
        if different < demand.different or entropy < demand.entropy or (not demand.t_ordered and excess > demand.t):
            return False
        if demand.t_ordered:
            gap, moved, most = 0.0, 0.0, demand.t * max(len(demand.whole) - 1, 1)
            for s in range(len(demand.whole)):
                count = work.node_inside[s] - work.left_inside[s] if side else work.left_inside[s]
                gap += count / rows - demand.whole[s]
                moved += abs(gap)
                if moved > most:
                    return False
    return True
