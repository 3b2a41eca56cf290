"""The headline risk on the command line and in the certificate it prints."""

import json

import pytest

from tests.cli.conftest import patients, write_csv


@pytest.fixture
def noisy(desk):
    table = write_csv(desk / "patients.csv", patients(120))
    return ("protect", table, "--quasi", "age,income", "--identifier", "name", "--method", "noise", "-p", "p=0.1", "--seed", "1")


def test_the_highest_risk_and_that_of_outliers_stand_before_the_attacks(shoal, noisy, desk):
    said = shoal(*noisy, "-o", desk / "noisy").out
    worst, far, each = (said.index(words) for words in ("highest linkage risk", "of the 5 % farthest out", "distance-linkage hits"))
    assert worst < far < each
    assert "of 120 rows" in said


def test_the_certificate_names_the_worst_form(shoal, noisy, desk):
    certificate = json.loads(shoal(*noisy, "-o", desk / "noisy", "--json").out)["certificate"]
    summary = certificate["summary"]
    linkage = {one["name"]: one for one in certificate["attacks"] if one["risk"] == "linkage"}
    assert summary["risk"] == pytest.approx(max(form["rate"] for one in linkage.values() for form in one["details"]["forms"]), abs=0.005)
    assert summary["risk_how"] == linkage[summary["risk_attack"]]["details"]["how"]
    assert summary["outliers"] == linkage[summary["outlier_attack"]]["details"]["outliers"]["tried"] >= 3
    assert summary["outlier_low"] <= summary["outlier_risk"] <= summary["outlier_high"]
