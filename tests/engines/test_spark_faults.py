"""Executors, workers and drivers killed on purpose, on a cluster of this machine: the same rows are released, or none. `make test-spark` runs these."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.memory import MemoryEngine
from shoal.engines.staging import opened
from shoal.registry import known
from shoal.roles import Roles
from shoal.runs.elsewhere import made_ready, protected

pytestmark = [pytest.mark.spark, pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not say who began a process")]
ROOT = Path(__file__).resolve().parents[2]
ROWS, ROLES = 100_000, Roles.parse({"quasi": ["age", "zip"], "confidential": ["diagnosis"], "identifier": ["name"]})
WAIT = 60  # seconds at most, for whatever is waited for


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    columns = {"name": rng.permutation(ROWS).astype(str), "age": rng.integers(18, 90, ROWS), "zip": rng.integers(0, 50, ROWS)}
    table = pa.table({**columns, "diagnosis": rng.choice(["flu", "asthma", "migraine"], ROWS)})
    folder = tmp_path_factory.mktemp("rows")
    for number in range(4):
        pq.write_table(table.slice(number * ROWS // 4, ROWS // 4), folder / f"rows-{number}.parquet", row_group_size=12_500)
    return sorted(folder.iterdir())


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def answers(port):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def until(what):
    """Waits for something, not for ever."""
    for _ in range(WAIT * 20):
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it never came")


@pytest.fixture
def cluster(tmp_path):
    """A master and two workers; all that they have begun ends with them."""
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": paths, "SPARK_WORKER_DIR": str(tmp_path / "work")}
    port, begun = free_port(), []

    def begin(*words):
        command = [str(spark_class), *map(str, words)]
        log = open(tmp_path / f"log-{len(begun)}", "wb")  # noqa: SIM115 - as long as the process
        begun.append(subprocess.Popen(command, env=env, stdout=log, stderr=log, start_new_session=True))

    try:
        begin("org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p", port, "--webui-port", free_port())
        until(lambda: answers(port))
        for _ in range(2):
            worker = ("-h", "127.0.0.1", "-c", 1, "-m", "1200m", "--webui-port", free_port())
            begin("org.apache.spark.deploy.worker.Worker", *worker, f"spark://127.0.0.1:{port}")
        until(lambda: b"".join(p.read_bytes() for p in tmp_path.glob("log-*")).count(b"Registering worker") == 2)
        yield f"spark://127.0.0.1:{port}"
    finally:
        for one in begun:
            with suppress(ProcessLookupError):
                os.killpg(one.pid, signal.SIGKILL)
            one.wait()


def java_above(steps=1):
    """The Java that began this process, or the one that began that."""
    pid = os.getpid()
    while steps:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        steps -= Path(f"/proc/{pid}/comm").read_text().strip() == "java"
    return pid


def java_below(pid):
    """The Java that a process has begun."""
    below = [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [one for one in below if Path(f"/proc/{one}/comm").read_text().strip() == "java"] + [x for one in below for x in java_below(one)]


def once(marker):
    """Whether this is the first to come here, in any process."""
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def deadly(engine, markers):
    """The engine, with tasks of which one in each round kills the Java that it is run by, and while parts are written a whole worker."""
    each = engine.each

    def killing(task, items):
        marker, last = markers / str(len(list(markers.iterdir()))), items[-1]
        steps = 2 if isinstance(items, range) else 1

        def do(item):
            if item == last and once(marker):
                os.kill(java_above(steps), signal.SIGKILL)
                os._exit(1)
            return task(item)

        return each(do, items)

    engine.each = killing
    return engine


def released(engine, files, aside, out):
    """The released rows in an order of their own, and which row each was."""
    aside.mkdir(exist_ok=True)
    out.mkdir()
    method = known("method")["mondrian"].parse({"k": 10})
    there = made_ready(opened(engine, files, aside, 1 << 28, {}), ROLES, [method])
    found = protected(there.rows, there.roles, [method], 11, out)
    assert sorted(path.name for path in out.iterdir()) == [path.name for path in found.written.paths], "something else would be released"
    rows = pa.concat_tables([pq.read_table(path) for path in found.written.paths])
    return sorted(map(repr, rows.to_pylist())), found.written.source_row


def test_what_is_killed_is_done_again_and_the_same(cluster, files, tmp_path, monkeypatch):
    from shoal.engines.spark import SparkEngine, session_at

    monkeypatch.setattr("shoal.parts.STRETCH", 12_500)
    monkeypatch.setattr("shoal.engines.spill.LONGEST", 25_000)
    wanted, rows = released(MemoryEngine(), files, tmp_path / "aside-here", tmp_path / "out-here")
    markers, aside = tmp_path / "killed", tmp_path / "aside"
    markers.mkdir()
    aside.mkdir()
    with session_at(cluster, 1 << 30, aside) as session:
        got, rows_there = released(deadly(SparkEngine(session, aside), markers), files, aside, tmp_path / "out")
    assert len(list(markers.iterdir())) >= 3, "too little was killed"
    assert len(got) == ROWS
    assert got == wanted
    assert sorted(rows_there.tolist()) == sorted(rows.tolist()) == list(range(ROWS))


def test_a_driver_that_is_killed_leaves_no_release(files, tmp_path):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    words = ["protect", *files, "--quasi", "age,zip", "--confidential", "diagnosis", "--identifier", "name", "-m", "mondrian", "-p", "k=10"]
    command = [sys.executable, "-m", "shoal", *map(str, words), "-o", str(tmp_path / "run"), "--engine"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    driver = subprocess.Popen([*command, "spark", "--master", "local[2]"], env=env, stderr=subprocess.DEVNULL, start_new_session=True)
    hidden = until(lambda: [path.parents[1] for path in tmp_path.glob(".shoal-unfinished-*/aside/shuffled-*")])[0]
    java = java_below(driver.pid)
    assert java
    driver.kill()
    driver.wait()
    assert not (tmp_path / "run").exists()
    until(lambda: not [pid for pid in java if Path(f"/proc/{pid}").exists()])
    assert subprocess.run([*command, "duckdb"], env=env, capture_output=True, check=False).returncode == 0
    assert not hidden.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
