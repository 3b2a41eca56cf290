"""What nobody foresaw, and what somebody might bring: a sentence, never a traceback, never a cell."""

import json
import os
import stat
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal.runs.run as run_module
from shoal.collections.texts import texts_of_column
from shoal.documents.detectors.kinds import read_kinds
from shoal.documents.risk.queries import read_queries
from shoal.errors import DataError, OutputError
from shoal.folders import appearing, run_folder
from shoal.parsing import LARGEST, parse_json, parse_toml, read_text
from shoal.unforeseen import KEPT, unforeseen
from tests.cli.conftest import ROLES, SECRET, SOURCE, assert_refused, patients, read_csv, write_csv

MDAV = ("-m", "mdav", "-p", "k=3")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("SHOAL_DEBUG", raising=False)
    return tmp_path / "state" / "shoal"


@pytest.fixture
def breaks(monkeypatch):
    """A fault of shoal's own, whose message and cause quote a cell."""

    def measure(*_args, **_words):
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise TypeError(f"{SECRET} is not a number") from error

    monkeypatch.setattr(run_module, "measure_all", measure)


def test_the_unforeseen_is_a_sentence_with_a_code_and_a_log_without_cells(shoal, table, desk, state, breaks):
    words = ("protect", table, *ROLES, "--missing", SECRET, *MDAV, "-o", desk / "run")
    first, again = shoal(*words), shoal(*words, "--json")
    for ran in (first, again):
        assert_refused(ran, "something unforeseen happened (code ", 3)
    assert first.err == again.err, "the same fault has the same code"
    (log,) = state.iterdir()
    assert str(log) in first.err
    text = log.read_text()
    assert SECRET not in text
    assert str(desk) not in text
    assert "is not a number" not in text
    assert "TypeError" in text
    assert "which came of KeyError" in text
    assert "shoal/runs/run.py:" in text
    assert "asked: protect --quasi --confidential --identifier --other --missing -m -p -o --json" in text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert not (desk / "run").exists()


def test_debugging_shows_everything(shoal, table, desk, breaks, monkeypatch):
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    ran = shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run")
    assert ran.code == 3
    assert "Traceback" in ran.err
    assert "is not a number" in ran.err


def test_without_a_place_for_the_log_the_code_is_still_said(shoal, table, desk, state, breaks):
    state.parent.write_text("in the way")
    assert_refused(shoal("protect", table, *ROLES, *MDAV, "-o", desk / "run"), "No log could be written", 3)


def test_logs_do_not_grow_without_bound(state):
    for n in range(KEPT + 5):
        unforeseen(type(f"Error{n}", (Exception,), {})())
    assert len(list(state.iterdir())) == KEPT


@pytest.mark.parametrize("parse", [parse_json, parse_toml])
@pytest.mark.parametrize(
    "text", ["[" * 100_000, "a = " + "[" * 100_000, '{"a":' * 100_000, "a = " + "9" * 5000, "9" * 5000, "NaN", "1e999", "-1E999", SECRET]
)
def test_json_and_toml_of_anybodys_making(parse, text):
    with pytest.raises(DataError) as refused:
        parse(text, "some.file")
    assert SECRET not in str(refused.value)


def test_nested_brackets_in_every_file_that_is_read(shoal, refused, table, desk):
    deep = desk / "deep.toml"
    deep.write_text("quasi = " + "[" * 100_000)
    refused("protect", table, "--roles", deep, *MDAV, "-o", desk / "run", says="nested too deeply")
    refused("run", deep, "-o", desk / "run", says="nested too deeply")
    certificate = desk / "certificate.json"
    certificate.write_text("[" * 100_000)
    refused("verify", table, certificate, says="not a certificate")


def test_a_cell_longer_than_a_csv_reader_likes(released, desk):
    rows = patients()
    rows[3][4] = "x" * 140_000
    folder = released("protect", write_csv(desk / "long.csv", rows), *ROLES, *MDAV)
    assert max(len(row["diagnosis"]) for row in read_csv(folder / "release.csv")) == 140_000


def test_more_columns_than_a_sample_holds(shoal, desk):
    names = [f"a_column_of_a_wide_table_{i}" for i in range(10_000)]
    ran = shoal("look", write_csv(desk / "wide.csv", [names, *[["1"] * 10_000] * 3]), "--json")
    assert ran.code == 0, ran.err
    assert len(json.loads(ran.out)["columns"]) == 10_000


@pytest.mark.parametrize("at", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_damaged_parquet(refused, desk, at):
    path = desk / "damaged.parquet"
    rows = patients()
    pq.write_table(pa.table(dict(zip(rows[0], zip(*rows[1:])))), path)
    raw = bytearray(path.read_bytes())
    begin = int(at * len(raw))
    raw[begin : begin + 40] = b"\xff" * 40
    path.write_bytes(raw)
    try:
        refused("look", path, says="damaged")
    except AssertionError:
        assert at == 0.9, "what is said of columns may be lost without harm; pages and footer may not"


@pytest.mark.parametrize("content", [b"", b"\x93NUMPY", b"PK\x03\x04" + b"\0" * 40, b"\x93NUMPY\x01\x00v\x00" + b"(" * 118])
def test_damaged_source_rows(released, refused, table, content):
    folder = released("protect", table, *ROLES, *MDAV)
    (folder / "private" / "source_rows.npy").write_bytes(content)
    refused("measure", folder, says="damaged")


def test_source_rows_of_an_absurd_shape(released, refused, table):
    folder = released("protect", table, *ROLES, *MDAV)
    path = folder / "private" / "source_rows.npy"
    path.write_bytes(path.read_bytes().replace(b"(60,), }" + b" " * 14, b"(60000000000000000,), }"[:22]))
    refused("measure", folder, says="damaged")


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on POSIX alone")
@pytest.mark.parametrize("name", [b"bad\xff.csv", b"red\x1b[31m.csv", b"two\nlines.csv"])
def test_file_names_that_no_terminal_should_see(process, table, desk, name):
    path = os.fsencode(desk) + b"/" + name
    os.rename(table, path)
    ran = process("look", os.fsdecode(path))
    assert ran.code == 0, ran.err
    assert "\x1b" not in ran.out
    done = process("protect", os.fsdecode(path), *ROLES, *MDAV, "-o", desk / "run")
    assert done.code in (0, 2), done.err
    assert "Traceback" not in done.err
    missing = process("look", os.fsdecode(path + b"x"))
    assert_refused(missing, "There is no file")


@pytest.mark.parametrize(
    "days", [("0001-01-02", "9999-12-30"), ("02.01.1000", "30.12.2999"), ("0001-01-03 00:00:00", "9999-12-29 00:00:00")]
)
def test_noise_that_leaves_the_calendar(released, desk, days):
    rows = [["day", "diagnosis"], *([day, "flu"] for day in days * 20)]
    path = write_csv(desk / "days.csv", rows)
    folder = released("protect", path, "--quasi", "day", "--confidential", "diagnosis", "-m", "noise", "-p", "p=10")
    warnings = json.loads((folder / "certificate.json").read_text())["warnings"]
    assert any("out of the calendar" in one for one in warnings)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])  # Parquet has no seconds
def test_times_at_the_ends_of_their_unit(shoal, desk, unit):
    path = desk / "times.parquet"
    pq.write_table(pa.table({"time": pa.array([-(2**62), 2**62] * 20, pa.timestamp(unit)), "x": ["flu"] * 40}), path)
    ran = shoal("protect", path, "--quasi", "time", "--other", "x", "-m", "noise", "-p", "p=10", "-o", desk / "run")
    assert ran.code == (0 if unit == "ns" else 2), ran.err
    assert "Traceback" not in ran.err
    assert unit == "ns" or "outside the years 1 to 9999" in ran.err


def test_a_regression_target_that_no_protected_half_knows(shoal, desk):
    rows = patients(240)
    for i, row in enumerate(rows[1:]):
        row[3] = f"{i}.5" if i % 4 == 0 else ""
    path = write_csv(desk / "gaps.csv", rows)
    words = ("--quasi", "age", "--identifier", "name", "--confidential", "income", "-m", "mdav", "-p", "k=60", "-p", "columns=age,income")
    assert shoal("protect", path, *words, "-o", desk / "run").code == 0
    ran = shoal("measure", desk / "run", "--target", "income")
    assert_refused(ran, "No value of the target 'income' is left")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "FIFO", "-o", "out"),
        ("protect", "TABLE", "--roles", "FIFO", "-m", "mdav", "-o", "out"),
        ("documents", "detect", "letters", "-o", "out", "--kinds", "FIFO"),
        ("documents", "detect", "letters", "-o", "out", "--terms", "FIFO"),
        ("documents", "detect", "letters", "-o", "out", "--keep", "FIFO"),
        ("documents", "detect", "letters", "-o", "out", "--drop", "/dev/zero"),
    ],
)
def test_settings_from_a_pipe_or_a_device(refused, table, desk, monkeypatch, words):
    monkeypatch.chdir(desk)
    (desk / "letters").mkdir()
    (desk / "letters" / "a.txt").write_text("Dear Ann Lee")
    os.mkfifo(desk.parent / "pipe")
    refused(*({"FIFO": desk.parent / "pipe", "TABLE": table}.get(word, word) for word in words), says="is not a plain file. Name a file.")


def test_queries_and_lines_of_json_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    for read in (read_queries, read_kinds, lambda path: texts_of_column(path, "text")):
        with pytest.raises(DataError, match="not a plain file"):
            read(tmp_path / "pipe.jsonl")


def test_settings_too_long_to_be_any(tmp_path):
    with (tmp_path / "long.toml").open("wb") as file:
        file.truncate(LARGEST + 1)
    with pytest.raises(DataError, match="larger than 200 MB"):
        read_text(tmp_path / "long.toml")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_streams_that_are_closed(table, closed):
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m shoal look "$1" {closed}', sys.executable, str(table)],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("whole", [run_folder, appearing])
def test_a_folder_that_came_meanwhile(tmp_path, whole):
    out = tmp_path / "out"

    def race():
        with whole(out):
            (out / "inside").mkdir(parents=True)

    with pytest.raises(OutputError, match=r"out exists\. Choose another folder with -o"):
        race()
    assert (out / "inside").is_dir()
