"""Section 5.8: Adult expanded, and how long kACTUS takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from experiments.kisilevich_2010.sets import CLASS, adult
from shoal import Roles, Table
from shoal.kernels.kactus import anonymize
from shoal.kernels.trees.c45 import grow, route
from shoal.methods import Kactus
from shoal.methods.generalization import coded, tree_codes
from shoal.randomness import chance_for, rng_for

QUASI = ("age", "workclass", "education", "marital-status", "occupation", "race", "sex")  # the paper says seven, not which
KEPT, K = 3, 150


@dataclass(frozen=True)
class Timed:
    """CPU seconds for one size."""

    rows: int
    tree: float  # coded columns to the tree
    groups: float  # and on to the group of every row
    table: float  # from a table to the released table, coding included


def expanded(scale: int) -> Table:
    """The complete rows of Adult and scale - 1 variations of each, which keep 3 of the 7 quasi-identifiers and draw the others from their domains."""
    base = adult().table
    rng = rng_for(2010, "expanded")
    codes = np.column_stack([base.codes(c) for c in QUASI])
    domain = codes.max(axis=0) + 1
    copies = [codes]
    for _ in range(scale - 1):
        keeps = rng.random(codes.shape).argsort(axis=1) < KEPT
        copies.append(np.where(keeps, codes, rng.integers(0, domain, codes.shape)))
    whole = np.concatenate(copies)
    columns: dict[str, pa.Array] = {c: base.levels(c).take(pa.array(whole[:, j])) for j, c in enumerate(QUASI)}
    classes = base.levels(CLASS).take(pa.array(np.tile(base.codes(CLASS), scale)))
    return Table.of(pa.table({**columns, CLASS: classes}))


def timed(scale: int) -> Timed:
    """One expansion."""
    table = expanded(scale)
    roles = Roles(quasi=QUASI, target=CLASS).check(table)
    data = coded(table, roles, QUASI)
    codes, (target, classes) = tree_codes(data), (table.codes(CLASS).astype(np.int32), int(table.codes(CLASS).max()) + 1)
    draws = rng_for(2010, "draws").random(len(table))
    to_tree, tree = _seconds(lambda: grow(codes, data.ordered, target, classes, least=K))
    to_groups, at = _seconds(lambda: anonymize(tree.parent, route(tree, codes, data.ordered), K, draws))
    assert np.unique(at, return_counts=True)[1].min() >= K
    fresh = Table.of(table.arrow)  # nothing coded yet
    to_table, _ = _seconds(lambda: Kactus(k=K).protect(fresh, roles, chance_for(2010, "protect")))
    return Timed(len(table), to_tree, to_tree + to_groups, to_table)


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result
