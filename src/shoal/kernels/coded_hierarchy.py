"""A column's hierarchy as kernels take it: the node over each code at each level, and what is lost by publishing that node."""

from typing import NamedTuple

import numpy as np

from shoal.arrays import FloatArray, Int32Array, IntArray


class CodedHierarchy(NamedTuple):
    """Level 0 publishes each code as it is; the last level has one node. Codes of one node stay in one node at every higher level."""

    nodes: Int32Array  # [level, code] -> node, numbered 0, 1, ... within the level
    loss: FloatArray  # [level, code] -> (leaves under the node - 1) / (leaves of the hierarchy - 1), which never falls with the level


def halved(records: IntArray) -> CodedHierarchy:
    """For a column that has no hierarchy: its codes in two halves of about as many records, these in halves again, down to single codes.

    records: those of each code, in the order in which neighbours belong together.
    """
    upto, many = np.concatenate([[0], np.cumsum(records)]), len(records)
    levels, starts = [np.zeros(many, np.int32)], np.array([0, many])
    while (np.diff(starts) > 1).any():
        cuts = [_middle(upto, a, b) for a, b in zip(starts.tolist(), starts[1:].tolist()) if b - a > 1]
        starts = np.union1d(starts, cuts)
        levels.append((np.searchsorted(starts, np.arange(many), "right") - 1).astype(np.int32))
    nodes = np.array(levels[::-1])
    sizes = [np.bincount(level)[level] for level in nodes]
    return CodedHierarchy(nodes, (np.array(sizes) - 1) / max(many - 1, 1))


def _middle(upto: IntArray, begin: int, stop: int) -> int:
    """Where a stretch of codes is cut most evenly; of equally even places the lowest."""
    inside = 2 * upto[begin + 1 : stop] - upto[begin] - upto[stop]
    return begin + 1 + int(np.argmin(np.abs(inside)))
