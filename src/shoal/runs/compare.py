"""Several ways to protect one table, side by side: risk against loss."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.contracts import Progress, quiet
from shoal.files import read_table
from shoal.randomness import new_secret
from shoal.registry import make
from shoal.report.table_pages import ComparisonRow
from shoal.runs.certify import summary
from shoal.runs.recipe import Recipe, apply_steps
from shoal.runs.run import MANY_RECORDS, attacked, measured
from shoal.score import Knowledge

_MEASURES = ("k-anonymity", "cell-loss", "il")


def compare(recipes: Sequence[tuple[str, Recipe]], seed: int | None = None, progress: Progress = quiet) -> list[ComparisonRow]:
    """Protect, measure and attack with each; nothing is written."""
    rows = []
    secret = new_secret() if seed is None else seed
    for done, (label, recipe) in enumerate(recipes):
        original = read_table(recipe.input, **recipe.reading)
        roles = recipe.roles.check(original)
        release = apply_steps(original, roles, recipe.steps, secret, progress)
        scores = measured(original, release, roles, [make("measure", name) for name in _MEASURES])
        records = MANY_RECORDS if len(original) > MANY_RECORDS else None
        found = summary(scores, attacked(original, release, Knowledge(roles, records=records), recipe.attacks, secret, progress))
        loss, risk, low, high, score = (_or_nan(found[key]) for key in ("loss", "risk", "risk_low", "risk_high", "score"))
        rows.append(ComparisonRow(label, loss, risk, low, high, int(scores[0].value or 0), score))
        progress("comparing", done + 1, len(recipes))
    return rows


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
