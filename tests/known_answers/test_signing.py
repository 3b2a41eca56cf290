"""Who vouches for a certificate: keys, signatures, and what is refused. Signatures are checked by openssl, too, where it is there."""

import base64
import shutil
import stat
import subprocess

import pytest

from shoal.errors import DataError, OutputError

pytest.importorskip("cryptography", reason="the extra sign is not installed")

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat, load_pem_public_key

from shoal.signing import Signer, SigningKey, new_key, public_beside


def test_what_is_signed_is_the_context_and_the_bytes(tmp_path):
    new_key(tmp_path / "key")
    signature = SigningKey.read(tmp_path / "key").sign(b"{}\n")
    public = load_pem_public_key((tmp_path / "key.pub").read_bytes())
    assert isinstance(public, Ed25519PublicKey)
    public.verify(base64.b64decode(signature), b"shoal-certificate-1\n{}\n")  # raises where it is not so
    signer = Signer.read(tmp_path / "key.pub")
    assert signer.signed(b"{}\n", signature.encode())
    assert not signer.signed(b"{} \n", signature.encode())
    assert not any(signer.signed(b"{}\n", wrong) for wrong in (b"", b"no base64 !", base64.b64encode(b"short"), signature.encode() + b"A"))


def test_another_key_is_another_signer(tmp_path):
    new_key(tmp_path / "one")
    new_key(tmp_path / "two")
    signature = SigningKey.read(tmp_path / "one").sign(b"x").encode()
    assert not Signer.read(tmp_path / "two.pub").signed(b"x", signature)
    assert Signer.read(tmp_path / "one.pub").fingerprint != Signer.read(tmp_path / "two.pub").fingerprint


def test_a_private_key_is_for_its_owner_and_never_written_over(tmp_path):
    path = tmp_path / "key"
    fingerprint = new_key(path).fingerprint
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert public_beside(path).read_text().startswith("-----BEGIN PUBLIC KEY-----")
    assert Signer.read(public_beside(path)).fingerprint == fingerprint
    before = path.read_bytes()
    with pytest.raises(OutputError, match="never written over"):
        new_key(path)
    assert path.read_bytes() == before
    path.chmod(0o640)
    with pytest.raises(DataError, match="chmod 600"):
        SigningKey.read(path)


def test_what_is_no_key_is_said(tmp_path):
    wrong = tmp_path / "wrong"
    wrong.write_text("not a key")
    wrong.chmod(0o600)
    new_key(tmp_path / "key")
    rsa = generate_private_key(65537, 2048)
    (tmp_path / "rsa").write_bytes(rsa.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    locked = SigningKey.read(tmp_path / "key").key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"x"))
    (tmp_path / "locked").write_bytes(locked)
    for name in ("rsa", "locked"):
        (tmp_path / name).chmod(0o600)
    cases = [
        (SigningKey, "wrong", "no private key"),
        (SigningKey, "nothing", "no file"),
        (SigningKey, "rsa", "another kind"),
        (SigningKey, "locked", "encrypted"),
        (Signer, "wrong", "no public key"),
        (Signer, "key", "private half"),
    ]
    for reader, name, sentence in cases:
        with pytest.raises(DataError, match=sentence):
            reader.read(tmp_path / name)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not here")
def test_openssl_reads_key_and_signature(tmp_path):
    fingerprint = new_key(tmp_path / "key").fingerprint
    (tmp_path / "text").write_bytes(b"shoal-certificate-1\n{}\n")
    (tmp_path / "sig").write_bytes(base64.b64decode(SigningKey.read(tmp_path / "key").sign(b"{}\n")))
    checked = subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pub", "-rawin", "-in", "text", "-sigfile", "sig"],
        cwd=tmp_path, capture_output=True, check=False,
    )  # fmt: skip
    assert b"Verified Successfully" in checked.stdout, checked.stderr
    der = subprocess.run(["openssl", "pkey", "-pubin", "-in", "key.pub", "-outform", "DER"], cwd=tmp_path, capture_output=True, check=True)
    hashed = subprocess.run(["openssl", "dgst", "-sha256"], input=der.stdout, capture_output=True, check=True)
    assert fingerprint in hashed.stdout.decode()
