"""Whatever the table: every class or match has k, what is shown is true, and no search on small tables finds less to blank than brute force."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.wildcards import fewest_matches
from shoal.kernels.masks import Demand
from shoal.kernels.suppression import BLANK, Blanks, classes_blanked, given_back, sets_blanked, wildcard_blanked
from shoal.kernels.suppression_exact import fewest_classes, fewest_wildcard

unhurried = settings(deadline=None, max_examples=60, derandomize=True)


def small(n, d, values, most, seed):
    """Distinct combinations and how many records have each."""
    rng = np.random.default_rng(seed)
    codes = np.unique(rng.integers(0, values, (n, d)), axis=0)
    codes = np.column_stack([np.unique(codes[:, j], return_inverse=True)[1].reshape(-1) for j in range(d)])
    return np.ascontiguousarray(codes, dtype=np.int32), rng.integers(1, most + 1, len(codes)).astype(np.int64)


tables = st.builds(small, st.integers(1, 25), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3), st.integers(0, 2**31))
tiny = st.builds(small, st.integers(1, 5), st.integers(1, 2), st.integers(2, 3), st.just(1), st.integers(0, 2**31))
prices = st.lists(st.sampled_from([0.5, 1.0, 1.0, 3.0]), min_size=5, max_size=5)


def chosen_sets(d, seed):
    rng = np.random.default_rng(seed)
    sets = {tuple(np.flatnonzero(rng.random(d) < 0.6).tolist()) for _ in range(3)} - {()}
    return [np.array(one) for one in sorted(sets)] or [np.arange(d)]


def shown_of(codes, blanks: Blanks):
    """Record by record."""
    shown = np.where(blanks.blank, BLANK, codes[blanks.combination])
    return np.repeat(shown, blanks.rows, axis=0)


def least(shown, inside, agree):
    rows = shown[:, inside].tolist()
    return min(sum(agree(a, b) for b in rows) for a in rows)


def same(a, b):
    return a == b


def could_be(a, b):
    return all(x == y or BLANK in (x, y) for x, y in zip(a, b))


def whole(blanks, rows):
    return np.array_equal(np.bincount(blanks.combination, blanks.rows, minlength=len(rows)), rows)


@unhurried
@given(tables, st.integers(2, 5), prices, st.integers(0, 2**31))
def test_every_reading_keeps_k(table, k, price, seed):
    codes, rows = table
    if rows.sum() < k:
        return
    d = codes.shape[1]
    cost, draws, sets = np.array(price[:d]), np.random.default_rng(seed).random(len(codes)), chosen_sets(d, seed)
    strict = classes_blanked(codes, rows, Demand(k), cost, draws)
    assert whole(strict, rows)
    assert least(shown_of(codes, strict), np.arange(d), same) >= k
    several = sets_blanked(codes, rows, k, sets, cost, draws)
    loose = wildcard_blanked(codes, rows, k, sets, cost)
    back = given_back(codes, loose, k, sets, cost)
    assert back.all_tried
    assert whole(back.blanks, rows)
    assert back.blanks.priced(cost) <= loose.priced(cost)
    for inside in sets:
        assert least(shown_of(codes, several), inside, same) >= k
        assert least(shown_of(codes, loose), inside, could_be) >= k
        assert least(shown_of(codes, back.blanks), inside, could_be) >= k


@unhurried
@given(tables, st.integers(2, 5), st.integers(0, 2**31))
def test_each_combination_gets_its_cheapest_mask(table, k, seed):
    """Before anything is given back: no cheaper mask has k records of the original that share what it keeps, in every set."""
    codes, rows = table
    if rows.sum() < k:
        return
    d = codes.shape[1]
    cost, sets = np.array([1.0, 2.0, 1.0, 0.5, 1.5])[:d], chosen_sets(d, seed)
    found = wildcard_blanked(codes, rows, k, sets, cost)
    for c in range(len(codes)):
        safe = [
            (np.array(mask) * cost).sum()
            for mask in product((False, True), repeat=d)
            if all(
                rows[(codes[:, kept] == codes[c, kept]).all(axis=1)].sum() >= k for kept in ([j for j in s if not mask[j]] for s in sets)
            )
        ]
        assert (found.blank[c] * cost).sum() == pytest.approx(min(safe))


@unhurried
@given(tables, st.integers(2, 5), st.integers(0, 2**31))
def test_nothing_more_can_be_shown(table, k, seed):
    """After giving back, showing any one blank cell of one record leaves somebody with fewer than k matches."""
    codes, rows = table
    d = codes.shape[1]
    if rows.sum() < k:
        return
    sets, cost = chosen_sets(d, seed), np.ones(d)
    blanks = given_back(codes, wildcard_blanked(codes, rows, k, sets, cost), k, sets, cost).blanks
    shown = shown_of(codes, blanks)
    truth = np.repeat(codes[blanks.combination], blanks.rows, axis=0)
    inside = np.unique(np.concatenate(sets))
    for i, j in zip(*np.nonzero(shown == BLANK)):
        if j in inside:
            more = shown.copy()
            more[i, j] = truth[i, j]
            assert min(least(more, one, could_be) for one in sets) < k


@settings(unhurried, max_examples=25)
@given(tiny, st.integers(2, 3))
def test_the_optimum_is_that_of_brute_force(table, k):
    codes, rows = table
    n, d = codes.shape
    if n < k:
        return
    cost, sets = np.array([1.0, 1.5])[:d], [np.arange(d)]
    fewest = {same: np.inf, could_be: np.inf}
    for blank in product((False, True), repeat=n * d):
        mask = np.array(blank).reshape(n, d)
        shown = np.where(mask, BLANK, codes)
        for agree in fewest:
            if (mask * cost).sum() < fewest[agree] and least(shown, np.arange(d), agree) >= k:
                fewest[agree] = (mask * cost).sum()
    strict = classes_blanked(codes, rows, Demand(k), cost, np.zeros(n))
    loose = wildcard_blanked(codes, rows, k, sets, cost)
    for search, known, agree in ((fewest_classes, strict, same), (fewest_wildcard, loose, could_be)):
        best = search(codes, rows, k, sets, cost, known)
        assert best.proven(cost)
        assert best.blanks.priced(cost) == pytest.approx(fewest[agree])
        assert whole(best.blanks, rows)
        assert least(shown_of(codes, best.blanks), np.arange(d), agree) >= k


@unhurried
@given(tables, st.integers(0, 2**31))
def test_the_check_counts_what_matches(table, seed):
    """Against holding every record against every other; few and many combinations of a mask are counted in different ways."""
    codes, rows = table
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random(codes.shape) < rng.random() * 0.6, -1, codes) + 1
    patterns, number = np.unique(codes, axis=0, return_inverse=True)
    many = np.bincount(number.reshape(-1), rows).astype(np.int64)
    levels = [np.arange(int(codes.max(initial=0)) + 1) == 0 for _ in range(codes.shape[1])]
    shown = np.repeat(patterns - 1, many, axis=0)
    for few in (0, 8):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("shoal.checks.wildcards.FEW", few)
            assert fewest_matches(patterns.astype(np.int64), levels, many) == least(shown, np.arange(codes.shape[1]), could_be)
