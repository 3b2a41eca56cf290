"""Runs whose release is many files, on the command line: made, read back, verified, and bent."""

import gzip
import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.example import EXAMPLES
from shoal.files import read_table
from tests.cli.conftest import desk, shoal  # noqa: F401 - fixtures
from tests.cli.conftest import released as released_once  # noqa: F401

QUASI = ("--quasi", "age,sex,zip,education", "--confidential", "diagnosis", "--identifier", "name")


@pytest.fixture
def released(released_once, desk):  # noqa: F811
    """As often as a test needs it."""
    return lambda *words: released_once(*words, out=desk / f"run-{len(list(desk.iterdir()))}")


@pytest.fixture
def folder(desk, monkeypatch):  # noqa: F811
    """Three files of patients, which are released in several files."""
    monkeypatch.setattr("shoal.engines.spill.LONGEST", 200)
    monkeypatch.setattr("shoal.parts.STRETCH", 150)
    monkeypatch.setattr("shoal.runs.parts.DRAWN", 300)
    table = EXAMPLES["patients"].invent(700, 3).arrow
    (desk / "big").mkdir()
    for number, rows in enumerate(np.array_split(np.arange(700), 3)):
        pq.write_table(table.take(pa.array(rows)), desk / "big" / f"rows-{number}.parquet", row_group_size=100)
    return desk / "big"


@pytest.fixture
def run(released, folder):
    return released("protect", folder, *QUASI, "-m", "mondrian", "-p", "k=5", "--engine", "duckdb", "--memory", "512MB", "--seed", "2")


def rows_of(path):
    return sorted(map(repr, pa.concat_tables([pq.read_table(part) for part in sorted(path.iterdir())]).to_pylist()))


def test_the_folder_is_that_of_any_run(run, folder):
    assert {path.name for path in run.iterdir()} == {"certificate.json", "private", "recipe.toml", "release", "report.html"}
    assert len(list((run / "release").iterdir())) == 4
    said = json.loads((run / "certificate.json").read_text())
    assert said["release"]["parts"] == 4
    assert said["release"]["rows"] == said["unit"]["rows"] == 700
    assert [one["found"] >= 5 and one["holds"] for one in said["promises"]] == [True]
    assert said["summary"]["risk"] is not None
    assert {one["file"] for one in said["files"]} == {"report.html", *(f"release/part-{i:05d}.parquet" for i in range(4))}
    drawn = {one["name"]: one["note"] for one in said["measures"]}
    assert "rows, drawn at random" in drawn["cell-loss"]
    assert "drawn" not in drawn["k-anonymity"]


def test_it_is_what_memory_releases(run, released, folder):
    here = released("protect", folder, *QUASI, "-m", "mondrian", "-p", "k=5", "--engine", "memory", "--seed", "2")
    assert rows_of(run / "release") == sorted(map(repr, pq.read_table(here / "release.parquet").to_pylist()))
    k = [json.loads((one / "certificate.json").read_text())["measures"] for one in (run, here)]
    exact = [{m["name"]: m["value"] for m in one if m["name"] in ("k-anonymity", "average-risk", "l-diversity", "ncp")} for one in k]
    assert exact[0] == pytest.approx(exact[1])


@pytest.mark.parametrize("engine", [(), ("--engine", "duckdb")])
def test_it_is_verified_from_the_files(shoal, run, engine):  # noqa: F811
    for place in (run, run / "release"):
        assert shoal("verify", place, run / "certificate.json", *engine).code == 0
    part = run / "release" / "part-00001.parquet"
    arrow = pq.read_table(part)
    kept = part.read_bytes()
    pq.write_table(arrow.slice(1), part)
    assert shoal("verify", run, run / "certificate.json", *engine).code == 1
    part.write_bytes(kept)
    shutil.move(part, part.with_name("part-00009.parquet"))
    assert shoal("verify", run / "release", run / "certificate.json", *engine).code == 1
    shutil.move(part.with_name("part-00009.parquet"), part)
    (run / "release" / "more.parquet").write_bytes(kept)
    assert shoal("verify", run / "release", run / "certificate.json", *engine).code == 1
    (run / "release" / "more.parquet").unlink()
    assert shoal("verify", run, run / "certificate.json", *engine).code == 0


def test_a_part_that_breaks_the_promise_is_told(shoal, run):  # noqa: F811
    """Whoever bends the release and the list of files in the certificate alike still has classes to answer for."""
    from shoal.folders import sha256_of, sha256_of_list

    part = run / "release" / "part-00000.parquet"
    arrow = pq.read_table(part)
    cells = arrow.column("age").to_pylist()
    cells[0] = ["99"]
    field = pa.field("age", pa.list_(pa.string()), metadata={"shoal": "cells"})
    pq.write_table(arrow.set_column(arrow.column_names.index("age"), field, pa.array(cells, field.type)), part)
    said = json.loads((run / "certificate.json").read_text())
    for one in said["files"]:
        one["sha256"] = sha256_of(run / one["file"])
    parts = sorted((run / "release").iterdir())
    said["release"]["sha256"] = sha256_of_list([(sha256_of(path), path.name) for path in parts])
    (run / "certificate.json").write_text(json.dumps(said))
    ran = shoal("verify", run, run / "certificate.json", "--engine", "duckdb", "--json")
    assert ran.code == 1
    broken = [one["what"] for one in json.loads(ran.out)["checks"] if not one["holds"]]
    assert any("k-anonymity" in what for what in broken)


def test_it_is_measured_attacked_and_reported_again(shoal, run):  # noqa: F811
    measured = json.loads(shoal("measure", run, "--json").out)
    assert {one["name"]: one["value"] for one in measured}["k-anonymity"] >= 5
    assert json.loads(shoal("attack", run, "--attack", "distance-linkage", "--json").out)[0]["tried"] == 300
    before = (run / "certificate.json").read_bytes()
    assert shoal("report", run).code == 0
    assert json.loads(before)["release"] == json.loads((run / "certificate.json").read_text())["release"]
    assert shoal("verify", run, run / "certificate.json").code == 0


def test_an_original_that_changed_is_refused(shoal, run, folder):  # noqa: F811
    table = pq.read_table(folder / "rows-1.parquet")
    pq.write_table(table.slice(1), folder / "rows-1.parquet")
    ran = shoal("measure", run)
    assert ran.code == 2
    assert "has changed since this run was made" in ran.err


def test_hierarchies_and_names_of_groups(shoal, released, folder):  # noqa: F811
    run = released("protect", folder, *QUASI, "-m", "local-recoding", "-p", "k=5", "--engine", "duckdb", "--seed", "2")
    here = released("protect", folder, *QUASI, "-m", "local-recoding", "-p", "k=5", "--engine", "memory", "--seed", "2")
    assert rows_of(run / "release") == sorted(map(repr, pq.read_table(here / "release.parquet").to_pylist()))
    assert shoal("verify", run, run / "certificate.json", "--engine", "duckdb").code == 0
    assert json.loads(shoal("measure", run, "--measure", "ncp", "--json").out)[0]["value"] > 0


def test_steps_in_turn(shoal, released, folder, desk):  # noqa: F811
    (desk / "recipe.toml").write_text(
        """
input = ["big/rows-0.parquet", "big/rows-1.parquet", "big/rows-2.parquet"]
[roles]
quasi = ["age", "zip", "income"]
confidential = ["diagnosis"]
identifier = ["name"]
[[step]]
method = "top-coding"
columns = ["income"]
percentile = 90
[[step]]
method = "noise"
columns = ["income"]
p = 0.2
[[step]]
method = "mondrian"
columns = ["age", "zip"]
k = 4
""",
        encoding="utf-8",
    )
    runs = [released("run", desk / "recipe.toml", "--engine", engine, "--seed", "5") for engine in ("duckdb", "memory")]
    assert rows_of(runs[0] / "release") == sorted(map(repr, pq.read_table(runs[1] / "release.parquet").to_pylist()))
    steps = [[(one["method"], one["parameters"]) for one in json.loads((run / "certificate.json").read_text())["steps"]] for run in runs]
    assert steps[0] == steps[1]


def test_texts_are_read_as_in_memory(shoal, released, desk):  # noqa: F811
    """Dates, codes for missing, decimal commas, tokens, quotes: a compressed CSV, by DuckDB and in memory."""
    lines = ["id;born;income;town;when"]
    for i in range(400):
        born = "" if i % 17 == 0 else f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1950 + i % 40}"
        income = "-9" if i % 11 == 0 else "NA" if i % 13 == 0 else f"{1000 + 37 * (i % 90)},5"
        lines.append(f'P{i};{born};{income};"Town ""{i % 5}""";2020-0{1 + i % 9}-01')
    text = "\n".join(lines) + "\n"
    (desk / "rows.csv").write_text(text, encoding="utf-8")
    with gzip.open(desk / "rows.csv.gz", "wt", encoding="utf-8") as file:
        file.write(text)
    words = (
        "--quasi",
        "born,income,town,when",
        "--identifier",
        "id",
        "--missing-code",
        "income=-9",
        "-m",
        "mondrian",
        "-p",
        "k=8",
        "--seed",
        "1",
    )
    plain = released("protect", desk / "rows.csv", *words)
    packed = released("protect", desk / "rows.csv.gz", *words, "--engine", "duckdb")
    here = released("protect", desk / "rows.csv.gz", *words, "--engine", "memory")
    texts = read_table(plain / "release.csv", text=("born", "income", "town", "when"))
    assert (here / "release.csv").read_bytes() == (plain / "release.csv").read_bytes()
    assert len(rows_of(packed / "release")) == len(texts) == 400
    first, second = (json.loads((one / "certificate.json").read_text()) for one in (plain, packed))
    assert first["measures"][0]["value"] == second["measures"][0]["value"]
    assert first["steps"] == second["steps"]
    assert first["release"]["dates"] == second["release"]["dates"]


def test_too_large_for_memory_goes_to_duckdb_and_says_so(shoal, folder, desk):  # noqa: F811
    ran = shoal("protect", folder, *QUASI, "-m", "mondrian", "-p", "k=5", "-o", desk / "out", "--memory", "300MB")
    assert ran.code == 0
    assert (desk / "out" / "release.parquet").exists()
    from shoal.engines.choice import A_CELL, Choice

    assert Choice("automatic", 700 * 8 * A_CELL).for_files([folder]) == "memory"
    assert Choice("automatic", 700 * 8 * A_CELL - 1).for_files([folder]) == "duckdb"


def test_look_at_a_folder(shoal, folder):  # noqa: F811
    looks = [json.loads(shoal("look", folder, "--engine", engine, "--json").out) for engine in ("memory", "duckdb")]
    assert looks[0]["columns"] == looks[1]["columns"]
    assert looks[0]["rows"] == looks[1]["rows"] == 700


def test_dropped_rows_are_said_and_counted(released, folder, shoal):  # noqa: F811
    """Rows that leave are in the draw of the originals, and not in that of the release."""
    words = ("-m", "recoding", "-p", "k=20", "-p", "suppress=0.1", "-p", "suppressed=dropped", "--seed", "3")
    run = released("protect", folder, *QUASI, *words, "--engine", "duckdb")
    said = json.loads((run / "certificate.json").read_text())
    rows = said["release"]["rows"]
    assert len(rows_of(run / "release")) == rows
    assert np.load(run / "private" / "source_rows.npy").shape == (rows,)
    assert shoal("verify", run, run / "certificate.json").code == 0
