"""The levels of each column, as lattices and cuts along hierarchies take them, and the cells and names of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.errors import DataError, counted
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.methods.publish import Published, in_order, usable
from shoal.roles import Roles, hierarchy_of
from shoal.table import Table


class ColumnLevels(NamedTuple):
    """A column as codes, its hierarchy over these codes, and of each node what it says (a cell) and what it is called."""

    codes: Int32Array
    coded: CodedHierarchy
    cells: list[list[str | None]]  # [level][node]
    names: list[list[str | None]]


def column_levels(table: Table, roles: Roles, column: str) -> ColumnLevels:
    """From the column's hierarchy; without one there are its values, and everything.

    Missing is a value of its own at every level but the last: everything stands for missing, too.
    """
    codes, names, _ = in_order(table, roles, column)
    places, cells, called, loss = _without(names) if column not in roles.hierarchies else _along(column, names, roles)
    missing = np.array([name is None for name in names], np.bool_)
    nodes, named, said, lost = [], [], [], []
    for level, (place, texts, titles, costs) in enumerate(zip(places, cells, called, loss)):
        last = level == len(places) - 1
        here = np.where(missing, len(texts), place) if not last else np.zeros(len(names), np.int64)
        there, node = np.unique(here, return_inverse=True)
        nodes.append(node.reshape(-1))
        said.append([(*texts, None)[i] for i in there])
        named.append([(*titles, None)[i] for i in there])
        lost.append(np.append(costs, 0.0)[here])
    coded = CodedHierarchy(np.array(nodes, np.int32), np.array(lost))
    return ColumnLevels(codes.astype(np.int32), coded, said, named)


def _without(names: Sequence[str | None]) -> tuple[list[IntArray], list[list[str | None]], list[list[str | None]], list[FloatArray]]:
    values = [cell.write_value(name) for name in names if name is not None]
    each, one = np.arange(len(names)), np.zeros(len(names), np.int64)
    texts: list[list[str | None]] = [values, [cell.SUPPRESSED]] if len(values) > 1 or len(names) > 1 else [values, values]
    return [each, one], texts, texts, [np.zeros(len(values)), np.array([float(len(names) > 1)])]


def _along(
    column: str, names: Sequence[str | None], roles: Roles
) -> tuple[list[IntArray], list[list[str | None]], list[list[str | None]], list[FloatArray]]:
    tree = roles.hierarchies[column]
    place = tree.places(names)
    if any(at < 0 and name is not None for at, name in zip(place.tolist(), names)):  # values that an earlier step has made
        tree = hierarchy_of(column, tree, values=names, levels=roles.ordinal.get(column, ()))
        place = tree.places(names)
    if many := sum(at < 0 and name is not None for at, name in zip(place.tolist(), names)):
        raise DataError(
            f"Column '{column}' has {counted(many, 'distinct value')} outside its hierarchy, made by an earlier step. Let one step protect it.",
            about=column,
        )
    if not tree.rows:  # nothing but missing
        return _without(names)
    size = len(tree.rows)
    cells = [tree.cells_at(level) for level in range(len(tree.levels))]
    titles: list[list[str | None]] = [
        [cell.SUPPRESSED if text == cell.SUPPRESSED else name if level else text for name, text in zip(here.names, cells[level])]
        for level, here in enumerate(tree.levels)
    ]
    loss = [(np.diff(here.starts) - 1) / max(size - 1, 1) for here in tree.levels]
    if None in names:  # which the last level does not tell from anything, also where the tree has one value only
        loss[-1] = np.ones(1)
    return [here.node[place] for here in tree.levels], cells, titles, loss


def at_levels(levels: ColumnLevels, level: IntArray, node: IntArray, missing: str) -> Published:
    """The cells of nodes at their levels, and the names they are written by.

    A node has the name of its level where all are of one level, which is how a column recoded as a whole is tabulated. Else equal sets of
    values get one name, the narrowest.
    """
    start = np.cumsum([0, *(len(each) for each in levels.cells)])
    place = start[level] + node  # among the nodes of all levels
    texts, names = ([one for each in given for one in each] for given in (levels.cells, levels.names))
    labels: dict[str, str] = {}
    for at in np.flatnonzero(np.bincount(place, minlength=len(texts))).tolist():
        text, name = texts[at], names[at]
        if text is not None and name is not None:
            labels.setdefault(text, name)
    return Published(pa.array(texts, pa.string()).take(pa.array(place)), usable(labels, missing))
