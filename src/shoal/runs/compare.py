"""Several ways to protect one table, side by side: risk against loss."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import NamedTuple

from shoal.certificate import CORE_MEASURES
from shoal.contracts import Progress, quiet
from shoal.errors import ParameterError
from shoal.inputs import read_tables
from shoal.measures import IL, CellLoss, KAnonymity
from shoal.params import is_one_value
from shoal.randomness import new_secret
from shoal.registry import find, make
from shoal.report.comparison import ComparisonRow
from shoal.roles import Roles
from shoal.runs.certify import DISCLOSURE_RISK, worst
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.recipe import Recipe, apply_steps, ready
from shoal.score import AttackResult, mean_of_kinds
from shoal.table import Table


class _Tried(NamedTuple):
    """What became of one recipe."""

    label: str
    scores: dict[str, float | None]
    attacks: dict[str, AttackResult]
    worst: AttackResult | None


def compare(recipes: Sequence[tuple[str, Recipe]], seed: int | None = None, progress: Progress = quiet) -> list[ComparisonRow]:
    """Protect, measure and attack with each; nothing is written. A table that several recipes share is read once."""
    tried = []
    secret = new_secret() if seed is None else seed
    tables: dict[tuple[tuple[str, ...], str], Table] = {}
    for done, (label, recipe) in enumerate(recipes):
        progress("comparing", done, len(recipes))
        place = (tuple(map(os.path.realpath, recipe.inputs)), repr(sorted(recipe.reading.items())))
        read = tables.setdefault(place, tables.get(place) or read_tables(recipe.inputs, **recipe.reading))
        original, roles = ready(read, recipe.roles, recipe.steps)
        followed = {column for _, other in recipes for step in other.steps for column in step.follows(roles)}
        release = apply_steps(original, _without_trees(roles, followed, recipe), recipe.steps, secret, progress)
        subject = TableSubject(original, release, roles)
        scores = measure_all(subject, [make("measure", name) for name in CORE_MEASURES], secret)
        attacked = attack_all(subject, recipe.attacks, secret, progress)
        tried.append(
            _Tried(label, {one.name: one.value for one in scores}, {one.name: one.textbook for one in attacked.results}, worst(attacked)[0])
        )
    progress("comparing", len(recipes), len(recipes))
    return _rows(tried)


def _rows(tried: Sequence[_Tried]) -> list[ComparisonRow]:
    """The published IL where all runs have it, else the mean change of a cell, which all have; and the DR of the attacks that all had.

    A method that releases intervals has no IL, and interval disclosure cannot be tried on it: side by side with it, nobody is scored by them.
    """
    published = all(one.scores.get(IL.name) is not None for one in tried)
    common = [attack for attack in DISCLOSURE_RISK if all(attack.name in one.attacks for one in tried)]
    linkages, intervals = ([attack.name for attack in common if attack.risk == risk] for risk in ("linkage", "interval"))
    rows = []
    for label, scores, attacks, strongest in tried:
        value = scores.get(IL.name) if published else scores.get(CellLoss.name)
        loss = nan if value is None else value / 100 if published else value
        ends = {name: (attacks[name].rate, *attacks[name].interval) for name in (*linkages, *intervals)}
        risk, low, high = (mean_of_kinds([ends[name][i] for name in linkages], [ends[name][i] for name in intervals]) for i in range(3))
        named = f"{IL.name} / 100" if published else CellLoss.name
        k, parts = int(scores.get(KAnonymity.name) or 0), (*linkages, *intervals)
        highest = (strongest.rate, strongest.name) if strongest else (nan, "")
        rows.append(ComparisonRow(label, loss, risk, low, high, k, named, parts, *highest))
    return rows


def recipes_of(table: Path, methods: Sequence[str], roles: Roles, parameters: Mapping[str, str]) -> list[tuple[str, Recipe]]:
    """One table by every combination of the values given, written a,b,c; a parameter goes to the methods that have it."""
    found = []
    for method in methods:
        fields = find("method", method).model_fields
        mine = {key: value for key, value in parameters.items() if key in fields} if len(methods) > 1 else parameters
        choices = [[value] if is_one_value(find("method", method), key, value) else value.split(",") for key, value in mine.items()]
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
