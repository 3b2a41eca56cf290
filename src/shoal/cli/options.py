"""Words that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# Typer reads these at run time, so they are plain Optional and Annotated.
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Formulas = Annotated[
    str,
    typer.Option("--formulas", help="keep, or escape: an apostrophe goes before text that a spreadsheet program would run, in a CSV."),
]
Sign = Annotated[Optional[Path], typer.Option("--sign", help="A private key to sign the certificate with; `shoal key` makes one.")]


def keep_or_escape(given: str) -> str:
    """What --formulas may be."""
    if given not in ("keep", "escape"):
        raise typer.BadParameter(f"--formulas is keep or escape, got '{given}'")
    return given
