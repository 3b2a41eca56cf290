"""What is left to decide in a case, one question after the other."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from shoal.document import BLOCK, UNKNOWN, Block, Decision, Document
from shoal.documents.case import Case, DocumentFindings
from shoal.documents.phrases import PhraseFinder
from shoal.documents.redact import NOBODY, verdicts

Which = Literal["open", "all"]


@dataclass(frozen=True)
class Question:
    """A finding or a risky block (then `block` is given) that nobody has decided about."""

    document: str
    start: int
    end: int
    kind: str
    text: str
    confidence: float
    because: str
    block: Block | None = None

    def decided(self, verdict: Literal["redact", "keep", "generalize"], reason: str = "", kind: str = "") -> tuple[str, Decision]:
        """The answer, as `Case.decide` takes it."""
        return self.document, Decision(self.start, self.end, kind or self.kind, verdict, reason)


def questions(case: Case, read: Callable[[str], Document], which: Which = "open") -> Iterator[Question]:
    """Those left, document by document; `all` asks about what the rule would decide, too. Decisions taken meanwhile count."""
    for one in case.findings():
        pending = _of(case, one, read, which)
        while pending:
            yield pending[0]
            asked = {(question.start, question.end, question.kind == BLOCK) for question in pending[:1]}
            answered = _of(case, one, read, which)
            pending = [q for q in answered if (q.start, q.end, q.kind == BLOCK) not in asked and (q.start, q.end) >= (pending[0].start, 0)]


def _of(case: Case, findings: DocumentFindings, read: Callable[[str], Document], which: Which) -> list[Question]:
    log = case.decisions().get(findings.name, [])
    decided = {(entry.decision.start, entry.decision.end, entry.decision.kind == BLOCK) for entry in log}
    state = verdicts(findings, log, case.settings.accept)
    texts = {(found.start, found.end): text for found, text in zip(findings.findings, findings.texts)}
    found = [
        Question(findings.name, one.start, one.end, one.kind, texts[one.start, one.end], one.confidence, one.because)
        for one in state.stretches
        if (one.start, one.end, False) not in decided and (which == "all" or one.by == NOBODY) and (one.start, one.end) in texts
    ]
    blocks = [one.block for one in state.blocks if (one.block.start, one.block.end, True) not in decided]
    if blocks:
        text = read(findings.name).text
        found += [
            Question(findings.name, b.start, b.end, BLOCK, text[b.start : b.end], b.score, f"{len(b.terms)} risky terms close together", b)
            for b in blocks
        ]
    return sorted(found, key=lambda question: (question.start, question.end))


def same_text(
    case: Case, question: Question, verdict: Literal["redact", "keep"], reason: str = "", kind: str = ""
) -> list[tuple[str, Decision]]:
    """The same answer for every finding of the case with the same text, whatever its case."""
    wanted = question.text.casefold()
    return [
        (
            one.name,
            Decision(found.start, found.end, kind or (question.kind if found.kind == question.kind else found.kind), verdict, reason),
        )
        for one in case.findings()
        for found, text in zip(one.findings, one.texts)
        if text.casefold() == wanted
    ]


def extended(document: Document, question: Question, left: int, right: int) -> tuple[int, int]:
    """The stretch with so many words more on either side (fewer, where negative)."""
    spans = [match.span() for match in re.finditer(r"\S+", document.text)]
    first = next((i for i, (_, end) in enumerate(spans) if end > question.start), 0)
    last = max((i for i, (start, _) in enumerate(spans) if start < question.end), default=first)
    low, high = max(0, first - left), min(len(spans) - 1, last + right)
    start = spans[low][0] if left else question.start
    end = spans[high][1] if right else question.end
    while end > start and right and document.text[end - 1] in ".,;:!?)\"'":
        end -= 1
    return (start, end) if start < end else (question.start, question.end)


def marks(findings: DocumentFindings, document: Document, text: str, reason: str = "", kind: str = UNKNOWN) -> list[tuple[str, Decision]]:
    """Decisions that remove a text wherever it stands in a document, whatever its case: for what no layer found."""
    spans = [with_what_it_touches(findings, start, end) for start, end, _ in PhraseFinder([text.lower()]).occurrences(document.text)]
    return [(document.name, Decision(*span, kind, "redact", reason)) for span in dict.fromkeys(spans)]


def with_what_it_touches(findings: DocumentFindings, start: int, end: int) -> tuple[int, int]:
    """A stretch with the findings it lies in or over, so that marking a part of a name does not set the rest free."""
    touched = [one for one in findings.findings if one.start < end and start < one.end]
    return min([start, *(one.start for one in touched)]), max([end, *(one.end for one in touched)])
