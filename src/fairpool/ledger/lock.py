"""One run at a time: a lock that the system itself lets go of when its holder dies.

What counts is the lock that the system keeps, not whether the file is there: the file stays, and
what is written in it only helps to say who is at work.
"""

import errno
import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fairpool.compute.files import BINARY, PRIVATE
from fairpool.errors import LedgerError
from fairpool.ledger.record import now

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_HOLDER = re.compile(rb"([0-9]{1,20}) ([0-9TZ:-]{20})\n")

_FAR_AWAY = 1 << 40
"""On Windows nobody else can read a locked byte: so one is locked where nothing is written."""

_WINDOWS_PAUSE = 0.1
"""Seconds between two attempts, where the system cannot wait for a lock without an end."""

_held: set[int] = set()
"""Descriptors of the locks that this process holds; a fork of it holds none."""


class HeldError(LedgerError):
    """Another run is at work on the folder: whoever can wait tries again."""


class _HeldByAnotherError(Exception):
    """Somebody else has the lock."""


@contextmanager
def exclusive(path: Path, *, wait: bool = False) -> Iterator[None]:
    """Hold the lock of a folder; one that another run holds is refused at once, or waited for.

    Args:
        path: The lock file, in a folder that exists; it is made where there is none.
        wait: Whether to wait for another run to finish.
    """
    path = Path(path)
    descriptor = _open_lock_file(path)
    try:
        hold(descriptor, path, wait=wait)
    except _HeldByAnotherError:
        holder = _holder(descriptor)
        os.close(descriptor)
        raise HeldError(
            f"{path}: another run is at work on this folder{holder}; wait until it has finished"
        ) from None
    except BaseException:
        os.close(descriptor)
        raise
    _held.add(descriptor)
    try:
        _sign(descriptor, f"{os.getpid()} {now()}\n".encode())
        yield
    finally:
        # A fork that leaves this block holds nothing, and the number may be another file's there.
        if descriptor in _held:
            _held.discard(descriptor)
            _sign(descriptor, b"")
            os.close(descriptor)


def hold(descriptor: int, path: Path, *, wait: bool) -> None:
    """Lock an open file until it is closed.

    Args:
        descriptor: The open file.
        path: Its name, for errors.
        wait: Whether to wait while another process holds it.
    """
    try:
        if sys.platform == "win32":
            _hold_on_windows(descriptor, wait=wait)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        raise _HeldByAnotherError from None
    except OSError as error:
        raise LedgerError(
            f"{path}: cannot be locked ({error.strerror or error}); put the folder on a disk of"
            " this machine"
        ) from None


if sys.platform == "win32":

    def _hold_on_windows(descriptor: int, *, wait: bool) -> None:
        while True:
            os.lseek(descriptor, _FAR_AWAY, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                return
            except OSError as error:
                if error.errno not in (errno.EACCES, errno.EDEADLOCK):
                    raise
            if not wait:
                raise BlockingIOError
            time.sleep(_WINDOWS_PAUSE)


def _open_lock_file(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | BINARY
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    if path.is_symlink():
        raise LedgerError(f"{path}: is a link; remove it")
    try:
        return os.open(path, flags, PRIVATE)
    except OSError as error:
        raise LedgerError(
            f"{path}: the lock cannot be opened ({error.strerror or error}); the folder must exist"
            " and be this user's"
        ) from None


def _sign(descriptor: int, text: bytes) -> None:
    """Say who holds the lock; a full disk must not keep anybody from working."""
    with suppress(OSError):
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, text)


def _holder(descriptor: int) -> str:
    """Who holds the lock, in words; nothing where that is just being written."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    signed = _HOLDER.fullmatch(os.read(descriptor, 100))
    if signed is None:
        return ""
    return f" (process {signed[1].decode()}, since {signed[2].decode()})"


def _let_go_in_child() -> None:
    """A worker that outlives a killed run must not keep the lock."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)
