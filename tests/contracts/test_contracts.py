"""Everything registered keeps its contract; and the checks themselves refuse what does not."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from pydantic import Field

from shoal.attacks.matching import LinkageAttack
from shoal.contracts import Attack, Measure, Method, quiet
from shoal.errors import UnknownNameError
from shoal.measures.table_measure import TableMeasure
from shoal.methods.coordinates import ColumnMethod
from shoal.promises import Promise
from shoal.randomness import chance_for, new_secret
from shoal.registry import find, known
from shoal.release import Release, Step
from shoal.score import AttackResult, Score, wilson
from shoal.testing import check_attack, check_measure, check_method


def names(kind):
    return pytest.mark.parametrize("name", sorted(known(kind)))


NEEDED = {"recode": {"cuts": (0, 50, 100, 250)}}  # what no default can say


@names("method")
def test_method(name):
    assert isinstance(known("method")[name](), Method)
    check_method(known("method")[name], **NEEDED.get(name, {}))


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("mdav", {"refine": "swap"}),
        ("mdav", {"standardize": "none", "k": 2}),
        ("mdav", {"k": 24}),
        ("mdav-large", {"refine": "none", "block_rows": 10, "k": 2}),
        ("v-mdav", {"refine": "swap", "gamma": 1.1}),
        ("v-mdav", {"gamma": 0}),
        ("individual-ranking", {"grouping": "optimal"}),
        ("z-projection", {"grouping": "optimal", "refine": "swap"}),
        ("pca-projection", {"grouping": "optimal"}),
        ("rank-swapping", {"p": 100}),
        ("rank-swapping", {"p": 0.001}),
        ("noise", {"correlation": "data", "p": 2}),
        ("top-coding", {"percentile": 50, "replacement": "cell"}),
        ("top-coding", {"percentile": 80, "replacement": "mean", "fewest": 2}),
        ("bottom-coding", {"percentile": 50, "replacement": "mean"}),
        ("rounding", {"base": 7, "rule": "random"}),
        ("rounding", {"base": 0.1, "rule": "random"}),
        ("recode", {"cuts": (100,), "ends": "open"}),
        ("c-tca", {"refine": "none", "units": "kohonen", "views": 1}),
        ("c-tca", {"views": 3, "k": 2}),
        ("k-tca", {"views": 1}),
        ("kde", {"smoothing": 0.2}),
        ("local-suppression", {"rule": "wildcard"}),
        ("local-suppression", {"rule": "wildcard", "search": "exact", "k": 5}),
        ("local-suppression", {"search": "greedy", "l": 2}),
        ("local-suppression", {"subsets": 1}),
        ("kadet", {"private": ("mark",), "confidence": 0.5}),
    ],
)
def test_method_with_other_parameters(name, parameters):
    check_method(known("method")[name], **parameters)


@names("measure")
def test_measure(name):
    assert isinstance(known("measure")[name](), Measure)
    check_measure(known("measure")[name])


@pytest.mark.parametrize("parameters", [{"distance": "equal"}, {"distance": "ordered"}])
def test_measure_with_other_parameters(parameters):
    check_measure(known("measure")["t-closeness"], **parameters)


@names("attack")
def test_attack(name):
    assert isinstance(known("attack")[name](), Attack)
    check_attack(known("attack")[name])


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("distance-linkage", {"distance": "mahalanobis"}),
        ("household-linkage", {"by": "containment"}),
        ("probabilistic-linkage", {"assignment": "best"}),
        ("probabilistic-linkage", {"assignment": "one-to-one", "tolerance": 0}),
        ("interval-disclosure", {"widest": 1}),
        ("interval-disclosure", {"widest": 50}),
        ("learned-linkage", {"aggregator": "choquet"}),
    ],
)
def test_attack_with_other_parameters(name, parameters):
    check_attack(known("attack")[name], **parameters)


@pytest.mark.parametrize("kind", ["method", "measure", "attack"])
def test_names_are_unlike_each_other_and_found(kind):
    assert all(find(kind, name) is cls and cls.name == name for name, cls in known(kind).items())
    nearly = next(iter(known(kind))) + "x"
    with pytest.raises(UnknownNameError, match=f"There is no {kind} named '{nearly}'. Did you mean"):
        find(kind, nearly)


# ---- methods that break one clause each -------------------------------------------------------------------------------------------------


class Honest(ColumnMethod):
    """Reverse each column: a method that keeps the contract and protects nothing (Nobody 2024)."""

    name: ClassVar[str] = "honest"
    title: ClassVar[str] = "Honest"
    scope: ClassVar[str] = "table"
    guarantees: ClassVar[tuple[str, ...]] = ()
    strength: int = Field(1, description="Nothing")

    def protect(self, table, roles, chance, progress=quiet):
        columns = self.chosen(table, roles, ("numeric", "ordinal", "nominal"))
        changed = {c: self.changed(table, c, chance) for c in columns}
        return self.closed(Release.of(table, changed, roles, self.step(columns, (), self.promises(columns)), chance))

    def changed(self, table, column, chance) -> Any:
        return table.take(np.arange(len(table))[::-1].copy()).column(column)

    def promises(self, columns) -> tuple[Promise, ...]:
        return ()

    def closed(self, release) -> Release:
        return release


class NoReference(Honest):
    """Reverse each column."""


class NoDocstring(Honest):
    pass


class BadName(Honest):
    """Bad name (Nobody 2024)."""

    name: ClassVar[str] = "Bad Name"


class NoTitle(Honest):
    """No title (Nobody 2024)."""

    title: ClassVar[str] = ""


class BadScope(Honest):
    """Bad scope (Nobody 2024)."""

    scope: ClassVar[str] = "galaxy"


class Thawed(Honest):
    """Parameters that change (Nobody 2024)."""

    model_config: ClassVar[dict[str, Any]] = {"frozen": False}


class NoDescription(Honest):
    """A parameter nobody explains (Nobody 2024)."""

    dark: int = 3


class Forgetful(Honest):
    """Does not write its parameters down (Nobody 2024)."""

    def given(self):
        return {"strength": 5}


class Liar(Honest):
    """Promises k and gives nothing (Nobody 2024)."""

    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)

    def promises(self, columns):
        return (Promise("k-anonymity", 3, columns),)


class Unchecked(Honest):
    """Promises what nothing can check (Nobody 2024)."""

    def promises(self, columns):
        return (Promise("peace of mind", 3, columns),)


class EmptyGuarantee(Honest):
    """Guarantees k, promises it for no column (Nobody 2024)."""

    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)


class Unshuffled(Honest):
    """Leaves the rows in order (Nobody 2024)."""

    def closed(self, release):
        back = np.argsort(release.source_row)
        return replace(release, table=release.table.take(back), source_row=np.arange(len(back)))


class SameShuffle(Honest):
    """Shuffles by a seed of its own (Nobody 2024)."""

    def protect(self, table, roles, chance, progress=quiet):
        return super().protect(table, roles, chance_for(1), progress)


class OwnChance(Honest):
    """Draws from the clock (Nobody 2024)."""

    def protect(self, table, roles, chance, progress=quiet):
        return super().protect(table, roles, chance_for(new_secret()), progress)


class WrongSource(Honest):
    """Says the wrong source rows (Nobody 2024)."""

    def closed(self, release):
        return replace(release, source_row=np.roll(release.source_row, 1))


class DoubledSource(Honest):
    """Names one source row twice (Nobody 2024)."""

    def closed(self, release):
        return replace(release, source_row=np.zeros(len(release), np.int64))


class DropsRows(Honest):
    """Loses a row and says nothing (Nobody 2024)."""

    def closed(self, release):
        return replace(release, table=release.table.take(np.arange(len(release) - 1)), source_row=release.source_row[:-1])


class KeepsIdentifier(Honest):
    """Lets names out (Nobody 2024)."""

    def protect(self, table, roles, chance, progress=quiet):
        return super().protect(table, replace(roles, identifier=(), other=(*roles.other, *roles.identifier)), chance)


class KeepsHouseholds(Honest):
    """Mixes households up (Nobody 2024)."""

    def closed(self, release):
        return replace(release, table=release.table.with_columns({"home": np.arange(len(release))}))


class TouchesMore(Honest):
    """Changes a column it does not name (Nobody 2024)."""

    def protect(self, table, roles, chance, progress=quiet):
        columns = roles.quasi
        changed = {c: self.changed(table, c, chance) for c in (*columns, "secret")}
        return Release.of(table, changed, roles, self.step(columns, ()), chance)


class WritesNaN(Honest):
    """Writes NaN for missing (Nobody 2024)."""

    def changed(self, table, column, chance):
        return np.full(len(table), np.nan)


class ChangesCodes(Honest):
    """Scribbles on the table it is given (Nobody 2024)."""

    def changed(self, table, column, chance):
        table.codes(column)[:] = 0
        return table.column(column)


class NoStep(Honest):
    """Does not say what it did (Nobody 2024)."""

    def closed(self, release):
        return replace(release, made_by=())


class StrangeStep(Honest):
    """Says somebody else did it (Nobody 2024)."""

    def closed(self, release):
        return replace(release, made_by=(Step("mdav", {}, release.made_by[0].columns, (), ""),))


class Crashes(Honest):
    """Breaks on text instead of saying so (Nobody 2024)."""

    def chosen(self, table, roles, takes):
        for column in roles.quasi:
            [float(value) for value in table.column(column).to_pylist()]
        return super().chosen(table, roles, takes)


class RefusesDarkly(Honest):
    """Refuses without saying which column (Nobody 2024)."""

    def chosen(self, table, roles, takes):
        from shoal.errors import ParameterError

        raise ParameterError("No.")


class NoUpperK(Honest):
    """Takes any k (Nobody 2024)."""

    k: int = Field(3, ge=2, description="Ignored")


class WildProgress(Honest):
    """Tells progress beyond its end (Nobody 2024)."""

    def protect(self, table, roles, chance, progress=quiet):
        progress("far", 3, 2)
        return super().protect(table, roles, chance)


def test_an_honest_method_passes():
    check_method(Honest)


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (NoReference, "authors and year"),
        (NoDocstring, "docstring"),
        (BadName, "lower-case"),
        (NoTitle, "title"),
        (BadScope, "scope"),
        (Thawed, "frozen"),
        (NoDescription, "description"),
        (Forgetful, "parse\\(given\\(\\)\\)"),
        (Liar, "promises k-anonymity over x, y, z: 3"),
        (Unchecked, "nothing can check"),
        (EmptyGuarantee, "does not promise"),
        (Unshuffled, "differently ordered|shuffled"),
        (SameShuffle, "differently ordered"),
        (OwnChance, "same generator"),
        (WrongSource, "source_row is wrong|households"),
        (DoubledSource, "permutation"),
        (DropsRows, "no warning says so"),
        (KeepsIdentifier, "must have the columns"),
        (KeepsHouseholds, "households"),
        (TouchesMore, "though no step names it"),
        (WritesNaN, "NaN"),
        (ChangesCodes, "codes"),
        (NoStep, "how it was made"),
        (StrangeStep, "its name"),
        (RefusesDarkly, "without naming the column"),
        (NoUpperK, "must raise DataError"),
        (WildProgress, "progress"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_a_broken_method_is_refused(cls, says):
    with pytest.raises(AssertionError, match=says) as caught:
        check_method(cls)
    assert str(caught.value).startswith(cls.__name__ + ": ")
    assert str(caught.value).endswith(".")


def test_a_method_that_crashes_is_not_swallowed():
    with pytest.raises((ValueError, TypeError)):
        check_method(Crashes)


# ---- measures ---------------------------------------------------------------------------------------------------------------------------


class HonestLoss(TableMeasure):
    """The share of quasi-identifying cells that changed."""

    name: ClassVar[str] = "honest-loss"
    title: ClassVar[str] = "Honest loss"

    def measure(self, original, release, roles):
        value = self.value(original, release, roles)
        note = "" if roles.quasi else "There is no quasi-identifier."
        return Score(self.name, self.title, value, "lower", (0, 1), None, note)

    def value(self, original, release, roles) -> Any:
        cells = [
            original.column(c).to_pylist()[row] != value
            for c in roles.quasi
            for row, value in zip(release.source_row, release.table.column(c).to_pylist())
        ]
        return sum(cells) / len(cells) if cells else None


class NeverZero(HonestLoss):
    """A loss where nothing was lost."""

    def value(self, original, release, roles):
        share = super().value(original, release, roles)
        return share if share is None else 0.1 + 0.9 * share


class NotANumber(HonestLoss):
    """NaN where None is meant."""

    def value(self, original, release, roles):
        value = super().value(original, release, roles)
        return float("nan") if value is None else value


class NoNote(HonestLoss):
    """No value and no word why."""

    def measure(self, original, release, roles):
        return replace(super().measure(original, release, roles), note="")


class ByRowOrder(HonestLoss):
    """Looks at the first row."""

    def value(self, original, release, roles):
        return float(release.source_row[0] % 2) if len(release) > 1 and roles.quasi else super().value(original, release, roles)


class Unbounded(HonestLoss):
    """Leaves its bounds."""

    def value(self, original, release, roles):
        value = super().value(original, release, roles)
        return value if value is None else value * 50


class NotJson(HonestLoss):
    """Numbers JSON does not know."""

    def value(self, original, release, roles):
        value = super().value(original, release, roles)
        return value if value is None else np.float32(value)


class ShortPerRecord(HonestLoss):
    """One number for all records."""

    def measure(self, original, release, roles):
        return replace(super().measure(original, release, roles), per_record=np.zeros(3))


def test_an_honest_measure_passes():
    check_measure(HonestLoss)


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (NeverZero, "must be 0"),
        (NotANumber, "NaN"),
        (NoNote, "no note"),
        (ByRowOrder, "row order|must be 0"),
        (Unbounded, "outside its bounds"),
        (NotJson, "JSON"),
        (ShortPerRecord, "per_record"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_a_broken_measure_is_refused(cls, says):
    with pytest.raises(AssertionError, match=says):
        check_measure(cls)


# ---- attacks ----------------------------------------------------------------------------------------------------------------------------


class HonestLinkage(LinkageAttack):
    """Link each known record to the released ones that equal it in every column; ties are shared."""

    name: ClassVar[str] = "honest-linkage"
    title: ClassVar[str] = "Honest linkage"

    def attack(self, original, release, knowledge, rng, progress=quiet):
        from shoal.errors import ParameterError

        columns = knowledge.known_columns()
        if not columns:
            raise ParameterError("The intruder knows no column.")
        rows = knowledge.known_rows(len(original), rng)
        before = list(zip(*(original.column(c).to_pylist() for c in columns)))
        after = list(zip(*(release.table.column(c).to_pylist() for c in columns)))
        share = np.array([self.share(before[row], after, release.source_row, row, rng) for row in rows])
        per_record = np.full(len(original), np.nan)
        per_record[rows] = share
        return self.closed(share, per_record, len(release))

    def share(self, record, after, source, row, rng) -> float:
        candidates = [i for i, other in enumerate(after) if other == record] or list(range(len(after)))
        return (row in source[candidates]) / len(candidates)

    def closed(self, share, per_record, released) -> AttackResult:
        hit = float(share.sum())
        strict = float((share == 1).sum())
        return AttackResult(
            self.name,
            self.title,
            len(share),
            hit,
            strict,
            1 / released,
            wilson(min(hit, len(share)), len(share)),
            "linkage",
            per_record=per_record,
        )


class FirstWins(HonestLinkage):
    """Ties go to the first row."""

    def share(self, record, after, source, row, rng):
        candidates = [i for i, other in enumerate(after) if other == record] or [0]
        return float(source[candidates[0]] == row)


class Blind(HonestLinkage):
    """Finds nothing."""

    def share(self, record, after, source, row, rng):
        return 0.0


class Cheat(HonestLinkage):
    """Reads the source rows."""

    def share(self, record, after, source, row, rng):
        candidates = [i for i, other in enumerate(after) if other == record]
        return 1 / len(candidates) if candidates else float(row in source)


class Boastful(HonestLinkage):
    """Counts more hits than it tried."""

    def closed(self, share, per_record, released):
        return replace(super().closed(share, per_record, released), hit=len(share) + 1.0)


class StrictAboveHit(HonestLinkage):
    """Strict hits above hits."""

    def closed(self, share, per_record, released):
        made = super().closed(share, per_record, released)
        return replace(made, strict_hit=made.hit + 1)


class WrongInterval(HonestLinkage):
    """An interval beside its rate."""

    def closed(self, share, per_record, released):
        return replace(super().closed(share, per_record, released), interval=(0.0, 0.0001))


class WrongChance(HonestLinkage):
    """Chance as a count."""

    def closed(self, share, per_record, released):
        return replace(super().closed(share, per_record, released), chance=24.0)


class IgnoresRecords(HonestLinkage):
    """Tries every record, whatever the intruder knows."""

    def attack(self, original, release, knowledge, rng, progress=quiet):
        return super().attack(original, release, replace(knowledge, records=None), rng)


class OwnDraws(HonestLinkage):
    """Chance that does not come from the generator."""

    def closed(self, share, per_record, released):
        return replace(super().closed(share, per_record, released), chance=float(np.random.default_rng().random()))


class WrongPerRecord(HonestLinkage):
    """Per-record shares that do not add up."""

    def closed(self, share, per_record, released):
        return super().closed(share, np.zeros(len(per_record)), released)


def test_an_honest_attack_passes():
    check_attack(HonestLinkage)


@pytest.mark.parametrize(
    ("cls", "says"),
    [
        (FirstWins, "1 / class size|ties share|strict|order of rows"),
        (Blind, "1 / class size"),
        (Cheat, "ties share|blind guessing"),
        (Boastful, "strict_hit <= hit"),
        (StrictAboveHit, "strict_hit <= hit"),
        (WrongInterval, "interval"),
        (WrongChance, "chance"),
        (IgnoresRecords, "5 are tried"),
        (OwnDraws, "same generator"),
        (WrongPerRecord, "per_record"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
def test_a_broken_attack_is_refused(cls, says):
    with pytest.raises(AssertionError, match=says):
        check_attack(cls)
