"""Verify: hold what was released against its certificate, whatever kind it is, from the files alone; and the certificate against its signer."""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from shoal.certificate import (
    AnyCertificate,
    CollectionCertificate,
    DocumentsCertificate,
    FilePart,
    PromisePart,
    TableCertificate,
    TableFile,
    read_current,
)
from shoal.checks.combinations import (
    Combinations,
    Groups,
    cells_of,
    count_rows,
    grouped_cells,
    groups_in,
    is_parquet,
    names_of,
    parts_of,
    stretches,
)
from shoal.checks.consistency import consistent
from shoal.checks.folder import INSIDE, check_beside, check_folder, is_plain, names_inside
from shoal.checks.form import check_form
from shoal.checks.measures import columns_to_recount, one_row_each, recount_measures
from shoal.checks.tables import as_counted, columns_to_read, count
from shoal.checks.values import Written, formulas_among
from shoal.errors import DataError, ShoalError, counted
from shoal.folders import REPORT, SIGNATURE, sha256_of, sha256_of_list
from shoal.promises import Checked, Promise
from shoal.signing import LONGEST, Signer, is_signature

SIGNED = "signature"
ODD = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, re.error)  # what a made-up certificate ends in
MOST_PARTS = 1 << 16
NAME = re.compile("[a-z0-9-]{1,60}")


@dataclass(frozen=True)
class Verified:
    """What was checked, and what is believed because no file can show it; by whom the certificate is signed, where that was asked and holds."""

    checks: tuple[Checked, ...]
    believed: tuple[str, ...]
    signed_by: str | None = None

    @property
    def holds(self) -> bool:
        """Whether every check does."""
        return all(one.holds for one in self.checks)


def verify(release: Path, certificate: Path, signer: Path | None = None, groups: Callable[[Path], Groups] = groups_in) -> Verified:
    """Each thing that the certificate says and the files can show. `release` is the released file, or the folder with all that was handed over;
    of a release in many files also the folder of these. `groups` counts what is in such files."""
    asked = Signer.read(signer) if signer is not None else None
    if not is_plain(certificate):
        raise DataError(f"There is no file {certificate}, or it is a link. Name the certificate itself.")
    certified = read_current(certificate)
    checks: list[Checked] = []
    signed_by = None
    if asked is not None:
        wrong = _not_signed(certificate, asked)
        checks.append(Checked(SIGNED, asked.fingerprint, wrong or "of this key", not wrong))
        signed_by = asked.fingerprint if not wrong else None
    try:
        found, believed = _verified(release, certificate, certified, groups)
    except ShoalError:
        raise
    except (UnicodeDecodeError, csv.Error, pa.ArrowException):
        raise DataError(f"{release} is not a table that shoal wrote: it cannot be cut into rows and columns.") from None
    except ODD:
        raise DataError(f"{certificate} is not a certificate that shoal wrote: what it says cannot be held against {release}.") from None
    return Verified((*checks, *found), tuple(_believed(certified, believed)), signed_by)


def _not_signed(certificate: Path, signer: Signer) -> str:
    """Why the certificate is not signed by a key; empty where it is."""
    beside = certificate.with_name(SIGNATURE)
    if not beside.exists() and not beside.is_symlink():
        return f"there is no {SIGNATURE}"
    if not is_plain(beside) or beside.stat().st_size > LONGEST or not is_signature(beside.read_bytes()):
        return f"{SIGNATURE} is no signature"
    signed = signer.signed(certificate.read_bytes(), beside.read_bytes())
    return "" if signed else "by another key, or the certificate was changed"


def _verified(
    release: Path, certificate: Path, certified: AnyCertificate, groups: Callable[[Path], Groups]
) -> tuple[list[Checked], list[str]]:
    """The checks of what a certificate is of, and the measures of the release that are believed all the same."""
    named = names_inside(certified.files, None if isinstance(certified, DocumentsCertificate) else certified.release)
    if not named.holds:
        return [named], []
    if isinstance(certified, DocumentsCertificate):
        from shoal.checks.documents import verify_documents

        return verify_documents(release, certified), []
    if isinstance(certified, TableCertificate) and certified.release.parts:
        return _verified_parts(release, certificate, certified, groups)
    file = release / certified.release.file if release.is_dir() and not release.is_symlink() else release
    checks = [
        _lists(certified, certified.release),
        *(
            check_folder(release, certified.files, INSIDE)
            if file != release
            else check_beside(certificate, certified.files, certified.release.file)
        ),
    ]
    if not is_plain(file):
        if not file.exists():
            raise DataError(f"There is no file {file}.")
        return [*checks, Checked("a plain file", file.name, "a link or a device", False)], []
    if isinstance(certified, CollectionCertificate):
        from shoal.checks.collections import verify_collection

        return [*checks, *verify_collection(file, certified), *consistent(certified)], []
    counted, believed = verify_table(file, certified)
    return [*checks, *counted, *consistent(certified)], believed


def _verified_parts(
    release: Path, certificate: Path, certified: TableCertificate, groups: Callable[[Path], Groups]
) -> tuple[list[Checked], list[str]]:
    """Of a release in many files: all of them by their bytes, then what they hold together."""
    about = certified.release
    folder = release / about.file if (release / about.file).is_dir() else release
    if not folder.is_dir() or folder.is_symlink():
        raise DataError(
            f"{release} is no folder of {counted(about.parts, 'file')}, as the release of this certificate is. Name that folder."
        )
    inside = [
        FilePart(file=one.file.partition("/")[2], sha256=one.sha256) for one in certified.files if one.file.startswith(f"{about.file}/")
    ]
    others = sorted(one.file for one in certified.files if not one.file.startswith(f"{about.file}/"))
    if folder != release:
        whole = check_folder(release, certified.files, INSIDE)
    else:
        beside = [one for one in certified.files if not one.file.startswith(f"{about.file}/")]
        whole = [*check_folder(folder, inside), *check_beside(certificate, beside, about.file)]
    listed = [
        Checked("files that the certificate lists beside the release", [REPORT], others, others == [REPORT]),
        Checked("files of the release that it lists", about.parts, len(inside), {one.file for one in inside} == _names_of(about.parts)),
    ]
    if not all(one.holds for one in whole):
        return [*listed, *whole], []
    counted_, believed = verify_table(folder, certified, groups(folder))
    return [*listed, *whole, *counted_, *consistent(certified)], believed


def _names_of(parts: int) -> set[str]:
    """Of the files of a release, as they are written."""
    return {f"part-{number:05d}.parquet" for number in range(min(parts, MOST_PARTS))}


def _lists(certified: AnyCertificate, release: FilePart) -> Checked:
    """The release and its report, by their bytes. Certificates of earlier versions did not list the report: `shoal report` writes them anew."""
    listed = sorted(one.file for one in certified.files)
    same = any(one.file == release.file and one.sha256 == release.sha256 for one in certified.files)
    return Checked(
        "files that the certificate lists", sorted((release.file, REPORT)), listed, same and listed == sorted((release.file, REPORT))
    )


def _believed(certified: AnyCertificate, measured: list[str]) -> list[str]:
    """What was measured on the original, or known only to whoever made it."""
    believed = ["the day, the versions and the warnings", "that report.html says what the certificate says"]
    if isinstance(certified, DocumentsCertificate):
        return [*believed, "what was removed, and that it was searched for"]
    believed.append("the steps: which methods were applied, with which parameters, and what a search found")
    if isinstance(certified, TableCertificate):
        believed.append("the roles: what each column is, how many were left out, what leaves unprotected")
        if certified.unit.counted == "persons":
            believed.append("whose each row is, and so what counts persons")
    measures = [one.name for one in certified.measures if one.needs == "original" and one.value is not None]
    believed += [f"measures of the release: {_names(measured)}"] if measured else []
    attacks = [one.name for one in certified.attacks]
    believed += [f"measures against the original: {_names(measures)}"] if measures else []
    believed += [f"rates of attacks: {_names(attacks)}"] if attacks else []
    return believed


def _names(given: Sequence[str]) -> str:
    """Names, and others: whoever wrote the certificate may have written a sentence in the place of one."""
    names = [one for one in given if NAME.fullmatch(one)]
    return ", ".join([*names, *(["others"] if len(names) < len(given) else [])])


def verify_table(path: Path, certificate: TableCertificate, groups: Groups | None = None) -> tuple[list[Checked], list[str]]:
    """Hold a release against its certificate: bytes, rows, columns, promises, and every measure that the file can show; and the names of those
    measures of the release that are believed."""
    about = certificate.release
    names = names_of(path, about.delimiter)
    digest = sha256_of(path) if groups is None else sha256_of_list([(sha256_of(part), part.name) for part in parts_of(path)])
    found = [
        Checked("bytes (sha-256)", about.sha256, digest, digest == about.sha256),
        *check_form(path, about),
        _columns(names, about.columns),
        _each_once(names),
    ]
    if not found[-1].holds:
        return found, []
    rows = count_rows(path, about.delimiter, names)
    found.append(Checked("rows", about.rows, rows, rows == about.rows))
    there = [promise for one in certificate.promises if _has_its_columns(promise := one.promise, names)]
    columns = list(dict.fromkeys([*columns_to_recount(certificate, names), *columns_to_read(there, names)]))
    written = Written(about.missing, about.dates, about.decimal, about.formulas)
    if groups is None:
        cells = cells_of(stretches(path, about.delimiter, columns), columns, written=written)
    else:
        cells = grouped_cells(groups(columns), columns, written)
    if groups is not None and columns:
        counted_rows = int(cells.rows.sum())
        found.append(Checked("rows that were counted", rows, counted_rows, rows == counted_rows))
    combinations = cells.combinations(list(dict.fromkeys(c for one in there if one.kind.of == "classes" for c in one.needs)))
    for one in certificate.promises:
        if one.promise not in there:
            found.append(Checked(one.what, one.value, "columns missing", False))
            continue
        of_persons = one.promise.unit == "persons" and one.promise.kind.of == "classes"
        if of_persons and not one_row_each(certificate):
            found += _bounded(one, combinations)
            continue
        wide = as_counted(replace(one.promise, unit="rows") if of_persons else one.promise, cells)
        counted = Checked.of(one.promise, count(wide, combinations if wide.kind.of == "classes" else cells.combinations(wide.needs)))
        found.append(counted)
        if not math.isclose(one.found, counted.found, rel_tol=1e-9, abs_tol=1e-12) or one.holds != counted.holds:
            found.append(Checked(f"{counted.what}, as certified", one.found, counted.found, False))
    recounted, believed = recount_measures(certificate, cells)
    return [*found, *_formulas(path, about, names), *recounted], believed


def _columns(names: list[str], certified: Sequence[str]) -> Checked:
    """Names that are not the certificate's are counted, not shown: without its header line the first row stands in their place."""
    same, others = names == list(certified), sum((Counter(names) - Counter(certified)).values())
    found = names if same else f"{counted(others, 'other name')}" if others else "fewer, or in another order"
    return Checked("columns", list(certified), found, same)


def _each_once(names: list[str]) -> Checked:
    """Of two columns of one name a reader takes either, and renames the other."""
    more = len(names) - len(set(names))
    return Checked("columns of a name that another has", 0, more, not more)


def _has_its_columns(promise: Promise, names: list[str]) -> bool:
    return set(promise.needs) <= set(names) and promise.kind.is_about_a_column == (promise.about is not None)


def _formulas(path: Path, about: TableFile, names: list[str]) -> list[Checked]:
    """Where formulas were escaped, none is left in any cell."""
    if about.formulas != "escape" or is_parquet(path):
        return []
    left = 0
    for stretch in stretches(path, about.delimiter, names):
        for column in stretch.columns:
            counts = column.combine_chunks().value_counts()
            left += int(counts.field("counts").to_numpy()[formulas_among(counts.field("values"))].sum())
    return [Checked("cells that begin like a formula", 0, left, left == 0)]


def _bounded(one: PromisePart, combinations: Combinations) -> list[Checked]:
    """What counts persons, as far as a file without their numbers can tell: of rows there are at least as many as of persons, and of values
    in them. What a file cannot tell at all is not said to hold: it is left to whoever has the original."""
    in_rows = replace(one.promise, unit="rows")
    if one.promise.kind.persons == "weighed":
        return []
    most = count(in_rows, combinations)
    return [Checked(f"{one.sentence}: at most", one.found, most, in_rows.kept_by(most) and one.holds and one.found <= most)]
