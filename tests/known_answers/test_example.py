"""The invented tables have what real ones have: several rows a person, households, codes for missing, dates in text."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow.compute as pc
import pytest

import shoal
from shoal.errors import ParameterError
from shoal.example import EXAMPLES, WIDE

SURVEY_OF_A_HOUSEHOLD = ("region", "stratum", "weight", "household_income")
QUESTIONS = ("DIABDX", "HIBPDX", "ASTHDX", "CANCERDX", "SMOKES", "INSURED")


def constant_in(table, columns, unit):
    """Whether the columns are the same in all rows of a unit."""
    return len(table.counts([unit, *columns]).rows) == len(table.counts([unit]).rows)


def test_the_patients_have_not_changed():
    text = "\n".join(map(str, shoal.invented_patients(50).arrow.to_pylist()))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "9fb5cf078584ebbb"


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("rows", [1, 2, 3, 40])
def test_each_has_as_many_rows_as_asked_for_and_repeats_by_its_seed(name, rows):
    invent = EXAMPLES[name].invent
    assert len(invent(rows, 7)) == rows
    assert invent(rows, 3).arrow.equals(invent(rows, 3).arrow)
    assert rows < 40 or not invent(rows, 3).arrow.equals(invent(rows, 4).arrow)


def test_a_patient_has_several_stays_and_one_birth_date():
    visits = shoal.invented_visits(9000)
    assert 2700 < len(visits.counts(["patient_id"]).rows) < 3000
    assert constant_in(visits, ("sex", "birth_date", "zip"), "patient_id")
    for column in ("age", "ward", "diagnosis", "length_of_stay"):
        assert not constant_in(visits, (column,), "patient_id")
    stays = np.bincount(visits.codes("patient_id"))
    assert (stays == 1).mean() > 0.2
    assert stays.max() > 10


def test_what_belongs_to_a_household_is_the_same_for_all_who_live_in_it():
    survey = shoal.invented_survey(5000)
    assert 2.5 < 5000 / len(survey.counts(["household_id"]).rows) < 3
    assert constant_in(survey, SURVEY_OF_A_HOUSEHOLD, "household_id")
    assert constant_in(survey, ("weight",), "region")  # so a released weight gives a protected region back
    assert len(pc.unique(survey.column("person_id"))) == 5000


def test_ages_were_asked_four_times_and_birth_dates_are_text():
    survey = shoal.invented_survey(2000)
    first, last = survey.number("AGE15X"), survey.number("AGE53X")
    both = (first >= 0) & (last >= 0)
    assert set(last[both] - first[both]) == {1.0, 2.0}
    assert (first == -1).any()
    assert survey.kind("born") == "text"
    assert pc.all(pc.match_substring_regex(survey.column("born"), r"^\d\d\.\d\d\.\d{4}$")).as_py()


def test_answers_have_codes_for_missing():
    survey = shoal.invented_survey(5000)
    for question in QUESTIONS:
        assert set(survey.column(question).to_pylist()) == {1, 2, -1, -7, -8, -9}
    children = survey.number("AGE53X") < 18
    assert (survey.number("DIABDX")[children & (survey.number("AGE53X") >= 0)] == -1).all()


def test_the_wide_survey_begins_with_the_survey():
    survey, wide = shoal.invented_survey(300), EXAMPLES["wide"].invent(300, 7)
    assert len(wide.columns) == WIDE == 1831
    assert wide.arrow.select(list(survey.columns)).equals(survey.arrow)
    with pytest.raises(ParameterError, match="at least 19 columns"):
        shoal.invented_survey(300, columns=5)
