"""The verbs for documents: detect, review, redact, evaluate, terms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from shoal.cli.options import Formulas, Jobs, Json, Master, Sign, Where

if TYPE_CHECKING:
    from shoal.contracts import Workers

documents = typer.Typer(
    name="documents",
    help="Redact documents with a person in the loop: find, decide, redact, and see what is left.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
CHANGES = ("threshold", "precision", "recall", "f", "coverage", "novelty", "returned", "random", "nmi", "loss")
CaseFolder = Annotated[Path, typer.Argument(help="A case folder, as `shoal documents detect -o` writes it.")]


@documents.command()
def detect(
    source: Annotated[Path, typer.Argument(help="A folder, a file (.txt .md .html .eml .docx .pdf), or a table with --column.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The case folder to make. It quotes the documents and stays with you.")],
    column: Annotated[str, typer.Option("--column", help="The column of texts, when the source is a table.")] = "",
    terms: Annotated[
        Optional[Path], typer.Option("--terms", help="Risk terms, one to a line, as `shoal documents terms -o` writes them.")
    ] = None,
    kinds: Annotated[Optional[Path], typer.Option("--kinds", help="A TOML file of further kinds: patterns, words, context.")] = None,
    keep: Annotated[Optional[Path], typer.Option("--keep", help="A file of names that stay, one to a line.")] = None,
    drop: Annotated[Optional[Path], typer.Option("--drop", help="A file of names that go, one to a line.")] = None,
    places: Annotated[
        int, typer.Option("--places", help="Countries and cities of so many people keep their names; -1: no place does.")
    ] = 1_000_000,
    accept: Annotated[float, typer.Option("--accept", help="Findings as sure as this need no review.")] = 0.5,
    spacy: Annotated[str, typer.Option("--spacy", help="An installed spaCy pipeline. Absent: an English one, if there is one.")] = "",
    capitals: Annotated[str, typer.Option("--capitals", help="review: unknown capitalised words are put up for review; off.")] = "review",
    jobs: Jobs = 1,
    engine: Where = "local",
    master: Master = None,
    json: Json = False,
) -> None:
    """Find entities and risky blocks in every file; write findings and a preview. Exit code 1: done, but for some documents, which are named."""
    from shoal.cli import show
    from shoal.documents.case import Settings
    from shoal.documents.risk.terms import read_senses, read_terms
    from shoal.errors import counted
    from shoal.runs.documents import detect_to_case

    settings = Settings.parse(
        {
            "source": str(source.absolute()),
            "column": column,
            "accept": accept,
            "spacy": spacy,
            "capitals": capitals,
            "places": places,
            "kinds": str(kinds.absolute()) if kinds else "",
            **{key: read_terms(path) for key, path in (("keep", keep), ("drop", drop), ("risk_terms", terms)) if path},
            **({"risk_senses": read_senses(terms)} if terms else {}),
        }
    )
    with _workers(engine, jobs, master) as workers, show.progress() as progress:
        found = detect_to_case(settings, out, progress, workers)
    if json:
        show.data({"folder": str(out), **found})
    else:
        counts = dict(found["findings"])
        waiting, blocks = counts.pop("open", 0), counts.pop("risky blocks", 0)
        rows = [(kind, f"{n:,}") for kind, n in counts.items()]
        show.table(
            counted(found["documents"], "document"),
            ["found", "how often"],
            [*rows, ("risky blocks", f"{blocks:,}"), ("open to decide", f"{waiting:,}")],
        )
        show.say(f"Look at {out}/preview/index.html, decide with `shoal documents review {out}`. {out}/ stays with you.")
    _complain(found["failed"], "was not read", "were not read")
    if found["unused"]:
        show.say(f"Of the names to drop, these lines fit nowhere: {', '.join(map(str, found['unused'][:20]))}.")
    if found["left_out"]:
        show.say(f"{len(found['left_out']):,} files are of kinds shoal does not read; they are listed in {out}/private/files.json.")
    if found["failed"]:
        raise typer.Exit(1)


@documents.command()
def review(
    case: CaseFolder,
    by: Annotated[Optional[str], typer.Option("--by", help="Your name in the log. Absent: the user's.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Ask about findings that are sure, too.")] = False,
) -> None:
    """Walk the open decisions: accept, reject, change the kind, extend, all with the same text, undo, reason codes."""
    from shoal.cli.reviewing import walk

    walk(case, by, "all" if all_ else "open")


@documents.command()
def mark(
    case: CaseFolder,
    text: Annotated[list[str], typer.Argument(help="What must go and was not found. In quotes; several may be given.")],
    kind: Annotated[str, typer.Option("--kind", help="What it is: person, organization, identity-number, ...")] = "unknown",
    reason: Annotated[str, typer.Option("--reason", help="A reason code for the log.")] = "",
    by: Annotated[Optional[str], typer.Option("--by", help="Your name in the log. Absent: the user's.")] = None,
    json: Json = False,
) -> None:
    """Remove a text wherever it stands in the documents of a case, though nothing found it."""
    from shoal.cli import show
    from shoal.documents.case import Case
    from shoal.runs.documents import mark_case

    with show.progress() as progress:
        found = mark_case(Case(case), text, kind, reason, by, progress)
    if json:
        show.data(found)
        return
    for one, times in zip(text, found):
        print(f"marked {times:,} times" if times else "stands nowhere", f"({len(one)} characters)", sep=" ")


@documents.command()
def redact(
    case: CaseFolder,
    out: Annotated[Path, typer.Option("-o", "--out", help="The folder to make: redacted documents, certificate, report.")],
    style: Annotated[str, typer.Option("--style", help="label (Pers_1), surrogate (invented names), black-box, or general.")] = "label",
    numbers: Annotated[str, typer.Option("--numbers", help="appearance, or random so that the order says nothing.")] = "appearance",
    names: Annotated[str, typer.Option("--names", help="What files are called: number, or keep.")] = "number",
    undecided: Annotated[
        str, typer.Option("--undecided", help="What becomes of findings nobody decided about: redact, or keep.")
    ] = "redact",
    accept_blocks: Annotated[
        Optional[float], typer.Option("--accept-blocks", help="Remove undecided blocks that score as much, and keep the others.")
    ] = None,
    formulas: Formulas = "keep",
    seed: Annotated[Optional[int], typer.Option("--seed", min=0, help="For tests and experiments only.")] = None,
    jobs: Jobs = 1,
    engine: Where = "local",
    master: Master = None,
    sign: Sign = None,
    json: Json = False,
) -> None:
    """Apply the decisions. Every file is read back and searched before it counts as written. Exit code 1: done, but for some documents, which
    are named."""
    from shoal.cli import show, verbs
    from shoal.documents.pipeline.planning import Choices
    from shoal.errors import counted
    from shoal.runs.documents import redact_case

    choices = {
        "--numbers": (numbers, ("appearance", "random")),
        "--names": (names, ("number", "keep")),
        "--undecided": (undecided, ("redact", "keep")),
        "--formulas": (formulas, ("keep", "escape")),
    }
    for option, (given, known) in choices.items():
        if given not in known:
            raise typer.BadParameter(f"{option} is {' or '.join(known)}, got '{given}'")
    with _workers(engine, jobs, master) as workers, show.progress() as progress:
        chosen = Choices(style, numbers, names, undecided, accept_blocks, formulas)  # type: ignore[arg-type]
        certificate, failed = redact_case(case, out, chosen, seed, progress, sign, workers)
    if json:
        show.data({"folder": str(out), "certificate": certificate.model_dump(mode="json"), "failed": failed})
    else:
        rows = [(one.kind, f"{one.mentions:,}", f"{one.entities:,}") for one in certificate.removed]
        show.table(f"{counted(certificate.documents['written'], 'document')} written", ["removed", "mentions", "entities"], rows)
        for warning in certificate.warnings:
            show.say(f"Warning: {warning}")
        show.say(
            f"{out}/ holds the documents, certificate.json and report.html. {case}/private/ says who is behind each number: it stays with you."
        )
        verbs.signed(sign)
    _complain(failed, "was not written", "were not written")
    if failed:
        raise typer.Exit(1)


@documents.command()
def evaluate(
    case: CaseFolder,
    queries: Annotated[Path, typer.Option("--queries", help="A TOML file of [[utility]] and [[risk]] queries.")],
    json: Json = False,
) -> None:
    """Information loss and disclosure risk, by asking originals and redacted documents the same. Exit code 1: some could not be compared."""
    from shoal.cli import show
    from shoal.runs.documents import evaluate_case

    with show.progress() as progress:
        found = evaluate_case(case, queries, progress)
    if json:
        show.data(found)
        _complain(found["failed"], "was not compared", "were not compared")
        raise typer.Exit(1 if found["failed"] else 0)
    show.say(f"Compared are the originals and {found['folder']}.")
    for part in ("utility", "risk"):
        rows = [(one["name"], *(show.number(one[key]) for key in CHANGES)) for one in found[part]]
        what = "information loss" if part == "utility" else "risk"
        names = ["query", "threshold", "P %", "R %", "F %", "C %", "N %", "returned %", "random %", "NMI", f"change of {what} %"]
        show.table(f"{part.title()} queries: changes from before to after, in per cent", names, rows)
    show.table(
        "What an intruder still gets",
        ["attack", "hits", "note"],
        [
            (one["name"], f"{one['rate']:.1%} of {one['tried']:,} (blind guessing {one['chance']:.1%})", one["note"])
            for one in found["attacks"]
        ],
    )

    for one in found["attacks_not_tried"]:
        show.say(f"Not tried: {one['name']}. {one['why']}")
    _complain(found["failed"], "was not compared", "were not compared")
    if found["failed"]:
        raise typer.Exit(1)


@documents.command()
def terms(
    seeds: Annotated[Optional[Path], typer.Argument(help="Words, one to a line. Absent: the example of Executive Order 13526.")] = None,
    depth: Annotated[int, typer.Option("--depth", help="How far down hyponyms are taken: 0 none, -1 all.")] = 1,
    senses: Annotated[int, typer.Option("--senses", help="How many senses of each word; -1 all. A seed may name one: weapon.n.01.")] = -1,
    out: Annotated[Optional[Path], typer.Option("-o", "--out", help="Write the list to use with `detect --terms`.")] = None,
    json: Json = False,
) -> None:
    """Show how risk terms grow through WordNet: senses, depth, what each adds."""
    from shoal.cli import show
    from shoal.documents.risk.terms import RISK_SEEDS, grow, read_terms
    from shoal.errors import OutputError
    from shoal.folders import write_text
    from shoal.text.wordnet import read_wordnet

    if out and out.exists():
        raise OutputError(f"{out} exists. Choose another name, or remove it first.")
    words = read_terms(seeds) if seeds else RISK_SEEDS
    found = grow(read_wordnet(), words, None if depth < 0 else depth, None if senses < 0 else senses)
    if out:
        lines = [f"{term}  # {found.senses[term]}" if found.senses.get(term) else term for term in found.terms]
        write_text(
            out, "# Risk terms, each with the sense through which it came. Take out what you do not mean.\n" + "\n".join(lines) + "\n"
        )
    rows: list[Any] = [(row.seed, row.sense, row.depth, len(row.adds), row.gloss, ", ".join(row.adds[:8])) for row in found.rows]
    if json:
        keys = ("seed", "sense", "depth", "adds", "gloss", "such_as")
        show.data({"terms": list(found.terms), "unknown": list(found.unknown), "rows": [dict(zip(keys, row)) for row in rows]})
        return
    names = ["seed", "sense", "depth", "adds", "meaning", "such as"]
    show.table(f"{len(found.terms):,} terms", names, [tuple(str(cell) for cell in row) for row in rows if row[3]])
    if out:
        show.say(f"The list is in {out}. Read it, take out what you do not mean, and give it to `shoal documents detect --terms {out}`.")


@contextmanager
def _workers(engine: str, jobs: int, master: str | None) -> Iterator[Workers]:
    """Whoever does what is done document by document."""
    import os

    from shoal.contracts import here

    if engine not in ("local", "spark"):
        raise typer.BadParameter(f"--engine is local or spark, got '{engine}'")
    if engine == "spark" and jobs != 1:
        raise typer.BadParameter("--jobs is for processes of this machine: leave it out, or leave out --engine spark")
    if engine == "local" and master:
        raise typer.BadParameter("--master is for Spark: give --engine spark, too")
    if engine == "spark":
        from shoal.engines.spark import session_at
        from shoal.engines.tasks import spark

        with session_at(master or "") as session:
            yield spark(session.sparkContext)
    elif jobs == 1:
        yield here
    else:
        from shoal.engines.tasks import processes

        yield processes(jobs or os.cpu_count() or 1)


def _complain(failed: dict[str, str], one: str, many: str) -> None:
    """A sentence per file, ten at most."""
    from shoal.cli import show

    for name, why in list(failed.items())[:10]:
        show.say(f"{name}: {why}")
    if len(failed) > 10:
        show.say(f"... and {len(failed) - 10:,} more; --json lists all.")
    if failed:
        show.say(f"{len(failed):,} {'document ' + one if len(failed) == 1 else 'documents ' + many}.")
