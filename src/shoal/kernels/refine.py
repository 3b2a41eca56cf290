"""Swap refinement: lower the within-group sum of squares (SSE) of a grouping by moving and exchanging rows, never below k rows a group.

For a group and each of its nearest groups, the steps are weighed by the exact change of the SSE, and the best is taken while it lowers it:

* move: a row goes over, where its group keeps k;
* exchange: two rows change places;
* round: a row goes to a second group, one from there to a third, and one from there back, or none where the first can spare one;
* dissolve: all rows of a group go over, each to the nearby group that takes it most cheaply.

A group that comes to 2k rows is split at once, since two groups of at least k never have a larger SSE than their union; so sizes end within
k to 2k - 1. Groups that changed are looked at again, for a few passes.
"""

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.live_tree import nearest, plant
from shoal.kernels.mdav import checked_points, mdav_groups


def swap_refinement(
    points: FloatArray, groups: IntArray, k: int, most_passes: int = 5, neighbours: int = 10, reach: int = 3, slack: float = 1.0
) -> IntArray:
    """New groups of k to 2k - 1 rows with an SSE no larger than that of `groups`; groups of 2k rows or more are split by MDAV first.

    `reach` is the number of groups a step may involve: 2 leaves out rounds, whose time grows with k³. Above k = 64 they always are.
    With `slack` above 1 nearby groups are searched roughly (see `nearest`), which saves much of the time and loses little.
    """
    rows = checked_points(points, k)
    dense, sizes = _dense(np.asarray(groups, dtype=np.int64))
    if len(rows) < 2 * k:
        return dense
    if sizes.min() < k:
        raise ValueError(f"Every group needs at least k = {k} rows, and the smallest has {sizes.min()}.")
    made = len(sizes)
    for large in np.flatnonzero(sizes >= 2 * k):
        inside = np.flatnonzero(dense == large)
        parts = mdav_groups(rows[inside], k)
        dense[inside] = np.where(parts == 0, large, made - 1 + parts)
        made += parts.max()
    member, place, size, centre = _slots(rows, dense, k)
    changed = size > 0
    for _ in range(most_passes):
        alive = np.flatnonzero(size > 0)
        ask = np.flatnonzero(changed & (size > 0))
        if len(ask) == 0 or len(alive) < 2:
            break
        near = _nearest_groups(plant(centre[alive], 8), alive, np.searchsorted(alive, ask), min(neighbours, len(alive) - 1), slack)
        changed = np.zeros(len(size), np.bool_)
        _one_pass(k, reach if k <= 64 else 2, ask, near, member, place, size, centre, changed)
    return _dense(_groups(member, size, len(rows)))[0]


def _slots(rows: FloatArray, groups: IntArray, k: int) -> tuple[IntArray, FloatArray, IntArray, FloatArray]:
    """For every group that there may ever be: its rows, their points, how many they are, their average."""
    slots = len(rows) // k  # there is never room for more groups
    member = np.full((slots, 2 * k), -1, np.int64)
    place = np.zeros((slots, 2 * k, rows.shape[1]))
    size = np.zeros(slots, np.int64)
    centre = np.zeros((slots, rows.shape[1]))
    _fill(rows, groups, member, place, size, centre)
    return member, place, size, centre


def _groups(member: IntArray, size: IntArray, rows: int) -> IntArray:
    result = np.empty(rows, np.int64)
    for slot in range(member.shape[1]):
        held = np.flatnonzero(size > slot)
        result[member[held, slot]] = held
    return result


def _dense(groups: IntArray) -> tuple[IntArray, IntArray]:
    """The groups numbered 0, 1, ... in their order, and their sizes."""
    if groups.min(initial=0) < 0 or groups.max(initial=0) > 4 * len(groups):
        groups = np.unique(groups, return_inverse=True)[1].reshape(-1)
    sizes = np.bincount(groups)
    return np.asarray(np.cumsum(sizes > 0)[groups] - 1), sizes[sizes > 0]


@njit(cache=True)
def _fill(rows, groups, member, place, size, centre):
    for i in range(rows.shape[0]):
        _put(member, place, size, groups[i], i, rows[i])
    for g in range(size.shape[0]):
        _average(place, size, centre, g)


@njit(cache=True)
def _nearest_groups(tree, alive, ask, count, slack):
    """For each asked group, as a position in `alive`, the slots of the groups with the nearest averages."""
    found = np.empty((ask.shape[0], count), np.int64)
    near = np.empty(count + 1, np.int64)
    near_distance = np.empty(count + 1)
    stack = np.empty(256, np.int64)
    bounds = np.empty(256)
    for a in range(ask.shape[0]):
        query = tree.points[tree.place[ask[a]]]
        nearest(tree, query, tree.leaf[ask[a]], count + 1, near, near_distance, stack, bounds, slack)
        filled = 0
        for i in range(count + 1):
            if near[i] != ask[a] and filled < count:
                found[a, filled] = alive[near[i]]
                filled += 1
    return found


@njit(cache=True)
def _one_pass(k, reach, ask, near, member, place, size, centre, changed):
    d = place.shape[2]
    free = np.empty(size.shape[0], np.int64)  # slots for new groups
    spare = 0
    for g in range(size.shape[0] - 1, -1, -1):
        if size[g] == 0:
            free[spare] = g
            spare += 1
    gain_a, gain_b, far_a, far_b = np.empty(2 * k), np.empty(2 * k), np.empty(2 * k), np.empty(2 * k)
    tables = near.shape[1] if reach > 2 else 0
    own, least, back = np.empty((tables, 2 * k)), np.empty((tables, 2 * k)), np.empty((tables, 2 * k + 1, 2 * k))
    trial_size = np.empty(near.shape[1], np.int64)
    trial_centre = np.empty((near.shape[1], d))
    goes = np.empty(2 * k, np.int64)
    for at in range(ask.shape[0]):
        a = ask[at]
        for nb in range(near.shape[1]):
            b = near[at, nb]
            for _ in range(2 * k):
                if size[a] == 0 or size[b] == 0:
                    break
                i, j = _best_step(k, a, b, place, size, centre, gain_a, gain_b, far_a, far_b)
                if i < 0 and j < 0:
                    break
                changed[a] = changed[b] = True
                if j < 0:
                    _move(member, place, size, a, i, b)
                elif i < 0:
                    _move(member, place, size, b, j, a)
                else:
                    member[a, i], member[b, j] = member[b, j], member[a, i]
                    for c in range(d):
                        place[a, i, c], place[b, j, c] = place[b, j, c], place[a, i, c]
                _average(place, size, centre, a)
                _average(place, size, centre, b)
                for g in (a, b):
                    spare = _split_if_full(k, g, free, spare, member, place, size, centre, changed)
        for _ in range(2 * k if reach > 2 else 0):
            if size[a] == 0:
                break
            i, b, j, c, h = _best_round(k, a, near[at], place, size, centre, gain_a, own, back, least)
            if i < 0:
                break
            changed[a] = changed[b] = changed[c] = True
            _move(member, place, size, a, i, b)  # the moved row comes last there
            _move(member, place, size, b, j, c)
            if h >= 0:
                _move(member, place, size, c, h, a)
            for g in (a, b, c):
                _average(place, size, centre, g)
            spare = _split_if_full(k, c, free, spare, member, place, size, centre, changed)
        if size[a] > 0 and _can_dissolve(k, a, near[at], place, size, centre, trial_size, trial_centre, goes):
            changed[a] = True
            for i in range(size[a] - 1, -1, -1):
                b = near[at, goes[i]]
                changed[b] = True
                _move(member, place, size, a, i, b)
                _average(place, size, centre, b)
            free[spare] = a
            spare += 1
            for nb in range(near.shape[1]):
                spare = _split_if_full(k, near[at, nb], free, spare, member, place, size, centre, changed)


@njit(cache=True)
def _best_step(k, a, b, place, size, centre, gain_a, gain_b, far_a, far_b):
    """The step between groups a and b that lowers the SSE most: (i, -1) moves i to b, (-1, j) moves j to a, (i, j) exchanges them."""
    na, nb = size[a], size[b]
    best_i, best_j, best = -1, -1, 0.0
    for i in range(na):
        own, other = _from_average(place, a, i, centre, a), _from_average(place, a, i, centre, b)
        gain_a[i] = own - other
        far_a[i] = np.sqrt(own)
        if na > k:
            change = other * nb / (nb + 1) - own * na / (na - 1)
            if change < best - 1e-9 * own:
                best_i, best_j, best = i, -1, change
    for j in range(nb):
        own, other = _from_average(place, b, j, centre, b), _from_average(place, b, j, centre, a)
        gain_b[j] = own - other
        far_b[j] = np.sqrt(other)
        if nb > k:
            change = other * na / (na + 1) - own * nb / (nb - 1)
            if change < best - 1e-9 * own:
                best_i, best_j, best = -1, j, change
    # Exchanging x of a with y of b changes the SSE by 2 (c_b - c_a)·(y - x) - |y - x|² (1/n_a + 1/n_b); by the triangle over a's average
    # |y - x| is at most far_a + far_b, which spares most of the distances.
    share = 1.0 / na + 1.0 / nb
    for i in range(na):
        for j in range(nb):
            most = far_a[i] + far_b[j]
            if best + gain_a[i] + gain_b[j] + most * most * share <= 0.0:
                continue
            apart = _apart(place, a, i, b, j)
            change = -gain_a[i] - gain_b[j] - apart * share
            if change < best - 1e-9 * apart:
                best_i, best_j, best = i, j, change
    return best_i, best_j


@njit(cache=True)
def _best_round(k, a, near, place, size, centre, first, own, back, least):
    """The best round: row i of a goes to b, row j of b to c, and row h of c to a, or no row (h = -1) where a can spare one.

    Putting x for y in a group of n changes its SSE by |x - c|² - |y - c|² - |x - y|² / n, c its average. A round that lowers the SSE can
    be started where the first change is negative, so only such beginnings are followed.
    """
    best_i, best_b, best_j, best_c, best_h, best = -1, -1, -1, -1, -1, 0.0
    na = size[a]
    for i in range(na):
        first[i] = _from_average(place, a, i, centre, a)
    for at in range(near.shape[0]):  # own[at]: from their own average; back[at, h]: what h for i changes in a, and the least of that
        c = near[at]
        for h in range(size[c]):
            own[at, h] = _from_average(place, c, h, centre, c)
            returns = _from_average(place, c, h, centre, a)
            least[at, h] = np.inf
            for i in range(na):
                back[at, h, i] = returns - first[i] - _apart(place, c, h, a, i) / na
                least[at, h] = min(least[at, h], back[at, h, i])
        if na > k:
            for i in range(na):
                back[at, 2 * k, i] = -first[i] * na / (na - 1)
    for b_at in range(near.shape[0]):
        b = near[b_at]
        for j in range(size[b]):
            lowest = 0.0
            for i in range(na):
                first[i] = _from_average(place, a, i, centre, b) - own[b_at, j] - _apart(place, a, i, b, j) / size[b]
                lowest = min(lowest, first[i])
            if lowest == 0.0:
                continue
            for c_at in range(near.shape[0]):
                c = near[c_at]
                nc = size[c]
                if nc == 0 or c == b:
                    continue
                arrives = _from_average(place, b, j, centre, c)
                if na > k:
                    for i in range(na):
                        total = first[i] + arrives * nc / (nc + 1) + back[c_at, 2 * k, i]
                        if total < best - 1e-9 * arrives:
                            best_i, best_b, best_j, best_c, best_h, best = i, b, j, c, -1, total
                for h in range(nc):
                    rest = lowest + least[c_at, h] + arrives - own[c_at, h]
                    if rest - 2.0 * (arrives + own[c_at, h]) / nc >= best:  # |x - y|² is at most twice the sum of the squared sides
                        continue
                    apart = _apart(place, b, j, c, h)
                    if rest - apart / nc >= best:
                        continue
                    second = arrives - own[c_at, h] - apart / nc
                    for i in range(na):
                        total = first[i] + second + back[c_at, h, i]
                        if total < best - 1e-9 * (apart + arrives):
                            best_i, best_b, best_j, best_c, best_h, best = i, b, j, c, h, total
    return best_i, best_b, best_j, best_c, best_h


@njit(cache=True)
def _from_average(place, g, i, centre, h):
    total = 0.0
    for c in range(centre.shape[1]):
        step = place[g, i, c] - centre[h, c]
        total += step * step
    return total


@njit(cache=True)
def _apart(place, g, i, h, j):
    total = 0.0
    for c in range(place.shape[2]):
        step = place[g, i, c] - place[h, j, c]
        total += step * step
    return total


@njit(cache=True)
def _can_dissolve(k, a, near, place, size, centre, trial_size, trial_centre, goes):
    """Whether the rows of a cost less in nearby groups, entered one after the other, than they do now; `goes` says which one takes each."""
    d = centre.shape[1]
    saved = 0.0
    for i in range(size[a]):
        for c in range(d):
            step = place[a, i, c] - centre[a, c]
            saved += step * step
    for nb in range(near.shape[0]):
        trial_size[nb] = size[near[nb]]
        trial_centre[nb] = centre[near[nb]]
    cost = 0.0
    for i in range(size[a] - 1, -1, -1):
        cheapest = np.inf
        for nb in range(near.shape[0]):
            if trial_size[nb] == 0 or trial_size[nb] == 2 * k:
                continue
            distance = 0.0
            for c in range(d):
                step = place[a, i, c] - trial_centre[nb, c]
                distance += step * step
            distance *= trial_size[nb] / (trial_size[nb] + 1.0)
            if distance < cheapest:
                cheapest = distance
                goes[i] = nb
        cost += cheapest
        if not cost < saved * (1.0 - 1e-9):
            return False
        nb = goes[i]
        trial_size[nb] += 1
        for c in range(d):
            trial_centre[nb, c] += (place[a, i, c] - trial_centre[nb, c]) / trial_size[nb]
    return True


@njit(cache=True)
def _split_if_full(k, g, free, spare, member, place, size, centre, changed):
    """Halve a group that has come to 2k rows; returns how many slots are still free."""
    if size[g] < 2 * k:
        return spare
    _split(k, g, free[spare - 1], member, place, size, centre)
    changed[free[spare - 1]] = True
    return spare - 1


@njit(cache=True)
def _split(k, g, new, member, place, size, centre):
    """Halve a group of 2k: the row farthest from its average leaves with its k - 1 nearest."""
    distance = np.zeros(2 * k)
    for i in range(2 * k):
        for c in range(centre.shape[1]):
            step = place[g, i, c] - centre[g, c]
            distance[i] += step * step
    far = place[g, np.argmax(distance)].copy()
    distance[:] = 0.0
    for i in range(2 * k):
        for c in range(centre.shape[1]):
            step = place[g, i, c] - far[c]
            distance[i] += step * step
    leaving = np.sort(np.argsort(distance, kind="mergesort")[:k])
    for i in leaving[::-1]:
        _move(member, place, size, g, i, new)
    _average(place, size, centre, g)
    _average(place, size, centre, new)


@njit(cache=True)
def _put(member, place, size, g, row, point):
    member[g, size[g]] = row
    place[g, size[g]] = point
    size[g] += 1


@njit(cache=True)
def _move(member, place, size, g, i, to):
    """The i-th row of g goes to another group; the last of g takes its place."""
    _put(member, place, size, to, member[g, i], place[g, i])
    size[g] -= 1
    member[g, i] = member[g, size[g]]
    place[g, i] = place[g, size[g]]


@njit(cache=True)
def _average(place, size, centre, g):
    for c in range(centre.shape[1]):
        total = 0.0
        for i in range(size[g]):
            total += place[g, i, c]
        centre[g, c] = total / max(size[g], 1)
