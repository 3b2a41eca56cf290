"""Find a method, measure or attack by its name, of tables or of collections; plug-ins join through entry points of the same group names."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal, overload

from shoal.contracts import Attack, Measure, Method
from shoal.errors import UnknownNameError, did_you_mean

TableKind = Literal["method", "measure", "attack"]
CollectionKind = Literal["collection-method", "collection-measure", "collection-attack"]
Kind = Literal["method", "measure", "attack", "collection-method", "collection-measure", "collection-attack"]


@cache
def known(kind: Kind) -> Mapping[str, type[Any]]:
    """Name -> class: shoal's own in their order, then plug-ins, which may not take a name that exists."""
    family, _, what = kind.rpartition("-")
    own = getattr(import_module(f"shoal.{family}s" if family else f"shoal.{what}s"), f"{what.upper()}S")
    found: dict[str, type[Any]] = {cls.name: cls for cls in own}
    for point in entry_points(group=f"shoal.{kind.replace('-', '_')}s"):
        cls = point.load()
        if cls.name in found:
            raise UnknownNameError(f"The plug-in {point.value} wants the {kind} name '{cls.name}', which is taken. Rename it.")
        found[cls.name] = cls
    return found


def find(kind: Kind, name: str) -> type[Any]:
    """The class registered under a name."""
    names = known(kind)
    if name not in names:
        raise UnknownNameError(
            f"There is no {in_words(kind)} named '{name}'.{did_you_mean(name, names)} Known: {', '.join(sorted(names))}.", about=name
        )
    return names[name]


@overload
def make(kind: Literal["method"], name: str, parameters: Mapping[str, object] | None = None) -> Method: ...
@overload
def make(kind: Literal["measure"], name: str, parameters: Mapping[str, object] | None = None) -> Measure: ...
@overload
def make(kind: Literal["attack"], name: str, parameters: Mapping[str, object] | None = None) -> Attack: ...
@overload
def make(kind: Kind, name: str, parameters: Mapping[str, object] | None = None) -> Any: ...
def make(kind: Kind, name: str, parameters: Mapping[str, object] | None = None) -> Any:
    """The object itself, its parameters checked."""
    return find(kind, name).parse(parameters or {})


def everything(kind: Kind) -> tuple[Any, ...]:
    """One of each that is registered, with default parameters."""
    return tuple(cls() for cls in known(kind).values())


def in_words(kind: Kind) -> str:
    """'measure', or 'measure of collections'."""
    family, _, what = kind.rpartition("-")
    return f"{what} of {family}s" if family else what
