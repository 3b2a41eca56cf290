"""Small tables cut by hand, and Adult against the loss the spec asks for."""

import csv
from typing import Any

import numpy as np
import pytest

from shoal.kernels.cells import group_ranges, group_values, ncp
from shoal.kernels.mondrian import mondrian_groups
from tests.data import data_path

# Six patients: age 25 25 26 27 27 28, zip code 53711 53712 53711 53710 53712 53711 (LeFevre et al. 2006, Table 1)
AGES, ZIPS = np.array([25.0, 26.0, 27.0, 28.0]), np.array([53710.0, 53711.0, 53712.0])
PATIENTS = np.array([[0, 1], [0, 2], [1, 1], [2, 0], [2, 2], [3, 1]], dtype=np.int32)
ORDERED = np.array([True, True])


def test_six_patients() -> None:
    # Both columns span their whole range, so age, the first, is cut, three against three; of 25-26 (widths 1/3 and 1/2) and 27-28 nothing
    # can be cut at k = 2, since each would leave one side with a single row.
    groups = mondrian_groups(PATIENTS, ORDERED, [AGES, ZIPS], 2)
    assert groups.tolist() == [0, 0, 0, 1, 1, 1]
    lowest, highest = group_ranges(PATIENTS, groups)
    assert lowest.tolist() == [[0, 1], [2, 0]]
    assert highest.tolist() == [[1, 2], [3, 2]]
    loss, per_column = ncp(PATIENTS, groups, ORDERED, [AGES, ZIPS])
    assert per_column == pytest.approx([1 / 3, 3 / 4])
    assert loss == pytest.approx(13 / 24)


def test_singles_and_one_group() -> None:
    assert len(set(mondrian_groups(PATIENTS, ORDERED, [AGES, ZIPS], 1).tolist())) == 6
    for k in (4, 5, 6):
        assert mondrian_groups(PATIENTS, ORDERED, [AGES, ZIPS], k).tolist() == [0] * 6
    with pytest.raises(ValueError, match="fewer than k = 7"):
        mondrian_groups(PATIENTS, ORDERED, [AGES, ZIPS], 7)


def test_the_next_widest_column_is_cut_when_the_widest_cannot_be() -> None:
    codes = np.array([[0, 0], [1, 0], [1, 1], [1, 1]], dtype=np.int32)  # the first column would leave one row alone
    groups = mondrian_groups(codes, ORDERED, [np.array([0.0, 10.0]), np.array([0.0, 1.0])], 2)
    assert groups.tolist() == [0, 0, 1, 1]


def test_widths_follow_positions_not_codes() -> None:
    # Both columns have three codes; after the first cut, the left side spans 1/10 of the first column and 1/2 of the second.
    positions = [np.array([0.0, 1.0, 10.0]), np.array([0.0, 5.0, 10.0])]
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 2], [2, 2], [2, 2], [2, 2]], dtype=np.int32)
    assert mondrian_groups(codes, ORDERED, positions, 2).tolist() == [0, 0, 1, 1, 2, 2, 2, 2]


def test_missing_is_a_value_of_its_own() -> None:
    positions = [np.array([1.0, 2.0, np.nan])]
    codes = np.array([[0], [0], [1], [2], [2], [2]], dtype=np.int32)
    one = np.array([True])
    assert mondrian_groups(codes, one, positions, 3).tolist() == [0, 0, 0, 1, 1, 1]
    assert ncp(codes, np.array([0, 0, 0, 1, 1, 1]), one, positions)[0] == pytest.approx(0.5)  # all missing: nothing is lost
    assert ncp(codes, np.array([0, 0, 1, 1, 1, 1]), one, positions)[0] == pytest.approx(4 / 6)  # 2 beside missing: nothing is said
    assert mondrian_groups(np.zeros((4, 1), np.int32), one, [np.array([np.nan])], 2).tolist() == [0, 0, 0, 0]


def test_nominal_columns_are_cut_in_the_order_given() -> None:
    codes = np.array([[0], [1], [1], [2], [3], [3]], dtype=np.int32)
    nominal = np.array([False])
    assert mondrian_groups(codes, nominal, [np.zeros(4)], 3).tolist() == [0, 0, 0, 1, 1, 1]
    groups = np.array([0, 0, 0, 1, 1, 1])
    assert ncp(codes, groups, nominal, [np.zeros(4)])[0] == pytest.approx(1 / 3)
    values = group_values(codes, groups)[0]
    assert (values.start.tolist(), values.code.tolist(), values.rows.tolist()) == ([0, 2, 4], [0, 1, 2, 3], [1, 2, 1, 2])


def test_gain_by_hand() -> None:
    # The second column tells the class; the first is as wide, comes first and tells nothing.
    codes = np.array([[0, 0], [1, 0], [0, 0], [1, 1], [0, 1], [1, 1]], dtype=np.int32)
    positions = [np.array([0.0, 1.0])] * 2
    classes = np.array([0, 0, 0, 1, 1, 1])
    assert mondrian_groups(codes, ORDERED, positions, 3).tolist() == [0, 1, 0, 1, 0, 1]
    assert mondrian_groups(codes, ORDERED, positions, 3, rule="gain", target=classes, classes=2).tolist() == [0, 0, 0, 1, 1, 1]
    assert mondrian_groups(codes, ORDERED, positions, 3, rule="variance", target=classes * 7.5).tolist() == [0, 0, 0, 1, 1, 1]


def test_gain_parts_categories_by_class_not_by_code() -> None:
    # Categories 0 and 2 are all of class 1, category 1 of class 0: no cut along the codes parts them.
    codes = np.array([[0], [2], [0], [2], [1], [1], [1], [1]], dtype=np.int32)
    classes = np.array([1, 1, 1, 1, 0, 0, 0, 0])
    for target, rule, number in ((classes, "gain", 2), (classes * 3.0, "variance", 0)):
        groups = mondrian_groups(codes, np.array([False]), [np.zeros(3)], 4, rule=rule, target=target, classes=number)
        assert len(set(groups[:4])) == len(set(groups[4:])) == 1
        assert groups[0] != groups[4]


def test_gain_goes_on_by_width_when_the_class_is_settled() -> None:
    codes = np.arange(8, dtype=np.int32)[:, None]
    groups = mondrian_groups(codes, np.array([True]), [np.arange(8.0)], 2, rule="gain", target=np.zeros(8, int), classes=1)
    assert groups.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_gain_ratio_by_hand() -> None:
    # 5 of 12 rows are of class 1. The first column sets 2 rows apart, both of class 1: it gains 12 H(5/12) - 10 H(3/10) = 2.04 nats, over the
    # entropy .451 of sizes 2 and 10: 4.53. The second parts 7 rows with one of class 1 from 5 rows with four: 2.78, over .679: 4.09.
    codes = np.array([[1, 0]] * 7 + [[0, 1]] * 2 + [[1, 1]] * 3, dtype=np.int32)
    target = np.array([1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0])
    positions = [np.array([0.0, 1.0])] * 2
    by_gain = mondrian_groups(codes, ORDERED, positions, 2, rule="gain", target=target, classes=2)
    by_ratio = mondrian_groups(codes, ORDERED, positions, 2, rule="gain", target=target, classes=2, ratio=1)
    assert by_gain.tolist() == [0] * 7 + [1] * 2 + [2] * 3  # numbers run from left to right: here the second column was cut first,
    assert by_ratio.tolist() == [1] * 7 + [0] * 2 + [2] * 3  # here the first


def test_narrowing_by_hand() -> None:
    # The class gains most when the last two rows are set apart; a narrowing that outweighs every gain takes the even cut, which leaves
    # each row a range of 3/7 where that one leaves six of them 5/7.
    codes, one, positions = np.arange(8, dtype=np.int32)[:, None], np.array([True]), [np.arange(8.0)]
    target = np.array([0, 0, 0, 0, 0, 0, 1, 1])
    for narrowing, sizes in ((0.0, [3, 3, 2]), (100.0, [2, 2, 2, 2])):
        groups = mondrian_groups(codes, one, positions, 2, rule="gain", target=target, classes=2, narrowing=narrowing)
        assert np.bincount(groups).tolist() == sizes
    nominal = mondrian_groups(codes, ~one, positions, 2, rule="gain", target=target, classes=2, narrowing=100.0)
    assert np.bincount(nominal).tolist() == [2, 2, 2, 2]


def test_gain_against_rows_that_are_not_grouped() -> None:
    # Against eight rows stand three, at 3, 4 and 12; the last lies outside. At k = 3 a cut after 2 rids 0 1 2 of both and gains
    # 10 H(.2) - 7 H(2/7) = 0.82 nats; a cut after 3, with the one at 4 on the left, rids 8 9 10 11 of both: 10 H(.2) - 6 H(1/3) = 1.19. A cut
    # after 8 leaves both on the left: 10 H(.2) - 7 H(2/7) again. At k = 2 the halves have one cut each.
    codes = np.array([[0], [1], [2], [3], [8], [9], [10], [11]], dtype=np.int32)
    one, positions = np.array([True]), [np.arange(13.0)]
    words: dict[str, Any] = {"rule": "gain", "target": np.zeros(8, int), "classes": 1}
    against = np.array([[3], [4], [12]], dtype=np.int32)
    assert mondrian_groups(codes, one, positions, 3, **words, against=against).tolist() == [0] * 4 + [1] * 4
    assert mondrian_groups(codes, one, positions, 2, **words, against=against).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    # Categories 0 1 2 3; those against have 2 (twice) and 9, which no group has: 2 is set apart, though a cut in code order is more even.
    codes = np.array([[0], [0], [1], [1], [2], [2], [3], [3]], dtype=np.int32)
    groups = mondrian_groups(codes, ~one, [np.zeros(10)], 2, **words, against=np.array([[2], [2], [9]]))
    assert len(set(groups.tolist())) == 4
    groups = mondrian_groups(codes, ~one, [np.zeros(10)], 3, **words, against=np.array([[2], [2], [9]]))
    assert groups[4] == groups[5]
    assert len(set(groups.tolist())) == 2
    with pytest.raises(ValueError, match='need the rule "gain" and 1 columns'):
        mondrian_groups(codes, one, [np.zeros(10)], 2, against=codes)


def test_diversity_moves_and_forbids_cuts() -> None:
    codes = np.arange(8, dtype=np.int32)[:, None]
    one, positions = np.array([True]), [np.arange(8.0)]
    ill = np.array([0, 0, 0, 0, 0, 1, 1, 1])  # the even cut leaves one value on its left; after the sixth row both sides have two
    assert mondrian_groups(codes, one, positions, 2, sensitive=ill, l=2).tolist() == [0, 0, 0, 0, 0, 0, 0, 0]
    ill = np.array([0, 0, 0, 0, 1, 0, 1, 1])
    assert mondrian_groups(codes, one, positions, 2, sensitive=ill, l=2).tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    halves = np.array([0, 1, 1, 0, 0, 1, 1, 0])
    assert mondrian_groups(codes, one, positions, 2, sensitive=halves, entropy_l=2).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert mondrian_groups(codes, one, positions, 2, sensitive=halves, t=0).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    # Rows 0-3 hold 0 0 1 1 of values 0..3 that are each a quarter: half of them exceeds by 1/2; moved over the order, 1/4 + 1/2 + 1/4 over 3.
    rising = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert mondrian_groups(codes, one, positions, 4, sensitive=rising, t=0.5).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert mondrian_groups(codes, one, positions, 4, sensitive=rising, t=0.49).tolist() == [0] * 8
    assert mondrian_groups(codes, one, positions, 4, sensitive=rising, t=0.34, t_ordered=True).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert mondrian_groups(codes, one, positions, 4, sensitive=rising, t=0.33, t_ordered=True).tolist() == [0] * 8
    with pytest.raises(ValueError, match="4 different sensitive values, fewer than l = 5"):
        mondrian_groups(codes, one, positions, 2, sensitive=rising, l=5)
    with pytest.raises(ValueError, match=r"entropy l-diversity 4, less than 4\.5"):
        mondrian_groups(codes, one, positions, 2, sensitive=rising, entropy_l=4.5)


def test_what_cannot_be_grouped_is_said() -> None:
    one, codes = np.array([True]), np.zeros((4, 1), np.int32)
    with pytest.raises(ValueError, match=r"outside 0\.\.0"):
        mondrian_groups(codes + 1, one, [np.zeros(1)], 2)
    with pytest.raises(ValueError, match="must not fall"):
        mondrian_groups(codes, one, [np.array([1.0, 0.0])], 2)
    with pytest.raises(ValueError, match="needs a target"):
        mondrian_groups(codes, one, [np.zeros(1)], 2, rule="gain")
    with pytest.raises(ValueError, match=r"codes 0\.\.1"):
        mondrian_groups(codes, one, [np.zeros(1)], 2, rule="gain", target=np.array([0, 1, 2, 0]), classes=2)
    with pytest.raises(ValueError, match="finite"):
        mondrian_groups(codes, one, [np.zeros(1)], 2, rule="variance", target=np.array([0, np.inf, 2, 0]))
    assert len(mondrian_groups(codes[:0], one, [np.zeros(1)], 2)) == 0


def test_adult_loses_at_most_what_the_best_public_code_loses() -> None:
    with data_path("adult", "adult_30162.csv").open() as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    columns = [name for name in rows[0] if name != "salary-class"]
    codes, positions = np.empty((len(rows), len(columns)), np.int32), []
    for j, name in enumerate(columns):
        values, codes[:, j] = np.unique([row[name] for row in rows], return_inverse=True)
        positions.append(values.astype(float) if name == "age" else np.zeros(len(values)))
    ordered = np.array([name == "age" for name in columns])
    groups = mondrian_groups(codes, ordered, positions, 10)
    assert np.bincount(groups).min() >= 10
    assert ncp(codes, groups, ordered, positions)[0] < 0.059
