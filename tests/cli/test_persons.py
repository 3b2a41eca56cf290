"""Several rows a person on the command line: what is said, where, and what is not."""

import csv
import json

import pytest

from shoal.example import invented_visits
from shoal.writing import write_table
from tests.cli.test_commands import ok

QUASI = ("--quasi", "sex,birth_date,zip", "--confidential", "diagnosis", "--seed", "1", "-m", "mondrian", "-p", "k=3")


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    write_table(invented_visits(300), path)
    return path


def certificate(folder):
    return json.loads((folder / "certificate.json").read_text())


def test_every_headline_says_persons(shoal, visits, desk):
    ran = ok(shoal("protect", visits, *QUASI, "--person", "patient_id", "-o", desk / "run"))
    assert "300 rows of 95 persons" in ran.out
    assert "3, found 3 persons" in ran.out
    assert "unique persons" in ran.out
    assert "of 95 persons (95 % interval" in ran.out
    said = certificate(desk / "run")
    assert (said["unit"]["counted"], said["unit"]["persons"], said["unit"]["one_row_each"]) == ("persons", 95, "no")
    assert {one["unit"] for one in said["attacks"]} == {"persons"}
    assert "patient_id" not in (desk / "run" / "certificate.json").read_text() + (desk / "run" / "report.html").read_text()
    assert "patient_id" not in (desk / "run" / "release.csv").read_text()


def test_a_run_remembers_whose_rows_are(shoal, visits, desk):
    ok(shoal("protect", visits, *QUASI, "--person", "patient_id", "-o", desk / "run"))
    before = certificate(desk / "run")
    measured = json.loads(ok(shoal("measure", desk / "run", "--measure", "k-anonymity", "--json")).out)[0]
    assert measured["details"] == next(one for one in before["measures"] if one["name"] == "k-anonymity")["details"]
    assert measured["details"]["unit"] == "persons"
    attacked = json.loads(ok(shoal("attack", desk / "run", "--attack", "distance-linkage", "--json")).out)[0]
    assert (attacked["unit"], attacked["tried"]) == ("persons", 95)
    ok(shoal("report", desk / "run"))
    after = certificate(desk / "run")
    assert (after["unit"], after["promises"]) == (before["unit"], before["promises"])
    checks = json.loads(ok(shoal("verify", desk / "run" / "release.csv", desk / "run" / "certificate.json", "--json")).out)["checks"]
    assert any("counting persons: at most" in one["what"] for one in checks)


def test_verify_does_not_believe_more_persons_than_rows(shoal, visits, desk):
    ok(shoal("protect", visits, *QUASI, "--person", "patient_id", "-o", desk / "run"))
    said = certificate(desk / "run")
    said["promises"][0].update(value=200, found=200)
    (desk / "run" / "certificate.json").write_text(json.dumps(said))
    assert shoal("verify", desk / "run" / "release.csv", desk / "run" / "certificate.json").code == 1


def test_without_the_role_a_number_that_repeats_stands_above_the_headline(shoal, visits, desk):
    ran = ok(shoal("protect", visits, *QUASI, "--identifier", "patient_id", "-o", desk / "run"))
    first = next(line for line in ran.err.splitlines() if line.startswith("Warning"))
    assert first == (
        "Warning: An identifier repeats: 300 rows, 95 different values. If it numbers persons, k = 3 rows may be one person: "
        "give it the role person. (--person patient_id)"
    )
    assert ran.err.count("repeats") == 1
    said = certificate(desk / "run")
    assert said["warnings"][0] == said["unit"]["warning"] == first.removeprefix("Warning: ").removesuffix(" (--person patient_id)")
    assert "patient_id" not in (desk / "run" / "certificate.json").read_text()


def test_numbers_of_persons_are_kept_where_they_look_alike(shoal, visits, desk):
    given = ("--quasi", "sex", "--person", "patient_id", "-m", "mondrian", "-p", "k=3", "--seed", "1")
    for link, k in (("person", 3), ("person=4", 4)):
        out = desk / link.replace("=", "")
        ok(shoal("protect", visits, *given, "--link", link, "-o", out))
        kept = next(one for one in certificate(out)["promises"] if one["what"] == "person-k")
        assert kept["value"] == k
        assert kept["found"] >= k
        with (out / "release.csv").open() as file:
            numbers = {row["patient_id"] for row in csv.DictReader(file)} - {""}
        with visits.open() as file:
            assert numbers
            assert not numbers & {row["patient_id"] for row in csv.DictReader(file)}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--link", "person"), "There is nothing to link by 'person': no column has that role"),
        (("--person", "patient_id", "--link", "person=many"), "--link is written person, or household=5"),
        (("--person", "patient_id,age"), "The role person is given to 2 columns"),
        (("--rest", "keep"), "rest must be leave-out or release"),
    ],
)
def test_what_is_wrong_is_said(shoal, visits, desk, words, sentence):
    ran = shoal("protect", visits, "--quasi", "sex", "-m", "mondrian", *words, "-o", desk / "run")
    assert ran.code == 2
    assert sentence in ran.err
    assert not (desk / "run").exists()


def test_the_rest_is_released_where_it_is_asked_for(shoal, visits, desk):
    ok(shoal("protect", visits, *QUASI, "--person", "patient_id", "--rest", "release", "-o", desk / "run"))
    with (desk / "run" / "release.csv").open() as file:
        assert next(csv.reader(file)) == ["sex", "birth_date", "zip", "admitted", "age", "ward", "diagnosis", "length_of_stay"]


def test_a_release_of_another_tool_is_counted_in_persons(shoal, visits):
    pair = ("--original", visits, "--release", visits, "--quasi", "sex,zip", "--identifier", "admitted")
    for person, unit in ((("--person", "patient_id"), "persons"), ((), "rows")):
        found = json.loads(ok(shoal("measure", *pair, *person, "--measure", "k-anonymity", "--json")).out)[0]
        assert found["details"]["unit"] == unit
        attacked = json.loads(ok(shoal("attack", *pair, *person, "--attack", "distance-linkage", "--json")).out)[0]
        assert (attacked["unit"], attacked["tried"]) == (unit, 95 if person else 300)


def test_compare_says_the_unit(shoal, visits):
    ran = ok(
        shoal("compare", visits, "--quasi", "sex,birth_date", "--person", "patient_id", "-m", "mondrian", "-p", "k=3,5", "--seed", "1")
    )
    assert "persons" in ran.out
