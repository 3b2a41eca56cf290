"""Risky blocks and the places where declassifiers left a gap: do the two meet oftener than chance?"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from experiments.abril_2014_documents.corpus import GAP, Record, without_gaps
from experiments.abril_2014_documents.tables import show
from shoal.document import Block
from shoal.documents.risk.blocks import background, blocks
from shoal.documents.risk.terms import RiskTerms
from shoal.randomness import rng_for
from shoal.text.wordnet import read_wordnet

REACH = 25  # words, as blocks are made with
DRAWS = 1000
TEXT_GAP = re.compile(r"line|paragraph|page|text|sentence|word", re.I)  # the others stand for a name, a place, a number
IntArray = NDArray[np.int64]


def near_gaps(records: Sequence[Record], label: str, terms: Sequence[str]) -> None:
    """Blocks of the texts without the editors' words in the gaps, which name sources themselves."""
    risk = RiskTerms(tuple(terms), read_wordnet())
    texts = [without_gaps(one.text) for one in records]
    hits = list(risk.find_all(texts))
    usual = background(hits)
    found = [blocks(text, one, risk.terms, usual) for text, one in zip(texts, hits)]
    words = np.array([one.words for one in hits])
    has_gap = np.array([one.gaps > 0 for one in records])
    number = np.array([len(one) for one in found])
    risky = np.array([len(one.word) for one in hits])
    rows = [
        [label, f"{which.sum():,}", f"{risky[which].sum() / words[which].sum():.2%}", f"{1000 * number[which].sum() / words[which].sum():.2f}",
         f"{(number[which] > 0).mean():.3f}"]
        for label, which in (("with a gap", has_gap), ("without", ~has_gap))
    ]  # fmt: skip
    show(
        f"Documents where declassifiers left a gap ({len(terms):,} risk terms: {label})",
        ["", "documents", "words that are risk terms", "blocks per 1,000 words", "with a block"],
        rows,
    )
    rows = []
    for label, wanted in (("all gaps", None), ("gaps of text", True), ("gaps of a name or number", False)):
        rows.append([label, *_against_chance(records, texts, found, wanted)])
    heads = ["", "documents", "blocks", "near a gap", "chance", "p", "gaps", "with a block near", "chance", "p"]
    show(
        f"Blocks within {REACH} words of a gap, and stretches as long in a random place of the same document ({DRAWS:,} draws)", heads, rows
    )


def _against_chance(records: Sequence[Record], texts: Sequence[str], found: Sequence[Sequence[Block]], wanted: bool | None) -> list[str]:
    rng = rng_for(1, "places")
    documents = here = gaps_here = near_blocks = near_gaps_ = 0
    by_chance, gaps_by_chance = np.zeros(DRAWS, np.int64), np.zeros(DRAWS, np.int64)
    for one, text, mine in zip(records, texts, found):
        gaps = [gap for gap in GAP.finditer(one.text) if wanted is None or bool(TEXT_GAP.search(gap.group())) == wanted]
        if not gaps:
            continue
        starts = np.array([word.start() for word in re.finditer(r"\S+", text)])
        at = np.searchsorted(starts, [gap.start() for gap in gaps])  # words before each gap
        first = np.searchsorted(starts, [block.start for block in mine])
        last = np.searchsorted(starts, [block.end for block in mine])
        documents, here, gaps_here = documents + 1, here + len(mine), gaps_here + len(gaps)
        if not mine:
            continue
        meet = _meet(first, last - first, at)
        near_blocks, near_gaps_ = near_blocks + int(meet.any(axis=1).sum()), near_gaps_ + int(meet.any(axis=0).sum())
        drawn = rng.integers(0, np.maximum(len(starts) - (last - first), 0) + 1, (DRAWS, len(mine)))
        meet = _meet(drawn, last - first, at)
        by_chance += meet.any(axis=2).sum(axis=1)
        gaps_by_chance += meet.any(axis=1).sum(axis=1)
    return [
        f"{documents:,}",
        f"{here:,}",
        *_shares(near_blocks, by_chance, here),
        f"{gaps_here:,}",
        *_shares(near_gaps_, gaps_by_chance, gaps_here),
    ]


def _meet(first: IntArray, length: IntArray, gaps: IntArray) -> NDArray[np.bool_]:
    """Whether each block (second axis from the end) comes within reach of each gap (last axis)."""
    low, high = first - REACH, first + length + REACH
    met: NDArray[np.bool_] = (low[..., None] <= gaps) & (gaps <= high[..., None])
    return met


def _shares(near: int, by_chance: IntArray, whole: int) -> list[str]:
    """The share, what chance gives, and how often chance gives as much."""
    p = (1 + int((by_chance >= near).sum())) / (1 + len(by_chance))
    return [f"{near / max(1, whole):.3f}", f"{by_chance.mean() / max(1, whole):.3f}", f"{p:.3f}"]
