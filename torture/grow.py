"""`python -m torture.grow`: damaged files that are refused at a place where no kept one is, or read in spite of their damage, join the corpus.

A file is kept for where it ends: the last place in shoal that saw it. Of several that end in one place the smallest is kept. A kind keeps MOST
files of at most LARGEST bytes; what once broke something is put there by hand, and stays.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import traceback

from torture.damaged import CORPUS, content, kept, seeds, to_keep, tried, warm
from torture.readers import READERS

MOST, LARGEST = 6, 6000
NOT_KEPT = ("private key",)  # nobody should come across one in a repository


def main() -> None:
    """So many mutations of each kind."""
    parser = argparse.ArgumentParser("torture.grow", description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="mutations of each kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    warm()
    for kind in (one for one in READERS if one not in NOT_KEPT):
        there = {_place(kind, content(path)) for path in kept() if path.parent.name == kind}
        found: dict[str, bytes] = {}
        for number in range(asked.n):
            draw = random.Random(f"{asked.seed} {kind} {number}")
            raw = READERS[kind].damage(draw.choice(seeds(kind)), draw.choice(seeds(draw.choice(list(READERS)))), draw)
            place = _place(kind, raw)
            if place not in there and len(raw) <= LARGEST and (place not in found or len(raw) < len(found[place])):
                found[place] = raw
        room = max(0, MOST - len([path for path in kept() if path.parent.name == kind]))
        for raw in sorted(found.values(), key=len)[-room:] if room else ():  # the longest got furthest
            path = CORPUS / kind / hashlib.sha256(to_keep(raw)).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(to_keep(raw))
        print(f"{kind}: {len(found)} new places, {min(room, len(found))} kept")


def _place(kind: str, raw: bytes) -> str:
    """Where a file ended; of one that was read, that it was."""
    try:
        failure, refused, error = tried(READERS[kind], raw)
    except Exception as unforeseen:
        failure, refused, error = "unforeseen", False, unforeseen
    if error is None:
        return "read"
    inside = [frame for frame in traceback.extract_tb(error.__traceback__) if "shoal" in frame.filename]
    return f"{failure} {refused} {inside[-1].filename}:{inside[-1].lineno}" if inside else type(error).__name__


if __name__ == "__main__":
    main()
