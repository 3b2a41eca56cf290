"""What redacting a case would do: who is the same entity in all documents, and what stands in each place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from shoal.document import Document
from shoal.documents.case import Case, read_private
from shoal.documents.failures import failure_of
from shoal.documents.names.entities import Entity, Mention, resolve
from shoal.documents.names.places import Places
from shoal.documents.names.styles import Numbering, Style, map_to_json, replacements
from shoal.documents.pipeline.originals import Originals
from shoal.documents.redact import Undecided, Verdicts, verdicts
from shoal.errors import DataError, ParameterError, counted
from shoal.randomness import rng_for

Names = Literal["number", "keep"]
Formulas = Literal["keep", "escape"]


@dataclass(frozen=True)
class Choices:
    """How a case is redacted, and what decides where nobody did. Files are called by a number drawn at random, since a name can be a person's."""

    style: Style = "label"
    numbering: Numbering = "appearance"
    names: Names = "number"
    undecided: Undecided = "redact"
    accept_blocks: float | None = None
    formulas: Formulas = "keep"  # of rows of a CSV

    def __post_init__(self) -> None:
        if self.accept_blocks is not None and not 0 <= self.accept_blocks <= 1:
            raise ParameterError(f"accept_blocks is a score between 0 and 1, got {self.accept_blocks:g}.")


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """What is decided about one document, and what comes in place of what goes."""

    name: str
    called: str  # outside
    digest: str
    length: int
    verdicts: Verdicts
    texts: tuple[str, ...]  # of the stretches
    replacements: tuple[str | None, ...]  # of the stretches that go; None where a list keeps the name
    failure: str = ""  # why nothing could be planned: then it is not written

    def check(self, document: Document) -> None:
        """The document must be the one that was looked through."""
        if document.digest != self.digest or len(document.text) != self.length:
            raise DataError(f"{self.name} has changed since it was looked through. Run detect again.")
        if any(document.text[one.start : one.end] != text for one, text in zip(self.verdicts.stretches, self.texts)):
            raise DataError(f"The findings of {self.name} are not about this text: findings.jsonl was changed by hand. Run detect again.")


@dataclass(frozen=True)
class Plan:
    """What redacting will do, for every document of a case in its order."""

    case: Case
    choices: Choices
    documents: tuple[DocumentPlan, ...]
    entities: tuple[Entity, ...]
    holders: tuple[tuple[int, ...], ...]  # the documents that name each entity
    map: str  # who is behind each replacement: a secret
    secret: int


def plan(case: Case, originals: Originals, choices: Choices, seed: int | None = None) -> Plan:
    """Put decisions and rules together, find out who is the same, and choose what stands in each place."""
    settings = case.settings
    decided = _decided(case, originals, choices)
    _refuse_open_blocks(case.folder, decided)
    mentions = _mentions(decided)
    entities = resolve(mentions, settings.keep, settings.drop, Places(settings.places) if settings.places >= 0 else None)
    secret = _secret(case.folder) if seed is None else seed
    outside = [int(number) for number in rng_for(secret, "names").permutation(len(decided))]
    if choices.names == "number":  # count along the numbers that files have outside, not along their names
        entities = sorted(entities, key=lambda one: min((outside[mentions[i].document], mentions[i].start) for i in one.mentions))
    drawn = replacements(entities, mentions, choices.style, rng_for(secret, "replacements"), choices.numbering, called=settings.labels)
    going = (stretch for one in decided for stretch in one.verdicts.going)
    # A list of known places keeps what only a rule would remove: what a person marked goes.
    given = [f"[{one.kind}]" if words is None and one.by_person else words for one, words in zip(going, drawn, strict=True)]
    documents, words, width = [], iter(given), len(str(len(decided)))
    for number, one in zip(outside, decided):
        called = one.name if choices.names == "keep" else f"document-{number + 1:0{width}d}"
        documents.append(replace(one, called=called, replacements=tuple(islice(words, len(one.verdicts.going)))))
    holders = tuple(tuple({mentions[i].document for i in one.mentions}) for one in entities)
    return Plan(case, choices, tuple(documents), tuple(entities), holders, map_to_json(entities, mentions, given), secret)


def _decided(case: Case, originals: Originals, choices: Choices) -> list[DocumentPlan]:
    """What is decided about each document. The same words are held once, however often they stand."""
    log, documents = case.decisions(), []
    held: dict[str, str] = {}
    for found in case.findings():
        try:
            state = verdicts(found, log.get(found.name, ()), case.settings.accept, choices.undecided, choices.accept_blocks)
            texts = {(one.start, one.end): text for one, text in zip(found.findings, found.texts)}
            if any((one.start, one.end) not in texts for one in state.stretches):  # marked by hand: these words stand in the document only
                text = originals.read(found.name).text
                texts |= {(one.start, one.end): text[one.start : one.end] for one in state.stretches}
            words = tuple(held.setdefault(text, text) for text in (texts[one.start, one.end] for one in state.stretches))
            documents.append(DocumentPlan(found.name, found.name, found.digest, found.length, _slim(state), words, ()))
        except Exception as error:
            nothing = Verdicts.of((), ())
            documents.append(DocumentPlan(found.name, found.name, found.digest, found.length, nothing, (), (), failure_of(error)))
    return documents


def _slim(state: Verdicts) -> Verdicts:
    """All documents are held at once: the terms of a block only where they will be said in general words."""
    blocks = (one if one.verdict == "generalize" else replace(one, block=replace(one.block, terms=())) for one in state.blocks)
    return replace(state, blocks=tuple(blocks))


def _mentions(decided: Sequence[DocumentPlan]) -> list[Mention]:
    """Everything that goes, in the order of documents."""
    mentions = []
    for number, one in enumerate(decided):
        texts = {stretch.start: text for stretch, text in zip(one.verdicts.stretches, one.texts)}
        mentions += [Mention(number, s.start, s.end, texts[s.start], s.kind, s.confidence) for s in one.verdicts.going]
    return mentions


def _refuse_open_blocks(folder: Path, decided: Sequence[DocumentPlan]) -> None:
    undecided = [n for one in decided if (n := sum(block.verdict == "open" for block in one.verdicts.blocks))]
    if undecided:
        raise DataError(
            f"{counted(sum(undecided), 'risky block')} in {counted(len(undecided), 'document')} {'is' if sum(undecided) == 1 else 'are'} "
            f"undecided. Decide with `shoal documents review {folder}`, or give --accept-blocks 0.8 to remove what scores as much and keep the rest."
        )


def _secret(folder: Path) -> int:
    try:
        secret = int(read_private(folder, "secret.json")["secret"], 16)
    except (KeyError, TypeError, ValueError):
        secret = -1
    if secret < 0:
        raise DataError(f"{folder}/private/secret.json is damaged. Run detect again.")
    return secret
