"""A run folder: the release, the evidence beside it, and what must stay private. It appears whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from shoal.cell import is_generalized
from shoal.checks.tables import check_promises, read_certificate, sha256_of
from shoal.contracts import Attack, Measure, Progress, quiet
from shoal.errors import DataError, OutputError, PromiseBroken
from shoal.files import read_table, write_table
from shoal.folders import appearing, write_text
from shoal.promises import Promise
from shoal.randomness import new_secret, rng_for
from shoal.registry import make
from shoal.release import Release, Step
from shoal.report.pictures import before_after
from shoal.report.table_pages import RecordRisk, internal_report, public_report
from shoal.roles import Roles
from shoal.runs.certify import certificate
from shoal.runs.patterns import generalized_patterns
from shoal.runs.recipe import Recipe, apply_steps, everything
from shoal.score import AttackResult, Knowledge, Score
from shoal.table import Table

CORE = ("k-anonymity", "l-diversity", "cell-loss", "il")  # what summary and warnings are made of
RISKIEST = 50  # records listed in the internal report
MANY_RECORDS = 20_000  # beyond these, the attacks of a standard report take this many records, drawn at random; intervals say how sure


@dataclass(frozen=True)
class Run:
    """A run folder that was written before, read back with its original."""

    folder: Path
    recipe: Recipe
    original: Table
    release: Release
    roles: Roles
    secret: int


def protect_to_folder(recipe: Recipe, out: Path, seed: int | None = None, progress: Progress = quiet) -> dict[str, Any]:
    """Do a recipe: protect, write, check what was written, measure, attack, report. Returns the certificate."""
    if out.exists() or out.is_symlink():
        raise OutputError(f"{out} exists. Choose another folder with -o, or remove it first.")
    original = read_table(recipe.input, **recipe.reading)
    roleless = [column for column in original.columns if column not in recipe.roles.named]
    roles = recipe.roles.check(original)
    secret = new_secret() if seed is None else seed
    release = apply_steps(original, roles, recipe.steps, secret, progress)
    with appearing(out) as folder:
        file = folder / f"release.{'parquet' if original.format.kind == 'parquet' else 'csv'}"
        write_table(release.table, file)
        found = check_promises(file, release.table.format.delimiter, release.promises)
        broken = [one for one in found if not one.holds]
        if broken:
            raise PromiseBroken(
                f"{broken[0].what}: promised {broken[0].promised:g}, found {broken[0].found} in the written rows. Nothing was released."
            )
        scores = measured(original, release, roles, _with_core(recipe.measures), progress)
        attacks = attacked(original, release, Knowledge(roles, records=_some(original)), recipe.attacks, secret, progress)
        said = certificate(original, release, roles, file, found, scores, attacks, roleless)
        write_text(folder / "certificate.json", json.dumps(said, indent=2, allow_nan=False) + "\n")
        write_text(folder / "recipe.toml", recipe.toml(out))
        _write_private(folder, recipe, release, secret)
        write_reports(folder, said, original, release, roles, attacks)
    return said


def measured(original: Table, release: Release, roles: Roles, measures: Sequence[Measure] = (), progress: Progress = quiet) -> list[Score]:
    """The measures named, or all."""
    chosen = measures or everything("measure")
    scores = []
    for done, one in enumerate(chosen):
        scores.append(one.measure(original, release, roles))
        progress("measuring", done + 1, len(chosen))
    return scores


def _with_core(measures: Sequence[Measure]) -> Sequence[Measure]:
    """A recipe's own choice, and what no certificate goes without."""
    have = {one.name for one in measures}
    return [*measures, *(make("measure", name) for name in CORE if name not in have)] if measures else ()


def attacked(
    original: Table, release: Release, knowledge: Knowledge, attacks: Sequence[Attack], secret: int, progress: Progress = quiet
) -> list[AttackResult]:
    """The attacks named, or every one that the intruder's columns allow."""
    results = []
    for one in attacks or everything("attack"):
        if not attacks and one.name == "interval-disclosure" and not _has_intervals(original, release, knowledge):
            continue  # categories have no intervals; an attack that was asked for says so instead
        results.append(one.attack(original, release, knowledge, rng_for(secret, "attack", one.name), progress))
    return results


def _has_intervals(original: Table, release: Release, knowledge: Knowledge) -> bool:
    """Whether some known column is ordered and released as values: categories have no rank intervals, and sets are their own."""
    return any(
        knowledge.roles.scale(original, column) != "nominal" and not is_generalized(original, release.table, column)
        for column in knowledge.known_columns()
        if column in original.columns
    )


def load_run(folder: Path) -> Run:
    """Read a run folder back, with the original it was made from, which must be unchanged."""
    for needed in ("recipe.toml", "certificate.json", "private/run.json", "private/source_rows.npy"):
        if not (folder / needed).is_file():
            raise DataError(f"{folder} is not a run folder: {needed} is missing. Name the folder that `shoal protect -o` wrote.")
    recipe = Recipe.read(folder / "recipe.toml")
    try:
        private = json.loads((folder / "private" / "run.json").read_text())
        source_row = np.load(folder / "private" / "source_rows.npy", allow_pickle=False)
        secret, expected = int(private["seed"], 16), private["input_sha256"]
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile):
        raise DataError(f"{folder}/private is damaged. Run the recipe again.") from None
    if not recipe.input.exists():
        raise DataError(
            f"The original of this run, {recipe.input}, is no longer there. Put it back, or mend input in {folder}/recipe.toml."
        )
    if sha256_of(recipe.input) != expected:
        raise DataError(f"{recipe.input} has changed since this run was made. Put the original back, or run the recipe again.")
    original = read_table(recipe.input, **recipe.reading)
    texts = [column for column in original.columns if original.kind(column) == "text"]
    as_written = {"encoding": "utf-8", "delimiter": original.format.delimiter}
    released = read_table(_release_file(folder), **{**recipe.reading, **as_written}, text=texts)
    if len(released) != len(source_row):
        raise DataError(f"The release in {folder} no longer has the {len(source_row):,} rows of its run. Run the recipe again.")
    if not np.isin(source_row, np.arange(len(original))).all():
        raise DataError(f"{folder}/private is damaged: its source rows are not rows of the original. Run the recipe again.")
    roles = recipe.roles.check(original)
    released = with_cells_said(released, folder / "certificate.json")
    return Run(folder, recipe, original, Release.given(released, source_row, roles), roles, secret)


def with_cells_said(released: Table, path: Path) -> Table:
    """A CSV does not say which of its columns hold cells: its certificate does."""
    said = read_certificate(path)["release"].get("cells", [])
    return replace(released, cells=frozenset(c for c in released.columns if c in said and released.kind(c) == "text"))


def refresh(run: Run, progress: Progress = quiet) -> dict[str, Any]:
    """Measure and attack a run again, and write its certificate and reports anew. What was promised stays what it was."""
    before = read_certificate(run.folder / "certificate.json")
    file = _release_file(run.folder)
    release = replace(run.release, made_by=_steps(before), warnings=())
    if sha256_of(file) != before["release"]["sha256"]:
        raise DataError(f"{file} has changed since its certificate was written. Put the release back, or run the recipe again.")
    found = check_promises(file, before["release"].get("delimiter", ","), release.promises)
    scores = measured(run.original, release, run.roles, _with_core(run.recipe.measures), progress)
    attacks = attacked(run.original, release, Knowledge(run.roles, records=_some(run.original)), run.recipe.attacks, run.secret, progress)
    roleless = [column for column in run.original.columns if column not in run.recipe.roles.named]
    said = certificate(run.original, release, run.roles, file, found, scores, attacks, roleless)
    write_text(run.folder / "certificate.json", json.dumps(said, indent=2, allow_nan=False) + "\n")
    write_reports(run.folder, said, run.original, release, run.roles, attacks)
    return said


def _steps(said: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps a certificate names, with the promises that stood when it was written."""
    steps = [Step(s["method"], s["parameters"], tuple(s["columns"]), tuple(s["guarantees"]), s["summary"]) for s in said["steps"]]
    standing = tuple(Promise(p["what"], p["value"], tuple(p["columns"]), p.get("about")) for p in said["promises"])
    return (*steps[:-1], replace(steps[-1], promises=standing)) if steps else ()


def write_reports(
    folder: Path, said: dict[str, Any], original: Table, release: Release, roles: Roles, attacks: Sequence[AttackResult]
) -> None:
    """The public report beside the release, the internal one in the private folder."""
    pictures = before_after(original, release, roles)
    patterns = generalized_patterns(release, original)
    write_text(folder / "report.html", public_report(said, pictures, patterns))
    leaks = [result.internal for result in attacks if result.internal]
    write_text(folder / "private" / "report.html", internal_report(said, pictures, riskiest(attacks), patterns, leaks), mode=0o600)


def riskiest(attacks: Sequence[AttackResult]) -> list[RecordRisk]:
    """Original rows (counted from 1, without the header) by the likelihood of being linked."""
    linkage = [result for result in attacks if result.per_record is not None and "linkage" in result.name]
    if not linkage:
        return []
    risks = np.nan_to_num(np.vstack([result.per_record for result in linkage if result.per_record is not None]), nan=-1.0)
    best = risks.argmax(axis=0)
    highest = risks.max(axis=0)
    order = np.argsort(-highest, kind="stable")[:RISKIEST]
    return [RecordRisk(int(row) + 1, float(highest[row]), linkage[best[row]].name) for row in order if highest[row] > 0]


def _some(original: Table) -> int | None:
    return MANY_RECORDS if len(original) > MANY_RECORDS else None


def _release_file(folder: Path) -> Path:
    for name in ("release.csv", "release.parquet"):
        if (folder / name).is_file():
            return folder / name
    raise DataError(f"{folder} holds no release.csv or release.parquet.")


def _write_private(folder: Path, recipe: Recipe, release: Release, secret: int) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    about = {"seed": hex(secret), "input_sha256": sha256_of(recipe.input)}
    write_text(private / "run.json", json.dumps(about, indent=2) + "\n", mode=0o600)
    with open(private / "source_rows.npy", "wb", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        np.save(file, release.source_row.astype(np.int64), allow_pickle=False)
