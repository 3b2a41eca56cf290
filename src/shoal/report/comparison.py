"""Several runs on one page: the map of risk against loss, and the table of what each score is made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.report.drawing import decimal, number, percent, percent_range, safe
from shoal.report.figures import RiskUtility, frontier, ru_map
from shoal.report.page import card, count, figure, numeral, page, table, words


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One run among several: its loss, its risk with the interval, its smallest class and its score (lower is better)."""

    label: str
    loss: float
    risk: float
    risk_low: float
    risk_high: float
    k: int
    score: float


def comparison_report(rows: Sequence[ComparisonRow]) -> str:
    """Several runs on one map and in one table, the best balance first."""
    points = [RiskUtility(r.label, r.loss, r.risk, r.risk_low, r.risk_high) for r in rows]
    best = set(frontier(points))
    ranked = sorted(range(len(rows)), key=lambda i: (math.isnan(rows[i].score), rows[i].score))
    if not rows:
        verdict = "There is no run to compare."
    else:
        first = rows[ranked[0]]
        verdict = (
            f"{len(best)} of {count(len(rows), 'run')} {'is' if len(best) == 1 else 'are'} beaten by no other: "
            "less loss is to be had only for more risk, and less risk only for more loss. "
            f"The best balance is {first.label}, with a score of {decimal(first.score)}."
        )
    head = f'<header><p class="kicker"><span class="brand">shoal</span> · comparison</p><h1>{count(len(rows), "run")} compared</h1>'
    sections = [f'{head}<p class="verdict">{safe(verdict)}</p></header>']
    if rows:
        sentence = "Each mark is one run, with the 95\u00a0% interval of its risk; nearer the lower left corner is better."
        sections.append(f"<div>{figure('Risk against information loss', sentence, ru_map(points), 'wide')}</div>")
        body = [
            (
                words(rows[i].label), numeral(decimal(rows[i].score)), numeral(decimal(rows[i].loss)), numeral(percent(rows[i].risk)),
                numeral(percent_range(rows[i].risk_low, rows[i].risk_high)), numeral(number(rows[i].k)),
                '<td class="good">no</td>' if i in best else '<td class="quiet">yes</td>',
            )
            for i in ranked
        ]  # fmt: skip
        names = ["Run", "#Score", "#Loss", "#Risk", "#95\u00a0% interval", "#Smallest class", "Beaten by another"]
        note = "<p>Lower score, loss and risk are better; a larger smallest class is better.</p>"
        sections.append(card("Runs, best balance first", note + table(names, body)))
    return page("Comparison of runs", "", sections)
