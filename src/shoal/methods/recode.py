"""Global recoding: every value of a column becomes the interval or the category that it falls into."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pyarrow as pa
from pydantic import Field, model_validator

from shoal import cell
from shoal.arrays import BoolArray, FloatArray
from shoal.contracts import Progress, Scope, Source, quiet
from shoal.counts import Counts
from shoal.csv_cells import MISSING
from shoal.errors import ParameterError
from shoal.files import read_rows
from shoal.methods.coordinates import constant_columns
from shoal.methods.limits import (
    check_columns_named,
    first_row,
    place_of,
    refuse_rows,
    round_above,
    round_below,
    texts_of,
    with_columns_named,
    written,
)
from shoal.methods.recoding import BatchMethod, Decision, NewValues, revalued
from shoal.params import NumberOrDay
from shoal.randomness import Chance
from shoal.roles import Roles
from shoal.table import Table

Cuts = tuple[NumberOrDay, ...]
Categories = Mapping[str, str]
Publish = Literal["sets", "labels"]
_WHOLE = 1e15  # whole numbers up to here are written with all their digits


class Recode(BatchMethod):
    """Replace every value by the interval between two cut points, or the category of a map, that it falls into (Hundepool et al. 2012).

    Cells stay true, and equal values stay equal. A record that is unique on what is left stays unique: recoding is done so that other methods,
    or suppression, lose less afterwards. Every value must fall somewhere.
    """

    name: ClassVar[str] = "recode"
    title: ClassVar[str] = "Global recoding"
    scope: ClassVar[Scope] = "row"
    guarantees: ClassVar[tuple[str, ...]] = ()
    counts_persons: ClassVar[bool] = True  # it counts nobody
    cuts: Cuts | Mapping[str, Cuts] | None = Field(
        None, description="Cut points of numbers and dates: 0,18,65 is [0,18) and [18,65); by column age:0|18|65,income:0|1000"
    )
    ends: Literal["closed", "open"] = Field(
        "closed", description="closed: values outside the cut points are refused; open: they get intervals that end at round numbers"
    )
    map: Mapping[str, str | Categories] | None = Field(
        None, description="A category for each value, a=x|b=x, or a CSV file of two columns; in a recipe also a table by column"
    )
    publish: Publish = Field(
        "sets", description="Of a map. sets: all values of the category, which measures and attacks understand; labels: its name"
    )

    @model_validator(mode="before")
    @classmethod
    def _by_column(cls, given: Any) -> Any:
        if isinstance(given.get("map"), Mapping) and all(isinstance(one, Mapping) for one in given["map"].values()):
            given = with_columns_named(given, "map")
        return with_columns_named(given, "cuts")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.map is not None and self.cuts is not None:
            raise ValueError("cuts and map are two ways to recode. Keep one, and take another step for the other columns.")
        if isinstance(self.cuts, Mapping):
            check_columns_named("cuts", self.cuts, self.columns)
        for cuts in self.cuts.values() if isinstance(self.cuts, Mapping) else [self.cuts or ()]:
            _check_cuts(cuts, self.cuts is not None, 1 if self.ends == "open" else 2)
        if self.map is not None:
            self._check_map(self.map)
        return self

    def _check_map(self, given: Mapping[str, str | Categories]) -> None:
        by_column = {column: one for column, one in given.items() if isinstance(one, Mapping)}
        if by_column and len(by_column) < len(given):
            raise ValueError("map mixes values with tables by column. Give one table for all columns, or one for each.")
        if by_column:
            check_columns_named("map", by_column, self.columns)
        for one in by_column.values() if by_column else [given]:
            for value, category in one.items():
                _check_category(value, str(category), self.publish)

    @classmethod
    def parse(cls, given: Mapping[str, object]) -> Self:
        """A map that is given as text is read here, and nowhere else: a certificate, which anybody may write, must name no file to read."""
        named = given.get("map")
        return super().parse({**given, "map": categories_from(named)} if isinstance(named, str) else given)

    @classmethod
    def beside(cls, given: Mapping[str, object], folder: Path) -> Mapping[str, object]:
        """A file of a map is beside the recipe that names it."""
        named = given.get("map")
        return {**given, "map": str(folder / named)} if isinstance(named, str) and "=" not in named else given

    def decide(self, table: Source, roles: Roles, chance: Chance, progress: Progress = quiet) -> Decision:
        """Every value of every column, or a sentence that says where one falls nowhere."""
        columns = self.chosen(table, roles, ("numeric",) if self.cuts is not None else ("numeric", "ordinal", "nominal"))
        new, warnings = {}, list[str]()
        for done, column in enumerate(columns):
            counts = table.counts([column])
            warnings.extend(constant_columns(counts.table, [column], counts.total))
            if counts.table.kind(column) != "empty":
                new[column] = self._new(table, roles, counts, column, chance)
            progress("recoding", done + 1, len(columns))
        if self.map is not None and self.publish == "labels":
            warnings.extend(
                f"Column '{column}' is released under new categories, which measures and attacks take for different values: its loss is "
                "overstated and its risk understated. publish=sets says what each category stands for."
                for column in new
            )
        return revalued(new, self.step(columns, ()), tuple(warnings))

    def _new(self, source: Source, roles: Roles, counts: Counts, column: str, chance: Chance) -> NewValues:
        """What becomes of each value of a column; in every row it must become something."""
        if self.cuts is not None:
            cuts = self.cuts[column] if isinstance(self.cuts, Mapping) else self.cuts
            made = _intervals(counts.table, column, [place_of(self.name, counts.table, column, cut) for cut in cuts], self.ends)
            outside, way_out = "outside the cut points", "Add a cut point beyond, or use ends=open."
        elif self.map is not None:
            made = self._categories(counts.table, roles, column, self.map)
            outside, way_out = "outside the map", "Add a line for each value to the map."
        else:
            raise ParameterError(
                f"{self.name}: nothing says how column '{column}' is recoded. Give cuts=0,18,65 or map=file.csv.", about=column
            )

        def nowhere(batch: Table) -> BoolArray:
            return made.nowhere[counts.places(batch)]

        if made.nowhere.any():
            refuse_rows(self.name, column, first_row(source, nowhere), outside, way_out)
        if self.map is not None and self.publish == "labels":
            return NewValues(counts, _as_codes(counts.table, column, made.texts))
        return NewValues(counts, pa.array(made.texts, pa.string()), "cells")

    def _categories(self, table: Table, roles: Roles, column: str, given: Mapping[str, str | Categories]) -> _Made:
        """The category of each value, by its name or as all its values."""
        scale, own = roles.scale(table, column), given.get(column)
        if table.kind(column) == "date":
            raise ParameterError(f"{self.name}: column '{column}' holds dates, of which no list is made. Use cuts.", about=column)
        if scale == "ordinal" and self.publish == "labels":
            raise ParameterError(
                f"{self.name}: column '{column}' has levels, and new names have no place among them. Use publish=sets.", about=column
            )
        category: dict[str, str] = {}
        for value, name in (own if isinstance(own, Mapping) else given).items():
            if category.setdefault(_alike(table, column, value), str(name)) != name:
                raise ParameterError(
                    f"{self.name}: the map puts a number of column '{column}' into two categories. Keep one.", about=column
                )
        names = texts_of(table.column(column))
        found = [None if name is None else category.get(_alike(table, column, name)) for name in names]
        nowhere = np.array([name is not None and one is None for name, one in zip(names, found)], np.bool_)
        if self.publish == "labels":
            return _Made(found, nowhere)
        levels = {level: i for i, level in enumerate(roles.levels(table, column))} if scale == "ordinal" else {}
        members: dict[str, list[str]] = {}
        for value, name in category.items():
            members.setdefault(name, []).append(value)
        sets = {name: cell.write_set(_in_order(table, column, levels, values)) for name, values in members.items()}
        return _Made([None if name is None else sets[name] for name in found], nowhere)


class _Made(NamedTuple):
    """What each distinct value becomes, and which become nothing."""

    texts: list[str | None]
    nowhere: BoolArray


def categories_from(text: str) -> dict[str, str]:
    """A map as it is written in one line, a=x|b=x, or in a CSV file of two columns; a line for what is missing is left out."""
    if "=" in text:
        pairs = [tuple(word.strip() for word in pair.rpartition("=")[::2]) for pair in text.split("|")]
    else:
        pairs = [tuple(word.strip() for word in row) for row in read_rows(text)]
    found: dict[str, str] = {}
    for number, pair in enumerate(pairs, 1):
        if len(pair) != 2 or not all(pair):
            raise ParameterError(
                f"recode: line {number} of the map is no value with its category. Write a=x|b=x, or two cells in each line of a CSV file."
            )
        if pair[0] in found:
            raise ParameterError(f"recode: line {number} of the map is for a value that an earlier line has. Keep one of them.")
        found[pair[0]] = pair[1]
    return {value: category for value, category in found.items() if value not in MISSING}


def _check_category(value: str, category: str, publish: Publish) -> None:
    if not value or not category:
        raise ValueError("a value or a category of the map is empty. Missing values stay missing: leave them out of the map.")
    if publish == "labels" and (category in MISSING or cell.read(category).values != (category,)):
        raise ValueError(
            "a category of the map would be read as missing, or as a set or an interval. Give it another name, or use publish=sets."
        )


def _check_cuts(cuts: Sequence[float | str], given: bool, fewest: int) -> None:
    if not given:
        return
    if len(cuts) < fewest:
        raise ValueError("cuts needs two cut points or more, such as cuts=0,18,65; with ends=open one is enough.")
    if len({type(cut) for cut in cuts}) > 1:
        raise ValueError("cuts mixes numbers and days. Give each column its own.")
    if any(one >= other for one, other in pairwise(cuts)):  # type: ignore[operator]
        raise ValueError("cuts must rise from one to the next.")


def _intervals(table: Table, column: str, cuts: Sequence[float], ends: str) -> _Made:
    """[a, b) as closed intervals: of whole numbers and days a to b - 1; of others a to b, which is true as well."""
    places = table.number(column)
    known = ~np.isnan(places)
    bounds, closed = np.array(cuts), False
    if ends == "open" and known.any():
        low, high = float(places[known].min()), float(places[known].max())
        below = [round_below(table, column, low)] if low < bounds[0] else []
        above = [round_above(table, column, high)] if high >= bounds[-1] else []
        bounds, closed = np.array([*below, *bounds, *above]), bool(above)  # the round number at the end belongs to the last interval
    part = np.searchsorted(bounds, places, "right") - 1
    part = np.where(closed & (places == bounds[-1]), len(bounds) - 2, part)
    nowhere = known & ((part < 0) | (part >= len(bounds) - 1))
    whole = _all_whole(table, column, places[known], bounds)
    texts = [_interval(table, column, bounds, i, whole, closed and i == len(bounds) - 2) for i in range(len(bounds) - 1)]
    return _Made(
        [texts[i] if there and not out else None for i, there, out in zip(part.tolist(), known.tolist(), nowhere.tolist())], nowhere
    )


def _interval(table: Table, column: str, bounds: FloatArray, i: int, whole: bool, closed: bool) -> str:
    low, high = float(bounds[i]), float(bounds[i + 1])
    if whole:
        low = math.ceil(low)
        high = high if closed else math.ceil(high) - 1
    ends = written(table, column, low), written(table, column, high)
    return ends[0] if ends[0] == ends[1] else f"[{ends[0]}..{ends[1]}]"


def _all_whole(table: Table, column: str, places: FloatArray, bounds: FloatArray) -> bool:
    if table.kind(column) == "date" and not pa.types.is_date(table.column(column).type):
        return False  # moments
    return bool((places == np.floor(places)).all() and np.abs(places).max(initial=0) < _WHOLE and np.abs(bounds).max() < _WHOLE)


def _alike(table: Table, column: str, text: str) -> str:
    """Of numbers, however they are written: 1 and 1.0 are one value."""
    number = cell.to_number(text) if table.kind(column) == "number" else None
    return text if number is None or abs(number) >= _WHOLE else cell.number(number)


def _in_order(table: Table, column: str, levels: Mapping[str, int], values: Sequence[str]) -> list[str]:
    """As sets list their values: numbers by size, levels from lowest to highest, else by name."""
    if levels:
        return sorted(values, key=lambda value: (levels.get(value, len(levels)), value))
    if table.kind(column) == "number":
        return sorted(values, key=lambda value: (cell.to_number(value) is None, cell.to_number(value) or 0.0, value))
    return sorted(values)


def _as_codes(table: Table, column: str, labels: Sequence[str | None]) -> pa.Array:
    """Labels as text; new codes of a column of codes as numbers, as which a file of them is read back."""
    numbers = [None if label is None else cell.to_number(label) for label in labels]
    if table.kind(column) != "number" or any(label is not None and number is None for label, number in zip(labels, numbers)):
        return pa.array(labels, pa.string())
    made = pa.array(numbers, pa.float64())
    try:
        return made.cast(pa.int64())
    except pa.ArrowInvalid:
        return made
