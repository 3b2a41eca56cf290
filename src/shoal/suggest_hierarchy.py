"""A first guess at a column's hierarchy, from its values: round bins, periods of dates, prefixes of codes, neighbouring levels. A person decides."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np

from shoal.arrays import FloatArray, IntArray
from shoal.errors import RoleError, counted
from shoal.hierarchy import EVERYTHING, Hierarchy
from shoal.hierarchy_rules import MOST_LEVELS, parse_rule
from shoal.roles import Roles, value_names
from shoal.table import Table

How = Literal["round", "dates", "prefix", "levels"]
BINS = 16  # of the finest level, of a column without a tail
MOST_WIDTHS = 8
ALL_NUMBERS = 1000  # whole numbers listed one by one in a file, those included that no row has
MOST_TEXTS = 1000  # beyond these a tree of values and everything is no help
_ICD = re.compile(r"[A-Z][0-9]{2}(\.?[0-9A-Z]{1,4})?")


def suggested(table: Table, column: str, roles: Roles, how: How | None = None) -> Hierarchy:
    """By what the column holds, or as asked; over its values."""
    names = value_names(table, column)
    rule = _rule(table, column, roles, how or _fitting(table, column, roles, names), names)
    if not rule:
        known = [name for name in names if name is not None]
        rule = "" if known else "mask=*"  # of nothing, any rule makes nothing
        rows = tuple((name, EVERYTHING) for name in known)
        return Hierarchy(rows, rule, origin="suggested", texts=frozenset(known))
    return roles.tree_over(table, column, Hierarchy((), rule, origin="suggested"))


def _fitting(table: Table, column: str, roles: Roles, names: Sequence[str | None]) -> How | None:
    scale = roles.scale(table, column)
    if scale == "ordinal":
        return "levels"
    if table.kind(column) == "date":
        return "dates"
    if scale == "numeric" and table.kind(column) == "number":
        return "round"
    known = [name for name in names if name is not None]
    same = len({len(name) for name in known}) == 1 and 2 <= len(known[0]) <= MOST_LEVELS if known else False
    digits = sum(name[:1].isdigit() and name[-1:].isdigit() for name in known)
    codes = sum(bool(_ICD.fullmatch(name)) for name in known)
    if len(known) > 2 and ((same and digits == len(known)) or codes == len(known)):
        return "prefix"
    if len(known) > MOST_TEXTS:
        raise RoleError(
            f"Column '{column}' has {counted(len(known), 'distinct text')} and no hierarchy. Make one (shoal hierarchy {column} --from FILE --prefix, or "
            "--by a confidential column), or bring it into broader categories.",
            about=column,
        )
    return None


def _rule(table: Table, column: str, roles: Roles, how: How | None, names: Sequence[str | None]) -> str:
    if how == "round":
        counts = table.counts([column])
        values = counts.table.number(column)
        return round_bins(values[~np.isnan(values)], counts.rows[~np.isnan(values)])
    if how == "dates":
        return _periods(names)
    if how == "prefix":
        known = [name for name in names if name is not None]
        return "icd10" if known and all(_ICD.fullmatch(name) for name in known) else "mask=*"
    if how == "levels":
        many = len(roles.levels(table, column))
        sizes = [2**i for i in range(1, MOST_LEVELS) if 2**i < many]
        return (
            f"groups of {sizes[0]}{''.join(f', then {size}' if i == 0 else f', {size}' for i, size in enumerate(sizes[1:]))}"
            if sizes
            else ""
        )
    return ""


def round_bins(distinct: FloatArray, rows: IntArray) -> str:
    """Bins of round widths, each level twice as wide as the one below, from a sixteenth of the values' usual spread to more than half their range.

    The distinct values come in order, and with each how many rows have it.
    """
    if len(distinct) < 3:
        return ""
    low, high = float(distinct[0]), float(distinct[-1])
    usual = _quantile(distinct, rows, 0.95) - _quantile(distinct, rows, 0.05) or high - low
    width = _round_up(usual / BINS)
    if (distinct == np.rint(distinct)).all():
        width = max(width, 2.0)
    widths = [width]
    while widths[-1] * 2 < high - low and len(widths) < MOST_LEVELS:
        widths.append(widths[-1] * 2)
    if len(widths) > MOST_WIDTHS:  # of a long tail: the finest ones, then ever rougher ones
        more = widths[MOST_WIDTHS - 1 :]
        widths = [*widths[: MOST_WIDTHS - 1], *more[:: max(1, len(more) // 3)]]
    texts = [np.format_float_positional(one, trim="-") for one in widths]
    then = f", then {', '.join(texts[1:])}" if texts[1:] else ""
    return parse_rule(f"width {texts[0]} from 0{then}").text


def _quantile(distinct: FloatArray, rows: IntArray, share: float) -> float:
    """Between the two rows nearest to the place, as numpy has it."""
    upto = np.cumsum(rows)
    place = share * (int(upto[-1]) - 1)
    low, high = (float(distinct[np.searchsorted(upto, row, "right")]) for row in (math.floor(place), math.ceil(place)))
    return float(np.quantile([low, high], place - math.floor(place)))


def _round_up(width: float) -> float:
    """1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width)) if width > 0 else 1.0
    return float(f"{next(one for one in (1, 2, 5, 10) if one * power >= width * (1 - 1e-9)) * power:.12g}")


def _periods(names: Sequence[str | None]) -> str:
    """The periods that dates in their range differ by."""
    days = [name[:10] for name in names if name is not None]
    if not days:
        return ""
    years = int(max(days)[:4]) - int(min(days)[:4])
    found = ["month"] + (["quarter", "year"] if years else ["quarter"]) + (["decade"] if years > 10 else [])
    return ", ".join(found)


def listed(tree: Hierarchy) -> tuple[tuple[str, ...], ...]:
    """The rows of a tree for a file, everything last. Whole numbers under a rule are all of them from the lowest to the highest group."""
    rows = list(tree.rows)
    numbers = [int(leaf) if re.fullmatch("-?[0-9]+", leaf) else None for leaf in tree.leaves]
    known = [number for number in numbers if number is not None]
    if tree.rule and tree.cells and len(known) == len(numbers) and known and max(known) - min(known) < ALL_NUMBERS:
        every = [str(number) for number in range(min(known), max(known) + 1)]
        rows = list(tree.grown(every).rows)
    return tuple((*row, *([EVERYTHING] if len({row[-1] for row in rows}) > 1 else [])) for row in rows)


def by_values_of(table: Table, column: str, confidential: str) -> Hierarchy:
    """Categories together whose records have the same answers: neighbours by the distribution of a confidential column (Ward's method on its square
    roots), half as many groups at each level. It looks at the answers, so groups lean towards one: ask for l or t."""
    from scipy.cluster.hierarchy import cut_tree, linkage

    names = value_names(table, column)
    known = [i for i, name in enumerate(names) if name is not None]
    if len(known) < 3:
        return Hierarchy(
            tuple((str(names[i]), EVERYTHING) for i in known), origin="suggested", texts=frozenset(str(names[i]) for i in known)
        )
    codes, answers = table.codes(column), table.codes(confidential)
    counts = np.zeros((len(names), int(answers.max(initial=0)) + 1))
    np.add.at(counts, (codes, answers), 1.0)
    shares = np.sqrt(counts[known] / counts[known].sum(axis=1, keepdims=True))
    together = linkage(shares, "ward")
    sizes = [size for size in (len(known) // 2**i for i in range(1, MOST_LEVELS)) if size >= 2]
    levels = cut_tree(together, n_clusters=sizes)
    text = [str(names[i]) for i in known]
    weight = counts[known].sum(axis=1)
    rows = []
    titles = [_titles(text, weight, levels[:, j]) for j in range(len(sizes))]
    for i, value in enumerate(text):
        rows.append((value, *(titles[j][int(levels[i, j])] for j in range(len(sizes))), EVERYTHING))
    return Hierarchy(tuple(rows), origin="suggested", texts=frozenset(text))


def _titles(values: Sequence[str], weight: FloatArray, group: FloatArray) -> dict[int, str]:
    """A group by its commonest value, and how many others it has."""
    found = {}
    for one in np.unique(group).tolist():
        mine = [i for i in range(len(values)) if group[i] == one]
        first = max(mine, key=lambda i: (weight[i], values[i]))
        found[int(one)] = values[first] if len(mine) == 1 else f"{values[first]} and {len(mine) - 1} more"
    return found
