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
SMALL_ORDER = {  # the points of order 1, 2, 4 and 8 in all their spellings, but for the sign
    bytes(32),
    bytes([1]) + bytes(31),
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
    *(bytes([first]) + b"\xff" * 30 + b"\x7f" for first in (0xEC, 0xED, 0xEE)),
}


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
        if _is_weak(key):
            raise DataError(f"{path} is a key under which anybody can sign. Ask whoever gave it to you for theirs.")
        return Signer(key)

    @property
    def fingerprint(self) -> str:
        """By which people compare keys: the hash of the public key, as `openssl pkey -pubin -outform DER | sha256sum` gives it."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        return hashlib.sha256(self.key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()

    def signed(self, certificate: bytes, signature: bytes) -> bool:
        """Whether this key signed these bytes."""
        from cryptography.exceptions import InvalidSignature

        raw = _raw(signature)
        if raw is None:
            return False
        try:
            self.key.verify(raw, CONTEXT + certificate)
        except (InvalidSignature, ValueError):
            return False
        return True


def is_signature(given: bytes) -> bool:
    """Whether bytes are a signature of somebody's: base64 of 64 bytes, as it is written."""
    return _raw(given) is not None


def _raw(given: bytes) -> bytes | None:
    """The 64 bytes, where they are written in the one way there is: nothing can be said beside a signature."""
    written = given.removesuffix(b"\n")
    try:
        raw = base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == 64 and base64.b64encode(raw) == written else None


def _is_weak(key: Ed25519PublicKey) -> bool:
    """Whether it is one of the points of small order, under which one signature is right for every text."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return raw[:31] + bytes([raw[31] & 0x7F]) in SMALL_ORDER


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
