"""Runs the parts of the torture chamber over several processes, and goes on where a run that was killed has stopped.

A part is a module with

    NAME: str                                   its name, as in `--part tables`
    def share(n: int) -> int: ...               how many of its cases belong to a torture of N
    def run(number: int, seed: int) -> Outcome  one case: numbers go from 0 to share(n) - 1, and (number, seed) is all it depends on

and, if it likes, `def warm() -> None`, called once in each worker before its first case (to import, or to compile kernels). `run` may raise:
that is a failure of the case. A case that takes longer than LONGEST seconds or that kills its worker is one too, and the run goes on.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

LONGEST = 60.0  # seconds of one case
WARM_UP = 900.0  # seconds until a worker is ready: kernels may have to be compiled
SPOKEN = 15.0  # seconds between two lines of progress
ONE_THREAD = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    kind: str  # what the table at the end counts by: a method, a place of a fault, a kind of damage
    failure: str = ""  # what broke, in a sentence; empty when all is well
    refused: bool = False  # shoal said no, in its own words


@dataclass(frozen=True)
class Done:
    """A case and its outcome, as the file of progress keeps it."""

    part: str
    number: int
    outcome: Outcome


def part_named(name: str) -> Any:
    """The module of a part."""
    return import_module(f"torture.{name}")


def run_case(name: str, number: int, seed: int) -> Outcome:
    """One case, here and now; whatever it raises is its failure."""
    try:
        return part_named(name).run(number, seed)  # type: ignore[no-any-return]
    except Exception:
        return Outcome("unforeseen", traceback.format_exc(limit=-6))


def run_parts(
    names: Sequence[str], n: int, seed: int, progress: Path, say: Callable[[str], None], workers: int | None = None
) -> list[Done]:
    """Every case of the parts that `progress` does not have yet; returns all, also those that it had."""
    before = _kept(progress, seed)
    if before:
        say(f"{len(before):,} cases were done before: going on.")
    progress.parent.mkdir(parents=True, exist_ok=True)
    done = {(one.part, one.number): one for one in before}
    with progress.open("a", encoding="utf-8") as file:
        for name in names:
            many = part_named(name).share(n)
            numbers = [number for number in range(many) if (name, number) not in done]
            counted = Counter(failures=sum(bool(one.outcome.failure) for one in before if one.part == name))
            begun = spoken = time.monotonic()
            for ended, outcome in enumerate(_spread(name, numbers, seed, workers or os.cpu_count() or 1), 1):
                done[name, outcome.number] = outcome
                _keep(file, outcome, seed)
                counted["failures"] += bool(outcome.outcome.failure)
                now = time.monotonic()
                if ended == len(numbers) or now - spoken > SPOKEN:
                    spoken = now
                    total = many - len(numbers) + ended
                    say(f"{name}: {total:,} of {many:,} cases, {counted['failures']:,} failures, {ended / (now - begun):.1f} per second")
    return [one for (name, number), one in sorted(done.items()) if name in names and number < part_named(name).share(n)]


def table_of(done: Sequence[Done]) -> str:
    """Part, kind, cases, refused, failures."""
    counted: dict[tuple[str, str], Counter[str]] = {}
    for one in done:
        for kind in (one.outcome.kind, "all"):
            row = counted.setdefault((one.part, kind), Counter())
            row["cases"] += 1
            row["refused"] += one.outcome.refused
            row["failures"] += bool(one.outcome.failure)
    rows = [("part", "kind", "cases", "refused", "failures")]
    for (part, kind), row in sorted(counted.items(), key=lambda item: (item[0][0], item[0][1] == "all", item[0][1])):
        refused = f"{row['refused']:,} ({row['refused'] / row['cases']:.0%})" if row["refused"] else "0"
        rows.append((part, kind, f"{row['cases']:,}", refused, f"{row['failures']:,}"))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    return "\n".join("  ".join(cell.ljust(w) if i < 2 else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths))) for row in rows)


def how_to_repeat(one: Done, seed: int) -> str:
    """The command that runs a case again."""
    return f"python -m torture --part {one.part} --case {one.number} --seed {seed}"


# ---- progress ---------------------------------------------------------------------------------------------------------------------


def _kept(progress: Path, seed: int) -> list[Done]:
    """What a file of progress has of this seed; a line that was cut off by a kill is no line."""
    found = []
    for line in progress.read_text(encoding="utf-8").splitlines() if progress.is_file() else []:
        try:
            one = json.loads(line)
        except ValueError:
            continue
        if one["seed"] == seed:
            found.append(Done(one["part"], one["number"], Outcome(one["kind"], one["failure"], one["refused"])))
    return found


def _keep(file: TextIO, one: Done, seed: int) -> None:
    outcome = one.outcome
    line = {"part": one.part, "number": one.number, "seed": seed}
    line |= {"kind": outcome.kind, "refused": outcome.refused, "failure": outcome.failure}
    file.write(json.dumps(line) + "\n")
    file.flush()


# ---- processes --------------------------------------------------------------------------------------------------------------------


class _Worker:
    """A process that runs cases of one part, one after the other."""

    def __init__(self, name: str, seed: int) -> None:
        self.end, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")  # threads of numba and Arrow do not survive a fork
        self.process = context.Process(target=_serve, args=(theirs, name, seed), daemon=False)
        with mock.patch.dict(os.environ, dict.fromkeys(ONE_THREAD, "1")):  # its own alone: the workers take the cores
            self.process.start()
        theirs.close()
        self.number: int | None = None
        self.until = time.monotonic() + WARM_UP  # the first thing it says is that it is ready

    def give(self, number: int) -> None:
        """The next case."""
        self.number, self.until = number, time.monotonic() + LONGEST
        self.end.send(number)

    def stop(self) -> None:
        """Ended, however it is doing."""
        self.process.kill()
        self.process.join()
        self.end.close()


def _serve(end: Connection, name: str, seed: int) -> None:
    getattr(part_named(name), "warm", lambda: None)()
    end.send(None)
    while True:
        try:
            number = end.recv()
        except EOFError:
            return
        end.send(run_case(name, number, seed))


def _spread(name: str, numbers: Sequence[int], seed: int, many: int) -> Iterator[Done]:
    """The cases over so many workers, each yielded as it ends."""
    if not numbers:
        return
    left = iter(numbers)
    first = _Worker(name, seed)
    _ready(first)  # kernels are compiled once, by the first, and loaded by the others
    workers = [first, *(_Worker(name, seed) for _ in range(min(many, len(numbers)) - 1))]
    try:
        for worker in list(workers):
            if worker is not first:
                _ready(worker)
            _next(worker, left, workers)
        while workers:
            heard = wait([worker.end for worker in workers], timeout=1.0)
            for worker in list(workers):
                number = worker.number
                assert number is not None
                outcome = _heard(worker) if worker.end in heard else None
                if outcome is None and worker.end not in heard and time.monotonic() < worker.until:
                    continue
                if outcome is None:
                    why = "killed its worker" if worker.end in heard else f"took longer than {LONGEST:g} s"
                    worker.stop()
                    workers.remove(worker)
                    yield Done(name, number, Outcome("lost", f"case {number} {why}"))
                    worker = _Worker(name, seed)
                    workers.append(worker)
                    _ready(worker)
                else:
                    yield Done(name, number, outcome)
                _next(worker, left, workers)
    finally:
        for worker in workers:
            worker.stop()


def _ready(worker: _Worker) -> None:
    if not worker.end.poll(WARM_UP):
        worker.stop()
        raise SystemExit("A worker did not get ready.")
    worker.end.recv()


def _heard(worker: _Worker) -> Outcome | None:
    try:
        return worker.end.recv()  # type: ignore[no-any-return]
    except (EOFError, OSError):
        return None


def _next(worker: _Worker, left: Iterator[int], workers: list[_Worker]) -> None:
    number = next(left, None)
    if number is None:
        worker.stop()
        workers.remove(worker)
    else:
        worker.give(number)
