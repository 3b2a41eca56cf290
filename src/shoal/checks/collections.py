"""The independent check of collections: re-counts what a release promises from the written file alone.

It shares no code with the methods, the kernels or the reader of releases. Rows are compared by the terms and weights they hold, not by the
number of their centroid, and counted in a dictionary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.certificate import CollectionCertificate
from shoal.errors import DataError
from shoal.folders import sha256_of
from shoal.promises import K_ANONYMITY, L_DIVERSITY, Checked, Promise


class Written(NamedTuple):
    """What stands in the file of a release."""

    rows: list[bytes]  # of each row its terms in order, and their weights
    idle: bool  # whether a centroid is there that no row is like
    clusters: int
    terms: int
    labels: list[str] | None


def check_collection(path: Path, promises: Sequence[Promise]) -> list[Checked]:
    """Each promise, counted again on the rows of a written release."""
    written = _written(path)
    return [Checked.of(promise, _counted(promise, written)) for promise in promises]


def verify_collection(path: Path, certificate: CollectionCertificate) -> list[Checked]:
    """Hold a release against its certificate: bytes, rows, clusters, terms, and every promise."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    written, about = _written(path), certificate.release
    checks = [
        _same("bytes (sha-256)", about.sha256, sha256_of(path)),
        _same("rows", about.rows, len(written.rows)),
        _same("clusters", about.clusters, written.clusters),
        _same("terms", about.terms, written.terms),
    ]
    for part in certificate.promises:
        counted = Checked.of(part.promise, _counted(part.promise, written))
        checks.append(counted)
        if part.found != counted.found or part.holds != counted.holds:
            checks.append(Checked(f"{counted.what}, as certified", part.found, counted.found, False))
    return checks


def _same(what: str, certified: Any, found: Any) -> Checked:
    return Checked(what, certified, found, certified == found)


def _counted(promise: Promise, written: Written) -> int:
    if promise.kind == K_ANONYMITY:
        return 0 if written.idle else min(Counter(written.rows).values(), default=0)
    if promise.kind == L_DIVERSITY and written.labels is not None:
        inside: dict[bytes, set[str]] = {}
        for row, label in zip(written.rows, written.labels):
            inside.setdefault(row, set()).add(label)
        return min(map(len, inside.values()), default=0)
    raise DataError(f"There is no check for the promise '{promise.what}' on this file. A promise that cannot be checked is not made.")


def _written(path: Path) -> Written:
    try:
        with np.load(path, allow_pickle=False) as file:
            contents = _contents(file)
            assignment, labels = file["assignment"].tolist(), _texts(file, "labels")
            if min(assignment, default=0) < 0 or (labels is not None and len(labels) != len(assignment)):
                raise ValueError("a row has no centroid or no label")
            rows = [contents[centroid] for centroid in assignment]
            return Written(rows, not set(contents) <= set(rows), len(contents), len(_texts(file, "terms") or ()), labels)
    except Exception:  # numpy has no end of ways to stumble over damage
        raise DataError(f"{path} is damaged, or is not a release written by shoal.") from None


def _contents(file: Any) -> list[bytes]:
    """The content of every centroid, as bytes."""
    starts, terms, weights = file["indptr"].tolist(), file["indices"], file["data"]
    contents = []
    for begin, end in pairwise(starts):
        shown = np.flatnonzero(weights[begin:end]) + begin
        shown = shown[np.argsort(terms[shown], kind="stable")]
        contents.append(terms[shown].tobytes() + b"|" + weights[shown].tobytes())
    return contents


def _texts(file: Any, key: str) -> list[str] | None:
    if key not in file:
        return None
    letters, begin, texts = file[key].tobytes(), 0, []
    for end in file[f"{key}_ends"].tolist():
        texts.append(letters[begin:end].decode())
        begin = end
    return texts
