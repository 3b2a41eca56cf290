"""The report as one HTML page that needs nothing else: no script, no font, no link, nothing fetched.

public_report may be published beside the release; internal_report adds what may not.
They are two functions over the same sections. Nothing is computed here that the certificate does not already say.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shoal.certificate import TableCertificate
from shoal.published import WITHHELD
from shoal.report.drawing import number, percent, percent_range, safe
from shoal.report.figures import BeforeAfter, Rate, RiskUtility, before_after, class_sizes, linkage_rates, loss_bars, ru_map, whole_percent
from shoal.report.first_screen import first_screen, name_of, warnings
from shoal.report.page import OPEN_COLUMNS, card, column_names, count, figure, numeral, page, table, words
from shoal.report.private_page import Riskiest, riskiest_records, telling_columns
from shoal.report.verdict import class_sizes_of, main_promise, tried_by, unit_counted
from shoal.runs.patterns import Pattern, Patterns

PATTERNS = 5  # at either end


def public_report(certificate: TableCertificate, columns: Sequence[BeforeAfter], patterns: Patterns | None = None) -> str:
    """The page that may be published beside the release."""
    return page(f"{name_of(certificate)}: protection report", "", _release_sections(certificate, columns, _released_patterns(patterns)))


def internal_report(
    certificate: TableCertificate,
    columns: Sequence[BeforeAfter],
    riskiest: Riskiest,
    patterns: Patterns | None = None,
    telling: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The same page with the riskiest records and what is known from the original, for the data's keeper. It must not be published."""
    head, read_first, *rest = _release_sections(certificate, columns, _covered_patterns(patterns))
    return page(
        f"Internal: {name_of(certificate)}",
        "Internal: do not publish",
        [head, read_first, riskiest_records(riskiest), *map(telling_columns, telling), *rest],
    )


# ---- the sections of a release -----------------------------------------------------------------------------------------------


def _in_words(value: object) -> str:
    """A promised, found or parameter value, whatever its type."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return number(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 200 else text[:199] + "…"


def _release_sections(certificate: TableCertificate, columns: Sequence[BeforeAfter], patterns: str) -> list[str]:
    return [
        first_screen(certificate), warnings(certificate), _pictures(certificate, columns), _promises(certificate), _steps(certificate),
        patterns, _measures(certificate), _attacks(certificate), _check(certificate), _provenance(certificate),
    ]  # fmt: skip


def _promises(certificate: TableCertificate) -> str:
    rows = [
        (
            words(f"{p.what} of {p.about}" if p.about else p.what), f'<td class="words">{column_names(p.columns)}</td>',
            numeral(f"{_in_words(p.value)} {p.unit}"), numeral(f"{_in_words(p.found)} {p.unit}"),
            '<td class="good">holds</td>' if p.holds else '<td class="bad">broken</td>',
        )
        for p in certificate.promises
    ]  # fmt: skip
    if not rows:
        return card("What is promised", "<p>The methods used promise nothing that can be checked on the released rows.</p>")
    return card("What is promised", table(["Promise", "Over the columns", "#Promised", "#Found", "Verdict"], rows))


def _steps(certificate: TableCertificate) -> str:
    items = []
    for step in certificate.steps:
        settings = ", ".join(f"{name} = {_in_words(value)}" for name, value in step.parameters.items())
        gives = ", ".join(step.guarantees) or "no guarantee"
        items.append(
            f"<li><b>{safe(step.method)}</b>{' with ' if settings else ''}<code>{safe(settings)}</code> "
            f'<span class="quiet">({safe(gives)})</span><br/>{safe(step.summary)} {column_names(step.columns) if step.columns else ""}'
            f"{f'<br/>Found: {safe(step.finding)}' if step.finding else ''}</li>"
        )
    roles, lines = certificate.roles, []
    for called, named in (
        ("Quasi-identifiers", roles.quasi),
        ("Confidential", roles.confidential),
        ("Weight", roles.weight),
        ("Household", roles.household),
        ("Other, released as they are", roles.other),
    ):
        if named:
            lines.append(f"<tr><td>{called}</td><td>{column_names(named)}</td></tr>")
    if roles.identifiers_removed:
        lines.append(f"<tr><td>Identifiers</td><td>{count(roles.identifiers_removed, 'column')} removed</td></tr>")
    if roles.left_out:
        lines.append(f"<tr><td>Without a role</td><td>{count(roles.left_out, 'column')} left out</td></tr>")
    listed = f'<div class="scroll"><table class="roles"><tbody>{"".join(lines)}</tbody></table></div>' if lines else ""
    done = f'<ol class="steps">{"".join(items)}</ol>' if items else "<p>No protection step is recorded.</p>"
    return card("What was done", done + listed)


def _pictures(certificate: TableCertificate, columns: Sequence[BeforeAfter]) -> str:
    shown = [*_attack_pictures(certificate)]
    folded: list[str] = []
    main = certificate.summary.loss_measure
    for measure in sorted(certificate.measures, key=lambda one: one.name != main):
        if measure.per_column:
            better = {"lower": "shorter bars are better", "higher": "longer bars are better"}
            sentence = f"Each bar is one column; {better.get(measure.better, 'no direction is better')}."
            bars = loss_bars(list(measure.per_column.items()), measure.title)
            (shown if measure.name == main else folded).append(figure(f"{measure.title}, by column", sentence, bars))
    for i, column in enumerate(columns):
        apart = sum(abs(a - b) for a, b in zip(column.after, column.before)) / 2
        sentence = f"The bars before and after differ by {whole_percent(apart)} of the records; the nearer they are, the better. {column.how}".rstrip()
        (shown if i < OPEN_COLUMNS else folded).append(figure(column.column, sentence, before_after(column)))
    rest = f'<details><summary>{count(len(folded), "more picture")}</summary><div class="pictures">{"".join(folded)}</div></details>'
    if not shown and not folded:
        return ""
    return f'<section><h2>In pictures</h2><div class="pictures">{"".join(shown)}</div>{rest if folded else ""}</section>'


def _attack_pictures(certificate: TableCertificate) -> Iterator[str]:
    """Rates, class sizes, and risk against loss."""
    summary, classes = certificate.summary, class_sizes_of(certificate)
    rates = [Rate(a.title, a.rate, *a.interval, a.chance) for a in certificate.attacks]
    if rates:
        sentence = "How often each attack succeeds, with its 95\u00a0% interval; left is better, and at the dashed mark it learns nothing."
        yield figure("What an intruder gets", sentence, linkage_rates(rates))
    if classes and classes.details["histogram"]:
        sizes = {int(size): int(n) for size, n in classes.details["histogram"].items()}
        promise = main_promise(certificate)
        unit = unit_counted(classes)
        sentence = f"{unit.capitalize()} in one class look the same to an intruder; bars to the right are better, and those at 1 stand out."
        yield figure("Class sizes", sentence, class_sizes(sizes, int(promise.value) if promise else None, unit[:-1]))
    if summary.loss is not None and summary.risk is not None:
        low, high = (summary.risk if end is None else end for end in (summary.risk_low, summary.risk_high))
        sentence = "What the release lost against what an intruder still gets; nearer the lower left corner is better."
        point = RiskUtility("this release", summary.loss, summary.risk, low, high)
        yield figure("Risk against information loss", sentence, ru_map([point]))


def _measures(certificate: TableCertificate) -> str:
    rows = []
    for m in certificate.measures:
        if m.value is None:
            continue
        low, high = m.bounds
        bounds = f"{'−∞' if low is None else number(low)} to {'∞' if high is None else number(high)}"
        unit = f"Counted in {m.details['unit']}." if "unit" in m.details else ""
        spread = f" ({number(m.interval[0])}–{number(m.interval[1])})" if m.interval else ""
        name = f'<td class="words">{safe(m.title)}<br/><code class="quiet">{safe(m.name)}</code></td>'
        rows.append(
            (
                name,
                numeral(number(m.value) + spread),
                f"<td>{safe(m.better)}</td>",
                numeral(bounds),
                words(" ".join(filter(None, [unit, m.note]))),
            )
        )
    taken = table(["Measure", "#Value", "Better", "#Can range over", "Note"], rows) if rows else "<p>Nothing was measured.</p>"
    return card("Measures", taken + _without_value(certificate))


def _without_value(certificate: TableCertificate) -> str:
    """One line for all measures that have no value; why not is folded away."""
    without = [measure for measure in certificate.measures if measure.value is None]
    if not without:
        return ""
    reasons: dict[str, list[str]] = {}
    for measure in without:
        reasons.setdefault(measure.note or "No reason is given.", []).append(measure.name)
    listed = "".join(f"<li>{safe(', '.join(names))}: {safe(why)}</li>" for why, names in reasons.items())
    lines = ""
    for what, some in (
        ("withheld, the records being few", [measure for measure in without if measure.note == WITHHELD]),
        ("not defined here", [measure for measure in without if measure.note != WITHHELD]),
    ):
        if some:
            named = ", ".join(measure.name for measure in some)
            lines += f'<p class="quiet">{count(len(some), "measure")} {"is" if len(some) == 1 else "are"} {what}: {safe(named)}.</p>'
    return f"{lines}<details><summary>Why not</summary><ul>{listed}</ul></details>"


def _attacks(certificate: TableCertificate) -> str:
    rows = []
    for a in certificate.attacks:
        ties = f"{number(a.strict_hit)} of the hits without a tie; a tie counts as its share." if a.strict_hit != a.hit else ""
        name = f'<td class="words">{safe(a.title)}<br/><code class="quiet">{safe(a.name)}</code></td>'
        cells = map(numeral, (tried_by(a), number(a.hit), percent(a.rate), percent_range(*a.interval), percent(a.chance)))
        rows.append((name, *cells, words(" ".join(filter(None, [ties, a.note])))))
    untried = "".join(f"<li><code>{safe(one.name)}</code> was not tried: {safe(one.why)}</li>" for one in certificate.not_tried)
    left = f"<ul>{untried}</ul>" if untried else ""
    if not rows:
        return card("Attacks", f"<p>No attack was tried, so nothing is known about what an intruder would get.</p>{left}")
    note = "<p>A low rate is good; a rate near blind guessing means that the attack learned nothing.</p>"
    names = ["Attack", "#Tried", "#Hit", "#Rate", "#95\u00a0% interval", "#Blind guessing", "Note"]
    return card("Attacks", note + table(names, rows) + left)


def _released_patterns(patterns: Patterns | None) -> str:
    """What the release itself says: rules and how many records have them; those of one record only are not pointed at."""
    shared = [one for one in patterns.by("support") if one.support > 1] if patterns else []
    if not shared:
        return ""
    note = f"<p>Records that share all their cells, as rules: {count(patterns.shared if patterns else 0, 'pattern')}, the largest and the smallest shown.</p>"
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
        f"<p>{count(patterns.number, 'pattern')}, the most and the least covered shown. By quasi-identifiers, of the original's records {none} satisfy no "
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


def _check(certificate: TableCertificate) -> str:
    command = f"shoal verify {shlex.quote(certificate.release.file)} certificate.json"
    sentence = "This compares the file's hash and checks every promise again on the released rows. It needs nothing but the two files."
    return card("Check it yourself", f"<pre><code>{safe(command)}</code></pre><p>{sentence}</p>")


def _provenance(certificate: TableCertificate) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    digest = f"<p>SHA-256 of {safe(certificate.release.file)}: <code>{safe(certificate.release.sha256)}</code></p>"
    return f'<footer class="quiet"><p>Made with {safe(versions)}.</p>{digest}</footer>'
