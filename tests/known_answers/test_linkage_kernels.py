"""Links and classes of tables small enough to check by eye."""

import numpy as np
import pytest

from shoal.kernels import groups
from shoal.kernels.linkage import agreement, match_mixture, neighbours

# age and income in units that make distances whole numbers
ORIGINAL = np.array([[1.0, 1.0], [1.0, 5.0], [6.0, 1.0], [6.0, 6.0]])


def test_classes_of_four_rows() -> None:
    codes = np.array([[1, 0], [0, 2], [1, 0], [0, 1]])
    ids, classes = groups.class_ids(codes)
    assert classes == 3
    assert ids.tolist() == [2, 1, 2, 0]  # (0, 1) < (0, 2) < (1, 0)
    assert groups.class_sizes(codes).tolist() == [1, 1, 2]


def test_classes_of_columns_of_different_types() -> None:
    columns = [np.array([3, 3, 0], np.int32), np.array([1, 1, 1], np.int64), np.array([True, False, True])]
    assert groups.class_ids(columns)[0].tolist() == [2, 1, 0]


def test_no_rows_and_no_columns() -> None:
    assert groups.class_ids(np.empty((0, 2), np.int64))[1] == 0
    assert groups.class_sizes(np.empty((0, 2), np.int64)).tolist() == []
    assert groups.class_sizes(np.empty((3, 0), np.int64)).tolist() == [3]


def test_keys_that_overflow_are_combined_in_stages() -> None:
    top = 2**31
    column = np.array([0, top, 0, top, 5])
    codes = np.column_stack([column, column, column, [0, 1, 0, 2, 0]])
    assert groups.class_ids(codes)[0].tolist() == [0, 2, 0, 3, 1]
    assert groups.class_sizes(codes).tolist() == [2, 1, 1, 1]
    assert groups.class_ids([np.array([2**62, 0, 2**62 + 1])])[0].tolist() == [1, 0, 2]


def test_bad_codes_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        groups.class_ids(np.array([[0], [-1]]))
    with pytest.raises(ValueError, match="integer"):
        groups.class_ids([np.array([0.5, 1.0])])


def test_distinct_rows_take_minus_zero_for_zero() -> None:
    same_as, first, weight = groups.distinct_rows(np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0]]))
    assert same_as.tolist() == [0, 1, 0]
    assert first.tolist() == [0, 1]
    assert weight.tolist() == [2, 1]


def test_nearest_of_four_rows() -> None:
    # Rows 0 and 1 were averaged, rows 2 and 3 as well: each record has its group's centre nearest, shared by two rows.
    protected = np.array([[1.0, 3.0], [1.0, 3.0], [6.0, 3.5], [6.0, 3.5]])
    found = neighbours.nearest(protected, ORIGINAL)
    assert found.distance2.tolist() == [4.0, 4.0, 6.25, 6.25]
    assert found.ties.tolist() == [2, 2, 2, 2]
    assert found.first.tolist() == [0, 0, 2, 2]
    linked = neighbours.linked(protected, ORIGINAL, np.arange(4))
    assert not linked.closer_exists.any()
    assert linked.ties.tolist() == [2, 2, 2, 2]


def test_swapped_rows_are_not_linked() -> None:
    protected = ORIGINAL[[1, 0, 2, 3]] + 0.25
    linked = neighbours.linked(protected, ORIGINAL, np.arange(4))
    assert linked.closer_exists.tolist() == [True, True, False, False]
    assert linked.ties.tolist() == [0, 0, 1, 1]
    assert neighbours.linked(protected, ORIGINAL, np.array([1, 0, 2, 3])).ties.tolist() == [1, 1, 1, 1]


def test_a_nominal_difference_counts_one() -> None:
    protected, codes = np.array([[0.0], [0.0], [0.5]]), np.array([[3], [7], [3]])
    found = neighbours.nearest(protected, np.array([[0.0], [0.5], [2.0]]), codes, np.array([[7], [3], [9]]))
    assert found.distance2.tolist() == [0.0, 0.0, 3.25]  # the last: 1.5 squared, and a code nobody has
    assert found.first.tolist() == [1, 2, 2]
    assert found.ties.tolist() == [1, 1, 1]


def test_distances_equal_on_paper_tie() -> None:
    # .3 - .2 and .1 are not the same number, but the two rows are equally far from .2
    found = neighbours.nearest(np.array([[0.3], [0.1]]), np.array([[0.2]]))
    assert 0.3 - 0.2 != 0.2 - 0.1
    assert found.ties.tolist() == [2]
    assert found.first.tolist() == [0]
    assert neighbours.linked(np.array([[0.3], [0.1]]), np.array([[0.2], [0.2]]), np.array([0, 1])).ties.tolist() == [2, 2]


def test_progress_ends_at_all_and_missing_values_are_refused() -> None:
    seen: list[tuple[int, int]] = []
    neighbours.nearest(ORIGINAL, ORIGINAL, progress=lambda done, n: seen.append((done, n)))
    assert seen[-1] == (4, 4)
    with pytest.raises(ValueError, match="finite"):
        neighbours.nearest(ORIGINAL, np.array([[np.nan, 1.0]]))
    with pytest.raises(ValueError, match="true row"):
        neighbours.linked(ORIGINAL, ORIGINAL, np.array([0, 1, 2, 4]))


TOLERANCE = np.array([0.5, 0.0])  # the second column is nominal
PEOPLE = np.array([[30.0, 1], [40.0, 2], [50.0, 1], [60.0, 2]])
RELEASE = np.array([[30.4, 1], [40.4, 1], [49.6, 1], [40.2, 2]])


def test_patterns_of_four_rows() -> None:
    # bit 0: age within half a year; bit 1: same code. Row by row of PEOPLE against RELEASE:
    # 3 2 2 0 / 0 1 0 3 / 2 2 3 0 / 0 0 0 2
    assert agreement.pattern_counts(PEOPLE, RELEASE, TOLERANCE).tolist() == [7, 1, 5, 3]


def test_best_match_of_four_rows() -> None:
    agree, disagree = np.array([4.0, 1.0]), np.array([-2.0, -1.0])
    best = agreement.best_match(PEOPLE, RELEASE, TOLERANCE, agree, disagree)
    assert best.weight.tolist() == [5.0, 5.0, 5.0, -1.0]
    assert best.ties.tolist() == [1, 1, 1, 1]
    assert best.first.tolist() == [0, 3, 2, 3]
    linked = agreement.linked_by_weight(PEOPLE, RELEASE, np.arange(4), TOLERANCE, agree, disagree)
    assert linked.higher_exists.tolist() == [False, True, False, False]
    assert linked.ties.tolist() == [1, 0, 1, 1]


def test_one_to_one_takes_turns() -> None:
    # The second person's best rows tie, but the first needs the one they share.
    people, release = np.array([[40.0, 2], [60.0, 2]]), np.array([[40.2, 2], [70.0, 2]])
    agree, disagree = np.array([4.0, 1.5]), np.array([-2.0, -1.0])
    assert agreement.weight_block(people, release, TOLERANCE, agree, disagree).tolist() == [[5.5, -0.5], [-0.5, -0.5]]
    assert agreement.best_match(people, release, TOLERANCE, agree, disagree).ties.tolist() == [1, 2]
    assert agreement.one_to_one(people, release, TOLERANCE, agree, disagree).tolist() == [0, 1]
    assert agreement.one_to_one(people, release[:1], TOLERANCE, agree, disagree).tolist() == [0, -1]


def test_a_block_that_would_not_fit_is_refused() -> None:
    many = np.zeros((7000, 1))
    with pytest.raises(ValueError, match="memory"):
        agreement.weight_block(many, many, np.zeros(1), np.ones(1), np.zeros(1))


def test_expectation_maximization_finds_the_mixture_it_was_given() -> None:
    # Expected counts, not a sample: the maximum of the likelihood is the mixture itself.
    share, m, u = 0.02, np.array([0.95, 0.9, 0.8, 0.85]), np.array([0.1, 0.05, 0.2, 0.15])
    bits = np.arange(16)[:, None] >> np.arange(4) & 1
    match, other = (np.where(bits, p, 1 - p).prod(axis=1) for p in (m, u))
    counts = np.rint(1e12 * (share * match + (1 - share) * other)).astype(np.int64)
    found = match_mixture.expectation_maximization(counts, 4, 0.05, most_iterations=5000, tolerance=1e-12)
    assert found.match_share == pytest.approx(share, abs=1e-5)
    assert found.m == pytest.approx(m, abs=1e-4)
    assert found.u == pytest.approx(u, abs=1e-5)


def test_expectation_maximization_survives_certainty() -> None:
    counts = np.array([990, 0, 0, 10])  # both columns agree or neither does
    found = match_mixture.expectation_maximization(counts, 2, 0.01)
    assert found.match_share == pytest.approx(0.01, abs=1e-6)
    assert found.m == pytest.approx([1.0, 1.0], abs=1e-6)
    assert found.u == pytest.approx([0.0, 0.0], abs=1e-6)
    agree, disagree = match_mixture.weights(found.m, found.u)
    assert np.isfinite(agree).all()
    assert (agree > 20).all()
    assert (disagree < -20).all()
