"""kACTUS, phase two: given a decision tree and the node each row reached, at which node each row is released (Kisilevich et al. 2010).

The rows released at one node show the same path from the root and nothing else, so each node releases at most one group. From the leaves
up, every node looks at its children. A child that complies is released whole; rows of the others climb to the node and join those that had
stopped there. If what has gathered at the node does not comply, the node borrows rows from the children just released, exactly as many as
it lacks, each lender keeping enough; where they cannot spare that many it borrows nothing, and its rows climb on.

What is left at the root in the end is released with everything suppressed. If it is too little for that, the paper drops it; here it is
rescued by borrowing from the groups with most to spare, or else by dissolving the smallest groups into it. No row is lost.

A group complies if it has k rows and, where sensitive columns are given, at least l distinct values of each with an entropy of at least the
logarithm of `entropy_l`. What is not diverse borrows first the rows that make it more so.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.cells import records_of
from shoal.kernels.diversity import ROUNDING, ROWS, WHOLE, change, clear, columns_of, diverse, more_diverse, of_each

DROPPED = -1


class Parts(NamedTuple):
    """So many records of a combination are released at a node; by combination, then node."""

    combination: IntArray
    node: IntArray
    records: IntArray


def anonymize(
    parent: NDArray[Any],
    node: NDArray[Any],
    k: int,
    draws: FloatArray,
    sensitive: NDArray[Any] | None = None,
    l: int | Sequence[int] = 1,  # noqa: E741 - the letter of l-diversity
    entropy_l: float | Sequence[float] = 1.0,
    rescue: bool = True,
) -> Int32Array:
    """For each row the node at which it is released; without `rescue`, as in the paper, -1 for rows that are dropped.

    `parent` numbers the nodes from the root, 0, so that parents come before children, and `node` is the deepest node each row reached. Rows
    lend in the order of their `draws`, random numbers from 0 up to 1, as long as their group can spare one. `sensitive` holds codes from 0,
    -1 where a row has no value; with several columns l and entropy_l are for all of them, or one for each.
    """
    n, m = len(node), len(parent)
    parent, node = np.asarray(parent, np.int64), np.asarray(node, np.int64)
    if m == 0 or parent[0] >= 0 or (parent[1:] < 0).any() or (parent[1:] >= np.arange(1, m)).any():
        raise ValueError("The first node must be the root, and every other node must come after its parent.")
    if n and (int(node.min()) < 0 or int(node.max()) >= m):
        raise ValueError("Every row needs a node of the tree.")
    if len(draws) != n or (n and not (float(draws.min()) >= 0 and float(draws.max()) < 1)):
        raise ValueError("Every row needs a draw from 0 up to but not including 1.")
    if k < 1 or n < k:
        raise ValueError(f"k must be at least 1 and at most the number of rows, {n:,}; got {k}.")
    codes, values, rule = _asked(sensitive, n, k, l, entropy_l)
    draws = np.ascontiguousarray(draws, np.float64)
    group = np.asarray(_released_at(parent, *_climb(parent, node, draws, codes, values, rule)))
    if rescue and (group == DROPPED).any():
        _rescue(group, draws, codes, np.zeros(values, np.int64), rule)
    return group.astype(np.int32)


def _asked(
    sensitive: NDArray[Any] | None,
    n: int,
    k: int,
    l: int | Sequence[int],  # noqa: E741
    entropy_l: float | Sequence[float],
) -> tuple[IntArray, int, tuple[int, IntArray, FloatArray]]:
    """Sensitive codes, numbered on from column to column, how many there are, and k, l and entropy; the whole table must comply."""
    if np.max(l) <= 1 and np.max(entropy_l) <= 1:
        return np.zeros((n, 0), np.int64), 0, (k, np.zeros(0, np.int64), np.zeros(0))
    if sensitive is None:
        raise ValueError("Diversity needs a sensitive column.")
    codes = columns_of(np.asarray(sensitive, np.int64), n).copy()
    if n and int(codes.min()) < -1:
        raise ValueError("Every row needs a sensitive value, coded from 0, or -1 for none.")
    different, values = of_each(l, codes.shape[1]).astype(np.int64), 0
    entropy = np.log(np.maximum(1.0, of_each(entropy_l, codes.shape[1])))
    for q in range(codes.shape[1]):
        there = codes[:, q] >= 0
        shares = np.bincount(codes[there, q]) / max(1, int(there.sum()))
        shares = shares[shares > 0]
        if len(shares) < different[q] or (entropy[q] > 0 and -(shares * np.log(shares)).sum() < entropy[q] - ROUNDING):
            raise ValueError(
                f"The table as a whole, with {len(shares)} distinct sensitive values, is not diverse enough: no release can be."
            )
        width = int(codes[:, q].max()) + 1
        codes[there, q] += values
        values += width
    return codes, values, (k, different, entropy)


def anonymize_combinations(
    parent: NDArray[Any],
    node: NDArray[Any],
    rows: NDArray[Any],
    k: int,
    draws: FloatArray,
    sensitive: NDArray[Any] | None = None,
    l: int | Sequence[int] = 1,  # noqa: E741 - the letter of l-diversity
    entropy_l: float | Sequence[float] = 1.0,
    rescue: bool = True,
) -> Parts:
    """The same for combinations of values, each with the node it reached, its sensitive values and the `rows` records that share it.

    Records of one combination can be parted, because only so many lend; they are interchangeable, so what counts is how many go where.
    `draws` has one number per record, those of the first combination first. Nodes as in `anonymize`, -1 for dropped.
    """
    many = records_of(rows, len(node))
    combination = np.repeat(np.arange(len(node)), many)
    its = None if sensitive is None else np.asarray(sensitive)[combination]
    at = anonymize(parent, np.asarray(node)[combination], k, draws, its, l, entropy_l, rescue)
    pair, records = np.unique(combination * (len(parent) + 1) + (at + 1), return_counts=True)
    return Parts(pair // (len(parent) + 1), pair % (len(parent) + 1) - 1, records)


@njit(cache=True)
def _climb(parent, node, draws, codes, values, rule):
    """The node where each row ends up, and which nodes comply. Rows at a node that does not comply have climbed on with all it held."""
    n, m = len(node), len(parent)
    at = node.copy()
    # the rows of a node are a chain, so that all of them climb in one step; the children of a node are another
    first, last, following = np.full(m, -1), np.full(m, -1), np.full(n, -1)
    size = np.zeros(m, np.int64)
    for i in range(n):
        _append(first, last, following, at[i], i, i)
        size[at[i]] += 1
    first_child, sibling = np.full(m, -1), np.full(m, -1)
    for v in range(m - 1, 0, -1):
        sibling[v] = first_child[parent[v]]
        first_child[parent[v]] = v
    complies = np.zeros(m, np.bool_)
    scratch = np.zeros(values, np.int64)
    for p in range(m - 1, -1, -1):  # children before parents
        spare = 0
        v = first_child[p]
        while v >= 0:
            if complies[v]:
                spare += size[v] - rule[0]
            elif size[v] > 0:
                _append(first, last, following, p, first[v], last[v])
                size[p] += size[v]
            v = sibling[v]
        if size[p] == 0:
            continue
        complies[p] = size[p] >= rule[0] and (values == 0 or _chain_is_diverse(first[p], following, codes, scratch, rule))
        if complies[p] or spare < max(1, rule[0] - size[p]):
            continue
        rows, lender, sizes = _could_lend(first_child[p], sibling, complies, size, first, following, rule[0])
        borrowed = _borrow(_chain(first[p], following, size[p]), rows, lender, sizes, draws[rows], codes, scratch, rule)
        complies[p] = len(borrowed) > 0
        size[p] += len(borrowed)
        for i in borrowed:
            at[i] = p
            _append(first, last, following, p, i, i)  # breaks the lender's chain, which nobody looks at again
    return at, complies


@njit(cache=True)
def _append(first, last, following, node, head, tail):
    """Hang a chain of rows on that of a node."""
    if first[node] < 0:
        first[node] = head
    else:
        following[last[node]] = head
    last[node] = tail
    following[tail] = -1


@njit(cache=True)
def _chain(i, following, size):
    rows = np.empty(size, np.int64)
    for place in range(size):
        rows[place] = i
        i = following[i]
    return rows


@njit(cache=True)
def _could_lend(child, sibling, complies, size, first, following, k):
    """The rows of a node's complying children that have some to spare, the number of the child for each row, and the children's sizes."""
    lenders, could_lend = 0, 0
    v = child
    while v >= 0:
        if complies[v] and size[v] > k:
            could_lend += size[v]
            lenders += 1
        v = sibling[v]
    rows, lender, sizes = np.empty(could_lend, np.int64), np.empty(could_lend, np.int64), np.empty(lenders, np.int64)
    lenders, found = 0, 0
    v = child
    while v >= 0:
        if complies[v] and size[v] > k:
            sizes[lenders] = size[v]
            i = first[v]
            while i >= 0:
                rows[found], lender[found] = i, lenders
                found += 1
                i = following[i]
            lenders += 1
        v = sibling[v]
    return rows, lender, sizes


@njit(cache=True)
def _released_at(parent, at, complies):
    """From the node where a row ended up to the nearest node above that released what it held."""
    release = np.empty(len(parent), np.int64)
    for v in range(len(parent)):
        if complies[v]:
            release[v] = v
        else:
            release[v] = DROPPED if v == 0 else release[parent[v]]
    group = np.empty(len(at), np.int64)
    for i in range(len(at)):
        group[i] = release[at[i]]
    return group


def _rescue(group: IntArray, draws: FloatArray, codes: IntArray, scratch: IntArray, rule: tuple[int, IntArray, FloatArray]) -> None:
    """Give the rows that are left at the root a group of their own there."""
    left = np.flatnonzero(group == DROPPED)
    placed = np.flatnonzero(group != DROPPED)
    nodes, lender, sizes = np.unique(group[placed], return_inverse=True, return_counts=True)
    rank = np.empty(len(nodes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(nodes))  # most to spare first, the higher in the tree of equals
    borrowed = _borrow(left, placed, lender, sizes, rank[lender] + draws[placed] / 2, codes, scratch, rule)
    group[left] = group[borrowed] = 0
    if len(borrowed) == 0:
        smallest_first = np.argsort(sizes, kind="stable")
        rows = placed[np.argsort(lender, kind="stable")]
        ends = np.cumsum(sizes)
        group[_dissolve(left, rows, ends - sizes, ends, smallest_first, codes, scratch, rule)] = 0


@njit(cache=True)
def _dissolve(left, rows, starts, ends, order, codes, scratch, rule):
    """Rows of whole groups, taken one after the other until together with what is left they comply; the whole table does."""
    state = _state(left, codes, scratch)
    taken = np.empty(len(rows), np.int64)
    found = 0
    for g in order:
        if state[WHOLE, ROWS] >= rule[0] and diverse(state, rule):
            break
        for place in range(starts[g], ends[g]):
            taken[found] = rows[place]
            found += 1
            change(state, scratch, codes[rows[place]], 1)
    return taken[:found]


@njit(cache=True)
def _borrow(short, rows, lender, sizes, priority, codes, scratch, rule):
    """The rows to move so that the short group complies and all lenders still do, lowest priority numbers first; none if that cannot be."""
    k = rule[0]
    ask = len(scratch) > 0
    state = _state(short, codes, scratch)
    lenders = np.zeros((len(sizes), *state.shape))
    cell, count = _cells(rows, lender, codes, len(scratch))  # a cell: one value at one lender
    if ask:
        for x in range(len(rows)):
            change(lenders[lender[x]], count, cell[x], 1)
    for g in range(len(sizes)):
        lenders[g, WHOLE, ROWS] = sizes[g]
    # a heap hands out the next row in order without sorting all of them: few are needed
    heap = np.arange(len(rows))
    waiting = len(heap)
    for x in range(waiting // 2 - 1, -1, -1):
        _sift_down(heap, x, waiting, priority)
    passed_over = np.empty(len(rows) if ask else 0, np.int64)
    passed = again = found = 0
    taken = np.empty(len(rows), np.int64)
    while True:
        complete = diverse(state, rule)
        if complete and state[WHOLE, ROWS] >= k:
            break
        if complete and again < passed:  # rows that did not make the group more diverse will do now
            x = passed_over[again]
            again += 1
        elif waiting:
            x = heap[0]
            waiting -= 1
            heap[0] = heap[waiting]
            _sift_down(heap, 0, waiting, priority)
        else:
            break
        g = lender[x]
        if lenders[g, WHOLE, ROWS] <= k:
            continue
        if ask:
            value = codes[rows[x]]
            before = state.copy()
            change(lenders[g], count, cell[x], -1)
            change(state, scratch, value, 1)
            helps = diverse(state, rule) if complete else more_diverse(state, before, rule)
            if not helps or not diverse(lenders[g], rule):
                change(lenders[g], count, cell[x], 1)
                change(state, scratch, value, -1)
                if not complete:
                    passed_over[passed] = x
                    passed += 1
                continue
        else:
            lenders[g, WHOLE, ROWS] -= 1
            state[WHOLE, ROWS] += 1
        taken[found] = rows[x]
        found += 1
    complies = state[WHOLE, ROWS] >= k and diverse(state, rule)
    for i in short:
        clear(scratch, codes[i])
    for place in range(found):
        clear(scratch, codes[taken[place]])
    return taken[: found if complies else 0]


@njit(cache=True)
def _sift_down(heap, place, size, priority):
    x = heap[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and priority[heap[child + 1]] < priority[heap[child]]:
            child += 1
        if priority[heap[child]] >= priority[x]:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = x


@njit(cache=True)
def _cells(rows, lender, codes, values):
    """A number for each pair of lender and value that occurs, so that memory does not grow with all pairs there could be."""
    columns = codes.shape[1]
    cell, cells = np.full((len(rows), columns), -1), 0
    key = np.empty(len(rows), np.int64)
    for q in range(columns):
        for x in range(len(rows)):
            code = codes[rows[x], q]
            key[x] = lender[x] * values + code if code >= 0 else -1
        order = np.argsort(key)
        for place in range(len(rows)):
            if key[order[place]] >= 0:
                cells += place == 0 or key[order[place]] != key[order[place - 1]]
                cell[order[place], q] = cells - 1
    return cell, np.zeros(cells, np.int64)


@njit(cache=True)
def _chain_is_diverse(i, following, codes, scratch, rule):
    state = np.zeros((codes.shape[1] + 1, 3))
    start = i
    while i >= 0:
        change(state, scratch, codes[i], 1)
        i = following[i]
    i = start
    while i >= 0:
        clear(scratch, codes[i])
        i = following[i]
    return diverse(state, rule)


@njit(cache=True)
def _state(rows, codes, scratch):
    """What is known of a group; its values are counted in the scratch, if diversity is asked for."""
    state = np.zeros((codes.shape[1] + 1, 3))
    for i in rows:
        change(state, scratch, codes[i], 1)
    return state
