"""Several runs on one page: the map of risk against loss, and the table of what each score is made of."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.report.drawing import decimal, number, percent, percent_range, safe
from shoal.report.figures import RiskUtility, frontier, ru_map
from shoal.report.page import card, count, figure, numeral, page, table, words
from shoal.score import overall_score

NAMED = 3  # runs that share the first place and are named


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One run among several: its loss, its disclosure risk with the interval, its smallest class; NaN where there is none.

    The loss is the same measure in all runs, and the risk of the same attacks, else scores could not be held against each other.
    """

    label: str
    loss: float
    risk: float
    risk_low: float
    risk_high: float
    k: int
    loss_measure: str = ""
    risk_of: tuple[str, ...] = ()
    worst: float = math.nan  # what the strongest linkage attack of all finds, in any of its forms
    worst_attack: str = ""

    @property
    def score(self) -> float:
        """The plain mean of loss and risk; lower is better."""
        return overall_score(self.loss, self.risk)

    @property
    def score_interval(self) -> tuple[float, float]:
        """From the interval of the risk; the loss is known exactly."""
        return overall_score(self.loss, self.risk_low), overall_score(self.loss, self.risk_high)


def ranked(rows: Sequence[ComparisonRow]) -> list[ComparisonRow]:
    """The best balance first, runs without a score last."""
    return sorted(rows, key=lambda row: (math.isnan(row.score), row.score))


def verdict(rows: Sequence[ComparisonRow]) -> str:
    """Which run has the best balance, if one can be told from the others: where intervals overlap, none can."""
    scored = [row for row in ranked(rows) if not math.isnan(row.score)]
    if not scored:
        return "No run has a score: no loss or no attack is common to all of them."
    first = scored[0]
    high = first.score_interval[1]
    near = [row for row in scored[1:] if row.score_interval[0] <= high]
    if near:
        names = [row.label for row in (first, *near)]
        shown = names if len(names) <= NAMED else [*names[: NAMED - 1], f"{len(names) - NAMED + 1} others"]
        return f"No clear winner between {', '.join(shown[:-1])} and {shown[-1]}: the intervals of their scores overlap."
    return f"The best balance is {first.label}, with a score of {decimal(first.score)} (95 % interval {_range(first)})."


def made_of(rows: Sequence[ComparisonRow]) -> str:
    """What loss and risk are, in words."""
    if not rows or not rows[0].loss_measure:
        return ""
    risk = " and ".join(rows[0].risk_of) or "no attack"
    return f"The score is the mean of loss ({rows[0].loss_measure}) and disclosure risk ({risk}); lower is better."


def comparison_report(rows: Sequence[ComparisonRow]) -> str:
    """Several runs on one map and in one table, the best balance first."""
    points = [RiskUtility(r.label, r.loss, r.risk, r.risk_low, r.risk_high) for r in rows]
    unbeaten = [rows[i] for i in frontier(points)]
    said = "There is no run to compare."
    if rows:
        said = (
            f"{len(unbeaten)} of {count(len(rows), 'run')} {'is' if len(unbeaten) == 1 else 'are'} beaten by no other: "
            f"less loss is to be had only for more risk, and less risk only for more loss. {verdict(rows)}"
        )
    head = f'<header><p class="kicker"><span class="brand">shoal</span> · comparison</p><h1>{count(len(rows), "run")} compared</h1>'
    sections = [f'{head}<p class="verdict">{safe(said)}</p></header>']
    if rows:
        sentence = "Each mark is one run, with the 95\u00a0% interval of its risk; nearer the lower left corner is better."
        sections.append(f"<div>{figure('Disclosure risk against information loss', sentence, ru_map(points), 'wide')}</div>")
        body = [
            (
                words(row.label), numeral(decimal(row.loss)), numeral(percent(row.risk)), numeral(percent_range(row.risk_low, row.risk_high)),
                numeral(decimal(row.score)), numeral(_range(row)), numeral(number(row.k)), numeral(percent(row.worst)), words(row.worst_attack),
                '<td class="good">no</td>' if row in unbeaten else '<td class="quiet">yes</td>',
            )
            for row in ranked(rows)
        ]  # fmt: skip
        names = [
            "Run",
            "#Loss",
            "#Risk",
            "#95\u00a0% interval",
            "#Score",
            "#95\u00a0% interval",
            "#Smallest class",
            "#Highest linkage",
            "By",
            "Beaten by another",
        ]
        note = f"<p>{safe(made_of(rows))} A larger smallest class is better.</p>"
        sections.append(card("Runs, best balance first", note + table(names, body)))
    return page("Comparison of runs", "", sections)


def _range(row: ComparisonRow) -> str:
    low, high = row.score_interval
    return "n/a" if math.isnan(low) or math.isnan(high) else f"{decimal(low)} to {decimal(high)}"
