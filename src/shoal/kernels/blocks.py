"""MDAV for large tables, in blocks of blocks.

Outer blocks are independent of each other: no group has rows of two of them. They are cut at about the median of the widest column until
none has more than 100,000 rows. Where to cut is decided on counts of values in intervals, minima and maxima only, so that it is the same
in whichever order rows come and however they are spread over machines.

Inside an outer block, inner blocks are cut in the same way by a kd-tree and grouped by MDAV, whose time grows with the square of their rows.
The cuts leave ragged groups, with a third more SSE; moves and exchanges between neighbouring groups mend them.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.kdtree import build
from shoal.kernels.mdav import _last_groups, _pairs_by_scan, _total, checked_points
from shoal.kernels.refine import swap_refinement

MOST_ROWS = 100_000  # of an outer block
INTERVALS = 4096  # in which values are counted
BLOCK_ROWS = 1000  # of an inner block
NEIGHBOURS = 5  # groups that a group exchanges rows with in a pass
SLACK = 3.0  # of the search for them
EVEN = 64  # a cut is as good as the median when no more than one row in this many lies between them
SMALLER_SIDE = 10  # one row in this many must lie on the smaller side of a cut


class BlockCuts(NamedTuple):
    """A binary tree of cuts, the root first. Rows below the threshold go to the left."""

    column: IntArray  # -1 for a block
    threshold: FloatArray
    left: IntArray  # nodes
    right: IntArray
    block: IntArray  # -1 for a cut
    rows: IntArray  # below a node


def block_cuts(points: FloatArray, most: int = MOST_ROWS) -> BlockCuts:
    """Cuts into outer blocks of at most `most` rows.

    A column that cannot be cut with a tenth of the rows on either side gives way to the next widest; where no column can, most rows are
    equal and the block stays whole.
    """
    nodes: list[tuple[int, float, int, int, int, int]] = []
    blocks = 0

    def cut(rows: IntArray) -> int:
        nonlocal blocks
        node = len(nodes)
        nodes.append((-1, 0.0, -1, -1, -1, len(rows)))
        found = _cut(points[rows]) if len(rows) > most else None
        if found is None:
            nodes[node] = (-1, 0.0, -1, -1, blocks, len(rows))
            blocks += 1
        else:
            column, threshold = found
            below = points[rows, column] < threshold
            nodes[node] = (column, threshold, cut(rows[below]), cut(rows[~below]), -1, len(rows))
        return node

    cut(np.arange(len(points)))
    column, threshold, left, right, block, rows = zip(*nodes, strict=True)
    return BlockCuts(np.array(column), np.array(threshold), np.array(left), np.array(right), np.array(block), np.array(rows))


def block_of(points: FloatArray, cuts: BlockCuts) -> IntArray:
    """The outer block of each row."""
    block = np.empty(len(points), np.int64)
    waiting = [(0, np.arange(len(points)))]
    while waiting:
        node, rows = waiting.pop()
        if cuts.block[node] >= 0:
            block[rows] = cuts.block[node]
        else:
            below = points[rows, cuts.column[node]] < cuts.threshold[node]
            waiting += [(int(cuts.left[node]), rows[below]), (int(cuts.right[node]), rows[~below])]
    return block


def without_small_blocks(cuts: BlockCuts, rows: IntArray, least: int) -> BlockCuts:
    """The same without cuts that leave fewer than `least` rows on a side; `rows` of each block may be other than those that were cut."""
    below, column, block = np.zeros(len(cuts.block), np.int64), cuts.column.copy(), np.full(len(cuts.block), -1)
    for node in range(len(below) - 1, -1, -1):  # children come after their parents
        if cuts.block[node] >= 0:
            below[node] = rows[cuts.block[node]]
            continue
        sides = below[cuts.left[node]], below[cuts.right[node]]
        below[node] = sum(sides)
        if min(sides) < least:
            column[node] = -1
    waiting, made = [0], 0
    while waiting:
        node = waiting.pop()
        if column[node] < 0:
            block[node], made = made, made + 1
        else:
            waiting += [int(cuts.right[node]), int(cuts.left[node])]
    return cuts._replace(column=column, block=block, rows=below)


def _cut(points: FloatArray) -> tuple[int, float] | None:
    low, high = points.min(axis=0), points.max(axis=0)
    for column in np.argsort(low - high, kind="stable"):
        if low[column] < high[column]:
            threshold, below = _middle(points[:, column])
            if min(below, len(points) - below) * SMALLER_SIDE >= len(points):
                return int(column), threshold
    return None


def _middle(values: FloatArray) -> tuple[float, int]:
    """A threshold with about half of the values below it, and how many are: counted in intervals, then in the middle one's, and so on."""
    half, below, inside = len(values) // 2, 0, values
    low, high = inside.min(), inside.max()
    while low < high and len(inside) * EVEN > len(values):
        interval = np.minimum(((inside - low) / (high - low) * INTERVALS).astype(np.int64), INTERVALS - 1)
        up_to = below + np.cumsum(np.bincount(interval, minlength=INTERVALS))
        middle = int(np.searchsorted(up_to, half, side="right"))
        below = int(up_to[middle - 1]) if middle else below
        inside = inside[interval == middle]
        low, high = inside.min(), inside.max()
    after = below + len(inside)
    if min(after, len(values) - after) > min(below, len(values) - below):
        return float(values[values > high].min()), after
    return float(low), below


def mdav_large_groups(points: FloatArray, k: int, block_rows: int = BLOCK_ROWS, most_passes: int | None = None) -> IntArray:
    """Groups of k to 2k - 1 rows of one outer block. Of equally distant rows the first goes first: their order is the caller's.

    Inner blocks are given room for six groups at least, so that none has fewer than 3k rows unless the table has. Small groups gain more
    from further passes than large ones, beside what MDAV itself takes; absent, `most_passes` is set by that.
    """
    rows = checked_points(points, k)
    tree = build(rows, max(block_rows, 6 * k))
    leaves = tree.right < 0
    groups = _group_blocks(rows, tree.order, tree.start[leaves], tree.stop[leaves], k)
    passes = max(2, 10 // k) if most_passes is None else most_passes
    return swap_refinement(rows, groups, k, passes, NEIGHBOURS, reach=2, slack=SLACK) if passes else groups


def block_of_rows(points: FloatArray, block_rows: int) -> IntArray:
    """The inner block of each row, numbered along the cuts. Of several blocks each has `block_rows` rows at most, half that at least."""
    tree = build(points, block_rows)
    sizes = (tree.stop - tree.start)[tree.right < 0]  # leaves lie in tree order
    blocks = np.empty(len(points), np.int64)
    blocks[tree.order] = np.repeat(np.arange(len(sizes)), sizes)
    return blocks


@njit(cache=True)
def _group_blocks(rows, order, starts, stops, k):
    """The groups of `mdav_groups` in each inner block, with numbers that run on. `order` lists the rows block by block."""
    groups = np.empty(rows.shape[0], np.int64)
    made = 0
    for block in range(starts.shape[0]):
        ids = np.sort(order[starts[block] : stops[block]])
        live = ids.shape[0]
        while live >= 3 * k:
            packed = rows[ids]
            made, live = _pairs_by_scan(packed, ids, groups, _total(packed), live, live, k, made, live)
            ids = np.sort(ids[:live])
        made = _last_groups(rows[ids], ids, groups, k, made)
    return groups
