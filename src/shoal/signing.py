"""Signatures: who stands behind a certificate. Ed25519 keys in PEM, the private one as PKCS8, the public one as SPKI.

A signature is about the certificate's bytes, and the certificate lists the hash of every public file; so it is about all of them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.errors import DataError, OutputError, ShoalError
from shoal.folders import write_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

CONTEXT = b"shoal-certificate-1\n"  # a signature made for something else says nothing about a certificate
LONGEST = 10_000  # bytes that a key or a signature may have


def new_key(path: Path) -> Signer:
    """Draw a key: the private half at `path`, which only its owner may read, the public half beside it."""
    _needs_extra()
    if not path.name:
        raise OutputError("A key is written to a file of its own, and this is a folder. Name the file.")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

    beside = public_beside(path)
    for one in (path, beside):
        if one.exists() or one.is_symlink():
            raise OutputError(f"{one} exists. A key is never written over: choose another name.")
    key = Ed25519PrivateKey.generate()
    write_text(path, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), mode=0o600)
    write_text(beside, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())
    return Signer(key.public_key())


def public_beside(path: Path) -> Path:
    """Where the public half of a key is written."""
    return path.with_name(path.name + ".pub")


@dataclass(frozen=True, repr=False)
class SigningKey:
    """A private key, read before anything else is done, so that nobody waits for a release that cannot be signed."""

    key: Ed25519PrivateKey

    @staticmethod
    def read(path: Path) -> SigningKey:
        """From PKCS8 PEM that nobody but its owner may read."""
        _needs_extra()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        given = _bytes_of(path)
        if b"PUBLIC KEY" in given:
            raise DataError(f"{path} is the public half. Give the private one, which `shoal key` wrote beside it without the ending .pub.")
        if os.name == "posix" and path.stat().st_mode & 0o077:
            raise DataError(
                f"{path} can be read by others: it is no secret. Say `chmod 600`, or make a new key if somebody may have read it."
            )
        try:
            key = load_pem_private_key(given, password=None)
        except TypeError:
            raise DataError(f"{path} is encrypted. Give a key without a password, in a folder that only you may enter.") from None
        except (ValueError, UnsupportedAlgorithm):
            raise DataError(f"{path} is no private key in PEM (PKCS8). `shoal key` makes one.") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise DataError(f"{path} is a key of another kind. Certificates are signed with Ed25519: `shoal key` makes such a key.")
        return SigningKey(key)

    @property
    def fingerprint(self) -> str:
        """Of its public half."""
        return Signer(self.key.public_key()).fingerprint

    def sign(self, certificate: bytes) -> str:
        """What `certificate.sig` holds."""
        return base64.b64encode(self.key.sign(CONTEXT + certificate)).decode() + "\n"


@dataclass(frozen=True)
class Signer:
    """A public key: whom a signature is held to be of."""

    key: Ed25519PublicKey

    @staticmethod
    def read(path: Path) -> Signer:
        """From SPKI PEM."""
        _needs_extra()
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        given = _bytes_of(path)
        if b"PRIVATE KEY" in given:
            raise DataError(f"{path} is the private half. Give the public one, which `shoal key` writes with the ending .pub.")
        try:
            key = load_pem_public_key(given)
        except (ValueError, UnsupportedAlgorithm):
            raise DataError(f"{path} is no public key in PEM (SPKI). `shoal key` writes one with the ending .pub.") from None
        if not isinstance(key, Ed25519PublicKey):
            raise DataError(f"{path} is a key of another kind. Certificates are signed with Ed25519.")
        return Signer(key)

    @property
    def fingerprint(self) -> str:
        """By which people compare keys: the hash of the public key, as `openssl pkey -pubin -outform DER | sha256sum` gives it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return hashlib.sha256(self.key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()

    def signed(self, certificate: bytes, signature: bytes) -> bool:
        """Whether this key signed these bytes."""
        from cryptography.exceptions import InvalidSignature

        try:
            self.key.verify(base64.b64decode(signature.strip(), validate=True), CONTEXT + certificate)
        except (InvalidSignature, binascii.Error, ValueError):
            return False
        return True


def is_signature(given: bytes) -> bool:
    """Whether bytes are a signature of somebody's: base64 of 64 bytes."""
    try:
        return len(base64.b64decode(given.strip(), validate=True)) == 64
    except (binascii.Error, ValueError):
        return False


def _bytes_of(path: Path) -> bytes:
    if not path.is_file():
        raise DataError(f"There is no file {path}.")
    if path.stat().st_size > LONGEST:
        raise DataError(f"{path} is no key: it is too long.")
    return path.read_bytes()


def _needs_extra() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise ShoalError("Signing needs an extra: pip install 'shoal[sign]'.") from None
