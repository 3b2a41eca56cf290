"""`python -m torture -n 20000`: every part, its cases and failures. `--part tables --case 123 --seed 7` runs one case again, and says all of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from torture.runner import how_to_repeat, part_named, run_case, run_parts, table_of

PARTS = ("tables", "faults", "damaged", "tampering")
PROGRESS = Path(".torture/progress.jsonl")
SHOWN = 50  # failures listed one by one


def main() -> int:
    """1 if anything failed."""
    asked = _arguments()
    if asked.case is not None:
        part = part_named(asked.part)
        getattr(part, "warm", lambda: None)()
        print(getattr(part, "described", lambda number, seed: "")(asked.case, asked.seed))
        outcome = run_case(asked.part, asked.case, asked.seed)
        print(f"{outcome.kind}: {outcome.failure or ('refused' if outcome.refused else 'fine')}")
        return int(bool(outcome.failure))
    done = run_parts([asked.part] if asked.part else PARTS, asked.n, asked.seed, asked.resume, _say)
    failed = [one for one in done if one.outcome.failure]
    for one in failed[:SHOWN]:
        _say(f"\n{how_to_repeat(one, asked.seed)}\n  {one.outcome.kind}: {one.outcome.failure}")
    if len(failed) > SHOWN:
        _say(f"... and {len(failed) - SHOWN:,} more, in {asked.resume}.ended")
    _say(f"\n{table_of(done)}")
    asked.resume.replace(asked.resume.with_name(asked.resume.name + ".ended"))  # the next run begins anew
    return int(bool(failed))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser("torture", description=__doc__)
    parser.add_argument("-n", type=int, default=20_000, help="how many generated tables; the other parts follow from it")
    parser.add_argument("--seed", type=int, default=1, help="what everything is drawn from")
    parser.add_argument("--part", choices=PARTS, help="this part alone")
    parser.add_argument("--case", type=int, help="this case of the part alone")
    parser.add_argument("--resume", type=Path, default=PROGRESS, help="the file of progress, which a run that was killed goes on from")
    asked = parser.parse_args()
    if asked.case is not None and not asked.part:
        parser.error("a case is one of a part: name it with --part")
    return asked


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
