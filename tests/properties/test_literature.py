"""TDS, TDR and kADET, whatever the table: every class keeps k, every cell is true, and neither rows nor their order decide anything."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.checks.tables import check_release
from shoal.hierarchy import Hierarchy
from shoal.kernels.coded_hierarchy import CodedHierarchy
from shoal.kernels.trees.anonymous import grow_anonymous, reached, spans_of
from shoal.methods import Kadet, Tdr, Tds
from shoal.randomness import chance_for
from shoal.roles import Roles
from tests.coded import made_hierarchy
from tests.properties.test_generalization import CITIES, LEVELS, QUASI, allows, ks, rows_of, seeds, tables

unhurried = settings(deadline=None, max_examples=60, derandomize=True)
METHODS = {method.name: method for method in (Tds, Tdr, Kadet)}
TREES = {
    "city": Hierarchy(tuple((city, f"group {i % 3}") for i, city in enumerate(CITIES) if city)),
    "whole": Hierarchy.of("width 5, then 10, 40"),
}


def protected(name, table, k, seed, quasi):
    given_trees = {c: tree for i, (c, tree) in enumerate(TREES.items()) if c in quasi and seed >> i & 1 and "" not in _texts(table, c)}
    roles = Roles(quasi=quasi, target="sick", ordinal={"level": LEVELS}, rest="release", hierarchies=given_trees).check(table)
    words = {"private": tuple(c for c in ("untouched", "num") if c not in quasi)} if name == "kadet" and seed % 5 == 0 else {}
    return METHODS[name](k=min(k, len(table)), **words).protect(table, roles, chance_for(seed, "test"))


def _texts(table, column):
    return table.levels(column).cast(pa.string()).to_pylist()


@pytest.mark.parametrize("name", METHODS)
@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_classes_keep_k_and_cells_are_true(name, table, k, seed):
    quasi = QUASI[seed % 3 : 1 + seed % 3 + seed % (len(QUASI) - 2)]
    release = protected(name, table, k, seed, quasi)
    assert sorted(release.source_row.tolist()) == list(range(len(table)))
    assert min(Counter(rows_of(release.table, quasi)).values()) >= min(k, len(table))
    assert release.promises[0].columns == quasi
    assert all(found.holds for found in check_release(release))
    source = table.take(release.source_row)
    for column in quasi:
        for text, value in zip(release.table.column(column).to_pylist(), source.column(column).cast(pa.string()).to_pylist()):
            assert allows(text, value), (column, text, value)
    cells = dict(zip(rows_of(source, quasi), rows_of(release.table, quasi)))  # records that agree on what may be known show the same
    assert all(cells[key] == shown for key, shown in zip(rows_of(source, quasi), rows_of(release.table, quasi)))


@pytest.mark.parametrize("name", ["tds", "tdr"])
@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_a_value_is_published_alike_in_every_record(name, table, k, seed):
    release = protected(name, table, k, seed, QUASI)
    source = table.take(release.source_row)
    for column in QUASI:
        pairs = set(zip(source.column(column).to_pylist(), release.table.column(column).to_pylist()))
        assert len(pairs) == len(set(source.column(column).to_pylist()))


@pytest.mark.parametrize("name", METHODS)
@unhurried
@given(table=tables, k=ks, seed=seeds)
def test_the_order_of_rows_does_not_matter(name, table, k, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    one, other = protected(name, table, k, seed, QUASI), protected(name, table.take(order), k, seed, QUASI)
    first = dict(zip(one.source_row.tolist(), rows_of(one.table, QUASI)))
    assert first == dict(zip(order[other.source_row].tolist(), rows_of(other.table, QUASI)))


def asked(seed, n, d, k):
    """A small table of trees and intervals, some public, and a class that goes with some of them."""
    rng = np.random.default_rng(seed)
    columns = ["interval" if rng.random() < 0.4 else made_hierarchy(rng, int(rng.integers(1, 6))) for _ in range(d)]
    codes = np.column_stack([rng.integers(0, 8 if column == "interval" else column.nodes.shape[1], n) for column in columns]).astype(
        np.int32
    )
    target = ((codes.sum(axis=1) + (rng.random(n) < 0.2)) % 3 > 0).astype(np.int64)
    rows = rng.integers(1, 4, n)
    return codes, columns, rng.random(d) < 0.6, target, min(k, int(rows.sum())), rows


@unhurried
@given(st.integers(0, 2**31), st.integers(1, 60), st.integers(1, 5), st.integers(1, 20))
def test_every_span_of_a_tree_keeps_k(seed, n, d, k):
    codes, columns, public, target, k, rows = asked(seed, n, d, k)
    for confidence in (None, 0.25):
        tree = grow_anonymous(codes, columns, public, target, k, rows, confidence=confidence)
        spans = spans_of(tree, codes, columns, public)
        assert np.bincount(spans.span, rows).min() >= k
        # worked out anew: the leaves open to a combination are those that some value of its private columns leads to
        at = reached(tree, codes, columns)
        counts = np.zeros_like(tree.counts)
        np.add.at(counts, (at, target), rows)
        leaves = [node for node, split in enumerate(tree.split) if split is None]
        assert np.array_equal(counts[leaves], tree.counts[leaves])
        assert counts.sum() == rows.sum()
        open_to = [frozenset(open_leaves(tree, codes[i], columns, public)) for i in range(n)]
        alike: dict[frozenset[int], int] = {}
        for leaves_open, records in zip(open_to, rows.tolist()):
            alike[leaves_open] = alike.get(leaves_open, 0) + records
        assert min(alike.values()) >= k  # records of one span have the same leaves open
        assert all(open_to[i] == open_to[j] for i in range(n) for j in range(n) if spans.span[i] == spans.span[j])


def open_leaves(tree, codes, columns, public, node=0):
    """By the definition."""
    split = tree.split[node]
    if split is None:
        return [node]
    column = columns[split.question.column]
    if not public[split.question.column]:
        return [leaf for child in split.children.values() for leaf in open_leaves(tree, codes, columns, public, child)]
    code = codes[split.question.column]
    along = isinstance(column, CodedHierarchy)
    answer = int(column.nodes[split.question.level, code]) if along else int(code > split.question.threshold)
    return open_leaves(tree, codes, columns, public, split.children[answer]) if answer in split.children else [-node - 1]
