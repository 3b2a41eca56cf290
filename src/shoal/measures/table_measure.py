"""What measures of tables share: which way is better, and a sentence where there is nothing to measure."""

from __future__ import annotations

from typing import ClassVar

from shoal.params import Params
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import Better, Needs, OfADraw, Score
from shoal.table import Table

Bounds = tuple[float | None, float | None]


class TableMeasure(Params):
    """A number about a table and its release."""

    better: ClassVar[Better] = "lower"
    bounds: ClassVar[Bounds] = (0, None)
    needs: ClassVar[Needs] = "original"
    step: ClassVar[float | None] = None
    of_a_draw: ClassVar[OfADraw] = "withheld"

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """Empty, or a sentence saying why there is nothing to measure."""
        return ""

    def no_value(self, why: str) -> Score:
        """A score that says why it has no value."""
        return Score(self.name, self.title, None, self.better, self.bounds, None, why)


class QuasiMeasure(TableMeasure):
    """A measure of the quasi-identifiers that were released."""

    def applies(self, original: Table, release: Release, roles: Roles) -> str:
        """There must be one."""
        return "" if released_quasi(release, roles) else "There is no quasi-identifier to look at."


def released_quasi(release: Release, roles: Roles) -> list[str]:
    """The quasi-identifiers that the release has."""
    return [column for column in roles.quasi if column in release.table.columns]
