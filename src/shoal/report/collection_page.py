"""The report of an anonymous collection. It says what the certificate says, for reading."""

from collections.abc import Mapping
from typing import Any

from shoal.errors import counted
from shoal.report.drawing import number, percent, percent_range, safe
from shoal.report.figures import Rate, linkage_rates
from shoal.report.page import card, figure, numeral, page, table, words


def collection_page(said: Mapping[str, Any]) -> str:
    """One page that may go with the release."""
    about = said["release"]
    promises = "; ".join(f"{one['what']} of {number(one['value'])} promised, {number(one['found'])} found" for one in said["promises"])
    verdict = (
        f"{counted(about['rows'], 'document')} became {counted(about['clusters'], 'centroid')} over {counted(about['terms'], 'term')}. "
        f"{promises[:1].upper() + promises[1:]}."
    )
    head = (
        '<header><p class="kicker"><span class="brand">shoal</span> · collection</p><h1>Anonymous collection</h1>'
        f'<p class="verdict">{safe(verdict)}</p></header>'
    )
    steps = "".join(
        f"<p><code>{safe(step['method'])}</code> {safe(', '.join(f'{key}={value}' for key, value in step['parameters'].items()))}. "
        f"{safe(step['summary'])}</p>"
        for step in said["steps"]
    )
    measures = table(
        ["Measure", "#Value", "Better", "Note"],
        [
            (words(one["title"]), numeral(number(one["value"])), words(one["better"]), words(one.get("note") or ""))
            for one in said["measures"]
        ],
    )
    attacks = table(
        ["Attack", "#Tried", "#Hits", "#95 %", "#Blind guessing", "Note"],
        [
            (
                words(one["title"]),
                numeral(number(one["tried"])),
                numeral(percent(one["rate"])),
                numeral(percent_range(*one["interval"])),
                numeral(percent(one["chance"])),
                words(one["note"]),
            )
            for one in said["attacks"]
        ],
    )
    rates = [Rate(one["name"], one["rate"], one["interval"][0], one["interval"][1], one["chance"]) for one in said["attacks"]]
    picture = figure("What attacks find", "Beside blind guessing, with 95 % intervals.", linkage_rates(rates)) if rates else ""
    warnings = "<ul>" + "".join(f"<li>{safe(one)}</li>" for one in said["warnings"]) + "</ul>"
    return page(
        "Anonymous collection",
        "",
        [
            head,
            card("What to know", warnings, "alarm"),
            card("How it was made", steps),
            card("Attacks", attacks),
            picture,
            card("Measures", measures),
        ],
    )
