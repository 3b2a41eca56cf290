"""Workers for tasks over documents: processes of this machine, or Spark. What they make is what `shoal.contracts.here` would make."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from shoal.contracts import Item, One, Workers
from shoal.errors import OutputError
from shoal.unfinished import stop_if_asked

AHEAD = 4  # items for each process that are sent before the first is done
SLICES, PER_SLICE = 2, 16  # of items that Spark is given at once: slices for each core, items in each


# ---- processes --------------------------------------------------------------------------------------------------------------


def processes(many: int) -> Workers:
    """So many processes of this machine. A script that uses them does so under `if __name__ == "__main__":`, since they import it."""

    @contextmanager
    def workers(task: Callable[[Item], One], items: Iterable[Item], /) -> Iterator[Iterator[One]]:
        context = get_context("spawn")  # threads of numba and Arrow do not survive a fork
        leave, stay = context.Pipe(duplex=False)
        pool = ProcessPoolExecutor(many, context, _begin, (task, leave))
        try:
            yield _in_order(pool, items, many)
            pool.shutdown()
        except BrokenProcessPool:
            raise OutputError(
                "A process that worked on a document was killed, most often because memory ran out. Nothing was written. Try fewer --jobs."
            ) from None
        finally:
            stay.close()  # which ends whoever is at work still, as the death of this process would
            pool.shutdown(cancel_futures=True)
            leave.close()

    return workers


def _in_order(pool: ProcessPoolExecutor, items: Iterable[Item], many: int) -> Iterator[Any]:
    """What becomes of the items, of which a few are on their way at any time: memory does not grow with how many there are."""
    ahead: deque[Future[Any]] = deque()
    for item in items:
        with waiting(signal.SIGINT):  # which is for the process that began the others: those never hear of it
            ahead.append(pool.submit(_do, item))
        if len(ahead) > AHEAD * many:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


@contextmanager
def waiting(*signals: signal.Signals) -> Iterator[None]:
    """Signals that come in here come afterwards, and not at all to a process that is begun in here."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_task: list[Callable[[Any], Any]] = []  # of this process, sent once


def _begin(task: Callable[[Any], Any], leave: Connection) -> None:
    """In a new process."""
    _task[:] = [task]
    threading.Thread(target=_leave, args=(leave,), daemon=True).start()
    mute()


def _leave(told: Connection) -> None:
    """End at once when the process that began this one says so, or is gone."""
    with suppress(EOFError, OSError):
        told.recv_bytes()
    os._exit(1)


def _do(item: Any) -> Any:
    return _task[0](item)


def mute() -> None:
    """Nothing is heard of this process: what libraries say of a document may quote it."""
    if not os.environ.get("SHOAL_DEBUG"):
        with open(os.devnull, "wb") as nowhere:
            for stream in (1, 2):
                os.dup2(nowhere.fileno(), stream)


@contextmanager
def mute_children() -> Iterator[None]:
    """The same of a process that is begun in here."""
    streams = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        mute()
        yield
    finally:
        for stream, held in streams.items():
            os.dup2(held, stream)
            os.close(held)


# ---- Spark ------------------------------------------------------------------------------------------------------------------


def spark(context: Any) -> Workers:
    """The executors of a Spark. They read and write files by their paths, so these must be on storage that all of them share."""

    @contextmanager
    def workers(task: Callable[[Item], One], items: Iterable[Item], /) -> Iterator[Iterator[One]]:
        shared, tag = context.broadcast(task), f"shoal-{secrets.token_hex(8)}"  # sent once to each executor, not with each item
        context.addJobTag(tag)
        context.setInterruptOnCancel(True)
        try:
            yield _collected(context, shared, iter(items))
        finally:
            with suppress(Exception):  # of a Spark that is gone
                context.cancelJobsWithTag(tag)
                context.removeJobTag(tag)
                shared.destroy()

    return workers


def _collected(context: Any, shared: Any, items: Iterator[Any]) -> Iterator[Any]:
    """What becomes of the items, so many at a time that all cores are at work and the results of all are never here at once."""
    slices = SLICES * context.defaultParallelism
    while batch := list(islice(items, PER_SLICE * slices)):
        try:
            done = context.parallelize(batch, slices).mapPartitions(_of_slice(shared)).collect()
        except Exception:  # with the log of an executor in it
            stop_if_asked()
            raise OutputError("Spark could not do the work: one of its tasks failed again and again. Nothing was written.") from None
        yield from done


def _of_slice(shared: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """What an executor does with a slice of the items."""

    def each(items: Iterator[Any]) -> Iterator[Any]:
        mute()
        return map(shared.value, items)

    return each
