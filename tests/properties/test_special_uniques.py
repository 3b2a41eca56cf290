"""Special uniques against a search that tries every set of columns on every record, by the definition."""

from itertools import combinations
from math import factorial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.special_uniques import minimal_sets, special_uniques


@st.composite
def records(draw, persons):
    """Distinct combinations with rows, missing cells and persons, as they come of a table of rows."""
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 5))
    cells = draw(st.lists(st.lists(st.integers(0, 3), min_size=d, max_size=d), min_size=n, max_size=n))
    missing = draw(st.lists(st.sampled_from((None, 0, 1, 2, 3)), min_size=d, max_size=d))  # the code that means it
    whose = draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n)) if persons else list(range(n))
    return np.array(cells), missing, np.array(whose)


def searched(cells, missing, whose, weight=lambda s, d: factorial(d - s)):
    """Of every row its minimal uniques; of every set its classes, unique rows and pairs."""
    n, d = cells.shape
    minimal, sets = [[] for _ in range(n)], {}
    for size in range(1, d + 1):
        for chosen in combinations(range(d), size):
            agree = (cells[:, None, chosen] == cells[None, :, chosen]).all(axis=2)
            sets[chosen] = (
                len({tuple(row) for row in cells[:, chosen].tolist()}),
                int((agree.sum(axis=1) == 1).sum()),
                int(agree.sum() - n),
            )
            for i in range(n):
                mine = set(whose[agree[i]].tolist()) == {int(whose[i])}
                smaller = any(set(one) < set(chosen) for one in minimal[i])
                if mine and not smaller and not any(cells[i, j] == missing[j] for j in chosen):
                    minimal[i].append(chosen)
    return minimal, sets, [sum(weight(len(one), d) for one in mine) for mine in minimal]


def found(cells, missing, whose, **how):
    distinct, place, rows = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    owners = [set(whose[place == c].tolist()) for c in range(len(distinct))]
    owner = np.array([one.pop() if len(one) == 1 else -1 for one in owners])
    known = np.array([[value != missing[j] for j, value in enumerate(row)] for row in distinct.tolist()])
    return special_uniques(distinct, rows, owner, known, **how), place


@given(records(persons=False))
def test_rows(table):
    cells, *_ = table
    minimal, sets, scores = searched(*table)
    ours, place = found(*table, listed=40)
    every = [tuple(chosen) for one in ours.sizes for chosen in one.columns.tolist()]
    assert ours.scores[place].tolist() == scores
    assert [[every[number] for number in ours.listed[c] if number >= 0] for c in place] == minimal
    tallies = [t for one in ours.sizes for t in zip(one.classes.tolist(), one.unique.tolist(), one.together.tolist())]
    assert dict(zip(every, tallies)) == {chosen: sets[chosen] for chosen in every}
    assert [int(one.special.sum()) for one in ours.sizes] == [
        sum(len(m) == s + 1 for mine in minimal for m in mine) for s in range(len(ours.sizes))
    ]
    assert ours.total == sum(scores)
    assert ours.complete
    most = max(one[0] for one in sets.values())
    telling = [set(chosen) for chosen, one in sets.items() if one[0] >= most]
    assert list(map(set, minimal_sets(ours.sizes, most))) == [one for one in telling if not any(other < one for other in telling)]
    assert len(cells)


@given(records(persons=True))
def test_persons(table):
    """Who is alone on a set has all rows that agree on it."""
    cells, _, whose = table
    minimal, _, scores = searched(*table)
    ours, place = found(*table)
    assert ours.scores[place].tolist() == scores
    once = {(m, tuple(cells[i, list(m)].tolist()), int(whose[i])) for i, mine in enumerate(minimal) for m in mine}
    assert [int(one.special.sum()) for one in ours.sizes] == [sum(len(m) == s + 1 for m, *_ in once) for s in range(len(ours.sizes))]
    assert ours.total == sum(factorial(cells.shape[1] - len(m)) for m, *_ in once)


@given(records(persons=False), st.integers(1, 3))
def test_a_bounded_search_finds_the_same_as_far_as_it_goes(table, largest):
    whole, _ = found(*table)
    part, _ = found(*table, largest=largest)
    assert len(part.sizes) <= largest
    for mine, theirs in zip(part.sizes, whole.sizes):
        assert all((a == b).all() for a, b in zip(mine, theirs))


@given(st.integers(2, 30), st.integers(1, 30), st.randoms(use_true_random=False))
def test_codes_that_fill_several_words(n, columns, random):
    """Codes of up to 40 bits: pairs of columns against counting them one by one."""
    pool = [random.getrandbits(40) for _ in range(4)]
    cells = np.array([[random.choice(pool) for _ in range(columns)] for _ in range(n)])
    ours = special_uniques(*_distinct(cells), largest=2)
    for one in ours.sizes:
        for chosen, classes, unique in zip(one.columns.tolist(), one.classes.tolist(), one.unique.tolist()):
            _, many = np.unique(cells[:, chosen], axis=0, return_counts=True)
            assert (classes, unique) == (len(many), int((many == 1).sum()))


def _distinct(cells):
    return np.unique(cells, axis=0, return_counts=True)
