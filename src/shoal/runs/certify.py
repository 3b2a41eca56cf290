"""The certificate of a table: evidence put together, summed up, and what a careful colleague would say before the release leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from shoal.attacks import DistanceLinkage, IntervalDisclosure, ProbabilisticLinkage
from shoal.certificate import (
    AttackPart,
    FilePart,
    LeavesPart,
    MeasurePart,
    NotTried,
    PromisePart,
    RolesPart,
    StepPart,
    Summary,
    TableCertificate,
    TableFile,
)
from shoal.errors import counted, number
from shoal.folders import sha256_of, sha256_of_list
from shoal.formulas import about_formulas
from shoal.measures import IL, CellLoss, DistinctLDiversity, KAnonymity, UniqueHouseholds
from shoal.promises import K_ANONYMITY, Checked
from shoal.published import Rounding, three_digits
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.evidence import Attacked
from shoal.runs.leaves import MOST, looked_over
from shoal.runs.unit import unit_of
from shoal.score import AttackResult, Score, disclosure_risk, overall_score
from shoal.table import Table

LINKAGE_LIMIT = 0.2  # beyond this share of records linked, the certificate warns
DISCLOSURE_RISK = (DistanceLinkage, ProbabilisticLinkage, IntervalDisclosure)  # what the literature's DR is made of


class ReleasedFiles(NamedTuple):
    """What was written: one file, or a folder of several; and each file with its bytes, as a certificate lists it."""

    name: str
    sha256: str
    listed: tuple[FilePart, ...]
    parts: int = 0

    @staticmethod
    def of(path: Path) -> ReleasedFiles:
        """A file, or a folder of files."""
        if not path.is_dir():
            return ReleasedFiles(path.name, digest := sha256_of(path), (FilePart(file=path.name, sha256=digest),))
        names = sorted(part.name for part in path.iterdir())
        listed = tuple(FilePart(file=f"{path.name}/{name}", sha256=sha256_of(path / name)) for name in names)
        return ReleasedFiles(path.name, sha256_of_list([(one.sha256, name) for one, name in zip(listed, names)]), listed, len(names))


def certify(
    original: Table,
    release: Release,
    roles: Roles,
    files: ReleasedFiles,
    checked: Sequence[Checked],
    scores: Sequence[Score],
    attacked: Attacked,
) -> TableCertificate:
    """Everything that may be published about a release."""
    release = looked_over(original, release, roles)
    table = release.table
    unit = unit_of(original, release, roles).model_copy(update=households(original, release, roles))
    return TableCertificate.now(
        release=TableFile(
            file=files.name,
            sha256=files.sha256,
            parts=files.parts,
            rows=release.total,
            columns=table.columns,
            delimiter=table.format.delimiter,
            decimal=table.format.decimal,
            missing=table.format.missing,
            dates=table.written_dates,
            formulas=table.format.formulas,
            cells=tuple(column for column in table.columns if column in table.cells),
            labels={column: _labels(release.values(column), roles, column) for column in table.labelled},
        ),
        roles=RolesPart(
            **{role: getattr(roles, role) for role in ("quasi", "confidential", "weight", "household", "other")},
            identifiers_removed=len(roles.identifier) + len(roles.person),
            left_out=len(roles.left_out),
            target=roles.target,
            hierarchies=tuple(sorted(roles.hierarchies)),
        ),
        unit=unit,
        steps=tuple(map(StepPart.of, release.made_by)),
        promises=tuple(PromisePart.of(promise, one) for promise, one in zip(release.promises, checked, strict=True)),
        measures=tuple(map(MeasurePart.of, scores)),
        attacks=tuple(map(AttackPart.of, attacked.results)),
        not_tried=tuple(NotTried(name=name, why=why) for name, why in attacked.not_tried.items()),
        summary=summary(scores, attacked),
        leaves=tuple(map(LeavesPart.of, (release.leaves or ())[:MOST])),
        warnings=tuple(dict.fromkeys(one for one in (unit.warning, *warnings(release, roles, scores, attacked)) if one)),
    )


def _labels(table: Table, roles: Roles, column: str) -> dict[str, str | None]:
    """The names in a column of cells, and what each stands for: but for those whose values are only known from the original."""
    names, tree = table.labels[column], roles.hierarchies.get(column)
    there = [cell for cell in table.levels(column).to_pylist() if cell in names and names[cell] != cell]
    return {names[cell]: cell if tree is not None and tree.tells(names[cell]) else None for cell in sorted(there)}


def summary(scores: Sequence[Score], attacked: Attacked) -> Summary:
    """One loss, the worst risk, and the thesis's DR and Score, of the attacks' textbook forms, where they can be had (all as shares of 1)."""
    value = {score.name: score.value for score in scores}
    rate = {result.name: result.textbook.rate for result in attacked.results}
    linkage, outlying = worst(attacked)
    far = outlying.outliers if outlying else None
    parts = [rate.get(attack.name) for attack in DISCLOSURE_RISK]
    risk = disclosure_risk(*(part for part in parts if part is not None)) if None not in parts else None
    loss, published = value.get(CellLoss.name), value.get(IL.name)
    return Summary(
        loss=loss,
        loss_measure=CellLoss.name if loss is not None else None,
        risk=linkage.rate if linkage else None,
        risk_low=linkage.interval[0] if linkage else None,
        risk_high=linkage.interval[1] if linkage else None,
        risk_attack=linkage.name if linkage else None,
        risk_how=linkage.how if linkage else "",
        outliers=far.tried if far else 0,
        outlier_risk=far.rate if far else None,
        outlier_low=far.interval[0] if far else None,
        outlier_high=far.interval[1] if far else None,
        outlier_attack=outlying.name if outlying else None,
        disclosure_risk=risk,
        information_loss=published / 100 if published is not None else None,
        score=overall_score(published / 100, risk) if published is not None and risk is not None else None,
    )


def households(original: Table, release: Release, roles: Roles) -> dict[str, Any]:
    """How many are released, and the share that no other looks like."""
    measure = UniqueHouseholds()
    if release.rows is not None:
        return {}
    if measure.applies(original, release, roles):
        return {"households": 0} if set(roles.household) & set(release.table.columns) else {}
    score = measure.measure(original, release, roles)
    return {"households": score.details["households"], "households_told": score.value}


def worst(attacked: Attacked) -> tuple[AttackResult | None, AttackResult | None]:
    """The linkage that finds most of all records, and the one that finds most of the outliers; each the maximum over its forms."""
    linkage = [result for result in attacked.results if result.risk == "linkage"]
    far = [(result.outliers.rate, result) for result in linkage if result.outliers]
    return max(linkage, key=lambda one: one.rate, default=None), max(far, key=lambda one: one[0], default=(0.0, None))[1]


def warnings(release: Release, roles: Roles, scores: Sequence[Score], attacked: Attacked) -> Iterator[str]:
    """What a careful colleague would say, in plain words."""
    by_name = {score.name: score for score in scores}
    yield from release.warnings
    yield from _about_steps(release, roles, by_name.get(KAnonymity.name))
    yield from _about_columns(release, roles)
    yield from _about_formulas(release)
    diversity = by_name.get(DistinctLDiversity.name)
    for column, distinct in (diversity.per_column if diversity else {}).items():
        if distinct == 1:
            yield f"Some class has only one value of '{column}': whoever is known to be in it is known to have that value."
        elif distinct < 1 and not release.values(column).missing(column).all():
            yield f"Some class has no answer in '{column}', only missing ones; others may have only one."
    for attack in DISCLOSURE_RISK:
        if attack.name in attacked.not_tried:
            yield f"{attack.name} was not tried: {attacked.not_tried[attack.name]} Disclosure risk and score are not stated without it."
    rounding = Rounding.of_release(release)
    for result in attacked.results:
        if result.risk == "linkage" and result.rate > LINKAGE_LIMIT and result.rate > 2 * result.chance:
            of = "records" if result.unit == "rows" else result.unit
            rate, (low, high) = rounding.risk(result.rate), rounding.interval(result.rate, result.interval, result.tried)
            yield (
                f"{result.name} finds {rate:.1%} of the {of} (95 % interval {low:.1%} to {high:.1%}; blind guessing {result.chance:.2%})."
            )
    if not rounding.few:
        yield from _about_outliers(*worst(attacked), rounding)


def _about_formulas(release: Release) -> Iterator[str]:
    """Cells are counted where they are: in all rows, or in a draw of them."""
    drawn = "" if release.rows is None else f" That is on {number(len(release))} of {number(release.total)} rows, drawn at random."
    for line in about_formulas(release.table):
        yield line + drawn


def _about_outliers(linkage: AttackResult | None, outlying: AttackResult | None, rounding: Rounding) -> Iterator[str]:
    """An average hides those who are easiest to find."""
    far = outlying.outliers if outlying else None
    of = "persons" if outlying and outlying.unit == "persons" else "records"
    if linkage and outlying and far and far.rate > LINKAGE_LIMIT and far.rate > 2 * outlying.chance and far.rate > linkage.rate:
        yield (
            f"{outlying.name} finds {rounding.risk(far.rate):.1%} of the {number(int(three_digits(far.tried)))} {of} farthest out, though "
            f"{rounding.risk(linkage.rate):.1%} is the most that any attack finds on average."
        )


def _about_steps(release: Release, roles: Roles, classes: Score | None) -> Iterator[str]:
    """Steps that promise less than their name may suggest."""
    smallest = classes.value if classes else None
    of, many = ("released rows", release.total) if release.people is None else ("persons", release.people)
    unique = f"; {number(classes.details['uniques'])} of {number(many)} {of} are unique" if classes and smallest is not None else ""
    if any(set(roles.quasi) <= set(promise.columns) and promise.kind is K_ANONYMITY for promise in release.promises):
        return
    for step in release.made_by:
        on = [column for column in step.columns if column in roles.quasi]
        if not on:
            continue
        if step.promises and not set(step.promises) & set(release.promises):
            yield f"{step.method} promises nothing any more: a later step changed its columns again."
        elif K_ANONYMITY.name not in step.guarantees:
            yield f"{step.method} does not give k-anonymity{unique}."
        elif len(on) < len(roles.quasi):
            yield (
                f"{step.method} was applied to {len(on)} of {counted(len(roles.quasi), 'quasi-identifier')}, so its groups hold on "
                f"those columns only; over all of them the smallest class is {counted(int(smallest), of[:-1]) if smallest is not None else 'not known'}."
            )


def _about_columns(release: Release, roles: Roles) -> Iterator[str]:
    """Quasi-identifiers that leave as they are."""
    touched = {column for step in release.made_by for column in step.columns}
    for column in roles.quasi:
        if column not in touched and release.made_by and column in release.table.columns:
            yield f"The quasi-identifier '{column}' was not protected by any step; it is released as it is."
