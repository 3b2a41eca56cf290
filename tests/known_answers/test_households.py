"""Households: whose number is kept, how many can be told, and how an intruder who knows who lives together finds them. By hand."""

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import shoal
from shoal.attacks import HouseholdLinkage
from shoal.checks.tables import check_file, check_release
from shoal.checks.verify import verify
from shoal.errors import DataError, ParameterError
from shoal.kernels.together import alike, is_shared, signatures
from shoal.measures import UniqueHouseholds
from shoal.methods import Mondrian, Noise
from shoal.promises import HOUSEHOLD_K, K_ANONYMITY, L_DIVERSITY, Promise
from shoal.randomness import chance_for, rng_for
from shoal.registry import make
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.runs.links import linked
from shoal.runs.recipe import Recipe, apply_steps
from shoal.runs.run import load_run, protect_to_folder, refresh
from shoal.score import Knowledge
from shoal.table import Table
from shoal.writing import write_table

# Two couples alike, a third with another wife's age, two singles alike, one who lives nowhere.
PEOPLE = {
    "age": [30, 40, 40, 30, 30, 50, 30, 30, 30],
    "home": ["a", "a", "b", "b", "c", "c", "d", "e", None],
    "rent": [500, 500, 500, 500, 500, 500, 700, 700, 700],
    "ill": ["n", "y", "n", "y", "y", "n", "n", "y", "n"],
}
ROLES = Roles(quasi=("age",), household=("home",), weight=("rent",), confidential=("ill",))


def released(columns, roles, *promises):
    """As if a step had left the quasi-identifiers as they are."""
    table = Table.of(columns)
    release = Release.given(table, np.arange(len(table)), roles.check(table))
    return replace(release, made_by=(Step("nothing", {}, roles.quasi, (), "", promises),))


def link(columns, roles, k, *promises):
    roles = replace(roles, link={"household": k})
    return linked(released(columns, roles, *promises), roles, chance_for(1))


# ---- which households look alike ---------------------------------------------------------------------------------------------


def test_households_are_alike_by_their_members_each_as_often():
    homes = np.array([0, 0, 1, 1, 2, 2, 3, 4, -1])
    ages = np.array([0, 1, 1, 0, 0, 2, 0, 0, 0])
    assert alike([ages], homes).tolist() == [2, 2, 1, 2, 2]
    assert alike([], homes).tolist() == [3, 3, 3, 2, 2]  # only their size tells them apart
    assert signatures(np.array([5, 5, 5]), np.array([0, 0, 2])).tolist()[1] == -1  # group 1 has no rows


def test_a_column_is_shared_that_is_the_same_inside_nearly_all():
    homes = np.repeat(np.arange(20), 2)
    same = np.repeat(np.arange(20), 2)
    once, twice = same.copy(), same.copy()
    once[0], twice[[0, 2]] = 19, 19
    assert is_shared(same, homes)
    assert is_shared(once, homes)  # 19 of 20
    assert not is_shared(twice, homes)
    assert not is_shared(np.arange(3), np.arange(3))  # nobody lives together


def test_numbers_are_kept_where_k_look_alike_and_what_is_shared_goes_with_the_others():
    release = link(PEOPLE, ROLES, 2)
    assert release.table.column("home").to_pylist() == ["a", "a", "b", "b", None, None, "d", "e", None]
    assert release.table.column("rent").to_pylist() == [500, 500, 500, 500, None, None, 700, 700, None]
    assert release.table.column("ill").to_pylist() == PEOPLE["ill"]  # not the same inside a household
    assert release.promises == (Promise("household-k", 2, ("age", "rent"), "home", "households"),)
    assert [one.found for one in check_release(release)] == [2]
    assert release.warnings == ("1 of 5 households lost their number, and with it 'rent': fewer than 2 look like them.",)


def test_where_all_are_alike_nothing_is_lost_and_nothing_said():
    columns = {"age": [30, 40, 40, 30], "home": [1, 1, 2, 2], "rent": [500.0] * 4}
    release = link(columns, Roles(quasi=("age",), household=("home",), weight=("rent",)), 2)
    assert release.table.arrow.equals(Table.of(columns).arrow)
    assert release.made_by[-1].columns == ()
    assert release.warnings == ()


def test_where_none_is_alike_no_number_is_left_and_none_is_promised():
    release = link(PEOPLE, ROLES, 3)
    assert release.table.missing("home").all()
    assert release.promises == ()
    assert UniqueHouseholds().applies(release.table, release, ROLES) == "No number of a household is released."


@pytest.mark.parametrize(
    "rent", [[1.5] * 2 + [2.5] * 2 + [3.5] * 2, ["x"] * 2 + ["y"] * 2 + ["z"] * 2, [True] * 2 + [False] * 2 + [True] * 2]
)
def test_a_shared_column_of_any_kind_can_become_missing(rent):
    columns = {"age": [1, 2, 1, 2, 1, 3], "home": [1, 1, 2, 2, 3, 3], "rent": rent}
    release = link(columns, Roles(quasi=("age",), household=("home",), other=("rent",)), 2)
    kept = [home is not None for home in release.table.column("home").to_pylist()]
    assert [value is not None for value in release.table.column("rent").to_pylist()] == kept


def test_a_column_shared_by_those_that_keep_their_number_counts_too():
    # Among all ten couples `floor` differs inside one; among the eight that keep their number it is shared, and splits four from four.
    columns = {"age": [30, 40] * 8 + [50, 60, 70, 80], "home": np.repeat(np.arange(10), 2), "floor": [1] * 8 + [2] * 8 + [1, 2, 3, 3]}
    roles = Roles(quasi=("age",), household=("home",), other=("floor",))
    release = link(columns, roles, 5)
    assert release.table.missing("home").all()
    kept = link(columns, roles, 4)
    assert (~kept.table.missing("home")).sum() == 16
    assert kept.promises[0].columns == ("age", "floor")
    assert UniqueHouseholds().measure(kept.table, kept, kept.roles).details == {"households": 8, "unique": 0, "smallest": 4}


def test_k_is_the_promised_one_where_it_is_not_said():
    release = link(PEOPLE, ROLES, 0, Promise(K_ANONYMITY.name, 2, ("age",)))
    assert release.made_by[-1].parameters == {"by": "household", "k": 2}
    with pytest.raises(ParameterError, match="no k is promised"):
        link(PEOPLE, ROLES, 0)
    with pytest.raises(ParameterError, match="at least 2 must look alike, got 1"):
        link(PEOPLE, ROLES, 1)


def test_a_promise_about_an_emptied_column_is_counted_again_and_asked_for_in_vain_is_refused():
    columns = {**PEOPLE, "ill": ["n", "n", "n", "n", "y", "y", "n", "n", "n"]}  # shared; the couple that loses its number has the only y
    about = Promise(L_DIVERSITY.name, 2, (), "ill", ignores=("",))
    with pytest.raises(ParameterError, match="l-diversity does not hold: 2 was asked for, 1 is left"):
        link(columns, ROLES, 2, about)
    counting_missing = Promise(L_DIVERSITY.name, 2, (), "ill")
    assert counting_missing in link(columns, ROLES, 2, counting_missing).promises


# ---- how many can be told ----------------------------------------------------------------------------------------------------


def test_unique_households_by_hand():
    release = released(PEOPLE, ROLES)
    score = UniqueHouseholds().measure(release.table, release, ROLES)
    assert (score.value, score.details) == (1 / 5, {"households": 5, "unique": 1, "smallest": 1})
    alone = UniqueHouseholds().applies(release.table, release, Roles(quasi=("age",)))
    assert alone == "No column says who lives together."


def naive(release, roles, shared):
    """Households by the multiset of their members' cells, counted the plain way."""
    homes = defaultdict(list)
    rows = zip(*(release.table.column(c).to_pylist() for c in (*roles.quasi, *shared)))
    for home, row in zip(release.table.column(roles.household[0]).to_pylist(), rows):
        if home is not None:
            homes[home].append(repr(row))
    return Counter(tuple(sorted(members)) for members in homes.values())


SURVEY = shoal.invented_survey(1500)
SURVEY_ROLES = Roles(
    quasi=("AGE15X", "sex", "region"), household=("household_id",), weight=("weight",), confidential=("DIABDX",), identifier=("person_id",)
)


def test_the_survey_is_told_without_the_promise_and_not_with_it():
    # 57 % of the households were unique by their members' released cells, and nobody said a word.
    checked = SURVEY_ROLES.check(SURVEY)
    open_ = apply_steps(SURVEY, checked, [Mondrian(k=5)], 7)
    score = UniqueHouseholds().measure(SURVEY, open_, checked)
    looks = naive(open_, checked, ("weight",))
    assert score.value == sum(1 for n in looks.values() if n == 1) / sum(looks.values()) > 0.3
    assert any(line.startswith(f"Households can be told: {score.value:.0%} of 545 households") for line in open_.warnings)
    found = HouseholdLinkage().attack(SURVEY, open_, Knowledge(checked), rng_for(1))
    assert found.rate > 0.5 > 100 * found.chance

    promised = apply_steps(SURVEY, replace(checked, link={"household": 3}), [Mondrian(k=5)], 7)
    (one,) = [promise for promise in promised.promises if promise.kind is HOUSEHOLD_K]
    assert min(naive(promised, checked, ("weight",)).values()) >= 3
    assert set(one.columns) == {"AGE15X", "sex", "region", "weight"}
    assert not any("can be told" in line for line in promised.warnings)
    assert UniqueHouseholds().measure(SURVEY, promised, checked).value == 0
    found = HouseholdLinkage().attack(SURVEY, promised, Knowledge(checked), rng_for(1))
    assert found.strict_hit == 0
    assert np.nanmax(found.per_record) <= 1 / 3


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_run_with_kept_numbers_is_verified_from_its_files_and_refreshed(tmp_path, kind):
    write_table(SURVEY, tmp_path / f"survey.{kind}")
    recipe = Recipe(tmp_path / f"survey.{kind}", replace(SURVEY_ROLES, link={"household": 3}), (Mondrian(k=20),), (make("measure", "ncp"),))
    certificate = protect_to_folder(replace(recipe, attacks=(HouseholdLinkage(),)), tmp_path / "run", seed=3)
    (one,) = [promise for promise in certificate.promises if promise.what == "household-k"]
    assert (one.unit, one.holds, one.about) == ("households", True, "household_id")
    assert one.found >= 3
    assert certificate.unit.households_told == 0
    assert verify(tmp_path / "run" / f"release.{kind}", tmp_path / "run" / "certificate.json").holds
    again = refresh(load_run(tmp_path / "run"))
    assert (again.promises, again.unit, again.leaves) == (certificate.promises, certificate.unit, certificate.leaves)


def test_a_released_file_with_a_household_too_few_is_found_out(tmp_path):
    table = Table.of({"age": [30, 40, 40, 30, 30, 50], "home": [1, 1, 2, 2, 3, 3]})
    write_table(table, tmp_path / "homes.csv")
    (checked,) = check_file(tmp_path / "homes.csv", ",", [Promise("household-k", 2, ("age",), "home", "households")])
    assert (checked.found, checked.holds) == (1, False)
    write_table(table.take(np.arange(4)), tmp_path / "four.csv")
    assert check_file(tmp_path / "four.csv", ",", [Promise("household-k", 2, ("age",), "home", "households")])[0].found == 2


def test_the_certificate_says_how_many_households_can_be_told(tmp_path):
    table = tmp_path / "survey.csv"
    write_table(SURVEY.take(np.arange(300)), table)
    certificate = protect_to_folder(Recipe(table, SURVEY_ROLES, (Mondrian(k=5),)), tmp_path / "run", seed=3)
    told = certificate.measure("unique-households")
    assert certificate.unit.households == told.details["households"] == len(set(SURVEY.column("household_id").to_pylist()[:300]))
    assert certificate.unit.households_told == told.value
    assert any("Households can be told" in line for line in certificate.warnings)
    assert any(one.name == "household-linkage" for one in certificate.attacks)
    assert certificate.roles.left_out == len(SURVEY.columns) - 7
    assert not any("household-linkage was not tried" in line for line in certificate.warnings)


# ---- the intruder ------------------------------------------------------------------------------------------------------------


def attacked(original, after, roles=None, source_row=None, by="best", **knowledge):
    before, after = Table.of(original), Table.of(after)
    roles = roles or Roles(quasi=tuple(c for c in before.columns if c != "home"), household=("home",))
    rows = np.arange(len(after)) if source_row is None else np.array(source_row)
    return HouseholdLinkage(by=by).attack(
        before, Release.given(after, rows, roles.check(before)), Knowledge(roles, **knowledge), rng_for(1)
    )


def test_no_person_is_unique_and_every_household_is():
    # Each age occurs three times; together with whom one lives, everybody is found.
    before = {"age": [1, 2, 2, 3, 3, 1], "home": [1, 1, 2, 2, 3, 3]}
    found = attacked(before, before)
    assert (found.tried, found.hit, found.strict_hit, found.chance) == (6, 6, 6, 1 / 3)
    assert found.details["households"] == found.details["released"] == 3


def test_alike_households_share_the_hit_and_those_without_a_number_are_not_found():
    before = {"age": [1, 2, 2, 1, 3, 1, 9], "home": [1, 1, 2, 2, 3, 3, None]}
    after = {**before, "home": [1, 1, 2, 2, None, None, None]}
    found = attacked(before, after)
    assert found.per_record[:6].tolist() == [0.5, 0.5, 0.5, 0.5, 0, 0]
    assert np.isnan(found.per_record[6])  # lives in no household: not tried
    assert found.tried == 6


def test_cells_must_hold_the_members_one_to_one():
    before = {"age": [20, 30, 20, 21, 30, 31], "home": [1, 1, 2, 2, 3, 3]}
    after = {"age": ["[20..21]", "[20..31]", "[20..21]", "[20..31]", "[20..31]", "[30..31]"], "home": [1, 1, 2, 2, 3, 3]}
    found = attacked(before, after, by="containment")
    # household 1 fits couples 1, 2 and 3 (20 in [20..31], 30 in [30..31]); household 2 fits 1 and 2; household 3 fits only 3
    assert found.per_record.tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 2, 1 / 2, 1, 1])


def test_the_nearest_household_is_taken_where_values_were_perturbed():
    before = {"x": [0.0, 10, 0, 20, 5, 15], "home": [1, 1, 2, 2, 3, 3]}
    after = {"x": [10.5, 0.5, 19.0, 1.0, 14.0, 5.5], "home": [1, 1, 2, 2, 3, 3]}  # moved, and members in another order
    assert attacked(before, after, source_row=[1, 0, 3, 2, 5, 4]).rate == 1


def test_more_columns_find_more_and_fewer_records_are_tried():
    before = {"age": [1, 2, 1, 2], "sex": ["f", "m", "m", "f"], "home": [1, 1, 2, 2]}
    assert attacked(before, before).rate == 1
    assert attacked(before, before, columns=("age",)).rate == 0.5
    assert attacked(before, before, records=1).tried == 1


def test_households_that_lost_a_member_are_looked_for_among_their_size():
    before = {"age": [1, 2, 3, 4], "home": [1, 1, 2, 2]}
    found = attacked(before, {"age": [1, 3, 4], "home": [1, 2, 2]}, source_row=[0, 2, 3])
    assert found.per_record.tolist() == [0, 0, 1, 1]


def test_it_says_why_it_cannot_be_tried():
    before = {"age": [1, 2], "home": [1, 1]}
    with pytest.raises(DataError, match="No number of a household is released"):
        attacked(before, {"age": [1, 2], "home": [None, None]})
    with pytest.raises(DataError, match="No column says who lives together"):
        attacked(before, before, roles=Roles(quasi=("age",), other=("home",)))


def test_noise_hides_nobody_who_lives_with_others():
    checked = Roles(quasi=("AGE15X", "household_income"), household=("household_id",)).check(SURVEY)
    release = apply_steps(SURVEY, checked, [Noise(p=0.05)], 7)
    found = HouseholdLinkage().attack(SURVEY, release, Knowledge(checked), rng_for(1))
    assert found.how == "by distance"
    assert found.rate > 0.8


def test_containment_agrees_with_trying_every_order():
    rng = np.random.default_rng(4)
    ages = rng.integers(0, 8, 36)
    low, high = np.maximum(ages - rng.integers(0, 3, 36), 0), ages + rng.integers(1, 4, 36)
    homes = np.repeat(np.arange(12), 3)
    found = attacked({"age": ages, "home": homes}, {"age": [f"[{a}..{b}]" for a, b in zip(low, high)], "home": homes}, by="containment")
    for home in range(12):
        mine = ages[homes == home]
        fits = [
            any(all(low[3 * h + i] <= mine[j] <= high[3 * h + i] for i, j in enumerate(order)) for order in permutations(range(3)))
            for h in range(12)
        ]
        assert fits[home]
        assert found.per_record[3 * home] == pytest.approx(1 / sum(fits))


def test_what_few_kept_households_share_by_chance_is_not_emptied():
    """Six couples of which two look alike: their members agree on their jobs by chance, those of the others do not."""
    homes = [home for home in range(6) for _ in range(2)]
    columns = {"age": [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], "home": homes, "job": ["a", "a", "a", "a", *"bcbcbcbc"]}
    release = link(columns, Roles(quasi=("age",), household=("home",), other=("job",)), 2)
    assert release.table.missing("home").sum() == 8
    assert not release.table.missing("job").any()


def test_no_number_left_is_said_on_the_first_screen(tmp_path):
    write_table(shoal.invented_survey(200), tmp_path / "survey.csv")
    roles = Roles(quasi=("sex", "AGE15X"), household=("household_id",), other=("household_income",), link={"household": 100})
    certificate = protect_to_folder(Recipe(tmp_path / "survey.csv", roles, (Mondrian(k=3),)), tmp_path / "run", seed=1)
    page = (tmp_path / "run" / "report.html").read_text()
    assert certificate.unit.households == 0
    assert "No number of a household is released." in page
    assert "households can be told" not in page


def test_the_check_sees_by_itself_what_households_share(tmp_path):
    """A promise that leaves the rent out is counted with it all the same: four couples look alike but for their rents."""
    table = Table.of({"age": [30, 40] * 4, "home": [1, 1, 2, 2, 3, 3, 4, 4], "rent": [5, 5, 5, 5, 6, 6, 7, 7], "ill": list("abbaabba")})
    told = Promise(HOUSEHOLD_K.name, 4, ("age",), "home", "households")
    release = Release(table, (Step("link", {}, (), (), "", (told,)),), np.arange(8))
    assert [(one.found, one.holds) for one in check_release(release)] == [(1, False)]
    for kind in ("csv", "parquet"):
        write_table(table, tmp_path / f"t.{kind}")
        assert [(one.found, one.holds) for one in check_file(tmp_path / f"t.{kind}", ",", [told])] == [(1, False)]
