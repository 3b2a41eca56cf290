"""Invented patients, hospital stays and a survey: realistic tables nobody lives in, for demos, docs and tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import BoolArray, IntArray
from shoal.errors import ParameterError
from shoal.table import Table

_FIRST = tuple("Ada Ben Cleo Dora Emil Fay Gus Hana Ivo Jana Kai Lena Milo Nora Otto Pia Rosa Sven Tess Uma Vera Wim Yara Zoe".split())  # noqa: SIM905
_LAST = tuple("Abel Brand Costa Dahl Evers Fuchs Garcia Holm Jensen Klein Lopez Meyer Novak Olsen Petit Rossi Silva Toth Weber".split())  # noqa: SIM905
EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master")
_DIAGNOSES = ("asthma", "diabetes", "fracture", "heart failure", "hypertension", "migraine", "pneumonia", "depression")


def invented_patients(rows: int = 1000, seed: int = 7) -> Table:
    """Names, ages, postal codes, incomes that go with age and schooling, diagnoses that go with age; some values missing."""
    rng = np.random.default_rng(seed)
    age = np.clip(rng.gamma(9, 5.5, rows), 0, 99).astype(int)
    education = rng.choice(len(EDUCATION), rows, p=[0.12, 0.38, 0.22, 0.19, 0.09])
    income = np.exp(9.6 + 0.22 * education + 0.9 * np.minimum(age, 50) / 50 + rng.normal(0, 0.4, rows)).round(-1)
    visits = rng.poisson(1 + age / 25)
    weight_of = np.abs(np.linspace(20, 80, len(_DIAGNOSES)) - age[:, None])
    diagnosis = np.argmin(weight_of + rng.exponential(25, (rows, len(_DIAGNOSES))), axis=1)
    zip_code = [f"0{8000 + int(z):d}" for z in np.minimum(rng.exponential(35, rows), 240) // 3 * 3]
    known = rng.random(rows) > 0.03
    return Table.of(
        {
            "name": [f"{_FIRST[a]} {_LAST[b]} {i + 1}" for i, (a, b) in enumerate(rng.integers(0, [len(_FIRST), len(_LAST)], (rows, 2)))],
            "age": age.tolist(),
            "sex": rng.choice(["female", "male"], rows, p=[0.53, 0.47]).tolist(),
            "zip": zip_code,
            "education": [EDUCATION[e] for e in education],
            "income": [float(x) if k else None for x, k in zip(income, known)],
            "visits": visits.tolist(),
            "diagnosis": [_DIAGNOSES[d] for d in diagnosis],
        }
    )


_WARDS = np.array(["emergency", "geriatrics", "internal medicine", "neurology", "psychiatry", "surgery"])


def invented_visits(rows: int = 1000, seed: int = 7) -> Table:
    """Hospital stays: about three rows a patient. Sex, birth date and postal code belong to the patient, the rest to the stay."""
    rng = np.random.default_rng([seed, 1])
    patients = max(1, round(rows / 3.15))
    often = rng.gamma(0.8, 1.0, patients) + 1e-6  # most come once or twice, some again and again
    patient = np.repeat(np.arange(patients), 1 + rng.multinomial(rows - patients, often / often.sum()))
    admitted = np.datetime64("2023-01-01") + np.sort(rng.integers(0, 730, rows))
    rng.shuffle(patient)  # the file is in the order of admission: stays of a patient are not together
    age_then = np.clip(rng.gamma(11, 5.2, patients), 1, 98)
    born = np.datetime64("2023-01-01") - (age_then * 365.25).astype(int)
    age = _years_between(born[patient], admitted)
    near = np.abs(np.linspace(20, 80, len(_DIAGNOSES)) - age[:, None]) + rng.exponential(25, (rows, len(_DIAGNOSES)))
    usual = rng.integers(0, len(_DIAGNOSES), patients)  # whoever comes again often comes for the same
    diagnosis = np.where(rng.random(rows) < 0.35, usual[patient], np.argmin(near, axis=1))
    return Table.of(
        {
            "patient_id": (100_000 + rng.permutation(9 * patients)[:patients])[patient],
            "sex": rng.choice(["female", "male"], patients, p=[0.53, 0.47])[patient],
            "birth_date": born[patient],
            "zip": np.char.mod("0%d", 8000 + np.minimum(rng.exponential(35, patients), 240).astype(int) // 3 * 3)[patient],
            "admitted": admitted,
            "age": age,
            "ward": _WARDS[(diagnosis + rng.choice(len(_WARDS), rows, p=[0.55, 0.2, 0.1, 0.08, 0.05, 0.02])) % len(_WARDS)],
            "diagnosis": np.array(_DIAGNOSES)[diagnosis],
            "length_of_stay": 1 + rng.poisson(rng.gamma(1.5, 2.0 + age / 40)),
        }
    )


_REGIONS = np.array(["midwest", "northeast", "south", "west"])
_WAVES = {"AGE15X": "2023-04-15", "AGE31X": "2023-09-15", "AGE42X": "2024-03-15", "AGE53X": "2024-12-31"}  # when each was asked
_CODES = (-7, -8, -9)  # refused, does not know, not ascertained; -1 is for those who are not asked
WIDE = 1831  # columns of the widest public survey file that the tests were tried on


def invented_survey(rows: int = 1000, seed: int = 7, columns: int = 19) -> Table:
    """Persons in households, as a panel survey has them.

    Region, stratum, weight and household income belong to the household, and the weight follows from the region. The age was asked four
    times. Answers are 1 and 2, or a code for missing: -1 not asked (children), -7 refused, -8 does not know, -9 not ascertained. Birth dates
    are text, day first. Columns beyond the nineteenth are further answers and amounts; the first nineteen do not change with them.
    """
    rng = np.random.default_rng([seed, 2])
    households = max(1, round(rows / 2.75))
    household = np.sort(np.concatenate([np.arange(households), rng.integers(0, households, rows - households)]))
    place = np.arange(rows) - np.searchsorted(household, household)  # in the household: its head, the partner, the children
    region = rng.choice(4, households, p=[0.2, 0.17, 0.39, 0.24])
    head = np.clip(rng.gamma(10, 5.0, households), 19, 90)[household]
    years = np.where(place == 0, head, np.where(place == 1, head + rng.normal(-1, 4, rows), head - 28 + rng.normal(0, 5, rows)))
    born = np.datetime64("2023-01-01") - (np.clip(years, 0.1, 95) * 365.25).astype(int)
    age = _years_between(born, np.datetime64(_WAVES["AGE53X"]))
    absent = rng.random((rows, len(_WAVES))) < 0.02
    schooling = rng.choice(len(EDUCATION), rows, p=[0.12, 0.38, 0.22, 0.19, 0.09])
    income = np.exp(10.2 + 0.2 * schooling[place == 0] + rng.normal(0, 0.5, households)).round(-2)
    numbers = 10_000 + rng.permutation(9 * households)[:households]
    base: dict[str, Any] = {
        "person_id": np.char.add(np.char.mod("%d-", numbers[household]), np.char.mod("%02d", place + 1)),
        "household_id": numbers[household],
        "region": _REGIONS[region][household],
        "stratum": (10 * (1 + region) + rng.integers(1, 7, households))[household],
        "weight": (1250.5 * (1 + region))[household],
        "sex": rng.choice(["female", "male"], rows, p=[0.52, 0.48]),
        "born": _day_first(born),
        "education": np.array(EDUCATION)[np.where(age < 16, 0, schooling)],
        **{wave: np.where(absent[:, i], -1, _years_between(born, np.datetime64(day))) for i, (wave, day) in enumerate(_WAVES.items())},
        "household_income": income[household],
    }
    for question, share in {
        "DIABDX": np.clip((age - 25) / 220, 0.01, 0.3),
        "HIBPDX": np.clip((age - 20) / 110, 0.01, 0.7),
        "ASTHDX": np.full(rows, 0.11),
        "CANCERDX": np.clip((age - 30) / 260, 0.005, 0.3),
        "SMOKES": np.where(age < 65, 0.17, 0.08),
        "INSURED": np.full(rows, 0.91),
    }.items():
        base[question] = _answers(rng, rng.random(rows) < share, age >= 18)
    if columns < len(base):
        raise ParameterError(f"The survey has at least {len(base)} columns, got columns = {columns}.")
    return Table.of(base | _further(np.random.default_rng([seed, 3]), columns - len(base), age))


def invented_wide(rows: int = 1000, seed: int = 7) -> Table:
    """The survey with as many columns as the widest public files have."""
    return invented_survey(rows, seed, WIDE)


def _further(rng: np.random.Generator, columns: int, age: IntArray) -> dict[str, Any]:
    """More of a survey: yes or no, and every fourth column an amount, most often 0."""
    more: dict[str, Any] = {}
    for i in range(1, columns + 1):
        if i % 4:
            more[f"Q{i:04d}"] = _answers(rng, rng.random(len(age)) < rng.uniform(0.02, 0.6), age >= rng.choice([0, 5, 18, 65]))
        else:
            more[f"PAID{i:04d}"] = np.where(rng.random(len(age)) < 0.7, 0, rng.gamma(0.7, 20.0 * (age + 5))).astype(np.int32)
    return more


def _answers(rng: np.random.Generator, yes: BoolArray, asked: BoolArray) -> Any:
    """1 for yes, 2 for no; -1 for who is not asked, and for a few one of the other codes for missing."""
    told = np.where(rng.random(len(yes)) < 0.04, rng.choice(_CODES, len(yes), p=[0.2, 0.6, 0.2]), np.where(yes, 1, 2))
    return np.where(asked, told, -1).astype(np.int16)


def _years_between(born: Any, day: Any) -> IntArray:
    """Whole years from a date to another, as a person counts them."""
    months = day.astype("M8[M]").astype(int) - born.astype("M8[M]").astype(int)
    before = _day_of_month(day) < _day_of_month(born)
    return np.asarray((months - before) // 12)


def _day_of_month(dates: Any) -> Any:
    return (dates - dates.astype("M8[M]")).astype(int)


def _day_first(dates: Any) -> list[str]:
    return [f"{day[8:]}.{day[5:7]}.{day[:4]}" for day in np.datetime_as_string(dates).tolist()]


class Example(NamedTuple):
    """A table that `shoal example` writes."""

    invent: Callable[[int, int], Table]
    rows_are: str


EXAMPLES = {
    "patients": Example(invented_patients, "patients"),
    "visits": Example(invented_visits, "hospital stays"),
    "survey": Example(invented_survey, "persons of a survey"),
    "wide": Example(invented_wide, "persons of a survey"),
}
