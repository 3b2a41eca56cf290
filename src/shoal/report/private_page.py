"""What only the data's keeper may read: the riskiest records beside what was released of them, and which columns give records away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import counted
from shoal.report.drawing import number, percent, safe
from shoal.report.page import card, figure, numeral, table, words
from shoal.report.telling_columns import lattice, leak_bars

ABREAST = 6  # columns of cells up to which two groups stand side by side
SAME = 1e-9  # weights closer than this are equal


@dataclass(frozen=True, slots=True)
class RiskGroup:
    """Records that look alike in the release and are equally easy to find, original beside released, and what to do about them."""

    risk: float
    found_by: str
    records: int  # originals that are found with this risk
    alike: int  # released rows that look so
    columns: tuple[str, ...]
    released: tuple[str, ...]  # the cells they share, one for each column
    originals: tuple[tuple[int, tuple[str, ...]], ...]  # row and cells, the first few
    because: str  # what its risk says of its class
    remedy: str
    persons: int | None = None  # whose rows look so, where that is known
    hidden_columns: int = 0
    suppressed: int = 0  # columns in which the release says nothing
    stands_out: str | None = None  # the column in which they are far from the others


@dataclass(frozen=True, slots=True)
class Riskiest:
    """The groups to look at first, and how many records and groups there are in all."""

    groups: tuple[RiskGroup, ...] = ()
    records: int = 0
    of: int = 0
    beyond: tuple[tuple[str, int], ...] = ()  # attacks that know more than the quasi-identifiers, and how many records they find so
    numbered: str = "in the original, without its header"  # where rows are counted
    none: str = "No record was singled out."  # what is said where there is no group


def riskiest_records(riskiest: Riskiest) -> str:
    """One block a group."""
    beyond = "".join(
        f"<p><b>{safe(name)}</b> finds {counted(records, 'record')} more often than 1 in the size of their class: it knows more than the "
        "quasi-identifiers. Protect or leave out what it knows; what follows is without it.</p>"
        for name, records in riskiest.beyond
    )
    if not riskiest.groups:
        return card("Riskiest records", beyond or f"<p>{safe(riskiest.none)}</p>")
    top = riskiest.groups[0].risk
    shown = len(riskiest.groups)
    rest = f"; the {shown} shown are the riskiest, and of equals the farthest from the middle" if riskiest.of > shown else ""
    note = (
        f"<p>Attacks find {counted(riskiest.records, 'record')} with some likelihood, {percent(top)} at most, in "
        f"{counted(riskiest.of, 'group')} of equal released cells and equal risk{rest}. Rows are counted from 1 "
        f"{riskiest.numbered}.</p>"
    )
    because = {group.because for group in riskiest.groups}
    shared = because.pop() if len(because) == 1 else ""  # what is true of all is said once
    wide = " wide" if max(len(group.columns) for group in riskiest.groups) > ABREAST else ""
    groups = "".join(_group(group, shared) for group in riskiest.groups)
    return card("Riskiest records", f'{beyond}{note}{f"<p>{safe(shared)}</p>" if shared else ""}<div class="groups{wide}">{groups}</div>')


def _group(group: RiskGroup, said: str) -> str:
    persons = f" of {counted(group.persons, 'person')}" if group.persons is not None else ""
    head = (
        f"<h3>{percent(group.risk)} <span>{counted(group.records, 'record')} in a class of {counted(group.alike, 'row')}{persons}, "
        f"found by {safe(group.found_by)}</span></h3>"
    )
    names = ["", *(f"*{name}" if name == group.stands_out else name for name in group.columns)]
    rows = [(_mark("released"), *map(_cell, group.released))]
    rows += [(_mark(f"row {row:,}"), *map(_cell, cells)) for row, cells in group.originals]
    more = [f"{counted(group.records - len(group.originals), 'more record')} like these"] if group.records > len(group.originals) else []
    more += [counted(group.hidden_columns, "more column")] if group.hidden_columns else []
    more += [counted(group.suppressed, "suppressed column")] if group.suppressed else []
    because = "" if group.because == said else f"<p>{safe(group.because)}</p>"
    left = f'<p class="quiet">Not shown: {", ".join(more)}.</p>' if more else ""
    return f'<div class="group">{head}{_cells(names, rows)}{left}{because}<p><b>Remedy.</b> {safe(group.remedy)}</p></div>'


def _cells(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Cells side by side, which a narrow screen scrolls; a name that begins with * stands out."""
    head = "".join(f'<th scope="col" class="bad">{safe(n[1:])}</th>' if n[:1] == "*" else f'<th scope="col">{safe(n)}</th>' for n in names)
    body = "".join(f"<tr{' class=' + chr(34) + 'released' + chr(34) if i == 0 else ''}>{''.join(row)}</tr>" for i, row in enumerate(rows))
    return f'<div class="scroll"><table class="cells"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _mark(text: str) -> str:
    return f'<th scope="row">{safe(text)}</th>'


def _cell(text: str) -> str:
    return f"<td>{safe(text).replace('|', '|<wbr/>').replace('..', '..<wbr/>')}</td>"  # sets and intervals may be broken there


def telling_columns(found: Mapping[str, Any]) -> str:
    """What a learned linkage says about columns; with its weights a reader could attack, so it stays with the keeper."""
    listed = "".join(f"<li>{safe(sentence)}</li>" for sentence in found.get("words", ()))
    pictures = figure(
        "Columns that give records away", "What the attack loses without a column, and what the column finds alone.", leak_bars(found)
    )
    if found.get("measure"):
        sentence = "A set of columns that weighs much tells records apart; digits stand for the columns in order."
        pictures += figure("Weights of sets of columns", sentence, lattice(found["measure"]), "wide")
    weights = _weights(found.get("weights", {}))
    return card("Which columns give records away", f'<ul>{listed}</ul><div class="pictures">{pictures}</div>{weights}')


def _weights(weights: Mapping[str, float]) -> str:
    """A table only where it tells something."""
    values = list(weights.values())
    if not values:
        return ""
    if len(values) > 1 and max(values) - min(values) <= SAME:
        return f"<p>All {len(values)} columns weigh the same in what was learned ({number(values[0])} each).</p>"
    ranked = sorted(weights.items(), key=lambda pair: -pair[1])
    return table(["Column", "#Learned weight"], [(words(name), numeral(number(weight))) for name, weight in ranked])
