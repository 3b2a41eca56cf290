"""`shoal lattice`: the choices of levels near the one that `recoding` releases, with what each costs and keeps."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from shoal.cli.options import (
    Confidential,
    Delimiter,
    Encoding,
    Hierarchy,
    Identifier,
    Json,
    Kind,
    Missing,
    MissingCode,
    Nominal,
    Other,
    Parameter,
    Person,
    Quasi,
    RolesFile,
    reading_of,
    roles_of,
)

if TYPE_CHECKING:
    from shoal.report.lattice import Lattice, LatticeNode

SHOWN = 10  # nodes that keep what is asked
SHOWN_LACKING = 6


def lattice(
    table: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    roles: RolesFile = None,
    quasi: Quasi = None,
    confidential: Confidential = None,
    identifier: Identifier = None,
    person: Person = None,
    other: Other = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    hierarchy: Hierarchy = None,
    parameter: Parameter = None,
    nodes: Annotated[int, typer.Option("--nodes", min=1, max=1000, help="How many nodes are counted, nearest first.")] = 60,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    missing: Missing = None,
    out: Annotated[Optional[Path], typer.Option("-o", "--out", help="Draw them in this HTML file, which is private.")] = None,
    json: Json = False,
) -> None:
    """Show the lattice of levels near the optimum of method recoding, which takes the same parameters: loss, suppressed rows, k, l and t."""
    from shoal.cli import show, verbs
    from shoal.errors import OutputError
    from shoal.files import read_table
    from shoal.folders import PRIVATE_FILE, write_text
    from shoal.report.lattice import lattice_page, looked_at, verdict_on
    from shoal.runs.lattice import lattice_near

    if out and (out.exists() or out.is_symlink()):
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    given, asked = roles_of(locals()), verbs.parameters(parameter)
    with show.progress() as progress:
        found = lattice_near(read_table(table, **reading_of(encoding, delimiter, missing)), given, asked, nodes, progress)
    if out:
        write_text(out, lattice_page(found), PRIVATE_FILE)
    if json:
        _print_json(found)
    else:
        show.say(verdict_on(found))
        _print(found)
        show.say(looked_at(found))
        for warning in found.warnings:
            show.say(f"Warning: {warning}")
    if out:
        show.say(f"{out} draws them. Its figures are exact and of the original: it stays with you.")
    elif not json:
        show.say("These figures are exact and of the original: they stay with you. Add -o lattice.html to see them as a picture.")


def _print(found: Lattice) -> None:
    """The levels of the optimum by name, and the nodes nearest to it in loss."""
    from shoal.cli import show
    from shoal.report.lattice import SIGNS, in_words, state_in_words

    levels = [(one.column, f"{at} of {len(one.groups) - 1}", one[at]) for one, at in zip(found.columns, found.optimum.levels)]
    show.table("The optimum" if found.gap is None else "The best found", ["column", "level", "shows"], levels)
    kept = [node for node in found.nodes if node.state != "lacking"]
    lacking = [node for node in found.nodes if node.state == "lacking"]
    chosen = [*kept[:SHOWN], *lacking[:SHOWN_LACKING]]

    def row(node: LatticeNode) -> tuple[str, ...]:
        told = [cell for l, t in zip(node.l, node.t) for cell in (f"{l:,}", show.number(t))]  # noqa: E741
        changed = "" if node is found.optimum else in_words(found, node)
        share = f"{node.suppressed / found.records:.1%}"
        sign = f"{SIGNS[node.state]} {state_in_words(found, node.state)}"
        return sign, show.number(node.loss), f"{node.suppressed:,}", share, f"{node.smallest:,}", *told, changed

    names = ["", "loss", f"suppressed, {found.records_are}", "share", f"smallest class, {found.unit}"]
    names += [f"{what} of {column}" for column in found.confidential for what in ("l", "t")]
    title = f"{len(chosen)} of the {len(found.nodes):,} nodes counted"
    show.table(title, [*names, "levels that differ"], map(row, chosen))


def _print_json(found: Lattice) -> None:
    from dataclasses import asdict

    from shoal.certificate import plain
    from shoal.cli import show

    plainly = plain(asdict(found))
    names = [one.column for one in found.columns]
    plainly["nodes"] = [
        {
            **told,
            "levels": dict(zip(names, node.levels)),
            "l": dict(zip(found.confidential, node.l)),
            "t": dict(zip(found.confidential, node.t)),
        }
        for told, node in zip(plainly["nodes"], found.nodes)
    ]
    show.data(plainly)
