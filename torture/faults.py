"""Faults at every write, rename, fsync, chmod, mkdir, link and removal of the commands that write folders.

Each case runs one command in a child process forked from a warm one. At one event it fails: the system refuses (once, or everything from then on),
the disk is full, a file gets a few bytes and no more, Ctrl-C, SIGTERM, or SIGKILL. Then the folders are looked at: what may leave is there whole
or not at all, what must stay is intact and readable by its owner alone, nothing half-made lies about; and the next run goes through and clears up.
"""

from __future__ import annotations

import errno
import io
import os
import random
import resource
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torture.fault_checks import CHECKS, Seen, leftovers, snapshot
from torture.runner import Outcome
from torture.subjects import place, shoal, write_originals

NAME = "faults"
COMMANDS: dict[str, list[str]] = {
    "protect": ["run", "recipe.toml", "-o", "new"],
    "report": ["report", "run"],
    "redact": ["documents", "redact", "case", "--style", "black-box", "-o", "new"],
    "detect": ["documents", "detect", "letters", "-o", "new"],
    "mark": ["documents", "mark", "case", "Alice", "--by", "somebody"],
    "collection protect": ["collection", "protect", "space", "-m", "spherical", "-p", "k=2", "-o", "new"],
}
KINDS = ("refused", "refused from then on", "disk full", "torn", "interrupted", "terminated", "killed")
PAIRS = [(list(COMMANDS)[i % len(COMMANDS)], KINDS[i % len(KINDS)]) for i in range(len(COMMANDS) * len(KINDS))]  # each once: 6 and 7
REMOVALS = ("os.remove", "os.rmdir")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
TORN = 7  # bytes that a file still gets


def share(n: int) -> int:
    """2,000 for N = 20,000; at least two of each kind, and of each command."""
    return max(2 * len(KINDS), min(n // 10, 60 * len(PAIRS)))


def run(number: int, seed: int) -> Outcome:
    """One fault in one command."""
    command, kind = PAIRS[number % len(PAIRS)]
    stage = _stage()
    events = stage.events[command]
    drawn = random.Random(f"{seed} {command} {kind}").sample(range(len(events)), len(events))
    at = drawn[number // len(PAIRS) % len(events)]
    umask = (0o022, 0, 0o077)[number // len(PAIRS) % 3]
    failure = stage.tried(command, kind, at, umask)
    return Outcome(f"{command}: {kind}", failure and f"at event {at} ({events[at]}), umask {umask:03o}: {failure}")


def warm() -> None:
    """Everything is made, compiled and counted before the first case."""
    _stage()


# ---- where it happens ---------------------------------------------------------------------------------------------------------


@dataclass
class Stage:
    """A folder with a run, a case that was redacted before, and a space; and what each command does to the disk, event by event."""

    base: Path
    events: dict[str, list[str]] = field(default_factory=dict)

    def tried(self, command: str, kind: str, at: int, umask: int) -> str:
        """What is wrong after a fault; empty where nothing is."""
        work = self.base.parent / "work"
        with_copy = shutil.copytree(self.base, work, symlinks=True)
        try:
            before = snapshot(work)
            child = Child(work, COMMANDS[command], Fault(kind, at), umask)
            wrong = child.wrong()
            seen = Seen(work, before, command, child.code)
            if not wrong:
                wrong = CHECKS[command](seen)
            left = leftovers(seen)
            if not wrong and left and kind != "killed" and self.events[command][at].partition(" ")[0] not in REMOVALS:
                wrong = f"left behind: {', '.join(left)}"
            if not wrong and (work / "new").exists() and "othing was written" in child.said:
                wrong = "said that nothing was written, and something was"
            return wrong or self._next(command, seen, umask)
        finally:
            shutil.rmtree(with_copy, ignore_errors=True)

    def _next(self, command: str, seen: Seen, umask: int) -> str:
        """The run that comes after: it must go through, and clear up."""
        shutil.rmtree(seen.work / "new", ignore_errors=True)
        child = Child(seen.work, COMMANDS[command], Fault("none", -1), umask)
        if child.code:
            return f"the next run ended with {child.code}: {child.said[-200:]}"
        after = Seen(seen.work, seen.before, command, child.code)
        wrong = CHECKS[command](after)
        left = leftovers(after)
        return f"after the next run: {wrong}" if wrong else f"not cleared up by the next run: {', '.join(left)}" if left else ""


_STAGES: list[Stage] = []


def _stage() -> Stage:
    """The stage of this process, set up by its first case."""
    if not _STAGES:
        base = place("faults") / "base"
        base.mkdir()
        write_originals(base)
        here = Path.cwd()
        os.chdir(base)
        try:
            for command in (
                [*COMMANDS["protect"][:-1], "run"],
                ["report", "run"],
                ["documents", "detect", "letters", "-o", "case"],
                ["documents", "mark", "case", "Helen", "--by", "somebody"],
                ["documents", "redact", "case", "-o", "before"],
                ["collection", "build", "texts.jsonl", "--column", "text", "-p", "least=1", "-p", "keep=all", "-o", "space"],
                COMMANDS["collection protect"],
                ["verify", "new/release.npz", "new/certificate.json"],
                ["verify", "before", "before/certificate.json"],
            ):
                said = io.StringIO()
                if shoal(command, said):
                    raise RuntimeError(f"{command} does not work: {said.getvalue()}")
            shutil.rmtree("new")
            # What `report` writes must differ from what is there, or nobody could tell old from new.
            recipe = Path("run/recipe.toml")
            recipe.write_text(recipe.read_text().replace("Invented patients", "Patients, named anew"))
        finally:
            os.chdir(here)
        stage = Stage(base)
        for name, words in COMMANDS.items():
            work = shutil.copytree(base, base.parent / "work")
            child = Child(work, words, Fault("counted", -1), 0o022)
            if child.code:
                raise RuntimeError(f"{name} does not work: {child.said}")
            stage.events[name] = [line for line in child.said.split("\x00", 1)[1].split("\n") if line]
            shutil.rmtree(work)
        _STAGES.append(stage)
    return _STAGES[0]


# ---- the child, and its fault -------------------------------------------------------------------------------------------------


@dataclass
class Fault:
    """Counts what a process does to the disk below its folder, and strikes at one event."""

    kind: str
    at: int
    events: list[str] = field(default_factory=list)

    def arm(self, work: Path) -> None:
        """From here on. An audit hook cannot be taken off: this is for a process that ends soon."""
        inside, busy = os.fsencode(work), [False]

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            if not busy[0] and (what := _event(event, arguments, inside)):
                busy[0] = True
                try:
                    self._strike(what)
                finally:
                    busy[0] = False

        real: Callable[[int], None] = os.fsync

        def fsync(handle: int) -> None:
            hook("os.fsync", (b".",))
            real(handle)

        os.fsync = fsync
        sys.addaudithook(hook)

    def _strike(self, what: str) -> None:
        number = len(self.events)
        self.events.append(what)
        if self.kind == "torn" and number == self.at + 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        if self.kind == "refused from then on" and number > self.at >= 0 and not what.startswith(REMOVALS):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        if number == self.at:
            self._strike_now(what)

    def _strike_now(self, what: str) -> None:
        if self.kind.startswith("refused"):
            code = (errno.ENOSPC, errno.EIO, errno.EACCES)[self.at % 3]
            raise OSError(code, os.strerror(code))
        if self.kind == "interrupted":
            raise KeyboardInterrupt
        if self.kind == "terminated":
            os.kill(os.getpid(), signal.SIGTERM)
        if self.kind == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.kind in ("disk full", "torn"):  # a write beyond it is refused, whoever makes it: Python, numpy or Arrow
            there = what.partition(" ")[2]
            size = os.path.getsize(there) if self.kind == "torn" and os.path.isfile(there) and what.startswith("append") else 0
            limit = size + TORN if self.kind == "torn" else 0
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))


def _event(event: str, arguments: tuple[Any, ...], inside: bytes) -> str:
    """What is counted, with where it is; empty for what is not."""
    if event == "ctypes.dlsym":
        return "exchange" if arguments[-1] == "renameat2" else ""
    if event == "open":
        if not isinstance(arguments[2], int) or not arguments[2] & WRITING:
            return ""
        event = "append" if arguments[2] & os.O_APPEND else "open"
    elif event not in ("os.rename", "os.chmod", "os.mkdir", "os.utime", "os.link", "os.symlink", "os.truncate", "os.fsync", *REMOVALS):
        return ""
    if isinstance(arguments[0], int):
        return event
    path = os.fsencode(arguments[0])
    return "" if path.startswith(b"/") and not path.startswith(inside) else f"{event} {os.fsdecode(path)}"


class Child:
    """A command in a process of its own: its exit code (negative: the signal that ended it), and all it said."""

    def __init__(self, work: Path, words: list[str], fault: Fault, umask: int) -> None:
        self.fault = fault
        ours, theirs = os.pipe()
        child = os.fork()
        if not child:
            code = 70
            try:
                os.close(ours)
                os.chdir(work)
                os.umask(umask)
                code = self._do(work, words, theirs)
            finally:
                os._exit(code)
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            self.said = pipe.read().decode("utf-8", "replace")
        self.code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def _do(self, work: Path, words: list[str], pipe: int) -> int:
        said = io.StringIO()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        self.fault.arm(work)
        try:
            code = shoal(words, said)
        except BaseException as escaped:
            said.write(f"Traceback: {escaped!r}")
            code = 71
        os.write(pipe, said.getvalue().encode()[-30_000:])
        if self.fault.kind == "counted":
            os.write(pipe, b"\x00" + "\n".join(self.fault.events).encode()[-30_000:])
        return code

    def wrong(self) -> str:
        """What is wrong with how it ended."""
        right = {"killed": (-signal.SIGKILL,), "interrupted": (130,), "terminated": (143, 130)}.get(self.fault.kind, (2,))
        if self.code in (0, 1) or self.code in right or (self.fault.kind == "interrupted" and self.code == 2):
            return "a traceback was shown" if "Traceback" in self.said else ""
        return f"ended with {self.code}: {self.said[-300:]}"
