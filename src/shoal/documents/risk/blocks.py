"""Risky blocks: stretches of a text where risk terms stand closer together than they usually do (section 3.1.2)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from shoal.arrays import IntArray
from shoal.document import Block
from shoal.documents.risk.terms import Hits
from shoal.errors import ParameterError

Border = Literal["sentence", "paragraph", "word"]

# A full stop ends a sentence unless it stands behind an initial or one of these.
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+(?=[^a-z\s])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Gen|Col|Lt|Sgt|Capt|Adm|Amb|Sen|Rep|Gov|Pres|No|Nos|vs|cf|al|Jr|Sr|Inc|Ltd|Co|Corp|pp?))\.$"
)
_BLANK_LINE = re.compile(r"\n[ \t\r\f\v]*\n\s*")
_LINE = re.compile(r"\n\s*")

_WEIGHT = 20.0  # words: how long a block has to be before its own density outweighs the usual one


def background(hits: Iterable[Hits]) -> float:
    """How many of a hundred words are risk terms in a corpus as a whole, as a share: what a block's density is held against."""
    found = words = 0
    for one in hits:
        found += len(one.word)
        words += one.words
    return found / words if words else 0.0


def blocks(
    text: str,
    hits: Hits,
    terms: Sequence[str],
    usual: float,
    reach: int = 25,
    least: int = 3,
    times: float = 2.0,
    border: Border = "sentence",
) -> list[Block]:
    """Stretches dense with risk terms, widened to whole sentences or paragraphs.

    The places of hits, counted in words, are clustered by density: DBSCAN in one dimension (Ester et al. 1996). A hit is a core if
    at least `least` hits, itself one of them, stand within `reach` words of it, and these are at least `times` as dense as `usual`,
    the share of risk terms in the corpus (see `background`). Cores within `reach` of each other belong to one block, and so do the
    hits within `reach` of a core.

    A block's score is d / (d + usual), where d is its density, drawn towards the usual one if the block is short: 0.5 is as dense
    as the corpus, 0.8 four times as dense, 0.9 nine times. Where every document is full of risk terms none stands out: then choose
    fewer terms, or give a `usual` from other documents.
    """
    if reach < 1:
        raise ParameterError(f"reach must be 1 word or more, got {reach}.")
    if least < 1:
        raise ParameterError(f"least must be 1 hit or more, got {least}.")
    if not times > 0:
        raise ParameterError(f"times must be more than 0, got {times:g}.")
    if not 0 <= usual <= 1:
        raise ParameterError(f"usual is a share, from 0 to 1, got {usual:g}.")
    spans = [(int(hits.start[first]), int(hits.end[last])) for first, last in clusters(hits.word, hits.words, reach, least, times * usual)]
    cuts = _borders(text, border)
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if cuts is not None:
            start = int(cuts[np.searchsorted(cuts, start, "right") - 1])
            end = int(cuts[np.searchsorted(cuts, end, "left")])
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    found = []
    for start, end in merged:
        end = start + len(text[start:end].rstrip())
        first, last = np.searchsorted(hits.start, start), np.searchsorted(hits.end, end, "right")
        words = _words_between(text, hits, int(first), int(last), start, end)
        inside = tuple((int(hits.start[hit]), int(hits.end[hit]), terms[hits.term[hit]]) for hit in range(first, last))
        found.append(Block(start, end, score(len(inside), words, usual), inside))
    return found


def clusters(places: IntArray, words: int, reach: int, least: int, density: float) -> list[tuple[int, int]]:
    """First and last hit of each cluster: chains of hits that have enough others around them, and the hits at their rims."""
    low, high = np.maximum(places - reach, 0), np.minimum(places + reach, words - 1)
    around = np.searchsorted(places, high, "right") - np.searchsorted(places, low, "left")
    core = np.flatnonzero((around >= least) & (around >= density * (high - low + 1)))
    if not len(core):
        return []
    breaks = np.flatnonzero(np.diff(places[core]) > reach) + 1
    found: list[tuple[int, int]] = []
    for chain in np.split(core, breaks):
        first = int(np.searchsorted(places, places[chain[0]] - reach, "left"))
        last = int(np.searchsorted(places, places[chain[-1]] + reach, "right")) - 1
        first = max(first, found[-1][1] + 1) if found else first  # a hit at the rim of two belongs to the first
        found.append((first, last))
    return found


def score(hits: int, words: int, usual: float) -> float:
    """How dense a block is against the usual density, 0 to 1; see `blocks`."""
    density = (hits + _WEIGHT * usual) / (words + _WEIGHT)
    return density / (density + usual) if density else 0.0


def _words_between(text: str, hits: Hits, first: int, last: int, start: int, end: int) -> int:
    """Words of a block: those from its first hit to its last are counted already."""
    if first == last:
        return len(text[start:end].split())
    before, behind = text[start : hits.start[first]], text[hits.start[last - 1] : end]
    return int(hits.word[last - 1] - hits.word[first]) + len(before.split()) + len(behind.split())


def _borders(text: str, border: Border) -> IntArray | None:
    """Where blocks may begin and end: sentences and paragraphs. In a text without blank lines, each line is a paragraph."""
    if border == "word":
        return None
    paragraphs = _BLANK_LINE if _BLANK_LINE.search(text) else _LINE
    cuts = {0, len(text), *(match.end() for match in paragraphs.finditer(text))}
    if border == "sentence":
        cuts |= {
            match.end() for match in _SENTENCE_END.finditer(text) if not _ABBREVIATION.search(text, match.start() - 6, match.start() + 1)
        }
    return np.array(sorted(cuts), np.int64)
