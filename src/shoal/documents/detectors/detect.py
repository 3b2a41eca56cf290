"""Detection: several layers that know nothing of each other, merged into findings that do not overlap and say who found them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from shoal.contracts import Detector
from shoal.document import LOCATION, ORGANIZATION, PERSON, UNKNOWN, Document, Finding
from shoal.documents.detectors.capitals import Capitals
from shoal.documents.detectors.kinds import read_kinds
from shoal.documents.detectors.labelled_names import LINK, TITLE
from shoal.documents.detectors.recognizers import Recognizers
from shoal.documents.detectors.spacy_layer import SpacyLayer, installed_pipelines
from shoal.documents.detectors.tagger import Tagger
from shoal.errors import UnknownNameError, did_you_mean

NAMES = (PERSON, ORGANIZATION, LOCATION, UNKNOWN)  # kinds that layers guess: where two differ, the longer and surer guess names the whole
TITLE_REACH, LINK_REACH = 40, 120  # characters
LAYERS = ("recognizers", "tagger", "spacy", "capitals")


def default_detectors(layers: Sequence[str] = LAYERS[:3], kinds: Path | None = None, pipeline: str | None = None) -> list[Detector]:
    """The detectors of the layers named, and of a file of kinds.

    `spacy` is left out when no English pipeline is installed, unless `pipeline` names one. `capitals` is for review: it finds much that
    is no name, so it is not among the layers unless asked for.
    """
    for layer in layers:
        if layer not in LAYERS:
            raise UnknownNameError(f"There is no layer named '{layer}'.{did_you_mean(layer, LAYERS)} Known: {', '.join(LAYERS)}.")
    out: list[Detector] = []
    if "recognizers" in layers:
        out.append(Recognizers())
    if "tagger" in layers:
        out.append(Tagger())
    if "spacy" in layers:
        chosen = pipeline or next((name for name in reversed(installed_pipelines()) if name.startswith("en_")), None)
        out += [SpacyLayer(chosen)] if chosen else []
    if "capitals" in layers:
        out.append(Capitals())
    if kinds is not None:
        out.append(read_kinds(kinds))
    return out


def detect(document: Document, detectors: Sequence[Detector], threshold: float = 0.0) -> list[Finding]:
    """What the detectors find together, in order, without overlap. Findings less sure than the threshold are left out."""
    found = [(detector.name, finding) for detector in detectors for finding in detector.detect(document) if finding.confidence >= threshold]
    return whole_names(document.text, without_headings(document.text, merge(found)))


def merge(found: Iterable[tuple[str, Finding]]) -> list[Finding]:
    """Findings of several layers as findings that do not overlap and cover the same characters.

    Names that overlap become one. A name and something with a form of its own (an address, a number) stay two: the form keeps its
    stretch, the name what is left of its own.
    """
    pairs = list(found)
    forms = _unite([(layer, one) for layer, one in pairs if one.kind not in NAMES])
    names = _unite([(layer, one) for layer, one in pairs if one.kind in NAMES])
    return sorted([*forms, *_outside(names, forms)], key=lambda one: one.start)


def _unite(pairs: list[tuple[str, Finding]]) -> list[Finding]:
    out: list[Finding] = []
    group: list[tuple[str, Finding]] = []
    end = -1
    for layer, one in sorted(pairs, key=lambda pair: (pair[1].start, -pair[1].end, pair[0], pair[1].kind)):
        if group and one.start < end:
            group.append((layer, one))
            end = max(end, one.end)
            continue
        if group:
            out.append(_one_of(group))
        group, end = [(layer, one)], one.end
    if group:
        out.append(_one_of(group))
    return out


def _one_of(group: list[tuple[str, Finding]]) -> Finding:
    """One finding for several that overlap: a guess of a kind beats 'unknown', and the longer and surer of two guesses wins."""
    best = max(group, key=lambda pair: (pair[1].kind != UNKNOWN, pair[1].confidence * (pair[1].end - pair[1].start), pair[1].kind))[1]
    reasons = dict.fromkeys(f"{layer}: {one.because}" for layer, one in group)
    start, end = min(one.start for _, one in group), max(one.end for _, one in group)
    return Finding(start, end, best.kind, max(one.confidence for _, one in group), "; ".join(reasons))


def _outside(names: list[Finding], forms: list[Finding]) -> list[Finding]:
    """The parts of names that no form covers."""
    out: list[Finding] = []
    at = 0
    for name in names:
        while at < len(forms) and forms[at].end <= name.start:
            at += 1
        start, next_form = name.start, at
        while next_form < len(forms) and forms[next_form].start < name.end:
            if forms[next_form].start > start:
                out.append(_between(name, start, forms[next_form].start))
            start = max(start, forms[next_form].end)
            next_form += 1
        if start < name.end:
            out.append(_between(name, start, name.end))
    return out


def _between(one: Finding, start: int, end: int) -> Finding:
    return Finding(start, end, one.kind, one.confidence, one.because)


# Words of forms and letters that begin with a capital and are nobody's name. Ward, Page and Born are: they are not among them.
LABELS_OF_FORMS = frozenset(
    {"mrn", "dob", "nhs", "gp", "nok", "tel", "fax", "cc", "bcc", "ref", "attn", "ext", "email", "telephone", "phone"}
)
GREETINGS = frozenset({"dear", "hello", "hi", "thank", "thanks", "yours", "sincerely", "regards"})
NOBODY = LABELS_OF_FORMS | GREETINGS | {"address", "date", "name", "role", "title", "witness", "signed", "signature", "patient", "subject"}
_WORDS = re.compile(r"[^\W_]+(?:[.'’-][^\W_]+)*")
_GAP = re.compile(r"[ \u00a0]{2,}|\t")


def without_headings(text: str, findings: list[Finding]) -> list[Finding]:
    """Names without the words of a form at their ends ('Ann Lee  MRN', 'Dear Ann'); a name of nothing else goes, and a wide gap ends one."""
    out: list[Finding] = []
    for one in findings:
        if one.kind not in NAMES or (one.kind == LOCATION and not any(map(str.isalpha, text[one.start : one.end]))):  # coordinates
            out.append(one)
            continue
        at = one.start
        for gap in [*_GAP.finditer(text, one.start, one.end), None]:
            start, end = at, gap.start() if gap else one.end
            at = gap.end() if gap else one.end
            words = list(_WORDS.finditer(text, start, end))
            if all(word.group().lower() in NOBODY for word in words):
                continue
            while words[0].group().lower() in LABELS_OF_FORMS | GREETINGS:
                del words[0]
            while words[-1].group().lower() in LABELS_OF_FORMS:
                del words[-1]
            if any(letter.isalpha() for word in words for letter in word.group()):
                last = end if words[-1].end() == list(_WORDS.finditer(text, start, end))[-1].end() else words[-1].end()
                out.append(replace(one, start=max(start, words[0].start()) if words[0].start() > start else start, end=last))
    return out


def whole_names(text: str, findings: list[Finding]) -> list[Finding]:
    """Findings without stray marks at their ends; persons with their title, and as one where only an initial or a 'van der' parts them."""
    out: list[Finding] = []
    i = 0
    while i < len(findings):
        one = findings[i]
        floor = out[-1].end if out else 0
        start, end = _trimmed(text, max(one.start, floor), one.end, "" if one.kind in NAMES else "@+(-$€£¥₹")
        i += 1
        if start >= end:
            continue
        if one.kind == PERSON:
            start = _with_title(text, start, out)
            roof = next((later.start for later in findings[i : i + 4] if later.kind != PERSON), end + LINK_REACH)
            link = LINK.match(text, end, min(roof, end + LINK_REACH))
            end = link.end() if link else end
            while i < len(findings) and findings[i].start < end:  # persons, who are now one
                end = max(end, findings[i].end)
                i += 1
        out.append(_between(one, start, end))
    return out


def _with_title(text: str, start: int, before: list[Finding]) -> int:
    """Where a person's name begins with its title. A title that a layer took for a name of its own is one no more."""
    last = before[-1] if before and before[-1].kind in NAMES else None
    floor = (before[-2].end if len(before) > 1 else 0) if last else (before[-1].end if before else 0)
    title = TITLE.search(text, max(floor, start - TITLE_REACH), start)
    if title is None or last is None or last.end <= title.start():
        return title.start() if title else start
    if title.start() <= last.start:
        before.pop()
        return title.start()
    title = TITLE.search(text, last.end, start)
    return title.start() if title else start


def _trimmed(text: str, start: int, end: int, keep: str) -> tuple[int, int]:
    while start < end and not (text[start].isalnum() or text[start] in keep):
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;:"):
        end -= 1
    return start, end
