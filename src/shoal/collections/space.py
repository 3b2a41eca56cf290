"""Space: documents as unit vectors over terms, checked once. It is the original: it stays private."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from shoal.arrays import BoolArray, FloatArray
from shoal.errors import DataError, ShoalError, counted
from shoal.folders import appearing, refuse_existing
from shoal.parsing import parse_json

FILE = "space.npz"
UNIT = 1e-6  # how far a row's norm may be from 1


@dataclass(frozen=True, repr=False)
class Space:
    """A document-term matrix whose rows are non-negative and of length 1, none of them empty.

    `idf` are the weights of the terms where there are some, `built` the parameters of the Builder, `dropped` the names of documents that
    had no known word and are not among the rows.
    """

    matrix: Any  # scipy.sparse.csr_array, documents by terms
    terms: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...] | None = None
    idf: FloatArray | None = None
    built: Mapping[str, Any] | None = None
    dropped: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "matrix", tidy(self.matrix))
        _check_shape(self)
        _check_weights(self.matrix)

    @staticmethod
    def of(
        matrix: Any,
        terms: Sequence[str] | None = None,
        names: Sequence[str] | None = None,
        labels: Sequence[object] | None = None,
        idf: Any = None,
    ) -> Space:
        """From a scipy sparse matrix or an array. Terms are numbered where they are not given, and so are documents."""
        rows = tidy(matrix)
        return Space(
            rows,
            tuple(map(str, range(rows.shape[1]))) if terms is None else tuple(map(str, terms)),
            numbered(rows.shape[0]) if names is None else tuple(map(str, names)),
            None if labels is None else tuple(map(str, labels)),
            None if idf is None else np.array(idf, np.float64),
        )

    @staticmethod
    def of_vectorizer(
        vectorizer: Any, texts: Sequence[str], names: Sequence[str] | None = None, labels: Sequence[object] | None = None
    ) -> Space:
        """From a fitted scikit-learn vectorizer. Rows are brought to length 1; documents in which it knows no word are dropped."""
        rows = unit_rows(vectorizer.transform(texts))
        space = known_rows(
            rows,
            tuple(map(str, vectorizer.get_feature_names_out())),
            numbered(len(texts)) if names is None else tuple(map(str, names)),
            None if labels is None else tuple(map(str, labels)),
            np.array(vectorizer.idf_, np.float64) if hasattr(vectorizer, "idf_") else None,
        )
        return space

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Space({counted(len(self), 'document')}, {counted(len(self.terms), 'term')}, {counted(self.matrix.nnz, 'weight')})"

    def take(self, rows: Any) -> Space:
        """Some of the documents."""
        rows = np.arange(len(self))[rows]
        labels = None if self.labels is None else tuple(self.labels[row] for row in rows)
        return Space(self.matrix[rows], self.terms, tuple(self.names[row] for row in rows), labels, self.idf, self.built)

    def by_author(self, authors: Sequence[str]) -> Space:
        """One row per author, the sum of their documents brought to length 1: for authors who must not be told apart, however many they wrote.

        An author keeps a label only where all of their documents have it; else the space has none.
        """
        if len(authors) != len(self):
            raise DataError(f"There are {counted(len(authors), 'author')} for {counted(len(self), 'document')}. Name the author of each.")
        known, codes = np.unique(np.array(list(map(str, authors))), return_inverse=True)
        sums = sparse.csr_array((np.ones(len(self)), (codes, np.arange(len(self)))), shape=(len(known), len(self))) @ self.matrix
        labels = None
        if self.labels is not None:
            of_author: dict[int, set[str]] = {}
            for author, label in zip(codes.tolist(), self.labels):
                of_author.setdefault(author, set()).add(label)
            if all(len(found) == 1 for found in of_author.values()):
                labels = tuple(min(of_author[author]) for author in range(len(known)))
        return Space(unit_rows(sums), self.terms, tuple(map(str, known)), labels, self.idf, self.built)

    def write(self, folder: str | Path) -> None:
        """Into a new folder that only its owner can read."""
        out = Path(folder)
        refuse_existing(out)
        with appearing(out, 0o700) as hidden:
            save(
                hidden / FILE,
                matrix=self.matrix,
                terms=self.terms,
                names=self.names,
                labels=self.labels,
                idf=self.idf,
                dropped=self.dropped,
                built=None if self.built is None else [json.dumps(dict(self.built))],
            )

    @staticmethod
    def read(folder: str | Path) -> Space:
        """The space of a folder that `write` made."""
        path = Path(folder) / FILE
        if not path.is_file():
            raise DataError(f"{folder} is not a space: {FILE} is missing. Name the folder that `shoal collection build -o` wrote.")
        with opened(path) as parts:
            built = texts_of(parts, "built")
            return Space(
                matrix_of(parts),
                texts_of(parts, "terms") or (),
                texts_of(parts, "names") or (),
                texts_of(parts, "labels"),
                parts.get("idf"),
                parse_json(built[0], path) if built else None,
                texts_of(parts, "dropped") or (),
            )


def numbered(documents: int) -> tuple[str, ...]:
    """Names for documents that have none."""
    return tuple(f"document-{i}" for i in range(1, documents + 1))


def tidy(matrix: Any) -> Any:
    """A csr_array of float64 with sorted terms, no term twice and no stored zeros, whatever the matrix was. The given one is left as it is."""
    try:
        rows = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    except (TypeError, ValueError):
        raise DataError("The document-term matrix must be a scipy sparse matrix or an array of numbers, documents by terms.") from None
    if rows.ndim != 2:
        raise DataError("The document-term matrix must have two dimensions, documents by terms.")
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    return rows


def unit_rows(matrix: Any) -> Any:
    """(2.19): each row divided by the root of its sum of squares. Empty rows stay empty."""
    rows = tidy(matrix)
    lengths = np.diff(rows.indptr)
    largest = np.zeros(rows.shape[0])
    filled = np.flatnonzero(lengths)
    if len(filled):
        largest[filled] = np.maximum.reduceat(np.abs(rows.data), rows.indptr[filled])
    rows.data /= np.repeat(largest, lengths)  # first, so that no square is too large or too small to be a number
    sums = np.bincount(np.repeat(np.arange(rows.shape[0]), lengths), rows.data**2, rows.shape[0])
    rows.data /= np.repeat(np.sqrt(sums), lengths)
    return rows


def known_rows(
    rows: Any,
    terms: tuple[str, ...],
    names: tuple[str, ...],
    labels: tuple[str, ...] | None,
    idf: FloatArray | None,
    built: Mapping[str, Any] | None = None,
) -> Space:
    """A space of the rows that are not empty; the names of the others are kept."""
    for what, given in (("name", names), ("label", labels)):
        if given is not None and len(given) != rows.shape[0]:
            raise DataError(f"There are {counted(len(given), what)} for {counted(rows.shape[0], 'document')}. Give each document one.")
    filled = np.diff(rows.indptr) > 0
    if not filled.any():
        raise DataError(
            f"None of the {counted(len(names), 'document')} has a word of the vocabulary. "
            "Are they in another language? Build with other words: tokens=words, keep=all."
        )
    dropped = tuple(name for name, kept in zip(names, filled) if not kept)
    names = tuple(name for name, kept in zip(names, filled) if kept)
    labels = None if labels is None else tuple(label for label, kept in zip(labels, filled) if kept)
    return Space(rows[filled], terms, names, labels, idf, built, dropped)


def _check_shape(space: Space) -> None:
    documents, width = space.matrix.shape
    if documents == 0:
        raise DataError("The space has no documents. Give it some.")
    if width == 0:
        raise DataError("The space has no terms. Build it with other words or lower limits.")
    for what, given, expected, of in (
        ("term", space.terms, width, "column"),
        ("name", space.names, documents, "row"),
        ("label", space.labels, documents, "row"),
        ("idf weight", space.idf, width, "column"),
    ):
        if given is not None and len(given) != expected:
            raise DataError(f"The matrix has {counted(expected, of)}, but there are {counted(len(given), what)}. Give one for each.")
    for what, names in (("terms", space.terms), ("documents", space.names)):
        if len(set(names)) < len(names):
            raise DataError(f"Two {what} have the same name. Give each a name of its own.")


def _check_weights(matrix: Any) -> None:
    if not np.isfinite(matrix.data).all():
        raise DataError(f"{_places(~np.isfinite(matrix.data))} missing or infinite. Put numbers there, or leave them out.")
    if (matrix.data < 0).any():
        raise DataError(f"{_places(matrix.data < 0)} negative. Use weights that count words, such as tf-idf.")
    lengths = np.diff(matrix.indptr)
    if not lengths.all():
        empty = int((lengths == 0).sum())
        raise DataError(f"{counted(empty, 'document has', 'documents have')} no term at all, so no direction. Leave such documents out.")
    norms = np.sqrt(np.bincount(np.repeat(np.arange(len(lengths)), lengths), matrix.data**2))
    off = int((np.abs(norms - 1) > UNIT).sum())
    if off:
        raise DataError(
            f"The rows of {counted(off, 'document')} are not of length 1. Divide each row by its norm: shoal.collections.unit_rows(matrix)."
        )


def _places(wrong: BoolArray) -> str:
    count = int(wrong.sum())
    return f"{count:,} of the weights {'is' if count == 1 else 'are'}"


def contents(matrix: Any) -> set[bytes]:
    """What stands in the rows of a tidy matrix, to tell equal ones."""
    return {matrix.indices[a:b].tobytes() + matrix.data[a:b].tobytes() for a, b in pairwise(matrix.indptr.tolist())}


# The file of a space and of a release: numpy's .npz, in which scipy.sparse.load_npz finds the matrix.


def save(path: Path, matrix: Any, **parts: Any) -> None:
    """Write a matrix and what goes with it; None is left out, texts are written as UTF-8."""
    kept = {
        "format": np.array(b"csr"),
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices.astype(np.int32),
        "indptr": matrix.indptr.astype(np.int64),
        "_is_array": np.array(True),
    }
    for key, part in parts.items():
        if isinstance(part, np.ndarray):
            kept[key] = part
        elif part is not None:
            encoded = [text.encode() for text in part]
            kept[key] = np.frombuffer(b"".join(encoded), np.uint8)
            kept[f"{key}_ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    with path.open("wb") as file:
        np.savez_compressed(file, **kept)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """The parts of such a file, or a sentence that it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as parts:
            yield parts
    except ShoalError:
        raise
    except Exception:  # numpy has no end of ways to stumble over damage
        raise DataError(f"{path} is damaged, or was not written by shoal. Make it again.") from None


def matrix_of(parts: Any) -> Any:
    """The matrix in a file; numbers that would lead outside it are refused before anything follows them."""
    starts, terms, (rows, width) = parts["indptr"], parts["indices"], (int(n) for n in parts["shape"])
    sound = len(starts) == rows + 1 and (not len(starts) or (starts[0] == 0 and starts[-1] == len(terms) == len(parts["data"])))
    if not sound or (np.diff(starts) < 0).any() or (len(terms) and (terms.min() < 0 or terms.max() >= width)):
        raise ValueError("the matrix leads outside itself")
    return sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=tuple(parts["shape"]))


def texts_of(parts: Any, key: str) -> tuple[str, ...] | None:
    """Texts in a file; None if they are not there."""
    if key not in parts:
        return None
    letters, ends = parts[key].tobytes(), parts[f"{key}_ends"].tolist()
    return tuple(letters[begin:end].decode() for begin, end in zip([0, *ends], ends))
