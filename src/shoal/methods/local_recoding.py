"""Local recoding: each class as fine as what it must keep allows."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, field_validator

from shoal.contracts import Progress
from shoal.kernels.local_recoding import local_recoding
from shoal.methods.along_hierarchies import AlongHierarchies, Recoded, Task, refused, weighed
from shoal.params import PerColumn
from shoal.roles import Roles


class LocalRecoding(AlongHierarchies):
    """Publish every class of records as finely as k allows, each at levels of its own (after Xu et al. 2006; LeFevre et al. 2006).

    Greedy over the lattice of levels, finest first: whatever keeps k there is published so. Cells of one column stand at different levels, so the
    release loses far less than one recoded as a whole, and is harder to tabulate. k-anonymous over its columns; with l, entropy or t also diverse or
    close in every class. It is the first choice where cells must stay true.
    """

    name: ClassVar[str] = "local-recoding"
    title: ClassVar[str] = "Local recoding"
    finds: ClassVar[tuple[str, ...]] = ("ways", "ways_looked_at", "left")
    leftover: Literal["join", "suppress"] = Field(
        "join", description="Records that no class could be made of: join the class whose loss grows least, or are suppressed whole"
    )
    weights: PerColumn | None = Field(
        None, description="What loss in a column counts, such as age:2,zip:0.5; columns that are not named count 1"
    )

    @field_validator("weights")
    @classmethod
    def _weighed(cls, given: PerColumn | None) -> PerColumn | None:
        if given is not None and any(one < 0 for one in given.values()):
            raise ValueError("weights must be 0 or more.")
        return given

    def recode(self, task: Task, roles: Roles, columns: tuple[str, ...], progress: Progress) -> Recoded:
        """Classes from the finest levels up."""
        try:
            found = local_recoding(
                task.codes,
                task.hierarchies,
                task.demand,
                task.rows,
                weights=weighed(self.weights, columns, self.name),
                leftovers=self.leftover,
            )
        except ValueError as error:
            raise refused(self.name, error) from None
        warnings: tuple[str, ...] = ()
        if found.looked_at < found.ways and found.cut:
            warnings = (
                f"{self.name}: of {found.ways:,} ways to choose levels {found.looked_at:,} were looked at, finest first; {found.cut:,} records that "
                "were left then were cut along their hierarchies instead, which loses more.",
            )
        return Recoded(
            found.group,
            found.levels.astype(np.int64),
            {"ways": found.ways, "ways_looked_at": found.looked_at, "left": found.left},
            warnings,
        )
