"""Two files as coordinates, in every space a learned distance may be in, and linking between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.classes import released_classes, shares_by_class
from shoal.attacks.forms import together
from shoal.attacks.matching import IntruderView
from shoal.contracts import Progress, quiet
from shoal.kernels.linkage import closer
from shoal.kernels.linkage.families import Learned, LinkSpace, Scaling, placed
from shoal.kernels.scaling import Spread, standardized
from shoal.release import Release
from shoal.table import Table

SCALINGS: tuple[Scaling, ...] = ("each", "original", "rank")
MOST_HELD = 20_000  # released rows that distances are learned against, where sets were released; linking is always to all classes


class Setting(NamedTuple):
    """Both files in every space, and the columns that can tell records apart."""

    spaces: dict[Scaling, LinkSpace]
    true: IntArray  # where each known record is among the released rows of the spaces, -1: not released
    names: list[str]
    constant: list[str]
    sets: tuple[str, ...]  # columns released as sets or intervals; then a class that contradicts fewer known values comes first
    by_class: Callable[[Learned, IntArray], FloatArray]  # the share of a hit of each record asked, where sets were released


def setting_of(original: Table, release: Release, view: IntruderView, rng: Generator) -> Setting:
    """Coordinates by column. Missing is 1 on a coordinate of its own, and in the middle on the other; sets lie between their values."""
    numeric = view.known.shape[1]
    varies = [_varies(view.known[:, j], view.released[:, j]) for j in range(numeric)]
    varies += [_varies(view.known_nominal[:, j], view.released_nominal[:, j]) or not exact for j, exact in enumerate(view.exact)]
    kept = [j for j, yes in enumerate(varies) if yes] or [0]
    held = np.arange(len(release))
    if view.sets and len(held) > MOST_HELD:
        held = np.union1d(view.true_row[view.true_row >= 0], rng.choice(held, MOST_HELD, replace=False))
    true = np.where(view.true_row >= 0, np.searchsorted(held, view.true_row), -1)
    spaces = {scaling: _space(view, scaling, kept, held) for scaling in SCALINGS}
    of_classes: dict[Scaling, LinkSpace] = {}

    def by_class(learned: Learned, asked: IntArray) -> FloatArray:
        scaling, by = learned.family.scaling, learned.by
        if scaling not in of_classes:
            of_classes[scaling] = _space(view, scaling, kept, released_classes(original, release, view).first)
        classes, queries = placed(learned, of_classes)
        stretch = np.sqrt(by.weights[by.attribute[: by.numeric]])
        among = np.zeros(len(view.rows), np.bool_)
        among[asked] = True
        return shares_by_class(original, release, view, queries[asked, : by.numeric] * stretch, classes[:, : by.numeric] * stretch, among)

    names = [view.columns[j] for j in kept]
    constant = [name for name in view.columns if name not in names]
    return Setting(spaces, true, names, constant, view.sets, by_class)


def _space(view: IntruderView, scaling: Scaling, kept: list[int], rows: IntArray) -> LinkSpace:
    """The known records and some released rows in one space."""
    numeric, place = view.known.shape[1], {j: a for a, j in enumerate(kept)}
    left, right, attribute = [], [], []
    for j in (j for j in kept if j < numeric):
        every = None if view.every is None else view.every[j]
        for x, y in _coordinates(view.known[:, j], view.released[:, j], scaling, rows, every):
            left.append(x)
            right.append(y)
            attribute.append(place[j])
    at = 0
    for j, cells, codes in zip(np.flatnonzero(~view.exact).tolist(), view.share_points, view.share_codes):
        points = cells[codes[rows]]
        for axis in range(cells.shape[1]):
            left.append(view.known_shares[:, at + axis])
            right.append(points[:, axis])
            attribute.append(place[numeric + j])
        at += cells.shape[1]
    numbers = len(left)
    for j in np.flatnonzero(view.exact).tolist():
        if numeric + j in place:
            left.append(view.known_nominal[:, j].astype(np.float64))
            right.append(view.released_nominal[rows, j].astype(np.float64))
            attribute.append(place[numeric + j])
    stands_for = None if view.stands_for is None else view.stands_for[rows]
    return LinkSpace(np.column_stack(left), np.column_stack(right), np.array(attribute, np.int64), numbers, stands_for)


def _varies(x: Any, y: Any) -> bool:
    both = np.concatenate([x, y])
    return bool(len(np.unique(both)) > 1)  # NaN is one value here


def _coordinates(
    x: FloatArray, y: FloatArray, scaling: Scaling, rows: IntArray, every: Spread | None
) -> list[tuple[FloatArray, FloatArray]]:
    """One column as coordinates of both files; of the released one, of some rows. `every` released value, where `y` are combinations."""
    gone = [(np.isnan(x).astype(np.float64), np.isnan(y[rows]).astype(np.float64))] if np.isnan(x).any() or np.isnan(y).any() else []
    if np.isnan(x).all() or np.isnan(y).all():
        return gone
    if scaling == "each":
        return [*gone, (np.nan_to_num(standardized(x)), np.nan_to_num(standardized(y, every)[rows]))]
    every = every or Spread(y, np.ones(len(y), np.int64))
    if scaling == "original":
        middle, deviation = np.nanmean(x), np.nanstd(x, ddof=1) if (~np.isnan(x)).sum() > 1 else 0.0
        if deviation <= 1e-14 * np.abs(middle):
            middle, deviation = np.float64(every.known.mean), every.known.deviation(0)
        return [*gone, tuple(np.nan_to_num((side - middle) / (deviation or 1.0)) for side in (x, y[rows]))]  # type: ignore[list-item]
    # a file's own ranks where the intruder holds as many records as were released; else both by the release, which he always has
    alike = abs(len(x) - every.total) <= 0.1 * every.total
    return [*gone, (_ranks(x, Spread(x, np.ones(len(x), np.int64)) if alike else every), _ranks(y[rows], every))]


def _ranks(values: FloatArray, among: Spread) -> FloatArray:
    """The middle rank of each value among others, as a share; missing in the middle."""
    known = among.known
    order = np.argsort(known.values)
    ordered, before = known.values[order], np.append(0, np.cumsum(known.rows[order]))
    left, right = (before[np.searchsorted(ordered, values, side)] for side in ("left", "right"))
    middle = (left + right) / (2 * known.total)
    return np.where(np.isnan(values), 0.5, middle)


def nearest_shares(setting: Setting, learned: Learned, rows: IntArray, progress: Progress = quiet) -> FloatArray:
    """Each record's share of a hit when it is linked to the nearest of the whole release; `rows` must rise."""
    share = np.zeros(len(rows))
    there = setting.true[rows] >= 0
    asked = rows[there]
    if setting.sets and len(asked):
        share[there] = setting.by_class(learned, asked)
        return share
    protected, queries = placed(learned, setting.spaces)
    stands_for = setting.spaces[learned.family.scaling].stands_for
    found = closer.linked(
        protected, queries[asked], setting.true[asked], learned.by, lambda done, of: progress("linking", done, of), stands_for
    )
    share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
    return share


def one_to_one_shares(setting: Setting, learned: Learned, rows: IntArray, taken: IntArray, rng: Generator) -> FloatArray:
    """Each record's share when all are linked together, none to a released record of `taken`."""
    protected, queries = placed(learned, setting.spaces)
    left = np.setdiff1d(np.arange(len(protected)), setting.true[taken])
    place = np.full(len(protected) + 1, -1)  # the last is nobody's
    place[left] = np.arange(len(left))
    return together(protected[left], queries[rows], place[setting.true[rows]], learned.by, rng)
