"""Uploads on the disk: complete, unreadable without the key, and any change to them shows."""

import asyncio
import hashlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairpool.errors import DataError, SecretError
from fairpool.server.refused import NotFoundError, TooLargeError
from fairpool.server.settings import Settings
from fairpool.server.work.vault import FORMAT, PIECE_BYTES, SALT_BYTES, TAG_BYTES, Stored, Vault

TOO_LARGE = TooLargeError("it is larger than agreed; send less")

HEAD = len(FORMAT) + SALT_BYTES
SEALED = PIECE_BYTES + TAG_BYTES


def vault(folder: Path, name: str = "server") -> Vault:
    return Vault(Settings.of(folder / name, environment={}))


def read(vault: Vault, identity: str) -> bytes:
    return b"".join(vault.open(identity))


def store(vault: Vault, pieces: list[bytes], most: int = 1 << 30) -> Stored:
    async def stream():
        for piece in pieces:
            yield piece

    return asyncio.run(vault.store(stream(), most, TOO_LARGE))


@pytest.mark.parametrize(
    "size", [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 2_500_000]
)
def test_what_comes_in_any_pieces_comes_back(tmp_path: Path, size: int) -> None:
    content = os.urandom(size)
    kept = vault(tmp_path)
    pieces = [content[start : start + 70_001] for start in range(0, size, 70_001)]
    stored = store(kept, pieces)
    assert (stored.size, stored.sha256) == (size, hashlib.sha256(content).hexdigest())
    assert read(kept, stored.id) == content
    kept.decrypt_to(stored.id, tmp_path / "clear")
    assert (tmp_path / "clear").read_bytes() == content
    assert stat.S_IMODE((tmp_path / "clear").stat().st_mode) == 0o600
    assert kept.identities() == {stored.id}
    assert kept.store_bytes(content).sha256 == stored.sha256


def test_files_and_key_are_for_one_user_alone(tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    kept = Vault(settings)
    stored = kept.store_bytes(b"row")
    assert stat.S_IMODE(settings.key_file.stat().st_mode) == 0o600
    assert stat.S_IMODE((settings.uploads / stored.id).stat().st_mode) == 0o600
    assert stat.S_IMODE(settings.uploads.stat().st_mode) == 0o700


def test_the_same_upload_is_never_the_same_file(tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    kept = Vault(settings)
    first, second = (kept.store_bytes(b"the same" * 100) for _ in range(2))
    contents = [(settings.uploads / one.id).read_bytes() for one in (first, second)]
    shared = set(zip(contents[0], contents[1], strict=True))
    assert contents[0][HEAD:] != contents[1][HEAD:]
    assert len(shared) > 100
    assert b"the same" not in contents[0] + contents[1]


def test_a_thief_of_the_uploads_reads_nothing_without_this_very_key(tmp_path: Path) -> None:
    ours = Settings.of(tmp_path / "ours", environment={})
    stored = Vault(ours).store_bytes(b"secret rows" * 10_000)
    theirs = Settings.of(tmp_path / "theirs", environment={})
    Vault(theirs)
    (theirs.uploads / stored.id).write_bytes((ours.uploads / stored.id).read_bytes())
    with pytest.raises(DataError, match="encrypted with another key"):
        read(Vault(theirs), stored.id)
    theirs.key_file.unlink()
    with pytest.raises(SecretError, match="the key of uploads is gone"):
        Vault(theirs)
    assert not theirs.key_file.exists()


def sealed(content: bytes) -> list[bytes]:
    """The pieces of a file, after its head."""
    return [content[start : start + SEALED] for start in range(HEAD, len(content), SEALED)]


CHANGES = {
    "swapped pieces": lambda head, pieces: [head, pieces[1], pieces[0], *pieces[2:]],
    "a piece twice": lambda head, pieces: [head, pieces[0], *pieces],
    "without the last piece": lambda head, pieces: [head, *pieces[:-1]],
    "without the first piece": lambda head, pieces: [head, *pieces[1:]],
    "cut within a piece": lambda head, pieces: [head, *pieces[:-1], pieces[-1][:-1]],
    "longer": lambda head, pieces: [head, *pieces, b"more"],
    "a bit of a piece": lambda head, pieces: [head, flipped(pieces[0]), *pieces[1:]],
    "a bit of the salt": lambda head, pieces: [flipped(head), *pieces],
    "a bit of the format": lambda head, pieces: [flipped(head, 0), *pieces],
    "only the head": lambda head, pieces: [head],
    "nothing": lambda head, pieces: [],
    "another's head": lambda head, pieces: [FORMAT + bytes(SALT_BYTES), *pieces],
}


def flipped(content: bytes, place: int = -1) -> bytes:
    changed = bytearray(content)
    changed[place] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_was_done_to_a_file_is_noticed(tmp_path: Path, change: str) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    kept = Vault(settings)
    stored = kept.store_bytes(os.urandom(3 * PIECE_BYTES + 5))
    file = settings.uploads / stored.id
    content = file.read_bytes()
    file.write_bytes(b"".join(CHANGES[change](content[:HEAD], sealed(content))))
    with pytest.raises(DataError, match="damaged or changed"):
        read(kept, stored.id)
    with pytest.raises(DataError, match="damaged or changed"):
        kept.decrypt_to(stored.id, tmp_path / "clear")
    assert not (tmp_path / "clear").exists()


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> tuple[Vault, Path]:
    settings = Settings.of(tmp_path_factory.mktemp("bits"), environment={})
    kept = Vault(settings)
    return kept, settings.uploads / kept.store_bytes(bytes(PIECE_BYTES + 7)).id


@given(place=st.integers(0, HEAD + SEALED + TAG_BYTES + 6), bit=st.integers(0, 7))
def test_no_bit_can_be_changed(upload: tuple[Vault, Path], place: int, bit: int) -> None:
    kept, file = upload
    content = file.read_bytes()
    changed = bytearray(content)
    changed[place] ^= 1 << bit
    file.write_bytes(changed)
    with pytest.raises(DataError, match="damaged or changed"):
        read(kept, file.name)
    file.write_bytes(content)


def test_one_file_cannot_stand_in_another_s_place(tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    kept = Vault(settings)
    first, second = kept.store_bytes(b"first"), kept.store_bytes(b"second")
    (settings.uploads / first.id).replace(settings.uploads / second.id)
    with pytest.raises(DataError, match="damaged or changed"):
        read(kept, second.id)


def test_what_is_too_long_or_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    kept = Vault(settings)
    assert store(kept, [b"x" * 10] * 10, most=100).size == 100
    before = kept.identities()
    with pytest.raises(TooLargeError, match="larger than agreed"):
        store(kept, [b"x" * 10] * 11, most=100)

    async def broken():
        yield b"x" * 3_000_000
        raise ConnectionError("the browser is gone")

    with pytest.raises(ConnectionError, match="gone"):
        asyncio.run(kept.store(broken(), 1 << 30, TOO_LARGE))
    assert kept.identities() == before
    assert [path.name for path in settings.uploads.iterdir()] == [*before]


def test_an_endless_upload_is_stopped_without_filling_memory(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    sent = 0

    async def endless():
        nonlocal sent
        while True:
            sent += 1
            yield bytes(100_000)

    with pytest.raises(TooLargeError, match="larger than agreed"):
        asyncio.run(kept.store(endless(), 2 << 20, TOO_LARGE))
    assert sent * 100_000 < (2 << 20) + 200_000
    assert not kept.parts()


DIES = """
import asyncio, os, signal, sys
from pathlib import Path
from fairpool.server.settings import Settings
from fairpool.server.work.vault import Vault

async def stream():
    for _ in range(40):
        yield bytes(100_000)
    os.kill(os.getpid(), signal.SIGKILL)

kept = Vault(Settings.of(Path(sys.argv[1]), environment={}))
asyncio.run(kept.store(stream(), 1 << 30, None))
"""


def test_a_crash_leaves_a_part_and_no_upload(tmp_path: Path) -> None:
    folder = tmp_path / "server"
    died = subprocess.run([sys.executable, "-c", DIES, folder], check=False)
    assert died.returncode == -signal.SIGKILL
    kept = Vault(Settings.of(folder, environment={}))
    assert kept.identities() == set()
    (left,) = kept.parts()
    assert left.stat().st_size > 3_000_000
    assert kept.store_bytes(b"later").id in kept.identities()


def test_what_was_removed_or_never_was_is_told(tmp_path: Path) -> None:
    kept = vault(tmp_path)
    stored = kept.store_bytes(b"x")
    kept.remove(stored.id)
    kept.remove(stored.id)
    with pytest.raises(DataError, match="no longer on the disk"):
        read(kept, stored.id)


@pytest.mark.parametrize("name", ["../uploads.key", "", ".", "a/b", "x" * 33, "a.part", "a\0b"])
def test_only_identities_lead_to_files(tmp_path: Path, name: str) -> None:
    kept = vault(tmp_path)
    with pytest.raises(NotFoundError, match="no such page"):
        read(kept, name)
    with pytest.raises(NotFoundError, match="no such page"):
        kept.remove(name)


@pytest.mark.parametrize("content", [b"", b"fairpool-secret-1 " + b"0" * 64, b"x" * 5000])
def test_a_file_that_is_no_key_is_told(tmp_path: Path, content: bytes) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    settings.folder.mkdir()
    settings.key_file.touch(mode=0o600)
    settings.key_file.write_bytes(content)
    with pytest.raises(SecretError, match="holds no key of uploads"):
        Vault(settings)


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    settings = Settings.of(tmp_path / "server", environment={})
    Vault(settings)
    settings.key_file.chmod(0o644)
    with pytest.raises(SecretError, match="lets others use the key of uploads"):
        Vault(settings)
