"""Where in a text it is worth looking: windows around digits. Most of a text has none, and most forms need some."""

import re
from collections.abc import Iterator

Zones = list[tuple[int, int]]

DIGIT = re.compile(r"\d+")
MANY_DIGITS = re.compile(r"\d(?:[^\d\n]{0,3}\d){5,}")  # six digits or more, at most three other characters apart


def zones(text: str, seed: re.Pattern[str], left: int, right: int) -> Zones:
    """Windows that reach so far to the left and right of each seed, joined where they meet."""
    out: Zones = []
    for match in seed.finditer(text):
        start, end = max(0, match.start() - left), min(len(text), match.end() + right)
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def search_in(form: re.Pattern[str], text: str, where: Zones) -> Iterator[re.Match[str]]:
    """Matches inside the windows. One that a window's end may have cut off is left out: windows reach further than forms do."""
    for start, end in where:
        for match in form.finditer(text, start, end):
            if match.end() < end or end == len(text):
                yield match
