"""Redacted documents against their certificate: the same files, byte for byte, nothing beside them, and numbers that fit each other."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from shoal.certificate import DocumentsCertificate, PromisePart, RemovedPart
from shoal.checks.folder import check_folder, unchanged
from shoal.checks.leftovers import letters_of, rows_of
from shoal.errors import DataError
from shoal.folders import REPORT
from shoal.promises import NOTHING_LEFT, Checked, Promise

STYLES, NUMBERINGS = ("label", "surrogate", "black-box", "general"), ("appearance", "random")
UNDECIDED, RULE, PERSON = "undecided", "rule", "person"  # who decided
STAYS = ("known places and names on the list", "decided to stay", "undecided, left as they are")
ENDINGS = (".txt", ".md", ".html", ".eml", ".docx", ".pdf")  # of documents that are written
COLUMNS = ("documents.csv", "documents.parquet")
KIND = re.compile("[a-z][a-z0-9-]*")
UNKNOWN = "unknown"  # a kind whose names can turn out to be those of another
DIGITS = 0.0005  # what three digits of a score can leave out
TERMS_A_LETTER = 10  # more terms are not said in general words, however closely a file is packed
BLOCKS = tuple(f"{verdict} by {who}" for verdict in ("redact", "keep", "generalize") for who in (PERSON, RULE))


def verify_documents(folder: Path, certificate: DocumentsCertificate) -> list[Checked]:
    """Files, none missing, none unlisted, none changed; no link, device or empty folder; and a certificate whose numbers fit."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder. Name the one that `shoal documents redact -o` wrote.")
    there = unchanged(folder, certificate.files) - {REPORT}
    letters = {name: letters_of(folder / name) for name in there}
    return [
        *check_folder(folder, certificate.files),
        Checked("the report is listed", 1, found := sum(one.file == REPORT for one in certificate.files), found == 1),
        _documents(folder, certificate),
        _none("files of a name that shoal does not write", _misnamed(certificate)),
        _none("documents without a letter", 0 if certificate.source == "column" else sum(not one for one in letters.values())),
        *_promised(certificate),
        *(_none(what, wrong) for what, wrong in _contradictions(certificate, sum(letters.values())).items()),
    ]


def _misnamed(certificate: DocumentsCertificate) -> int:
    """How many files have a name that none is given: where names are kept, the ending and the place are all that can be told."""
    names = {one.file for one in certificate.files} - {REPORT}
    if certificate.source == "column":
        return len(names - set(COLUMNS))
    odd = {name for name in names if not name.endswith(ENDINGS) or name.split("/")[0] != "documents"}
    odd |= {name for name in names if PurePosixPath(name).as_posix() != name or ".." in name.split("/")}
    return len(odd | {name for name in names if name.endswith(".pdf") and f"{name}.txt" not in names})


def _documents(folder: Path, certificate: DocumentsCertificate) -> Checked:
    """How many documents were written, counted by files, or by rows where they are cells of a table. A PDF is two files: pictures, and text."""
    names = {one.file for one in certificate.files} - {REPORT}
    if certificate.source == "column":
        found = sum(rows_of(folder / name) for name in names & unchanged(folder, certificate.files) if "/" not in name)
        fits = len(names) == 1
    else:
        found = sum(not (name.endswith(".pdf.txt") and name.removesuffix(".txt") in names) for name in names)
        fits = all(name.startswith("documents/") for name in names)
    said = certificate.documents.get("written", 0)
    return Checked("documents written", said, found, fits and found == said > 0)


def _promised(certificate: DocumentsCertificate) -> list[Checked]:
    """What was removed is not known here, so it cannot be searched for again: it must be promised, once, with a count that keeps it."""
    promise = Promise(NOTHING_LEFT.name, 0, ())
    return [
        Checked("promises", 1, len(certificate.promises), len(certificate.promises) == 1),
        *(_as_certified(one, promise) for one in certificate.promises),
    ]


def _as_certified(part: PromisePart, promise: Promise) -> Checked:
    same = part == PromisePart.of(promise, Checked.of(promise, part.found))
    return Checked(f"{promise.sentence}, as certified", promise.value, part.found, same and part.holds and part.found >= 0)


def _contradictions(certificate: DocumentsCertificate, letters: int) -> dict[str, int]:
    """Numbers of the certificate that cannot all be true, counted by what they are about; and those for which the files have too few letters."""
    kinds = certificate.removed
    mentions, entities = sum(one.mentions for one in kinds), sum(one.entities for one in kinds)
    blocks = sum(n for what, n in certificate.blocks.items() if what.startswith("redact "))
    generalized = any(n for what, n in certificate.blocks.items() if what.startswith("generalize "))
    looked_for = certificate.searched + certificate.too_short_to_search
    written = certificate.documents.get("written", -1)
    undecided = sum(one.by.get(UNDECIDED, 0) for one in kinds), certificate.stays.get(STAYS[2], 0)
    rules = certificate.rules
    by_score = any(n for what, n in certificate.blocks.items() if what.endswith(RULE))
    return {
        "kinds that do not add up": sum(
            one.mentions < 1
            or sum(one.by.values()) != one.mentions
            or not _counts(one.by, (PERSON, RULE, UNDECIDED))
            or not 0 <= one.least_sure <= one.surest <= 1
            or one.entities < 0
            or (_by_nobody(one) and (not KIND.fullmatch(one.kind) or one.entities < (one.kind != UNKNOWN)))
            for one in kinds
        )
        + (len({one.kind for one in kinds}) != len(kinds)),
        "counts that contradict each other": sum(
            (
                entities > mentions,
                not entities and any(map(_by_nobody, kinds)),
                sum(certificate.reasons.values()) != mentions + blocks,
                certificate.again > 0 and not mentions,
                looked_for > mentions + certificate.again + blocks + TERMS_A_LETTER * letters * generalized,
                looked_for < 1 <= mentions,
                not 0 <= certificate.perhaps_in <= written,
                min(certificate.again, certificate.left_out, certificate.searched, certificate.too_short_to_search) < 0,
                not _counts(certificate.documents, ("written", "not written")) or len(certificate.documents) != 2,
                not _counts(certificate.blocks, BLOCKS),
                not _counts(certificate.stays, STAYS),
                any(n < 1 for n in certificate.reasons.values()),
            )
        ),
        "rules that were not kept to": sum(
            (
                certificate.style not in STYLES,
                certificate.numbering not in NUMBERINGS,
                set(rules) != {"accept", "undecided", "accept_blocks"},
                undecided[0] > 0 and rules.get("undecided") != "redact",
                undecided[1] > 0 and rules.get("undecided") != "keep",
                by_score and rules.get("accept_blocks") is None,
                sum(not _as_sure(one, rules.get("accept")) for one in kinds),
                not _is_share(rules.get("accept")) or not (rules.get("accept_blocks") is None or _is_share(rules["accept_blocks"])),
            )
        ),
    }


def _by_nobody(one: RemovedPart) -> bool:
    """Whether something of a kind went without a person's word. What a person marks goes under any name, and though a list keeps the others."""
    return one.by.get(PERSON, 0) < one.mentions


def _as_sure(one: RemovedPart, accept: object) -> bool:
    """A rule removes what is as sure as was asked, nobody what is not; of what a person removed there is nothing to say."""
    if not isinstance(accept, int | float):
        return False
    rule, undecided = (one.by.get(who, 0) for who in (RULE, UNDECIDED))
    return not (
        (rule and one.surest < accept - DIGITS)
        or (undecided and one.least_sure > accept + DIGITS)
        or (rule == one.mentions and one.least_sure < accept - DIGITS)
        or (undecided == one.mentions and one.surest > accept + DIGITS)
    )


def _counts(given: Mapping[str, int], known: tuple[str, ...]) -> bool:
    return set(given) <= set(known) and all(n >= 0 for n in given.values())


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _none(what: str, found: int) -> Checked:
    return Checked(what, 0, found, found == 0)
