"""Households that can be told apart by their members: released numbers say who lives together."""

from __future__ import annotations

from typing import ClassVar

from shoal.arrays import IntArray
from shoal.kernels.together import alike, is_shared
from shoal.measures.table_measure import TableMeasure, released_quasi
from shoal.promises import HOUSEHOLD_K
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Needs, Score
from shoal.table import Table


class UniqueHouseholds(TableMeasure):
    """The share of released households that no other looks like: the same members, each as often, in all that is protected and in all they share.

    Members are compared in the released quasi-identifiers, and in every other released column that is the same inside 95 % of the households
    of two or more. Records whose household has no number in the release are of none.
    """

    name: ClassVar[str] = "unique-households"
    title: ClassVar[str] = "Share of unique households"
    bounds: ClassVar[tuple[float | None, float | None]] = (0, 1)
    needs: ClassVar[Needs] = "release"

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Numbers must be released, and all rows be there."""
        if not roles.household or roles.household[0] not in release.table.columns:
            return "No column says who lives together."
        if release.rows is not None:
            return "Households are not compared where the rows do not fit into memory."
        return "" if not release.table.missing(roles.household[0]).all() else "No number of a household is released."

    def measure(self, original: Table, release: Release, roles: Roles) -> Score:
        """From the release alone."""
        if why := self.applies(original, release, roles):
            return self.no_value(why)
        found = release.once(("households", *roles.quasi), lambda: _households(release, roles))
        unique = int((found == 1).sum())
        details = {"households": len(found), "unique": unique, "smallest": int(found.min())}
        return Score(self.name, self.title, unique / len(found), self.better, self.bounds, details=details)


def _households(release: Release, roles: Roles) -> IntArray:
    """For each released household, how many look like it, itself among them."""
    table, number = release.table, roles.household[0]
    groups = table.groups(number)
    linked = next((promise for promise in release.promises if promise.kind is HOUSEHOLD_K), None)
    if linked is not None:  # what is shared was seen before numbers were lost
        found = alike([table.codes(column) for column in linked.columns], groups)
        return found[found > 0]
    promised = {column for promise in release.promises for column in promise.columns}
    columns = [*released_quasi(release, roles)]
    others = [column for column in table.columns if column not in (*columns, number)]
    columns += [column for column in others if column in promised or is_shared(table.only([column]).codes(column), groups)]
    found = alike([table.codes(column) for column in columns], groups)
    return found[found > 0]
