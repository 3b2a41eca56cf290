"""Found names against the persons and places that historians list for each document."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from benchmarks.detection import covered, covered_characters
from experiments.abril_2014_documents.corpus import Record
from experiments.abril_2014_documents.sanitized import Sanitized
from experiments.abril_2014_documents.tables import show
from shoal.document import LOCATION, PERSON

LISTS: Mapping[str, tuple[str, Callable[[Record], Sequence[str]]]] = {
    "persons": (PERSON, lambda one: one.persons),
    "places": (LOCATION, lambda one: one.places),
}


def mentions(text: str, names: Sequence[str]) -> list[tuple[int, int]]:
    """Where listed names stand, as whole words in their own case; of overlapping ones the longest."""
    if not names:
        return []
    longest_first = "|".join(re.escape(name) for name in sorted(set(names), key=lambda name: (-len(name), name)))
    return [match.span() for match in re.finditer(rf"(?<!\w)(?:{longest_first})(?!\w)", text)]


def recall(records: Sequence[Record], done: Sanitized) -> None:
    """Per mention: found by a finding that goes without review, by any finding, under its own kind; and what is left in written documents."""
    by_name = {one.name: one for one in records}
    rows = []
    for what, (kind, listed) in LISTS.items():
        total = sure = seen = right = 0
        for looked in done.looked:
            one = by_name[looked.name]
            spans = mentions(one.text, listed(one))
            total += len(spans)
            for least, kinds in ((done.accept, None), (0.0, None), (0.0, kind)):
                found = [(f.start, f.end) for f in looked.findings if f.confidence >= least and kinds in (None, f.kind)]
                cover = covered_characters(len(one.text), found)
                hits = sum(covered(one.text, cover, *span) for span in spans)
                if kinds:
                    right += hits
                elif least:
                    sure += hits
                else:
                    seen += hits
        left = []
        for texts in done.texts.values():
            here = [one for one in records if one.name in texts]
            before = sum(len(mentions(one.text, listed(one))) for one in here)
            left.append(f"{sum(len(mentions(texts[one.name], listed(one))) for one in here) / max(1, before):.3f}")
        rows.append([what, f"{total:,}", *(f"{hits / max(1, total):.3f}" for hits in (sure, seen, right)), *left])
    heads = [
        "listed",
        "mentions",
        f"found, {done.accept:g} sure",
        "found, or put up for review",
        "as its kind",
        *(f"left by {run}" for run in done.texts),
    ]
    show("Persons and places that historians list: every letter of the mention found", heads, rows)
    print("Countries and cities of a million people are meant to keep their names: places that are left are no leak.")
