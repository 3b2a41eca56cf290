"""Probabilistic record linkage: the intruder weighs which columns agree."""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from pydantic import Field

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.forms import Form, strongest, too_many_together
from shoal.attacks.matching import IntruderView, LinkageAttack, intruders_view
from shoal.contracts import Progress, quiet
from shoal.errors import ParameterError
from shoal.kernels.linkage.agreement import linked_by_weight, one_to_one, pattern_counts
from shoal.kernels.linkage.assignment import shared_hits
from shoal.kernels.linkage.match_mixture import expectation_maximization, weights
from shoal.release import Release
from shoal.score import AttackResult, Knowledge, LooksAmong
from shoal.table import Table

MOST_COLUMNS = 16  # 2^16 agreement patterns
MOST_PAIRS = 200_000_000  # beyond these, parameters are estimated from some of the intruder's records against the whole release


class ProbabilisticLinkage(LinkageAttack):
    """Link records by how likely their agreements are among true matches (Fellegi & Sunter 1969; parameters by EM, Jaro 1989).

    Two numbers agree when they differ by at most a tolerance, two categories when they are equal, and missing agrees with missing. Whole files
    are matched one to one by the assignment of largest total weight, or each record by itself to its heaviest; by default both are tried, and
    the stronger counts. Ties are shared. Blind guessing hits 1 in as many as there are released records.
    """

    name: ClassVar[str] = "probabilistic-linkage"
    title: ClassVar[str] = "Probabilistic record linkage"
    looks_among: ClassVar[LooksAmong] = "combinations"
    tolerance: float = Field(0.1, ge=0, description="Numbers agree within this many standard deviations of the original")
    share: Literal["known", "estimated"] = Field(
        "known", description="Share of pairs that match: known, one released record for each of the intruder's; or estimated by EM"
    )
    assignment: Literal["automatic", "one-to-one", "best"] = Field(
        "automatic",
        description="one-to-one: linear sum assignment over both files; best: each record by itself; automatic: the stronger of both",
    )

    def attack(self, original: Table, release: Release, knowledge: Knowledge, rng: Generator, progress: Progress = quiet) -> AttackResult:
        """Estimate, weigh, link."""
        view = intruders_view(original, release, knowledge, rng)
        sides = _sides(view, self.tolerance)
        progress("weighing agreements", 0, 1)
        sample = _sample(len(sides.known), len(sides.released), rng)
        counts = pattern_counts(sides.known[sample], sides.released, sides.tolerance, view.stands_for)
        among = release.total if view.stands_for is None else int(view.stands_for.sum())
        model = expectation_maximization(counts, len(sides.tolerance), 1 / among, hold_share=self.share == "known")
        agree, disagree = weights(model.m, model.u)
        why = too_many_together(view, release)
        if self.assignment == "one-to-one" and why:
            raise ParameterError(
                f"{self.name}: {why}, so they are not assigned one to one. Use assignment=best, or let the intruder know fewer."
            )
        forms = []
        if self.assignment != "best" and not why:
            forms.append(Form("one-to-one", _assigned(sides, view.true_row, agree, disagree, rng)))
        if self.assignment != "one-to-one":
            forms.append(Form("each record by itself", _heaviest(sides, view, agree, disagree, progress)))
        progress("weighing agreements", 1, 1)
        return strongest(
            self,
            view,
            forms,
            1 / release.total,
            len(original),
            sides.note,
            [f"one-to-one linking, since {why}"] if why and self.assignment == "automatic" else [],
            agreement_among_matches=dict(zip(sides.columns, model.m.tolist())),
            agreement_among_others=dict(zip(sides.columns, model.u.tolist())),
        )


class _Sides(NamedTuple):
    """Both files as plain numbers: categories are codes that agree within 0, missing is a value out of everyone's reach."""

    known: FloatArray
    released: FloatArray
    tolerance: FloatArray
    columns: tuple[str, ...]
    note: str


def _sides(view: IntruderView, tolerance: float) -> _Sides:
    known, released, tolerances, distinct = [], [], [], []
    for j in range(view.known.shape[1]):
        x, y = view.known[:, j], view.released[:, j]
        values = np.concatenate([x, y])
        seen = values[~np.isnan(values)]
        deviation = np.nanstd(x, ddof=1) if (~np.isnan(x)).sum() > 1 else 0.0
        away = (seen.max() + 2 * (seen.max() - seen.min()) + tolerance * deviation + 1) if len(seen) else 0.0
        known.append(np.where(np.isnan(x), away, x))
        released.append(np.where(np.isnan(y), away, y))
        tolerances.append(tolerance * deviation)
        distinct.append(len(np.unique(y)))
    for j in range(view.known_nominal.shape[1]):
        known.append(view.known_nominal[:, j].astype(np.float64))
        released.append(view.released_nominal[:, j].astype(np.float64))
        tolerances.append(0.0)
        distinct.append(len(np.unique(view.released_nominal[:, j])))
    kept = sorted(np.argsort([-d for d in distinct], kind="stable")[:MOST_COLUMNS].tolist())
    note = f"Linked on the {MOST_COLUMNS} columns with most values of {len(distinct)}." if len(kept) < len(distinct) else ""
    return _Sides(
        np.column_stack([known[j] for j in kept]),
        np.column_stack([released[j] for j in kept]),
        np.array([tolerances[j] for j in kept]),
        tuple(view.columns[j] for j in kept),
        note,
    )


def _sample(known: int, released: int, rng: Generator) -> IntArray:
    """All of the intruder's records, or as many as give the most pairs that are counted; each is held against the whole release."""
    most = max(1, MOST_PAIRS // released)
    return np.arange(known) if known <= most else np.sort(rng.choice(known, most, replace=False))


def _heaviest(sides: _Sides, view: IntruderView, agree: FloatArray, disagree: FloatArray, progress: Progress) -> FloatArray:
    """Each record linked to the released one of most weight, ties shared."""
    true_row = view.true_row
    share, there = np.zeros(len(true_row)), true_row >= 0
    if there.any():
        found = linked_by_weight(
            sides.known[there],
            sides.released,
            true_row[there],
            sides.tolerance,
            agree,
            disagree,
            progress=lambda done, of: progress("linking by likelihood", done, of),
            stands_for=view.stands_for,
        )
        share[there] = np.where(found.higher_exists, 0.0, 1 / np.maximum(found.ties, 1))
    return share


def _assigned(sides: _Sides, true_row: IntArray, agree: FloatArray, disagree: FloatArray, rng: Generator) -> FloatArray:
    """One-to-one links. Both files are shuffled so that row order wins no tie, and records that are released identically share the hit."""
    rows, columns = rng.permutation(len(sides.known)), rng.permutation(len(sides.released))
    assigned = one_to_one(sides.known[rows], sides.released[columns], sides.tolerance, agree, disagree)
    linked = np.full(len(rows), -1)
    linked[rows] = np.where(assigned >= 0, columns[assigned], -1)
    return shared_hits(linked, true_row, sides.released)
