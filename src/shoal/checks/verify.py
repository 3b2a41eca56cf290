"""Verify: hold what was released against its certificate, whatever kind it is, from the files alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from shoal.certificate import CollectionCertificate, DocumentsCertificate, PromisePart, TableCertificate, read_certificate
from shoal.checks.combinations import Combinations, cells_of, shape, stretches
from shoal.checks.tables import as_counted, columns_to_read, count, sizes_of_classes
from shoal.errors import DataError
from shoal.folders import sha256_of
from shoal.promises import Checked


def verify(release: Path, certificate: Path) -> list[Checked]:
    """Each thing that the certificate says and the files can show."""
    certified = read_certificate(certificate)
    if isinstance(certified, DocumentsCertificate):
        from shoal.checks.documents import verify_documents

        return verify_documents(release, certified)
    if isinstance(certified, CollectionCertificate):
        from shoal.checks.collections import verify_collection

        return verify_collection(release, certified)
    return verify_table(release, certified)


def verify_table(path: Path, certificate: TableCertificate) -> list[Checked]:
    """Hold a release against its certificate: bytes, rows, columns, promises, and the class sizes it was said to have."""
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    about = certificate.release
    names, rows = shape(path, about.delimiter)
    digest = sha256_of(path)
    found = [
        Checked("bytes (sha-256)", about.sha256, digest, digest == about.sha256),
        Checked("rows", about.rows, rows, rows == about.rows),
        Checked("columns", list(about.columns), names, names == list(about.columns)),
    ]
    quasi = [column for column in certificate.roles.quasi if column in names]
    there = [one.promise for one in certificate.promises if set(one.promise.needs) <= set(names)]
    columns = list(dict.fromkeys([*quasi, *columns_to_read(there, names)]))
    cells = cells_of(stretches(path, about.delimiter, columns), columns, missing=about.missing)
    combinations = cells.combinations(list(dict.fromkeys([*quasi, *(c for one in there if one.kind.of == "classes" for c in one.needs)])))
    found += _class_sizes(combinations, quasi, certificate) if quasi else []
    for one in certificate.promises:
        if one.promise not in there:
            found.append(Checked(one.what, one.value, "columns missing", False))
            continue
        if one.promise.unit == "persons" and one.promise.kind.of == "classes":
            found += _bounded(one, combinations)
            continue
        wide = as_counted(one.promise, cells)
        counted = Checked.of(one.promise, count(wide, combinations if wide is one.promise else cells.combinations(wide.needs)))
        found.append(counted)
        if one.found != counted.found or one.holds != counted.holds:
            found.append(Checked(f"{counted.what}, as certified", one.found, counted.found, False))
    return found


def _bounded(one: PromisePart, combinations: Combinations) -> list[Checked]:
    """What counts persons, as far as a file without their numbers can tell: of rows there are at least as many as of persons, and of values
    in them. What a file cannot tell at all is not said to hold: it is left to whoever has the original."""
    in_rows = replace(one.promise, unit="rows")
    if one.promise.kind.persons == "weighed":
        return []
    most = count(in_rows, combinations)
    return [Checked(f"{one.sentence}: at most", one.found, most, in_rows.kept_by(most) and one.holds and one.found <= most)]


def _class_sizes(combinations: Combinations, quasi: Sequence[str], certificate: TableCertificate) -> list[Checked]:
    measured = certificate.measure("k-anonymity")
    if measured is None or measured.value is None:
        return []
    sizes = sizes_of_classes(combinations, quasi)
    smallest, uniques = (int(sizes.min()) if len(sizes) else 0), int((sizes == 1).sum())
    about, persons = measured.details, measured.details.get("unit") == "persons"
    said = [about.get("rows"), about.get("unique_rows")] if persons else [measured.value, about.get("uniques")]
    found = [
        Checked("smallest class, rows", said[0], smallest, smallest == said[0] and about.get("rows", smallest) == smallest),
        Checked("unique rows", said[1], uniques, uniques == said[1] and about.get("unique_rows", uniques) == uniques),
    ]
    if persons:  # there are no more than rows; how many fewer, the file does not tell
        found.append(Checked("smallest class, persons: at most", measured.value, smallest, 1 <= measured.value <= smallest))
    return found
