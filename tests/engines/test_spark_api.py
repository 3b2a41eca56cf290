"""A DataFrame of a cluster goes in and one comes out: the same rows as from memory, the same folder as from the command."""

import datetime
import shutil
import subprocess
import sys

import pytest

import shoal
import shoal.spark
from shoal.certificate import read_certificate
from shoal.errors import DataError, OutputError, ParameterError
from shoal.example import invented_patients
from shoal.runs.parts import load_parts
from shoal.runs.run import load_run
from shoal.writing import as_parquet, write_parquet
from tests.engines.test_same_release import as_rows

SECRET = 11
ROLES = {"quasi": ["age", "zip", "sex"], "confidential": "diagnosis", "identifier": "name"}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    from shoal.engines.spark import session_at

    with session_at("local[2]", 1 << 30, tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="module")
def patients(spark, tmp_path_factory):
    table = invented_patients(300)
    path = tmp_path_factory.mktemp("patients") / "patients.parquet"
    write_parquet(table.arrow, path)
    return spark.read.parquet(str(path)).repartition(3)


@pytest.mark.spark
def test_a_dataframe_is_protected_as_its_rows_are_in_memory(patients, tmp_path):
    got = shoal.spark.protect(patients, "mondrian", k=5, out=tmp_path / "run", seed=SECRET, **ROLES)
    here = shoal.protect(invented_patients(300).arrow, "mondrian", k=5, seed=SECRET, **ROLES)
    assert type(got) is type(patients)
    assert sorted(map(repr, (row.asDict() for row in got.collect()))) == as_rows(as_parquet(here.table))
    certificate = read_certificate(tmp_path / "run" / "certificate.json")
    assert [(one.value, one.found >= 5) for one in certificate.promises] == [(5, True)]
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"release", "certificate.json", "report.html", "private"}
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.spark
def test_several_steps_as_objects(patients, tmp_path):
    from shoal.methods import Mondrian, Rounding

    roles = shoal.Roles(quasi=("age", "zip"), confidential=("income",))
    got = shoal.spark.protect(
        patients, Rounding.parse({"base": 1000, "columns": ["income"]}), Mondrian(k=5), out=str(tmp_path / "run"), roles=roles
    )
    assert set(got.columns) == {"age", "zip", "income"}
    assert got.where("income % 1000 != 0").count() == 0


@pytest.mark.spark
def test_what_a_run_of_a_dataframe_cannot_do_is_said(patients, tmp_path):
    shoal.spark.protect(patients, "mondrian", k=5, out=tmp_path / "run", **ROLES)
    with pytest.raises(DataError, match="was made of a DataFrame"):
        load_run(tmp_path / "run")
    with pytest.raises(DataError, match="was made of a DataFrame"):
        load_parts(tmp_path / "run", None, tmp_path)
    with pytest.raises(OutputError, match="exists"):
        shoal.spark.protect(patients, "mondrian", k=5, out=tmp_path / "run", **ROLES)


@pytest.mark.spark
def test_times_are_what_the_clock_of_the_session_shows(spark, tmp_path):
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        rows = [(datetime.date(1990, 1, 1 + n % 5), "2024-06-01 12:30:00", n % 2) for n in range(40)]
        frame = spark.createDataFrame(rows, "born date, seen string, sex int").selectExpr("born", "to_timestamp(seen) AS seen", "sex")
        got = shoal.spark.protect(frame, "mondrian", k=5, out=tmp_path / "run", quasi=["born", "sex"], confidential="seen")
        assert {row.seen for row in got.collect()} == {datetime.datetime(2024, 6, 1, 12, 30)}
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


@pytest.mark.spark
@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (lambda spark: spark.range(5).where("id < 0"), "has none"),
        (lambda spark: spark.range(5).selectExpr("id AS age", "id AS Age"), "same name"),
        (lambda spark: spark.range(5).selectExpr("array(id) AS id"), "cannot protect"),
    ],
)
def test_dataframes_that_cannot_be_protected_are_refused(spark, frame, said, tmp_path):
    spark.conf.set("spark.sql.caseSensitive", "false")
    try:
        with pytest.raises(DataError, match=said):
            shoal.spark.protect(frame(spark), "mondrian", k=5, out=tmp_path / "run", quasi="id")
    finally:
        spark.conf.set("spark.sql.caseSensitive", "true")
    assert not list(tmp_path.iterdir())


@pytest.mark.spark
def test_rows_that_are_written_elsewhere_are_noticed(patients, tmp_path, monkeypatch):
    """As where workers write to disks of their own."""
    from shoal.engines import spark as engine

    glob = engine.Path.glob
    monkeypatch.setattr(engine.Path, "glob", lambda self, what: list(glob(self, what))[1:])
    with pytest.raises(DataError, match="not all to be seen"):
        shoal.spark.protect(patients, "mondrian", k=5, out=tmp_path / "run", **ROLES)


@pytest.mark.spark
def test_words_are_checked_as_in_memory(patients, tmp_path):
    with pytest.raises(ParameterError, match="not both"):
        shoal.spark.protect(patients, "mondrian", k=5, roles=shoal.Roles(quasi=("age",)), quasi="age", out=tmp_path / "run")
    with pytest.raises(ParameterError, match="one method's name"):
        shoal.spark.protect(patients, "mondrian", "noise", k=5, quasi="age", out=tmp_path / "run")
    with pytest.raises(ParameterError, match="all rows at once"):
        shoal.spark.protect(patients, "mdav", k=5, quasi="age", out=tmp_path / "run")


def test_it_is_there_without_pyspark_until_it_is_used():
    code = (
        "import sys; sys.modules['pyspark'] = None; import shoal.spark\n"
        "try: shoal.spark.protect(None, 'mondrian', quasi='age')\n"
        "except shoal.ShoalError as refused: print(refused)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "shoal[spark]" in done.stdout
