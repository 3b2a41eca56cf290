"""The worked example of Kisilevich et al. 2010, section 4.2, and the readings it leaves open, number by number."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.kernels.kactus import anonymize

IntArray = NDArray[np.int64]

# Fig. 1: the numbers are the figure's lines, 0 the root above them. Leaves with their rows; each node's parent.
LEAVES = {2: 271, 3: 713, 4: 158, 5: 3436, 7: 69, 10: 6, 11: 190, 12: 3, 13: 1, 14: 2}
LEAVES |= {15: 39, 16: 8, 17: 16, 18: 23, 20: 42, 21: 4, 22: 0, 23: 16}
PARENT = np.array([-1, 0, 1, 1, 1, 1, 1, 6, 6, 8, 9, 9, 9, 9, 9, 8, 8, 8, 8, 8, 19, 19, 8, 0])


def rows_at(leaves: dict[int, int]) -> IntArray:
    return np.repeat(np.array(list(leaves)), np.array(list(leaves.values())))


def released(node: IntArray, k: int, parent: IntArray = PARENT, seed: int = 1, **words: object) -> dict[int, int]:
    """Rows released at each node."""
    at = anonymize(parent, node, k, np.random.default_rng(seed).random(len(node)), **words)  # type: ignore[arg-type]
    return {int(v): int(rows) for v, rows in zip(*np.unique(at, return_counts=True))}


def test_figures_2_and_3_node_9_borrows_88() -> None:
    """Nodes 10, 12, 13 and 14 have 12 rows together and lack 88; node 11 spares 88 of its 190 and keeps 102."""
    assert released(rows_at(LEAVES), 100)[11] == 190 - 88 == 102
    assert released(rows_at(LEAVES), 100)[9] == 12 + 88 == 100
    node = rows_at(LEAVES)
    at = anonymize(PARENT, node, 100, np.random.default_rng(5).random(len(node)))
    assert set(node[at == 9]) == {10, 11, 12, 13, 14}
    assert (node[at == 9] == 11).sum() == 88
    assert 19 not in released(node, 100)  # none of its children complies, so its 46 rows climb


def test_figure_4_node_8_is_left_with_132() -> None:
    """With nothing at node 7 nobody asks node 8 for rows, and it shows what Fig. 4 says it holds."""
    assert 39 + 8 + 16 + 23 + 46 + 0 == 132
    assert released(rows_at({**LEAVES, 7: 0}), 100)[8] == 132


def test_the_example_worked_to_its_end() -> None:
    """Node 7 lacks 31 and node 8 spares 32; at the root the 16 rows of node 23 are dropped by the paper, here joined by 84 of node 5."""
    lower = {8: 132 - 31, 6: 69 + 31, 9: 100, 11: 102}
    assert released(rows_at(LEAVES), 100, rescue=False) == {-1: 16, 2: 271, 3: 713, 4: 158, 5: 3436, **lower}
    assert released(rows_at(LEAVES), 100) == {0: 100, 2: 271, 3: 713, 4: 158, 5: 3436 - 84, **lower}


STAR = np.array([-1, 0, 0, 0])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param({1: 7, 2: 8, 3: 0}, {1: 7, 2: 8}, id="nothing is left, nothing borrowed"),
        pytest.param({1: 9, 2: 3, 3: 2}, {0: 5, 1: 9}, id="what is left complies: lenders keep their surplus"),
        pytest.param({1: 9, 2: 3, 3: 0}, {0: 5, 1: 7}, id="exactly what is lacking"),
        pytest.param({1: 6, 2: 6, 3: 3}, {0: 5, 1: 5, 2: 5}, id="from several lenders"),
        pytest.param({0: 2, 1: 5, 2: 8}, {0: 5, 1: 5, 2: 5}, id="rows stopped at the node count"),
        pytest.param({1: 5, 2: 6, 3: 2}, {0: 7, 2: 6}, id="rescued by dissolving the smallest group"),
        pytest.param({1: 2, 2: 2, 3: 2}, {0: 6}, id="nobody complies"),
    ],
)
def test_readings(rows: dict[int, int], expected: dict[int, int]) -> None:
    assert released(rows_at(rows), 5, STAR) == expected


def test_records_climb_where_the_surplus_is_too_small() -> None:
    """Nodes 3 and 4 hang below 1: 3 rows lack 2 and node 3 spares 1, so nothing is borrowed there; at the root node 2 spares 2."""
    parent = np.array([-1, 0, 0, 1, 1])
    assert released(rows_at({3: 6, 4: 3, 2: 7}), 5, parent) == {0: 5, 2: 5, 3: 6}
    assert released(rows_at({3: 6, 4: 3, 2: 6}), 5, parent, rescue=False) == {-1: 3, 2: 6, 3: 6}
    assert released(rows_at({3: 6, 4: 3, 2: 6}), 5, parent) == {0: 5, 2: 5, 3: 5}  # the groups of both have one to spare


def test_the_draws_decide_who_lends() -> None:
    node = rows_at({1: 8, 2: 3})
    draws = np.array([0.9, 0.1, 0.8, 0.7, 0.2, 0.6, 0.5, 0.4, 0.0, 0.0, 0.0])
    assert list(np.flatnonzero(anonymize(STAR, node, 5, draws) == 0)) == [1, 4, 8, 9, 10]


def test_distinct_diversity_is_part_of_complying() -> None:
    """Node 1 has one sensitive value only and climbs; it borrows the first row of another value, though it has rows enough."""
    node = rows_at({1: 5, 2: 6})
    sensitive = np.array([0] * 5 + [0, 0, 0, 1, 1, 1])
    draws = np.linspace(0, 0.9, 11)
    at = anonymize(STAR, node, 5, draws, sensitive, l=2)
    assert list(at) == [0] * 5 + [2, 2, 2, 0, 2, 2]
    assert list(anonymize(STAR, node, 5, draws, sensitive, l=1)) == [1] * 5 + [2] * 6


def test_a_lender_stays_diverse() -> None:
    """Node 2 has the value 1 once: it cannot lend that row, so node 1's rows dissolve node 2 into the root."""
    node = rows_at({1: 5, 2: 6})
    sensitive = np.array([0] * 10 + [1])
    assert set(anonymize(STAR, node, 5, np.zeros(11), sensitive, l=2)) == {0}


def test_entropy_diversity() -> None:
    """4 and 1 of two values have the entropy of 1.65 equal ones, 3 and 2 that of 1.96, 7 and 3 that of 1.84."""
    node = rows_at({1: 5, 2: 5, 3: 5})
    sensitive = np.array([0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1])
    draws = np.linspace(0, 0.9, 15)
    assert set(anonymize(STAR, node, 5, draws, sensitive, entropy_l=1.6)) == {1, 2, 3}
    assert set(anonymize(STAR, node, 5, draws, sensitive, entropy_l=1.8)) == {0, 3}
    assert set(anonymize(STAR, node, 5, draws, sensitive, entropy_l=1.9)) == {0}


@pytest.mark.parametrize(
    ("node", "k", "words", "sentence"),
    [
        ([0, 0], 3, {}, "k must be"),
        ([0, 0], 0, {}, "k must be"),
        ([0, 4], 1, {}, "node of the tree"),
        ([0, 0], 1, {"l": 2}, "sensitive column"),
        ([0, 0], 1, {"l": 2, "sensitive": np.array([1, 1])}, "not diverse enough"),
        ([0, 0], 1, {"l": 2, "sensitive": np.array([-2, 1])}, "coded from 0"),
    ],
)
def test_what_cannot_be(node: list[int], k: int, words: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        anonymize(STAR, np.array(node), k, np.zeros(2), **words)  # type: ignore[arg-type]


def test_parents_come_first() -> None:
    with pytest.raises(ValueError, match="after its parent"):
        anonymize(np.array([-1, 2, 0]), np.zeros(3, int), 1, np.zeros(3))
