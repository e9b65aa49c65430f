"""Ed25519 keys: the private half in a file for one person alone, the public half as a line of text.

What is signed begins with what it is about, so that a signature under one kind of document is none
under another.
"""

import hashlib
import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairpool.compute.key_files import LENGTH, KeyFile
from fairpool.errors import SecretError, SignatureError, shown

FORMAT = "fairpool-signing-key-1"
"""How the file of a private half begins."""

SCHEME = "ed25519"
"""How the text of a public half begins."""

FINGERPRINT_BYTES = 16
"""So much of a hash that nobody finds a second key with the same one."""

_FILE = KeyFile(
    form=FORMAT,
    what="signing key",
    why_kept=(
        "a key is never overwritten, since everybody who knows the old one would take the new one"
        " for somebody else's; use it, or give another path"
    ),
)
_TEXT = re.compile(SCHEME + r":([0-9a-f]{64})")


@dataclass(frozen=True)
class PublicKey:
    """The public half of a key, by which its signatures are known.

    Attributes:
        material: The 32 bytes.
    """

    material: bytes

    @classmethod
    def of_text(cls, text: object) -> "PublicKey":
        """The key that `str` wrote."""
        found = _TEXT.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise SignatureError(
                f'{shown(text)} is no public key, which is "{SCHEME}:" and {2 * LENGTH} digits'
                " (0-9, a-f); `fairpool keys show` prints it"
            )
        return cls(bytes.fromhex(found[1]))

    def __str__(self) -> str:
        return f"{SCHEME}:{self.material.hex()}"

    @property
    def fingerprint(self) -> str:
        """32 digits in groups of four, for people to compare over the telephone."""
        digits = hashlib.sha256(self.material).hexdigest()[: 2 * FINGERPRINT_BYTES]
        groups = [digits[start : start + 4] for start in range(0, len(digits), 4)]
        return " ".join(groups)

    def has_signed(self, kind: str, message: bytes, signature: bytes) -> bool:
        """Whether the private half signed a message of a kind."""
        try:
            key = Ed25519PublicKey.from_public_bytes(self.material)
            key.verify(signature, _to_be_signed(kind, message))
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, repr=False)
class SigningKey:
    """The private half of a key: one person's, or the operator's.

    Attributes:
        material: The 32 bytes; they are shown by neither `repr` nor an error.
    """

    material: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.material, bytes) or len(self.material) != LENGTH:
            raise SecretError(f"a signing key is {LENGTH} bytes; this is something else")

    def __repr__(self) -> str:
        return f"SigningKey(public={str(self.public)!r})"

    @classmethod
    def fresh(cls) -> "SigningKey":
        """A new one, from the system's source of randomness."""
        return cls(secrets.token_bytes(LENGTH))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "SigningKey":
        """The key in a file that nobody but its owner can read."""
        return cls(_FILE.read(Path(path)))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write it to a new file, for this user alone; what is there already is an error."""
        _FILE.write(Path(path), self.material)

    @property
    def public(self) -> PublicKey:
        """The public half."""
        key = Ed25519PrivateKey.from_private_bytes(self.material)
        return PublicKey(key.public_key().public_bytes_raw())

    def sign(self, kind: str, message: bytes) -> bytes:
        """The signature of a message of a kind: 64 bytes, the same whenever it is made."""
        return Ed25519PrivateKey.from_private_bytes(self.material).sign(
            _to_be_signed(kind, message)
        )


def _to_be_signed(kind: str, message: bytes) -> bytes:
    return f"fairpool {kind}\n".encode() + message
