"""What measuring and attacking give back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan, sqrt
from typing import Any, Literal

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.errors import ParameterError
from shoal.promises import Unit
from shoal.roles import Roles

Better = Literal["lower", "higher", "neither"]
# What an attack finds: the record of a person, a value near the original, that somebody is in the data, or what was hidden.
Risk = Literal["linkage", "interval", "membership", "reconstruction"]


# What a measure looks at: what it computes from the release alone is published exactly, for anybody can compute it again.
Needs = Literal["release", "original"]

# What a measure makes of a release whose table is a draw: the figure of all rows, from their counts; an estimate of it; or none, where the
# figure of a draw is no estimate of that of all, as sums are not.
OfADraw = Literal["exact", "estimate", "withheld"]

# What an attack can look among: released rows, each of them one; combinations of what the intruder knows, each of which may stand for several
# rows (`Release.stands_for`); or all values of single columns beside them. But for the first, rows need not fit into memory.
LooksAmong = Literal["rows", "combinations", "values"]

# Whom an attack looks for: records (persons, where it is known whose each row is), or all records of a household together.
LooksFor = Literal["records", "households"]


@dataclass(frozen=True)
class Score:
    """One number with what is needed to read it. `value` is None when it cannot be computed, and `note` says why: never NaN."""

    name: str
    title: str
    value: float | None
    better: Better
    bounds: tuple[float | None, float | None] = (None, None)
    interval: tuple[float, float] | None = None
    note: str = ""
    per_column: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    per_record: FloatArray | None = field(default=None, repr=False)  # by release row; internal
    needs: Needs = "original"
    step: float | None = None  # in which it is published of few records; None: not at all

    def public(self) -> dict[str, Any]:
        """As plain JSON, without anything about single records."""
        return {
            "name": self.name,
            "title": self.title,
            "value": self.value,
            "better": self.better,
            "bounds": list(self.bounds),
            "interval": list(self.interval) if self.interval else None,
            "note": self.note,
            "per_column": dict(self.per_column),
            "details": dict(self.details),
            "needs": self.needs,
            "step": self.step,
        }


@dataclass(frozen=True)
class Knowledge:
    """What the intruder has: originals of some records, in some columns."""

    roles: Roles
    columns: tuple[str, ...] | None = None  # None: every quasi-identifier
    records: int | float | None = None  # None: all; a whole number: so many; a share below 1: that part

    def __post_init__(self) -> None:
        if isinstance(self.records, float) and not isfinite(self.records):
            raise ParameterError("The intruder must know a number of records, or a share of them below 1.")

    def known_columns(self) -> tuple[str, ...]:
        """The columns the intruder links on."""
        return self.roles.quasi if self.columns is None else self.columns

    def known_rows(self, rows: int, rng: np.random.Generator) -> IntArray:
        """Which records the intruder knows: all, or a random draw."""
        if self.records is None:
            return np.arange(rows)
        count = round(self.records * rows) if 0 < self.records < 1 else int(self.records)
        if count < 1:
            raise ParameterError(f"The intruder must know at least one record, got {self.records}.")
        return np.arange(rows) if count >= rows else np.sort(rng.choice(rows, count, replace=False))


@dataclass(frozen=True)
class OutlierHits:
    """What an attack found of the records farthest from the column medians, by the form that finds most of them."""

    tried: int
    hit: float
    how: str

    @property
    def rate(self) -> float:
        """Share of the outliers tried that were hit."""
        return self.hit / self.tried

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the rate."""
        return wilson(self.hit, self.tried)

    def public(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"tried": self.tried, "hit": self.hit, "rate": self.rate, "interval": list(self.interval), "how": self.how}


@dataclass(frozen=True)
class AttackResult:
    """How many of the records, or persons, tried were hit. Ties are shared: a record tied with m - 1 others counts 1/m.

    An attack may try several forms (scales, families, one to one): then it is the result of the strongest, and `forms` holds all, the
    textbook's first.
    """

    name: str
    title: str
    tried: int
    hit: float
    strict_hit: float  # ties count as failures
    chance: float  # what blind guessing hits, as a rate
    interval: tuple[float, float]
    risk: Risk
    note: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    internal: Mapping[str, Any] = field(default_factory=dict, repr=False)  # for the owner alone: what an intruder could attack with
    per_record: FloatArray | None = field(default=None, repr=False)  # by original row, NaN where not tried; internal
    forms: tuple[AttackResult, ...] = field(default=(), repr=False)  # internal; their rates are in details
    outliers: OutlierHits | None = None
    apart: int | None = None  # how many were found by themselves, which the interval counts: households, whose members are found together
    unit: Unit = "rows"  # what was tried and hit: of a person who has several rows, the row that tells most counts

    @property
    def rate(self) -> float:
        """Share of those tried that were hit."""
        return self.hit / self.tried

    @property
    def how(self) -> str:
        """Which form of the attack this is, in words."""
        return str(self.details.get("how", ""))

    @property
    def textbook(self) -> AttackResult:
        """The form the literature's figures are of."""
        return self.forms[0] if self.forms else self

    def public(self) -> dict[str, Any]:
        """As plain JSON, without anything about single records."""
        return {
            "name": self.name,
            "title": self.title,
            "risk": self.risk,
            "unit": self.unit,
            "tried": self.tried,
            "hit": self.hit,
            "strict_hit": self.strict_hit,
            "rate": self.rate,
            "interval": list(self.interval),
            "apart": self.apart,
            "chance": self.chance,
            "note": self.note,
            "details": {**self.details, **({"outliers": self.outliers.public()} if self.outliers else {})},
        }


def wilson(hit: float, tried: int, z: float = 1.959963984540054) -> tuple[float, float]:
    """95 % interval of a rate (Wilson 1927): sensible at 0 and at 1, unlike the normal approximation."""
    rate = hit / tried
    middle = (rate + z * z / (2 * tried)) / (1 + z * z / tried)
    half = z / (1 + z * z / tried) * sqrt(rate * (1 - rate) / tried + z * z / (4 * tried * tried))
    return 0.0 if hit == 0 else max(0.0, middle - half), 1.0 if hit == tried else min(1.0, middle + half)


def disclosure_risk(distance_linkage: float, probabilistic_linkage: float, interval_disclosure: float) -> float:
    """DR of (2.13) in Abril's thesis; give all three as percentages or all three as rates."""
    return mean_of_kinds([distance_linkage, probabilistic_linkage], [interval_disclosure])


def mean_of_kinds(linkages: Sequence[float], intervals: Sequence[float]) -> float:
    """The same over whatever was tried: the mean of linkage, a mean itself, and interval disclosure; NaN where nothing was."""
    kinds = [sum(rates) / len(rates) for rates in (linkages, intervals) if rates]
    return sum(kinds) / len(kinds) if kinds else nan


def overall_score(information_loss: float, risk: float) -> float:
    """Score of (2.14): the plain mean of information loss and disclosure risk; lower is better."""
    return (information_loss + risk) / 2
