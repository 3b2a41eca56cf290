"""What a command takes with all it begins: processor time, exactly, and the most memory that its processes held at once.

A Java that a command begins outlives it by a moment, and nobody waits for it. So commands are run by a small process that inherits whatever
they leave behind, and waits for that too: the system then tells the time of each. Memory is looked at twice a second, shared pages counted
once, and is at least the peak of the largest process, which the system knows exactly. Where there is no /proc (not Linux), it is that peak.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.bars import Spent

PROC = Path("/proc")
INHERIT = 36  # of prctl: orphans become children of whoever asked for it
EVERY = 0.5  # seconds


def spend(command: Sequence[str], more: Mapping[str, str] | None = None) -> Spent:
    """Run a command; CPU seconds of its tree of processes, and the bytes they held at the peak."""
    with tempfile.TemporaryDirectory(prefix="shoal-spent-") as place:
        told = Path(place) / "told.json"
        errors = Path(place) / "errors"
        subprocess.run(
            [sys.executable, "-m", "benchmarks.process_trees", str(told), str(errors), *command],
            env={**os.environ, **(more or {})},
            check=True,
        )
        found = json.loads(told.read_text())
        if found["ended"]:
            raise RuntimeError(f"{' '.join(command)} ended with {found['ended']}: {errors.read_text()[-2000:]}")
    return Spent(found["seconds"], found["memory"])


def main(told: Path, errors: Path, command: list[str]) -> None:
    """Run and watch one command."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(INHERIT, 1, 0, 0, 0)
    peak, over = [0], threading.Event()
    watcher = threading.Thread(target=_watch, args=(peak, over))
    with errors.open("wb") as sink:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=sink)
    watcher.start()
    ended, seconds, largest = 0, 0.0, 0
    with suppress(ChildProcessError):  # nobody is left
        while True:
            pid, status, usage = os.wait4(-1, 0)
            ended = os.waitstatus_to_exitcode(status) if pid == child.pid else ended
            seconds += usage.ru_utime + usage.ru_stime
            largest = max(largest, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    over.set()
    watcher.join()
    told.write_text(json.dumps({"ended": ended, "seconds": seconds, "memory": max(largest, peak[0])}))


def _watch(peak: list[int], over: threading.Event) -> None:
    while PROC.exists() and not over.wait(EVERY):
        peak[0] = max(peak[0], sum(map(_held, _descendants(os.getpid()))))


def _descendants(of: int) -> set[int]:
    """All processes that come from one."""
    children: dict[int, list[int]] = {}
    for place in PROC.glob("[0-9]*"):
        with suppress(OSError):
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(place.name))
    found, ahead = set(), [of]
    while ahead:
        new = children.get(ahead.pop(), [])
        found.update(new)
        ahead += new
    return found


def _held(pid: int) -> int:
    """Bytes in memory; of pages that several processes share, each counts its part."""
    with suppress(OSError):
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
