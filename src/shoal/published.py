"""What a certificate says to everybody: what the public files can recount exactly, and what needs the original coarsely.

Many exact figures about few records are equations, and searched together they give the records back. So whatever was computed from the
original has three significant digits. Under 100 records even steps of .05 do, if twenty figures come in them (tests/properties/
test_reconstruction.py is that search): so one loss is said, in steps of .05 and not below two of them, and what attacks find in steps of
five records or more, rounded up. Nothing is said column by column.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, TypeVar

from shoal.certificate import AttackPart, CollectionCertificate, LeavesPart, MeasurePart, Summary, TableCertificate
from shoal.release import Release
from shoal.score import wilson

FEW = 100  # records under which three digits still are an equation
STEP = 0.05
TOGETHER = 5  # records that are not told apart where there are few
WITHHELD = f"Withheld: under {FEW} records many figures together would tell single values."
NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?:\.\d+)?(?!\w)")
Any_ = TypeVar("Any_", TableCertificate, CollectionCertificate)


def published(exact: Any_) -> Any_:
    """The certificate for everybody, of one for the data's keeper."""
    rounding = Rounding.of(exact)
    given: dict[str, Any] = {
        "measures": tuple(rounding.measure(one) for one in exact.measures),
        "attacks": tuple(rounding.attack(one) for one in exact.attacks),
    }
    if isinstance(exact, TableCertificate):
        given |= {"summary": rounding.summary(exact.summary, exact.attacks), "leaves": tuple(rounding.leaves(one) for one in exact.leaves)}
    return exact.model_copy(update=given)


def three_digits(value: float) -> float:
    """Three significant digits, half to even; a whole number stays one."""
    rounded = Context(prec=3, rounding=ROUND_HALF_EVEN).create_decimal(repr(value))
    return int(rounded) if isinstance(value, int) else float(rounded)


def in_steps(value: float, step: float = STEP) -> float:
    """The nearest multiple of a step, half to even."""
    one = Decimal(repr(step))
    return float((Decimal(repr(float(value))) / one).to_integral_value(ROUND_HALF_EVEN) * one)


@dataclass(frozen=True)
class Rounding:
    """How figures that need the original are written down, by how many records (or persons, where they are fewer) stand behind them."""

    records: int

    @classmethod
    def of(cls, exact: TableCertificate | CollectionCertificate) -> Rounding:
        """The fewest of what is counted."""
        persons = exact.unit.persons if isinstance(exact, TableCertificate) else None
        return cls(exact.release.rows if persons is None else min(persons, exact.release.rows))

    @classmethod
    def of_release(cls, release: Release) -> Rounding:
        """The same before there is a certificate."""
        return cls(release.total if release.people is None else release.people)

    @property
    def few(self) -> bool:
        """Whether three digits are too many."""
        return self.records < FEW

    def share(self, value: float) -> float:
        """A figure in parts of 1, such as a loss."""
        return max(2 * STEP, in_steps(value)) if self.few else three_digits(value)

    def risk(self, value: float) -> float:
        """A share of records that are found: of few, rounded up to steps of .05 that five records or more fill, so that it is not belittled."""
        return min(1.0, max(self._five, round(self._five * math.ceil(value / self._five - 1e-9), 2))) if self.few else three_digits(value)

    def interval(self, rate: float, exact: tuple[float, float], tried: int) -> tuple[float, float]:
        """Of few records the interval of the rate that is said, so that its ends say no more."""
        said = self.risk(rate)
        low, high = map(three_digits, wilson(said * tried, tried) if self.few else exact)
        return low, high

    @property
    def _five(self) -> float:
        return min(1.0, round(STEP * math.ceil(TOGETHER / self.records / STEP - 1e-9), 2))

    def measure(self, part: MeasurePart) -> MeasurePart:
        """As it is if it was counted on the release; else rounded, and of few records withheld unless it names its step."""
        if part.needs == "release" or part.value is None:
            return part if part.details.get("unit") != "persons" else _in_persons(part)
        if self.few and part.step is None:
            return part.model_copy(update={"value": None, "interval": None, "per_column": {}, "details": {}, "note": WITHHELD})
        rounding = {"details": {}, "per_column": {}, "interval": None} if self.few else {
            "interval": part.interval and tuple(map(three_digits, part.interval)),
            "per_column": {column: three_digits(value) for column, value in part.per_column.items()},
            "details": rounded(part.details),
        }  # fmt: skip
        value = max(2 * part.step, in_steps(part.value, part.step)) if self.few and part.step else three_digits(part.value)
        return part.model_copy(update={**rounding, "value": value, "note": self.words(part.note)})

    def attack(self, part: AttackPart) -> AttackPart:
        """Its rate; hits are what that rate makes of the records tried. What linking blindly hits is counted, not computed from values."""
        rate, strict = self.risk(part.rate), self.risk(part.strict_hit / part.tried)
        given: dict[str, Any] = {
            "rate": rate,
            "interval": self.interval(part.rate, part.interval, part.apart or part.tried),
            "chance": three_digits(part.chance) if part.risk == "linkage" else self.risk(part.chance),
            "hit": min(three_digits(rate * part.tried if self.few else part.hit), part.tried),
            "strict_hit": min(three_digits(strict * part.tried if self.few else part.strict_hit), part.tried),
            "note": self.words(part.note),
            "details": self._in_words(part.details) if self.few else rounded(part.details),
        }
        return part.model_copy(update=given)

    def _in_words(self, details: Mapping[str, Any]) -> dict[str, Any]:
        """What holds no number, and does not say which form of an attack found most: of few records that tells them, too."""
        return {key: one for key, one in details.items() if in_words(one) and key != "how"}

    def summary(self, part: Summary, attacks: Sequence[AttackPart] = ()) -> Summary:
        """One loss and the risks; of few records neither the published IL nor the score of it, nor what a handful of outliers risk. The attack
        named is then the first of those whose rate, as it is said, is the highest."""
        if not self.few:
            figures = {name: three_digits(value) for name, value in part if isinstance(value, float)}
            return part.model_copy(update={**figures, "outliers": three_digits(part.outliers)})  # as beside the attack that found them
        risks = {name: self.risk(value) for name, value in part if isinstance(value, float) and name != "loss"}
        few: dict[str, Any] = dict.fromkeys(("information_loss", "score", "outlier_risk", "outlier_low", "outlier_high", "outlier_attack"))
        named = max((one for one in attacks if one.risk == "linkage"), key=lambda one: self.risk(one.rate), default=None)
        few |= {"outliers": 0, "risk_how": "", "risk_attack": named.name if named else part.risk_attack}
        ends = self.interval(part.risk, (0.0, 1.0), named.apart or named.tried) if part.risk is not None and named else (None, None)
        said = {"loss": None if part.loss is None else self.share(part.loss), "risk_low": ends[0], "risk_high": ends[1]}
        return part.model_copy(update={**risks, **few, **said})

    def leaves(self, part: LeavesPart) -> LeavesPart:
        """How often a released column tells a protected one."""
        return part.model_copy(update={name: self.risk(value) for name, value in part if isinstance(value, float)})

    def words(self, note: str) -> str:
        """A sentence with a number in it has three digits of it, and under 100 records is left out."""
        if self.few:
            return " ".join(sentence for sentence in re.split(r"(?<=\.) ", note) if not NUMBER.search(sentence))
        return NUMBER.sub(lambda found: _three_in_words(found.group()), note)


def _in_persons(part: MeasurePart) -> MeasurePart:
    """Whose each row is the release does not say: shares and means of persons have three digits, and how many there are stays as counted."""
    value = None if part.value is None else _share(part.value)
    details = {key: _share(one) if isinstance(one, float) else one for key, one in part.details.items()}
    return part.model_copy(
        update={"value": value, "per_column": {c: _share(one) for c, one in part.per_column.items()}, "details": details}
    )


def _share(value: float) -> float:
    return value if float(value).is_integer() else three_digits(value)


def rounded(value: Any) -> Any:
    """Three digits of every number inside; how many there are of something stays a whole number."""
    if isinstance(value, Mapping):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return three_digits(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def in_words(value: Any) -> bool:
    """Whether there is no number inside."""
    if isinstance(value, Mapping):
        return all(map(in_words, value.values()))
    return all(map(in_words, value)) if isinstance(value, list | tuple) else isinstance(value, str | bool) or value is None


def _three_in_words(number: str) -> str:
    plain = number.replace(",", "")
    after = len(plain.partition(".")[2])
    return f"{three_digits(float(plain)):,.{after}f}" if after else f"{three_digits(int(plain)):,}"
