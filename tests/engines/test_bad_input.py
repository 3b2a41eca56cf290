"""Bad input where rows are elsewhere, and what it gets: one sentence with the way out, exit code 2, nothing left behind."""

import gzip
import os
import socket
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from shoal.engines.choice import Choice, bytes_of
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.memory import MemoryEngine
from shoal.engines.spark import _refuse_silent
from shoal.engines.staging import opened
from shoal.errors import ShoalError, TooManyCombinations
from tests.cli.conftest import SECRET, SOURCE, assert_refused, desk, listing, shoal  # noqa: F401 - fixtures

ROLES = ("--quasi", "age,sex", "--confidential", "illness")
MONDRIAN = ("-m", "mondrian", "-p", "k=5")
HERE = ("duckdb", "memory")


def rows(many=200, **more):
    rng = np.random.default_rng(0)
    plain = {"age": rng.integers(20, 60, many), "sex": rng.choice(["f", "m"], many), "illness": rng.choice([SECRET, "flu"], many)}
    return pa.table({**plain, **more})


def parts(folder, *tables):
    folder.mkdir()
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"rows-{number}.parquet")
    return folder


@pytest.fixture
def refused(shoal, desk):  # noqa: F811
    """One sentence, and the folder is as it was."""

    def run(given, says, *more, engine="duckdb", method=MONDRIAN, roles=ROLES):
        before = listing(desk)
        files = given if isinstance(given, list) else [given]
        ran = shoal("protect", *files, *roles, *method, "--engine", engine, "-o", desk / "run", *more)
        assert_refused(ran, says)
        assert listing(desk) == before

    return run


# ---- files -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", HERE)
def test_parts_that_do_not_fit_together(refused, desk, engine):  # noqa: F811
    other = rows().set_column(0, "age", pa.array(np.arange(200) / 7))
    for name, table, says in (
        ("more", rows(extra=np.arange(200)), "(file 2 of 2) has other columns than the first: it has 'extra' besides"),
        ("fewer", rows().drop_columns(["sex"]), "it lacks 'sex'"),
        ("order", rows().select(["sex", "age", "illness"]), "another order"),
        ("types", other, "(file 2 of 2), and int64 in the first"),
    ):
        refused(parts(desk / name, rows(), table), says, engine=engine)


@pytest.mark.parametrize("engine", HERE)
def test_what_is_no_table_or_one_twice(refused, desk, engine):  # noqa: F811
    (desk / "nothing").mkdir()
    (desk / "nothing" / "readme.md").write_text("Here is nothing.")
    refused(desk / "nothing", "holds no table", engine=engine)
    folder = parts(desk / "good", rows())
    file = folder / "rows-0.parquet"
    refused([file, file], "named twice", engine=engine)
    refused([folder, file], "named twice", engine=engine)
    os.link(file, desk / "other.parquet")
    refused([file, desk / "other.parquet"], "named twice", engine=engine)
    (desk / "link.parquet").symlink_to(file)
    refused([file, desk / "link.parquet"], "named twice", engine=engine)
    pacsv.write_csv(rows(), desk / "rows.csv")
    refused([file, desk / "rows.csv"], "files of one kind", engine=engine)
    refused([desk / "rows.csv", file], "files of one kind", engine=engine)
    refused([desk / "gone.parquet"], "There is no file", engine=engine)
    os.mkfifo(desk / "pipe")
    refused([desk / "pipe"], "not a plain file", engine=engine)


@pytest.mark.parametrize("engine", HERE)
def test_csv_that_is_no_table(refused, desk, engine):  # noqa: F811
    pacsv.write_csv(rows(), desk / "rows.csv")
    lines = (desk / "rows.csv").read_text().splitlines()
    for name, line, says in (
        ("short", SECRET, "has 1 cells where the header has 3"),
        ("long", f"1,2,3,{SECRET}", "has 4 cells where the header has 3"),
        ("open", f'1,f,"{SECRET}', "a quote is left open"),
    ):
        (desk / f"{name}.csv").write_text("\n".join([*lines[:100], line, *lines[101:]]) + "\n")
        refused(desk / f"{name}.csv", says, engine=engine)
        (desk / f"{name}.csv.gz").write_bytes(gzip.compress((desk / f"{name}.csv").read_bytes()))
        refused(desk / f"{name}.csv.gz", says, engine=engine)
    (desk / "empty.csv").write_bytes(b"")
    refused(desk / "empty.csv", "is empty", engine=engine)
    (desk / "header.csv").write_text("age,sex,illness\n")
    refused(desk / "header.csv", "no rows", engine=engine)


@pytest.mark.parametrize("engine", HERE)
def test_compressed_files_that_are_damaged(refused, desk, engine):  # noqa: F811
    rng = np.random.default_rng(0)
    pacsv.write_csv(rows(150_000, noise=rng.random(150_000)), desk / "rows.csv")
    whole = gzip.compress((desk / "rows.csv").read_bytes(), 1)
    (desk / "rows.csv").unlink()
    turned = bytearray(whole)
    turned[-6] ^= 1  # of the sum at its end
    for number, raw in enumerate((whole[: len(whole) // 2], whole[:1000], whole[:-4], whole[:2], bytes(turned), whole + b"more")):
        path = desk / f"damaged-{number}.csv.gz"
        path.write_bytes(raw)
        refused(path, "damaged", engine=engine)
        path.unlink()


@pytest.mark.parametrize("engine", [*HERE, "automatic"])
def test_parts_that_are_damaged_or_empty(refused, desk, engine):  # noqa: F811
    folder = parts(desk / "parts", rows(), rows(50_000))
    path = folder / "rows-1.parquet"
    whole = path.read_bytes()
    torn = whole[:4] + bytes(200) + whole[204:]
    for raw, says in ((torn, "damaged"), (whole[:-40], "damaged"), (b"PAR1", "damaged"), (b"", "is empty"), (b"words\n", "of one kind")):
        path.write_bytes(raw)
        refused(folder, says, engine=engine)
    refused(parts(desk / "none", rows(0), rows(0)), "no rows", engine=engine)


@pytest.mark.parametrize("engine", HERE)
def test_names_that_cannot_be(refused, desk, engine):  # noqa: F811
    twice = pa.Table.from_arrays([pa.array([1] * 20)] * 2, names=["age", "age"])
    refused(parts(desk / "twice", twice), "'age' appears 2 times", engine=engine)
    refused(parts(desk / "nothing", pa.table({})), "no columns", engine=engine)
    for name in ("\x00order", "\x00row", "\x00group", "\x00rows"):
        folder = parts(desk / f"odd-{name[1:]}", rows(**{name: np.arange(200)}))
        refused(folder, "begins with a zero byte", engine=engine)


@pytest.mark.skipif(os.geteuid() == 0, reason="who may read everything is refused nothing")
@pytest.mark.parametrize("engine", HERE)
def test_what_may_not_be_read(refused, desk, engine):  # noqa: F811
    path = parts(desk / "parts", rows(), rows()) / "rows-1.parquet"
    path.chmod(0)
    refused(path.parent, "cannot be read: Permission denied", engine=engine)


def test_parts_without_rows_beside_others(shoal, desk):  # noqa: F811
    folder = parts(desk / "parts", rows(0), rows(), rows(0))
    ran = shoal("protect", folder, *ROLES, *MONDRIAN, "--engine", "duckdb", "-o", desk / "run")
    assert ran.code == 0, ran.err
    assert pq.read_table(desk / "run" / "release").num_rows == 200


# ---- words -----------------------------------------------------------------------------------------------------------------


def test_engines_memory_and_masters_that_are_none(refused, desk):  # noqa: F811
    folder = parts(desk / "parts", rows())
    refused(folder, "There is no engine 'nosuch'. Known: automatic, memory, duckdb, spark.", engine="nosuch")
    refused(folder, "Did you mean 'duckdb'?", engine="DukDB")
    refused(folder, "There is no engine ''", engine="")
    for words in ("abc", "", "0", "-1GB", "1e9", "2XB", "nan", "9" * 400 + "GB"):
        refused(folder, "Memory is a number with a unit, such as 2GB", "--memory", words)
    refused(folder, "Give 256 MB or more", "--memory", "1MB")
    refused(folder, "Use --engine spark, or leave --master out", "--master", "spark://127.0.0.1:7077")


@pytest.mark.parametrize(
    ("words", "size"), [("2GB", 2 << 30), ("2 gib", 2 << 30), ("1.5G", 3 << 29), ("512m", 512 << 20), ("1TB", 1 << 40)]
)
def test_memory_in_words(words, size):
    assert bytes_of(words) == size
    assert Choice.parse(None, words, None).limit == size


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "rank-swapping", "individual-ranking", "c-tca", "kde"])
def test_methods_that_need_all_rows_at_once(refused, desk, method):  # noqa: F811
    folder = parts(desk / "parts", rows())
    refused(folder, f"{method} looks at all rows at once, which rows that do not fit into memory do not allow. Use", method=("-m", method))


def test_what_only_memory_does(refused, desk):  # noqa: F811
    folder = parts(desk / "parts", rows(who=np.arange(200) // 2, home=np.arange(200) // 3))
    refused(folder, "--engine memory, or one row a person", roles=(*ROLES, "--person", "who"))
    (desk / "r.toml").write_text('quasi = ["age"]\nhousehold = ["home"]\nlink = {household = 5}\n')
    refused(folder, "--engine memory, or leave --link out", roles=("--roles", desk / "r.toml"))
    refused(folder, "fewer than k = 500", method=("-m", "mondrian", "-p", "k=500"))
    (desk / "run").mkdir()
    refused(folder, "exists. Choose another folder with -o")


@pytest.mark.parametrize("engine", HERE)
def test_counts_that_are_too_many(tmp_path, engine):
    many = 20_000
    wide = {f"text{i}": pa.array([f"{(row * 7919 + i) % many:030d}" for row in range(many)]) for i in range(3)}
    folder = parts(tmp_path / "parts", pa.table(wide))
    made = DuckDBEngine(1 << 28, tmp_path) if engine == "duckdb" else MemoryEngine()
    with pytest.raises(
        TooManyCombinations, match=r"3 columns have more combinations than fit into the memory given .* Give more with --memory"
    ):
        opened(made, [folder], tmp_path, 1 << 22, {}).counts(list(wide))
    made.close()


# ---- what is not there -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["foo", "http://x:1", "spark://", "spark://h", "spark://h:abc", "spark://h:1,", "spark:/h:1", "localx"])
def test_masters_that_name_no_cluster(words):
    with pytest.raises(ShoalError, match=r"names no cluster\. Write it as spark://HOST:7077"):
        _refuse_silent(words)


@pytest.mark.parametrize("words", ["", "local", "local[2]", "local-cluster[2,1,1024]", "yarn", "k8s://https://h:1"])
def test_masters_that_are_not_asked(words):
    _refuse_silent(words)


def test_a_master_that_does_not_answer():
    with socket.socket() as closed, socket.socket() as silent:
        closed.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        for one in (closed, silent):
            with pytest.raises(ShoalError, match=r"No Spark cluster answers at .* Start one, or use --engine duckdb"):
                _refuse_silent(f"spark://127.0.0.1:{one.getsockname()[1]}")


@pytest.fixture
def java(desk, monkeypatch):  # noqa: F811
    """A Java that says what it is told to say; without a word there is none."""
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")

    def put(says):
        folder = desk.parent / "bin"
        folder.mkdir(exist_ok=True)
        (folder / "java").write_text(f"#!/bin/sh\necho '{says}' >&2\n")
        (folder / "java").chmod(0o755 if says else 0)
        monkeypatch.setenv("PATH", str(folder) if says else "/nonexistent")
        monkeypatch.delenv("JAVA_HOME", raising=False)

    return put


def test_a_java_that_is_missing_or_old(refused, desk, java, monkeypatch):  # noqa: F811
    folder = parts(desk / "parts", rows())
    java("")
    refused(folder, "Spark needs Java 17 or newer, and there is none", engine="spark")
    for version, number in (("1.8.0_392", 8), ("11.0.2", 11)):
        java(f'openjdk version "{version}"')
        refused(folder, f"and this is Java {number}. Install a newer one and name it in JAVA_HOME", engine="spark")
    monkeypatch.setenv("JAVA_HOME", "/nonexistent")
    refused(folder, "and there is none", engine="spark")


@pytest.mark.parametrize(("engine", "package"), [("duckdb", "duckdb"), ("spark", "pyspark")])
def test_an_extra_that_is_missing(desk, engine, package):  # noqa: F811
    folder = parts(desk / "parts", rows())
    script = f"import sys; sys.modules['{package}'] = None; from shoal.cli import main; main()"
    command = [sys.executable, "-c", script, "protect", folder, *ROLES, *MONDRIAN, "--engine", engine, "-o", desk / "run"]
    ran = subprocess.run(
        list(map(str, command)), env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 2
    assert f"pip install 'shoal[{engine}]'" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert [path.name for path in desk.iterdir()] == ["parts"]
