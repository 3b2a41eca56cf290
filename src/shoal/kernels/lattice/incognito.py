"""Incognito (LeFevre, DeWitt & Ramakrishnan 2005): all nodes at which every class but for a few records has k, and the least of them.

Subsets of columns grow by one column at a time. A node of a subset is looked at only if all its parts, the same levels without one column,
keep k; and once a node does, all nodes above it do without being looked at.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

from numpy.typing import NDArray

from shoal.kernels.cells import tally
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.lattice.descent import Levels
from shoal.kernels.lattice.levels import Space, classes, space_of

MOST_NODES = 1_000_000


class Anonymous(NamedTuple):
    """The nodes that keep k: the least of them, of which none is above another, in the order of their levels; and how many there are."""

    minimal: list[Levels]
    nodes: int
    looked_at: int  # nodes of all subsets whose classes were counted


def incognito(
    codes: NDArray[Any],
    rows: NDArray[Any] | None,
    hierarchies: Sequence[CodedHierarchy],
    k: int,
    limit: int,
    lowest: Sequence[int] | None = None,
    highest: Sequence[int] | None = None,
) -> Anonymous:
    """All nodes at which at most `limit` records are in classes below k."""
    space = space_of(codes, rows, hierarchies, lowest, highest)
    if space.size > MOST_NODES:
        raise ValueError(
            f"The lattice has {space.size:,} nodes, more than the {MOST_NODES:,} that can be listed. Fix the levels of some columns."
        )
    kept: dict[tuple[int, ...], set[Levels]] = {(): {()}}
    looked_at = 0
    for size in range(1, space.columns + 1):
        grown: dict[tuple[int, ...], set[Levels]] = {}
        for columns in combinations(range(space.columns), size):
            grown[columns], looked = _anonymous(space, columns, kept, k, limit)
            looked_at += looked
        kept = grown
    (whole,) = kept.values()
    minimal = sorted(levels for levels in whole if not any(below in whole for below in _below(levels)))
    return Anonymous(minimal, len(whole), looked_at)


def _anonymous(
    space: Space, columns: tuple[int, ...], parts: dict[tuple[int, ...], set[Levels]], k: int, limit: int
) -> tuple[set[Levels], int]:
    """The nodes of a subset of columns that keep k, from the lowest up, and how many were counted."""
    found: set[Levels] = set()
    looked = 0
    without = [parts[columns[:at] + columns[at + 1 :]] for at in range(len(columns))]
    levels = [0] * space.columns
    for node in product(*(range(space.lowest[j], space.highest[j] + 1) for j in columns)):  # a node comes after all below it
        if any(below in found for below in _below(node)):
            found.add(node)
            continue
        if any(node[:at] + node[at + 1 :] not in part for at, part in enumerate(without)):
            continue
        for j, level in zip(columns, node):
            levels[j] = level
        ids, many = classes(space, levels, columns)
        sizes = tally(ids, space.rows, many)
        looked += 1
        if int(sizes[sizes < k].sum()) <= limit:
            found.add(node)
    return found, looked


def _below(levels: Levels) -> Iterator[Levels]:
    for at, level in enumerate(levels):
        if level:
            yield (*levels[:at], level - 1, *levels[at + 1 :])
