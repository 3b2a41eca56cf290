"""One document's failure is that document's: whatever happens to one becomes a sentence about it, and the rest goes on."""

from __future__ import annotations

from shoal.errors import DataError, ShoalError
from shoal.unforeseen import unforeseen


def failure_of(error: Exception) -> str:
    """Why a document was not done, without a word of it. Of what nobody foresaw a code is said: its message may quote the document."""
    if isinstance(error, MemoryError):
        return "It needs more memory than there is. Leave it out."
    if isinstance(error, ShoalError):
        return str(error)
    if isinstance(error, RecursionError):
        return "It is nested too deeply to be read."
    return f"Leave this document out: {unforeseen(error).sentence}"


def utf8_name(name: str) -> str:
    """The name of a file, which must be UTF-8: it is written into the case, and bytes that are no text cannot be."""
    if sayable(name) != name:
        raise DataError("Its name is not UTF-8 text. Rename the file.")
    return name


def sayable(name: str) -> str:
    """The name of a file as text, whatever its bytes are."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
