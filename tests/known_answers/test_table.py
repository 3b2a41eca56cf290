"""Tables: cells that are kept once each read as if they were written out."""

import numpy as np
import pyarrow as pa

from shoal.table import Table


def test_cells_kept_once_read_as_plain_columns():
    texts = ["b", None, "a", "b", "c"]
    kept = Table(pa.table({"x": pa.array(texts).dictionary_encode()}))
    plain = Table.of({"x": texts})
    for rows in ([0, 1, 2, 3, 4], [0, 3, 4], [1, 2], [1]):
        one, other = kept.take(np.array(rows)), plain.take(np.array(rows))
        assert one.codes("x").tolist() == other.codes("x").tolist()
        assert one.levels("x").equals(other.levels("x"))
        assert one.column("x").equals(other.column("x"))
        assert one.kind("x") == other.kind("x") == "text"
        assert one.missing("x").tolist() == other.missing("x").tolist()
        assert one.to_native().equals(other.to_native())
