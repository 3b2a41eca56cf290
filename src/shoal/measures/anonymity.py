"""What the classes of a release give away: k, l, t, and risks computed from class sizes.

A class is a set of released records that agree on every quasi-identifier. Missing is a value of its own: two records that are both missing
agree there, a missing and a known one do not. No record is ever dropped from the count.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.groups import class_ids, class_sizes
from shoal.measures.table_measure import QuasiMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Better, Needs, Score
from shoal.table import Table


class ClassMeasure(QuasiMeasure):
    """A number computed from the sizes of the classes."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float | None, float | None]] = (1, None)
    needs: ClassVar[Needs] = "release"

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """From the release alone."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        columns = released_quasi(release, roles)
        sizes = release.once(("class sizes", *columns), lambda: class_sizes([release.table.codes(column) for column in columns]))
        value, details = self.of_sizes(sizes)
        return Score(self.name, self.title, value, self.better, self.bounds, details=details)

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """(value, details) from class sizes."""
        raise TypeError(f"{type(self).__name__} does not say what it counts")


class KAnonymity(ClassMeasure):
    """The size of the smallest class: the k the release really has, over all quasi-identifiers together (Samarati & Sweeney 1998)."""

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "Smallest class (k)"

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """With the number of uniques and how many classes there are of each size."""
        size, classes = np.unique(sizes, return_counts=True)
        histogram = {str(s): c for s, c in zip(size.tolist(), classes.tolist())}
        return int(sizes.min()), {"uniques": int((sizes == 1).sum()), "classes": len(sizes), "histogram": histogram}


class Uniqueness(ClassMeasure):
    """The share of records that are alone in their class."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "Share of unique records"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """Uniques over records."""
        return float((sizes == 1).sum() / sizes.sum()), {"uniques": int((sizes == 1).sum())}


class AverageRisk(ClassMeasure):
    """Average re-identification risk: the mean over records of 1 / class size, which is the number of classes over the number of records."""

    name: ClassVar[str] = "average-risk"
    title: ClassVar[str] = "Average re-identification risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """Classes over records."""
        return float(len(sizes) / sizes.sum()), {"expected_reidentifications": len(sizes)}


class MaximumRisk(ClassMeasure):
    """Highest re-identification risk of any record: 1 / smallest class."""

    name: ClassVar[str] = "maximum-risk"
    title: ClassVar[str] = "Highest re-identification risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """The other side of k."""
        return float(1 / sizes.min()), {}


class Discernibility(ClassMeasure):
    """The sum of squared class sizes (Bayardo & Agrawal 2005): what each record pays for the company it is in."""

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility penalty"
    better: ClassVar[Better] = "lower"

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """At least the number of records, at most its square."""
        return int((sizes.astype(np.int64) ** 2).sum()), {}


class AverageClassSize(ClassMeasure):
    """Records per class (LeFevre, DeWitt & Ramakrishnan 2006, without their division by k)."""

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "Records per class"
    better: ClassVar[Better] = "lower"

    def of_sizes(self, sizes: IntArray) -> tuple[float, dict[str, Any]]:
        """Plain mean."""
        return float(sizes.mean()), {}


class _Inside(NamedTuple):
    """The values of a confidential column inside each class: one entry per (class, value) that occurs, sorted by class and value."""

    group: IntArray
    value: IntArray
    records: IntArray
    sizes: IntArray  # of the classes


class DiversityMeasure(QuasiMeasure):
    """A number for each confidential column; the worst counts."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float | None, float | None]] = (1, None)
    needs: ClassVar[Needs] = "release"

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """From the release alone."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        quasi = released_quasi(release, roles)
        values = {}
        for column in self.confidential(release, roles):
            inside = release.once(("inside", column, *quasi), partial(_inside, release.table, quasi, column))
            values[column] = self.of_column(inside, release.table, roles, column)
        worst = min(values.values()) if self.better == "higher" else max(values.values())
        return Score(self.name, self.title, worst, self.better, self.bounds, per_column=values)

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Also a confidential column."""
        lacks = "" if self.confidential(release, roles) else "There is no confidential column to look at."
        return super().applies(original, release, roles) or lacks

    def confidential(self, release: Release, roles: Roles) -> list[str]:
        """The confidential columns that the release has."""
        return [column for column in roles.confidential if column in release.table.columns]

    def of_column(self, inside: _Inside, table: Table, roles: Roles, column: str) -> float:
        """The value of one confidential column."""
        raise TypeError(f"{type(self).__name__} does not say what it counts")


def _inside(table: Table, quasi: list[str], column: str) -> _Inside:
    ids, classes = class_ids([table.codes(name) for name in quasi])
    codes = table.codes(column)
    width = int(codes.max()) + 1
    pair, count = np.unique(ids * width + codes, return_counts=True)
    return _Inside(pair // width, pair % width, count, np.bincount(ids, minlength=classes))


class DistinctLDiversity(DiversityMeasure):
    """The smallest number of different confidential values in any class (Machanavajjhala et al. 2006)."""

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "Distinct l-diversity"

    def of_column(self, inside: _Inside, table: Table, roles: Roles, column: str) -> float:
        """Different values, missing being one."""
        return int(np.bincount(inside.group, minlength=len(inside.sizes)).min())


class EntropyLDiversity(DiversityMeasure):
    """exp of the smallest entropy of the confidential values in any class: the l of entropy l-diversity."""

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "Entropy l-diversity"

    def of_column(self, inside: _Inside, table: Table, roles: Roles, column: str) -> float:
        """The effective number of values."""
        share = inside.records / inside.sizes[inside.group]
        entropy = np.bincount(inside.group, -share * np.log(share), minlength=len(inside.sizes))
        return float(np.exp(entropy.min()))


class RecursiveLDiversity(DiversityMeasure):
    """The largest l for which the release is recursive (c, l)-diverse: in each class, the commonest value is rarer than c times values l, l+1, ...

    0 when not even l = 1 holds.
    """

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "Recursive (c, l)-diversity"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, None)
    c: float = Field(2.0, gt=0, description="How much commoner the commonest value may be")

    def of_column(self, inside: _Inside, table: Table, roles: Roles, column: str) -> float:
        """Counts of each class in descending order; the sum of the tail falls with l, so the l that hold are the first ones."""
        order = np.lexsort((-inside.records, inside.group))
        group, count = inside.group[order], inside.records[order]
        first = np.flatnonzero(np.diff(group, prepend=-1))
        before = np.cumsum(count) - count
        tail = inside.sizes[group] - (before - before[first][group])
        holds = count[first][group] < self.c * tail
        return int(np.bincount(group[holds], minlength=len(inside.sizes)).min())


class TCloseness(DiversityMeasure):
    """The largest distance between a class's distribution of a confidential column and the whole table's (Li, Li & Venkatasubramanian 2007)."""

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)
    distance: Literal["automatic", "equal", "ordered"] = Field(
        "automatic",
        description="equal: total variation; ordered: earth mover's over the values' order; automatic: ordered for numbers and levels",
    )

    def of_column(self, inside: _Inside, table: Table, roles: Roles, column: str) -> float:
        """Missing is one more value; under the ordered distance it stands after the largest."""
        ordered = self.distance == "ordered" or (self.distance == "automatic" and roles.scale(table, column) != "nominal")
        if ordered and roles.scale(table, column) == "ordinal":
            inside = _in_level_order(inside, roles, table, column)
        whole = np.bincount(inside.value, inside.records) / inside.sizes.sum()
        whole = whole[whole > 0] if ordered else whole
        return _ordered_distance(inside, whole) if ordered else _equal_distance(inside, whole)


def _in_level_order(inside: _Inside, roles: Roles, table: Table, column: str) -> _Inside:
    """Codes sort by text; levels have their own order. Missing stays last."""
    place = {level: i for i, level in enumerate(roles.levels(table, column))}
    new = np.array([len(place) if v is None else place[str(v)] for v in table.levels(column).to_pylist()])
    dense = np.unique(new, return_inverse=True)[1]
    value = dense[inside.value]
    order = np.lexsort((value, inside.group))
    return inside._replace(group=inside.group[order], value=value[order], records=inside.records[order])


def _equal_distance(inside: _Inside, whole: FloatArray) -> float:
    """Total variation is the mass by which a class exceeds the whole; only values that occur in the class can exceed."""
    excess = np.maximum(inside.records / inside.sizes[inside.group] - whole[inside.value], 0)
    return float(np.bincount(inside.group, excess, minlength=len(inside.sizes)).max())


def _ordered_distance(inside: _Inside, whole: FloatArray) -> float:
    """Mean gap of the two distribution functions over the m - 1 steps between ordered values.

    A class's function is flat between its own values, so its gap to the whole's is summed a flat piece at a time: the whole's function rises,
    crosses the flat piece at most once, and prefix sums give both sides.
    """
    m = len(whole)
    if m < 2:
        return 0.0
    below = np.cumsum(whole)[:-1]  # F at the m - 1 steps
    prefix = np.concatenate([[0.0], np.cumsum(below)])
    group, value = inside.group, inside.value
    share = inside.records / inside.sizes[group]
    first = np.flatnonzero(np.diff(group, prepend=-1))
    reached = np.cumsum(share)
    level = reached - (reached - share)[first][group]  # the class's F from this value up to its next one
    last = np.append(np.diff(group) != 0, True)
    begin = np.minimum(value, m - 1)
    end = np.where(last, m - 1, np.append(value[1:], 0))
    cross = np.clip(np.searchsorted(below, level), begin, end)
    gap = level * (cross - begin) - (prefix[cross] - prefix[begin]) + (prefix[end] - prefix[cross]) - level * (end - cross)
    start_gap = prefix[value[first]]  # before a class's first value its F is 0
    total = np.bincount(group, gap, minlength=len(inside.sizes)) + start_gap
    return float(max(0.0, total.max() / (m - 1)))
