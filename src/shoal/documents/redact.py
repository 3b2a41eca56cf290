"""From findings and decisions to edits: what goes, what stays, who said so, and the same words wherever else they stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from shoal.document import BLOCK, Block, Decision, Edit
from shoal.documents.case import DocumentFindings, Logged
from shoal.documents.phrases import PhraseFinder

Undecided = Literal["redact", "keep"]
RULE, NOBODY = "rule", "undecided"  # who decided, where nobody did


@dataclass(frozen=True, slots=True)
class Stretch:
    """A finding with its verdict: `by` a person, the rule of how sure it is, or nobody."""

    start: int
    end: int
    kind: str
    verdict: Literal["redact", "keep"]
    by: str
    reason: str = ""
    confidence: float = 1.0
    because: str = ""

    @property
    def by_person(self) -> bool:
        """Whether somebody decided."""
        return self.by not in (RULE, NOBODY)


@dataclass(frozen=True, slots=True)
class BlockVerdict:
    """A risky block with its verdict; `open` while nobody has said."""

    block: Block
    verdict: Literal["redact", "keep", "generalize", "open"]
    by: str
    reason: str = ""

    @property
    def by_person(self) -> bool:
        """Whether somebody decided."""
        return self.by not in (RULE, NOBODY)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Everything decided about one document, in order. Stretches do not overlap."""

    stretches: tuple[Stretch, ...]
    blocks: tuple[BlockVerdict, ...]
    going: tuple[Stretch, ...]  # to be replaced: those that go, outside blocks that go as a whole

    @staticmethod
    def of(stretches: Sequence[Stretch], blocks: Sequence[BlockVerdict]) -> Verdicts:
        """From what is decided about each."""
        whole = [one.block for one in blocks if one.verdict == "redact"]
        going = [one for one in stretches if one.verdict == "redact" and not any(b.start < one.end and one.start < b.end for b in whole)]
        return Verdicts(tuple(stretches), tuple(blocks), tuple(going))


def verdicts(
    findings: DocumentFindings,
    decided: Sequence[Logged],
    accept: float,
    undecided: Undecided = "redact",
    accept_blocks: float | None = None,
) -> Verdicts:
    """What was decided, and for the rest what the rules say: findings as sure as `accept` go, blocks scored `accept_blocks` or more go."""
    state: dict[tuple[int, int], Stretch] = {}
    for one in findings.findings:
        sure = one.confidence >= accept
        verdict: Literal["redact", "keep"] = "redact" if sure else undecided
        state[one.start, one.end] = Stretch(
            one.start, one.end, one.kind, verdict, RULE if sure else NOBODY, "", one.confidence, one.because
        )
    about_blocks: dict[tuple[int, int], Decision] = {}
    for entry in decided:
        decision = entry.decision
        place = (decision.start, decision.end)
        if decision.kind == BLOCK:
            about_blocks[place] = decision
            continue
        if place not in state:
            if decision.verdict != "redact" or decision.end > findings.length:
                continue
            for other in [key for key in state if key[0] < decision.end and decision.start < key[1]]:
                del state[other]  # a longer or shorter stretch was chosen in its place
        before = state.get(place)
        state[place] = Stretch(
            *place,
            decision.kind,
            "keep" if decision.verdict == "keep" else "redact",
            decision.by,
            decision.reason,
            before.confidence if before else 1.0,
            before.because if before else "marked by hand",
        )
    return Verdicts.of([state[key] for key in sorted(state)], [_block(block, about_blocks, accept_blocks) for block in findings.blocks])


def _block(block: Block, decided: dict[tuple[int, int], Decision], accept_blocks: float | None) -> BlockVerdict:
    decision = decided.get((block.start, block.end))
    if decision is not None:
        return BlockVerdict(block, decision.verdict, decision.by, decision.reason)
    if accept_blocks is None:
        return BlockVerdict(block, "open", NOBODY)
    return BlockVerdict(block, "redact" if block.score >= accept_blocks else "keep", RULE)


def edits_of(
    text: str, decided: Verdicts, replacements: Sequence[str | None], generalized: Sequence[Edit] = ()
) -> tuple[list[Edit], list[tuple[int, int]], int]:
    """The edits, the stretches that stay though their words may go elsewhere, and how many edits were added for words that stand again.

    `replacements` are for `decided.going`, one each, None where a list keeps the name; `generalized` are for terms of blocks.
    """
    edits = [
        Edit(one.block.start, one.block.end, f"[removed: {one.reason}]" if one.reason else "[removed]")
        for one in decided.blocks
        if one.verdict == "redact"
    ]
    kept = [(one.start, one.end) for one in decided.stretches if one.verdict == "keep" and one.by != NOBODY]
    undecided = [(one.start, one.end) for one in decided.stretches if one.verdict == "keep" and one.by == NOBODY]
    listed: list[tuple[int, int]] = []
    for one, words in zip(decided.going, replacements, strict=True):
        if words is None:
            listed.append((one.start, one.end))
        else:
            edits.append(Edit(one.start, one.end, words))
    taken = sorted((edit.start, edit.end) for edit in edits)
    edits += [edit for edit in generalized if not _overlaps(taken, edit.start, edit.end)]
    whole = {(one.block.start, one.block.end) for one in decided.blocks}
    named = [edit for edit in edits if (edit.start, edit.end) not in whole and edit not in generalized]
    more = _everywhere(text, named, sorted([*((edit.start, edit.end) for edit in edits), *kept]), sorted(listed))
    gone = sorted((edit.start, edit.end) for edit in more)
    kept += [span for span in (*listed, *undecided) if not _overlaps(gone, *span)]
    return sorted([*edits, *more], key=lambda edit: edit.start), kept, len(more)


def _everywhere(text: str, edits: Sequence[Edit], taken: Sequence[tuple[int, int]], listed: Sequence[tuple[int, int]]) -> list[Edit]:
    """The same replacement wherever else in the document the same words stand, unless somebody decided that they stay there.

    A name that a list keeps stays where it stands alone, and goes as part of more words that go ("Arab world" takes "Arab" along):
    left there, the words would be found in what is written.
    """
    becomes: dict[str, str] = {}
    for edit in edits:
        becomes.setdefault(text[edit.start : edit.end], edit.replacement)
    if not becomes:
        return []
    words = list(becomes.values())

    def free(start: int, end: int) -> bool:
        return not _overlaps(taken, start, end) and _takes_along(listed, start, end)

    return [Edit(start, end, words[number]) for start, end, number in PhraseFinder(becomes, "open").occurrences(text, free)]


def _takes_along(listed: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether the stretch is more than each kept name that it touches."""
    at = bisect_left(listed, (start, start))
    if at and listed[at - 1][1] > start:
        return False
    return all(one[1] <= end and one != (start, end) for one in takewhile(lambda one: one[0] < end, listed[at:]))


def _overlaps(taken: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    at = bisect_left(taken, (start, start))
    return (at < len(taken) and taken[at][0] < end) or (at > 0 and taken[at - 1][1] > start)
