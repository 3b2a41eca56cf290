"""The measures of a certificate that the released file alone can show, counted again by code that shares nothing with the measures.

Where persons were counted, the file does not say whose each row is: what rows bound is held against them, and the rest is believed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from shoal.arrays import IntArray
from shoal.certificate import MeasurePart, TableCertificate
from shoal.checks.combinations import Cells, Combinations, numbered
from shoal.checks.contents import columns_held, contents
from shoal.checks.tables import count, farthest_along, ignored_cells, inside_classes, sizes_of_classes
from shoal.checks.values import as_number
from shoal.errors import DataError
from shoal.promises import HOUSEHOLD_K, Checked, Promise

CLASSES = ("k-anonymity", "uniqueness", "average-risk", "maximum-risk", "discernibility", "average-class-size")
VALUES = ("l-diversity", "entropy-l-diversity", "recursive-l-diversity", "t-closeness")
HOUSEHOLDS = "unique-households"
THREE_DIGITS = 5e-3  # what a share of persons may be rounded by, as a part of it


class Counted(NamedTuple):
    """What was counted of a measure."""

    value: float | None
    details: Mapping[str, Any] = {}
    per_column: Mapping[str, float] = {}


def columns_to_recount(certificate: TableCertificate, names: Sequence[str]) -> list[str]:
    """The columns of a file that recounting its measures reads; where numbers of households are released, all, since members may share any."""
    if set(certificate.roles.household) & set(names) and not certificate.release.parts:
        return list(names)
    return list(dict.fromkeys(column for column in (*certificate.roles.quasi, *columns_held(certificate, names)) if column in names))


def recount_measures(certificate: TableCertificate, cells: Cells) -> tuple[list[Checked], list[str]]:
    """Each figure that the file can show, beside the one certified; and the names of measures that stay believed."""
    quasi = [column for column in certificate.roles.quasi if column in cells.codes]
    confidential = [column for column in certificate.roles.confidential if column in cells.codes]
    combinations = cells.combinations(list(dict.fromkeys([*quasi, *confidential])))
    sizes = sizes_of_classes(combinations, quasi)
    found: list[Checked] = []
    believed: list[str] = []
    for part in certificate.measures:
        if certificate.release.parts and (part.value is None or part.name == HOUSEHOLDS):  # of many files not all can be counted in memory
            believed += [part.name] if part.needs == "release" else []
            continue
        persons = part.details.get("unit") == "persons" and not one_row_each(certificate)
        if part.name in (*CLASSES, *VALUES) and "unit" in part.details:
            counted_in = "persons" if certificate.unit.counted == "persons" else "rows"
            found += [] if part.details["unit"] == counted_in else [Checked(f"{part.name}: unit", part.details["unit"], counted_in, False)]
        if part.name in CLASSES:
            counted = of_classes(part.name, sizes) if quasi else Counted(None)
        elif part.name in VALUES:
            if part.name == "t-closeness" and part.value is not None and "distance" not in part.details:
                found.append(Checked("t-closeness: distance", "not said", "needed", False))
                continue
            counted = of_values(part, combinations, quasi, confidential) if quasi and confidential else Counted(None)
        elif part.name == HOUSEHOLDS:
            counted = of_households(certificate, cells, quasi)
        else:
            believed += [part.name] if part.needs == "release" else []
            continue
        found += list(_bounded(part, counted, certificate.unit.persons) if persons else _held(part, counted))
        believed += [part.name] if persons and part.name not in _AT_MOST | _AT_LEAST else []
    households = [] if certificate.release.parts else _households_said(certificate, cells, quasi)
    return [*found, *households, *contents(certificate, cells)], believed


def one_row_each(certificate: TableCertificate) -> bool:
    """Whether there are as many persons as rows: then what counts persons is counted in rows."""
    return certificate.unit.persons is not None and certificate.unit.persons == certificate.unit.rows


# ---- what is counted ---------------------------------------------------------------------------------------------------------------


def of_classes(name: str, sizes: IntArray) -> Counted:
    """From the sizes of the classes in rows."""
    rows, classes, uniques = int(sizes.sum()), len(sizes), int((sizes == 1).sum())
    smallest = int(sizes.min()) if classes else 0
    if not classes:
        return Counted(None)
    if name == "k-anonymity":
        histogram = {str(size): many for size, many in sorted(Counter(sizes.tolist()).items())}
        return Counted(smallest, {"uniques": uniques, "classes": classes, "histogram": histogram, "rows": smallest, "unique_rows": uniques})
    if name == "uniqueness":
        return Counted(uniques / rows, {"uniques": uniques})
    if name == "average-risk":
        return Counted(classes / rows, {"expected_reidentifications": classes})
    if name == "maximum-risk":
        return Counted(1 / smallest)
    return Counted(sum(size * size for size in sizes.tolist()) if name == "discernibility" else rows / classes)


def of_values(part: MeasurePart, combinations: Combinations, quasi: Sequence[str], confidential: Sequence[str]) -> Counted:
    """Of each confidential column; the worst counts."""
    values = {column: _of_column(part, combinations, tuple(quasi), column) for column in confidential}
    return Counted((max if part.name == "t-closeness" else min)(values.values()), {}, values)


def _of_column(part: MeasurePart, combinations: Combinations, quasi: tuple[str, ...], column: str) -> float:
    ignores = ("", *map(str, _said(part, "codes", column, ())))
    if part.name == "recursive-l-diversity":
        c = part.details.get("c", 2.0)
        if isinstance(c, bool) or not isinstance(c, int | float) or not 0 < c <= 1e6:
            raise DataError("The certificate's recursive l-diversity has a c that is none.")
        return _recursive(Promise("l-diversity", 0, quasi, column, "rows", ignores), combinations, c)
    if part.name != "t-closeness":
        return count(Promise(part.name, 0, quasi, column, "rows", ignores), combinations)
    ordered = _said(part, "distance", column, "equal") == "ordered"
    promise = Promise("ordered-t-closeness" if ordered else "t-closeness", 0, quasi, column)
    levels = [str(level) for level in _said(part, "levels", column, ())] if ordered else []
    return farthest_along(promise, combinations, _by_level(combinations, column, levels)) if levels else count(promise, combinations)


def _said(part: MeasurePart, what: str, column: str, nothing: Any) -> Any:
    """What the certificate says of a column beside a figure."""
    given = part.details.get(what)
    return given.get(column, nothing) if isinstance(given, Mapping) else nothing


def _by_level(combinations: Combinations, column: str, levels: Sequence[str]) -> IntArray:
    """The place of each cell among levels; a cell that is none of them, and missing, stand behind them."""
    place = {level: i for i, level in enumerate(levels)}
    numbers = {as_number(level): i for level, i in place.items() if as_number(level) is not None}
    none, mark = combinations.is_missing(column), combinations.written.decimal
    texts = [str(cell) for cell in combinations.levels[column].to_pylist()]
    return np.array(
        [len(place) if gone else place.get(text, numbers.get(as_number(text, mark), len(place))) for text, gone in zip(texts, none)]
    )


def _recursive(promise: Promise, combinations: Combinations, c: float) -> int:
    """The largest l for which, in each class, the commonest value is rarer than c times the values from the l-th on."""
    inside = inside_classes(promise, combinations, ~ignored_cells(promise, combinations))
    classes: list[list[int]] = [[] for _ in range(len(inside.sizes))]
    for group, rows in zip(inside.group.tolist(), inside.rows.tolist()):
        classes[group].append(round(rows))
    found = []
    for rows in classes:
        rows.sort(reverse=True)
        found.append(sum(rows[0] < Fraction(str(c)) * sum(rows[i:]) for i in range(len(rows))))
    return min(found, default=0)


def of_households(certificate: TableCertificate, cells: Cells, quasi: Sequence[str]) -> Counted:
    """How many households no other looks like: the same rows, each as often, in what was promised of them, or in what is protected or shared."""
    number = next((column for column in certificate.roles.household if column in cells.codes), None)
    if number is None:
        return Counted(None)
    promises = [one.promise for one in certificate.promises]
    linked = next((promise for promise in promises if promise.kind is HOUSEHOLD_K), None)
    promised = [column for promise in promises for column in promise.columns]
    shared = [*quasi, *(c for c in promised if c in cells.codes and c != number), *cells.shared_inside(number)]
    columns = list(dict.fromkeys(shared)) if linked is None else list(linked.columns)
    combinations = cells.combinations([*columns, number])
    kept = np.flatnonzero(~combinations.is_missing(number)[combinations.codes[number]])
    members: dict[int, list[tuple[int, int]]] = {}
    classes = numbered(combinations, columns)[0]
    for household, *row in zip(*(one[kept].tolist() for one in (combinations.codes[number], classes, combinations.rows))):
        members.setdefault(household, []).append((row[0], row[1]))
    alike = Counter(tuple(sorted(rows)) for rows in members.values())
    if not members:
        return Counted(None)
    unique = sum(many == 1 for many in alike.values())
    return Counted(unique / len(members), {"households": len(members), "unique": unique, "smallest": min(alike.values())})


# ---- what is held against it -------------------------------------------------------------------------------------------------------


def _same(said: Any, found: Any, near: float = 1e-9) -> bool:
    if isinstance(said, bool) or not isinstance(said, int | float) or not isinstance(found, int | float):
        return bool(said == found)
    return math.isclose(said, found, rel_tol=near, abs_tol=1e-12)


def _held(part: MeasurePart, counted: Counted) -> Iterator[Checked]:
    """Value, columns and details of rows; shares and means of persons, of whom there are as many, are rounded."""
    near = THREE_DIGITS if part.details.get("unit") == "persons" else 1e-9
    yield Checked(part.name, part.value, counted.value, _same(part.value, counted.value, near))
    if part.value is None:
        return
    for column in dict.fromkeys((*counted.per_column, *part.per_column)):
        said, found = part.per_column.get(column), counted.per_column.get(column)
        yield Checked(f"{part.name} of {column}", said, found, _same(said, found, near))
    for key, found in counted.details.items():
        if key in part.details or near < THREE_DIGITS:  # rows are said beside persons where they differ
            yield Checked(f"{part.name}: {key}", part.details.get(key), found, _same(part.details.get(key), found, near))


_AT_MOST = {"k-anonymity", "discernibility", "average-class-size", "l-diversity"}  # of persons there are no more than of rows
_AT_LEAST = {"maximum-risk"}


def _bounded(part: MeasurePart, counted: Counted, persons: int | None) -> Iterator[Checked]:
    """What rows say of persons: how many classes there are, and a bound on what is in them."""
    if part.value is None or counted.value is None:
        yield Checked(part.name, part.value, counted.value, part.value is None and counted.value is None)
        return
    slack = THREE_DIGITS * abs(part.value)
    if part.name in _AT_MOST:
        yield Checked(f"{part.name}, persons: at most", part.value, counted.value, 0 <= part.value <= counted.value + slack)
    elif part.name in _AT_LEAST:
        yield Checked(f"{part.name}, persons: at least", part.value, counted.value, part.value >= counted.value - slack)
    if part.name == "l-diversity":
        worst = min(part.per_column.values(), default=None)
        yield Checked("l-diversity, persons: worst column", part.value, worst, part.value == worst)
        for column in dict.fromkeys((*counted.per_column, *part.per_column)):
            said, most = part.per_column.get(column), counted.per_column.get(column)
            yield Checked(
                f"l-diversity of {column}, persons: at most", said, most, said is not None and most is not None and 0 <= said <= most
            )
    if part.name == "k-anonymity":
        for key in ("classes", "rows", "unique_rows"):
            yield Checked(f"{part.name}: {key}", part.details.get(key), counted.details[key], part.details.get(key) == counted.details[key])
        histogram = part.details.get("histogram")
        sizes = {int(size): int(many) for size, many in histogram.items()} if isinstance(histogram, Mapping) else {}
        many, smallest = sum(sizes.values()), min(sizes, default=None)
        alone, ones = part.details.get("uniques"), sizes.get(1, 0)
        if sum(size * classes for size, classes in sizes.items()) == persons:  # each is in one class
            yield Checked(f"{part.name}: unique persons", alone, ones, alone == ones)
        else:  # one may be alone in several
            most = ones if persons is None else min(ones, persons)  # of patterns nobody counts them
            yield Checked(f"{part.name}: unique persons, at most", alone, most, isinstance(alone, int) and min(ones, 1) <= alone <= most)
        yield Checked(f"{part.name}: classes of all sizes", many, counted.details["classes"], many == counted.details["classes"])
        yield Checked(f"{part.name}: smallest size", part.value, smallest, part.value == smallest)


def _households_said(certificate: TableCertificate, cells: Cells, quasi: Sequence[str]) -> Iterator[Checked]:
    """How many households are released, and the share that no other looks like, as the unit says it."""
    unit = certificate.unit
    if not set(certificate.roles.household) & set(certificate.release.columns):
        if unit.households or unit.households_told is not None:
            yield Checked("households", unit.households, None, False)
        return
    if not quasi:
        return
    counted = of_households(certificate, cells, quasi)
    many = counted.details.get("households", 0)
    yield Checked("households", unit.households, many, unit.households == many)
    yield Checked("households that no other looks like", unit.households_told, counted.value, _same(unit.households_told, counted.value))
