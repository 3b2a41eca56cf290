"""Patterns against a loop over rows and patterns, for any table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import Release, Roles, Table, cell
from shoal.kernels.coverage import TAKEN, satisfied
from shoal.kernels.linkage.containment import Ranges
from shoal.runs.patterns import patterns_of


def allows(text, value) -> bool:
    """Whether a cell allows a value, read the slow way."""
    one = cell.read(text)
    if one.suppressed:
        return True
    if one.interval:
        return value is not None and not isinstance(value, str) and one.interval[0] <= value <= one.interval[1]
    for said, ends in zip(one.values, one.within or (None,) * len(one.values)):
        if ends and not isinstance(value, str):
            if value is not None and ends[0] <= value <= ends[1]:
                return True
        elif (said is None and value is None) or (said is not None and value is not None and said == str(value)):
            return True
    return False


@st.composite
def releases(draw):
    """Groups of two or more originals, each column's cell any that allows the group's values; some originals stay out."""
    number = st.one_of(st.none(), st.integers(-3, 6))
    word = st.one_of(st.none(), st.sampled_from(["a", "b", "*", "{a", "[1..2]", "x|y", "\\"]))
    kinds = [draw(st.sampled_from(["number", "word"])) for _ in range(draw(st.integers(1, 3)))]
    rows = draw(st.lists(st.tuples(*(number if kind == "number" else word for kind in kinds)), min_size=2, max_size=14))
    order = draw(st.permutations(range(len(rows))))
    groups, at = [], 0
    while len(rows) - at >= 2 and (not groups or draw(st.booleans())):
        size = draw(st.integers(2, len(rows) - at))
        groups.append(order[at : at + size])
        at += size
    released, source = [], []
    for group in groups:
        cells = []
        for c, kind in enumerate(kinds):
            values = sorted({rows[i][c] for i in group} - {None})
            gone = [None] if any(rows[i][c] is None for i in group) else []
            said = [str(value) for value in values]
            form = draw(st.sampled_from(["set", "interval", "suppressed", "parts"]))
            if form == "suppressed":
                cells.append("*")
            elif kind == "number" and values and form == "interval" and not gone:
                cells.append(cell.write_interval(values[0], values[-1]))
            elif kind == "number" and values and form == "parts":
                cells.append(cell.write_parts([cell.write_interval(values[0], values[-1]), *gone]))
            else:
                cells.append(cell.write_set([*said, *gone]))
        released += [cells] * len(group)
        source += list(group)
    names = [f"c{j}" for j in range(len(kinds))]
    plain = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    columns = {name: [cells[j] for cells in released] for j, name in enumerate(names)}
    return rows, names, plain, columns, source


@settings(deadline=None)
@given(releases())
def test_counts_are_those_of_a_loop(made):
    rows, names, plain, columns, source = made
    original = Table.of(plain)
    table = Table(Table.of(columns).arrow, cells=frozenset(names))
    release = Release.given(table, np.array(source), Roles(quasi=tuple(names)))
    found = patterns_of(release, original)
    assert found.note == ""
    many, total = [0] * len(rows), [0] * len(rows)
    released = list(zip(*(columns[name] for name in names)))
    for p in found.found:
        texts = tuple(p.cells.values())
        assert p.support == released.count(texts)
        inside = [i for i, row in enumerate(rows) if all(allows(text, value) for text, value in zip(texts, row))]
        assert p.coverage == len(inside) >= p.support
        for i in inside:
            many[i] += 1
            total[i] += p.support
    assert len(found.found) == len(set(released))
    assert found.satisfied == (many.count(0), many.count(1), many.count(2), sum(m > 2 for m in many))
    assert found.smallest_set == min(t for t in total if t)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([1, 63, 64, 65, TAKEN - 1, TAKEN + 1]))
def test_kernel_counts_any_number_of_patterns(seed, columns, number):
    """At the edges of words and of what is taken at a time, some cells allowing nothing."""
    rng = np.random.default_rng(seed)
    levels, kinds = 7, 20
    values, rows = rng.integers(0, levels, (kinds, columns)), rng.integers(1, 4, kinds)
    allowed = rng.random((columns, 12, levels)) < 0.5
    cells, support = rng.integers(0, 12, (number, columns)), rng.integers(1, 9, number)
    base, begin, low = [], [0], []
    for c in range(columns):
        base.append(len(begin) - 1)
        for x in range(12):
            low += np.flatnonzero(allowed[c, x]).tolist()
            begin.append(len(low))
    ranges = Ranges(*(np.array(part, np.int64) for part in (base, begin, low, low)))
    covers, many, total = satisfied(values, rows, cells, ranges, support)
    inside = np.ones((kinds, number), bool)
    for c in range(columns):
        inside &= allowed[c][cells[:, c]][:, values[:, c]].T
    assert covers.tolist() == (inside * rows[:, None]).sum(axis=0).tolist()
    assert many.tolist() == inside.sum(axis=1).tolist()
    assert total.tolist() == (inside * support).sum(axis=1).tolist()


@pytest.mark.parametrize("method", ["mondrian", "balanced-mondrian", "kactus", "kactus-refined", "anti-unification-safe"])
def test_patterns_of_generalizing_methods(method):
    """Every released record satisfies its own pattern, and nobody is hidden among fewer than k."""
    patients = shoal.invented_patients(300, seed=3)
    roles = Roles(quasi=("age", "sex", "zip", "education"), identifier=("name",), target="diagnosis")
    release = shoal.protect(patients, method, k=5, roles=roles, seed=1)
    found = patterns_of(release, patients)
    assert sum(p.support for p in found.found) == len(release)
    assert all(p.coverage >= p.support >= 5 for p in found.found)
    assert all(sum(p.classes["diagnosis"].values()) == p.support for p in found.found)
    assert sum(found.satisfied) == len(patients)
    assert found.satisfied[0] <= len(patients) - len(release)
    assert found.smallest_set >= 5


def test_a_list_of_patterns_stands_for_the_records_its_support_says():
    """Each listed row says how many of one class support it; two classes with the same cells are one pattern."""
    patients = shoal.invented_patients(300, seed=3)
    roles = Roles(quasi=("age", "sex", "education"), identifier=("name",), confidential=("diagnosis",))
    release = shoal.protect(patients, "anti-unification", k=3, limit=1, roles=roles, seed=1)
    found = patterns_of(release, patients)
    assert found.note == ""
    assert sum(p.support for p in found.found) == sum(release.table.column("support").to_pylist())
    ages, sexes, schools, ills = (patients.column(c).to_pylist() for c in ("age", "sex", "education", "diagnosis"))
    for p in found.found:
        inside = [
            ill
            for age, sex, school, ill in zip(ages, sexes, schools, ills)
            if allows(p.cells["age"], age) and allows(p.cells["sex"], sex) and allows(p.cells["education"], school)
        ]
        assert p.coverage == len(inside)
        assert all(3 <= n <= inside.count(ill) for ill, n in p.classes["diagnosis"].items())
