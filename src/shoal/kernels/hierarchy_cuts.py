"""Mondrian along hierarchies: a box of rows is specialized again and again, one column's node into its children, while every part keeps enough.

As strict Mondrian (LeFevre, DeWitt & Ramakrishnan 2006) it takes the widest column first, and as workload-aware Mondrian (KDD 2006) the
column that tells most about a target, but it parts a box only where the column's hierarchy does: what a box publishes is a node of it. A
node's width is what is lost by publishing it.

A child with too few rows would forbid the whole specialization, and one rare value is enough for that. So children that keep the demand are
set "apart", and the others stay together under the node that they had, with the smallest of those set apart if they are too few. "all" is
the textbook's rule: all children or none.

Equal rows never part, and groups follow from the values alone, not from the order of rows.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.cuts import GAIN, GRID, NO_GAIN, VARIANCE, WIDEST
from shoal.kernels.group_demand import Required, keeps_demand, required
from shoal.kernels.masks import Demand
from shoal.kernels.nodes import Recoded, Trees, check_table, meeting, weights_of, written

Rule = Literal["widest", "gain", "variance"]
Children = Literal["apart", "all"]

KINDS = {"widest": WIDEST, "gain": GAIN, "variance": VARIANCE}


class Aim(NamedTuple):
    """What a specialization is chosen by."""

    kind: int
    target: IntArray  # of each row: its class, or its number on a grid
    classes: int
    ratio: float
    narrowing: float
    apart: bool


class Room(NamedTuple):
    """Used by one box after the other."""

    members: IntArray  # the rows of a box, part by part
    rest: IntArray  # those of children that are not set apart
    node: IntArray  # of each row of the box
    node_rows: IntArray  # rows and records of each node of the column in question; 0 before and after
    node_records: IntArray
    next: IntArray  # where a node's next row goes
    child: IntArray  # the nodes that are there
    size: IntArray  # rows and records of each child
    records: IntArray
    keeps: NDArray[np.bool_]
    ends: IntArray  # where each part ends in `members`


def hierarchy_groups(
    codes: NDArray[Any],
    hierarchies: Sequence[CodedHierarchy],
    demand: Demand,
    rows: NDArray[Any] | None = None,
    *,
    rule: Rule = "widest",
    target: NDArray[Any] | None = None,
    classes: int = 0,
    ratio: float = 0.0,
    narrowing: float = 0.0,
    children: Children = "apart",
    weights: Sequence[float] | None = None,
) -> Recoded:
    """The group of each row (a combination that stands for `rows` records) and the nodes that groups publish.

    rule, target, classes, ratio and narrowing mean what they mean to `mondrian_groups`; width and narrowing are weighed by column, if asked.
    """
    data, many, trees = check_table(codes, rows, hierarchies)
    share = weights_of(weights, data.shape[1])
    need = required(demand, many)
    aim = Aim(int(KINDS[rule]), _target(rule, target, classes, len(data)), max(classes, 1), ratio, narrowing, children == "apart")
    groups = cut_boxes(data, many, trees, need, np.arange(len(data)), share, aim)
    return written(data, many, groups, trees, share)


def cut_boxes(
    codes: NDArray[Any], rows: IntArray, trees: Trees, need: Required, some: IntArray, share: FloatArray, aim: Aim | None = None
) -> IntArray:
    """The group of each row, -1 for rows that are not among `some`; these must together keep what is required."""
    chosen = Aim(int(WIDEST), np.zeros(len(codes), np.int64), 1, 0.0, 0.0, True) if aim is None else aim
    return np.asarray(_cut_boxes(codes, rows, trees, need, some, share * codes.shape[1], chosen))


def _target(rule: Rule, target: NDArray[Any] | None, classes: int, n: int) -> IntArray:
    if rule == "widest":
        return np.zeros(n, np.int64)
    if target is None or len(target) != n:
        raise ValueError(f'The rule "{rule}" needs a target for each of the {n} rows.')
    if rule == "gain":
        if n and (target.dtype.kind not in "iub" or target.min() < 0 or target.max() >= classes):
            raise ValueError(f"Targets must be codes 0..{classes - 1}.")
        return target.astype(np.int64)
    number = target.astype(np.float64)
    if not np.isfinite(number).all():
        raise ValueError("A numeric target must be finite: leave out rows that lack it.")
    if not n or number.min() == number.max():
        return np.zeros(n, np.int64)
    return np.asarray(np.rint((number - number.min()) / np.ptp(number) * GRID), np.int64)


@njit(cache=True)
def _cut_boxes(codes, rows, trees, need, some, weight, aim):
    d, n = codes.shape[1], len(some)
    groups = np.full(len(codes), -1)
    if n == 0:
        return groups
    room = _room(n, trees.width.max() if d else 1)
    member, level, width = some.copy(), np.empty(d, np.int64), np.empty(d)
    waiting, around, group = [(0, n)], np.zeros((64, d), np.int64), 0  # around: the levels of the box that each box comes from
    around[0] = trees.depth - 1
    while len(waiting):
        a, b = waiting.pop()
        level[:] = around[len(waiting)]
        parts = 0
        if _has_records(rows, member, a, b, 2 * need.k):  # fewer are no two parts
            _measure(codes, member, a, b, trees, weight, level, width)
            column = -1
            if aim.kind != WIDEST:
                column = _most_telling(codes, rows, member, a, b, trees, need, weight, level, width, aim, room)
            parts = _split(codes, rows, member, a, b, column, level[column], trees, need, aim.apart, room)[0] if column >= 0 else 0
            while parts == 0:
                column = int(np.argmax(width)) if d else -1  # the lowest of equally wide columns
                if column < 0 or width[column] < 0:
                    break
                width[column] = -1.0  # is not looked at again
                if level[column]:
                    parts = _split(codes, rows, member, a, b, column, level[column], trees, need, aim.apart, room)[0]
        if parts == 0:
            for x in range(a, b):
                groups[member[x]] = group
            group += 1
            continue
        member[a:b] = room.members[: b - a]
        if len(waiting) + parts > len(around):
            around = np.concatenate((around, np.empty((len(around) + parts, d), np.int64)))
        begin = 0
        for end in room.ends[:parts]:
            around[len(waiting)] = level
            waiting.append((a + begin, a + end))
            begin = end
    return groups


@njit(cache=True)
def _room(n, most):
    """For boxes of so many rows, and columns of so many nodes, at most."""
    box, nodes, children = np.empty((3, n), np.int64), np.zeros((3, most), np.int64), np.empty((4, most), np.int64)
    return Room(
        box[0],
        box[1],
        box[2],
        nodes[0],
        nodes[1],
        nodes[2],
        children[0],
        children[1],
        children[2],
        np.empty(most, np.bool_),
        children[3],
    )


@njit(cache=True)
def _has_records(rows, member, a, b, enough):
    """Whether a box, member[a:b], has so many records. Here and below what is done for every box takes no slices, which cost more than small boxes."""
    records = 0
    for x in range(a, b):
        records += rows[member[x]]
        if records >= enough:
            return True
    return False


@njit(cache=True)
def _measure(codes, member, a, b, trees, weight, level, width):
    """Each column's smallest node over the box: its level, and how much is lost by publishing it. On entry levels are those of a box around it."""
    first = member[a]
    for j in range(len(level)):
        if level[j] and not _parted(codes, member, a, b, j, level[j] - 1, trees):
            level[j] = 0
            for x in range(a + 1, b):
                level[j] = meeting(codes[first, j], codes[member[x], j], level[j], j, trees)
        width[j] = weight[j] * trees.loss[trees.start[j] + level[j] * trees.width[j] + codes[first, j]]


@njit(cache=True)
def _parted(codes, member, a, b, j, level, trees):
    """Whether a box has several nodes of column j's level. From its end: rows near each other are often alike."""
    at = trees.start[j] + level * trees.width[j]
    node = trees.node[at + codes[member[a], j]]
    for x in range(b - 1, a, -1):  # noqa: SIM110  numba has no any() of a generator
        if trees.node[at + codes[member[x], j]] != node:
            return True
    return False


@njit(cache=True)
def _split(codes, rows, member, a, b, j, level, trees, need, apart, room):
    """Part the box by the children of column j's node. How many parts there are (0: none is allowable), and whether the last is those left.

    The rows stand in the room part by part.
    """
    at = trees.start[j] + (level - 1) * trees.width[j]
    children, good = _count_children(codes, rows, member, a, b, j, at, trees, need.k, room)
    if good == 0 or (good < children and not apart):  # most boxes end here, before any row has moved
        for c in range(children):
            room.node_rows[room.child[c]] = 0
        return 0, False
    _put_children(member, a, b, children, need.k, room)
    more = need.codes.shape[1] > 0
    if more:
        for c in range(children):
            part = room.members[room.ends[c] - room.size[c] : room.ends[c]]
            if room.keeps[c] and not keeps_demand(part, rows, need):
                room.keeps[c] = False
                good -= 1
    if good == children:
        return children, False
    if good == 0 or not apart:
        return 0, False
    left, records = 0, 0
    for c in range(children):
        if not room.keeps[c]:
            left, records = _move(room, c, left), records + room.records[c]
    while records < need.k or (more and not keeps_demand(room.rest[:left], rows, need)):
        smallest = -1
        for c in range(children):
            if room.keeps[c] and (smallest < 0 or room.records[c] < room.records[smallest]):
                smallest = c
        good -= 1
        if good == 0:
            return 0, False
        room.keeps[smallest] = False
        left, records = _move(room, smallest, left), records + room.records[smallest]
    return _side_by_side(room, children, left), True


@njit(cache=True)
def _side_by_side(room, children, left):
    """The children that are set apart, and behind them the rows that are left; how many parts that makes."""
    begin, parts, at = 0, 0, 0
    for c in range(children):
        end = room.ends[c]
        if room.keeps[c]:
            for x in range(begin, end):
                room.members[at] = room.members[x]
                at += 1
            room.ends[parts] = at
            parts += 1
        begin = end
    for x in range(left):
        room.members[at + x] = room.rest[x]
    room.ends[parts] = at + left
    return parts + 1


@njit(cache=True)
def _move(room, child, left):
    """The rows of a child, behind those that are left already."""
    for x in range(room.ends[child] - room.size[child], room.ends[child]):
        room.rest[left] = room.members[x]
        left += 1
    return left


@njit(cache=True)
def _count_children(codes, rows, member, a, b, j, at, trees, k, room):
    """Count the rows and records of the children of column j's node; how many there are, and how many of them have k records."""
    children, good = 0, 0
    for x in range(a, b):
        i = member[x]
        node = trees.node[at + codes[i, j]]
        room.node[x - a] = node
        if room.node_rows[node] == 0:
            room.child[children], room.node_records[node] = node, 0
            children += 1
        room.node_rows[node] += 1
        room.node_records[node] += rows[i]
    for c in range(children):
        good += room.node_records[room.child[c]] >= k
    return children, good


@njit(cache=True)
def _put_children(member, a, b, children, k, room):
    """Put the rows in the order of the children."""
    room.child[:children].sort()
    begin = 0
    for c in range(children):
        node = room.child[c]
        room.size[c], room.records[c], room.next[node] = room.node_rows[node], room.node_records[node], begin
        room.keeps[c] = room.records[c] >= k
        begin += room.size[c]
        room.ends[c] = begin
        room.node_rows[node] = 0
    for x in range(a, b):
        node = room.node[x - a]
        room.members[room.next[node]] = member[x]
        room.next[node] += 1


@njit(cache=True)
def _most_telling(codes, rows, member, a, b, trees, need, weight, level, width, aim, room):
    """The column whose children tell most about the target, of those that may be split; -1: none tells anything."""
    size = 0
    for i in member[a:b]:
        size += rows[i]
    best, column = NO_GAIN * size, -1
    for j in range(len(level)):
        if level[j] == 0:
            continue
        parts, is_rest = _split(codes, rows, member, a, b, j, level[j], trees, need, aim.apart, room)
        if parts == 0:
            continue
        score = _worth(codes, rows, member[a:b], j, level[j], trees, parts, is_rest, weight[j], width[j], size, aim, room)
        if score > best:
            best, column = score, j
    return column


@njit(cache=True)
def _worth(codes, rows, mine, j, level, trees, parts, is_rest, weight, width, size, aim, room):
    """What a split tells about the target, in nats or in squares, over all records; and what narrower cells are worth beside it."""
    score = _mixture(mine, rows, aim)
    begin, sizes, narrowed, at = 0, 0.0, 0.0, trees.start[j] + (level - 1) * trees.width[j]
    for p in range(parts):
        part = room.members[begin : room.ends[p]]
        begin = room.ends[p]
        records = 0
        for i in part:
            records += rows[i]
        score -= _mixture(part, rows, aim)
        sizes += records * np.log(size / records)
        if not (is_rest and p == parts - 1):
            narrowed += records * (width - weight * trees.loss[at + codes[part[0], j]])
    if aim.ratio > 0:
        score /= (sizes / size) ** aim.ratio
    return score + aim.narrowing * narrowed


@njit(cache=True)
def _mixture(part, rows, aim):
    """How mixed the targets of these rows are, times their records: entropy; or variance, but for the squares, of which no split changes the sum."""
    size = 0
    if aim.kind == VARIANCE:
        total = 0
        for i in part:
            size += rows[i]
            total += rows[i] * aim.target[i]
        return -(total / GRID) * (total / GRID) / size
    count = np.zeros(aim.classes, np.int64)
    for i in part:
        size += rows[i]
        count[aim.target[i]] += rows[i]
    mixed = size * np.log(size)
    for c in count:
        if c:
            mixed -= c * np.log(c)
    return mixed
