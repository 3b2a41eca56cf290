"""k-anonymous decision trees (Friedman, Wolff & Schuster, VLDB Journal 17(4), 2008): a C4.5 tree that is split only where nobody is shown alone.

Columns are public, which an intruder may know, or private; the class is private. What is public of a record need not say at which leaf it is:
leaves that only private columns tell apart are all open to it. Public combinations with the same leaves open to them are a span, and the tree is
k-anonymous if each span that has records has k of them. A split by a public column parts all spans that its node is open to; a split by a
private column parts none.

A column with a hierarchy is asked for from the top down, a branch for each child of a node; a column without one is cut in two. A split that would
leave a span fewer than k records is no candidate; of the others C4.5's is taken, the best gain ratio among those of average gain.
"""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import BoolArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.groups import class_ids
from shoal.kernels.nodes import trees_of
from shoal.kernels.trees.counts import ENOUGH
from shoal.kernels.trees.pruning import useful_splits
from shoal.kernels.trees.splits import CLEARLY, best_threshold, by_value, logarithms

Column = CodedHierarchy | Literal["interval"]
LOGARITHMS = logarithms()


class Question(NamedTuple):
    """What a node asks: in which node of a level a value is, or, of a column without a hierarchy, whether its code is above a threshold."""

    column: int
    level: int
    threshold: int


class Split(NamedTuple):
    """A question, and the node that each answer leads to; an answer that no record gave leads nowhere."""

    question: Question
    children: dict[int, int]


class AnonymousTree(NamedTuple):
    """Parents come before their children."""

    parent: IntArray  # -1 at the root
    split: list[Split | None]  # None at a leaf
    counts: IntArray  # [node, class]: records


class Spans(NamedTuple):
    """What of each column the questions tell, of every public combination: one node of its hierarchy, or one stretch of its codes."""

    span: IntArray  # of each combination
    levels: IntArray  # [combination, column]: the level of the node; the last where nothing is asked
    low: IntArray  # [combination, column]: the first and the last code of the stretch
    high: IntArray


class _Table(NamedTuple):
    codes: Int32Array
    columns: Sequence[Column]
    public: BoolArray
    target: IntArray
    classes: int
    rows: IntArray
    k: int
    least: int


class _Node(NamedTuple):
    number: int
    inside: IntArray  # the combinations that reach it
    open: IntArray  # those that could, for all that is public
    levels: IntArray  # of each column: the level at which the last question about it left its values


class _Candidate(NamedTuple):
    question: Question
    gain: float
    ratio: float


def grow_anonymous(
    codes: NDArray[Any],
    columns: Sequence[Column],
    public: NDArray[Any],
    target: NDArray[Any],
    k: int,
    rows: NDArray[Any] | None = None,
    least: int = 2,
    confidence: float | None = 0.25,
) -> AnonymousTree:
    """codes: [combination, column], those of an "interval" in the order of its values, missing last. `least` and `confidence` are as in C4.5.

    Nodes are split in the order of what that tells of the class, in bits of all their records. Where all columns are public, order changes nothing.
    """
    many, open_to = records_of(rows, len(codes)), np.asarray(public, np.bool_)
    _check(codes, columns, open_to, target, k, many)
    data = np.ascontiguousarray(codes, np.int32)
    table = _Table(data, columns, open_to, target.astype(np.int64), int(target.max()) + 1, many, k, least)
    span, spans = np.zeros(len(codes), np.int64), 1
    parent, splits, counts = [-1], [_no_split()], [tally(table.target, many, table.classes)]
    waiting: list[tuple[float, int, _Node, _Candidate]] = []

    def wait(node: _Node) -> None:
        best = _best(table, node, span)
        if best is not None:
            heappush(waiting, (-best.gain * float(many[node.inside].sum()), node.number, node, best))

    everything = np.arange(len(codes))
    wait(_Node(0, everything, everything, _tops(columns)))
    while waiting:
        _, _, node, (question, _, _) = heappop(waiting)
        j, answers = question.column, _answers(data, columns, node.open, question)
        if table.public[j]:
            parted, number = class_ids([span[node.open], answers])
            if tally(parted, many[node.open]).min() < k:  # another node has parted these spans meanwhile
                wait(node)
                continue
            span[node.open] = spans + parted
            spans += number
        levels = node.levels.copy()
        levels[j] = question.level
        given = _answers(data, columns, node.inside, question)
        children: dict[int, int] = {}
        for answer in np.unique(given).tolist():
            inside = node.inside[given == answer]
            children[answer] = len(parent)
            parent.append(node.number)
            splits.append(None)
            counts.append(tally(table.target[inside], many[inside], table.classes))
            wait(_Node(children[answer], inside, node.open[answers == answer] if table.public[j] else node.open, levels))
        splits[node.number] = Split(question, children)
    grown = AnonymousTree(np.array(parent), splits, np.array(counts))
    return grown if confidence is None else _pruned(grown, confidence)


def spans_of(tree: AnonymousTree, codes: NDArray[Any], columns: Sequence[Column], public: NDArray[Any]) -> Spans:
    """The spans of combinations. Those of one span are told the same of each column."""
    n, data = len(codes), np.ascontiguousarray(codes, np.int32)
    span, spans = np.zeros(n, np.int64), 1
    levels = np.tile(_tops(columns), (n, 1))
    low, high = np.zeros((n, len(columns)), np.int64), np.tile(data.max(axis=0, initial=0).astype(np.int64), (n, 1))
    for _, split, its, answers in _walked(tree, data, columns, np.asarray(public, np.bool_)):
        j = split.question.column
        if not public[j]:
            continue
        parted, number = class_ids([span[its], answers])
        span[its] = spans + parted
        spans += number
        if isinstance(columns[j], CodedHierarchy):
            levels[its, j] = np.minimum(levels[its, j], split.question.level)
        else:
            low[its, j] = np.where(answers == 1, np.maximum(low[its, j], split.question.threshold + 1), low[its, j])
            high[its, j] = np.where(answers == 0, np.minimum(high[its, j], split.question.threshold), high[its, j])
    return Spans(class_ids([span])[0], levels, low, high)


def reached(tree: AnonymousTree, codes: NDArray[Any], columns: Sequence[Column]) -> IntArray:
    """The deepest node that each combination reaches, all its columns known."""
    at = np.zeros(len(codes), np.int64)
    data = np.ascontiguousarray(codes, np.int32)
    for _, split, its, answers in _walked(tree, data, columns, np.ones(len(columns), np.bool_)):
        for answer, child in split.children.items():
            at[its[answers == answer]] = child
    return at


def _walked(
    tree: AnonymousTree, codes: Int32Array, columns: Sequence[Column], public: BoolArray
) -> Iterator[tuple[int, Split, IntArray, IntArray]]:
    """Every node that asks, the combinations that it is open to for all that is public, and their answers."""
    open_to = {0: np.arange(len(codes))}
    for node, split in enumerate(tree.split):
        its = open_to.pop(node)
        if split is None:
            continue
        answers = _answers(codes, columns, its, split.question)
        yield node, split, its, answers
        for answer, child in split.children.items():
            open_to[child] = its[answers == answer] if public[split.question.column] else its


def _no_split() -> Split | None:
    return None


def _check(codes: NDArray[Any], columns: Sequence[Column], public: BoolArray, target: NDArray[Any], k: int, rows: IntArray) -> None:
    if codes.ndim != 2 or codes.shape[1] != len(columns) or len(public) != len(columns):
        raise ValueError(f"There are {len(columns)} columns described, so codes must be a table of as many, each public or private.")
    if not len(codes) or len(target) != len(codes) or target.dtype.kind not in "iub" or target.min() < 0:
        raise ValueError(f"Each of the {len(codes)} combinations needs a class of the target, 0 or above, and there must be some.")
    if k < 1 or rows.sum() < k:
        raise ValueError(f"There are {rows.sum()} rows: k must be from 1 to as many, not {k}.")
    trees_of([column for column in columns if isinstance(column, CodedHierarchy)])


def _tops(columns: Sequence[Column]) -> IntArray:
    return np.array([len(column.nodes) - 1 if isinstance(column, CodedHierarchy) else 0 for column in columns], np.int64)


def _answers(codes: Int32Array, columns: Sequence[Column], of: IntArray, question: Question) -> IntArray:
    column, mine = columns[question.column], codes[of, question.column]
    if isinstance(column, CodedHierarchy):
        return np.asarray(column.nodes[question.level, mine], np.int64)
    return np.asarray(mine > question.threshold, np.int64)


def _best(table: _Table, node: _Node, span: IntArray) -> _Candidate | None:
    """C4.5's choice among the splits that keep k."""
    size = int(table.rows[node.inside].sum())
    if table.public.all() and size < 2 * table.k:
        return None  # its spans are its own records
    if size < 2 * table.least or len(np.unique(table.target[node.inside])) < 2:
        return None
    whose = class_ids([span[node.open]])[0]
    found: list[_Candidate] = []
    for j, column in enumerate(table.columns):
        along = isinstance(column, CodedHierarchy)
        one = _by_nodes(table, node, j, whose, size) if along else _by_threshold(table, node, j, whose, size)
        if one is not None and one.ratio > 0:
            found.append(one)
    if not found:
        return None
    average = sum(one.gain for one in found) / len(found)
    best: _Candidate | None = None
    for one in found:
        if one.gain >= average - ENOUGH and (best is None or one.ratio > best.ratio + CLEARLY):
            best = one
    return best


def _by_nodes(table: _Table, node: _Node, j: int, whose: IntArray, size: int) -> _Candidate | None:
    """The next level at which the values of a node are told apart, if every span keeps k there."""
    column = table.columns[j]
    assert isinstance(column, CodedHierarchy)
    mine = table.codes[node.inside, j]
    for level in range(int(node.levels[j]) - 1, -1, -1):
        present, part = np.unique(column.nodes[level, mine], return_inverse=True)
        if len(present) > 1:
            break
    else:
        return None
    if table.public[j]:
        parted, _ = class_ids([whose, column.nodes[level, table.codes[node.open, j]]])
        if tally(parted, table.rows[node.open]).min() < table.k:
            return None
    gain, ratio = by_value(_tallied(table, node, part.reshape(-1), len(present)), size, table.least, LOGARITHMS)
    return _Candidate(Question(j, level, -1), float(gain), float(ratio))


def _by_threshold(table: _Table, node: _Node, j: int, whose: IntArray, size: int) -> _Candidate | None:
    """The cut that gains most, of those at which every span keeps k on both sides, or lies on one of them."""
    present, part = np.unique(table.codes[node.inside, j], return_inverse=True)
    if len(present) < 2:
        return None
    tallied = _tallied(table, node, part.reshape(-1), len(present))
    if table.public[j]:
        place = np.searchsorted(present, table.codes[node.open, j])
        order = np.lexsort((place, whose))
        cuts = np.flatnonzero(_allowed(place, whose, table.rows[node.open], order, table.k, len(present)))
        if not len(cuts):
            return None
        tallied = np.add.reduceat(tallied, [0, *(cuts + 1)], axis=0)  # what no cut may part is one value
        present = present[[*cuts, len(present) - 1]]
    gain, ratio, threshold = best_threshold(present.astype(np.int64), tallied, size, table.least, LOGARITHMS)
    return _Candidate(Question(j, 0, int(threshold)), float(gain), float(ratio))


def _tallied(table: _Table, node: _Node, part: IntArray, parts: int) -> IntArray:
    """Records by part and class."""
    of_each = tally(part * table.classes + table.target[node.inside], table.rows[node.inside], parts * table.classes)
    return of_each.reshape(parts, table.classes)


def _pruned(tree: AnonymousTree, confidence: float) -> AnonymousTree:
    """C4.5's pessimistic pruning, which takes questions away, so that spans only grow."""
    children = np.array([0 if split is None else len(split.children) for split in tree.split])
    keeps = useful_splits(tree.parent, children, tree.counts, confidence)
    stays = np.ones(len(tree.parent), np.bool_)
    for node in range(1, len(stays)):
        stays[node] = stays[tree.parent[node]] and keeps[tree.parent[node]]
    number = np.cumsum(stays) - 1
    splits: list[Split | None] = []
    for node in np.flatnonzero(stays).tolist():
        split = tree.split[node]
        kept = split is not None and keeps[node]
        splits.append(Split(split.question, {a: int(number[c]) for a, c in split.children.items()}) if split is not None and kept else None)
    parent = np.where(tree.parent >= 0, number[tree.parent], -1)
    return AnonymousTree(parent[stays], splits, tree.counts[stays])


@njit(cache=True)
def _allowed(place, span, rows, order, k, values):
    """After which of the values that are present, but for the last, a cut leaves each span nothing or k records on either side.

    place: the first value at or above that of each combination; order: combinations by span, then by place.
    """
    change = np.zeros(values + 2, np.int64)  # forbidden stretches begin and end
    begin = 0
    while begin < len(order):
        stop, total = begin, 0
        while stop < len(order) and span[order[stop]] == span[order[begin]]:
            total += rows[order[stop]]
            stop += 1
        below, enough, short = 0, -1, -1
        for i in range(begin, stop):
            below += rows[order[i]]
            if enough < 0 and below >= k:
                enough = place[order[i]]
            if short < 0 and total - below < k:
                short = place[order[i]]
        change[place[order[begin]]] += 1
        change[enough] -= 1
        change[short] += 1
        change[place[order[stop - 1]]] -= 1
        begin = stop
    return np.cumsum(change)[: values - 1] == 0
