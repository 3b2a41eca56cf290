"""The headline risk: the strongest form of every attack, and the same for the records farthest out."""

import numpy as np
import pytest

import shoal
from shoal.attacks import DistanceLinkage, IntervalDisclosure, LearnedLinkage, ProbabilisticLinkage
from shoal.errors import ParameterError
from shoal.files import read_table
from shoal.kernels.linkage import agreement, assignment
from shoal.kernels.linkage.closer import Distance
from shoal.kernels.outliers import farthest, rank_distances, rarities
from shoal.methods import Mdav
from shoal.randomness import rng_for
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.certify import summary, warnings
from shoal.runs.evidence import Attacked, TableSubject, attack_all, farthest_records, with_outliers
from shoal.runs.recipe import apply_steps
from shoal.score import AttackResult, Knowledge, disclosure_risk
from shoal.table import Table
from tests.data import data_path

STRETCHED = {"x": [0.0, 1, 2, 3, 100]}, {"x": [0.0, 1, 2, 3, 10]}  # the one far out was drawn in


def attacked(attack, original, released, **knowledge):
    """Row i of the released table was made from original row i."""
    before, after = Table.of(original), Table.of(released)
    roles = Roles(quasi=before.columns).check(before)
    return attack.attack(before, Release.given(after, np.arange(len(after)), roles), Knowledge(roles, **knowledge), rng_for(1))


def headline(table, release):
    """Of all attacks."""
    return summary([], attack_all(TableSubject(table, release, release.roles), (), 1))


# ---- forms -------------------------------------------------------------------------------------------------------------------


def test_the_originals_scale_is_tried_beside_each_files_own():
    each = attacked(DistanceLinkage(scale="each", linking="nearest"), *STRETCHED)
    original = attacked(DistanceLinkage(scale="original", linking="nearest"), *STRETCHED)
    assert each.rate < original.rate == 1
    found = attacked(DistanceLinkage(linking="nearest"), *STRETCHED)
    assert found.rate == 1
    assert found.how == "the original's scale"
    assert found.textbook.rate == each.rate
    assert found.details["forms"] == [
        {"how": "each file's own scale", "rate": each.rate},
        {"how": "the original's scale", "rate": 1.0},
    ]


def test_records_are_linked_one_to_one_as_well():
    original, released = {"x": [0.0, 1.0, 2.0, -1000.0, 1000.0]}, {"x": [0.8, 1.3, 1.9, -1000.5, 999.5]}  # 1 is nearer to 0.8 than to 1.3
    found = attacked(DistanceLinkage(scale="each"), original, released)
    assert [form["rate"] for form in found.details["forms"]] == [0.8, 1.0]
    assert found.how == "each file's own scale, one-to-one"
    assert "Strongest of 2 forms tried" in found.note
    assert found.per_record.tolist() == [1, 1, 1, 1, 1]


def test_twins_share_a_hit_one_to_one():
    found = attacked(DistanceLinkage(linking="one-to-one"), {"x": [0, 1, 10, 11]}, {"x": [0.5, 0.5, 10.5, 10.5]})
    assert found.per_record.tolist() == [0.5] * 4
    assert found.strict_hit == 0


def test_codes_count_one_to_one():
    city = {"x": [0.0, 0, 5, 5], "city": ["a", "b", "a", "b"]}
    assert attacked(DistanceLinkage(linking="one-to-one"), city, city).hit == 4


def test_probabilistic_linkage_tries_both_assignments():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3))
    before, after = ({f"c{j}": side[:, j].tolist() for j in range(3)} for side in (x, x + rng.normal(0, 0.2, x.shape)))
    rates = {how: attacked(ProbabilisticLinkage(assignment=how), before, after).rate for how in ("one-to-one", "best")}
    found = attacked(ProbabilisticLinkage(), before, after)
    assert found.rate == max(rates.values())
    assert [form["how"] for form in found.details["forms"]] == ["one-to-one", "each record by itself"]


@pytest.mark.parametrize("attack", [DistanceLinkage, ProbabilisticLinkage, LearnedLinkage])
def test_too_many_records_are_not_linked_one_to_one_and_it_is_said(attack, monkeypatch):
    monkeypatch.setattr("shoal.attacks.forms.MOST_TOGETHER", 4)
    found = attacked(attack(), *STRETCHED)
    assert not any("one-to-one" in form["how"] for form in found.details["forms"])
    assert found.details["not_tried"] == ["one-to-one linking, since 5 records are more than 4"]
    assert "Not tried: one-to-one linking, since 5 records are more than 4." in found.note
    asked = {"assignment": "one-to-one"} if attack is ProbabilisticLinkage else {"linking": "one-to-one"}
    with pytest.raises(ParameterError, match="5 records are more than 4"):
        attacked(attack(**asked), *STRETCHED)


def test_a_mahalanobis_distance_has_no_scale():
    with pytest.raises(ParameterError, match="does not depend on the scale"):
        DistanceLinkage(distance="mahalanobis", scale="each")


def test_many_records_are_assigned_among_their_nearest(monkeypatch):
    """With few rows all of them are near, so the answer is the exact one; with more it is nearly so."""
    rng = np.random.default_rng(4)
    by = Distance("weighted", np.ones(3), 2, np.arange(3), 3)
    for n, lost in ((50, 0), (400, 4)):
        x = rng.normal(size=(n, 3))
        y = x + rng.normal(0, 0.3, x.shape)
        exact = assignment.shared_hits(assignment.assigned(y, x, by, rng_for(1)), np.arange(n), y).sum()
        with monkeypatch.context() as patch:
            patch.setattr(assignment, "EXACT", 0)
            near = assignment.assigned(y, x, by, rng_for(1))
        assert len(set(near[near >= 0])) == (near >= 0).sum()
        assert abs(assignment.shared_hits(near, np.arange(n), y).sum() - exact) <= lost


def test_rows_that_are_alike_are_each_given_once(monkeypatch):
    monkeypatch.setattr(assignment, "EXACT", 0)
    by = Distance("weighted", np.ones(1), 2, np.arange(1), 1)
    x, y = np.arange(300.0)[:, None], np.repeat([50.0, 250.0], 150)[:, None]
    found = assignment.assigned(y, x, by, rng_for(1))
    assert sorted(found[found >= 0]) == sorted(set(found[found >= 0]))
    assert (found >= 0).sum() >= 290
    assert assignment.assigned(y[:2], x, by, rng_for(1)).max() == 1  # more records than rows: the others go without


def test_many_agreements_are_assigned_among_the_heaviest(monkeypatch):
    monkeypatch.setattr(agreement, "QUICKLY_ASSIGNED", 1_000)
    people = np.arange(100.0)[:, None]
    found = agreement.one_to_one(people, people[::-1], np.zeros(1), np.ones(1), -np.ones(1))
    assert (found == np.arange(100)[::-1]).mean() > 0.9


# ---- outliers ----------------------------------------------------------------------------------------------------------------


def test_ranks_from_the_median_by_hand():
    assert rank_distances(np.ones(5, np.int64), np.array([1.0, 2, 3, 4, 1e9])) == pytest.approx([0.4, 0.2, 0, 0.2, 0.4])
    assert rank_distances(np.array([1, 8, 1]), np.array([9.0, 0, 5])) == pytest.approx([0.55, 0, 0.45])  # middle ranks .95, .4, .85
    assert rank_distances(np.array([2, 2, 6]), np.array([7.0, 8, np.nan])) == pytest.approx([0.25, 0.25, 0])  # missing is in the middle
    assert rank_distances(np.array([3]), np.array([np.nan])).tolist() == [0]
    assert rarities(np.array([3, 1])).tolist() == [0.125, 0.375]


def test_who_is_an_outlier_by_hand():
    assert np.flatnonzero(farthest(np.arange(40.0))).tolist() == [38, 39]
    tied = np.array([*range(37), 50.0, 50, 50])
    assert np.flatnonzero(farthest(tied)).tolist() == [37, 38, 39]  # nobody for his place in the file
    assert not farthest(np.ones(40)).any()
    assert np.flatnonzero(farthest(np.array([9.0] + [1.0] * 39))).tolist() == [0]
    assert farthest(np.empty(0)).tolist() == []


def test_numbers_levels_and_categories_are_far_out_each_in_its_way():
    table = Table.of({"age": [*range(40)], "school": ["low", "middle", "middle", "high"] * 10, "city": ["a"] * 39 + ["b"]})
    roles = Roles(quasi=table.columns, ordinal={"school": ("low", "middle", "high")}).check(table)
    assert np.flatnonzero(farthest_records(table, roles, ("age",))).tolist() == [0, 39]
    assert np.flatnonzero(farthest_records(table, roles, ("city",))).tolist() == [39]
    assert not farthest_records(table, roles, ("school",)).any()  # a quarter is equally far at either end
    assert np.flatnonzero(farthest_records(table, roles, ("age", "school", "city"))).tolist() == [0, 39]


def result(share, how, **more):
    share = np.array(share)
    hit, tried = float(np.nansum(share)), int((~np.isnan(share)).sum())
    return AttackResult("a", "A", tried, hit, hit, 0.01, (0, 1), "linkage", details={"how": how}, per_record=share, **more)


def test_the_form_that_finds_most_outliers_counts_for_them():
    best, other = result([1, 1, 1, 0, 0, np.nan], "best"), result([0, 0, 0, 1, 1, np.nan], "other")
    found = with_outliers(result([1, 1, 1, 0, 0, np.nan], "best", forms=(best, other)), np.array([0, 0, 0, 1, 1, 1], np.bool_))
    assert (found.outliers.tried, found.outliers.hit, found.outliers.how) == (2, 2, "other")  # one of the three was not tried
    assert found.public()["details"]["outliers"]["rate"] == 1
    assert with_outliers(best, np.zeros(6, np.bool_)).outliers is None


def test_the_summary_names_the_worst_and_warns_of_outliers():
    far = with_outliers(result([0.0] * 90 + [1.0] * 10, "this way"), np.arange(100) >= 95)
    low = with_outliers(result([1.0] * 15 + [0.0] * 85, "that way"), np.arange(100) >= 95)
    found = summary([], Attacked([far, low], {}))
    assert (found.risk, found.risk_how, found.outliers, found.outlier_risk) == (0.15, "that way", 5, 1)
    assert found.outlier_low < 1 == found.outlier_high
    table = Table.of({"x": range(100)})
    roles = Roles(quasi=("x",)).check(table)
    said = list(warnings(Release.given(table, np.arange(100), roles), roles, [], Attacked([far, low], {})))
    assert said == ["a finds 100.0% of the 5 records farthest out, though 15.0% is the most that any attack finds on average."]


def test_a_warning_of_outliers_counts_as_the_summary_does():
    far = with_outliers(result([0.0] * 19_000 + [1.0] * 1_023, "this way"), np.arange(20_023) >= 19_000)
    table = Table.of({"x": range(20_023)})
    roles = Roles(quasi=("x",)).check(table)
    (said,) = warnings(Release.given(table, np.arange(20_023), roles), roles, [], Attacked([far], {}))
    assert "of the 1,020 records farthest out" in said


def test_the_literatures_risk_is_of_the_textbooks_forms():
    table = shoal.invented_patients(200)
    release = shoal.protect(table, "mdav", k=3, quasi=["age", "income", "visits"], seed=1)
    attacks = [DistanceLinkage(), ProbabilisticLinkage(), IntervalDisclosure()]
    found = attack_all(TableSubject(table, release, release.roles), attacks, 1)
    rates = [one.textbook.rate for one in found.results]
    assert summary([], found).disclosure_risk == disclosure_risk(*rates)
    published = DistanceLinkage(scale="each", linking="nearest").attack(table, release, Knowledge(release.roles), rng_for(1))
    assert rates[0] == published.rate < found.results[0].rate


# ---- published data ----------------------------------------------------------------------------------------------------------


def test_tarragona_by_the_originals_scale_and_one_to_one():
    """Microaggregation draws in what is far out, so each file's own deviations no longer fit each other."""
    table = read_table(data_path("casc", "tarragona.csv"))
    release = shoal.protect(table, "mdav", k=7, refine="swap", quasi=table.columns, seed=1)
    found = shoal.attack(table, release, "distance-linkage", seed=1)["distance-linkage"]
    rates = {form["how"]: form["rate"] for form in found.details["forms"]}
    assert rates["each file's own scale"] == pytest.approx(0.09, abs=0.005)
    assert rates["the original's scale"] == pytest.approx(0.126, abs=0.001)
    assert 0.14 < found.rate == max(rates.values()) <= 1 / 7  # one to one, nearly all that k-anonymity allows
    assert headline(table, release).risk >= found.rate


def test_tarragona_with_noise_gives_its_outliers_away():
    table = read_table(data_path("casc", "tarragona.csv"))
    release = shoal.protect(table, "noise", p=0.1, quasi=table.columns, seed=1)
    found = headline(table, release)
    assert found.outliers == 43  # the last two are equally far
    assert found.outlier_risk > 0.95
    assert found.risk < 0.75


def test_m4_28_says_what_its_families_find_one_to_one():
    """Two columns microaggregated with k = 2, two with k = 8, of 400 records of Census."""
    census = read_table(data_path("casc", "census.csv"))
    table = census.without(census.columns[4:]).take(np.sort(rng_for(2014, "sample", 0).choice(1080, 400, replace=False)))
    roles = Roles(quasi=table.columns).check(table)
    steps = [Mdav(k=k, columns=table.columns[at : at + 2], standardize="none") for at, k in ((0, 2), (2, 8))]
    release = apply_steps(table, roles, steps, 0)
    found = headline(table, release)
    assert found.risk_attack == "learned-linkage"
    assert found.risk_how.endswith("one-to-one")
    assert found.risk > 0.94
    for aggregator in ("weighted-mean", "owa", "bilinear", "choquet"):
        parameters = {"aggregator": aggregator, "linking": "nearest"}
        alone = shoal.attack(table, release, "learned-linkage", parameters=parameters, seed=1)["learned-linkage"]
        assert alone.rate < found.risk
