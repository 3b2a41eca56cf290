"""A column's hierarchy as kernels take it: the node over each code at each level, and what is lost by publishing that node."""

from typing import NamedTuple

from shoal.arrays import FloatArray, Int32Array


class CodedHierarchy(NamedTuple):
    """Level 0 publishes each code as it is; the last level has one node. Codes of one node stay in one node at every higher level."""

    nodes: Int32Array  # [level, code] -> node, numbered 0, 1, ... within the level
    loss: FloatArray  # [level, code] -> (leaves under the node - 1) / (leaves of the hierarchy - 1), which never falls with the level
