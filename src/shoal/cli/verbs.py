"""From words to the library and back: what each verb reads, calls and shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from shoal.certificate import AttackPart, TableCertificate, plain
from shoal.cli import show
from shoal.cli.opening import in_parts
from shoal.engines.choice import ENGINES, Choice
from shoal.errors import OutputError, ParameterError, ShoalError, did_you_mean
from shoal.folders import PRIVATE, RELEASE, SIGNATURE, refuse_existing, write_text
from shoal.registry import TableKind, known, make
from shoal.roles import Roles
from shoal.runs.evidence import MANY_RECORDS, TableSubject, attack_all, measure_all
from shoal.runs.parts import protect_in_parts
from shoal.runs.recipe import Recipe, roles_from
from shoal.runs.run import Run, load_run, protect_to_folder
from shoal.score import AttackResult, Knowledge, Score
from shoal.table import Table


def names(given: list[str] | None) -> tuple[str, ...]:
    """--quasi a,b --quasi c -> (a, b, c)."""
    return tuple(word.strip() for words in given or () for word in words.split(",") if word.strip())


def roles(
    file: Path | None,
    target: str | None = None,
    hierarchy: list[str] | None = None,
    rest: str | None = None,
    link: list[str] | None = None,
    **given: list[str] | None,
) -> Roles:
    """From a roles file, and more on top of it: columns by role, kinds, codes for missing, what is kept of numbers, and what of the rest."""
    kinds = parameters(given.pop("kind", None), "A kind is written column=kind, such as --kind born=date:%d.%m.%Y")
    codes = parameters(given.pop("missing_code", None), "Codes for missing are written column=code,code, such as --missing-code age=-1,-9")
    trees = parameters(hierarchy, "A hierarchy is written column=file, such as --hierarchy job=job.csv")
    tables: dict[str, Mapping[str, Any]] = {
        "hierarchies": trees,
        "kinds": kinds,
        "missing": {column: names([listed]) for column, listed in codes.items()},
        "link": links(link),
    }
    return roles_from(file, target, tables, rest, **{role: names(columns) for role, columns in given.items()})


def links(given: list[str] | None) -> dict[str, int]:
    """--link person --link household=5: by role how many must look alike; 0 for as many as k."""
    found = {}
    for word in names(given):
        role, equals, many = (part.strip() for part in word.partition("="))
        if equals and not many.isdecimal():
            raise ParameterError(f"--link is written person, or household=5 with how many must look alike; got '{word}'.", about="link")
        found[role] = int(many or 0)
    return found


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


def protect(recipe: Recipe, out: Path, choice: Choice, seed: int | None, sign: Path | None, json: bool) -> None:
    """Make a run folder and say what is in it."""
    refuse_existing(out)
    name = choice.for_files(recipe.inputs)
    if name != choice.engine and name != "memory":
        show.say(f"The table is larger than the memory for it: {ENGINES[name]} protects it. --engine and --memory say otherwise.")
    with show.progress() as progress:
        if name == "memory":
            certificate = protect_to_folder(recipe, out, seed, progress, sign)
        else:
            with choice.opened(name) as opened:
                certificate = protect_in_parts(recipe, opened, out, seed, progress, sign)
    if json:
        show.data({"folder": str(out), "certificate": certificate.model_dump(mode="json")})
        return
    summary_of(certificate, recipe.roles.identifier)
    show.say(f"{out}/ holds the release, its certificate, report.html and recipe.toml. {out}/private/ stays with you.")
    signed(sign)


def signed(key: Path | None) -> None:
    """Says with which key a certificate was signed."""
    if key is not None:
        from shoal.signing import SigningKey

        show.say(f"{SIGNATURE} is by the key {SigningKey.read(key).fingerprint}.")


def summary_of(certificate: TableCertificate, identifiers: Sequence[str] = ()) -> None:
    """What the numbers may not mean, the numbers, then the other warnings. The identifiers that were given are named to their owner alone."""
    unit = certificate.unit
    if unit.warning:
        which = f" ({'' if len(identifiers) == 1 else 'one of '}--person {', '.join(identifiers)})" if identifiers else ""
        show.say(f"Warning: {unit.warning}{which}")
    of_persons = f" rows of {unit.persons:,} persons" if unit.persons is not None else " rows"
    rows = [("records released", f"{certificate.release.rows:,}{of_persons}")]
    rows += [
        (
            f"{p.what}{f' of {p.about}' if p.about else ''} promised over {', '.join(p.columns)}",
            f"{show.number(p.value)}, found {show.number(p.found)} {p.unit}",
        )
        for p in certificate.promises
    ]
    rows += [(f"{step.method} found", step.finding) for step in certificate.steps if step.finding]
    classes = certificate.measure("k-anonymity")
    if classes and classes.value is not None:
        counted = classes.details.get("unit", "rows")
        unit_of = counted[:-1] if classes.value == 1 else counted
        rows.append(("smallest class over all quasi-identifiers", f"{show.number(classes.value)} {unit_of}"))
        rows.append((f"unique {'records' if counted == 'rows' else counted}", show.number(classes.details["uniques"])))
    if unit.households and unit.households_told is not None:
        rows.append(("households that no other looks like", f"{unit.households_told:.1%} of {unit.households:,}"))
    if certificate.summary.loss is not None:
        rows.append(("loss (mean change of a cell)", show.number(certificate.summary.loss)))
    for measure in certificate.measures:
        if measure.name == "ncp" and measure.value is not None and certificate.release.cells:  # what methods that release cells weigh
            rows.append(("loss as ncp (mean share of its column that a cell leaves open)", show.number(measure.value)))
    rows += worst_risks(certificate)
    rows += [(f"{a.name} hits", rate(a, a.unit)) for a in certificate.attacks]
    show.table("Release", ["what", "found"], rows)
    for warning in certificate.warnings:
        if warning != unit.warning:
            show.say(f"Warning: {warning}")


def worst_risks(certificate: TableCertificate) -> list[tuple[str, str]]:
    """The headline: the highest risk of all attacks and their forms, and the highest for the records farthest out."""
    found = certificate.summary
    attack = next((a for a in certificate.attacks if a.name == found.risk_attack), None)
    far = next((a for a in certificate.attacks if a.name == found.outlier_attack), None)
    rows = []
    if attack and found.risk is not None and found.risk_low is not None and found.risk_high is not None:
        by = ": ".join(part for part in (found.risk_attack, found.risk_how) if part)
        between = f"95 % interval {found.risk_low:.1%} to {found.risk_high:.1%}"
        rows.append(("highest linkage risk", f"{found.risk:.1%} of {attack.tried:,} {attack.unit}, {by} ({between})"))
    if far and found.outlier_risk is not None and found.outlier_low is not None and found.outlier_high is not None:
        between = f"95 % interval {found.outlier_low:.1%} to {found.outlier_high:.1%}"
        of = f"{found.outliers:,} {far.unit}"
        rows.append(("of the 5 % farthest out", f"{found.outlier_risk:.1%} of {of}, {found.outlier_attack} ({between})"))
    return rows


def rate(attack: AttackPart | AttackResult, of: str = "") -> str:
    """28.6 % of 1,080 rows (95 % interval 26.0 to 31.4 %; blind guessing 0.09 %)."""
    low, high = attack.interval
    tried = f"{attack.tried:,} {of}".rstrip()
    return f"{attack.rate:.1%} of {tried} (95 % interval {low:.1%} to {high:.1%}; blind guessing {attack.chance:.2%})"


def _chosen(kind: TableKind, given: list[str] | None, parameter: list[str] | None) -> tuple[Any, ...]:
    wanted = names(given)
    words = parameters(parameter)
    if words and len(wanted) != 1:
        raise ParameterError(f"-p needs one {kind} to belong to: name it with --{kind}.")
    return tuple(make(kind, name, words) for name in wanted)


def measure(run: Run, name: list[str] | None, parameter: list[str] | None, json: bool) -> None:
    """Scores as a table or JSON."""
    chosen = _chosen("measure", name, parameter)
    with show.progress() as progress:
        scores = measure_all(TableSubject(run.original, run.release, run.roles), chosen, run.secret, progress)
    if json:
        show.data([plain(score.public()) for score in scores])
    else:
        show.table("Measures", ["measure", "value", "better", "what it is"], [_score_row(score) for score in scores])


def _score_row(score: Score) -> tuple[str, str, str, str]:
    per_column = (
        ", ".join(f"{column} {show.number(value)}" for column, value in score.per_column.items()) if len(score.per_column) <= 4 else ""
    )
    unit = f" ({score.details['unit']})" if "unit" in score.details and score.value is not None else ""
    return (
        score.name,
        show.number(score.value) + unit,
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

    chosen = _chosen("attack", name, parameter)
    known_columns = names(columns) or None
    if records is None and len(run.original) > MANY_RECORDS:
        show.say(f"The intruder is given {MANY_RECORDS:,} records drawn at random; --records says otherwise.")
    knowledge = Knowledge(run.roles, known_columns, records)
    with show.progress() as progress:
        subject = TableSubject(run.original, run.release, run.roles, knowledge)
        found = attack_all(subject, chosen, new_secret() if seed is None else seed, progress)
    if json:
        show.data([plain(result.public() | ({"internal": dict(result.internal)} if result.internal else {})) for result in found.results])
    else:
        show.table("Attacks", ["attack", "hits", "strict", "note"], [_attack_row(result) for result in found.results])
        for result in found.results:
            if result.internal:
                _telling_columns(result.internal)
    for name_, why in found.not_tried.items():
        show.say(f"{name_} was not tried: {why}")


def _telling_columns(found: Mapping[str, Any]) -> None:
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
    return result.name, rate(result, result.unit), f"{result.strict_hit / result.tried:.1%}", result.note


def report(folder: Path, sign: Path | None, choice: Choice, json: bool) -> None:
    """Measure and attack again, write certificate and reports anew."""
    from shoal.runs.parts import refresh_parts
    from shoal.runs.run import refresh

    was_signed = (folder / SIGNATURE).exists()
    if (folder / RELEASE).is_dir():
        with in_parts(folder, choice) as loaded, show.progress() as progress:
            certificate = refresh_parts(loaded, progress, sign)
    else:
        run = load_run(folder)
        with show.progress() as progress:
            certificate = refresh(run, progress, sign)
    if json:
        show.data({"folder": str(folder), "certificate": certificate.model_dump(mode="json")})
    else:
        print(folder / "report.html")
        show.say(f"{folder}/private/report.html lists the riskiest records and stays with you.")
        signed(sign)
    if was_signed and sign is None:
        show.say("The signature was of the certificate before this one and is gone. Sign again with --sign.")


def key(out: Path, json: bool) -> None:
    """A new key, and the fingerprint by which people compare it."""
    from shoal.signing import new_key, public_beside

    fingerprint, public = new_key(out).fingerprint, public_beside(out)
    if json:
        show.data({"private": str(out), "public": str(public), "fingerprint": fingerprint})
        return
    print(fingerprint)
    show.say(f"{out} signs: it stays with you. {public} is for everybody who verifies; tell them its fingerprint by another way.")


def verify(release: Path, certificate: Path, signer: Path | None, choice: Choice, json: bool) -> bool:
    """Each thing checked; whether all hold."""
    from shoal.checks.verify import SIGNED
    from shoal.checks.verify import verify as check

    with choice.counting() as groups:
        found = check(release, certificate, signer, groups)
    if json:
        checks, believed = [asdict(one) for one in found.checks], list(found.believed)
        show.data({"holds": found.holds, "signed_by": found.signed_by, "checks": checks, "believed": believed})
        return found.holds
    show.table(
        f"{release.name} against {certificate.name}",
        ["check", "certificate says", "file has", "holds"],
        [(one.what, _brief(one.promised), _brief(one.found), "yes" if one.holds else "NO") for one in found.checks],
    )
    show.say(f"Believed, {_by_whom(found.signed_by, signer, certificate)}:")
    for sentence in found.believed:
        show.say(f"  {sentence}")
    if release.is_dir() and (release / PRIVATE).is_dir():
        show.say(f"{release / PRIVATE}/ stays with you: hand over the other files.")
    broken = [one.what for one in found.checks if not one.holds]
    if not broken:
        show.say("The release is what the certificate says.")
    elif broken == [SIGNED]:
        show.say("The release is what the certificate says, but the certificate is NOT signed by this key.")
    else:
        show.say(f"The release is NOT what the certificate says: {'; '.join(broken[:5])}{'; ...' if len(broken) > 5 else '.'}")
    return found.holds


def _by_whom(signed_by: str | None, signer: Path | None, certificate: Path) -> str:
    if signed_by:
        return f"signed by {signed_by}"
    if signer is None and certificate.with_name(SIGNATURE).exists():
        return f"unsigned for all that was asked ({SIGNATURE} is there and was not looked at: --signer names the key it must be of)"
    return "unsigned" if signer else "unsigned (--signer names a key that must have signed)"


def _brief(value: Any) -> str:
    text = ", ".join(map(show.number, value)) if isinstance(value, list) else show.number(value)
    return text if len(text) <= 40 else text[:16] + "..."


def list_names(kind: str, json: bool) -> None:
    """Names, what they are, and their parameters."""
    kinds: dict[str, TableKind] = {"methods": "method", "measures": "measure", "attacks": "attack"}
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
