"""What a certificate says, held against itself: steps, roles, promises, measures, attacks and summary must tell one story.

Methods, measures and attacks are asked for what they declare, their names, parameters and promises; nothing that protects is called. What is
registered under no name here, a plug-in that is not installed, is believed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

from shoal.certificate import (
    CORE_MEASURES,
    AttackPart,
    CollectionCertificate,
    MeasurePart,
    PromisePart,
    StepPart,
    Summary,
    TableCertificate,
    plain,
)
from shoal.errors import ShoalError
from shoal.promises import KINDS, LINK, Checked, Promise, link_summary
from shoal.registry import Kind, known

PARTS = (("nodes_left_out", "nodes"), ("ways_looked_at", "ways"), ("minimal_nodes", "anonymous_nodes"))  # of what searches tell
WIDTH = re.compile(r"[0-9.]+(e[+-][0-9]+)?|[1-9][0-9]* (day|hour|minute|second)s?")
MOST_KEYS = 10_000  # sets of columns that a step may be said to protect
NEAR = 0.011  # what three digits of two numbers can make of their ratio


def consistent(certificate: TableCertificate | CollectionCertificate) -> Iterator[Checked]:
    """Every sentence of the certificate that another one can contradict, one check for each kind; what is odd is counted, not quoted."""
    of = "collection-" if isinstance(certificate, CollectionCertificate) else ""
    yield _none("promises that do not say what they count", sum(not _well_said(one) for one in certificate.promises))
    yield _none("steps that are not as their method declares them", sum(not _as_declared(step, of) for step in certificate.steps))
    yield _none("promises that no step asked for", sum(not _asked_for(one.promise, certificate.steps) for one in certificate.promises))
    promised = [one.promise for one in certificate.promises]
    confidential = certificate.roles.confidential if isinstance(certificate, TableCertificate) else ()
    yield _none("promises that were asked for and are not there", sum(_lacking(certificate.steps, promised, confidential)))
    yield _none("measures that are not as declared", sum(not _measure_as_declared(one, of) for one in certificate.measures))
    tried = [*(one.name for one in certificate.attacks), *(one.name for one in certificate.not_tried)]
    names = [*(one.name for one in certificate.measures), *tried]
    yield _none("measures and attacks that are there twice", len(names) - len(set(names)))
    rows = certificate.release.rows
    yield _none("attacks whose figures do not fit each other", sum(not _attack_fits(one, rows, of) for one in certificate.attacks))
    if isinstance(certificate, TableCertificate):
        yield from _of_tables(certificate)


def _of_tables(certificate: TableCertificate) -> Iterator[Checked]:
    roles, columns, unit = certificate.roles, certificate.release.columns, certificate.unit
    given = [*roles.quasi, *roles.confidential, *roles.weight, *roles.household, *roles.other]
    last = [step.method for step in certificate.steps if step.method != LINK][-1:]
    added = {name for method in last for name in _declared("method", method, "adds", ())}
    numbers = {one.about for one in certificate.promises if one.promise.kind.of == "numbers"}
    by_link = {step.parameters.get("by") for step in certificate.steps if step.method == LINK}
    odd = [column for column in columns if given.count(column) != 1 and column not in added | numbers]
    if "person" in by_link and unit.counted == "persons":  # all may have lost their number: then it has no promise, and holds nothing
        odd = odd[1:]
    yield _none("released columns without a role, or with two", len(odd))
    held = {*given, *(roles.hierarchies), *((roles.target,) if roles.target else ())}
    about = {column for one in certificate.promises for column in one.promise.needs}
    stepped = {column for step in certificate.steps for column in step.columns}
    whole = [step for step in certificate.steps if "columns" in _parameters_of(step.method) and "columns" not in step.parameters]
    yield _none("steps over other columns than the quasi-identifiers", sum(not _over_all(step, roles.quasi) for step in whole))
    yield _none(
        "columns that are told of and not released", 0 if added else len((held | about | stepped) - set(columns) - set(roles.household))
    )
    grouped = set(certificate.release.cells) & set(roles.hierarchies)
    yield _none("columns of groups that have no names", len(grouped - set(certificate.release.labels)))
    named = {column for column, names in certificate.release.labels.items() if names}
    yield _none("names of groups in columns without a hierarchy", len(named - set(roles.hierarchies)))
    yield _none("levels at which columns are not released", sum(_at_other_levels(certificate)))
    confidential = {one.about for one in certificate.promises if one.promise.kind.of == "classes" and one.about}
    yield _none("promises about columns that are not confidential", len(confidential - set(roles.confidential)))
    counted = {one.counts for one in certificate.promises if one.promise.kind.of == "classes"}
    fits = unit.rows == certificate.release.rows and counted <= {unit.counted} and (unit.persons or 0) <= unit.rows
    fits = fits and (not unit.warning or unit.warning in certificate.warnings)
    if unit.counted == "persons":  # of patterns, each of several persons, nobody counts them
        fits = fits and (unit.persons is not None or bool(added & set(columns)))
    else:
        fits = fits and unit.persons is None and unit.one_row_each == "not known"
    fits = fits and (unit.one_row_each != "known" or unit.persons == unit.rows)
    fits = fits and ("person" not in by_link or unit.counted == "persons") and ("household" not in by_link or bool(roles.household))
    yield Checked("what is counted", unit.counted, ", ".join(sorted(counted)) or unit.counted, fits)
    there = {one.name for one in certificate.measures}
    yield _none("measures that no certificate goes without", len(set(CORE_MEASURES) - there))
    if roles.quasi:
        yield _none("warnings that a measure calls for", _warnings_lacking(certificate))
    told = [one for one in certificate.leaves if one.column not in columns or not -1 <= (one.share or 0) <= 1]
    yield _none(
        "columns said to leave, or to hold cells, that are not there", len(told) + len(set(certificate.release.cells) - set(columns))
    )
    yield _none(
        "values left out of one figure and not of another",
        sum(not _leaves_out_the_same(one.promise, certificate) for one in certificate.promises),
    )
    yield _none("figures of the summary that do not fit", sum(not fits for fits in _summary_fits(certificate, certificate.summary)))


def _at_other_levels(certificate: TableCertificate) -> Iterator[bool]:
    """Level 0 is the values as they are, without names of groups; at any other, a column holds cells."""
    for number, step in enumerate(certificate.steps):
        later = {column for one in certificate.steps[number + 1 :] for column in one.columns}
        levels = step.outcome.get("levels")
        for column, level in levels.items() if isinstance(levels, dict) else ():
            if column not in later and column in certificate.release.columns:
                yield bool(certificate.release.labels.get(column)) if level == 0 else column not in certificate.release.cells


def _leaves_out_the_same(promise: Promise, certificate: TableCertificate) -> bool:
    """What a promise of diversity takes for no value is nothing, or what is missing with the codes that the measures name."""
    measures = [one for name in ("l-diversity", "entropy-l-diversity") if (one := certificate.measure(name)) is not None]
    codes = [given.get(promise.about) or () for one in measures if isinstance(given := one.details.get("codes"), dict)]
    return not promise.ignores or {*promise.ignores} in [{"", *map(str, some)} for some in codes or [()]]


def _well_said(part: PromisePart) -> bool:
    """Its unit and its sentence are made of the rest; what was found must be enough, or it does not hold."""
    if part.what not in KINDS:
        return False
    promise = part.promise
    about_values = promise.kind.is_about_a_column and promise.kind.of == "classes"
    if promise.kind.is_about_a_column != (part.about is not None) or (part.ignores and not about_values):
        return False
    return part.unit == promise.number and part.sentence == promise.sentence and part.holds == promise.kept_by(part.found)


def _declared(kind: Kind, name: str, what: str, otherwise: Any) -> Any:
    return getattr(known(kind).get(name), what, otherwise)


def _parameters_of(method: str) -> Iterable[str]:
    return getattr(known("method").get(method), "model_fields", ())


def _as_declared(step: StepPart, of: str) -> bool:
    """Its sentence, its promises and its parameters are those of the method it names."""
    if step.method == LINK and not of:
        return _is_link(step)
    kind: Kind = "collection-method" if of else "method"
    cls = known(kind).get(step.method)
    if cls is None:
        return True
    if not _finds(step, getattr(cls, "finds", ())) or not _bins_fit(step, getattr(cls, "scope", "")):
        return False
    try:
        made = cls(**step.parameters)
    except ShoalError:
        return False
    given = plain(made.given())
    if "columns" in given and given["columns"] is None:
        del given["columns"]  # it protects all quasi-identifiers
    same = given == plain(dict(step.parameters)) and set(given.get("columns", step.columns)) == set(step.columns)
    return same and step.summary == cls.summary() and set(step.guarantees) == set(getattr(made, "guarantees", ()))


def _finds(step: StepPart, told: Sequence[str]) -> bool:
    """A search tells all that its method says that it tells: a level of each column of the step, no part of more than the whole, and a gap just
    where nothing is proven."""
    found, levels = {name: one for name, one in step.outcome.items() if name != "bins"}, step.outcome.get("levels")
    counts = [one for name, one in found.items() if name not in ("levels", "optimal", "gap")]
    counts += [*levels.values()] if isinstance(levels, dict) else []
    whole = all(type(one) is int and one >= 0 for one in counts)
    leveled = set(levels) == set(step.columns) if isinstance(levels, dict) else "levels" not in told
    certain = found.get("optimal") == ("not proven" if "gap" in found else "proven") if "optimal" in told else True
    parts = whole and all(found[some] <= found[of] for some, of in PARTS if some in found and of in found)
    return set(told) - {"gap"} <= set(found) <= set(told) and parts and leveled and certain


def _bins_fit(step: StepPart, scope: str) -> bool:
    """Only who decides on counts cuts columns of its own into bins first, and says how wide each of them is."""
    if "bins" not in step.outcome:
        return True
    bins = step.outcome["bins"]
    wide = isinstance(bins, dict) and all(type(one) is str and WIDTH.fullmatch(one) for one in bins.values())
    return wide and bool(bins) and set(bins) <= set(step.columns) and scope == "counts"


def _is_link(step: StepPart) -> bool:
    """As it is made: whose numbers are kept, how many must look alike, and no more promised than that."""
    noun, k = step.parameters.get("by"), step.parameters.get("k")
    if noun not in ("household", "person") or type(k) is not int or k < 2 or set(step.parameters) != {"by", "k"}:
        return False
    return step.summary == link_summary(noun, k) and set(step.guarantees) <= {f"{noun}-k"}


def _asked_for(promise: Promise, steps: Sequence[StepPart]) -> bool:
    """Some step was given this number for these columns."""
    of_numbers = promise.kind.of == "numbers"
    for number, step in enumerate(steps):
        if not of_numbers and {c for one in steps[number + 1 :] if one.method != LINK for c in one.columns} & set(promise.needs):
            continue  # a later step voids it
        asked = step.parameters.get(promise.kind.asked_by)
        same = (step.method == LINK) == of_numbers and (of_numbers or set(promise.columns) in _keys(step))
        if same and isinstance(asked, int | float) and asked == promise.value:
            return True
    return False


def _lacking(steps: Sequence[StepPart], promises: Sequence[Promise], confidential: Sequence[str]) -> Iterator[bool]:
    """What steps guarantee, and what their parameters ask for of every confidential column, unless a later step changed the columns again."""
    for number, step in enumerate(steps):
        later = {column for one in steps[number + 1 :] for column in one.columns}
        if later & set(step.columns):
            continue
        for key in _keys(step):
            mine = [one for one in promises if step.method == LINK or set(one.columns) == key]
            yield from (all(one.what != what for one in mine) for what in step.guarantees)
        mine = [one for one in promises if set(one.columns) == set(step.columns)]
        for asked in ("l", "entropy", "t"):
            about = [column for column in confidential if column not in later] if step.parameters.get(asked, 1) != 1 else []
            yield from (all((one.kind.asked_by, one.about) != (asked, column) for one in mine) for column in about)


def _keys(step: StepPart) -> list[set[str]]:
    """The sets of columns that a step protects: all its columns together, or the sets that its parameters name, or every choice of so many."""
    sets, many = step.parameters.get("sets"), step.parameters.get("subsets")
    if isinstance(sets, list | tuple) and all(isinstance(one, str) for one in sets):
        return [set(one.split("+")) for one in sets]
    if isinstance(many, int) and 0 < many <= len(step.columns) and math.comb(len(step.columns), many) <= MOST_KEYS:
        return [set(one) for one in combinations(step.columns, many)]
    return [set(step.columns)]


def _over_all(step: StepPart, quasi: Sequence[str]) -> bool:
    """Whether a step that names no columns is over all quasi-identifiers, or over those that its sets name."""
    named = set().union(*_keys(step)) if step.parameters.get("sets") else set(quasi)
    return set(step.columns) == named <= set(quasi)


def _measure_as_declared(part: MeasurePart, of: str) -> bool:
    kind: Kind = "collection-measure" if of else "measure"
    low, high = part.bounds
    inside = part.value is None or ((low is None or part.value >= low - 1e-9) and (high is None or part.value <= high + 1e-9))
    cls = known(kind).get(part.name)
    if cls is None:
        return inside
    return (
        inside
        and part.title == cls.title
        and part.better == getattr(cls, "better", part.better)
        and part.needs == getattr(cls, "needs", part.needs)
    )


def _attack_fits(part: AttackPart, rows: int, of: str) -> bool:
    """No more hit than tried, none hit strictly that was not hit, and the rate is their ratio inside its interval."""
    kind: Kind = "collection-attack" if of else "attack"
    cls = known(kind).get(part.name)
    forms = part.details.get("forms")
    rates_of_forms = [one.get("rate") for one in forms if isinstance(one, dict)] if isinstance(forms, list) else []
    if rates_of_forms and not _near(part.rate, max((one for one in rates_of_forms if isinstance(one, int | float)), default=0.0)):
        return False
    declared = cls is None or (part.title == cls.title and part.risk == getattr(cls, "risk", part.risk))
    low, high = part.interval
    counts = 0 <= part.strict_hit <= part.hit + 1e-9 <= part.tried + 1e-6
    rates = (
        0 <= part.rate <= 1
        and 0 <= part.chance <= 1
        and 0 <= low <= high <= 1
        and low * (1 - NEAR) - 1e-9 <= part.rate <= high * (1 + NEAR) + 1e-9
    )
    if not (declared and counts and rates and _near(part.rate, part.hit / part.tried if part.tried else 0.0)):
        return False
    many = part.tried if part.apart is None else part.apart
    return 0 <= many <= max(part.tried, 0) and (many == 0 or all(map(_about, part.interval, _ends(part.rate, many))))


def _ends(rate: float, many: int) -> tuple[float, float]:
    """The shares for which a rate of so many is 1.96 deviations away: the roots of (rate - share)^2 = z^2 share (1 - share) / many."""
    z = 1.959963984540054**2
    a, b, c = many + z, 2 * many * rate + z, many * rate * rate
    root = math.sqrt(max(b * b - 4 * a * c, 0.0))
    return (b - root) / (2 * a), (b + root) / (2 * a)


def _about(said: float, found: float) -> bool:
    """As near as three digits of the rate allow, also near 0."""
    return math.isclose(said, found, rel_tol=NEAR, abs_tol=0.002)


def _summary_fits(certificate: TableCertificate, summary: Summary) -> Iterator[bool]:
    """One loss, the highest linkage, its interval and name; the mean of loss and risk."""
    loss = certificate.measure(summary.loss_measure) if summary.loss_measure else None
    yield (loss.value if loss else None) == summary.loss
    linkage = [one for one in certificate.attacks if one.risk == "linkage"]
    highest = max((one.rate for one in linkage), default=None)
    yield summary.risk == highest
    named = next((one for one in linkage if one.name == summary.risk_attack), None)
    yield (named is None) == (highest is None) and (
        named is None or (named.rate, *named.interval) == (summary.risk, summary.risk_low, summary.risk_high)
    )
    far = [one.details["outliers"] for one in linkage if isinstance(one.details.get("outliers"), dict)]
    if summary.outlier_risk is not None:
        yield summary.outlier_risk == max((one.get("rate", 0.0) for one in far), default=None) and summary.outliers in [
            one.get("tried") for one in far
        ]
    else:
        yield not far or summary.outliers == 0
    if summary.score is not None and summary.information_loss is not None and summary.disclosure_risk is not None:
        yield _near(summary.score, (summary.information_loss + summary.disclosure_risk) / 2)
    published = certificate.measure("il")
    if summary.information_loss is not None and published is not None and published.value is not None:
        yield _near(summary.information_loss, published.value / 100)


def _warnings_lacking(certificate: TableCertificate) -> int:
    """A confidential column with one value in some class is warned of by name."""
    diversity = certificate.measure("l-diversity")
    alone = [column for column, values in (diversity.per_column if diversity else {}).items() if values == 1]
    return sum(not any(f"'{column}'" in warning for warning in certificate.warnings) for column in alone)


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=NEAR, abs_tol=1e-9)


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)
