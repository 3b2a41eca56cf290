"""Before-and-after pictures name no value that only a few records hold, and cut dates at years or months."""

from datetime import date, timedelta

import numpy as np
import pytest

import shoal
from shoal import Roles
from shoal.methods import Mondrian
from shoal.promises import Promise
from shoal.release import Release, Step
from shoal.report.figures import before_after as draw
from shoal.report.pictures import before_after
from shoal.table import Table


def pictured(table, roles, k=None, persons=None, released=None):
    promises = () if k is None else (Promise("k-anonymity", k, roles.quasi),)
    release = Release(released or table, (Step("some", {}, (), (), "", promises),), np.arange(len(table)), roles, persons=persons)
    (picture,) = before_after(table, release, roles)
    return picture


@pytest.mark.parametrize(("k", "named"), [(None, ["red", "blue"]), (3, ["red", "blue"]), (7, ["red"]), (30, [])])
def test_a_value_is_named_where_five_and_k_records_hold_it(k, named):
    table = Table.of({"colour": ["red"] * 20 + ["blue"] * 6 + ["mauve"] * 4})
    picture = pictured(table, Roles(quasi=("colour",)), k)
    assert [label for label in picture.labels if label != "other"] == named


def test_rows_of_one_person_are_one():
    table = Table.of({"colour": ["red"] * 20 + ["mauve"] * 10})
    persons = np.append(np.arange(20), np.full(10, 20))
    assert "mauve" in pictured(table, Roles(quasi=("colour",))).labels
    assert "mauve" not in pictured(table, Roles(quasi=("colour",)), persons=persons).labels


def test_levels_and_numbers_that_are_codes_are_named_alike():
    table = Table.of({"x": [1] * 20 + [2] * 3 + [4] * 3 + [3] * 20})
    assert pictured(table, Roles(quasi=("x",), nominal=("x",))).labels == ("1", "3", "other")
    levels = Roles(quasi=("x",), ordinal={"x": ("1", "2", "3", "4")})
    assert pictured(table, levels).labels == ("1", "3", "other")


@pytest.mark.parametrize(
    ("days", "labels"),
    [
        (30_000, ("< 1950", "1950", "1960", "1970", "1980", "1990", "2000", "2010", "≥ 2020")),
        (300, ("< 1940-02", "1940-02", "1940-03", "1940-04", "1940-05", "1940-06", "1940-07", "1940-08", "1940-09", "≥ 1940-10")),
        (3, ("< 1940-01", "≥ 1940-01")),
    ],
)
def test_dates_are_cut_where_years_or_months_begin(days, labels):
    born = [date(1940, 1, 9) + timedelta(days * i // 200) for i in range(200)]
    picture = pictured(Table.of({"born": born}), Roles(quasi=("born",)))
    assert picture.labels == labels
    assert picture.before == picture.after
    assert sum(picture.after) == pytest.approx(1, abs=0.06)


def test_dates_released_as_intervals_are_drawn_by_their_middles():
    born = Table.of({"born": [date(1940, 1, 9) + timedelta(150 * i) for i in range(200)]})
    release = shoal.protect(born, Mondrian(k=5), quasi=["born"])
    (picture,) = before_after(born, release, release.roles)
    assert picture.labels[1:3] == ("1950", "1960")
    assert all(abs(a - b) < 0.06 for a, b in zip(picture.before, picture.after))


def test_no_date_of_the_survey_is_named():
    survey = shoal.invented_survey(300)
    release = shoal.protect(survey, "mdav", k=5, quasi=["born", "sex"])
    original = release.roles.read(survey)
    labels = {label for picture in before_after(original, release, release.roles) for label in picture.labels}
    assert not labels & set(survey.column("born").to_pylist())
    assert "1980" in labels


def test_a_suppressed_cell_is_not_taken_for_the_category_other():
    table = Table.of({"race": ["White"] * 50 + ["Other"] * 30 + ["Black"] * 20})
    released = shoal.protect(table, "local-suppression", k=21, quasi=["race"])
    (picture,) = before_after(table, released, Roles(quasi=("race",)))
    assert picture.labels[-1] == "all others or *"
    assert "Other" in picture.labels
    assert sum(picture.after) == pytest.approx(1)
    assert picture.how


def test_shares_that_are_known_to_whole_per_cent_are_said_so():
    table = Table.of({"colour": ["red"] * 60 + ["blue"] * 40})
    drawn = draw(pictured(table, Roles(quasi=("colour",))))
    assert "60\u00a0%" in drawn
    assert "60.0" not in drawn
