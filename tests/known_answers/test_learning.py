"""Models trained on releases: what is measured, by hand and by scikit-learn."""

from typing import Any, ClassVar

import numpy as np
import pytest

from shoal.contracts import quiet
from shoal.errors import DataError, ParameterError
from shoal.methods import Kactus, Mondrian
from shoal.params import Params
from shoal.randomness import rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.learning import LEARNERS, REGRESSORS, decision_tree, halves, learn, matrices
from shoal.table import Table


def line(rows: int = 200) -> Table:
    """y is 3 x and a little more, plus 50 in the south."""
    x = np.arange(rows) * 7 % rows
    south = np.arange(rows) % 2
    return Table.of({"x": x, "side": np.where(south, "south", "north"), "y": 3.0 * x + 50 * south + np.sin(np.arange(rows))})


def test_a_number_is_predicted_by_r2() -> None:
    table = line()
    roles = Roles(quasi=("x", "side"), target="y").check(table)
    results = {r.learner: r for r in learn(table, roles, [Mondrian(k=3)], 1, repeats=2)}
    assert list(results) == list(REGRESSORS)
    assert all(r.measured == "R2" for r in results.values())
    assert results["linear-regression"].original > 0.999
    for r in results.values():
        assert 0.9 < r.released <= 1
        assert 0.9 < r.original <= 1
        assert r.loss == pytest.approx(100 * (r.original - r.released))
    (nothing,) = learn(table, roles, [Mondrian(k=100)], 1, ["linear-regression"], repeats=1)
    assert nothing.released < 0.1  # halves of 100 rows, all of them one class: x and side are drawn at random


def test_r2_by_hand() -> None:
    """Features that say nothing: the model says the mean of its half, and R2 is minus the squared distance of the means over the variance."""
    rng = np.random.default_rng(1)
    table = Table.of({"x": np.ones(80, np.int64), "y": rng.normal(size=80)})
    roles = Roles(quasi=("x",), target="y").check(table)
    (found,) = learn(table, roles, [Mondrian(k=2)], 7, ["linear-regression"], repeats=1)
    half = halves(np.zeros(80, np.int64), rng_for(7, "halves", 0))
    y = table.number("y")
    wanted = [1 - ((y[half != f] - y[half == f].mean()) ** 2).sum() / ((y[half != f] - y[half != f].mean()) ** 2).sum() for f in (0, 1)]
    assert found.original == found.released == pytest.approx(np.mean(wanted))


def test_rows_without_the_number_are_neither_learnt_from_nor_tested_on() -> None:
    table = line()
    gone = table.with_columns({"y": [None if i % 5 == 0 else v for i, v in enumerate(table.column("y").to_pylist())]})
    roles = Roles(quasi=("x", "side"), target="y").check(gone)
    (found,) = learn(gone, roles, [Mondrian(k=3)], 1, ["linear-regression"], repeats=1)
    assert found.original > 0.999


def test_a_number_of_few_values_has_classes_and_a_word_of_many_is_refused() -> None:
    table = line().with_columns({"y": np.arange(200) % 3})
    roles = Roles(quasi=("x", "side"), target="y").check(table)
    assert learn(table, roles, [Mondrian(k=3)], 1, ["decision-tree"], repeats=1)[0].measured == "accuracy"
    many = line()
    nominal = Roles(quasi=("x", "side"), target="y", nominal=("y",)).check(many)
    with pytest.raises(DataError, match="200 classes; group them into at most 50"):
        learn(many, nominal, [Mondrian(k=3)], 1)
    with pytest.raises(ParameterError, match="no learner named 'naive-bayes' for 'y', which is a number"):
        learn(many, Roles(quasi=("x", "side"), target="y").check(many), [Mondrian(k=3)], 1, ["naive-bayes"])


class Swapped(Params):
    """Releases the two classes the wrong way round, or as words of its own."""

    name: ClassVar[str] = "swapped"
    adds: ClassVar[tuple[str, ...]] = ()
    words: tuple[str, str] = ("no", "yes")

    def reads(self, roles: Roles) -> tuple[str, ...]:
        return roles.quasi

    def follows(self, roles: Roles) -> tuple[str, ...]:
        return ()

    def protect(self, table: Table, roles: Roles, rng: np.random.Generator, progress: Any = quiet) -> Release:
        told = np.where(np.array(table.column("sick").to_pylist()) == "yes", *self.words)
        return Release(table.with_columns({"sick": told}), (), np.arange(len(table)))


def test_models_learn_the_target_as_it_was_released() -> None:
    table = Table.of({"x": np.arange(80) % 2, "sick": np.where(np.arange(80) % 2, "yes", "no")})
    roles = Roles(quasi=("x",), target="sick").check(table)
    (found,) = learn(table, roles, [Swapped()], 1, ["decision-tree"], repeats=1)  # type: ignore[list-item]
    assert (found.original, found.released) == (1, 0)
    with pytest.raises(DataError, match="No class of the target 'sick' is left"):
        learn(table, roles, [Swapped(words=("ill", "well"))], 1, ["decision-tree"], repeats=1)  # type: ignore[list-item]


def test_a_tree_learns_in_fractions_what_it_cannot_where_rows_stop() -> None:
    """The second column decides and is shown to few of those of class 1: a tree whose rows stop believes what is shown."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (4000, 3)).astype(np.float64)
    labels = (truth[:, 0] + truth[:, 1] + truth[:, 2] > 1).astype(np.float64)
    shown = truth.copy()
    shown[(rng.random(4000) < 0.7) & (labels == 1), 1] = np.nan
    tested = rng.integers(0, 2, (500, 3)).astype(np.float64)
    right = tested.sum(axis=1) > 1
    nominal = np.ones(3, bool)
    fractions, stop = ((decision_tree(shown, tested, nominal, labels, 2, 1, how) == right).mean() for how in ("fractions", "stop"))
    assert fractions >= stop
    assert (LEARNERS["decision-tree"](truth, tested, nominal, labels, 2, 1) == right).all()


def test_a_suppressed_release_is_still_learnt_from() -> None:
    table = Table.of({"x": np.arange(120) % 4, "z": np.arange(120) % 3, "sick": np.where(np.arange(120) % 4 > 1, "yes", "no")})
    roles = Roles(quasi=("x", "z"), target="sick", nominal=("x", "z")).check(table)
    (found,) = learn(table, roles, [Kactus(k=5)], 1, ["decision-tree"], repeats=1)
    assert (found.original, found.released) == (1, 1)


def test_halves_and_matrices() -> None:
    labels = np.repeat([0, 1, 2], [10, 21, 9])
    half = halves(labels, rng_for(1, "x"))
    assert all(abs(int((half[labels == c] == 0).sum()) - int((half[labels == c] == 1).sum())) <= 1 for c in range(3))
    table = Table.of({"x": [1, None, 3], "w": ["b", "a", None]})
    roles = Roles(quasi=("x", "w")).check(table)
    left, right, nominal = matrices(table, table.take(np.array([2, 0])), ["x", "w"], table, roles)
    assert nominal.tolist() == [False, True]
    assert np.array_equal(left, [[1, 1], [np.nan, 0], [3, np.nan]], equal_nan=True)
    assert np.array_equal(right, [[3, np.nan], [1, 1]], equal_nan=True)


def test_whoever_was_trained_on_is_not_tested_on() -> None:
    """Every person has one of sixty marks and a label of its own: who has seen the person knows the label, and nobody else can."""
    rng = np.random.default_rng(2)
    who = np.repeat(np.arange(60), 4)
    table = Table.of({"who": who, "mark": who, "noise": rng.random(240), "label": rng.integers(0, 2, 60)[who]})
    roles = {"quasi": ("noise",), "other": ("mark",), "target": "label", "nominal": ("mark",)}
    (by_row,) = learn(table, Roles(identifier=("who",), **roles).check(table), [Mondrian(k=2)], 1, ["naive-bayes"], repeats=1)  # type: ignore[arg-type]
    (by_person,) = learn(table, Roles(person=("who",), **roles).check(table), [Mondrian(k=2)], 1, ["naive-bayes"], repeats=1)  # type: ignore[arg-type]
    assert by_row.original > 0.8
    assert by_person.original < 0.7
