"""Pages of documents: a preview of what was found, and reports of what was removed, by kind and reason, how sure, who decided, what remains.

The preview and `internal_page` quote the documents and stay in the case; `public_page` says what the certificate says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from shoal.certificate import DocumentsCertificate
from shoal.contracts import Progress, quiet
from shoal.document import Block, Document
from shoal.documents.case import Case, DocumentFindings
from shoal.documents.names.entities import Entity
from shoal.documents.pipeline.redacting import DocumentRecord
from shoal.documents.redact import NOBODY, RULE
from shoal.errors import counted
from shoal.report.drawing import decimal, number, percent, safe
from shoal.report.page import card, numeral, page, table, words

MOST_NAMED, MOST_FILES = 500, 200  # rows that a page shows

PREVIEW_STYLE = (
    "<style>.text{white-space:pre-wrap;overflow-wrap:anywhere;font-size:1rem} mark{background:var(--accent-soft);color:inherit;"
    "border-bottom:2px solid var(--accent);border-radius:3px;padding:0 1px} mark.open{border-bottom-style:dashed;background:none}"
    "mark i{font-size:.7em;color:var(--muted);margin-left:3px} .risky{background:var(--warn-soft);border-left:3px solid var(--warn);"
    "padding-left:4px} .risky b{color:var(--warn)}</style>"
)


# ---- the preview ------------------------------------------------------------------------------------------------------------


def write_preview(folder: Path, case: Case, documents: Iterable[Document], progress: Progress = quiet) -> None:
    """A page for every document, with what was found marked, and an index. They stay in the case."""
    place = folder / "preview"
    place.mkdir()
    rows = []
    for done, (findings, document) in enumerate(_together(case.findings(), documents), 1):
        file = f"{done}.html"
        (place / file).write_text(preview_page(document, findings, case.settings.accept), encoding="utf-8")
        waiting = sum(one.confidence < case.settings.accept for one in findings.findings)
        rows.append(
            (
                f'<td class="words"><a href="{file}">{safe(findings.name)}</a></td>',
                *(numeral(number(n)) for n in (len(findings.findings), waiting, len(findings.blocks))),
            )
        )
        progress("writing previews", done, done)
    head = f"<header><h1>{counted(len(rows), 'document')} looked through</h1></header>"
    body = table(["Document", "#Found", "#Open", "#Risky blocks"], rows)
    (place / "index.html").write_text(page("Preview", "Internal: do not publish", [head, card("Documents", body)]), encoding="utf-8")


def _together(looked_through: Iterator[DocumentFindings], documents: Iterable[Document]) -> Iterator[tuple[DocumentFindings, Document]]:
    """Both in the order they were read; what can no longer be read is passed over."""
    by_name = iter(documents)
    for one in looked_through:
        for document in by_name:
            if document.name == one.name:
                yield one, document
                break


def preview_page(document: Document, findings: DocumentFindings, accept: float) -> str:
    """The text with findings marked (dashed where open) and risky blocks shaded."""
    kinds = Counter(one.kind for one in findings.findings)
    found = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()) or "nothing"
    head = f"<header><h1>{safe(document.name)}</h1><p>Found: {safe(found)}; {counted(len(findings.blocks), 'risky block')}.</p></header>"
    body = f'{PREVIEW_STYLE}<div class="text">{marked(document.text, findings, accept)}</div>'
    reasons = table(
        ["Kind", "#Sure", "Because"],
        [(words(one.kind), numeral(decimal(one.confidence)), words(one.because)) for one in findings.findings],
    )
    return page(document.name, "Internal: do not publish", [head, card("Text", body), card("Why", reasons) if findings.findings else ""])


def marked(text: str, findings: DocumentFindings, accept: float) -> str:
    """HTML of a text with marks; marks never overlap, and blocks hold whole marks."""
    pieces: list[tuple[int, int, str]] = []  # place, rank, html: closing tags before opening ones
    for one in findings.findings:
        kind = "" if one.confidence >= accept else ' class="open"'
        pieces += [(one.start, 2, f'<mark{kind} title="{safe(one.because)}">'), (one.end, 0, f"<i>{safe(one.kind)}</i></mark>")]
    taken = [(one.start, one.end) for one in findings.findings]
    for block in findings.blocks:
        start, end = _around(block, taken)
        pieces += [(start, 1, f'<div class="risky" title="risky block, score {block.score:.2f}">'), (end, 1, "</div>")]
        for first, last, _ in block.terms:
            if not any(a < last and first < b for a, b in taken):
                pieces += [(first, 3, "<b>"), (last, 0, "</b>")]
    out, at = [], 0
    for place, _, html in sorted(pieces, key=lambda piece: piece[:2]):
        out += [safe(text[at:place]), html]
        at = place
    return "".join(out) + safe(text[at:])


def _around(block: Block, taken: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """A block's stretch, widened to whole marks."""
    inside = [(a, b) for a, b in taken if a < block.end and block.start < b]
    return min([block.start, *(a for a, _ in inside)]), max([block.end, *(b for _, b in inside)])


# ---- reports ----------------------------------------------------------------------------------------------------------------


def public_page(certificate: DocumentsCertificate) -> str:
    """The page that may go with the documents."""
    return page("Redaction report", "", _sections(certificate))


def internal_page(
    certificate: DocumentsCertificate,
    records: Sequence[DocumentRecord],
    deciders: Mapping[tuple[str, str], int],
    entities: Sequence[Entity],
) -> str:
    """The same for the case: with who decided, which documents were not written and why, and who is behind each number."""
    decided = table(
        ["Who", "Verdict", "#Decisions"], [(words(by), words(what), numeral(number(n))) for (by, what), n in sorted(deciders.items())]
    )
    failed = [one for one in records if one.failure]
    not_written = table(
        ["Document", "Why", "Still found"],
        [(words(one.name), words(one.failure), words("; ".join(one.searched.left if one.searched else ()))) for one in failed],
    )
    most = sorted(entities, key=lambda one: (-len(one.mentions), one.kind))[:MOST_NAMED]
    named = table(
        ["Kind", "Name", "#Mentions", "Stays"],
        [(words(one.kind), words(one.name), numeral(number(len(one.mentions))), words(one.because if one.kept else "")) for one in most],
    )
    head, *rest = _sections(certificate)
    more = [card("Who decided", decided) if deciders else "", card("Not written", not_written, "alarm") if failed else ""]
    return page("Internal: redaction", "Internal: do not publish", [head, *more, *rest, card("Who is named most", named)])


def _sections(certificate: DocumentsCertificate) -> list[str]:
    warnings = "<ul>" + "".join(f"<li>{safe(one)}</li>" for one in certificate.warnings) + "</ul>"
    files = table(
        ["File", "SHA-256"],
        [(words(one.file), f"<td><code>{safe(one.sha256)}</code></td>") for one in certificate.files[:MOST_FILES]],
    )
    return [
        _head(certificate),
        card("What to know", warnings, "alarm"),
        card("What was removed", _removed(certificate)),
        _counts("Risky blocks", certificate.blocks),
        _counts("Reasons", certificate.reasons),
        _counts("What stays", certificate.stays),
        card("What was checked", f"<p>{safe(_checked(certificate))}</p>"),
        card("Files", files),
    ]


def _head(certificate: DocumentsCertificate) -> str:
    mentions = sum(one.mentions for one in certificate.removed)
    entities = sum(one.entities for one in certificate.removed)
    blocks = sum(n for verdict, n in certificate.blocks.items() if verdict.startswith("redact"))
    sentence = (
        f"{counted(mentions + certificate.again, 'stretch', 'stretches')} of text naming {counted(entities, 'entity', 'entities')} and "
        f"{counted(blocks, 'risky block')} were removed from {counted(certificate.documents['written'], 'document')}. "
        "Every file was read back and searched for what was removed; one in which something was found would not be here."
    )
    return (
        '<header><p class="kicker"><span class="brand">shoal</span> · documents</p><h1>Redaction report</h1>'
        f'<p class="verdict">{safe(sentence)}</p></header>'
    )


def _removed(certificate: DocumentsCertificate) -> str:
    rows = [
        (
            words(one.kind),
            numeral(number(one.mentions)),
            numeral(number(one.entities)),
            *(numeral(number(one.by.get(who, 0))) for who in ("person", RULE, NOBODY)),
            numeral(f"{percent(one.least_sure)} to {percent(one.surest)}"),
        )
        for one in certificate.removed
    ]
    kinds = table(["Kind", "#Mentions", "#Entities", "#By a person", "#By the rule", "#Undecided", "#How sure"], rows)
    places = counted(certificate.again, "further place")
    return f"{kinds}<p>{safe(places)} where the same words stood again {'was' if certificate.again == 1 else 'were'} replaced too.</p>"


def _counts(title: str, counts: Mapping[str, int]) -> str:
    return card(title, table(["What", "#Count"], [(words(key), numeral(number(n))) for key, n in counts.items()])) if counts else ""


def _checked(certificate: DocumentsCertificate) -> str:
    found = "; ".join(f"{one.sentence}: {one.found:g}" for one in certificate.promises)
    return (
        f"{counted(certificate.searched, 'removed text was', 'removed texts were')} searched for in the written files, in every part, whatever "
        f"the case, the accents, spaces or line ends; {counted(certificate.too_short_to_search, 'was', 'were')} too short to be searched for. "
        f"Counted were {found}."
    )
