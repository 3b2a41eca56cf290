"""The same from Python: pandas, polars or Arrow in, the same kind out, and the caller's table as it was."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import DataError, ParameterError, PromiseBroken, RoleError, ShoalError, UnknownNameError
from shoal.methods import Mdav, Noise, RankSwapping
from shoal.promises import Promise
from shoal.release import Release, Step

ROWS = 30
COLUMNS = {
    "name": [f"SECRET_8231 {i}" for i in range(ROWS)],
    "age": [20 + i * 7 % 41 for i in range(ROWS)],
    "income": [None if i % 10 == 3 else 1000.5 + i * 37 % 911 for i in range(ROWS)],
    "sex": [("f", "m")[i % 2] for i in range(ROWS)],
    "born": [datetime.date(1950 + i, 1 + i % 12, 3) for i in range(ROWS)],
    "member": [i % 3 == 0 for i in range(ROWS)],
    "diagnosis": [("flu", "asthma")[i % 2] for i in range(ROWS)],
}
ROLES = {"quasi": ("age", "income", "sex", "born", "member"), "confidential": ("diagnosis",), "identifier": ("name",)}


def pandas():
    return pd.DataFrame(COLUMNS, index=[f"row {1000 - i}" for i in range(ROWS)])


def polars():
    return pl.DataFrame(COLUMNS)


def arrow():
    return pa.table(COLUMNS)


MAKERS = pytest.mark.parametrize("make", [pandas, polars, arrow])


@MAKERS
def test_the_same_kind_comes_out(make):
    data = make()
    release = shoal.protect(data, "mdav", k=3, **ROLES)
    assert type(release.data) is type(data)
    assert list(shoal.Table.of(release.data).columns) == [name for name in COLUMNS if name != "name"]
    assert len(release) == ROWS
    scores = shoal.measure(data, release)
    assert scores["k-anonymity"].value >= 3
    results = shoal.attack(data, release)
    assert all(0 <= result.rate <= 1 for result in results.values())


@MAKERS
def test_the_callers_table_is_left_alone(make):
    data, fresh = make(), make()
    shoal.protect(data, "noise", quasi=["age", "income"], identifier=["name"])
    assert data.equals(fresh)


@MAKERS
def test_a_second_call_works_and_a_seed_repeats(make):
    data = make()
    one, two = (shoal.protect(data, "mdav", k=3, seed=5, **ROLES) for _ in range(2))
    assert one.table.arrow.equals(two.table.arrow)
    other = shoal.protect(data, "mdav", k=3, **ROLES)
    assert other.source_row.tolist() != one.source_row.tolist()


def test_all_three_give_the_same_release():
    tables = [shoal.protect(make(), "mdav", k=3, seed=5, **ROLES).table.arrow.to_pydict() for make in (pandas, polars, arrow)]
    assert tables[0] == tables[1] == tables[2]


def test_no_pandas_index_leaves():
    frame = pandas().set_index("name")
    release = shoal.protect(frame, "mdav", quasi=["age", "income"])
    assert list(release.data.index) == list(range(ROWS))
    assert release.data.index.name is None
    assert "SECRET" not in release.data.to_csv()
    assert not release.table.arrow.schema.metadata
    named = frame.rename_axis("patient")
    assert "patient" not in shoal.protect(named, "mdav", quasi=["age"]).data.columns


def test_pandas_metadata_in_arrow_is_dropped():
    table = pa.Table.from_pandas(pandas().set_index("name"))
    table = table.drop_columns(["name"])
    assert table.schema.metadata
    release = shoal.protect(table, "mdav", quasi=["age"])
    assert not release.data.schema.metadata


def test_column_names_that_are_numbers():
    frame = pd.DataFrame(np.arange(40).reshape(20, 2), columns=[0, 1])
    assert list(shoal.protect(frame, "mdav", quasi=["0", "1"]).data.columns) == ["0", "1"]
    with pytest.raises(DataError, match="'0' appears 2 times"):
        shoal.protect(pd.DataFrame([[1, 2]], columns=[0, "0"]), "mdav", quasi=["0"])
    with pytest.raises(DataError, match="appears 2 times"):
        shoal.protect(pd.DataFrame([[1, 2]], columns=["a", "a"]), "mdav", quasi=["a"])


LEVELS = ["low", "middle", "high"]
SIZES = [LEVELS[i * 5 % 3] for i in range(ROWS)]


def ordered(kind):
    if kind == "pandas":
        return pd.DataFrame({"size": pd.Categorical(SIZES, LEVELS, ordered=True), "x": range(ROWS)})
    if kind == "polars":
        return pl.DataFrame({"size": pl.Series(SIZES, dtype=pl.Enum(LEVELS)), "x": list(range(ROWS))})
    codes = pa.DictionaryArray.from_arrays([LEVELS.index(size) for size in SIZES], LEVELS, ordered=True)
    return pa.table({"size": codes, "x": list(range(ROWS))})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_ordered_categoricals_are_ordinal(kind):
    data = ordered(kind)
    roles = shoal.Roles(quasi=["size", "x"])
    table = shoal.Table.of(data)
    assert roles.scale(table, "size") == "ordinal"
    assert roles.levels(table, "size") == tuple(LEVELS)
    for method in (Mdav(k=3), RankSwapping(p=20)):
        release = shoal.protect(data, method, roles=roles)
        assert set(release.table.column("size").to_pylist()) <= set(LEVELS)
        assert type(release.data) is type(data)
        if kind == "pandas":
            assert release.data["size"].dtype == data["size"].dtype
    with pytest.raises(ParameterError, match="'size' is ordinal"):
        shoal.protect(data, "noise", roles=roles)


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_levels_that_nobody_has_any_more_are_not_handed_out(kind):
    """Complaint 9: a released category listed levels that one record had had, or none."""
    sizes, levels = ["low"] * 4 + ["middle"] + ["high"] * 4, ["none has it", *LEVELS]
    if kind == "pandas":
        data = pd.DataFrame({"size": pd.Categorical(sizes, levels, ordered=True)})
    else:
        data = pl.DataFrame({"size": pl.Series(sizes, dtype=pl.Enum(levels))})
    released = shoal.protect(data, "mdav", k=4, quasi=["size"]).data["size"]
    assert set(released) == {"low", "high"}
    assert list(released.dtype.categories) == ["low", "high"]
    if kind == "pandas":
        assert released.dtype.ordered


def test_the_median_level_stands_for_a_group():
    frame = pd.DataFrame({"size": pd.Categorical(["low", "low", "high", "middle", "high"], LEVELS, ordered=True)})
    release = shoal.protect(frame, "mdav", k=5, quasi=["size"])
    assert release.table.column("size").to_pylist() == ["middle"] * 5


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_plain_categoricals_are_nominal(kind):
    data = {
        "pandas": lambda: pd.DataFrame({"c": pd.Categorical(SIZES), "x": range(ROWS)}),
        "polars": lambda: pl.DataFrame({"c": pl.Series(SIZES, dtype=pl.Categorical), "x": list(range(ROWS))}),
        "arrow": lambda: pa.table({"c": pa.array(SIZES).dictionary_encode(), "x": list(range(ROWS))}),
    }[kind]()
    roles = shoal.Roles(quasi=["c", "x"])
    assert roles.scale(shoal.Table.of(data), "c") == "nominal"
    release = shoal.protect(data, "mdav", roles=roles)
    assert set(release.table.column("c").to_pylist()) <= set(LEVELS)


@MAKERS
def test_dates_stay_dates(make):
    for method in (Mdav(k=3), Noise(p=0.1), RankSwapping(p=10)):
        release = shoal.protect(make(), method, quasi=["born"], identifier=["name"], seed=1)
        values = release.table.column("born").to_pylist()
        assert all(isinstance(value, datetime.date) for value in values)
        assert 1900 < min(values).year <= max(values).year < 2050
        assert len(shoal.measure(make(), release, "il1s", "cell-loss")) == 2


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Madrid"])
def test_times_stay_times(unit, zone):
    seen = pd.date_range("2020-01-01", periods=ROWS, freq="37h", tz=zone).as_unit(unit)
    release = shoal.protect(pd.DataFrame({"seen": seen}), "mdav", quasi=["seen"])
    assert str(release.data["seen"].dtype) == str(seen.dtype)
    assert seen.min() <= release.data["seen"].min() <= release.data["seen"].max() <= seen.max()


def test_missing_is_missing_in_every_library():
    gaps = [None if i % 4 == 0 else float(i) for i in range(ROWS)]
    tables = (
        pd.DataFrame({"x": gaps}),
        pd.DataFrame({"x": pd.array(gaps, dtype="Float64")}),
        pl.DataFrame({"x": gaps}),
        pa.table({"x": gaps}),
    )
    for data in tables:
        table = shoal.Table.of(data)
        assert table.missing("x").sum() == 8
        assert shoal.protect(data, "noise", quasi=["x"]).table.missing("x").sum() == 8
    holes = pl.DataFrame({"x": [float("nan"), None, 1.0, 2.0]})
    assert shoal.Table.of(holes).missing("x").tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int64", "uint64", "float32", "float64", "Int64", "bool", "boolean", "string", "object"]
)
def test_kinds_of_pandas_columns(dtype):
    values = [i % 5 for i in range(ROWS)]
    column = pd.Series(
        [v > 2 for v in values] if "bool" in dtype else [f"v{v}" for v in values] if dtype in ("string", "object") else values
    )
    frame = pd.DataFrame({"x": column.astype(dtype)})
    release = shoal.protect(frame, "mdav", quasi=["x"])
    assert shoal.measure(frame, release, "k-anonymity")["k-anonymity"].value >= 3


def test_decimals():
    from decimal import Decimal

    data = pa.table({"x": [Decimal(f"{i}.25") for i in range(ROWS)]})
    release = shoal.protect(data, "mdav", quasi=["x"])
    assert np.mean([float(v) for v in release.table.column("x").to_pylist()]) == pytest.approx(ROWS / 2 - 0.25)


def test_chunked_and_sliced_tables():
    whole = pa.table({"x": list(range(60))})
    pieces = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 23), whole.slice(30)])
    one, two = (shoal.protect(data, "mdav", quasi=["x"], seed=1).table.arrow for data in (whole, pieces))
    assert one.to_pydict() == two.to_pydict()
    assert len(shoal.protect(whole.slice(10, 20), "mdav", quasi=["x"])) == 20


def test_a_column_of_mixed_things_is_refused_without_its_cells():
    with pytest.raises(DataError) as caught:
        shoal.protect(pd.DataFrame({"x": [1, 2, "SECRET_8231", 4]}), "mdav", quasi=["x"])
    assert "Column 'x' mixes numbers and text (1 text, first at row 3)" in str(caught.value)
    assert "SECRET" not in str(caught.value)
    for wrong in ({"x": [1, "SECRET_8231"]}, {"x": [1, 2], "y": [1]}):
        with pytest.raises(DataError) as caught:
            shoal.protect(wrong, "mdav", quasi=["x"])
        assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("wrong", [None, 3, "patients.csv", [1, 2], np.zeros((3, 2))])
def test_what_is_no_table(wrong):
    with pytest.raises(DataError, match="A table is needed"):
        shoal.protect(wrong, "mdav", quasi=["x"])


@pytest.mark.parametrize("wrong", [pl.LazyFrame({"x": [1]}), pl.Series([1]), pd.Series([1]), pa.array([1])], ids=lambda w: str(type(w)))
def test_what_is_nearly_a_table(wrong):
    with pytest.raises(DataError, match="A table is needed"):
        shoal.protect(wrong, "mdav", quasi=["x"])


@pytest.mark.parametrize(
    "cells",
    [[b"SECRET"] * 9, [{"SECRET": 1}] * 9, [["SECRET"]] * 9, np.arange(9) * 1j, pd.period_range("2020", periods=9, freq="M")],
    ids=["bytes", "dict", "list", "complex", "period"],
)
def test_columns_nothing_can_be_done_with(cells):
    with pytest.raises(DataError) as caught:
        shoal.protect(pd.DataFrame({"x": cells}), "mdav", quasi=["x"])
    assert "SECRET" not in str(caught.value) or "struct" in str(caught.value)  # the names inside a struct are names, not cells


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda: pa.table({}), dict])
def test_empty_tables(make):
    with pytest.raises(ShoalError):
        shoal.protect(make(), "mdav", quasi=["x"])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("method", ["mdav", "noise", "rank-swapping", "individual-ranking", "pca-projection"])
def test_tables_without_rows(make, method):
    with pytest.raises(ShoalError, match="row"):
        shoal.protect(make({"x": []}), method, quasi=["x"])


def test_mistakes_in_a_call():
    data = pandas()
    with pytest.raises(UnknownNameError, match="Did you mean 'mdav'"):
        shoal.protect(data, "mdva", **ROLES)
    with pytest.raises(ParameterError, match="k must be 2 or more, got 1"):
        shoal.protect(data, "mdav", k=1, **ROLES)
    with pytest.raises(ParameterError, match="no parameter 'kk'"):
        shoal.protect(data, "mdav", kk=3, **ROLES)
    with pytest.raises(ParameterError, match="one method's name"):
        shoal.protect(data, Mdav(k=3), k=3, **ROLES)
    with pytest.raises(ParameterError, match="not both"):
        shoal.protect(data, "mdav", roles=shoal.Roles(quasi=["age"]), quasi=["age"])
    with pytest.raises(ParameterError, match="nothing to do"):
        shoal.protect(data, **ROLES)
    with pytest.raises(RoleError, match="Did you mean 'age'"):
        shoal.protect(data, "mdav", quasi=["agee"])
    with pytest.raises(DataError, match="Use k of at most 30"):
        shoal.protect(data, "mdav", k=31, **ROLES)
    release = shoal.protect(data, "mdav", **ROLES)
    with pytest.raises(UnknownNameError, match="no measure"):
        shoal.measure(data, release, "k-anon")
    with pytest.raises(DataError, match="Did you mean 'age'"):
        shoal.attack(data, release, columns=["agee"])
    with pytest.raises(ShoalError, match="does not belong"):
        shoal.attack(data.head(3), release)
    with pytest.raises(ShoalError):
        shoal.measure(data.head(3), release)


def test_one_name_for_a_role_is_enough():
    release = shoal.protect(pandas(), "mdav", quasi="age", identifier="name")
    assert release.roles.quasi == ("age",)


def test_several_steps_in_order():
    release = shoal.protect(
        pandas(),
        Mdav(k=4, columns=("age",)),
        Noise(p=0.2, columns=("income",)),
        quasi=["age", "income"],
        confidential=["diagnosis"],
        identifier=["name"],
    )
    assert [step.method for step in release.made_by] == ["mdav", "noise"]
    assert release.promises == (Promise("k-anonymity", 4, ("age",)),)
    names = pandas()["diagnosis"].tolist()
    assert [names[row] for row in release.source_row] == release.table.column("diagnosis").to_pylist()


def test_a_broken_promise_is_not_handed_out():
    class Liar:
        name = "liar"
        adds = ()

        def follows(self, roles):
            return ()

        def reads(self, roles):
            return roles.quasi

        def protect(self, table, roles, rng, progress=None):
            return Release.of(table, {}, roles, Step("liar", {}, ("age",), (), "", (Promise("k-anonymity", 9, ("age",)),)), rng)

    with pytest.raises(PromiseBroken, match="promised 9, found 1"):
        shoal.protect(pandas().assign(age=range(ROWS)), Liar(), quasi=["age"], identifier=["name"])


def test_interval_disclosure_names_the_columns_it_means():
    """A level from a category, a number that is a code, and a number: each share stands under its own name."""
    frame = ordered("pandas").assign(code=[i % 2 for i in range(ROWS)])
    release = shoal.protect(frame, Noise(p=5, columns=("x",)), roles=shoal.Roles(quasi=["size", "code", "x"], nominal=["code"]), seed=1)
    shares = shoal.attack(frame, release, "interval-disclosure")["interval-disclosure"].details["per_column"]
    assert list(shares) == ["size", "x"]
    assert shares["size"] == 1
    assert shares["x"] < 0.5


def test_nothing_shown_holds_a_cell():
    release = shoal.protect(pandas(), "mdav", **ROLES)
    assert "SECRET" not in repr(release) + repr(release.table) + repr(shoal.Table.of(pandas()))
    assert str(release.source_row[:5]) not in repr(release)


def test_every_public_name_is_there():
    assert all(getattr(shoal, name) is not None for name in shoal.__all__)
    assert set(shoal.__all__) <= set(dir(shoal))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = shoal.nothing


cell = st.none() | st.integers(-50, 50) | st.floats(-1e6, 1e6).map(lambda x: round(x, 6))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(cell, st.sampled_from(["a", "b", None])), min_size=3, max_size=40), st.integers(2, 5))
def test_any_small_table_is_k_anonymous_or_refused(rows, k):
    data = pa.table(
        {"x": pa.array([None if x is None else float(x) for x, _ in rows], pa.float64()), "c": pa.array([c for _, c in rows], pa.string())}
    )
    try:
        release = shoal.protect(data, "mdav", k=k, quasi=["x", "c"], seed=1)
    except ShoalError:
        assert len(rows) < k
        return
    counts = release.data.group_by(["x", "c"]).aggregate([([], "count_all")])["count_all"].to_pylist()
    assert min(counts) >= k
    assert sorted(release.source_row.tolist()) == list(range(len(rows)))
    for score in shoal.measure(data, release).values():
        assert score.value is None or np.isfinite(score.value)


def test_errors_say_their_code_and_what_they_are_about():
    """For a form that wants to point at the field."""
    with pytest.raises(ParameterError) as wrong:
        shoal.protect(pandas(), "mdav", k=1, quasi=["age"])
    assert (wrong.value.code, wrong.value.about) == ("parameter", "k")
    with pytest.raises(RoleError) as missing:
        shoal.protect(pandas(), "mdav", quasi=["aeg"])
    assert (missing.value.code, missing.value.about) == ("role", "aeg")
    with pytest.raises(UnknownNameError) as unknown:
        shoal.protect(pandas(), "mdvav", quasi=["age"])
    assert (unknown.value.code, unknown.value.about) == ("unknown-name", "mdvav")


def test_python_and_the_command_line_attack_alike(tmp_path):
    """One seed, one stream: the same hits, whoever asks; and what does not apply is not tried by either."""
    import json
    import subprocess
    import sys

    patients = shoal.invented_patients(150)
    shoal.write_table(patients, tmp_path / "patients.csv")
    given = ["--quasi", "age,zip,income", "--identifier", "name", "--confidential", "diagnosis"]
    for words in (
        ["protect", "patients.csv", "-m", "mdav", "-p", "k=5", "--seed", "3", "-o", "run", *given],
        ["attack", "run", "--seed", "9", "--json"],
    ):
        done = subprocess.run([sys.executable, "-m", "shoal", *words], cwd=tmp_path, capture_output=True, text=True, check=True)
    typed = {one["name"]: one["hit"] for one in json.loads(done.stdout)}
    table = shoal.read_table(tmp_path / "patients.csv")
    roles = {"quasi": ["age", "zip", "income"], "identifier": ["name"], "confidential": ["diagnosis"]}
    release = shoal.protect(table, "mdav", k=5, seed=3, **roles)
    called = {name: result.hit for name, result in shoal.attack(table, release, seed=9).items()}
    assert called == pytest.approx(typed)
    assert set(shoal.attack(table, shoal.protect(table, "mondrian", k=5, quasi=["zip"], identifier=["name"], seed=3))) == {
        "distance-linkage",
        "probabilistic-linkage",
        "learned-linkage",
    }
