"""What may reach the terminal: shoal's own sentences. What libraries say there, or a name that steers the terminal, may not."""

from __future__ import annotations

import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def debugging() -> bool:
    """Whether SHOAL_DEBUG asks for everything, cells or not."""
    return bool(os.environ.get("SHOAL_DEBUG"))


@contextmanager
def only_our_words() -> Iterator[None]:
    """Warnings of numpy, log lines of a reader, and what fails while an object goes, may quote cells: nobody hears them.

    A name on disk that is not UTF-8 is written with backslashes, where it would stop the output.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if debugging():
        yield
        return
    root, silent, unraisable = logging.getLogger(), logging.NullHandler(), sys.unraisablehook
    root.addHandler(silent)
    sys.unraisablehook = lambda *_: None
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda *_, **__: None  # a filter would hide them from tests too
            yield
    finally:
        root.removeHandler(silent)
        sys.unraisablehook = unraisable


def visible(text: str) -> str:
    """A text in one line that cannot steer a terminal: what has no shape is written with backslashes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


def known_words(words: Sequence[str]) -> list[str]:
    """Of what was typed, the verbs and the names of options: nothing that was given for them, though it begin with a dash."""
    from typer.main import get_command

    from shoal.cli.app import app

    known = set(_names(get_command(app)))
    found = []
    for word in words:
        name = word.partition("=")[0]
        if name not in known and name[:1] == "-" and name[1:2] != "-":  # -pk=5
            name = name[:2]
        if name in known:
            found.append(name)
    return found


def _names(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from (option for option in (*parameter.opts, *parameter.secondary_opts) if option.startswith("-"))
    for name, inner in getattr(command, "commands", {}).items():
        yield name
        yield from _names(inner)
