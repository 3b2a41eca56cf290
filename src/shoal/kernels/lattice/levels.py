"""A table whose columns each have a level: what that loses, which records then stand in too small a class, and who wins a tie.

A node of the lattice is a level for every column. Its classes are the records that publish the same node of every hierarchy. Records in
classes below k are suppressed whole, all their cells; a limit says how many may be. Losses here are sums over columns and records.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.coded_hierarchy import CodedHierarchy

TIE = 1e-12  # losses nearer than this share of themselves are the same: then fewer suppressed records, then the smaller levels


class Loss(NamedTuple):
    """What publishing a record's node costs, for each column [level, code], and what a suppressed cell costs.

    Where `suppressed` is given, a column for a column, the cost must be one of the node: the same for all its codes. Where it is not, suppressed
    records cost what their levels cost and nothing more (the monotone form).
    """

    cost: Sequence[FloatArray]
    suppressed: FloatArray | None


class Space(NamedTuple):
    """Distinct combinations in their own order, so that nothing depends on the order in which they came, and the levels that may be chosen."""

    codes: Int32Array  # [column, combination]
    rows: IntArray
    nodes: list[Int32Array]  # of each column [level, code]
    member: IntArray  # which of them each combination given is
    lowest: tuple[int, ...]
    highest: tuple[int, ...]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.nodes)

    @property
    def total(self) -> int:
        """How many records there are."""
        return int(self.rows.sum())

    @property
    def size(self) -> int:
        """How many nodes the lattice has between the lowest and the highest levels."""
        size = 1
        for low, high in zip(self.lowest, self.highest):
            size *= high - low + 1
        return size


class Value(NamedTuple):
    """A node's loss as a mean over records and columns, its suppressed records, and its levels: smaller is better, in this order."""

    loss: float
    suppressed: int
    levels: tuple[int, ...]

    def beats(self, other: "Value | None") -> bool:
        """Whether it is better, ties decided."""
        if other is None:
            return True
        slack = TIE * max(abs(self.loss), abs(other.loss))
        if abs(self.loss - other.loss) > slack:
            return self.loss < other.loss
        return (self.suppressed, self.levels) < (other.suppressed, other.levels)


def iyengar(hierarchies: Sequence[CodedHierarchy]) -> Loss:
    """(Leaves under the published node - 1) / (leaves of the hierarchy - 1); a suppressed cell costs 1 (Iyengar 2002)."""
    return Loss([hierarchy.loss for hierarchy in hierarchies], np.ones(len(hierarchies)))


def precision(hierarchies: Sequence[CodedHierarchy]) -> Loss:
    """Level / highest level, which is 1 - Prec; a suppressed cell costs 1 (Sweeney 2002). A hierarchy of one level costs nothing."""
    cost = [np.repeat(np.arange(len(h.nodes))[:, None] / max(len(h.nodes) - 1, 1), h.nodes.shape[1], axis=1) for h in hierarchies]
    return Loss(cost, np.ones(len(hierarchies)))


def entropy(codes: NDArray[Any], rows: NDArray[Any], hierarchies: Sequence[CodedHierarchy]) -> Loss:
    """Bits lost: -log2 of the share that a value has of the records under its node (Gionis & Tassa 2009), suppressed records included."""
    cost = []
    many = records_of(rows, len(codes))
    for j, hierarchy in enumerate(hierarchies):
        count = tally(codes[:, j], many, hierarchy.nodes.shape[1])
        levels = []
        for nodes in hierarchy.nodes:
            under = tally(nodes, count)[nodes]
            levels.append(np.where(count > 0, np.log2(np.maximum(under, 1) / np.maximum(count, 1)), 0.0))
        cost.append(np.array(levels))
    return Loss(cost, None)


def space_of(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
) -> Space:
    """Equal combinations counted together, and the levels checked."""
    if codes.ndim != 2 or codes.shape[1] != len(hierarchies) or not len(hierarchies):
        raise ValueError("Codes must be a table of rows and columns, with a hierarchy for every column.")
    d = len(hierarchies)
    heights = [len(hierarchy.nodes) for hierarchy in hierarchies]
    low = (0,) * d if lowest is None else tuple(lowest)
    high = tuple(height - 1 for height in heights) if highest is None else tuple(highest)
    if len(low) != d or len(high) != d:
        raise ValueError(f"There are {d} columns, but {len(low)} lowest and {len(high)} highest levels.")
    for j in range(d):
        if not 0 <= low[j] <= high[j] < heights[j]:
            raise ValueError(f"Column {j} has levels 0..{heights[j] - 1}, and its lowest must not be above its highest.")
        if len(codes) and (codes[:, j].min() < 0 or codes[:, j].max() >= hierarchies[j].nodes.shape[1]):
            raise ValueError(f"Column {j} has codes that its hierarchy does not have.")
    many = records_of(rows, len(codes))
    order = np.lexsort(codes.T[::-1]) if len(codes) else np.zeros(0, np.int64)
    ordered = codes[order]
    new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(ordered)]
    member = np.empty(len(codes), np.int64)
    member[order] = np.cumsum(new) - 1
    nodes = [np.ascontiguousarray(hierarchy.nodes, dtype=np.int32) for hierarchy in hierarchies]
    return Space(np.ascontiguousarray(ordered[new].T, dtype=np.int32), tally(member, many, int(new.sum())), nodes, member, low, high)


def classes(space: Space, levels: Sequence[int], columns: Sequence[int] | None = None) -> tuple[IntArray, int]:
    """The class of each combination over some of the columns or all, numbered as they come, and how many there are."""
    some = range(space.columns) if columns is None else columns
    published = np.empty((len(some), len(space.rows)), np.int32)
    for at, j in enumerate(some):
        published[at] = space.nodes[j][levels[j]][space.codes[j]]
    ids = np.empty(len(space.rows), np.int64)
    return ids, number_tuples(published, ids)


class Prices(NamedTuple):
    """A loss, weighted: of every cell published [column][level, code], and of a suppressed record; what is divided by in the end."""

    cost: list[FloatArray]
    suppressed: FloatArray | None
    whole: float  # records x the sum of the weights


def prices(space: Space, loss: Loss, weights: Sequence[float] | None = None) -> Prices:
    """Each column's loss times its weight."""
    given = np.ones(space.columns) if weights is None else np.asarray(weights, np.float64)
    if len(given) != space.columns or not np.isfinite(given).all() or (given < 0).any() or given.sum() <= 0:
        raise ValueError(f"Each of the {space.columns} columns needs a weight of 0 or more, and one of them more than 0.")
    cost = [given[j] * np.asarray(loss.cost[j], np.float64) for j in range(space.columns)]
    if loss.suppressed is not None:
        for j, (levels, nodes) in enumerate(zip(cost, space.nodes)):
            for costs, node in zip(levels, nodes):
                of_node = np.zeros(int(node.max(initial=0)) + 1)
                of_node[node] = costs
                if (of_node[node] != costs).any():
                    raise ValueError(f"Column {j} has a node whose codes cost differently, so a suppressed record cannot be priced.")
    whole = space.total * float(given.sum())
    return Prices(cost, None if loss.suppressed is None else given * loss.suppressed, max(whole, 1e-300))


def by_values(space: Space) -> list[int]:
    """Columns by how many values occur, most first."""
    distinct = [len(np.unique(codes)) for codes in space.codes]
    return sorted(range(space.columns), key=lambda j: (-distinct[j], j))


@njit(cache=True)
def number_tuples(published, ids):
    """Give equal columns of a table the same number, in the order they first come; open addressing, a slot holds the first of its kind."""
    d, n = published.shape
    size = 16
    while size < 2 * n:
        size *= 2
    slots, last, number = np.full(size, -1, np.int32), np.uint64(size - 1), 0
    hashes = np.zeros(n, np.uint64)
    for j in range(d):
        for i in range(n):
            hashes[i] = mixed(hashes[i], published[j, i])
    for i in range(n):
        slot = (hashes[i] ^ (hashes[i] >> np.uint64(32))) & last
        while slots[slot] >= 0:
            like = slots[slot]
            same = hashes[like] == hashes[i]
            for j in range(d if same else 0):
                same = same and published[j, like] == published[j, i]
            if same:
                break
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot], ids[i] = i, number
            number += 1
        else:
            ids[i] = ids[slots[slot]]
    return number


@njit(cache=True, inline="always")
def mixed(key, code):
    """One more code in a hash."""
    key = (key ^ np.uint64(code)) * np.uint64(0x9E3779B97F4A7C15)
    return key ^ (key >> np.uint64(29))
