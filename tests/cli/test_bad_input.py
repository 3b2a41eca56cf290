"""Bad input, and what it gets: one sentence, exit code 2, no cell value, nothing half-written, the input untouched.

The first part follows the lines of the specification; the second is what else people bring. What is odd but right must work.
"""

import errno
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import shoal.runs.run as run_module
from shoal import unfinished
from shoal.errors import ShoalError
from shoal.files import read_table
from shoal.methods import Noise
from tests.cli.conftest import ROLES, SECRET, SOURCE, assert_refused, check_folder, listing, patients, read_csv, write_csv

MDAV = ("-m", "mdav", "-p", "k=3")


def protect(table, out, *more, roles=ROLES, method=MDAV):
    return ("protect", table, *roles, *method, *more, "-o", out)


# ---- the lines of the specification -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content", [b"", b"\xef\xbb\xbf", b"\n\n\n", b"   \n", b"\xff\xfe"], ids=["nothing", "mark", "lines", "blanks", "utf-16 mark"]
)
def test_empty_file(refused, desk, content):
    path = desk / "empty.csv"
    path.write_bytes(content)
    refused("look", path, says="empty.csv")
    refused(*protect(path, desk / "run"), says="empty.csv")


@pytest.mark.parametrize("content", ["name,age,income,diagnosis\n", "name,age,income,diagnosis", "\ufeffname,age\r\n", "age\n"])
def test_header_only(refused, desk, content):
    path = desk / "head.csv"
    path.write_text(content, encoding="utf-8")
    refused("look", path, says="no rows")
    refused(*protect(path, desk / "run"), says="no rows")


def test_one_row_is_too_few_for_k(refused, desk):
    path = write_csv(desk / "one.csv", patients(1))
    refused(*protect(path, desk / "run"), says="1 row, fewer than k = 3")


@pytest.mark.parametrize("method", [("-m", "noise"), ("-m", "rank-swapping")])
def test_one_row_by_a_method_without_k(released, desk, method):
    path = write_csv(desk / "one.csv", patients(1))
    folder = released("protect", path, *ROLES, *method)
    assert len(read_csv(folder / "release.csv")) == 1


def test_look_at_one_row(shoal, desk):
    ran = shoal("look", write_csv(desk / "one.csv", patients(1)))
    assert ran.code == 0
    assert SECRET not in ran.out


def test_duplicate_column_names(refused, desk):
    rows = patients()
    rows[0][2] = "age"
    path = write_csv(desk / "twice.csv", rows)
    refused("look", path, says="'age' appears 2 times")
    refused(*protect(path, desk / "run"), says="'age' appears 2 times")


def test_duplicate_column_names_apart_by_blanks_only(refused, desk):
    rows = patients()
    rows[0][2] = " age "
    refused("look", write_csv(desk / "twice.csv", rows), says="'age' appears 2 times")


@pytest.mark.parametrize("cells", [["x"], ["x", "1", "2", "3", "4", "5"], []], ids=["short", "long", "blank"])
def test_ragged_rows(refused, released, desk, cells):
    rows = patients()
    rows[30] = [SECRET, *cells] if cells else []
    path = write_csv(desk / "ragged.csv", rows)
    if not cells:  # an empty line is no row
        assert len(read_csv(released("protect", path, *ROLES, *MDAV) / "release.csv")) == 59
        return
    refused("look", path, says="record 30")
    refused(*protect(path, desk / "run"), says=f"record 30 has {len(cells) + 1} cells where the header has 5")


def test_several_ragged_rows_are_counted(refused, desk):
    rows = patients()
    rows[10] = rows[20] = rows[30] = [SECRET]
    refused("look", write_csv(desk / "ragged.csv", rows), says="record 10 has 1 cells where the header has 5, and 2 more like it")


def test_wrong_encoding_given(refused, desk):
    rows = patients()
    rows[7][0] = f"{SECRET} Müller"
    path = write_csv(desk / "latin.csv", rows, encoding="latin-1")
    refused("look", path, "--encoding", "utf-8", says="not utf-8 text (first bad byte in line 8)")
    refused(*protect(path, desk / "run", "--encoding", "ascii"), says="not ascii text")
    refused("look", path, "--encoding", "klingon", says="no encoding named 'klingon'")
    refused("look", path, "--encoding", "utf-16", says="utf-16")


def test_an_encoding_that_is_no_text_encoding(refused, table):
    refused("look", table, "--encoding", "rot13", says="rot13")
    refused("look", table, "--encoding", "hex", says="hex")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig", "utf-8"])
def test_encoding_found_out(released, desk, encoding):
    rows = [[cell.replace("migraine", "Migräne") for cell in row] for row in patients()]
    path = write_csv(desk / "umlauts.csv", rows, encoding=encoding)
    folder = released("protect", path, *ROLES, *MDAV)
    assert {row["diagnosis"] for row in read_csv(folder / "release.csv")} == {"flu", "asthma", "Migräne"}


def test_bytes_that_no_guess_fits(refused, desk):
    path = desk / "bad.csv"
    path.write_bytes(f"name,age\n{SECRET},3\n".encode() + b"\x81\x8d\x8f,4\n")
    refused("look", path, says="line 3")


def test_a_column_given_two_roles(refused, table, desk):
    refused(
        *protect(table, desk / "run", "--confidential", "age"), says="Column 'age' is given two roles, quasi-identifier and confidential"
    )
    refused(*protect(table, desk / "run", "--quasi", "age"), says="named twice")
    roles = desk / "roles.toml"
    roles.write_text('quasi = ["age"]\nidentifier = ["age", "name"]\n')
    refused("protect", table, "--roles", roles, *MDAV, "-o", desk / "run", says="two roles")


@pytest.mark.parametrize("role", ["quasi", "confidential", "identifier", "other", "nominal"])
def test_an_unknown_column(refused, table, desk, role):
    refused("protect", table, f"--{role}", "incme", *MDAV, "-o", desk / "run", says="Did you mean 'income'?")


def test_an_unknown_column_of_a_step(refused, table, desk):
    refused(*protect(table, desk / "run", "-p", "columns=age,incme"), says="Did you mean 'income'?")


def test_an_unknown_method_measure_attack_and_verb(refused, released, table, desk, shoal):
    refused(*protect(table, desk / "run", method=("-m", "mdvav")), says="no method named 'mdvav'. Did you mean 'mdav'?")
    folder = released("protect", table, *ROLES, *MDAV)
    refused("measure", folder, "--measure", "k-anonimity", says="Did you mean 'k-anonymity'?")
    refused("attack", folder, "--attack", "distance-linkag", says="Did you mean 'distance-linkage'?")
    refused("list", "metods", says="Did you mean 'methods'?")
    refused("protct", table, says="protct")


def test_an_unknown_parameter(refused, table, desk):
    refused(*protect(table, desk / "run", method=("-m", "mdav", "-p", "kk=3")), says="mdav has no parameter 'kk'. Did you mean 'k'?")
    refused(*protect(table, desk / "run", "-p", "gamma=1"), says="mdav has no parameter 'gamma'")
    refused(*protect(table, desk / "run", "-p", "refine=swop"), says="refine must be")
    refused(*protect(table, desk / "run", "-p", "k"), says="name=value")
    refused(*protect(table, desk / "run", "-p", "=3"), says="name=value")


def test_k_larger_than_n(refused, table, desk):
    refused(*protect(table, desk / "run", "-p", "k=61"), says="The table has 60 rows, fewer than k = 61. Use k of at most 60.")


def test_k_as_large_as_n(released, table):
    folder = released("protect", table, *ROLES, "-m", "mdav", "-p", "k=60")
    assert len({(row["age"], row["income"]) for row in read_csv(folder / "release.csv")}) == 1


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1", "k must be 2 or more"),
        ("0", "2 or more"),
        ("-5", "2 or more"),
        ("2.5", "whole number"),
        ("many", "whole number"),
        ("", "whole number"),
        ("nan", "whole number"),
        ("1e9", "whole number"),
    ],
)
def test_k_of_1_and_other_k(refused, table, desk, value, says):
    refused(*protect(table, desk / "run", "-p", f"k={value}"), says=says)


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "0", "11", "x"])
def test_a_wrong_share(refused, table, desk, value):
    refused(*protect(table, desk / "run", method=("-m", "noise", "-p", f"p={value}")), says="noise: p must be")


def test_a_number_column_with_text_in_row_41(refused, table, desk):
    rows = patients()
    rows[41][3] = SECRET
    path = write_csv(desk / "slip.csv", rows)
    refused(*protect(path, desk / "run"), says="Column 'income' has 1 value that is not a number (first at row 41)")


def test_a_number_column_with_text_that_is_declared_nominal(released, desk):
    rows = patients()
    rows[41][1] = "unknown"
    path = write_csv(desk / "slip.csv", rows)
    released("protect", path, *ROLES, "--nominal", "age", *MDAV)


@pytest.mark.parametrize(
    "method", ["mdav", "mdav-large", "v-mdav", "z-projection", "pca-projection", "individual-ranking", "rank-swapping", "noise"]
)
def test_all_missing_and_constant_columns(released, desk, method):
    rows = patients()
    for row in rows[1:]:
        row[1], row[2], row[4] = "", "08001", ""
    path = write_csv(desk / "flat.csv", [[*row, "7" if i else "seven"] for i, row in enumerate(rows)])
    folder = released("protect", path, "--quasi", "age,income,seven", "--confidential", "diagnosis", "--identifier", "name", "-m", method)
    said = json.loads((folder / "certificate.json").read_text())
    assert any("'age' has no value" in warning for warning in said["warnings"])
    assert any("'seven' is the same in every row" in warning for warning in said["warnings"])
    written = read_csv(folder / "release.csv")
    assert {row["age"] for row in written} == {""}
    assert {float(row["seven"]) for row in written} == {7.0}


@pytest.mark.parametrize("method", ["mdav", "rank-swapping", "noise"])
def test_only_missing_quasi_identifiers(shoal, desk, method):
    rows = patients()
    for row in rows[1:]:
        row[1] = "NA"
    path = write_csv(desk / "flat.csv", rows)
    ran = shoal("protect", path, "--quasi", "age", "--identifier", "name", "-m", method, "-o", desk / "run")
    assert ran.code == 0, ran.err
    assert shoal("verify", desk / "run/release.csv", desk / "run/certificate.json").code == 0


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_column_with_so_few_values_that_none_is_released(released, desk):
    """No warning of numpy's, which would name a path of this machine; each number that cannot be had says why."""
    rows = patients()
    for i, row in enumerate(rows[1:]):
        row[1] = str(40 + i) if i in (5, 30) else ""
    folder = released("protect", write_csv(desk / "sparse.csv", rows), *ROLES, "-m", "mdav", "-p", "k=10")
    assert set(values(folder, "age")) == {""}
    said = json.loads((folder / "certificate.json").read_text())
    assert all(measure["note"] for measure in said["measures"] if measure["value"] is None)


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "INF", "1e999"])
def test_infinities(refused, desk, word):
    rows = patients()
    rows[12][3] = word
    path = write_csv(desk / "inf.csv", rows)
    refused(*protect(path, desk / "run"), says="Column 'income' has 1 infinite value (first at row 12)")


def test_infinities_in_a_column_that_is_not_protected(released, desk):
    rows = patients()
    rows[12][3] = "inf"
    path = write_csv(desk / "inf.csv", rows)
    folder = released("protect", path, "--quasi", "age", "--identifier", "name", "--confidential", "income", *MDAV)
    assert sum(row["income"] == "inf" for row in read_csv(folder / "release.csv")) == 1


def test_a_million_distinct_strings(refused, shoal, desk):
    many = 1_000_000
    path = desk / "many.csv"
    with path.open("w") as file:
        file.write("code,age\n")
        file.writelines(f"{SECRET}{i:x},{i % 90}\n" for i in range(many))
    seen = shoal("look", path, "--json")
    assert [(c["distinct"], c["role"]) for c in json.loads(seen.out)["columns"]] == [(many, "identifier"), (90, "quasi")]
    roles = desk / "roles.toml"
    roles.write_text('quasi = ["age"]\nrest = "release"\n')
    refused(
        "protect",
        path,
        "--roles",
        roles,
        *MDAV,
        "-o",
        desk / "run",
        says="Column 'code' has no role, and its text is different in every row",
    )
    refused(
        "protect",
        path,
        "--quasi",
        "age,code",
        *MDAV,
        "-o",
        desk / "run",
        says="Column 'code' has 1,000,000 distinct values in 1,000,000 rows",
    )


def test_thousands_of_distinct_strings_leave_as_an_identifier(released, desk):
    rows = patients(3000)
    folder = released("protect", write_csv(desk / "many.csv", rows), *ROLES, *MDAV)
    assert SECRET not in (folder / "release.csv").read_text()


@pytest.mark.parametrize("kind", ["folder", "full folder", "file", "dangling link"])
def test_an_output_folder_that_exists(refused, table, desk, kind):
    out = desk / "run"
    if kind == "file":
        out.write_text("mine")
    elif kind == "dangling link":
        out.symlink_to(desk / "nowhere")
    else:
        out.mkdir()
    if kind == "full folder":
        (out / "work.txt").write_text("mine")
    refused(*protect(table, out), says="exists. Choose another folder")


def test_an_output_file_that_exists(refused, table, desk):
    (desk / "mine.toml").write_text("mine")
    refused("look", table, "-o", desk / "mine.toml", says="exists")
    refused("compare", table, *ROLES, *MDAV, "-o", desk / "mine.toml", says="exists")
    refused("example", desk / "mine.toml", says="exists")


def test_an_output_below_a_file_or_in_no_folder(refused, table, desk):
    refused(*protect(table, table / "run"), says="cannot be made")
    refused(*protect(table, desk / "a" / "b" / "run", "-p", "k=61"), says="fewer than k")
    refused("look", table, "-o", desk / "no" / "roles.toml", says="no/roles.toml")
    refused("look", table, "-o", table / "roles.toml", says="roles.toml")
    refused("example", desk / "no" / "p.csv", says="p.csv")
    refused("compare", table, *ROLES, *MDAV, "-o", desk / "no" / "map.html", says="map.html")


# ---- a full disk --------------------------------------------------------------------------------------------------------------------------


def full(*_args, **_words):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("what", ["certify", "before_after", "generalized_patterns", "public_report", "internal_report", "check_file"])
def test_a_disk_that_fills_up_at_any_step(refused, table, desk, monkeypatch, what):
    monkeypatch.setattr(run_module, what, full)
    refused(*protect(table, desk / "a" / "run"), says="the disk is full")


def test_a_disk_that_fills_up_while_the_release_is_written(refused, table, desk, monkeypatch):
    def some(_table):
        yield b"age,income\n"
        full()

    monkeypatch.setattr("shoal.writing._csv_lines", some)
    refused(*protect(table, desk / "run"), says="the disk is full")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="a small disk can be mounted by root only")
@pytest.mark.parametrize("size", ["4k", "16k", "40k"])
def test_a_disk_that_is_really_full(shoal, table, tmp_path, size):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "shoal-test", str(small)], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        ran = shoal(*protect(write_csv(tmp_path / "many.csv", patients(400)), small / "run"))
        left = listing(small)
    finally:
        subprocess.run(["umount", "--lazy", str(small)], check=True)  # whoever still looks at it, an indexer for one, is not waited for
    assert_refused(ran, "run")
    assert "full" in ran.err or "No space left" in ran.err
    assert left == {}


def test_a_file_that_may_not_grow(process, refused, desk):
    """`ulimit -f`: the write fails with another error than a full disk."""
    path = write_csv(desk / "many.csv", patients(2000))

    def limited(*words):
        return process(*words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000)))

    refused(*protect(path, desk / "run", method=("-m", "noise")), says="run", by=limited)


def test_stdout_on_a_full_disk(table):
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with open("/dev/full", "w") as stdout:
        for words in (["list", "methods"], ["look", str(table), "--json"]):
            done = subprocess.run(
                [sys.executable, "-m", "shoal", *words], stdout=stdout, stderr=subprocess.PIPE, text=True, env=env, timeout=60
            )
            assert done.returncode == 2, done.stderr
            assert "Traceback" not in done.stderr
            assert "No space left" in done.stderr


def test_a_reader_that_leaves(table):
    """shoal list methods | head -1"""
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-m", "shoal", "list", "measures", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env
    ) as running:
        running.stdout.close()
        talk = running.stderr.read().decode()
    assert "Traceback" not in talk
    assert "Exception" not in talk


# ---- Ctrl-C -------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["method", "measure", "attack", "report"])
def test_interrupted_in_the_middle(refused, table, desk, monkeypatch, where):
    def interrupt(*_args, **_words):
        raise KeyboardInterrupt

    if where == "method":
        monkeypatch.setattr(Noise, "protect", interrupt)
    else:
        monkeypatch.setattr(run_module, {"measure": "measure_all", "attack": "attack_all", "report": "public_report"}[where], interrupt)
    refused(*protect(table, desk / "run", method=("-m", "noise")), says="stopped; nothing is left half-written", code=130)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_real_interrupt(desk, number, code):
    path = write_csv(desk / "many.csv", patients(100))
    before = listing(desk)
    with half_done(path, desk) as running:
        assert unfinished_in(desk), "the release is half-written now"
        running.send_signal(number)
        out, err = running.communicate(timeout=30)
    assert running.returncode == code
    assert err.strip() == "shoal: stopped; nothing is left half-written."
    assert out == ""
    assert listing(desk) == before


def test_killed_leaves_nothing_visible_and_the_next_run_sweeps_it(desk, shoal):
    """A kill cannot be tidied after, but what it leaves is hidden, and no run folder looks whole."""
    path = write_csv(desk / "many.csv", patients(100))
    before = listing(desk)
    with half_done(path, desk) as running:
        assert shoal(*protect(path, desk / "other", method=("-m", "noise"))).code == 0
        assert unfinished_in(desk), "what a living run has made is its own"
        running.kill()
        running.communicate(timeout=30)
    assert not (desk / "run").exists()
    left = unfinished_in(desk)
    assert left
    assert all(p.stat().st_mode & 0o777 == 0o700 for p in left), "nobody else may read what is left"
    assert shoal(*protect(path, desk / "run", method=("-m", "noise"))).code == 0
    for name in ("run", "other"):
        check_folder(desk / name)
        shutil.rmtree(desk / name)
    assert listing(desk) == before


def half_done(path, desk):
    """A run that stops short of its certificate, and waits."""
    slow = (
        "import time, shoal.runs.run\nfrom shoal.cli import main\n"
        "def certificate(*a, **k):\n    print('NOW', flush=True)\n    time.sleep(60)\n"
        "shoal.runs.run.certify = certificate\nmain()\n"
    )
    words = [str(word) for word in protect(path, desk / "run", method=("-m", "noise"))]
    running = subprocess.Popen(
        [sys.executable, "-c", slow, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )
    assert running.stdout.readline() == "NOW\n"
    return running


def unfinished_in(desk):
    return [p for p in desk.iterdir() if p.name.startswith(".shoal-unfinished-")]


# ---- other files ---------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x7fELF\x02\x01\x01\x00\x00\x00" + SECRET.encode() * 50, "not text"),
        (b"PK\x03\x04\x14\x00\x00\x00" + SECRET.encode() * 50, "not text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00" + SECRET.encode(), "not text"),
        (b"PAR1" + SECRET.encode() * 50, "damaged"),
        (b"PAR1", "damaged"),
        (b"PAR1" + bytes(2000) + b"PAR1", "damaged"),
        (f'a,b\n1,"{SECRET}\n2,3\n'.encode(), ""),
        (f'a,b\n1,"{SECRET}\n'.encode() + b"2,3\n" * 40_000, ""),
    ],
    ids=["program", "zip", "picture", "parquet head", "parquet magic", "parquet zeros", "open quote", "quote open for long"],
)
def test_not_a_table(refused, desk, content, says):
    path = desk / "thing.csv"
    path.write_bytes(content)
    refused("look", path, says=says or "thing.csv")
    refused("protect", path, "--quasi", "b", *MDAV, "-o", desk / "run", says=says or "thing.csv")


def test_parquet_cut_short(refused, desk):
    path = desk / "t.parquet"
    pq.write_table(pa.table({"age": list(range(5000)), "name": [f"{SECRET}{i}" for i in range(5000)]}), path)
    whole = path.read_bytes()
    for size in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        refused("look", path, says="damaged")
    path.write_bytes(whole[:50] + bytes(b ^ 255 for b in whole[50:3000]) + whole[3000:])
    refused("look", path, says="damaged")


def test_parquet_that_holds_what_no_table_can(refused, desk):
    path = desk / "t.parquet"
    pq.write_table(pa.table({"age": [1, 2], "tags": [[SECRET], [SECRET]]}), path)
    refused("look", path, says="Column 'tags' holds list")
    pq.write_table(pa.table({"age": [1, 2], "blob": [SECRET.encode()] * 2}), path)
    refused("look", path, says="Column 'blob' holds binary")
    pq.write_table(pa.Table.from_arrays([pa.array([1, 2]), pa.array([SECRET] * 2)], names=["age", "age"]), path)
    refused("look", path, says="'age' appears 2 times")
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), path)
    refused("look", path, says="no rows")


def test_no_such_file(refused, table, desk):
    refused("look", desk / "patient.csv", says="Did you mean 'patients.csv'?")
    refused("look", desk / "nowhere" / "patients.csv", says="There is no file")
    (desk / "empty").mkdir()
    refused("look", desk / "empty", says="holds no table")
    refused(*protect(desk / "gone.csv", desk / "run"), says="There is no file")
    refused("verify", desk / "gone.csv", desk / "gone.json", says="There is no file")
    refused("run", desk / "gone.toml", "-o", desk / "run", says="There is no file")
    refused("run", desk, "-o", desk / "run", says="is a folder")
    refused("measure", desk, says="not a run folder")
    refused("attack", desk / "gone", says="not a run folder")
    refused("report", table, says="not a run folder")
    refused("look", "a" * 5000, says="")
    refused("look", "", says="")


def test_a_file_nobody_may_read(refused, shoal, table, desk, monkeypatch):
    """Root may read everything, so the system is made to say no."""
    real = Path.open

    def no(self, *args, **words):
        if self.name in ("patients.csv", "roles.toml"):
            raise PermissionError(errno.EACCES, "Permission denied", str(self))
        return real(self, *args, **words)

    (desk / "roles.toml").write_text("")

    def denied(*words):
        with monkeypatch.context() as patch:
            patch.setattr(Path, "open", no)
            return shoal(*words)

    refused("look", table, says="patients.csv cannot be read: Permission denied", by=denied)
    refused("protect", table, "--roles", desk / "roles.toml", *MDAV, "-o", desk / "run", says="roles.toml", by=denied)


def test_a_pipe(refused, desk):
    """Opening one that nobody writes to would wait for ever; reading one twice would lose its beginning."""
    os.mkfifo(desk / "pipe")
    refused("look", desk / "pipe", says="not a plain file")
    refused("look", "/dev/null", says="not a plain file")


@pytest.mark.parametrize("suffix", ["zip", "xz"])
def test_a_packed_file(refused, table, desk, suffix):
    import lzma
    import zipfile

    path = desk / f"patients.csv.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(table, "patients.csv")
    else:
        path.write_bytes(lzma.compress(table.read_bytes()))
    refused("look", path, says="not text")


def test_a_folder_nobody_may_write(refused, table, desk, monkeypatch):
    def no(*_args, **_words):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(unfinished.tempfile, "mkdtemp", no)
    refused(*protect(table, desk / "run"), says="cannot be made: Permission denied")


# ---- odd files that are right ----------------------------------------------------------------------------------------------------------------


def values(folder, column, delimiter=","):
    return [row[column] for row in read_csv(folder / "release.csv", delimiter)]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_delimiters_and_line_ends(released, desk, delimiter, newline):
    path = desk / "t.csv"
    path.write_text(newline.join(delimiter.join(row) for row in patients()) + newline, newline="")
    folder = released("protect", path, *ROLES, *MDAV)
    assert sorted(values(folder, "zip", delimiter)) == sorted(row[2] for row in patients()[1:])


def test_old_mac_line_ends(shoal, desk):
    path = desk / "t.csv"
    path.write_text("\r".join(",".join(row) for row in patients()), newline="")
    ran = shoal("protect", path, *ROLES, *MDAV, "-o", desk / "run")
    assert ran.code in (0, 2)
    assert "Traceback" not in ran.err
    assert SECRET not in ran.err


def test_a_mark_at_the_start(released, desk):
    path = write_csv(desk / "t.csv", [row[1:] for row in patients()], encoding="utf-8-sig")
    folder = released("protect", path, "--quasi", "age,income", "--confidential", "diagnosis", "--other", "zip", *MDAV)
    assert read_csv(folder / "release.csv")[0].keys() == {"age", "zip", "income", "diagnosis"}


def test_quotes_with_newlines_and_delimiters(released, desk):
    rows = patients()
    for i, row in enumerate(rows[1:]):
        row[4] = ('say "ah"', "line one\nline two", "a,b;c|d\t", " blank ", "")[i % 5]
    folder = released("protect", write_csv(desk / "t.csv", rows), *ROLES, *MDAV)
    assert set(values(folder, "diagnosis")) == {'say "ah"', "line one\nline two", "a,b;c|d", "blank", ""}


def test_a_row_number_after_quoted_newlines_counts_records(refused, desk):
    rows = patients()
    rows[3][4] = "one\ntwo\nthree"
    rows[41][3] = SECRET
    refused(*protect(write_csv(desk / "t.csv", rows), desk / "run"), says="first at row 41")
    rows[20] = [SECRET]
    refused("look", write_csv(desk / "u.csv", rows), says="record 20")


def test_decimal_commas(released, desk):
    rows = [[cell.replace(".", ",") for cell in row] for row in patients()]
    path = write_csv(desk / "t.csv", rows, ";")
    folder = released("protect", path, *ROLES, *MDAV)
    incomes = values(folder, "income", ";")
    assert all("." not in income for income in incomes)
    expected = np.mean([float(row[3]) for row in patients()[1:]])
    assert np.mean([float(income.replace(",", ".")) for income in incomes]) == pytest.approx(expected)


def test_headers_with_blanks_unicode_and_nothing(released, desk):
    rows = patients()
    rows[0] = ["name", " age in years ", "", "Einkommen (€)", "diagnosis"]
    path = write_csv(desk / "t.csv", rows)
    roles = ("--quasi", "age in years,Einkommen (€)", "--identifier", "name", "--other", "unnamed_3,diagnosis")
    folder = released("protect", path, *roles, "-m", "mdav")
    assert list(read_csv(folder / "release.csv")[0]) == ["age in years", "unnamed_3", "Einkommen (€)", "diagnosis"]


def test_a_header_with_a_comma_can_be_named_in_a_roles_file(released, desk):
    rows = patients()
    rows[0][1] = "age, in years"
    roles = desk / "roles.toml"
    roles.write_text('quasi = ["age, in years", "income"]\nidentifier = ["name"]\n')
    path = write_csv(desk / "t.csv", rows)
    folder = released("protect", path, "--roles", roles, *MDAV)
    assert "age, in years" in read_csv(folder / "release.csv")[0]
    again = desk / "again"
    released("run", folder / "recipe.toml", out=again)


def test_columns_named_like_parameters_and_files(released, desk):
    names = ["k", "columns", "seed", "method", "roles", "source_row"]
    rows = [names, *[[str(i * 7 % 31), str(i % 9), str(i % 4), "x", "y", str(i % 3)] for i in range(40)]]
    folder = released("protect", write_csv(desk / "t.csv", rows), "--quasi", "k,columns,seed", "--other", "method,roles,source_row", *MDAV)
    assert list(read_csv(folder / "release.csv")[0]) == names
    released("run", folder / "recipe.toml", out=desk / "again")


def test_columns_named_like_markup(released, shoal, desk):
    names = ["<b>age</b>", "[red]x[/red]", "a&b", "{0}", "%s"]
    rows = [names, *[[str(i * 7 % 31), str(i % 9), str(i % 4), "p", "q"] for i in range(40)]]
    roles = desk / "roles.toml"
    roles.write_text('quasi = ["<b>age</b>", "[red]x[/red]", "a&b"]\n')
    path = write_csv(desk / "t.csv", rows)
    assert "[red]x[/red]" in shoal("look", path).out
    folder = released("protect", path, "--roles", roles, *MDAV)
    assert "<b>age</b>" not in (folder / "report.html").read_text(encoding="utf-8")


def test_duplicate_rows(released, desk):
    rows = [["age", "zip"], *[["40", "08001"]] * 30]
    folder = released("protect", write_csv(desk / "t.csv", rows), "--quasi", "age,zip", *MDAV)
    assert {(float(row["age"]), row["zip"]) for row in read_csv(folder / "release.csv")} == {(40.0, "08001")}


@pytest.mark.parametrize("missing", [False, True])
def test_one_column(released, desk, missing):
    rows = [["age"], *[["" if missing and i % 4 == 0 else str(i)] for i in range(40)]]
    path = desk / "t.csv"
    path.write_text("\n".join(row[0] for row in rows) + "\n")
    if missing:
        path.write_text("\n".join(row[0] or '""' for row in rows) + "\n")
    folder = released("protect", path, "--quasi", "age", *MDAV)
    assert len(read_table(folder / "release.csv")) == 40


def test_two_hundred_columns(released, desk):
    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(200)]
    rows = [names, *rng.integers(0, 99, (50, 200)).astype(str).tolist()]
    folder = released("protect", write_csv(desk / "wide.csv", rows), "--quasi", ",".join(names), *MDAV)
    assert len(read_csv(folder / "release.csv")[0]) == 200


def test_negative_zero_is_zero(released, desk):
    rows = [["x", "y"], *[["-0.0" if i % 2 else "0.0", str(i % 3)] for i in range(30)]]
    folder = released("protect", write_csv(desk / "t.csv", rows), "--quasi", "x", "--other", "y", *MDAV)
    assert len(set(values(folder, "x"))) == 1


def test_huge_whole_numbers_stay_exact(released, desk):
    """Above 2^53 a float cannot tell neighbours apart; a column that is not protected must come out to the digit."""
    account = [str(2**53 + i) for i in range(40)]
    long = [f"9{i:021d}" for i in range(40)]
    rows = [["age", "account", "long"], *[[str(i % 17), account[i], long[i]] for i in range(40)]]
    folder = released("protect", write_csv(desk / "t.csv", rows), "--quasi", "age", "--other", "account,long", *MDAV)
    assert sorted(values(folder, "account")) == sorted(account)
    assert sorted(values(folder, "long")) == sorted(long)


def test_huge_whole_numbers_as_quasi_identifiers(released, desk):
    rows = [["big"], *[[str(2**53 + i)] for i in range(40)]]
    released("protect", write_csv(desk / "t.csv", rows), "--quasi", "big", *MDAV)
    released("protect", write_csv(desk / "u.csv", rows), "--quasi", "big", "-m", "rank-swapping", out=desk / "swapped")
    assert sorted(values(desk / "swapped", "big")) == sorted(row[0] for row in rows[1:])


def test_very_large_and_very_small_numbers(released, desk):
    rows = [["x", "y", "z"], *[[f"{i + 1}e15", f"{i + 1}e-70", f"{10**15 + i}"] for i in range(40)]]
    for method in ("mdav", "noise", "rank-swapping", "pca-projection"):
        released("protect", write_csv(desk / f"{method}.csv", rows), "--quasi", "x,y,z", "-m", method, out=desk / method)


def test_numbers_of_any_size_have_a_report(released, desk):
    rows = [["x"], *[[f"{i + 1}e70"] for i in range(40)]]
    released("protect", write_csv(desk / "large.csv", rows), "--quasi", "x", *MDAV)


@pytest.mark.parametrize(("size", "says"), [("e300", "larger than 1e+75"), ("e-300", "all smaller than 1e-75")])
def test_numbers_nothing_can_be_computed_with(refused, desk, size, says):
    path = write_csv(desk / "far.csv", [["x"], *[[f"{i + 1}{size}"] for i in range(40)]])
    refused("protect", path, "--quasi", "x", *MDAV, "-o", desk / "run", says=says)


def test_dates(released, desk):
    days = [f"19{50 + i % 40}-0{1 + i % 9}-1{i % 10}" for i in range(60)]
    times = [f"2020-01-{1 + i % 28:02d} 1{i % 10}:30:00" for i in range(60)]
    rows = [["born", "seen", "age"], *[[days[i], times[i], str(i % 31)] for i in range(60)]]
    path = write_csv(desk / "t.csv", rows)
    folder = released("protect", path, "--quasi", "born,seen", *MDAV)
    back = read_table(folder / "release.csv")
    assert back.kind("born") == back.kind("seen") == "date"
    released("protect", path, "--quasi", "born,seen", "-m", "noise", out=desk / "noisy")


def test_dates_that_are_none(released, desk):
    rows = [["born", "age"], *[[f"2021-02-3{i % 2}", str(i % 31)] for i in range(60)]]
    folder = released("protect", write_csv(desk / "t.csv", rows), "--quasi", "born", "--kind", "born=text", *MDAV)
    assert set(values(folder, "born")) <= {"2021-02-30", "2021-02-31"}


def test_codes_with_leading_zeros_keep_them(released, desk):
    folder = released(
        "protect", write_csv(desk / "t.csv", patients()), "--quasi", "zip", "--identifier", "name", "--other", "age", "-m", "mdav"
    )
    assert all(value.startswith("080") and len(value) == 5 for value in values(folder, "zip"))
    measured = json.loads((folder / "certificate.json").read_text())
    assert measured["promises"][0]["holds"]


@pytest.mark.parametrize("token", ["NA", "?", "NULL", "n/a", "#N/A", "", ".", "-", "None"])
def test_missing_tokens_among_numbers(released, desk, token):
    rows = patients()
    for row in rows[1::6]:
        row[3] = token
    folder = released("protect", write_csv(desk / "t.csv", rows), *ROLES, "-m", "noise")
    assert values(folder, "income").count(token) == 10


def test_a_missing_token_of_ones_own(released, shoal, desk):
    rows = patients()
    for row in rows[1::6]:
        row[3] = "-99"
    path = write_csv(desk / "t.csv", rows)
    seen = json.loads(shoal("look", path, "--missing", "-99", "--json").out)
    assert next(c for c in seen["columns"] if c["column"] == "income")["missing"] == 10
    folder = released("protect", path, *ROLES, "--missing", "-99", "-m", "noise")
    assert values(folder, "income").count("-99") == 10
    again = released("run", folder / "recipe.toml", out=desk / "again")
    assert values(again, "income").count("-99") == 10


def test_a_missing_token_that_only_one_column_uses(released, desk):
    """NA means missing in one column and '?' in another: both are missing, written the same way, and neither becomes a value."""
    rows = patients()
    for row in rows[1::6]:
        row[3], row[4] = "NA", "?"
    folder = released("protect", write_csv(desk / "t.csv", rows), *ROLES, "-m", "noise")
    back = read_table(folder / "release.csv")
    assert back.missing("income").sum() == back.missing("diagnosis").sum() == 10


@pytest.mark.parametrize(
    "name", ["my patients.csv", "-p.csv", "--json", "päti.csv", "a'b\".csv", "patients", "x.tsv", "#1?.csv", "new\nline.csv"]
)
def test_strange_file_names(released, shoal, desk, monkeypatch, name):
    monkeypatch.chdir(desk)
    write_csv(desk / name, patients())
    folder = released(*ROLES_FIRST, "--", name) if name.startswith("-") else released("protect", name, *ROLES, *MDAV)
    assert not name[:-4] or name not in (folder / "report.html").read_text(encoding="utf-8")
    again = released("run", folder / "recipe.toml", out=desk / "again")
    check_folder(again)


ROLES_FIRST = ("protect", *ROLES, *MDAV)


def test_an_output_named_strangely(shoal, table, desk, monkeypatch):
    monkeypatch.chdir(desk)
    for out in ("a b", "./c/d/e", "ünï"):
        assert shoal(*protect(table, out)).code == 0
        assert shoal("verify", f"{out}/release.csv", f"{out}/certificate.json").code == 0


def test_empty_words(refused, table, desk):
    refused("protect", table, "--quasi", "", *MDAV, "-o", desk / "run", says="")
    refused("protect", table, "--quasi", ",,", "--identifier", "name", *MDAV, "-o", desk / "run", says="no quasi-identifier")
    refused("protect", table, *ROLES, "-m", "", "-o", desk / "run", says="no method named ''")
    refused("look", table, "--delimiter", "ab", says="delimiter")
    refused("look", table, "--delimiter", "", says="delimiter")
    refused("look", table, "--delimiter", "é", says="delimiter")


def test_usage_mistakes_are_one_sentence_too(refused, table, desk):
    refused("protect", table, "-o", desk / "run", says="--method")
    refused("protect", table, *MDAV, says="--out")
    refused("look", says="table")
    refused("look", table, "--nonsense", says="--nonsense")
    refused("look", table, "extra", says="extra")
    refused(*protect(table, desk / "run", "--seed", "-1"), says="seed")
    refused(*protect(table, desk / "run", "--seed", "x"), says="seed")
    refused("example", desk / "p.csv", "--rows", "0", says="rows")
    refused("example", desk / "p.csv", "--table", "visit", says="Did you mean 'visits'?")


def test_no_roles_at_all(refused, table, desk):
    refused("protect", table, *MDAV, "-o", desk / "run", says="there is no quasi-identifier. Name some: shoal look suggests")


def test_nothing_to_protect(refused, table, desk):
    refused("protect", table, "--identifier", "name", *MDAV, "-o", desk / "run", says="no quasi-identifier")


def test_a_method_that_cannot_take_a_column(refused, table, desk):
    refused(
        "protect",
        table,
        "--quasi",
        "age,diagnosis",
        "--identifier",
        "name",
        "-m",
        "noise",
        "-o",
        desk / "run",
        says="'diagnosis' is nominal",
    )
    refused(*protect(table, desk / "run", "-p", "columns=name"), says="identifier")


# ---- hierarchies -----------------------------------------------------------------------------------------------------------------------------

MONDRIAN = ("-m", "mondrian", "-p", "k=5")
TREE = ["asthma;lungs;*", "flu;lungs;*", "migraine;head;*", "gout;joints;*"]
SICK = ("--quasi", "age,diagnosis", "--identifier", "name", "--other", "zip,income")


def tree_file(path, lines=TREE):
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_hierarchy_by_option_and_by_roles_file(released, shoal, table, desk):
    tree_file(desk / "sick.csv")
    roles = desk / "roles.toml"
    roles.write_text(
        'quasi = ["age", "diagnosis"]\nidentifier = ["name"]\nother = ["zip", "income"]\n[hierarchies]\ndiagnosis = "sick.csv"\n'
    )
    words = (("--hierarchy", f"diagnosis={desk / 'sick.csv'}", *SICK), ("--roles", roles))
    folders = [released("protect", table, *more, *MONDRIAN, "--seed", "1", out=desk / f"run{i}") for i, more in enumerate(words)]
    assert (folders[0] / "release.csv").read_bytes() == (folders[1] / "release.csv").read_bytes()
    assert "lungs" in set(values(folders[0], "diagnosis")) <= {"lungs", "asthma", "flu", "migraine", "*"}
    (desk / "sick.csv").unlink()  # the recipe holds the tree, so the run can be read and repeated without the file
    again = released("run", folders[1] / "recipe.toml", "--seed", "1", out=desk / "again")
    assert (again / "release.csv").read_bytes() == (folders[0] / "release.csv").read_bytes()
    assert "sick.csv" not in (again / "recipe.toml").read_text() + (again / "certificate.json").read_text()
    assert json.loads((again / "certificate.json").read_text())["roles"]["hierarchies"] == ["diagnosis"]
    for words in (("measure", again), ("report", again), ("attack", again)):
        ran = shoal(*words)
        assert ran.code == 0, ran.err


def test_a_run_with_a_hierarchy_is_measured_by_learning(released, shoal, desk):
    rows = [[*row, "target" if not i else ("yes", "no")[int(row[1]) > 40]] for i, row in enumerate(patients())]
    path, tree = write_csv(desk / "t.csv", rows), tree_file(desk / "sick.csv")
    folder = released("protect", path, *SICK, "--target", "target", "--hierarchy", f"diagnosis={tree}", *MONDRIAN)
    ran = shoal("measure", folder, "--target", "target", "--learner", "decision-tree")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (TREE[1:], "Column 'diagnosis' has 1 value outside its hierarchy of 3 values, in 20 rows (first at row 2)"),
        ([*TREE, "cold;*"], "Row 5 of the hierarchy has 2 cells, the first has 3"),
        ([*TREE, "flu;head;*"], "Row 5 of the hierarchy is for a value that row 2 has, too"),
        ([*TREE, "cold;lungs;else"], "Row 5 of the hierarchy puts a group of level 1 into another group"),
        ([*TREE, "cold;*;lungs"], "puts a group inside itself"),
        ([";*"], "at least one row"),
        ([""], "is empty"),
        (['"' + TREE[0]], "outside its hierarchy"),
    ],
)
def test_a_wrong_hierarchy(refused, table, desk, lines, says):
    tree = tree_file(desk / "sick.csv", lines)
    refused("protect", table, *SICK, "--hierarchy", f"diagnosis={tree}", *MONDRIAN, "-o", desk / "run", says=says)


def test_a_hierarchy_that_is_no_file_or_for_no_column(refused, table, desk):
    tree = tree_file(desk / "sick.csv")
    words = ("protect", table, *SICK, *MONDRIAN, "-o", desk / "run", "--hierarchy")
    refused(*words, "diagnosis", says="written column=file")
    refused(*words, f"={tree}", says="written column=file")
    refused(*words, f"diagnosis={desk / 'sikc.csv'}", says="Did you mean 'sick.csv'?")
    refused(*words, f"diagnosis={desk}", says="is a folder")
    refused(*words, f"diagnoses={tree}", says="Did you mean 'diagnosis'?")
    (desk / "bytes.csv").write_bytes(b"\x00\x01" + SECRET.encode())
    refused(*words, f"diagnosis={desk / 'bytes.csv'}", says="not text")
    roles = desk / "roles.toml"
    for text, says in (
        ("hierarchies = 3", "must be a table of files"),
        ("[hierarchies]\ndiagnosis = 3", "name of a CSV file"),
        ("[hierarchies]\ndiagnosis = [3]", "name of a CSV file"),
        ("[hierarchies]\ndiagnosis = ['a\\nb;c']", "outside its hierarchy"),
        ('[hierarchies]\ndiagnosis = ["a\\nb;c"]', "line break"),
        ("[hierarchies]\ndiagnosis = 'none.csv'", "There is no file"),
    ):
        roles.write_text(text)
        refused("protect", table, "--roles", roles, *SICK, *MONDRIAN, "-o", desk / "run", says=says)


def test_unique_texts_are_refused_unless_a_hierarchy_says_how_to_group_them(refused, released, desk):
    """A set of names would list who is in the table."""
    path = write_csv(desk / "t.csv", [[*row, f"c{i:02}" if i else "code"] for i, row in enumerate(patients())])
    words = ("protect", path, "--quasi", "age,code", "--identifier", "name", "--confidential", "diagnosis", *MONDRIAN)
    says = "Column 'code' has 60 distinct values in 60 rows: released, alone or in sets, they would list who is in the table. Give it the role identifier"
    refused(*words, "-o", desk / "run", says=says)
    tree = tree_file(desk / "codes.csv", [f"c{i:02};{i % 2};*" for i in range(100)])
    folder = released(*words, "--hierarchy", f"code={tree}")
    assert set(values(folder, "code")) <= {"*", "0", "1"}  # the groups, by their names


# ---- roles files and recipes -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("quasi = [", "not valid TOML"),
        ("quasi: age", "not valid TOML"),
        ("quasi = 3", "list of column names"),
        ("quasi = [3]", "list of column names"),
        ("quasy = ['age']", "Did you mean 'quasi'?"),
        ("quasi = ['agee']", "Did you mean 'age'?"),
        ("ordinal = ['age']", "ordinal must be a table"),
        ("quasi = ['diagnosis']\nidentifier = ['name']\n[ordinal]\ndiagnosis = ['flu', 'asthma']", "outside its 2 levels"),
        ("quasi = ['diagnosis']\nidentifier = ['name']\n[ordinal]\ndiagnosis = ['flu', 'asthma', 'flu', 'migraine']", "twice"),
        ("quasi = ['diagnosis']\nidentifier = ['name']\n[ordinal]\ndiagnosis = 'flu'", "levels"),
        ("quasi = ['diagnosis']\nidentifier = ['name']\n[ordinal]\ndiagnosis = 3", "levels"),
        ("quasi = ['diagnosis']\nidentifier = ['name']\n[ordinal]\nnowhere = ['flu']", "no such column"),
        ("roles = 3", ""),
        ("roles = ['age']", ""),
        ("", "there is no quasi-identifier"),
        ("[roles]\nquasi = ['agee']", "Did you mean 'age'?"),
    ],
)
def test_a_wrong_roles_file(refused, table, desk, text, says):
    path = desk / "roles.toml"
    path.write_text(text)
    refused("protect", table, "--roles", path, *MDAV, "-o", desk / "run", says=says)


def test_a_roles_file_that_is_no_text(refused, table, desk):
    path = desk / "roles.toml"
    path.write_bytes(b"\xff\xfe\x00" + SECRET.encode())
    refused("protect", table, "--roles", path, *MDAV, "-o", desk / "run", says="not UTF-8")
    refused("protect", table, "--roles", desk / "none.toml", *MDAV, "-o", desk / "run", says="There is no file")
    refused("protect", table, "--roles", desk, *MDAV, "-o", desk / "run", says="is a folder")
    refused("protect", table, "--roles", table, *MDAV, "-o", desk / "run", says="not valid TOML")


GOOD = 'input = "patients.csv"\n[roles]\nquasi = ["age", "income"]\nidentifier = ["name"]\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("input = ", "not valid TOML"),
        ('inptu = "patients.csv"', "Did you mean 'input'?"),
        ("", "needs its input"),
        ("input = 3", "needs its input"),
        (GOOD, "at least one step"),
        (GOOD + '[step]\nmethod = "mdav"', "[[step]]"),
        ("step = 3\n" + GOOD, "[[step]]"),
        ("step = ['mdav']\n" + GOOD, "[[step]]"),
        (GOOD + "[[step]]\nk = 3", "does not say its method"),
        (GOOD + "[[step]]\nmethod = 3", "does not say its method"),
        (GOOD + '[[step]]\nmethod = "mdva"', "Did you mean 'mdav'?"),
        (GOOD + '[[step]]\nmethod = "mdav"\nkk = 3', "Did you mean 'k'?"),
        (GOOD + '[[step]]\nmethod = "mdav"\nk = 1', "k must be 2 or more"),
        (GOOD + '[[step]]\nmethod = "mdav"\nk = "many"', "whole number"),
        (GOOD + '[[step]]\nmethod = "mdav"\nk = [3]', "k"),
        (GOOD + '[[step]]\nmethod = "mdav"\nk = 1979-05-27', "k"),
        (GOOD + '[[step]]\nmethod = "mdav"\ncolumns = 3', "columns"),
        (GOOD + '[[step]]\nmethod = "mdav"\ncolumns = []', "nothing to protect"),
        (GOOD + '[[step]]\nmethod = "mdav"\ncolumns = ["agee"]', "Did you mean 'age'?"),
        (GOOD + '[[step]]\nmethod = "mdav"\ncolumns = ["age", "age"]', "twice"),
        (GOOD + '[[step]]\nmethod = "noise"\ncolumns = ["diagnosis"]', "nominal"),
        (GOOD + '[[step]]\nmethod = "mdav"\n[[measure]]\nname = "k-anonimity"', "Did you mean 'k-anonymity'?"),
        (GOOD + '[[step]]\nmethod = "mdav"\n[[attack]]\nname = "linkage"', "no attack named 'linkage'"),
        (GOOD + '[[step]]\nmethod = "mdav"\n[[attack]]\nwidest = 3', "does not say its name"),
        (GOOD.replace("patients", "patient") + '[[step]]\nmethod = "mdav"', "Did you mean 'patients.csv'?"),
        (GOOD.replace("age", "agee") + '[[step]]\nmethod = "mdav"', "Did you mean 'age'?"),
        ("encoding = 3\n" + GOOD + '[[step]]\nmethod = "mdav"', "encoding"),
        ("delimiter = 3\n" + GOOD + '[[step]]\nmethod = "mdav"', "delimiter"),
        ("missing = 3\n" + GOOD + '[[step]]\nmethod = "mdav"', "missing"),
        ("missing = [3]\n" + GOOD + '[[step]]\nmethod = "mdav"', "missing"),
        ('roles = "age"\ninput = "patients.csv"\n[[step]]\nmethod = "mdav"', "roles"),
        ('input = "patients.csv"\n[roles]\nquasi = "age"\nidentifer = "name"\n[[step]]\nmethod = "mdav"', "Did you mean 'identifier'?"),
        ('input = ""\n[[step]]\nmethod = "mdav"', "folder"),
    ],
)
def test_a_wrong_recipe(refused, table, desk, text, says):
    path = desk / "recipe.toml"
    path.write_text(text)
    refused("run", path, "-o", desk / "run", says=says)


def test_measuring_what_does_not_belong_together(refused, released, table, desk):
    folder = released("protect", table, *ROLES, *MDAV)
    one, other = table, folder / "release.csv"
    refused("measure", says="Name a run folder")
    refused("measure", "--original", one, says="Name a run folder")
    refused("measure", folder, "--original", one, says="not both")
    refused("measure", "--original", one, "--release", other, "--quasi", "agee", "--identifier", "name", says="")
    refused("attack", "--original", one, "--release", other, "--key", "name", "--quasi", "age", says="no column 'name'")
    refused("attack", folder, "--columns", "agee", says="Did you mean 'age'?")
    refused("attack", folder, "--columns", "name", says="the release has no such column")
    refused("attack", folder, "--records", "0", says="at least one record")
    refused("attack", folder, "--records", "-3", says="at least one record")
    refused("attack", folder, "--records", "0.001", says="at least one record")
    refused("attack", folder, "-p", "widest=3", says="--attack")
    refused("attack", folder, "--attack", "interval-disclosure", "-p", "widest=0", says="widest must be 1 or more")
    short = write_csv(desk / "short.csv", patients(59))
    refused("measure", "--original", one, "--release", short, "--quasi", "age", says="not aligned")


def test_a_run_folder_that_was_tampered_with(refused, released, table, desk):
    folder = released("protect", table, *ROLES, *MDAV)
    rows = folder / "private" / "source_rows.npy"
    whole = rows.read_bytes()
    for damage in (b"", whole[:40], b"PK\x03\x04" + whole, b"\x93NUMPY"):
        rows.write_bytes(damage)
        refused("measure", folder, says="")
    np.save(rows, np.arange(60) + 1000)
    refused("measure", folder, says="")
    refused("attack", folder, says="")
    np.save(rows, np.arange(5))
    refused("attack", folder, says="rows")
    rows.write_bytes(whole)
    release = (folder / "release.csv").read_text()
    (folder / "release.csv").write_text(release.rsplit("\n", 2)[0] + "\n")
    refused("report", folder, says="no longer has the 60 rows")
    (folder / "release.csv").write_text(release)
    table.write_text(table.read_text().replace("flu", "Flu"))
    refused("measure", folder, says="has changed since")
    table.unlink()
    refused("attack", folder, says="no longer there")


def test_a_wrong_certificate(refused, released, table, desk):
    folder = released("protect", table, *ROLES, *MDAV)
    wrong = desk / "wrong.json"
    said = json.loads((folder / "certificate.json").read_text())
    for text in ("", "{", "[]", "3", "{}", '{"release": 3}', json.dumps({**said, "promises": 3}), json.dumps({**said, "promises": [3]})):
        wrong.write_text(text)
        refused("verify", folder / "release.csv", wrong, says="")
    promise = [{**said["promises"][0], "what": "magic"}]
    wrong.write_text(json.dumps({**said, "promises": promise}))
    refused("verify", folder / "release.csv", wrong, says="There is no promise named 'magic'")
    refused("verify", desk / "nowhere", folder / "certificate.json", says="no file")
    refused("verify", folder / "release.csv", folder, says="")
    (desk / "bin.csv").write_bytes(b"\xff\x00\xfe" * 100)
    ran_code = shoal_code(desk / "bin.csv", folder / "certificate.json")
    assert ran_code in (1, 2)


def shoal_code(*words) -> int:
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run([sys.executable, "-m", "shoal", "verify", *map(str, words)], capture_output=True, text=True, env=env, timeout=60)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def test_a_mistake_in_a_process_of_its_own(refused, process, table, desk):
    """The same as above without sharing this process."""
    refused("look", desk / "patient.csv", says="Did you mean 'patients.csv'?", by=process)
    refused(*protect(table, desk / "run", "-p", "k=1"), says="k must be 2 or more, got '1'", by=process)


def test_out_of_memory(refused, table, desk, monkeypatch):
    def greedy(*_args, **_words):
        raise MemoryError

    monkeypatch.setattr(Noise, "protect", greedy)
    refused(*protect(table, desk / "run", method=("-m", "noise")), says="out of memory")


def test_a_method_that_breaks_leaves_nothing(shoal, table, desk, monkeypatch):
    """A programming error is a sentence with a code, and nothing is half-written."""

    def breaks(*_args, **_words):
        raise RuntimeError("a bug")

    monkeypatch.setattr(run_module, "measure_all", breaks)
    before = listing(desk)
    ran = shoal(*protect(table, desk / "run"))
    assert_refused(ran, "RuntimeError in", 3)
    assert listing(desk) == before


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(alphabet='a1,;"\n\r\t.é -', max_size=80).map(str.encode))
def test_any_bytes_are_a_table_or_a_sentence(bench, content):
    path = bench / "any.csv"
    path.write_bytes(content)
    try:
        table = read_table(path)
    except ShoalError:
        return
    assert len(table) >= 1
    assert table.columns


def test_a_mistake_is_told_before_anything_slow_starts(refused, desk):
    """Parameters are looked at before the table is: here there is none."""
    refused(*protect(desk / "nowhere.csv", desk / "run", "-p", "k=1"), says="k must be")


@pytest.mark.parametrize("encoding", ["punycode", "undefined", "idna", "unicode_escape", "utf-7", "\udcff", "a\0b"])
def test_encodings_that_fail_as_they_like(refused, desk, encoding):
    path = desk / "odd.csv"
    path.write_bytes(b"a,b\n1,\\ud800+2AA-\xff\n")
    refused("look", path, "--encoding", encoding, says="encoding")


def test_an_intruder_who_knows_no_number_of_records(refused, released, table, desk):
    released(*protect(table, desk / "run")[:-2])
    for records in ("nan", "inf", "-inf", "0"):
        refused("attack", desk / "run", "--records", records, says="must know")


@pytest.mark.parametrize("form", ["%Y%Y", "%d%d%m%Y", "%"])
def test_a_form_of_dates_that_names_a_part_twice(refused, table, form):
    refused("look", table, "--kind", f"age=date:{form}", says="day, month and year")


def test_a_code_of_thousands_of_digits_is_a_code(released, table):
    released("protect", table, *ROLES, "--missing-code", f"age={'9' * 5000},--5", "-m", "mdav", "-p", "k=3")


@pytest.mark.parametrize("word", [("--name", "\udcff"), ("--missing", "\udcff")])
def test_words_that_are_no_text_are_refused_at_once(refused, table, desk, word):
    refused(*protect(table, desk / "run", *word), says="UTF-8")


def test_links_that_lead_nowhere(refused, desk):
    for name, leads in (("loop.csv", "loop.csv"), ("dead.csv", "gone.csv")):
        (desk / name).symlink_to(leads)
        for words in (("look", desk / name), protect(desk / name, desk / "run")):
            assert "Did you mean" not in refused(*words, says="There is no file")


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_key_without_a_name(refused, desk, monkeypatch, name):
    monkeypatch.chdir(desk)
    refused("key", name, says="Name the file")


def test_more_example_rows_than_any_machine_holds(refused, desk):
    refused("example", desk / "q.csv", "--rows", "9" * 20, says="--rows")
