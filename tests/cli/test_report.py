"""`shoal report` says again what `protect` said, and calls the data what their keeper calls them."""

import json

from tests.cli.conftest import check_folder, write_csv
from tests.cli.test_commands import ok

ROLES = ("--quasi", "age,town", "--confidential", "illness")


def rows():
    """The town is the same in every row, which methods warn of."""
    return [["age", "town", "illness"], *([20 + 3 * i, "Y", ("flu", "cold", "gout")[i % 3]] for i in range(30))]


def said(folder):
    return json.loads((folder / "certificate.json").read_text())


def test_report_keeps_the_warnings(shoal, desk):
    """They were dropped: whoever read the second report was warned of less."""
    folder = desk / "run"
    ok(shoal("protect", write_csv(desk / "t.csv", rows()), *ROLES, "--method", "mondrian", "-p", "k=3", "-o", folder))
    before = said(folder)
    assert any("the same in every row" in warning for warning in before["warnings"])
    page = (folder / "report.html").read_text()
    ok(shoal("report", folder))
    assert said(folder)["warnings"] == before["warnings"]
    assert (folder / "report.html").read_text() == page
    check_folder(folder)


def test_report_keeps_the_warnings_of_a_run_that_did_not_keep_them_apart(shoal, desk):
    """Folders written before have no warnings in private/run.json."""
    folder = desk / "run"
    ok(shoal("protect", write_csv(desk / "t.csv", rows()), *ROLES, "--method", "mondrian", "-p", "k=3", "-o", folder))
    before = said(folder)["warnings"]
    kept = folder / "private" / "run.json"
    kept.write_text(json.dumps({key: value for key, value in json.loads(kept.read_text()).items() if key != "warnings"}))
    ok(shoal("report", folder))
    assert sorted(said(folder)["warnings"]) == sorted(before)


def test_the_data_have_a_name_if_one_is_given(shoal, desk):
    table = write_csv(desk / "SECRETFILE.csv", rows())
    words = ("protect", table, *ROLES, "--method", "mdav", "-p", "k=3", "-p", "columns=age")
    ok(shoal(*words, "--name", "Hospital stays 2025", "-o", desk / "named"))
    assert said(desk / "named")["name"] == "Hospital stays 2025"
    assert "<h1>Hospital stays 2025</h1>" in (desk / "named" / "report.html").read_text()
    ok(shoal("run", desk / "named" / "recipe.toml", "-o", desk / "again"))  # the recipe knows it
    assert said(desk / "again")["name"] == "Hospital stays 2025"
    ok(shoal("report", desk / "named"))
    assert said(desk / "named")["name"] == "Hospital stays 2025"
    ok(shoal(*words, "-o", desk / "plain"))
    assert said(desk / "plain")["name"] == ""
    assert "<h1>release.csv</h1>" in (desk / "plain" / "report.html").read_text()
    assert "SECRETFILE" not in (desk / "plain" / "report.html").read_text()


def test_a_name_is_a_text(refused, desk):
    recipe = desk / "recipe.toml"
    recipe.write_text('input = "t.csv"\nname = 5\n[roles]\nquasi = ["age"]\n[[step]]\nmethod = "mdav"\n')
    refused("run", recipe, "-o", desk / "run", says="name must be a text")


def test_original_cells_are_beside_released_ones_inside_and_nowhere_else(shoal, desk):
    table = write_csv(desk / "t.csv", rows())
    ok(shoal("protect", table, *ROLES, "--method", "mdav", "-p", "k=3", "-p", "columns=age", "-o", desk / "run"))
    inside, public = (desk / "run" / "private" / "report.html").read_text(), (desk / "run" / "report.html").read_text()
    assert "Riskiest records" in inside
    assert ">released<" in inside
    assert "Remedy." in inside
    assert "Riskiest" not in public
    assert "Remedy." not in public


def test_cells_that_are_all_plain_numbers_are_cells_still(shoal, desk):
    """They were read back as numbers, and another attack was tried: the second certificate said something else."""
    table = [["age", "sex"], *([(20, 40)[i % 2], "fm"[i // 2 % 2]] for i in range(120))]
    folder = desk / "run"
    ok(shoal("protect", write_csv(desk / "t.csv", table), "--quasi", "age,sex", "--method", "mondrian", "-p", "k=5", "-o", folder))
    before = said(folder)
    assert before["release"]["cells"] == ["age", "sex"]
    ok(shoal("report", folder))
    assert said(folder) == before
