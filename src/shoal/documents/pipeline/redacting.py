"""Redacting: decisions become edits, edits become files, and files are searched before they count. One record per document says what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shoal.certificate import FilePart
from shoal.contracts import Progress, quiet
from shoal.document import Block, Document, Edit
from shoal.documents.case import Settings
from shoal.documents.formats.read import OpenedFile
from shoal.documents.formats.write import TextLeft, Written, write_redacted, write_table_column
from shoal.documents.leaks import Searched, search_text
from shoal.documents.pipeline.originals import Originals
from shoal.documents.pipeline.planning import DocumentPlan, Plan
from shoal.documents.redact import edits_of
from shoal.documents.risk.plausible import Generalized, generalize
from shoal.errors import DataError, ShoalError
from shoal.randomness import rng_for
from shoal.text.wordnet import read_wordnet


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What became of one document: everything a certificate or a page says of it. It quotes the document, so it stays in the case."""

    plan: DocumentPlan
    files: tuple[FilePart, ...] = ()  # put in place; all rows of a table are in one
    edits: tuple[Edit, ...] = ()
    kept: tuple[tuple[int, int], ...] = ()  # stretches that stay though their words may go elsewhere
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


def redact_files(plan: Plan, originals: Originals, place: Path, progress: Progress = quiet) -> list[DocumentRecord]:
    """Write every document that can be written safely below `place`/documents; for the others the record says why not."""
    records = []
    for done, planned in enumerate(plan.documents, 1):
        try:
            record = _redact_file(plan.case.settings, planned, originals.open(planned.name), place)
        except TextLeft as error:
            failure = f"{error} {plan.case.folder}/report.html says which."
            record = DocumentRecord(planned, searched=error.searched, failure=failure)
        except ShoalError as error:
            record = DocumentRecord(planned, failure=str(error))
        records.append(record)
        progress("redacting", done, len(plan.documents))
    return records


def _redact_file(settings: Settings, planned: DocumentPlan, file: OpenedFile, place: Path) -> DocumentRecord:
    document, called = file.document, Path(planned.called)
    todo = _Edits.of(settings, document, planned)
    if planned.called == planned.name:
        gone = [document.text[edit.start : edit.end] for edit in todo.edits]
        if search_text(str(called.with_suffix("")), gone).leaks:
            raise DataError("The name of a file holds what was removed from it. Leave out --names keep, so that files are numbered.")
    written = write_redacted(file, called.name, todo.edits, place / "documents" / called.parent, todo.kept)
    left_out = sum(part.name.endswith("(left out)") for part in document.parts)
    return _record(planned, todo, _files(written, place), Searched.together(written.searched), left_out)


def redact_rows(plan: Plan, originals: Originals, place: Path) -> list[DocumentRecord]:
    """Write the column of texts of a table into `place`: all rows, or none."""
    settings, rows = plan.case.settings, originals.rows
    source = Path(settings.source)
    if len(rows) != len(plan.documents):
        raise DataError(f"{source} has changed since it was looked through. Run detect again.")
    todo = [_Edits.of(settings, document, planned) for document, planned in zip(rows, plan.documents)]
    path = place / f"documents{source.suffix if source.suffix in ('.csv', '.parquet') else '.csv'}"
    rng = rng_for(plan.secret, "rows")
    written = write_table_column(rows, settings.column, [one.edits for one in todo], path, rng, [one.kept for one in todo])
    files = _files(written, place)
    return [_record(*parts) for parts in zip(plan.documents, todo, [files] * len(rows), written.searched)]


def _files(written: Written, place: Path) -> tuple[FilePart, ...]:
    return tuple(
        FilePart(file=path.relative_to(place).as_posix(), sha256=sha256) for path, sha256 in zip(written.paths, written.sha256, strict=True)
    )


def _record(planned: DocumentPlan, todo: _Edits, files: tuple[FilePart, ...], searched: Searched, left_out: int = 0) -> DocumentRecord:
    return DocumentRecord(planned, files, tuple(todo.edits), tuple(todo.kept), todo.again, searched, left_out)
