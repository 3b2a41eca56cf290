"""Full-domain recoding from the top down for a class that is to be predicted: TDS and TDR.

Top-Down Specialization (Fung, Wang & Yu, ICDE 2005) begins with nothing shown and specializes one value after the other, in all records: a
node of a hierarchy into its children, or an interval of numbers into two. Top-Down Refinement (the same, IEEE TKDE 19(5), 2007) can also
disclose single values of a column that has no hierarchy, whose other values stay suppressed.

A specialization is valid while every class keeps k records, and beneficial while its records are of more than one target class. Of those that
are both, the one with the most information gain for the anonymity it costs is next: gain over loss (TDS; the gain itself where nothing is
lost), or gain over loss + 1 (TDR). Anonymity is the size of the smallest class. The same value is published alike in every record.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of, tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.nodes import trees_of

Column = CodedHierarchy | Literal["interval", "disclosed"]
Score = Literal["gain over loss", "gain over loss + 1"]


class Specialized(NamedTuple):
    """What each code of each column is published as."""

    cells: list[IntArray]  # [column][code]: codes with one number are published alike
    levels: list[IntArray]  # [column][code]: the level in a hierarchy; 0 where a value is disclosed, 1 where not; 0 in an interval
    group: IntArray  # of each combination: those that are published alike
    steps: list[tuple[int, float]]  # the column and the score of each specialization, in order


class _Candidate(NamedTuple):
    column: int
    child: IntArray  # of each code: which part it would go to; -1 for codes of other cells
    parts: int
    gain: float


class _State(NamedTuple):
    """The records as they are published now."""

    codes: Int32Array
    rows: IntArray
    targets: list[IntArray]  # of each column: [code, target class] -> records
    cells: list[IntArray]
    levels: list[IntArray]


def top_down_specialization(
    codes: NDArray[Any],
    columns: Sequence[CodedHierarchy | Literal["interval"]],
    target: NDArray[Any],
    k: int,
    rows: NDArray[Any] | None = None,
) -> Specialized:
    """TDS. codes: [combination, column], those of an "interval" in the order of its numbers; target: the class of each combination."""
    return _specialize(codes, columns, target, k, rows, "gain over loss")


def top_down_refinement(
    codes: NDArray[Any], columns: Sequence[Column], target: NDArray[Any], k: int, rows: NDArray[Any] | None = None
) -> Specialized:
    """TDR, where a column may also be "disclosed" value by value."""
    return _specialize(codes, columns, target, k, rows, "gain over loss + 1")


def _specialize(
    codes: NDArray[Any], columns: Sequence[Column], target: NDArray[Any], k: int, rows: NDArray[Any] | None, score: Score
) -> Specialized:
    n = len(codes)
    many = records_of(rows, n)
    _check(codes, columns, target, k, many)
    data = np.ascontiguousarray(codes, np.int32)
    state = _everything_hidden(data, many, columns, target)
    group, sizes = np.zeros(n, np.int64), many.sum(keepdims=True)
    waiting = [one for j, column in enumerate(columns) for one in _candidates(j, column, np.zeros(len(state.cells[j]), bool), state)]
    steps: list[tuple[int, float]] = []
    room = np.zeros(64, np.int64)
    while waiting and n:
        smallest = int(sizes.min())
        best, chosen = -1.0, -1
        valid: list[_Candidate] = []
        for one in waiting:
            if len(room) < len(sizes) * one.parts:
                room = np.zeros(2 * len(sizes) * one.parts, np.int64)
            left = _anonymity(data[:, one.column], many, one.child, one.parts, group, sizes, room)
            if left < k:
                continue  # for good: classes only become smaller
            worth = _score(one.gain, smallest - left, score)
            if worth > best:  # of equally good ones the first
                best, chosen = worth, len(valid)
            valid.append(one)
        if chosen < 0:
            break
        one = valid.pop(chosen)
        steps.append((one.column, best))
        group, sizes = _classes_after(data[:, one.column], many, one.child, one.parts, group)
        changed = _publish(one, columns[one.column], state)
        fresh = [] if changed is None else list(_candidates(one.column, columns[one.column], changed, state))
        if columns[one.column] == "disclosed":  # the others of its values are now told from fewer
            still = {_disclosed(other) for other in valid if other.column == one.column}
            valid = [other for other in valid if other.column != one.column]
            fresh = [other for other in fresh if _disclosed(other) in still]
        waiting = valid + fresh
    return Specialized(state.cells, state.levels, group, steps)


def _check(codes: NDArray[Any], columns: Sequence[Column], target: NDArray[Any], k: int, rows: IntArray) -> None:
    if codes.ndim != 2 or codes.shape[1] != len(columns):
        raise ValueError(f"There are {len(columns)} columns described, so codes must be a table of as many.")
    if len(target) != len(codes) or target.dtype.kind not in "iub" or target.min(initial=0) < 0:
        raise ValueError(f"Each of the {len(codes)} combinations needs a class of the target, 0 or above.")
    if k < 1 or (len(codes) and rows.sum() < k):
        raise ValueError(f"There are {rows.sum()} rows: k must be from 1 to as many, not {k}.")
    trees_of([column for column in columns if isinstance(column, CodedHierarchy)])
    for j, column in enumerate(columns):
        most = column.nodes.shape[1] if isinstance(column, CodedHierarchy) else None
        if len(codes) and (codes[:, j].min() < 0 or (most is not None and codes[:, j].max() >= most)):
            raise ValueError(f"Column {j} has codes that its hierarchy does not know.")


def _everything_hidden(codes: Int32Array, rows: IntArray, columns: Sequence[Column], target: NDArray[Any]) -> _State:
    targets, cells, levels = [], [], []
    classes = int(target.max(initial=0)) + 1
    for j, column in enumerate(columns):
        top = len(column.nodes) - 1 if isinstance(column, CodedHierarchy) else int(column == "disclosed")
        size = column.nodes.shape[1] if isinstance(column, CodedHierarchy) else int(codes[:, j].max(initial=-1)) + 1
        targets.append(tally(codes[:, j].astype(np.int64) * classes + target, rows, size * classes).reshape(size, classes))
        cells.append(np.zeros(size, np.int64))
        levels.append(np.full(size, top))
    return _State(codes, rows, targets, cells, levels)


def _candidates(j: int, column: Column, shown: NDArray[np.bool_], state: _State) -> Iterator[_Candidate]:
    """How column j may be specialized further, in those of its cells that no code of `shown` is in."""
    of_cell, records = state.cells[j], state.targets[j].sum(axis=1)
    for cell in np.unique(of_cell[~shown]).tolist():
        inside = np.flatnonzero(of_cell == cell)
        there = inside[records[inside] > 0]
        if np.count_nonzero(state.targets[j][inside].sum(axis=0)) < 2:
            continue  # not beneficial
        parts: list[IntArray] = []
        if isinstance(column, CodedHierarchy):
            level = int(state.levels[j][inside[0]])
            parts = [np.unique(column.nodes[level - 1, inside], return_inverse=True)[1].reshape(-1)] if level else []
        elif column == "interval":
            parts = _best_cut(inside, there, state.targets[j])
        elif state.levels[j][inside[0]]:
            parts = [(inside != code).astype(np.int64) for code in there.tolist()]
        for part in parts:
            child = np.full(len(of_cell), -1)
            child[inside] = part
            yield _Candidate(j, child, int(part.max()) + 1, _gain(part, state.targets[j][inside]))


def _best_cut(inside: IntArray, there: IntArray, targets: IntArray) -> list[IntArray]:
    """An interval in two where that tells most about the target; of equally good places the lowest."""
    if len(there) < 2:
        return []
    below = np.cumsum(targets[there], axis=0)
    after = sum(side.sum(axis=1) * _entropies(side) for side in (below[:-1], below[-1] - below[:-1]))
    at = int(np.argmin(np.round(after / below[-1].sum(), 12)))  # rounded: places that should be equal are
    return [(inside > there[at]).astype(np.int64)]


def _gain(part: IntArray, targets: IntArray) -> float:
    """Bits per record."""
    records = np.zeros((int(part.max()) + 1, targets.shape[1]), np.int64)
    np.add.at(records, part, targets)
    share = records.sum(axis=1) / records.sum()
    return max(0.0, float(_entropy(records.sum(axis=0)) - sum(w * _entropy(one) for w, one in zip(share.tolist(), records))))


def _entropy(records: IntArray) -> float:
    return float(_entropies(records[None])[0])


def _entropies(records: IntArray) -> FloatArray:
    """Bits of each row."""
    share = records / np.maximum(records.sum(axis=1, keepdims=True), 1)
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=1))


def _score(gain: float, loss: int, score: Score) -> float:
    if score == "gain over loss":
        return gain / loss if loss else gain
    return gain / (loss + 1)


def _publish(one: _Candidate, column: Column, state: _State) -> NDArray[np.bool_] | None:
    """Give the parts their cells; the codes whose cells need no further look, or None where there is nothing further."""
    cells, levels, mine = state.cells[one.column], state.levels[one.column], one.child >= 0
    cells[mine] = int(cells.max()) + 1 + one.child[mine]
    if column == "disclosed":
        levels[one.child == 0] = 0
        return np.asarray(one.child != 1) if (one.child == 1).any() else None
    if isinstance(column, CodedHierarchy):
        levels[mine] -= 1
    return ~mine


def _disclosed(one: _Candidate) -> int:
    return int(np.flatnonzero(one.child == 0)[0])


@njit(cache=True)
def _anonymity(column, rows, child, parts, group, sizes, room):
    """Records in the smallest class once these values are specialized. The room is zero before and after."""
    touched = np.zeros(len(sizes), np.bool_)
    for i in range(len(column)):
        part = child[column[i]]
        if part >= 0:
            touched[group[i]] = True
            room[group[i] * parts + part] += rows[i]
    smallest = np.iinfo(np.int64).max
    for g in range(len(sizes)):
        if not touched[g]:
            smallest = min(smallest, sizes[g])
            continue
        for part in range(parts):
            records = room[g * parts + part]
            if records:
                smallest = min(smallest, records)
                room[g * parts + part] = 0
    return smallest


@njit(cache=True)
def _classes_after(column, rows, child, parts, group):
    """Every class parted, numbered by class and part; and the records of each."""
    number = np.full((group.max() + 1) * (parts + 1), -1)
    for i in range(len(column)):
        number[group[i] * (parts + 1) + child[column[i]] + 1] = 0
    made = 0
    for at in range(len(number)):
        if number[at] == 0:
            number[at] = made
            made += 1
    result, sizes = np.empty(len(column), np.int64), np.zeros(made, np.int64)
    for i in range(len(column)):
        result[i] = number[group[i] * (parts + 1) + child[column[i]] + 1]
        sizes[result[i]] += rows[i]
    return result, sizes
