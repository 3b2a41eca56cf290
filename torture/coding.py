"""Top coding, rounding and recoding in the torture chamber: how they are asked for, and what must hold of every cell that they release."""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from torture.recount import as_number, same

if TYPE_CHECKING:
    from torture.drawing import Case

CODING = ("top-coding", "bottom-coding", "rounding", "recode")
BASES = (1, 5, 7, 10, 1000, 0.1, 2.5, 1e-3)


def coding_parameters(rng: Random, case: Case, method: str) -> dict[str, Any]:
    """Limits, bases, cut points and maps, for all columns or for each."""
    if method == "rounding":
        return {"base": rng.choice(BASES), "rule": rng.choice(("nearest", "random"))}
    if method == "recode":
        return _recode(rng, case)
    tail = {"replacement": rng.choice(("limit", "limit", "cell", "mean")), "fewest": rng.choice((2, 2, 3))}
    numbers = [name for name in case.role("quasi") if case.columns[name].kind in ("number", "date")]
    if numbers and rng.random() < 0.3:
        limits = {name: _middle(rng, case.columns[name].values) for name in numbers}
        return tail | {"limit": {name: limit for name, limit in limits.items() if limit is not None} or {numbers[0]: 0}}
    return tail | {"percentile": rng.choice((5, 50, 66.6, 80, 90, 95, 100))}


def _middle(rng: Random, values: Sequence[Any]) -> Any:
    known = [value for value in values if value is not None]
    return rng.choice(known) if known else None


def _recode(rng: Random, case: Case) -> dict[str, Any]:
    """Columns that are cut, or columns whose values are mapped; the others of the table stay as they are."""
    quasi = {name: case.columns[name] for name in case.role("quasi")}
    cut = {name: column for name, column in quasi.items() if column.kind in ("number", "date", "date-text")}
    cut = {name: column for name, column in cut.items() if name not in case.roles.get("nominal", ())}
    mapped = {name: column for name, column in quasi.items() if name not in cut}
    if cut and (not mapped or rng.random() < 0.6):
        cuts = {name: _cuts(rng, column.values, column.kind) for name, column in cut.items()}
        return {"cuts": cuts, "ends": "closed" if rng.random() < 0.05 else "open"}
    maps = {name: _map(rng, column.values) for name, column in mapped.items() if any(value is not None for value in column.values)}
    if not maps:
        return {"cuts": (0, 10), "ends": "open"}
    publish = "labels" if rng.random() < 0.3 and all(quasi[name].kind != "ordinal" for name in maps) else "sets"
    return {"map": maps, "publish": publish}


def _cuts(rng: Random, values: Sequence[Any], kind: str) -> tuple[Any, ...]:
    known = sorted({value if isinstance(value, datetime.date) else float(value) for value in values if value is not None})
    some = sorted(rng.sample(known, min(len(known), rng.randint(1, 4))))
    return tuple(some) or ((datetime.date(2000, 1, 1),) if kind != "number" else (0.0,))


def _map(rng: Random, values: Sequence[Any]) -> dict[str, str]:
    """Every value, and one that no row has."""
    there = [str(value).lower() if isinstance(value, bool) else str(value).strip() for value in values if value is not None]
    named = list(dict.fromkeys(there))
    if rng.random() < 0.03 and len(named) > 1:
        named.pop()  # a value that falls nowhere
    return {value: f"group {rng.randint(0, 2)}" for value in [*named, "nobody's value"]}


def wrongly_coded(method: str, given: dict[str, Any], olds: Sequence[Any], news: Sequence[Any]) -> Iterator[str]:
    """What is wrong with the cells of a column of numbers that nothing else changed."""
    known = [(old, new) for old, new in zip(olds, news) if old is not None and as_number(old) is not None]
    if method == "rounding":
        yield from _wrongly_rounded(given, known)
    elif method in ("top-coding", "bottom-coding") and given.get("replacement") != "cell":
        changed = [(old, new) for old, new in known if not same(new, old)]
        values = {str(new) for _, new in changed}
        stay = [as_number(old) for old, new in known if same(new, old) and str(new) not in values]
        farthest = [as_number(old) for old, _ in changed]
        if len(values) > 1:
            yield f"{method} replaced values by {len(values)} different ones"
        inside = (lambda a, b: a <= b) if method == "top-coding" else (lambda a, b: a >= b)
        if not all(inside(one, other) for one in stay for other in farthest):
            yield f"{method} replaced a value, and left one farther out"


def _wrongly_rounded(given: dict[str, Any], known: Sequence[tuple[Any, Any]]) -> Iterator[str]:
    base = Fraction(repr(given["base"]))
    most = base / 2 if given["rule"] == "nearest" else base
    for old, new in known:
        was, now = as_number(old), as_number(new)
        if was is None or now is None:
            yield f"rounding left {new!r} for {old!r}"
            return
        slack = (abs(was) + base) * Fraction(1, 10**9)
        if abs(now - was) > most + slack:
            yield f"rounding by {base} moved {old!r} to {new!r}"
            return
        times = now / base
        if abs(float(was)) < 1e9 * float(base) and abs(times - round(times)) > Fraction(1, 10**6):
            yield f"{new!r} is no multiple of {base}"
            return
        if isinstance(new, float) and not math.isfinite(new):
            yield "rounding made a number that is none"
