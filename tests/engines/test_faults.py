"""A run that is killed, stopped, or finds the disk full or its files changed, while rows are elsewhere: one sentence, and nothing half-released."""

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from shoal.engines import source, staging
from shoal.engines.duckdb import DuckDBEngine
from shoal.errors import OutputError
from shoal.parts import Parts
from shoal.runs import parts as runs
from tests.cli.conftest import SECRET, SOURCE, assert_refused, desk, listing, shoal  # noqa: F401 - fixtures

ROLES = ("--quasi", "age,zip", "--confidential", "diagnosis", "--identifier", "name")
WAIT = 60  # seconds at most, for whatever is waited for


def rows(many, seed=0):
    rng = np.random.default_rng(seed)
    names = pa.array([f"{SECRET}_{i}" for i in range(many)])
    numbers = {"age": rng.integers(18, 90, many), "zip": rng.integers(0, 50, many)}
    return pa.table({"name": names, **numbers, "diagnosis": rng.choice(["flu", "asthma", "migraine"], many)})


def written(folder, table, files=2, group=500):
    folder.mkdir()
    many = -(-len(table) // files)
    for number in range(files):
        pq.write_table(table.slice(number * many, many), folder / f"rows-{number}.parquet", row_group_size=group)
    return folder


def words(given, out, *more):
    return ["protect", given, *ROLES, "-m", "mondrian", "-p", "k=10", "--engine", "duckdb", *more, "-o", out]


@pytest.fixture
def refused(shoal, desk):  # noqa: F811
    """One sentence, and the folder is as it was."""

    def run(given, says, *more):
        before = listing(desk)
        assert_refused(shoal(*words(given, desk / "run", *more)), says)
        assert listing(desk) == before

    return run


# ---- killed and stopped ----------------------------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from shoal.cli import main
from shoal.engines import {module}

told, before = Path(sys.argv.pop()), {module}.{name}
def held(*given, **named):
    made = before(*given, **named)
    told.touch()
    time.sleep(60)
    return made
{module}.{name} = held
main()
"""
MOMENTS = {
    "cells read": ("staging", "_has_clean_cells"),
    "rows put aside": ("source", "put_aside"),
    "a part written": ("source", "write_parquet"),
}


def begun(given, desk, moment):  # noqa: F811
    """A run in a process of its own that has come to a certain moment, and waits there."""
    module, name = MOMENTS[moment]
    script, told = desk.parent / "hold.py", desk.parent / "told"
    script.write_text(HOLD.format(module=module, name=name))
    command = [sys.executable, script, *words(given, desk / "run"), told]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    run = subprocess.Popen(list(map(str, command)), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(WAIT * 20):
        if told.exists():
            return run
        assert run.poll() is None, run.stderr.read()
        time.sleep(0.05)
    raise AssertionError("it never came there")


@pytest.mark.parametrize("moment", ["cells read", "a part written"])
def test_a_run_that_is_killed_is_swept_by_the_next(shoal, desk, moment):  # noqa: F811
    given = written(desk / "rows", rows(2000))
    run = begun(given, desk, moment)
    run.kill()
    run.communicate()
    (hidden,) = desk.glob(".shoal-unfinished-*")
    assert sorted(path.name for path in desk.iterdir()) == [hidden.name, "rows"]
    assert shoal(*words(given, desk / "run")).code == 0
    assert sorted(path.name for path in desk.iterdir()) == ["rows", "run"]
    assert pq.read_table(desk / "run" / "release").num_rows == 2000


@pytest.mark.parametrize(("moment", "number", "code"), [("rows put aside", signal.SIGINT, 130), ("a part written", signal.SIGTERM, 143)])
def test_a_run_that_is_stopped_leaves_nothing(desk, moment, number, code):  # noqa: F811
    given = written(desk / "rows", rows(2000))
    before = listing(desk)
    run = begun(given, desk, moment)
    run.send_signal(number)
    _, said = run.communicate(timeout=WAIT)
    assert run.returncode == code, said
    assert "nothing is left half-written" in said
    assert "Traceback" not in said
    assert listing(desk) == before


def test_duckdb_is_stopped_by_ctrl_c_and_prints_nothing(tmp_path, monkeypatch):
    engine = DuckDBEngine(1 << 28, tmp_path)
    assert engine._asked("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)
    long = "(SELECT hash(a.a + b.b) AS c0 FROM range(1000000) a(a), range(1000) b(b))"
    monkeypatch.setattr("shoal.engines.duckdb._read", lambda parts: long)
    parts = Parts((), pa.schema({"number": pa.uint64()}))
    for what in (lambda: engine.distinct(parts, "number"), lambda: list(engine.grouped(parts, ["number"]))):
        timer = threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            what()
        timer.join()
    engine.close()


# ---- the disk is full ------------------------------------------------------------------------------------------------------


def full(*_given, **_named):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(
    "where",
    [
        "shoal.engines.staging.pq.ParquetWriter.write_table",
        "shoal.engines.source.put_aside",
        "shoal.engines.spill.os.replace",
        "shoal.engines.source.pq.write_table",
        "shoal.engines.source.write_parquet",
        "shoal.engines.source.mkdtemp",
        "shoal.folders.shutil.copyfile",
        "shoal.folders.os.fsync",
    ],
)
def test_a_full_disk_leaves_nothing(refused, desk, monkeypatch, where):  # noqa: F811
    (desk / "rows").mkdir()
    pacsv.write_csv(rows(2000), desk / "rows" / "rows.csv")
    monkeypatch.setattr(where, full)
    refused(desk / "rows" / "rows.csv", "the disk is full", "-m", "mdav-large", "-p", "k=3")


def test_a_disk_that_takes_no_more_than_so_many_bytes_of_a_file(desk):  # noqa: F811
    """The system itself says no, in the middle of a file."""
    given = written(desk / "rows", rows(60_000), group=60_000)
    before = listing(desk)

    def little():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    env = {**os.environ, "PYTHONPATH": str(SOURCE), "NUMBA_CACHE_DIR": os.environ.get("NUMBA_CACHE_DIR", "")}
    command = [sys.executable, "-m", "shoal", *map(str, words(given, desk / "run"))]
    run = subprocess.run(command, env=env, capture_output=True, text=True, preexec_fn=little, timeout=WAIT, check=False)
    assert run.returncode == 2, run.stderr
    assert len(run.stderr.strip().splitlines()) == 1, run.stderr
    assert "could not be written" in run.stderr
    assert "File too large" in run.stderr
    assert listing(desk) == before


def test_duckdb_says_in_a_sentence_that_its_disk_is_full(tmp_path):
    table = pa.table({"a": np.random.default_rng(0).permutation(2_000_000), "b": np.arange(2_000_000)})
    pq.write_table(table, tmp_path / "rows.parquet")
    engine = DuckDBEngine(1 << 27, tmp_path)
    engine._asked("SET memory_limit = '48MB'")
    engine._asked("SET max_temp_directory_size = '1MB'")
    try:
        with pytest.raises(OutputError, match="The disk is full"):
            list(engine.grouped(Parts.of([tmp_path / "rows.parquet"]), ["a", "b"]))
    finally:
        engine.close()


# ---- files that change -----------------------------------------------------------------------------------------------------


def rewritten(path):
    pq.write_table(rows(1000, seed=9), path)


def appended(path):
    with path.open("ab") as file:
        file.write(b"a,1,2,flu\n")


def truncated(path):
    os.truncate(path, path.stat().st_size // 2)


CHANGES = {"rewritten": rewritten, "appended": appended, "truncated": truncated, "deleted": os.unlink}
PASSES = {
    "before it is counted": (DuckDBEngine, "grouped"),
    "before it is read again": (source.RowsElsewhere, "released"),
    "before it is drawn from": (runs, "draw"),
}


def changed_first(monkeypatch, holder, name, change):
    """Something is called as ever, but the first time only after a change."""
    before, done = getattr(holder, name), []

    def called(*given, **named):
        if not done:
            done.append(True)
            change()
        return before(*given, **named)

    monkeypatch.setattr(holder, name, called)
    return done


@pytest.mark.parametrize("moment", PASSES)
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_changes_while_it_is_read(shoal, desk, monkeypatch, change, moment):  # noqa: F811
    given = written(desk / "rows", rows(2000))
    done = changed_first(monkeypatch, *PASSES[moment], lambda: CHANGES[change](given / "rows-1.parquet"))
    ran = shoal(*words(given, desk / "run"))
    assert done
    assert_refused(ran, "")
    assert any(word in ran.err for word in ("changed while it was read", "damaged", "went away")), ran.err
    assert [path.name for path in desk.iterdir()] == ["rows"]


@pytest.mark.parametrize("change", ["appended", "truncated", "deleted"])
def test_a_csv_that_changes_while_it_is_read(shoal, desk, monkeypatch, change):  # noqa: F811
    given = desk / "rows.csv"
    pacsv.write_csv(rows(2000), given)
    done = changed_first(monkeypatch, staging, "type_together", lambda: CHANGES[change](given))
    ran = shoal(*words(given, desk / "run"))
    assert done
    assert_refused(ran, "changed while it was read" if change != "deleted" else "went away")
    assert [path.name for path in desk.iterdir()] == ([] if change == "deleted" else ["rows.csv"])


# ---- memory ----------------------------------------------------------------------------------------------------------------

MEASURED = """
import resource, sys
from shoal.cli import main

told = sys.argv.pop()
try:
    main()
except SystemExit as end:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=open(told, "w"))
    raise
"""


def test_memory_stays_near_what_was_given(tmp_path):
    """Two million rows of eight columns; kernels that compile for the first time take half a gigabyte for a while."""
    many, folder = 500_000, tmp_path / "rows"
    folder.mkdir()
    for number in range(4):
        rng = np.random.default_rng(number)
        columns = {f"n{i}": rng.normal(size=many) for i in range(4)} | {"age": rng.integers(18, 90, many), "zip": rng.integers(0, 50, many)}
        texts = {
            "diagnosis": np.array(["flu", "asthma", "migraine"])[rng.integers(0, 3, many)],
            "code": rng.integers(0, 10**6, many).astype(str),
        }
        pq.write_table(pa.table(columns | texts), folder / f"rows-{number}.parquet", row_group_size=100_000)
    given = ["protect", folder, "--quasi", "age,zip", "--confidential", "diagnosis", "--other", "n0,n1,n2,n3,code"]
    given += ["-m", "mondrian", "-p", "k=10", "--engine", "duckdb", "--memory", "512MB", "-o", tmp_path / "run"]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", MEASURED, *map(str, given), str(tmp_path / "told")]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    peak = int((tmp_path / "told").read_text())
    assert peak < 2_400_000, f"{peak >> 10} MB"
    assert sum(pq.read_metadata(path).num_rows for path in (tmp_path / "run" / "release").iterdir()) == 4 * many
