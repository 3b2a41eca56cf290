"""Persons with several rows: small tables worked out by hand."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import shoal
from shoal.attacks import DistanceLinkage, IntervalDisclosure, LearnedLinkage, ProbabilisticLinkage
from shoal.certificate import MeasurePart
from shoal.checks.tables import check_release
from shoal.errors import DataError, ParameterError, PromiseBroken, RoleError
from shoal.measures import (
    AverageClassSize,
    AverageRisk,
    Discernibility,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    MaximumRisk,
    RecursiveLDiversity,
    TCloseness,
    Uniqueness,
)
from shoal.methods import AntiUnification, Mondrian
from shoal.promises import Promise
from shoal.published import Rounding
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.runs.run import refuse_broken
from shoal.runs.unit import unit_of
from shoal.suggest import look, suggest_roles
from shoal.table import Table

# Class a: one person of three rows, and another; class b: three persons.
STAYS = {
    "who": [1, 1, 1, 2, 3, 4, 5],
    "zip": ["a", "a", "a", "a", "b", "b", "b"],
    "ill": ["flu", "cold", "gout", "flu", "flu", "cold", "flu"],
}
ROLES = Roles(quasi=("zip",), confidential=("ill",), person=("who",))


def given(columns=STAYS, roles=ROLES, promises=()) -> tuple[Table, Release]:
    """The columns released as they are."""
    table = Table.of(columns)
    step = Step("as it is", {}, roles.quasi, (), "", tuple(promises))
    release = Release(table.without(roles.person), (step,), np.arange(len(table)), roles, (), table.codes(roles.person[0]))
    return table, release


def found(what: str, value: float = 1, about: str | None = "ill", columns=STAYS, **more) -> float:
    promise = Promise(what, value, ("zip",), about if what != "k-anonymity" else None, "persons", **more)
    return check_release(given(columns, promises=[promise])[1])[0].found


# ---- the independent check ---------------------------------------------------------------------------------------------------------


def test_the_check_counts_persons_and_not_their_rows():
    assert found("k-anonymity") == 2  # class a has four rows of two persons
    assert check_release(given(promises=[Promise("k-anonymity", 3, ("zip",))])[1])[0].found == 3


def test_values_are_counted_as_far_as_different_persons_can_be_given_them():
    assert found("l-diversity") == 2  # three values in class a, but two persons
    assert check_release(given(promises=[Promise("l-diversity", 2, ("zip",), "ill")])[1])[0].found == 2  # class b
    alone = {"who": [1, 1, 1, 2], "zip": ["a"] * 4, "ill": ["flu", "cold", "gout", "flu"]}
    assert found("l-diversity", columns=alone) == 2
    same = {"who": [1, 1, 2, 2], "zip": ["a"] * 4, "ill": ["flu", "flu", "flu", "flu"]}
    assert found("l-diversity", columns=same) == 1


def test_codes_for_missing_are_nobodys_value():
    coded = {"who": [1, 2, 3], "zip": ["a"] * 3, "ill": ["flu", "-9", None]}
    assert found("l-diversity", columns=coded) == 3
    assert found("l-diversity", columns=coded, ignores=("", "-9")) == 1
    assert found("entropy-l-diversity", columns=coded, ignores=("", "-9")) == pytest.approx(1)
    nothing = {"who": [1, 2, 3, 4], "zip": ["a", "a", "b", "b"], "ill": ["flu", "cold", None, "-9"]}
    assert found("l-diversity", columns=nothing, ignores=("", "-9")) == 0
    assert found("entropy-l-diversity", columns=nothing, ignores=("", "-9")) == 0


def test_a_person_weighs_one_however_many_rows_it_has():
    in_b = 2 / 3 * math.log(3 / 2) + 1 / 3 * math.log(3)  # class a: flu 4/3, cold 1/3, gout 1/3 of two persons, which is more
    assert found("entropy-l-diversity") == pytest.approx(math.exp(in_b))
    # of five persons flu has 10/3, cold 4/3, gout 1/3; class a has a sixth of gout, where all have a fifteenth
    assert found("t-closeness") == pytest.approx(1 / 6 - 1 / 15)


def test_fewer_persons_than_promised_are_refused():
    checked = check_release(given(promises=[Promise("k-anonymity", 3, ("zip",), unit="persons")])[1])
    with pytest.raises(PromiseBroken, match="k-anonymity over zip, counting persons: promised 3, found 2"):
        refuse_broken(checked)


def test_a_promise_of_persons_cannot_be_counted_without_them():
    release = replace(given(promises=[Promise("k-anonymity", 2, ("zip",), unit="persons")])[1], persons=None)
    with pytest.raises(DataError, match="whose each row is is not known"):
        check_release(release)


# ---- measures ----------------------------------------------------------------------------------------------------------------------


def score(measure, columns=STAYS, roles=ROLES):
    return measure.measure(*given(columns, roles), roles)


def test_measures_count_persons():
    classes = score(KAnonymity())
    assert classes.value == 2
    assert classes.details == {
        "uniques": 0, "classes": 2, "histogram": {"2": 1, "3": 1}, "rows": 3, "unique_rows": 0, "unit": "persons",
    }  # fmt: skip
    assert score(Uniqueness()).value == 0
    assert score(AverageRisk()).value == pytest.approx(2 / 5)  # two classes, five persons
    assert score(MaximumRisk()).value == 1 / 2
    assert score(Discernibility()).value == 4 + 9
    assert score(AverageClassSize()).value == 2.5
    assert score(DistinctLDiversity()).value == 2
    assert score(EntropyLDiversity()).value == pytest.approx(found("entropy-l-diversity"))
    assert score(TCloseness()).value == pytest.approx(found("t-closeness"))
    assert score(RecursiveLDiversity(c=2.1)).value == 2  # class b: two of flu, one of cold
    assert score(RecursiveLDiversity(c=2)).value == 1
    assert {score(one()).details["unit"] for one in (Uniqueness, DistinctLDiversity, TCloseness, MaximumRisk)} == {"persons"}


def test_a_person_who_is_alone_in_one_class_is_unique():
    columns = {"who": [1, 1, 1, 2, 3], "zip": ["a", "a", "b", "b", "b"], "ill": ["flu"] * 5}
    classes = score(KAnonymity(), columns)
    assert (classes.value, classes.details["uniques"], classes.details["rows"]) == (1, 1, 2)
    assert score(Uniqueness(), columns).value == pytest.approx(1 / 3)
    assert score(AverageRisk(), columns).value == pytest.approx((1 + 1 / 3 + 1 / 3) / 3)  # of the first person the class it is alone in


def test_missing_and_its_codes_make_no_class_diverse():
    coded = {"who": [1, 2, 3, 4], "zip": ["a", "a", "b", "b"], "ill": ["flu", "-9", "flu", None]}
    roles = replace(ROLES, missing={"ill": ("-9",)})
    for measure in (DistinctLDiversity(), EntropyLDiversity()):
        assert score(measure, coded, roles).value == 1
    assert score(DistinctLDiversity(), {**coded, "ill": ["flu", "cold", "-9", None]}, roles).value == 0
    assert score(EntropyLDiversity(), {**coded, "ill": ["flu", "cold", "-9", None]}, roles).value == 0
    assert score(RecursiveLDiversity(), {**coded, "ill": ["flu", "cold", "-9", None]}, roles).value == 0


# ---- planning on one row per person ------------------------------------------------------------------------------------------------


def test_what_is_decided_for_a_person_is_said_of_all_its_rows():
    ages = [20, 20, 20, 21, 22, 60, 60, 61, 62]
    table = Table.of({"who": [1, 1, 1, 2, 3, 4, 4, 5, 6], "age": ages, "ill": list("abcdefghi"), "day": list(range(9))})
    release = shoal.protect(table, "mdav", k=3, roles=Roles(("age",), ("ill",), person=("who",), other=("day",)), seed=1)
    mean = {20: 21, 60: 61}  # of three persons each, not of five and four rows
    before = table.arrow.to_pylist()
    assert release.table.columns == ("age", "ill", "day")
    assert [row["age"] for row in release.table.arrow.to_pylist()] == [
        mean[20 if before[i]["age"] < 40 else 60] for i in release.source_row
    ]
    assert [(r["ill"], r["day"]) for r in release.table.arrow.to_pylist()] == [
        (before[i]["ill"], before[i]["day"]) for i in release.source_row
    ]
    assert sorted(release.source_row) == list(range(9))
    assert release.persons.tolist() == [before[i]["who"] - 1 for i in release.source_row]
    assert [(promise.unit, promise.value) for promise in release.promises] == [("persons", 3)]
    assert release.source_row.tolist() != list(range(9))  # a keyed order


def test_two_persons_of_five_rows_are_not_enough_for_three():
    table = {"who": [1] * 5 + [2] * 5, "age": [20] * 5 + [30] * 5}
    with pytest.raises(shoal.ShoalError, match="2"):
        shoal.protect(table, "mdav", k=3, quasi="age", person="who")


def test_closeness_is_of_one_value_a_person():
    table = {"who": [1, 1, 2, 3, 4], "age": [1, 1, 1, 9, 9], "ill": ["a", "b", "a", "b", "a"]}
    with pytest.raises(ParameterError, match=r"'ill' differs between rows of one person\. Ask for l"):
        shoal.protect(table, Mondrian(k=2, t=0.9), quasi="age", confidential="ill", person="who")
    kept = shoal.protect(table, Mondrian(k=2, l=2), quasi="age", confidential="ill", person="who")
    assert [one.unit for one in kept.promises] == ["persons", "persons"]


def test_patterns_of_persons_do_not_release_their_numbers():
    table = Table.of({"who": [1, 1, 2, 3, 3, 4], "sex": ["f", "f", "f", "m", "m", "m"], "ill": ["a"] * 6})
    release = shoal.protect(table, AntiUnification(k=2, limit=0), quasi="sex", confidential="ill", person="who", seed=3)
    assert set(release.table.columns) == {"sex", "ill", "support"}
    assert sorted(release.table.column("support").to_pylist()) == [2, 2]  # persons: 3 rows each
    assert not any("who" in warning for warning in release.warnings)


def test_every_row_is_of_somebody():
    with pytest.raises(RoleError, match=r"1 row \(first at row 2\) has no number"):
        shoal.protect({"who": [1, None, 2], "age": [1, 2, 3]}, "mdav", k=2, quasi="age", person="who")


# ---- attacks -----------------------------------------------------------------------------------------------------------------------


def test_a_tie_is_shared_among_persons():
    # the first has five rows in a class of two persons, the third is alone
    table = Table.of({"who": [1] * 5 + [2, 3], "age": [10.0] * 5 + [10.0, 50.0]})
    roles = Roles(quasi=("age",), person=("who",)).check(table)
    _, release = given(table, roles)
    result = shoal.attack(table, release, "distance-linkage")["distance-linkage"]
    assert (result.unit, result.tried, result.hit, result.strict_hit) == ("persons", 3, 2.0, 1.0)
    assert result.chance == pytest.approx(1 / 3)
    assert result.per_record.tolist() == [0.5] * 6 + [1.0]
    assert "2 persons tie with others" in result.note


@pytest.mark.parametrize("attack", [DistanceLinkage(), ProbabilisticLinkage(tolerance=0.01), LearnedLinkage()])
def test_any_row_of_a_person_finds_it(attack):
    ages = [0.0, 10.0, 100.0, 200.0, 400.0, 300.0]
    table = Table.of({"who": [1, 1, 2, 2, 3, 3], "age": ages})
    roles = Roles(quasi=("age",), person=("who",)).check(table)
    swapped = [10.0, 0.0, 100.0, 200.0, 300.0, 400.0]  # the first and the last person's rows have changed places
    release = Release.given(Table.of({"age": swapped}), range(6), roles, table.codes("who"))
    by_person = shoal.attack(table, release, attack.name, parameters=attack.given(), seed=1)[attack.name]
    assert (by_person.unit, by_person.tried, by_person.hit) == ("persons", 3, 3.0)
    assert by_person.chance == pytest.approx(1 / 3)
    by_row = shoal.attack(table, replace(release, persons=None), attack.name, parameters=attack.given(), seed=1)[attack.name]
    assert by_row.unit == "rows"
    assert by_row.tried == 6
    if attack.name == "distance-linkage":
        assert by_row.hit == 2.0


def test_of_several_records_the_one_that_finds_the_person_best_counts():
    table = Table.of({"who": [1, 1, 2, 2], "age": [1, 50, 1, 90]})
    roles = Roles(quasi=("age",), person=("who",)).check(table)
    cells = Table.of({"age": ["[0..10]", "[40..60]", "[0..10]", "[0..120]"]})
    release = Release.given(replace(cells, cells=frozenset({"age"})), range(4), roles, table.codes("who"))
    result = shoal.attack(table, release, "distance-linkage")["distance-linkage"]
    # 1 is in a class of two persons; 50 and 90 are alone
    assert (result.tried, result.hit) == (2, 2.0)
    crowded = Release.given(replace(Table.of({"age": ["[0..100]"] * 4}), cells=frozenset({"age"})), range(4), roles, table.codes("who"))
    assert shoal.attack(table, crowded, "distance-linkage")["distance-linkage"].hit == pytest.approx(1.0)  # a half each


def test_intervals_of_a_person_count_by_the_record_disclosed_most():
    table = Table.of({"who": [1, 1, 2, 2] * 10, "age": list(range(40))})
    roles = Roles(quasi=("age",), person=("who",)).check(table)
    age = [float(x) if x % 2 else 500.0 + x for x in range(40)]  # every other row is far off
    release = Release.given(Table.of({"age": age}), range(40), roles, table.codes("who"))
    result = shoal.attack(table, release, IntervalDisclosure.name, seed=1)[IntervalDisclosure.name]
    assert (result.unit, result.tried) == ("persons", 2)
    assert result.rate > 0.9
    assert shoal.attack(table, replace(release, persons=None), IntervalDisclosure.name, seed=1)[IntervalDisclosure.name].rate < 0.6


def test_fewer_persons_are_looked_for_where_the_intruder_knows_fewer():
    table = Table.of({"who": [1, 1, 2, 2, 3, 3], "age": [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]})
    roles = Roles(quasi=("age",), person=("who",)).check(table)
    release = Release.given(table.without(["who"]), range(6), roles, table.codes("who"))
    assert shoal.attack(table, release, "distance-linkage", records=2, seed=1)["distance-linkage"].tried == 2


# ---- the unit, and a warning where it is not known ---------------------------------------------------------------------------------


def test_the_unit_of_a_release():
    table, release = given()
    assert unit_of(table, release, ROLES).model_dump(exclude={"households", "households_told"}) == {
        "counted": "persons", "rows": 7, "persons": 5, "one_row_each": "no", "warning": "",
    }  # fmt: skip
    once = {"who": [1, 2, 3], "zip": ["a"] * 3, "ill": ["flu"] * 3}
    assert unit_of(*given(once), ROLES).one_row_each == "known"


@pytest.mark.parametrize(
    ("roles", "sentence"),
    [
        (
            Roles(("zip",), ("ill",), ("who",)),
            "An identifier repeats: 7 rows, 5 different values. If it numbers persons, k = 2 rows may be one person: give it the role person.",
        ),
        (
            Roles(("zip",), ("ill",), household=("who",)),
            "'who' repeats: 7 rows, 5 households. What is promised counts rows: k = 2 rows may be one household.",
        ),
        (Roles(("zip",), ("ill",)), ""),
    ],
)
def test_who_repeats_is_a_warning_without_the_role(roles, sentence):
    table, release = given(promises=[Promise("k-anonymity", 2, ("zip",))])
    said = unit_of(table, replace(release, persons=None), roles)
    assert (said.counted, said.persons, said.one_row_each, said.warning) == ("rows", None, "not known", sentence)


def test_an_identifier_that_never_repeats_is_no_warning():
    table, release = given({"who": [1, 2, 3], "zip": ["a"] * 3, "ill": ["flu"] * 3})
    assert unit_of(table, replace(release, persons=None), Roles(("zip",), ("ill",), ("who",))).warning == ""


def test_look_suggests_who_the_rows_are_of():
    visits = shoal.invented_visits(500)
    seen = {one.column: one for one in look(visits)}
    assert seen["patient_id"].role == "person"
    assert "repeats" in seen["patient_id"].because
    assert suggest_roles(visits).person == ("patient_id",)
    assert suggest_roles(shoal.invented_survey(300)).household == ("household_id",)
    several = Table.of(
        {"person_id": [i // 2 for i in range(60)], "case_id": [i // 3 for i in range(60)], "clinic_id": [i % 1 for i in range(60)]}
    )
    assert {one.column: one.role for one in look(several)} == {"person_id": "person", "case_id": "identifier", "clinic_id": "other"}
    once = Table.of({"person_id": list(range(5, 65))[::-1]})
    assert look(once)[0].role == "identifier"


def test_what_only_the_keeper_can_count_is_published_coarsely():
    parts = [MeasurePart.of(replace(score(one), needs="release")) for one in (KAnonymity(), TCloseness(), EntropyLDiversity())]
    k, far, effective = (Rounding(500).measure(one) for one in parts)
    assert k == parts[0]  # counted, and small
    assert (far.value, far.per_column) == (0.1, {"ill": 0.1})
    assert (effective.value, effective.per_column) == (1.89, {"ill": 1.89})


# ---- complaint 1: nine thousand hospital stays -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stays():
    return SimpleNamespace(table=shoal.invented_visits(9000), quasi=("sex", "birth_date", "zip"))


@pytest.mark.parametrize("method", ["mondrian", "mdav"])
def test_five_means_five_patients(stays, method):
    patients = stays.table.column("patient_id").to_pylist()
    release = shoal.protect(stays.table, method, k=5, quasi=stays.quasi, confidential="diagnosis", person="patient_id", seed=1)
    classes = {}
    for row, cells in zip(release.source_row.tolist(), zip(*(release.table.column(column).to_pylist() for column in stays.quasi))):
        classes.setdefault(cells, set()).add(patients[row])
    assert len(release) == 9000
    assert min(map(len, classes.values())) >= 5
    assert "patient_id" not in release.table.columns
    assert shoal.measure(stays.table, release, "k-anonymity")["k-anonymity"].details["unit"] == "persons"


def test_five_rows_are_fewer_patients(stays):
    release = shoal.protect(stays.table, "mondrian", k=5, quasi=stays.quasi, confidential="diagnosis", identifier="patient_id", seed=1)
    persons = stays.table.codes("patient_id")[release.source_row]
    counted = shoal.measure(stays.table, replace(release, persons=persons), "k-anonymity")["k-anonymity"]
    assert counted.value < 5
    assert counted.details["rows"] >= 5
    assert release.warnings[0].startswith(
        "An identifier repeats: 9,000 rows, 2,857 different values. If it numbers persons, k = 5 rows may be"
    )


def test_persons_written_in_two_ways_are_asked_about():
    table = {"who": ["P1", "p1 ", "P2", "P3"], "age": [1, 2, 3, 4]}
    with pytest.raises(RoleError, match="1 name of its 4 differ from another in blanks or capital letters only"):
        shoal.protect(table, "mdav", k=2, quasi="age", person="who")


def test_patterns_are_neither_persons_nor_households():
    table = {"who": [1, 1, 2, 3, 4, 5], "age": [1, 1, 1, 1, 2, 2], "ill": ["a"] * 6}
    with pytest.raises(ParameterError, match="lists patterns: its rows are neither persons nor households"):
        shoal.protect(table, "anti-unification", k=2, quasi="age", confidential="ill", person="who", link={"person": 2})


def test_household_numbers_are_not_protected_by_groups():
    table = {"home": [1, 1, 2, 2], "age": [1, 2, 3, 4]}
    with pytest.raises(ParameterError, match="numbers households, and is not protected by groups"):
        shoal.protect(table, "mdav", k=2, columns=("home", "age"), roles=Roles(quasi=("age",), household=("home",)))
