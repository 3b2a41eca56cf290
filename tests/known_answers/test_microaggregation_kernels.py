"""Groups worked by hand, and the information loss published for the reference files."""

import numpy as np
import pytest
from numpy.typing import NDArray

from shoal.kernels.blocks import block_of_rows, mdav_large_groups
from shoal.kernels.mdav import mdav_groups, mdav_groups_mixed, mdav_groups_naive
from shoal.kernels.refine import swap_refinement
from shoal.kernels.univariate import fixed_univariate_groups, optimal_univariate_groups
from shoal.kernels.v_mdav import v_mdav_groups
from tests.data import data_path

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def standardized(table: FloatArray) -> FloatArray:
    result: FloatArray = (table - table.mean(axis=0)) / table.std(axis=0, ddof=1)
    return result


def sse(points: FloatArray, groups: IntArray) -> float:
    return float(sum(((points[groups == g] - points[groups == g].mean(axis=0)) ** 2).sum() for g in np.unique(groups)))


def loss(points: FloatArray, groups: IntArray) -> float:
    """100 SSE / SST."""
    return 100 * sse(points, groups) / float(((points - points.mean(axis=0)) ** 2).sum())


def casc(name: str) -> FloatArray:
    return standardized(np.loadtxt(data_path("casc", f"{name}.csv"), delimiter=",", skiprows=1))


def test_thesis_table_2_2() -> None:
    table = np.array([[23, 25000], [18, 10000], [58, 12000], [46, 30000], [18, 10000], [23, 14000]], dtype=float)
    groups = mdav_groups(standardized(table), 2)
    averages = np.array([table[groups == g].mean(axis=0) for g in groups])
    expected = [[34.5, 27500], [18, 10000], [40.5, 13000], [34.5, 27500], [18, 10000], [40.5, 13000]]
    assert averages.tolist() == expected


def test_mdav_on_a_line() -> None:
    # The mean of 0 1 2 3 4 9 14 is 33/7: 14 is farthest and takes 9; 0 is farthest from 14 and takes 1. Of 2 3 4, fewer than 2k, one group.
    assert mdav_groups(np.array([[0.0], [1], [2], [3], [4], [9], [14]]), 2).tolist() == [1, 1, 2, 2, 2, 0, 0]
    # 2k rows or more left: 0 and 10 are equally far from the mean 5, so the lower row leads.
    assert mdav_groups(np.array([[10.0], [0], [1], [9]]), 2).tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
def test_fewer_than_2k_rows_are_one_group(rows: int) -> None:
    points = np.arange(float(rows))[:, None]
    for groups in (mdav_groups(points, 2), mdav_groups_naive(points, 2), v_mdav_groups(points, 2, 0.2), mdav_large_groups(points, 2)):
        assert groups.tolist() == [0] * rows


def test_progress_is_told_and_ends_at_the_last_row() -> None:
    told: list[tuple[int, int]] = []
    points = np.random.default_rng(0).normal(size=(4000, 3))
    mdav_groups(points, 3, progress=lambda done, n: told.append((done, n)))
    assert told == sorted(told)
    assert len(told) > 10
    assert told[-1] == (4000, 4000)


@pytest.mark.parametrize("k", [0, -1])
def test_a_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="k must be 1 or more"):
        mdav_groups(np.zeros((4, 1)), k)


def test_missing_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        mdav_groups(np.array([[1.0], [np.nan], [2.0]]), 2)


@pytest.mark.parametrize(
    ("name", "published"), [("census", [5.6922, 7.4947, 9.0884, 14.1559]), ("tarragona", [16.9326, 19.5460, 22.4619, 33.1929])]
)
def test_published_information_loss(name: str, published: list[float]) -> None:
    points = casc(name)
    assert [round(loss(points, mdav_groups(points, k)), 4) for k in (3, 4, 5, 10)] == published


def test_v_mdav_on_census() -> None:
    points = casc("census")
    assert round(loss(points, v_mdav_groups(points, 5, 0.2)), 2) == 9.01


def test_v_mdav_grows_a_group_over_a_dense_spot() -> None:
    # 0 is farthest from the mean, 12.7, and takes 1; 2 is 1 away from the group and 18 from any other row, so it joins. Then 23 takes 22,
    # and 21 is no closer to them than to 20.
    points = np.array([[0.0], [1], [2], [20], [21], [22], [23]])
    assert v_mdav_groups(points, 2, 1.0).tolist() == [0, 0, 0, 2, 2, 1, 1]
    # Without growth 2 must lead a group with 20, and 21 is left over: it joins the group with the nearest average.
    assert v_mdav_groups(points, 2, 0.0).tolist() == [0, 0, 1, 1, 2, 2, 2]
    # With a neighbour at 2.5 it stays out of the first group at gamma 1, and joins it at gamma 3.
    points = np.array([[0.0], [1], [2], [2.5], [21], [22]])
    assert v_mdav_groups(points, 2, 1.0).tolist() == [1, 1, 2, 2, 0, 0]
    assert v_mdav_groups(points, 2, 3.0)[:4].tolist() == [1, 1, 1, 1]


def test_mixed_columns_by_hand() -> None:
    # Average: 0 and the plurality, code 7. Rows 4 and 5 are farthest, 1 + 1; row 4 takes row 5, at 0, before row 3, at .0625 + 1. Row 6 is
    # farthest from row 4 and takes row 7. Of the last four, row 3 is farthest from their average, 0, and takes the lowest of three ties.
    numeric = np.array([[-0.25], [-0.25], [-0.25], [0.75], [1.0], [1.0], [-1.0], [-1.0]])
    nominal = np.array([[7], [7], [7], [7], [9], [9], [7], [7]])
    assert mdav_groups_mixed(numeric, nominal, 2).tolist() == [2, 3, 3, 2, 0, 0, 1, 1]


def test_mixed_with_nominal_columns_only() -> None:
    # Codes 5 and 3 are equally frequent: the average takes 3, the first row with a 5 is farthest, and leads the fives.
    assert mdav_groups_mixed(np.empty((4, 0)), np.array([[3], [5], [3], [5]]), 2).tolist() == [1, 0, 1, 0]


def test_refinement_undoes_a_wrong_exchange_and_a_wrong_move() -> None:
    points = np.array([[0.0], [1], [2], [10], [11], [12]])
    for wrong, k in (([0, 0, 1, 0, 1, 1], 3), ([0, 0, 0, 0, 1, 1], 2)):
        groups = swap_refinement(points, np.array(wrong), k)
        assert groups.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


def test_refinement_finds_a_round_that_no_exchange_begins() -> None:
    # Three pairs. Every exchange of two rows leaves the SSE, 37, as it is or raises it; (4, 0) to the third pair, (9, 2) from there to the
    # second and (5, 6) from there to the first gives 5 + 8 + 0.
    points = np.array([[2.0, 5], [4, 0], [5, 6], [9, 6], [9, 2], [4, 0]])
    pairs = np.array([0, 0, 1, 1, 2, 2])
    assert swap_refinement(points, pairs, 2, reach=2).tolist() == pairs.tolist()
    assert swap_refinement(points, pairs, 2, reach=3).tolist() == [0, 2, 0, 1, 1, 2]
    assert (sse(points, pairs), sse(points, np.array([0, 2, 0, 1, 1, 2]))) == (37, 13)


def test_refinement_splits_what_can_be_two_groups() -> None:
    points = np.array([[0.0], [1], [10], [11]])
    assert swap_refinement(points, np.zeros(4, np.int64), 2).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


@pytest.mark.parametrize("name", ["census", "tarragona"])
def test_refinement_lowers_published_loss(name: str) -> None:
    points = casc(name)
    for k in (3, 5, 10):
        groups = mdav_groups(points, k)
        refined = swap_refinement(points, groups, k)
        assert np.bincount(refined).min() >= k
        assert sse(points, refined) < 0.95 * sse(points, groups)


def test_blocks_are_halves_of_the_widest_column() -> None:
    points = np.array([[0.0, 1], [8, 0], [1, 0], [9, 1], [2, 1]])
    assert block_of_rows(points, 3).tolist() == [0, 1, 0, 1, 1]
    assert block_of_rows(points, 5).tolist() == [0] * 5


def test_runs_of_k_with_the_remainder_at_the_end() -> None:
    assert fixed_univariate_groups(np.array([5.0, 1, 5, 3, 2, 9, 5]), 3).tolist() == [1, 0, 1, 0, 0, 1, 1]
    assert fixed_univariate_groups(np.array([2.0, 1]), 3).tolist() == [0, 0]


def test_optimal_runs_by_hand() -> None:
    # Two tight threes beat the fixed 2 + 2 + 2.
    assert optimal_univariate_groups(np.array([1.0, 11, 2, 12, 3, 13]), 2).tolist() == [0, 1, 0, 1, 0, 1]
    # Far from zero a sum of squares by prefix sums would lose these differences.
    assert optimal_univariate_groups(1e9 + np.array([0.0, 1e-3, 2e-3, 1.0, 1 + 1e-3]), 2).tolist() == [0, 0, 0, 1, 1]


def test_of_equally_good_runs_the_last_is_the_longer() -> None:
    # 2 + 3 and 3 + 2 both cost 1/2 + 2; whole numbers, so that the tie is exact.
    assert optimal_univariate_groups(np.array([0.0, 1, 2, 3, 4]), 2).tolist() == [0, 0, 1, 1, 1]
