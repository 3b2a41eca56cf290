"""The patterns of a release, as rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.cli import show
from shoal.cli.verbs import names
from shoal.errors import ParameterError
from shoal.files import read_table
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.patterns import Pattern, Patterns, patterns_of
from shoal.runs.run import load_run

SHOWN = 20  # patterns, where nothing is said
CLASSES = 3  # of a column, in the table


def patterns(
    what: Path,
    sort: str,
    top: int | None,
    bottom: int | None,
    quasi: list[str] | None,
    confidential: list[str] | None,
    target: str | None,
    json: bool,
) -> None:
    """A table, or JSON."""
    if top and bottom:
        raise ParameterError("Give --top or --bottom, not both.")
    found = _of_run(what, quasi, confidential, target) if what.is_dir() else _of_file(what, names(quasi), names(confidential), target)
    ordered = found.by(sort)  # type: ignore[arg-type]
    chosen = ordered[::-1][:bottom] if bottom else ordered[: top or (None if json else SHOWN)]
    if json:
        show.data({**_about(found), "sorted_by": sort, "patterns": [_plain(one) for one in chosen]})
        return
    _table(found, chosen, f"{'last' if bottom else 'first'} by {sort}")


def _of_run(folder: Path, quasi: list[str] | None, confidential: list[str] | None, target: str | None) -> Patterns:
    if quasi or confidential:
        raise ParameterError("A run folder says which columns are what; --quasi and --confidential are for a released file.")
    run = load_run(folder)
    release = run.release if target is None else replace(run.release, roles=replace(run.roles, target=target).check(run.original))
    with show.progress():
        return patterns_of(release, run.original)


def _of_file(file: Path, quasi: tuple[str, ...], confidential: tuple[str, ...], target: str | None) -> Patterns:
    """From the release alone: what its cells say, and nothing about the original."""
    table = read_table(file)
    if not quasi:
        raise ParameterError(
            "A released file does not say which columns are quasi-identifiers. Name them with --quasi, or name a run folder."
        )
    roles = Roles(quasi=quasi, confidential=confidential, target=target)
    for column in (*roles.named, *((target,) if target else ())):
        table.column(column)  # says so where there is none
    with show.progress():
        return patterns_of(Release.given(table, np.arange(len(table)), roles))


def _about(found: Patterns) -> dict[str, Any]:
    told = None if found.satisfied is None else dict(zip(("0", "1", "2", "3+"), found.satisfied))
    return {"number": len(found.found), "records_by_patterns": told, "smallest_set": found.smallest_set, "note": found.note}


def _plain(one: Pattern) -> dict[str, Any]:
    classes = {column: [{"value": v, "records": n} for v, n in counts.items()] for column, counts in one.classes.items()}
    return {
        "rule": one.rule,
        "cells": {**one.cells, **one.names},
        "length": one.length,
        "support": one.support,
        "coverage": one.coverage,
        "purity": one.purity,
        "classes": classes,
    }


def _table(found: Patterns, chosen: list[Pattern], which: str) -> None:
    covered = found.satisfied is not None
    about = list(found.found[0].classes)
    show.table(
        f"{len(chosen):,} of {len(found.found):,} patterns, {which}",
        ["support", *(["covers"] if covered else []), *about, "pattern"],
        [
            (
                f"{one.support:,}",
                *([f"{one.coverage:,}"] if covered else []),
                *(_shares(one.classes[column]) for column in about),
                one.rule,
            )
            for one in chosen
        ],
    )
    if found.satisfied is not None:
        none, single, two, more = (f"{n:,}" for n in found.satisfied)
        show.say(
            f"By quasi-identifiers alone, of the original's records {none} satisfy no pattern, {single} one, {two} two and {more} three or more."
        )
    if found.smallest_set is not None:
        show.say(f"A record that satisfies a pattern is hidden among at least {found.smallest_set:,} released ones.")
    if found.note:
        show.say(found.note)


def _shares(counts: Mapping[str | None, int]) -> str:
    """<=50K 80 %, >50K 20 %."""
    whole = sum(counts.values())
    shares = [f"{'missing' if value is None else value} {n / whole:.0%}".replace("%", " %") for value, n in list(counts.items())[:CLASSES]]
    return ", ".join([*shares, *([f"{len(counts) - CLASSES:,} more"] if len(counts) > CLASSES else [])])
