"""The certificate of a table: evidence put together, summed up, and what a careful colleague would say before the release leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from shoal.attacks import DistanceLinkage, IntervalDisclosure, ProbabilisticLinkage
from shoal.certificate import AttackPart, MeasurePart, NotTried, PromisePart, RolesPart, StepPart, Summary, TableCertificate, TableFile
from shoal.errors import counted, number
from shoal.folders import sha256_of
from shoal.measures import IL, CellLoss, DistinctLDiversity, KAnonymity
from shoal.promises import K_ANONYMITY, Checked
from shoal.published import Rounding
from shoal.release import Release
from shoal.roles import Roles
from shoal.runs.evidence import Attacked
from shoal.score import Score, disclosure_risk, overall_score
from shoal.table import Table

LINKAGE_LIMIT = 0.2  # beyond this share of records linked, the certificate warns
CORE = (KAnonymity.name, DistinctLDiversity.name, CellLoss.name, IL.name)  # what summary and warnings are made of


def certify(
    original: Table,
    release: Release,
    roles: Roles,
    file: Path,
    checked: Sequence[Checked],
    scores: Sequence[Score],
    attacked: Attacked,
    roleless: Sequence[str] = (),
) -> TableCertificate:
    """Everything that may be published about a release."""
    table = release.table
    return TableCertificate.now(
        release=TableFile(
            file=file.name,
            sha256=sha256_of(file),
            rows=len(release),
            columns=table.columns,
            delimiter=table.format.delimiter,
            missing=table.format.missing,
            cells=tuple(column for column in table.columns if column in table.cells),
        ),
        roles=RolesPart(
            **{role: getattr(roles, role) for role in ("quasi", "confidential", "weight", "household", "other")},
            identifiers_removed=len(roles.identifier),
            target=roles.target,
            hierarchies=tuple(sorted(roles.hierarchies)),
        ),
        steps=tuple(map(StepPart.of, release.made_by)),
        promises=tuple(PromisePart.of(promise, one) for promise, one in zip(release.promises, checked, strict=True)),
        measures=tuple(map(MeasurePart.of, scores)),
        attacks=tuple(map(AttackPart.of, attacked.results)),
        not_tried=tuple(NotTried(name=name, why=why) for name, why in attacked.not_tried.items()),
        summary=summary(scores, attacked),
        warnings=tuple(dict.fromkeys(warnings(original, release, roles, scores, attacked, roleless))),
    )


def summary(scores: Sequence[Score], attacked: Attacked) -> Summary:
    """One loss, one risk, and the thesis's DR and Score where they can be had (all as shares of 1)."""
    value = {score.name: score.value for score in scores}
    rate = {result.name: result.rate for result in attacked.results}
    linkage = max((result for result in attacked.results if result.risk == "linkage"), key=lambda result: result.rate, default=None)
    parts = [rate.get(attack.name) for attack in (DistanceLinkage, ProbabilisticLinkage, IntervalDisclosure)]
    risk = disclosure_risk(*(part for part in parts if part is not None)) if None not in parts else None
    loss, published = value.get(CellLoss.name), value.get(IL.name)
    return Summary(
        loss=loss,
        loss_measure=CellLoss.name if loss is not None else None,
        risk=linkage.rate if linkage else None,
        risk_low=linkage.interval[0] if linkage else None,
        risk_high=linkage.interval[1] if linkage else None,
        risk_attack=linkage.name if linkage else None,
        disclosure_risk=risk,
        information_loss=published / 100 if published is not None else None,
        score=overall_score(published / 100, risk) if published is not None and risk is not None else None,
    )


def warnings(
    original: Table, release: Release, roles: Roles, scores: Sequence[Score], attacked: Attacked, roleless: Sequence[str] = ()
) -> Iterator[str]:
    """What a careful colleague would say, in plain words."""
    by_name = {score.name: score for score in scores}
    yield from release.warnings
    yield from _about_steps(release, roles, by_name.get(KAnonymity.name))
    yield from _about_columns(original, release, roles, roleless)
    diversity = by_name.get(DistinctLDiversity.name)
    for column, distinct in (diversity.per_column if diversity else {}).items():
        if distinct < 2:
            yield f"Some class has only one value of '{column}': whoever is known to be in it is known to have that value."
    for name, why in attacked.not_tried.items():
        yield f"{name} was not tried: {why} Disclosure risk and score are not stated without it."
    for result in attacked.results:
        if result.risk == "linkage" and result.rate > LINKAGE_LIMIT and result.rate > 2 * result.chance:
            rounding = Rounding(len(release))
            rate, (low, high) = rounding.risk(result.rate), rounding.interval(result.rate, result.interval, result.tried)
            yield (
                f"{result.name} finds {rate:.1%} of the records (95 % interval {low:.1%} to {high:.1%}; "
                f"blind guessing {result.chance:.2%})."
            )


def _about_steps(release: Release, roles: Roles, classes: Score | None) -> Iterator[str]:
    """Steps that promise less than their name may suggest."""
    smallest = classes.value if classes else None
    unique = (
        f"; {number(classes.details['uniques'])} of {number(len(release))} released rows are unique"
        if classes and smallest is not None
        else ""
    )
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
                f"those columns only; over all of them the smallest class is {number(int(smallest)) if smallest is not None else 'not known'}."
            )


def _about_columns(original: Table, release: Release, roles: Roles, roleless: Sequence[str]) -> Iterator[str]:
    """Columns that leave as they are."""
    touched = {column for step in release.made_by for column in step.columns}
    for column in roles.quasi:
        if column not in touched and release.made_by and column in release.table.columns:
            yield f"The quasi-identifier '{column}' was not protected by any step; it is released as it is."
    unnamed = [column for column in roleless if column not in touched and column != roles.target]
    if unnamed:
        yield (
            f"No role was given to {', '.join(repr(column) for column in unnamed)}; released as they are. Check that nobody could know them."
        )
    telling = [
        column
        for column in (*roles.confidential, *roles.other, *roles.weight)
        if column in release.table.columns and column in original.columns and column not in touched and _nearly_unique(original, column)
    ]
    if telling:
        yield (
            f"{', '.join(repr(c) for c in telling)} {'is' if len(telling) == 1 else 'are'} released unchanged and different in nearly every row: "
            "whoever knows such a value finds the record."
        )


def _nearly_unique(table: Table, column: str) -> bool:
    return len(table) >= 20 and int(table.codes(column).max(initial=0)) + 1 > 0.9 * len(table)
