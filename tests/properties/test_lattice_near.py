"""Whatever the table: the optimum is what recoding releases, and every node's figures are those of a recount in plain Python."""

import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import ShoalError
from shoal.roles import Roles
from shoal.table import Table

TREES = {
    "town": [["aa", "north", "*"], ["ab", "north", "*"], ["ba", "south", "*"], ["bb", "south", "*"], ["cc", "cc", "*"]],
    "sex": [["f", "*"], ["m", "*"]],
    "age": [[str(age), f"{age // 10}0s", "*"] for age in range(10, 50)],
}
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["aa", "ab", "ba", "bb", "cc", None]),
        st.sampled_from(["f", "m", None]),
        st.sampled_from([11, 12, 23, 25, 37]),
        st.sampled_from(["x", "y", "z", None]),
    ),
    min_size=4,
    max_size=30,
)


def recounted(rows, levels, k, diverse):
    """Loss, suppressed rows, smallest class, l and t, one row after the other."""
    classes = defaultdict(list)
    for row in rows:
        classes[tuple(published(column, value, level) for column, value, level in zip(TREES, row, levels))].append(row)
    kept, lost, suppressed = [], 0.0, 0
    for inside in classes.values():
        ill = [row[3] for row in inside if row[3] is not None]
        if len(inside) < k or (diverse > 1 and len(set(ill)) < diverse):
            suppressed += len(inside)
            lost += 3 * len(inside)
            continue
        kept.append(inside)
        lost += sum(cost(column, value, level) for row in inside for column, value, level in zip(TREES, row, levels))
    whole = Counter(row[3] for row in rows)
    apart = [
        sum(abs(Counter(row[3] for row in inside)[value] / len(inside) - whole[value] / len(rows)) for value in whole) / 2
        for inside in kept
    ]
    smallest = min(map(len, kept), default=0)
    different = min((len({row[3] for row in inside} - {None}) for inside in kept), default=0)
    return lost / 3 / len(rows), suppressed, smallest, different, max(apart, default=0.0)


def published(column, value, level):
    top = len(TREES[column][0]) - 1
    if value is None:
        return "*" if level == top else None
    return next(row[level] for row in TREES[column] if row[0] == str(value))


def cost(column, value, level):
    """The share of the leaves that a cell leaves open; of missing, as of everything at the top, and nothing below."""
    if value is None:
        return float(level == len(TREES[column][0]) - 1)
    name = published(column, value, level)
    return (sum(row[level] == name for row in TREES[column]) - 1) / (len(TREES[column]) - 1)


@settings(deadline=None, max_examples=80, derandomize=True)
@given(rows=ROWS, k=st.integers(2, 4), diverse=st.integers(1, 2), suppress=st.sampled_from([0.0, 0.1, 0.5]))
def test_figures_are_those_of_a_recount(rows, k, diverse, suppress):
    table = Table.of({name: [row[i] for row in rows] for i, name in enumerate((*TREES, "ill"))})
    roles = Roles(quasi=tuple(TREES), confidential=("ill",), hierarchies=TREES)
    parameters = {"k": k, "l": diverse, "suppress": suppress}
    try:
        release = shoal.protect(table, "recoding", roles=roles, **parameters)
    except ShoalError as refused:
        with pytest.raises(ShoalError, match=re.escape(str(refused))):
            shoal.lattice_near(table, roles=roles, **parameters)
        return
    lattice = shoal.lattice_near(table, roles=roles, nodes=50, **parameters)
    assert tuple(release.made_by[-1].outcome["levels"].values()) == lattice.optimum.levels
    for node in lattice.nodes:
        loss, suppressed, smallest, different, apart = recounted(rows, node.levels, k, diverse)
        assert (node.suppressed, node.smallest, *node.l) == (suppressed, smallest, different)
        assert node.loss == pytest.approx(loss)
        assert node.t == (pytest.approx(apart),)
        assert (node.state == "lacking") == (suppressed > lattice.limit)
        assert node.state == "lacking" or node.loss >= lattice.optimum.loss - 1e-12
