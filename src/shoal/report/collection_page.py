"""The report of an anonymous collection. It says what the certificate says, for reading."""

from shoal.certificate import CollectionCertificate
from shoal.errors import counted
from shoal.report.drawing import number, percent, percent_range, safe
from shoal.report.figures import Rate, linkage_rates
from shoal.report.page import card, figure, numeral, page, table, words


def collection_page(certificate: CollectionCertificate) -> str:
    """One page that may go with the release."""
    about = certificate.release
    promises = "; ".join(f"{one.what} of {number(one.value)} promised, {number(one.found)} found" for one in certificate.promises)
    verdict = (
        f"{counted(about.rows, 'document')} became {counted(about.clusters, 'centroid')} over {counted(about.terms, 'term')}. "
        f"{promises[:1].upper() + promises[1:]}."
    )
    head = (
        '<header><p class="kicker"><span class="brand">shoal</span> · collection</p><h1>Anonymous collection</h1>'
        f'<p class="verdict">{safe(verdict)}</p></header>'
    )
    steps = "".join(
        f"<p><code>{safe(step.method)}</code> {safe(', '.join(f'{key}={value}' for key, value in step.parameters.items()))}. "
        f"{safe(step.summary)}</p>"
        for step in certificate.steps
    )
    rates = [Rate(one.name, one.rate, *one.interval, one.chance) for one in certificate.attacks]
    return page(
        "Anonymous collection",
        "",
        [
            head,
            card("What to know", "<ul>" + "".join(f"<li>{safe(one)}</li>" for one in certificate.warnings) + "</ul>", "alarm"),
            card("How it was made", steps),
            card("Attacks", _attacks(certificate)),
            figure("What attacks find", "Beside blind guessing, with 95 % intervals.", linkage_rates(rates)) if rates else "",
            card("Measures", _measures(certificate)),
        ],
    )


def _attacks(certificate: CollectionCertificate) -> str:
    tried = table(
        ["Attack", "#Tried", "#Hits", "#95 %", "#Blind guessing", "Note"],
        [
            (
                words(one.title),
                numeral(number(one.tried)),
                numeral(percent(one.rate)),
                numeral(percent_range(*one.interval)),
                numeral(percent(one.chance)),
                words(one.note),
            )
            for one in certificate.attacks
        ],
    )
    return tried + "".join(f"<p>Not tried: <code>{safe(one.name)}</code>. {safe(one.why)}</p>" for one in certificate.not_tried)


def _measures(certificate: CollectionCertificate) -> str:
    return table(
        ["Measure", "#Value", "Better", "Note"],
        [(words(one.title), numeral(number(one.value)), words(one.better), words(one.note)) for one in certificate.measures],
    )
