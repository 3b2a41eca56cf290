"""The risk of a file as it is, against counting rows and persons one by one."""

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import shoal
from tests.properties.test_special_uniques import searched


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 16)), draw(st.integers(1, 4))
    cells = st.sampled_from([None, "a", "b", "c"])
    table = {f"c{j}": draw(st.lists(cells, min_size=n, max_size=n)) for j in range(d)}
    return {**table, "who": draw(st.lists(st.integers(0, n // 2 + 1), min_size=n, max_size=n))}


def counts(table, quasi, whose):
    """Of every row the persons in its class, and their number in all."""
    rows = list(zip(*(table[column] for column in quasi)))
    return np.array([len({w for other, w in zip(rows, whose) if other == row}) for row in rows]), len(set(rows))


@given(tables())
def test_rows_are_counted_one_by_one(table):
    quasi = [column for column in table if column != "who"]
    n = len(table["who"])
    found = shoal.risk(table, quasi=quasi)
    alike, classes = counts(table, quasi, range(n))
    assert found.class_size.tolist() == alike.tolist()
    assert (found.classes, found.unique, found.smallest_class) == (classes, int((alike == 1).sum()), int(alike.min()))
    assert found.below == {k: int((alike < k).sum()) for k in (2, 3, 5, 10)}
    assert sum(size * many for size, many in found.histogram.items()) <= n
    for one in found.columns:
        alone, different = counts(table, [one.column], range(n))
        assert one.distinction == different / n
        assert one.separation is None if n == 1 else abs(one.separation - (1 - (alone - 1).sum() / (n * (n - 1)))) < 1e-12
    least = max(counts(table, chosen, range(n))[1] for size in range(1, len(quasi) + 1) for chosen in combinations(quasi, size))
    for key in found.keys:
        assert counts(table, key, range(n))[1] == least
        assert all(counts(table, part, range(n))[1] < least for part in combinations(key, len(key) - 1) if part)


@given(tables())
def test_persons_are_counted_one_by_one(table):
    quasi = [column for column in table if column != "who"]
    whose = table["who"]
    found = shoal.risk(table, quasi=quasi, person="who")
    alike, classes = counts(table, quasi, whose)
    smallest = {w: min(alike[i] for i in range(len(whose)) if whose[i] == w) for w in whose}
    assert (found.unit, found.persons, found.classes) == ("persons", len(smallest), classes)
    assert found.unique == sum(size == 1 for size in smallest.values())
    assert found.below == {k: sum(size < k for size in smallest.values()) for k in (2, 3, 5, 10)}
    cells = np.array([[value or "-" for value in table[column]] for column in quasi]).T
    _, _, scores = searched(cells, ["-"] * len(quasi), np.array(whose))
    assert found.scores.tolist() == scores
    assert found.special == len({w for w, score in zip(whose, scores) if score})
    rows = {w: {row for row, v in zip(map(tuple, cells.tolist()), whose) if v == w} for w in whose}
    assert (found.keys is None) == any(len(one) > 1 for one in rows.values())
