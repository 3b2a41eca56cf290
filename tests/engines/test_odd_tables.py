"""Odd names, odd values and odd types: what memory releases of them, every engine does; what memory refuses, they refuse in the same words."""

import datetime as dt
import decimal
import shutil
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.memory import MemoryEngine
from shoal.engines.staging import opened
from shoal.errors import ShoalError
from shoal.inputs import read_tables
from shoal.methods import Mondrian
from shoal.parts import Parts
from shoal.roles import Roles
from shoal.runs.elsewhere import made_ready, protected
from shoal.runs.recipe import apply_steps, ready
from shoal.writing import as_parquet

ROWS = 90
HERE = {"memory": lambda aside: MemoryEngine(), "duckdb": lambda aside: DuckDBEngine(1 << 28, aside)}


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    pytest.importorskip("pyspark", reason="pyspark is not installed: pip install 'shoal[spark]'")
    if shutil.which("java") is None:
        pytest.skip("there is no Java")
    from shoal.engines.spark import SparkEngine, session_at

    aside = tmp_path_factory.mktemp("spark")
    with session_at("local[2]", 1 << 30, aside) as session:
        yield {"spark": lambda _: SparkEngine(session, aside)}


def some(*values, type=None):
    """Values that each come about as often."""
    return pa.array([values[i] for i in np.random.default_rng(len(values)).permutation(np.arange(ROWS) % len(values))], type)


def half(values):
    """Nothing in one file, something in the others."""
    return pa.concat_arrays([pa.nulls(ROWS // 3, values.type), values.slice(ROWS // 3)])


MICRO, NANO = pa.timestamp("us"), pa.timestamp("ns")
MORNING = 1_577_880_000_000_000
OLD = (dt.datetime(1, 1, 2), dt.datetime(1582, 10, 10), dt.datetime(9999, 1, 1))
MARKS = (
    "a'b",
    'a"b',
    "a\nb",
    "\r",
    "\x1e",
    "\x1ea",
    '\x1e["a"]',
    "\x00x",
    "[1, 2]",
    "1 to 2",
    "{a, b}",
    "*",
    " a",
    "a ",
    "\\",
    "%s",
    "$1",
    "NULL",
)
VALUES = {
    "NaN": some(1.5, float("nan"), 2.5),
    "-0.0": some(0.0, -0.0, 1.0),
    "inf": some(0.0, float("inf"), -float("inf")),
    "denormal": some(5e-324, 1e300, 0.0),
    "text of no letters": some("a", "", None),
    "marks": some(*MARKS),
    "letters": some("é", "e\u0301", "ß", "ss", "😀", "\u202e", "A", "a", "\u2028"),
    "long": some("a" * 50_000, "a" * 50_001),
    "nulls in one file": half(some(1, 2, 3)),
    "texts in two files": half(some("a", "b")),
    "never a value": pa.nulls(ROWS, pa.int64()),
    "nothing": pa.nulls(ROWS),
    "date32": some(dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(9999, 1, 1), None),
    "date64": some(dt.date(2020, 1, 1), None, type=pa.date64()),
    "zone": some(dt.datetime(2020, 1, 1, 12), dt.datetime(2020, 7, 1, 12), type=pa.timestamp("us", "Europe/Berlin")),
    "nanoseconds": some(MORNING * 1000, MORNING * 1000 + 1, type=NANO),
    "microseconds": some(MORNING, MORNING + 1, type=MICRO),
    "seconds": some(MORNING // 10**6, type=pa.timestamp("s")),
    "old times": some(*OLD, type=MICRO),
    "times": some(dt.time(1, 2), dt.time(3, 4)),
    "durations": some(1, 2, type=pa.duration("s")),
    "decimal": some(decimal.Decimal("1.20"), decimal.Decimal("3.45"), None),
    "long decimal": some(decimal.Decimal("12345678901234567890.20"), decimal.Decimal("3.45"), type=pa.decimal128(38, 2)),
    "dictionary": some("a", "b", None).dictionary_encode(),
    "ordered": pa.DictionaryArray.from_arrays(some(0, 1, 2, None, type=pa.int8()), pa.array(["low", "mid", "high"]), ordered=True),
    "bool": some(True, False, None),
    "uint64": some(1, 2, 2**64 - 1, type=pa.uint64()),
    "int64": some(1, 2**63 - 1, -(2**63)),
    "int8": some(1, -128, type=pa.int8()),
    "float32": some(1.1, 0.1, type=pa.float32()),
    "float16": some(np.float16(1.1), np.float16(0.1), type=pa.float16()),
    "large_string": some("a", "b", type=pa.large_string()),
    "string_view": some("a", "b", type=pa.string_view()),
    "binary": some(b"a", b"b"),
    "list": some(["a"], ["b", "c"], None),
    "struct": some({"a": 1}, {"a": 2}),
}
NAMES = (
    *('quo"te', "quo'te", "back`tick", "dot.ted", "a`.`b", "count", "rows", "row", "id", "number", "select", "*", "a,b", "a;b", "count(*)"),
    *("how many rows", "ünïcode", "with space", "trail ", "a\nb", "\x1e", "😀", "%s", "$x", "{x}", "/x", "c0", "c1", "filename", "key"),
)
SEVERAL = ("AGE", "Age", "age_1", "AGE_1")


def written(folder, table, files=3):
    folder.mkdir(parents=True)
    many = -(-len(table) // files)
    for number in range(files):
        pq.write_table(table.slice(number * many, many), folder / f"rows-{number}.parquet", row_group_size=17)
    return sorted(folder.iterdir())


def told(what):
    """What comes of it: rows and types, or a sentence."""
    try:
        table = what()
    except ShoalError as refused:
        return str(refused)
    return str(table.schema.types), sorted(map(repr, table.to_pylist()))


def same_everywhere(folder, engines, table, quasi, confidential):
    """Whether all engines make of a table what memory does."""
    paths = written(folder / "key=1" / "b*[0]", table)
    roles, step = Roles.parse({"quasi": quasi, "confidential": confidential}), Mondrian(k=5)

    def here():
        read, checked = ready(read_tables(paths), roles, [step])
        pq.write_table(as_parquet(apply_steps(read, checked, [step], 11).table), folder / "here.parquet")
        return pq.ParquetFile(folder / "here.parquet").read()

    def there(engine):
        aside, out = folder / f"aside-{engine}", folder / f"out-{engine}"
        aside.mkdir()
        out.mkdir()
        made = engines[engine](aside)
        try:
            rows = made_ready(opened(made, paths, aside, 1 << 28, {}), roles, [step])
            released = protected(rows.rows, rows.roles, [step], 11, out).written.paths
        finally:
            made.close()
        return pa.concat_tables([pq.ParquetFile(path).read() for path in released])

    wanted = told(here)
    for engine in engines:
        assert told(lambda engine=engine: there(engine)) == wanted, engine
    return wanted


def rows_with(**more):
    rng = np.random.default_rng(1)
    plain = {"age": rng.integers(20, 60, ROWS), "sex": rng.choice(["f", "m"], ROWS), "illness": rng.choice(["flu", "asthma"], ROWS)}
    return pa.table({**plain, **more})


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr("shoal.parts.STRETCH", 30)
    monkeypatch.setattr("shoal.engines.spill.LONGEST", 40)


@pytest.mark.parametrize("value", VALUES)
def test_values(tmp_path, value):
    table = rows_with(value=VALUES[value])
    wanted = same_everywhere(tmp_path / "quasi", HERE, table, ["age", "value"], ["illness"])
    refused = {
        "inf": "infinite",
        "denormal": "too far from 1",
        "binary": "cannot protect",
        "list": "cannot protect",
        "struct": "cannot protect",
    }
    if value in refused:
        assert refused[value] in wanted
    else:
        assert len(wanted[1]) == ROWS
    same_everywhere(tmp_path / "confidential", HERE, table, ["age", "sex"], ["value"])


@pytest.mark.parametrize("name", NAMES)
def test_names(tmp_path, name):
    table = rows_with(**{name: some(1, 2, 3, 4)})
    assert len(same_everywhere(tmp_path, HERE, table, ["age", name], ["illness"])[1]) == ROWS


def named_alike():
    """Columns whose names differ in capitals, or only just."""
    return rows_with(**{name: some(*range(2 + place)) for place, name in enumerate(SEVERAL)})


def test_names_that_differ_in_capitals(tmp_path):
    assert len(same_everywhere(tmp_path, HERE, named_alike(), ["age", "Age", "age_1"], ["AGE", "AGE_1"])[1]) == ROWS


LISTS = (
    None,
    [],
    [None],
    ["a"],
    ["a", "b"],
    ["b", "a"],
    ["\x1e"],
    ["\x1ea", "b"],
    ['\x1e["a"]'],
    [""],
    ["", ""],
    [None, None],
    ["a", None],
    ['["a"]'],
)


def groups(engine, parts, columns):
    found = Counter()
    for table in engine.grouped(parts, columns):
        assert table.schema.field("lists").type == pa.list_(pa.string())
        for row in table.to_pylist():
            *cells, many = row.values()
            found[repr(cells)] += many
    return found


def grouped_alike(folder, engines):
    table = pa.table({"number": list(range(len(LISTS))) * 2, "lists": pa.array(LISTS * 2, pa.list_(pa.string()))})
    parts = Parts.of(written(folder / "rows", table))
    for columns in (["lists"], ["lists", "number"]):
        wanted = Counter(repr([row[column] for column in columns]) for row in table.to_pylist())
        for engine in engines:
            assert groups(engines[engine](folder), parts, columns) == wanted, engine


def test_lists_are_grouped_as_they_are(tmp_path):
    grouped_alike(tmp_path, HERE)


@pytest.mark.spark
def test_lists_are_grouped_as_they_are_by_spark(tmp_path, spark):
    grouped_alike(tmp_path, spark)


@pytest.mark.spark
def test_all_at_once_by_spark(tmp_path, spark):
    """One table with every odd name and value, since each round of Spark takes its time."""
    fine = {name: values for name, values in VALUES.items() if name not in ("inf", "denormal", "binary", "list", "struct")}
    odd = rows_with(**{name: some(1, 2, 3) for name in NAMES}, **fine)
    for name in SEVERAL:
        odd = odd.append_column(name, some(1, 2, 3))
    quasi = [
        "age",
        "Age",
        "AGE",
        "marks",
        "nanoseconds",
        "old times",
        "zone",
        "uint64",
        "decimal",
        "date32",
        "nothing",
        "back`tick",
        "dot.ted",
        "NaN",
    ]
    wanted = same_everywhere(tmp_path, spark, odd, quasi, [name for name in odd.column_names if name not in quasi])
    assert len(wanted[1]) == ROWS


@pytest.mark.spark
def test_what_spark_has_no_place_for(tmp_path, spark):
    longer = rows_with(value=some(decimal.Decimal("1.5"), type=pa.decimal256(50, 2)))
    engine = spark["spark"](tmp_path)
    with pytest.raises(ShoalError, match="more digits than Spark holds"):
        list(engine.grouped(Parts.of(written(tmp_path / "rows", longer)), ["value"]))
    hidden = tmp_path / "_rows.parquet"
    pq.write_table(rows_with(), hidden)
    with pytest.raises(ShoalError, match="Give it another name"):
        list(engine.grouped(Parts.of([hidden]), ["age"]))
