"""Recoding along hierarchies and local suppression as they are typed: what is printed, what every verb makes of the names, what verify finds."""

import hashlib
import json
import re

import pytest

from tests.cli.conftest import read_csv, write_csv

METHODS = {
    "local-recoding": ("-p", "k=3", "-p", "l=2"),
    "recoding": ("-p", "k=3", "-p", "suppress=0.1"),
    "local-suppression": ("-p", "k=3"),
    "datafly": ("-p", "k=3", "-p", "suppress=0.1"),
    "incognito": ("-p", "k=3", "-p", "suppress=0.1"),
}
KNOWN = ("--quasi", "age,job", "--confidential", "diagnosis", "--identifier", "name")
JOBS = [["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "food", "*"], ["baker", "food", "*"]]


@pytest.fixture
def patients(desk):
    """120 of them, ages in tens that hardly need recoding, and six who are rare."""
    rows = [["name", "age", "job", "diagnosis"]]
    rows += [[f"n{i}", str(20 + i % 5 * 10), JOBS[i * 7 % 4][0], ("flu", "asthma", "gout")[i % 3]] for i in range(114)]
    rows += [[f"n{114 + i}", age, JOBS[i % 4][0], ("flu", "gout")[i % 2]] for i, age in enumerate(("91", "17", "83", "12", "75", "66"))]
    return write_csv(desk / "patients.csv", rows)


@pytest.fixture
def trees(desk):
    write_csv(desk / "jobs.csv", JOBS, ";")
    return ("--hierarchy", "age=width 10 from 0, then 20, 40", "--hierarchy", f"job={desk / 'jobs.csv'}")


def along(method, trees):
    return () if method == "local-suppression" else trees


def certificate_of(folder):
    return json.loads((folder / "certificate.json").read_text(encoding="utf-8"))


def page_of(folder):
    text = re.sub(r"<style.*?</style>", "", (folder / "report.html").read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


@pytest.mark.parametrize("method", METHODS)
def test_every_verb_reads_the_names(released, shoal, patients, trees, desk, method):
    folder = released("protect", patients, *KNOWN, *along(method, trees), "-m", method, *METHODS[method], "--seed", "1")
    certificate = certificate_of(folder)
    assert [one["value"] for one in certificate["promises"] if one["what"] == "k-anonymity"] == [3]
    ncp = {one["name"]: one["value"] for one in certificate["measures"]}["ncp"]
    assert 0 < ncp < 1  # names were read: as texts that no tree has they would lose everything
    for words in (("report", folder), ("measure", folder), ("attack", folder), ("verify", folder, folder / "certificate.json")):
        ran = shoal(*words)
        assert ran.code == 0, ran.err or ran.out
    assert shoal("patterns", folder).code == 0
    assert shoal("sample", folder / "release.csv", "-o", desk / "points.csv").code == 0
    assert {row["job"] for row in read_csv(desk / "points.csv")} <= {"", *(row[0] for row in JOBS)}  # values or nothing, no names
    again = released("run", folder / "recipe.toml", "--seed", "1", out=desk / "again")
    assert sorted(map(str, read_csv(again / "release.csv"))) == sorted(map(str, read_csv(folder / "release.csv")))


def test_levels_are_one_a_column_or_many(released, patients, trees, desk):
    of = {}
    for method in ("recoding", "local-recoding"):
        folder = released("protect", patients, *KNOWN, *trees, "-m", method, *METHODS[method], out=desk / method)
        of[method] = {row["age"] for row in read_csv(folder / "release.csv")}
    assert of["recoding"] == {"20", "30", "40", "50", "60", "*"}
    assert {"20", "30", "40", "50", "60"} < of["local-recoding"]


def test_compare_holds_them_side_by_side(shoal, patients, trees):
    ran = shoal("compare", patients, *KNOWN, *trees, "-m", "local-recoding", "-m", "recoding", "-p", "k=3")
    assert ran.code == 0, ran.err
    assert "local-recoding" in ran.out


@pytest.mark.parametrize("to", ["another", "a name that is nowhere"])
def test_a_name_that_was_changed_fails_verify(released, shoal, patients, trees, to):
    """Even where whoever changed it has written its hash into the certificate."""
    folder = released("protect", patients, *KNOWN, *trees, "-m", "local-recoding", *METHODS["local-recoding"])
    file, names = folder / "release.csv", list(certificate_of(folder)["release"]["labels"]["age"])
    rows = read_csv(file)
    changed = next(row for row in rows if row["age"] in names)
    before = hashlib.sha256(file.read_bytes()).hexdigest()
    changed["age"] = "20" if to == "another" else "[100, 120)"
    write_csv(file, [list(rows[0]), *(list(row.values()) for row in rows)])
    assert shoal("verify", folder, folder / "certificate.json").code == 1
    text = (folder / "certificate.json").read_text(encoding="utf-8")
    (folder / "certificate.json").write_text(text.replace(before, hashlib.sha256(file.read_bytes()).hexdigest()), encoding="utf-8")
    ran = shoal("verify", folder, folder / "certificate.json")
    assert ran.code == 1
    assert "NOT what the certificate says" in ran.out + ran.err


NOT_CALLED_SO = re.compile(r"(?<!not )(?<!not give )k-anonym", flags=re.IGNORECASE)


@pytest.mark.parametrize("more", [(), ("-p", "subsets=1"), ("-p", "sets=age,job")])
def test_wildcard_k_is_never_called_k_anonymity(shoal, patients, desk, more):
    folder = desk / "run"
    ran = shoal("protect", patients, *KNOWN, "-m", "local-suppression", "-p", "k=4", "-p", "rule=wildcard", *more, "-o", folder)
    assert ran.code == 0, ran.err
    certificate = certificate_of(folder)
    assert {one["what"] for one in certificate["promises"]} == {"wildcard-k"}
    assert certificate["steps"][0]["guarantees"] == ["wildcard-k"]
    assert "wildcard-k promised over" in ran.out
    verified = shoal("verify", folder, folder / "certificate.json")
    assert verified.code == 0
    assert "a blank being any value" in verified.out
    assert "k-anonymity over" not in verified.out
    assert not NOT_CALLED_SO.search(ran.out + ran.err)
    said = {key: one for key, one in certificate.items() if key not in ("measures",)}  # a measure of that name counts classes
    assert not NOT_CALLED_SO.search(json.dumps(said))
    page = page_of(folder).replace("Smallest class (k) k-anonymity", "")
    assert not NOT_CALLED_SO.search(page)
    assert "Does not hold All that is promised is wildcard-k: 4 rows match each one if a blank counts as any value." in page
    certificate["promises"][0]["what"] = "k-anonymity"
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    assert shoal("verify", folder, folder / "certificate.json").code == 1


@pytest.mark.parametrize("method", METHODS)
def test_persons_are_the_unit(released, shoal, desk, method):
    visits = desk / "visits.csv"
    assert shoal("example", visits, "--table", "visits", "--rows", "900").code == 0
    words = ("--person", "patient_id", "--quasi", "sex,birth_date", "--confidential", "diagnosis")
    folder = released("protect", visits, *words, "-m", method, "-p", "k=4")
    promise = certificate_of(folder)["promises"][0]
    assert (promise["what"], promise["unit"], promise["value"]) == ("k-anonymity", "persons", 4)
    assert promise["found"] >= 4


def test_of_columns_without_a_hierarchy_one_is_made_and_said(released, shoal, desk):
    table, roles = desk / "invented.csv", desk / "roles.toml"
    assert shoal("example", table, "--rows", "300").code == 0
    assert shoal("look", table, "-o", roles).code == 0
    folder = released("protect", table, "--roles", roles, "-m", "local-recoding", "-p", "k=5")
    said = " ".join(certificate_of(folder)["warnings"])
    assert "Nobody gave a hierarchy for 6 columns" in said
    assert "age (width 5 from 0, then 10, 20" in said
    plain = released("protect", table, "--roles", roles, "-m", "local-suppression", "-p", "k=5", out=desk / "plain")
    assert "hierarchy" not in " ".join(certificate_of(plain)["warnings"])  # it follows none


def test_top_coding_comes_first(released, patients, trees, desk):
    (desk / "two.toml").write_text(
        'input = "patients.csv"\n[roles]\nquasi = ["age", "job"]\nconfidential = ["diagnosis"]\nidentifier = ["name"]\n'
        '[roles.hierarchies]\nage = "width 10 from 0, then 20, 40"\njob = "jobs.csv"\n'
        '[[step]]\nmethod = "top-coding"\nlimit = { age = 60 }\n[[step]]\nmethod = "local-recoding"\nk = 3\n',
        encoding="utf-8",
    )
    folder = released("run", desk / "two.toml")
    ages = [row["age"] for row in read_csv(folder / "release.csv")]
    assert "60" in ages
    assert not any(age.startswith("[80") or age == "91" for age in ages)
    assert [one["value"] for one in certificate_of(folder)["promises"]] == [3]


def test_what_a_search_found_is_said_in_words(shoal, patients, trees, desk):
    said = shoal("protect", patients, *KNOWN, *trees, "-m", "recoding", *METHODS["recoding"], "-o", desk / "whole").out
    flat = " ".join(said.split())
    assert "no other choice loses less: proven; choices of levels:" in flat
    assert "loss as ncp (mean share of its column that a cell leaves open)" in flat
    value = {one["name"]: one["value"] for one in certificate_of(desk / "whole")["measures"]}["ncp"]
    assert re.search(r"leaves open\)\s+([\d.]+)", said)[1] == f"{value:.4g}"
    said = shoal("protect", patients, *KNOWN, *trees, "-m", "local-recoding", *METHODS["local-recoding"], "-o", desk / "local").out
    assert "records (persons, where they are told) that no class could be made of" in " ".join(said.split())
    assert "loss as ncp" not in shoal("protect", patients, *KNOWN, "--nominal", "job", "-m", "mdav", "-p", "k=3", "-o", desk / "means").out


def test_the_private_report_shows_groups_as_the_file_names_them(released, patients, trees, desk):
    folder = released("protect", patients, *KNOWN, *trees, "-m", "recoding", *METHODS["recoding"], "-p", "lowest=job:1", "--seed", "1")
    page = (folder / "private" / "report.html").read_text(encoding="utf-8")
    shown = " ".join(re.findall(r'<tr class="released">(.*?)</tr>', page, flags=re.DOTALL))
    assert {row["job"] for row in read_csv(folder / "release.csv")} <= {"care", "food", "*"}
    assert "nurse" not in shown
    assert re.search("care|food", shown)


BENT = {
    "nothing of the search is told": ("recoding", lambda told, roles: told.clear()),
    "more minimal nodes than nodes": ("incognito", lambda told, roles: told.update(minimal_nodes=told["anonymous_nodes"] + 1)),
    "more left out than there is": ("recoding", lambda told, roles: told.update(nodes_left_out=told["nodes"] + 1)),
    "more ways than there are": ("local-recoding", lambda told, roles: told.update(ways_looked_at=told["ways"] + 1)),
    "groups at the level of values": ("recoding", lambda told, roles: told["levels"].update(job=0)),
    "values at the level of groups": ("recoding", lambda told, roles: told["levels"].update(sex=1)),
    "names of groups and no hierarchy": ("recoding", lambda told, roles: roles["hierarchies"].clear()),
}


@pytest.mark.parametrize("how", BENT)
def test_what_a_search_is_said_to_have_found_must_fit_the_file(released, shoal, desk, how):
    method, bend = BENT[how]
    rows = [[("nurse", "doctor", "cook", "baker")[i % 4], "fm"[i // 4 % 2]] for i in range(40)]
    table = write_csv(desk / "t.csv", [["job", "sex"], *rows])
    write_csv(desk / "jobs.csv", JOBS, ";")
    known = ("--quasi", "job,sex", "--hierarchy", f"job={desk / 'jobs.csv'}", "-m", method, "-p", "k=10")
    folder = released("protect", table, *known)
    certificate = certificate_of(folder)
    assert shoal("verify", folder, folder / "certificate.json").code == 0
    bend(certificate["steps"][0]["outcome"], certificate["roles"])
    (folder / "certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    assert shoal("verify", folder, folder / "certificate.json").code == 1


def test_the_report_lists_no_codes_that_were_not_released(released, shoal, desk):
    codes = [f"0{8000 + i % 120}" for i in range(360)]
    table = write_csv(desk / "t.csv", [["zip", "ill"], *([one, "yn"[i % 2]] for i, one in enumerate(codes))])
    folder = released(
        "protect", table, "--quasi", "zip", "--other", "ill", "--hierarchy", "zip=prefix 3, 2", "-m", "recoding", "-p", "k=20"
    )
    assert {row["zip"] for row in read_csv(folder / "release.csv")} == {"080", "081"}
    told = [(folder / name).read_text(encoding="utf-8") for name in ("report.html", "certificate.json")]
    told.append(shoal("patterns", folder, "--json").out)
    assert "zip in 080" in told[0]
    assert not [code for code in codes if any(code in text for text in told)]
