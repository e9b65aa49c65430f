"""Files that are there as a whole or not at all, and for whose eyes they are.

Who may read a file is decided as it is made, never afterwards: in between, anybody could open it.
A stricter umask than the mode takes more away; none gives more.
"""

import os
import re
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from fairpool.errors import RewardFileError

PRIVATE = 0o600
"""For this user alone."""

READABLE = 0o644
"""For everybody to read."""

PRIVATE_FOLDER = 0o700

BINARY: int = getattr(os, "O_BINARY", 0)
"""Windows writes another line end for every line feed in a file that is opened without it."""


_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}")
"""What a file is called until all of it is written."""


def write_atomically(
    path: Path, content: bytes | Iterator[memoryview], mode: int = PRIVATE
) -> None:
    """Write a file so that it is there as a whole or not at all.

    A link at its place is replaced, and what it stands for is left alone.

    Args:
        path: The file, in a folder that exists.
        content: All of it, or piece by piece.
        mode: Who may read it; by default this user alone.
    """
    # In the same folder, because a file moves in one step only within a file system.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        file = create(temporary, mode)
    except OSError as error:
        raise RewardFileError(f"{path}: cannot be written ({error.strerror or error})") from None
    try:
        with file:
            for piece in [content] if isinstance(content, bytes) else content:
                file.write(piece)
            # Otherwise a power cut could leave the new name with half of the content.
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except IsADirectoryError:
        raise RewardFileError(f"{path}: is a folder; give a file's name") from None
    except OSError as error:
        raise RewardFileError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)


def half_written(folder: Path) -> Iterator[Path]:
    """What killed processes left in a folder of files that they wrote atomically, or as new ones.

    Others that are being written at the moment are among them: whoever removes them must know that
    nobody writes.

    Args:
        folder: Where; not below it.
    """
    if folder.is_dir():
        for path in sorted(folder.iterdir()):
            if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                yield path


def create(path: Path, mode: int = PRIVATE) -> BinaryIO:
    """A new file, open for writing; where there is one already, or a link, it is an error.

    Args:
        path: The file.
        mode: Who may read it; by default this user alone.
    """
    descriptor = os.open(os.fspath(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, mode)
    return os.fdopen(descriptor, "wb")


class NotPlainError(OSError):
    """A folder, a pipe or a device where a file was expected."""


def plain_content(path: Path, most: int) -> bytes:
    """What a plain file holds, of which no more than one byte beyond `most` is read.

    Args:
        path: The file.
        most: How many bytes are wanted at most.
    """
    # Without waiting: a pipe would keep its reader forever.
    descriptor = os.open(path, os.O_RDONLY | BINARY | getattr(os, "O_NONBLOCK", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotPlainError
    with open(descriptor, "rb") as stream:
        return stream.read(most + 1)


def make_private_folder(path: Path) -> None:
    """A folder, with those above it that are lacking, all for this user alone.

    One that is there already stays as it is.
    """
    for folder in (*reversed(path.parents), path):
        if not folder.is_dir():
            folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def sync_folder(path: Path) -> None:
    """Have a folder's names on the disk: a file's content alone does not survive a power failure.

    Where folders cannot be opened, as on Windows, nothing is done.
    """
    if os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
