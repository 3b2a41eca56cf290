"""Spherical microaggregation: documents replaced by the normalized sum of groups of at least k similar ones."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.random import Generator
from pydantic import Field
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.release import LABEL, VECTOR, CollectionRelease, Terms
from shoal.collections.space import Space, tidy, unit_rows
from shoal.contracts import Progress, quiet
from shoal.errors import DataError, ParameterError, counted
from shoal.kernels.blocks import block_of_rows
from shoal.kernels.spherical.diversity import diverse_groups
from shoal.kernels.spherical.mdav import Gather, Rows, content_order, rows_of, spherical_groups
from shoal.kernels.spherical.refine import swap_passes
from shoal.kernels.spherical.svd import latent_points, mdav_of_directions
from shoal.params import Params
from shoal.promises import Promise
from shoal.release import Step


class Spherical(Params):
    """Replace documents by the centroid, on the unit sphere, of groups of at least k similar ones (Abril, Navarro-Arribas & Torra 2012).

    A row of the release cannot be told from k - 1 others, and nothing more is promised: who is in the collection, its topics, its words,
    even those of one document alone, can still be seen, and whoever knows all members of a group but one can compute the last. The options
    for more are applied in this order: groups hold l labels; terms in fewer than `term_documents` of a group's documents are taken out of
    its centroid; centroids are scaled to length 1; weights are rounded to `digits`. Authors of several documents must not be told apart
    either: give `Space.by_author`, so that a group holds k authors. Documents must not change between releases: two of them intersect.
    """

    name: ClassVar[str] = "spherical"
    title: ClassVar[str] = "Spherical microaggregation"
    guarantees: ClassVar[tuple[str, ...]] = ("k-anonymity",)
    terms_are: ClassVar[Terms] = "words"
    k: int = Field(3, ge=2, description="Smallest group size")
    partition: Literal["svd", "mdav", "grow"] = Field(
        "svd",
        description="mdav: farthest first by cosine, as published; grow: the same, each member being the most similar to the group so far; "
        "svd: mdav along the main singular directions, which keeps topics together",
    )
    components: int = Field(100, ge=1, description="Singular directions, for svd and for blocks")
    swaps: int = Field(
        3, ge=0, description="Passes of moves and exchanges between groups, which lower the loss; 0: none, best for classifiers"
    )
    block_above: int = Field(100_000, ge=1, description="With more documents than this, groups are formed inside blocks")
    block_rows: int = Field(2_000, ge=10, description="Most documents in a block, raised to 6 k where k is large")
    l: int = Field(1, ge=1, description="Fewest different labels in a group; 1: not asked")  # noqa: E741
    term_documents: int = Field(1, ge=1, description="Fewest documents of a group that a term of its centroid must stand in")
    digits: int | None = Field(None, ge=1, le=15, description="Significant digits of the released weights; absent: all")
    labels: Literal["withheld", "released"] = Field("withheld", description="Whether each row is released with its label")
    idf: Literal["withheld", "released"] = Field(
        "withheld", description="Whether the weights of terms are released, to place new documents"
    )

    def protect(self, space: Space, rng: Generator, progress: Progress = quiet) -> CollectionRelease:
        """Group, refine, aggregate once per group, shuffle."""
        self._check(space)
        groups = self.groups(space, progress)
        order = self._order(space)  # sums taken in this order are the same to the bit, however the documents stood
        centroids = centroids_of(space.matrix[order], groups[order], self.term_documents, self.digits)
        promises = [Promise("k-anonymity", self.k, (VECTOR,))]
        if self.l > 1 and self.labels == "released":  # without them nobody could count it on the file
            promises.append(Promise("l-diversity", self.l, (VECTOR,), LABEL))
        step = Step(self.name, self.given(), (VECTOR,), self.guarantees, self.summary(), tuple(promises))
        return CollectionRelease.of(
            centroids,
            groups,
            space.terms,
            step,
            rng,
            space.labels if self.labels == "released" else None,
            space.idf if self.idf == "released" else None,
            _warnings(space, centroids),
            self.terms_are,
        )

    def groups(self, space: Space, progress: Progress = quiet) -> IntArray:
        """The group of each document, whatever the order of documents."""
        order = self._order(space)
        rows = _rows(space.matrix[order])

        def told(done: int, of: int) -> None:
            progress("grouping", done, of)

        def swapped(done: int, of: int) -> None:
            progress("refining", done, of)

        found = self._in_blocks(rows, told) if len(order) > self.block_above else self._whole(rows, told)
        found = swap_passes(rows, found, self.k, self.swaps, swapped)
        if self.l > 1:
            found = diverse_groups(rows, found, self._codes(space)[order], self.l)
        groups = np.empty(len(order), np.int64)
        groups[order] = found
        return groups

    def _codes(self, space: Space) -> IntArray:
        """Labels as numbers, where they are looked at."""
        if self.l == 1:
            return np.zeros(len(space), np.int64)
        return np.unique(np.array(space.labels), return_inverse=True)[1]

    def _order(self, space: Space) -> IntArray:
        """Documents by their content, equal ones by their labels."""
        first = np.argsort(self._codes(space), kind="stable")
        return first[content_order(_rows(space.matrix[first]))]

    def _whole(self, rows: Rows, told: Any) -> IntArray:
        if self.partition == "svd":
            return mdav_of_directions(latent_points(rows, self.components), self.k, told)
        return spherical_groups(rows, self.k, self._gather, told)

    def _in_blocks(self, rows: Rows, told: Any) -> IntArray:
        """The same inside blocks, cut at medians along the singular directions; a group near a cut is found only by the swaps."""
        points = latent_points(rows, self.components)
        blocks = block_of_rows(points.astype(np.float64), max(self.block_rows, 6 * self.k))
        groups = np.empty(len(points), np.int64)
        made = done = 0
        for ids in np.split(np.argsort(blocks, kind="stable"), np.cumsum(np.bincount(blocks))[:-1]):
            if self.partition == "svd":
                inside = mdav_of_directions(points[ids], self.k)
            else:
                inside = spherical_groups(rows.take(ids), self.k, self._gather)
            groups[ids] = made + inside
            made += int(inside.max()) + 1
            done += len(ids)
            told(done, len(points))
        return groups

    @property
    def _gather(self) -> Gather:
        return "sum" if self.partition == "grow" else "seed"

    def _check(self, space: Space) -> None:
        if len(space) < self.k:
            way_out = f"Use k of at most {len(space)}" if len(space) > 1 else "One document cannot be hidden among others"
            raise DataError(f"The space has {counted(len(space), 'document')}, fewer than k = {self.k}. {way_out}.")
        if (self.l > 1 or self.labels == "released") and space.labels is None:
            raise ParameterError(
                f"{self.name}: l and labels need the labels of the documents, and the space has none. Build it with labels."
            )
        if self.l > 1 and len(set(space.labels or ())) < self.l:
            different = counted(len(set(space.labels or ())), "different label")
            raise DataError(f"{self.name}: the space has {different}, fewer than l = {self.l}. Ask for fewer.")
        if self.idf == "released" and space.idf is None:
            raise ParameterError(f"{self.name}: the space does not say what its terms weigh, so idf cannot be released. Leave it out.")


def _rows(matrix: Any) -> Rows:
    return rows_of(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])


def centroids_of(matrix: Any, groups: IntArray, term_documents: int = 1, digits: int | None = None) -> Any:
    """(4.7) put right: the sum of each group's rows over its length, computed once per group.

    Terms in fewer than `term_documents` rows of the group are left out first; weights are rounded last, and then no longer quite of length 1.
    """
    rows = len(groups)
    member = sparse.csr_array((np.ones(rows), (groups, np.arange(rows))), shape=(int(groups.max()) + 1, rows))
    sums = tidy(member @ matrix)
    if term_documents > 1:
        present = matrix.copy()
        present.data = np.ones_like(present.data)
        sums.data[tidy(member @ present).data < term_documents] = 0.0  # the same entries, in the same order
    table = unit_rows(sums)
    if digits is not None:
        table.data = _significant(table.data, digits)
    return table


def _significant(weights: FloatArray, digits: int) -> FloatArray:
    """The nearest numbers with so many significant digits."""
    scale = 10.0 ** (digits - 1 - np.floor(np.log10(weights)))
    return np.asarray(np.rint(weights * scale) / scale)


def _warnings(space: Space, centroids: Any) -> tuple[str, ...]:
    warnings = []
    if space.dropped:
        left = counted(len(space.dropped), "document has", "documents have")
        warnings.append(f"{left} no known word; the release is without {'it' if len(space.dropped) == 1 else 'them'}.")
    empty = int((np.diff(centroids.indptr) == 0).sum())
    if empty:
        warnings.append(
            f"{counted(empty, 'group')} of {centroids.shape[0]:,} share no term that may be shown: their rows are empty. "
            "Raise k, or lower term_documents."
        )
    return tuple(warnings)
