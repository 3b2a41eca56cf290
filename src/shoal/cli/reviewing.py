"""Walking the open decisions of a case at the keyboard."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from shoal.document import BLOCK, Block, Document
from shoal.documents.case import REASONS, Case
from shoal.documents.pipeline.originals import Originals
from shoal.documents.pipeline.redacting import in_general_words
from shoal.documents.review import Question, Which, extended, marks, questions, same_text
from shoal.errors import ShoalError, counted

AROUND = 160  # characters shown on either side
KEYS = (
    "a remove · r keep · A, R the same for all with the same text · k KIND remove as this kind · e L R remove with L words more before and R after · "
    "g say a block in general words · m TEXT remove this, too, wherever it stands in the document · c CODE reason for what follows · "
    "u undo · n next · q stop"
)


def walk(folder: Path, by: str | None, which: Which) -> None:
    """Ask, write each answer down at once, until nothing is left or q."""
    case = Case(folder)
    console = Console(highlight=False)
    console.print(KEYS, style="dim")
    console.print(f"Reasons such as {', '.join(REASONS)}.", style="dim")
    skipped: set[tuple[str, int, int]] = set()
    reason, answered = "", 0
    texts: dict[str, Document] = {}
    originals = Originals(case.settings)

    def read(name: str) -> Document:
        if name not in texts:
            texts.clear()
            texts[name] = originals.read(name)
        return texts[name]

    pending = questions(case, read, which)
    question = next(pending, None)
    while question is not None:
        key = (question.document, question.start, question.end)
        if key in skipped:
            question = next(pending, None)
            continue
        _show(console, question, read(question.document))
        if question.block is not None:
            _offer(console, case, question.block, read(question.document))
        word, *rest = (_line() or "").split() or [""]
        if word == "q":
            break
        if word == "u":
            console.print("Taken back." if case.undo() else "There is nothing to take back.")
            answered = max(0, answered - 1)
            pending = questions(case, read, which)  # from the start: what was undone is open again
            question = next(pending, None)
            continue
        if word == "c":
            reason = rest[0] if rest else ""
            console.print(f"Reason from here on: {reason or 'none'}.")
            continue
        if word == "m" and rest:
            findings = next(one for one in case.findings() if one.name == question.document)
            marked = marks(findings, read(question.document), " ".join(rest), reason)
            if marked:
                case.decide(marked, by)
            console.print(f"{len(marked):,} marked." if marked else "These words do not stand in the document.")
            continue
        if word == "n":
            skipped.add(key)
        elif not _answer(case, question, read(question.document), word, rest, reason, by):
            console.print(KEYS, style="dim")
            continue
        else:
            answered += 1
        question = next(pending, None)
    left = sum(1 for _ in questions(Case(folder), read, which)) if question is not None or skipped else 0
    console.print(f"{answered:,} decided, {left:,} left. `shoal documents redact {folder} -o out` applies them.")


def _answer(case: Case, question: Question, document: Document, word: str, rest: list[str], reason: str, by: str | None) -> bool:
    """Write one answer down; whether it was one."""
    block = question.kind == BLOCK
    if word in ("a", "r") or (word == "g" and block):
        case.decide([question.decided({"a": "redact", "r": "keep", "g": "generalize"}[word], reason)], by)  # type: ignore[arg-type]
    elif word in ("A", "R") and not block:
        case.decide(same_text(case, question, "redact" if word == "A" else "keep", reason), by)
    elif word == "k" and rest and not block:
        case.decide([question.decided("redact", reason, rest[0])], by)
    elif word == "e" and len(rest) == 2 and all(part.lstrip("-").isdigit() for part in rest) and not block:
        start, end = extended(document, question, int(rest[0]), int(rest[1]))
        wider = Question(question.document, start, end, question.kind, document.text[start:end], 1.0, "extended by hand")
        case.decide([wider.decided("redact", reason)], by)
    else:
        return False
    return True


def _show(console: Console, question: Question, document: Document) -> None:
    asked = "" if question.block is not None else f" '{' '.join(question.text.split())}'"
    console.rule(Text(f"{question.document}: {question.kind}{asked}, {question.confidence:.0%}"), style="dim")
    before = document.text[max(0, question.start - AROUND) : question.start].replace("\n", " ")
    after = document.text[question.end : question.end + AROUND].replace("\n", " ")
    shown = Text(before) + Text(question.text, style="bold reverse" if question.block is None else "") + Text(after)
    if question.block is not None:
        for start, end, _ in question.block.terms:
            shown.stylize("bold red", len(before) + start - question.start, len(before) + end - question.start)
    console.print(shown)
    console.print(f"Because {question.because}.", style="dim")


def _offer(console: Console, case: Case, block: Block, document: Document) -> None:
    """What g would write in a block's place, where senses of its terms are known."""
    try:
        generalized = in_general_words(case.settings, document, block)
    except ShoalError:
        return  # no WordNet: then there is nothing to offer
    if not generalized.edits:
        return
    text, at = "", block.start
    for edit in sorted(generalized.edits, key=lambda edit: edit.start):
        text, at = text + document.text[at : edit.start] + edit.replacement, edit.end
    console.print(f"g would say: {text}{document.text[at : block.end]}", style="dim", markup=False)
    console.print(
        f"At least {counted(generalized.plausibility, 'text')} could have become this one; how likely each is, nobody knows.", style="dim"
    )


def _line() -> str:
    print("> ", end="", flush=True)
    line = sys.stdin.readline()
    return line.strip() if line else "q"
