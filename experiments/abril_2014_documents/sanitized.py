"""The two steps over all documents, as a user walks them: detect, then redact without a person, in a folder that is removed again."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from experiments.abril_2014_documents.corpus import Record, write_files
from shoal.documents.case import Case, DocumentFindings, Settings
from shoal.documents.risk.terms import RISK_SEEDS, Expansion, grow
from shoal.runs.documents import detect_to_case, redact_documents
from shoal.text.wordnet import read_wordnet

# Each word's first sense as each part of speech, and its direct hyponyms: nobody chooses senses here, as the thesis's authors did by hand.
SENSES, DEPTH = 1, 1
ACCEPT_BLOCKS = 0.5  # every block that stands out at all; the thesis's authors chose among them by reading
# name: undecided findings, least score of a block that goes
RUNS: dict[str, tuple[str, float]] = {
    "step 1": ("keep", 1.0),
    "steps 1+2": ("keep", ACCEPT_BLOCKS),
    "steps 1+2, unsure too": ("redact", ACCEPT_BLOCKS),
}


@dataclass(frozen=True)
class Sanitized:
    """What was found, and the texts of each run, by the documents' names. A document that could not be written safely has no text."""

    terms: Expansion
    looked: tuple[DocumentFindings, ...]
    texts: dict[str, dict[str, str]]
    accept: float


def sanitize(records: Sequence[Record], folder: Path) -> Sanitized:
    """Everything below the folder given."""
    began = time.process_time()
    terms = grow(read_wordnet(), RISK_SEEDS, DEPTH, SENSES)
    write_files(records, folder / "documents")
    settings = Settings.parse({"source": str(folder / "documents"), "risk_terms": terms.terms, "risk_senses": terms.senses})
    found = detect_to_case(settings, folder / "case")
    print(
        f"{found['documents']:,} documents looked through with {len(terms.terms):,} risk terms (thesis: 655): "
        f"{time.process_time() - began:.0f} CPU seconds"
    )
    print("  " + ", ".join(f"{kind} {n:,}" for kind, n in found["findings"].items()))
    texts: dict[str, dict[str, str]] = {}
    for run, (undecided, blocks) in RUNS.items():
        before, out = time.process_time(), folder / run.replace(" ", "-")
        certificate, failed = redact_documents(folder / "case", out, names="keep", undecided=undecided, accept_blocks=blocks, seed=1)
        texts[run] = {path.name: path.read_text(encoding="utf-8") for path in (out / "documents").iterdir()}
        mentions = sum(one.mentions for one in certificate.removed) + certificate.again
        print(
            f"{run}: {mentions:,} mentions removed, blocks {certificate.blocks}, {len(failed):,} documents not written: "
            f"{time.process_time() - before:.0f} CPU seconds"
        )
    case = Case(folder / "case")
    return Sanitized(terms, tuple(case.findings()), texts, case.settings.accept)


def written_everywhere(records: Sequence[Record], done: Sanitized) -> list[Record]:
    """Those that every run wrote: the others cannot be compared."""
    return [one for one in records if all(one.name in texts for texts in done.texts.values())]


def block_scores(done: Sanitized) -> None:
    """How much a threshold takes away."""
    words = sum(one.length for one in done.looked)
    scores = [(block.score, block.end - block.start) for one in done.looked for block in one.blocks]
    print(f"\n{len(scores):,} risky blocks; a score of .5 is as dense as the corpus, .8 four times as dense")
    for least in (0.5, 0.6, 0.7, 0.75, 0.8):
        taken = [length for score, length in scores if score >= least]
        print(f"  {least:.2f} or more: {len(taken):>6,} blocks, {sum(taken) / words:6.1%} of the text")
    often = Counter(term for one in done.looked for block in one.blocks for _, _, term in block.terms)
    print("  terms most often in blocks: " + ", ".join(f"{term} {n:,}" for term, n in often.most_common(15)))
