"""Special uniques: scores that were published or can be counted by hand, and what a bounded search leaves."""

import csv

import numpy as np
import pytest

from shoal.kernels.special_uniques import dis_suda, ihsn, minimal_sets, sets_of_size, special_uniques
from tests.data import data_path

# The running example of the guide of the International Household Survey Network (table 4.1).
GUIDE = [
    "urban female secondary-incomplete employed",
    "urban female secondary-incomplete employed",
    "urban female primary-incomplete none",
    "urban male secondary employed",
    "rural female secondary unemployed",
    "urban male secondary employed",
    "urban female primary none",
    "urban male post-secondary unemployed",
    "urban female secondary-incomplete none",
    "urban female secondary-incomplete none",
]
# Age group, sex, income and education of eight people, of whom four are in pairs.
EIGHT = ["20s m high hs", "20s m high hs", "20s m low hs", "20s m low hs", "20s f low uni", "20s f low hs", "20s f low ms", "60s m low uni"]


def looked_at(rows, **how):
    """The search over distinct rows, and the score of every row."""
    cells = np.array([row.split() for row in rows])
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in cells.T])
    distinct, place, many = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    found = special_uniques(distinct, many, **how)
    return found, found.scores[place.reshape(-1)]


def test_the_guides_table():
    """Row 5: 3! for rural alone, and 2! each for female and secondary, female and unemployed, secondary and unemployed."""
    found, scores = looked_at(GUIDE)
    assert scores.tolist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert [one.special.sum() for one in found.sizes] == [4, 5, 0, 0]
    assert found.complete
    assert found.all_apart


def test_what_the_columns_of_the_guides_table_tell():
    """Education alone .5 and .8; with labour status .7 and .9333, as much as all four."""
    found, _ = looked_at(GUIDE)
    assert found.sizes[0].classes.tolist() == [2, 2, 5, 3]
    assert 1 - found.sizes[0].together[2] / 90 == pytest.approx(0.8)
    at = found.sizes[1].columns.tolist().index([2, 3])
    assert (found.sizes[1].classes[at], found.sizes[1].unique[at]) == (7, 4)
    assert 1 - found.sizes[1].together[at] / 90 == pytest.approx(0.9333, abs=1e-4)
    assert minimal_sets(found.sizes, int(found.sizes[-1].classes[0])) == [(2, 3)]


def test_the_published_dis_scores_are_made_of_the_guides_weights():
    _, scores = looked_at(GUIDE, weight=ihsn)
    assert scores[[2, 4, 6, 7]].tolist() == [1.75, 3.25, 1.75, 2.75]
    published = [0, 0, 0.005120313, 0, 0.010702061, 0, 0.005120313, 0.008775093, 0, 0]
    assert dis_suda(scores, 6, 0.01, 4) == pytest.approx(published, abs=1e-9)


def test_dis_scores_made_of_elliots():
    _, scores = looked_at(GUIDE)
    assert dis_suda(scores, 6, 0.01, 4)[[2, 4, 6, 7]] == pytest.approx([0.0049868, 0.0113830, 0.0049868, 0.0091667], abs=1e-7)
    assert dis_suda(np.zeros(3), 2, 0.01, 4).tolist() == [0, 0, 0]
    assert dis_suda(scores, 0, 0.01, 4).max() == 1  # nobody is in a pair


def test_the_eight_people():
    assert looked_at(EIGHT)[1].tolist() == [0, 0, 0, 0, 4, 2, 6, 8]


def test_three_by_three():
    found, scores = looked_at(["2 0 0", "1 3 6", "1 0 0"])
    assert scores.tolist() == [2, 4, 2]
    assert (found.of_columns / found.total).tolist() == [0.5, 0.375, 0.375]


def test_which_sets_make_a_record_special():
    """Of row 8: post-secondary, then male and unemployed, and urban and unemployed."""
    found, _ = looked_at(GUIDE, listed=5)
    every = [tuple(chosen) for one in found.sizes for chosen in one.columns.tolist()]
    row = int(found.scores.tolist().index(10))
    assert [every[number] for number in found.listed[row] if number >= 0] == [(2,), (0, 3), (1, 3)]
    assert (found.smallest[row], found.many[row]) == (1, 3)
    first, _ = looked_at(GUIDE, listed=1)
    assert every[first.listed[row, 0]] == (2,)


def test_a_missing_cell_is_in_no_minimal_unique():
    """The second record is alone by its missing cell, and by nothing else; the first hides behind nobody for it."""
    codes = np.array([[0, 0], [0, 1], [1, 2], [1, 3]])
    known = np.array([[True, True], [True, False], [True, True], [True, True]])
    found = special_uniques(codes, known=known)
    assert found.scores.tolist() == [1, 0, 1, 1]
    assert found.sizes[0].unique.tolist() == [0, 4]  # as a value of its own it counts


def test_rows_of_one_person_are_in_nobodys_way():
    """Two combinations are one person's: on the first column it is alone, and counted once; the third is of several persons."""
    codes = np.array([[0, 0], [0, 1], [1, 0], [2, 2]])
    found = special_uniques(codes, np.array([1, 2, 2, 1]), np.array([0, 0, -1, 1]))
    assert found.scores.tolist() == [1, 2, 0, 2]
    assert [one.special.tolist() for one in found.sizes] == [[2, 2], [0]]
    assert found.total == 4


def test_one_record_is_special_on_every_column():
    found = special_uniques(np.zeros((1, 3), np.int64))
    assert found.scores.tolist() == [6]
    assert found.complete


def test_forty_columns_are_looked_at_as_far_as_it_goes():
    codes = np.random.default_rng(1).integers(0, 4, (1000, 40))
    found = special_uniques(codes, largest=2)
    assert len(found.sizes) == 2
    assert not found.complete
    assert not found.all_apart
    assert found.sizes[1].columns.shape == (780, 2)


def test_a_search_ends_before_it_takes_too_long(monkeypatch):
    monkeypatch.setattr("shoal.kernels.special_uniques.MOST_LOOKS", 60_000)
    found = special_uniques(np.random.default_rng(1).integers(0, 4, (500, 12)))
    assert 1 <= len(found.sizes) < 12
    assert not found.complete


def test_a_search_that_can_find_nothing_more_is_complete():
    found = special_uniques(np.arange(30)[:, None].repeat(40, axis=1))
    assert len(found.sizes) == 1
    assert found.complete
    assert found.all_apart


def test_sets_name_those_that_lack_one_column():
    sets, parents = sets_of_size(6, 3)
    smaller = [tuple(one) for one in sets_of_size(6, 2)[0].tolist()]
    for chosen, lacking in zip(sets.tolist(), parents.tolist()):
        assert [smaller[number] for number in lacking] == [tuple(chosen[:p] + chosen[p + 1 :]) for p in range(3)]


def test_adult():
    with data_path("adult", "adult_30162.csv").open() as file:
        rows = [" ".join(value.replace(" ", "") for value in row[:-1]) for row in csv.reader(file, delimiter=";")][1:]
    found, scores = looked_at(rows)
    assert [one.special.sum() for one in found.sizes] == [2, 1198, 13852, 20569, 9287, 1616, 119, 5]
    assert (scores > 0).sum() == 14021
