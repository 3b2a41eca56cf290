"""Linear chains: how likely each label is at each token, by the forward and backward sums of a conditional random field.

Lafferty, McCallum & Pereira (2001). Many sequences stand one after the other in one array; sums are scaled, never logarithms, so a token
costs one pass over the label pairs each way.
"""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray


@njit(cache=True)
def marginals(emissions: FloatArray, transitions: FloatArray, starts: IntArray) -> FloatArray:
    """P(label at token), tokens x labels. `starts` holds where each sequence begins, and the number of tokens at the end.

    `emissions` are scores (log-potentials) of a label at a token, `transitions` those of one label after another.
    """
    tokens, labels = emissions.shape
    step = np.exp(transitions)
    chance = np.empty((tokens, labels))
    local = np.empty((tokens, labels))
    for t in range(tokens):
        top = emissions[t, 0]
        for y in range(1, labels):
            top = max(top, emissions[t, y])
        for y in range(labels):
            local[t, y] = np.exp(emissions[t, y] - top)
    back = np.empty(labels)
    after = np.empty(labels)
    for s in range(len(starts) - 1):
        first, end = starts[s], starts[s + 1]
        for t in range(first, end):
            total = 0.0
            for y in range(labels):
                reach = 1.0
                if t > first:
                    reach = 0.0
                    for x in range(labels):
                        reach += chance[t - 1, x] * step[x, y]
                chance[t, y] = reach * local[t, y]
                total += chance[t, y]
            for y in range(labels):
                chance[t, y] /= total
        back[:] = 1.0
        for t in range(end - 2, first - 1, -1):
            total = 0.0
            for x in range(labels):
                after[x] = 0.0
                for y in range(labels):
                    after[x] += step[x, y] * local[t + 1, y] * back[y]
                total += after[x]
            for x in range(labels):
                back[x] = after[x] / total
            total = 0.0
            for x in range(labels):
                chance[t, x] *= back[x]
                total += chance[t, x]
            for x in range(labels):
                chance[t, x] /= total
    return chance
