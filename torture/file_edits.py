"""Changes of the files that were handed over, of the folder they are in, and of the signature."""

from __future__ import annotations

import io
import json
import os
import shutil
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

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


def _relisted(folder: Path, edit: Callable[[list[dict[str, str]]], None]) -> None:
    """The list of files in the certificate changed."""
    path = folder / "certificate.json"
    certificate = json.loads(path.read_text(encoding="utf-8"))
    edit(certificate["files"])
    path.write_text(json.dumps(certificate, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _without(name: str) -> Callable[[Path], None]:
    """A file taken away, from the list, too."""

    def do(folder: Path) -> None:
        (folder / name).unlink()
        _relisted(folder, lambda files: files.remove(next(one for one in files if one["file"] == name)))

    return do


def _listed_as(ending: str, place: str = "documents/") -> Callable[[Path], None]:
    """A document under another name, in the list, too."""

    def do(folder: Path) -> None:
        old = _letters(folder)[0]
        new = f"{place}letter{ending}"
        old.rename(folder / new)
        name = old.relative_to(folder).as_posix()
        _relisted(folder, lambda files: next(one for one in files if one["file"] == name).update(file=new))

    return do


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


def _arrays(edit: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """The arrays of a collection changed."""

    def do(folder: Path) -> None:
        path = folder / "release.npz"
        with np.load(path) as parts:
            kept = dict(parts)
        edit(kept)
        np.savez_compressed(path, **kept)

    return do


def _archive(edit: Callable[[zipfile.ZipFile], object]) -> Callable[[Path], None]:
    """Something more in the archive of a collection."""

    def do(folder: Path) -> None:
        with warnings.catch_warnings(), zipfile.ZipFile(folder / "release.npz", "a") as archive:
            warnings.simplefilter("ignore")  # of a name that is there twice
            edit(archive)

    return do


def _rows_twice(archive: zipfile.ZipFile) -> None:
    """Rows in an order that readers of the last member see."""
    content = io.BytesIO()
    with archive.open("assignment.npy") as file:
        np.save(content, np.load(file)[::-1])
    archive.writestr("assignment.npy", content.getvalue())


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
    Change("a document emptied", True, lambda folder: _letter(folder, b""), True),
    Change("the report not there and not listed", True, _without("report.html")),
    Change("a document with the ending of a program", True, _listed_as(".txt.exe")),
    Change("a document beside the others", True, _listed_as(".txt", "")),
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
    Change("an array more", True, _arrays(lambda kept: kept.update(original=np.array(["Robert Brown"]))), True),
    Change("weights of terms that were withheld", True, _arrays(lambda kept: kept.update(idf=np.ones(len(kept["terms_ends"])))), True),
    Change("columns outside the terms", True, _arrays(lambda kept: kept.update(indices=kept["indices"] + 1000)), True),
    Change("negative weights", True, _arrays(lambda kept: kept.update(data=-kept["data"])), True),
    Change("weights that are no numbers", True, _arrays(lambda kept: kept.update(data=kept["data"] * np.nan)), True),
    Change("every letter of the terms the same", True, _arrays(lambda kept: kept["terms"].fill(120)), True),
    Change("a member more", True, _archive(lambda archive: archive.writestr("notes.txt", "Robert Brown")), True),
    Change("rows twice in the archive", True, _archive(_rows_twice), True),
    Change("a remark on the archive", True, _archive(lambda archive: setattr(archive, "comment", b"Robert Brown")), True),
    Change("a text before the archive", True, _bytes("release.npz", lambda raw: b"Robert Brown" + raw), True),
    Change("a text behind the archive", True, _bytes("release.npz", lambda raw: raw + b"Robert Brown"), True),
    Change("certificate and signature of a table", True, _copied("run", "certificate.json", "certificate.sig")),
    Change("signature of another certificate", False, _copied("run", "certificate.sig")),
]
RECODED = [Change("a cell that names no group", True, _lines(lambda lines: [*lines[:-1], lines[-1].replace("[", "[9", 1)]), True)]
CHANGES = {"table": [*FOLDER, *TABLE], "recoded": RECODED, "documents": [*FOLDER, *DOCUMENTS], "collection": [*FOLDER, *COLLECTION]}
