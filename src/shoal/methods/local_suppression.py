"""Local suppression: blank the single cells that make records rare, and leave all others as they are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from shoal.arrays import FloatArray, Int32Array, IntArray
from shoal.contracts import Progress, Source
from shoal.counts import Counts
from shoal.errors import ParameterError, counted, did_you_mean
from shoal.kernels import suppression_exact as exact
from shoal.kernels.groups import class_ids
from shoal.kernels.suppression import BLANK, Blanks, classes_blanked, given_back, sets_blanked, wildcard_blanked
from shoal.methods.diversity import Asked, demanded
from shoal.methods.generalization import Plan
from shoal.methods.persons import GeneralizationOfPersons
from shoal.methods.publish import Publication
from shoal.params import PerColumn
from shoal.promises import Promise, Unit
from shoal.randomness import Chance
from shoal.roles import Roles, Scale
from shoal.rows import row_ids
from shoal.table import Table

Rule = Literal["classes", "wildcard"]
PROMISED: dict[Rule, str] = {"classes": "k-anonymity", "wildcard": "wildcard-k"}
MOST_SETS = 500  # each is promised by itself, and counted again on the file


class _Promised:
    """What a method promises: of the class, what it does unasked; of one with parameters, what these ask for."""

    def __get__(self, method: LocalSuppression | None, cls: type[LocalSuppression]) -> tuple[str, ...]:
        return (PROMISED[method.rule if method is not None else "classes"],)


class _Task(NamedTuple):
    """What is to be blanked: combinations as codes with their rows, what a blank costs, the sets of keys, and who joins first at the end."""

    codes: Int32Array
    rows: IntArray
    cost: FloatArray
    sets: list[IntArray]
    draws: FloatArray


class LocalSuppression(GeneralizationOfPersons):
    """Blank as few single cells as can be until every record shares what it shows with k - 1 others (after Samarati & Sweeney 1998; Templ 2008).

    By default a blank is a value of its own, so that records form classes of at least k: the release is k-anonymous. With rule=wildcard a blank counts
    as any value, as in sdcMicro. That takes fewer blanks and promises little: a record can be the only one that looks as it does, and any table meets
    it once k - 1 whole records are blank. It is never called k-anonymity. Missing is a value and no blank.
    """

    name: ClassVar[str] = "local-suppression"
    title: ClassVar[str] = "Local suppression"
    guarantees = _Promised()
    k: int = Field(3, ge=2, description="Fewest records that share what each shows")
    rule: Rule = Field(
        "classes", description="classes: a blank is a value of its own, k-anonymity; wildcard: it may be any value, the weaker wildcard-k"
    )
    importance: PerColumn | None = Field(
        None, description="What a blank costs by column, such as age:2,sex:0.5; columns that are not named cost 1"
    )
    sets: tuple[str, ...] | None = Field(
        None, description="Sets of columns that intruders may know, such as age+sex,age+zip+job: k over each, not over all together"
    )
    subsets: int | None = Field(None, ge=1, description="k over every choice of so many columns, not over all together")
    search: Literal["auto", "greedy", "exact"] = Field(
        "auto",
        description="greedy; exact: the fewest blanks there can be, of few different records; auto: exact for classes in a table of at most 30 of them",
    )

    @field_validator("importance")
    @classmethod
    def _priced(cls, given: PerColumn | None) -> PerColumn | None:
        if given is not None and any(not 0 < one < 1e9 for one in given.values()):
            raise ValueError("importance must be costs above 0, such as age:2,sex:0.5.")
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.sets is not None and self.subsets is not None:
            raise ValueError("give sets, or subsets, not both.")
        if self.sets is not None and (not self.sets or any(not all(part.split("+")) for part in self.sets)):
            raise ValueError("sets must be columns joined by +, set by set, such as age+sex,age+zip.")
        if self.wants_diversity() and (self.rule == "wildcard" or self.several):
            what = "rule=wildcard" if self.rule == "wildcard" else "several sets of columns"
            raise ValueError(f"l, entropy and t are kept in classes, and with {what} there are none over all columns. Leave them out.")
        return self

    @property
    def several(self) -> bool:
        """Whether k is over sets of columns rather than over all."""
        return self.sets is not None or self.subsets is not None

    def follows(self, roles: Roles) -> tuple[str, ...]:
        """A cell is shown as it is, or not at all."""
        return ()

    def publication(self) -> Publication:
        """A group agrees on whatever it shows."""
        return "intervals"

    def dangers(self) -> tuple[str, ...]:
        """What k is not of."""
        found = []
        if self.rule == "wildcard":
            found.append(
                "wildcard-k counts a blank as any value, so a record may still be the only one that looks as it does: it is not k-anonymity, and "
                f"blanking {self.k - 1} whole records would satisfy it. Use rule=classes where records must look alike."
            )
        if self.several:
            found.append(
                "k holds over each set of columns by itself. Whoever knows columns that no one set has together may find records that are alone."
            )
        return tuple(found)

    def chosen(self, table: Source, roles: Roles, takes: Sequence[Scale]) -> tuple[str, ...]:
        """Those that the sets name, where there are sets."""
        columns = super().chosen(table, roles, takes)
        if self.sets is not None:
            named = [column for one in self.sets for column in one.split("+")]
            for column in named:
                if column not in columns:
                    raise ParameterError(
                        f"{self.name}: sets names '{column}', which is not among its columns.{did_you_mean(column, columns)}"
                    )
            if self.columns is not None and (idle := [column for column in columns if column not in named]):
                raise ParameterError(
                    f"{self.name}: column '{idle[0]}' is in none of the sets. Take it out of columns, or put it into a set."
                )
            columns = tuple(column for column in columns if column in named)
        if self.subsets is not None and self.subsets > len(columns):
            raise ParameterError(
                f"{self.name}: {counted(len(columns), 'column')}, '{columns[0]}' first, have no choice of {self.subsets}. Use less."
            )
        many = comb(len(columns), self.subsets) if self.subsets is not None else len(self.sets or ())
        if many > MOST_SETS:
            raise ParameterError(
                f"{self.name}: that is {many:,} sets of columns, each to be kept and counted, and {MOST_SETS} are the most. "
                f"Name the sets that matter, leave '{columns[-1]}' or others out, or protect all columns together."
            )
        for column in self.importance or {}:
            if column not in columns:
                raise ParameterError(
                    f"{self.name}: importance names '{column}', which is not among its columns.{did_you_mean(column, columns)}"
                )
        return columns

    def key_sets(self, columns: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The sets of columns over which k holds, each in the order of the table."""
        if self.sets is not None:
            return list(dict.fromkeys(tuple(c for c in columns if c in one.split("+")) for one in self.sets))
        if self.subsets is not None:
            return list(combinations(columns, self.subsets))
        return [columns]

    def promises(self, table: Table, roles: Roles, columns: tuple[str, ...]) -> tuple[Promise, ...]:
        """k over every set of keys, under the name that the reading of a blank earns."""
        if self.rule == "classes" and not self.several:
            return super().promises(table, roles, columns)
        unit: Unit = "persons" if roles.person else "rows"
        return tuple(Promise(PROMISED[self.rule], self.k, one, unit=unit) for one in self.key_sets(columns))

    def plan(self, counts: Counts, roles: Roles, columns: tuple[str, ...], chance: Chance, progress: Progress) -> Plan:
        """Blank; records of one combination that show the same are a group."""
        if roles.person and (self.rule == "wildcard" or self.several):
            what = "rule=wildcard" if self.rule == "wildcard" else "several sets of columns"
            raise ParameterError(
                f"{self.name}: rows of one person differ in what is protected, and with {what} rows are counted. Use rule=classes over all "
                "columns, which counts persons, or release one row a person."
            )
        asked = self.asked(counts, roles)
        task = self._task(counts, columns, chance)
        found, warnings = self._classes(task, asked) if self.rule == "classes" else self._wildcard(task)
        shown = np.where(found.blank, BLANK, task.codes[found.combination]) + 1
        alike, _ = class_ids(shown)
        of_each = np.empty(int(alike.max(initial=-1)) + 1, np.int64)
        of_each[alike] = np.arange(len(alike))
        return Plan(found.combination, alike, found.rows, ~found.blank[of_each], warnings=warnings)

    def _task(self, counts: Counts, columns: tuple[str, ...], chance: Chance) -> _Task:
        prices = self.importance or {}
        codes = np.column_stack([counts.table.codes(column) for column in columns]).astype(np.int32)
        return _Task(
            np.ascontiguousarray(codes),
            counts.rows.astype(np.int64),
            np.array([prices.get(column, 1.0) for column in columns]),
            [np.array([columns.index(column) for column in one]) for one in self.key_sets(columns)],
            chance.uniform(row_ids(counts.table, chance), "who joins first"),
        )

    def _classes(self, task: _Task, asked: Sequence[Asked]) -> tuple[Blanks, tuple[str, ...]]:
        if self.several:
            found = sets_blanked(task.codes, task.rows, self.k, task.sets, task.cost, task.draws)
        else:
            found = classes_blanked(task.codes, task.rows, demanded(self.k, asked), task.cost, task.draws)
        if asked:
            self._refuse_exact("k is not all that classes must keep")
            return found, ()
        if self.search == "exact" or (self.search == "auto" and exact.small(task.codes) and len(task.sets) == 1):
            return self._optimum(task, found)
        return found, ()

    def _wildcard(self, task: _Task) -> tuple[Blanks, tuple[str, ...]]:
        found = wildcard_blanked(task.codes, task.rows, self.k, task.sets, task.cost)
        back = given_back(task.codes, found, self.k, task.sets, task.cost)
        if self.search == "exact":
            return self._optimum(task, back.blanks)
        untried = "Not every blank cell was tried whether it could be shown after all: there are too many different records to compare."
        return back.blanks, () if back.all_tried else (untried,)

    def _optimum(self, task: _Task, known: Blanks) -> tuple[Blanks, tuple[str, ...]]:
        if not exact.possible(task.codes) or len(task.sets) * len(task.codes) * 2 ** task.codes.shape[1] > 4 * exact.MOST_CHOICES:
            self._refuse_exact(f"{len(task.codes):,} different records of {counted(task.codes.shape[1], 'column')} are too many for it")
            return known, ()
        search = exact.fewest_classes if self.rule == "classes" else exact.fewest_wildcard
        best = search(task.codes, task.rows, self.k, task.sets, task.cost, known)
        if best.proven(task.cost):
            return best.blanks, ()
        cost = best.blanks.priced(task.cost)
        return best.blanks, (f"The blanks cost {cost:g}, and that none cost less than {best.bound:.4g} is all that was proven.",)

    def _refuse_exact(self, why: str) -> None:
        if self.search == "exact":
            raise ParameterError(f"{self.name}: search=exact cannot be had, since {why}. Use search=greedy.")
