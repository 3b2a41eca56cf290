"""Each verb, for a person and for a script; what a run folder holds; what verify sees; what the public files do not say."""

import json
import os
import re
import subprocess
import sys
from typing import ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest

from shoal import registry
from shoal.certificate import MeasurePart
from shoal.contracts import quiet
from shoal.files import read_table
from shoal.methods import Mdav, Noise
from shoal.promises import Promise
from shoal.published import Rounding
from shoal.release import Release
from shoal.writing import write_table
from tests.cli.conftest import ROLES, SECRET, SOURCE, check_folder, listing, patients, read_csv, write_csv

MDAV = ("-m", "mdav", "-p", "k=5")
VERBS = ("look", "protect", "measure", "attack", "report", "verify", "run", "compare", "list", "example")


@pytest.fixture
def run(released, table):
    return released("protect", table, *ROLES, *MDAV)


def ok(ran):
    assert ran.code == 0, ran.err
    assert "Traceback" not in ran.err
    return ran


def as_json(ran):
    """stdout is JSON and nothing else; talk, if any, went to stderr."""
    ok(ran)

    def no(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(ran.out, parse_constant=no)


# ---- the verbs ----------------------------------------------------------------------------------------------------------------------------


def test_help_names_every_verb(shoal):
    ran = ok(shoal("--help"))
    assert all(verb in ran.out for verb in VERBS)
    assert ran.err == ""
    assert ok(shoal()).out == ran.out
    assert re.fullmatch(r"shoal \d+\.\d+\.\d+\n", ok(shoal("--version")).out)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_each_verb(shoal, verb):
    assert f"shoal {verb}" in ok(shoal(verb, "--help")).out


def test_help_is_light():
    """`shoal --help` answers within half a second, because it loads nothing that computes."""
    code = (
        "import sys; sys.argv = ['shoal', '--help']\nfrom shoal.cli import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numba', 'numpy', 'pyarrow', 'scipy', 'pydantic') if m in sys.modules], file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=60)
    assert done.stderr.strip() == "[]"


def test_look(shoal, table, desk):
    shown = ok(shoal("look", table))
    assert all(word in shown.out for word in ("age", "income", "quasi-identifier", "60 rows"))
    assert SECRET not in shown.out
    seen = as_json(shoal("look", table, "--json"))
    assert seen["rows"] == 60
    assert {c["column"]: c["role"] for c in seen["columns"]} == {
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "income": "quasi",
        "diagnosis": "confidential",
    }
    assert listing(desk) == {"patients.csv": table.read_bytes()}


def test_look_writes_roles_that_protect_reads(shoal, released, table, desk):
    said = ok(shoal("look", table, "-o", desk / "roles.toml"))
    assert str(desk / "roles.toml") in said.err
    assert as_json(shoal("look", table, "-o", desk / "more.toml", "--json"))["rows"] == 60
    folder = released("protect", table, "--roles", desk / "roles.toml", *MDAV)
    assert list(read_csv(folder / "release.csv")[0]) == ["age", "zip", "income", "diagnosis"]


def test_roles_on_top_of_a_roles_file(released, table, desk):
    (desk / "roles.toml").write_text('quasi = "age"\nidentifier = "name"\n')
    folder = released("protect", table, "--roles", desk / "roles.toml", "--quasi", "income", *MDAV)
    assert json.loads((folder / "certificate.json").read_text())["roles"]["quasi"] == ["age", "income"]


def test_protect(shoal, table, desk):
    ran = ok(shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run"))
    assert "k-anonymity promised over age, income" in ran.out
    assert "5, found 5" in ran.out
    assert str(desk / "run") in ran.err
    check_folder(desk / "run")


def test_protect_json(shoal, table, desk):
    said = as_json(shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run", "--json"))
    assert said["folder"] == str(desk / "run")
    assert said["certificate"] == json.loads((desk / "run" / "certificate.json").read_text())
    promise = said["certificate"]["promises"][0]
    assert (promise["what"], promise["value"], promise["columns"], promise["holds"]) == ("k-anonymity", 5, ["age", "income"], True)


@pytest.mark.parametrize("method", sorted(registry.known("method").keys() - {"anti-unification", "recode"}))
def test_protect_by_every_method(released, table, method):
    folder = released("protect", table, *ROLES, "--target", "diagnosis", "-m", method)
    written = read_csv(folder / "release.csv")
    original = read_csv(table)
    assert len(written) == 60
    assert sorted(row["diagnosis"] for row in written) == sorted(row["diagnosis"] for row in original)
    said = json.loads((folder / "certificate.json").read_text())
    warned = any(f"{method} does not give k-anonymity" in warning for warning in said["warnings"])
    assert warned == ("k-anonymity" not in registry.known("method")[method].guarantees)


def test_a_list_of_patterns_is_not_a_table_of_records(released, table):
    folder = released("protect", table, *ROLES, "-m", "anti-unification", "-p", "k=3", "-p", "limit=3", "-p", "bins=age=20,income=20000")
    written = read_csv(folder / "release.csv")
    assert 0 < len(written) < 60
    assert all(int(row["support"]) >= 3 for row in written)
    warnings = json.loads((folder / "certificate.json").read_text())["warnings"]
    assert any("anti-unification does not give k-anonymity" in warning for warning in warnings)
    assert any("satisfy no pattern that has their own confidential values, and are discarded" in warning for warning in warnings)


def test_the_release_belongs_to_its_source_rows(run, table):
    rows = np.load(run / "private" / "source_rows.npy")
    original, written = read_csv(table), read_csv(run / "release.csv")
    assert sorted(rows.tolist()) == list(range(60))
    assert rows.tolist() != list(range(60))
    assert [original[row]["diagnosis"] for row in rows] == [row["diagnosis"] for row in written]
    assert [original[row]["zip"] for row in rows] == [row["zip"] for row in written]


def test_measure(shoal, run):
    shown = ok(shoal("measure", run))
    assert all(name in shown.out for name in registry.known("measure"))
    scores = {score["name"]: score for score in as_json(shoal("measure", run, "--json"))}
    assert scores.keys() == registry.known("measure").keys()
    assert scores["k-anonymity"]["value"] == 5
    said = json.loads((run / "certificate.json").read_text())
    rounding = Rounding(said["release"]["rows"])
    for score in said["measures"]:  # read back from the file, every number is what it was in memory, but for what is published of it
        before = score["value"] if score["value"] is None else pytest.approx(score["value"], rel=1e-9, abs=1e-12)
        assert rounding.measure(MeasurePart(**scores[score["name"]])).value == before, score["name"]


def test_measure_one_with_a_parameter(shoal, run):
    scores = as_json(shoal("measure", run, "--measure", "recursive-l-diversity", "-p", "c=50", "--json"))
    assert [score["name"] for score in scores] == ["recursive-l-diversity"]
    two = as_json(shoal("measure", run, "--measure", "il1s,sse", "--measure", "pil", "--json"))
    assert [score["name"] for score in two] == ["il1s", "sse", "pil"]


def test_measure_aligned_files(shoal, table, desk):
    """The rows of two files made by another tool."""
    rows = patients()
    for row in rows[1:]:
        row[1] = str(int(row[1]) + 1)
    other = write_csv(desk / "other.csv", rows)
    words = ("--original", table, "--release", other, "--quasi", "age")
    (desk / "roles.toml").write_text('quasi = ["age"]\nidentifier = ["name"]\n')
    for roles in (("--roles", desk / "roles.toml"), ("--quasi", "age", "--confidential", "diagnosis", "--identifier", "name")):
        ran = shoal("measure", *words[:4], *roles, "--measure", "sse,il2s", "--json")
        ages = np.array([int(row[1]) for row in rows[1:]])
        assert [score["value"] for score in as_json(ran)] == pytest.approx([60 / ages.var(ddof=1), 1 / ages.std(ddof=1)])
    assert "sse" in ok(shoal("measure", *words[:4], "--roles", desk / "roles.toml")).out


def test_measure_and_attack_by_key(shoal, table, desk):
    """Shuffled rows that share a key are as good as aligned ones."""
    rows = patients()
    shuffled = [rows[0], *[rows[1 + i] for i in np.random.default_rng(1).permutation(60)]]
    other = write_csv(desk / "other.csv", shuffled)
    words = ("--original", table, "--release", other, "--quasi", "age,income", "--key", "name")
    assert [score["value"] for score in as_json(shoal("measure", *words, "--measure", "sse,cell-loss", "--json"))] == [0, 0]
    hits = as_json(shoal("attack", *words, "--attack", "distance-linkage", "--json"))[0]
    assert hits["hit"] == hits["tried"] == 60


def test_a_key_must_name_each_row_once(shoal, table, desk):
    other = write_csv(desk / "other.csv", patients())
    for key, says in (("diagnosis", "missing or repeated"), ("nme", "Did you mean 'name'?")):
        ran = shoal("measure", "--original", table, "--release", other, "--quasi", "age", "--key", key)
        assert ran.code == 2
        assert says in ran.err
        assert "flu" not in ran.err
    fewer = write_csv(desk / "fewer.csv", [*patients()[:31], ["SECRET_8231_new", "30", "08001", "3", "flu"]])
    ran = shoal("measure", "--original", table, "--release", fewer, "--quasi", "age", "--key", "name")
    assert ran.code == 2
    assert "first at row 31" in ran.err
    assert SECRET not in ran.err


def test_a_release_of_some_of_the_rows_by_key(shoal, table, desk):
    other = write_csv(desk / "other.csv", patients()[:31])
    words = ("--original", table, "--release", other, "--quasi", "age,income", "--key", "name", "--json")
    assert as_json(shoal("measure", *words, "--measure", "cell-loss"))[0]["value"] == 0
    hits = as_json(shoal("attack", *words, "--attack", "distance-linkage"))[0]
    assert hits["tried"] == 60
    assert 20 <= hits["hit"] <= 30  # each file is standardized by itself, so a part of the rows is a little off


def test_attack(shoal, run):
    shown = ok(shoal("attack", run))
    tried = registry.known("attack").keys() - {"household-linkage"}  # nobody lives together
    assert all(name in shown.out for name in tried)
    results = as_json(shoal("attack", run, "--json"))
    assert {result["name"] for result in results} == tried
    for result in results:
        assert 0 <= result["strict_hit"] <= result["hit"] <= result["tried"] == 60
        assert result["interval"][0] <= result["rate"] <= result["interval"][1]


def test_attack_with_less_knowledge(shoal, run):
    words = ("attack", run, "--attack", "distance-linkage", "--columns", "age", "--records", "12", "--seed", "3", "--json")
    one = as_json(shoal(*words))[0]
    assert one["tried"] == 12
    assert one["details"]["columns"] == ["age"]
    assert as_json(shoal(*words)) == [one]
    assert as_json(shoal("attack", run, "--records", "0.5", "--json"))[0]["tried"] == 30
    assert as_json(shoal("attack", run, "--records", "9999", "--json"))[0]["tried"] == 60


def test_report(shoal, run):
    before = json.loads((run / "certificate.json").read_text())
    (run / "report.html").unlink()
    ran = ok(shoal("report", run))
    assert ran.out.strip() == str(run / "report.html")
    check_folder(run)
    after = json.loads((run / "certificate.json").read_text())
    assert after["promises"] == before["promises"]
    assert after["release"] == before["release"]
    assert [m["name"] for m in after["measures"]] == [m["name"] for m in before["measures"]]
    assert as_json(shoal("report", run, "--json"))["certificate"]["release"] == before["release"]
    assert ok(shoal("verify", run / "release.csv", run / "certificate.json"))


def test_report_does_not_certify_a_release_that_was_changed(refused, run):
    change(run, lambda lines: [*lines[:-1], "1.25," + lines[-1].split(",", 1)[1]])
    refused("report", run, says="release.csv has changed since its certificate was written")


def test_compare(shoal, table, desk):
    words = ("compare", table, *ROLES, "-m", "mdav", "-p", "k=3,10")
    shown = ok(shoal(*words))
    assert "mdav k=3" in shown.out
    assert "mdav k=10" in shown.out
    rows = as_json(shoal(*words, "-o", desk / "map.html", "--json"))
    assert [(row["label"], row["k"] >= k) for row, k in zip(rows, (3, 10))] == [("mdav k=3", True), ("mdav k=10", True)]
    assert "<svg" in (desk / "map.html").read_text(encoding="utf-8")
    assert SECRET not in (desk / "map.html").read_text(encoding="utf-8")
    both = as_json(shoal("compare", table, *ROLES, "-m", "mdav,noise", "-p", "k=3", "-p", "p=0.1,0.5", "--json"))
    assert [row["label"] for row in both] == ["mdav k=3", "noise p=0.1", "noise p=0.5"]
    assert {row["loss_measure"] for row in both} == {"il / 100"}
    for row in both:
        assert row["score"] == pytest.approx((row["loss"] + row["risk"]) / 2)
        assert row["score_interval"][0] <= row["score"] <= row["score_interval"][1]


def test_compare_gives_interval_methods_a_score(shoal, table):
    """Beside intervals, which have no IL and no interval disclosure, everybody is scored by what all have, and it is said."""
    words = ("compare", table, *ROLES, "-m", "mdav,mondrian", "-p", "k=3")
    rows = as_json(shoal(*words, "--json"))
    assert {(row["loss_measure"], *row["risk_of"]) for row in rows} == {("cell-loss", "distance-linkage", "probabilistic-linkage")}
    assert all(row["score"] == pytest.approx((row["loss"] + row["risk"]) / 2) for row in rows)
    shown = ok(shoal(*words))
    assert "The score is the mean of loss (cell-loss) and disclosure risk (distance-linkage and probabilistic-linkage)" in shown.err
    assert "No clear winner between" in shown.err or "The best balance is" in shown.err


def test_compare_recipes(shoal, released, table, desk):
    one = released("protect", table, *ROLES, *MDAV, out=desk / "one")
    two = released("protect", table, *ROLES, "-m", "noise", out=desk / "two")
    rows = as_json(shoal("compare", one / "recipe.toml", two / "recipe.toml", "--json"))
    assert len(rows) == 2
    assert rows[0]["k"] == 5
    assert rows[1]["k"] == 1
    mixed = shoal("compare", one / "recipe.toml", table)
    assert mixed.code == 2


@pytest.mark.parametrize("kind", ["method", "measure", "attack"])
def test_list(shoal, kind):
    shown = ok(shoal("list", kind + "s"))
    assert all(name in shown.out for name in registry.known(kind))
    listed = as_json(shoal("list", kind + "s", "--json"))
    assert {one["name"] for one in listed} == registry.known(kind).keys()
    assert all(one["summary"] and all(p["description"] for p in one["parameters"]) for one in listed)
    assert shown.err == ""


@pytest.mark.parametrize("name", ["p.csv", "p.parquet"])
def test_example(shoal, released, desk, name):
    ran = ok(shoal("example", desk / name, "--rows", "80"))
    assert ran.out == ""
    assert len(read_table(desk / name)) == 80
    ok(shoal("look", desk / name, "-o", desk / "roles.toml"))
    folder = released("protect", desk / name, "--roles", desk / "roles.toml", "-m", "mdav")
    assert (folder / f"release.{name.split('.')[1]}").is_file()


def test_example_tables(shoal, desk):
    for name, says in [
        ("visits", "80 invented hospital stays"),
        ("survey", "80 invented persons of a survey"),
        ("wide", "80 invented persons"),
    ]:
        assert says in ok(shoal("example", desk / f"{name}.csv", "--table", name, "--rows", "80")).err
        assert len(read_table(desk / f"{name}.csv")) == 80


# ---- recipes ------------------------------------------------------------------------------------------------------------------------------


def test_the_recipe_repeats_the_run(released, run, desk):
    secret = json.loads((run / "private" / "run.json").read_text())["seed"]
    again = released("run", run / "recipe.toml", "--seed", int(secret, 16), out=desk / "again")
    assert (again / "release.csv").read_bytes() == (run / "release.csv").read_bytes()
    other = released("run", run / "recipe.toml", out=desk / "other")
    assert (other / "release.csv").read_bytes() != (run / "release.csv").read_bytes(), "another secret, another order"
    assert sorted((other / "release.csv").read_text().splitlines()) == sorted((run / "release.csv").read_text().splitlines())
    assert (other / "recipe.toml").read_text() == (run / "recipe.toml").read_text()


def test_a_recipe_of_several_steps(released, table, desk):
    (desk / "r.toml").write_text(
        'input = "patients.csv"\n[roles]\nquasi = ["age", "income", "zip"]\nidentifier = ["name"]\n'
        '[[step]]\nmethod = "mdav"\nk = 4\ncolumns = ["age"]\n[[step]]\nmethod = "noise"\np = 0.2\ncolumns = ["income"]\n'
        '[[measure]]\nname = "k-anonymity"\n[[measure]]\nname = "cell-loss"\n[[attack]]\nname = "distance-linkage"\n'
    )
    folder = released("run", desk / "r.toml")
    said = json.loads((folder / "certificate.json").read_text())
    assert [step["method"] for step in said["steps"]] == ["mdav", "noise"]
    measures = [m["name"] for m in said["measures"]]
    assert {"k-anonymity", "cell-loss"} <= set(measures)  # a report needs a few more than were asked for
    assert "pil" not in measures
    assert [a["name"] for a in said["attacks"]] == ["distance-linkage"]
    assert [p["columns"] for p in said["promises"]] == [["age"]]
    assert any("'zip' was not protected" in warning for warning in said["warnings"])
    released("run", folder / "recipe.toml", out=desk / "again")


def test_a_later_step_voids_a_promise(released, table, desk):
    (desk / "r.toml").write_text(
        'input = "patients.csv"\n[roles]\nquasi = ["age", "income"]\nidentifier = ["name"]\n'
        '[[step]]\nmethod = "mdav"\nk = 4\n[[step]]\nmethod = "noise"\ncolumns = ["income"]\n'
    )
    assert json.loads((released("run", desk / "r.toml") / "certificate.json").read_text())["promises"] == []


# ---- verify -------------------------------------------------------------------------------------------------------------------------------


def verdict(shoal, run, expected=1):
    file = next(run.glob("release.*"))
    shown = shoal("verify", file, run / "certificate.json")
    found = shoal("verify", file, run / "certificate.json", "--json")
    assert shown.code == found.code == expected, shown
    assert ("NOT" in shown.err) == bool(expected)
    result = json.loads(found.out)
    assert result["holds"] == (not expected)
    return {check["what"] for check in result["checks"] if not check["holds"]}


def test_verify_says_yes(shoal, run):
    assert verdict(shoal, run, 0) == set()


def change(run, how):
    path = run / "release.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(how(lines)) + "\n")


def test_verify_sees_a_changed_byte(shoal, run):
    path = run / "release.csv"
    raw = bytearray(path.read_bytes())
    raw[-2] ^= 1
    path.write_bytes(raw)
    assert "bytes (sha-256)" in verdict(shoal, run)


def test_verify_sees_a_dropped_row(shoal, run):
    change(run, lambda lines: lines[:-1])
    assert {"bytes (sha-256)", "rows"} <= verdict(shoal, run)


def test_verify_sees_a_doubled_row(shoal, run):
    change(run, lambda lines: [*lines, lines[-1]])
    assert {"bytes (sha-256)", "rows"} <= verdict(shoal, run)


def test_verify_sees_a_swapped_column(shoal, run):
    change(run, lambda lines: [",".join(np.array(line.split(","))[[1, 0, 2, 3]]) for line in lines])
    assert {"bytes (sha-256)", "columns"} <= verdict(shoal, run)


def test_verify_sees_a_value_that_breaks_k(shoal, run):
    change(run, lambda lines: [*lines[:-1], "1.25," + lines[-1].split(",", 1)[1]])
    assert {"bytes (sha-256)", "k-anonymity", "k-anonymity: uniques", "k-anonymity over age, income"} <= verdict(shoal, run)


def forge(run, how):
    path = run / "certificate.json"
    said = json.loads(path.read_text())
    how(said)
    path.write_text(json.dumps(said))


def test_verify_sees_a_forged_promise(shoal, run):
    forge(run, lambda said: said["promises"][0].update(value=50, found=50))
    assert "k-anonymity over age, income" in verdict(shoal, run)


def test_verify_sees_a_promise_over_other_columns(shoal, run):
    forge(run, lambda said: said["promises"][0].update(columns=["age", "income", "zip", "diagnosis"]))
    assert verdict(shoal, run)
    forge(run, lambda said: said["promises"][0].update(columns=["age", "nowhere"]))
    assert verdict(shoal, run)


def test_verify_sees_forged_counts(shoal, run):
    forge(run, lambda said: said["release"].update(rows=61))
    assert verdict(shoal, run) == {"rows", "what is counted"}


def test_verify_sees_a_forged_smallest_class(shoal, run):
    forge(run, lambda said: next(m for m in said["measures"] if m["name"] == "k-anonymity").update(value=30))
    assert verdict(shoal, run) == {"k-anonymity"}


def test_verify_sees_forged_uniques(shoal, released, table):
    folder = released("protect", table, *ROLES, "-m", "noise")
    forge(folder, lambda said: next(m for m in said["measures"] if m["name"] == "k-anonymity")["details"].update(uniques=0))
    assert verdict(shoal, folder) == {"k-anonymity: uniques"}


def test_verify_parquet(shoal, released, desk):
    ok(shoal("example", desk / "p.parquet", "--rows", "60"))
    folder = released("protect", desk / "p.parquet", "--quasi", "age,income,zip", "--identifier", "name", "-m", "mdav")
    assert verdict(shoal, folder, 0) == set()
    table = pq.read_table(folder / "release.parquet")
    assert not table.schema.metadata
    pq.write_table(table.slice(1), folder / "release.parquet")
    assert {"bytes (sha-256)", "rows"} <= verdict(shoal, folder)


def test_verify_needs_the_two_files_only(shoal, run, desk, tmp_path):
    elsewhere = tmp_path / "receiver"
    elsewhere.mkdir()
    for name in ("release.csv", "certificate.json"):
        (elsewhere / name).write_bytes((run / name).read_bytes())
    ran = ok(shoal("verify", elsewhere / "release.csv", elsewhere / "certificate.json"))
    assert "NO" not in ran.out


# ---- what the public files do not say -----------------------------------------------------------------------------------------------------


def test_private_is_private(run):
    private = run / "private"
    assert private.stat().st_mode & 0o777 == 0o700
    assert {p.name for p in private.iterdir()} == {"run.json", "source_rows.npy", "report.html"}
    assert all(p.stat().st_mode & 0o777 == 0o600 for p in private.iterdir())


def test_private_is_private_under_a_loose_umask_too(released, table):
    before = os.umask(0)
    try:
        folder = released("protect", table, *ROLES, *MDAV)
    finally:
        os.umask(before)
    check_folder(folder)


def test_public_files_hold_nothing_private(shoal, desk):
    """Distinctive numbers and words in the original: none may be in what leaves, but the release's own untouched columns."""
    rows = patients()
    for i, row in enumerate(rows[1:]):
        row[3] = f"{7000 + i * i * 13}.8231{i:02d}"
    path = write_csv(desk / "SECRETNAME_hospital.csv", rows)
    seed = 271828182845904523536
    ok(shoal("protect", path, *ROLES, *MDAV, "--seed", seed, "-o", desk / "run"))
    folder = desk / "run"
    texts = {
        name: (folder / name).read_text(encoding="utf-8") for name in ("release.csv", "certificate.json", "report.html", "recipe.toml")
    }
    originals = [row[3] for row in rows[1:]]
    numbers = [str(seed), hex(seed), hex(seed)[2:]]
    sources = np.load(folder / "private" / "source_rows.npy").tolist()
    for name, text in texts.items():
        assert SECRET not in text, name
        assert not [value for value in originals if value in text], name
        assert not [value for value in numbers if value in text], name
        assert "source_row" not in text, name
        assert str(sources[:6])[1:-1] not in text, name
        assert "input_sha256" not in text, name
    for name in ("certificate.json", "report.html", "release.csv"):
        assert "SECRETNAME" not in texts[name], name
        assert str(desk) not in texts[name], name
        assert "name" not in json.loads(texts["certificate.json"])["release"]["columns"]
    digest = json.loads((folder / "private" / "run.json").read_text())["input_sha256"]
    assert not any(digest in text for text in texts.values())


def test_the_certificate_says_what_was_released(run):
    said = json.loads((run / "certificate.json").read_text())
    assert said["release"]["rows"] == 60
    assert said["roles"]["identifiers_removed"] == 1
    assert "identifier" not in said["roles"]
    assert "per_record" not in json.dumps(said)
    assert not re.search(r"\d\d:\d\d:\d\d", said["created"])


def test_report_stands_alone(run):
    text = (run / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", text)
    assert "<script src" not in text
    inside = (run / "private" / "report.html").read_text(encoding="utf-8")
    assert inside != text
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", inside)


def test_the_release_has_no_trace_of_row_order(shoal, desk):
    """Sorted input: the release's order must not correlate with it."""
    rows = [["age", "visits"], *[[str(i), str(i)] for i in range(400)]]
    path = write_csv(desk / "sorted.csv", rows)
    ok(shoal("protect", path, "--quasi", "age", "--other", "visits", "-m", "noise", "--seed", "1", "-o", desk / "run"))
    visits = [int(row["visits"]) for row in read_csv(desk / "run" / "release.csv")]
    assert abs(np.corrcoef(visits, np.arange(400))[0, 1]) < 0.2


def test_two_runs_without_a_seed_differ(released, table, desk):
    one = released("protect", table, *ROLES, "-m", "noise", out=desk / "one")
    two = released("protect", table, *ROLES, "-m", "noise", out=desk / "two")
    assert (one / "release.csv").read_bytes() != (two / "release.csv").read_bytes()


# ---- promises -----------------------------------------------------------------------------------------------------------------------------


class Liar(Noise):
    """Says k and adds noise (Nobody 2024)."""

    name: ClassVar[str] = "liar"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)

    def protect(self, table, roles, rng, progress=quiet):
        columns = self.chosen(table, roles, ("numeric",))
        return Release.of(table, {}, roles, self.step(columns, self.guarantees, (Promise("k-anonymity", 3, columns),)), rng)


class Dreamer(Liar):
    """Promises what nothing can check (Nobody 2024)."""

    name: ClassVar[str] = "dreamer"

    def protect(self, table, roles, rng, progress=quiet):
        columns = self.chosen(table, roles, ("numeric",))
        return Release.of(table, {}, roles, self.step(columns, ("bliss",), (Promise("bliss", 3, columns),)), rng)


@pytest.fixture
def liars(monkeypatch):
    known = registry.known

    def more(kind):
        return {**known(kind), "liar": Liar, "dreamer": Dreamer} if kind == "method" else known(kind)

    monkeypatch.setattr(registry, "known", more)


def test_a_broken_promise_writes_nothing(refused, liars, table, desk):
    refused("protect", table, *ROLES, "-m", "liar", "-o", desk / "run", says="promised 3, found 1")
    refused("protect", table, *ROLES, "-m", "liar", "-o", desk / "deep" / "run", says="Nothing was released")
    refused("protect", table, *ROLES, "-m", "dreamer", "-o", desk / "run", says="There is no promise named 'bliss'")
    (desk / "r.toml").write_text('input = "patients.csv"\n[roles]\nquasi = ["age"]\nidentifier = ["name"]\n[[step]]\nmethod = "liar"\n')
    refused("run", desk / "r.toml", "-o", desk / "run", says="promised 3")


def test_a_promise_is_checked_in_the_file_and_not_in_memory(refused, table, desk, monkeypatch):
    """What is written differs from what the method made: the file decides."""
    import shoal.runs.run as run_module

    def careless(release, path):
        columns = {"age": np.arange(len(release)) + 0.5}
        write_table(release.with_columns(columns), path)

    monkeypatch.setattr(run_module, "write_table", careless)
    refused("protect", table, *ROLES, *MDAV, "-o", desk / "run", says="promised 5, found 1")


def test_a_method_of_a_plug_in_joins(shoal, table, desk, monkeypatch):
    known = registry.known

    class Mine(Mdav):
        """As mdav, under another name (Nobody 2024)."""

        name: ClassVar[str] = "mine"

    monkeypatch.setattr(registry, "known", lambda kind: {**known(kind), "mine": Mine} if kind == "method" else known(kind))
    ok(shoal("protect", table, *ROLES, "-m", "mine", "-o", desk / "run"))
    ok(shoal("verify", desk / "run" / "release.csv", desk / "run" / "certificate.json"))


def test_verify_sees_a_forged_finding(shoal, run):
    forge(run, lambda said: said["promises"][0].update(found=9))
    assert verdict(shoal, run) == {"k-anonymity over age, income, as certified"}
