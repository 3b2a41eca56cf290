"""What every page is made of: one HTML file that needs nothing else, no script, no font, no link, nothing fetched."""

from collections.abc import Iterable, Sequence

from shoal.report.drawing import STYLE, safe
from shoal.report.page_style import PAGE_STYLE

OPEN_COLUMNS = 6  # more are folded
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, banner: str, sections: Iterable[str]) -> str:
    """A whole page; a banner warns."""
    strip = f'<div class="banner" role="alert">{safe(banner)}</div>' if banner else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"/>'
        f'<meta http-equiv="Content-Security-Policy" content="{safe(POLICY)}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/><meta name="referrer" content="no-referrer"/>'
        f"<title>{safe(title)}</title><style>{STYLE}{PAGE_STYLE}</style></head>\n<body>{strip}<main>\n"
        + "\n".join(section for section in sections if section)
        + "\n</main></body></html>\n"
    )


def card(title: str, body: str, kind: str = "") -> str:
    """A section with a heading."""
    return f'<section class="card {kind}"><h2>{safe(title)}</h2>{body}</section>'


def figure(title: str, sentence: str, svg: str, kind: str = "") -> str:
    """A picture with its words."""
    caption = f"<figcaption><h3>{safe(title)}</h3><p>{safe(sentence)}</p></figcaption>"
    return f'<figure class="{kind}">{caption}<div class="scroll">{svg}</div></figure>'


def table(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of ready cells; a name that begins with # heads a column of numbers."""
    head = "".join(f'<th scope="col" class="n">{safe(n[1:])}</th>' if n[0] == "#" else f'<th scope="col">{safe(n)}</th>' for n in names)
    labels = [f'<td data-label="{safe(name.lstrip("#"))}"' for name in names]  # a narrow screen stacks cells, each beside its label
    body = "".join(f"<tr>{''.join(cell.replace('<td', label, 1) for cell, label in zip(row, labels))}</tr>" for row in rows)
    return f'<div class="scroll"><table class="stack"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def numeral(text: str) -> str:
    """A cell of a number."""
    return f'<td class="n">{safe(text)}</td>'


def words(text: object) -> str:
    """A cell of words."""
    return f'<td class="words">{safe(text)}</td>'


def column_names(names: Sequence[str]) -> str:
    """Names of columns; many are folded away."""
    chips = f'<span class="names">{" ".join(f"<code>{safe(name)}</code>" for name in names)}</span>'
    return chips if len(names) <= OPEN_COLUMNS else f"<details><summary>{len(names):,} columns</summary>{chips}</details>"


def count(n: int, noun: str) -> str:
    """1 run, 2 runs."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
