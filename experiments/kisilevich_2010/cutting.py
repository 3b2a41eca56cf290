"""A variant of kACTUS that answers a question of the tables and is not meant to be used: other weights for its cuts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.contracts import Progress, quiet
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods import KactusRefined
from shoal.methods.generalization import target_codes
from shoal.release import Release
from shoal.roles import Roles
from shoal.table import Table


class KactusCut(KactusRefined):
    """The groups of kACTUS, cut further by gain to the power of `ratio` and by width."""

    name: ClassVar[str] = "kactus-cut"
    ratio: float = Field(1.0, ge=0, le=1, description="As in balanced-mondrian")
    narrowing: float = Field(0.1, ge=0, le=10, description="As in balanced-mondrian")

    def protect(self, table: Table, roles: Roles, rng: Generator, progress: Progress = quiet) -> Release:
        """Grow, climb, cut, publish."""
        columns, data = self.opened(table, roles)
        _, at = self.climbed(table, roles, data, rng)
        target, classes = target_codes(table, roles, self.name)
        groups = np.zeros(len(table), np.int64)
        made = 0
        for node in np.unique(at):
            rows = np.flatnonzero(at == node)
            codes = np.ascontiguousarray(data.codes[rows])
            worth = {"ratio": self.ratio, "narrowing": self.narrowing}
            parts = mondrian_groups(codes, data.ordered, data.positions, self.k, rule="gain", target=target[rows], classes=classes, **worth)
            groups[rows] = parts + made
            made += int(parts.max()) + 1
        return self.release(table, roles, columns, groups, self.publish, rng)
