"""The exact optimum equals what trying every set of records finds, ties and all; its certificate always holds."""

import itertools
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog

from shoal.kernels.linkage import benders
from shoal.kernels.linkage.aggregation import TIE, Bilinear, Choquet, recount
from shoal.kernels.linkage.benders import solve
from tests import linkage_proof
from tests.linkage_proof import check_linkage

N, D = 6, 3
whole = arrays(np.float64, (N, D), elements=st.integers(0, 4).map(float))  # few values: ties and twins abound
real = arrays(np.float64, (N, D), elements=st.floats(-3, 3).map(lambda v: round(v, 2)))
files = st.one_of(st.tuples(whole, whole), st.tuples(real, real))


def margins(x, y, family):
    """Of every record, its margins as rows over the weights (or over all sets), and the constraints on those."""
    out = []
    for i in range(N):
        rows = []
        for j in range(N):
            if j != i:
                wrong, true = (x[i] - y[j]) ** 2, (x[i] - y[i]) ** 2
                scale = max(wrong.max(), true.max()) or 1
                if family == "owa":
                    wrong, true = np.sort(wrong)[::-1], np.sort(true)[::-1]
                if family == "choquet":
                    wrong, true = minima(wrong), minima(true)
                rows.append((wrong - true) / scale)
        out.append(np.array(rows))
    return out


def minima(values):
    return np.array([values[[k for k in range(D) if s >> k & 1]].min() for s in range(1, 1 << D)])


def most(x, y, family):
    """By trying every set of records, the largest first, with a plain linear program."""
    rows = margins(x, y, family)
    size = rows[0].shape[1]
    if family == "choquet":  # in Möbius' terms, monotone
        sets = range(1, 1 << D)
        monotone = [[float(t & s == t and bool(t >> k & 1)) for t in sets] for s in sets for k in range(D) if s >> k & 1]
        bounds = [(None, None)] * size
    else:
        monotone, bounds = [], [(0, None)] * size
    for count in range(N, 0, -1):
        for chosen in itertools.combinations(range(N), count):
            a = np.vstack([rows[i] for i in chosen])
            upper = np.block([[-a, np.ones((len(a), 1))]])
            if monotone:
                upper = np.vstack([upper, np.hstack([-np.array(monotone), np.zeros((len(monotone), 1))])])
            solved = linprog(
                [0.0] * size + [-1], upper, np.zeros(len(upper)), [[1.0] * size + [0]], [1], [*bounds, (None, None)], method="highs"
            )
            if -solved.fun > 1e-7:
                return count
    return 0


@settings(max_examples=30, deadline=None)
@given(files, st.sampled_from(["weighted-mean", "owa", "choquet"]))
def test_the_optimum_is_what_trying_everything_finds(pair, family):
    x, y = pair
    found = solve(x, y, family, 600)
    assert found.proven
    assert found.linked == most(x, y, family)
    assert check_linkage(found.certificate(), x, y).optimal


@settings(max_examples=30, deadline=None)
@given(files, st.sampled_from(["weighted-mean", "owa"]))
def test_cells_find_it_too(pair, family):
    x, y = pair
    with mock.patch.object(benders, "PATIENCE", -1.0):
        found = solve(x, y, family, 600)
    assert found.proven
    assert found.linked == most(x, y, family)
    assert check_linkage(found.certificate(), x, y).optimal


@settings(max_examples=30, deadline=None)
@given(files, st.sampled_from(["bilinear", "choquet-submodular"]), st.integers(0, 2**32 - 1))
def test_no_distance_at_random_links_more_than_the_bound(pair, family, seed):
    x, y = pair
    found = solve(x, y, family, 600)
    assert found.proven
    assert check_linkage(found.certificate(), x, y).optimal
    rng = np.random.default_rng(seed)
    for _ in range(20):
        if family == "bilinear":
            root = rng.normal(size=(D, D)) * rng.exponential(size=D) ** 3
            other = Bilinear(root.T @ root + (root.T @ root).T).scaled()
        else:
            concave = np.sort(rng.random(D))[::-1]
            parts = rng.dirichlet(np.ones(2))
            other = Choquet(
                parts[0] * Choquet.symmetric(concave / concave.sum()).measure
                + parts[1] * Choquet.additive(rng.dirichlet(np.ones(D))).measure
            )
        assert recount(other, x, y).strict.sum() <= found.bound


@st.composite
def degenerate(draw):
    """Few values, constant columns, rows repeated or released as they are, protected rows of nobody: all that makes a game degenerate."""
    n, d, extra = draw(st.integers(1, 7)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    top = draw(st.integers(0, 2))
    x = draw(arrays(np.float64, (n, d), elements=st.integers(0, top).map(float)))
    y = draw(arrays(np.float64, (n + extra, d), elements=st.integers(0, top).map(float)))
    kept = draw(arrays(np.bool_, n))
    y[:n][kept] = x[kept]
    if draw(st.booleans()):
        x[:, 0] = y[:, 0] = 1.0
    return x, y


@settings(max_examples=60, deadline=None)
@given(
    degenerate(),
    st.sampled_from([("weighted-mean", 0), ("owa", 0), ("bilinear", 0), ("choquet", 0), ("choquet", 1), ("choquet-submodular", 0)]),
)
def test_degenerate_tables_are_proven_too(pair, family):
    (x, y), (family, k_additive) = pair, family
    found = solve(x, y, family, 600, k_additive)
    assert found.proven
    assert check_linkage(found.certificate(), x, y).optimal
    at_once = solve(x, y, family, 0, k_additive)
    assert at_once.linked <= found.linked <= at_once.bound
    assert check_linkage(at_once.certificate(), x, y).bound == at_once.bound


@settings(max_examples=30, deadline=None)
@given(files, st.sampled_from(["weighted-mean", "owa", "bilinear", "choquet"]), st.permutations(range(N)))
def test_the_optimum_does_not_depend_on_the_order_of_records(pair, family, order):
    x, y = pair
    order = list(order)
    assert solve(x, y, family, 600).linked == solve(x[order], y[order], family, 600).linked


def test_the_tie_of_solver_checker_and_recount_is_the_same():
    assert float(linkage_proof.TIE) == pytest.approx(TIE)
