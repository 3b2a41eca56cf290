"""The verbs of shoal. Each reads its words, calls the library, and shows what came back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from shoal.cli.collection import collection
from shoal.cli.documents import documents
from shoal.cli.hierarchies import hierarchy as hierarchy_of
from shoal.cli.lattice import lattice
from shoal.cli.options import (
    Columns,
    Confidential,
    Delimiter,
    Encoding,
    EngineName,
    Formulas,
    Hierarchy,
    Identifier,
    Json,
    Kind,
    Link,
    Master,
    Memory,
    Missing,
    MissingCode,
    Names,
    Nominal,
    Other,
    Parameter,
    Person,
    Quasi,
    Records,
    Rest,
    RolesFile,
    Seed,
    Sign,
    Target,
    keep_or_escape,
    reading_of,
    roles_of,
)
from shoal.cli.risk import risk as risk_of

app = typer.Typer(
    name="shoal",
    help="Release sensitive tables and documents safely: protect, attack, measure, and let them out with the evidence beside them.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(documents)
app.add_typer(collection)
app.command("hierarchy")(hierarchy_of)
app.command("risk")(risk_of)
app.command("lattice")(lattice)


def _version(asked: bool) -> None:
    if asked:
        from shoal import __version__

        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def _shoal(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = False) -> None:
    """shoal"""


@app.command()
def look(
    table: Annotated[list[Path], typer.Argument(help="A CSV or Parquet file; several, or a folder of them, that hold one table.")],
    out: Annotated[Optional[Path], typer.Option("-o", "--out", help="Write the suggested roles to this TOML file.")] = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    missing: Missing = None,
    kind: Kind = None,
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Show a table's columns, kinds, missing values and uniqueness, and suggest roles."""
    from shoal.cli import opening, verbs

    with opening.table_of(table, reading_of(encoding, delimiter, missing), opening.choice(engine, memory, master)) as read:
        verbs.look(verbs.roles(None, kind=kind).read(read), table[0], out, json)


@app.command()
def protect(
    table: Annotated[list[Path], typer.Argument(help="A CSV or Parquet file; several, or a folder of them, that hold one table.")],
    method: Annotated[str, typer.Option("--method", "-m", help="The method; `shoal list methods` names them.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder to make.")],
    name: Annotated[str, typer.Option("--name", help='What the data are called in certificate and reports, "Hospital stays 2025".')] = "",
    roles: RolesFile = None,
    quasi: Quasi = None,
    confidential: Confidential = None,
    identifier: Identifier = None,
    person: Person = None,
    other: Other = None,
    rest: Rest = None,
    link: Link = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    target: Target = None,
    hierarchy: Hierarchy = None,
    parameter: Parameter = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    missing: Missing = None,
    formulas: Formulas = "keep",
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    seed: Seed = None,
    sign: Sign = None,
    json: Json = False,
) -> None:
    """Protect a table by one method, check it, attack it, and write a run folder."""
    from shoal.cli import opening, verbs
    from shoal.registry import make
    from shoal.runs.recipe import Recipe

    recipe = Recipe(
        table[0],
        roles_of(locals()),
        (make("method", method, verbs.parameters(parameter)),),
        reading=reading_of(encoding, delimiter, missing),
        name=name,
        formulas=keep_or_escape(formulas),
        more=tuple(table[1:]),
    )
    verbs.protect(recipe, out, opening.choice(engine, memory, master), seed, sign, json)


@app.command()
def run(
    recipe: Annotated[Path, typer.Argument(help="A recipe in TOML, as `protect` writes it.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder to make.")],
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    seed: Seed = None,
    sign: Sign = None,
    json: Json = False,
) -> None:
    """Do a recipe: several steps, chosen measures and attacks."""
    from shoal.cli import opening, verbs
    from shoal.runs.recipe import Recipe

    verbs.protect(Recipe.read(recipe), out, opening.choice(engine, memory, master), seed, sign, json)


@app.command()
def measure(
    folder: Annotated[Optional[Path], typer.Argument(help="A run folder.")] = None,
    original: Annotated[Optional[Path], typer.Option("--original", help="The original table, when there is no run folder.")] = None,
    release: Annotated[Optional[Path], typer.Option("--release", help="The released table, made by any tool.")] = None,
    key: Annotated[
        Optional[str], typer.Option("--key", help="A column that says which rows belong together. Absent: rows are aligned.")
    ] = None,
    roles: RolesFile = None,
    quasi: Quasi = None,
    confidential: Confidential = None,
    identifier: Identifier = None,
    person: Person = None,
    other: Other = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    name: Annotated[Names, typer.Option("--measure", help="A measure; may be repeated. Absent: all.")] = None,
    parameter: Parameter = None,
    target: Annotated[
        Optional[str],
        typer.Option("--target", help="Instead: how well models trained on the release predict this column in untouched originals."),
    ] = None,
    learner: Annotated[Names, typer.Option("--learner", help="With --target: a learner; may be repeated. Absent: all.")] = None,
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Measure what a release costs in usefulness, and what its classes give away."""
    from shoal.cli import opening, training, verbs

    if target is not None:
        training.learn(folder, target, learner, json)
        return
    given = roles_of(locals())
    with opening.pair(folder, original, release, key, given, opening.choice(engine, memory, master)) as run:
        verbs.measure(run, name, parameter, json)


@app.command()
def attack(
    folder: Annotated[Optional[Path], typer.Argument(help="A run folder.")] = None,
    original: Annotated[Optional[Path], typer.Option("--original", help="The original table, when there is no run folder.")] = None,
    release: Annotated[Optional[Path], typer.Option("--release", help="The released table, made by any tool.")] = None,
    key: Annotated[
        Optional[str], typer.Option("--key", help="A column that says which rows belong together. Absent: rows are aligned.")
    ] = None,
    roles: RolesFile = None,
    quasi: Quasi = None,
    identifier: Identifier = None,
    person: Person = None,
    other: Other = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    name: Annotated[Names, typer.Option("--attack", help="An attack; may be repeated. Absent: all.")] = None,
    parameter: Parameter = None,
    columns: Columns = None,
    records: Records = None,
    seed: Seed = None,
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Attack a release the way an intruder would, beside blind guessing."""
    from shoal.cli import opening, verbs

    given = roles_of(locals())
    with opening.pair(folder, original, release, key, given, opening.choice(engine, memory, master)) as run:
        verbs.attack(run, name, parameter, columns, records, seed, json)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="A run folder.")],
    sign: Sign = None,
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Measure and attack a run again, and write its certificate and reports anew."""
    from shoal.cli import opening, verbs

    verbs.report(folder, sign, opening.choice(engine, memory, master), json)


@app.command()
def verify(
    release: Annotated[Path, typer.Argument(help="A released file, or the folder that was handed over.")],
    certificate: Annotated[Path, typer.Argument(help="Its certificate.")],
    signer: Annotated[
        Optional[Path], typer.Option("--signer", help="The public key that must have signed it, from somebody you trust.")
    ] = None,
    engine: EngineName = None,
    memory: Memory = None,
    master: Master = None,
    json: Json = False,
) -> None:
    """Check a release against its certificate, from the files alone. Exit code 1 when something does not hold."""
    from shoal.cli import opening, verbs

    if not verbs.verify(release, certificate, signer, opening.choice(engine, memory, master), json):
        raise typer.Exit(1)


@app.command()
def key(
    out: Annotated[Path, typer.Argument(help="The private key to write; the public one is written beside it, with the ending .pub.")],
    json: Json = False,
) -> None:
    """Make a key to sign certificates with. Hand out the public half; whoever has the private one can sign as you."""
    from shoal.cli import verbs

    verbs.key(out, json)


@app.command()
def compare(
    what: Annotated[list[Path], typer.Argument(help="Recipes, or one table with --method and several values such as -p k=3,5,10.")],
    method: Annotated[Names, typer.Option("--method", "-m", help="A method; may be repeated.")] = None,
    roles: RolesFile = None,
    quasi: Quasi = None,
    confidential: Confidential = None,
    identifier: Identifier = None,
    person: Person = None,
    other: Other = None,
    rest: Rest = None,
    link: Link = None,
    nominal: Nominal = None,
    kind: Kind = None,
    missing_code: MissingCode = None,
    target: Target = None,
    hierarchy: Hierarchy = None,
    parameter: Parameter = None,
    out: Annotated[Optional[Path], typer.Option("-o", "--out", help="Write the risk-usefulness map to this HTML file.")] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Protect by each of several recipes or parameters, and draw risk against loss."""
    from shoal.cli import comparing

    given = roles_of(locals())
    comparing.compare(comparing.recipes(what, method, given, parameter), out, seed, json)


@app.command()
def sample(
    release: Annotated[Path, typer.Argument(help="A released file of values, sets and intervals.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file of points to write.")],
    seed: Annotated[Optional[int], typer.Option("--seed", min=0, help="Repeat a draw.")] = None,
    json: Json = False,
) -> None:
    """Draw one value for each set or interval, for tools that need points. It is a draw, not data."""
    from shoal.cli import training

    training.sample(release, out, seed, json)


@app.command()
def patterns(
    what: Annotated[Path, typer.Argument(help="A run folder, or a released file with --quasi.")],
    sort: Annotated[str, typer.Option("--sort", help="support, coverage, length or purity; the largest first.")] = "support",
    top: Annotated[Optional[int], typer.Option("--top", min=1, help="The first this many. Absent: 20, and all with --json.")] = None,
    bottom: Annotated[Optional[int], typer.Option("--bottom", min=1, help="Instead: the last this many, the last first.")] = None,
    quasi: Quasi = None,
    confidential: Confidential = None,
    target: Target = None,
    json: Json = False,
) -> None:
    """List the patterns of a release as rules, with their support, coverage and classes."""
    from shoal.cli import patterns as listing

    listing.patterns(what, sort, top, bottom, quasi, confidential, target, json)


@app.command("list")
def list_(
    kind: Annotated[str, typer.Argument(help="methods, measures or attacks")],
    json: Json = False,
) -> None:
    """Name what is registered, with parameters."""
    from shoal.cli import verbs

    verbs.list_names(kind, json)


@app.command()
def example(
    out: Annotated[Path, typer.Argument(help="The CSV or Parquet file to write.")],
    table: Annotated[
        str, typer.Option("--table", help="patients, visits (several rows a patient), survey (households) or wide.")
    ] = "patients",
    rows: Annotated[int, typer.Option("--rows", min=1, max=10_000_000, help="How many rows.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, other persons.")] = 7,
    json: Json = False,
) -> None:
    """Write a table of invented patients, hospital stays or answers to try things on."""
    from shoal.cli import show
    from shoal.errors import OutputError, ParameterError, did_you_mean
    from shoal.example import EXAMPLES
    from shoal.folders import whole_file
    from shoal.writing import write_table

    if table not in EXAMPLES:
        raise ParameterError(f"There is no example table '{table}'.{did_you_mean(table, EXAMPLES)} Known: {', '.join(EXAMPLES)}.")
    if out.exists():
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    with whole_file(out) as part:
        write_table(EXAMPLES[table].invent(rows, seed), part)
    if json:
        show.data({"file": str(out), "rows": rows})
    show.say(f"{rows:,} invented {EXAMPLES[table].rows_are} are in {out}.")
