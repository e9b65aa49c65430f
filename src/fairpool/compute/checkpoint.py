"""Results of long work, kept on disk until it is done.

A run that was stopped can then go on where it was. What is kept decides everybody's rewards, so
nothing is taken back but what this user kept: every array is sealed (HMAC-SHA256) with a random key
that lies beside the arrays and that this user alone can read.

It protects against other people who may write where the checkpoint lies, as in a project's folder
that is shared. They cannot read the key, so that what they edit counts as none; and a folder, a key
or a link that they put in its place does not belong to this user, and is left alone. It also finds
damage, and arrays that come from elsewhere. It does not protect against programs that run as this
user, or that write files in this user's name as a service which synchronises folders does: these
can replace key and arrays alike.
"""

import hashlib
import hmac
import io
import os
import re
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairpool.__about__ import __version__
from fairpool.compute.files import PRIVATE_FOLDER, make_private_folder, write_atomically
from fairpool.errors import FairpoolError
from fairpool.notes import Note
from fairpool.tables.arrays import FloatArray

KEY_FILE = "key"
KEY_BYTES = 32
SEAL_BYTES = 32
ARRAY_NAMES = re.compile(r"\w+\.npy|\.\w+\.npy\.\w+")
KEY_NAMES = re.compile(rf"{KEY_FILE}|\.{KEY_FILE}\.\w+")
"""What is kept, and what a killed process left of it half-written."""

HAS_OWNERS = hasattr(os, "geteuid")
"""Whether files tell whose they are and who may read them; those of Windows do not."""


class NotOursError(FairpoolError):
    """A folder or a key is not as this user made it; the text says what it is instead."""


@dataclass(eq=False)
class Checkpoint:
    """A folder of arrays, each under the hash of all that it was computed from.

    Other data, another model or another version of the library give another hash, so that an array
    is never taken for one that it is not.

    A checkpoint is not frozen: it remembers which hashes it has kept or loaded, so that `clear`
    removes its own arrays and no others, how many arrays it refused, and what it has already said.

    Attributes:
        folder: Where the arrays are; it is made when the first one is kept.
        resume: Whether to use the arrays that are there already.
    """

    folder: Path
    resume: bool = True
    _used: set[str] = field(default_factory=set, init=False, repr=False)
    _refused: int = field(default=0, init=False, repr=False)
    _said: set[str] = field(default_factory=set, init=False, repr=False)

    def load(self, digest: str, name: str) -> FloatArray | None:
        """The array kept under this hash and name, or None; a changed file counts as none."""
        if not self.resume:
            return None
        try:
            self._check_folders(digest)
            content = _read_file(self._path(digest, name))
        except (OSError, NotOursError):
            return None
        self._used.add(digest)  # even of a changed one, which `clear` removes as well
        array = self._unsealed(digest, name, content)
        if array is None:
            self._refused += 1
        return array

    def doubts(self) -> tuple[Note, ...]:
        """What the operator should know of the arrays that were not loaded; once, and then nothing.

        Somebody may have wanted other values to be used.
        """
        if not self._refused:
            return ()
        text = (
            f"{self.folder}: {self._refused} file(s) of kept values are not as they were kept"
            " (edited, damaged, or sealed with another key); these values are computed anew"
        )
        return self._once(Note(code="kept values changed", text=text))

    def keep(self, digest: str, name: str, array: FloatArray) -> tuple[Note, ...]:
        """Keep an array; where that cannot be done, note it the first time and go on."""
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=False)
        content = stream.getvalue()
        try:
            self._make_folders(digest)
            seal = _seal(self._key_or_new(), digest, name, content=content)
            write_atomically(self._path(digest, name), content + seal)
            self._used.add(digest)
        except (OSError, FairpoolError) as error:
            text = (
                f"values cannot be kept in {self.folder} ({error}); a stopped run would begin anew"
            )
            # A full disk fails for every array: one note is enough.
            return self._once(Note(code="not kept", text=text))
        return ()

    @property
    def used(self) -> bool:
        """Whether something was kept here, or taken from here."""
        return bool(self._used)

    def clear(self) -> None:
        """Forget what was kept or used by this one; what others keep in the same folder stays."""
        # What is not there, not empty, or a link by now is left to whoever did that.
        for digest in self._used:
            with suppress(OSError, NotOursError):
                self._check_folders(digest)
                _remove_files(self.folder / digest, ARRAY_NAMES)
                (self.folder / digest).rmdir()
        with suppress(OSError, NotOursError):
            self._check_folders()
            # The arrays that others keep here need the key.
            if all(KEY_NAMES.fullmatch(file.name) for file in self.folder.iterdir()):
                _remove_files(self.folder, KEY_NAMES)
                self.folder.rmdir()

    def _once(self, note: Note) -> tuple[Note, ...]:
        if note.code in self._said:
            return ()
        self._said.add(note.code)
        return (note,)

    def _path(self, digest: str, name: str) -> Path:
        return self.folder / digest / f"{name}.npy"

    def _make_folders(self, digest: str) -> None:
        with suppress(FileNotFoundError):
            self._check_folders(digest)
        make_private_folder(self.folder / digest)
        # It may be older than this run, and all coalitions' values are not for every eye.
        self.folder.chmod(PRIVATE_FOLDER)

    def _check_folders(self, *digests: str) -> None:
        """Refuse a link or another user's folder: nothing there is read, written or removed."""
        for folder in (self.folder, *(self.folder / digest for digest in digests)):
            status = os.lstat(folder)
            if stat.S_ISLNK(status.st_mode):
                raise NotOursError("it is a link")
            if HAS_OWNERS and status.st_uid != os.geteuid():
                raise NotOursError("it belongs to another user")

    def _key(self) -> bytes | None:
        """The key, where it is one that nobody else can have read or put there."""
        try:
            key = _read_file(self.folder / KEY_FILE, secret=True)
        except (OSError, NotOursError):
            return None
        if len(key) != KEY_BYTES:
            return None
        return key

    def _key_or_new(self) -> bytes:
        key = self._key()
        if key is None:
            write_atomically(self.folder / KEY_FILE, secrets.token_bytes(KEY_BYTES))
            # Read again, since the file system may let everybody read it, and since another run
            # may have put its own there meanwhile.
            key = self._key()
        if key is None:
            raise NotOursError("its file system cannot keep a key from other users")
        return key

    def _unsealed(self, digest: str, name: str, content: bytes) -> FloatArray | None:
        """The array of a file, looked at only where its seal is right."""
        key = self._key()
        content, seal = content[:-SEAL_BYTES], content[-SEAL_BYTES:]
        if key is None:
            return None
        if not hmac.compare_digest(seal, _seal(key, digest, name, content=content)):
            return None
        array: FloatArray = np.load(io.BytesIO(content), allow_pickle=False)
        if array.dtype != np.float64 or array.ndim not in (1, 2) or not np.isfinite(array).all():
            return None
        return array


def _remove_files(folder: Path, names: re.Pattern[str]) -> None:
    for file in folder.iterdir():
        if names.fullmatch(file.name):
            file.unlink()


def _seal(key: bytes, digest: str, name: str, *, content: bytes) -> bytes:
    """What only a holder of the key can make of an array and the place where it is kept."""
    seal = hmac.new(key, f"{digest}/{name}\n".encode(), "sha256")
    seal.update(content)
    return seal.digest()


def _read_file(path: Path, *, secret: bool = False) -> bytes:
    """A file's bytes; a link, a pipe or a device in its place is refused.

    Args:
        path: The file.
        secret: Whether to refuse one that another user made, or could have read, as well.
    """
    # Without waiting, since opening a pipe would last until somebody writes to it.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with os.fdopen(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise NotOursError("it is no file")
        if secret and HAS_OWNERS:
            is_ours = status.st_uid == os.geteuid()
            if not is_ours or status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise NotOursError("another user made it, or could have read it")
        return file.read()


def digest_of(*arrays: NDArray[np.generic]) -> str:
    """A hash of arrays, their shapes, types and every bit, and of this version of the library."""
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        if array.size:  # the memory of an empty array cannot be viewed
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
