"""Whatever the table: patterns are those of the algorithm as it is written, and no group is below k, l, entropy or t."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.errors import ParameterError
from shoal.kernels.anti_unification import find_patterns, pattern_groups
from shoal.kernels.cells import group_ranges
from shoal.kernels.masks import Demand, mask_groups
from shoal.methods import AntiUnification, AntiUnificationSafe
from shoal.randomness import chance_for
from shoal.roles import Roles
from tests.properties.test_generalization import LEVELS, QUASI, allows, diversity_of, ks, rows_of, seeds, tables

unhurried = settings(deadline=None, max_examples=60, derandomize=True)


def small(rows, columns, values, classes, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 1 + rng.integers(0, values, columns), (rows, columns))
    return codes, rng.integers(0, classes, rows)


smalls = st.builds(small, st.integers(1, 40), st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.integers(0, 2**31))
conditions = st.lists(st.sampled_from("<>"), min_size=1, max_size=3)


def as_written(codes, classes, k, keep, conditions, passes):
    """Analyze-partition and Analyze-set, word for word: patterns as (class, {column: value})."""

    def analyze_set(rows, condition):
        au = {j: codes[rows[0]][j] for j in range(len(codes[0])) if len({codes[r][j] for r in rows}) == 1}
        if len(au) >= keep:
            patterns.add((classes[rows[0]], tuple(sorted(au.items()))))
            return set(rows)
        sets = {j: {codes[r][j] for r in rows} for j in range(len(codes[0])) if j not in au}
        chosen = (min if condition == "<" else max)(len(values) for values in sets.values())
        found = set()
        for j, values in sets.items():
            for value in values if len(values) == chosen else ():
                part = [r for r in rows if codes[r][j] == value]
                found |= analyze_set(part, condition) if len(part) >= k else set()
        return found

    codes, classes, patterns, left = codes.tolist(), classes.tolist(), set(), set(range(len(codes)))
    for condition in conditions:
        while True:
            found = set()
            for label in set(classes):
                rows = [r for r in sorted(left) if classes[r] == label]
                found |= analyze_set(rows, condition) if len(rows) >= k else set()
            left -= found
            if passes == "once" or not found:
                break
    return patterns, left


@unhurried
@given(smalls, st.integers(1, 6), st.integers(1, 5), conditions, st.sampled_from(["once", "until-nothing"]), seeds)
def test_patterns_are_those_of_the_algorithm(data, k, keep, conditions, passes, seed):
    codes, classes = data
    codes, keep = codes * (1, 300)[seed % 2], min(keep, codes.shape[1])  # codes of a byte, and of more
    found = find_patterns(codes, classes, k, keep, conditions, passes, np.random.default_rng(seed).random(len(codes)))
    expected, left = as_written(codes, classes, k, keep, conditions, passes)
    ours = [(classes[r], tuple((j, codes[r, j]) for j in np.flatnonzero(s))) for s, r in zip(found.shown, found.row)]
    assert len(ours) == len(set(ours))
    assert set(ours) == expected
    assert set(np.flatnonzero(found.satisfied == 0)) == left
    for (label, pattern), support in zip(ours, found.support):
        rows = [r for r in range(len(codes)) if classes[r] == label and all(codes[r, j] == v for j, v in pattern)]
        assert support == len(rows) >= k
    assert found.satisfied.sum() == found.support.sum()


@unhurried
@given(smalls, st.integers(1, 6), st.permutations(range(40)), seeds)
def test_the_order_of_rows_changes_no_pattern(data, k, order, seed):
    codes, classes = data
    order = [i for i in order if i < len(codes)]
    listed = []
    for c, y in ((codes, classes), (codes[order], classes[order])):
        found = find_patterns(c, y, k, max(1, c.shape[1] - 2), ["<", ">"], "once", np.zeros(len(c)))
        listed.append(
            sorted(
                (y[r], *(c[r, j] if s[j] else -1 for j in range(c.shape[1])), n) for s, r, n in zip(found.shown, found.row, found.support)
            )
        )
    assert listed[0] == listed[1]


@pytest.mark.parametrize("order", ["masks", "<", ">"])
@settings(unhurried, max_examples=100)
@given(smalls, st.integers(1, 8), st.sampled_from(["k", "l", "entropy", "t", "ordered t"]), seeds)
def test_no_group_falls_short(order, data, k, asks, seed):
    codes, classes = data
    ill = np.unique(classes, return_inverse=True)[1].astype(np.int32)
    share = np.bincount(ill) / len(ill)
    effective = math.exp(-(share * np.log(share)).sum())
    demand = {
        "k": Demand(min(k, len(codes))),
        "l": Demand(min(k, len(codes)), ill, len(share)),
        "entropy": Demand(min(k, len(codes)), ill, 1, effective),
        "t": Demand(min(k, len(codes)), ill, 1, 1.0, 0.2),
        "ordered t": Demand(min(k, len(codes)), ill, 1, 1.0, 0.2, True),
    }[asks]
    draws = np.random.default_rng(seed).random(len(codes))
    if order == "masks":
        groups = mask_groups(codes, demand, draws)
    else:
        groups = pattern_groups(codes, demand, ["<", ">"] if order == "<" else [">", "<"], "until-nothing", draws)
    assert (groups >= 0).all()
    for g in range(groups.max() + 1):
        rows = np.flatnonzero(groups == g)
        assert len(rows) >= demand.k
        if asks == "k":
            continue
        inside = np.bincount(ill[rows], minlength=len(share)) / len(rows)
        assert (inside > 0).sum() >= demand.l
        assert math.exp(-sum(p * math.log(p) for p in inside if p)) >= demand.entropy - 1e-9
        if asks == "t":
            assert np.abs(inside - share).sum() / 2 <= 0.2 + 1e-9
        if asks == "ordered t":
            assert np.abs(np.cumsum(inside - share)).sum() / max(len(share) - 1, 1) <= 0.2 + 1e-9


@unhurried
@given(smalls, st.integers(2, 5), seeds)
def test_k_equal_rows_are_suppressed_only_where_they_take_in_a_leftover(data, k, seed):
    codes, _ = data
    k = min(k, len(codes))
    groups = mask_groups(codes, Demand(k), np.random.default_rng(seed).random(len(codes)))
    low, high = group_ranges(codes, groups)
    suppressed = (low != high).any(axis=1)[groups]
    alike = Counter(map(tuple, codes.tolist()))
    often = np.array([alike[tuple(row)] >= k for row in codes.tolist()])
    widened = {groups[i] for i in np.flatnonzero(often & suppressed)}
    assert sum(1 for i in np.flatnonzero(~often) if groups[i] in widened) < k or not widened


@pytest.mark.parametrize("order", ["least-suppressed", "fewest-first", "most-first"])
@settings(unhurried, max_examples=80)
@given(tables, ks, seeds)
def test_safe_releases_keep_every_promise_and_every_cell_is_true(order, table, k, seed):
    missing = ("ignored", "counted")[seed // 11 % 2]
    different, effective = diversity_of(table.column("ill").to_pylist(), missing)
    words = {
        "missing": missing,
        "k": min(k, len(table)),
        "numeric": ("intervals", "bins", "values")[seed % 3],
        "publish": ("suppressed", "sets", "counts")[seed // 3 % 3],
    }
    asks = seed // 9 % 4
    if asks == 1:
        words["l"] = 1 + seed // 36 % different
    elif asks == 2:
        words["entropy"] = 1 + (effective - 1) * (seed // 36 % 5) / 4
    elif asks == 3:
        words["t"] = (0.1, 0.3, 0.7)[seed // 36 % 3]
    roles = Roles(quasi=QUASI, confidential=("ill",), target="sick", ordinal={"level": LEVELS}).check(table)
    release = AntiUnificationSafe(order=order, **words).protect(table, roles, chance_for(seed, "test"))
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    assert all(found.holds for found in check_release(release))
    assert min(Counter(rows_of(release.table, QUASI)).values()) >= words["k"]
    for column in QUASI:
        texts = [None if v is None else str(v).removesuffix(".000000") for v in table.column(column).cast("string").to_pylist()]
        for row, text in zip(release.source_row, release.table.column(column).to_pylist()):
            assert allows(text, texts[row])


@unhurried
@given(tables, st.integers(2, 6), st.integers(0, 9), conditions, seeds)
def test_lists_say_what_they_stand_for(table, k, limit, conditions, seed):
    quasi = ("whole", "day", "level", "city", "flag")
    roles = Roles(quasi=quasi, confidential=("ill", "sick"), ordinal={"level": LEVELS}).check(table)
    method = AntiUnification(k=min(k, len(table)), limit=limit, conditions=conditions, numeric=("bins", "values")[seed % 2])
    try:
        release = method.protect(table, roles, chance_for(seed, "test"))
    except ParameterError:  # nothing is found, which known answers look at
        return
    assert release.promises == ()
    assert any("discarded" in warning and "%" in warning for warning in release.warnings)
    assert len(release) == len(set(rows_of(release.table, (*quasi, "ill", "sick"))))
    texts = {c: [None if v is None else str(v).removesuffix(".000000") for v in table.column(c).cast("string").to_pylist()] for c in quasi}
    confidential = rows_of(table, ("ill", "sick"))
    for row, *cells, support, ill, sick in zip(
        release.source_row, *(release.table.column(c).to_pylist() for c in (*quasi, "support", "ill", "sick"))
    ):
        who = [
            i
            for i, values in enumerate(confidential)
            if values == (ill, sick) and all(texts[c][i] is None if t is None else allows(t, texts[c][i]) for c, t in zip(quasi, cells))
        ]
        assert len(who) == support >= method.k
        assert row in who
