"""A first guess at roles, from names and values. A person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.distinct import rows_of, rows_with
from shoal.errors import RoleError, TooManyCombinations
from shoal.reading import date_form, kinds_of, which_form, with_dates
from shoal.roles import LINKED, Roles
from shoal.table import Table

_IDENTIFIER = r"(^|_)(id|name|surname|first_?name|last_?name|ssn|passport|e_?mail|phone|mobile|iban|account|patient_?no|nhs|mrn|uuid|address|street)($|_|\d)"
_NUMBER = r"(^|_)(id|pid|ssn|nhs|mrn|uuid|(patient|person|client|member|subject|case)(_?(no|nr|id|number|key|code))?)($|_|\d)"
_CONFIDENTIAL = (
    r"diagnos|disease|illness|hiv|cancer|religio|politic|orientation|salary_?class|crime|offen[cs]e|treatment|medication|drug|disab"
)
_WEIGHT = r"(^|_)(weights?|wgt|wt|a?fnlwgt|sampling_weight)($|_|\d)"
MOST_ROWS = 50  # of a value on average: what numbers more rows than these numbers places or offices rather than persons
_HOUSEHOLD = r"(^|_)(household|hh|hid|ori_hid|hhid|family)(_?(id|no|nr|num|number|key))?$"
MOST_CODES = 5
_CODES = {-float(code) for code in (*range(1, 10), 66, 77, 88, *range(96, 100), 666, 777, 888, *range(996, 1000), *range(9996, 10000))}


@dataclass(frozen=True)
class ColumnLook:
    """What `shoal look` shows of a column: never a value of it.

    The one exception is a number that seems to mean missing, such as -9: it says that there is no value, and whoever is to decide must see it.
    """

    column: str
    kind: str
    distinct: int
    missing: int
    unique_rows: int  # rows whose value no other row has
    role: str
    because: str
    codes: tuple[str, ...] = ()  # that seem to mean missing


def look(table: Table) -> list[ColumnLook]:
    """Kind, missing and uniqueness of each column, and the role it probably has. Dates in text are shown as dates. One column numbers persons,
    and one households: of several, that of most values."""
    return _looks(*_with_dates(table))


def _looks(read: Table, unclear: dict[str, str]) -> list[ColumnLook]:
    seen = [_look(read, column, unclear) for column in read.columns]
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
    read, unclear = _with_dates(table)
    looks = _looks(read, unclear)
    for seen in looks:
        by_role.setdefault(seen.role, []).append(seen.column)
    numbers = [s for s in looks if s.role == "quasi" and s.kind == "number"]
    codes_of_two = [s.column for s in numbers if s.distinct - (s.missing > 0) - len(s.codes) == 2]
    missing = {s.column: s.codes for s in looks if s.codes}
    kinds = {column: kind for column, kind in kinds_of(read).items() if column in by_role.get("quasi", ())}
    return Roles.parse({**by_role, "nominal": codes_of_two, "missing": missing, "kinds": kinds})


def _with_dates(table: Table) -> tuple[Table, dict[str, str]]:
    """Dates in text read as dates; and, for columns where a person must say how they are, what to say."""
    unclear = {}
    for column in table.columns:
        try:
            form = date_form(table, column)
        except TooManyCombinations:
            continue
        if form is not None and len(form.formats) > 1:
            unclear[column] = which_form(column, form)
        elif form is not None:
            try:
                table = with_dates(table, column, form.formats[0])
            except RoleError as error:
                unclear[column] = str(error)
    return table, unclear


def codes_for_missing(table: Table, column: str) -> tuple[str, ...]:
    """Numbers that seem to mean missing: a few that surveys use for it, all of them negative in a column that is otherwise not.

    A scale around nought, such as -2 to 2, has no codes, nor has a count that goes on below it: 2, 1, 0, -1, -2.
    """
    if table.kind(column) != "number":
        return ()
    values = np.asarray(table.levels(column).drop_null().cast(pa.float64(), safe=False))
    codes, others = values[values < 0].tolist(), values[values >= 0]
    if not 0 < len(codes) <= MOST_CODES or not len(others) or not {*codes} <= _CODES:
        return ()
    around = {-code for code in codes} == {*others[: MOST_CODES + 2].tolist()} - {0.0}
    goes_on = len(codes) > 1 and others[0] == 0 and codes[0] == -len(codes)
    return () if around or goes_on else tuple(f"{code:.0f}" for code in reversed(codes))


def _look(table: Table, column: str, unclear: dict[str, str]) -> ColumnLook:
    kind, rows = table.kind(column), len(table)
    try:
        counts = rows_of(table, column)
    except TooManyCombinations:
        return ColumnLook(column, kind, rows, 0, rows, "identifier", "more different values than fit into memory")
    counts = counts[counts > 0]
    unique = int((counts == 1).sum())
    missing = rows_with(table, column, np.asarray(table.levels(column).is_null()))[0]
    role, because = _guess(column, "date" if column in unclear else kind, len(counts), unique, rows, table, column)
    found = codes_for_missing(table, column) if role in ("quasi", "confidential", "other") else ()
    if column in table.date_formats:
        because += f"; written {table.date_formats[column]}"
    if column in unclear and role == "quasi":
        because += f". {unclear[column]}"
    if found:
        because += f"; {', '.join(found)} {'seems' if len(found) == 1 else 'seem'} to mean missing"
    return ColumnLook(column, kind, len(counts), missing, unique, role, because, found)


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
