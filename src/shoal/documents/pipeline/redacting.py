"""Redacting: decisions become edits, edits become files, and files are searched before they count. One record per document says what became of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from shoal.certificate import FilePart
from shoal.contracts import Progress, Workers, here, quiet
from shoal.document import Block, Document, Edit
from shoal.documents.case import Settings
from shoal.documents.failures import failure_of
from shoal.documents.formats.read import OpenedFile
from shoal.documents.formats.write import TextLeft, Written, put_in_place, search_row, write_redacted, write_table_column
from shoal.documents.leaks import Searched, search_text
from shoal.documents.pipeline.originals import Originals
from shoal.documents.pipeline.planning import DocumentPlan, Plan
from shoal.documents.redact import Verdicts, edits_of
from shoal.documents.risk.plausible import Generalized, generalize
from shoal.errors import DataError, OutputError
from shoal.randomness import rng_for
from shoal.text.wordnet import read_wordnet


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What became of one document: everything a certificate or a page says of it. It quotes the document, so it stays in the case."""

    plan: DocumentPlan
    files: tuple[FilePart, ...] = ()  # put in place; all rows of a table are in one
    row: int | None = None  # of a table: where in the file it stands
    removed: tuple[str, ...] = ()  # the texts that were replaced
    may: tuple[str, ...] = ()  # what may stand in its files though it was removed: replacements, and what was decided to stay
    again: int = 0  # edits for words that stand again
    searched: Searched | None = None  # in what was written, or would have been
    left_out: int = 0  # things inside it that hold no text, and so are not written
    failure: str = ""  # why it was not written

    @property
    def name(self) -> str:
        """What the case calls it."""
        return self.plan.name


@dataclass(frozen=True, slots=True)
class _Edits:
    """What is to be done to a text."""

    edits: list[Edit]
    kept: list[tuple[int, int]]
    again: int

    @staticmethod
    def of(settings: Settings, document: Document, planned: DocumentPlan) -> _Edits:
        """As planned, with the terms of blocks that are said in general words."""
        planned.check(document)
        blocks = [one.block for one in planned.verdicts.blocks if one.verdict == "generalize"]
        general = [edit for block in blocks for edit in in_general_words(settings, document, block).edits]
        return _Edits(*edits_of(document.text, planned.verdicts, planned.replacements, general))


def in_general_words(settings: Settings, document: Document, block: Block) -> Generalized:
    """A block with its risky terms replaced by more general words, and how many texts could have become the same."""
    return generalize(read_wordnet(), document.text, block, settings.risk_senses)


def redact_files(
    plan: Plan, originals: Originals, place: Path, progress: Progress = quiet, workers: Workers = here
) -> list[DocumentRecord]:
    """Write every document that can be written safely below `place`/documents; for the others the record says why not.

    Each is written aside, wherever the task is done, and put in place here, in the order of documents: a task that was begun twice,
    or two documents that would be called the same, cannot get at what another has written.
    """
    records: list[DocumentRecord] = []
    with tempfile.TemporaryDirectory(dir=place) as aside:
        redact = _RedactFile(plan.case.settings, plan.case.folder, originals, Path(aside))
        with workers(redact, plan.documents) as written:
            for planned, (record, files) in zip(plan.documents, written, strict=True):
                try:
                    _put(files, [place / part.file for part in record.files])
                    records.append(replace(record, plan=planned))
                except Exception as error:
                    records.append(_failed(plan.case.folder, planned, error))
                progress("redacting", len(records), len(plan.documents))
    return records


def _put(files: Sequence[Path], targets: Sequence[Path]) -> None:
    def move(parts: Sequence[Path]) -> None:
        for file, part in zip(files, parts, strict=True):
            os.replace(file, part)

    if targets:
        put_in_place(move, targets)


def _planned(planned: DocumentPlan) -> None:
    if planned.failure:
        raise DataError(planned.failure)


def _failed(case: Path, planned: DocumentPlan, error: Exception) -> DocumentRecord:
    if isinstance(error, TextLeft):
        return DocumentRecord(planned, searched=error.searched, failure=f"{error} {case}/report.html says which.")
    return DocumentRecord(planned, failure=failure_of(error))


@dataclass(frozen=True)
class _RedactFile:
    """The task of writing one document as planned, into a folder of its own: its record, and the files in that folder. Of the plan, which
    whoever asked has, only the name comes back."""

    settings: Settings
    case: Path
    originals: Originals
    aside: Path

    def __call__(self, planned: DocumentPlan) -> tuple[DocumentRecord, tuple[Path, ...]]:
        files: tuple[Path, ...] = ()
        try:
            _planned(planned)
            record, files = self._written(planned, self.originals.open(planned.name))
        except Exception as error:
            record = _failed(self.case, planned, error)
        return replace(record, plan=replace(planned, verdicts=Verdicts.of((), ()), texts=(), replacements=())), files

    def _written(self, planned: DocumentPlan, file: OpenedFile) -> tuple[DocumentRecord, tuple[Path, ...]]:
        document, called = file.document, Path(planned.called)
        todo = _Edits.of(self.settings, document, planned)
        if planned.called == planned.name:
            gone = [document.text[edit.start : edit.end] for edit in todo.edits]
            if search_text(str(called.with_suffix("")), gone).leaks:
                raise DataError("The name of a file holds what was removed from it. Leave out --names keep, so that files are numbered.")
        written = write_redacted(file, called.name, todo.edits, self._own_folder(), todo.kept)
        left_out = sum(part.name.endswith("(left out)") for part in document.parts)
        files = _files(written, Path("documents") / called.parent)
        return _record(planned, document, todo, files, Searched.together(written.searched), left_out=left_out), written.paths

    def _own_folder(self) -> Path:
        """It is made only where the folder aside still is: a run that has ended gets no more files."""
        try:
            return Path(tempfile.mkdtemp(dir=self.aside))
        except OSError as error:
            raise OutputError(f"{self.aside} cannot be written: {error.strerror}.") from None


def redact_rows(plan: Plan, originals: Originals, place: Path) -> list[DocumentRecord]:
    """Write the column of texts of a table into `place`, but for rows that cannot be written safely; for those the record says why not."""
    settings, source = plan.case.settings, Path(plan.case.settings.source)
    records: list[DocumentRecord | None] = []
    ready: list[tuple[DocumentPlan, Document, _Edits]] = []
    for planned in plan.documents:
        try:
            _planned(planned)
            document = originals.read(planned.name)
            todo = _Edits.of(settings, document, planned)
            search_row(document, todo.edits, todo.kept)
        except Exception as error:
            records.append(_failed(plan.case.folder, planned, error))
        else:
            records.append(None)  # which is filled in once all are written
            ready.append((planned, document, todo))
    if not ready:
        return [one for one in records if one is not None]
    path = place / f"documents{source.suffix if source.suffix in ('.csv', '.parquet') else '.csv'}"
    rows, todos = [document for _, document, _ in ready], [todo for _, _, todo in ready]
    rng = rng_for(plan.secret, "rows")
    edits, kept = [one.edits for one in todos], [one.kept for one in todos]
    written = write_table_column(rows, settings.column, edits, path, rng, kept, plan.choices.formulas)
    files = _files(written, Path())
    done = iter([_record(*one, files, searched, row) for one, searched, row in zip(ready, written.searched, written.rows, strict=True)])
    return [next(done) if one is None else one for one in records]


def _files(written: Written, below: Path) -> tuple[FilePart, ...]:
    """Where in the release they will be."""
    return tuple(
        FilePart(file=(below / path.name).as_posix(), sha256=sha256) for path, sha256 in zip(written.paths, written.sha256, strict=True)
    )


def _record(
    planned: DocumentPlan,
    document: Document,
    todo: _Edits,
    files: tuple[FilePart, ...],
    searched: Searched,
    row: int | None = None,
    left_out: int = 0,
) -> DocumentRecord:
    gone = {(one.start, one.end): document.text[one.start : one.end] for one in todo.edits}
    removed = dict.fromkeys(gone[one.start, one.end] for one in todo.edits if gone[one.start, one.end] != one.replacement)
    may = (*(one.replacement for one in todo.edits), *(document.text[start:end] for start, end in todo.kept))
    return DocumentRecord(planned, files, row, tuple(removed), may, todo.again, searched, left_out)
