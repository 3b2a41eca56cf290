"""Recipe: one TOML file that says everything about a run but the secret."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import tomli_w

from shoal.checks.tables import check_release
from shoal.contracts import Attack, Measure, Method, Progress, quiet
from shoal.errors import DataError, ParameterError, counted, did_you_mean
from shoal.params import Params
from shoal.parsing import parse_toml, read_text
from shoal.randomness import chance_for
from shoal.registry import TableKind, everything, find, make
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.runs.hierarchies import regrown, with_hierarchies
from shoal.runs.leaves import looked_over
from shoal.runs.links import linked
from shoal.runs.persons import by_person, refuse_counting_rows
from shoal.table import Table

_SECTIONS = ("input", "name", "encoding", "delimiter", "missing", "formulas", "roles", "step", "measure", "attack")


@dataclass(frozen=True)
class Recipe:
    """Input, roles, steps in order, and what to measure and attack with (empty: everything registered)."""

    input: Path
    roles: Roles
    steps: tuple[Method, ...]
    measures: tuple[Measure, ...] = ()
    attacks: tuple[Attack, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)  # encoding, delimiter, missing: only where the file does not tell
    name: str = ""  # of the data, for the certificate and the reports: the input's file name is never told
    formulas: str = "keep"  # or escape: how text is written that a spreadsheet program would run
    more: tuple[Path, ...] = ()  # further files with rows of the same table

    @property
    def inputs(self) -> tuple[Path, ...]:
        """All files and folders that its rows are in."""
        return (self.input, *self.more)

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
        inputs: list[Any] = given["input"] if isinstance(given.get("input"), list) else [given.get("input")]
        if not inputs or not all(isinstance(one, str) and one for one in inputs):
            raise ParameterError('A recipe needs its input, such as input = "patients.csv", a folder, or a list of files.')
        if not given.get("step"):
            raise ParameterError('A recipe needs at least one step, such as [[step]] then method = "mdav".')
        if not isinstance(given.get("name", ""), str):
            raise ParameterError('In a recipe, name must be a text, such as name = "Hospital stays 2025".')
        if given.get("formulas", "keep") not in ("keep", "escape"):
            raise ParameterError("In a recipe, formulas must be keep or escape.")
        reading = {key: given[key] for key in ("encoding", "delimiter", "missing") if key in given}
        if isinstance(reading.get("missing"), str):
            reading["missing"] = [reading["missing"]]
        for key, value in reading.items():
            if not (isinstance(value, list) and all(isinstance(one, str) for one in value) if key == "missing" else isinstance(value, str)):
                raise ParameterError(f"In a recipe, {key} must be {'a list of texts' if key == 'missing' else 'a text'}.")
        return Recipe(
            (folder / inputs[0]),
            Roles.parse(given.get("roles", {}), folder),
            _made("method", given["step"], "method", folder),
            _made("measure", given.get("measure", []), "name", folder),
            _made("attack", given.get("attack", []), "name", folder),
            reading,
            given.get("name", ""),
            given.get("formulas", "keep"),
            tuple(folder / one for one in inputs[1:]),
        )

    def toml(self, folder: Path) -> str:
        """As TOML for a file in `folder`; the input is named relative to it."""
        places = [Path(os.path.relpath(os.path.realpath(one), os.path.realpath(folder))).as_posix() for one in self.inputs]
        if any(not place.isascii() and os.fsencode(place) != place.encode("utf-8", "replace") for place in places):
            raise DataError("The name of the input, or of a folder it is in, is not UTF-8, and a recipe must name it. Rename it first.")
        parts: dict[str, Any] = {"input": places if self.more else places[0]}
        parts |= {"name": self.name} if self.name else {}
        parts |= {"formulas": self.formulas} if self.formulas != "keep" else {}
        parts |= dict(self.reading) | {"roles": self.roles.plain()}
        parts["step"] = [{"method": step.name} | _given(step) for step in self.steps]
        for section, things in (("measure", self.measures), ("attack", self.attacks)):
            if things:
                parts[section] = [{"name": thing.name} | _given(thing) for thing in things]
        made = tomli_w.dumps(parts)
        if made != made.encode("utf-8", "replace").decode("utf-8"):
            raise ParameterError("What is typed must be UTF-8 text, and a name of the data, a column or a code is not. Type it anew.")
        return made


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file, or a sentence saying which line is wrong."""
    return parse_toml(read_text(path), path)


def apply_steps(table: Table, roles: Roles, steps: Sequence[Method], secret: int, progress: Progress = quiet) -> Release:
    """Protect a table by several methods, one after the other, and keep the numbers that were asked for. Roles must be checked.

    Where rows of one person are told, persons are what is protected. What leaves unprotected is said in the warnings.
    """
    refuse_nothing_to_do(table, roles, steps)

    def protect(now: Table, under: Roles) -> Release:
        return _in_turn(now, under, steps, secret, progress)

    release = by_person(table, roles, steps, chance_for(secret, "persons"), protect) if roles.person else None
    if roles.person and release is None:
        refuse_counting_rows(steps)
    if roles.link and steps[-1].adds:
        raise ParameterError(
            f"{steps[-1].name} lists patterns: its rows are neither persons nor households. Leave --link out.", about="link"
        )
    made = protect(table, roles) if release is None else release
    return looked_over(table, linked(made, roles, chance_for(secret, "links")), roles)


def refuse_nothing_to_do(table: Table, roles: Roles, steps: Sequence[Method]) -> None:
    """No method, no rows, or a hierarchy that none of the methods follows."""
    if not steps:
        raise ParameterError("There is nothing to do: name a method.")
    if not len(table):
        raise DataError("The table has no rows.")
    refuse_unused_hierarchies(roles, steps)


def _in_turn(table: Table, roles: Roles, steps: Sequence[Method], secret: int, progress: Progress) -> Release:
    """Each method with a stream of chance of its own."""
    release: Release | None = None
    for number, step in enumerate(steps, 1):
        now = table if release is None else release.with_persons()
        rest = roles if release is None else replace(roles, identifier=(), left_out=())
        before = () if release is None else release.made_by
        refuse_patterns(steps[:number])
        refuse_cells(now, roles, before, step)
        if before:
            rest = replace(rest, hierarchies=regrown(now, rest, changed_by(before)))
            refuse_strangers(now, rest, before, step)
        made = step.protect(now, rest, chance_for(secret, "step", number, step.name), progress)
        refuse_lost_columns(before, made.table.columns, step.name)
        release = made if release is None else release.then(made)
        if len(made) < len(now) and before:
            _refuse_lost_records(release, number, step)
    assert release is not None
    return release


def refuse_unused_hierarchies(roles: Roles, steps: Sequence[Method]) -> None:
    """Whoever gives a hierarchy expects cells that follow it."""
    followed = {column for step in steps for column in step.follows(roles)}
    for step in steps:
        for column in getattr(step, "columns", None) or roles.quasi:
            if column in roles.hierarchies and column not in followed:
                able = [method.name for method in everything("method") if method.follows(roles)]
                raise ParameterError(
                    f"Column '{column}' is given a hierarchy, and {step.name} does not follow it as it is asked for. "
                    f"Leave the hierarchy out, or use one that does: {', '.join(able)}.",
                    about=column,
                )


def refuse_patterns(steps: Sequence[Method]) -> None:
    """Methods count records; a row of a list of patterns is none."""
    *earlier, step = steps
    for number, one in enumerate(earlier, 1):
        if one.adds:
            raise ParameterError(
                f"Step {len(steps)}, {step.name}, comes after step {number}, {one.name}, whose rows are patterns and no longer records. "
                f"Let {one.name} be the last step."
            )


def refuse_cells(table: Table, roles: Roles, before: Sequence[Step], step: Method) -> None:
    """Methods read values; a set, an interval or a suppressed cell is none, and read as a text it would be protected as if it were one."""
    for column in step.reads(roles):
        if column in table.cells and table.kind(column) == "text":
            made = next(
                (f"step {number}, {one.method}," for number, one in enumerate(before, 1) if column in one.columns), "an earlier release"
            )
            raise ParameterError(
                f"Step {len(before) + 1}, {step.name}, looks at column '{column}', which {made} has left as sets, intervals or suppressed cells, "
                "and it reads values only. Let one step alone protect that column; a step that changes values, such as noise, may come before "
                "one that releases cells.",
                about=column,
            )


def changed_by(steps: Sequence[Step]) -> set[str]:
    """The columns that some step has changed."""
    return {column for step in steps for column in step.columns}


def refuse_strangers(table: Table, roles: Roles, before: Sequence[Step], step: Method) -> None:
    """A tree groups the values that it has; others, which an earlier step has made, would be taken for missing."""
    for column in step.follows(roles):
        made = next((f"step {number}, {one.method}," for number, one in enumerate(before, 1) if column in one.columns), None)
        if made is None:
            continue
        levels = table.levels(column).drop_null().cast(pa.string())
        strange = int((roles.hierarchies[column].places(levels.to_pylist()) < 0).sum())
        if strange:
            raise ParameterError(
                f"Step {len(before) + 1}, {step.name}, follows the hierarchy of column '{column}', and {made} has made "
                f"{counted(strange, 'value')} that it does not have. Take that step out for '{column}', or leave its hierarchy out.",
                about=column,
            )


def refuse_lost_columns(before: Sequence[Step], left: Sequence[str], later: str) -> None:
    """What is protected and then left out was protected for nothing, and what was promised about it cannot be counted."""
    for number, one in enumerate(before, 1):
        for column in one.columns:
            if column not in left:
                raise ParameterError(
                    f"Step {number}, {one.method}, protects column '{column}', and step {len(before) + 1}, {later}, leaves it out. "
                    f"Take step {number} out, or let {later} have '{column}' among its columns.",
                    about=column,
                )


def _refuse_lost_records(release: Release, number: int, step: Method) -> None:
    """Records that leave were somebody's company: what an earlier step promised of their classes may be gone with them."""
    for one in check_release(release):
        if not one.holds:
            raise ParameterError(
                f"Step {number}, {step.name}, lets records leave, and without them what an earlier step promises no longer holds ({one.what}). "
                f"Let {step.name} come first, or keep its records in."
            )


def ready(table: Table, roles: Roles, steps: Sequence[Method]) -> tuple[Table, Roles]:
    """A table read as its roles say, and the roles held against it, with hierarchies where a step needs them and nobody gave them. A column that a
    step names is released, whether or not it has a role."""
    named = list(dict.fromkeys(column for step in steps for column in getattr(step, "columns", None) or ()))
    read = roles.read(table, named)
    checked = with_hierarchies(read, roles.check(read), steps)
    kept = tuple(column for column in checked.left_out if column in named)
    left_out = tuple(column for column in checked.left_out if column not in named)
    return read, replace(checked, other=(*checked.other, *kept), left_out=left_out)


def roles_from(
    file: Path | None,
    target: str | None = None,
    tables: Mapping[str, Mapping[str, Any]] | None = None,
    rest: str | None = None,
    **named: Sequence[str],
) -> Roles:
    """From a file of roles, and more on top of it: columns by role, the target, tables by column (hierarchies as files, kinds, codes for
    missing) or by role (link), and what becomes of the rest."""
    base = read_toml(file) if file else {}
    base = Roles.parse(base.get("roles", base), file.parent if file else Path()).plain()
    for role, columns in named.items():
        if columns:
            base = {**base, role: [*base.get(role, []), *columns]}
    more: dict[str, Any] = {key: {**base.get(key, {}), **given} for key, given in (tables or {}).items() if given}
    more |= ({"target": target} if target else {}) | ({"rest": rest} if rest else {})
    return Roles.parse({**base, **more})


def _made(kind: TableKind, given: Any, key: str, folder: Path) -> tuple[Any, ...]:
    section = "step" if kind == "method" else kind
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise ParameterError(f"In a recipe, write each {section} under its own [[{section}]].")
    made = []
    for number, one in enumerate(given, 1):
        if not isinstance(one.get(key), str):
            raise ParameterError(f'{section.capitalize()} {number} of the recipe does not say its {key}, such as {key} = "...".')
        parameters = {k: v for k, v in one.items() if k != key}
        made.append(make(kind, one[key], find(kind, one[key]).beside(parameters, folder)))
    return tuple(made)


def _given(thing: Any) -> dict[str, Any]:
    """Parameters, without those that are absent (TOML has no null)."""
    assert isinstance(thing, Params)
    return {key: value for key, value in thing.given().items() if value is not None}
