"""Pages and certificate of redacted documents: what was removed, by kind and reason, how sure, who decided, what remains.

The preview and `internal_page` quote the documents and stay in the case; `certificate_of` and `public_page` say numbers only.
"""

from __future__ import annotations

import datetime
import platform
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import shoal
from shoal.contracts import Progress, quiet
from shoal.document import Block, Document
from shoal.documents.case import Case, Looked
from shoal.documents.leaks import searchable
from shoal.documents.redact import NOBODY, RULE
from shoal.errors import counted
from shoal.folders import sha256_of, write_text
from shoal.report.drawing import decimal, number, percent, safe
from shoal.report.page import card, numeral, page, table, words

if TYPE_CHECKING:
    from shoal.runs.documents import Plan, Tally

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
    place.mkdir(mode=0o700)
    rows = []
    for done, (one, document) in enumerate(_together(case.looked(), documents), 1):
        file = f"{done}.html"
        write_text(place / file, preview_page(document, one, case.settings.accept), mode=0o600)
        waiting = sum(found.confidence < case.settings.accept for found in one.findings)
        rows.append(
            (
                f'<td class="words"><a href="{file}">{safe(one.name)}</a></td>',
                *(numeral(number(n)) for n in (len(one.findings), waiting, len(one.blocks))),
            )
        )
        progress("writing previews", done, done)
    head = f"<header><h1>{counted(len(rows), 'document')} looked through</h1></header>"
    body = table(["Document", "#Found", "#Open", "#Risky blocks"], rows)
    write_text(place / "index.html", page("Preview", "Internal: do not publish", [head, card("Documents", body)]), mode=0o600)


def _together(looked: Iterator[Looked], documents: Iterable[Document]) -> Iterator[tuple[Looked, Document]]:
    """Both in the order they were read; what can no longer be read is passed over."""
    by_name = iter(documents)
    for one in looked:
        for document in by_name:
            if document.name == one.name:
                yield one, document
                break


def preview_page(document: Document, looked: Looked, accept: float) -> str:
    """The text with findings marked (dashed where open) and risky blocks shaded."""
    kinds = Counter(one.kind for one in looked.findings)
    said = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()) or "nothing"
    head = f"<header><h1>{safe(document.name)}</h1><p>Found: {safe(said)}; {counted(len(looked.blocks), 'risky block')}.</p></header>"
    body = f'{PREVIEW_STYLE}<div class="text">{marked(document.text, looked, accept)}</div>'
    reasons = table(
        ["Kind", "#Sure", "Because"],
        [(words(one.kind), numeral(decimal(one.confidence)), words(one.because)) for one in looked.findings],
    )
    return page(document.name, "Internal: do not publish", [head, card("Text", body), card("Why", reasons) if looked.findings else ""])


def marked(text: str, looked: Looked, accept: float) -> str:
    """HTML of a text with marks; marks never overlap, and blocks hold whole marks."""
    pieces: list[tuple[int, int, str]] = []  # place, rank, html: closing tags before opening ones
    for one in looked.findings:
        kind = "" if one.confidence >= accept else ' class="open"'
        pieces += [(one.start, 2, f'<mark{kind} title="{safe(one.because)}">'), (one.end, 0, f"<i>{safe(one.kind)}</i></mark>")]
    taken = [(one.start, one.end) for one in looked.findings]
    for block in looked.blocks:
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


# ---- the certificate --------------------------------------------------------------------------------------------------------


def certificate_of(plan: Plan, folder: Path, tally: Tally, again: int, numbering: str) -> dict[str, Any]:
    """Everything that may be published about redacted documents: numbers, never a text, a name or a file's old name."""
    removed: dict[str, Counter[str]] = defaultdict(Counter)
    sure: dict[str, list[float]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    stays: Counter[str] = Counter()
    blocks: Counter[str] = Counter()
    searched = unsearchable = 0
    for one, decided, puts in plan.documents():
        if one.name in tally.failed:
            continue
        texts = {(found.start, found.end): text for found, text in zip(one.findings, one.texts)}
        for stretch, put in zip(decided.going(), puts, strict=True):
            if put is None:
                stays["known places and names on the list"] += 1
                continue
            removed[stretch.kind][_who(stretch.by)] += 1
            sure[stretch.kind].append(stretch.confidence)
            reasons[stretch.reason or "none given"] += 1
            if searchable(texts.get((stretch.start, stretch.end), "xxxxxx")) == "no":
                unsearchable += 1
            else:
                searched += 1
        for stretch in decided.stretches:
            if stretch.verdict == "keep":
                stays["decided to stay" if _who(stretch.by) == "person" else "undecided, left as they are"] += 1
        for block in decided.blocks:
            blocks[f"{block.verdict} by {_who(block.by)}"] += 1
            if block.verdict == "redact":
                reasons[block.reason or "none given"] += 1
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lost = {number for number, name in enumerate(plan.names) if name in tally.failed}
    entities = Counter(one.kind for one, held in zip(plan.entities, plan.holders) if not one.kept and held - lost)
    said = {
        "shoal": shoal.__version__,
        "format": 1,
        "kind": "documents",
        "source": "column" if plan.case.settings.column else "files",
        "created": datetime.date.today().isoformat(),
        "files": [{"file": path.relative_to(folder).as_posix(), "sha256": sha256_of(path)} for path in files],
        "documents": {"written": tally.done, "not written": len(tally.failed)},
        "style": plan.style,
        "numbering": numbering,
        "removed": [
            {
                "kind": kind,
                "mentions": sum(who.values()),
                "entities": entities[kind],
                "by": dict(who),
                "surest": round(max(sure[kind]), 3),
                "least_sure": round(min(sure[kind]), 3),
            }
            for kind, who in sorted(removed.items())
        ],
        "again": again,
        "blocks": dict(blocks),
        "reasons": dict(reasons),
        "stays": dict(stays),
        "left_out": sum(tally.dropped.values()),
        "rules": {"accept": plan.case.settings.accept, "undecided": plan.rules.undecided, "accept_blocks": plan.rules.accept_blocks},
        "promises": [
            {
                "what": "no removed text is in a written file",
                "searched": searched,
                "too_short_to_search": unsearchable,
                "found": 0,  # a document in which one was found is not written
                "perhaps_in": tally.unsure,
                "holds": True,
            }
        ],
        "versions": {"shoal": shoal.__version__, "python": platform.python_version()},
    }
    return said | {"warnings": _warnings(said)}


def _who(by: str) -> str:
    return by if by in (RULE, NOBODY) else "person"


def _warnings(said: Mapping[str, Any]) -> list[str]:
    """What a reader of the certificate must know."""
    found = [
        "What no layer found and nobody marked is still there. Redaction is as good as the review.",
        "Words around a removed name can tell whose it was.",
    ]
    if said["style"] != "black-box":
        found.append(
            "The same number or invented name stands for the same entity in every document: what is known of one mention is known of all."
        )
    if said["style"] == "surrogate":
        found.append("All dates moved by the same number of days: whoever knows one real date knows them all.")
    nobody = sum(one["by"].get(NOBODY, 0) for one in said["removed"])
    if nobody:
        found.append(f"{counted(nobody, 'stretch', 'stretches')} went without anybody having looked, because findings were unsure.")
    if said["stays"].get("undecided, left as they are"):
        found.append(f"{counted(said['stays']['undecided, left as they are'], 'finding')} stayed without anybody having looked.")
    if any("rule" in key for key in said["blocks"]):
        found.append("Risky blocks were decided by their score, not by a person.")
    perhaps = said["promises"][0]["perhaps_in"]
    if perhaps:
        found.append(
            f"In {counted(perhaps, 'document')} a removed word stands in lower case or inside a longer one: most often another word, not always."
        )
    if said["promises"][0]["too_short_to_search"]:
        short = said["promises"][0]["too_short_to_search"]
        found.append(
            f"{counted(short, 'removed text is', 'removed texts are')} too short to be searched for: they would be found by chance."
        )
    if said["left_out"]:
        things = counted(said["left_out"], "picture, object or attachment", "pictures, objects and attachments")
        found.append(f"Left out, because no text could be read in them: {things}.")
    if said["source"] == "column":
        found.append("Only the column of texts was written, its rows in an order drawn anew; the other columns need a method of their own.")
    lost = said["documents"]["not written"]
    if lost:
        found.append(f"{counted(lost, 'document')} could not be written safely and {'is' if lost == 1 else 'are'} not here.")
    return found


# ---- reports ----------------------------------------------------------------------------------------------------------------


def public_page(said: Mapping[str, Any]) -> str:
    """The page that may go with the documents."""
    return page("Redaction report", "", _sections(said))


def internal_page(said: Mapping[str, Any], plan: Plan, tally: Tally) -> str:
    """The same for the case: with who decided, which documents were not written and why, and who is behind each number."""
    people: Counter[tuple[str, str]] = Counter()
    for _, one, _ in plan.documents():
        people.update((stretch.by, stretch.verdict) for stretch in one.stretches if _who(stretch.by) == "person")
        people.update((block.by, block.verdict) for block in one.blocks if _who(block.by) == "person")
    deciders = table(
        ["Who", "Verdict", "#Decisions"], [(words(by), words(what), numeral(number(n))) for (by, what), n in sorted(people.items())]
    )
    failed = table(
        ["Document", "Why", "Still found"],
        [(words(name), words(why), words("; ".join(tally.offending.get(name, ())))) for name, why in tally.failed.items()],
    )
    head, *rest = _sections(said)
    more = [card("Who decided", deciders) if people else "", card("Not written", failed, "alarm") if tally.failed else ""]
    behind = table(
        ["Kind", "Name", "#Mentions", "Stays"],
        [
            (words(one.kind), words(one.name), numeral(number(len(one.mentions))), words(one.because if one.kept else ""))
            for one in sorted(plan.entities, key=lambda one: (-len(one.mentions), one.kind))[:500]
        ],
    )
    return page("Internal: redaction", "Internal: do not publish", [head, *more, *rest, card("Who is named most", behind)])


def _sections(said: Mapping[str, Any]) -> list[str]:
    mentions = sum(one["mentions"] for one in said["removed"])
    entities = sum(one["entities"] for one in said["removed"])
    gone = sum(n for key, n in said["blocks"].items() if key.startswith("redact"))
    verdict = (
        f"{counted(mentions + said['again'], 'stretch', 'stretches')} of text naming {counted(entities, 'entity', 'entities')} and "
        f"{counted(gone, 'risky block')} were removed from {counted(said['documents']['written'], 'document')}. "
        "Every file was read back and searched for what was removed; one in which something was found would not be here."
    )
    head = (
        '<header><p class="kicker"><span class="brand">shoal</span> · documents</p><h1>Redaction report</h1>'
        f'<p class="verdict">{safe(verdict)}</p></header>'
    )
    rows = [
        (
            words(one["kind"]),
            *(numeral(number(one[key])) for key in ("mentions", "entities")),
            *(numeral(number(one["by"].get(who, 0))) for who in ("person", RULE, NOBODY)),
            numeral(f"{percent(one['least_sure'])} to {percent(one['surest'])}"),
        )
        for one in said["removed"]
    ]
    kinds = table(["Kind", "#Mentions", "#Entities", "#By a person", "#By the rule", "#Undecided", "#How sure"], rows)
    again = f"<p>{safe(counted(said['again'], 'further place'))} where the same words stood again {'was' if said['again'] == 1 else 'were'} replaced too.</p>"

    def pairs(title: str, found: Mapping[str, int]) -> str:
        return card(title, table(["What", "#Count"], [(words(key), numeral(number(n))) for key, n in found.items()])) if found else ""

    promise = said["promises"][0]
    check = (
        f"{counted(promise['searched'], 'removed text was', 'removed texts were')} searched for in the written files, in every part, whatever "
        f"the case, the accents, spaces or line ends; {counted(promise['too_short_to_search'], 'was', 'were')} too short to be searched for."
    )
    warnings = "<ul>" + "".join(f"<li>{safe(one)}</li>" for one in said["warnings"]) + "</ul>"
    files = table(
        ["File", "SHA-256"], [(words(one["file"]), f"<td><code>{safe(one['sha256'])}</code></td>") for one in said["files"][:200]]
    )
    return [
        head,
        card("What to know", warnings, "alarm"),
        card("What was removed", kinds + again),
        pairs("Risky blocks", said["blocks"]),
        pairs("Reasons", said["reasons"]),
        pairs("What stays", said["stays"]),
        card("What was checked", f"<p>{safe(check)}</p>"),
        card("Files", files),
    ]
