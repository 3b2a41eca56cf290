"""Verify: hold what was released against its certificate, whatever kind it is, from the files alone."""

from __future__ import annotations

from pathlib import Path

from shoal.certificate import CollectionCertificate, DocumentsCertificate, read_certificate
from shoal.checks.tables import verify_table
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
