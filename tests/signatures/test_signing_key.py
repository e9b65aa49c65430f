"""Ed25519 keys: files for one person alone, and signatures that nobody else can make."""

import os
import re

import pytest

import fairpool.errors
from fairpool.signatures import PublicKey, SigningKey

# The first test vector of RFC 8032, section 7.1.
RFC_SECRET = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
RFC_PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"


def test_the_public_half_is_that_of_the_standard():
    assert str(SigningKey(RFC_SECRET).public) == f"ed25519:{RFC_PUBLIC}"


def test_a_key_comes_back_from_its_file_which_is_its_owners_alone(tmp_path):
    key = SigningKey.fresh()
    path = tmp_path / "north.key"
    key.write(path)
    assert SigningKey.read(path) == key
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_is_never_overwritten(tmp_path):
    path = tmp_path / "north.key"
    first = SigningKey.fresh()
    first.write(path)
    with pytest.raises(fairpool.errors.SecretError, match="never overwritten"):
        SigningKey.fresh().write(path)
    assert SigningKey.read(path) == first


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX's")
def test_a_key_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "north.key"
    SigningKey.fresh().write(path)
    path.chmod(0o640)
    with pytest.raises(fairpool.errors.SecretError, match="0640 lets others"):
        SigningKey.read(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"fairpool-signing-key-1 12", b"\xff" * 90])
def test_a_file_without_a_key_is_refused(tmp_path, content):
    path = tmp_path / "north.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(fairpool.errors.SecretError, match="holds no signing key"):
        SigningKey.read(path)


def test_a_key_does_not_show_itself():
    key = SigningKey.fresh()
    assert key.material.hex() not in repr(key)


def test_a_signature_is_of_its_key_its_kind_and_its_message():
    key, other = SigningKey.fresh(), SigningKey.fresh()
    signature = key.sign("plan", b"rho = 1")
    assert key.public.has_signed("plan", b"rho = 1", signature)
    assert not key.public.has_signed("plan", b"rho = 0", signature)
    assert not key.public.has_signed("receipt", b"rho = 1", signature)
    assert not other.public.has_signed("plan", b"rho = 1", signature)
    assert not key.public.has_signed("plan", b"rho = 1", signature[:-1])


def test_a_public_key_comes_back_from_its_text():
    key = SigningKey.fresh().public
    assert PublicKey.of_text(str(key)) == key


@pytest.mark.parametrize("text", [None, 7, "", "ed25519:12", f"ed25519:{RFC_PUBLIC.upper()}"])
def test_a_text_that_is_no_public_key_is_refused(text):
    with pytest.raises(fairpool.errors.SignatureError, match="is no public key"):
        PublicKey.of_text(text)


def test_a_fingerprint_can_be_read_aloud_and_is_another_for_another_key():
    fingerprint = SigningKey(RFC_SECRET).public.fingerprint
    assert re.fullmatch(r"([0-9a-f]{4} ){7}[0-9a-f]{4}", fingerprint)
    assert fingerprint != SigningKey.fresh().public.fingerprint
