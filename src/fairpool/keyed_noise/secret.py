"""The secret of a collaboration: 32 bytes, its file, and the keys that are derived from it.

Whoever has it can compute the noise of every row, so it is shown nowhere, and its file is for the
operator's eyes alone. It is made once: with another secret every row would draw new noise.
"""

import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from fairpool.compute.key_files import LENGTH, KeyFile
from fairpool.errors import SecretError

FORMAT = "fairpool-secret-1"
"""How its file begins."""

_FILE = KeyFile(
    form=FORMAT,
    what="secret",
    why_kept=(
        "a secret is never overwritten, since every row would draw new noise; read it, or give"
        " another path"
    ),
)


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
        return cls(_FILE.read(Path(path)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to a new file, for this user alone: there as a whole or not at all.

        What is there already stays as it is, and is an error.
        """
        _FILE.write(Path(path), self.material)

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
