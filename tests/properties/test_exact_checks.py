"""The independent check against counting by hand: dictionaries, Counter, Fraction and the csv module, on values that break sloppy readers."""

import csv
import datetime
import io
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.checks import combinations
from shoal.checks.tables import check_file
from shoal.checks.values import Written, places
from shoal.errors import DataError
from shoal.files import read_table
from shoal.promises import Promise
from shoal.registry import make
from shoal.roles import Roles
from shoal.runs.recipe import apply_steps, ready
from shoal.runs.run import check_kept
from shoal.table import Table
from shoal.writing import write_table

adversarial = settings(
    deadline=None, max_examples=150, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
Row = tuple[str, str, str]

WORDS = [
    "Zoë",
    "Zoe\u0308",
    "zoe",
    "a",
    "а",
    "*",
    "\\*",
    "",
    "NaN",
    "nan",
    "None",
    "inf",
    "-",
    "1/2",
    "1_000",
    "٣",
    "7",
    " 7",
    "7 ",
    "007",
    "+7",
]
WORDS += [
    "x\x1fy",
    "x",
    "y",
    'say "hi"',
    "two\nlines",
    "two\r\nlines",
    "semi;colon",
    "com,ma",
    "\u200b",
    "2020-02-31",
    "0",
    "-0",
]
LONG = "long" * 40_000  # longer than the csv module takes by itself
NUMBERS = ["0", "1", "-1", "9007199254740992", "9007199254740993", "9007199254740994", "123456789012345678", "-123456789012345678"]
REALS = [
    "0",
    "-0",
    "0.1",
    "0.10000000000000001",
    "1e300",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "1e-323",
    "inf",
    "-inf",
    "9007199254740993",
    "2",
]
MOMENTS = ["2020-01-31", "2020-02-01", "0001-01-01", "9999-12-31", "1899-12-31", "10183-09-21"]


def tables(values: list[str], missing: list[str]) -> st.SearchStrategy[list[Row]]:
    quasi = st.sampled_from(["a", "b", "é", "e\u0301", "*", missing[0]])
    return st.lists(st.tuples(quasi, quasi, st.sampled_from([*values, missing[0]])), min_size=1, max_size=14)


def written(path: Path, rows: list[Row], delimiter: str = ",") -> Path:
    text = io.StringIO(newline="")
    out = csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    out.writerow(["p", "q", "s"])
    out.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8", newline="")
    return path


# ---- by hand -----------------------------------------------------------------------------------------------------------------------


def exactly(text: str) -> tuple[int, Fraction]:
    """A number, where infinities come before and after all others. Powers of ten beyond a thousand are not drawn."""
    if text in ("inf", "-inf"):
        return (1 if text == "inf" else -1), Fraction(0)
    return 0, Fraction(text)


def classes_of(rows: list[Row]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for p, q, s in rows:
        found.setdefault((p, q), []).append(s)
    return found


def by_hand(rows: list[Row], missing: str, order: Any = None) -> dict[str, float]:
    """k, l, entropy l, t, and t over an order, of text cells; missing is no value for l and entropy, and one more, the last, for t."""
    none = {missing, ""}
    classes = classes_of(rows)
    known = [[s for s in inside if s not in none] for inside in classes.values()]
    entropy = [-sum(n / len(c) * math.log(n / len(c)) for n in Counter(c).values()) for c in known if c]
    value = (lambda s: (1, 0) if s in none else (0, order(s))) if order else (lambda s: None if s in none else s)
    whole = Counter(value(row[2]) for row in rows)
    shares = [(Counter(map(value, inside)), len(inside)) for inside in classes.values()]
    gaps = [{v: Fraction(c[v], n) - Fraction(m, len(rows)) for v, m in whole.items()} for c, n in shares]
    found: dict[str, float] = {
        "k-anonymity": min(map(len, classes.values())),
        "l-diversity": min(len(set(c)) for c in known),
        "entropy-l-diversity": math.exp(min(entropy)) if all(known) else 0.0,
        "t-closeness": float(max(sum(map(abs, gap.values())) / 2 for gap in gaps)),
    }
    if order:
        moved = []
        for gap in gaps:
            reached, total = Fraction(0), Fraction(0)
            for v in sorted(gap)[:-1]:
                reached += gap[v]
                total += abs(reached)
            moved.append(total / max(len(gap) - 1, 1))
        found["ordered-t-closeness"] = float(max(moved))
    return found


def counted(path: Path, kinds: list[str], missing: str, delimiter: str = ",") -> dict[str, float]:
    promises = [Promise(kind, 1, ("p", "q"), None if kind == "k-anonymity" else "s", ignores=("",)) for kind in kinds]
    how = Written(missing, decimal="," if delimiter == ";" else ".")
    return {p.what: one.found for p, one in zip(promises, check_file(path, delimiter, promises, None, how))}


def same(rows: list[Row], path: Path, missing: str, order: Any = None, delimiter: str = ",") -> None:
    expected = by_hand(rows, missing, order)
    assert counted(written(path, rows, delimiter), list(expected), missing, delimiter) == pytest.approx(expected, abs=1e-12)


tokens = st.sampled_from(["", "NaN", "?", "-9"])


@adversarial
@given(st.data(), tokens)
def test_words(tmp_path: Path, data: st.DataObject, missing: str) -> None:
    """Cells that look like others are others, and a long one is one like any other."""
    rows = [(p, q, LONG if s == "long" else s) for p, q, s in data.draw(tables([*WORDS, "long"], [missing]))]
    known = {s for *_, s in rows if s not in (missing, "")}
    if {"0", "-0"} <= known and known <= {"0", "-0", "7", "+7", "inf"}:
        return  # then it is a column of numbers, in which these are one
    same(rows, tmp_path / "f.csv", missing)


@adversarial
@given(st.data(), tokens)
def test_whole_numbers_beyond_what_floats_tell_apart(tmp_path: Path, data: st.DataObject, missing: str) -> None:
    same(data.draw(tables(NUMBERS, [missing])), tmp_path / "f.csv", missing, exactly)


@adversarial
@given(st.data(), tokens)
def test_numbers_huge_and_tiny(tmp_path: Path, data: st.DataObject, missing: str) -> None:
    """0.1 and 0.10000000000000001 are different on paper; 0 and -0 are not."""
    rows = data.draw(tables(REALS, [missing]))
    expected = by_hand([(p, q, "0" if s == "-0" else s) for p, q, s in rows], missing, exactly)
    assert counted(written(tmp_path / "f.csv", rows), list(expected), missing) == pytest.approx(expected, abs=1e-12)


@adversarial
@given(st.data())
def test_a_decimal_comma(tmp_path: Path, data: st.DataObject) -> None:
    rows = data.draw(tables(["1,5", "10,25", "9", "-3,0", "1e3"], [""]))
    same(rows, tmp_path / "f.csv", "", lambda text: exactly(text.replace(",", ".")), ";")


def test_what_has_the_other_mark_is_text(tmp_path: Path) -> None:
    """1.5 beside 1,5 is a text, for the file's reader and for its checks: 10,5 stands before 9,5."""
    cells = ["1,5", "9,5", "10,5", "1.5"]
    path = tmp_path / "f.csv"
    path.write_text("p;s\n" + "".join(f"a;{cell}\n" for cell in cells))
    assert places(pa.array(cells), np.zeros(4, np.bool_), "", ",").tolist() == [0, 3, 2, 1]
    assert read_table(path).kind("s") == "text"
    path.write_text("p;s\n" + "a;1,5\n" * 2500 + "a;1.5\n")
    assert read_table(path).kind("s") == "text"
    path.write_text("p;s\na;-0,0\na;5e-324\na;1,5\n")
    assert read_table(path).format.decimal == ","
    assert read_table(path).kind("s") == "number"


@adversarial
@given(st.data(), tokens)
def test_dates(tmp_path: Path, data: st.DataObject, missing: str) -> None:
    rows = data.draw(tables(MOMENTS, [missing]))
    same(rows, tmp_path / "f.csv", missing, lambda text: tuple(map(int, text.split("-"))))


@adversarial
@given(st.data())
def test_a_column_of_text_is_ordered_as_text(tmp_path: Path, data: st.DataObject) -> None:
    """007 is a code, 1/2, 1_000 and ' 7' are no numbers: then nothing in the column is."""
    rows = [*data.draw(tables(["10", "9", "1/2", "1_000", " 7", "٣", "007"], [""])), ("a", "a", "007")]
    same(rows, tmp_path / "f.csv", "", lambda text: text.encode())


@adversarial
@given(st.data())
def test_typed_columns_of_parquet(tmp_path: Path, data: st.DataObject) -> None:
    """Each type by its own order; NaN is missing, and zero has no sign."""
    big, cents, day = 2**53, pa.decimal128(38, 2), datetime.date(1, 1, 1)
    type_, values = data.draw(
        st.sampled_from(
            [
                (pa.uint64(), [0, big, big + 1, 2**64 - 1]),
                (pa.float64(), [0.0, -0.0, math.nan, 5e-324, 1e308, math.inf]),
                (pa.float16(), [np.float16(0), np.float16(-9.9), np.float16(7)]),
                (cents, [f"{big}.01", f"{big}.02", "-0.01"]),
                (pa.date32(), [day, datetime.date(9999, 12, 31)]),
                (pa.dictionary(pa.int8(), pa.large_string()), ["b", "a", "10", "9", "z"]),
            ]
        )
    )
    rows = data.draw(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("ab"), st.sampled_from([*values, None])), min_size=1))
    cells = [row[2] for row in rows]
    column = pa.array(cells).cast(cents) if type_ == cents else pa.array(cells, type_)
    path, table = tmp_path / "f.parquet", pa.table({"p": [r[0] for r in rows], "q": [r[1] for r in rows], "s": column})
    pq.write_table(table, path, row_group_size=3)
    texts = {
        v: str(i) for i, v in enumerate(sorted({Fraction(str(v)) if type_ == cents else v for v in cells if v is not None and v == v}))
    }
    plain = [(p, q, "" if s is None or s != s else texts[Fraction(str(s)) if type_ == cents else s]) for p, q, s in rows]
    expected = by_hand(plain, "", int)
    assert counted(path, list(expected), "") == pytest.approx(expected, abs=1e-12)


@adversarial
@given(st.lists(st.tuples(st.sampled_from("12345"), st.sampled_from(["a", "é", "e\u0301", "?", "*", "a\n"])), min_size=1), st.booleans())
def test_households(tmp_path: Path, rows: list[tuple[str, str]], some_are_missing: bool) -> None:
    """Households look alike that have the same rows, each as often; a missing number is nobody's."""
    missing = "5" if some_are_missing else "?"
    path = written(tmp_path / "f.csv", [(q, str(i), number) for i, (number, q) in enumerate(rows)])
    members: dict[str, list[str]] = {}
    for number, q in rows:
        if number != missing:
            members.setdefault(number, []).append(q)
    looks = Counter(tuple(sorted(one)) for one in members.values())
    (found,) = check_file(path, ",", [Promise("household-k", 77, ("p",), "s", "households")], None, Written(missing))
    several = any(len(one) > 1 for one in members.values())
    if not several:  # else a column that rows happen to share may be compared too
        assert found.found == min(looks.values(), default=77)


def test_lists_whose_elements_hold_what_parts_elements(tmp_path: Path) -> None:
    """['x', 'y'], ['x<unit separator>y'], [], ['*'], [None] and a missing list are six cells."""
    cells = [["x", "y"], ["x\x1fy"], [], ["*"], [None], ["\x00"], ["\x1e2"], ["x\x1e1y"], None, [""]]
    for type_ in (pa.list_(pa.string()), pa.list_(pa.large_string()), pa.list_(pa.dictionary(pa.int8(), pa.string()))):
        if pa.types.is_dictionary(type_.value_type):
            flat = pa.array([one for cell in cells for one in cell or ()]).dictionary_encode().cast(type_.value_type)
            offsets = pa.array(np.cumsum([0, *(len(cell or ()) for cell in cells)]).astype(np.int32))
            column = pa.ListArray.from_arrays(offsets, flat, mask=pa.array([cell is None for cell in cells]))
        else:
            column = pa.array(cells, type_)
        pq.write_table(pa.table({"p": column, "q": ["a"] * len(cells)}), tmp_path / "f.parquet")
        (found,) = check_file(tmp_path / "f.parquet", ",", [Promise("k-anonymity", 1, ("p", "q"))])
        assert found.found == 1
        assert len(combinations.cells_of(combinations.stretches(tmp_path / "f.parquet", ",", ["p"]), ["p"]).levels["p"]) == len(cells)


def test_rows_longer_than_a_stretch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(combinations, "STRETCH", 1 << 10)
    rows = [("a", "b", "s")] * 50 + [("a", "b", "long" * 3000)] + [("a", "b", "t\n" * 20)] * 50
    path = written(tmp_path / "f.csv", rows)
    assert counted(path, ["k-anonymity", "l-diversity"], "") == {"k-anonymity": 101, "l-diversity": 3}


def test_a_header_longer_than_python_allows_by_itself(tmp_path: Path) -> None:
    name = "n" * 200_000
    (tmp_path / "f.csv").write_text(f"{name}\na\na\n")
    assert check_file(tmp_path / "f.csv", ",", [Promise("k-anonymity", 2, (name,))])[0].found == 2


@pytest.mark.parametrize("content", [b"p,q,s\nsecret,b\n", b"p,q,s\nsecret\xff,b,c\n", b"\xff,q,s\n", b"PAR1 and nothing more"])
def test_a_damaged_file_is_said_to_be_one_without_its_cells(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.csv").write_bytes(content)
    with pytest.raises(DataError) as found:
        check_file(tmp_path / "f.csv", ",", [Promise("k-anonymity", 2, ("p", "q", "s"))])
    assert "secret" not in str(found.value)


# ---- from the method to the written file -------------------------------------------------------------------------------------------

CODES = [("1000000000", "1000000001"), ("9007199254740992", "9007199254740993"), ("-9", "-9.0000001")]


@pytest.mark.parametrize(("code", "value"), CODES)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_value_near_a_code_for_missing_is_a_value(tmp_path: Path, code: str, value: str, kind: str) -> None:
    table = Table.of({"p": [1] * 4, "s": [Fraction(one).__float__() if "." in value else int(one) for one in (code, value, "3", "4")]})
    path = tmp_path / f"f.{kind}"
    write_table(table, path)
    promise = Promise("l-diversity", 3, ("p",), "s", ignores=("", code))
    assert check_file(path, ",", [promise])[0].found == 3
    assert Roles(missing={"s": (code,)}).missing_levels(table, "s").sum() == 1


@settings(adversarial, max_examples=60)
@given(
    st.sampled_from([NUMBERS, REALS, MOMENTS[:-1], WORDS, ["1000000000", "1000000001", "3", "4"]]),
    st.integers(0, 2**32),
    tokens,
    st.sampled_from([{"t": 0.3}, {"l": 2}, {"entropy": 1.5}, {"l": 2, "t": 0.4}]),
    st.sampled_from(["csv", "parquet"]),
)
def test_what_a_method_keeps_is_found_kept_in_the_file(
    tmp_path: Path, values: list[str], seed: int, missing: str, asked: dict[str, Any], kind: str
) -> None:
    rng = np.random.default_rng(seed)
    some = [*values, missing]
    rows = [(str(rng.integers(90)), str(rng.integers(3)), some[rng.integers(len(some))]) for _ in range(60)]
    table = read_table(written(tmp_path / "f.csv", rows), missing=[missing] if missing else [])
    if kind == "parquet":
        write_table(table, tmp_path / "f.parquet")
        table = read_table(tmp_path / "f.parquet")
    roles = Roles(quasi=("p", "q"), confidential=("s",), missing={"s": ("1000000000",)})
    table, roles = ready(table, roles, (step := make("method", "mondrian", {"k": 2, **asked}),))
    release = apply_steps(table, roles, [step], seed)
    path = tmp_path / f"release.{kind}"
    write_table(release.table, path)
    for one in check_kept(path, release):
        assert one.holds
    measured = {p.what: make("measure", _measure(p.what)).measure(table, release, roles).value for p in release.promises}
    found = {p.what: one.found for p, one in zip(release.promises, check_kept(path, release))}
    assert found == pytest.approx(measured, abs=1e-9)


def _measure(promise: str) -> str:
    return "t-closeness" if promise == "ordered-t-closeness" else promise


def test_dates_that_are_written_day_first_are_ordered_as_dates(tmp_path: Path) -> None:
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=37 * i) for i in range(40)]
    lines = "".join(f"{i // 2},{day:%d.%m.%Y}\n" for i, day in enumerate(days))
    (tmp_path / "f.csv").write_text(f"age,since\n{lines}")
    roles = Roles(quasi=("age",), confidential=("since",), kinds={"since": "date:%d.%m.%Y"})
    step = make("method", "mondrian", {"k": 4, "t": 0.26})
    table, roles = ready(read_table(tmp_path / "f.csv"), roles, (step,))
    release = apply_steps(table, roles, [step], 1)
    write_table(release.table, tmp_path / "release.csv")
    found = check_kept(tmp_path / "release.csv", release)[-1].found
    assert found == pytest.approx(make("measure", "t-closeness").measure(table, release, roles).value)


def test_a_word_that_means_missing_among_numbers_only_stays_a_word(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text(
        "age,job,income\n" + "".join(f"{i},{'-' if i % 2 else 'baker'},{'-' if i % 3 else i}\n" for i in range(20))
    )
    roles = Roles(quasi=("age",), confidential=("job", "income"))
    step = make("method", "mondrian", {"k": 6, "l": 2})
    table, roles = ready(read_table(tmp_path / "f.csv"), roles, (step,))
    release = apply_steps(table, roles, [step], 1)
    write_table(release.table, tmp_path / "release.csv")
    assert all(one.holds for one in check_kept(tmp_path / "release.csv", release))
