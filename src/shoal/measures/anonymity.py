"""What the classes of a release give away: k, l, t, and risks computed from class sizes.

A class is a set of released records that agree on every quasi-identifier. Missing is a value of its own: two records that are both missing
agree there, a missing and a known one do not. No record is ever dropped from the count. Where it is known whose each row is, persons are
counted. Of a confidential column, a missing cell or a code for it is no value: a class is not diverse by what nobody answered.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from shoal.arrays import FloatArray
from shoal.measures.classes import Classes, Inside, classes_of, inside_classes
from shoal.measures.table_measure import QuasiMeasure, released_quasi
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Better, Needs, OfADraw, Score
from shoal.table import Table

NO_PERSONS = "The rows do not fit into memory, and no column of theirs says whose each is: they are not counted in persons."
ROUNDING = 1e-9  # what parts of persons may add up to beside a whole one


def uncounted(release: Release) -> str:
    """Why classes are not counted; empty where they are."""
    return "" if release.persons is None or release.tells_persons else NO_PERSONS


class ClassMeasure(QuasiMeasure):
    """A number computed from the sizes of the classes, in persons where it is known whose each row is."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float | None, float | None]] = (1, None)
    needs: ClassVar[Needs] = "release"
    of_a_draw: ClassVar[OfADraw] = "exact"

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Where persons are counted, all of them."""
        return super().applies(original, release, roles) or uncounted(release)

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """From the release alone, and from whose its rows are."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        columns = released_quasi(release, roles)
        classes = release.once(("class sizes", *columns), lambda: classes_of(release, columns))
        value, details = self.of_classes(classes)
        return Score(self.name, self.title, value, self.better, self.bounds, details={**details, "unit": classes.unit})

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """(value, details) from the classes."""
        raise TypeError(f"{type(self).__name__} does not say what it counts")


class KAnonymity(ClassMeasure):
    """The size of the smallest class: the k the release really has, over all quasi-identifiers together (Samarati & Sweeney 1998)."""

    name: ClassVar[str] = "k-anonymity"
    title: ClassVar[str] = "Smallest class (k)"

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """With the number of uniques and how many classes there are of each size; and the smallest class and uniques in rows, as a file has them."""
        size, many = np.unique(classes.sizes, return_counts=True)
        return int(classes.sizes.min()), {
            "uniques": classes.alone,
            "classes": len(classes.sizes),
            "histogram": {str(s): c for s, c in zip(size.tolist(), many.tolist())},
            "rows": int(classes.rows.min()),
            "unique_rows": int((classes.rows == 1).sum()),
        }


class Uniqueness(ClassMeasure):
    """The share of records, or persons, that are alone in a class."""

    name: ClassVar[str] = "uniqueness"
    title: ClassVar[str] = "Share of unique records"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """Uniques over all."""
        return classes.alone / classes.total, {"uniques": classes.alone}


class AverageRisk(ClassMeasure):
    """Average re-identification risk: the mean over records of 1 / class size, which is the number of classes over the number of records.

    Of a person in several classes the smallest counts.
    """

    name: ClassVar[str] = "average-risk"
    title: ClassVar[str] = "Average re-identification risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """Expected re-identifications over all."""
        expected = float((classes.many / classes.smallest).sum())
        return expected / classes.total, {"expected_reidentifications": int(expected) if expected.is_integer() else expected}


class MaximumRisk(ClassMeasure):
    """Highest re-identification risk of any record: 1 / smallest class."""

    name: ClassVar[str] = "maximum-risk"
    title: ClassVar[str] = "Highest re-identification risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """The other side of k."""
        return float(1 / classes.sizes.min()), {}


class Discernibility(ClassMeasure):
    """The sum of squared class sizes (Bayardo & Agrawal 2005): what each record pays for the company it is in."""

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility penalty"
    better: ClassVar[Better] = "lower"

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """At least the number of records, at most its square."""
        return int((classes.sizes.astype(np.int64) ** 2).sum()), {}


class AverageClassSize(ClassMeasure):
    """Records per class (LeFevre, DeWitt & Ramakrishnan 2006, without their division by k)."""

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "Records per class"
    better: ClassVar[Better] = "lower"

    def of_classes(self, classes: Classes) -> tuple[float, dict[str, Any]]:
        """Plain mean."""
        return float(classes.sizes.mean()), {}


class DiversityMeasure(QuasiMeasure):
    """A number for each confidential column; the worst counts."""

    better: ClassVar[Better] = "higher"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, None)
    needs: ClassVar[Needs] = "release"
    of_a_draw: ClassVar[OfADraw] = "exact"
    missing_is: ClassVar[Literal["no value", "a value"]] = "no value"

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """From the release alone, and from whose its rows are."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        quasi = released_quasi(release, roles)
        values = {}
        for column in self.confidential(release, roles):
            known = None if self.missing_is == "a value" else roles
            question = ("inside", self.missing_is, column, *quasi)
            inside = release.once(question, partial(inside_classes, release, quasi, column, known), roles.missing.get(column))
            values[column] = self.of_column(inside, release.values(column), roles, column)
        worst = min(values.values()) if self.better == "higher" else max(values.values())
        unit = "rows" if release.persons is None else "persons"
        details = {"unit": unit, **self.counted_by(release, roles, list(values))}
        return Score(self.name, self.title, worst, self.better, self.bounds, per_column=values, details=details)

    def counted_by(self, release: Release, roles: Roles, columns: list[str]) -> dict[str, Any]:
        """What whoever counts again on the file must know: the codes of each column that mean missing."""
        codes = {column: list(roles.missing[column]) for column in columns if roles.missing.get(column)}
        return {"codes": codes} if codes else {}

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Also a confidential column."""
        lacks = "" if self.confidential(release, roles) else "There is no confidential column to look at."
        return super().applies(original, release, roles) or lacks or uncounted(release)

    def confidential(self, release: Release, roles: Roles) -> list[str]:
        """The confidential columns that the release has."""
        return [column for column in roles.confidential if column in release.table.columns]

    def of_column(self, inside: Inside, table: Table, roles: Roles, column: str) -> float:
        """The value of one confidential column."""
        raise TypeError(f"{type(self).__name__} does not say what it counts")


class DistinctLDiversity(DiversityMeasure):
    """The smallest number of different confidential values in any class (Machanavajjhala et al. 2006)."""

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "Distinct l-diversity"

    def of_column(self, inside: Inside, table: Table, roles: Roles, column: str) -> float:
        """Different values; of persons, different values of different persons."""
        return int(inside.different.min())


class EntropyLDiversity(DiversityMeasure):
    """exp of the smallest entropy of the confidential values in any class: the l of entropy l-diversity."""

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "Entropy l-diversity"

    def of_column(self, inside: Inside, table: Table, roles: Roles, column: str) -> float:
        """The effective number of values; 0 where a class has none."""
        if not inside.sizes.all():
            return 0.0
        share = inside.records / inside.sizes[inside.group]
        entropy = np.bincount(inside.group, -share * np.log(share), minlength=len(inside.sizes))
        return float(np.exp(entropy.min()))


class RecursiveLDiversity(DiversityMeasure):
    """The largest l for which the release is recursive (c, l)-diverse: in each class, the commonest value is rarer than c times values l, l+1, ...

    0 when not even l = 1 holds.
    """

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "Recursive (c, l)-diversity"
    c: float = Field(2.0, gt=0, description="How much commoner the commonest value may be")

    def of_column(self, inside: Inside, table: Table, roles: Roles, column: str) -> float:
        """Counts of each class in descending order; the sum of the tail falls with l, so the l that hold are the first ones."""
        order = np.lexsort((-inside.records, inside.group))
        group, count = inside.group[order], inside.records[order]
        begins = np.diff(group, prepend=-1) != 0
        first = np.flatnonzero(begins)[np.cumsum(begins) - 1]  # a class may have no value at all
        before = np.cumsum(count) - count
        tail = inside.sizes[group] - (before - before[first])
        holds = count[first] < self.c * tail - ROUNDING
        return int(np.bincount(group[holds], minlength=len(inside.sizes)).min())

    def counted_by(self, release: Release, roles: Roles, columns: list[str]) -> dict[str, Any]:
        """Also c."""
        return {"c": self.c, **super().counted_by(release, roles, columns)}


class TCloseness(DiversityMeasure):
    """The largest distance between a class's distribution of a confidential column and the whole table's (Li, Li & Venkatasubramanian 2007)."""

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)
    missing_is: ClassVar[Literal["no value", "a value"]] = "a value"
    distance: Literal["automatic", "equal", "ordered"] = Field(
        "automatic",
        description="equal: total variation; ordered: earth mover's over the values' order; automatic: ordered for numbers and levels",
    )

    def of_column(self, inside: Inside, table: Table, roles: Roles, column: str) -> float:
        """Missing is one more value; under the ordered distance it stands after the largest."""
        ordered = self._ordered(table, roles, column)
        if ordered and roles.scale(table, column) == "ordinal":
            inside = _in_level_order(inside, roles, table, column)
        whole = np.bincount(inside.value, inside.overall) / inside.overall.sum()
        whole = whole[whole > 0] if ordered else whole
        return _ordered_distance(inside, whole) if ordered else _equal_distance(inside, whole)

    def _ordered(self, table: Table, roles: Roles, column: str) -> bool:
        return self.distance == "ordered" or (self.distance == "automatic" and roles.scale(table, column) != "nominal")

    def counted_by(self, release: Release, roles: Roles, columns: list[str]) -> dict[str, Any]:
        """The distance of each column; and of levels those that some row has, in their order, which a file does not tell."""
        table = release.table
        ordered = [column for column in columns if self._ordered(table, roles, column)]
        levels = {column: _levels(table, roles, column) for column in ordered if roles.scale(table, column) == "ordinal"}
        there = {column: {str(cell) for cell in release.values(column).levels(column).to_pylist()} for column in levels}
        said = {column: [level for level in order if level in there[column]] for column, order in levels.items()}
        distance = {column: "ordered" if column in ordered else "equal" for column in columns}
        return {"distance": distance, **({"levels": said} if said else {})}


def _levels(table: Table, roles: Roles, column: str) -> tuple[str, ...]:
    """Lowest first; codes for missing that are no levels stand behind them."""
    return tuple(dict.fromkeys((*roles.levels(table, column), *roles.missing.get(column, ()))))


def _in_level_order(inside: Inside, roles: Roles, table: Table, column: str) -> Inside:
    """Codes sort by text; levels have their own order. Missing stays last."""
    place = {level: i for i, level in enumerate(_levels(table, roles, column))}
    new = np.array([len(place) if v is None else place[str(v)] for v in table.levels(column).to_pylist()])
    dense = np.unique(new, return_inverse=True)[1]
    value = dense[inside.value]
    order = np.lexsort((value, inside.group))
    group, records, overall = inside.group[order], inside.records[order], inside.overall[order]
    return inside._replace(group=group, value=value[order], records=records, overall=overall)


def _equal_distance(inside: Inside, whole: FloatArray) -> float:
    """Total variation is the mass by which a class exceeds the whole; only values that occur in the class can exceed."""
    excess = np.maximum(inside.records / inside.sizes[inside.group] - whole[inside.value], 0)
    return float(np.bincount(inside.group, excess, minlength=len(inside.sizes)).max())


def _ordered_distance(inside: Inside, whole: FloatArray) -> float:
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
