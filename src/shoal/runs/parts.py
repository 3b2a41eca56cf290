"""A run folder whose release is many files: written, checked, measured and attacked where the rows live; and read back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from shoal import cell
from shoal.arrays import IntArray
from shoal.certificate import TableCertificate
from shoal.checks.tables import check_groups
from shoal.checks.values import Written
from shoal.contracts import Elsewhere, One, Progress, quiet
from shoal.counts import Counts, Moments
from shoal.errors import DataError
from shoal.folders import CERTIFICATE, PRIVATE, RECIPE, RELEASE, RunFolder, refuse_existing, renewed, run_folder
from shoal.once import Once
from shoal.promises import Checked
from shoal.randomness import Chance, new_secret, rng_for
from shoal.release import Release
from shoal.rows import Batch
from shoal.runs.certify import ReleasedFiles
from shoal.runs.elsewhere import made_ready, protected
from shoal.runs.recipe import Recipe
from shoal.runs.run import Run, refuse_broken, refuse_gone, refuse_rows_of_no_file, steps_of, table_certificate, told_names, with_evidence
from shoal.signing import SigningKey
from shoal.table import Table

DRAWN = 100_000  # originals that pairs are measured on, and that intruders know some of
Open = Callable[[Sequence[Path], Path, Mapping[str, Any], Progress], Elsewhere]  # files, a folder for what is on its way, how they are read


@dataclass(frozen=True)
class ReleasedRows:
    """All released rows, their cells in the notation of `cell.py` again."""

    files: Elsewhere
    like: Table  # without rows: which columns are cells, and what names stand for
    once: Once = field(default_factory=Once, init=False, compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Column names, in order."""
        return self.like.columns

    def __len__(self) -> int:
        return len(self.files)

    def grouped(self, columns: Sequence[str]) -> list[pa.Table]:
        """Groups as they are in the files, counted once for all who ask."""
        return self.once(("grouped", *columns), lambda: list(self.files.grouped(columns)))

    def counts(self, columns: Sequence[str]) -> Counts:
        """Counted in the files, or of more columns that were counted before."""
        names = [column for column in self.columns if column in columns]
        return self.once(("counts", *names), lambda: self._counted(names))

    def _counted(self, names: Sequence[str]) -> Counts:
        wider = next((key[1:] for key in self.once.asked if key[0] == "counts" and set(names) <= {*key[1:]}), None)
        if wider is not None:
            whole = self.counts(wider)
            return Counts.merged([Counts(whole.table.only(names), whole.rows)])
        pieces = self.grouped(names)
        rows = [np.asarray(piece.column(len(names)).combine_chunks()).astype(np.int64) for piece in pieces]
        return Counts.merged([Counts(as_cells(piece.select(names), self.like), many) for piece, many in zip(pieces, rows)])

    def moments(self, columns: Sequence[str]) -> Moments:
        """Of columns that are numbers still."""
        return self.files.moments(columns)

    def each(self, task: Callable[[Batch], One], chance: Chance | None) -> Iterator[One]:
        """As in memory."""
        like = self.like
        return self.files.each(lambda batch: task(batch._replace(table=as_cells(batch.table.arrow, like))), chance)

    def first(self, rows: int) -> Table:
        """Released rows come in a random order: the first are a draw."""
        taken: list[pa.Table] = []

        def some(batch: Batch) -> pa.Table | None:
            return batch.table.arrow.slice(0, max(0, rows - int(batch.rows[0]))) if batch.rows[0] < rows else None

        for piece in self.files.each(some, None):
            if piece is None:
                break
            taken.append(piece)
        return as_cells(pa.concat_tables(taken).combine_chunks(), self.like)


def as_cells(arrow: pa.Table, like: Table) -> Table:
    """Rows as they are in a released file, in the notation of `cell.py`: lists as sets and intervals, names of groups as what they stand for."""
    for name in like.cells:
        if name in arrow.column_names:
            column = arrow.column(name).combine_chunks()
            texts = _texts_of_lists(column) if pa.types.is_list(column.type) else column
            names = {said: text for text, said in like.labels.get(name, {}).items()}
            if names:
                distinct = texts.dictionary_encode()
                told = pa.array([names.get(text, text) for text in distinct.dictionary.to_pylist()], pa.string())
                texts = told.take(distinct.indices)
            arrow = arrow.set_column(arrow.column_names.index(name), name, texts)
    return replace(like, arrow=arrow)


def _texts_of_lists(lists: pa.Array) -> pa.Array:
    """The cell behind each list; lists of one element, which most are, by their distinct elements."""
    alone = np.asarray(lists.value_lengths().fill_null(0)) == 1
    texts = np.full(len(lists), None, object)
    some = lists.filter(pa.array(alone)).flatten().dictionary_encode(null_encoding="encode")
    of_one = np.array([cell.from_list([element]) for element in some.dictionary.to_pylist()], object)
    texts[alone] = of_one[np.asarray(some.indices)] if len(of_one) else None
    texts[~alone] = [cell.from_list(values) for values in lists.filter(pa.array(~alone)).to_pylist()]
    return pa.array(texts, pa.string())


class Drawn(NamedTuple):
    """Some originals, and the released rows that were made of them."""

    original: Table
    released: Table
    source_row: IntArray  # which of the originals each was


def draw(rows: Elsewhere, released: ReleasedRows, source_row: IntArray, secret: int) -> Drawn:
    """Originals drawn evenly, whether or not they were released."""
    share = min(1.0, DRAWN / len(rows))
    some = released.first(max(1, round(share * len(released)))) if len(released) else released.like
    there = source_row[: len(some)]
    lost = np.setdiff1d(np.arange(len(rows)), source_row) if len(source_row) < len(rows) else np.empty(0, np.int64)
    rng = rng_for(secret, "draw")
    gone = rng.choice(lost, min(len(lost), round(share * len(lost))), replace=False) if len(lost) else lost
    wanted = rng.permutation(np.concatenate([there, gone]).astype(np.int64))
    place = np.argsort(wanted)
    return Drawn(_taken(rows, wanted), some, place[np.searchsorted(wanted[place], there)])


def _taken(rows: Elsewhere, wanted: IntArray) -> Table:
    """Rows by their numbers, in the order asked for."""
    order = np.argsort(wanted)
    rising = wanted[order]

    def some(batch: Batch) -> pa.Table:
        low, high = np.searchsorted(rising, [batch.rows[0], batch.rows[-1] + 1])
        return batch.table.arrow.take(pa.array(rising[low:high] - batch.rows[0]))

    together = pa.concat_tables(list(rows.each(some, None)))
    return replace(rows.like, arrow=together.take(pa.array(np.argsort(order))).combine_chunks())


def protect_in_parts(
    recipe: Recipe, opened: Open, out: Path, seed: int | None = None, progress: Progress = quiet, sign: Path | None = None
) -> TableCertificate:
    """Do a recipe where rows do not fit into memory: the same folder as ever, its release in many files."""
    refuse_existing(out)
    as_toml = recipe.toml(out)

    def of_files(aside: Path) -> Elsewhere:
        return opened(recipe.inputs, aside, recipe.reading, progress)

    return protect_rows(recipe, of_files, out, as_toml, seed, progress, sign)


def protect_rows(
    recipe: Recipe,
    opened: Callable[[Path], Elsewhere],
    out: Path,
    as_toml: str = "",
    seed: int | None = None,
    progress: Progress = quiet,
    sign: Path | None = None,
) -> TableCertificate:
    """The same of rows that are opened in a folder for what is on its way, whatever the recipe's input. Rows that are in no file which stays have no
    recipe to write."""
    refuse_existing(out)
    key = SigningKey.read(sign) if sign is not None else None
    with run_folder(out) as folder:
        progress("reading", 0, 1)
        there = made_ready(opened(folder.aside), recipe.roles, recipe.steps)
        progress("reading", 1, 1)
        secret = new_secret() if seed is None else seed
        (folder.path / RELEASE).mkdir()
        made = protected(there.rows, there.roles, recipe.steps, secret, folder.path / RELEASE, progress)
        there.rows.forget_plan()
        if as_toml:
            (folder.path / RECIPE).write_text(as_toml, encoding="utf-8")
        folder.keep(secret, made.written.source_row, {"inputs": told_of(there.rows), "warnings": list(made.warnings)})
        released = released_rows(there.rows, made.written.paths, made.like)
        release = Release(released.like, made.made_by, np.empty(0, np.int64), there.roles, made.warnings)
        checked = _checked(released, release, progress)
        run = _with_a_draw(Run(out, recipe, there.rows.like, release, there.roles, secret), there.rows, released, made.written.source_row)
        return with_evidence(run, folder, ReleasedFiles.of(folder.path / RELEASE), checked, progress, key)


def told_of(rows: Elsewhere) -> list[list[object]]:
    """By what it is known later whether the originals are those that were protected."""
    return [[part.path.name, part.size, part.changed] for part in rows.given]


def released_rows(rows: Elsewhere, paths: Sequence[Path], like: Table) -> ReleasedRows:
    """The rows of released files, read where the originals are."""
    files = rows.over(paths, like)
    return ReleasedRows(files, as_cells(files.parts.schema.empty_table(), like))


def _checked(released: ReleasedRows, release: Release, progress: Progress) -> list[Checked]:
    """Every promise, counted on the written files."""
    progress("checking promises", 0, 1)
    checked = check_groups(lambda columns: iter(released.grouped(columns)), release.promises, Written(dates=released.like.written_dates))
    refuse_broken(checked, " in the written rows")
    progress("checking promises", 1, 1)
    return checked


def _with_a_draw(run: Run, rows: Elsewhere, released: ReleasedRows, source_row: IntArray) -> Run:
    """A run whose tables are draws of rows that stay where they are. Where a draw is all of them, the rows are in memory."""
    drawn = draw(rows, released, source_row, run.secret)
    release = replace(run.release, table=drawn.released, source_row=drawn.source_row)
    if len(drawn.original) < len(rows):
        release = replace(release, rows=released, originals=rows)
    return replace(run, original=drawn.original, release=release)


@dataclass(frozen=True)
class LoadedParts:
    """A run folder of many files, read back: its rows stay where they are, its tables are draws."""

    run: Run
    released: ReleasedRows


def load_parts(folder: Path, opened: Open, aside: Path, progress: Progress = quiet) -> LoadedParts:
    """With its original, which must be unchanged."""
    there = RunFolder(folder)
    refuse_rows_of_no_file(folder)
    there.needs((RECIPE, CERTIFICATE, f"{PRIVATE}/run.json", f"{PRIVATE}/source_rows.npy"), "shoal protect -o")
    recipe = Recipe.read(folder / RECIPE)
    secret, source_row, about = there.kept()
    refuse_gone(recipe, folder)
    ready = made_ready(opened(recipe.inputs, aside, recipe.reading, progress), recipe.roles, recipe.steps)
    if told_of(ready.rows) != about.get("inputs"):
        raise DataError(f"{recipe.input} has changed since this run was made. Put the original back, or run the recipe again.")
    certificate = table_certificate(folder / CERTIFICATE)
    names = {column: told_names(certificate, ready.roles, column) for column in certificate.release.labels}
    like = replace(
        ready.rows.like,
        cells=frozenset(certificate.release.cells),
        labels={column: {cell: name for name, cell in told.items()} for column, told in names.items()},
        date_formats={**certificate.release.dates},
    )
    paths = sorted((folder / RELEASE).iterdir())
    released = released_rows(ready.rows, paths, like)
    if len(released) != len(source_row):
        raise DataError(f"The release in {folder} no longer has the {len(source_row):,} rows of its run. Run the recipe again.")
    release = replace(
        Release(released.like, steps_of(certificate), np.empty(0, np.int64), ready.roles), warnings=tuple(about.get("warnings", ()))
    )
    run = Run(folder, recipe, ready.rows.like, release, ready.roles, secret)
    return LoadedParts(_with_a_draw(run, ready.rows, released, source_row), released)


def refresh_parts(loaded: LoadedParts, progress: Progress = quiet, sign: Path | None = None) -> TableCertificate:
    """Count, measure and attack again, and write the certificate and reports anew."""
    key = SigningKey.read(sign) if sign is not None else None
    run = loaded.run
    before, files = table_certificate(run.folder / CERTIFICATE), ReleasedFiles.of(run.folder / RELEASE)
    if files.sha256 != before.release.sha256:
        raise DataError(f"{run.folder / RELEASE} has changed since its certificate was written. Put it back, or run the recipe again.")
    checked = _checked(loaded.released, run.release, progress)
    with renewed(run.folder) as folder:
        return with_evidence(run, folder, files, checked, progress, key)
