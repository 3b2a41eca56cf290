"""Whatever the numbers and dates: every released cell holds the value it was made of, k holds, and batches and order change nothing."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import bins, cell
from shoal.bins import Bin, binned, coarser, last_values, narrowest
from shoal.certificate import StepPart
from shoal.checks.consistency import _as_declared
from shoal.checks.tables import check_release
from shoal.checks.verify import verify
from shoal.methods.along_hierarchies import AlongHierarchies
from shoal.randomness import chance_for, rng_for
from shoal.registry import known, make
from shoal.roles import Roles
from shoal.runs.recipe import Recipe
from shoal.runs.run import protect_to_folder
from shoal.table import Table
from shoal.testing import check_method
from shoal.testing_tables import InParts
from shoal.writing import write_table

unhurried = settings(deadline=None, max_examples=40, derandomize=True)
COUNTING = sorted(name for name, method in known("method").items() if method.scope == "counts")
DECIMALS = st.decimals(-50, 50, places=1).map(float)
REALS = st.floats(-1e6, 1e6).filter(lambda one: not one or abs(one) > 1e-60)


@pytest.fixture
def few(monkeypatch):
    """Columns are cut that have more than five values."""
    monkeypatch.setattr(bins, "MANY_VALUES", 5)


def many_valued(rows, seed):
    """Whole numbers, also as floating point, numbers with and without many digits, days and moments; some missing; answers and a target."""
    rng = np.random.default_rng(seed)
    kinds = {
        "whole": rng.integers(-40, 60, rows),
        "floats": rng.integers(-40, 60, rows).astype(float),
        "tenths": np.round(rng.normal(0, 3, rows), 1),
        "reals": np.exp(rng.normal(0, 2, rows)) * 10.0 ** rng.integers(-8, 8),
        "day": pa.array(rng.integers(-9000, 9000, rows).astype(np.int32)).cast(pa.date32()),
        "time": pa.array(rng.integers(-(10**14), 10**14, rows)).cast(pa.timestamp("us")),
        "zone": pa.array(rng.integers(0, 10**14, rows)).cast(pa.timestamp("us", tz=("UTC", "Europe/Berlin")[seed % 2])),
        "stamp": pa.array(rng.integers(-(10**17), 10**17, rows)).cast(pa.timestamp("ns")),
    }
    some = rng.choice(list(kinds), int(rng.integers(1, 4)), replace=False).tolist()
    columns = {}
    for name in some:
        array = pa.array(kinds[name])
        columns[name] = pa.array(array.to_pylist(), array.type, mask=rng.random(rows) < 0.1)
    columns["city"] = pa.array(rng.choice(list("abc"), rows))
    columns["ill"] = pa.array(rng.choice(["flu", "cold"], rows))
    columns["sick"] = pa.array(np.where(np.arange(rows) % 2, "yes", "no"))
    table = Table.of(pa.table(columns))
    return table, Roles(quasi=(*some, "city"), confidential=("ill",), target="sick", rest="release").check(table)


def holds(text, number, missing):
    """Whether a cell in the notation allows a number, counted as `Table.number` counts it."""
    one = cell.read(text)
    if one.suppressed:
        return True
    if one.interval:
        return not missing and one.interval[0] <= number <= one.interval[1]
    for part, ends in zip(one.values, one.within or (None,) * len(one.values)):
        if part is None or missing:
            if part is None and missing:
                return True
        elif (ends and ends[0] <= number <= ends[1]) or (not ends and cell.to_number(part) == number):
            return True
    return False


def parameters(name, seed):
    if name == "anti-unification-safe":
        return {
            "numeric": ("intervals", "bins", "values")[seed % 3],
            "publish": ("suppressed", "sets", "counts")[seed // 3 % 3],
            "order": ("least-suppressed", "fewest-first", "most-first")[seed // 9 % 3],
        }
    if name == "anti-unification":
        return {"numeric": ("bins", "values")[seed % 2], "limit": 3, "k": 2}
    return {"publish": ("intervals", "sets", "counts")[seed % 3]} if "publish" in known("method")[name].model_fields else {}


def cut_of(table, roles, name):
    """Which columns a method cuts here."""
    if issubclass(known("method")[name], AlongHierarchies):
        return set()
    return {c for c in roles.quasi if c != "city" and table.extent(c).distinct > bins.MANY_VALUES}


@pytest.mark.parametrize("name", COUNTING)
@unhurried
@given(rows=st.integers(12, 60), k=st.integers(2, 6), seed=st.integers(0, 2**31))
def test_every_cell_holds_its_value_however_rows_are_cut(name, rows, k, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "MANY_VALUES", 5)
        table, roles = many_valued(rows, seed)
        method = known("method")[name](**{"k": k, **parameters(name, seed)})
        release = method.protect(table, roles, chance_for(seed))
        assert set(release.made_by[0].outcome.get("bins", {})) == cut_of(table, roles, name)
        assert all(one.holds for one in check_release(release))
        for column in roles.quasi[:-1]:
            numbers, missing = table.number(column)[release.source_row], table.missing(column)[release.source_row]
            shown = release.table.column(column)
            if column in release.table.cells:
                assert all(holds(*each) for each in zip(shown.to_pylist(), numbers.tolist(), missing.tolist()))
        if name != "anti-unification":
            order = rng_for(seed).permutation(len(table))
            whole = became(table, release)
            assert became(table, method.protect(InParts(table, 3), roles, chance_for(seed))) == whole
            moved = table.take(order)
            assert became(moved, method.protect(moved, roles, chance_for(seed))) == whole


def became(table, release):
    before, after = table.arrow.to_pylist(), release.table.plain.to_pylist()
    return Counter(repr((before[row], after[i])) for i, row in enumerate(release.source_row.tolist()))


@pytest.mark.parametrize("name", COUNTING)
def test_the_contract_holds_with_bins(name, few):
    check_method(known("method")[name])


@unhurried
@given(st.lists(st.one_of(DECIMALS, REALS), min_size=2, max_size=30), st.integers(1, 12))
def test_numbers_are_between_the_ends_of_their_bin(values, most):
    table = Table.of({"x": values})
    extent = table.extent("x")
    one = narrowest(extent, most + 1)
    counts = table.counts(["x"], {"x": one})
    low, last = counts.table.number("x"), last_values(counts.table, "x").to_numpy()
    place = counts.places(table)
    assert (low[place] <= table.number("x")).all()
    assert (table.number("x") <= last[place]).all()
    assert (last[:-1] <= low[1:]).all()  # bins do not overlap but at their ends
    assert len(counts) <= one.many(extent) <= most + 1


@unhurried
@given(st.lists(st.integers(-(2**62), 2**62), min_size=2, max_size=30), st.integers(1, 12))
def test_whole_numbers_are_cut_as_python_divides(values, most):
    table = Table.of({"x": values})
    one = narrowest(table.extent("x"), most + 1)
    assert binned(table, {"x": one}).column("x").to_pylist() == [value // one.of * one.of for value in values]
    assert one.many(table.extent("x")) == max(values) // one.of - min(values) // one.of + 1 <= most + 1


@unhurried
@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=30), st.sampled_from([1, 2, 5, 10, 20]))
def test_whole_numbers_are_cut_alike_as_integers_and_as_floating_point(values, width):
    one = {"x": Bin(width, 1, "whole")}
    first, second = (Table.of({"x": pa.array(values, kind)}).counts(["x"], one) for kind in (pa.int64(), pa.float64()))
    assert first.table.column("x").to_pylist() == second.table.column("x").to_pylist()
    assert last_values(first.table, "x").to_pylist() == last_values(second.table, "x").to_pylist()
    assert first.rows.tolist() == second.rows.tolist()


@unhurried
@given(rows=st.integers(300, 2000), seed=st.integers(0, 2**31))
def test_coarser_bins_are_ever_fewer(rows, seed):
    table, roles = many_valued(rows, seed)
    extents = {column: table.extent(column) for column in roles.quasi[:-1]}
    now, before = {}, None
    while now is not None:
        combinations = len(table.counts(roles.quasi, now))
        assert before is None or combinations <= before
        before, now = combinations, coarser(now, extents)


def incomes(rows=30_000, distinct=25_000):
    rng = np.random.default_rng(1)
    pool = rng.permutation(400_000)[:distinct]
    income = rng.permutation(np.concatenate([pool, rng.choice(pool, rows - distinct)]))
    return Table.of(
        {
            "income": income,
            "age": rng.integers(17, 90, rows),
            "sex": rng.choice(["f", "m"], rows),
            "ill": rng.choice(["flu", "cold", "gout"], rows),
            "buys": np.where((income > 150_000) ^ (rng.random(rows) < 0.2), "yes", "no"),
        }
    )


ROLES = Roles(quasi=("income", "age", "sex"), confidential=("ill",), target="buys")


@pytest.mark.parametrize("name", ["mondrian", "anti-unification-safe", "local-recoding", "kactus"])
def test_thirty_thousand_incomes(name):
    table = incomes()
    release = shoal.protect(table, name, k=10, l=2, roles=ROLES, seed=1)
    assert release.made_by[0].outcome.get("bins") == (None if name == "local-recoding" else {"income": "50"})
    assert sum("cut into bins of 50" in one for one in release.warnings) == (name != "local-recoding")
    numbers = table.number("income")[release.source_row]
    texts = release.table.column("income").to_pylist()
    tree = release.roles.hierarchies.get("income")
    assert tree is not None or all(holds(text, number, False) for text, number in zip(texts, numbers.tolist()))


def test_bins_are_in_the_certificate_and_verified(tmp_path):
    write_table(incomes(), tmp_path / "people.csv")
    recipe = Recipe(
        tmp_path / "people.csv",
        ROLES,
        (make("method", "mondrian", {"k": 10}),),
        (make("measure", "ncp"),),
        (make("attack", "distance-linkage"),),
    )
    certificate = protect_to_folder(recipe, tmp_path / "run")
    assert certificate.steps[0].outcome == {"bins": {"income": "50"}}
    assert any("'income' was cut into bins of 50" in one for one in certificate.warnings)
    assert all(one.holds for one in verify(tmp_path / "run", tmp_path / "run" / "certificate.json").checks)
    assert "bins that values were put into first: income 50" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize("bent", [{"income": 50}, {"income": "narrow"}, {"ill": "50"}, {}])
def test_bins_that_cannot_be_are_odd(bent):
    release = shoal.protect(incomes(300, 250), "mondrian", k=10, roles=ROLES, seed=1)
    step = StepPart.of(replace(release.made_by[0], outcome={"bins": {"income": "50"}}))
    assert _as_declared(step, "")
    assert not _as_declared(step.model_copy(update={"outcome": {"bins": bent}}), "")
