"""The fewest blanks there can be, by integer programming, for tables of few different rows.

x[c, m] records of combination c are released under mask m. What they show of a set of keys may only be shown (z) if k records are there: those
that show the same, or, where a blank may be any value, those that could be the same.
"""

from collections.abc import Callable, Sequence
from itertools import product
from operator import eq
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.kernels.suppression import BLANK, Blanks

MOST_KEYS, MOST_COLUMNS = 30, 6  # combinations and columns for which this is done unasked
MOST_CHOICES = 8192  # combinations times masks
MOST_NODES = 2000  # of the search: a count and not a time, so that the same table is always answered alike


class Optimum(NamedTuple):
    """Blanks, and the least that any could cost as far as was proven."""

    blanks: Blanks
    bound: float

    def proven(self, cost: FloatArray) -> bool:
        """Whether no blanks cost less."""
        return self.blanks.priced(cost) <= self.bound + 1e-6


def small(codes: Int32Array) -> bool:
    """Whether the optimum is looked for unasked."""
    return len(codes) <= MOST_KEYS and codes.shape[1] <= MOST_COLUMNS


def possible(codes: Int32Array) -> bool:
    """Whether the optimum can be looked for at all."""
    return bool(codes.shape[1] < 20 and len(codes) * 2 ** codes.shape[1] <= MOST_CHOICES)


def fewest_classes(codes: Int32Array, rows: IntArray, k: int, sets: Sequence[IntArray], cost: FloatArray, known: Blanks) -> Optimum:
    """Blanks of least cost under which every class of every set has k records; `known` ones are where the search begins."""
    return _fewest(codes, rows, k, sets, cost, known, eq)


def fewest_wildcard(codes: Int32Array, rows: IntArray, k: int, sets: Sequence[IntArray], cost: FloatArray, known: Blanks) -> Optimum:
    """Blanks of least cost under which every record matches k over every set, a blank being any value."""
    return _fewest(codes, rows, k, sets, cost, known, _could_be)


def _could_be(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(a == b or a < 0 or b < 0 for a, b in zip(one, other))


def _fewest(
    codes: Int32Array,
    rows: IntArray,
    k: int,
    sets: Sequence[IntArray],
    cost: FloatArray,
    known: Blanks,
    agree: Callable[[tuple[int, ...], tuple[int, ...]], bool],
) -> Optimum:
    n, d = codes.shape
    masks = np.array(list(product((False, True), repeat=d)), np.bool_)
    c, m = (axis.reshape(-1) for axis in np.indices((n, len(masks))))
    shown = np.where(masks[m], BLANK, codes[c])
    program = _Program([float((masks[one] * cost).sum()) for one in m])
    of_row = np.arange(len(c)).reshape(n, len(masks))
    for one in range(n):
        program.hold(of_row[one], np.ones(len(masks)), float(rows[one]), float(rows[one]))
    for inside in sets:
        patterns, number = np.unique(shown[:, inside], axis=0, return_inverse=True)
        number, texts = number.reshape(-1), [tuple(one) for one in patterns.tolist()]
        agreeing = np.array([[agree(a, b) for b in texts] for a in texts], np.bool_)
        first = program.switches(len(texts))
        for x in range(len(c)):  # what is not allowed is shown by nobody
            program.hold([x, first + number[x]], [1.0, -float(rows[c[x]])], -highspy.kHighsInf, 0.0)
        for s in range(len(texts)):
            members = np.flatnonzero(agreeing[s][number])
            program.hold([*members, first + s], [*np.ones(len(members)), -float(k)], 0.0, highspy.kHighsInf)
    start = np.zeros((n, len(masks)))
    np.add.at(start, (known.combination, known.blank @ (1 << np.arange(d)[::-1])), known.rows)
    found, bound = program.solved(start.reshape(-1))
    taken = np.rint(found[: len(c)]).astype(np.int64)
    some = np.flatnonzero(taken)
    made = Blanks(c[some], taken[some], masks[m[some]])
    whole = np.array_equal(np.bincount(made.combination, made.rows, minlength=n).astype(np.int64), rows)
    return Optimum(made if whole and made.priced(cost) < known.priced(cost) - 1e-9 else known, bound)


class _Program:
    """Whole numbers of records and switches, the cheapest that hold."""

    def __init__(self, cost: Sequence[float]) -> None:
        self.cost, self.most = list(cost), [highspy.kHighsInf] * len(cost)
        self.records = len(cost)
        self.rows: list[tuple[NDArray[Any], NDArray[Any], float, float]] = []

    def switches(self, many: int) -> int:
        """So many more variables that are 0 or 1, and the number of the first."""
        first = len(self.cost)
        self.cost += [0.0] * many
        self.most += [1.0] * many
        return first

    def hold(self, columns: Sequence[int] | IntArray, values: Sequence[float] | FloatArray, low: float, high: float) -> None:
        """A sum between two bounds."""
        self.rows.append((np.asarray(columns, np.int32), np.asarray(values, np.float64), low, high))

    def solved(self, start: FloatArray) -> tuple[FloatArray, float]:
        """The cheapest found, and what it costs at least. `start` says how many records are released how in a solution that is known."""
        highs, many = highspy.Highs(), len(self.cost)
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("mip_rel_gap", 0.0),
            ("mip_max_nodes", MOST_NODES),
            ("random_seed", 1),
        ):
            highs.setOptionValue(option, value)
        highs.addVars(many, np.zeros(many), np.array(self.most))
        highs.changeColsCost(many, np.arange(many, dtype=np.int32), np.array(self.cost))
        kinds = np.full(many, int(highspy.HighsVarType.kInteger), np.uint8)
        highs.changeColsIntegrality(many, np.arange(many, dtype=np.int32), kinds)
        for columns, values, low, high in self.rows:
            highs.addRow(low, high, len(columns), columns, values)
        begin = highspy.HighsSolution()
        begin.col_value = [*start.tolist(), *self._switched(start)]
        highs.setSolution(begin)
        highs.run()
        return np.array(highs.getSolution().col_value[:many]), float(highs.getInfo().mip_dual_bound)

    def _switched(self, start: FloatArray) -> list[float]:
        """The switches that a solution needs: on wherever records are shown."""
        on = np.zeros(len(self.cost) - self.records)
        for columns, _, _, high in self.rows:
            if high == 0.0 and len(columns) == 2 and start[columns[0]] > 0:
                on[columns[1] - self.records] = 1.0
        return on.tolist()
