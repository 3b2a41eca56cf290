"""Whatever the table: what lies inside a limit stays, totals are kept by a mean, rounding moves less than its base, cells cover what they stand for,
and neither the order of rows nor how they are cut into batches changes what becomes of a record."""

from datetime import date, timedelta
from fractions import Fraction

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from shoal import cell
from shoal.errors import ParameterError
from shoal.methods import BottomCoding, Recode, Rounding, TopCoding
from shoal.randomness import chance_for
from shoal.roles import Roles
from shoal.table import Table
from shoal.testing_tables import InParts

whole = st.integers(-(2**40), 2**40) | st.integers(0, 9)
broken = st.floats(-1e6, 1e6).map(lambda x: round(x, 3)) | st.sampled_from([0.1 + 0.2, -0.0, 1e9, 0.15])
days = st.integers(-40_000, 40_000).map(lambda n: date(1970, 1, 1) + timedelta(n))


def columns_of(values):
    return st.lists(st.none() | values, min_size=1, max_size=40)


numbers = columns_of(whole) | columns_of(broken)
fields = numbers | columns_of(days)


def table_of(values, **more):
    kind = pa.float64() if any(isinstance(value, float) for value in values) else None
    array = pa.array([None if value is None else float(value) if kind else value for value in values])
    return Table.of(pa.table({"x": array if not pa.types.is_null(array.type) else array.cast(pa.int64()), **more}))


def released(method, table, roles=None, seed=1):
    """The column in the order of the original, whole, in parts and in another order: all three must agree."""
    roles = (roles or Roles(quasi=("x",), rest="release")).check(table)
    whole_, parts = (method.protect(source, roles, chance_for(seed)) for source in (table, InParts(table, 3)))
    order = np.random.default_rng(len(table)).permutation(len(table))
    moved = method.protect(table.take(order), roles, chance_for(seed))
    first, second = (cells_of(one) for one in (whole_, parts))
    third = [value for _, value in sorted(zip(order.tolist(), cells_of(moved)), key=lambda pair: pair[0])]
    assert first == second
    by_value = [sorted(zip(map(str, table.column("x").to_pylist()), map(str, found))) for found in (first, third)]
    assert by_value[0] == by_value[1]  # equal rows are interchangeable
    return first


def cells_of(release):
    back = np.argsort(release.source_row)
    column = release.table.column("x").to_pylist()
    return [column[i] for i in back]


@given(fields, st.floats(0, 100), st.sampled_from([TopCoding, BottomCoding]))
def test_nothing_inside_the_limit_changes_and_nothing_stays_beyond(values, percentile, method):
    table = table_of(values)
    before = table.column("x").to_pylist()
    found = released(method(percentile=percentile), table)
    known = sorted(value for value in before if value is not None)
    assert [value is None for value in before] == [value is None for value in found]
    if not known:
        return
    limit = (max if method is TopCoding else min)(value for value in found if value is not None)
    assert limit in known
    assert found == [None if v is None else min(v, limit) if method is TopCoding else max(v, limit) for v in before]
    share = Fraction(repr(percentile)) / 100 * len(known)
    assert sum(value <= limit for value in known) >= share  # so many do not exceed it,
    assert sum(value < limit for value in known) < max(share, 1)  # and it is the first of which that is so


@given(fields, fields, st.sampled_from([TopCoding, BottomCoding]))
def test_a_cell_covers_what_it_stands_for_and_its_end_is_nobodys(values, limits, method):
    table = table_of(values)
    limit = next((value for value in limits if value is not None and isinstance(value, date) == (table.kind("x") == "date")), None)
    if limit is None:
        return
    before = table.number("x")
    found = released(method(limit={"x": limit}, replacement="cell"), table)
    place = (limit - date(1970, 1, 1)).days if isinstance(limit, date) else float(limit)
    for value, text in zip(before.tolist(), found):
        beyond = value > place if method is TopCoding else value < place
        if not beyond:
            assert (text is None) == (value != value)
            assert text is None or not str(text).startswith("[")
            continue
        low, high = cell.read(text).interval
        assert low <= value <= high
        assert (low if method is TopCoding else high) == place
    ends = {cell.read(str(text)).interval for text in found} - {None}
    assert len(ends) <= 1  # one cell for all
    if ends and table.kind("x") == "number":
        low, high = ends.pop()
        end = high if method is TopCoding else low
        assert end == 0 or end not in before.tolist()


@given(numbers, st.floats(0, 100), st.lists(st.integers(1, 1000), min_size=40, max_size=40), st.sampled_from([TopCoding, BottomCoding]))
def test_a_mean_keeps_the_weighted_total(values, percentile, weights, method):
    table = table_of(values, w=pa.array(weights[: len(values)]))
    mean = method(percentile=percentile, replacement="mean", fewest=2)
    refused, found = "", []
    try:
        found = released(mean, table, Roles(quasi=("x",), weight=("w",)))
    except ParameterError as error:
        refused = str(error)
    if refused:
        assert "1 record of column 'x'" in refused
        return
    before = table.column("x").to_pylist()
    known = [(old, new, weight) for old, new, weight in zip(before, found, weights) if old is not None]
    total = sum(Fraction(old) * weight for old, _, weight in known)
    size = max((abs(old) for old, _, _ in known), default=0)
    assert abs(float(sum(Fraction(new) * weight for _, new, weight in known) - total)) <= 1e-9 * float(size + 1) * sum(weights)
    assert len({new for old, new, _ in known if old != new}) <= 1


@given(numbers, st.sampled_from([5, 7, 1000, 0.1, 2.5, 0.001, 1e9]))
def test_rounding_moves_at_most_half_its_base(values, base):
    table = table_of(values)
    found = released(Rounding(base=base), table)
    for old, new in zip(table.column("x").to_pylist(), found):
        assert (old is None) == (new is None)
        if old is not None:
            times = Fraction(new) / Fraction(repr(base))
            assert abs(times - round(times)) <= 1e-9 * max(1, abs(times))
            assert abs(Fraction(new) - Fraction(old)) <= Fraction(repr(base)) / 2 * (1 + Fraction(1, 10**9)) + Fraction(abs(old)) / 10**12


@given(numbers, st.sampled_from([5, 7, 1000, 0.1, 2.5]), st.integers(0, 99))
def test_rounding_by_chance_goes_up_where_the_draw_is_below_the_remainder(values, base, seed):
    """No luck is asserted: the draw of each row is asked for, and the direction follows from it."""
    table = table_of(values)
    found = released(Rounding(base=base, rule="random"), table, seed=seed)
    draws = chance_for(seed).uniform(table.row_ids(chance_for(seed)), "x")
    exact = Fraction(repr(base))
    for old, new, draw in zip(table.column("x").to_pylist(), found, draws.tolist()):
        if old is None:
            assert new is None
            continue
        times = Fraction(repr(old) if isinstance(old, float) else old) / exact
        share = times - times.__floor__()
        if abs(Fraction(draw) - share) > Fraction(1, 10**6):
            up = int(Fraction(draw) < share)
            assert abs(Fraction(new) - (times.__floor__() + up) * exact) <= Fraction(1, 10**9) * (abs(Fraction(old)) + 1)
        assert abs(Fraction(new) - Fraction(old)) <= exact * (1 + Fraction(1, 10**6))


@given(
    fields, st.lists(st.integers(-1000, 1000) | st.floats(-1000, 1000).map(lambda x: round(x, 2)), min_size=1, max_size=5, unique_by=float)
)
def test_every_value_is_in_its_interval_and_intervals_are_those_of_the_cuts(values, cuts):
    table = table_of(values)
    if table.kind("x") == "date":
        cuts = [date(1970, 1, 1) + timedelta(int(cut) * 20) for cut in sorted({int(cut) for cut in cuts})]
    cuts = sorted(cuts)
    found = released(Recode(cuts=tuple(cuts), ends="open"), table)
    places = [(cut - date(1970, 1, 1)).days if isinstance(cut, date) else cut for cut in cuts]
    texts: dict[int, set[str]] = {}
    for value, text in zip(table.number("x").tolist(), found):
        if value != value:
            assert text is None
            continue
        read = cell.read(text)
        low, high = read.interval or (cell.to_number(text), cell.to_number(text))
        assert low <= value <= high
        texts.setdefault(sum(place <= value for place in places), set()).add(text)
    assert all(len(same) == 1 for same in texts.values())  # equal parts, equal cells
    assert len(set.union(set(), *texts.values())) == len(texts)  # and different ones are told apart


@given(
    st.lists(st.none() | st.sampled_from(["a", "b", "c|d", "{e", "*"]), min_size=1, max_size=20),
    st.lists(st.integers(0, 2), min_size=5, max_size=5),
)
def test_a_set_names_all_values_of_its_category(values, groups):
    pool = ["a", "b", "c|d", "{e", "*"]
    given_ = {value: f"group {group}" for value, group in zip(pool, groups)}
    table = Table.of(pa.table({"x": pa.array(values, pa.string())}))
    found = released(Recode(map=given_), table, Roles(quasi=("x",), nominal=("x",)))
    for value, text in zip(values, found):
        if value is None:
            assert text is None
        else:
            assert set(cell.read(text).values) == {other for other in pool if given_[other] == given_[value]}
