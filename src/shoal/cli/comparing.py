"""Several ways side by side: from words to recipes, and a table and a map back."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from shoal.certificate import plain
from shoal.cli import show
from shoal.cli.verbs import names, parameters
from shoal.errors import OutputError, ParameterError
from shoal.folders import write_text
from shoal.roles import Roles
from shoal.runs.compare import recipes_of
from shoal.runs.recipe import Recipe


def recipes(what: list[Path], methods: list[str] | None, given: Roles, parameter: list[str] | None) -> list[tuple[str, Recipe]]:
    """Recipes named as files, or one table with every combination of the values given."""
    if all(path.suffix == ".toml" for path in what):
        if methods or parameter:
            raise ParameterError("Give recipes, or one table with --method and -p, not both.")
        labels = [path.stem for path in what]
        return [(str(path) if labels.count(label) > 1 else label, Recipe.read(path)) for label, path in zip(labels, what)]
    if len(what) != 1 or not methods:
        raise ParameterError("Compare recipes (files ending in .toml), or one table with --method and several values such as -p k=3,5,10.")
    return recipes_of(what[0], names(methods), given, parameters(parameter))


def compare(chosen: list[tuple[str, Recipe]], out: Path | None, seed: int | None, json: bool) -> None:
    """A table, and the map if a file is named for it."""
    from shoal.report.comparison import comparison_report, made_of, ranked, verdict
    from shoal.runs.compare import compare as compare_all

    if out and out.exists():
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    with show.progress() as progress:
        rows = compare_all(chosen, seed, progress)
    if out:
        write_text(out, comparison_report(rows))
    unit = " or ".join(sorted({"persons" if recipe.roles.person else "rows" for _, recipe in chosen}))
    if json:
        show.data([plain({**asdict(row), "score": row.score, "score_interval": row.score_interval}) for row in rows])
    else:
        show.table(
            "Risk against loss (lower left is better)",
            ["run", "loss", "risk", "95 % interval", "score", "95 % interval", f"smallest class, {unit}", "highest linkage"],
            [
                (
                    r.label,
                    _or_na(r.loss),
                    _percent(r.risk),
                    f"{_percent(r.risk_low)} to {_percent(r.risk_high)}",
                    _or_na(r.score),
                    " to ".join(map(_or_na, r.score_interval)),
                    f"{r.k:,}",
                    f"{_percent(r.worst)} {r.worst_attack}".strip(),
                )
                for r in ranked(rows)
            ],
        )
        show.say(made_of(rows))
        show.say(verdict(rows))
    show.say(f"The map is in {out}." if out else "Add -o map.html to see them as a picture.")


def _or_na(value: float) -> str:
    return "n/a" if np.isnan(value) else show.number(value)


def _percent(value: float) -> str:
    return "n/a" if np.isnan(value) else f"{value:.1%}"
