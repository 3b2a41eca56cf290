"""The lattice near the optimum: what `recoding` would release, and what the choices of levels around it would cost and keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from shoal.contracts import Progress, quiet
from shoal.kernels.lattice.budget import Budget
from shoal.kernels.lattice.demands import Figures
from shoal.kernels.lattice.near import near
from shoal.methods.along_hierarchies import Task, task_of, weighed
from shoal.methods.diversity import Asked, real_codes
from shoal.methods.full_domain import OptimalRecoding
from shoal.methods.generalization import Plan
from shoal.methods.levels import ColumnLevels
from shoal.randomness import chance_for, new_secret
from shoal.report.lattice import ColumnLevels as NamedLevels
from shoal.report.lattice import Lattice as Lattice
from shoal.report.lattice import LatticeNode, NodeState
from shoal.roles import Roles
from shoal.runs.persons import one_row_a_person, refuse_several_values, said_of_persons
from shoal.runs.recipe import ready, refuse_nothing_to_do
from shoal.table import Table

NODES = 60  # whose figures are counted, where nothing is said
EXAMPLES = 3  # groups that are named of a level


class _Planned(NamedTuple):
    """What recoding decides, on the rows that it counts."""

    table: Table
    roles: Roles
    columns: tuple[str, ...]
    plan: Plan


class _Place(NamedTuple):
    """Where a confidential column stands among what classes keep: as l counts its values, and as t counts its cells."""

    diverse: int
    close: int
    ordered: bool


def lattice_near(
    data: Any, roles: Roles, parameters: Mapping[str, object] | None = None, nodes: int = NODES, progress: Progress = quiet
) -> Lattice:
    """The node that `recoding` releases with these parameters, and the figures of nodes near it: those a step up or down from it, then those next
    to the best of these. All figures are exact, and of the original."""
    method = OptimalRecoding.parse(parameters or {})
    table, checked = ready(Table.of(data), roles, [method])
    refuse_nothing_to_do(table, checked, [method])
    planned = _planned(table, checked, method, progress)
    task, places = _with_figures(method, planned)
    persons = len(task.demand.l) - 1 - 2 * len(places) if planned.roles.person else None  # type: ignore[arg-type]  # asked for last
    outcome, (low, high), limit = planned.plan.outcome, method.bounds(task, planned.columns), method.limit(task)
    found = near(
        task.codes, task.rows, task.hierarchies, task.demand, limit, tuple(outcome["levels"].values()), method.loss,
        weighed(method.weights, planned.columns, method.name), low, high, nodes, Budget(seconds=method.seconds),
        lambda done, of: progress("counting nodes", done, of),
    )  # fmt: skip
    progress("counting nodes", nodes, nodes)
    alike = bool(roles.person) and persons is None  # a row is a person
    counted = [_node(one.value, one.figures, one.steps, limit, list(places.values()), persons) for one in found]
    return Lattice(
        columns=tuple(_named(column, one) for column, one in zip(planned.columns, task.levels)),
        confidential=tuple(places),
        asked={"k": method.k}
        | {key: one for key, one in method.given().items() if one not in (None, type(method).model_fields[key].default)},
        loss=method.loss,
        records=int(task.rows.sum()),
        records_are="persons" if alike else "rows",
        unit="persons" if roles.person else "rows",
        limit=limit,
        nodes=(counted[0], *sorted(counted[1:], key=lambda one: (one.state == "lacking", one.loss, one.suppressed, one.levels))),
        size=int(outcome["nodes"]),
        left_out=int(outcome["nodes_left_out"]),
        gap=outcome.get("gap"),
        warnings=said_of_persons(planned.plan.warnings) if alike else planned.plan.warnings,
    )


def _planned(table: Table, roles: Roles, method: OptimalRecoding, progress: Progress) -> _Planned:
    """As it would be released: one row a person is planned on, where it is told whose each row is and those of a person are alike."""
    one_each = one_row_a_person(table, roles, [method], chance_for(new_secret(), "persons")) if roles.person else None
    now, under = (table, roles) if one_each is None else (one_each.table, one_each.roles)
    columns, counts = method.counted(now, under, progress)
    plan = method.plan(counts, under, columns, chance_for(new_secret(), "lattice"), progress)
    if one_each is not None:
        refuse_several_values(table, method.promises(counts.table, under, columns), table.codes(roles.person[0]))
    return _Planned(now, under, columns, plan)


def _with_figures(method: OptimalRecoding, planned: _Planned) -> tuple[Task, dict[str, _Place]]:
    """The same task, with every confidential column looked at, whether or not something is asked of it."""
    table, roles = planned.table, planned.roles
    confidential = [column for column in roles.confidential if column in table.columns]
    counts = table.counts([column for column in dict.fromkeys((*method.reads(roles), *confidential)) if column in table.columns])
    asked, places = method.asked(counts, roles), {}
    for column in confidential:
        ordered = roles.scale(counts.table, column) == "numeric"
        places[column] = _Place(len(asked), len(asked) + 1, ordered)
        every = counts.table.codes(column).astype(np.int32)
        asked += [Asked(real_codes(counts.table, roles, column, method.missing)), Asked(every, t_ordered=ordered)]
    return task_of(method.k, counts, roles, planned.columns, asked), places


def _named(column: str, levels: ColumnLevels) -> NamedLevels:
    """How many groups the values that occur form at each level, and what the largest of those with several values are called."""
    values = {name for name in levels.names[0] if name is not None}
    groups, named = [], []
    for nodes, names in zip(levels.coded.nodes, levels.names):
        many = np.bincount(nodes, minlength=len(names))
        first = np.argsort(-many, kind="stable").tolist()
        told = [name for i in first if many[i] > 1 and (name := names[i]) is not None and name not in values]
        groups.append(len(names) - (None in names))
        named.append(tuple(told[:EXAMPLES]))
    return NamedLevels(column, tuple(groups), tuple(named))


def _node(value: Any, figures: Figures, steps: int, limit: int, places: Sequence[_Place], persons: int | None) -> LatticeNode:
    state: NodeState = "optimum" if not steps else "kept" if value.suppressed <= limit else "lacking"
    return LatticeNode(
        levels=value.levels,
        state=state,
        loss=value.loss,
        suppressed=value.suppressed,
        classes=figures.published,
        smallest=figures.smallest if persons is None else figures.different[persons],
        l=tuple(figures.different[one.diverse] for one in places),
        t=tuple((figures.apart_in_order if one.ordered else figures.apart)[one.close] for one in places),
        steps=steps,
    )
