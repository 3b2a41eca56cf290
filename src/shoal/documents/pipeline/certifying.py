"""What may be published about redacted documents: numbers, never a text, a name or a file's old name. All come from the records."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from shoal.certificate import DocumentsCertificate, PromisePart, RemovedPart
from shoal.documents.pipeline.planning import Plan
from shoal.documents.pipeline.redacting import DocumentRecord
from shoal.documents.redact import NOBODY, BlockVerdict, Stretch
from shoal.errors import counted
from shoal.promises import NOTHING_LEFT, Checked, Promise

LISTED, DECIDED, UNDECIDED = "known places and names on the list", "decided to stay", "undecided, left as they are"


class Counted(Protocol):
    """What a search of all written files counted: texts that were looked for, too short to be, and found."""

    @property
    def texts(self) -> int: ...
    @property
    def too_short(self) -> int: ...
    @property
    def found(self) -> int: ...
    @property
    def formulas(self) -> int: ...


def certificate_of(plan: Plan, records: Sequence[DocumentRecord], search: Counted) -> DocumentsCertificate:
    """The certificate of what was written, and of what was counted in it."""
    written = [one for one in records if not one.failure]
    promise = Promise(NOTHING_LEFT.name, 0, ())
    checked = Checked.of(promise, search.found)
    files = {part.file: part for one in written for part in one.files}
    settings, choices = plan.case.settings, plan.choices
    parts = {
        "source": "column" if settings.column else "files",
        "files": tuple(files[name] for name in sorted(files)),
        "documents": {"written": len(written), "not written": len(records) - len(written)},
        "style": choices.style,
        "numbering": choices.numbering,
        "removed": _removed(written, _entities(plan, records)),
        "again": sum(one.again for one in written),
        "blocks": _blocks(written),
        "reasons": _reasons(written),
        "stays": _stays(written),
        "left_out": sum(one.left_out for one in written),
        "rules": {"accept": settings.accept, "undecided": choices.undecided, "accept_blocks": choices.accept_blocks},
        "searched": search.texts,
        "too_short_to_search": search.too_short,
        "perhaps_in": sum(one.searched.perhaps for one in written if one.searched is not None),
        "promises": (PromisePart.of(promise, checked),),
    }
    return DocumentsCertificate.now(**parts, warnings=(*_warnings(parts), *_about_formulas(choices.formulas, search.formulas)))


def deciders(records: Sequence[DocumentRecord]) -> Mapping[tuple[str, str], int]:
    """How often each person decided what; for the case's own page."""
    return Counter((one.by, one.verdict) for record in records for one in _decided(record) if one.by_person)


def _decided(record: DocumentRecord) -> tuple[Stretch | BlockVerdict, ...]:
    return (*record.plan.verdicts.stretches, *record.plan.verdicts.blocks)


def _gone(record: DocumentRecord) -> list[Stretch]:
    """The stretches that were replaced."""
    return [one for one, words in zip(record.plan.verdicts.going, record.plan.replacements, strict=True) if words is not None]


def _who(one: Stretch | BlockVerdict) -> str:
    return "person" if one.by_person else one.by


def _entities(plan: Plan, records: Sequence[DocumentRecord]) -> Counter[str]:
    """Entities of each kind that were named in a document that was written, and are not any more."""
    lost = {number for number, one in enumerate(records) if one.failure}
    return Counter(one.kind for one, held in zip(plan.entities, plan.holders, strict=True) if not one.kept and not lost.issuperset(held))


def _removed(written: Sequence[DocumentRecord], entities: Counter[str]) -> tuple[RemovedPart, ...]:
    by: dict[str, Counter[str]] = defaultdict(Counter)
    sure: dict[str, set[float]] = defaultdict(set)
    for stretch in (stretch for one in written for stretch in _gone(one)):
        by[stretch.kind][_who(stretch)] += 1
        sure[stretch.kind].add(stretch.confidence)
    return tuple(
        RemovedPart(
            kind=kind,
            mentions=who.total(),
            entities=entities[kind],
            by=dict(who),
            surest=round(max(sure[kind]), 3),
            least_sure=round(min(sure[kind]), 3),
        )
        for kind, who in sorted(by.items())
    )


def _blocks(written: Sequence[DocumentRecord]) -> dict[str, int]:
    return dict(Counter(f"{block.verdict} by {_who(block)}" for one in written for block in one.plan.verdicts.blocks))


def _reasons(written: Sequence[DocumentRecord]) -> dict[str, int]:
    reasons: Counter[str] = Counter()
    for one in written:
        reasons.update(stretch.reason or "none given" for stretch in _gone(one))
        reasons.update(block.reason or "none given" for block in one.plan.verdicts.blocks if block.verdict == "redact")
    return dict(reasons)


def _stays(written: Sequence[DocumentRecord]) -> dict[str, int]:
    stays: Counter[str] = Counter()
    for one in written:
        listed = sum(words is None for words in one.plan.replacements)
        stays.update({LISTED: listed} if listed else {})
        stays.update(DECIDED if stretch.by_person else UNDECIDED for stretch in one.plan.verdicts.stretches if stretch.verdict == "keep")
    return dict(stays)


def _about_formulas(asked: str, found: int) -> Iterator[str]:
    if found:
        begin = f"{counted(found, 'cell')} {'begins' if found == 1 else 'begin'}"
        yield f"{begin} like a formula: a spreadsheet program may run them. Use --formulas escape."
    if asked == "escape":
        yield "Before text that begins like a formula stands an apostrophe, so that no spreadsheet program runs it."


def _warnings(parts: Mapping[str, Any]) -> tuple[str, ...]:
    """What a reader of the certificate must know."""
    warnings = [
        "What no layer found and nobody marked is still there. Redaction is as good as the review.",
        "Words around a removed name can tell whose it was.",
    ]
    if parts["style"] != "black-box":
        warnings.append(
            "The same number or invented name stands for the same entity in every document: what is known of one mention is known of all."
        )
    if parts["style"] == "surrogate":
        warnings.append("All dates moved by the same number of days: whoever knows one real date knows them all.")
    if nobody := sum(one.by.get(NOBODY, 0) for one in parts["removed"]):
        warnings.append(f"{counted(nobody, 'stretch', 'stretches')} went without anybody having looked, because findings were unsure.")
    if undecided := parts["stays"].get(UNDECIDED):
        warnings.append(f"{counted(undecided, 'finding')} stayed without anybody having looked.")
    if any("rule" in key for key in parts["blocks"]):
        warnings.append("Risky blocks were decided by their score, not by a person.")
    if perhaps := parts["perhaps_in"]:
        warnings.append(
            f"In {counted(perhaps, 'document')} a removed word stands in lower case or inside a longer one: most often another word, not always."
        )
    if short := parts["too_short_to_search"]:
        warnings.append(
            f"{counted(short, 'removed text is', 'removed texts are')} too short to be searched for: {'it' if short == 1 else 'they'} would be found by chance."
        )
    if parts["left_out"]:
        things = counted(parts["left_out"], "picture, object or attachment", "pictures, objects and attachments")
        warnings.append(f"Left out, because no text could be read in them: {things}.")
    if parts["source"] == "column":
        warnings.append(
            "Only the column of texts was written, its rows in an order drawn anew; the other columns need a method of their own."
        )
    if lost := parts["documents"]["not written"]:
        warnings.append(f"{counted(lost, 'document')} could not be written safely and {'is' if lost == 1 else 'are'} not here.")
    return tuple(warnings)
