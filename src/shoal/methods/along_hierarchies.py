"""What methods share that publish nodes of hierarchies: levels to go by, records that are suppressed whole, and cells under the names of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import Int32Array, IntArray
from shoal.bins import Bins
from shoal.contracts import Progress, Source
from shoal.counts import Counts
from shoal.errors import ParameterError, counted, did_you_mean
from shoal.kernels.masks import Demand
from shoal.methods.diversity import Asked, demanded
from shoal.methods.generalization import Plan
from shoal.methods.levels import ColumnLevels, at_levels, column_levels
from shoal.methods.persons import GeneralizationOfPersons
from shoal.methods.publish import Publication, Published
from shoal.params import PerColumn
from shoal.randomness import Chance
from shoal.roles import Roles

Suppressed = Literal["starred", "dropped"]


class Task(NamedTuple):
    """What is to be recoded: combinations as codes, the levels of each column, the records of each combination, what every class must keep."""

    codes: Int32Array
    levels: list[ColumnLevels]
    rows: IntArray
    demand: Demand

    @property
    def hierarchies(self) -> list[Any]:
        """As kernels take them."""
        return [one.coded for one in self.levels]


class Recoded(NamedTuple):
    """The group of each combination, -1 where it is suppressed, and the level of each column in each group."""

    group: IntArray
    levels: IntArray  # [group, column]
    outcome: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()
    suppressed: Suppressed = "starred"


class AlongHierarchies(GeneralizationOfPersons):
    """Groups that publish nodes of their columns' hierarchies; of a column without one, a hierarchy is suggested from its values.

    Missing is a value of its own at every level but the last, where `*` stands for it, too.
    """

    def grows(self, table: Source, roles: Roles) -> tuple[str, ...]:
        """The columns that it needs a hierarchy for."""
        return tuple(roles.quasi if self.columns is None else self.columns)

    def cut_first(self, table: Source, roles: Roles, columns: Sequence[str]) -> Bins:
        """None: their hierarchies cut them."""
        return {}

    def recode(self, task: Task, roles: Roles, columns: tuple[str, ...], progress: Progress) -> Recoded:
        """Which combinations go together, and at which levels."""
        raise TypeError(f"{type(self).__name__} does not say how it recodes")  # each algorithm does

    def publication(self) -> Publication:
        """Never asked: every column has its nodes."""
        return "sets"

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Code, recode, publish the nodes."""
        task = task_of(self.k, counts, roles, columns, self.asked(counts, roles))
        levels, codes = task.levels, task.codes
        found = self.recode(task, roles, columns, progress)
        group, shown, warnings = self._suppress(task, found)
        given = _suggested(roles, columns)
        first = np.zeros(len(shown), np.int64)
        first[group[group >= 0]] = np.flatnonzero(group >= 0)
        cells: dict[str, Published] = {}
        kept = []
        for j, (column, one) in enumerate(zip(columns, levels)):
            if not shown[:, j].any() and not np.isin(group, np.flatnonzero((shown < 0).all(axis=1))).any():
                kept.append(column)
                continue
            cells[column] = _cells(one, codes[first, j], shown[:, j], counts.table.format.missing)
        made = Plan.whole(group, counts)
        return made._replace(cells=cells, kept=tuple(kept), warnings=(*given, *found.warnings, *warnings), outcome=found.outcome)

    def _suppress(self, task: Task, found: Recoded) -> tuple[IntArray, IntArray, list[str]]:
        """Suppressed records become one class of nothing but *, where they keep what a class must keep, or leave the release."""
        out = np.flatnonzero(found.group < 0)
        if not len(out):
            return found.group, found.levels, []
        records, total = int(task.rows[out].sum()), int(task.rows.sum())
        enough = bool(task.demand.allowed(np.zeros(len(out), np.int64), out, task.rows)[0])
        if found.suppressed == "dropped" or not enough:
            self._still_close(task, found.group)
            return found.group, found.levels, []  # it is said of every release that lacks records
        group = found.group.copy()
        group[out] = len(found.levels)
        levels = np.vstack([found.levels, np.full(found.levels.shape[1], -1)])
        return group, levels, [f"{counted(records, 'record')} of {total:,} are suppressed whole: * in every column that was recoded."]

    def _still_close(self, task: Task, group: IntArray) -> None:
        """Closeness is to what is released: without the records that leave, the whole is another."""
        stay = np.flatnonzero(group >= 0)
        if self.t == 1 or not len(stay) or task.demand.sensitive is None:
            return
        rest = task.demand._replace(sensitive=_numbered_anew(task.demand.sensitive[stay]))
        if not rest.allowed(group[stay], np.arange(len(stay)), task.rows[stay]).all():
            raise ParameterError(
                f"{self.name}: {counted(int(task.rows[group < 0].sum()), 'record')} would have to leave the release, and without them some class is "
                f"farther than t = {self.t:g} from what is left. Let them join other classes, allow more suppression, or ask for a larger t."
            )


def _numbered_anew(codes: Int32Array) -> Int32Array:
    """Codes without those that nothing is left of, which closeness by order would count; -1 stays."""
    by_column = [np.unique(np.append(column, -1), return_inverse=True)[1][:-1] - 1 for column in codes.reshape(len(codes), -1).T]
    return np.column_stack(by_column).astype(np.int32)


def task_of(k: int, counts: Counts, roles: Roles, columns: Sequence[str], asked: Sequence[Asked]) -> Task:
    """Combinations along the hierarchies of their columns, and what classes of them must keep."""
    levels = [column_levels(counts.table, roles, column) for column in columns]
    codes = np.ascontiguousarray(np.column_stack([one.codes for one in levels]))
    return Task(codes, levels, counts.rows, demanded(k, asked))


def _cells(levels: ColumnLevels, codes: Int32Array, level: IntArray, missing: str) -> Published:
    """A column's cells by group; a group at level -1 shows nothing."""
    shown = np.flatnonzero(level >= 0)
    nodes = levels.coded.nodes[level[shown], codes[shown]].astype(np.int64)
    published = at_levels(levels, level[shown], nodes, missing)  # of those alone: names are told, also of cells that are not there
    place = np.full(len(level), len(shown))
    place[shown] = np.arange(len(shown))
    texts = pa.concat_arrays([published.cells, pa.array([cell.SUPPRESSED], pa.string())])
    return Published(texts.take(pa.array(place)), published.labels)


def _suggested(roles: Roles, columns: Sequence[str]) -> list[str]:
    """Which hierarchies nobody gave."""
    made = [column for column in columns if column in roles.hierarchies and roles.hierarchies[column].origin == "suggested"]
    if not made:
        return []
    rules = [f"{column} ({rule})" if (rule := roles.hierarchies[column].rule) else f"{column} (values, then *)" for column in made]
    return [
        f"Nobody gave a hierarchy for {counted(len(made), 'column')}, so shoal made {'one' if len(made) == 1 else 'them'} from the values: "
        f"{', '.join(rules)}. `shoal hierarchy` shows and writes such trees; give your own with --hierarchy."
    ]


def refused(name: str, error: ValueError) -> ParameterError:
    """A search that found no way, in the words of whoever asked."""
    return ParameterError(f"{name}: {error}")


def weighed(weights: PerColumn | None, columns: Sequence[str], name: str) -> list[float] | None:
    """What each column counts."""
    for column in weights or {}:
        if column not in columns:
            raise ParameterError(f"{name}: weights name '{column}', which it does not recode.{did_you_mean(column, columns)}", about=column)
    return [float(weights.get(column, 1.0)) for column in columns] if weights else None
