"""3,000 declassified documents (FRUS) from start to report: detect with risk terms, redact with blocks by their score, report; time and memory.

Run from the repository's root: python -m benchmarks.documents
Each command runs in a process of its own, as a user runs it. Time is both the clock's and the CPU's: on a busy machine the clock says more than the work takes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from shoal.errors import DataError
from shoal.text.wordnet import find_wordnet

SIZES = (750, 1500, 3000)
BAR = 300.0  # seconds, for the last of them
FLAT = 1.25  # peak memory of the last over that of the first: four times the documents
ACCEPT_BLOCKS = 0.5
Measured = dict[str, float]


def main() -> int:
    """How many bars are missed."""
    corpus = Path(os.environ.get("SHOAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data") / "frus" / "frus_sample.jsonl"
    if not corpus.exists():
        print("skipped: frus/frus_sample.jsonl is not there; set SHOAL_DATA to the folder that holds it")
        return 0
    try:
        find_wordnet()
    except DataError as problem:
        print(f"skipped: {problem}")
        return 0
    found: list[dict[str, Measured]] = []
    print(f"{'documents':>10}" + "".join(f"{f'{verb}: clock s':>19}{'CPU s':>7}{'peak MB':>9}" for verb in VERBS) + f"{'not written':>13}")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            write(corpus, size, Path(folder, "documents"))
            found.append({verb: child(verb, folder) for verb in VERBS})
        cells = "".join(f"{one['clock']:>19.0f}{one['cpu']:>7.0f}{one['peak']:>9.0f}" for one in found[-1].values())
        print(f"{size:>10,}{cells}{found[-1]['redact']['failed']:>13,.0f}", flush=True)
    clock, cpu = (sum(one[what] for one in found[-1].values()) for what in ("clock", "cpu"))
    by_cpu = "" if clock < BAR else f"; by the CPU's time {'met' if cpu < BAR else 'missed'}"
    load = f"load of the machine {os.getloadavg()[1]:.1f} on {os.cpu_count()} processors"
    print(
        f"  {SIZES[-1]:,} documents: clock {clock:.0f} s, CPU {cpu:.0f} s (bar {BAR:.0f}: {'met' if clock < BAR else 'missed'}{by_cpu}); {load}"
    )
    missed = int(clock >= BAR)
    for verb in VERBS:
        grown = found[-1][verb]["peak"] / found[0][verb]["peak"]
        missed += grown > FLAT
        print(
            f"  {verb}: memory of {SIZES[-1]:,} over {SIZES[0]:,} documents {grown:.2f} (bar {FLAT:g}: {'met' if grown <= FLAT else 'missed'})"
        )
    return missed


def child(verb: str, folder: str) -> Measured:
    """One command in a process of its own, as a user runs it."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "benchmarks.documents", verb, folder], capture_output=True, text=True, check=True)
    return {"clock": time.perf_counter() - began, **json.loads(done.stdout.splitlines()[-1])}


def write(corpus: Path, size: int, folder: Path) -> None:
    """The first so many documents as text files."""
    folder.mkdir()
    with corpus.open(encoding="utf-8") as lines:
        for _, line in zip(range(size), lines):
            one = json.loads(line)
            (folder / f"{one['volume']}_{one['id']}.txt").write_text(one["text"], encoding="utf-8")


def detect(folder: Path) -> int:
    """Look through the documents with the risk terms of Table 3.1, grown by first senses and direct hyponyms."""
    from shoal.documents.case import Settings
    from shoal.documents.risk.terms import RISK_SEEDS, grow
    from shoal.runs.documents import detect_to_case
    from shoal.text.wordnet import read_wordnet

    terms = grow(read_wordnet(), RISK_SEEDS, 1, 1)
    settings = Settings.parse({"source": str(folder / "documents"), "risk_terms": terms.terms, "risk_senses": terms.senses})
    return len(detect_to_case(settings, folder / "case")["failed"])


def redact(folder: Path) -> int:
    """Write the documents, the certificate and the reports."""
    from shoal.runs.documents import redact_documents

    return len(redact_documents(folder / "case", folder / "out", accept_blocks=ACCEPT_BLOCKS).failed)


VERBS = {"detect": detect, "redact": redact}

if __name__ == "__main__":
    if len(sys.argv) > 1:
        failed = VERBS[sys.argv[1]](Path(sys.argv[2]))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
        print(json.dumps({"failed": failed, "cpu": time.process_time(), "peak": peak}))
    else:
        raise SystemExit(main())
