"""The same on Spark, in one session of this machine. `make test-spark` runs these; they need Java and pyspark."""

import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.staging import opened
from shoal.runs.elsewhere import made_ready, protected
from shoal.runs.recipe import apply_steps, ready
from shoal.table import Table
from shoal.testing_tables import tables
from shoal.writing import as_parquet
from tests.engines.test_same_release import SECRET, SPLIT, as_rows, written_in

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    from shoal.engines.spark import SparkEngine, session_at

    aside = tmp_path_factory.mktemp("spark")
    with session_at("local[2]", 1 << 30, aside) as session:
        yield SparkEngine(session, aside)


@pytest.mark.parametrize("name", [name for name in SPLIT if name != "recode"])
def test_spark_releases_what_memory_does(name, spark, tmp_path, monkeypatch):
    monkeypatch.setattr("shoal.engines.spill.LONGEST", 10)
    monkeypatch.setattr("shoal.parts.STRETCH", 5)
    table, roles = tables()["missing" if SPLIT[name].scope == "row" else "mixed"]
    method = SPLIT[name].parse({"k": 2} if "k" in SPLIT[name].model_fields else {})
    here, checked = ready(Table.of(table.arrow), roles, [method])
    wanted = as_rows(as_parquet(apply_steps(here, checked, [method], SECRET).table))
    (tmp_path / "out").mkdir()
    aside = tmp_path / "aside"
    aside.mkdir()
    there = made_ready(opened(spark, written_in(tmp_path, table, 2), aside, 1 << 28, {}), roles, [method])
    found = protected(there.rows, there.roles, [method], SECRET, tmp_path / "out")
    assert as_rows(pa.concat_tables([pq.read_table(path) for path in found.written.paths])) == wanted
