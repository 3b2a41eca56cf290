"""Draws from cells by hand: a class is dealt exactly what its counts say."""

from collections import Counter
from dataclasses import replace

import numpy as np

from shoal.randomness import rng_for
from shoal.runs.sample import sample
from shoal.table import Table


def drawn(seed=1, **columns):
    table = sample(Table.of(columns), rng_for(seed, "test"))
    return {column: table.column(column).to_pylist() for column in table.columns}


def test_a_class_is_dealt_its_counts():
    """Two classes of four and two rows; every draw has three times a and once b in the first, c and d once each in the second."""
    where = []
    for seed in range(40):
        points = drawn(seed, word=["{a*3|b}"] * 4 + ["{c|d}"] * 2, number=["{1*2|7*2}"] * 4 + ["5"] * 2)
        assert Counter(points["word"][:4]) == {"a": 3, "b": 1}
        assert sorted(points["word"][4:]) == ["c", "d"]
        assert Counter(points["number"]) == {1: 2, 7: 2, 5: 2}
        where.append((points["word"].index("b"), points["number"][points["word"].index("b")]))
    assert {place for place, _ in where} == {0, 1, 2, 3}  # to whom is chance,
    assert {number for _, number in where} == {1, 7}  # and how the columns go together


def test_the_same_cell_in_two_classes_is_dealt_in_each():
    points = drawn(word=["{a*3|b}"] * 8, other=["x"] * 4 + ["{y|z}"] * 4)
    assert Counter(points["word"][:4]) == Counter(points["word"][4:]) == {"a": 3, "b": 1}
    assert Counter(points["other"][4:]) == {"y": 2, "z": 2}  # a multiple of the counts is dealt as many times


def test_counts_that_do_not_divide_the_class_are_met_as_nearly_as_rows_allow():
    """Ten rows of {a*2|b}: 6.67 and 3.33 are expected; six or seven times a, two draws in three seven."""
    seen = Counter(Counter(drawn(seed, word=["{a*2|b}"] * 10)["word"])["a"] for seed in range(300))
    assert set(seen) == {6, 7}
    assert 160 < seen[7] < 240
    one = Counter(drawn(seed, word=["{a*2|b}"])["word"][0] for seed in range(600))
    assert 350 < one["a"] < 450


def test_intervals_inside_a_set_are_dealt_and_drawn_evenly_inside():
    points = drawn(age=["{0*9|[18..25]*3}"] * 12, day=["{2020-01-01*6|[2021-01-01..2021-01-31]*6}"] * 12)
    assert points["age"].count(0) == 9
    assert all(18 <= age <= 25 for age in points["age"] if age)
    assert points["day"].count("2020-01-01") == 6
    assert all(day == "2020-01-01" or "2021-01-01" <= day <= "2021-01-31" for day in points["day"])


def test_missing_is_dealt_like_any_value():
    points = drawn(x=["{1*2|*2}"] * 4, gone=["*", "*", "*", "*"])
    assert Counter(points["x"]) == {1: 2, None: 2}
    assert points["gone"] == [None] * 4


def test_counts_larger_than_any_class():
    assert set(drawn(x=["{a*" + "9" * 400 + "|b}"] * 5)["x"]) == {"a"}
    assert drawn(x=["{a*3|b}"])["x"][0] in ("a", "b")


def test_a_column_of_numbers_is_numbers_whichever_of_them_are_drawn():
    """The kind of a column depends on what its cells allow, not on luck."""
    kinds = {sample(Table.of({"x": ["{1|two*50}"]}), rng_for(seed, "test")).kind("x") for seed in range(20)}
    assert kinds == {"text"}
    assert sample(Table.of({"x": ["{1|2.5}"]}), rng_for(1, "test")).column("x").type == "double"


def test_a_table_that_says_which_columns_hold_cells_has_classes_by_all_of_them():
    table = Table.of({"word": ["{a|b}"] * 4, "plain": ["x", "x", "y", "y"], "note": ["{p|q}"] * 4})
    table = replace(table, cells=frozenset({"word", "plain"}))
    points = sample(table, rng_for(1, "test"))
    word = points.column("word").to_pylist()
    assert sorted(word[:2]) == sorted(word[2:]) == ["a", "b"]
    assert points.column("note").to_pylist() == ["{p|q}"] * 4


def test_nothing_to_draw():
    empty = Table.of({"x": np.array([], dtype=str)})
    assert len(sample(empty, rng_for(1, "test"))) == 0
    assert drawn(x=["a", "b"]) == {"x": ["a", "b"]}
