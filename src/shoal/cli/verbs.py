"""From words to the library and back: what each verb reads, calls and shows."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import IntArray
from shoal.cli import show
from shoal.errors import DataError, OutputError, ParameterError, ShoalError, did_you_mean
from shoal.files import read_table
from shoal.folders import write_text
from shoal.registry import Kind, known, make
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.recipe import Recipe, read_toml
from shoal.runs.run import Run, attacked, load_run, measured, protect_to_folder
from shoal.score import AttackResult, Knowledge, Score
from shoal.table import Table


def names(given: list[str] | None) -> tuple[str, ...]:
    """--quasi a,b --quasi c -> (a, b, c)."""
    return tuple(word.strip() for words in given or () for word in words.split(",") if word.strip())


def roles(file: Path | None, target: str | None = None, hierarchy: list[str] | None = None, /, **given: list[str] | None) -> Roles:
    """From a roles file, and more on top of it."""
    base = read_toml(file) if file else {}
    base = Roles.parse(base.get("roles", base), file.parent if file else Path()).plain()
    for role, columns in given.items():
        if columns:
            base = {**base, role: [*base.get(role, []), *names(columns)]}
    trees = {**base.get("hierarchies", {}), **parameters(hierarchy, "A hierarchy is written column=file, such as --hierarchy job=job.csv")}
    return Roles.parse({**base, "hierarchies": trees} | ({"target": target} if target else {}))


def parameters(given: list[str] | None, how: str = "A parameter is written name=value, such as -p k=5") -> dict[str, str]:
    """-p k=5 -p refine=swap."""
    found = {}
    for word in given or ():
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise ParameterError(f"{how}; got '{word}'.")
        found[name.strip()] = value.strip()
    return found


def look(table: Table, path: Path, out: Path | None, json: bool) -> None:
    """Columns, and the roles they probably have."""
    from shoal.suggest import look as look_at
    from shoal.suggest import suggest_roles

    seen = look_at(table)
    if out:
        import tomli_w

        if out.exists():
            raise OutputError(f"{out} exists. Choose another name, or remove it first.")
        write_text(out, "# Suggested by shoal look; a person decides.\n" + tomli_w.dumps(suggest_roles(table).plain()))
    if json:
        show.data({"rows": len(table), "format": asdict(table.format), "columns": [asdict(one) for one in seen]})
    else:
        about = table.format
        kind = "Parquet" if about.kind == "parquet" else f"CSV, delimiter {about.delimiter!r}, decimal {about.decimal!r}, {about.encoding}"
        show.table(
            f"{path.name}: {len(table):,} rows, {len(table.columns)} columns ({kind})",
            ["column", "kind", "distinct", "missing", "in one row only", "suggested role", "because"],
            [
                (
                    s.column,
                    s.kind,
                    f"{s.distinct:,}",
                    f"{s.missing:,}",
                    f"{s.unique_rows:,}",
                    "quasi-identifier" if s.role == "quasi" else s.role,
                    s.because,
                )
                for s in seen
            ],
        )
    if out:
        show.say(f"Roles are in {out}. Read them before you use them.")


def protect(recipe: Recipe, out: Path, seed: int | None, json: bool) -> None:
    """Make a run folder and say what is in it."""
    with show.progress() as progress:
        said = protect_to_folder(recipe, out, seed, progress)
    if json:
        show.data({"folder": str(out), "certificate": said})
        return
    summary_of(said)
    show.say(f"{out}/ holds the release, its certificate, report.html and recipe.toml. {out}/private/ stays with you.")


def summary_of(said: dict[str, Any]) -> None:
    """The numbers first, then the warnings."""
    rows = [("records released", f"{said['release']['rows']:,}")]
    rows += [
        (f"{p['what']} promised over {', '.join(p['columns'])}", f"{show.number(p['value'])}, found {show.number(p['found'])}")
        for p in said["promises"]
    ]
    classes = next((m for m in said["measures"] if m["name"] == "k-anonymity"), None)
    if classes and classes["value"] is not None:
        rows.append(("smallest class over all quasi-identifiers", show.number(classes["value"])))
        rows.append(("unique records", show.number(classes["details"]["uniques"])))
    if said["summary"]["loss"] is not None:
        rows.append(("loss (mean change of a cell)", show.number(said["summary"]["loss"])))
    rows += [(f"{a['name']} hits", rate(a)) for a in said["attacks"]]
    show.table("Release", ["what", "found"], rows)
    for warning in said["warnings"]:
        show.say(f"Warning: {warning}")


def rate(attack: dict[str, Any]) -> str:
    """28.6 % of 1,080 (95 % interval 26.0 to 31.4 %; blind guessing 0.09 %)."""
    low, high = attack["interval"]
    return f"{attack['rate']:.1%} of {attack['tried']:,} (95 % interval {low:.1%} to {high:.1%}; blind guessing {attack['chance']:.2%})"


def pair(folder: Path | None, original: Path | None, release: Path | None, key: str | None, given: Roles) -> Run:
    """A run folder, or two files whose rows are aligned or share a key."""
    if folder is not None:
        if original or release:
            raise ParameterError("Give a run folder, or --original and --release, not both.")
        return load_run(folder)
    if original is None or release is None:
        raise ParameterError("Name a run folder, or give both --original and --release.")
    before = read_table(original)
    after = read_table(release, text=[column for column in before.columns if before.kind(column) == "text"])
    source = _by_key(before, after, key) if key else _aligned(before, after, given)
    if key:
        given = replace(given, identifier=(*given.identifier, key) if key not in given.named else given.identifier)
    checked = given.check(before)
    gone = [column for column in checked.quasi if column not in after.columns]
    if gone:
        raise DataError(f"The release has no column '{gone[0]}'.{did_you_mean(gone[0], after.columns)}")
    return Run(Path(), Recipe(original, checked, ()), before, Release.given(after, source, checked), checked, 0)


def _aligned(before: Table, after: Table, given: Roles) -> IntArray:
    """Row i of one belongs to row i of the other; an unprotected column that agrees as a whole but not row by row tells otherwise."""
    if len(before) != len(after):
        raise DataError(
            f"The original has {len(before):,} rows and the release {len(after):,}, so they are not aligned. Name a shared column with --key."
        )
    for column in before.columns:
        if column in after.columns and column not in given.quasi:
            left, right = (table.column(column).cast(pa.string()) for table in (before, after))
            if not left.equals(right) and _same_values(left, right):
                raise DataError(
                    f"The rows of the release are not in the original's order: '{column}' has the same values on both sides, but not row by row. "
                    "Name a shared column with --key, or a run folder."
                )
    return np.arange(len(before))


def _same_values(left: pa.Array, right: pa.Array) -> bool:
    return bool(left.take(pc.sort_indices(left)).equals(right.take(pc.sort_indices(right))))


def _by_key(before: Table, after: Table, key: str) -> IntArray:
    for table, which in ((before, "original"), (after, "release")):
        values = table.column(key).to_pylist()
        if None in values or len(set(values)) < len(values):
            raise DataError(f"The key '{key}' is missing or repeated in some rows of the {which}. A key names each row once.")
    place = {value: row for row, value in enumerate(before.column(key).to_pylist())}
    rows = [place.get(value, -1) for value in after.column(key).to_pylist()]
    if -1 in rows:
        raise DataError(
            f"{rows.count(-1):,} rows of the release have a '{key}' that the original has not (first at row {rows.index(-1) + 1})."
        )
    return np.array(rows)


def _chosen(kind: Kind, given: list[str] | None, parameter: list[str] | None) -> tuple[Any, ...]:
    wanted = names(given)
    words = parameters(parameter)
    if words and len(wanted) != 1:
        raise ParameterError(f"-p needs one {kind} to belong to: name it with --{kind}.")
    return tuple(make(kind, name, words) for name in wanted)


def measure(run: Run, name: list[str] | None, parameter: list[str] | None, json: bool) -> None:
    """Scores as a table or JSON."""
    chosen = _chosen("measure", name, parameter)
    with show.progress() as progress:
        scores = measured(run.original, run.release, run.roles, chosen, progress)
    if json:
        from shoal.runs.certify import plain

        show.data([plain(score.public()) for score in scores])
    else:
        show.table("Measures", ["measure", "value", "better", "what it is"], [_score_row(score) for score in scores])


def _score_row(score: Score) -> tuple[str, str, str, str]:
    per_column = (
        ", ".join(f"{column} {show.number(value)}" for column, value in score.per_column.items()) if len(score.per_column) <= 4 else ""
    )
    return (
        score.name,
        show.number(score.value),
        score.better,
        ". ".join(part.rstrip(".") for part in (score.title, score.note, per_column) if part),
    )


def attack(
    run: Run,
    name: list[str] | None,
    parameter: list[str] | None,
    columns: list[str] | None,
    records: float | None,
    seed: int | None,
    json: bool,
) -> None:
    """Attack results as a table or JSON."""
    from shoal.randomness import new_secret
    from shoal.runs.run import MANY_RECORDS

    chosen = _chosen("attack", name, parameter)
    known_columns = names(columns) or None
    if records is None and len(run.original) > MANY_RECORDS:
        records = MANY_RECORDS
        show.say(f"The intruder is given {MANY_RECORDS:,} records drawn at random; --records says otherwise.")
    knowledge = Knowledge(run.roles, known_columns, records)
    with show.progress() as progress:
        results = attacked(run.original, run.release, knowledge, chosen, new_secret() if seed is None else seed, progress)
    if json:
        from shoal.runs.certify import plain

        show.data([plain(result.public() | ({"internal": dict(result.internal)} if result.internal else {})) for result in results])
    else:
        show.table("Attacks", ["attack", "hits", "strict", "note"], [_attack_row(result) for result in results])
        for result in results:
            if result.internal:
                _leaks(result.internal)


def _leaks(found: Mapping[str, Any]) -> None:
    """What a learned linkage says about columns: for the owner's eyes, since its weights are what an intruder would need."""
    weights, alone, without = (found.get(part, {}) for part in ("weights", "rate_alone", "rate_without"))
    rows: list[tuple[str, ...]] = [
        (name, show.number(weights.get(name)), f"{alone[name]:.1%}", f"{without[name]:.1%}" if name in without else "n/a") for name in alone
    ]
    show.table("Columns (keep to yourself)", ["column", "learned weight", "found by it alone", "found without it"], rows)
    strongest = sorted(found.get("interactions", ()), key=lambda one: -abs(one["value"]))[:6]
    if strongest:
        rows = [(" and ".join(one["columns"]), show.number(one["value"])) for one in strongest]
        show.table("Columns together", ["columns", "learned interaction"], rows)
    sets = [(", ".join(one["columns"]) or "none", show.number(one["value"])) for one in found.get("measure", ())]
    if sets and len(sets) <= 32:
        show.table("Weights of sets of columns", ["columns", "weight"], sets)
    for sentence in found.get("words", ()):
        print(sentence)


def _attack_row(result: AttackResult) -> tuple[str, str, str, str]:
    return result.name, rate(result.public()), f"{result.strict_hit / result.tried:.1%}", result.note


def report(folder: Path, json: bool) -> None:
    """Measure and attack again, write certificate and reports anew."""
    from shoal.runs.run import refresh

    run = load_run(folder)
    with show.progress() as progress:
        said = refresh(run, progress)
    if json:
        show.data({"folder": str(folder), "certificate": said})
    else:
        print(folder / "report.html")
        show.say(f"{folder}/private/report.html lists the riskiest records and stays with you.")


def verify(release: Path, certificate: Path, json: bool) -> bool:
    """Each thing checked; whether all hold."""
    from shoal.checks.tables import verify as check

    try:
        found = check(release, certificate)
    except (UnicodeDecodeError, csv.Error, IndexError, pa.ArrowException):
        raise DataError(f"{release} is not a table that shoal wrote: it cannot be cut into rows and columns.") from None
    except (KeyError, TypeError, AttributeError, ValueError):
        raise DataError(f"{certificate} is not a certificate written by shoal.") from None
    holds = all(one.holds for one in found)
    if json:
        show.data({"holds": holds, "checks": [asdict(one) for one in found]})
    else:
        show.table(
            f"{release.name} against {certificate.name}",
            ["check", "certificate says", "file has", "holds"],
            [(one.what, _brief(one.promised), _brief(one.found), "yes" if one.holds else "NO") for one in found],
        )
        show.say("The release is what the certificate says." if holds else "The release is NOT what the certificate says.")
    return holds


def _brief(value: Any) -> str:
    text = ", ".join(value) if isinstance(value, list) else show.number(value)
    return text if len(text) <= 40 else text[:16] + "..."


def list_names(kind: str, json: bool) -> None:
    """Names, what they are, and their parameters."""
    kinds: dict[str, Kind] = {"methods": "method", "measures": "measure", "attacks": "attack"}
    one = kinds.get(kind) or kinds.get(kind + "s")
    if one is None:
        raise ShoalError(f"List what? methods, measures or attacks, not '{kind}'.{did_you_mean(kind, kinds)}")
    classes = known(one)
    if json:
        about = [
            {
                "name": name,
                "summary": cls.summary(),
                "guarantees": list(getattr(cls, "guarantees", ())),
                "parameters": [dict(zip(("name", "kind", "default", "description"), row)) for row in cls.reference()],
            }
            for name, cls in classes.items()
        ]
        show.data(about)
        return
    rows = []
    for name, cls in classes.items():
        words = ", ".join(f"{p}={default}" if default else p for p, _, default, _ in cls.reference())
        promise = ", ".join(getattr(cls, "guarantees", ())) or "nothing"
        rows.append((name, cls.summary(), *([promise] if one == "method" else []), words))
    show.table(kind, ["name", "what it does", *(["promises"] if one == "method" else []), "parameters"], rows)
