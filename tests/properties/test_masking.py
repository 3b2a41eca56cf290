"""Whatever the table, mixed, with missing values and duplicates: promises hold, no row is lost, and what was not named stays."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.kernels.groups import class_sizes
from shoal.measures import SSE
from shoal.methods import METHODS, IndividualRanking, Mdav, MdavLarge, Noise, PcaProjection, RankSwapping, VMdav, ZProjection
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps
from shoal.table import Table

unhurried = settings(deadline=None, max_examples=40, derandomize=True)  # the first example pays for compiling
LEVELS = ("none", "low", "mid", "high")
TAKES = {
    "mdav": ("num", "whole", "day", "level", "city"),
    "mdav-large": ("num", "whole", "day", "level", "city"),
    "v-mdav": ("num", "whole", "day", "level", "city"),
    "individual-ranking": ("num", "whole", "day", "level"),
    "z-projection": ("num", "whole", "day", "level"),
    "pca-projection": ("num", "whole", "day", "level"),
    "rank-swapping": ("num", "whole", "day", "level"),
    "noise": ("num", "whole", "day"),
}


def mixed(rows, missing, distinct, seed):
    """Numbers, whole numbers with ties, dates, levels and categories; a share of each cell missing; rows drawn from a few distinct ones."""
    rng = np.random.default_rng(seed)
    pick = rng.integers(0, distinct, rows) if distinct else np.arange(rows)
    base = {
        "num": np.exp(rng.normal(size=max(rows, distinct)))[pick],
        "whole": rng.integers(-3, 4, max(rows, distinct))[pick],
        "day": rng.integers(0, 20_000, max(rows, distinct))[pick].astype("int32"),
        "level": rng.choice(LEVELS, max(rows, distinct))[pick],
        "city": rng.choice(["a", "b", "c"], max(rows, distinct))[pick],
    }
    columns = {}
    for name, values in base.items():
        array = pa.array(values, mask=rng.random(rows) < missing)
        columns[name] = array.cast(pa.date32()) if name == "day" else array
    columns["untouched"] = pa.array([f"{i % 7}" for i in range(rows)])
    columns["number"] = pa.array(np.arange(rows) % 5)
    return Table.of(pa.table(columns))


tables = st.builds(mixed, st.integers(1, 70), st.sampled_from([0.0, 0.0, 0.1, 0.5]), st.sampled_from([0, 0, 3, 12]), st.integers(0, 2**31))
complete = st.builds(mixed, st.integers(1, 70), st.just(0.0), st.sampled_from([0, 0, 3, 12]), st.integers(0, 2**31))
ks = st.integers(2, 8)
seeds = st.integers(0, 2**31)


def protected(method, table, quasi, seed=0):
    roles = Roles(quasi=quasi, ordinal={"level": LEVELS}, other=("untouched",), rest="release").check(table)
    return method.protect(table, roles, chance_for(seed, "test")), roles


def configured(name, k, seed):
    """A method of that name, k where it has one, and one of its choices each."""
    odd = seed % 2
    return {
        "mdav": lambda: Mdav(k=k, refine="swap" if odd else "none", standardize="none" if seed % 3 == 0 else "deviation"),
        "mdav-large": lambda: MdavLarge(k=k, block_rows=10 if odd else 300),
        "v-mdav": lambda: VMdav(k=k, gamma=1.1 if odd else 0.2),
        "individual-ranking": lambda: IndividualRanking(k=k, grouping="optimal" if odd else "fixed"),
        "z-projection": lambda: ZProjection(k=k, grouping="optimal" if odd else "fixed"),
        "pca-projection": lambda: PcaProjection(k=k, refine="swap" if odd else "none"),
        "rank-swapping": lambda: RankSwapping(p=1 + seed % 100),
        "noise": lambda: Noise(p=0.3, correlation="data" if odd else "none"),
    }[name]()


def rows_of(table, columns):
    return list(zip(*(table.column(column).to_pylist() for column in columns)))


def test_every_name_here_is_registered():
    assert set(TAKES) <= {method.name for method in METHODS}


@pytest.mark.parametrize("name", TAKES)
@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_promises_hold_and_nothing_else_changes(name, table, k, seed):
    k = min(k, len(table))
    if k < 2:
        return
    before = table.arrow
    quasi = TAKES[name][: 1 + seed % len(TAKES[name])]
    release, _ = protected(configured(name, k, seed), table, quasi, seed)
    # no row lost, none doubled
    assert len(release) == len(table)
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    # what is promised holds, counted in a dictionary
    for promise in release.promises:
        assert promise.what == "k-anonymity"
        assert min(Counter(rows_of(release.table, promise.columns)).values()) >= promise.value
    assert all(found.holds for found in check_release(release))
    if "k-anonymity" in configured(name, k, seed).guarantees:
        assert [(promise.value, promise.columns) for promise in release.promises] == [(k, quasi)]
    # columns not named go along with their row, and types stay but for whole numbers that were averaged
    source = table.take(release.source_row)
    for column in table.columns:
        if column not in quasi:
            assert release.table.column(column).equals(source.column(column))
        elif release.table.column(column).type != source.column(column).type:
            assert column == "whole"
    assert release.table.columns == table.columns
    assert table.arrow.equals(before)


@pytest.mark.parametrize("name", TAKES)
@unhurried
@given(table=tables, seed=seeds)
def test_the_same_seed_gives_the_same_release(name, table, seed):
    if len(table) < 3:
        return
    first, second = (protected(configured(name, 3, seed), table, TAKES[name], seed)[0] for _ in range(2))
    assert first.table.arrow.equals(second.table.arrow)
    assert first.source_row.tolist() == second.source_row.tolist()


@unhurried
@given(table=tables, p=st.floats(0.01, 100), seed=seeds)
def test_rank_swapping_permutes_values_within_its_window(table, p, seed):
    quasi = TAKES["rank-swapping"]
    release, _ = protected(RankSwapping(p=p), table, quasi, seed)
    source = table.take(release.source_row)
    for column in quasi:
        before, after = source.column(column).to_pylist(), release.table.column(column).to_pylist()
        assert Counter(before) == Counter(after)
        assert [value is None for value in before] == [value is None for value in after]
        known = [value for value in before if value is not None]
        if not known:
            continue
        order = (lambda v: LEVELS.index(v)) if column == "level" else (lambda v: v)
        ranked = sorted(map(order, known))
        window = max(1, round(p / 100 * len(known)))
        for old, new in zip(before, after):
            if old is not None:
                # equal values share a range of ranks; some rank of one is within the window of some rank of the other
                low, high = sorted((order(old), order(new)))
                assert np.searchsorted(ranked, high, "left") - (np.searchsorted(ranked, low, "right") - 1) <= window


@unhurried
@given(table=tables, k=ks)
def test_mdav_groups_have_k_to_2k_minus_1_rows(table, k):
    k = min(k, len(table))
    if k < 2:
        return
    # One column differs in every row, so that no two groups have the same mean and the classes are the groups.
    distinct = table.with_columns({"num": pa.array(np.random.default_rng(len(table)).normal(size=len(table)))})
    for quasi in (("num", "whole"), ("num", "whole", "level", "city")):
        release, _ = protected(Mdav(k=k), distinct, quasi)
        sizes = class_sizes([release.table.codes(column) for column in quasi])
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1


@unhurried
@given(table=complete, k=ks)
def test_refinement_never_raises_the_sum_of_squares(table, k):
    k = min(k, len(table))
    if k < 2:
        return
    quasi = ("num", "whole")
    for plain, refined in ((Mdav(k=k), Mdav(k=k, refine="swap")), (VMdav(k=k), VMdav(k=k, refine="swap"))):
        losses = []
        for method in (plain, refined):
            release, roles = protected(method, table, quasi)
            losses.append(SSE().measure(table, release, roles).value or 0.0)
        assert losses[1] <= losses[0] * (1 + 1e-9) + 1e-9


@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_steps_after_each_other_keep_track_of_rows(table, k, seed):
    k = min(k, len(table))
    if k < 2:
        return
    roles = Roles(quasi=("num", "whole", "level", "city"), ordinal={"level": LEVELS}, other=("untouched",), rest="release").check(table)
    steps = [Mdav(k=k, columns=("num", "city")), RankSwapping(p=20, columns=("whole",)), Mdav(k=k, columns=("level",))]
    release = apply_steps(table, roles, steps, seed)
    source = table.take(release.source_row)
    for column in ("day", "untouched", "number"):
        assert release.table.column(column).equals(source.column(column))
    assert Counter(release.table.column("whole").to_pylist()) == Counter(table.column("whole").to_pylist())
    assert [promise.columns for promise in release.promises] == [("num", "city"), ("level",)]
    assert all(found.holds for found in check_release(release))


@unhurried
@given(table=tables, seed=seeds)
def test_noise_changes_every_known_cell_and_no_missing_one(table, seed):
    release, _ = protected(Noise(p=0.5), table, ("num",), seed)
    before, after = table.number("num")[release.source_row], release.table.number("num")
    assert np.array_equal(np.isnan(before), np.isnan(after))
    known = before[~np.isnan(before)]
    if len(np.unique(known)) > 1:
        assert (known != after[~np.isnan(after)]).all()
    else:
        assert np.array_equal(known, after[~np.isnan(after)])
