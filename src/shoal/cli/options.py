"""Words that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

if TYPE_CHECKING:
    from shoal.roles import Roles

# Typer reads these at run time, so they are plain Optional and Annotated.
RolesFile = Annotated[Optional[Path], typer.Option("--roles", help="TOML file of roles, as `shoal look -o` writes it.")]
Names = Optional[list[str]]
Quasi = Annotated[Names, typer.Option("--quasi", help="Quasi-identifiers, a,b,c: columns an intruder may know.")]
Confidential = Annotated[Names, typer.Option("--confidential", help="Confidential columns, a,b,c.")]
Identifier = Annotated[Names, typer.Option("--identifier", help="Identifiers, a,b,c: left out of the release.")]
Person = Annotated[
    Names, typer.Option("--person", help="The column that says which rows are of one person: left out, and persons are counted.")
]
Rest = Annotated[Optional[str], typer.Option("--rest", help="release: columns without a role are released as they are, not left out.")]
Link = Annotated[
    Names, typer.Option("--link", help="person or household, or household=5: release fresh numbers of those that so many look like.")
]
Other = Annotated[Names, typer.Option("--other", help="Columns to release as they are, a,b,c.")]
Nominal = Annotated[Names, typer.Option("--nominal", help="Columns whose numbers are codes without an order, a,b,c.")]
Target = Annotated[Optional[str], typer.Option("--target", help="The column that models trained on the release should predict.")]
Hierarchy = Annotated[Names, typer.Option("--hierarchy", help="column=file, or column=rule: how its values are grouped. May be repeated.")]
Kind = Annotated[Names, typer.Option("--kind", help="column=date:%d.%m.%Y, column=text or column=number: how it is read. May be repeated.")]
MissingCode = Annotated[Names, typer.Option("--missing-code", help="column=-1,-9: codes of a column that mean missing. May be repeated.")]
Encoding = Annotated[Optional[str], typer.Option("--encoding", help="The file's encoding, where it cannot be found out.")]
Delimiter = Annotated[Optional[str], typer.Option("--delimiter", help="The file's delimiter, where it cannot be found out.")]
Missing = Annotated[Names, typer.Option("--missing", help="A further token that means missing. May be repeated.")]
Parameter = Annotated[Names, typer.Option("-p", "--parameter", help="A parameter, name=value. May be repeated.")]
Seed = Annotated[
    Optional[int], typer.Option("--seed", min=0, help="For tests and experiments only: whoever knows it can undo noise and swaps.")
]
Columns = Annotated[Names, typer.Option("--columns", help="Columns the intruder knows, a,b,c. Absent: all quasi-identifiers.")]
Records = Annotated[
    Optional[float],
    typer.Option("--records", help="How many records the intruder knows, or a share below 1. Absent: all, or 20,000 of a larger table."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
EngineName = Annotated[
    Optional[str],
    typer.Option("--engine", help="memory, duckdb or spark. Absent: memory, or duckdb where the table is too large for it."),
]
Memory = Annotated[Optional[str], typer.Option("--memory", help="How much may be taken, such as 2GB. Absent: half of what is free.")]
Master = Annotated[Optional[str], typer.Option("--master", help="The Spark cluster, such as spark://127.0.0.1:7077. Absent: this machine.")]
Formulas = Annotated[
    str,
    typer.Option("--formulas", help="keep, or escape: an apostrophe goes before text that a spreadsheet program would run, in a CSV."),
]
Sign = Annotated[Optional[Path], typer.Option("--sign", help="A private key to sign the certificate with; `shoal key` makes one.")]

Jobs = Annotated[int, typer.Option("--jobs", min=0, help="How many processes work, one document each at a time; 0: one for each core.")]
Where = Annotated[str, typer.Option("--engine", help="local: processes of this machine; spark: a cluster, with the extra spark.")]


def keep_or_escape(given: str) -> str:
    """What --formulas may be."""
    if given not in ("keep", "escape"):
        raise typer.BadParameter(f"--formulas is keep or escape, got '{given}'")
    return given


_OF_COLUMNS = ("quasi", "confidential", "identifier", "person", "other", "nominal", "kind", "missing_code")


def roles_of(options: dict[str, Any]) -> Roles:
    """Of a command's options: the roles file, and what is said on top of it."""
    from shoal.cli import verbs

    return verbs.roles(
        options["roles"], **{name: options[name] for name in ("target", "hierarchy", "rest", "link", *_OF_COLUMNS) if name in options}
    )


def reading_of(encoding: str | None, delimiter: str | None, missing: list[str] | None) -> dict[str, Any]:
    """How a file is read, where that is said."""
    given: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "missing": missing}
    return {key: value for key, value in given.items() if value not in (None, [])}
