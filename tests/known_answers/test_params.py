"""Parameters that differ by column: one declaration, read from the words of a command line, a recipe and Python."""

import tomllib
from collections.abc import Mapping
from datetime import date
from typing import ClassVar

import pytest
import tomli_w
from pydantic import Field

from shoal.errors import ParameterError
from shoal.params import NumberOrDay, Params, PerColumn, is_one_value


class Weighed(Params):
    """Something with a number for each column."""

    name: ClassVar[str] = "weighed"
    importance: PerColumn | None = Field(None, description="By column")
    base: float | PerColumn = Field(5.0, description="One for all, or by column")
    limit: NumberOrDay | Mapping[str, NumberOrDay] | None = Field(None, description="Numbers or days")
    cuts: tuple[NumberOrDay, ...] | Mapping[str, tuple[NumberOrDay, ...]] | None = Field(None, description="Lists of them")


@pytest.mark.parametrize(
    ("words", "means"),
    [
        ({"importance": "age:2,sex:0.5"}, {"importance": {"age": 2.0, "sex": 0.5}}),
        ({"importance": " a:b : 3 "}, {"importance": {"a:b": 3.0}}),  # the last colon counts
        ({"base": "2.5"}, {"base": 2.5}),
        ({"base": "age:5,income:1000"}, {"base": {"age": 5.0, "income": 1000.0}}),
        ({"limit": "income:5e4,born:1940-01-01"}, {"limit": {"income": 50000.0, "born": "1940-01-01"}}),
        ({"limit": "1940-01-01"}, {"limit": "1940-01-01"}),
        ({"cuts": "0,18,65"}, {"cuts": (0.0, 18.0, 65.0)}),
        ({"cuts": "age:0|18,born:1900-01-01|2000-01-01"}, {"cuts": {"age": (0.0, 18.0), "born": ("1900-01-01", "2000-01-01")}}),
    ],
)
def test_words_of_a_command_line(words, means):
    read = Weighed.parse(words)
    assert {key: getattr(read, key) for key in means} == means
    assert Weighed(**means) == read
    assert Weighed.parse(read.given()) == read  # a certificate
    toml = tomli_w.dumps({"step": [{key: value for key, value in read.given().items() if value is not None}]})
    assert Weighed.parse(tomllib.loads(toml)["step"][0]) == read  # a recipe


def test_days_of_a_recipe_and_of_python():
    given = tomllib.loads("limit = {born = 1940-01-01, age = 90}")
    assert Weighed.parse(given).limit == {"born": "1940-01-01", "age": 90.0}
    assert Weighed(limit=date(1940, 1, 1)).limit == "1940-01-01"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"importance": "age:2,sex"}, r"weighed: importance is written column:number, such as importance=income:50000,age:90; got"),
        ({"importance": "age:2,age:3"}, "weighed: importance names 'age' twice"),
        ({"importance": "age:two"}, "weighed: importance of 'age' must be a number, got 'two'"),
        ({"importance": "age:inf"}, "weighed: importance of 'age' must be a number, got"),
        ({"base": "five"}, "weighed: base must be a number, got 'five'"),
        ({"base": "age:five"}, "weighed: base of 'age' must be a number, got 'five'"),
        ({"limit": "age:old"}, "weighed: limit of 'age' must be a number, or a day such as 1990-12-31"),
        ({"limit": "nan"}, "weighed: limit must be a number, or a day such as 1990-12-31"),
        ({"limit": "born:1990-02-30"}, "weighed: limit of 'born' must be a number, or a day"),
        ({"limit": True}, "weighed: limit must be a number, or a day"),
        ({"limit": 10**400}, "weighed: limit must be a number, or a day"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(words, says):
    with pytest.raises(ParameterError, match=says) as refused:
        Weighed.parse(words)
    assert refused.value.about == next(iter(words))


def test_how_they_are_listed():
    assert {name: kind for name, kind, _, _ in Weighed.reference()} == {
        "importance": "number by column",
        "base": "number or number by column",
        "limit": "number or number by column",
        "cuts": "list of numbers or list of numbers by column",
    }


def test_what_compare_takes_apart():
    assert is_one_value(Weighed, "importance", "age:2,sex:1")
    assert is_one_value(Weighed, "cuts", "0,18")
    assert not is_one_value(Weighed, "base", "5,10")
