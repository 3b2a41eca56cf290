"""Definitions 2.1 to 2.8, 2.10, 5.1 to 5.6 and Example 10 of Abril (2014), by hand."""

import numpy as np
import pytest

from shoal.kernels.linkage.aggregation import OWA, Bilinear, Choquet, WeightedMean, recount, standardized
from shoal.kernels.linkage.fuzzy_measures import mobius, monotone_hull, set_sizes, zeta

# A measure of three attributes: one and two replace each other, three adds to both. Sets in the order {}, 1, 2, 12, 3, 13, 23, 123.
MEASURE = [0, 0.5, 0.4, 0.5, 0.2, 0.9, 0.6, 1]


def test_a_weighted_mean_has_no_1_over_n():
    """Section 2.1 prints a spurious 1/n: equal values must keep their value (idempotency)."""
    assert WeightedMean([0.2, 0.3, 0.5]).distance([4, 4, 4]) == pytest.approx(4)
    assert WeightedMean([0.2, 0.3, 0.5]).distance([1, 2, 4]) == pytest.approx(0.2 + 0.6 + 2)


def test_the_arithmetic_mean_is_the_weighted_mean_of_equal_weights():
    assert WeightedMean.equal(4).distance([[1, 2, 3, 6], [0, 0, 0, 4]]) == pytest.approx([3, 1])


def test_owa_weighs_from_the_largest_down():
    """Definition 2.2; 5.3 prints the other order."""
    assert OWA([1, 0, 0]).distance([2, 7, 5]) == 7
    assert OWA([0, 0, 1]).distance([2, 7, 5]) == 2
    assert OWA([0, 1, 0]).distance([2, 7, 5]) == 5  # the median
    assert OWA([0.5, 0.3, 0.2]).distance([2, 7, 5]) == pytest.approx(3.5 + 1.5 + 0.4)


def test_example_10_numbers_sets_by_their_bits():
    """mu of attributes 1, 3 and 5 of five is number 21."""
    mobius_of_135 = np.zeros(32)
    mobius_of_135[21] = 1
    integral = Choquet.from_mobius(mobius_of_135)
    assert integral.measure[21] == 1
    assert integral.measure[0b01111] == 0
    assert integral.distance([3, 0, 5, 0, 4]) == 3  # the least of the three
    assert integral.distance([3, 9, 5, 9, 4]) == 3
    assert set_sizes(5)[21] == 3


def test_the_choquet_integral_by_hand():
    """Values 1, 5, 2: all three rise to 1, attributes 2 and 3 to 2, attribute 2 to 5."""
    assert Choquet(MEASURE).distance([1, 5, 2]) == pytest.approx(1 * 1 + 1 * 0.6 + 3 * 0.4)
    assert Choquet(MEASURE).distance([[3, 3, 3], [0, 0, 7]]) == pytest.approx([3, 7 * 0.2])


def test_the_mobius_transform_by_hand():
    """Definition 2.4, and back by 2.5."""
    integral = Choquet(MEASURE)
    assert integral.mobius() == pytest.approx([0, 0.5, 0.4, -0.4, 0.2, 0.2, 0, 0.1])
    assert integral.mobius().sum() == pytest.approx(1)
    assert Choquet.from_mobius(integral.mobius()).measure == pytest.approx(MEASURE)
    assert zeta(mobius([0, 3, -1, 4])) == pytest.approx([0, 3, -1, 4])


def test_k_additivity_is_the_size_of_the_largest_interaction():
    """Definition 2.6."""
    assert Choquet(MEASURE).k_additive() == 3
    assert Choquet.additive([0.2, 0.3, 0.5]).k_additive() == 1
    assert Choquet.from_mobius([0, 0.5, 0.4, -0.1, 0.2, 0, 0, 0]).k_additive() == 2


def test_an_additive_measure_gives_the_weighted_mean_and_a_symmetric_one_the_owa():
    """Definition 2.8, and where the OWA belongs; the weighted mean is not a case of the OWA."""
    weights, values = [0.2, 0.3, 0.5], [[4, 1, 9], [0, 2, 2]]
    assert Choquet.additive(weights).distance(values) == pytest.approx(WeightedMean(weights).distance(values))
    assert Choquet.symmetric(weights).distance(values) == pytest.approx(OWA(weights).distance(values))


def test_submodularity_runs_over_the_intersection():
    """(2.1): attributes 1 and 3 together measure more than apart, .9 against .5 + .2."""
    assert not Choquet(MEASURE).submodular()
    assert Choquet([0, 0.6, 0.5, 0.9, 0.3, 0.8, 0.7, 1]).submodular()
    assert not Choquet([0, 0.1, 0.5, 0.6, 0.5, 0.6, 0.6, 1]).submodular()  # only with A and B meeting in one attribute


def test_a_bilinear_form_by_hand():
    """Definition 5.5: signed differences, so that attributes can make up for each other."""
    form = Bilinear([[2, -1], [-1, 3]])
    assert form.distance([1, 2]) == pytest.approx(2 - 4 + 12)
    assert form.distance([[1, -2], [0, 1]]) == pytest.approx([2 + 4 + 12, 3])
    assert np.trace(form.scaled().matrix) == pytest.approx(1)
    assert Bilinear(np.eye(3) / 3).distance([1, 2, 3]) == pytest.approx(WeightedMean.equal(3).of_differences([1, 2, 3]))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: WeightedMean([0.5, 0.6]), "the weights sum to 1"),
        (lambda: WeightedMean([1.5, -0.5]), "no weight is negative"),
        (lambda: OWA([0.5, np.nan]), "finite"),
        (lambda: OWA([]), "filled"),
        (lambda: Bilinear([[1, 2], [3, 1]]), "symmetric"),
        (lambda: Bilinear([[1, 2]]), "square"),
        (lambda: Choquet([0, 0.5, 0.5]), "2\\^n"),
        (lambda: Choquet([0.1, 1]), "empty set"),
        (lambda: Choquet([0, 0.5, 0.5, 0.9]), "measure 1"),
        (lambda: Choquet([0, 0.5, 0.5, 0.6, 0.2, 0.4, 0.5, 1]), "less than a subset"),
        (lambda: Bilinear([[-1, 0], [0, 0.5]]).scaled(), "trace"),
        (lambda: WeightedMean([0.5, 0.5]).distance([1, 2, 3]), "reads 2"),
        (lambda: Choquet([0, 1]).distance([-1.0]), "negative"),
        (lambda: mobius([1, 2, 3]), "2\\^n"),
        (lambda: standardized([[1, 2], [1, 3]], [[1, 2], [1, 3]]), "constant"),
    ],
)
def test_what_is_wrong_is_said(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_constraints_are_named_with_what_holds():
    assert WeightedMean([0.5, 0.5]).constraints() == {"no weight is negative": True, "the weights sum to 1": True}
    assert all(Choquet(MEASURE).constraints().values())


@pytest.mark.parametrize(
    ("aggregator", "squared", "root"),
    [
        (WeightedMean([0.5, 0.5]), (True, True, True, False), (True, True, True, True)),
        (WeightedMean([1, 0]), (True, False, True, False), (True, False, True, True)),
        (OWA([0.6, 0.4]), (True, True, True, False), (True, True, True, True)),
        (OWA([0.4, 0.6]), (True, True, True, False), (True, True, True, False)),
        (OWA([0, 1]), (True, False, True, False), (True, False, True, False)),
        (Choquet(MEASURE), (True, True, True, False), (True, True, True, False)),
        (Choquet([0, 0.6, 0.6, 1]), (True, True, True, False), (True, True, True, True)),
        (Choquet([0, 0.6, 0, 1]), (True, False, True, False), (True, False, True, False)),
        (Bilinear([[2, 1], [1, 2]]), (True, True, True, False), (True, True, True, True)),
        (Bilinear([[1, 1], [1, 1]]), (True, False, True, False), (True, False, True, True)),
        (Bilinear([[1, 0], [0, -1]]), (False, False, True, False), (False, False, False, False)),
        (Bilinear([[-1, 0], [0, -1]]), (False, True, True, False), (False, False, False, False)),
        (Bilinear([[0, 0], [0, 0]]), (True, False, True, True), (True, False, True, True)),
    ],
)
def test_which_lines_of_definition_2_10_hold(aggregator, squared, root):
    """Only roots can be metrics; a weight of zero costs identity, a supermodular measure the triangle inequality."""
    assert tuple(aggregator.properties()) == squared
    assert tuple(aggregator.root_properties()) == root


def test_a_tie_is_no_strict_link_and_shared_by_all_who_tie():
    original = np.array([[0.0, 0], [10, 0], [20, 0], [30, 0]])
    protected = np.array([[1.0, 0], [1, 0], [19, 0], [31, 0]])  # the first two look alike, and the second is as far from the third
    found = recount(WeightedMean([1, 0]), original, protected)
    assert found.strict.tolist() == [False, False, True, True]
    assert found.share.tolist() == [1 / 2, 1 / 3, 1, 1]
    assert (found.strict_rate, found.shared_rate) == (0.5, pytest.approx(17 / 24))


def test_rounding_does_not_win_a_tie():
    """0.1 + 0.2 is not 0.3 in floating point; it is to a person."""
    original = np.array([[0.0], [5.0]])
    protected = np.array([[0.3], [-(0.1 + 0.2)]])
    assert recount(WeightedMean([1.0]), original, protected).strict.tolist() == [False, False]
    assert recount(WeightedMean([1.0]), original, protected).share.tolist() == [0.5, 0]


def test_a_monotone_hull_is_the_lowest_above():
    assert monotone_hull([0, 0.5, 0.2, 0.4]).tolist() == [0, 0.5, 0.2, 0.5]


def test_standardized_files_have_mean_0_and_deviation_1():
    x, y = standardized([[1.0, 5], [3, 9]], [[2.0, 0], [4, 8]])
    assert x.tolist() == [[-1, -1], [1, 1]]
    assert y.tolist() == [[-1, -1], [1, 1]]
