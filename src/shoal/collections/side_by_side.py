"""A space and the release made from it, over the same terms: what measures, attacks and learners compare."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from shoal.arrays import IntArray
from shoal.collections.release import CollectionRelease
from shoal.collections.space import Space, tidy, unit_rows
from shoal.errors import DataError

BLOCK = 1 << 22  # similarities held at a time


class SideBySide(NamedTuple):
    """Originals and centroids over the same terms. Centroids are brought to length 1, whatever rounding did to them."""

    rows: Any
    centroids: Any
    cluster: IntArray  # of each original; -1: not released
    sizes: IntArray  # originals of each cluster


def side_by_side(space: Space, release: CollectionRelease) -> SideBySide:
    """The space of the owner and the release made from it. Terms that only one of them has count for that one alone."""
    source, assignment = np.asarray(release.source_row, np.int64), np.asarray(release.assignment, np.int64)
    centroids = tidy(release.centroids)
    if (source < 0).any():
        raise DataError(
            "It is not known which document each released row comes from. Name the run that made the release, not its file alone."
        )
    if len(source) != len(assignment) or not len(source) or source.max() >= len(space):
        raise DataError("The release does not belong to this space: its rows point outside it. Name the space it was made from.")
    if len(np.unique(source)) < len(source):
        raise DataError("The release does not belong to this space: two of its rows come from one document.")
    if len(release.terms) != centroids.shape[1] or not np.array_equal(np.unique(assignment), np.arange(centroids.shape[0])):
        raise DataError("The release is not whole: its rows, clusters and terms do not fit together. Make it again.")
    place = {term: column for column, term in enumerate(space.terms)}
    column = np.array([place.setdefault(term, len(place)) for term in release.terms], np.int64)
    found = sparse.csr_array((centroids.data, column[centroids.indices], centroids.indptr), shape=(centroids.shape[0], len(place)))
    rows = space.matrix.copy()
    rows.resize((len(space), len(place)))
    cluster = np.full(len(space), -1)
    cluster[source] = assignment
    return SideBySide(rows, unit_rows(found), cluster, np.bincount(assignment, minlength=centroids.shape[0]))


def over_same_terms(space: Space, release: CollectionRelease) -> SideBySide:
    """The same for what compares documents with released rows, which needs terms that both have."""
    pair = side_by_side(space, release)
    if why := no_common_terms(space, release):
        raise DataError(why)
    return pair


def no_common_terms(space: Space, release: CollectionRelease) -> str:
    """Why documents cannot be compared with released rows; empty where they can."""
    if release.terms_are == "words" and not (release.terms and set(release.terms).isdisjoint(space.terms)):
        return ""
    return (
        "The release has no term of the space, so documents cannot be compared with its rows. "
        "If it holds meanings instead of words, use semantic-loss and concept-linkage."
    )


def no_meanings(release: CollectionRelease) -> str:
    """Why a release cannot be asked what its meanings are; empty where it can."""
    if release.terms_are == "meanings" and release.made_by:
        return ""
    return "The release holds words, not meanings. Use normalised-loss and document-linkage."


def sums(pair: SideBySide) -> Any:
    """The sum of the originals of each cluster, clusters by terms."""
    there = np.flatnonzero(pair.cluster >= 0)
    shape = (len(pair.sizes), len(pair.cluster))
    return sparse.csr_array((np.ones(len(there)), (pair.cluster[there], there)), shape=shape) @ pair.rows


def blocks(rows: int, width: int) -> list[slice]:
    """Rows cut so that a dense block of so many columns stays small."""
    step = max(1, BLOCK // max(width, 1))
    return [slice(begin, min(begin + step, rows)) for begin in range(0, rows, step)]
