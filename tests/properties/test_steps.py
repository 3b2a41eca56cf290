"""Steps one after the other: every pair of methods gives a release whose promises hold, or a sentence; never a traceback, never cells of cells."""

import numpy as np
import pytest

import shoal
from shoal.checks.tables import check_release
from shoal.errors import ParameterError, ShoalError
from shoal.methods import AntiUnification, CTca, KactusRefined, Mdav, Mondrian, Noise, RankSwapping, TopCoding
from shoal.registry import known, make
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps
from shoal.table import Table

NUMBERS, MIXED = ("age", "visits"), ("age", "sex")
SECOND = {
    "other columns": ("rooms", "cars"),
    "other columns, categories too": ("rooms", "zip"),
    "one column of the first": ("visits", "rooms"),
    "the same columns": NUMBERS,
}


def _table(rows: int = 40) -> Table:
    rng = np.random.default_rng(3)
    numbers = {name: rng.integers(0, most, rows).tolist() for name, most in (("age", 30), ("visits", 6), ("rooms", 9), ("cars", 4))}
    words = {
        name: rng.choice(list(letters), rows).tolist() for name, letters in (("sex", "mf"), ("zip", "uvw"), ("ill", "ny"), ("paid", "ny"))
    }
    return Table.of(numbers | words)


TABLE = _table()
ROLES = Roles(quasi=("age", "visits", "rooms", "cars", "sex", "zip"), confidential=("ill",), target="paid").check(TABLE)


@pytest.mark.parametrize("first", known("method"))
def test_any_method_after_any_other(first):
    for second in known("method"):
        for mine, columns in [(NUMBERS, columns) for columns in SECOND.values()] + [(MIXED, ("rooms", "zip")), (MIXED, MIXED)]:
            steps = [make("method", first, {"columns": mine}), make("method", second, {"columns": columns})]
            try:
                release = apply_steps(TABLE, ROLES, steps, 7)
            except ShoalError:  # a sentence; anything else fails here
                continue
            assert all(one.holds for one in check_release(release)), (second, columns)
            for column in release.table.cells:  # nothing was written as a cell twice
                texts = release.table.column(column).to_pylist()
                assert not any(isinstance(text, str) and "\\" in text for text in texts), (second, column)


CELLS = [name for name in known("method") if name not in ("anti-unification",)]


@pytest.mark.parametrize("later", CELLS)
def test_a_column_of_cells_is_not_protected_again(later):
    steps = [Mondrian(k=3, columns=NUMBERS), make("method", later, {"columns": ("visits", "rooms")})]
    with pytest.raises(
        ParameterError, match=f"Step 2, {later}, looks at column 'visits', which step 1, mondrian, has left as sets"
    ) as refused:
        apply_steps(TABLE, ROLES, steps, 7)
    assert refused.value.about == "visits"


@pytest.mark.parametrize(
    ("column", "later"),
    [
        ("ill", Mondrian(k=3, l=2, columns=NUMBERS)),
        ("ill", CTca(k=3, l=2, columns=NUMBERS)),
        ("ill", AntiUnification(k=3, columns=NUMBERS)),
        ("paid", KactusRefined(k=3, columns=NUMBERS)),
        ("zip", CTca(k=3, labels="zip", columns=NUMBERS)),
    ],
)
def test_nor_are_groups_formed_by_it(column, later):
    with pytest.raises(ParameterError, match=f"looks at column '{column}', which step 1, mondrian"):
        apply_steps(TABLE, ROLES, [Mondrian(k=3, columns=("cars", column)), later], 7)


def test_a_confidential_column_of_cells_that_nothing_looks_at_is_no_hindrance():
    release = apply_steps(TABLE, ROLES, [Mondrian(k=3, columns=("ill",)), Mondrian(k=3, columns=NUMBERS)], 7)
    assert [step.columns for step in release.made_by] == [("ill",), NUMBERS]
    assert len(release.promises) == 2


def test_a_release_of_cells_is_not_protected_a_second_time():
    first = shoal.protect(TABLE, "mondrian", k=3, roles=ROLES)
    with pytest.raises(ParameterError, match="column 'age', which an earlier release has left as sets"):
        shoal.protect(first.table, "mondrian", k=3, roles=ROLES)


def test_values_may_be_changed_before_they_are_generalized():
    release = apply_steps(TABLE, ROLES, [Noise(p=0.5, columns=NUMBERS), Mondrian(k=3, columns=("age", "visits", "sex"))], 7)
    assert {promise.columns for promise in release.promises} == {("age", "visits", "sex")}


def test_a_hierarchy_is_not_followed_over_values_that_it_does_not_have():
    """They were taken for missing, and released as missing."""
    table = Table.of({"age": list(range(1, 9))})
    roles = Roles(quasi=("age",), hierarchies={"age": [[str(i), f"g{i // 4}"] for i in range(1, 9)]}).check(table)
    with pytest.raises(
        ParameterError, match="Step 2, mondrian, follows the hierarchy of column 'age', and step 1, top-coding, has made 1 value"
    ):
        apply_steps(table, roles, [TopCoding(limit={"age": 4.5}), Mondrian(k=2)], 7)
    made = apply_steps(table, roles, [TopCoding(limit={"age": 4}), Mondrian(k=2)], 7)
    assert None not in made.table.column("age").to_pylist()


def test_means_that_are_numbers_may_be_changed_again():
    mixed = Mondrian(k=3, columns=("age", "sex"), publish="mean")
    release = apply_steps(TABLE, ROLES, [mixed, RankSwapping(columns=("age",))], 7)
    assert release.table.kind("age") == "number"


def test_a_list_of_patterns_comes_last_and_has_every_column_that_was_protected():
    listed = AntiUnification(k=3, columns=("sex", "zip"))
    with pytest.raises(ParameterError, match="Step 2, mdav, comes after step 1, anti-unification, whose rows are patterns"):
        apply_steps(TABLE, ROLES, [listed, Mdav(k=3, columns=NUMBERS)], 7)
    with pytest.raises(ParameterError, match="Step 1, mondrian, protects column 'age', and step 2, anti-unification, leaves it out"):
        apply_steps(TABLE, ROLES, [Mondrian(k=3, columns=NUMBERS), listed], 7)
    both = AntiUnification(k=3, columns=("age", "visits", "sex"))
    assert not apply_steps(TABLE, ROLES, [Mdav(k=3, columns=NUMBERS), both], 7).promises


def test_columns_that_do_not_leave_are_not_protected():
    roles = Roles(quasi=("age",)).check(TABLE)
    with pytest.raises(ParameterError, match="mdav: column 'rooms' is not released, having no role"):
        apply_steps(TABLE, roles, [Mdav(k=3, columns=("age", "rooms"))], 7)
    two = apply_steps(TABLE, Roles(quasi=NUMBERS).check(TABLE), [Noise(columns=("age",)), Noise(columns=("visits",))], 7)
    assert two.table.columns == NUMBERS
