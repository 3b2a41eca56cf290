"""Seven rows recoded by hand, boxes cut by hand, and Adult against the spec's losses and bounds."""

from typing import Any

import numpy as np
import pytest

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.hierarchy_cuts import hierarchy_groups
from shoal.kernels.local_recoding import local_recoding
from shoal.kernels.masks import Demand
from shoal.kernels.recoding_bound import least_loss
from tests.coded import CodedTable, adult_coded

# Four values in two pairs; two values.
PAIRS = CodedHierarchy(np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32), np.repeat([[0.0], [1 / 3], [1.0]], 4, axis=1))
TWO = CodedHierarchy(np.array([[0, 1], [0, 0]], np.int32), np.array([[0.0, 0.0], [1.0, 1.0]]))
CODES = np.array([[0, 0], [1, 0], [1, 1], [2, 1], [3, 1], [3, 0]], np.int32)
ROWS = np.array([2, 1, 1, 1, 1, 1])


def test_seven_rows() -> None:
    # Ways by the sum of squares of what columns add: (1/6, 0) before (0, 1/2) and (1, 0), which tie. As it is, only the first has two rows; in
    # pairs, 2 and 3 beside 1; with the second column hidden, the two rows of 1. Row (3, 0) is left. It joins (0, 0), which then reads (*, 0):
    # 1/2 more for two rows and 1/2 for itself, against 1 and 2/3 at (23, 1), and 1 and 1 at (1, *).
    found = local_recoding(CODES, [PAIRS, TWO], Demand(2), ROWS)
    assert found.levels.tolist() == [[0, 1], [1, 0], [2, 0]]
    assert found.group.tolist() == [2, 0, 0, 1, 1, 2]
    assert found.loss == pytest.approx((3 / 2 + 2 / 6 + 2 / 2) / 7)
    assert found[3:] == (6, 6, 0, 1)
    hidden = local_recoding(CODES, [PAIRS, TWO], Demand(2), ROWS, leftovers="suppress")
    assert hidden.group.tolist() == [0, 1, 1, 2, 2, -1]
    assert hidden.loss == pytest.approx((0 + 2 / 6 + 2 / 2 + 1) / 7)


def test_the_bound_of_seven_rows() -> None:
    # (1, 0) is one of three in (01, 0), at 1/6; (2, 1) and (3, 1) in (23, 1), at 1/6; (1, 1) and (3, 0) lose one column, 1/2.
    assert least_loss(CODES, [PAIRS, TWO], 2, ROWS) == pytest.approx((0 + 1 / 6 + 1 / 2 + 1 / 6 + 1 / 6 + 1 / 2) / 7)
    # column by column: in the first every row is one of two but (2, 1), at 1/3 of its half; in the second all are
    assert least_loss(CODES, [PAIRS, TWO], 2, ROWS, most_work=0) == pytest.approx(1 / 6 / 7)


def test_weights_say_which_column_gives_way() -> None:
    codes, two = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.int32), [TWO, TWO]
    assert local_recoding(codes, two, Demand(2), weights=[1, 3]).levels.tolist() == [[1, 0], [1, 0]]
    assert local_recoding(codes, two, Demand(2), weights=[3, 1]).levels.tolist() == [[0, 1], [0, 1]]
    assert local_recoding(codes, two, Demand(2), weights=[3, 1]).loss == pytest.approx(1 / 4)


def test_demands_hold_classes_back() -> None:
    # Both pairs have two rows, but the rows of 2 and 3 have one illness between them; so have the persons.
    codes = np.array([[0], [1], [2], [3]], np.int32)
    secret = np.array([[0], [1], [1], [1]], np.int32)
    for demand in (Demand(2, secret, 2), Demand(2, secret, 1, 1.5), Demand(2, secret, 1, 1.0, 0.2), Demand(2, secret, 1, 1.0, 0.2, True)):
        assert local_recoding(codes, [PAIRS], demand).levels.tolist() == [[2]]
    assert local_recoding(codes, [PAIRS], Demand(2, secret, 1, 1.0, 0.25)).levels.tolist() == [[1], [1]]
    nobody = np.array([[0], [1], [-1], [1]], np.int32)  # a cell that counts for nothing is no second value
    assert local_recoding(codes, [PAIRS], Demand(2, nobody, 2)).levels.tolist() == [[2]]


def test_a_level_that_changes_nothing_makes_no_second_class() -> None:
    # Value 2 alone is its node's only value, so level 1 says what level 0 says; a class is written once, at the lowest.
    tree = CodedHierarchy(np.array([[0, 1, 2], [0, 0, 1], [0, 0, 0]], np.int32), np.array([[0, 0, 0], [0.5, 0.5, 0], [1, 1, 1]]))
    found = local_recoding(np.array([[0], [1], [2], [2]], np.int32), [tree], Demand(2))
    assert found.levels.tolist() == [[0], [1]]
    assert found.group.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    ("codes", "trees", "demand", "more", "sentence"),
    [
        (CODES, [PAIRS], Demand(2), {}, "as many columns"),
        (CODES[:, ::-1], [PAIRS, TWO], Demand(2), {}, "does not know"),
        (CODES, [PAIRS, TWO], Demand(7), {}, "ask for less"),
        (CODES, [PAIRS, TWO], Demand(2), {"weights": [0, 0]}, "not all 0"),
        (CODES, [PAIRS, CodedHierarchy(TWO.nodes[:1], TWO.loss[:1])], Demand(2), {}, "one node at its last level"),
        (CODES, [CodedHierarchy(PAIRS.nodes[[1, 0, 2]], PAIRS.loss), TWO], Demand(2), {}, "not a tree"),
        (CODES, [CodedHierarchy(PAIRS.nodes, PAIRS.loss[::-1]), TWO], Demand(2), {}, "falls"),
    ],
)
def test_what_cannot_be_recoded_is_said(codes: Any, trees: Any, demand: Demand, more: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        local_recoding(codes, trees, demand, **more)


def test_no_rows() -> None:
    found = local_recoding(np.empty((0, 2), np.int32), [PAIRS, TWO], Demand(2))
    assert (found.group.tolist(), found.loss) == ([], 0.0)


def test_boxes_by_hand() -> None:
    # Six rows of 0 0 1 2 2 3 at k = 2: the root parts into 01 and 23, three rows each; 01 into 0, and 1 alone, which "all" forbids. "apart"
    # gives 0 back to it, since 1 cannot stay by itself.
    codes = np.array([[0], [0], [1], [2], [2], [3]], np.int32)
    for children in ("all", "apart"):
        assert hierarchy_groups(codes, [PAIRS], Demand(2), children=children).group.tolist() == [0, 0, 0, 1, 1, 1]
    # With two rows of 3, 2 and 3 part. A third value of its own keeps "all" from parting the root; "apart" sets it beside what stays.
    wide = CodedHierarchy(np.array([[0, 1, 2], [0, 0, 0]], np.int32), np.array([[0.0] * 3, [1.0] * 3]))
    codes = np.array([[0], [0], [0], [1], [1], [2]], np.int32)
    assert hierarchy_groups(codes, [wide], Demand(2), children="all").levels.tolist() == [[1]]
    found = hierarchy_groups(codes, [wide], Demand(2), children="apart")
    assert found.levels.tolist() == [[0], [1]]
    assert found.group.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.loss == pytest.approx(1 / 2)


def test_boxes_follow_a_target() -> None:
    # Both columns are as wide; the second tells the class. By width the first goes first, and both parts then stay as they are.
    codes = np.array([[0, 0], [0, 0], [1, 0], [1, 1], [0, 1], [1, 1]], np.int32)
    target = np.array([0, 0, 0, 1, 1, 1])
    assert hierarchy_groups(codes, [TWO, TWO], Demand(3)).group.tolist() == [0, 0, 1, 1, 0, 1]
    for words in ({"rule": "gain", "target": target, "classes": 2}, {"rule": "variance", "target": target * 2.5}):
        assert hierarchy_groups(codes, [TWO, TWO], Demand(3), **words).group.tolist() == [0, 0, 0, 1, 1, 1]  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="needs a target"):
        hierarchy_groups(codes, [TWO, TWO], Demand(3), rule="gain")
    with pytest.raises(ValueError, match=r"0\.\.0"):
        hierarchy_groups(codes, [TWO, TWO], Demand(3), rule="gain", target=target, classes=1)
    with pytest.raises(ValueError, match="finite"):
        hierarchy_groups(codes, [TWO, TWO], Demand(3), rule="variance", target=np.full(6, np.nan))


@pytest.fixture(scope="module")
def adult() -> CodedTable:
    return adult_coded()


@pytest.mark.parametrize(
    ("k", "loss", "bound", "boxes"), [(5, 0.050, 0.0289, 0.070), (10, 0.074, 0.0416, 0.1086), (100, 0.190, 0.1086, 0.40)]
)
def test_adult(adult: CodedTable, k: int, loss: float, bound: float, boxes: float) -> None:
    found = local_recoding(adult.codes, adult.hierarchies, Demand(k), adult.rows)
    assert found.loss <= loss
    assert np.bincount(found.group, adult.rows).min() >= k
    assert least_loss(adult.codes, adult.hierarchies, k, adult.rows) == pytest.approx(bound, abs=5e-5)
    assert hierarchy_groups(adult.codes, adult.hierarchies, Demand(k), adult.rows).loss <= boxes
