"""What a release counts, rows or persons; and where it counts rows, whether a row may be less than a person."""

from __future__ import annotations

import numpy as np

from shoal.certificate import UnitPart
from shoal.errors import counted
from shoal.promises import HOUSEHOLD_K
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


def unit_of(original: Table, release: Release, roles: Roles) -> UnitPart:
    """Persons where the roles say which rows are of one person, else rows, with a warning where they may be fewer persons."""
    if release.persons is None:
        return UnitPart(rows=release.total, warning=repeated(original, release, roles))
    if set(release.table.columns) - set(original.columns):  # a list of patterns, each of several persons
        return UnitPart(counted="persons", rows=release.total)
    persons = release.people
    several = bool((np.bincount(original.codes(roles.person[0])) > 1).any()) or persons != release.total
    return UnitPart(counted="persons", rows=release.total, persons=persons, one_row_each="no" if several else "known")


def repeated(original: Table, release: Release, roles: Roles) -> str:
    """A sentence where a column that names or numbers somebody does so more than once: then k rows may be one person.

    Identifiers are not named: whoever reads a certificate need not know which there were. Of several, the one with most values is told of.
    """
    found = [(len(np.unique(known)), len(known)) for column in roles.identifier if len(known := _known(original, column))]
    found = [one for one in found if one[0] < one[1]]
    may = f"k = {release.k} rows" if release.k else "all rows of a class"
    if found and release.rows is not None:
        return f"An identifier repeats. If it numbers persons, {may} may be one person: give it the role person."
    if found:
        different, rows = max(found)
        return (
            f"An identifier repeats: {counted(rows, 'row')}, {counted(different, 'different value')}. If it numbers persons, {may} may be one "
            "person: give it the role person."
        )
    for column in roles.household:
        known = _known(original, column)
        if len(np.unique(known)) < len(known) and not any(promise.kind is HOUSEHOLD_K for promise in release.promises):
            rows_count = "What is promised counts rows" if release.promises else "Rows are counted"
            many = f": {counted(len(known), 'row')}, {counted(len(np.unique(known)), 'household')}" if release.rows is None else ""
            return f"'{column}' repeats{many}. {rows_count}: {may} may be one household."
    return ""


def _known(table: Table, column: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Codes of the rows that have a value."""
    return table.codes(column)[~table.missing(column)] if column in table.columns else np.empty(0, np.int64)
