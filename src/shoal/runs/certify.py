"""The certificate: what was promised, what was found, in JSON. It holds no original value, no seed, no source row."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.checks.tables import Found, sha256_of
from shoal.errors import counted, number
from shoal.release import Release
from shoal.roles import Roles
from shoal.score import AttackResult, Score, disclosure_risk, overall_score
from shoal.table import Table

LINKAGE_LIMIT = 0.2  # beyond this share of records linked, the certificate warns


def certificate(
    original: Table,
    release: Release,
    roles: Roles,
    file: Path,
    found: Sequence[Found],
    scores: Sequence[Score],
    attacks: Sequence[AttackResult],
    roleless: Sequence[str] = (),
) -> dict[str, Any]:
    """Everything that may be published about a release."""
    return {
        "shoal": shoal.__version__,
        "format": 1,
        "created": datetime.date.today().isoformat(),
        "release": {
            "file": file.name,
            "sha256": sha256_of(file),
            "rows": len(release),
            "columns": list(release.table.columns),
            "delimiter": release.table.format.delimiter,
            "cells": [column for column in release.table.columns if column in release.table.cells],
        },
        "roles": {role: list(getattr(roles, role)) for role in ("quasi", "confidential", "weight", "household", "other")}
        | {"identifiers_removed": len(roles.identifier), "target": roles.target, "hierarchies": sorted(roles.hierarchies)},
        "steps": [
            {
                "method": step.method,
                "parameters": dict(step.parameters),
                "columns": list(step.columns),
                "guarantees": list(step.guarantees),
                "summary": step.summary,
            }
            for step in release.made_by
        ],
        "promises": [
            {
                "what": promise.what,
                "value": promise.value,
                "columns": list(promise.columns),
                "about": promise.about,
                "found": plain(one.found),
                "holds": one.holds,
            }
            for promise, one in zip(release.promises, found)
        ],
        "measures": [plain(score.public()) for score in scores],
        "attacks": [plain(result.public()) for result in attacks],
        "summary": summary(scores, attacks),
        "warnings": warnings(original, release, roles, scores, attacks, roleless),
        "versions": {"shoal": shoal.__version__, "python": platform.python_version()} | _versions("numpy", "pyarrow", "numba", "scipy"),
    }


def summary(scores: Sequence[Score], attacks: Sequence[AttackResult]) -> dict[str, Any]:
    """One loss, one risk, and the thesis's DR and Score where they can be had (all as shares of 1)."""
    by_name = {score.name: score.value for score in scores}
    rates = {result.name: result.rate for result in attacks}
    linkage = max((result for result in attacks if "linkage" in result.name), key=lambda result: result.rate, default=None)
    risk = None
    if {"distance-linkage", "probabilistic-linkage", "interval-disclosure"} <= rates.keys():
        risk = disclosure_risk(rates["distance-linkage"], rates["probabilistic-linkage"], rates["interval-disclosure"])
    loss, published = by_name.get("cell-loss"), by_name.get("il")
    return {
        "loss": loss,
        "loss_measure": "cell-loss" if loss is not None else None,
        "risk": linkage.rate if linkage else None,
        "risk_low": linkage.interval[0] if linkage else None,
        "risk_high": linkage.interval[1] if linkage else None,
        "risk_attack": linkage.name if linkage else None,
        "disclosure_risk": risk,
        "information_loss": published / 100 if published is not None else None,
        "score": overall_score(published / 100, risk) if published is not None and risk is not None else None,
    }


def warnings(
    original: Table, release: Release, roles: Roles, scores: Sequence[Score], attacks: Sequence[AttackResult], roleless: Sequence[str] = ()
) -> list[str]:
    """What a careful colleague would say before this release leaves, in plain words."""
    said = list(release.warnings)
    by_name = {score.name: score for score in scores}
    classes = by_name.get("k-anonymity")
    smallest = classes.value if classes else None
    unique = (
        f"{number(classes.details['uniques'])} of {number(len(release))} records are unique" if classes and smallest is not None else ""
    )
    whole = any(set(roles.quasi) <= set(p.columns) and p.what == "k-anonymity" for p in release.promises)
    for step in release.made_by:
        on = [column for column in step.columns if column in roles.quasi]
        if whole or not on:
            continue
        if step.promises and not set(step.promises) & set(release.promises):
            said.append(f"{step.method} promises nothing any more: a later step changed its columns again.")
            continue
        if "k-anonymity" not in step.guarantees:
            said.append(f"{step.method} does not give k-anonymity{'; ' + unique if unique else ''}.")
        elif len(on) < len(roles.quasi):
            said.append(
                f"{step.method} was applied to {len(on)} of {counted(len(roles.quasi), 'quasi-identifier')}, so its groups hold on "
                f"those columns only; over all of them the smallest class is {number(int(smallest)) if smallest is not None else 'not known'}."
            )
    touched = {column for step in release.made_by for column in step.columns}
    for column in roles.quasi:
        if column not in touched and release.made_by:
            said.append(f"The quasi-identifier '{column}' was not protected by any step; it is released as it is.")
    roleless = [column for column in roleless if column not in touched and column != roles.target]
    if roleless:
        said.append(
            f"No role was given to {', '.join(repr(column) for column in roleless)}; released as they are. Check that nobody could know them."
        )
    telling = [
        c
        for c in (*roles.confidential, *roles.other, *roles.weight)
        if c in original.columns and c not in touched and _nearly_unique(original, c)
    ]
    if telling:
        said.append(
            f"{', '.join(repr(c) for c in telling)} {'is' if len(telling) == 1 else 'are'} released unchanged and different in nearly every row: "
            "whoever knows such a value finds the record."
        )
    diversity = by_name.get("l-diversity")
    for column, distinct in (diversity.per_column if diversity else {}).items():
        if distinct < 2:
            said.append(f"Some class has only one value of '{column}': whoever is known to be in it is known to have that value.")
    if attacks and not any(result.name == "interval-disclosure" for result in attacks):
        said.append("interval-disclosure was not tried, so disclosure risk and score are not stated.")
    for result in attacks:
        if "linkage" in result.name and result.rate > LINKAGE_LIMIT and result.rate > 2 * result.chance:
            said.append(
                f"{result.name} finds {result.rate:.1%} of the records (95 % interval {result.interval[0]:.1%} to {result.interval[1]:.1%}; "
                f"blind guessing {result.chance:.2%})."
            )
    return list(dict.fromkeys(said))


def plain(value: Any) -> Any:
    """JSON without numpy types, NaN or infinities."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _nearly_unique(table: Table, column: str) -> bool:
    return len(table) >= 20 and int(table.codes(column).max(initial=0)) + 1 > 0.9 * len(table)


def _versions(*packages: str) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # vendored or frozen builds carry no metadata
            continue
    return found
