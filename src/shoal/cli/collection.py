"""The verbs for collections: build, protect, measure, attack, query."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from shoal.cli.options import Json, Sign

collection = typer.Typer(
    name="collection",
    help="Publish a private collection as vectors that can be searched, none of them to be told from k - 1 others.",
    rich_markup_mode=None,
    no_args_is_help=True,
)
Parameter = Annotated[Optional[list[str]], typer.Option("-p", "--parameter", help="A parameter, name=value. May be repeated.")]
Run = Annotated[Path, typer.Argument(help="A run folder, as `shoal collection protect -o` writes it.")]
Seed = Annotated[Optional[int], typer.Option("--seed", min=0, help="For tests and experiments only.")]


@collection.command()
def build(
    source: Annotated[Path, typer.Argument(help="A folder of documents, or a CSV, Parquet or JSONL file with --column.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The space folder to make. It holds every document's words and stays with you.")],
    column: Annotated[str, typer.Option("--column", help="The column of texts.")] = "",
    label: Annotated[str, typer.Option("--label", help="A column that says which class a text is of.")] = "",
    author: Annotated[str, typer.Option("--author", help="A column of authors: the documents of one become one row.")] = "",
    labels: Annotated[str, typer.Option("--labels", help="folders: subfolders are the classes; none.")] = "none",
    like: Annotated[Optional[Path], typer.Option("--like", help="A space whose terms and weights are used again.")] = None,
    parameter: Parameter = None,
    json: Json = False,
) -> None:
    """Turn texts into unit vectors: tokens, stop words, stems or not, WordNet filter, limits, tf-idf."""
    from shoal.cli import show, verbs
    from shoal.collections.build import Builder
    from shoal.errors import counted
    from shoal.runs.collections import build_space

    if labels not in ("none", "folders"):
        raise typer.BadParameter(f"--labels is none or folders, got '{labels}'")
    given = verbs.parameters(parameter)
    if like is not None and given:
        raise typer.BadParameter("--like uses the parameters of the other space: leave out -p")
    with show.progress() as progress:
        found = build_space(source, out, Builder.parse(given), column, label, author, labels, like, progress)  # type: ignore[arg-type]
    if json:
        show.data({"folder": str(out), **found})
    else:
        rows = [
            ("documents", f"{found['documents']:,}"),
            ("terms", f"{found['terms']:,}"),
            ("terms of a document, mean", f"{found['terms_per_document']:.1f}"),
            ("classes", f"{found['labels']:,}" if found["labels"] else "none given"),
            ("without any known word, dropped", f"{len(found['dropped']):,}"),
        ]
        show.table("Space", ["what", "how many"], rows)
        if found["dropped"]:
            show.say(f"Dropped: {', '.join(found['dropped'][:10])}{' ...' if len(found['dropped']) > 10 else ''}.")
        if found["labels_lost"]:
            show.say("Some author wrote under several labels, so no row has one.")
        show.say(f"{out}/ stays with you. Protect it with `shoal collection protect {out} --method spherical -p k=5 -o run`.")
    for name, why in list(found["failed"].items())[:10]:
        show.say(f"{name}: {why}")
    if found["failed"]:
        show.say(f"{counted(len(found['failed']), 'document')} {'was' if len(found['failed']) == 1 else 'were'} not read.")
        raise typer.Exit(1)


@collection.command()
def protect(
    space: Annotated[Path, typer.Argument(help="A space folder, as `shoal collection build -o` writes it.")],
    method: Annotated[str, typer.Option("--method", "-m", help="spherical, or semantic.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The run folder to make.")],
    parameter: Parameter = None,
    seed: Seed = None,
    sign: Sign = None,
    json: Json = False,
) -> None:
    """Protect a space: release, certificate and report; what must not leave is in private/."""
    from shoal.cli import show, verbs
    from shoal.runs.collections import protect_space

    with show.progress() as progress:
        certificate = protect_space(space, method, out, verbs.parameters(parameter), seed, progress, sign)
    if json:
        show.data({"folder": str(out), "certificate": certificate.model_dump(mode="json")})
        return
    about = certificate.release
    rows = [("documents released", f"{about.rows:,}"), ("clusters", f"{about.clusters:,}"), ("terms", f"{about.terms:,}")]
    rows += [(f"{one.what} promised", f"{show.number(one.value)}, found {show.number(one.found)}") for one in certificate.promises]
    rows += [(f"{one.name} hits", verbs.rate(one)) for one in certificate.attacks]
    rows += [(one.name, show.number(one.value)) for one in certificate.measures if one.value is not None]
    show.table("Release", ["what", "found"], rows)
    for warning in certificate.warnings:
        show.say(f"Warning: {warning}")
    show.say(f"{out}/ holds release.npz, its certificate and report.html. {out}/private/ stays with you.")
    verbs.signed(sign)


@collection.command()
def measure(
    run: Run,
    name: Annotated[Optional[list[str]], typer.Option("--measure", help="A measure; may be repeated. Absent: all.")] = None,
    test: Annotated[Optional[Path], typer.Option("--test", help="The run of a test set built with --like: classifiers, too.")] = None,
    parameter: Parameter = None,
    json: Json = False,
) -> None:
    """What the release costs, and what its clusters give away."""
    from shoal.certificate import plain
    from shoal.cli import show
    from shoal.runs.collections import CollectionSubject, classified, load_collection
    from shoal.runs.evidence import measure_all

    held = load_collection(run)
    chosen = _chosen("measure", name, parameter)
    with show.progress() as progress:
        scores = measure_all(CollectionSubject(held.space, held.release), chosen, held.secret, progress)
        scores += classified(held, load_collection(test), progress) if test else []
    if json:
        show.data([plain(score.public()) for score in scores])
        return
    rows = [(one.name, show.number(one.value), one.better, ". ".join(part for part in (one.title, one.note) if part)) for one in scores]
    show.table("Measures", ["measure", "value", "better", "what it is"], rows)


@collection.command()
def attack(
    run: Run,
    name: Annotated[Optional[list[str]], typer.Option("--attack", help="An attack; may be repeated. Absent: all.")] = None,
    outsiders: Annotated[
        Optional[Path], typer.Option("--outsiders", help="A space of other documents built with --like, for membership.")
    ] = None,
    parameter: Parameter = None,
    json: Json = False,
) -> None:
    """Attack a release the way an intruder would, beside blind guessing."""
    from shoal.certificate import plain
    from shoal.cli import show, verbs
    from shoal.collections.space import Space
    from shoal.runs.collections import CollectionSubject, load_collection
    from shoal.runs.evidence import attack_all

    held = load_collection(run)
    chosen = _chosen("attack", name, parameter)
    with show.progress() as progress:
        subject = CollectionSubject(held.space, held.release, Space.read(outsiders) if outsiders else None)
        attacked = attack_all(subject, chosen, held.secret, progress)
    if json:
        show.data([plain(result.public()) for result in attacked.results])
        return
    rows = [(one.name, verbs.rate(one), f"{one.strict_hit / one.tried:.1%}", one.note) for one in attacked.results]
    show.table("Attacks", ["attack", "hits", "strict", "note"], rows)
    for untried, why in attacked.not_tried.items():
        show.say(f"{untried} was not tried. {why}")


@collection.command()
def query(
    run: Annotated[Path, typer.Argument(help="A run folder, or a release.npz.")],
    words: Annotated[str, typer.Argument(help="Words to look for.")],
    results: Annotated[int, typer.Option("--results", min=1, help="How many clusters to show.")] = 10,
    json: Json = False,
) -> None:
    """Search a release. Needs nothing private: what is shown is what anybody can see."""
    from shoal.certificate import CollectionCertificate, read_certificate
    from shoal.cli import show
    from shoal.collections.queries import answers, query_words
    from shoal.collections.release import CollectionRelease
    from shoal.runs.collections import RELEASE

    release = CollectionRelease.read(run / RELEASE if run.is_dir() else run)
    about = (run if run.is_dir() else run.parent) / "certificate.json"
    certificate = read_certificate(about) if about.is_file() else None
    built = certificate.built if isinstance(certificate, CollectionCertificate) else None
    found = answers(release, query_words(words, built), results)
    if json:
        show.data([one._asdict() for one in found])
        return
    rows = [(f"{one.relevance:.3f}", f"{one.rows:,}", str(one.cluster), ", ".join(one.terms)) for one in found]
    show.table(f"Clusters about {words}", ["relevance", "documents", "cluster", "heaviest terms"], rows)
    if not found:
        show.say("No cluster has any of these words.")


def _chosen(kind: Literal["measure", "attack"], names: list[str] | None, parameter: list[str] | None) -> list[Any]:
    from shoal.cli import verbs
    from shoal.errors import ParameterError
    from shoal.registry import make

    wanted, given = verbs.names(names), verbs.parameters(parameter)
    if given and len(wanted) != 1:
        raise ParameterError(f"-p needs one {kind} to belong to: name it with --{kind}.")
    return [make("collection-measure" if kind == "measure" else "collection-attack", name, given) for name in wanted]
