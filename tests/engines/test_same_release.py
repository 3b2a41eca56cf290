"""One seed, one release: the same rows whatever engine reads them, however they are cut into files and in whatever order they come."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal.engines import source, spill
from shoal.engines.duckdb import DuckDBEngine
from shoal.engines.memory import MemoryEngine
from shoal.engines.staging import opened
from shoal.errors import ShoalError
from shoal.methods import microaggregation
from shoal.methods.blocks import BlockMethod
from shoal.methods.recoding import BatchMethod
from shoal.registry import known
from shoal.roles import Roles
from shoal.runs.elsewhere import made_ready, protected
from shoal.runs.recipe import apply_steps, ready
from shoal.table import Table
from shoal.testing_tables import tables
from shoal.writing import as_parquet

SECRET = 11
SPLIT = {name: cls for name, cls in known("method").items() if issubclass(cls, BatchMethod | BlockMethod)}
ENGINES = {"memory": lambda aside: MemoryEngine(), "duckdb": lambda aside: DuckDBEngine(1 << 28, aside)}


def written_in(folder, table, parts, seed=3):
    """The table in so many files, its rows in another order."""
    order = np.random.default_rng(seed).permutation(len(table))
    paths = []
    for number, rows in enumerate(np.array_split(order, parts)):
        paths.append(folder / f"rows-{number}.parquet")
        pq.write_table(table.arrow.take(pa.array(rows)), paths[-1], row_group_size=5)
    return paths


def as_rows(arrow):
    """Rows as they are written, in some order of their own."""
    return sorted(map(repr, arrow.to_pylist()))


def elsewhere(tmp_path, engine, paths, roles, steps):
    """The rows that an engine releases."""
    aside, out = tmp_path / f"aside-{engine}-{len(paths)}", tmp_path / f"out-{engine}-{len(paths)}"
    aside.mkdir()
    out.mkdir()
    made = ENGINES[engine](aside)
    try:
        there = made_ready(opened(made, paths, aside, 1 << 28, {}), roles, steps)
        found = protected(there.rows, there.roles, steps, SECRET, out)
    finally:
        made.close()
    arrow = pa.concat_tables([pq.read_table(path) for path in found.written.paths])
    return arrow, found


@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.parametrize("kind", tables())
def test_engines_release_what_memory_does(name, kind, tmp_path, monkeypatch):
    monkeypatch.setattr(spill, "LONGEST", 10)
    monkeypatch.setattr("shoal.parts.STRETCH", 5)
    monkeypatch.setattr(microaggregation, "MOST_ROWS", 10)
    monkeypatch.setattr(microaggregation, "LEAST_GROUPS", 1)
    table, roles = tables()[kind]
    roles = Roles.parse({key: value for key, value in roles.plain().items() if key != "target" or name})
    method = SPLIT[name].parse({"k": 2} if "k" in SPLIT[name].model_fields else {"map": "a=b"} if False else {})
    try:
        here, checked = ready(Table.of(table.arrow), roles, [method])
        expected = apply_steps(here, checked, [method], SECRET)
    except ShoalError as refused:
        with pytest.raises(type(refused)):
            elsewhere(tmp_path, "memory", written_in(tmp_path, table, 3), roles, [method])
        return
    wanted = as_rows(as_parquet(expected.table))
    for engine in ENGINES:
        got, found = elsewhere(tmp_path, engine, written_in(tmp_path, table, 3), roles, [method])
        assert as_rows(got) == wanted
        assert found.made_by == expected.made_by
        assert sorted(found.written.source_row.tolist()) == sorted(set(found.written.source_row.tolist()))
    assert source.ROW not in got.column_names
