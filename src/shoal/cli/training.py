"""Releases to learn from: how good they are, and point tables drawn from them."""

from __future__ import annotations

import json as json_
from dataclasses import replace
from pathlib import Path

from shoal.cli import show
from shoal.cli.verbs import names
from shoal.errors import DataError, OutputError, ParameterError
from shoal.files import read_table
from shoal.folders import CERTIFICATE, sha256_of, whole_file, write_text
from shoal.runs.run import load_run, table_certificate, with_cells_of


def learn(folder: Path | None, target: str, learner: list[str] | None, json: bool) -> None:
    """Accuracy, or R2 of a number, on untouched originals, trained on originals and on releases made the same way."""
    from shoal.certificate import plain
    from shoal.runs.learning import as_rows
    from shoal.runs.learning import learn as learn_from

    if folder is None:
        raise ParameterError("--target needs a run folder: models are trained on halves protected by the run's own recipe.")
    run = load_run(folder)
    if target in run.roles.left_out:
        raise DataError(
            f"The release does not have '{target}', which has no role, so nobody can learn it from there. Protect again with --target {target}.",
            about=target,
        )
    checked = replace(run.roles, target=target).check(run.original)
    with show.progress() as progress:
        results = learn_from(run.original, checked, run.recipe.steps, run.secret, names(learner), progress=progress)
    if json:
        show.data(plain(as_rows(results)))
        return
    share = results[0].measured == "accuracy"
    show.table(
        f"{'Accuracy' if share else 'R2'} for '{target}' in untouched originals (5 x 2 cross-validation)",
        ["learner", "trained on originals", "trained on releases", "loss, points" if share else "loss of R2", "F-test p"],
        [
            (r.learner, f"{r.original:.2%}", f"{r.released:.2%}", f"{r.loss:.2f} ± {100 * r.deviation:.2f}", f"{r.p_value:.3f}")
            if share
            else (r.learner, f"{r.original:.3f}", f"{r.released:.3f}", f"{r.loss / 100:.3f} ± {r.deviation:.3f}", f"{r.p_value:.3f}")
            for r in results
        ],
    )
    show.say("Each half is protected by the run's recipe and trained on; the other half is tested on as it was.")


def sample(release: Path, out: Path, seed: int | None, json: bool) -> None:
    """A point table, and a file beside it that says it is a draw."""
    from shoal.randomness import new_secret, rng_for
    from shoal.runs.sample import sample as draw
    from shoal.writing import write_table

    about = out.with_name(out.name + ".about.json")
    for path in (out, about):
        if path.exists():
            raise OutputError(f"{path} exists. Choose another name, or remove it first.")
    table = read_table(release)
    beside = release.with_name(CERTIFICATE)
    if beside.is_file() and (certificate := table_certificate(beside)).release.sha256 == sha256_of(release):
        table = with_cells_of(table, certificate)
    drawn = draw(table, rng_for(new_secret() if seed is None else seed, "sample"))
    if drawn.arrow.equals(table.arrow):
        raise DataError(f"{release} holds no set, interval or suppressed cell, so there is nothing to draw: it has points already.")
    label = {
        "what": "One value drawn for each set or interval of a release. A draw, not data: no row says what a person had.",
        "drawn_from_sha256": sha256_of(release),
        "rows": len(drawn),
        "seed": seed,
    }
    write_text(about, json_.dumps(label, indent=2) + "\n")  # first, so that no draw stands without it
    with whole_file(out) as part:
        write_table(drawn, part)
    if json:
        show.data({"file": str(out), **label})
    show.say(f"{out} holds one draw of {len(drawn):,} rows; {about.name} says so.")
