"""Persons with several rows, against plain Python: sets, dictionaries and one person after the other."""

import math
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.people import QUASI, constant_in_households, households_alike, invented, most_different, recount, released, whose
from shoal.checks.tables import check_file, check_release
from shoal.errors import ShoalError
from shoal.measures import DistinctLDiversity, EntropyLDiversity, KAnonymity, TCloseness
from shoal.promises import Promise
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.runs.evidence import TableSubject, attack_all
from shoal.table import Table
from shoal.writing import write_table

ROW = st.tuples(st.integers(0, 5), st.sampled_from("ab"), st.sampled_from(["x", "y"]), st.sampled_from(["p", "q", "r", "-9", None]))


def plainly(rows):
    """k, l, entropy and t in persons, by the book."""
    classes = defaultdict(list)
    for person, a, b, ill in rows:
        classes[a, b].append((person, ill))
    k = min(len({person for person, _ in inside}) for inside in classes.values())
    diversity, entropy = [], []
    for inside in classes.values():
        known = [(person, ill) for person, ill in inside if ill not in (None, "-9")]
        holders = defaultdict(set)
        for person, ill in known:
            holders[ill].add(person)
        diversity.append(most_different(holders))
        shares = mass(known)
        entropy.append(math.exp(-sum(share * math.log(share) for share in shares.values())) if shares else 0.0)
    whole = mass([(person, ill) for person, _, _, ill in rows])
    far = max(sum(abs(mass(inside).get(ill, 0) - whole[ill]) for ill in whole) / 2 for inside in classes.values())
    return k, min(diversity), min(entropy), far


def mass(held):
    """The share of each value, every person weighing one."""
    mine = Counter(person for person, _ in held)
    total = defaultdict(float)
    for person, ill in held:
        total[ill] += 1 / mine[person] / len(mine)
    return total


@settings(max_examples=120)
@given(st.lists(ROW, min_size=1, max_size=24))
def test_check_and_measures_agree_with_plain_sets(rows):
    person, a, b, ill = (list(column) for column in zip(*rows))
    table = Table.of({"who": person, "a": a, "b": b, "ill": ill})
    roles = Roles(quasi=("a", "b"), confidential=("ill",), person=("who",), missing={"ill": ("-9",)}, nominal=("ill",))
    whats = ("k-anonymity", "l-diversity", "entropy-l-diversity", "t-closeness")
    promises = tuple(
        Promise(what, 0, ("a", "b"), None if what == "k-anonymity" else "ill", "persons", ("", "-9") if "l-div" in what else ())
        for what in whats
    )
    step = Step("as it is", {}, ("a", "b"), (), "", promises)
    release = Release(table.without(["who"]), (step,), np.arange(len(rows)), roles, persons=table.codes("who"))
    wanted = plainly(rows)
    assert [one.found for one in check_release(release)] == pytest.approx(wanted)
    measures = (KAnonymity(), DistinctLDiversity(), EntropyLDiversity(), TCloseness(distance="equal"))
    assert [measure.measure(table, release, roles).value for measure in measures] == pytest.approx(wanted)


def test_a_file_is_counted_as_the_table_was(tmp_path):
    rng = np.random.default_rng(3)
    table = Table.of({"a": rng.choice(["x", "y", None], 60).tolist(), "ill": rng.choice(["p", "q", "-9", None], 60).tolist()})
    persons = rng.integers(0, 20, 60)
    promises = [Promise("k-anonymity", 1, ("a",), unit="persons"), Promise("l-diversity", 1, ("a",), "ill", "persons", ("", "-9"))]
    release = Release(table, (Step("as it is", {}, ("a",), (), "", tuple(promises)),), np.arange(60), persons=persons)
    for name in ("table.csv", "table.parquet"):
        write_table(table, tmp_path / name)
        assert check_file(tmp_path / name, ",", promises, persons) == check_release(release)


TABLES = 150


@pytest.mark.parametrize("part", range(5))
def test_promised_persons_and_households_are_there(part):
    made = 0
    for seed in range(part, TABLES, 5):
        case = invented(seed)
        try:
            release = released(case, seed)
        except ShoalError:  # a sentence, and no release
            continue
        made += 1
        assert all(one.holds for one in check_release(release))
        counted = recount(case, release)
        assert (counted.below_k, counted.below_household_k, counted.person_told) == (0, 0, 0), seed
        _spread_right(case, release)
    assert made > TABLES // 10


def _spread_right(case, release):
    """All rows of a person, or none; the same quasi cells in each; every other cell of a row its own."""
    before = {name: case.table.column(name).to_pylist() for name in case.table.columns}
    after = {name: release.table.column(name).to_pylist() for name in release.table.columns}
    persons = whose(case, release)
    rows = release.source_row.tolist()
    assert len(set(rows)) == len(rows)
    assert Counter(persons) == {person: many for person, many in Counter(before["who"]).items() if person in set(persons)}
    if len(set(zip(before["who"], *(before[name] for name in QUASI)))) == len(set(before["who"])):
        assert len(set(zip(persons, *(after[name] for name in QUASI)))) == len(set(persons))
    for name in ("ill", "job"):
        if name in after:
            assert after[name] == [before[name][row] for row in rows]


@pytest.mark.parametrize("seed", [0, 1, 2, 5, 16, 40])  # in 16 and 40 rows of a person differ
def test_everything_is_measured_and_attacked_in_persons(seed):
    case = invented(seed)
    release = released(case, seed)
    persons, subject = len(set(whose(case, release))), TableSubject(case.table, release, release.roles)
    found = attack_all(subject, (), 7)
    assert {one.name for one in found.results} >= {"distance-linkage", "probabilistic-linkage", "learned-linkage"}
    for one in found.results:
        assert 0 <= one.strict_hit <= one.hit + 1e-9 <= one.tried + 1e-6
        if one.name != "household-linkage":
            assert (one.unit, one.tried) == ("persons", persons)
            risks = defaultdict(set)  # one risk a person
            for person, risk in zip(case.table.column("who").to_pylist(), one.per_record.tolist()):
                risks[person].add(risk)
            assert all(len(of_person) == 1 for of_person in risks.values())
            assert one.risk == "interval" or one.chance == pytest.approx(1 / persons)


def test_the_recount_sees_what_is_wrong():
    houses = {
        "house": [1, 1, 2, 2, 3, None],
        "age": [1, 2, 2, 1, 1, 1],
        "sex": list("ffffff"),
        "zip": list("uuuuuu"),
        "rooms": [4, 4, 4, 4, 5, 6],
    }
    assert sorted(households_alike(houses, ["rooms"])) == [1, 2, 2]
    assert constant_in_households(houses) == ["rooms"]
    assert most_different({"a": {1}, "b": {1}, "c": {1, 2}}) == 2
