"""`shoal risk`: what a file gives away as it is, before any release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from shoal.cli.options import (
    Delimiter,
    Encoding,
    Identifier,
    Json,
    Kind,
    Missing,
    MissingCode,
    Nominal,
    Quasi,
    RolesFile,
    reading_of,
)

if TYPE_CHECKING:
    from shoal.runs.risk import FileRisk

SHOWN = 10  # keys


def risk(
    table: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    roles: RolesFile = None,
    quasi: Quasi = None,
    identifier: Identifier = None,
    person: Annotated[
        Optional[list[str]], typer.Option("--person", help="The column that says which rows are of one person: persons are counted.")
    ] = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    missing: Missing = None,
    size: Annotated[
        Optional[int], typer.Option("--size", help="Look at sets of at most so many columns. Absent: as far as some seconds go.")
    ] = None,
    tells: Annotated[
        Optional[float], typer.Option("--tells", help="Name the smallest sets of columns of at least this distinction, .95 for example.")
    ] = None,
    fraction: Annotated[
        Optional[float], typer.Option("--fraction", help="The share of the population that is in the file: with it, DIS-SUDA scores.")
    ] = None,
    score: Annotated[str, typer.Option("--score", help="elliot, or ihsn as in the household survey guide.")] = "elliot",
    out: Annotated[
        Optional[Path], typer.Option("-o", "--out", help="Write every row's score and what makes it special to this CSV file: private.")
    ] = None,
    json: Json = False,
) -> None:
    """Show what a file gives away as it is: classes, uniques, the columns that tell rows apart, and which rows are special."""
    from shoal.cli import show, verbs
    from shoal.errors import OutputError
    from shoal.files import read_table
    from shoal.folders import PRIVATE_FILE, write_text
    from shoal.runs.risk import file_risk

    if out and (out.exists() or out.is_symlink()):
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    if out and not out.absolute().parent.is_dir():
        raise OutputError(f"{out} cannot be made: there is no folder {out.parent}. Make it first.")
    given = verbs.roles(roles, quasi=quasi, identifier=identifier, person=person, nominal=nominal, kind=kind, missing_code=missing_code)
    with show.progress() as progress:
        progress("reading the table", 0, 1)
        rows = read_table(table, **reading_of(encoding, delimiter, missing))
        progress("reading the table", 1, 1)
        found = file_risk(rows, given, size, tells, fraction, score, progress)  # type: ignore[arg-type]  # which says what scores there are
    if out:
        write_text(out, found.records(), PRIVATE_FILE)
    if json:
        show.data(found.plain())
    else:
        _show(table.name, found)
    for note in found.notes:
        show.say(note)
    show.say(found.sentence)
    if out:
        show.say(f"The score of every row is in {out}, the most special first. It says which rows are easiest to find: it must not leave.")


def _show(name: str, found: FileRisk) -> None:
    from shoal.cli import show
    from shoal.errors import counted

    unit, all_ = found.unit, found.rows if found.persons is None else found.persons
    about: list[tuple[str, str]] = [
        ("rows", f"{found.rows:,}" if found.persons is None else f"{found.rows:,} of {counted(found.persons, 'person')}"),
        ("columns that an intruder may know", f"{len(found.columns):,}"),
        ("classes (distinct combinations)", f"{found.classes:,}"),
        (f"smallest class, {unit}", f"{found.smallest_class:,}"),
        (f"unique {unit}", _of(found.unique, all_)),
        *((f"{unit} in classes of fewer than {k}", _of(many, all_)) for k, many in found.below.items() if k > 2),
        (f"classes by size, {unit}", ", ".join(f"{k:,}: {many:,}" for k, many in found.histogram.items()) + _more(found)),
        (f"{unit} with a special unique", _of(found.special, all_)),
    ]
    show.table(f"{name} as it is", ["what", "found"], about)
    print()
    show.table(
        "Every column by itself",
        ["column", "distinct", "distinction", "separation", "part of special scores"],
        [
            (one.column, f"{one.distinct:,}", _share(one.distinction), _share(one.separation), _share(one.part_of_scores))
            for one in found.columns
        ],
    )
    print()
    _show_sizes(found)
    if found.keys is not None:
        print()
        _show_keys(found, found.keys)


def _show_sizes(found: FileRisk) -> None:
    """Sets by size, as far as any is special or tells more than smaller ones do."""
    from shoal.cli import show

    sizes = list(found.sizes)
    while len(sizes) > 1 and not sizes[-1].special and sizes[-1].distinction == sizes[-2].distinction:
        sizes.pop()
    rows = [
        (
            f"{one.columns}",
            f"{one.sets:,}",
            f"{one.special:,}",
            ", ".join(one.telling) or "n/a",
            _share(one.distinction),
            _share(one.separation),
            show.number(one.unique),
        )
        for one in sizes
    ]
    if larger := found.sizes[len(sizes) :]:
        which = f"{larger[0].columns} to {larger[-1].columns}" if len(larger) > 1 else f"{larger[0].columns}"
        rows.append((which, f"{sum(one.sets for one in larger):,}", "0", "none tells more" if sizes[-1].telling else "n/a", "", "", ""))
    names = ["columns", "sets", "special uniques", "most telling set", "distinction", "separation", f"unique {found.unit}"]
    show.table("Sets of columns", names, rows)


def _more(found: FileRisk) -> str:
    """Classes that are larger than those shown."""
    larger = found.classes - sum(found.histogram.values())
    return f" and {larger:,} larger" if larger else ""


def _show_keys(found: FileRisk, keys: tuple[tuple[str, ...], ...]) -> None:
    """The smallest sets, each of which is enough for an intruder."""
    from shoal.cli import show

    all_ = "" if found.keys_all_found else " of the sets looked at"
    key = f"key of distinction {_share(found.keys_tell)}, of which no column can be spared"
    rows = [(f"{len(key)}", ", ".join(key)) for key in keys[:SHOWN]]
    rows += [("", f"and {len(keys) - SHOWN:,} more")] if len(keys) > SHOWN else []
    show.table(f"Minimal keys: {len(keys):,}{all_}", ["columns", key], rows or [("", "none")])


def _of(some: int, all_: int) -> str:
    """12 (1.2 %); all are 100 %, and nearly all are not."""
    share = 100 * some / all_
    text = f"{share:.0f}" if some in (0, all_) else f"{min(max(share, 0.1), 99.9):.1f}"
    return f"{some:,} ({text} %)"


def _share(value: Any) -> str:
    """Four digits; never 1 for what is below it."""
    if value is None:
        return "n/a"
    return f"{value:.0f}" if value in (0, 1) else f"{min(max(value, 0.0001), 0.9999):.4f}".lstrip("0")
