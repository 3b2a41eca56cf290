"""Attacks on tables of a few rows, linked by eye; intervals, chance, and the two published sums of them."""

import numpy as np
import pytest

from shoal.attacks import ATTACKS, DistanceLinkage, HouseholdLinkage, IntervalDisclosure, ProbabilisticLinkage
from shoal.errors import ShoalError
from shoal.randomness import rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Knowledge, disclosure_risk, overall_score, wilson
from shoal.table import Table


def attacked(attack, original, released, source_row=None, roles=None, **knowledge):
    """Row i of the released table was made from original row source_row[i]; by default the rows correspond."""
    before, after = Table.of(original), Table.of(released)
    roles = (roles or Roles(quasi=before.columns)).check(before)
    rows = np.arange(len(after)) if source_row is None else np.array(source_row)
    return attack.attack(before, Release.given(after, rows, roles), Knowledge(roles, **knowledge), rng_for(1, "test"))


# ---- by distance -------------------------------------------------------------------------------------------------------------


def test_two_of_four_are_taken_for_each_other():
    found = attacked(DistanceLinkage(), {"x": [0, 1, 2, 10]}, {"x": [0, 2, 1, 10]})
    assert (found.tried, found.hit, found.strict_hit, found.chance) == (4, 2, 2, 0.25)
    assert found.rate == 0.5
    assert found.per_record.tolist() == [1, 0, 0, 1]


def test_release_order_does_not_matter():
    found = attacked(DistanceLinkage(), {"x": [0, 1, 2, 10]}, {"x": [10, 1, 2, 0]}, source_row=[3, 2, 1, 0])
    assert found.per_record.tolist() == [1, 0, 0, 1]


def test_identical_released_rows_share_the_hit():
    found = attacked(DistanceLinkage(), {"x": [0, 1, 10, 11]}, {"x": [0.5, 0.5, 10.5, 10.5]})
    assert found.per_record.tolist() == [0.5] * 4
    assert (found.hit, found.strict_hit) == (2, 0)
    assert "4 records tie" in found.note


def test_a_constant_release_is_blind_guessing():
    found = attacked(DistanceLinkage(), {"x": [1, 2, 3, 4]}, {"x": [7, 7, 7, 7]})
    assert found.rate == pytest.approx(found.chance) == pytest.approx(0.25)


def test_each_file_is_standardized_by_itself():
    # Another unit and another zero: nothing hides.
    found = attacked(DistanceLinkage(), {"x": [0, 1, 2, 10], "y": [4, 1, 0, 2]}, {"x": [32, 50, 68, 212], "y": [4, 1, 0, 2]})
    assert found.rate == 1


def test_categories_are_one_apart():
    before = {"x": [0, 1, 2, 3], "city": ["a", "b", "a", "b"]}
    # In deviations neighbours are 0.77 apart, less than one category: record 2 (1, b) is closer to (0, b) than to (1, a).
    found = attacked(DistanceLinkage(), before, {"x": [0, 1, 2, 3], "city": ["b", "a", "a", "b"]})
    assert found.per_record.tolist() == [0, 0, 1, 1]


def test_missing_agrees_with_missing():
    found = attacked(DistanceLinkage(), {"x": [1, 2, None, 4]}, {"x": [1, 2, None, 4]})
    assert found.rate == 1


SHIFTED = (  # a and b nearly equal; each record moved along the diagonal, past its neighbour
    {"a": [0, 1, 2, 3], "b": [0.2, 0.8, 2.2, 2.8]},
    {"a": [0.7, 0.3, 2.7, 2.3], "b": [0.9, 0.1, 2.9, 2.1]},
)
NOISY_B = ({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, {"a": [1, 2, 3, 4], "b": [4, 3, 2, 1]})  # a as it was, b upside down


def test_mahalanobis_sees_that_the_difference_of_two_columns_is_small():
    assert attacked(DistanceLinkage(), *SHIFTED).rate == 0
    assert attacked(DistanceLinkage(distance="mahalanobis"), *SHIFTED).rate == 1


def test_mahalanobis_with_links_learns_which_column_to_trust():
    # (2, 2) is as near to (2, 3), its own, as to (3, 2): the two in the middle tie, the outer ones are lost.
    assert attacked(DistanceLinkage(), *NOISY_B).per_record.tolist() == [0, 0.5, 0.5, 0]
    assert attacked(DistanceLinkage(distance="mahalanobis-links"), *NOISY_B).rate == 1


# ---- by likelihood -----------------------------------------------------------------------------------------------------------

PEOPLE = {"sex": ["f", "f", "m", "m"], "city": ["a", "b", "a", "b"], "job": ["p", "q", "r", "s"]}


@pytest.mark.parametrize("assignment", ["best", "one-to-one"])
def test_an_unprotected_table_is_found_whole(assignment):
    found = attacked(ProbabilisticLinkage(assignment=assignment), PEOPLE, PEOPLE)
    assert (found.rate, found.strict_hit, found.chance) == (1, 4, 0.25)


@pytest.mark.parametrize("assignment", ["best", "one-to-one"])
def test_likelihood_shares_the_hit_among_identical_rows(assignment):
    twins = {"sex": ["f", "f", "m", "m"], "city": ["a", "a", "b", "b"]}
    found = attacked(ProbabilisticLinkage(assignment=assignment), twins, twins)
    assert found.per_record.tolist() == [0.5] * 4
    assert found.strict_hit == 0


@pytest.mark.parametrize("assignment", ["best", "one-to-one"])
def test_numbers_agree_within_a_tolerance(assignment):
    before = {"x": [0.0, 10, 20, 30], "y": [5.0, 1, 9, 3]}  # deviations 12.9 and 3.4: a tenth is 1.29 and 0.34
    near = {"x": [1.0, 9, 21, 29], "y": [5.3, 0.7, 9.3, 2.7]}
    assert attacked(ProbabilisticLinkage(assignment=assignment), before, near).rate == 1
    # Without tolerance nothing agrees, so every pair weighs the same.
    blind = attacked(ProbabilisticLinkage(assignment="best", tolerance=0), before, near)
    assert (blind.rate, blind.strict_hit) == (0.25, 0)


# ---- by interval -------------------------------------------------------------------------------------------------------------


def test_interval_disclosure_by_hand():
    # Of 20 released values, widths of 1 to 5 % reach no neighbour (half of 1, rounded to even, is 0); those of 6 to 10 % reach one on each side.
    released = [float(i) for i in range(20)]
    original = [*released]
    original[5] = 5.5  # between 4 and 6: inside half of the intervals
    original[10] = 12.5  # outside all
    found = attacked(IntervalDisclosure(), {"x": original}, {"x": released})
    expected = np.ones(20)
    expected[5], expected[10] = 0.5, 0.0
    assert found.per_record.tolist() == expected.tolist()
    assert found.rate == pytest.approx(18.5 / 20)
    assert found.details["per_column"] == {"x": pytest.approx(18.5 / 20)}


def test_equal_released_values_share_their_middle_rank():
    # Ranks 0 to 2 hold 0 and ranks 17 to 19 hold 19. One rank to each side of the middle one (1 and 18) there is no other value; from an
    # edge of the ties (2 or 17) the interval would reach to 1, or down to 14.
    released = [0.0, 0, 0, *(float(i) for i in range(1, 15)), 19, 19, 19]
    original = [*released]
    original[0], original[19] = 0.5, 16.0
    found = attacked(IntervalDisclosure(), {"x": original}, {"x": released})
    assert found.per_record.tolist() == [0, *[1] * 18, 0]


def test_interval_disclosure_averages_columns_and_missing_discloses_missing():
    found = attacked(IntervalDisclosure(), {"x": [1, 2, None, 4], "y": [1, 2, 3, 4]}, {"x": [1, 9, None, None], "y": [1, 2, 3, 4]})
    assert found.per_record.tolist() == [1, 0.5, 1, 0.5]


def test_interval_disclosure_needs_an_order():
    with pytest.raises(ShoalError, match="numeric or ordinal"):
        attacked(IntervalDisclosure(), {"x": ["a", "b"]}, {"x": ["a", "b"]})


def test_blind_guessing_of_intervals_is_rare():
    x = np.random.default_rng(4).normal(size=2000)
    found = attacked(IntervalDisclosure(), {"x": x}, {"x": x})
    assert found.rate == 1
    assert found.chance == pytest.approx(0.055, abs=0.02)  # widths of 1 to 10 %, 5.5 % on average


# ---- what the intruder knows -------------------------------------------------------------------------------------------------


def test_known_columns_and_records():
    before = {"x": [0, 1, 2, 10], "y": [1, 2, 3, 4]}
    after = {"x": [0, 2, 1, 10], "y": [1, 2, 3, 4]}
    assert attacked(DistanceLinkage(), before, after, columns=("y",)).rate == 1
    assert attacked(DistanceLinkage(), before, after, columns=("x",)).rate == 0.5
    some = attacked(DistanceLinkage(), before, after, columns=("y",), records=2)
    assert (some.tried, some.chance) == (2, 0.25)
    assert np.isnan(some.per_record).sum() == 2
    assert attacked(DistanceLinkage(), before, after, columns=("y",), records=0.75).tried == 3


def test_a_record_that_was_not_released_is_not_found():
    found = attacked(DistanceLinkage(), {"x": [0, 1, 2, 30]}, {"x": [0, 1, 2]}, source_row=[0, 1, 2], columns=("x",))
    assert found.tried == 4
    assert found.per_record[3] == 0
    assert found.chance == pytest.approx(1 / 3)


@pytest.mark.parametrize("attack", [one for one in ATTACKS if one is not HouseholdLinkage], ids=lambda a: a.name)
def test_every_rate_has_an_interval_around_it(attack):
    found = attacked(attack(), {"x": [0, 1, 2, 10]}, {"x": [0, 2, 1, 10]})
    low, high = found.interval
    assert 0 <= low <= found.rate <= high <= 1
    assert (low, high) == wilson(found.hit, found.tried)


# ---- sums of them ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hit", "tried", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 29, 0.0061, 0.1718), (81, 263, 0.2553, 0.3662)],
)
def test_wilson(hit, tried, low, high):
    """Newcombe (1998) prints the last two."""
    assert wilson(hit, tried) == pytest.approx((low, high), abs=5e-5)


def test_disclosure_risk_and_score():
    assert disclosure_risk(28.6, 6.2, 37.9) == pytest.approx(27.65)
    assert overall_score(23.5, 27.65) == pytest.approx(25.575)
    assert disclosure_risk(1, 1, 1) == 1
    assert overall_score(0, 0) == 0
