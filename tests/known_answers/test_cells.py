"""The notation of released cells: read by eye, and written and read back whatever the values."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal import cell
from shoal.cell import Cell, read
from shoal.table import Table

calm = settings(deadline=None, derandomize=True, max_examples=150)
# what the notation itself is made of, often, and any other text
texts = st.one_of(st.text(alphabet="|*{}[]\\.0123 a-", max_size=8), st.text(max_size=8))
counts = st.integers(1, 10**12)
numbers = st.floats(-1e75, 1e75, allow_nan=False)


# ---- by eye ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "how_often"),
    [
        ("Blue", ("Blue",), (1,)),
        ("", ("",), (1,)),
        (None, (None,), (1,)),
        ("{Blue|Yellow}", ("Blue", "Yellow"), (1, 1)),
        ("{Blue*3|Yellow}", ("Blue", "Yellow"), (3, 1)),
        ("{|Blue*12}", (None, "Blue"), (1, 12)),
        ("{*4|Blue}", (None, "Blue"), (4, 1)),
        (r"\*", ("*",), (1,)),
        (r"\{a", ("{a",), (1,)),
        (r"\[1..2]", ("[1..2]",), (1,)),
        (r"\\server", (r"\server",), (1,)),
        ("a*3", ("a*3",), (1,)),
        (r"{a\*3|b}", ("a*3", "b"), (1, 1)),
        (r"{a\*3*2|b}", ("a*3", "b"), (2, 1)),
        (r"{a\|b|c\}}", ("a|b", "c}"), (1, 1)),
        (r"{a\\*3|b}", ("a\\", "b"), (3, 1)),
        ("{18*2|20}", ("18", "20"), (2, 1)),
        ("50%|60%", ("50%|60%",), (1,)),
    ],
)
def test_values_and_sets(text, values, how_often):
    one = read(text)
    assert (one.values, one.counts, one.interval) == (values, how_often, None)
    assert one.single == (len(values) == 1)
    assert not one.suppressed


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[18..25]", (18, 25)),
        ("[-5..-1]", (-5, -1)),
        ("[0.5..1.25]", (0.5, 1.25)),
        ("[-1e-07..2.5e+20]", (-1e-07, 2.5e20)),
        ("[1970-01-02..1970-01-31]", (1, 30)),  # days
        ("[1970-01-01 00:00:01..1970-01-01 00:00:02]", (1e6, 2e6)),  # microseconds
    ],
)
def test_intervals(text, ends):
    assert read(text) == Cell(interval=ends, text=text)
    assert not read(text).single
    assert not read(text).suppressed


@pytest.mark.parametrize(
    "text",
    [
        "[18..]",
        "[..]",
        "[a..b]",
        "[25..18]",
        "[1..2]\n",
        "[1-2]",
        "[1..2",
        "[1e999..1e999]",
        "[1..2..3..4]",
        "[2020-01-31..2020-01-01]",
        "[2020-02-30..2020-03-01]",
    ],
)
def test_what_is_no_interval_is_a_value(text):
    assert read(text).values == (text,)


def test_suppressed():
    assert read("*") == Cell()
    assert read("*").suppressed
    assert not read("*").single
    assert not read("**").suppressed


def test_intervals_inside_a_set():
    one = read("{0*9|[18..25]*3|[30..40]|*2}")
    assert one.values == ("0", "[18..25]", "[30..40]", None)
    assert one.counts == (9, 3, 1, 2)
    assert one.within == (None, (18, 25), (30, 40), None)
    assert read(r"{\[18..25]|b}").within == (None, None)  # a text that looks like one is not one


def test_writing():
    assert cell.write_set(["Blue", "Yellow"]) == "{Blue|Yellow}"
    assert cell.write_set(["Blue", "Yellow"], [3, 1]) == "{Blue*3|Yellow}"
    assert cell.write_set(["Blue", None], [3, 2]) == "{Blue*3|*2}"
    assert cell.write_set(["Blue"], [5]) == "Blue"
    assert cell.write_set([None], [5]) is None
    assert cell.write_set(["*"], [5]) == r"\*"
    assert cell.write_parts(["[18..25]", None]) == "{[18..25]|}"
    assert cell.write_parts(["0", "[18..25]"], [9, 3]) == "{0*9|[18..25]*3}"
    assert cell.write_parts(["[18..25]"], [3]) == "[18..25]"
    assert cell.write_interval(18.0, 25.0) == "[18..25]"
    assert cell.write_interval(0.5, 25) == "[0.5..25]"
    assert cell.write_interval(7.0, 7.0) == "7"


# ---- there and back ------------------------------------------------------------------------------------------------------------------


@calm
@given(st.one_of(st.none(), texts))
@example("*")
@example("[1..2]")
@example("{a|b}")
@example("\\")
def test_a_value_reads_back(value):
    assert read(cell.write_value(value)) == Cell((value,), (1,))


@calm
@given(st.lists(st.tuples(st.one_of(st.none(), texts), counts), min_size=2, max_size=5))
@example([("a\\", 3), ("b", 1)])
@example([("a*3", 1), ("b}", 2)])
@example([("[1..2]", 2), (None, 1)])
@example([("\n", 1), ("*1\n", 7)])
def test_a_set_reads_back_and_an_empty_text_as_missing(parts):
    values, often = (tuple(side) for side in zip(*parts))
    expected = tuple(value or None for value in values)
    with_counts = read(cell.write_set(values, often))
    assert (with_counts.values, with_counts.counts) == (expected, often)
    plain = read(cell.write_set(values))
    assert (plain.values, plain.counts) == (expected, (1,) * len(values))
    assert not any(with_counts.within)


@calm
@given(numbers, numbers)
def test_an_interval_reads_back(a, b):
    low, high = min(a, b), max(a, b)
    one = read(cell.write_interval(low, high))
    if low == high:
        assert float(one.values[0]) == low
    else:
        assert one.interval == (low, high)


@calm
@given(st.lists(st.tuples(numbers, numbers, counts), min_size=2, max_size=4))
def test_a_histogram_reads_back(parts):
    written = cell.write_parts([cell.write_interval(min(a, b), max(a, b)) for a, b, _ in parts], [c for _, _, c in parts])
    one = read(written)
    assert one.counts == tuple(c for _, _, c in parts)
    for (a, b, _), value, within in zip(parts, one.values, one.within):
        assert (within or (float(value), float(value))) == (min(a, b), max(a, b))


@calm
@given(texts)
def test_any_text_can_be_read(text):
    one = read(text)
    assert len(one.values) == len(one.counts)
    assert one.suppressed == (text == "*")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Blue", ["Blue"]),
        ("", [""]),
        (None, [None]),
        ("*", []),
        (r"\*", [r"\*"]),
        ("{Blue*3|Yellow}", ["Blue*3", "Yellow"]),
        ("{18|20*2|}", ["18", "20*2", None]),
        ("{18|*2}", ["18", "*2"]),
        ("[18..25]", ["[18..25]"]),
        ("{0*2|[18..25]}", ["0*2", "[18..25]"]),
        (r"\[1..2]", [r"\[1..2]"]),  # a text that looks like an interval
        (r"{\[1..2]|a\|b}", [r"\[1..2]", r"a\|b"]),
        ("a|b", [r"a\|b"]),
        (r"\\server", [r"\\server"]),
    ],
)
def test_lists_as_parquet_holds_them(text, values):
    assert cell.as_list(text) == values
    assert cell.from_list(values) == text


def test_a_null_is_no_list():
    assert cell.from_list(None) is None


@calm
@given(st.dictionaries(st.one_of(st.none(), texts.filter(bool)), st.integers(1, 5), min_size=1, max_size=5))
def test_lists_read_back(parts):
    text = cell.write_set(list(parts), list(parts.values()))
    assert cell.from_list(cell.as_list(text)) == text


# ---- what others ask of cells ------------------------------------------------------------------------------------------------------------


def test_expected_numbers():
    released = Table.of({"x": ["18", "{10*3|20}", "[18..25]", "*", None, "{|4|6}", "{0*2|[10..20]*2}", "{a|b}", "{2020-01-01|2020-01-03}"]})
    found = cell.expected_numbers(released, "x")
    assert found == pytest.approx([18, 12.5, 21.5, np.nan, np.nan, 5, 7.5, np.nan, 18263], nan_ok=True)


def test_value_shares():
    assert cell.value_shares(read("{Blue*3|Yellow}")) == {"Blue": 0.75, "Yellow": 0.25}
    assert cell.value_shares(read("{|Yellow}")) == {None: 0.5, "Yellow": 0.5}
    assert cell.value_shares(read("Blue")) == {"Blue": 1}
    assert cell.value_shares(read("*")) == {}
    assert math.isclose(sum(cell.value_shares(read("{a*3|b*7|c}")).values()), 1)


@pytest.mark.parametrize(
    ("before", "after", "generalized"),
    [
        (["a", "b"], ["a", "b"], False),
        (["a", "b"], ["b", "b"], False),  # replaced, not generalized
        (["a", "b"], ["{a|b}", "{a|b}"], True),
        (["a", "b"], ["*", "*"], True),
        (["a", None], ["{a|}", "{a|}"], True),
        (["{a|b}", "c"], ["{a|b}", "c"], False),  # a text the original had
        (["*a", "b"], [r"\*a", "b"], True),  # to be read before it is compared
        ([1, 2], [1.5, 1.5], False),
        ([1, 2], ["[1..2]", "[1..2]"], True),
        ([1, 2], ["1.5", "1.5"], True),  # numbers released as text
    ],
)
def test_is_generalized(before, after, generalized):
    assert cell.is_generalized(Table.of({"x": before}), Table.of({"x": after}), "x") is generalized


def test_a_column_that_is_gone_is_not_generalized():
    assert not cell.is_generalized(Table.of({"x": ["a"]}), Table.of({"y": ["a"]}), "x")
    assert not cell.is_generalized(Table.of({"x": ["a"]}), Table.of({"x": pa.nulls(1)}), "x")


def test_values_that_look_like_cells_are_read_before_they_are_compared():
    """A town named '[0] town' is released behind a backslash. Loss and linkage must read it as the town it is."""
    table = shoal.Table.of({"town": [f"[{i // 3}] town" for i in range(60)], "sex": ["fm"[i // 3 % 2] for i in range(60)]})
    release = shoal.protect(table, "mondrian", k=3, roles=shoal.Roles(quasi=("town", "sex")), seed=1)
    assert shoal.measure(table, release, "cell-loss")["cell-loss"].value == 0
    assert shoal.attack(table, release, "distance-linkage", seed=1)["distance-linkage"].rate == pytest.approx(1 / 3)
