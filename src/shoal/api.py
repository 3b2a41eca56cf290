"""The same verbs from Python: protect, measure, attack, the risk of a table as it is, and the lattice near an optimum. pandas, polars or Arrow
go in, and the same kind comes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from shoal.checks.tables import check_release
from shoal.contracts import Method, Progress, quiet
from shoal.errors import DataError, ParameterError
from shoal.randomness import new_secret
from shoal.registry import make
from shoal.release import Release
from shoal.roles import Rest, Roles
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.lattice import NODES, Lattice
from shoal.runs.lattice import lattice_near as found_near
from shoal.runs.recipe import apply_steps, ready
from shoal.runs.risk import FileRisk, ScoreName, file_risk
from shoal.runs.run import refuse_broken
from shoal.runs.unit import unit_of
from shoal.score import AttackResult, Knowledge, Score
from shoal.table import Table

_SAID = ("quasi", "confidential", "identifier", "person")  # roles that are said by columns of their own


def protect(
    data: Any,
    *steps: Method | str,
    roles: Roles | None = None,
    quasi: str | Sequence[str] = (),
    confidential: str | Sequence[str] = (),
    identifier: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    target: str | None = None,
    rest: Rest = "leave-out",
    link: str | Mapping[str, int] = "",
    seed: int | None = None,
    progress: Progress = quiet,
    **parameters: Any,
) -> Release:
    """Protect a table by one or more methods; every promise is checked again before the release is handed out.

    Name a method and give its parameters (`"mdav", k=5`), or hand in method objects, applied in order. Say the roles by `roles`, or by `quasi`,
    `confidential`, `identifier`, `person` and `target`; what has no role is left out, unless `rest` says otherwise. Where `person` says which
    rows are of one person, persons are protected and counted; `link="person"` keeps fresh numbers of persons who look alike.
    `seed` is for tests and experiments: whoever knows it can undo noise and swaps.
    """
    table = Table.of(data)
    if not len(table):
        raise DataError("The table has no rows, so there is nothing to protect.")
    said = {"quasi": quasi, "confidential": confidential, "identifier": identifier, "person": person}
    given = roles_given(roles, said, target, rest, link)
    made = steps_given(steps, parameters)
    table, checked = ready(table, given, made)
    release = apply_steps(table, checked, made, new_secret() if seed is None else seed, progress)
    refuse_broken(check_release(release))
    doubt = unit_of(table, release, checked).warning
    return replace(release, warnings=(doubt, *release.warnings)) if doubt else release


def roles_given(
    roles: Roles | None,
    columns: Mapping[str, str | Sequence[str]],
    target: str | None = None,
    rest: Rest = "leave-out",
    link: str | Mapping[str, int] = "",
) -> Roles:
    """Roles as one object, or as columns by role."""
    if roles is None:
        kept = ({link: 0} if link else {}) if isinstance(link, str) else link
        quasi, confidential, identifier, person = (_names(columns.get(role, ())) for role in _SAID)
        return Roles(quasi, confidential, identifier, person, target=target, rest=rest, link=kept)
    if any(columns.values()) or target or link or rest != "leave-out":
        words = [*columns, "target", "rest"] + (["link"] if "person" in columns else [])
        raise ParameterError(f"Give roles either as one Roles object or by {', '.join(words[:-1])} and {words[-1]}, not both.")
    return roles


def steps_given(steps: Sequence[Method | str], parameters: Mapping[str, object]) -> list[Method]:
    """Methods as objects; or one by its name, with its parameters."""
    if parameters and (len(steps) != 1 or not isinstance(steps[0], str)):
        raise ParameterError("Parameters go with one method's name. Give several methods as objects, such as Mdav(k=5).")
    return [make("method", step, parameters) if isinstance(step, str) else step for step in steps]


def measure(data: Any, release: Release, *names: str, parameters: Mapping[str, object] | None = None) -> dict[str, Score]:
    """Scores by name; all registered measures when none is named. One that does not apply has no value, and its note says why."""
    subject = TableSubject(Table.of(data), release, release.roles)
    return {score.name: score for score in measure_all(subject, [make("measure", name, parameters) for name in names])}


def attack(
    data: Any,
    release: Release,
    *names: str,
    columns: Sequence[str] | None = None,
    records: int | float | None = None,
    seed: int | None = None,
    parameters: Mapping[str, object] | None = None,
    progress: Progress = quiet,
) -> dict[str, AttackResult]:
    """Attack results by name; every registered attack that applies when none is named. `columns` and `records` say what the intruder knows:
    all quasi-identifiers of all records, or of 20,000 drawn at random from a larger table, where nothing is said."""
    knowledge = Knowledge(release.roles, None if columns is None else tuple(columns), records)
    subject = TableSubject(Table.of(data), release, release.roles, knowledge)
    attacks = [make("attack", name, parameters) for name in names]
    found = attack_all(subject, attacks, new_secret() if seed is None else seed, progress)
    return {result.name: result for result in found.results}


def risk(
    data: Any,
    roles: Roles | None = None,
    *,
    quasi: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    size: int | None = None,
    tells: float | None = None,
    fraction: float | None = None,
    score: ScoreName = "elliot",
    progress: Progress = quiet,
) -> FileRisk:
    """What a table gives away as it is, over its quasi-identifiers: classes, SUDA scores, minimal keys, and what each column tells apart.

    Say the roles by `roles`, or by `quasi` and `person`. `size` bounds the sets of columns that are looked at, `tells` asks for keys of that
    distinction, `fraction`, the share of the population in the table, for DIS-SUDA. Scores of single rows are private.
    """
    if roles is not None and (quasi or person):
        raise ParameterError("Give roles either as one Roles object or by quasi and person, not both.")
    return file_risk(data, roles or Roles(quasi=_names(quasi), person=_names(person)), size, tells, fraction, score, progress)


def lattice_near(data: Any, *, roles: Roles, nodes: int = NODES, progress: Progress = quiet, **parameters: Any) -> Lattice:
    """The choice of levels that the method `recoding` releases with these parameters, and up to so many choices near it: what each loses, suppresses
    and keeps. The figures are exact and of the original, so they are for its keeper."""
    return found_near(data, roles, parameters, nodes, progress)


def _names(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name is as good as a list of one."""
    return (given,) if isinstance(given, str) else tuple(given)
