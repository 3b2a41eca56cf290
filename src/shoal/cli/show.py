"""What the person at the keyboard sees: tables, progress, and word that kernels are compiling."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from shoal.cli.stderr import visible
from shoal.contracts import Progress
from shoal.unfinished import stop_if_asked


def data(value: Any) -> None:
    """JSON for scripts."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def say(text: str) -> None:
    """Talk, to stderr."""
    print(visible(text), file=sys.stderr)


def table(title: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A readable table on stdout; the last column wraps."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    shown = Table(box=None, pad_edge=False, header_style="dim")
    for name in names:
        shown.add_column(name, overflow="fold")
    for row in rows:
        shown.add_row(*(escape("\n".join(map(visible, cell.split("\n")))) for cell in row))
    width = None if sys.stdout.isatty() else 160
    console = Console(width=width, highlight=False)
    console.print(f"[bold]{escape(visible(title))}[/bold]")  # in a line of its own: a title of the table would wrap at its width
    console.print(shown)


@contextmanager
def progress() -> Iterator[Progress]:
    """A bar on stderr that names the stage, from the first second; and a word when kernels compile for the first time."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=5,
    )
    tasks: dict[str, Any] = {}

    def told(what: str, done: int, of: int) -> None:
        stop_if_asked()
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=of)
        bar.update(tasks[what], completed=done, total=of)
        if done >= of:
            bar.update(tasks[what], visible=False)
        if not bar.live.is_started and sys.stderr.isatty():
            bar.start()

    with _compiling():
        try:
            yield told
        finally:
            if bar.live.is_started:
                bar.stop()


@contextmanager
def _compiling() -> Iterator[None]:
    """Kernels compile when they are first used and are cached; tell the user while they do."""
    from numba.core import event

    class Tell(event.Listener):
        def on_start(self, _: Any) -> None:
            if not self.told:
                say("Compiling what this needs: half a minute or so, once per machine and method.")
                Tell.told = True

        def on_end(self, _: Any) -> None:
            """Nothing to say."""

        told = False

    listener = Tell()
    event.register("numba:compile", listener)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)  # type: ignore[no-untyped-call]


def number(value: Any) -> str:
    """A value as a person would write it."""
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{int(value):,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return str(value)
