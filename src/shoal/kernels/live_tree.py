"""A kd-tree whose rows leave one by one: the nearest and the farthest of those still live.

A leaf's live rows come first in its slice. Boxes cover live rows only and shrink as rows leave, so that what has become empty space is
never searched. Distances are squared, summed over the columns from left to right; of equally distant rows the lowest row comes first.
The last columns may hold codes: where they differ, a distance is greater by 1, whatever the codes are. Below a node whose box spans one code
that is known for all rows; below any other it may be so.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.kdtree import build


class LiveTree(NamedTuple):
    """The arrays of a kd-tree, and what changes as rows leave. Nodes are in depth-first order, a left child right after its parent."""

    points: FloatArray  # (n, d) rows in tree order
    order: IntArray  # (n,) the row at a place
    place: IntArray  # (n,) the place of a row
    leaf: IntArray  # (n,) the leaf of a row
    start: IntArray  # (m,) first place below a node
    right: IntArray  # (m,) right child, -1 for a leaf
    parent: IntArray  # (m,) -1 for the root
    live: IntArray  # (m,) live rows below a node
    low: FloatArray  # (m, d) box of the live rows
    high: FloatArray  # (m, d)
    centre: FloatArray  # (d,) where radii are measured from; see `recentre`
    squared: FloatArray  # (n,) a row's squared distance from the centre
    radius: FloatArray  # (m,) the largest of those below a node
    numeric: int  # the first columns are numbers, the rest codes; centre and radii are those of the numbers


def plant(points: FloatArray, leaf_size: int = 16, nominal: int = 0) -> LiveTree:
    """A tree with every row live, and radii not yet measured: `farthest` needs `recentre` first, `nearest` does not.

    The last `nominal` columns are codes; multiply them by a large number to have them split before the others.
    """
    tree = build(points, leaf_size)
    n, d = tree.points.shape
    live = tree.stop - tree.start
    leaves = np.flatnonzero(tree.right < 0)
    place = np.empty(n, np.int64)
    place[tree.order] = np.arange(n)
    leaf = np.empty(n, np.int64)
    leaf[tree.order] = np.repeat(leaves, live[leaves])
    links = tree.start, tree.right, tree.parent
    radii = np.zeros(d), np.zeros(n), np.full(len(live), np.inf)
    return LiveTree(tree.points, tree.order, place, leaf, *links, live, tree.low, tree.high, *radii, d - nominal)


@njit(cache=True)
def recentre(tree, centre):
    """Measure radii of the live rows from a new centre. `farthest` prunes best for queries whose farthest rows are far from it too."""
    tree.centre[:] = centre
    tree.radius[:] = 0.0
    for node in range(tree.start.shape[0] - 1, -1, -1):  # children come after their parent
        if tree.right[node] < 0:
            for i in range(tree.start[node], tree.start[node] + tree.live[node]):
                squared = 0.0
                for j in range(tree.numeric):
                    step = tree.points[i, j] - tree.centre[j]
                    squared += step * step
                tree.squared[tree.order[i]] = squared
                tree.radius[node] = max(tree.radius[node], squared)
        if node > 0:
            tree.radius[tree.parent[node]] = max(tree.radius[tree.parent[node]], tree.radius[node])


@njit(cache=True, inline="always")
def _distance(points, numeric, i, query):
    distance = 0.0
    for j in range(numeric):
        step = points[i, j] - query[j]
        distance += step * step
    for j in range(numeric, points.shape[1]):
        if points[i, j] != query[j]:
            distance += 1.0
    return distance


@njit(cache=True)
def _offset(tree, query, away):
    """Of `farthest`'s second bound: v into `away`, and |v|² with more than the bound's rounding can take away."""
    low, high, centre = tree.low, tree.high, tree.centre
    d, numeric = tree.points.shape[1], tree.numeric
    offset, size = 0.0, 1.0 * (d - numeric)
    for j in range(numeric):
        away[j] = query[j] - centre[j]
        offset += away[j] * away[j]
        size += abs(away[j]) * max(centre[j] - low[0, j], high[0, j] - centre[j])
    return offset + 1e-15 * (d + 8) * (tree.radius[0] + offset + size)


@njit(cache=True)
def farthest(tree, query, away, stack, bounds):
    """The live row farthest from the query, and how many rows and boxes were looked at.

    Below a node no row is farther than the smaller of two bounds. One is the box's far corner, which holds in floating point too, since
    rounding keeps order. It alone is loose: in seven columns most corners are far from any row. The other writes |x - q|² as
    |x - c|² + |v|² - 2 v·(x - c), c the centre and v = q - c, and takes the node's radius for the first term and the box for the last.
    The loops stand here in full because calls in them halve the speed.
    """
    points, low, high, centre, radius, live = tree.points, tree.low, tree.high, tree.centre, tree.radius, tree.live
    d, numeric = points.shape[1], tree.numeric
    offset = _offset(tree, query, away)
    best, best_distance, looked = -1, -1.0, 0
    stack[0], bounds[0], depth = 0, np.inf, 1
    while depth:
        depth -= 1
        if bounds[depth] < best_distance:
            continue
        node = stack[depth]
        right = tree.right[node]
        if right < 0:
            start = tree.start[node]
            looked += live[node]
            for i in range(start, start + live[node]):
                distance = 0.0
                for j in range(numeric):
                    step = points[i, j] - query[j]
                    distance += step * step
                for j in range(numeric, d):
                    if points[i, j] != query[j]:
                        distance += 1.0
                if distance > best_distance or (distance == best_distance and tree.order[i] < best):
                    best, best_distance = tree.order[i], distance
            continue
        pushed = 0
        looked += 2
        for side in range(2):
            child = right if side else node + 1
            if live[child] == 0:
                continue
            differ = 0.0  # codes that may
            for j in range(numeric, d):
                if low[child, j] != query[j] or high[child, j] != query[j]:
                    differ += 1.0
            along = 0.0
            for j in range(numeric):
                along += away[j] * ((low[child, j] if away[j] > 0.0 else high[child, j]) - centre[j])
            bound = radius[child] + offset - 2.0 * along + differ
            if bound < best_distance:
                continue
            corner = 0.0
            for j in range(numeric):
                below = query[j] - low[child, j]
                above = high[child, j] - query[j]
                reach = below if below > above else above
                corner += reach * reach
            while differ > 0.0:  # one by one, as they are added to a distance
                corner += 1.0
                differ -= 1.0
            if corner < bound:
                bound = corner
            if bound < best_distance:
                continue
            stack[depth + pushed] = child
            bounds[depth + pushed] = bound
            pushed += 1
        if pushed == 2 and bounds[depth] > bounds[depth + 1]:  # the more promising one on top
            stack[depth], stack[depth + 1] = stack[depth + 1], stack[depth]
            bounds[depth], bounds[depth + 1] = bounds[depth + 1], bounds[depth]
        depth += pushed
    return best, looked


@njit(cache=True, inline="always")
def _smallest_distance(tree, node, query):
    distance = 0.0
    for j in range(tree.numeric):
        below = tree.low[node, j] - query[j]
        above = query[j] - tree.high[node, j]
        step = below if below > above else above  # at most one is positive
        distance += step * step if step > 0.0 else 0.0
    for j in range(tree.numeric, query.shape[0]):
        if query[j] < tree.low[node, j] or query[j] > tree.high[node, j]:
            distance += 1.0
    return distance


@njit(cache=True)
def nearest(tree, query, leaf, count, near, near_distance, stack, bounds, slack=1.0):
    """Find the `count` live rows nearest to the query, from near to far, and return how many rows and boxes were looked at.

    It starts in the query's own leaf and climbs. The caller sees to it that `count` rows are live. With `slack` above 1 a box is not looked
    into unless it is nearer than what was found by that factor, squared distances being compared: quicker, and not always the nearest.
    """
    if count == 0:
        return 0
    filled, looked = 0, 0
    worst = np.inf
    node = leaf
    stack[0] = leaf
    bounds[0] = 0.0
    depth = 1
    while True:
        while depth:
            depth -= 1
            if bounds[depth] * slack > worst:
                continue
            below = stack[depth]
            right = tree.right[below]
            if right >= 0:
                looked += 2
                close, far = below + 1, right
                close_bound = _smallest_distance(tree, close, query) if tree.live[close] > 0 else np.inf
                far_bound = _smallest_distance(tree, far, query) if tree.live[far] > 0 else np.inf
                if far_bound < close_bound:
                    close, far, close_bound, far_bound = far, close, far_bound, close_bound
                if far_bound * slack <= worst and tree.live[far] > 0:
                    stack[depth] = far
                    bounds[depth] = far_bound
                    depth += 1
                if close_bound * slack <= worst and tree.live[close] > 0:
                    stack[depth] = close
                    bounds[depth] = close_bound
                    depth += 1
                continue
            start = tree.start[below]
            looked += tree.live[below]
            for i in range(start, start + tree.live[below]):
                distance = _distance(tree.points, tree.numeric, i, query)
                if distance > worst:
                    continue
                row = tree.order[i]
                if filled < count:
                    at = filled
                    filled += 1
                elif distance == worst and row > near[count - 1]:
                    continue
                else:
                    at = count - 1
                while at > 0 and (near_distance[at - 1] > distance or (near_distance[at - 1] == distance and near[at - 1] > row)):
                    near[at] = near[at - 1]
                    near_distance[at] = near_distance[at - 1]
                    at -= 1
                near[at] = row
                near_distance[at] = distance
                if filled == count:
                    worst = near_distance[count - 1]
        if node == 0:
            return looked
        above = tree.parent[node]
        sibling = tree.right[above] if node == above + 1 else above + 1
        node = above
        if tree.live[sibling] > 0:
            stack[0] = sibling
            bounds[0] = _smallest_distance(tree, sibling, query)
            depth = 1


@njit(cache=True)
def leave(tree, row):
    """Take a row out: swap it behind its leaf's live rows, then shrink boxes and radii upwards until nothing changes."""
    d = tree.points.shape[1]
    node = tree.leaf[row]
    i = tree.place[row]
    last = tree.start[node] + tree.live[node] - 1
    other = tree.order[last]
    for j in range(d):
        tree.points[i, j], tree.points[last, j] = tree.points[last, j], tree.points[i, j]
    tree.order[i], tree.order[last] = other, row
    tree.place[other], tree.place[row] = i, last
    above = node
    while above >= 0:
        tree.live[above] -= 1
        above = tree.parent[above]
    touches = tree.squared[row] == tree.radius[node]
    for j in range(d):
        x = tree.points[last, j]
        touches = touches or x == tree.low[node, j] or x == tree.high[node, j]
    if not touches:
        return
    radius = 0.0
    tree.low[node, :] = np.inf
    tree.high[node, :] = -np.inf
    for i in range(tree.start[node], last):
        radius = max(radius, tree.squared[tree.order[i]])
        for j in range(d):
            x = tree.points[i, j]
            tree.low[node, j] = min(tree.low[node, j], x)
            tree.high[node, j] = max(tree.high[node, j], x)
    tree.radius[node] = radius
    node = tree.parent[node]
    while node >= 0:
        left, right = node + 1, tree.right[node]
        radius = max(tree.radius[left], tree.radius[right])
        changed = radius != tree.radius[node]
        tree.radius[node] = radius
        for j in range(d):
            low = min(tree.low[left, j], tree.low[right, j])
            high = max(tree.high[left, j], tree.high[right, j])
            changed = changed or low != tree.low[node, j] or high != tree.high[node, j]
            tree.low[node, j] = low
            tree.high[node, j] = high
        if not changed:
            return
        node = tree.parent[node]
