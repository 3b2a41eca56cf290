"""Validated, frozen parameters, and the wording of their errors.

One declaration gives validation, `-p k=3` on the command line, the recipe entry, the docs table and the web form.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from shoal.errors import ParameterError, did_you_mean


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
    first = error.errors()[0]
    name = getattr(cls, "name", cls.__name__)
    where = str(first["loc"][0]) if first["loc"] else ""
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
        return f"{name}: {first['msg'].removeprefix('Value error, ')}"
    return f"{name}: {where} is not right: {first['msg'].lower()}{got}."


def _from_text(cls: type[Params], key: str, value: str) -> object:
    """A list parameter may be written a,b,c; everything else is left to pydantic's own reading."""
    field = cls.model_fields.get(key)
    if field is not None and tuple in {get_origin(part) for part in _parts(field.annotation)}:
        return tuple(word.strip() for word in value.split(",") if word.strip())
    return value


def _parts(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else (annotation,)


def _kind(annotation: Any) -> str:
    words: list[str] = []
    for part in _parts(annotation):
        if get_origin(part) is Literal:
            words.extend(str(choice) for choice in get_args(part))
        elif get_origin(part) is tuple:
            words.append("list of names")
        elif part is not type(None):
            words.append({int: "whole number", float: "number", str: "text"}.get(part, getattr(part, "__name__", str(part))))
    return " or ".join(words)
