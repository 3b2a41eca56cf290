"""The riskiest records come by class, original beside released, with a remedy; nothing of it is public."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.release import Release
from shoal.report.private_page import Riskiest, riskiest_records
from shoal.roles import Roles
from shoal.runs.riskiest import GROUPS, ORIGINALS, riskiest, stands_out
from shoal.score import AttackResult
from shoal.table import Table

ORIGINAL = Table.of({"age": [20, 21, 22, 60, 61, 99], "town": ["A", "A", "A", "A", "A", "B"], "illness": ["x", "y", "x", "z", "z", "z"]})
ROLES = Roles(quasi=("age", "town"), confidential=("illness",)).check(ORIGINAL)
ORDER = np.array([5, 0, 3, 1, 4, 2])  # the release's rows are in another order
RELEASED = Table.of({"age": [73.3, 21, 73.3, 21, 73.3, 21], "town": ["A"] * 6, "illness": ["z", "x", "z", "y", "z", "x"]})
RELEASE = Release.given(RELEASED, ORDER, ROLES)


def attack(per_record: list[float], name: str = "distance-linkage", risk: str = "linkage") -> AttackResult:
    found = np.asarray(per_record)
    return AttackResult(name, name, len(found), float(np.nansum(found)), 0, 1 / len(found), (0, 1), risk, per_record=found)


def test_by_hand() -> None:
    third = 1 / 3
    found = riskiest(ORIGINAL, RELEASE, ROLES, [attack([third, third, 0, third, third, third]), attack([1] * 6, "near", "interval")])
    assert (found.records, found.of) == (5, 2)
    young, old = sorted(found.groups, key=lambda group: group.records)
    assert (old.records, old.alike, old.found_by) == (3, 3, "distance-linkage")
    assert [row for row, _ in old.originals] == [4, 5, 6]
    assert dict(zip(old.columns, old.originals[2][1])) == {"age": "99", "town": "B"}
    assert "at most 1 in the size of its class" in old.because
    assert "All in the class have the same 'illness': ask for l" in old.remedy
    assert [row for row, _ in young.originals] == [1, 2]
    assert "illness" not in young.remedy
    assert young.risk == pytest.approx(third)


def test_the_column_that_stands_out_is_blamed_and_shown_first() -> None:
    ages = [*range(30, 50)] * 5 + [101, 102]
    table = Table.of({"sex": ["f", "m"] * 51, "age": ages})
    roles = Roles(quasi=("sex", "age")).check(table)
    same = Release.given(table, np.arange(102), roles)
    found = riskiest(table, same, roles, [attack([1 / 5] * 100 + [1.0, 1.0])])
    first = found.groups[0]
    assert (first.risk, first.alike, first.stands_out, first.columns) == (1.0, 1, "age", ("age", "sex"))
    assert "top-code it, suppress it here, or leave out this record" in first.remedy
    assert "Nothing else looks like it" in first.because


def test_what_stands_out_by_hand() -> None:
    table = Table.of({"n": [1, 2, 3, 4, None], "c": ["a", "a", "a", "b", None]})
    roles = Roles(quasi=("n", "c")).check(table)
    assert stands_out(table, roles, "n").tolist() == [0.75, 0.25, 0.25, 0.75, 0]  # 4 known: middles of ranks 1/8, 3/8, 5/8, 7/8
    assert stands_out(table, roles, "c").tolist() == [0, 0, 0, 0.75, 0]
    sizes = Table.of({"s": ["small", "large", "small", "medium"]})
    ordered = Roles(quasi=("s",), ordinal={"s": ("small", "medium", "large")}).check(sizes)
    assert stands_out(sizes, ordered, "s").tolist() == [0.5, 0.75, 0.5, 0.25]


def test_what_nobody_answered_is_no_reason_to_ask_for_l() -> None:
    table = Table.of({"age": [1, 1, 1], "ill": ["-9", "-9", "-9"]})
    roles = Roles(quasi=("age",), confidential=("ill",), missing={"ill": ("-9",)}).check(table)
    found = riskiest(table, Release.given(table, np.arange(3), roles), roles, [attack([1 / 3] * 3)])
    assert "ask for l" not in found.groups[0].remedy


def test_records_that_left_the_release_and_suppressed_columns() -> None:
    table = Table.of({"age": [1, 2, 3, 99], "town": ["A", "B", "A", "A"]})
    roles = Roles(quasi=("age", "town")).check(table)
    released = Table.of({"age": ["*", "*"], "town": ["A", "A"]})
    found = riskiest(table, Release.given(released, np.array([0, 3]), roles), roles, [attack([0.5, 1.0, 0.5, 0.5])])
    assert (found.records, found.of) == (2, 1)  # rows 2 and 3 are not in it
    assert found.groups[0].columns == ("town",)  # nothing is to be seen in age
    assert (found.groups[0].hidden_columns, found.groups[0].suppressed) == (0, 1)


def test_nothing_found_is_said() -> None:
    for results in ([], [attack([0.0] * 6)], [attack([np.nan] * 6)]):
        assert riskiest(ORIGINAL, RELEASE, ROLES, results) == Riskiest()
    assert "No record was singled out" in riskiest_records(Riskiest())


def test_fifty_equal_lines_become_groups() -> None:
    """It was one line a record, "20.0 %" fifty times, in the order of rows."""
    rows = 100
    table = Table.of({"age": np.arange(rows), "sex": ["f", "m"] * (rows // 2)})
    roles = Roles(quasi=("age", "sex")).check(table)
    released = Table.of({"age": np.arange(rows) // 5 * 5 + 2.0, "sex": ["f"] * rows})
    found = riskiest(table, Release.given(released, np.arange(rows), roles), roles, [attack([0.2] * rows)])
    page = riskiest_records(found).replace("\u00a0", " ")
    assert found.of == 20
    assert page.count("<h3>20.0 %") == GROUPS
    assert page.count("at most 1 in the size of its class") == 1
    assert found.groups[0].originals[0][0] in (1, 96)  # the farthest from the middle first
    assert ">released<" in page
    assert "row 96<" in page


def test_an_attack_that_knows_more_than_the_columns_is_said_apart() -> None:
    """Who knows the household finds all of a class of three; the column that stands out would be blamed for nothing."""
    third = 1 / 3
    found = riskiest(ORIGINAL, RELEASE, ROLES, [attack([third] * 6), attack([1.0] * 6, "household-linkage")])
    assert found.beyond == (("household-linkage", 6),)
    assert {group.found_by for group in found.groups} == {"distance-linkage"}
    assert "household-linkage</b> finds 6 records more often than 1 in the size of their class" in riskiest_records(found)
    alone = riskiest(ORIGINAL, RELEASE, ROLES, [attack([1.0] * 6, "household-linkage")])
    assert (alone.groups, alone.records) == ((), 0)
    assert "No record" not in riskiest_records(alone)


def test_the_size_of_a_class_is_in_persons_where_they_are_told() -> None:
    """Six rows of two persons: 1 in 2 is what the class gives."""
    table = Table.of({"age": [5] * 6})
    roles = Roles(quasi=("age",)).check(table)
    release = Release.given(table, np.arange(6), roles, persons=np.array([0, 0, 0, 0, 0, 1]))
    found = riskiest(table, release, roles, [attack([0.5] * 6)])
    assert found.beyond == ()
    assert (found.groups[0].alike, found.groups[0].persons) == (6, 2)


@given(st.data())
def test_every_record_that_is_found_is_in_one_group(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 40))
    table = Table.of({"a": data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), "b": ["x"] * n})
    roles = Roles(quasi=("a", "b")).check(table)
    order = np.array(data.draw(st.permutations(range(n))))
    cells = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    release = Release.given(Table.of({"a": cells, "b": ["x"] * n}), order, roles)
    parts = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0, np.nan]), min_size=n, max_size=n))
    cell_of = dict(zip(order.tolist(), cells))
    risks = [round(part / cells.count(cell_of[row]), 9) for row, part in enumerate(parts)]  # a class gives no more
    found = riskiest(table, release, roles, [attack(risks)])
    keys: dict[tuple[float, str], list[int]] = {}
    for row in range(n):
        if risks[row] > 0:
            keys.setdefault((risks[row], str(cell_of[row])), []).append(row + 1)
    assert (found.records, found.of) == (sum(map(len, keys.values())), len(keys))
    assert [group.risk for group in found.groups] == sorted((risk for risk, _ in keys), reverse=True)[:GROUPS]
    for group in found.groups:
        rows = keys[group.risk, dict(zip(group.columns, group.released))["a"]]
        assert group.records == len(rows)
        assert [row for row, _ in group.originals] == rows[:ORIGINALS]
        assert group.alike == sum(str(cell) == group.released[group.columns.index("a")] for cell in cells)
