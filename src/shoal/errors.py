"""What can go wrong, as sentences for the person at the keyboard. No message holds a cell value.

Beside its sentence an error carries a code, for programs, and what it is about: a column, a parameter or a file, for a form to point at.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import ClassVar


class ShoalError(Exception):
    """The user can put this right; the message says how."""

    code: ClassVar[str] = "error"

    def __init__(self, sentence: str, *, about: str | None = None) -> None:
        super().__init__(sentence)
        self.about = about


class DataError(ShoalError):
    """The table or file is not what the operation needs."""

    code: ClassVar[str] = "data"


class TooManyCombinations(DataError):  # noqa: N818 - said of rows elsewhere, whose figures can then not be had
    """Columns have more distinct combinations than can be counted in memory."""


class RoleError(ShoalError):
    """A column was given a role it cannot have."""

    code: ClassVar[str] = "role"


class ParameterError(ShoalError):
    """A parameter is unknown or outside its range."""

    code: ClassVar[str] = "parameter"


class UnknownNameError(ShoalError):
    """No method, measure or attack has this name."""

    code: ClassVar[str] = "unknown-name"


class OutputError(ShoalError):
    """The result could not be written; nothing was left behind."""

    code: ClassVar[str] = "output"


class PromiseBroken(ShoalError):  # noqa: N818 - it is a verdict, not a programming error
    """The independent check found a promise that does not hold; nothing was written."""

    code: ClassVar[str] = "promise-broken"


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """' Did you mean 'mdav'?' when something known is close, else nothing."""
    close = get_close_matches(wrong, [one for one in known if one != wrong], n=1, cutoff=0.6)  # a link that leads nowhere has its name
    return f" Did you mean '{close[0]}'?" if close else ""


def number(n: int) -> str:
    """1080 -> '1,080'."""
    return f"{n:,}"


def counted(n: int, thing: str, things: str | None = None) -> str:
    """'1 row', '12 rows'."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"
