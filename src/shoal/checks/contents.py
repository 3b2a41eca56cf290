"""What released columns hold, against what the certificate says they are: dates in their form, an order where one is counted along, missing cells
written one way, and numbers of households or persons under their promise only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.cell import read
from shoal.certificate import StepPart, TableCertificate
from shoal.checks.combinations import Cells
from shoal.checks.values import as_number, has_order, is_missing
from shoal.dates import is_format
from shoal.promises import LINK, ORDERED_T_CLOSENESS, Checked
from shoal.registry import known


def columns_held(certificate: TableCertificate, names: Sequence[str]) -> list[str]:
    """The columns of a file that are looked into here."""
    held = {*unnamed(certificate), *certificate.roles.household, *certificate.roles.confidential, *certificate.release.labels}
    return [column for column in names if column in held]


def unnamed(certificate: TableCertificate) -> list[str]:
    """Released columns without a role: those that a method adds, and numbers of persons."""
    roles = certificate.roles
    given = {*roles.quasi, *roles.confidential, *roles.weight, *roles.household, *roles.other}
    return [column for column in certificate.release.columns if column not in given]


def contents(certificate: TableCertificate, cells: Cells) -> Iterator[Checked]:
    """Each kind of thing that a column's cells can contradict, and how many do."""
    yield _none("columns that are not of dates as certified", sum(map(_is_wrong_form, *_forms(certificate))))
    unordered = {
        column: int(
            (~has_order(cells.levels[column], is_missing(cells.levels[column], cells.written.missing), form, cells.written.decimal)).sum()
        )
        for column, form in _ordered(certificate)
        if column in cells.levels
    }
    yield _none("values without an order, in columns counted along one", sum(unordered.values()))
    yield _none("cells that stand in no level of theirs", sum(_outside_levels(certificate, cells)))
    yield _none("names of groups that no cell has, or that are told wrongly", sum(_odd_names(certificate, cells)))
    yield _none(
        "steps that suppress more rows than they say they may",
        sum(_suppresses_more(step, certificate, cells) for step in certificate.steps),
    )
    if cells.written.missing:
        empty = sum(bool(pa.types.is_string(one.type) and pc.any(pc.equal(one, "")).as_py()) for one in cells.levels.values())
        yield _none("columns in which missing is written in two ways", empty)
    yield _none("columns that hold numbers of persons or households without a promise", _numbers_without_promise(certificate, cells))


def _suppresses_more(step: StepPart, certificate: TableCertificate, cells: Cells) -> bool:
    """Where columns stand at one level each, a row that shows nothing of those that show something was suppressed whole."""
    share, levels = step.parameters.get("suppress"), step.outcome.get("levels")
    if not isinstance(share, int | float) or not isinstance(levels, dict) or certificate.unit.counted != "rows":
        return False
    hidden = []
    for column in step.columns:
        if column in cells.levels and column in certificate.release.cells:
            stars = np.array([read(text).suppressed for text in map(_text, cells.levels[column].to_pylist())], np.bool_)[
                cells.codes[column]
            ]
            hidden += [stars] if not stars.all() else []
    rows = int(cells.rows.sum()) if step.columns and step.columns[0] in cells.codes else 0
    return bool(hidden) and int(cells.rows[np.logical_and.reduce(hidden)].sum()) > share * rows + 1e-6


def _text(level: object) -> str | None:
    return None if level is None else str(level)


def _forms(certificate: TableCertificate) -> tuple[list[str], list[bool]]:
    dates, columns = certificate.release.dates, certificate.release.columns
    return list(dates.values()), [column in columns for column in dates]


def _is_wrong_form(form: str, there: bool) -> bool:
    return not there or not is_format(form)


def _ordered(certificate: TableCertificate) -> list[tuple[str, str]]:
    """The columns that closeness is counted along an order of, by their own cells; and the form of their dates."""
    measure = certificate.measure("t-closeness")
    said = measure.details if measure is not None else {}
    distance, levels = (given if isinstance(given := said.get(what), dict) else {} for what in ("distance", "levels"))
    along = {one.about for one in certificate.promises if one.what == ORDERED_T_CLOSENESS.name and one.about}
    along |= {column for column, how in distance.items() if how == "ordered" and column not in levels}
    return [(column, certificate.release.dates.get(column, "")) for column in sorted(along)]


def _outside_levels(certificate: TableCertificate, cells: Cells) -> Iterator[int]:
    """Of ordinal columns, the values that are none of their levels."""
    measure = certificate.measure("t-closeness")
    levels = measure.details.get("levels") if measure is not None else None
    for column, given in levels.items() if isinstance(levels, dict) else ():
        if column not in cells.levels or not isinstance(given, list):
            continue
        numbers = {number for level in given if (number := as_number(str(level))) is not None}
        texts, none = cells.levels[column].to_pylist(), is_missing(cells.levels[column], cells.written.missing)
        allowed = {str(level) for level in given}
        yield sum(
            not gone and str(text) not in allowed and as_number(str(text), cells.written.decimal) not in numbers
            for text, gone in zip(texts, none.tolist())
        )


def _odd_names(certificate: TableCertificate, cells: Cells) -> Iterator[int]:
    """A name stands in the file, and for several values or an interval; what a column holds is said of no other column."""
    for column, names in certificate.release.labels.items():
        if column not in cells.levels or column not in certificate.release.cells:
            yield 1
            continue
        there = set(cells.levels[column].to_pylist())
        yield sum(name not in there or read(name).suppressed for name in names)
        yield sum(told is not None and (not (one := read(told)).interval and len(one.values) < 1) for told in names.values())
        told = [said for said in names.values() if said is not None]
        yield len(told) - len(set(told))


def _numbers_without_promise(certificate: TableCertificate, cells: Cells) -> int:
    """Numbers are kept under a promise, households' also where nobody asked for one; what a method adds is whole numbers, of its k or more."""
    promised = {one.about for one in certificate.promises if one.promise.kind.of == "numbers"}
    linked = {step.parameters.get("by") for step in certificate.steps if step.method == LINK}
    last = next((step for step in reversed(certificate.steps) if step.method != LINK), None)
    added = set(getattr(known("method").get(last.method), "adds", ())) if last is not None else set()
    wrong = 0
    for column in [*unnamed(certificate), *(certificate.roles.household if "household" in linked else ())]:
        if column in promised or column not in cells.levels:
            continue
        levels = cells.levels[column]
        there = ~is_missing(levels, cells.written.missing)
        if column in added and last is not None:
            least = last.parameters.get("k", 1)
            wrong += not all(_at_least(text, least) for text in np.array(levels.to_pylist(), dtype=object)[there])
        else:
            wrong += bool(there.any())
    return wrong


def _at_least(text: object, least: object) -> bool:
    number = as_number(str(text))
    return number is not None and number == number.to_integral_value() and isinstance(least, int) and number >= least


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)
