"""Files opened as themselves: never through a link, and neither pipes nor devices."""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fairpool.compute.files import BINARY, PRIVATE

NO_LINK = getattr(os, "O_NOFOLLOW", 0)
AT_ONCE = getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe would otherwise last until somebody writes to it."""


class NoFileError(OSError):
    """In the place of a file is a link, a folder, a pipe or a device."""


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """The descriptor of a plain file, closed in the end.

    Args:
        path: The file.
        flags: How to open it, as `os.open` has them; a new file is this user's alone.
    """
    # Where the system cannot refuse links itself, nothing better can be done than to look first.
    if path.is_symlink():
        raise NoFileError(f"is a link to {os.readlink(path)}")
    if path.is_dir():
        raise NoFileError("is a folder")
    descriptor = os.open(path, flags | NO_LINK | AT_ONCE | BINARY, PRIVATE)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise NoFileError("is no plain file")
        yield descriptor
    finally:
        os.close(descriptor)


def reason_of(error: OSError) -> str:
    """What the system, or `opened`, says."""
    return error.strerror or str(error)


def make_private(descriptor: int) -> None:
    """Take an open file from everybody else's eyes, where files have owners."""
    mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
    if hasattr(os, "fchmod") and mode & (stat.S_IRWXG | stat.S_IRWXO):
        os.fchmod(descriptor, PRIVATE)


def sha256_on_disk(path: Path) -> str | None:
    """The hash of a file's bytes, which are then on the disk; None where there is no plain file."""
    try:
        with opened(path, os.O_RDONLY) as descriptor:
            if os.name != "nt":  # there, only what is open for writing can be flushed
                os.fsync(descriptor)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError, NoFileError):
        return None
