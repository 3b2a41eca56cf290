"""shoal patterns: what it lists, how it sorts, and what it refuses."""

import json

import pytest

from shoal.errors import ParameterError
from tests.cli.conftest import SECRET, patients, write_csv

GROUPS = ("--quasi", "age,zip", "--confidential", "diagnosis", "--identifier", "name", "--other", "income")


@pytest.fixture
def run(released, table):
    return released("protect", table, "--method", "mondrian", "-p", "k=5", "-p", "publish=intervals", *GROUPS)


def listed(shoal, *words):
    ran = shoal("patterns", *words, "--json")
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_a_table_of_rules(shoal, run):
    ran = shoal("patterns", run)
    assert ran.code == 0, ran.err
    assert "support  covers  diagnosis" in ran.out
    assert "age in [" in ran.out
    assert "zip = 0800" in ran.out or "zip in {0800" in ran.out
    assert " %" in ran.out
    assert "satisfy no pattern" in ran.err
    assert SECRET not in ran.out + ran.err


def test_json_says_all(shoal, run):
    said = listed(shoal, run)
    assert said["number"] == len(said["patterns"]) > 1
    assert sum(p["support"] for p in said["patterns"]) == 60 == sum(said["records_by_patterns"].values())
    assert said["records_by_patterns"]["0"] == 0
    assert said["smallest_set"] >= 5
    assert said["note"] == ""
    for one in said["patterns"]:
        assert one["coverage"] >= one["support"] >= 5
        assert set(one["cells"]) == {"age", "zip"}
        assert sum(c["records"] for c in one["classes"]["diagnosis"]) == one["support"]
        assert one["purity"] == max(c["records"] for c in one["classes"]["diagnosis"]) / one["support"]


@pytest.mark.parametrize("key", ["support", "coverage", "length", "purity"])
def test_sorted_and_cut(shoal, run, key):
    every = [p[key] for p in listed(shoal, run, "--sort", key)["patterns"]]
    assert every == sorted(every, reverse=True)
    assert [p[key] for p in listed(shoal, run, "--sort", key, "--top", "2")["patterns"]] == every[:2]
    assert [p[key] for p in listed(shoal, run, "--sort", key, "--bottom", "2")["patterns"]] == every[::-1][:2]


def test_a_released_file_has_no_coverage(shoal, run):
    inside = listed(shoal, run)
    said = listed(shoal, run / "release.csv", "--quasi", "age,zip", "--confidential", "diagnosis")
    assert {p["coverage"] for p in said["patterns"]} == {None}
    assert said["records_by_patterns"] is None
    assert [(p["cells"], p["support"]) for p in said["patterns"]] == [(p["cells"], p["support"]) for p in inside["patterns"]]
    ran = shoal("patterns", run / "release.csv", "--quasi", "age,zip")
    assert ran.code == 0
    assert "covers" not in ran.out


def test_classes_of_another_target(shoal, run):
    assert list(listed(shoal, run, "--target", "income")["patterns"][0]["classes"]) == ["income", "diagnosis"]


def test_parquet(shoal, released, desk, table):
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.csv.read_csv(table), desk / "p.parquet")
    folder = released("protect", desk / "p.parquet", "--method", "mondrian", "-p", "k=5", *GROUPS)
    said = listed(shoal, folder)
    assert said["note"] == ""
    assert sum(p["support"] for p in said["patterns"]) == 60


def test_changed_values_are_listed_without_coverage(shoal, released, table):
    folder = released("protect", table, "--method", "mdav", "-p", "k=5", "--quasi", "age,income", *GROUPS[2:6], "--other", "zip")
    ran = shoal("patterns", folder)
    assert ran.code == 0, ran.err
    assert "Coverage is not counted" in ran.err
    assert listed(shoal, folder)["patterns"][0]["coverage"] is None


def test_the_reports_show_patterns_and_only_the_internal_one_coverage(run):
    public, internal = (run / "report.html").read_text(), (run / "private" / "report.html").read_text()
    for page in (public, internal):
        assert "<h2>Patterns</h2>" in page
        assert "age in [" in page
    assert "Originals that satisfy it" in internal
    assert "satisfy" not in public
    assert "coverage" not in (run / "certificate.json").read_text()


def test_a_report_without_groups_has_no_patterns(released, table):
    folder = released("protect", table, "--method", "noise", "--quasi", "age,income", *GROUPS[2:6], "--other", "zip")
    assert "<h2>Patterns</h2>" not in (folder / "report.html").read_text() + (folder / "private" / "report.html").read_text()


def test_no_groups(refused, released, table):
    folder = released("protect", table, "--method", "noise", "--quasi", "age,income", *GROUPS[2:6], "--other", "zip")
    refused("patterns", folder, says="no groups")


def test_mistakes(refused, released, shoal, desk, run):
    refused("patterns", run, "--sort", "suport", says="did you mean 'support'")
    refused("patterns", run, "--top", "3", "--bottom", "3", says="not both")
    refused("patterns", run, "--top", "0", says="--top")
    refused("patterns", run, "--quasi", "age", says="run folder says")
    refused("patterns", run, "--target", "agge", says="'agge'")
    refused("patterns", run / "release.csv", says="--quasi")
    refused("patterns", run / "release.csv", "--quasi", "agee", says="Did you mean 'age'")
    refused("patterns", run / "release.csv", "--quasi", "age,zip", "--sort", "coverage", says="no original")
    refused("patterns", run / "release.csv", "--quasi", "age,zip", "--sort", "purity", says="no target or confidential")
    refused("patterns", desk / "nothing.csv", "--quasi", "age", says="no file")
    refused("patterns", desk, says="not a run folder")


def test_a_name_that_is_no_role_is_never_shown(shoal, desk, released):
    rows = patients(40)
    folder = released("protect", write_csv(desk / "more.csv", rows), "--method", "mondrian", "-p", "k=4", *GROUPS, out=desk / "more")
    assert SECRET not in shoal("patterns", folder).out


def test_a_list_of_patterns(shoal, released, table):
    folder = released("protect", table, "--method", "anti-unification", "-p", "k=3", "-p", "limit=1", *GROUPS)
    said = listed(shoal, folder)
    assert all(p["coverage"] >= p["support"] >= 3 for p in said["patterns"])
    alone = listed(shoal, folder / "release.csv", "--quasi", "age,zip")
    assert [p["support"] for p in alone["patterns"]] == [p["support"] for p in said["patterns"]]


@pytest.fixture(scope="module")
def pattern_list(tmp_path_factory):
    """A list of patterns of a table with a column that has no part in it."""
    from shoal.example import invented_patients
    from shoal.methods import AntiUnification
    from shoal.roles import Roles
    from shoal.runs.recipe import Recipe
    from shoal.runs.run import protect_to_folder
    from shoal.writing import write_table

    desk = tmp_path_factory.mktemp("listed")
    write_table(invented_patients(400), desk / "patients.csv")
    roles = Roles(
        quasi=("age", "sex", "education"), confidential=("diagnosis",), identifier=("name",), other=("income", "visits"), target="diagnosis"
    )
    return desk / "run", protect_to_folder(Recipe(desk / "patients.csv", roles, (AntiUnification(k=5),)), desk / "run", seed=1)


def test_what_patterns_leave_out_is_not_said_to_be_released(pattern_list):
    """One warning said that income is left out, another that it is released unchanged."""
    _, certificate = pattern_list
    assert "income" not in certificate.release.columns
    assert [warning for warning in certificate.warnings if "'income'" in warning or "income," in warning] == [
        "Patterns have no values for income, visits: left out."
    ]
    assert any("released rows are unique" in warning for warning in certificate.warnings)  # a row is a pattern, not a record


def test_learning_from_patterns_where_a_column_has_no_part_in_them(pattern_list, shoal):
    run, _ = pattern_list
    ran = shoal("measure", run, "--target", "diagnosis", "--learner", "naive-bayes")
    assert ran.code == 0, ran.err
    assert "naive-bayes" in ran.out
    ran = shoal("measure", run, "--target", "visits", "--learner", "naive-bayes")
    assert ran.code == 2
    assert "The release has no column 'visits'" in ran.err


def test_both_counts_of_unsatisfied_records_say_what_they_count(pattern_list, shoal):
    run, certificate = pattern_list
    assert any("satisfy no pattern that has their own confidential values" in warning for warning in certificate.warnings)
    assert "By quasi-identifiers alone, of the original's records" in shoal("patterns", run).err


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("anti-unification", {"bins": "age=5", "numeric": "values"}),
        ("anti-unification-safe", {"bins": "age=5", "numeric": "values"}),
        ("kactus", {"inducer": "cart", "confidence": "0.1"}),
    ],
)
def test_a_parameter_without_effect_is_refused(method, given):
    from shoal.registry import make

    with pytest.raises(ParameterError, match="no effect"):
        make("method", method, given)
