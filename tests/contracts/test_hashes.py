"""While files move: what every method, measure and attack gives on six seeded tables, as hashes. `python -m tests.contracts.test_hashes` renews them."""
# ruff: noqa: B023 - each call is made before the loop goes on

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from shoal.errors import ShoalError
from shoal.example import EDUCATION, invented_patients
from shoal.randomness import chance_for, rng_for
from shoal.registry import known
from shoal.roles import Roles
from shoal.score import Knowledge
from shoal.table import Table

FILE = Path(__file__).with_name("hashes.json")
RELEASED_BY = {"mondrian": {"k": 3}, "mdav": {"k": 3}, "noise": {}, "kactus": {"k": 3}}  # what measures and attacks look at


def tables():
    rng = np.random.default_rng(11)
    patients = invented_patients(160, 3)
    quasi = ("age", "sex", "zip", "education", "income", "visits")
    whole = Roles(quasi, ("diagnosis",), ("name",), ordinal={"education": EDUCATION}, target="diagnosis")
    points = rng.normal(size=(140, 4)) @ rng.normal(size=(4, 4))
    numbers = {f"x{j}": points[:, j].round(3).tolist() for j in range(4)}
    numbers["label"] = [("a", "b", "c")[int(v > 0) + int(v > 1)] for v in points[:, 0] + points[:, 1]]
    gaps = {
        "u": [None if i % 9 == 4 else round(float(v), 1) for i, v in enumerate(rng.gamma(2, 3, 120))],
        "v": [None if i % 11 == 3 else ("red", "blue", "green")[int(v)] for i, v in enumerate(rng.integers(0, 3, 120))],
        "w": rng.integers(0, 9, 120).tolist(),
        "label": rng.choice(["yes", "no"], 120).tolist(),
    }
    ties = {"p": rng.integers(0, 4, 150).tolist(), "q": rng.integers(0, 3, 150).tolist(), "r": rng.integers(0, 5, 150).tolist()}
    ties["label"] = [("m", "n")[int(a + b > 3)] for a, b in zip(ties["p"], ties["r"])]
    words = {name: rng.choice(list("abcdef")[:width], 130).tolist() for name, width in (("f", 3), ("g", 6), ("h", 2))}
    words["label"] = rng.choice(["one", "two", "three"], 130).tolist()
    plain = {
        "numbers": (numbers, ("x0", "x1", "x2", "x3"), "label"),
        "gaps": (gaps, ("u", "v", "w"), "label"),
        "ties": (ties, ("p", "q", "r"), "label"),
        "words": (words, ("f", "g", "h"), "label"),
        "one column": ({"x": rng.integers(0, 60, 100).tolist(), "label": rng.choice(["s", "t"], 100).tolist()}, ("x",), "label"),
    }
    made = {"patients": (patients, whole.check(patients))}
    for name, (columns, quasi, label) in plain.items():
        table = Table.of(columns)
        made[name] = (table, Roles(quasi, (label,), target=label).check(table))
    return made


def digest(value):
    value = {key: one for key, one in value.items() if key != "risk"} if isinstance(value, dict) else value
    return hashlib.sha256(json.dumps(value, default=str, sort_keys=True).encode()).hexdigest()[:16]


def rounded(value):
    """Twelve digits: sums of the same numbers may end otherwise on another machine."""
    if isinstance(value, dict):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.9g}")
    return value.item() if isinstance(value, np.generic) else value


def release_of(name, given, table, roles):
    return known("method")[name](**given).protect(table, roles, chance_for(5, name))


def released(release):
    rows = rounded(release.table.plain.to_pydict())
    steps = [
        (s.method, dict(s.parameters), s.columns, s.guarantees, [(p.what, p.value, p.columns, p.about) for p in s.promises])
        for s in release.made_by
    ]
    return digest([rows, release.source_row.tolist(), list(release.warnings), rounded(steps)])


def attempt(of):
    try:
        return of()
    except ShoalError as error:
        return f"{type(error).__name__} {digest(str(error))}"


def everything():
    found = {}
    for name, (table, roles) in tables().items():
        for method in known("method"):
            found[f"{name}/method/{method}"] = attempt(lambda: released(release_of(method, {}, table, roles)))
        for by, given in RELEASED_BY.items():
            try:
                release = release_of(by, given, table, roles)
            except ShoalError:
                continue
            for measure, cls in known("measure").items():
                found[f"{name}/{by}/measure/{measure}"] = attempt(lambda: digest(rounded(cls().measure(table, release, roles).public())))
            for attack, cls in known("attack").items():
                found[f"{name}/{by}/attack/{attack}"] = attempt(
                    lambda: digest(rounded(cls().attack(table, release, Knowledge(roles), rng_for(5, attack)).public()))
                )
    return found


@pytest.mark.skipif(not FILE.exists(), reason="no hashes are recorded")
def test_nothing_changed():
    before, now = json.loads(FILE.read_text()), everything()
    assert {key: now.get(key) for key in before} == before


if __name__ == "__main__":
    FILE.write_text(json.dumps(everything(), indent=0, sort_keys=True) + "\n")
