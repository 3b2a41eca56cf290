"""A first guess at roles, from names and values. A person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.roles import LINKED, Roles
from shoal.table import Table

_IDENTIFIER = r"(^|_)(id|name|surname|first_?name|last_?name|ssn|passport|e_?mail|phone|mobile|iban|account|patient_?no|nhs|mrn|uuid|address|street)($|_|\d)"
_NUMBER = r"(^|_)(id|pid|ssn|nhs|mrn|uuid|(patient|person|client|member|subject|case)(_?(no|nr|id|number|key|code))?)($|_|\d)"
_CONFIDENTIAL = (
    r"diagnos|disease|illness|hiv|cancer|religio|politic|orientation|salary_?class|crime|offen[cs]e|treatment|medication|drug|disab"
)
_WEIGHT = r"(^|_)(weights?|wgt|wt|a?fnlwgt|sampling_weight)($|_|\d)"
MOST_ROWS = 50  # of a value on average: what numbers more rows than these numbers places or offices rather than persons
_HOUSEHOLD = r"(^|_)(household|hh|hid|ori_hid|hhid|family_?id)(_?(id|no|nr|number|key))?$"


@dataclass(frozen=True)
class ColumnLook:
    """What `shoal look` shows of a column: never a value of it."""

    column: str
    kind: str
    distinct: int
    missing: int
    unique_rows: int  # rows whose value no other row has
    role: str
    because: str


def look(table: Table) -> list[ColumnLook]:
    """Kind, missing and uniqueness of each column, and the role it probably has. One column numbers persons, and one households: of several,
    that of most values."""
    seen = [_look(table, column) for column in table.columns]
    for role in LINKED:
        most = max((one for one in seen if one.role == role), key=lambda one: one.distinct, default=None)
        seen = [
            replace(one, role="identifier", because=f"named like a {role} number, as '{most.column}' is")
            if most and one.role == role and one is not most
            else one
            for one in seen
        ]
    return seen


def suggest_roles(table: Table) -> Roles:
    """The roles `look` suggests; cautious: what could be known to an intruder is a quasi-identifier."""
    by_role: dict[str, Any] = {}
    looks = look(table)
    for seen in looks:
        by_role.setdefault(seen.role, []).append(seen.column)
    codes_of_two = [s.column for s in looks if s.role == "quasi" and s.kind == "number" and s.distinct - (s.missing > 0) == 2]
    return Roles.parse({**by_role, "nominal": codes_of_two})


def _look(table: Table, column: str) -> ColumnLook:
    codes, kind, rows = table.codes(column), table.kind(column), len(table)
    counts = np.bincount(codes) if rows else np.zeros(0, int)
    counts = counts[counts > 0]
    unique = int((counts == 1).sum())
    role, because = _guess(column, kind, len(counts), unique, rows, table, column)
    return ColumnLook(column, kind, len(counts), int(table.missing(column).sum()), unique, role, because)


def _guess(name: str, kind: str, distinct: int, unique: int, rows: int, table: Table, column: str) -> tuple[str, str]:
    lower = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().replace(" ", "_").replace("-", "_").replace(".", "_")
    if kind == "empty":
        return "other", "nothing in it"
    if re.search(_WEIGHT, lower) and kind == "number":
        return "weight", "named like a sampling weight"
    if re.search(_HOUSEHOLD, lower):
        return "household", "named like a household number"
    if re.search(_CONFIDENTIAL, lower):
        return "confidential", "named like something a person keeps private"
    if re.search(_NUMBER, lower) and rows >= 20 and rows / MOST_ROWS <= distinct <= 0.9 * rows and not table.missing(column).any():
        return "person", "named like an identifier, and repeats: it may say which rows are of one person"
    if re.search(_IDENTIFIER, lower) and distinct > rows / 2:
        return "identifier", "named like an identifier, and nearly always different"
    if kind == "text" and rows > 1 and unique == rows:
        return "identifier", "text that is different in every row"
    if kind == "number" and rows > 2 and unique == rows and _counts_rows(table, column):
        return "identifier", "counts the rows"
    if distinct == 1:
        return "other", "the same everywhere"
    alone = "; nearly unique by itself" if kind == "number" and unique > rows / 2 else ""
    return "quasi", f"an intruder could know it{alone}"


def _counts_rows(table: Table, column: str) -> bool:
    steps = np.diff(table.number(column))
    return bool((steps == 1).all())
