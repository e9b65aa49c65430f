"""Uploads on the disk: encrypted piece by piece, with a key that is not in the database.

A file begins with `FORMAT` and a salt, of which its own key is made together with its identity; so
one file cannot stand in another's place. Every piece is sealed with its number, and with whether it
is the last one: pieces that were swapped, cut off, added or changed are noticed. A file has its
name only once all of it is on the disk; what a crash leaves ends in `.part`.
"""

import asyncio
import hashlib
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fairpool.compute.files import create, make_private_folder, sync_folder
from fairpool.errors import DataError
from fairpool.server.refused import NotFoundError, RefusedError
from fairpool.server.settings import MEBIBYTE, Settings
from fairpool.server.store.tables import new_identity
from fairpool.server.work.upload_key import upload_key

FORMAT = b"fairpool upload 1\n"
SALT_BYTES = 32
PIECE_BYTES = 64 * 1024
TAG_BYTES = 16
NUMBER_BYTES = 11
"""A piece's number, and a byte for whether it is the last, are the 12 bytes that AES-GCM wants."""

PART = ".part"
AT_ONCE = MEBIBYTE
"""So much is collected before it is written, outside of the loop that serves everybody."""

_IDENTITY = re.compile(r"[A-Za-z0-9_-]{1,32}")


@dataclass(frozen=True, kw_only=True)
class Stored:
    """An upload that is on the disk.

    Attributes:
        id: Its identity, and its file's name.
        size: Bytes of what was uploaded.
        sha256: Of what was uploaded.
    """

    id: str
    size: int
    sha256: str


class Vault:
    """The folder of uploads, and the key to them.

    Args:
        settings: Where both are; the key is made where there is neither a key nor an upload.
    """

    def __init__(self, settings: Settings) -> None:
        self._folder = settings.uploads
        make_private_folder(self._folder)
        self._key = upload_key(settings)

    async def store(self, stream: AsyncIterator[bytes], most: int, refusal: RefusedError) -> Stored:
        """Encrypt what comes, as it comes; what is cut off or too long leaves nothing.

        Args:
            stream: What is uploaded.
            most: It may have no more bytes.
            refusal: What is raised where it has more.
        """
        writer = _Writer(self._folder, self._key)
        try:
            waiting = bytearray()
            async for content in stream:
                waiting += content
                if writer.size + len(waiting) > most:
                    raise refusal
                if len(waiting) >= AT_ONCE:
                    await asyncio.to_thread(writer.write, bytes(waiting))
                    waiting.clear()
            await asyncio.to_thread(writer.write, bytes(waiting))
            return await asyncio.to_thread(writer.finish)
        finally:
            writer.close()

    def store_bytes(self, content: bytes) -> Stored:
        """Encrypt what is in memory already."""
        writer = _Writer(self._folder, self._key)
        try:
            writer.write(content)
            return writer.finish()
        finally:
            writer.close()

    def open(self, identity: str) -> Iterator[bytes]:
        """What was uploaded, piece by piece; that it is complete is known after the last one.

        Args:
            identity: Which upload.
        """
        try:
            file = self._path(identity).open("rb")
        except FileNotFoundError:
            raise DataError(
                f"the upload {identity} is no longer on the disk; restore the folder of uploads"
                " from a backup, or have its party send it again"
            ) from None
        with file:
            head = file.read(len(FORMAT) + SALT_BYTES)
            cipher = _cipher(self._key, head[len(FORMAT) :], identity)
            piece = file.read(PIECE_BYTES + TAG_BYTES)
            number = 0
            is_last = False
            while not is_last:
                following = file.read(PIECE_BYTES + TAG_BYTES)
                is_last = not following
                try:
                    yield cipher.decrypt(_nonce(number, is_last=is_last), piece, head)
                except (InvalidTag, ValueError):  # the latter of a piece that is shorter than a tag
                    raise DataError(
                        f"the upload {identity} cannot be read: it was damaged or changed, or"
                        " encrypted with another key; restore it, or the key of uploads, from a"
                        " backup, or have its party send it again"
                    ) from None
                piece = following
                number += 1

    def decrypt_to(self, identity: str, path: Path) -> None:
        """Write an upload in the clear, for this user alone; as a whole or not at all.

        Args:
            identity: Which upload.
            path: A new file.
        """
        file = create(path)
        try:
            with file:
                for content in self.open(identity):
                    file.write(content)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def remove(self, identity: str) -> None:
        """Forget an upload; nothing is done where there is none."""
        _remove(self._path(identity))

    def identities(self) -> set[str]:
        """All uploads that are there as a whole."""
        names = {path.name for path in self._folder.iterdir()}
        return {name for name in names if _IDENTITY.fullmatch(name)}

    def parts(self) -> list[Path]:
        """What crashes left, and what is being uploaded at the moment."""
        return sorted(self._folder.glob(f"*{PART}"))

    def _path(self, identity: str) -> Path:
        return _path_in(self._folder, identity)


def remove_upload(settings: Settings, identity: str) -> None:
    """Forget an upload, which needs no key; nothing is done where there is none.

    Args:
        settings: Where uploads are.
        identity: Which.
    """
    _remove(_path_in(settings.uploads, identity))


def _path_in(folder: Path, identity: str) -> Path:
    if not _IDENTITY.fullmatch(identity):
        raise NotFoundError
    return folder / identity


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


class _Writer:
    """An upload on its way to the disk.

    Args:
        folder: Where it goes.
        key: Of all uploads.
    """

    def __init__(self, folder: Path, key: bytes) -> None:
        self.size = 0
        self._identity = new_identity()
        self._folder = folder
        self._path = folder / f"{self._identity}{PART}"
        self._hash = hashlib.sha256()
        self._waiting = bytearray()
        self._number = 0
        salt = secrets.token_bytes(SALT_BYTES)
        self._head = FORMAT + salt
        self._cipher = _cipher(key, salt, self._identity)
        self._file = create(self._path)
        self._file.write(self._head)

    def write(self, content: bytes) -> None:
        """More of it."""
        self.size += len(content)
        self._hash.update(content)
        self._waiting += content
        # The last piece is known by nothing coming after it, so one is always held back.
        whole = max(0, len(self._waiting) - 1) // PIECE_BYTES * PIECE_BYTES
        for start in range(0, whole, PIECE_BYTES):
            self._seal(bytes(self._waiting[start : start + PIECE_BYTES]), is_last=False)
        del self._waiting[:whole]

    def finish(self) -> Stored:
        """That was all: once this returns, a power failure loses nothing of it."""
        self._seal(bytes(self._waiting), is_last=True)
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        os.replace(self._path, self._folder / self._identity)
        sync_folder(self._folder)
        return Stored(id=self._identity, size=self.size, sha256=self._hash.hexdigest())

    def close(self) -> None:
        """Leave nothing of what was not finished."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _seal(self, content: bytes, *, is_last: bool) -> None:
        nonce = _nonce(self._number, is_last=is_last)
        self._file.write(self._cipher.encrypt(nonce, content, self._head))
        self._number += 1


def _cipher(key: bytes, salt: bytes, identity: str) -> AESGCM:
    """The cipher of one file; no two have the same key, so that pieces may simply be counted."""
    info = b"fairpool upload " + identity.encode()
    return AESGCM(HKDF(algorithm=SHA256(), length=32, salt=salt, info=info).derive(key))


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(NUMBER_BYTES) + bytes([is_last])
