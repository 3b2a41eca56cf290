"""Several ways to protect one table, side by side: risk against loss."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from shoal.contracts import Progress, quiet
from shoal.errors import ParameterError
from shoal.files import read_table
from shoal.randomness import new_secret
from shoal.registry import find, make
from shoal.report.comparison import ComparisonRow
from shoal.roles import Roles
from shoal.runs.certify import CORE, summary
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.recipe import Recipe, apply_steps, ready
from shoal.table import Table


def compare(recipes: Sequence[tuple[str, Recipe]], seed: int | None = None, progress: Progress = quiet) -> list[ComparisonRow]:
    """Protect, measure and attack with each; nothing is written. A table that several recipes share is read once."""
    rows = []
    secret = new_secret() if seed is None else seed
    tables: dict[tuple[Path, str], Table] = {}
    for done, (label, recipe) in enumerate(recipes):
        progress("comparing", done, len(recipes))
        place = (recipe.input.resolve(), repr(sorted(recipe.reading.items())))
        read = tables.setdefault(place, tables.get(place) or read_table(recipe.input, **recipe.reading))
        original, roles = ready(read, recipe.roles, recipe.steps)
        followed = {column for _, other in recipes for step in other.steps for column in step.follows(roles)}
        release = apply_steps(original, _without_trees(roles, followed, recipe), recipe.steps, secret, progress)
        subject = TableSubject(original, release, roles)
        scores = measure_all(subject, [make("measure", name) for name in CORE], secret)
        found = summary(scores, attack_all(subject, recipe.attacks, secret, progress))
        loss, risk, low, high, score = map(_or_nan, (found.loss, found.risk, found.risk_low, found.risk_high, found.score))
        rows.append(ComparisonRow(label, loss, risk, low, high, int(scores[0].value or 0), score))
    progress("comparing", len(recipes), len(recipes))
    return rows


def recipes_of(table: Path, methods: Sequence[str], roles: Roles, parameters: Mapping[str, str]) -> list[tuple[str, Recipe]]:
    """One table by every combination of the values given, written a,b,c; a parameter goes to the methods that have it."""
    found = []
    for method in methods:
        fields = find("method", method).model_fields
        mine = {key: value for key, value in parameters.items() if key in fields} if len(methods) > 1 else parameters
        choices = [[value] if key == "columns" else value.split(",") for key, value in mine.items()]
        for values in itertools.product(*choices):
            chosen = dict(zip(mine, (value.strip() for value in values)))
            label = " ".join([method, *(f"{key}={value}" for key, value in chosen.items())])
            found.append((label, Recipe(table, roles, (make("method", method, chosen),))))
    unused = [key for key in parameters if not any(key in find("method", method).model_fields for method in methods)]
    if unused:
        raise ParameterError(f"None of the methods has a parameter '{unused[0]}'.", about=unused[0])
    return found


def _without_trees(roles: Roles, followed: set[str], recipe: Recipe) -> Roles:
    """A hierarchy goes to the methods that follow it; one that none of them follows is refused."""
    mine = {column for step in recipe.steps for column in step.follows(roles)}
    return replace(roles, hierarchies={c: tree for c, tree in roles.hierarchies.items() if c in mine or c not in followed})


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
