"""The weights that link most records, by cutting up the simplex of all weights: exact for weighted mean and OWA where covers do not close.

Weights are points of a simplex, and a record is linked in a convex part of it. In a smaller simplex (a cell) the margin of a wrong link
lies between its values at the corners: where all are negative the record is lost in the whole cell, where all are positive the link is no
threat there. A cell with as many lost records as the target is done. So is one in which sets of records that cannot be linked together
(by the game of `margins`, played within the cell) force as many failures; where few failures are left to spend, every way of spending
them is tried. Any other cell is cut in two along the edge on which most margins change sign, near the middle of those changes.

A pass proves that no weights have fewer failures than the target, or finds some. It keeps a log: the cuts between cells, and in each cell
the mixtures of wrong links that leave nothing to win within it. With the log the proof can be checked by arithmetic alone.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.linkage.margin_simplex import Forms, Owners, best_margin
from shoal.kernels.linkage.parameter_space import Rows

PARTS = 64  # an edge is cut at one of so many places: corners stay short fractions
CELLS = 256  # between two looks at the clock
DEPTH = 512  # cells waiting
PLAY = 60  # undecided records up to which the game is worth playing
TRIES = 3000  # ways of spending the last failures that are tried in one cell
LINKS = 20_000_000  # in a log: a proof beyond that is no use to anybody
NEVER = 1e-12  # margins in a cell are scaled to 1; this is zero

DONE, OPEN, FOUND, FULL = 0, 1, 2, 3


@dataclass
class Log:
    """Cells in the order they were met: how each is cut (two corners, a place; or none) and its mixtures, in flat arrays that grow."""

    split: IntArray = field(default_factory=lambda: np.empty((1024, 3), np.int64))
    cuts: IntArray = field(default_factory=lambda: np.empty(1024, np.int64))  # per cell, where its cuts end
    links: IntArray = field(default_factory=lambda: np.empty(1024, np.int64))  # per cut, where its links end
    row: IntArray = field(default_factory=lambda: np.empty(1024, np.int64))
    share: FloatArray = field(default_factory=lambda: np.empty(1024))
    size: IntArray = field(default_factory=lambda: np.zeros(3, np.int64))  # cells, cuts, links

    def grow(self, cells: int, cuts: int, links: int) -> None:
        """Room for so many more."""
        room = self.size + np.array([cells, cuts, links])
        for names, need in ((("split", "cuts"), room[0]), (("links",), room[1]), (("row", "share"), room[2])):
            for name in names:
                old = getattr(self, name)
                if len(old) < need:
                    new = np.empty((2 * int(need), *old.shape[1:]), old.dtype)
                    new[: len(old)] = old
                    setattr(self, name, new)


class Pages(NamedTuple):
    """A log's arrays as compiled code writes them."""

    split: IntArray
    cuts: IntArray
    links: IntArray
    row: IntArray
    share: FloatArray
    size: IntArray


class Waiting(NamedTuple):
    """The cells that are still to be looked at, the last first."""

    corners: FloatArray
    place: IntArray  # where a cell's rows are in `lists`, how many, how many records are lost
    top: IntArray  # how many cells
    lists: IntArray


class CellGame(NamedTuple):
    """The game of `margins` within one cell: its links with margins scaled to 1, over all weights of its corners but the last."""

    rows: Rows
    owners: Owners
    bounds: Rows
    in_force: IntArray
    forms: Forms
    scale: FloatArray  # by which a link's margins were divided
    here: IntArray  # which link of the table a row is


class Pass:
    """One pass over all cells: is there a point with fewer failures than the target?"""

    def __init__(self, rows: FloatArray, record: IntArray, target: int) -> None:
        """`rows` are margins over all n weights, less the tie, sorted by record; hopeless records are left out of rows and target."""
        n = rows.shape[1]
        self.rows, self.record, self.target = np.ascontiguousarray(rows), record, target
        lists = np.concatenate([np.arange(len(rows)), np.empty(max(1 << 16, 64 * len(rows)), np.int64)])
        self.waiting = Waiting(np.empty((DEPTH, n, n)), np.zeros((DEPTH, 3), np.int64), np.ones(1, np.int64), lists)
        self.waiting.corners[0] = np.eye(n)
        self.waiting.place[0, 1] = len(rows)
        self.log = Log()
        self.weights = np.full(n, 1 / n)

    def walk(self) -> int:
        """Look at some cells: DONE, OPEN, FOUND (in `weights`), or FULL where cells or log do not fit."""
        if self.log.size[2] > LINKS:
            return FULL
        most = len(self.rows) + 64
        self.log.grow(CELLS, CELLS * 64 + TRIES + most, CELLS * 64 * self.rows.shape[1] + TRIES * self.rows.shape[1] + most)
        log = self.log
        try:
            pages = Pages(log.split, log.cuts, log.links, log.row, log.share, log.size)
            return int(_walk(self.rows, self.record, self.target, self.waiting, self.weights, pages))
        except np.linalg.LinAlgError:  # rounding made a game unsolvable: no proof comes of this pass
            return FULL


@njit(cache=True)
def _walk(rows, record, target, waiting, weights, log):
    n = rows.shape[1]
    top, size = waiting.top, log.size
    values = np.empty((rows.shape[0], n))
    here = np.empty(rows.shape[0], np.int64)
    for _ in range(CELLS):
        if top[0] == 0:
            return DONE
        if len(log.cuts) - size[0] < 2 or len(log.links) - size[1] < TRIES + len(rows) or len(log.row) - size[2] < n * TRIES + len(rows):
            return OPEN  # the log must grow first
        top[0] -= 1
        cell = waiting.corners[top[0]].copy()
        first, length, lost = waiting.place[top[0]]
        node = size[0]
        size[0] += 1
        log.split[node] = -1
        more, undecided, known, missed = _sort_out(rows, record, cell, waiting.lists[first : first + length], values, here, log)
        lost += more
        log.cuts[node] = size[1]
        if lost >= target:
            continue
        if lost + missed < target:
            for j in range(n):
                weights[j] = cell[:, j].sum() / n
            return FOUND
        if undecided <= PLAY:
            marked = size[1], size[2]
            state = _play(_cell_game(values[:known], here, record, undecided), target - 1 - lost, cell, weights, log)
            if state == FOUND:
                return FOUND
            log.cuts[node] = size[1]
            if state == DONE:
                continue
            size[1], size[2] = marked  # the cell is cut in two: what was learned here is not needed
            log.cuts[node] = size[1]
        if first + 2 * known > len(waiting.lists) or top[0] + 2 > len(waiting.corners):
            return FULL
        a, b, place = _edge(values[:known])
        log.split[node, 0], log.split[node, 1], log.split[node, 2] = a, b, place
        _halve(waiting, cell, a, b, place, here[:known], first, lost)
    return OPEN


@njit(cache=True)
def _sort_out(rows, record, cell, links, values, here, log):
    """Which records are lost in this cell, and which links threaten the others?

    Returns how many are lost, how many are undecided, how many links threaten them, and how many undecided fail in the middle.
    """
    n = rows.shape[1]
    lost, undecided, known, missed = 0, 0, 0, 0
    at = 0
    while at < len(links):
        i = record[links[at]]
        before, gone, fails = known, False, False
        while at < len(links) and record[links[at]] == i:
            r = links[at]
            at += 1
            if gone:
                continue
            high, low, total = -np.inf, np.inf, 0.0
            for k in range(n):
                v = 0.0
                for j in range(n):
                    v += cell[k, j] * rows[r, j]
                values[known, k] = v
                total += v
                high, low = max(high, v), min(low, v)
            if high <= 0:
                gone = True
                _note(r, 1.0, log)
                _close(log)
            elif low <= 0:
                here[known] = r
                known += 1
                fails |= total <= 0
        if gone:
            lost += 1
            known = before
        elif known > before:
            undecided += 1
            missed += fails
    return lost, undecided, known, missed


@njit(cache=True)
def _halve(waiting, cell, a, b, place, here, first, lost):
    """Cut a cell on the edge from corner a to corner b; both halves wait, with the links that are undecided in it."""
    middle = cell[a] + (cell[b] - cell[a]) * (place / PARTS)
    known, top = len(here), waiting.top
    for half in range(2):
        start = first + half * known
        waiting.lists[start : start + known] = here
        waiting.corners[top[0]] = cell
        waiting.corners[top[0], a if half == 0 else b] = middle
        waiting.place[top[0], 0], waiting.place[top[0], 1], waiting.place[top[0], 2] = start, known, lost
        top[0] += 1


@njit(cache=True)
def _note(r, part, log):
    log.row[log.size[2]], log.share[log.size[2]] = r, part
    log.size[2] += 1


@njit(cache=True)
def _close(log):
    log.links[log.size[1]] = log.size[2]
    log.size[1] += 1


@njit(cache=True)
def _edge(values):
    """The edge on which most margins change sign, and the place where half of them have."""
    n = values.shape[1]
    most, a, b = -1, 0, 1
    for k in range(n):
        for j in range(k + 1, n):
            changes = 0
            for r in range(len(values)):
                changes += (values[r, k] > 0) != (values[r, j] > 0)
            if changes > most:
                most, a, b = changes, k, j
    places = np.empty(most)
    at = 0
    for r in range(len(values)):
        if (values[r, a] > 0) != (values[r, b] > 0):
            places[at] = values[r, a] / (values[r, a] - values[r, b])
            at += 1
    return a, b, min(max(round(np.median(places) * PARTS), 1), PARTS - 1)


@njit(cache=True)
def _cell_game(values, here, record, undecided):
    count, n = values.shape
    scale, offset, value = np.empty(count), np.empty(count), np.empty((count, n - 1))
    mine, start = np.empty(count, np.int64), np.zeros(undecided + 1, np.int64)
    i = -1
    for r in range(count):
        scale[r] = np.abs(values[r]).max()
        offset[r] = values[r, n - 1] / scale[r]
        for k in range(n - 1):
            value[r, k] = values[r, k] / scale[r] - offset[r]
        if r == 0 or record[here[r]] != record[here[r - 1]]:
            i += 1
        mine[r] = i
        start[i + 1] = r + 1
    bound_value, bound_offset = np.zeros((n, n - 1)), np.zeros(n)
    for k in range(n - 1):
        bound_value[k, k] = 1.0
        bound_value[n - 1, k] = -1.0
    bound_offset[n - 1] = 1.0
    dense = np.empty((0, n - 1), np.int64)
    owners = Owners(mine, start, np.ones(count, np.bool_))
    forms = Forms(0, np.empty((0, 0)), np.empty((0, 0)), np.empty(0, np.int64))
    return CellGame(Rows(dense, value, offset), owners, Rows(dense, bound_value, bound_offset), np.array([n]), forms, scale, here)


@njit(cache=True)
def _play(game, spare, cell, weights, log):
    """Within a cell: DONE if more than `spare` undecided records must fail, FOUND if no more need to, OPEN if neither is known."""
    count, n = len(game.scale), len(cell)
    basis = np.append(count + 1 + np.arange(n - 1), count)
    chosen = np.ones(len(game.owners.start) - 1, np.bool_)
    # First, proofs that share no record: each costs one failure.
    marked = log.size[1], log.size[2]
    forced = 0
    while forced <= spare:
        v, _, shares, settled = _margin(game, chosen, basis)
        if not settled:
            return OPEN
        if v > NEVER:
            break
        _mix(game, basis, shares, log)
        for b in range(n):
            if basis[b] < count and shares[b] > 1e-11:
                chosen[game.owners.record[basis[b]]] = False
        forced += 1
    if forced > spare:
        return DONE
    tries = 1
    for _ in range(spare):
        tries = min(tries * n, TRIES + 1)
    if tries > TRIES // n and forced > 0:
        return OPEN
    log.size[1], log.size[2] = marked
    chosen[:] = True
    return _every_way(game, spare, chosen, basis, cell, weights, log)


@njit(cache=True)
def _every_way(game, spare, chosen, basis, cell, weights, log):
    """Every way of spending the failures: give up one record of a proof after the other."""
    count, n = len(game.scale), len(cell)
    picked = np.zeros((max(spare, 0) + 2, n), np.int64)  # level by level, the records of the proof: one of them fails
    width, turn = np.zeros(spare + 2, np.int64), np.zeros(spare + 2, np.int64)
    level = 0
    while True:
        v, theta, shares, settled = _margin(game, chosen, basis)
        if not settled:
            return OPEN
        if v > NEVER:
            for j in range(n):
                last = 1 - theta.sum()
                weights[j] = last * cell[n - 1, j]
                for k in range(n - 1):
                    weights[j] += theta[k] * cell[k, j]
            return FOUND
        _mix(game, basis, shares, log)
        width[level], turn[level] = 0, -1
        for b in range(n):
            if basis[b] < count and shares[b] > 1e-11:
                i = game.owners.record[basis[b]]
                known = False
                for k in range(width[level]):
                    known |= picked[level, k] == i
                if not known:
                    picked[level, width[level]] = i
                    width[level] += 1
        if level == spare:
            width[level] = 0  # nothing left to spend
        while level >= 0:
            if turn[level] >= 0:
                chosen[picked[level, turn[level]]] = True
            turn[level] += 1
            if turn[level] < width[level]:
                break
            level -= 1
        if level < 0:
            return DONE
        chosen[picked[level, turn[level]]] = False
        level += 1


@njit(cache=True)
def _margin(game, chosen, basis):
    v, theta, shares, _, settled = best_margin(game.rows, game.owners, game.bounds, game.in_force, chosen, basis, NEVER, game.forms)
    return v, theta, shares, settled


@njit(cache=True)
def _mix(game, basis, shares, log):
    for b in range(len(basis)):
        if basis[b] < len(game.scale) and shares[b] > 1e-13:
            _note(game.here[basis[b]], shares[b] / game.scale[basis[b]], log)
    _close(log)
