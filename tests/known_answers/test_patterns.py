"""Patterns worked by hand."""

import datetime

import numpy as np
import pytest

import shoal
from shoal import Release, Roles, Table
from shoal.errors import DataError, ParameterError
from shoal.report.private_page import Riskiest
from shoal.report.table_pages import internal_report, public_report
from shoal.runs.patterns import Pattern, generalized_patterns, patterns_of
from tests.report.test_figures import certificate

# Eleven records. Four groups are released; the 8th and the 9th record are not.
ORIGINAL = Table.of(
    {
        "sex": ["F", "F", "F", "M", "M", "M", "F", "M", "M", "F", "F"],
        "age": [20, 22, 22, 30, 31, 35, 40, 22, 50, 60, 61],
        "town": ["A", "A", "B", "A", "A", "B", "B", "A", "B", "A", "A"],
        "ill": ["yes", "no", "yes", "no", "no", "no", "yes", "yes", "no", "yes", "no"],
    }
)
ROLES = Roles(quasi=("sex", "age", "town"), confidential=("ill",)).check(ORIGINAL)
YOUNG, MIDDLE, OLD, ELDEST = ("F", "[20..22]", "*"), ("*", "[22..31]", "A"), ("*", "{35|40}", "B"), ("F", "*", "A")


def released(rows: list[tuple[int, tuple[str, str, str]]]) -> Release:
    """Original rows counted from 1, each with its cells."""
    source = np.array([row - 1 for row, _ in rows])
    cells = {column: [cells[j] for _, cells in rows] for j, column in enumerate(ROLES.quasi)}
    ill = ORIGINAL.column("ill").to_pylist()
    return Release.given(Table.of({**cells, "ill": [ill[row] for row in source]}), source, ROLES)


RELEASE = released(
    [(1, YOUNG), (4, MIDDLE), (2, YOUNG), (6, OLD), (10, ELDEST), (3, YOUNG), (5, MIDDLE), (7, OLD), (11, ELDEST)],
)


def test_support_coverage_and_classes_by_hand():
    found = {tuple(p.cells.values()): p for p in patterns_of(RELEASE, ORIGINAL).found}
    assert {cells: (p.support, p.coverage) for cells, p in found.items()} == {
        YOUNG: (3, 3),  # records 1, 2, 3
        MIDDLE: (2, 4),  # 2, 4, 5, 8
        OLD: (2, 2),  # 6, 7
        ELDEST: (2, 4),  # 1, 2, 10, 11
    }
    assert {cells: dict(p.classes["ill"]) for cells, p in found.items()} == {
        YOUNG: {"yes": 2, "no": 1},
        MIDDLE: {"no": 2},
        OLD: {"no": 1, "yes": 1},
        ELDEST: {"no": 1, "yes": 1},
    }
    assert found[YOUNG].purity == pytest.approx(2 / 3)
    assert found[YOUNG].length == 2
    assert found[YOUNG].rule == "sex = F and age in [20..22]"
    assert found[OLD].rule == "age in {35|40} and town = B"


def test_records_are_counted_by_the_patterns_they_satisfy():
    """Record 9 satisfies none, 1 two, 2 three, the others one; 6 is hidden among the two of its own pattern, 2 among seven."""
    found = patterns_of(RELEASE, ORIGINAL)
    assert found.satisfied == (1, 8, 1, 1)
    assert found.smallest_set == 2
    assert found.note == ""


def test_orders():
    found = patterns_of(RELEASE, ORIGINAL)
    assert [p.support for p in found.by("support")] == [3, 2, 2, 2]
    assert [p.coverage for p in found.by("coverage")] == [4, 4, 3, 2]
    assert [p.length for p in found.by("length")] == [2, 2, 2, 2]
    assert found.by("purity")[0].rule == "age in [22..31] and town = A"
    with pytest.raises(ParameterError, match="Did you mean 'length'"):
        found.by("lenght")


def test_a_release_alone_has_no_coverage():
    found = patterns_of(RELEASE)
    assert [p.support for p in found.found] == [3, 2, 2, 2]
    assert {p.coverage for p in found.found} == {None}
    assert found.satisfied is None
    assert found.smallest_set is None
    with pytest.raises(ParameterError, match="no original"):
        found.by("coverage")


def test_without_classes_there_is_no_purity():
    bare = Release.given(RELEASE.table, RELEASE.source_row, Roles(quasi=("sex", "age", "town")))
    with pytest.raises(ParameterError, match="no target or confidential"):
        patterns_of(bare, ORIGINAL).by("purity")


def test_one_row_per_pattern_takes_support_from_its_column():
    """Two classes with the same cells are one pattern, and add up."""
    table = Table.of(
        {
            "sex": ["F", "F", "*"], "age": ["*", "*", "[22..31]"], "town": ["A", "A", "A"],
            "ill": ["yes", "no", "no"], "support": [2, 2, 2],
        }
    )  # fmt: skip
    found = patterns_of(Release.given(table, np.array([0, 1, 3]), ROLES), ORIGINAL)
    assert [(p.rule, p.support, p.coverage, dict(p.classes["ill"])) for p in found.found] == [
        ("sex = F and town = A", 4, 4, {"no": 2, "yes": 2}),
        ("age in [22..31] and town = A", 2, 4, {"no": 2}),
    ]
    assert found.satisfied == (4, 6, 1, 0)  # 3, 6, 7, 9; 2 satisfies both


def test_support_of_the_original_is_a_column_like_any_other():
    original = Table.of({"age": [1, 1, 2, 2], "support": [9, 9, 9, 9]})
    roles = Roles(quasi=("age",), other=("support",)).check(original)
    assert [p.support for p in patterns_of(Release.given(original, np.arange(4), roles), original).found] == [2, 2]
    assert [p.support for p in patterns_of(Release.given(original, np.arange(4), roles)).found] == [2, 2]


def test_support_that_counts_nothing_is_refused():
    table = Table.of({"age": ["1", "*"], "support": [0, 3]})
    with pytest.raises(DataError, match="whole numbers of 1 or more"):
        patterns_of(Release.given(table, np.arange(2), Roles(quasi=("age",))))


def test_missing_marks_and_dates():
    """Missing is a value of its own; a category that reads like a cell stays a category."""
    day = [datetime.date(2020, 1, d) for d in (1, 5, 9, 9)]
    original = Table.of({"mark": ["*", "*", None, "{a"], "day": day, "size": [None, 1.5, 2.5, None]})
    table = Table.of(
        {
            "mark": ["\\*", "\\*", "{|\\{a}", "{|\\{a}"],
            "day": ["[2020-01-01..2020-01-05]"] * 2 + ["2020-01-09"] * 2,
            "size": ["{1.5|}", "{1.5|}", "*", "*"],
        }
    )
    found = patterns_of(Release.given(table, np.arange(4), Roles(quasi=("mark", "day", "size"))), original)
    assert [(p.rule, p.support, p.coverage) for p in found.found] == [
        ("mark = * and day in [2020-01-01..2020-01-05] and size in {1.5|missing}", 2, 2),
        ("mark in {missing|{a} and day = 2020-01-09", 2, 2),
    ]


def test_long_sets_and_empty_rules():
    long = "{" + "|".join(str(i) for i in range(30)) + "}"
    assert Pattern({"age": long}, 5, None, {}).rule == "age in {0|1|2|3|4|5|...|29} (30 values)"
    assert Pattern({"age": "*"}, 5, None, {}).rule == "any record"
    assert Pattern({"age": None}, 5, None, {}).rule == "age is missing"


def test_changed_values_are_patterns_without_coverage():
    patients = shoal.invented_patients(200)
    roles = Roles(quasi=("age", "income"), identifier=("name",))
    release = shoal.protect(patients, "mdav", k=5, roles=roles, seed=1)
    found = patterns_of(release, patients)
    assert min(p.support for p in found.found) >= 5
    assert {p.coverage for p in found.found} == {None}
    assert found.note == "Coverage is not counted: 'age', 'income' were released with changed values, which no original need have."
    assert generalized_patterns(release, patients) is None


def test_no_groups_no_patterns():
    patients = shoal.invented_patients(200)
    release = shoal.protect(patients, "noise", roles=Roles(quasi=("age", "income"), identifier=("name",)), seed=1)
    with pytest.raises(DataError, match="no groups"):
        patterns_of(release, patients)
    with pytest.raises(ParameterError, match="no quasi-identifier"):
        patterns_of(Release.given(release.table, release.source_row, Roles()), patients)
    with pytest.raises(DataError, match="does not belong"):
        patterns_of(release, patients.take(np.arange(5)))


BARE = certificate([], steps=[], promises=[], measures=[], attacks=[], summary={}, warnings=[], versions={})


def test_only_the_internal_report_says_what_the_original_tells():
    found = patterns_of(RELEASE, ORIGINAL)
    public, internal = public_report(BARE, [], found), internal_report(BARE, [], Riskiest(), found)
    assert "age in [22..31] and town = A" in public
    assert "age in [22..31] and town = A" in internal
    for said in ("1 satisfy no pattern", "Originals that satisfy it", 'class="n">4</td>'):
        assert said in internal
        assert said not in public
    single = released([(1, YOUNG), (2, YOUNG), (3, YOUNG), (6, OLD), (7, OLD), (9, ("M", "50", "B"))])
    assert "50" not in public_report(BARE, [], patterns_of(single, ORIGINAL)).split("<main>")[1]


def test_a_group_is_said_by_its_name_where_only_the_original_tells_what_it_holds():
    zips = [f"0{8000 + i % 120}" for i in range(480)]
    table = Table.of({"zip": zips, "job": ["nurse", "cook", "clerk", "smith"] * 120})
    roles = Roles(quasi=("zip", "job"), hierarchies={"zip": "prefix 3, 2", "job": {"rows": ["nurse;care", "cook;food"], "other": "else"}})
    release = shoal.protect(table, "recoding", k=15, roles=roles, lowest={"zip": 1, "job": 1}, seed=1)
    found = patterns_of(release, table)
    assert {one.rule for one in found.found} == {
        f"zip in {zip} and job in {job}" for zip in ("080", "081") for job in ("else", "care", "food")
    }
    assert [one.coverage for one in found.found] == [one.support for one in found.found]  # counted by what the names stand for
    page = public_report(certificate([]), [], found)
    assert "zip in 080" in page
    assert not any(code in page for code in zips)
