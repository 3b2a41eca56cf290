"""Hierarchies for a table: those that a method needs and nobody gave, made from the values; and a tree held against a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from shoal.contracts import Method
from shoal.errors import RoleError
from shoal.hierarchy import Hierarchy
from shoal.roles import Roles, value_names
from shoal.suggest_hierarchy import suggested
from shoal.table import Table


def with_hierarchies(table: Table, roles: Roles, steps: Sequence[Method]) -> Roles:
    """The roles with a hierarchy for each column that a step recodes by one, and that has none. Roles must be checked."""
    needed = dict.fromkeys(column for step in steps for column in getattr(step, "grows", lambda *_: ())(table, roles))
    made = {column: suggested(table, column, roles) for column in needed if column in table.columns and column not in roles.hierarchies}
    return replace(roles, hierarchies={**roles.hierarchies, **made}) if made else roles


def regrown(table: Table, roles: Roles, changed: Collection[str]) -> dict[str, Hierarchy]:
    """The hierarchies for a further step: over the values that earlier steps have made, where a rule or a suggestion says how those are grouped."""
    found = dict(roles.hierarchies)
    for column in set(found) & set(changed) & set(table.columns):
        if column not in table.cells:
            tree = found[column]
            found[column] = suggested(table, column, roles) if tree.origin == "suggested" else roles.tree_over(table, column, tree)
    return found


@dataclass(frozen=True)
class TreeCheck:
    """A hierarchy held against a column: how deep and wide it is, and what it lacks."""

    values: int
    levels: tuple[int, ...]  # nodes of each level, the values first
    lacking: tuple[str, ...]  # values of the column without a row
    rows_lacking: int
    first_row: int | None
    idle: int  # values of the tree that no row has
    misnamed: dict[str, tuple[str, ...]]  # groups named after a range of numbers, with the values in them that are outside it


def check_tree(file: Path, table: Table, column: str) -> TreeCheck:
    """Raises where the file is no tree; else says which values of the table it lacks."""
    tree = Hierarchy.of(file)
    if column not in table.columns:
        raise RoleError(f"The table has no column '{column}'. Name the one that the hierarchy is for with --column.", about=column)
    names = value_names(table, column)
    tree = tree.grown(names)
    outside = np.array([at < 0 and name is not None for at, name in zip(tree.places(names).tolist(), names)], np.bool_)
    rows = outside[table.codes(column)]
    return TreeCheck(
        len(tree.leaves),
        tuple(len(level.names) for level in tree.levels),
        tuple(str(name) for name, gone in zip(names, outside.tolist()) if gone),
        int(rows.sum()),
        int(np.argmax(rows)) + 1 if rows.any() else None,
        len(set(tree.leaves) - {name for name in names if name is not None}),
        tree.misnamed,
    )
