"""`shoal hierarchy`: a tree suggested from a column's values, shown and written; and a tree held against a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from shoal.cli.options import Json

if TYPE_CHECKING:
    from shoal.hierarchy import Hierarchy
    from shoal.roles import Roles
    from shoal.table import Table

SHOWN = 60  # lines of a tree


def hierarchy(
    column: Annotated[str, typer.Argument(help="A column of the table; or check.")],
    tree: Annotated[Optional[Path], typer.Argument(help="After check: the hierarchy's file.")] = None,
    of: Annotated[Optional[Path], typer.Option("--from", help="The table whose values are grouped, CSV or Parquet.")] = None,
    for_: Annotated[Optional[Path], typer.Option("--for", help="After check: the table it is for.")] = None,
    name: Annotated[Optional[str], typer.Option("--column", help="After check: its column. Absent: the file is named like it.")] = None,
    round_: Annotated[bool, typer.Option("--round", help="Numbers: bins of round widths.")] = False,
    dates: Annotated[bool, typer.Option("--dates", help="Dates: months, quarters, years, decades.")] = False,
    prefix: Annotated[bool, typer.Option("--prefix", help="Codes: their first letters.")] = False,
    levels: Annotated[Optional[str], typer.Option("--levels", help="Levels from lowest to highest, a,b,c: neighbours together.")] = None,
    by: Annotated[Optional[str], typer.Option("--by", help="Categories: those together that have the same answers in this column.")] = None,
    rule: Annotated[Optional[str], typer.Option("--rule", help="'width 5 from 0, then 10, 20', 'mask=*', 'continents', ...")] = None,
    missing_code: Annotated[Optional[str], typer.Option("--missing-code", help="-1,-9: codes of the column that mean missing.")] = None,
    out: Annotated[Optional[Path], typer.Option("-o", "--out", help="Write it to this CSV file.")] = None,
    json: Json = False,
) -> None:
    """Suggest a hierarchy from a column's values and show it, or check one against a table: hierarchy check zip.csv --for patients.csv."""
    from shoal.errors import ParameterError
    from shoal.files import read_table
    from shoal.roles import Roles

    if column == "check" and (tree is not None or for_ is not None):
        if tree is None or for_ is None:
            raise ParameterError("Name the hierarchy and its table: shoal hierarchy check zip.csv --for patients.csv")
        table = read_table(for_)
        if not check(tree, table, for_.name, name or _named_like(tree, table), json):
            raise typer.Exit(1)
        return
    if of is None:
        raise ParameterError(f"Name the table whose values are grouped: shoal hierarchy {column} --from patients.csv", about="from")
    kinds = (("round", round_), ("dates", dates), ("prefix", prefix), ("levels", levels))
    ways = [how for how, asked in kinds if asked]
    if len(set(ways) - ({"levels"} if rule else set())) + bool(rule) + bool(by) > 1:
        raise ParameterError("Say one way to group: --round, --dates, --prefix, --levels, --by or --rule (which may group --levels, too).")
    ordinal = {column: tuple(level.strip() for level in levels.split(","))} if levels else {}
    codes = {column: tuple(code.strip() for code in missing_code.split(","))} if missing_code else {}
    given = Roles(quasi=(column,), ordinal=ordinal, missing=codes)
    table = given.read(read_table(of))
    roles = given.check(table)
    suggest(table, roles, column, ways[0] if ways else None, rule, by, out, json)


def suggest(
    table: Table, roles: Roles, column: str, how: str | None, rule: str | None, by: str | None, out: Path | None, json: bool
) -> None:
    """A column's tree: by its values, by a rule, or by the answers to a confidential column."""
    from shoal.cli import show
    from shoal.errors import OutputError, ParameterError, counted
    from shoal.folders import write_text
    from shoal.hierarchy import CATCH_ALL, Hierarchy
    from shoal.hierarchy_rules import parse_rule
    from shoal.suggest_hierarchy import by_values_of, listed, suggested

    if by:
        table.column(by)  # that it is there
    if out and out.exists():
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    if by:
        tree: Hierarchy = by_values_of(table, column, by)
    elif rule:
        said, _, other = rule.partition(CATCH_ALL)
        tree = roles.tree_over(table, column, Hierarchy((), parse_rule(said).text, other.strip()))
    else:
        tree = suggested(table, column, roles, how)  # type: ignore[arg-type]  # one of those the command names
    if not tree.rows:
        raise ParameterError(f"Column '{column}' has no value that could be grouped.", about=column)
    rows = listed(tree)
    lacking, in_rows = _lacking(table, column, tree)
    if out:
        write_text(out, "".join(line + "\n" for line in Hierarchy(rows).lines))
    if json:
        found = {"column": column, "rule": tree.plain if tree.rule else None, "levels": [len(level.names) for level in tree.levels]}
        show.data(found | {"lacking": lacking, "rows": rows})
    else:
        _show_tree(table, column, tree)
    if len(tree.levels) <= 2 and not (rule or by or how):
        show.say("Nothing about these values says how to group them. --by, --levels or --rule says how; or write the file by hand.")
    if lacking and tree.rule:
        show.say(f"Without a group, and so not in it, in {counted(in_rows, 'row')}: {_first(lacking)}")
        show.say(f"A release needs a group for each: clean them, or put them into one of their own: --rule '{tree.rule}, else Other'")
    if tree.rule:
        show.say(f'In a roles file, under [hierarchies], this line does the same for values to come: {_key(column)} = "{tree.plain}"')
        if column in roles.ordinal:
            listed_levels = ", ".join(f'"{level}"' for level in roles.ordinal[column])
            show.say(f"and under [ordinal] its levels: {_key(column)} = [{listed_levels}]")
    if out:
        show.say(f"The hierarchy is in {out}: --hierarchy {column}={out}. Read it before you use it.")


def _named_like(tree: Path, table: Table) -> str:
    """The column that a file is named after: zip.csv, or adult_hierarchy_zip.csv as ARX's examples have it."""
    fits = [column for column in table.columns if tree.stem.endswith(("_" + column, "-" + column, " " + column))]
    return tree.stem if tree.stem in table.columns or not fits else max(fits, key=len)


def _key(column: str) -> str:
    """A column's name as it stands before a = in TOML."""
    import tomli_w

    return tomli_w.dumps({column: 0}).rpartition(" = ")[0]


def _lacking(table: Table, column: str, tree: Hierarchy) -> tuple[list[str], int]:
    """The values that the tree has no row for, and in how many rows they are."""
    import numpy as np

    from shoal.roles import value_names

    names = value_names(table, column)
    outside = np.array([at < 0 and name is not None for at, name in zip(tree.places(names).tolist(), names)], np.bool_)
    return [name for name, gone in zip(names, outside.tolist()) if gone and name is not None], int(outside[table.codes(column)].sum())


def _first(values: Sequence[str]) -> str:
    return ", ".join(values[:20]) + (f" and {len(values) - 20:,} more" if len(values) > 20 else "")


def _show_tree(table: Table, column: str, tree: Hierarchy) -> None:
    """Groups from the widest down, each with its values and rows; the values themselves are not listed."""
    import numpy as np

    from shoal.cli import show
    from shoal.errors import counted
    from shoal.roles import value_names

    rows = np.bincount(table.codes(column), minlength=len(table.levels(column)))
    place = tree.places(value_names(table, column))
    held = np.zeros(len(tree.rows), np.int64)
    np.add.at(held, place[place >= 0], rows[place >= 0])
    levels = tree.levels
    lines: list[tuple[str, str, str]] = []

    def grow(level: int, begin: int, stop: int, deep: int) -> None:
        here = levels[level]
        for node in dict.fromkeys(here.node[begin:stop].tolist()):
            a, b = int(here.starts[node]), int(here.starts[node + 1])
            lines.append(("  " * deep + here.names[node], f"{b - a:,}", f"{int(held[a:b].sum()):,}"))
            if level > 1:
                grow(level - 1, a, b, deep + 1)

    if len(levels) > 1:
        grow(len(levels) - 1, 0, len(tree.rows), 0)
    shown = lines if len(lines) <= SHOWN else [*lines[:SHOWN], (f"... and {len(lines) - SHOWN:,} more groups", "", "")]
    sizes = ", ".join(f"{len(level.names):,}" for level in levels)
    show.table(f"{column}: {counted(len(tree.rows), 'value')}; nodes by level: {sizes}", ["group", "values", "rows"], shown)


def check(file: Path, table: Table, name: str, column: str, json: bool) -> bool:
    """Whether a tree has a row for every value of a column; what it lacks goes to the terminal of whoever holds the table."""
    from dataclasses import asdict

    from shoal.cli import show
    from shoal.errors import counted
    from shoal.runs.hierarchies import check_tree

    found = check_tree(file, table, column)
    if json:
        show.data({**asdict(found), "holds": not found.lacking})
        return not found.lacking
    rows: list[tuple[str, Any]] = [
        ("values in the hierarchy", found.values),
        ("nodes by level", ", ".join(f"{many:,}" for many in found.levels)),
        ("values that no row of the table has", found.idle),
        ("values of the table that it lacks", len(found.lacking)),
        ("groups that hold numbers outside the range they are named after", len(found.misnamed)),
    ]
    show.table(f"{file.name} for column {column} of {name}", ["what", "found"], [(what, show.number(one)) for what, one in rows])
    if found.misnamed:
        few = ", ".join(f"{values[0]} in {group}" for group, values in list(found.misnamed.items())[:5])
        show.say(f"Numbers outside the range their group is named after: {few}{' and others' if len(found.misnamed) > 5 else ''}.")
        show.say("Whoever reads a released name takes it at its word: move those rows, or name the groups anew.")
    if found.lacking:
        show.say(f"Lacking, in {counted(found.rows_lacking, 'row')} (first at row {found.first_row}): {_first(found.lacking)}")
        show.say(f"Add a row for each, or put them into a group of their own: --hierarchy '{column}={file}, else Other'")
    return not found.lacking
