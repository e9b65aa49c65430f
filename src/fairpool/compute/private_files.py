"""Files with a secret in them: for their owner alone, and never written over."""

import errno
import os
import secrets
import stat
from pathlib import Path

from fairpool.compute.files import BINARY, create, sync_folder
from fairpool.errors import SecretError

FOR_OTHERS = 0o077
"""The bits of a file's mode by which anybody but its owner may do anything with it."""

_LONGEST = 4096
_WITHOUT_HARD_LINKS = (
    errno.EINVAL,  # Windows, on a disk that has none
    errno.EPERM,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
)


def private_content(path: Path, what: str) -> bytes:
    """The first bytes of a file that is one, is no link, and is for its owner alone.

    Args:
        path: The file.
        what: What is in it, for errors: "the secret".
    """
    try:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "a link")
        # Without following a link that took the file's place just now, or waiting for a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags | BINARY)
    except FileNotFoundError:
        raise SecretError(f"{path}: there is no such file; restore {what} from your copy") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SecretError(
                f"{path}: is a link, which could be turned to another file; put {what} itself there"
            ) from None
        raise SecretError(
            f"{path}: {what} cannot be read ({error.strerror or error}); it must be a file"
            " of the user who runs fairpool"
        ) from None
    try:
        _refuse_open_to_others(path, os.fstat(descriptor).st_mode, what)
        return os.read(descriptor, _LONGEST)
    finally:
        os.close(descriptor)


def _refuse_open_to_others(path: Path, mode: int, what: str) -> None:
    if not stat.S_ISREG(mode):
        raise SecretError(f"{path}: is not a file; give the path of the file with {what}")
    # Windows reports modes that mean nothing.
    if os.name == "posix" and mode & FOR_OTHERS:
        raise SecretError(
            f"{path}: its mode {stat.S_IMODE(mode):04o} lets others use {what}; run"
            f" chmod 600 {path}, and think about who may have read it"
        )


def write_new(path: Path, content: bytes) -> None:
    """A new file for this user alone: there as a whole or not at all.

    What is there already stays as it is, and is a `FileExistsError`.
    """
    # In the same folder, because a link can be made only within a file system.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        _write_through(temporary, content)
        # Unlike renaming, this fails where there is something already.
        _link(temporary, path)
    except OSError as error:
        if error.errno not in _WITHOUT_HARD_LINKS:
            raise
        _write_in_place(path, content)
    finally:
        temporary.unlink(missing_ok=True)
    sync_folder(path.parent)


def _link(old: Path, new: Path) -> None:
    if not hasattr(os, "link"):
        raise OSError(errno.ENOSYS, "this system has no hard links")
    os.link(old, new)


def _write_in_place(path: Path, content: bytes) -> None:
    """Where there are no links: what could not be written as a whole is removed again."""
    try:
        _write_through(path, content)
    except FileExistsError:
        raise
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _write_through(path: Path, content: bytes) -> None:
    """A new file whose content is on the disk when this returns."""
    with create(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
