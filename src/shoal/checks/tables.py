"""The independent check of tables: counts what a release promises again, from the written file alone.

It shares no code with the methods, measures or kernels. Cells are compared as they stand on disk, as numbers that numpy sorts and counts. Where
persons are counted, whose each row is comes from outside the file, which does not say it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.checks.combinations import (
    PERSON,
    Cells,
    Combinations,
    Groups,
    cells_of,
    grouped_cells,
    names_of,
    numbered,
    numbered_keys,
    stretches,
)
from shoal.checks.values import AS_USUAL, Written, are_codes, places, same_value
from shoal.checks.wildcards import fewest_matches, is_blank
from shoal.errors import DataError
from shoal.promises import Checked, Promise
from shoal.release import Release

DENSE = 1 << 24  # cells of a matrix of classes by values held at a time


def check_file(
    path: Path, delimiter: str, promises: Sequence[Promise], persons: IntArray | None = None, written: Written = AS_USUAL
) -> list[Checked]:
    """Each promise, counted again on the rows of the file; `persons` says whose each row is, which the file does not."""
    columns = columns_to_read(promises, names_of(path, delimiter))
    return _checked(promises, cells_of(stretches(path, delimiter, columns), columns, persons, written))


def check_release(release: Release) -> list[Checked]:
    """The same for a release that is still in memory."""
    columns = columns_to_read(release.promises, list(release.table.columns))
    return _checked(release.promises, cells_of([release.table.written.select(columns)], columns, release.persons))


def check_groups(groups: Groups, promises: Sequence[Promise], written: Written = AS_USUAL) -> list[Checked]:
    """The same for a release in many files, whose groups are counted where the files are read."""
    if any(promise.kind.of == "numbers" for promise in promises):
        raise DataError("Numbers that are kept cannot be counted again where rows do not fit into memory.")
    columns = list(dict.fromkeys(column for promise in promises for column in promise.needs))
    return _checked(promises, grouped_cells(groups(columns), columns, written)) if promises else []


def columns_to_read(promises: Sequence[Promise], names: list[str]) -> list[str]:
    """What the promises are about; where numbers are kept, everything, since whatever rows of a number share tells them."""
    if any(promise.kind.of == "numbers" for promise in promises):
        return names
    return list(dict.fromkeys(column for promise in promises for column in promise.needs))


def as_counted(promise: Promise, cells: Cells) -> Promise:
    """The promise as it is counted: one about kept numbers also over whatever the file has the same in nearly all rows of a number, whether or
    not whoever made the promise has seen it."""
    if promise.kind.of != "numbers" or promise.about is None:
        return promise
    return replace(promise, columns=tuple(dict.fromkeys((*promise.columns, *cells.shared_inside(promise.about)))))


def _checked(promises: Sequence[Promise], cells: Cells) -> list[Checked]:
    """Promises about classes over their columns together; each about kept numbers over its own."""
    of_classes = cells.combinations(list(dict.fromkeys(c for one in promises if one.kind.of == "classes" for c in one.needs)))
    found = []
    for promise in promises:
        wide = as_counted(promise, cells)
        found.append(Checked.of(promise, count(wide, of_classes if wide is promise else cells.combinations(wide.needs))))
    return found


def sizes_of_classes(combinations: Combinations, columns: Sequence[str]) -> IntArray:
    """Rows in each class."""
    return np.bincount(numbered(combinations, columns)[0], combinations.rows).astype(np.int64)


def count(promise: Promise, combinations: Combinations) -> float:
    """What was promised, as the file has it."""
    if promise.what not in _COUNTED:
        raise DataError(f"There is no check for the promise '{promise.what}'. A promise that cannot be checked is not made.")
    if promise.unit == "persons" and PERSON not in combinations.codes and promise.kind.of == "classes":
        raise DataError(f"{promise.sentence}: whose each row is is not known, so it cannot be counted.")
    return _COUNTED[promise.what](promise, combinations)


# ---- how each kind of promise is counted -------------------------------------------------------------------------------------------


def _k(promise: Promise, combinations: Combinations) -> int:
    """The smallest class. A suppressed cell is a value of its own: read as any value, it could only make classes larger."""
    classes, _ = numbered(combinations, promise.columns)
    if promise.unit == "persons":
        sizes = np.bincount(_pairs(classes, combinations.codes[PERSON])[0])
    else:
        sizes = np.bincount(classes, combinations.rows).astype(np.int64)
    return int(sizes.min()) if len(sizes) else 0


def _matching(promise: Promise, combinations: Combinations) -> int:
    """The fewest records that match a record where a blank may be any value. Of a person whose rows differ one row counts: there can be no fewer."""
    classes, first = numbered(combinations, promise.columns)
    rows = np.bincount(classes, combinations.rows).astype(np.int64)
    if promise.unit == "persons":
        row = np.unique(combinations.codes[PERSON], return_index=True)[1]
        rows = np.bincount(classes[row], minlength=len(first)).astype(np.int64)
    codes = np.column_stack([combinations.codes[column][first] for column in promise.columns]).astype(np.int64)
    return fewest_matches(codes, [is_blank(combinations.levels[column]) for column in promise.columns], rows)


def _distinct(promise: Promise, combinations: Combinations) -> int:
    """The fewest different values in a class; of persons, the fewest that different persons can be given."""
    assert promise.about is not None
    classes, first = numbered(combinations, promise.columns)
    codes, levels = combinations.codes[promise.about], combinations.levels[promise.about]
    known = ~ignored_cells(promise, combinations)[codes]
    classes, values = classes[known], same_value(levels, combinations.is_missing(promise.about), combinations.written.decimal)[codes[known]]
    fewest = int(np.bincount(_pairs(classes, values)[0], minlength=len(first)).min(initial=len(values)))
    if promise.unit != "persons" or not fewest:
        return fewest
    persons = combinations.codes[PERSON][known]
    in_doubt = (_one_of_each(classes, persons, values, len(first)) < fewest)[classes]
    if not in_doubt.any():
        return fewest
    classes, persons, values = classes[in_doubt], persons[in_doubt], values[in_doubt]
    group = _pairs(classes, values)[0]
    value, person = _pairs(_numbers(classes, values), _numbers(classes, persons))
    found = np.bincount(group[_matched(person, value)], minlength=len(first))
    return min(fewest, int(found[np.unique(classes)].min()))


def _one_of_each(classes: IntArray, persons: IntArray, values: IntArray, many: int) -> IntArray:
    """How many values a class has when each person tells one of its own, the smallest: different persons can be given no fewer."""
    width = int(persons.max(initial=0)) + 1
    if many * width * (int(values.max(initial=0)) + 1) > 1 << 62:  # three numbers do not fit one
        return np.zeros(many, np.int64)
    held, value = _pairs(classes * width + persons, values)
    told = np.append(True, held[1:] != held[:-1])
    return np.bincount(_pairs(held[told] // width, value[told])[0], minlength=many)


def _effective(promise: Promise, combinations: Combinations) -> float:
    inside = inside_classes(promise, combinations, ~ignored_cells(promise, combinations))
    if not len(inside.sizes) or not inside.sizes.all():
        return 0.0
    share = inside.rows / inside.sizes[inside.group]
    return float(np.exp(np.bincount(inside.group, -share * np.log(share)).min()))


def _farthest(promise: Promise, combinations: Combinations) -> float:
    """The largest total variation between a class's values and all values."""
    inside = inside_classes(promise, combinations)
    share = inside.rows / inside.sizes[inside.group]
    # what a class has too little of adds up to what it has too much of
    return float(np.bincount(inside.group, np.maximum(share - inside.whole[inside.value], 0.0)).max(initial=0.0))


def _farthest_in_order(promise: Promise, combinations: Combinations) -> float:
    """The largest earth mover's distance over the order of values, each step between neighbours counting the same."""
    assert promise.about is not None
    levels, none = combinations.levels[promise.about], combinations.is_missing(promise.about)
    written = combinations.written
    return farthest_along(promise, combinations, places(levels, none, written.dates.get(promise.about, ""), written.decimal))


def farthest_along(promise: Promise, combinations: Combinations, place: IntArray) -> float:
    """The same over an order that is given: the place of each cell's value."""
    inside = inside_classes(promise, combinations, value=place)
    whole, sizes, farthest = inside.whole, inside.sizes, 0.0
    steps = max(len(whole) - 1, 1)
    at_once = max(1, DENSE // max(len(whole), 1))
    for first in range(0, len(sizes), at_once):
        some = (inside.group >= first) & (inside.group < first + at_once)
        share = np.zeros((min(at_once, len(sizes) - first), len(whole)))
        share[inside.group[some] - first, inside.value[some]] = inside.rows[some] / sizes[inside.group[some]]
        gaps = np.abs(np.cumsum(share - whole, axis=1)[:, :-1]).sum(axis=1) / steps
        farthest = max(farthest, float(gaps.max(initial=0.0)))
    return farthest


def _alike(promise: Promise, combinations: Combinations) -> int:
    """The fewest households (or persons) that have the same rows, each as often, as one whose number the file has; what was promised, where it
    has no number at all."""
    assert promise.about is not None
    numbers = combinations.codes[promise.about]
    kept = ~combinations.is_missing(promise.about)[numbers]
    classes = numbered(combinations, promise.columns)[0][kept]
    rows = np.lexsort((classes, numbers[kept]))
    rows = rows.repeat(combinations.rows[kept][rows])
    ordered, members = numbers[kept][rows], classes[rows]
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    size = np.diff(np.append(begins, len(ordered)))
    fewest = [_fewest_equal(members[begins[size == m][:, None] + np.arange(m)]) for m in np.unique(size).tolist()]
    return min(fewest, default=int(promise.value))


def _fewest_equal(rows: IntArray) -> int:
    """How often the rarest row of a matrix is there."""
    rows = rows[np.lexsort(rows.T)]
    begins = np.flatnonzero(np.append(True, (rows[1:] != rows[:-1]).any(axis=1)))
    return int(np.diff(np.append(begins, len(rows))).min())


_COUNTED: dict[str, Callable[[Promise, Combinations], float]] = {
    "k-anonymity": _k,
    "wildcard-k": _matching,
    "l-diversity": _distinct,
    "entropy-l-diversity": _effective,
    "t-closeness": _farthest,
    "ordered-t-closeness": _farthest_in_order,
    "household-k": _alike,
    "person-k": _alike,
}


class Inside(NamedTuple):
    """The values of a confidential column inside the classes, class after class."""

    group: IntArray
    value: IntArray
    rows: FloatArray  # of that class with that value; of persons, who count one each, in parts where one has several values
    sizes: FloatArray  # of the classes
    whole: FloatArray  # the share of each value in all classes together


def inside_classes(promise: Promise, combinations: Combinations, counts: BoolArray | None = None, value: IntArray | None = None) -> Inside:
    """Of the cells that count, or of all; `value` is the number of each cell's value."""
    assert promise.about is not None
    classes, first = numbered(combinations, promise.columns)
    codes, rows, levels = combinations.codes[promise.about], combinations.rows.astype(np.float64), combinations.levels[promise.about]
    some = np.ones(len(codes), np.bool_) if counts is None else counts[codes]
    codes = (same_value(levels, combinations.is_missing(promise.about), combinations.written.decimal) if value is None else value)[codes]
    classes, codes, rows = classes[some], codes[some], rows[some]
    in_all = rows
    if promise.unit == "persons":
        person = combinations.codes[PERSON][some]
        held = _numbers(classes, person)
        in_all, rows = rows / np.bincount(person, rows)[person], rows / np.bincount(held, rows)[held]
    number = _numbers(classes, codes)
    group, held_value = _pairs(classes, codes)
    inside = np.bincount(number, rows).astype(np.float64)
    values, dense = np.unique(held_value, return_inverse=True)
    totals = np.bincount(codes, in_all, minlength=len(levels))[values]
    sizes = np.bincount(group, inside, minlength=len(first)).astype(np.float64)
    return Inside(group, dense.reshape(-1), inside, sizes, totals / max(totals.sum(), 1))


def ignored_cells(promise: Promise, combinations: Combinations) -> BoolArray:
    """Which cells of the column that a promise is about are no values."""
    assert promise.about is not None
    ignored = are_codes(combinations.levels[promise.about], [code for code in promise.ignores if code], combinations.written.decimal)
    return ignored | combinations.is_missing(promise.about) if "" in promise.ignores else ignored


def _numbers(first: IntArray, second: IntArray) -> IntArray:
    """The number of each pair, in order."""
    return numbered_keys(first * (int(second.max(initial=0)) + 1) + second)[0]


def _pairs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
    """The distinct pairs, in order."""
    width = int(second.max(initial=0)) + 1
    key = np.sort(first * width + second)  # sorting whole numbers is quicker than numpy's table of distinct ones
    first, second = np.divmod(key[np.append(True, key[1:] != key[:-1])[: len(key)]], width)
    return first, second


def _matched(left: IntArray, right: IntArray) -> BoolArray:
    """Which numbers on the right find a partner of their own on the left, as many as can be; pairs come in the order of the right."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    starts = np.append(0, np.cumsum(np.bincount(right)))
    shape = (len(starts) - 1, int(left.max(initial=-1)) + 1)
    graph = csr_array((np.ones(len(left), np.int8), left.astype(np.int32), starts.astype(np.int32)), shape=shape)
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column") >= 0)
