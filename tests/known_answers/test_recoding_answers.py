"""Recoding Adult along its hierarchies: what is released, checked on the written file by code of its own, against published optima and bars."""

import csv
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest

import shoal
from shoal.writing import write_table
from tests.data import data_path

NINE = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")
EIGHT = NINE[:8]
SIX = NINE[:6]


@cache
def adult():
    return shoal.read_table(data_path("adult", "adult_30162.csv"))


@cache
def tree(column):
    """Of each value the names over it, from itself to *."""
    with data_path("adult", "hierarchies", f"adult_hierarchy_{column}.csv").open() as file:
        return {row[0]: row for row in csv.reader(file, delimiter=";")}


@cache
def leaves_under(column):
    """How many values of the file each name stands for."""
    return Counter(name for row in tree(column).values() for name in set(row))


def released(tmp_path, method, columns, **parameters):
    """The written rows, each beside the original row it comes from."""
    trees = {column: data_path("adult", "hierarchies", f"adult_hierarchy_{column}.csv") for column in columns}
    roles = shoal.Roles(quasi=columns, hierarchies={} if method == "local-suppression" else trees)
    release = shoal.protect(adult(), method, roles=roles, **parameters)
    write_table(release.table, tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(newline="") as file:
        rows = [tuple(row[column] for column in columns) for row in csv.DictReader(file, delimiter=";")]  # as the original is
    cells = [adult().column(column).to_pylist() for column in columns]
    return release, rows, [tuple(str(one[i]) for one in cells) for i in release.source_row.tolist()]


def loss_of(rows, columns):
    """Mean over rows and columns of (values under the name - 1) / (values of the file - 1)."""
    lost = [{name: (under - 1) / (len(tree(column)) - 1) for name, under in leaves_under(column).items()} for column in columns]
    return float(np.mean([[lost[j][cell] for j, cell in enumerate(row)] for row in rows]))


def true_of(rows, sources, columns):
    return all(cell in tree(column)[was] for row, source in zip(rows, sources) for column, cell, was in zip(columns, row, source))


OPTIMA = [
    ({"k": 5, "suppress": 0.04}, NINE, (0, 3, 0, 1, 1, 1, 1, 2, 0), 0.2928158759),
    ({"k": 5, "suppress": 0.999}, EIGHT, (0, 3, 0, 0, 2, 1, 0, 1), 0.2270624),  # as good as no limit
    ({"k": 100, "suppress": 0.04}, NINE, (0, 3, 1, 2, 2, 2, 1, 2, 0), 0.5547421),
    ({"k": 5}, NINE, (0, 4, 1, 1, 3, 2, 2, 1, 0), 0.6355438),
    ({"k": 100}, NINE, None, 0.6985260),
]


@pytest.mark.parametrize(("parameters", "columns", "levels", "loss"), OPTIMA)
def test_the_best_levels_of_adult(tmp_path, parameters, columns, levels, loss):
    release, rows, sources = released(tmp_path, "recoding", columns, **parameters)
    outcome = release.made_by[-1].outcome
    assert outcome["optimal"] == "proven"
    assert levels in (None, tuple(outcome["levels"].values()))
    assert loss_of(rows, columns) == pytest.approx(loss, abs=1e-7)
    assert min(Counter(rows).values()) >= parameters["k"]
    assert true_of(rows, sources, columns)
    starred = ("*",) * len(columns)
    at = outcome["levels"].values()
    for row, source in zip(rows, sources):
        assert row in (starred, tuple(tree(column)[was][level] for column, was, level in zip(columns, source, at)))
    assert Counter(rows)[starred] <= parameters.get("suppress", 0) * len(rows)
    assert shoal.measure(adult(), release, "ncp")["ncp"].value == pytest.approx(loss_of(rows, columns), abs=1e-9)


@pytest.mark.parametrize(("suppress", "levels", "value"), [(0.04, (0, 0, 1, 2, 3, 2, 2, 1, 1), 7_220_555), (0.0, None, 33_627_534)])
def test_the_least_discernibility_of_adult(tmp_path, suppress, levels, value):
    release, rows, _ = released(tmp_path, "recoding", NINE, k=5, suppress=suppress, loss="discernibility")
    sizes = Counter(rows)
    starred = sizes.pop(("*",) * len(NINE), 0)  # told from nobody
    assert sum(size**2 for size in sizes.values()) + starred * len(rows) == value
    assert levels in (None, tuple(release.made_by[-1].outcome["levels"].values()))


def test_of_two_levels_of_one_precision_the_smaller_are_released(tmp_path):
    release, rows, _ = released(tmp_path, "recoding", NINE, k=100, loss="precision")
    levels = tuple(release.made_by[-1].outcome["levels"].values())
    assert levels == (0, 4, 1, 1, 3, 2, 2, 2, 0)  # and not (0, 4, 1, 2, 3, 2, 2, 1, 0)
    deep = [len(next(iter(tree(column).values()))) - 1 for column in NINE]
    assert np.mean([level / most for level, most in zip(levels, deep)]) == pytest.approx(6.5 / 9)
    assert min(Counter(rows).values()) >= 100


@pytest.mark.parametrize(
    ("method", "k", "most"),
    [("local-recoding", 5, 0.050), ("local-recoding", 10, 0.074), ("local-recoding", 100, 0.190), ("mondrian", 5, 0.070)],
)
def test_classes_at_levels_of_their_own_lose_little(tmp_path, method, k, most):
    release, rows, sources = released(tmp_path, method, EIGHT, k=k)
    assert len(rows) == 30_162  # nobody leaves
    assert min(Counter(rows).values()) >= k
    assert true_of(rows, sources, EIGHT)
    assert loss_of(rows, EIGHT) <= most
    assert Counter(rows)[("*",) * len(EIGHT)] < 2 * k  # no suppression, but a last class that has nothing in common
    assert shoal.measure(adult(), release, "ncp")["ncp"].value == pytest.approx(loss_of(rows, EIGHT), abs=1e-9)


@pytest.mark.parametrize(("suppress", "datafly", "least"), [(0.0, 0.715, 0.661), (0.05, 0.327, 0.262)])
def test_systems_of_the_literature_lose_what_they_are_known_to(tmp_path, suppress, datafly, least):
    _, rows, _ = released(tmp_path, "datafly", EIGHT, k=5, suppress=suppress)
    assert loss_of(rows, EIGHT) == pytest.approx(datafly, abs=1e-3)
    _, rows, _ = released(tmp_path, "recoding", EIGHT, k=5, suppress=suppress)
    assert loss_of(rows, EIGHT) == pytest.approx(least, abs=1e-3)


def test_incognito_counts_the_choices_that_keep_k(tmp_path):
    release, rows, _ = released(tmp_path, "incognito", EIGHT, k=5)
    assert release.made_by[-1].outcome["anonymous_nodes"] == 67
    assert loss_of(rows, EIGHT) == pytest.approx(0.6608, abs=1e-4)


# ---- local suppression: six keys, age in tens, (0, 10] the first -----------------------------------------------------------------------


def blanked(tmp_path, **parameters):
    in_tens = [f"to {(age - 1) // 10 * 10 + 10}" for age in adult().column("age").to_pylist()]
    columns = {column: in_tens if column == "age" else adult().column(column).to_pylist() for column in SIX}
    release = shoal.protect(shoal.Table.of(columns), "local-suppression", quasi=SIX, k=5, **parameters)
    write_table(release.table, tmp_path / "release.csv")
    with (tmp_path / "release.csv").open(newline="") as file:
        rows = [tuple(row[column] for column in SIX) for row in csv.DictReader(file)]
    for row, at in zip(rows, release.source_row.tolist()):
        assert all(cell in ("*", columns[column][at]) for column, cell in zip(SIX, row))
    return release, rows, sum(cell == "*" for row in rows for cell in row)


def matches(rows):
    """For each kind of row, how many rows say the same wherever both say something; by asking for each set of blanks."""
    by_blanks = defaultdict(Counter)
    for row, many in Counter(rows).items():
        by_blanks[tuple(cell == "*" for cell in row)][row] += many
    for row in set(rows):
        found = 0
        for blanks, others in by_blanks.items():
            said = [j for j in range(len(row)) if not blanks[j] and row[j] != "*"]
            found += sum(many for other, many in others.items() if all(other[j] == row[j] for j in said))
        yield found


def test_blanks_that_are_values_make_classes(tmp_path):
    release, rows, blanks = blanked(tmp_path)
    assert min(Counter(rows).values()) >= 5
    assert blanks <= 5_400
    assert release.k == 5


def test_blanks_that_may_be_any_value_are_few_and_no_k_anonymity(tmp_path):
    release, rows, blanks = blanked(tmp_path, rule="wildcard")
    assert min(matches(rows)) >= 5
    assert blanks <= 2_300  # 4,294 before cells are given back, which the kernel's test holds
    assert min(Counter(rows).values()) == 1
    assert release.k is None
