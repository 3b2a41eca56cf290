"""A run of a table: protect, write, count the promises again on what was written, measure, attack, report; and reading a run back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.certificate import CORE_MEASURES, TableCertificate, read_certificate
from shoal.checks.tables import check_file
from shoal.checks.values import Written
from shoal.contracts import Measure, Progress, quiet
from shoal.errors import DataError, PromiseBroken
from shoal.files import read_table
from shoal.folders import (
    CERTIFICATE,
    PRIVATE,
    RECIPE,
    RELEASE,
    RunFolder,
    refuse_existing,
    renewed,
    run_folder,
    sha256_of,
    sha256_of_list,
)
from shoal.formulas import to_escape, unescaped
from shoal.inputs import read_tables
from shoal.parts import files_of
from shoal.promises import Checked
from shoal.published import Rounding, published
from shoal.randomness import new_secret
from shoal.reading import read_like
from shoal.registry import make
from shoal.release import Release, Step
from shoal.report.pictures import before_after
from shoal.report.table_pages import internal_report, public_report
from shoal.roles import Roles
from shoal.runs.certify import ReleasedFiles, certify
from shoal.runs.evidence import TableSubject, attack_all, measure_all
from shoal.runs.patterns import generalized_patterns
from shoal.runs.recipe import Recipe, apply_steps, ready
from shoal.runs.riskiest import riskiest
from shoal.signing import SigningKey
from shoal.table import Table
from shoal.writing import write_table


@dataclass(frozen=True)
class Run:
    """A run folder that was written before, read back with its original."""

    folder: Path
    recipe: Recipe
    original: Table
    release: Release
    roles: Roles
    secret: int


def protect_to_folder(
    recipe: Recipe, out: Path, seed: int | None = None, progress: Progress = quiet, sign: Path | None = None
) -> TableCertificate:
    """Do a recipe: protect, write, check what was written, measure, attack, report. Returns the certificate; `sign` names a key to sign it."""
    refuse_existing(out)
    key = SigningKey.read(sign) if sign is not None else None
    as_toml = recipe.toml(out)  # first: an input that a recipe cannot name is told at once
    progress("reading", 0, 1)
    original, roles = ready(read_tables(recipe.inputs, **recipe.reading), recipe.roles, recipe.steps)
    progress("reading", 1, 1)
    secret = new_secret() if seed is None else seed
    release = apply_steps(original, roles, recipe.steps, secret, progress)
    if recipe.formulas == "escape":
        release = replace(release, table=to_escape(release.table))
    with run_folder(out) as folder:
        file = folder.path / f"release.{'parquet' if original.format.kind == 'parquet' else 'csv'}"
        progress("writing", 0, 1)
        write_table(release.table, file)
        progress("writing", 1, 1)
        checked = check_kept(file, release, progress)
        (folder.path / RECIPE).write_text(as_toml, encoding="utf-8")
        folder.keep(secret, release.source_row, {"input_sha256": sha256_of_inputs(recipe), "warnings": list(release.warnings)})
        run = Run(out, recipe, original, release, roles, secret)
        return with_evidence(run, folder, ReleasedFiles.of(file), checked, progress, key)


def check_kept(file: Path, release: Release, progress: Progress = quiet) -> list[Checked]:
    """Every promise counted on the written file; a broken one stops everything."""
    progress("checking promises", 0, 1)
    checked = _checked(file, release)
    refuse_broken(checked, " in the written rows")
    progress("checking promises", 1, 1)
    return checked


def _checked(file: Path, release: Release) -> list[Checked]:
    form = release.table.format
    written = Written(form.missing, release.table.written_dates, form.decimal, form.formulas)
    return check_file(file, form.delimiter, release.promises, release.persons, written)


def refuse_broken(checked: Sequence[Checked], where: str = "") -> None:
    """Nothing leaves that does not keep what is promised."""
    for one in checked:
        if not one.holds:
            raise PromiseBroken(f"{one.what}: promised {one.promised:g}, found {one.found:g}{where}. Nothing was released.")


def with_evidence(
    run: Run, folder: RunFolder, files: ReleasedFiles, checked: Sequence[Checked], progress: Progress, key: SigningKey | None
) -> TableCertificate:
    """Measure, attack, certify, and write the reports."""
    subject = TableSubject(run.original, run.release, run.roles)
    scores = measure_all(subject, _with_core(run.recipe.measures), run.secret, progress)
    attacked = attack_all(subject, run.recipe.attacks, run.secret, progress)
    progress("reporting", 0, 1)
    exact = certify(run.original, run.release, run.roles, files, checked, scores, attacked).model_copy(update={"name": run.recipe.name})
    certificate = published(exact)
    pictures = before_after(run.original, run.release, run.roles)
    patterns = generalized_patterns(run.release, run.original)
    shown = () if Rounding.of(exact).few else pictures  # counts of few originals are as good as figures of them
    certificate = folder.certify(certificate, public_report(certificate, shown, patterns), files.listed, key)
    telling = [result.internal for result in attacked.results if result.internal]
    found = riskiest(run.original, run.release, run.roles, attacked.results)
    folder.report_inside(internal_report(exact, pictures, found, patterns, telling))
    progress("reporting", 1, 1)
    return certificate


def _with_core(measures: Sequence[Measure]) -> Sequence[Measure]:
    """A recipe's own choice, and what no certificate goes without."""
    have = {one.name for one in measures}
    return [*measures, *(make("measure", name) for name in CORE_MEASURES if name not in have)] if measures else ()


def load_run(folder: Path) -> Run:
    """Read a run folder back, with the original it was made from, which must be unchanged."""
    there = RunFolder(folder)
    refuse_rows_of_no_file(folder)
    if (folder / RELEASE).is_dir():
        raise DataError(f"The release in {folder} is many files, and this needs one file. Run the recipe with --engine memory for it.")
    there.needs(("recipe.toml", CERTIFICATE, "private/run.json", "private/source_rows.npy"), "shoal protect -o")
    recipe = Recipe.read(folder / "recipe.toml")
    secret, source_row, about = there.kept()
    refuse_gone(recipe, folder)
    if sha256_of_inputs(recipe) != about.get("input_sha256"):
        raise DataError(f"{recipe.input} has changed since this run was made. Put the original back, or run the recipe again.")
    original = read_tables(recipe.inputs, **recipe.reading)
    as_written = {"encoding": "utf-8", "delimiter": original.format.delimiter}
    certificate = table_certificate(folder / CERTIFICATE)
    texts = [*recipe.roles.texts(original), *certificate.release.cells]  # cells that are all plain numbers are cells still
    released = read_table(_release_file(folder), **{**recipe.reading, **as_written}, text=texts)
    if len(released) != len(source_row):
        raise DataError(f"The release in {folder} no longer has the {len(source_row):,} rows of its run. Run the recipe again.")
    if not np.isin(source_row, np.arange(len(original))).all():
        raise DataError(f"{folder}/private is damaged: its source rows are not rows of the original. Run the recipe again.")
    original, roles = ready(original, recipe.roles, recipe.steps)
    persons = original.codes(roles.person[0])[source_row] if roles.person else None
    released = read_like(with_cells_of(released, certificate, roles), original)
    was = certificate.release
    form = replace(original.format, delimiter=was.delimiter, missing=was.missing, formulas=was.formulas)  # as it was written
    released = replace(released, format=form)
    warnings = tuple(about.get("warnings", certificate.warnings))  # runs of 0.1 did not keep those of the methods apart
    release = replace(Release.given(released, source_row, roles, persons), warnings=warnings)
    return Run(folder, recipe, original, release, roles, secret)


def refuse_rows_of_no_file(folder: Path) -> None:
    """A DataFrame of a cluster is protected without ever being a file that stays."""
    if (folder / RELEASE).is_dir() and (folder / PRIVATE / "run.json").is_file() and not (folder / RECIPE).exists():
        raise DataError(
            f"The run in {folder} was made of a DataFrame, of which no file was kept, so its original cannot be read back. Its certificate and "
            "reports hold what was found; protect the DataFrame again for anything else."
        )


def refuse_gone(recipe: Recipe, folder: Path) -> None:
    """The originals must still be there."""
    for path in recipe.inputs:
        if not path.exists():
            raise DataError(f"The original of this run, {path}, is no longer there. Put it back, or mend input in {folder}/recipe.toml.")


def sha256_of_inputs(recipe: Recipe) -> str:
    """Of the file, or of the list of files with theirs."""
    files = files_of(recipe.inputs)
    return sha256_of(files[0]) if len(files) == 1 else sha256_of_list([(sha256_of(path), path.name) for path in files])


def table_certificate(path: Path) -> TableCertificate:
    """The certificate of a table."""
    certificate = read_certificate(path)
    if not isinstance(certificate, TableCertificate):
        raise DataError(f"{path} is the certificate of {certificate.kind}, not of a table. Use the verbs of shoal {certificate.kind}.")
    return certificate


def with_cells_of(released: Table, certificate: TableCertificate, roles: Roles | None = None) -> Table:
    """A CSV does not say which of its columns hold cells, which of these are names of groups, and whether formulas were escaped: its certificate
    does. What a name stands for is the certificate's to tell, or, where that would tell of the original, the hierarchy's of the run."""
    if certificate.release.formulas == "escape" and released.format.kind == "csv":
        texts = [column for column in released.columns if released.kind(column) == "text"]
        released = released.with_columns({column: unescaped(released.column(column)) for column in texts})
    cells = [column for column in certificate.release.cells if column in released.columns]
    empty = {column: pa.nulls(len(released), pa.string()) for column in cells if released.kind(column) == "empty"}
    released = released.with_columns(empty)
    cells = [column for column in cells if released.kind(column) == "text"]
    labels: dict[str, dict[str, str]] = {}
    for column in certificate.release.labels:
        if column in cells:
            told = told_names(certificate, roles, column)
            texts = pa.array([told.get(text, text) for text in released.levels(column).to_pylist()], pa.string())
            released = released.with_columns({column: texts.take(pa.array(released.codes(column)))})
            labels[column] = {said: name for name, said in told.items()}
    return replace(released, cells=frozenset(cells), labels=labels)


def told_names(certificate: TableCertificate, roles: Roles | None, column: str) -> dict[str, str]:
    """What the names of groups in a column stand for: by the certificate, or by the hierarchy of the run; else themselves."""
    tree = roles.hierarchies.get(column) if roles is not None else None
    names = certificate.release.labels[column]
    return {name: said or (tree.cell_of(name) if tree is not None else None) or name for name, said in names.items()}


def refresh(run: Run, progress: Progress = quiet, sign: Path | None = None) -> TableCertificate:
    """Measure and attack a run again, and write its certificate and reports anew. What was promised stays what it was; a signature of what was
    there before does not: `sign` names a key to sign it again."""
    key = SigningKey.read(sign) if sign is not None else None
    before = table_certificate(run.folder / CERTIFICATE)
    file = _release_file(run.folder)
    if sha256_of(file) != before.release.sha256:
        raise DataError(f"{file} has changed since its certificate was written. Put the release back, or run the recipe again.")
    release = replace(run.release, made_by=steps_of(before))
    checked = _checked(file, release)
    with renewed(run.folder) as folder:
        return with_evidence(replace(run, release=release), folder, ReleasedFiles.of(file), checked, progress, key)


def steps_of(certificate: TableCertificate) -> tuple[Step, ...]:
    """The steps a certificate names, with the promises that stood when it was written."""
    steps = [Step(s.method, s.parameters, s.columns, s.guarantees, s.summary, outcome=s.outcome) for s in certificate.steps]
    standing = tuple(one.promise for one in certificate.promises)
    return (*steps[:-1], replace(steps[-1], promises=standing)) if steps else ()


def _release_file(folder: Path) -> Path:
    for name in ("release.csv", "release.parquet"):
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"{folder} holds no release.csv or release.parquet.")
