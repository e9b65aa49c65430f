"""Files that hold a key: one line with what it is and 32 bytes as digits, for their owner alone."""

import re
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.private_files import private_content, write_new
from fairpool.errors import SecretError

LENGTH = 32
"""Bytes of every key."""


@dataclass(frozen=True, kw_only=True)
class KeyFile:
    """How the keys of a kind are kept.

    Attributes:
        form: How their line begins: "fairpool-secret-1".
        what: What such a key is called: "secret".
        why_kept: Why one that is there is never overwritten, and what to do instead.
    """

    form: str
    what: str
    why_kept: str

    def read(self, path: Path) -> bytes:
        """The key in a file that nobody but its owner can read."""
        line = re.compile(re.escape(self.form.encode()) + rb" ([0-9a-f]{64})\r?\n?")
        found = line.fullmatch(private_content(path, f"the {self.what}"))
        if found is None:
            raise SecretError(
                f'{path}: holds no {self.what} of fairpool, which is one line: "{self.form}", a'
                f" blank and {2 * LENGTH} digits (0-9, a-f); restore it from your copy"
            )
        return bytes.fromhex(found[1].decode())

    def write(self, path: Path, key: bytes) -> None:
        """Write it to a new file, for this user alone: there as a whole or not at all.

        What is there already stays as it is, and is an error.
        """
        try:
            write_new(path, f"{self.form} {key.hex()}\n".encode())
        except FileExistsError:
            raise SecretError(f"{path}: is there already, and {self.why_kept}") from None
        except OSError as error:
            raise SecretError(
                f"{path}: the {self.what} cannot be written ({error.strerror or error});"
                " give a path in a folder that you can write to"
            ) from None
