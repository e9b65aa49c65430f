"""The secret of a collaboration: 32 bytes, its file, and the keys that are derived from it.

Whoever has it can compute the noise of every row, so it is shown nowhere, and its file is for the
operator's eyes alone. It is made once: with another secret every row would draw new noise.
"""

import errno
import hmac
import os
import re
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.files import create
from fairpool.errors import SecretError

LENGTH = 32
"""Bytes of a secret, and of every key that is derived from it."""

FORMAT = "fairpool-secret-1"
"""How its file begins."""

FOR_OTHERS = 0o077
"""The bits of a file's mode by which anybody but its owner may do anything with it."""

_LINE = re.compile(FORMAT.encode() + rb" ([0-9a-f]{64})\r?\n?")
_LONGEST = 256
_WITHOUT_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS)


@dataclass(frozen=True, repr=False)
class Secret:
    """A collaboration's secret.

    Attributes:
        material: The 32 bytes; they are shown by neither `repr` nor an error.
    """

    material: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.material, bytes):
            raise SecretError(f"a secret is bytes, not {type(self.material).__name__}")
        if len(self.material) != LENGTH:
            raise SecretError(f"a secret has {LENGTH} bytes, not {len(self.material)}")

    def __repr__(self) -> str:
        return f"Secret(fingerprint={self.fingerprint!r})"

    @classmethod
    def fresh(cls) -> "Secret":
        """A new one, from the system's source of randomness."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "Secret":
        """The secret in a file that nobody but its owner can read."""
        found = _LINE.fullmatch(_private_content(Path(path)))
        if found is None:
            raise SecretError(
                f'{path}: holds no secret of fairpool, which is one line: "{FORMAT}", a blank'
                f" and {2 * LENGTH} digits (0-9, a-f); restore it from your copy"
            )
        return cls(bytes.fromhex(found[1].decode()))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to a new file, for this user alone: there as a whole or not at all.

        What is there already stays as it is, and is an error.
        """
        path = Path(path)
        line = f"{FORMAT} {self.material.hex()}\n".encode()
        try:
            _write_new(path, line)
        except FileExistsError:
            raise SecretError(
                f"{path}: is there already, and a secret is never overwritten, since every row"
                " would draw new noise; read it, or give another path"
            ) from None
        except OSError as error:
            raise SecretError(
                f"{path}: the secret cannot be written ({error.strerror or error});"
                " give a path in a folder that you can write to"
            ) from None

    def subkey(self, purpose: str, *parts: bytes) -> bytes:
        """A key of 32 bytes for one purpose: HMAC-SHA256, which is a pseudorandom function.

        Each text goes in with its length before it, so that two lists never read the same.

        Args:
            purpose: What the key is for.
            *parts: What it depends on besides.
        """
        pieces = []
        for part in (purpose.encode(), *parts):
            pieces.append(len(part).to_bytes(8, "big"))
            pieces.append(part)
        return hmac.digest(self.material, b"".join(pieces), "sha256")

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits by which one secret is told from another, and which tell no more.

        They are derived as keys are, so that nothing about the secret follows from them.
        """
        return self.subkey("fingerprint")[:8].hex()


def _private_content(path: Path) -> bytes:
    """The first bytes of a file that is one, is no link, and is for its owner alone."""
    try:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "a link")
        # Without following a link that took the file's place just now, or waiting for a pipe.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise SecretError(
            f"{path}: there is no such file; restore the secret from your copy"
        ) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise SecretError(
                f"{path}: is a link, which could be turned to another file; put the secret itself"
                " there"
            ) from None
        raise SecretError(
            f"{path}: the secret cannot be read ({error.strerror or error}); it must be a file"
            " of the user who runs fairpool"
        ) from None
    try:
        _refuse_open_to_others(path, os.fstat(descriptor).st_mode)
        return os.read(descriptor, _LONGEST)
    finally:
        os.close(descriptor)


def _refuse_open_to_others(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise SecretError(f"{path}: is not a file; give the path of the secret's file")
    # Windows reports modes that mean nothing.
    if os.name == "posix" and mode & FOR_OTHERS:
        raise SecretError(
            f"{path}: its mode {stat.S_IMODE(mode):04o} lets others use the secret, with which"
            f" they can strip labels of their noise; run chmod 600 {path}, and think about who"
            " may have read it"
        )


def _write_new(path: Path, content: bytes) -> None:
    # In the same folder, because a link can be made only within a file system.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        _write_through(temporary, content)
        # Unlike renaming, this fails where there is something already.
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _WITHOUT_HARD_LINKS:
            raise
        _write_through(path, content)
    finally:
        temporary.unlink(missing_ok=True)
    _flush_folder(path.parent)


def _write_through(path: Path, content: bytes) -> None:
    """A new file whose content is on the disk when this returns."""
    with create(path) as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    """Have the names in a folder on the disk; Windows cannot, and need not."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
