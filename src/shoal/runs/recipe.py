"""Recipe: one TOML file that says everything about a run but the secret."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from shoal.contracts import Attack, Measure, Method, Progress, quiet
from shoal.errors import DataError, ParameterError, did_you_mean
from shoal.params import Params
from shoal.randomness import chance_for
from shoal.registry import TableKind, make
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table

_SECTIONS = ("input", "encoding", "delimiter", "missing", "roles", "step", "measure", "attack")


@dataclass(frozen=True)
class Recipe:
    """Input, roles, steps in order, and what to measure and attack with (empty: everything registered)."""

    input: Path
    roles: Roles
    steps: tuple[Method, ...]
    measures: tuple[Measure, ...] = ()
    attacks: tuple[Attack, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)  # encoding, delimiter, missing: only where the file does not tell

    @staticmethod
    def read(path: str | Path) -> Recipe:
        """From a TOML file; the input is looked for beside it."""
        path = Path(path)
        return Recipe.parse(read_toml(path), path.parent)

    @staticmethod
    def parse(given: Mapping[str, Any], folder: Path) -> Recipe:
        """From the parsed TOML."""
        for key in given:
            if key not in _SECTIONS:
                raise ParameterError(f"A recipe has no part '{key}'.{did_you_mean(key, _SECTIONS)} Known: {', '.join(_SECTIONS)}.")
        if not isinstance(given.get("input"), str):
            raise ParameterError('A recipe needs its input, such as input = "patients.csv".')
        if not given.get("step"):
            raise ParameterError('A recipe needs at least one step, such as [[step]] then method = "mdav".')
        reading = {key: given[key] for key in ("encoding", "delimiter", "missing") if key in given}
        if isinstance(reading.get("missing"), str):
            reading["missing"] = [reading["missing"]]
        for key, value in reading.items():
            if not (isinstance(value, list) and all(isinstance(one, str) for one in value) if key == "missing" else isinstance(value, str)):
                raise ParameterError(f"In a recipe, {key} must be {'a list of texts' if key == 'missing' else 'a text'}.")
        return Recipe(
            (folder / given["input"]),
            Roles.parse(given.get("roles", {}), folder),
            _made("method", given["step"], "method"),
            _made("measure", given.get("measure", []), "name"),
            _made("attack", given.get("attack", []), "name"),
            reading,
        )

    def toml(self, folder: Path) -> str:
        """As TOML for a file in `folder`; the input is named relative to it."""
        parts: dict[str, Any] = {"input": Path(os.path.relpath(self.input.resolve(), folder.resolve())).as_posix()}
        parts |= dict(self.reading) | {"roles": self.roles.plain()}
        parts["step"] = [{"method": step.name} | _given(step) for step in self.steps]
        for section, things in (("measure", self.measures), ("attack", self.attacks)):
            if things:
                parts[section] = [{"name": thing.name} | _given(thing) for thing in things]
        return tomli_w.dumps(parts)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, or a sentence saying which line is wrong."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder. Name a TOML file.") from None
    except UnicodeDecodeError:
        raise DataError(f"{path} is not UTF-8 text.") from None
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}.") from None


def apply_steps(table: Table, roles: Roles, steps: Sequence[Method], secret: int, progress: Progress = quiet) -> Release:
    """Protect a table by several methods, one after the other, each with a stream of chance of its own. Roles must be checked."""
    if not steps:
        raise ParameterError("There is nothing to do: name a method.")
    if not len(table):
        raise DataError("The table has no rows.")
    release: Release | None = None
    for number, step in enumerate(steps, 1):
        now = table if release is None else release.table
        rest = roles if release is None else replace(roles, identifier=())
        made = step.protect(now, rest, chance_for(secret, "step", number, step.name), progress)
        release = made if release is None else release.then(made)
    assert release is not None
    return release


def roles_from(file: Path | None, target: str | None = None, trees: Mapping[str, str] | None = None, **named: Sequence[str]) -> Roles:
    """From a file of roles, and more on top of it: columns by role, the target, and hierarchies as column -> file."""
    base = read_toml(file) if file else {}
    base = Roles.parse(base.get("roles", base), file.parent if file else Path()).plain()
    for role, columns in named.items():
        if columns:
            base = {**base, role: [*base.get(role, []), *columns]}
    hierarchies = {**base.get("hierarchies", {}), **(trees or {})}
    return Roles.parse({**base, "hierarchies": hierarchies} | ({"target": target} if target else {}))


def _made(kind: TableKind, given: Any, key: str) -> tuple[Any, ...]:
    section = "step" if kind == "method" else kind
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise ParameterError(f"In a recipe, write each {section} under its own [[{section}]].")
    made = []
    for number, one in enumerate(given, 1):
        if not isinstance(one.get(key), str):
            raise ParameterError(f'{section.capitalize()} {number} of the recipe does not say its {key}, such as {key} = "...".')
        made.append(make(kind, one[key], {k: v for k, v in one.items() if k != key}))
    return tuple(made)


def _given(thing: Any) -> dict[str, Any]:
    """Parameters, without those that are absent (TOML has no null)."""
    assert isinstance(thing, Params)
    return {key: value for key, value in thing.given().items() if value is not None}
