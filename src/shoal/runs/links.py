"""Numbers that tell which rows belong together, of one household or one person: the last step of a release.

Whoever knows who lives together looks for the whole household, and a household is unique long before its members are. So a number is kept
where enough others look alike: the same rows, each as often, over the quasi-identifiers as released and over every other released column
that members share. The rest lose their number, and those columns with it, which would tell it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import BoolArray, IntArray
from shoal.checks.tables import check_release
from shoal.errors import ParameterError, counted, number
from shoal.kernels.together import alike, is_shared
from shoal.promises import HOUSEHOLD_K, LINK, PERSON_K, Promise, PromiseKind, Unit, link_summary
from shoal.randomness import Chance
from shoal.release import Release, Step
from shoal.roles import Roles
from shoal.table import Table


class _Link(NamedTuple):
    column: str
    kind: PromiseKind
    noun: str
    unit: Unit


def linked(release: Release, roles: Roles, chance: Chance) -> Release:
    """The release with the numbers that were asked for, each under its promise."""
    made = release
    if "household" in roles.link and roles.household[0] in made.table.columns:
        groups = made.table.groups(roles.household[0])
        made = _kept(made, groups, roles, roles.link["household"], _Link(roles.household[0], HOUSEHOLD_K, "household", "households"))
    if "person" in roles.link and made.persons is not None:
        if roles.household and roles.household[0] in made.table.columns:
            raise ParameterError(
                "Numbers of persons and of households tell each other. Link by one of them, and make the other an identifier."
            )
        fresh = np.argsort(np.argsort(chance.words(np.arange(int(made.persons.max(initial=-1)) + 1, dtype=np.uint64), "person")))
        table = _with_column(made.table, roles.person[0], pa.array(fresh[made.persons] + 1))
        made = _kept(
            replace(made, table=table), made.persons, roles, roles.link["person"], _Link(roles.person[0], PERSON_K, "person", "persons")
        )
    return made


def _kept(release: Release, groups: IntArray, roles: Roles, k: int, link: _Link) -> Release:
    """Numbers of groups that k look like; the others lose theirs, and what their rows share."""
    table, k = release.table, k or _promised_k(release)
    if k < 2:
        raise ParameterError(
            f"To link by {link.noun}, at least 2 must look alike, got {k}. Use 0 for the k that is promised.", about="link"
        )
    protected = {*roles.quasi, *(column for promise in release.promises for column in promise.columns)}
    columns = [column for column in table.columns if column in protected]
    others = [column for column in table.columns if column not in (*columns, link.column)]
    shared = [column for column in others if is_shared(table.codes(column), groups)]
    compared, enough = _alike_enough(table, [*columns, *shared], others, groups, k)
    stays = _member(enough, groups)  # who is of no household loses the columns too: nobody shall see who never had a number
    lost = int((np.bincount(groups[groups >= 0], minlength=len(enough)) > 0).sum() - enough.sum())
    emptied = [link.column, *shared] if lost else []
    promise = Promise(link.kind.name, k, tuple(compared), link.column, link.unit)
    promises = (promise,) if enough.any() else ()  # without a number there is nothing to hold
    summary = link_summary(link.noun, k)
    step = Step(LINK, {"by": link.noun, "k": k}, tuple(emptied), tuple(one.what for one in promises), summary, promises)
    changed = table.with_columns({column: _where(table, column, stays) for column in emptied})
    kept = _still_kept(replace(release, table=changed), emptied, link)
    warnings = [*release.warnings]
    if lost:
        beside = f", and with it {', '.join(repr(column) for column in shared)}" if shared else ""
        few = f"fewer than {k} look like them"
        warnings.append(f"{number(lost)} of {counted(lost + int(enough.sum()), link.noun)} lost their number{beside}: {few}.")
    step = replace(step, promises=(*promises, *kept))
    return replace(release, table=changed, made_by=(*release.made_by, step), warnings=tuple(warnings))


def _alike_enough(table: Table, columns: list[str], others: list[str], groups: IntArray, k: int) -> tuple[list[str], BoolArray]:
    """The columns that groups are compared in, and which groups keep their number.

    Among those that keep it another column may turn out to be shared: then it is compared too, until none does. Groups that lose their number
    for it keep the column, which rows do not share elsewhere.
    """
    while True:
        enough = alike([table.codes(column) for column in columns], groups) >= k
        kept = np.where(_member(enough, groups), groups, -1)
        more = [column for column in others if column not in columns and is_shared(table.codes(column), kept)]
        if not more:
            return columns, enough
        columns = [*columns, *more]


def _member(of: BoolArray, groups: IntArray) -> BoolArray:
    """Which rows are of such a group."""
    return np.append(of, False)[groups]


def _still_kept(release: Release, emptied: Sequence[str], link: _Link) -> list[Promise]:
    """Promises about a confidential column that some rows have lost, counted again: one that does not hold any more was asked for in vain."""
    about = [promise for promise in release.promises if set(emptied) & set(promise.needs)]
    step = Step(LINK, {}, (), (), "", tuple(about))
    for promise, one in zip(about, check_release(replace(release, made_by=(step,))) if about else []):
        if not one.holds:
            raise ParameterError(
                f"Rows that lose their {link.noun} number lose '{promise.about}' with it, which rows of a {link.noun} share, and then "
                f"{promise.what} does not hold: {one.promised:g} was asked for, {one.found:g} is left. Leave --link or "
                f"{promise.what} out, or link by fewer.",
                about="link",
            )
    return about


def _promised_k(release: Release) -> int:
    if release.k is None:
        raise ParameterError(
            "How many must look alike is not said, and no k is promised. Say it, such as --link household=5.", about="link"
        )
    return release.k


def _where(table: Table, column: str, stays: BoolArray) -> pa.Array:
    cells = table.column(column)
    return pc.if_else(pa.array(stays), cells, pa.scalar(None, cells.type))


def _with_column(table: Table, name: str, values: pa.Array) -> Table:
    return replace(table, arrow=table.arrow.append_column(name, values))
