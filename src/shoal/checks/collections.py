"""The independent check of collections: re-counts what a release promises from the written file alone.

It shares no code with the methods, the kernels or the reader of releases, and takes the archive apart by itself, so that nothing is in it
that a release does not hold. Rows are compared by the terms and weights they hold, not by the number of their centroid, and counted in a
dictionary.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from shoal.certificate import CollectionCertificate
from shoal.errors import DataError
from shoal.folders import sha256_of
from shoal.promises import K_ANONYMITY, L_DIVERSITY, Checked, Promise

LOCAL, CENTRAL, END, END_64 = 30, 46, 22, 76  # bytes of the records of an archive, names apart
LARGE = b"\x01\x00"  # of the one extra field that archives of numbers have: sizes beyond four gigabytes
TEXTS = ("terms", "labels", "made_by", "terms_are")
KINDS = {"format": "S", "shape": "i", "data": "f", "indices": "i", "indptr": "i", "_is_array": "b", "assignment": "i", "idf": "f"}
KINDS |= dict.fromkeys(TEXTS, "u") | {f"{text}_ends": "i" for text in TEXTS}
TERMS_ARE = {"spherical": "words", "semantic": "meanings"}  # what is released by each method that is known here
BUILT: Mapping[str, Callable[[Any], bool]] = {
    "tokens": lambda given: given in ("letters", "words"),
    "stop_words": lambda given: given in ("english", "none"),
    "keep": lambda given: given in ("wordnet", "all"),
    "reduce": lambda given: given in ("none", "stems"),
    "least": lambda given: _whole(given) and given >= 1,
    "most": lambda given: isinstance(given, int | float) and not isinstance(given, bool) and 0 < given <= 1,
    "most_terms": lambda given: given is None or (_whole(given) and given >= 1),
    "weights": lambda given: given in ("tf-idf", "tf"),
}


class Written(NamedTuple):
    """What stands in the file of a release."""

    rows: list[bytes]  # of each row its terms in order, and their weights
    idle: bool  # whether a centroid is there that no row is like
    clusters: int
    terms: list[str]
    labels: list[str] | None
    arrays: Mapping[str, Any]
    steps: list[dict[str, Any]]  # without their promises
    promises: Any  # of the last step
    terms_are: str
    odd: int  # what is in the archive and of no release


def check_collection(path: Path, promises: Sequence[Promise]) -> list[Checked]:
    """Each promise, counted again on the rows of a written release."""
    written = _written(path)
    return [Checked.of(promise, _counted(promise, written)) for promise in promises]


def verify_collection(path: Path, certificate: CollectionCertificate) -> list[Checked]:
    """Hold a release against its certificate: bytes, rows, clusters, terms, every promise, and nothing else in the file than was certified."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    written, about = _written(path), certificate.release
    checks = [
        _same("bytes (sha-256)", about.sha256, sha256_of(path)),
        _same("rows", about.rows, len(written.rows)),
        _same("clusters", about.clusters, written.clusters),
        _same("terms", about.terms, len(written.terms)),
        _same("parts of the file that no release has", 0, written.odd),
        _same("terms and weights that no release has", 0, sum(_wrong_numbers(written, certificate))),
        _same("what the file says of its making and the certificate does not", 0, sum(_contradicted(written, certificate))),
        _same("words about how it was built that shoal does not say", 0, _not_built(certificate.built)),
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


# ---- the file against its certificate ---------------------------------------------------------------------------------------


def _wrong_numbers(written: Written, certificate: CollectionCertificate) -> list[int]:
    """Weights that are no numbers, are zero, or are negative where a method makes none; terms that are there twice, or that no row has."""
    starts, columns, weights = (written.arrays[key] for key in ("indptr", "indices", "data"))
    centroid = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    known = all(step.method in TERMS_ARE for step in certificate.steps)
    idf = written.arrays.get("idf")
    return [
        int((~np.isfinite(weights)).sum()),
        int((weights == 0).sum()),
        int((weights < 0).sum()) if known else 0,
        len(columns) - len(np.unique(np.stack((centroid, columns), axis=1), axis=0)),
        len(written.terms) - len(np.unique(columns)),
        len(written.terms) - len(set(written.terms)),
        0 if idf is None else int((~np.isfinite(idf)).sum()),
    ]


def _contradicted(written: Written, certificate: CollectionCertificate) -> list[bool]:
    """Steps, promises, labels and weights of terms must be those that the file holds; of a method that is not known here, what it says itself."""
    steps = [
        {
            "method": step.method,
            "parameters": dict(step.parameters),
            "columns": list(step.columns),
            "guarantees": list(step.guarantees),
            "summary": step.summary,
            "outcome": dict(step.outcome),
        }
        for step in certificate.steps
    ]
    last = certificate.steps[-1] if certificate.steps else None
    known = last is not None and last.method in TERMS_ARE
    there = {"labels": written.labels is not None, "idf": "idf" in written.arrays}
    said = {key: last.parameters.get(key, "withheld") == "released" for key in there} if last is not None and known else there
    return [
        written.steps != steps,
        written.promises
        != [asdict(one.promise) | {"columns": list(one.columns), "ignores": list(one.ignores)} for one in certificate.promises],
        *(there[key] != said[key] for key in there),
        written.terms_are not in ([TERMS_ARE[last.method]] if last is not None and known else TERMS_ARE.values()),
    ]


def _not_built(built: Mapping[str, Any] | None) -> int:
    """How many entries are not what a builder says of itself, or are lacking."""
    if built is None:
        return 0
    return len(set(built) ^ set(BUILT)) + sum(not fits(built[key]) for key, fits in BUILT.items() if key in built)


def _whole(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool)


# ---- reading ----------------------------------------------------------------------------------------------------------------


def _written(path: Path) -> Written:
    try:
        arrays, odd = _arrays(path.read_bytes())
        contents = _contents(arrays)
        assignment, labels, terms = arrays["assignment"].tolist(), _texts(arrays, "labels"), _texts(arrays, "terms") or []
        if min(assignment, default=0) < 0 or (labels is not None and len(labels) != len(assignment)):
            raise ValueError("a row has no centroid or no label")
        if arrays["shape"].tolist() != [len(contents), len(terms)] or arrays["format"] != b"csr" or not arrays["_is_array"]:
            raise ValueError("there are not as many rows or terms as it says")
        if "idf" in arrays and arrays["idf"].shape != (len(terms),):
            raise ValueError("a term has no weight")
        rows = [contents[centroid] for centroid in assignment]
        steps, promises = _made_by(arrays)
        (terms_are,) = _texts(arrays, "terms_are") or [""]
        return Written(rows, not set(contents) <= set(rows), len(contents), terms, labels, arrays, steps, promises, terms_are, odd)
    except Exception:  # there is no end of ways to stumble over damage
        raise DataError(f"{path} is damaged, or is not a release written by shoal.") from None


def _made_by(arrays: Mapping[str, Any]) -> tuple[list[dict[str, Any]], Any]:
    """The steps that the file tells of, and what the last of them promises; written once, as JSON without a space too many."""
    (text,) = _texts(arrays, "made_by") or ["[]"]
    steps = json.loads(text)
    if json.dumps(steps) != text:
        raise ValueError("it says something twice")
    promises = [one.pop("promises") for one in steps]
    return steps, [{"unit": "rows", "ignores": []} | one for one in promises[-1]] if promises else []


def _arrays(raw: bytes) -> tuple[dict[str, Any], int]:
    """The arrays in an archive, and how many things are in it that no release has: other members, members that are there twice, bytes that
    belong to none."""
    found: dict[str, Any] = {}
    odd = at = directory = 0
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        odd += bool(archive.comment)
        for member in sorted(archive.infolist(), key=lambda one: one.header_offset):
            odd += member.header_offset != at
            packed, extra, at = _packed(raw, member)
            odd += (
                any(one and one[:2] != LARGE for one in (extra, member.extra))
                or max(len(extra), len(member.extra)) > 28
                or bool(member.comment)
            )
            directory += CENTRAL + len(member.filename.encode()) + len(member.extra)
            key = member.filename.removesuffix(".npy")
            if key == member.filename or key not in KINDS or key in found:
                odd += 1
                continue
            array, slack = _array(_unpacked(packed, member))
            if array.dtype.kind != KINDS[key] or array.ndim != (key not in ("format", "_is_array")):
                raise ValueError("an array of another kind")
            found[key] = array
            odd += slack
    return found, odd + (len(raw) - at - directory not in (END, END + END_64))


def _packed(raw: bytes, member: zipfile.ZipInfo) -> tuple[bytes, bytes, int]:
    """A member as it stands in the archive, its extra field, and where it ends."""
    begin = member.header_offset + LOCAL
    name, extra = (int.from_bytes(raw[begin - back : begin - back + 2], "little") for back in (4, 2))
    if raw[begin : begin + name].decode() != member.filename:
        raise ValueError("two names for one member")
    data = begin + name + extra
    return raw[data : data + member.compress_size], raw[begin + name : data], data + member.compress_size


def _unpacked(packed: bytes, member: zipfile.ZipInfo) -> bytes:
    """The whole of a member, which must be packed to its last byte."""
    if member.compress_type == zipfile.ZIP_DEFLATED:
        opened = zlib.decompressobj(-zlib.MAX_WBITS)
        content = opened.decompress(packed) + opened.flush()
        if not opened.eof or opened.unused_data:
            raise ValueError("more or less than is packed")
    elif member.compress_type == zipfile.ZIP_STORED:
        content = packed
    else:
        raise ValueError("packed in another way")
    if len(content) != member.file_size or zlib.crc32(content) != member.CRC:
        raise ValueError("not what was packed")
    return content


def _array(content: bytes) -> tuple[Any, bool]:
    """An array, and whether more is written there than it: a remark in its head, bytes behind its end."""
    file, again = io.BytesIO(content), io.BytesIO()
    array = np.lib.format.read_array(file, allow_pickle=False)
    np.lib.format.write_array(again, array, allow_pickle=False)
    heads = [one[: len(one) - array.nbytes].rstrip() for one in (content, again.getvalue())]
    return array, file.tell() != len(content) or heads[0][10:] != heads[1][10:]


def _contents(file: Mapping[str, Any]) -> list[bytes]:
    """The content of every centroid, as bytes."""
    starts, terms, weights, width = file["indptr"].tolist(), file["indices"], file["data"], int(file["shape"][1])
    ends = starts[:1] == [0] and starts[-1] == len(terms) == len(weights) and starts == sorted(starts)
    if not ends or (len(terms) and not 0 <= terms.min() <= terms.max() < width):
        raise ValueError("the matrix leads outside itself")
    contents = []
    for begin, end in pairwise(starts):
        shown = np.flatnonzero(weights[begin:end]) + begin
        shown = shown[np.argsort(terms[shown], kind="stable")]
        contents.append(terms[shown].tobytes() + b"|" + weights[shown].tobytes())
    return contents


def _texts(file: Mapping[str, Any], key: str) -> list[str] | None:
    """Texts that stand one after another, to the last letter."""
    if key not in file:
        return None
    letters, begin, texts = file[key].tobytes(), 0, []
    for end in file[f"{key}_ends"].tolist():
        if end < begin:
            raise ValueError("a text that ends before it begins")
        texts.append(letters[begin:end].decode())
        begin = end
    if begin != len(letters):
        raise ValueError("letters of no text")
    return texts
