"""Forms of one attack: by another scale, by another family of distances, one to one. An intruder tries them all, so the strongest counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.attacks.matching import IntruderView, result
from shoal.contracts import Attack
from shoal.kernels.linkage.assignment import assigned, shared_hits
from shoal.kernels.linkage.closer import Distance
from shoal.release import Release
from shoal.score import AttackResult

MOST_TOGETHER = 5_000  # records that are linked one to one


class Form(NamedTuple):
    """One way to link, in words, and the share of a hit of each record looked for."""

    how: str
    share: FloatArray


def too_many_together(view: IntruderView, release: Release) -> str:
    """Why records are not linked one to one; empty where they are."""
    if view.stands_for is not None:
        return "the released rows do not fit into memory"
    if view.persons is not None:
        return "persons have several rows that differ"
    most = max(len(view.rows), len(release))
    return f"{most:,} records are more than {MOST_TOGETHER:,}" if most > MOST_TOGETHER else ""


def not_together(view: IntruderView, release: Release) -> str:
    """The same where distances are compared: those to sets and intervals are for one record at a time."""
    return f"'{view.sets[0]}' was released as sets or intervals" if view.sets else too_many_together(view, release)


def together(protected: FloatArray, queries: FloatArray, true: IntArray, by: Distance, rng: Generator) -> FloatArray:
    """Each record's share of a hit when all are linked at once, no released record twice."""
    return shared_hits(assigned(protected, queries, by, rng), true, protected)


def strongest(
    attack: Attack,
    view: IntruderView,
    forms: Sequence[Form],
    chance: float,
    original_rows: int,
    note: str = "",
    not_tried: Sequence[str] = (),
    **details: object,
) -> AttackResult:
    """The result of the form that finds most, with the rates of all and what was not tried; a form not tried is never a low risk."""
    counted = [
        replace(one, details={"how": form.how}) for form in forms for one in [result(attack, view, form.share, chance, original_rows)]
    ]
    best = max(range(len(forms)), key=lambda i: (counted[i].rate, -i))
    if len(forms) > 1:
        note = f"{note} Strongest of {len(forms)} forms tried: {forms[best].how}.".strip()
    note = " ".join([note, *(f"Not tried: {what}." for what in not_tried)]).strip()
    rates = [{"how": one.how, "rate": one.rate} for one in counted]
    more = {"how": forms[best].how, "forms": rates, "not_tried": list(not_tried)}
    found = result(attack, view, forms[best].share, chance, original_rows, note, **details, **more)
    return replace(found, forms=tuple(counted))
