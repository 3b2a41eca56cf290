"""CollectionRelease: centroids once, the centroid of each row, and privately where each row came from."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
from numpy.random import Generator
from scipy import sparse

from shoal.arrays import FloatArray, IntArray
from shoal.collections.space import matrix_of, opened, save, texts_of, tidy
from shoal.errors import DataError, OutputError, PromiseBroken, counted
from shoal.promises import Promise
from shoal.release import Step

VECTOR = "vector"  # what promises are about: the whole row
LABEL = "label"


@dataclass(frozen=True, repr=False)
class CollectionRelease:
    """What may leave: everything but `source_row`. Rows are shuffled, clusters numbered afresh, unused terms left out.

    A centroid can be empty, where its members share no term that may be shown: nothing is said of them. `labels` and `idf` are there only
    where the owner chose to release them.
    """

    centroids: Any  # csr_array, clusters by terms
    assignment: IntArray  # row -> centroid
    terms: tuple[str, ...]
    made_by: tuple[Step, ...]
    source_row: IntArray  # PRIVATE: row -> row of the space, the truth that attacks are scored against
    labels: tuple[str, ...] | None = None
    idf: FloatArray | None = None
    warnings: tuple[str, ...] = ()

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
        """Into a file that may leave, its promises counted again on what was written. A broken one leaves no file."""
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
            )
            broken = [one for one in check_file(path, self.promises) if not one.holds]
            if broken:
                raise PromiseBroken(
                    f"{broken[0].what}: promised {broken[0].promised:g}, found {broken[0].found} in the written rows. Nothing was released."
                )
        except OSError as error:
            path.unlink(missing_ok=True)
            raise OutputError(f"{path} could not be written: {error.strerror or error}.") from error
        except PromiseBroken:
            path.unlink(missing_ok=True)
            raise

    @staticmethod
    def read(path: str | Path, source_row: IntArray | None = None) -> CollectionRelease:
        """A release from its file, and the private truth where it is at hand; else every source row is -1."""
        path = Path(path)
        if not path.is_file():
            raise DataError(f"There is no file {path}.")
        with opened(path) as parts:
            assignment = parts["assignment"].astype(np.int64)
            said = texts_of(parts, "made_by")
            return CollectionRelease(
                matrix_of(parts),
                assignment,
                texts_of(parts, "terms") or (),
                tuple(_step(step) for step in json.loads(said[0])) if said else (),
                np.full(len(assignment), -1, np.int64) if source_row is None else np.asarray(source_row, np.int64),
                texts_of(parts, "labels"),
                parts.get("idf"),
            )


def _step(said: dict[str, Any]) -> Step:
    promises = tuple(Promise(one["what"], one["value"], tuple(one["columns"]), one["about"]) for one in said["promises"])
    return Step(said["method"], said["parameters"], tuple(said["columns"]), tuple(said["guarantees"]), said["summary"], promises)


# The independent check: it shares no code with methods, kernels or the reader above. Rows are compared by the terms and weights they hold,
# not by the number of their centroid, and counted in a dictionary.


class Counted(NamedTuple):
    """One promise, counted again on a file."""

    what: str
    promised: float
    found: float
    holds: bool


def check_file(path: Path, promises: Sequence[Promise]) -> list[Counted]:
    """Each promise on the rows of a written release."""
    try:
        with np.load(path, allow_pickle=False) as file:
            rows, idle = _rows(file)
            labels = _labels(file)
            if labels is not None and len(labels) != len(rows):
                raise ValueError("a row has no label")
    except (OSError, ValueError, KeyError, EOFError, IndexError, BadZipFile):
        raise DataError(f"{path} is damaged, or is not a release written by shoal.") from None
    found = []
    for promise in promises:
        if promise.what == "k-anonymity":
            least = 0 if idle else min(Counter(rows).values(), default=0)
            found.append(Counted("rows that are the same", promise.value, least, least >= promise.value))
        elif promise.what == "l-diversity" and labels is not None:
            inside: dict[bytes, set[str]] = {}
            for row, label in zip(rows, labels):
                inside.setdefault(row, set()).add(label)
            fewest = min(map(len, inside.values()), default=0)
            found.append(Counted("labels among rows that are the same", promise.value, fewest, fewest >= promise.value))
        else:
            raise DataError(
                f"There is no check for the promise '{promise.what}' on this file. A promise that cannot be checked is not made."
            )
    return found


def _rows(file: Any) -> tuple[list[bytes], bool]:
    """The content of every row, as bytes: its terms in order, and their weights; and whether a centroid is there that no row is like."""
    starts, terms, weights, assignment = file["indptr"], file["indices"], file["data"], file["assignment"]
    contents = []
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist()):
        shown = np.flatnonzero(weights[begin:end]) + begin
        shown = shown[np.argsort(terms[shown], kind="stable")]
        contents.append(terms[shown].tobytes() + b"|" + weights[shown].tobytes())
    if len(assignment) and assignment.min() < 0:
        raise ValueError("no centroid has this number")
    rows = [contents[centroid] for centroid in assignment.tolist()]
    return rows, not set(contents) <= set(rows)


def _labels(file: Any) -> list[str] | None:
    if "labels" not in file:
        return None
    letters, begin, found = file["labels"].tobytes(), 0, []
    for end in file["labels_ends"].tolist():
        found.append(letters[begin:end].decode())
        begin = end
    return found
