"""Ordered t-closeness worked by hand where floats, words for missing and codes used to break the order of values.

One class has the middle of three values, the other the lowest and the highest: after the lowest the first class is 1/3 behind the whole table,
after the middle one 1/3 ahead, so over two steps it is 1/3 away. In any other order it would be 1/2.
"""

from pathlib import Path

import pytest

from shoal.checks.tables import check_file
from shoal.checks.values import Written
from shoal.promises import Promise

THREE = [
    ("9007199254740992", "9007199254740993", "9007199254740994", ""),  # the first two are one float
    ("-123456789012345678", "123456789012345677", "123456789012345678", ""),
    ("1", "2", "NaN", "NaN"),  # missing is the last value
    ("-1", "10", "?", "?"),
    ("9", "10", "", ""),
    ("5e-324", "1e-323", "1e400", ""),
    ("-1e400", "-1e399", "0", ""),
    ("0.1", "0.10000000000000001", "0.2", ""),
    ("-inf", "0", "inf", ""),
    ("999-12", "nan", "zzz", ""),  # text by its letters
    ("10", "1_0", "9", ""),  # one is no number: all are text
    ("007", "10", "9", ""),
    ("9999-12-31", "10000-01-01", "10000-01-02", ""),
    ("2020-01-01 23:59:59+0100", "2020-01-01 23:00:00Z", "2020-01-01 22:59:59-0100", ""),
    ("Zoe\u0308", "Zoë", "zoe", ""),
]


@pytest.mark.parametrize(("lowest", "middle", "highest", "missing"), THREE)
def test_the_middle_value_is_a_third_away(tmp_path: Path, lowest: str, middle: str, highest: str, missing: str) -> None:
    (tmp_path / "f.csv").write_text(f'q;s\na;{middle}\nb;"{lowest}"\nb;"{highest}"\n', encoding="utf-8")
    (found,) = check_file(tmp_path / "f.csv", ";", [Promise("ordered-t-closeness", 0.34, ("q",), "s")], None, Written(missing))
    assert found.found == pytest.approx(1 / 3)
    assert found.holds


def test_zero_has_no_sign_and_a_number_no_form(tmp_path: Path) -> None:
    """0 and -0 are one value, and so, in order, are 1 and 1.0: both classes are like the whole table."""
    (tmp_path / "f.csv").write_text("q,s\na,0\na,1\nb,-0\nb,1.0\n")
    ordered, distinct = Promise("ordered-t-closeness", 0.1, ("q",), "s"), Promise("l-diversity", 2, ("q",), "s")
    assert [one.found for one in check_file(tmp_path / "f.csv", ",", [ordered, distinct])] == [0, 2]
    (tmp_path / "f.csv").write_text("q,s\na,0\na,-0\n")
    assert check_file(tmp_path / "f.csv", ",", [distinct])[0].found == 1
