"""Whatever the table: each confidential column has l real values in every class, and where rows of a person differ each class has k persons."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.errors import DataError
from shoal.methods import AntiUnificationSafe, BalancedMondrian, CTca, InfogainMondrian, Kactus, KactusRefined, Mondrian
from shoal.promises import ENTROPY_L_DIVERSITY, K_ANONYMITY, L_DIVERSITY
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps
from shoal.table import Table
from shoal.testing_tables import InParts

METHODS = {
    "mondrian": Mondrian,
    "infogain-mondrian": InfogainMondrian,
    "balanced-mondrian": BalancedMondrian,
    "kactus": Kactus,
    "kactus-refined": KactusRefined,
    "anti-unification-safe": AntiUnificationSafe,
    "by patterns": lambda **words: AntiUnificationSafe(order="fewest-first", **words),
    "c-tca": CTca,
}
GONE = {None, -9}


def made(seed, rows):
    """Two columns to protect and three confidential ones, some of whose cells are missing or a code for it."""
    rng = np.random.default_rng(seed)
    ill = [None if rng.random() < 0.3 else int(rng.integers(0, 4)) for _ in range(rows)]
    pay = [-9 if rng.random() < 0.3 else int(rng.integers(1, 4)) for _ in range(rows)]
    town = [f"town {i}" for i in rng.integers(0, 3, rows)]
    return {
        "x": rng.integers(0, 12, rows).tolist(),
        "y": [("low", "middle", "high")[i] for i in rng.integers(0, 3, rows)],
        "ill": ill,
        "pay": pay,
        "town": town,
        "class": [("one", "two")[i] for i in rng.integers(0, 2, rows)],
    }


def released_classes(release, columns):
    found = defaultdict(list)
    cells = zip(*(release.table.column(column).to_pylist() for column in columns))
    for cell, row in zip(cells, release.source_row.tolist()):
        found[cell].append(row)
    return found.values()


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(12, 60), k=st.integers(2, 5), l=st.integers(1, 3), entropy=st.sampled_from([1.0, 1.7]))
def test_every_promise_about_every_confidential_column_holds(name, seed, rows, k, l, entropy):  # noqa: E741
    columns = made(seed, rows)
    table = Table.of(columns)
    roles = Roles(("x", "y"), ("ill", "pay", "town"), other=("class",), target="class", missing={"pay": ("-9",)}).check(table)
    words = {"k": k, "l": l} | ({} if name == "c-tca" else {"entropy": entropy})
    if name in ("mondrian", "by patterns") and seed % 2:
        words["t"] = 0.4
    try:
        release = METHODS[name](**words).protect(table, roles, chance_for(seed))
    except DataError:
        values = [set(columns[column]) - GONE for column in roles.confidential]
        assert min(map(len, values)) < 3 or len(set(columns["class"])) < 2  # else the whole table can keep what is asked
        return
    assert all(one.holds for one in check_release(release)), check_release(release)
    of_kind = [(one.kind, one.about) for one in release.promises]
    assert len(of_kind) == len(set(of_kind)) == 1 + 3 * ((l > 1) + ("entropy" in words and entropy > 1) + ("t" in words))
    for mine in released_classes(release, ("x", "y")):
        assert len(mine) >= k
        for column in roles.confidential:
            values = [columns[column][row] for row in mine if columns[column][row] not in GONE]
            share = np.unique(values, return_counts=True)[1] / max(len(values), 1)
            if (L_DIVERSITY, column) in of_kind:
                assert len(share) >= l
            if (ENTROPY_L_DIVERSITY, column) in of_kind:
                assert len(share)
                assert np.exp(-(share * np.log(share)).sum()) >= entropy - 1e-9


@pytest.mark.parametrize("method", [Mondrian, InfogainMondrian, BalancedMondrian], ids=lambda method: method.name)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(12, 80), k=st.integers(2, 5), l=st.integers(1, 2), persons=st.integers(4, 30))
def test_no_class_has_fewer_than_k_persons(method, seed, rows, k, l, persons):  # noqa: E741
    columns, rng = made(seed, rows), np.random.default_rng(seed)
    whose = rng.integers(0, persons, rows)
    columns["ill"] = [None if rng.random() < 0.2 else int(person % 3) for person in whose]  # one real value a person
    columns["who"] = [f"person {i}" for i in whose]
    table = Table.of(columns)
    roles = Roles(("x", "y"), ("ill",), person=("who",), other=("class",), target="class").check(table)
    try:
        release = method(k=k, l=l).protect(table, roles, chance_for(seed))
    except DataError:
        assert len(set(whose)) < k or len(set(columns["ill"]) - {None}) < l or len(set(columns["class"])) < 2
        return
    assert {one.unit for one in release.promises} == {"persons"}
    assert release.promises[0].kind == K_ANONYMITY
    assert all(one.holds for one in check_release(release))
    for mine in released_classes(release, ("x", "y")):
        assert len({whose[row] for row in mine}) >= k
        if l > 1:
            assert len({columns["ill"][row] for row in mine} - {None}) >= l
    cells = dict(zip(release.source_row.tolist(), release.table.column("x").to_pylist()))
    parted = method(k=k, l=l).protect(InParts(table, 3), roles, chance_for(seed))
    assert dict(zip(parted.source_row.tolist(), parted.table.column("x").to_pylist())) == cells


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), rows=st.integers(20, 60))
def test_persons_of_one_row_each_are_rows(seed, rows):
    columns = made(seed, rows) | {"who": [f"person {i}" for i in range(rows)]}
    table = Table.of(columns)
    alone = Roles(("x", "y"), person=("who",)).check(table)
    by_rows = Roles(("x", "y"), identifier=("who",)).check(table)
    counted = Mondrian(k=3).protect(table, alone, chance_for(1))
    plain = Mondrian(k=3).protect(table, by_rows, chance_for(1))
    assert sorted(map(sorted, released_classes(counted, "xy"))) == sorted(map(sorted, released_classes(plain, "xy")))
    spread = apply_steps(table, alone, [Mondrian(k=3)], 1)
    assert sorted(map(sorted, released_classes(spread, "xy"))) == sorted(map(sorted, released_classes(plain, "xy")))
