"""What can go wrong, as sentences for the person at the keyboard. No message holds a cell value."""

from collections.abc import Iterable
from difflib import get_close_matches


class ShoalError(Exception):
    """The user can put this right; the message says how."""


class DataError(ShoalError):
    """The table or file is not what the operation needs."""


class RoleError(ShoalError):
    """A column was given a role it cannot have."""


class ParameterError(ShoalError):
    """A parameter is unknown or outside its range."""


class UnknownNameError(ShoalError):
    """No method, measure or attack has this name."""


class OutputError(ShoalError):
    """The result could not be written; nothing was left behind."""


class PromiseBroken(ShoalError):  # noqa: N818 - it is a verdict, not a programming error
    """The independent check found a promise that does not hold; nothing was written."""


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """' Did you mean 'mdav'?' when something known is close, else nothing."""
    close = get_close_matches(wrong, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{close[0]}'?" if close else ""


def number(n: int) -> str:
    """1080 -> '1,080'."""
    return f"{n:,}"


def counted(n: int, thing: str, things: str | None = None) -> str:
    """'1 row', '12 rows'."""
    return f"{n:,} {thing if n == 1 else things or thing + 's'}"
