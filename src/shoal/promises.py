"""Promises: what a release is said to keep. Each kind is declared here, once; how it is counted stands in `checks/`, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from shoal.errors import ParameterError

Unit = Literal["rows", "persons", "households"]  # what is counted in a table
Number = Literal["rows", "persons", "households", "values", "effective values", "distance", "texts"]


@dataclass(frozen=True)
class PromiseKind:
    """A kind of promise: what its number counts, whether more or less of it is better, and the words for it."""

    name: str
    unit: Number  # of its number; where it is rows, persons may be counted in their place
    keeps: Literal["at least", "at most"]
    sentence: str  # {columns} and {about} are filled in
    of: Literal["classes", "numbers", "files"] = "classes"  # every class of records, every number that is kept, or all written files
    persons: Literal["distinct", "weighed"] = "distinct"  # in persons: how many there are, which rows bound, or each weighing one
    asked_by: str = ""  # the parameter of a method that asks for it, with its value

    @property
    def is_about_a_column(self) -> bool:
        """Whether it counts what a column has in each class, or the numbers a column keeps."""
        return "{about}" in self.sentence or self.of == "numbers"


K_ANONYMITY = PromiseKind("k-anonymity", "rows", "at least", "k-anonymity over {columns}", asked_by="k")
WILDCARD_K = PromiseKind(  # weaker by far, and never called k-anonymity: blanking k - 1 whole records satisfies it
    "wildcard-k", "rows", "at least", "records that match each one over {columns}, a blank being any value", asked_by="k"
)
L_DIVERSITY = PromiseKind("l-diversity", "values", "at least", "distinct values of {about} over {columns}", asked_by="l")
ENTROPY_L_DIVERSITY = PromiseKind(
    "entropy-l-diversity",
    "effective values",
    "at least",
    "effective values of {about} over {columns}",
    persons="weighed",
    asked_by="entropy",
)
T_CLOSENESS = PromiseKind("t-closeness", "distance", "at most", "closeness of {about} over {columns}", persons="weighed", asked_by="t")
ORDERED_T_CLOSENESS = PromiseKind(
    "ordered-t-closeness", "distance", "at most", "closeness of {about} over {columns}", persons="weighed", asked_by="t"
)
HOUSEHOLD_K = PromiseKind(
    "household-k", "households", "at least", "households that look like each one whose number is kept", of="numbers", asked_by="k"
)
PERSON_K = PromiseKind(
    "person-k", "persons", "at least", "persons that look like each one whose number is kept", of="numbers", asked_by="k"
)
NOTHING_LEFT = PromiseKind("nothing-left", "texts", "at most", "removed texts found in the written files", of="files")

LINK = "link"  # the step that keeps numbers of households or persons; it is nobody's method


def link_summary(noun: str, k: int) -> str:
    """What that step does, in words."""
    return f"Numbers of {noun}s are kept where at least {k} look alike."


_OF_TABLES = (K_ANONYMITY, WILDCARD_K, L_DIVERSITY, ENTROPY_L_DIVERSITY, T_CLOSENESS, ORDERED_T_CLOSENESS, HOUSEHOLD_K, PERSON_K)
KINDS = {kind.name: kind for kind in (*_OF_TABLES, NOTHING_LEFT)}
ROUNDING = 1e-9  # what a sum of shares may be off by


@dataclass(frozen=True)
class Promise:
    """Something a method says holds for what is released, which an independent check can test on the file alone."""

    what: str  # the name of its kind
    value: float
    columns: tuple[str, ...]
    about: str | None = None  # the confidential column it is about, or the column of kept numbers
    unit: Unit = "rows"  # what is counted: five rows may be one person
    ignores: tuple[str, ...] = ()  # cells of the column it is about that are no values, as a file has them: missing, and codes for it

    @property
    def kind(self) -> PromiseKind:
        """Its kind."""
        if self.what not in KINDS:
            raise ParameterError(f"There is no promise named '{self.what}'. Known: {', '.join(KINDS)}.")
        return KINDS[self.what]

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns its check reads."""
        return (*self.columns, *((self.about,) if self.about else ()))

    @property
    def number(self) -> Number:
        """What its number is a number of."""
        return self.unit if self.kind.unit == "rows" else self.kind.unit

    @property
    def sentence(self) -> str:
        """What its number counts, in words."""
        counted = ", counting persons" if self.unit == "persons" and self.kind.of == "classes" else ""
        return self.kind.sentence.format(columns=", ".join(self.columns), about=self.about) + counted

    def kept_by(self, found: float) -> bool:
        """Whether what was counted is enough."""
        return found >= self.value - ROUNDING if self.kind.keeps == "at least" else found <= self.value + ROUNDING


@dataclass(frozen=True)
class Checked:
    """One thing that was counted again, beside what was said of it."""

    what: str
    promised: Any
    found: Any
    holds: bool

    @staticmethod
    def of(promise: Promise, found: float) -> Checked:
        """A promise, and what was counted."""
        return Checked(promise.sentence, promise.value, found, promise.kept_by(found))
