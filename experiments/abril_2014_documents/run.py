"""Print Tables 3.5 to 3.8 of Abril (2014) for declassified documents beside the thesis's, and what historians and declassifiers say to the findings."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import detection
from experiments.abril_2014_documents.corpus import archive, frus
from experiments.abril_2014_documents.gaps import near_gaps
from experiments.abril_2014_documents.historians import recall
from experiments.abril_2014_documents.sanitized import SENSES, block_scores, sanitize, written_everywhere
from experiments.abril_2014_documents.tables import agreement_lost, asked, differences, means, show, thesis_means
from shoal.documents.risk.terms import RISK_SEEDS, grow
from shoal.text.wordnet import read_wordnet

PARTS = ("tables", "archive", "historians", "gaps", "quality")
QUICK = 300


def main(words: Sequence[str] | None = None) -> None:
    """Everything, or the parts named."""
    parser = argparse.ArgumentParser(prog="python -m experiments.abril_2014_documents", description=__doc__)
    parser.add_argument("--part", choices=PARTS, action="append", help="this part alone; may be given more than once")
    parser.add_argument("--quick", action="store_true", help=f"the first {QUICK} documents")
    given = parser.parse_args(words)
    parts = given.part or PARTS
    began = time.process_time()
    records = frus()[: QUICK if given.quick else None]
    if set(parts) & {"tables", "archive", "historians", "gaps"}:
        with tempfile.TemporaryDirectory() as folder:
            done = sanitize(records, Path(folder))
        block_scores(done)
        whole = written_everywhere(records, done)
        known = archive(whole)
        if "tables" in parts or "archive" in parts:
            rows = [[t.query, t.volume, t.words, f"{t.returned:,}, {len(t.chosen)}"] for t in known.topics]
            show("Queries in the manner of Table 3.3", ["", "volume", "words", "returned, chosen"], rows)
        if "tables" in parts:
            print("\nA corpus as large as the thesis's: the chosen documents and ten at random")
            chosen = set(known.names)
            utility, risk = asked([one for one in whole if one.name in chosen], done.texts, known)
            agreement_lost("Table 3.5, % of a query's documents lost", "3.5", utility, {run: run for run in utility})
            differences("Table 3.6, changes in % (steps 1+2)", "3.6", utility["steps 1+2"], "IL")
            agreement_lost("Table 3.7, % of a query's documents lost", "3.7", risk, {run: "NMI" for run in risk if run.startswith("steps")})
            differences("Table 3.8, changes in % (steps 1+2)", "3.8", risk["steps 1+2"], "RD")
            means("Information loss and risk", utility, risk, thesis_means())
        if "archive" in parts:
            print("\nThe same queries over all documents")
            utility, risk = asked(whole, done.texts, known)
            means("Information loss and risk, all documents", utility, risk, thesis_means())
        if "historians" in parts:
            recall(records, done)
        if "gaps" in parts:
            near_gaps(records, "synonyms and direct hyponyms", done.terms.terms)
            near_gaps(records, "synonyms", grow(read_wordnet(), RISK_SEEDS, 0, SENSES).terms)
    if "quality" in parts:
        print("\nFinding names and personal data (benchmarks.detection)")
        detection.main()
    print(f"\nAll: {(time.process_time() - began) / 60:.1f} CPU minutes.")
