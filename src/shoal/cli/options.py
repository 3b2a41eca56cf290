"""Words that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

# Typer reads these at run time, so they are plain Optional and Annotated.
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Sign = Annotated[Optional[Path], typer.Option("--sign", help="A private key to sign the certificate with; `shoal key` makes one.")]
