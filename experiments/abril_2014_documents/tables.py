"""Tables 3.5 to 3.8: what queries find before and after, beside the thesis's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from experiments.abril_2014_documents.corpus import Archive, Record, published, queries
from shoal.documents.risk.queries import QueryChange, compare
from shoal.text.search import SearchEngine

COLUMNS = {
    "P": "precision",
    "R": "recall",
    "F": "f",
    "C": "coverage",
    "N": "novelty",
    "AR": "average_relevance",
    "TR": "returned",
    "PR": "random",
}
Changes = Mapping[str, list[QueryChange]]  # by run


def asked(records: Sequence[Record], texts: Mapping[str, Mapping[str, str]], known: Archive) -> tuple[Changes, Changes]:
    """Utility and risk queries over these documents, before and after each run; (3.1) with what the thesis's NMI figures follow."""
    names = [one.name for one in records]
    before = SearchEngine(names, [one.text for one in records])
    made = queries(known, before)
    print(f"{len(records):,} documents; relevant from {made.utility[0].threshold:.4f} (utility; thesis 0.0422) and {made.risk[0].threshold:.4f} "
          "(risk; thesis 0.010 and 0.020)")  # fmt: skip
    utility: dict[str, list[QueryChange]] = {}
    risk: dict[str, list[QueryChange]] = {}
    for run, written in texts.items():
        after = SearchEngine(names, [written[name] for name in names])
        utility[run] = compare(before, after, made.utility, made.random, "overlap")
        risk[run] = compare(before, after, made.risk, made.random, "overlap")
    return utility, risk


def agreement_lost(title: str, table: str, changes: Changes, rows: Mapping[str, str]) -> None:
    """Tables 3.5 and 3.7: how much of the agreement between the sets before and after is gone."""
    printed = published(table)
    found = []
    for run, name in rows.items():
        overlap = [
            _beside(100 * (1 - one.overlap), printed.get((one.query.name, name))) if one.loss is not None else "-" for one in changes[run]
        ]
        found.append([run, *overlap])
        found.append(["  by NMI itself", *(f"{100 * (1 - one.nmi):.0f}" if one.loss is not None else "-" for one in changes[run])])
    show(f"{title}: ours / published / difference", ["", *(one.query.name for one in next(iter(changes.values())))], found)


def differences(title: str, table: str, changes: Sequence[QueryChange], loss: str) -> None:
    """Tables 3.6 and 3.8."""
    printed = published(table)
    rows = []
    for one in changes:
        cells = [_beside(one.changes[name], printed.get((one.query.name, letter))) for letter, name in COLUMNS.items()]
        ours = "-" if one.loss is None else _beside(one.loss, printed.get((one.query.name, "loss")), 1)
        rows.append([one.query.name, *cells, ours])
    show(f"{title}: ours / published / difference", ["", *COLUMNS, loss], rows)


def means(title: str, utility: Changes, risk: Changes, notes: tuple[str, str]) -> None:
    """The mean of (3.1) over queries, for every run."""
    rows = []
    for run in utility:
        plain = [one.loss for one in utility[run] if one.loss is not None and one.query.name != "uq5-1"]
        every = [one.loss for one in utility[run] if one.loss is not None]
        risky = [one.loss for one in risk[run] if one.loss is not None]
        rows.append([run, *(f"{np.mean(part):.1f}" for part in (every, plain, risky))])
    rows.append(["thesis, printed", "-26.1", "-16.1", "-47.3"])
    rows.append(["thesis, mean of its rows", *notes, "-40.7"])
    show(title, ["mean of (3.1)", "utility", "utility without uq5-1", "risk"], rows)


def thesis_means() -> tuple[str, str]:
    """Of Table 3.6's last column, with and without uq5-1."""
    printed = {query: value for (query, quantity), value in published("3.6").items() if quantity == "loss"}
    return f"{np.mean(list(printed.values())):.1f}", f"{np.mean([value for query, value in printed.items() if query != 'uq5-1']):.1f}"


def _beside(ours: float, theirs: float | None, digits: int = 0) -> str:
    return f"{ours:.{digits}f}" + (f" / {theirs:.{digits}f} / {ours - theirs:+.{digits}f}" if theirs is not None else "")


def show(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on the screen."""
    widths = [max(map(len, column)) for column in zip(heads, *rows)]
    print(f"\n{title}")
    for line in (heads, ["-" * width for width in widths], *rows):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(flush=True)
