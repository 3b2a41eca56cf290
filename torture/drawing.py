"""Draws a table, its roles and what is done to it, from one number: columns of every kind, as odd as tables get."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from torture.coding import CODING, coding_parameters

METHODS = (
    *("mdav", "mdav-large", "v-mdav", "individual-ranking", "z-projection", "pca-projection", "c-tca", "k-tca", "kde"),
    *("rank-swapping", "noise", "mondrian", "infogain-mondrian", "balanced-mondrian", "kactus", "kactus-refined"),
    *("anti-unification", "anti-unification-safe", "local-suppression", "local-recoding", "recoding", "datafly", "incognito"),
    *("tds", "tdr", "kadet"),
    *CODING,
)
NO_ORDINAL = ("kde", "noise", "top-coding", "bottom-coding", "rounding")
NUMBERS_ONLY = ("individual-ranking", "z-projection", "pca-projection", "rank-swapping", *NO_ORDINAL)
LITERATURE = ("tds", "tdr", "kadet")
LEARNING = ("infogain-mondrian", "balanced-mondrian", "kactus", "kactus-refined", *LITERATURE)  # a target is needed
ALONG = ("local-recoding", "recoding", "datafly")  # hierarchies, which are made where none is given
ALONG_HIERARCHIES = (*ALONG, "incognito")
CLOSE = ("mondrian", "infogain-mondrian", "balanced-mondrian", "anti-unification-safe", "local-suppression", *ALONG)
DIVERSE = ("c-tca", "k-tca", "kactus", "kactus-refined", *CLOSE)
GENERALIZING = (*CLOSE, "kactus", "kactus-refined", "incognito", *LITERATURE)  # cells that cover what was there
FOLLOWING = (*ALONG_HIERARCHIES, "mondrian", *LEARNING)
WITHOUT_K = ("individual-ranking", "k-tca", "kde", "rank-swapping", "noise", "anti-unification", *CODING)
LOSSES = ("iyengar", "iyengar", "entropy", "precision", "discernibility", "class-size")
FORMS = ("csv", "csv", "csv", "semicolon", "tab", "decimal-comma", "parquet", "arrow", "arrow")
TOKENS = ("", "", "", "NA", "NaN", "?", "null")

LOOKALIKES = (
    "caf\u00e9",
    "cafe\u0301",
    "\u200bzero",
    "zero",
    "\u05e9\u05dc\u05d5\u05dd",
    "\U0001f41f\U0001f41f",
    "A\u030a",
    "\u00c5",
    "K",
    "\u212a",
)
AWKWARD = (
    "a,b;c",
    'say "no"',
    "two\nlines",
    "tab\there",
    "=1+1",
    "@SUM(A1)",
    "+49 30",
    "'quoted'",
    "a\\b",
    "semi;colon",
    "pipe|d",
    "x\r\ny",
)
CELL_LIKE = ("*", "{a|b}", "[20..30]", "[20, 30)", "1|2", "{*2|Blue}", "\\*", "{", "}", "[", "\\", "a*3", "{}", "[..]", "|", "*2")
WORDS = ("north", "south", "east", "west", "upper", "lower", "none of it", "Barcelona", "Reykjavik", "San Jose")
NUMBERLIKE = ("007", "08012", "00", "0150", "1e5x", "12a", "0x1F", "1_000", "-0-", "09")
NAMES = (
    *("age", "zip", "a b", "row", "quo\"te", "semi;colon", "com,ma", "caf\u00e9", "cafe\u0301", "*", "{a|b}", "=1+1", "two\nlines", "NaN"),
    *("0", "-9", "\U0001f41f", "\u05e9\u05dc\u05d5\u05dd", "value", "index", "k", "Age", "AGE", "\u200bx", "null", "person", "[1..2]", "a'b"),
    *("x" * 90, "tab\there", "back\\slash", "%d", "{0}", "<b>", "a.b", "columns", "target", "\\", "100%", "1|2"),
)  # fmt: skip


@dataclass
class Column:
    """A column as it was drawn: typed values, and how they are written where the file is text."""

    kind: str  # number, ordinal, nominal, date, date-text, flag, empty
    values: list[Any]
    codes: tuple[str, ...] = ()  # that mean missing
    levels: tuple[str, ...] = ()
    hierarchy: list[list[str]] = field(default_factory=list)


@dataclass
class Case:
    """Everything about a case."""

    columns: dict[str, Column]
    roles: dict[str, Any]
    steps: list[tuple[str, dict[str, Any]]]
    form: str
    token: str
    secret: int
    whole: bool = False  # through measures, attacks and certificate, and verified

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())).values)

    def role(self, name: str) -> tuple[str, ...]:
        """The columns of a role."""
        return tuple(self.roles.get(name, ()))


def drawn(number: int, seed: int) -> Case:
    """The case of a number."""
    rng = Random(f"{seed}/{number}")
    method = METHODS[number % len(METHODS)]
    whole = number % 11 == 7
    n = _rows(rng, whole)
    persons = _persons(rng, n) if rng.random() < 0.15 else None
    names = _names(rng)
    columns: dict[str, Column] = {}
    roles: dict[str, Any] = {}

    def add(role: str, column: Column) -> str:
        name = names.pop()
        columns[name] = column
        if role:
            roles.setdefault(role, []).append(name)
        return name

    for _ in range(rng.choice((1, 2, 2, 3, 3, 4, 5))):
        add("quasi", _of_persons(rng, _quasi(rng, n, method), persons, 0.85))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3)) if method != "anti-unification" else rng.choice((1, 1, 2))):
        add("confidential", _of_persons(rng, _confidential(rng, n, method), persons, 0.6))
    if rng.random() < 0.3:
        add("identifier", Column("nominal", [f"Person No. {i}" for i in range(n)]))
    if persons is not None:
        add("person", Column("number", persons) if rng.random() < 0.6 else Column("nominal", [f"p{one}" for one in persons]))
    if rng.random() < 0.12 and method != "anti-unification":
        household = [None if rng.random() < 0.05 else one for one in _persons(rng, n)]
        add("household", Column("number", household))
        if rng.random() < 0.6:
            roles["link"] = {"household": rng.choice((2, 2, 3))}
    elif persons is not None and rng.random() < 0.25 and method != "anti-unification":
        roles["link"] = {"person": rng.choice((2, 2, 3))}
    if rng.random() < 0.15:
        add("weight", Column("number", [rng.choice((0.5, 1.0, 2.25, 1e6)) for _ in range(n)]))
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        add(rng.choice(("other", "other", "")), _confidential(rng, n, method))
    if method in LEARNING or rng.random() < 0.1:
        if roles.get("confidential") and rng.random() < 0.4 and _classes(columns[roles["confidential"][0]]):
            roles["target"] = roles["confidential"][0]
        else:
            roles["target"] = add("", _of_persons(rng, _target(rng, n), persons, 0.8))
    case = Case(columns, roles, [], rng.choice(FORMS), rng.choice(TOKENS), rng.getrandbits(64), whole)
    _say_scales(rng, case, method)
    case.steps = _steps(rng, case, method)
    return case


# ---- columns --------------------------------------------------------------------------------------------------------------------------


def _rows(rng: Random, whole: bool) -> int:
    if whole:
        return rng.randint(4, 40)
    if rng.random() < 0.005:
        return rng.randint(200, 2000)
    return rng.randint(1, 6) if rng.random() < 0.04 else rng.randint(5, 60)


def _names(rng: Random) -> list[str]:
    odd = rng.sample(NAMES, 24)
    return [name if rng.random() < 0.5 else f"col{i}" for i, name in enumerate(odd)]


def _persons(rng: Random, n: int) -> list[int]:
    """Whose each row is: one to four rows a person, in any order."""
    found: list[int] = []
    most = rng.choice((1, 2, 4))
    while len(found) < n:
        found += [rng.randint(1, 10**6)] * rng.randint(1, most)
    rng.shuffle(found)
    return found[:n]


def _of_persons(rng: Random, column: Column, persons: list[int] | None, same: float) -> Column:
    """Mostly one value a person."""
    if persons is None or rng.random() > same:
        return column
    first = {person: i for i, person in reversed(list(enumerate(persons)))}
    column.values = [column.values[first[person]] for person in persons]
    return column


def _some_missing(rng: Random, values: list[Any]) -> list[Any]:
    share = rng.choice((0, 0, 0, 0.05, 0.3, 0.7))
    return [None if share and rng.random() < share else value for value in values]


def _numbers(rng: Random, n: int) -> list[Any]:
    """Whole, broken, huge, tiny, few, tied."""
    draws: list[Callable[[], Any]] = [
        lambda: rng.randint(0, 99),
        lambda: rng.randint(0, 4),
        lambda: round(rng.gauss(50, 15), 2),
        lambda: rng.gauss(0, 1),
        lambda: rng.choice((0.0, -0.0, 0.1, 0.1 + 0.2, 0.3, -1.5)),
        lambda: 2**53 + rng.randint(0, 6),
        lambda: rng.randint(-(10**17), 10**17),
        lambda: math.ldexp(rng.random(), rng.randint(-200, 200)),
        lambda: rng.choice((1e60, -1e60, 1e-60, 0, 1.5)),
        lambda: 1e15 + rng.randint(0, 3) / 4,
        lambda: int(rng.lognormvariate(8, 2)),
    ]
    draw = rng.choices(draws, (8, 5, 6, 5, 2, 1, 1, 1, 1, 1, 3))[0]
    return [draw() for _ in range(n)]


def _far_numbers(rng: Random, n: int) -> list[Any]:
    """What no method computes with, but a column may hold."""
    pool = rng.choice(((1e300, -1e300, 1e299), (1e-300, 5e-324, 0.0, -0.0), (10**18 - 1, 10**18 - 2, -(10**18) + 1), (1e300, 5e-324, 1)))
    return [rng.choice(pool) for _ in range(n)]


def _dates(rng: Random, n: int) -> list[Any]:
    first, days = (
        rng.choice((datetime.date(1930, 1, 1), datetime.date(2020, 2, 28), datetime.date(1968, 12, 31))),
        rng.choice((3, 300, 30000)),
    )
    return [first + datetime.timedelta(rng.randint(0, days)) for _ in range(n)]


def _texts(rng: Random, n: int) -> list[Any]:
    pool = list(rng.choice((LOOKALIKES, AWKWARD, CELL_LIKE, WORDS, WORDS, WORDS, NUMBERLIKE, LOOKALIKES + AWKWARD + CELL_LIKE)))
    pool = rng.sample(pool, min(len(pool), rng.randint(1, max(1, min(12, n // 3)))))
    return [rng.choice(pool) for _ in range(n)]


def _number_column(rng: Random, n: int) -> Column:
    values, codes = _some_missing(rng, _numbers(rng, n)), ()
    if rng.random() < 0.1 and all(value is None or isinstance(value, int) for value in values):
        codes = (rng.choice(("-9", "-99")),)
        values = [int(codes[0]) if rng.random() < 0.2 else value for value in values]
    return Column("number", values, codes)


def _quasi(rng: Random, n: int, method: str) -> Column:
    if rng.random() < 0.02:
        return Column("number", _far_numbers(rng, n))
    if rng.random() < 0.02:
        return Column("empty", [None] * n)
    if rng.random() < 0.03:
        return Column("number", [rng.choice((7, 0.1, 2**53 + 1))] * n)
    draw = rng.random()
    if method in NUMBERS_ONLY:
        draw = rng.choice((0.1, 0.1, 0.1, 0.1 if method == "rounding" else 0.5, 0.1 if method in NO_ORDINAL else 0.6))
    if draw < 0.4:
        return _number_column(rng, n)
    if draw < 0.5:
        return Column("date", _some_missing(rng, _dates(rng, n)))
    if draw < 0.55:
        return Column("date-text", _some_missing(rng, _dates(rng, n)))
    if draw < 0.65:
        levels = tuple(rng.sample(("low", "middle", "high", "very high", "*", "{a|b}", "1", "02"), rng.randint(2, 6)))
        return Column("ordinal", _some_missing(rng, [rng.choice(levels) for _ in range(n)]), levels=levels)
    if draw < 0.7:
        return Column("flag", _some_missing(rng, [rng.random() < 0.5 for _ in range(n)]))
    return Column("nominal", _some_missing(rng, _texts(rng, n)))


def _confidential(rng: Random, n: int, method: str) -> Column:
    if method == "anti-unification":  # which looks for k records with the same values
        pool = rng.sample(WORDS + CELL_LIKE + LOOKALIKES, rng.choice((1, 2, 2, 3)))
        return Column("nominal", _some_missing(rng, [rng.choice(pool) for _ in range(n)]))
    draw = rng.random()
    if draw < 0.08:
        return Column("number", _some_missing(rng, _far_numbers(rng, n)))
    if draw < 0.1:
        return Column("empty", [None] * n)
    if draw < 0.45:
        return _number_column(rng, n)
    if draw < 0.5:
        return Column("date", _some_missing(rng, _dates(rng, n)))
    if draw < 0.55:
        return Column("flag", [rng.random() < 0.3 for _ in range(n)])
    values, codes = _some_missing(rng, _texts(rng, n)), ()
    if rng.random() < 0.15:
        codes = ("refused",)
        values = ["refused" if rng.random() < 0.2 else value for value in values]
    return Column("nominal", values, codes)


def _target(rng: Random, n: int) -> Column:
    if rng.random() < 0.3:
        return Column("number", [rng.randint(0, 3) for _ in range(n)])
    pool = rng.sample(WORDS + CELL_LIKE, rng.randint(2, 4))
    return Column("nominal", _some_missing(rng, [rng.choice(pool) for _ in range(n)]))


def _classes(column: Column) -> bool:
    return 2 <= len(set(map(repr, column.values))) <= 10


# ---- roles and steps ------------------------------------------------------------------------------------------------------------------


def _say_scales(rng: Random, case: Case, method: str) -> None:
    """What the cells do not tell: levels, codes for missing, forms of dates, hierarchies."""
    for name, column in case.columns.items():
        if column.kind == "ordinal":
            case.roles.setdefault("ordinal", {})[name] = column.levels
        if column.codes:
            case.roles.setdefault("missing", {})[name] = column.codes
        if column.kind == "date-text":
            case.roles.setdefault("kinds", {})[name] = "date:%d.%m.%Y"
        if column.kind in ("nominal", "flag") and name in case.role("quasi"):
            if column.kind == "nominal":
                case.roles.setdefault("nominal", []).append(name)
            if column.kind == "nominal" and method in FOLLOWING and rng.random() < 0.2:
                leaves = list(dict.fromkeys(value for value in column.values if value is not None))
                rows = [[leaf, f"group {i % 3}"] for i, leaf in enumerate(leaves)]
                if rows:
                    case.roles.setdefault("hierarchies", {})[name] = column.hierarchy = rows
        if (
            column.kind in ("number", "date")
            and name in case.role("quasi")
            and method in FOLLOWING
            and not column.codes
            and rng.random() < 0.2
        ):
            rule = rng.choice(
                ("width 5, then 10, 40", "width 0.25 from 0.1", "cuts -1, 7, 50") if column.kind == "number" else ("dates", "month, year")
            )
            case.roles.setdefault("hierarchies", {})[name] = rule
        elif column.kind == "number" and name in case.role("quasi") and method not in NUMBERS_ONLY and rng.random() < 0.05:
            case.roles.setdefault("nominal", []).append(name)
    if rng.random() < 0.05:
        case.roles["rest"] = "release"


def _steps(rng: Random, case: Case, method: str) -> list[tuple[str, dict[str, Any]]]:
    first = (method, _parameters(rng, case, method))
    if rng.random() > 0.15:
        return [first]
    quasi, by_column = list(case.role("quasi")), any(isinstance(first[1].get(key), dict) for key in ("limit", "cuts", "map"))
    if rng.random() < 0.5 and len(quasi) > 1 and not by_column:  # other columns by another method
        cut = rng.randint(1, len(quasi) - 1)
        other = rng.choice(_able(case, quasi[cut:], [m for m in METHODS if m not in (*LEARNING, "anti-unification", *CODING)]))
        first[1]["columns"] = tuple(quasi[:cut])
        second = (other, _parameters(rng, case, other) | {"columns": tuple(quasi[cut:])})
        return [first, second]
    before = rng.choice(_able(case, quasi, ["noise", "rank-swapping", "individual-ranking", "mdav", "top-coding", "rounding"]))
    return [(before, _parameters(rng, case, before)), first]


def _able(case: Case, columns: list[str], methods: list[str]) -> list[str]:
    """Methods that are defined for the scales of some columns."""
    kinds = {"nominal" if c in case.roles.get("nominal", ()) else case.columns[c].kind for c in columns}
    if kinds & {"nominal", "flag"}:
        methods = [method for method in methods if method not in NUMBERS_ONLY]
    if "ordinal" in kinds:
        methods = [method for method in methods if method not in NO_ORDINAL]
    return methods


def _k(rng: Random, rows: int, method: str) -> int:
    if method == "anti-unification" and rng.random() < 0.9:
        return 2
    if rng.random() < 0.1:
        return max(2, rng.choice((rows, rows - 1, rows // 2, rows + 1, 10 * rows)))
    return rng.choice((2, 2, 3, 3, 4, 5, 10))


def _parameters(rng: Random, case: Case, method: str) -> dict[str, Any]:
    given: dict[str, Any] = {}

    def maybe(share: float, **more: Any) -> None:
        if rng.random() < share:
            given.update(more)

    if method not in ("kde", "rank-swapping", "noise", "k-tca", *CODING):
        given["k"] = _k(rng, case.rows, method)
    confidential = case.role("confidential")
    if method in DIVERSE and confidential:
        few = min(len({repr(value) for value in case.columns[name].values if value is not None}) for name in confidential)
        maybe(0.4, l=rng.choice((2, 2, 3)) if few > 1 or rng.random() < 0.1 else 1)
        maybe(0.3, missing=rng.choice(("ignored", "counted")))
        if method not in ("c-tca", "k-tca") and few > 1:
            maybe(0.2, entropy=rng.choice((1.1, 1.5, 2.0)))
    if method in CLOSE and confidential:
        maybe(0.25, t=rng.choice((0.1, 0.25, 0.5, 0.9)))
    if method in ("mdav", "mdav-large", "v-mdav", "z-projection", "pca-projection"):
        maybe(0.4, refine=rng.choice(("none", "swap")))
        maybe(0.2, standardize="none")
    if method in ("individual-ranking", "z-projection", "pca-projection"):
        maybe(0.4, grouping="optimal")
    if method in CODING:
        return coding_parameters(rng, case, method)
    given.update(_own_parameters(rng, case, method))
    return given


def _own_parameters(rng: Random, case: Case, method: str) -> dict[str, Any]:
    """What few methods have."""
    pick = rng.choice
    published = {"publish": pick(("counts", "sets", "intervals", "mean"))} if rng.random() < 0.7 else {}
    quasi = [case.columns[name] for name in case.role("quasi")]
    beside = [*case.role("confidential"), *case.role("other")]
    plain = all(column.kind == "number" and not column.codes and None not in column.values for column in quasi)
    tca = {"views": pick((1, 2, 3)), **({"coding": "prototype", "refine": "none"} if rng.random() < (0.9 if plain else 0.03) else {})}
    own: dict[str, dict[str, Any]] = {
        "mdav-large": {"block_rows": pick((10, 20, 1000))},
        "v-mdav": {"gamma": pick((0.0, 0.2, 1.1, 5.0))},
        "c-tca": tca | {"units": pick(("per-group", "kohonen"))},
        "k-tca": {key: value for key, value in tca.items() if key != "refine"},
        "kde": {"smoothing": pick((0.1, 1.0, 3.0))},
        "rank-swapping": {"p": pick((0.5, 5.0, 50.0, 100.0))},
        "noise": {"p": pick((0.01, 0.1, 2.0)), "correlation": pick(("none", "data"))},
        "mondrian": published,
        "infogain-mondrian": published,
        "balanced-mondrian": published | {"ratio": pick((0.0, 0.5, 1.0)), "narrowing": pick((0.0, 0.05, 1.0))},
        "kactus": published | {"inducer": pick(("c4.5", "c4.5", "cart")), "leftover": pick(("rescue", "drop")), "show": pick(("path", "path-and-agreed"))},
        "kactus-refined": published | {"leftover": pick(("rescue", "drop"))},
        "anti-unification": {"limit": pick((1, 2, 4, 4)), "passes": pick(("once", "until-nothing")), "numeric": pick(("bins", "values"))},
        "local-suppression": {"search": pick(("auto", "greedy"))} | ({"subsets": 1} if rng.random() < 0.2 else {}),
        "local-recoding": {"leftover": pick(("join", "suppress"))},
        "recoding": {"suppress": pick((0.0, 0.0, 0.1, 0.5)), "suppressed": pick(("starred", "dropped")), "loss": pick(LOSSES)},
        "datafly": {"suppress": pick((0.0, 0.1, 0.3)), "suppressed": pick(("starred", "dropped"))},
        "incognito": {"suppress": pick((0.0, 0.1))},
        "kadet": {"private": (pick(beside),)} if beside and rng.random() < 0.5 else {},
        "anti-unification-safe": {
            "order": pick(("least-suppressed", "fewest-first", "most-first")),
            "numeric": pick(("intervals", "bins", "values")),
            "publish": pick(("suppressed", "sets", "counts")),
        },
    }  # fmt: skip
    return own.get(method, {})
