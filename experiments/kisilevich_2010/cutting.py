"""Variants of kACTUS that answer a question of the tables and are not meant to be used: other weights for its cuts, and the path alone."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.random import Generator
from pydantic import Field

from shoal.cell import SUPPRESSED
from shoal.contracts import Progress, quiet
from shoal.kernels.mondrian import mondrian_groups
from shoal.methods import Kactus, KactusRefined
from shoal.methods.generalization import coded, target_codes
from shoal.methods.kactus import on_path
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
        columns = self.chosen(table, roles, self.takes)
        data = coded(table, roles, columns)
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


class KactusPath(Kactus):
    """kACTUS that shows what is on the path alone, as the paper, and not what a group happens to agree on besides."""

    name: ClassVar[str] = "kactus-path"

    def protect(self, table: Table, roles: Roles, rng: Generator, progress: Progress = quiet) -> Release:
        """Suppress the rest once more."""
        columns = self.chosen(table, roles, self.takes)
        tree, at = self.climbed(table, roles, coded(table, roles, columns), rng)
        shown = on_path(tree, len(columns))
        made = self.release(table, roles, columns, at, self.publish, rng, shown)
        seen = shown[at[made.source_row]]
        cells = {c: np.array(made.table.column(c).cast(pa.string()).to_pylist(), dtype=object) for c in columns}
        hidden = {c: pa.array(np.where(seen[:, j], cells[c], SUPPRESSED).tolist(), pa.string()) for j, c in enumerate(columns)}
        return replace(made, table=made.table.with_columns(hidden))
