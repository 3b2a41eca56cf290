"""What the first screen says, in words: what holds and for whom, what leaves unprotected, the worst attack, and outliers.

Everything is read off the certificate. Green means that a promise over all quasi-identifiers holds for persons and nothing speaks against it;
amber that it holds for rows only, or for persons with a "but"; red that nothing which a reader could take for protection holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from shoal.certificate import AttackPart, LeavesPart, MeasurePart, PromisePart, TableCertificate
from shoal.errors import counted
from shoal.promises import HOUSEHOLD_K, K_ANONYMITY, PERSON_K, WILDCARD_K
from shoal.published import FEW
from shoal.report.drawing import number, percent, percent_range

Colour = Literal["green", "amber", "red"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A colour, a few words, why, and what speaks against it."""

    colour: Colour
    words: Literal["Holds for persons", "Holds for rows only", "Does not hold"]
    why: str
    but: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The words with every but."""
        listed = ", ".join(self.but[:-1]) + (", and " if len(self.but) > 1 else "") + "".join(self.but[-1:])
        return f"{self.words}, but {listed}" if self.but else self.words


def verdict(certificate: TableCertificate) -> Verdict:
    """Whether what a reader takes for protection holds, and for whom."""
    broken, quasi = certificate.broken, certificate.roles.quasi
    if broken:
        first = broken[0]
        fails = f"{len(broken)} of {counted(len(certificate.promises), 'promise')} {'does' if len(broken) == 1 else 'do'} not hold"
        found = f"{first.what} promised {number(first.value)}, found {number(first.found)} {first.unit}"
        return Verdict("red", "Does not hold", f"Do not publish this file. {fails}: {found}.")
    if not quasi:
        return Verdict("red", "Does not hold", "No column was named that an intruder may know, so nothing is protected.")
    promise = main_promise(certificate)
    if promise is None or not set(quasi) <= set(promise.columns):
        return Verdict("red", "Does not hold", _why_nothing_holds(certificate, promise))
    hidden = f"{number(promise.value)} {promise.counts}, counted again on the released file"
    but = tuple(_buts(certificate))
    if promise.counts == "persons":
        return Verdict("amber" if but else "green", "Holds for persons", f"Every person is hidden among at least {hidden}.", but)
    if certificate.unit.one_row_each == "known":
        why = f"Every row is one person, and is hidden among at least {hidden}."
        return Verdict("amber" if but else "green", "Holds for persons", why, but)
    return Verdict("amber", "Holds for rows only", f"Every row is hidden among at least {hidden}. {_why_rows_only(certificate)}", but)


def _why_nothing_holds(certificate: TableCertificate, promise: PromisePart | None) -> str:
    classes, n = class_sizes_of(certificate), len(certificate.roles.quasi)
    smallest = ""
    if classes and classes.value is not None:
        smallest = f" Over all {n} together the smallest class is {size_of(classes.value, classes)}."
    weaker = next((one for one in certificate.promises if one.what == WILDCARD_K.name), None)
    if promise is None and weaker is not None:
        records = f"{number(weaker.value)} {weaker.unit} match each one if a blank counts as any value"
        return f"All that is promised is {weaker.what}: {records}. That is not k-anonymity; records may still be told apart.{smallest}"
    if promise is None:
        return f"Nothing is promised over the {counted(n, 'quasi-identifier')}: only the attacks can speak for this release.{smallest}"
    covered = sum(column in promise.columns for column in certificate.roles.quasi)
    over = f"over {covered} of {counted(n, 'quasi-identifier')} only"
    return f"{promise.what} of {number(promise.value)} {promise.unit} is promised and found {over}.{smallest}"


def _why_rows_only(certificate: TableCertificate) -> str:
    unit = certificate.unit
    if unit.one_row_each == "no":
        many = f" ({counted(unit.persons, 'person')} in {counted(unit.rows, 'row')})" if unit.persons else ""
        return f"Several rows are of one person{many}, so a class of rows may be one person alone."
    return "Whether a row is a person is not known: name the column that numbers persons (--person), and persons are counted."


def _buts(certificate: TableCertificate) -> Iterator[str]:
    if households_can_be_told(certificate):
        yield "households can be told"
    if certificate.leaves:
        n = len(dict.fromkeys(one.column for one in certificate.leaves))
        yield f"{counted(n, 'column leaves', 'columns leave')} unprotected that {'tells' if n == 1 else 'tell'} too much"
    if found_more_than_promised(certificate):
        yield f"an attack finds {percent(certificate.summary.risk)}"


def found_more_than_promised(certificate: TableCertificate) -> bool:
    """Whether records are found more often than 1 in k, beyond doubt: then the attack knows something that no promise is about."""
    promise, attack, low = main_promise(certificate), worst_attack(certificate), certificate.summary.risk_low
    if attack is None or low is None or attack.risk != "linkage":
        return False
    return low > (1 / promise.value if promise else 2 * attack.chance)


def main_promise(certificate: TableCertificate) -> PromisePart | None:
    """The k-anonymity to show first: a broken one, else one over most quasi-identifiers, of persons rather than rows, the largest."""
    quasi = set(certificate.roles.quasi)
    kept = [promise for promise in certificate.promises if promise.what == K_ANONYMITY.name]
    return max(kept, key=lambda p: (not p.holds, len(quasi & set(p.columns)), p.counts == "persons", p.value), default=None)


def class_sizes_of(certificate: TableCertificate) -> MeasurePart | None:
    """The measure of class sizes, which says how many classes there are of each size."""
    return next((measure for measure in certificate.measures if "histogram" in measure.details), None)


def unit_counted(classes: MeasurePart) -> str:
    """What a measure of classes counted."""
    return str(classes.details.get("unit", "rows"))


def size_of(size: float, classes: MeasurePart) -> str:
    """5 rows, 1 person: a class size in the unit that was counted."""
    unit = unit_counted(classes)
    return f"{number(size)} {unit[:-1] if size == 1 else unit}"


# ---- unit and households -----------------------------------------------------------------------------------------------------


def unit_protected(certificate: TableCertificate) -> str:
    """Whom the promise counts, and how many there are."""
    unit, promise, rows = certificate.unit, main_promise(certificate), certificate.release.rows
    if promise is None:
        return f"nobody by a promise; {counted(rows, 'row')} released"
    if promise.counts == "persons":
        persons = f"{counted(unit.persons, 'person')} in {counted(rows, 'row')}" if unit.persons else counted(rows, "row")
        return f"persons: {persons}"
    if unit.one_row_each == "known":
        return f"persons: {counted(rows, 'row')}, each of another person"
    several = f"; they are of {counted(unit.persons, 'person')}" if unit.persons and unit.one_row_each == "no" else ""
    return f"rows: {counted(rows, 'row')}{several or '; whether each is another person is not known'}"


def households_can_be_told(certificate: TableCertificate) -> bool:
    """Whether the release tells who lives together, and nothing is promised about it."""
    told = certificate.unit.households_told
    if any(promise.what == HOUSEHOLD_K.name for promise in certificate.promises):
        return False
    numbered = certificate.unit.households != 0 and any(column in certificate.release.columns for column in certificate.roles.household)
    return numbered if told is None else told > 0


def households_in_words(certificate: TableCertificate) -> str:
    """What is known of households; empty where there are none."""
    unit = certificate.unit
    promise = next((one for one in certificate.promises if one.what == HOUSEHOLD_K.name), None)
    if promise:
        kept = f"Each household whose number is kept looks like at least {number(promise.value)} households"
        return f"{kept} (found {number(promise.found)}): {counted(unit.households or 0, 'household')}. The others lost their number."
    if unit.households == 0:
        return "No number of a household is released."
    if unit.households_told is None:
        told = "whether they can be told was not counted, and nothing is promised about them"
        return f"Numbers of households are released: {told}." if households_can_be_told(certificate) else ""
    many = f" of {counted(unit.households, 'household')}" if unit.households else " of the households"
    if unit.households_told == 0:
        return f"None{many} is unlike all others, but nothing is promised about them."
    return f"Households can be told: {percent(unit.households_told)}{many} look like no other."


# ---- what leaves unprotected -------------------------------------------------------------------------------------------------


def leaves_in_words(certificate: TableCertificate) -> list[tuple[list[str], str]]:
    """Columns and what they give away, the worst first; columns of which the same is to be said share a line."""
    lines: dict[str, list[str]] = {}
    emptied = {column for step in certificate.steps if {HOUSEHOLD_K.name, PERSON_K.name} & set(step.guarantees) for column in step.columns}
    for one in certificate.leaves:
        lines.setdefault(_gives_away(one, "rows that kept it" if one.column in emptied else "rows"), []).append(one.column)
    return [(columns, what) for what, columns in lines.items()]


def _gives_away(one: LeavesPart, of: str) -> str:
    share = percent(one.share)
    if one.why == "tells":
        guessing = f"; guessing is right for {percent(one.guessing)}" if one.guessing is not None else ""
        return f"gives away {one.about}: tells the right value for {share} of the {of}{guessing}."
    if one.why == "rank":
        return f"gives away {one.about}: puts the rows in the same order (rank correlation {number(one.share)})."
    if one.why == "identifier":
        return "equals an identifier: whoever reads a value has the person."
    return "different in nearly every row: whoever knows a value finds its record."


def columns_in_words(certificate: TableCertificate) -> str:
    """How many columns leave as they are, and how many do not leave."""
    roles = certificate.roles
    touched = {column for step in certificate.steps for column in step.columns}
    unchanged = set(certificate.release.columns) - touched
    parts = []
    for called, named in (
        ("quasi-identifier", roles.quasi),
        ("confidential column", roles.confidential),
        ("weight", roles.weight),
        ("other column", roles.other),
    ):
        parts.append((sum(column in unchanged for column in named), called))
    listed = ", ".join(counted(n, called) for n, called in parts if n)
    as_it_is = f"Released as they are: {listed}." if listed else "No column is released as it is."
    gone = [f"{counted(roles.left_out, 'column')} without a role"] if roles.left_out else []
    gone += [counted(roles.identifiers_removed, "identifier")] if roles.identifiers_removed else []
    return f"{as_it_is} {'Left out: ' + ' and '.join(gone) + '.' if gone else ''}".strip()


# ---- attacks -----------------------------------------------------------------------------------------------------------------


def worst_attack(certificate: TableCertificate) -> AttackPart | None:
    """The attack that the summary names, else the one with the highest rate."""
    named = [attack for attack in certificate.attacks if attack.name == certificate.summary.risk_attack]
    return max(named or certificate.attacks, key=lambda attack: attack.rate, default=None)


def attack_in_words(certificate: TableCertificate) -> str:
    """The worst attack by name, how, how often, and beside blind guessing."""
    attack, summary = worst_attack(certificate), certificate.summary
    if attack is None:
        return "No attack was tried, so nothing is known about what an intruder would get."
    if summary.risk is None or attack.name != summary.risk_attack:
        return _succeeds(attack, attack.rate, *attack.interval)
    low, high = (own if said is None else said for said, own in zip((summary.risk_low, summary.risk_high), attack.interval))
    text = _succeeds(attack, summary.risk, low, high, summary.risk_how)
    higher = max((one for one in certificate.attacks if one.risk != attack.risk), key=lambda one: one.rate, default=None)
    if higher is None or higher.rate <= summary.risk:
        return text
    return f"{text} Of another kind: {_succeeds(higher, higher.rate, *higher.interval)}"


def _succeeds(attack: AttackPart, rate: float, low: float, high: float, how: str = "") -> str:
    finds = {"linkage": "finds", "interval": "comes near the value of"}.get(attack.risk, "succeeds on")
    spread = f"(95\u00a0% interval {percent_range(low, high)})"
    text = f"{attack.title}{f' ({how})' if how else ''} {finds} {percent(rate)} of {tried_by(attack)} {spread}"
    if low <= attack.chance:
        return f"{text}, which cannot be told from blind guessing ({percent(attack.chance)})."
    return f"{text}; blind guessing, {percent(attack.chance)}."


def tried_by(attack: AttackPart) -> str:
    """How many were tried, and of what."""
    return f"{attack.tried:,} {attack.unit[:-1] if attack.tried == 1 else attack.unit}"


def outliers_in_words(certificate: TableCertificate) -> str:
    """The same for those that an average hides."""
    summary = certificate.summary
    if summary.outlier_risk is None or not summary.outliers:
        few = (certificate.unit.persons or certificate.release.rows) < FEW
        why = f"not given under {FEW} {certificate.unit.counted}" if few else "not counted"
        return f"What attacks find of outliers alone is {why}: the figure above is an average, which hides them."
    attack = next((attack for attack in certificate.attacks if attack.name == summary.outlier_attack), None)
    spread = "" if summary.outlier_low is None else f" (95\u00a0% interval {percent_range(summary.outlier_low, summary.outlier_high)})"
    unit = attack.unit if attack else certificate.unit.counted
    tried = f"the {counted(summary.outliers, unit[:-1])} farthest from the middle of the columns"
    return f"Of {tried}, {percent(summary.outlier_risk)} are found{spread}{f' by {attack.title}' if attack else ''}."
