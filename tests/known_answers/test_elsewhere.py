"""Evidence about rows that do not fit into memory, worked by hand: classes of all rows, estimates of a draw, attacks among combinations."""

import re
from dataclasses import replace
from typing import ClassVar, get_args

import numpy as np
import pytest

import shoal
from shoal.attacks import DistanceLinkage, HouseholdLinkage, IntervalDisclosure, LearnedLinkage, ProbabilisticLinkage
from shoal.attacks.matching import LinkageAttack
from shoal.checks.consistency import consistent
from shoal.checks.tables import check_file
from shoal.errors import DataError
from shoal.measures import PIL, SSE, IL1s, KAnonymity, TrainedOnRelease, UniqueHouseholds
from shoal.methods import Mondrian, Noise
from shoal.published import published
from shoal.registry import everything
from shoal.release import PERSON, Release
from shoal.report.pictures import before_after
from shoal.report.private_page import riskiest_records
from shoal.roles import Roles
from shoal.runs import drawn
from shoal.runs.certify import ReleasedFiles, certify
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.patterns import generalized_patterns
from shoal.runs.recipe import apply_steps
from shoal.runs.riskiest import riskiest
from shoal.runs.unit import unit_of
from shoal.score import Knowledge, LooksAmong, OfADraw
from shoal.table import Table
from shoal.writing import write_table
from tests.elsewhere import TooDifferent, elsewhere

COLOURS = Table.of({"colour": list("aaaabb"), "ill": ["flu", "flu", "cold", "hiv", "flu", "flu"]})
ROLES = Roles(quasi=("colour",), confidential=("ill",)).check(COLOURS)
DRAWN = np.array([0, 1, 4])


def six_rows():
    """Four of one colour and two of another, of which two and one are drawn."""
    release = Release.given(COLOURS.take(DRAWN), np.arange(3), ROLES)
    return COLOURS.take(DRAWN), replace(release, rows=COLOURS, originals=COLOURS)


def test_classes_are_those_of_all_rows():
    original, release = six_rows()
    assert (len(release), release.total, release.people) == (3, 6, None)
    value = {one.name: one.value for one in measure_all(TableSubject(original, release, ROLES))}
    assert value["k-anonymity"] == 2
    assert value["average-class-size"] == 3
    assert value["average-risk"] == pytest.approx(2 / 6)
    assert value["maximum-risk"] == 1 / 2
    assert value["discernibility"] == 16 + 4
    assert value["uniqueness"] == 0
    assert value["l-diversity"] == 1
    assert value["entropy-l-diversity"] == pytest.approx(1)
    # of all rows four are flu, one cold, one hiv; of the first class two, one and one: 1/4 - 1/6 each too many of two
    assert value["t-closeness"] == pytest.approx(2 / 6)


@pytest.mark.parametrize("attack", [DistanceLinkage(), ProbabilisticLinkage(), LearnedLinkage()])
def test_a_class_counts_for_its_rows(attack):
    """Whoever is in the class of four is found one time in four, whoever is in that of two one time in two."""
    original, release = six_rows()
    found = attack_all(TableSubject(original, release, ROLES), [attack]).results[0]
    assert found.per_record.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2])
    assert found.rate == pytest.approx(1 / 3)
    assert found.chance == pytest.approx(1 / 6)
    assert "the released rows do not fit into memory" in found.note


def test_a_record_that_was_not_released_is_not_found():
    original, release = six_rows()
    original = Table.of({"colour": list("aaba"), "ill": ["flu"] * 4})
    found = attack_all(TableSubject(original, release, ROLES), [DistanceLinkage()]).results[0]
    assert found.per_record.tolist() == pytest.approx([1 / 4, 1 / 4, 1 / 2, 0])


def test_persons_are_counted_in_all_rows():
    visits = Table.of({"who": list("ppqqrs"), "colour": list("aaaabb"), "ill": ["flu", "flu", "cold", "hiv", "flu", "flu"]})
    roles = Roles(quasi=("colour",), confidential=("ill",), person=("who",)).check(visits)
    whole = Release.given(visits.without(["who"]), np.arange(6), roles, visits.codes("who"))
    original, release = elsewhere(visits, whole, 0.5)
    assert release.people == 4
    for one in measure_all(TableSubject(visits, whole, roles)):
        if one.needs == "release":
            same = next(score for score in measure_all(TableSubject(original, release, roles)) if score.name == one.name)
            assert (same.value, same.details) == (one.value, one.details)
    assert KAnonymity().measure(original, release, roles).value == 2
    unnumbered = replace(release, rows=whole.table)
    assert unnumbered.people is None
    assert "not counted in persons" in KAnonymity().applies(original, unnumbered, roles)
    tried = attack_all(TableSubject(original, unnumbered, roles))
    assert not tried.results
    assert tried.not_tried["distance-linkage"] == drawn.PERSONS


def test_persons_are_looked_for_among_all_persons():
    """Of p and q, who look alike, one in two is the right one; r and s look alike, too. Each has rows of one colour."""
    visits = Table.of({"who": list("ppqqrs"), "colour": list("aaaabb")})
    roles = Roles(quasi=("colour",), person=("who",)).check(visits)
    whole = Release.given(visits.without(["who"]), np.arange(6), roles, visits.codes("who"))
    original, release = (
        visits.take(np.array([0, 1, 4])),
        replace(
            elsewhere(visits, whole)[1], table=whole.table.take(np.array([0, 1, 4])), source_row=np.arange(3), persons=np.array([0, 0, 1])
        ),
    )
    found = attack_all(TableSubject(original, release, roles), [DistanceLinkage()]).results[0]
    assert (found.unit, found.tried, found.chance) == ("persons", 2, 1 / 4)
    assert found.per_record.tolist() == pytest.approx([1 / 2] * 3)
    mixed = replace(release, rows=Table.of({"colour": list("aabbbb"), PERSON: [0, 0, 1, 0, 2, 3]}))
    assert TableSubject(original, mixed, roles).why_not_attacked(DistanceLinkage()) == drawn.PERSONS


@pytest.fixture(scope="module")
def noisy():
    patients = shoal.invented_patients(4000)
    roles = Roles(quasi=("age", "income"), confidential=("diagnosis",), target="diagnosis").check(patients)
    return patients, apply_steps(patients, roles, [Noise(columns=("age", "income"))], 1), roles


def test_what_a_draw_estimates_says_so_and_how_surely(noisy):
    patients, whole, roles = noisy
    truth = measure_all(TableSubject(patients, whole, roles), [IL1s()])[0]
    assert truth.interval is None
    inside = 0
    for seed in range(40):
        original, release = elsewhere(patients, whole, 0.1, seed)
        one = measure_all(TableSubject(original, release, roles), [IL1s()])[0]
        assert one.note.endswith("On 400 of 4,000 rows, drawn at random.")
        inside += one.interval[0] <= truth.value <= one.interval[1]
    assert 34 <= inside <= 40


def test_what_a_draw_cannot_tell_is_withheld(noisy):
    patients, whole, roles = noisy
    original, release = elsewhere(patients, whole, 0.1)
    subject = TableSubject(original, release, roles)
    for one in (PIL(), SSE(), TrainedOnRelease()):
        score = measure_all(subject, [one])[0]
        assert (score.value, score.note) == (None, drawn.WITHHELD)
    lived = replace(roles, quasi=("age",), household=("income",))
    assert "Households are not compared" in UniqueHouseholds().applies(original, release, lived)
    assert "Households are not looked for" in HouseholdLinkage().applies(original, release, Knowledge(lived))


class RowByRow(LinkageAttack):
    """Somebody's attack, which does not say that a row may stand for several."""

    name: ClassVar[str] = "row-by-row"
    title: ClassVar[str] = "Row by row"


class SaysSo(RowByRow):
    """One that does."""

    name: ClassVar[str] = "says-so"
    looks_among: ClassVar[LooksAmong] = "combinations"


def test_an_attack_must_say_that_it_looks_among_combinations(noisy):
    patients, whole, roles = noisy
    subject = TableSubject(*elsewhere(patients, whole, 0.1), roles)
    assert subject.why_not_attacked(RowByRow()) == drawn.ROW_BY_ROW
    assert not subject.why_not_attacked(SaysSo())
    assert not TableSubject(patients, whole, roles).why_not_attacked(RowByRow())
    assert "Use solver=fast" in subject.why_not_attacked(LearnedLinkage(solver="exact", aggregator="owa"))
    with pytest.raises(DataError, match="do not fit into memory"):
        attack_all(subject, [RowByRow()])


def test_whatever_is_registered_says_what_it_makes_of_a_draw():
    assert {drawn.of_a_draw(one) for one in everything("measure")} == set(get_args(OfADraw))
    looks = {one.name: getattr(one, "looks_among", "rows") for one in everything("attack")}
    assert {name for name, among in looks.items() if among == "rows"} == {"household-linkage"}
    assert set(looks.values()) == set(get_args(LooksAmong))


def test_among_fewer_combinations_no_less_is_found(noisy, monkeypatch):
    """All that the draw's own rows are is kept, and the ranks of interval disclosure are those of all rows whatever is searched."""
    patients, whole, roles = noisy
    original, release = elsewhere(patients, whole, 0.1)
    attacks = [DistanceLinkage(), IntervalDisclosure()]
    full = attack_all(TableSubject(original, release, roles), attacks).results
    monkeypatch.setattr(drawn, "MOST_COMBINATIONS", 1000)
    fewer = attack_all(TableSubject(original, replace(release), roles), attacks).results
    assert "Looked among" not in full[0].note
    assert "Looked among 1,000 of 4,000 combinations" in fewer[0].note
    assert "at most this" in fewer[0].note
    assert "Looked among" not in fewer[1].note
    assert (fewer[0].per_record >= full[0].per_record - 1e-12).all()
    assert fewer[0].rate > full[0].rate
    assert fewer[1].rate == pytest.approx(full[1].rate, abs=1e-12)


def test_a_range_is_that_of_all_originals():
    ages = Table.of({"age": [0.0, 1.0, 2.0, 3.0, 50.0, 100.0, 4.0, 5.0]})
    roles = Roles(quasi=("age",)).check(ages)
    whole = apply_steps(ages, roles, [Mondrian(k=2)], 1)
    truth = measure_all(TableSubject(ages, whole, roles))
    for seed in range(5):
        original, release = elsewhere(ages, whole, 0.5, seed)
        one = next(score for score in measure_all(TableSubject(original, release, roles)) if score.name == "ncp")
        assert one.value == pytest.approx(next(score.value for score in truth if score.name == "ncp"), abs=1e-12)
    unknown = replace(release, originals=None)
    assert "whole domain" in next(s.note for s in measure_all(TableSubject(original, unknown, roles)) if s.name == "ncp")


@pytest.mark.parametrize("persons", [False, True])
def test_a_certificate_counts_all_rows(persons, tmp_path):
    """And what is shown of a draw says so; a class that is pointed at has all of its rows."""
    visits = shoal.invented_visits(1500)
    quasi = ("sex", "birth_date", "zip")
    roles = Roles(quasi=quasi, confidential=("diagnosis",), **({"person": ("patient_id",)} if persons else {})).check(visits)
    table, whole = roles.read(visits), apply_steps(visits, roles, [Mondrian(k=5)], 1)
    write_table(whole.table, tmp_path / "release.csv")
    checked = check_file(tmp_path / "release.csv", ",", whole.promises, whole.persons)
    original, release = elsewhere(table, whole, 0.3)
    subject = TableSubject(original, release, roles)
    scores, attacked = measure_all(subject), attack_all(subject)
    certificate = certify(original, release, roles, ReleasedFiles.of(tmp_path / "release.csv"), checked, scores, attacked)
    people = len(np.unique(whole.persons)) if persons else None
    assert (certificate.release.rows, certificate.unit.rows, certificate.unit.persons) == (1500, 1500, people)
    assert not [one.what for one in consistent(published(certificate)) if not one.holds]
    shown = riskiest(original, release, roles, attacked.results)
    assert shown.groups
    assert all(group.alike >= (group.persons or 5) >= 5 for group in shown.groups)
    assert "in the draw of originals" in riskiest_records(shown)
    drawn_from = f"Drawn from {len(release):,} of 1,500 rows, chosen at random."
    assert all(picture.how.endswith(drawn_from) for picture in before_after(original, release, roles))
    assert generalized_patterns(release, original) is None
    said = [line for line in certificate.warnings if "put together again" in line]
    assert said == (
        ["Whether rows of one person can be put together again was not looked at: the rows do not fit into memory."] if persons else []
    )


def test_an_identifier_that_repeats_is_told_without_the_counts_of_a_draw():
    visits = shoal.invented_visits(1500)
    roles = Roles(quasi=("sex", "zip"), identifier=("patient_id",)).check(visits)
    original, release = elsewhere(roles.read(visits), apply_steps(visits, roles, [Mondrian(k=5)], 1), 0.3)
    assert unit_of(original, release, roles).warning.startswith(
        "An identifier repeats. If it numbers persons, k = 5 rows may be one person"
    )


def test_rows_too_different_to_be_counted_are_still_searched(noisy, monkeypatch):
    """Figures that need all classes have none, and say why; attacks look among combinations with a small hash, and those of the draw."""
    patients, whole, roles = noisy
    original, release = elsewhere(patients, whole, 0.1)
    full = attack_all(TableSubject(original, release, roles)).results
    different = replace(release, rows=TooDifferent(whole.table, 100))
    subject = TableSubject(original, different, roles)
    assert next(one for one in measure_all(subject, [KAnonymity()])).note == "They are too different."
    every = attack_all(subject).results
    for one, other in zip(full, every):
        assert (one.name, one.rate) == (other.name, pytest.approx(other.rate, abs=1e-9))
        assert "Looked among" not in other.note
    monkeypatch.setattr(drawn, "MOST_COMBINATIONS", 1000)
    subject = TableSubject(original, replace(different), roles)
    fewer = attack_all(subject, [DistanceLinkage(scale="original")]).results[0]
    among, of = (int(n.replace(",", "")) for n in re.search(r"Looked among ([0-9,]+) of ([0-9,]+) combinations", fewer.note).groups())
    assert 1150 < among < 1450  # a quarter of 4,000, and the 400 of the draw that are not among these
    assert 3500 < of < 4500
    assert fewer.rate >= attack_all(TableSubject(original, release, roles), [DistanceLinkage(scale="original")]).results[0].rate
    assert riskiest(original, different, roles, full).none == "They are too different."
