"""Counts equal counting; exact sums equal fractions, however rows are cut; the tree of classes answers like a look at every class."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.counts import Counts, Moments
from shoal.files import read_table
from shoal.kernels.linkage.containment import Ranges, class_tree, linked_to_class
from shoal.promises import Promise
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.table import Table

CELLS = st.sampled_from([None, "a", "b", "c"])
NUMBERS = st.one_of(st.none(), st.integers(-3, 3))
ROWS = st.lists(st.tuples(CELLS, NUMBERS, CELLS), min_size=1, max_size=40)


def table_of(rows):
    return Table.of({name: list(column) for name, column in zip("xyz", zip(*rows))})


@given(ROWS, st.integers(1, 5))
def test_counts_are_those_of_a_counter_and_parts_add_up(rows, parts):
    table = table_of([("a", 0, "a"), *rows])
    for counts in (
        Counts.of(table, ["x", "y"]),
        Counts.merged([Counts.of(table.take(some), ["x", "y"]) for some in np.array_split(np.arange(len(table)), parts) if len(some)]),
    ):
        seen = list(zip(*(counts.table.column(c).to_pylist() for c in "xy")))
        assert dict(zip(seen, counts.rows.tolist())) == Counter((x, y) for x, y, _ in [("a", 0, "a"), *rows])
        assert [seen[place] for place in counts.places(table).tolist()] == [(x, y) for x, y, _ in [("a", 0, "a"), *rows]]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=30), st.integers(1, 4))
def test_sums_are_exact_however_rows_are_cut(values, parts):
    points = np.array(values, float)[:, None]
    low, high = points.min(axis=0), points.max(axis=0)
    whole = Moments.of([points], low, high)
    cut = Moments.of([part for part in np.array_split(points, parts) if len(part)], low, high)
    assert whole.sums == cut.sums
    assert whole.products == cut.products
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    variance = sum((v - mean) ** 2 for v in exact) / (len(exact) - 1)
    assert whole.covariances[0, 0] == pytest.approx(float(variance), rel=1e-7, abs=1e-9)


@given(ROWS)
def test_the_check_counts_like_a_dictionary(rows):
    columns, about = ("x", "y"), "z"
    promises = tuple(
        Promise(what, 1, columns, None if what == "k-anonymity" else about) for what in ("k-anonymity", "l-diversity", "t-closeness")
    )
    step = Step("counted", {}, columns, (), "", promises)
    release = Release(table_of(rows), (step,), np.arange(len(rows)), Roles())
    classes: dict = {}
    for x, y, z in rows:
        classes.setdefault((x, y), Counter())[z] += 1
    whole = Counter(z for *_, z in rows)
    far = max(sum(abs(values[z] / values.total() - whole[z] / len(rows)) for z in whole) / 2 for values in classes.values())
    found = [one.found for one in check_release(release)]
    assert found[:2] == [min(v.total() for v in classes.values()), min(map(len, classes.values()))]
    assert found[2] == pytest.approx(far)


@given(st.data())
def test_the_tree_of_classes_answers_like_a_look_at_every_class(data):
    columns, levels = data.draw(st.integers(1, 3)), data.draw(st.sampled_from([4, 70]))
    n, cells = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    ranges = [[sorted_ranges(rng, levels) for _ in range(cells)] for _ in range(columns)]
    has = rng.integers(0, cells, (n, columns))
    base, begin, low, high = [], [0], [], []
    for column in ranges:
        base.append(len(begin) - 1)
        for one in column:
            low += [a for a, _ in one]
            high += [b for _, b in one]
            begin.append(len(low))
    tree = class_tree(has, Ranges(*(np.array(part, np.int64) for part in (base, begin, low, high))), np.full(columns, levels))
    known, placed = rng.integers(0, 3, (12, 2)).astype(float), rng.integers(0, 3, (n, 2)).astype(float)
    values, sizes, true = rng.integers(0, levels, (12, columns)), rng.integers(1, 5, n), rng.integers(0, n, 12)
    better, ties = linked_to_class(values, tree, known, placed, sizes, true)
    for i in range(12):
        rank = [
            (
                sum(not any(a <= values[i, c] <= b for a, b in ranges[c][has[g, c]]) for c in range(columns)),
                ((known[i] - placed[g]) ** 2).sum(),
            )
            for g in range(n)
        ]
        assert better[i] == any(one < rank[true[i]] for one in rank)
        if not better[i]:
            assert ties[i] == sum(size for one, size in zip(rank, sizes) if one == rank[true[i]])


def sorted_ranges(rng, levels):
    ends = np.unique(rng.integers(0, levels, 2 * int(rng.integers(1, 3))))
    ends = ends[: len(ends) // 2 * 2].reshape(-1, 2)
    return [(int(a), int(b)) for a, b in ends]


@given(
    st.lists(
        st.sampled_from(["1", "23", "-4", "", "007", "+5", " 6", "1.5", "NA", "x", "9223372036854775807", "12345678901234567890"]),
        min_size=1,
        max_size=8,
    )
)
def test_a_column_is_read_the_same_however_many_whole_numbers_come_before(tmp_path_factory, last):
    """Whole numbers are read as such only where that keeps every letter: what a few rows at the end are decides for all."""
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    first = [str(i % 7) for i in range(30)]
    path.write_text("x,y\n" + "".join(f"{cell},a\n" for cell in [*first, *last]))
    quoted = path.with_name("quoted.csv")
    quoted.write_text("x,y\n" + "".join(f'{cell},"a"\n' for cell in [*first, *last]))  # quotes take the other way
    assert read_table(path).arrow.equals(read_table(quoted).arrow)
