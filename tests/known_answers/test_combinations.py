"""Combinations of values with the number of their records, worked by hand."""

import numpy as np
import pytest

from shoal.kernels.anti_unification import find_patterns
from shoal.kernels.cells import group_values
from shoal.kernels.kactus import anonymize_combinations
from shoal.kernels.masks import Demand, mask_groups
from shoal.kernels.mondrian import mondrian_groups
from shoal.kernels.trees.c45 import grow

ONE = np.array([True])
PLACES = [np.array([0.0, 1.0, 2.0])]
THREE = np.array([[0], [1], [2]], np.int32)


def test_mondrian_counts_records_not_rows() -> None:
    # Values 0, 1, 2 with 1, 1 and 4 records: the cut after 1 leaves two and four, the cut after 0 one and five.
    assert mondrian_groups(THREE, ONE, PLACES, 2, rows=np.array([1, 1, 4])).tolist() == [0, 0, 1]
    assert mondrian_groups(THREE, ONE, PLACES, 3, rows=np.array([1, 1, 4])).tolist() == [0, 0, 0]
    assert mondrian_groups(THREE, ONE, PLACES, 3, rows=np.array([3, 3, 3])).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="There are 6 rows, fewer than k = 7"):
        mondrian_groups(THREE, ONE, PLACES, 7, rows=np.array([1, 1, 4]))


def test_mondrian_weighs_a_numeric_target_by_records() -> None:
    # Targets 0, 5, 10 with 9, 2 and 3 records, k = 3. After 0 the squares fall by 9 x 5 / 14 x 8^2 = 205.7, after 5 by 11 x 3 / 14 x 9.09^2 = 194.8;
    # with 3, 2 and 9 records it is the other way round.
    target = np.array([0.0, 5.0, 10.0])
    assert mondrian_groups(THREE, ONE, PLACES, 3, rule="variance", target=target, rows=np.array([9, 2, 3])).tolist() == [0, 1, 1]
    assert mondrian_groups(THREE, ONE, PLACES, 3, rule="variance", target=target, rows=np.array([3, 2, 9])).tolist() == [0, 0, 1]


def test_mondrian_keeps_sums_of_billions_of_records() -> None:
    rows = np.array([2_000_000_000, 2_000_000_000, 2_000_000_000])
    target = np.array([0.0, 0.0, 1.0])
    assert mondrian_groups(THREE, ONE, PLACES, 2 * 10**9, rule="variance", target=target, rows=rows).tolist() == [0, 1, 2]
    assert mondrian_groups(THREE, ONE, PLACES, 3 * 10**9, rule="variance", target=target, rows=rows).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="write it as several rows"):
        mondrian_groups(THREE, ONE, PLACES, 2, rows=rows * 2)


@pytest.mark.parametrize("rows", [np.array([1, 1]), np.array([1, 0, 1]), np.array([0.5, 1, 1])])
def test_records_are_whole_numbers_for_every_combination(rows: np.ndarray) -> None:
    with pytest.raises(ValueError, match="whole number of records, 1 or more"):
        mondrian_groups(THREE, ONE, PLACES, 1, rows=rows)


def test_a_tree_counts_records() -> None:
    # Value 1: ten of class 0; value 2: nine of class 1 and one of class 0.
    codes, target, rows = np.array([[1], [2], [2]]), np.array([0, 1, 0]), np.array([10, 9, 1])
    tree = grow(codes, np.array([False]), target, 2, rows=rows)
    assert tree.counts.tolist() == [[11, 9], [10, 0], [1, 9]]
    assert grow(codes, np.array([False]), target, 2, least=11, rows=rows).counts.tolist() == [[11, 9]]
    assert grow(codes, np.array([False]), target, 2).counts.tolist() == [[2, 1]]  # one record each: no branch has two


def test_kactus_parts_a_combination_that_lends() -> None:
    # Node 1 has 9 records, 6 of one combination and 3 of another; node 2 has 3 and lacks 2 of k = 5. The two least draws are of the first.
    draws = np.concatenate([[0.9, 0.1, 0.8, 0.2, 0.7, 0.6], [0.5, 0.4, 0.3], [0.0, 0.0, 0.0]])
    parts = anonymize_combinations(np.array([-1, 0, 0]), np.array([1, 1, 2]), np.array([6, 3, 3]), 5, draws)
    assert list(zip(*(part.tolist() for part in parts))) == [(0, 0, 2), (0, 1, 4), (1, 1, 3), (2, 0, 3)]


def test_cells_count_records() -> None:
    values = group_values(np.array([[0], [2], [0]]), np.array([0, 0, 1]), np.array([5, 1, 2]))[0]
    assert (values.start.tolist(), values.code.tolist(), values.rows.tolist()) == ([0, 2, 3], [0, 2, 0], [5, 1, 2])


def test_masks_count_records() -> None:
    # (0,0) has three records; of (0,1) and (1,1), one and two, the second column is what three have in common.
    codes, draws = np.array([[0, 0], [0, 1], [1, 1]]), np.zeros(3)
    assert mask_groups(codes, Demand(3), draws, np.array([3, 1, 2])).tolist() == [0, 1, 1]
    assert mask_groups(codes, Demand(3), draws).tolist() == [0, 0, 0]


def test_what_is_left_joins_where_fewest_records_lose() -> None:
    # The record of value 2 suppresses five cells with the first group, four with the second; two records of it are with the second, too.
    assert mask_groups(THREE, Demand(3), np.zeros(3), np.array([4, 3, 1])).tolist() == [0, 1, 1]
    assert mask_groups(THREE, Demand(3), np.zeros(3), np.array([4, 3, 2])).tolist() == [0, 1, 1]


def test_patterns_count_records() -> None:
    codes, classes, draws, rows = np.array([[0, 0], [0, 1]]), np.zeros(2, np.int64), np.zeros(2), np.array([2, 3])
    both = find_patterns(codes, classes, 3, 1, ["<"], "once", draws, rows)
    assert (both.shown.tolist(), both.support.tolist(), both.satisfied.tolist()) == ([[True, False]], [5], [1, 1])
    one = find_patterns(codes, classes, 3, 2, ["<"], "once", draws, rows)
    assert (one.shown.tolist(), one.row.tolist(), one.support.tolist(), one.satisfied.tolist()) == ([[True, True]], [1], [3], [0, 1])
