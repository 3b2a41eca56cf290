"""Learned record linkage: from known links, the distance that finds most, and which columns give records away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field, model_validator
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.forms import MOST_TOGETHER, Form, not_together, strongest
from shoal.attacks.learned_setting import Setting, nearest_shares, one_to_one_shares, setting_of
from shoal.attacks.matching import LinkageAttack, intruders_view
from shoal.attacks.telling_columns import leaks_of, parameters_of
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError, counted
from shoal.kernels.linkage import families
from shoal.kernels.linkage.assignment import EXACT
from shoal.kernels.linkage.closer import Distance
from shoal.kernels.linkage.families import Family, Known, Learned, LinkSpace
from shoal.release import Release
from shoal.score import AttackResult, Knowledge, LooksAmong, wilson
from shoal.table import Table

MOST_COUPLED = 8  # columns of a Choquet integral that is tried unasked: it has two weights for every two of them
MOST_TAUGHT = 1_000  # known links that families tried unasked are learned from; fewer where there are many columns
MOST_CELLS = 16_000
ALSO_TOGETHER = 5  # families that are linked one to one as well, those that find most record by record; of tables that take seconds, fewer
FEW_TOGETHER = 2
MOST_RIVALS = 5_000  # released rows of nobody known that the exact solver and HRLA look at; a bound from fewer is higher, and holds
MOST_CONTAINED = 500  # known links learned from where sets were released: each is held against every class
Named = Literal["weighted-mean", "owa", "bilinear", "choquet"]
NAMED: dict[str, Family] = {
    "weighted-mean": Family("weights", "each", 2),
    "owa": Family("ordered", "each", 2),
    "bilinear": Family("form", "each", 2),
    "choquet": Family("pairs", "each", 2),
}


class LearnedLinkage(LinkageAttack):
    """Link by the distance that known links show to find most (Abril, Navarro-Arribas & Torra 2012; Abril 2014).

    The owner knows every link and asks how bad it can get: every family of distances is tried, record by record and one to one, and the
    strongest counts. With `known`, an intruder knows some links, chooses the family by those he has not learned from, and looks for the rest.
    An aggregator of the thesis can be asked for instead. Whatever was learned, the rate is counted again by exact linking, ties shared.
    Blind guessing hits 1 in as many as there are released records.
    """

    name: ClassVar[str] = "learned-linkage"
    title: ClassVar[str] = "Learned record linkage"
    looks_among: ClassVar[LooksAmong] = "combinations"
    aggregator: Literal["best", "weighted-mean", "owa", "bilinear", "choquet"] = Field(
        "best",
        description="The distance to learn; best: of all families the strongest, or with known the one that finds most links not seen",
    )
    solver: Literal["fast", "exact", "hrla"] = Field(
        "fast",
        description="fast: smooth surrogate and polish; exact: proven optimum, or a bound; hrla: the thesis's heuristic, for choquet",
    )
    known: float | None = Field(
        None, gt=0, description="Links the intruder knows, a number or a share below 1. Absent: all, the worst case"
    )
    linking: Literal["automatic", "nearest", "one-to-one"] = Field(
        "automatic",
        description="nearest: each record by itself; one-to-one: all together, no released record twice; automatic: the stronger of both",
    )
    sample: int = Field(2000, ge=10, description="Most known links to learn from, drawn at random; linking is always on the whole")
    seconds: float = Field(60.0, ge=0, description="Time limit of the exact solver and of hrla; best found and bound are said")

    @model_validator(mode="after")
    def _fits(self) -> LearnedLinkage:
        if self.solver == "exact" and self.aggregator == "best":
            raise ValueError("solver=exact proves the optimum of one aggregator. Name it, such as aggregator=weighted-mean.")
        if self.solver == "hrla" and self.aggregator != "choquet":
            raise ValueError("solver=hrla learns a fuzzy measure. Use it with aggregator=choquet.")
        return self

    def applies(self, original: Table, release: Release, knowledge: Knowledge) -> str:
        """An optimum is proven against rows, one by one."""
        if release.rows is not None and self.solver != "fast":
            return f"solver={self.solver} learns against single rows, and these do not fit into memory. Use solver=fast."
        return super().applies(original, release, knowledge)

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Learn from the known links, link all others or, where all are known, all."""
        view = intruders_view(original, release, knowledge, rng)
        setting = setting_of(original, release, view, rng)
        self._takes(setting)
        train, test = self._sides(setting.true, rng)
        most = min(self.sample, MOST_CONTAINED) if setting.sets else self.sample
        some = train if len(train) <= most else np.sort(rng.choice(train, most, replace=False))
        owner = self.known is None
        with threadpool_limits(1):  # its problems are small: threads would wait for each other
            lesson = self._learned(setting, some, owner, rng, progress)
        why = not_together(view, release)
        if why and self.linking == "one-to-one":
            raise ParameterError(f"{self.name}: {why}, so records are not linked one to one. Use linking=nearest.")
        forms = self._forms(setting, lesson, test, train, bool(why), rng, progress)
        not_tried = [*lesson.not_tried, *([f"one-to-one linking, since {why}"] if why and self.linking == "automatic" else [])]
        notes, details = [lesson.note], dict(lesson.details)
        if len(some) < len(train):
            notes.append(f"Learned from {len(some):,} of {counted(len(train), 'known link')}, drawn at random.")
        if not owner:
            on_train, share = nearest_shares(setting, lesson.learned, train), max((form.share for form in forms), key=np.sum)
            details["train"], details["test"] = _side(on_train), _side(share)
            notes.append(f"On the {len(train):,} known links it finds {on_train.mean():.1%}, on the others {share.mean():.1%}.")
        leaks = leaks_of(lesson.learned, setting.spaces, setting.names, test, setting.true, rng)
        found = strongest(
            self, view._replace(rows=view.rows[test]), forms, 1 / release.total, len(original), " ".join(note for note in notes if note),
            not_tried, solver=self.solver, aggregator=self.aggregator, linking=self.linking, known_links=len(train), learned_from=len(some),
            **details,
        )  # fmt: skip
        internal: dict[str, Any] = {**parameters_of(lesson.learned, setting.names), **leaks.plain(), "constant": setting.constant}
        return replace(found, internal=internal)

    def _takes(self, setting: Setting) -> None:
        """Sets and intervals are compared at their expected place, which is for sums of squares and for one record at a time."""
        if setting.sets and (self.aggregator in ("owa", "choquet") or self.solver != "fast" or self.linking == "one-to-one"):
            raise ParameterError(
                f"{self.name}: '{setting.sets[0]}' was released as sets or intervals. Use solver=fast with aggregator=best, weighted-mean or "
                "bilinear, and linking=nearest."
            )

    def _sides(self, true: IntArray, rng: Generator) -> tuple[IntArray, IntArray]:
        """Which of the intruder's records are known links to learn from, and which are looked for."""
        there = np.flatnonzero(true >= 0)
        if not len(there):
            raise DataError("None of the records the intruder knows was released, so there is no link to learn from. Give more records.")
        everyone = np.arange(len(true))
        if self.known is None:
            return there, everyone
        count = round(self.known * len(there)) if self.known < 1 else int(self.known)
        if count < 2:
            raise ParameterError(f"{self.name}: known={self.known:g} is {counted(count, 'link')} here. Learning needs two at least.")
        if count >= len(there):
            raise ParameterError(
                f"{self.name}: known={self.known:g} leaves nobody to find among {counted(len(there), 'record')}. Give fewer, or leave known out."
            )
        train = np.sort(rng.choice(there, count, replace=False))
        return train, np.setdiff1d(everyone, train)

    def _learned(self, setting: Setting, rows: IntArray, owner: bool, rng: Generator, progress: Progress) -> _Lesson:
        if self.solver == "exact":
            return self._exact(setting, rows, rng, progress)
        if self.solver == "hrla":
            return self._hrla(setting, rows, rng, progress)
        spaces, true = setting.spaces, setting.true
        bare = Known(rows, true[rows], np.full((len(rows), 1), -1), np.ones(len(rows)), np.ones((len(rows), 1)))
        begun = [families.learn(family, spaces, bare) for family in (*families.PLAIN[:3], families.PLAIN[4], families.PLAIN[6])]
        known = families.known_links(spaces, rows, true[rows], begun)
        if self.aggregator != "best":
            family = NAMED[self.aggregator]
            return _Lesson(self._named(family, setting, known, owner), f"Linked by {_words(family)}.", {})
        if len(rows) < families.FEWEST:
            sentence = f"Fewer than {families.FEWEST} known links: nothing was learned, columns weigh the same."
            return _Lesson(begun[0], sentence, {"family": _words(families.MEAN)})
        plain = families.SQUARES if setting.sets else families.PLAIN
        choice = families.choose(spaces, known, plain, rng, lambda done, of: progress("comparing distances", done, of))
        learned = families.learn(choice.chosen, spaces, known)
        if owner and choice.chosen not in families.PLAIN[:2]:
            learned = self._polished(learned, setting, families.known_links(spaces, rows, true[rows], [learned], known))
        others = self._others(setting, known, choice.rates, choice.chosen, rng) if owner else []
        not_tried = _families_not_tried(setting) if owner else []
        if setting.sets and nearest_shares(setting, learned, rows).sum() <= nearest_shares(setting, begun[0], rows).sum():
            note, others = (
                f"Linked by {_words(families.MEAN)}: nothing learned finds more.",
                [o for o in others if o.family != families.MEAN],
            )
            return _Lesson(begun[0], note, {"family": _words(families.MEAN)}, others, not_tried)
        rate, equal = choice.rates[choice.chosen], choice.rates[families.MEAN]
        sentence = f"Linked by {_words(choice.chosen)}; on links it had not seen it found {rate:.1%}"
        sentence += (
            ", and no other family clearly more." if choice.chosen == families.MEAN else f", where plain distance found {equal:.1%}."
        )
        details = {"family": _words(choice.chosen), "cross_validated_rate": rate, "cross_validated_plain_rate": equal}
        return _Lesson(learned, sentence, details, others, not_tried)

    def _named(self, family: Family, setting: Setting, known: Known, owner: bool) -> Learned:
        """An aggregator of the thesis: learned, learned again against the rivals that this leaves, and for the owner polished."""
        pull = families.PULL / (50 if owner else 1)
        learned = families.learn(family, setting.spaces, known, pull)
        known = families.known_links(setting.spaces, known.rows, known.true, [learned], known)
        learned = families.learn(family, setting.spaces, known, pull)
        return self._polished(learned, setting, known) if owner else learned

    def _polished(self, learned: Learned, setting: Setting, known: Known) -> Learned:
        """Polished on the count itself, if the whole release agrees that it finds more."""
        better = families.polished(learned, setting.spaces, known)
        before, after = (nearest_shares(setting, one, known.rows).sum() for one in (learned, better))
        return better if after > before else learned

    def _exact(self, setting: Setting, rows: IntArray, rng: Generator, progress: Progress) -> _Lesson:
        from shoal.kernels.linkage.aggregation import OWA, Bilinear, WeightedMean
        from shoal.kernels.linkage.benders import solve

        assert self.aggregator != "best"
        family = NAMED[self.aggregator]
        space = setting.spaces[family.scaling]
        many = [
            name
            for j, name in enumerate(setting.names)
            if (space.attribute == j).sum() != 1 or (space.attribute[space.numeric :] == j).any()
        ]
        if many:
            raise ParameterError(
                f"{self.name}: solver=exact compares numbers, and '{many[0]}' holds categories or missing values. "
                "Use solver=fast, or name the columns the intruder knows without it."
            )
        if self.aggregator == "choquet":
            self._few_attributes(setting)
        start = self.model_copy(update={"solver": "fast"})._learned(setting, rows, True, rng, quiet).learned
        true = setting.true
        others = _rivals(true, rows, len(space.released), rng)
        protected = space.released[np.concatenate([true[rows], others])]
        found = solve(space.known[rows], protected, self.aggregator, self.seconds, start=_as_aggregator(start, self.aggregator))
        best = found.aggregator
        numeric, attribute = space.numeric, space.attribute
        if isinstance(best, Bilinear):
            values, axes = np.linalg.eigh(best.matrix)
            matrix = axes * np.sqrt(np.maximum(values, 0))
            learned = Learned(family, Distance("weighted", np.ones(numeric), 2, np.arange(numeric), numeric), matrix)
        elif isinstance(best, WeightedMean | OWA):
            kind: Literal["weighted", "ordered"] = "weighted" if isinstance(best, WeightedMean) else "ordered"
            learned = Learned(family, Distance(kind, np.array(best.weights), 2, attribute, numeric))
        else:
            learned = Learned(family, Distance("choquet", np.array(best.measure), 2, attribute, numeric))
        k, linked = len(rows), int((nearest_shares(setting, learned, rows) == 1).sum())
        gap = found.bound - linked
        verdict = (
            f"No {self.aggregator} links more than {linked:,} of these {k:,} without a tie: proven."
            if not gap
            else f"Best found links {linked:,} of {k:,} without a tie; at most {found.bound:,} can be: a gap of {gap:,} after {found.seconds:.0f} s."
        )
        details = {
            "best_found": linked, "bound": found.bound, "gap": gap, "proven": not gap, "seconds": found.seconds, "cuts": len(found.cuts),
            "optimum_interval": [wilson(linked, k)[0], wilson(found.bound, k)[1]],
        }  # fmt: skip
        return _Lesson(learned, verdict + _thinned(others, rows, space), details)

    def _hrla(self, setting: Setting, rows: IntArray, rng: Generator, progress: Progress) -> _Lesson:
        from shoal.kernels.linkage.hrla import hrla

        self._few_attributes(setting)
        space = setting.spaces["each"]
        true = setting.true
        others = _rivals(true, rows, len(space.released), rng)
        protected = space.released[np.concatenate([true[rows], others])]
        found = hrla(
            space.known[rows], protected, np.arange(len(rows)), space.attribute, space.numeric, rng, self.seconds,
            lambda done, of: progress("learning a fuzzy measure", done, of),
        )  # fmt: skip
        learned = Learned(NAMED["choquet"], Distance("choquet", found.measure, 2, space.attribute, space.numeric))
        sentence = f"HRLA links {found.linked:,} of {len(rows):,} without a tie after {counted(found.passes, 'pass', 'passes')}; no bound is known."
        return _Lesson(learned, sentence + _thinned(others, rows, space), {"best_found": found.linked, "passes": found.passes})

    def _few_attributes(self, setting: Setting) -> None:
        if len(setting.names) > 12:
            raise ParameterError(
                f"{self.name}: a fuzzy measure of {len(setting.names)} columns has 2^{len(setting.names)} weights; 12 columns are the most. "
                "Use solver=fast, which learns a 2-additive one, or name fewer columns."
            )

    def _others(self, setting: Setting, known: Known, tried: Iterable[Family], chosen: Family, rng: Generator) -> list[Learned]:
        """The other families, learned from the same links; of a large table the one that finds most of these."""
        columns, sets, few, named = len(setting.names), bool(setting.sets), len(setting.true) <= MOST_TOGETHER, NAMED.values()
        if sets and not few:
            return []
        wanted = [family for family in dict.fromkeys((*tried, *named)) if family != chosen]
        if sets:
            wanted = [family for family in wanted if family.how not in ("ordered", "pairs")]
        if columns > MOST_COUPLED:
            wanted = [family for family in wanted if family.how != "pairs"]
        if setting.spaces["each"].numeric > families.MOST_MAPPED:
            wanted = [family for family in wanted if family.how != "form"]
        most = min(MOST_TAUGHT, max(families.FEWEST, MOST_CELLS // columns))
        taught = known if len(known.rows) <= most else known.of(np.sort(rng.choice(len(known.rows), most, replace=False)))
        found = [
            self._named(family, setting, taught, True)
            if family in named and few and not sets
            else families.learn(family, setting.spaces, taught)
            for family in wanted
        ]
        if few:
            return found
        return [max(found, key=lambda one: families.evaluated(one, setting.spaces, known)[0].sum())]

    def _forms(
        self, setting: Setting, lesson: _Lesson, test: IntArray, train: IntArray, alone: bool, rng: Generator, progress: Progress
    ) -> list[Form]:
        """Every family record by record; those that find most one to one as well."""
        near = [
            (_words(one.family), one, nearest_shares(setting, one, test, progress if i == 0 else quiet))
            for i, one in enumerate((lesson.learned, *lesson.others))
        ]
        forms = [Form(how, share) for how, _, share in near] if self.linking != "one-to-one" else []
        if self.linking != "nearest" and not alone:
            taken = train if self.known is not None else test[:0]
            near.sort(key=lambda one: -float(one[2].sum()))
            for how, one, _ in near[: ALSO_TOGETHER if len(test) * len(setting.spaces["each"].released) <= EXACT else FEW_TOGETHER]:
                forms.append(Form(f"{how}, one-to-one", one_to_one_shares(setting, one, test, taken, rng)))
        return forms


class _Lesson(NamedTuple):
    learned: Learned
    note: str
    details: dict[str, Any]
    others: Sequence[Learned] = ()  # families that the owner tries as well
    not_tried: Sequence[str] = ()


def _families_not_tried(setting: Setting) -> list[str]:
    found = []
    if len(setting.true) > MOST_TOGETHER:
        found.append(f"most families on all records, since {len(setting.true):,} are more than {MOST_TOGETHER:,}")
    if len(setting.names) > MOST_COUPLED and not setting.sets:
        found.append(f"a Choquet integral, since {len(setting.names)} columns are more than {MOST_COUPLED}")
    return found


def _rivals(true: IntArray, rows: IntArray, released: int, rng: Generator) -> IntArray:
    others = np.setdiff1d(np.arange(released), true[rows])
    return others if len(others) <= MOST_RIVALS else np.sort(rng.choice(others, MOST_RIVALS, replace=False))


def _thinned(others: IntArray, rows: IntArray, space: LinkSpace) -> str:
    held = len(others) + len(rows)
    return f" Learned against {held:,} released rows, linked against all." if held < len(space.released) else ""


def _as_aggregator(learned: Learned, wanted: Named) -> Any:
    """What the fast solver found, for the exact one to begin with."""
    from shoal.kernels.linkage.aggregation import OWA, Bilinear, Choquet, WeightedMean
    from shoal.kernels.linkage.fuzzy_measures import zeta

    by = learned.by
    if wanted == "bilinear":
        assert learned.matrix is not None
        form = learned.matrix @ learned.matrix.T
        return Bilinear((form + form.T) / 2).scaled()
    if wanted == "choquet":
        from shoal.attacks.telling_columns import mobius_of_pairs

        measure = np.maximum(zeta(mobius_of_pairs(by.weights, by.attributes)), 0)
        measure[0] = 0.0
        return Choquet(_monotone(measure / measure[-1]))
    return (WeightedMean if wanted == "weighted-mean" else OWA)(by.weights / by.weights.sum())


def _monotone(measure: FloatArray) -> FloatArray:
    """Rounding may leave a set a hair below a subset."""
    n = len(measure).bit_length() - 1
    for i in range(n):
        halves = measure.reshape(-1, 2, 1 << i)
        halves[:, 1] = np.maximum(halves[:, 1], halves[:, 0])
    return np.asarray(np.minimum(measure, measure[-1]))


def _side(share: FloatArray) -> dict[str, Any]:
    hit, strict = float(share.sum()), float((share == 1).sum())
    return {"tried": len(share), "hit": hit, "strict_hit": strict, "rate": hit / len(share), "interval": list(wilson(hit, len(share)))}


def _words(family: Family) -> str:
    where = {"each": "deviations", "original": "deviations of the original", "rank": "ranks"}[family.scaling]
    power = {1: "differences", 2: "squared differences"}.get(family.power, f"differences to the power {family.power}")
    what = {
        "equal": "the arithmetic mean of",
        "spread": "weights from how far known links differ, over",
        "mahalanobis": "the Mahalanobis distance of known links, over",
        "weights": "a learned weighted mean of",
        "ordered": "a learned OWA of",
        "pairs": "a learned Choquet integral of",
        "form": "a learned bilinear form of",
    }[family.how]
    return f"{what} {'differences' if family.how in ('mahalanobis', 'form') else power} in {where}"
