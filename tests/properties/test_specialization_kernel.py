"""TDS and TDR beside a plain version that tries every specialization on the whole table, step by step."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.specialization import Specialized, top_down_refinement, top_down_specialization
from tests.coded import made_hierarchy

unhurried = settings(deadline=None, max_examples=100, derandomize=True)


class Case(NamedTuple):
    codes: NDArray[np.int32]
    rows: NDArray[np.int64]
    columns: list[Any]
    target: NDArray[np.int64]
    k: int


def case(n: int, d: int, k: int, most: int, classes: int, seed: int) -> Case:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, most + 1, d)
    columns: list[Any] = [
        made_hierarchy(rng, int(size)) if rng.random() < 0.6 else ("interval", "disclosed")[rng.integers(2)] for size in sizes
    ]
    codes = np.column_stack([np.minimum(rng.integers(0, size, n), rng.integers(0, size, n)) for size in sizes]).astype(np.int32)
    rows = rng.integers(1, 4, n)
    return Case(codes, rows, columns, (codes[:, 0] + rng.integers(0, classes, n)) % classes, min(k, int(rows.sum())))


cases = st.builds(
    case,
    n=st.integers(1, 50),
    d=st.integers(1, 4),
    k=st.integers(1, 12),
    most=st.sampled_from([2, 5, 9]),
    classes=st.integers(1, 3),
    seed=st.integers(0, 2**31),
)


def run(c: Case) -> Specialized:
    return top_down_refinement(c.codes, c.columns, c.target, c.k, c.rows)


@unhurried
@given(cases, st.integers(0, 2**31))
def test_classes_keep_k_and_cells_are_nodes_intervals_or_values(c: Case, seed: int) -> None:
    found = run(c)
    published = [tuple(int(found.cells[j][code]) for j, code in enumerate(one)) for one in c.codes.tolist()]
    size = Counter[tuple[int, ...]]()
    for one, many in zip(published, c.rows.tolist()):
        size[one] += many
    assert min(size.values()) >= c.k
    assert len({(one, g) for one, g in zip(published, found.group.tolist())}) == len(size) == len(set(found.group.tolist()))
    for j, column in enumerate(c.columns):
        for cell in set(found.cells[j].tolist()):
            inside = np.flatnonzero(found.cells[j] == cell)
            if isinstance(column, CodedHierarchy):
                level = int(found.levels[j][inside[0]])
                assert (found.levels[j][inside] == level).all()
                assert np.array_equal(inside, np.flatnonzero(column.nodes[level] == column.nodes[level, inside[0]]))
            elif column == "interval":
                assert np.array_equal(inside, np.arange(inside[0], inside[-1] + 1))
            else:
                assert len(inside) == 1 or (found.levels[j][inside] == 1).all()
        if column == "disclosed":  # what is hidden is one cell
            assert len(set(found.cells[j][found.levels[j] == 1].tolist())) <= 1
    order = np.random.default_rng(seed).permutation(len(c.codes))
    again = run(c._replace(codes=c.codes[order], rows=c.rows[order], target=c.target[order]))
    assert all(np.array_equal(one, other) for one, other in zip(found.cells, again.cells))


def entropy(rows: list[tuple[int, int]]) -> float:
    """Bits, of (class, records)."""
    count = Counter[int]()
    for one, many in rows:
        count[one] += many
    return -sum(n / count.total() * math.log2(n / count.total()) for n in count.values())


def choices(c: Case, cells: list[list[Any]]) -> Iterator[tuple[float, int, list[Any]]]:
    """Every beneficial specialization: its gain, its column, and that column's cells after it. A cell of a hierarchy is (level, node)."""
    for j, column in enumerate(c.columns):
        mine = [(int(code), (int(one), int(many))) for code, one, many in zip(c.codes[:, j], c.target, c.rows)]
        for cell in dict.fromkeys(cells[j]):
            inside = [code for code, one in enumerate(cells[j]) if one == cell]
            there = sorted({code for code, _ in mine if cells[j][code] == cell})
            of_cell = [one for code, one in mine if code in inside]
            if len({one for one, _ in of_cell}) < 2:
                continue
            ways: list[dict[int, Any]] = []
            if isinstance(column, CodedHierarchy):
                level = cell[0] - 1
                ways = [{code: (level, int(column.nodes[level, code])) for code in inside}] if level >= 0 else []
            elif column == "interval":
                ways = [{code: (*cell, code >= cut) for code in inside} for cut in there[1:]]
            elif cell == "hidden":
                ways = [{value: value} for value in there]
            gains = []
            for way in ways:
                after = [way.get(code, one) for code, one in enumerate(cells[j])]
                parts = [[one for code, one in mine if code in inside and after[code] == part] for part in {after[code] for code in there}]
                all_ = sum(many for _, many in of_cell)
                gain = entropy(of_cell) - sum(sum(many for _, many in part) / all_ * entropy(part) for part in parts)
                gains.append((gain, j, after))
            yield from ([max(gains, key=lambda one: round(one[0], 12))] if column == "interval" and gains else gains)


def anonymity(c: Case, cells: list[list[Any]]) -> int:
    size = Counter[tuple[Any, ...]]()
    for one, many in zip(c.codes.tolist(), c.rows.tolist()):
        size[tuple(cells[j][code] for j, code in enumerate(one))] += many
    return min(size.values())


def hidden(c: Case) -> list[list[Any]]:
    cells: list[list[Any]] = []
    for j, column in enumerate(c.columns):
        size = column.nodes.shape[1] if isinstance(column, CodedHierarchy) else int(c.codes[:, j].max()) + 1
        top: Any = (len(column.nodes) - 1, 0) if isinstance(column, CodedHierarchy) else (True,) if column == "interval" else "hidden"
        cells.append([top] * size)
    return cells


@unhurried
@given(cases, st.booleans())
def test_every_step_is_the_best_there_is_and_the_last_leaves_none(c: Case, refinement: bool) -> None:
    """Scores are compared, since equally good steps may come in another order; the plain version follows the kernel's choice of column."""
    if not refinement:
        c = c._replace(columns=[column if column != "disclosed" else "interval" for column in c.columns])
    found = (top_down_refinement if refinement else top_down_specialization)(c.codes, c.columns, c.target, c.k, c.rows)
    cells = hidden(c)
    for at in range(len(found.steps) + 1):
        before, scored = anonymity(c, cells), []
        for gain, j, after in choices(c, cells):
            left = anonymity(c, [*cells[:j], after, *cells[j + 1 :]])
            if left >= c.k:
                loss = before - left
                scored.append((gain / (loss + 1) if refinement else gain / loss if loss else gain, j, after))
        if at == len(found.steps):
            assert not scored
            return
        column, score = found.steps[at]
        best = max(one for one, _, _ in scored)
        assert score == pytest.approx(best, abs=1e-9)
        alike = [after for one, j, after in scored if j == column and one > best - 1e-9]
        assert alike
        if sum(one > best - 1e-9 for one, _, _ in scored) > 1:
            return  # several are as good: which is taken is the kernel's to say
        cells[column] = alike[0]
