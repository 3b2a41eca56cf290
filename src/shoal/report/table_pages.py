"""The report as one HTML page that needs nothing else: no script, no font, no link, nothing fetched.

public_report may be published beside the release; internal_report adds what may not.
They are two functions over the same sections. Nothing is computed here that the certificate does not already say.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.certificate import AttackPart, MeasurePart, PromisePart, TableCertificate
from shoal.promises import K_ANONYMITY
from shoal.report.drawing import decimal, number, percent, percent_range, safe
from shoal.report.figures import BeforeAfter, Rate, RiskUtility, before_after, class_sizes, linkage_rates, loss_bars, ru_map
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


def public_report(certificate: TableCertificate, columns: Sequence[BeforeAfter], patterns: Patterns | None = None) -> str:
    """The page that may be published beside the release."""
    return page(f"{certificate.release.file}: protection report", "", _release_sections(certificate, columns, _released_patterns(patterns)))


def internal_report(
    certificate: TableCertificate,
    columns: Sequence[BeforeAfter],
    riskiest: Sequence[RecordRisk],
    patterns: Patterns | None = None,
    telling: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The same page with the riskiest records and what is known from the original, for the data's keeper. It must not be published."""
    head, *rest = _release_sections(certificate, columns, _covered_patterns(patterns))
    return page(
        f"Internal: {certificate.release.file}",
        "Internal: do not publish",
        [head, _riskiest(riskiest), *map(_telling_columns, telling), *rest],
    )


# ---- the page and its small parts --------------------------------------------------------------------------------------------


def _columns(names: Sequence[Any]) -> str:
    chips = f'<span class="names">{" ".join(f"<code>{safe(name)}</code>" for name in names)}</span>'
    return chips if len(names) <= OPEN_COLUMNS else f"<details><summary>{len(names)} columns</summary>{chips}</details>"


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


def _main_promise(certificate: TableCertificate) -> PromisePart | None:
    """The k-anonymity to show first: a broken one, else the strongest."""
    kept = [promise for promise in certificate.promises if promise.what == K_ANONYMITY.name]
    return max(kept, key=lambda promise: (not promise.holds, promise.value), default=None)


def _strongest(certificate: TableCertificate) -> AttackPart | None:
    named = [attack for attack in certificate.attacks if attack.name == certificate.summary.risk_attack]
    return max(named or certificate.attacks, key=lambda attack: attack.rate, default=None)


def _classes(certificate: TableCertificate) -> MeasurePart | None:
    """The measure of class sizes, which says how many classes there are of each size."""
    return next((measure for measure in certificate.measures if "histogram" in measure.details), None)


# ---- the sections of a release -----------------------------------------------------------------------------------------------


def _release_sections(certificate: TableCertificate, columns: Sequence[BeforeAfter], patterns: str) -> list[str]:
    return [
        _heading(certificate) + _tiles(certificate), _warnings(certificate), _promises(certificate), _steps(certificate),
        _pictures(certificate, columns), patterns, _measures(certificate), _attacks(certificate), _check(certificate), _provenance(certificate),
    ]  # fmt: skip


def _heading(certificate: TableCertificate) -> str:
    mood, word, why = _verdict(certificate)
    sentence = f'<p class="verdict"><span class="{mood}">{word}</span> {safe(why)} {safe(_attack_sentence(certificate))}</p>'
    brand = f'<p class="kicker"><span class="brand">shoal</span> · protection report · {safe(certificate.created)}</p>'
    return f"<header>{brand}<h1>{safe(certificate.release.file)}</h1>{sentence}</header>"


def _verdict(certificate: TableCertificate) -> tuple[str, str, str]:
    """A mood, a few words, and the sentence after them."""
    promises, broken, quasi = certificate.promises, certificate.broken, certificate.roles.quasi
    if broken:
        first = broken[0]
        fails = f"{len(broken)} of {count(len(promises), 'promise')} {'does' if len(broken) == 1 else 'do'} not hold"
        why = f"{fails}: {first.what} promised {_in_words(first.value)}, found {_in_words(first.found)}."
        return "bad", "Do not publish this file.", why
    if not promises:
        why = "The methods used give no guarantee, so only the attacks can speak for this release."
        return "quiet", "Nothing is promised.", why
    covered = max(sum(column in promise.columns for column in quasi) for promise in promises)
    if covered == len(quasi):
        return "good", "Every promise holds.", "Each was checked again on the rows of the released file."
    classes = _classes(certificate)
    smallest = _in_words(classes.value if classes else None)
    why = f"No promise covers all {len(quasi)} quasi-identifiers; over all of them the smallest class is {smallest}."
    return "quiet", "What is promised holds, over some columns only.", why


def _attack_sentence(certificate: TableCertificate) -> str:
    attack = _strongest(certificate)
    if attack is None:
        return "No attack was tried on it."
    text = f"The strongest linkage ({attack.title}) succeeds on {percent(attack.rate)} of its tries"
    if attack.interval[0] <= attack.chance:
        return f"{text}, which cannot be told from blind guessing ({percent(attack.chance)})."
    return f"{text}; blind guessing would succeed on {percent(attack.chance)}."


def _tiles(certificate: TableCertificate) -> str:
    release, summary = certificate.release, certificate.summary
    tiles: list[tuple[str, str, str, str]] = [("Records", number(release.rows), f"in {count(len(release.columns), 'column')}", "")]
    promise, classes, attack = _main_promise(certificate), _classes(certificate), _strongest(certificate)
    if promise:
        found = f"found {_in_words(promise.found)} {promise.unit}"
        tiles.append(("Promised k", number(promise.value), found, "" if promise.holds else "alarm"))
    if classes and classes.value is not None:
        uniques = classes.details["uniques"]
        tiles.append(("Smallest class", number(classes.value), f"rows; {number(classes.details['classes'])} classes in all", ""))
        tiles.append(("Unique records", number(uniques), "fewer is better", "alarm" if uniques else ""))
    if summary.loss is not None:
        title = next((measure.title for measure in certificate.measures if measure.name == summary.loss_measure), "")
        tiles.append(("Information loss", decimal(summary.loss), f"{title}; lower is better", ""))
    if attack:
        notes = f"95\u00a0%: {percent_range(*attack.interval)}\nblind guessing {percent(attack.chance)}"
        tiles.append(("Highest linkage rate", percent(attack.rate), notes, ""))
    shown = "".join(
        f'<div class="tile {kind}"><span>{name}</span><b>{safe(value)}</b>'
        f"{''.join(f'<small>{safe(line)}</small>' for line in note.splitlines())}</div>"
        for name, value, note, kind in tiles
    )
    return f'<div class="tiles">{shown}</div>'


def _warnings(certificate: TableCertificate) -> str:
    listed = "".join(f"<li>{safe(warning)}</li>" for warning in certificate.warnings)
    return card("Read this first", f"<ul>{listed}</ul>", "alarm") if listed else ""


def _promises(certificate: TableCertificate) -> str:
    rows = [
        (
            words(p.what), f'<td class="words">{_columns(p.columns)}</td>', numeral(_in_words(p.value)),
            numeral(f"{_in_words(p.found)} {p.unit}"), '<td class="good">holds</td>' if p.holds else '<td class="bad">broken</td>',
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
            f'<span class="quiet">({safe(gives)})</span><br/>{safe(step.summary)} {_columns(step.columns) if step.columns else ""}</li>'
        )
    roles, lines = certificate.roles, []
    for called, named in (
        ("Quasi-identifiers", roles.quasi),
        ("Confidential", roles.confidential),
        ("Weight", roles.weight),
        ("Household", roles.household),
    ):
        if named:
            lines.append(f"<tr><td>{called}</td><td>{_columns(named)}</td></tr>")
    if roles.identifiers_removed:
        lines.append(f"<tr><td>Identifiers</td><td>{count(roles.identifiers_removed, 'column')} removed</td></tr>")
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
        sentence = f"The bars before and after differ by {percent(apart)} of the records; the nearer they are, the better."
        (shown if i < OPEN_COLUMNS else folded).append(figure(column.column, sentence, before_after(column)))
    rest = f'<details><summary>{count(len(folded), "more picture")}</summary><div class="pictures">{"".join(folded)}</div></details>'
    if not shown and not folded:
        return ""
    return f'<section><h2>In pictures</h2><div class="pictures">{"".join(shown)}</div>{rest if folded else ""}</section>'


def _attack_pictures(certificate: TableCertificate) -> Iterator[str]:
    """Rates, class sizes, and risk against loss."""
    summary, classes = certificate.summary, _classes(certificate)
    rates = [Rate(a.title, a.rate, *a.interval, a.chance) for a in certificate.attacks]
    if rates:
        sentence = "How often each attack succeeds, with its 95\u00a0% interval; left is better, and at the dashed mark it learns nothing."
        yield figure("What an intruder gets", sentence, linkage_rates(rates))
    if classes and classes.details["histogram"]:
        sizes = {int(size): int(n) for size, n in classes.details["histogram"].items()}
        promise = _main_promise(certificate)
        sentence = "Records in one class look the same to an intruder; bars to the right are better, and those at 1 stand out."
        yield figure("Class sizes", sentence, class_sizes(sizes, int(promise.value) if promise else None))
    if summary.loss is not None and summary.risk is not None:
        low, high = (summary.risk if end is None else end for end in (summary.risk_low, summary.risk_high))
        sentence = "What the release lost against what an intruder still gets; nearer the lower left corner is better."
        point = RiskUtility("this release", summary.loss, summary.risk, low, high)
        yield figure("Risk against information loss", sentence, ru_map([point]))


def _measures(certificate: TableCertificate) -> str:
    rows = []
    for m in certificate.measures:
        low, high = m.bounds
        bounds = f"{'−∞' if low is None else number(low)} to {'∞' if high is None else number(high)}"
        spread = f" ({number(m.interval[0])}–{number(m.interval[1])})" if m.interval else ""
        name = f'<td class="words">{safe(m.title)}<br/><code class="quiet">{safe(m.name)}</code></td>'
        rows.append((name, numeral(number(m.value) + spread), f"<td>{safe(m.better)}</td>", numeral(bounds), words(m.note)))
    if not rows:
        return card("Measures", "<p>Nothing was measured.</p>")
    return card("Measures", table(["Measure", "#Value", "Better", "#Can range over", "Note"], rows))


def _attacks(certificate: TableCertificate) -> str:
    rows = []
    for a in certificate.attacks:
        ties = f"{number(a.strict_hit)} of the hits without a tie; a tie counts as its share." if a.strict_hit != a.hit else ""
        name = f'<td class="words">{safe(a.title)}<br/><code class="quiet">{safe(a.name)}</code></td>'
        cells = map(numeral, (number(a.tried), number(a.hit), percent(a.rate), percent_range(*a.interval), percent(a.chance)))
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
        f"<p>{count(patterns.number, 'pattern')}, the most and the least covered shown. Of the original's records {none} satisfy no "
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


def _telling_columns(found: Mapping[str, Any]) -> str:
    """What a learned linkage says about columns; with its weights a reader could attack, so it stays in the internal report."""
    listed = "".join(f"<li>{safe(sentence)}</li>" for sentence in found.get("words", ()))
    pictures = figure(
        "Columns that give records away", "What the attack loses without a column, and what the column finds alone.", leak_bars(found)
    )
    if found.get("measure"):
        sentence = "A set of columns that weighs much tells records apart; digits stand for the columns in order."
        pictures += figure("Weights of sets of columns", sentence, lattice(found["measure"]), "wide")
    rows = [(words(name), numeral(number(weight))) for name, weight in found.get("weights", {}).items()]
    learned = table(["Column", "#Learned weight"], rows) if rows else ""
    return card("Which columns give records away", f'<ul>{listed}</ul><div class="pictures">{pictures}</div>{learned}')


def _check(certificate: TableCertificate) -> str:
    command = f"shoal verify {shlex.quote(certificate.release.file)} certificate.json"
    sentence = "This compares the file's hash and checks every promise again on the released rows. It needs nothing but the two files."
    return card("Check it yourself", f"<pre><code>{safe(command)}</code></pre><p>{sentence}</p>")


def _provenance(certificate: TableCertificate) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in certificate.versions.items())
    digest = f"<p>SHA-256 of {safe(certificate.release.file)}: <code>{safe(certificate.release.sha256)}</code></p>"
    return f'<footer class="quiet"><p>Made with {safe(versions)}.</p>{digest}</footer>'
