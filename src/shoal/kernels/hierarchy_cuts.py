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
    part_of: IntArray  # of a node of the column in question; -1 before and after
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
    most = trees.width.max() if d else 1
    room = Room(
        np.empty(n, np.int64),
        np.full(most, -1),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most, np.bool_),
        np.empty(most, np.int64),
    )
    member, level, width = some.copy(), np.empty(d, np.int64), np.empty(d)
    waiting, group = [(0, n)], 0
    while len(waiting):
        a, b = waiting.pop()
        mine = member[a:b]
        _measure(codes, mine, trees, weight, level, width)
        column = -1
        if aim.kind != WIDEST:
            column = _most_telling(codes, rows, mine, trees, need, weight, level, width, aim, room)
        parts = _split(codes, rows, mine, column, level[column], trees, need, aim.apart, room)[0] if column >= 0 else 0
        while parts == 0:
            column = int(np.argmax(width)) if d else -1  # the lowest of equally wide columns
            if column < 0 or width[column] < 0:
                break
            width[column] = -1.0  # is not looked at again
            if level[column]:
                parts = _split(codes, rows, mine, column, level[column], trees, need, aim.apart, room)[0]
        if parts == 0:
            for i in mine:
                groups[i] = group
            group += 1
            continue
        mine[:] = room.members[: b - a]
        begin = 0
        for end in room.ends[:parts]:
            waiting.append((a + begin, a + end))
            begin = end
    return groups


@njit(cache=True)
def _measure(codes, mine, trees, weight, level, width):
    """Each column's smallest node over the box: its level, and how much is lost by publishing it."""
    for j in range(len(level)):
        level[j] = 0
        for i in mine:
            level[j] = meeting(codes[mine[0], j], codes[i, j], level[j], j, trees)
        width[j] = weight[j] * trees.loss[trees.start[j] + level[j] * trees.width[j] + codes[mine[0], j]]


@njit(cache=True)
def _split(codes, rows, mine, j, level, trees, need, apart, room):
    """Part the box by the children of column j's node. How many parts there are (0: none is allowable), and whether the last is those left.

    The rows stand in the room part by part.
    """
    children = _count_children(codes, rows, mine, j, level, trees, room)
    begin, good = 0, 0
    for c in range(children):
        part = room.members[begin : begin + room.size[c]]
        room.keeps[c] = room.records[c] >= need.k and keeps_demand(part, rows, need)
        good += room.keeps[c]
        begin += room.size[c]
        room.ends[c] = begin
    if good == children:
        return children, False
    if good == 0 or not apart:
        return 0, False
    rest = np.empty(len(mine), np.int64)
    left = 0
    for c in range(children):
        if not room.keeps[c]:
            left = _move(room, c, rest, left)
    while not keeps_demand(rest[:left], rows, need):
        smallest = -1
        for c in range(children):
            if room.keeps[c] and (smallest < 0 or room.records[c] < room.records[smallest]):
                smallest = c
        good -= 1
        if good == 0:
            return 0, False
        room.keeps[smallest] = False
        left = _move(room, smallest, rest, left)
    begin, parts, at = 0, 0, 0
    for c in range(children):
        end = room.ends[c]
        if room.keeps[c]:
            for i in range(begin, end):
                room.members[at] = room.members[i]
                at += 1
            room.records[parts] = room.records[c]
            room.ends[parts] = at
            parts += 1
        begin = end
    room.members[at : at + left] = rest[:left]
    room.ends[parts] = at + left
    return parts + 1, True


@njit(cache=True)
def _move(room, child, rest, left):
    """The rows of a child, behind those that are left already."""
    for i in range(room.ends[child] - room.size[child], room.ends[child]):
        rest[left] = room.members[i]
        left += 1
    return left


@njit(cache=True)
def _count_children(codes, rows, mine, j, level, trees, room):
    """Put the rows in the order of the children of column j's node; how many there are, their rows and records."""
    at = trees.start[j] + (level - 1) * trees.width[j]
    part_of, children = room.part_of, 0
    for i in mine:
        child = trees.node[at + codes[i, j]]
        if part_of[child] < 0:
            part_of[child] = 0
            children += 1
    children = 0
    for child in range(trees.width[j]):
        if part_of[child] == 0:
            part_of[child] = children
            room.size[children], room.records[children] = 0, 0
            children += 1
    for i in mine:
        c = part_of[trees.node[at + codes[i, j]]]
        room.size[c] += 1
        room.records[c] += rows[i]
    fill = np.zeros(children, np.int64)
    for c in range(1, children):
        fill[c] = fill[c - 1] + room.size[c - 1]
    for i in mine:
        c = part_of[trees.node[at + codes[i, j]]]
        room.members[fill[c]] = i
        fill[c] += 1
    part_of[: trees.width[j]] = -1
    return children


@njit(cache=True)
def _most_telling(codes, rows, mine, trees, need, weight, level, width, aim, room):
    """The column whose children tell most about the target, of those that may be split; -1: none tells anything."""
    size = 0
    for i in mine:
        size += rows[i]
    best, column = NO_GAIN * size, -1
    for j in range(len(level)):
        if level[j] == 0:
            continue
        parts, is_rest = _split(codes, rows, mine, j, level[j], trees, need, aim.apart, room)
        if parts == 0:
            continue
        score = _worth(codes, rows, mine, j, level[j], trees, parts, is_rest, weight[j], width[j], size, aim, room)
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
