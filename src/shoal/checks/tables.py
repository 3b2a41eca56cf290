"""The independent check: re-counts what a release promises from the written file alone.

It shares no code with the methods, measures or kernels: cells are compared as the text (or Parquet values) on disk, and classes are
counted in a dictionary.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import DataError
from shoal.promises import Promise
from shoal.release import Release

MOST_PAIRED = 5000  # classes compared pairwise


@dataclass(frozen=True)
class Found:
    """One thing checked."""

    what: str
    promised: Any
    found: Any
    holds: bool


def sha256_of(path: Path) -> str:
    """The hash of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def check_promises(path: Path, delimiter: str, promises: Sequence[Promise]) -> list[Found]:
    """Each promise, counted again on the rows of the file."""
    return [_check(promise, _rows(path, delimiter, _needed(promise))) for promise in promises]


def check_release(release: Release) -> list[Found]:
    """The same for a release that is still in memory."""
    found = []
    for promise in release.promises:
        columns = [release.table.column(column).to_pylist() for column in _needed(promise)]
        found.append(_check(promise, zip(*columns)))
    return found


def _needed(promise: Promise) -> list[str]:
    return [*promise.columns, *([promise.about] if promise.about else [])]


def smallest_class(path: Path, delimiter: str, columns: Sequence[str]) -> tuple[int, int]:
    """(size of the smallest class, number of unique records) over the given columns."""
    sizes = Counter(_rows(path, delimiter, columns)).values()
    return min(sizes, default=0), sum(size == 1 for size in sizes)


def verify(release: Path, certificate: Path) -> list[Found]:
    """Hold a release against its certificate: bytes, rows, columns, promises, and the class sizes it was said to have."""
    said = read_certificate(certificate)
    if said.get("kind") == "documents":
        return _verify_documents(release, said)
    if said.get("kind") == "collection":
        return _verify_collection(release, certificate)
    if not release.is_file():
        raise DataError(f"There is no file {release}.")
    about = said["release"]
    delimiter = about.get("delimiter", ",")
    names, rows = _shape(release, delimiter)
    found = [
        Found("bytes (sha-256)", about["sha256"], digest := sha256_of(release), digest == about["sha256"]),
        Found("rows", about["rows"], rows, rows == about["rows"]),
        Found("columns", list(about["columns"]), names, names == list(about["columns"])),
    ]
    quasi = [column for column in said["roles"]["quasi"] if column in names]
    if quasi:
        smallest, uniques = smallest_class(release, delimiter, quasi)
        measured = next((m for m in said["measures"] if m["name"] == "k-anonymity"), None)
        if measured and measured["value"] is not None:
            found.append(Found("smallest class", measured["value"], smallest, smallest == measured["value"]))
            found.append(Found("unique records", measured["details"]["uniques"], uniques, uniques == measured["details"]["uniques"]))
    for promise in said["promises"]:
        kept = Promise(promise["what"], promise["value"], tuple(promise["columns"]), promise.get("about"))
        if any(column not in names for column in _needed(kept)):
            found.append(Found(promise["what"], promise["value"], "columns missing", False))
        else:
            counted = check_promises(release, delimiter, [kept])[0]
            found.append(counted)
            if promise.get("found") != counted.found or promise.get("holds") != counted.holds:
                found.append(Found(f"{counted.what}, as certified", promise.get("found"), counted.found, False))
    return found


def _verify_documents(folder: Path, said: Mapping[str, Any]) -> list[Found]:
    """Redacted documents: the same files, byte for byte, and no other beside them."""
    if not folder.is_dir():
        raise DataError(f"{folder} is not a folder. Name the one that `shoal documents redact -o` wrote.")
    listed = {one["file"]: one["sha256"] for one in said["files"]}
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"certificate.json", "report.html"}
    changed = [file for file in sorted(there & set(listed)) if sha256_of(folder / file) != listed[file]]
    return [
        Found("files", len(listed), len(there), len(there) == len(listed)),
        Found("files that are missing", 0, len(set(listed) - there), not set(listed) - there),
        Found("files that are not listed", 0, len(there - set(listed)), not there - set(listed)),
        Found("files whose bytes changed", 0, len(changed), not changed),
    ]


def _verify_collection(release: Path, certificate: Path) -> list[Found]:
    """A collection is checked by its own room."""
    from shoal.certificate import CollectionCertificate
    from shoal.certificate import read_certificate as read
    from shoal.checks.collections import verify_collection

    typed = read(certificate)
    assert isinstance(typed, CollectionCertificate)
    return [Found(one.what, one.promised, one.found, one.holds) for one in verify_collection(release, typed)]


def _check(promise: Promise, rows: Iterator[tuple[Any, ...]]) -> Found:
    """k and the diversities are at least what was promised, closeness at most."""
    over = ", ".join(promise.columns)
    if promise.what == "k-anonymity":
        classes = Counter(rows)
        smallest = min(classes.values(), default=0)
        wild = _smallest_as_wildcard(classes)
        found = smallest if wild is None else min(smallest, wild)
        return Found(f"k-anonymity over {over}", promise.value, found, found >= promise.value)
    inside: dict[tuple[Any, ...], Counter[Any]] = {}
    for row in rows:
        inside.setdefault(row[:-1], Counter())[row[-1]] += 1
    if promise.what == "l-diversity":
        least = min((len(values) for values in inside.values()), default=0)
        return Found(f"distinct values of {promise.about} over {over}", promise.value, least, least >= promise.value)
    if promise.what == "entropy-l-diversity":
        effective = min((_effective(values) for values in inside.values()), default=0.0)
        return Found(f"effective values of {promise.about} over {over}", promise.value, effective, effective >= promise.value - 1e-9)
    if promise.what in ("t-closeness", "ordered-t-closeness"):
        farthest = _farthest(list(inside.values()), promise.what == "ordered-t-closeness")
        return Found(f"closeness of {promise.about} over {over}", promise.value, farthest, farthest <= promise.value + 1e-9)
    raise DataError(f"There is no check for the promise '{promise.what}'. A promise that cannot be checked is not made.")


def _smallest_as_wildcard(classes: Counter[tuple[Any, ...]]) -> int | None:
    """The fewest records any class could be taken for when a suppressed cell stands for every value; None where nothing is suppressed.

    It can only be more than the class itself; it is counted all the same, by comparing classes pairwise, up to a few thousand of them.
    """
    tuples = list(classes)
    if len(tuples) > MOST_PAIRED or not any("*" in row for row in tuples):
        return None
    number: list[dict[Any, int]] = [{} for _ in tuples[0]]
    codes = np.array([[seen.setdefault(cell, len(seen)) for seen, cell in zip(number, row)] for row in tuples])
    open_ = np.array([[cell == "*" for cell in row] for row in tuples])
    sizes = np.array(list(classes.values()))
    return min(int(sizes[((codes == codes[i]) | open_ | open_[i]).all(axis=1)].sum()) for i in range(len(tuples)))


def _effective(values: Counter[Any]) -> float:
    total = values.total()
    return math.exp(-sum(count / total * math.log(count / total) for count in values.values()))


def _farthest(classes: list[Counter[Any]], ordered: bool) -> float:
    """The largest distance of a class's values from all values'."""
    whole: Counter[Any] = Counter()
    for values in classes:
        whole.update(values)
    domain, total = sorted(whole, key=_order), whole.total()
    farthest = 0.0
    for values in classes:
        size, gap, distance = values.total(), 0.0, 0.0
        for value in domain:
            difference = values[value] / size - whole[value] / total
            gap += difference
            distance += abs(gap) if ordered else abs(difference)
        farthest = max(farthest, distance / (max(len(domain) - 1, 1) if ordered else 2))
    return farthest


def _order(value: Any) -> tuple[int, float, str]:
    """Numbers by size, then text, then missing."""
    if value is None or value == "":
        return 2, 0.0, ""
    try:
        return 0, float(value.replace(",", ".") if isinstance(value, str) else value), ""
    except (TypeError, ValueError):
        return 1, 0.0, str(value)


def _is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def _rows(path: Path, delimiter: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    if _is_parquet(path):
        import pyarrow.parquet as pq

        table = pq.read_table(path, columns=list(columns))
        return zip(*(_hashable(table.column(column).to_pylist()) for column in columns))
    return _csv_rows(path, delimiter, columns)


def _hashable(cells: list[Any]) -> list[Any]:
    """Sets are lists in Parquet, a suppressed cell an empty one."""
    return [tuple(cell) or "*" if isinstance(cell, list) else cell for cell in cells]


def _csv_rows(path: Path, delimiter: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, [])
        places = [header.index(column) for column in columns]
        for row in reader:
            if not row:  # a single empty cell is written as an empty line
                row = [""]
            yield tuple(row[place] for place in places)


def _shape(path: Path, delimiter: str) -> tuple[list[str], int]:
    if _is_parquet(path):
        import pyarrow.parquet as pq

        about = pq.read_metadata(path)
        return list(pq.read_schema(path).names), int(about.num_rows)
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file, delimiter=delimiter)
        header = next(reader, [])
        return header, sum(1 for _ in reader)


def read_certificate(path: Path) -> Mapping[str, Any]:
    """A certificate's JSON, or a sentence saying that it is none."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said.get("kind") == "documents":
            return {**said, "files": [{"file": str(one["file"]), "sha256": str(one["sha256"])} for one in said["files"]]}
        if said.get("kind") == "collection":
            return {**said, "release": {"sha256": str(said["release"]["sha256"])}, "promises": list(said["promises"])}
        for part, kind in (("release", dict), ("roles", dict), ("steps", list), ("promises", list), ("measures", list)):
            if not isinstance(said[part], kind):
                raise KeyError(part)
        for key in ("sha256", "rows", "columns"):
            said["release"][key]
        return dict(said)
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, OSError):
        raise DataError(f"{path} is not a certificate written by shoal.") from None
