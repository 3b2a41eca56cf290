"""V-MDAV: groups of k to 2k - 1 rows that grow where rows lie close together (Solanas & Martínez-Ballesté 2006).

The average row is taken once. Again and again the ungrouped row farthest from it is grouped with its k - 1 nearest ungrouped rows. Then the
group grows: its closest ungrouped row, d_in away from the nearest member, joins if d_in < gamma * d_out, with d_out the distance from that
row to the nearest other ungrouped row. Fewer than k rows at the end join the groups with the nearest averages.

Distances are Euclidean, not squared: gamma compares lengths. (On squared distances the same comparison is that of gamma's square root.)
"""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.live_tree import leave, nearest, plant
from shoal.kernels.mdav import checked_points


def v_mdav_groups(points: FloatArray, k: int, gamma: float) -> IntArray:
    """The group of each row, numbered in order of creation. With gamma 0 every group formed has k rows; published values are 0.2 to 1.1."""
    rows = checked_points(points, k)
    groups = np.full(len(rows), -1, np.int64)
    if len(rows) < 2 * k:
        return np.zeros(len(rows), np.int64)
    from_outside = np.argsort(-((rows - rows.mean(axis=0)) ** 2).sum(axis=1), kind="stable")
    made = _grow(plant(rows), from_outside, groups, k, gamma)
    left = np.flatnonzero(groups < 0)
    if len(left):
        grouped = groups >= 0
        sizes = np.bincount(groups[grouped], minlength=made)
        averages = np.stack([np.bincount(groups[grouped], column, made) / sizes for column in rows[grouped].T], axis=1)
        for row in left:
            groups[row] = np.argmin(((averages - rows[row]) ** 2).sum(axis=1))
    return groups


@njit(cache=True)
def _grow(tree, from_outside, groups, k, gamma):
    n, d = tree.points.shape
    most = 2 * k - 1
    query = np.empty(d)
    near = np.empty(max(k, 2), np.int64)
    near_distance = np.empty(max(k, 2))
    stack = np.empty(256, np.int64)
    bounds = np.empty(256)
    member = np.empty(most, np.int64)
    closest = np.empty(most, np.int64)  # to each member, of the ungrouped rows; -1 where it must be looked up
    closest_distance = np.empty(most)
    made, live = 0, n
    for first in from_outside:
        if live < k:
            break
        if groups[first] >= 0:
            continue
        query[:] = tree.points[tree.place[first]]
        leave(tree, first)
        nearest(tree, query, tree.leaf[first], k - 1, near, near_distance, stack, bounds)
        member[0] = first
        for i in range(k - 1):
            member[i + 1] = near[i]
            leave(tree, near[i])
        live -= k
        size = k
        closest[:k] = -1
        while size < most and live > 0:
            joins = 0
            for i in range(size):
                if closest[i] < 0:
                    query[:] = tree.points[tree.place[member[i]]]
                    nearest(tree, query, tree.leaf[member[i]], 1, near, near_distance, stack, bounds)
                    closest[i] = near[0]
                    closest_distance[i] = near_distance[0]
                a, b = closest_distance[i], closest_distance[joins]
                if a < b or (a == b and closest[i] < closest[joins]):
                    joins = i
            row, d_in = closest[joins], np.sqrt(closest_distance[joins])
            d_out = np.inf
            if live > 1:
                query[:] = tree.points[tree.place[row]]
                nearest(tree, query, tree.leaf[row], 2, near, near_distance, stack, bounds)  # the row itself is one of the two
                d_out = np.sqrt(near_distance[1])
            if not d_in < gamma * d_out:
                break
            leave(tree, row)
            live -= 1
            for i in range(size):
                if closest[i] == row:
                    closest[i] = -1
            member[size] = row
            closest[size] = -1
            size += 1
        for i in range(size):
            groups[member[i]] = made
        made += 1
    return made
