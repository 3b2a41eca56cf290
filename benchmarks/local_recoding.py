"""Local recoding, Mondrian along hierarchies and local suppression of Adult: CPU seconds and losses, the bar, a bound or floor, and a peer.

Compiling is outside the clock. Losses are means over rows and columns; the bound is what no local recoding can go below. Peers were run on the
same table on a machine of this kind: ARX from source with its best setting (cold, wall clock), sdcMicro.
Run from the repository's root: PYTHONPATH=src python -m benchmarks.local_recoding
"""

from __future__ import annotations

import numpy as np

from benchmarks import tables
from benchmarks.bars import Row, show
from benchmarks.recoding import timed
from benchmarks.tables import EIGHT, CodedTable
from shoal.arrays import BoolArray
from shoal.kernels.hierarchy_cuts import hierarchy_groups
from shoal.kernels.local_recoding import local_recoding
from shoal.kernels.masks import Demand
from shoal.kernels.recoding_bound import least_loss
from shoal.kernels.suppression import Blanks, classes_blanked, given_back, wildcard_blanked

COPIED = 1_360_000
SIX, K = EIGHT[:6], 5
ARX = {5: "ARX .0563 in 12-14 s", 10: "ARX .0788 in 12-14 s", 100: ""}
LOSSES = {5: 0.050, 10: 0.074, 100: 0.190}


def main() -> None:
    """A line for every bar."""
    if tables.folder() is None:
        return
    eight = tables.adult(EIGHT)
    _compile(eight)
    print(f"{'CPU seconds, losses and cells':63}{'measured':>10}{'floor':>8}  {'bar':<12}")
    for k, most in LOSSES.items():
        recoded(eight, k, most)
    copied = tables.adult_copies(COPIED)
    seconds, found = timed(lambda: local_recoding(copied.codes, copied.hierarchies, Demand(10), copied.rows))
    show(Row(f"local recoding, {COPIED:,} rows, k=10", seconds, 25.0, floor=_counting(copied), beside=f"loss {found.loss:.4f}"))
    seconds, boxes = timed(lambda: hierarchy_groups(eight.codes, eight.hierarchies, Demand(5), eight.rows))
    show(Row("mondrian along hierarchies, k=5, its loss", boxes.loss, 0.070, "", floor=_bound(eight, 5), beside=f"{seconds:.2f} s"))
    suppressed(tens())


def recoded(table: CodedTable, k: int, most: float) -> None:
    """Seconds, and the loss beside the bound of any local recoding and what cutting into boxes loses."""
    seconds, found = timed(lambda: local_recoding(table.codes, table.hierarchies, Demand(k), table.rows))
    show(Row(f"local recoding, k={k}", seconds, 1.5, floor=_counting(table), beside=ARX[k]))
    boxes = hierarchy_groups(table.codes, table.hierarchies, Demand(k), table.rows).loss
    show(Row("    its loss, the floor being the bound", found.loss, most, "", floor=_bound(table, k), beside=f"boxes {boxes:.4f}"))


def suppressed(table: CodedTable) -> None:
    """Cells and seconds under both readings of a blank."""
    key, cost, none = [np.arange(len(SIX))], np.ones(len(SIX)), np.zeros(len(table.codes))
    seconds, wildcard = timed(lambda: wildcard_blanked(table.codes, table.rows, K, key, cost))
    show(Row("wildcard, six keys, k=5", seconds, 0.2, floor=_counting(table), beside="sdcMicro 29.4 s"))
    cells = wildcard.priced(cost)
    show(Row("    its cells", cells, 4294, "", beside=f"sdcMicro 4,294; whole records {_whole_records(table):,}"))
    seconds, back = timed(lambda: given_back(table.codes, wildcard, K, key, cost))
    show(Row("    with cells given back", seconds, 0.8))
    show(Row("    its cells", back.blanks.priced(cost), 2300, ""))
    seconds, strict = timed(lambda: classes_blanked(table.codes, table.rows, Demand(K), cost, none))
    assert _least_class(table, strict) >= K
    show(Row("classes, six keys, k=5: cells", strict.priced(cost), 5400, "", floor=cells, beside=f"{seconds:.2f} s"))


def tens() -> CodedTable:
    """The six keys, age in tens: (0, 10], (10, 20] and so on."""
    table = tables.adult(SIX)
    codes = table.codes.copy()
    codes[:, SIX.index("age")] //= 10  # the file's ages begin with 1
    distinct, to = np.unique(codes, axis=0, return_inverse=True)
    rows = np.bincount(to.reshape(-1), table.rows).astype(np.int64)
    return CodedTable(np.ascontiguousarray(distinct.astype(np.int32)), rows, [])


def _counting(table: CodedTable) -> float:
    """The floor: numpy counting the combinations once."""
    return timed(lambda: np.unique(np.repeat(table.codes, table.rows, axis=0), axis=0))[0]


def _bound(table: CodedTable, k: int) -> float:
    return least_loss(table.codes, table.hierarchies, k, table.rows)


def _whole_records(table: CodedTable) -> int:
    """The naive way: every record below k is blanked whole."""
    return int(table.rows[table.rows < K].sum()) * len(SIX)


def _least_class(table: CodedTable, found: Blanks) -> int:
    hidden: BoolArray = found.blank
    shown = np.where(hidden, -1, table.codes[found.combination])
    to = np.unique(shown, axis=0, return_inverse=True)[1].reshape(-1)
    return int(np.bincount(to, found.rows).min())


def _compile(table: CodedTable) -> None:
    few = slice(0, 300)
    local_recoding(table.codes[few], table.hierarchies, Demand(2), table.rows[few])
    hierarchy_groups(table.codes[few], table.hierarchies, Demand(2), table.rows[few])
    least_loss(table.codes[few], table.hierarchies, 2, table.rows[few])
    codes, rows, key, cost = np.ascontiguousarray(table.codes[few, :6]), table.rows[few], [np.arange(6)], np.ones(6)
    given_back(codes, wildcard_blanked(codes, rows, 2, key, cost), 2, key, cost)
    classes_blanked(codes, rows, Demand(2), cost, np.zeros(len(codes)))


if __name__ == "__main__":
    main()
