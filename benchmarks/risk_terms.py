"""Risk terms, blocks and search over 3,000 declassified documents (FRUS), in CPU seconds; and how long WordNet takes to load.

Run from the repository's root: PYTHONPATH=src python -m benchmarks.risk_terms
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shoal.documents.risk.blocks import background, blocks
from shoal.documents.risk.terms import RISK_SEEDS, RiskTerms, grow
from shoal.errors import DataError
from shoal.text.search import SearchEngine
from shoal.text.wordnet import WordNet, find_wordnet, read_wordnet
from shoal.text.words import stems

BAR = 5.0  # megabytes of text per second
TERMS = 4000
LOAD = 0.8  # seconds, what a parser of our own was seen to take


def main() -> int:
    corpus = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "frus" / "frus_sample.jsonl"
    try:
        folder = find_wordnet()
    except DataError as problem:
        print(f"skipped: {problem}")
        return 0
    if not corpus.exists():
        print("skipped: frus/frus_sample.jsonl is not there; set SHOAL_DATA to the folder that holds it")
        return 0
    texts = [json.loads(line)["text"] for line in corpus.open(encoding="utf-8")]
    size = sum(len(text.encode()) for text in texts) / 1e6
    load, wordnet = clock(lambda: read_wordnet(folder))
    print(f"WordNet, {len(wordnet):,} synsets: {load:.2f} s (seen elsewhere: {LOAD:g})")
    terms = most_of(wordnet)
    RiskTerms(["warm-up"], wordnet).find("warm up the compiled parts")
    print(f"{len(texts):,} documents, {size:.1f} MB, {len(terms):,} terms")

    def all_of_it() -> tuple[RiskTerms, list[Any]]:
        matcher = RiskTerms(terms, wordnet)
        return matcher, list(matcher.find_all(texts))

    seconds, (matcher, hits) = clock(all_of_it)
    met = size / seconds >= BAR
    words = sum(one.words for one in hits)
    print(f"  found {sum(len(one.word) for one in hits):,} in {words:,} words: {seconds:.2f} s, {size / seconds:.1f} MB/s "
          f"(bar {BAR:g}: {'met' if met else 'missed'})")  # fmt: skip
    again, _ = clock(lambda: list(matcher.find_all(texts)))
    print(f"  the same once its words are known: {size / again:.1f} MB/s")
    naive, count = clock(lambda: plainly(terms, texts[:100]))
    part = sum(len(text.encode()) for text in texts[:100]) / 1e6
    print(f"  a plain script, word by word, without phrases and slips: {part / naive:.1f} MB/s ({count:,} in 100 documents)")
    usual = background(hits)
    seconds, found = clock(lambda: [blocks(text, one, matcher.terms, usual) for text, one in zip(texts, hits)])
    print(f"  {sum(map(len, found)):,} blocks in {sum(map(bool, found)):,} documents: {seconds:.2f} s")
    seconds, engine = clock(lambda: SearchEngine([str(number) for number in range(len(texts))], texts))
    asked, _ = clock(lambda: engine.search(" ".join(RISK_SEEDS)))
    print(f"  search index of {len(engine.terms):,} stems: {seconds:.2f} s; a query of {len(RISK_SEEDS)} words: {1000 * asked:.0f} ms")
    return int(not met)


def most_of(wordnet: WordNet) -> tuple[str, ...]:
    """Table 3.1's words grown two steps down, with the fewest senses that bring at least four thousand terms."""
    for senses in range(1, 20):
        terms = grow(wordnet, RISK_SEEDS, depth=2, senses=senses).terms
        if len(terms) >= TERMS:
            return terms
    return terms


def plainly(terms: tuple[str, ...], texts: list[str]) -> int:
    """What a script would do: stem each word of the text, and look it up."""
    wanted = set(stems(term for term in terms if " " not in term))
    return sum(stems([match.group().lower()])[0] in wanted for text in texts for match in re.finditer(r"\w+", text))


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    before = time.process_time()
    result = work()
    return time.process_time() - before, result


if __name__ == "__main__":
    sys.exit(main())
