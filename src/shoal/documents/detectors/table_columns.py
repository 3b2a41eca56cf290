"""Numbers in a column that a table's head names: a row is a line with tabs or bars, or, where a file keeps no rows, every cell is a line."""

import re
from collections.abc import Iterator

from shoal.document import IDENTITY, Finding

_NUMBERED = r"(?:no|nr|number|num|id)\b\.?"
_NAMED = rf"(?:mrn|nhs|chi|id|(?:hosp(?:ital)?|patient|record|unit|case|client|member|employee|study)[ ]{_NUMBERED})(?:[ ]{_NUMBERED})?:?"
_HEAD = re.compile(_NAMED, re.IGNORECASE)
_ANY_HEAD = re.compile(rf"(?:^|[\t|])[ ]{{0,3}}{_NAMED}[ ]{{0,3}}(?=[\t|]|$)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"[A-Z]{0,3}[ -]?\d{5,10}|\d{3}[ -]\d{3}[ -]\d{4}")
_PROSE = 60  # characters: a line of one cell that is longer is text after the table


def find_columns(text: str) -> Iterator[Finding]:
    """Cells that are a number of five to ten digits, below a head that names such numbers. A blank line ends the table."""
    if not _ANY_HEAD.search(text):
        return
    named: frozenset[int] = frozenset()
    start = 0
    for line in text.split("\n"):
        cells = re.split(r"[\t|]", line)
        heads = frozenset(i for i, cell in enumerate(cells) if _HEAD.fullmatch(cell.strip()))
        if heads:
            named = heads
        elif not line.strip() or (len(cells) == 1 and len(line) > _PROSE):
            named = frozenset()
        at = start
        for i, cell in enumerate(cells):
            if i in named and not heads and _NUMBER.fullmatch(cell.strip()):
                begin = at + len(cell) - len(cell.lstrip())
                yield Finding(begin, begin + len(cell.strip()), IDENTITY, 0.85, "a number in a column that its head names")
            at += len(cell) + 1
        start += len(line) + 1
