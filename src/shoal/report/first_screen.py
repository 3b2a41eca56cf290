"""The first screen of a release's report: what whoever signs must have read, before any picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from shoal.certificate import TableCertificate
from shoal.errors import counted
from shoal.report.drawing import decimal, number, percent, percent_range, safe
from shoal.report.page import card
from shoal.report.verdict import (
    attack_in_words,
    class_sizes_of,
    columns_in_words,
    found_more_than_promised,
    households_can_be_told,
    households_in_words,
    leaves_in_words,
    main_promise,
    outliers_in_words,
    size_of,
    unit_protected,
    verdict,
    worst_attack,
)

MOST_NAMED = 4  # columns named in one of them
LONG = 320  # letters of a warning that are read at once


class _Tile(NamedTuple):
    name: str
    value: str
    notes: tuple[str, ...]
    kind: str = ""


def first_screen(certificate: TableCertificate) -> str:
    """The data's name, the verdict, the figures, and what they mean."""
    return _heading(certificate) + _tiles(certificate) + _facts(certificate)


def warnings(certificate: TableCertificate) -> str:
    """What a careful colleague would say."""
    listed = "".join(f"<li>{_warning(warning)}</li>" for warning in certificate.warnings if warning != certificate.unit.warning)
    return card("Warnings: read them before you sign", f"<ul>{listed}</ul>", "alarm") if listed else ""


def _warning(text: str) -> str:
    """A long one is folded: a wall of names hides what stands behind it."""
    if len(text) <= LONG:
        return safe(text)
    cut = text[:LONG].rsplit(" ", 1)[0]
    return f"<details><summary>{safe(cut)} …</summary>{safe(text[len(cut) :])}</details>"


def name_of(certificate: TableCertificate) -> str:
    """What the data are called: by their keeper, else by the released file."""
    return certificate.name or certificate.release.file


def _heading(certificate: TableCertificate) -> str:
    said = verdict(certificate)
    file = f" · {safe(certificate.release.file)}" if certificate.name else ""
    brand = f'<p class="kicker"><span class="brand">shoal</span> · protection report · {safe(certificate.created)}{file}</p>'
    box = f'<div class="verdict {said.colour}"><b>{safe(said.headline)}</b><p>{safe(said.why)}</p></div>'
    above = f'<p class="above">{safe(certificate.unit.warning)}</p>' if certificate.unit.warning else ""
    return f"<header>{brand}<h1>{safe(name_of(certificate))}</h1>{above}{box}</header>"


def _facts(certificate: TableCertificate) -> str:
    """One line each, in words."""
    facts = [
        ("Unit protected", safe(unit_protected(certificate).capitalize() + "."), ""),
        ("Households", safe(households_in_words(certificate)), "alarm" if households_can_be_told(certificate) else ""),
        ("Leaves unprotected", _leaves(certificate), "alarm" if certificate.leaves else ""),
        ("Worst attack", safe(attack_in_words(certificate)), ""),
        ("Outliers", safe(outliers_in_words(certificate)) if certificate.attacks else "", ""),
    ]
    rows = "".join(f'<div class="{kind}"><dt>{name}</dt><dd>{words}</dd></div>' for name, words, kind in facts if words)
    return f'<dl class="card facts">{rows}</dl>'


def _leaves(certificate: TableCertificate) -> str:
    lines = []
    for columns, what in leaves_in_words(certificate):
        named = ", ".join(f"<code>{safe(column)}</code>" for column in columns[:MOST_NAMED])
        more = f" and {counted(len(columns) - MOST_NAMED, 'more column')}" if len(columns) > MOST_NAMED else ""
        lines.append(f"<li>{named}{more}: {safe(what)}</li>")
    found = f"<ul>{''.join(lines)}</ul>" if lines else "No released column was found to give a protected one away. "
    return f"{found}{safe(columns_in_words(certificate))}"


def _tiles(certificate: TableCertificate) -> str:
    shown = "".join(
        f'<div class="tile {tile.kind}"><span>{safe(tile.name)}</span><b>{safe(tile.value)}</b>'
        f"{''.join(f'<small>{safe(note)}</small>' for note in tile.notes)}</div>"
        for tile in _figures(certificate)
    )
    return f'<div class="tiles">{shown}</div>'


def _figures(certificate: TableCertificate) -> Iterator[_Tile]:
    """The figures to see first, each with its unit."""
    release, summary, unit = certificate.release, certificate.summary, certificate.unit
    held = f"of {counted(unit.persons, 'person')}, " if unit.persons else ""
    yield _Tile("Released", counted(release.rows, "row"), (f"{held}{counted(len(release.columns), 'column')}",))
    promise, classes = main_promise(certificate), class_sizes_of(certificate)
    if promise:
        over = f"found {number(promise.found)}, over {counted(len(promise.columns), 'column')}"
        yield _Tile("Promised k", f"{number(promise.value)} {promise.counts}", (over,), "" if promise.holds else "alarm")
    if classes and classes.value is not None:
        uniques = classes.details["uniques"]
        words = f"unique: {size_of(uniques, classes)}", f"classes: {number(classes.details['classes'])}"
        yield _Tile("Smallest class", size_of(classes.value, classes), words, "alarm" if uniques else "")
    attack = worst_attack(certificate)
    if attack:
        named = summary.risk is not None and attack.name == summary.risk_attack
        rate, low, high = (summary.risk, summary.risk_low, summary.risk_high) if named else (attack.rate, *attack.interval)
        spread = () if low is None else (f"95\u00a0%: {percent_range(low, high)}",)
        alarm = "alarm" if found_more_than_promised(certificate) else ""
        yield _Tile("Worst attack", percent(rate), (*spread, f"blind guessing {percent(attack.chance)}"), alarm)
    if summary.outlier_risk is not None:
        far = next((one for one in certificate.attacks if one.name == summary.outlier_attack), None)
        yield _Tile(
            "Worst attack, outliers", percent(summary.outlier_risk), (f"of {counted(summary.outliers, far.unit[:-1] if far else 'row')}",)
        )
    if summary.loss is not None:
        title = next((measure.title for measure in certificate.measures if measure.name == summary.loss_measure), "")
        yield _Tile("Information loss", decimal(summary.loss), (f"{title}; lower is better",))
