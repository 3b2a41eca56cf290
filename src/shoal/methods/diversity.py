"""What methods ask of each confidential column inside a group, as kernels take it, and what they promise of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from shoal.arrays import Int32Array, IntArray
from shoal.errors import DataError, counted
from shoal.kernels.masks import Demand
from shoal.promises import Promise, Unit
from shoal.roles import Roles
from shoal.table import Table

Missing = Literal["ignored", "counted"]
MISSING = "Confidential cells that are missing, or a code for it: ignored, they are no value for l and entropy; counted, they are one more"


class Asked(NamedTuple):
    """Of one confidential column: its codes, -1 where a cell counts for nothing, and what groups must keep of them."""

    codes: Int32Array
    l: int = 1  # noqa: E741
    entropy: float = 1.0
    t: float = 1.0
    t_ordered: bool = False


def words(asked: Sequence[Asked], some: IntArray | None = None) -> dict[str, Any]:
    """The keywords kernels take, for all combinations or for some."""
    if not asked:
        return {}
    codes = np.column_stack([one.codes if some is None else one.codes[some] for one in asked])
    given: dict[str, Any] = {"sensitive": codes, "l": [one.l for one in asked], "entropy_l": [one.entropy for one in asked]}
    if any(one.t < 1 for one in asked):
        given |= {"t": [one.t for one in asked], "t_ordered": [one.t_ordered for one in asked]}
    return given


def demanded(k: int, asked: Sequence[Asked]) -> Demand:
    """The same as the kernel of masks takes it."""
    if not asked:
        return Demand(k)
    given = words(asked)
    return Demand(k, given["sensitive"], given["l"], given["entropy_l"], [one.t for one in asked], [one.t_ordered for one in asked])


def no_values(roles: Roles, column: str, missing: Missing) -> tuple[str, ...]:
    """The cells of a column that are no value, as a promise says them: missing, and codes for it, however their number is written."""
    return () if missing == "counted" else ("", *roles.missing.get(column, ()))


def real_codes(table: Table, roles: Roles, column: str, missing: Missing) -> Int32Array:
    """A column's codes, -1 for cells that are no value."""
    codes = table.codes(column).astype(np.int32)
    return codes if missing == "counted" else np.where(roles.missing_levels(table, column)[codes], np.int32(-1), codes)


def diverse_enough(name: str, column: str, codes: Int32Array, rows: IntArray, l: int, entropy: float) -> None:  # noqa: E741
    """No group can be more diverse than the whole table."""
    real = codes >= 0
    records = np.bincount(codes[real], rows[real])
    share = records[records > 0] / max(int(rows[real].sum()), 1)
    effective = float(np.exp(-(share * np.log(share)).sum())) if len(share) else 0.0
    if len(share) < l or effective < entropy - 1e-9:  # rounding
        but = "" if real.all() else ", not counting what is missing"
        raise DataError(
            f"{name}: the whole table has {counted(len(share), 'value')} of '{column}' ({effective:.2f} effective){but}, "
            f"so no group can have more. Ask for less.",
            about=column,
        )


def diversity_promises(
    table: Table,
    roles: Roles,
    columns: tuple[str, ...],
    l: int,  # noqa: E741
    entropy: float,
    missing: Missing,
    unit: Unit = "rows",
) -> list[Promise]:
    """For each confidential column, the different and the effective values that were asked for."""
    promised = []
    for column in roles.confidential if l > 1 or entropy > 1 else ():
        ignores = no_values(roles, column, missing)
        if l > 1:
            promised.append(Promise("l-diversity", l, columns, column, unit, ignores))
        if entropy > 1:
            promised.append(Promise("entropy-l-diversity", entropy, columns, column, unit, ignores))
    return promised
