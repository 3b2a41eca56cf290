"""Collections from end to end: texts become a private space, the space a release that others can search, with the evidence beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from shoal.certificate import (
    AttackPart,
    CollectionCertificate,
    CollectionFile,
    MeasurePart,
    NotTried,
    PromisePart,
    StepPart,
    read_certificate,
)
from shoal.checks.collections import check_collection
from shoal.collections.build import Builder, TermWeights
from shoal.collections.contracts import CollectionAttack, CollectionMeasure
from shoal.collections.release import CollectionRelease
from shoal.collections.space import FILE, Space, contents
from shoal.collections.texts import Texts, texts_of_column
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError, ShoalError, counted
from shoal.folders import CERTIFICATE, RunFolder, refuse_existing, run_folder, sha256_of
from shoal.promises import Checked
from shoal.published import published
from shoal.randomness import new_secret, rng_for
from shoal.registry import Kind, known, make
from shoal.report.collection_page import collection_page
from shoal.runs.evidence import Attacked, attack_all, measure_all
from shoal.runs.run import refuse_broken
from shoal.score import AttackResult, Score
from shoal.signing import SigningKey

Labels = Literal["none", "folders"]
RELEASE = "release.npz"
WITHHELD = ("exclude",)  # of how a space was built: words that somebody wanted left out, names perhaps


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
    refuse_existing(out)
    if not column and (label or author):
        raise ParameterError("--label and --author name columns of a table. Give --column, too; labels of files are their folders.")
    read = texts_of_column(source, column, label, author) if column else _texts_of_files(source, labels, progress)
    if not read.texts:
        why = f" {next(iter(read.failed.values()))}" if read.failed else ""
        raise DataError(f"No document could be read from {source}.{why}")
    if like is not None:
        model = Space.read(like)
        if model.built is None:
            raise DataError(f"{like} was not built from texts, so its terms cannot be used again.")
        space = Builder(**model.built).transform(TermWeights.of(model), read.texts, read.names, read.labels)
    else:
        space = (builder or Builder()).build(read.texts, read.names, read.labels)
    if read.authors is not None:
        author_of = dict(zip(read.names, read.authors))
        space = space.by_author([author_of[name] for name in space.names])
    space.write(out)
    return {
        "documents": len(space),
        "terms": len(space.terms),
        "terms_per_document": space.matrix.nnz / len(space),
        "labels": len(set(space.labels)) if space.labels else 0,
        "labels_lost": bool(read.labels and read.authors and space.labels is None),
        "dropped": list(space.dropped),
        "failed": dict(read.failed),
    }


def _texts_of_files(source: Path, labels: Labels, progress: Progress) -> Texts:
    """Every document of a folder that can be read."""
    from shoal.documents.failures import failure_of, sayable, utf8_name
    from shoal.documents.formats.read import find_documents, read_document

    texts, failed = {}, {}
    paths = find_documents(source)
    for done, path in enumerate(paths, 1):
        name = path.relative_to(source).as_posix() if source.is_dir() else path.name
        try:
            text = read_document(path, utf8_name(name)).text
        except Exception as error:
            failed[sayable(name)] = failure_of(error)
            continue
        if labels == "folders" and "/" not in name:
            failed[name] = "It lies in no subfolder, so it has no label."
            continue
        texts[name] = text
        progress("reading", done, len(paths))
    of_folder = tuple(name.split("/")[0] for name in texts) if labels == "folders" else None
    return Texts(tuple(texts.values()), tuple(texts), of_folder, failed=failed)


@dataclass(frozen=True)
class CollectionSubject:
    """A space and its release, and documents that are not in it, where an intruder has some: what measures and attacks are asked about."""

    space: Space
    release: CollectionRelease
    outsiders: Space | None = None
    measures: ClassVar[Kind] = "collection-measure"
    attacks: ClassVar[Kind] = "collection-attack"

    def __post_init__(self) -> None:
        inside = len(contents(self.outsiders.matrix) & contents(self.space.matrix)) if self.outsiders is not None else 0
        if inside:
            raise DataError(f"{counted(inside, 'outsider is', 'outsiders are')} in the collection. Give documents that are not.")

    def measure(self, one: CollectionMeasure, secret: int) -> Score:
        """Every measure has a stream of its own."""
        return one.measure(self.space, self.release, rng_for(secret, "measure", one.name))

    def attack(self, one: CollectionAttack, secret: int, progress: Progress) -> AttackResult:
        """Every attack has a stream of its own."""
        return one.attack(self.space, self.release, rng_for(secret, "attack", one.name), progress, self.outsiders)

    def why_not_measured(self, one: CollectionMeasure) -> str:
        """Empty where it applies."""
        return one.applies(self.space, self.release)

    def why_not_attacked(self, one: CollectionAttack) -> str:
        """Empty where it applies."""
        return one.applies(self.space, self.release, self.outsiders)


@dataclass(frozen=True)
class CollectionRun:
    """A run folder of a collection, read back with its space."""

    folder: Path
    space: Space
    release: CollectionRelease
    secret: int


def protect_space(
    folder: Path,
    method: str,
    out: Path,
    parameters: Mapping[str, object] | None = None,
    seed: int | None = None,
    progress: Progress = quiet,
    sign: Path | None = None,
) -> CollectionCertificate:
    """Protect a space: the release, its certificate, its report; what must stay private beside them. Returns the certificate; `sign` names a
    key to sign it."""
    refuse_existing(out)
    key = SigningKey.read(sign) if sign is not None else None
    chosen = make("collection-method", method, parameters)
    space = Space.read(folder)
    secret = new_secret() if seed is None else seed
    release: CollectionRelease = chosen.protect(space, rng_for(secret, "collection", method), progress)
    if not release.centroids.nnz:
        raise DataError("Nothing is left to release: no term stands in so many documents of a group. Ask for fewer, or for a larger k.")
    with run_folder(out) as place:
        file = place.path / RELEASE
        checked = write_release(release, file)
        subject = CollectionSubject(space, release)
        scores = measure_all(subject, (), secret, progress)
        attacked = attack_all(subject, (), secret, progress)
        certificate = published(_certificate(file, subject, checked, scores, attacked))
        certificate = place.certify(certificate, collection_page(certificate), [certificate.release], key)
        place.keep(secret, release.source_row, {"space": str(folder.absolute()), "space_sha256": sha256_of(folder / FILE)})
    return certificate


def write_release(release: CollectionRelease, path: Path) -> list[Checked]:
    """Write a release and count its promises again on what was written. A broken one leaves no file."""
    release.write(path)
    try:
        checked = check_collection(path, release.promises)
        refuse_broken(checked, " in the written rows")
    except ShoalError:
        path.unlink(missing_ok=True)
        raise
    return checked


def load_collection(folder: Path) -> CollectionRun:
    """Read a run folder back, with the space it was made from, which must be unchanged."""
    there = RunFolder(folder)
    there.needs((RELEASE, CERTIFICATE, "private/run.json", "private/source_rows.npy"), "shoal collection protect -o")
    secret, source_row, about = there.kept()
    try:
        space, digest = Path(about["space"]), about["space_sha256"]
    except (KeyError, TypeError):
        raise DataError(f"{folder} is not the run of a collection. Name the folder that `shoal collection protect -o` wrote.") from None
    if not (space / FILE).is_file() or sha256_of(space / FILE) != digest:
        raise DataError(f"The space of this run, {space}, is no longer there or has changed. Put it back, or protect it again.")
    certificate = read_certificate(folder / CERTIFICATE)
    if not isinstance(certificate, CollectionCertificate) or certificate.release.sha256 != sha256_of(folder / RELEASE):
        raise DataError(f"{folder}/{RELEASE} is not the file that its certificate is about. Protect the space again.")
    return CollectionRun(folder, Space.read(space), CollectionRelease.read(folder / RELEASE, source_row), secret)


def classified(run: CollectionRun, test: CollectionRun, progress: Progress = quiet) -> list[Score]:
    """What classifiers lose: trained on one run, tested on another, each as it was and as it was released."""
    from shoal.collections.classify import Classification

    return list(Classification().measure(run.space, run.release, test.space, test.release, progress))


def _certificate(
    file: Path, subject: CollectionSubject, checked: Sequence[Checked], scores: Sequence[Score], attacked: Attacked
) -> CollectionCertificate:
    """Everything that may be published about a release."""
    release, built = subject.release, subject.space.built
    return CollectionCertificate.now(
        release=CollectionFile(
            file=file.name,
            sha256=sha256_of(file),
            rows=len(release),
            clusters=release.centroids.shape[0],
            terms=len(release.terms),
        ),
        built=None if built is None else {key: value for key, value in built.items() if key not in WITHHELD},
        steps=tuple(map(StepPart.of, release.made_by)),
        promises=tuple(map(PromisePart.of, release.promises, checked)),
        measures=tuple(map(MeasurePart.of, scores)),
        attacks=tuple(map(AttackPart.of, attacked.results)),
        not_tried=tuple(NotTried(name=name, why=why) for name, why in attacked.not_tried.items()),
        warnings=_warnings(subject, scores, attacked.results),
    )


def _warnings(subject: CollectionSubject, scores: Sequence[Score], results: Sequence[AttackResult]) -> tuple[str, ...]:
    """What a careful colleague would say before this release leaves: what holds for all, and what each measure and attack has to say."""
    space, release = subject.space, subject.release
    warnings = [
        "A row cannot be told from k - 1 others. Who is in the collection, its topics, words and classes can still be seen.",
        "Two releases of the same documents can be held against each other.",
        *release.warnings,
    ]
    same = len(space) - len(contents(space.matrix))
    if same:
        warnings.append(
            f"{counted(same, 'document is', 'documents are')} the same as another. A cluster of such documents publishes them as they are."
        )
    warnings += [known(subject.measures)[score.name]().warning(score, release) for score in scores]
    warnings += [known(subject.attacks)[result.name]().warning(result, release) for result in results]
    return tuple(warning for warning in warnings if warning)
