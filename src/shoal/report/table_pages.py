"""The report as one HTML page that needs nothing else: no script, no font, no link, nothing fetched.

public_report may be published beside the release; internal_report adds what may not; comparison_report sets runs side by side.
They are three functions over the same sections. Nothing is computed here that the certificate does not already say.
"""

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.report.drawing import decimal, number, percent, percent_range, safe
from shoal.report.figures import BeforeAfter, Rate, RiskUtility, before_after, class_sizes, frontier, linkage_rates, loss_bars, ru_map
from shoal.report.page import card, count, figure, numeral, page, table, words
from shoal.report.telling_columns import lattice, leak_bars
from shoal.runs.patterns import Pattern, Patterns

OPEN_COLUMNS = 6
PATTERNS = 5  # at either end


@dataclass(frozen=True, slots=True)
class RecordRisk:
    """One record that an attack found, for the eyes of the data's keeper only."""

    row: int
    risk: float
    found_by: str


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


def public_report(certificate: Mapping[str, Any], columns: Sequence[BeforeAfter], patterns: Patterns | None = None) -> str:
    """The page that may be published beside the release."""
    return page(f"{_file(certificate)}: protection report", "", _release_sections(certificate, columns, _released_patterns(patterns)))


def internal_report(
    certificate: Mapping[str, Any],
    columns: Sequence[BeforeAfter],
    riskiest: Sequence[RecordRisk],
    patterns: Patterns | None = None,
    leaks: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The same page with the riskiest records and what is known from the original, for the data's keeper. It must not be published."""
    head, *rest = _release_sections(certificate, columns, _covered_patterns(patterns))
    return page(f"Internal: {_file(certificate)}", "Internal: do not publish", [head, _riskiest(riskiest), *map(_leaks, leaks), *rest])


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


# ---- the page and its small parts --------------------------------------------------------------------------------------------


def _columns(names: Sequence[Any]) -> str:
    chips = f'<span class="names">{" ".join(f"<code>{safe(name)}</code>" for name in names)}</span>'
    return chips if len(names) <= OPEN_COLUMNS else f"<details><summary>{len(names)} columns</summary>{chips}</details>"


# ---- reading a certificate that may lack anything ----------------------------------------------------------------------------


def _map(holder: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = holder.get(key)
    return value if isinstance(value, Mapping) else {}


def _list(holder: Mapping[str, Any], key: str) -> list[Any]:
    value = holder.get(key)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def _items(holder: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [item for item in _list(holder, key) if isinstance(item, Mapping)]


def _value(holder: Mapping[str, Any], key: str) -> float | None:
    value = holder.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value) else None


def _pair(holder: Mapping[str, Any], key: str) -> tuple[float | None, float | None]:
    pair = _list(holder, key)
    return (_value({"v": pair[0]}, "v"), _value({"v": pair[1]}, "v")) if len(pair) == 2 else (None, None)


def _said(value: object) -> str:
    """A promised, found or parameter value, whatever its type."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else text[:199] + "…"


def _title(item: Mapping[str, Any]) -> str:
    return str(item.get("title") or item.get("name") or "unnamed")


def _file(certificate: Mapping[str, Any]) -> str:
    return str(_map(certificate, "release").get("file") or "release.csv")


def _named(items: Sequence[Mapping[str, Any]], name: object) -> Mapping[str, Any]:
    return next((item for item in items if item.get("name") == name), {})


def _main_promise(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    """The k-anonymity to show first: a broken one, else the strongest."""
    kept = [p for p in _items(certificate, "promises") if p.get("what") == "k-anonymity"]
    return max(kept, key=lambda p: (p.get("holds") is not True, _value(p, "value") or 0), default={})


def _strongest(certificate: Mapping[str, Any]) -> Mapping[str, Any]:
    attacks = _items(certificate, "attacks")
    chosen = _named(attacks, _map(certificate, "summary").get("risk_attack"))
    return chosen or max(attacks, key=lambda a: _value(a, "rate") or 0, default={})


# ---- the sections of a release -----------------------------------------------------------------------------------------------


def _release_sections(certificate: Mapping[str, Any], columns: Sequence[BeforeAfter], patterns: str) -> list[str]:
    return [
        _heading(certificate) + _tiles(certificate), _warnings(certificate), _promises(certificate), _steps(certificate),
        _pictures(certificate, columns), patterns, _measures(certificate), _attacks(certificate), _check(certificate), _provenance(certificate),
    ]  # fmt: skip


def _heading(certificate: Mapping[str, Any]) -> str:
    promises = _items(certificate, "promises")
    broken = [p for p in promises if p.get("holds") is not True]
    if broken:
        first = broken[0]
        promised, found = _said(first.get("value")), _said(first.get("found"))
        mood, word = "bad", "Do not publish this file."
        fails = f"{len(broken)} of {count(len(promises), 'promise')} {'does' if len(broken) == 1 else 'do'} not hold"
        why = f"{fails}: {first.get('what') or 'unnamed'} promised {promised}, found {found}."
    elif promises:
        quasi = _list(_map(certificate, "roles"), "quasi")
        covered = max((sum(column in _list(p, "columns") for column in quasi) for p in promises), default=0)
        mood, word = "good", "Every promise holds."
        why = "Each was checked again on the rows of the released file."
        if covered < len(quasi):
            smallest = _value(_named(_items(certificate, "measures"), "k-anonymity"), "value")
            mood, word = "quiet", "What is promised holds, over some columns only."
            why = f"No promise covers all {len(quasi)} quasi-identifiers; over all of them the smallest class is {_said(smallest)}."
    else:
        mood, word = "quiet", "Nothing is promised."
        why = "The methods used give no guarantee, so only the attacks can speak for this release."
    sentence = f'<p class="verdict"><span class="{mood}">{word}</span> {safe(why)} {safe(_attack_sentence(certificate))}</p>'
    kicker = " · ".join(filter(None, ["protection report", str(certificate.get("created") or "")]))
    brand = f'<p class="kicker"><span class="brand">shoal</span> · {safe(kicker)}</p>'
    return f"<header>{brand}<h1>{safe(_file(certificate))}</h1>{sentence}</header>"


def _attack_sentence(certificate: Mapping[str, Any]) -> str:
    attack = _strongest(certificate)
    rate, chance, (low, _) = _value(attack, "rate"), _value(attack, "chance"), _pair(attack, "interval")
    if rate is None:
        return "No attack was tried on it."
    text = f"The strongest linkage ({_title(attack)}) succeeds on {percent(rate)} of its tries"
    if chance is None:
        return text + "."
    if low is not None and low <= chance:
        return f"{text}, which cannot be told from blind guessing ({percent(chance)})."
    return f"{text}; blind guessing would succeed on {percent(chance)}."


def _tiles(certificate: Mapping[str, Any]) -> str:
    release, summary, measures = _map(certificate, "release"), _map(certificate, "summary"), _items(certificate, "measures")
    promise, anonymity, attack = _main_promise(certificate), _named(measures, "k-anonymity"), _strongest(certificate)
    loss, loss_name = _value(summary, "loss"), summary.get("loss_measure")
    loss_title = _title(_named(measures, loss_name) or {"name": loss_name})
    risk = _value(summary, "risk") if _value(summary, "risk") is not None else _value(attack, "rate")
    low, high = _value(summary, "risk_low"), _value(summary, "risk_high")
    low, high = (low, high) if low is not None and high is not None else _pair(attack, "interval")
    details = _map(anonymity, "details")
    uniques, classes, chance = _value(details, "uniques"), _value(details, "classes"), _value(attack, "chance")
    notes = ["" if low is None else f"95\u00a0%: {percent_range(low, high)}", "" if chance is None else f"blind guessing {percent(chance)}"]
    broken = "alarm" if promise and promise.get("holds") is not True else ""
    tiles = [
        ("Records", _value(release, "rows"), number, f"in {count(len(_list(release, 'columns')), 'column')}", ""),
        ("Promised k", _value(promise, "value"), number, f"found {_said(promise.get('found'))}", broken),
        ("Smallest class", _value(anonymity, "value"), number, f"of {number(classes)} in all" if classes else "", ""),
        ("Unique records", uniques, number, "fewer is better", "alarm" if uniques else ""),
        ("Information loss", loss, decimal, f"{loss_title}; lower is better", ""),
        ("Highest linkage rate", risk, percent, "\n".join(filter(None, notes)), ""),
    ]
    shown = "".join(
        f'<div class="tile {kind}"><span>{name}</span><b>{safe(form(value))}</b>'
        f"{''.join(f'<small>{safe(line)}</small>' for line in note.splitlines())}</div>"
        for name, value, form, note, kind in tiles
        if value is not None
    )
    return f'<div class="tiles">{shown}</div>' if shown else ""


def _warnings(certificate: Mapping[str, Any]) -> str:
    warnings = _list(certificate, "warnings")
    return card("Read this first", f"<ul>{''.join(f'<li>{safe(w)}</li>' for w in warnings)}</ul>", "alarm") if warnings else ""


def _promises(certificate: Mapping[str, Any]) -> str:
    rows = [
        (
            words(p.get("what") or "unnamed"), f'<td class="words">{_columns(_list(p, "columns"))}</td>', numeral(_said(p.get("value"))),
            numeral(_said(p.get("found"))), '<td class="good">holds</td>' if p.get("holds") is True else '<td class="bad">broken</td>',
        )
        for p in _items(certificate, "promises")
    ]  # fmt: skip
    if not rows:
        return card("What is promised", "<p>The methods used promise nothing that can be checked on the released rows.</p>")
    return card("What is promised", table(["Promise", "Over the columns", "#Promised", "#Found", "Verdict"], rows))


def _steps(certificate: Mapping[str, Any]) -> str:
    items = []
    for step in _items(certificate, "steps"):
        settings = ", ".join(f"{name} = {_said(value)}" for name, value in _map(step, "parameters").items())
        gives = ", ".join(map(str, _list(step, "guarantees"))) or "no guarantee"
        names = _list(step, "columns")
        items.append(
            f"<li><b>{safe(step.get('method') or 'unnamed')}</b>{' with ' if settings else ''}<code>{safe(settings)}</code> "
            f'<span class="quiet">({safe(gives)})</span><br/>{safe(step.get("summary") or "")} {_columns(names) if names else ""}</li>'
        )
    roles, lines = _map(certificate, "roles"), []
    for role, called in (
        ("quasi", "Quasi-identifiers"),
        ("confidential", "Confidential"),
        ("weight", "Weight"),
        ("household", "Household"),
    ):
        if _list(roles, role):
            lines.append(f"<tr><td>{called}</td><td>{_columns(_list(roles, role))}</td></tr>")
    removed = _value(roles, "identifiers_removed")
    if removed:
        lines.append(f"<tr><td>Identifiers</td><td>{count(int(removed), 'column')} removed</td></tr>")
    table = f'<div class="scroll"><table class="roles"><tbody>{"".join(lines)}</tbody></table></div>' if lines else ""
    done = f'<ol class="steps">{"".join(items)}</ol>' if items else "<p>No protection step is recorded.</p>"
    return card("What was done", done + table)


def _pictures(certificate: Mapping[str, Any], columns: Sequence[BeforeAfter]) -> str:
    summary, measures = _map(certificate, "summary"), _items(certificate, "measures")
    loss, risk = _value(summary, "loss"), _value(summary, "risk")
    shown: list[str] = []
    folded: list[str] = []
    rates = [
        Rate(_title(a), rate, *_pair(a, "interval"), _value(a, "chance"))
        for a in _items(certificate, "attacks")
        if (rate := _value(a, "rate")) is not None
    ]
    if rates:
        sentence = "How often each attack succeeds, with its 95\u00a0% interval; left is better, and at the dashed mark it learns nothing."
        shown.append(figure("What an intruder gets", sentence, linkage_rates(rates)))
    counts = _map(_map(_named(measures, "k-anonymity"), "details"), "histogram")
    sizes = {int(size): int(n) for size in counts if str(size).isdecimal() and (n := _value(counts, size))}
    if sizes:
        k = _value(_main_promise(certificate), "value")
        sentence = "Records in one class look the same to an intruder; bars to the right are better, and those at 1 stand out."
        shown.append(figure("Class sizes", sentence, class_sizes(sizes, None if k is None else int(k))))
    if loss is not None and risk is not None:
        low, high = _value(summary, "risk_low"), _value(summary, "risk_high")
        point = RiskUtility("this release", loss, risk, risk if low is None else low, risk if high is None else high)
        sentence = "What the release lost against what an intruder still gets; nearer the lower left corner is better."
        shown.append(figure("Risk against information loss", sentence, ru_map([point])))
    for measure in sorted(measures, key=lambda m: m.get("name") != summary.get("loss_measure")):
        each = _map(measure, "per_column")
        per_column = [(name, value) for name in each if (value := _value(each, name)) is not None]
        if per_column:
            better = {"lower": "shorter bars are better", "higher": "longer bars are better"}
            sentence = f"Each bar is one column; {better.get(str(measure.get('better')), 'no direction is better')}."
            picture = figure(f"{_title(measure)}, by column", sentence, loss_bars(per_column, _title(measure)))
            (shown if measure.get("name") == summary.get("loss_measure") else folded).append(picture)
    for i, column in enumerate(columns):
        apart = sum(abs(a - b) for a, b in zip(column.after, column.before)) / 2
        sentence = f"The bars before and after differ by {percent(apart)} of the records; the nearer they are, the better."
        (shown if i < OPEN_COLUMNS else folded).append(figure(column.column, sentence, before_after(column)))
    rest = f'<details><summary>{count(len(folded), "more picture")}</summary><div class="pictures">{"".join(folded)}</div></details>'
    if not shown and not folded:
        return ""
    return f'<section><h2>In pictures</h2><div class="pictures">{"".join(shown)}</div>{rest if folded else ""}</section>'


def _measures(certificate: Mapping[str, Any]) -> str:
    rows = []
    for m in _items(certificate, "measures"):
        low, high = _pair(m, "bounds")
        bounds = f"{'−∞' if low is None else number(low)} to {'∞' if high is None else number(high)}"
        low, high = _pair(m, "interval")
        spread = "" if low is None or high is None else f" ({number(low)}–{number(high)})"
        name = f'<td class="words">{safe(_title(m))}<br/><code class="quiet">{safe(m.get("name") or "")}</code></td>'
        better = f"<td>{safe(m.get('better') or '')}</td>"
        rows.append((name, numeral(number(_value(m, "value")) + spread), better, numeral(bounds), words(m.get("note") or "")))
    if not rows:
        return card("Measures", "<p>Nothing was measured.</p>")
    return card("Measures", table(["Measure", "#Value", "Better", "#Can range over", "Note"], rows))


def _attacks(certificate: Mapping[str, Any]) -> str:
    rows = []
    for a in _items(certificate, "attacks"):
        hit, strict = _value(a, "hit"), _value(a, "strict_hit")
        tied = hit is not None and strict is not None and strict != hit
        ties = f"{number(strict)} of the hits without a tie; a tie counts as its share." if tied else ""
        name = f'<td class="words">{safe(_title(a))}<br/><code class="quiet">{safe(a.get("name") or "")}</code></td>'
        rate, spread, chance = percent(_value(a, "rate")), percent_range(*_pair(a, "interval")), percent(_value(a, "chance"))
        cells = map(numeral, (number(_value(a, "tried")), number(hit), rate, spread, chance))
        rows.append((name, *cells, words(" ".join(filter(None, [ties, str(a.get("note") or "")])))))
    if not rows:
        return card("Attacks", "<p>No attack was tried, so nothing is known about what an intruder would get.</p>")
    note = "<p>A low rate is good; a rate near blind guessing means that the attack learned nothing.</p>"
    return card("Attacks", note + table(["Attack", "#Tried", "#Hit", "#Rate", "#95\u00a0% interval", "#Blind guessing", "Note"], rows))


def _released_patterns(patterns: Patterns | None) -> str:
    """What the release itself says: rules and how many records have them; those of one record only are not pointed at."""
    shared = [one for one in patterns.by("support") if one.support > 1] if patterns else []
    if not shared:
        return ""
    note = f"<p>Records that share all their cells, as rules: {count(len(shared), 'pattern')}, the largest and the smallest shown.</p>"
    rows = [(numeral(f"{one.support:,}"), words(one.rule)) for one in _ends(shared)]
    return card("Patterns", note + table(["#Records", "Pattern"], rows))


def _covered_patterns(patterns: Patterns | None) -> str:
    """With what only the original tells: who satisfies them."""
    if not patterns:
        return ""
    if patterns.satisfied is None:
        return card("Patterns", f"<p>{safe(patterns.note)}</p>")
    none, one, two, more = (f"{n:,}" for n in patterns.satisfied)
    note = (
        f"<p>{count(len(patterns.found), 'pattern')}, the most and the least covered shown. Of the original's records {none} satisfy no "
        f"pattern, {one} one, {two} two and {more} three or more; who satisfies several is hidden among the records of all of them, "
        f"and nobody who satisfies one among fewer than {number(patterns.smallest_set)}.</p>"
    )
    rows = [
        (numeral(f"{p.support:,}"), numeral(number(p.coverage)), numeral("" if p.purity is None else percent(p.purity)), words(p.rule))
        for p in _ends(patterns.by("coverage"))
    ]
    return card("Patterns", note + table(["#Records", "#Originals that satisfy it", "#Largest class", "Pattern"], rows))


def _ends(patterns: Sequence[Pattern]) -> list[Pattern]:
    return list(patterns) if len(patterns) <= 2 * PATTERNS else [*patterns[:PATTERNS], *patterns[-PATTERNS:]]


def _riskiest(records: Sequence[RecordRisk]) -> str:
    if not records:
        return card("Riskiest records", "<p>No record was singled out.</p>", "alarm")
    rows = [(numeral(f"{r.row:,}"), numeral(percent(r.risk)), words(r.found_by)) for r in sorted(records, key=lambda r: -r.risk)]
    note = "<p>These records are the easiest to find again. Protect them further, or leave them out, before the release goes out.</p>"
    return card("Riskiest records", note + table(["#Row", "#Risk", "Found by"], rows), "alarm slim")


def _leaks(found: Mapping[str, Any]) -> str:
    """What a learned linkage says about columns; with its weights a reader could attack, so it stays in the internal report."""
    said = "".join(f"<li>{safe(sentence)}</li>" for sentence in _list(found, "words"))
    weights = _map(found, "weights")
    pictures = figure(
        "Columns that give records away", "What the attack loses without a column, and what the column finds alone.", leak_bars(found)
    )
    if _items(found, "measure"):
        sentence = "A set of columns that weighs much tells records apart; digits stand for the columns in order."
        pictures += figure("Weights of sets of columns", sentence, lattice(_items(found, "measure")), "wide")
    rows = [(words(name), numeral(number(_value(weights, name)))) for name in weights]
    learned = table(["Column", "#Learned weight"], rows) if rows else ""
    return card("Which columns give records away", f'<ul>{said}</ul><div class="pictures">{pictures}</div>{learned}')


def _check(certificate: Mapping[str, Any]) -> str:
    command = f"shoal verify {shlex.quote(_file(certificate))} certificate.json"
    words = "This compares the file's hash and checks every promise again on the released rows. It needs nothing but the two files."
    return card("Check it yourself", f"<pre><code>{safe(command)}</code></pre><p>{words}</p>")


def _provenance(certificate: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in _map(certificate, "versions").items())
    digest = _map(certificate, "release").get("sha256")
    lines = [f"<p>Made with {safe(versions)}.</p>" if versions else ""]
    lines.append(f"<p>SHA-256 of {safe(_file(certificate))}: <code>{safe(digest)}</code></p>" if digest else "")
    return f'<footer class="quiet">{"".join(lines)}</footer>' if any(lines) else ""
