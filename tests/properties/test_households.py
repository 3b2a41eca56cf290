"""What must hold for households of any table: kept numbers have enough alike, counted the plain way, and nobody is told by chance."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.kernels.telling import told
from shoal.kernels.together import alike, is_shared
from shoal.methods import Mdav, Mondrian
from shoal.promises import HOUSEHOLD_K
from shoal.roles import Roles
from shoal.runs.leaves import what_leaves
from shoal.runs.recipe import apply_steps
from shoal.table import Table


@st.composite
def tables(draw):
    """Households of 1 to 4, few values, so that some look alike; rent belongs to the household, most often."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=3, max_size=14))
    homes = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rent = rng.integers(0, 3, len(sizes))[homes].astype(float)
    rent[rng.random(len(homes)) < draw(st.sampled_from([0.0, 0.02]))] = 9
    columns = {
        "age": rng.integers(1, 4, len(homes)),
        "sex": rng.choice(["f", "m"], len(homes)),
        "home": [None if rng.random() < 0.03 else int(home) for home in homes],
        "rent": rent,
        "ill": rng.choice(["n", "y"], len(homes)),
    }
    return Table.of(columns)


def looks(table, columns):
    homes = defaultdict(list)
    for home, row in zip(table.column("home").to_pylist(), zip(*(table.column(c).to_pylist() for c in columns))):
        if home is not None:
            homes[home].append(repr(row))
    return Counter(tuple(sorted(rows)) for rows in homes.values())


def shared_by_hand(table, column):
    homes = defaultdict(list)
    for home, value in zip(table.column("home").to_pylist(), table.column(column).to_pylist()):
        if home is not None:
            homes[home].append(value)
    several = [values for values in homes.values() if len(values) > 1]
    return bool(several) and sum(len(set(values)) == 1 for values in several) >= 0.95 * len(several)


@settings(max_examples=60)
@given(tables(), st.integers(2, 4), st.sampled_from([Mondrian(k=2), Mdav(k=2, columns=("age",))]))
def test_no_kept_number_has_fewer_than_k_alike(table, k, method):
    roles = Roles(quasi=("age", "sex"), household=("home",), weight=("rent",), confidential=("ill",), link={"household": k}).check(table)
    if len(table) < 2:
        return
    release = apply_steps(table, roles, [method], 5)
    after = release.table
    shared = [column for column in ("rent", "ill") if shared_by_hand(after, column)]
    assert min(looks(after, ("age", "sex", *shared)).values(), default=k) >= k
    promised = [one for one in release.promises if one.kind is HOUSEHOLD_K]
    assert bool(promised) == (not after.missing("home").all())
    assert all(one.holds for one in check_release(release))
    before = [table.column("home").to_pylist()[row] for row in release.source_row.tolist()]
    number = after.column("home").to_pylist()
    assert len({pair for pair in zip(before, number) if None not in pair}) == len(set(number) - {None})  # fresh numbers, one to one
    lost = np.array([home is not None for home in before]) & after.missing("home")
    emptied = set(release.made_by[-1].columns) - {"home"}
    assert all(after.missing(column)[lost].all() for column in emptied)
    for home in {one for one, gone in zip(before, lost.tolist()) if gone}:  # a household loses its number whole
        assert all(lost[i] for i, one in enumerate(before) if one == home)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30))
def test_alike_counts_multisets(rows):
    homes, first, second = (np.array(side) for side in zip(*rows))
    members = defaultdict(list)
    for home, *row in rows:
        if home >= 0:
            members[home].append(tuple(row))
    count = Counter(tuple(sorted(one)) for one in members.values())
    found = alike([first, second], homes)
    assert found.tolist() == [count[tuple(sorted(members[home]))] if home in members else 0 for home in range(len(found))]
    assert len(found) == max(members, default=-1) + 1
    assert is_shared(first, homes) == shared_by_hand(Table.of({"home": [None if h < 0 else h for h in homes.tolist()], "x": first}), "x")


@settings(max_examples=80)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4)), min_size=1, max_size=25), st.sampled_from([1 << 18, 0]))
def test_told_is_leave_one_out(rows, dense):
    import shoal.kernels.telling as telling

    groups, values = (np.array(side) for side in zip(*rows))
    right = 0.0
    for i, (group, value) in enumerate(rows):
        others = Counter(v for j, (g, v) in enumerate(rows) if j != i and g == group)
        commonest = [v for v, n in others.items() if n == max(others.values())]
        right += (value in commonest) / max(len(commonest), 1)
    before, telling.DENSE = telling.DENSE, dense
    try:
        assert np.isclose(told(groups, values), right / len(rows))
    finally:
        telling.DENSE = before


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_independent_columns_are_not_named(seed):
    rng = np.random.default_rng(seed)
    rows = 300
    table = Table.of(
        {
            "age": rng.integers(0, 90, rows),
            "region": rng.choice(["n", "s", "e", "w"], rows, p=[0.85, 0.05, 0.05, 0.05]),
            "amount": rng.normal(0, 1, rows).round(1),
            "word": rng.choice(list("abcdefgh"), rows),
            "zip": rng.integers(0, 150, rows).astype(str),
        }
    )
    roles = Roles(quasi=("age", "region"), confidential=("word",), other=("amount", "zip")).check(table)
    release = apply_steps(table, roles, [Mondrian(k=3)], 1)
    assert what_leaves(table, replace(release, leaves=None), roles) == ()
