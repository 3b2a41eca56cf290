"""Classes by their sizes, and what stands in them: of the released table, or, where its rows do not fit into memory, of the counts of all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shoal.arrays import BoolArray, FloatArray, IntArray
from shoal.kernels.groups import class_ids, class_sizes, persons_in_classes
from shoal.promises import Unit
from shoal.release import PERSON, Release
from shoal.roles import Roles
from shoal.table import Table


class Classes(NamedTuple):
    """The classes of a release by their sizes: in persons where it is known whose each row is, else in rows."""

    sizes: IntArray
    rows: IntArray  # the same in rows
    smallest: IntArray  # sizes that the smallest class of a person, or row, has, each once
    many: IntArray  # of how many persons, or rows
    unit: Unit

    @property
    def total(self) -> int:
        """How many there are."""
        return int(self.many.sum())

    @property
    def alone(self) -> int:
        """How many are in a class by themselves."""
        return int(self.many[self.smallest == 1].sum())


def classes_of(release: Release, columns: list[str]) -> Classes:
    """Rows that agree on these columns, in the unit that the release is counted in."""
    if release.persons is not None:
        return _of_persons(release, columns)
    if release.rows is None:
        sizes = class_sizes([release.table.codes(column) for column in columns])
    else:
        sizes = release.counts(columns).rows
    size, classes = np.unique(sizes, return_counts=True)
    return Classes(sizes, sizes, size, size * classes, "rows")


def _of_persons(release: Release, columns: list[str]) -> Classes:
    """A person is in every class where it has a row."""
    entries = _entries(release, columns)
    ids, count = class_ids([entries.table.codes(column) for column in columns])
    group, person = persons_in_classes(ids, entries.persons)
    sizes = np.bincount(group, minlength=count)
    smallest = np.full(int(entries.persons.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(smallest, person, sizes[group])
    size, many = np.unique(smallest[np.unique(person)], return_counts=True)
    return Classes(sizes, np.bincount(ids, entries.rows, minlength=count).astype(np.int64), size, many, "persons")


class _Entries(NamedTuple):
    """Released rows, or what stands for several that are alike: how many, and whose they are where that is known."""

    table: Table
    rows: IntArray
    persons: IntArray


def _entries(release: Release, columns: list[str]) -> _Entries:
    """Of some columns, and of persons where they are counted."""
    persons = release.persons
    if release.rows is None:
        ones = np.ones(len(release.table), np.int64)
        return _Entries(release.table, ones, np.zeros(0, np.int64) if persons is None else persons)
    counts = release.counts(columns if persons is None else [*columns, PERSON])
    return _Entries(counts.table, counts.rows, np.zeros(0, np.int64) if persons is None else counts.table.codes(PERSON))


class Inside(NamedTuple):
    """The values of a confidential column inside each class: one entry per (class, value) that occurs, sorted by class and value."""

    group: IntArray
    value: IntArray
    records: FloatArray  # of that class with that value; of persons, who count one each in a class, in parts where one has several values
    overall: FloatArray  # the same, where persons count one in the whole table
    sizes: FloatArray  # of the classes
    different: IntArray  # values in each class; of persons, as many as different persons can be given


def inside_classes(release: Release, quasi: list[str], column: str, roles: Roles | None) -> Inside:
    """Where `roles` are given, what they say is no answer is no value."""
    entries = _entries(release, [*quasi, column])
    table = entries.table
    ids, classes = class_ids([table.codes(name) for name in quasi])
    codes, width = table.codes(column), len(table.levels(column))
    known = np.ones(len(table), np.bool_) if roles is None else ~roles.missing_levels(table, column)[codes]
    ids, codes, many = ids[known], codes[known], entries.rows[known]
    pair, place = np.unique(ids * width + codes, return_inverse=True)
    place = place.reshape(-1)
    group, value = np.divmod(pair, width)
    if release.persons is None:
        records = overall = np.bincount(place, many, minlength=len(pair)).astype(np.float64)
        different = np.bincount(group, minlength=classes)
    else:
        person = entries.persons[known]
        held = np.unique(ids * (int(person.max(initial=0)) + 1) + person, return_inverse=True)[1].reshape(-1)
        records, overall = (
            np.bincount(place, many / np.bincount(of, many)[of], minlength=len(pair)).astype(np.float64) for of in (held, person)
        )
        different = np.bincount(group[_with_a_person_of_its_own(place, held)], minlength=classes)
    sizes = np.bincount(group, records, minlength=classes).astype(np.float64)
    return Inside(group, value, records, overall, sizes, different)


def _with_a_person_of_its_own(values: IntArray, persons: IntArray) -> BoolArray:
    """Which values can be given to different persons who have them, as many as can be: a largest matching."""
    from scipy.sparse import coo_array  # which only this needs
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not len(values):
        return np.zeros(0, np.bool_)
    pairs = np.unique(np.column_stack([values, persons]), axis=0).astype(np.int32)
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1]))).tocsr()
    return np.asarray(maximum_bipartite_matching(graph, perm_type="column") >= 0)
