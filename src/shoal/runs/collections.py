"""Collections from end to end: texts become a private space, the space a release that others can search, with the evidence beside it."""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

import shoal
from shoal.checks.tables import sha256_of
from shoal.collections.build import Builder, TermWeights
from shoal.collections.release import CollectionRelease, check_file
from shoal.collections.space import FILE, Space
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, OutputError, ParameterError, ShoalError, UnknownNameError, counted, did_you_mean
from shoal.folders import appearing, write_text
from shoal.randomness import new_secret, rng_for
from shoal.runs.certify import plain
from shoal.score import AttackResult, Score

Labels = Literal["none", "folders"]
RELEASE = "release.npz"


@dataclass
class Texts:
    """Texts with their names, and what is known of them; files that could not be read, with a sentence each."""

    texts: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    authors: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def build_space(
    source: Path,
    out: Path,
    builder: Builder | None = None,
    column: str = "",
    label: str = "",
    author: str = "",
    labels: Labels = "none",
    like: Path | None = None,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """A folder of documents, or a column of a CSV, Parquet or JSONL file, as a space folder. Returns what is in it, in numbers.

    Labels are the names of subfolders, or a column. With `author`, the documents of an author become one row. `like` names a space whose
    terms and weights are used again, so that both can be compared.
    """
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    found = read_texts(source, column, label, author, labels, progress)
    if not found.texts:
        why = f" {next(iter(found.failed.values()))}" if found.failed else ""
        raise DataError(f"No document could be read from {source}.{why}")
    if like is not None:
        model = Space.read(like)
        if model.built is None:
            raise DataError(f"{like} was not built from texts, so its terms cannot be used again.")
        space = Builder(**model.built).transform(TermWeights.of(model), found.texts, found.names, found.labels or None)
    else:
        space = (builder or Builder()).build(found.texts, found.names, found.labels or None)
    if found.authors:
        author_of = dict(zip(found.names, found.authors))
        space = space.by_author([author_of[name] for name in space.names])
    space.write(out)
    return {
        "documents": len(space),
        "terms": len(space.terms),
        "terms_per_document": space.matrix.nnz / len(space),
        "labels": len(set(space.labels)) if space.labels else 0,
        "labels_lost": bool(found.labels and found.authors and space.labels is None),
        "dropped": list(space.dropped),
        "failed": found.failed,
    }


def read_texts(source: Path, column: str, label: str, author: str, labels: Labels, progress: Progress) -> Texts:
    """Every text that can be read, with what is known of it."""
    if column:
        return _rows(source, column, label, author)
    if label or author:
        raise ParameterError("--label and --author name columns of a table. Give --column, too; labels of files are their folders.")
    from shoal.documents.formats.read import find_documents, read_document

    found = Texts()
    paths = find_documents(source)
    for done, path in enumerate(paths, 1):
        name = path.relative_to(source).as_posix() if source.is_dir() else path.name
        try:
            text = read_document(path, name).text
        except ShoalError as error:
            found.failed[name] = str(error)
            continue
        if labels == "folders" and "/" not in name:
            found.failed[name] = "It lies in no subfolder, so it has no label."
            continue
        found.texts.append(text)
        found.names.append(name)
        if labels == "folders":
            found.labels.append(name.split("/")[0])
        progress("reading", done, len(paths))
    return found


def _rows(source: Path, column: str, label: str, author: str) -> Texts:
    wanted = [name for name in (column, label, author) if name]
    rows = _json_lines(source, wanted) if source.suffix.lower() in (".jsonl", ".ndjson") else _table(source, wanted)
    found = Texts()
    for number, row in enumerate(rows, 1):
        found.names.append(f"row-{number}")
        found.texts.append(row[column])
        if label:
            found.labels.append(row[label])
        if author:
            found.authors.append(row[author])
    return found


def _table(source: Path, wanted: Sequence[str]) -> Iterator[dict[str, str]]:
    from shoal.files import read_table

    table = read_table(source, text=list(wanted))
    cells = [table.column(name).to_pylist() for name in wanted]
    for row in zip(*cells):
        yield {name: "" if cell is None else str(cell) for name, cell in zip(wanted, row)}


def _json_lines(source: Path, wanted: Sequence[str]) -> Iterator[dict[str, str]]:
    try:
        lines = source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{source} cannot be read as lines of JSON in UTF-8.") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            yield {name: "" if row[name] is None else str(row[name]) for name in wanted}
        except (ValueError, TypeError):
            raise DataError(f"{source}, line {number}: this is not an object in JSON.") from None
        except KeyError as missing:
            near = did_you_mean(str(missing.args[0]), row)
            raise DataError(f"{source}, line {number}: there is no field '{missing.args[0]}'.{near}") from None


# ---- a run --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectionRun:
    """A run folder of a collection, read back with its space."""

    folder: Path
    space: Space
    release: CollectionRelease
    secret: int


def known(kind: Literal["method", "measure", "attack"]) -> Mapping[str, type[Any]]:
    """Name -> class, of what is there for collections."""
    from shoal.collections import attacks, clusters, measures, queries, semantic, spherical

    found: dict[str, tuple[type[Any], ...]] = {
        "method": (spherical.Spherical, semantic.Semantic),
        "measure": (
            measures.NormalisedLoss, measures.SphericalLoss, measures.EuclideanLoss, measures.SemanticLoss, measures.Words, measures.Distances,
            queries.QueryAgreement, clusters.TopicAgreement, measures.SoleTerms, measures.OneClass, measures.UniqueLabels,
        ),
        "attack": (attacks.DocumentLinkage, attacks.TermLinkage, attacks.ConceptLinkage, attacks.Membership, attacks.LastMember),
    }  # fmt: skip
    return {cls.name: cls for cls in found[kind]}


def make(kind: Literal["method", "measure", "attack"], name: str, parameters: Mapping[str, object] | None = None) -> Any:
    """The object itself, its parameters checked."""
    names = known(kind)
    if name not in names:
        raise UnknownNameError(
            f"There is no {kind} of collections named '{name}'.{did_you_mean(name, names)} Known: {', '.join(sorted(names))}."
        )
    return names[name].parse(parameters or {})


def protect_space(
    folder: Path,
    method: str,
    out: Path,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Protect a space: the release, its certificate, its report; what must stay private beside them. Returns the certificate."""
    from shoal.report.collection_page import collection_page

    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    chosen = make("method", method, parameters)
    space = Space.read(folder)
    secret = new_secret() if seed is None else seed
    release = chosen.protect(space, rng_for(secret, "collection", method), progress)
    if not release.centroids.nnz:
        raise DataError("Nothing is left to release: no term stands in so many documents of a group. Ask for fewer, or for a larger k.")
    with appearing(out) as place:
        release.write(place / RELEASE)
        run = CollectionRun(place, space, release, secret)
        said = _certificate(run, measured(run, progress=progress), attacked(run, progress=progress))
        write_text(place / "certificate.json", json.dumps(said, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
        write_text(place / "report.html", collection_page(said))
        private = place / "private"
        private.mkdir(mode=0o700)
        np.save(private / "source_rows.npy", release.source_row)
        (private / "source_rows.npy").chmod(0o600)
        about = {"seed": f"{secret:032x}", "space": str(folder.absolute()), "space_sha256": sha256_of(folder / FILE)}
        write_text(private / "run.json", json.dumps(about, indent=2) + "\n", mode=0o600)
    return said


def load_collection(folder: Path) -> CollectionRun:
    """Read a run folder back, with the space it was made from, which must be unchanged."""
    for needed in (RELEASE, "certificate.json", "private/run.json", "private/source_rows.npy"):
        if not (folder / needed).is_file():
            raise DataError(f"{folder} is not the run of a collection: {needed} is missing. Name what `shoal collection protect -o` wrote.")
    try:
        about = json.loads((folder / "private" / "run.json").read_text())
        rows = np.load(folder / "private" / "source_rows.npy", allow_pickle=False)
        secret, space, digest = int(about["seed"], 16), Path(about["space"]), about["space_sha256"]
    except (ValueError, KeyError, TypeError, EOFError):
        raise DataError(f"{folder}/private is damaged. Protect the space again.") from None
    if not (space / FILE).is_file() or sha256_of(space / FILE) != digest:
        raise DataError(f"The space of this run, {space}, is no longer there or has changed. Put it back, or protect it again.")
    said = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    if said.get("release", {}).get("sha256") != sha256_of(folder / RELEASE):
        raise DataError(f"{folder}/{RELEASE} is not the file that its certificate is about. Protect the space again.")
    return CollectionRun(folder, Space.read(space), CollectionRelease.read(folder / RELEASE, rows), secret)


# What compares words says nothing of meanings, and the other way round: a release is asked only what it can answer.
OF_MEANINGS = ("semantic-loss", "concept-linkage", "words-per-row", "one-class-clusters", "unique-labels")
OF_MEANINGS_ALONE = ("semantic-loss", "concept-linkage")
OF_LABELS = ("one-class-clusters", "unique-labels")


def _all(run: CollectionRun, kind: Literal["measure", "attack"]) -> list[Any]:
    """Everything that can be asked of a release."""
    meanings = bool(run.release.made_by) and run.release.made_by[-1].method == "semantic"
    return [
        cls()
        for name, cls in known(kind).items()
        if (name in OF_MEANINGS if meanings else name not in OF_MEANINGS_ALONE) and (run.space.labels is not None or name not in OF_LABELS)
    ]


def measured(run: CollectionRun, chosen: Sequence[Any] = (), progress: Progress = quiet) -> list[Score]:
    """The measures given, or all that can be asked of the release; of these, one that a small release does not allow has no value."""
    asked = chosen or _all(run, "measure")
    found: list[Score] = []
    for one in asked:
        try:
            found.append(one.measure(run.space, run.release, rng_for(run.secret, "measure", one.name)))
        except (DataError, ParameterError) as error:
            if chosen:
                raise
            found.append(Score(one.name, one.title, None, "higher", note=f"Not measured: {error}"))
        progress("measuring", len(found), len(asked))
    return found


def classified(run: CollectionRun, test: CollectionRun, progress: Progress = quiet) -> list[Score]:
    """What classifiers lose: trained on one run, tested on another, each as it was and as it was released."""
    from shoal.collections.classify import Classification

    return list(Classification().measure(run.space, run.release, test.space, test.release, progress))


def attacked(
    run: CollectionRun, chosen: Sequence[Any] = (), outsiders: Space | None = None, progress: Progress = quiet
) -> list[AttackResult]:
    """The attacks given, or all; membership needs documents that are not in the collection."""
    found = []
    for one in chosen or _all(run, "attack"):
        rng = rng_for(run.secret, "attack", one.name)
        if one.name == "membership":
            if outsiders is None and not chosen:
                continue
            if outsiders is not None and (inside := len(_contents(outsiders.matrix) & _contents(run.space.matrix))):
                raise DataError(f"{counted(inside, 'outsider is', 'outsiders are')} in the collection. Give documents that are not.")
            found.append(one.attack(run.space, run.release, rng, progress, outsiders))
        else:
            found.append(one.attack(run.space, run.release, rng, progress))
    return found


def _contents(matrix: Any) -> set[bytes]:
    """What stands in each row, to tell equal ones."""
    starts = matrix.indptr.tolist()
    return {matrix.indices[a:b].tobytes() + matrix.data[a:b].tobytes() for a, b in pairwise(starts)}


def queried(release: CollectionRelease, words: Sequence[str], results: int = 20) -> list[dict[str, Any]]:
    """The clusters most like a query: how many rows each stands for, how like it is, and its heaviest terms."""
    from shoal.collections.queries import ask

    sizes = np.bincount(release.assignment, minlength=release.centroids.shape[0])
    found = []
    for cluster, relevance in ask(release, _meant(release, words))[:results]:
        row = release.centroids[[cluster]]
        heavy = [release.terms[row.indices[i]] for i in np.argsort(-row.data, kind="stable")[:8]]
        found.append({"cluster": cluster, "rows": int(sizes[cluster]), "relevance": relevance, "terms": heavy})
    return found


def query_words(words: str, built: Mapping[str, Any] | None) -> list[str]:
    """A query cut the way the documents were, as far as that is known."""
    known_as = {**(built or {}), "keep": "all"}
    return Builder(**known_as).words(words)


def _meant(release: CollectionRelease, words: Sequence[str]) -> list[str]:
    """The terms a query means. Where meanings were released, those of its words, or the nearest above them that are there."""
    if not release.made_by or release.made_by[-1].method != "semantic":
        return list(words)
    from shoal.text.wordnet import read_wordnet

    wordnet, there = read_wordnet(), set(release.terms)
    found: list[str] = []
    for word in words:
        level = wordnet.senses(word, "n")
        while level:
            named = [name for name in map(wordnet.name, level) if name in there]
            if named:
                found += named
                break
            level = sorted({above for synset in level for above in wordnet.hypernyms(synset)})
        else:
            found.append(word)  # no meaning of it was released: it counts against every answer
    return found


def _certificate(run: CollectionRun, scores: Sequence[Score], attacks: Sequence[AttackResult]) -> dict[str, Any]:
    release = run.release
    checked = check_file(run.folder / RELEASE, release.promises)
    warnings = [
        "A row cannot be told from k - 1 others. Who is in the collection, its topics, words and classes can still be seen.",
        *(["Whoever knows all documents of a cluster but one can compute the last."] if release.made_by[-1].method == "spherical" else []),
        "Two releases of the same documents can be held against each other.",
        *release.warnings,
    ]
    alone = next((score.value for score in scores if score.name == "sole-terms"), None)
    if alone:
        warnings.append(f"{alone:.0%} of a centroid's terms come from one document alone. -p term_documents=2 leaves them out.")
    same = len(run.space) - len(_contents(run.space.matrix))
    if same:
        warnings.append(
            f"{counted(same, 'document is', 'documents are')} the same as another. A cluster of such documents publishes them as they are."
        )
    by_name = {score.name: score.value for score in scores}
    if release.labels is not None and by_name.get("unique-labels"):
        warnings.append(
            f"With its label, {by_name['unique-labels']:.0%} of the rows can be told from all others: k counts vectors, not vectors with labels."
        )
    if (by_name.get("one-class-clusters") or 0) > 0.5:
        warnings.append(f"{by_name['one-class-clusters']:.0%} of the clusters hold one class only. -p l=2 asks for more.")
    linked = [result for result in attacks if result.rate > 0.5 and result.name in ("document-linkage", "concept-linkage")]
    if linked:
        warnings.append(f"Whoever holds a document finds its cluster in {linked[0].rate:.0%} of cases; its row is then one in k.")
    return {
        "shoal": shoal.__version__,
        "format": 1,
        "kind": "collection",
        "created": datetime.date.today().isoformat(),
        "release": {
            "file": RELEASE,
            "sha256": sha256_of(run.folder / RELEASE),
            "rows": len(release),
            "clusters": release.centroids.shape[0],
            "terms": len(release.terms),
        },
        "steps": [
            {
                "method": step.method,
                "parameters": plain(dict(step.parameters)),
                "guarantees": list(step.guarantees),
                "summary": step.summary,
            }
            for step in release.made_by
        ],
        "promises": [
            {"what": promise.what, "value": promise.value, "about": promise.about, "found": plain(one.found), "holds": bool(one.holds)}
            for promise, one in zip(release.promises, checked)
        ],
        "measures": [plain(score.public()) for score in scores],
        "attacks": [plain(result.public()) for result in attacks],
        "warnings": warnings,
        "versions": {"shoal": shoal.__version__, "python": platform.python_version(), "numpy": np.__version__},
    }


def summary_of(said: Mapping[str, Any]) -> str:
    """One sentence about a release."""
    about = said["release"]
    return f"{counted(about['rows'], 'document')} in {counted(about['clusters'], 'cluster')} over {counted(about['terms'], 'term')}"
