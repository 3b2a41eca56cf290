"""The lattice of levels near the optimum, on one page for the data's keeper: a Hasse diagram, and a table of the same nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from shoal.errors import counted
from shoal.report.drawing import CARD, INK, MUTED, decimal, mark, number, percent, picture, rule, safe, shorten, text_at
from shoal.report.page import card, figure, numeral, page, table, words

NodeState = Literal["optimum", "kept", "lacking"]
ABREAST = 7  # nodes drawn in a row
WIDE, HIGH, APART, BETWEEN, LEFT = 128.0, 72.0, 6.0, 48.0, 78.0
SIGNS: Mapping[NodeState, str] = {"optimum": "★", "kept": "✓", "lacking": "✗"}
_COLOURS: Mapping[NodeState, tuple[str, str]] = {
    "optimum": ("var(--care,#8a5a00)", "var(--care-soft,#fdf1d8)"),
    "kept": ("var(--fine,#25713a)", "var(--fine-soft,#e4f3e8)"),
    "lacking": ("var(--warn,#b8412b)", "var(--warn-soft,#fbeae6)"),
}
BANNER = "Private. Exact figures of the original: keep this page with the data, and do not hand it out."


@dataclass(frozen=True, slots=True)
class ColumnLevels:
    """A column's levels: of each, how many groups it has, and names of a few."""

    column: str
    groups: tuple[int, ...]
    named: tuple[tuple[str, ...], ...]

    def __getitem__(self, level: int) -> str:
        """A level in words."""
        if level == 0:
            return "values as they are"
        if level == len(self.groups) - 1:
            return "*, everything"
        names = ", ".join(self.named[level])
        return f"{counted(self.groups[level], 'group')}{f', such as {names}' if names else ''}"


@dataclass(frozen=True, slots=True)
class LatticeNode:
    """A level for each column, and what comes of it: classes that keep too little are suppressed, and counted in nothing else."""

    levels: tuple[int, ...]
    state: NodeState
    loss: float
    suppressed: int
    classes: int
    smallest: int  # 0 where no class is left
    l: tuple[int, ...]  # noqa: E741 - of each confidential column, the fewest different values in a class
    t: tuple[float, ...]  # of each confidential column, the largest distance of a class from the whole table
    steps: int  # up or down, from the optimum


@dataclass(frozen=True, slots=True)
class Lattice:
    """The optimum first, then nodes near it: those that keep what is asked, the least loss first, then those that do not."""

    columns: tuple[ColumnLevels, ...]
    confidential: tuple[str, ...]
    asked: Mapping[str, Any]  # k, and parameters that were given
    loss: str
    records: int
    records_are: str  # rows or persons: what is suppressed
    unit: str  # rows or persons: what a class has so many of
    limit: int  # records that may be suppressed
    nodes: tuple[LatticeNode, ...]
    size: int  # of the whole lattice, between the lowest and the highest levels
    left_out: int  # nodes that the search for the optimum neither looked at nor ruled out
    gap: float | None  # what a better node could lose less, as a share; None: there is none
    warnings: tuple[str, ...] = ()

    @property
    def optimum(self) -> LatticeNode:
        """What `recoding` releases."""
        return self.nodes[0]


def changes(lattice: Lattice, node: LatticeNode) -> list[tuple[str, str]]:
    """Of a node, the columns that stand at another level than at the optimum; of the optimum, all columns and their levels."""
    names = [one.column for one in lattice.columns]
    if node.state == "optimum":
        return [(name, str(level)) for name, level in zip(names, node.levels)]
    return [(name, f"{was}→{now}") for name, was, now in zip(names, lattice.optimum.levels, node.levels) if was != now]


def in_words(lattice: Lattice, node: LatticeNode) -> str:
    """The same as text."""
    return ", ".join(f"{name} {levels}" for name, levels in changes(lattice, node))


def state_in_words(lattice: Lattice, state: NodeState) -> str:
    """What a colour stands for, without the colour."""
    optimum = "the optimum" if lattice.gap is None else "the best found"
    return {"optimum": optimum, "kept": "keeps what is asked", "lacking": "suppresses too many"}[state]


def verdict_on(lattice: Lattice) -> str:
    """What would be released, and how sure it is that nothing is better."""
    best = lattice.optimum
    asked = ", ".join(f"{key} = {value}" for key, value in lattice.asked.items() if key not in ("suppress", "seconds"))
    sure = (
        "No other choice of levels that keeps this loses less."
        if lattice.gap is None
        else f"That nothing loses less is not proven: another choice could lose up to {lattice.gap:.0%} less."
    )
    less = sum(node.state == "kept" and node.loss < best.loss for node in lattice.nodes)
    if less:
        sure += f" {less:,} of the nodes shown {'does' if less == 1 else 'do'}."
    return (
        f"With {asked}, recoding loses {decimal(best.loss)} ({lattice.loss}) and suppresses {best.suppressed:,} of {lattice.records:,} "
        f"{lattice.records_are}, where {lattice.limit:,} may be. {sure}"
    )


def looked_at(lattice: Lattice) -> str:
    """How much of the lattice is shown, and what was not looked at."""
    rest = lattice.size - len(lattice.nodes)
    steps = max(node.steps for node in lattice.nodes)
    unseen = (
        f"the search for the best left out {counted(lattice.left_out, 'node')}, neither looked at nor ruled out"
        if lattice.left_out
        else "the search for the optimum looked at them or ruled them out"
    )
    shown = f"The lattice has {counted(lattice.size, 'node')}; {counted(len(lattice.nodes), 'node')} {'is' if len(lattice.nodes) == 1 else 'are'} shown"
    if not rest:
        return f"{shown}: all of it."
    return f"{shown}, none more than {counted(steps, 'step')} from the first. Of the other {rest:,} no figures were counted; {unseen}."


def lattice_page(lattice: Lattice) -> str:
    """One page that opens offline; it holds counts and the names of groups, but no cell of the original that is not such a name."""
    head = '<header><p class="kicker"><span class="brand">shoal</span> · lattice</p><h1>The lattice near the optimum</h1>'
    sections = [f'{head}<p class="verdict">{safe(verdict_on(lattice))}</p></header>']
    best = state_in_words(lattice, "optimum")
    sentence = (
        f"Each box is a choice of levels and says how it differs from {best}. A line joins two that differ by one level of one column; "
        "coarser is higher up, and in each row those that lose least stand to the left, those that suppress too many to the right."
    )
    sections.append(f"<div>{figure('Levels, loss and suppression', sentence, hasse(lattice) + _legend(lattice), 'wide lattice')}</div>")
    sections.append(card("The nodes", f"<p>{safe(_about_nodes(lattice))}</p>{_nodes(lattice)}"))
    sections.append(card("The levels", f"<p>{safe(f'What each level of a column is; that of {best} is marked ★.')}</p>{_levels(lattice)}"))
    notes = [looked_at(lattice), *lattice.warnings]
    sections.append(card("What was not looked at, and what to know", f"<ul>{''.join(f'<li>{safe(one)}</li>' for one in notes)}</ul>"))
    return page("The lattice near the optimum", BANNER, sections)


def hasse(lattice: Lattice) -> str:
    """Nodes by the sum of their levels, the coarsest on top."""
    rows, hidden = _rows(lattice.nodes)
    place: dict[LatticeNode, tuple[float, float]] = {}
    for i, total in enumerate(sorted(rows, reverse=True)):
        place |= {node: (LEFT + j * (WIDE + APART), 8 + i * (HIGH + BETWEEN)) for j, node in enumerate(rows[total])}
    marks = [_edge(place[low], place[high], lattice.optimum in (low, high)) for low in place for high in place if _covers(high, low)]
    middle = sum(lattice.optimum.levels)
    for i, total in enumerate(sorted(rows, reverse=True)):
        y = 8 + i * (HIGH + BETWEEN) + HIGH / 2
        apart = total - middle
        line = "same sum" if not apart else f"{counted(abs(apart), 'level')} {'up' if apart > 0 else 'down'}"
        marks.append(text_at(0, y, line, size=11.5, fill=INK, tip=f"The levels add up to {total}"))
        if hidden.get(total):
            marks.append(text_at(0, y + 15, f"{hidden[total]:,} more", size=11, tip="In the table only"))
    for node, (x, y) in place.items():
        marks += _box(lattice, node, x, y)
    across = LEFT + ABREAST * (WIDE + APART)
    described = f"{len(place)} nodes drawn of {len(lattice.nodes)} counted. {verdict_on(lattice)}"
    return picture(across, 16 + len(rows) * (HIGH + BETWEEN) - BETWEEN, "The lattice near the optimum", described, marks)


def _rows(nodes: Sequence[LatticeNode]) -> tuple[dict[int, list[LatticeNode]], dict[int, int]]:
    """The nodes drawn, by the sum of their levels, and how many of each sum have no room. Half of a row is for those that keep what is asked."""
    rows: dict[int, list[LatticeNode]] = {}
    hidden = {}
    for total in {sum(node.levels) for node in nodes}:
        here = [node for node in nodes if sum(node.levels) == total]
        kept, lacking = [node for node in here if node.state != "lacking"], [node for node in here if node.state == "lacking"]
        room = max(ABREAST // 2, ABREAST - len(lacking))
        rows[total] = [*kept[:room], *lacking[: ABREAST - len(kept[:room])]]
        hidden[total] = len(here) - len(rows[total])
    return rows, hidden


def _covers(high: LatticeNode, low: LatticeNode) -> bool:
    apart = [a - b for a, b in zip(high.levels, low.levels) if a != b]
    return apart == [1]


def _edge(low: tuple[float, float], high: tuple[float, float], of_optimum: bool) -> str:
    stroke, width = (_COLOURS["optimum"][0], 1.6) if of_optimum else ("var(--before,#8a9fae)", 0.7)
    return rule(low[0] + WIDE / 2, low[1], high[0] + WIDE / 2, high[1] + HIGH, stroke, width)


def _box(lattice: Lattice, node: LatticeNode, x: float, y: float) -> list[str]:
    """Its sign and loss, how it differs from the optimum, and what it suppresses."""
    ink, soft = _COLOURS[node.state]
    tip = _tip(lattice, node)
    thick = 2.2 if node.state == "optimum" else 1.0
    shown = [(state_in_words(lattice, "optimum"), "")] if node.state == "optimum" else changes(lattice, node)
    rate = f"{percent(node.suppressed / lattice.records)} suppressed"
    return [
        mark("rect", tip, x=x, y=y, width=WIDE, height=HIGH, rx=7.0, fill=CARD),
        mark("rect", tip, x=x, y=y, width=WIDE, height=HIGH, rx=7.0, fill=soft, stroke=ink, stroke_width=thick),
        text_at(x + 7, y + 17, SIGNS[node.state], size=13, fill=ink, tip=tip, extra=' font-weight="700"'),
        text_at(x + WIDE - 7, y + 17, decimal(node.loss), "end", 12.5, INK, tip, ' font-weight="600"'),
        *(text_at(x + 7, y + 33 + 14 * i, _fitting(*one), size=11, fill=INK, tip=tip) for i, one in enumerate(shown)),
        text_at(x + 7, y + HIGH - 8, rate, size=10.5, fill=MUTED, tip=tip),
    ]


def _fitting(name: str, levels: str) -> str:
    """A column and its levels; the name is cut where there is no room."""
    return f"{shorten(name, WIDE - 14 - 7.5 * len(levels), 11)} {levels}".rstrip()


def _tip(lattice: Lattice, node: LatticeNode) -> str:
    """All there is to say of a node."""
    levels = "; ".join(f"{one.column}: {one[level]}" for one, level in zip(lattice.columns, node.levels))
    kept = "; ".join(
        f"{column}: l = {l}, t = {number(t)}"
        for column, l, t in zip(lattice.confidential, node.l, node.t)  # noqa: E741
    )
    figures = (
        f"{state_in_words(lattice, node.state)}; loss {number(node.loss)}; {_suppressed(lattice, node)}; "
        f"{counted(node.classes, 'class', 'classes')}, the smallest of {node.smallest:,} {lattice.unit}"
    )
    return f"{figures}{'; ' + kept if kept else ''}. {levels}"


def _suppressed(lattice: Lattice, node: LatticeNode) -> str:
    return f"{node.suppressed:,} of {lattice.records:,} {lattice.records_are} suppressed ({percent(node.suppressed / lattice.records)})"


def _legend(lattice: Lattice) -> str:
    """Colours, signs and words."""
    said: dict[NodeState, str] = {
        "optimum": f"{state_in_words(lattice, 'optimum')}: what recoding releases",
        "kept": f"keeps what is asked: at most {lattice.limit:,} {lattice.records_are} are suppressed",
        "lacking": f"suppresses more than {lattice.limit:,} {lattice.records_are}: would not be released",
    }
    return (
        '<p class="keys">'
        + " ".join(f'<span class="key {state}">{SIGNS[state]} {safe(text)}</span>' for state, text in said.items())
        + "</p>"
    )


def _about_nodes(lattice: Lattice) -> str:
    close = ", and t the largest distance of a class from the whole table" if lattice.confidential else ""
    diverse = f" Of a confidential column, l is the fewest different values in a class{close}." if lattice.confidential else ""
    return (
        f"Classes that keep too little are suppressed; smallest class{', l and t are' if lattice.confidential else ' is'} of those that are left.{diverse} "
        f"{state_in_words(lattice, 'optimum').capitalize()} is first, then what keeps what is asked, the least loss first, then what does not."
    )


def _nodes(lattice: Lattice) -> str:
    names = ["Node", "#Loss", f"#Suppressed, {lattice.records_are}", "#Share", f"#Smallest class, {lattice.unit}"]
    names += [f"#{what} of {column}" for column in lattice.confidential for what in ("l", "t")]
    body = []
    for node in lattice.nodes:
        kept = [numeral(cell) for l, t in zip(node.l, node.t) for cell in (f"{l:,}", decimal(t))]  # noqa: E741
        sign = f'<td class="words"><span class="key {node.state}">{SIGNS[node.state]}</span> {safe(in_words(lattice, node))}</td>'
        figures = (decimal(node.loss), f"{node.suppressed:,}", percent(node.suppressed / lattice.records), f"{node.smallest:,}")
        body.append((sign, *map(numeral, figures), *kept))
    return table(names, body)


def _levels(lattice: Lattice) -> str:
    body = [
        (words(one.column if not level else ""), numeral(f"{level}{' ★' if level == chosen else ''}"), words(one[level]))
        for one, chosen in zip(lattice.columns, lattice.optimum.levels)
        for level in range(len(one.groups))
    ]
    return table(["Column", "#Level", "What it shows"], body)
