"""Recoding with hierarchies: the best levels of Adult, of copies of it and of fifteen columns, with CPU seconds, the bar, and whether it is met.

Compiling is outside the clock. Losses are means over rows and columns, a suppressed cell 1. ARX was run from source on Adult with the same
hierarchies.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.recoding
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from benchmarks import tables
from benchmarks.bars import Row, show
from benchmarks.tables import EIGHT, CodedTable
from shoal.kernels.lattice.best import best
from shoal.kernels.lattice.budget import UNLIMITED, Budget
from shoal.kernels.lattice.datafly import datafly
from shoal.kernels.lattice.incognito import incognito
from shoal.kernels.lattice.levels import iyengar
from shoal.kernels.lattice.optimum import Optimum, optimum
from shoal.kernels.masks import Demand

COPIED = 452_220


def main() -> None:
    """A line for every bar of the lattice."""
    if tables.folder() is None:
        return
    nine, eight = tables.adult(), tables.adult(EIGHT)
    _compile(nine)
    print(f"{'CPU seconds':63}{'measured':>10}{'floor':>8}  {'bar':<12}")
    arx = "; ARX warm 2.4-2.8 s"
    proven("Adult, 9 columns, k=5, 4 %", nine, 5, 0.04, 0.6, peer=arx)
    proven("Adult, 9 columns, k=5, 0 %", nine, 5, 0.0, peer=arx)
    proven("Adult, 9 columns, k=5, no limit", nine, 5, 1.0, 1.3, peer=arx)
    proven(f"{COPIED:,} rows, 8 columns, k=10, 5 %", tables.adult_copies(COPIED), 10, 0.05, 25.0, peer="; ARX 59-63 s on a like table")
    fifteen = tables.adult_fifteen()
    proven("15 columns, k=5, 0 %", fifteen, 5, 0.0, 2.0)
    found = proven("15 columns, k=5, 5 %", fifteen, 5, 0.05, 40.0, Budget(seconds=40.0))
    show(Row("    its gap", 100 * found.gap, 15.0, "%"))
    rolled(nine)
    literature(eight)


def proven(
    what: str, table: CodedTable, k: int, share: float, bar: float | None = None, budget: Budget = UNLIMITED, peer: str = ""
) -> Optimum:
    """The best node for k, with its loss and whether it is proven."""
    limit = int(share * table.rows.sum())
    seconds, found = timed(
        lambda: optimum(table.codes, table.rows, table.hierarchies, Demand(k), limit, iyengar(table.hierarchies), budget=budget)
    )
    certainty = "proven" if found.proven else f"bound {found.bound:.4f}"
    _line(what, seconds, bar, f"loss {found.loss:.4f}, {certainty}, {found.looked_at:,} looked at{peer}")
    return found


def rolled(nine: CodedTable) -> None:
    """Losses and demands for which all nodes are rolled up."""
    limit = int(0.04 * nine.rows.sum())
    seconds, found = timed(lambda: best(nine.codes, nine.rows, nine.hierarchies, Demand(5), limit, "discernibility"))
    _line("Adult, 9 columns, k=5, 4 %, discernibility", seconds, None, f"{found.loss:,.0f}, {found.looked_at:,} nodes")
    keys = [j for j in range(len(nine.hierarchies)) if tables.NINE[j] != "occupation"]
    work = nine.codes[:, tables.NINE.index("occupation")]
    demand, trees = Demand(5, work, 3, 2.0, 0.4), [nine.hierarchies[j] for j in keys]
    seconds, found = timed(lambda: best(nine.codes[:, keys], nine.rows, trees, demand, limit))
    what = "Adult, 8 columns, k=5, l=3, entropy 2, t=.4 of occupation, 4 %"
    _line(what, seconds, None, f"loss {found.loss:.4f}, {found.looked_at:,} nodes")


def literature(eight: CodedTable) -> None:
    """Datafly and Incognito."""
    for share in (0.0, 0.05):
        limit = int(share * eight.rows.sum())
        seconds, listed = timed(lambda limit=limit: incognito(eight.codes, eight.rows, eight.hierarchies, 5, limit))
        beside = f"{listed.nodes:,} nodes keep k, {len(listed.minimal)} of them minimal"
        _line(f"Incognito, Adult, 8 columns, k=5, {share:.0%}", seconds, None, beside)
        seconds, way = timed(lambda limit=limit: datafly(eight.codes, eight.rows, eight.hierarchies, Demand(5), limit))
        _line(f"Datafly, Adult, 8 columns, k=5, {share:.0%}", seconds, None, f"levels {way[-1].levels}")


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = run()
    return time.process_time() - begin, result


def _line(what: str, seconds: float, bar: float | None, beside: str) -> None:
    if bar is None:
        print(f"{what:63}{seconds:>8.2f} s {'':29}{beside}", flush=True)
    else:
        show(Row(what, seconds, bar, beside=beside))


def _compile(nine: CodedTable) -> None:
    few = slice(0, 200)
    table = (nine.codes[few], nine.rows[few], nine.hierarchies)
    for demand in (Demand(2), Demand(2, nine.codes[few, 0], 2, 1.5, 0.5)):
        best(*table, demand, 10**6)
    best(*table, Demand(2), 10**6, "discernibility")
    incognito(*table, 2, 100)


if __name__ == "__main__":
    main()
