"""A variant of kACTUS that answers a question of the tables and is not meant to be used: other weights for its cuts."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from pydantic import Field

from shoal.contracts import Progress
from shoal.counts import Counts
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods import KactusRefined
from shoal.methods.generalization import Plan, coded, target_codes
from shoal.randomness import Chance
from shoal.roles import Roles


class KactusCut(KactusRefined):
    """The groups of kACTUS, cut further by gain to the power of `ratio` and by width."""

    name: ClassVar[str] = "kactus-cut"
    ratio: float = Field(1.0, ge=0, le=1, description="As in balanced-mondrian")
    narrowing: float = Field(0.1, ge=0, le=10, description="As in balanced-mondrian")

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Grow, climb, cut."""
        data = coded(counts.table, roles, columns)
        _, parts = self.climbed(counts, roles, data, chance)
        target, classes = target_codes(counts, roles, self.name)
        groups = np.zeros(len(parts.node), np.int64)
        made = 0
        for node in np.unique(parts.node):
            mine = np.flatnonzero(parts.node == node)
            inside = parts.combination[mine]
            rule = {"rule": "gain", "target": target[inside], "classes": classes, "ratio": self.ratio, "narrowing": self.narrowing}
            codes = np.ascontiguousarray(data.codes[inside])
            cut = mondrian_groups(codes, data.ordered, data.positions, self.k, rows=parts.records[mine], **rule)
            groups[mine] = cut + made
            made += int(cut.max()) + 1
        return Plan(parts.combination, groups, parts.records)
