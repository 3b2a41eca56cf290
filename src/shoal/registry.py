"""Find a method, measure or attack by its name; plug-ins join through entry points of the same group names."""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from shoal.errors import UnknownNameError, did_you_mean

Kind = Literal["method", "measure", "attack"]


@cache
def known(kind: Kind) -> Mapping[str, type[Any]]:
    """Name -> class: shoal's own in their order, then plug-ins, which may not take a name that exists."""
    own = getattr(import_module(f"shoal.{kind}s"), f"{kind.upper()}S")
    found: dict[str, type[Any]] = {cls.name: cls for cls in own}
    for point in entry_points(group=f"shoal.{kind}s"):
        cls = point.load()
        if cls.name in found:
            raise UnknownNameError(f"The plug-in {point.value} wants the {kind} name '{cls.name}', which is taken. Rename it.")
        found[cls.name] = cls
    return found


def find(kind: Kind, name: str) -> type[Any]:
    """The class registered under a name."""
    names = known(kind)
    if name not in names:
        raise UnknownNameError(f"There is no {kind} named '{name}'.{did_you_mean(name, names)} Known: {', '.join(sorted(names))}.")
    return names[name]


def make(kind: Kind, name: str, parameters: Mapping[str, object] | None = None) -> Any:
    """The object itself, its parameters checked."""
    return find(kind, name).parse(parameters or {})
