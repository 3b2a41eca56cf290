"""What must hold for any parameters: the lines of Definitions 2.1 and 2.10 that are claimed, and transforms that undo each other."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shoal.kernels.linkage.aggregation import OWA, Bilinear, Choquet, WeightedMean
from shoal.kernels.linkage.fuzzy_measures import mobius, monotone_hull, zeta

N = 3
values = arrays(np.float64, N, elements=st.floats(0, 100))
differences = arrays(np.float64, N, elements=st.floats(-10, 10))
raw = arrays(np.float64, N, elements=st.floats(0, 1)).filter(lambda w: w.sum() > 0.1)
weights = raw.map(lambda w: w / w.sum())


@st.composite
def measures(draw):
    """Any monotone measure: the hull of any values."""
    hull = monotone_hull(draw(arrays(np.float64, 1 << N, elements=st.floats(0, 1))))
    hull[0] = 0
    assume(hull[-1] > 0.1)
    return hull / hull[-1]


monotone = st.one_of(weights.map(WeightedMean), weights.map(OWA), measures().map(Choquet))
forms = arrays(np.float64, (N, N), elements=st.floats(-1, 1)).map(lambda m: Bilinear(m @ m.T + m.T @ m))
anything = st.one_of(monotone, forms)


@given(monotone, values, values)
def test_aggregators_are_idempotent_monotone_and_internal(aggregator, one, two):
    """Definition 2.1."""
    low, high = np.minimum(one, two), np.maximum(one, two)
    near = 1e-9 * (1 + high.max())
    assert abs(aggregator.distance(np.full(N, one[0])) - one[0]) <= near
    assert aggregator.distance(low) <= aggregator.distance(high) + near
    assert one.min() - near <= aggregator.distance(one) <= one.max() + near


@given(weights, values, st.permutations(range(N)))
def test_owa_does_not_care_for_order(w, one, order):
    assert OWA(w).distance(one) == OWA(w).distance(one[list(order)])


@given(anything, differences, differences)
def test_claimed_properties_hold(aggregator, one, two):
    """Definition 2.10 for the root, where it is claimed."""
    claims = aggregator.root_properties()
    d = [float(np.sqrt(max(aggregator.of_differences(v), 0))) for v in (one, two, one + two)]
    assert claims.non_negativity
    assert claims.symmetry
    assert aggregator.of_differences(one) >= -1e-9
    assert aggregator.of_differences(one) == aggregator.of_differences(-one)
    if claims.triangle:
        assert d[2] <= d[0] + d[1] + 1e-6
    if claims.identity and np.abs(one).max() > 1e-3 and not isinstance(aggregator, Bilinear):
        assert d[0] > 0


@given(measures())
def test_the_triangle_fails_for_every_measure_that_is_not_submodular(measure):
    """The two records near each other that show it: one attribute a little larger than another, and the other way round."""
    integral = Choquet(measure)
    assume(not integral.submodular(1e-3))
    worst = 0.0
    for base in range(1 << N):
        for i in range(N):
            for j in range(i):
                if base >> i & 1 or base >> j & 1:
                    continue
                one = np.array([2.0 if base >> k & 1 else 0.0 for k in range(N)])
                two = one.copy()
                one[[i, j]], two[[i, j]] = (1, 1 - 1e-4), (1 - 1e-4, 1)
                d = [float(np.sqrt(integral.of_differences(v))) for v in (one, two, one + two)]
                worst = max(worst, d[2] - d[0] - d[1])
    assert worst > 0


@given(arrays(np.float64, 1 << N, elements=st.floats(-1, 1)))
def test_the_transforms_undo_each_other(values):
    assert np.allclose(zeta(mobius(values)), values)
    assert np.allclose(mobius(zeta(values)), values)


@given(measures(), values)
def test_the_choquet_integral_is_mobius_weighted_minima(measure, one):
    """(5.24): d+ of a set is simply the least of its squared differences."""
    integral = Choquet(measure)
    minima = [0.0, *(one[[k for k in range(N) if s >> k & 1]].min() for s in range(1, 1 << N))]
    assert np.isclose(integral.distance(one), integral.mobius() @ minima)


@given(weights, values)
def test_weighted_mean_and_owa_are_cases_of_choquet(w, one):
    assert np.isclose(Choquet.additive(w).distance(one), WeightedMean(w).distance(one))
    assert np.isclose(Choquet.symmetric(w).distance(one), OWA(w).distance(one))
