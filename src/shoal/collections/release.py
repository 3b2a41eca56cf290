"""CollectionRelease: centroids once, the centroid of each row, and privately where each row came from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.random import Generator
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.space import matrix_of, opened, save, texts_of, tidy
from shoal.errors import DataError, OutputError, counted
from shoal.parsing import parse_json
from shoal.promises import Promise
from shoal.release import Step

VECTOR = "vector"  # what promises are about: the whole row
LABEL = "label"
Terms = Literal["words", "meanings"]  # what stands in a release: words of the documents, or synsets above them


@dataclass(frozen=True, repr=False)
class CollectionRelease:
    """What may leave: everything but `source_row`. Rows are shuffled, clusters numbered afresh, unused terms left out.

    A centroid can be empty, where its members share no term that may be shown: nothing is said of them. `labels` and `idf` are there only
    where the owner chose to release them. `terms_are` says whether terms are words of the documents or meanings, and so what can be asked.
    """

    centroids: Any  # csr_array, clusters by terms
    assignment: IntArray  # row -> centroid
    terms: tuple[str, ...]
    made_by: tuple[Step, ...]
    source_row: IntArray  # PRIVATE: row -> row of the space, the truth that attacks are scored against
    labels: tuple[str, ...] | None = None
    idf: FloatArray | None = None
    warnings: tuple[str, ...] = ()
    terms_are: Terms = "words"

    @staticmethod
    def of(
        centroids: Any,
        groups: IntArray,
        terms: Sequence[str],
        step: Step,
        rng: Generator,
        labels: Sequence[str] | None = None,
        idf: FloatArray | None = None,
        warnings: tuple[str, ...] = (),
        terms_are: Terms = "words",
    ) -> CollectionRelease:
        """Close a method's work. `groups` gives each row of the space its row of `centroids`; labels are given only to be released."""
        table = tidy(centroids)
        used = np.unique(table.indices)
        source_row = rng.permutation(len(groups))
        fresh = rng.permutation(table.shape[0])  # old number -> new number
        return CollectionRelease(
            table[np.argsort(fresh)][:, used],
            fresh[np.asarray(groups, np.int64)[source_row]],
            tuple(terms[term] for term in used.tolist()),
            (step,),
            source_row,
            None if labels is None else tuple(labels[row] for row in source_row),
            None if idf is None else np.asarray(idf, np.float64)[used],
            warnings,
            terms_are,
        )

    @property
    def promises(self) -> tuple[Promise, ...]:
        """What the rows are said to keep."""
        return self.made_by[-1].promises if self.made_by else ()

    def __len__(self) -> int:
        return len(self.assignment)

    def __repr__(self) -> str:
        clusters = counted(self.centroids.shape[0], "centroid")
        return f"CollectionRelease({counted(len(self), 'row')}, {clusters}, {counted(len(self.terms), 'term')})"

    def matrix(self, terms: Sequence[str] | None = None) -> Any:
        """Every row as a scipy csr_array, over the release's terms or over others (those of the space, say); larger than the release itself."""
        if terms is None:
            return self.centroids[self.assignment]
        place = {term: column for column, term in enumerate(terms)}
        column = np.array([place.get(term, -1) for term in self.terms], np.int64)
        known = np.flatnonzero(column >= 0)
        part = self.centroids[:, known]
        shape = (part.shape[0], len(place))
        return tidy(sparse.csr_array((part.data, column[known][part.indices], part.indptr), shape=shape))[self.assignment]

    def write(self, path: str | Path) -> None:
        """Into a file that may leave. Its promises are counted again by `shoal.checks.collections`, which shares no code with this."""
        path = Path(path)
        try:
            save(
                path,
                matrix=self.centroids,
                assignment=self.assignment.astype(np.int32),
                terms=self.terms,
                labels=self.labels,
                idf=self.idf,
                made_by=[json.dumps([asdict(step) for step in self.made_by])],
                terms_are=[self.terms_are],
            )
        except OSError as error:
            path.unlink(missing_ok=True)
            raise OutputError(f"{path} could not be written: {error.strerror or error}.") from error

    @staticmethod
    def read(path: str | Path, source_row: IntArray | None = None) -> CollectionRelease:
        """A release from its file, and the private truth where it is at hand; else every source row is -1."""
        path = Path(path)
        if not path.is_file():
            raise DataError(f"There is no file {path}.")
        with opened(path) as parts:
            assignment = parts["assignment"].astype(np.int64)
            steps, kind = texts_of(parts, "made_by"), texts_of(parts, "terms_are")
            if not kind or kind[0] not in get_args(Terms):
                raise DataError(f"{path} does not say whether its terms are words or meanings, as shoal 0.1 did not. Make it again.")
            matrix, terms = matrix_of(parts), texts_of(parts, "terms") or ()
            if matrix.shape[1] != len(terms) or not ((assignment >= 0) & (assignment < matrix.shape[0])).all():
                raise ValueError("a column without a term, or a row without a centroid")
            return CollectionRelease(
                matrix,
                assignment,
                terms,
                tuple(_step(step) for step in parse_json(steps[0], path)) if steps else (),
                np.full(len(assignment), -1, np.int64) if source_row is None else np.asarray(source_row, np.int64),
                texts_of(parts, "labels"),
                parts.get("idf"),
                terms_are=cast(Terms, kind[0]),
            )


def _step(written: dict[str, Any]) -> Step:
    promises = tuple(Promise(one["what"], one["value"], tuple(one["columns"]), one["about"]) for one in written["promises"])
    columns, guarantees = tuple(written["columns"]), tuple(written["guarantees"])
    return Step(written["method"], written["parameters"], columns, guarantees, written["summary"], promises)
