"""How well the classes of a target are apart in a release, how far its columns moved, and both together (Zouinina et al. 2020).

Folds are drawn from the records' contents and never from their order, so that a table has one value. Numbers of a test record are read at
the nearest value the tree was trained on. Of a set a tree sees the commonest value, of an interval its expectation.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.arrays import BoolArray, FloatArray, Int32Array, IntArray
from shoal.cell import expected_numbers, is_generalized, read, value_shares
from shoal.kernels.groups import class_ids
from shoal.kernels.separation import davies_bouldin, silhouette
from shoal.kernels.trees.c45 import grow, predict, route
from shoal.measures.loss import NumericLoss
from shoal.measures.pairs import Pairs, spread
from shoal.measures.squares import EarthMoversDistance
from shoal.measures.table_measure import Bounds, TableMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Better, OfADraw, Score
from shoal.table import Table

MOST_CLUSTERS = 20_000
NO_TARGET = "There is no target: name the column to predict."
MADE_ALIKE = (
    "The release makes records alike, so none can be held back from training that is not in the others' values. "
    "`shoal measure RUN --target COLUMN` protects each half anew, and tests on the other."
)
NO_NUMBERS = "There are no two records with numbers to compare."
TOO_FEW = "There is no quasi-identifier to learn from, or no second record."


class _Features(NamedTuple):
    """The quasi-identifiers on both sides as numbers, NaN where missing; row i of both is released row i."""

    original: FloatArray
    released: FloatArray
    ordered: BoolArray  # numbers and levels; the others are codes
    classes: IntArray


def _features(original: Table, release: Release, roles: Roles) -> _Features | None:
    """None without a column or without a second record. Without a target all records are of one class."""
    columns = [c for c in roles.quasi if c in release.table.columns]
    if not columns or len(release) < 2:
        return None
    sides = [_column(original, release.table, roles, column) for column in columns]
    before = np.column_stack([side[0] for side in sides])[release.source_row]
    ordered = np.array([side[2] for side in sides])
    of_row = np.zeros(len(original), np.int64) if roles.target is None else original.codes(roles.target)
    classes = np.unique(of_row[release.source_row], return_inverse=True)[1].reshape(-1)
    return _Features(before, np.column_stack([side[1] for side in sides]), ordered, classes)


def _column(original: Table, released: Table, roles: Roles, column: str) -> tuple[FloatArray, FloatArray, bool]:
    generalized = is_generalized(original, released, column)
    if roles.scale(original, column) == "numeric" and original.kind(column) in ("number", "date", "empty"):
        return original.number(column), expected_numbers(released, column) if generalized else released.number(column), True
    is_ordinal = roles.scale(original, column) == "ordinal"
    names = roles.levels(original, column) if is_ordinal else [str(v) for v in original.levels(column).to_pylist() if v is not None]
    place: dict[str | None, float] = {name: float(i) for i, name in enumerate(names)}
    sides = []
    for table, sets in ((original, False), (released, generalized)):
        values = [_commonest(level) if sets else level for level in table.levels(column).to_pylist()]
        sides.append(np.array([np.nan if v is None else place.get(str(v), np.nan) for v in values])[table.codes(column)])
    return sides[0], sides[1], is_ordinal


def _commonest(cell: str | None) -> str | None:
    shares = value_shares(read(cell))
    return max(shares, key=lambda value: shares[value]) if shares else None


# ---- what a decision tree can tell ------------------------------------------------------------------------------------------------------


class TreeAccuracy(TableMeasure):
    """Accuracy of a C4.5 tree for the target over ten folds. A tree that learns from a draw knows less than one that learns from all rows."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[Bounds] = (0, 1)
    folds: int = Field(10, ge=2, description="Parts that the records are cut into; each is tested on once")

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """The share of records whose class is found; `original` in the details is the same for the table as it was."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        data = _features(original, release, roles)
        if data is None:
            return self.no_value(TOO_FEW)
        fold = self.fold(data)
        if fold.max(initial=0) < 1:
            return self.no_value("All records are of one class: none can be held back.")
        hits = _tested(data.released, self.tests(data), data, fold)
        before = _tested(data.original, data.original, data, fold)
        details = {"original": float(before.mean()), "folds": int(fold.max()) + 1}
        return Score(
            self.name, self.title, float(hits.mean()), self.better, (0, 1), None, self.note(), {}, details, hits.astype(np.float64)
        )

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """There must be a class to predict, and something to predict it from."""
        return NO_TARGET if roles.target is None else "" if released_quasi(release, roles) and len(release) > 1 else TOO_FEW

    def fold(self, data: _Features) -> IntArray:
        """The fold of each record: each class of the target dealt out evenly, by a draw that depends on contents alone."""
        draws = _draws(np.column_stack([data.released, data.original, data.classes]))
        fold = np.empty(len(data.classes), np.int64)
        fold[np.lexsort((draws, data.classes))] = np.arange(len(fold)) % min(self.folds, len(fold))
        return fold

    def tests(self, data: _Features) -> FloatArray:
        """What is tested on."""
        return data.released

    def note(self) -> str:
        """How to read it."""
        return ""


class Separability(TreeAccuracy):
    """Accuracy of a decision tree trained and tested on the release, tenfold (paper-compatible: Zouinina et al. 2020).

    Records of a group are the same and fall on both sides of every fold, so it rises as groups lean towards one class. Do not read it as accuracy.
    """

    name: ClassVar[str] = "separability"
    title: ClassVar[str] = "Separability (paper-compatible)"
    hold_out: Literal["records", "classes"] = Field(
        "records", description="What a fold holds out: records, as published; or whole classes of the release"
    )

    def fold(self, data: _Features) -> IntArray:
        """As published, or classes of the release together."""
        return super().fold(data) if self.hold_out == "records" else _grouped_folds(data.released, self.folds)

    def note(self) -> str:
        """Why it misleads."""
        if self.hold_out == "classes":
            return "Whole classes are held out, so it falls as groups lean towards one class of the target."
        return "As published: equal records are trained and tested on alike. See trained-on-release."


class TrainedOnRelease(TreeAccuracy):
    """Accuracy on original records of a decision tree trained on the release, tenfold; no value where the release makes records alike.

    In groups, a record that is held out is still in the values of the others, and to hold out its whole group is to hide a part of the
    table from the tree: neither is what somebody gets who trains on the release. `shoal measure --target` protects each half anew instead.
    """

    name: ClassVar[str] = "trained-on-release"
    title: ClassVar[str] = "Accuracy on originals, trained on the release"
    hold_out: Literal["records", "classes"] = Field(
        "records",
        description="What a fold holds out: records; or whole classes of the release, in groups too, and then far too low (experiments)",
    )

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Records must not have been put into groups."""
        why = super().applies(original, release, roles)
        if why or self.hold_out == "classes":
            return why
        columns = released_quasi(release, roles)
        after = class_ids([release.table.codes(column) for column in columns])[1]
        before = class_ids([original.codes(column)[release.source_row] for column in columns])[1]
        return MADE_ALIKE if after < before else ""

    def fold(self, data: _Features) -> IntArray:
        """By records, or classes of the release together."""
        return super().fold(data) if self.hold_out == "records" else _grouped_folds(data.released, self.folds)

    def tests(self, data: _Features) -> FloatArray:
        """The originals."""
        return data.original


def _draws(contents: FloatArray) -> FloatArray:
    """A number for each row that is the same however the rows are ordered; equal rows may change theirs among themselves."""
    order = np.lexsort(np.nan_to_num(contents, nan=np.inf).T)
    draws = np.empty(len(order))
    draws[order] = np.random.default_rng(1).random(len(order))
    return draws


def _grouped_folds(released: FloatArray, folds: int) -> IntArray:
    rows = np.nan_to_num(released, nan=np.inf)
    order = np.lexsort(rows.T)
    new = (rows[order][1:] != rows[order][:-1]).any(axis=1)
    group = np.empty(len(rows), np.int64)
    group[order] = np.append(0, np.cumsum(new))
    groups = int(group.max()) + 1
    return (np.random.default_rng(1).permutation(groups) % min(folds, groups))[group]


def _tested(train: FloatArray, test: FloatArray, data: _Features, fold: IntArray) -> BoolArray:
    """Whether each record's class is found by a tree that has not seen its fold."""
    hits = np.zeros(len(fold), np.bool_)
    for one in range(int(fold.max()) + 1):
        inside, outside = fold != one, fold == one
        if not inside.any() or not outside.any():
            continue
        codes = _codes(train[inside], test[outside], data.ordered)
        tree = grow(codes[: inside.sum()], data.ordered, data.classes[inside].astype(np.int32), int(data.classes.max()) + 1)
        hits[outside] = predict(tree, route(tree, codes[inside.sum() :], data.ordered)) == data.classes[outside]
    return hits


def _codes(train: FloatArray, test: FloatArray, ordered: BoolArray) -> Int32Array:
    """Both as a tree counts: 0 for missing, codes from 1. A number counts as the nearest one trained on, cut halfway."""
    both = np.zeros((len(train) + len(test), train.shape[1]), np.int32)
    for j in range(train.shape[1]):
        values = np.concatenate([train[:, j], test[:, j]])
        known = np.unique(train[~np.isnan(train[:, j]), j])
        if not ordered[j]:
            both[:, j] = np.where(np.isnan(values), 0, np.nan_to_num(values) + 1)
        elif len(known):
            both[:, j] = np.where(np.isnan(values), 0, 1 + np.searchsorted((known[1:] + known[:-1]) / 2, values))
    return both


# ---- how far clusters are apart ---------------------------------------------------------------------------------------------------------


class ClusterIndex(TableMeasure):
    """An index of how well clusters of records are apart, over numbers and levels."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[Bounds] = (-1, 1)
    of_a_draw: ClassVar[OfADraw] = "estimate"
    clusters: Literal["target", "classes"] = Field(
        "target", description="target: the target's classes, over released values; classes: the release's classes, over original values"
    )
    standardize: Literal["deviation", "none"] = Field(
        "deviation", description="Whether values are divided by the original's standard deviation; none: as published"
    )

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """Columns that are missing somewhere are filled with their mean; categories are left out."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        data = _features(original, release, roles)
        if data is None or not data.ordered.any():
            return self.no_value(NO_NUMBERS)
        by_class = self.clusters == "classes"
        values = (data.original if by_class else data.released)[:, data.ordered]
        usable = ~np.isnan(values).all(axis=0)
        with warnings.catch_warnings():  # a column without two values has no deviation
            warnings.simplefilter("ignore", RuntimeWarning)
            scale = spread(data.original[:, data.ordered])[usable] if self.standardize == "deviation" else np.ones(int(usable.sum()))
        values = values[:, usable] / np.where(np.isfinite(scale) & (scale > 0), scale, 1.0)
        if not values.shape[1]:
            return self.no_value(NO_NUMBERS)
        values = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
        groups = _grouped_folds(data.released, len(values)) if by_class else data.classes
        if groups.max(initial=0) + 1 > MOST_CLUSTERS:
            return self.no_value(f"There are more than {MOST_CLUSTERS:,} clusters.")
        value, note = self.index(values, groups)
        if not np.isfinite(value):
            value, note = None, note or "There are no two clusters, or two lie on the same centre."
        left_out = " Categories are left out." if not data.ordered.all() else ""
        return Score(self.name, self.title, value, self.better, self.bounds, None, (note + left_out).strip())

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """The target's classes need a target, and those of the release all of its rows."""
        if self.clusters == "classes" and release.rows is not None:
            return "Classes of the release are not compared where the rows do not fit into memory."
        return NO_TARGET if roles.target is None and self.clusters == "target" else ""

    def index(self, values: FloatArray, clusters: IntArray) -> tuple[Any, str]:
        """(value, note)."""
        raise TypeError(f"{type(self).__name__} does not say what it computes")


class Silhouette(ClusterIndex):
    """Mean silhouette of the target's classes in the release (Rousseeuw 1987): 1 far apart, 0 overlapping, below 0 mixed up."""

    name: ClassVar[str] = "silhouette"
    title: ClassVar[str] = "Silhouette of the target's classes"

    def index(self, values: FloatArray, clusters: IntArray) -> tuple[Any, str]:
        """Over all records, or evenly spread ones of a large table."""
        if not np.ptp(values, axis=0).any():
            return np.nan, "All records are the same, so nothing is apart."
        value, share = silhouette(values, clusters)
        return value, "" if share == 1 else f"Taken over {share:.1%} of the records."


class DaviesBouldin(ClusterIndex):
    """Davies-Bouldin index of the target's classes in the release (1979): how wide clusters are for the distance between them."""

    name: ClassVar[str] = "davies-bouldin"
    title: ClassVar[str] = "Davies-Bouldin index of the target's classes"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (None, None)  # never below 0, and not 0 where nothing was lost

    def index(self, values: FloatArray, clusters: IntArray) -> tuple[Any, str]:
        """0 is best."""
        return davies_bouldin(values, clusters), ""


# ---- structural and combined utility ----------------------------------------------------------------------------------------------------


class StructuralUtility(NumericLoss):
    """One minus the mean over the columns of the earth mover's distance between original and release, over the column's range."""

    name: ClassVar[str] = "structural-utility"
    title: ClassVar[str] = "Structural utility"
    of_a_draw: ClassVar[OfADraw] = "withheld"  # a draw does not have a column's range
    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float | None, float | None]] = (None, 1)
    over: Literal["range", "deviation", "largest"] = Field(
        "range",
        description="What distances are divided by: the column's range, its deviation, or the largest column's distance (paper-compatible)",
    )

    def compare(self, pairs: Pairs) -> tuple[float | None, Mapping[str, float], str, FloatArray | None]:
        """Divided by the largest, doubling all damage changes nothing: that is why it is not the default."""
        _, work, note, _ = EarthMoversDistance().compare(pairs)  # in deviations
        if not work:
            return None, {}, note, None
        at = [pairs.columns.index(column) for column in work]
        moved = np.array(list(work.values()))
        if self.over == "range":
            values = pairs.original[:, at]
            moved = moved * pairs.deviations[at] / (np.nanmax(values, axis=0) - np.nanmin(values, axis=0))
        elif self.over == "largest":
            moved = moved * pairs.deviations[at]
            moved = moved / moved.max() if moved.max() > 0 else moved
        return float(1 - moved.mean()), dict(zip(work, (1 - moved).tolist())), "", None


class CombinedUtility(TableMeasure):
    """alpha times separability plus (1 - alpha) times structural utility (paper-compatible: Zouinina et al. 2020)."""

    name: ClassVar[str] = "combined-utility"
    title: ClassVar[str] = "Combined utility (paper-compatible)"
    better: ClassVar[Better] = "higher"
    bounds: ClassVar[Bounds] = (None, 1)
    alpha: float = Field(0.5, ge=0, le=1, description="Weight of separability")
    over: Literal["range", "deviation", "largest"] = Field("range", description="As in structural-utility")

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """No value where either has none."""
        parts = (Separability().measure(original, release, roles), StructuralUtility(over=self.over).measure(original, release, roles))
        apart, structure = (part.value for part in parts)
        if apart is None or structure is None:
            note = next(part.note for part in parts if part.value is None)
            return self.no_value(note)
        details = {"separability": apart, "structural": structure}
        value = self.alpha * apart + (1 - self.alpha) * structure
        return Score(self.name, self.title, value, self.better, self.bounds, None, parts[0].note, {}, details)


def utility_scores(combined: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Score of each method: the sum over the data sets of its combined utility over the best method's there."""
    sets = {name for row in combined.values() for name in row}
    best = {name: max(row[name] for row in combined.values() if name in row) for name in sets}
    return {method: sum(value / best[name] for name, value in row.items()) for method, row in combined.items()}
