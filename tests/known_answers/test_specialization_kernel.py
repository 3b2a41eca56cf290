"""Top-down specialization and refinement: eight rows by hand, and Adult against the spec."""

from typing import Any

import numpy as np
import pytest

from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.specialization import top_down_refinement, top_down_specialization
from tests.coded import CodedTable, adult_coded

TWO = CodedHierarchy(np.array([[0, 1], [0, 0]], np.int32), np.array([[0.0, 0.0], [1.0, 1.0]]))
FOUR = CodedHierarchy(np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]], np.int32), np.repeat([[0.0], [1 / 3], [1.0]], 4, axis=1))

# The first column parts eight rows into five and three, the second into four and four; the class is the second column but for one row.
EIGHT = np.array([[0, 0], [0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [1, 1]], np.int32)
CLASS = np.array([0, 0, 0, 1, 1, 1, 1, 1])


def test_gain_for_each_record_of_anonymity() -> None:
    # The whole has entropy H(3/8) = .9544. Parted by the first column, 5 rows of H(3/5) = .9710 and 3 pure ones: gain .3476, at a loss of 8 - 3 = 5.
    # By the second, 4 of H(1/4) = .8113 and 4 pure: gain .5488 at a loss of 4. After that, (0, 1) would be one row: at k = 2 that is the end.
    for method, cost in ((top_down_specialization, 4), (top_down_refinement, 5)):
        found = method(EIGHT, [TWO, TWO], CLASS, 2)
        assert [one.tolist() for one in found.levels] == [[1, 1], [0, 0]]
        assert [column for column, _ in found.steps] == [1]
        assert found.steps[0][1] == pytest.approx(0.5488 / cost, abs=1e-4)
        assert found.group.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
        assert [one.tolist() for one in method(EIGHT, [TWO, TWO], CLASS, 1).levels] == [[0, 0], [0, 0]]


def test_a_node_of_one_class_stays() -> None:
    # Values 2 and 3 are of one class: to part them would help nobody. Of 0 and 1 the class is known when they are parted.
    codes = np.repeat(np.arange(4, dtype=np.int32), 2)[:, None]
    found = top_down_specialization(codes, [FOUR], np.array([0, 0, 1, 1, 1, 1, 1, 1]), 2)
    assert found.levels[0].tolist() == [0, 0, 1, 1]
    assert found.cells[0][2] == found.cells[0][3]
    assert len(set(found.cells[0].tolist())) == 3
    assert [column for column, _ in found.steps] == [0, 0]


def test_rows_count_as_often_as_they_occur() -> None:
    codes, at = np.unique(np.column_stack([EIGHT, CLASS]), axis=0, return_inverse=True)
    rows = np.bincount(at.reshape(-1))
    found = top_down_specialization(codes[:, :2], [TWO, TWO], codes[:, 2], 2, rows)
    assert [one.tolist() for one in found.levels] == [[1, 1], [0, 0]]


def test_intervals_are_cut_where_the_class_changes() -> None:
    # 0 1 2 | 3 4 5 6 7 gains all there is; the right side is pure, the left too.
    codes = np.arange(8, dtype=np.int32)[:, None]
    found = top_down_specialization(codes, ["interval"], np.array([0, 0, 0, 1, 1, 1, 1, 1]), 2)
    assert found.group.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert found.steps == [(0, pytest.approx(0.9544 / 5, abs=1e-4))]
    # where the best cut is not valid there is no other
    assert top_down_specialization(codes, ["interval"], np.array([0, 1, 1, 1, 1, 1, 1, 1]), 2).steps == []


def test_values_are_disclosed_one_by_one() -> None:
    # Three values of 3, 3 and 2 rows. To disclose 0 tells all; what stays is of one class.
    codes = np.array([[0], [0], [0], [1], [1], [1], [2], [2]], np.int32)
    found = top_down_refinement(codes, ["disclosed"], np.array([0, 0, 0, 1, 1, 1, 1, 1]), 2)
    assert found.levels[0].tolist() == [0, 1, 1]
    assert found.cells[0][1] == found.cells[0][2]
    assert found.steps == [(0, pytest.approx(0.9544 / 6, abs=1e-4))]
    # Of mixed classes, 0 is disclosed first, then 1, and 2 is then alone. At k = 3, 2 may not be disclosed nor be left by itself.
    mixed = np.array([0, 0, 0, 0, 1, 1, 0, 1])
    assert top_down_refinement(codes, ["disclosed"], mixed, 2).levels[0].tolist() == [0, 0, 0]
    assert top_down_refinement(codes, ["disclosed"], mixed, 3).levels[0].tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("target", "k", "sentence"), [(CLASS[:3], 2, "a class of the target"), (CLASS, 9, "not 9"), (CLASS - 1, 2, "0 or above")]
)
def test_what_cannot_be_specialized_is_said(target: Any, k: int, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        top_down_specialization(EIGHT, [TWO, TWO], target, k)


def test_codes_must_be_those_of_the_hierarchies() -> None:
    with pytest.raises(ValueError, match="Column 1 has codes"):
        top_down_specialization(EIGHT + np.array([0, 1], np.int32), [TWO, TWO], CLASS, 2)
    with pytest.raises(ValueError, match="1 columns described"):
        top_down_specialization(EIGHT, [TWO], CLASS, 2)


def test_no_rows() -> None:
    assert top_down_refinement(np.empty((0, 2), np.int32), [TWO, "disclosed"], np.empty(0, int), 2).steps == []


@pytest.fixture(scope="module")
def adult() -> CodedTable:
    return adult_coded()


@pytest.mark.parametrize(("k", "loss"), [(5, 0.715), (10, 0.805), (100, 0.824)])
def test_adult(adult: CodedTable, k: int, loss: float) -> None:
    found = top_down_specialization(adult.codes, adult.hierarchies, adult.target, k, adult.rows)
    assert np.bincount(found.group, adult.rows).min() >= k
    each = [
        tree.loss[levels, np.arange(len(levels))][adult.codes[:, j]]
        for j, (tree, levels) in enumerate(zip(adult.hierarchies, found.levels))
    ]
    assert np.average(np.mean(each, axis=0), weights=adult.rows) == pytest.approx(loss, abs=5e-4)
