"""The first screen tells the truth to whoever signs: the unit, the verdict, what leaves unprotected, the worst attack, and outliers."""

from typing import Any

import pytest

from shoal.certificate import LeavesPart, RolesPart, TableCertificate, UnitPart
from shoal.report.private_page import Riskiest
from shoal.report.table_pages import internal_report, public_report
from shoal.report.verdict import columns_in_words, households_in_words, outliers_in_words, unit_protected, verdict
from tests.report.test_figures import MEDIA_LINK, certificate, parts

WORST = {**parts([])["summary"], "risk": 0.15, "risk_low": 0.13, "risk_high": 0.17}
BARE = certificate(["age", "zip"], summary=WORST)
PERSONS = UnitPart(counted="persons", rows=1080, persons=400, one_row_each="no")
TELLS = LeavesPart(column="weight", why="tells", about="region", share=1.0, guessing=0.39)


def with_parts(one: TableCertificate = BARE, **changed: Any) -> TableCertificate:
    return one.model_copy(update=changed)


def promised(**changed: Any) -> TableCertificate:
    return certificate(["age", "zip"], promises=[{**parts(["age", "zip"])["promises"][0], **changed}], summary=WORST)


def text(page: str) -> str:
    return page.replace("\u00a0", " ")


def first_screen(one: TableCertificate) -> str:
    page = text(public_report(one, []))
    return page[: page.index("Warnings:")]


@pytest.mark.parametrize(
    ("one", "colour", "words", "why"),
    [
        (with_parts(promised(counts="persons", unit="persons"), unit=PERSONS), "green", "Holds for persons", "Every person is hidden among at least 5"),
        (with_parts(unit=UnitPart(one_row_each="known")), "green", "Holds for persons", "Every row is one person"),
        (BARE, "amber", "Holds for rows only", "Whether a row is a person is not known"),
        (with_parts(unit=UnitPart(rows=1080, persons=400, one_row_each="no")), "amber", "Holds for rows only", "400 persons in 1,080 rows"),
        (promised(found=3, holds=False), "red", "Does not hold", "k-anonymity promised 5, found 3 rows"),
        (promised(columns=["age"]), "red", "Does not hold", "over 1 of 2 quasi-identifiers only. Over all 2 together the smallest class is 5 rows"),
        (certificate(["age"], promises=[]), "red", "Does not hold", "Nothing is promised over the 1 quasi-identifier"),
        (certificate([]), "red", "Does not hold", "No column was named that an intruder may know"),
    ],
)  # fmt: skip
def test_three_colours(one: TableCertificate, colour: str, words: str, why: str) -> None:
    said = verdict(one)
    assert (said.colour, said.words) == (colour, words)
    assert why in said.why
    page = text(public_report(one, []))
    assert f'class="verdict {colour}"' in page
    assert words in page
    assert why in page


def test_a_promise_about_kept_numbers_is_no_promise_about_records() -> None:
    """household-k names all quasi-identifiers, and says nothing of a record."""
    assert verdict(promised(what="household-k", counts="households", unit="households")).colour == "red"


def test_what_speaks_against_it_stands_in_the_headline() -> None:
    known = UnitPart(one_row_each="known", rows=1080, households=390, households_told=0.57)
    said = verdict(with_parts(unit=known, leaves=(TELLS,)))
    assert said.headline == "Holds for persons, but households can be told, and 1 column leaves unprotected that tells too much"
    assert said.colour == "amber"
    assert "57.0 % of 390 households look like no other" in first_screen(with_parts(unit=known))


def test_an_attack_that_finds_more_than_one_in_k_stands_in_the_headline() -> None:
    """k = 5 allows 20 %: who finds more knows something that no promise is about."""
    known, worst = UnitPart(one_row_each="known"), BARE.summary.model_copy(update={"risk": 0.983, "risk_low": 0.96, "risk_high": 0.99})
    said = verdict(with_parts(unit=known, summary=worst))
    assert said.headline.replace("\u00a0", " ") == "Holds for persons, but an attack finds 98.3 %"
    assert said.colour == "amber"
    assert (
        verdict(with_parts(unit=known, summary=worst.model_copy(update={"risk_low": 0.19}))).colour == "green"
    )  # 20 % may be all there is


def test_households_under_a_promise_are_not_said_to_be_told() -> None:
    kept = {
        "what": "household-k",
        "value": 5,
        "unit": "households",
        "columns": ["age", "zip"],
        "about": "home",
        "sentence": "",
        "found": 6,
        "holds": True,
    }
    one = certificate(["age", "zip"], promises=[*parts(["age", "zip"])["promises"], kept], summary=WORST)
    one = with_parts(one, unit=UnitPart(one_row_each="known", households=390, households_told=0.0))
    assert verdict(one).headline == "Holds for persons"
    assert "at least 5 households" in households_in_words(one)


def test_released_numbers_of_households_are_said_even_where_nothing_was_counted() -> None:
    released = BARE.release.model_copy(update={"columns": (*BARE.release.columns, "home")})
    one = with_parts(release=released, roles=BARE.roles.model_copy(update={"household": ("home",)}))
    assert "but households can be told" in verdict(one).headline
    assert "was not counted" in households_in_words(one)
    assert households_in_words(BARE) == ""


def test_what_leaves_unprotected_is_named_in_words_ten_lines_at_most() -> None:
    leaves = [
        TELLS,
        LeavesPart(column="AGE31X", why="rank", about="age", share=0.999),
        LeavesPart(column="number", why="identifier"),
        *(LeavesPart(column=f"paid{i}", why="unique") for i in range(6)),
        *(LeavesPart(column=f"q{i}", why="tells", about="zip", share=0.8 + i / 100, guessing=0.2) for i in range(6)),
    ]
    screen = first_screen(with_parts(leaves=tuple(leaves)))
    assert "<code>weight</code>: gives away region: tells the right value for 100 % of the rows; guessing is right for 39.0 %." in screen
    assert "<code>AGE31X</code>: gives away age: puts the rows in the same order (rank correlation 0.999)." in screen
    assert "<code>number</code>: equals an identifier" in screen
    assert "<code>paid3</code> and 2 more columns: different in nearly every row" in screen  # one line for all that is the same
    assert screen.count("<li") == 10


def test_columns_left_out_and_released_as_they_are_are_counted() -> None:
    roles = RolesPart(quasi=("age", "zip"), confidential=("diagnosis",), other=("gone",), identifiers_removed=2, left_out=1512)
    said = columns_in_words(with_parts(roles=roles))
    assert said == "Released as they are: 1 confidential column. Left out: 1,512 columns without a role and 2 identifiers."


def test_the_unit_is_said_of_every_count() -> None:
    assert unit_protected(with_parts(promised(counts="persons", unit="persons"), unit=PERSONS)) == "persons: 400 persons in 1,080 rows"
    assert unit_protected(BARE) == "rows: 1,080 rows; whether each is another person is not known"
    in_persons = [{**one, "details": {**one["details"], "unit": "persons"}} for one in parts(["age"])["measures"]]
    counted = certificate(
        ["age"], promises=[{**parts(["age"])["promises"][0], "counts": "persons", "unit": "persons"}], measures=in_persons
    )
    page = text(public_report(with_parts(counted, unit=PERSONS, attacks=(counted.attacks[0].model_copy(update={"unit": "persons"}),)), []))
    for words in ("<b>5 persons</b>", "1,080 persons", "unique: 0 persons", "persons in the class", "Persons in one class look the same"):
        assert words in page
    alone = text(public_report(BARE, []))
    for words in ("<b>5 rows</b>", "of 1,080 rows", "unique: 0 rows", "rows in the class"):
        assert words in alone


def test_the_worst_attack_and_outliers_are_the_summarys() -> None:
    summary = BARE.summary.model_copy(
        update={"risk": 0.945, "risk_low": 0.93, "risk_high": 0.96, "risk_how": "one-to-one", "outliers": 54, "outlier_risk": 0.98,
                "outlier_low": 0.9, "outlier_high": 0.999, "outlier_attack": "distance-linkage"}
    )  # fmt: skip
    one = with_parts(summary=summary)
    screen = first_screen(one)
    assert (
        "Distance-based record linkage (one-to-one) finds 94.5 % of 1,080 rows (95 % interval 93.0–96.0 %); blind guessing, 0.093 %"
        in screen
    )
    assert "Of the 54 rows farthest from the middle of the columns, 98.0 % are found" in screen
    assert "hides them" in outliers_in_words(BARE)


def test_a_higher_rate_of_another_kind_is_not_left_unsaid() -> None:
    near = BARE.attacks[1].model_copy(update={"rate": 0.311, "hit": 335.9, "interval": (0.28, 0.34), "chance": 0.064})
    screen = first_screen(with_parts(attacks=(BARE.attacks[0], near)))
    assert "Of another kind: Interval disclosure comes near the value of 31.1 % of 1,080 rows" in screen
    assert "Of another kind" not in first_screen(BARE)


def test_an_attack_may_count_in_a_unit_of_its_own() -> None:
    attack = BARE.attacks[0].model_copy(update={"unit": "households"})
    assert "of 1,080 households" in first_screen(with_parts(attacks=(attack,)))


def test_measures_without_a_value_are_one_line() -> None:
    """Twenty rows of n/a stood there."""
    without = [{"name": f"il{i}", "title": f"Loss {i}", "value": None, "better": "lower", "note": "Needs numbers."} for i in range(20)]
    page = public_report(certificate(["age"], measures=[*parts(["age"])["measures"][:2], *without]), [])
    assert "20 measures are not defined here: il0, il1, il2," in page
    assert "n/a" not in page
    assert page.count("Needs numbers.") == 1


def test_the_data_are_called_as_their_keeper_wants() -> None:
    named = with_parts(name="Hospital <stays> 2025")
    assert "<h1>Hospital &lt;stays&gt; 2025</h1>" in public_report(named, [])
    assert "Internal: Hospital" in internal_report(named, [], Riskiest())
    assert "<h1>release.csv</h1>" in public_report(BARE, [])


def test_a_wall_of_names_is_folded() -> None:
    wall = "No role was given to " + ", ".join(f"'Q{i:04d}'" for i in range(1800))
    page = public_report(with_parts(warnings=(wall,)), [])
    summary = page[page.index("<li><details><summary>") :].split("</summary>")[0]
    assert summary.count("Q") < 40
    assert "Q1799" in page


def test_a_narrow_screen_stacks_cells_beside_their_labels_and_nothing_is_fetched() -> None:
    page = public_report(BARE, [])
    assert '<td data-label="95\u00a0% interval" class="n">' in page
    assert "content:attr(data-label)" in page
    assert not MEDIA_LINK.search(page)


def test_a_number_that_repeats_is_said_above_the_headline_and_once() -> None:
    repeats = "An identifier that was left out repeats: name it as --person."
    page = public_report(with_parts(unit=UnitPart(warning=repeats), warnings=(repeats, "Another.")), [])
    assert page.index(repeats) < page.index("Holds for rows only")
    assert page.count(repeats) == 1
    assert "Another." in page
