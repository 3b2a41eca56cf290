"""Linking two files one to one: every record gets a protected row of its own, so that all distances together are the least.

Up to EXACT pairs every distance is held, and the assignment is the best there is. Beyond, a record may go to one of its nearest rows only,
about NEAR of them, which finds nearly the same; a record whose near rows are all taken stays without. Both files are shuffled first: among
equally good assignments the solver's choice depends on the order of rows.
"""

import numpy as np
from numpy.random import Generator

from shoal.arrays import FloatArray, IntArray
from shoal.kernels.groups import distinct_rows
from shoal.kernels.linkage import closer
from shoal.kernels.linkage.closer import Distance

EXACT = 1_500_000  # pairs
NEAR = 64  # protected rows that a record is held against where there are more pairs
FEWEST = 8  # distinct ones among them


def assigned(protected: FloatArray, queries: FloatArray, by: Distance, rng: Generator) -> IntArray:
    """The protected row of every query, -1 where none is left."""
    rows, columns = rng.permutation(len(queries)), rng.permutation(len(protected))
    mine, theirs = queries[rows], protected[columns]
    if len(queries) * len(protected) <= EXACT:
        from scipy.optimize import linear_sum_assignment  # half a second that only this needs

        query, row = linear_sum_assignment(closer.distances(theirs, mine, by))
    else:
        query, row = cheapest(len(mine), len(theirs), *_near_pairs(theirs, mine, by))
    found = np.full(len(queries), -1)
    found[rows[query]] = columns[row]
    return found


def shared_hits(found: IntArray, true: IntArray, protected: FloatArray) -> FloatArray:
    """The share of a hit of each record: rows that are released alike share it. -1 is nobody, on either side."""
    same, _, size = distinct_rows(protected)
    there = (found >= 0) & (true >= 0)
    hit = np.zeros(len(true), np.bool_)
    hit[there] = same[found[there]] == same[true[there]]
    return np.where(hit, 1 / size[same[np.maximum(true, 0)]], 0.0)


def cheapest(queries: int, rows: int, query: IntArray, row: IntArray, cost: FloatArray) -> tuple[IntArray, IntArray]:
    """The cheapest assignment over some pairs of most queries that can be: which queries have a row, and which."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    nobody = np.arange(queries)  # each query may go without, at a price that nothing else reaches
    dear = (cost.max(initial=0.0) or 1.0) * 2 * queries
    price = np.concatenate([cost, np.full(queries, dear)]) + dear / 1e9  # a stored 0 would be no pair
    pairs = csr_matrix((price, (np.concatenate([query, nobody]), np.concatenate([row, rows + nobody]))), shape=(queries, rows + queries))
    a, b = min_weight_full_bipartite_matching(pairs)
    return a[b < rows], b[b < rows]


def _near_pairs(protected: FloatArray, queries: FloatArray, by: Distance) -> tuple[IntArray, IntArray, FloatArray]:
    """Each query beside its nearest rows, with the distance. Of many rows that are alike, a query sees NEAR, and the next one others."""
    same, first, size = distinct_rows(protected)
    count = min(len(first), max(FEWEST, -(-NEAR * len(first) // len(protected))))
    found = closer.nearest(protected, queries, by, count)
    record = same[np.maximum(found.rows, 0)]
    many = np.where(found.rows >= 0, np.minimum(size[record], NEAR), 0).ravel()
    begin = np.append(0, np.cumsum(size))[record].ravel()
    turn = np.repeat(np.arange(len(queries)) * NEAR, count)
    step = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
    place = (np.repeat(turn, many) + step) % np.repeat(size[record].ravel(), many)
    row = np.argsort(same, kind="stable")[np.repeat(begin, many) + place]
    return np.repeat(np.repeat(np.arange(len(queries)), count), many), row, np.repeat(found.distance.ravel(), many)
