"""What a group of records publishes, column by column: the same cell for every record of the group, so that the group is one class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal import cell
from shoal.roles import Roles
from shoal.table import Table

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Publication = Literal["counts", "sets", "intervals", "mean"]
MOST_VALUES = 30  # numbers listed one by one in a cell; more are published as intervals of equally many records


def published(
    table: Table, roles: Roles, columns: Sequence[str], groups: IntArray, publication: Publication, shown: BoolArray | None = None
) -> dict[str, pa.Array]:
    """For each column, the cell of each group. `shown[group, column]` False suppresses it (unless the whole group agrees on it)."""
    number = int(groups.max(initial=-1)) + 1
    result = {}
    for j, column in enumerate(columns):
        cells = _cells(table, roles, column, groups, number, publication)
        if shown is not None:
            agree = _agreeing(table.codes(column), groups, number)
            cells = [text if shown[g, j] or agree[g] else cell.SUPPRESSED for g, text in enumerate(cells)]
        result[column] = pa.array(cells, pa.string())
    return result


def _agreeing(codes: IntArray, groups: IntArray, number: int) -> BoolArray:
    low = np.full(number, np.iinfo(np.int64).max)
    high = np.full(number, -1)
    np.minimum.at(low, groups, codes)
    np.maximum.at(high, groups, codes)
    return np.asarray(low == high)


def _cells(table: Table, roles: Roles, column: str, groups: IntArray, number: int, publication: Publication) -> list[str | None]:
    """One text per group."""
    scale = roles.scale(table, column)
    codes = table.codes(column)
    if scale == "ordinal":  # sets list levels from lowest to highest
        order = roles.ordinal_codes(table, column)
        codes = np.unique(np.where(np.isnan(order), np.inf, order), return_inverse=True)[1].reshape(-1)
        names = _ordinal_names(table, roles, column)
    else:
        names = [text and text.removesuffix(".000000") for text in table.levels(column).cast(pa.string()).to_pylist()]
    width = len(names)
    pair, count = np.unique(groups * width + codes, return_counts=True)
    group, code = pair // width, pair % width
    starts = np.searchsorted(group, np.arange(number + 1))
    values = None
    if scale == "numeric" and table.kind(column) in ("number", "date"):
        levels = Table.of({"v": table.levels(column)}).number("v")
        values = levels
    texts: list[str | None] = []
    for g in range(number):
        mine = slice(starts[g], starts[g + 1])
        texts.append(_cell(code[mine], count[mine], names, values, publication))
    return texts


def _ordinal_names(table: Table, roles: Roles, column: str) -> list[str | None]:
    place = {level: i for i, level in enumerate(roles.levels(table, column))}
    present = [str(v) for v in table.levels(column).to_pylist() if v is not None]
    names = sorted(present, key=place.__getitem__)
    return [*names, None] if table.missing(column).any() else [*names]


def _cell(
    codes: IntArray, counts: IntArray, names: Sequence[str | None], values: NDArray[np.float64] | None, publication: Publication
) -> str | None:
    texts = [names[code] for code in codes]
    if len(texts) == 1:
        return cell.write_value(texts[0])
    if values is None or publication == "sets":
        if values is not None and len(texts) > MOST_VALUES:
            return _histogram(values[codes], texts, counts, 1, False)
        return cell.write_set(texts, counts.tolist() if publication == "counts" else None)
    numbers = values[codes]
    known = ~np.isnan(numbers)
    if publication == "mean":
        return cell.like(float(np.average(numbers[known], weights=counts[known])), next(text for text in texts if text is not None))
    if publication == "intervals":
        return _histogram(numbers, texts, counts, 1, False)
    if len(texts) > MOST_VALUES:
        return _histogram(numbers, texts, counts, MOST_VALUES, True)
    return cell.write_set(texts, counts.tolist())


def _histogram(numbers: NDArray[np.float64], names: Sequence[str | None], counts: IntArray, parts: int, counted: bool) -> str | None:
    """Consecutive numbers or dates as intervals of about equally many records; missing, if any, beside them."""
    known = ~np.isnan(numbers)
    said = [name for name, there in zip(names, known) if there]
    ordered, weight = numbers[known], counts[known]
    place = np.cumsum(weight) - weight / 2
    part = np.minimum((place / weight.sum() * parts).astype(np.int64), parts - 1)
    first = np.flatnonzero(np.diff(part, prepend=-1))
    last = np.append(first[1:], len(ordered)) - 1
    texts: list[str | None] = [said[a] if a == b else f"[{said[a]}..{said[b]}]" for a, b in zip(first, last)]
    sizes = np.add.reduceat(weight, first).tolist()
    if not known.all():
        texts.append(None)
        sizes.append(int(counts[~known].sum()))
    return cell.write_parts(texts, sizes if counted else None)
