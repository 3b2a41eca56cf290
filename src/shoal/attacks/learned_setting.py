"""Two files as coordinates, in every space a learned distance may be in, and linking between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.linkage_by_distance import by_containment
from shoal.attacks.matching import MOST_CORNERS, Files
from shoal.cell import is_generalized
from shoal.contracts import Progress, quiet
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage import closer
from shoal.kernels.linkage.families import Learned, LinkSpace, Scaling, placed
from shoal.kernels.scaling import standardized
from shoal.release import Release
from shoal.table import Table


class Setting(NamedTuple):
    """Both files in every space, and the columns that can tell records apart."""

    spaces: dict[Scaling, LinkSpace]
    true: IntArray  # the released row of each known record, -1: not released
    names: list[str]
    constant: list[str]
    sets: list[str]  # columns released as sets or intervals; then a class that contradicts fewer known values comes first
    by_containment: Callable[[FloatArray, FloatArray, IntArray], FloatArray]


def setting_of(original: Table, release: Release, pair: Files) -> Setting:
    """Coordinates by column. Missing is 1 on a coordinate of its own, and in the middle on the other; sets lie between their values."""
    numeric = pair.known.shape[1]
    words = pair.columns[numeric:]
    widths = [0 if plain else min(len(original.levels(name)), MOST_CORNERS) for name, plain in zip(words, pair.exact)]
    parts = np.split(np.arange(sum(widths)), np.cumsum(widths)[:-1]) if widths else []
    made: dict[Scaling, LinkSpace] = {}
    varies = [_varies(pair.known[:, j], pair.released[:, j]) for j in range(numeric)]
    varies += [_varies(pair.known_nominal[:, j], pair.released_nominal[:, j]) or not pair.exact[j] for j in range(len(words))]
    kept = [j for j, yes in enumerate(varies) if yes] or [0]
    place = {j: a for a, j in enumerate(kept)}
    for scaling in ("each", "original", "rank"):
        left, right, attribute = [], [], []
        for j in (j for j in kept if j < numeric):
            for x, y in _coordinates(pair.known[:, j], pair.released[:, j], scaling):
                left.append(x)
                right.append(y)
                attribute.append(place[j])
        for j, part in enumerate(parts):
            for at in part:
                left.append(pair.known_shares[:, at])
                right.append(pair.released_shares[:, at])
                attribute.append(place[numeric + j])
        numbers = len(left)
        for j in range(len(words)):
            if pair.exact[j] and numeric + j in place:
                left.append(pair.known_nominal[:, j].astype(np.float64))
                right.append(pair.released_nominal[:, j].astype(np.float64))
                attribute.append(place[numeric + j])
        made[scaling] = LinkSpace(np.column_stack(left), np.column_stack(right), np.array(attribute, np.int64), numbers)
    sets = [name for name in pair.columns if is_generalized(original, release.table, name)]

    def contained(known: FloatArray, released: FloatArray, rows: IntArray) -> FloatArray:
        asked = np.zeros(len(pair.rows), np.bool_)
        asked[rows] = True
        return by_containment(original, release, pair, sets, known, released, asked)

    constant = [name for j, name in enumerate(pair.columns) if j not in place]
    return Setting(made, pair.true_row, [pair.columns[j] for j in kept], constant, sets, contained)


def _varies(x: Any, y: Any) -> bool:
    both = np.concatenate([x, y])
    return bool(len(np.unique(both)) > 1)  # NaN is one value here


def _coordinates(x: FloatArray, y: FloatArray, scaling: Scaling) -> list[tuple[FloatArray, FloatArray]]:
    """One column as coordinates of both files."""
    gone = [(np.isnan(x).astype(np.float64), np.isnan(y).astype(np.float64))] if np.isnan(x).any() or np.isnan(y).any() else []
    if np.isnan(x).all() or np.isnan(y).all():
        return gone
    if scaling == "each":
        return [*gone, (np.nan_to_num(standardized(x)), np.nan_to_num(standardized(y)))]
    if scaling == "original":
        middle, deviation = np.nanmean(x), np.nanstd(x, ddof=1) if (~np.isnan(x)).sum() > 1 else 0.0
        if deviation <= 1e-14 * np.abs(middle):
            middle, deviation = np.nanmean(y), np.nanstd(y)
        return [*gone, tuple(np.nan_to_num((side - middle) / (deviation or 1.0)) for side in (x, y))]  # type: ignore[list-item]
    # a file's own ranks where the intruder holds as many records as were released; else both by the release, which he always has
    alike = abs(len(x) - len(y)) <= 0.1 * len(y)
    return [*gone, (_ranks(x, x if alike else y), _ranks(y, y))]


def _ranks(values: FloatArray, among: FloatArray) -> FloatArray:
    """The middle rank of each value among others, as a share; missing in the middle."""
    ordered = np.sort(among[~np.isnan(among)])
    middle = (np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")) / (2 * len(ordered))
    return np.where(np.isnan(values), 0.5, middle)


def nearest_shares(setting: Setting, learned: Learned, rows: IntArray, progress: Progress = quiet) -> FloatArray:
    """Each record's share of a hit when it is linked to the nearest of the whole release; `rows` must rise."""
    share = np.zeros(len(rows))
    there = setting.true[rows] >= 0
    asked = rows[there]
    protected, queries = placed(learned, setting.spaces)
    if setting.sets and len(asked):
        by = learned.by
        stretch = np.sqrt(by.weights[by.attribute[: by.numeric]])
        share[there] = setting.by_containment(queries[asked, : by.numeric] * stretch, protected[:, : by.numeric] * stretch, asked)
        return share
    found = closer.linked(protected, queries[asked], setting.true[asked], learned.by, lambda done, of: progress("linking", done, of))
    share[there] = np.where(found.closer_exists, 0.0, 1 / np.maximum(found.ties, 1))
    return share


def one_to_one_shares(setting: Setting, learned: Learned, rows: IntArray, taken: IntArray, rng: Generator) -> FloatArray:
    """Each record's share when all are linked together, none to a released record of `taken`.

    Both files are shuffled, so that row order wins no tie, and twins share a hit.
    """
    from scipy.optimize import linear_sum_assignment  # half a second that only this needs

    true = setting.true
    protected, queries = placed(learned, setting.spaces)
    left = rng.permutation(np.setdiff1d(np.arange(len(protected)), true[taken]))
    order = rng.permutation(len(rows))
    a, b = linear_sum_assignment(closer.distances(protected[left], queries[rows[order]], learned.by))
    found = np.full(len(rows), -1)
    found[order[a]] = left[b]
    same, _, size = distinct_rows(protected)
    there = (found >= 0) & (true[rows] >= 0)
    hit = np.zeros(len(rows), np.bool_)
    hit[there] = same[found[there]] == same[true[rows[there]]]
    return np.where(hit, 1 / size[same[np.maximum(true[rows], 0)]], 0.0)
