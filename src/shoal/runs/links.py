"""Numbers that tell which rows belong together, of one household or one person: the last step of a release.

Whoever knows who lives together looks for the whole household, and a household is unique long before its members are. So a number is kept
where enough others look alike: the same rows, each as often, over the quasi-identifiers as released and over every other released column
that members share. The rest lose their number, and those columns with it, which would tell it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, IntArray
from shoal.errors import ParameterError, counted
from shoal.kernels.groups import class_ids
from shoal.kernels.together import is_shared, signatures
from shoal.promises import HOUSEHOLD_K, K_ANONYMITY, PERSON_K, Promise, PromiseKind
from shoal.randomness import Chance
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.table import Table


class _Link(NamedTuple):
    column: str
    kind: PromiseKind
    noun: str


def linked(release: Release, roles: Roles, chance: Chance) -> Release:
    """The release with the numbers that were asked for, each under its promise."""
    made = release
    if "household" in roles.link and roles.household[0] in made.table.columns:
        groups = _numbers(made.table, roles.household[0])
        made = _kept(made, groups, roles, roles.link["household"], _Link(roles.household[0], HOUSEHOLD_K, "household"))
    if "person" in roles.link and made.persons is not None:
        if roles.household and roles.household[0] in made.table.columns:
            raise ParameterError(
                "Numbers of persons and of households tell each other. Link by one of them, and make the other an identifier."
            )
        fresh = np.argsort(np.argsort(chance.words(np.arange(int(made.persons.max(initial=-1)) + 1, dtype=np.uint64), "person")))
        table = _with_column(made.table, roles.person[0], pa.array(fresh[made.persons] + 1))
        made = _kept(replace(made, table=table), made.persons, roles, roles.link["person"], _Link(roles.person[0], PERSON_K, "person"))
    return made


def _kept(release: Release, groups: IntArray, roles: Roles, k: int, link: _Link) -> Release:
    """Numbers of groups that k look like; the others lose theirs, and what their rows share."""
    table, k = release.table, k or _promised_k(release)
    quasi = [column for column in roles.quasi if column in table.columns]
    touched = {column for step in release.made_by for column in step.columns}
    others = [column for column in table.columns if column not in (*quasi, *touched, link.column)]
    shared = [column for column in others if is_shared(table.codes(column), groups)]
    looks = signatures(class_ids([table.codes(column) for column in (*quasi, *shared)])[0], groups) if quasi or shared else None
    enough = np.bincount(looks[looks >= 0])[looks] >= k if looks is not None else np.bincount(groups[groups >= 0]) < 0
    stays = np.where(groups >= 0, enough[groups], False)
    lost = int((~enough).sum())
    emptied = [link.column, *shared] if lost else []
    promise = Promise(link.kind.name, k, (*quasi, *shared), link.column, link.kind.unit)  # type: ignore[arg-type]
    summary = f"Numbers of {link.noun}s are kept where at least {k} look alike."
    step = Step("link", {"by": link.noun, "k": k}, tuple(emptied), (link.kind.name,), summary, (promise,))
    warnings = release.warnings
    if lost:
        beside = f", and with it {', '.join(repr(column) for column in shared)}" if shared else ""
        warnings += (f"{counted(lost, link.noun)} of {len(enough):,} lost their number{beside}: fewer than {k} look like them.",)
    changed = {column: _where(table, column, stays) for column in emptied}
    return replace(release, table=table.with_columns(changed), made_by=(*release.made_by, step), warnings=warnings)


def _promised_k(release: Release) -> int:
    found = [int(promise.value) for promise in release.promises if promise.kind is K_ANONYMITY]
    if not found:
        raise ParameterError(
            "How many must look alike is not said, and no k is promised. Say it, such as --link household=5.", about="link"
        )
    return max(found)


def _numbers(table: Table, column: str) -> IntArray:
    """Which household each row is of; -1 where it is of none."""
    return np.where(table.missing(column), -1, table.codes(column))


def _where(table: Table, column: str, stays: BoolArray) -> pa.Array:
    cells = table.column(column)
    return pc.if_else(pa.array(stays), cells, pa.scalar(None, cells.type))


def _with_column(table: Table, name: str, values: pa.Array) -> Table:
    return replace(table, arrow=table.arrow.append_column(name, values))
