"""Changes of the files that were handed over, of the folder they are in, and of the signature."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Change(NamedTuple):
    """One change. `shown_when_relisted`: whether the files show it though the hashes in the certificate were changed with them; None: not tried."""

    name: str
    shown: bool
    do: Callable[[Path], None]
    shown_when_relisted: bool | None = None


def _lines(edit: Callable[[list[str]], list[str]]) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        path = folder / "release.csv"
        path.write_text("".join(edit(path.read_text().splitlines(keepends=True))), newline="")

    return do


def _bytes(file: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def do(folder: Path) -> None:
        path = folder / file
        path.write_bytes(edit(path.read_bytes()))

    return do


def _alone(lines: list[str]) -> list[str]:
    """One record that nobody looks like."""
    return [*lines[:-1], "99,9999,f," + lines[-1].split(",", 3)[3]]


def _column(lines: list[str]) -> list[str]:
    return [line.rstrip("\n") + (",name\n" if not i else ",x\n") for i, line in enumerate(lines)]


def _first(folder: Path) -> Path:
    """Some released file."""
    return next(path for path in [folder / "release.csv", folder / "release.npz", *_letters(folder)] if path.exists())


def _letters(folder: Path) -> list[Path]:
    """Released texts; the numbers in their names are drawn."""
    return sorted((folder / "documents").glob("*.txt"))


def _linked(folder: Path) -> None:
    path = _first(folder)
    aside = folder.parent / "aside"
    path.replace(aside)
    path.symlink_to(aside)


def _linked_report(folder: Path) -> None:
    shutil.copy(folder / "report.html", folder.parent / "aside.html")
    (folder / "report.html").unlink()
    (folder / "report.html").symlink_to(folder.parent / "aside.html")


def _linked_certificate(folder: Path) -> None:
    shutil.copy(folder / "certificate.json", folder.parent / "aside.json")
    (folder / "certificate.json").unlink()
    (folder / "certificate.json").symlink_to(folder.parent / "aside.json")


def _pipe(folder: Path) -> None:
    _first(folder).unlink()
    os.mkfifo(_first_name(folder))


def _first_name(folder: Path) -> Path:
    listed = json.loads((folder / "certificate.json").read_text())["files"]
    return next(folder / one["file"] for one in listed if not (folder / one["file"]).exists())


def _letter(folder: Path, text: bytes) -> None:
    """Another text in the place of a released one."""
    _letters(folder)[0].write_bytes(text)


def _swapped_documents(folder: Path) -> None:
    one, other = _letters(folder)
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second), other.write_bytes(first)


def _copied(source: str, *names: str) -> Callable[[Path], None]:
    """Files of another run put in the place of these."""

    def do(folder: Path) -> None:
        for name in names:
            shutil.copy(folder.parent / source / name, folder / name)

    return do


def _signed_by_another(folder: Path) -> None:
    from shoal.signing import SigningKey

    key = SigningKey.read(folder.parent / "other")
    (folder / "certificate.sig").write_text(key.sign((folder / "certificate.json").read_bytes()))


def _warned_less(folder: Path) -> None:
    """A certificate that is changed, and signed by another key."""
    path = folder / "certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"warnings": [], "versions": {}}, indent=2))
    _signed_by_another(folder)


def _key_twice(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_text(path.read_text().replace("{", '{"promises": [],', 1))


def _vectors(folder: Path) -> None:
    """One row is given another centroid, and may be alone with it."""
    path = folder / "release.npz"
    with np.load(path) as parts:
        kept = dict(parts)
    kept["assignment"] = kept["assignment"].copy()
    kept["assignment"][kept["assignment"] == kept["assignment"][0]] = (kept["assignment"][0] + 1) % len(kept["indptr"][:-1])
    np.savez_compressed(path, **kept)


def _made(name: str, do: Callable[[Path], object]) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        do(folder / name)

    return make


FOLDER = [
    Change("report replaced", True, _bytes("report.html", lambda _: b"<p>All is well.</p>"), False),
    Change("report removed", True, _made("report.html", Path.unlink)),
    Change("report a link to the same bytes", True, _linked_report),
    Change("certificate a link to the same bytes", True, _linked_certificate),
    Change("release a link to the same bytes", True, _linked),
    Change("release a pipe", True, _pipe),
    Change("an empty folder named after a person", True, _made("Robert Brown", Path.mkdir)),
    Change("a file that is not listed", True, _made("more.txt", Path.touch)),
    Change("a hidden file", True, _made(".more", Path.touch)),
    Change("a pipe that is not listed", True, _made("more", os.mkfifo)),
    Change("a link that leads nowhere", True, _made("more", lambda path: path.symlink_to("nowhere"))),
    Change("a folder that is a link", True, _made("more", lambda path: path.symlink_to("/"))),
    Change("a second name for a file", True, lambda folder: os.link(_first(folder), folder / "again")),
    Change("signature removed", False, _made("certificate.sig", Path.unlink)),
    Change("signature emptied", False, _made("certificate.sig", lambda path: path.write_bytes(b""))),
    Change("signature by another key", False, _signed_by_another),
    Change("signature changed in one letter", False, _bytes("certificate.sig", lambda raw: (b"B" if raw[:1] == b"A" else b"A") + raw[1:])),
    Change("certificate changed and signed by another key", False, _warned_less),
    Change("certificate with spaces at its end", False, _bytes("certificate.json", lambda raw: raw + b"  \n")),
    Change("certificate with a key twice", True, _key_twice),
    Change("certificate with a byte-order mark", False, _bytes("certificate.json", lambda raw: b"\xef\xbb\xbf" + raw)),
    Change("certificate cut in half", True, _bytes("certificate.json", lambda raw: raw[: len(raw) // 2])),
]
TABLE = [
    Change("a record changed until it is alone", True, _lines(_alone), True),
    Change("a row removed", True, _lines(lambda lines: lines[:-1]), True),
    Change("a row twice", True, _lines(lambda lines: [*lines, lines[-1]]), True),
    Change("rows in another order", True, _lines(lambda lines: [lines[0], *lines[:0:-1]]), False),
    Change("a confidential value changed", True, _lines(lambda lines: [line.replace("angina", "cough", 1) for line in lines]), False),
    Change("a column added", True, _lines(_column), True),
    Change("a column renamed", True, _lines(lambda lines: [lines[0].replace("zip", "code"), *lines[1:]]), True),
    Change("line ends changed", True, _lines(lambda lines: [line.rstrip("\n") + "\r\n" for line in lines]), True),
    Change("byte-order mark added", True, _bytes("release.csv", lambda raw: b"\xef\xbb\xbf" + raw), True),
    Change("emptied", True, _bytes("release.csv", lambda _: b""), True),
    Change("header alone", True, _lines(lambda lines: lines[:1]), True),
    Change("spaces at the end", True, _bytes("release.csv", lambda raw: raw + b"\n\n"), True),
    Change("certificate of documents", True, _copied("out", "certificate.json")),
    Change("certificate and signature of documents", True, _copied("out", "certificate.json", "certificate.sig")),
    Change("signature of another certificate", False, _copied("out", "certificate.sig")),
]
DOCUMENTS = [
    Change("a document changed", True, lambda folder: _letter(folder, b"Robert Brown"), False),
    Change("a document emptied", True, lambda folder: _letter(folder, b""), False),
    Change("a document removed", True, lambda folder: _letters(folder)[0].unlink()),
    Change("a document added", True, _made("documents/document-9.txt", lambda path: path.write_text("Robert Brown"))),
    Change("two documents exchanged", True, _swapped_documents, False),
    Change("a document renamed", True, lambda folder: shutil.move(_letters(folder)[0], folder / "documents/Brown.txt") and None),
    Change("a folder beside the documents", True, _made("documents/Brown", Path.mkdir)),
    Change("certificate and signature of a table", True, _copied("run", "certificate.json", "certificate.sig")),
    Change("signature of another certificate", False, _copied("run", "certificate.sig")),
]
COLLECTION = [
    Change("a byte of the vectors changed", True, _bytes("release.npz", lambda raw: raw[:-40] + bytes([raw[-40] ^ 1]) + raw[-39:]), None),
    Change("rows given to another centroid", True, _vectors, True),
    Change("emptied", True, _bytes("release.npz", lambda _: b""), True),
    Change("certificate and signature of a table", True, _copied("run", "certificate.json", "certificate.sig")),
    Change("signature of another certificate", False, _copied("run", "certificate.sig")),
]
CHANGES = {"table": [*FOLDER, *TABLE], "documents": [*FOLDER, *DOCUMENTS], "collection": [*FOLDER, *COLLECTION]}
