"""The secret's file: for the operator's eyes alone, whole or not there, never overwritten."""

import errno
import hashlib
import hmac
import os
import stat
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.errors import SecretError
from fairpool.keyed_noise.secret import Secret

KNOWN = Secret(bytes(range(32)))
posix_only = pytest.mark.skipif(os.name != "posix", reason="files have modes on POSIX systems only")
not_for_root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="the superuser can write everywhere"
)


def test_what_was_written_is_read_again(tmp_path):
    secret = Secret.fresh()
    secret.write(tmp_path / "secret.key")
    assert Secret.read(tmp_path / "secret.key") == secret
    assert os.listdir(tmp_path) == ["secret.key"]


def test_the_file_is_one_line_of_text(tmp_path):
    KNOWN.write(tmp_path / "secret.key")
    text = (tmp_path / "secret.key").read_text()
    assert text == f"fairpool-secret-1 {bytes(range(32)).hex()}\n"


@posix_only
def test_the_file_is_for_its_owner_alone(tmp_path):
    KNOWN.write(tmp_path / "secret.key")
    assert stat.S_IMODE((tmp_path / "secret.key").stat().st_mode) == 0o600


def test_fresh_secrets_differ():
    assert Secret.fresh() != Secret.fresh()


@pytest.mark.parametrize("shown", [repr, str, "{}".format, "{0!r}".format])
def test_it_is_never_shown(shown):
    text = shown(KNOWN)
    assert KNOWN.fingerprint in text
    assert KNOWN.material.hex()[:8] not in text
    assert repr(KNOWN.material)[2:10] not in text


def test_a_secret_has_32_bytes():
    with pytest.raises(SecretError, match="32 bytes, not 31"):
        Secret(bytes(31))
    with pytest.raises(SecretError, match="is bytes, not str"):
        Secret("0" * 32)


def test_it_never_overwrites(tmp_path):
    path = tmp_path / "secret.key"
    KNOWN.write(path)
    with pytest.raises(SecretError, match=r"secret\.key: is there already.*never overwritten"):
        Secret.fresh().write(path)
    assert Secret.read(path) == KNOWN
    assert os.listdir(tmp_path) == ["secret.key"]


def test_it_does_not_write_through_a_link(tmp_path):
    target = tmp_path / "elsewhere"
    (tmp_path / "secret.key").symlink_to(target)
    with pytest.raises(SecretError, match="is there already"):
        KNOWN.write(tmp_path / "secret.key")
    assert not target.exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(SecretError, match=r"cannot be written \(No such file.*give a path in"):
        KNOWN.write(tmp_path / "nowhere" / "secret.key")


@not_for_root
def test_a_folder_that_cannot_be_written_to(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(SecretError, match=r"cannot be written \(Permission denied"):
        KNOWN.write(tmp_path / "secret.key")


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    path = tmp_path / "secret.key"
    KNOWN.write(path)
    assert Secret.read(path) == KNOWN
    with pytest.raises(SecretError, match="is there already"):
        Secret.fresh().write(path)
    assert Secret.read(path) == KNOWN
    assert os.listdir(tmp_path) == ["secret.key"]


def test_a_full_disk_without_hard_links_leaves_nothing(tmp_path, monkeypatch):
    synchronised = []

    def fsync(descriptor):
        synchronised.append(descriptor)
        if len(synchronised) == 2:  # the first time it is the temporary file
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.delattr(os, "link")
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(SecretError, match="No space left"):
        KNOWN.write(tmp_path / "secret.key")
    assert os.listdir(tmp_path) == []


def test_of_many_writers_one_succeeds(tmp_path):
    program = (
        "import sys\n"
        "from fairpool.errors import SecretError\n"
        "from fairpool.keyed_noise.secret import Secret\n"
        "secret = Secret.fresh()\n"
        "sys.stdin.read()\n"
        "try:\n"
        "    secret.write(sys.argv[1])\n"
        "except SecretError:\n"
        "    sys.exit(3)\n"
        "print(secret.fingerprint)\n"
    )
    path = tmp_path / "secret.key"
    command = [sys.executable, "-c", program, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    writers = [subprocess.Popen(command, text=True, **pipes) for _ in range(3)]
    for writer in writers:
        writer.stdin.close()
    outputs = [writer.stdout.read().strip() for writer in writers]
    codes = [writer.wait() for writer in writers]
    for writer in writers:
        writer.stdout.close()
    assert sorted(codes) == [0, 3, 3]
    assert Secret.read(path).fingerprint == "".join(outputs)


def test_a_secret_that_is_not_there(tmp_path):
    with pytest.raises(SecretError, match=r"secret\.key: there is no such file; restore"):
        Secret.read(tmp_path / "secret.key")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"fairpool-secret-1 ",
        b"fairpool-secret-1 " + b"0" * 63 + b"\n",
        b"fairpool-secret-1 " + b"0" * 65 + b"\n",
        b"fairpool-secret-1 " + b"g" * 64 + b"\n",
        b"fairpool-secret-2 " + b"0" * 64 + b"\n",
        b"fairpool-secret-1  " + b"0" * 64 + b"\n",
        b"fairpool-secret-1 " + b"0" * 64 + b"\n\n",
        b"0" * 64 + b"\n",
        bytes(32),
        b"fairpool-secret-1 " + b"0" * 5000,
    ],
)
def test_what_is_no_secret_is_refused_and_not_shown(tmp_path, content):
    path = tmp_path / "secret.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(SecretError, match=r"holds no secret of fairpool.*restore it") as caught:
        Secret.read(path)
    assert "0000" not in str(caught.value)


def test_line_ends_do_not_matter(tmp_path):
    for end in (b"", b"\n", b"\r\n"):
        path = tmp_path / f"{len(end)}.key"
        path.write_bytes(b"fairpool-secret-1 " + KNOWN.material.hex().encode() + end)
        path.chmod(0o600)
        assert Secret.read(path) == KNOWN


@posix_only
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o601, 0o644])
def test_a_file_that_others_can_use_is_refused(tmp_path, mode):
    path = tmp_path / "secret.key"
    KNOWN.write(path)
    path.chmod(mode)
    with pytest.raises(SecretError, match=rf"mode {mode:04o} lets others.*chmod 600"):
        Secret.read(path)
    path.chmod(0o400)
    assert Secret.read(path) == KNOWN


def test_a_link_is_refused(tmp_path):
    KNOWN.write(tmp_path / "secret.key")
    (tmp_path / "link.key").symlink_to(tmp_path / "secret.key")
    with pytest.raises(SecretError, match=r"link\.key: is a link"):
        Secret.read(tmp_path / "link.key")


@posix_only
def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(SecretError, match="pipe: is not a file"):
        Secret.read(tmp_path / "pipe")
    with pytest.raises(SecretError, match="is not a file"):
        Secret.read(tmp_path)


@not_for_root
def test_a_file_that_cannot_be_read(tmp_path):
    KNOWN.write(tmp_path / "secret.key")
    (tmp_path / "secret.key").chmod(0)
    with pytest.raises(SecretError, match=r"cannot be read \(Permission denied"):
        Secret.read(tmp_path / "secret.key")


def test_a_path_through_a_file(tmp_path):
    KNOWN.write(tmp_path / "secret.key")
    with pytest.raises(SecretError, match=r"cannot be read \(Not a directory"):
        Secret.read(tmp_path / "secret.key" / "deeper")


def test_subkeys_are_hmac_of_lengths_and_texts():
    message = bytes(7) + b"\x04" + b"name" + bytes(7) + b"\x02" + b"ab" + bytes(8)
    expected = hmac.new(KNOWN.material, message, hashlib.sha256).digest()
    assert KNOWN.subkey("name", b"ab", b"") == expected
    assert KNOWN.fingerprint == KNOWN.subkey("fingerprint").hex()[:16]


lists = st.lists(st.binary(max_size=4), max_size=3)


@given(st.text(max_size=3), lists, st.text(max_size=3), lists)
def test_different_lists_have_different_subkeys(purpose, parts, other_purpose, other_parts):
    is_same = (purpose, parts) == (other_purpose, other_parts)
    key = KNOWN.subkey(purpose, *parts)
    assert len(key) == 32
    assert (key == KNOWN.subkey(other_purpose, *other_parts)) == is_same


def test_texts_that_run_together_have_different_subkeys():
    keys = {
        KNOWN.subkey("a", b"bc"),
        KNOWN.subkey("a", b"b", b"c"),
        KNOWN.subkey("ab", b"c"),
        KNOWN.subkey("abc"),
        KNOWN.subkey("a", b"bc", b""),
        Secret(bytes(32)).subkey("a", b"bc"),
    }
    assert len(keys) == 6
