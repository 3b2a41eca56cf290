"""Invented patients: a realistic table nobody lives in, for demos, docs and tests."""

from __future__ import annotations

import numpy as np

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
