"""Validated, frozen parameters, and the wording of their errors.

One declaration gives validation, `-p k=3` on the command line, the recipe entry, the docs table and the web form. What differs by column is a
mapping, declared as `PerColumn`: `-p limit=income:50000,age:90`, `limit = {income = 50000, age = 90}` in a recipe, a dict in Python.
"""

from __future__ import annotations

import datetime
import math
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, PlainValidator, ValidationError

from shoal.errors import ParameterError, did_you_mean

PerColumn = Mapping[str, float]
_PLACE = "a number, or a day such as 1990-12-31."


class Params(BaseModel):
    """A frozen set of parameters with a name. Methods, measures and attacks are such objects with one verb."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    name: ClassVar[str]
    title: ClassVar[str] = ""

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            first = error.errors()[0]["loc"]
            raise ParameterError(_sentence(type(self), error), about=str(first[0]) if first else None) from None

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Self:
        """From words: the command line hands in text, a recipe hands in numbers and lists."""
        return cls(**{key: _from_text(cls, key, value) if isinstance(value, str) else value for key, value in given.items()})

    @classmethod
    def beside(cls, given: Mapping[str, object], folder: Path) -> Mapping[str, object]:
        """As a recipe in a folder gives them: a class whose parameter names a file finds it there."""
        return given

    def given(self) -> dict[str, Any]:
        """The parameters as plain JSON values, for recipes and certificates."""
        return self.model_dump(mode="json")

    @classmethod
    def reference(cls) -> list[tuple[str, str, str, str]]:
        """(parameter, kind, default, description) for docs and `shoal list`."""
        return [
            (key, _kind(field.annotation), "" if field.default is None else str(field.default), field.description or "")
            for key, field in cls.model_fields.items()
        ]

    @classmethod
    def summary(cls) -> str:
        """The first sentence of the class's own explanation."""
        return (cls.__doc__ or "").strip().split("\n")[0]


def _sentence(cls: type[Params], error: ValidationError) -> str:
    first = _worst(error)
    name = getattr(cls, "name", cls.__name__)
    column = _column(cls, first["loc"])
    where = (str(first["loc"][0]) if first["loc"] else "") + (f" of '{column}'" if column else "")
    context = first.get("ctx", {})
    kind = first["type"]
    got = f", got {first['input']!r}"
    if kind == "extra_forbidden":
        known = ", ".join(cls.model_fields) or "none"
        return f"{name} has no parameter '{where}'.{did_you_mean(where, cls.model_fields)} Known: {known}."
    if kind == "greater_than_equal":
        return f"{name}: {where} must be {context['ge']:g} or more{got}."
    if kind == "greater_than":
        return f"{name}: {where} must be more than {context['gt']:g}{got}."
    if kind == "less_than_equal":
        return f"{name}: {where} must be at most {context['le']:g}{got}."
    if kind == "less_than":
        return f"{name}: {where} must be less than {context['lt']:g}{got}."
    if kind == "literal_error":
        return f"{name}: {where} must be {context['expected']}{got}."
    if kind == "missing":
        return f"{name}: {where} is needed. Give it with -p {where}=..."
    if kind.startswith(("int", "float", "finite_number")):
        return f"{name}: {where} must be {'a whole number' if kind.startswith('int') else 'a number'}{got}."
    if kind == "value_error":
        sentence = first["msg"].removeprefix("Value error, ")
        return f"{name}: {f'{where} {sentence}' if sentence.startswith('must') else sentence}"
    return f"{name}: {where} is not right: {first['msg'].lower()}{got}."


def _worst(error: ValidationError) -> Any:
    """Of a parameter that may be one number or one for each column, what is wrong with that of a column, if it was given so."""
    every = error.errors()
    same = [one for one in every if one["loc"][:1] == every[0]["loc"][:1]]
    return max(same, key=lambda one: (len(one["loc"]), one["type"] not in ("dict_type", "tuple_type")))


def _column(cls: type[Params], loc: tuple[int | str, ...]) -> str:
    """The column whose number is wrong, where a parameter has one for each; of several kinds pydantic names the one it tried before."""
    field = cls.model_fields.get(str(loc[0])) if loc else None
    kinds = [] if field is None else [get_origin(part) for part in _parts(field.annotation) if part is not type(None)]
    inside = loc[1:] if kinds == [Mapping] else next((loc[i + 1 :] for i, part in enumerate(loc) if str(part).startswith("dict[")), ())
    return str(inside[0]) if inside else ""


def _from_text(cls: type[Params], key: str, value: str) -> object:
    """A list may be written a,b,c, and what differs by column a:1,b:2 (lists of numbers a:1|2,b:3|4); all else is left to pydantic's own reading."""
    kinds = _kinds_of(cls, key)
    if Mapping in kinds and (":" in value or all(_is_by_column(part) for part in _parts(cls.model_fields[key].annotation))):
        return _by_column(cls, key, value)
    if tuple in kinds:
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


def _by_column(cls: type[Params], key: str, text: str) -> dict[str, object]:
    inside = next(get_args(part)[1] for part in _parts(cls.model_fields[key].annotation) if get_origin(part) is Mapping)
    found: dict[str, object] = {}
    for word in text.split(","):
        column, colon, value = (part.strip() for part in word.rpartition(":"))
        if not (column and colon and value):
            raise ParameterError(f"{cls.name}: {key} is written column:number, such as {key}=income:50000,age:90; got '{text}'.", about=key)
        if column in found:
            raise ParameterError(f"{cls.name}: {key} names '{column}' twice. Keep one.", about=key)
        found[column] = tuple(one.strip() for one in value.split("|")) if get_origin(inside) is tuple else value
    return found


def is_one_value(cls: type[Params], key: str, text: str) -> bool:
    """Whether a text with commas is one value of a parameter, and not several to try one after the other."""
    kinds = _kinds_of(cls, key)
    return tuple in kinds or (Mapping in kinds and ":" in text)


def _kinds_of(cls: type[Params], key: str) -> set[Any]:
    field = cls.model_fields.get(key)
    return set() if field is None else {get_origin(part) for part in _parts(field.annotation) if not _is_map(part)}


def _is_by_column(annotation: Any) -> bool:
    return get_origin(annotation) is Mapping or annotation is type(None)


def _is_map(annotation: Any) -> bool:
    """Whether it gives each value of a column a text, and not each column a number."""
    return get_origin(annotation) is Mapping and str in _parts(get_args(annotation)[1])


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def number_or_day(value: object) -> float | str:
    """A place among numbers or dates: a number, or a day as text, year first."""
    if isinstance(value, datetime.date):
        return value.isoformat()[:10]
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        except ValueError:
            return _day(str(value).strip())
        if math.isfinite(number):
            return number
    raise ValueError(f"must be {_PLACE}")


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"must be {_PLACE}") from None


NumberOrDay = Annotated[float | str, PlainValidator(number_or_day)]


def _kind(annotation: Any) -> str:
    words: list[str] = []
    for part in _parts(annotation):
        if get_origin(part) is Literal:
            words.extend(str(choice) for choice in get_args(part))
        elif _is_map(part):
            words.append("map of values")
        elif get_origin(part) is Mapping:
            words.append(f"{_kind(get_args(part)[1])} by column")
        elif get_origin(part) is tuple:
            words.append("list of numbers" if get_args(part)[0] in (float, NumberOrDay) else "list of names")
        elif get_origin(part) is Annotated:
            words.append("number" if part == NumberOrDay else _kind(get_args(part)[0]))
        elif part is not type(None):
            words.append({int: "whole number", float: "number", str: "text"}.get(part, getattr(part, "__name__", str(part))))
    return " or ".join(words)
