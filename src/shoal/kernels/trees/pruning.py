"""Pessimistic pruning: a subtree is replaced by a leaf where it does not promise fewer errors (Quinlan 1993, chapter 4).

A leaf that errs on e of its n rows will err more often on rows it has not seen. Its promise is n U(e, n), where U is the upper limit of the
error rate at confidence CF: the rate at which e errors or fewer would be seen with probability CF. (That limit is exact here. The programs
C4.5 and J48 approximate it by a normal limit with a correction for continuity: one error in 16 gives .160 here and .155 there.)
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, FloatArray
from shoal.kernels.trees.splits import CLEARLY

TOLERATED = 0.1  # errors by which a leaf may promise more than the subtree it replaces, as in C4.5


def upper_error_rate(errors: NDArray[Any], rows: NDArray[Any], confidence: float) -> FloatArray:
    """U: the rate p for which a binomial of `rows` trials is at most `errors` with probability `confidence`."""
    from scipy.special import betaincinv  # slow to import, and only pruning needs it

    errors, rows = np.asarray(errors, np.float64), np.asarray(rows, np.float64)
    certain = errors >= rows  # the beta distribution below is degenerate there: every row is an error, and no rate is too high
    rate = betaincinv(errors + 1, np.where(certain, 1.0, rows - errors), 1 - confidence)
    return np.where(certain, 1.0, rate)


def useful_splits(parent: NDArray[Any], children: NDArray[Any], counts: NDArray[Any], confidence: float) -> BoolArray:
    """For each node of a tree in breadth-first order whether its split survives; what hangs below one that does not is to be dropped."""
    rows = counts.sum(axis=1)
    errors = rows - counts.max(axis=1)
    stopped = counts.copy()  # rows that reach a node and go no further: their split value is missing
    np.subtract.at(stopped, parent[1:], counts[1:])
    if counts.dtype.kind == "f":
        stopped[:] = 0  # fractions go on; what is left is rounding
    best = counts.argmax(axis=1)
    stopped_rows = stopped.sum(axis=1)
    stopped_errors = stopped_rows - stopped[np.arange(len(best)), best]
    promised = _promised(errors, rows, confidence)
    inner = children > 0  # at a leaf all rows stop, and its own promise counts
    stopped_promised = _promised(np.where(inner, stopped_errors, 0), np.where(inner, stopped_rows, 0), confidence)
    return np.asarray(_useful_splits(parent, children, errors, stopped_errors, promised, stopped_promised))


def _promised(errors: NDArray[Any], rows: NDArray[Any], confidence: float) -> FloatArray:
    """n U(e, n), and 0 where there are no rows. Small leaves repeat the same few pairs, so each pair is worked out once."""
    if rows.dtype.kind == "f":
        return np.where(rows > 0, rows * upper_error_rate(errors, np.where(rows > 0, rows, 1.0), confidence), 0.0)
    most = int(rows.max()) + 1
    pairs, which = np.unique(rows * most + errors, return_inverse=True)
    n, e = np.divmod(pairs, most)
    promised: FloatArray = np.where(n > 0, n * upper_error_rate(e, np.maximum(n, 1), confidence), 0.0)[which]
    return promised


@njit(cache=True)
def _useful_splits(parent, children, errors, stopped_errors, promised, stopped_promised):
    """Children come after their parents, so backwards every node is met after all that hangs below it."""
    m = len(parent)
    keeps = children > 0
    seen = stopped_errors.copy()  # errors on the rows themselves, and promised errors, summed over what hangs below
    below = stopped_promised.copy()
    for node in range(m - 1, -1, -1):
        if keeps[node] and (seen[node] > errors[node] - CLEARLY or promised[node] <= below[node] + TOLERATED):
            # a split without effect on the rows themselves goes first, as C4.5 collapses a tree before it prunes
            keeps[node] = False
        if not keeps[node]:
            below[node] = promised[node]
            if children[node] == 0 or seen[node] > errors[node] - CLEARLY:
                seen[node] = errors[node]
        if node > 0:
            seen[parent[node]] += seen[node]
            below[parent[node]] += below[node]
    return keeps
