"""Where rows live elsewhere, what is exact is what memory says, and attacks find of the same records what they find in memory."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal
from shoal.attacks import DistanceLinkage, IntervalDisclosure, LearnedLinkage, ProbabilisticLinkage
from shoal.methods import AntiUnificationSafe, Kactus, LocalRecoding, Mdav, Mondrian, Noise
from shoal.registry import everything
from shoal.roles import Roles
from shoal.runs.drawn import of_a_draw
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.recipe import apply_steps
from shoal.table import Table
from tests.elsewhere import Knows, drawn, elsewhere

METHODS = {
    "mondrian": Mondrian(k=5),
    "local-recoding": LocalRecoding(k=5),
    "kactus": Kactus(k=5),
    "anti-unification-safe": AntiUnificationSafe(k=5),
    "noise": Noise(columns=("age", "income")),
    "mdav": Mdav(k=4, columns=("age", "income")),
}
EXACT = {one.name for one in everything("measure") if of_a_draw(one) == "exact"}


def same_measures(original, release, roles, share):
    memory = {one.name: one for one in measure_all(TableSubject(original, release, roles))}
    for one in measure_all(TableSubject(*elsewhere(original, release, share), roles)):
        if one.name in EXACT:
            assert one.value == pytest.approx(memory[one.name].value, rel=1e-12, abs=1e-15), one.name
            assert one.per_column == pytest.approx(dict(memory[one.name].per_column), rel=1e-12, abs=1e-15), one.name
            assert one.details == memory[one.name].details
            assert one.interval is None
            assert "drawn at random" not in one.note


def same_attacks(original, release, roles, share, attacks):
    """Form by form, on the records that were drawn. What is learned from links goes through other roundings, and is not held to be the same."""
    whose = np.arange(len(original)) if release.persons is None else original.codes(roles.person[0])
    these = drawn(int(whose.max()) + 1, share)
    memory = attack_all(TableSubject(original, release, roles, Knows(roles, these=these)), attacks).results
    found = attack_all(TableSubject(*elsewhere(original, release, share), roles), attacks).results
    assert [one.name for one in memory] == [one.name for one in found]
    for one, other in zip(memory, found):
        assert (one.tried, one.chance if one.risk == "linkage" else 0) == (other.tried, other.chance if one.risk == "linkage" else 0)
        if one.risk != "linkage":
            assert other.per_record == pytest.approx(one.per_record[np.isin(whose, these)], abs=1e-9)
            continue
        rates = [{form["how"]: form["rate"] for form in result.details["forms"] if "learned" not in form["how"]} for result in (one, other)]
        assert rates[1]
        assert set(rates[1]) == {how for how in rates[0] if "one-to-one" not in how}
        for how, rate in rates[1].items():
            assert rate == pytest.approx(rates[0][how], abs=1e-9), (one.name, how)


@pytest.fixture(scope="module")
def patients():
    table = shoal.invented_patients(600)
    return Roles(quasi=("age", "zip", "income", "education")).read(table)


@pytest.fixture(scope="module")
def releases(patients):
    return {}


def made(releases, patients, name):
    roles = Roles(quasi=("age", "zip", "income", "education"), confidential=("diagnosis",), target="diagnosis").check(patients)
    if name not in releases:
        releases[name] = apply_steps(patients, roles, [METHODS[name]], 1)
    return releases[name], roles


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("name", METHODS)
def test_exact_measures_are_those_of_memory(patients, releases, name, share):
    release, roles = made(releases, patients, name)
    same_measures(patients, release, roles, share)


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("name", METHODS)
def test_attacks_find_of_the_same_records_what_they_find_in_memory(patients, releases, name, share):
    release, roles = made(releases, patients, name)
    numbers = [IntervalDisclosure()] if name in ("noise", "mdav") else []
    same_attacks(patients, release, roles, share, [DistanceLinkage(), ProbabilisticLinkage(), LearnedLinkage(), *numbers])


@st.composite
def tables(draw):
    rows = draw(st.integers(12, 60))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    x = np.where(rng.random(rows) < draw(st.sampled_from([0.0, 0.2])), np.nan, rng.integers(0, draw(st.sampled_from([3, 20])), rows))
    word = rng.choice([*"abcd", None], rows).tolist()
    return Table.of({"x": x, "y": rng.lognormal(size=rows).round(1), "z": word, "ill": rng.choice(list("pqr"), rows)})


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables(), st.sampled_from(["mondrian", "local-recoding", "noise", "mdav"]), st.sampled_from([1.0, 0.4]), st.integers(0, 100))
def test_small_tables_too(table, name, share, seed):
    method = {
        "mondrian": Mondrian(k=3),
        "local-recoding": LocalRecoding(k=3),
        "noise": Noise(columns=("y",)),
        "mdav": Mdav(k=3, columns=("y",)),
    }
    roles = Roles(quasi=("x", "y", "z"), confidential=("ill",)).check(table)
    release = apply_steps(table, roles, [method[name]], seed)
    same_measures(table, release, roles, share)
    same_attacks(table, release, roles, share, [DistanceLinkage(), DistanceLinkage(distance="mahalanobis"), ProbabilisticLinkage()])


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_persons_are_counted_and_found_as_in_memory(share):
    visits = shoal.invented_visits(600)
    roles = Roles(quasi=("sex", "birth_date", "zip"), confidential=("diagnosis",), person=("patient_id",)).check(visits)
    table = roles.read(visits)
    release = apply_steps(visits, roles, [Mondrian(k=3)], 1)
    same_measures(table, release, roles, share)
    same_attacks(table, release, roles, share, [DistanceLinkage(), ProbabilisticLinkage()])
